//! Temporal properties: from the question of a property to an automaton that accepts what must not be.

pub mod claim;

use std::collections::HashMap;

use ample_logic::{Atom, Formula as Logic};
use ample_model::{Expr, Formula, ProcessId, System};

/// A formula whose atoms are numbered, and the expressions that they stand for.
#[derive(Clone, Debug)]
pub struct Numbered {
    /// The formula.
    pub formula: Logic,
    /// What its atoms stand for.
    pub atoms: Vec<Expr>,
}

impl Numbered {
    /// Numbers the atoms of a formula.
    pub fn of(formula: &Formula) -> Numbered {
        let mut numbers = HashMap::new();
        let mut atoms = Vec::new();
        let formula = number(formula, &mut |expr: &Expr| {
            *numbers.entry(expr.clone()).or_insert_with(|| {
                atoms.push(expr.clone());
                atoms.len() as u32 - 1
            })
        });
        Numbered { formula, atoms }
    }
}

fn number(formula: &Formula, atom: &mut dyn FnMut(&Expr) -> u32) -> Logic {
    match formula {
        Formula::Atom(Expr::Const(0)) => Logic::False,
        Formula::Atom(Expr::Const(_)) => Logic::True,
        Formula::Atom(expr) => Logic::atom(Atom(atom(expr))),
        Formula::Not(f) => !number(f, atom),
        Formula::Next(f) => number(f, atom).next(),
        Formula::Always(f) => number(f, atom).globally(),
        Formula::Eventually(f) => number(f, atom).finally(),
        Formula::All(f) => number(f, atom).all(),
        Formula::Exists(f) => number(f, atom).exists(),
        Formula::And(f, g) => number(f, atom) & number(g, atom),
        Formula::Or(f, g) => number(f, atom) | number(g, atom),
        Formula::Implies(f, g) => number(f, atom).implies(number(g, atom)),
        Formula::Iff(f, g) => number(f, atom).iff(number(g, atom)),
        Formula::Until(f, g) => number(f, atom).until(number(g, atom)),
        Formula::WeakUntil(f, g) => number(f, atom).weak_until(number(g, atom)),
        Formula::Release(f, g) => number(f, atom).release(number(g, atom)),
    }
}

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
pub struct Forbidden {
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

impl Forbidden {
    /// From that state on, every word is accepted.
    pub fn accepts_all_from(&self, state: u32) -> bool {
        let edges = &self.edges[state as usize];
        edges.iter().any(|edge| edge.to == state && edge.marks != 0 && edge.when.iter().any(Vec::is_empty))
    }

    /// A never claim.
    pub fn claim(system: &System, claim: ProcessId) -> Result<Forbidden, String> {
        claim::read(system, claim)
    }

    /// Runs that pass locations marked `accept` again and again.
    pub fn acceptance() -> Forbidden {
        let edge = |value, marks| Edge { when: vec![vec![(0, value)]], to: 0, marks };
        let edges = vec![vec![edge(true, 1), edge(false, 0)]];
        Forbidden { edges, initial: 0, sets: 1, atoms: vec![Expr::Accepting], stutters: true, end: u32::MAX }
    }

    /// Runs that pass locations marked `progress` only so many times.
    pub fn non_progress() -> Forbidden {
        let leaves = Edge { when: vec![vec![(0, true)]], to: 1, marks: 0 };
        let waits = Edge { when: vec![vec![]], to: 0, marks: 0 };
        let stays = Edge { when: vec![vec![(0, true)]], to: 1, marks: 1 };
        let edges = vec![vec![leaves, waits], vec![stays]];
        Forbidden { edges, initial: 0, sets: 1, atoms: vec![Expr::NonProgress], stutters: false, end: u32::MAX }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_expressions_are_one_atom() {
        let p = || Box::new(Formula::Atom(Expr::ProcessCount));
        let q = Box::new(Formula::Atom(Expr::NonProgress));
        let sure = Box::new(Formula::Atom(Expr::Const(3)));
        let f = Formula::And(Box::new(Formula::Until(p(), q)), Box::new(Formula::Implies(sure, p())));
        let numbered = Numbered::of(&f);
        assert_eq!(numbered.atoms, [Expr::ProcessCount, Expr::NonProgress]);
        let (a, b) = (Logic::atom(Atom(0)), Logic::atom(Atom(1)));
        assert_eq!(numbered.formula, a.clone().until(b) & Logic::True.implies(a));
    }
}
