//! The portfolio: several engines on one task.
//!
//! Nothing cheap tells before which engine will do: how well states lie in a diagram is seen by trying only. So the first
//! engine has a head start, which is enough for most models and is a measurement for the others; then the next ones join
//! it, but never more at a time than there are cores: a third engine waits on two cores until one of the first two has
//! ended, because it has nothing left to do, has given up or has used its share; or has used its slice: what has a slice joins
//! early, and when it has used it without coming to its end, the next one joins at once, beside it. Each property is answered by whoever has
//! its answer first, and then left alone by the others; the portfolio ends when all are answered. A portfolio of one is
//! that engine.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ample_budget::{Budget, Cancellation, Progress};
use ample_model::Reason;

use crate::board::Board;
use crate::engine::{Engine, Task, knows};
use crate::report::{Answer, Report, Verdict};
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
    /// So long it keeps others from joining where cores are short; then the next one joins at once, and they share a core.
    pub slice: Duration,
}

/// What is asked of the engines.
#[derive(Clone, Copy)]
enum Asked {
    Answers,
    Count,
}

/// Answers the properties of a task.
pub fn check(members: &[Member<'_>], task: &Task<'_>, board: &Board, budget: &Budget) -> Report {
    match members {
        [one] => match knows(one.engine, task.system) {
            Ok(()) => {
                let _core = budget.occupy_core();
                one.engine.check(task, board, budget)
            }
            Err(why) => refused(one.engine, task, &why),
        },
        _ => run(members, task, Asked::Answers, board, budget),
    }
}

/// Counts the reachable states of a task.
pub fn count(members: &[Member<'_>], task: &Task<'_>, budget: &Budget) -> Report {
    match members {
        [one] => match knows(one.engine, task.system) {
            Ok(()) => {
                let _core = budget.occupy_core();
                one.engine.count(task, budget)
            }
            Err(why) => refused(one.engine, task, &why),
        },
        _ => run(members, task, Asked::Count, &Board::default(), budget),
    }
}

/// What the engines know of each other.
struct Shared<'a> {
    begun: Instant,
    /// The time that there was at the beginning.
    time: Option<Duration>,
    board: &'a Board,
    asked: Asked,
    /// There is nothing left to do.
    over: Cancellation,
    seen: Arc<Seen>,
    /// By engine: it has nothing left to do.
    ended: Arc<[AtomicBool]>,
    /// What the frontier of the first engine was like when another one joined.
    measured: Mutex<Option<(Duration, Measured)>>,
    /// The engines that have joined.
    joined: Mutex<Vec<Joined>>,
    /// By engine: its report, and when it was there.
    reports: Mutex<Vec<Option<(Report, Instant)>>>,
    changed: Condvar,
}

/// An engine that has joined.
#[derive(Clone, Copy, Debug)]
struct Joined {
    number: usize,
    at: Duration,
    slice: Duration,
}

impl Shared<'_> {
    fn reports(&self) -> MutexGuard<'_, Vec<Option<(Report, Instant)>>> {
        self.reports.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn joined(&self) -> MutexGuard<'_, Vec<Joined>> {
        self.joined.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An engine is at work, and has used its slice.
    fn has_used_slice(&self, number: usize) -> bool {
        let now = self.begun.elapsed();
        self.joined().iter().any(|joined| joined.number == number && now >= joined.at.saturating_add(joined.slice))
    }

    /// Waits for that long, or until the first engine has ended, the one before this has used its slice, or there is nothing left
    /// to do.
    fn wait(&self, time: Duration, number: usize, budget: &Budget) {
        let until = Instant::now() + time;
        while budget.check().is_ok() {
            let now = Instant::now();
            if number > 0 && self.has_used_slice(number - 1) {
                return;
            }
            let reports = self.reports();
            if now >= until || reports[0].is_some() {
                return;
            }
            // Answers are posted without a word, so that it is looked for them now and then.
            let nap = (until - now).min(Duration::from_millis(20));
            drop(self.changed.wait_timeout(reports, nap));
        }
    }

    /// Waits until of the engines before this one fewer are at work, or about to be, than there are cores, those that have used
    /// their slices left out; or there is nothing left to do.
    fn wait_for_core(&self, number: usize, budget: &Budget) {
        let cores = budget.threads().max(2);
        let occupies = |other: &usize| !self.ended[*other].load(Ordering::Relaxed) && !self.has_used_slice(*other);
        let is_busy = || (0..number).filter(occupies).count() >= cores;
        while is_busy() && budget.check().is_ok() {
            drop(self.changed.wait_timeout(self.reports(), Duration::from_millis(20)));
        }
    }

    /// An engine is done, or there was nothing to do for it.
    fn keep(&self, number: usize, report: Option<Report>) {
        let is_counted = report.as_ref().is_some_and(|report| report.ended.is_none());
        self.reports()[number] = report.map(|report| (report, Instant::now()));
        self.ended[number].store(true, Ordering::Relaxed);
        if is_counted && matches!(self.asked, Asked::Count) {
            self.over.cancel();
        }
        self.changed.notify_all();
    }

    /// There is something that the engine can answer, or it counts.
    fn has_work(&self, engine: &dyn Engine, task: &Task<'_>) -> bool {
        let is_open = |number: usize| !self.board.is_answered(number) && engine.suits(task, number).is_ok();
        matches!(self.asked, Asked::Count) || (0..task.properties.len()).any(is_open)
    }
}

fn run(members: &[Member<'_>], task: &Task<'_>, asked: Asked, board: &Board, budget: &Budget) -> Report {
    let shared = Shared {
        begun: Instant::now(),
        time: budget.time_left(),
        board,
        asked,
        over: board.settled(),
        seen: Arc::default(),
        ended: members.iter().map(|_| AtomicBool::new(false)).collect(),
        measured: Mutex::default(),
        joined: Mutex::default(),
        reports: Mutex::new(members.iter().map(|_| None).collect()),
        changed: Condvar::new(),
    };
    let budget = budget.clone().with_cancellation(&shared.over);
    run_workers(members.len(), &budget, |budget, number| {
        shared.keep(number, perform(&members[number], number, task, &shared, budget));
    });
    let measured = shared.measured.lock().unwrap_or_else(PoisonError::into_inner).take();
    let joined = std::mem::take(&mut *shared.joined());
    let reports = std::mem::take(&mut *shared.reports());
    let took = shared.begun.elapsed();
    put_together(members, reports, shared.board, &History { measured, joined, took })
}

/// An engine does not know what the system has.
fn refused(engine: &dyn Engine, task: &Task<'_>, why: &str) -> Report {
    let reason = Reason::Unsupported(why.into());
    let unknown = |property| Answer::to(property, engine.name(), reason.clone());
    Report::unfinished(task.system, task.properties.iter().map(unknown).collect(), reason.clone())
}

/// Lets an engine work; `None` if there was nothing left to do for it.
fn perform(
    member: &Member<'_>,
    number: usize,
    task: &Task<'_>,
    shared: &Shared<'_>,
    budget: &Budget,
) -> Option<Report> {
    let budget = match member.joins {
        Joins::AtOnce if number == 0 => {
            let seen = Arc::clone(&shared.seen);
            budget.clone().with_sink(move |progress| seen.note(progress))
        }
        Joins::AtOnce => budget.clone(),
        Joins::Later(later) => {
            let part = join(later, number, shared, budget)?;
            if !shared.has_work(member.engine, task) {
                return None;
            }
            shared.joined().push(Joined { number, at: shared.begun.elapsed(), slice: later.slice });
            part
        }
    };
    if let Err(why) = knows(member.engine, task.system) {
        return Some(refused(member.engine, task, &why));
    }
    // The first engine may have more threads while no other one has joined it.
    let _core = budget.occupy_core();
    Some(match shared.asked {
        Asked::Answers => member.engine.check(task, shared.board, &budget),
        Asked::Count => member.engine.count(task, &budget),
    })
}

/// Waits until an engine is to join, and says what it may take; `None` if all is answered by then, or all has to end.
fn join(later: Later, number: usize, shared: &Shared<'_>, budget: &Budget) -> Option<Budget> {
    shared.wait(later.after, number, budget);
    let measured = shared.seen.measure();
    let at = shared.begun.elapsed();
    if measured.is_shrinking() {
        shared.wait(later.patience, number, budget);
    }
    shared.wait_for_core(number, budget);
    budget.check().ok()?;
    shared.measured.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert((at, measured));
    let part = budget.clone().with_memory_share(later.memory_share);
    let Some(time) = shared.time else { return Some(part) };
    let until = shared.begun + time / later.time_share;
    // After that it may go on only if the first engine has ended.
    let ended = Arc::clone(&shared.ended);
    Some(part.until(move |_| Instant::now() >= until && !ended[0].load(Ordering::Relaxed)).0)
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

/// Who joined when, and why.
struct History {
    /// What the first engine was like when another one joined it.
    measured: Option<(Duration, Measured)>,
    /// Those that joined.
    joined: Vec<Joined>,
    took: Duration,
}

impl History {
    /// In words, of engines of these names.
    fn text(&self, names: &[&str]) -> String {
        let mut text = String::new();
        if let Some((after, measured)) = self.measured {
            text = format!("; {}", measured.text(names[0], after));
        }
        // That the next one joined is what was measured for.
        for Joined { number, at, .. } in self.joined.iter().skip(1) {
            text += &format!("; {} joined after {:.1} s", names[*number], at.as_secs_f64());
        }
        text
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
    history: &History,
) -> Report {
    let names: Vec<&str> = members.iter().map(|member| member.engine.name()).collect();
    let began: Vec<&str> = names.iter().zip(&reports).filter(|(_, report)| report.is_some()).map(|(n, _)| *n).collect();
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
    // Whoever knows them has searched everything.
    if !matches!(report.unreached, Some(Ok(_)))
        && let Some(known) = done.iter_mut().find_map(|(_, other, _)| other.unreached.take_if(|known| known.is_ok()))
    {
        report.unreached = Some(known);
    }
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
    if began.len() < 2 {
        return report;
    }
    let why = history.text(&names);
    let choice = if is_complete {
        format!("Engine: {}, which came to its end first{why}", names[best])
    } else {
        format!("Engines: {} side by side, none came to its end alone{why}", began.join(", "))
    };
    report.choice = Some(match report.choice.take() {
        Some(more) => format!("{choice}; {more}"),
        None => choice,
    });
    report.statistics.time_s = history.took.as_secs_f64();
    report
}
