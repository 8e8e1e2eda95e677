//! Where the records of a [`SharedStore`](super::SharedStore) lie: chunks that never move, each of which one worker fills.
//!
//! Positions are those of the [`Arena`](super::super::arena::Arena): the high bits name the chunk. All workers read the
//! records that they have handles of; a handle is given away only when its record is complete, and the bytes of a state do
//! not change then. What lies beside the state may; it is read and written as atomic bytes.

use std::slice;
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::super::Handle;
use super::super::arena::{CHUNK, CHUNK_BITS, chunk_of, offset_of, position_of};
use super::super::prefetch::prefetch_at;

/// The size of a cache line.
const LINE: usize = 64;

/// Chunks that are looked up together.
const GROUP: usize = 1 << 9;

/// How many groups there may be: as many as handles can name.
const GROUPS: usize = 1 << (Handle::BITS - CHUNK_BITS - GROUP.ilog2());

/// A chunk; none yet if it begins nowhere.
#[derive(Default)]
struct Chunk {
    start: AtomicPtr<u8>,
    capacity: AtomicUsize,
    /// The bytes in use when its worker last said so.
    used: AtomicUsize,
}

/// Chunks of bytes.
pub(super) struct SharedArena {
    groups: Box<[OnceLock<Box<[Chunk]>>]>,
    held: Mutex<Held>,
}

/// What was taken from the system.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Held {
    pub(super) chunks: usize,
    pub(super) bytes: usize,
}

/// The part of a chunk that is still free, for the worker that has it.
#[derive(Default)]
pub(super) struct Part {
    chunk: usize,
    used: usize,
    capacity: usize,
}

impl SharedArena {
    /// Takes over the chunks of an arena. What is free in them stays so.
    pub(super) fn of(chunks: Vec<Vec<u8>>) -> SharedArena {
        let arena = SharedArena { groups: (0..GROUPS).map(|_| OnceLock::new()).collect(), held: Mutex::default() };
        for chunk in chunks {
            let used = chunk.len();
            let part = arena.add(chunk, &mut arena.held());
            arena.publish(&part.map(|part| Part { used, ..part }).unwrap_or_default());
        }
        arena
    }

    pub(super) fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a chunk of that size from the system, as the one that is locked.
    pub(super) fn extend(&self, capacity: usize, held: &mut Held) -> Option<Part> {
        let mut chunk = Vec::new();
        chunk.try_reserve_exact(capacity).ok()?;
        self.add(chunk, held)
    }

    fn add(&self, mut bytes: Vec<u8>, held: &mut Held) -> Option<Part> {
        let number = held.chunks;
        let group = self.groups.get(number / GROUP)?.get_or_init(|| (0..GROUP).map(|_| Chunk::default()).collect());
        let capacity = bytes.capacity();
        held.chunks += 1;
        held.bytes += capacity;
        let chunk = &group[number % GROUP];
        chunk.capacity.store(capacity, Ordering::Relaxed);
        // It is given back in `drop`.
        chunk.start.store(bytes.as_mut_ptr(), Ordering::Release);
        std::mem::forget(bytes);
        Some(Part { chunk: number, used: 0, capacity })
    }

    /// Tells everybody how far a part is filled.
    pub(super) fn publish(&self, part: &Part) {
        if part.capacity > 0 {
            self.chunk(part.chunk).used.store(part.used, Ordering::Release);
        }
    }

    #[inline]
    fn chunk(&self, number: usize) -> &Chunk {
        match self.groups[number / GROUP].get() {
            Some(group) => &group[number % GROUP],
            None => unreachable!("a handle that the store has not given out"),
        }
    }

    #[inline]
    fn start(&self, number: usize) -> *mut u8 {
        let start = self.chunk(number).start.load(Ordering::Acquire);
        debug_assert!(!start.is_null(), "a handle that the store has not given out");
        start
    }

    /// The bytes from `position` on. Those of a record that is complete may be read as long as the arena is there, and as
    /// nobody writes to them: a record lies in one chunk, and chunks neither move nor are given back before.
    #[inline]
    pub(super) fn pointer(&self, position: u64) -> *const u8 {
        self.start(chunk_of(position)).wrapping_add(offset_of(position))
    }

    /// The bytes beside a state.
    ///
    /// # Safety
    /// They belong to a record that is complete, and are accessed by this function only.
    #[inline]
    pub(super) unsafe fn atomic_bytes(&self, position: u64, count: usize) -> &[AtomicU8] {
        // SAFETY: as above; a byte can be taken for an atomic one while all that access it do so.
        unsafe {
            let start = self.start(chunk_of(position)).add(offset_of(position));
            slice::from_raw_parts(start.cast::<AtomicU8>(), count)
        }
    }

    /// Starts to bring the record at `position` into the cache: its first two lines.
    #[inline]
    pub(super) fn prefetch(&self, position: u64) {
        let start = self.start(chunk_of(position)).wrapping_add(offset_of(position));
        prefetch_at(start);
        prefetch_at(start.wrapping_add(LINE));
    }

    /// Where a record of that size goes, if the part has room, and its bytes: they are the worker's own until it gives a
    /// handle of them away.
    #[inline]
    pub(super) fn place<'a>(&'a self, part: &'a mut Part, size: usize) -> Option<(u64, &'a mut [u8])> {
        if part.capacity - part.used < size || part.used >= CHUNK {
            return None;
        }
        // SAFETY: only the worker that has the part can get at the bytes behind those in use, which belong to no record;
        // `&mut` sees to it that it does so once at a time. They are written before a slice is made of them.
        let bytes = unsafe {
            let start = self.start(part.chunk).add(part.used);
            start.write_bytes(0, size);
            slice::from_raw_parts_mut(start, size)
        };
        Some((position_of(part.chunk, part.used), bytes))
    }

    /// The record that was placed last is complete.
    #[inline]
    pub(super) fn complete(part: &mut Part, size: usize) {
        part.used += size;
    }

    /// The position of each chunk and how far it is filled, as far as workers have said.
    pub(super) fn filled(&self) -> Vec<(u64, usize)> {
        let chunks = self.held().chunks;
        (0..chunks).map(|chunk| (position_of(chunk, 0), self.chunk(chunk).used.load(Ordering::Acquire))).collect()
    }
}

impl Drop for SharedArena {
    fn drop(&mut self) {
        for number in 0..self.held().chunks {
            let chunk = self.chunk(number);
            let (start, capacity) = (chunk.start.load(Ordering::Acquire), chunk.capacity.load(Ordering::Acquire));
            // SAFETY: it was a vector of that capacity, which was forgotten when it was added.
            drop(unsafe { Vec::from_raw_parts(start, 0, capacity) });
        }
    }
}
