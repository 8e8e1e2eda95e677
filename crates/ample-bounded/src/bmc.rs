//! Bounded model checking of safety (A. Biere, A. Cimatti, E. Clarke, Y. Zhu, *Symbolic Model Checking without BDDs*,
//! TACAS 1999): is there a run of `k` steps to a bad state, for `k` = 0, 1, 2, …
//!
//! All bounds are questions to one solver. That no bad state is reached in `k` steps is a clause from then on, so that the
//! first run that is found is a shortest one. If there is no run of `k` steps at all, all runs were seen.

use std::rc::Rc;

use ample_boolean::Lit;
use ample_budget::{Budget, Interrupted};

use crate::frames::{Beginning, Frames};
use crate::machine::Machine;
use crate::partial::Scheduled;
use crate::solver::{Effort, SolverKind};

/// A search for runs to bad states, all targets at once.
pub struct Bmc {
    frames: Frames,
    /// The bad states of each target that is still looked for.
    targets: Vec<(usize, Lit)>,
    /// States with a step that does not fit into the encoding.
    overflow: Lit,
    /// Shorter runs were looked at before, in another encoding.
    since: usize,
    /// With a schedule: what is bad in frames since the last one that was looked at. By target, and overflow.
    passed: Vec<(Option<usize>, Lit)>,
}

/// A run of the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// The values of the state bits, before the first step and after each.
    pub states: Vec<Vec<bool>>,
    /// The values of the inputs of each step.
    pub inputs: Vec<Vec<bool>>,
    /// Inputs in the last state, for what is bad there only with these.
    pub last_inputs: Vec<bool>,
}

impl Path {
    /// The last state.
    pub fn end(&self) -> &[bool] {
        self.states.last().map_or(&[], Vec::as_slice)
    }

    /// Up to the first state in which something is bad.
    pub(crate) fn until(mut self, machine: &Machine, bad: Lit) -> Path {
        let inputs = |number: usize| self.inputs.get(number).unwrap_or(&self.last_inputs);
        let is_bad = |number: &usize| machine.values(&self.states[*number], inputs(*number)).of(bad);
        let Some(first) = (0..self.states.len()).find(is_bad) else { return self };
        if first < self.inputs.len() {
            self.states.truncate(first + 1);
            self.last_inputs = self.inputs.swap_remove(first);
            self.inputs.truncate(first);
        }
        self
    }
}

/// What runs of one length lead to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// For some targets a run to a bad state.
    pub violated: Vec<(usize, Path)>,
    /// A run to a state with a step that does not fit into the encoding.
    pub overflow: Option<Path>,
    /// There are no runs of that length.
    pub is_complete: bool,
}

impl Bmc {
    /// Looks for the bad states of targets, which have numbers. Runs of fewer than `since` steps lead to none.
    pub fn new(
        machine: &Rc<Machine>,
        targets: Vec<(usize, Lit)>,
        overflow: Lit,
        since: usize,
        solver: SolverKind,
        budget: &Budget,
    ) -> Result<Bmc, Interrupted> {
        let frames = Frames::scheduled(machine, None, Beginning::Initial, solver, budget)?;
        let mut bmc = Bmc { frames, targets, overflow, since, passed: Vec::new() };
        while bmc.frames.depth() < bmc.since {
            bmc.refuse_shorter()?;
            bmc.frames.step()?;
        }
        Ok(bmc)
    }

    /// As [`new`](Self::new), in a machine that follows a schedule. Runs are looked at when it is complete.
    pub fn scheduled(
        (machine, schedule): &Scheduled,
        targets: Vec<(usize, Lit)>,
        overflow: Lit,
        solver: SolverKind,
        budget: &Budget,
    ) -> Result<Bmc, Interrupted> {
        let frames = Frames::scheduled(machine, Some(Rc::clone(schedule)), Beginning::Initial, solver, budget)?;
        Ok(Bmc { frames, targets, overflow, since: 0, passed: Vec::new() })
    }

    /// In the last frame there is nothing bad, as is known.
    fn refuse_shorter(&mut self) -> Result<(), Interrupted> {
        for number in 0..self.targets.len() {
            let bad = self.frames.formula(self.targets[number].1)?;
            self.frames.assert(!bad)?;
        }
        Ok(())
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

    /// The target is not looked for any more.
    pub fn leave(&mut self, number: usize) {
        self.targets.retain(|(target, _)| *target != number);
        self.passed.retain(|(target, _)| *target != Some(number));
    }

    /// Looks at the runs that have as many steps as there are now.
    pub fn examine(&mut self) -> Result<Found, Interrupted> {
        let mut found = Found::default();
        if !self.frames.solve(&[])? {
            return Ok(Found { is_complete: true, ..found });
        }
        let mut bad = Vec::new();
        for number in 0..self.targets.len() {
            let (target, here) = (self.targets[number].0, self.frames.formula(self.targets[number].1)?);
            bad.push(self.since_last(Some(target), here));
        }
        let overflow = self.frames.formula(self.overflow)?;
        let overflow = self.since_last(None, overflow);
        let all: Vec<Lit> = bad.iter().copied().chain([overflow]).collect();
        let any = self.frames.dag.any(&all);
        if !self.frames.solve(&[any])? {
            for lit in all {
                self.frames.assert(!lit)?;
            }
            return Ok(found);
        }
        for (number, bad) in bad.into_iter().enumerate() {
            if self.frames.solve(&[bad])? {
                found.violated.push((self.targets[number].0, self.path(self.targets[number].1)));
            } else {
                self.frames.assert(!bad)?;
            }
        }
        if self.frames.solve(&[overflow])? {
            found.overflow = Some(self.path(self.overflow));
        }
        Ok(found)
    }

    /// What is bad here, or in a frame since the last one that was looked at.
    fn since_last(&mut self, target: Option<usize>, here: Lit) -> Lit {
        let passed = self.passed.iter().filter(|(other, _)| *other == target).map(|(_, lit)| *lit);
        let all: Vec<Lit> = passed.chain([here]).collect();
        self.frames.dag.any(&all)
    }

    /// Goes on to runs that are one step longer; with a schedule, to those of the next time that it is complete.
    pub fn step(&mut self) -> Result<(), Interrupted> {
        self.frames.step()?;
        self.passed.clear();
        while !self.frames.is_complete() {
            for number in 0..self.targets.len() {
                let (target, bad) = self.targets[number];
                let bad = self.frames.formula(bad)?;
                self.passed.push((Some(target), bad));
            }
            let overflow = self.frames.formula(self.overflow)?;
            self.passed.push((None, overflow));
            self.frames.step()?;
        }
        Ok(())
    }

    /// The run that was found, up to the first state that is bad.
    fn path(&self, bad: Lit) -> Path {
        path(&self.frames).until(self.frames.machine(), bad)
    }
}

/// The run in the solution that the solver has found.
pub(crate) fn path(frames: &Frames) -> Path {
    let solution = frames.solution();
    let values = |inputs: &Vec<Lit>| inputs.iter().map(|lit| solution.of(*lit)).collect::<Vec<bool>>();
    Path {
        states: (0..frames.states.len()).map(|frame| frames.state(frame, &solution)).collect(),
        inputs: frames.inputs.iter().take(frames.depth()).map(values).collect(),
        last_inputs: frames.inputs.get(frames.depth()).map(values).unwrap_or_default(),
    }
}
