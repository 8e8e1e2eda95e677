//! Generalised Büchi automata with acceptance on the edges, as plain data.
//!
//! A word is a sequence of valuations of at most 64 atoms. A run is accepted if, for each of the acceptance sets,
//! it takes an edge of the set again and again. With no acceptance set, every infinite run is accepted.

use serde::{Deserialize, Serialize};

use crate::formula::{Atom, Atoms};

/// A conjunction of literals over the atoms of an automaton: bit *i* stands for its *i*-th atom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cube {
    /// The atoms that must be true.
    pub positive: u64,
    /// The atoms that must be false.
    pub negative: u64,
}

impl Cube {
    /// The cube that every valuation satisfies.
    pub const TRUE: Cube = Cube { positive: 0, negative: 0 };

    /// Whether the valuation satisfies all literals.
    pub fn matches(self, valuation: u64) -> bool {
        valuation & self.positive == self.positive && valuation & self.negative == 0
    }

    /// The literals of both, or `None` if they contradict each other.
    pub fn and(self, other: Cube) -> Option<Cube> {
        let both = Cube { positive: self.positive | other.positive, negative: self.negative | other.negative };
        (both.positive & both.negative == 0).then_some(both)
    }
}

/// An edge of an automaton.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Edge {
    /// The state it leaves.
    pub from: usize,
    /// The valuations under which it can be taken: those that satisfy one of these cubes.
    pub label: Vec<Cube>,
    /// The state it leads to.
    pub to: usize,
    /// The acceptance sets it belongs to: bit *i* for set *i*.
    pub marks: u32,
}

/// A generalised Büchi automaton.
///
/// Invariants, kept by everything in this crate and checked by [`Automaton::check`]:
/// - states are `0..states`, `initial` is one of them, and so are the ends of all edges;
/// - `edges` are sorted by `from`; every label has at least one cube, no cube contradicts itself;
/// - cubes use only bits below `atoms.len()` (at most 64), `names` is as long as `atoms`;
/// - marks use only bits below `sets` (at most 32);
/// - if `state_based`, there is exactly one set and all edges that leave a state have equal marks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Automaton {
    /// The number of states.
    pub states: usize,
    /// Where runs begin.
    pub initial: usize,
    /// The edges, sorted by the state they leave.
    pub edges: Vec<Edge>,
    /// The number of acceptance sets.
    pub sets: u32,
    /// Whether acceptance can be read off the states: an ordinary Büchi automaton.
    pub state_based: bool,
    /// What the bits of the labels stand for.
    pub atoms: Vec<Atom>,
    /// The names of these atoms, for printing.
    pub names: Vec<String>,
}

/// The size of an automaton.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// The number of states.
    pub states: usize,
    /// The number of edges.
    pub edges: usize,
    /// The number of edges, each counted once for every valuation of the atoms under which it can be taken.
    pub transitions: u128,
    /// The number of acceptance sets.
    pub sets: u32,
    /// Whether no state has a choice.
    pub deterministic: bool,
    /// Whether no state can get stuck.
    pub complete: bool,
}

/// What is wrong with an automaton.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a valid automaton: {0}")]
pub struct InvalidAutomaton(pub String);

impl Automaton {
    /// The edges that leave a state.
    pub fn successors(&self, state: usize) -> &[Edge] {
        let start = self.edges.partition_point(|e| e.from < state);
        let end = self.edges.partition_point(|e| e.from <= state);
        &self.edges[start..end]
    }

    /// Whether a state is accepting, in an automaton with state-based acceptance. A state that nothing leaves
    /// is not.
    pub fn is_accepting(&self, state: usize) -> bool {
        self.state_based && self.successors(state).first().is_some_and(|e| e.marks == 1)
    }

    /// All acceptance sets, as marks.
    pub fn all_marks(&self) -> u32 {
        if self.sets == 32 { u32::MAX } else { (1 << self.sets) - 1 }
    }

    /// Whether no two edges that leave the same state can be taken under the same valuation.
    pub fn is_deterministic(&self) -> bool {
        (0..self.states).all(|q| {
            let edges = self.successors(q);
            edges.iter().enumerate().all(|(i, e)| edges[..i].iter().all(|d| !labels_meet(&d.label, &e.label)))
        })
    }

    /// Whether every state has an edge for every valuation.
    pub fn is_complete(&self) -> bool {
        (0..self.states).all(|q| {
            let cubes: Vec<Cube> = self.successors(q).iter().flat_map(|e| e.label.iter().copied()).collect();
            models(&cubes, 0, self.atoms.len() as u32) == 1u128 << self.atoms.len()
        })
    }

    /// Its measures.
    pub fn size(&self) -> Size {
        Size {
            states: self.states,
            edges: self.edges.len(),
            transitions: self.edges.iter().map(|e| models(&e.label, 0, self.atoms.len() as u32)).sum(),
            sets: self.sets,
            deterministic: self.is_deterministic(),
            complete: self.is_complete(),
        }
    }

    /// Whether the invariants hold that are listed at [`Automaton`].
    pub fn check(&self) -> Result<(), InvalidAutomaton> {
        let fail = |message: String| Err(InvalidAutomaton(message));
        if self.initial >= self.states {
            return fail(format!("initial state {} of {}", self.initial, self.states));
        }
        if self.atoms.len() > 64 || self.names.len() != self.atoms.len() {
            return fail(format!("{} atoms with {} names", self.atoms.len(), self.names.len()));
        }
        if self.sets > 32 || self.state_based && self.sets != 1 {
            return fail(format!("{} acceptance sets", self.sets));
        }
        let known = if self.atoms.len() == 64 { u64::MAX } else { (1 << self.atoms.len()) - 1 };
        for (i, e) in self.edges.iter().enumerate() {
            if e.from >= self.states || e.to >= self.states || i > 0 && self.edges[i - 1].from > e.from {
                return fail(format!("edge {i} from {} to {}", e.from, e.to));
            }
            if e.marks & !self.all_marks() != 0 {
                return fail(format!("edge {i} has marks {:#b}", e.marks));
            }
            let good = |c: &Cube| c.positive & c.negative == 0 && (c.positive | c.negative) & !known == 0;
            if e.label.is_empty() || !e.label.iter().all(good) {
                return fail(format!("label of edge {i}"));
            }
            if self.state_based && i > 0 && self.edges[i - 1].from == e.from && self.edges[i - 1].marks != e.marks {
                return fail(format!("state {} is half accepting", e.from));
            }
        }
        Ok(())
    }

    /// The names of the atoms as a table in which the *i*-th name belongs to the *i*-th atom of the automaton.
    pub fn name_table(&self) -> Atoms {
        self.names.iter().collect()
    }
}

/// Whether some valuation satisfies both labels.
pub(crate) fn labels_meet(a: &[Cube], b: &[Cube]) -> bool {
    a.iter().any(|&c| b.iter().any(|&d| c.and(d).is_some()))
}

/// The number of valuations of the atoms from `atom` on that satisfy one of the cubes.
fn models(cubes: &[Cube], atom: u32, atoms: u32) -> u128 {
    if cubes.is_empty() {
        return 0;
    }
    let used = cubes.iter().fold(0, |used, c| used | c.positive | c.negative);
    let rest = if atom >= 64 { 0 } else { used >> atom };
    if cubes.iter().any(|c| atom >= 64 || (c.positive | c.negative) >> atom == 0) {
        return 1 << (atoms - atom);
    }
    let next = atom + rest.trailing_zeros();
    let bit = 1u64 << next;
    let low: Vec<Cube> = cubes.iter().copied().filter(|c| c.positive & bit == 0).collect();
    let high: Vec<Cube> = cubes.iter().copied().filter(|c| c.negative & bit == 0).collect();
    (models(&low, next + 1, atoms) + models(&high, next + 1, atoms)) << (next - atom)
}
