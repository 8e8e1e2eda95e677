//! A `System`, compiled: a state space over packed bytes.
//!
//! The hot core of the explicit engine. A state is a short run of bytes (`layout`, `shape`); guards and
//! effects are flat code (`bytecode`, `program`) made once by the `compiler`, checked by `verify` and run
//! by a small evaluator (`machine`); the moves of a state are a sequence that is walked, never built
//! (`successors`). What a step means is defined by the [reference interpreter](ample_model::interpret),
//! which the tests compare this with, bit for bit.
//!
//! ```
//! use ample_explicit::compile::Compiled;
//! use ample_explicit::space::StateSpace;
//! # use ample_model::{Expr, System};
//! # fn count(system: &System) -> Result<usize, Box<dyn std::error::Error>> {
//! let mut space = Compiled::new(system, &[])?;
//! let mut state = Vec::new();
//! space.initial(0, &mut state);
//! let mut moves = 0;
//! let mut next = space.first(&state);
//! while let Some(transition) = next {
//!     moves += 1;
//!     next = space.next(&state, &transition);
//! }
//! # Ok(moves)
//! # }
//! ```

mod bytecode;
mod compiler;
mod convert;
mod layout;
mod machine;
mod memory;
mod program;
mod reduced;
mod shape;
mod successors;
mod verify;

#[cfg(test)]
mod random;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::sync::Arc;

use ample_model::{EdgeId, Expr, Fault, Move, ProcessId, System};
use thiserror::Error;

use crate::liveness::{Concurrent, Processes};
use crate::space::{Checked, Culprit, StateSpace};
use bytecode::NOWHERE;
use machine::{Faulted, Machine, Timeout};
use memory::{Reading, Writing, shape_of};
use program::{EdgeCode, Program};
pub use reduced::{Ample, Method, NotReduced, Reduced, Taken, Tally};
use shape::Shapes;
pub use successors::Transition;

/// How many steps of an atomic sequence are taken in one go. An endless one is cut into pieces that the
/// store can tell apart.
pub const MAX_ATOMIC_STEPS: u32 = 1_000;

/// Why a system cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unsupported {
    /// A process type with too many locations.
    #[error("process type {process} has more than {limit} locations, which the explicit engine cannot number")]
    TooManyLocations {
        /// Its name.
        process: String,
        /// How many there may be.
        limit: usize,
    },
    /// A message with too many fields.
    #[error("channel {channel} has messages of more than {limit} fields, which the explicit engine cannot hold")]
    TooManyFields {
        /// Its name.
        channel: String,
        /// How many there may be.
        limit: usize,
    },
    /// Too many of something else.
    #[error("more than {limit} {what}: the explicit engine cannot keep so many")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many there may be.
        limit: usize,
    },
    /// Too long a state.
    #[error(
        "a state would be longer than 1 MiB, which the explicit engine cannot store; smaller arrays or channels would do"
    )]
    StateTooLong,
    /// Too deep an expression.
    #[error("an expression in {at} is nested too deeply for the explicit engine; split it over several statements")]
    TooDeep {
        /// Where.
        at: String,
    },
    /// The system is not well-formed.
    #[error("the system is not well-formed: {0}")]
    Malformed(&'static str),
}

/// A compiled system.
///
/// A clone shares the program and the numbering of shapes, and has its own scratch memory: one for each
/// thread that searches.
#[derive(Clone)]
pub struct Compiled {
    program: Arc<Program>,
    shapes: Shapes,
    machine: Machine,
    atomic_steps: u32,
    dead: bool,
    /// The edge that ended the last step in a fault, among all edges.
    culprit: Option<u32>,
    /// Who took part in the last step, if that is to be noted.
    participants: Option<Processes>,
    /// How many steps of an atomic sequence are taken in one go.
    most_steps: u32,
}

impl Compiled {
    /// Compiles a system, and expressions over its states that [`Checked::invariant`] evaluates.
    pub fn new(system: &System, invariants: &[Expr]) -> Result<Compiled, Unsupported> {
        Compiled::with_conditions(system, invariants, &[])
    }

    /// The same with conditions that processes of the types beside them evaluate.
    fn with_conditions(
        system: &System,
        invariants: &[Expr],
        conditions: &[(ProcessId, Expr)],
    ) -> Result<Compiled, Unsupported> {
        let program = compiler::compile(system, invariants, conditions)?;
        let shapes = Shapes::new(&program.layout);
        Ok(Compiled {
            program: Arc::new(program),
            shapes,
            machine: Machine::default(),
            atomic_steps: 0,
            dead: false,
            culprit: None,
            participants: None,
            most_steps: MAX_ATOMIC_STEPS,
        })
    }

    /// A limit of this representation that a step ran into, for good: that step was reported as a fault,
    /// but it is none of the system's.
    pub fn limit_reached(&self) -> Option<String> {
        self.machine.limit.map(|limit| limit.to_string())
    }

    /// The longest state met so far, in bytes.
    pub fn max_state_bytes(&self) -> usize {
        self.shapes.longest() as usize
    }

    /// How many bytes at the end of the state do not count: two states that differ only there are the
    /// same.
    pub fn hidden_tail(&self, state: &[u8]) -> usize {
        self.shapes.hidden(&self.program.layout, shape_of(state)) as usize
    }

    /// Tells a store how many bytes of a state count; goes on to do so while the space is busy.
    ///
    /// ```
    /// # use ample_explicit::{compile::Compiled, store::{FlatStore, Parent}};
    /// # fn store(space: &Compiled) {
    /// let store = FlatStore::<Parent, _>::with_visible(space.visible());
    /// # }
    /// ```
    pub fn visible(&self) -> impl Fn(&[u8]) -> usize + Clone + use<> {
        let program = Arc::clone(&self.program);
        let always = program.layout.segments.iter().all(|segment| segment.hidden == 0);
        let shapes = RefCell::new(self.shapes.clone());
        move |state| {
            if always {
                return state.len() - program.layout.hidden as usize;
            }
            let mut shapes = shapes.borrow_mut();
            shapes.learn(&program.layout, shape_of(state));
            state.len() - shapes.hidden(&program.layout, shape_of(state)) as usize
        }
    }

    /// How many processes are alive.
    pub fn process_count(&self, state: &[u8]) -> u32 {
        self.shapes.known(shape_of(state)).frames.len() as u32
    }

    /// Who holds exclusive control.
    pub fn control(&self, state: &[u8]) -> Option<u32> {
        successors::control(&self.program, &Reading::new(state, &self.shapes))
    }

    /// The value of the invariant of that number in the state.
    pub fn evaluate(&mut self, number: usize, state: &[u8]) -> Result<i64, Fault> {
        let memory = Reading::open(state, &mut self.shapes, &self.program.layout);
        self.machine.leave(memory.shape.tail);
        self.machine.surroundings.timeout = Timeout::Open;
        self.machine.surroundings.by_mask = false;
        self.machine.surroundings.offered = false;
        let value = self.machine.evaluate(&self.program, &memory, self.program.invariants[number]);
        value.map_err(|Faulted| self.machine.fault.take().unwrap_or(Fault::NotEnabled))
    }

    /// Does a condition hold that a process evaluates? If asking goes wrong it is taken to.
    fn condition(&mut self, number: u32, process: u32, state: &[u8]) -> bool {
        let memory = Reading::open(state, &mut self.shapes, &self.program.layout);
        let (_, code) = self.program.conditions[number as usize];
        self.machine.condition(&self.program, &memory, process, code)
    }

    /// Performs the effect of an edge that is no process's: one of a never claim. False if an assertion in it fails.
    /// The claim must have no variables of its own.
    pub fn perform(
        &mut self,
        claim: ProcessId,
        edge: EdgeId,
        state: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<bool, Option<Fault>> {
        let is_meant = |code: &&EdgeCode| (usize::from(code.process), code.id) == (claim.index(), edge.0);
        let code = *self.program.edges.iter().find(is_meant).ok_or(None)?;
        self.begin();
        let tail = Reading::open(state, &mut self.shapes, &self.program.layout).shape.tail;
        self.machine.leave(tail);
        self.machine.surroundings.timeout = Timeout::No;
        self.machine.surroundings.by_mask = false;
        self.machine.surroundings.offered = false;
        let mut memory = Writing::copy_of(state, out, &mut self.shapes, &self.program.layout);
        self.machine.step(&mut memory, &code.step);
        if code.effect != NOWHERE && self.machine.effect(&self.program, &mut memory, code.effect).is_err() {
            return Err(self.machine.fault.take());
        }
        Ok(self.machine.violations.is_empty())
    }

    /// The move that the transition begins with.
    pub fn first_move(&self, transition: &Transition) -> Move {
        move_of(&self.program, transition)
    }

    /// All moves that the transition stands for, in order: its own, and those of the atomic sequence that
    /// it runs through. The reference interpreter can replay them.
    pub fn expand(&mut self, state: &[u8], transition: &Transition) -> Vec<Move> {
        let mut moves = Vec::new();
        let mut out = Vec::new();
        self.run(state, transition, &mut out, |program, taken| moves.push(move_of(program, taken)));
        moves
    }

    /// Takes the transition and then all that follows without a choice while control is held.
    #[inline]
    fn run(
        &mut self,
        state: &[u8],
        transition: &Transition,
        out: &mut Vec<u8>,
        mut note: impl FnMut(&Program, &Transition),
    ) {
        self.begin();
        note(&self.program, transition);
        let memory = Reading::open(state, &mut self.shapes, &self.program.layout);
        let prepared = self.machine.prepare(&self.program, &memory, transition);
        let mut memory = Writing::copy_of(state, out, &mut self.shapes, &self.program.layout);
        let taken = prepared.and_then(|p| self.machine.take(&self.program, &mut memory, transition, &p));
        self.dead = taken.is_err();
        if self.dead {
            self.culprit = Some(transition.edge());
        }
        if self.program.layout.control.is_some_and(|cell| out[cell.offset as usize] != 0) && !self.dead {
            self.run_on(out, note);
        }
    }

    /// While control is held and there is no choice, takes the next move too.
    fn run_on(&mut self, out: &mut Vec<u8>, mut note: impl FnMut(&Program, &Transition)) {
        let Some(control) = self.program.layout.control else { return };
        while out[control.offset as usize] != 0 {
            let memory = Reading::new(out, &self.shapes);
            let Some(next) = self.machine.first_controlled(&self.program, &memory) else {
                out[control.offset as usize] = 0;
                return;
            };
            let chooses = self.machine.next(&self.program, &memory, &next).is_some();
            if chooses || self.atomic_steps >= self.most_steps {
                return;
            }
            self.atomic_steps += 1;
            note(&self.program, &next);
            let prepared = self.machine.prepare(&self.program, &memory, &next);
            let mut memory = Writing::new(out, &mut self.shapes);
            let taken = prepared.and_then(|p| self.machine.take(&self.program, &mut memory, &next, &p));
            if taken.is_err() {
                self.dead = true;
                self.culprit = Some(next.edge());
                return;
            }
        }
    }

    #[inline]
    fn begin(&mut self) {
        self.atomic_steps = 0;
        self.dead = false;
        self.culprit = None;
        self.machine.fault = None;
        self.machine.violations.clear();
    }

    fn start(&mut self, number: usize, out: &mut Vec<u8>) -> Option<Result<(), Faulted>> {
        let program = &*self.program;
        let mut numbers = Vec::new();
        if !program.combinations.write(number as u64, &mut numbers) {
            return None;
        }
        let mut numbers = numbers.into_iter();
        let root = self.shapes.known(0);
        out.clear();
        out.resize(root.length as usize, 0);
        self.machine.leave(root.tail);
        self.machine.surroundings.timeout = Timeout::No;
        self.machine.surroundings.by_mask = false;
        self.machine.surroundings.offered = false;
        let mut memory = Writing::new(out, &mut self.shapes);
        if let (Some(cell), Some(monitor)) = (&program.layout.monitor, &program.monitor) {
            memory.set(0, cell, monitor.initial.into());
        }
        for global in &program.globals {
            if let Some(choices) = &global.choices {
                self.machine.give(&[choices.as_choice().get(numbers.next().unwrap_or(0))]);
            }
            if self.machine.effect(program, &mut memory, global.code).is_err() {
                return Some(Err(Faulted));
            }
        }
        for process in &program.start {
            self.machine.give(&process.arguments);
            if self.machine.start(program, &mut memory, process.process, process.priority).is_err() {
                return Some(Err(Faulted));
            }
        }
        Some(Ok(()))
    }
}

impl StateSpace for Compiled {
    type State = [u8];
    type Transition = Transition;

    fn initial(&mut self, index: usize, out: &mut Vec<u8>) -> bool {
        self.begin();
        let started = self.start(index, out);
        self.dead = started == Some(Err(Faulted));
        started.is_some()
    }

    #[inline]
    fn first(&mut self, state: &[u8]) -> Option<Transition> {
        let memory = Reading::open(state, &mut self.shapes, &self.program.layout);
        self.machine.first(&self.program, &memory)
    }

    #[inline]
    fn next(&mut self, state: &[u8], transition: &Transition) -> Option<Transition> {
        let memory = Reading::open(state, &mut self.shapes, &self.program.layout);
        self.machine.next(&self.program, &memory, transition)
    }

    #[inline]
    fn target(&mut self, state: &[u8], transition: &Transition, out: &mut Vec<u8>) {
        if self.participants.is_none() {
            return self.run(state, transition, out, |_, _| {});
        }
        let mut participants = Processes::NONE;
        self.run(state, transition, out, |_, taken| {
            participants.insert(taken.process());
            if let Some((partner, _)) = taken.partner() {
                participants.insert(partner);
            }
        });
        self.participants = Some(participants);
    }
}

impl Concurrent for Compiled {
    #[inline]
    fn mover(&self, transition: &Transition) -> Option<u32> {
        Some(transition.process())
    }

    #[inline]
    fn participants(&self) -> Processes {
        self.participants.unwrap_or_default()
    }

    fn note_participants(&mut self) {
        self.participants = Some(Processes::NONE);
    }

    fn actions(&mut self, state: &[u8], transition: &Transition) -> Vec<Move> {
        self.expand(state, transition)
    }
}

impl Checked for Compiled {
    fn is_valid_end(&mut self, state: &[u8]) -> bool {
        let memory = Reading::open(state, &mut self.shapes, &self.program.layout);
        let may_stop = match (&self.program.monitor, &self.program.layout.monitor) {
            (Some(monitor), Some(cell)) => {
                let at = memory.cell(0, cell) as u32;
                at == monitor.last || monitor.ends.contains(&at)
            }
            _ => true,
        };
        let mut at_end = memory.shape.frames.iter().map(|frame| self.program.locations[memory.location(frame)].end);
        memory.shape.frames.is_empty() || may_stop && at_end.all(|end| end)
    }

    fn violation(&self) -> Option<String> {
        if self.machine.violations.is_empty() && !self.dead {
            return None;
        }
        let fault = if self.dead { self.machine.fault.as_ref() } else { None };
        let sentences: Vec<String> = self.machine.violations.iter().chain(fault).map(Fault::to_string).collect();
        Some(sentences.join("; "))
    }

    #[inline]
    fn is_dead(&self) -> bool {
        self.dead
    }

    fn culprit(&self) -> Option<Culprit> {
        let edge = &self.program.edges[self.culprit? as usize];
        Some((edge.process.into(), edge.id))
    }

    fn stopped(&mut self, state: &[u8], transition: &Transition, out: &mut Vec<u8>) {
        self.run(state, transition, out, |_, _| {});
        let steps = self.atomic_steps;
        if steps == 0 {
            out.clear();
            out.extend_from_slice(state);
            return;
        }
        // Once more, up to the step before.
        self.most_steps = steps - 1;
        self.run(state, transition, out, |_, _| {});
        self.most_steps = MAX_ATOMIC_STEPS;
    }

    #[inline]
    fn is_transient(&self, state: &[u8]) -> bool {
        self.program.layout.control.is_some_and(|cell| state[cell.offset as usize] != 0)
    }

    #[inline]
    fn atomic_steps(&self) -> u32 {
        self.atomic_steps
    }

    fn invariant(&mut self, number: usize, state: &[u8]) -> bool {
        self.evaluate(number, state).is_ok_and(|value| value != 0)
    }
}

fn move_of(program: &Program, transition: &Transition) -> Move {
    let id = |edge: u32| EdgeId(program.edges[edge as usize].id);
    Move {
        process: transition.process(),
        edge: id(transition.edge()),
        partner: transition.partner().map(|(process, edge)| (process, id(edge))),
    }
}
