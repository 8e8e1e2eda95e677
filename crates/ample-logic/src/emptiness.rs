//! Emptiness of automata, their intersections, and what follows from them.

use std::collections::{HashMap, VecDeque};

use ample_budget::{Budget, Interrupted};

use crate::automaton::{Automaton, Cube, Edge, labels_meet};
use crate::bdd::{Bdd, Bdds, FALSE};
use crate::formula::{Atoms, Formula};
use crate::graph::{Arc, Graph};
use crate::semantics::Lasso;
use crate::translate::{Options, TranslateError, translate_within};

/// Whether, in a graph of edges (from, to, marks), a cycle with all marks can be reached.
pub(crate) fn has_accepting_run(states: usize, initial: usize, edges: &[(usize, usize, u32)], all: u32) -> bool {
    let mut out = vec![Vec::new(); states];
    for &(from, to, marks) in edges {
        out[from].push(Arc { to, marks, label: 0 });
    }
    let mut graph = Graph { initial, sets: all.count_ones(), out };
    let everything = vec![true; states];
    graph.restrict(&everything);
    graph.components().accepting.contains(&true)
}

/// Two automata have more than 64 atoms or more than 32 acceptance sets together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the two automata together have more than 64 atoms or more than 32 acceptance sets")]
pub struct TooManyTogether;

impl Automaton {
    /// Whether no word is accepted.
    pub fn is_empty(&self) -> bool {
        let edges: Vec<_> = self.edges.iter().map(|e| (e.from, e.to, e.marks)).collect();
        !has_accepting_run(self.states, self.initial, &edges, self.all_marks())
    }

    /// The automaton that accepts the words that both accept.
    pub fn intersection(&self, other: &Automaton) -> Result<Automaton, TooManyTogether> {
        self.intersection_within(other, &Budget::unlimited()).unwrap_or(Err(TooManyTogether))
    }

    fn intersection_within(
        &self,
        other: &Automaton,
        budget: &Budget,
    ) -> Result<Result<Automaton, TooManyTogether>, Interrupted> {
        let mut pace = budget.pace();
        let mut atoms = self.atoms.clone();
        let mut names = self.names.clone();
        for (a, name) in other.atoms.iter().zip(&other.names) {
            if !atoms.contains(a) {
                atoms.push(*a);
                names.push(name.clone());
            }
        }
        if atoms.len() > 64 || self.sets + other.sets > 32 {
            return Ok(Err(TooManyTogether));
        }
        let bits: Vec<usize> = other.atoms.iter().filter_map(|a| atoms.iter().position(|b| a == b)).collect();
        let moved = |mask: u64| {
            bits.iter().enumerate().filter(|(i, _)| mask >> i & 1 == 1).fold(0, |m, (_, bit)| m | 1u64 << bit)
        };
        let mut number = HashMap::from([((self.initial, other.initial), 0)]);
        let mut pairs = vec![(self.initial, other.initial)];
        let (mut edges, mut from) = (Vec::new(), 0);
        while from < pairs.len() {
            let (p, q) = pairs[from];
            for x in self.successors(p) {
                for y in other.successors(q) {
                    pace.step()?;
                    let other_label =
                        y.label.iter().map(|c| Cube { positive: moved(c.positive), negative: moved(c.negative) });
                    let label: Vec<Cube> =
                        other_label.flat_map(|d| x.label.iter().filter_map(move |c| c.and(d))).collect();
                    if label.is_empty() {
                        continue;
                    }
                    let to = *number.entry((x.to, y.to)).or_insert_with(|| {
                        pairs.push((x.to, y.to));
                        pairs.len() - 1
                    });
                    let marks = x.marks | if other.sets == 0 { 0 } else { y.marks << self.sets };
                    edges.push(Edge { from, label, to, marks });
                }
            }
            from += 1;
        }
        let sets = self.sets + other.sets;
        Ok(Ok(Automaton { states: pairs.len(), initial: 0, edges, sets, state_based: false, atoms, names }))
    }

    /// Whether some word is accepted by both. An automaton is included in another one exactly if it does not
    /// intersect the other's complement, which for formulas is the automaton of the negation.
    pub fn intersects(&self, other: &Automaton) -> Result<bool, TooManyTogether> {
        Ok(!self.intersection(other)?.is_empty())
    }

    /// A word that is accepted, if there is one. Its letters are over the atoms below number 64, others are false.
    pub fn accepted_word(&self) -> Option<Lasso> {
        let out: Vec<Vec<Arc>> = (0..self.states)
            .map(|q| self.successors(q).iter().map(|e| Arc { to: e.to, marks: e.marks, label: 0 }).collect())
            .collect();
        let graph = Graph { initial: self.initial, sets: self.sets, out };
        let components = graph.components();
        let goal = |q: usize| components.accepting[components.of[q]];
        let (prefix, start) = self.path(self.initial, &|_| true, &mut |e| goal(e.to), goal(self.initial))?;
        let inside = |e: &Edge| components.of[e.to] == components.of[start];
        let (mut cycle, mut at, mut seen) = (Vec::new(), start, 0);
        loop {
            let done = seen == self.all_marks();
            let mut wanted = |e: &Edge| if done { e.to == start } else { e.marks & !seen != 0 };
            if done && at == start && !cycle.is_empty() {
                break;
            }
            let (edges, to) = self.path(at, &inside, &mut wanted, false)?;
            seen |= edges.iter().fold(0, |marks, e| marks | e.marks);
            cycle.extend(edges);
            at = to;
        }
        Some(Lasso { prefix: self.letters(&prefix), cycle: self.letters(&cycle) })
    }

    /// A shortest path over `allowed` edges whose last edge is `wanted`, and where it ends; of no edge if `already`.
    fn path(
        &self,
        from: usize,
        allowed: &impl Fn(&Edge) -> bool,
        wanted: &mut impl FnMut(&Edge) -> bool,
        already: bool,
    ) -> Option<(Vec<&Edge>, usize)> {
        if already {
            return Some((Vec::new(), from));
        }
        let mut parent: HashMap<usize, &Edge> = HashMap::new();
        let mut queue = VecDeque::from([from]);
        while let Some(q) = queue.pop_front() {
            for e in self.successors(q).iter().filter(|e| allowed(e)) {
                if wanted(e) {
                    let mut path = vec![e];
                    let mut at = q;
                    while at != from {
                        let before = parent[&at];
                        path.push(before);
                        at = before.from;
                    }
                    path.reverse();
                    return Some((path, e.to));
                }
                if e.to != from && !parent.contains_key(&e.to) {
                    parent.insert(e.to, e);
                    queue.push_back(e.to);
                }
            }
        }
        None
    }

    fn letters(&self, edges: &[&Edge]) -> Vec<u64> {
        let letter = |e: &&Edge| {
            let positive = e.label.first().map_or(0, |c| c.positive);
            let bits = self.atoms.iter().enumerate().filter(|(i, a)| positive >> i & 1 == 1 && a.0 < 64);
            bits.fold(0, |letter, (_, a)| letter | 1u64 << a.0)
        };
        edges.iter().map(letter).collect()
    }
}

/// Why it could not be found out whether a formula is stutter-invariant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StutterError {
    /// There is no automaton to decide it with.
    #[error(transparent)]
    Translate(#[from] TranslateError),
    /// The automata of the formula and its negation are too large together.
    #[error(transparent)]
    TooLarge(#[from] TooManyTogether),
}

/// Whether repeating letters of a word, or leaving out repetitions, never changes the truth of an LTL formula.
///
/// Formulas without `X` are so; for others, this holds if no word that stretches one of the formula's also stretches
/// one of its negation's (Michaud, Duret-Lutz: *Practical stutter-invariance checks for ω-regular languages*, SPIN 2015).
///
/// ```
/// use ample_logic::{Atoms, Dialect, is_stutter_invariant, parse};
/// let mut atoms = Atoms::new();
/// let change = parse("F(a & X(!a & b))", Dialect::Plain, &mut atoms)?;
/// assert!(is_stutter_invariant(&change)?);
/// let twice = parse("F(a & X a)", Dialect::Plain, &mut atoms)?;
/// assert!(!is_stutter_invariant(&twice)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn is_stutter_invariant(f: &Formula) -> Result<bool, StutterError> {
    is_stutter_invariant_within(f, &Budget::unlimited())
}

/// As [`is_stutter_invariant`], within a budget.
pub fn is_stutter_invariant_within(f: &Formula, budget: &Budget) -> Result<bool, StutterError> {
    if f.is_ltl() && !f.has_next() {
        return Ok(true);
    }
    let names = Atoms::new();
    let a = translate_within(f, &names, Options::default(), budget)?;
    let b = translate_within(&!f.clone(), &names, Options::default(), budget)?;
    let interrupted = |interrupted| StutterError::from(TranslateError::Interrupted(interrupted));
    let letters = letter_classes(&[&a, &b], budget).map_err(interrupted)?;
    let (a, b) = (stretch(&a, &letters), stretch(&b, &letters));
    let both = a.intersection_within(&b, budget).map_err(interrupted)??;
    budget.check().map_err(interrupted)?;
    Ok(both.is_empty())
}

/// One valuation of each class that the labels of the automata, which have the same atoms, can distinguish.
fn letter_classes(automata: &[&Automaton], budget: &Budget) -> Result<Vec<u64>, Interrupted> {
    let mut bdds = Bdds::within(budget);
    let mut classes: Vec<Bdd> = vec![crate::bdd::TRUE];
    for automaton in automata {
        for arc in Graph::import(automaton, &mut bdds).out.iter().flatten() {
            let split = classes.iter().flat_map(|&c| [bdds.and(c, arc.label), bdds.minus(c, arc.label)]);
            let mut split: Vec<Bdd> = split.collect();
            split.retain(|&c| c != FALSE);
            classes = split;
        }
    }
    let mut one = |class: Bdd| {
        bdds.cubes(class).first().map_or(0, |c| c.iter().filter(|l| l.1).fold(0, |letter, l| letter | 1u64 << l.0))
    };
    let letters = classes.into_iter().map(&mut one).collect();
    bdds.interrupted().map_or(Ok(letters), Err)
}

/// The automaton over these letters only that accepts the words of another one with letters repeated any number of
/// times.
fn stretch(automaton: &Automaton, letters: &[u64]) -> Automaton {
    let known = if automaton.atoms.len() == 64 { u64::MAX } else { (1 << automaton.atoms.len()) - 1 };
    let cubes: Vec<Cube> = letters.iter().map(|&l| Cube { positive: l, negative: known & !l }).collect();
    let waiting = |q: usize, letter: usize| automaton.states + q * cubes.len() + letter;
    let mut edges = Vec::new();
    for e in &automaton.edges {
        for (i, &cube) in cubes.iter().enumerate().filter(|(_, c)| labels_meet(&e.label, &[**c])) {
            edges.push(Edge { from: e.from, label: vec![cube], to: e.to, marks: e.marks });
            edges.push(Edge { from: e.from, label: vec![cube], to: waiting(e.to, i), marks: e.marks });
        }
    }
    for q in 0..automaton.states {
        for (i, &cube) in cubes.iter().enumerate() {
            let from = waiting(q, i);
            edges.push(Edge { from, label: vec![cube], to: from, marks: 0 });
            edges.push(Edge { from, label: vec![cube], to: q, marks: 0 });
        }
    }
    // with no acceptance set, waiting forever would be accepted: add one that it is not in
    let sets = automaton.sets.max(1);
    if automaton.sets == 0 {
        for e in &mut edges {
            e.marks = u32::from(e.from < automaton.states);
        }
    }
    edges.sort_by_key(|e| e.from);
    let states = automaton.states * (1 + cubes.len());
    Automaton { states, edges, sets, state_based: false, ..automaton.clone() }
}
