use ample_model::random::{self, Features};
use ample_model::{Expr, System};

use super::*;
use crate::check::Cut;
use crate::compile::{Compiled, Transition};
use crate::search::Path;
use crate::space::{Culprit, StateSpace};
use crate::store::Parent;

/// Several threads from the first states on.
const AT_ONCE: Thresholds = Thresholds { large: 1, wide: 1 };

/// What does not depend on who is faster.
#[derive(Debug, PartialEq)]
struct Outcome {
    /// States, transitions, states and steps inside atomic sequences, and the depth.
    counts: [u64; 5],
    /// The run-time errors.
    cuts: Vec<(Option<Culprit>, u64)>,
    /// How long the paths to violations are.
    lengths: Vec<Option<usize>>,
    ended: Option<Reason>,
    exhausted: bool,
    /// The edges that were taken.
    coverage: String,
}

impl Outcome {
    fn of(space: &Compiled, report: &Report<Transition>) -> Outcome {
        let statistics = &report.statistics;
        let violations = [&report.deadlock, &report.assertions].into_iter().chain(&report.invariants);
        let cut = |cut: &Cut| (cut.by, cut.count);
        Outcome {
            counts: [
                statistics.states,
                statistics.transitions,
                statistics.atomic_states,
                statistics.atomic_steps,
                statistics.depth,
            ],
            cuts: report.cuts.iter().map(cut).collect(),
            lengths: violations.map(|violation| violation.as_ref().map(|found| found.path.len())).collect(),
            ended: report.ended.clone(),
            exhausted: report.exhausted,
            coverage: format!("{:?}", space.coverage()),
        }
    }
}

/// The path is one of the system.
fn replay(name: &str, space: &mut Compiled, store: &impl ExactStore<[u8]>, path: &Path<Transition>) {
    let states: Vec<Vec<u8>> = path.states().map(|handle| store.get(handle).to_vec()).collect();
    let mut out = Vec::new();
    for (number, (_, transition)) in path.steps.iter().enumerate() {
        space.target(&states[number], transition, &mut out);
        match states.get(number + 1) {
            Some(next) => assert_eq!((&out, space.is_dead()), (next, false), "{name}: step {number}"),
            None => assert!(space.violation().is_some(), "{name}: step {number} is not the end"),
        }
    }
}

/// Searches with so many threads; none if there are too many states.
fn searched(name: &str, system: &System, options: &Options, threads: usize) -> Option<Outcome> {
    let invariants = [Expr::Const(1), Expr::Timeout];
    let mut space = Compiled::new(system, &invariants[..options.invariants]).unwrap();
    space.note_executed();
    let (budget, many) = Budget::unlimited().with_threads(threads).until(|progress| progress.states > 10_000);
    let report = match search(&mut space, FlatStore::<Parent>::default(), options, &budget, AT_ONCE) {
        Searched::Alone(report, store) => {
            all_paths(&report).for_each(|path| replay(name, &mut space, &store, path));
            report
        }
        Searched::Together(report, store) => {
            assert!(threads > 1, "{name}");
            all_paths(&report).for_each(|path| replay(name, &mut space, &store.join(), path));
            report
        }
    };
    (!many.is_cancelled()).then(|| Outcome::of(&space, &report))
}

fn all_paths(report: &Report<Transition>) -> impl Iterator<Item = &Path<Transition>> {
    let violations = [&report.deadlock, &report.assertions].into_iter().chain(&report.invariants);
    violations.flatten().map(|violation| &violation.path)
}

/// How many random systems; more on demand.
fn seeds() -> u64 {
    std::env::var("AMPLE_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(150)
}

fn systems() -> impl Iterator<Item = (String, System)> {
    (0..seeds()).map(|seed| {
        let features = if seed % 4 == 3 { Features::NONE } else { Features::ALL };
        (format!("seed {seed}"), random::system(seed, features))
    })
}

#[test]
fn everything_is_counted_as_by_one_thread() {
    let mut compared = 0;
    // The first invariant holds, so that no search ends before it has seen everything.
    let options = Options { invariants: 2, report_every: 64, ..Options::default() };
    for (name, system) in systems() {
        let Some(expected) = searched(&name, &system, &options, 1) else { continue };
        for threads in [2, 3, 4, 2] {
            let found = searched(&name, &system, &options, threads);
            assert_eq!(found.as_ref(), Some(&expected), "{name}, {threads} threads");
        }
        compared += expected.counts[0];
    }
    assert!(compared > 20 * seeds(), "random systems that hardly move: {compared} states");
}

#[test]
fn a_depth_limit_leaves_out_the_same_states() {
    let options = Options { invariants: 1, max_depth: 5, report_every: 64, ..Options::default() };
    for (name, system) in systems() {
        let Some(expected) = searched(&name, &system, &options, 1) else { continue };
        assert_eq!(searched(&name, &system, &options, 3).as_ref(), Some(&expected), "{name}");
    }
}

#[test]
fn violations_are_the_same_and_as_near_as_with_one_thread() {
    // Ends when both are violated, and what was counted then depends on who was faster.
    let options = Options { report_every: 64, ..Options::default() };
    for (name, system) in systems() {
        let Some(expected) = searched(&name, &system, &options, 1) else { continue };
        for threads in [2, 4] {
            let Some(found) = searched(&name, &system, &options, threads) else { panic!("{name}: more states") };
            assert_eq!(found.lengths, expected.lengths, "{name}, {threads} threads");
            assert_eq!((found.ended, found.exhausted), (expected.ended.clone(), expected.exhausted), "{name}");
        }
    }
}

/// So many counters modulo ten, each of which can be counted up: wide levels, and many arrivals at each state.
#[derive(Clone)]
struct Counters(usize);

impl StateSpace for Counters {
    type State = [u8];
    type Transition = u8;

    fn initial(&mut self, index: usize, out: &mut Vec<u8>) -> bool {
        out.clear();
        out.resize(self.0, 0);
        index == 0
    }

    fn first(&mut self, _: &[u8]) -> Option<u8> {
        Some(0)
    }

    fn next(&mut self, _: &[u8], last: &u8) -> Option<u8> {
        (usize::from(*last) + 1 < self.0).then_some(last + 1)
    }

    fn target(&mut self, state: &[u8], counter: &u8, out: &mut Vec<u8>) {
        out.clear();
        out.extend_from_slice(state);
        let counter = &mut out[usize::from(*counter)];
        *counter = (*counter + 1) % 10;
    }
}

impl Checked for Counters {
    fn is_valid_end(&mut self, _: &[u8]) -> bool {
        true
    }

    fn violation(&self) -> Option<String> {
        None
    }

    fn is_dead(&self) -> bool {
        false
    }

    fn is_transient(&self, _: &[u8]) -> bool {
        false
    }

    fn atomic_steps(&self) -> u32 {
        0
    }

    fn invariant(&mut self, _: usize, state: &[u8]) -> bool {
        state.iter().any(|count| *count != 7)
    }
}

impl Fork for Counters {
    fn fork(&self) -> Option<Counters> {
        Some(self.clone())
    }

    fn join(&mut self, _: Counters) {}
}

fn counted(threads: usize, options: &Options, budget: &Budget) -> Report<u8> {
    let budget = budget.clone().with_threads(threads);
    let store = FlatStore::<Parent>::default();
    match search(&mut Counters(5), store, options, &budget, Thresholds { large: 100, wide: 50 }) {
        Searched::Alone(report, _) => report,
        Searched::Together(report, store) => {
            assert_eq!(store.join().len() as u64, report.statistics.states);
            report
        }
    }
}

#[test]
fn the_store_grows_while_several_threads_search() {
    for threads in [1, 2, 4] {
        let report = counted(threads, &Options::default(), &Budget::unlimited());
        let statistics = &report.statistics;
        assert_eq!((statistics.states, statistics.transitions, statistics.depth), (100_000, 500_001, 45), "{threads}");
        assert!(report.exhausted);
    }
}

#[test]
fn a_violation_ends_the_search_of_all() {
    let options = Options { deadlock: false, assertions: false, invariants: 1, ..Options::default() };
    for threads in [1, 2, 4] {
        let report = counted(threads, &options, &Budget::unlimited());
        assert_eq!(report.invariants[0].as_ref().map(|found| found.path.len()), Some(35), "{threads} threads");
        assert!(!report.exhausted && report.statistics.states < 100_000);
    }
}

#[test]
fn the_budget_ends_the_search_of_all() {
    let options = Options { report_every: 64, ..Options::default() };
    for threads in [1, 2, 4] {
        let (budget, _) = Budget::unlimited().until(|progress| progress.states > 20_000);
        let report = counted(threads, &options, &budget);
        assert_eq!(report.ended, Some(Reason::Interrupted));
        assert!(report.statistics.states > 20_000 && report.statistics.states < 90_000, "{:?}", report.statistics);
    }
}

#[test]
fn nobody_helps_while_all_cores_are_in_use() {
    let budget = Budget::unlimited().with_threads(2);
    let _own = budget.occupy_core();
    let _other = budget.occupy_core();
    let store = FlatStore::<Parent>::default();
    let searched = search(&mut Counters(3), store, &Options::default(), &budget, AT_ONCE);
    assert!(matches!(searched, Searched::Alone(report, _) if report.statistics.states == 1_000));
}
