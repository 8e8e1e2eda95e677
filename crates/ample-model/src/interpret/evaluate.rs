//! The value of an expression in a state, as seen by one process.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use super::state::{ChannelState, ProcessState};
use super::{Fault, Interpreter, State};
use crate::expr::{BinaryOp, Expr, Field, Index, Pattern, Place, Scope, Shared};
use crate::system::{Channel, EdgeId, LocationId, ProcessId, Scalar};
use crate::visit::{MAX_RECURSION, innermost_first};

/// How many processes may ask after each other by [`Expr::Enabled`] in one evaluation.
const MAX_ASKING: usize = 16;

/// Where an expression is evaluated.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub interpreter: &'a Interpreter<'a>,
    pub state: &'a State,
    /// The process that evaluates.
    pub me: Option<u32>,
    /// The value of [`Expr::Timeout`]; `None` if it is still to be found out.
    pub timeout: Option<bool>,
    /// The message on offer while a receive is tried as the second half of a handshake.
    pub offer: Option<Offer<'a>>,
    /// The processes that are being asked whether they are enabled, innermost first.
    pub asking: Option<&'a Asking<'a>>,
    /// The state after the joint step, as far as it is known.
    pub next: Option<&'a State>,
    /// The values of shared expressions, as long as nothing changes.
    pub memo: Option<&'a Memo>,
}

/// The values of shared expressions, or the faults that evaluating them is, by their addresses: each is evaluated once.
pub(super) type Memo = RefCell<HashMap<usize, Result<i64, Fault>>>;

/// One half of a handshake: a message that waits to be taken.
#[derive(Clone, Copy)]
pub(super) struct Offer<'a> {
    pub handle: i64,
    pub message: &'a [i64],
}

/// A link in the chain of processes that are asked whether they are enabled.
pub(super) struct Asking<'a> {
    process: u32,
    before: Option<&'a Asking<'a>>,
    depth: usize,
}

impl<'a> Context<'a> {
    /// The same moment seen by another process.
    pub fn seen_by(self, process: u32) -> Context<'a> {
        Context { me: Some(process), offer: None, memo: None, ..self }
    }

    /// The same in a joint step to that state.
    pub fn with_next(self, next: &'a State, memo: &'a Memo) -> Context<'a> {
        Context { next: Some(next), memo: Some(memo), ..self }
    }

    /// The arms are short so that the stack stays small on deep expressions.
    pub fn value(&self, expr: &Expr) -> Result<i64, Fault> {
        match expr {
            Expr::Const(value) => Ok(*value),
            Expr::Read(place) => self.read(place),
            Expr::Next(place) => self.next(place),
            Expr::Field(object, field) => self.field(object, field),
            Expr::Unary(op, x) => op.apply(self.value(x)?),
            Expr::Binary(op, x, y) => self.binary(*op, x, y),
            Expr::Cast(scalar, x) => fit(*scalar, self.value(x)?),
            Expr::Conditional(condition, x, y) => self.value(if self.holds(condition)? { x } else { y }),
            Expr::SelfId => Ok(self.me()?.into()),
            Expr::ProcessCount => Ok(self.state.processes.len() as i64),
            Expr::LastMover => Ok(self.state.last.into()),
            Expr::Timeout => Ok(self.timeout().into()),
            Expr::Blocked(edges) => Ok(self.blocked(edges)?.into()),
            Expr::Enabled(process) => Ok(self.enabled(self.value(process)?)?.into()),
            Expr::LocationOf(process) => self.location_of(process),
            Expr::At { process, of, locations } => self.stands_at(process.as_deref(), *of, locations),
            Expr::Remote { process, of, place } => self.remote(process.as_deref(), *of, place),
            Expr::NonProgress => Ok(self.is_non_progress().into()),
            Expr::Accepting => Ok(self.is_accepting().into()),
            Expr::Length(handle) => self.length(handle),
            Expr::Full(handle) => self.full(handle),
            Expr::Poll { channel, patterns, anywhere } => self.poll(channel, patterns, *anywhere),
            Expr::Priority(process) => self.priority(process),
            Expr::Shared(x) => self.shared(x),
        }
    }

    /// Those inside it are evaluated once, too, even if nobody remembers values beyond it.
    fn shared(&self, expr: &Shared) -> Result<i64, Fault> {
        let Some(memo) = self.memo else {
            return if expr.is_nested() {
                Context { memo: Some(&Memo::default()), ..*self }.value(expr)
            } else {
                self.value(expr)
            };
        };
        if let Some(value) = memo.borrow().get(&expr.address()) {
            return value.clone();
        }
        if expr.height() > MAX_RECURSION {
            self.evaluate_inside(expr, memo);
        }
        let value = self.value(expr);
        memo.borrow_mut().insert(expr.address(), value.clone());
        value
    }

    /// Evaluates the shared expressions inside one that is nested deeper than calls, those that are not needed as well: a
    /// fault counts where its value is asked for.
    fn evaluate_inside(&self, expr: &Shared, memo: &Memo) {
        let mut seen = HashSet::new();
        let mut new = |part: &Shared| !memo.borrow().contains_key(&part.address()) && seen.insert(part.address());
        for part in innermost_first(expr, &mut new) {
            let value = self.value(part);
            memo.borrow_mut().insert(part.address(), value);
        }
    }

    pub fn holds(&self, expr: &Expr) -> Result<bool, Fault> {
        Ok(self.value(expr)? != 0)
    }

    pub fn me(&self) -> Result<u32, Fault> {
        self.me.ok_or(Fault::NoProcess)
    }

    /// The evaluating process.
    pub fn my_process(&self) -> Result<&'a ProcessState, Fault> {
        self.state.process(self.me()?.into()).ok_or(Fault::NoProcess)
    }

    /// The slot of a place among the globals, or among the locals of the evaluating process.
    pub fn slot(&self, place: &Place) -> Result<usize, Fault> {
        match place.scope {
            Scope::Global => self.slot_in(&self.interpreter.globals.offsets, place),
            Scope::Local => self.slot_in(&self.interpreter.locals(self.my_process()?.process).offsets, place),
        }
    }

    fn slot_in(&self, offsets: &[usize], place: &Place) -> Result<usize, Fault> {
        let base = offsets.get(place.variable.index()).ok_or(Fault::NoProcess)?;
        self.slot_from(base + place.offset as usize, &place.indices)
    }

    fn slot_from(&self, mut slot: usize, indices: &[Index]) -> Result<usize, Fault> {
        for index in indices {
            let value = self.value(&index.at)?;
            if !(0..i64::from(index.length)).contains(&value) {
                return Err(Fault::Index { value, length: index.length });
            }
            slot += value as usize * index.stride as usize;
        }
        Ok(slot)
    }

    fn read(&self, place: &Place) -> Result<i64, Fault> {
        let slot = self.slot(place)?;
        let cells = match place.scope {
            Scope::Global => &self.state.globals,
            Scope::Local => &self.my_process()?.locals,
        };
        cells.get(slot).copied().ok_or(Fault::NoProcess)
    }

    /// The object that an expression refers to, by its index, and the slot of one of its cells.
    pub fn cell_of(&self, object: &Expr, field: &Field) -> Result<(usize, usize), Fault> {
        let reference = self.value(object)?;
        self.state.object(field.record, reference).ok_or(Fault::NoObject)?;
        Ok((reference as usize - 1, self.slot_from(field.offset as usize, &field.indices)?))
    }

    fn field(&self, object: &Expr, field: &Field) -> Result<i64, Fault> {
        let (object, slot) = self.cell_of(object, field)?;
        self.state.heap[object].cells.get(slot).copied().ok_or(Fault::NoObject)
    }

    fn next(&self, place: &Place) -> Result<i64, Fault> {
        let slot = self.slot(place)?;
        self.next.and_then(|next| next.globals.get(slot)).copied().ok_or(Fault::NoProcess)
    }

    fn binary(&self, op: BinaryOp, x: &Expr, y: &Expr) -> Result<i64, Fault> {
        let x = self.value(x)?;
        match op {
            BinaryOp::And if x == 0 => Ok(0),
            BinaryOp::Or if x != 0 => Ok(1),
            _ => op.apply(x, self.value(y)?),
        }
    }

    fn timeout(&self) -> bool {
        self.timeout.unwrap_or_else(|| self.interpreter.moves(self.state).timeout)
    }

    fn location_of(&self, process: &Expr) -> Result<i64, Fault> {
        let process = self.state.process(self.value(process)?);
        Ok(process.map_or(0, |p| self.interpreter.location(p).number.into()))
    }

    fn priority(&self, process: &Expr) -> Result<i64, Fault> {
        let process = self.state.process(self.value(process)?);
        Ok(process.map_or(0, |p| p.priority.into()))
    }

    fn stands_at(&self, process: Option<&Expr>, of: ProcessId, locations: &[LocationId]) -> Result<i64, Fault> {
        let process = self.subject(process, of)?;
        Ok(process.is_some_and(|p| locations.contains(&p.location)).into())
    }

    fn remote(&self, process: Option<&Expr>, of: ProcessId, place: &Place) -> Result<i64, Fault> {
        let Some(process) = self.subject(process, of)? else { return Ok(0) };
        let slot = self.slot_in(&self.interpreter.locals(of).offsets, place)?;
        process.locals.get(slot).copied().ok_or(Fault::NoProcess)
    }

    fn is_non_progress(&self) -> bool {
        !self.state.processes.iter().any(|process| self.interpreter.location(process).progress)
    }

    fn is_accepting(&self) -> bool {
        self.state.processes.iter().any(|process| self.interpreter.location(process).accept)
    }

    fn length(&self, handle: &Expr) -> Result<i64, Fault> {
        Ok(self.channel(handle)?.2.messages.len() as i64)
    }

    fn full(&self, handle: &Expr) -> Result<i64, Fault> {
        let (_, kind, channel) = self.channel(handle)?;
        Ok((kind.capacity > 0 && channel.messages.len() >= kind.capacity as usize).into())
    }

    fn poll(&self, channel: &Expr, patterns: &[Pattern], anywhere: bool) -> Result<i64, Fault> {
        let (_, kind, channel) = self.channel(channel)?;
        if kind.capacity == 0 {
            return Err(Fault::PollHandshake);
        }
        Ok(self.find(kind, channel, patterns, anywhere)?.is_some().into())
    }

    /// The process that `At` and `Remote` speak of, if it is alive and of that type.
    fn subject(&self, process: Option<&Expr>, of: ProcessId) -> Result<Option<&'a ProcessState>, Fault> {
        let Some(id) = process else {
            return Ok(self.state.processes.iter().find(|p| p.process == of));
        };
        Ok(self.state.process(self.value(id)?).filter(|p| p.process == of))
    }

    /// The handle, the kind and the contents of a channel.
    pub fn channel(&self, handle: &Expr) -> Result<(i64, &'a Channel, &'a ChannelState), Fault> {
        let handle = self.value(handle)?;
        let channel = self.state.channel(handle).ok_or(Fault::NoChannel { handle })?;
        Ok((handle, self.interpreter.kind(channel), channel))
    }

    /// Which message of a buffer a receive with these patterns would take.
    pub fn find(
        &self,
        kind: &Channel,
        channel: &ChannelState,
        patterns: &[Pattern],
        anywhere: bool,
    ) -> Result<Option<usize>, Fault> {
        let candidates = if anywhere { channel.messages.len() } else { 1 };
        for (position, message) in channel.messages.iter().enumerate().take(candidates) {
            if self.fits(kind, patterns, message)? {
                return Ok(Some(position));
            }
        }
        Ok(None)
    }

    /// The message has what the patterns ask for. Fields without a pattern fit; a receive that then takes
    /// the message is a fault, as in Spin, but a poll is not.
    pub fn fits(&self, kind: &Channel, patterns: &[Pattern], message: &[i64]) -> Result<bool, Fault> {
        if patterns.len() > kind.fields.len() {
            check_arity(kind, patterns.len())?;
        }
        for (pattern, field) in patterns.iter().zip(message) {
            if let Pattern::Match(expected) = pattern
                && self.value(expected)? != *field
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// [`Expr::Blocked`]
    fn blocked(&self, edges: &[EdgeId]) -> Result<bool, Fault> {
        let ty = self.interpreter.system.process(self.my_process()?.process);
        for id in edges {
            let Some(edge) = ty.edges.get(id.index()) else { return Err(Fault::NoProcess) };
            let executable = match self.offer {
                Some(offer) => self.accepts(edge, offer)?,
                None => self.ready(edge)?.is_some(),
            };
            if executable {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// [`Expr::Enabled`]
    pub fn enabled(&self, process: i64) -> Result<bool, Fault> {
        let Some(target) = self.state.process(process) else { return Ok(false) };
        let asking = self.ask(process as u32)?;
        let context = Context { asking: Some(&asking), ..self.seen_by(process as u32) };
        for edge in self.interpreter.edges_at(target) {
            if context.ready_without_partner(edge)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn ask(&self, process: u32) -> Result<Asking<'a>, Fault> {
        let depth = self.asking.map_or(0, |asking| asking.depth + 1);
        let mut link = self.asking;
        while let Some(asking) = link {
            if asking.process == process {
                return Err(Fault::Circular);
            }
            link = asking.before;
        }
        if depth >= MAX_ASKING {
            return Err(Fault::Circular);
        }
        Ok(Asking { process, before: self.asking, depth })
    }
}

/// The value as the type keeps it.
pub(super) fn fit(scalar: Scalar, value: i64) -> Result<i64, Fault> {
    scalar.fit(value).ok_or(Fault::OutOfRange { value })
}

pub(super) fn check_arity(kind: &Channel, given: usize) -> Result<(), Fault> {
    if kind.fields.len() == given {
        return Ok(());
    }
    Err(Fault::MessageArity { given: given as u32, expected: kind.fields.len() as u32 })
}
