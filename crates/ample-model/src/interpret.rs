//! The reference interpreter: the one definition of what a step is.
//!
//! Written to be read, not to be fast. Every engine is tested against it, and every counterexample is
//! replayed through it before it is shown. For Promela the meaning is that of Spin 6.5.2's verifier
//! without partial-order reduction.
//!
//! A step goes like this. If a process holds exclusive control, only its edges are looked at; if none
//! of them is executable, or if nobody holds control, all processes are, from the youngest to the
//! oldest, each location's edges in their order; if there is still none, all are looked at again with
//! [`Expr::Timeout`] true. An edge is executable if its process may
//! move (`provided`, priorities), its guard holds, and its communication can happen. Taking it performs
//! the communication, shows it to the monitor, and runs the effect. What goes wrong is a [`Fault`]: one
//! in a guard belongs to the move, which is listed so that it can be reported with a trace.

mod describe;
mod evaluate;
mod explore;
mod fault;
mod moves;
mod perform;
mod print;
mod standing;
mod state;
#[cfg(test)]
mod tests;

pub use describe::ReplayError;
pub use explore::{Explored, explore};
pub use fault::Fault;
pub use perform::{Event, MAX_INSTRUCTIONS, Successor};
pub use standing::{Cell, Contents, EndState, Standing, Statement};
pub use state::{ChannelState, ProcessState, State};

use evaluate::Context;
use perform::Run;

use crate::expr::Expr;
use crate::initial::{Combinations, StartNumber};
use crate::system::{Channel, Edge, EdgeId, Initial, Location, ProcessId, Scalar, System, Variable, VariableId};
use crate::trace::Move;

/// Interprets a [`System`] that is [well-formed](crate::check::check).
///
/// ```
/// use ample_model::{Interpreter, System};
/// # use ample_model::*;
/// # fn counter() -> System {
/// #     let x = Place {
/// #         scope: Scope::Global, variable: VariableId(0), offset: 0, indices: vec![], scalar: Scalar::BYTE,
/// #     };
/// #     let read = || Expr::Read(x.clone());
/// #     let next = Expr::binary(BinaryOp::Add, read(), Expr::Const(1));
/// #     let edge = Edge {
/// #         from: LocationId(0), to: LocationId(0), communication: None, keeps_control: false, span: None,
/// #         guard: vec![Expr::binary(BinaryOp::Less, read(), Expr::Const(3))],
/// #         effect: vec![Instruction::Do(Action::Assign(x.clone(), next))],
/// #         label: "x < 3 -> x++".into(),
/// #     };
/// #     let process = ProcessType {
/// #         name: "counter".into(), role: Role::Process, parameters: 0, locals: vec![],
/// #         locations: vec![Location { edges: vec![EdgeId(0)], ..Location::default() }], edges: vec![edge],
/// #         initial: LocationId(0), provided: None, priority: 1, unreachable_labels: Vec::new(), span: None,
/// #     };
/// #     let ty = Type::Scalar(Scalar::BYTE);
/// #     System {
/// #         name: "counter".into(), language: "none".into(), sources: vec![], enumerations: vec![],
/// #         records: vec![], channels: vec![], processes: vec![process],
/// #         globals: vec![Variable { name: "x".into(), ty, initial: vec![], hidden: false, span: None }],
/// #         start: vec![Instance { process: ProcessId(0), arguments: vec![], priority: None }],
/// #         max_processes: 255, monitor: None, properties: vec![], uses_last: false, uses_priorities: false,
/// #         exclusive: vec![], dead_ends: false,
/// #     }
/// # }
/// // One process: do :: x < 3 -> x++ od
/// let system: System = counter();
/// let interpreter = Interpreter::new(&system);
/// let mut state = interpreter.initial_state(0).expect("there is one")?;
/// let mut run = Vec::new();
/// while let Some(first) = interpreter.enabled(&state).first().copied() {
///     run.push(first);
///     state = interpreter.step(&state, &first).state.expect("nothing goes wrong");
/// }
/// assert_eq!(state.globals, [3]);
/// assert!(interpreter.is_deadlock(&state));
///
/// let trace = interpreter.run_trace(0, &run).expect("every move was enabled");
/// assert_eq!(trace.prefix[0].text, "x < 3 -> x++");
/// assert_eq!(trace.prefix[0].changes[0].after, "1");
/// assert_eq!(interpreter.replay(&trace).expect("it is a run").len(), 4);
/// # Ok::<(), ample_model::Fault>(())
/// ```
pub struct Interpreter<'a> {
    system: &'a System,
    globals: Layout,
    locals: Vec<Layout>,
}

/// Where the variables of one scope lie among its slots.
struct Layout {
    /// The first slot of every variable.
    offsets: Vec<usize>,
    /// The type of every slot.
    scalars: Vec<Scalar>,
    /// The slots that are not part of the state.
    hidden: Vec<usize>,
    /// The cells that come with a channel of their own, in the order of the handles.
    channels: Vec<(VariableId, u32)>,
}

impl Layout {
    fn of(system: &System, variables: &[Variable]) -> Layout {
        let mut layout = Layout { offsets: Vec::new(), scalars: Vec::new(), hidden: Vec::new(), channels: Vec::new() };
        for (number, variable) in variables.iter().enumerate() {
            let offset = layout.scalars.len();
            layout.offsets.push(offset);
            layout.scalars.extend(system.scalars(&variable.ty));
            if variable.hidden {
                layout.hidden.extend(offset..layout.scalars.len());
            }
            for (slot, initial) in &variable.initial {
                if matches!(initial, Initial::Channel(_)) {
                    layout.channels.push((number.into(), *slot));
                }
            }
        }
        layout
    }
}

impl<'a> Interpreter<'a> {
    /// An interpreter of that system. The system must pass [`check`](crate::check::check).
    pub fn new(system: &'a System) -> Interpreter<'a> {
        Interpreter {
            system,
            globals: Layout::of(system, &system.globals),
            locals: system.processes.iter().map(|process| Layout::of(system, &process.locals)).collect(),
        }
    }

    /// The system it interprets.
    pub fn system(&self) -> &'a System {
        self.system
    }

    /// The initial states: one for every combination of the [`Initial::AnyOf`] values, the last cell's
    /// varying fastest. The number of a state is its place in this sequence.
    pub fn initial_states(&self) -> impl Iterator<Item = Result<State, Fault>> + '_ {
        Combinations::of(self.system).iter().map(|choices| self.start(&choices))
    }

    /// The initial state of that number; `None` if there are not so many.
    pub fn initial_state(&self, number: impl Into<StartNumber>) -> Option<Result<State, Fault>> {
        Some(self.start(&Combinations::of(self.system).get(&number.into())?))
    }

    /// The number of an initial state; `None` if it is not one.
    pub fn number_of(&self, state: &State) -> Option<StartNumber> {
        let mut choices = Vec::new();
        for (variable, offset) in self.system.globals.iter().zip(&self.globals.offsets) {
            for (slot, initial) in &variable.initial {
                let Some(choice) = initial.choice() else { continue };
                let slot = offset + *slot as usize;
                let (scalar, cell) = (self.globals.scalars.get(slot)?, state.globals.get(slot)?);
                choices.push(choice.position(*cell, |value| scalar.fit(value))?);
            }
        }
        Some(Combinations::of(self.system).number(&choices))
    }

    /// The initial state with these choices of first values.
    fn start(&self, choices: &[u64]) -> Result<State, Fault> {
        let mut choices = choices.iter().copied();
        let globals = vec![0; self.globals.scalars.len()];
        let monitor = self.system.monitor.as_ref().map_or(0, |monitor| monitor.initial);
        let mut run = Run::new(self, State { globals, monitor, ..State::default() }, false);
        for (variable, offset) in self.system.globals.iter().zip(&self.globals.offsets) {
            run.initialise(None, *offset, variable, &mut || choices.next().unwrap_or(0))?;
        }
        for instance in &self.system.start {
            run.spawn(instance.process, &instance.arguments, instance.priority)?;
        }
        Ok(run.state)
    }

    /// The moves that the state allows, in the order in which they are tried. A move whose guard is a
    /// fault is among them; [`step`](Self::step) tells the fault.
    pub fn enabled(&self, state: &State) -> Vec<Move> {
        self.moves(state).moves
    }

    /// The state allows the move, which may be one of a [claim](Move::of_claim).
    pub fn allows(&self, state: &State, taken: &Move) -> bool {
        match taken.claim() {
            Some(_) => !self.step(state, taken).violations.contains(&Fault::NotEnabled),
            None => self.enabled(state).contains(taken),
        }
    }

    /// What the move leads to. A move that the state does not allow ends in [`Fault::NotEnabled`].
    pub fn step(&self, state: &State, taken: &Move) -> Successor {
        if let Some(claim) = taken.claim() {
            return self.step_of_claim(state, claim, taken);
        }
        if state.control.is_none() && taken.partner.is_none() {
            // What is ready while nobody waits for `timeout` is a move, whatever the others are.
            let successor = self.perform(state, false, taken);
            if !successor.violations.contains(&Fault::NotEnabled) {
                return successor;
            }
        }
        let moves = self.moves(state);
        if !moves.moves.contains(taken) {
            return Successor::fault(Fault::NotEnabled);
        }
        self.perform(state, moves.timeout, taken)
    }

    /// What a move of a never claim does to the state. Where the claim stands is no part of the state.
    fn step_of_claim(&self, state: &State, claim: ProcessId, taken: &Move) -> Successor {
        let edges = self.system.processes.get(claim.index()).map(|process| &process.edges);
        let Some(edge) = edges.and_then(|edges| edges.get(taken.edge.index())) else {
            return Successor::fault(Fault::NotEnabled);
        };
        let state = self.normalise(state);
        match self.claim_may(&state, claim, edge) {
            _ if state.control.is_some() => Successor::fault(Fault::NotEnabled),
            Ok(true) => Run::new(self, state, false).perform_claim(taken.process, edge),
            Ok(false) => Successor::fault(Fault::NotEnabled),
            Err(fault) => Successor::fault(fault),
        }
    }

    /// The guard of an edge of a claim holds. Edges whose guard is a fault are blocked: the fault is their own.
    fn claim_may(&self, state: &State, claim: ProcessId, edge: &Edge) -> Result<bool, Fault> {
        let is_free = |other: &EdgeId| self.claim_may(state, claim, self.edge(claim, *other)) == Ok(true);
        for condition in &edge.guard {
            let holds = match condition {
                Expr::Blocked(others) => !others.iter().any(is_free),
                condition => self.evaluate(state, None, condition)? != 0,
            };
            if !holds {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// All moves of the state with what they lead to: [`enabled`](Self::enabled) and
    /// [`step`](Self::step) at once.
    pub fn successors(&self, state: &State) -> Vec<(Move, Successor)> {
        let moves = self.moves(state);
        moves.moves.into_iter().map(|taken| (taken, self.perform(state, moves.timeout, &taken))).collect()
    }

    fn perform(&self, state: &State, timeout: bool, taken: &Move) -> Successor {
        Run::new(self, State { control: None, ..state.clone() }, timeout).perform(taken)
    }

    /// The state with exclusive control released if its holder cannot move.
    pub fn normalise(&self, state: &State) -> State {
        let keeps = state.control.is_some() && self.moves(state).controlled;
        State { control: state.control.filter(|_| keeps), ..state.clone() }
    }

    /// What makes two states the same: the [normalised](Self::normalise) state without its
    /// hidden variables.
    pub fn identity(&self, state: &State) -> State {
        let mut identity = self.normalise(state);
        for &slot in &self.globals.hidden {
            identity.globals[slot] = 0;
        }
        for process in &mut identity.processes {
            for &slot in &self.locals[process.process.index()].hidden {
                process.locals[slot] = 0;
            }
        }
        identity
    }

    /// Without a move, this is a proper end: every process stands at an end location and the monitor
    /// may stop; or there is no process left.
    pub fn is_end_state(&self, state: &State) -> bool {
        let monitor_may_stop = |state: &State| match &self.system.monitor {
            Some(monitor) => state.monitor == monitor.last || monitor.ends.contains(&state.monitor),
            None => true,
        };
        let at_end = state.processes.iter().all(|process| self.location(process).end);
        state.processes.is_empty() || (at_end && monitor_may_stop(state))
    }

    /// No move is possible, and this is not a proper end.
    pub fn is_deadlock(&self, state: &State) -> bool {
        self.enabled(state).is_empty() && !self.is_end_state(state)
    }

    /// The value of an expression, as seen by that process or by nobody in particular.
    pub fn evaluate(&self, state: &State, process: Option<u32>, expr: &Expr) -> Result<i64, Fault> {
        self.context(state, process, None).value(expr)
    }

    fn context<'b>(&'b self, state: &'b State, me: Option<u32>, timeout: Option<bool>) -> Context<'b> {
        Context { interpreter: self, state, me, timeout, offer: None, asking: None }
    }

    fn locals(&self, process: ProcessId) -> &Layout {
        &self.locals[process.index()]
    }

    fn location(&self, process: &ProcessState) -> &'a Location {
        &self.system.process(process.process).locations[process.location.index()]
    }

    fn edge(&self, process: ProcessId, edge: EdgeId) -> &'a Edge {
        &self.system.process(process).edges[edge.index()]
    }

    fn edges_at<'b>(&'b self, process: &'b ProcessState) -> impl Iterator<Item = &'a Edge> + 'b {
        self.location(process).edges.iter().map(|id| self.edge(process.process, *id))
    }

    fn kind(&self, channel: &ChannelState) -> &'a Channel {
        &self.system.channels[channel.kind.index()]
    }
}
