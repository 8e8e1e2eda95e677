//! Which places belong together, and in which order they stand in a decision diagram.
//!
//! Places that share one token ([`units`]) say together which of them has it. A diagram is small if the places that a
//! transition touches are near each other; [`order`] takes the best of several orders by their [`span`]: as written,
//! breadth first through the net from its rim (E. Cuthill and J. McKee), and both improved by letting places and
//! transitions attract each other (FORCE, F. Aloul, I. Markov and K. Sakallah, 2003).

use std::collections::VecDeque;

use super::bounds::exclusive;
use super::semiflows::Semiflows;
use super::traps::Arcs;
use crate::net::Net;
use ample_budget::Budget;

/// Rounds of FORCE for an order.
const ROUNDS: usize = 60;

/// Disjoint sets of places, each with at most one token at any time, larger ones first chosen; every place is in one.
/// They come from the sets that the source states and from semiflows with one token; a place that is in none is alone.
pub fn units(net: &Net, known: &Semiflows) -> Vec<Vec<u32>> {
    let mut sets: Vec<Vec<u32>> = exclusive(net).cloned().collect();
    for flow in known.flows.iter().filter(|flow| flow.tokens == 1) {
        sets.push(flow.weights.iter().map(|(place, _)| *place).collect());
    }
    let mut is_taken = vec![false; net.places.len()];
    let mut chosen = Vec::new();
    // What is left of a set only shrinks, so sets are looked at again when they come to the front with a smaller size.
    let mut queue: std::collections::BinaryHeap<(usize, std::cmp::Reverse<usize>)> =
        sets.iter().enumerate().map(|(number, set)| (set.len(), std::cmp::Reverse(number))).collect();
    while let Some((size, std::cmp::Reverse(number))) = queue.pop() {
        let set = &mut sets[number];
        set.retain(|place| !is_taken[*place as usize]);
        set.sort_unstable();
        set.dedup();
        if set.len() < 2 {
            continue;
        }
        if set.len() < size {
            queue.push((set.len(), std::cmp::Reverse(number)));
            continue;
        }
        set.iter().for_each(|place| is_taken[*place as usize] = true);
        chosen.push(std::mem::take(set));
    }
    chosen.extend((0..net.places.len() as u32).filter(|place| !is_taken[*place as usize]).map(|place| vec![place]));
    chosen.sort_unstable();
    chosen
}

/// An order of the places, top to bottom, in which transitions touch places that are near each other. It is a
/// permutation, and the same at each call unless `budget` comes between.
pub fn order(net: &Net, budget: &Budget) -> Vec<u32> {
    let touched = touched(net);
    let written: Vec<u32> = (0..net.places.len() as u32).collect();
    let walked = breadth_first(net, &touched);
    let mut best = written.clone();
    let mut least = span_of(&touched, &best);
    for start in [written, walked] {
        for candidate in [start.clone(), force(&touched, start, budget)] {
            let span = span_of(&touched, &candidate);
            if span < least {
                (best, least) = (candidate, span);
            }
        }
    }
    best
}

/// As [`order`], with the places of a unit side by side: units in the order of their middle place.
pub fn order_by_units(net: &Net, units: &[Vec<u32>], budget: &Budget) -> Vec<u32> {
    let single = order(net, budget);
    let mut position = vec![0usize; net.places.len()];
    single.iter().enumerate().for_each(|(at, place)| position[*place as usize] = at);
    let mut groups: Vec<(usize, Vec<usize>)> = Vec::with_capacity(units.len());
    for unit in units {
        let mut at: Vec<usize> = unit.iter().map(|place| position[*place as usize]).collect();
        at.sort_unstable();
        let middle = at.get(at.len() / 2).copied().unwrap_or_default();
        groups.push((middle, at));
    }
    groups.sort();
    groups.into_iter().flat_map(|(_, at)| at).map(|at| single[at]).collect()
}

/// For all transitions together, how far the first place that they touch is from the last.
pub fn span(net: &Net, order: &[u32]) -> u64 {
    span_of(&touched(net), order)
}

/// For each transition the places that it touches, also those that it only reads.
fn touched(net: &Net) -> Vec<Vec<u32>> {
    let of = |transition: &crate::net::Transition| {
        let mut places: Vec<u32> = transition.takes.iter().chain(&transition.adds).map(|arc| arc.0).collect();
        places.sort_unstable();
        places.dedup();
        places
    };
    net.transitions.iter().map(of).collect()
}

fn span_of(touched: &[Vec<u32>], order: &[u32]) -> u64 {
    let mut position = vec![0u64; order.len()];
    order.iter().enumerate().for_each(|(at, place)| position[*place as usize] = at as u64);
    let span = |places: &Vec<u32>| {
        let at = || places.iter().map(|place| position[*place as usize]);
        at().max().unwrap_or_default() - at().min().unwrap_or_default()
    };
    touched.iter().map(span).sum()
}

/// From a place on the rim, those first that fewer transitions touch; the same for each part of the net.
fn breadth_first(net: &Net, touched: &[Vec<u32>]) -> Vec<u32> {
    let arcs = Arcs::of(net);
    let around = |place: u32| arcs.takers[place as usize].iter().chain(&arcs.adders[place as usize]);
    let degree = |place: &u32| around(*place).count();
    let walk = |start: u32, seen: &mut [bool]| {
        let mut used = std::collections::HashSet::new();
        let mut queue = VecDeque::from([start]);
        let mut order = Vec::new();
        seen[start as usize] = true;
        while let Some(place) = queue.pop_front() {
            order.push(place);
            let mut next = Vec::new();
            for transition in around(place) {
                if !used.insert(*transition) {
                    continue;
                }
                for other in &touched[*transition as usize] {
                    if !std::mem::replace(&mut seen[*other as usize], true) {
                        next.push(*other);
                    }
                }
            }
            next.sort_by_key(degree);
            queue.extend(next);
        }
        order
    };
    let mut starts: Vec<u32> = (0..net.places.len() as u32).collect();
    starts.sort_by_key(degree);
    let mut seen = vec![false; net.places.len()];
    let mut order = Vec::with_capacity(net.places.len());
    for start in starts {
        if seen[start as usize] {
            continue;
        }
        // The last place of a walk is on the rim; a walk from there gives thin layers.
        let part = walk(start, &mut seen);
        part.iter().for_each(|place| seen[*place as usize] = false);
        order.extend(walk(part.last().copied().unwrap_or(start), &mut seen));
    }
    order
}

/// Moves each place to the middle of its transitions, and these to the middle of their places, while that helps.
fn force(touched: &[Vec<u32>], start: Vec<u32>, budget: &Budget) -> Vec<u32> {
    let mut order = start;
    let mut best = order.clone();
    let mut least = span_of(touched, &best);
    let mut since = 0;
    for _ in 0..ROUNDS {
        if budget.check().is_err() || since > 8 {
            break;
        }
        order = attracted(touched, &order);
        let span = span_of(touched, &order);
        since += 1;
        if span < least {
            best.clone_from(&order);
            (least, since) = (span, 0);
        }
    }
    best
}

fn attracted(touched: &[Vec<u32>], order: &[u32]) -> Vec<u32> {
    let mut position = vec![0f64; order.len()];
    order.iter().enumerate().for_each(|(at, place)| position[*place as usize] = at as f64);
    let mut pull = vec![(0f64, 0f64); order.len()];
    for places in touched {
        let centre = places.iter().map(|place| position[*place as usize]).sum::<f64>() / places.len().max(1) as f64;
        for place in places {
            let (sum, count) = &mut pull[*place as usize];
            *sum += centre;
            *count += 1.0;
        }
    }
    let target = |place: u32| match pull[place as usize] {
        (_, 0.0) => position[place as usize],
        (sum, count) => sum / count,
    };
    let mut moved = order.to_vec();
    moved.sort_by(|left, right| target(*left).total_cmp(&target(*right)));
    moved
}
