//! Limits: an [`Observer`] that ends a search when its time or memory is used up or the user interrupts it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use ample_budget::Budget;
use ample_model::{Observer, Progress, Reason};

/// Ends a search at the limits it is given, and shows its progress to whoever wants to see it.
///
/// ```
/// use std::time::Duration;
/// use ample_engine::limits::Limits;
/// use ample_model::{Observer, Progress, Reason};
///
/// let mut limits = Limits::new().time(Some(Duration::ZERO));
/// assert_eq!(limits.progress(&Progress::default()), Some(Reason::Time));
/// ```
pub struct Limits<'a> {
    begun: Instant,
    budget: Budget,
    show: Option<&'a mut Show<'a>>,
}

/// Shows how a search goes.
type Show<'a> = dyn FnMut(&Progress, Duration) + 'a;

impl Default for Limits<'_> {
    fn default() -> Self {
        Limits::new()
    }
}

impl From<Budget> for Limits<'_> {
    fn from(budget: Budget) -> Self {
        Limits { budget, ..Limits::new() }
    }
}

impl<'a> Limits<'a> {
    /// No limits. The clock starts here.
    pub fn new() -> Limits<'a> {
        Limits { begun: Instant::now(), budget: Budget::unlimited(), show: None }
    }

    /// The clock started then; to be said before the time is limited.
    pub fn since(mut self, begun: Instant) -> Self {
        self.begun = begun;
        self
    }

    /// The search may take that long.
    pub fn time(mut self, limit: Option<Duration>) -> Self {
        if let Some(deadline) = limit.and_then(|limit| self.begun.checked_add(limit)) {
            self.budget = self.budget.with_deadline(deadline);
        }
        self
    }

    /// The whole process may use that many bytes.
    pub fn memory(mut self, limit: Option<u64>) -> Self {
        if let Some(limit) = limit {
            self.budget = self.budget.with_memory(limit);
        }
        self
    }

    /// The search ends soon after the flag is set.
    pub fn interrupt(mut self, flag: Arc<AtomicBool>) -> Self {
        self.budget = self.budget.with_cancellation(&flag.into());
        self
    }

    /// Called with every progress report and the time since the start.
    pub fn show(mut self, show: &'a mut (dyn FnMut(&Progress, Duration) + 'a)) -> Self {
        self.show = Some(show);
        self
    }

    /// Where the operating system does not tell what the process holds, what the store holds has to do.
    fn store_is_too_large(&self, progress: &Progress) -> Option<Reason> {
        let is_blind = self.budget.memory_left().is_none();
        let is_over = self.budget.memory_limit().is_some_and(|limit| progress.memory > limit);
        (is_blind && is_over).then_some(Reason::Memory)
    }
}

impl Observer for Limits<'_> {
    fn progress(&mut self, progress: &Progress) -> Option<Reason> {
        if let Some(show) = &mut self.show {
            show(progress, self.begun.elapsed());
        }
        let Err(interrupted) = self.budget.check() else { return self.store_is_too_large(progress) };
        Some(interrupted.into())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;

    #[test]
    fn an_interrupt_ends_the_search() {
        let flag = Arc::new(AtomicBool::new(false));
        let mut limits = Limits::new().interrupt(flag.clone());
        assert_eq!(limits.progress(&Progress::default()), None);
        flag.store(true, Ordering::Relaxed);
        assert_eq!(limits.progress(&Progress::default()), Some(Reason::Interrupted));
    }

    #[test]
    fn the_memory_of_the_process_counts() {
        let mut limits = Limits::new().memory(Some(1000));
        assert_eq!(limits.progress(&Progress::default()), Some(Reason::Memory));
    }
}
