//! k-induction (M. Sheeran, S. Singh, G. Stålmarck, *Checking Safety Properties Using Induction and a SAT-Solver*, FMCAD
//! 2000): if no run of up to `k` steps leads to a bad state, and no path of `k` good states that are all different leads to
//! one, wherever it begins, then none is reachable.
//!
//! That the states of a path are different is added only for pairs that a solution has equal, so that most pairs never
//! need the clauses (N. Eén, N. Sörensson, *Temporal Induction by Incremental SAT Solving*, BMC 2003).

use std::rc::Rc;

use ample_boolean::Lit;
use ample_budget::{Budget, Interrupted};

use crate::certificate::Fact;
use crate::frames::{Beginning, Frames};
use crate::ic3::Cube;
use crate::machine::Machine;
use crate::project::sequential_cone;
use crate::solver::Effort;

/// The induction steps for targets, one after the other.
pub struct Induction {
    machine: Rc<Machine>,
    frames: Frames,
    /// What must not be; each is assumed not to be in earlier states.
    targets: Vec<(usize, Lit)>,
    /// Never to be left, either: where a step does not fit into the encoding.
    overflow: Lit,
    /// What holds in all reachable states: these are equal, with any inputs.
    facts: Vec<Fact>,
    /// Cubes that hold no reachable state.
    excluded: Vec<Cube>,
    /// The state bits that matter; paths of states that are equal in these can be made shorter.
    relevant: Vec<usize>,
    /// Pairs of frames that are known to be different.
    different: Vec<(usize, usize)>,
    /// Something is assumed of a target that was left.
    is_outdated: bool,
    /// Paths of this length were looked at.
    is_examined: bool,
    /// Effort of solvers that were set up before.
    before: Effort,
}

impl Induction {
    /// For targets, which have numbers.
    pub fn new(
        machine: &Rc<Machine>,
        targets: Vec<(usize, Lit)>,
        overflow: Lit,
        budget: &Budget,
    ) -> Result<Induction, Interrupted> {
        Ok(Induction {
            machine: Rc::clone(machine),
            frames: Frames::new(machine, Beginning::Any, budget)?,
            relevant: relevant(machine, targets.iter().map(|(_, bad)| *bad).chain([overflow])),
            targets,
            overflow,
            facts: Vec::new(),
            excluded: Vec::new(),
            different: Vec::new(),
            is_outdated: false,
            is_examined: false,
            before: Effort::default(),
        })
    }

    /// Paths are looked at in which these are equal, as they are in all reachable states. For the present frame and those
    /// that follow.
    pub fn assume(&mut self, facts: &[Fact]) -> Result<(), Interrupted> {
        self.facts.extend(facts);
        self.assert_facts(self.facts.len() - facts.len())
    }

    /// The facts from that number on hold in the last frame.
    fn assert_facts(&mut self, first: usize) -> Result<(), Interrupted> {
        for number in first..self.facts.len() {
            let (one, other) = self.facts[number];
            let (one, other) = (self.frames.formula(one)?, self.frames.formula(other)?);
            let equal = self.frames.dag.iff(one, other);
            self.frames.assert(equal)?;
        }
        Ok(())
    }

    /// Paths are looked at that do not meet these cubes, which hold no reachable state.
    pub fn exclude(&mut self, cubes: Vec<Cube>) -> Result<(), Interrupted> {
        let first = self.excluded.len();
        self.excluded.extend(cubes);
        for frame in 0..self.frames.states.len() {
            self.assert_excluded(frame, first)?;
        }
        self.is_examined &= first == self.excluded.len();
        Ok(())
    }

    /// The cubes that are excluded.
    pub fn excluded(&self) -> &[Cube] {
        &self.excluded
    }

    /// The cubes from that number on do not hold in a frame.
    fn assert_excluded(&mut self, frame: usize, first: usize) -> Result<(), Interrupted> {
        for number in first..self.excluded.len() {
            let state = &self.frames.states[frame];
            let literal = |(bit, value): &(u32, bool)| match value {
                true => !state[*bit as usize],
                false => state[*bit as usize],
            };
            let clause: Vec<Lit> = self.excluded[number].iter().map(literal).collect();
            let clause = self.frames.dag.any(&clause);
            self.frames.assert(clause)?;
        }
        Ok(())
    }

    /// The target is proved: no state of a path is bad, the last one included.
    pub fn settle(&mut self, number: usize) {
        let (settled, open) = self.targets.iter().partition(|(target, _)| *target == number);
        self.targets = open;
        let settled: Vec<(usize, Lit)> = settled;
        self.is_outdated |= !settled.is_empty();
        self.facts.extend(settled.into_iter().map(|(_, bad)| (bad, Lit::FALSE)));
    }

    /// The target is not looked for any more. If it is violated, it cannot be assumed not to be in earlier states: all
    /// begins again.
    pub fn leave(&mut self, number: usize) {
        let before = self.targets.len();
        self.targets.retain(|(target, _)| *target != number);
        self.is_outdated |= self.targets.len() < before;
    }

    /// Makes the frames anew, without what was assumed of targets that were left.
    fn renew(&mut self, budget: &Budget) -> Result<(), Interrupted> {
        let depth = self.frames.depth();
        self.before.conflicts += self.frames.effort().conflicts;
        self.frames = Frames::new(&self.machine, Beginning::Any, budget)?;
        self.different.clear();
        self.is_examined = false;
        self.assert_facts(0)?;
        self.assert_excluded(0, 0)?;
        while self.frames.depth() < depth {
            self.step()?;
        }
        // If it is interrupted before, the last frame may be half done: then it begins again.
        self.is_outdated = false;
        Ok(())
    }

    /// The length of paths.
    pub fn depth(&self) -> usize {
        self.frames.depth()
    }

    /// What the solver has done.
    pub fn effort(&self) -> Effort {
        let now = self.frames.effort();
        Effort { conflicts: self.before.conflicts + now.conflicts, ..now }
    }

    /// The first length, from the present one up to another one, for which paths are inductive.
    pub fn prove(&mut self, longest: usize, budget: &Budget) -> Result<Option<usize>, Interrupted> {
        while self.depth() <= longest {
            if !self.is_examined || self.is_outdated {
                if self.is_inductive(budget)? {
                    return Ok(Some(self.depth()));
                }
                self.is_examined = true;
            }
            if self.depth() == longest {
                break;
            }
            self.step()?;
        }
        Ok(None)
    }

    /// Whether paths of this length that are good lead to something bad. If not, and runs of this length do not either,
    /// nothing bad is reachable.
    pub fn is_inductive(&mut self, budget: &Budget) -> Result<bool, Interrupted> {
        if self.is_outdated {
            self.renew(budget)?;
        }
        self.frames.limit(budget);
        let mut bad = vec![self.frames.formula(self.overflow)?];
        for number in 0..self.targets.len() {
            bad.push(self.frames.formula(self.targets[number].1)?);
        }
        let any = self.frames.dag.any(&bad);
        while self.frames.solve(&[any])? {
            if !self.distinguish()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Goes on to paths that are one step longer, whose states before the last are good.
    ///
    /// If it is interrupted, it has to be called again before anything else: the last state may be known to be good.
    pub fn step(&mut self) -> Result<(), Interrupted> {
        let overflow = self.frames.formula(self.overflow)?;
        self.frames.assert(!overflow)?;
        for number in 0..self.targets.len() {
            let bad = self.frames.formula(self.targets[number].1)?;
            self.frames.assert(!bad)?;
        }
        self.frames.step()?;
        self.is_examined = false;
        self.assert_facts(0)?;
        self.assert_excluded(self.frames.depth(), 0)
    }

    /// Two states of the path that was found are equal: from now on they are not. False if all are different.
    fn distinguish(&mut self) -> Result<bool, Interrupted> {
        let solution = self.frames.solution();
        let states: Vec<Vec<bool>> = (0..=self.depth()).map(|frame| self.frames.state(frame, &solution)).collect();
        for later in 1..states.len() {
            for earlier in 0..later {
                let is_same = |bit: &usize| states[earlier][*bit] == states[later][*bit];
                if self.relevant.iter().all(is_same) && !self.different.contains(&(earlier, later)) {
                    self.different.push((earlier, later));
                    let (one, other) = (self.frames.states[earlier].clone(), self.frames.states[later].clone());
                    let dag = &mut self.frames.dag;
                    let differ: Vec<Lit> = self.relevant.iter().map(|bit| dag.xor(one[*bit], other[*bit])).collect();
                    let differ = self.frames.dag.any(&differ);
                    self.frames.assert(differ)?;
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

/// The positions of the state bits that matter, now or after some steps.
fn relevant(machine: &Machine, bad: impl Iterator<Item = Lit>) -> Vec<usize> {
    let reached = sequential_cone(machine, bad.chain([machine.step]));
    let is_in = |bit: &u32| machine.dag.find_input(*bit).is_some_and(|lit| reached[lit.index()]);
    (0..machine.state.len()).filter(|position| is_in(&machine.state[*position])).collect()
}
