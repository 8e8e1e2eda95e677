//! The budget of a piece of work: its deadline, its memory limit and its cancellation, in one handle.
//!
//! Everything that can last asks its [`Budget`] now and then, from the first byte read to the last step of a
//! counterexample told: reading, translating, setting up an engine, searching, replaying. What it gets back is
//! `Ok(())` or the reason why it has to end, an [`Interrupted`]. A budget is handed down by cloning it, or a part of
//! it: with an earlier deadline, less memory, or a cancellation of its own.
//!
//! ```
//! use std::time::Duration;
//! use ample_budget::{Budget, Interrupted};
//!
//! /// Counts to a number, unless it takes too long.
//! fn count(to: u64, budget: &Budget) -> Result<u64, Interrupted> {
//!     let mut pace = budget.pace();
//!     let mut counted = 0;
//!     for _ in 0..to {
//!         pace.step()?;
//!         counted += 1;
//!     }
//!     Ok(counted)
//! }
//!
//! assert_eq!(count(1_000, &Budget::unlimited()), Ok(1_000));
//! let short = Budget::unlimited().with_time(Duration::from_millis(10));
//! assert_eq!(count(u64::MAX, &short), Err(Interrupted::Deadline));
//! ```
//!
//! Memory is that of the whole process, as the operating system sees it ([`resident_memory`]): what was reserved and
//! never touched does not count, and what one part of the process takes is not there for another.

mod memory;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

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
    memory: Option<u64>,
    /// Its own cancellation, and those of the budgets that it is a part of.
    cancellations: Vec<Cancellation>,
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

    /// Whether the work may go on. It takes some tens of nanoseconds; in tight loops use a [`Pace`].
    pub fn check(&self) -> Result<(), Interrupted> {
        if self.cancellations.iter().any(Cancellation::is_cancelled) {
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
