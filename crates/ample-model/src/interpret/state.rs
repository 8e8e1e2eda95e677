//! States: the values that a step changes, in their plainest form.

use serde::{Deserialize, Serialize};

use crate::system::{ChannelId, LocationId, ProcessId, RecordId};

/// A state of a [`System`](crate::System).
///
/// A state in which `control` is held is *transient*: a run passes through it, but it is not counted,
/// and properties are not looked at. Compare states by their [identity](crate::Interpreter::identity).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct State {
    /// All slots of all global variables, in order.
    pub globals: Vec<i64>,
    /// The channels; handle `h` is at index `h - 1`. Those of the globals come first, then those of
    /// each process in turn.
    pub channels: Vec<ChannelState>,
    /// The live processes; the index is the process id.
    pub processes: Vec<ProcessState>,
    /// Who holds exclusive control.
    pub control: Option<u32>,
    /// Who moved last, if the system [`uses_last`](crate::System::uses_last); else 0.
    pub last: u32,
    /// Where the monitor stands; 0 if there is none.
    pub monitor: u32,
    /// The objects; reference `r` is at index `r - 1`. A step leaves those that can be reached, in the order in which they
    /// are discovered: see [`canonical`](crate::Interpreter::canonical).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub heap: Vec<Object>,
}

/// An object on the heap.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Object {
    /// Its type.
    pub record: RecordId,
    /// All its slots.
    pub cells: Vec<i64>,
}

/// A channel and what it holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ChannelState {
    /// Its kind.
    pub kind: ChannelId,
    /// The messages, oldest first.
    pub messages: Vec<Vec<i64>>,
}

/// A live process.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ProcessState {
    /// Its type.
    pub process: ProcessId,
    /// Where it stands.
    pub location: LocationId,
    /// All slots of all its locals, parameters first.
    pub locals: Vec<i64>,
    /// Its priority.
    pub priority: u8,
}

impl State {
    /// The channel with that handle.
    pub fn channel(&self, handle: i64) -> Option<&ChannelState> {
        usize::try_from(handle).ok()?.checked_sub(1).and_then(|index| self.channels.get(index))
    }

    /// The object that a reference of that type refers to.
    pub fn object(&self, record: RecordId, reference: i64) -> Option<&Object> {
        let index = usize::try_from(reference).ok()?.checked_sub(1)?;
        self.heap.get(index).filter(|object| object.record == record)
    }

    /// The process with that id.
    pub fn process(&self, id: i64) -> Option<&ProcessState> {
        usize::try_from(id).ok().and_then(|index| self.processes.get(index))
    }
}
