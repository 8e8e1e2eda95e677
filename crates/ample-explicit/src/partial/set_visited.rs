//! The visited set of a depth-first search that cannot give states back: those on the stack are kept beside it in full.
//!
//! So the search knows exactly which states are on its stack, whatever the set. It knows nothing of a state that it has
//! left but that it was seen, so that there can be neither sleep sets nor the proviso on components.

use rapidhash::v3::rapidhash_v3;

use super::mark::Mark;
use super::visited::Visited;
use crate::search::Path;
use crate::store::{Entry, ExactStore, Handle, Inserted, Key, StateSet};

/// No place.
const NONE: u32 = u32::MAX;

/// A set of states, and those on the stack. The store holds the states on the paths that are reported.
pub(super) struct SetVisited<'a, St, C> {
    store: &'a mut St,
    set: &'a mut C,
    key: Key,
    stack: Stack,
    limit: usize,
}

impl<'a, St, C: StateSet> SetVisited<'a, St, C> {
    pub(super) fn new(store: &'a mut St, set: &'a mut C, key: Key, limit: usize) -> Self {
        set.set_limit(limit);
        SetVisited { store, set, key, stack: Stack::default(), limit }
    }

    fn on_stack(&self, state: &[u8]) -> Option<Handle> {
        let key = self.key.of(state);
        self.stack.find(rapidhash_v3(key), |other| self.key.of(other) == key)
    }
}

impl<St: ExactStore<[u8], Side = Mark>, C: StateSet> Visited<[u8]> for SetVisited<'_, St, C> {
    type Store = St;

    fn store(&self) -> &St {
        self.store
    }

    #[inline]
    fn insert(&mut self, state: &[u8], mark: Mark) -> Inserted {
        let key = self.key.of(state);
        let signature = self.set.signature(key);
        match self.set.insert(key, signature) {
            Entry::New => {}
            Entry::Seen => return Inserted::Seen(self.on_stack(state).unwrap_or(Handle::LEFT)),
            Entry::Full => return Inserted::Full,
        }
        let hash = rapidhash_v3(key);
        let before = self.stack.bytes();
        match self.stack.push(state, hash, mark) {
            Some(handle) => {
                if self.stack.bytes() != before {
                    self.set.set_limit(self.limit.saturating_sub(self.stack.bytes()));
                }
                Inserted::New(handle)
            }
            None => Inserted::Full,
        }
    }

    fn find(&self, state: &[u8]) -> Option<Handle> {
        self.on_stack(state).or_else(|| self.set.contains(self.key.of(state)).then_some(Handle::LEFT))
    }

    #[inline]
    fn get(&self, handle: Handle) -> &[u8] {
        self.stack.get(handle)
    }

    #[inline]
    fn mark(&self, handle: Handle) -> Mark {
        self.stack.slot(handle).map_or(Mark::new(0, false), |slot| slot.mark)
    }

    #[inline]
    fn set_mark(&mut self, handle: Handle, mark: Mark) {
        if let Some(slot) = self.stack.slot_mut(handle) {
            slot.mark = mark;
        }
    }

    #[inline]
    fn enter(&mut self, _: Handle) {}

    #[inline]
    fn leave(&mut self, _: Handle, _: bool) {
        self.stack.pop();
    }

    fn lasting<T>(&mut self, path: Path<T>) -> Option<Path<T>> {
        let mut keep = |handle| match handle {
            Handle::LEFT => None,
            handle => self.store.insert(self.stack.get(handle)).handle(),
        };
        let steps = path.steps.into_iter().map(|(state, transition)| Some((keep(state)?, transition)));
        let steps = steps.collect::<Option<Vec<_>>>()?;
        Some(Path { steps, end: path.end.and_then(keep) })
    }

    fn counts(&self) -> (u64, u64) {
        (self.set.len() as u64, 0)
    }

    fn bytes(&self) -> usize {
        self.set.bytes() + self.stack.bytes() + self.store.bytes()
    }

    fn state_bytes(&self) -> usize {
        self.stack.longest
    }
}

/// The states on the stack of the search, found by their hashes.
#[derive(Default)]
struct Stack {
    slots: Vec<Slot>,
    /// The states, one after the other.
    bytes: Vec<u8>,
    /// For each value of a hash the state that was pushed last; as many as a power of two.
    heads: Vec<u32>,
    longest: usize,
}

struct Slot {
    hash: u64,
    /// Where the state begins.
    start: usize,
    /// The state with such a hash that was pushed before.
    next: u32,
    mark: Mark,
}

impl Stack {
    fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>() + self.bytes.capacity() + self.heads.capacity() * size_of::<u32>()
    }

    #[inline]
    fn home(&self, hash: u64) -> usize {
        hash as usize & (self.heads.len() - 1)
    }

    #[inline]
    fn state(&self, number: usize) -> &[u8] {
        let end = self.slots.get(number + 1).map_or(self.bytes.len(), |slot| slot.start);
        &self.bytes[self.slots[number].start..end]
    }

    #[inline]
    fn get(&self, handle: Handle) -> &[u8] {
        self.state(handle.position() as usize - 1)
    }

    #[inline]
    fn slot(&self, handle: Handle) -> Option<&Slot> {
        self.slots.get((handle.position() as usize).checked_sub(1)?)
    }

    #[inline]
    fn slot_mut(&mut self, handle: Handle) -> Option<&mut Slot> {
        self.slots.get_mut((handle.position() as usize).checked_sub(1)?)
    }

    #[inline]
    fn find(&self, hash: u64, mut same: impl FnMut(&[u8]) -> bool) -> Option<Handle> {
        if self.heads.is_empty() {
            return None;
        }
        let mut number = self.heads[self.home(hash)];
        while number != NONE {
            let slot = &self.slots[number as usize];
            if slot.hash == hash && same(self.state(number as usize)) {
                return Handle::at(u64::from(number) + 1);
            }
            number = slot.next;
        }
        None
    }

    #[inline]
    fn push(&mut self, state: &[u8], hash: u64, mark: Mark) -> Option<Handle> {
        let number = self.slots.len() as u32;
        if number == NONE {
            return None;
        }
        self.slots.push(Slot { hash, start: self.bytes.len(), next: NONE, mark });
        self.bytes.extend_from_slice(state);
        self.longest = self.longest.max(state.len());
        if self.slots.len() > self.heads.len() {
            self.grow();
        } else {
            self.link(number);
        }
        Handle::at(u64::from(number) + 1)
    }

    #[inline]
    fn link(&mut self, number: u32) {
        let home = self.home(self.slots[number as usize].hash);
        self.slots[number as usize].next = std::mem::replace(&mut self.heads[home], number);
    }

    #[cold]
    fn grow(&mut self) {
        self.heads = vec![NONE; (2 * self.heads.len()).max(64)];
        (0..self.slots.len() as u32).for_each(|number| self.link(number));
    }

    /// The state that was pushed last goes: it is the first of its chain.
    #[inline]
    fn pop(&mut self) {
        let Some(slot) = self.slots.pop() else { return };
        let home = self.home(slot.hash);
        self.heads[home] = slot.next;
        self.bytes.truncate(slot.start);
    }
}
