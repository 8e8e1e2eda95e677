//! Observers: how long work tells what it is doing.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use ample_budget::{Budget, Cancellation};

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

/// How often an observer is asked about work that does not ask it.
const ASK_EVERY: Duration = Duration::from_millis(10);

/// Does work that asks a budget in a thread of its own, and asks the observer meanwhile: if that wants the work to end,
/// its budget is cancelled. Returns when the work has ended; `None` if it has failed.
///
/// ```
/// use ample_model::observer::{Silent, ask_meanwhile};
///
/// let sum = ask_meanwhile(&mut Silent, |_| (1..=10).sum::<u32>());
/// assert_eq!(sum, Ok(Some(55)));
/// ```
pub fn ask_meanwhile<T: Send>(
    observer: &mut dyn Observer,
    work: impl FnOnce(&Budget) -> T + Send,
) -> Result<Option<T>, Reason> {
    let cancellation = Cancellation::new();
    let budget = Budget::unlimited().with_cancellation(&cancellation);
    let (done, result) = mpsc::channel();
    let mut ended = None;
    let made = std::thread::scope(|scope| {
        let worker = scope.spawn(move || {
            // Somebody waits for it as long as the scope lasts.
            let _ = done.send(work(&budget));
        });
        let made = loop {
            match result.recv_timeout(ASK_EVERY) {
                Ok(made) => break Some(made),
                Err(RecvTimeoutError::Timeout) if ended.is_none() => {
                    ended = observer.progress(&Progress::default());
                    if ended.is_some() {
                        cancellation.cancel();
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break None,
            }
        };
        // A worker that has failed is no reason to fail.
        let _ = worker.join();
        made
    });
    match ended {
        Some(reason) => Err(reason),
        None => Ok(made),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ends everything at once.
    struct Impatient;

    impl Observer for Impatient {
        fn progress(&mut self, _: &Progress) -> Option<Reason> {
            Some(Reason::Time)
        }
    }

    #[test]
    fn work_is_cancelled_when_the_observer_ends_it() {
        let endless = |budget: &Budget| {
            while budget.check().is_ok() {
                std::thread::sleep(Duration::from_millis(1));
            }
        };
        assert_eq!(ask_meanwhile(&mut Impatient, endless), Err(Reason::Time));
    }

    #[test]
    fn work_that_fails_has_no_result() {
        assert_eq!(ask_meanwhile(&mut Silent, |_| -> u32 { panic!("as it should") }), Ok(None));
    }
}
