//! Depth-first search (M. Kattenbelt, *Towards an explicit-state model
//! checking framework*, 2006, Algorithms 3.3 to 3.5, corrected).
//!
//! The stack holds the transitions of the current path, each with the handle of its source: that is the
//! counterexample, and it tells which transition comes next when the search backtracks. States live in
//! the store. Several initial states are searched one after the other with the same feedback.

use std::borrow::Borrow;

use super::visit::{PathSource, Place, Visit};
use super::{Backtrack, Explore, Feedback, SearchResult, Terminated};
use crate::space::{Buffer, StateSpace};
use crate::store::{ExactStore, Handle};

/// Depth-first search from all initial states, without a depth limit.
///
/// ```
/// use ample_explicit::search::depth_first;
/// use ample_explicit::search::handlers::{Accept, Always, Goal, Handlers, Insert};
/// use ample_explicit::store::HashStore;
/// # use ample_explicit::space::StateSpace;
/// # struct Ring(u8);
/// # impl StateSpace for Ring {
/// #     type State = u8;
/// #     type Transition = i8;
/// #     fn initial(&mut self, index: usize, out: &mut u8) -> bool { *out = 0; index == 0 }
/// #     fn first(&mut self, _: &u8) -> Option<i8> { Some(1) }
/// #     fn next(&mut self, _: &u8, last: &i8) -> Option<i8> { (*last == 1).then_some(-1) }
/// #     fn target(&mut self, state: &u8, step: &i8, out: &mut u8) {
/// #         *out = (*state as i8 + self.0 as i8 + step) as u8 % self.0;
/// #     }
/// # }
///
/// // Ten places in a ring, and steps to the right, which are tried first, or to the left.
/// let mut feedback = Handlers::new().on_explore(Accept(|&at: &u8| at == 9), Goal).on_explore(Always, Insert);
/// let path = depth_first(&mut Ring(10), &mut HashStore::new(), &mut feedback).goal().unwrap();
/// assert_eq!(path.len(), 9);
/// ```
pub fn depth_first<S, St, F>(space: &mut S, store: &mut St, feedback: &mut F) -> SearchResult<S::Transition>
where
    S: StateSpace,
    St: ExactStore<S::State>,
    F: Feedback<S, St>,
    Buffer<S>: Default,
{
    DepthFirst::default().run(space, store, feedback)
}

/// The depth-first strategy.
#[derive(Clone, Copy, Debug)]
pub struct DepthFirst {
    /// States at this depth are not expanded.
    pub max_depth: u64,
}

impl Default for DepthFirst {
    fn default() -> Self {
        DepthFirst { max_depth: u64::MAX }
    }
}

impl DepthFirst {
    /// Searches from all initial states.
    pub fn run<S, St, F>(&self, space: &mut S, store: &mut St, feedback: &mut F) -> SearchResult<S::Transition>
    where
        S: StateSpace,
        St: ExactStore<S::State>,
        F: Feedback<S, St>,
        Buffer<S>: Default,
    {
        let mut out = Buffer::<S>::default();
        let mut search = Search {
            space,
            store,
            feedback,
            stack: Vec::new(),
            max_depth: self.max_depth,
            result: SearchResult::Exhausted,
        };
        for index in 0.. {
            if !search.space.initial(index, &mut out) || search.from(&mut out).is_err() {
                break;
            }
        }
        search.result
    }
}

/// A search under way.
struct Search<'a, S: StateSpace, St, F> {
    space: &'a mut S,
    store: &'a mut St,
    feedback: &'a mut F,
    stack: Vec<(Handle, S::Transition)>,
    max_depth: u64,
    /// What is returned in the end.
    result: SearchResult<S::Transition>,
}

impl<S, St, F> Search<'_, S, St, F>
where
    S: StateSpace,
    St: ExactStore<S::State>,
    F: Feedback<S, St>,
    Buffer<S>: Default,
{
    /// Searches from one initial state, which is in `out`.
    fn from(&mut self, out: &mut Buffer<S>) -> Result<(), Terminated> {
        let Some(mut current) = self.explore(out, None)? else { return Ok(()) };
        let mut cursor = self.enter(current)?;
        loop {
            let Some(transition) = cursor else {
                self.backtrack(current)?;
                let Some((source, transition)) = self.stack.pop() else { return Ok(()) };
                current = source;
                cursor = self.space.next(self.store.get(current), &transition);
                continue;
            };
            self.space.target(self.store.get(current), &transition, out);
            match self.explore(out, Some((current, transition)))? {
                Some(new) => {
                    self.stack.push((current, transition));
                    current = new;
                    cursor = self.enter(current)?;
                }
                None => cursor = self.space.next(self.store.get(current), &transition),
            }
        }
    }

    /// The EXPLORE event. Gives the handle of the state if it is to be entered.
    #[inline]
    fn explore(
        &mut self,
        out: &Buffer<S>,
        arrival: Option<(Handle, S::Transition)>,
    ) -> Result<Option<Handle>, Terminated> {
        let note = self.feedback.arrive(self.space);
        let depth = self.stack.len() as u64 + arrival.is_some() as u64;
        let mut visit = Visit {
            space: self.space,
            store: self.store,
            place: Place::Arriving { state: out.borrow(), hash: None, handle: None },
            arrival,
            path_source: PathSource::Stack(&self.stack),
            depth,
            pending: depth,
            held: self.stack.capacity() * size_of::<(Handle, S::Transition)>(),
        };
        let end = match self.feedback.explore(&mut visit, note) {
            Explore::Skip => return Ok(None),
            Explore::New | Explore::Reopen => match visit.keep() {
                None => SearchResult::Interrupted,
                new => return Ok(new),
            },
            Explore::Interrupt => SearchResult::Interrupted,
            Explore::Goal => visit.goal(),
        };
        self.terminate(end)
    }

    /// The first transition out of a new state, with the LEAF event if there is none.
    #[inline]
    fn enter(&mut self, state: Handle) -> Result<Option<S::Transition>, Terminated> {
        let first = self.space.first(self.store.get(state));
        if first.is_some() && (self.stack.len() as u64) < self.max_depth {
            return Ok(first);
        }
        let (mut visit, feedback) = self.visit(state);
        if first.is_some() {
            feedback.truncated(&mut visit);
            return Ok(None);
        }
        let end = match feedback.leaf(&mut visit) {
            Backtrack::Continue => return Ok(None),
            Backtrack::Interrupt => SearchResult::Interrupted,
            Backtrack::Goal => visit.goal(),
        };
        self.terminate(end)
    }

    /// The BACKTRACK event.
    #[inline]
    fn backtrack(&mut self, state: Handle) -> Result<(), Terminated> {
        let (mut visit, feedback) = self.visit(state);
        let end = match feedback.backtrack(&mut visit) {
            Backtrack::Continue => {
                self.store.release(state);
                return Ok(());
            }
            Backtrack::Interrupt => SearchResult::Interrupted,
            Backtrack::Goal => visit.goal(),
        };
        self.terminate(end)
    }

    #[cold]
    fn terminate<X>(&mut self, result: SearchResult<S::Transition>) -> Result<X, Terminated> {
        self.result = result;
        Err(Terminated)
    }

    /// The visit of a state at the end of the stack.
    #[inline]
    fn visit(&mut self, state: Handle) -> (Visit<'_, S, St>, &mut F) {
        let (arrival, before) = match self.stack.split_last() {
            Some((last, rest)) => (Some(*last), rest),
            None => (None, &[][..]),
        };
        let visit = Visit {
            space: self.space,
            store: self.store,
            place: Place::Stored(state),
            arrival,
            path_source: PathSource::Stack(before),
            depth: self.stack.len() as u64,
            pending: self.stack.len() as u64,
            held: self.stack.capacity() * size_of::<(Handle, S::Transition)>(),
        };
        (visit, self.feedback)
    }
}
