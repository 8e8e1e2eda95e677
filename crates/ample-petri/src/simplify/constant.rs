//! Transitions that can never fire, and places that never change.

use super::Preserve;
use super::work::{Work, effect, weight};

/// Removes the transitions that are dead because places never get enough tokens.
///
/// The largest set of places and transitions is computed that does not need itself to begin: a place may have any
/// number of tokens once a transition that may fire raises it, and has at most its initial tokens otherwise. A
/// transition that wants more than that never fires, in any run; the reachable markings and steps stay the same.
pub(super) fn dead_transitions(work: &mut Work) {
    let wants_more = |work: &Work, transition: u32| {
        let takes = &work.step(transition).takes;
        takes.iter().filter(|(place, tokens)| work.place(*place).initial < *tokens).count()
    };
    let mut missing: Vec<usize> = vec![usize::MAX; work.transitions.len()];
    let mut ready = Vec::new();
    let alive: Vec<u32> = work.alive().collect();
    for transition in &alive {
        missing[*transition as usize] = wants_more(work, *transition);
        if missing[*transition as usize] == 0 {
            ready.push(*transition);
        }
    }
    let mut raised = vec![false; work.places.len()];
    while let Some(transition) = ready.pop() {
        let step = work.step(transition);
        for (place, change) in effect(&step.takes, &step.adds) {
            if change <= 0 || std::mem::replace(&mut raised[place as usize], true) {
                continue;
            }
            let spot = work.place(place);
            for taker in &spot.takers {
                if weight(&work.step(*taker).takes, place) > spot.initial {
                    missing[*taker as usize] -= 1;
                    if missing[*taker as usize] == 0 {
                        ready.push(*taker);
                    }
                }
            }
        }
    }
    for transition in alive {
        if missing[transition as usize] > 0 {
            work.remove_transition(transition);
        }
    }
}

/// Takes away the arcs of places that no transition changes, and the places if they are not seen.
///
/// To be called after [`dead_transitions`]: whoever is left and takes from such a place finds enough there, always.
/// `known` says that the place is as constant in the net that was given as it is in this one.
pub(super) fn constant_places(work: &mut Work, known: bool) {
    for place in 0..work.places.len() as u32 {
        let spot = work.place(place);
        let changes = |transition: &u32| work.change(*transition, place) != 0;
        if !spot.alive || spot.takers.iter().any(changes) || spot.givers.iter().any(changes) {
            continue;
        }
        let tokens = spot.initial;
        let (seen, is_isolated) = (spot.seen, spot.takers.is_empty());
        if known || (seen && work.what != Preserve::Deadlock) {
            work.places[place as usize].constant = Some(tokens);
        }
        match (seen, is_isolated) {
            (true, true) => {}
            (true, false) => work.isolate(place),
            (false, _) => work.remove_place(place),
        }
    }
}

/// Removes what can take from a place that nothing raises and that has less from the start.
///
/// The same as [`dead_transitions`], seen from one place, so that it need not wait for the next round.
pub(super) fn never_enough(work: &mut Work, place: u32) -> bool {
    let spot = work.place(place);
    if spot.givers.iter().any(|giver| work.change(*giver, place) > 0) {
        return false;
    }
    let wants_more = |taker: &u32| weight(&work.step(*taker).takes, place) > spot.initial;
    let dead: Vec<u32> = spot.takers.iter().copied().filter(wants_more).collect();
    for transition in &dead {
        work.remove_transition(*transition);
    }
    !dead.is_empty()
}

/// Where only deadlocks are asked for and some transition needs nothing, there are none: nothing else is kept.
pub(super) fn always_enabled(work: &mut Work) {
    if work.what != Preserve::Deadlock {
        return;
    }
    let Some(free) = work.alive().find(|transition| work.step(*transition).takes.is_empty()) else { return };
    let others: Vec<u32> = work.alive().filter(|transition| *transition != free).collect();
    for transition in others {
        work.remove_transition(transition);
    }
}
