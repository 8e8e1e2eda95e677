//! Faults: everything that can go wrong in a step, each with a sentence, in Spin's words where it has them.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// What went wrong in a step.
///
/// A violated assertion or trace is reported and the run goes on ([`Fault::is_final`] is false);
/// after any other fault there is no state to go on from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Error, Serialize, Deserialize)]
pub enum Fault {
    /// The right side of a division or a remainder is 0.
    #[error("division by zero")]
    DivisionByZero,
    /// A result does not fit 64 bits.
    #[error("arithmetic overflow")]
    Overflow,
    /// A subscript outside its array.
    #[error("invalid array index: {value} not in 0..{length}")]
    Index {
        /// The subscript.
        value: i64,
        /// How many elements there are.
        length: u32,
    },
    /// A value that its type refuses.
    #[error("value out of range: {value}")]
    OutOfRange {
        /// The value.
        value: i64,
    },
    /// A reference that refers to no object.
    #[error("reference to no object")]
    NoObject,
    /// More objects than there may be.
    #[error("too many objects ({limit} max)")]
    TooManyObjects {
        /// How many there may be.
        limit: u32,
    },
    /// A handle that names no channel.
    #[error("{}", no_channel(*handle))]
    NoChannel {
        /// The handle: 0 if the variable was never set.
        handle: i64,
    },
    /// A message has not as many fields as its channel.
    #[error("too {} parameters: {given} for a channel of {expected} fields", if given > expected { "many" } else { "few" })]
    MessageArity {
        /// How many the statement names.
        given: u32,
        /// How many the channel has.
        expected: u32,
    },
    /// The process table is full.
    #[error("too many processes ({limit} max)")]
    TooManyProcesses {
        /// How many may be alive.
        limit: u32,
    },
    /// More than 255 channels.
    #[error("too many queues (255 max)")]
    TooManyChannels,
    /// An action inside an effect is not executable.
    #[error("block in d_step seq")]
    Blocked,
    /// The effect says so.
    #[error("{0}")]
    Fail(String),
    /// A handshake cannot happen inside an effect.
    #[error("rv-attempt in d_step")]
    HandshakeInEffect,
    /// A message of a handshake channel cannot be looked at without taking it.
    #[error("error to poll rendezvous channel")]
    PollHandshake,
    /// An effect does not come to its end.
    #[error("the step runs for more than {limit} instructions: probably an endless loop in a d_step")]
    EffectTooLong {
        /// How many it may run.
        limit: u32,
    },
    /// An assertion does not hold.
    #[error("assertion violated {}", parenthesised(text))]
    AssertionViolated {
        /// The condition as the user wrote it.
        text: String,
    },
    /// The monitor has no place for an event.
    #[error("event_trace error (no matching event)")]
    TraceViolated,
    /// The monitor saw all the events that it forbids.
    #[error("event_trace error (all events matched)")]
    TraceCompleted,
    /// Two edges of the monitor fit the same event.
    #[error("non-determinism in event-trace")]
    TraceAmbiguous,
    /// A priority must be in 1..=255.
    #[error("priority is out of range")]
    PriorityOutOfRange {
        /// The value.
        value: i64,
    },
    /// Whether a process is enabled depends on whether it is enabled.
    #[error("enabled() depends on itself")]
    Circular,
    /// Something of a process is asked for where there is no such process.
    #[error("a local name is used outside of its process")]
    NoProcess,
    /// The move is not one that the state allows.
    #[error("the move is not executable in this state")]
    NotEnabled,
}

impl Fault {
    /// There is no state after it.
    pub fn is_final(&self) -> bool {
        !matches!(self, Fault::AssertionViolated { .. } | Fault::TraceViolated | Fault::TraceCompleted)
    }
}

fn no_channel(handle: i64) -> String {
    if handle == 0 {
        "ref to uninitialized chan name".into()
    } else {
        format!("ref to a channel that does not exist (handle {handle})")
    }
}

fn parenthesised(text: &str) -> String {
    if is_parenthesised(text) { text.into() } else { format!("({text})") }
}

/// The first parenthesis is closed by the last character.
fn is_parenthesised(text: &str) -> bool {
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return c == ')' && at + 1 == text.len();
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_spins() {
        let assertion = |text: &str| Fault::AssertionViolated { text: text.into() }.to_string();
        assert_eq!(assertion("x == 1"), "assertion violated (x == 1)");
        assert_eq!(assertion("(x == 1)"), "assertion violated (x == 1)");
        assert_eq!(assertion("(x) == (y)"), "assertion violated ((x) == (y))");
        assert_eq!(Fault::Index { value: 5, length: 3 }.to_string(), "invalid array index: 5 not in 0..3");
        assert_eq!(Fault::NoChannel { handle: 0 }.to_string(), "ref to uninitialized chan name");
        let arity = Fault::MessageArity { given: 1, expected: 2 };
        assert_eq!(arity.to_string(), "too few parameters: 1 for a channel of 2 fields");
    }
}
