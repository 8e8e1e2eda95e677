//! Every strategy with every store on random graphs, against a naive oracle.

use std::collections::{HashMap, HashSet, VecDeque};

use ample_explicit::search::{
    Backtrack, BreadthFirst, Explore, Feedback, InsertionOrder, Path, SearchResult, Visit, breadth_first, depth_first,
};
use ample_explicit::space::StateSpace;
use ample_explicit::store::{ExactStore, FlatStore, HashStore, Inserted, Linked, Marks, Parent};

mod generic_graph;
use generic_graph::{Bytes, Graph};

/// Records every event, stores every state, and looks for one.
#[derive(Default)]
struct Recorder {
    goal: Option<u32>,
    explored: Vec<(u32, Option<usize>, u64)>,
    entered: Vec<u32>,
    leaves: Vec<u32>,
    truncated: Vec<u32>,
    left: Vec<u32>,
}

/// Tells the vertex of a state, whatever the state looks like.
trait Vertex {
    fn vertex(&self) -> u32;
}

impl Vertex for u32 {
    fn vertex(&self) -> u32 {
        *self
    }
}

impl Vertex for [u8] {
    fn vertex(&self) -> u32 {
        generic_graph::decode(self)
    }
}

impl<S, St> Feedback<S, St> for Recorder
where
    S: StateSpace<State: Vertex, Transition = usize>,
    St: ExactStore<S::State>,
{
    type Note = ();

    fn explore(&mut self, visit: &mut Visit<'_, S, St>, (): ()) -> Explore {
        let vertex = visit.state().vertex();
        self.explored.push((vertex, visit.transition().copied(), visit.depth()));
        let inserted = visit.insert();
        if self.goal == Some(vertex) {
            return Explore::Goal;
        }
        match inserted {
            Inserted::New(_) => {
                self.entered.push(vertex);
                Explore::New
            }
            Inserted::Seen(_) => Explore::Skip,
            Inserted::Full => Explore::Interrupt,
        }
    }

    fn leaf(&mut self, visit: &mut Visit<'_, S, St>) -> Backtrack {
        self.leaves.push(visit.state().vertex());
        Backtrack::Continue
    }

    fn truncated(&mut self, visit: &mut Visit<'_, S, St>) {
        self.truncated.push(visit.state().vertex());
    }

    fn backtrack(&mut self, visit: &mut Visit<'_, S, St>) -> Backtrack {
        self.left.push(visit.state().vertex());
        Backtrack::Continue
    }
}

/// Distances from the initial vertices.
fn distances(graph: &Graph) -> HashMap<u32, u64> {
    let mut distance = HashMap::new();
    let mut queue = VecDeque::new();
    for &vertex in &graph.initial {
        if distance.insert(vertex, 0).is_none() {
            queue.push_back(vertex);
        }
    }
    while let Some(vertex) = queue.pop_front() {
        for &next in &graph.edges[vertex as usize] {
            if !distance.contains_key(&next) {
                distance.insert(next, distance[&vertex] + 1);
                queue.push_back(next);
            }
        }
    }
    distance
}

/// Vertices in the order in which a recursive depth-first search leaves them.
fn post_order(graph: &Graph) -> Vec<u32> {
    fn visit(graph: &Graph, vertex: u32, seen: &mut HashSet<u32>, order: &mut Vec<u32>) {
        if seen.insert(vertex) {
            graph.edges[vertex as usize].iter().for_each(|&next| visit(graph, next, seen, order));
            order.push(vertex);
        }
    }
    let (mut seen, mut order) = (HashSet::new(), Vec::new());
    graph.initial.iter().for_each(|&vertex| visit(graph, vertex, &mut seen, &mut order));
    order
}

/// Asserts that a path runs along the edges of the graph from an initial vertex to the goal.
fn assert_path<S, St>(graph: &Graph, store: &St, path: &Path<usize>, goal: u32, seed: u64)
where
    S: Vertex + ?Sized,
    St: ExactStore<S>,
{
    let states: Vec<u32> = path.states().map(|handle| store.get(handle).vertex()).collect();
    assert!(graph.initial.contains(&states[0]), "seed {seed}");
    assert_eq!(states.last(), Some(&goal), "seed {seed}");
    for (step, edge) in states.windows(2).zip(path.transitions()) {
        assert_eq!(graph.edges[step[0] as usize][*edge], step[1], "seed {seed}");
    }
    assert_eq!(path.len() + 1, states.len());
}

/// All strategies over one way to write states and one way to create stores.
fn check_all<S, St>(graph: &Graph, mut space: S, store: impl Fn() -> St, seed: u64)
where
    S: StateSpace<State: Vertex, Transition = usize>,
    <S::State as ToOwned>::Owned: Default,
    St: ExactStore<S::State>,
    St::Side: Linked,
{
    let distance = distances(graph);
    let reachable: HashSet<u32> = distance.keys().copied().collect();
    let arrivals = graph.initial.len() + reachable.iter().map(|&v| graph.edges[v as usize].len()).sum::<usize>();
    let leaves: HashSet<u32> = reachable.iter().copied().filter(|&v| graph.edges[v as usize].is_empty()).collect();

    let mut dfs = Recorder::default();
    assert_eq!(depth_first(&mut space, &mut store(), &mut dfs), SearchResult::Exhausted);
    assert_eq!(dfs.left, post_order(graph), "seed {seed}");

    let mut bfs = Recorder::default();
    assert_eq!(breadth_first(&mut space, &mut store(), &mut bfs), SearchResult::Exhausted);
    assert!(bfs.left.is_empty());
    let depths: Vec<u64> = bfs.entered.iter().map(|vertex| distance[vertex]).collect();
    assert!(depths.is_sorted(), "seed {seed}");
    let first: HashMap<u32, u64> = bfs.explored.iter().rev().map(|&(vertex, _, depth)| (vertex, depth)).collect();
    assert_eq!(first, distance, "seed {seed}");

    for recorder in [&dfs, &bfs] {
        assert_eq!(recorder.explored.len(), arrivals, "seed {seed}");
        assert_eq!(recorder.entered.len(), reachable.len(), "seed {seed}");
        assert_eq!(recorder.entered.iter().copied().collect::<HashSet<_>>(), reachable, "seed {seed}");
        assert_eq!(recorder.leaves.iter().copied().collect::<HashSet<_>>(), leaves, "seed {seed}");
        assert_eq!(recorder.leaves.len(), leaves.len(), "seed {seed}");
    }

    for window in [1, 2, 7, 32] {
        let mut windowed = Recorder::default();
        let strategy = BreadthFirst { window, ..Default::default() };
        strategy.run_with(InsertionOrder::default(), &mut space, &mut store(), &mut windowed);
        assert_eq!(windowed.entered, bfs.entered, "seed {seed}, window {window}");
        assert_eq!(windowed.explored, bfs.explored, "seed {seed}, window {window}");
    }

    for max_depth in [0, 1, 3] {
        let mut bounded = Recorder::default();
        BreadthFirst { max_depth, ..Default::default() }.run(&mut space, &mut store(), &mut bounded);
        let within = distance.values().filter(|&&d| d <= max_depth).count();
        assert_eq!(bounded.entered.len(), within, "seed {seed}");
        let cut = |&v: &u32| distance[&v] == max_depth && !leaves.contains(&v);
        assert_eq!(bounded.truncated.len(), reachable.iter().filter(|v| cut(v)).count(), "seed {seed}");
    }

    let goal = seed as u32 % graph.edges.len() as u32;
    let (mut dfs_store, mut bfs_store) = (store(), store());
    let dfs = depth_first(&mut space, &mut dfs_store, &mut Recorder { goal: Some(goal), ..Default::default() }).goal();
    let bfs =
        breadth_first(&mut space, &mut bfs_store, &mut Recorder { goal: Some(goal), ..Default::default() }).goal();
    assert_eq!(dfs.is_some(), reachable.contains(&goal), "seed {seed}");
    assert_eq!(bfs.as_ref().map(|path| path.len() as u64), distance.get(&goal).copied(), "seed {seed}");
    dfs.inspect(|path| assert_path(graph, &dfs_store, path, goal, seed));
    bfs.inspect(|path| assert_path(graph, &bfs_store, path, goal, seed));
}

#[test]
fn every_strategy_agrees_with_the_oracle_over_every_store() {
    for seed in 0..300 {
        let graph = Graph::random(seed);
        check_all(&graph, graph.clone(), HashStore::<u32, Parent>::default, seed);
        check_all(&graph, graph.clone(), HashStore::<u32, (Parent, Marks)>::default, seed);
        check_all(&graph, Bytes(graph.clone()), FlatStore::<Parent>::default, seed);
        check_all(&graph, Bytes(graph.clone()), FlatStore::<(Parent, Marks)>::default, seed);
        // The payload of a state follows from its first four bytes, so it may as well be hidden.
        let visible = || FlatStore::<Parent, _>::with_visible(|_: &[u8]| 4);
        check_all(&graph, Bytes(graph.clone()), visible, seed);
    }
}

#[test]
fn a_full_store_halts_every_strategy() {
    let graph = Graph::line(100_000);
    let store = || FlatStore::<Parent>::default().limit(100_000);
    let mut full = store();
    assert_eq!(depth_first(&mut Bytes(graph.clone()), &mut full, &mut Recorder::default()), SearchResult::Interrupted);
    let mut full = store();
    assert_eq!(breadth_first(&mut Bytes(graph), &mut full, &mut Recorder::default()), SearchResult::Interrupted);
}
