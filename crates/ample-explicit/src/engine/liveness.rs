//! Endless runs, by the explicit engine: the product of the system with an automaton, and emptiness.

use crate::check as safety;
use crate::compile::{Ample, CompileError, Compiled, NotReduced, Reduced, Transition};
use crate::liveness::{self, Behind, BuchiAutomaton, Concurrent, Lasso, Number, Product, Step, Stops, Tagged};
use crate::partial::TwoPhase;
use crate::space::Checked;
use crate::store::{ExactStore, FlatStore, Handle, Marks, Parent, Visible, Whole};
use ample_model::{Budget, Expr, Move, Reason, Statistics, System};

use super::options::{Emptiness, Options, Search};
use super::partial::trial;
use super::reduction::{Algorithm, Methods, Reduction};
use super::stores::{self, NestedSearch};
use super::subject::Subject;
use super::symmetry::{self, Expected, Lift, SymmetryReduction, Using};
use super::{
    NOT_LIFTED, OfCompiled, Patience, REPORT_EVERY, SEQUENTIAL, atomic, has_hidden_variables, is_sequential,
    room_for_the_store, start_of,
};
use super::{directed, distributed};
use super::{threads, two_phase};
use ample_engine::settings::Fairness;
use ample_model::evidence::{self, Ending};

/// What to look for: the runs that an automaton accepts.
#[derive(Clone)]
pub struct Specification<'a> {
    /// The automaton.
    pub automaton: BuchiAutomaton,
    /// What its atoms stand for.
    pub atoms: &'a [Expr],
    /// Deadlocked states repeat for ever.
    pub stutters: bool,
    /// One acceptance set, on states: the nested search can do it.
    pub is_simple: bool,
    /// It makes no difference how often a state is repeated; or why that is not known.
    pub stutter_invariant: Result<(), &'static str>,
}

/// The result of looking for an accepted run.
#[derive(Clone, Debug, Default)]
pub struct EmptinessResult {
    /// An accepted run.
    pub run: Option<evidence::Lasso>,
    /// Why the search ended early, if it did.
    pub ended: Option<Reason>,
    /// What the search did.
    pub statistics: Statistics,
    /// Which orders of steps were left out, or why none.
    pub reduction: Option<String>,
    /// Which symmetry was used, or why none, if it was asked for.
    pub symmetry: Option<String>,
    /// What the user should know.
    pub note: Option<String>,
    /// The run-time errors that stop runs.
    pub stops: Stops,
}

impl EmptinessResult {
    pub(super) fn not_compiled(error: CompileError) -> EmptinessResult {
        EmptinessResult { ended: Some(error.into()), ..EmptinessResult::default() }
    }

    pub(super) fn unsupported(why: impl ToString) -> EmptinessResult {
        EmptinessResult { ended: Some(Reason::Unsupported(why.to_string())), ..EmptinessResult::default() }
    }
}

/// Looks for a run that the automaton accepts.
pub fn look_for(
    system: &Subject<'_>,
    specification: Specification<'_>,
    options: &Options,
    budget: &Budget,
) -> EmptinessResult {
    if let Some(searcher) = system.searcher() {
        return distributed::look_for(system, searcher, &specification, options, budget);
    }
    if specification.automaton.len() > liveness::MAX_STATES {
        return EmptinessResult::unsupported("the automaton of the formula has too many states");
    }
    if options.explicit.emptiness == Emptiness::Nested && options.settings.fairness != Fairness::None {
        return EmptinessResult::unsupported("the nested search knows no fairness; `--emptiness components` does");
    }
    if options.explicit.search.is_directed() {
        return directed::look_for(system, specification, options, budget);
    }
    if options.explicit.symmetry != SymmetryReduction::Auto {
        return look_as_told(system, specification, options, budget);
    }
    // Whether a large one is symmetric is found out when it has turned out to be large.
    let plain = options.with_symmetry(SymmetryReduction::None);
    let canonical = options.with_symmetry(SymmetryReduction::Canonical);
    if tells_apart(options) {
        return look_as_told(system, specification, &plain, budget);
    }
    let is_suitable = |using: &Using| !using.stutters();
    let (small, large) = symmetry::until_large(system, specification.atoms, options, is_suitable, budget);
    let first = look_as_told(system, specification.clone(), &plain, &small);
    if !large.is_cancelled() || first.ended.is_none() || budget.check().is_err() {
        return first;
    }
    look_as_told(system, specification, &canonical, budget)
}

/// Fairness tells processes apart.
fn tells_apart(options: &Options) -> bool {
    options.settings.fairness != Fairness::None || !options.settings.justice.is_empty()
}

/// The symmetry that may be used for a property of endless runs; or why none, if it is asked for.
fn using(
    system: &Subject<'_>,
    specification: &Specification<'_>,
    options: &Options,
    budget: &Budget,
) -> Option<Result<Using, String>> {
    let using = symmetry::wanted(system, specification.atoms, options, budget)?;
    Some(using.and_then(|using| {
        if tells_apart(options) {
            return Err("fairness tells processes apart".into());
        }
        if using.stutters() {
            return Err("processes come to their end, and when they are removed would count as a step".into());
        }
        Ok(using)
    }))
}

/// Replaces states by representatives, if that is asked for; which symmetry that is, or why there is none.
fn attach(
    system: &Subject<'_>,
    specification: &Specification<'_>,
    space: &mut Compiled,
    options: &Options,
    budget: &Budget,
) -> Option<String> {
    let using = using(system, specification, options, budget)?;
    let attached = using.and_then(|using| using.attach(space).map(|()| using.describe()));
    Some(attached.unwrap_or_else(|why| format!("none, because {why}")))
}

/// Looks with the symmetry that the options name.
fn look_as_told(
    system: &Subject<'_>,
    specification: Specification<'_>,
    options: &Options,
    budget: &Budget,
) -> EmptinessResult {
    let whole = match reduced(system, &specification, options, budget) {
        Ok(found) => return shorten(system, specification, options, budget, found),
        Err(why) => why,
    };
    let found = look_everywhere(system, specification, options, budget);
    match whole {
        Everything::Asked => found,
        Everything::Plainly(why) => EmptinessResult { reduction: Some(format!("none, because {why}")), ..found },
        Everything::Because(why) => {
            EmptinessResult { note: Some(format!("no partial-order reduction: {why}")), ..found }
        }
    }
}

/// Why nothing is left out.
enum Everything {
    /// That was asked for.
    Asked,
    /// As the options say to who knows them.
    Plainly(String),
    /// The user should know.
    Because(String),
}

/// Looks at all orders of steps.
fn look_everywhere(
    system: &Subject<'_>,
    specification: Specification<'_>,
    options: &Options,
    budget: &Budget,
) -> EmptinessResult {
    let mut space = match system.space(specification.atoms, budget) {
        Ok(space) => space,
        Err(error) => return EmptinessResult::not_compiled(error),
    };
    let symmetry = attach(system, &specification, &mut space, options, budget);
    let found = if has_hidden_variables(system) {
        let visible = space.visible();
        search(system, space, visible, specification, options, budget)
    } else {
        search(system, space, Whole, specification, options, budget)
    };
    EmptinessResult { symmetry, ..found }
}

/// Looks at some orders of steps that stand for all; or why not.
fn reduced(
    system: &Subject<'_>,
    specification: &Specification<'_>,
    options: &Options,
    budget: &Budget,
) -> Result<EmptinessResult, Everything> {
    let algorithm = match options.reduction() {
        Reduction::None => return Err(Everything::Asked),
        Reduction::Auto | Reduction::TwoPhase => Algorithm::Guards,
        Reduction::By(Methods { persistent: Some(algorithm), .. }) => algorithm,
        Reduction::By(_) => return Err(Everything::Plainly("only persistent sets can be used for it".into())),
    };
    let weak = match options.settings.fairness {
        Fairness::None => false,
        Fairness::Weak => true,
        Fairness::Strong => {
            return Err(Everything::Plainly("under strong fairness every step of every process counts".into()));
        }
    };
    if weak && (options.reduction() == Reduction::TwoPhase || algorithm != Algorithm::Guards) {
        return Err(Everything::Plainly("only stubborn sets by guards can be used with weak fairness".into()));
    }
    if options.explicit.emptiness == Emptiness::Nested || options.explicit.store.is_set() {
        return Err(Everything::Plainly("the nested search looks at states twice".into()));
    }
    if let Err(why) = &specification.stutter_invariant {
        return Err(Everything::Because((*why).into()));
    }
    if is_sequential(system) {
        return Err(Everything::Plainly(SEQUENTIAL.into()));
    }
    let compiled = match system.compiled() {
        Ok(compiled) => compiled,
        Err(error) => return Ok(EmptinessResult::not_compiled(error)),
    };
    let space = match Reduced::of(compiled, specification.atoms, true, algorithm, budget) {
        Ok(space) => space.with_pauses(options.reduction() == Reduction::Auto),
        Err(NotReduced::Irreducible(why)) => return Err(Everything::Because(why)),
        Err(NotReduced::NotCompiled(error)) => return Ok(EmptinessResult::not_compiled(error)),
    };
    let mut space = if weak { space.with_weak_fairness() } else { space };
    if options.reduction() == Reduction::TwoPhase {
        return in_two_phases(system, space, specification, options, budget);
    }
    let hidden = has_hidden_variables(system);
    let symmetry = attach(system, specification, space.compiled(), options, budget);
    let visible = space.visible_bytes();
    let tally = space.tally();
    let may_get_lost = atomic::may_be_endless(system);
    let mut product = Product::new(Ample::new(space, may_get_lost), specification.automaton.clone())
        .stutters(specification.stutters)
        .hasty(!weak || !may_get_lost);
    let is_auto = options.reduction() == Reduction::Auto;
    let (trial, useless) = trial(budget, is_auto.then_some(tally));
    let found = if hidden {
        in_components(&mut product, visible, options, &trial)
    } else {
        in_components(&mut product, Whole, options, &trial)
    };
    if useless.is_cancelled() {
        return Err(Everything::Plainly("hardly anything could be left out".into()));
    }
    let fairness = if weak { ", weak fairness" } else { "" };
    let reduction = format!("{}, proviso on cycles{fairness}", options.reduction().algorithm());
    Ok(EmptinessResult { reduction: Some(reduction), symmetry, ..found })
}

/// Takes safe steps at once. What is left branches like the whole, so that any search will do that sees a state once.
fn in_two_phases(
    system: &System,
    space: Reduced<'_>,
    specification: &Specification<'_>,
    options: &Options,
    budget: &Budget,
) -> Result<EmptinessResult, Everything> {
    let tally = space.tally();
    let guarded = two_phase::guarded(budget, &tally);
    let visible = space.visible_bytes();
    let mut product =
        Product::new(TwoPhase::new(space), specification.automaton.clone()).stutters(specification.stutters);
    let found = if has_hidden_variables(system) {
        in_components(&mut product, visible, options, &guarded)
    } else {
        in_components(&mut product, Whole, options, &guarded)
    };
    if tally.is_full() {
        return Err(Everything::Plainly(two_phase::FULL.into()));
    }
    Ok(EmptinessResult { reduction: Some(two_phase::describe(product.space().phases())), ..found })
}

fn in_components<S: Checked<State = [u8]> + Concurrent + OfCompiled>(
    product: &mut Product<S>,
    visible: impl Visible,
    options: &Options,
    budget: &Budget,
) -> EmptinessResult {
    let room = room_for_the_store(budget);
    let mut store = FlatStore::<Number, _>::with_visible(Behind(visible)).limit(room);
    let report = liveness::components(product, &mut store, &limits(options), budget);
    let limit = product.space().compiled().limit_reached();
    collect(product, &store, report, limit)
}

/// A violation that shows in a beginning is looked for once more, to be the shortest, if that is not too far.
fn shorten(
    system: &Subject<'_>,
    specification: Specification<'_>,
    options: &Options,
    budget: &Budget,
    found: EmptinessResult,
) -> EmptinessResult {
    if found.run.is_none() || !specification.automaton.is_terminal() || options.explicit.search == Search::DepthFirst {
        return found;
    }
    let wide = options.searching(Search::BreadthFirst);
    let again = look_everywhere(system, specification, &wide, &Patience::of(budget).budget);
    let length = |run: &evidence::Lasso| run.prefix.len() + run.cycle.len();
    match (found.run, again.run) {
        (Some(run), Some(other)) if length(&other) <= length(&run) => EmptinessResult { run: Some(other), ..found },
        (run, _) => EmptinessResult { run, ..found },
    }
}

pub(super) fn limits(options: &Options) -> liveness::Options {
    liveness::Options {
        fairness: match options.settings.fairness {
            Fairness::None => liveness::Fairness::None,
            Fairness::Weak => liveness::Fairness::Weak,
            Fairness::Strong => liveness::Fairness::Strong,
        },
        max_depth: options.settings.max_depth.unwrap_or(u64::MAX),
        report_every: REPORT_EVERY,
    }
}

fn search(
    system: &System,
    space: Compiled,
    visible: impl Visible + Clone + 'static,
    specification: Specification<'_>,
    options: &Options,
    budget: &Budget,
) -> EmptinessResult {
    let room = room_for_the_store(budget);
    let hasty = options.settings.fairness == Fairness::None || !atomic::may_be_endless(system);
    let beginning = specification.automaton.is_terminal() && hasty && options.explicit.emptiness == Emptiness::Auto;
    let mut product = Product::new(space, specification.automaton).stutters(specification.stutters).hasty(hasty);
    let visible = Behind(visible);
    if options.explicit.store.is_set() {
        let limits = &limits(options);
        let search = NestedSearch { product: &mut product, visible, limits, room, budget };
        return stores::nested(search, &options.explicit);
    }
    if beginning && options.explicit.search != Search::DepthFirst {
        let patient = options.explicit.search == Search::BreadthFirst;
        if let Some(found) = shortest(&mut product, visible.clone(), room, patient, options, budget) {
            return found;
        }
    }
    let liveness = limits(options);
    if options.explicit.emptiness == Emptiness::Nested && specification.is_simple {
        let mut store = FlatStore::<Marks, _>::with_visible(visible).limit(room);
        let report = liveness::nested(&mut product, &mut store, &liveness, budget);
        let limit = product.space().limit_reached();
        return collect(&mut product, &store, report, limit);
    }
    let (budget, large) = threads::until_large(&product, &visible, options, budget);
    let mut store = FlatStore::<Number, _>::with_visible(visible).limit(room);
    let report = liveness::components(&mut product, &mut store, &liveness, &budget);
    if let Some(large) = large.filter(|large| large.is_reached(&report)) {
        drop(store);
        return large.go_on(product, &liveness, room);
    }
    let limit = product.space().limit_reached();
    collect(&mut product, &store, report, limit)
}

/// Breadth first, for an automaton that only waits for a beginning. None if it takes too much.
fn shortest(
    product: &mut Product<Compiled>,
    visible: impl Visible,
    room: usize,
    patient: bool,
    options: &Options,
    budget: &Budget,
) -> Option<EmptinessResult> {
    let safety = safety::Options {
        deadlock: false,
        assertions: false,
        invariants: 1,
        // There is only one.
        stop_at_first: false,
        max_depth: options.settings.max_depth.unwrap_or(u64::MAX),
        report_every: REPORT_EVERY,
    };
    let room = if patient { room } else { room / 4 };
    let store = FlatStore::<Parent, _>::with_visible(visible).limit(room);
    let (searched, lost) = if patient {
        (safety::breadth_first_together(product, store, &safety, budget), false)
    } else {
        let patience = Patience::of(budget);
        let searched = safety::breadth_first_together(product, store, &safety, &patience.budget);
        (searched, patience.is_lost(budget))
    };
    match searched {
        safety::Searched::Alone(report, store) => beginning_of(product, &store, report, !patient, lost),
        safety::Searched::Together(report, store) => beginning_of(product, &store.join(), report, !patient, lost),
    }
}

/// What came of a search for a beginning. None if it was given up, which it may be, because it takes too much.
fn beginning_of(
    product: &mut Product<Compiled>,
    store: &impl ExactStore<[u8]>,
    mut report: safety::Report<Step<Transition>>,
    may_give_up: bool,
    lost: bool,
) -> Option<EmptinessResult> {
    let violation = report.invariants.pop().flatten();
    if violation.is_none() && may_give_up && (lost || report.ended == Some(Reason::Memory)) {
        return None;
    }
    let found = violation.and_then(|violation| {
        let end = violation.path.end?;
        Some(Lasso { prefix: violation.path.steps, end, cycle: Vec::new() })
    });
    let ended = if found.is_some() { None } else { report.ended };
    let report = liveness::Report { found, ended, statistics: report.statistics };
    let limit = product.space().limit_reached();
    Some(collect(product, store, report, limit))
}

/// The run of a report as moves, unless the search ran into a limit of the representation.
pub(super) fn collect<S, St>(
    product: &mut Product<S>,
    store: &St,
    report: liveness::Report<Step<S::Transition>>,
    limit: Option<Reason>,
) -> EmptinessResult
where
    S: Checked<State = [u8]> + Concurrent + OfCompiled,
    St: ExactStore<[u8]>,
{
    let mut ended = report.ended;
    let is_quotient = product.space().compiled().representing().is_some();
    let mut run = match report.found {
        Some(lasso) if is_quotient => {
            let run = lifted(product, store, &lasso);
            if run.is_none() {
                ended.get_or_insert(Reason::Unsupported(NOT_LIFTED.into()));
            }
            run
        }
        found => found.map(|lasso| run(product, store, &lasso)),
    };
    if let Some(limit) = limit {
        // A state whose steps were not all looked for is not stuck, even if it seems so.
        let is_whole = matches!(limit, Reason::Unsupported(_));
        run = run.filter(|_| is_whole);
        ended = if run.is_none() { Some(limit) } else { ended };
    }
    let stops = product.stops().clone();
    EmptinessResult { run, ended, statistics: report.statistics, stops, ..EmptinessResult::default() }
}

fn run<S, St>(product: &mut Product<S>, store: &St, lasso: &Lasso<Step<S::Transition>>) -> evidence::Lasso
where
    S: Checked<State = [u8]> + Concurrent,
    St: ExactStore<[u8]>,
{
    let first = lasso.prefix.first().map_or(lasso.end, |(state, _)| *state);
    let start = start_of(product, store, Some(first));
    let start = product.space().start_number(start);
    let (prefix, prefix_tags) = moves(product, store, &lasso.prefix);
    let (cycle, cycle_tags) = moves(product, store, &lasso.cycle);
    let ending = match (lasso.cycle.is_empty(), cycle.is_empty()) {
        (true, _) => Ending::Open,
        (false, true) => Ending::Stutter,
        (false, false) => Ending::Cycle,
    };
    evidence::Lasso { start, prefix, cycle, ending, prefix_tags, cycle_tags }
}

/// A cycle of representatives is followed so many times at most.
const MOST_ROUNDS: usize = 10_000;

/// The run of the system that follows a lasso of representatives. Once round the cycle, processes may have changed their places, so
/// that it is followed until the system is where it was before.
fn lifted<S, St>(product: &mut Product<S>, store: &St, lasso: &Lasso<Step<S::Transition>>) -> Option<evidence::Lasso>
where
    S: Checked<State = [u8]> + Concurrent + OfCompiled,
    St: ExactStore<[u8]>,
{
    let first = lasso.prefix.first().map_or(lasso.end, |(state, _)| *state);
    let (mut lift, start) = Lift::start(product.space().compiled(), <[u8]>::plain(store.get(first)))?;
    let mut tags = Vec::new();
    follow(product, store, &lasso.prefix, &mut lift, &mut tags)?;
    let mut before: Vec<(Vec<u8>, usize, usize)> = Vec::new();
    let (at, tag) = loop {
        let known = before.iter().find(|(state, ..)| state.as_slice() == lift.state());
        if let Some((_, moves, tags)) = known {
            break (*moves, *tags);
        }
        before.push((lift.state().to_vec(), lift.moves.len(), tags.len()));
        if lasso.cycle.is_empty() {
            break (lift.moves.len(), tags.len());
        }
        if before.len() > MOST_ROUNDS {
            return None;
        }
        follow(product, store, &lasso.cycle, &mut lift, &mut tags)?;
    };
    let cycle = lift.moves.split_off(at);
    let cycle_tags = tags.split_off(tag);
    let ending = match (lasso.cycle.is_empty(), cycle.is_empty()) {
        (true, _) => Ending::Open,
        (false, true) => Ending::Stutter,
        (false, false) => Ending::Cycle,
    };
    Some(evidence::Lasso { start, prefix: lift.moves, cycle, ending, prefix_tags: tags, cycle_tags })
}

/// Follows steps of the product in the system itself.
fn follow<S, St>(
    product: &mut Product<S>,
    store: &St,
    steps: &[(Handle, Step<S::Transition>)],
    lift: &mut Lift,
    tags: &mut Vec<u32>,
) -> Option<()>
where
    S: Checked<State = [u8]> + Concurrent + OfCompiled,
    St: ExactStore<[u8]>,
{
    let mut out = Vec::new();
    for (state, step) in steps {
        let state = store.get(*state);
        if !product.is_transient(state) {
            tags.push(Product::<S>::automaton_state(state));
        }
        if let Some(base) = &step.base {
            let space = product.space();
            space.target(<[u8]>::plain(state), base, &mut out);
            let (is_dead, violates) = (space.is_dead(), space.violation().is_some());
            if !lift.step(&Expected { state: &out, is_dead, violates }) {
                return None;
            }
        }
    }
    Some(())
}

/// The moves of the system in steps of the product, and where the automaton stands when it reads a state.
fn moves<S, St>(product: &mut Product<S>, store: &St, steps: &[(Handle, Step<S::Transition>)]) -> (Vec<Move>, Vec<u32>)
where
    S: Checked<State = [u8]> + Concurrent,
    St: ExactStore<[u8]>,
{
    let (mut moves, mut tags) = (Vec::new(), Vec::new());
    for (state, step) in steps {
        let state = store.get(*state);
        if !product.is_transient(state) {
            tags.push(Product::<S>::automaton_state(state));
        }
        if let Some(base) = &step.base {
            moves.extend(product.space().actions(<[u8]>::plain(state), base));
        }
    }
    (moves, tags)
}
