//! Directed searches by the explicit engine: which heuristic a property gets, and what is known when its search has ended.
//!
//! Each property has a search of its own, directed to its violation, unless the user names a heuristic for all. A search
//! looks for violations of the others too, and ends when its property is violated. If it visits all states before, that
//! decides everything.

use std::time::Instant;

use ample_budget::Budget;
use ample_model::{Expr, Reason};

use super::heuristic::{Estimate, ProductEstimate, distance_to_violation};
use super::liveness::{self, EmptinessResult, Specification};
use super::options::{Emptiness, HeuristicKind, Options, Search};
use super::reduction::Reduction;
use super::subject::Subject;
use super::symmetry::{self, SymmetryReduction};
use super::{
    OfCompiled, REPORT_EVERY, Request, Run, atomic, collect, has_hidden_variables, notes_executed, room_for_the_store,
    run_plain,
};
use crate::check::directed::Aim;
use crate::check::{self as safety, directed};
use crate::compile::Compiled;
use crate::liveness::{Behind, Concurrent, Lasso, MAX_STATES, Product};
use crate::search::{Heuristic, RandomWalk};
use crate::space::Checked;
use crate::store::{ExactStore, FlatStore, Parent, PathCost, RunStore, Visible, Whole};
use ample_engine::settings::Fairness;

/// Why nothing is left out.
const NO_REDUCTION: &str = "none, because the search is directed";

/// Why no states are taken for the same.
const NO_SYMMETRY: &str = "none, because the search is directed by a formula";

/// The width of a beam.
const WIDTH: u32 = 1_000;

/// Why a property is not for a directed search.
pub fn only_safety(search: Search) -> String {
    format!(
        "`{}` looks for runs of finite length: for deadlocks, violated assertions and invariants, and violations of formulas \
         that show in the beginning of a run",
        search.option()
    )
}

/// Searches for violations of safety properties.
pub fn run(system: &Subject<'_>, request: &Request, options: &Options, budget: &Budget) -> Run {
    if request.is_empty() {
        return run_plain(system, request, &options.searching(Search::BreadthFirst), budget);
    }
    let reduction = (options.reduction() == Reduction::Auto).then(|| NO_REDUCTION.to_owned());
    let mut work = Work { system, request, options, expressions: request.invariants.clone() };
    let searches = work.searches();
    let run = match options.explicit.search {
        Search::RandomWalk => work.walk(searches.into_iter().map(|(_, estimate)| estimate).collect(), budget),
        _ => work.one_by_one(searches, budget),
    };
    Run { reduction, ..run }
}

/// The searches for the properties of a request.
struct Work<'a, 's> {
    system: &'a Subject<'s>,
    request: &'a Request,
    options: &'a Options,
    /// The invariants, and what estimates evaluate beside them.
    expressions: Vec<Expr>,
}

impl Work<'_, '_> {
    /// What each search is directed to, if it is to one property, and by what.
    fn searches(&mut self) -> Vec<(Option<Aim>, Estimate)> {
        if let Some(user) = &self.options.settings.heuristic {
            self.expressions.push(user.clone());
            return vec![(None, Estimate::Value(self.expressions.len() - 1))];
        }
        let invariants = 0..self.request.invariants.len();
        match self.options.explicit.heuristic {
            HeuristicKind::Deadlock => vec![(None, Estimate::deadlock(self.system))],
            HeuristicKind::Blocked => vec![(None, Estimate::blocked(self.system))],
            HeuristicKind::Assertion => vec![(None, Estimate::assertions(self.system))],
            HeuristicKind::Formula => {
                let formulas = invariants.map(|number| self.formula(number)).collect();
                vec![(None, Estimate::Least(formulas))]
            }
            HeuristicKind::Auto => {
                let mut searches = Vec::new();
                if self.request.deadlock {
                    // Who compares the successors of one state prefers the step that blocks another process.
                    let estimate = match self.options.explicit.search {
                        Search::HillClimbing => Estimate::blocked(self.system),
                        _ => Estimate::deadlock(self.system),
                    };
                    searches.push((Some(Aim::Deadlock), estimate));
                }
                if self.request.assertions {
                    searches.push((Some(Aim::Assertions), Estimate::assertions(self.system)));
                }
                for number in invariants {
                    searches.push((Some(Aim::Invariant(number)), self.formula(number)));
                }
                searches
            }
        }
    }

    /// The distance from a violation of an invariant.
    fn formula(&mut self, number: usize) -> Estimate {
        self.expressions.push(distance_to_violation(self.system, &self.request.invariants[number]));
        Estimate::Value(self.expressions.len() - 1)
    }

    fn space(&self, budget: &Budget) -> Result<Compiled, Reason> {
        let mut space = self.system.space(&self.expressions, budget)?;
        if notes_executed(self.system, self.options) {
            space.note_executed();
        }
        Ok(space)
    }

    /// One search after the other, each with its share of the time that is left.
    fn one_by_one(&self, searches: Vec<(Option<Aim>, Estimate)>, budget: &Budget) -> Run {
        let begun = Instant::now();
        let count = searches.len();
        let mut all = Run { invariants: vec![None; self.request.invariants.len()], ..Run::default() };
        let mut why = None;
        for (number, (aim, estimate)) in searches.into_iter().enumerate() {
            if aim.is_some_and(|aim| is_found(&all, aim)) {
                continue;
            }
            let left = (count - number) as u32;
            let slice = match budget.time_left() {
                Some(time) if left > 1 => budget.clone().with_deadline(Instant::now() + time / left),
                _ => budget.clone(),
            };
            let open = self.request.without(&all);
            let (found, is_exhausted) = self.search(&open, aim, estimate, &slice);
            let ended = found.ended.clone();
            let before = std::mem::take(&mut all);
            let mut statistics = found.statistics.clone();
            if number > 0 {
                let mut sum = Run { statistics: before.statistics.clone(), ..Run::default() };
                sum.add(&statistics);
                statistics = sum.statistics;
            }
            all = before.completed_by(found);
            all.statistics = statistics;
            if is_exhausted {
                why = None;
                break;
            }
            let is_open = match aim {
                Some(aim) => !is_found(&all, aim),
                None => !self.is_decided(&all),
            };
            if is_open {
                let unexpected = || Reason::Internal("a directed search has ended without a reason".into());
                why = Some(ended.unwrap_or_else(unexpected));
            }
            if self.options.settings.stop_at_first && all.found_something() {
                why = None;
                break;
            }
        }
        all.statistics.time_s = begun.elapsed().as_secs_f64();
        all.statistics.complete = why.is_none();
        Run { ended: why, ..all }
    }

    /// Everything is violated.
    fn is_decided(&self, run: &Run) -> bool {
        (!self.request.deadlock || run.deadlock.is_some())
            && (!self.request.assertions || run.assertions.is_some())
            && run.invariants.iter().all(Option::is_some)
    }

    /// A search, and whether it has visited all states.
    fn search(&self, request: &Request, aim: Option<Aim>, estimate: Estimate, budget: &Budget) -> (Run, bool) {
        let mut space = match self.space(budget) {
            Ok(space) => space,
            Err(reason) => return (Run { ended: Some(reason), ..Run::default() }, false),
        };
        let safety = request.safety(self.options);
        let using = symmetry::wanted(self.system, &self.request.invariants, self.options, budget);
        let attached = using.map(|using| using.and_then(|using| using.attach(&mut space).map(|()| using.describe())));
        let is_reduced = matches!(attached, Some(Ok(_)));
        let symmetry = attached.map(|attached| attached.unwrap_or_else(|why| format!("none, because {why}")));
        // A path that is found later may come to a stored state with other values of hidden variables.
        let (run, is_exhausted) = if has_hidden_variables(self.system) && self.options.explicit.search != Search::AStar
        {
            let visible = space.visible();
            perform(space, visible, estimate, aim, &safety, self.options, budget)
        } else {
            perform(space, Whole, estimate, aim, &safety, self.options, budget)
        };
        (Run { symmetry, is_reduced, ..run }, is_exhausted)
    }

    fn walk(&self, mut estimates: Vec<Estimate>, budget: &Budget) -> Run {
        let mut space = match self.space(budget) {
            Ok(space) => space,
            Err(reason) => return Run { ended: Some(reason), ..Run::default() },
        };
        let safety = self.request.safety(self.options);
        let mut store = RunStore::default().limit(room_for_the_store(budget));
        let walks = walks(self.options);
        let report = directed::random_walk(&mut space, &mut store, &mut estimates, walks, &safety, budget);
        collect(&mut space, &store, report)
    }
}

fn is_found(run: &Run, aim: Aim) -> bool {
    match aim {
        Aim::Deadlock => run.deadlock.is_some(),
        Aim::Assertions => run.assertions.is_some(),
        Aim::Invariant(number) => run.invariants.get(number).is_some_and(Option::is_some),
    }
}

fn walks(options: &Options) -> RandomWalk {
    let (explicit, default) = (&options.explicit, RandomWalk::default());
    RandomWalk {
        walks: explicit.walks.unwrap_or(default.walks),
        depth: explicit.walk_depth.unwrap_or(default.depth),
        seed: explicit.seed.unwrap_or(default.seed),
    }
}

/// A search of compiled states, and whether it has visited all of them.
fn perform(
    mut space: Compiled,
    visible: impl Visible,
    mut estimate: Estimate,
    aim: Option<Aim>,
    safety: &safety::Options,
    options: &Options,
    budget: &Budget,
) -> (Run, bool) {
    match options.explicit.search {
        Search::AStar => {
            let mut store = FlatStore::<PathCost, _>::with_visible(visible).limit(room_for_the_store(budget));
            let report = directed::a_star(&mut space, &mut store, &mut estimate, aim, safety, budget);
            known(&mut space, &store, report)
        }
        Search::HillClimbing => {
            let mut store = FlatStore::<(), _>::with_visible(visible).limit(room_for_the_store(budget));
            let report = directed::hill_climbing(&mut space, &mut store, &mut estimate, aim, safety, budget);
            known(&mut space, &store, report)
        }
        _ => {
            let mut store = FlatStore::<Parent, _>::with_visible(visible).limit(room_for_the_store(budget));
            let report = greedy(&mut space, &mut store, &mut estimate, aim, safety, options, budget);
            known(&mut space, &store, report)
        }
    }
}

/// What was found, and whether all states were visited.
fn known<P, S>(space: &mut P, store: &S, report: safety::Report<P::Transition>) -> (Run, bool)
where
    P: Checked<State = [u8]> + Concurrent + OfCompiled,
    S: ExactStore<[u8]>,
{
    let is_exhausted = report.exhausted;
    let run = collect(space, store, report);
    let is_exhausted = is_exhausted && run.ended.is_none();
    (run, is_exhausted)
}

/// Best-first or beam search.
fn greedy<S, V, H>(
    space: &mut S,
    store: &mut FlatStore<Parent, V>,
    heuristic: &mut H,
    aim: Option<Aim>,
    safety: &safety::Options,
    options: &Options,
    budget: &Budget,
) -> safety::Report<S::Transition>
where
    S: Checked<State = [u8]>,
    V: Visible,
    H: Heuristic<S>,
{
    if options.explicit.search == Search::Beam {
        let width = options.explicit.beam_width.unwrap_or(WIDTH) as usize;
        return directed::beam(space, store, heuristic, width, aim, safety, budget);
    }
    directed::best_first(space, store, heuristic, aim, safety, budget)
}

/// Looks for the beginning of a run after which the automaton accepts whatever follows.
pub fn look_for(
    system: &Subject<'_>,
    specification: Specification<'_>,
    options: &Options,
    budget: &Budget,
) -> EmptinessResult {
    let search = options.explicit.search;
    let Specification { automaton, atoms, stutters, .. } = specification;
    if automaton.len() > MAX_STATES {
        return EmptinessResult::unsupported("the automaton of the formula has too many states");
    }
    let is_hasty = options.settings.fairness == Fairness::None || !atomic::may_be_endless(system);
    if !automaton.is_terminal() || !is_hasty || options.explicit.emptiness != Emptiness::Auto {
        return EmptinessResult::unsupported(only_safety(search));
    }
    let mut expressions = atoms.to_vec();
    let estimate = match (&options.settings.heuristic, options.explicit.heuristic) {
        (Some(user), _) => {
            expressions.push(user.clone());
            ProductEstimate::Plain(Estimate::Value(expressions.len() - 1))
        }
        (None, HeuristicKind::Deadlock) => ProductEstimate::Plain(Estimate::deadlock(system)),
        (None, HeuristicKind::Blocked) => ProductEstimate::Plain(Estimate::blocked(system)),
        (None, HeuristicKind::Assertion) => ProductEstimate::Plain(Estimate::assertions(system)),
        (None, HeuristicKind::Auto | HeuristicKind::Formula) => {
            ProductEstimate::of(system, &automaton, &mut expressions)
        }
    };
    let space = match system.space(&expressions, budget) {
        Ok(space) => space,
        Err(error) => return EmptinessResult::not_compiled(error),
    };
    let visible = space.visible();
    let product = Product::new(space, automaton).stutters(stutters).hasty(is_hasty);
    let found = if has_hidden_variables(system) && search != Search::AStar {
        in_product(product, Behind(visible), estimate, options, budget)
    } else {
        in_product(product, Whole, estimate, options, budget)
    };
    let reduction = (options.reduction() == Reduction::Auto).then(|| NO_REDUCTION.to_owned());
    let is_symmetric = !matches!(options.explicit.symmetry, SymmetryReduction::Auto | SymmetryReduction::None);
    let symmetry = is_symmetric.then(|| NO_SYMMETRY.to_owned());
    EmptinessResult { reduction, symmetry, ..found }
}

fn in_product(
    mut product: Product<Compiled>,
    visible: impl Visible,
    mut estimate: ProductEstimate,
    options: &Options,
    budget: &Budget,
) -> EmptinessResult {
    let safety = safety::Options {
        deadlock: false,
        assertions: false,
        invariants: 1,
        stop_at_first: true,
        max_depth: options.settings.max_depth.unwrap_or(u64::MAX),
        report_every: REPORT_EVERY,
    };
    let (aim, room) = (Some(Aim::Invariant(0)), room_for_the_store(budget));
    match options.explicit.search {
        Search::AStar => {
            let mut store = FlatStore::<PathCost, _>::with_visible(visible).limit(room);
            let report = directed::a_star(&mut product, &mut store, &mut estimate, aim, &safety, budget);
            beginning(&mut product, &store, report)
        }
        Search::HillClimbing => {
            let mut store = FlatStore::<(), _>::with_visible(visible).limit(room);
            let report = directed::hill_climbing(&mut product, &mut store, &mut estimate, aim, &safety, budget);
            beginning(&mut product, &store, report)
        }
        Search::RandomWalk => {
            let mut store = RunStore::default().limit(room);
            let estimates = &mut [estimate];
            let report = directed::random_walk(&mut product, &mut store, estimates, walks(options), &safety, budget);
            beginning(&mut product, &store, report)
        }
        _ => {
            let mut store = FlatStore::<Parent, _>::with_visible(visible).limit(room);
            let report = greedy(&mut product, &mut store, &mut estimate, aim, &safety, options, budget);
            beginning(&mut product, &store, report)
        }
    }
}

/// The beginning that was found, as a run.
fn beginning<S>(
    product: &mut Product<Compiled>,
    store: &S,
    mut report: safety::Report<<Product<Compiled> as crate::space::StateSpace>::Transition>,
) -> EmptinessResult
where
    S: ExactStore<[u8]>,
{
    let found = report.invariants.pop().flatten().and_then(|violation| {
        let end = violation.path.end?;
        Some(Lasso { prefix: violation.path.steps, end, cycle: Vec::new() })
    });
    let ended = if found.is_some() { None } else { report.ended };
    let report = crate::liveness::Report { found, ended, statistics: report.statistics };
    let limit = product.space().limit_reached();
    liveness::collect(product, store, report, limit)
}
