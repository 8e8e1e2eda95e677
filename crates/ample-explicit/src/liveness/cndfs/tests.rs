use ample_model::Move;

use super::*;
use crate::liveness::{Processes, components};
use crate::space::{Checked, StateSpace};

/// A graph with accepting nodes: the bytes of a state are its number.
#[derive(Clone, Debug)]
struct Graph {
    arcs: Vec<Vec<u16>>,
    accepting: Vec<bool>,
    starts: Vec<u16>,
    /// If it is weak: which nodes are only passed through.
    transient: Option<Vec<bool>>,
}

impl Graph {
    /// Nodes with so many arcs on average. If it is layered, arcs lead to later nodes only, except for those of a few.
    fn random(seed: u64, nodes: u16, degree: u16, is_layered: bool) -> Graph {
        let mut random = Random::new(seed);
        let arcs = |from: u16, random: &mut Random| -> Vec<u16> {
            let count = random.below(2 * degree + 1);
            let may_return = random.one_in(10u16);
            let one = |random: &mut Random| match is_layered && !may_return {
                true => from + 1 + random.below(nodes - from),
                false => random.below(nodes),
            };
            (0..count).map(|_| one(random)).filter(|to| *to < nodes).collect()
        };
        let arcs = (0..nodes).map(|from| arcs(from, &mut random)).collect();
        let accepting = (0..nodes).map(|_| random.one_in(if is_layered { 4u16 } else { 25 })).collect();
        Graph { arcs, accepting, starts: vec![0, nodes / 2], transient: None }
    }

    /// The same with components all of whose nodes are accepting, or none, except for those that are only passed through.
    fn weak(self, seed: u64) -> Graph {
        let mut random = Random::new(seed);
        let nodes = self.arcs.len();
        let reached = |start: usize| {
            let (mut reached, mut pending) = (vec![false; nodes], vec![start]);
            while let Some(node) = pending.pop() {
                for to in self.arcs[node].iter().map(|to| usize::from(*to)) {
                    if !std::mem::replace(&mut reached[to], true) {
                        pending.push(to);
                    }
                }
            }
            reached
        };
        let reached: Vec<_> = (0..nodes).map(reached).collect();
        let first = |node: usize| (0..nodes).find(|other| reached[node][*other] && reached[*other][node]);
        let kinds: Vec<bool> = (0..nodes).map(|_| random.one_in(3u16)).collect();
        let transient: Vec<bool> = (0..nodes).map(|_| random.one_in(3u16)).collect();
        let accepting =
            (0..nodes).map(|node| !transient[node] && first(node).is_some_and(|first| kinds[first])).collect();
        Graph { accepting, transient: Some(transient), ..self }
    }
}

fn node(state: &[u8]) -> usize {
    u16::from_le_bytes([state[0], state[1]]).into()
}

impl StateSpace for Graph {
    type State = [u8];
    /// The node, and the position of the arc.
    type Transition = (u16, u16);

    fn initial(&mut self, index: usize, out: &mut Vec<u8>) -> bool {
        let Some(start) = self.starts.get(index) else { return false };
        *out = start.to_le_bytes().to_vec();
        true
    }

    fn first(&mut self, state: &[u8]) -> Option<(u16, u16)> {
        (!self.arcs[node(state)].is_empty()).then_some((node(state) as u16, 0))
    }

    fn next(&mut self, state: &[u8], last: &(u16, u16)) -> Option<(u16, u16)> {
        (usize::from(last.1) + 1 < self.arcs[node(state)].len()).then_some((last.0, last.1 + 1))
    }

    fn target(&mut self, state: &[u8], transition: &(u16, u16), out: &mut Vec<u8>) {
        *out = self.arcs[node(state)][usize::from(transition.1)].to_le_bytes().to_vec();
    }
}

impl Checked for Graph {
    fn is_valid_end(&mut self, _: &[u8]) -> bool {
        true
    }

    fn violation(&self) -> Option<String> {
        None
    }

    fn is_dead(&self) -> bool {
        false
    }

    fn is_transient(&self, state: &[u8]) -> bool {
        self.transient.as_ref().is_some_and(|transient| transient[node(state)])
    }

    fn atomic_steps(&self) -> u32 {
        0
    }

    fn invariant(&mut self, _: usize, _: &[u8]) -> bool {
        true
    }
}

impl Concurrent for Graph {
    fn mover(&self, _: &(u16, u16)) -> Option<u32> {
        None
    }

    fn participants(&self) -> Processes {
        Processes::NONE
    }

    fn note_participants(&mut self) {}

    fn actions(&mut self, _: &[u8], _: &(u16, u16)) -> Vec<Move> {
        Vec::new()
    }
}

impl GeneralisedBuchi for Graph {
    fn all_marks(&self) -> u64 {
        1
    }

    fn marks(&self, transition: &(u16, u16)) -> u64 {
        self.accepting[usize::from(transition.0)].into()
    }

    fn is_weak(&self) -> bool {
        self.transient.is_some()
    }

    fn is_universal(&mut self, _: &[u8], _: &(u16, u16)) -> bool {
        false
    }

    fn is_stutter(&self, _: &(u16, u16)) -> bool {
        false
    }
}

impl Fork for Graph {
    fn fork(&self) -> Option<Graph> {
        Some(self.clone())
    }

    fn join(&mut self, _: Graph) {}
}

/// Compares the verdicts and validates lassos; whether there is an accepted cycle, and how many states there are.
fn compare(name: &str, graph: &Graph, threads: usize) -> (bool, u64) {
    let options = Options::default();
    let mut one = FlatStore::<crate::liveness::Number>::default();
    let expected = components(&mut graph.clone(), &mut one, &options, &Budget::unlimited());
    let budget = Budget::unlimited().with_threads(threads);
    let mut space = graph.clone();
    let (report, store) = cndfs(&mut space, usize::MAX, &options, &budget).unwrap();
    assert_eq!(report.found.is_some(), expected.found.is_some(), "{name}, {threads} threads");
    assert_eq!(report.ended, None, "{name}");
    let Some(lasso) = report.found else {
        assert_eq!(report.statistics.states, expected.statistics.states, "{name}: all states are seen once");
        return (false, expected.statistics.states);
    };
    let reader = store.join();
    let at = |state: Handle| node(reader.get(state));
    let steps: Vec<_> = lasso.prefix.iter().chain(&lasso.cycle).collect();
    let ends = steps.iter().skip(1).map(|(state, _)| at(*state)).chain([at(lasso.end)]);
    for ((state, (_, arc)), end) in steps.iter().zip(ends) {
        assert_eq!(usize::from(graph.arcs[at(*state)][usize::from(*arc)]), end, "{name}: a step of the lasso");
    }
    assert!(lasso.cycle.iter().any(|(state, _)| graph.accepting[at(*state)]), "{name}: the cycle is accepting");
    assert!(graph.starts.contains(&(at(steps[0].0) as u16)), "{name}: the lasso begins at a start");
    (true, expected.statistics.states)
}

#[test]
fn several_threads_agree_with_one() {
    let mut found = 0;
    let seeds: u64 = std::env::var("AMPLE_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(300);
    for seed in 0..seeds {
        let nodes = [12, 60, 300][seed as usize % 3];
        let graph = Graph::random(seed, nodes, 1 + (seed % 2) as u16, seed % 4 > 0);
        for threads in [2, 4] {
            found += u64::from(compare(&format!("seed {seed}"), &graph, threads).0);
        }
    }
    assert!(found > seeds / 10 && found < 2 * seeds - seeds / 10, "{found} of {seeds} with a cycle");
}

#[test]
fn weak_graphs_need_no_red_search() {
    let mut found = 0;
    let seeds: u64 = std::env::var("AMPLE_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(300);
    for seed in 0..seeds {
        let nodes = [12, 40, 120][seed as usize % 3];
        let graph = Graph::random(seed, nodes, 1 + (seed % 2) as u16, seed % 8 == 7).weak(seed);
        for threads in [2, 4] {
            found += u64::from(compare(&format!("seed {seed}, weak"), &graph, threads).0);
        }
    }
    assert!(found > seeds / 10 && found < 2 * seeds - seeds / 10, "{found} of {seeds} with a cycle");
}

#[test]
fn large_graphs_without_accepted_cycles_are_searched_by_all() {
    for seed in 0..6 {
        let mut graph = Graph::random(seed, 20_000, 4, false);
        graph.accepting.fill(false);
        let (found, states) = compare(&format!("seed {seed}"), &graph, 3);
        assert!(!found && states > 15_000, "seed {seed}: {states}");
        // Many red searches, none of which comes back.
        for (from, arcs) in graph.arcs.iter_mut().enumerate() {
            arcs.retain(|to| usize::from(*to) > from);
        }
        graph.starts = (0..200).collect();
        graph.accepting = (0..20_000).map(|node| node % 5 == 0).collect();
        let (found, states) = compare(&format!("seed {seed}, layered"), &graph, 3);
        assert!(!found && states > 3_000, "seed {seed}, layered: {states}");
    }
}

#[test]
fn the_budget_ends_the_search_of_all() {
    let mut graph = Graph::random(1, 20_000, 4, false);
    graph.accepting.fill(false);
    let (budget, _) = Budget::unlimited().with_threads(3).until(|progress| progress.states > 5_000);
    let options = Options { report_every: 64, ..Options::default() };
    let (report, _) = cndfs(&mut graph, usize::MAX, &options, &budget).unwrap();
    assert_eq!((report.found, report.ended), (None, Some(Reason::Interrupted)));
}
