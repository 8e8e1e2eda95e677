//! Directed searches on random graphs: against breadth-first search, and against the cheapest paths.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use ample_budget::Budget;
use ample_explicit::check::directed::{self, Aim};
use ample_explicit::check::{self, Options, Report};
use ample_explicit::search::handlers::{Accept, Always, Call, Goal, Handlers, Insert};
use ample_explicit::search::{
    Beam, BestFirst, Evaluation, Explore, Feedback, Heuristic, RandomWalk, SearchResult, Ties, Visit, Zero, a_star,
    best_first, breadth_first,
};
use ample_explicit::space::{Checked, StateSpace};
use ample_explicit::store::{ExactStore, FlatStore, Handle, HashStore, Inserted, Parent, PathCost, RunStore, Store};
use ample_model::Reason;
use ample_random::Random;

mod generic_graph;
use generic_graph::{Bytes, Graph};

/// Stores every state, and records the order in which the search arrives.
#[derive(Default)]
struct Recording(Vec<u32>);

impl<St: ExactStore<u32>> Feedback<Graph, St> for Recording {
    type Note = ();

    fn explore(&mut self, visit: &mut Visit<'_, Graph, St>, (): ()) -> Explore {
        self.0.push(*visit.state());
        match visit.insert() {
            Inserted::New(_) => Explore::New,
            Inserted::Seen(_) if visit.reopen() => Explore::Reopen,
            Inserted::Seen(_) => Explore::Skip,
            Inserted::Full => Explore::Interrupt,
        }
    }
}

#[test]
fn with_a_constant_estimate_the_order_is_breadth_first() {
    for seed in 0..300 {
        let graph = Graph::random(seed);
        let mut expected = Recording::default();
        breadth_first(&mut graph.clone(), &mut HashStore::<u32, Parent>::default(), &mut expected);
        for constant in [0, 7] {
            let mut estimate = |_: &u32| constant;
            let [mut greedy, mut optimal, mut beam] = [(); 3].map(|()| Recording::default());
            let mut store = HashStore::<u32, Parent>::default();
            best_first(&mut graph.clone(), &mut store, &mut estimate, &mut greedy);
            let mut store = HashStore::<u32, PathCost>::default();
            a_star(&mut graph.clone(), &mut store, &mut estimate, &mut optimal);
            let mut store = HashStore::<u32, Parent>::default();
            let wide = Beam { width: 60, ..Beam::default() };
            assert_eq!(wide.run(&mut graph.clone(), &mut store, &mut estimate, &mut beam).dropped, 0);
            for order in [&greedy, &optimal, &beam] {
                assert_eq!(order.0, expected.0, "seed {seed}");
            }
        }
    }
}

/// A graph whose edges cost something, with estimates that are never too high, but contradict each other.
struct Weighted {
    costs: Vec<Vec<u64>>,
    estimates: Vec<u64>,
}

impl Weighted {
    fn new(graph: &Graph, goals: &[u32], random: &mut Random) -> Weighted {
        let costs: Vec<Vec<u64>> =
            graph.edges.iter().map(|edges| edges.iter().map(|_| random.below(5_u64)).collect()).collect();
        let distances = cheapest(graph, &costs, |vertex| goals.contains(&vertex));
        let estimate = |distance: &Option<u64>| distance.map_or(1 << 30, |distance| random.below(distance + 1));
        let estimates = distances.iter().map(estimate).collect();
        Weighted { costs, estimates }
    }
}

impl Heuristic<Graph> for &Weighted {
    fn estimate(&mut self, _: &mut Graph, state: &u32) -> u64 {
        self.estimates[*state as usize]
    }

    fn cost(&mut self, _: &mut Graph, state: &u32, edge: &usize) -> u64 {
        self.costs[*state as usize][*edge]
    }
}

/// From each vertex the cost of the cheapest path to a goal.
fn cheapest(graph: &Graph, costs: &[Vec<u64>], is_goal: impl Fn(u32) -> bool) -> Vec<Option<u64>> {
    let mut distances = vec![None; graph.edges.len()];
    let goals = (0..graph.edges.len()).filter(|vertex| is_goal(*vertex as u32));
    let mut open: BinaryHeap<_> = goals.map(|goal| Reverse((0, goal))).collect();
    while let Some(Reverse((cost, vertex))) = open.pop() {
        if distances[vertex].is_some() {
            continue;
        }
        distances[vertex] = Some(cost);
        for (from, edges) in graph.edges.iter().enumerate() {
            for (to, step) in edges.iter().zip(&costs[from]) {
                if *to as usize == vertex {
                    open.push(Reverse((cost + step, from)));
                }
            }
        }
    }
    distances
}

/// Looks for goals, and counts the transitions that are taken again.
struct Looking {
    goals: [u32; 2],
    taken: HashSet<(Handle, usize)>,
    again: usize,
}

impl<St: ExactStore<u32>> Feedback<Graph, St> for Looking {
    type Note = ();

    fn explore(&mut self, visit: &mut Visit<'_, Graph, St>, (): ()) -> Explore {
        if let (Some(source), Some(edge)) = (visit.source(), visit.transition()) {
            self.again += usize::from(!self.taken.insert((source, *edge)));
        }
        if self.goals.contains(visit.state()) {
            return Explore::Goal;
        }
        match visit.insert() {
            Inserted::New(_) => Explore::New,
            Inserted::Seen(_) if visit.reopen() => Explore::Reopen,
            Inserted::Seen(_) => Explore::Skip,
            Inserted::Full => Explore::Interrupt,
        }
    }
}

#[test]
fn a_star_finds_a_cheapest_goal_though_estimates_contradict_each_other() {
    let (mut found, mut reopened) = (0, 0);
    for seed in 0..2_000 {
        let graph = Graph::random(seed);
        let mut random = Random::new(seed);
        let goals = [(); 2].map(|()| random.below(graph.edges.len()) as u32);
        let weighted = Weighted::new(&graph, &goals, &mut random);
        let distances = cheapest(&graph, &weighted.costs, |vertex| goals.contains(&vertex));
        let best = graph.initial.iter().filter_map(|vertex| distances[*vertex as usize]).min();
        for ties in [Ties::Oldest, Ties::Newest] {
            let mut feedback = Looking { goals, taken: HashSet::new(), again: 0 };
            let mut store = HashStore::<u32, PathCost>::default();
            let strategy = BestFirst { evaluation: Evaluation::A_STAR, ties, ..BestFirst::default() };
            let result = strategy.run(&mut graph.clone(), &mut store, &mut &weighted, &mut feedback);
            let cost = result.goal().map(|path| u64::from(store.side(path.end.unwrap()).cost));
            assert_eq!(cost, best, "seed {seed}, {ties:?}");
            found += usize::from(cost.is_some());
            reopened += usize::from(feedback.again > 0);
        }
    }
    assert!(found > 1_000 && reopened > 10, "{found} goals, {reopened} searches that took an edge twice");
}

#[test]
fn the_path_costs_what_the_store_says() {
    for seed in 0..300 {
        let mut graph = Graph::random(seed);
        let mut random = Random::new(seed);
        let goal = random.below(graph.edges.len()) as u32;
        // One edge between two vertices, so that the path is told by its states.
        graph.edges.iter_mut().for_each(|edges| {
            edges.sort_unstable();
            edges.dedup();
        });
        let weighted = Weighted::new(&graph, &[goal], &mut random);
        let mut feedback =
            Handlers::new().on_explore(Accept(|vertex: &u32| *vertex == goal), Goal).on_explore(Always, Insert);
        let mut store = HashStore::<u32, PathCost>::default();
        let Some(path) = a_star(&mut graph, &mut store, &mut &weighted, &mut feedback).goal() else { continue };
        let cost: u64 = path.steps.iter().map(|(at, edge)| weighted.costs[*store.get(*at) as usize][*edge]).sum();
        assert_eq!(cost, u64::from(store.side(path.end.unwrap()).cost), "seed {seed}");
    }
}

/// A graph in which some vertices are bad.
#[derive(Clone)]
struct Judged {
    graph: Bytes,
    bad: Vec<u32>,
    is_broken: bool,
}

impl StateSpace for Judged {
    type State = [u8];
    type Transition = usize;

    fn initial(&mut self, index: usize, out: &mut Vec<u8>) -> bool {
        self.is_broken = false;
        self.graph.initial(index, out)
    }
    fn first(&mut self, state: &[u8]) -> Option<usize> {
        self.graph.first(state)
    }
    fn next(&mut self, state: &[u8], last: &usize) -> Option<usize> {
        self.graph.next(state, last)
    }
    fn target(&mut self, state: &[u8], edge: &usize, out: &mut Vec<u8>) {
        self.graph.target(state, edge, out);
        self.is_broken = generic_graph::decode(state) % 11 == 3 && *edge == 1;
    }
}

impl Checked for Judged {
    fn is_valid_end(&mut self, state: &[u8]) -> bool {
        generic_graph::decode(state).is_multiple_of(2)
    }
    fn violation(&self) -> Option<String> {
        self.is_broken.then(|| "broken".to_owned())
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
    fn invariant(&mut self, number: usize, state: &[u8]) -> bool {
        self.bad[number] != generic_graph::decode(state)
    }
}

/// What is violated, and by how long a path.
fn lengths<T>(report: &Report<T>) -> Vec<Option<usize>> {
    let others = [&report.deadlock, &report.assertions];
    others.into_iter().chain(&report.invariants).map(|one| one.as_ref().map(|found| found.path.len())).collect()
}

#[test]
fn directed_checks_agree_with_breadth_first_search() {
    let budget = Budget::unlimited();
    for seed in 0..500 {
        let mut random = Random::new(seed);
        let graph = Bytes(Graph::random(seed));
        let bad = [(); 2].map(|()| random.below(60_u32)).to_vec();
        let space = Judged { graph, bad, is_broken: false };
        let options = Options { invariants: 2, ..Options::default() };
        let mut store = FlatStore::<Parent, _>::default();
        let expected = check::breadth_first(&mut space.clone(), &mut store, &options, &budget);
        let noise: Vec<u64> = (0..60).map(|_| random.below(9_u64)).collect();
        let mut noisy = |state: &[u8]| noise[generic_graph::decode(state) as usize];
        let aims = [None, Some(Aim::Deadlock), Some(Aim::Assertions), Some(Aim::Invariant(0)), Some(Aim::Invariant(1))];
        for (number, aim) in aims.into_iter().enumerate() {
            // Nothing is estimated: paths are shortest ones.
            let mut store = FlatStore::<PathCost, _>::default();
            let exact = directed::a_star(&mut space.clone(), &mut store, &mut Zero, aim, &options, &budget);
            let mut store = FlatStore::<PathCost, _>::default();
            let wild = directed::a_star(&mut space.clone(), &mut store, &mut noisy, aim, &options, &budget);
            let mut store = FlatStore::<Parent, _>::default();
            let greedy = directed::best_first(&mut space.clone(), &mut store, &mut noisy, aim, &options, &budget);
            let aimed = number.checked_sub(1);
            let of = |report: &Report<usize>| match aimed {
                Some(number) => vec![lengths(report)[number]],
                None => lengths(report),
            };
            assert_eq!(of(&exact), of(&expected), "seed {seed}, {aim:?}");
            let is_violated = |report| of(report).iter().map(Option::is_some).collect::<Vec<_>>();
            assert_eq!(is_violated(&wild), is_violated(&expected), "seed {seed}, {aim:?}");
            assert_eq!(is_violated(&greedy), is_violated(&expected), "seed {seed}, {aim:?}");
            for report in [&exact, &wild, &greedy] {
                assert_eq!(report.ended, None, "seed {seed}");
                let all = lengths(report).iter().map(Option::is_some).collect::<Vec<_>>();
                let expected_all = lengths(&expected).iter().map(Option::is_some).collect::<Vec<_>>();
                assert!(!report.exhausted || all == expected_all, "seed {seed}, {aim:?}");
            }
        }
    }
}

#[test]
fn beam_search_and_random_walks_find_what_is_there_and_prove_nothing() {
    let budget = Budget::unlimited();
    let mut found = [0, 0];
    for seed in 0..500 {
        let mut random = Random::new(seed);
        let space = Judged { graph: Bytes(Graph::random(seed)), bad: vec![random.below(60)], is_broken: false };
        let options = Options { invariants: 1, ..Options::default() };
        let mut store = FlatStore::<Parent, _>::default();
        let expected = check::breadth_first(&mut space.clone(), &mut store, &options, &budget);
        let mut estimate = |state: &[u8]| u64::from(generic_graph::decode(state) % 7);

        let mut store = FlatStore::<Parent, _>::default();
        let width = 1 + random.below(4_usize);
        let beam = directed::beam(&mut space.clone(), &mut store, &mut estimate, width, None, &options, &budget);
        let mut run = RunStore::default();
        let walks = RandomWalk { walks: 20, depth: 40, seed };
        let heuristics = &mut [estimate];
        let walked = directed::random_walk(&mut space.clone(), &mut run, heuristics, walks, &options, &budget);
        for (number, report) in [&beam, &walked].into_iter().enumerate() {
            for (length, expected) in lengths(report).iter().zip(lengths(&expected)) {
                assert!(length.is_none() || expected.is_some_and(|least| Some(least) <= *length), "seed {seed}");
                found[number] += usize::from(length.is_some());
            }
            let is_all = lengths(report).iter().all(Option::is_some);
            assert_eq!(report.ended.is_none(), is_all, "seed {seed}");
            assert!(!report.exhausted && matches!(report.ended, None | Some(Reason::Unsupported(_))), "seed {seed}");
        }
        replay(&space, &run, &walked);
    }
    assert!(found.iter().all(|found| *found > 200), "{found:?}");
}

/// The paths of a report are paths of the graph, without repetitions.
fn replay(space: &Judged, store: &RunStore<[u8]>, report: &Report<usize>) {
    let others = [&report.deadlock, &report.assertions];
    for violation in others.into_iter().chain(&report.invariants).flatten() {
        let vertex = |handle| generic_graph::decode(store.get(handle));
        let mut seen = Vec::new();
        for (number, (from, edge)) in violation.path.steps.iter().enumerate() {
            let next = violation.path.steps.get(number + 1).map(|(state, _)| *state).or(violation.path.end);
            assert_eq!(space.graph.0.edges[vertex(*from) as usize][*edge], vertex(next.unwrap()));
            assert!(!seen.contains(&vertex(*from)));
            seen.push(vertex(*from));
        }
        let first = violation.path.states().next().unwrap();
        assert!(space.graph.0.initial.contains(&vertex(first)));
    }
}

#[test]
fn limits_end_directed_searches() {
    let mut graph = Graph::line(1_000);
    let mut count = 0;
    let mut store = HashStore::<u32, PathCost>::default();
    let mut feedback = Handlers::new().on_explore(Always, Insert).on_explore(Always, Call(|_: &u32| count += 1));
    let strategy = BestFirst { evaluation: Evaluation::A_STAR, max_depth: 10, ..BestFirst::default() };
    assert_eq!(strategy.run(&mut graph, &mut store, &mut Zero, &mut feedback), SearchResult::Exhausted);
    assert_eq!((count, store.len()), (11, 11));

    let mut full = HashStore::<u32, PathCost>::default().limit(1_000);
    let mut feedback = Handlers::new().on_explore(Always, Insert);
    assert_eq!(a_star(&mut graph, &mut full, &mut Zero, &mut feedback), SearchResult::Interrupted);
}
