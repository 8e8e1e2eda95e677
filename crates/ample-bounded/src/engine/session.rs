//! One model as machines; and encoded again with more room where that is needed.

use std::rc::Rc;

use ample_boolean::{Bounds, Encoding, JointEncoding, Lit, NotEncoded};
use ample_budget::{Budget, Interrupted};
use ample_engine::settings::Fairness;
use ample_model::{Expr, Interpreter, Move, Question, Reason, StartNumber, State, System};

use crate::bmc::Path;
use crate::certificate::Transition;
use crate::machine::{Interleaved, Joint, Machine, Stuttering, Turns, interleaving, joint};
use crate::partial::{Schedule, process_model};
use crate::product::{Fair, Watcher, watch};
use crate::project::Requirements;
use crate::steps::{Semantics, stepping};

/// How many states are looked at to estimate how large variables get.
const SAMPLE: usize = 3000;
/// How often it starts again with wider bounds.
const MAX_RESTARTS: usize = 200;

/// Of values that grow.
const UNBOUNDED: &str = "the values of some variables keep growing: no bound was found for them";
/// Of deadlocks where it is not plain that there is a step.
pub(super) const NOT_TOTAL: &str =
    "the bounded engine does not know whether a state of this synchronous system has a step; `--engine explicit` does";

/// Of a schedule for a synchronous system.
const NO_PROCESSES: &str = "partial exploration is for processes, of which a synchronous system has none";
/// Of sets of transitions of a synchronous system.
const NO_TRANSITIONS: &str =
    "the methods steps, processes and commuting are for processes, of which a synchronous system has none";

/// What must not be reachable.
#[derive(Clone, Debug)]
pub enum Goal {
    /// A deadlock.
    Deadlock,
    /// A step that breaks an assertion or is a fault.
    Violation,
    /// A visible state in which the expression is false or a fault.
    Not(Expr),
}

impl Goal {
    /// What it reads.
    fn expr(&self) -> Option<&Expr> {
        match self {
            Goal::Not(expr) => Some(expr),
            Goal::Deadlock | Goal::Violation => None,
        }
    }

    /// Of a question of safety.
    pub fn of(question: &Question) -> Option<Goal> {
        match question {
            Question::Deadlock => Some(Goal::Deadlock),
            Question::Assertions => Some(Goal::Violation),
            Question::Invariant(expr) => Some(Goal::Not(expr.clone())),
            _ => None,
        }
    }
}

/// A system as bits.
enum Bits {
    Interleaving(Box<Encoding>, Bounds),
    Synchronous(Box<JointEncoding>),
}

/// What a step of a path is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Taken {
    Move(Move),
    /// The last state of a run that has ended is repeated.
    Rest,
    /// A fault stops the run.
    Stop,
}

/// A model as bits.
pub struct Session<'a> {
    pub system: &'a System,
    bits: Bits,
    /// The machine without stuttering, and what does not fit in it.
    machine: Machine,
    overflow: Lit,
    /// The faults of joint steps.
    joint_fault: Lit,
    /// What joint steps require.
    requirements: Option<Requirements>,
    /// How often it was encoded again.
    pub restarts: usize,
}

/// Why a model is not a machine.
pub enum NotBegun {
    Unsupported(String),
    Interrupted(Interrupted),
}

impl From<Interrupted> for NotBegun {
    fn from(interrupted: Interrupted) -> NotBegun {
        NotBegun::Interrupted(interrupted)
    }
}

impl From<NotEncoded> for NotBegun {
    fn from(not: NotEncoded) -> NotBegun {
        match not {
            NotEncoded::Unsupported(why) => NotBegun::Unsupported(why.0),
            NotEncoded::Interrupted(interrupted) => NotBegun::Interrupted(interrupted),
        }
    }
}

impl From<NotBegun> for Reason {
    fn from(not: NotBegun) -> Reason {
        match not {
            NotBegun::Unsupported(why) => Reason::Unsupported(why),
            NotBegun::Interrupted(interrupted) => interrupted.into(),
        }
    }
}

/// A machine with bad states.
pub struct SafetyMachine {
    pub machine: Rc<Machine>,
    pub schedule: Option<Rc<Schedule>>,
    /// The bad states of each goal.
    pub bad: Vec<Lit>,
    /// States with a step that does not fit.
    pub overflow: Lit,
}

/// The product of a machine with a property automaton.
pub struct ProductMachine {
    pub machine: Rc<Machine>,
    pub schedule: Option<Rc<Schedule>>,
    pub fair: Fair,
    /// After it has read the state, the automaton may accept whatever follows.
    pub decided: Lit,
    /// States with a step that does not fit, or with a fault where no state counts.
    pub overflow: Lit,
}

impl<'a> Session<'a> {
    /// Encodes the system.
    pub fn begin(system: &'a System, budget: &Budget) -> Result<Session<'a>, NotBegun> {
        if system.synchronous().is_some() {
            let mut encoding = JointEncoding::within(system, budget)?;
            encoding.dag.set_budget(budget);
            let Joint { machine, fault, requirements } = joint(&mut encoding);
            let bits = Bits::Synchronous(Box::new(encoding));
            let overflow = Lit::FALSE;
            return Session { system, bits, machine, overflow, joint_fault: fault, requirements, restarts: 0 }.made();
        }
        let bounds = match system.exact_types {
            true => Bounds::declared(system),
            false => Bounds::sampled_within(system, SAMPLE, budget),
        };
        Session::within(system, bounds, 0, budget)
    }

    fn within(system: &'a System, bounds: Bounds, restarts: usize, budget: &Budget) -> Result<Session<'a>, NotBegun> {
        let mut encoding = Encoding::within(system, &bounds, budget)?;
        encoding.dag.set_budget(budget);
        let overflow: Vec<Lit> = encoding.partitions.iter().map(|partition| partition.overflow).collect();
        let overflow = encoding.dag.any(&overflow);
        let Interleaved { machine, .. } = interleaving(&encoding, false, None);
        let bits = Bits::Interleaving(Box::new(encoding), bounds);
        let (joint_fault, requirements) = (Lit::FALSE, None);
        Session { system, bits, machine, overflow, joint_fault, requirements, restarts }.made()
    }

    /// Nothing has interrupted the making of formulas.
    fn made(self) -> Result<Session<'a>, NotBegun> {
        let encoded = match &self.bits {
            Bits::Interleaving(encoding, _) => encoding.dag.interrupted(),
            Bits::Synchronous(encoding) => encoding.dag.interrupted(),
        };
        match encoded.or(self.machine.dag.interrupted()) {
            Some(interrupted) => Err(interrupted.into()),
            None => Ok(self),
        }
    }

    /// Encodes the system again, with more room for a step from a state. `None` if all steps from there fit.
    pub fn widen(&self, state: &[bool], budget: &Budget) -> Result<Option<Session<'a>>, NotBegun> {
        let Bits::Interleaving(encoding, bounds) = &self.bits else { return Ok(None) };
        let Some(number) = self.partition_with(state, |encoding, number| encoding.partitions[number].overflow) else {
            return Ok(None);
        };
        if self.restarts >= MAX_RESTARTS {
            return Err(NotBegun::Unsupported(UNBOUNDED.into()));
        }
        let state = encoding.state(self.system, &|bit| state[bit as usize]);
        let bounds = encoding.widen(self.system, bounds, &state, number);
        Session::within(self.system, bounds, self.restarts + 1, budget).map(Some)
    }

    /// Bits of a state.
    pub fn bits(&self) -> usize {
        match &self.bits {
            Bits::Interleaving(encoding, _) => encoding.bits as usize,
            Bits::Synchronous(encoding) => encoding.bits as usize,
        }
    }

    /// Where an expression holds, in the graph of a machine; not where it is a fault.
    pub(crate) fn condition(&mut self, machine: &mut Machine, expr: &Expr) -> Result<Lit, NotBegun> {
        // The encodings know their own graphs only.
        let made = match &mut self.bits {
            Bits::Interleaving(encoding, _) => {
                std::mem::swap(&mut encoding.dag, &mut machine.dag);
                let made = encoding.condition_within(self.system, expr);
                std::mem::swap(&mut encoding.dag, &mut machine.dag);
                made
            }
            Bits::Synchronous(encoding) => {
                std::mem::swap(&mut encoding.dag, &mut machine.dag);
                let made = encoding.condition_within(self.system, expr);
                std::mem::swap(&mut encoding.dag, &mut machine.dag);
                made
            }
        };
        Ok(made?.0)
    }

    /// States that are not transient.
    fn visible(&self) -> Lit {
        match &self.bits {
            Bits::Interleaving(encoding, _) => encoding.visible,
            Bits::Synchronous(_) => Lit::TRUE,
        }
    }

    /// The machine, in which the runs of processes that end repeat their last state.
    pub fn stuttering(&self) -> Machine {
        match &self.bits {
            Bits::Interleaving(encoding, _) => interleaving(encoding, true, None).machine,
            Bits::Synchronous(_) => self.machine.clone(),
        }
    }

    /// What the steps of a synchronous system require, if that is known.
    pub fn requirements(&self) -> Option<&Requirements> {
        self.requirements.as_ref()
    }

    /// States with a step that does not fit.
    pub fn overflow(&self) -> Lit {
        self.overflow
    }

    /// No state is transient.
    pub fn all_visible(&self) -> bool {
        self.visible() == Lit::TRUE
    }

    /// Steps may be faults.
    pub fn may_fault(&self) -> bool {
        match &self.bits {
            Bits::Interleaving(encoding, _) => encoding.partitions.iter().any(|one| one.fault != Lit::FALSE),
            Bits::Synchronous(_) => self.joint_fault != Lit::FALSE,
        }
    }

    /// Why the question cannot be answered for this system.
    pub fn refusal(&self, question: &Question) -> Option<&'static str> {
        let Bits::Synchronous(encoding) = &self.bits else { return None };
        // Where runs that end do not count, they are no lassos either.
        let infinite_runs = self.system.synchronous().is_some_and(|synchronous| synchronous.infinite_runs);
        let is_about_ends = match question {
            Question::Deadlock => true,
            Question::Ltl(_) | Question::Acceptance | Question::Never(_) | Question::Automaton(_) => !infinite_runs,
            _ => false,
        };
        (is_about_ends && !encoding.is_total).then_some(NOT_TOTAL)
    }

    /// Every run can go on, so that a beginning may decide.
    pub fn every_run_goes_on(&self) -> bool {
        match &self.bits {
            Bits::Synchronous(encoding) => encoding.is_total,
            Bits::Interleaving(..) => true,
        }
    }

    /// The bits that expressions read.
    fn seen(&mut self, exprs: &[&Expr]) -> Result<Vec<u32>, NotBegun> {
        let mut machine = self.machine.clone();
        let mut seen = machine.dag.support(self.visible());
        for expr in exprs {
            let holds = self.condition(&mut machine, expr)?;
            seen.extend(machine.dag.support(holds));
        }
        self.finished(&machine)?;
        seen.sort_unstable();
        seen.dedup();
        Ok(seen)
    }

    /// The safe steps of each process, for properties that read these expressions.
    fn safe_steps(&mut self, exprs: &[&Expr], budget: &Budget) -> Result<Vec<Vec<usize>>, NotBegun> {
        let seen = self.seen(exprs)?;
        match &self.bits {
            Bits::Interleaving(encoding, _) => Ok(process_model(encoding, &seen, budget)?),
            Bits::Synchronous(_) => Err(NotBegun::Unsupported(NO_PROCESSES.into())),
        }
    }

    /// The machine with the bad states of goals. With `turns`, its processes have so many safe steps in turn; with
    /// `semantics`, its steps are sets of transitions.
    pub fn safety(
        &mut self,
        goals: &[&Goal],
        turns: Option<usize>,
        semantics: Option<Semantics>,
        budget: &Budget,
    ) -> Result<SafetyMachine, NotBegun> {
        let (mut machine, mut schedule) = match (semantics, &self.bits) {
            (None, _) => (self.machine.clone(), None),
            (Some(semantics), Bits::Interleaving(encoding, _)) => (stepping(encoding, semantics, budget)?, None),
            (Some(_), Bits::Synchronous(_)) => return Err(NotBegun::Unsupported(NO_TRANSITIONS.into())),
        };
        if let Some(repeats) = turns {
            let exprs: Vec<&Expr> = goals.iter().filter_map(|goal| goal.expr()).collect();
            let safe = self.safe_steps(&exprs, budget)?;
            if let Bits::Interleaving(encoding, _) = &self.bits {
                let made = interleaving(encoding, false, Some(Turns { safe: &safe, repeats }));
                (machine, schedule) = (made.machine, made.schedule.map(Rc::new));
            }
        }
        machine.dag.set_budget(budget);
        let mut bad = Vec::new();
        for goal in goals {
            bad.push(self.bad(&mut machine, goal)?);
        }
        self.finished(&machine)?;
        Ok(SafetyMachine { machine: Rc::new(machine), schedule, bad, overflow: self.overflow })
    }

    pub(crate) fn finished(&self, machine: &Machine) -> Result<(), NotBegun> {
        machine.dag.interrupted().map_or(Ok(()), |interrupted| Err(interrupted.into()))
    }

    pub(crate) fn bad(&mut self, machine: &mut Machine, goal: &Goal) -> Result<Lit, NotBegun> {
        Ok(match (goal, &self.bits) {
            (Goal::Deadlock, Bits::Interleaving(encoding, _)) => encoding.stuck,
            // Of others it is not asked.
            (Goal::Deadlock, Bits::Synchronous(_)) => Lit::FALSE,
            (Goal::Violation, Bits::Interleaving(encoding, _)) => {
                let violations: Vec<Lit> = encoding.partitions.iter().map(|one| one.violation).collect();
                machine.dag.any(&violations)
            }
            (Goal::Violation, Bits::Synchronous(_)) => self.joint_fault,
            (Goal::Not(expr), _) => {
                let holds = self.condition(machine, expr)?;
                machine.dag.and(self.visible(), !holds)
            }
        })
    }

    /// The product with a property automaton, whose atoms are these expressions. Runs that end repeat their last state,
    /// if that is asked for. With `turns`, processes have so many safe steps in turn.
    pub fn product(
        &mut self,
        watcher: &Watcher,
        atoms: &[Expr],
        stutters: bool,
        fairness: Fairness,
        turns: Option<usize>,
        budget: &Budget,
    ) -> Result<ProductMachine, NotBegun> {
        let safe = match turns {
            Some(_) => self.safe_steps(&atoms.iter().collect::<Vec<_>>(), budget)?,
            None => Vec::new(),
        };
        let (mut machine, chosen, rests, schedule) = match &self.bits {
            Bits::Interleaving(encoding, _) => {
                let turns = turns.map(|repeats| Turns { safe: &safe, repeats });
                let Interleaved { machine, chosen, rests, schedule } = interleaving(encoding, stutters, turns);
                (machine, chosen, rests, schedule.map(Rc::new))
            }
            Bits::Synchronous(_) => (self.machine.clone(), Vec::new(), None, None),
        };
        machine.dag.set_budget(budget);
        let mut values = Vec::new();
        for atom in atoms {
            values.push(self.condition(&mut machine, atom)?);
        }
        let visible = self.visible();
        let watched = watch(&mut machine, watcher, &values, visible);
        let deciding = watcher.deciding().unwrap_or_default();
        let decided = watched.edges.iter().filter(|(to, _)| deciding.contains(to)).map(|(_, possible)| *possible);
        let decided: Vec<Lit> = decided.collect();
        let decided = machine.dag.any(&decided);
        let mut fair = Fair { justice: watched.marks, compassion: Vec::new() };
        if visible != Lit::TRUE || fair.justice.is_empty() {
            fair.justice.push(visible);
        }
        let mut overflow = self.overflow;
        if let Bits::Interleaving(encoding, _) = &self.bits {
            add_fairness(&mut machine, &mut fair, encoding, &chosen, rests.as_ref(), fairness);
            if stutters {
                let faults: Vec<Lit> = encoding.partitions.iter().map(|one| one.fault).collect();
                let faulty = machine.dag.any(&faults);
                let in_passing = machine.dag.and(faulty, !visible);
                overflow = machine.dag.or(overflow, in_passing);
            }
        }
        self.finished(&machine)?;
        Ok(ProductMachine { machine: Rc::new(machine), schedule, fair, decided, overflow })
    }

    /// The moves of the system, for the verification of proofs.
    pub fn transitions(&self) -> Vec<Transition> {
        match &self.bits {
            Bits::Interleaving(encoding, _) => {
                let updates = |updates: &[(u32, Lit)]| updates.iter().map(|(bit, lit)| (*bit as usize, *lit)).collect();
                let of =
                    |one: &ample_boolean::Partition| Transition { guard: one.guard, updates: updates(&one.updates) };
                encoding.partitions.iter().map(of).collect()
            }
            Bits::Synchronous(_) => whole_step(&self.machine),
        }
    }

    /// The first partition of which a formula holds in a state.
    fn partition_with(&self, state: &[bool], formula: impl Fn(&Encoding, usize) -> Lit) -> Option<usize> {
        let Bits::Interleaving(encoding, _) = &self.bits else { return None };
        let values = encoding.dag.values(&|bit| state.get(bit as usize).copied().unwrap_or(false));
        (0..encoding.partitions.len()).find(|number| values.of(formula(encoding, *number)))
    }

    /// The steps of a path. In a product there are more inputs, after those of the system.
    pub fn steps(&self, path: &Path) -> Vec<Taken> {
        let step = |(number, inputs): (usize, &Vec<bool>)| self.taken(&path.states[number], inputs);
        path.inputs.iter().enumerate().flat_map(step).collect()
    }

    /// What is done in one step: one thing, or several independent ones.
    fn taken(&self, state: &[bool], inputs: &[bool]) -> Vec<Taken> {
        if let Bits::Interleaving(encoding, _) = &self.bits {
            let chosen = encoding.partitions.iter().zip(inputs).filter(|(_, is_chosen)| **is_chosen);
            let moves: Vec<Taken> = chosen.map(|(partition, _)| Taken::Move(partition.taken.clone())).collect();
            if !moves.is_empty() {
                return moves;
            }
        }
        self.step(state, inputs).into_iter().collect()
    }

    fn step(&self, state: &[bool], inputs: &[bool]) -> Option<Taken> {
        match &self.bits {
            Bits::Interleaving(encoding, _) => {
                let chosen = inputs.iter().position(|is_chosen| *is_chosen)?;
                let count = encoding.partitions.len();
                Some(match encoding.partitions.get(chosen) {
                    Some(partition) => Taken::Move(partition.taken.clone()),
                    // After these a run rests, is stopped, or pauses; the pause is the first of them in a machine in which
                    // runs cannot end.
                    None if chosen == count + 1 => Taken::Stop,
                    None => Taken::Rest,
                })
            }
            Bits::Synchronous(encoding) => {
                let mut known = vec![false; self.machine.unused as usize];
                self.machine.state.iter().zip(state).for_each(|(bit, value)| known[*bit as usize] = *value);
                self.machine.inputs.iter().zip(inputs).for_each(|(bit, value)| known[*bit as usize] = *value);
                let values = self.machine.values(state, inputs);
                for (bit, lit) in encoding.next_bits.clone().zip(&self.machine.next) {
                    known[bit as usize] = values.of(*lit);
                }
                Some(Taken::Move(encoding.taken(&|bit| known[bit as usize])))
            }
        }
    }

    /// The move out of the last state of a path that breaks an assertion or is a fault.
    pub fn last_violation(&self, path: &Path) -> Option<Move> {
        match &self.bits {
            Bits::Interleaving(encoding, _) => {
                let number =
                    self.partition_with(path.end(), |encoding, number| encoding.partitions[number].violation)?;
                Some(encoding.partitions[number].taken.clone())
            }
            Bits::Synchronous(_) => match self.step(path.end(), &path.last_inputs)? {
                Taken::Move(taken) => Some(taken),
                Taken::Rest | Taken::Stop => None,
            },
        }
    }

    /// The move that is a fault in a state.
    pub fn fault_in(&self, state: &[bool]) -> Option<Move> {
        let Bits::Interleaving(encoding, _) = &self.bits else { return None };
        let number = self.partition_with(state, |encoding, number| encoding.partitions[number].fault)?;
        Some(encoding.partitions[number].taken.clone())
    }

    fn state(&self, bits: &[bool]) -> State {
        let value = |bit: u32| bits.get(bit as usize).copied().unwrap_or(false);
        match &self.bits {
            Bits::Interleaving(encoding, _) => encoding.state(self.system, &value),
            Bits::Synchronous(encoding) => encoding.state(&value),
        }
    }

    /// The number of the initial state of a run.
    pub fn start(&self, path: &Path) -> Option<StartNumber> {
        Interpreter::new(self.system).number_of(&self.state(path.states.first()?))
    }

    /// What the bits mean: the names of cells, with their first bit and how many they have.
    pub fn cells(&self) -> Vec<(String, u32, u32)> {
        let mut cells = self.all_cells();
        cells.retain(|(_, first, _)| (*first as usize) < self.bits());
        cells
    }

    /// What the bits mean, those of inputs too.
    pub fn all_cells(&self) -> Vec<(String, u32, u32)> {
        let cells = match &self.bits {
            Bits::Interleaving(encoding, _) => &encoding.cells,
            Bits::Synchronous(encoding) => &encoding.cells,
        };
        cells.iter().map(|cell| (cell.name.clone(), cell.first, cell.bits)).collect()
    }

    /// The bit of the next state that belongs to one of the present state, in a synchronous system.
    pub fn next_bit(&self, bit: u32) -> Option<u32> {
        match &self.bits {
            Bits::Synchronous(encoding) if bit < encoding.bits => Some(encoding.next_bits.start + bit),
            _ => None,
        }
    }
}

/// The step of a machine as one move.
pub fn whole_step(machine: &Machine) -> Vec<Transition> {
    vec![Transition { guard: machine.step, updates: machine.next.iter().copied().enumerate().collect() }]
}

/// What fairness asks for: of each process or of each action.
fn add_fairness(
    machine: &mut Machine,
    fair: &mut Fair,
    encoding: &Encoding,
    chosen: &[Lit],
    rests: Option<&Stuttering>,
    fairness: Fairness,
) {
    let partitions = &encoding.partitions;
    let stopped = rests.map_or(Lit::FALSE, |rests| rests.stopped);
    let dag = &mut machine.dag;
    // Who can begin a step, be it a fault; what does not fit is looked for beside.
    let enabled = |dag: &mut ample_boolean::Dag, numbers: &[usize]| {
        let of = |number: &usize| [partitions[*number].guard, partitions[*number].fault];
        let cases: Vec<Lit> = numbers.iter().flat_map(of).collect();
        dag.any(&cases)
    };
    let movers = |number: usize| partitions[number].taken.movers().map(|(process, _)| process);
    match fairness {
        Fairness::None => {}
        Fairness::Weak => {
            let mut processes: Vec<u32> = (0..partitions.len()).filter_map(|number| movers(number).next()).collect();
            processes.sort_unstable();
            processes.dedup();
            for process in processes {
                let begins: Vec<usize> =
                    (0..partitions.len()).filter(|number| movers(*number).next() == Some(process)).collect();
                let able = enabled(dag, &begins);
                let unable = dag.and(encoding.visible, !able);
                let takes: Vec<Lit> = (0..partitions.len())
                    .filter(|number| movers(*number).any(|mover| mover == process))
                    .map(|number| chosen[number])
                    .collect();
                let takes = dag.any(&takes);
                fair.justice.push(dag.any(&[unable, takes, stopped]));
            }
        }
        Fairness::Strong => {
            let mut actions: Vec<(&Move, Vec<usize>)> = Vec::new();
            for (number, partition) in partitions.iter().enumerate() {
                match actions.iter_mut().find(|(taken, _)| **taken == partition.taken) {
                    Some((_, numbers)) => numbers.push(number),
                    None => actions.push((&partition.taken, vec![number])),
                }
            }
            for (_, numbers) in actions {
                let able = enabled(dag, &numbers);
                let able = dag.and(able, !stopped);
                let takes: Vec<Lit> = numbers.iter().map(|number| chosen[*number]).collect();
                let takes = dag.any(&takes);
                fair.compassion.push((able, takes));
            }
        }
    }
}
