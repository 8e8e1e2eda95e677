//! Runs with a never claim that changes the state: its moves are replayed among those of the system.

use std::collections::HashSet;

use ample_model::{Budget, EdgeId, Expr, Fault, Interpreter, LocationId, Move, State, System, Trace, Violation};

use super::{EndState, Invalid, Patience, refuted};
use super::{Ending, Lasso};
use crate::settings::Fairness;
use crate::temporal::claim::Acting;

/// Replays the run and looks whether the claim accepts it.
pub fn validate_with_claim(
    system: &System,
    run: &Lasso,
    claim: &Acting,
    fairness: Fairness,
    budget: &Budget,
) -> Result<(Violation, EndState), Invalid> {
    let interpreter = Interpreter::new(system);
    let Some(Ok(state)) = interpreter.initial_state(&run.start) else {
        return refuted(format!("there is no initial state number {}", run.start));
    };
    let mut replay = Replay {
        interpreter: &interpreter,
        claim,
        at: At { state, location: LocationId(claim.initial), moved: false, stopped: false },
        in_sequence: false,
        failed: false,
        fault: None,
        round: Round::default(),
        trace: Trace { start: run.start.clone(), ..Trace::default() },
    };
    let mut patience = Patience::new(budget);
    for (number, taken) in run.prefix.iter().enumerate() {
        patience.ask(number)?;
        let step = replay.take(taken).map_err(|why| wrong(number, &why))?;
        replay.trace.prefix.extend(step);
    }
    let begins = replay.at.clone();
    replay.round = Round { waiting: (0..256).collect(), ..Round::default() };
    for (number, taken) in run.cycle.iter().enumerate() {
        patience.ask(number)?;
        let step = replay.take(taken).map_err(|why| wrong(run.prefix.len() + number, &why))?;
        replay.trace.cycle.extend(step);
    }
    let message = replay.judge(run, &begins, fairness).map_err(Invalid::Refuted)?;
    let end = EndState::of(&interpreter, &begins.state);
    Ok((Violation { message, trace: replay.trace, branches: Vec::new() }, end))
}

fn wrong(number: usize, why: &str) -> Invalid {
    Invalid::Refuted(format!("step {}: {why}", number + 1))
}

/// Where a run is.
#[derive(Clone)]
struct At {
    state: State,
    /// The location of the claim.
    location: LocationId,
    /// The claim has moved in this state.
    moved: bool,
    /// A fault has stopped the system.
    stopped: bool,
}

/// What is gathered in a cycle.
#[derive(Default)]
struct Round {
    accepted: bool,
    /// Moves of the system that were enabled, and that were taken.
    enabled: HashSet<Move>,
    taken: HashSet<Move>,
    /// Who could move without a break, and has not.
    waiting: HashSet<u32>,
}

struct Replay<'a> {
    interpreter: &'a Interpreter<'a>,
    claim: &'a Acting,
    at: At,
    /// The claim is inside of an atomic sequence of its own.
    in_sequence: bool,
    /// An assertion of the claim has failed.
    failed: bool,
    /// What was a fault in the claim.
    fault: Option<String>,
    round: Round,
    trace: Trace,
}

impl Replay<'_> {
    /// Performs a move: what is told of it, if it is worth telling.
    fn take(&mut self, taken: &Move) -> Result<Option<ample_model::Step>, String> {
        match taken {
            Move::Claim { edge, .. } => self.take_claim(taken, *edge),
            _ => self.take_system(taken).map(Some),
        }
    }

    fn take_claim(&mut self, taken: &Move, edge: EdgeId) -> Result<Option<ample_model::Step>, String> {
        let location = &self.claim.locations[self.at.location.index()];
        let Some(edge) = location.edges.iter().find(|other| other.id == edge) else {
            return Err("the claim does not stand there".into());
        };
        let state = self.at.state.clone();
        if !self.in_sequence {
            // Twice without the system: only if that is stuck.
            if self.at.moved && !self.is_stuck() {
                return Err("it is the system's turn".into());
            }
            self.round.accepted |= location.accept || self.holds(&state);
            if self.at.moved {
                self.round.waiting.clear();
            }
        }
        let successor = if self.at.stopped {
            self.interpreter.step(&State { control: None, ..state.clone() }, taken)
        } else {
            self.interpreter.step(&state, taken)
        };
        if successor.violations.contains(&Fault::NotEnabled) {
            return Err("the claim cannot move so".into());
        }
        let step = self.interpreter.describe(&state, taken, &successor);
        let Some(after) = successor.state.clone() else {
            self.fault = successor.violation();
            return Ok(Some(step));
        };
        self.failed |= !successor.violations.is_empty();
        let ends = self.claim.locations[edge.to as usize].end;
        self.in_sequence = edge.keeps_control && !ends && !self.failed;
        self.at = At { state: after, location: LocationId(edge.to), moved: !self.in_sequence, ..self.at.clone() };
        let is_telling = !step.changes.is_empty() || step.violation.is_some();
        Ok(Some(step).filter(|_| is_telling && !self.at.stopped))
    }

    fn take_system(&mut self, taken: &Move) -> Result<ample_model::Step, String> {
        let visible = self.interpreter.normalise(&self.at.state).control.is_none();
        if self.at.stopped || self.in_sequence || visible && !self.at.moved {
            return Err("it is the claim's turn".into());
        }
        if visible {
            let enabled = self.interpreter.enabled(&self.at.state);
            let movers: HashSet<u32> = enabled.iter().filter_map(Move::mover).collect();
            self.round.waiting.retain(|process| movers.contains(process));
            self.round.enabled.extend(enabled);
        }
        let successor = self.interpreter.step(&self.at.state, taken);
        if successor.violations.contains(&Fault::NotEnabled) {
            return Err("the move is not executable".into());
        }
        self.round.taken.insert(taken.clone());
        self.round.waiting.retain(|process| !taken.involves(*process));
        let step = self.interpreter.describe(&self.at.state, taken, &successor);
        self.at.moved = false;
        match successor.state {
            Some(state) => self.at.state = state,
            None => self.at.stopped = true,
        }
        Ok(step)
    }

    fn is_stuck(&self) -> bool {
        self.at.stopped || self.interpreter.is_stuck(&self.at.state)
    }

    /// A process stands at a label `accept`, and that counts.
    fn holds(&self, state: &State) -> bool {
        self.claim.accepting.is_some()
            && self.interpreter.evaluate(state, None, &Expr::Accepting).is_ok_and(|value| value != 0)
    }

    /// What the claim has shown, in a few words.
    fn judge(&self, run: &Lasso, begins: &At, fairness: Fairness) -> Result<String, String> {
        if run.ending == Ending::Open {
            return match self.claim.locations.get(self.at.location.index()) {
                _ if self.fault.is_some() => {
                    Ok(format!("run-time error in claim: {}", self.fault.as_deref().unwrap_or_default()))
                }
                _ if self.failed => Ok("assertion violated in claim".into()),
                Some(location) if location.end => Ok("end state in claim reached".into()),
                _ => Err("the claim does not come to its end".into()),
            };
        }
        let same = |at: &At| (self.interpreter.identity(&at.state), at.location, at.stopped);
        if same(begins) != same(&self.at) {
            return Err("the cycle does not close".into());
        }
        if !self.round.accepted {
            return Err("the cycle of the claim is not accepting".into());
        }
        if self.round.taken.is_empty() {
            return if self.is_stuck() { Ok("accept stutter".into()) } else { Err("the run is not stuck".into()) };
        }
        self.is_fair(fairness)?;
        Ok("acceptance cycle".into())
    }

    fn is_fair(&self, fairness: Fairness) -> Result<(), String> {
        let Round { enabled, taken, waiting, .. } = &self.round;
        match fairness {
            Fairness::Weak if !waiting.is_empty() => {
                Err(format!("the cycle is not fair: processes {waiting:?} could move and never do"))
            }
            Fairness::Strong if !enabled.is_subset(taken) => {
                Err("the cycle is not fair: an action is enabled and never taken".into())
            }
            _ => Ok(()),
        }
    }
}
