//! Formulas that cannot be evaluated: one is violated if a part of it without temporal operators is a fault in a
//! reachable state outside atomic sequences. A part is evaluated from the left, and no further than needed.

use ample::Question;
use ample_model::{Expr, Fault, Interpreter, State};

use super::graph::Graph;
use super::tree::Formula;

/// Some part of the formula is a fault in the state.
pub fn is_fault(interpreter: &Interpreter<'_>, state: &State, formula: &Formula) -> bool {
    match (value(interpreter, state, formula), formula) {
        (Some(value), _) => value.is_err(),
        (
            None,
            Formula::Not(x)
            | Formula::Next(x)
            | Formula::Always(x)
            | Formula::Eventually(x)
            | Formula::All(x)
            | Formula::Exists(x),
        ) => is_fault(interpreter, state, x),
        (
            None,
            Formula::And(x, y)
            | Formula::Or(x, y)
            | Formula::Implies(x, y)
            | Formula::Iff(x, y)
            | Formula::Until(x, y)
            | Formula::WeakUntil(x, y)
            | Formula::Release(x, y),
        ) => is_fault(interpreter, state, x) || is_fault(interpreter, state, y),
        (None, Formula::Atom(_)) => unreachable!("an atom has a value or is a fault"),
    }
}

/// The value of a formula without temporal operators.
fn value(interpreter: &Interpreter<'_>, state: &State, formula: &Formula) -> Option<Result<bool, Fault>> {
    let inner = |x: &Formula| value(interpreter, state, x);
    Some(match formula {
        Formula::Atom(expr) => interpreter.evaluate(state, None, expr).map(|value| value != 0),
        Formula::Not(x) => inner(x)?.map(|x| !x),
        Formula::And(x, y) => unless(inner(x)?, false, inner(y)?, false),
        Formula::Or(x, y) => unless(inner(x)?, true, inner(y)?, true),
        Formula::Implies(x, y) => unless(inner(x)?, false, inner(y)?, true),
        Formula::Iff(x, y) => {
            let (x, y) = (inner(x)?, inner(y)?);
            x.and_then(|x| Ok(x == y?))
        }
        _ => return None,
    })
}

/// If the left side has the value that decides, the result is that one; else it is the right side.
fn unless(x: Result<bool, Fault>, decides: bool, y: Result<bool, Fault>, result: bool) -> Result<bool, Fault> {
    match x {
        Ok(x) if x == decides => Ok(result),
        Ok(_) => y,
        fault => fault,
    }
}

/// The formula of a question.
pub fn formula_of(question: &Question) -> Option<Formula> {
    match question {
        Question::Ltl(temporal) | Question::Ctl(temporal) => Some(Formula::of(temporal)),
        _ => None,
    }
}

/// The question, or one of the conditions of justice, is a fault somewhere.
pub fn meets_fault(interpreter: &Interpreter<'_>, graph: &Graph, question: &Question, justice: &[Expr]) -> bool {
    let states = || graph.nodes.iter().filter(|node| node.visible && node.state.control.is_none());
    let justice = justice.iter().cloned().map(Formula::Atom);
    let mut formulas = justice.chain(formula_of(question));
    formulas.any(|formula| states().any(|node| is_fault(interpreter, &node.state, &formula)))
}
