//! The store that several threads share, for states that are bytes.
//!
//! Records are those of the [`FlatStore`](super::FlatStore): the side data, the length and the bytes of a state. Each worker
//! writes its records to chunks of its own ([`arena`]), so that handles grow in the order of insertion only among those of
//! one worker and one chunk. The table is one for all ([`table`]); it grows when all workers have come to the [`gate`].
//!
//! A store that has become large is taken over from one thread as it is: handles stay the same, and nothing is searched
//! twice.

mod arena;
mod gate;
mod table;
#[cfg(test)]
mod tests;

use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use rapidhash::v3::rapidhash_v3;

use self::arena::{Held, Part, SharedArena};
use self::gate::Gate;
use self::table::{BUCKET_BYTES, Offered, SharedTable, WIDTH};
use super::arena::{CHUNK, chunk_of};
use super::flat::{ENTRY_BYTES, LONG, Length, PAGE, Visible};
use super::{ExactStore, FlatStore, Handle, Inserted, Side, Store};

/// So many buckets there are at least for each worker: what workers have inserted and not told yet must find room.
const LEAST_BUCKETS: usize = 1 << 10;

/// A worker tells after so many insertions.
const TELL_EVERY: usize = 32;

/// The least that is taken from the system for records, unless there is less.
const LEAST_CHUNK: usize = 1 << 16;

/// How many records are announced to the memory before the first of them is placed.
const BATCH: usize = 32;

/// A store for states that are bytes, shared by several threads.
pub(crate) struct SharedStore<D> {
    arena: SharedArena,
    table: RwLock<SharedTable>,
    gate: Gate,
    /// States, as far as workers have told.
    len: AtomicUsize,
    longest: AtomicUsize,
    table_bytes: AtomicUsize,
    /// There is no memory left.
    is_full: AtomicBool,
    limit: usize,
    workers: usize,
    side: PhantomData<fn() -> D>,
}

impl<D: Side> SharedStore<D> {
    /// Goes on with the states of another store, in so many workers, all of which have to be there before the store can
    /// grow. All bytes of states count. If there is no memory for it, the other store stays as it is.
    pub(crate) fn of<V: Visible>(store: FlatStore<D, V>, workers: usize) -> Result<SharedStore<D>, FlatStore<D, V>> {
        let buckets = (store.len().div_ceil(WIDTH) * 4).max(LEAST_BUCKETS * workers);
        let Some(table) = SharedTable::new(buckets) else { return Err(store) };
        let (chunks, len, longest, limit) = store.into_parts();
        let arena = SharedArena::of(chunks);
        let store = SharedStore {
            table_bytes: AtomicUsize::new(table.bytes()),
            arena,
            table: RwLock::new(table),
            gate: Gate::new(workers),
            len: AtomicUsize::new(len),
            longest: AtomicUsize::new(longest),
            is_full: AtomicBool::new(false),
            limit,
            workers,
            side: PhantomData,
        };
        let filled = store.arena.filled();
        filled.into_iter().for_each(|part| store.fill(part));
        Ok(store)
    }

    /// One of the workers, in its own thread.
    pub(crate) fn worker(&self) -> Worker<'_, D> {
        let table = Some(self.read());
        Worker { store: self, table, part: Part::default(), untold: 0, longest: 0 }
    }

    /// One worker more, for who looks at the store when the workers have left.
    pub(crate) fn join(&self) -> Worker<'_, D> {
        self.gate.join();
        self.worker()
    }

    /// The memory held, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.arena.held().bytes + self.table_bytes.load(Ordering::Relaxed)
    }

    /// The size of the largest state, in bytes, as far as workers have told.
    pub(crate) fn state_bytes(&self) -> usize {
        self.longest.load(Ordering::Relaxed)
    }

    fn read(&self) -> RwLockReadGuard<'_, SharedTable> {
        self.table.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many bytes of the limit are for the table, if table and arena are to be full at the same time.
    fn table_share(&self, held: Held) -> usize {
        let record = held.bytes as f64 / self.len.load(Ordering::Relaxed).max(1) as f64;
        (self.limit as f64 * ENTRY_BYTES / (ENTRY_BYTES + record)) as usize
    }

    /// Replaces the table by a larger one, if the limit allows for it, and says what has to be put into it. Nobody looks at
    /// the table.
    fn replace(&self) -> Vec<(u64, usize)> {
        let held = *self.arena.held();
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        let (old, wanted) = table.sizes();
        let room = self.table_share(held).min(self.limit.saturating_sub(held.bytes));
        let new = wanted.min(room / BUCKET_BYTES);
        if new <= old + old / 8 {
            table.cram();
            return Vec::new();
        }
        *table = SharedTable::none();
        match SharedTable::new(new) {
            Some(larger) => *table = larger,
            None => match SharedTable::new(old) {
                Some(mut same) => {
                    same.cram();
                    *table = same;
                }
                // The table that was just given back cannot be had again: nothing more is taken in.
                None => {
                    self.is_full.store(true, Ordering::Relaxed);
                    return Vec::new();
                }
            },
        }
        self.table_bytes.store(table.bytes(), Ordering::Relaxed);
        self.arena.filled()
    }

    /// Puts the states of a chunk into the table, which is new.
    fn fill(&self, (mut position, used): (u64, usize)) {
        let table = self.read();
        let end = position + used as u64;
        let mut batch = Vec::with_capacity(BATCH);
        while position < end {
            while position < end && batch.len() < BATCH {
                let Some(handle) = Handle::at(position) else { return };
                let state = self.get(handle);
                let hash = rapidhash_v3(state);
                table.prefetch(hash);
                batch.push((hash, handle));
                position += record_size::<D>(state) as u64;
            }
            batch.drain(..).for_each(|(hash, handle)| table.place(hash, handle));
        }
    }

    /// The state as it was when it was taken in.
    #[inline]
    fn get(&self, handle: Handle) -> &[u8] {
        let start = handle.position() + D::SIZE as u64;
        // SAFETY: a handle is given away only when the record is complete, and what comes after the side data is not
        // written to any more then.
        unsafe {
            let start = self.arena.pointer(start);
            let first = *start;
            if first & LONG == 0 {
                return std::slice::from_raw_parts(start.add(1), first.into());
            }
            let length = u32::from_be(start.cast::<u32>().read_unaligned()) & !(u32::from(LONG) << 24);
            std::slice::from_raw_parts(start.add(4), length as usize)
        }
    }

    /// Makes room for a record of that size in the part of a worker.
    #[cold]
    fn extend(&self, part: &mut Part, size: usize) -> bool {
        self.arena.publish(part);
        let mut held = self.arena.held();
        let table = self.table_bytes.load(Ordering::Relaxed);
        let room = self.limit.saturating_sub(table).saturating_sub(held.bytes);
        let share = self.limit.saturating_sub(self.table_share(*held)).saturating_sub(held.bytes);
        // Near the limit something is left for the others.
        let capacity = (room.min(share) / (2 * self.workers)).clamp(LEAST_CHUNK, CHUNK).max(size);
        let capacity = if capacity <= room.min(share) { capacity } else { room.min(size + PAGE) };
        if capacity < size {
            return false;
        }
        match self.arena.extend(capacity, &mut held) {
            Some(more) => *part = more,
            None => return false,
        }
        true
    }
}

/// How many bytes the record of a state takes.
#[inline]
fn record_size<D: Side>(state: &[u8]) -> usize {
    let header = if state.len() < LONG as usize { 1 } else { 4 };
    D::SIZE + header + state.len()
}

/// The two lie in the same chunk: if one worker has inserted both, and all between them in the order of their handles,
/// [`after`](ExactStore::after) leads from the first one to the other.
#[inline]
pub(crate) fn is_same_chunk(one: Handle, other: Handle) -> bool {
    chunk_of(one.position()) == chunk_of(other.position())
}

/// One of the threads that share a store: the store, as this thread sees it.
pub(crate) struct Worker<'a, D: Side> {
    store: &'a SharedStore<D>,
    /// None while it waits.
    table: Option<RwLockReadGuard<'a, SharedTable>>,
    part: Part,
    /// Insertions that the others have not been told of.
    untold: usize,
    longest: usize,
}

impl<D: Side> Worker<'_, D> {
    #[inline]
    fn table(&self) -> &SharedTable {
        match &self.table {
            Some(table) => table,
            None => unreachable!("a worker that waits does not look at the table"),
        }
    }

    /// Tells the others what was inserted, and whether the table is too full.
    fn tell(&mut self) {
        let untold = std::mem::take(&mut self.untold);
        let len = self.store.len.fetch_add(untold, Ordering::Relaxed) + untold;
        let table = self.table();
        if len < table.comfortable {
            return;
        }
        if table.is_last {
            self.store.is_full.store(true, Ordering::Relaxed);
        } else {
            self.store.gate.call();
        }
    }

    /// Lets go of the table.
    fn pause(&mut self) {
        if self.table.is_some() {
            self.tell();
        }
        self.store.arena.publish(&self.part);
        self.store.longest.fetch_max(self.longest, Ordering::Relaxed);
        self.table = None;
    }

    /// The table is too full: helps to make it larger.
    #[cold]
    fn grow(&mut self) {
        self.pause();
        self.store.gate.enter(|| self.store.replace(), |part| self.store.fill(part));
        self.table = Some(self.store.read());
    }

    /// Waits for others, which is what `wait` does. The table may grow meanwhile.
    pub(crate) fn rest<T>(&mut self, wait: impl FnOnce() -> T) -> T {
        self.pause();
        self.store.gate.rest();
        let result = wait();
        self.store.gate.come_back();
        self.table = Some(self.store.read());
        result
    }

    /// Helps to make the table larger, if it is too full. Who does not insert for long has to do so.
    pub(crate) fn poll(&mut self) {
        if self.store.gate.is_called() {
            self.grow();
        }
    }

    fn side_bytes(&self, state: Handle) -> &[AtomicU8] {
        // SAFETY: the record is complete, and side data is accessed as atomic bytes only.
        unsafe { self.store.arena.atomic_bytes(state.position(), D::SIZE) }
    }

    /// Side data, read in the one order in which all threads see what is [painted](Worker::paint) and
    /// [erased](Worker::erase).
    #[inline]
    pub(crate) fn side_in_order(&self, state: Handle) -> D {
        let mut side = [0; MAX_SIDE];
        side.iter_mut().zip(self.side_bytes(state)).for_each(|(to, from)| *to = from.load(Ordering::SeqCst));
        D::read(&side[..D::SIZE])
    }

    /// Sets bits of side data that is a number of four bytes.
    #[inline]
    pub(crate) fn paint(&self, state: Handle, bits: u32) {
        for (byte, bits) in self.side_bytes(state).iter().zip(bits.to_le_bytes()).filter(|(_, bits)| *bits != 0) {
            byte.fetch_or(bits, Ordering::SeqCst);
        }
    }

    /// Clears bits of side data that is a number of four bytes.
    #[inline]
    pub(crate) fn erase(&self, state: Handle, bits: u32) {
        for (byte, bits) in self.side_bytes(state).iter().zip(bits.to_le_bytes()).filter(|(_, bits)| *bits != 0) {
            byte.fetch_and(!bits, Ordering::SeqCst);
        }
    }

    /// Writes a record to the end of the worker's part, where it stays only if it is completed.
    #[inline]
    fn write(store: &SharedStore<D>, part: &mut Part, state: &[u8], side: D) -> Option<Handle> {
        let length = Length::of(state)?;
        let header = length.bytes();
        let size = D::SIZE + header.len() + state.len();
        if store.arena.place(part, size).is_none() && !store.extend(part, size) {
            return None;
        }
        let (position, bytes) = store.arena.place(part, size)?;
        side.write(&mut bytes[..D::SIZE]);
        bytes[D::SIZE..D::SIZE + header.len()].copy_from_slice(header);
        bytes[D::SIZE + header.len()..].copy_from_slice(state);
        Handle::at(position)
    }
}

impl<D: Side> Drop for Worker<'_, D> {
    fn drop(&mut self) {
        self.pause();
        self.store.gate.leave();
    }
}

impl<D: Side> Store<[u8]> for Worker<'_, D> {
    type Side = D;

    #[inline]
    fn hash(&self, state: &[u8]) -> u64 {
        rapidhash_v3(state)
    }

    #[inline]
    fn insert_hashed(&mut self, state: &[u8], hash: u64, side: D) -> Inserted {
        if self.store.gate.is_called() {
            self.grow();
        }
        let store = self.store;
        if store.is_full.load(Ordering::Relaxed) {
            return self.find(state).map_or(Inserted::Full, Inserted::Seen);
        }
        let Some(table) = &self.table else { return Inserted::Full };
        let part = &mut self.part;
        let give = || Worker::write(store, part, state, side);
        match table.find_or_insert(hash, |handle| store.get(handle) == state, give) {
            Offered::New(handle) => {
                SharedArena::complete(&mut self.part, record_size::<D>(state));
                self.longest = self.longest.max(state.len());
                self.untold += 1;
                if self.untold == TELL_EVERY {
                    self.tell();
                }
                Inserted::New(handle)
            }
            Offered::Seen(handle) => Inserted::Seen(handle),
            Offered::Refused => Inserted::Full,
        }
    }

    #[inline]
    fn prefetch(&self, hash: u64) {
        self.table().prefetch(hash);
    }

    #[inline]
    fn prefetch_state(&self, hash: u64) {
        if let Some(handle) = self.table().likely(hash) {
            self.store.arena.prefetch(handle.position());
        }
    }

    /// All states that workers have told of, and those of this one.
    fn len(&self) -> usize {
        self.store.len.load(Ordering::Relaxed) + self.untold
    }

    /// The part of this worker, if all have the same.
    fn bytes(&self) -> usize {
        self.store.bytes() / self.store.workers
    }

    fn state_bytes(&self) -> usize {
        self.store.state_bytes().max(self.longest)
    }
}

/// The states of a worker lie in the order of their insertion, chunk by chunk.
impl<D: Side> ExactStore<[u8]> for Worker<'_, D> {
    #[inline]
    fn get(&self, handle: Handle) -> &[u8] {
        self.store.get(handle)
    }

    fn find(&self, state: &[u8]) -> Option<Handle> {
        self.table().find(rapidhash_v3(state), |handle| self.store.get(handle) == state)
    }

    #[inline]
    fn same(&self, one: &[u8], other: &[u8]) -> bool {
        one == other
    }

    #[inline]
    fn side(&self, handle: Handle) -> D {
        let mut side = [0; MAX_SIDE];
        side.iter_mut().zip(self.side_bytes(handle)).for_each(|(to, from)| *to = from.load(Ordering::Relaxed));
        D::read(&side[..D::SIZE])
    }

    /// Of several workers that do so at once each may win for a part of the bytes.
    #[inline]
    fn set_side(&mut self, handle: Handle, side: D) {
        let mut written = [0; MAX_SIDE];
        side.write(&mut written[..D::SIZE]);
        self.side_bytes(handle).iter().zip(written).for_each(|(to, from)| to.store(from, Ordering::Relaxed));
    }

    /// There is no order among all.
    fn first(&self) -> Option<Handle> {
        None
    }

    /// The next state in the same chunk. There must be one.
    #[inline]
    fn after(&self, handle: Handle) -> Option<Handle> {
        Handle::at(handle.position() + record_size::<D>(self.get(handle)) as u64)
    }
}

/// No side data takes more bytes.
const MAX_SIDE: usize = 32;
