//! A system as a sequential circuit: state bits with their next values as functions of state bits and inputs, and a
//! condition under which a step is possible.
//!
//! In an interleaving system the inputs choose the move, one input for each [partition](Partition), exactly one of which is
//! set. So every choice of inputs has at most one successor, which is what the methods of this crate rely on.

use ample_boolean::{Dag, Encoding, Functional, JointEncoding, Lit, Partition, Values};

use crate::partial::Schedule;
use crate::project::Requirements;

/// A circuit.
#[derive(Clone, Debug)]
pub struct Machine {
    /// All formulas. Its inputs are the state bits and the inputs of a step.
    pub dag: Dag,
    /// The state bits, as inputs of the graph.
    pub state: Vec<u32>,
    /// The inputs of a step, as inputs of the graph.
    pub inputs: Vec<u32>,
    /// The initial states.
    pub initial: Lit,
    /// The value of each state bit after a step that is possible.
    pub next: Vec<Lit>,
    /// The step is possible: a formula over state bits and inputs.
    pub step: Lit,
    /// Inputs of the graph with this number or a higher one are not used.
    pub unused: u32,
}

impl Machine {
    /// A new input of the graph, which is neither a state bit nor an input of steps yet.
    fn fresh(&mut self) -> u32 {
        self.unused += 1;
        self.unused - 1
    }

    /// A new input of steps.
    pub fn add_input(&mut self) -> Lit {
        let number = self.fresh();
        self.inputs.push(number);
        self.dag.input(number)
    }

    /// A new state bit that keeps its value until it is given a [next one](Self::set_next).
    pub fn add_bit(&mut self) -> Lit {
        let number = self.fresh();
        let lit = self.dag.input(number);
        self.state.push(number);
        self.next.push(lit);
        lit
    }

    /// The next value of a state bit.
    pub fn set_next(&mut self, bit: Lit, next: Lit) {
        if let ample_boolean::Node::Input(number) = self.dag.node(bit)
            && let Some(position) = self.state.iter().position(|state| *state == number)
        {
            self.next[position] = next;
        }
    }

    /// The values of all nodes in a state, with the inputs of a step.
    pub fn values(&self, state: &[bool], inputs: &[bool]) -> Values {
        let mut known = vec![false; self.unused as usize];
        self.state.iter().zip(state).for_each(|(bit, value)| known[*bit as usize] = *value);
        self.inputs.iter().zip(inputs).for_each(|(bit, value)| known[*bit as usize] = *value);
        self.dag.values(&|bit| known.get(bit as usize).copied().unwrap_or(false))
    }

    /// The state after a step with these inputs.
    pub fn successor(&self, state: &[bool], inputs: &[bool]) -> Vec<bool> {
        let values = self.values(state, inputs);
        self.next.iter().map(|lit| values.of(*lit)).collect()
    }

    /// A step is possible only if this holds.
    pub fn require(&mut self, lit: Lit) {
        self.step = self.dag.and(self.step, lit);
    }

    /// Initially this holds.
    pub fn require_initially(&mut self, lit: Lit) {
        self.initial = self.dag.and(self.initial, lit);
    }
}

/// The choice of a move among several.
pub struct Choices {
    /// For each, that it is the one.
    pub chosen: Vec<Lit>,
    /// Exactly one is.
    pub is_one: Lit,
}

/// Exactly one of so many inputs is set, which the machine gets for this.
pub fn one_of(machine: &mut Machine, count: usize) -> Choices {
    let chosen: Vec<Lit> = (0..count).map(|_| machine.add_input()).collect();
    let dag = &mut machine.dag;
    let (mut some, mut single) = (Lit::FALSE, Lit::TRUE);
    for lit in &chosen {
        let twice = dag.and(some, *lit);
        single = dag.and(single, !twice);
        some = dag.or(some, *lit);
    }
    let is_one = dag.and(some, single);
    Choices { chosen, is_one }
}

/// A machine of an interleaving system.
pub struct Interleaved {
    /// The machine.
    pub machine: Machine,
    /// For each partition, that it is chosen.
    pub chosen: Vec<Lit>,
    /// Where a run that ends may repeat its last state for ever: that it does.
    pub rests: Option<Stuttering>,
    /// Of a machine that is to follow a schedule.
    pub schedule: Option<Schedule>,
}

/// How runs that end go on.
pub struct Stuttering {
    /// The last state is repeated.
    pub rests: Lit,
    /// A fault stops the run: from then on it can only rest.
    pub stops: Lit,
    /// The run was stopped.
    pub stopped: Lit,
}

/// Of bounded partial exploration: the safe steps of each process, and how many of them it has in turn.
#[derive(Clone, Copy, Debug)]
pub struct Turns<'a> {
    /// As numbers of partitions.
    pub safe: &'a [Vec<usize>],
    /// Steps in turn.
    pub repeats: usize,
}

/// The bits of an interleaving system, which keep their values.
pub(crate) fn standing(encoding: &Encoding) -> Machine {
    let mut machine = Machine {
        dag: encoding.dag.clone(),
        state: (0..encoding.bits).collect(),
        inputs: Vec::new(),
        initial: encoding.initial,
        next: Vec::new(),
        step: Lit::TRUE,
        unused: encoding.bits,
    };
    machine.next = (0..encoding.bits).map(|bit| machine.dag.input(bit)).collect();
    machine
}

/// The machine of an interleaving system; one in which runs that end repeat their last state, and with a schedule, if that
/// is asked for.
pub fn interleaving(encoding: &Encoding, stutters: bool, turns: Option<Turns<'_>>) -> Interleaved {
    let mut machine = standing(encoding);
    let partitions = &encoding.partitions;
    let others = if stutters { 2 } else { 0 } + usize::from(turns.is_some());
    let choices = one_of(&mut machine, partitions.len() + others);
    let (mut chosen, is_one) = (choices.chosen.clone(), choices.is_one);
    let more = chosen.split_off(partitions.len());
    let mut guards: Vec<Lit> = partitions.iter().map(|partition| partition.guard).collect();
    let mut rests = None;
    if let ([rest, stop, ..], true) = (&more[..], stutters) {
        let (rest, stop) = (*rest, *stop);
        let stopped = machine.add_bit();
        machine.require_initially(!stopped);
        let dag = &mut machine.dag;
        guards.iter_mut().for_each(|guard| *guard = dag.and(*guard, !stopped));
        let idle = dag.and(encoding.idle, encoding.visible);
        guards.push(dag.or(idle, stopped));
        let faults: Vec<Lit> = partitions.iter().map(|partition| partition.fault).collect();
        let faulty = dag.any(&faults);
        guards.push(dag.all(&[faulty, encoding.visible, !stopped]));
        let next = dag.or(stopped, stop);
        machine.set_next(stopped, next);
        rests = Some(Stuttering { rests: rest, stops: stop, stopped });
    }
    let schedule =
        turns.map(|turns| Schedule::of(&mut machine, partitions, &choices, &guards, turns.safe, turns.repeats));
    // What pauses is said by the schedule.
    let all = chosen.iter().chain(&more);
    let possible: Vec<Lit> = all.zip(&guards).map(|(lit, guard)| machine.dag.implies(*lit, *guard)).collect();
    let possible = machine.dag.all(&possible);
    machine.step = machine.dag.and(is_one, possible);
    update(&mut machine, partitions, &chosen);
    Interleaved { machine, chosen, rests, schedule }
}

/// A machine of a synchronous system.
pub struct Joint {
    /// The machine.
    pub machine: Machine,
    /// The attempt of a step is a fault.
    pub fault: Lit,
    /// What steps require, if that could be told.
    pub requirements: Option<Requirements>,
}

/// The machine of a synchronous system, in which the inputs are those of the system and the next values that are free.
pub fn joint(encoding: &mut JointEncoding) -> Joint {
    let Functional { next, free, step, own, fault } = encoding.functional();
    let initial = encoding.dag.all(&encoding.initial);
    let machine = Machine {
        dag: encoding.dag.clone(),
        state: (0..encoding.bits).collect(),
        inputs: encoding.inputs.clone().chain(free).collect(),
        initial,
        next,
        step,
        unused: encoding.next_bits.end,
    };
    let (invariant, initial) = (encoding.invariant.clone(), encoding.initial.clone());
    Joint { machine, fault, requirements: own.map(|own| Requirements { own, invariant, initial }) }
}

/// The next values, by the partition that is chosen; a bit that it does not write stays.
pub(crate) fn update(machine: &mut Machine, partitions: &[Partition], chosen: &[Lit]) {
    let mut writers: Vec<Vec<(Lit, Lit)>> = vec![Vec::new(); machine.state.len()];
    for (partition, lit) in partitions.iter().zip(chosen) {
        for (bit, value) in &partition.updates {
            writers[*bit as usize].push((*lit, *value));
        }
    }
    let dag = &mut machine.dag;
    for (bit, writers) in writers.into_iter().enumerate() {
        let written: Vec<Lit> = writers.iter().map(|(lit, _)| *lit).collect();
        let set: Vec<Lit> = writers.iter().map(|(lit, value)| dag.and(*lit, *value)).collect();
        let (written, set) = (dag.any(&written), dag.any(&set));
        let stays = dag.and(machine.next[bit], !written);
        machine.next[bit] = dag.or(set, stays);
    }
}
