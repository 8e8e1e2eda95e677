//! The hash table of a store that several threads share: the layout of [`Table`](super::super::table), in atomic words.
//!
//! An entry is written once, by a compare-and-swap in a free place, and never changes or goes away as long as the table is
//! there. Who looks for a state meets the places of its hash in the same order as everybody else, up to the first free one,
//! so that of two threads that insert the same state the later one meets the entry of the earlier one: insertion is
//! linearisable, and the compare-and-swap that succeeds is its linearisation point (A. Laarman, J. van de Pol and M. Weber,
//! *Boosting Multi-Core Reachability Performance with Shared Hash Tables*, FMCAD 2010).
//!
//! What the entry of a state refers to is written before the entry is: the compare-and-swap releases it, and a look at the
//! entry acquires it.

use std::alloc::{Layout, alloc_zeroed};
use std::sync::atomic::{AtomicU64, Ordering};

use super::super::Handle;
use super::super::flat::PAGE;
use super::super::prefetch::prefetch;

/// Entries in a bucket, which is a cache line.
pub(super) const WIDTH: usize = 8;

pub(super) const BUCKET_BYTES: usize = WIDTH * size_of::<u64>();

/// Beyond this many buckets the table grows by half instead of doubling.
const LARGE: usize = 1 << 21;

const HANDLE_MASK: u64 = (1 << Handle::BITS) - 1;

/// An atomic word. The model checker for threads has one of its own.
pub(super) trait Word {
    /// The word, and what was written before it was.
    fn acquire(&self) -> u64;

    /// Replaces zero by that. If it is not zero: what it is.
    fn replace_zero(&self, new: u64) -> Result<(), u64>;
}

impl Word for AtomicU64 {
    #[inline]
    fn acquire(&self) -> u64 {
        self.load(Ordering::Acquire)
    }

    #[inline]
    fn replace_zero(&self, new: u64) -> Result<(), u64> {
        self.compare_exchange(0, new, Ordering::AcqRel, Ordering::Acquire).map(|_| ())
    }
}

/// A set of handles, found by the hash of what they stand for.
pub(super) struct SharedTable {
    entries: Vec<AtomicU64>,
    /// Where the first bucket begins: at the beginning of a cache line.
    first: usize,
    buckets: usize,
    /// How many entries there may be before the table should grow.
    pub(super) comfortable: usize,
    /// It has grown as far as the memory allows.
    pub(super) is_last: bool,
}

/// What became of a state that was offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offered {
    /// It was not there, and has this handle now.
    New(Handle),
    /// It was there.
    Seen(Handle),
    /// It was not there, and no handle was given to it.
    Refused,
}

impl SharedTable {
    /// An empty table; `None` if there is no memory for it.
    pub(super) fn new(buckets: usize) -> Option<SharedTable> {
        let entries = zeroed(buckets.checked_mul(WIDTH)?.checked_add(WIDTH - 1)?)?;
        // A page that is looked at before it is first written to is given by the system twice, and the second time all
        // threads are interrupted.
        entries.chunks(PAGE / size_of::<u64>()).for_each(|page| page[0].store(0, Ordering::Relaxed));
        let misplaced = entries.as_ptr() as usize % BUCKET_BYTES;
        let first = if misplaced == 0 { 0 } else { (BUCKET_BYTES - misplaced) / size_of::<u64>() };
        Some(SharedTable { entries, first, buckets, comfortable: buckets * WIDTH / 5 * 4, is_last: false })
    }

    /// A table that is empty and stays so.
    pub(super) fn none() -> SharedTable {
        let entries = (0..WIDTH).map(|_| AtomicU64::new(0)).collect();
        SharedTable { entries, first: 0, buckets: 1, comfortable: 0, is_last: true }
    }

    pub(super) fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<u64>()
    }

    /// The number of its buckets, and how many the next larger table has.
    pub(super) fn sizes(&self) -> (usize, usize) {
        let old = self.buckets;
        (old, if old >= LARGE { old + old / 2 } else { 2 * old })
    }

    /// There will be no larger one: this one is filled up more than is good for speed. A search must find a free place to
    /// end at, and soon enough.
    pub(super) fn cram(&mut self) {
        self.comfortable = self.buckets * WIDTH - self.buckets.div_ceil(2);
        self.is_last = true;
    }

    /// Looks for an entry with that hash for which `same` holds, and if there is none inserts the handle that `give` gives,
    /// which is called at most once. There must be free places.
    #[inline]
    pub(super) fn find_or_insert(
        &self,
        hash: u64,
        mut same: impl FnMut(Handle) -> bool,
        mut give: impl FnMut() -> Option<Handle>,
    ) -> Offered {
        let mut offer = Offer { tag: hash << Handle::BITS, given: None };
        let mut bucket = self.home(hash);
        loop {
            if let Some(offered) = offer.put_into(self.bucket(bucket), &mut same, &mut give) {
                return offered;
            }
            bucket = self.overflow(bucket);
        }
    }

    /// Looks for an entry with that hash for which `same` holds.
    #[inline]
    pub(super) fn find(&self, hash: u64, same: impl FnMut(Handle) -> bool) -> Option<Handle> {
        match self.find_or_insert(hash, same, || None) {
            Offered::New(handle) | Offered::Seen(handle) => Some(handle),
            Offered::Refused => None,
        }
    }

    /// Inserts an entry that is known not to be there, and that nobody else inserts.
    pub(super) fn place(&self, hash: u64, handle: Handle) {
        self.find_or_insert(hash, |_| false, || Some(handle));
    }

    /// Starts to bring the bucket of that hash into the cache.
    #[inline]
    pub(super) fn prefetch(&self, hash: u64) {
        if let Some(entry) = self.bucket(self.home(hash)).first() {
            prefetch(entry);
        }
    }

    /// The entry in the bucket of that hash that is probably looked for. If the bucket is full without it, starts to bring
    /// the next one into the cache.
    #[inline]
    pub(super) fn likely(&self, hash: u64) -> Option<Handle> {
        let tag = hash << Handle::BITS;
        let home = self.home(hash);
        let mut last = 0;
        for place in self.bucket(home) {
            last = place.load(Ordering::Relaxed);
            if last & !HANDLE_MASK == tag {
                // A handle that is used needs to be acquired.
                return Handle::from_number(place.load(Ordering::Acquire) & HANDLE_MASK);
            }
        }
        if last != 0
            && let Some(entry) = self.bucket(self.overflow(home)).first()
        {
            prefetch(entry);
        }
        None
    }

    #[inline]
    fn bucket(&self, bucket: usize) -> &[AtomicU64] {
        let start = self.first + bucket * WIDTH;
        &self.entries[start..start + WIDTH]
    }

    #[inline]
    fn home(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.buckets as u128) >> 64) as usize
    }

    #[inline]
    fn overflow(&self, bucket: usize) -> usize {
        if bucket + 1 == self.buckets { 0 } else { bucket + 1 }
    }
}

/// A state that is looked for, and inserted where it would have to be.
pub(super) struct Offer {
    /// What its entry has above the handle.
    pub(super) tag: u64,
    /// The handle that it has for the case that it is new.
    pub(super) given: Option<Handle>,
}

impl Offer {
    /// Looks for the state in a bucket, and inserts it if there is a free place before it is found. None if the bucket is full
    /// without it.
    #[inline]
    pub(super) fn put_into(
        &mut self,
        bucket: &[impl Word],
        same: &mut impl FnMut(Handle) -> bool,
        give: &mut impl FnMut() -> Option<Handle>,
    ) -> Option<Offered> {
        for place in bucket {
            let mut entry = place.acquire();
            if entry == 0 {
                self.given = self.given.or_else(&mut *give);
                let Some(handle) = self.given else { return Some(Offered::Refused) };
                match place.replace_zero(self.tag | handle.number()) {
                    Ok(()) => return Some(Offered::New(handle)),
                    // Somebody else was faster, maybe with the same state.
                    Err(other) => entry = other,
                }
            }
            if entry & !HANDLE_MASK == self.tag
                && let Some(handle) = Handle::from_number(entry & HANDLE_MASK)
                && same(handle)
            {
                return Some(Offered::Seen(handle));
            }
        }
        None
    }
}

/// So many zeros, from pages that the operating system clears when they are first touched, by whoever does so.
fn zeroed(count: usize) -> Option<Vec<AtomicU64>> {
    let layout = Layout::array::<AtomicU64>(count).ok().filter(|layout| layout.size() > 0)?;
    // SAFETY: the size is not zero.
    let start = unsafe { alloc_zeroed(layout) }.cast::<AtomicU64>();
    if start.is_null() {
        return None;
    }
    // SAFETY: the memory was allocated with the layout of an array of so many, and zero bytes are such numbers.
    Some(unsafe { Vec::from_raw_parts(start, count, count) })
}
