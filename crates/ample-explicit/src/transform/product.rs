//! Two state spaces in parallel.
//!
//! A state of the product is a pair of states. How its parts move is a [`Coupling`]: each on its own
//! ([`Interleaved`]), or with the transitions that carry a shared label taken by both at once
//! ([`Synchronised`]). Products of more than two are products of products.

use std::borrow::Borrow;

use super::Projection;
use crate::space::{Buffer, StateSpace, initial_count};

/// A state space whose transitions carry labels: an additional interface.
pub trait Labelled: StateSpace {
    /// A label.
    type Label: PartialEq;

    /// The label of a transition out of a state.
    fn label(&self, state: &Self::State, transition: &Self::Transition) -> Self::Label;
}

/// A move of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Move<A, B> {
    /// Of the left part alone.
    Left(A),
    /// Of the right part alone.
    Right(B),
    /// Of both together.
    Both(A, B),
}

/// Which moves the parts of a product may make.
pub trait Coupling<A: StateSpace, B: StateSpace> {
    /// May the parts move together at all?
    const TOGETHER: bool;

    /// May the left part take this transition alone?
    fn left_alone(&self, space: &A, state: &A::State, transition: &A::Transition) -> bool;

    /// May the right part take this transition alone?
    fn right_alone(&self, space: &B, state: &B::State, transition: &B::Transition) -> bool;

    /// May they take these transitions together?
    fn run_workers(&self, left: (&A, &A::State, &A::Transition), right: (&B, &B::State, &B::Transition)) -> bool;
}

/// Each part moves on its own.
#[derive(Clone, Copy, Debug, Default)]
pub struct Interleaved;

impl<A: StateSpace, B: StateSpace> Coupling<A, B> for Interleaved {
    const TOGETHER: bool = false;

    fn left_alone(&self, _: &A, _: &A::State, _: &A::Transition) -> bool {
        true
    }

    fn right_alone(&self, _: &B, _: &B::State, _: &B::Transition) -> bool {
        true
    }

    fn run_workers(&self, _: (&A, &A::State, &A::Transition), _: (&B, &B::State, &B::Transition)) -> bool {
        false
    }
}

/// Transitions with a shared label are taken by both parts at once, the others by one. The function says
/// which labels are shared.
#[derive(Clone, Copy, Debug)]
pub struct Synchronised<F>(pub F);

impl<L, A, B, F> Coupling<A, B> for Synchronised<F>
where
    L: PartialEq,
    A: Labelled<Label = L>,
    B: Labelled<Label = L>,
    F: Fn(&L) -> bool,
{
    const TOGETHER: bool = true;

    fn left_alone(&self, space: &A, state: &A::State, transition: &A::Transition) -> bool {
        !(self.0)(&space.label(state, transition))
    }

    fn right_alone(&self, space: &B, state: &B::State, transition: &B::Transition) -> bool {
        !(self.0)(&space.label(state, transition))
    }

    fn run_workers(&self, left: (&A, &A::State, &A::Transition), right: (&B, &B::State, &B::Transition)) -> bool {
        let label = left.0.label(left.1, left.2);
        (self.0)(&label) && label == right.0.label(right.1, right.2)
    }
}

/// The product of two state spaces.
///
/// ```
/// use ample_explicit::search::breadth_first;
/// use ample_explicit::search::handlers::{Always, Handlers, Insert};
/// use ample_explicit::space::StateSpace;
/// use ample_explicit::store::{HashStore, Parent, Store};
/// use ample_explicit::transform::{Labelled, Product};
///
/// /// Goes round in so many steps; the last of them is called a beat.
/// struct Clock(u8);
///
/// impl StateSpace for Clock {
///     type State = u8;
///     type Transition = ();
///     fn initial(&mut self, index: usize, out: &mut u8) -> bool {
///         *out = 0;
///         index == 0
///     }
///     fn first(&mut self, _: &u8) -> Option<()> {
///         Some(())
///     }
///     fn next(&mut self, _: &u8, _: &()) -> Option<()> {
///         None
///     }
///     fn target(&mut self, state: &u8, _: &(), out: &mut u8) {
///         *out = (state + 1) % self.0;
///     }
/// }
///
/// impl Labelled for Clock {
///     type Label = &'static str;
///     fn label(&self, state: &u8, _: &()) -> &'static str {
///         if state + 1 == self.0 { "beat" } else { "tick" }
///     }
/// }
///
/// fn states(mut space: impl StateSpace<State = (u8, u8)>) -> usize {
///     let mut store: HashStore<(u8, u8), Parent> = HashStore::default();
///     breadth_first(&mut space, &mut store, &mut Handlers::new().on_explore(Always, Insert));
///     store.len()
/// }
///
/// assert_eq!(states(Product::interleaved(Clock(3), Clock(4))), 12);
/// // All steps together: both clocks beat only when both are at their ends.
/// assert_eq!(states(Product::synchronised(Clock(3), Clock(4), |_: &&str| true)), 3);
/// assert_eq!(states(Product::synchronised(Clock(3), Clock(4), |label: &&str| *label == "beat")), 12);
/// ```
pub struct Product<A, B, C = Interleaved> {
    left: A,
    right: B,
    coupling: C,
}

impl<A: StateSpace, B: StateSpace> Product<A, B> {
    /// Both on their own.
    pub fn interleaved(left: A, right: B) -> Self {
        Product { left, right, coupling: Interleaved }
    }
}

impl<A: Labelled, B: Labelled<Label = A::Label>, F: Fn(&A::Label) -> bool> Product<A, B, Synchronised<F>> {
    /// Together on the labels that `shared` says.
    pub fn synchronised(left: A, right: B, shared: F) -> Self {
        Product { left, right, coupling: Synchronised(shared) }
    }
}

impl<A: StateSpace, B: StateSpace, C: Coupling<A, B>> Product<A, B, C> {
    /// The first move in the order left, both, right at or after the given cursors.
    fn left_from(
        &mut self,
        state: &(Buffer<A>, Buffer<B>),
        mut cursor: Option<A::Transition>,
    ) -> Option<Move<A::Transition, B::Transition>> {
        let left = state.0.borrow();
        while let Some(transition) = cursor {
            if self.coupling.left_alone(&self.left, left, &transition) {
                return Some(Move::Left(transition));
            }
            cursor = self.left.next(left, &transition);
        }
        let first = if C::TOGETHER { self.left.first(left) } else { None };
        self.both_from(state, first, None)
    }

    /// `after` is the right transition that was paired with `cursor` last.
    fn both_from(
        &mut self,
        state: &(Buffer<A>, Buffer<B>),
        mut cursor: Option<A::Transition>,
        mut after: Option<B::Transition>,
    ) -> Option<Move<A::Transition, B::Transition>> {
        let (left, right) = (state.0.borrow(), state.1.borrow());
        while let Some(a) = cursor {
            let mut partner = match after.take() {
                Some(b) => self.right.next(right, &b),
                None => self.right.first(right),
            };
            while let Some(b) = partner {
                if self.coupling.run_workers((&self.left, left, &a), (&self.right, right, &b)) {
                    return Some(Move::Both(a, b));
                }
                partner = self.right.next(right, &b);
            }
            cursor = self.left.next(left, &a);
        }
        let first = self.right.first(right);
        self.right_from(right, first)
    }

    fn right_from(
        &mut self,
        right: &B::State,
        mut cursor: Option<B::Transition>,
    ) -> Option<Move<A::Transition, B::Transition>> {
        while let Some(transition) = cursor {
            if self.coupling.right_alone(&self.right, right, &transition) {
                return Some(Move::Right(transition));
            }
            cursor = self.right.next(right, &transition);
        }
        None
    }
}

impl<A, B, C> StateSpace for Product<A, B, C>
where
    A: StateSpace,
    B: StateSpace,
    C: Coupling<A, B>,
    Buffer<A>: Clone,
    Buffer<B>: Clone,
{
    type State = (Buffer<A>, Buffer<B>);
    type Transition = Move<A::Transition, B::Transition>;

    /// Every initial state of the left with every one of the right.
    fn initial(&mut self, index: usize, out: &mut (Buffer<A>, Buffer<B>)) -> bool {
        let rights = initial_count(&mut self.right, index.saturating_add(1), &mut out.1);
        if rights == 0 {
            return false;
        }
        self.left.initial(index / rights, &mut out.0) && self.right.initial(index % rights, &mut out.1)
    }

    fn first(&mut self, state: &(Buffer<A>, Buffer<B>)) -> Option<Self::Transition> {
        let first = self.left.first(state.0.borrow());
        self.left_from(state, first)
    }

    fn next(&mut self, state: &(Buffer<A>, Buffer<B>), transition: &Self::Transition) -> Option<Self::Transition> {
        match transition {
            Move::Left(a) => {
                let next = self.left.next(state.0.borrow(), a);
                self.left_from(state, next)
            }
            Move::Both(a, b) => self.both_from(state, Some(*a), Some(*b)),
            Move::Right(b) => {
                let next = self.right.next(state.1.borrow(), b);
                self.right_from(state.1.borrow(), next)
            }
        }
    }

    fn target(
        &mut self,
        state: &(Buffer<A>, Buffer<B>),
        transition: &Self::Transition,
        out: &mut (Buffer<A>, Buffer<B>),
    ) {
        match transition {
            Move::Left(a) => {
                self.left.target(state.0.borrow(), a, &mut out.0);
                out.1.clone_from(&state.1);
            }
            Move::Right(b) => {
                out.0.clone_from(&state.0);
                self.right.target(state.1.borrow(), b, &mut out.1);
            }
            Move::Both(a, b) => {
                self.left.target(state.0.borrow(), a, &mut out.0);
                self.right.target(state.1.borrow(), b, &mut out.1);
            }
        }
    }
}

/// From a product to its left part.
#[derive(Clone, Copy, Debug)]
pub struct Left;

impl<A, B, C> Projection<Product<A, B, C>, A> for Left
where
    A: StateSpace,
    B: StateSpace,
    C: Coupling<A, B>,
    Buffer<A>: Clone,
    Buffer<B>: Clone,
{
    fn state<R>(&self, state: &(Buffer<A>, Buffer<B>), then: impl FnOnce(&A::State) -> R) -> R {
        then(state.0.borrow())
    }

    fn transition(&self, transition: &Move<A::Transition, B::Transition>) -> Option<A::Transition> {
        match transition {
            Move::Left(a) | Move::Both(a, _) => Some(*a),
            Move::Right(_) => None,
        }
    }
}

/// From a product to its right part.
#[derive(Clone, Copy, Debug)]
pub struct Right;

impl<A, B, C> Projection<Product<A, B, C>, B> for Right
where
    A: StateSpace,
    B: StateSpace,
    C: Coupling<A, B>,
    Buffer<A>: Clone,
    Buffer<B>: Clone,
{
    fn state<R>(&self, state: &(Buffer<A>, Buffer<B>), then: impl FnOnce(&B::State) -> R) -> R {
        then(state.1.borrow())
    }

    fn transition(&self, transition: &Move<A::Transition, B::Transition>) -> Option<B::Transition> {
        match transition {
            Move::Right(b) | Move::Both(_, b) => Some(*b),
            Move::Left(_) => None,
        }
    }
}
