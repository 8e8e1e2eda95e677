//! What formulas and automata mean on ultimately periodic words, as plainly as possible.
//!
//! Everything else in this crate is tested against this module.

use crate::automaton::Automaton;
use crate::formula::{Atom, Binary, Formula, Unary};
use crate::simplify::NotLtl;

/// A word that ends in a cycle: the letters of `prefix` once, those of `cycle` forever. In a letter, bit *i* is the
/// value of `Atom(i)`; other atoms are false.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lasso {
    /// The letters before the cycle.
    pub prefix: Vec<u64>,
    /// The letters of the cycle, at least one.
    pub cycle: Vec<u64>,
}

impl Lasso {
    fn value(&self, position: usize, atom: Atom) -> bool {
        let letter = match self.prefix.get(position) {
            Some(&letter) => letter,
            None => self.cycle[position - self.prefix.len()],
        };
        atom.0 < 64 && letter >> atom.0 & 1 == 1
    }
}

/// Whether a word satisfies an LTL formula. The empty cycle is taken for one letter in which all atoms are false.
pub fn holds(f: &Formula, word: &Lasso) -> Result<bool, NotLtl> {
    if word.cycle.is_empty() {
        let word = Lasso { prefix: word.prefix.clone(), cycle: vec![0] };
        return holds(f, &word);
    }
    holds_with(f, word.prefix.len(), word.cycle.len(), &|position, atom| word.value(position, atom))
}

/// Whether the word of `prefix` letters followed by a cycle of `cycle` letters satisfies an LTL formula; `value` gives
/// the value of an atom at each of these positions.
pub fn holds_with(
    f: &Formula,
    prefix: usize,
    cycle: usize,
    value: &impl Fn(usize, Atom) -> bool,
) -> Result<bool, NotLtl> {
    let cycle = cycle.max(1);
    // What was before differs from one passage of the cycle to the next, but for no more passages than operators about the
    // past are nested: each of them is a machine with two states, which after one passage is constant or repeats.
    let passages = past_depth(f);
    if passages == 0 {
        return Ok(evaluate(f, prefix, cycle, value)?[0]);
    }
    let letter = |position: usize| if position < prefix { position } else { prefix + (position - prefix) % cycle };
    let values = evaluate(f, prefix + passages * cycle, cycle, &|position, atom| value(letter(position), atom))?;
    Ok(values[0])
}

/// How many operators about the past are nested.
fn past_depth(f: &Formula) -> usize {
    let inner = f.operands().map(past_depth).max().unwrap_or(0);
    let is_past = match f {
        Formula::Unary(op, _) => op.is_past(),
        Formula::Binary(op, ..) => op.is_past(),
        _ => false,
    };
    inner + usize::from(is_past)
}

/// The truth of a formula at each position.
fn evaluate(
    f: &Formula,
    prefix: usize,
    cycle: usize,
    value: &impl Fn(usize, Atom) -> bool,
) -> Result<Vec<bool>, NotLtl> {
    let n = prefix + cycle;
    // the least or greatest solution of v[i] = now(i) | stay(i) & v[i + 1], from the back, twice around the cycle
    let fixpoint = |now: &dyn Fn(usize) -> bool, stay: &dyn Fn(usize) -> bool, greatest: bool| {
        let mut v = vec![greatest; n];
        for _ in 0..2 {
            for i in (0..n).rev() {
                let next = if i + 1 < n { v[i + 1] } else { v[prefix] };
                v[i] = now(i) || stay(i) && next;
            }
        }
        v
    };
    // v[i] = now(i) | stay(i) & v[i - 1], from the front, where `before` is what there was before the first position
    let since = |now: &dyn Fn(usize) -> bool, stay: &dyn Fn(usize) -> bool, before: bool| {
        let mut v = vec![false; n];
        for i in 0..n {
            v[i] = now(i) || stay(i) && if i > 0 { v[i - 1] } else { before };
        }
        v
    };
    Ok(match f {
        Formula::True => vec![true; n],
        Formula::False => vec![false; n],
        Formula::Atom(a) => (0..n).map(|i| value(i, *a)).collect(),
        Formula::Unary(op, f) => {
            let v = evaluate(f, prefix, cycle, value)?;
            match op {
                Unary::Not => v.iter().map(|x| !x).collect(),
                Unary::Next => (0..n).map(|i| if i + 1 < n { v[i + 1] } else { v[prefix] }).collect(),
                Unary::Finally => fixpoint(&|i| v[i], &|_| true, false),
                Unary::Globally => fixpoint(&|_| false, &|i| v[i], true),
                Unary::Previous => (0..n).map(|i| i > 0 && v[i - 1]).collect(),
                Unary::WeakPrevious => (0..n).map(|i| i == 0 || v[i - 1]).collect(),
                Unary::Once => since(&|i| v[i], &|_| true, false),
                Unary::Historically => since(&|_| false, &|i| v[i], true),
                Unary::All | Unary::Exists => return Err(NotLtl),
            }
        }
        Formula::Binary(op, f, g) => {
            let (v, w) = (evaluate(f, prefix, cycle, value)?, evaluate(g, prefix, cycle, value)?);
            match op {
                Binary::And => (0..n).map(|i| v[i] && w[i]).collect(),
                Binary::Or => (0..n).map(|i| v[i] || w[i]).collect(),
                Binary::Implies => (0..n).map(|i| !v[i] || w[i]).collect(),
                Binary::Iff => (0..n).map(|i| v[i] == w[i]).collect(),
                Binary::Xor => (0..n).map(|i| v[i] != w[i]).collect(),
                Binary::Until => fixpoint(&|i| w[i], &|i| v[i], false),
                Binary::WeakUntil => fixpoint(&|i| w[i], &|i| v[i], true),
                Binary::StrongRelease => fixpoint(&|i| v[i] && w[i], &|i| w[i], false),
                Binary::Release => fixpoint(&|i| v[i] && w[i], &|i| w[i], true),
                Binary::Since => since(&|i| w[i], &|i| v[i], false),
                Binary::Triggered => since(&|i| v[i] && w[i], &|i| w[i], true),
            }
        }
    })
}

impl Automaton {
    /// Whether the automaton accepts a word.
    pub fn accepts(&self, word: &Lasso) -> bool {
        if word.cycle.is_empty() {
            return self.accepts(&Lasso { prefix: word.prefix.clone(), cycle: vec![0] });
        }
        self.accepts_with(word.prefix.len(), word.cycle.len(), &|position, atom| word.value(position, atom))
    }

    /// Whether the automaton accepts the word of `prefix` letters followed by a cycle of `cycle` letters; `value` gives
    /// the value of an atom at each of these positions.
    pub fn accepts_with(&self, prefix: usize, cycle: usize, value: &impl Fn(usize, Atom) -> bool) -> bool {
        let n = prefix + cycle.max(1);
        let letter = |i: usize| {
            let bits = self.atoms.iter().enumerate().filter(|&(_, &a)| value(i, a));
            bits.fold(0u64, |letter, (bit, _)| letter | 1 << bit)
        };
        let letters: Vec<u64> = (0..n).map(letter).collect();
        let mut edges = Vec::new();
        for (i, &letter) in letters.iter().enumerate() {
            let next = if i + 1 < n { i + 1 } else { prefix };
            for e in self.edges.iter().filter(|e| e.label.iter().any(|c| c.matches(letter))) {
                edges.push((i * self.states + e.from, next * self.states + e.to, e.marks));
            }
        }
        crate::emptiness::has_accepting_run(n * self.states, self.initial, &edges, self.all_marks())
    }
}
