//! Workers: several threads on one piece of work, each with a part of its budget. This is the only place where an engine
//! gets threads from.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use ample_budget::{Budget, Cancellation, Progress};
use ample_model::Reason;

/// Recursion over decision diagrams goes as deep as there are variables.
const DEEP_STACK: usize = 512 << 20;

/// Runs `work` in so many threads, each with its number and a budget of its own, and returns when all are done. What they
/// tell is summed up and told to those who are told by the budget.
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// use ample_budget::Budget;
/// use ample_engine::workers::run_workers;
///
/// let sum = AtomicUsize::new(0);
/// run_workers(4, &Budget::unlimited(), |_, number| {
///     sum.fetch_add(number, Ordering::Relaxed);
/// });
/// assert_eq!(sum.into_inner(), 6);
/// ```
pub fn run_workers(workers: usize, budget: &Budget, work: impl Fn(&Budget, usize) + Sync) {
    let failed = Cancellation::new();
    let sum = Arc::new(Sum { parts: (0..workers).map(|_| Mutex::default()).collect(), budget: budget.clone() });
    let perform = |number: usize| {
        let sum = Arc::clone(&sum);
        let _guard = CancelOnPanic(&failed);
        let part = budget.clone().without_sinks().with_cancellation(&failed);
        work(&part.with_sink(move |progress| sum.note(number, progress)), number);
    };
    thread::scope(|scope| {
        let perform = &perform;
        let others: Vec<_> = (1..workers).map(|number| scope.spawn(move || perform(number))).collect();
        if workers > 0 {
            perform(0);
        }
        for other in others {
            if let Err(panic) = other.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
}

/// Does work whose recursion may go deep, in a thread with a stack for it.
pub fn with_deep_stack<T: Send>(name: &str, work: impl FnOnce() -> T + Send) -> Result<T, Reason> {
    thread::scope(|scope| {
        let builder = thread::Builder::new().name(name.into()).stack_size(DEEP_STACK);
        let worker = builder.spawn_scoped(scope, work);
        let worker =
            worker.map_err(|error| Reason::Unsupported(format!("no thread for the {name} engine: {error}")))?;
        worker.join().map_err(|_| Reason::Internal(format!("the {name} engine has failed")))
    })
}

/// What all workers have come to.
struct Sum {
    parts: Vec<Mutex<Part>>,
    /// Who is told.
    budget: Budget,
}

/// What a worker's earlier searches came to, and how far this one is.
#[derive(Clone, Copy, Default)]
struct Part {
    before: Progress,
    now: Progress,
}

/// A thread that panics leaves numbers behind that are still good to show.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Sum {
    fn note(&self, number: usize, progress: &Progress) {
        lock(&self.parts[number]).note(progress);
        let parts = self.parts.iter().map(|part| *lock(part));
        self.budget.tell(&parts.fold(Progress::default(), |all, part| all.and(part.before).and(part.now)));
    }
}

impl Part {
    fn note(&mut self, progress: &Progress) {
        // Fewer states than last time: another search has begun, and what the last one held is gone.
        if progress.states < self.now.states {
            self.before = self.before.and(Progress { memory: 0, pending: 0, nodes: 0, ..self.now });
        }
        self.now = *progress;
    }
}

/// A worker that panics ends the others.
struct CancelOnPanic<'a>(&'a Cancellation);

impl Drop for CancelOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.cancel();
        }
    }
}

#[cfg(test)]
mod tests {
    use ample_budget::Interrupted;

    use super::*;

    #[test]
    fn the_sum_is_told_and_the_end_reaches_all() {
        let ended = Mutex::new(Vec::new());
        let (budget, enough) = Budget::unlimited().until(|progress| progress.states >= 2_000);
        run_workers(3, &budget, |budget, number| {
            for states in 1.. {
                if let Err(interrupted) = budget.report(&Progress { states, ..Progress::default() }) {
                    ended.lock().unwrap().push((number, interrupted));
                    break;
                }
                thread::yield_now();
            }
        });
        let mut ended = ended.into_inner().unwrap();
        ended.sort_by_key(|(number, _)| *number);
        assert_eq!(ended, [0, 1, 2].map(|number| (number, Interrupted::Cancelled)));
        assert!(enough.is_cancelled());
    }

    #[test]
    fn a_second_search_adds_to_the_first() {
        let mut part = Part::default();
        for states in [10, 20, 5] {
            part.note(&Progress { states, ..Progress::default() });
        }
        assert_eq!(part.before.and(part.now).states, 25);
    }

    #[test]
    fn a_worker_that_fails_ends_the_others() {
        let outcome = std::panic::catch_unwind(|| {
            run_workers(2, &Budget::unlimited(), |budget, number| {
                if number == 1 {
                    panic!("as it should");
                }
                while budget.check().is_ok() {
                    thread::yield_now();
                }
            });
        });
        assert!(outcome.is_err());
    }
}
