//! The life of a group: how far each process has come, and why all of them end.
//!
//! Every process but the first has a connection to the first one, beside those that carry the data. Lines of JSON go over
//! it in both directions: a beat every 200 ms with the figures of the workers, and the reason when a process has to end,
//! which the first process hands on to all others. A process from which nothing is heard for eight seconds is lost.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ample_budget::{Budget, Cancellation, Interrupted};
use ample_model::Reason;
use serde::{Deserialize, Serialize};

/// Why the work of a group ended early, in all of its processes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum End {
    /// A limit was reached in a process, or it was interrupted.
    #[error("process {process}: {why}")]
    Interrupted {
        /// The process.
        process: usize,
        /// The limit.
        why: Reason,
    },
    /// The connection to a process was lost: it was killed, has stopped, or the network has failed.
    #[error("process {process} was lost: {why}")]
    Lost {
        /// The process.
        process: usize,
        /// How that was noticed.
        why: String,
    },
    /// The processes do not belong together.
    #[error("{why}")]
    Refused {
        /// What differs.
        why: String,
    },
    /// A process could not do its part, or there was an error in it.
    #[error("process {process} failed: {why}")]
    Failed {
        /// The process.
        process: usize,
        /// What went wrong.
        why: String,
    },
}

impl From<End> for Reason {
    /// Why there is no answer.
    fn from(end: End) -> Reason {
        match end {
            End::Interrupted { why, .. } => why,
            End::Failed { .. } => Reason::Internal(end.to_string()),
            End::Lost { .. } | End::Refused { .. } => Reason::Unsupported(end.to_string()),
        }
    }
}

/// How far a worker has come; it is the only one to write.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Tally {
    /// Distinct states.
    pub states: AtomicU64,
    /// Transitions.
    pub transitions: AtomicU64,
    /// The depth reached.
    pub depth: AtomicU64,
    /// States found but not yet expanded.
    pub pending: AtomicU64,
    /// States sent to other workers.
    pub messages: AtomicU64,
    /// The bytes of those.
    pub message_bytes: AtomicU64,
    /// Bytes held by the store.
    pub memory: AtomicU64,
}

/// A [`Tally`] at some moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TallySnapshot {
    /// Distinct states.
    pub states: u64,
    /// Transitions.
    pub transitions: u64,
    /// The depth reached.
    pub depth: u64,
    /// States found but not yet expanded.
    pub pending: u64,
    /// States sent to other workers.
    pub messages: u64,
    /// The bytes of those.
    pub message_bytes: u64,
    /// Bytes held by the store.
    pub memory: u64,
}

impl Tally {
    /// Its values now.
    pub fn snapshot(&self) -> TallySnapshot {
        TallySnapshot {
            states: self.states.load(Ordering::Relaxed),
            transitions: self.transitions.load(Ordering::Relaxed),
            depth: self.depth.load(Ordering::Relaxed),
            pending: self.pending.load(Ordering::Relaxed),
            messages: self.messages.load(Ordering::Relaxed),
            message_bytes: self.message_bytes.load(Ordering::Relaxed),
            memory: self.memory.load(Ordering::Relaxed),
        }
    }
}

/// What a process has sent to the others and received from them, headers of messages included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    /// Bytes sent.
    pub sent: u64,
    /// Bytes received.
    pub received: u64,
}

/// The tallies of all workers of a group. Those of other processes are a beat old, and only process 0 knows them; a clone
/// has the same tallies.
#[derive(Clone, Debug)]
pub struct Tallies(Arc<AllTallies>);

#[derive(Debug)]
struct AllTallies {
    threads: usize,
    /// The number of this process.
    process: AtomicUsize,
    local: Vec<Tally>,
    sent: AtomicU64,
    received: AtomicU64,
    /// What the processes have told last.
    told: Mutex<Vec<(Vec<TallySnapshot>, Traffic)>>,
}

impl Tallies {
    /// For so many processes with so many workers each.
    pub fn new(processes: usize, threads: usize) -> Tallies {
        Tallies(Arc::new(AllTallies {
            threads,
            process: AtomicUsize::new(0),
            local: (0..threads).map(|_| Tally::default()).collect(),
            sent: AtomicU64::new(0),
            received: AtomicU64::new(0),
            told: Mutex::new(vec![(vec![TallySnapshot::default(); threads], Traffic::default()); processes]),
        }))
    }

    /// That of a worker of this process.
    pub fn local(&self, worker: usize) -> &Tally {
        &self.0.local[worker]
    }

    /// Those of all workers of the group, in the order of their numbers.
    pub fn all(&self) -> Vec<TallySnapshot> {
        let (own, _) = self.own();
        let mut all: Vec<_> = lock(&self.0.told).iter().flat_map(|(workers, _)| workers.clone()).collect();
        let first = self.0.process.load(Ordering::Relaxed) * self.0.threads;
        if let Some(place) = all.get_mut(first..first + own.len()) {
            place.copy_from_slice(&own);
        }
        all
    }

    /// What has gone over the network, for each process.
    pub fn traffic(&self) -> Vec<Traffic> {
        let mut all: Vec<_> = lock(&self.0.told).iter().map(|(_, traffic)| *traffic).collect();
        if let Some(place) = all.get_mut(self.0.process.load(Ordering::Relaxed)) {
            *place = self.own().1;
        }
        all
    }

    pub(crate) fn begin(&self, process: usize) {
        self.0.process.store(process, Ordering::Relaxed);
    }

    pub(crate) fn own(&self) -> (Vec<TallySnapshot>, Traffic) {
        let traffic =
            Traffic { sent: self.0.sent.load(Ordering::Relaxed), received: self.0.received.load(Ordering::Relaxed) };
        (self.0.local.iter().map(Tally::snapshot).collect(), traffic)
    }
}

/// A thread that panics leaves figures behind that are still good to show.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the threads of a process share: whether and why the group ends.
#[derive(Debug)]
pub(crate) struct Control {
    process: usize,
    end: Mutex<Option<End>>,
    /// Ends the workers of this process.
    pub(crate) cancellation: Cancellation,
    /// The workers of this process have ended.
    workers_ended: AtomicBool,
}

impl Control {
    pub(crate) fn new(process: usize) -> Control {
        Control {
            process,
            end: Mutex::new(None),
            cancellation: Cancellation::new(),
            workers_ended: AtomicBool::new(false),
        }
    }

    /// The first reason is the one that counts.
    pub(crate) fn end(&self, end: End) {
        lock(&self.end).get_or_insert(end);
        self.cancellation.cancel();
    }

    pub(crate) fn ended(&self) -> Option<End> {
        lock(&self.end).clone()
    }

    pub(crate) fn interrupt(&self, why: Interrupted) {
        self.end(End::Interrupted { process: self.process, why: why.into() });
    }

    /// A worker of this process has panicked.
    pub(crate) fn fail(&self, worker: usize, why: &str) {
        self.end(End::Failed { process: self.process, why: format!("worker {worker}: {why}") });
    }

    pub(crate) fn workers_have_ended(&self) {
        self.workers_ended.store(true, Ordering::Release);
    }
}

/// As [`Budget::check`], but without waiting for a turn.
pub(crate) fn check_limits(budget: &Budget) -> Result<(), Interrupted> {
    if budget.is_cancelled() {
        return Err(Interrupted::Cancelled);
    }
    if budget.time_left().is_some_and(|left| left.is_zero()) {
        return Err(Interrupted::Deadline);
    }
    if budget.memory_left() == Some(0) { Err(Interrupted::Memory) } else { Ok(()) }
}
