//! The same state space, up to a number of steps.

use std::borrow::Borrow;

use super::Projection;
use crate::space::{Buffer, StateSpace};

/// A state space that ends after a number of steps: its states are those of the original together with
/// the number of steps that led to them.
///
/// A state that is reached in different numbers of steps is so many states here, as a question about
/// steps wants it. To cut a search short without that, give the strategy a `max_depth`.
pub struct Bounded<S> {
    space: S,
    bound: u32,
}

impl<S: StateSpace> Bounded<S> {
    /// The space with at most `bound` steps.
    pub fn new(space: S, bound: u32) -> Self {
        Bounded { space, bound }
    }

    /// The original space.
    pub fn into_inner(self) -> S {
        self.space
    }
}

impl<S: StateSpace> StateSpace for Bounded<S>
where
    Buffer<S>: Clone,
{
    type State = (Buffer<S>, u32);
    type Transition = S::Transition;

    fn initial(&mut self, index: usize, out: &mut (Buffer<S>, u32)) -> bool {
        out.1 = 0;
        self.space.initial(index, &mut out.0)
    }

    #[inline]
    fn first(&mut self, (state, steps): &(Buffer<S>, u32)) -> Option<S::Transition> {
        if *steps < self.bound { self.space.first(state.borrow()) } else { None }
    }

    #[inline]
    fn next(&mut self, (state, _): &(Buffer<S>, u32), transition: &S::Transition) -> Option<S::Transition> {
        self.space.next(state.borrow(), transition)
    }

    #[inline]
    fn target(&mut self, (state, steps): &(Buffer<S>, u32), transition: &S::Transition, out: &mut (Buffer<S>, u32)) {
        out.1 = steps + 1;
        self.space.target(state.borrow(), transition, &mut out.0);
    }
}

/// From a bounded space back to the original.
#[derive(Clone, Copy, Debug)]
pub struct Original;

impl<S: StateSpace> Projection<Bounded<S>, S> for Original
where
    Buffer<S>: Clone,
{
    fn state<R>(&self, (state, _): &(Buffer<S>, u32), then: impl FnOnce(&S::State) -> R) -> R {
        then(state.borrow())
    }

    fn transition(&self, transition: &S::Transition) -> Option<S::Transition> {
        Some(*transition)
    }
}
