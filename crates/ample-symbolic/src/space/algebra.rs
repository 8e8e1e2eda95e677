//! Binary decision diagrams as an algebra of sets. An action is a step of the space, a level is a bit.

use std::ops::Deref;

use num_bigint::BigUint;

use super::Space;
use crate::diagram::{Bdd, Completion};
use crate::error::{Maybe, SetError};
use crate::reach::Effort;
use crate::sets::{Portable, Sets, closed};

/// The sets of a space, which is borrowed or owned. The variables must not be moved while sets are told as bytes.
pub struct SpaceSets<P> {
    /// The space.
    pub space: P,
    /// Lists of actions under which sets were closed.
    completions: Vec<(Vec<usize>, Completion)>,
}

impl<P: Deref<Target = Space>> SpaceSets<P> {
    /// Of that space.
    pub fn new(space: P) -> SpaceSets<P> {
        SpaceSets { space, completions: Vec::new() }
    }
}

impl<P: Deref<Target = Space>> Sets for SpaceSets<P> {
    type Set = Bdd;
    type State = Vec<bool>;

    fn actions(&self) -> usize {
        self.space.steps.len()
    }

    fn initial(&mut self) -> Maybe<Bdd> {
        Ok(self.space.initial.clone())
    }

    fn empty(&mut self) -> Bdd {
        self.space.diagrams.constant(false)
    }

    fn is_empty(&self, set: &Bdd) -> bool {
        set.is_false()
    }

    fn union(&mut self, one: &Bdd, other: &Bdd) -> Maybe<Bdd> {
        one.or(other)
    }

    fn intersection(&mut self, one: &Bdd, other: &Bdd) -> Maybe<Bdd> {
        one.and(other)
    }

    fn minus(&mut self, one: &Bdd, other: &Bdd) -> Maybe<Bdd> {
        one.minus(other)
    }

    fn is_subset(&mut self, one: &Bdd, other: &Bdd) -> Maybe<bool> {
        one.is_subset(other)
    }

    fn image(&mut self, set: &Bdd, action: usize) -> Maybe<Bdd> {
        self.space.image_of(set, &[action])
    }

    fn preimage(&mut self, set: &Bdd, action: usize, within: &Bdd) -> Maybe<Bdd> {
        self.space.preimage_of(set, &[action], within)
    }

    fn images(&mut self, set: &Bdd, actions: &[usize]) -> Maybe<Bdd> {
        self.space.image_of(set, actions)
    }

    fn preimages(&mut self, set: &Bdd, actions: &[usize], within: &Bdd) -> Maybe<Bdd> {
        self.space.preimage_of(set, actions, within)
    }

    fn post(&mut self, set: &Bdd, within: &Bdd) -> Maybe<Bdd> {
        self.space.post(set)?.and(within)
    }

    fn pre(&mut self, set: &Bdd, within: &Bdd) -> Maybe<Bdd> {
        self.space.pre(set, within)
    }

    fn closure(&mut self, set: &Bdd, actions: &[usize]) -> Maybe<Bdd> {
        let known = self.completions.iter().position(|(known, _)| known == actions);
        let number = known.unwrap_or_else(|| {
            let step = |action: &usize| &self.space.steps[*action];
            let relations = actions.iter().map(|action| (step(action).relation.clone(), step(action).written));
            let completion = self.space.diagrams.completion(relations.collect());
            self.completions.push((actions.to_vec(), completion));
            self.completions.len() - 1
        });
        set.completed(&self.completions[number].1)
    }

    fn forward_closure(&mut self, set: &Bdd, within: &Bdd, effort: &mut Effort) -> Maybe<Bdd> {
        if self.space.companion.is_some() {
            return closed(self, set, effort, |sets, set| sets.post(set, within));
        }
        self.space.chained(set, effort, |set, cluster| set.image(&cluster.relation, cluster.written)?.and(within))
    }

    fn backward_closure(&mut self, set: &Bdd, within: &Bdd, effort: &mut Effort) -> Maybe<Bdd> {
        if self.space.companion.is_some() {
            return closed(self, set, effort, |sets, set| sets.pre(set, within));
        }
        self.space.chained(set, effort, |set, cluster| set.preimage_within(&cluster.relation, cluster.written, within))
    }

    fn is_enabled(&mut self, set: &Bdd, action: usize) -> Maybe<bool> {
        Ok(!set.is_disjoint(&self.space.steps[action].guard)?)
    }

    fn deadlocked(&mut self, set: &Bdd) -> Maybe<Bdd> {
        self.space.resting(set)
    }

    fn is_deadlocked(&mut self, state: &Vec<bool>) -> Maybe<bool> {
        Ok(self.space.rests(state))
    }

    fn stutters(&self) -> bool {
        true
    }

    fn faulty(&mut self, set: &Bdd) -> Maybe<Bdd> {
        set.and(&self.space.faulty)
    }

    fn fault(&mut self, state: &Vec<bool>) -> Maybe<Option<usize>> {
        Ok(self.space.steps.iter().position(|step| step.fault.contains(state)))
    }

    fn has_transient(&self) -> bool {
        self.space.has_transient()
    }

    fn visible(&mut self, set: &Bdd) -> Maybe<Bdd> {
        set.and(&self.space.visible)
    }

    fn previous(&mut self, set: &Bdd, within: &Bdd) -> Maybe<Bdd> {
        self.space.previous(set, within)
    }

    fn pick(&mut self, set: &Bdd) -> Maybe<Option<Vec<bool>>> {
        Ok(set.pick())
    }

    fn only(&mut self, state: &Vec<bool>) -> Maybe<Bdd> {
        self.space.initial.only(state)
    }

    fn contains(&mut self, set: &Bdd, state: &Vec<bool>) -> bool {
        set.contains(state)
    }

    fn count(&mut self, set: &Bdd) -> Maybe<BigUint> {
        Ok(self.space.count_all(set))
    }

    fn is_single(&mut self, set: &Bdd) -> Maybe<bool> {
        if self.space.diagrams.pairs() > self.space.bits {
            // Some variables are none of the state's: an automaton has been added to the system.
            return Ok(self.space.count_all(set) == BigUint::from(1u8));
        }
        let Some(state) = set.pick() else { return Ok(false) };
        Ok(set.only(&state)? == *set)
    }

    fn nodes(&mut self, set: &Bdd) -> Maybe<usize> {
        Ok(set.nodes())
    }

    fn note(&mut self, frontier: &Bdd, effort: &mut Effort) {
        effort.note(frontier);
    }
}

impl<P: Deref<Target = Space>> Portable for SpaceSets<P> {
    fn encode(&mut self, set: &Bdd) -> Maybe<Vec<u8>> {
        Ok(set.to_bytes())
    }

    fn decode(&mut self, bytes: &[u8]) -> Maybe<Bdd> {
        self.space.diagrams.from_bytes(bytes)?.ok_or(SetError::Foreign)
    }

    fn values(&self, state: &Vec<bool>) -> Vec<u64> {
        state.iter().map(|bit| u64::from(*bit)).collect()
    }

    fn state(&self, values: &[u64]) -> Maybe<Vec<bool>> {
        if values.len() != self.levels() {
            return Err(SetError::Foreign);
        }
        Ok(values.iter().map(|bit| *bit == 1).collect())
    }

    fn levels(&self) -> usize {
        self.space.diagrams.pairs() as usize
    }

    fn halves(&mut self, set: &Bdd, level: usize) -> Maybe<(Bdd, Bdd)> {
        let bit = self.space.diagrams.now(self.space.diagrams.pair_at(level).ok_or(SetError::Foreign)?)?;
        let (low, high) = (set.minus(&bit)?, set.and(&bit)?);
        Ok(if low.is_false() { (high, low) } else { (low, high) })
    }
}
