//! Which commands of a process exclude each other, as far as that is plain to see: those at different values of `pc`,
//! and those whose guards contradict each other in one conjunct each.

use super::super::model::{ActionId, Command, Comparison, Condition, Number, Process, Value};
use crate::watch::Watch;

/// The commands of a process for a global action, put together so that no two of one group are ever enabled at once.
/// To choose a group, and in it the command that is enabled, is to choose a command.
pub(super) fn alternatives<'p>(process: &'p Process, action: ActionId, watch: &Watch<'_>) -> Vec<Vec<&'p Command>> {
    let mut groups: Vec<Vec<&Command>> = Vec::new();
    for (number, command) in process.commands_of(action).enumerate() {
        // It is compared with those before it.
        if watch.steps(1 + number).is_err() {
            break;
        }
        let fitting = groups.iter_mut().find(|group| group.iter().all(|other| exclude(command, other)));
        match fitting {
            Some(group) => group.push(command),
            None => groups.push(vec![command]),
        }
    }
    groups
}

fn exclude(x: &Command, y: &Command) -> bool {
    if x.pc != y.pc {
        return true;
    }
    // In one disjunction, a guard that is a fault might not be looked at.
    if x.guard.divides() || y.guard.divides() {
        return false;
    }
    let (x, y) = (x.guard.conjuncts(), y.guard.conjuncts());
    x.iter().any(|one| y.iter().any(|other| contradict(one, other)))
}

fn contradict(x: &Condition, y: &Condition) -> bool {
    match (x, y) {
        (Condition::Const(false), _) | (_, Condition::Const(false)) => true,
        (Condition::Not(x), y) if **x == *y => true,
        (x, Condition::Not(y)) if *x == **y => true,
        _ => match (bounds(x), bounds(y)) {
            (Some((of, low, high)), Some((other, least, most))) if of == other => high < least || most < low,
            _ => is_other_value(x, y) || is_other_value(y, x),
        },
    }
}

/// `x == c` and `x != c`.
fn is_other_value(x: &Condition, y: &Condition) -> bool {
    match (x, y) {
        (Condition::Compare(Comparison::Equal, a, b), Condition::Compare(Comparison::NotEqual, c, d)) => {
            a == c && b == d
        }
        _ => false,
    }
}

/// A comparison with a constant on the right, as a range of values, both ends included.
fn bounds(e: &Condition) -> Option<(&Value, i64, i64)> {
    let Condition::Compare(op, value, Value { number: Number::Const(bound), .. }) = e else { return None };
    let bound = i64::from(*bound);
    let (low, high) = match op {
        Comparison::Equal => (bound, bound),
        Comparison::Less => (0, bound - 1),
        Comparison::LessEqual => (0, bound),
        Comparison::Greater => (bound + 1, i64::MAX),
        Comparison::GreaterEqual => (bound, i64::MAX),
        Comparison::NotEqual => return None,
    };
    Some((value, low, high))
}
