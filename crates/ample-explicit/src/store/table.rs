//! The hash table under the stores: handles with a tag, and nothing else.
//!
//! An entry is 64 bits: a [`Handle`] and, above it, some bits of the hash that tell almost all
//! different states apart without a look at them. Entries lie in buckets of one cache line; a full
//! bucket overflows into the next. Buckets are chosen by multiplication, not by masking, so that a
//! table may have any size and can be made to fit into the memory that is left.
//!
//! The table grows by forgetting everything: the old one is given back before the new one is taken,
//! and the owner places its states again, which it reads in order.

use super::Handle;
use super::prefetch::prefetch;

/// Entries in a bucket.
const WIDTH: usize = 8;

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Bucket([u64; WIDTH]);

const BUCKET_BYTES: usize = size_of::<Bucket>();

/// Beyond this many buckets the table grows by half instead of doubling.
const LARGE: usize = 1 << 21;

/// How many entries are announced to the memory before the first of them is used.
const BATCH: usize = 32;

/// Buckets of an empty table.
const SMALLEST: usize = 4;

const HANDLE_MASK: u64 = (1 << Handle::BITS) - 1;

/// How many entries a table of that many buckets can take at most: a search must find a free place to
/// end at, and soon enough.
fn crammed(buckets: usize) -> usize {
    buckets * WIDTH - buckets.div_ceil(2)
}

/// A set of handles, found by the hash of what they stand for.
pub(super) struct Table {
    buckets: Vec<Bucket>,
    len: usize,
    /// How many entries there may be before the table should grow.
    comfortable: usize,
}

/// Where the search for a state ended.
pub(super) enum Probe {
    Found(Handle),
    Free(Slot),
}

/// A free place for an entry, until the table changes.
pub(super) struct Slot {
    bucket: usize,
    index: usize,
    tag: u64,
}

impl Table {
    pub(super) fn new() -> Table {
        let mut table = Table { buckets: Vec::new(), len: 0, comfortable: 0 };
        table.clear(SMALLEST);
        table
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// How many entries there may be without growing.
    pub(super) fn capacity(&self) -> usize {
        self.comfortable
    }

    pub(super) fn bytes(&self) -> usize {
        self.buckets.capacity() * BUCKET_BYTES
    }

    /// Can an entry be taken in without growing first?
    #[inline]
    pub(super) fn has_room(&self) -> bool {
        self.len < self.comfortable
    }

    /// Looks for an entry with that hash for which `same` holds.
    #[inline]
    pub(super) fn probe(&self, hash: u64, mut same: impl FnMut(Handle) -> bool) -> Probe {
        let tag = hash << Handle::BITS;
        let mut bucket = self.home(hash);
        loop {
            for (index, &entry) in self.buckets[bucket].0.iter().enumerate() {
                let Some(handle) = Handle::from_number(entry & HANDLE_MASK) else {
                    return Probe::Free(Slot { bucket, index, tag });
                };
                if entry & !HANDLE_MASK == tag && same(handle) {
                    return Probe::Found(handle);
                }
            }
            bucket = self.overflow(bucket);
        }
    }

    /// Starts to bring the bucket of that hash into the cache.
    #[inline]
    pub(super) fn prefetch(&self, hash: u64) {
        prefetch(&self.buckets[self.home(hash)]);
    }

    /// The entry in the bucket of that hash that is probably looked for. If the bucket is full without
    /// it, starts to bring the next one into the cache.
    #[inline]
    pub(super) fn likely(&self, hash: u64) -> Option<Handle> {
        let tag = hash << Handle::BITS;
        let home = self.home(hash);
        let bucket = &self.buckets[home].0;
        if let Some(entry) = bucket.iter().find(|&entry| entry & !HANDLE_MASK == tag) {
            return Handle::from_number(entry & HANDLE_MASK);
        }
        if bucket[WIDTH - 1] != 0 {
            prefetch(&self.buckets[self.overflow(home)]);
        }
        None
    }

    /// Fills a place that [`probe`](Table::probe) found free.
    #[inline]
    pub(super) fn fill(&mut self, slot: Slot, handle: Handle) {
        self.buckets[slot.bucket].0[slot.index] = slot.tag | handle.number();
        self.len += 1;
    }

    /// The place for an entry with that hash.
    #[inline]
    pub(super) fn free_slot(&self, hash: u64) -> Option<Slot> {
        match self.probe(hash, |_| false) {
            Probe::Free(slot) => Some(slot),
            Probe::Found(_) => None,
        }
    }

    /// Takes in entries that are known not to be there. The table must have room.
    pub(super) fn place_all(&mut self, mut entries: impl Iterator<Item = (u64, Handle)>) {
        let mut batch = Vec::with_capacity(BATCH);
        loop {
            batch.extend(entries.by_ref().take(BATCH).inspect(|&(hash, _)| self.prefetch(hash)));
            if batch.is_empty() {
                return;
            }
            for (hash, handle) in batch.drain(..) {
                if let Some(slot) = self.free_slot(hash) {
                    self.fill(slot, handle);
                }
            }
        }
    }

    /// Makes room, if `limit` bytes allow for a larger table; else this one is filled up more than is
    /// good for speed, and in the end there is no room. If true, the table is empty now and all entries
    /// have to be placed again.
    pub(super) fn grow(&mut self, limit: usize) -> bool {
        let old = self.buckets.len();
        let wanted = if old >= LARGE { old + old / 2 } else { 2 * old };
        let new = wanted.min(limit / BUCKET_BYTES);
        if new > old + old / 8 {
            // The old table goes before the new one comes: never both.
            self.buckets = Vec::new();
            if self.buckets.try_reserve_exact(new).is_ok() {
                self.clear(new);
                return true;
            }
            self.clear(old);
            self.comfortable = crammed(old);
            return true;
        }
        self.comfortable = crammed(old);
        false
    }

    fn clear(&mut self, size: usize) {
        self.buckets.clear();
        self.buckets.resize(size, Bucket([0; WIDTH]));
        self.len = 0;
        self.comfortable = size * WIDTH / 5 * 4;
    }

    #[inline]
    fn home(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.buckets.len() as u128) >> 64) as usize
    }

    #[inline]
    fn overflow(&self, bucket: usize) -> usize {
        if bucket + 1 == self.buckets.len() { 0 } else { bucket + 1 }
    }
}
