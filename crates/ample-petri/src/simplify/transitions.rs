//! Transitions that others make superfluous.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::Preserve;
use super::work::{Step, Work, at_most, effect, weight};

/// Transitions by the direction of their effect; entries may be out of date.
pub(super) type Directions = HashMap<u64, Vec<u32>>;

/// So many others are compared with a transition at most.
const MOST: usize = 256;

/// Looks for others that do what the transition does, or for which it does what they do. Says if it is gone itself.
pub(super) fn superfluous(work: &mut Work, directions: &mut Directions, transition: u32) -> bool {
    let step = work.step(transition);
    let changes = effect(&step.takes, &step.adds);
    if changes.is_empty() && without_effect(work, transition) {
        return true;
    }
    if work.what == Preserve::Reach && outdone(work, transition) {
        return true;
    }
    same_direction(work, directions, transition, &changes)
}

/// A transition that changes nothing.
///
/// Reach: it reaches nothing; removed. Deadlock: it matters only where nothing else can fire, so that it is removed if
/// another one needs no more. For the other questions it is a run that goes on forever, and stays.
fn without_effect(work: &mut Work, transition: u32) -> bool {
    let gone = match work.what {
        Preserve::Reach => true,
        Preserve::Deadlock => rivals(work, transition)
            .any(|other| other != transition && at_most(&work.step(other).takes, &work.step(transition).takes)),
        Preserve::Stutter | Preserve::Branching | Preserve::All => false,
    };
    if gone {
        work.remove_transition(transition);
    }
    gone
}

/// Some of those that take from the same places.
fn rivals(work: &Work, transition: u32) -> impl Iterator<Item = u32> + '_ {
    let takes = &work.step(transition).takes;
    takes.iter().flat_map(|(place, _)| work.place(*place).takers.iter().copied().take(MOST)).take(MOST)
}

/// Reach: another transition needs no more, does the same to seen places and leaves at least as much everywhere else.
///
/// With more tokens in places that are not seen everything can be reached that could be reached with less.
fn outdone(work: &mut Work, transition: u32) -> bool {
    let step = work.step(transition);
    let better = |other: u32| {
        let with = work.step(other);
        let leaves_more = |(place, change): (u32, i128)| {
            let spot = work.place(place);
            if spot.seen { change == 0 } else { change >= 0 }
        };
        other != transition && at_most(&with.takes, &step.takes) && difference(with, step).into_iter().all(leaves_more)
    };
    let gone = rivals(work, transition).any(better);
    if gone {
        work.remove_transition(transition);
    }
    gone
}

/// The effect of the first transition minus that of the second.
fn difference(first: &Step, second: &Step) -> Vec<(u32, i128)> {
    let mut sum: Vec<(u32, i128)> = effect(&first.takes, &first.adds);
    for (place, change) in effect(&second.takes, &second.adds) {
        match sum.binary_search_by_key(&place, |entry| entry.0) {
            Ok(at) => sum[at].1 -= change,
            Err(at) => sum.insert(at, (place, -change)),
        }
    }
    sum
}

fn greatest_divisor(left: u128, right: u128) -> u128 {
    if right == 0 { left } else { greatest_divisor(right, left % right) }
}

/// Transitions with the same effect, or a multiple of it.
///
/// The same effect: the one that needs more is removed; the steps between markings stay the same, for every question.
/// `k` times the effect of another one, needing at least what the other one needs to fire `k` times: where it is
/// enabled the other one is, `k` times over, and they end in the same marking. The markings between are reachable
/// anyway, hence Reach and Deadlock; they look the same if neither is visible, hence Stutter. Not Branching: between
/// there may be choices that are no longer open at the end.
fn same_direction(work: &mut Work, directions: &mut Directions, transition: u32, changes: &[(u32, i128)]) -> bool {
    let size = changes.iter().fold(0, |size, (_, change)| greatest_divisor(change.unsigned_abs(), size));
    let mut hasher = DefaultHasher::new();
    for (place, change) in changes {
        (*place, change / size as i128).hash(&mut hasher);
    }
    let bucket = directions.entry(hasher.finish()).or_default();
    let mut recent = bucket.split_off(bucket.len().saturating_sub(MOST));
    recent.retain(|other| work.step(*other).alive && *other != transition);
    bucket.append(&mut recent);
    let mut gone = None;
    let mut others = Vec::new();
    for other in bucket.iter().rev().take(MOST) {
        if does_it_all(work, *other, transition, changes) {
            gone = Some(transition);
            break;
        }
        let step = work.step(*other);
        if does_it_all(work, transition, *other, &effect(&step.takes, &step.adds)) {
            others.push(*other);
        }
    }
    if gone.is_none() {
        bucket.push(transition);
        for other in others {
            work.remove_transition(other);
        }
    } else {
        work.remove_transition(transition);
    }
    gone.is_some()
}

/// Firing `by` some number of times does what `transition`, with that effect, does.
fn does_it_all(work: &Work, by: u32, transition: u32, changes: &[(u32, i128)]) -> bool {
    let (other, step) = (work.step(by), work.step(transition));
    let single = effect(&other.takes, &other.adds);
    if single.len() != changes.len() {
        return false;
    }
    let times = match (single.first(), changes.first()) {
        (Some((_, one)), Some((_, many))) if many % one == 0 && many / one > 0 => many / one,
        (None, None) => 1,
        _ => return false,
    };
    if times > 1 {
        let allowed = match work.what {
            Preserve::Reach | Preserve::Deadlock => true,
            Preserve::Stutter => work.is_invisible(transition),
            Preserve::Branching | Preserve::All => false,
        };
        if !allowed {
            return false;
        }
    }
    let is_multiple =
        single.iter().zip(changes).all(|(one, many)| one.0 == many.0 && one.1.checked_mul(times) == Some(many.1));
    let needs = |(place, tokens): &(u32, u64)| {
        let lost = (-work.change(by, *place)).max(0);
        let needed = lost.checked_mul(times - 1).and_then(|lost| lost.checked_add(i128::from(*tokens)));
        needed.is_some_and(|needed| i128::from(weight(&step.takes, *place)) >= needed)
    };
    is_multiple && other.takes.iter().all(needs)
}
