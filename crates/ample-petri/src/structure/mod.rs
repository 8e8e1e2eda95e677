//! What a net's arcs say without firing anything.
//!
//! - [`semiflows`]: weighted sums of tokens that never change;
//! - [`bounds`]: how many tokens a place can have at most;
//! - [`equation`]: goals that no marking `m = m₀ + C·x` satisfies, so that none that is reachable does;
//! - [`traps`]: sets of places that stay marked, or stay empty, and what follows for deadlocks;
//! - [`units`]: groups of places that share one token, and an order of places for decision diagrams;
//! - [`encode`]: the net as a system in which such a group is one variable.
//!
//! Everything is exact integer arithmetic. Where a number does not fit, or a limit is met, less is known: never
//! something wrong. The budget is asked often; when it is used up, what is known by then is the answer.

pub mod bounds;
pub mod encode;
pub mod equation;
mod lp;
pub mod semiflows;
mod sparse;
pub mod traps;
pub mod units;

use crate::net::Net;
use sparse::Sparse;

/// The matrix of a net: by how much each transition changes each place. Reading arcs leave no trace in it.
#[derive(Clone, Debug)]
pub struct Incidence {
    /// For each transition the places that it changes, in order.
    pub columns: Vec<Sparse>,
    /// For each place the transitions that change it, in order.
    pub rows: Vec<Sparse>,
    /// The tokens at the start.
    pub initial: Vec<i64>,
}

impl Incidence {
    /// The matrix of a net; `None` if a number of tokens, or a weight, is beyond what 64 bits hold with a sign.
    pub fn of(net: &Net) -> Option<Incidence> {
        let initial = net.places.iter().map(|place| i64::try_from(place.initial).ok()).collect::<Option<Vec<_>>>()?;
        let mut columns = Vec::with_capacity(net.transitions.len());
        let mut rows: Vec<Sparse> = vec![Vec::new(); net.places.len()];
        for (number, transition) in net.transitions.iter().enumerate() {
            if transition.takes.iter().chain(&transition.adds).any(|arc| i64::try_from(arc.1).is_err()) {
                return None;
            }
            let column = effect(&transition.takes, &transition.adds)?;
            for (place, change) in &column {
                rows.get_mut(*place as usize)?.push((number as u32, *change));
            }
            columns.push(column);
        }
        Some(Incidence { columns, rows, initial })
    }

    /// `Σ factor · initial tokens`
    pub(crate) fn at_start(&self, weights: &[(u32, i64)]) -> Option<i128> {
        weights.iter().try_fold(0i128, |sum, (place, factor)| {
            sum.checked_add(i128::from(*factor) * i128::from(self.initial[*place as usize]))
        })
    }

    /// By how much each transition changes the weighted sum of tokens: only transitions that do, in order.
    pub(crate) fn change(&self, weights: &[(u32, i64)]) -> Option<Vec<(u32, i128)>> {
        let mut parts: Vec<(u32, i128)> = Vec::new();
        for (place, factor) in weights {
            let row = &self.rows[*place as usize];
            parts.extend(row.iter().map(|(transition, by)| (*transition, i128::from(*factor) * i128::from(*by))));
        }
        sparse::collected(parts)
    }
}

fn effect(takes: &[(u32, u64)], adds: &[(u32, u64)]) -> Option<Sparse> {
    let added = adds.iter().map(|(place, weight)| (*place, i128::from(*weight)));
    let taken = takes.iter().map(|(place, weight)| (*place, -i128::from(*weight)));
    let change = sparse::collected(added.chain(taken).collect())?;
    change.into_iter().map(|(place, by)| Some((place, i64::try_from(by).ok()?))).collect()
}

/// Every arc has weight 1.
pub fn is_ordinary(net: &Net) -> bool {
    net.transitions.iter().all(|transition| transition.takes.iter().chain(&transition.adds).all(|arc| arc.1 == 1))
}

/// No transition changes the number of all tokens.
pub fn is_conservative(net: &Net) -> bool {
    let sum = |arcs: &[(u32, u64)]| arcs.iter().map(|arc| u128::from(arc.1)).sum::<u128>();
    net.transitions.iter().all(|transition| sum(&transition.takes) == sum(&transition.adds))
}

/// Transitions that share a place that they take from take from the same places, equally many (extended free choice).
pub fn is_free_choice(net: &Net) -> bool {
    let mut first: Vec<Option<usize>> = vec![None; net.places.len()];
    net.transitions.iter().enumerate().all(|(number, transition)| {
        transition.takes.iter().all(|(place, _)| {
            let other = *first[*place as usize].get_or_insert(number);
            net.transitions[other].takes == transition.takes
        })
    })
}
