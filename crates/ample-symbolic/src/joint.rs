//! Synchronous systems as decision diagrams: a step is a conjunction of relations, and an image takes one after the other,
//! with early quantification.
//!
//! The relation of all steps together is never built. Its conjuncts, one for each next bit that is defined and one for each
//! relation, are put together into clusters as long as these stay small, and the clusters into an order in which bits that
//! no later cluster reads are quantified as soon as possible: R. K. Ranjan, A. Aziz, R. K. Brayton, B. Plessier and C.
//! Pixley, *Efficient BDD algorithms for FSM synthesis and verification* (IWLS 1995). Images and preimages quantify
//! different bits, and so have orders of their own. Inputs are quantified in both.

mod build;
pub mod dynamic;
mod order;
mod schedule;
mod sets;

pub(crate) use self::build::conjunction;
pub use self::build::{Formulas, build};
pub use self::dynamic::{Parts, Relations, Sizes};
pub use self::order::arrange;
pub use self::schedule::{Conjunct, Direction, Literal, Schedule};
pub use self::sets::JointSets;
use std::cell::{OnceCell, RefCell};

use crate::diagram::{Bdd, Diagrams, Maybe};

/// A synchronous system as decision diagrams.
#[derive(Debug)]
pub struct JointSpace {
    /// Where the diagrams live. The pairs of numbers below [`bits`](Self::bits) are bits of the state, the others inputs.
    pub diagrams: Diagrams,
    /// How many bits a state has.
    pub bits: u32,
    /// The initial states.
    pub initial: Bdd,
    /// The clusters of the step relation, for images; with dynamic relations they are made when they are first needed.
    forward: OnceCell<Schedule>,
    /// The same for preimages.
    backward: OnceCell<Schedule>,
    /// Every state has a next one.
    pub is_total: bool,
    /// Only infinite runs count.
    pub only_infinite: bool,
    /// The states in which some attempt of a step is a fault.
    pub faulty: Bdd,
    /// The attempts that are faults: over the current state, inputs and next bits that are free.
    pub fault: Bdd,
    /// The reachable states without a step, once they are known.
    pub dead: Option<Bdd>,
    /// The reachable states, once no others matter.
    pub care: Option<Bdd>,
    /// Preimages take only the parts of the step relation that they need.
    pub dynamic: Option<RefCell<Parts>>,
}

impl JointSpace {
    /// The clusters of the step relation, for images.
    pub fn forward(&self) -> Maybe<&Schedule> {
        self.scheduled(&self.forward, Direction::Image)
    }

    /// The same for preimages.
    pub fn backward(&self) -> Maybe<&Schedule> {
        self.scheduled(&self.backward, Direction::Preimage)
    }

    fn scheduled<'a>(&self, known: &'a OnceCell<Schedule>, direction: Direction) -> Maybe<&'a Schedule> {
        if let Some(schedule) = known.get() {
            return Ok(schedule);
        }
        let parts = self.dynamic.as_ref().ok_or(crate::SetError::Foreign)?;
        let made = parts.borrow_mut().all(direction)?;
        Ok(known.get_or_init(|| made))
    }

    /// The clusters of the step relation, as far as they were made.
    pub fn relations(&self) -> Vec<&Bdd> {
        let known = self.forward.get().or(self.backward.get());
        known.map_or_else(Vec::new, |schedule| schedule.relations().collect())
    }

    /// The states after one step.
    pub fn post(&self, set: &Bdd) -> Maybe<Bdd> {
        if set.is_false() {
            return Ok(set.clone());
        }
        self.forward()?.product(set)?.unprimed()
    }

    /// The states of `within` before one step. Once the reachable states are known, `within` is part of them.
    pub fn pre(&self, set: &Bdd, within: &Bdd) -> Maybe<Bdd> {
        if set.is_false() || within.is_false() {
            return Ok(self.diagrams.constant(false));
        }
        // Steps from reachable states lead to such.
        let set = match &self.care {
            Some(care) => set.restrict(care)?,
            None => set.clone(),
        };
        let before = match &self.dynamic {
            Some(parts) => parts.borrow_mut().preimage(&set)?,
            None => self.backward()?.product(&set.primed()?)?,
        };
        before.and(within)
    }

    /// The states of the set that have neither a next state nor a step that is a fault.
    pub fn deadlocked(&self, set: &Bdd) -> Maybe<Bdd> {
        if self.is_total {
            return Ok(self.diagrams.constant(false));
        }
        if let Some(dead) = &self.dead {
            return set.and(dead);
        }
        // The set is part of the product, so that nothing is found out about other states.
        let moving = match &self.dynamic {
            Some(parts) => parts.borrow_mut().moving(set)?,
            None => self.backward()?.product(set)?,
        };
        set.minus(&moving)?.minus(&self.faulty)
    }

    /// No states but these, which steps do not leave, matter from now on: which of them are dead is found once, and
    /// preimages may be wrong in others.
    pub fn confine(&mut self, reached: &Bdd) -> Maybe<()> {
        if self.dead.is_none() && !self.is_total {
            let dead = self.deadlocked(reached)?;
            self.is_total = dead.is_false() && reached.is_disjoint(&self.faulty)?;
            self.dead = Some(dead);
        }
        if self.care.is_none() && !reached.is_true() {
            if let Some(backward) = self.backward.take() {
                self.backward = backward.simplified(reached)?.into();
            }
            self.care = Some(reached.clone());
        }
        Ok(())
    }

    /// How many states are in the set.
    pub fn count(&self, set: &Bdd) -> num_bigint::BigUint {
        set.count() >> (self.diagrams.pairs() - self.bits)
    }
}

#[cfg(test)]
mod tests;
