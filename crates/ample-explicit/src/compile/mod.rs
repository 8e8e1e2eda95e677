//! A `System`, compiled: a state space over packed bytes.
//!
//! The hot core of the explicit engine. A state is a short run of bytes (`layout`, `sequences`, `state_layout`); guards and
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
mod executed;
mod heap;
mod joint;
mod layout;
mod machine;
mod memory;
#[cfg(feature = "native")]
mod native;
#[cfg(not(feature = "native"))]
#[path = "native_none.rs"]
mod native;
mod packed;
mod program;
mod reduced;
mod sequences;
mod state_layout;
mod successors;
mod symmetric;
mod verify;

#[cfg(test)]
mod random;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use ample_engine::unreached::Coverage;
use ample_model::{Budget, EdgeId, Expr, Fault, Feature, Interrupted, Move, ProcessId, Reason, StartNumber, System};
use ample_reduce::symmetry::Symmetry;
use rapidhash::RapidHashMap;
use thiserror::Error;

use crate::liveness::{Concurrent, Processes};
use crate::space::{Checked, Culprit, StateSpace};
use crate::targets::Targets;
use bytecode::NOWHERE;
use compiler::Compilation;
use executed::Executed;
use heap::Discovery;
use joint::{Context, Joint};
use machine::{Faulted, Machine, Timeout};
use memory::{Reading, Writing};

use native::{Listing, NativeCode, Part, SharedCode};
pub use packed::Packed;
use program::{EdgeCode, Program};
pub use reduced::{Algorithm, Ample, Dependency, NotReduced, Reduced, Tally};
use state_layout::{LayoutPlace, StateLayouts};
pub use successors::Transition;
pub use symmetric::{Choice, Representatives};

/// How many steps of an atomic sequence are taken in one go. An endless one is cut into pieces that the
/// store can tell apart.
pub const MAX_ATOMIC_STEPS: u32 = 1_000;

/// So many states are expanded by the evaluator before native code is compiled, so that small searches do without.
const EVALUATED: u32 = 2_000;

/// Successors of longer states are not listed together.
const MOST_LISTED: usize = 1 << 14;

/// So many states are expanded between two looks whether native code is there.
const AWAITED: u32 = 100;

/// Why a system was not compiled.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CompileError {
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
    /// A kind of system that cannot be compiled.
    #[error("the explicit engine does not know {0}")]
    Feature(Feature),
    /// Hidden variables beside objects.
    #[error("the explicit engine does not know hidden variables in a model with objects")]
    HiddenReferences,
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
    /// There was no time, or no memory, to do so.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

impl From<CompileError> for Reason {
    fn from(error: CompileError) -> Reason {
        match error {
            CompileError::Interrupted(interrupted) => interrupted.into(),
            unsupported => Reason::Unsupported(unsupported.to_string()),
        }
    }
}

/// A system that is compiled once, and shared by all searches and threads.
///
/// ```
/// use ample_explicit::compile::CompiledSystem;
/// use ample_model::{Budget, Expr, System};
/// # fn count(system: &System, wanted: Expr) -> Result<(), Box<dyn std::error::Error>> {
/// let budget = Budget::unlimited();
/// let compiled = CompiledSystem::new(system, &budget)?;
/// // As many state spaces as there are searches, each with the expressions that it looks at.
/// let all = compiled.space(&[], &budget)?;
/// let some = compiled.space(&[wanted], &budget)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct CompiledSystem<'a> {
    system: &'a System,
    compilation: Arc<Compilation>,
    /// Native code for all searches, unless there shall be none.
    native: Option<Arc<SharedCode>>,
}

impl<'a> CompiledSystem<'a> {
    /// Compiles a system, within a budget.
    pub fn new(system: &'a System, budget: &Budget) -> Result<CompiledSystem<'a>, CompileError> {
        let compilation = Arc::new(compiler::compile(system, budget)?);
        Ok(CompiledSystem { system, compilation, native: Some(Arc::default()) })
    }

    /// Searches use the evaluator only, however long they are.
    pub fn without_native_code(self) -> CompiledSystem<'a> {
        CompiledSystem { native: None, ..self }
    }

    /// Compiles to native code now, not only when a search has become long.
    #[cfg(test)]
    fn with_native_code(self) -> CompiledSystem<'a> {
        let native = SharedCode::default();
        native.complete(&self.compilation.program);
        CompiledSystem { native: Some(Arc::new(native)), ..self }
    }

    /// What was compiled.
    pub fn system(&self) -> &'a System {
        self.system
    }

    /// Some search has met a state with as many processes as there may be.
    pub fn is_full(&self) -> bool {
        self.compilation.program.is_full.load(Ordering::Relaxed)
    }

    /// After so many states native code is asked for.
    fn patience(&self, part: Part) -> u32 {
        if self.native.as_ref().is_some_and(|native| native.get(part).is_some()) { 1 } else { EVALUATED }
    }

    /// Its state space, with expressions over its states that [`Checked::invariant`] evaluates.
    pub fn space(&self, invariants: &[Expr], budget: &Budget) -> Result<Compiled, CompileError> {
        self.with_conditions(invariants, &[], budget)
    }

    /// The same with conditions that processes of the types beside them evaluate.
    fn with_conditions(
        &self,
        invariants: &[Expr],
        conditions: &[(ProcessId, Expr)],
        budget: &Budget,
    ) -> Result<Compiled, CompileError> {
        let program = compiler::extend(self.system, &self.compilation, invariants, conditions, budget)?;
        let layouts = StateLayouts::new(&program.layout, Arc::clone(&program.sequences));
        let joint = program.joint.as_ref().map(|_| Box::new(Joint::new(budget)));
        Ok(Compiled {
            program,
            layouts,
            joint,
            machine: Machine::default(),
            atomic_steps: 0,
            dead: false,
            culprit: None,
            participants: None,
            executed: Executed::default(),
            most_steps: MAX_ATOMIC_STEPS,
            representatives: None,
            discovery: Discovery::default(),
            controlled: Vec::new(),
            before: Vec::new(),
            listing: Listing::default(),
            native: self.native.clone(),
            until_native: self.patience(Part::Steps),
            until_lists: self.patience(Part::Lists),
        })
    }
}

/// A compiled system.
///
/// A clone shares the program and the numbering of layouts, and has its own scratch memory: one for each
/// thread that searches.
#[derive(Clone)]
pub struct Compiled {
    program: Arc<Program>,
    layouts: StateLayouts,
    machine: Machine,
    /// Of a synchronous system.
    joint: Option<Box<Joint>>,
    atomic_steps: u32,
    dead: bool,
    /// The edge that ended the last step in a fault, among all edges.
    culprit: Option<u32>,
    /// Who took part in the last step, if that is to be noted.
    participants: Option<Processes>,
    /// Which edges were taken, if that is to be noted.
    executed: Executed,
    /// How many steps of an atomic sequence are taken in one go.
    most_steps: u32,
    /// States are replaced by their representatives under a symmetry.
    representatives: Option<Box<Representatives>>,
    /// For the canonical form of objects.
    discovery: Discovery,
    /// The moves of the process that holds control.
    controlled: Vec<Transition>,
    /// The state before a step.
    before: Vec<u8>,
    /// The successors of a state, as native code has listed them.
    listing: Listing,
    /// Native code that is still to come.
    native: Option<Arc<SharedCode>>,
    /// After so many states native code is asked for: code for steps, and code for lists.
    until_native: u32,
    until_lists: u32,
}

impl Compiled {
    /// Compiles a system for a single search, with expressions over its states that [`Checked::invariant`] evaluates.
    pub fn new(system: &System, invariants: &[Expr]) -> Result<Compiled, CompileError> {
        let budget = Budget::unlimited();
        CompiledSystem::new(system, &budget)?.space(invariants, &budget)
    }

    /// What computes representatives of its states; `None` if its states cannot be permuted.
    pub fn representatives(&self, symmetry: &Symmetry, choice: Choice) -> Option<Representatives> {
        Representatives::new(&self.program, &self.layouts, symmetry, choice)
    }

    /// The quotient: from now on every state is replaced by its representative. Moves are then those of
    /// representatives; a run of the system itself is found by following it without them.
    pub fn represent_by(&mut self, representatives: Option<Representatives>) {
        self.representatives = representatives.map(Box::new);
    }

    /// What replaces states, if something does.
    pub fn representing(&self) -> Option<&Representatives> {
        self.representatives.as_deref()
    }

    #[inline]
    fn represent(&mut self, out: &mut Vec<u8>) {
        if let Some(representatives) = &mut self.representatives
            && !self.dead
        {
            representatives.represent(out);
        }
    }

    /// A limit of this representation that a step ran into, for good: that step was reported as a fault,
    /// but it is none of the system's.
    ///
    /// Or the reason why the search for a joint step, or for an initial state, was given up: there may be more of them.
    pub fn limit_reached(&self) -> Option<Reason> {
        let interrupted = self.joint.as_ref().and_then(|joint| joint.interrupted);
        let limit = self.machine.limit.map(|limit| Reason::Unsupported(limit.to_string()));
        limit.or_else(|| interrupted.map(Reason::from))
    }

    /// The longest state met so far, in bytes.
    pub fn max_state_bytes(&self) -> usize {
        self.layouts.longest() as usize
    }

    /// How many bytes at the end of the state do not count: two states that differ only there are the
    /// same.
    pub fn hidden_tail(&self, state: &[u8]) -> usize {
        self.layouts.hidden(&self.program.layout, state) as usize
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
        let layouts = RefCell::new(self.layouts.clone());
        move |state| {
            if always {
                return state.len() - program.layout.hidden as usize;
            }
            let mut layouts = layouts.borrow_mut();
            layouts.learn(&program.layout, state);
            state.len() - layouts.hidden(&program.layout, state) as usize
        }
    }

    /// What a state begins with says by itself which processes are alive in it. If there are too many combinations to number
    /// them, it does so only to spaces that have met it.
    pub fn is_self_contained(&self) -> bool {
        self.layouts.are_numbered()
    }

    /// The number of the combination of live processes that a state begins with, if it says nothing to spaces that have not
    /// met it: see [`is_self_contained`](Compiled::is_self_contained).
    #[inline]
    pub fn hashed_processes(&self, state: &[u8]) -> Option<u32> {
        self.layouts.hashed_number(state)
    }

    /// The types of the processes behind that number.
    pub fn processes_of(&self, state: &[u8]) -> Option<Vec<u16>> {
        self.layouts.hashed_sequence(state).map(|(_, processes)| processes)
    }

    /// Learns from another space which processes are behind a number. False if this space has given the number to others.
    pub fn learn_processes(&mut self, number: u32, processes: &[u16]) -> bool {
        self.layouts.learn_sequence(number, processes)
    }

    /// Tells where the components of a state begin that a store may keep apart: the channels and the processes, behind
    /// the globals. Goes on to do so while the space is busy.
    pub fn components(&self) -> impl Fn(&[u8], &mut Vec<usize>) + use<> {
        let program = Arc::clone(&self.program);
        let layouts = RefCell::new(self.layouts.clone());
        let known = RefCell::new(RapidHashMap::<LayoutPlace, Box<[usize]>>::default());
        move |state, out| {
            let mut layouts = layouts.borrow_mut();
            let Some(place) = layouts.derived(&program.layout, state) else { return };
            let mut known = known.borrow_mut();
            let starts = known.entry(place).or_insert_with(|| layouts.at(place).components());
            out.extend(starts.iter().copied().take_while(|&start| start < state.len()));
        }
    }

    /// How many processes are alive.
    pub fn process_count(&self, state: &[u8]) -> u32 {
        self.layouts.of(state).map_or(0, |known| known.frames.len() as u32)
    }

    /// Who holds exclusive control.
    pub fn control(&self, state: &[u8]) -> Option<u32> {
        successors::control(&self.program, &Reading::new(state, &self.layouts))
    }

    /// Calls a function with the type and the location of each live process, and a function that says whether it can move.
    pub(crate) fn each_process(&mut self, state: &[u8], mut visit: impl FnMut(u16, usize, &mut dyn FnMut() -> bool)) {
        let memory = Reading::open(state, &mut self.layouts, &self.program.layout);
        for (number, frame) in memory.layout.frames.iter().enumerate() {
            let location = memory.location(frame) - frame.first_location as usize;
            let mut can_move = || self.machine.can_move(&self.program, &memory, number as u32);
            visit(frame.process, location, &mut can_move);
        }
    }

    /// The value of the invariant of that number in the state.
    pub fn evaluate(&mut self, number: usize, state: &[u8]) -> Result<i64, Fault> {
        let memory = Reading::open(state, &mut self.layouts, &self.program.layout);
        self.machine.leave(memory.layout.tail);
        self.machine.surroundings.timeout = Timeout::Open;
        self.machine.surroundings.by_mask = false;
        self.machine.surroundings.offered = false;
        let value = self.machine.evaluate(&self.program, &memory, self.program.invariants[number]);
        value.map_err(|Faulted| self.machine.fault.take().unwrap_or(Fault::NotEnabled))
    }

    /// Does a condition hold that a process evaluates? If asking goes wrong it is taken to.
    fn condition(&mut self, number: u32, process: u32, state: &[u8]) -> bool {
        let memory = Reading::open(state, &mut self.layouts, &self.program.layout);
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
        let tail = Reading::open(state, &mut self.layouts, &self.program.layout).layout.tail;
        self.machine.leave(tail);
        self.machine.surroundings.timeout = Timeout::No;
        self.machine.surroundings.by_mask = false;
        self.machine.surroundings.offered = false;
        let mut memory = Writing::copy_of(state, out, &mut self.layouts, &self.program.layout);
        self.machine.step(&mut memory, &code.step);
        if code.effect != NOWHERE && self.machine.effect(&self.program, &mut memory, code.effect).is_err() {
            return Err(self.machine.fault.take());
        }
        if code.disturbs_objects {
            memory.canonicalise(&self.program.layout, &mut self.discovery);
        }
        Ok(self.machine.violations.is_empty())
    }

    /// From now on it is noted which edges are taken.
    pub fn note_executed(&mut self) {
        self.executed = Executed::of(self.program.edges.len());
    }

    /// Takes over what another space of the same system has noted in its search: which edges were taken, and which limit was
    /// reached.
    pub(crate) fn absorb(&mut self, other: &Compiled) {
        self.executed.absorb(&other.executed);
        self.machine.limit = self.machine.limit.or(other.machine.limit);
        if let (Some(own), Some(others)) = (&mut self.joint, &other.joint) {
            own.interrupted = own.interrupted.or(others.interrupted);
        }
        self.layouts.note_length(other.max_state_bytes());
    }

    /// Which edges of the system were taken so far; `None` if that was not noted.
    pub fn coverage(&self) -> Option<Coverage> {
        self.executed.coverage(&self.program)
    }

    /// The move that the transition of an interleaving system begins with.
    pub fn first_move(&self, transition: &Transition) -> Move {
        move_of(&self.program, transition)
    }

    /// The enumerations of a synchronous system, and what they are made with.
    fn joint(&mut self) -> Option<(&mut Joint, Context<'_>)> {
        let Compiled { program, layouts, machine, joint, .. } = self;
        let code = program.joint.as_ref()?;
        Some((joint.as_deref_mut()?, Context { program, code, layout: layouts.at(0), machine }))
    }

    /// All moves that the transition stands for, in order: its own, and those of the atomic sequence that
    /// it runs through. The reference interpreter can replay them.
    pub fn expand(&mut self, state: &[u8], transition: &Transition) -> Vec<Move> {
        if let Some((joint, mut context)) = self.joint() {
            return vec![joint.step(&mut context, state, transition.code())];
        }
        let mut moves = Vec::new();
        let mut out = Vec::new();
        self.run(state, transition, &mut out, |program, taken| moves.push(move_of(program, taken)));
        moves
    }

    /// As [`target`](StateSpace::target), with the edges that are taken, those of an atomic sequence included, each with its
    /// process type. Of an interleaving system.
    pub fn target_with_edges(
        &mut self,
        state: &[u8],
        transition: &Transition,
        out: &mut Vec<u8>,
        edges: &mut Vec<(ProcessId, EdgeId)>,
    ) {
        edges.clear();
        self.run(state, transition, out, |program, taken| {
            let numbers = [Some(taken.edge()), taken.partner().map(|(_, edge)| edge)];
            let codes = numbers.into_iter().flatten().map(|number| &program.edges[number as usize]);
            edges.extend(codes.map(|code| (ProcessId(code.process.into()), EdgeId(code.id))));
        });
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
        let mut memory = Writing::copy_of(state, out, &mut self.layouts, &self.program.layout);
        if self.machine.take_natively(&self.program, &mut memory, transition) {
            self.executed.note(transition, false);
        } else {
            self.evaluate_step(state, transition, out);
        }
        if self.program.layout.control.is_some_and(|cell| out[cell.offset as usize] != 0) && !self.dead {
            self.run_on(out, note);
        }
    }

    /// Takes the transition by the evaluator.
    fn evaluate_step(&mut self, state: &[u8], transition: &Transition, out: &mut Vec<u8>) {
        let memory = Reading::open(state, &mut self.layouts, &self.program.layout);
        let prepared = self.machine.prepare(&self.program, &memory, transition);
        let mut memory = Writing::copy_of(state, out, &mut self.layouts, &self.program.layout);
        let taken = prepared.and_then(|p| self.machine.take(&self.program, &mut memory, transition, &p));
        self.dead = taken.is_err();
        self.executed.note(transition, self.dead);
        if self.dead {
            self.culprit = Some(transition.edge());
        } else {
            self.renumber_objects(transition, out);
        }
    }

    /// While control is held and there is no choice, takes the next move too.
    fn run_on(&mut self, out: &mut Vec<u8>, mut note: impl FnMut(&Program, &Transition)) {
        let Some(control) = self.program.layout.control else { return };
        while out[control.offset as usize] != 0 {
            let memory = Reading::new(out, &self.layouts);
            self.controlled.clear();
            self.machine.list_controlled(&self.program, &memory, &mut self.controlled);
            let Some(&next) = self.controlled.first() else {
                out[control.offset as usize] = 0;
                return;
            };
            if self.controlled.len() > 1 || self.atomic_steps >= self.most_steps {
                return;
            }
            self.atomic_steps += 1;
            note(&self.program, &next);
            if self.step_natively(&next, out) {
                continue;
            }
            let memory = Reading::new(out, &self.layouts);
            let prepared = self.machine.prepare(&self.program, &memory, &next);
            let mut memory = Writing::new(out, &mut self.layouts);
            let taken = prepared.and_then(|p| self.machine.take(&self.program, &mut memory, &next, &p));
            self.executed.note(&next, taken.is_err());
            if taken.is_err() {
                self.dead = true;
                self.culprit = Some(next.edge());
                return;
            }
            self.renumber_objects(&next, out);
        }
    }

    /// Takes a transition by native code, in place; if it cannot, the state is as it was.
    fn step_natively(&mut self, next: &Transition, out: &mut Vec<u8>) -> bool {
        if self.machine.native.is_none() {
            return false;
        }
        self.before.clear();
        self.before.extend_from_slice(out);
        let mut memory = Writing::new(out, &mut self.layouts);
        if self.machine.take_natively(&self.program, &mut memory, next) {
            self.executed.note(next, false);
            return true;
        }
        out.copy_from_slice(&self.before);
        false
    }

    /// Looks whether it is time for native code.
    #[inline]
    fn count_expansion(&mut self) {
        self.until_native -= 1;
        if self.until_native == 0 {
            self.until_native = u32::MAX;
            match self.native_code(Part::Steps) {
                Ok(code) => self.machine.native = Some(code),
                Err(patience) => self.until_native = patience,
            }
        }
    }

    /// The same in a search that takes all transitions of a state.
    #[inline]
    fn count_list(&mut self) {
        self.until_lists -= 1;
        if self.until_lists == 0 {
            self.until_lists = u32::MAX;
            match self.native_code(Part::Lists) {
                Ok(code) => self.listing.use_code(code),
                Err(patience) => self.until_lists = patience,
            }
        }
    }

    /// Native code, or after how many states it is to be asked for again.
    #[cold]
    fn native_code(&self, part: Part) -> Result<Arc<NativeCode>, u32> {
        let native = self.native.as_ref().filter(|native| !native.is_vain(part)).ok_or(u32::MAX)?;
        native.get(part).cloned().ok_or_else(|| {
            native.begin(&self.program, part);
            AWAITED
        })
    }

    /// Brings the objects into canonical form if the transition may have disturbed it.
    #[inline]
    fn renumber_objects(&mut self, transition: &Transition, out: &mut Vec<u8>) {
        if self.program.layout.heap.objects.is_empty() {
            return;
        }
        let disturbs = |edge: u32| self.program.edges[edge as usize].disturbs_objects;
        if disturbs(transition.edge()) || transition.partner().is_some_and(|(_, edge)| disturbs(edge)) {
            Writing::new(out, &mut self.layouts).canonicalise(&self.program.layout, &mut self.discovery);
        }
    }

    /// Brings the objects of a state into canonical form: numbered in the order in which they are discovered from the
    /// globals and then from the processes, without garbage.
    ///
    /// Every step leaves them so. Whoever permutes the segments of processes in a packed state, for the sake of a symmetry,
    /// permutes the order of discovery too: two states that are equal up to such a permutation are equal bytes only after
    /// this. The layout of the state (its sequence of process types) must be known, and its references must be those of the
    /// state before, each in the cell that has moved with its process. Without objects nothing happens.
    ///
    /// ```
    /// # use ample_explicit::compile::Compiled;
    /// # fn representative(space: &mut Compiled, state: &mut Vec<u8>, permute: impl Fn(&mut [u8])) {
    /// permute(state);
    /// space.canonicalise_objects(state);
    /// # }
    /// ```
    pub fn canonicalise_objects(&mut self, state: &mut Vec<u8>) {
        if !self.program.layout.heap.objects.is_empty() {
            self.layouts.learn(&self.program.layout, state);
            Writing::new(state, &mut self.layouts).canonicalise(&self.program.layout, &mut self.discovery);
        }
    }

    /// How many objects the state has.
    pub fn object_count(&self, state: &[u8]) -> u32 {
        self.program.layout.heap.total(state)
    }

    /// The joint step after that one.
    fn next_joint(&mut self, state: &[u8], after: Option<&Transition>) -> Option<Transition> {
        let (joint, mut context) = self.joint()?;
        joint.next(&mut context, state, after.map(Transition::code)).map(Transition::joint)
    }

    fn joint_target(&mut self, state: &[u8], transition: &Transition, out: &mut Vec<u8>) {
        self.begin();
        let Some((joint, mut context)) = self.joint() else { return };
        if let Err(fault) = joint.target(&mut context, state, transition.code(), out) {
            self.machine.fault = Some(fault);
            self.dead = true;
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
        let root = self.layouts.at(0);
        out.clear();
        out.resize(root.length as usize, 0);
        self.machine.leave(root.tail);
        self.machine.surroundings.timeout = Timeout::No;
        self.machine.surroundings.by_mask = false;
        self.machine.surroundings.offered = false;
        let mut memory = Writing::new(out, &mut self.layouts);
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
        if let Some((joint, mut context)) = self.joint() {
            let started = joint.start(&mut context, index, out);
            if let Some(Err(fault)) = &started {
                self.machine.fault = Some(fault.clone());
                self.dead = true;
            }
            return started.is_some();
        }
        let started = self.start(index, out);
        self.dead = started == Some(Err(Faulted));
        if started.is_some() {
            self.represent(out);
        }
        started.is_some()
    }

    #[inline]
    fn first(&mut self, state: &[u8]) -> Option<Transition> {
        if self.joint.is_some() {
            return self.next_joint(state, None);
        }
        self.count_expansion();
        let memory = Reading::open(state, &mut self.layouts, &self.program.layout);
        self.machine.first(&self.program, &memory)
    }

    #[inline]
    fn next(&mut self, state: &[u8], transition: &Transition) -> Option<Transition> {
        if self.joint.is_some() {
            return self.next_joint(state, Some(transition));
        }
        let memory = Reading::open(state, &mut self.layouts, &self.program.layout);
        self.machine.next(&self.program, &memory, transition)
    }

    fn list(&mut self, state: &[u8], after: Option<&Transition>, out: &mut Vec<Transition>) -> bool {
        if self.joint.is_some() {
            out.extend(self.next_joint(state, after));
            return false;
        }
        if after.is_none() {
            self.count_list();
            if self.list_successors(state) {
                self.listing.rename(state);
                out.extend(self.listing.transitions());
                return true;
            }
            let memory = Reading::open(state, &mut self.layouts, &self.program.layout);
            self.machine.list(&self.program, &memory, out);
        }
        true
    }

    #[inline]
    fn target(&mut self, state: &[u8], transition: &Transition, out: &mut Vec<u8>) {
        if let Some(target) = self.listing.target(state, transition) {
            let steps = target.steps;
            out.clear();
            out.extend_from_slice(target.state());
            self.note_listed(transition, steps);
            return self.represent(out);
        }
        self.target_anew(state, transition, out);
    }

    #[inline]
    fn targets(&mut self, state: &[u8], out: &mut Targets<Transition>) -> bool {
        if self.representatives.is_some() || !self.list_for_targets(state) {
            return false;
        }
        let Compiled { listing, executed, program, .. } = self;
        let control = program.layout.control.map(|cell| cell.offset as usize);
        listing.each(|transition, target| match target {
            None => out.push_without_target(*transition),
            Some(target) => {
                executed.note(transition, false);
                out.push(*transition, target.steps, |bytes| {
                    let state = target.state();
                    bytes.extend_from_slice(state);
                    control.is_some_and(|at| state[at] != 0)
                });
            }
        });
        true
    }

    #[inline]
    fn of_bytes(bytes: &[u8]) -> Option<&[u8]> {
        Some(bytes)
    }

    #[inline]
    fn to_bytes(state: &[u8]) -> Option<&[u8]> {
        Some(state)
    }
}

impl Compiled {
    /// Lists the transitions of a state with their targets. False if there is no native code, or if more is asked for than a
    /// list says.
    #[inline]
    fn list_successors(&mut self, state: &[u8]) -> bool {
        if !self.listing.is_ready() || self.participants.is_some() || state.len() > MOST_LISTED {
            self.listing.clear();
            return false;
        }
        self.layouts.learn(&self.program.layout, state);
        let Compiled { listing, machine, program, layouts, executed, most_steps, .. } = self;
        let memory = Reading::new(state, layouts);
        listing.list(machine, program, &memory, layouts, executed, *most_steps)
    }

    /// The same for a search that takes targets from the list only.
    #[inline]
    fn list_for_targets(&mut self, state: &[u8]) -> bool {
        if !self.listing.is_ready() {
            return false;
        }
        // Targets that have to be found in another way are not in the list.
        self.listing.rename(&[]);
        self.list_successors(state)
    }

    /// A transition was taken whose target had been listed.
    #[inline]
    fn note_listed(&mut self, transition: &Transition, steps: u32) {
        self.begin();
        self.atomic_steps = steps;
        self.executed.note(transition, false);
    }

    /// The target of a transition that may not have been listed.
    fn target_anew(&mut self, state: &[u8], transition: &Transition, out: &mut Vec<u8>) {
        if self.joint.is_some() {
            return self.joint_target(state, transition, out);
        }
        if self.participants.is_none() {
            self.run(state, transition, out, |_, _| {});
            return self.represent(out);
        }
        let mut participants = Processes::NONE;
        self.run(state, transition, out, |_, taken| {
            participants.insert(taken.process());
            if let Some((partner, _)) = taken.partner() {
                participants.insert(partner);
            }
        });
        self.participants = Some(participants);
        self.represent(out);
    }
}

impl Concurrent for Compiled {
    #[inline]
    fn mover(&self, transition: &Transition) -> Option<u32> {
        self.joint.is_none().then(|| transition.process())
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

    fn start_number(&mut self, position: usize) -> StartNumber {
        self.initial(position, &mut Vec::new());
        match self.joint() {
            Some((joint, context)) => joint.start_number(&context, &context.program.combinations),
            None => (position as u64).into(),
        }
    }
}

impl Checked for Compiled {
    fn is_valid_end(&mut self, state: &[u8]) -> bool {
        if self.joint.is_some() {
            return false;
        }
        let memory = Reading::open(state, &mut self.layouts, &self.program.layout);
        let may_stop = match (&self.program.monitor, &self.program.layout.monitor) {
            (Some(monitor), Some(cell)) => {
                let at = memory.cell(0, cell) as u32;
                at == monitor.last || monitor.ends.contains(&at)
            }
            _ => true,
        };
        let mut at_end = memory.layout.frames.iter().map(|frame| self.program.locations[memory.location(frame)].end);
        memory.layout.frames.is_empty() || may_stop && at_end.all(|end| end)
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
        if self.joint.is_some() {
            out.clear();
            out.extend_from_slice(state);
            return;
        }
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
        self.represent(out);
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
    let partner = transition.partner().map(|(process, edge)| (process, id(edge)));
    Move::of(transition.process(), id(transition.edge()), partner)
}
