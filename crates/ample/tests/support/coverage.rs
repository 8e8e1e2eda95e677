//! Which edges the reference interpreter takes, in a search that leaves nothing out.

#![allow(dead_code)] // Not every test uses all of it.

use std::collections::{HashSet, VecDeque};

use ample::{Move, System, Unreached};
use ample_engine::unreached::{Coverage, Taken, unreached};
use ample_model::interpret::Interpreter;
use ample_model::{EdgeId, State};

/// The statements that no run executes, by the reference interpreter; none if there are more states.
pub fn unreached_by_interpreter(system: &System, most_states: usize) -> Option<Vec<Unreached>> {
    let interpreter = Interpreter::new(system);
    let mut coverage = Coverage::default();
    let mut seen: HashSet<State> = interpreter.initial_states().filter_map(Result::ok).collect();
    let mut queue: VecDeque<State> = seen.iter().cloned().collect();
    while let Some(state) = queue.pop_front() {
        for (taken, successor) in interpreter.successors(&state) {
            let became = if successor.state.is_some() { Taken::Completed } else { Taken::Failed };
            for (process, edge) in edges(&taken) {
                coverage.note(state.processes[process as usize].process, edge, became);
            }
            if let Some(next) = successor.state
                && seen.insert(next.clone())
            {
                queue.push_back(next);
            }
        }
        if seen.len() > most_states {
            return None;
        }
    }
    Some(unreached(system, coverage))
}

fn edges(taken: &Move) -> Vec<(u32, EdgeId)> {
    match taken {
        Move::Process { process, edge } => vec![(*process, *edge)],
        Move::Handshake { sender, receiver } => vec![*sender, *receiver],
        Move::Action { participants, .. } => participants.to_vec(),
        Move::Joint { .. } | Move::Claim { .. } => Vec::new(),
    }
}
