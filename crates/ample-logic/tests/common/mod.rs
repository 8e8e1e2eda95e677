//! What the tests share: random formulas and words, and a textbook translation as an independent path.
#![allow(dead_code)]

use ample_logic::{Atom, Automaton, Binary, Cube, Edge, Formula, Lasso, Unary, negation_normal_form};
use ample_random::Random;
use std::collections::{BTreeSet, HashMap};

/// What tests make at random.
pub trait Generate {
    /// A formula with about `size` operators over `atoms` atoms.
    fn formula(&mut self, size: usize, atoms: usize) -> Formula;

    /// A word that ends in a cycle.
    fn lasso(&mut self, atoms: usize) -> Lasso;
}

impl Generate for Random {
    fn formula(&mut self, size: usize, atoms: usize) -> Formula {
        if size == 0 {
            return match self.below(12) {
                0 => Formula::True,
                1 => Formula::False,
                _ => Formula::atom(Atom(self.below(atoms) as u32)),
            };
        }
        if size == 1 || self.below(3) == 0 {
            let op = [Unary::Not, Unary::Next, Unary::Finally, Unary::Globally, Unary::Finally, Unary::Globally];
            return Formula::unary(op[self.below(op.len())], self.formula(size - 1, atoms));
        }
        use Binary::*;
        let ops = [And, And, Or, Or, Implies, Iff, Xor, Until, WeakUntil, Release, StrongRelease];
        let left = self.below(size);
        let f = self.formula(left, atoms);
        Formula::binary(ops[self.below(ops.len())], f, self.formula(size - 1 - left, atoms))
    }

    fn lasso(&mut self, atoms: usize) -> Lasso {
        let letters = |n: usize, random: &mut Random| -> Vec<u64> {
            (0..n).map(|_| random.next_u64() & ((1 << atoms) - 1)).collect()
        };
        let (p, c) = (self.below(5), 1 + self.below(4));
        let prefix = letters(p, self);
        Lasso { prefix, cycle: letters(c, self) }
    }
}

/// The tableau of Gerth, Peled, Vardi and Wolper (1995), as in the textbooks and without any optimisation.
pub fn textbook(f: &Formula) -> Automaton {
    let f = negation_normal_form(f);
    let atoms = f.atoms();
    let mut untils: Vec<Formula> = Vec::new();
    f.any(&mut |g| {
        if eventuality(g).is_some() && !untils.contains(g) {
            untils.push(g.clone());
        }
        false
    });
    type Set = BTreeSet<Formula>;
    // a node: what holds now, and what must hold next
    let mut nodes: Vec<(Set, Set)> = Vec::new();
    let mut number: HashMap<(Set, Set), usize> = HashMap::new();
    let mut edges: Vec<(usize, usize)> = Vec::new();
    let mut queue: Vec<(usize, Set)> = vec![(usize::MAX, Set::from([f]))];
    while let Some((from, goals)) = queue.pop() {
        for node in expand(goals.into_iter().collect(), Set::new(), Set::new()) {
            let fresh = !number.contains_key(&node);
            let to = *number.entry(node.clone()).or_insert(nodes.len());
            edges.push((from, to));
            if fresh {
                nodes.push(node.clone());
                queue.push((to, node.1));
            }
        }
    }
    // the initial state is 0; node i is state i + 1, and its literals label the edges into it
    let mut result = Vec::new();
    for (from, to) in edges {
        let (now, _) = &nodes[to];
        let mut cube = Cube::TRUE;
        for g in now {
            let (atom, sign) = match g {
                Formula::Atom(a) => (*a, true),
                Formula::Unary(Unary::Not, a) => match **a {
                    Formula::Atom(a) => (a, false),
                    _ => continue,
                },
                _ => continue,
            };
            let bit = 1 << atoms.iter().position(|&a| a == atom).expect("known atom");
            *(if sign { &mut cube.positive } else { &mut cube.negative }) |= bit;
        }
        let fulfilled = |u: &Formula| !now.contains(u) || eventuality(u).is_some_and(|g| holds_now(&g, now));
        let marks = untils.iter().enumerate().filter(|(_, u)| fulfilled(u)).fold(0, |m, (i, _)| m | 1 << i);
        result.push(Edge { from: from.wrapping_add(1), label: vec![cube], to: to + 1, marks });
    }
    result.sort_by_key(|e| e.from);
    result.dedup();
    let names = atoms.iter().map(|a| format!("p{}", a.0)).collect();
    let sets = untils.len() as u32;
    Automaton { states: nodes.len() + 1, initial: 0, edges: result, sets, state_based: false, atoms, names }
}

/// What an eventuality is waiting for.
fn eventuality(f: &Formula) -> Option<Formula> {
    match f {
        Formula::Unary(Unary::Finally, g) => Some((**g).clone()),
        Formula::Binary(Binary::Until, _, g) => Some((**g).clone()),
        Formula::Binary(Binary::StrongRelease, g, _) => Some((**g).clone()),
        _ => None,
    }
}

fn holds_now(f: &Formula, now: &BTreeSet<Formula>) -> bool {
    *f == Formula::True || now.contains(f)
}

type Node = (BTreeSet<Formula>, BTreeSet<Formula>);

fn expand(mut todo: Vec<Formula>, now: BTreeSet<Formula>, next: BTreeSet<Formula>) -> Vec<Node> {
    let Some(f) = todo.pop() else { return vec![(now, next)] };
    if now.contains(&f) {
        return expand(todo, now, next);
    }
    let mut now = now;
    now.insert(f.clone());
    // each alternative: what must hold now, what next
    let one = |g: &Formula| vec![g.clone()];
    let alternatives: Vec<(Vec<Formula>, Vec<Formula>)> = match &f {
        Formula::False => return Vec::new(),
        Formula::True => vec![(vec![], vec![])],
        Formula::Atom(_) => {
            if now.contains(&!f.clone()) {
                return Vec::new();
            }
            vec![(vec![], vec![])]
        }
        Formula::Unary(Unary::Not, a) => {
            if now.contains(a) {
                return Vec::new();
            }
            vec![(vec![], vec![])]
        }
        Formula::Unary(Unary::Next, g) => vec![(vec![], one(g))],
        Formula::Unary(Unary::Finally, g) => vec![(one(g), vec![]), (vec![], one(&f))],
        Formula::Unary(Unary::Globally, g) => vec![(one(g), one(&f))],
        Formula::Binary(op, a, b) => match op {
            Binary::And => vec![(vec![(**a).clone(), (**b).clone()], vec![])],
            Binary::Or => vec![(one(a), vec![]), (one(b), vec![])],
            Binary::Until | Binary::WeakUntil => vec![(one(b), vec![]), (one(a), one(&f))],
            Binary::Release | Binary::StrongRelease => {
                vec![(vec![(**a).clone(), (**b).clone()], vec![]), (one(b), one(&f))]
            }
            _ => unreachable!("not in normal form"),
        },
        _ => unreachable!("not LTL"),
    };
    let mut result = Vec::new();
    for (here, later) in alternatives {
        let mut rest = todo.clone();
        rest.extend(here);
        let mut after = next.clone();
        after.extend(later);
        result.extend(expand(rest, now.clone(), after));
    }
    result
}
