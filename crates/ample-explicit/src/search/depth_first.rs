//! Depth-first search (M. Kattenbelt, *Towards an explicit-state model
//! checking framework*, 2006, Algorithms 3.3 to 3.5, corrected).
//!
//! The stack holds the transitions of the current path, each with the handle of its source: that is the
//! counterexample, and it tells which transition comes next when the search backtracks. States live in
//! the store. Several initial states are searched one after the other with the same feedback.
//!
//! [Hill climbing](DepthFirst::hill_climbing) is depth-first search that takes the successors of a state in the order of a
//! [`Heuristic`]: it goes down where a goal seems nearest, and backtracks where there is none. Only states that it enters
//! are stored; those that it compares are not.

use std::borrow::Borrow;
use std::cmp::Reverse;

use super::visit::{PathSource, Place, Visit};
use super::{Backtrack, Explore, Feedback, Heuristic, SearchResult, Terminated};
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
        self.in_order(space, store, feedback, AsGiven)
    }

    /// Searches from all initial states, and takes the successors of each state in the order of the heuristic, nearest
    /// first.
    ///
    /// ```
    /// use ample_explicit::search::DepthFirst;
    /// use ample_explicit::search::handlers::{Accept, Always, Goal, Handlers, Insert};
    /// use ample_explicit::store::{HashStore, Store};
    /// # use ample_explicit::space::StateSpace;
    /// # struct Grid(u32);
    /// # impl StateSpace for Grid {
    /// #     type State = (u32, u32);
    /// #     type Transition = u8;
    /// #     fn initial(&mut self, index: usize, out: &mut (u32, u32)) -> bool { *out = (0, 0); index == 0 }
    /// #     fn first(&mut self, at: &(u32, u32)) -> Option<u8> { self.next(at, &0) }
    /// #     fn next(&mut self, at: &(u32, u32), last: &u8) -> Option<u8> {
    /// #         (*last < 1 && at.0 < self.0).then_some(1).or((*last < 2 && at.1 < self.0).then_some(2))
    /// #     }
    /// #     fn target(&mut self, at: &(u32, u32), step: &u8, out: &mut (u32, u32)) {
    /// #         *out = if *step == 1 { (at.0 + 1, at.1) } else { (at.0, at.1 + 1) };
    /// #     }
    /// # }
    ///
    /// // In a grid, by steps to the right and down, to a place in the middle: no state is stored in vain.
    /// let goal = (40, 60);
    /// let mut feedback = Handlers::new().on_explore(Accept(|&at: &(u32, u32)| at == goal), Goal).on_explore(Always, Insert);
    /// let mut store: HashStore<(u32, u32)> = HashStore::default();
    /// let mut far = |at: &(u32, u32)| u64::from(at.0.abs_diff(40) + at.1.abs_diff(60));
    /// let path = DepthFirst::default().hill_climbing(&mut Grid(100), &mut store, &mut far, &mut feedback).goal().unwrap();
    /// assert_eq!((path.len(), store.len()), (100, 101));
    /// ```
    pub fn hill_climbing<S, St, H, F>(
        &self,
        space: &mut S,
        store: &mut St,
        heuristic: &mut H,
        feedback: &mut F,
    ) -> SearchResult<S::Transition>
    where
        S: StateSpace,
        St: ExactStore<S::State>,
        H: Heuristic<S>,
        F: Feedback<S, St>,
        Buffer<S>: Default,
    {
        let order = ByEstimate { heuristic, open: Vec::new(), out: Buffer::<S>::default() };
        self.in_order(space, store, feedback, order)
    }

    fn in_order<S, St, F>(
        &self,
        space: &mut S,
        store: &mut St,
        feedback: &mut F,
        order: impl Order<S>,
    ) -> SearchResult<S::Transition>
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
            order,
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

/// The order in which the transitions out of a state are taken. The states are those of a stack.
trait Order<S: StateSpace> {
    /// The first transition out of a state that is entered.
    fn first(&mut self, space: &mut S, state: &S::State) -> Option<S::Transition>;

    /// The transition after that one, out of the state that was entered last.
    fn next(&mut self, space: &mut S, state: &S::State, transition: &S::Transition) -> Option<S::Transition>;

    /// The state that was entered last is left.
    fn leave(&mut self) {}
}

/// That of the state space.
struct AsGiven;

impl<S: StateSpace> Order<S> for AsGiven {
    #[inline]
    fn first(&mut self, space: &mut S, state: &S::State) -> Option<S::Transition> {
        space.first(state)
    }

    #[inline]
    fn next(&mut self, space: &mut S, state: &S::State, transition: &S::Transition) -> Option<S::Transition> {
        space.next(state, transition)
    }
}

/// That of the estimates of their targets.
struct ByEstimate<'a, S: StateSpace, H> {
    heuristic: &'a mut H,
    /// What is left to be taken, the best last, for each state on the stack.
    open: Vec<Vec<S::Transition>>,
    out: Buffer<S>,
}

impl<S: StateSpace, H: Heuristic<S>> Order<S> for ByEstimate<'_, S, H> {
    fn first(&mut self, space: &mut S, state: &S::State) -> Option<S::Transition> {
        let mut all = Vec::new();
        let mut cursor = space.first(state);
        while let Some(transition) = cursor {
            space.target(state, &transition, &mut self.out);
            all.push((self.heuristic.estimate(space, self.out.borrow()), transition));
            cursor = space.next(state, &transition);
        }
        all.reverse();
        // Stable: of those with the same estimate the first one is taken first.
        all.sort_by_key(|(estimate, _)| Reverse(*estimate));
        let mut left: Vec<_> = all.into_iter().map(|(_, transition)| transition).collect();
        let first = left.pop();
        self.open.push(left);
        first
    }

    fn next(&mut self, _: &mut S, _: &S::State, _: &S::Transition) -> Option<S::Transition> {
        self.open.last_mut().and_then(Vec::pop)
    }

    fn leave(&mut self) {
        self.open.pop();
    }
}

/// A search under way.
struct Search<'a, S: StateSpace, St, F, O> {
    space: &'a mut S,
    store: &'a mut St,
    feedback: &'a mut F,
    order: O,
    stack: Vec<(Handle, S::Transition)>,
    max_depth: u64,
    /// What is returned in the end.
    result: SearchResult<S::Transition>,
}

impl<S, St, F, O> Search<'_, S, St, F, O>
where
    S: StateSpace,
    St: ExactStore<S::State>,
    F: Feedback<S, St>,
    O: Order<S>,
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
                cursor = self.order.next(self.space, self.store.get(current), &transition);
                continue;
            };
            self.space.target(self.store.get(current), &transition, out);
            match self.explore(out, Some((current, transition)))? {
                Some(new) => {
                    self.stack.push((current, transition));
                    current = new;
                    cursor = self.enter(current)?;
                }
                None => cursor = self.order.next(self.space, self.store.get(current), &transition),
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
        let first = self.order.first(self.space, self.store.get(state));
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
                self.order.leave();
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
