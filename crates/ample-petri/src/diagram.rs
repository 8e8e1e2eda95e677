//! Sets of markings of a net: [list decision diagrams](ample_symbolic::lists) over its places.
//!
//! ```
//! use ample_petri::diagram::{Limits, Method, diagrams};
//! use ample_petri::net::{Net, Place, Transition};
//!
//! // Five tokens go from one place to another.
//! let place = |name: &str, initial| Place { name: name.into(), initial, bound: None };
//! let step = Transition { name: "step".into(), takes: vec![(0, 1)], adds: vec![(1, 1)] };
//! let net = Net { places: vec![place("a", 5), place("b", 0)], transitions: vec![step], exclusive: vec![] };
//!
//! let mut diagrams = diagrams(&net, &[0, 1], Limits::default())?;
//! let reached = diagrams.reachable(Method::Saturation)?;
//! assert_eq!(diagrams.count(&reached)?, 6u32.into());
//! # Ok::<(), ample_symbolic::SetError>(())
//! ```

mod order;

use ample_symbolic::ctl::Atoms;
use ample_symbolic::lists::{self, check_depth};
pub use ample_symbolic::lists::{Diagrams, Limits, Method, Set, with_stack};
use ample_symbolic::reach::run_to;
use ample_symbolic::{Maybe, SetError};

pub use self::order::order;
use crate::net::{Condition, Net};

/// A table for the sets of markings of a net. `order` has all its places, from the root of the diagrams down: see
/// [`order()`].
pub fn diagrams(net: &Net, order: &[u32], limits: Limits) -> Maybe<Diagrams> {
    let transitions = net
        .transitions
        .iter()
        .map(|transition| lists::Transition { takes: transition.takes.clone(), adds: transition.adds.clone() });
    Diagrams::new(net.initial(), transitions.collect(), order, limits)
}

/// The markings of the set that satisfy the condition.
pub fn filter(diagrams: &mut Diagrams, set: &Set, condition: &Condition) -> Maybe<Set> {
    check_depth()?;
    match condition {
        Condition::Const(true) => Ok(set.clone()),
        Condition::Const(false) => Ok(diagrams.empty()),
        Condition::AtMost { terms, most } => diagrams.at_most(set, terms, *most),
        Condition::And(parts) => {
            let mut left = set.clone();
            for part in parts {
                if left.is_empty() {
                    break;
                }
                left = filter(diagrams, &left, part)?;
            }
            Ok(left)
        }
        Condition::Or(parts) => {
            let mut found = diagrams.empty();
            for part in parts {
                let more = filter(diagrams, set, part)?;
                found = diagrams.union(&found, &more)?;
            }
            Ok(found)
        }
    }
}

/// Atoms of formulas that are conditions: atom `i` is condition `i`.
pub fn atoms(conditions: &[Condition]) -> Atoms<'_, Diagrams> {
    Box::new(|diagrams, set, atom| filter(diagrams, set, conditions.get(atom as usize).ok_or(SetError::Foreign)?))
}

/// A shortest run of the net from its initial marking to one of the goal, as transitions; `None` if there is none.
pub fn run_to_goal(diagrams: &mut Diagrams, reached: &Set, goal: &Set) -> Maybe<Option<Vec<u32>>> {
    let (initial, goal) = (diagrams.initial()?, diagrams.intersect(goal, reached)?);
    let run = run_to(diagrams, &initial, reached, &goal)?;
    Ok(run.map(|run| run.steps.iter().map(|(transition, _)| *transition as u32).collect()))
}
