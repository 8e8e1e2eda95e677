//! The worker that looks at single markings: what is quick first, then proofs from the structure of the net, then
//! searches that leave out what they can, each for a slice of time that grows from round to round.

use std::collections::HashSet;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use ample_logic::Formula as Logic;
use ample_model::{Observer, Progress, Reason};
use ample_petri::explicit::Limits;
use ample_petri::explicit::reduced::{self, Reached, Strategy};
use ample_petri::explicit::search::{Answers, Questions, explore};
use ample_petri::explicit::temporal::{self, Ending};
use ample_petri::explicit::walk::{Patience, walk};
use ample_petri::net::{Condition, Net, Sum};
use ample_petri::structure::bounds;
use ample_petri::structure::equation::{Budget, Equation};

use super::board::{Board, Finding, NetRun, Watch};
use super::tasks::Task;

/// Who it is.
const ENGINE: &str = "explicit";
/// The first slice of time.
const FIRST_SLICE: Duration = Duration::from_millis(600);
/// Slices grow by this factor.
const GROWTH: u32 = 3;

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
}

/// Everything has to end.
struct Over(Reason);

impl Worker<'_, '_> {
    /// Works until everything is settled; otherwise why it ended.
    pub fn work(&self, observer: &mut dyn Observer) -> Option<Reason> {
        self.rounds(observer).err().map(|over| over.0)
    }

    fn rounds(&self, observer: &mut dyn Observer) -> Result<(), Over> {
        let mut known = Vec::new();
        if !self.from_behind {
            self.all_at_once(&known, FIRST_SLICE, observer)?;
            self.walk(FIRST_SLICE, observer)?;
        }
        known = self.bounds(observer)?;
        if !self.from_behind {
            self.refute(&known, observer)?;
        }
        let mut slice = FIRST_SLICE;
        while !self.board.is_settled() {
            let mut open = self.board.open();
            if self.from_behind {
                open.reverse();
            }
            let mut idle = true;
            for task in open {
                if self.board.truth(task).is_none() && self.take(task) {
                    idle = false;
                    let result = self.look_at(task, &known, slice, observer);
                    self.release(task);
                    result?;
                }
            }
            if !self.from_behind {
                self.all_at_once(&known, slice, observer)?;
                self.walk(slice / 2, observer)?;
            } else if idle {
                self.pause(observer)?;
            }
            slice = slice.saturating_mul(GROWTH);
        }
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
    fn pause(&self, observer: &mut dyn Observer) -> Result<(), Over> {
        std::thread::sleep(Duration::from_millis(20));
        observer.progress(&Progress::default()).map_or(Ok(()), |reason| Err(Over(reason)))
    }

    /// Does something for a slice of time, under an observer that also knows when everything is settled.
    fn during<R>(
        &self,
        slice: Duration,
        observer: &mut dyn Observer,
        work: impl FnOnce(&mut dyn Observer) -> R,
    ) -> Result<R, Over> {
        let until = Some(Instant::now() + slice);
        let mut watch = Watch { observer, board: self.board, until, ended: None };
        let result = work(&mut watch);
        match watch.ended {
            Some(reason) => Err(Over(reason)),
            None => Ok(result),
        }
    }

    fn limits<'k>(&self, known: &'k [Option<u64>]) -> Limits<'k> {
        Limits { bounds: known, memory: self.memory, ..Limits::default() }
    }

    fn bounds(&self, observer: &mut dyn Observer) -> Result<Vec<Option<u64>>, Over> {
        let until = Instant::now() + 4 * FIRST_SLICE;
        let known = bounds::bounds(self.net, &|| self.board.is_settled() || Instant::now() >= until);
        observer.progress(&Progress::default()).map_or(Ok(known), |reason| Err(Over(reason)))
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
    fn all_at_once(&self, known: &[Option<u64>], slice: Duration, observer: &mut dyn Observer) -> Result<(), Over> {
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

    fn walk(&self, slice: Duration, observer: &mut dyn Observer) -> Result<(), Over> {
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

    /// What the state equation excludes.
    fn refute(&self, known: &[Option<u64>], observer: &mut dyn Observer) -> Result<(), Over> {
        let Some(mut equation) = Equation::with_bounds(self.net, known.to_vec()) else { return Ok(()) };
        for task in self.board.open() {
            if self.board.truth(task).is_some() {
                continue;
            }
            let until = Instant::now() + 2 * FIRST_SLICE;
            let stop = || self.board.is_settled() || Instant::now() >= until;
            let budget = Budget::new(&stop);
            let refuted = match &self.board.tasks.all[task] {
                Task::Reach(condition) => equation.refute(condition, budget).is_refuted(),
                Task::Dead => equation.excludes_deadlock(budget),
                Task::Bound(number) => {
                    self.bound(&mut equation, task, *number, budget);
                    false
                }
                Task::Branching(_) | Task::Linear(_) => false,
            };
            if refuted {
                self.board.settle(task, Finding::Truth(false, None), ENGINE, "the state equation");
            }
            if let Some(reason) = observer.progress(&Progress::default()) {
                return Err(Over(reason));
            }
        }
        Ok(())
    }

    /// A sum that was seen to be as large as it can be.
    fn bound(&self, equation: &mut Equation<'_>, task: usize, number: usize, budget: Budget<'_>) {
        let sum = &self.board.tasks.sums[number];
        let seen = self.board.peak(number);
        let terms: Vec<(u32, i64)> = sum.terms.iter().map(|(place, factor)| (*place, *factor)).collect();
        let Some(most) = i64::try_from(seen).ok().and_then(|seen| seen.checked_sub(sum.plus)) else { return };
        if terms.is_empty() || equation.is_at_most(&terms, most, budget) {
            self.board.settle(task, Finding::Value(seen), ENGINE, "a walk, and the state equation");
        }
    }

    /// A search for one task.
    fn look_at(
        &self,
        task: usize,
        known: &[Option<u64>],
        slice: Duration,
        observer: &mut dyn Observer,
    ) -> Result<(), Over> {
        match &self.board.tasks.all[task] {
            Task::Reach(condition) => {
                let reached = self.during(slice, observer, |observer| self.reach(condition, known, observer))?;
                self.settle_reached(task, reached);
            }
            Task::Dead => {
                let reached = self.during(slice, observer, |observer| self.deadlock(known, observer))?;
                self.settle_reached(task, reached);
            }
            Task::Bound(_) => {}
            Task::Branching(formula) => self.branching(task, formula, known, slice, observer)?,
            Task::Linear(formula) => self.linear(task, formula, known, slice, observer)?,
        }
        Ok(())
    }

    fn strategy(&self) -> Strategy {
        Strategy { stubborn: self.reduces, ..Strategy::default() }
    }

    fn reach(&self, condition: &Condition, known: &[Option<u64>], observer: &mut dyn Observer) -> Reached {
        reduced::reach(self.net, condition, self.strategy(), &self.limits(known), observer)
    }

    fn deadlock(&self, known: &[Option<u64>], observer: &mut dyn Observer) -> Reached {
        reduced::deadlock(self.net, self.strategy(), &self.limits(known), observer)
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
        known: &[Option<u64>],
        slice: Duration,
        observer: &mut dyn Observer,
    ) -> Result<(), Over> {
        let found = self.during(slice, observer, |observer| {
            temporal::ctl(self.net, formula, &self.board.tasks.atoms, &self.limits(known), observer)
        })?;
        self.board.note(&found.statistics);
        if let Some(holds) = found.verdict {
            self.board.settle(task, Finding::Truth(holds, None), ENGINE, "local evaluation");
        }
        Ok(())
    }

    fn linear(
        &self,
        task: usize,
        formula: &Logic,
        known: &[Option<u64>],
        slice: Duration,
        observer: &mut dyn Observer,
    ) -> Result<(), Over> {
        let found = self.during(slice, observer, |observer| {
            let limits = self.limits(known);
            temporal::ltl(self.net, formula, &self.board.tasks.atoms, self.reduces, &limits, observer)
        })?;
        self.board.note(&found.statistics);
        let Some(holds) = found.verdict else { return Ok(()) };
        let run = found.counterexample.map(|run| {
            let open = run.ending == Ending::Open;
            NetRun { prefix: run.prefix, cycle: run.cycle, open }
        });
        self.board.settle(task, Finding::Truth(holds, run), ENGINE, "the product with an automaton");
        Ok(())
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
