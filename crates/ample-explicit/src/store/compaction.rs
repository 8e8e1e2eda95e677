//! Hash compaction (P. Wolper, D. Leroy: Reliable hashing without collision detection, 1993; U. Stern, D. L. Dill: Improved
//! probabilistic verification by hash compaction, 1995): of each state only a hash of a few bytes is kept.
//!
//! Two states with the same hash are taken for one, so that states may be omitted; an error that is found is one. A state
//! that is new when there are *n* hashes of *b* bits is taken for seen with probability *n* / 2^*b*.

use rapidhash::v3::rapidhash_v3;

use super::compact_table::CompactTable;
use super::set::{Entry, Omission, StateSet, mix};

/// A set of states that keeps a hash of `W` bytes of each.
///
/// ```
/// use ample_explicit::store::{CompactionSet, Entry, StateSet};
///
/// let mut set = CompactionSet::<6>::new();
/// let signature = set.signature(b"state");
/// assert_eq!(set.insert(b"state", signature), Entry::New);
/// assert!(set.contains(b"state") && !set.contains(b"another"));
/// ```
pub struct CompactionSet<const W: usize> {
    table: CompactTable<W>,
    limit: usize,
}

impl<const W: usize> Default for CompactionSet<W> {
    fn default() -> Self {
        CompactionSet::new()
    }
}

impl<const W: usize> CompactionSet<W> {
    /// An empty set.
    pub fn new() -> Self {
        CompactionSet { table: CompactTable::new(), limit: usize::MAX }
    }

    #[inline]
    fn hash(state: &[u8]) -> u64 {
        mix(rapidhash_v3(state)) & (u64::MAX >> (64 - 8 * W as u32))
    }
}

impl<const W: usize> StateSet for CompactionSet<W> {
    #[inline]
    fn signature(&mut self, state: &[u8]) -> u64 {
        CompactionSet::<W>::hash(state)
    }

    #[inline]
    fn prefetch(&self, signature: u64) {
        self.table.prefetch(signature);
    }

    #[inline]
    fn insert(&mut self, _: &[u8], signature: u64) -> Entry {
        let room = self.limit.saturating_sub(self.table.bytes());
        self.table.insert(signature, room)
    }

    fn contains(&self, state: &[u8]) -> bool {
        self.table.contains(CompactionSet::<W>::hash(state))
    }

    fn len(&self) -> usize {
        self.table.len()
    }

    fn bytes(&self) -> usize {
        self.table.bytes()
    }

    fn set_limit(&mut self, bytes: usize) {
        self.limit = bytes;
    }

    fn omission(&self) -> Option<Omission> {
        let stored = self.len() as f64;
        Some(Omission { expected: stored * (stored - 1.0).max(0.0) / 2.0 / (8.0 * W as f64).exp2() })
    }
}
