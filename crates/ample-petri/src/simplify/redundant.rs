//! Places that are never the reason why a transition cannot fire.
//!
//! Such a place can be left out: the same runs are possible without it (the two state graphs are bisimilar). For the
//! class All it must also be a function of the other places, so that no two markings become one.

use super::Preserve;
use super::work::{Work, weight};

/// So many places are compared with a place at most.
const MOST: usize = 24;

/// Looks at a place; says if it was changed or removed.
pub(super) fn redundant(work: &mut Work, place: u32) -> bool {
    never_less(work, place) || without_takers(work, place) || scaled(work, place) || implied(work, place)
}

/// A place that no transition lowers always has its initial tokens: who needs no more than those need not ask.
fn never_less(work: &mut Work, place: u32) -> bool {
    let spot = work.place(place);
    if spot.takers.is_empty() || spot.takers.iter().any(|taker| work.change(*taker, place) < 0) {
        return false;
    }
    let satisfied = |taker: &u32| weight(&work.step(*taker).takes, place) <= spot.initial;
    let satisfied: Vec<u32> = spot.takers.iter().copied().filter(satisfied).collect();
    for transition in &satisfied {
        let step = work.step(*transition);
        let (mut takes, mut adds) = (step.takes.clone(), step.adds.clone());
        let needed = weight(&takes, place);
        takes.retain(|arc| arc.0 != place);
        adds.iter_mut().filter(|arc| arc.0 == place).for_each(|arc| arc.1 -= needed);
        adds.retain(|arc| arc.1 > 0);
        work.set_arcs(*transition, takes, adds);
    }
    !satisfied.is_empty()
}

/// A place from which nobody takes, and that nobody sees, decides nothing. Not All: it may count something.
fn without_takers(work: &mut Work, place: u32) -> bool {
    let spot = work.place(place);
    let gone = !spot.seen && spot.takers.is_empty() && (work.what != Preserve::All || spot.givers.is_empty());
    if gone {
        work.remove_place(place);
    }
    gone
}

/// If all arcs of a place are multiples of a number, only multiples of it count.
///
/// The tokens are always the initial rest plus a multiple; `rest + k·n ≥ k·m` if and only if `n ≥ m`.
fn scaled(work: &mut Work, place: u32) -> bool {
    let spot = work.place(place);
    if spot.seen || work.what == Preserve::All || spot.members.len() > 1 {
        return false;
    }
    let mut unit = 0;
    for (transitions, takes) in [(&spot.takers, true), (&spot.givers, false)] {
        for transition in transitions {
            let step = work.step(*transition);
            unit = divisor(weight(if takes { &step.takes } else { &step.adds }, place), unit);
            if unit == 1 {
                return false;
            }
        }
    }
    if unit < 2 {
        return false;
    }
    let mut transitions = [spot.takers.clone(), spot.givers.clone()].concat();
    transitions.sort_unstable();
    transitions.dedup();
    for transition in transitions {
        let step = work.step(transition);
        let (mut takes, mut adds) = (step.takes.clone(), step.adds.clone());
        takes.iter_mut().chain(&mut adds).filter(|arc| arc.0 == place).for_each(|arc| arc.1 /= unit);
        work.set_arcs(transition, takes, adds);
    }
    let spot = &mut work.places[place as usize];
    spot.initial /= unit;
    spot.bound = spot.bound.map(|bound| bound / unit);
    spot.members.iter_mut().for_each(|member| member.1 = member.1.saturating_mul(unit));
    true
}

fn divisor(left: u64, right: u64) -> u64 {
    if right == 0 { left } else { divisor(right, left % right) }
}

/// Another place is the stricter one.
///
/// With `b·Δp ≥ a·Δq` for every transition, `b·M(p) ≥ a·M(q) + c` is an invariant, where `c = b·M0(p) − a·M0(q)`. If
/// then `b·takes(t, p) ≤ a·takes(t, q) + c` for each `t`, whoever finds enough on `q` finds enough on `p`, and `p` can
/// go. Whoever lowers `p` lowers `q`, so that `q` is looked for beside one that lowers `p`, and `a/b` must be at least
/// the largest of the ratios of what is lost; the smallest such ratio gives the best chances.
fn implied(work: &mut Work, place: u32) -> bool {
    let spot = work.place(place);
    if spot.seen {
        return false;
    }
    let lowers = |taker: &&u32| work.change(**taker, place) < 0;
    let Some(first) = spot.takers.iter().filter(lowers).min_by_key(|taker| work.step(**taker).takes.len()) else {
        return false;
    };
    let candidates = work.step(*first).takes.iter().map(|arc| arc.0).filter(|other| *other != place);
    let compare = |other: u32| {
        let (times, over, rest) = ratio(work, place, other)?;
        let exact = is_exact(work, place, other, times, over);
        (exact || work.what != Preserve::All).then_some((other, times, over, rest, exact))
    };
    let Some((other, times, over, rest, exact)) = candidates.take(MOST).find_map(compare) else { return false };
    if exact && over == 1 {
        let twin = i64::try_from(times).ok().zip(i64::try_from(rest).ok());
        work.places[place as usize].twin = twin.map(|(times, rest)| (other, times, rest));
    }
    work.remove_place(place);
    true
}

/// `(a, b, c)` if the other place is stricter, as explained at [`implied`].
fn ratio(work: &Work, place: u32, other: u32) -> Option<(i128, i128, i128)> {
    let (spot, stricter) = (work.place(place), work.place(other));
    let (mut times, mut over) = (0i128, 1i128);
    for taker in &spot.takers {
        let (lost, with) = (-work.change(*taker, place), -work.change(*taker, other));
        if lost <= 0 {
            continue;
        }
        if with <= 0 {
            return None;
        }
        if lost.checked_mul(over)? > with.checked_mul(times)? {
            (times, over) = (lost, with);
        }
    }
    let shared = greatest_divisor(times, over);
    (times, over) = (times / shared, over / shared);
    for giver in &stricter.givers {
        let (gained, with) = (work.change(*giver, place), work.change(*giver, other));
        if with > 0 && gained.checked_mul(over)? < with.checked_mul(times)? {
            return None;
        }
    }
    let rest =
        over.checked_mul(i128::from(spot.initial))?.checked_sub(times.checked_mul(i128::from(stricter.initial))?)?;
    for taker in &spot.takers {
        let step = work.step(*taker);
        let needed = over.checked_mul(i128::from(weight(&step.takes, place)))?;
        let found = times.checked_mul(i128::from(weight(&step.takes, other)))?.checked_add(rest)?;
        if needed > found {
            return None;
        }
    }
    Some((times, over, rest))
}

fn greatest_divisor(left: i128, right: i128) -> i128 {
    if right == 0 { left } else { greatest_divisor(right, left % right) }
}

/// `b·Δp = a·Δq` for every transition.
fn is_exact(work: &Work, place: u32, other: u32, times: i128, over: i128) -> bool {
    let (spot, with) = (work.place(place), work.place(other));
    let mut all = spot.takers.iter().chain(&spot.givers).chain(&with.takers).chain(&with.givers);
    all.all(|transition| {
        let (left, right) = (work.change(*transition, place), work.change(*transition, other));
        left.checked_mul(over).zip(right.checked_mul(times)).is_some_and(|(left, right)| left == right)
    })
}
