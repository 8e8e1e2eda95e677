//! Several threads on one search.

use crate::check::{self, Searched};
use crate::compile::{Compiled, Packed};
use crate::liveness::{self, BuchiAutomaton, Concurrent, Number, Product};
use crate::space::{Checked, Fork};
use crate::store::{FlatStore, Linked, Visible};
use ample_engine::settings::Fairness;
use ample_model::{Budget, Cancellation};

use super::liveness::EmptinessResult;
use super::options::{Emptiness, Options};
use super::symmetry::Keyed;
use super::{OfCompiled, Run, collect};

/// When a search for an accepted run has found so many states, several threads begin it anew.
const LARGE: u64 = 50_000;

/// Searches breadth-first, by as many threads as there are cores that nobody uses once the search has become large.
pub(super) fn breadth_first<P, D, V>(
    space: &mut P,
    store: FlatStore<D, V>,
    safety: &check::Options,
    budget: &Budget,
) -> Run
where
    P: Checked<State = [u8], Transition: Send> + Concurrent + OfCompiled + Fork,
    D: Linked,
    V: Visible,
{
    match check::breadth_first_together(space, store, safety, budget) {
        Searched::Alone(report, store) => collect(space, &store, report),
        Searched::Together(report, store) => collect(space, &store.join(), report),
    }
}

impl Fork for Compiled {
    /// If there are too many sequences of live process types to number them, a thread may not have room for those that
    /// others have met.
    fn fork(&self) -> Option<Compiled> {
        self.is_self_contained().then(|| self.clone())
    }

    fn join(&mut self, other: Compiled) {
        self.absorb(&other);
    }
}

impl Fork for Packed {
    fn fork(&self) -> Option<Packed> {
        Some(self.clone())
    }

    fn join(&mut self, mut other: Packed) {
        self.space().absorb(other.space());
    }
}

/// Which state stands for those with the same representative depends on the order in which they are found.
impl Fork for Keyed {
    fn fork(&self) -> Option<Keyed> {
        None
    }

    fn join(&mut self, _: Keyed) {}
}

/// A search for an accepted run that several threads are to begin anew when it is large.
pub(super) struct Large {
    reached: Cancellation,
    automaton: BuchiAutomaton,
    budget: Budget,
}

/// A budget that ends a search for an accepted run by one thread when it has become large, if several threads can perform it.
pub(super) fn until_large(
    product: &Product<Compiled>,
    visible: &impl Visible,
    options: &Options,
    budget: &Budget,
) -> (Budget, Option<Large>) {
    let is_possible = budget.threads() > 1
        && visible.is_whole()
        && options.explicit.emptiness == Emptiness::Auto
        && options.settings.fairness == Fairness::None
        && options.settings.max_depth.is_none();
    let automaton = if is_possible { product.automaton().by_states() } else { None };
    let Some(automaton) = automaton else { return (budget.clone(), None) };
    let cores = budget.clone();
    let (until, reached) = budget.until(move |progress| progress.states > LARGE && cores.spare_core().is_some());
    (until, Some(Large { reached, automaton, budget: budget.clone() }))
}

impl Large {
    /// The search has become large, and there is still something left of the whole budget.
    pub(super) fn is_reached<T>(&self, report: &liveness::Report<T>) -> bool {
        report.ended.is_some() && self.reached.is_cancelled() && self.budget.check().is_ok()
    }

    /// Begins it anew.
    pub(super) fn go_on(self, product: Product<Compiled>, options: &liveness::Options, room: usize) -> EmptinessResult {
        let given = product.automaton().clone();
        let mut product = product.with_automaton(self.automaton);
        if let Some((report, store)) = liveness::cndfs(&mut product, room, options, &self.budget) {
            let limit = product.space().limit_reached();
            return super::liveness::collect(&mut product, &store.join(), report, limit);
        }
        // The cores that were spare are in use again.
        let mut product = product.with_automaton(given);
        let mut store = FlatStore::<Number>::default().limit(room);
        let report = liveness::components(&mut product, &mut store, options, &self.budget);
        let limit = product.space().limit_reached();
        super::liveness::collect(&mut product, &store, report, limit)
    }
}

#[cfg(test)]
mod tests;
