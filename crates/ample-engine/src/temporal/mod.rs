//! Temporal properties: from the question of a property to an automaton that accepts what must not be.

pub mod claim;

use ample_model::{Expr, ProcessId, System};

/// An edge of an automaton that reads states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// When it can be taken: one of these conjunctions of literals holds, each literal an atom and its value.
    pub when: Vec<Vec<(u32, bool)>>,
    /// The state it leads to.
    pub to: u32,
    /// The acceptance sets it belongs to.
    pub marks: u32,
}

/// An automaton that accepts the runs that must not be, in a form that can be run and checked.
pub struct ClaimAutomaton {
    /// The edges of each state.
    pub edges: Vec<Vec<Edge>>,
    /// Where it begins.
    pub initial: u32,
    /// How many acceptance sets it has.
    pub sets: u32,
    /// What its atoms stand for.
    pub atoms: Vec<Expr>,
    /// A run that does not go on repeats its last state for ever.
    pub stutters: bool,
    /// The state in which a claim has come to its end; in the one after it, an assertion of its own has failed; and in
    /// the one after that, one of its conditions was a fault.
    pub end: u32,
}

impl ClaimAutomaton {
    /// From that state on, every word is accepted.
    pub fn accepts_all_from(&self, state: u32) -> bool {
        let edges = &self.edges[state as usize];
        edges.iter().any(|edge| edge.to == state && edge.marks != 0 && edge.when.iter().any(Vec::is_empty))
    }

    /// A never claim.
    pub fn claim(system: &System, claim: ProcessId) -> Result<ClaimAutomaton, String> {
        claim::read(system, claim)
    }

    /// Runs that pass locations marked `accept` again and again.
    pub fn acceptance() -> ClaimAutomaton {
        let edge = |value, marks| Edge { when: vec![vec![(0, value)]], to: 0, marks };
        let edges = vec![vec![edge(true, 1), edge(false, 0)]];
        ClaimAutomaton { edges, initial: 0, sets: 1, atoms: vec![Expr::Accepting], stutters: true, end: u32::MAX }
    }

    /// Runs that pass locations marked `progress` only so many times.
    pub fn non_progress() -> ClaimAutomaton {
        let leaves = Edge { when: vec![vec![(0, true)]], to: 1, marks: 0 };
        let waits = Edge { when: vec![vec![]], to: 0, marks: 0 };
        let stays = Edge { when: vec![vec![(0, true)]], to: 1, marks: 1 };
        let edges = vec![vec![leaves, waits], vec![stays]];
        ClaimAutomaton { edges, initial: 0, sets: 1, atoms: vec![Expr::NonProgress], stutters: false, end: u32::MAX }
    }
}
