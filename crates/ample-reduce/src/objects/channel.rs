//! A queue of messages (Godefroid's thesis, examples 3.19, 3.20, 4.29, 6.7), with sorted sends, receives of the first message that fits,
//! and looks at the oldest message or at all of them.
//!
//! Sorted sends put a message before the first larger one. Two of them commute while there is room for both; nothing
//! else commutes with them as long as somebody sees which message is the oldest. A receive of the first message that
//! fits may have to wait in front of a channel that is not empty, so that every send can be what it waits for.

use super::{Object, Table, Value};
use crate::scheme::Verb;

/// A queue of messages.
#[derive(Clone, Copy)]
pub(super) struct Channel {
    pub(super) capacity: u32,
}

/// What an operation does to the number of messages. The order is that of the tables.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Role {
    Sends,
    Takes,
    Looks,
}

/// None for what is no operation on a channel.
fn role(verb: Verb) -> Option<Role> {
    match verb {
        Verb::Send | Verb::SendSorted => Some(Role::Sends),
        Verb::Receive | Verb::ReceiveAnywhere => Some(Role::Takes),
        Verb::Peek | Verb::Search | Verb::Length | Verb::Empty | Verb::Full => Some(Role::Looks),
        _ => None,
    }
}

/// The fill, and how many messages there is room for.
#[derive(Clone, Copy)]
struct Level {
    fill: u32,
    room: u32,
}

impl Level {
    fn is_defined(self, role: Role) -> bool {
        match role {
            Role::Sends => self.room > 0,
            Role::Takes => self.fill > 0,
            Role::Looks => true,
        }
    }
}

impl Channel {
    fn level(self, fill: u32) -> Level {
        Level { fill, room: self.capacity.saturating_sub(fill) }
    }

    /// The tables that depend on the fill, for a first operation whose role does not come after the second's.
    fn entry(first: Verb, second: Verb, level: Level, table: Table) -> bool {
        use Verb::{Empty, Full, Peek, Receive, ReceiveAnywhere, Send, SendSorted};
        let Level { fill, room } = level;
        let is_uniform = table == Table::WeaklyUniform;
        match (first, second) {
            (SendSorted, SendSorted) if !is_uniform => room == 1,
            (Send | SendSorted, Send | SendSorted) => room > 0,
            (Send, Receive) => fill == 0 || room == 0,
            (Send | SendSorted, Receive | ReceiveAnywhere) => true,
            (Receive | ReceiveAnywhere, Receive | ReceiveAnywhere) => fill > 0,
            (Send, Peek) | (Send | SendSorted, Empty) => fill == 0,
            (Send | SendSorted, Full) if !is_uniform => room == 1,
            (Send | SendSorted, _) => room > 0,
            (Receive | ReceiveAnywhere, Empty) if !is_uniform => fill == 1,
            (Receive | ReceiveAnywhere, Full) => room == 0,
            (Receive | ReceiveAnywhere, _) => fill > 0,
            _ => false,
        }
    }

    /// The first-interference table for dependency that depends on the fill.
    fn first_interference(self, operation: Verb, by: Verb, level: Level, table: Table) -> bool {
        use Verb::{Empty, Full, Peek, Receive, ReceiveAnywhere, Send, SendSorted};
        let Level { fill, room } = level;
        let is_uniform = table == Table::WeaklyUniform;
        match (operation, by) {
            (Send, Receive) => room == 0,
            (Send, Full) if !is_uniform => room == 1,
            (SendSorted, Receive | ReceiveAnywhere) => fill > 0 || !is_uniform && self.capacity > 1,
            (SendSorted, Empty) => fill == 0,
            (Send, ReceiveAnywhere) => fill > 0,
            (Send | SendSorted, _) => room > 0,
            (Receive, Send) => fill == 0,
            (Receive | ReceiveAnywhere, Send | SendSorted) => room > 0,
            (Receive | ReceiveAnywhere, Empty) if !is_uniform => fill == 1,
            (ReceiveAnywhere, Full) => room == 0,
            (Receive | ReceiveAnywhere, _) => fill > 0,
            (Peek, Send) | (Empty, Send | SendSorted) => fill == 0,
            (Full, Receive | ReceiveAnywhere) => room == 0,
            (_, Send | SendSorted) => room > 0,
            (_, Receive | ReceiveAnywhere) => fill > 0,
            _ => false,
        }
    }
}

impl Object for Channel {
    fn verbs(&self) -> Vec<Verb> {
        use Verb::{Empty, Full, Length, Peek, Receive, ReceiveAnywhere, Search, Send, SendSorted};
        vec![Send, Receive, Length, Empty, Full, SendSorted, ReceiveAnywhere, Peek, Search]
    }

    fn values(&self) -> Vec<Value> {
        let mut values = vec![Vec::new()];
        let mut longest = 0..1;
        for _ in 0..self.capacity {
            for shorter in longest.clone() {
                for message in self.inputs(Verb::Send) {
                    let mut longer: Vec<i64> = values[shorter].clone();
                    longer.push(message);
                    values.push(longer);
                }
            }
            longest = longest.end..values.len();
        }
        values.into_iter().map(Value::Messages).collect()
    }

    /// Three messages, or two in a large channel. A receive of the first message that fits is given a message, or 0 for
    /// any.
    fn inputs(&self, verb: Verb) -> Vec<i64> {
        let largest = if self.capacity <= 3 { 3 } else { 2 };
        match verb {
            Verb::Send | Verb::SendSorted => (1..=largest).collect(),
            Verb::ReceiveAnywhere => (0..=largest).collect(),
            _ => vec![0],
        }
    }

    fn apply(&self, verb: Verb, input: i64, value: &Value) -> Option<(Value, Value)> {
        let Value::Messages(messages) = value else { return None };
        if !self.level(messages.len() as u32).is_defined(role(verb)?) {
            return None;
        }
        let mut rest = messages.clone();
        let truth = |truth: bool| Value::Number(i64::from(truth));
        let answer = match verb {
            Verb::Send => {
                rest.push(input);
                Value::Nothing
            }
            Verb::SendSorted => {
                let place = rest.iter().position(|message| *message > input).unwrap_or(rest.len());
                rest.insert(place, input);
                Value::Nothing
            }
            Verb::Receive => Value::Number(rest.remove(0)),
            Verb::ReceiveAnywhere => {
                let place = rest.iter().position(|message| input == 0 || *message == input)?;
                Value::Number(rest.remove(place))
            }
            Verb::Peek => rest.first().map_or(Value::Nothing, |oldest| Value::Number(*oldest)),
            Verb::Search => Value::Messages(rest.clone()),
            Verb::Length => Value::Number(rest.len() as i64),
            Verb::Empty => truth(rest.is_empty()),
            Verb::Full => truth(rest.len() as u32 >= self.capacity),
            _ => return None,
        };
        Some((answer, Value::Messages(rest)))
    }

    fn fill(&self, value: &Value) -> u32 {
        if let Value::Messages(messages) = value { messages.len() as u32 } else { 0 }
    }

    fn dependent(&self, first: Verb, second: Verb, fill: u32, table: Table) -> bool {
        let (Some(one), Some(other)) = (role(first), role(second)) else { return true };
        if table == Table::Constant {
            return self.can_be_dependent(first, second);
        }
        let (first, second) = if one <= other { (first, second) } else { (second, first) };
        Channel::entry(first, second, self.level(fill), table)
    }

    fn can_be_dependent(&self, first: Verb, second: Verb) -> bool {
        role(first) != Some(Role::Looks) || role(second) != Some(Role::Looks)
    }

    /// A send and a receive are never both defined where they depend on each other, if the table is fine enough.
    fn do_not_accord(&self, first: Verb, second: Verb, table: Table) -> bool {
        use Verb::{Receive, Send};
        match (role(first), role(second)) {
            (Some(Role::Sends), Some(Role::Takes)) | (Some(Role::Takes), Some(Role::Sends)) => {
                let is_plain = matches!((first, second), (Send, Receive) | (Receive, Send));
                self.capacity > 1 && (!is_plain || table == Table::Constant)
            }
            _ => self.can_be_dependent(first, second),
        }
    }

    fn disturbs(&self, operation: Verb, by: Verb, fill: u32, table: Table) -> bool {
        let (Some(_), Some(other)) = (role(operation), role(by)) else { return true };
        let level = self.level(fill);
        match table {
            Table::Constant => self.can_be_dependent(operation, by) && level.is_defined(other),
            _ => self.first_interference(operation, by, level, table),
        }
    }
}
