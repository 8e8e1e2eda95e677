//! The visited set of a depth-first search: a store that keeps everything, or a cache in front of one.

use super::cache::Bounded;
use super::mark::Mark;
use super::reduction::Cache;
use crate::search::Path;
use crate::store::{ExactStore, Handle, Inserted};

/// A set of visited states that may forget those that the search has left.
pub(super) trait Visited<S: ?Sized> {
    /// The store that it was made with.
    type Store: ExactStore<S, Side = Mark>;

    fn store(&self) -> &Self::Store;

    /// Takes in a state with that mark. The search enters it if it is new.
    fn insert(&mut self, state: &S, mark: Mark) -> Inserted;

    fn find(&self, state: &S) -> Option<Handle>;

    fn get(&self, handle: Handle) -> &S;

    fn mark(&self, handle: Handle) -> Mark;

    fn set_mark(&mut self, handle: Handle, mark: Mark);

    /// The search enters a state again.
    fn enter(&mut self, handle: Handle);

    /// The search leaves a state, from which it has explored one transition or several: it may be forgotten.
    fn leave(&mut self, handle: Handle, branches: bool);

    /// The path in handles that stay good; its states are all on the stack. None if there is no memory for them.
    fn lasting<T>(&mut self, path: Path<T>) -> Option<Path<T>>;

    /// How many states there are, and how many were forgotten.
    fn counts(&self) -> (u64, u64);

    fn bytes(&self) -> usize;

    fn state_bytes(&self) -> usize;
}

/// Everything is kept.
pub(super) struct Kept<'a, St>(pub(super) &'a mut St);

impl<S: ?Sized, St: ExactStore<S, Side = Mark>> Visited<S> for Kept<'_, St> {
    type Store = St;

    fn store(&self) -> &St {
        self.0
    }

    #[inline]
    fn insert(&mut self, state: &S, mark: Mark) -> Inserted {
        self.0.insert_with(state, mark)
    }

    #[inline]
    fn find(&self, state: &S) -> Option<Handle> {
        self.0.find(state)
    }

    #[inline]
    fn get(&self, handle: Handle) -> &S {
        self.0.get(handle)
    }

    #[inline]
    fn mark(&self, handle: Handle) -> Mark {
        self.0.side(handle)
    }

    #[inline]
    fn set_mark(&mut self, handle: Handle, mark: Mark) {
        self.0.set_side(handle, mark);
    }

    #[inline]
    fn enter(&mut self, _: Handle) {}

    #[inline]
    fn leave(&mut self, _: Handle, _: bool) {}

    fn lasting<T>(&mut self, path: Path<T>) -> Option<Path<T>> {
        Some(path)
    }

    fn counts(&self) -> (u64, u64) {
        (self.0.len() as u64, 0)
    }

    fn bytes(&self) -> usize {
        self.0.bytes()
    }

    fn state_bytes(&self) -> usize {
        self.0.state_bytes()
    }
}

/// Only so many are kept. The store says which states are the same, and holds those on the paths that are reported.
pub(super) struct Cached<'a, St, B> {
    store: &'a mut St,
    cache: Bounded<B>,
}

impl<'a, St, B> Cached<'a, St, B> {
    pub(super) fn new(store: &'a mut St, cache: Cache) -> Self {
        Cached { store, cache: Bounded::new(cache) }
    }
}

impl<S: ?Sized + ToOwned, St: ExactStore<S, Side = Mark>> Visited<S> for Cached<'_, St, S::Owned> {
    type Store = St;

    fn store(&self) -> &St {
        self.store
    }

    #[inline]
    fn insert(&mut self, state: &S, mark: Mark) -> Inserted {
        let store = &*self.store;
        self.cache.insert(state, store.hash(state), mark, |other| store.same(state, other))
    }

    fn find(&self, state: &S) -> Option<Handle> {
        self.cache.find(self.store.hash(state), |other| self.store.same(state, other))
    }

    #[inline]
    fn get(&self, handle: Handle) -> &S {
        self.cache.get(handle)
    }

    #[inline]
    fn mark(&self, handle: Handle) -> Mark {
        self.cache.mark(handle)
    }

    #[inline]
    fn set_mark(&mut self, handle: Handle, mark: Mark) {
        self.cache.set_mark(handle, mark);
    }

    #[inline]
    fn enter(&mut self, handle: Handle) {
        self.cache.hold(handle);
    }

    #[inline]
    fn leave(&mut self, handle: Handle, branches: bool) {
        self.cache.let_go(handle, branches);
    }

    fn lasting<T>(&mut self, path: Path<T>) -> Option<Path<T>> {
        let mut keep = |handle| self.store.insert(self.cache.get(handle)).handle();
        let steps = path.steps.into_iter().map(|(state, transition)| Some((keep(state)?, transition)));
        let steps = steps.collect::<Option<Vec<_>>>()?;
        let end = match path.end {
            Some(end) => Some(keep(end)?),
            None => None,
        };
        Some(Path { steps, end })
    }

    fn counts(&self) -> (u64, u64) {
        (self.cache.len() as u64, self.cache.cleared())
    }

    fn bytes(&self) -> usize {
        self.store.bytes() + self.cache.bytes()
    }

    fn state_bytes(&self) -> usize {
        self.cache.state_bytes()
    }
}
