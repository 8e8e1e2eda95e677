//! Checking Petri nets.
//!
//! Properties are taken apart into [`tasks`], and two workers find out about them side by side: one looks at single
//! markings ([`explicit`]), the other at all of them as a decision diagram ([`diagrams`]). What one of them finds is on
//! the [`board`] for both, and the work ends when every answer follows from it. Runs are replayed by the reference
//! interpreter like those of any other model. Where binary diagrams are asked for, [`binary`] gives the net to the
//! symbolic engine for all models.

mod answers;
mod binary;
mod board;
mod diagrams;
mod explicit;
mod shown;
mod tasks;

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ample_model::{Observer, Progress, Property, Reason, Statistics, System};
use ample_petri::diagram::Method;
use ample_petri::explicit::Limits;
use ample_petri::explicit::search::count;
use ample_petri::net::Net;
use ample_petri::structure::bounds;

use self::board::Board;
use self::tasks::{Answerable, Tasks};
use crate::check::{CheckOptions, Engine, Fairness};
use crate::reduction::PartialOrder;
use crate::report::Report;
use crate::symbolic::{DiagramKind, DiagramStatistics, Reach};
use crate::together::together;

/// Where nobody sets a limit to the memory.
const DEFAULT_MEMORY: u64 = 4 << 30;
/// Counting starts with single markings, and for so long with them alone.
const HEAD_START: Duration = Duration::from_millis(300);

/// The net that a system is, if it is one and is to be checked as one.
pub fn net_of(system: &System, options: &CheckOptions) -> Option<Net> {
    let is_plain = options.fairness == Fairness::None && options.max_depth.is_none();
    if is_plain { Net::of(system) } else { None }
}

/// The memory that each of so many workers may take.
fn memory(options: &CheckOptions, workers: u64) -> u64 {
    let used = crate::limits::resident_memory().unwrap_or(0);
    options.memory_limit.unwrap_or(DEFAULT_MEMORY).saturating_sub(used) / 10 * 8 / workers
}

/// How diagrams are made.
fn method(options: &CheckOptions) -> Method {
    use ample_symbolic::reach::Method as Asked;
    match options.symbolic.reach {
        Reach::By(Asked::Frontier | Asked::Whole) => Method::Bfs,
        Reach::By(Asked::Chaining) => Method::Chaining,
        _ => Method::Saturation,
    }
}

/// Binary decision diagrams are asked for.
fn is_binary(options: &CheckOptions) -> bool {
    options.engine == Engine::Symbolic && options.symbolic.diagrams == DiagramKind::Binary
}

/// Checks properties of a net.
pub fn check(
    system: &System,
    net: &Net,
    properties: &[Property],
    options: &CheckOptions,
    observer: &mut dyn Observer,
) -> Report {
    if is_binary(options) {
        return binary::check(system, net, properties, options, observer);
    }
    let begun = Instant::now();
    let mut tasks = Tasks::new(net);
    let wanted: Vec<Answerable> = properties.iter().map(|property| tasks.add(property)).collect();
    let deadline = options.time.and_then(|time| begun.checked_add(time));
    let board = Board::new(&tasks, &wanted, deadline);
    let mut done = Ended::default();
    if !board.is_settled() {
        done = work(net, &board, options, observer);
    }
    let answers = answers::all(system, net, properties, &board, done.reason.as_ref(), observer);
    let statistics = Statistics { time_s: begun.elapsed().as_secs_f64(), ..board.statistics() };
    let open = !board.open().is_empty();
    report(system, answers, open.then_some(done.reason.unwrap_or(Reason::Interrupted)), statistics, done.diagrams)
}

/// How the work ended.
#[derive(Default)]
struct Ended {
    reason: Option<Reason>,
    diagrams: Option<DiagramStatistics>,
}

fn work(net: &Net, board: &Board<'_>, options: &CheckOptions, observer: &mut dyn Observer) -> Ended {
    let busy = Mutex::new(HashSet::new());
    let reduces = options.partial_order != PartialOrder::None;
    let worker = |from_behind, memory: u64| explicit::Worker {
        net,
        board,
        memory: memory as usize,
        reduces,
        busy: &busy,
        from_behind,
    };
    match options.engine {
        Engine::Explicit | Engine::Sog => {
            Ended { reason: worker(false, memory(options, 1)).work(observer), diagrams: None }
        }
        Engine::Symbolic => {
            let done = diagrams::work(net, board, memory(options, 1), method(options), observer);
            let reason = done.ended.or_else(|| Some(only_branching()));
            Ended { reason, diagrams: Some(done.diagrams) }
        }
        Engine::Auto => {
            let memory = memory(options, 2);
            let ended = Mutex::new(Ended::default());
            together(2, observer, |observer, number| {
                let reason = if number == 0 {
                    worker(false, memory).work(observer)
                } else {
                    let done = diagrams::work(net, board, memory, method(options), observer);
                    if let Ok(mut ended) = ended.lock() {
                        ended.diagrams = Some(done.diagrams);
                    }
                    match done.ended {
                        // What diagrams cannot do, or not in the room that they have, is looked for in other ways.
                        None | Some(Reason::Memory | Reason::Unsupported(_)) => worker(true, memory).work(observer),
                        reason => reason,
                    }
                };
                if let Ok(mut ended) = ended.lock() {
                    ended.reason = ended.reason.take().or(reason);
                }
            });
            ended.into_inner().unwrap_or_default()
        }
    }
}

fn only_branching() -> Reason {
    Reason::Unsupported("the diagrams of nets do not answer LTL; `--engine explicit` does".into())
}

/// Counts the markings of a net.
pub fn states(system: &System, net: &Net, options: &CheckOptions, observer: &mut dyn Observer) -> Report {
    if is_binary(options) {
        return binary::states(system, net, options, observer);
    }
    let begun = Instant::now();
    let (tasks, wanted) = (Tasks::new(net), Vec::new());
    let board = Board::new(&tasks, &wanted, None);
    let explicit = |memory: u64, over: &AtomicBool, observer: &mut dyn Observer| {
        let until = begun + Duration::from_secs(2);
        let known = bounds::bounds(net, &|| over.load(Ordering::Relaxed) || Instant::now() >= until);
        let limits = Limits { bounds: &known, memory: memory as usize, ..Limits::default() };
        let counts = count(net, &limits, &mut Until { observer, over });
        (counts.statistics, counts.ended)
    };
    let symbolic = |memory: u64, over: &AtomicBool, observer: &mut dyn Observer| {
        let done = diagrams::work(net, &board, memory, method(options), &mut Until { observer, over });
        (board.statistics(), done.ended, done.diagrams)
    };
    let never = AtomicBool::new(false);
    let (statistics, ended, diagrams) = match options.engine {
        Engine::Explicit | Engine::Sog => {
            let (statistics, ended) = explicit(memory(options, 1), &never, observer);
            (statistics, ended, None)
        }
        Engine::Symbolic => {
            let (statistics, ended, diagrams) = symbolic(memory(options, 1), &never, observer);
            (statistics, ended, Some(diagrams))
        }
        Engine::Auto => {
            let memory = memory(options, 2);
            let results: Mutex<[Option<Counted>; 2]> = Mutex::new([None, None]);
            let over = AtomicBool::new(false);
            together(2, observer, |observer, number| {
                let counted = if number == 0 {
                    let (statistics, ended) = explicit(memory, &over, observer);
                    (statistics, ended, None)
                } else {
                    while begun.elapsed() < HEAD_START && !over.load(Ordering::Relaxed) {
                        std::thread::sleep(Duration::from_millis(5));
                    }
                    if over.load(Ordering::Relaxed) {
                        return;
                    }
                    let (statistics, ended, diagrams) = symbolic(memory, &over, observer);
                    (statistics, ended, Some(diagrams))
                };
                if counted.1.is_none() {
                    over.store(true, Ordering::Relaxed);
                }
                if let Ok(mut results) = results.lock() {
                    results[number] = Some(counted);
                }
            });
            let mut results = results.into_inner().unwrap_or_default();
            let winner = results.iter().position(|counted| matches!(counted, Some((_, None, _)))).unwrap_or(0);
            results[winner].take().unwrap_or((Statistics::default(), Some(Reason::Interrupted), None))
        }
    };
    let statistics = Statistics { time_s: begun.elapsed().as_secs_f64(), complete: ended.is_none(), ..statistics };
    report(system, Vec::new(), ended, statistics, diagrams)
}

/// A count, why it is not complete, and the diagrams if it was done with them.
type Counted = (Statistics, Option<Reason>, Option<DiagramStatistics>);

/// Ends a count when the other one is done.
struct Until<'a> {
    observer: &'a mut dyn Observer,
    over: &'a AtomicBool,
}

impl Observer for Until<'_> {
    fn progress(&mut self, progress: &Progress) -> Option<Reason> {
        let over = self.over.load(Ordering::Relaxed).then_some(Reason::Interrupted);
        self.observer.progress(progress).or(over)
    }
}

fn report(
    system: &System,
    answers: Vec<crate::report::Answer>,
    ended: Option<Reason>,
    statistics: Statistics,
    diagrams: Option<DiagramStatistics>,
) -> Report {
    Report {
        model: system.name.clone(),
        language: system.language.clone(),
        answers,
        ended,
        statistics,
        reduction: None,
        diagrams,
        choice: None,
    }
}
