//! A short search in another order beside a long one.
//!
//! A reduced search goes depth first, and in a large model it may be far away for a long time from what breadth-first search
//! finds soon; a breadth-first search may take long to come to what lies deep, and depth-first search finds soon. So when a
//! search has become long, one of limited size in the other order is performed beside it, in a thread of its own. The long one
//! is not started again: it goes on meanwhile, and ends when everything that is asked is found to be violated.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use ample_model::{Budget, Cancellation};

use super::{Patience, Request, Run, WIDE};

/// Performs a search, and a short one beside it when it has become long. What the short one has found, if it was performed.
pub fn beside<T>(
    request: &Request,
    budget: &Budget,
    long: impl FnOnce(&Budget) -> T,
    short: impl FnOnce(&Budget) -> Run + Send,
) -> (T, Option<Run>) {
    let signal = Arc::new(Signal::default());
    let watched = {
        let signal = Arc::clone(&signal);
        budget.until(move |progress| progress.states > WIDE && signal.is_decided_when_long())
    };
    let ended = Cancellation::new();
    thread::scope(|scope| {
        let beside = || {
            if !signal.wait() {
                return None;
            }
            let _core = budget.occupy_core();
            let patience = Patience::of(&budget.clone().with_cancellation(&ended).without_sinks());
            let run = short(&patience.budget);
            if run.violates_all(request) {
                signal.set(Phase::Decided);
            }
            Some(run)
        };
        // Where there cannot be another thread, the long search is alone.
        let near = thread::Builder::new().name("beside".into()).spawn_scoped(scope, beside).ok();
        let done = long(&watched.0);
        signal.set(Phase::Ended);
        ended.cancel();
        (done, near.and_then(|near| near.join().unwrap_or_default()))
    })
}

/// How far the long search is.
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

    /// The search is long: whether everything is decided.
    fn is_decided_when_long(&self) -> bool {
        let mut phase = self.lock();
        if *phase == Phase::Short {
            *phase = Phase::Long;
            self.changed.notify_all();
        }
        *phase == Phase::Decided
    }

    /// Waits until the search is long; false if it ends before.
    fn wait(&self) -> bool {
        let mut phase = self.lock();
        while *phase == Phase::Short {
            phase = self.changed.wait(phase).unwrap_or_else(PoisonError::into_inner);
        }
        *phase == Phase::Long
    }
}
