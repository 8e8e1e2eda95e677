//! The store for any Rust type that can be hashed and compared.

use std::hash::{Hash, Hasher};

use rapidhash::quality::RapidHasher;

use super::prefetch::prefetch;
use super::table::{Probe, Slot, Table};
use super::{ExactStore, Handle, Inserted, Side, Store};

/// A store for states that are Rust values. Each is kept once, in the order of insertion.
///
/// ```
/// use ample_explicit::store::{ExactStore, HashStore, Inserted, Store};
///
/// let mut store: HashStore<(u8, bool)> = HashStore::new();
/// let Inserted::New(handle) = store.insert(&(7, true)) else { panic!() };
/// assert_eq!(store.insert(&(7, true)), Inserted::Seen(handle));
/// assert_eq!(store.get(handle), &(7, true));
/// ```
pub struct HashStore<S, D = ()> {
    states: Vec<(S, D)>,
    table: Table,
    limit: usize,
}

impl<S> HashStore<S> {
    /// An empty store that keeps nothing beside the states.
    pub fn new() -> Self {
        HashStore::default()
    }
}

impl<S, D> Default for HashStore<S, D> {
    fn default() -> Self {
        HashStore { states: Vec::new(), table: Table::new(), limit: usize::MAX }
    }
}

impl<S: Hash, D> HashStore<S, D> {
    /// Takes at most that many bytes from the system, and is [`Inserted::Full`] beyond. What a state
    /// owns outside itself is not known here and not counted.
    pub fn limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }

    /// Makes room in the table, and finds the place for a state with that hash in it.
    #[cold]
    fn grow(&mut self, hash: u64) -> Option<Slot> {
        let room = self.limit.saturating_sub(self.states.capacity() * size_of::<(S, D)>());
        if self.table.grow(room) {
            let states = self.states.iter().enumerate();
            let placed = states.filter_map(|(index, (state, _))| Some((hash_of(state), Handle::at(index as u64)?)));
            self.table.place_all(placed);
        }
        if self.table.has_room() { self.table.free_slot(hash) } else { None }
    }

    /// Makes room for one more state.
    #[cold]
    fn extend(&mut self) -> bool {
        // Both are alive while the states are moved, so that both have to fit.
        let more = self.states.capacity().max(4);
        let held = (2 * self.states.capacity() + more).saturating_mul(size_of::<(S, D)>()) + self.table.bytes();
        held <= self.limit && self.states.try_reserve_exact(more).is_ok()
    }
}

fn hash_of<S: Hash>(state: &S) -> u64 {
    let mut hasher = RapidHasher::default_const();
    state.hash(&mut hasher);
    hasher.finish()
}

impl<S: Clone + Eq + Hash, D: Side> Store<S> for HashStore<S, D> {
    type Side = D;

    #[inline]
    fn hash(&self, state: &S) -> u64 {
        hash_of(state)
    }

    #[inline]
    fn insert_hashed(&mut self, state: &S, hash: u64, side: D) -> Inserted {
        let slot = match self.table.probe(hash, |handle| self.get(handle) == state) {
            Probe::Found(handle) => return Inserted::Seen(handle),
            Probe::Free(slot) if self.table.has_room() => Some(slot),
            Probe::Free(_) => self.grow(hash),
        };
        let Some(slot) = slot else { return Inserted::Full };
        if self.states.len() == self.states.capacity() && !self.extend() {
            return Inserted::Full;
        }
        let Some(handle) = Handle::at(self.states.len() as u64) else { return Inserted::Full };
        self.states.push((state.clone(), side));
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
            prefetch(&self.states[handle.position() as usize]);
        }
    }

    fn len(&self) -> usize {
        self.states.len()
    }

    fn bytes(&self) -> usize {
        self.states.capacity() * size_of::<(S, D)>() + self.table.bytes()
    }

    fn state_bytes(&self) -> usize {
        size_of::<S>()
    }
}

impl<S: Clone + Eq + Hash, D: Side> ExactStore<S> for HashStore<S, D> {
    #[inline]
    fn get(&self, handle: Handle) -> &S {
        &self.states[handle.position() as usize].0
    }

    fn find(&self, state: &S) -> Option<Handle> {
        match self.table.probe(hash_of(state), |handle| self.get(handle) == state) {
            Probe::Found(handle) => Some(handle),
            Probe::Free(_) => None,
        }
    }

    #[inline]
    fn same(&self, one: &S, other: &S) -> bool {
        one == other
    }

    #[inline]
    fn side(&self, handle: Handle) -> D {
        self.states[handle.position() as usize].1
    }

    #[inline]
    fn set_side(&mut self, handle: Handle, side: D) {
        self.states[handle.position() as usize].1 = side;
    }

    fn first(&self) -> Option<Handle> {
        if self.states.is_empty() { None } else { Handle::at(0) }
    }

    #[inline]
    fn after(&self, handle: Handle) -> Option<Handle> {
        let next = handle.position() + 1;
        if next < self.states.len() as u64 { Handle::at(next) } else { None }
    }
}
