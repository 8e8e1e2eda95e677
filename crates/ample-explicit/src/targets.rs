//! Targets of transitions that a state space finds together.
//!
//! A search that takes all transitions of a state, and whose states are bytes, can have the targets of all of them in one
//! buffer ([`StateSpace::targets`](crate::space::StateSpace::targets)): nothing is copied to and fro for a single one, and the
//! memory is asked for many places in the store at a time.

use std::ops::Range;

use crate::store::Handle;

/// A state that a transition leads to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target<T> {
    /// The state that it comes from.
    pub(crate) source: Handle,
    /// The transition.
    pub(crate) transition: T,
    /// What a store says of the state, for [`insert_announced`](crate::store::Store::insert_announced).
    pub(crate) hash: u64,
    start: u32,
    length: u32,
    /// Steps of an atomic sequence that were passed over.
    pub(crate) atomic_steps: u32,
    /// The state is only passed through.
    pub(crate) is_transient: bool,
}

impl<T> Target<T> {
    /// Where its bytes are.
    #[inline(always)]
    pub(crate) fn bytes(&self) -> Range<usize> {
        self.start as usize..self.start as usize + self.length as usize
    }
}

/// Targets, one after the other.
#[derive(Debug)]
pub struct Targets<T> {
    pub(crate) source: Option<Handle>,
    pub(crate) states: Vec<Target<T>>,
    pub(crate) bytes: Vec<u8>,
    /// Transitions whose targets are still to be found.
    pub(crate) rest: Vec<T>,
}

impl<T> Default for Targets<T> {
    fn default() -> Targets<T> {
        Targets { source: None, states: Vec::new(), bytes: Vec::new(), rest: Vec::new() }
    }
}

impl<T: Copy> Targets<T> {
    /// Adds a transition with its target, which `write` appends to the bytes. No fault, and no violated assertion, is on the
    /// way.
    #[inline(always)]
    pub fn push(&mut self, transition: T, atomic_steps: u32, write: impl FnOnce(&mut Vec<u8>) -> bool) {
        let Some(source) = self.source else { return self.rest.push(transition) };
        let start = self.bytes.len();
        let is_transient = write(&mut self.bytes);
        let length = (self.bytes.len() - start) as u32;
        let start = start as u32;
        self.states.push(Target { source, transition, hash: 0, start, length, atomic_steps, is_transient });
    }

    /// Adds a transition whose target is to be found in another way.
    #[inline]
    pub fn push_without_target(&mut self, transition: T) {
        self.rest.push(transition);
    }

    /// Takes out all, and gets ready for the targets of transitions out of a state.
    pub fn begin(&mut self, source: Handle) {
        self.source = Some(source);
        self.clear();
        self.rest.clear();
    }

    /// The targets that were found: the bytes of each, how many steps of an atomic sequence were passed over, and whether the
    /// state is only passed through.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], u32, bool)> {
        let state = |target: &Target<T>| &self.bytes[target.bytes()];
        self.states.iter().map(move |target| (state(target), target.atomic_steps, target.is_transient))
    }

    /// The transitions whose targets are to be found in another way.
    pub fn without_target(&self) -> &[T] {
        &self.rest
    }

    /// Takes out all.
    pub(crate) fn clear(&mut self) {
        self.states.clear();
        self.bytes.clear();
    }
}
