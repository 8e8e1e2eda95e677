//! From the product of a state space and an automaton back to both of them.
//!
//! With [`Through`](crate::transform::Through), observers and conditions that were written for the one or the other run
//! on the product, both at once. For that, an automaton is a state space itself: its transitions are its arcs, whatever
//! is read.

use super::product::{IDLE, Step};
use super::{BuchiAutomaton, Product, Tagged};
use crate::space::{Buffer, Checked, StateSpace};
use crate::transform::Projection;

impl StateSpace for BuchiAutomaton {
    type State = u32;
    /// The position of an arc among those that leave the state.
    type Transition = u32;

    fn initial(&mut self, index: usize, out: &mut u32) -> bool {
        *out = BuchiAutomaton::initial(self);
        index == 0
    }

    fn first(&mut self, state: &u32) -> Option<u32> {
        (!self.place(*state).arcs.is_empty()).then_some(0)
    }

    fn next(&mut self, state: &u32, transition: &u32) -> Option<u32> {
        Some(transition + 1).filter(|next| (*next as usize) < self.place(*state).arcs.len())
    }

    fn target(&mut self, state: &u32, transition: &u32, out: &mut u32) {
        *out = self.place(*state).arcs[*transition as usize].to;
    }
}

/// From a [`Product`] to its state space.
#[derive(Clone, Copy, Debug)]
pub struct SystemPart;

impl<S> Projection<Product<S>, S> for SystemPart
where
    S: Checked<State: Tagged>,
    Buffer<S>: Default,
{
    fn state<R>(&self, state: &<S::State as Tagged>::With, then: impl FnOnce(&S::State) -> R) -> R {
        then(<S::State>::plain(state))
    }

    /// None where a state repeats.
    fn transition(&self, transition: &Step<S::Transition>) -> Option<S::Transition> {
        transition.base
    }
}

/// From a [`Product`] to its automaton.
#[derive(Clone, Copy, Debug)]
pub struct AutomatonPart;

impl<S> Projection<Product<S>, BuchiAutomaton> for AutomatonPart
where
    S: Checked<State: Tagged>,
    Buffer<S>: Default,
{
    fn state<R>(&self, state: &<S::State as Tagged>::With, then: impl FnOnce(&u32) -> R) -> R {
        then(&Product::<S>::automaton_state(state))
    }

    /// None inside an atomic sequence, where the automaton waits.
    fn transition(&self, transition: &Step<S::Transition>) -> Option<u32> {
        (transition.arc != IDLE).then_some(transition.arc)
    }
}
