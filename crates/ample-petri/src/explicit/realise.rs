//! From how often transitions fire to an order in which they can.
//!
//! The state equation tells how often each transition fires on the way to a goal, if there is a way at all; what it does
//! not tell is the order. Here orders are tried: a transition fires as often as it still has to and can, then another.
//! With thousands of tokens in a place that is a few steps, where a walk that fires one after the other takes millions.
//!
//! An attempt may get stuck, and the solution may have no order at all: nothing follows from that.

use ample_model::Reason;
use ample_random::Random;

use super::relations::Relations;
use crate::net::{Condition, Net};
use ample_budget::Budget;

/// Runs are not longer.
const LONGEST: u64 = 20_000_000;
/// The clock is looked at after so many steps.
const LOOK_EVERY: u32 = 256;

/// A run, and the marking it leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Realised {
    /// The transitions.
    pub run: Vec<u32>,
    /// The tokens of each place.
    pub marking: Vec<u64>,
}

/// Looks for orders of solutions of the state equation.
pub struct Realiser<'n> {
    net: &'n Net,
    relations: Relations,
    random: Random,
}

impl<'n> Realiser<'n> {
    /// For a net, or why it cannot be.
    pub fn new(net: &'n Net) -> Result<Realiser<'n>, Reason> {
        Ok(Realiser { net, relations: Relations::of(net)?, random: Random::new(1) })
    }

    /// A run to the goal that fires no transition more often than that, if one of so many attempts finds one.
    ///
    /// ```
    /// use ample_budget::Budget;
    /// use ample_petri::explicit::realise::Realiser;
    /// use ample_petri::net::{Condition, Net, Place, Transition};
    ///
    /// let place = |name: &str, initial| Place { name: name.into(), initial, bound: None };
    /// let step = |from, to| Transition { name: "t".into(), takes: vec![(from, 1)], adds: vec![(to, 1)] };
    /// let places = vec![place("a", 2), place("b", 0), place("c", 0)];
    /// let net = Net { places, transitions: vec![step(1, 2), step(0, 1)], exclusive: vec![] };
    /// let goal = Condition::AtMost { terms: vec![(2, -1)], most: -2 };
    /// let run = Realiser::new(&net).unwrap().realise(&[(0, 2), (1, 2)], &goal, 4, &Budget::unlimited());
    /// assert_eq!(run.unwrap().run, [1, 1, 0, 0]);
    /// ```
    pub fn realise(
        &mut self,
        counts: &[(u32, u64)],
        goal: &Condition,
        attempts: usize,
        budget: &Budget,
    ) -> Option<Realised> {
        let total = counts.iter().try_fold(0u64, |sum, (_, count)| sum.checked_add(*count));
        if total.is_none_or(|total| total > LONGEST) {
            return None;
        }
        (0..attempts).find_map(
            |attempt| if budget.check().is_err() { None } else { self.attempt(counts, goal, attempt, budget) },
        )
    }

    /// One attempt: the first fires as often as it can, later ones are more and more cautious.
    fn attempt(
        &mut self,
        counts: &[(u32, u64)],
        goal: &Condition,
        attempt: usize,
        budget: &Budget,
    ) -> Option<Realised> {
        let mut left = counts.to_vec();
        let mut marking = self.net.initial();
        let mut run = Vec::new();
        let mut steps = 0;
        let mut moved = true;
        while moved {
            moved = false;
            self.shuffle(&mut left, attempt);
            for item in &mut left {
                let (transition, remaining) = *item;
                let most = self.firings(&marking, transition).min(remaining);
                let times = if attempt == 0 || most <= 1 { most } else { 1 + self.random.below(most) };
                if times == 0 {
                    continue;
                }
                self.fire(&mut marking, transition, times)?;
                run.extend(std::iter::repeat_n(transition, times as usize));
                item.1 -= times;
                moved = true;
                steps += 1;
                if steps % LOOK_EVERY == 0 && budget.check().is_err() {
                    return None;
                }
            }
            left.retain(|(_, remaining)| *remaining > 0);
            if goal.holds(&marking) {
                return Some(Realised { run, marking });
            }
        }
        None
    }

    /// The first attempt takes them as they come, the others in any order.
    fn shuffle(&mut self, items: &mut [(u32, u64)], attempt: usize) {
        if attempt > 0 {
            for at in (1..items.len()).rev() {
                items.swap(at, self.random.below(at + 1));
            }
        }
    }

    /// How often a transition can fire without another one in between.
    fn firings(&self, marking: &[u64], transition: u32) -> u64 {
        let takes = self.relations.takes.row(transition);
        if takes.iter().any(|(place, needed)| marking[*place as usize] < *needed) {
            return 0;
        }
        let mut most = u64::MAX;
        for (place, change) in self.relations.changes.row(transition).iter().filter(|(_, change)| *change < 0) {
            let needed = takes.iter().find(|(p, _)| p == place).map_or(0, |(_, needed)| *needed);
            most = most.min((marking[*place as usize] - needed) / change.unsigned_abs() + 1);
        }
        most
    }

    fn fire(&self, marking: &mut [u64], transition: u32, times: u64) -> Option<()> {
        for (place, change) in self.relations.changes.row(transition) {
            let by = i64::try_from(times).ok()?.checked_mul(*change)?;
            marking[*place as usize] = marking[*place as usize].checked_add_signed(by)?;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::{Place, Transition};

    #[test]
    fn many_tokens_are_one_step() {
        let place = |name: &str, initial| Place { name: name.into(), initial, bound: None };
        let step = |from, to| Transition { name: "t".into(), takes: vec![(from, 2)], adds: vec![(to, 1)] };
        let places = vec![place("a", 40_001), place("b", 0), place("c", 0)];
        let net = Net { places, transitions: vec![step(0, 1), step(1, 2)], exclusive: vec![] };
        let goal = Condition::AtMost { terms: vec![(2, -1)], most: -10_000 };
        let run =
            Realiser::new(&net).unwrap().realise(&[(0, 20_000), (1, 10_000)], &goal, 1, &Budget::unlimited()).unwrap();
        assert_eq!((run.run.len(), run.marking), (30_000, vec![1, 0, 10_000]));
    }

    #[test]
    fn what_has_no_order_is_not_found() {
        let place = |name: &str, initial| Place { name: name.into(), initial, bound: None };
        // Each waits for a token that only the other has given back.
        let one = Transition { name: "one".into(), takes: vec![(0, 1)], adds: vec![(1, 1), (2, 1)] };
        let other = Transition { name: "other".into(), takes: vec![(1, 1)], adds: vec![(0, 1)] };
        let places = vec![place("a", 0), place("b", 0), place("c", 0)];
        let net = Net { places, transitions: vec![one, other], exclusive: vec![] };
        let goal = Condition::AtMost { terms: vec![(2, -1)], most: -1 };
        assert_eq!(Realiser::new(&net).unwrap().realise(&[(0, 1), (1, 1)], &goal, 8, &Budget::unlimited()), None);
    }
}
