//! A look ahead into an atomic sequence: may it end in a state that is asked for?
//!
//! The steps inside an atomic sequence belong to the transition that began it. So it is in the state where it began that
//! a proviso has to hold, and what counts is where the sequence ends, not the states on the way. One that always ends in
//! a fault, or never ends, does not lead anywhere.

use std::borrow::Borrow;

use rapidhash::RapidHashSet;

use crate::space::{Buffer, Checked};
use crate::store::ExactStore;

/// Memory for looking ahead.
pub(super) struct Ahead<S: Checked> {
    /// The states inside the sequence that were met so far: the first `len` of these.
    met: Vec<Buffer<S>>,
    len: usize,
    hashes: RapidHashSet<u64>,
}

impl<S: Checked> Ahead<S>
where
    Buffer<S>: Default,
{
    pub(super) fn new() -> Self {
        Ahead { met: Vec::new(), len: 0, hashes: RapidHashSet::default() }
    }

    /// Can a sequence that has come to this transient state, and goes on through such that are `passed`, end in a state
    /// that `is_asked` for?
    pub(super) fn ends_in<St: ExactStore<S::State>>(
        &mut self,
        space: &mut S,
        store: &St,
        state: &S::State,
        passed: impl Fn(&S::State) -> bool,
        is_asked: impl Fn(&S::State) -> bool,
    ) -> bool {
        self.len = 0;
        self.hashes.clear();
        if passed(state) {
            self.meet(store, state);
        }
        let mut out = Buffer::<S>::default();
        let mut next = 0;
        while next < self.len {
            let mut cursor = space.first(self.met[next].borrow());
            while let Some(transition) = cursor {
                space.target(self.met[next].borrow(), &transition, &mut out);
                if !space.is_dead() {
                    match space.is_transient(out.borrow()) {
                        true if passed(out.borrow()) => self.meet(store, out.borrow()),
                        false if is_asked(out.borrow()) => return true,
                        _ => {}
                    }
                }
                cursor = space.next(self.met[next].borrow(), &transition);
            }
            next += 1;
        }
        false
    }

    /// Adds a state to those to be looked at, unless it is there, or one with the same hash: who sees less ahead takes
    /// more transitions.
    fn meet<St: ExactStore<S::State>>(&mut self, store: &St, state: &S::State) {
        if !self.hashes.insert(store.hash(state)) {
            return;
        }
        match self.met.get_mut(self.len) {
            Some(place) => state.clone_into(place),
            None => self.met.push(state.to_owned()),
        }
        self.len += 1;
    }
}
