//! Traces: a run of the system that shows something.
//!
//! A [`Step`] names the move exactly (which process took which edge, and with whom it shook hands),
//! so that any trace can be replayed by the reference interpreter; the rest of it is there to be read.

use serde::{Deserialize, Serialize};

use crate::initial::StartNumber;
use crate::system::{EdgeId, EventKind, ProcessId};

/// One move: enough to repeat it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Move {
    /// The id of the process that moves.
    pub process: u32,
    /// The edge it takes, in its process type.
    pub edge: EdgeId,
    /// In a handshake: the receiver and its edge.
    pub partner: Option<(u32, EdgeId)>,
}

/// Process ids from here on stand for never claims, which are no processes: the last one for the first process type.
const CLAIMS: u32 = u32::MAX - (1 << 16);

impl Move {
    /// A move of a never claim, which changes the state.
    ///
    /// ```
    /// use ample_model::{EdgeId, Move, ProcessId};
    ///
    /// assert_eq!(Move::of_claim(ProcessId(3), EdgeId(1)).claim(), Some(ProcessId(3)));
    /// assert_eq!(Move { process: 3, edge: EdgeId(1), partner: None }.claim(), None);
    /// ```
    pub fn of_claim(claim: ProcessId, edge: EdgeId) -> Move {
        Move { process: u32::MAX - claim.0, edge, partner: None }
    }

    /// The claim whose move it is, if it is one of a claim.
    pub fn claim(&self) -> Option<ProcessId> {
        claim_of(self.process)
    }
}

/// The claim that a process id stands for.
pub(crate) fn claim_of(process: u32) -> Option<ProcessId> {
    (process > CLAIMS).then(|| ProcessId(u32::MAX - process))
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
    /// The process in words: `name(id)`.
    pub process: String,
    /// The statement in the words of the source.
    pub text: String,
    /// `file:line`, where known.
    pub at: Option<String>,
    /// In a handshake: the receiver in words, its statement and its place.
    pub partner: Option<(String, String, Option<String>)>,
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
