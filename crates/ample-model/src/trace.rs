//! Traces: a run of the system that shows something.
//!
//! A [`Step`] names the move exactly (which process took which edge, and with whom it shook hands; or the inputs and
//! choices of a joint step), so that any trace can be replayed by the reference interpreter without a search; the rest of
//! it is there to be read.

use serde::{Deserialize, Serialize};

use crate::initial::StartNumber;
use crate::interpret::Cell;
use crate::system::{ActionId, EdgeId, EventKind, ProcessId};

/// One move: enough to repeat it.
///
/// ```
/// use ample_model::{EdgeId, Move};
///
/// let shake = Move::Handshake { sender: (0, EdgeId(4)), receiver: (2, EdgeId(1)) };
/// assert_eq!(shake.movers().collect::<Vec<_>>(), [(0, EdgeId(4)), (2, EdgeId(1))]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub enum Move {
    /// One process takes an edge of its type.
    Process {
        /// The id of the process.
        process: u32,
        /// The edge.
        edge: EdgeId,
    },
    /// Two processes take an edge each, and a message passes between them.
    Handshake {
        /// The id of the sender, and its edge.
        sender: (u32, EdgeId),
        /// The id of the receiver, and its edge.
        receiver: (u32, EdgeId),
    },
    /// All processes that list the action take an edge of it.
    Action {
        /// The action.
        action: ActionId,
        /// Their ids, in ascending order, and their edges.
        participants: Box<[(u32, EdgeId)]>,
    },
    /// A joint step of a [synchronous](crate::Coupling::Synchronous) system. Cells are named by their slot among all
    /// global slots, in ascending order. A step that ends in a fault names those that were chosen before it.
    Joint {
        /// The values of the inputs.
        inputs: Box<[(u32, i64)]>,
        /// The next values of the cells that had a choice.
        choices: Box<[(u32, i64)]>,
    },
    /// A never claim takes an edge that changes the state.
    Claim {
        /// The claim, among the process types.
        claim: ProcessId,
        /// The edge.
        edge: EdgeId,
    },
}

impl Move {
    /// A move of one process, or of two.
    pub fn of(process: u32, edge: EdgeId, partner: Option<(u32, EdgeId)>) -> Move {
        match partner {
            Some(receiver) => Move::Handshake { sender: (process, edge), receiver },
            None => Move::Process { process, edge },
        }
    }

    /// The processes that take part and their edges, the one that begins first. None in a joint step or a claim's.
    pub fn movers(&self) -> impl Iterator<Item = (u32, EdgeId)> + '_ {
        let (one, other, all): (_, _, &[(u32, EdgeId)]) = match self {
            Move::Process { process, edge } => (Some((*process, *edge)), None, &[]),
            Move::Handshake { sender, receiver } => (Some(*sender), Some(*receiver), &[]),
            Move::Action { participants, .. } => (None, None, participants),
            Move::Joint { .. } | Move::Claim { .. } => (None, None, &[]),
        };
        one.into_iter().chain(other).chain(all.iter().copied())
    }

    /// The process that moves, and in a handshake the one that sends; none where there is not one.
    pub fn mover(&self) -> Option<u32> {
        match self {
            Move::Process { process, .. } | Move::Handshake { sender: (process, _), .. } => Some(*process),
            Move::Action { .. } | Move::Joint { .. } | Move::Claim { .. } => None,
        }
    }

    /// The process takes part.
    pub fn involves(&self, process: u32) -> bool {
        self.movers().any(|(mover, _)| mover == process)
    }

    /// The claim whose move it is, if it is one of a claim.
    pub fn claim(&self) -> Option<ProcessId> {
        match self {
            Move::Claim { claim, .. } => Some(*claim),
            _ => None,
        }
    }
}

/// A move as it is written down. Those of processes and of claims share a form that is older than the others: process ids
/// near the end of their range stand for claims, which are no processes, the last one for the first process type.
#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Edge { process: u32, edge: EdgeId, partner: Option<(u32, EdgeId)> },
    Action { action: ActionId, participants: Box<[(u32, EdgeId)]> },
    Joint { inputs: Box<[(u32, i64)]>, choices: Box<[(u32, i64)]> },
}

/// Process ids from here on stand for never claims.
const CLAIMS: u32 = u32::MAX - (1 << 16);

impl From<Written> for Move {
    fn from(written: Written) -> Move {
        match written {
            Written::Edge { process, edge, partner: None } if process > CLAIMS => {
                Move::Claim { claim: ProcessId(u32::MAX - process), edge }
            }
            Written::Edge { process, edge, partner } => Move::of(process, edge, partner),
            Written::Action { action, participants } => Move::Action { action, participants },
            Written::Joint { inputs, choices } => Move::Joint { inputs, choices },
        }
    }
}

impl From<Move> for Written {
    fn from(taken: Move) -> Written {
        match taken {
            Move::Process { process, edge } => Written::Edge { process, edge, partner: None },
            Move::Handshake { sender: (process, edge), receiver } => {
                Written::Edge { process, edge, partner: Some(receiver) }
            }
            Move::Action { action, participants } => Written::Action { action, participants },
            Move::Joint { inputs, choices } => Written::Joint { inputs, choices },
            Move::Claim { claim, edge } => Written::Edge { process: u32::MAX - claim.0, edge, partner: None },
        }
    }
}

/// A cell whose value a step changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The cell in the words of the source; a local is prefixed with its process, `name(id):cell`.
    pub name: String,
    /// Its value before; absent if the cell is new.
    pub before: Option<String>,
    /// Its value after.
    pub after: String,
}

/// A message that was sent or received in a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Sending or receiving.
    pub kind: EventKind,
    /// The id of the process that did it.
    pub process: u32,
    /// The channel's name.
    pub channel: String,
    /// The channel's handle in that state.
    pub handle: u32,
    /// The fields, as text.
    pub fields: Vec<String>,
}

/// A step of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The move.
    #[serde(rename = "move")]
    pub taken: Move,
    /// The process in words: `name(id)`; the name of an action that several take part in. A joint step has none.
    pub process: String,
    /// The statement in the words of the source; the inputs and choices of a joint step.
    pub text: String,
    /// `file:line`, where known.
    pub at: Option<String>,
    /// In a handshake: the receiver in words, its statement and its place.
    pub partner: Option<(String, String, Option<String>)>,
    /// In an action of several: each process in words, its statement and its place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub participants: Vec<(String, String, Option<String>)>,
    /// In a joint step: the inputs and their values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<Cell>,
    /// What changed.
    pub changes: Vec<Change>,
    /// Messages sent and received.
    pub messages: Vec<Message>,
    /// What was printed.
    pub printed: String,
    /// What went wrong in this step, if anything did.
    pub violation: Option<String>,
}

/// A run: a prefix and, for a violation of liveness, a cycle that repeats for ever.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    /// Which of the initial states it starts in.
    #[serde(default)]
    pub start: StartNumber,
    /// From the initial state.
    pub prefix: Vec<Step>,
    /// From the last state of the prefix back to it.
    pub cycle: Vec<Step>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_are_written_as_ever() {
        let table = [
            (Move::of(3, EdgeId(1), None), r#"{"process":3,"edge":1,"partner":null}"#),
            (Move::of(3, EdgeId(1), Some((0, EdgeId(7)))), r#"{"process":3,"edge":1,"partner":[0,7]}"#),
            (Move::Claim { claim: ProcessId(2), edge: EdgeId(1) }, r#"{"process":4294967293,"edge":1,"partner":null}"#),
            (
                Move::Action { action: ActionId(0), participants: [(0, EdgeId(1)), (2, EdgeId(0))].into() },
                r#"{"action":0,"participants":[[0,1],[2,0]]}"#,
            ),
            (
                Move::Joint { inputs: [(0, 1)].into(), choices: [(2, -5)].into() },
                r#"{"inputs":[[0,1]],"choices":[[2,-5]]}"#,
            ),
        ];
        for (taken, text) in table {
            assert_eq!(serde_json::to_string(&taken).unwrap(), text);
            assert_eq!(serde_json::from_str::<Move>(text).unwrap(), taken);
        }
        assert!(serde_json::from_str::<Move>(r#"{"edge":1}"#).is_err());
    }
}
