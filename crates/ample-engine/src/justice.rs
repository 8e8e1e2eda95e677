//! Justice: of all runs, only those count on which each of some conditions holds again and again.
//!
//! In linear time that is a formula, `(G F e1 ∧ G F e2 …) → f`, and every engine can do it. In branching time the path
//! quantifiers mean something else then, which the symbolic engine knows.

use ample_logic::{Binary, Formula, Unary};
use ample_model::{AtomTable, Expr, Property, Question, Temporal};

use crate::report::{Report, Verdict};

/// These properties, of the runs that are just.
pub fn under(properties: &[Property], justice: &[Expr]) -> Vec<Property> {
    let just = |property: &Property| {
        let question = match &property.question {
            Question::Ltl(temporal) => Question::Ltl(only_if_just(temporal, justice)),
            Question::Acceptance => Question::Ltl(only_if_just(&no_acceptance(), justice)),
            other => other.clone(),
        };
        Property { question, ..property.clone() }
    };
    properties.iter().map(just).collect()
}

/// From some moment on, nobody stands at a label `accept`.
pub fn no_acceptance() -> Temporal {
    let accepting = Temporal::state(Expr::Accepting);
    accepting.with((!accepting.formula.clone()).globally().finally())
}

/// Each holds again and again, or nothing is asked.
fn only_if_just(temporal: &Temporal, justice: &[Expr]) -> Temporal {
    let mut table = AtomTable::new();
    let formula = table.import(temporal);
    let again = justice.iter().map(|expr| table.formula(expr.clone()).finally().globally());
    let formula = match again.reduce(|f, g| f & g) {
        Some(all) => all.implies(formula),
        None => formula,
    };
    Temporal::new(formula, table)
}

/// The property, of the runs on which, for each of these pairs, the second holds again and again if the first does. Only
/// properties of linear time are about that.
pub fn with_compassion(property: &Property, compassion: &[(Expr, Expr)]) -> Property {
    let Question::Ltl(temporal) = &property.question else { return property.clone() };
    let mut table = AtomTable::new();
    let formula = table.import(temporal);
    let formula = compassion.iter().fold(formula, |formula, (first, second)| {
        let [first, second] = [first, second].map(|expr| table.formula(expr.clone()).finally().globally());
        first.implies(second).implies(formula)
    });
    Property { question: Question::Ltl(Temporal::new(formula, table)), ..property.clone() }
}

/// A formula of branching time whose paths need not count, as one in which it is said that they do: where a finite path
/// decides, a path that counts goes on from its end, which is `EG true` if the engine has `EG` mean those that count. A state
/// from which none begins satisfies it.
///
/// ```
/// use ample_engine::justice::over_counted_paths;
/// use ample_logic::{Atom, Formula};
///
/// let p = Formula::atom(Atom(0));
/// let on = Formula::True.globally().exists();
/// assert_eq!(over_counted_paths(&p.clone().next().exists()), on.clone().implies((p & on).next().exists()));
/// ```
pub fn over_counted_paths(formula: &Formula) -> Formula {
    Formula::True.globally().exists().implies(with_counted_paths(formula))
}

/// The same where a state from which no path that counts begins satisfies no formula that asks for one.
pub fn with_counted_paths(formula: &Formula) -> Formula {
    counted(formula, &Formula::True.globally().exists())
}

fn counted(formula: &Formula, on: &Formula) -> Formula {
    let inner = |f: &Formula| counted(f, on);
    match formula {
        Formula::True | Formula::False | Formula::Atom(_) => formula.clone(),
        Formula::Unary(quantifier @ (Unary::All | Unary::Exists), path) => {
            let exists = *quantifier == Unary::Exists;
            // Where a finite path decides that there is one, it goes on; where one decides that not all are so, too.
            let reached = |f: Formula| if exists { f & on.clone() } else { on.clone().implies(f) };
            let path = match &**path {
                Formula::Unary(Unary::Next, f) => reached(inner(f)).next(),
                Formula::Unary(Unary::Finally, f) if exists => reached(inner(f)).finally(),
                Formula::Unary(Unary::Globally, f) if !exists => reached(inner(f)).globally(),
                Formula::Unary(op, f) => Formula::unary(*op, inner(f)),
                Formula::Binary(op, f, g) => {
                    let (f, g) = (inner(f), inner(g));
                    let (f, g) = match (op, exists) {
                        (Binary::Until | Binary::WeakUntil, true) => (f, reached(g)),
                        (Binary::Until | Binary::WeakUntil, false) => (reached(f), g),
                        (Binary::Release | Binary::StrongRelease, true) => (reached(f), g),
                        _ => (f, reached(g)),
                    };
                    Formula::binary(*op, f, g)
                }
                other => inner(other),
            };
            Formula::unary(*quantifier, path)
        }
        Formula::Unary(op, f) => Formula::unary(*op, inner(f)),
        Formula::Binary(op, f, g) => Formula::binary(*op, inner(f), inner(g)),
    }
}

/// The formula that [`over_counted_paths`] was given, or a part of it: what the user asked.
///
/// ```
/// use ample_engine::justice::{as_asked, over_counted_paths};
/// use ample_logic::{Atom, Formula};
///
/// let p = Formula::atom(Atom(0));
/// let asked = (p.clone().finally().all() & p.next().exists()).globally().all();
/// assert_eq!(as_asked(&over_counted_paths(&asked)), asked);
/// ```
pub fn as_asked(formula: &Formula) -> Formula {
    match formula {
        Formula::Binary(Binary::Implies, on, f) if is_counted(on) => as_asked(f),
        Formula::Binary(Binary::And, f, on) if is_counted(on) => as_asked(f),
        Formula::Binary(op, f, g) => Formula::binary(*op, as_asked(f), as_asked(g)),
        Formula::Unary(op, f) => Formula::unary(*op, as_asked(f)),
        Formula::True | Formula::False | Formula::Atom(_) => formula.clone(),
    }
}

/// Whether a formula says that a path that counts goes on from here.
pub fn is_counted(formula: &Formula) -> bool {
    let Formula::Unary(Unary::Exists, path) = formula else { return false };
    matches!(&**path, Formula::Unary(Unary::Globally, always) if **always == Formula::True)
}

/// Why a question cannot be asked of just runs only.
pub fn refusal(question: &Question, justice: &[Expr]) -> Option<&'static str> {
    match question {
        _ if justice.is_empty() => None,
        Question::Never(_) => Some("justice is for formulas and labels `accept`; a never claim has to say it itself"),
        Question::Automaton(_) => {
            Some("justice is for formulas and labels `accept`; an automaton has acceptance sets of its own")
        }
        Question::Progress => Some("justice is for formulas and labels `accept`; write progress as a formula"),
        _ => None,
    }
}

/// Puts the names of the properties back into the answers.
pub fn rename(report: &mut Report, asked: &[Property]) {
    for (answer, property) in report.answers.iter_mut().zip(asked) {
        answer.property = property.id();
    }
}

/// Puts the names of the properties back into the answers, and says what they are about.
pub fn tell(report: &mut Report, asked: &[Property]) {
    rename(report, asked);
    for (answer, property) in report.answers.iter_mut().zip(asked) {
        let about_runs = matches!(property.question, Question::Ltl(_) | Question::Acceptance | Question::Ctl(_));
        if about_runs && answer.verdict() != Verdict::Unknown {
            let note = answer.note.take().map_or(String::new(), |note| format!("; {note}"));
            answer.note = Some(format!("of the runs on which every `--justice` holds again and again{note}"));
        }
    }
}
