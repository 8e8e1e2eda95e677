//! Linear time that branching time can express.
//!
//! "Every run satisfies `f`" is a formula of CTL for many `f` that people write: invariants, responses `G (p -> F q)`,
//! recurrence `G F p`. Then no automaton is needed, and who evaluates CTL well evaluates these well.

use crate::{Binary, Formula, Unary, negation_normal_form};

/// A formula of CTL that holds in exactly the states all of whose runs satisfy the given one of LTL; `None` if this simple
/// translation knows none. Runs are endless: a state without a next one repeats itself.
///
/// ```
/// use ample_logic::{Atoms, Dialect, as_ctl, parse};
///
/// let mut atoms = Atoms::new();
/// let response = parse("[] (p -> <> q)", Dialect::Spin, &mut atoms)?;
/// let ctl = as_ctl(&response).unwrap();
/// assert!(ctl.is_ctl());
/// // A run may stay where all is well for ever although others leave it again and again: that is no CTL.
/// let stable = parse("<> [] p", Dialect::Spin, &mut atoms)?;
/// assert!(as_ctl(&stable).is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn as_ctl(formula: &Formula) -> Option<Formula> {
    if formula.is_ltl() { translated(&negation_normal_form(formula)) } else { None }
}

/// In each case: all runs from a state satisfy the formula if and only if the state satisfies the translation. The part
/// that decides how long another one must hold is always a plain condition, so that it is seen at once where it holds.
fn translated(formula: &Formula) -> Option<Formula> {
    if formula.is_propositional() {
        return Some(formula.clone());
    }
    Some(match formula {
        Formula::Binary(Binary::And, f, g) => translated(f)? & translated(g)?,
        Formula::Binary(Binary::Or, f, g) if f.is_propositional() => (**f).clone() | translated(g)?,
        Formula::Binary(Binary::Or, f, g) if g.is_propositional() => translated(f)? | (**g).clone(),
        Formula::Unary(Unary::Next, f) => translated(f)?.next().all(),
        Formula::Unary(Unary::Globally, f) => translated(f)?.globally().all(),
        Formula::Unary(Unary::Finally, f) if f.is_propositional() => (**f).clone().finally().all(),
        Formula::Binary(op @ (Binary::Until | Binary::WeakUntil), f, g) if g.is_propositional() => {
            Formula::binary(*op, translated(f)?, (**g).clone()).all()
        }
        Formula::Binary(op @ (Binary::Release | Binary::StrongRelease), f, g) if f.is_propositional() => {
            Formula::binary(*op, (**f).clone(), translated(g)?).all()
        }
        _ => return None,
    })
}
