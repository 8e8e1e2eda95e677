//! What the analysis may take.
//!
//! Looking for what may be left out must not take longer than looking at it would. So the analysis counts its steps: it
//! has an allowance to begin with, every state that is searched adds to it, and when it is used up nothing is left out
//! from then on. Steps are counted, and not time, so that the same search always gives the same states; only where the
//! budget of the whole search is exhausted, which ends that anyhow, it is given up at once.

use std::cell::Cell;

use ample_model::Budget;

/// So many steps, of some nanoseconds each, are free.
const ALLOWANCE: u64 = 60_000_000;

/// So many steps are worth a state of the search.
const PER_STATE: u64 = 400;

/// After so many steps the budget is asked.
const CHECK_EVERY: u64 = 100_000;

/// The steps that an analysis may still take.
#[derive(Clone, Debug)]
pub struct Effort {
    left: Cell<u64>,
    unchecked: Cell<u64>,
    is_exhausted: Cell<bool>,
    budget: Budget,
}

impl Effort {
    /// The allowance, within a budget.
    pub fn within(budget: &Budget) -> Effort {
        let is_exhausted = Cell::new(false);
        Effort { left: Cell::new(ALLOWANCE), unchecked: Cell::new(0), is_exhausted, budget: budget.clone() }
    }

    /// Whatever it takes.
    pub fn unlimited() -> Effort {
        Effort { left: Cell::new(u64::MAX), ..Effort::default() }
    }

    /// Takes so many steps; false if the analysis has to be given up.
    #[inline]
    pub fn spend(&self, steps: usize) -> bool {
        let steps = steps as u64;
        self.unchecked.set(self.unchecked.get() + steps);
        if self.left.get() < steps || self.unchecked.get() > CHECK_EVERY && !self.is_within_budget() {
            self.is_exhausted.set(true);
        }
        self.left.set(self.left.get().saturating_sub(steps));
        !self.is_exhausted.get()
    }

    /// Takes so many steps for something that may also be left; false if there are not so many left.
    #[inline]
    pub fn spend_if_possible(&self, steps: usize) -> bool {
        self.left.get() >= steps as u64 && self.spend(steps)
    }

    /// Another state was searched.
    #[inline]
    pub fn earn(&self) {
        self.left.set(self.left.get().saturating_add(PER_STATE));
    }

    /// The analysis has been given up.
    #[inline]
    pub fn is_exhausted(&self) -> bool {
        self.is_exhausted.get()
    }

    #[cold]
    fn is_within_budget(&self) -> bool {
        self.unchecked.set(0);
        self.budget.check().is_ok()
    }
}

impl Default for Effort {
    fn default() -> Effort {
        Effort::within(&Budget::unlimited())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_up_stays_given_up() {
        let effort = Effort::default();
        assert!(effort.spend(1_000));
        assert!(!effort.spend(ALLOWANCE as usize));
        (0..1_000_000).for_each(|_| effort.earn());
        assert!(!effort.spend(1) && effort.is_exhausted());
    }

    #[test]
    fn states_that_are_searched_are_worth_some_effort() {
        let effort = Effort::default();
        (0..1_000).for_each(|_| effort.earn());
        assert!(effort.spend((ALLOWANCE + 1_000 * PER_STATE) as usize));
        assert!(!effort.spend(1));
    }

    #[test]
    fn an_exhausted_budget_is_noticed() {
        let effort = Effort::within(&Budget::unlimited().with_time(std::time::Duration::ZERO));
        assert!(!effort.spend(CHECK_EVERY as usize + 1));
    }
}
