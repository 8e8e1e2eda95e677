//! Partial-order search on small systems: the examples of P. Godefroid's thesis, and random systems against the plain
//! search.

mod stores;
mod system;

use std::collections::BTreeSet;
use std::iter;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use ample_budget::{Budget, Progress};
use ample_explicit::check::{self, Options, Report};
use ample_explicit::partial::{self, Cache, Counts, Incompatible, Mark, Proviso, Reduced, Reduction, Replacement};
use ample_explicit::search::Path;
use ample_explicit::space::{Checked, StateSpace};
use ample_explicit::store::{ExactStore, FlatStore, Parent, Side, Store};
use ample_model::outcome::Reason;
use ample_random::Random;
use system::{Method, System};

const PERSISTENT: Reduction = Reduction { persistent: true, sleep: false, proviso: Proviso::None, cache: None };
const SLEEP: Reduction = Reduction { persistent: false, sleep: true, ..PERSISTENT };
const BOTH: Reduction = Reduction { sleep: true, ..PERSISTENT };
const STACK: Reduction = Reduction { proviso: Proviso::Stack, ..PERSISTENT };
const STACK_SLEEP: Reduction = Reduction { proviso: Proviso::Stack, ..BOTH };
const COMPONENTS: Reduction = Reduction { proviso: Proviso::Components, ..PERSISTENT };
const QUEUE: Reduction = Reduction { proviso: Proviso::Queue, ..PERSISTENT };
const FULL: Reduction = Reduction { persistent: false, ..PERSISTENT };

/// What can be found with each: deadlocks, or everything.
const DEPTH_FIRST: [(Reduction, bool); 7] = [
    (FULL, true),
    (PERSISTENT, false),
    (SLEEP, true),
    (BOTH, false),
    (STACK, true),
    (STACK_SLEEP, true),
    (COMPONENTS, true),
];
const BREADTH_FIRST: [(Reduction, bool); 3] = [(FULL, true), (PERSISTENT, false), (QUEUE, true)];

/// The seeds of a random test: so many, or those of `PARTIAL_SEEDS=from..to`.
fn seeds(count: u64) -> Range<u64> {
    let given = std::env::var("PARTIAL_SEEDS").ok();
    let range = given.as_deref().and_then(|given| given.split_once(".."));
    range.and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?)).unwrap_or(0..count)
}

/// Everything is asked.
fn all() -> Options {
    Options { invariants: 1, ..Options::default() }
}

/// Nothing is asked, so that the search goes through to the end.
fn nothing() -> Options {
    Options { deadlock: false, assertions: false, ..Options::default() }
}

/// Processes and the locations that they were seen at.
type Locals = BTreeSet<(usize, u8)>;

/// The outcome of a search, and what its store holds.
struct Run {
    reduced: Reduced<u16>,
    states: BTreeSet<Vec<u8>>,
    locals: Locals,
}

fn contents<D: Side>(system: &System, store: &FlatStore<D>) -> (BTreeSet<Vec<u8>>, Locals) {
    let states: BTreeSet<Vec<u8>> =
        iter::successors(store.first(), |&handle| store.after(handle)).map(|h| store.get(h).to_vec()).collect();
    let locals = states.iter().flat_map(|state| system.local_states(state)).collect();
    (states, locals)
}

fn depth_first(system: &System, options: &Options, reduction: &Reduction) -> Run {
    depth_first_observed(system, options, reduction, &Budget::unlimited())
}

fn depth_first_observed(system: &System, options: &Options, reduction: &Reduction, budget: &Budget) -> Run {
    let mut system = system.clone();
    let mut store = FlatStore::<Mark>::default();
    let reduced = partial::depth_first(&mut system, &mut store, options, reduction, budget).unwrap();
    replay(&mut system, &store, &reduced.report);
    check_counts(&reduced.counts, &reduced.report);
    let (states, locals) = contents(&system, &store);
    Run { reduced, states, locals }
}

fn breadth_first(system: &System, options: &Options, reduction: &Reduction) -> Run {
    let mut system = system.clone();
    let mut store = FlatStore::<Parent>::default();
    let reduced = partial::breadth_first(&mut system, &mut store, options, reduction, &Budget::unlimited()).unwrap();
    replay(&mut system, &store, &reduced.report);
    check_counts(&reduced.counts, &reduced.report);
    let (states, locals) = contents(&system, &store);
    Run { reduced, states, locals }
}

/// The search without any reduction, by other code.
fn plain(system: &System, options: &Options) -> (Report<u16>, BTreeSet<Vec<u8>>, Locals) {
    let mut store = FlatStore::new();
    let report = check::depth_first(&mut system.clone(), &mut store, options, &Budget::unlimited());
    let (states, locals) = contents(system, &store);
    (report, states, locals)
}

fn check_counts(counts: &Counts, report: &Report<u16>) {
    let statistics = &report.statistics;
    assert_eq!(counts.stored + counts.cleared + counts.matched, counts.transitions, "{counts:?}");
    assert_eq!(counts.stored + counts.cleared, statistics.states + statistics.atomic_states, "{counts:?}");
}

/// Every path begins at the start, consists of steps, and ends in what it is there to show.
fn replay(system: &mut System, store: &impl ExactStore<[u8]>, report: &Report<u16>) {
    if let Some(violation) = &report.deadlock {
        let end = follow(system, store, &violation.path);
        assert!(system.first(&end).is_none() && !system.is_valid_end(&end));
    }
    if let Some(violation) = &report.assertions {
        let end = follow(system, store, &violation.path);
        // Without an end it is a fault, or there was no memory for the state.
        assert!(violation.path.end.is_some() || system.is_dead() || store.find(&end).is_none());
        assert_eq!(system.violation().as_ref(), Some(&violation.message));
    }
    for violation in report.invariants.iter().flatten() {
        let end = follow(system, store, &violation.path);
        assert!(!system.invariant(0, &end));
    }
}

fn follow(system: &mut System, store: &impl ExactStore<[u8]>, path: &Path<u16>) -> Vec<u8> {
    let mut state = Vec::new();
    system.initial(0, &mut state);
    for &(handle, transition) in &path.steps {
        assert_eq!(store.get(handle), state);
        assert!(system.is_enabled(&state, transition as usize));
        let source = state.clone();
        system.target(&source, &transition, &mut state);
    }
    assert!(path.end.is_none_or(|end| !system.is_dead() && store.get(end) == state));
    state
}

/// States, and transitions without the arrival at the initial state.
fn size(run: &Run) -> (u64, u64) {
    (run.reduced.report.statistics.states, run.reduced.report.statistics.transitions - 1)
}

#[test]
fn without_reduction_it_is_the_plain_search() {
    for seed in seeds(300) {
        let system = system::random(seed);
        for options in [all(), nothing(), Options { max_depth: 4, ..all() }] {
            let (mut report, states, _) = plain(&system, &options);
            let mut run = depth_first(&system, &options, &FULL);
            for statistics in [&mut report.statistics, &mut run.reduced.report.statistics] {
                (statistics.time_s, statistics.memory_bytes, statistics.store_bytes) = (0.0, 0, 0);
            }
            // Handles are positions in the store, and that of the other has marks in it.
            let lengths = |report: &Report<u16>| {
                let length = |path: &Path<u16>| path.transitions().copied().collect::<Vec<_>>();
                (
                    report.deadlock.as_ref().map(|violation| length(&violation.path)),
                    report.assertions.as_ref().map(|violation| length(&violation.path)),
                    report.invariants.iter().map(|f| f.as_ref().map(|f| length(&f.path))).collect::<Vec<_>>(),
                    report.ended.clone(),
                    report.statistics.clone(),
                )
            };
            assert_eq!(lengths(&run.reduced.report), lengths(&report), "seed {seed}");
            assert_eq!(run.states, states, "seed {seed}");
        }
    }
}

#[test]
fn example_5_1_has_no_small_persistent_set_but_sleep_sets() {
    let system = system::example_5_1();
    assert_eq!(size(&depth_first(&system, &nothing(), &FULL)), (13, 14));
    assert_eq!(size(&depth_first(&system, &nothing(), &SLEEP)), (13, 12));
    assert_eq!(size(&depth_first(&system, &nothing(), &BOTH)), (13, 12));
    let state = [0, 0, 0, 0, 0];
    let persistent = |set: &[usize]| system.clone().is_persistent(&state, set);
    assert!(persistent(&[0, 2]) && !persistent(&[0]) && !persistent(&[2]));
}

#[test]
fn example_5_5_is_searched_without_matching() {
    let system = system::example_5_5();
    assert_eq!(size(&depth_first(&system, &nothing(), &FULL)), (9, 12));
    let run = depth_first(&system, &nothing(), &SLEEP);
    assert_eq!((size(&run), run.reduced.counts.matched), ((9, 8), 0));
    assert_eq!(size(&depth_first(&system, &nothing(), &PERSISTENT)), (5, 4));
}

#[test]
fn example_6_1_needs_a_proviso() {
    let system = system::example_6_1();
    let reached = (1, 1);
    assert_eq!(size(&depth_first(&system, &nothing(), &FULL)), (4, 6));
    for reduction in [PERSISTENT, BOTH] {
        let run = depth_first(&system, &nothing(), &reduction);
        assert_eq!((size(&run), run.locals.contains(&reached)), ((2, 2), false));
    }
    let run = breadth_first(&system, &nothing(), &PERSISTENT);
    assert_eq!((size(&run), run.locals.contains(&reached)), ((2, 2), false));

    let run = depth_first(&system, &nothing(), &STACK_SLEEP);
    assert_eq!((size(&run), run.locals.contains(&reached)), ((3, 3), true));
    for run in [
        depth_first(&system, &nothing(), &STACK),
        depth_first(&system, &nothing(), &COMPONENTS),
        breadth_first(&system, &nothing(), &QUEUE),
    ] {
        assert!(run.locals.contains(&reached));
        assert!(size(&run) <= (4, 5), "{:?}", size(&run));
    }
}

#[test]
fn a_component_that_begins_inside_an_atomic_sequence_is_served() {
    for passes in [false, true] {
        let mut system = system::around_a_choice();
        system.passes = passes;
        assert!(!depth_first(&system, &nothing(), &PERSISTENT).locals.contains(&(1, 1)));
        for reduction in [STACK, STACK_SLEEP, COMPONENTS] {
            let run = depth_first(&system, &nothing(), &reduction);
            assert!(run.locals.contains(&(1, 1)), "{reduction:?}");
            // What is asked is found on a path that goes through the choice.
            let asked = Options { invariants: 1, ..nothing() };
            assert!(depth_first(&system, &asked, &reduction).reduced.report.invariants[0].is_some(), "{reduction:?}");
        }
        assert!(breadth_first(&system, &nothing(), &QUEUE).locals.contains(&(1, 1)));
    }
}

#[test]
fn what_slept_is_woken_up() {
    for seed in 0..500 {
        let mut system = system::revisited();
        let mut random = Random::new(seed);
        for last in (1..system.rules.len()).rev() {
            system.rules.swap(last, random.below(last + 1));
        }
        system.prepare();
        assert_eq!(depth_first(&system, &nothing(), &FULL).states.len(), 8);
        assert_eq!(depth_first(&system, &nothing(), &SLEEP).states.len(), 8, "seed {seed}");
    }
}

#[test]
fn philosophers_starve_in_every_configuration() {
    for count in 2..=6 {
        let mut system = system::philosophers(count);
        assert_eq!(depth_first(&system, &nothing(), &FULL).states.len(), 3usize.pow(count as u32) - 1);
        let methods = if count < 4 { &[Method::Closure, Method::Definition][..] } else { &[Method::Closure] };
        for &method in methods {
            system.method = method;
            for (reduction, _) in DEPTH_FIRST {
                let run = depth_first(&system, &all(), &reduction);
                assert!(run.reduced.report.deadlock.is_some(), "{count} {reduction:?}");
            }
            for (reduction, _) in BREADTH_FIRST {
                let run = breadth_first(&system, &all(), &reduction);
                let path = &run.reduced.report.deadlock.as_ref().unwrap().path;
                assert_eq!(path.len(), count, "{reduction:?}");
            }
        }
    }
    let (full, both) = (
        depth_first(&system::philosophers(6), &nothing(), &FULL),
        depth_first(&system::philosophers(6), &nothing(), &BOTH),
    );
    assert_eq!(size(&full), (728, 2910));
    assert!(size(&both).0 < 400, "{:?}", size(&both));
}

#[test]
fn a_producer_does_not_fill_the_room_first() {
    for room in [2, 30] {
        let system = system::producer_consumer(room);
        assert_eq!(size(&depth_first(&system, &nothing(), &FULL)), (u64::from(room) + 1, 2 * u64::from(room)));
        assert_eq!(size(&depth_first(&system, &nothing(), &PERSISTENT)), (2, 2));
        assert_eq!(size(&depth_first(&system, &nothing(), &BOTH)), (2, 2));
        assert_eq!(size(&breadth_first(&system, &nothing(), &PERSISTENT)), (2, 2));
    }
}

#[test]
fn every_configuration_agrees_with_the_plain_search() {
    let (mut reduced, mut whole, mut again, mut extended) = (0, 0, 0, 0);
    // The last one has an atomic sequence that leads to another part of itself, which is on the stack.
    for seed in seeds(2500).chain([38297]) {
        let system = system::random(seed);
        let (report, _, _) = plain(&system, &all());
        let (_, states, locals) = plain(&system, &nothing());
        let runs = DEPTH_FIRST
            .iter()
            .map(|(reduction, complete)| {
                let run = |options| depth_first(&system, options, reduction);
                (run(&all()), run(&nothing()), reduction, *complete)
            })
            .chain(BREADTH_FIRST.iter().map(|(reduction, complete)| {
                let run = |options| breadth_first(&system, options, reduction);
                (run(&all()), run(&nothing()), reduction, *complete)
            }));
        for (asked, through, reduction, complete) in runs {
            let context = format!("seed {seed} {reduction:?} {system:#?}");
            let found = &asked.reduced.report;
            assert_eq!(found.ended, None);
            assert_eq!(found.deadlock.is_some(), report.deadlock.is_some(), "deadlock: {context}");
            assert!(through.states.is_subset(&states), "{context}");
            if complete {
                assert_eq!(found.assertions.is_some(), report.assertions.is_some(), "assertions: {context}");
                assert_eq!(found.invariants[0].is_some(), report.invariants[0].is_some(), "invariant: {context}");
                assert_eq!(through.locals, locals, "local states: {context}");
            }
            if !reduction.persistent {
                // What sleeps is not taken, so that the inside of an atomic sequence may not be seen.
                let visible = |states: &BTreeSet<Vec<u8>>| -> Vec<Vec<u8>> {
                    states.iter().filter(|state| !system.is_transient(state)).cloned().collect()
                };
                assert_eq!(visible(&through.states), visible(&states), "states: {context}");
                assert!(reduction.sleep || through.states == states, "states: {context}");
            }
            if *reduction == STACK_SLEEP {
                (reduced, whole) = (reduced + through.states.len(), whole + states.len());
                again += through.reduced.counts.again;
                extended += through.reduced.counts.extended;
            }
        }
    }
    assert!(reduced * 10 < whole * 9, "{reduced} of {whole}: the systems do not show much");
    assert!(again > 0 && extended > 0, "{again} {extended}");
}

#[test]
fn with_sleep_sets_a_transition_is_taken_once() {
    let mut again = 0;
    for seed in seeds(1000) {
        let mut system = system::random(seed);
        system.rules.iter_mut().for_each(|rule| rule.fault = None);
        system.atomic.clear();
        system.prepare();
        for reduction in [SLEEP, BOTH, STACK_SLEEP] {
            system.log = Some(Vec::new());
            let mut store = FlatStore::<Mark>::default();
            let reduced =
                partial::depth_first(&mut system, &mut store, &nothing(), &reduction, &Budget::unlimited()).unwrap();
            again += reduced.counts.again;
            let mut log = system.log.take().unwrap();
            let taken = log.len();
            assert_eq!(reduced.counts.transitions, taken as u64 + 1);
            log.sort();
            log.dedup();
            assert_eq!(log.len(), taken, "seed {seed} {reduction:?}");
        }
    }
    assert!(again > 0, "nothing was ever woken up");
}

#[test]
fn a_cache_changes_nothing_but_the_work() {
    let (mut decided, mut all_runs) = (0, 0);
    for seed in seeds(1000) {
        let system = system::random(seed);
        let (report, _, _) = plain(&system, &all());
        for (reduction, complete) in DEPTH_FIRST.into_iter().filter(|(reduction, _)| *reduction != COMPONENTS) {
            let kept = depth_first(&system, &nothing(), &reduction).reduced.counts;
            for replacement in
                [Replacement::Cheapest, Replacement::Oldest, Replacement::Random, Replacement::LeastVisited]
            {
                all_runs += 1;
                let more = [0, 1, 3, 10][(seed % 4) as usize];
                let cache = Some(Cache { states: kept.deepest as usize + more, replacement });
                let context = format!("seed {seed} {reduction:?} {cache:?}");
                let run = depth_first_observed(&system, &all(), &Reduction { cache, ..reduction }, &after(10));
                let found = &run.reduced.report;
                if found.ended.is_some() {
                    // What a small cache forgets is found again and again, and maybe by a longer way.
                    assert!(run.reduced.counts.cleared > 0, "{context}");
                    continue;
                }
                decided += 1;
                assert_eq!(found.deadlock.is_some(), report.deadlock.is_some(), "deadlock: {context}");
                if complete {
                    assert_eq!(found.assertions.is_some(), report.assertions.is_some(), "assertions: {context}");
                    assert_eq!(found.invariants[0].is_some(), report.invariants[0].is_some(), "invariant: {context}");
                }
            }
        }
    }
    assert!(decided * 10 > all_runs * 9, "{decided} of {all_runs}");
}

/// Ends the search when it is told for that many times how it goes.
fn after(times: u32) -> Budget {
    let told = AtomicU32::new(0);
    let is_last = move |progress: &Progress| {
        assert!(progress.memory > 0);
        told.fetch_add(1, Ordering::Relaxed) + 1 == times
    };
    Budget::unlimited().until(is_last).0
}

#[test]
fn a_cache_that_is_smaller_than_the_stack_ends_the_search() {
    let system = system::philosophers(4);
    let kept = depth_first(&system, &nothing(), &FULL).reduced.counts;
    assert_eq!(kept.cleared, 0);
    let run = |states| {
        let cache = Some(Cache { states, replacement: Replacement::Oldest });
        depth_first(&system, &nothing(), &Reduction { cache, ..BOTH })
    };
    assert_eq!(run(3).reduced.report.ended, Some(Reason::Memory));
    let enough = run(60);
    assert_eq!(enough.reduced.report.ended, None);
    assert!(enough.states.is_empty());
}

#[test]
fn limits_are_kept() {
    let mut system = system::philosophers(5);
    let options = Options { report_every: 7, ..nothing() };
    for (reduction, _) in DEPTH_FIRST {
        let mut store = FlatStore::<Mark>::default();
        let reduced = partial::depth_first(&mut system, &mut store, &options, &reduction, &after(3)).unwrap();
        assert_eq!((reduced.report.ended, reduced.counts.transitions), (Some(Reason::Interrupted), 21));
        let mut store = FlatStore::<Mark>::default().limit(600);
        let reduced =
            partial::depth_first(&mut system, &mut store, &options, &reduction, &Budget::unlimited()).unwrap();
        assert_eq!(reduced.report.ended, Some(Reason::Memory));
        let run = depth_first(&system, &Options { max_depth: 3, ..nothing() }, &reduction);
        assert_eq!((run.reduced.report.ended, run.reduced.counts.deepest), (Some(Reason::Depth), 4));
    }
    for (reduction, _) in BREADTH_FIRST {
        let mut store = FlatStore::<Parent>::default();
        let reduced = partial::breadth_first(&mut system, &mut store, &options, &reduction, &after(3)).unwrap();
        assert_eq!((reduced.report.ended, reduced.counts.transitions), (Some(Reason::Interrupted), 21));
        let run = breadth_first(&system, &Options { max_depth: 3, ..nothing() }, &reduction);
        assert_eq!((run.reduced.report.ended, run.reduced.report.statistics.depth), (Some(Reason::Depth), 3));
    }
}

#[test]
fn what_does_not_go_together_is_an_error() {
    let cache = Some(Cache { states: 100, replacement: Replacement::Oldest });
    let depth_first = |reduction: Reduction| {
        let mut store = FlatStore::<Mark>::default();
        partial::depth_first(&mut system::example_6_1(), &mut store, &all(), &reduction, &Budget::unlimited()).err()
    };
    let components = Reduction { proviso: Proviso::Components, ..BOTH };
    assert_eq!(depth_first(components), Some(Incompatible::SleepWithComponents));
    assert_eq!(depth_first(Reduction { cache, ..COMPONENTS }), Some(Incompatible::CacheWithComponents));
    assert_eq!(depth_first(QUEUE), Some(Incompatible::QueueDepthFirst));
    let breadth_first = |reduction: Reduction| {
        let mut store = FlatStore::<Parent>::default();
        let result =
            partial::breadth_first(&mut system::example_6_1(), &mut store, &all(), &reduction, &Budget::unlimited());
        assert!(result.is_ok() || store.is_empty());
        result.err()
    };
    assert_eq!(breadth_first(STACK), Some(Incompatible::StackBreadthFirst));
    assert_eq!(breadth_first(SLEEP), Some(Incompatible::SleepBreadthFirst));
    assert_eq!(breadth_first(Reduction { cache, ..QUEUE }), Some(Incompatible::CacheBreadthFirst));
    assert_eq!(breadth_first(QUEUE), None);
}
