//! A run that is stopped by a fault stays where it is.

use std::borrow::Borrow;
use std::collections::BTreeMap;

use super::Tagged;
use crate::space::{Buffer, Checked, Culprit, StateSpace};

/// The run goes on.
const RUNNING: u32 = 0;
/// It has been stopped.
const STOPPED: u32 = 1;

/// A state space in which a transition that ends in a fault leads to a state: the one in which the run has stopped, a
/// copy of the one before the fault, which nothing leads out of.
pub struct Stopping<S: StateSpace> {
    space: S,
    after: Buffer<S>,
    dead: bool,
    stops: Stops,
}

/// The faults that have stopped runs, and what went wrong when each was first met.
pub type Stops = BTreeMap<Option<Culprit>, String>;

/// Remembers which step of the space was a fault just now.
#[cold]
pub(super) fn note_stop<S: Checked>(space: &S, stops: &mut Stops) {
    stops.entry(space.culprit()).or_insert_with(|| space.violation().unwrap_or_default());
}

impl<S: StateSpace> Stopping<S>
where
    Buffer<S>: Default,
{
    /// The space, with states for the runs that were stopped.
    pub fn new(space: S) -> Self {
        Stopping { space, after: Buffer::<S>::default(), dead: false, stops: Stops::default() }
    }

    /// The faults that have stopped runs.
    pub fn stops(&self) -> &Stops {
        &self.stops
    }

    /// The state space.
    pub fn space(&mut self) -> &mut S {
        &mut self.space
    }
}

impl<S> StateSpace for Stopping<S>
where
    S: Checked<State: Tagged>,
    Buffer<S>: Default,
{
    type State = <S::State as Tagged>::With;
    type Transition = S::Transition;

    fn initial(&mut self, index: usize, out: &mut Buffer<Self>) -> bool {
        let there = self.space.initial(index, &mut self.after);
        self.dead = there && self.space.is_dead();
        if self.dead {
            note_stop(&self.space, &mut self.stops);
        }
        if there {
            <S::State>::join(RUNNING, self.after.borrow(), out);
        }
        there
    }

    #[inline]
    fn first(&mut self, state: &Self::State) -> Option<S::Transition> {
        if <S::State>::tag(state) == STOPPED { None } else { self.space.first(<S::State>::plain(state)) }
    }

    #[inline]
    fn next(&mut self, state: &Self::State, transition: &S::Transition) -> Option<S::Transition> {
        self.space.next(<S::State>::plain(state), transition)
    }

    #[inline]
    fn target(&mut self, state: &Self::State, transition: &S::Transition, out: &mut Buffer<Self>) {
        let state = <S::State>::plain(state);
        self.dead = false;
        self.space.target(state, transition, &mut self.after);
        if !self.space.is_dead() {
            return <S::State>::join(RUNNING, self.after.borrow(), out);
        }
        note_stop(&self.space, &mut self.stops);
        self.space.stopped(state, transition, &mut self.after);
        <S::State>::join(STOPPED, self.after.borrow(), out);
    }
}

impl<S> Checked for Stopping<S>
where
    S: Checked<State: Tagged>,
    Buffer<S>: Default,
{
    fn is_valid_end(&mut self, state: &Self::State) -> bool {
        self.space.is_valid_end(<S::State>::plain(state))
    }

    fn violation(&self) -> Option<String> {
        self.space.violation()
    }

    #[inline]
    fn is_dead(&self) -> bool {
        self.dead
    }

    #[inline]
    fn is_transient(&self, state: &Self::State) -> bool {
        <S::State>::tag(state) == RUNNING && self.space.is_transient(<S::State>::plain(state))
    }

    #[inline]
    fn atomic_steps(&self) -> u32 {
        self.space.atomic_steps()
    }

    #[inline]
    fn invariant(&mut self, number: usize, state: &Self::State) -> bool {
        self.space.invariant(number, <S::State>::plain(state))
    }
}
