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
use crate::solver::Effort;

/// A search for runs to bad states, all targets at once.
pub struct Bmc {
    frames: Frames,
    /// The bad states of each target that is still looked for.
    targets: Vec<(usize, Lit)>,
    /// States with a step that does not fit into the encoding.
    overflow: Lit,
    /// Shorter runs were looked at before, in another encoding.
    since: usize,
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
        budget: &Budget,
    ) -> Result<Bmc, Interrupted> {
        let mut bmc = Bmc { frames: Frames::new(machine, Beginning::Initial, budget)?, targets, overflow, since };
        while bmc.frames.depth() < bmc.since {
            bmc.refuse_shorter()?;
            bmc.frames.step()?;
        }
        Ok(bmc)
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
    }

    /// Looks at the runs that have as many steps as there are now.
    pub fn examine(&mut self) -> Result<Found, Interrupted> {
        let mut found = Found::default();
        if !self.frames.solve(&[])? {
            return Ok(Found { is_complete: true, ..found });
        }
        let mut bad = Vec::new();
        for number in 0..self.targets.len() {
            bad.push(self.frames.formula(self.targets[number].1)?);
        }
        let overflow = self.frames.formula(self.overflow)?;
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
                found.violated.push((self.targets[number].0, self.path()));
            } else {
                self.frames.assert(!bad)?;
            }
        }
        if self.frames.solve(&[overflow])? {
            found.overflow = Some(self.path());
        }
        Ok(found)
    }

    /// Goes on to runs that are one step longer.
    pub fn step(&mut self) -> Result<(), Interrupted> {
        self.frames.step()
    }

    /// The run that was found.
    fn path(&self) -> Path {
        path(&self.frames)
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
