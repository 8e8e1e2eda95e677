//! Searches put together from conditions and actions, against naive oracles on random graphs.

use std::cell::RefCell;
use std::collections::HashSet;

use ample_explicit::search::handlers::{
    Accept, Always, Call, Deadlock, Goal, Handlers, Insert, InsertMarked, IsSeed, NestedSearch, Taking,
};
use ample_explicit::search::{SearchResult, breadth_first, dedicated, depth_first};
use ample_explicit::store::{ExactStore, FlatStore, HashStore, Inserted, Marks, Parent, Store};

mod generic_graph;
use generic_graph::{Bytes, Graph, decode};

/// All vertices that can be reached from these in one step or more.
fn reachable_from(graph: &Graph, vertices: &[u32]) -> HashSet<u32> {
    let mut seen = HashSet::new();
    let mut stack: Vec<u32> = vertices.iter().flat_map(|&vertex| graph.edges[vertex as usize].clone()).collect();
    while let Some(vertex) = stack.pop() {
        if seen.insert(vertex) {
            stack.extend(&graph.edges[vertex as usize]);
        }
    }
    seen
}

fn reachable(graph: &Graph) -> HashSet<u32> {
    let mut seen = reachable_from(graph, &graph.initial);
    seen.extend(&graph.initial);
    seen
}

#[test]
fn nested_search_finds_exactly_the_accepting_cycles() {
    let mut cyclic = 0;
    for seed in 0..2000 {
        let graph = Graph::random(seed);
        let accepts = |vertex: u32| vertex % 7 == 3;
        let on_cycle = |vertex: &u32| accepts(*vertex) && reachable_from(&graph, &[*vertex]).contains(vertex);
        let expected = reachable(&graph).iter().any(on_cycle);

        let inner = Handlers::new().on_explore(Always, InsertMarked(1)).on_explore(IsSeed, Goal);
        let mut nested = NestedSearch::new(inner);
        let mut outer = Handlers::new()
            .on_explore(Always, InsertMarked(0))
            .on_backtrack(Accept(|state: &[u8]| accepts(decode(state))), &mut nested);
        let mut store: FlatStore<(Parent, Marks)> = FlatStore::default();
        let stem = depth_first(&mut Bytes(graph.clone()), &mut store, &mut outer).goal();
        assert_eq!(stem.is_some(), expected, "seed {seed}");
        let (Some(stem), Some(cycle)) = (stem, nested.found()) else { continue };
        cyclic += 1;
        let vertices: Vec<u32> =
            stem.states().chain(cycle.states().skip(1)).map(|handle| decode(store.get(handle))).collect();
        let edges: Vec<usize> = stem.transitions().chain(cycle.transitions()).copied().collect();
        for (step, edge) in vertices.windows(2).zip(edges) {
            assert_eq!(graph.edges[step[0] as usize][edge], step[1], "seed {seed}");
        }
        assert!(!cycle.is_empty() && accepts(vertices[stem.len()]), "seed {seed}");
        assert_eq!(vertices.last(), Some(&vertices[stem.len()]), "seed {seed}");
    }
    assert!(cyclic > 100, "the graphs should have cycles");
}

#[test]
fn deadlocks_are_found_by_the_condition() {
    for seed in 0..300 {
        let mut graph = Graph::random(seed);
        let expected = reachable(&graph).iter().any(|&vertex| graph.edges[vertex as usize].is_empty());
        let mut feedback = Handlers::new().on_explore(Deadlock, Goal).on_explore(Always, Insert);
        let mut store: HashStore<u32, Parent> = HashStore::default();
        let found = breadth_first(&mut graph, &mut store, &mut feedback).goal();
        assert_eq!(found.is_some(), expected, "seed {seed}");
        let end = found.and_then(|path| path.end).map(|handle| *store.get(handle));
        assert!(end.is_none_or(|vertex| graph.edges[vertex as usize].is_empty()), "seed {seed}");
    }
}

#[test]
fn dedicated_searches_agree_with_the_strategies() {
    for seed in 0..300 {
        let mut graph = Graph::random(seed);
        let goal = seed as u32 % 60;
        let mut is_goal = |vertex: &u32| *vertex == goal;
        let mut store: HashStore<u32> = HashStore::new();
        let mut feedback = Handlers::new().on_explore(Accept(is_goal), Goal).on_explore(Always, Insert);
        let modular = depth_first(&mut graph, &mut store, &mut feedback).goal();
        let mut iterative: HashStore<u32> = HashStore::new();
        let path = dedicated::iterative(&mut graph, &mut iterative, &mut is_goal);
        let edges = |path: Vec<(_, usize)>| path.into_iter().map(|(_, edge)| edge).collect::<Vec<_>>();
        assert_eq!(modular.map(|path| edges(path.steps)), path.clone().map(edges), "seed {seed}");
        let mut recursive: HashStore<u32> = HashStore::new();
        assert_eq!(dedicated::recursive(&mut graph, &mut recursive, &mut is_goal), path.is_some(), "seed {seed}");
        assert_eq!((store.len(), store.len()), (iterative.len(), recursive.len()), "seed {seed}");
    }
}

#[test]
fn the_highest_answer_wins_and_every_handler_is_asked() {
    let mut graph = Graph::line(5);
    let (seen, left) = (RefCell::new(Vec::new()), RefCell::new(Vec::new()));
    let mut feedback = Handlers::new()
        .on_explore(Always, Insert)
        .on_explore(Accept(Taking(|_: &usize, vertex: &u32| *vertex == 3)), Goal)
        .on_explore(Always, Call(|vertex: &u32| seen.borrow_mut().push(*vertex)))
        .on_backtrack(Always, Call(|vertex: &u32| left.borrow_mut().push(*vertex)));
    let found = depth_first(&mut graph, &mut HashStore::<u32>::new(), &mut feedback);
    assert_eq!(found.goal().map(|path| path.len()), Some(3));
    assert_eq!(seen.take(), [0, 1, 2, 3]);
    assert!(left.take().is_empty());

    // A goal on the way back ends the search there.
    let mut feedback =
        Handlers::new().on_explore(Always, Insert).on_backtrack(Accept(|vertex: &u32| *vertex == 2), Goal);
    let found = depth_first(&mut graph, &mut HashStore::<u32>::new(), &mut feedback);
    assert_eq!(found.goal().map(|path| path.len()), Some(2));
}

#[test]
fn without_an_insertion_every_path_is_walked() {
    // A ladder of diamonds has 2^n paths; nothing tells the search that it has been there.
    let diamonds = 6;
    let edges = (0..=3 * diamonds).map(|vertex| match vertex % 3 {
        _ if vertex == 3 * diamonds => vec![],
        0 => vec![vertex + 1, vertex + 2],
        1 => vec![vertex + 2],
        _ => vec![vertex + 1],
    });
    let mut graph = Graph { initial: vec![0], edges: edges.collect() };
    let mut ends = 0;
    let count = Call(|vertex: &u32| ends += u32::from(*vertex == 3 * diamonds));
    let mut feedback = Handlers::new().on_explore(Always, count);
    let mut store: HashStore<u32> = HashStore::new();
    assert_eq!(depth_first(&mut graph, &mut store, &mut feedback), SearchResult::Exhausted);
    assert_eq!(ends, 1 << diamonds);
    assert_eq!(store.insert(&0), Inserted::Seen(store.first().unwrap()));
}
