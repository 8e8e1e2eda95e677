//! Any set of states with any search: plain and reduced, depth first and breadth first, in memory and on disk.

use std::rc::Rc;

use ample_budget::Budget;
use ample_explicit::batch;
use ample_explicit::check::{self, Options, Report};
use ample_explicit::partial::{self, Mark};
use ample_explicit::space::{Checked, StateSpace};
use ample_explicit::store::{
    AutomatonSet, BitStateSet, CollapseSet, CompactionSet, DiskStore, ExactStore, FlatStore, Key, Parent, SetStore,
    StateSet, TreeSet,
};

use super::system::{self, System};
use super::{FULL, QUEUE, STACK, all, follow, nothing, seeds};

/// What was found, and how much was searched.
#[derive(Debug, PartialEq)]
struct Found {
    /// The lengths of the paths.
    paths: [Option<usize>; 3],
    states: u64,
    transitions: u64,
    atomic_states: u64,
    atomic_steps: u64,
    depth: u64,
    cuts: u64,
}

fn found(report: &Report<u16>) -> Found {
    let statistics = &report.statistics;
    Found {
        paths: [
            report.deadlock.as_ref().map(|violation| violation.path.len()),
            report.assertions.as_ref().map(|violation| violation.path.len()),
            report.invariants.first().and_then(Option::as_ref).map(|violation| violation.path.len()),
        ],
        states: statistics.states,
        transitions: statistics.transitions,
        atomic_states: statistics.atomic_states,
        atomic_steps: statistics.atomic_steps,
        depth: statistics.depth,
        cuts: report.cuts.iter().map(|cut| cut.count).sum(),
    }
}

/// The paths are replayed. A set does not give a state back that was seen before, so that a path to one may have no end.
fn checked(system: &System, store: &impl ExactStore<[u8]>, report: &Report<u16>) -> Found {
    let mut system = system.clone();
    if let Some(violation) = &report.deadlock {
        let end = follow(&mut system, store, &violation.path);
        assert!(system.first(&end).is_none() && !system.is_valid_end(&end));
    }
    if let Some(violation) = &report.assertions {
        follow(&mut system, store, &violation.path);
        assert_eq!(system.violation().as_ref(), Some(&violation.message));
    }
    for violation in report.invariants.iter().flatten() {
        let end = follow(&mut system, store, &violation.path);
        assert!(!system.invariant(0, &end));
    }
    found(report)
}

/// The searches, each in the same way for every store.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    BreadthFirst,
    DepthFirst,
    ReducedBreadthFirst,
    ReducedDepthFirst,
    /// The search for reductions, without any.
    Whole,
}

const KINDS: [Kind; 5] =
    [Kind::BreadthFirst, Kind::DepthFirst, Kind::ReducedBreadthFirst, Kind::ReducedDepthFirst, Kind::Whole];

fn exactly(system: &System, kind: Kind, options: &Options) -> Found {
    let (mut space, budget) = (system.clone(), Budget::unlimited());
    match kind {
        Kind::BreadthFirst => {
            let mut store = FlatStore::<Parent>::default();
            let report = check::breadth_first(&mut space, &mut store, options, &budget);
            checked(system, &store, &report)
        }
        Kind::DepthFirst => {
            let mut store = FlatStore::new();
            let report = check::depth_first(&mut space, &mut store, options, &budget);
            checked(system, &store, &report)
        }
        Kind::ReducedBreadthFirst => {
            let mut store = FlatStore::<Parent>::default();
            let done = partial::breadth_first(&mut space, &mut store, options, &QUEUE, &budget).unwrap();
            checked(system, &store, &done.report)
        }
        Kind::ReducedDepthFirst | Kind::Whole => {
            let reduction = if kind == Kind::Whole { FULL } else { STACK };
            let mut store = FlatStore::<Mark>::default();
            let done = partial::depth_first(&mut space, &mut store, options, &reduction, &budget).unwrap();
            checked(system, &store, &done.report)
        }
    }
}

fn in_set(system: &System, kind: Kind, options: &Options, mut set: impl StateSet) -> Found {
    let (mut space, budget) = (system.clone(), Budget::unlimited());
    match kind {
        Kind::BreadthFirst => {
            let mut store = SetStore::queue(set, Key::default(), true);
            let report = check::breadth_first(&mut space, &mut store, options, &budget);
            checked(system, &store, &report)
        }
        Kind::DepthFirst => {
            let mut store = SetStore::stack(set, Key::default());
            let report = check::depth_first(&mut space, &mut store, options, &budget);
            checked(system, &store, &report)
        }
        Kind::ReducedBreadthFirst => {
            let mut store = SetStore::queue(set, Key::default(), true);
            let done = partial::breadth_first(&mut space, &mut store, options, &QUEUE, &budget).unwrap();
            checked(system, &store, &done.report)
        }
        Kind::ReducedDepthFirst | Kind::Whole => {
            let reduction = if kind == Kind::Whole { FULL } else { STACK };
            let mut store = FlatStore::<Mark>::default();
            let visited = (&mut set, Key::default());
            let (limit, space) = (usize::MAX, &mut space);
            let done = partial::depth_first_in_set(space, &mut store, visited, limit, options, &reduction, &budget);
            checked(system, &store, &done.unwrap().report)
        }
    }
}

fn collapse() -> CollapseSet {
    CollapseSet::new(Rc::new(|state: &[u8], cuts: &mut Vec<usize>| {
        cuts.extend([1, 2, 4].iter().filter(|&&cut| cut < state.len()))
    }))
}

/// Does it hold, for each of the three.
fn verdicts(found: &Found) -> [bool; 3] {
    found.paths.map(|path| path.is_none())
}

#[test]
fn every_exact_set_gives_what_the_exact_store_gives() {
    for seed in seeds(120) {
        let system = system::random(seed);
        for options in [all(), nothing(), Options { max_depth: 5, ..all() }] {
            for kind in KINDS {
                let expected = exactly(&system, kind, &options);
                let done = [
                    in_set(&system, kind, &options, TreeSet::new()),
                    in_set(&system, kind, &options, collapse()),
                    in_set(&system, kind, &options, AutomatonSet::new()),
                    in_set(&system, kind, &options, CompactionSet::<8>::new()),
                ];
                for (number, found) in done.into_iter().enumerate() {
                    let name = format!("seed {seed}, {kind:?}, set {number}");
                    // A set does not tell which of the states that were seen wait in the queue.
                    if kind == Kind::ReducedBreadthFirst {
                        if options.max_depth == u64::MAX {
                            assert_eq!(verdicts(&found), verdicts(&expected), "{name}");
                        }
                    } else {
                        assert_eq!(found, expected, "{name}");
                    }
                }
            }
        }
    }
}

#[test]
fn approximate_sets_find_no_error_that_is_not_there_and_no_state_twice() {
    let mut omitted = 0;
    for seed in seeds(120) {
        let system = system::random(seed);
        let whole = exactly(&system, Kind::BreadthFirst, &nothing());
        let expected = verdicts(&exactly(&system, Kind::BreadthFirst, &all()));
        for kind in KINDS {
            for (bits, functions) in [(6, 1), (7, 2), (20, 3)] {
                let set = || BitStateSet::new(bits, functions).unwrap();
                let found = in_set(&system, kind, &nothing(), set());
                assert!(
                    found.states + found.atomic_states <= whole.states + whole.atomic_states,
                    "seed {seed}, {kind:?}"
                );
                omitted += u64::from(found.states < whole.states && kind == Kind::DepthFirst);
                // Paths are replayed; so what is violated is.
                let holds = verdicts(&in_set(&system, kind, &all(), set()));
                assert!(holds.iter().zip(expected).all(|(holds, right)| *holds || !right), "seed {seed}, {kind:?}");
            }
        }
    }
    assert!(omitted > 20, "{omitted}");
}

#[test]
fn the_disk_gives_what_the_memory_gives() {
    for seed in seeds(120) {
        let system = system::random(seed);
        for options in [all(), nothing(), Options { max_depth: 5, ..all() }] {
            let expected = exactly(&system, Kind::BreadthFirst, &options);
            let mut store = DiskStore::new(Key::default(), 0).unwrap();
            let report = batch::breadth_first(&mut system.clone(), &mut store, &options, &Budget::unlimited());
            let found = checked(&system, &store.kept, &report);
            assert_eq!(found.paths, expected.paths, "seed {seed}");
            // Once everything is decided, the search in memory still has some arrivals to look at.
            if report.exhausted {
                assert_eq!(found, expected, "seed {seed}");
            }
        }
    }
}
