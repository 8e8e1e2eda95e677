//! Describing a step in the words of the source, and replaying a trace.

use thiserror::Error;

use super::perform::{Event, Successor};
use super::state::{ChannelState, ProcessState, State};
use super::{Cell, Fault, Interpreter, Layout};
use crate::initial::StartNumber;
use crate::system::{EdgeId, ProcessType, Scalar, Type, Variable};
use crate::trace::{Change, Message, Move, Step, Trace};

/// Why a trace is not a run of the system.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReplayError {
    /// There is no such initial state.
    #[error("there is no initial state number {start}")]
    NoStart {
        /// The number.
        start: StartNumber,
    },
    /// The initial state itself is a fault.
    #[error("the initial state is a fault: {0}")]
    BadStart(Fault),
    /// A move that its state does not allow.
    #[error("step {step}: the move is not executable there")]
    NotEnabled {
        /// Which step, from 1.
        step: usize,
    },
    /// There is a step after one that ended in a fault.
    #[error("step {step} ends in a fault ({fault}), yet the trace goes on")]
    AfterFault {
        /// Which step, from 1.
        step: usize,
        /// Its fault.
        fault: Fault,
    },
    /// The trace reports another violation than the one that happens.
    #[error("step {step}: the trace says {}, the run {}", described(says), described(does))]
    OtherViolation {
        /// Which step, from 1.
        step: usize,
        /// What the trace says.
        says: Option<String>,
        /// What happens.
        does: Option<String>,
    },
    /// The cycle does not end where it began.
    #[error("the cycle does not lead back to where it begins")]
    OpenCycle,
}

fn described(violation: &Option<String>) -> String {
    violation.as_ref().map_or_else(|| "nothing goes wrong".into(), |sentence| format!("\"{sentence}\""))
}

impl Interpreter<'_> {
    /// The run that these moves make from the initial state of that number, described step by step.
    /// Only the last move may end in a fault.
    pub fn run_trace(&self, start: impl Into<StartNumber>, moves: &[Move]) -> Result<Trace, ReplayError> {
        self.run_lasso(start, moves, &[])
    }

    /// Like [`run_trace`](Self::run_trace), with a cycle after the prefix.
    pub fn run_lasso(
        &self,
        start: impl Into<StartNumber>,
        prefix: &[Move],
        cycle: &[Move],
    ) -> Result<Trace, ReplayError> {
        let start = start.into();
        let mut trace = Trace { start: start.clone(), ..Trace::default() };
        let moves: Vec<Move> = prefix.iter().chain(cycle).cloned().collect();
        self.follow(&start, &moves, prefix.len(), &mut |number, step| {
            if number < prefix.len() {
                trace.prefix.push(step)
            } else {
                trace.cycle.push(step)
            }
            Ok(())
        })?;
        Ok(trace)
    }

    /// Performs the trace, move by move, and returns the states it goes through. Refuses a trace with
    /// a move that is not executable where it stands, with a violation that does not happen (or one
    /// that is not reported), or with a cycle that does not close. The rest of a step's description is not compared.
    pub fn replay(&self, trace: &Trace) -> Result<Vec<State>, ReplayError> {
        let steps: Vec<&Step> = trace.prefix.iter().chain(&trace.cycle).collect();
        let moves: Vec<Move> = steps.iter().map(|step| step.taken.clone()).collect();
        self.follow(&trace.start, &moves, trace.prefix.len(), &mut |number, step| {
            let says = steps[number].violation.clone();
            if says == step.violation {
                return Ok(());
            }
            Err(ReplayError::OtherViolation { step: number + 1, says, does: step.violation })
        })
    }

    /// Performs the moves, shows every step with its number, and returns the states.
    fn follow(
        &self,
        start: &StartNumber,
        moves: &[Move],
        prefix: usize,
        show: &mut dyn FnMut(usize, Step) -> Result<(), ReplayError>,
    ) -> Result<Vec<State>, ReplayError> {
        let there = self.initial_state(start).ok_or_else(|| ReplayError::NoStart { start: start.clone() })?;
        let mut state = there.map_err(ReplayError::BadStart)?;
        let mut states = vec![state.clone()];
        for (number, taken) in moves.iter().enumerate() {
            let successor = self.step(&state, taken);
            if successor.violations.contains(&Fault::NotEnabled) {
                return Err(ReplayError::NotEnabled { step: number + 1 });
            }
            show(number, self.describe(&state, taken, &successor))?;
            match successor.state {
                Some(next) => {
                    states.push(next.clone());
                    state = next;
                }
                None if number + 1 == moves.len() && moves.len() == prefix => return Ok(states),
                None => {
                    let fault = successor.violations.last().cloned().unwrap_or(Fault::NotEnabled);
                    return Err(ReplayError::AfterFault { step: number + 1, fault });
                }
            }
        }
        if moves.len() > prefix && self.identity(&states[prefix]) != self.identity(&state) {
            return Err(ReplayError::OpenCycle);
        }
        Ok(states)
    }

    /// The step in the words of the source: who did what, where, and what changed.
    pub fn describe(&self, before: &State, taken: &Move, successor: &Successor) -> Step {
        let step = self.action_of(before, taken);
        let changes = successor.state.as_ref().map_or_else(Vec::new, |after| {
            let numbers = &successor.numbers;
            self.changes(before, after, numbers)
        });
        let messages = successor.events.iter().map(|event| self.message_of(before, successor, event)).collect();
        Step { changes, messages, printed: successor.printed.clone(), violation: successor.violation(), ..step }
    }

    /// Who does what, and where.
    fn action_of(&self, before: &State, taken: &Move) -> Step {
        let nothing = Step {
            taken: taken.clone(),
            process: String::new(),
            text: String::new(),
            at: None,
            partner: None,
            participants: Vec::new(),
            inputs: Vec::new(),
            changes: Vec::new(),
            messages: Vec::new(),
            printed: String::new(),
            violation: None,
        };
        let who = |(process, edge): (u32, EdgeId)| {
            let (text, at) = self.statement(before, process, edge);
            (self.process_name(before, process), text, at)
        };
        match taken {
            Move::Process { process, edge } => {
                let (process, text, at) = who((*process, *edge));
                Step { process, text, at, ..nothing }
            }
            Move::Handshake { sender, receiver } => {
                let (process, text, at) = who(*sender);
                Step { process, text, at, partner: Some(who(*receiver)), ..nothing }
            }
            Move::Action { action, participants } => {
                let action = self.system.actions.get(action.index());
                let at = action.and_then(|action| action.span).map(|span| self.system.place_of(span));
                let process = action.map_or_else(String::new, |action| action.name.clone());
                Step { process, at, participants: participants.iter().copied().map(who).collect(), ..nothing }
            }
            Move::Joint { inputs, choices } => {
                let (inputs, choices) = (self.named_cells(inputs), self.named_cells(choices));
                let mut parts: Vec<String> = Vec::new();
                parts.extend(inputs.iter().map(|cell| format!("{} = {}", cell.name, cell.value)));
                parts.extend(choices.iter().map(|cell| format!("next({}) = {}", cell.name, cell.value)));
                Step { text: parts.join(", "), inputs, ..nothing }
            }
            Move::Claim { claim, edge } => {
                let claim = self.system.processes.get(claim.index());
                let (text, at) = self.statement_of(claim, *edge);
                Step { process: claim.map_or_else(String::new, |claim| claim.name.clone()), text, at, ..nothing }
            }
        }
    }

    /// Global cells with their values, by their slots.
    fn named_cells(&self, cells: &[(u32, i64)]) -> Vec<Cell> {
        let named = |(slot, value): &(u32, i64)| {
            let scalar = self.globals.scalars.get(*slot as usize)?;
            let name = self.system.global_cell_name(*slot);
            let variable = self.globals.offsets.partition_point(|offset| *offset <= *slot as usize).saturating_sub(1);
            Some(Cell { name, value: self.system.show_global(variable, *scalar, *value) })
        };
        cells.iter().filter_map(named).collect()
    }

    /// A process in words: `name(id)`.
    pub fn process_name(&self, state: &State, id: u32) -> String {
        match state.process(id.into()) {
            Some(process) => format!("{}({id})", self.system.process(process.process).name),
            None => format!("?({id})"),
        }
    }

    /// A channel in words: the cell it was created with; a local one is prefixed with its process.
    pub fn channel_name(&self, state: &State, handle: u32) -> String {
        let mut index = handle.wrapping_sub(1) as usize;
        if let Some(name) = self.channel_cell(&self.system.globals, &self.globals, &mut index) {
            return name;
        }
        for (id, process) in state.processes.iter().enumerate() {
            let locals = &self.system.process(process.process).locals;
            if let Some(name) = self.channel_cell(locals, self.locals(process.process), &mut index) {
                return format!("{}:{name}", self.process_name(state, id as u32));
            }
        }
        format!("channel {handle}")
    }

    /// The name of that channel of a scope, or what is left of the index behind it.
    fn channel_cell(&self, variables: &[Variable], layout: &Layout, index: &mut usize) -> Option<String> {
        match layout.channels.get(*index) {
            Some((variable, slot)) => Some(self.system.slot_name(variables.get(variable.index())?, *slot)),
            None => {
                *index -= layout.channels.len();
                None
            }
        }
    }

    /// The label of an edge and its `file:line`.
    fn statement(&self, state: &State, process: u32, edge: EdgeId) -> (String, Option<String>) {
        self.statement_of(state.process(process.into()).map(|process| self.system.process(process.process)), edge)
    }

    fn statement_of(&self, ty: Option<&ProcessType>, edge: EdgeId) -> (String, Option<String>) {
        match ty.and_then(|ty| ty.edges.get(edge.index())) {
            Some(edge) => (edge.label.clone(), edge.span.map(|span| self.system.place_of(span))),
            None => (String::new(), None),
        }
    }

    fn message_of(&self, before: &State, successor: &Successor, event: &Event) -> Message {
        let known = if before.channel(event.handle.into()).is_some() { Some(before) } else { successor.state.as_ref() };
        Message {
            kind: event.kind,
            process: event.process,
            channel: self.channel_name(known.unwrap_or(before), event.handle),
            handle: event.handle,
            fields: self.fields(&self.system.channels[event.channel.index()].fields, &event.message),
        }
    }

    pub(super) fn fields(&self, scalars: &[Scalar], message: &[i64]) -> Vec<String> {
        message.iter().zip(scalars).map(|(value, scalar)| self.system.show_value(*scalar, *value)).collect()
    }

    /// What differs: globals, processes and their locals, channels, objects. That an object has another number afterwards
    /// is told once, and is no change of what refers to it.
    fn changes(&self, before: &State, after: &State, numbers: &[i64]) -> Vec<Change> {
        let mut changes = Vec::new();
        let old = |slot: usize| before.globals.get(slot).copied();
        let view = Differences { numbers, old: &old };
        self.cell_changes(&self.system.globals, &self.globals, "", &view, &after.globals, &mut changes);
        for id in 0..before.processes.len().max(after.processes.len()) {
            self.process_changes((before, after), numbers, id, &mut changes);
        }
        for (index, object) in after.heap.iter().enumerate() {
            let reference = index as i64 + 1;
            let earlier = numbers.iter().position(|new| *new == reference).and_then(|at| before.heap.get(at));
            let name = format!("#{reference}");
            let whole = [Variable::new(&name, Type::Record(object.record))];
            let cell = |slot: usize| earlier.and_then(|earlier| earlier.cells.get(slot).copied());
            let view = Differences { numbers, old: &cell };
            self.cell_changes(&whole, &Layout::of(self.system, &whole), "", &view, &object.cells, &mut changes);
        }
        let moved = (1i64..).zip(numbers).take(before.heap.len()).filter(|(old, new)| **new != 0 && old != *new);
        let (old, new): (Vec<String>, Vec<String>) =
            moved.map(|(old, new)| (format!("#{old}"), format!("#{new}"))).unzip();
        if !old.is_empty() {
            changes.push(Change { name: "objects".into(), before: Some(old.join(" ")), after: new.join(" ") });
        }
        for index in 0..after.channels.len() {
            let contents = self.contents(&after.channels[index]);
            let earlier = before.channels.get(index).map(|channel| self.contents(channel));
            if earlier.as_ref().map_or("", String::as_str) != contents {
                let name = self.channel_name(after, index as u32 + 1);
                changes.push(Change { name, before: earlier, after: contents });
            }
        }
        changes
    }

    fn process_changes(
        &self,
        (before, after): (&State, &State),
        numbers: &[i64],
        id: usize,
        changes: &mut Vec<Change>,
    ) {
        let (old, new) = (before.processes.get(id), after.processes.get(id));
        let same = matches!((old, new), (Some(old), Some(new)) if old.process == new.process);
        if old.is_some() && !same {
            let name = self.process_name(before, id as u32);
            changes.push(Change { name, before: Some("alive".into()), after: "ended".into() });
        }
        let Some(new) = new else { return };
        let name = self.process_name(after, id as u32);
        if !same {
            changes.push(Change { name: name.clone(), before: None, after: "alive".into() });
        }
        let old: Option<&ProcessState> = old.filter(|_| same);
        if let Some(old) = old
            && old.priority != new.priority
        {
            changes.push(Change {
                name: format!("{name}:_priority"),
                before: Some(old.priority.to_string()),
                after: new.priority.to_string(),
            });
        }
        let locals = &self.system.process(new.process).locals;
        let cell = |slot: usize| old.and_then(|old| old.locals.get(slot).copied());
        let prefix = format!("{name}:");
        let view = Differences { numbers, old: &cell };
        self.cell_changes(locals, self.locals(new.process), &prefix, &view, &new.locals, changes);
    }

    /// The cells that differ from what they were; of new cells those that are not 0.
    fn cell_changes(
        &self,
        variables: &[Variable],
        layout: &Layout,
        prefix: &str,
        view: &Differences<'_>,
        new: &[i64],
        changes: &mut Vec<Change>,
    ) {
        let is_global = std::ptr::eq(variables, &raw const *self.system.globals);
        for ((number, variable), offset) in variables.iter().enumerate().zip(&layout.offsets) {
            let show = |scalar: Scalar, value: i64| match is_global {
                true => self.system.show_global(number, scalar, value),
                false => self.system.show_value(scalar, value),
            };
            for slot in 0..self.system.slots(&variable.ty) {
                let at = offset + slot as usize;
                let (Some(value), Some(scalar)) = (new.get(at), layout.scalars.get(at)) else { continue };
                let earlier = (view.old)(at);
                if view.is_same(*scalar, earlier.unwrap_or(0), *value) {
                    continue;
                }
                changes.push(Change {
                    name: format!("{prefix}{}", self.system.slot_name(variable, slot)),
                    before: earlier.map(|value| show(*scalar, value)),
                    after: show(*scalar, *value),
                });
            }
        }
    }

    /// The messages of a channel as text: `[a,1][b,2]`.
    fn contents(&self, channel: &ChannelState) -> String {
        let scalars = &self.kind(channel).fields;
        channel.messages.iter().map(|message| format!("[{}]", self.fields(scalars, message).join(","))).collect()
    }
}

/// How cells are compared with what they were.
struct Differences<'a> {
    /// By old number: what refers to an object afterwards.
    numbers: &'a [i64],
    /// The old value of a cell, by its slot.
    old: &'a dyn Fn(usize) -> Option<i64>,
}

impl Differences<'_> {
    fn is_same(&self, scalar: Scalar, old: i64, new: i64) -> bool {
        match (scalar, usize::try_from(old).ok().and_then(|old| old.checked_sub(1))) {
            (Scalar::Reference(_), Some(at)) => self.numbers.get(at).copied().unwrap_or(old) == new && new != 0,
            _ => old == new,
        }
    }
}
