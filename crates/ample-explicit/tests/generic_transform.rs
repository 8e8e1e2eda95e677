//! Transformations and simulation, against naive oracles on random graphs.

use std::collections::HashSet;

use ample_explicit::check;
use ample_explicit::search::handlers::{Accept, Always, Goal, Handlers, Insert};
use ample_explicit::search::{breadth_first, depth_first};
use ample_explicit::simulate::{
    AtMost, Ending, Guided, Interactive, Random as Chance, SimulationObserver, simulate, simulate_checked,
};
use ample_explicit::space::{Checked, StateSpace};
use ample_explicit::store::{ExactStore, HashStore, Parent};
use ample_explicit::transform::{Bounded, Labelled, Left, Move, Original, Product, Reroot, Right, Through};

use ample_budget::Budget;

mod generic_graph;
use generic_graph::{Bytes, Graph, decode, encode};

/// An edge's label is its number and whether its source is odd.
impl Labelled for Graph {
    type Label = (usize, bool);

    fn label(&self, state: &u32, transition: &usize) -> (usize, bool) {
        (*transition, state % 2 == 1)
    }
}

/// All states of a space, in the order of a breadth-first search, and how many transitions.
fn states<S>(mut space: S) -> (Vec<S::State>, usize)
where
    S: StateSpace<State: Sized + Clone + Eq + std::hash::Hash + ToOwned<Owned = <S as StateSpace>::State> + Default>,
{
    let mut store: HashStore<S::State, Parent> = HashStore::default();
    breadth_first(&mut space, &mut store, &mut Handlers::new().on_explore(Always, Insert));
    let handles = std::iter::successors(store.first(), |&handle| store.after(handle));
    let states: Vec<S::State> = handles.map(|handle| store.get(handle).clone()).collect();
    let mut transitions = 0;
    for state in &states {
        let mut cursor = space.first(state);
        while let Some(transition) = cursor {
            transitions += 1;
            cursor = space.next(state, &transition);
        }
    }
    (states, transitions)
}

/// The pairs that can be reached, and how many moves there are from them.
fn pairs(a: &Graph, b: &Graph, shared: impl Fn(&(usize, bool)) -> bool) -> (HashSet<(u32, u32)>, usize) {
    let mut seen = HashSet::new();
    let mut stack: Vec<(u32, u32)> = a.initial.iter().flat_map(|&x| b.initial.iter().map(move |&y| (x, y))).collect();
    let mut moves = 0;
    while let Some((x, y)) = stack.pop() {
        if !seen.insert((x, y)) {
            continue;
        }
        let before = stack.len();
        let of_a: Vec<_> = a.edges[x as usize].iter().enumerate().map(|(i, &to)| (a.label(&x, &i), to)).collect();
        let of_b: Vec<_> = b.edges[y as usize].iter().enumerate().map(|(i, &to)| (b.label(&y, &i), to)).collect();
        stack.extend(of_a.iter().filter(|(label, _)| !shared(label)).map(|&(_, to)| (to, y)));
        stack.extend(of_b.iter().filter(|(label, _)| !shared(label)).map(|&(_, to)| (x, to)));
        for (label, to) in of_a.iter().filter(|(label, _)| shared(label)) {
            stack.extend(of_b.iter().filter(|(other, _)| other == label).map(|&(_, other)| (*to, other)));
        }
        moves += stack.len() - before;
    }
    (seen, moves)
}

#[test]
fn products_have_the_states_and_moves_of_the_definition() {
    for seed in 0..100 {
        let (a, b) = (Graph::random(seed), Graph::random(seed + 1000));
        let expected = pairs(&a, &b, |_| false);
        let (found, moves) = states(Product::interleaved(a.clone(), b.clone()));
        assert_eq!((found.into_iter().collect(), moves), expected, "seed {seed}");
        for modulus in [1, 2, 3] {
            let shared = move |label: &(usize, bool)| label.0.is_multiple_of(modulus);
            let expected = pairs(&a, &b, shared);
            let (found, moves) = states(Product::synchronised(a.clone(), b.clone(), shared));
            assert_eq!((found.into_iter().collect(), moves), expected, "seed {seed}, modulus {modulus}");
        }
    }
}

#[test]
fn a_bounded_space_has_all_walks_of_that_length_and_no_more() {
    for seed in 0..100 {
        let graph = Graph::random(seed);
        let mut layer: HashSet<u32> = graph.initial.iter().copied().collect();
        let mut expected = HashSet::new();
        for steps in 0..=4 {
            expected.extend(layer.iter().map(|&vertex| (vertex, steps)));
            layer = layer.iter().flat_map(|&vertex| graph.edges[vertex as usize].clone()).collect();
        }
        let (found, _) = states(Bounded::new(graph, 4));
        assert_eq!(found.into_iter().collect::<HashSet<_>>(), expected, "seed {seed}");
    }
}

#[test]
fn spaces_of_bytes_can_be_transformed() {
    let graph = Graph::random(7);
    let (plain, _) = states(Product::interleaved(Bounded::new(graph.clone(), 3), graph.clone()));
    let (bytes, _) = states(Product::interleaved(Bounded::new(Bytes(graph.clone()), 3), Bytes(graph.clone())));
    let decoded: Vec<_> = bytes.iter().map(|((a, steps), b)| ((decode(a), *steps), decode(b))).collect();
    assert_eq!(plain, decoded);
    let mut root = Vec::new();
    encode(graph.edges.len() as u32 / 2, &mut root);
    let elsewhere = Reroot::new(Bytes(graph), root.clone());
    assert_eq!(elsewhere.root(), root);
}

/// Records a run.
#[derive(Default)]
struct Record {
    states: Vec<u32>,
    edges: Vec<usize>,
    ended: u32,
}

impl<S: StateSpace<State = u32, Transition = usize>> SimulationObserver<S> for Record {
    fn started(&mut self, state: &u32) {
        self.states.push(*state);
    }

    fn taken(&mut self, transition: &usize, state: &u32) {
        self.edges.push(*transition);
        self.states.push(*state);
    }

    fn ended(&mut self) {
        self.ended += 1;
    }
}

#[test]
fn a_random_run_is_a_run_and_can_be_repeated() {
    for seed in 0..100 {
        let mut graph = Graph::random(seed);
        let mut run = |seed| {
            let mut record = Record::default();
            let ending = simulate(&mut graph, &mut AtMost::new(50, Chance::new(seed)), &mut record);
            (ending, record)
        };
        let ((ending, record), (same, again)) = (run(seed), run(seed));
        assert_eq!((&ending, &record.states), (&same, &again.states), "seed {seed}");
        assert_eq!(record.ended, 1);
        assert!(graph.initial.contains(&record.states[0]));
        for (step, &edge) in record.states.windows(2).zip(&record.edges) {
            assert_eq!(graph.edges[step[0] as usize][edge], step[1], "seed {seed}");
        }
        let last = record.states.last().map(|&vertex| graph.edges[vertex as usize].len());
        assert_eq!(ending == Ending::NoTransition, last == Some(0), "seed {seed}");
        assert!(ending == Ending::NoTransition || record.edges.len() == 50);
    }
}

#[test]
fn a_counterexample_guides_a_run_to_its_goal() {
    let mut guided = 0;
    for seed in 0..100 {
        let mut graph = Graph { initial: vec![0], ..Graph::random(seed) };
        let goal = graph.edges.len() as u32 - 1;
        let mut feedback =
            Handlers::new().on_explore(Accept(|vertex: &u32| *vertex == goal), Goal).on_explore(Always, Insert);
        let Some(path) = depth_first(&mut graph, &mut HashStore::<u32>::new(), &mut feedback).goal() else { continue };
        let (mut record, mut guide) = (Record::default(), Guided::along(0, &path));
        simulate(&mut graph, &mut guide, &mut record);
        assert!(guide.is_complete(), "seed {seed}");
        assert_eq!(record.states.last(), Some(&goal), "seed {seed}");
        guided += 1;
    }
    assert!(guided > 10);
    let mut astray = Guided::new(0, vec![0, 5, 0]);
    assert_eq!(simulate(&mut Graph::line(5), &mut astray, &mut ()), Ending::Stopped);
    assert!(!astray.is_complete());
}

#[test]
fn a_person_is_asked_only_where_there_is_a_choice() {
    let mut graph = Graph { initial: vec![0], edges: vec![vec![1], vec![2, 0], vec![3], vec![]] };
    let mut asked = Vec::new();
    let mut person = Interactive(|state: &u32, _: &[usize]| {
        asked.push(*state);
        if asked.len() < 3 { Some(1) } else { Some(0) }
    });
    let mut record = Record::default();
    assert_eq!(simulate(&mut graph, &mut person, &mut record), Ending::NoTransition);
    assert_eq!(record.states, [0, 1, 0, 1, 0, 1, 2, 3]);
    assert_eq!(asked, [1, 1, 1]);
    assert_eq!(simulate(&mut graph, &mut Interactive(|_: &u32, _: &[usize]| None), &mut ()), Ending::Stopped);
}

#[test]
fn observers_of_the_parts_see_a_run_of_the_product() {
    let (a, b) = (Graph::line(4), Graph::line(3));
    let mut product = Product::interleaved(Bounded::new(a.clone(), 9), b.clone());
    let run = vec![Move::Left(0), Move::Right(0), Move::Left(0), Move::Right(0), Move::Left(0)];

    let mut right: Through<Graph, _, _> = Through::new(Right, Record::default());
    assert_eq!(simulate(&mut product, &mut Guided::new(0, run.clone()), &mut right), Ending::NoTransition);
    assert_eq!(right.into_inner().states, [0, 1, 2]);

    let inner: Through<Graph, _, _> = Through::new(Original, Record::default());
    let mut left: Through<Bounded<Graph>, _, _> = Through::new(Left, inner);
    assert_eq!(simulate(&mut product, &mut Guided::new(0, run), &mut left), Ending::NoTransition);
    assert_eq!(left.into_inner().into_inner().states, [0, 1, 2, 3]);
}

/// A line whose last step is a fault.
struct Cliff(Graph, bool);

impl StateSpace for Cliff {
    type State = u32;
    type Transition = usize;

    fn initial(&mut self, index: usize, out: &mut u32) -> bool {
        self.1 = false;
        self.0.initial(index, out)
    }

    fn first(&mut self, state: &u32) -> Option<usize> {
        self.0.first(state)
    }

    fn next(&mut self, state: &u32, transition: &usize) -> Option<usize> {
        self.0.next(state, transition)
    }

    fn target(&mut self, state: &u32, transition: &usize, out: &mut u32) {
        self.0.target(state, transition, out);
        self.1 = self.0.edges[*out as usize].is_empty();
    }
}

impl Checked for Cliff {
    fn is_valid_end(&mut self, _: &u32) -> bool {
        true
    }

    fn violation(&self) -> Option<String> {
        self.1.then(|| "over the edge".to_owned())
    }

    fn is_dead(&self) -> bool {
        self.1
    }

    fn is_transient(&self, _: &u32) -> bool {
        false
    }

    fn atomic_steps(&self) -> u32 {
        0
    }

    fn invariant(&mut self, _: usize, _: &u32) -> bool {
        true
    }
}

#[test]
fn a_fault_ends_a_run() {
    let mut record = Record::default();
    let ending = simulate_checked(&mut Cliff(Graph::line(4), false), &mut Chance::new(0), &mut record);
    assert_eq!(ending, Ending::Fault("over the edge".to_owned()));
    assert_eq!((record.states, record.ended), (vec![0, 1, 2], 1));
}

#[test]
fn a_check_can_start_elsewhere() {
    let mut cliff = Cliff(Graph::line(6), false);
    let mut check = |root| {
        let mut space = Reroot::new(&mut cliff, root);
        let mut store: HashStore<u32, Parent> = HashStore::default();
        check::breadth_first(&mut space, &mut store, &check::Options::default(), &Budget::unlimited())
    };
    for root in 0..5 {
        let report = check(root);
        assert_eq!(report.assertions.map(|violation| violation.path.len()), Some(5 - root as usize));
        assert_eq!(report.statistics.states, u64::from(5 - root));
    }
    assert!(check(5).assertions.is_none());
}
