//! Models with atomic sequences: every graph is compared with one that is made state by state, by the reference interpreter.

mod common;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use ample_budget::Budget;
use ample_lang::promela::{self, preprocess::FileLoader};
use ample_model::random::{self, Features};
use ample_model::{BinaryOp, Expr, Fault, Interpreter, Move, Place, Scalar, Scope, State, System, Type};
use ample_random::Random;
use ample_sog::observed::STOPPED;
use ample_sog::{
    Balance, Binary, BuildOptions, Canonical, CheckOptions, Error, Graph, Meaning, Model, Observed, Question, build,
    build_with_threads, check,
};

use common::Generate;

const MEMORY: u64 = 1 << 28;
/// Larger systems are left out.
const MOST_STATES: usize = 500;

/// The states of a system with their steps, one by one.
struct Space {
    states: Vec<State>,
    is_visible: Vec<bool>,
    /// Which atoms hold in it.
    actual: Vec<u64>,
    /// The steps, as numbers of actions.
    steps: Vec<Vec<(usize, usize)>>,
    has_move: Vec<bool>,
    has_fault: Vec<bool>,
    initial: BTreeSet<usize>,
}

impl Space {
    fn of(system: &System, moves: &[Move], atoms: &[(String, Expr)]) -> Option<Space> {
        let interpreter = Interpreter::new(system);
        let numbers: HashMap<&Move, usize> = moves.iter().enumerate().map(|(number, taken)| (taken, number)).collect();
        let mut known: HashMap<State, usize> = HashMap::new();
        let mut space = Space {
            states: Vec::new(),
            is_visible: Vec::new(),
            actual: Vec::new(),
            steps: Vec::new(),
            has_move: Vec::new(),
            has_fault: Vec::new(),
            initial: BTreeSet::new(),
        };
        let mut number = |state: &State, states: &mut Vec<State>| {
            let identity = interpreter.identity(state);
            *known.entry(identity.clone()).or_insert_with(|| {
                states.push(identity);
                states.len() - 1
            })
        };
        for state in interpreter.initial_states().flatten() {
            space.initial.insert(number(&state, &mut space.states));
        }
        while space.steps.len() < space.states.len() {
            if space.states.len() > MOST_STATES {
                return None;
            }
            let state = space.states[space.steps.len()].clone();
            let holds = |expr: &Expr| interpreter.evaluate(&state, None, expr).is_ok_and(|value| value != 0);
            let actual = atoms.iter().enumerate().filter(|(_, (_, expr))| holds(expr));
            space.actual.push(actual.fold(0, |label, (bit, _)| label | 1 << bit));
            space.is_visible.push(state.control.is_none());
            let (mut steps, mut has_move, mut has_fault) = (Vec::new(), false, false);
            for (taken, successor) in interpreter.successors(&state) {
                assert!(!successor.violations.contains(&Fault::NotEnabled));
                has_move = true;
                match successor.state {
                    Some(next) => steps.push((numbers[&taken], number(&next, &mut space.states))),
                    None => has_fault = true,
                }
            }
            space.steps.push(steps);
            space.has_move.push(has_move);
            space.has_fault.push(has_fault);
        }
        Some(space)
    }

    fn closed(&self, from: BTreeSet<usize>, label: u64, observed: &Observed) -> BTreeSet<usize> {
        let mut all = from.clone();
        let mut work: Vec<usize> = from.into_iter().collect();
        while let Some(state) = work.pop() {
            for (action, next) in &self.steps[state] {
                let keeps = !self.is_visible[*next] || self.label(*next, observed) == label;
                if keeps && !observed.actions.contains(action) && all.insert(*next) {
                    work.push(*next);
                }
            }
        }
        all
    }

    fn label(&self, state: usize, observed: &Observed) -> u64 {
        let bits = observed.atoms.iter().enumerate();
        bits.fold(0, |label, (bit, atom)| label | (self.actual[state] >> atom & 1) << bit)
    }

    /// A cycle of unobserved steps in the set goes through a visible state.
    fn is_divergent(&self, set: &BTreeSet<usize>, observed: &Observed) -> bool {
        set.iter().any(|start| {
            let mut seen = BTreeSet::new();
            let mut work = vec![*start];
            while let Some(state) = work.pop() {
                for (action, next) in &self.steps[state] {
                    if observed.actions.contains(action) || !set.contains(next) {
                        continue;
                    }
                    if next == start {
                        return self.is_visible[*start];
                    }
                    if seen.insert(*next) {
                        work.push(*next);
                    }
                }
            }
            false
        })
    }

    /// The graph, as its definition has it.
    fn graph(&self, observed: &Observed) -> Vec<Node> {
        let mut known: HashMap<(u64, BTreeSet<usize>), usize> = HashMap::new();
        let mut sets = Vec::new();
        let mut nodes: Vec<Node> = Vec::new();
        let mut number = |label: u64, set: BTreeSet<usize>, sets: &mut Vec<(u64, BTreeSet<usize>)>| {
            *known.entry((label, set.clone())).or_insert_with(|| {
                sets.push((label, set));
                sets.len() - 1
            })
        };
        let by_label = |states: &BTreeSet<usize>, before: Option<u64>| {
            let mut parts: BTreeMap<u64, BTreeSet<usize>> = BTreeMap::new();
            for state in states {
                let actual = self.label(*state, observed);
                let label = before.filter(|_| !self.is_visible[*state]).unwrap_or(actual);
                parts.entry(label).or_default().insert(*state);
            }
            parts
        };
        for (label, part) in by_label(&self.initial, None) {
            number(label, self.closed(part, label, observed), &mut sets);
        }
        while nodes.len() < sets.len() {
            let (label, set) = sets[nodes.len()].clone();
            let visible = set.iter().filter(|state| self.is_visible[**state]).count() as u128;
            if label & STOPPED != 0 {
                let node = Node { label, dead: true, divergent: false, states: visible, arcs: BTreeSet::new() };
                nodes.push(node);
                continue;
            }
            let is_end = |state: usize| self.has_fault[state] || !self.has_move[state];
            let here = |state: usize| self.label(state, observed) == label;
            let mut arcs = BTreeSet::new();
            for action in &observed.actions {
                let taken = set.iter().flat_map(|state| &self.steps[*state]).filter(|(other, _)| other == action);
                let image: BTreeSet<usize> = taken.map(|(_, next)| *next).collect();
                for (label, part) in by_label(&image, Some(label)) {
                    arcs.insert((Some(*action), number(label, self.closed(part, label, observed), &mut sets)));
                }
            }
            let unobserved = set.iter().flat_map(|state| &self.steps[*state]);
            let unobserved = unobserved.filter(|(action, _)| !observed.actions.contains(action));
            let changing = unobserved.map(|(_, next)| *next).filter(|next| self.is_visible[*next] && !here(*next));
            for (label, part) in by_label(&changing.collect(), None) {
                arcs.insert((None, number(label, self.closed(part, label, observed), &mut sets)));
            }
            for state in set.iter().filter(|state| !self.is_visible[**state] && self.has_fault[**state]) {
                if !here(*state) {
                    // One for all: which state it is makes no difference.
                    let label = self.label(*state, observed) | STOPPED;
                    arcs.insert((None, number(label, BTreeSet::new(), &mut sets)));
                }
            }
            nodes.push(Node {
                label,
                dead: set.iter().any(|state| is_end(*state) && (self.is_visible[*state] || here(*state))),
                divergent: self.is_divergent(&set, observed),
                states: visible,
                arcs,
            });
        }
        nodes
    }
}

/// An aggregate without its states.
#[derive(Clone, Debug)]
struct Node {
    label: u64,
    dead: bool,
    divergent: bool,
    states: u128,
    arcs: BTreeSet<(Option<usize>, usize)>,
}

/// The same graph with one aggregate for all stopped runs of a label.
fn plain(graph: &Graph) -> Vec<Node> {
    let node = |aggregate: &ample_sog::Aggregate| Node {
        label: aggregate.label,
        dead: aggregate.facts.dead,
        divergent: aggregate.facts.divergent,
        states: aggregate.facts.states,
        arcs: aggregate.arcs.iter().copied().collect(),
    };
    graph.aggregates.iter().map(node).collect()
}

/// What tells graphs apart: classes of aggregates, made finer as long as their successors tell them apart.
fn classes(nodes: &[Node]) -> Vec<u64> {
    let hasher = BuildHasherDefault::<DefaultHasher>::default();
    let mut class = vec![0; nodes.len()];
    for _ in 0..40 {
        let next = nodes.iter().map(|node| {
            let arcs: BTreeSet<_> = node.arcs.iter().map(|(action, to)| (*action, class[*to])).collect();
            hasher.hash_one((node.label, node.dead, node.divergent, node.states, arcs))
        });
        class = next.collect();
    }
    let mut kept: Vec<u64> =
        nodes.iter().zip(class).filter(|(node, _)| node.label & STOPPED == 0).map(|(_, c)| c).collect();
    kept.sort_unstable();
    kept
}

#[derive(Debug, Default)]
struct Seen {
    graphs: usize,
    transient: usize,
    stopped: usize,
    endless: usize,
    refused: usize,
    between: usize,
}

/// Builds several graphs of a system, with one and with several threads, and compares them.
fn compare(system: &System, atoms: &[(String, Expr)], seed: u64, seen: &mut Seen) {
    let budget = Budget::unlimited();
    let what = || format!("seed {seed}, {}", system.name);
    let binary = match Binary::new(system, atoms, MEMORY, &budget) {
        Ok(binary) => binary,
        Err(Error::Unsupported(_)) => return seen.refused += 1,
        Err(error) => panic!("{}: {error}", what()),
    };
    // Where processes are created, two actions may be the same move of processes of different types.
    if binary.moves().iter().collect::<HashSet<_>>().len() < binary.moves().len() {
        return;
    }
    let Some(space) = Space::of(system, binary.moves(), atoms) else { return };
    let visible = space.is_visible.iter().filter(|is_visible| **is_visible).count();
    assert_eq!(binary.states(), visible as u128, "{}", what());
    seen.transient += usize::from(visible < space.states.len());
    seen.endless += usize::from(binary.has_endless_sequences());
    let mut random = Random::new(seed);
    let count = binary.actions().len();
    for kind in 0..4 {
        let actions: Vec<usize> = (0..count).filter(|_| kind != 0 && random.below(4usize) == 0).collect();
        let labels: Vec<usize> = (0..atoms.len()).filter(|_| kind != 1 && random.below(3usize) > 0).collect();
        let observed = Observed::events_and_states(count, &actions, &labels).unwrap();
        let first = build(&mut binary.sets(1, &budget).unwrap(), &observed, Canonical::None, MEMORY, &budget);
        let graph = match first {
            Ok(graph) => graph,
            Err(Error::Unsupported(why)) => {
                assert!(binary.has_endless_sequences() || why.contains("initial"), "{}: {why}", what());
                seen.refused += 1;
                continue;
            }
            Err(error) => panic!("{}: {error}", what()),
        };
        let (found, expected) = (plain(&graph), space.graph(&observed));
        let fine = classes(&found) == classes(&expected);
        assert!(fine, "{} {observed:?}\n{found:?}\n{expected:?}", what());
        seen.graphs += 1;
        seen.stopped += usize::from(found.iter().any(|node| node.label & STOPPED != 0));
        seen.between += usize::from(found.iter().any(|node| node.states == 0 && node.label & STOPPED == 0));
        for canonical in [Canonical::Full, Canonical::Sent, Canonical::None] {
            let balance = [Balance::Order, Balance::Steal, Balance::MinLoad][random.below(3usize)];
            let options = BuildOptions { threads: 3, canonical, balance, ..BuildOptions::default() };
            let (built, _) = build_with_threads(&binary, &observed, &options).unwrap();
            assert_eq!(classes(&plain(&built)), classes(&found), "{} {canonical:?} {observed:?}", what());
            if canonical != Canonical::Full {
                assert_eq!(built, graph, "{} {canonical:?}", what());
            }
        }
    }
}

/// Conditions on global variables that are numbers.
fn conditions(system: &System) -> Vec<(String, Expr)> {
    let mut atoms = Vec::new();
    for (number, variable) in system.globals.iter().enumerate() {
        let Type::Scalar(scalar @ (Scalar::Int { .. } | Scalar::Range { .. })) = &variable.ty else { continue };
        let cell = Place { scope: Scope::Global, variable: number.into(), offset: 0, indices: vec![], scalar: *scalar };
        let value = Expr::binary(BinaryOp::Greater, Expr::Read(cell), Expr::Const(0));
        atoms.push((variable.name.clone(), value));
    }
    atoms.truncate(3);
    atoms
}

fn seeds(default: u64) -> u64 {
    std::env::var("AMPLE_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn graphs_of_random_systems_are_those_of_the_definition() {
    let none = Features {
        faults: false,
        control: true,
        spawn: false,
        looks: false,
        priorities: false,
        monitor: false,
        actions: false,
    };
    let mut seen = Seen::default();
    for seed in 0..seeds(100) {
        let features = match seed % 3 {
            0 => none,
            1 => Features { faults: true, ..none },
            _ => Features { faults: true, spawn: true, ..none },
        };
        let system = random::system(seed, features);
        compare(&system, &conditions(&system), seed, &mut seen);
    }
    println!("{seen:?}");
    assert!(seen.graphs > 100 && seen.transient > 10, "{seen:?}");
}

/// Small models, each with something that is special about atomic sequences.
const MODELS: [(&str, &str); 9] = [
    ("passing", "byte x; active [2] proctype P() { do :: atomic { x = 1; x = 0 } od }"),
    (
        "changing",
        "byte x; active [2] proctype P() { do :: atomic { x < 3 -> x++; x++; x-- } :: d_step { x == 3 -> x = 0 } od }",
    ),
    (
        "blocking",
        "byte x, y; active proctype P() { do :: atomic { x = 1; y == 1; x = 2; y = 0 } od }
      active proctype Q() { do :: y = 1 od }",
    ),
    ("endless", "byte x, y; active proctype P() { do :: y = 1 - y :: atomic { x = 1; do :: y = y od } od }"),
    ("only endless", "byte x; active proctype P() { atomic { x = 1; do :: x = 1 - x od } }"),
    ("left or endless", "byte x; active proctype P() { do :: atomic { x = 1; do :: x = 2 :: break od; x = 0 } od }"),
    ("fault", "byte x, y; active proctype P() { do :: atomic { x = 1; y = 5 / y; x = 0 } :: y = 1 - y od }"),
    ("assertion", "byte x; active proctype P() { do :: atomic { x = 1; assert(x == 0); x = 0 } od }"),
    (
        "handshake",
        "chan c = [0] of { byte }; byte x, y;
      active proctype P() { do :: atomic { x = 1; c ! 1; x = 2 } od }
      active proctype Q() { byte z; do :: atomic { c ? z; y = 1 - y; x = 0 } od }",
    ),
];

#[test]
fn graphs_of_small_models_are_those_of_the_definition() {
    let mut seen = Seen::default();
    for (name, text) in MODELS {
        let read = promela::read(name, text.into(), &mut FileLoader, &[]).unwrap();
        let atoms = conditions(&read.system);
        for seed in 0..12 {
            compare(&read.system, &atoms, seed, &mut seen);
        }
    }
    println!("{seen:?}");
    assert!(seen.stopped > 0 && seen.endless > 0 && seen.between > 0 && seen.refused > 0, "{seen:?}");
}

/// Every run that is shown has been replayed and evaluated: if that fails, there is an internal error.
#[test]
fn counterexamples_of_random_formulas_replay() {
    let control = Features {
        faults: true,
        control: true,
        spawn: false,
        looks: false,
        priorities: false,
        monitor: false,
        actions: false,
    };
    let (mut checked, mut violated) = (0, 0);
    let mut systems: Vec<(u64, System)> = (0..seeds(60)).map(|seed| (seed, random::system(seed, control))).collect();
    for (number, (name, text)) in MODELS.into_iter().enumerate() {
        let read = promela::read(name, text.into(), &mut FileLoader, &[]).unwrap();
        systems.extend((0..4).map(|copy| (1_000_000 + 100 * number as u64 + copy, read.system.clone())));
    }
    for (seed, system) in systems {
        let atoms = conditions(&system);
        let Ok(binary) = Binary::new(&system, &atoms, MEMORY, &Budget::unlimited()) else { continue };
        if binary.states() > MOST_STATES as u128 {
            continue;
        }
        let mut random = Random::new(seed);
        for _ in 0..8 {
            let mut meanings: Vec<Meaning> = (0..atoms.len()).map(Meaning::State).collect();
            for _ in 0..random.below(3usize) {
                meanings.push(Meaning::Event(vec![random.below(binary.actions().len())]));
            }
            let size = 2 + random.below(6usize);
            let formula = random.formula(size, meanings.len());
            let question = Question { formula, meanings };
            let build = BuildOptions { threads: 2, ..BuildOptions::default() };
            let options = CheckOptions { build, collapsed: true, ..CheckOptions::default() };
            match check(&binary, &question, &options) {
                Ok(found) => {
                    let on_demand = CheckOptions { on_demand: true, ..options };
                    let again = check(&binary, &question, &on_demand).unwrap();
                    assert_eq!(found.violation.is_some(), again.violation.is_some(), "seed {seed} {question:?}");
                    checked += 1;
                    violated += usize::from(found.violation.is_some());
                }
                Err(Error::Unsupported(_)) => {}
                Err(error) => panic!("seed {seed}, {} {question:?}: {error}", system.name),
            }
        }
    }
    println!("{checked} {violated}");
    assert!(checked > 200 && violated > 50);
}
