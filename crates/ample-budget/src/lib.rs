//! The budget of a piece of work: its deadline, its memory, its cancellation, its threads and its progress, in one handle.
//!
//! Everything that can last asks its [`Budget`] now and then, from the first byte read to the last step of a
//! counterexample told: reading, translating, setting up an engine, searching, replaying. What it gets back is
//! `Ok(())` or the reason why it has to end, an [`Interrupted`]. A search also tells how far it has come
//! ([`Budget::report`]), and whoever wants to know has given the budget a sink for that ([`Budget::with_sink`]).
//!
//! A budget is handed down by cloning it, or a part of it: with an earlier deadline, a share of the memory, a
//! cancellation of its own. A part ends with the whole. Parts that share a core take turns: one whose turn it is not waits
//! where it asks ([`Budget::with_turn`]).
//!
//! ```
//! use std::sync::Arc;
//! use std::sync::atomic::{AtomicU64, Ordering};
//! use std::time::Duration;
//! use ample_budget::{Budget, Interrupted, Progress};
//!
//! /// Counts to a number, unless it takes too long.
//! fn count(to: u64, budget: &Budget) -> Result<u64, Interrupted> {
//!     let mut pace = budget.pace();
//!     for states in 0..to {
//!         pace.step()?;
//!         if states % 4096 == 0 {
//!             budget.report(&Progress { states, ..Progress::default() })?;
//!         }
//!     }
//!     Ok(to)
//! }
//!
//! // Told how far it has come.
//! let seen = Arc::new(AtomicU64::new(0));
//! let sink = Arc::clone(&seen);
//! let told = Budget::unlimited().with_sink(move |progress| sink.store(progress.states, Ordering::Relaxed));
//! assert_eq!(count(10_000, &told), Ok(10_000));
//! assert_eq!(seen.load(Ordering::Relaxed), 8192);
//!
//! // Ended by a deadline, and by what it tells.
//! let short = told.clone().with_time(Duration::from_millis(10));
//! assert_eq!(count(u64::MAX, &short), Err(Interrupted::Deadline));
//! let (few, enough) = told.until(|progress| progress.states > 20_000);
//! assert_eq!(count(u64::MAX, &few), Err(Interrupted::Cancelled));
//! assert!(enough.is_cancelled());
//! ```
//!
//! Memory is that of the whole process, as the operating system sees it ([`resident_memory`]): what was reserved and
//! never touched does not count, and what one part of the process takes is not there for another. Where several parts
//! work side by side each has a share ([`Budget::with_memory_share`]), which is held against what it says it holds.

mod cores;
mod memory;

use std::fmt;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

pub use cores::{OccupiedCore, YieldedCore};
pub use memory::{peak_memory, resident_memory, sensible_memory_limit};

/// Why work ended before it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Interrupted {
    /// The deadline has passed.
    Deadline,
    /// The memory limit was reached.
    Memory,
    /// Somebody wants it to end: the user, or another engine that has found the answer.
    Cancelled,
}

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Interrupted::Deadline => "the time limit was reached",
            Interrupted::Memory => "the memory limit was reached",
            Interrupted::Cancelled => "interrupted",
        })
    }
}

impl std::error::Error for Interrupted {}

/// A moment of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Distinct states so far.
    pub states: u64,
    /// Transitions so far.
    pub transitions: u64,
    /// The depth reached.
    pub depth: u64,
    /// Aggregates of an observation graph so far; transitions are its arcs then.
    pub aggregates: u64,
    /// States, or aggregates, found but not yet expanded.
    pub pending: u64,
    /// Bytes held by the store.
    pub memory: u64,
    /// Nodes of decision diagrams.
    pub nodes: u64,
    /// Clauses of SAT solvers.
    pub clauses: u64,
    /// Conflicts of SAT solvers.
    pub conflicts: u64,
    /// Frames of proofs by SAT solvers.
    pub frames: u64,
    /// The node of a partition graph that is checked: nodes are counted from 1.
    pub part: u64,
    /// The nodes of the partition graph that were checked.
    pub parts_done: u64,
    /// The nodes of the partition graph; 0 if there is none.
    pub parts: u64,
}

impl Progress {
    /// What two searches, one after the other or side by side, have come to together.
    pub fn and(self, other: Progress) -> Progress {
        Progress {
            states: self.states.saturating_add(other.states),
            transitions: self.transitions.saturating_add(other.transitions),
            depth: self.depth.max(other.depth),
            aggregates: self.aggregates.saturating_add(other.aggregates),
            pending: self.pending.saturating_add(other.pending),
            memory: self.memory.saturating_add(other.memory),
            nodes: self.nodes.saturating_add(other.nodes),
            clauses: self.clauses.saturating_add(other.clauses),
            conflicts: self.conflicts.saturating_add(other.conflicts),
            frames: self.frames.max(other.frames),
            part: self.part.max(other.part),
            parts_done: self.parts_done.max(other.parts_done),
            parts: self.parts.max(other.parts),
        }
    }
}

/// Who hears of the progress.
#[derive(Clone)]
struct Sink(Arc<dyn Fn(&Progress) + Send + Sync>);

impl fmt::Debug for Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sink")
    }
}

/// Whether work may go on now.
#[derive(Clone)]
struct Turn(Arc<dyn Fn() -> bool + Send + Sync>);

impl fmt::Debug for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Turn")
    }
}

/// Ends work from outside, from any thread.
///
/// ```
/// use ample_budget::{Budget, Cancellation, Interrupted};
///
/// let cancellation = Cancellation::new();
/// let budget = Budget::unlimited().with_cancellation(&cancellation);
/// assert_eq!(budget.check(), Ok(()));
/// cancellation.cancel();
/// assert_eq!(budget.check(), Err(Interrupted::Cancelled));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    /// Not cancelled.
    pub fn new() -> Cancellation {
        Cancellation::default()
    }

    /// Ends all work whose budget has this cancellation.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether somebody has.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A flag that somebody else sets, such as a signal handler.
impl From<Arc<AtomicBool>> for Cancellation {
    fn from(flag: Arc<AtomicBool>) -> Cancellation {
        Cancellation(flag)
    }
}

/// What a piece of work may take.
#[derive(Clone, Debug, Default)]
pub struct Budget {
    deadline: Option<Instant>,
    /// What the whole process may hold.
    memory: Option<u64>,
    /// What this part of the work may hold itself.
    memory_share: Option<u64>,
    threads: Option<usize>,
    cores: cores::Cores,
    /// Its own cancellation, and those of the budgets that it is a part of.
    cancellations: Vec<Cancellation>,
    /// Those who are told, the last one first.
    sinks: Vec<Sink>,
    /// All of these have to be true for the work to go on.
    turns: Vec<Turn>,
}

impl Budget {
    /// Whatever it takes.
    pub fn unlimited() -> Budget {
        Budget::default()
    }

    /// The same, but ending then at the latest.
    pub fn with_deadline(mut self, deadline: Instant) -> Budget {
        self.deadline = Some(self.deadline.map_or(deadline, |earlier| earlier.min(deadline)));
        self
    }

    /// The same, but ending after that time at the latest; a time too long to be told is none.
    pub fn with_time(self, time: Duration) -> Budget {
        match Instant::now().checked_add(time) {
            Some(deadline) => self.with_deadline(deadline),
            None => self,
        }
    }

    /// The same, but ending when the process holds more bytes than that.
    pub fn with_memory(mut self, limit: u64) -> Budget {
        self.memory = Some(self.memory.map_or(limit, |less| less.min(limit)));
        self
    }

    /// The same, but ending when that is cancelled, too.
    pub fn with_cancellation(mut self, cancellation: &Cancellation) -> Budget {
        self.cancellations.push(cancellation.clone());
        self
    }

    /// A part of the work, one of so many that run side by side: it may itself hold one of so many equal shares of the
    /// memory that is not in use yet.
    pub fn with_memory_share(mut self, parts: u64) -> Budget {
        self.memory_share = self.room().map(|room| room / parts.max(1));
        self
    }

    /// The same, with so many threads at most.
    pub fn with_threads(mut self, threads: usize) -> Budget {
        self.threads = Some(self.threads.map_or(threads, |fewer| fewer.min(threads)).max(1));
        self
    }

    /// The same, and that is told how far the work has come, before those who are told already. It is called by whichever
    /// thread has something to tell.
    pub fn with_sink(mut self, sink: impl Fn(&Progress) + Send + Sync + 'static) -> Budget {
        self.sinks.push(Sink(Arc::new(sink)));
        self
    }

    /// The same, but the work pauses, wherever it asks its budget, until it is its turn. The function says whether it is,
    /// and may itself wait a few milliseconds for that; it is asked again until it is true or the budget ends. So several
    /// parts can share a core and none has to start again.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU32, Ordering};
    /// use ample_budget::Budget;
    ///
    /// let asked = AtomicU32::new(0);
    /// let budget = Budget::unlimited().with_turn(move || asked.fetch_add(1, Ordering::Relaxed) >= 3);
    /// assert_eq!(budget.check(), Ok(()));
    /// ```
    pub fn with_turn(mut self, is_on: impl Fn() -> bool + Send + Sync + 'static) -> Budget {
        self.turns.push(Turn(Arc::new(is_on)));
        self
    }

    /// The same, but nobody is told.
    pub fn without_sinks(mut self) -> Budget {
        self.sinks.clear();
        self
    }

    /// The same, but ending as soon as it is told something of which the condition is true. The cancellation says whether
    /// that has happened.
    pub fn until(&self, condition: impl Fn(&Progress) -> bool + Send + Sync + 'static) -> (Budget, Cancellation) {
        let cancellation = Cancellation::new();
        let met = cancellation.clone();
        let budget = self.clone().with_cancellation(&cancellation).with_sink(move |progress| {
            if condition(progress) {
                met.cancel();
            }
        });
        (budget, cancellation)
    }

    /// When it ends.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// The time that is left.
    pub fn time_left(&self) -> Option<Duration> {
        Some(self.deadline?.saturating_duration_since(Instant::now()))
    }

    /// How many bytes the process may hold.
    pub fn memory_limit(&self) -> Option<u64> {
        self.memory
    }

    /// The bytes that are left; `None` without a limit, or where the operating system does not tell what is used.
    pub fn memory_left(&self) -> Option<u64> {
        Some(self.memory?.saturating_sub(memory::lately_resident()?))
    }

    /// The bytes that the work may itself hold in addition to what is in use; `None` without a limit.
    pub fn room(&self) -> Option<u64> {
        let left = self.memory_left().or(self.memory);
        match (left, self.memory_share) {
            (Some(left), Some(share)) => Some(left.min(share)),
            (left, share) => left.or(share),
        }
    }

    /// The most threads that may work, if somebody has said so.
    pub fn thread_limit(&self) -> Option<usize> {
        self.threads
    }

    /// How many threads may work: as many as there are cores if nobody says.
    pub fn threads(&self) -> usize {
        // To find out takes many system calls.
        static CORES: OnceLock<usize> = OnceLock::new();
        self.threads
            .unwrap_or_else(|| *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, NonZero::get)))
    }

    /// A core is in use by a thread that has work of its own, one of several that work side by side.
    ///
    /// ```
    /// use ample_budget::Budget;
    ///
    /// let budget = Budget::unlimited().with_threads(2);
    /// let own = budget.occupy_core();
    /// let help = budget.spare_core().unwrap();
    /// assert!(budget.spare_core().is_none() && !budget.is_crowded());
    /// let another = budget.occupy_core();
    /// assert!(budget.is_crowded());
    /// drop(help);
    /// assert!(!budget.is_crowded());
    /// ```
    pub fn occupy_core(&self) -> OccupiedCore {
        self.cores.occupy()
    }

    /// A core that nobody uses, for a thread that helps another one; none if as many are in use as there are
    /// [threads](Budget::threads).
    pub fn spare_core(&self) -> Option<OccupiedCore> {
        self.cores.occupy_spare(self.threads())
    }

    /// More cores are in use than there are threads: who helps another should stop.
    pub fn is_crowded(&self) -> bool {
        self.cores.in_use() > self.threads()
    }

    /// The core of a thread that waits until others have done its work is not in use.
    pub fn yield_core(&self) -> YieldedCore {
        self.cores.yield_one()
    }

    /// Tells how far the work has come, and asks whether it may go on. It is meant for every few thousand states.
    pub fn report(&self, progress: &Progress) -> Result<(), Interrupted> {
        self.tell(progress);
        self.check()?;
        // Where the operating system does not tell what the process holds, what the work says has to do.
        let is_blind = self.memory.is_some() && self.memory_left().is_none();
        let limit = if is_blind { self.room() } else { self.memory_share };
        if limit.is_some_and(|limit| progress.memory > limit) { Err(Interrupted::Memory) } else { Ok(()) }
    }

    /// Tells how far the work has come.
    pub fn tell(&self, progress: &Progress) {
        self.sinks.iter().rev().for_each(|sink| (sink.0)(progress));
    }

    /// Somebody wants the work to end. It takes a nanosecond or two, and does not know of time and memory.
    pub fn is_cancelled(&self) -> bool {
        self.cancellations.iter().any(Cancellation::is_cancelled)
    }

    /// Whether the work may go on, as soon as it is its [turn](Budget::with_turn). It takes some tens of nanoseconds; in tight
    /// loops use a [`Pace`].
    pub fn check(&self) -> Result<(), Interrupted> {
        self.check_limits()?;
        while !self.turns.iter().all(|turn| (turn.0)()) {
            self.check_limits()?;
        }
        Ok(())
    }

    fn check_limits(&self) -> Result<(), Interrupted> {
        if self.is_cancelled() {
            return Err(Interrupted::Cancelled);
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(Interrupted::Deadline);
        }
        if self.memory_left() == Some(0) {
            return Err(Interrupted::Memory);
        }
        Ok(())
    }

    /// Asks whether so many more bytes may be taken at once, before they are taken.
    pub fn check_allocation(&self, bytes: u64) -> Result<(), Interrupted> {
        self.check()?;
        match self.memory_left() {
            Some(left) if left < bytes => Err(Interrupted::Memory),
            _ => Ok(()),
        }
    }

    /// For a loop: asks now and then.
    pub fn pace(&self) -> Pace<'_> {
        Pace { budget: self, left: STEPS }
    }
}

/// So many steps of a loop are taken between two looks at the budget.
const STEPS: u32 = 256;

/// Asks a [`Budget`] every few hundred steps of a loop.
#[derive(Clone, Debug)]
pub struct Pace<'a> {
    budget: &'a Budget,
    left: u32,
}

impl Pace<'_> {
    /// Another step.
    #[inline]
    pub fn step(&mut self) -> Result<(), Interrupted> {
        self.steps(1)
    }

    /// A step that takes as long as so many.
    #[inline]
    pub fn steps(&mut self, steps: usize) -> Result<(), Interrupted> {
        if steps < self.left as usize {
            self.left -= steps as u32;
            return Ok(());
        }
        self.left = STEPS;
        self.budget.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earlier_deadline_and_the_smaller_limit_count() {
        let soon = Instant::now();
        let later = soon + Duration::from_secs(60);
        for budget in [
            Budget::unlimited().with_deadline(soon).with_deadline(later),
            Budget::unlimited().with_deadline(later).with_deadline(soon),
        ] {
            assert_eq!(budget.deadline(), Some(soon));
            assert_eq!(budget.check(), Err(Interrupted::Deadline));
        }
        let budget = Budget::unlimited().with_memory(1 << 40).with_memory(1);
        assert_eq!(budget.memory_limit(), Some(1));
    }

    #[test]
    fn the_memory_of_the_process_counts() {
        if resident_memory().is_none() {
            return eprintln!("skipped: the operating system does not tell");
        }
        assert_eq!(Budget::unlimited().with_memory(1).check(), Err(Interrupted::Memory));
        let budget = Budget::unlimited().with_memory(1 << 50);
        assert_eq!(budget.check(), Ok(()));
        assert_eq!(budget.check_allocation(1 << 51), Err(Interrupted::Memory));
    }

    #[test]
    fn a_part_ends_with_the_whole() {
        let (whole, part) = (Cancellation::new(), Cancellation::new());
        let outer = Budget::unlimited().with_cancellation(&whole);
        let inner = outer.clone().with_cancellation(&part);
        part.cancel();
        assert_eq!((outer.check(), inner.check()), (Ok(()), Err(Interrupted::Cancelled)));
        let inner = outer.clone().with_cancellation(&Cancellation::new());
        whole.cancel();
        assert_eq!((outer.check(), inner.check()), (Err(Interrupted::Cancelled), Err(Interrupted::Cancelled)));
    }

    #[test]
    fn everybody_is_told_and_a_part_may_be_silent() {
        use std::sync::Mutex;
        let told = Arc::new(Mutex::new(Vec::new()));
        let sink = |name: &'static str| {
            let told = Arc::clone(&told);
            move |progress: &Progress| told.lock().unwrap().push((name, progress.states))
        };
        let outer = Budget::unlimited().with_sink(sink("outer"));
        let inner = outer.clone().with_sink(sink("inner"));
        inner.report(&Progress { states: 1, ..Progress::default() }).unwrap();
        outer.report(&Progress { states: 2, ..Progress::default() }).unwrap();
        inner.without_sinks().report(&Progress { states: 3, ..Progress::default() }).unwrap();
        assert_eq!(*told.lock().unwrap(), [("inner", 1), ("outer", 1), ("outer", 2)]);
    }

    #[test]
    fn a_share_is_held_against_what_the_work_says() {
        let part = Budget::unlimited().with_memory(1 << 50).with_memory_share(1 << 30);
        let share = part.room().unwrap();
        assert!(share <= 1 << 20);
        assert_eq!(part.report(&Progress { memory: share, ..Progress::default() }), Ok(()));
        assert_eq!(part.report(&Progress { memory: share + 1, ..Progress::default() }), Err(Interrupted::Memory));
    }

    #[test]
    fn the_fewest_threads_count() {
        assert_eq!(Budget::unlimited().with_threads(4).with_threads(8).threads(), 4);
        assert_eq!(Budget::unlimited().with_threads(0).threads(), 1);
        assert_eq!(Budget::unlimited().thread_limit(), None);
    }

    #[test]
    fn work_that_waits_for_its_turn_ends_with_its_budget() {
        let waiting = Budget::unlimited().with_turn(|| false);
        assert_eq!(waiting.clone().with_time(Duration::from_millis(5)).check(), Err(Interrupted::Deadline));
        let cancellation = Cancellation::new();
        cancellation.cancel();
        assert_eq!(waiting.with_cancellation(&cancellation).check(), Err(Interrupted::Cancelled));
    }

    #[test]
    fn a_time_that_cannot_be_told_is_no_limit() {
        assert_eq!(Budget::unlimited().with_time(Duration::MAX).deadline(), None);
    }

    #[test]
    fn a_step_may_count_for_many() {
        let cancellation = Cancellation::new();
        cancellation.cancel();
        let budget = Budget::unlimited().with_cancellation(&cancellation);
        let mut pace = budget.pace();
        assert_eq!(pace.step(), Ok(()));
        assert_eq!(pace.steps(1 << 20), Err(Interrupted::Cancelled));
    }
}
