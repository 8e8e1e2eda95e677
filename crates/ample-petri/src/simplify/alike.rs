//! Places with the same future.
//!
//! Two unseen places from which the same can be done (for each transition that takes one token from the first there is
//! one that takes one token from the second and is the same in everything else) are one place: only the sum of their
//! tokens counts. Markings with the same sum can do the same and get to such markings again, which is a bisimulation:
//! the rule serves every question but those that count markings. It is what Thierry-Mieg calls symmetric choice, made
//! for places, so that a choice between equal ways becomes a choice between equal transitions, of which one is enough.

use std::collections::HashMap;

use super::work::{Arcs, Work, weight, without};

/// A place with more takers is not looked at.
const MOST: usize = 16;

/// What a taker does beside taking from the place: what it takes, what it adds, what it adds to the place itself.
type Rest = (Arcs, Arcs, u64);

/// Joins all places with the same future.
pub(super) fn join_alike(work: &mut Work) {
    let mut futures: HashMap<Vec<Rest>, u32> = HashMap::new();
    for place in 0..work.places.len() as u32 {
        let Some((future, _)) = future(work, place) else { continue };
        let first = *futures.entry(future).or_insert(place);
        if first != place {
            join(work, first, place);
        }
    }
}

/// The future of a place, sorted, and its takers in the same order; `None` if it is not looked at.
fn future(work: &Work, place: u32) -> Option<(Vec<Rest>, Vec<u32>)> {
    let spot = work.place(place);
    if !spot.alive || spot.seen || spot.takers.is_empty() || spot.takers.len() > MOST {
        return None;
    }
    let mut rests = Vec::new();
    for taker in &spot.takers {
        let step = work.step(*taker);
        if weight(&step.takes, place) != 1 {
            return None;
        }
        let rest = (without(&step.takes, place), without(&step.adds, place), weight(&step.adds, place));
        rests.push((rest, *taker));
    }
    rests.sort_unstable();
    Some(rests.into_iter().unzip())
}

/// Joins the second place with the first; `None` if they are not alike: joining others has changed arcs since the
/// future of the first was noted.
fn join(work: &mut Work, first: u32, second: u32) -> Option<()> {
    let (future_of_first, takers) = future(work, first)?;
    let (future_of_second, other_takers) = future(work, second)?;
    if future_of_first != future_of_second {
        return None;
    }
    let initial = work.place(first).initial.checked_add(work.place(second).initial)?;
    let mut redirected = Vec::new();
    for giver in &work.place(second).givers {
        if other_takers.contains(giver) {
            continue;
        }
        let step = work.step(*giver);
        let tokens = weight(&step.adds, second);
        let mut adds = without(&step.adds, second);
        match adds.binary_search_by_key(&first, |arc| arc.0) {
            Ok(at) => adds[at].1 = adds[at].1.checked_add(tokens)?,
            Err(at) => adds.insert(at, (first, tokens)),
        }
        redirected.push((*giver, step.takes.clone(), adds));
    }
    let (members, more) = (work.place(first).members.clone(), work.place(second).members.clone());
    for (taker, other) in takers.into_iter().zip(other_takers) {
        let options = vec![(members.clone(), work.step(taker).sequence), (more.clone(), work.step(other).sequence)];
        work.transitions[taker as usize].sequence = work.sequences.either(options);
        work.remove_transition(other);
    }
    for (giver, takes, adds) in redirected {
        work.set_arcs(giver, takes, adds);
    }
    work.remove_place(second);
    let bound = work.place(first).bound.zip(work.place(second).bound);
    let spot = &mut work.places[first as usize];
    spot.initial = initial;
    spot.bound = bound.and_then(|(one, two)| one.checked_add(two));
    spot.members.extend(more);
    work.touch_place(first);
    Some(())
}
