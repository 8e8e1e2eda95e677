//! No native code: the evaluator does everything.

use std::sync::Arc;

use super::program::Program;
use super::state_layout::{Frame, StateLayout};
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

/// There is none, and will be none.
#[derive(Debug, Default)]
pub(super) struct SharedCode;

impl SharedCode {
    /// The code, if it is there.
    pub(super) fn get(&self) -> Option<&Arc<NativeCode>> {
        None
    }

    /// There is none, and will be none.
    pub(super) fn is_vain(&self) -> bool {
        true
    }

    /// Nothing to do.
    pub(super) fn begin(self: &Arc<Self>, _: &Arc<Program>) {}

    /// Nothing to do.
    #[cfg(test)]
    pub(super) fn complete(&self, _: &Program) {}
}
