//! The open list of a directed search: states that wait to be expanded, by priority.

use std::collections::{BTreeMap, VecDeque};

use crate::store::Handle;

/// Which of several states with the same priority is expanded first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ties {
    /// The one that came first. With the same priority for all, the search is breadth first.
    #[default]
    Oldest,
    /// The one that came last.
    Newest,
}

/// A state that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Open {
    pub state: Handle,
    /// What the path to it cost when it was found.
    pub cost: u64,
}

/// The priority of a state: the smaller is expanded first, and of two with the same total the one with the smaller
/// estimate.
pub(super) type Priority = (u64, u64);

/// So many empty buckets are kept for other priorities.
const SPARE: usize = 64;

/// States that wait, in a bucket for each priority.
///
/// There are few different priorities and many states: an operation looks for a bucket among few, and takes memory only
/// when a bucket grows.
#[derive(Clone, Debug, Default)]
pub struct OpenList {
    buckets: BTreeMap<Priority, VecDeque<Open>>,
    spare: Vec<VecDeque<Open>>,
    ties: Ties,
    len: usize,
    /// How many states the buckets have room for.
    room: usize,
}

impl OpenList {
    pub(super) fn new(ties: Ties) -> OpenList {
        OpenList { ties, ..OpenList::default() }
    }

    #[inline]
    pub(super) fn push(&mut self, priority: Priority, open: Open) {
        let bucket = self.buckets.entry(priority).or_insert_with(|| self.spare.pop().unwrap_or_default());
        let before = bucket.capacity();
        bucket.push_back(open);
        self.room += bucket.capacity() - before;
        self.len += 1;
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<(Priority, Open)> {
        let mut first = self.buckets.first_entry()?;
        let priority = *first.key();
        let bucket = first.get_mut();
        let open = match self.ties {
            Ties::Oldest => bucket.pop_front(),
            Ties::Newest => bucket.pop_back(),
        };
        if bucket.is_empty() {
            let empty = first.remove();
            if self.spare.len() < SPARE {
                self.spare.push(empty);
            } else {
                self.room -= empty.capacity();
            }
        }
        self.len -= 1;
        open.map(|open| (priority, open))
    }

    /// How many states wait.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Does none wait?
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bytes it holds.
    pub fn bytes(&self) -> usize {
        self.room * size_of::<Open>() + self.buckets.len() * size_of::<(Priority, VecDeque<Open>)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_priority_comes_first_and_ties_are_broken_as_asked() {
        let open = |position| Open { state: Handle::at(position).unwrap(), cost: 0 };
        for (ties, expected) in [(Ties::Oldest, [2, 3, 0, 1]), (Ties::Newest, [3, 2, 0, 1])] {
            let mut list = OpenList::new(ties);
            for (position, priority) in [(0, (2, 0)), (1, (2, 1)), (2, (1, 5)), (3, (1, 5))] {
                list.push(priority, open(position));
            }
            assert_eq!(list.len(), 4);
            let order: Vec<u64> = std::iter::from_fn(|| list.pop()).map(|(_, open)| open.state.position()).collect();
            assert_eq!(order, expected);
            assert!(list.is_empty() && list.pop().is_none());
        }
    }
}
