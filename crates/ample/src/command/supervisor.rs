//! The supervisor: the thread that sees to it that no phase of the work takes more than its budget.
//!
//! Everything that can last asks its [`Budget`] and ends by itself. The supervisor is there for what does not, be it a
//! read from standard input that never ends or a loop that forgot to ask: a moment after the deadline, the memory limit
//! or an interrupt it reports what has been found so far, says that this is not all, and ends the process. Nothing that
//! a model contains can prevent that.

use std::alloc::{GlobalAlloc, Layout, System as Allocator};
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ample::{Budget, Interrupted};

use super::Exit;

/// So long after the deadline work may take to end by itself; of a long time limit, that part of it in addition.
const TIME_GRACE: Duration = Duration::from_millis(400);
const TIME_PART: u32 = 50;
/// So much more than its limit of memory work may take while it ends by itself; or that part of it, if that is more.
const MEMORY_GRACE: u64 = 8 << 20;
const MEMORY_PART: u64 = 50;
/// So long after an interrupt work may take to end by itself.
const INTERRUPT_GRACE: Duration = Duration::from_millis(800);
/// So long the supervisor itself may take before it writes what has been found, and after that for writing it: whoever
/// reads it may be slow.
const LAST_GRACE: Duration = Duration::from_millis(500);
const WRITING: Duration = Duration::from_secs(60);
/// How often the memory is looked at: often where a limit is small, since memory is taken at gigabytes a second.
const LOOK_EVERY: Duration = Duration::from_millis(20);
const LOOK_OFTEN: Duration = Duration::from_millis(4);
const SMALL: u64 = 1 << 30;

/// Reports what has been found so far, if the supervisor has to end the work.
type LastReport = Box<dyn FnOnce(Interrupted) + Send>;

/// What is going on.
enum Stage {
    /// Nothing yet, or nothing that may not take its time.
    Idle,
    /// Work on a file.
    Working { file: PathBuf, budget: Budget, began: Instant, last_report: Option<LastReport> },
    /// The answer is being written.
    Reporting,
}

static STAGE: Mutex<Stage> = Mutex::new(Stage::Idle);

fn stage() -> MutexGuard<'static, Stage> {
    STAGE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Work on a file begins.
pub fn begin(file: &Path, budget: &Budget) {
    let (file, budget) = (file.to_owned(), budget.clone());
    *stage() = Stage::Working { file, budget, began: Instant::now(), last_report: None };
}

/// From now on there is something to report if the work has to be ended.
pub fn report_at_the_end(what: impl FnOnce(Interrupted) + Send + 'static) {
    if let Stage::Working { last_report, .. } = &mut *stage() {
        *last_report = Some(Box::new(what));
    }
}

/// The answer is about to be written: from here on the supervisor leaves it alone. If it has begun to report something
/// itself, this does not return.
pub fn report() {
    if !IS_SUPERVISOR.get() {
        *stage() = Stage::Reporting;
    }
}

/// The work did not come to its end.
pub enum Unfinished {
    /// It panicked, which has been reported.
    Panicked,
    /// It had to be ended while it was busy with that file. What was found there has been reported.
    Ended(PathBuf, Interrupted),
}

/// Waits for the work to be done, and ends it where it has to be; `unknown` reports a file of which nothing is known.
pub fn supervise<T>(
    done: &Receiver<T>,
    interrupt: &AtomicBool,
    unknown: impl Fn(&Path, Interrupted),
) -> Result<T, Unfinished> {
    IS_SUPERVISOR.set(true);
    let mut interrupted = None;
    loop {
        let every = match &*stage() {
            Stage::Working { budget, .. } if budget.memory_limit().is_some_and(|limit| limit < SMALL) => LOOK_OFTEN,
            _ => LOOK_EVERY,
        };
        match done.recv_timeout(every) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Disconnected) => return Err(Unfinished::Panicked),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if interrupted.is_none() && interrupt.load(Ordering::Relaxed) {
            interrupted = Some(Instant::now());
        }
        let mut stage = stage();
        let Stage::Working { file, budget, began, last_report } = &mut *stage else { continue };
        let Some(reason) = overdue(budget, *began, interrupted) else { continue };
        end_for_certain();
        FROZEN.store(true, Ordering::SeqCst);
        match last_report.take() {
            Some(report) => report(reason),
            None => unknown(file, reason),
        }
        return Err(Unfinished::Ended(file.clone(), reason));
    }
}

/// Ends the process, whatever happens: a thread that waits for memory may hold what is needed to report anything.
fn end_for_certain() {
    let _ = std::thread::Builder::new().spawn(|| {
        std::thread::sleep(LAST_GRACE);
        if IS_WRITING.load(Ordering::SeqCst) {
            std::thread::sleep(WRITING);
        }
        std::process::exit(Exit::Undecided.code().into())
    });
}

/// The supervisor has standard output, and writes to it now.
static IS_WRITING: AtomicBool = AtomicBool::new(false);

/// Standard output is about to be written.
pub fn writes() {
    if IS_SUPERVISOR.get() {
        IS_WRITING.store(true, Ordering::SeqCst);
    }
}

/// Why the work has to be ended now, all patience being used up.
fn overdue(budget: &Budget, began: Instant, interrupted: Option<Instant>) -> Option<Interrupted> {
    if interrupted.is_some_and(|since| since.elapsed() > INTERRUPT_GRACE) {
        return Some(Interrupted::Cancelled);
    }
    if let Some(deadline) = budget.deadline() {
        let grace = TIME_GRACE + deadline.saturating_duration_since(began) / TIME_PART;
        if Instant::now() > deadline + grace {
            return Some(Interrupted::Deadline);
        }
    }
    let limit = budget.memory_limit()?;
    let grace = MEMORY_GRACE.max(limit / MEMORY_PART);
    (ample::resident_memory()? > limit.saturating_add(grace)).then_some(Interrupted::Memory)
}

/// The supervisor is about to end the process: nobody else may take memory any more.
static FROZEN: AtomicBool = AtomicBool::new(false);

thread_local! {
    static IS_SUPERVISOR: Cell<bool> = const { Cell::new(false) };
}

/// The allocator of the operating system, except that while the supervisor reports what has been found, every other thread
/// that asks for memory waits: otherwise a limit that was reached would be left far behind in the meantime.
pub struct Gate;

impl Gate {
    #[inline]
    fn pass() {
        if FROZEN.load(Ordering::Relaxed) {
            Gate::wait();
        }
    }

    #[cold]
    fn wait() {
        // A thread that has no such variable any more is about to end, and harmless.
        while !IS_SUPERVISOR.try_with(Cell::get).unwrap_or(true) {
            std::thread::sleep(Duration::from_secs(1));
        }
    }
}

// SAFETY: every call is handed on unchanged to the allocator of the operating system; waiting before that neither
// allocates nor unwinds.
unsafe impl GlobalAlloc for Gate {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Gate::pass();
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { Allocator.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Gate::pass();
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { Allocator.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Gate::pass();
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { Allocator.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { Allocator.dealloc(pointer, layout) }
    }
}
