//! Siphons and traps: sets of places that stay empty once they are, and that stay marked once they are.
//!
//! Every transition that adds to a siphon takes from it, every transition that takes from a trap adds to it. In a
//! deadlock of an ordinary net the empty places are a siphon, with a place that each transition takes from, and no trap
//! among them was marked at the start (F. Commoner; J. Desel and J. Esparza, *Free Choice Petri Nets*, chapter 4). If
//! no such siphon exists there is no deadlock, free choice or not.

use super::is_ordinary;
use crate::net::Net;
use ample_budget::Budget;

/// Who takes from a place and who adds to it.
#[derive(Clone, Debug)]
pub struct Arcs {
    /// For each place the transitions that take from it.
    pub takers: Vec<Vec<u32>>,
    /// For each place the transitions that add to it.
    pub adders: Vec<Vec<u32>>,
}

impl Arcs {
    /// The arcs of a net, by place.
    pub fn of(net: &Net) -> Arcs {
        let mut arcs = Arcs { takers: vec![Vec::new(); net.places.len()], adders: vec![Vec::new(); net.places.len()] };
        for (number, transition) in net.transitions.iter().enumerate() {
            transition.takes.iter().for_each(|(place, _)| arcs.takers[*place as usize].push(number as u32));
            transition.adds.iter().for_each(|(place, _)| arcs.adders[*place as usize].push(number as u32));
        }
        arcs
    }
}

/// The greatest siphon within a set of places (`within[place]`); perhaps empty.
pub fn maximal_siphon(net: &Net, arcs: &Arcs, within: &[bool]) -> Vec<bool> {
    shrink(net, within, &arcs.takers, |number| {
        let transition = &net.transitions[number];
        (&transition.takes, &transition.adds)
    })
}

/// The greatest trap within a set of places (`within[place]`); perhaps empty.
pub fn maximal_trap(net: &Net, arcs: &Arcs, within: &[bool]) -> Vec<bool> {
    shrink(net, within, &arcs.adders, |number| {
        let transition = &net.transitions[number];
        (&transition.adds, &transition.takes)
    })
}

type Side = Vec<(u32, u64)>;

/// Takes places out until each transition with an arc of the second kind to the set has one of the first kind to it.
/// `support` are, by place, the transitions with an arc of the first kind.
fn shrink<'n>(
    net: &'n Net,
    within: &[bool],
    support: &[Vec<u32>],
    sides: impl Fn(usize) -> (&'n Side, &'n Side),
) -> Vec<bool> {
    let mut set = within.to_vec();
    let count = |number| sides(number).0.iter().filter(|(place, _)| within[*place as usize]).count();
    let mut left: Vec<usize> = (0..net.transitions.len()).map(count).collect();
    let mut work: Vec<usize> = (0..left.len()).filter(|number| left[*number] == 0).collect();
    while let Some(number) = work.pop() {
        for (place, _) in sides(number).1 {
            if !std::mem::replace(&mut set[*place as usize], false) {
                continue;
            }
            for other in &support[*place as usize] {
                left[*other as usize] -= 1;
                if left[*other as usize] == 0 {
                    work.push(*other as usize);
                }
            }
        }
    }
    set
}

/// Transitions that can never fire, because what they take cannot come: `true` for those. It looks at each place on its
/// own, as one that keeps what it has at the start or gets as much as it likes.
pub fn never_fires(net: &Net) -> Vec<bool> {
    let all = vec![true; net.transitions.len()];
    fireable(net, &Arcs::of(net), &all).into_iter().map(|fires| !fires).collect()
}

/// Transitions that might fire if only some are allowed (`allowed[transition]`), each place looked at on its own.
pub(crate) fn fireable(net: &Net, arcs: &Arcs, allowed: &[bool]) -> Vec<bool> {
    let lacks = |arc: &&(u32, u64)| net.places[arc.0 as usize].initial < arc.1;
    let mut missing: Vec<usize> =
        net.transitions.iter().map(|transition| transition.takes.iter().filter(lacks).count()).collect();
    let mut grows = vec![false; net.places.len()];
    let mut fires = vec![false; net.transitions.len()];
    let mut work: Vec<usize> = (0..fires.len()).filter(|number| allowed[*number] && missing[*number] == 0).collect();
    while let Some(number) = work.pop() {
        fires[number] = true;
        for place in gains(net, number) {
            if std::mem::replace(&mut grows[place as usize], true) {
                continue;
            }
            for other in &arcs.takers[place as usize] {
                let other = *other as usize;
                if needs(net, other, place) <= net.places[place as usize].initial {
                    continue;
                }
                missing[other] -= 1;
                if missing[other] == 0 && allowed[other] {
                    work.push(other);
                }
            }
        }
    }
    fires
}

/// Transitions that are not among those that `fires`, but that might fire once these have.
pub(crate) fn next_to_fire(net: &Net, fires: &[bool]) -> Vec<u32> {
    let mut grows = vec![false; net.places.len()];
    for number in (0..fires.len()).filter(|number| fires[*number]) {
        gains(net, number).for_each(|place| grows[place as usize] = true);
    }
    let can_have = |arc: &(u32, u64)| grows[arc.0 as usize] || net.places[arc.0 as usize].initial >= arc.1;
    let is_next = |number: &usize| !fires[*number] && net.transitions[*number].takes.iter().all(can_have);
    (0..fires.len()).filter(is_next).map(|number| number as u32).collect()
}

/// Places that have more tokens after a transition than before.
fn gains(net: &Net, number: usize) -> impl Iterator<Item = u32> {
    let adds = net.transitions[number].adds.iter();
    adds.filter(move |(place, weight)| *weight > needs(net, number, *place)).map(|(place, _)| *place)
}

fn needs(net: &Net, number: usize, place: u32) -> u64 {
    let takes = &net.transitions[number].takes;
    takes.binary_search_by_key(&place, |arc| arc.0).map_or(0, |index| takes[index].1)
}

/// A trap within a set of places (`within[place]`), with few places, that is marked at the start; `None` if none is.
pub fn marked_trap(net: &Net, arcs: &Arcs, within: &[bool]) -> Option<Vec<u32>> {
    let is_marked = |trap: &[bool]| trap.iter().zip(&net.places).any(|(inside, place)| *inside && place.initial > 0);
    let mut trap = maximal_trap(net, arcs, within);
    if !is_marked(&trap) {
        return None;
    }
    let mut tries = WORK_TO_SHRINK / (net.places.len() + net.transitions.len()).max(1);
    // Places that are empty at the start go first: they are never missed for the mark.
    let mut places: Vec<usize> = (0..trap.len()).filter(|place| trap[*place]).collect();
    places.sort_by_key(|place| net.places[*place].initial > 0);
    for place in places {
        if !trap[place] || tries == 0 {
            continue;
        }
        tries -= 1;
        trap[place] = false;
        let smaller = maximal_trap(net, arcs, &trap);
        trap[place] = true;
        if is_marked(&smaller) {
            trap = smaller;
        }
    }
    Some((0..trap.len() as u32).filter(|place| trap[*place as usize]).collect())
}

/// Places and transitions that may be looked at to make a trap smaller.
const WORK_TO_SHRINK: usize = 1_000_000;
/// Bytes that waiting siphons may take.
const MOST_HELD: usize = 100_000_000;

/// Siphons that are still to be looked at: they are within a set, and have some places for certain.
struct Siphons {
    within: Vec<bool>,
    certain: Vec<bool>,
}

/// No marking that can be reached is a deadlock, because each siphon that one could leave empty has a trap that is
/// marked at the start. False means nothing: the net is not ordinary, there is a siphon without such a trap, or
/// `steps` siphons were not enough.
pub fn has_marked_traps(net: &Net, mut steps: usize, budget: &Budget) -> bool {
    if net.transitions.iter().any(|transition| transition.takes.is_empty()) {
        return true;
    }
    if !is_ordinary(net) || net.transitions.is_empty() {
        return false;
    }
    let arcs = Arcs::of(net);
    let size = net.places.len();
    let mut work = vec![Siphons { within: vec![true; size], certain: vec![false; size] }];
    while let Some(siphons) = work.pop() {
        if steps == 0 || budget.check().is_err() || work.len() * size * 2 > MOST_HELD {
            return false;
        }
        steps -= 1;
        let Siphons { within, mut certain } = siphons;
        let mut siphon = maximal_siphon(net, &arcs, &within);
        let is_possible = (0..size).all(|place| siphon[place] || !certain[place]);
        if !is_possible || !blocks_all(net, &siphon) {
            continue;
        }
        let Some(trap) = marked_trap(net, &arcs, &siphon) else { return false };
        // A siphon without a marked trap lacks a place of this one: the first, or the second but not the first, ...
        for place in trap {
            if std::mem::replace(&mut certain[place as usize], true) {
                continue;
            }
            siphon[place as usize] = false;
            certain[place as usize] = false;
            work.push(Siphons { within: siphon.clone(), certain: certain.clone() });
            siphon[place as usize] = true;
            certain[place as usize] = true;
        }
    }
    true
}

/// Each transition takes from the set.
fn blocks_all(net: &Net, set: &[bool]) -> bool {
    net.transitions.iter().all(|transition| transition.takes.iter().any(|(place, _)| set[*place as usize]))
}
