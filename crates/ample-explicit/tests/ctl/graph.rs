//! Graphs whose vertices have labels, and random formulas over these.

use std::collections::{BTreeSet, HashSet};

use ample_explicit::space::{Checked, StateSpace};
use ample_logic::{Atom, Binary, Formula, Unary};

use ample_random::Random;

/// A graph whose vertices have labels: the atoms that hold there, one in each bit. Some are transient, some edges and
/// some initial states are faults.
#[derive(Clone, Debug, Default)]
pub struct Labelled {
    pub initial: Vec<u32>,
    pub edges: Vec<Vec<u32>>,
    pub labels: Vec<u8>,
    pub transient: HashSet<u32>,
    pub faults: HashSet<(u32, usize)>,
    pub faulty_initial: HashSet<usize>,
    pub is_dead: bool,
}

impl Labelled {
    /// A graph with the first vertex for its initial state. Labels are written with the letters `p`, `q`, `r`.
    pub fn new(vertices: &[(&str, &[u32])]) -> Labelled {
        let label = |text: &str| text.bytes().fold(0, |label, letter| label | 1 << (letter - b'p'));
        Labelled {
            initial: vec![0],
            edges: vertices.iter().map(|(_, edges)| edges.to_vec()).collect(),
            labels: vertices.iter().map(|(text, _)| label(text)).collect(),
            ..Labelled::default()
        }
    }

    pub fn random(random: &mut Random) -> Labelled {
        let vertices = 1 + random.below(12);
        let degree = 1 + random.below(4);
        let vertex = |random: &mut Random| random.below(vertices) as u32;
        let edges = |random: &mut Random| (0..random.below(degree + 1)).map(|_| vertex(random)).collect();
        let edges: Vec<Vec<u32>> = (0..vertices).map(|_| edges(random)).collect();
        let (rare_transient, rare_fault) = (2 + random.below(12), 3 + random.below(20));
        let transient = (0..vertices as u32).filter(|_| random.below(rare_transient) == 0).collect();
        let all_edges = (0..vertices).flat_map(|from| (0..edges[from].len()).map(move |edge| (from as u32, edge)));
        let faults = all_edges.filter(|_| random.below(rare_fault) == 0).collect();
        let initial: Vec<u32> = (0..1 + random.below(3) / 2).map(|_| vertex(random)).collect();
        let faulty_initial = (0..initial.len()).filter(|_| random.below(10) == 0).collect();
        let labels = (0..vertices).map(|_| random.below(8) as u8).collect();
        Labelled { initial, labels, transient, faults, faulty_initial, is_dead: false, edges }
    }

    /// The visible states that a state leads to, past transient ones.
    pub fn successors(&self, from: u32) -> BTreeSet<u32> {
        let (mut passed, mut found, mut work) = (HashSet::from([from]), BTreeSet::new(), vec![from]);
        while let Some(vertex) = work.pop() {
            for (edge, &next) in self.edges[vertex as usize].iter().enumerate() {
                if self.faults.contains(&(vertex, edge)) {
                    continue;
                }
                if !self.transient.contains(&next) {
                    found.insert(next);
                } else if passed.insert(next) {
                    work.push(next);
                }
            }
        }
        found
    }
}

impl StateSpace for Labelled {
    type State = u32;
    type Transition = usize;

    fn initial(&mut self, index: usize, out: &mut u32) -> bool {
        self.is_dead = self.faulty_initial.contains(&index);
        self.initial.get(index).map(|&vertex| *out = vertex).is_some()
    }

    fn first(&mut self, state: &u32) -> Option<usize> {
        (!self.edges[*state as usize].is_empty()).then_some(0)
    }

    fn next(&mut self, state: &u32, last: &usize) -> Option<usize> {
        Some(last + 1).filter(|&edge| edge < self.edges[*state as usize].len())
    }

    fn target(&mut self, state: &u32, edge: &usize, out: &mut u32) {
        self.is_dead = self.faults.contains(&(*state, *edge));
        *out = self.edges[*state as usize][*edge];
    }
}

impl Checked for Labelled {
    fn is_valid_end(&mut self, _: &u32) -> bool {
        true
    }

    /// A failed assertion goes on, and makes no difference here.
    fn violation(&self) -> Option<String> {
        Some("whatever".into())
    }

    fn is_dead(&self) -> bool {
        self.is_dead
    }

    fn is_transient(&self, state: &u32) -> bool {
        self.transient.contains(state)
    }

    fn atomic_steps(&self) -> u32 {
        0
    }

    fn invariant(&mut self, number: usize, state: &u32) -> bool {
        assert!(!self.transient.contains(state), "a property of a transient state");
        self.labels[*state as usize] >> number & 1 == 1
    }
}

/// A CTL formula of that depth at most, over three atoms.
pub fn random_formula(random: &mut Random, depth: usize) -> Formula {
    if depth == 0 || random.below(8) == 0 {
        return match random.below(12) {
            0 => Formula::True,
            1 => Formula::False,
            atom => Formula::atom(Atom(atom as u32 % 3)),
        };
    }
    let f = random_formula(random, depth - 1);
    if random.below(7) == 0 {
        return !f;
    }
    let unary = [Unary::Next, Unary::Finally, Unary::Globally];
    let temporal = [Binary::Until, Binary::WeakUntil, Binary::Release, Binary::StrongRelease];
    let boolean = [Binary::And, Binary::Or, Binary::Implies, Binary::Iff, Binary::Xor];
    let path = match random.below(3) {
        0 => Formula::unary(unary[random.below(3)], f),
        1 => Formula::binary(temporal[random.below(4)], f, random_formula(random, depth - 1)),
        _ => return Formula::binary(boolean[random.below(5)], f, random_formula(random, depth - 1)),
    };
    if random.below(2) == 0 { path.exists() } else { path.all() }
}
