//! The sets of a synchronous system as an algebra of sets.
//!
//! The algebra takes actions for partial functions. A joint step is one only if its inputs and choices are known, and there
//! are too many of these to number them in advance: a step that is part of a run gets its number when it is found.

use ample_boolean::JointEncoding;
use ample_model::Move;
use num_bigint::BigUint;

use super::JointSpace;
use crate::diagram::{Bdd, Maybe};
use crate::reach::Effort;
use crate::sets::Sets;

/// The sets of a space.
pub struct JointSets<'a> {
    /// The space.
    pub space: &'a JointSpace,
    encoding: &'a JointEncoding,
    /// The steps that were found, by their numbers.
    moves: Vec<Move>,
}

impl<'a> JointSets<'a> {
    /// Of that space, which was built from the encoding.
    pub fn new(space: &'a JointSpace, encoding: &'a JointEncoding) -> JointSets<'a> {
        JointSets { space, encoding, moves: Vec::new() }
    }

    /// The step of that number.
    pub fn taken(&self, number: usize) -> Move {
        self.moves[number].clone()
    }

    fn number(&mut self, taken: Move) -> usize {
        self.moves.push(taken);
        self.moves.len() - 1
    }

    /// The step from one state to another, which is possible.
    fn step(&mut self, before: &[bool], after: &[bool]) -> Maybe<Option<usize>> {
        let mut steps = self.space.initial.only(before)?.and(&self.space.initial.only(after)?.primed()?)?;
        for relation in self.space.forward()?.relations() {
            steps = steps.and(relation)?;
        }
        let Some(inputs) = steps.pick() else { return Ok(None) };
        let next = self.encoding.next_bits.start;
        let value = |bit: u32| match bit {
            bit if bit < self.space.bits => before[bit as usize],
            bit if bit < next => inputs[bit as usize],
            bit => after[(bit - next) as usize],
        };
        let taken = self.encoding.taken(&value);
        Ok(Some(self.number(taken)))
    }

    fn state(&self, set: &Bdd) -> Option<Vec<bool>> {
        let mut state = set.pick()?;
        state.truncate(self.space.bits as usize);
        Some(state)
    }
}

impl Sets for JointSets<'_> {
    type Set = Bdd;
    type State = Vec<bool>;

    fn actions(&self) -> usize {
        1
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

    fn image(&mut self, set: &Bdd, _action: usize) -> Maybe<Bdd> {
        self.space.post(set)
    }

    fn preimage(&mut self, set: &Bdd, _action: usize, within: &Bdd) -> Maybe<Bdd> {
        self.space.pre(set, within)
    }

    fn post(&mut self, set: &Bdd, within: &Bdd) -> Maybe<Bdd> {
        self.space.post(set)?.and(within)
    }

    fn pre(&mut self, set: &Bdd, within: &Bdd) -> Maybe<Bdd> {
        self.space.pre(set, within)
    }

    fn deadlocked(&mut self, set: &Bdd) -> Maybe<Bdd> {
        self.space.deadlocked(set)
    }

    fn stutters(&self) -> bool {
        !self.space.only_infinite
    }

    fn only_infinite(&self) -> bool {
        self.space.only_infinite && !self.space.is_total
    }

    fn faulty(&mut self, set: &Bdd) -> Maybe<Bdd> {
        set.and(&self.space.faulty)
    }

    fn fault(&mut self, state: &Vec<bool>) -> Maybe<Option<usize>> {
        let attempts = self.space.initial.only(state)?.and(&self.space.fault)?;
        let Some([inputs, choices]) = attempts.pick_step() else { return Ok(None) };
        let next = self.encoding.next_bits.start;
        let free = |bit: u32| match bit {
            bit if bit < self.space.bits => state[bit as usize],
            bit if bit < next => inputs[bit as usize],
            bit => choices[(bit - next) as usize],
        };
        let after = self.encoding.completed(&free);
        let taken = self.encoding.taken(&|bit| if bit < next { free(bit) } else { after[(bit - next) as usize] });
        Ok(Some(self.number(taken)))
    }

    fn pick(&mut self, set: &Bdd) -> Maybe<Option<Vec<bool>>> {
        Ok(self.state(set))
    }

    fn only(&mut self, state: &Vec<bool>) -> Maybe<Bdd> {
        self.space.initial.only(state)
    }

    fn contains(&mut self, set: &Bdd, state: &Vec<bool>) -> bool {
        set.contains(state)
    }

    fn step_into(&mut self, state: &Vec<bool>, set: &Bdd) -> Maybe<Option<(usize, Vec<bool>)>> {
        let after = self.space.post(&self.space.initial.only(state)?)?.and(set)?;
        let Some(after) = self.state(&after) else { return Ok(None) };
        Ok(self.step(state, &after)?.map(|number| (number, after)))
    }

    fn step_from(&mut self, set: &Bdd, state: &Vec<bool>) -> Maybe<Option<(usize, Vec<bool>)>> {
        let before = self.space.pre(&self.space.initial.only(state)?, set)?;
        let Some(before) = self.state(&before) else { return Ok(None) };
        Ok(self.step(&before, state)?.map(|number| (number, before)))
    }

    fn count(&mut self, set: &Bdd) -> Maybe<BigUint> {
        Ok(self.space.count(set))
    }

    fn nodes(&mut self, set: &Bdd) -> Maybe<usize> {
        Ok(set.nodes())
    }

    fn note(&mut self, frontier: &Bdd, effort: &mut Effort) {
        effort.note(frontier);
    }
}
