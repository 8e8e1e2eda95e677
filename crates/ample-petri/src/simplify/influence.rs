//! What cannot influence the places that the question sees. For Reach only.

use super::work::{Work, effect, weight};

/// Keeps only what can help to change a seen place.
///
/// A seen place is influenced by whoever changes it; an unseen one, needed by somebody who matters, by whoever adds to
/// it. All others leave seen places alone and only take from those that matter: without them every run that is left
/// has as many tokens as before, or more, and sees the same.
pub(super) fn cone(work: &mut Work) {
    let mut matters = vec![false; work.places.len()];
    let mut helps = vec![false; work.transitions.len()];
    let mut open = Vec::new();
    for (place, spot) in work.places.iter().enumerate() {
        if spot.alive && spot.seen {
            matters[place] = true;
            open.push(place as u32);
        }
    }
    while let Some(place) = open.pop() {
        let spot = work.place(place);
        let takers = if spot.seen { spot.takers.as_slice() } else { &[] };
        for transition in spot.givers.iter().chain(takers) {
            let change = work.change(*transition, place);
            let is_help = if spot.seen { change != 0 } else { change > 0 };
            if !is_help || std::mem::replace(&mut helps[*transition as usize], true) {
                continue;
            }
            for (needed, _) in &work.step(*transition).takes {
                if !std::mem::replace(&mut matters[*needed as usize], true) {
                    open.push(*needed);
                }
            }
        }
    }
    let idle: Vec<u32> = work.alive().filter(|transition| !helps[*transition as usize]).collect();
    for transition in idle {
        work.remove_transition(transition);
    }
    for place in 0..work.places.len() as u32 {
        if work.place(place).alive && !matters[place as usize] {
            work.remove_place(place);
        }
    }
}

/// A transition that needs nothing and is not visible gives as much as anybody may want.
///
/// The places it adds to are no obstacle to anyone, and can go; whoever takes from them fires the source first, as
/// often as is needed. What it leaves there beyond that does no harm, because they are not seen.
pub(super) fn source(work: &mut Work, transition: u32) -> bool {
    const MOST: u64 = 1 << 16;
    let step = work.step(transition);
    if !step.takes.is_empty() || !work.is_invisible(transition) {
        return false;
    }
    let (sequence, fed) = (step.sequence, step.adds.clone());
    let mut users: Vec<u32> = fed.iter().flat_map(|(place, _)| work.place(*place).takers.iter().copied()).collect();
    users.sort_unstable();
    users.dedup();
    let times = |user: &u32| {
        let takes = &work.step(*user).takes;
        fed.iter().map(|(place, each)| weight(takes, *place).div_ceil(*each)).max().unwrap_or(0)
    };
    let times: Vec<u64> = users.iter().map(times).collect();
    if times.iter().any(|times| *times > MOST) {
        return false;
    }
    for (user, times) in users.iter().zip(times) {
        let own = work.step(*user).sequence;
        work.transitions[*user as usize].sequence = work.sequences.then(vec![(sequence, times), (own, 1)]);
    }
    work.remove_transition(transition);
    for (place, _) in fed {
        work.remove_place(place);
    }
    true
}

/// It changes nothing, or only takes from what is not seen: nobody needs it.
pub(super) fn only_takes(work: &mut Work, transition: u32) -> bool {
    let step = work.step(transition);
    let harmless = |(place, change): (u32, i128)| change < 0 && !work.place(place).seen;
    let gone = effect(&step.takes, &step.adds).into_iter().all(harmless);
    if gone {
        work.remove_transition(transition);
    }
    gone
}
