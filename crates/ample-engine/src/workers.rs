//! Several searches at once, one to a thread, under one observer.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use ample_model::{Observer, Progress, Reason};

/// How often the observer is told.
const TELL_EVERY: Duration = Duration::from_millis(10);

/// Runs `work` in so many threads, each with an observer of its own and its number. What the searches tell is told to
/// `observer`, summed up, by this thread; what it answers is told to all of them.
pub fn run_workers(workers: usize, observer: &mut dyn Observer, work: impl Fn(&mut dyn Observer, usize) + Sync) {
    let supervisor = Supervisor {
        progress: (0..workers).map(|_| Mutex::new((Progress::default(), Progress::default()))).collect(),
        stopped: AtomicBool::new(false),
        reason: Mutex::new(None),
        busy: Mutex::new(workers),
        done: Condvar::new(),
    };
    thread::scope(|scope| {
        let handles: Vec<_> = (0..workers)
            .map(|number| {
                let (supervisor, work) = (&supervisor, &work);
                scope.spawn(move || {
                    let _finish = Finish(supervisor);
                    work(&mut WorkerObserver { supervisor, number }, number);
                })
            })
            .collect();
        supervisor.watch(observer);
        for handle in handles {
            if let Err(panic) = handle.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
}

/// What the threads know of each other.
struct Supervisor {
    /// Of each thread: what its earlier searches came to, and how far this one is.
    progress: Vec<Mutex<(Progress, Progress)>>,
    stopped: AtomicBool,
    reason: Mutex<Option<Reason>>,
    busy: Mutex<usize>,
    done: Condvar,
}

/// A thread that panics leaves numbers behind that are still good to show.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Supervisor {
    /// Tells the observer until nobody is busy any more.
    fn watch(&self, observer: &mut dyn Observer) {
        let mut busy = lock(&self.busy);
        while *busy > 0 {
            let waited = self.done.wait_timeout(busy, TELL_EVERY);
            busy = waited.unwrap_or_else(PoisonError::into_inner).0;
            if self.stopped.load(Ordering::Relaxed) {
                continue;
            }
            if let Some(reason) = observer.progress(&self.sum()) {
                *lock(&self.reason) = Some(reason);
                self.stopped.store(true, Ordering::Release);
            }
        }
    }

    fn sum(&self) -> Progress {
        let parts = self.progress.iter().map(|slot| *lock(slot));
        parts.fold(Progress::default(), |all, (before, now)| add(all, add(before, now)))
    }
}

fn add(a: Progress, b: Progress) -> Progress {
    Progress {
        states: a.states + b.states,
        transitions: a.transitions + b.transitions,
        depth: a.depth.max(b.depth),
        pending: a.pending + b.pending,
        memory: a.memory + b.memory,
        nodes: a.nodes + b.nodes,
    }
}

/// The thread has nothing more to do, or has panicked.
struct Finish<'a>(&'a Supervisor);

impl Drop for Finish<'_> {
    fn drop(&mut self) {
        *lock(&self.0.busy) -= 1;
        self.0.done.notify_all();
    }
}

/// The observer of one thread.
struct WorkerObserver<'a> {
    supervisor: &'a Supervisor,
    number: usize,
}

impl Observer for WorkerObserver<'_> {
    fn progress(&mut self, progress: &Progress) -> Option<Reason> {
        // A replay has nothing to tell.
        if progress.states > 0 {
            let mut slot = lock(&self.supervisor.progress[self.number]);
            let (before, now) = *slot;
            // Fewer states than last time: another search has begun.
            let before = if progress.states < now.states {
                add(before, Progress { memory: 0, pending: 0, ..now })
            } else {
                before
            };
            *slot = (before, *progress);
        }
        if self.supervisor.stopped.load(Ordering::Acquire) { lock(&self.supervisor.reason).clone() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ends everything when all threads together have come to so many states.
    struct Until(u64, u64);

    impl Observer for Until {
        fn progress(&mut self, progress: &Progress) -> Option<Reason> {
            self.1 = self.1.max(progress.states);
            (progress.states >= self.0).then_some(Reason::Interrupted)
        }
    }

    #[test]
    fn the_sum_is_told_and_the_answer_reaches_all() {
        let ended = Mutex::new(Vec::new());
        let mut observer = Until(2_000, 0);
        run_workers(3, &mut observer, |observer, number| {
            for states in 1.. {
                if let Some(reason) = observer.progress(&Progress { states, ..Progress::default() }) {
                    ended.lock().unwrap().push((number, reason));
                    break;
                }
                std::thread::yield_now();
            }
        });
        let mut ended = ended.into_inner().unwrap();
        ended.sort_by_key(|(number, _)| *number);
        assert_eq!(ended, [0, 1, 2].map(|number| (number, Reason::Interrupted)));
        assert!(observer.1 >= 2_000);
    }

    #[test]
    fn work_that_ends_is_not_waited_for() {
        let begun = std::time::Instant::now();
        for _ in 0..20 {
            run_workers(2, &mut ample_model::Silent, |_, _| {});
        }
        assert!(begun.elapsed() < Duration::from_secs(1));
    }
}
