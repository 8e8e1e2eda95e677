//! The store for states that are bytes: one flat table, and records one after the other.
//!
//! A record is the side data, the length and the bytes of a state, in an arena whose chunks never move;
//! the table points into it. A state of `n` bytes, fewer than 128, takes `n + 1` bytes and its side
//! data, and 10 to 20 bytes of table. Nothing is allocated for a single state. Records lie in the order
//! of insertion, so that a breadth-first queue is just a position in the arena.

use std::io::{self, Read, Write};
use std::marker::PhantomData;
use std::{iter, mem};

use rapidhash::v3::rapidhash_v3;

use super::arena::Arena;
use super::table::{Probe, Slot, Table};
use super::{ExactStore, Handle, Inserted, Key, Side, Store};

/// How much of a state counts: two states are the same if they agree on this many bytes from the front.
/// The rest (hidden variables, say) is kept as it was when the state was first reached.
///
/// Any function of that type will do.
pub trait Visible {
    /// The number of bytes of `state` that count.
    fn visible(&self, state: &[u8]) -> usize;

    /// The same for a store that is made for all kinds of states.
    fn key(self) -> Key
    where
        Self: Sized + 'static,
    {
        Key::new(move |state| self.visible(state))
    }

    /// Every byte counts, and that of all states.
    fn is_whole(&self) -> bool {
        false
    }
}

/// Every byte counts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Whole;

impl Visible for Whole {
    #[inline]
    fn visible(&self, state: &[u8]) -> usize {
        state.len()
    }

    fn key(self) -> Key {
        Key::default()
    }

    fn is_whole(&self) -> bool {
        true
    }
}

impl<F: Fn(&[u8]) -> usize> Visible for F {
    #[inline]
    fn visible(&self, state: &[u8]) -> usize {
        self(state)
    }
}

/// A store for states that are bytes.
///
/// ```
/// use ample_explicit::store::{ExactStore, FlatStore, Inserted, Store};
///
/// let mut store = FlatStore::new();
/// let Inserted::New(handle) = store.insert(b"one") else { panic!() };
/// assert_eq!(store.insert(b"one"), Inserted::Seen(handle));
/// assert_eq!(store.get(handle), b"one");
/// ```
pub struct FlatStore<D = (), V = Whole> {
    arena: Arena,
    table: Table,
    limit: usize,
    longest: usize,
    visible: V,
    side: PhantomData<D>,
}

impl FlatStore {
    /// An empty store that keeps nothing beside the states.
    pub fn new() -> FlatStore {
        FlatStore::default()
    }
}

impl<D: Side> Default for FlatStore<D> {
    fn default() -> Self {
        FlatStore::with_visible(Whole)
    }
}

impl<D: Side, V: Visible> FlatStore<D, V> {
    /// An empty store that compares states only on what `visible` says.
    ///
    /// ```
    /// use ample_explicit::store::{ExactStore, FlatStore, Inserted, Parent, Store};
    ///
    /// // The last byte of every state is hidden.
    /// let mut store = FlatStore::<Parent, _>::with_visible(|state: &[u8]| state.len() - 1);
    /// let Inserted::New(handle) = store.insert(b"one!") else { panic!() };
    /// assert_eq!(store.insert(b"one?"), Inserted::Seen(handle));
    /// assert_eq!(store.get(handle), b"one!");
    /// ```
    pub fn with_visible(visible: V) -> Self {
        FlatStore {
            arena: Arena::new(),
            table: Table::new(),
            limit: usize::MAX,
            longest: 0,
            visible,
            side: PhantomData,
        }
    }

    /// Takes at most that many bytes from the system, and is [`Inserted::Full`] beyond.
    pub fn limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }

    /// Takes at most that many bytes from now on.
    pub(crate) fn set_limit(&mut self, bytes: usize) {
        self.limit = bytes;
    }

    /// How many bytes may still be taken.
    pub(crate) fn room(&self) -> usize {
        self.limit.saturating_sub(self.bytes())
    }

    /// All bytes of states count.
    pub(crate) fn is_whole(&self) -> bool {
        self.visible.is_whole()
    }

    /// Writes all states, with what lies beside them.
    pub fn save(&self, out: &mut impl Write) -> io::Result<()> {
        let chunks = self.arena.contents();
        for number in [chunks.len(), self.table.len(), self.longest] {
            out.write_all(&(number as u64).to_le_bytes())?;
        }
        for chunk in chunks {
            out.write_all(&(chunk.len() as u64).to_le_bytes())?;
            out.write_all(chunk)?;
        }
        Ok(())
    }

    /// Reads what was [saved](FlatStore::save) into a store that is empty. Handles stay the same.
    pub fn restore(&mut self, input: &mut impl Read) -> io::Result<()> {
        let [chunks, count, longest] = [number(input)?, number(input)?, number(input)?];
        for _ in 0..chunks {
            let size = number(input)?;
            if self.bytes().saturating_add(size) > self.limit {
                return Err(io::ErrorKind::OutOfMemory.into());
            }
            self.arena.restore(size, |bytes| input.read_exact(bytes))?;
        }
        self.longest = longest;
        let mut table = Table::new();
        while table.capacity() < count {
            if !table.grow(self.limit.saturating_sub(self.arena.bytes())) {
                return Err(io::ErrorKind::OutOfMemory.into());
            }
        }
        let handles = iter::successors(self.first(), |&handle| self.after(handle));
        table.place_all(handles.map(|handle| (self.hash(self.get(handle)), handle)));
        self.table = table;
        if self.table.len() == count { Ok(()) } else { Err(io::ErrorKind::InvalidData.into()) }
    }

    /// The chunks of its arena, how many states there are, the size of the largest one, and the limit.
    pub(super) fn into_parts(self) -> (Vec<Vec<u8>>, usize, usize, usize) {
        (self.arena.into_chunks(), self.table.len(), self.longest, self.limit)
    }

    #[inline]
    fn key<'a>(&self, state: &'a [u8]) -> &'a [u8] {
        &state[..self.visible.visible(state)]
    }

    /// How many bytes of the limit are for the table, if table and arena are to be full at the same time.
    fn table_share(&self) -> usize {
        let record = self.arena.used() as f64 / self.table.len().max(1) as f64;
        (self.limit as f64 * ENTRY_BYTES / (ENTRY_BYTES + record)) as usize
    }

    /// Makes room for a record in the arena.
    #[cold]
    fn extend(&mut self, size: usize) -> bool {
        let room = self.limit.saturating_sub(self.bytes());
        let share = self.limit.saturating_sub(self.table_share()).saturating_sub(self.arena.bytes());
        self.arena.extend(size, room.min(share)) || self.arena.extend(size, room.min(size + PAGE))
    }

    /// Makes room in the table, and finds the place for a state with that hash in it.
    #[cold]
    fn grow(&mut self, hash: u64) -> Option<Slot> {
        let room = self.limit.saturating_sub(self.arena.bytes());
        if self.table.grow(self.table_share().min(room)) {
            let mut table = mem::replace(&mut self.table, Table::new());
            let handles = iter::successors(self.first(), |&handle| self.after(handle));
            table.place_all(handles.map(|handle| (self.hash(self.get(handle)), handle)));
            self.table = table;
        }
        if self.table.has_room() { self.table.free_slot(hash) } else { None }
    }

    /// Writes a record to the end of the arena.
    #[inline]
    fn append(&mut self, state: &[u8], side: D) -> Option<Handle> {
        let length = Length::of(state)?;
        let size = D::SIZE + length.bytes().len() + state.len();
        let position = match self.arena.place(size) {
            Some(position) => position,
            None if self.extend(size) => self.arena.place(size)?,
            None => return None,
        };
        let handle = Handle::at(position)?;
        self.arena.write_with(D::SIZE, |bytes| side.write(bytes));
        self.arena.write(length.bytes());
        self.arena.write(state);
        self.longest = self.longest.max(state.len());
        Some(handle)
    }
}

fn number(input: &mut impl Read) -> io::Result<usize> {
    let mut bytes = [0; 8];
    input.read_exact(&mut bytes)?;
    usize::try_from(u64::from_le_bytes(bytes)).map_err(|_| io::ErrorKind::InvalidData.into())
}

/// Table bytes for a state at the load at which the table grows.
pub(super) const ENTRY_BYTES: f64 = 8.0 / 0.8;

/// How much is taken from the system at a time when little is left.
pub(super) const PAGE: usize = 4096;

/// The length of a state in front of it: one byte where that is enough, else four.
pub(super) enum Length {
    Short([u8; 1]),
    Long([u8; 4]),
}

pub(super) const LONG: u8 = 0x80;

impl Length {
    #[inline]
    pub(super) fn of(state: &[u8]) -> Option<Length> {
        match u32::try_from(state.len()).ok()? {
            short @ ..0x80 => Some(Length::Short([short as u8])),
            long @ ..0x8000_0000 => Some(Length::Long((long | 0x8000_0000).to_be_bytes())),
            _ => None,
        }
    }

    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Length::Short(bytes) => bytes,
            Length::Long(bytes) => bytes,
        }
    }

    /// The state that starts with its length.
    #[inline]
    fn strip(bytes: &[u8]) -> &[u8] {
        if bytes[0] & LONG == 0 {
            return &bytes[1..1 + bytes[0] as usize];
        }
        let length = u32::from_be_bytes([bytes[0] & !LONG, bytes[1], bytes[2], bytes[3]]);
        &bytes[4..4 + length as usize]
    }
}

impl<D: Side, V: Visible> Store<[u8]> for FlatStore<D, V> {
    type Side = D;

    #[inline]
    fn hash(&self, state: &[u8]) -> u64 {
        rapidhash_v3(self.key(state))
    }

    #[inline]
    fn insert_hashed(&mut self, state: &[u8], hash: u64, side: D) -> Inserted {
        let key = self.key(state);
        let slot = match self.table.probe(hash, |handle| self.key(self.get(handle)) == key) {
            Probe::Found(handle) => return Inserted::Seen(handle),
            Probe::Free(slot) if self.table.has_room() => Some(slot),
            Probe::Free(_) => self.grow(hash),
        };
        let Some(slot) = slot else { return Inserted::Full };
        let Some(handle) = self.append(state, side) else { return Inserted::Full };
        self.table.fill(slot, handle);
        Inserted::New(handle)
    }

    #[inline]
    fn prefetch(&self, hash: u64) {
        self.table.prefetch(hash);
    }

    #[inline]
    fn prefetch_state(&self, hash: u64) {
        if let Some(handle) = self.table.likely(hash) {
            self.arena.prefetch(handle.position());
        }
    }

    fn len(&self) -> usize {
        self.table.len()
    }

    fn bytes(&self) -> usize {
        self.arena.bytes() + self.table.bytes()
    }

    fn state_bytes(&self) -> usize {
        self.longest
    }
}

impl<D: Side, V: Visible> ExactStore<[u8]> for FlatStore<D, V> {
    #[inline]
    fn get(&self, handle: Handle) -> &[u8] {
        Length::strip(&self.arena.tail(handle.position())[D::SIZE..])
    }

    fn find(&self, state: &[u8]) -> Option<Handle> {
        let key = self.key(state);
        match self.table.probe(self.hash(state), |handle| self.key(self.get(handle)) == key) {
            Probe::Found(handle) => Some(handle),
            Probe::Free(_) => None,
        }
    }

    #[inline]
    fn same(&self, one: &[u8], other: &[u8]) -> bool {
        self.key(one) == self.key(other)
    }

    #[inline]
    fn side(&self, handle: Handle) -> D {
        D::read(&self.arena.tail(handle.position())[..D::SIZE])
    }

    #[inline]
    fn set_side(&mut self, handle: Handle, side: D) {
        side.write(&mut self.arena.tail_mut(handle.position())[..D::SIZE]);
    }

    fn first(&self) -> Option<Handle> {
        self.arena.start().and_then(Handle::at)
    }

    #[inline]
    fn after(&self, handle: Handle) -> Option<Handle> {
        let state = self.get(handle);
        let header = if state.len() < LONG as usize { 1 } else { 4 };
        self.arena.after(handle.position(), D::SIZE + header + state.len()).and_then(Handle::at)
    }
}
