//! Bounded partial exploration (J. Vander Meulen, *Symbolic Model Checking and Partial-Order Reduction*, 2012, chapter 5): the
//! steps of a run follow a schedule. In the first phase each process in turn has `n` steps, which must be *safe*: what is
//! enabled of them is a persistent set, and nobody's property sees them. Where a process has none, it pauses. In the second
//! phase there is one step of anybody. Then the schedule begins again: with `m` processes its length is `m·n + 1`.
//!
//! In most frames only few bits can change, and where a process is deterministic nothing is left to decide. So runs are
//! longer, but easier to find. They are stuttering equivalent to those of the system: formulas with X are not for this.
//!
//! A run is looked at when a schedule is complete. So each cycle of a lasso has a step of the second phase, and no lasso
//! consists of pauses. A state without any move may pause in the second phase.
//!
//! # Which steps are safe
//!
//! Let T be steps of one process, and *disturbing* a step that is not in T and writes what T reads or writes, or reads what T
//! writes. The solver is asked for each step of T whether it can be enabled together with a disturbing one; if so it is no
//! longer in T, and disturbs the others. Then where a step of T is enabled, what disturbs T stays disabled until T moves:
//! nobody else changes the bits that T reads or writes.

use std::rc::Rc;

use ample_boolean::{Encoding, Lit, Partition};
use ample_budget::{Budget, Interrupted};

use crate::clauses::Clauses;
use crate::machine::{Choices, Machine};
use crate::solver::{Batsat, Solver};

/// What can happen in a frame.
#[derive(Clone, Debug)]
pub struct Phase {
    /// By position of an input of the machine, as far as these choose moves: it may be set.
    pub allowed: Vec<bool>,
    /// And this holds.
    pub condition: Lit,
}

/// A schedule for the steps of a machine.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// Of each process.
    first: Vec<Phase>,
    second: Phase,
    /// How many steps each process has in the first phase.
    repeats: usize,
}

impl Schedule {
    /// The length of the schedule.
    pub fn cycle(&self) -> usize {
        self.first.len() * self.repeats + 1
    }

    /// What can happen in the step after so many.
    pub fn phase(&self, depth: usize) -> &Phase {
        let place = depth % self.cycle();
        if place + 1 == self.cycle() { &self.second } else { &self.first[place / self.repeats] }
    }

    /// A schedule is complete after so many steps.
    pub fn is_complete(&self, depth: usize) -> bool {
        depth.is_multiple_of(self.cycle())
    }

    /// For a machine whose first inputs choose a partition, one of the other moves of the machine with their guards, or the
    /// pause, which is the last of them.
    pub fn of(
        machine: &mut Machine,
        partitions: &[Partition],
        choices: &Choices,
        guards: &[Lit],
        safe: &[Vec<usize>],
        repeats: usize,
    ) -> Schedule {
        let pause = choices.chosen.len() - 1;
        let lit = choices.chosen[pause];
        let mut phase = |allowed: &dyn Fn(usize) -> bool| {
            let allowed: Vec<bool> = (0..pause).map(allowed).collect();
            let able: Vec<Lit> =
                guards.iter().zip(&allowed).filter(|(_, may)| **may).map(|(guard, _)| *guard).collect();
            let able = machine.dag.any(&able);
            let condition = machine.dag.implies(lit, !able);
            Phase { allowed: allowed.into_iter().chain([true]).collect(), condition }
        };
        let first = safe.iter().filter(|_| repeats > 0).map(|numbers| phase(&|number| numbers.contains(&number)));
        let first = first.collect();
        debug_assert!(partitions.len() <= pause);
        Schedule { first, second: phase(&|_| true), repeats }
    }
}

/// The bits that a partition reads and writes.
pub(crate) struct Touched {
    pub reads: Vec<u32>,
    pub writes: Vec<u32>,
}

impl Touched {
    pub fn by(encoding: &Encoding, partition: &Partition) -> Touched {
        let Partition { guard, fault, violation, overflow, updates, .. } = partition;
        let formulas = [*guard, *fault, *violation, *overflow].into_iter().chain(updates.iter().map(|(_, lit)| *lit));
        let mut reads: Vec<u32> = formulas.flat_map(|lit| encoding.dag.support(lit)).collect();
        reads.sort_unstable();
        reads.dedup();
        Touched { reads, writes: updates.iter().map(|(bit, _)| *bit).collect() }
    }
}

/// The safe steps of every process that has some, as numbers of partitions. `seen` are the bits that properties read.
pub fn process_model(encoding: &Encoding, seen: &[u32], budget: &Budget) -> Result<Vec<Vec<usize>>, Interrupted> {
    let mut search = Search::new(encoding, budget)?;
    let mut model = Vec::new();
    for process in 0..search.processes {
        // With what only a process that works with many touches beside this one; if that gives nothing, without.
        for with_hubs in [true, false] {
            let safe = search.safe(search.candidates(process, seen, with_hubs), budget)?;
            if !safe.is_empty() {
                model.push(safe);
                break;
            }
        }
    }
    Ok(model)
}

struct Search<'a> {
    encoding: &'a Encoding,
    touched: Vec<Touched>,
    processes: u32,
    /// By bit: the processes that touch it.
    touched_by: Vec<Vec<u32>>,
    /// By process: it touches bits together with several others.
    hubs: Vec<bool>,
    solver: Batsat,
    clauses: Clauses,
}

impl<'a> Search<'a> {
    fn new(encoding: &'a Encoding, budget: &Budget) -> Result<Search<'a>, Interrupted> {
        let (mut touched, mut processes) = (Vec::new(), 0);
        let mut touched_by: Vec<Vec<u32>> = vec![Vec::new(); encoding.bits as usize];
        for partition in &encoding.partitions {
            budget.check()?;
            let bits = Touched::by(encoding, partition);
            for (process, _) in partition.taken.movers() {
                processes = processes.max(process + 1);
                for bit in bits.reads.iter().chain(&bits.writes) {
                    let touching = &mut touched_by[*bit as usize];
                    if !touching.contains(&process) {
                        touching.push(process);
                    }
                }
            }
            touched.push(bits);
        }
        let mut partners: Vec<Vec<u32>> = vec![Vec::new(); processes as usize];
        for touching in &touched_by {
            if let [x, y] = touching[..] {
                [(x, y), (y, x)].into_iter().for_each(|(one, other)| partners[one as usize].push(other));
            }
        }
        let has_several = |partners: &Vec<u32>| partners.iter().any(|one| *one != partners[0]);
        let hubs = partners.iter().map(has_several).collect();
        let (solver, clauses) = (Batsat::default(), Clauses::default());
        Ok(Search { encoding, touched, processes, touched_by, hubs, solver, clauses })
    }

    fn is_private(&self, bit: u32, process: u32, with_hubs: bool) -> bool {
        let mut others = self.touched_by[bit as usize].iter().filter(|other| **other != process);
        others.all(|other| with_hubs && self.hubs[*other as usize] && !self.hubs[process as usize])
    }

    /// The steps of a process that no property sees and that touch only what is its own.
    fn candidates(&self, process: u32, seen: &[u32], with_hubs: bool) -> Vec<usize> {
        let is_candidate = |number: &usize| {
            let (partition, touched) = (&self.encoding.partitions[*number], &self.touched[*number]);
            let mut movers = partition.taken.movers().map(|(mover, _)| mover);
            movers.next() == Some(process)
                && movers.next().is_none()
                && [partition.fault, partition.violation, partition.overflow].iter().all(|lit| *lit == Lit::FALSE)
                && !touched.writes.iter().any(|bit| seen.contains(bit))
                && touched.reads.iter().chain(&touched.writes).all(|bit| self.is_private(*bit, process, with_hubs))
        };
        (0..self.encoding.partitions.len()).filter(is_candidate).collect()
    }

    /// The candidates that are safe.
    fn safe(&mut self, mut steps: Vec<usize>, budget: &Budget) -> Result<Vec<usize>, Interrupted> {
        loop {
            let mut kept = Vec::new();
            let disturbing = self.disturbing(&steps);
            for step in &steps {
                if !self.is_disturbed(*step, &disturbing, budget)? {
                    kept.push(*step);
                }
            }
            if kept.len() == steps.len() {
                return Ok(kept);
            }
            steps = kept;
        }
    }

    /// The steps that disturb these.
    fn disturbing(&self, steps: &[usize]) -> Vec<usize> {
        let count = self.encoding.bits as usize;
        let (mut touched, mut written) = (vec![false; count], vec![false; count]);
        for step in steps {
            let Touched { reads, writes } = &self.touched[*step];
            reads.iter().chain(writes).for_each(|bit| touched[*bit as usize] = true);
            writes.iter().for_each(|bit| written[*bit as usize] = true);
        }
        let disturbs = |number: &usize| {
            let Touched { reads, writes } = &self.touched[*number];
            writes.iter().any(|bit| touched[*bit as usize]) || reads.iter().any(|bit| written[*bit as usize])
        };
        (0..self.touched.len()).filter(|number| !steps.contains(number)).filter(disturbs).collect()
    }

    /// A step can be enabled where one of the others is.
    fn is_disturbed(&mut self, step: usize, others: &[usize], budget: &Budget) -> Result<bool, Interrupted> {
        let Encoding { dag, partitions, visible, .. } = self.encoding;
        let (solver, clauses) = (&mut self.solver, &mut self.clauses);
        let guard = clauses.literal(dag, partitions[step].guard, solver, budget)?;
        let visible = clauses.literal(dag, *visible, solver, budget)?;
        for other in others {
            let Partition { guard: enabled, fault, overflow, .. } = &partitions[*other];
            for lit in [*enabled, *fault, *overflow].into_iter().filter(|lit| *lit != Lit::FALSE) {
                let able = clauses.literal(dag, lit, solver, budget)?;
                if solver.solve(&[visible, guard, able], budget)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

/// A machine and its schedule.
pub type Scheduled = (Rc<Machine>, Rc<Schedule>);
