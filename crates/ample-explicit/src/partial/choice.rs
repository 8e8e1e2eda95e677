//! Which transitions are taken in a state: a persistent set, and more when that turns out to be too few.

use super::{Labelled, Partial};

/// Scratch memory for the sets that a state space chooses.
#[derive(Default)]
pub(super) struct Choice {
    set: Vec<u32>,
    best: Vec<u32>,
}

impl Choice {
    /// A persistent set.
    pub(super) fn persistent<S: Partial>(
        &mut self,
        space: &mut S,
        state: &S::State,
        enabled: &[Labelled<S::Transition>],
    ) -> &[u32] {
        self.set.clear();
        space.persistent(state, enabled, &mut self.set);
        &self.set
    }

    /// What a persistent set with one of the seeds adds to what has been taken, as little as possible. Nothing if there
    /// is no seed.
    pub(super) fn smallest<S: Partial>(
        &mut self,
        space: &mut S,
        state: &S::State,
        enabled: &[Labelled<S::Transition>],
        is_seed: impl Fn(u32) -> bool,
        is_new: impl Fn(u32) -> bool,
    ) -> &[u32] {
        self.best.clear();
        for seed in (0..enabled.len() as u32).filter(|&position| is_seed(position)) {
            self.set.clear();
            space.persistent_with(state, enabled, seed, &mut self.set);
            self.set.retain(|&position| is_new(position));
            if self.best.is_empty() || self.set.len() < self.best.len() {
                std::mem::swap(&mut self.set, &mut self.best);
            }
            if self.best.len() == 1 {
                break;
            }
        }
        &self.best
    }

    pub(super) fn bytes(&self) -> usize {
        (self.set.capacity() + self.best.capacity()) * size_of::<u32>()
    }
}
