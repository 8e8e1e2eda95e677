//! Counterexamples in AIGER's format for witnesses (A. Biere, K. Heljanko, S. Wieringa, *AIGER 1.9 and beyond*, 2011).
//!
//! A status (`1`: there is a run, `0`: there is none, `2`: not known), the property (`b0`: the first bad state, `j0`: the first
//! justice property), the first values of the latches, the inputs in every cycle, and a dot. The inputs after the last step
//! are those with which the bad state is there; a run for a justice property ends where it has been before.

use ample_model::interpret::ReplayError;
use ample_model::{Interpreter, Move, Question, State, System, Trace, VariableKind};

/// What is known of a property.
#[derive(Clone, Copy, Debug)]
pub enum Status<'t> {
    /// It holds.
    Holds,
    /// This run violates it.
    Violated(&'t Trace),
    /// Neither is known.
    Unknown,
}

/// What is known of a property, as a witness; the property is one of those that the circuit states, by its name in reports,
/// or any other, which is called `b0`.
pub fn witness(system: &System, property: &str, status: Status<'_>) -> Result<String, ReplayError> {
    let label = label(system, property);
    Ok(match status {
        Status::Holds => format!("0\n{label}\n.\n"),
        Status::Unknown => format!("2\n{label}\n.\n"),
        Status::Violated(trace) => format!("1\n{label}\n{}.\n", run(system, trace)?),
    })
}

/// The letter and the number of a property, by its name in reports: `b0` is the first bad state, `j0` the first justice
/// property.
pub fn label(system: &System, property: &str) -> String {
    let (mut bad, mut justice) = (0, 0);
    for stated in &system.properties {
        let (letter, number) = match stated.question {
            Question::Invariant(_) => ('b', &mut bad),
            Question::Ltl(_) => ('j', &mut justice),
            _ => continue,
        };
        if stated.id() == property {
            return format!("{letter}{number}");
        }
        *number += 1;
    }
    "b0".to_owned()
}

fn run(system: &System, trace: &Trace) -> Result<String, ReplayError> {
    let states = Interpreter::new(system).replay(trace)?;
    let steps: Vec<&Move> = trace.prefix.iter().chain(&trace.cycle).map(|step| &step.taken).collect();
    let (inputs, latches) = cells(system);
    let digit = |value: i64| if value == 0 { '0' } else { '1' };
    let line = |values: &mut dyn Iterator<Item = i64>| values.map(digit).chain(['\n']).collect::<String>();
    let mut out = line(&mut latches.iter().map(|slot| states[0].globals[*slot]));
    // A run that ends shows the inputs of its last state, too.
    let cycles = if trace.cycle.is_empty() { steps.len() + 1 } else { steps.len() };
    for (state, step) in states.iter().zip(steps.iter().map(Some).chain([None])).take(cycles) {
        out.push_str(&line(&mut inputs.iter().map(|(slot, is_kept)| input(state, step.copied(), *slot, *is_kept))));
    }
    Ok(out)
}

/// The value of an input in a cycle. The last one of a run may have any value, unless it is a part of the state.
fn input(state: &State, step: Option<&Move>, slot: usize, is_kept: bool) -> i64 {
    match step {
        _ if is_kept => state.globals[slot],
        Some(Move::Joint { inputs, .. }) => {
            let found = inputs.iter().find(|(input, _)| *input as usize == slot);
            found.map_or(0, |(_, value)| *value)
        }
        _ => 0,
    }
}

/// The slots of the inputs, each with whether it is a part of the state, and those of the latches.
fn cells(system: &System) -> (Vec<(usize, bool)>, Vec<usize>) {
    let mut is_latch = vec![false; system.globals.len()];
    if let Some(synchronous) = system.synchronous() {
        synchronous.definitions.iter().for_each(|definition| is_latch[definition.variable.index()] = true);
    }
    let (mut inputs, mut latches) = (Vec::new(), Vec::new());
    for (slot, (variable, is_latch)) in system.globals.iter().zip(is_latch).enumerate() {
        match (variable.kind, is_latch) {
            (VariableKind::Input, _) => inputs.push((slot, false)),
            (VariableKind::State, false) => inputs.push((slot, true)),
            _ => latches.push(slot),
        }
    }
    (inputs, latches)
}
