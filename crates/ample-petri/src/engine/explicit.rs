//! The worker that looks at single markings: what is quick first, then proofs from the structure of the net, then
//! searches that leave out what they can, each for a slice of time that grows from round to round.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::evidence::fired;
use crate::explicit::realise::{Realised, Realiser};
use crate::explicit::reduced::{self, Reached, Strategy};
use crate::explicit::search::{Answers, Questions, explore};
use crate::explicit::temporal::{self, Ending, Endless};
use crate::explicit::walk::{Patience, walk};
use crate::explicit::{Limits, graph};
use crate::net::{Condition, Net, Sum};
use crate::simplify::Simplified;
use crate::structure::bounds;
use crate::structure::equation::{self, Answer as Solution, Effort, Equation};
use ample_logic::{Formula as Logic, as_ctl};
use ample_model::{Budget, Interrupted, Reason};

use super::board::{Board, Finding, NetRun};
use super::tasks::Task;

/// Who it is.
const ENGINE: &str = "explicit";
/// The first slice of time.
const FIRST_SLICE: Duration = Duration::from_millis(600);
/// For so long formulas are looked at in one way only beside diagrams: a single one in a search of its own, several on all
/// markings at once. Most are decided by then, and one more thread would only take time from the others.
const HEAD_START: Duration = Duration::from_millis(300);
/// Slices grow by this factor.
const GROWTH: u32 = 3;
/// And not beyond this.
const LONGEST_SLICE: Duration = Duration::from_secs(1800);

/// Longer than anybody waits.
const FOR_EVER: Duration = Duration::from_secs(1 << 30);

/// Progress is reported after so many looks at a transition, and after so many markings at the latest. That is a few
/// milliseconds: whatever is done after another worker has the answer is done in vain.
const STEPS: u64 = 250_000;
const MOST_MARKINGS: u64 = 2_500;
/// Orders that are tried for a solution of the state equation.
const ORDERS: usize = 12;

/// What a worker needs to know.
pub struct Worker<'a, 'b> {
    /// The net.
    pub net: &'a Net,
    /// Where findings go.
    pub board: &'a Board<'b>,
    /// Bytes that a search may take.
    pub memory: usize,
    /// Orders of independent steps may be left out.
    pub reduces: bool,
    /// The tasks that somebody is at.
    pub busy: &'a Mutex<HashSet<usize>>,
    /// The last tasks come first, where there are two workers.
    pub from_behind: bool,
    /// Somebody else explores the net for all tasks at once, and sets this when the first, short attempt is over.
    pub explored: Option<&'a AtomicBool>,
}

impl Worker<'_, '_> {
    /// Works until everything is known; otherwise why it ended.
    pub fn work(&self, budget: &Budget) -> Option<Reason> {
        self.rounds(budget).err().map(Reason::from)
    }

    fn rounds(&self, budget: &Budget) -> Result<(), Interrupted> {
        let mut known = Vec::new();
        let mut slice = FIRST_SLICE;
        let mut round = 0;
        self.wait(budget)?;
        while !self.board.is_complete() {
            if !self.from_behind {
                if self.explored.is_none() {
                    self.all_at_once(&known, slice, budget)?;
                }
                self.walk(slice / 2, budget)?;
            }
            // Formulas have no use for bounds of the whole net, nor for its state equation.
            let has_goals = !self.questions().is_empty();
            if round == 0 && has_goals {
                known = self.bounds(budget)?;
            }
            if !self.from_behind && has_goals {
                self.refute(&known, slice, budget)?;
            }
            let mut open = self.board.open();
            if self.from_behind {
                open.reverse();
            }
            let mut idle = true;
            for task in open {
                if !self.board.is_complete() && self.board.truth(task).is_none() && self.take(task) {
                    idle = false;
                    let result = self.look_at(task, slice, budget);
                    self.release(task);
                    result?;
                }
            }
            if idle && self.from_behind {
                self.pause(budget)?;
                continue;
            }
            slice = slice.saturating_mul(GROWTH).min(LONGEST_SLICE);
            round += 1;
        }
        Ok(())
    }

    /// What a short exploration decides needs nothing else.
    fn wait(&self, budget: &Budget) -> Result<(), Interrupted> {
        let Some(explored) = self.explored else { return Ok(()) };
        let longest = if self.questions().is_empty() { HEAD_START } else { FIRST_SLICE };
        self.wait_for(explored, longest, budget)
    }

    /// Waits until that is set, but not for longer than so, nor when everything is known.
    fn wait_for(&self, flag: &AtomicBool, longest: Duration, budget: &Budget) -> Result<(), Interrupted> {
        let until = Instant::now() + longest;
        while !flag.load(Ordering::Relaxed) && !self.board.is_complete() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(2));
            budget.check()?;
        }
        Ok(())
    }

    /// Explores the net, for all tasks at once and as long as it takes: no method is to take much longer than this.
    pub fn explore(&self, budget: &Budget) -> Option<Reason> {
        self.explore_all(budget).err().map(Reason::from)
    }

    fn explore_all(&self, budget: &Budget) -> Result<(), Interrupted> {
        let first = self.first_look(budget);
        self.let_others_begin();
        first?;
        if self.board.is_complete() || self.questions().is_empty() && self.formulas().is_empty() {
            return Ok(());
        }
        // With known bounds markings are smaller, but looking for them must not take longer than looking at markings.
        let known = bounds::bounds(self.net, &self.slice(FIRST_SLICE, budget));
        if !self.questions().is_empty() {
            self.all_at_once(&known, FOR_EVER, budget)?;
        }
        self.whole_graph(&known, FOR_EVER, budget)
    }

    /// What can be seen in a short time, without anything that is known of the net.
    fn first_look(&self, budget: &Budget) -> Result<(), Interrupted> {
        self.all_at_once(&[], FIRST_SLICE, budget)?;
        if !self.questions().is_empty() {
            return Ok(());
        }
        if self.board.open().len() == 1 {
            // Its own search leaves out more, and may end with the first markings.
            self.let_others_begin();
            self.wait_for(&AtomicBool::new(false), HEAD_START, budget)?;
        }
        self.whole_graph(&[], 2 * FIRST_SLICE, budget)
    }

    /// Ends the wait for a short exploration.
    fn let_others_begin(&self) {
        if let Some(explored) = self.explored {
            explored.store(true, Ordering::Relaxed);
        }
    }

    /// The open formulas that all markings answer, in branching time, and the numbers of their tasks.
    fn formulas(&self) -> Vec<(usize, Logic)> {
        let formula = |task: usize| match &self.board.tasks.all[task] {
            Task::Branching(formula) => Some((task, formula.clone())),
            // A dead marking repeats itself in linear time, and has no next one in branching time.
            Task::Linear(formula) if !formula.has_next() => Some((task, as_ctl(formula)?)),
            _ => None,
        };
        self.board.open().into_iter().filter_map(formula).collect()
    }

    /// All formulas of branching time, on all markings.
    fn whole_graph(&self, known: &[Option<u64>], slice: Duration, budget: &Budget) -> Result<(), Interrupted> {
        let (numbers, formulas): (Vec<usize>, Vec<Logic>) = self.formulas().into_iter().unzip();
        if formulas.is_empty() {
            return Ok(());
        }
        let is_open = |number: usize| self.board.truth(numbers[number]).is_none();
        let mut found = |number: usize, value: graph::Value| {
            let task: usize = numbers[number];
            let is_branching = matches!(self.board.tasks.all[task], Task::Branching(_));
            if let Some(evidence) = value.evidence.filter(|_| is_branching) {
                self.board.show(task, evidence);
            }
            self.board.settle(task, Finding::Truth(value.holds, None), ENGINE, "all markings, and what leads where");
        };
        let (slice, limits) = (self.slice(slice, budget), self.limits(known));
        graph::evaluate(self.net, &formulas, &self.board.tasks.atoms, &limits, &slice, &is_open, &mut found);
        budget.check()
    }

    fn take(&self, task: usize) -> bool {
        self.busy.lock().is_ok_and(|mut busy| busy.insert(task))
    }

    fn release(&self, task: usize) {
        if let Ok(mut busy) = self.busy.lock() {
            busy.remove(&task);
        }
    }

    /// There is nothing to do as long as the other worker has the only open task.
    fn pause(&self, budget: &Budget) -> Result<(), Interrupted> {
        std::thread::sleep(Duration::from_millis(20));
        budget.check()
    }

    /// What there is for a slice of time; it ends too when everything is known.
    fn slice(&self, slice: Duration, budget: &Budget) -> Budget {
        self.board.until_complete(budget).with_time(slice)
    }

    fn limits<'k>(&self, known: &'k [Option<u64>]) -> Limits<'k> {
        // A step in a large net takes as long as many in a small one, and so does one with many things to look at.
        let looks = self.net.transitions.len() + self.board.tasks.all.len() + self.board.tasks.atoms.len();
        let report_every = (STEPS / (looks as u64 + 1)).clamp(16, MOST_MARKINGS);
        Limits { bounds: known, memory: self.memory, report_every }
    }

    fn bounds(&self, budget: &Budget) -> Result<Vec<Option<u64>>, Interrupted> {
        let known = bounds::bounds(self.net, &self.slice(4 * FIRST_SLICE, budget));
        budget.check().map(|()| known)
    }

    /// The open tasks that one exploration can answer.
    fn questions(&self) -> Open {
        let mut open = Open::default();
        for task in self.board.open() {
            match &self.board.tasks.all[task] {
                Task::Reach(condition) => {
                    open.goals.push(condition.clone());
                    open.goal_tasks.push(task);
                }
                Task::Dead => open.dead = Some(task),
                Task::Bound(number) => {
                    open.sums.push(self.board.tasks.sums[*number].clone());
                    open.sum_tasks.push((task, *number));
                }
                Task::Branching(_) | Task::Linear(_) => {}
            }
        }
        open
    }

    /// One plain exploration for all that it can answer.
    fn all_at_once(&self, known: &[Option<u64>], slice: Duration, budget: &Budget) -> Result<(), Interrupted> {
        let open = self.questions();
        if open.is_empty() {
            return Ok(());
        }
        let answers = explore(self.net, &open.questions(), &self.limits(known), &self.slice(slice, budget));
        self.board.note(&answers.statistics);
        self.settle_all(&open, &answers, true, "all markings, one after the other");
        budget.check()
    }

    fn walk(&self, slice: Duration, budget: &Budget) -> Result<(), Interrupted> {
        let open = self.questions();
        if open.is_empty() {
            return Ok(());
        }
        let patience = Patience { time: slice, ..Patience::default() };
        let answers = walk(self.net, &open.questions(), patience, &self.slice(slice * 2, budget));
        self.settle_all(&open, &answers, false, "a random walk");
        budget.check()
    }

    /// Notes what was found, and if the exploration was a whole one also what was not.
    fn settle_all(&self, open: &Open, answers: &Answers, whole: bool, how: &'static str) {
        let complete = whole && answers.ended.is_none();
        let reached = |task: usize, run: &Option<Vec<u32>>| match run {
            Some(run) => {
                let run = NetRun::to(run.clone());
                self.board.settle(task, Finding::Truth(true, Some(run)), ENGINE, how);
            }
            None if complete => self.board.settle(task, Finding::Truth(false, None), ENGINE, how),
            None => {}
        };
        for (task, run) in open.goal_tasks.iter().zip(&answers.goals) {
            reached(*task, run);
        }
        if let Some(task) = open.dead {
            reached(task, &answers.deadlock);
        }
        for ((task, number), peak) in open.sum_tasks.iter().zip(&answers.peaks) {
            let value = u64::try_from(peak.value.max(0)).unwrap_or(u64::MAX);
            self.board.raise(*number, value);
            if complete {
                self.board.settle(*task, Finding::Value(value), ENGINE, how);
            }
        }
    }

    /// What the state equation excludes, and where its solutions lead.
    fn refute(&self, known: &[Option<u64>], slice: Duration, budget: &Budget) -> Result<(), Interrupted> {
        let all_over = Instant::now() + 4 * slice;
        let Some(mut structure) = Structure::of(self.net, known) else { return Ok(()) };
        for task in self.board.open() {
            if self.board.truth(task).is_some() || Instant::now() >= all_over {
                continue;
            }
            let slice = self.slice(slice, budget);
            match &self.board.tasks.all[task] {
                Task::Reach(goal) => self.decide(&mut structure, task, goal, &slice),
                Task::Dead => {
                    if let Some(goal) = equation::deadlock(self.net) {
                        self.decide(&mut structure, task, &goal, &slice);
                    }
                }
                Task::Bound(number) => {
                    self.bound(&mut structure, task, (*number, &self.board.tasks.sums[*number]), &slice);
                }
                Task::Branching(_) | Task::Linear(_) => {}
            }
            budget.check()?;
        }
        Ok(())
    }

    /// A goal that the equation excludes, or that one of its solutions leads to.
    fn decide(&self, structure: &mut Structure<'_>, task: usize, goal: &Condition, budget: &Budget) {
        let finding = match structure.ask(goal, budget) {
            Asked::Refuted => Finding::Truth(false, None),
            Asked::Reached(realised) => Finding::Truth(true, Some(NetRun::to(realised.run))),
            Asked::Open => return,
        };
        self.board.settle(task, finding, ENGINE, "the state equation");
    }

    /// The largest value of a sum: larger ones are looked for in growing steps, until the next one is excluded.
    fn bound(&self, structure: &mut Structure<'_>, task: usize, (number, sum): (usize, &Sum), budget: &Budget) {
        let mut step = 1;
        while budget.check().is_ok() {
            let seen = self.board.peak(number);
            let larger = seen.checked_add(step).and_then(|value| i64::try_from(value).ok());
            let Some(goal) = larger.and_then(|value| sum.at_least(value)) else { return };
            match structure.ask(&goal, budget) {
                Asked::Refuted if step == 1 => {
                    let how = "the state equation, and a run";
                    return self.board.settle(task, Finding::Value(seen), ENGINE, how);
                }
                Asked::Reached(realised) => {
                    let value = sum.value(&realised.marking);
                    self.board.raise(number, u64::try_from(value.max(0)).unwrap_or(u64::MAX));
                    step = step.saturating_mul(2);
                }
                Asked::Open if step == 1 => return,
                Asked::Refuted | Asked::Open => step /= 2,
            }
        }
    }

    /// A search for one task.
    fn look_at(&self, task: usize, slice: Duration, budget: &Budget) -> Result<(), Interrupted> {
        match &self.board.tasks.all[task] {
            Task::Reach(_) | Task::Dead => {
                let reached = self.reach(task, slice, &self.slice(slice, budget));
                self.settle_reached(task, reached);
            }
            Task::Bound(number) => self.largest(task, *number, slice, budget),
            Task::Branching(formula) => self.branching(task, formula, slice, budget),
            Task::Linear(formula) => self.linear(task, formula, slice, budget),
        }
        budget.check()
    }

    fn strategy(&self) -> Strategy {
        Strategy { stubborn: self.reduces, ..Strategy::default() }
    }

    /// A smaller net with the same answer.
    fn simplified(&self, task: usize, slice: Duration, budget: &Budget) -> Simplified {
        self.board.tasks.simplified(self.net, &[task], &self.slice(slice, budget))
    }

    /// A run to a condition, or to a dead marking.
    fn reach(&self, task: usize, slice: Duration, budget: &Budget) -> Reached {
        let small = self.simplified(task, slice, budget);
        if let Some(known) = self.by_structure(task, &small, &self.slice(slice / 2, budget)) {
            return known;
        }
        let limits = self.limits(&[]);
        let mut reached = match &self.board.tasks.all[task] {
            Task::Reach(condition) => match small.translate(condition) {
                Some(goal) => reduced::reach(&small.net, &goal, self.strategy(), &limits, budget),
                None => reduced::reach(self.net, condition, self.strategy(), &limits, budget),
            },
            _ => reduced::deadlock(&small.net, self.strategy(), &limits, budget),
        };
        if let Some(run) = reached.run.take() {
            reached.run = small.expand(&run);
            if reached.run.is_none() {
                // Too long to be expanded: then it is looked for in the net itself, in other ways.
                reached.ended = Some(Reason::Memory);
            }
        }
        reached
    }

    /// What the state equation of the smaller net says; it was asked about the whole one before.
    fn by_structure(&self, task: usize, small: &Simplified, budget: &Budget) -> Option<Reached> {
        let mut structure = self.structure_of(small)?;
        let goal = match &self.board.tasks.all[task] {
            Task::Reach(condition) => small.translate(condition)?,
            _ => equation::deadlock(&small.net)?,
        };
        match structure.ask(&goal, budget) {
            Asked::Refuted => Some(Reached { run: None, ended: None, ..Reached::default() }),
            Asked::Reached(realised) => {
                let run = small.expand(&realised.run)?;
                Some(Reached { run: Some(run), ended: None, ..Reached::default() })
            }
            Asked::Open => None,
        }
    }

    fn structure_of<'s>(&self, small: &'s Simplified) -> Option<Structure<'s>> {
        let is_smaller = small.net.transitions.len() < self.net.transitions.len() / 4 * 3;
        if is_smaller { Structure::of(&small.net, &[]) } else { None }
    }

    /// The largest value of a sum, in a smaller net.
    fn largest(&self, task: usize, number: usize, slice: Duration, budget: &Budget) {
        let small = self.simplified(task, slice, budget);
        let Some(sum) = self.board.tasks.translated_sum(&small, number) else { return };
        if let Some(mut structure) = self.structure_of(&small) {
            self.bound(&mut structure, task, (number, &sum), &self.slice(slice / 2, budget));
            if self.board.found(task).is_some() {
                return;
            }
        }
        let sums = [sum];
        let questions = Questions { sums: &sums, ..Questions::default() };
        let answers = explore(&small.net, &questions, &self.limits(&[]), &self.slice(slice, budget));
        let Some(peak) = answers.peaks.first() else { return };
        let value = u64::try_from(peak.value.max(0)).unwrap_or(u64::MAX);
        self.board.raise(number, value);
        if answers.ended.is_none() {
            self.board.settle(task, Finding::Value(value), ENGINE, "all markings of a simplified net");
        }
    }

    fn settle_reached(&self, task: usize, reached: Reached) {
        self.board.note(&reached.statistics);
        let how = if self.reduces { "a search with stubborn sets" } else { "a search" };
        match reached {
            Reached { run: Some(prefix), .. } => {
                let run = NetRun::to(prefix);
                self.board.settle(task, Finding::Truth(true, Some(run)), ENGINE, how);
            }
            Reached { ended: None, .. } => self.board.settle(task, Finding::Truth(false, None), ENGINE, how),
            Reached { .. } => {}
        }
    }

    fn branching(&self, task: usize, formula: &Logic, slice: Duration, budget: &Budget) {
        let small = self.simplified(task, slice, budget);
        let Some(atoms) = self.board.tasks.translated(&small, formula) else { return };
        let found = temporal::ctl(&small.net, formula, &atoms, &self.limits(&[]), &self.slice(slice, budget));
        if let Some(holds) = found.verdict {
            if let Some(evidence) = found.evidence.and_then(|evidence| evidence.expanded(&small, self.net)) {
                self.board.show(task, evidence);
            }
            self.board.settle(task, Finding::Truth(holds, None), ENGINE, "local evaluation");
        }
    }

    fn linear(&self, task: usize, formula: &Logic, slice: Duration, budget: &Budget) {
        let small = self.simplified(task, slice, budget);
        let Some(atoms) = self.board.tasks.translated(&small, formula) else { return };
        let limits = self.limits(&[]);
        let found = temporal::ltl(&small.net, formula, &atoms, self.reduces, &limits, &self.slice(slice, budget));
        let Some(holds) = found.verdict else { return };
        let run = found.counterexample.and_then(|run| self.expanded(&small, run));
        self.board.settle(task, Finding::Truth(holds, run), ENGINE, "the product with an automaton");
    }

    /// An endless run of a simplified net as one of the net, if that gets back to where its cycle begins.
    fn expanded(&self, small: &Simplified, run: Endless) -> Option<NetRun> {
        let open = run.ending == Ending::Open;
        let (prefix, cycle) = small.expand_lasso(&run.prefix, &run.cycle)?;
        let start = fired(self.net, self.net.initial(), &prefix)?;
        let end = fired(self.net, start.clone(), &cycle)?;
        (start == end).then_some(NetRun { prefix, cycle, open })
    }
}

/// The state equation, and what makes runs of its solutions.
struct Structure<'a> {
    equation: Equation<'a>,
    realiser: Realiser<'a>,
}

/// What it says of a goal.
enum Asked {
    Refuted,
    Reached(Realised),
    Open,
}

impl<'a> Structure<'a> {
    fn of(net: &'a Net, known: &[Option<u64>]) -> Option<Structure<'a>> {
        let equation = Equation::with_bounds(net, known.to_vec())?;
        Some(Structure { equation, realiser: Realiser::new(net).ok()? })
    }

    fn ask(&mut self, goal: &Condition, budget: &Budget) -> Asked {
        match self.equation.refute(goal, Effort::new(budget)) {
            Solution::Refuted => Asked::Refuted,
            Solution::Maybe(None) => Asked::Open,
            Solution::Maybe(Some(counts)) => {
                self.realiser.realise(&counts, goal, ORDERS, budget).map_or(Asked::Open, Asked::Reached)
            }
        }
    }
}

/// The open tasks that one exploration can answer.
#[derive(Default)]
struct Open {
    goals: Vec<Condition>,
    goal_tasks: Vec<usize>,
    dead: Option<usize>,
    sums: Vec<Sum>,
    sum_tasks: Vec<(usize, usize)>,
}

impl Open {
    fn is_empty(&self) -> bool {
        self.goals.is_empty() && self.dead.is_none() && self.sums.is_empty()
    }

    fn questions(&self) -> Questions<'_> {
        Questions { goals: &self.goals, deadlock: self.dead.is_some(), sums: &self.sums, ceilings: &[] }
    }
}
