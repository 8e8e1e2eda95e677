//! A lock: the semaphore with one unit, with a question whether it is held.
//!
//! With two values there is no way around the place where two operations depend on each other: the finest table is
//! weakly uniform.

use super::{Object, Table, Value};
use crate::scheme::Verb;

/// A lock.
pub(super) struct Lock;

impl Lock {
    fn is_defined(verb: Verb, is_held: bool) -> bool {
        match verb {
            Verb::Acquire => !is_held,
            Verb::Release => is_held,
            _ => true,
        }
    }
}

impl Object for Lock {
    fn verbs(&self) -> Vec<Verb> {
        vec![Verb::Acquire, Verb::Release, Verb::Held]
    }

    fn values(&self) -> Vec<Value> {
        vec![Value::Number(0), Value::Number(1)]
    }

    fn inputs(&self, _: Verb) -> Vec<i64> {
        vec![0]
    }

    fn apply(&self, verb: Verb, _: i64, value: &Value) -> Option<(Value, Value)> {
        let is_held = self.fill(value) > 0;
        match verb {
            Verb::Acquire if !is_held => Some((Value::Nothing, Value::Number(1))),
            Verb::Release if is_held => Some((Value::Nothing, Value::Number(0))),
            Verb::Held => Some((value.clone(), value.clone())),
            _ => None,
        }
    }

    fn fill(&self, value: &Value) -> u32 {
        if let Value::Number(number) = value { *number as u32 } else { 0 }
    }

    fn dependent(&self, first: Verb, second: Verb, fill: u32, table: Table) -> bool {
        use Verb::{Acquire, Held, Release};
        match (first, second) {
            _ if table == Table::Constant => self.can_be_dependent(first, second),
            (Acquire, Acquire | Held) | (Held, Acquire) => fill == 0,
            (Release, Release | Held) | (Held, Release) => fill > 0,
            _ => self.can_be_dependent(first, second),
        }
    }

    fn can_be_dependent(&self, first: Verb, second: Verb) -> bool {
        (first, second) != (Verb::Held, Verb::Held)
    }

    fn do_not_accord(&self, first: Verb, second: Verb, _: Table) -> bool {
        let is_pair = matches!((first, second), (Verb::Acquire, Verb::Release) | (Verb::Release, Verb::Acquire));
        !is_pair && self.can_be_dependent(first, second)
    }

    fn disturbs(&self, operation: Verb, by: Verb, fill: u32, table: Table) -> bool {
        self.dependent(operation, by, fill, table) && Lock::is_defined(by, fill > 0)
    }
}
