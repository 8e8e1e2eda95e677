//! Formulas of LTL, CTL and, since it costs nothing, CTL*, as shared trees over numbered atoms.
//!
//! An [`Atom`] is only a number: what it means (an expression of a model, a place of a net) is known to
//! the caller alone. An [`Atoms`] table gives the numbers their names for reading and printing.
//! Subformulas are behind [`Arc`], so copying a formula or a part of it is cheap.

use std::collections::{BTreeSet, HashMap};
use std::ops::{BitAnd, BitOr, Not};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// An atomic proposition, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Atom(pub u32);

/// The names of atoms: atom number *i* is the *i*-th name that was interned.
///
/// ```
/// use ample_logic::Atoms;
/// let mut atoms = Atoms::new();
/// let p = atoms.intern("p");
/// assert_eq!(atoms.intern("p"), p);
/// assert_eq!(atoms.name(p), Some("p"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Atoms {
    names: Vec<String>,
    index: HashMap<String, Atom>,
}

impl Atoms {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// The atom of that name, which is added to the table if it is new.
    pub fn intern(&mut self, name: &str) -> Atom {
        if let Some(&atom) = self.index.get(name) {
            return atom;
        }
        let atom = Atom(self.names.len() as u32);
        self.names.push(name.to_owned());
        self.index.insert(name.to_owned(), atom);
        atom
    }

    /// The atom of that name, if there is one.
    pub fn get(&self, name: &str) -> Option<Atom> {
        self.index.get(name).copied()
    }

    /// The name of an atom of this table.
    pub fn name(&self, atom: Atom) -> Option<&str> {
        self.names.get(atom.0 as usize).map(String::as_str)
    }

    /// The name of an atom, or `p` and its number if the table does not know it.
    pub fn label(&self, atom: Atom) -> String {
        self.name(atom).map_or_else(|| format!("p{}", atom.0), str::to_owned)
    }

    /// The number of names.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is no name yet.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

impl<S: AsRef<str>> FromIterator<S> for Atoms {
    fn from_iter<I: IntoIterator<Item = S>>(names: I) -> Self {
        let mut atoms = Atoms::new();
        for name in names {
            atoms.intern(name.as_ref());
        }
        atoms
    }
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Unary {
    /// Negation.
    Not,
    /// In the next state (`X`).
    Next,
    /// Now or at some later time (`F`, `<>`).
    Finally,
    /// Now and at all later times (`G`, `[]`).
    Globally,
    /// In the state before, of which there is one (`Y`).
    Previous,
    /// In the state before, if there is one (`Z`).
    WeakPrevious,
    /// Now or at some earlier time (`O`).
    Once,
    /// Now and at all earlier times (`H`).
    Historically,
    /// On all paths from here (`A`).
    All,
    /// On some path from here (`E`).
    Exists,
}

impl Unary {
    /// Whether this is one of `Y`, `Z`, `O`, `H`.
    pub fn is_past(self) -> bool {
        matches!(self, Unary::Previous | Unary::WeakPrevious | Unary::Once | Unary::Historically)
    }
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Binary {
    /// Conjunction.
    And,
    /// Disjunction.
    Or,
    /// Implication.
    Implies,
    /// Equivalence.
    Iff,
    /// Exclusive disjunction.
    Xor,
    /// `f U g`: `g` comes, and until then `f` holds.
    Until,
    /// `f W g`: as [`Binary::Until`], or `f` holds forever.
    WeakUntil,
    /// `f R g` (`V`): `g` holds up to and including the moment when `f` holds, which may never come.
    Release,
    /// `f M g`: as [`Binary::Release`], and `f` does come.
    StrongRelease,
    /// `f S g`: `g` was, and since then `f` holds.
    Since,
    /// `f T g`: `g` holds since, and including, the moment when `f` held, or has always held.
    Triggered,
}

impl Binary {
    /// Whether this is one of `U`, `W`, `R`, `M`, `S`, `T`.
    pub fn is_temporal(self) -> bool {
        let is_future = matches!(self, Binary::Until | Binary::WeakUntil | Binary::Release | Binary::StrongRelease);
        is_future || self.is_past()
    }

    /// Whether this is one of `S`, `T`.
    pub fn is_past(self) -> bool {
        matches!(self, Binary::Since | Binary::Triggered)
    }
}

/// A formula.
///
/// ```
/// use ample_logic::{Atom, Formula};
/// let (p, q) = (Formula::atom(Atom(0)), Formula::atom(Atom(1)));
/// let response = p.implies(q.finally()).globally();
/// assert!(response.is_ltl() && !response.is_ctl());
/// assert!(!response.has_next());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Formula {
    /// Truth.
    True,
    /// Falsity.
    False,
    /// An atomic proposition.
    Atom(Atom),
    /// An operator and its operand.
    Unary(Unary, Arc<Formula>),
    /// An operator and its operands.
    Binary(Binary, Arc<Formula>, Arc<Formula>),
}

impl Formula {
    /// Whether nothing but runs can show that a formula of branching time has that value: a true `E`, or a false `A`. A
    /// true `A` and a false `E` speak of all runs, and a complete search shows them.
    ///
    /// ```
    /// use ample_logic::{Atom, Formula, Unary};
    /// let possible = Formula::unary(Unary::Exists, Formula::atom(Atom(0)).finally());
    /// assert!(possible.is_shown_by_runs(true));
    /// assert!(!possible.is_shown_by_runs(false));
    /// ```
    pub fn is_shown_by_runs(&self, value: bool) -> bool {
        // A true conjunction is shown by both of its operands, a false one by either; and the other way round.
        let both = |a, b| if value { a || b } else { a && b };
        let either = |a, b| if value { a && b } else { a || b };
        match self {
            Formula::Unary(Unary::Not, inner) => inner.is_shown_by_runs(!value),
            Formula::Unary(Unary::Exists, _) => value,
            Formula::Unary(Unary::All, _) => !value,
            Formula::Binary(Binary::And, a, b) => both(a.is_shown_by_runs(value), b.is_shown_by_runs(value)),
            Formula::Binary(Binary::Or, a, b) => either(a.is_shown_by_runs(value), b.is_shown_by_runs(value)),
            Formula::Binary(Binary::Implies, a, b) => either(a.is_shown_by_runs(!value), b.is_shown_by_runs(value)),
            _ => false,
        }
    }

    /// The formula that is just this atom.
    pub fn atom(atom: Atom) -> Self {
        Formula::Atom(atom)
    }

    /// An operator applied to an operand.
    pub fn unary(op: Unary, f: Formula) -> Self {
        Formula::Unary(op, Arc::new(f))
    }

    /// An operator applied to two operands.
    pub fn binary(op: Binary, f: Formula, g: Formula) -> Self {
        Formula::Binary(op, Arc::new(f), Arc::new(g))
    }

    /// `self -> other`.
    pub fn implies(self, other: Formula) -> Self {
        Self::binary(Binary::Implies, self, other)
    }

    /// `self <-> other`.
    pub fn iff(self, other: Formula) -> Self {
        Self::binary(Binary::Iff, self, other)
    }

    /// `X self`.
    pub fn next(self) -> Self {
        Self::unary(Unary::Next, self)
    }

    /// `F self`.
    pub fn finally(self) -> Self {
        Self::unary(Unary::Finally, self)
    }

    /// `G self`.
    pub fn globally(self) -> Self {
        Self::unary(Unary::Globally, self)
    }

    /// `self U other`.
    pub fn until(self, other: Formula) -> Self {
        Self::binary(Binary::Until, self, other)
    }

    /// `self W other`.
    pub fn weak_until(self, other: Formula) -> Self {
        Self::binary(Binary::WeakUntil, self, other)
    }

    /// `self R other`.
    pub fn release(self, other: Formula) -> Self {
        Self::binary(Binary::Release, self, other)
    }

    /// `self M other`.
    pub fn strong_release(self, other: Formula) -> Self {
        Self::binary(Binary::StrongRelease, self, other)
    }

    /// `A self`.
    pub fn all(self) -> Self {
        Self::unary(Unary::All, self)
    }

    /// `E self`.
    pub fn exists(self) -> Self {
        Self::unary(Unary::Exists, self)
    }

    /// The operands, none, one or two.
    pub fn operands(&self) -> impl Iterator<Item = &Formula> {
        let (f, g) = match self {
            Formula::Unary(_, f) => (Some(f), None),
            Formula::Binary(_, f, g) => (Some(f), Some(g)),
            _ => (None, None),
        };
        f.into_iter().chain(g).map(Arc::as_ref)
    }

    /// Whether `test` holds for this formula or for one of its subformulas.
    pub fn any(&self, test: &mut impl FnMut(&Formula) -> bool) -> bool {
        test(self) || self.operands().any(|f| f.any(test))
    }

    /// Whether no path quantifier occurs.
    pub fn is_ltl(&self) -> bool {
        !self.any(&mut |f| matches!(f, Formula::Unary(Unary::All | Unary::Exists, _)))
    }

    /// Whether neither a path quantifier nor a temporal operator occurs.
    pub fn is_propositional(&self) -> bool {
        !self.any(&mut |f| match f {
            Formula::Unary(op, _) => *op != Unary::Not,
            Formula::Binary(op, ..) => op.is_temporal(),
            _ => false,
        })
    }

    /// Whether every path quantifier stands directly before a temporal operator and every temporal operator
    /// directly behind a path quantifier.
    pub fn is_ctl(&self) -> bool {
        match self {
            Formula::True | Formula::False | Formula::Atom(_) => true,
            Formula::Unary(Unary::Not, f) => f.is_ctl(),
            Formula::Unary(Unary::All | Unary::Exists, path) => match path.as_ref() {
                Formula::Unary(Unary::Next | Unary::Finally | Unary::Globally, f) => f.is_ctl(),
                Formula::Binary(op, f, g) if op.is_temporal() && !op.is_past() => f.is_ctl() && g.is_ctl(),
                _ => false,
            },
            Formula::Unary(..) => false,
            Formula::Binary(op, f, g) => !op.is_temporal() && f.is_ctl() && g.is_ctl(),
        }
    }

    /// Whether `X`, `Y` or `Z` occurs. Without them, a formula cannot distinguish a state from its repetition: it is
    /// stutter-invariant. [`crate::is_stutter_invariant`] gives the exact answer.
    pub fn has_next(&self) -> bool {
        self.any(&mut |f| matches!(f, Formula::Unary(Unary::Next | Unary::Previous | Unary::WeakPrevious, _)))
    }

    /// Whether an operator about the past occurs.
    pub fn has_past(&self) -> bool {
        self.any(&mut |f| match f {
            Formula::Unary(op, _) => op.is_past(),
            Formula::Binary(op, ..) => op.is_past(),
            _ => false,
        })
    }

    /// The atoms that occur, each once, in ascending order.
    pub fn atoms(&self) -> Vec<Atom> {
        let mut atoms = BTreeSet::new();
        self.any(&mut |f| {
            if let Formula::Atom(atom) = f {
                atoms.insert(*atom);
            }
            false
        });
        atoms.into_iter().collect()
    }

    /// The number of atoms, constants and operators, each counted as often as it is written.
    pub fn size(&self) -> usize {
        1 + self.operands().map(Formula::size).sum::<usize>()
    }

    /// The formula with every atom replaced by what `atom` gives for it.
    pub fn substitute(&self, atom: &mut impl FnMut(Atom) -> Formula) -> Formula {
        match self {
            Formula::True | Formula::False => self.clone(),
            Formula::Atom(a) => atom(*a),
            Formula::Unary(op, f) => Self::unary(*op, f.substitute(atom)),
            Formula::Binary(op, f, g) => {
                let f = f.substitute(atom);
                Self::binary(*op, f, g.substitute(atom))
            }
        }
    }
}

impl Not for Formula {
    type Output = Formula;
    fn not(self) -> Formula {
        Formula::unary(Unary::Not, self)
    }
}

impl BitAnd for Formula {
    type Output = Formula;
    fn bitand(self, other: Formula) -> Formula {
        Formula::binary(Binary::And, self, other)
    }
}

impl BitOr for Formula {
    type Output = Formula;
    fn bitor(self, other: Formula) -> Formula {
        Formula::binary(Binary::Or, self, other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_are_told_apart() {
        let p = Formula::atom(Atom(0));
        let ctl = p.clone().finally().exists().globally().all();
        assert!(ctl.is_ctl() && !ctl.is_ltl());
        let star = p.clone().finally().globally().all();
        assert!(!star.is_ctl() && !star.is_ltl());
        assert!(p.clone().next().has_next());
        assert!((p.clone() & !p.clone()).is_propositional());
        assert_eq!((p.clone().until(p)).size(), 3);
    }
}
