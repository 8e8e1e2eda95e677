//! A counting semaphore (Godefroid's thesis, §3.4.2).
//!
//! Two P commute unless only one of them can be done, and so do two V; but that is not weakly uniform, because a third
//! process moves the value to where they do not.

use super::{Object, Table, Value};
use crate::scheme::Verb;

/// A counting semaphore.
#[derive(Clone, Copy)]
pub(super) struct Semaphore {
    pub(super) most: u32,
}

impl Semaphore {
    fn is_verb(verb: Verb) -> bool {
        matches!(verb, Verb::Down | Verb::Up | Verb::Zero)
    }

    fn room(self, fill: u32) -> u32 {
        self.most.saturating_sub(fill)
    }

    fn is_defined(self, verb: Verb, fill: u32) -> bool {
        match verb {
            Verb::Down => fill > 0,
            Verb::Up => self.room(fill) > 0,
            _ => true,
        }
    }
}

impl Object for Semaphore {
    fn verbs(&self) -> Vec<Verb> {
        vec![Verb::Down, Verb::Up, Verb::Zero]
    }

    fn values(&self) -> Vec<Value> {
        (0..=i64::from(self.most)).map(Value::Number).collect()
    }

    fn inputs(&self, _: Verb) -> Vec<i64> {
        vec![0]
    }

    fn apply(&self, verb: Verb, _: i64, value: &Value) -> Option<(Value, Value)> {
        let Value::Number(old) = *value else { return None };
        if !Semaphore::is_verb(verb) || !self.is_defined(verb, self.fill(value)) {
            return None;
        }
        Some(match verb {
            Verb::Down => (Value::Nothing, Value::Number(old - 1)),
            Verb::Up => (Value::Nothing, Value::Number(old + 1)),
            _ => (Value::Number(i64::from(old == 0)), value.clone()),
        })
    }

    fn fill(&self, value: &Value) -> u32 {
        if let Value::Number(number) = value { *number as u32 } else { 0 }
    }

    fn dependent(&self, first: Verb, second: Verb, fill: u32, table: Table) -> bool {
        use Verb::{Down, Up, Zero};
        let is_uniform = table == Table::WeaklyUniform;
        match (first, second) {
            _ if table == Table::Constant => self.can_be_dependent(first, second),
            (Down, Down | Zero) | (Zero, Down) if is_uniform => fill > 0,
            (Down, Down | Zero) | (Zero, Down) => fill == 1,
            (Up, Up) if is_uniform => self.room(fill) > 0,
            (Up, Up) => self.room(fill) == 1,
            (Down, Up) | (Up, Down) => fill == 0 || self.room(fill) == 0,
            (Up, Zero) | (Zero, Up) => fill == 0,
            _ => self.can_be_dependent(first, second),
        }
    }

    fn can_be_dependent(&self, first: Verb, second: Verb) -> bool {
        (first, second) != (Verb::Zero, Verb::Zero)
    }

    fn do_not_accord(&self, first: Verb, second: Verb, table: Table) -> bool {
        match (first, second) {
            (Verb::Down, Verb::Up) | (Verb::Up, Verb::Down) => table == Table::Constant && self.most > 1,
            _ => self.can_be_dependent(first, second),
        }
    }

    fn disturbs(&self, operation: Verb, by: Verb, fill: u32, table: Table) -> bool {
        use Verb::{Down, Up, Zero};
        match (operation, by) {
            _ if table == Table::Constant => self.can_be_dependent(operation, by) && self.is_defined(by, fill),
            (Down, Up) | (Zero, Up) => fill == 0,
            (Up, Down) => self.room(fill) == 0,
            (Down, Down | Zero) | (Zero, Down) => fill > 0,
            (Up, Up | Zero) => self.room(fill) > 0,
            _ => self.can_be_dependent(operation, by),
        }
    }
}
