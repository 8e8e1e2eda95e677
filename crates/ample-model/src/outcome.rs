//! Outcomes: the one kind of answer that every engine gives.

use ample_budget::Interrupted;
use serde::{Deserialize, Serialize};

use crate::interpret::EndState;
use crate::trace::Trace;

/// How sure a "holds" is. An approximate method never says [`Certainty::Proved`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Certainty {
    /// For all runs.
    Proved,
    /// For all runs up to that many steps.
    Bounded(u64),
    /// Probably, with an estimate of the chance that a state was missed.
    Probable(f64),
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reason {
    /// The time limit was reached.
    Time,
    /// The memory limit was reached.
    Memory,
    /// The depth limit was reached.
    Depth,
    /// The user interrupted it.
    Interrupted,
    /// The engine cannot do this; the sentence says what and what would work.
    Unsupported(String),
    /// Something that cannot be has happened: an error in ample, and what is known of it.
    Internal(String),
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Reason::Time => f.write_str("the time limit was reached"),
            Reason::Memory => f.write_str("the memory limit was reached"),
            Reason::Depth => f.write_str("the depth limit was reached"),
            Reason::Interrupted => f.write_str("interrupted"),
            Reason::Unsupported(why) => f.write_str(why),
            Reason::Internal(what) => write!(f, "internal error: {what}"),
        }
    }
}

impl From<Interrupted> for Reason {
    fn from(interrupted: Interrupted) -> Reason {
        match interrupted {
            Interrupted::Deadline => Reason::Time,
            Interrupted::Memory => Reason::Memory,
            Interrupted::Cancelled => Reason::Interrupted,
        }
    }
}

/// The answer to one property.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Outcome {
    /// It holds.
    Holds(Certainty),
    /// It does not, and this shows it.
    Violated(Box<Violation>),
    /// Not decided.
    Unknown(Reason),
}

/// A violation and its evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    /// What went wrong, in a sentence.
    pub message: String,
    /// The run that shows it; replayed through the reference interpreter before it is shown.
    pub trace: Trace,
    /// In branching time, where one run is not enough: what else there is to see along it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub branches: Vec<Branch>,
}

/// A run that branches off another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Branch {
    /// After so many steps of the other, those of its cycle counted after those of its prefix.
    pub after: usize,
    /// What it shows, in a sentence.
    pub message: String,
    /// The run, from that state on; its `start` means nothing.
    pub trace: Trace,
    /// What branches off it in turn.
    pub branches: Vec<Branch>,
    /// The state at its end, or where its cycle begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<Box<EndState>>,
}

/// What a search did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    /// Distinct states stored. States inside an atomic sequence do not count, as in Spin.
    pub states: u64,
    /// Their number in decimal, where there are more than [`states`](Statistics::states) can hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub many_states: Option<String>,
    /// States of atomic sequences that had to be stored beside them.
    pub atomic_states: u64,
    /// Moves explored that ended in a state: stored and matched.
    pub transitions: u64,
    /// Steps inside atomic sequences.
    pub atomic_steps: u64,
    /// The deepest state reached.
    pub depth: u64,
    /// Seconds of search.
    pub time_s: f64,
    /// Bytes taken from the system at the peak.
    pub memory_bytes: u64,
    /// Bytes that the visited set holds.
    pub store_bytes: u64,
    /// The longest packed state, in bytes.
    pub state_bytes: u64,
    /// False if a limit or an interrupt ended the search.
    pub complete: bool,
    /// Transitions and what atomic sequences took were counted, which searches over sets of states do not do.
    #[serde(default)]
    pub counts_transitions: bool,
    /// The depth was measured.
    #[serde(default)]
    pub counts_depth: bool,
    /// States expanded by a directed search, those included that were expanded again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expanded: Option<u64>,
    /// States that A* has found cheaper paths to, and put back among those that wait to be expanded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reopened: Option<u64>,
    /// How many states an approximate store has probably omitted; none if it is exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub omitted: Option<f64>,
}
