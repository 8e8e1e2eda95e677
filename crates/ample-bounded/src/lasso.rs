//! Bounded model checking of LTL: is there a fair lasso of `k` steps, prefix and cycle together, for `k` = 1, 2, …
//!
//! The encoding is linear in `k` (A. Biere, K. Heljanko, T. Junttila, T. Latvala, V. Schuppan, *Linear Encodings of Bounded
//! LTL Model Checking*, 2006): one vector of bits is the state in which the cycle begins, for each frame there is a bit
//! that says that it begins there, and what has to happen again and again is accumulated from there on. All bounds are
//! questions to one solver: only that the lasso is closed in the last frame is an assumption.

use std::rc::Rc;

use ample_boolean::Lit;
use ample_budget::{Budget, Interrupted};

use crate::bmc::{Path, path};
use crate::frames::{Beginning, Frames};
use crate::machine::Machine;
use crate::partial::Scheduled;
use crate::product::Fair;
use crate::solver::{Effort, SolverKind};

/// A search for fair lassos.
pub struct LassoSearch {
    frames: Frames,
    fair: Fair,
    /// States with a step that does not fit into the encoding, or after which nothing can be said.
    overflow: Lit,
    /// The state in which the cycle begins.
    home: Vec<Lit>,
    /// By frame: the cycle begins there.
    begins: Vec<Lit>,
    /// The cycle has begun.
    in_cycle: Lit,
    /// What has happened on the cycle: for justice, and for both parts of compassion.
    just: Vec<Lit>,
    compassionate: Vec<(Lit, Lit)>,
    /// With a schedule: overflow in frames since the last one that was looked at.
    passed: Lit,
}

/// A run, of which the part from a state on repeats itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundLasso {
    /// The whole run; the last state is that in which the cycle begins.
    pub path: Path,
    /// How many steps there are before the cycle.
    pub prefix: usize,
}

/// What runs of one length lead to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// A fair lasso.
    pub lasso: Option<FoundLasso>,
    /// A run to a state with a step that does not fit into the encoding.
    pub overflow: Option<Path>,
    /// There are no runs of that length.
    pub is_complete: bool,
}

impl LassoSearch {
    /// Looks for lassos of the machine.
    pub fn new(
        machine: &Rc<Machine>,
        fair: &Fair,
        overflow: Lit,
        solver: SolverKind,
        budget: &Budget,
    ) -> Result<LassoSearch, Interrupted> {
        let frames = Frames::scheduled(machine, None, Beginning::Initial, solver, budget)?;
        Ok(LassoSearch::within(frames, machine, fair, overflow))
    }

    /// Looks for lassos of a machine that follows a schedule, which is complete where the cycle is closed.
    pub fn scheduled(
        (machine, schedule): &Scheduled,
        fair: &Fair,
        overflow: Lit,
        solver: SolverKind,
        budget: &Budget,
    ) -> Result<LassoSearch, Interrupted> {
        let frames = Frames::scheduled(machine, Some(Rc::clone(schedule)), Beginning::Initial, solver, budget)?;
        Ok(LassoSearch::within(frames, machine, fair, overflow))
    }

    fn within(mut frames: Frames, machine: &Machine, fair: &Fair, overflow: Lit) -> LassoSearch {
        let home = machine.state.iter().map(|_| frames.free()).collect();
        LassoSearch {
            frames,
            overflow,
            home,
            begins: Vec::new(),
            in_cycle: Lit::FALSE,
            just: vec![Lit::FALSE; fair.justice.len()],
            compassionate: vec![(Lit::FALSE, Lit::FALSE); fair.compassion.len()],
            fair: fair.clone(),
            passed: Lit::FALSE,
        }
    }

    /// How many steps runs have now.
    pub fn depth(&self) -> usize {
        self.frames.depth()
    }

    /// From now on questions to the solver have that budget.
    pub fn limit(&mut self, budget: &Budget) {
        self.frames.limit(budget);
    }

    /// What the solver has done.
    pub fn effort(&self) -> Effort {
        self.frames.effort()
    }

    /// Looks at lassos with as many steps as there are now.
    pub fn examine(&mut self) -> Result<Found, Interrupted> {
        if !self.frames.solve(&[])? {
            return Ok(Found { is_complete: true, ..Found::default() });
        }
        let mut found = Found::default();
        let overflow = self.frames.formula(self.overflow)?;
        let overflow = self.frames.dag.or(overflow, self.passed);
        if self.frames.solve(&[overflow])? {
            found.overflow = Some(path(&self.frames).until(self.frames.machine(), self.overflow));
            return Ok(found);
        }
        self.frames.assert(!overflow)?;
        let closed = self.closed();
        if self.frames.solve(&[closed])? {
            let solution = self.frames.solution();
            let prefix = self.begins.iter().position(|lit| solution.of(*lit)).unwrap_or(0);
            found.lasso = Some(FoundLasso { path: path(&self.frames), prefix });
        } else {
            self.frames.assert(!closed)?;
        }
        Ok(found)
    }

    /// The last state is the one in which the cycle begins, and all has happened in between.
    fn closed(&mut self) -> Lit {
        let mut parts = vec![self.in_cycle];
        parts.extend(&self.just);
        let dag = &mut self.frames.dag;
        parts.extend(self.compassionate.iter().map(|(asked, given)| dag.implies(*asked, *given)));
        let last = self.frames.states.last().into_iter().flatten();
        parts.extend(last.zip(&self.home).map(|(now, home)| dag.iff(*now, *home)));
        dag.all(&parts)
    }

    /// Goes on to runs that are one step longer; with a schedule, to those of the next time that it is complete.
    pub fn step(&mut self) -> Result<(), Interrupted> {
        self.one_step()?;
        self.passed = Lit::FALSE;
        while !self.frames.is_complete() {
            let overflow = self.frames.formula(self.overflow)?;
            self.passed = self.frames.dag.or(self.passed, overflow);
            self.one_step()?;
        }
        Ok(())
    }

    fn one_step(&mut self) -> Result<(), Interrupted> {
        let begins = self.frames.free();
        let state = self.frames.states[self.depth()].clone();
        let dag = &mut self.frames.dag;
        let again = dag.and(self.in_cycle, begins);
        let same: Vec<Lit> = state.iter().zip(&self.home).map(|(now, home)| dag.iff(*now, *home)).collect();
        let same = dag.all(&same);
        let at_home = dag.implies(begins, same);
        self.in_cycle = dag.or(self.in_cycle, begins);
        self.frames.assert(!again)?;
        self.frames.assert(at_home)?;
        self.begins.push(begins);
        for number in 0..self.just.len() {
            let here = self.frames.formula(self.fair.justice[number])?;
            self.just[number] = self.accumulated(self.just[number], here);
        }
        for number in 0..self.compassionate.len() {
            let (asked, given) = self.fair.compassion[number];
            let (asked, given) = (self.frames.formula(asked)?, self.frames.formula(given)?);
            let (before, after) = self.compassionate[number];
            self.compassionate[number] = (self.accumulated(before, asked), self.accumulated(after, given));
        }
        self.frames.step()
    }

    fn accumulated(&mut self, before: Lit, here: Lit) -> Lit {
        let here = self.frames.dag.and(self.in_cycle, here);
        self.frames.dag.or(before, here)
    }
}
