//! The worker with decision diagrams: all reachable markings once, and every task looked up in them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use ample_logic::as_ctl;
use ample_model::{Observer, Progress, Reason, Statistics};
use ample_petri::diagram::{Diagrams, Evaluator, Limits, Maybe, Method, Set, Stop, with_stack};
use ample_petri::net::{Condition, Net, Sum};
use ample_petri::simplify::Simplified;
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
    let open = board.open();
    let small = if open.is_empty() { None } else { Some(board.tasks.simplified(net, &open, &stop)) };
    let simple = small.as_ref().map_or(net, |small| &small.net);
    let order = units::order(simple, &stop);
    let limits = Limits { max_nodes: (memory / NODE_BYTES) as usize, stop: Arc::clone(&desk.stop) };
    let result = Diagrams::new(simple, &order, limits).and_then(|mut diagrams| {
        let nodes = Arc::clone(&desk.nodes);
        diagrams.watch(move |size| nodes.store(size.nodes as u64, Ordering::Relaxed));
        let mut session = Session { diagrams: &mut diagrams, board, small: small.as_ref() };
        let result = session.answer(method, &mut done);
        done.diagrams.peak_nodes = diagrams.size().peak;
        result
    });
    done.diagrams.relations = simple.transitions.len();
    if let Err(why) = result {
        done.ended = Some(match why {
            Stop::Asked => Reason::Interrupted,
            Stop::Memory => Reason::Memory,
            other => Reason::Unsupported(other.to_string()),
        });
    }
    done
}

/// The tables of nodes, and what is asked of them.
struct Session<'a, 'b> {
    diagrams: &'a mut Diagrams,
    board: &'a Board<'b>,
    /// The net whose markings they hold, if it is not the one that was asked about.
    small: Option<&'a Simplified>,
}

const HOW: &str = "all markings as a diagram";

impl Session<'_, '_> {
    fn answer(&mut self, method: Method, done: &mut Done) -> Maybe<()> {
        let reached = self.diagrams.reachable(method)?;
        done.diagrams.reached_nodes = self.diagrams.nodes(&reached)?;
        if self.small.is_none() {
            let count = self.diagrams.count(&reached)?;
            let many = u64::try_from(&count).is_err().then(|| count.to_string());
            let states = u64::try_from(&count).unwrap_or(u64::MAX);
            self.board.note(&Statistics { states, many_states: many, complete: true, ..Statistics::default() });
            done.states = Some(count);
        }
        // What is quick comes first, and runs come last.
        let mut to_show = Vec::new();
        let board = self.board;
        for task in board.open() {
            match &board.tasks.all[task] {
                Task::Reach(condition) => {
                    let Some(condition) = self.translated(condition) else { continue };
                    let goal = self.diagrams.filter(&reached, &condition)?;
                    self.settle_goal(task, goal, &mut to_show);
                }
                Task::Dead => {
                    let goal = self.diagrams.deadlocks(&reached)?;
                    self.settle_goal(task, goal, &mut to_show);
                }
                Task::Bound(number) => {
                    let whole = &board.tasks.sums[*number];
                    let sum = match self.small {
                        Some(small) => board.tasks.translated_sum(small, *number),
                        None => Some(whole.clone()),
                    };
                    let Some(sum) = sum else { continue };
                    let value = self.largest(&reached, &sum)?;
                    board.settle(task, Finding::Value(value), ENGINE, HOW);
                }
                Task::Branching(_) | Task::Linear(_) => {}
            }
        }
        let mut result = self.branching(&reached);
        for (task, goal) in to_show {
            let run = match result {
                Ok(()) => self.run_to(&reached, &goal),
                Err(stop) => Err(stop),
            };
            // That it can be reached is known anyway.
            let found = run.as_ref().ok().cloned().flatten().map(NetRun::to);
            board.settle(task, Finding::Truth(true, found), ENGINE, HOW);
            result = result.and(run.map(drop));
        }
        result
    }

    fn translated(&self, condition: &Condition) -> Option<Condition> {
        match self.small {
            Some(small) => small.translate(condition),
            None => Some(condition.clone()),
        }
    }

    fn branching(&mut self, reached: &Set) -> Maybe<()> {
        let board = self.board;
        let initial = self.diagrams.initial()?;
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
            let atoms = match self.small {
                Some(small) => board.tasks.translated(small, &formula),
                None => Some(board.tasks.atoms.clone()),
            };
            let Some(atoms) = atoms else { continue };
            if board.truth(task).is_some() {
                continue;
            }
            let mut evaluator = Evaluator::new(self.diagrams, reached.clone())?;
            let set = evaluator.formula(&formula, &atoms)?;
            let holds = self.diagrams.is_subset(&initial, &set)?;
            board.settle(task, Finding::Truth(holds, None), ENGINE, HOW);
        }
        Ok(())
    }

    /// Whether the goal can be reached; if a run there is to be shown, it is looked for later.
    fn settle_goal(&mut self, task: usize, goal: Set, to_show: &mut Vec<(usize, Set)>) {
        if !goal.is_empty() && self.board.shows(task) {
            to_show.push((task, goal));
        } else {
            self.board.settle(task, Finding::Truth(!goal.is_empty(), None), ENGINE, HOW);
        }
    }

    /// A run of the net that was asked about; none if it is too long to be told.
    fn run_to(&mut self, reached: &Set, goal: &Set) -> Maybe<Option<Vec<u32>>> {
        let run = self.diagrams.run_to(reached, goal)?;
        Ok(match (run, self.small) {
            (Some(run), Some(small)) => small.expand(&run),
            (run, _) => run,
        })
    }

    fn largest(&mut self, reached: &Set, sum: &Sum) -> Maybe<u64> {
        let terms: Vec<(u32, i64)> = sum.terms.iter().map(|(place, factor)| (*place, *factor)).collect();
        let largest = self.diagrams.max_sum(reached, &terms)?.unwrap_or(0) + i128::from(sum.plus);
        Ok(u64::try_from(largest.max(0)).unwrap_or(u64::MAX))
    }
}
