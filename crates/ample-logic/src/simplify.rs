//! Negation normal form and simplification of LTL formulas.
//!
//! The rewritings themselves are in the constructors of the private module `pool`; here are the doors to them.

use crate::formula::{Binary, Formula, Unary};
use crate::pool::Pool;

/// A formula has path quantifiers where only LTL is understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the formula has path quantifiers; only LTL formulas can be treated here")]
pub struct NotLtl;

/// An equivalent LTL formula in negation normal form that is at most as hard to translate.
///
/// ```
/// use ample_logic::{Atoms, Dialect, parse, print, simplify};
/// let mut atoms = Atoms::new();
/// let f = parse("!(true U !(F(a U b) & F b))", Dialect::Plain, &mut atoms)?;
/// assert_eq!(print(&simplify(&f)?, &atoms, Dialect::Plain)?, "G F b");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn simplify(f: &Formula) -> Result<Formula, NotLtl> {
    let mut pool = Pool::new();
    let id = pool.import(f, true).ok_or(NotLtl)?;
    Ok(pool.export(id))
}

/// The formula without the constants in it, as far as what they are operands of has a value or another form because of
/// them. Path quantifiers are allowed. A next state need not exist, so `X true` stays.
///
/// ```
/// use ample_logic::{Atoms, Dialect, fold_constants, parse, print};
/// let mut atoms = Atoms::new();
/// let f = parse("E G (A F true) & A (a U (b | false))", Dialect::Plain, &mut atoms)?;
/// assert_eq!(print(&fold_constants(&f), &atoms, Dialect::Plain)?, "A(a U b)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn fold_constants(f: &Formula) -> Formula {
    match f {
        Formula::True | Formula::False | Formula::Atom(_) => f.clone(),
        Formula::Unary(op, f) => fold_unary(*op, fold_constants(f)),
        Formula::Binary(op, f, g) => fold_binary(*op, fold_constants(f), fold_constants(g)),
    }
}

fn fold_unary(op: Unary, f: Formula) -> Formula {
    match (op, f) {
        (Unary::Not, Formula::True) => Formula::False,
        (Unary::Not, Formula::False) => Formula::True,
        (Unary::Finally | Unary::Globally, f @ (Formula::True | Formula::False)) => f,
        (Unary::All | Unary::Exists, f) if speaks_of_a_state(&f) => f,
        (op, f) => Formula::unary(op, f),
    }
}

fn fold_binary(op: Binary, f: Formula, g: Formula) -> Formula {
    use Binary::*;
    use Formula::{False, True};
    match (op, f, g) {
        (And | StrongRelease, False, _) | (And | Until | Release | StrongRelease, _, False) => False,
        (Or | WeakUntil, True, _) | (Or | Until | WeakUntil | Release | Implies, _, True) | (Implies, False, _) => True,
        (And | Release | StrongRelease | Implies | Iff, True, g) => g,
        (Or | Until | WeakUntil | Xor, False, g) => g,
        (And | Iff, f, True) | (Or | Xor, f, False) => f,
        (Iff, False, f) | (Iff | Implies, f, False) | (Xor, True, f) | (Xor, f, True) => fold_unary(Unary::Not, f),
        (Until, True, f) | (StrongRelease, f, True) => f.finally(),
        (Release, False, f) | (WeakUntil, f, False) => f.globally(),
        (op, f, g) => Formula::binary(op, f, g),
    }
}

/// No temporal operator is outside a path quantifier.
fn speaks_of_a_state(f: &Formula) -> bool {
    match f {
        Formula::Unary(Unary::All | Unary::Exists, _) => true,
        Formula::Unary(Unary::Not, f) => speaks_of_a_state(f),
        Formula::Unary(..) => false,
        Formula::Binary(op, f, g) => !op.is_temporal() && speaks_of_a_state(f) && speaks_of_a_state(g),
        Formula::True | Formula::False | Formula::Atom(_) => true,
    }
}

/// The equivalent formula in which only atoms are negated and `->`, `<->`, `xor` do not occur. Path quantifiers are
/// allowed.
pub fn negation_normal_form(f: &Formula) -> Formula {
    normal_form(f, true)
}

fn normal_form(f: &Formula, positive: bool) -> Formula {
    use Binary::*;
    let both = |op: Binary, dual: Binary, f: &Formula, g: &Formula| {
        Formula::binary(if positive { op } else { dual }, normal_form(f, positive), normal_form(g, positive))
    };
    // (f & g) | (h & k), or its negation's normal form, where h = !f and k = !g up to the signs
    let cases = |f: &Formula, g: &Formula, equal: bool| {
        (normal_form(f, true) & normal_form(g, equal)) | (normal_form(f, false) & normal_form(g, !equal))
    };
    match f {
        Formula::True if positive => Formula::True,
        Formula::False if !positive => Formula::True,
        Formula::True | Formula::False => Formula::False,
        Formula::Atom(_) if positive => f.clone(),
        Formula::Atom(_) => !f.clone(),
        Formula::Unary(Unary::Not, f) => normal_form(f, !positive),
        Formula::Unary(op, f) => {
            let dual = match op {
                Unary::Finally => Unary::Globally,
                Unary::Globally => Unary::Finally,
                Unary::Previous => Unary::WeakPrevious,
                Unary::WeakPrevious => Unary::Previous,
                Unary::Once => Unary::Historically,
                Unary::Historically => Unary::Once,
                Unary::All => Unary::Exists,
                Unary::Exists => Unary::All,
                other => *other,
            };
            Formula::unary(if positive { *op } else { dual }, normal_form(f, positive))
        }
        Formula::Binary(And, f, g) => both(And, Or, f, g),
        Formula::Binary(Or, f, g) => both(Or, And, f, g),
        Formula::Binary(Implies, f, g) => {
            let (f, g) = (normal_form(f, !positive), normal_form(g, positive));
            if positive { f | g } else { f & g }
        }
        Formula::Binary(Iff, f, g) => cases(f, g, positive),
        Formula::Binary(Xor, f, g) => cases(f, g, !positive),
        Formula::Binary(Until, f, g) => both(Until, Release, f, g),
        Formula::Binary(Release, f, g) => both(Release, Until, f, g),
        Formula::Binary(WeakUntil, f, g) => both(WeakUntil, StrongRelease, f, g),
        Formula::Binary(StrongRelease, f, g) => both(StrongRelease, WeakUntil, f, g),
        Formula::Binary(Since, f, g) => both(Since, Triggered, f, g),
        Formula::Binary(Triggered, f, g) => both(Triggered, Since, f, g),
    }
}
