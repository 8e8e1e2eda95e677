//! Choosing an engine: the explicit search has a head start, which is enough for most models and is the measurement for
//! the others. If its front has begun to shrink by then, it is left alone for a while longer: it is likely to come to its
//! end soon. Otherwise nothing cheap tells which of the two will do, since how well the states lie in a diagram is seen
//! by trying only: the symbolic engine works beside it, and whoever has all answers first ends the other.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ample_model::{Observer, Outcome, Progress, Property, Reason, System};

use ample_engine::report::{Report, Verdict};
use ample_engine::together::together;
use ample_explicit::engine::options::{Emptiness, Search};
use ample_explicit::engine::reduction::PartialOrder;
use ample_symbolic::engine::{self as symbolic, Symbolic};

use crate::check::{CheckOptions, Engine};

/// So long the explicit search is alone.
const HEAD_START: Duration = Duration::from_millis(1500);
/// So long it is alone after that if it seems to come to its end.
const PATIENCE: Duration = Duration::from_millis(6000);
/// The part of the time that the symbolic engine has beside the explicit search, whose cores it takes.
const TIME_SHARE: u32 = 4;
/// The part of the memory that the symbolic engine may have beside the explicit search.
const MEMORY_SHARE: u64 = 4;

/// Whether the choice is ours: nothing was said that only one of the engines understands.
pub fn is_open(options: &CheckOptions) -> bool {
    options.engine == Engine::Auto
        && options.search == Search::Auto
        && options.partial_order == PartialOrder::Auto
        && options.emptiness == Emptiness::Auto
        && options.max_depth.is_none()
        && !options.stop_at_first
        && options.threads != Some(1)
}

/// Checks properties with both engines.
pub fn check(
    system: &System,
    properties: &[Property],
    options: &CheckOptions,
    observer: &mut dyn Observer,
    explicit: impl Fn(&mut dyn Observer) -> Report + Sync,
) -> Report {
    let symbolic = |options: &CheckOptions, observer: &mut dyn Observer| {
        symbolic::check(system, properties, &options.symbolic(), observer)
    };
    race(options, observer, explicit, symbolic)
}

/// Counts states with both engines.
pub fn states(
    system: &System,
    options: &CheckOptions,
    observer: &mut dyn Observer,
    explicit: impl Fn(&mut dyn Observer) -> Report + Sync,
) -> Report {
    let symbolic =
        |options: &CheckOptions, observer: &mut dyn Observer| symbolic::states(system, &options.symbolic(), observer);
    race(options, observer, explicit, symbolic)
}

/// The explicit search is number 0, the symbolic engine number 1.
fn race(
    options: &CheckOptions,
    observer: &mut dyn Observer,
    explicit: impl Fn(&mut dyn Observer) -> Report + Sync,
    symbolic: impl Fn(&CheckOptions, &mut dyn Observer) -> Report + Sync,
) -> Report {
    let begun = Instant::now();
    let over = AtomicBool::new(false);
    let budget = options.time.map(|time| begun + time / TIME_SHARE);
    let explicit_ended = (Mutex::new(false), Condvar::new());
    let seen = Seen::default();
    let measured = Mutex::new(None);
    let reports: [Mutex<Option<(Report, Duration)>>; 2] = [Mutex::new(None), Mutex::new(None)];
    together(2, observer, |observer, number| {
        let until = budget.filter(|_| number == 1);
        let seen = &seen;
        let observer = &mut Runner { observer, over: &over, until, explicit_ended: &explicit_ended.0, number, seen };
        let report = match number {
            0 => explicit(observer),
            _ => {
                wait(&explicit_ended, HEAD_START);
                *lock(&measured) = Some(seen.measure());
                if seen.measure().is_shrinking() {
                    wait(&explicit_ended, PATIENCE);
                }
                if over.load(Ordering::Relaxed) {
                    return;
                }
                symbolic(&shared(options), observer)
            }
        };
        if is_decided(&report) {
            over.store(true, Ordering::Relaxed);
        }
        *lock(&reports[number]) = Some((report, begun.elapsed()));
        if number == 0 {
            *lock(&explicit_ended.0) = true;
            explicit_ended.1.notify_all();
        }
    });
    let [explicit, symbolic] = reports.map(|report| report.into_inner().unwrap_or_else(PoisonError::into_inner));
    match (explicit, symbolic) {
        (Some((explicit, at)), Some((symbolic, then))) => {
            let measured = lock(&measured).unwrap_or_default();
            let mut report = put_together(explicit, symbolic, at < then, measured);
            report.statistics.time_s = begun.elapsed().as_secs_f64();
            report
        }
        (Some((report, _)), None) | (None, Some((report, _))) => report,
        (None, None) => unreachable!("the explicit search always reports"),
    }
}

/// Waits for that long, or until the explicit search has ended.
fn wait((ended, changed): &(Mutex<bool>, Condvar), time: Duration) {
    // A lock that was left by a panic is good enough to wait for.
    let _ = changed.wait_timeout_while(lock(ended), time, |ended| !*ended);
}

/// What the explicit search has told so far.
#[derive(Default)]
struct Seen {
    states: AtomicU64,
    pending: AtomicU64,
    most_pending: AtomicU64,
}

/// What it had told at the end of its head start.
#[derive(Clone, Copy, Debug, Default)]
struct Measured {
    states: u64,
    pending: u64,
    most_pending: u64,
}

impl Seen {
    fn note(&self, progress: &Progress) {
        self.states.store(progress.states, Ordering::Relaxed);
        self.pending.store(progress.pending, Ordering::Relaxed);
        self.most_pending.fetch_max(progress.pending, Ordering::Relaxed);
    }

    fn measure(&self) -> Measured {
        Measured {
            states: self.states.load(Ordering::Relaxed),
            pending: self.pending.load(Ordering::Relaxed),
            most_pending: self.most_pending.load(Ordering::Relaxed),
        }
    }
}

impl Measured {
    /// Of the states that waited to be expanded when there were most of them, half are gone.
    fn is_shrinking(self) -> bool {
        self.most_pending > 0 && self.pending < self.most_pending / 2
    }

    /// In words.
    fn text(self) -> String {
        if self.states == 0 {
            return "the explicit search has no answer".into();
        }
        let trend = if self.is_shrinking() { "shrinking" } else { "not shrinking" };
        format!(
            "after {} s the explicit search, alone until then, had {} states and {} to expand, {trend}",
            HEAD_START.as_secs_f64(),
            self.states,
            self.pending
        )
    }
}

/// What the symbolic engine may take beside the explicit search.
fn shared(options: &CheckOptions) -> CheckOptions {
    let memory_limit = options.memory_limit.map(|limit| {
        let used = ample_budget::resident_memory().unwrap_or(0).min(limit);
        used + (limit - used) / MEMORY_SHARE
    });
    CheckOptions { memory_limit, symbolic: Symbolic::default(), ..options.clone() }
}

fn is_decided(report: &Report) -> bool {
    report.ended.is_none() && report.answers.iter().all(|answer| answer.verdict() != Verdict::Unknown)
}

/// The decided answers of both; the figures of the one that came to its end.
fn put_together(explicit: Report, symbolic: Report, explicit_first: bool, measured: Measured) -> Report {
    let decided = (is_decided(&explicit), is_decided(&symbolic));
    let mut report = match decided {
        (true, false) => explicit,
        (false, true) => symbolic,
        (true, true) => {
            if explicit_first {
                explicit
            } else {
                symbolic
            }
        }
        (false, false) => {
            let mut report = explicit;
            for (answer, other) in report.answers.iter_mut().zip(symbolic.answers) {
                if matches!(answer.outcome, Outcome::Unknown(_)) && !matches!(other.outcome, Outcome::Unknown(_)) {
                    *answer = other;
                }
            }
            // Where states are counted there are no answers, and neither count is complete.
            let all_decided = report.answers.iter().all(|answer| answer.verdict() != Verdict::Unknown);
            if all_decided && !report.answers.is_empty() {
                report.ended = None;
            }
            let measured = measured.text();
            report.choice =
                Some(format!("Engine: explicit and symbolic side by side, neither came to its end alone; {measured}"));
            return report;
        }
    };
    let first = if report.diagrams.is_some() { "symbolic" } else { "explicit" };
    report.choice = Some(format!("Engine: {first}, which came to its end first; {}", measured.text()));
    report
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends an engine when the other has all answers.
struct Runner<'a> {
    observer: &'a mut dyn Observer,
    over: &'a AtomicBool,
    /// After that it may go on only if the explicit search has ended.
    until: Option<Instant>,
    explicit_ended: &'a Mutex<bool>,
    number: usize,
    seen: &'a Seen,
}

impl Observer for Runner<'_> {
    fn progress(&mut self, progress: &Progress) -> Option<Reason> {
        let reason = self.observer.progress(progress);
        if self.number == 0 {
            self.seen.note(progress);
        }
        if self.until.is_some_and(|until| Instant::now() >= until) && !*lock(self.explicit_ended) {
            return Some(Reason::Time);
        }
        if reason.is_none() && self.over.load(Ordering::Relaxed) { Some(Reason::Interrupted) } else { reason }
    }
}
