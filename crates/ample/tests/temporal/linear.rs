//! Linear time: the elementary sets of a formula's closure as an automaton (Baier and Katoen, *Principles of Model
//! Checking*, 5.2), and the automata for acceptance and progress.

use ample_model::{Expr, Interpreter};

use super::emptiness::Automaton;
use super::graph::Graph;
use super::tree::Formula;

/// The letter of every node: bit *i* is the value of the *i*-th atom, a fault counting as false; 0 in transient nodes.
pub fn letters(graph: &Graph, interpreter: &Interpreter<'_>, atoms: &[Expr]) -> Vec<u8> {
    let mut letters = vec![0; graph.nodes.len()];
    for (bit, atom) in atoms.iter().enumerate() {
        for (letter, truth) in letters.iter_mut().zip(graph.truth_or_fault(interpreter, atom)) {
            *letter |= u8::from(truth) << bit;
        }
    }
    letters
}

/// The distinct atoms of a formula.
pub fn atoms(formula: &Formula) -> Vec<Expr> {
    let mut atoms = Vec::new();
    collect(formula, &mut atoms);
    atoms
}

fn collect(formula: &Formula, atoms: &mut Vec<Expr>) {
    match formula {
        Formula::Atom(expr) => {
            if !atoms.contains(expr) {
                atoms.push(expr.clone());
            }
        }
        Formula::Not(x)
        | Formula::Next(x)
        | Formula::Always(x)
        | Formula::Eventually(x)
        | Formula::All(x)
        | Formula::Exists(x) => collect(x, atoms),
        Formula::And(x, y)
        | Formula::Or(x, y)
        | Formula::Implies(x, y)
        | Formula::Iff(x, y)
        | Formula::Until(x, y)
        | Formula::WeakUntil(x, y)
        | Formula::Release(x, y) => {
            collect(x, atoms);
            collect(y, atoms);
        }
    }
}

/// A formula of the closure, over the numbers of those before it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    True,
    Atom(usize),
    Not(usize),
    And(usize, usize),
    Next(usize),
    Until(usize, usize),
}

/// The parts of a formula, everything else being written in terms of these few operators.
struct Closure<'a> {
    atoms: &'a [Expr],
    parts: Vec<Part>,
}

impl Closure<'_> {
    fn add(&mut self, part: Part) -> usize {
        self.parts.iter().position(|known| *known == part).unwrap_or_else(|| {
            self.parts.push(part);
            self.parts.len() - 1
        })
    }

    fn not(&mut self, x: usize) -> usize {
        match self.parts[x] {
            Part::Not(inner) => inner,
            _ => self.add(Part::Not(x)),
        }
    }

    fn and(&mut self, x: usize, y: usize) -> usize {
        self.add(Part::And(x, y))
    }

    fn or(&mut self, x: usize, y: usize) -> usize {
        let (x, y) = (self.not(x), self.not(y));
        let neither = self.and(x, y);
        self.not(neither)
    }

    /// There is a moment at which `y` holds, and `x` holds at all moments before.
    fn until(&mut self, x: usize, y: usize) -> usize {
        self.add(Part::Until(x, y))
    }

    fn formula(&mut self, formula: &Formula) -> usize {
        match formula {
            Formula::Atom(expr) => {
                let atom = self.atoms.iter().position(|atom| atom == expr).expect("all atoms are listed");
                self.add(Part::Atom(atom))
            }
            Formula::Not(x) => {
                let x = self.formula(x);
                self.not(x)
            }
            Formula::And(x, y) => {
                let (x, y) = (self.formula(x), self.formula(y));
                self.and(x, y)
            }
            Formula::Or(x, y) => {
                let (x, y) = (self.formula(x), self.formula(y));
                self.or(x, y)
            }
            Formula::Implies(x, y) => {
                let (x, y) = (self.formula(x), self.formula(y));
                let x = self.not(x);
                self.or(x, y)
            }
            Formula::Iff(x, y) => {
                let (x, y) = (self.formula(x), self.formula(y));
                let both = self.and(x, y);
                let (x, y) = (self.not(x), self.not(y));
                let neither = self.and(x, y);
                self.or(both, neither)
            }
            Formula::Next(x) => {
                let x = self.formula(x);
                self.add(Part::Next(x))
            }
            Formula::Eventually(x) => {
                let (truth, x) = (self.add(Part::True), self.formula(x));
                self.until(truth, x)
            }
            Formula::Always(x) => {
                let (truth, x) = (self.add(Part::True), self.formula(x));
                let x = self.not(x);
                let sometimes_not = self.until(truth, x);
                self.not(sometimes_not)
            }
            Formula::Until(x, y) => {
                let (x, y) = (self.formula(x), self.formula(y));
                self.until(x, y)
            }
            // Not: `y` fails up to a moment at which `x` fails as well.
            Formula::WeakUntil(x, y) => {
                let (x, y) = (self.formula(x), self.formula(y));
                let (x, y) = (self.not(x), self.not(y));
                let neither = self.and(x, y);
                let broken = self.until(y, neither);
                self.not(broken)
            }
            // Not: `x` fails up to a moment at which `y` fails.
            Formula::Release(x, y) => {
                let (x, y) = (self.formula(x), self.formula(y));
                let (x, y) = (self.not(x), self.not(y));
                let broken = self.until(x, y);
                self.not(broken)
            }
            Formula::All(_) | Formula::Exists(_) => panic!("a quantifier in linear time"),
        }
    }
}

/// The automaton of the words that do *not* satisfy a formula. Its states are the elementary sets: which formulas of
/// the closure hold from here on, as far as that is not contradictory.
pub struct Tableau<'a> {
    letters: &'a [u8],
    whole: usize,
    untils: Vec<(usize, usize)>,
    /// The letter of a set, and its members as bits.
    sets: Vec<(u8, u64)>,
    /// The sets that may come after each.
    after: Vec<Vec<usize>>,
}

impl<'a> Tableau<'a> {
    /// The automaton for the negation of the formula, over the nodes that have these letters.
    pub fn against(formula: &Formula, atoms: &[Expr], letters: &'a [u8]) -> Tableau<'a> {
        let mut closure = Closure { atoms, parts: Vec::new() };
        let whole = closure.formula(formula);
        let parts = closure.parts;
        assert!(parts.len() <= 64, "a formula that is too large for this test");
        let letter_count = 1u8 << atoms.len();
        let sets: Vec<(u8, u64)> = (0..letter_count)
            .flat_map(|letter| elementary(&parts, letter).into_iter().map(move |members| (letter, members)))
            .collect();
        let after =
            sets.iter().map(|(_, from)| (0..sets.len()).filter(|&to| follows(&parts, *from, sets[to].1)).collect());
        let after = after.collect();
        let untils = parts.iter().enumerate().filter_map(|(number, part)| match part {
            Part::Until(_, y) => Some((number, *y)),
            _ => None,
        });
        Tableau { letters, whole, untils: untils.collect(), sets, after }
    }
}

fn has(members: u64, part: usize) -> bool {
    members >> part & 1 == 1
}

/// All elementary sets with that letter.
fn elementary(parts: &[Part], letter: u8) -> Vec<u64> {
    let mut sets = vec![0u64];
    for (number, part) in parts.iter().enumerate() {
        let mut grown = Vec::new();
        for members in sets {
            let (may_hold, may_fail) = match *part {
                Part::True => (true, false),
                Part::Atom(atom) => (letter >> atom & 1 == 1, letter >> atom & 1 == 0),
                Part::Not(x) => (!has(members, x), has(members, x)),
                Part::And(x, y) => {
                    let both = has(members, x) && has(members, y);
                    (both, !both)
                }
                Part::Next(_) => (true, true),
                Part::Until(x, y) => (has(members, x) || has(members, y), !has(members, y)),
            };
            grown.extend(may_hold.then_some(members | 1 << number));
            grown.extend(may_fail.then_some(members));
        }
        sets = grown;
    }
    sets
}

/// What one set says about the next moment is what the other says about its own.
fn follows(parts: &[Part], from: u64, to: u64) -> bool {
    parts.iter().enumerate().all(|(number, part)| match *part {
        Part::Next(x) => has(from, number) == has(to, x),
        Part::Until(x, y) => has(from, number) == (has(from, y) || has(from, x) && has(to, number)),
        _ => true,
    })
}

impl Automaton for Tableau<'_> {
    fn start(&self, node: usize) -> Vec<usize> {
        let fits = |&set: &usize| self.sets[set].0 == self.letters[node] && !has(self.sets[set].1, self.whole);
        (0..self.sets.len()).filter(fits).collect()
    }

    fn next(&self, state: usize, node: usize) -> Vec<usize> {
        self.after[state].iter().copied().filter(|&set| self.sets[set].0 == self.letters[node]).collect()
    }

    /// A set for every until: it is not promised, or the promise is kept.
    fn marks(&self, state: usize, _: usize) -> u64 {
        let members = self.sets[state].1;
        let kept = |&(until, y): &(usize, usize)| !has(members, until) || has(members, y);
        (0..).zip(&self.untils).filter(|(_, until)| kept(until)).fold(0, |marks, (bit, _)| marks | 1 << bit)
    }

    fn sets(&self) -> u32 {
        self.untils.len() as u32
    }
}

/// Accepts the runs that come again and again to a node where this is true.
pub struct Again<'a>(pub &'a [bool]);

impl Automaton for Again<'_> {
    fn start(&self, _: usize) -> Vec<usize> {
        vec![0]
    }

    fn next(&self, _: usize, _: usize) -> Vec<usize> {
        vec![0]
    }

    fn marks(&self, _: usize, node: usize) -> u64 {
        self.0[node].into()
    }

    fn sets(&self) -> u32 {
        1
    }
}

/// Accepts the runs that from some moment on are at nodes where this is true: state 1 has seen that moment.
pub struct FromThenOn<'a>(pub &'a [bool]);

impl Automaton for FromThenOn<'_> {
    fn start(&self, node: usize) -> Vec<usize> {
        self.next(0, node)
    }

    fn next(&self, state: usize, node: usize) -> Vec<usize> {
        match (state, self.0[node]) {
            (0, true) => vec![0, 1],
            (0, false) => vec![0],
            (_, true) => vec![1],
            (_, false) => vec![],
        }
    }

    fn marks(&self, state: usize, _: usize) -> u64 {
        state as u64
    }

    fn sets(&self) -> u32 {
        1
    }
}
