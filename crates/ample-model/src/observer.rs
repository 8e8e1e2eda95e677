//! Observers: how long work tells what it is doing.

use ample_budget::Budget;

use crate::outcome::Reason;

/// A moment of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Distinct states so far.
    pub states: u64,
    /// Transitions so far.
    pub transitions: u64,
    /// The depth reached.
    pub depth: u64,
    /// States found but not yet expanded.
    pub pending: u64,
    /// Bytes held by the store.
    pub memory: u64,
    /// Nodes of decision diagrams.
    pub nodes: u64,
}

/// Told now and then how a search goes; may end it.
pub trait Observer {
    /// Called every few thousand states. `Some(reason)` ends the search with "unknown, because reason".
    fn progress(&mut self, progress: &Progress) -> Option<Reason>;
}

/// Watches nothing and never interferes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    fn progress(&mut self, _: &Progress) -> Option<Reason> {
        None
    }
}

/// A budget watches nothing, and ends a search when it is exhausted.
impl Observer for Budget {
    fn progress(&mut self, _: &Progress) -> Option<Reason> {
        self.check().err().map(Reason::from)
    }
}
