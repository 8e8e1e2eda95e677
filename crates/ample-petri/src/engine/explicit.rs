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
use crate::structure::equation::{self, Answer as Solution, Budget, Equation};
use ample_logic::{Formula as Logic, as_ctl};
use ample_model::{Observer, Progress, Reason};

use super::board::{Board, Finding, NetRun, Watch};
use super::tasks::Task;

/// Who it is.
const ENGINE: &str = "explicit";
/// The first slice of time.
const FIRST_SLICE: Duration = Duration::from_millis(600);
/// Slices grow by this factor.
const GROWTH: u32 = 3;
/// And not beyond this.
const LONGEST_SLICE: Duration = Duration::from_secs(1800);

/// Longer than anybody waits.
const FOR_EVER: Duration = Duration::from_secs(1 << 30);

/// The observer is told after so many looks at a transition.
const STEPS: u64 = 2_000_000;
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

/// Everything has to end.
struct Interruption(Reason);

impl Worker<'_, '_> {
    /// Works until everything is settled; otherwise why it ended.
    pub fn work(&self, observer: &mut dyn Observer) -> Option<Reason> {
        self.rounds(observer).err().map(|interruption| interruption.0)
    }

    fn rounds(&self, observer: &mut dyn Observer) -> Result<(), Interruption> {
        let mut known = Vec::new();
        let mut slice = FIRST_SLICE;
        let mut round = 0;
        self.wait(observer)?;
        while !self.board.is_settled() {
            if !self.from_behind {
                if self.explored.is_none() {
                    self.all_at_once(&known, slice, observer)?;
                }
                self.walk(slice / 2, observer)?;
            }
            if round == 0 {
                known = self.bounds(observer)?;
            }
            if !self.from_behind {
                self.refute(&known, slice, observer)?;
            }
            let mut open = self.board.open();
            if self.from_behind {
                open.reverse();
            }
            let mut idle = true;
            for task in open {
                if !self.board.is_settled() && self.board.truth(task).is_none() && self.take(task) {
                    idle = false;
                    let result = self.look_at(task, slice, observer);
                    self.release(task);
                    result?;
                }
            }
            if idle && self.from_behind {
                self.pause(observer)?;
                continue;
            }
            slice = slice.saturating_mul(GROWTH).min(LONGEST_SLICE);
            round += 1;
        }
        Ok(())
    }

    /// What a short exploration decides needs nothing else.
    fn wait(&self, observer: &mut dyn Observer) -> Result<(), Interruption> {
        let Some(explored) = self.explored else { return Ok(()) };
        let until = Instant::now() + FIRST_SLICE;
        while !explored.load(Ordering::Relaxed) && !self.board.is_settled() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(2));
            if let Some(reason) = observer.progress(&Progress::default()) {
                return Err(Interruption(reason));
            }
        }
        Ok(())
    }

    /// Explores the net, for all tasks at once and as long as it takes: no method is to take much longer than this.
    pub fn explore(&self, observer: &mut dyn Observer) -> Option<Reason> {
        self.explore_all(observer).err().map(|interruption| interruption.0)
    }

    fn explore_all(&self, observer: &mut dyn Observer) -> Result<(), Interruption> {
        let first = self.all_at_once(&[], FIRST_SLICE, observer);
        // Single formulas may be decided sooner than all of them.
        if let Some(explored) = self.explored {
            explored.store(true, Ordering::Relaxed);
        }
        first?;
        if self.questions().is_empty() {
            self.whole_graph(&[], 2 * FIRST_SLICE, observer)?;
        }
        if self.board.is_settled() {
            return Ok(());
        }
        // With known bounds markings are smaller, but looking for them must not take longer than looking at markings.
        let until = Instant::now() + FIRST_SLICE;
        let known = bounds::bounds(self.net, &|| self.board.is_over() || Instant::now() >= until);
        if !self.questions().is_empty() {
            self.all_at_once(&known, FOR_EVER, observer)?;
        }
        self.whole_graph(&known, FOR_EVER, observer)
    }

    /// All formulas of branching time, on all markings.
    fn whole_graph(
        &self,
        known: &[Option<u64>],
        slice: Duration,
        observer: &mut dyn Observer,
    ) -> Result<(), Interruption> {
        let mut numbers = Vec::new();
        let mut formulas = Vec::new();
        for task in self.board.open() {
            let formula = match &self.board.tasks.all[task] {
                Task::Branching(formula) => Some(formula.clone()),
                // A dead marking repeats itself in linear time, and has no next one in branching time.
                Task::Linear(formula) if !formula.has_next() => as_ctl(formula),
                _ => None,
            };
            if let Some(formula) = formula {
                numbers.push(task);
                formulas.push(formula);
            }
        }
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
        self.during(slice, observer, |observer| {
            let limits = self.limits(known);
            graph::evaluate(self.net, &formulas, &self.board.tasks.atoms, &limits, observer, &is_open, &mut found)
        })?;
        Ok(())
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
    fn pause(&self, observer: &mut dyn Observer) -> Result<(), Interruption> {
        std::thread::sleep(Duration::from_millis(20));
        observer.progress(&Progress::default()).map_or(Ok(()), |reason| Err(Interruption(reason)))
    }

    /// Does something for a slice of time, under an observer that also knows when everything is settled.
    fn during<R>(
        &self,
        slice: Duration,
        observer: &mut dyn Observer,
        work: impl FnOnce(&mut dyn Observer) -> R,
    ) -> Result<R, Interruption> {
        let until = Some(Instant::now() + slice);
        let mut watch = Watch { observer, board: self.board, until, ended: None };
        let result = work(&mut watch);
        match watch.ended {
            Some(reason) => Err(Interruption(reason)),
            None => Ok(result),
        }
    }

    fn limits<'k>(&self, known: &'k [Option<u64>]) -> Limits<'k> {
        // A step in a large net takes as long as many in a small one, and so does one with many things to look at.
        let looks = self.net.transitions.len() + self.board.tasks.all.len() + self.board.tasks.atoms.len();
        let report_every = (STEPS / (looks as u64 + 1)).clamp(16, 10_000);
        Limits { bounds: known, memory: self.memory, report_every }
    }

    fn bounds(&self, observer: &mut dyn Observer) -> Result<Vec<Option<u64>>, Interruption> {
        let until = Instant::now() + 4 * FIRST_SLICE;
        let known = bounds::bounds(self.net, &|| self.board.is_over() || Instant::now() >= until);
        observer.progress(&Progress::default()).map_or(Ok(known), |reason| Err(Interruption(reason)))
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
    fn all_at_once(
        &self,
        known: &[Option<u64>],
        slice: Duration,
        observer: &mut dyn Observer,
    ) -> Result<(), Interruption> {
        let open = self.questions();
        if open.is_empty() {
            return Ok(());
        }
        let answers = self
            .during(slice, observer, |observer| explore(self.net, &open.questions(), &self.limits(known), observer))?;
        self.board.note(&answers.statistics);
        self.settle_all(&open, &answers, true, "all markings, one after the other");
        Ok(())
    }

    fn walk(&self, slice: Duration, observer: &mut dyn Observer) -> Result<(), Interruption> {
        let open = self.questions();
        if open.is_empty() {
            return Ok(());
        }
        let patience = Patience { time: slice, ..Patience::default() };
        let answers =
            self.during(slice * 2, observer, |observer| walk(self.net, &open.questions(), patience, observer))?;
        self.settle_all(&open, &answers, false, "a random walk");
        Ok(())
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
    fn refute(&self, known: &[Option<u64>], slice: Duration, observer: &mut dyn Observer) -> Result<(), Interruption> {
        let all_over = Instant::now() + 4 * slice;
        let Some(mut structure) = Structure::of(self.net, known) else { return Ok(()) };
        for task in self.board.open() {
            if self.board.truth(task).is_some() || Instant::now() >= all_over {
                continue;
            }
            let until = Instant::now() + slice;
            let stop = || self.board.is_over() || Instant::now() >= until;
            match &self.board.tasks.all[task] {
                Task::Reach(goal) => self.decide(&mut structure, task, goal, &stop),
                Task::Dead => {
                    if let Some(goal) = equation::deadlock(self.net) {
                        self.decide(&mut structure, task, &goal, &stop);
                    }
                }
                Task::Bound(number) => {
                    self.bound(&mut structure, task, (*number, &self.board.tasks.sums[*number]), &stop);
                }
                Task::Branching(_) | Task::Linear(_) => {}
            }
            if let Some(reason) = observer.progress(&Progress::default()) {
                return Err(Interruption(reason));
            }
        }
        Ok(())
    }

    /// A goal that the equation excludes, or that one of its solutions leads to.
    fn decide(&self, structure: &mut Structure<'_>, task: usize, goal: &Condition, stop: &dyn Fn() -> bool) {
        let finding = match structure.ask(goal, stop) {
            Asked::Refuted => Finding::Truth(false, None),
            Asked::Reached(realised) => Finding::Truth(true, Some(NetRun::to(realised.run))),
            Asked::Open => return,
        };
        self.board.settle(task, finding, ENGINE, "the state equation");
    }

    /// The largest value of a sum: larger ones are looked for in growing steps, until the next one is excluded.
    fn bound(&self, structure: &mut Structure<'_>, task: usize, (number, sum): (usize, &Sum), stop: &dyn Fn() -> bool) {
        let mut step = 1;
        while !stop() {
            let seen = self.board.peak(number);
            let larger = seen.checked_add(step).and_then(|value| i64::try_from(value).ok());
            let Some(goal) = larger.and_then(|value| sum.at_least(value)) else { return };
            match structure.ask(&goal, stop) {
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
    fn look_at(&self, task: usize, slice: Duration, observer: &mut dyn Observer) -> Result<(), Interruption> {
        match &self.board.tasks.all[task] {
            Task::Reach(_) | Task::Dead => {
                let reached = self.during(slice, observer, |observer| self.reach(task, slice, observer))?;
                self.settle_reached(task, reached);
            }
            Task::Bound(number) => self.largest(task, *number, slice, observer)?,
            Task::Branching(formula) => self.branching(task, formula, slice, observer)?,
            Task::Linear(formula) => self.linear(task, formula, slice, observer)?,
        }
        Ok(())
    }

    fn strategy(&self) -> Strategy {
        Strategy { stubborn: self.reduces, ..Strategy::default() }
    }

    /// A smaller net with the same answer.
    fn simplified(&self, task: usize, slice: Duration) -> Simplified {
        let until = Instant::now() + slice;
        self.board.tasks.simplified(self.net, &[task], &|| self.board.is_over() || Instant::now() >= until)
    }

    /// A run to a condition, or to a dead marking.
    fn reach(&self, task: usize, slice: Duration, observer: &mut dyn Observer) -> Reached {
        let small = self.simplified(task, slice);
        if let Some(known) = self.by_structure(task, &small, slice) {
            return known;
        }
        let limits = self.limits(&[]);
        let mut reached = match &self.board.tasks.all[task] {
            Task::Reach(condition) => match small.translate(condition) {
                Some(goal) => reduced::reach(&small.net, &goal, self.strategy(), &limits, observer),
                None => reduced::reach(self.net, condition, self.strategy(), &limits, observer),
            },
            _ => reduced::deadlock(&small.net, self.strategy(), &limits, observer),
        };
        if let Some(run) = reached.run.take() {
            reached.run = small.expand(&run);
            if reached.run.is_none() {
                // Too long to be told: then it is looked for in the net itself, in other ways.
                reached.ended = Some(Reason::Memory);
            }
        }
        reached
    }

    /// What the state equation of the smaller net says; it was asked about the whole one before.
    fn by_structure(&self, task: usize, small: &Simplified, slice: Duration) -> Option<Reached> {
        let mut structure = self.structure_of(small)?;
        let goal = match &self.board.tasks.all[task] {
            Task::Reach(condition) => small.translate(condition)?,
            _ => equation::deadlock(&small.net)?,
        };
        let until = Instant::now() + slice / 2;
        match structure.ask(&goal, &|| self.board.is_over() || Instant::now() >= until) {
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
    fn largest(
        &self,
        task: usize,
        number: usize,
        slice: Duration,
        observer: &mut dyn Observer,
    ) -> Result<(), Interruption> {
        let small = self.simplified(task, slice);
        let Some(sum) = self.board.tasks.translated_sum(&small, number) else { return Ok(()) };
        if let Some(mut structure) = self.structure_of(&small) {
            let until = Instant::now() + slice / 2;
            let stop = || self.board.is_over() || Instant::now() >= until;
            self.bound(&mut structure, task, (number, &sum), &stop);
            if self.board.found(task).is_some() {
                return Ok(());
            }
        }
        let sums = [sum];
        let questions = Questions { sums: &sums, ..Questions::default() };
        let answers =
            self.during(slice, observer, |observer| explore(&small.net, &questions, &self.limits(&[]), observer))?;
        let Some(peak) = answers.peaks.first() else { return Ok(()) };
        let value = u64::try_from(peak.value.max(0)).unwrap_or(u64::MAX);
        self.board.raise(number, value);
        if answers.ended.is_none() {
            self.board.settle(task, Finding::Value(value), ENGINE, "all markings of a simplified net");
        }
        Ok(())
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

    fn branching(
        &self,
        task: usize,
        formula: &Logic,
        slice: Duration,
        observer: &mut dyn Observer,
    ) -> Result<(), Interruption> {
        let small = self.simplified(task, slice);
        let Some(atoms) = self.board.tasks.translated(&small, formula) else { return Ok(()) };
        let found = self.during(slice, observer, |observer| {
            temporal::ctl(&small.net, formula, &atoms, &self.limits(&[]), observer)
        })?;
        if let Some(holds) = found.verdict {
            if let Some(evidence) = found.evidence.and_then(|evidence| evidence.told(&small, self.net)) {
                self.board.show(task, evidence);
            }
            self.board.settle(task, Finding::Truth(holds, None), ENGINE, "local evaluation");
        }
        Ok(())
    }

    fn linear(
        &self,
        task: usize,
        formula: &Logic,
        slice: Duration,
        observer: &mut dyn Observer,
    ) -> Result<(), Interruption> {
        let small = self.simplified(task, slice);
        let Some(atoms) = self.board.tasks.translated(&small, formula) else { return Ok(()) };
        let found = self.during(slice, observer, |observer| {
            temporal::ltl(&small.net, formula, &atoms, self.reduces, &self.limits(&[]), observer)
        })?;
        let Some(holds) = found.verdict else { return Ok(()) };
        let run = found.counterexample.and_then(|run| self.told(&small, run));
        self.board.settle(task, Finding::Truth(holds, run), ENGINE, "the product with an automaton");
        Ok(())
    }

    /// An endless run of a simplified net as one of the net, if that gets back to where its cycle begins.
    fn told(&self, small: &Simplified, run: Endless) -> Option<NetRun> {
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

    fn ask(&mut self, goal: &Condition, stop: &dyn Fn() -> bool) -> Asked {
        match self.equation.refute(goal, Budget::new(stop)) {
            Solution::Refuted => Asked::Refuted,
            Solution::Maybe(None) => Asked::Open,
            Solution::Maybe(Some(counts)) => {
                self.realiser.realise(&counts, goal, ORDERS, stop).map_or(Asked::Open, Asked::Reached)
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
