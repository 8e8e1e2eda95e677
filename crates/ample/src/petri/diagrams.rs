//! The worker with decision diagrams: all reachable markings once, and every task looked up in them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use ample_logic::as_ctl;
use ample_model::{Observer, Progress, Reason, Statistics};
use ample_petri::diagram::{Diagrams, Evaluator, Limits, Maybe, Method, Set, Stop, with_stack};
use ample_petri::net::{Net, Sum};
use ample_petri::structure::units;
use num_bigint::BigUint;

use super::board::{Board, Finding, NetRun, Watch};
use super::tasks::Task;
use crate::symbolic::DiagramStatistics;

/// Bytes for a node, with its share of the tables around it.
const NODE_BYTES: u64 = 40;
/// How often the observer is told.
const TELL_EVERY: Duration = Duration::from_millis(10);
/// Who it is.
const ENGINE: &str = "symbolic";

/// What the worker came to.
pub struct Done {
    /// Why it ended early.
    pub ended: Option<Reason>,
    /// How many markings there are.
    pub states: Option<BigUint>,
    /// What the diagrams were like.
    pub diagrams: DiagramStatistics,
}

/// How large things get, told from thread to thread.
struct Desk {
    stop: Arc<AtomicBool>,
    nodes: Arc<AtomicU64>,
}

/// Finds all markings and looks at the open tasks.
pub fn work(net: &Net, board: &Board<'_>, memory: u64, method: Method, observer: &mut dyn Observer) -> Done {
    let desk = Desk { stop: Arc::new(AtomicBool::new(false)), nodes: Arc::new(AtomicU64::new(0)) };
    let (sender, receiver) = mpsc::channel();
    let mut watch = Watch { observer, board, until: None, ended: None };
    // Nothing is asked: the markings are counted.
    let counts = board.tasks.all.is_empty();
    let mut reason = None;
    let done = std::thread::scope(|scope| {
        let desk = &desk;
        scope.spawn(move || {
            let done = with_stack(net.places.len(), || session(net, board, memory, method, desk));
            // Nobody waits for it if the other side is gone.
            let _ = sender.send(done);
        });
        loop {
            match receiver.recv_timeout(TELL_EVERY) {
                Ok(done) => break done,
                Err(RecvTimeoutError::Timeout) => {
                    let nodes = desk.nodes.load(Ordering::Relaxed);
                    let progress = Progress { nodes, memory: nodes * NODE_BYTES, ..Progress::default() };
                    let told = if counts { watch.observer.progress(&progress) } else { watch.progress(&progress) };
                    reason = reason.take().or(told);
                    if reason.is_some() {
                        desk.stop.store(true, Ordering::Relaxed);
                    }
                }
                Err(RecvTimeoutError::Disconnected) => {
                    break Done { ended: None, states: None, diagrams: DiagramStatistics::default() };
                }
            }
        }
    });
    done.told(reason)
}

impl Done {
    /// The thread that works does not know why it was asked to end.
    fn told(mut self, reason: Option<Reason>) -> Done {
        if self.ended == Some(Reason::Interrupted) {
            self.ended = reason.or(self.ended);
        }
        self
    }
}

fn session(net: &Net, board: &Board<'_>, memory: u64, method: Method, desk: &Desk) -> Done {
    let mut done = Done { ended: None, states: None, diagrams: DiagramStatistics::default() };
    let stop = || desk.stop.load(Ordering::Relaxed);
    let order = units::order(net, &stop);
    let limits = Limits { max_nodes: (memory / NODE_BYTES) as usize, stop: Arc::clone(&desk.stop) };
    let result = Diagrams::new(net, &order, limits).and_then(|mut diagrams| {
        let nodes = Arc::clone(&desk.nodes);
        diagrams.watch(move |size| nodes.store(size.nodes as u64, Ordering::Relaxed));
        let result = answer(&mut diagrams, board, method, &mut done);
        done.diagrams.peak_nodes = diagrams.size().peak;
        result
    });
    done.diagrams.relations = net.transitions.len();
    if let Err(why) = result {
        done.ended = Some(match why {
            Stop::Asked => Reason::Interrupted,
            Stop::Memory => Reason::Memory,
            other => Reason::Unsupported(other.to_string()),
        });
    }
    done
}

fn answer(diagrams: &mut Diagrams, board: &Board<'_>, method: Method, done: &mut Done) -> Maybe<()> {
    let reached = diagrams.reachable(method)?;
    done.diagrams.reached_nodes = diagrams.nodes(&reached)?;
    let count = diagrams.count(&reached)?;
    let many = u64::try_from(&count).is_err().then(|| count.to_string());
    let states = u64::try_from(&count).unwrap_or(u64::MAX);
    board.note(&Statistics { states, many_states: many, complete: true, ..Statistics::default() });
    done.states = Some(count);
    // What is quick comes first.
    for task in board.open() {
        match &board.tasks.all[task] {
            Task::Reach(condition) => {
                let goal = diagrams.filter(&reached, condition)?;
                settle_goal(diagrams, board, task, &reached, &goal)?;
            }
            Task::Dead => {
                let goal = diagrams.deadlocks(&reached)?;
                settle_goal(diagrams, board, task, &reached, &goal)?;
            }
            Task::Bound(number) => {
                let value = largest(diagrams, &reached, &board.tasks.sums[*number])?;
                board.settle(task, Finding::Value(value), ENGINE, "all markings as a diagram");
            }
            Task::Branching(_) | Task::Linear(_) => {}
        }
    }
    branching(diagrams, board, reached)
}

fn branching(diagrams: &mut Diagrams, board: &Board<'_>, reached: Set) -> Maybe<()> {
    let initial = diagrams.initial()?;
    for task in board.open() {
        let formula = match &board.tasks.all[task] {
            Task::Branching(formula) => formula.clone(),
            // A dead marking repeats itself in linear time, and has no next one in branching time.
            Task::Linear(formula) if !formula.has_next() => match as_ctl(formula) {
                Some(formula) => formula,
                None => continue,
            },
            _ => continue,
        };
        if board.truth(task).is_some() {
            continue;
        }
        let mut evaluator = Evaluator::new(diagrams, reached.clone())?;
        let set = evaluator.formula(&formula, &board.tasks.atoms)?;
        let holds = diagrams.is_subset(&initial, &set)?;
        board.settle(task, Finding::Truth(holds, None), ENGINE, "all markings as a diagram");
    }
    Ok(())
}

/// How far a run is looked for in a diagram; that there is one is known anyway.
fn settle_goal(diagrams: &mut Diagrams, board: &Board<'_>, task: usize, reached: &Set, goal: &Set) -> Maybe<()> {
    let how = "all markings as a diagram";
    if goal.is_empty() {
        board.settle(task, Finding::Truth(false, None), ENGINE, how);
        return Ok(());
    }
    board.settle(task, Finding::Truth(true, None), ENGINE, how);
    if let Some(prefix) = diagrams.run_to(reached, goal)? {
        board.settle(task, Finding::Truth(true, Some(NetRun::to(prefix))), ENGINE, how);
    }
    Ok(())
}

fn largest(diagrams: &mut Diagrams, reached: &Set, sum: &Sum) -> Maybe<u64> {
    let terms: Vec<(u32, i64)> = sum.terms.iter().map(|(place, factor)| (*place, *factor)).collect();
    let largest = diagrams.max_sum(reached, &terms)?.unwrap_or(0) + i128::from(sum.plus);
    Ok(u64::try_from(largest.max(0)).unwrap_or(u64::MAX))
}
