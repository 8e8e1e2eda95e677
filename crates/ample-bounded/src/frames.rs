//! Time frames: the steps of a machine one after the other, as formulas over the inputs of each step.
//!
//! The formulas of all frames are in one graph, so that equal ones are there once, and what follows from the initial
//! state alone is a constant: the first frames of a system with one initial state nearly vanish.

use std::collections::HashMap;
use std::rc::Rc;

use ample_boolean::{Dag, Lit, Node, Values};
use ample_budget::{Budget, Interrupted};

use crate::clauses::Clauses;
use crate::machine::Machine;
use crate::partial::Schedule;
use crate::solver::{Effort, Literal, Solver, SolverKind};

/// How the first frame begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beginning {
    /// In an initial state.
    Initial,
    /// In any state.
    Any,
}

/// A machine, step by step.
pub struct Frames {
    machine: Rc<Machine>,
    /// The formulas of all frames.
    pub dag: Dag,
    /// The solver, and the clauses that it has.
    pub solver: Box<dyn Solver>,
    clauses: Clauses,
    budget: Budget,
    /// How many inputs the graph has.
    count: u32,
    /// Of each frame the values of the machine's state bits, in their order.
    pub states: Vec<Vec<Lit>>,
    /// Of each step the machine's inputs.
    pub inputs: Vec<Vec<Lit>>,
    /// The formulas of the last frame that were asked for, by node.
    made: Vec<Option<Lit>>,
    /// The formulas of the last frame can be followed: its inputs are there.
    is_open: bool,
    /// What can happen when, if not everything always.
    schedule: Option<Rc<Schedule>>,
    /// By the number of an input of the machine's graph: its position among the state bits, or among the inputs.
    places: Vec<Place>,
}

/// What an input of the machine's graph is.
#[derive(Clone, Copy)]
enum Place {
    Nothing,
    State(usize),
    Input(usize),
}

fn places(machine: &Machine) -> Vec<Place> {
    let mut places = vec![Place::Nothing; machine.unused as usize];
    machine.state.iter().enumerate().for_each(|(position, bit)| places[*bit as usize] = Place::State(position));
    machine.inputs.iter().enumerate().for_each(|(position, bit)| places[*bit as usize] = Place::Input(position));
    places
}

impl Frames {
    /// The first frame.
    pub fn new(machine: &Rc<Machine>, beginning: Beginning, budget: &Budget) -> Result<Frames, Interrupted> {
        Frames::scheduled(machine, None, beginning, SolverKind::Batsat, budget)
    }

    /// The first frame of a machine that follows a schedule, if there is one.
    pub fn scheduled(
        machine: &Rc<Machine>,
        schedule: Option<Rc<Schedule>>,
        beginning: Beginning,
        solver: SolverKind,
        budget: &Budget,
    ) -> Result<Frames, Interrupted> {
        let mut frames = Frames {
            machine: Rc::clone(machine),
            dag: Dag::within(budget),
            solver: solver.solver(),
            clauses: Clauses::default(),
            budget: budget.clone(),
            count: 0,
            states: Vec::new(),
            inputs: Vec::new(),
            made: Vec::new(),
            is_open: false,
            schedule,
            places: places(machine),
        };
        let state = machine.state.iter().map(|_| frames.fresh()).collect();
        frames.begin(state);
        if beginning == Beginning::Initial {
            let fixed = fixed_bits(&machine.dag, machine.initial);
            for (position, bit) in machine.state.iter().enumerate() {
                if let Some(value) = fixed.get(bit) {
                    frames.states[0][position] = (*value).into();
                }
            }
            let initial = frames.formula(machine.initial)?;
            frames.assert(initial)?;
        }
        Ok(frames)
    }

    fn fresh(&mut self) -> Lit {
        self.count += 1;
        self.dag.input(self.count - 1)
    }

    /// A new input that is part of no frame.
    pub fn free(&mut self) -> Lit {
        self.fresh()
    }

    /// A frame with that state is the last one.
    fn begin(&mut self, state: Vec<Lit>) {
        self.states.push(state);
        self.made = vec![None; self.machine.dag.len()];
        self.is_open = false;
    }

    /// The schedule is complete, if there is one.
    pub fn is_complete(&self) -> bool {
        self.schedule.as_ref().is_none_or(|schedule| schedule.is_complete(self.depth()))
    }

    /// From now on questions to the solver have that budget.
    pub fn limit(&mut self, budget: &Budget) {
        self.budget = budget.clone();
    }

    /// The machine.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// How many steps there are.
    pub fn depth(&self) -> usize {
        self.states.len() - 1
    }

    /// What the solver has done.
    pub fn effort(&self) -> Effort {
        self.solver.effort()
    }

    /// Gives the last frame its inputs.
    fn open(&mut self) {
        if !self.is_open {
            let (count, schedule) = (self.machine.inputs.len(), self.schedule.clone());
            let phase = schedule.as_ref().map(|schedule| schedule.phase(self.depth()));
            let is_allowed = |input: usize| phase.and_then(|phase| phase.allowed.get(input)) != Some(&false);
            let inputs = (0..count).map(|input| if is_allowed(input) { self.fresh() } else { Lit::FALSE }).collect();
            self.inputs.push(inputs);
            self.is_open = true;
        }
    }

    /// A formula of the machine in the last frame; over state bits, or over inputs of the step from there.
    pub fn formula(&mut self, lit: Lit) -> Result<Lit, Interrupted> {
        let machine = Rc::clone(&self.machine);
        let mut stack = vec![lit.index()];
        while let Some(&index) = stack.last() {
            if self.made[index].is_some() {
                stack.pop();
                continue;
            }
            let made = match machine.dag.node(Lit((index as u32) << 1)) {
                Node::Constant => Lit::FALSE,
                Node::Input(number) => self.input(number),
                Node::And(x, y) => match (self.made[x.index()], self.made[y.index()]) {
                    (Some(a), Some(b)) => self.dag.and(signed(a, x), signed(b, y)),
                    (a, b) => {
                        stack.extend(a.is_none().then_some(x.index()));
                        stack.extend(b.is_none().then_some(y.index()));
                        continue;
                    }
                },
            };
            self.made[index] = Some(made);
            stack.pop();
        }
        match self.dag.interrupted() {
            Some(interrupted) => Err(interrupted),
            None => Ok(signed(self.made[lit.index()].unwrap_or(Lit::FALSE), lit)),
        }
    }

    fn input(&mut self, number: u32) -> Lit {
        let depth = self.depth();
        match self.places.get(number as usize) {
            Some(Place::State(position)) => self.states[depth][*position],
            Some(Place::Input(position)) => {
                let position = *position;
                self.open();
                self.inputs[depth][position]
            }
            Some(Place::Nothing) | None => Lit::FALSE,
        }
    }

    /// One more frame, after a step that is possible.
    pub fn step(&mut self) -> Result<(), Interrupted> {
        self.budget.check()?;
        self.open();
        let step = self.formula(self.machine.step)?;
        self.assert(step)?;
        if let Some(schedule) = self.schedule.clone() {
            let condition = self.formula(schedule.phase(self.depth()).condition)?;
            self.assert(condition)?;
        }
        let mut next = Vec::with_capacity(self.machine.next.len());
        let machine = Rc::clone(&self.machine);
        for lit in &machine.next {
            next.push(self.formula(*lit)?);
        }
        self.begin(next);
        Ok(())
    }

    /// The formula as the solver has it.
    pub fn literal(&mut self, lit: Lit) -> Result<Literal, Interrupted> {
        self.clauses.literal(&self.dag, lit, &mut *self.solver, &self.budget)
    }

    /// The formula holds from now on; a conjunction is as many clauses as it has parts.
    pub fn assert(&mut self, lit: Lit) -> Result<(), Interrupted> {
        for lit in self.dag.conjuncts(lit).into_iter().filter(|lit| *lit != Lit::TRUE) {
            let literal = self.literal(lit)?;
            self.solver.add(&[literal]);
        }
        Ok(())
    }

    /// Whether all these can hold.
    pub fn solve(&mut self, lits: &[Lit]) -> Result<bool, Interrupted> {
        if lits.contains(&Lit::FALSE) {
            return Ok(false);
        }
        let mut assumptions = Vec::with_capacity(lits.len());
        for lit in lits {
            assumptions.push(self.literal(*lit)?);
        }
        self.solver.solve(&assumptions, &self.budget)
    }

    /// The values of all formulas in the solution that was found. Inputs that the solver has not seen are false.
    pub fn solution(&self) -> Values {
        self.dag.values(&|bit| {
            let literal = self.dag.find_input(bit).and_then(|lit| self.clauses.known(lit));
            literal.is_some_and(|literal| self.solver.value(literal))
        })
    }

    /// The values of the state bits of a frame in a solution.
    pub fn state(&self, frame: usize, solution: &Values) -> Vec<bool> {
        self.states[frame].iter().map(|lit| solution.of(*lit)).collect()
    }
}

fn signed(value: Lit, as_in: Lit) -> Lit {
    if as_in.is_negated() { !value } else { value }
}

/// The inputs that have the same value wherever the formula holds, as far as that is seen at once.
fn fixed_bits(dag: &Dag, lit: Lit) -> HashMap<u32, bool> {
    let fixed = |lit: Lit| match dag.node(lit) {
        Node::Input(bit) => Some((bit, !lit.is_negated())),
        _ => None,
    };
    dag.conjuncts(lit).into_iter().filter_map(fixed).collect()
}
