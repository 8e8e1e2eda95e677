//! Justice: of all runs, only those count on which each of some conditions holds again and again.
//!
//! In linear time that is a formula, `(G F e1 ∧ G F e2 …) → f`, and every engine can do it. In branching time the path
//! quantifiers mean something else then, which the symbolic engine knows.

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

/// Puts the names of the properties back into the answers, and says what they are about.
pub fn tell(report: &mut Report, asked: &[Property]) {
    for (answer, property) in report.answers.iter_mut().zip(asked) {
        answer.property = property.id();
        let about_runs = matches!(property.question, Question::Ltl(_) | Question::Acceptance | Question::Ctl(_));
        if about_runs && answer.verdict() != Verdict::Unknown {
            let note = answer.note.take().map_or(String::new(), |note| format!("; {note}"));
            answer.note = Some(format!("of the runs on which every `--justice` holds again and again{note}"));
        }
    }
}
