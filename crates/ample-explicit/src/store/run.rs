//! The states of one run, for searches that remember nothing else.

use super::{ExactStore, Handle, Inserted, Store};

/// Keeps the states of a run in their order, each as often as the run visits it: every state is new to it. It is emptied
/// for the next run, and its memory used again.
///
/// ```
/// use ample_explicit::store::{ExactStore, Inserted, RunStore, Store};
///
/// let mut run: RunStore<[u8]> = RunStore::default();
/// let Inserted::New(first) = run.insert(&[1, 2]) else { panic!() };
/// let Inserted::New(second) = run.insert(&[1, 2]) else { panic!() };
/// assert_eq!((first < second, run.get(second), run.len()), (true, &[1, 2][..], 2));
/// run.clear();
/// assert!(run.is_empty());
/// ```
pub struct RunStore<S: ?Sized + ToOwned> {
    states: Vec<S::Owned>,
    len: usize,
    /// So many are kept for good.
    kept: usize,
    longest: usize,
    limit: usize,
}

impl<S: ?Sized + ToOwned> Default for RunStore<S> {
    fn default() -> Self {
        RunStore { states: Vec::new(), len: 0, kept: 0, longest: 0, limit: usize::MAX }
    }
}

impl<S: ?Sized + ToOwned> RunStore<S> {
    /// Takes about that many bytes from the system at most, and is [`Inserted::Full`] beyond.
    pub fn limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }

    /// Forgets all states, except for those that are kept.
    pub fn clear(&mut self) {
        self.len = self.kept;
    }

    /// Keeps the states that it has now for good, so that their handles stay valid.
    pub fn keep(&mut self) {
        self.kept = self.len;
    }
}

impl<S: ?Sized + ToOwned + PartialEq> Store<S> for RunStore<S> {
    type Side = ();

    #[inline]
    fn hash(&self, _: &S) -> u64 {
        0
    }

    #[inline]
    fn insert_hashed(&mut self, state: &S, _: u64, (): ()) -> Inserted {
        let Some(handle) = Handle::at(self.len as u64).filter(|_| self.bytes() < self.limit) else {
            return Inserted::Full;
        };
        match self.states.get_mut(self.len) {
            Some(place) => state.clone_into(place),
            None => self.states.push(state.to_owned()),
        }
        self.longest = self.longest.max(size_of_val(state));
        self.len += 1;
        Inserted::New(handle)
    }

    fn len(&self) -> usize {
        self.len
    }

    fn bytes(&self) -> usize {
        self.states.capacity() * size_of::<S::Owned>() + self.states.len() * self.longest
    }

    fn state_bytes(&self) -> usize {
        self.longest
    }
}

impl<S: ?Sized + ToOwned + PartialEq> ExactStore<S> for RunStore<S> {
    #[inline]
    fn get(&self, handle: Handle) -> &S {
        std::borrow::Borrow::borrow(&self.states[handle.position() as usize])
    }

    /// The last time that the run visits the state.
    fn find(&self, state: &S) -> Option<Handle> {
        let is_it = |kept: &S::Owned| std::borrow::Borrow::<S>::borrow(kept) == state;
        self.states[..self.len].iter().rposition(is_it).and_then(|position| Handle::at(position as u64))
    }

    #[inline]
    fn same(&self, one: &S, other: &S) -> bool {
        one == other
    }

    #[inline]
    fn side(&self, _: Handle) {}

    #[inline]
    fn set_side(&mut self, _: Handle, (): ()) {}

    fn first(&self) -> Option<Handle> {
        Handle::at(0).filter(|_| self.len > 0)
    }

    fn after(&self, handle: Handle) -> Option<Handle> {
        Handle::at(handle.position() + 1).filter(|next| (next.position() as usize) < self.len)
    }
}
