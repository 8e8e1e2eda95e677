//! Evidence: every counterexample is performed by the reference interpreter before anybody sees it.
//!
//! An engine hands over bare moves. Here they are replayed, it is looked whether what they lead to
//! is what the engine claims, and the run is told in the words of the source. Moves that do not replay are a
//! bug of the engine, and never an answer.

mod claims;
mod runs;
mod trees;

pub(crate) use claims::confirm_acting;
pub(crate) use runs::{Charge, confirm_run};
pub(crate) use trees::confirm_tree;

use std::time::{Duration, Instant};

use ample_logic::{Binary, Formula as Logic, Unary};
use ample_model::{
    Expr, Fault, Interpreter, Move, Observer, Outcome, Progress, Question, Reason, Scalar, State, System, Trace,
    Variable, Violation,
};
use serde::Serialize;

use crate::temporal::Numbered;

/// What an engine claims that a run shows.
#[derive(Clone, Copy, Debug)]
pub enum Claim<'a> {
    /// Its last state is a deadlock.
    Deadlock,
    /// Its last step breaks an assertion or is a fault.
    Assertion,
    /// In its last state the expression is false.
    Invariant(&'a Expr),
}

/// Why a claim was not confirmed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unconfirmed {
    /// The run is not what was claimed: a bug in ample.
    Refuted(String),
    /// The replay was ended.
    Ended(Reason),
}

/// Whether nothing but a run, or a tree of runs, can show that the property is violated. Where it asks for the existence
/// of runs (`EF p`), its violation is the absence of such runs: that is shown by a complete search, as `holds` is shown
/// where it asks for all runs.
pub(crate) fn needs_run(question: &Question) -> bool {
    let Question::Ctl(formula) = question else { return true };
    is_shown_by_runs(&Numbered::of(formula).formula, false)
}

/// Whether only runs can show that the formula has that value.
fn is_shown_by_runs(formula: &Logic, value: bool) -> bool {
    // A true conjunction is shown by both of its operands, a false one by either; and the other way round.
    let both = |a, b| if value { a || b } else { a && b };
    let either = |a, b| if value { a && b } else { a || b };
    match formula {
        Logic::Unary(Unary::Not, inner) => is_shown_by_runs(inner, !value),
        Logic::Unary(Unary::Exists, _) => value,
        Logic::Unary(Unary::All, _) => !value,
        Logic::Binary(Binary::And, a, b) => both(is_shown_by_runs(a, value), is_shown_by_runs(b, value)),
        Logic::Binary(Binary::Or, a, b) => either(is_shown_by_runs(a, value), is_shown_by_runs(b, value)),
        Logic::Binary(Binary::Implies, a, b) => either(is_shown_by_runs(a, !value), is_shown_by_runs(b, value)),
        _ => false,
    }
}

/// The outcome where a property is known to be false and there is no evidence that could be validated: no verdict, unless
/// a complete search is all that can show it.
pub(crate) fn without_run(question: &Question, found_by: &str) -> Outcome {
    if needs_run(question) {
        let why =
            format!("{found_by} it is false, but no counterexample was found within the limits that validates this");
        return Outcome::Unknown(Reason::Unsupported(why));
    }
    let message = "no run from the initial state satisfies it".to_owned();
    Outcome::Violated(Box::new(Violation { message, trace: Trace::default(), branches: Vec::new() }))
}

/// The state at the end of a run, in the words of the source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EndState {
    /// Where each process stands.
    pub processes: Vec<Standing>,
    /// What each buffered channel holds.
    pub channels: Vec<Contents>,
    /// All cells and their values.
    pub variables: Vec<Cell>,
}

/// Where a process stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Standing {
    /// The process: `name(id)`.
    pub process: String,
    /// `file:line`, where known.
    pub at: Option<String>,
    /// The statements that it could take if they were executable.
    pub waits_for: Vec<String>,
    /// It may stay there for ever.
    pub valid_end: bool,
    /// Nothing is left for it to do; it only waits for younger processes to end.
    pub finished: bool,
}

/// A channel and what it holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Contents {
    /// The channel's name.
    pub channel: String,
    /// The messages, oldest first, each as its fields.
    pub messages: Vec<Vec<String>>,
    /// How many it can hold.
    pub capacity: u32,
}

/// A cell and its value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cell {
    /// Its name; a local is prefixed with its process, `name(id):cell`.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// A replay may go on that long although the time is up: a violation that was found is worth telling.
const GRACE: Duration = Duration::from_millis(250);

/// The observer is asked every so many steps of a replay.
const ASK_EVERY: usize = 64;

/// Lets an observer end a long replay, after a while of grace.
struct Patience<'a> {
    begun: Instant,
    observer: &'a mut dyn Observer,
}

impl<'a> Patience<'a> {
    fn new(observer: &'a mut dyn Observer) -> Self {
        Patience { begun: Instant::now(), observer }
    }

    /// Asks now and then, by the number of the step.
    fn ask(&mut self, number: usize) -> Result<(), Unconfirmed> {
        if number % ASK_EVERY == ASK_EVERY - 1
            && let Some(reason) = self.observer.progress(&Progress::default())
            && (reason == Reason::Memory || self.begun.elapsed() > GRACE)
        {
            return Err(Unconfirmed::Ended(reason));
        }
        Ok(())
    }
}

/// Replays the moves and looks whether they show what is claimed. The observer may end the replay of a very long run.
pub fn confirm(
    system: &System,
    start: u32,
    moves: &[Move],
    claim: Claim<'_>,
    observer: &mut dyn Observer,
) -> Result<(Violation, EndState), Unconfirmed> {
    let interpreter = Interpreter::new(system);
    let mut trace = Trace { start, ..Trace::default() };
    let mut state = match interpreter.initial_state(start) {
        Some(Ok(state)) => state,
        Some(Err(fault)) if moves.is_empty() && matches!(claim, Claim::Assertion) => {
            let message = format!("the initial state is a fault: {fault}");
            return Ok((Violation { message, trace, branches: Vec::new() }, EndState::default()));
        }
        Some(Err(fault)) => return refuted(format!("the initial state is a fault: {fault}")),
        None => return refuted(format!("there is no initial state number {start}")),
    };
    let seeks_assertion = matches!(claim, Claim::Assertion);
    let mut patience = Patience::new(observer);
    for (number, taken) in moves.iter().enumerate() {
        patience.ask(number)?;
        let successor = interpreter.step(&state, taken);
        if successor.violations.contains(&Fault::NotEnabled) {
            return refuted(format!("step {} is not executable", number + 1));
        }
        trace.prefix.push(interpreter.describe(&state, taken, &successor));
        let violation = successor.violation();
        let dead = successor.state.is_none();
        state = successor.state.unwrap_or(state);
        if let Some(message) = violation
            && (seeks_assertion || dead)
        {
            if seeks_assertion {
                return Ok((Violation { message, trace, branches: Vec::new() }, EndState::of(&interpreter, &state)));
            }
            return refuted(format!("step {} is a fault: {message}", number + 1));
        }
    }
    let message = claim.shown_by(&interpreter, &state).map_err(Unconfirmed::Refuted)?;
    Ok((Violation { message, trace, branches: Vec::new() }, EndState::of(&interpreter, &state)))
}

fn refuted<T>(why: String) -> Result<T, Unconfirmed> {
    Err(Unconfirmed::Refuted(why))
}

impl Claim<'_> {
    /// What is wrong with the state, in a sentence; or why it is not what is claimed.
    fn shown_by(self, interpreter: &Interpreter<'_>, state: &State) -> Result<String, String> {
        match self {
            Claim::Deadlock if interpreter.is_deadlock(state) => Ok("invalid end state".into()),
            Claim::Deadlock => Err("the run does not end in a deadlock".into()),
            Claim::Assertion => Err("no step of the run breaks an assertion".into()),
            Claim::Invariant(condition) => match interpreter.evaluate(state, None, condition) {
                Ok(0) => Ok("invariant violated".into()),
                Ok(_) => Err("the invariant holds where the run ends".into()),
                Err(fault) => Ok(format!("the invariant cannot be evaluated: {fault}")),
            },
        }
    }
}

impl EndState {
    /// The state in the words of the source.
    pub fn of(interpreter: &Interpreter<'_>, state: &State) -> EndState {
        let system = interpreter.system();
        let mut end = EndState::default();
        cells(system, "", &system.globals, &state.globals, &mut end.variables);
        for (id, process) in state.processes.iter().enumerate() {
            let name = interpreter.process_name(state, id as u32);
            let ty = system.process(process.process);
            cells(system, &format!("{name}:"), &ty.locals, &process.locals, &mut end.variables);
            let location = &ty.locations[process.location.index()];
            let edges: Vec<_> = location.edges.iter().map(|edge| &ty.edges[edge.index()]).collect();
            let span = edges.iter().find_map(|edge| edge.span).or(location.span);
            end.processes.push(Standing {
                process: name,
                at: span.map(|span| system.place_of(span)),
                waits_for: edges.iter().map(|edge| edge.label.clone()).collect(),
                valid_end: location.end,
                finished: edges.iter().all(|edge| edge.ends_process()),
            });
        }
        for (index, channel) in state.channels.iter().enumerate() {
            let kind = &system.channels[channel.kind.index()];
            if kind.capacity == 0 {
                continue;
            }
            let show = |message: &Vec<i64>| {
                message.iter().zip(&kind.fields).map(|(value, scalar)| system.show_value(*scalar, *value)).collect()
            };
            end.channels.push(Contents {
                channel: interpreter.channel_name(state, index as u32 + 1),
                messages: channel.messages.iter().map(show).collect(),
                capacity: kind.capacity,
            });
        }
        end
    }
}

/// The cells of one scope. Channel handles mean nothing to the user, and are left out.
fn cells(system: &System, prefix: &str, variables: &[Variable], values: &[i64], out: &mut Vec<Cell>) {
    let mut values = values.iter();
    for variable in variables {
        for (slot, scalar) in system.scalars(&variable.ty).into_iter().enumerate() {
            let Some(value) = values.next() else { return };
            if scalar == Scalar::Channel {
                continue;
            }
            let name = format!("{prefix}{}", system.slot_name(variable, slot as u32));
            out.push(Cell { name, value: system.show_value(scalar, *value) });
        }
    }
}
