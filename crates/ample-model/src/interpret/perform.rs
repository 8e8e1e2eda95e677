//! Taking an edge: communication, monitor, effect.

use serde::{Deserialize, Serialize};

use super::evaluate::{Context, Offer, check_arity, fit};
use super::moves::Ready;
use super::print::format_text;
use super::state::{ChannelState, Object, ProcessState, State};
use super::{Fault, Interpreter};
use crate::expr::{Expr, Pattern, Place, Scope};
use crate::initial::Choice;
use crate::system::{
    Action, ActionId, ChannelId, Communication, Edge, EdgeId, EventKind, Initial, Instruction, Monitor, MonitorEdge,
    ProcessId, RecordId, Type, Variable,
};
use crate::trace::Move;

/// How many instructions an effect may run.
pub const MAX_INSTRUCTIONS: u32 = 1_000_000;

/// How many objects there may be at once, those that were created in a step included.
pub const MAX_OBJECTS: u32 = (1 << 16) - 1;

/// Handles are kept in a byte.
const MAX_CHANNELS: usize = 255;

/// No process has this id: a never claim, which is none, performs its effects under it.
const NOBODY: u32 = u32::MAX;

/// What a move leads to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Successor {
    /// The state after it; `None` if a fault ended the step.
    pub state: Option<State>,
    /// What went wrong, in order. If there is no state, the last one says why.
    pub violations: Vec<Fault>,
    /// The messages sent and received, in order. A receive that keeps its message is not among them.
    pub events: Vec<Event>,
    /// What was printed.
    pub printed: String,
    /// For each object, by its number before the step or, of a new one, behind those: its reference in the state after it,
    /// which is 0 for garbage.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub numbers: Vec<i64>,
}

/// A message that was sent or received.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Sending or receiving.
    pub kind: EventKind,
    /// Who did it.
    pub process: u32,
    /// The channel's handle.
    pub handle: u32,
    /// The channel's kind.
    pub channel: ChannelId,
    /// The fields.
    pub message: Vec<i64>,
}

impl Successor {
    pub(super) fn fault(fault: Fault) -> Successor {
        Successor { violations: vec![fault], ..Successor::default() }
    }

    /// Everything that went wrong, in a sentence; `None` if nothing did.
    pub fn violation(&self) -> Option<String> {
        if self.violations.is_empty() {
            return None;
        }
        Some(self.violations.iter().map(Fault::to_string).collect::<Vec<_>>().join("; "))
    }
}

/// A step in progress: the state as it changes, and its description.
pub(super) struct Run<'a> {
    interpreter: &'a Interpreter<'a>,
    timeout: bool,
    pub state: State,
    successor: Successor,
}

impl<'a> Run<'a> {
    pub fn new(interpreter: &'a Interpreter<'a>, state: State, timeout: bool) -> Run<'a> {
        Run { interpreter, timeout, state, successor: Successor::default() }
    }

    /// Performs a move of the state given to [`Run::new`].
    pub fn perform(mut self, taken: &Move) -> Successor {
        match self.take(taken) {
            Ok(()) => {
                let (state, numbers) = self.interpreter.renumbered(self.state);
                Successor { state: Some(state), numbers, ..self.successor }
            }
            Err(fault) => {
                self.successor.violations.push(fault);
                self.successor
            }
        }
    }

    /// Performs the effect of an edge of a never claim.
    pub fn perform_claim(mut self, edge: &Edge) -> Successor {
        match self.effect(NOBODY, &edge.effect) {
            Ok(_) => Successor { state: Some(self.state), ..self.successor },
            Err(fault) => {
                self.successor.violations.push(fault);
                self.successor
            }
        }
    }

    fn context(&self, process: u32) -> Context<'_> {
        self.interpreter.context(&self.state, Some(process), Some(self.timeout))
    }

    fn take(&mut self, taken: &Move) -> Result<(), Fault> {
        let (process, edge, partner) = match taken {
            Move::Process { process, edge } => (*process, *edge, None),
            Move::Handshake { sender: (process, edge), receiver } => (*process, *edge, Some(*receiver)),
            Move::Action { action, participants } => return self.action(*action, participants),
            Move::Joint { .. } | Move::Claim { .. } => return Err(Fault::NotEnabled),
        };
        let edge = self.edge(process, edge)?;
        let context = self.context(process);
        if !context.may_move()? {
            return Err(Fault::NotEnabled);
        }
        match (context.ready(edge)?, partner) {
            (Some(Ready::Alone), None) => self.alone(process, edge),
            (Some(Ready::With(partners)), Some(partner)) if partners.contains(&partner) => {
                let receiving = self.edge(partner.0, partner.1)?;
                self.handshake((process, edge), (partner.0, receiving))
            }
            _ => Err(Fault::NotEnabled),
        }
    }

    fn edge(&self, process: u32, edge: EdgeId) -> Result<&'a Edge, Fault> {
        let process = self.state.process(process.into()).ok_or(Fault::NotEnabled)?;
        let ty = self.interpreter.system.process(process.process);
        let leaves = self.interpreter.location(process).edges.contains(&edge);
        ty.edges.get(edge.index()).filter(|_| leaves).ok_or(Fault::NotEnabled)
    }

    fn alone(&mut self, process: u32, edge: &Edge) -> Result<(), Fault> {
        if let Some(communication) = &edge.communication {
            self.communicate(process, communication)?;
        }
        let alive = self.effect(process, &edge.effect)?;
        self.arrive(process, edge, alive);
        Ok(())
    }

    /// Both events, then the receiver's bindings and effect, then the sender's effect.
    fn handshake(&mut self, sender: (u32, &Edge), receiver: (u32, &Edge)) -> Result<(), Fault> {
        let (Some(Communication::Send { channel, values, .. }), Some(Communication::Receive { patterns, .. })) =
            (&sender.1.communication, &receiver.1.communication)
        else {
            return Err(Fault::NotEnabled);
        };
        let context = self.context(sender.0);
        let (handle, kind, _) = context.channel(channel)?;
        let message = context.message(kind, values)?;
        let offer = Offer { handle, message: &message };
        if !context.seen_by(receiver.0).joins(receiver.1, offer)? {
            return Err(Fault::NotEnabled);
        }
        check_arity(kind, patterns.len())?;
        self.event(EventKind::Send, sender.0, handle, &message)?;
        self.event(EventKind::Receive, receiver.0, handle, &message)?;
        self.bind(receiver.0, patterns, &message)?;
        let receiver_lives = self.effect(receiver.0, &receiver.1.effect)?;
        let sender_lives = self.effect(sender.0, &sender.1.effect)?;
        self.arrive(sender.0, sender.1, sender_lives);
        self.arrive(receiver.0, receiver.1, receiver_lives);
        Ok(())
    }

    /// All guards are asked before anything happens; then the effects, in the order of the process ids.
    fn action(&mut self, action: ActionId, participants: &[(u32, EdgeId)]) -> Result<(), Fault> {
        let ids = participants.iter().map(|(process, _)| *process);
        if !ids.eq(self.interpreter.listing(&self.state, action)) || participants.is_empty() {
            return Err(Fault::NotEnabled);
        }
        let mut edges = Vec::new();
        for (process, edge) in participants {
            let edge = self.edge(*process, *edge)?;
            if edge.action != Some(action) || !self.context(*process).takes_part(edge)? {
                return Err(Fault::NotEnabled);
            }
            edges.push((*process, edge));
        }
        let mut alive = Vec::new();
        for (process, edge) in &edges {
            alive.push(self.effect(*process, &edge.effect)?);
        }
        for ((process, edge), alive) in edges.into_iter().zip(alive) {
            self.arrive(process, edge, alive);
        }
        Ok(())
    }

    /// The process stands at the end of the edge; it has moved last, and may keep control.
    fn arrive(&mut self, id: u32, edge: &Edge, alive: bool) {
        if alive && let Some(process) = self.state.processes.get_mut(id as usize) {
            process.location = edge.to;
        }
        self.state.control = (alive && edge.keeps_control).then_some(id);
        if self.interpreter.system.uses_last {
            self.state.last = id;
        }
    }

    /// Runs an effect; false if it ended its process.
    fn effect(&mut self, process: u32, program: &[Instruction]) -> Result<bool, Fault> {
        let mut at = 0;
        for _ in 0..MAX_INSTRUCTIONS {
            let Some(instruction) = program.get(at) else { return Ok(true) };
            let action = match instruction {
                Instruction::Do(action) if self.executable(process, action)? => action,
                Instruction::Do(_) => return Err(Fault::Blocked),
                Instruction::Try(action, _) if self.executable(process, action)? => action,
                Instruction::Try(_, otherwise) | Instruction::Jump(otherwise) => {
                    at = *otherwise as usize;
                    continue;
                }
                Instruction::Fail(message) => return Err(Fault::Fail(message.clone())),
            };
            if matches!(action, Action::End) {
                self.end();
                return Ok(false);
            }
            self.act(process, action)?;
            at += 1;
        }
        if at >= program.len() { Ok(true) } else { Err(Fault::EffectTooLong { limit: MAX_INSTRUCTIONS }) }
    }

    fn executable(&self, process: u32, action: &Action) -> Result<bool, Fault> {
        let context = self.context(process);
        match action {
            Action::Test(condition) => context.holds(condition),
            Action::Communicate(communication) => {
                let (_, kind, _) = context.channel(communication.channel())?;
                if kind.capacity == 0 && !communication.keeps() {
                    return Err(Fault::HandshakeInEffect);
                }
                context.can_communicate(communication)
            }
            Action::End => context.is_youngest(),
            Action::Assign(..)
            | Action::AssignAll(_)
            | Action::AssignField(_)
            | Action::Allocate(..)
            | Action::Spawn { .. }
            | Action::Assert { .. }
            | Action::Print { .. }
            | Action::SetPriority(..) => Ok(true),
        }
    }

    fn act(&mut self, process: u32, action: &Action) -> Result<(), Fault> {
        match action {
            Action::Test(_) | Action::End => Ok(()),
            Action::Assign(place, value) => {
                let value = self.context(process).value(value)?;
                self.assign(process, place, value)
            }
            Action::AssignAll(pairs) => self.assign_all(process, pairs),
            Action::AssignField(parts) => {
                let (object, field, value) = &**parts;
                let context = self.context(process);
                let value = fit(field.scalar, context.value(value)?)?;
                let (object, slot) = context.cell_of(object, field)?;
                *self.state.heap[object].cells.get_mut(slot).ok_or(Fault::NoObject)? = value;
                Ok(())
            }
            Action::Allocate(place, record) => self.allocate(process, place, *record),
            Action::Communicate(communication) => self.communicate(process, communication),
            Action::Spawn { process: ty, arguments, priority } => {
                let context = self.context(process);
                let arguments = arguments.iter().map(|a| context.value(a)).collect::<Result<Vec<_>, _>>()?;
                self.spawn(*ty, &arguments, *priority, &mut || 0)
            }
            Action::Assert { condition, text } => {
                if !self.context(process).holds(condition)? {
                    self.successor.violations.push(Fault::AssertionViolated { text: text.clone() });
                }
                Ok(())
            }
            Action::Print { format, arguments } => {
                let text = format_text(&self.context(process), format, arguments)?;
                self.successor.printed.push_str(&text);
                Ok(())
            }
            Action::SetPriority(target, priority) => self.set_priority(process, target, priority),
        }
    }

    fn assign(&mut self, process: u32, place: &Place, value: i64) -> Result<(), Fault> {
        let value = fit(place.scalar, value)?;
        let slot = self.context(process).slot(place)?;
        self.store(process, place.scope, slot, value)
    }

    /// Everything is evaluated before anything is stored.
    fn assign_all(&mut self, process: u32, pairs: &[(Place, Expr)]) -> Result<(), Fault> {
        let context = self.context(process);
        let mut stores = Vec::new();
        for (place, value) in pairs {
            let value = fit(place.scalar, context.value(value)?)?;
            stores.push((place.scope, context.slot(place)?, value));
        }
        stores.into_iter().try_for_each(|(scope, slot, value)| self.store(process, scope, slot, value))
    }

    fn allocate(&mut self, process: u32, place: &Place, record: RecordId) -> Result<(), Fault> {
        let limit = self.interpreter.system.max_objects.min(MAX_OBJECTS);
        if self.state.heap.len() >= limit as usize {
            return Err(Fault::TooManyObjects { limit });
        }
        let cells = vec![0; self.interpreter.system.slots(&Type::Record(record)) as usize];
        self.state.heap.push(Object { record, cells });
        self.assign(process, place, self.state.heap.len() as i64)
    }

    fn store(&mut self, process: u32, scope: Scope, slot: usize, value: i64) -> Result<(), Fault> {
        let cells = match scope {
            Scope::Global => &mut self.state.globals,
            Scope::Local => match self.state.processes.get_mut(process as usize) {
                Some(process) => &mut process.locals,
                None => return Err(Fault::NoProcess),
            },
        };
        *cells.get_mut(slot).ok_or(Fault::NoProcess)? = value;
        Ok(())
    }

    fn set_priority(&mut self, process: u32, target: &Expr, priority: &Expr) -> Result<(), Fault> {
        let context = self.context(process);
        let (target, priority) = (context.value(target)?, context.value(priority)?);
        let Some(target) = usize::try_from(target).ok().and_then(|t| self.state.processes.get_mut(t)) else {
            return Ok(());
        };
        target.priority =
            u8::try_from(priority).ok().filter(|p| *p > 0).ok_or(Fault::PriorityOutOfRange { value: priority })?;
        Ok(())
    }

    /// A communication through a buffer that [can happen](Context::can_communicate).
    fn communicate(&mut self, process: u32, communication: &Communication) -> Result<(), Fault> {
        let context = self.context(process);
        let (handle, kind, channel) = context.channel(communication.channel())?;
        match communication {
            Communication::Send { values, sorted, .. } => {
                let message = context.message(kind, values)?;
                let position = match channel.messages.iter().position(|other| *sorted && *other > message) {
                    Some(position) => position,
                    None => channel.messages.len(),
                };
                self.messages(handle)?.insert(position, message.clone());
                self.event(EventKind::Send, process, handle, &message)
            }
            Communication::Receive { patterns, anywhere, keep, .. } => {
                let position = context.find(kind, channel, patterns, *anywhere)?.ok_or(Fault::Blocked)?;
                if !keep {
                    check_arity(kind, patterns.len())?;
                }
                let message = channel.messages[position].clone();
                self.bind(process, patterns, &message)?;
                if *keep {
                    return Ok(());
                }
                self.messages(handle)?.remove(position);
                self.event(EventKind::Receive, process, handle, &message)
            }
        }
    }

    fn messages(&mut self, handle: i64) -> Result<&mut Vec<Vec<i64>>, Fault> {
        let index = usize::try_from(handle - 1).map_err(|_| Fault::NoChannel { handle })?;
        let channel: &mut ChannelState = self.state.channels.get_mut(index).ok_or(Fault::NoChannel { handle })?;
        Ok(&mut channel.messages)
    }

    fn bind(&mut self, process: u32, patterns: &[Pattern], message: &[i64]) -> Result<(), Fault> {
        for (pattern, field) in patterns.iter().zip(message) {
            if let Pattern::Bind(place) = pattern {
                self.assign(process, place, *field)?;
            }
        }
        Ok(())
    }

    /// Notes the event and shows it to the monitor.
    fn event(&mut self, kind: EventKind, process: u32, handle: i64, message: &[i64]) -> Result<(), Fault> {
        let channel = self.state.channel(handle).ok_or(Fault::NoChannel { handle })?.kind;
        let event = Event { kind, process, handle: handle as u32, channel, message: message.to_vec() };
        let system = self.interpreter.system;
        if let Some(monitor) = &system.monitor
            && self.observes(monitor, &event)?
        {
            self.watch(monitor, &event)?;
        }
        self.successor.events.push(event);
        Ok(())
    }

    fn observes(&self, monitor: &Monitor, event: &Event) -> Result<bool, Fault> {
        let context = self.interpreter.context(&self.state, None, Some(self.timeout));
        for (kind, channel) in &monitor.observed {
            if *kind == event.kind && context.value(channel)? == i64::from(event.handle) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The monitor takes the edge that fits. If it forbids a run, it rests in its last location both
    /// when it has seen it all (a violation) and when it has seen something else (none).
    fn watch(&mut self, monitor: &Monitor, event: &Event) -> Result<(), Fault> {
        if monitor.forbids && self.state.monitor == monitor.last {
            return Ok(());
        }
        let edges = monitor.locations.get(self.state.monitor as usize).map_or(&[][..], Vec::as_slice);
        let mut fitting = Vec::new();
        for edge in edges {
            if self.takes(edge, event)? {
                fitting.push(edge.to);
            }
        }
        match fitting[..] {
            [] if monitor.forbids => self.state.monitor = monitor.last,
            [] => self.successor.violations.push(Fault::TraceViolated),
            [to, ..] if monitor.forbids && to == monitor.last => {
                self.state.monitor = to;
                self.successor.violations.push(Fault::TraceCompleted);
            }
            [to] => self.state.monitor = to,
            _ => return Err(Fault::TraceAmbiguous),
        }
        Ok(())
    }

    fn takes(&self, edge: &MonitorEdge, event: &Event) -> Result<bool, Fault> {
        let context = self.interpreter.context(&self.state, None, Some(self.timeout));
        if edge.kind != event.kind || context.value(&edge.channel)? != i64::from(event.handle) {
            return Ok(false);
        }
        context.fits(&self.interpreter.system.channels[event.channel.index()], &edge.patterns, &event.message)
    }

    /// Creates a process at the end of the list, with its channels at the end of theirs.
    pub fn spawn(
        &mut self,
        ty: ProcessId,
        arguments: &[i64],
        priority: Option<u8>,
        choose: &mut dyn FnMut() -> u64,
    ) -> Result<(), Fault> {
        let system = self.interpreter.system;
        if self.state.processes.len() >= system.max_processes as usize {
            return Err(Fault::TooManyProcesses { limit: system.max_processes });
        }
        let process = system.process(ty);
        let layout = self.interpreter.locals(ty);
        let mut locals = vec![0; layout.scalars.len()];
        for ((cell, scalar), argument) in locals.iter_mut().zip(&layout.scalars).zip(arguments) {
            *cell = fit(*scalar, *argument)?;
        }
        let id = self.state.processes.len() as u32;
        let priority = priority.unwrap_or(process.priority);
        self.state.processes.push(ProcessState { process: ty, location: process.initial, locals, priority });
        let parameters = process.parameters as usize;
        for (number, variable) in process.locals.iter().enumerate().skip(parameters) {
            self.initialise(Some(id), layout.offsets[number], variable, choose)?;
        }
        Ok(())
    }

    /// Gives the slots of a variable their first values. `choose` is asked for the number of each that is a choice.
    pub fn initialise(
        &mut self,
        owner: Option<u32>,
        offset: usize,
        variable: &Variable,
        choose: &mut dyn FnMut() -> u64,
    ) -> Result<(), Fault> {
        for (slot, initial) in &variable.initial {
            let value = match initial {
                Initial::Value(expr) => self.interpreter.context(&self.state, owner, Some(self.timeout)).value(expr)?,
                Initial::Channel(kind) => self.create(*kind)?,
                Initial::AnyOf(values) => Choice::Listed(values).get(choose()),
                Initial::Between(least, most) => Choice::Between(*least, *most).get(choose()),
            };
            let (layout, cells) = match owner.and_then(|id| self.state.processes.get_mut(id as usize)) {
                Some(process) => (self.interpreter.locals(process.process), &mut process.locals),
                None => (&self.interpreter.globals, &mut self.state.globals),
            };
            let slot = offset + *slot as usize;
            if let (Some(cell), Some(scalar)) = (cells.get_mut(slot), layout.scalars.get(slot)) {
                *cell = fit(*scalar, value)?;
            }
        }
        Ok(())
    }

    /// A new channel; its handle.
    fn create(&mut self, kind: ChannelId) -> Result<i64, Fault> {
        if self.state.channels.len() >= MAX_CHANNELS {
            return Err(Fault::TooManyChannels);
        }
        self.state.channels.push(ChannelState { kind, messages: Vec::new() });
        Ok(self.state.channels.len() as i64)
    }

    /// Removes the youngest process and its channels.
    fn end(&mut self) {
        if let Some(process) = self.state.processes.pop() {
            let own = self.interpreter.locals(process.process).channels.len();
            self.state.channels.truncate(self.state.channels.len().saturating_sub(own));
        }
    }
}
