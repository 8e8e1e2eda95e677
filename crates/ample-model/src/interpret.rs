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
//!
//! In a [synchronous](Coupling::Synchronous) system a step gives values to inputs and to the cells of the next state, in the
//! order of a [`Plan`], and is one if all relations hold and the invariant does in the next state.

#[cfg(test)]
mod action_tests;
mod describe;
mod enumerate;
mod evaluate;
mod explore;
mod fault;
mod heap;
mod joint;
mod moves;
mod perform;
mod picture;
mod print;
mod standing;
mod state;
#[cfg(test)]
mod synchronous_tests;
#[cfg(test)]
mod tests;

pub use describe::ReplayError;
pub use enumerate::{Start, Starts, Steps};
pub use explore::{Explored, explore};
pub use fault::Fault;
pub use perform::{Event, MAX_INSTRUCTIONS, MAX_OBJECTS, Successor};
pub use standing::{Cell, Contents, EndState, Standing, Statement};
pub use state::{ChannelState, Object, ProcessState, State};

use ample_budget::{Budget, Interrupted};
use evaluate::{Context, Memo};
use perform::Run;

use crate::expr::Expr;
use crate::initial::{Combinations, StartNumber, free_cells};
use crate::plan::Plan;
use crate::system::{
    Channel, Coupling, Edge, EdgeId, Initial, Location, ProcessId, Scalar, System, Type, Variable, VariableId,
};
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
/// #         action: None, origin: vec![],
/// #         guard: vec![Expr::binary(BinaryOp::Less, read(), Expr::Const(3))],
/// #         effect: vec![Instruction::Do(Action::Assign(x.clone(), next))],
/// #         label: "x < 3 -> x++".into(),
/// #     };
/// #     let process = ProcessType {
/// #         name: "counter".into(), role: Role::Process, parameters: 0, locals: vec![],
/// #         locations: vec![Location { edges: vec![EdgeId(0)], ..Location::default() }], edges: vec![edge],
/// #         initial: LocationId(0), provided: None, priority: 1, unreachable_labels: Vec::new(),
/// #         dead_code: Vec::new(), span: None,
/// #         structure: None,
/// #     };
/// #     let ty = Type::Scalar(Scalar::BYTE);
/// #     System {
/// #         processes: vec![process],
/// #         globals: vec![Variable { name: "x".into(), ty, initial: vec![], hidden: false, kind: VariableKind::State, span: None }],
/// #         start: vec![Instance { process: ProcessId(0), arguments: vec![], priority: None }],
/// #         ..System::new("counter", "none")
/// #     }
/// # }
/// // One process: do :: x < 3 -> x++ od
/// let system: System = counter();
/// let interpreter = Interpreter::new(&system);
/// let mut state = interpreter.initial_state(0).expect("there is one")?;
/// let mut run = Vec::new();
/// while let Some(first) = interpreter.enabled(&state).into_iter().next() {
///     state = interpreter.step(&state, &first).state.expect("nothing goes wrong");
///     run.push(first);
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
    /// By record type: the slots that refer to objects.
    references: Vec<Vec<usize>>,
    /// How initial states and joint steps of a synchronous system are put together.
    initial_plan: Plan<'a>,
    step_plan: Plan<'a>,
}

/// Where the variables of one scope lie among its slots.
#[derive(Default)]
struct Layout {
    /// The slots that refer to objects.
    references: Vec<usize>,
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
        let mut layout = Layout::default();
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
        layout.references = references(&layout.scalars);
        layout
    }

    /// Adds the numbers of the first values that these cells have, of all that have a choice.
    fn positions(&self, variables: &[Variable], cells: &[i64], choices: &mut Vec<u64>) -> Option<()> {
        for (variable, offset) in variables.iter().zip(&self.offsets) {
            for (slot, initial) in &variable.initial {
                let Some(choice) = initial.choice() else { continue };
                let slot = offset + *slot as usize;
                let (scalar, cell) = (self.scalars.get(slot)?, cells.get(slot)?);
                choices.push(choice.position(*cell, |value| scalar.fit(value))?);
            }
        }
        Some(())
    }
}

/// The slots that refer to objects.
fn references(scalars: &[Scalar]) -> Vec<usize> {
    let is_reference = |scalar: &Scalar| matches!(scalar, Scalar::Reference(_));
    scalars.iter().enumerate().filter(|(_, scalar)| is_reference(scalar)).map(|(slot, _)| slot).collect()
}

impl<'a> Interpreter<'a> {
    /// An interpreter of that system. The system must pass [`check`](crate::check::check).
    pub fn new(system: &'a System) -> Interpreter<'a> {
        Interpreter {
            system,
            globals: Layout::of(system, &system.globals),
            locals: system.processes.iter().map(|process| Layout::of(system, &process.locals)).collect(),
            references: (0..system.records.len())
                .map(|record| references(&system.scalars(&Type::Record(record.into()))))
                .collect(),
            initial_plan: Plan::initial(system).unwrap_or_default(),
            step_plan: Plan::step(system).unwrap_or_default(),
        }
    }

    /// The system it interprets.
    pub fn system(&self) -> &'a System {
        self.system
    }

    /// The initial states, one by one. In an interleaving system there is one for every combination of first values, the
    /// last cell's varying fastest; in a synchronous one those that satisfy `init` and the invariant.
    pub fn initial_states(&self) -> impl Iterator<Item = Result<State, Fault>> + '_ {
        self.starts().map(|(_, state)| state)
    }

    /// The initial states with their numbers.
    pub fn starts(&self) -> impl Iterator<Item = Start> + '_ {
        // Without a budget nothing is interrupted.
        Starts::new(self, None).map_while(Result::ok)
    }

    /// The initial states with their numbers, as long as the budget allows: the search for the next one may last.
    pub fn starts_within<'b>(&'b self, budget: &'b Budget) -> Starts<'b> {
        Starts::new(self, Some(budget.pace()))
    }

    /// The initial state of that number: a number of a combination of first values. `None` if there are not so many, or if
    /// the combination does not satisfy `init` and the invariant of a synchronous system. No search is needed.
    pub fn initial_state(&self, number: impl Into<StartNumber>) -> Option<Result<State, Fault>> {
        let choices = Combinations::of(self.system).get(&number.into())?;
        match self.system.coupling {
            Coupling::Interleaving => Some(self.start(&choices)),
            Coupling::Synchronous(_) => self.joint_start(&choices),
        }
    }

    /// The number of an initial state; `None` if it is not one.
    pub fn number_of(&self, state: &State) -> Option<StartNumber> {
        let mut choices = Vec::new();
        if self.system.synchronous().is_some() {
            for cell in free_cells(self.system) {
                let slot = cell.slot as usize;
                let (scalar, value) = (self.globals.scalars.get(slot)?, state.globals.get(slot)?);
                choices.push(cell.choice.position(*value, |value| scalar.fit(value))?);
            }
            if self.joint_start(&choices) != Some(Ok(state.clone())) {
                return None;
            }
        } else {
            self.globals.positions(&self.system.globals, &state.globals, &mut choices)?;
            for (instance, process) in self.system.start.iter().zip(&state.processes) {
                let locals = &self.system.process(instance.process).locals;
                self.locals(instance.process).positions(locals, &process.locals, &mut choices)?;
            }
        }
        Some(Combinations::of(self.system).number(&choices))
    }

    /// The initial state of an interleaving system with these choices of first values.
    fn start(&self, choices: &[u64]) -> Result<State, Fault> {
        let mut choices = choices.iter().copied();
        let mut choose = || choices.next().unwrap_or(0);
        let globals = vec![0; self.globals.scalars.len()];
        let monitor = self.system.monitor.as_ref().map_or(0, |monitor| monitor.initial);
        let mut run = Run::new(self, State { globals, monitor, ..State::default() }, false);
        for (variable, offset) in self.system.globals.iter().zip(&self.globals.offsets) {
            run.initialise(None, *offset, variable, &mut choose)?;
        }
        for instance in &self.system.start {
            run.spawn(instance.process, &instance.arguments, instance.priority, &mut choose)?;
        }
        Ok(run.state)
    }

    /// The moves that the state allows, in the order in which they are tried. A move whose guard is a
    /// fault is among them; [`step`](Self::step) returns the fault. A state of a synchronous system may have very many:
    /// see [`steps`](Self::steps).
    pub fn enabled(&self, state: &State) -> Vec<Move> {
        match self.system.coupling {
            Coupling::Interleaving => self.moves(state).moves,
            Coupling::Synchronous(_) => self.steps(state).map(|(taken, _)| taken).collect(),
        }
    }

    /// The state allows the move, which may be one of a [claim](Move::Claim).
    pub fn allows(&self, state: &State, taken: &Move) -> bool {
        match taken {
            Move::Joint { .. } | Move::Claim { .. } => !self.step(state, taken).violations.contains(&Fault::NotEnabled),
            Move::Process { .. } | Move::Handshake { .. } | Move::Action { .. } => self.enabled(state).contains(taken),
        }
    }

    /// What the move leads to. A move that the state does not allow ends in [`Fault::NotEnabled`]. No search is needed.
    pub fn step(&self, state: &State, taken: &Move) -> Successor {
        match (&self.system.coupling, taken) {
            (_, Move::Claim { claim, edge }) => self.step_of_claim(state, *claim, *edge),
            (Coupling::Synchronous(_), Move::Joint { inputs, choices }) => self.joint_step(state, inputs, choices),
            (Coupling::Interleaving, Move::Process { .. } | Move::Handshake { .. } | Move::Action { .. }) => {
                self.step_of_processes(state, taken)
            }
            _ => Successor::fault(Fault::NotEnabled),
        }
    }

    fn step_of_processes(&self, state: &State, taken: &Move) -> Successor {
        if state.control.is_none() && !matches!(taken, Move::Handshake { .. }) {
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
    fn step_of_claim(&self, state: &State, claim: ProcessId, edge: EdgeId) -> Successor {
        let edges = self.system.processes.get(claim.index()).map(|process| &process.edges);
        let Some(edge) = edges.and_then(|edges| edges.get(edge.index())) else {
            return Successor::fault(Fault::NotEnabled);
        };
        let state = self.normalise(state);
        match self.claim_may(&state, claim, edge) {
            _ if state.control.is_some() => Successor::fault(Fault::NotEnabled),
            Ok(true) => Run::new(self, state, false).perform_claim(edge),
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
        self.steps(state).collect()
    }

    /// The moves of the state with what they lead to, one by one.
    pub fn steps<'b>(&'b self, state: &'b State) -> impl Iterator<Item = (Move, Successor)> + 'b {
        // Without a budget nothing is interrupted.
        Steps::new(self, state, None).map_while(Result::ok)
    }

    /// The moves of the state with what they lead to, as long as the budget allows: the search for the next joint step of
    /// a synchronous system may last.
    pub fn steps_within<'b>(&'b self, state: &'b State, budget: &'b Budget) -> Steps<'b> {
        Steps::new(self, state, Some(budget.pace()))
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
        self.canonical(identity)
    }

    /// Without a move, this is a proper end: every process stands at an end location and the monitor
    /// may stop; or there is no process left. Never in a synchronous system.
    pub fn is_end_state(&self, state: &State) -> bool {
        if self.system.synchronous().is_some() {
            return false;
        }
        let monitor_may_stop = |state: &State| match &self.system.monitor {
            Some(monitor) => state.monitor == monitor.last || monitor.ends.contains(&state.monitor),
            None => true,
        };
        let at_end = state.processes.iter().all(|process| self.location(process).end);
        state.processes.is_empty() || (at_end && monitor_may_stop(state))
    }

    /// No move is possible.
    pub fn is_stuck(&self, state: &State) -> bool {
        self.steps(state).next().is_none()
    }

    /// Like [`is_stuck`](Self::is_stuck), as long as the budget allows.
    pub fn is_stuck_within(&self, state: &State, budget: &Budget) -> Result<bool, Interrupted> {
        Ok(self.steps_within(state, budget).next().transpose()?.is_none())
    }

    /// No move is possible, and this is not a proper end.
    pub fn is_deadlock(&self, state: &State) -> bool {
        !self.is_end_state(state) && self.is_stuck(state)
    }

    /// Like [`is_deadlock`](Self::is_deadlock), as long as the budget allows.
    pub fn is_deadlock_within(&self, state: &State, budget: &Budget) -> Result<bool, Interrupted> {
        Ok(!self.is_end_state(state) && self.is_stuck_within(state, budget)?)
    }

    /// The value of an expression, as seen by that process or by nobody in particular.
    pub fn evaluate(&self, state: &State, process: Option<u32>, expr: &Expr) -> Result<i64, Fault> {
        let memo = Memo::default();
        Context { memo: Some(&memo), ..self.context(state, process, None) }.value(expr)
    }

    fn context<'b>(&'b self, state: &'b State, me: Option<u32>, timeout: Option<bool>) -> Context<'b> {
        Context { interpreter: self, state, me, timeout, offer: None, asking: None, next: None, memo: None }
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
