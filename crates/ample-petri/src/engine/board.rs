//! The board: what the engines have found out, for all to see.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::evidence::Evidence;
use crate::net::Condition;
use ample_model::{Observer, Progress, Reason, Statistics};

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
pub struct Found {
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
    found: Mutex<Findings>,
    /// By task: the answers that depend on it.
    users: Vec<Vec<usize>>,
    /// What shows the truth of formulas, where one run may not be enough.
    evidence: Mutex<Vec<Option<Evidence>>>,
    /// When the work began.
    pub begun: Instant,
    /// Lower bounds of sums that were met on the way.
    peaks: Vec<AtomicU64>,
    settled: AtomicBool,
    /// Somebody was told to end.
    over: AtomicBool,
    /// When all must have ended.
    deadline: Option<Instant>,
    /// What the largest search did.
    statistics: Mutex<Statistics>,
}

/// What was found out about the tasks, and which answers follow.
struct Findings {
    found: Vec<Option<Found>>,
    deduction: Deduction,
}

impl Findings {
    fn truth(&self, task: usize) -> Option<bool> {
        match &self.found[task] {
            Some(Found { finding: Finding::Truth(truth, _), .. }) => Some(*truth),
            _ => None,
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Board<'a> {
    /// An empty one.
    pub fn new(tasks: &'a Tasks, wanted: &'a [Answerable], deadline: Option<Instant>) -> Board<'a> {
        let mut users = vec![Vec::new(); tasks.all.len()];
        for (number, wanted) in wanted.iter().enumerate() {
            let mut each = Vec::new();
            wanted.tasks(&mut each);
            each.sort_unstable();
            each.dedup();
            each.into_iter().for_each(|task| users[task].push(number));
        }
        let deduction = Deduction::new(tasks.all.len(), wanted);
        let settled = deduction.is_complete();
        let findings = Findings { found: vec![None; tasks.all.len()], deduction };
        Board {
            tasks,
            wanted,
            found: Mutex::new(findings),
            users,
            evidence: Mutex::new(vec![None; tasks.all.len()]),
            begun: Instant::now(),
            peaks: tasks.sums.iter().map(|_| AtomicU64::new(0)).collect(),
            settled: AtomicBool::new(settled),
            over: AtomicBool::new(false),
            deadline,
            statistics: Mutex::new(Statistics::default()),
        }
    }

    /// All answers are known.
    pub fn is_settled(&self) -> bool {
        self.settled.load(Ordering::Relaxed)
    }

    /// The answer of that number is not asked for any more: another engine has it.
    pub fn dismiss(&self, answer: usize) {
        let mut findings = lock(&self.found);
        findings.deduction.dismiss(answer);
        if findings.deduction.is_complete() {
            self.settled.store(true, Ordering::Relaxed);
        }
    }

    /// There is no use in going on: all answers are known, or time is up.
    pub fn is_over(&self) -> bool {
        self.is_settled()
            || self.over.load(Ordering::Relaxed)
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
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
            Some(Found { finding: Finding::Truth(old, None), .. }) => {
                matches!(&finding, Finding::Truth(new, Some(_)) if new == old)
            }
            Some(_) => false,
        };
        if is_better {
            findings.found[task] = Some(Found { finding, engine, how });
        }
        if findings.deduction.is_complete() {
            self.settled.store(true, Ordering::Relaxed);
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
    pub fn found(&self, task: usize) -> Option<Found> {
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
    pub fn is_shown(&self, task: usize) -> bool {
        matches!(&lock(&self.found).found[task], Some(Found { finding: Finding::Truth(_, Some(_)), .. }))
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

/// An observer that also ends a search when everything is settled, or at a time of its own.
pub struct Watch<'a, 'b> {
    /// Whom to tell.
    pub observer: &'a mut dyn Observer,
    /// What ends it.
    pub board: &'a Board<'b>,
    /// When it ends, if before that.
    pub until: Option<Instant>,
    /// The reason for which everything is to end.
    pub ended: Option<Reason>,
}

impl Observer for Watch<'_, '_> {
    fn progress(&mut self, progress: &Progress) -> Option<Reason> {
        if let Some(reason) = self.observer.progress(progress) {
            self.ended = Some(reason.clone());
            self.board.over.store(true, Ordering::Relaxed);
            return Some(reason);
        }
        if self.board.is_settled() {
            return Some(Reason::Interrupted);
        }
        (self.until.is_some_and(|until| Instant::now() >= until)).then_some(Reason::Time)
    }
}
