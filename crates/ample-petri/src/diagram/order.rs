//! An order of the places to begin with: what a transition connects stands together.
//!
//! FORCE (Aloul, Markov and Sakallah): every transition pulls its places to their common centre, again and again, and
//! the order in which transitions span the least is kept.

use crate::net::Net;

/// How often the places are moved at most.
const MAX_ROUNDS: usize = 80;

/// An order of the places of a net, from the root of the diagrams down.
pub fn order(net: &Net) -> Vec<u32> {
    let groups: Vec<Vec<u32>> = net
        .transitions
        .iter()
        .map(|transition| {
            let mut places: Vec<u32> =
                transition.takes.iter().chain(&transition.adds).map(|(place, _)| *place).collect();
            places.sort_unstable();
            places.dedup();
            places.retain(|place| (*place as usize) < net.places.len());
            places
        })
        .filter(|places| places.len() > 1)
        .collect();
    let mut order: Vec<u32> = (0..net.places.len() as u32).collect();
    let mut best = (span(&order, &groups), order.clone());
    for _ in 0..MAX_ROUNDS {
        let before = order.clone();
        pull(&mut order, &groups);
        let length = span(&order, &groups);
        if length < best.0 {
            best = (length, order.clone());
        }
        if order == before {
            break;
        }
    }
    best.1
}

/// Moves every place to the middle of the centres of its transitions. A transition of many places says little of each.
fn pull(order: &mut [u32], groups: &[Vec<u32>]) {
    let position = positions(order);
    let mut pulls = vec![(0.0, 0.0); order.len()];
    for group in groups {
        let weight = 1.0 / group.len() as f64;
        let centre = group.iter().map(|place| position[*place as usize] as f64).sum::<f64>() * weight;
        for place in group {
            pulls[*place as usize].0 += centre * weight;
            pulls[*place as usize].1 += weight;
        }
    }
    let goal = |place: &u32| {
        let (sum, weight) = pulls[*place as usize];
        if weight > 0.0 { sum / weight } else { position[*place as usize] as f64 }
    };
    order.sort_by(|x, y| goal(x).total_cmp(&goal(y)));
}

fn positions(order: &[u32]) -> Vec<usize> {
    let mut position = vec![0; order.len()];
    order.iter().enumerate().for_each(|(at, place)| position[*place as usize] = at);
    position
}

/// How far the transitions reach, all together.
fn span(order: &[u32], groups: &[Vec<u32>]) -> usize {
    let position = positions(order);
    let reach = |group: &Vec<u32>| {
        let places = group.iter().map(|place| position[*place as usize]);
        places.clone().max().unwrap_or(0) - places.min().unwrap_or(0)
    };
    groups.iter().map(reach).sum()
}
