//! Violations near the initial state, looked for beside a long depth-first search.
//!
//! A reduced search goes depth first, and in a large model it may be far away for a long time from what breadth-first
//! search finds soon. So when it has become long, a breadth-first search of limited size is performed beside it, in a
//! thread of its own. The long one is not started again: it goes on meanwhile, and ends when everything that is asked is
//! found to be violated.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use ample_model::{Budget, Cancellation};

use super::options::{Options, Search};
use super::partial::Attempt;
use super::subject::Subject;
use super::{Patience, Request, Run, WIDE, run_plain};

/// Performs a depth-first search, and a breadth-first one beside it when it has become long. What the breadth-first one has
/// found, if it was performed.
pub fn beside(
    system: &Subject<'_>,
    request: &Request,
    options: &Options,
    budget: &Budget,
    deep: impl FnOnce(&Budget) -> Attempt,
) -> (Attempt, Option<Run>) {
    let signal = Arc::new(Signal::default());
    let watched = {
        let signal = Arc::clone(&signal);
        budget.until(move |progress| progress.states > WIDE && signal.is_decided_when_long())
    };
    let ended = Cancellation::new();
    thread::scope(|scope| {
        let near = scope.spawn(|| {
            if !signal.wait() {
                return None;
            }
            let patience = Patience::of(&budget.clone().with_cancellation(&ended));
            let run = run_plain(system, request, &options.searching(Search::BreadthFirst), &patience.budget);
            if run.violates_all(request) {
                signal.set(Phase::Decided);
            }
            Some(run)
        });
        let attempt = deep(&watched.0);
        signal.set(Phase::Ended);
        ended.cancel();
        (attempt, near.join().unwrap_or_default())
    })
}

/// How far the depth-first search is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Short,
    Long,
    /// The other search has found everything.
    Decided,
    Ended,
}

#[derive(Debug, Default)]
struct Signal {
    phase: Mutex<Phase>,
    changed: Condvar,
}

impl Signal {
    fn lock(&self) -> MutexGuard<'_, Phase> {
        self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, phase: Phase) {
        *self.lock() = phase;
        self.changed.notify_all();
    }

    /// The depth-first search is long: whether everything is decided.
    fn is_decided_when_long(&self) -> bool {
        let mut phase = self.lock();
        if *phase == Phase::Short {
            *phase = Phase::Long;
            self.changed.notify_all();
        }
        *phase == Phase::Decided
    }

    /// Waits until the depth-first search is long; false if it ends before.
    fn wait(&self) -> bool {
        let mut phase = self.lock();
        while *phase == Phase::Short {
            phase = self.changed.wait(phase).unwrap_or_else(PoisonError::into_inner);
        }
        *phase == Phase::Long
    }
}
