//! What the workers of a process share: the aggregates that the process owns, and which of them are still to be expanded.
//!
//! Between processes work is spread by the digests of aggregates, within a process by what is asked for ([`Balance`]): sorted by
//! one of their states, so that what a worker expands one after the other is similar, on stacks from which others steal, or on
//! the stack of the worker with the fewest (H. Ouni's thesis, Chapter 5).

use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

use ample_sog::digest::{owner, receiver};
use ample_sog::observed::Label;
use ample_sog::{Balance, Error};

use super::table::{ByDigest, Table};
use crate::control::lock;

/// Who owns which aggregates: so many processes, with so many workers each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owners {
    pub(super) processes: usize,
    pub(super) threads: usize,
}

impl Owners {
    /// The process that a worker belongs to.
    pub(super) fn process(self, worker: usize) -> usize {
        worker / self.threads
    }

    /// The process that owns an aggregate.
    pub(super) fn owner(self, digest: u128) -> usize {
        owner(digest, self.processes)
    }

    /// The worker that messages about an aggregate go to.
    pub(super) fn receiver(self, digest: u128) -> usize {
        self.owner(digest) * self.threads + receiver(digest, self.processes, self.threads)
    }
}

/// What the workers of a process share.
pub(super) struct Site {
    work: Mutex<Work>,
    /// So many messages the workers have put into batches.
    sent: AtomicU64,
}

/// The aggregates of a process.
pub(super) struct Work {
    pub(super) table: Table,
    balance: Balance,
    /// What is not yet expanded, for each worker.
    stacks: Vec<VecDeque<u32>>,
    /// What is not yet expanded, if that is sorted.
    sorted: BTreeSet<Place>,
    /// Where each worker has been.
    been: Vec<Option<Place>>,
    /// What the checker waits for.
    wanted: VecDeque<u32>,
    /// What the checker waits for, and has not arrived here.
    missing: ByDigest<()>,
    /// What was sent to its owner.
    sent: ByDigest<()>,
    /// How many entries `stacks`, `sorted` and `wanted` have, and what is being expanded: what is not done.
    left: usize,
    on_demand: bool,
}

/// The place of an aggregate among those that wait: a state of it, the last level first, and its number.
type Place = (Vec<u64>, u32);

impl Site {
    /// For so many workers, whose aggregates take at most so many bytes.
    pub(super) fn new(threads: usize, balance: Balance, max_bytes: usize, on_demand: bool) -> Site {
        let work = Work {
            table: Table::new(max_bytes),
            balance,
            stacks: vec![VecDeque::new(); threads],
            sorted: BTreeSet::new(),
            been: vec![None; threads],
            wanted: VecDeque::new(),
            missing: ByDigest::default(),
            sent: ByDigest::default(),
            left: 0,
            on_demand,
        };
        Site { work: Mutex::new(work), sent: AtomicU64::new(0) }
    }

    pub(super) fn work(&self) -> MutexGuard<'_, Work> {
        lock(&self.work)
    }

    /// A message is about to be put into a batch.
    pub(super) fn count_message(&self) {
        self.sent.fetch_add(1, Ordering::SeqCst);
    }

    /// How many messages that were.
    pub(super) fn messages(&self) -> u64 {
        self.sent.load(Ordering::SeqCst)
    }
}

impl Work {
    /// Something is to be expanded, or is being expanded.
    pub(super) fn is_left(&self) -> bool {
        self.left > 0
    }

    /// Aggregates are sorted by a state of each.
    pub(super) fn is_sorted(&self) -> bool {
        self.balance == Balance::Order && !self.on_demand
    }

    /// A new aggregate: of that worker, if one of this process has made it, and with that state, if aggregates are sorted.
    pub(super) fn insert(
        &mut self,
        digest: u128,
        label: Label,
        (bytes, is_whole): (Vec<u8>, bool),
        worker: Option<usize>,
        state: Vec<u64>,
    ) -> Result<u32, Error> {
        self.table.charge(size_of_val(&state[..]))?;
        let number = self.table.insert(digest, label, bytes, is_whole)?;
        if self.missing.remove(&digest).is_some() {
            self.wanted.push_back(number);
            self.left += 1;
        }
        if !self.on_demand {
            let fewest = || (0..self.stacks.len()).min_by_key(|worker| self.stacks[*worker].len()).unwrap_or_default();
            match (self.balance, worker) {
                (Balance::Order, _) => drop(self.sorted.insert((state, number))),
                (Balance::Steal, Some(worker)) => self.stacks[worker].push_back(number),
                (Balance::Steal, None) | (Balance::MinLoad, _) => {
                    let worker = fewest();
                    self.stacks[worker].push_back(number);
                }
            }
            self.left += 1;
        }
        Ok(number)
    }

    /// The checker waits for an aggregate.
    pub(super) fn want(&mut self, digest: u128) {
        match self.table.find(digest) {
            Some(number) => {
                self.wanted.push_back(number);
                self.left += 1;
            }
            // It is on its way.
            None => drop(self.missing.insert(digest, ())),
        }
    }

    /// The aggregate that a worker expands next, which is [done](Work::done) later.
    pub(super) fn next(&mut self, worker: usize) -> Option<u32> {
        loop {
            let wanted = self.wanted.pop_front();
            let number = match self.balance {
                Balance::Order => wanted.or_else(|| self.next_sorted(worker)),
                Balance::Steal => wanted.or_else(|| self.stacks[worker].pop_back()).or_else(|| self.steal()),
                Balance::MinLoad => wanted.or_else(|| self.stacks[worker].pop_back()),
            }?;
            if self.table.claim(number) {
                return Some(number);
            }
            self.left -= 1;
        }
    }

    /// What has waited longest of the worker with the most.
    fn steal(&mut self) -> Option<u32> {
        self.stacks.iter_mut().max_by_key(|stack| stack.len())?.pop_front()
    }

    /// The first, the last, or for workers between these two the one that is nearest to where the worker has been.
    fn next_sorted(&mut self, worker: usize) -> Option<u32> {
        let place = match self.been[worker].take() {
            _ if worker == 0 => self.sorted.pop_first()?,
            Some(been) if worker + 1 < self.been.len() => {
                let near =
                    self.sorted.range(&been..).next().or_else(|| self.sorted.range(..&been).next_back())?.clone();
                self.sorted.take(&near)?
            }
            _ => self.sorted.pop_last()?,
        };
        let number = place.1;
        self.table.discharge(size_of_val(&place.0[..]));
        self.been[worker] = Some(place);
        Some(number)
    }

    /// A worker has expanded what was its next, and put everything into batches that there is to say of it.
    pub(super) fn done(&mut self) {
        self.left -= 1;
    }

    /// An aggregate was sent to its owner.
    pub(super) fn was_sent(&self, digest: u128) -> bool {
        self.sent.contains_key(&digest)
    }

    /// An aggregate is to be sent to its owner; false if another worker of the process has done that.
    pub(super) fn send(&mut self, digest: u128) -> Result<bool, Error> {
        if self.was_sent(digest) {
            return Ok(false);
        }
        self.table.charge(SENT_BYTES)?;
        self.sent.insert(digest, ());
        Ok(true)
    }
}

/// What it takes to remember an aggregate that was sent.
const SENT_BYTES: usize = 24;

#[cfg(test)]
mod tests {
    use super::*;

    fn insert(work: &mut Work, digest: u128, worker: Option<usize>) -> u32 {
        work.insert(digest, 0, (Vec::new(), true), worker, vec![digest as u64]).unwrap()
    }

    fn nexts(work: &mut Work, workers: &[usize]) -> Vec<Option<u32>> {
        workers.iter().map(|worker| work.next(*worker)).collect()
    }

    #[test]
    fn workers_take_what_is_sorted_from_different_places() {
        let site = Site::new(3, Balance::Order, usize::MAX, false);
        let mut work = site.work();
        for digest in [5, 1, 9, 3, 7, 4] {
            insert(&mut work, digest, Some(0));
        }
        // The numbers are those of 1, of 9, of 3, of 7, and, near to that, of 5 and 4.
        assert_eq!(nexts(&mut work, &[0, 2, 0, 1, 1, 1]), [1, 2, 3, 4, 0, 5].map(Some));
        assert_eq!(work.next(1), None);
    }

    #[test]
    fn the_worker_with_the_fewest_gets_a_new_aggregate() {
        let site = Site::new(2, Balance::MinLoad, usize::MAX, false);
        let mut work = site.work();
        for digest in 0..4 {
            insert(&mut work, digest, Some(0));
        }
        assert_eq!(nexts(&mut work, &[0, 0, 0, 1, 1]), [Some(2), Some(0), None, Some(3), Some(1)]);
    }

    #[test]
    fn who_has_nothing_takes_the_oldest_of_the_one_with_the_most() {
        let site = Site::new(3, Balance::Steal, usize::MAX, false);
        let mut work = site.work();
        let numbers: Vec<u32> = (0..4).map(|digest| insert(&mut work, digest, Some(digest as usize % 2))).collect();
        // It comes from another process: the last one has the fewest.
        let foreign = insert(&mut work, 4, None);
        assert_eq!(work.next(0), Some(numbers[2]));
        assert_eq!(work.next(2), Some(foreign));
        assert_eq!(work.next(2), Some(numbers[1]));
        assert_eq!(work.next(1), Some(numbers[3]));
        assert_eq!(work.next(1), Some(numbers[0]));
        assert_eq!(work.next(1), None);
        assert!(work.is_left());
        (0..5).for_each(|_| work.done());
        assert!(!work.is_left());
    }

    #[test]
    fn what_the_checker_waits_for_comes_first_and_nothing_is_expanded_twice() {
        let site = Site::new(1, Balance::Steal, usize::MAX, false);
        let mut work = site.work();
        work.want(1);
        assert!(!work.is_left());
        let (zero, one) = (insert(&mut work, 0, Some(0)), insert(&mut work, 1, None));
        let two = insert(&mut work, 2, Some(0));
        work.want(0);
        assert_eq!([work.next(0), work.next(0), work.next(0)], [Some(one), Some(zero), Some(two)]);
        (0..3).for_each(|_| work.done());
        assert!(work.is_left());
        assert_eq!(work.next(0), None);
        assert!(!work.is_left());
    }

    #[test]
    fn on_demand_only_what_is_wanted_is_left() {
        let site = Site::new(1, Balance::Order, usize::MAX, true);
        let mut work = site.work();
        let number = insert(&mut work, 7, Some(0));
        assert_eq!((work.next(0), work.is_left()), (None, false));
        work.want(7);
        assert_eq!((work.next(0), work.is_left()), (Some(number), true));
    }
}
