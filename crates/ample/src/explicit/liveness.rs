//! Endless runs, by the explicit engine: the product of the system with a watcher, and emptiness.

use ample_explicit::check as safety;
use ample_explicit::compile::{Compiled, Transition};
use ample_explicit::liveness::{self, Behind, Lasso, Number, Step, Tagged, Watched, Watcher};
use ample_explicit::space::Checked;
use ample_explicit::store::{ExactStore, FlatStore, Handle, Marks, Parent, Visible, Whole};
use ample_model::{Expr, Move, Observer, Reason, Statistics, System};

use super::{Patience, REPORT_EVERY, has_hidden_variables, room_for_the_store, start_of};
use crate::check::{CheckOptions, Emptiness, Fairness, Search};

/// What to look for: the runs that a watcher accepts.
pub struct Watch<'a> {
    /// The automaton.
    pub watcher: Watcher,
    /// What its atoms stand for.
    pub atoms: &'a [Expr],
    /// Deadlocked states repeat for ever.
    pub stutters: bool,
    /// One acceptance set, on states: the nested search can do it.
    pub is_simple: bool,
}

/// How a run goes on after its last move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With its cycle, for ever.
    Cycle,
    /// It is stuck, and stays there for ever.
    Stutter,
    /// Anyhow: what was seen is enough.
    Open,
}

/// An accepted run.
#[derive(Clone, Debug)]
pub struct Run {
    /// Which of the initial states it starts in.
    pub start: u32,
    /// The moves to the cycle.
    pub prefix: Vec<Move>,
    /// The moves of the cycle.
    pub cycle: Vec<Move>,
    /// How it goes on.
    pub ending: Ending,
    /// The states of the watcher when it reads the visible states of the prefix, and then again the last one if the run
    /// is stuck before the watcher's cycle begins.
    pub prefix_tags: Vec<u32>,
    /// And when it reads those of the cycle; or the last state, again and again, if the run is stuck.
    pub cycle_tags: Vec<u32>,
}

/// What the search found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// An accepted run.
    pub run: Option<Run>,
    /// Why the search ended early, if it did.
    pub ended: Option<Reason>,
    /// What the search did.
    pub statistics: Statistics,
}

impl Found {
    fn nothing(why: impl ToString) -> Found {
        Found { ended: Some(Reason::Unsupported(why.to_string())), ..Found::default() }
    }
}

/// Looks for a run that the watcher accepts.
pub fn look_for(system: &System, watch: Watch<'_>, options: &CheckOptions, observer: &mut dyn Observer) -> Found {
    let space = match Compiled::new(system, watch.atoms) {
        Ok(space) => space,
        Err(unsupported) => return Found::nothing(unsupported),
    };
    if watch.watcher.len() > liveness::MAX_STATES {
        return Found::nothing("the automaton of the formula has too many states");
    }
    if options.emptiness == Emptiness::Nested && options.fairness != Fairness::None {
        return Found::nothing("the nested search knows no fairness; `--emptiness components` does");
    }
    if !has_hidden_variables(system) {
        return search(space, Whole, watch, options, observer);
    }
    let visible = space.visible();
    search(space, visible, watch, options, observer)
}

fn search(
    space: Compiled,
    visible: impl Visible + Clone,
    watch: Watch<'_>,
    options: &CheckOptions,
    observer: &mut dyn Observer,
) -> Found {
    let room = options.memory_limit.map_or(usize::MAX, room_for_the_store);
    let hasty = options.fairness == Fairness::None || !space.has_atomic_sequences();
    let beginning = watch.watcher.is_terminal() && hasty && options.emptiness == Emptiness::Auto;
    let mut product = Watched::new(space, watch.watcher).stutters(watch.stutters).hasty(hasty);
    let visible = Behind(visible);
    if beginning && options.search != Search::DepthFirst {
        let patient = options.search == Search::BreadthFirst;
        if let Some(found) = shortest(&mut product, visible.clone(), room, patient, options, observer) {
            return found;
        }
    }
    let liveness = liveness::Options {
        fairness: match options.fairness {
            Fairness::None => liveness::Fairness::None,
            Fairness::Weak => liveness::Fairness::Weak,
            Fairness::Strong => liveness::Fairness::Strong,
        },
        max_depth: options.max_depth.unwrap_or(u64::MAX),
        report_every: REPORT_EVERY,
    };
    if options.emptiness == Emptiness::Nested && watch.is_simple {
        let mut store = FlatStore::<Marks, _>::with_visible(visible).limit(room);
        let report = liveness::nested(&mut product, &mut store, &liveness, observer);
        return collect(&mut product, &store, report);
    }
    let mut store = FlatStore::<Number, _>::with_visible(visible).limit(room);
    let report = liveness::components(&mut product, &mut store, &liveness, observer);
    collect(&mut product, &store, report)
}

/// Breadth first, for a watcher that only waits for a beginning. None if it takes too much.
fn shortest(
    product: &mut Watched<Compiled>,
    visible: impl Visible,
    room: usize,
    patient: bool,
    options: &CheckOptions,
    observer: &mut dyn Observer,
) -> Option<Found> {
    let safety = safety::Options {
        deadlock: false,
        assertions: false,
        invariants: 1,
        stop_at_first: true,
        max_depth: options.max_depth.unwrap_or(u64::MAX),
        report_every: REPORT_EVERY,
    };
    let room = if patient { room } else { room / 4 };
    let mut store = FlatStore::<Parent, _>::with_visible(visible).limit(room);
    let (report, lost) = if patient {
        (safety::breadth_first(product, &mut store, &safety, observer), false)
    } else {
        let mut patience = Patience { observer, lost: false };
        let report = safety::breadth_first(product, &mut store, &safety, &mut patience);
        (report, patience.lost)
    };
    let mut report = report;
    let violation = report.invariants.pop().flatten();
    if violation.is_none() && !patient && (lost || report.ended == Some(Reason::Memory)) {
        return None;
    }
    let found = violation.and_then(|finding| {
        let end = finding.path.end?;
        Some(Lasso { prefix: finding.path.steps, end, cycle: Vec::new() })
    });
    let ended = if found.is_some() { None } else { report.ended };
    let report = liveness::Report { found, ended, statistics: report.statistics };
    Some(collect(product, &store, report))
}

type Product = Watched<Compiled>;

/// The run of a report as moves.
fn collect<St>(product: &mut Product, store: &St, report: liveness::Report<Step<Transition>>) -> Found
where
    St: ExactStore<[u8]>,
{
    let mut ended = report.ended;
    let run = report.found.map(|lasso| run(product, store, &lasso));
    if let Some(limit) = product.space().limit_reached()
        && run.is_none()
    {
        ended = Some(Reason::Unsupported(limit));
    }
    Found { run, ended, statistics: report.statistics }
}

fn run<St>(product: &mut Product, store: &St, lasso: &Lasso<Step<Transition>>) -> Run
where
    St: ExactStore<[u8]>,
{
    let first = lasso.prefix.first().map_or(lasso.end, |(state, _)| *state);
    let start = start_of(product, store, Some(first));
    let (prefix, prefix_tags) = moves(product, store, &lasso.prefix);
    let (cycle, cycle_tags) = moves(product, store, &lasso.cycle);
    let ending = match (lasso.cycle.is_empty(), cycle.is_empty()) {
        (true, _) => Ending::Open,
        (false, true) => Ending::Stutter,
        (false, false) => Ending::Cycle,
    };
    Run { start, prefix, cycle, ending, prefix_tags, cycle_tags }
}

/// The moves of the system in steps of the product, and where the watcher stands when it reads a state.
fn moves<St>(product: &mut Product, store: &St, steps: &[(Handle, Step<Transition>)]) -> (Vec<Move>, Vec<u32>)
where
    St: ExactStore<[u8]>,
{
    let (mut moves, mut tags) = (Vec::new(), Vec::new());
    for (state, step) in steps {
        let state = store.get(*state);
        if !product.is_transient(state) {
            tags.push(<[u8]>::tag(state));
        }
        if let Some(base) = &step.base {
            moves.extend(product.space().expand(<[u8]>::plain(state), base));
        }
    }
    (moves, tags)
}
