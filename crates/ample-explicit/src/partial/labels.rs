//! Sets of labels, sorted, each kept once: the sleep sets of the stored states.
//!
//! Most states have the empty one, which is number 0. A set stays when no state has it any more; there are never more
//! than have ever been different.

use std::rc::Rc;

use rapidhash::RapidHashMap;

use super::Label;
use super::mark::Mark;

/// Sets of labels by number.
pub(super) struct LabelSets {
    sets: Vec<Rc<[Label]>>,
    numbers: RapidHashMap<Rc<[Label]>, u32>,
    labels: usize,
}

impl LabelSets {
    pub(super) fn new() -> LabelSets {
        let empty: Rc<[Label]> = Rc::from([]);
        LabelSets { sets: vec![empty], numbers: RapidHashMap::default(), labels: 0 }
    }

    /// The set of that number.
    #[inline]
    pub(super) fn get(&self, number: u32) -> &[Label] {
        &self.sets[number as usize]
    }

    /// The number of a set, which must be sorted. None if there are too many.
    #[inline]
    pub(super) fn number(&mut self, set: &[Label]) -> Option<u32> {
        if set.is_empty() {
            return Some(0);
        }
        if let Some(&number) = self.numbers.get(set) {
            return Some(number);
        }
        if self.sets.len() > Mark::MOST {
            return None;
        }
        let number = self.sets.len() as u32;
        let set: Rc<[Label]> = Rc::from(set);
        self.labels += set.len();
        self.sets.push(Rc::clone(&set));
        self.numbers.insert(set, number);
        Some(number)
    }

    /// How many sets there are, the empty one included.
    pub(super) fn len(&self) -> usize {
        self.sets.len()
    }

    pub(super) fn bytes(&self) -> usize {
        let counters = 2 * size_of::<usize>();
        let each = size_of::<Rc<[Label]>>();
        self.labels * size_of::<Label>()
            + self.sets.len() * counters
            + self.sets.capacity() * each
            + self.numbers.capacity() * (each + size_of::<u32>() + 1)
    }
}

/// Is every member of the first set, sorted, in the second, sorted as well?
#[inline]
pub(super) fn is_subset(first: &[Label], second: &[Label]) -> bool {
    first.len() <= second.len() && first.iter().all(|&label| contains(second, label))
}

/// Is the label in the set, which is sorted?
#[inline]
pub(super) fn contains(set: &[Label], label: Label) -> bool {
    if set.len() <= 8 { set.contains(&label) } else { set.binary_search(&label).is_ok() }
}

/// Puts a label into the sorted set that begins at `start`.
pub(super) fn insert(sets: &mut Vec<Label>, start: usize, label: Label) {
    if let Err(place) = sets[start..].binary_search(&label) {
        sets.insert(start + place, label);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_sets_have_one_number() {
        let mut sets = LabelSets::new();
        assert_eq!(sets.number(&[]), Some(0));
        let first = sets.number(&[1, 5]).unwrap();
        let second = sets.number(&[1, 6]).unwrap();
        assert_ne!(first, second);
        assert_eq!(sets.number(&[1, 5]), Some(first));
        assert_eq!(sets.get(second), [1, 6]);
        assert_eq!(sets.len(), 3);
    }

    #[test]
    fn sets_stay_sorted() {
        let mut sets = vec![9, 1, 4];
        insert(&mut sets, 1, 3);
        insert(&mut sets, 1, 3);
        insert(&mut sets, 1, 7);
        assert_eq!(sets, [9, 1, 3, 4, 7]);
        assert!(is_subset(&[3, 7], &sets[1..]) && !is_subset(&[2, 7], &sets[1..]));
    }
}
