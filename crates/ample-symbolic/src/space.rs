//! A system as decision diagrams: its initial states, and one relation for each partition of its steps.
//!
//! There is no relation of all steps together, and none says what stays as it is: an image is taken relation by
//! relation, over the bits that it writes. Each relation is a partial function, since the partitions are.

use crate::diagram::{Bdd, Diagrams, Maybe, Written};

/// One partition of the steps: a move of one process, or of two that shake hands.
#[derive(Clone, Debug)]
pub struct Step {
    /// From states to their successors.
    pub relation: Bdd,
    /// What it writes, as the relation wants it.
    pub written: Written,
    /// The states that have a successor.
    pub guard: Bdd,
    /// The states in which it is enabled and ends in a fault, without a successor.
    pub fault: Bdd,
    /// The states in which it is enabled and breaks an assertion, or is a fault.
    pub violation: Bdd,
    /// The bits that it reads.
    pub reads: Vec<u32>,
    /// The bits that it may write.
    pub writes: Vec<u32>,
    /// Who takes part.
    pub processes: Vec<u32>,
}

/// What moves along with every step that leaves a settled state: an automaton that reads the states.
#[derive(Clone, Debug)]
pub struct Companion {
    /// From its states to their successors.
    pub relation: Bdd,
    /// What it writes.
    pub written: Written,
}

/// A system as decision diagrams.
#[derive(Clone, Debug)]
pub struct Space {
    /// Where the diagrams live.
    pub diagrams: Diagrams,
    /// How many bits a state has.
    pub bits: u32,
    /// The initial states.
    pub initial: Bdd,
    /// The steps, by partition.
    pub steps: Vec<Step>,
    /// The states in which nobody holds exclusive control; others are passed over.
    pub settled: Bdd,
    /// The states without a move among those that matter, if that is known. There are systems in which all such states
    /// together, reachable or not, are too much for a diagram.
    pub idle: Option<Bdd>,
    /// The states that would be proper ends without a move.
    pub end: Bdd,
    /// The states in which some move is a fault and leads nowhere.
    pub faulty: Bdd,
    /// Who moves along.
    pub companion: Option<Companion>,
}

impl Space {
    /// The states that one of these steps leads to.
    pub fn image(&self, set: &Bdd, steps: &[Step]) -> Maybe<Bdd> {
        let Some(companion) = &self.companion else { return self.plain_image(set, steps) };
        let moved = self.plain_image(&set.and(&self.settled)?, steps)?;
        let moved = moved.image(&companion.relation, companion.written)?;
        if !self.passes_over() {
            return Ok(moved);
        }
        moved.or(&self.plain_image(&set.minus(&self.settled)?, steps)?)
    }

    fn plain_image(&self, set: &Bdd, steps: &[Step]) -> Maybe<Bdd> {
        let mut all = self.diagrams.constant(false);
        for step in steps {
            all = all.or(&set.image(&step.relation, step.written)?)?;
        }
        Ok(all)
    }

    /// The states, within a set, from which one of these steps leads to the set.
    pub fn preimage(&self, set: &Bdd, steps: &[Step], within: &Bdd) -> Maybe<Bdd> {
        let Some(companion) = &self.companion else { return self.plain_preimage(set, steps, within) };
        let before = set.preimage(&companion.relation, companion.written)?;
        let moving = self.plain_preimage(&before, steps, &within.and(&self.settled)?)?;
        if !self.passes_over() {
            return Ok(moving);
        }
        moving.or(&self.plain_preimage(set, steps, &within.minus(&self.settled)?)?)
    }

    fn plain_preimage(&self, set: &Bdd, steps: &[Step], within: &Bdd) -> Maybe<Bdd> {
        let mut all = self.diagrams.constant(false);
        if within.is_false() {
            return Ok(all);
        }
        for step in steps {
            all = all.or(&set.preimage_within(&step.relation, step.written, within)?)?;
        }
        Ok(all)
    }

    /// The states after one step.
    pub fn post(&self, set: &Bdd) -> Maybe<Bdd> {
        self.image(set, &self.steps)
    }

    /// The states before one step, within a set.
    pub fn pre(&self, set: &Bdd, within: &Bdd) -> Maybe<Bdd> {
        self.preimage(set, &self.steps, within)
    }

    /// The states of the set without a move.
    pub fn resting(&self, set: &Bdd) -> Maybe<Bdd> {
        if let Some(idle) = &self.idle {
            return set.and(idle);
        }
        let mut left = set.clone();
        for step in &self.steps {
            left = left.minus(&step.guard)?.minus(&step.fault)?;
        }
        Ok(left)
    }

    /// No other states than these matter from now on: what rests among them is found once.
    pub fn confine(&mut self, set: &Bdd) -> Maybe<()> {
        self.idle = Some(self.resting(set)?);
        Ok(())
    }

    /// This state has no move.
    pub fn rests(&self, state: &[bool]) -> bool {
        !self.steps.iter().any(|step| step.guard.contains(state) || step.fault.contains(state))
    }

    /// Some states are passed over.
    pub fn passes_over(&self) -> bool {
        !self.settled.is_true()
    }

    /// The settled states that one move as a user sees it leads to: past states that are passed over. A state without a
    /// move repeats itself.
    pub fn next(&self, set: &Bdd) -> Maybe<Bdd> {
        let set = set.and(&self.settled)?;
        let mut new = self.post(&set)?;
        let mut after = new.or(&self.resting(&set)?)?;
        if self.passes_over() {
            let mut passed = self.diagrams.constant(false);
            loop {
                new = new.minus(&self.settled)?.minus(&passed)?;
                if new.is_false() {
                    break;
                }
                passed = passed.or(&new)?;
                new = self.post(&new)?;
                after = after.or(&new)?;
            }
            after = after.and(&self.settled)?;
        }
        Ok(after)
    }

    /// The settled states from which one move as a user sees it leads into the set, through states of `within` only. A
    /// state without a move repeats itself.
    pub fn previous(&self, set: &Bdd, within: &Bdd) -> Maybe<Bdd> {
        let set = set.and(&self.settled)?.and(within)?;
        let mut new = self.pre(&set, within)?;
        let mut before = new.or(&self.resting(&set)?)?;
        if self.passes_over() {
            let mut passed = self.diagrams.constant(false);
            loop {
                new = new.minus(&self.settled)?.minus(&passed)?;
                if new.is_false() {
                    break;
                }
                passed = passed.or(&new)?;
                new = self.pre(&new, within)?;
                before = before.or(&new)?;
            }
            before = before.and(&self.settled)?;
        }
        Ok(before)
    }

    /// The relations with what they write.
    pub fn relations(&self) -> Vec<(Bdd, Written)> {
        self.steps.iter().map(|step| (step.relation.clone(), step.written)).collect()
    }

    /// How many nodes the relations have together.
    pub fn relation_nodes(&self) -> usize {
        Bdd::nodes_of_all(self.steps.iter().map(|step| &step.relation))
    }

    /// How many settled states are in the set, which must not depend on anything but the state.
    pub fn count(&self, set: &Bdd) -> Maybe<num_bigint::BigUint> {
        Ok(set.and(&self.settled)?.count() >> (self.diagrams.pairs() - self.bits))
    }
}
