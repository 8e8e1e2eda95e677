//! The library of objects (Godefroid's thesis, §3.4): for every kind of object what its operations do, and how they depend on each
//! other.
//!
//! A kind of object is a file below this one: its *semantics*, small enough to be run over all values, and its *tables*,
//! written once and asked in constant time. What the tables say is never taken on trust: [`check`] compares them with
//! the semantics by brute force, and one test does so for all kinds. A new kind is a new file, an arm in
//! `with_object`, and nothing else.
//!
//! A table depends on the value of the object only through its *fill*: the number of messages in a channel, the value of
//! a semaphore, whether a lock is held; 0 for a variable. So it holds whatever the messages are.

mod channel;
pub mod check;
mod lock;
mod semaphore;
mod variable;

use crate::scheme::{Kind, Verb};

/// Which relation of dependency is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Table {
    /// The coarsest: any two operations on the same object are dependent (§3.1).
    Objects,
    /// By operations, and the same in every state.
    Constant,
    /// The finest valid one that depends on the fill.
    Conditional,
    /// The finest one that is weakly uniform too (Def. 6.6), as sleep sets with a proviso need it.
    WeaklyUniform,
}

impl Table {
    /// All of them.
    pub const ALL: [Table; 4] = [Table::Objects, Table::Constant, Table::Conditional, Table::WeaklyUniform];
}

/// A value of an object, or what an operation answers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// No answer.
    Nothing,
    /// The value of a variable, a semaphore or a lock, a message, a length, or a truth value.
    Number(i64),
    /// The messages of a channel, the oldest first.
    Messages(Vec<i64>),
}

/// A kind of object: its semantics and its tables.
trait Object {
    /// The operations; of those with an argument, enough to distinguish them.
    fn verbs(&self) -> Vec<Verb>;

    /// The values, over a small alphabet.
    fn values(&self) -> Vec<Value>;

    /// The inputs that the operation may be given, over the same alphabet.
    fn inputs(&self, verb: Verb) -> Vec<i64>;

    /// What the operation answers and leaves behind; none if it is not defined.
    fn apply(&self, verb: Verb, input: i64, value: &Value) -> Option<(Value, Value)>;

    /// The fill of the value.
    fn fill(&self, value: &Value) -> u32;

    /// The two are dependent at that fill.
    fn dependent(&self, first: Verb, second: Verb, fill: u32, table: Table) -> bool;

    /// The two are dependent at some fill.
    fn can_be_dependent(&self, first: Verb, second: Verb) -> bool;

    /// The two are both defined and dependent at some fill.
    fn do_not_accord(&self, first: Verb, second: Verb, table: Table) -> bool;

    /// From that fill, with nothing before it that depends on `operation`, `by` may come to be executed where it does.
    fn disturbs(&self, operation: Verb, by: Verb, fill: u32, table: Table) -> bool;
}

/// Evaluates an expression for the object of a kind.
macro_rules! with_object {
    ($kind:expr, $object:ident => $result:expr) => {
        match $kind {
            Kind::Variable => {
                let $object = variable::Variable;
                $result
            }
            Kind::Channel { capacity } => {
                let $object = channel::Channel { capacity };
                $result
            }
            Kind::Semaphore { most } => {
                let $object = semaphore::Semaphore { most };
                $result
            }
            Kind::Lock => {
                let $object = lock::Lock;
                $result
            }
        }
    };
}

/// Are two operations on an object of that kind dependent where its fill is that one (Defs. 3.13, 3.18)?
///
/// ```
/// use ample_reduce::objects::{Table, dependent};
/// use ample_reduce::scheme::{Kind, Verb};
/// let channel = Kind::Channel { capacity: 2 };
/// assert!(dependent(channel, Verb::Send, Verb::Receive, 0, Table::Conditional));
/// assert!(!dependent(channel, Verb::Send, Verb::Receive, 1, Table::Conditional));
/// ```
#[inline]
pub fn dependent(kind: Kind, first: Verb, second: Verb, fill: u32, table: Table) -> bool {
    table == Table::Objects || with_object!(kind, object => object.dependent(first, second, fill, table))
}

/// Are they dependent at some fill? The same for all tables by operations.
#[inline]
pub fn can_be_dependent(kind: Kind, first: Verb, second: Verb, table: Table) -> bool {
    table == Table::Objects || with_object!(kind, object => object.can_be_dependent(first, second))
}

/// Are they both defined, and dependent, at some fill?
///
/// ```
/// use ample_reduce::objects::{Table, do_not_accord};
/// use ample_reduce::scheme::{Kind, Verb};
/// let channel = Kind::Channel { capacity: 2 };
/// assert!(do_not_accord(channel, Verb::Send, Verb::Send, Table::Conditional));
/// assert!(!do_not_accord(channel, Verb::Send, Verb::Receive, Table::Conditional));
/// ```
#[inline]
pub fn do_not_accord(kind: Kind, first: Verb, second: Verb, table: Table) -> bool {
    table == Table::Objects || with_object!(kind, object => object.do_not_accord(first, second, table))
}

/// The first interference of `by` with `operation`, written `operation ▷ by` (Def. 4.26): from that fill, can other
/// operations, none of which depends on `operation` where it occurs, lead to where `by` occurs and depends on it?
///
/// ```
/// use ample_reduce::objects::{Table, disturbs};
/// use ample_reduce::scheme::{Kind, Verb};
/// let channel = Kind::Channel { capacity: 5 };
/// assert!(disturbs(channel, Verb::Empty, Verb::Receive, 3, Table::Conditional));
/// assert!(!disturbs(channel, Verb::Receive, Verb::Empty, 3, Table::Conditional));
/// ```
#[inline]
pub fn disturbs(kind: Kind, operation: Verb, by: Verb, fill: u32, table: Table) -> bool {
    table == Table::Objects || with_object!(kind, object => object.disturbs(operation, by, fill, table))
}

/// The operations on objects of a kind; of those with an argument, enough to distinguish them.
pub fn verbs(kind: Kind) -> Vec<Verb> {
    with_object!(kind, object => object.verbs())
}

/// The values of objects of a kind, over a small alphabet.
pub fn values(kind: Kind) -> Vec<Value> {
    with_object!(kind, object => object.values())
}

/// What the operation may be given, over the same alphabet: a message to send, a pattern to receive by, a value to write.
pub fn inputs(kind: Kind, verb: Verb) -> Vec<i64> {
    with_object!(kind, object => object.inputs(verb))
}

/// What an operation answers, and the value it leaves behind; none if it is not defined.
///
/// ```
/// use ample_reduce::objects::{Value, apply};
/// use ample_reduce::scheme::{Kind, Verb};
/// let channel = Kind::Channel { capacity: 2 };
/// let both = Value::Messages(vec![7, 8]);
/// assert_eq!(apply(channel, Verb::Receive, 0, &both), Some((Value::Number(7), Value::Messages(vec![8]))));
/// assert_eq!(apply(channel, Verb::Send, 9, &both), None);
/// ```
pub fn apply(kind: Kind, verb: Verb, input: i64, value: &Value) -> Option<(Value, Value)> {
    with_object!(kind, object => object.apply(verb, input, value))
}

/// The fill of a value.
pub fn fill(kind: Kind, value: &Value) -> u32 {
    with_object!(kind, object => object.fill(value))
}

#[cfg(test)]
mod tests;
