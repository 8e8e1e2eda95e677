//! The moment of an event, as the feedback sees it.

use super::SearchResult;
use super::path::Path;
use crate::space::{Buffer, StateSpace};
use crate::store::{ExactStore, Handle, Inserted, Retraced, Side};

/// Where a search is: the current state, the transition that led to it, and what is needed to act on
/// them.
pub struct Visit<'a, S: StateSpace, St> {
    /// The state space.
    pub space: &'a mut S,
    /// The store that the search keeps its states in.
    pub store: &'a mut St,
    pub(super) place: Place<'a, S::State>,
    pub(super) arrival: Option<(Handle, S::Transition)>,
    pub(super) path_source: PathSource<'a, S::Transition>,
    pub(super) depth: u64,
    pub(super) pending: u64,
    pub(super) held: usize,
}

/// Where the current state is to be found.
pub(super) enum Place<'a, State: ?Sized> {
    Arriving { state: &'a State, hash: Option<u64>, handle: Option<Handle> },
    Stored(Handle),
}

/// Where the path to the current state is to be found.
pub(super) enum PathSource<'a, T> {
    /// On the stack, without the last step.
    Stack(&'a [(Handle, T)]),
    /// In the links of the store.
    Links,
}

impl<'a, S: StateSpace, St: ExactStore<S::State>> Visit<'a, S, St> {
    /// The current state.
    #[inline]
    pub fn state(&self) -> &S::State {
        match self.place {
            Place::Arriving { state, .. } => state,
            Place::Stored(handle) => self.store.get(handle),
        }
    }

    /// The state space together with the current state, to ask one about the other.
    #[inline]
    pub fn parts(&mut self) -> (&mut S, &S::State) {
        let state = match self.place {
            Place::Arriving { state, .. } => state,
            Place::Stored(handle) => self.store.get(handle),
        };
        (self.space, state)
    }

    /// The transition that led here; none at an initial state. Once a breadth-first search has left a
    /// state, it does not know any more: then ask for the [`path`](Visit::path).
    #[inline]
    pub fn transition(&self) -> Option<&S::Transition> {
        self.arrival.as_ref().map(|(_, transition)| transition)
    }

    /// The state that the transition came from; none at an initial state.
    #[inline]
    pub fn source(&self) -> Option<Handle> {
        self.arrival.map(|(source, _)| source)
    }

    /// Puts the current state into the store.
    #[inline]
    pub fn insert(&mut self) -> Inserted {
        match self.place {
            Place::Stored(handle) => Inserted::Seen(handle),
            Place::Arriving { state, hash, .. } => {
                let hash = hash.unwrap_or_else(|| self.store.announce(state));
                let inserted = self.store.insert_announced(state, hash, St::Side::reached(self.source(), self.depth));
                self.place = Place::Arriving { state, hash: Some(hash), handle: inserted.handle() };
                inserted
            }
        }
    }

    /// Has a cheaper path than the one that the store keeps led to the current state, which is in the store? Then it is kept
    /// from now on.
    #[inline]
    pub fn reopen(&mut self) -> bool {
        if !St::Side::COSTS {
            return false;
        }
        let Some(handle) = self.handle() else { return false };
        let Some(side) = self.store.side(handle).improved(self.source(), self.depth) else { return false };
        self.store.set_side(handle, side);
        true
    }

    /// The current state's handle, if it is in the store.
    #[inline]
    pub fn handle(&self) -> Option<Handle> {
        match self.place {
            Place::Stored(handle) | Place::Arriving { handle: Some(handle), .. } => Some(handle),
            Place::Arriving { state, .. } => self.store.find(state),
        }
    }

    /// The current state's handle, after putting it into the store unless somebody did already. None if
    /// the store is full.
    #[inline]
    pub(super) fn keep(&mut self) -> Option<Handle> {
        match self.place {
            Place::Stored(handle) | Place::Arriving { handle: Some(handle), .. } => Some(handle),
            Place::Arriving { .. } => self.insert().handle(),
        }
    }

    /// The initial state that a depth-first search came from to get here; none at an initial state, and
    /// in a breadth-first search, which does not know.
    #[inline]
    pub fn root(&self) -> Option<Handle> {
        match self.path_source {
            PathSource::Stack([(root, _), ..]) => Some(*root),
            PathSource::Stack([]) => self.source(),
            PathSource::Links => None,
        }
    }

    /// How many transitions the path to here has; in a directed search what it costs, which is the same unless transitions
    /// [cost](super::Heuristic::cost) more than one.
    #[inline]
    pub fn depth(&self) -> u64 {
        self.depth
    }

    /// How many states wait to be expanded further.
    #[inline]
    pub fn pending(&self) -> u64 {
        self.pending
    }

    /// How many bytes the strategy holds for its stack or queue.
    #[inline]
    pub fn held(&self) -> usize {
        self.held
    }

    /// The end of a search that has its goal here.
    #[cold]
    pub(super) fn goal(&mut self) -> SearchResult<S::Transition>
    where
        Buffer<S>: Default,
    {
        self.keep();
        SearchResult::Goal(self.path())
    }

    /// The path to the current state.
    pub fn path(&mut self) -> Path<S::Transition>
    where
        Buffer<S>: Default,
    {
        self.path_avoiding(|_| false)
    }

    /// The path to the current state, for state spaces whose transitions may end in a fault: `skip`
    /// says, right after [`target`](StateSpace::target), that it did.
    pub fn path_avoiding(&mut self, skip: impl Fn(&S) -> bool) -> Path<S::Transition>
    where
        Buffer<S>: Default,
    {
        let handle = match self.place {
            Place::Stored(handle) => Some(handle),
            Place::Arriving { handle, .. } => handle,
        };
        let end = handle.and_then(|handle| self.store.keep(handle));
        let steps = match (&self.path_source, &self.place) {
            (PathSource::Stack(stack), _) => {
                let steps = stack.iter().copied().chain(self.arrival);
                steps.filter_map(|(state, transition)| Some((self.store.keep(state)?, transition))).collect()
            }
            (PathSource::Links, Place::Stored(state)) => self.store.retrace(self.space, *state, skip).steps,
            (PathSource::Links, Place::Arriving { .. }) => {
                let before = self.arrival.map(|(source, transition)| {
                    let Retraced { mut steps, end } = self.store.retrace(self.space, source, skip);
                    steps.extend(end.map(|end| (end, transition)));
                    steps
                });
                before.unwrap_or_default()
            }
        };
        Path { steps, end }
    }
}
