//! Limits: an [`Observer`] that ends a search when its time or memory is used up or the user interrupts it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ample_model::{Observer, Progress, Reason};

/// How often the memory of the whole process is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Ends a search at the limits it is given, and shows its progress to whoever wants to see it.
///
/// ```
/// use std::time::Duration;
/// use ample::{Limits, Observer, Progress, Reason};
///
/// let mut limits = Limits::new().time(Some(Duration::ZERO));
/// assert_eq!(limits.progress(&Progress::default()), Some(Reason::Time));
/// ```
pub struct Limits<'a> {
    begun: Instant,
    time: Option<Duration>,
    memory: Option<u64>,
    interrupt: Option<Arc<AtomicBool>>,
    looked: Instant,
    show: Option<&'a mut Show<'a>>,
}

/// Shows how a search goes.
type Show<'a> = dyn FnMut(&Progress, Duration) + 'a;

impl Default for Limits<'_> {
    fn default() -> Self {
        Limits::new()
    }
}

impl<'a> Limits<'a> {
    /// No limits. The clock starts here.
    pub fn new() -> Limits<'a> {
        let now = Instant::now();
        Limits { begun: now, time: None, memory: None, interrupt: None, looked: now, show: None }
    }

    /// The clock started then.
    pub fn since(mut self, begun: Instant) -> Self {
        self.begun = begun;
        self
    }

    /// The search may take that long.
    pub fn time(mut self, limit: Option<Duration>) -> Self {
        self.time = limit;
        self
    }

    /// The whole process may use that many bytes.
    pub fn memory(mut self, limit: Option<u64>) -> Self {
        self.memory = limit;
        self
    }

    /// The search ends soon after the flag is set.
    pub fn interrupt(mut self, flag: Arc<AtomicBool>) -> Self {
        self.interrupt = Some(flag);
        self
    }

    /// Called with every progress report and the time since the start.
    pub fn show(mut self, show: &'a mut (dyn FnMut(&Progress, Duration) + 'a)) -> Self {
        self.show = Some(show);
        self
    }

    fn memory_is_used_up(&mut self, progress: &Progress, now: Instant) -> bool {
        let Some(limit) = self.memory else { return false };
        let suspicious = progress.memory > limit;
        if !suspicious && now.duration_since(self.looked) < LOOK_EVERY {
            return false;
        }
        self.looked = now;
        // What was reserved and never touched does not count, where that can be told.
        resident_memory().map_or(suspicious, |resident| resident > limit)
    }
}

impl Observer for Limits<'_> {
    fn progress(&mut self, progress: &Progress) -> Option<Reason> {
        let now = Instant::now();
        let elapsed = now.duration_since(self.begun);
        if let Some(show) = &mut self.show {
            show(progress, elapsed);
        }
        if self.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            return Some(Reason::Interrupted);
        }
        if self.time.is_some_and(|limit| elapsed >= limit) {
            return Some(Reason::Time);
        }
        self.memory_is_used_up(progress, now).then_some(Reason::Memory)
    }
}

/// What a search may take if nobody says: nine tenths of the memory that is free, so that no model makes the
/// machine swap. `None` where the operating system does not tell.
pub fn sensible_memory_limit() -> Option<u64> {
    Some(field("/proc/meminfo", "MemAvailable:")? / 10 * 9)
}

/// The bytes of memory that the process holds now; `None` where the operating system does not tell.
pub fn resident_memory() -> Option<u64> {
    status("VmRSS:")
}

/// The most bytes of memory that the process has held; `None` where the operating system does not tell.
pub fn peak_memory() -> Option<u64> {
    status("VmHWM:")
}

fn status(name: &str) -> Option<u64> {
    field("/proc/self/status", name)
}

/// A size in one of the tables that Linux shows as files, in bytes.
fn field(file: &str, name: &str) -> Option<u64> {
    let table = std::fs::read_to_string(file).ok()?;
    let line = table.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
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
    fn the_memory_of_the_store_counts() {
        let mut limits = Limits::new().memory(Some(1000));
        assert_eq!(limits.progress(&Progress { memory: 1001, ..Progress::default() }), Some(Reason::Memory));
    }
}
