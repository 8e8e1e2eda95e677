//! What formulas mean: plain fixpoints over the whole graph, an operator at a time.

use std::collections::BTreeSet;

use ample_explicit::ctl::Dead;
use ample_logic::{Atom, Binary, Formula, Unary};

use crate::graph::Labelled;

/// The meaning of formulas over a graph: each is a set of states.
pub struct Meaning<'a> {
    pub graph: &'a Labelled,
    /// None where a path ends.
    successors: Vec<Option<BTreeSet<u32>>>,
}

pub type Set = Vec<bool>;

impl<'a> Meaning<'a> {
    pub fn new(graph: &'a Labelled, dead: Dead) -> Self {
        let successors = |from: u32| match (graph.edges[from as usize].is_empty(), dead) {
            (false, _) => Some(graph.successors(from)),
            (true, Dead::Stutters) => Some(BTreeSet::from([from])),
            (true, Dead::Ends) => None,
            (true, Dead::Discards) => Some(BTreeSet::new()),
        };
        Meaning { graph, successors: (0..graph.edges.len() as u32).map(successors).collect() }
    }

    pub fn holds(&self, formula: &Formula, state: u32) -> bool {
        self.set(formula)[state as usize]
    }

    pub fn set(&self, formula: &Formula) -> Set {
        let zip = |f: &Formula, g: &Formula, op: fn(bool, bool) -> bool| -> Set {
            self.set(f).into_iter().zip(self.set(g)).map(|(f, g)| op(f, g)).collect()
        };
        match formula {
            Formula::True => vec![true; self.successors.len()],
            Formula::False => vec![false; self.successors.len()],
            Formula::Atom(Atom(n)) => self.graph.labels.iter().map(|label| label >> n & 1 == 1).collect(),
            Formula::Unary(Unary::Not, f) => self.set(f).into_iter().map(|value| !value).collect(),
            Formula::Unary(Unary::Exists, path) => self.quantified(path, true),
            Formula::Unary(Unary::All, path) => self.quantified(path, false),
            Formula::Binary(Binary::And, f, g) => zip(f, g, |f, g| f && g),
            Formula::Binary(Binary::Or, f, g) => zip(f, g, |f, g| f || g),
            Formula::Binary(Binary::Implies, f, g) => zip(f, g, |f, g| !f || g),
            Formula::Binary(Binary::Iff, f, g) => zip(f, g, |f, g| f == g),
            Formula::Binary(Binary::Xor, f, g) => zip(f, g, |f, g| f != g),
            _ => panic!("not CTL"),
        }
    }

    fn quantified(&self, path: &Formula, exists: bool) -> Set {
        // What is true of the states after this one; `end` if the path ends here.
        let after = |z: &Set, state: usize, end: bool| match &self.successors[state] {
            None => end,
            Some(next) if exists => next.iter().any(|&next| z[next as usize]),
            Some(next) => next.iter().all(|&next| z[next as usize]),
        };
        let fixpoint = |start: bool, step: &dyn Fn(&Set, usize) -> bool| {
            let mut z = vec![start; self.successors.len()];
            loop {
                let next: Set = (0..z.len()).map(|state| step(&z, state)).collect();
                if next == z {
                    return z;
                }
                z = next;
            }
        };
        match path {
            Formula::Unary(Unary::Next, f) => {
                let f = self.set(f);
                (0..f.len()).map(|state| after(&f, state, !exists)).collect()
            }
            Formula::Unary(Unary::Finally, f) => {
                let f = self.set(f);
                fixpoint(false, &|z, s| f[s] || after(z, s, false))
            }
            Formula::Unary(Unary::Globally, f) => {
                let f = self.set(f);
                fixpoint(true, &|z, s| f[s] && after(z, s, true))
            }
            Formula::Binary(op, f, g) => {
                let (f, g) = (self.set(f), self.set(g));
                match op {
                    Binary::Until => fixpoint(false, &|z, s| g[s] || f[s] && after(z, s, false)),
                    Binary::WeakUntil => fixpoint(true, &|z, s| g[s] || f[s] && after(z, s, true)),
                    Binary::Release => fixpoint(true, &|z, s| g[s] && (f[s] || after(z, s, true))),
                    Binary::StrongRelease => fixpoint(false, &|z, s| g[s] && (f[s] || after(z, s, false))),
                    _ => panic!("not CTL"),
                }
            }
            _ => panic!("not CTL"),
        }
    }
}
