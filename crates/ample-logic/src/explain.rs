//! What explains the value of a formula, for every engine that shows why a formula holds or not: which operands of a
//! Boolean operator do, and what a path must be like.

use crate::formula::{Binary, Formula, Unary};

/// What a path must be like to satisfy a path formula of CTL: its outermost operator as one of three.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathFormula {
    /// `X f`
    Next(Formula),
    /// `f U g`
    Until(Formula, Formula),
    /// `f R g`: the second until, and while, the first; or for ever.
    Release(Formula, Formula),
}

impl PathFormula {
    /// What a path must be like to show that `E path` holds. None if that is not CTL.
    pub fn of(path: &Formula) -> Option<PathFormula> {
        Some(match path {
            Formula::Unary(Unary::Next, f) => PathFormula::Next(f.as_ref().clone()),
            Formula::Unary(Unary::Finally, f) => PathFormula::Until(Formula::True, f.as_ref().clone()),
            Formula::Unary(Unary::Globally, f) => PathFormula::Release(Formula::False, f.as_ref().clone()),
            Formula::Binary(op, f, g) => {
                let both = |op: Binary| Formula::Binary(op, f.clone(), g.clone());
                let (f, g) = (f.as_ref().clone(), g.as_ref().clone());
                match op {
                    Binary::Until => PathFormula::Until(f, g),
                    Binary::Release => PathFormula::Release(f, g),
                    // f W g is g R (f ∨ g), f M g is g U (f ∧ g).
                    Binary::WeakUntil => PathFormula::Release(g, both(Binary::Or)),
                    Binary::StrongRelease => PathFormula::Until(g, both(Binary::And)),
                    _ => return None,
                }
            }
            _ => return None,
        })
    }

    /// What a path must be like to show that `A path` does not hold, where all operands count as negated.
    #[must_use]
    pub fn dual(self) -> PathFormula {
        match self {
            PathFormula::Next(f) => PathFormula::Next(f),
            PathFormula::Until(f, g) => PathFormula::Release(f, g),
            PathFormula::Release(f, g) => PathFormula::Until(f, g),
        }
    }

    /// What a path must be like to show the value of `E path`, if that is true, or of `A path`, if that is false; its
    /// operands have the same value.
    pub fn showing(path: &Formula, holds: bool) -> Option<PathFormula> {
        let path_formula = PathFormula::of(path)?;
        Some(if holds { path_formula } else { path_formula.dual() })
    }
}

/// Values of two operands; one that does not matter has none.
pub type Operands = [Option<bool>; 2];

/// The values of operands that are enough to give a Boolean operator that value. Empty for temporal operators.
///
/// ```
/// use ample_logic::Binary;
/// use ample_logic::explain::sufficient;
///
/// // A conjunction is false as soon as one of its operands is.
/// assert_eq!(sufficient(Binary::And, false), [[Some(false), None], [None, Some(false)]]);
/// ```
pub fn sufficient(op: Binary, value: bool) -> &'static [Operands] {
    const T: Option<bool> = Some(true);
    const F: Option<bool> = Some(false);
    match (op, value) {
        (Binary::And, true) => &[[T, T]],
        (Binary::And, false) => &[[F, None], [None, F]],
        (Binary::Or, true) => &[[T, None], [None, T]],
        (Binary::Or, false) => &[[F, F]],
        (Binary::Implies, true) => &[[F, None], [None, T]],
        (Binary::Implies, false) => &[[T, F]],
        (Binary::Iff, true) | (Binary::Xor, false) => &[[T, T], [F, F]],
        (Binary::Iff, false) | (Binary::Xor, true) => &[[T, F], [F, T]],
        _ => &[],
    }
}

/// The operands whose values explain that `f op g` has that value. Where one alone does, the second is asked for its
/// value first if it `is_simpler`.
pub fn explaining<E>(
    op: Binary,
    operands: [&Formula; 2],
    value: bool,
    is_simpler: bool,
    mut value_of: impl FnMut(&Formula) -> Result<bool, E>,
) -> Result<Vec<&Formula>, E> {
    let mut choices = sufficient(op, value).to_vec();
    if choices.iter().any(|[f, g]| f.is_some() && g.is_some()) {
        return Ok(operands.to_vec());
    }
    if is_simpler {
        choices.reverse();
    }
    for choice in choices {
        for (operand, wanted) in operands.iter().zip(choice) {
            if let Some(wanted) = wanted
                && value_of(operand)? == wanted
            {
                return Ok(vec![operand]);
            }
        }
    }
    Ok(Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_are_sufficient_exactly_where_they_give_the_operator_its_value() {
        let meaning = |op: Binary, f: bool, g: bool| match op {
            Binary::And => f && g,
            Binary::Or => f || g,
            Binary::Implies => !f || g,
            Binary::Iff => f == g,
            _ => f != g,
        };
        for op in [Binary::And, Binary::Or, Binary::Implies, Binary::Iff, Binary::Xor] {
            for (f, g) in [(false, false), (false, true), (true, false), (true, true)] {
                for value in [false, true] {
                    let covered =
                        sufficient(op, value).iter().any(|[x, y]| x.is_none_or(|x| x == f) && y.is_none_or(|y| y == g));
                    assert_eq!(covered, meaning(op, f, g) == value, "{op:?} {f} {g}");
                }
            }
        }
    }
}
