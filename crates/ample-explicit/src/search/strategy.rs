//! Strategies as values: what runs a search, whatever its order.

use super::{BreadthFirst, DepthFirst, Feedback, SearchResult};
use crate::space::{Buffer, StateSpace};
use crate::store::{ExactStore, Linked};

/// An order of search. What takes one, a [nested search](super::handlers::NestedSearch) for one, works with all of them.
///
/// ```
/// use ample_explicit::search::handlers::{Always, Handlers, Insert};
/// use ample_explicit::search::{BreadthFirst, DepthFirst, SearchResult, Strategy};
/// use ample_explicit::store::{HashStore, Parent, Store};
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
/// fn states<F>(feedback: &mut F, mut strategy: impl Strategy<Ring, HashStore<u8, Parent>, F>) -> usize {
///     let mut store = HashStore::default();
///     assert_eq!(strategy.search(&mut Ring(10), &mut store, feedback), SearchResult::Exhausted);
///     store.len()
/// }
///
/// let mut feedback = Handlers::new().on_explore(Always, Insert);
/// assert_eq!(states(&mut feedback, DepthFirst::default()), 10);
/// assert_eq!(states(&mut feedback, BreadthFirst::default()), 10);
/// ```
pub trait Strategy<S: StateSpace, St, F> {
    /// Searches from all initial states.
    fn search(&mut self, space: &mut S, store: &mut St, feedback: &mut F) -> SearchResult<S::Transition>;
}

impl<S, St, F> Strategy<S, St, F> for DepthFirst
where
    S: StateSpace,
    St: ExactStore<S::State>,
    F: Feedback<S, St>,
    Buffer<S>: Default,
{
    fn search(&mut self, space: &mut S, store: &mut St, feedback: &mut F) -> SearchResult<S::Transition> {
        self.run(space, store, feedback)
    }
}

impl<S, St, F> Strategy<S, St, F> for BreadthFirst
where
    S: StateSpace,
    St: ExactStore<S::State>,
    St::Side: Linked,
    F: Feedback<S, St>,
    Buffer<S>: Default,
{
    fn search(&mut self, space: &mut S, store: &mut St, feedback: &mut F) -> SearchResult<S::Transition> {
        self.run(space, store, feedback)
    }
}
