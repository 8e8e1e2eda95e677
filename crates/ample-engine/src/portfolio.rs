//! The portfolio: several engines on one task.
//!
//! Nothing cheap tells before which engine will do: how well states lie in a diagram is seen by trying only. So the first
//! engine has a short head start, which is enough for most models, and then the others join it. There are never more
//! engines at work at a time than there are cores: where there are fewer cores than engines, the first engines, those
//! that suit best, keep a core each, and the others share the last one in turns. Nobody has to
//! start again, and an engine that is slow to end does not keep the others from theirs. Each property is answered by
//! whoever has its answer first, and then left alone by the others; the portfolio ends when all are answered. A portfolio
//! of one is that engine.

mod turns;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ample_budget::{Budget, Cancellation};
use ample_model::Reason;

use crate::board::Board;
use crate::engine::{Engine, Task, knows};
use crate::report::{Answer, Report, Verdict};
use crate::workers::run_workers;
use turns::Turns;

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
    /// After this time, where the first engine leaves a core idle.
    pub after: Duration,
    /// After this time, where the first engine uses all cores.
    pub after_busy: Duration,
    /// It may have this part of the memory that is not in use.
    pub memory_share: u64,
    /// As long as the first engine is at work and uses all cores it may have this part of the time.
    pub time_share: u32,
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
    /// The first engine uses all cores.
    is_busy: bool,
    /// There is nothing left to do.
    over: Cancellation,
    /// By engine: it has nothing left to do.
    ended: Arc<[AtomicBool]>,
    turns: Arc<Turns>,
    /// The engines that have joined, and when.
    joined: Mutex<Vec<(usize, Duration)>>,
    /// By engine: its report, and when it was there.
    reports: Mutex<Vec<Option<(Report, Instant)>>>,
    changed: Condvar,
}

impl Shared<'_> {
    fn reports(&self) -> MutexGuard<'_, Vec<Option<(Report, Instant)>>> {
        self.reports.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn joined(&self) -> MutexGuard<'_, Vec<(usize, Duration)>> {
        self.joined.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for that long, or until the first engine has ended, or there is nothing left to do.
    fn wait(&self, time: Duration, budget: &Budget) {
        let until = Instant::now() + time;
        while budget.check().is_ok() {
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

    /// An engine is done, or there was nothing to do for it.
    fn keep(&self, number: usize, report: Option<Report>) {
        let is_counted = report.as_ref().is_some_and(|report| report.ended.is_none());
        self.reports()[number] = report.map(|report| (report, Instant::now()));
        self.ended[number].store(true, Ordering::Relaxed);
        self.turns.leave(number);
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
    let cores = budget.threads().max(2);
    let shared = Shared {
        begun: Instant::now(),
        time: budget.time_left(),
        board,
        asked,
        is_busy: matches!(asked, Asked::Answers) && members[0].engine.threads(task, budget) >= cores,
        over: board.settled(),
        ended: members.iter().map(|_| AtomicBool::new(false)).collect(),
        turns: Arc::new(Turns::new(cores)),
        joined: Mutex::default(),
        reports: Mutex::new(members.iter().map(|_| None).collect()),
        changed: Condvar::new(),
    };
    let budget = budget.clone().with_cancellation(&shared.over);
    run_workers(members.len(), &budget, |budget, number| {
        shared.keep(number, perform(&members[number], number, task, &shared, budget));
    });
    let joined = std::mem::take(&mut *shared.joined());
    let reports = std::mem::take(&mut *shared.reports());
    let took = shared.begun.elapsed();
    put_together(members, reports, shared.board, &History { joined, took })
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
        Joins::AtOnce => {
            shared.turns.enter(number);
            budget.clone()
        }
        Joins::Later(later) => {
            let after = if shared.is_busy { later.after_busy } else { later.after };
            shared.wait(after, budget);
            if budget.check().is_err() || !shared.has_work(member.engine, task) {
                return None;
            }
            shared.joined().push((number, shared.begun.elapsed()));
            part(later, number, shared, budget)
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

/// What an engine that joins may take: one core at most, which it may have to share.
fn part(later: Later, number: usize, shared: &Shared<'_>, budget: &Budget) -> Budget {
    shared.turns.enter(number);
    let turns = Arc::clone(&shared.turns);
    let part = budget.clone().with_memory_share(later.memory_share).with_threads(1);
    let part = part.with_turn(move || turns.is_on(number));
    let Some(time) = shared.time.filter(|_| shared.is_busy) else { return part };
    let until = shared.begun + time / later.time_share;
    // After that it may go on only if the first engine has ended.
    let ended = Arc::clone(&shared.ended);
    part.until(move |_| Instant::now() >= until && !ended[0].load(Ordering::Relaxed)).0
}

/// Who joined when.
struct History {
    /// Those that joined, and when.
    joined: Vec<(usize, Duration)>,
    took: Duration,
}

impl History {
    /// In words, of engines of these names.
    fn text(&self, names: &[&str]) -> String {
        let joined =
            |(number, at): &(usize, Duration)| format!("; {} joined after {:.2} s", names[*number], at.as_secs_f64());
        self.joined.iter().map(joined).collect()
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
