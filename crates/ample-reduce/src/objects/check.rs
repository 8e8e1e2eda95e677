//! Tables of objects against the semantics, by brute force over all values and inputs (Godefroid's thesis, §3.4, §4.7, ch. 6).
//!
//! A relation of dependency is given as a function of two operations and a fill, so that one can also be tried that the
//! library does not have. The operations are given too: what holds among some may not hold among more.

use super::{Value, apply, fill, inputs, values};
use crate::scheme::{Kind, Verb};
use std::collections::HashSet;

/// Where a table breaks its promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The operations.
    pub verbs: Vec<Verb>,
    /// The value at which they show it.
    pub value: Value,
    /// What is broken.
    pub reason: &'static str,
}

/// An operation with an input, at a value: what it answers and leaves behind.
type Outcome = Option<(Value, Value)>;

/// Is the relation a valid conditional dependency (Defs. 3.13, 3.18)? Whatever it calls independent neither enables nor
/// disables the other, commutes, and answers the same in both orders.
pub fn validity(kind: Kind, verbs: &[Verb], dependent: impl Fn(Verb, Verb, u32) -> bool) -> Result<(), Violation> {
    for value in values(kind) {
        let fill = fill(kind, &value);
        for &first in verbs {
            for &second in verbs {
                let violation = |reason| Violation { verbs: vec![first, second], value: value.clone(), reason };
                if dependent(first, second, fill) {
                    continue;
                }
                if dependent(second, first, fill) {
                    return Err(violation("not symmetric"));
                }
                interaction(kind, first, second, &value).map_err(violation)?;
            }
        }
    }
    Ok(())
}

/// The finest valid relation: do the two depend on each other at some value with that fill?
pub fn finest(kind: Kind, first: Verb, second: Verb, at: u32) -> bool {
    let is_there = |value: &&Value| fill(kind, value) == at;
    values(kind).iter().filter(is_there).any(|value| interaction(kind, first, second, value).is_err())
}

/// How the two depend on each other at that value, with some inputs.
fn interaction(kind: Kind, first: Verb, second: Verb, value: &Value) -> Result<(), &'static str> {
    for one in inputs(kind, first) {
        for other in inputs(kind, second) {
            let first_alone = apply(kind, first, one, value);
            let second_alone = apply(kind, second, other, value);
            let second_after = follow(kind, second, other, &first_alone);
            let first_after = follow(kind, first, one, &second_alone);
            if first_alone.is_some() && second_alone.is_some() != second_after.is_some()
                || second_alone.is_some() && first_alone.is_some() != first_after.is_some()
            {
                return Err("one enables or disables the other");
            }
            if let (Some(first_alone), Some(second_alone)) = (first_alone, second_alone) {
                let (Some(first_after), Some(second_after)) = (first_after, second_after) else {
                    return Err("one enables or disables the other");
                };
                if first_after.1 != second_after.1 {
                    return Err("they do not commute");
                }
                if first_alone.0 != first_after.0 || second_alone.0 != second_after.0 {
                    return Err("an answer depends on the order");
                }
            }
        }
    }
    Ok(())
}

fn follow(kind: Kind, verb: Verb, input: i64, before: &Outcome) -> Outcome {
    before.as_ref().and_then(|(_, value)| apply(kind, verb, input, value))
}

/// The values that the operation may leave behind.
fn after(kind: Kind, verb: Verb, value: &Value) -> impl Iterator<Item = Value> + '_ {
    inputs(kind, verb).into_iter().filter_map(move |input| Some(apply(kind, verb, input, value)?.1))
}

/// Is the relation weakly uniform (Def. 6.6)? If `a` can be followed by `b`, and `c` is independent of both where they
/// occur, then `a` and `b` do not become independent by `c`.
pub fn weak_uniformity(
    kind: Kind,
    verbs: &[Verb],
    dependent: impl Fn(Verb, Verb, u32) -> bool,
) -> Result<(), Violation> {
    for value in values(kind) {
        for &a in verbs {
            for middle in after(kind, a, &value) {
                for &b in verbs.iter().filter(|b| after(kind, **b, &middle).next().is_some()) {
                    for &c in verbs {
                        let (here, there) = (fill(kind, &value), fill(kind, &middle));
                        if !dependent(a, b, here) || dependent(a, c, here) || dependent(b, c, there) {
                            continue;
                        }
                        if after(kind, c, &value).any(|aside| !dependent(a, b, fill(kind, &aside))) {
                            let reason = "the third makes the first two independent";
                            return Err(Violation { verbs: vec![a, b, c], value: value.clone(), reason });
                        }
                    }
                }
            }
        }
    }
    Ok(())
}

/// The first interference of `by` with `operation` (Def. 4.26), with a sequence of operations from the value.
pub fn disturbs(
    kind: Kind,
    verbs: &[Verb],
    dependent: impl Fn(Verb, Verb, u32) -> bool,
    operation: Verb,
    by: Verb,
    value: &Value,
) -> bool {
    let mut seen = HashSet::from([value.clone()]);
    let mut work = vec![value.clone()];
    while let Some(value) = work.pop() {
        let fill = fill(kind, &value);
        if dependent(operation, by, fill) && after(kind, by, &value).next().is_some() {
            return true;
        }
        for &verb in verbs.iter().filter(|verb| !dependent(operation, **verb, fill)) {
            work.extend(after(kind, verb, &value).filter(|next| seen.insert(next.clone())));
        }
    }
    false
}

/// Are they dependent at some value?
pub fn can_be_dependent(kind: Kind, dependent: impl Fn(Verb, Verb, u32) -> bool, first: Verb, second: Verb) -> bool {
    values(kind).iter().any(|value| dependent(first, second, fill(kind, value)))
}

/// Are they both defined and dependent at some value?
pub fn do_not_accord(kind: Kind, dependent: impl Fn(Verb, Verb, u32) -> bool, first: Verb, second: Verb) -> bool {
    values(kind).iter().any(|value| {
        let is_defined = |verb| after(kind, verb, value).next().is_some();
        dependent(first, second, fill(kind, value)) && is_defined(first) && is_defined(second)
    })
}
