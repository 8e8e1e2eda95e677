//! All reachable states, as plainly as possible: the oracle for the tests of every engine.

use std::collections::{BTreeSet, HashSet, VecDeque};

use super::{Interpreter, State};
use crate::system::System;

/// What an exhaustive search found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explored {
    /// Distinct states in which nobody holds control.
    pub states: u64,
    /// Distinct states passed through inside atomic sequences.
    pub transient: u64,
    /// Moves that ended in a state, each counted once from every state it leaves.
    pub transitions: u64,
    /// States without a move that are no proper end.
    pub deadlocks: u64,
    /// Moves in which something went wrong, and initial states that are faults.
    pub violations: u64,
    /// What went wrong, each sentence once.
    pub messages: BTreeSet<String>,
    /// False if the limit on the number of states was reached.
    pub complete: bool,
}

/// Explores the state space breadth first, up to `limit` states (transient ones included).
///
/// The system must pass [`check`](crate::check::check).
pub fn explore(system: &System, limit: usize) -> Explored {
    let interpreter = Interpreter::new(system);
    let mut explored = Explored { complete: true, ..Explored::default() };
    let mut seen = HashSet::new();
    let mut frontier = VecDeque::new();
    for state in interpreter.initial_states() {
        match state {
            Ok(state) => visit(&interpreter, state, limit, &mut seen, &mut frontier, &mut explored),
            Err(fault) => {
                explored.violations += 1;
                explored.messages.insert(fault.to_string());
            }
        }
        if !explored.complete {
            return explored;
        }
    }
    while let Some(state) = frontier.pop_front() {
        let successors = interpreter.successors(&state);
        if successors.is_empty() && !interpreter.is_end_state(&state) {
            explored.deadlocks += 1;
        }
        for (_, successor) in successors {
            if let Some(sentence) = successor.violation() {
                explored.violations += 1;
                explored.messages.insert(sentence);
            }
            if let Some(next) = successor.state {
                explored.transitions += 1;
                visit(&interpreter, next, limit, &mut seen, &mut frontier, &mut explored);
            }
        }
        if !explored.complete {
            break;
        }
    }
    explored
}

fn visit(
    interpreter: &Interpreter<'_>,
    state: State,
    limit: usize,
    seen: &mut HashSet<State>,
    frontier: &mut VecDeque<State>,
    explored: &mut Explored,
) {
    let identity = interpreter.identity(&state);
    if seen.contains(&identity) {
        return;
    }
    if seen.len() >= limit {
        explored.complete = false;
        return;
    }
    let control = identity.control;
    match control {
        None => explored.states += 1,
        Some(_) => explored.transient += 1,
    }
    seen.insert(identity);
    frontier.push_back(State { control, ..state });
}
