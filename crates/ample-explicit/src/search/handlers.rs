//! Feedback put together from conditions and actions.
//!
//! [`Handlers`] holds, for each event, a list of pairs: when the [`Condition`] holds, the [`Action`] is
//! performed. All pairs are looked at, in order, and the answer with the highest priority wins: a goal
//! over a skip over going on. Each event has a default answer, which takes part as if it were another pair. The lists
//! are types, so that a search with five handlers compiles to the same loop as one that was written by hand; a `Vec` of
//! pairs is a list that is known at run time only.
//!
//! # Recipe 1: can an accepting state be reached?
//!
//! Breadth-first, for a shortest path. Here: from 1, by doubling and by adding three, to 100.
//!
//! ```
//! use ample_explicit::search::breadth_first;
//! use ample_explicit::search::handlers::{Accept, Always, Goal, Handlers, Insert};
//! use ample_explicit::space::StateSpace;
//! use ample_explicit::store::{ExactStore, HashStore, Parent};
//!
//! struct Numbers;
//!
//! impl StateSpace for Numbers {
//!     type State = u64;
//!     type Transition = char;
//!
//!     fn initial(&mut self, index: usize, out: &mut u64) -> bool {
//!         *out = 1;
//!         index == 0
//!     }
//!     fn first(&mut self, state: &u64) -> Option<char> {
//!         (*state < 1000).then_some('*')
//!     }
//!     fn next(&mut self, _: &u64, transition: &char) -> Option<char> {
//!         (*transition == '*').then_some('+')
//!     }
//!     fn target(&mut self, state: &u64, transition: &char, out: &mut u64) {
//!         *out = if *transition == '*' { state * 2 } else { state + 3 };
//!     }
//! }
//!
//! let mut feedback = Handlers::new().on_explore(Accept(|&n: &u64| n == 100), Goal).on_explore(Always, Insert);
//! let mut store: HashStore<u64, Parent> = HashStore::default();
//! let path = breadth_first(&mut Numbers, &mut store, &mut feedback).goal().unwrap();
//! let numbers: Vec<u64> = path.states().map(|handle| *store.get(handle)).collect();
//! assert_eq!(numbers, [1, 4, 8, 11, 22, 25, 50, 100]);
//! ```
//!
//! # Recipe 2: is there a cycle through an accepting state?
//!
//! Nested depth-first search: whenever the outer search leaves an accepting state, the inner one looks
//! for a path back to it. Both keep their marks in one store.
//!
//! ```
//! use ample_explicit::search::depth_first;
//! use ample_explicit::search::handlers::{Accept, Always, Goal, Handlers, InsertMarked, IsSeed, NestedSearch};
//! use ample_explicit::space::StateSpace;
//! use ample_explicit::store::{ExactStore, HashStore, Marks};
//!
//! /// From 0 a ring can be entered, at 10; accepting is 5, before it, or 12, on it.
//! struct Lasso;
//!
//! impl StateSpace for Lasso {
//!     type State = u8;
//!     type Transition = ();
//!
//!     fn initial(&mut self, index: usize, out: &mut u8) -> bool {
//!         *out = 0;
//!         index == 0
//!     }
//!     fn first(&mut self, _: &u8) -> Option<()> {
//!         Some(())
//!     }
//!     fn next(&mut self, _: &u8, _: &()) -> Option<()> {
//!         None
//!     }
//!     fn target(&mut self, state: &u8, _: &(), out: &mut u8) {
//!         *out = if *state == 14 { 10 } else { state + 1 };
//!     }
//! }
//!
//! for (accepting, expected) in [(5, None), (12, Some(vec![12, 13, 14, 10, 11, 12]))] {
//!     let inner = Handlers::new().on_explore(Always, InsertMarked(1)).on_explore(IsSeed, Goal);
//!     let mut nested = NestedSearch::new(inner);
//!     let mut outer = Handlers::new()
//!         .on_explore(Always, InsertMarked(0))
//!         .on_backtrack(Accept(|&state: &u8| state == accepting), &mut nested);
//!     let mut store: HashStore<u8, Marks> = HashStore::default();
//!     let stem = depth_first(&mut Lasso, &mut store, &mut outer).goal();
//!     let cycle = nested.found().map(|path| path.states().map(|handle| *store.get(handle)).collect());
//!     assert_eq!(stem.map(|path| path.len()), expected.as_ref().map(|_| 12));
//!     assert_eq!(cycle, expected);
//! }
//! ```

use std::borrow::Borrow;

use super::{Backtrack, DepthFirst, Explore, Feedback, Path, SearchResult, Strategy, Visit};
use crate::space::{Buffer, StateSpace};
use crate::store::{ExactStore, Inserted, Marked, Store};
use crate::transform::{Representative, Reroot};

/// Says whether an action is to be performed.
pub trait Condition<S: StateSpace, St> {
    /// Does it hold here?
    fn holds(&mut self, visit: &mut Visit<'_, S, St>) -> bool;
}

/// Does something, and answers the strategy with an `A`: [`Explore`] or [`Backtrack`].
pub trait Action<S: StateSpace, St, A> {
    /// Does it here.
    fn perform(&mut self, visit: &mut Visit<'_, S, St>) -> A;
}

/// An answer to an event. The greatest of several wins.
pub trait Answer: Copy + Ord {
    /// The answer of an action that has no opinion.
    const INDIFFERENT: Self;
    /// The answer of an action that cannot go on.
    const INTERRUPT: Self;
    /// The answer of an action that has found what was looked for.
    const GOAL: Self;
}

impl Answer for Explore {
    const INDIFFERENT: Self = Explore::New;
    const INTERRUPT: Self = Explore::Interrupt;
    const GOAL: Self = Explore::Goal;
}

impl Answer for Backtrack {
    const INDIFFERENT: Self = Backtrack::Continue;
    const INTERRUPT: Self = Backtrack::Interrupt;
    const GOAL: Self = Backtrack::Goal;
}

/// Conditions and actions for each event, and the answers where none of them says more: the search adapter of the thesis.
///
/// ```
/// use ample_explicit::search::handlers::{Accept, Always, Call, Handlers, Insert};
/// use ample_explicit::search::{Explore, depth_first};
/// use ample_explicit::store::{HashStore, Store};
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
/// // With this default, nothing is gone on from, whatever the store says.
/// let mut store = HashStore::new();
/// let mut feedback = Handlers::new().explore_default(Explore::Skip).on_explore(Always, Insert);
/// depth_first(&mut Ring(10), &mut store, &mut feedback);
/// assert_eq!(store.len(), 1);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Handlers<E = (), B = ()> {
    explore: E,
    backtrack: B,
    explore_default: Explore,
    backtrack_default: Backtrack,
}

impl Default for Handlers {
    fn default() -> Self {
        let (explore_default, backtrack_default) = (Explore::New, Backtrack::Continue);
        Handlers { explore: (), backtrack: (), explore_default, backtrack_default }
    }
}

impl Handlers {
    /// None yet: every state is new, and nothing is a goal.
    pub fn new() -> Handlers {
        Handlers::default()
    }
}

impl<E, B> Handlers<E, B> {
    /// Adds a pair for the moment when the search arrives at a state.
    pub fn on_explore<C, A>(self, condition: C, action: A) -> Handlers<(E, C, A), B> {
        let Handlers { explore, backtrack, explore_default, backtrack_default } = self;
        Handlers { explore: (explore, condition, action), backtrack, explore_default, backtrack_default }
    }

    /// Adds a pair for the moment when a state has been fully expanded.
    pub fn on_backtrack<C, A>(self, condition: C, action: A) -> Handlers<E, (B, C, A)> {
        let Handlers { explore, backtrack, explore_default, backtrack_default } = self;
        Handlers { explore, backtrack: (backtrack, condition, action), explore_default, backtrack_default }
    }

    /// Sets the answer to arriving at a state where no pair has one of higher priority; [`Explore::New`] at first.
    pub fn explore_default(mut self, answer: Explore) -> Self {
        self.explore_default = answer;
        self
    }

    /// Sets the answer to leaving a state behind where no pair has one of higher priority; [`Backtrack::Continue`] at
    /// first.
    pub fn backtrack_default(mut self, answer: Backtrack) -> Self {
        self.backtrack_default = answer;
        self
    }
}

impl<E, B, C, A> Handlers<E, (B, C, A)> {
    /// The action that was added last for the moment when a state has been fully expanded: to ask it what it found.
    pub fn last_backtrack(&self) -> &A {
        &self.backtrack.2
    }
}

impl<S, St, E, B> Feedback<S, St> for Handlers<E, B>
where
    S: StateSpace,
    E: Action<S, St, Explore>,
    B: Action<S, St, Backtrack>,
{
    type Note = ();

    #[inline]
    fn explore(&mut self, visit: &mut Visit<'_, S, St>, (): ()) -> Explore {
        self.explore_default.max(self.explore.perform(visit))
    }

    #[inline]
    fn backtrack(&mut self, visit: &mut Visit<'_, S, St>) -> Backtrack {
        self.backtrack_default.max(self.backtrack.perform(visit))
    }
}

/// The empty list.
impl<S: StateSpace, St, A: Answer> Action<S, St, A> for () {
    #[inline]
    fn perform(&mut self, _: &mut Visit<'_, S, St>) -> A {
        A::INDIFFERENT
    }
}

/// A list, and a pair at its end.
impl<S, St, A, L, C, X> Action<S, St, A> for (L, C, X)
where
    S: StateSpace,
    A: Answer,
    L: Action<S, St, A>,
    C: Condition<S, St>,
    X: Action<S, St, A>,
{
    #[inline]
    fn perform(&mut self, visit: &mut Visit<'_, S, St>) -> A {
        let before = self.0.perform(visit);
        if self.1.holds(visit) { before.max(self.2.perform(visit)) } else { before }
    }
}

/// A list of pairs that is known at run time only. With boxes, its pairs are of any types.
impl<S, St, A, C, X> Action<S, St, A> for Vec<(C, X)>
where
    S: StateSpace,
    A: Answer,
    C: Condition<S, St>,
    X: Action<S, St, A>,
{
    fn perform(&mut self, visit: &mut Visit<'_, S, St>) -> A {
        let mut answer = A::INDIFFERENT;
        for (condition, action) in self {
            if condition.holds(visit) {
                answer = answer.max(action.perform(visit));
            }
        }
        answer
    }
}

impl<S: StateSpace, St, C: Condition<S, St> + ?Sized> Condition<S, St> for Box<C> {
    fn holds(&mut self, visit: &mut Visit<'_, S, St>) -> bool {
        (**self).holds(visit)
    }
}

impl<S: StateSpace, St, A, X: Action<S, St, A> + ?Sized> Action<S, St, A> for Box<X> {
    fn perform(&mut self, visit: &mut Visit<'_, S, St>) -> A {
        (**self).perform(visit)
    }
}

impl<S: StateSpace, St, C: Condition<S, St>> Condition<S, St> for &mut C {
    #[inline]
    fn holds(&mut self, visit: &mut Visit<'_, S, St>) -> bool {
        (**self).holds(visit)
    }
}

impl<S: StateSpace, St, A, X: Action<S, St, A>> Action<S, St, A> for &mut X {
    #[inline]
    fn perform(&mut self, visit: &mut Visit<'_, S, St>) -> A {
        (**self).perform(visit)
    }
}

/// Holds always.
#[derive(Clone, Copy, Debug)]
pub struct Always;

impl<S: StateSpace, St> Condition<S, St> for Always {
    #[inline]
    fn holds(&mut self, _: &mut Visit<'_, S, St>) -> bool {
        true
    }
}

/// Holds in states without outgoing transitions.
#[derive(Clone, Copy, Debug)]
pub struct Deadlock;

impl<S: StateSpace, St: ExactStore<S::State>> Condition<S, St> for Deadlock {
    #[inline]
    fn holds(&mut self, visit: &mut Visit<'_, S, St>) -> bool {
        let (space, state) = visit.parts();
        space.first(state).is_none()
    }
}

/// A question about a state and the transition that led to it, and about nothing else. Any function from
/// a state to a truth value is one.
pub trait Predicate<S: StateSpace> {
    /// The answer.
    fn test(&mut self, state: &S::State, transition: Option<&S::Transition>) -> bool;
}

impl<S: StateSpace, F: FnMut(&S::State) -> bool> Predicate<S> for F {
    #[inline]
    fn test(&mut self, state: &S::State, _: Option<&S::Transition>) -> bool {
        self(state)
    }
}

/// Holds where the predicate does.
#[derive(Clone, Copy, Debug)]
pub struct Accept<P>(pub P);

impl<S: StateSpace, St: ExactStore<S::State>, P: Predicate<S>> Condition<S, St> for Accept<P> {
    #[inline]
    fn holds(&mut self, visit: &mut Visit<'_, S, St>) -> bool {
        self.0.test(visit.state(), visit.transition())
    }
}

/// Something that is done with a state and the transition that led to it, and with nothing else: neither the state space
/// nor the store is seen. What a [`Predicate`] is to a [`Condition`], this is to an [`Action`]. Any function from a state
/// to an answer is one.
pub trait Effect<S: StateSpace, A> {
    /// Does it, and answers the strategy.
    fn apply(&mut self, state: &S::State, transition: Option<&S::Transition>) -> A;
}

impl<S: StateSpace, A: Answer, F: FnMut(&S::State) -> A> Effect<S, A> for F {
    #[inline]
    fn apply(&mut self, state: &S::State, _: Option<&S::Transition>) -> A {
        self(state)
    }
}

/// The effect as an action.
#[derive(Clone, Copy, Debug)]
pub struct Perform<X>(pub X);

impl<S: StateSpace, St: ExactStore<S::State>, A: Answer, X: Effect<S, A>> Action<S, St, A> for Perform<X> {
    #[inline]
    fn perform(&mut self, visit: &mut Visit<'_, S, St>) -> A {
        self.0.apply(visit.state(), visit.transition())
    }
}

/// A predicate over transitions and their targets; false at the initial state.
#[derive(Clone, Copy, Debug)]
pub struct Taking<F>(pub F);

impl<S: StateSpace, F: FnMut(&S::Transition, &S::State) -> bool> Predicate<S> for Taking<F> {
    #[inline]
    fn test(&mut self, state: &S::State, transition: Option<&S::Transition>) -> bool {
        transition.is_some_and(|transition| self.0(transition, state))
    }
}

/// Holds when a depth-first search has come back to the initial state that it started from: not at the
/// start itself, where no transition has been taken yet.
#[derive(Clone, Copy, Debug)]
pub struct IsSeed;

impl<S: StateSpace, St: ExactStore<S::State>> Condition<S, St> for IsSeed {
    #[inline]
    fn holds(&mut self, visit: &mut Visit<'_, S, St>) -> bool {
        visit.transition().is_some() && visit.root().is_some() && visit.handle() == visit.root()
    }
}

/// Found it.
#[derive(Clone, Copy, Debug)]
pub struct Goal;

impl<S: StateSpace, St, A: Answer> Action<S, St, A> for Goal {
    #[inline]
    fn perform(&mut self, _: &mut Visit<'_, S, St>) -> A {
        A::GOAL
    }
}

/// Puts the state into the store: new, or to be skipped if it is there already, unless the store keeps costs and the path
/// to it is cheaper than before.
#[derive(Clone, Copy, Debug)]
pub struct Insert;

impl<S: StateSpace, St: ExactStore<S::State>> Action<S, St, Explore> for Insert {
    #[inline]
    fn perform(&mut self, visit: &mut Visit<'_, S, St>) -> Explore {
        match visit.insert() {
            Inserted::New(_) => Explore::New,
            Inserted::Seen(_) if visit.reopen() => Explore::Reopen,
            Inserted::Seen(_) => Explore::Skip,
            Inserted::Full => Explore::Interrupt,
        }
    }
}

fn explore_answer(inserted: Inserted) -> Explore {
    match inserted {
        Inserted::New(_) => Explore::New,
        Inserted::Seen(_) => Explore::Skip,
        Inserted::Full => Explore::Interrupt,
    }
}

/// Puts the state into a store of its own, not into that of the strategy, which then holds only the states that are gone
/// on from: new, or to be skipped if it is there already. The store may be one that does not keep states, or one for the
/// states of an original space (see [`StoreThrough`](crate::transform::StoreThrough)).
#[derive(Clone, Copy, Debug)]
pub struct InsertInto<V>(pub V);

impl<S: StateSpace, St: ExactStore<S::State>, V: Store<S::State>> Action<S, St, Explore> for InsertInto<V> {
    #[inline]
    fn perform(&mut self, visit: &mut Visit<'_, S, St>) -> Explore {
        explore_answer(self.0.insert(visit.state()))
    }
}

/// Puts the representative of the state into a store of its own: new, or to be skipped if it is there already. The search
/// goes through the states themselves, so that its paths are runs (symmetric store action, §5.4.2 of the thesis). See
/// [`Quotient`](crate::transform::Quotient) for the other way.
#[derive(Clone, Debug)]
pub struct InsertRepresentative<R, V, B> {
    representative: R,
    store: V,
    out: B,
}

impl<R, V, B: Default> InsertRepresentative<R, V, B> {
    /// Into that store, which is empty, what that function chooses as representatives.
    pub fn new(representative: R, store: V) -> Self {
        InsertRepresentative { representative, store, out: B::default() }
    }

    /// The representatives.
    pub fn store(&self) -> &V {
        &self.store
    }
}

impl<S, St, R, V> Action<S, St, Explore> for InsertRepresentative<R, V, Buffer<S>>
where
    S: StateSpace,
    St: ExactStore<S::State>,
    R: Representative<S>,
    V: Store<S::State>,
{
    fn perform(&mut self, visit: &mut Visit<'_, S, St>) -> Explore {
        self.representative.representative(visit.state(), &mut self.out);
        explore_answer(self.store.insert(self.out.borrow()))
    }
}

/// Puts the state into the store and sets one of its eight marks: new, or to be skipped if it had that
/// mark already. Several searches can share a store if each has a mark.
#[derive(Clone, Copy, Debug)]
pub struct InsertMarked(pub u8);

impl<S, St> Action<S, St, Explore> for InsertMarked
where
    S: StateSpace,
    St: ExactStore<S::State>,
    St::Side: Marked,
{
    #[inline]
    fn perform(&mut self, visit: &mut Visit<'_, S, St>) -> Explore {
        let Some(handle) = visit.insert().handle() else { return Explore::Interrupt };
        let side = visit.store.side(handle);
        let marks = side.marks() | 1 << self.0;
        if marks == side.marks() {
            return Explore::Skip;
        }
        visit.store.set_side(handle, side.with_marks(marks));
        Explore::New
    }
}

/// Calls a function with the state: to print it, or to count.
#[derive(Clone, Copy, Debug)]
pub struct Call<F>(pub F);

impl<S, St, A, F> Action<S, St, A> for Call<F>
where
    S: StateSpace,
    St: ExactStore<S::State>,
    A: Answer,
    F: FnMut(&S::State),
{
    #[inline]
    fn perform(&mut self, visit: &mut Visit<'_, S, St>) -> A {
        self.0(visit.state());
        A::INDIFFERENT
    }
}

/// Starts a search from the current state, with its own feedback, and has found what was looked for if that has. Its
/// strategy is depth-first, and its store that of the outer search, unless others are given.
///
/// The thesis has an action of its own that sets the seed; here the seed is the root of the inner search.
#[derive(Clone, Debug)]
pub struct NestedSearch<F, T, Y = DepthFirst, K = SharedStore> {
    strategy: Y,
    store: K,
    feedback: F,
    found: Option<Path<T>>,
}

/// The inner search uses the store of the outer one: see [`InsertMarked`].
#[derive(Clone, Copy, Debug, Default)]
pub struct SharedStore;

/// The inner search has a store of its own, which stays as it is between searches.
#[derive(Clone, Debug)]
pub struct OwnStore<V>(pub V);

impl<F, T> NestedSearch<F, T> {
    /// A depth-first search with that feedback.
    pub fn new(feedback: F) -> Self {
        NestedSearch { strategy: DepthFirst::default(), store: SharedStore, feedback, found: None }
    }
}

impl<F, T, Y, K> NestedSearch<F, T, Y, K> {
    /// The same search with another strategy.
    pub fn with_strategy<Z>(self, strategy: Z) -> NestedSearch<F, T, Z, K> {
        NestedSearch { strategy, store: self.store, feedback: self.feedback, found: self.found }
    }

    /// The same search with a store of its own.
    pub fn with_store<V>(self, store: V) -> NestedSearch<F, T, Y, OwnStore<V>> {
        NestedSearch { strategy: self.strategy, store: OwnStore(store), feedback: self.feedback, found: self.found }
    }

    /// The path of the inner search, from the seed to its goal.
    pub fn found(&self) -> Option<&Path<T>> {
        self.found.as_ref()
    }

    /// The feedback of the inner search.
    pub fn feedback(&self) -> &F {
        &self.feedback
    }

    fn answer<A: Answer>(&mut self, result: SearchResult<T>) -> A {
        match result {
            SearchResult::Goal(path) => {
                self.found = Some(path);
                A::GOAL
            }
            SearchResult::Exhausted => A::INDIFFERENT,
            SearchResult::Interrupted => A::INTERRUPT,
        }
    }
}

impl<F, T, Y, V> NestedSearch<F, T, Y, OwnStore<V>> {
    /// The store of the inner search.
    pub fn store(&self) -> &V {
        &self.store.0
    }
}

impl<S, St, A, F, Y> Action<S, St, A> for NestedSearch<F, S::Transition, Y>
where
    S: StateSpace,
    St: ExactStore<S::State>,
    A: Answer,
    Y: for<'a> Strategy<Reroot<&'a mut S>, St, F>,
{
    fn perform(&mut self, visit: &mut Visit<'_, S, St>) -> A {
        let seed = visit.state().to_owned();
        let mut space = Reroot::new(&mut *visit.space, seed);
        let result = self.strategy.search(&mut space, visit.store, &mut self.feedback);
        self.answer(result)
    }
}

impl<S, St, A, F, Y, V> Action<S, St, A> for NestedSearch<F, S::Transition, Y, OwnStore<V>>
where
    S: StateSpace,
    St: ExactStore<S::State>,
    A: Answer,
    Y: for<'a> Strategy<Reroot<&'a mut S>, V, F>,
{
    fn perform(&mut self, visit: &mut Visit<'_, S, St>) -> A {
        let seed = visit.state().to_owned();
        let mut space = Reroot::new(&mut *visit.space, seed);
        let result = self.strategy.search(&mut space, &mut self.store.0, &mut self.feedback);
        self.answer(result)
    }
}
