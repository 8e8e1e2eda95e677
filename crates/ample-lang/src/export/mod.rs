//! Models in other languages: those of Milestones in NuSMV's language and in Promela, boolean synchronous systems as
//! circuits ([`aig`], [`aiger`], [`blif`], [`circuit_smv`]) with AIGER's format for counterexamples ([`witness`]).
//!
//! The translations of Milestones say the same as the model: as many states, the same verdicts (section 6.5 of J. Vander Meulen's
//! thesis, with its errors put right). What cannot be said in the other language is refused, with a reason. In both a
//! model that is stuck stays for ever where it is, as it does here.

pub mod aig;
pub mod aiger;
pub mod blif;
pub mod circuit_smv;
pub mod promela;
pub mod smv;
pub mod witness;

use std::collections::HashSet;

use thiserror::Error;

use crate::milestones::model::{Arithmetic, Assignment, Model, Number, Value, VariableId};

/// Why a model cannot be said in another language.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Untranslatable {
    /// Division by something that may be zero is a fault, which is a notion that the other language lacks.
    #[error("a division by anything but a constant other than zero cannot be translated")]
    Division,
    /// A variable has too many bits.
    #[error("'{variable}' has {bits} bits, and a variable of {language} can have {most} at most")]
    Wide {
        /// The variable.
        variable: String,
        /// Its bits.
        bits: u8,
        /// The other language.
        language: &'static str,
        /// What it can do.
        most: u8,
    },
    /// A computation has too many bits.
    #[error("a computation has {bits} bits, and {language} can compute with {most} at most")]
    WideComputation {
        /// Its bits.
        bits: u8,
        /// The other language.
        language: &'static str,
        /// What it can do.
        most: u8,
    },
}

/// What a language can hold.
struct Limits {
    language: &'static str,
    variable: u8,
    computation: u8,
}

/// Refuses what the language cannot say.
fn refuse(model: &Model, limits: &Limits) -> Result<(), Untranslatable> {
    let Limits { language, variable: most, computation } = *limits;
    if let Some(wide) = model.variables.iter().find(|variable| variable.bits > most) {
        return Err(Untranslatable::Wide { variable: wide.name.clone(), bits: wide.bits, language, most });
    }
    let mut answer = Ok(());
    values(model, &mut |value| {
        if answer.is_ok() && divides_by_unknown(&value.number) {
            answer = Err(Untranslatable::Division);
        }
        let computes = matches!(value.number, Number::Binary(..));
        if answer.is_ok() && computes && value.bits > computation {
            answer = Err(Untranslatable::WideComputation { bits: value.bits, language, most: computation });
        }
    });
    answer
}

/// Calls `visit` on every value in the model.
fn values(model: &Model, visit: &mut dyn FnMut(&Value)) {
    let locals = model.processes.iter().flat_map(|process| &process.commands);
    let locals = locals.map(|command| (&command.guard, &command.assignments));
    let globals = model.commands.iter().map(|command| (&command.guard, &command.assignments));
    for (guard, assignments) in locals.chain(globals) {
        guard.values(visit);
        assignments.iter().for_each(|assignment| visit(&assignment.value));
    }
    for property in &model.properties {
        property.atoms.iter().for_each(|atom| atom.values(visit));
    }
}

fn divides_by_unknown(number: &Number) -> bool {
    match number {
        Number::Const(_) | Number::Read(_) => false,
        Number::Binary(Arithmetic::Divide | Arithmetic::Remainder, x, y) => {
            divides_by_unknown(x) || matches!(**y, Number::Const(0) | Number::Read(_) | Number::Binary(..))
        }
        Number::Binary(_, x, y) => divides_by_unknown(x) || divides_by_unknown(y),
    }
}

/// Parallel assignments one after the other, so that none reads what one before it has written. `None` if there is no
/// such order.
fn sequence(assignments: &[Assignment]) -> Option<Vec<&Assignment>> {
    let mut left: Vec<&Assignment> = assignments.iter().collect();
    let mut ordered = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let is_free = |one: &Assignment| left.iter().all(|other| *other == one || !reads(other, one.target));
        let next = left.iter().position(|one| is_free(one))?;
        ordered.push(left.remove(next));
    }
    Some(ordered)
}

fn reads(assignment: &Assignment, variable: VariableId) -> bool {
    let mut found = false;
    assignment.value.number.reads(&mut |read| found |= read == variable);
    found
}

/// Names that are free in the other language: neither reserved nor given out before.
struct Names {
    taken: HashSet<String>,
}

impl Names {
    /// None but the words of `reserved` is taken.
    fn new(reserved: &str) -> Names {
        Names { taken: reserved.split_whitespace().map(str::to_owned).collect() }
    }

    /// The wish itself, or with underscores behind it until it is free.
    fn give(&mut self, wish: &str) -> String {
        let mut name = wish.to_owned();
        while !self.taken.insert(name.clone()) {
            name.push('_');
        }
        name
    }
}

/// A text that can stand on one line of a comment.
fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").replace("*/", "* /").replace("/*", "/ *")
}
