//! The scheme of a system: processes, objects, and transitions that use operations on them (Godefroid's thesis, §2.1).
//!
//! Everything that partial-order methods ask is asked of a scheme. It is the thesis's "labelled formal concurrent
//! system" without the values: what a transition does to control, which conditions it waits for, which operations on
//! which objects it uses. A scheme made of a [`System`](ample_model::System) grows while a search meets new processes;
//! numbers that were given out keep their meaning.
//!
//! What depends on the state is asked of a [`View`].

use crate::bits::Bits;

/// Number of a process of the scheme.
pub type ProcessNumber = u32;
/// Number of an object.
pub type ObjectNumber = u32;
/// Number of a condition.
pub type ConditionNumber = u32;
/// Number of a transition.
pub type TransitionNumber = u32;

/// What kind of thing an object is; it says which operations there are and how they depend on each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A cell with a value.
    Variable,
    /// A queue of messages that holds at most so many, at least one.
    Channel {
        /// How many.
        capacity: u32,
    },
    /// A counting semaphore with values up to that one.
    Semaphore {
        /// The largest value.
        most: u32,
    },
    /// A lock: free, or held.
    Lock,
}

/// An operation on an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verb {
    /// Variable: look at the value.
    Read,
    /// Variable: any new value, which may depend on the old one.
    Write,
    /// Variable: this value.
    Set(i64),
    /// Variable: so much more, modulo the size of the type.
    Add(i64),
    /// Variable: the other truth value.
    Complement,
    /// Channel: put a message at the end. Not defined if the channel is full.
    Send,
    /// Channel: put a message where it belongs in the order. Not defined if the channel is full.
    SendSorted,
    /// Channel: take the oldest message. Not defined if there is none.
    Receive,
    /// Channel: take the first message that fits. Not defined if there is none.
    ReceiveAnywhere,
    /// Channel: look at the oldest message, if there is one.
    Peek,
    /// Channel: look at all messages.
    Search,
    /// Channel: how many messages there are.
    Length,
    /// Channel: is there none?
    Empty,
    /// Channel: is there no room?
    Full,
    /// Semaphore: P, take one. Not defined at zero.
    Down,
    /// Semaphore: V, give one. Not defined at the largest value.
    Up,
    /// Semaphore: is it zero?
    Zero,
    /// Lock: take it. Not defined if it is held.
    Acquire,
    /// Lock: give it back. Not defined if it is free.
    Release,
    /// Lock: is it held?
    Held,
}

/// An operation that a condition or a command uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operation {
    /// On which object.
    pub object: ObjectNumber,
    /// What is done to it.
    pub verb: Verb,
}

/// An object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// What it is.
    pub kind: Kind,
    /// How the user calls it.
    pub name: String,
}

/// One of the conditions that a transition waits for, beside control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The operations that its value depends on. For the definedness of an operation of the command (room in the
    /// channel of a send, a message for a receive) it is that operation itself, and [`is_definedness`] is set.
    ///
    /// [`is_definedness`]: Condition::is_definedness
    pub operations: Vec<Operation>,
    /// The condition says that an operation of the command is defined; it uses no operation of its own.
    pub is_definedness: bool,
    /// How the user would write it.
    pub text: String,
}

/// What a transition does to the control of one process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The process.
    pub process: ProcessNumber,
    /// Where it must stand.
    pub from: u32,
    /// Where it may stand afterwards: one location, or several if the transition is an atomic sequence.
    pub to: Vec<u32>,
}

/// A transition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    /// The processes that take part.
    pub steps: Vec<Step>,
    /// What it waits for, beside control.
    pub conditions: Vec<ConditionNumber>,
    /// The operations of its command.
    pub command: Vec<Operation>,
    /// It may do anything: nothing is independent of it.
    pub is_global: bool,
    /// It is enabled only where no other transition is, apart from others of the kind (Promela's `timeout`). Nothing is
    /// independent of it; but it cannot occur as long as something else is enabled.
    pub is_timeout: bool,
    /// What to show.
    pub label: String,
}

impl Transition {
    /// The process takes part.
    pub fn is_active(&self, process: ProcessNumber) -> bool {
        self.steps.iter().any(|step| step.process == process)
    }

    /// They have no process in common.
    pub fn is_parallel(&self, other: &Transition) -> bool {
        !self.steps.iter().any(|step| other.is_active(step.process))
    }

    /// They leave the same location of the same process.
    pub fn is_in_conflict(&self, other: &Transition) -> bool {
        let same = |step: &Step| other.steps.iter().any(|o| o.process == step.process && o.from == step.from);
        self.steps.iter().any(same)
    }
}

/// The scheme of a system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scheme {
    /// The names of the processes.
    pub processes: Vec<String>,
    /// The objects.
    pub objects: Vec<Object>,
    /// The conditions.
    pub conditions: Vec<Condition>,
    /// The transitions.
    pub transitions: Vec<Transition>,
    /// Per process: the transitions that may create it. May be shorter than the list of processes.
    pub starts: Vec<Vec<TransitionNumber>>,
}

impl Scheme {
    /// The transition puts a message into a channel, and takes none out of any. Of two sets with one transition each, the
    /// one without such a transition is the better choice: where messages are taken out as soon as possible, there are
    /// fewer contents of channels to be seen (example 8.1).
    pub fn only_sends(&self, transition: TransitionNumber) -> bool {
        let command = &self.transitions[transition as usize].command;
        let has = |verbs: [Verb; 2]| command.iter().any(|operation| verbs.contains(&operation.verb));
        has([Verb::Send, Verb::SendSorted]) && !has([Verb::Receive, Verb::ReceiveAnywhere])
    }

    /// The operations that a transition uses: those of its conditions and those of its command, each once.
    pub fn used(&self, transition: TransitionNumber) -> Vec<Operation> {
        let transition = &self.transitions[transition as usize];
        let mut used: Vec<Operation> = Vec::new();
        let conditions = transition.conditions.iter().map(|number| &self.conditions[*number as usize]);
        let conditions = conditions.flat_map(|condition| &condition.operations);
        for operation in conditions.chain(&transition.command) {
            if !used.contains(operation) {
                used.push(*operation);
            }
        }
        used
    }
}

/// A state, as far as the choice of a persistent set depends on it.
pub trait View {
    /// Where the process stands; none if it is not there (ended, or not yet begun).
    fn location(&self, process: ProcessNumber) -> Option<u32>;

    /// The enabled transitions, in the order of the search.
    fn enabled(&self) -> &[TransitionNumber];

    /// Is the transition among the enabled ones?
    fn is_enabled(&self, transition: TransitionNumber) -> bool;

    /// Does that condition of that transition hold? Asked only if the processes of the transition stand where they must,
    /// or if [`asks_ahead`](View::asks_ahead) allows it.
    fn holds(&mut self, transition: TransitionNumber, condition: ConditionNumber) -> bool;

    /// The youngest process.
    fn youngest(&self) -> Option<ProcessNumber> {
        None
    }

    /// May that condition of that transition be asked for although its processes stand elsewhere? Then a condition that
    /// does not hold may be waited for instead of a process.
    fn asks_ahead(&self, _transition: TransitionNumber, _condition: ConditionNumber) -> bool {
        false
    }

    /// The transitions that may still be executed, in this state or after it; none if that is not known.
    fn alive(&self) -> Option<&Bits> {
        None
    }

    /// How many messages there are in the channel, or the value of the semaphore or lock; 0 for a variable.
    fn fill(&mut self, object: ObjectNumber) -> u32;
}
