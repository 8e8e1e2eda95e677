//! The board: what the engines have found out, for all to see.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::evidence::Evidence;
use crate::net::Condition;
use ample_model::{Budget, Cancellation, Statistics};

use super::deduction::Deduction;
use super::tasks::{Answerable, Tasks, Wanted};

/// A run of the net, in transitions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NetRun {
    /// From the start.
    pub prefix: Vec<u32>,
    /// What is repeated after that; nothing if it stays there for ever.
    pub cycle: Vec<u32>,
    /// How it goes on does not matter.
    pub open: bool,
}

impl NetRun {
    /// To a marking.
    pub fn to(prefix: Vec<u32>) -> NetRun {
        NetRun { prefix, cycle: Vec::new(), open: true }
    }
}

/// What was found out.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// It is so, or not; and a run that shows it, where a run can and is known.
    Truth(bool, Option<NetRun>),
    /// The largest value of a sum.
    Value(u64),
}

/// A finding, and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Conclusion {
    /// What it is.
    pub finding: Finding,
    /// The engine.
    pub engine: &'static str,
    /// How, in a few words.
    pub how: &'static str,
}

/// All tasks, and what was found out about them.
pub struct Board<'a> {
    /// The tasks.
    pub tasks: &'a Tasks,
    /// How answers follow.
    pub wanted: &'a [Answerable],
    found: Arc<Mutex<Findings>>,
    /// By task: the answers that depend on it.
    users: Vec<Vec<usize>>,
    /// What shows the truth of formulas, where one run may not be enough.
    evidence: Mutex<Vec<Option<Evidence>>>,
    /// When the work began.
    pub begun: Instant,
    /// Lower bounds of sums that were met on the way.
    peaks: Vec<AtomicU64>,
    /// Cancelled when all answers are known.
    complete: Cancellation,
    /// What all of the work may take.
    budget: Budget,
    /// What the largest search did.
    statistics: Mutex<Statistics>,
}

/// What was found out about the tasks, and which answers follow.
struct Findings {
    found: Vec<Option<Conclusion>>,
    deduction: Deduction,
}

impl Findings {
    fn truth(&self, task: usize) -> Option<bool> {
        match &self.found[task] {
            Some(Conclusion { finding: Finding::Truth(truth, _), .. }) => Some(*truth),
            _ => None,
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Board<'a> {
    /// An empty one.
    pub fn new(tasks: &'a Tasks, wanted: &'a [Answerable], budget: &Budget) -> Board<'a> {
        let mut users = vec![Vec::new(); tasks.all.len()];
        for (number, wanted) in wanted.iter().enumerate() {
            let mut each = Vec::new();
            wanted.tasks(&mut each);
            each.sort_unstable();
            each.dedup();
            each.into_iter().for_each(|task| users[task].push(number));
        }
        let deduction = Deduction::new(tasks.all.len(), wanted);
        let complete = Cancellation::new();
        if deduction.is_complete() {
            complete.cancel();
        }
        let findings = Findings { found: vec![None; tasks.all.len()], deduction };
        Board {
            tasks,
            wanted,
            found: Arc::new(Mutex::new(findings)),
            users,
            evidence: Mutex::new(vec![None; tasks.all.len()]),
            begun: Instant::now(),
            peaks: tasks.sums.iter().map(|_| AtomicU64::new(0)).collect(),
            complete,
            budget: budget.clone(),
            statistics: Mutex::new(Statistics::default()),
        }
    }

    /// All answers are known.
    pub fn is_complete(&self) -> bool {
        self.complete.is_cancelled()
    }

    /// The same budget, ending when all answers are known.
    pub fn until_complete(&self, budget: &Budget) -> Budget {
        budget.clone().with_cancellation(&self.complete)
    }

    /// The same budget; as soon as one of these is cancelled, another engine has the answer of that number, and it is not
    /// asked for any more.
    pub fn dismissing(&self, budget: &Budget, answered: Vec<Cancellation>) -> Budget {
        let (found, complete) = (Arc::clone(&self.found), self.complete.clone());
        let waiting: Mutex<Vec<(usize, Cancellation)>> = Mutex::new(answered.into_iter().enumerate().collect());
        budget.clone().with_sink(move |_| {
            lock(&waiting).retain(|(answer, answered)| {
                if answered.is_cancelled() {
                    let mut findings = lock(&found);
                    findings.deduction.dismiss(*answer);
                    if findings.deduction.is_complete() {
                        complete.cancel();
                    }
                }
                !answered.is_cancelled()
            });
        })
    }

    /// There is no use in going on: all answers are known, or all has to end.
    pub fn is_over(&self) -> bool {
        self.is_complete() || self.budget.check().is_err()
    }

    /// The conditions in the formulas of open tasks.
    pub fn conditions(&self) -> Vec<Condition> {
        let mut conditions = Vec::new();
        self.open().into_iter().for_each(|task| self.tasks.conditions(task, &mut conditions));
        conditions
    }

    /// Notes a finding; the first one stays, unless a later one has a run to show for it.
    pub fn settle(&self, task: usize, finding: Finding, engine: &'static str, how: &'static str) {
        let mut findings = lock(&self.found);
        let is_better = match &findings.found[task] {
            None => {
                let value = !matches!(finding, Finding::Truth(false, _));
                findings.deduction.decide(task, value);
                true
            }
            Some(Conclusion { finding: Finding::Truth(old, None), .. }) => {
                matches!(&finding, Finding::Truth(new, Some(_)) if new == old)
            }
            Some(_) => false,
        };
        if is_better {
            findings.found[task] = Some(Conclusion { finding, engine, how });
        }
        if findings.deduction.is_complete() {
            self.complete.cancel();
        }
    }

    /// A sum was seen to be so large.
    pub fn raise(&self, sum: usize, value: u64) {
        self.peaks[sum].fetch_max(value, Ordering::Relaxed);
    }

    /// The largest value of a sum that was seen.
    pub fn peak(&self, sum: usize) -> u64 {
        self.peaks[sum].load(Ordering::Relaxed)
    }

    /// What is known about a task.
    pub fn found(&self, task: usize) -> Option<Conclusion> {
        lock(&self.found).found[task].clone()
    }

    /// The truth of a task, if it is known.
    pub fn truth(&self, task: usize) -> Option<bool> {
        lock(&self.found).truth(task)
    }

    /// A run that shows the task to be true shows that some property is violated, or holds.
    pub fn shows(&self, task: usize) -> bool {
        let shows = |wanted: &Wanted| wanted.is_refuted_by(task) || wanted.is_proved_by(task);
        let mut users = self.users[task].iter().map(|number| &self.wanted[*number]);
        users.any(|wanted| matches!(wanted, Answerable::Truth(wanted) if shows(wanted)))
    }

    /// Keeps what shows the truth of a formula, in the words of the net that was asked about; the first stays.
    pub fn show(&self, task: usize, evidence: Evidence) {
        lock(&self.evidence)[task].get_or_insert(evidence);
    }

    /// What shows the truth of a formula.
    pub fn evidence(&self, task: usize) -> Option<Evidence> {
        lock(&self.evidence)[task].clone()
    }

    /// There is something to show for the task already.
    pub fn has_evidence(&self, task: usize) -> bool {
        matches!(&lock(&self.found).found[task], Some(Conclusion { finding: Finding::Truth(_, Some(_)), .. }))
            || lock(&self.evidence)[task].is_some()
    }

    /// The tasks that can still make a difference to an answer.
    pub fn open(&self) -> Vec<usize> {
        let findings = lock(&self.found);
        let known = |task: usize| findings.truth(task);
        let mut open = Vec::new();
        for (number, wanted) in self.wanted.iter().enumerate() {
            match wanted {
                _ if findings.deduction.is_known(number) => {}
                Answerable::Truth(wanted) => wanted.open(&known, &mut open),
                Answerable::Value(task) => open.push(*task),
                Answerable::Not(_) | Answerable::Ended(_) => {}
            }
        }
        open.sort_unstable();
        open.dedup();
        open
    }

    /// Keeps the figures of a search if it was the largest so far.
    pub fn note(&self, statistics: &Statistics) {
        let mut best = lock(&self.statistics);
        if statistics.complete && !best.complete
            || statistics.complete == best.complete && statistics.states > best.states
        {
            *best = statistics.clone();
        }
    }

    /// The figures of the largest search.
    pub fn statistics(&self) -> Statistics {
        lock(&self.statistics).clone()
    }

    /// The value of something wanted.
    pub fn value(&self, wanted: &Wanted) -> Option<bool> {
        wanted.value(&|task| self.truth(task))
    }
}
