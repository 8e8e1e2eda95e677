//! The way back from transformed states and transitions to the original ones.

use std::marker::PhantomData;

use crate::search::handlers::Predicate;
use crate::simulate::SimulationObserver;
use crate::space::StateSpace;

/// Maps the states and transitions of `S`, a transformed space, to those of `O`, an original one. A product
/// has several: one to each of its parts.
pub trait Projection<S: StateSpace, O: StateSpace> {
    /// Calls `then` with the original state.
    fn state<R>(&self, state: &S::State, then: impl FnOnce(&O::State) -> R) -> R;

    /// The original transition; none if the original does not move.
    fn transition(&self, transition: &S::Transition) -> Option<O::Transition>;
}

/// An observer or a predicate for an original space `O`, used on a transformed one.
///
/// ```
/// use ample_explicit::search::breadth_first;
/// use ample_explicit::search::handlers::{Accept, Always, Goal, Handlers, Insert};
/// use ample_explicit::store::{HashStore, Parent};
/// use ample_explicit::transform::{Left, Product, Through};
/// # use ample_explicit::space::StateSpace;
/// # struct Counter(u8);
/// # impl StateSpace for Counter {
/// #     type State = u8;
/// #     type Transition = ();
/// #     fn initial(&mut self, index: usize, out: &mut u8) -> bool { *out = 0; index == 0 }
/// #     fn first(&mut self, state: &u8) -> Option<()> { (*state < self.0).then_some(()) }
/// #     fn next(&mut self, _: &u8, _: &()) -> Option<()> { None }
/// #     fn target(&mut self, state: &u8, _: &(), out: &mut u8) { *out = state + 1 }
/// # }
///
/// let is_three = |state: &u8| *state == 3;
/// let left_is_three = Accept(Through::<Counter, _, _>::new(Left, is_three));
/// let mut feedback = Handlers::new().on_explore(left_is_three, Goal).on_explore(Always, Insert);
/// let mut store: HashStore<(u8, u8), Parent> = HashStore::default();
/// let mut product = Product::interleaved(Counter(5), Counter(5));
/// assert_eq!(breadth_first(&mut product, &mut store, &mut feedback).goal().unwrap().len(), 3);
/// ```
pub struct Through<O, M, X> {
    projection: M,
    inner: X,
    original: PhantomData<fn(&O)>,
}

impl<O, M, X> Through<O, M, X> {
    /// `inner`, which was written for `O`, seen through a projection to `O`.
    pub fn new(projection: M, inner: X) -> Self {
        Through { projection, inner, original: PhantomData }
    }

    /// What it was made from.
    pub fn into_inner(self) -> X {
        self.inner
    }
}

impl<S, O, M, X> Predicate<S> for Through<O, M, X>
where
    S: StateSpace,
    O: StateSpace,
    M: Projection<S, O>,
    X: Predicate<O>,
{
    fn test(&mut self, state: &S::State, transition: Option<&S::Transition>) -> bool {
        let transition = transition.and_then(|transition| self.projection.transition(transition));
        self.projection.state(state, |state| self.inner.test(state, transition.as_ref()))
    }
}

/// Steps in which the original does not move are not told.
impl<S, O, M, X> SimulationObserver<S> for Through<O, M, X>
where
    S: StateSpace,
    O: StateSpace,
    M: Projection<S, O>,
    X: SimulationObserver<O>,
{
    fn started(&mut self, state: &S::State) {
        self.projection.state(state, |state| self.inner.started(state));
    }

    fn taken(&mut self, transition: &S::Transition, state: &S::State) {
        if let Some(transition) = self.projection.transition(transition) {
            self.projection.state(state, |state| self.inner.taken(&transition, state));
        }
    }

    fn ended(&mut self) {
        self.inner.ended();
    }
}
