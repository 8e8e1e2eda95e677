//! How many tokens a place can have at most.
//!
//! If `y ≥ 0`, no transition raises `y · m`, and `y(p) ≥ 1`, then place `p` has never more than `y · m₀ / y(p)` tokens.
//! Such `y` are the semiflows; the best one is the dual solution of a linear program, the most that `m(p)` can be with
//! `m = m₀ + C·x`. Whatever it comes from, it is checked in integers before it counts.

use super::Incidence;
use super::lp::{Maximum, Tableau};
use super::semiflows::{Limits, Semiflows, semiflows};
use crate::net::Net;
use ample_budget::Budget;

/// Nets with more places and transitions than this get no linear programs.
const MOST_FOR_PROGRAMS: usize = 6_000;
/// Nets with no more than this get them also for places that have a bound, which may be too great.
const MOST_FOR_ALL_PROGRAMS: usize = 600;
/// Pivots for all programs together.
const PIVOTS: usize = 50_000;

/// An upper bound of the tokens of each place, from what the source says, semiflows and linear programs.
pub fn bounds(net: &Net, budget: &Budget) -> Vec<Option<u64>> {
    let found = semiflows(net, Limits::default(), budget);
    bounds_from(net, &found, budget)
}

/// As [`bounds`], with semiflows that are known.
pub fn bounds_from(net: &Net, known: &Semiflows, budget: &Budget) -> Vec<Option<u64>> {
    let mut bounds = stated(net);
    for flow in &known.flows {
        for (place, weight) in &flow.weights {
            tighten(&mut bounds[*place as usize], flow.tokens / weight);
        }
    }
    if net.places.len() + net.transitions.len() <= MOST_FOR_PROGRAMS {
        by_programs(net, &mut bounds, budget);
    }
    bounds
}

/// What the source says of single places and of sets, as far as it is true at the start.
pub(crate) fn stated(net: &Net) -> Vec<Option<u64>> {
    let own = |place: &crate::net::Place| place.bound.filter(|bound| place.initial <= *bound);
    let mut bounds: Vec<Option<u64>> = net.places.iter().map(own).collect();
    for set in exclusive(net) {
        set.iter().for_each(|place| tighten(&mut bounds[*place as usize], 1));
    }
    bounds
}

/// The exclusive sets that are so at the start.
pub(crate) fn exclusive(net: &Net) -> impl Iterator<Item = &Vec<u32>> {
    let tokens = |set: &[u32]| {
        let own = |place: &u32| net.places.get(*place as usize).map(|place| u128::from(place.initial));
        set.iter().map(own).sum::<Option<u128>>()
    };
    net.exclusive.iter().filter(move |set| tokens(set).is_some_and(|tokens| tokens <= 1))
}

fn tighten(bound: &mut Option<u64>, to: u64) {
    *bound = Some(bound.map_or(to, |old| old.min(to)));
}

fn by_programs(net: &Net, bounds: &mut [Option<u64>], budget: &Budget) {
    let Some(incidence) = Incidence::of(net) else { return };
    let mut tableau = Tableau::new(&incidence);
    let mut pivots = PIVOTS;
    let is_small = net.places.len() + net.transitions.len() <= MOST_FOR_ALL_PROGRAMS;
    let mut places: Vec<usize> = (0..bounds.len()).filter(|place| is_small || bounds[*place].is_none()).collect();
    places.sort_by_key(|place| bounds[*place].is_some());
    for place in places {
        if budget.check().is_err() || pivots == 0 {
            return;
        }
        if tableau.is_broken() {
            tableau = Tableau::new(&incidence);
        }
        let variable = tableau.of_place(place as u32);
        let Maximum::Row { scale, terms } = tableau.maximise(variable, budget, &mut pivots) else { continue };
        // m(p) + Σ weight · m(q) + Σ weight · x(t) is constant: that is y, and how much transitions lower y · m.
        let others =
            terms.iter().filter_map(|(other, factor)| Some((tableau.as_place(*other)?, factor.checked_neg()?)));
        let mut weights: Vec<(u32, i64)> = others.chain([(place as u32, scale)]).collect();
        weights.sort_unstable();
        if let Some(bound) = certified(&incidence, place as u32, &weights) {
            tighten(&mut bounds[place], bound);
        }
    }
}

/// The bound that weights give, if they do: positive, never raised by a transition, and the place is among them.
fn certified(incidence: &Incidence, place: u32, weights: &[(u32, i64)]) -> Option<u64> {
    let is_ordered = weights.windows(2).all(|pair| pair[0].0 < pair[1].0);
    let weight = weights.iter().find(|weight| weight.0 == place)?.1;
    if !is_ordered || weights.iter().any(|weight| weight.1 <= 0) {
        return None;
    }
    if incidence.change(weights)?.iter().any(|(_, change)| *change > 0) {
        return None;
    }
    u64::try_from(incidence.at_start(weights)? / i128::from(weight)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::{Place, Transition};

    #[test]
    fn weights_that_prove_nothing_are_refused() {
        let place = |initial| Place { name: String::new(), initial, bound: None };
        let grow = Transition { name: String::new(), takes: vec![(0, 1)], adds: vec![(0, 1), (1, 1)] };
        let net = Net { places: vec![place(2), place(0)], transitions: vec![grow], exclusive: vec![] };
        let incidence = Incidence::of(&net).expect("small numbers");
        assert_eq!(certified(&incidence, 0, &[(0, 1)]), Some(2));
        assert_eq!(certified(&incidence, 0, &[(0, 2)]), Some(2));
        assert_eq!(certified(&incidence, 1, &[(1, 1)]), None, "it is raised");
        assert_eq!(certified(&incidence, 1, &[(0, 1)]), None, "the place is not in it");
        assert_eq!(certified(&incidence, 0, &[(0, 1), (1, -1)]), None, "a negative weight");
        assert_eq!(certified(&incidence, 0, &[(0, 1), (0, 1)]), None, "twice the same place");
    }
}
