//! The way back from transformed states and transitions to the original ones.

use std::marker::PhantomData;

use crate::search::handlers::{Effect, Predicate};
use crate::simulate::{SimulationObserver, SimulationStrategy};
use crate::space::StateSpace;
use crate::store::{Inserted, Store};

/// Maps the states and transitions of `S`, a transformed space, to those of `O`, an original one. A product
/// has several: one to each of its parts.
pub trait Projection<S: StateSpace, O: StateSpace> {
    /// Calls `then` with the original state.
    fn state<R>(&self, state: &S::State, then: impl FnOnce(&O::State) -> R) -> R;

    /// The original transition; none if the original does not move.
    fn transition(&self, transition: &S::Transition) -> Option<O::Transition>;
}

/// An observer, a strategy of simulation, a predicate or an effect for an original space `O`, used on a transformed one.
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

impl<S, O, M, X, A> Effect<S, A> for Through<O, M, X>
where
    S: StateSpace,
    O: StateSpace,
    M: Projection<S, O>,
    X: Effect<O, A>,
{
    fn apply(&mut self, state: &S::State, transition: Option<&S::Transition>) -> A {
        let transition = transition.and_then(|transition| self.projection.transition(transition));
        self.projection.state(state, |state| self.inner.apply(state, transition.as_ref()))
    }
}

/// The strategy chooses among the steps of the original, and of the transformed transitions that are this step the first
/// is taken. Where the original does not move by any transition the run stops.
impl<S, O, M, X> SimulationStrategy<S> for Through<O, M, X>
where
    S: StateSpace,
    O: StateSpace<Transition: PartialEq>,
    M: Projection<S, O>,
    X: SimulationStrategy<O>,
{
    fn start(&mut self, count: usize) -> usize {
        self.inner.start(count)
    }

    fn choose(&mut self, state: &S::State, transitions: &[S::Transition]) -> Option<usize> {
        let mut originals: Vec<O::Transition> = Vec::new();
        let mut positions = Vec::new();
        for (position, transition) in transitions.iter().enumerate() {
            if let Some(original) = self.projection.transition(transition)
                && !originals.contains(&original)
            {
                originals.push(original);
                positions.push(position);
            }
        }
        if originals.is_empty() {
            return None;
        }
        let choice = self.projection.state(state, |state| self.inner.choose(state, &originals))?;
        positions.get(choice).copied()
    }
}

/// A store for the states of an original space `O`, used for those of a transformed one `S`: states are the same for it
/// if their projections are. For [`InsertInto`](crate::search::handlers::InsertInto).
///
/// ```
/// use ample_explicit::search::depth_first;
/// use ample_explicit::search::handlers::{Always, Handlers, InsertInto};
/// use ample_explicit::store::{HashStore, Store};
/// use ample_explicit::transform::{Left, Product, StoreThrough};
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
/// // Which states of the left counter are there in the product?
/// let left: HashStore<u8> = HashStore::new();
/// let mut insert = InsertInto(StoreThrough::<Product<Counter, Counter>, Counter, _, _>::new(Left, left));
/// let mut product = Product::interleaved(Counter(5), Counter(7));
/// depth_first(&mut product, &mut HashStore::new(), &mut Handlers::new().on_explore(Always, &mut insert));
/// assert_eq!(insert.0.len(), 6);
/// ```
pub struct StoreThrough<S, O, M, X> {
    projection: M,
    inner: X,
    spaces: PhantomData<fn(&S, &O)>,
}

impl<S, O, M, X> StoreThrough<S, O, M, X> {
    /// `inner`, a store for the states of `O`, seen through a projection to `O`.
    pub fn new(projection: M, inner: X) -> Self {
        StoreThrough { projection, inner, spaces: PhantomData }
    }

    /// The store that it was made from.
    pub fn into_inner(self) -> X {
        self.inner
    }

    /// How many states of the original there are.
    pub fn len(&self) -> usize
    where
        O: StateSpace,
        X: Store<O::State>,
    {
        self.inner.len()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool
    where
        O: StateSpace,
        X: Store<O::State>,
    {
        self.inner.is_empty()
    }
}

impl<T, S, O, M, X> Store<T> for StoreThrough<S, O, M, X>
where
    T: ?Sized + ToOwned,
    S: StateSpace<State = T>,
    O: StateSpace,
    M: Projection<S, O>,
    X: Store<O::State>,
{
    type Side = X::Side;

    fn hash(&self, state: &T) -> u64 {
        self.projection.state(state, |state| self.inner.hash(state))
    }

    fn insert_hashed(&mut self, state: &T, hash: u64, side: X::Side) -> Inserted {
        self.projection.state(state, |state| self.inner.insert_hashed(state, hash, side))
    }

    fn prefetch(&self, hash: u64) {
        self.inner.prefetch(hash);
    }

    fn prefetch_state(&self, hash: u64) {
        self.inner.prefetch_state(hash);
    }

    fn len(&self) -> usize {
        self.inner.len()
    }

    fn bytes(&self) -> usize {
        self.inner.bytes()
    }

    fn state_bytes(&self) -> usize {
        self.inner.state_bytes()
    }
}
