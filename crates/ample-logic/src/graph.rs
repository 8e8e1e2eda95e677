//! Automata while they are worked on: labels are decision diagrams, so that they can be compared and combined.

use std::collections::HashMap;

use crate::automaton::{Automaton, Cube, Edge};
use crate::bdd::{Bdd, Bdds, FALSE};
use crate::formula::Atom;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Arc {
    pub to: usize,
    pub marks: u32,
    pub label: Bdd,
}

/// A generalised Büchi automaton with acceptance on the arcs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Graph {
    pub initial: usize,
    pub sets: u32,
    pub out: Vec<Vec<Arc>>,
}

/// The strongly connected components; an arc never leads to a component of a higher number.
pub(crate) struct Components {
    /// The component of each state.
    pub of: Vec<usize>,
    /// For each component, whether an accepting cycle lies in it.
    pub accepting: Vec<bool>,
}

impl Graph {
    /// The automaton that accepts nothing.
    pub fn empty(sets: u32) -> Self {
        Graph { initial: 0, sets, out: vec![Vec::new()] }
    }

    pub fn states(&self) -> usize {
        self.out.len()
    }

    pub fn arcs(&self) -> usize {
        self.out.iter().map(Vec::len).sum()
    }

    pub fn all_marks(&self) -> u32 {
        if self.sets >= 32 { u32::MAX } else { (1 << self.sets) - 1 }
    }

    /// Joins arcs that differ only in their labels, drops those that cannot be taken, and sorts them.
    pub fn merge_arcs(&mut self, bdds: &mut Bdds) {
        for arcs in &mut self.out {
            let mut joined: HashMap<(usize, u32), Bdd> = HashMap::new();
            for arc in arcs.iter() {
                let label = joined.entry((arc.to, arc.marks)).or_insert(FALSE);
                *label = bdds.or(*label, arc.label);
            }
            *arcs = joined.into_iter().map(|((to, marks), label)| Arc { to, marks, label }).collect();
            arcs.retain(|a| a.label != FALSE);
            arcs.sort_unstable();
        }
    }

    /// The components (Tarjan, without recursion).
    pub fn components(&self) -> Components {
        let n = self.states();
        let (mut index, mut low) = (vec![usize::MAX; n], vec![0; n]);
        let mut of = vec![usize::MAX; n];
        let (mut stack, mut calls) = (Vec::new(), Vec::new());
        let (mut counter, mut count) = (0, 0);
        for root in 0..n {
            if index[root] != usize::MAX {
                continue;
            }
            calls.push((root, 0));
            while let Some((q, next)) = calls.pop() {
                if next == 0 {
                    index[q] = counter;
                    low[q] = counter;
                    counter += 1;
                    stack.push(q);
                }
                if let Some(arc) = self.out[q].get(next) {
                    calls.push((q, next + 1));
                    if index[arc.to] == usize::MAX {
                        calls.push((arc.to, 0));
                    } else if of[arc.to] == usize::MAX {
                        low[q] = low[q].min(index[arc.to]);
                    }
                    continue;
                }
                if low[q] == index[q] {
                    while let Some(p) = stack.pop() {
                        of[p] = count;
                        if p == q {
                            break;
                        }
                    }
                    count += 1;
                }
                if let Some(&(parent, _)) = calls.last() {
                    low[parent] = low[parent].min(low[q]);
                }
            }
        }
        let mut seen = vec![None; count];
        for q in 0..n {
            for arc in self.out[q].iter().filter(|a| of[a.to] == of[q]) {
                *seen[of[q]].get_or_insert(0) |= arc.marks;
            }
        }
        let accepting = seen.iter().map(|marks| *marks == Some(self.all_marks())).collect();
        Components { of, accepting }
    }

    /// Keeps the states for which `keep` holds and that can be reached through such states, and numbers them in
    /// the order of a breadth-first search.
    pub fn restrict(&mut self, keep: &[bool]) {
        if !keep[self.initial] {
            *self = Graph::empty(self.sets);
            return;
        }
        let mut number = vec![usize::MAX; self.states()];
        let mut order = vec![self.initial];
        number[self.initial] = 0;
        let mut next = 0;
        while next < order.len() {
            for arc in &self.out[order[next]] {
                if keep[arc.to] && number[arc.to] == usize::MAX {
                    number[arc.to] = order.len();
                    order.push(arc.to);
                }
            }
            next += 1;
        }
        let renamed = |q: &usize| {
            let kept = self.out[*q].iter().filter(|a| keep[a.to]);
            kept.map(|a| Arc { to: number[a.to], ..*a }).collect()
        };
        self.out = order.iter().map(renamed).collect();
        self.initial = 0;
    }

    pub fn export(&self, bdds: &mut Bdds, state_based: bool, atoms: &[Atom], names: &[String]) -> Automaton {
        let mut edges = Vec::new();
        for (from, arcs) in self.out.iter().enumerate() {
            for arc in arcs {
                let cubes = bdds.cubes(arc.label);
                let label = cubes.iter().map(|literals| {
                    literals.iter().fold(Cube::TRUE, |mut cube, &(var, sign)| {
                        *(if sign { &mut cube.positive } else { &mut cube.negative }) |= 1 << var;
                        cube
                    })
                });
                edges.push(Edge { from, label: label.collect(), to: arc.to, marks: arc.marks });
            }
        }
        Automaton {
            states: self.states(),
            initial: self.initial,
            edges,
            sets: self.sets,
            state_based,
            atoms: atoms.to_vec(),
            names: names.to_vec(),
        }
    }

    /// The graph of an automaton, over the variables `0..atoms.len()`.
    pub fn import(automaton: &Automaton, bdds: &mut Bdds) -> Graph {
        let mut out = vec![Vec::new(); automaton.states];
        for e in &automaton.edges {
            let mut label = FALSE;
            for cube in &e.label {
                let mut product = crate::bdd::TRUE;
                for var in 0..automaton.atoms.len() as u32 {
                    for (mask, sign) in [(cube.positive, true), (cube.negative, false)] {
                        if mask >> var & 1 == 1 {
                            let literal = bdds.literal(var, sign);
                            product = bdds.and(product, literal);
                        }
                    }
                }
                label = bdds.or(label, product);
            }
            out[e.from].push(Arc { to: e.to, marks: e.marks, label });
        }
        Graph { initial: automaton.initial, sets: automaton.sets, out }
    }
}
