//! A cell with a value (Godefroid's thesis, examples 3.14 and 3.16), with writes of a constant and additions distinguished.
//!
//! All operations are always defined and nothing depends on the value, so the three tables are one, and an operation is
//! disturbed exactly by those that depend on it.

use super::{Object, Table, Value};
use crate::scheme::Verb;

/// A cell with a value.
pub(super) struct Variable;

/// The semantics counts modulo this number.
const SIZE: i64 = 4;

impl Variable {
    fn is_nothing(verb: Verb) -> bool {
        matches!(verb, Verb::Add(0))
    }
}

impl Object for Variable {
    fn verbs(&self) -> Vec<Verb> {
        use Verb::{Add, Complement, Read, Set, Write};
        vec![Read, Write, Complement, Set(0), Set(1), Add(0), Add(1), Add(2)]
    }

    fn values(&self) -> Vec<Value> {
        (0..SIZE).map(Value::Number).collect()
    }

    /// A write may be given a constant, or a function of the old value.
    fn inputs(&self, verb: Verb) -> Vec<i64> {
        if verb == Verb::Write { (0..2 * SIZE).collect() } else { vec![0] }
    }

    fn apply(&self, verb: Verb, input: i64, value: &Value) -> Option<(Value, Value)> {
        let Value::Number(old) = *value else { return None };
        let (answer, new) = match verb {
            Verb::Read => (value.clone(), old),
            Verb::Write if input < SIZE => (Value::Nothing, input),
            Verb::Write => (Value::Nothing, old * old + input),
            Verb::Set(constant) => (Value::Nothing, constant),
            Verb::Add(more) => (Value::Nothing, old + more),
            Verb::Complement => (Value::Nothing, i64::from(old == 0)),
            _ => return None,
        };
        Some((answer, Value::Number(new.rem_euclid(SIZE))))
    }

    fn fill(&self, _: &Value) -> u32 {
        0
    }

    fn dependent(&self, first: Verb, second: Verb, _: u32, _: Table) -> bool {
        self.can_be_dependent(first, second)
    }

    fn can_be_dependent(&self, first: Verb, second: Verb) -> bool {
        use Verb::{Add, Complement, Read, Set};
        if Variable::is_nothing(first) || Variable::is_nothing(second) {
            return false;
        }
        match (first, second) {
            (Read, Read) | (Complement, Complement) | (Add(_), Add(_)) => false,
            (Set(one), Set(other)) => one != other,
            _ => true,
        }
    }

    fn do_not_accord(&self, first: Verb, second: Verb, _: Table) -> bool {
        self.can_be_dependent(first, second)
    }

    fn disturbs(&self, operation: Verb, by: Verb, _: u32, _: Table) -> bool {
        self.can_be_dependent(operation, by)
    }
}
