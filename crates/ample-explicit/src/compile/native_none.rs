//! No native code: the evaluator does everything.

use std::sync::Arc;

use super::executed::Executed;
use super::machine::Machine;
use super::memory::Reading;
use super::program::Program;
use super::state_layout::{Frame, StateLayout, StateLayouts};
use super::successors::Transition;

/// There is none.
#[derive(Debug)]
pub(super) enum NativeCode {}

/// The process whose edges are looked at, in its state.
pub(super) struct Site<'a> {
    /// The state.
    pub(super) state: &'a [u8],
    /// Where everything lies in it.
    pub(super) layout: &'a StateLayout,
    /// The process.
    pub(super) frame: &'a Frame,
    /// Its id.
    pub(super) process: u32,
}

impl NativeCode {
    /// Never called.
    pub(super) fn executable(&self, _: &Site<'_>, _: usize, _: u8, _: &mut Vec<Transition>) -> bool {
        match *self {}
    }

    /// Never called.
    pub(super) fn perform(&self, _: u32, _: &mut [u8], _: &StateLayout, _: &Frame, _: u32) -> bool {
        match *self {}
    }
}

/// What native code would be for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// For searches that take all transitions of a state.
    Lists,
    /// For others.
    Steps,
}

/// There is none, and will be none.
#[derive(Debug, Default)]
pub(super) struct SharedCode;

impl SharedCode {
    /// The code, if it is there.
    pub(super) fn get(&self, _: Part) -> Option<&Arc<NativeCode>> {
        None
    }

    /// There is none, and will be none.
    pub(super) fn is_vain(&self, _: Part) -> bool {
        true
    }

    /// Nothing to do.
    pub(super) fn begin(self: &Arc<Self>, _: &Arc<Program>, _: Part) {}

    /// Nothing to do.
    #[cfg(test)]
    pub(super) fn complete(&self, _: &Program) {}
}

/// The target of a transition that nobody has listed.
pub(super) struct Target<'a> {
    state: &'a [u8],
    /// None.
    pub(super) steps: u32,
}

impl<'a> Target<'a> {
    /// Never called.
    pub(super) fn state(&self) -> &'a [u8] {
        self.state
    }

    /// Never called.
    pub(super) fn padded(&self) -> &'a [u8] {
        self.state
    }
}

/// The successors of a state, which nobody lists.
#[derive(Clone, Debug, Default)]
pub(super) struct Listing;

impl Listing {
    /// There is none.
    pub(super) fn is_ready(&self) -> bool {
        false
    }

    /// Never called.
    pub(super) fn use_code(&mut self, _: Arc<NativeCode>) {}

    /// There is none.
    pub(super) fn target(&mut self, _: &[u8], _: &Transition) -> Option<Target<'_>> {
        None
    }

    /// Nothing to do.
    pub(super) fn clear(&mut self) {}

    /// Nothing to do.
    pub(super) fn rename(&mut self, _: &[u8]) {}

    /// None.
    pub(super) fn transitions(&self) -> impl Iterator<Item = Transition> + '_ {
        std::iter::empty()
    }

    /// None.
    pub(super) fn each(&self, _: impl FnMut(&Transition, Option<Target<'_>>)) {}

    /// Never called.
    pub(super) fn padded(&self) -> &[u8] {
        &[]
    }

    /// Never done.
    pub(super) fn list(
        &mut self,
        _: &mut Machine,
        _: &Program,
        _: &Reading<'_>,
        _: &StateLayouts,
        _: &mut Executed,
        _: u32,
    ) -> bool {
        false
    }
}
