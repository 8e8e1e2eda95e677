//! The search adapter, and strategies inside strategies.

use std::cell::RefCell;
use std::collections::HashSet;

use ample_explicit::search::handlers::{
    Accept, Action, Always, Condition, Goal, Handlers, Insert, InsertMarked, IsSeed, NestedSearch, Perform,
};
use ample_explicit::search::{
    Backtrack, BreadthFirst, CycleResult, Explore, Level, SearchResult, breadth_first, breadth_first_cycle, depth_first,
};
use ample_explicit::space::StateSpace;
use ample_explicit::store::{ExactStore, FlatStore, HashStore, Marks, Parent, Store};

use crate::generic_graph::{Bytes, Graph, decode};

/// What the priorities say: the greatest of the default and of the answers of all pairs whose conditions hold.
#[test]
fn the_answer_with_the_highest_priority_wins_over_every_default() {
    use Explore::{Goal, Interrupt, New, Skip};
    assert!(Goal > Skip && Skip > New && Backtrack::Goal > Backtrack::Continue);
    let answers = [New, Skip, Interrupt, Goal];
    for default in answers {
        for first in answers {
            for second in answers {
                for holds in [false, true] {
                    let asked = RefCell::new(Vec::new());
                    let answer = |name, answer: Explore| {
                        let asked = &asked;
                        Perform(move |_: &u32| {
                            asked.borrow_mut().push(name);
                            answer
                        })
                    };
                    let mut feedback = Handlers::new()
                        .explore_default(default)
                        .on_explore(Always, answer("first", first))
                        .on_explore(Accept(move |_: &u32| holds), answer("second", second))
                        .on_explore(Always, answer("third", New));
                    let result = depth_first(&mut Graph::line(1), &mut HashStore::<u32>::new(), &mut feedback);
                    let expected = if holds { default.max(first).max(second) } else { default.max(first) };
                    let as_expected = match expected {
                        Interrupt => matches!(result, SearchResult::Interrupted),
                        Goal => matches!(result, SearchResult::Goal(_)),
                        _ => matches!(result, SearchResult::Exhausted),
                    };
                    assert!(as_expected, "{default:?}, {first:?}, {second:?}, {holds}");
                    // In order, and all of them, whatever was answered before.
                    let order = if holds { vec!["first", "second", "third"] } else { vec!["first", "third"] };
                    assert_eq!(asked.take(), order);
                }
            }
        }
    }
}

#[test]
fn defaults_are_used_where_nothing_is_said() {
    let search = |explore, backtrack| {
        let mut feedback = Handlers::new().explore_default(explore).backtrack_default(backtrack);
        let mut store: HashStore<u32> = HashStore::new();
        (depth_first(&mut Graph::line(4), &mut store, &mut feedback), store.len())
    };
    assert_eq!(search(Explore::New, Backtrack::Continue), (SearchResult::Exhausted, 4));
    assert_eq!(search(Explore::Skip, Backtrack::Continue), (SearchResult::Exhausted, 0));
    assert_eq!(search(Explore::Interrupt, Backtrack::Continue).0, SearchResult::Interrupted);
    let (found, _) = search(Explore::New, Backtrack::Goal);
    assert_eq!(found.goal().map(|path| path.len()), Some(3)); // The last state is left first.
    let (found, _) = search(Explore::Goal, Backtrack::Continue);
    assert_eq!(found.goal().map(|path| path.len()), Some(0));
}

/// Pairs that are chosen at run time.
#[test]
fn a_list_of_pairs_may_be_known_at_run_time_only() {
    type Store = HashStore<u32, Parent>;
    type Pair = (Box<dyn Condition<Graph, Store>>, Box<dyn Action<Graph, Store, Explore>>);
    for goal in [None, Some(3), Some(7)] {
        let mut pairs: Vec<Pair> = vec![(Box::new(Always), Box::new(Insert))];
        if let Some(goal) = goal {
            pairs.push((Box::new(Accept(move |vertex: &u32| *vertex == goal)), Box::new(Goal)));
        }
        let mut feedback = Handlers::new().on_explore(Always, pairs);
        let found = breadth_first(&mut Graph::line(5), &mut Store::default(), &mut feedback).goal();
        assert_eq!(found.map(|path| path.len()), goal.filter(|goal| *goal < 5).map(|goal| goal as usize));
    }
}

/// All vertices that can be reached in one step or more.
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

fn has_accepting_cycle(graph: &Graph, accepts: impl Fn(u32) -> bool) -> bool {
    let mut reachable = reachable_from(graph, &graph.initial);
    reachable.extend(&graph.initial);
    reachable.into_iter().any(|vertex| accepts(vertex) && reachable_from(graph, &[vertex]).contains(&vertex))
}

#[test]
fn breadth_first_search_for_cycles_agrees_with_nested_depth_first_search() {
    let mut cyclic = 0;
    for seed in 0..2000 {
        let graph = Graph::random(seed);
        let accepts = |vertex: u32| vertex % 7 == 3;
        let expected = has_accepting_cycle(&graph, accepts);

        let inner = Handlers::new().on_explore(Always, InsertMarked(1)).on_explore(IsSeed, Goal);
        let mut nested = Handlers::new()
            .on_explore(Always, InsertMarked(0))
            .on_backtrack(Accept(|vertex: &u32| accepts(*vertex)), NestedSearch::new(inner));
        let mut marks: HashStore<u32, Marks> = HashStore::default();
        let depth = depth_first(&mut graph.clone(), &mut marks, &mut nested).goal();
        assert_eq!(depth.is_some(), expected, "seed {seed}");

        let mut levels: FlatStore<(Parent, Level)> = FlatStore::default();
        let marks: FlatStore<Marks> = FlatStore::default();
        let accepting = |state: &[u8]| accepts(decode(state));
        match breadth_first_cycle(&mut Bytes(graph.clone()), &mut levels, marks, accepting) {
            CycleResult::Found(run) => {
                assert!(expected, "seed {seed}");
                cyclic += 1;
                let mut at = decode(levels.get(run.initial));
                assert!(graph.initial.contains(&at), "seed {seed}");
                run.prefix.iter().for_each(|edge| at = graph.edges[at as usize][*edge]);
                let knot = at;
                assert!(accepts(knot) && !run.cycle.is_empty(), "seed {seed}");
                run.cycle.iter().for_each(|edge| at = graph.edges[at as usize][*edge]);
                assert_eq!(at, knot, "seed {seed}");
            }
            CycleResult::Absent => assert!(!expected, "seed {seed}"),
            CycleResult::Interrupted => panic!("seed {seed}"),
        }
    }
    assert!(cyclic > 100, "the graphs should have cycles");
}

#[test]
fn a_full_store_interrupts_the_search_for_cycles() {
    let mut graph = Graph::line(100_000);
    graph.edges[99_999] = vec![0];
    let marks = || FlatStore::<Marks>::default();
    let mut levels = FlatStore::<(Parent, Level)>::default().limit(100_000);
    let never = |_: &[u8]| false;
    let result = breadth_first_cycle(&mut Bytes(graph.clone()), &mut levels, marks(), never);
    assert_eq!(result, CycleResult::Interrupted);
    let mut levels = FlatStore::<(Parent, Level)>::default();
    let result = breadth_first_cycle(&mut Bytes(graph), &mut levels, marks().limit(100_000), never);
    assert_eq!(result, CycleResult::Interrupted);
}

/// A breadth-first search inside a depth-first one: how far is it back to where one came from?
#[test]
fn a_nested_search_may_have_another_strategy() {
    for seed in 0..300 {
        let graph = Graph { initial: vec![0], ..Graph::random(seed) };
        let goal = graph.edges.len() as u32 / 2;
        let inner =
            Handlers::new().on_explore(Accept(move |vertex: &u32| *vertex == goal), Goal).on_explore(Always, Insert);
        let store: HashStore<u32, Parent> = HashStore::default();
        let mut nested = NestedSearch::new(inner).with_strategy(BreadthFirst::default()).with_store(store);
        // Only the initial state is explored, and the inner search starts there.
        let mut outer =
            Handlers::new().explore_default(Explore::Skip).on_explore(Accept(|vertex: &u32| *vertex == 0), &mut nested);
        let found = depth_first(&mut graph.clone(), &mut HashStore::<u32>::new(), &mut outer);
        let mut alone =
            Handlers::new().on_explore(Accept(move |vertex: &u32| *vertex == goal), Goal).on_explore(Always, Insert);
        let mut store: HashStore<u32, Parent> = HashStore::default();
        let shortest = breadth_first(&mut graph.clone(), &mut store, &mut alone).goal();
        assert_eq!(found.goal().is_some(), shortest.is_some(), "seed {seed}");
        let lengths = (nested.found().map(|path| path.len()), shortest.map(|path| path.len()));
        assert_eq!(lengths.0, lengths.1, "seed {seed}");
        assert!(nested.store().len() <= graph.edges.len());
    }
}

/// Walks with `first` and `next` are lists, and end.
#[test]
fn the_transitions_of_a_state_are_a_sequence_that_ends() {
    for seed in 0..200 {
        let mut graph = Graph::random(seed);
        for vertex in 0..graph.edges.len() as u32 {
            let mut walked = Vec::new();
            let mut cursor = graph.first(&vertex);
            while let Some(edge) = cursor {
                let mut to = 0;
                graph.target(&vertex, &edge, &mut to);
                walked.push(to);
                cursor = graph.next(&vertex, &edge);
            }
            assert_eq!(walked, graph.edges[vertex as usize], "seed {seed}");
        }
    }
}

/// A chain of a million states does not exhaust the call stack, and every state is left once, the initial one last.
#[test]
fn a_deep_chain_is_left_in_reverse_order() {
    let length = 1_000_000;
    let left = RefCell::new(Vec::new());
    let record = Perform(|vertex: &u32| {
        left.borrow_mut().push(*vertex);
        Backtrack::Continue
    });
    let mut feedback = Handlers::new().on_explore(Always, Insert).on_backtrack(Always, record);
    depth_first(&mut Graph::line(length), &mut HashStore::<u32>::new(), &mut feedback);
    assert!(left.take().into_iter().eq((0..length).rev()));
}
