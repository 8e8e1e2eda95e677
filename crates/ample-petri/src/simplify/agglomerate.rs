//! Agglomeration: a place between transitions that fill it (`H`) and transitions that empty it (`F`) is taken away, and
//! each `h` is joined with each `f` (Berthelot; Thierry-Mieg, "Structural reductions revisited", 2020).
//!
//! In all cases the place is not seen, nobody both fills and empties it, and its tokens come and go in such portions
//! that whatever rest lies there at the start is never of use. Then
//!
//! - **post**: whoever empties it needs nothing else and is invisible. As soon as `h` has fired some `f` can, and no
//!   one can prevent it, so that it may as well fire at once: tokens come earlier where `f` adds them, which hinders
//!   nobody, and an `f` that a run never fires can be put in. Dead markings have nothing on the place. With more than
//!   one `f` a choice is made earlier than before, so that Branching allows only one.
//! - **pre**: whoever fills it does nothing else, is invisible, and has the places from which it takes for itself (or
//!   shares them with others of `H`). It can wait until `f` follows: its tokens are of use to no one else. An `h` that
//!   no `f` follows is left out, which cannot make an endless run finite, because it takes tokens that somebody adds.
//!   A dead marking may have tokens before `h` that the original net moves on first: these steps are put at the end
//!   of a run (`finish`). Branching allows only one `h`: with the tokens of the place put back each marking has one
//!   counterpart.
//! - **free**: as before, but others may take from the same places. What they take in a given run they can take in it
//!   if `h` comes later. For Reach only, where it does not matter if a run could go on.

use super::Preserve;
use super::work::{Arcs, Work, plus, weight, without};

/// A transition is repeated at most so often inside another one.
const PORTIONS: u64 = 16;

/// So many more transitions than before are made at most.
const MORE: usize = 2;

/// Takes the place away if one of the rules allows it.
pub(super) fn agglomerate(work: &mut Work, place: u32) -> bool {
    let spot = work.place(place);
    if spot.seen || spot.takers.is_empty() || work.what == Preserve::All {
        return false;
    }
    post(work, place) || pre(work, place)
}

/// The new transitions: arcs, with the two from which they are made, each repeated so many times.
struct Joined {
    takes: Arcs,
    adds: Arcs,
    first: (u32, u64),
    second: (u32, u64),
}

/// Puts new transitions in the place of old ones, unless the net grows too much.
fn replace(work: &mut Work, place: u32, joined: &[Joined]) -> bool {
    let spot = work.place(place);
    let old: Vec<u32> = spot.givers.iter().chain(&spot.takers).copied().collect();
    let arcs_before: usize = old.iter().map(|old| work.step(*old).takes.len() + work.step(*old).adds.len()).sum();
    let arcs_after: usize = joined.iter().map(|joined| joined.takes.len() + joined.adds.len()).sum();
    let growth = arcs_after.saturating_sub(arcs_before);
    if growth > work.budget {
        return false;
    }
    work.budget -= growth;
    for Joined { takes, adds, first, second } in joined {
        let parts = vec![(work.step(first.0).sequence, first.1), (work.step(second.0).sequence, second.1)];
        let sequence = work.sequences.then(parts);
        work.add(takes.clone(), adds.clone(), sequence);
    }
    for transition in old {
        work.remove_transition(transition);
    }
    work.remove_place(place);
    true
}

/// The product does not make too many transitions out of those that are there.
fn is_small(fillers: usize, emptiers: usize) -> bool {
    fillers.saturating_mul(emptiers) <= fillers + emptiers + MORE
}

fn post(work: &mut Work, place: u32) -> bool {
    let spot = work.place(place);
    let (fillers, emptiers) = (&spot.givers, &spot.takers);
    if !is_small(fillers.len(), emptiers.len()) || (work.what == Preserve::Branching && emptiers.len() > 1) {
        return false;
    }
    let portion = weight(&work.step(emptiers[0]).takes, place);
    let is_free = |emptier: &u32| {
        let step = work.step(*emptier);
        step.takes == [(place, portion)] && weight(&step.adds, place) == 0 && work.is_invisible(*emptier)
    };
    if !emptiers.iter().all(is_free) || (emptiers.len() > 1 && spot.initial >= portion) {
        return false;
    }
    let mut joined = Vec::new();
    for filler in fillers {
        let added = weight(&work.step(*filler).adds, place);
        let times = added / portion;
        if !added.is_multiple_of(portion) || times > PORTIONS || (emptiers.len() > 1 && times > 1) {
            return false;
        }
        for emptier in emptiers {
            let (before, after) = (work.step(*filler), work.step(*emptier));
            let Some(adds) = plus(&without(&before.adds, place), &after.adds, times) else { return false };
            let takes = before.takes.clone();
            joined.push(Joined { takes, adds, first: (*filler, 1), second: (*emptier, times) });
        }
    }
    let (emptier, times) = (emptiers[0], spot.initial / portion);
    let Some(raised) = raised(work, emptier, times) else { return false };
    let start = (work.step(emptier).sequence, times);
    if !replace(work, place, &joined) {
        return false;
    }
    if times > 0 {
        work.start.push(start);
        for (place, tokens) in raised {
            work.places[place as usize].initial = tokens;
            work.touch_place(place);
        }
    }
    true
}

/// The initial tokens of the places that a transition fills, once it has fired; `None` beyond 64 bits.
fn raised(work: &Work, transition: u32, times: u64) -> Option<Vec<(u32, u64)>> {
    let after = |(place, tokens): &(u32, u64)| {
        let tokens = work.place(*place).initial.checked_add(tokens.checked_mul(times)?)?;
        Some((*place, tokens))
    };
    work.step(transition).adds.iter().map(after).collect()
}

fn pre(work: &mut Work, place: u32) -> bool {
    let spot = work.place(place);
    let (fillers, emptiers) = (&spot.givers, &spot.takers);
    if fillers.is_empty() || !is_small(fillers.len(), emptiers.len()) {
        return false;
    }
    if work.what == Preserve::Branching && fillers.len() > 1 {
        return false;
    }
    let portion = weight(&work.step(fillers[0]).adds, place);
    let can_wait = |filler: &u32| {
        let step = work.step(*filler);
        step.adds == [(place, portion)]
            && weight(&step.takes, place) == 0
            && work.is_invisible(*filler)
            && (work.what == Preserve::Reach || is_undisturbed(work, fillers, &step.takes))
    };
    if spot.initial >= portion || !fillers.iter().all(can_wait) {
        return false;
    }
    let mut joined = Vec::new();
    for emptier in emptiers {
        let after = work.step(*emptier);
        let taken = weight(&after.takes, place);
        let times = taken / portion;
        let fits = taken.is_multiple_of(portion) && times <= PORTIONS && (fillers.len() == 1 || times == 1);
        if !fits || weight(&after.adds, place) > 0 {
            return false;
        }
        for filler in fillers {
            let before = work.step(*filler);
            let Some(takes) = plus(&without(&after.takes, place), &before.takes, times) else { return false };
            let adds = after.adds.clone();
            joined.push(Joined { takes, adds, first: (*filler, times), second: (*emptier, 1) });
        }
    }
    let finish: Vec<u32> = fillers.iter().map(|filler| work.step(*filler).sequence).collect();
    let done = replace(work, place, &joined);
    if done && work.what != Preserve::Reach {
        work.finish.extend(finish);
    }
    done
}

/// The places are there, and nobody but the fillers takes from them.
fn is_undisturbed(work: &Work, fillers: &[u32], takes: &[(u32, u64)]) -> bool {
    let own = |(place, _): &(u32, u64)| {
        let takers = &work.place(*place).takers;
        takers.len() <= fillers.len() && takers.iter().all(|taker| fillers.binary_search(taker).is_ok())
    };
    !takes.is_empty() && takes.iter().all(own)
}
