//! Run-time errors in formulas: an expression that cannot be evaluated has no truth value.
//!
//! A formula is violated if one of its state expressions is a fault in some reachable state, whatever the temporal
//! operators around it say. The largest parts of a formula without temporal operators are evaluated as the language
//! does, from the left and no further than needed: `i < 3 && a[i]` is no fault where `i` is 3.
//!
//! The engines take an atom that is a fault for false. That is the right verdict if the formula is violated then: by
//! a run, or else by the fault. Only an answer that it holds needs to know that there is no fault, which is an
//! invariant, and every engine knows invariants.

use ample_logic::Formula;
use ample_model::facts::Lens;
use ample_model::{BinaryOp, Expr, Interpreter, Outcome, ProcessId, Property, Question, System, Temporal, Violation};

use crate::evidence::{EndState, Invalid, Validated, evaluation_fault, not_validated};
use crate::report::Answer;

/// Finds what may be a fault in the formulas of a model.
pub struct Survey<'a> {
    lens: Lens<'a>,
    /// What is computed with as many bits as it needs.
    is_exact: Option<&'a dyn Fn(&Expr) -> bool>,
}

/// The parts of a formula without temporal operators that may be faults.
#[derive(Clone, Debug, Default)]
pub struct Fallible {
    parts: Vec<Expr>,
}

impl<'a> Survey<'a> {
    /// Of the formulas about a system.
    pub fn of(system: &'a System) -> Survey<'a> {
        Survey { lens: Lens::new(system), is_exact: None }
    }

    /// The same, for an engine that computes some expressions with as many bits as they need.
    pub fn exact_for(self, is_exact: &'a dyn Fn(&Expr) -> bool) -> Survey<'a> {
        Survey { is_exact: Some(is_exact), ..self }
    }

    /// What may be a fault in a property, and in the conditions of justice if they are not part of its formula.
    pub fn fallible(&self, property: &Property, justice: &[Expr]) -> Fallible {
        match &property.question {
            Question::Ltl(temporal) => self.in_formula(temporal),
            Question::Ctl(temporal) => {
                let mut fallible = self.in_formula(temporal);
                fallible.parts.extend(self.among(justice).parts);
                fallible
            }
            Question::Automaton(automaton) => self.among(&automaton.atoms),
            // Invariants and never claims see to it themselves.
            _ => Fallible::default(),
        }
    }

    /// What may be a fault in a formula.
    pub fn in_formula(&self, temporal: &Temporal) -> Fallible {
        let mut parts = Vec::new();
        if temporal.atoms.iter().any(|atom| self.may_fault(atom)) {
            parts_without_time(temporal, &temporal.formula, &mut parts);
            parts.retain(|part| self.may_fault(part));
        }
        Fallible { parts }
    }

    /// What may be a fault where each expression is evaluated by itself.
    pub fn among(&self, exprs: &[Expr]) -> Fallible {
        Fallible { parts: exprs.iter().filter(|expr| self.may_fault(expr)).cloned().collect() }
    }

    fn may_fault(&self, expr: &Expr) -> bool {
        // Without a process there are no locals, so that any type will do.
        let may_fault = self.lens.expr(ProcessId(0), expr).traits.may_fault;
        may_fault && !self.is_exact.is_some_and(|is_exact| is_exact(expr))
    }
}

/// The largest parts of a formula without temporal operators, as expressions.
fn parts_without_time(temporal: &Temporal, formula: &Formula, parts: &mut Vec<Expr>) {
    match temporal.state_expr(formula) {
        Some(expr) => parts.push(expr),
        None => formula.operands().for_each(|operand| parts_without_time(temporal, operand, parts)),
    }
}

impl Fallible {
    /// Nothing can go wrong.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The parts.
    pub fn parts(&self) -> &[Expr] {
        &self.parts
    }

    /// An expression that is true wherever none of them is a fault, and a fault elsewhere.
    pub fn invariant(&self) -> Expr {
        let evaluated = self.parts.iter().map(|part| Expr::binary(BinaryOp::Or, part.clone(), Expr::TRUE));
        evaluated.reduce(|x, y| Expr::binary(BinaryOp::And, x, y)).unwrap_or(Expr::TRUE)
    }

    /// The violation is shown by a run on which one of them is a fault: then it is that, and the run ends there.
    pub fn met_on(&self, system: &System, violation: &Violation) -> Option<Validated> {
        let interpreter = Interpreter::new(system.source_system());
        let states = interpreter.replay(&violation.trace).ok()?;
        for (steps, state) in states.iter().enumerate() {
            let Some(message) = evaluation_fault(&interpreter, state, &self.parts) else { continue };
            if interpreter.normalise(state).control.is_some() {
                continue;
            }
            let mut trace = violation.trace.clone();
            trace.prefix.append(&mut trace.cycle);
            trace.prefix.truncate(steps);
            let violation = Violation { message, trace, branches: Vec::new() };
            return Some(Validated::new((violation, EndState::of(&interpreter, state))));
        }
        None
    }

    /// An answer of an engine that takes a fault for false. If the run that it shows meets one, that is the violation.
    pub fn told(&self, system: &System, answer: Answer) -> Answer {
        let met = match &*answer.outcome {
            Outcome::Violated(violation) if !self.is_empty() => self.met_on(system, violation),
            _ => None,
        };
        match met {
            Some(met) => by_fault(answer, met),
            None => answer,
        }
    }

    /// The answer to a property, once the answer to the [invariant](Self::invariant) is known too.
    pub fn joined(&self, system: &System, answer: Answer, invariant: &Outcome) -> Answer {
        match invariant {
            Outcome::Holds(_) => answer,
            Outcome::Violated(violation) => match self.met_on(system, violation) {
                Some(met) => by_fault(answer, met),
                None => {
                    let why = "no expression of the formula is a fault where the run ends";
                    let outcome = not_validated(Invalid::Refuted(why.into()), violation.trace.prefix.len()).into();
                    Answer { outcome, ..answer }
                }
            },
            Outcome::Unknown(reason) => match *answer.outcome {
                Outcome::Holds(_) => Answer { outcome: reason.clone().into(), ..answer },
                _ => self.told(system, answer),
            },
        }
    }
}

/// The answer that a fault decides; what was to be said of another run is not said of this one.
fn by_fault(answer: Answer, met: Validated) -> Answer {
    Answer { note: None, ..answer.with_counterexample(met) }
}

#[cfg(test)]
mod tests {
    use ample_lang::promela::{self, preprocess::FileLoader};

    use super::*;

    fn parts(text: &str) -> usize {
        let model = format!("byte a[3], i, j; byte n; active proctype P() {{ skip }} ltl f {{ {text} }}");
        let system = promela::read("m.pml", model, &mut FileLoader, &[]).unwrap().system;
        let Question::Ltl(formula) = &system.properties[0].question else { panic!("no formula") };
        Survey::of(&system).in_formula(formula).parts().len()
    }

    #[test]
    fn only_what_may_be_a_fault_is_looked_for() {
        for (text, expected) in [
            ("[] (i < 3 && a[2])", 0),
            ("[] (n + i * j < 7)", 0),
            ("[] a[i]", 1),
            ("[] (i < 3 && a[i])", 1),
            ("(a[i] U a[j]) && i", 2),
            ("[] (i / j == 2 -> <> (i % n == 0))", 2),
            ("[] <> (a[i] -> a[j])", 1),
        ] {
            assert_eq!(parts(text), expected, "{text}");
        }
    }
}
