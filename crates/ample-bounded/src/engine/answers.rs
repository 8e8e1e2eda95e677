//! Questions and answers of a session.

use ample_budget::{Budget, Progress};
use ample_engine::board::Board;
use ample_engine::engine::{Engine, Task};
use ample_engine::report::{Answer, Report};
use ample_model::{Certainty, Reason};

use super::session::{Goal, NotBegun, Session};
use super::{Bounded, ENGINE};
use crate::bmc::{Bmc, Found};

/// Answers all properties.
pub fn all(options: &Bounded, task: &Task<'_>, board: &Board, budget: &Budget) -> Report {
    let mut work = Work::new(options, task, board, budget);
    let ended = work.run().err().map(Reason::from);
    let mut report = Report::of(task.system);
    report.statistics.complete = ended.is_none();
    report.statistics.depth = work.depth;
    report.statistics.counts_depth = true;
    report.answers = work.into_answers(ended.clone());
    report.ended = ended.filter(|reason| !matches!(reason, Reason::Unsupported(_)));
    report
}

/// What is to be found out.
struct Work<'a> {
    options: &'a Bounded,
    task: &'a Task<'a>,
    board: &'a Board,
    budget: &'a Budget,
    answers: Vec<Option<Answer>>,
    /// The goal of each property of safety.
    goals: Vec<Option<Goal>>,
    /// All runs of fewer steps were looked at.
    depth: u64,
}

impl<'a> Work<'a> {
    fn new(options: &'a Bounded, task: &'a Task<'a>, board: &'a Board, budget: &'a Budget) -> Work<'a> {
        let mut answers = Vec::new();
        let mut goals = Vec::new();
        for (number, property) in task.properties.iter().enumerate() {
            let refused = options.suits(task, number).err();
            answers.push(refused.map(|why| Answer::to(property, ENGINE, Reason::Unsupported(why))));
            goals.push(Goal::of(&property.question));
        }
        Work { options, task, board, budget, answers, goals, depth: 0 }
    }

    /// The properties that have no answer yet, from this engine or another.
    fn open(&self) -> Vec<usize> {
        let is_open = |number: &usize| self.answers[*number].is_none() && !self.board.is_answered(*number);
        (0..self.answers.len()).filter(is_open).collect()
    }

    fn answer(&mut self, number: usize, answer: Answer) {
        self.board.post(number, &answer);
        self.answers[number] = Some(answer);
    }

    fn into_answers(self, ended: Option<Reason>) -> Vec<Answer> {
        let reason = ended.unwrap_or(Reason::Interrupted);
        let open = |number: usize| Answer::to(&self.task.properties[number], ENGINE, reason.clone());
        let answers = self.answers.into_iter().enumerate();
        answers.map(|(number, answer)| answer.unwrap_or_else(|| open(number))).collect()
    }

    fn run(&mut self) -> Result<(), NotBegun> {
        let mut session = Session::begin(self.task.system, self.budget)?;
        let mut since = 0;
        loop {
            match self.search(&mut session, since)? {
                None => return Ok(()),
                Some(overflow) => {
                    since = overflow.inputs.len();
                    session = session.widen(&overflow, self.budget)?;
                }
            }
        }
    }

    /// Looks for runs of at least so many steps; returns one to a step that does not fit, if it has to start again.
    fn search(&mut self, session: &mut Session<'a>, since: usize) -> Result<Option<crate::bmc::Path>, NotBegun> {
        let mut targets = Vec::new();
        for number in self.open() {
            if let Some(goal) = &self.goals[number] {
                targets.push((number, session.bad(goal, self.budget)?));
            }
        }
        let (machine, overflow) = (session.machine.clone(), session.overflow);
        let mut bmc = Bmc::new(&machine, targets, overflow, since, self.budget)?;
        loop {
            let open = self.open();
            if open.is_empty() {
                return Ok(None);
            }
            (0..self.answers.len()).filter(|number| !open.contains(number)).for_each(|number| bmc.leave(number));
            let Found { violated, overflow, is_complete } = bmc.examine()?;
            for (number, path) in violated {
                self.violated(session, number, &path);
                bmc.leave(number);
            }
            if overflow.is_some() {
                return Ok(overflow);
            }
            if is_complete {
                self.all_hold(Certainty::Proved);
                return Ok(None);
            }
            self.depth = bmc.depth() as u64;
            if self.options.bound.is_some_and(|bound| self.depth >= bound) {
                self.all_hold(Certainty::Bounded(self.depth));
                return Ok(None);
            }
            bmc.step()?;
            self.budget.report(&Progress { depth: self.depth, ..Progress::default() })?;
        }
    }

    /// What has no answer holds.
    fn all_hold(&mut self, certainty: Certainty) {
        for number in self.open() {
            let answer = Answer::to(&self.task.properties[number], ENGINE, certainty.clone());
            self.answer(number, answer);
        }
    }

    fn violated(&mut self, session: &Session<'_>, number: usize, path: &crate::bmc::Path) {
        let property = &self.task.properties[number];
        let Some(goal) = &self.goals[number] else { return };
        let answer = match session.evidence(goal, path) {
            Some(evidence) => {
                Answer::violated(self.task.system, property, ENGINE, &evidence, self.task.settings, self.budget)
            }
            None => Answer::to(property, ENGINE, Reason::Unsupported(TOO_MANY_STARTS.into())),
        };
        self.answer(number, answer);
    }
}

/// Of a run whose beginning cannot be told.
const TOO_MANY_STARTS: &str =
    "it is violated, but the initial state of the run has a number beyond what a trace can tell";
