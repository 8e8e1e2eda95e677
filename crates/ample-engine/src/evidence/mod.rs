//! Evidence: every counterexample is performed by the reference interpreter before anybody sees it.
//!
//! An engine hands over bare moves. Here they are replayed, it is looked whether what they lead to
//! is what the engine claims, and the run is told in the words of the source. Moves that do not replay are a
//! bug of the engine, and never an answer.

mod claims;
mod expand;
mod runs;
mod trees;
mod validate;

pub use ample_model::{Cell, Contents, EndState, Ending, Evidence, Lasso, Run, Standing, Statement, Tree};
use claims::validate_with_claim;
use runs::{LassoViolation, validate_lasso};
use trees::validate_tree;
pub use validate::{Validated, validate, validate_witness};

use std::time::{Duration, Instant};

use ample_model::{
    Budget, Coupling, Expr, Fault, Interpreter, Interrupted, Move, Question, Reason, StartNumber, State, System, Trace,
    Violation,
};

use crate::report::ValidOutcome;

/// What an engine claims that a run shows.
#[derive(Clone, Copy, Debug)]
enum RunViolation<'a> {
    /// Its last state is a deadlock.
    Deadlock,
    /// Its last step breaks an assertion or is a fault.
    Assertion,
    /// In its last state the expression is false.
    Invariant(&'a Expr),
    /// In its last state one of the expressions of a formula is a fault.
    Evaluation(&'a [Expr]),
}

/// Why a claim was not confirmed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Invalid {
    /// The run is not what was claimed: a bug in ample.
    Refuted(String),
    /// The replay was ended.
    Ended(Reason),
    /// It is what was claimed in the reduced system, but could not be told as steps of the original one.
    Unexpanded(String),
}

/// Whether nothing but a run, or a tree of runs, can show that the property is violated. Where it asks for the existence
/// of runs (`EF p`), its violation is the absence of such runs: that is shown by a complete search, as `holds` is shown
/// where it asks for all runs.
pub fn needs_run(question: &Question) -> bool {
    let Question::Ctl(temporal) = question else { return true };
    temporal.formula.is_shown_by_runs(false)
}

/// The outcome where a property is known to be false and there is no evidence that could be validated: no verdict, unless
/// a complete search is all that can show it.
pub fn without_run(question: &Question, found_by: &str) -> ValidOutcome {
    if needs_run(question) {
        let why =
            format!("{found_by} it is false, but no counterexample was found within the limits that validates this");
        return Reason::Unsupported(why).into();
    }
    ValidOutcome::violated(without_trace("no run from the initial state satisfies it".into()))
}

fn without_trace(message: String) -> Violation {
    Violation { message, trace: Trace::default(), branches: Vec::new() }
}

/// A proof that a property is violated which is no run of the system: a certificate of the state equation, a firing
/// sequence too long to be shown.
pub trait Certificate {
    /// What it shows, in a sentence.
    fn message(&self) -> String;

    /// Checks it, by other means than those that found it; or else says what is wrong with it.
    fn verify(&self) -> Result<(), String>;
}

/// The outcome where a certificate shows that a property is violated. One that is not valid is an error of ours.
pub fn certified(certificate: &dyn Certificate) -> ValidOutcome {
    match certificate.verify() {
        Ok(()) => ValidOutcome::violated(without_trace(certificate.message())),
        Err(why) => not_validated(Invalid::Refuted(why), 0).into(),
    }
}

/// Why there is no verdict where a violation was found and not confirmed.
pub(crate) fn not_validated(invalid: Invalid, steps: usize) -> Reason {
    match invalid {
        Invalid::Ended(reason) => {
            Reason::Unsupported(format!("a violation was found, but {reason} before its {steps} steps were replayed"))
        }
        Invalid::Unexpanded(why) => unexpanded(&why),
        Invalid::Refuted(why) => does_not_replay("counterexample", &why),
    }
}

/// Evidence about the reduced system that could not be told: whoever has reduced it checks the original then.
pub fn unexpanded(why: &str) -> Reason {
    Reason::Unsupported(format!("{UNEXPANDED} ({why})"))
}

/// The reason is that evidence about the reduced system could not be told as steps of the original.
pub fn is_unexpanded(reason: &Reason) -> bool {
    matches!(reason, Reason::Unsupported(why) if why.starts_with(UNEXPANDED))
}

const UNEXPANDED: &str = "the evidence found in the reduced model is not a run of the original one";

/// Why there is no verdict where a witness was found and refuted.
pub(crate) fn refuted_witness(why: &str) -> Reason {
    does_not_replay("witness", why)
}

fn does_not_replay(what: &str, why: &str) -> Reason {
    Reason::Internal(format!(
        "the {what} does not replay ({why}); this is a bug in ample, please report it with the model"
    ))
}

/// What to say of a witness where the formula holds in so many initial states: it is from one of them.
pub fn one_of_starts(count: impl std::fmt::Display) -> String {
    format!("the witness is from one of {count} initial states; the formula holds in all of them")
}

/// A replay may go on that long although the time is up: a violation that was found is worth telling.
const GRACE: Duration = Duration::from_millis(250);

/// The budget is asked every so many steps of a replay.
const ASK_EVERY: usize = 64;

/// Lets a budget end a long replay, after a while of grace.
struct Patience<'a> {
    begun: Instant,
    budget: &'a Budget,
}

impl<'a> Patience<'a> {
    fn new(budget: &'a Budget) -> Self {
        Patience { begun: Instant::now(), budget }
    }

    /// Asks now and then, by the number of the step.
    fn ask(&mut self, number: usize) -> Result<(), Invalid> {
        if number % ASK_EVERY == ASK_EVERY - 1
            && let Err(interrupted) = self.budget.check()
            && (interrupted == Interrupted::Memory || self.begun.elapsed() > GRACE)
        {
            return Err(Invalid::Ended(interrupted.into()));
        }
        Ok(())
    }
}

/// Replays the moves and looks whether they show what is claimed. The budget may end the replay of a very long run.
fn validate_run(
    system: &System,
    start: impl Into<StartNumber>,
    moves: &[Move],
    claim: RunViolation<'_>,
    budget: &Budget,
) -> Result<(Violation, EndState), Invalid> {
    let interpreter = Interpreter::new(system);
    let start = start.into();
    let initial = interpreter.initial_state(&start);
    let mut trace = Trace { start, ..Trace::default() };
    let mut state = match initial {
        Some(Ok(state)) => state,
        Some(Err(fault)) if moves.is_empty() && matches!(claim, RunViolation::Assertion) => {
            let message = format!("the initial state is a fault: {fault}");
            return Ok((Violation { message, trace, branches: Vec::new() }, EndState::default()));
        }
        Some(Err(fault)) => return refuted(format!("the initial state is a fault: {fault}")),
        None => return refuted(format!("there is no initial state number {}", trace.start)),
    };
    let seeks_assertion = matches!(claim, RunViolation::Assertion);
    let mut patience = Patience::new(budget);
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
    let ended = |interrupted: Interrupted| Invalid::Ended(interrupted.into());
    let deadlocked =
        matches!(claim, RunViolation::Deadlock) && interpreter.is_deadlock_within(&state, budget).map_err(ended)?;
    let message = claim.shown_by(&interpreter, &state, deadlocked).map_err(Invalid::Refuted)?;
    Ok((Violation { message, trace, branches: Vec::new() }, EndState::of(&interpreter, &state)))
}

fn refuted<T>(why: String) -> Result<T, Invalid> {
    Err(Invalid::Refuted(why))
}

impl RunViolation<'_> {
    /// What is wrong with the state, in a sentence; or why it is not what is claimed.
    fn shown_by(self, interpreter: &Interpreter<'_>, state: &State, deadlocked: bool) -> Result<String, String> {
        match self {
            RunViolation::Deadlock if deadlocked => Ok(match interpreter.system().coupling {
                Coupling::Interleaving => "invalid end state".into(),
                Coupling::Synchronous(_) => "deadlock: no next state satisfies all relations".into(),
            }),
            RunViolation::Deadlock => Err("the run does not end in a deadlock".into()),
            RunViolation::Assertion => Err("no step of the run breaks an assertion".into()),
            RunViolation::Invariant(condition) => match interpreter.evaluate(state, None, condition) {
                Ok(0) => Ok("invariant violated".into()),
                Ok(_) => Err("the invariant holds where the run ends".into()),
                Err(fault) => Ok(format!("the invariant cannot be evaluated: {fault}")),
            },
            RunViolation::Evaluation(parts) => evaluation_fault(interpreter, state, parts)
                .ok_or_else(|| "no expression of the formula is a fault where the run ends".into()),
        }
    }
}

/// What goes wrong when expressions of a formula are evaluated in a state, in a sentence; `None` if nothing does.
pub(crate) fn evaluation_fault(interpreter: &Interpreter<'_>, state: &State, parts: &[Expr]) -> Option<String> {
    parts.iter().find_map(|part| {
        let fault = interpreter.evaluate(state, None, part).err()?;
        let text = interpreter.system().show_expr(None, part);
        Some(format!("run-time error in the formula: {fault} in `{text}`"))
    })
}
