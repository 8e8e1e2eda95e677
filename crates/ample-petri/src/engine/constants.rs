//! Conditions that do not change: what the state equation says of the parts of formulas.
//!
//! A condition that no marking satisfies, or every one does, may make a part of a formula, or all of it, true or false.
//! Walks find out quickly which conditions do change.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use crate::explicit::search::Questions;
use crate::explicit::walk::{Patience, walk};
use crate::net::{Condition, Net};
use crate::structure::bounds;
use crate::structure::equation::{Effort, Equation};
use ample_budget::Budget;

/// The most that one condition may take, as a share of all time.
const SHARE: u32 = 10;

/// The conditions that have one value in all markings that can be reached, as far as that is found in that time.
pub fn constants(net: &Net, conditions: Vec<Condition>, time: Duration, budget: &Budget) -> HashMap<Condition, bool> {
    let budget = budget.clone().with_time(time);
    let initial = net.initial();
    let mut known = HashSet::new();
    let (mut now, mut goals) = (Vec::new(), Vec::new());
    for condition in conditions.into_iter().filter(|condition| !matches!(condition, Condition::Const(_))) {
        if known.insert(condition.clone()) {
            let value = condition.holds(&initial);
            goals.push(if value { condition.clone().negated() } else { condition.clone() });
            now.push((condition, value));
        }
    }
    let questions = Questions { goals: &goals, ..Questions::default() };
    let patience = Patience { time: time / SHARE, ..Patience::default() };
    let seen = walk(net, &questions, patience, &budget).goals;
    let bounds = bounds::bounds(net, &budget);
    let mut constants = HashMap::new();
    let Some(mut equation) = Equation::with_bounds(net, bounds) else { return constants };
    for (((condition, value), goal), seen) in now.into_iter().zip(&goals).zip(&seen) {
        if seen.is_some() || budget.check().is_err() {
            continue;
        }
        let part = budget.clone().with_time(time / SHARE);
        if equation.refute(goal, Effort::new(&part)).is_refuted() {
            constants.insert(condition, value);
        }
    }
    constants
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::{Place, Transition};

    #[test]
    fn what_never_changes_is_found() {
        let place = |name: &str, initial| Place { name: name.into(), initial, bound: None };
        let step = |name: &str, from, to| Transition { name: name.into(), takes: vec![(from, 1)], adds: vec![(to, 1)] };
        let places = vec![place("a", 2), place("b", 0), place("c", 0)];
        let transitions = vec![step("go", 0, 1), step("back", 1, 0), step("never", 2, 0)];
        let net = Net { places, transitions, exclusive: vec![] };
        let at_most = |place, most| Condition::AtMost { terms: vec![(place, 1)], most };
        let (always, never, sometimes) = (at_most(0, 2), at_most(2, 0).negated(), at_most(1, 1));
        let conditions = vec![always.clone(), never.clone(), sometimes.clone()];
        let known = constants(&net, conditions, Duration::from_secs(2), &Budget::unlimited());
        assert_eq!(known, HashMap::from([(always, true), (never, false)]));
    }
}
