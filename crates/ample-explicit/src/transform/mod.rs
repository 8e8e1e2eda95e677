//! Transformations: state spaces made from other state spaces.
//!
//! Each holds what it transforms and is a [`StateSpace`] itself, so that transformations stack and every
//! search runs on them. [`Reroot`] starts elsewhere, [`Bounded`] counts steps and stops, [`Product`] runs
//! two spaces in parallel, [`Quotient`] has one state for all symmetric ones, [`Persistent`] leaves transitions out. A
//! [`Projection`] leads back from the transformed states and transitions to the original ones, and with it [`Through`]
//! takes what was written for the original to the transformed space: an observer, a strategy of simulation, a predicate
//! or an effect, and with [`StoreThrough`] a store.

mod bounded;
mod persistent;
mod product;
mod projection;
mod quotient;
mod reroot;

pub use bounded::{Bounded, Original};
pub use persistent::Persistent;
pub use product::{Coupling, Interleaved, Labelled, Left, Move, Product, Right, Synchronised};
pub use projection::{Projection, StoreThrough, Through};
pub use quotient::{Orbit, Quotient, Representative};
pub use reroot::Reroot;

use crate::space::{Buffer, Checked, Culprit, StateSpace};

/// A borrowed state space is one: a transformation may hold it for a while and give it back.
impl<S: StateSpace> StateSpace for &mut S {
    type State = S::State;
    type Transition = S::Transition;

    #[inline]
    fn initial(&mut self, index: usize, out: &mut Buffer<S>) -> bool {
        (**self).initial(index, out)
    }

    #[inline]
    fn first(&mut self, state: &S::State) -> Option<S::Transition> {
        (**self).first(state)
    }

    #[inline]
    fn next(&mut self, state: &S::State, transition: &S::Transition) -> Option<S::Transition> {
        (**self).next(state, transition)
    }

    #[inline]
    fn target(&mut self, state: &S::State, transition: &S::Transition, out: &mut Buffer<S>) {
        (**self).target(state, transition, out);
    }
}

impl<S: Checked> Checked for &mut S {
    #[inline]
    fn is_valid_end(&mut self, state: &S::State) -> bool {
        (**self).is_valid_end(state)
    }

    fn violation(&self) -> Option<String> {
        (**self).violation()
    }

    #[inline]
    fn is_dead(&self) -> bool {
        (**self).is_dead()
    }

    fn culprit(&self) -> Option<Culprit> {
        (**self).culprit()
    }

    fn stopped(&mut self, state: &S::State, transition: &S::Transition, out: &mut Buffer<S>) {
        (**self).stopped(state, transition, out);
    }

    #[inline]
    fn is_transient(&self, state: &S::State) -> bool {
        (**self).is_transient(state)
    }

    #[inline]
    fn atomic_steps(&self) -> u32 {
        (**self).atomic_steps()
    }

    #[inline]
    fn invariant(&mut self, number: usize, state: &S::State) -> bool {
        (**self).invariant(number, state)
    }

    fn rest(&mut self, state: &S::State, last: &S::Transition) -> Option<S::Transition> {
        (**self).rest(state, last)
    }

    fn put_off(&mut self, may: bool) {
        (**self).put_off(may);
    }
}
