//! List decision diagrams as an algebra of sets. Single markings are stepped from directly, without diagrams.

use std::hash::{DefaultHasher, Hash, Hasher};

use num_bigint::BigUint;

use super::{Diagrams, Maybe, Selection, Set, SetError, check_depth};
use crate::reach::Effort;
use crate::sets::{Portable, Sets};

impl Diagrams {
    /// The selection of these actions: nearly always those that were asked for last.
    fn chosen(&mut self, actions: &[usize]) -> Maybe<Selection> {
        if let Some((last, selection)) = &self.last
            && last == actions
        {
            return Ok(selection.clone());
        }
        let numbers: Vec<u32> = actions.iter().map(|action| *action as u32).collect();
        let selection = self.select(&numbers)?;
        self.last = Some((actions.to_vec(), selection.clone()));
        Ok(selection)
    }

    /// A transition that leads from the marking to one of the set, or from one of the set to the marking.
    fn neighbour(&self, marking: &[u64], set: &Set, forward: bool) -> Option<(usize, Vec<u64>)> {
        (0..self.transitions.len()).find_map(|number| {
            let next = self.beside(marking, number, forward)?;
            self.contains(set, &next).then_some((number, next))
        })
    }

    /// The marking after a transition, or before it.
    fn beside(&self, marking: &[u64], transition: usize, forward: bool) -> Option<Vec<u64>> {
        let transition = self.transitions.get(transition)?;
        let (takes, adds) =
            if forward { (&transition.takes, &transition.adds) } else { (&transition.adds, &transition.takes) };
        if takes.iter().any(|(place, weight)| marking[*place as usize] < *weight) {
            return None;
        }
        let mut next = marking.to_vec();
        for (place, weight) in takes {
            let cell = &mut next[*place as usize];
            *cell = cell.checked_sub(*weight)?;
        }
        for (place, weight) in adds {
            let cell = &mut next[*place as usize];
            *cell = cell.checked_add(*weight)?;
        }
        Some(next)
    }
}

impl Sets for Diagrams {
    type Set = Set;
    type State = Vec<u64>;

    fn actions(&self) -> usize {
        self.transitions.len()
    }

    fn initial(&mut self) -> Maybe<Set> {
        Diagrams::initial(self)
    }

    fn empty(&mut self) -> Set {
        Diagrams::empty(self)
    }

    fn is_empty(&self, set: &Set) -> bool {
        set.is_empty()
    }

    fn union(&mut self, one: &Set, other: &Set) -> Maybe<Set> {
        Diagrams::union(self, one, other)
    }

    fn intersection(&mut self, one: &Set, other: &Set) -> Maybe<Set> {
        self.intersect(one, other)
    }

    fn minus(&mut self, one: &Set, other: &Set) -> Maybe<Set> {
        Diagrams::minus(self, one, other)
    }

    fn is_subset(&mut self, one: &Set, other: &Set) -> Maybe<bool> {
        Diagrams::is_subset(self, one, other)
    }

    fn image(&mut self, set: &Set, action: usize) -> Maybe<Set> {
        self.fire(set, action as u32)
    }

    fn preimage(&mut self, set: &Set, action: usize, within: &Set) -> Maybe<Set> {
        self.unfire(set, action as u32, within)
    }

    fn images(&mut self, set: &Set, actions: &[usize]) -> Maybe<Set> {
        let selection = self.chosen(actions)?;
        self.image_by(set, &selection)
    }

    fn images_within(&mut self, set: &Set, actions: &[usize], within: &Set) -> Maybe<Set> {
        let selection = self.chosen(actions)?;
        self.image_within_by(set, &selection, within)
    }

    fn preimages(&mut self, set: &Set, actions: &[usize], within: &Set) -> Maybe<Set> {
        let selection = self.chosen(actions)?;
        self.preimage_by(set, &selection, within)
    }

    fn post(&mut self, set: &Set, within: &Set) -> Maybe<Set> {
        let all = self.all()?;
        self.image_within_by(set, &all, within)
    }

    fn pre(&mut self, set: &Set, within: &Set) -> Maybe<Set> {
        let all = self.all()?;
        self.preimage_by(set, &all, within)
    }

    fn closure(&mut self, set: &Set, actions: &[usize]) -> Maybe<Set> {
        let selection = self.chosen(actions)?;
        self.closure_by(set, &selection)
    }

    fn forward_closure(&mut self, set: &Set, within: &Set, _effort: &mut Effort) -> Maybe<Set> {
        let all = self.all()?;
        let inside = self.closure_within_by(set, &all, within)?;
        self.union(&inside, set)
    }

    fn backward_closure(&mut self, set: &Set, within: &Set, _effort: &mut Effort) -> Maybe<Set> {
        let all = self.all()?;
        // What lies outside counts for one step, into it.
        let either = self.union(set, within)?;
        self.backward_closure_by(set, &all, &either)
    }

    fn until(&mut self, through: &Set, goal: &Set, _within: &Set, effort: &mut Effort) -> Maybe<Set> {
        Sets::backward_closure(self, goal, through, effort)
    }

    fn is_enabled(&mut self, set: &Set, action: usize) -> Maybe<bool> {
        self.can_fire(set, action as u32)
    }

    fn deadlocked(&mut self, set: &Set) -> Maybe<Set> {
        self.deadlocks(set)
    }

    fn is_deadlocked(&mut self, marking: &Vec<u64>) -> Maybe<bool> {
        let mut takes = self.transitions.iter().map(|transition| &transition.takes);
        Ok(!takes.any(|takes| takes.iter().all(|(place, weight)| marking[*place as usize] >= *weight)))
    }

    fn resting(&mut self, set: &Set) -> Maybe<Set> {
        self.deadlocks(set)
    }

    fn pick(&mut self, set: &Set) -> Maybe<Option<Vec<u64>>> {
        Ok(Diagrams::pick(self, set))
    }

    fn only(&mut self, marking: &Vec<u64>) -> Maybe<Set> {
        self.marking(marking)
    }

    fn contains(&mut self, set: &Set, marking: &Vec<u64>) -> bool {
        Diagrams::contains(self, set, marking)
    }

    fn step_into(&mut self, marking: &Vec<u64>, set: &Set) -> Maybe<Option<(usize, Vec<u64>)>> {
        Ok(self.neighbour(marking, set, true))
    }

    fn step_from(&mut self, set: &Set, marking: &Vec<u64>) -> Maybe<Option<(usize, Vec<u64>)>> {
        Ok(self.neighbour(marking, set, false))
    }

    fn count(&mut self, set: &Set) -> Maybe<BigUint> {
        Diagrams::count(self, set)
    }

    fn is_single(&mut self, set: &Set) -> Maybe<bool> {
        Ok(self.markings(set, 2).len() == 1)
    }

    fn nodes(&mut self, set: &Set) -> Maybe<usize> {
        Diagrams::nodes(self, set)
    }

    fn check_depth(&self) -> Maybe<()> {
        check_depth()
    }
}

impl Portable for Diagrams {
    fn digest(&self, set: &Set) -> Option<u64> {
        let mut hasher = DefaultHasher::new();
        set.hash(&mut hasher);
        Some(hasher.finish())
    }

    fn encode(&mut self, set: &Set) -> Maybe<Vec<u8>> {
        Diagrams::encode(self, set)
    }

    fn decode(&mut self, bytes: &[u8]) -> Maybe<Set> {
        Diagrams::decode(self, bytes)
    }

    fn values(&self, marking: &Vec<u64>) -> Vec<u64> {
        marking.clone()
    }

    fn state(&self, values: &[u64]) -> Maybe<Vec<u64>> {
        if values.len() == self.order.len() { Ok(values.to_vec()) } else { Err(SetError::Foreign) }
    }

    fn levels(&self) -> usize {
        self.order.len()
    }

    fn halves(&mut self, set: &Set, level: usize) -> Maybe<(Set, Set)> {
        self.split(set, level as u32)
    }
}
