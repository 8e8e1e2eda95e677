//! The safety check on random graphs with random faults, against a naive oracle.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex};

use ample_budget::{Budget, Progress};
use ample_explicit::check::{self, Options, Report, Violation};
use ample_explicit::space::{Checked, StateSpace};
use ample_explicit::store::{ExactStore, FlatStore, HashStore, Parent};
use ample_model::outcome::Reason;

mod generic_graph;
use ample_random::Random;
use generic_graph::Graph;

/// A graph in which some vertices are inside atomic sequences or valid ends or break invariants, and some
/// edges break assertions or end in a fault.
#[derive(Clone, Debug)]
struct Faulty {
    graph: Graph,
    transient: HashSet<u32>,
    ends: HashSet<u32>,
    /// The number of the invariants that are broken at the vertices: 0, 1 or both.
    broken: [HashSet<u32>; 2],
    violating: HashSet<(u32, usize)>,
    dead: HashSet<(u32, usize)>,
    last: Option<(u32, usize)>,
}

impl Faulty {
    fn random(seed: u64) -> Faulty {
        let mut graph = Graph::random(seed);
        let mut random = Random::new(!seed);
        let vertices = graph.edges.len();
        let rare = 1 + random.below(40);
        let mut some = |_: &str| (0..vertices as u32).filter(|_| random.below(rare) == 0).collect::<HashSet<_>>();
        let mut transient = some("transient");
        let ends = some("ends");
        let broken = [some("first"), some("second")];
        // As in a model, a run does not start inside an atomic sequence.
        transient.retain(|vertex| !graph.initial.contains(vertex));
        graph.initial.dedup();
        let edges: Vec<(u32, usize)> = (0..vertices as u32)
            .flat_map(|vertex| (0..graph.edges[vertex as usize].len()).map(move |edge| (vertex, edge)))
            .collect();
        let mut some = || edges.iter().copied().filter(|_| random.below(3 * rare) == 0).collect::<HashSet<_>>();
        Faulty { transient, ends, broken, violating: some(), dead: some(), last: None, graph }
    }
}

impl StateSpace for Faulty {
    type State = u32;
    type Transition = usize;

    fn initial(&mut self, index: usize, out: &mut u32) -> bool {
        self.last = None;
        self.graph.initial(index, out)
    }

    fn first(&mut self, state: &u32) -> Option<usize> {
        self.graph.first(state)
    }

    fn next(&mut self, state: &u32, transition: &usize) -> Option<usize> {
        self.graph.next(state, transition)
    }

    fn target(&mut self, state: &u32, transition: &usize, out: &mut u32) {
        self.last = Some((*state, *transition));
        self.graph.target(state, transition, out);
        if self.is_dead() {
            // What a fault leaves behind may look like the target of another edge.
            *out = self.graph.edges[*state as usize].last().copied().unwrap_or_default();
        }
    }
}

impl Checked for Faulty {
    fn is_valid_end(&mut self, state: &u32) -> bool {
        self.ends.contains(state)
    }

    fn violation(&self) -> Option<String> {
        let last = self.last?;
        (self.violating.contains(&last) || self.dead.contains(&last)).then(|| format!("{last:?}"))
    }

    fn is_dead(&self) -> bool {
        self.last.is_some_and(|last| self.dead.contains(&last))
    }

    fn is_transient(&self, state: &u32) -> bool {
        self.transient.contains(state)
    }

    fn atomic_steps(&self) -> u32 {
        self.last.map_or(0, |(vertex, _)| vertex % 3)
    }

    fn invariant(&mut self, number: usize, state: &u32) -> bool {
        !self.broken[number].contains(state)
    }
}

/// What there is to find.
#[derive(Debug, Default)]
struct Oracle {
    distance: HashMap<u32, u64>,
    states: u64,
    atomic_states: u64,
    transitions: u64,
    atomic_steps: u64,
    deadlock: Option<u64>,
    assertions: Option<u64>,
    invariants: [Option<u64>; 2],
}

impl Oracle {
    fn new(faulty: &Faulty) -> Oracle {
        let mut oracle = Oracle::default();
        let mut queue = VecDeque::new();
        let nearest = |best: &mut Option<u64>, distance: u64| *best = Some(best.map_or(distance, |d| d.min(distance)));
        let mut arrivals: VecDeque<(u32, u64)> = faulty.graph.initial.iter().map(|&vertex| (vertex, 0)).collect();
        loop {
            while let Some((vertex, distance)) = arrivals.pop_front() {
                let transient = faulty.transient.contains(&vertex);
                *if transient { &mut oracle.atomic_steps } else { &mut oracle.transitions } += 1;
                if oracle.distance.contains_key(&vertex) {
                    continue;
                }
                oracle.distance.insert(vertex, distance);
                queue.push_back(vertex);
                *if transient { &mut oracle.atomic_states } else { &mut oracle.states } += 1;
                if transient {
                    continue;
                }
                for number in 0..2 {
                    if faulty.broken[number].contains(&vertex) {
                        nearest(&mut oracle.invariants[number], distance);
                    }
                }
                if faulty.graph.edges[vertex as usize].is_empty() && !faulty.ends.contains(&vertex) {
                    nearest(&mut oracle.deadlock, distance);
                }
            }
            let Some(vertex) = queue.pop_front() else { return oracle };
            let distance = oracle.distance[&vertex] + 1;
            for (edge, &next) in faulty.graph.edges[vertex as usize].iter().enumerate() {
                oracle.atomic_steps += u64::from(vertex % 3);
                let edge = (vertex, edge);
                if faulty.violating.contains(&edge) || faulty.dead.contains(&edge) {
                    nearest(&mut oracle.assertions, distance);
                }
                if !faulty.dead.contains(&edge) {
                    arrivals.push_back((next, distance));
                }
            }
        }
    }
}

/// Asserts that the path of a violation is one, and gives its last vertex and edge.
fn replay<St: ExactStore<u32>>(
    faulty: &Faulty,
    store: &St,
    violation: &Violation<usize>,
) -> (Option<u32>, Option<(u32, usize)>) {
    let path = &violation.path;
    let states: Vec<u32> = path.states().map(|handle| *store.get(handle)).collect();
    assert!(faulty.graph.initial.contains(&states[0]));
    let mut last = None;
    for (step, &edge) in path.transitions().enumerate() {
        let vertex = states[step];
        match states.get(step + 1) {
            Some(&next) => assert_eq!(faulty.graph.edges[vertex as usize][edge], next),
            None => assert!(faulty.dead.contains(&(vertex, edge))),
        }
        assert!(step + 1 == path.len() || !faulty.dead.contains(&(vertex, edge)), "a fault in the middle");
        last = Some((vertex, edge));
    }
    (path.end.map(|handle| *store.get(handle)), last)
}

fn assert_report<St: ExactStore<u32>>(
    faulty: &Faulty,
    store: &St,
    report: &Report<usize>,
    oracle: &Oracle,
    shortest: bool,
) {
    let length = |violation: &Option<Violation<usize>>| violation.as_ref().map(|violation| violation.path.len() as u64);
    let agree = |violation: &Option<Violation<usize>>, expected: Option<u64>| match shortest {
        true => assert_eq!(length(violation), expected),
        false => assert_eq!(violation.is_some(), expected.is_some()),
    };
    agree(&report.deadlock, oracle.deadlock);
    agree(&report.assertions, oracle.assertions);
    agree(&report.invariants[0], oracle.invariants[0]);
    agree(&report.invariants[1], oracle.invariants[1]);
    if let Some(violation) = &report.deadlock {
        let vertex = replay(faulty, store, violation).0.unwrap();
        assert!(faulty.graph.edges[vertex as usize].is_empty());
        assert!(!faulty.ends.contains(&vertex) && !faulty.transient.contains(&vertex));
    }
    if let Some(violation) = &report.assertions {
        let (end, last) = replay(faulty, store, violation);
        assert_eq!(violation.message, format!("{:?}", last.unwrap()));
        assert_eq!(end.is_none(), faulty.dead.contains(&last.unwrap()));
    }
    for (broken, violation) in faulty.broken.iter().zip(&report.invariants) {
        violation.iter().for_each(|violation| assert!(broken.contains(&replay(faulty, store, violation).0.unwrap())));
    }
}

const ALL: Options = Options {
    deadlock: true,
    assertions: true,
    invariants: 2,
    stop_at_first: false,
    max_depth: u64::MAX,
    report_every: 7,
};

#[test]
fn all_violations_are_found_and_everything_is_counted() {
    for seed in 0..1000 {
        println!("seed {seed}");
        let mut faulty = Faulty::random(seed);
        let oracle = Oracle::new(&faulty);
        let found = [oracle.deadlock, oracle.assertions, oracle.invariants[0], oracle.invariants[1]];
        let mut breadth: HashStore<u32, Parent> = HashStore::default();
        let report = check::breadth_first(&mut faulty, &mut breadth, &ALL, &Budget::unlimited());
        assert_report(&faulty, &breadth, &report, &oracle, true);
        let mut depth: HashStore<u32> = HashStore::new();
        let deep = check::depth_first(&mut faulty, &mut depth, &ALL, &Budget::unlimited());
        assert_report(&faulty, &depth, &deep, &oracle, false);
        assert!(deep.statistics.depth >= report.statistics.depth || found.iter().all(Option::is_some));
        for report in [&report, &deep] {
            assert!(report.ended.is_none() && report.statistics.complete);
            if found.iter().all(Option::is_some) {
                continue; // It may have stopped early.
            }
            assert_eq!(report.statistics.states, oracle.states);
            assert_eq!(report.statistics.atomic_states, oracle.atomic_states);
            assert_eq!(report.statistics.transitions, oracle.transitions);
            assert_eq!(report.statistics.atomic_steps, oracle.atomic_steps);
        }
        if !found.iter().all(Option::is_some) {
            assert_eq!(report.statistics.depth, oracle.distance.values().copied().max().unwrap());
        }
    }
}

#[test]
fn only_what_was_asked_is_looked_for() {
    for seed in 0..300 {
        println!("seed {seed}");
        let mut faulty = Faulty::random(seed);
        let oracle = Oracle::new(&faulty);
        let nothing = Options { deadlock: false, assertions: false, invariants: 0, ..ALL };
        let report =
            check::breadth_first(&mut faulty, &mut HashStore::<u32, Parent>::default(), &nothing, &Budget::unlimited());
        assert!(report.deadlock.is_none() && report.assertions.is_none() && report.invariants.is_empty());
        assert_eq!(report.statistics.states, oracle.states);
        let first = Options { stop_at_first: true, ..ALL };
        let report =
            check::breadth_first(&mut faulty, &mut HashStore::<u32, Parent>::default(), &first, &Budget::unlimited());
        let all = [&report.deadlock, &report.assertions, &report.invariants[0], &report.invariants[1]];
        let nearest = [oracle.deadlock, oracle.assertions, oracle.invariants[0], oracle.invariants[1]];
        let found =
            all.iter().filter_map(|violation| violation.as_ref()).map(|violation| violation.path.len() as u64).min();
        let nearest = nearest.into_iter().flatten().min();
        assert_eq!(found.is_some(), nearest.is_some());
        // A deadlock shows only when the state is expanded, one level later.
        assert!(found.is_none_or(|found| found <= nearest.unwrap() + 1));
    }
}

#[test]
fn a_depth_limit_keeps_what_was_found_and_says_so() {
    for seed in 0..300 {
        println!("seed {seed}");
        let mut faulty = Faulty::random(seed);
        let oracle = Oracle::new(&faulty);
        for max_depth in [0, 2, 5] {
            let options = Options { max_depth, ..ALL };
            let mut store = HashStore::<u32, Parent>::default();
            let report = check::breadth_first(&mut faulty, &mut store, &options, &Budget::unlimited());
            let within = |distance: Option<u64>| distance.filter(|&distance| distance <= max_depth);
            let length =
                |violation: &Option<Violation<usize>>| violation.as_ref().map(|violation| violation.path.len() as u64);
            assert_eq!(length(&report.deadlock), within(oracle.deadlock));
            assert_eq!(length(&report.assertions), within(oracle.assertions));
            assert_eq!(length(&report.invariants[0]), within(oracle.invariants[0]));
            let at_limit = |vertex: &u32| !faulty.graph.edges[*vertex as usize].is_empty();
            let cut = oracle.distance.iter().any(|(vertex, &distance)| distance == max_depth && at_limit(vertex));
            let all = report.deadlock.is_some()
                && report.assertions.is_some()
                && report.invariants.iter().all(Option::is_some);
            assert!(all || report.ended == cut.then_some(Reason::Depth));
            assert_eq!(report.statistics.complete, report.ended.is_none());
            assert!(report.statistics.depth <= max_depth);
            let deep = check::depth_first(&mut faulty, &mut HashStore::<u32>::new(), &options, &Budget::unlimited());
            // Each transition passes over two steps at most.
            assert!(deep.statistics.depth <= 3 * (max_depth + 1));
        }
    }
}

/// Ends the search the third time, and keeps what it is told.
fn impatient() -> (Budget, Arc<Mutex<Vec<Progress>>>) {
    let told = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&told);
    let is_third = move |progress: &Progress| {
        let mut seen = seen.lock().unwrap();
        seen.push(*progress);
        seen.len() == 3
    };
    (Budget::unlimited().until(is_third).0, told)
}

/// A line with a broken invariant near its start.
fn line() -> Faulty {
    Faulty {
        graph: Graph::line(100_000),
        transient: HashSet::new(),
        ends: HashSet::new(),
        broken: [HashSet::from([10]), HashSet::new()],
        violating: HashSet::new(),
        dead: HashSet::new(),
        last: None,
    }
}

#[test]
fn the_budget_is_told_and_can_end_the_search() {
    let options = Options { report_every: 1000, ..ALL };
    let (budget, told) = impatient();
    let report = check::breadth_first(&mut line(), &mut HashStore::<u32, Parent>::default(), &options, &budget);
    assert_eq!(report.ended, Some(Reason::Interrupted));
    assert!(!report.statistics.complete);
    let told = told.lock().unwrap();
    assert_eq!(told.iter().map(|progress| progress.states).collect::<Vec<_>>(), [1000, 2000, 3000]);
    assert!(told.iter().all(|progress| progress.memory > 0));
    assert_eq!(report.invariants[0].as_ref().map(|violation| violation.path.len()), Some(10));
    let report = check::depth_first(&mut line(), &mut HashStore::<u32>::new(), &options, &impatient().0);
    assert_eq!((report.ended, report.statistics.states), (Some(Reason::Interrupted), 3000));
    assert!(report.invariants[0].is_some());
}

#[test]
fn a_memory_limit_keeps_what_was_found() {
    let mut store = HashStore::<u32, Parent>::default().limit(100_000);
    let report = check::breadth_first(&mut line(), &mut store, &ALL, &Budget::unlimited());
    assert_eq!(report.ended, Some(Reason::Memory));
    assert!(report.invariants[0].is_some() && report.invariants[1].is_none());
    assert!(report.statistics.store_bytes <= 100_000);
    let report =
        check::depth_first(&mut line(), &mut HashStore::<u32>::new().limit(100_000), &ALL, &Budget::unlimited());
    assert_eq!(report.ended, Some(Reason::Memory));
    assert!(report.invariants[0].is_some());
}

/// Bytes with a hidden tail: the step count, which would make the space infinite.
struct Hidden;

impl StateSpace for Hidden {
    type State = [u8];
    type Transition = ();

    fn initial(&mut self, index: usize, out: &mut Vec<u8>) -> bool {
        *out = vec![0, 0];
        index == 0
    }

    fn first(&mut self, _: &[u8]) -> Option<()> {
        Some(())
    }

    fn next(&mut self, _: &[u8], _: &()) -> Option<()> {
        None
    }

    fn target(&mut self, state: &[u8], _: &(), out: &mut Vec<u8>) {
        *out = vec![(state[0] + 1) % 10, state[1].wrapping_add(1)];
    }
}

impl Checked for Hidden {
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
        state[0] != 7
    }
}

#[test]
fn hidden_bytes_do_not_multiply_states_and_paths_are_found_all_the_same() {
    let mut store = FlatStore::<Parent, _>::with_visible(|state: &[u8]| state.len().saturating_sub(1));
    let options = Options { invariants: 1, ..ALL };
    let report = check::breadth_first(&mut Hidden, &mut store, &options, &Budget::unlimited());
    assert_eq!((report.statistics.states, report.statistics.transitions), (10, 11));
    let path = &report.invariants[0].as_ref().unwrap().path;
    assert_eq!(path.len(), 7);
    assert_eq!(store.get(path.end.unwrap()), [7, 7]);
}
