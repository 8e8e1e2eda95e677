//! The portfolio: several engines on one task.
//!
//! Nothing cheap tells before which engine will do: how well states lie in a diagram is seen by trying only. So the first
//! engine has a head start, which is enough for most models and is a measurement for the others; then the next ones join
//! it. Each property is answered by whoever has its answer first, and then left alone by the others; the portfolio ends
//! when all are answered. A portfolio of one is that engine.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ample_model::{Observer, Progress, Reason};

use crate::board::Board;
use crate::engine::{Engine, Task};
use crate::report::{Answer, Report, Verdict};
use crate::settings::Settings;
use crate::workers::run_workers;

/// An engine in a portfolio.
pub struct Member<'a> {
    /// The engine.
    pub engine: &'a dyn Engine,
    /// When it joins.
    pub joins: Joins,
}

/// When an engine joins, and with what.
#[derive(Clone, Copy, Debug)]
pub enum Joins {
    /// At once, with all resources.
    AtOnce,
    /// Later, unless everything is answered by then.
    Later(Later),
}

/// How an engine joins others.
#[derive(Clone, Copy, Debug)]
pub struct Later {
    /// After this time.
    pub after: Duration,
    /// And after so much more if the frontier of the first engine has begun to shrink, which is likely to come to its end
    /// soon.
    pub patience: Duration,
    /// It may have this part of the memory that is not in use.
    pub memory_share: u64,
    /// As long as the first engine is at work it may have this part of the time, whose cores it takes.
    pub time_share: u32,
}

/// What is asked of the engines.
#[derive(Clone, Copy)]
enum Asked {
    Answers,
    Count,
}

/// Answers the properties of a task.
pub fn check(members: &[Member<'_>], task: &Task<'_>, observer: &mut dyn Observer) -> Report {
    match members {
        [one] => one.engine.check(task, observer),
        _ => run(members, task, Asked::Answers, observer),
    }
}

/// Counts the reachable states of a task.
pub fn count(members: &[Member<'_>], task: &Task<'_>, observer: &mut dyn Observer) -> Report {
    match members {
        [one] => one.engine.count(task, observer),
        _ => run(members, task, Asked::Count, observer),
    }
}

/// What the engines know of each other.
struct Shared {
    begun: Instant,
    board: Arc<Board>,
    asked: Asked,
    seen: Seen,
    /// What the frontier of the first engine was like when another one joined.
    measured: Mutex<Option<(Duration, Measured)>>,
    /// By engine: its report, and when it was there.
    reports: Mutex<Vec<Option<(Report, Instant)>>>,
    changed: Condvar,
}

impl Shared {
    fn reports(&self) -> MutexGuard<'_, Vec<Option<(Report, Instant)>>> {
        self.reports.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// There is nothing left to do.
    fn is_over(&self) -> bool {
        match self.asked {
            Asked::Answers => self.board.is_settled(),
            Asked::Count => self.reports().iter().flatten().any(|(report, _)| report.ended.is_none()),
        }
    }

    fn first_has_ended(&self) -> bool {
        self.reports()[0].is_some()
    }

    /// Waits for that long, or until the first engine has ended or there is nothing left to do.
    fn wait(&self, time: Duration) {
        let until = Instant::now() + time;
        while !self.is_over() {
            let now = Instant::now();
            let reports = self.reports();
            if now >= until || reports[0].is_some() {
                return;
            }
            // Answers are posted without a word, so that it is looked for them now and then.
            let nap = (until - now).min(Duration::from_millis(20));
            drop(self.changed.wait_timeout(reports, nap));
        }
    }
}

fn run(members: &[Member<'_>], task: &Task<'_>, asked: Asked, observer: &mut dyn Observer) -> Report {
    let board = task.settings.board.clone().unwrap_or_else(|| {
        let board = Board::default();
        board.open(task.properties);
        Arc::new(board)
    });
    let settings = Settings { board: Some(Arc::clone(&board)), ..task.settings.clone() };
    let shared = Shared {
        begun: Instant::now(),
        board,
        asked,
        seen: Seen::default(),
        measured: Mutex::default(),
        reports: Mutex::new(members.iter().map(|_| None).collect()),
        changed: Condvar::new(),
    };
    run_workers(members.len(), observer, |observer, number| {
        let Some(report) = perform(&members[number], number, &task.with(&settings), &shared, observer) else { return };
        shared.reports()[number] = Some((report, Instant::now()));
        shared.changed.notify_all();
    });
    let measured = shared.measured.lock().unwrap_or_else(PoisonError::into_inner).take();
    let reports = std::mem::take(&mut *shared.reports());
    put_together(members, reports, &shared.board, measured, shared.begun.elapsed())
}

/// Lets an engine work; `None` if there was nothing left to do for it.
fn perform(
    member: &Member<'_>,
    number: usize,
    task: &Task<'_>,
    shared: &Shared,
    observer: &mut dyn Observer,
) -> Option<Report> {
    let mut watch = Watch { observer, shared, is_first: number == 0, until: None };
    let settings = match member.joins {
        Joins::AtOnce => task.settings.clone(),
        Joins::Later(later) => {
            shared.wait(later.after);
            let measured = shared.seen.measure();
            let at = shared.begun.elapsed();
            if measured.is_shrinking() {
                shared.wait(later.patience);
            }
            // Nothing is begun where all is answered, or all has to end.
            if shared.is_over() || watch.observer.progress(&Progress::default()).is_some() {
                return None;
            }
            shared.measured.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert((at, measured));
            watch.until = task.settings.time.map(|time| shared.begun + time / later.time_share);
            part_of(task.settings, later.memory_share)
        }
    };
    let task = task.with(&settings);
    Some(match shared.asked {
        Asked::Answers => member.engine.check(&task, &mut watch),
        Asked::Count => member.engine.count(&task, &mut watch),
    })
}

/// What an engine may take of the memory that is not in use.
fn part_of(settings: &Settings, share: u64) -> Settings {
    let memory_limit = settings.memory_limit.map(|limit| {
        let used = ample_budget::resident_memory().unwrap_or(0).min(limit);
        used + (limit - used) / share
    });
    Settings { memory_limit, ..settings.clone() }
}

/// What the first engine has told so far.
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
    fn text(self, engine: &str, after: Duration) -> String {
        if self.states == 0 {
            return format!("{engine}, alone until then, had no answer after {:.1} s", after.as_secs_f64());
        }
        let trend = if self.is_shrinking() { "shrinking" } else { "not shrinking" };
        format!(
            "after {:.1} s {engine}, alone until then, had {} states and {} to expand, {trend}",
            after.as_secs_f64(),
            self.states,
            self.pending
        )
    }
}

fn is_decided(report: &Report) -> bool {
    report.ended.is_none() && report.answers.iter().all(|answer| answer.verdict() != Verdict::Unknown)
}

/// The decided answers of all; the figures of the engine that came to its end first.
fn put_together(
    members: &[Member<'_>],
    reports: Vec<Option<(Report, Instant)>>,
    board: &Board,
    measured: Option<(Duration, Measured)>,
    took: Duration,
) -> Report {
    let began = reports.iter().flatten().count();
    let mut done: Vec<(usize, Report, Instant)> = reports
        .into_iter()
        .enumerate()
        .filter_map(|(number, report)| report.map(|(report, at)| (number, report, at)))
        .collect();
    let complete = done.iter().filter(|(_, report, _)| is_decided(report)).min_by_key(|(_, _, at)| *at);
    let best = complete.map_or(0, |(number, ..)| *number);
    let is_complete = complete.is_some();
    let at = done.iter().position(|(number, ..)| *number == best).unwrap_or(0);
    if done.is_empty() {
        unreachable!("the first engine always reports");
    }
    let (best, mut report, _) = done.swap_remove(at);
    for (number, answer) in report.answers.iter_mut().enumerate() {
        if answer.verdict() == Verdict::Unknown
            && let Some(found) = board.answer(number)
        {
            *answer = Answer { property: answer.property.clone(), formula: answer.formula.clone(), ..found };
        }
    }
    // Where states are counted there are no answers, and no count is complete.
    let all_decided = report.answers.iter().all(|answer| answer.verdict() != Verdict::Unknown);
    if all_decided && !report.answers.is_empty() {
        report.ended = None;
    }
    if began < 2 {
        return report;
    }
    let measured = measured
        .map_or(String::new(), |(after, measured)| format!("; {}", measured.text(members[0].engine.name(), after)));
    let name = members[best].engine.name();
    let choice = if is_complete {
        format!("Engine: {name}, which came to its end first{measured}")
    } else {
        let names: Vec<&str> = members.iter().map(|member| member.engine.name()).collect();
        format!("Engines: {} side by side, none came to its end alone{measured}", names.join(", "))
    };
    report.choice = Some(match report.choice.take() {
        Some(more) => format!("{choice}; {more}"),
        None => choice,
    });
    report.statistics.time_s = took.as_secs_f64();
    report
}

/// Ends an engine when everything is answered.
struct Watch<'a> {
    observer: &'a mut dyn Observer,
    shared: &'a Shared,
    is_first: bool,
    /// After that it may go on only if the first engine has ended.
    until: Option<Instant>,
}

impl Observer for Watch<'_> {
    fn progress(&mut self, progress: &Progress) -> Option<Reason> {
        let reason = self.observer.progress(progress);
        if self.is_first {
            self.shared.seen.note(progress);
        }
        if self.until.is_some_and(|until| Instant::now() >= until) && !self.shared.first_has_ended() {
            return Some(Reason::Time);
        }
        if reason.is_none() && self.shared.is_over() { Some(Reason::Interrupted) } else { reason }
    }
}
