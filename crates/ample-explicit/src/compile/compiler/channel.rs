//! Channels: whether a communication can happen, and what it does.
//!
//! A channel whose place in the state is known is no more than cells at known offsets. Any other is
//! opened by its handle: registers 0 and 1 are for the open channel and the handle then, and register 2
//! for the position of the message.

use ample_model::{Communication, Edge, Expr, Fault, Pattern, Scalar};

use super::Compiler;
use super::known::constant_of;
use super::place::Resolved;
use crate::compile::CompileError;
use crate::compile::bytecode::{FIELDS, NOWHERE, Op, Pc, Register, ZERO};
use crate::compile::layout::{Base, Cell, ChannelLayout, Interval, MAX_STATE_BYTES, Slot};

/// A channel whose place in the state the compiler knows.
#[derive(Clone, Copy)]
pub(super) struct FixedChannel {
    pub(super) base: Base,
    pub(super) offset: u32,
    pub(super) kind: u16,
}

impl Compiler<'_> {
    pub(super) fn length(&mut self, channel: &Expr, to: Register) -> Result<Interval, CompileError> {
        let Some(fixed) = self.fixed_channel(channel) else {
            self.value(channel, to)?;
            self.emit_open(to, to)?;
            self.emit(Op::Length { to })?;
            return Ok(Interval { low: 0, high: i64::from(MAX_STATE_BYTES) });
        };
        let layout = &self.program.layout.channels[usize::from(fixed.kind)];
        if layout.capacity == 0 {
            return self.constant(0, to);
        }
        let slot = length_slot(fixed, layout);
        self.load(&slot, to)
    }

    pub(super) fn full(&mut self, channel: &Expr, to: Register) -> Result<Interval, CompileError> {
        let Some(fixed) = self.fixed_channel(channel) else {
            self.value(channel, to)?;
            self.emit_open(to, to)?;
            self.emit(Op::Full { to })?;
            return Ok(Interval::BOOL);
        };
        let layout = &self.program.layout.channels[usize::from(fixed.kind)];
        let capacity = layout.capacity;
        if capacity == 0 {
            return self.constant(0, to);
        }
        let slot = length_slot(fixed, layout);
        self.load(&slot, to)?;
        self.emit(Op::In { to, low: capacity as i32, high: i32::MAX })?;
        Ok(Interval::BOOL)
    }

    pub(super) fn emit_open(&mut self, to: Register, handle: Register) -> Result<(), CompileError> {
        self.emit(match self.created {
            Some(own) => Op::OpenOlder { to, handle, own },
            None => Op::Open { to, handle },
        })?;
        Ok(())
    }

    /// The channel open in register `to`; `handle` gets the handle if somebody asks for it.
    pub(super) fn open(&mut self, channel: &Expr, to: Register, handle: Register) -> Result<(), CompileError> {
        match self.fixed_channel(channel) {
            Some(fixed) => {
                self.emit(Op::Fixed { to, base: fixed.base, kind: fixed.kind, offset: fixed.offset })?;
                if self.system.monitor.is_some() {
                    self.value(channel, handle)?;
                }
            }
            None => {
                self.value(channel, handle)?;
                self.emit_open(to, handle)?;
            }
        }
        Ok(())
    }

    /// Finds the message that fits, starting at the one in register `position` (or the oldest). Falls
    /// through when it is found; the jumps that are returned are taken when there is none.
    pub(super) fn find(
        &mut self,
        channel: Register,
        position: Register,
        patterns: &[Pattern],
        anywhere: bool,
        free: Register,
    ) -> Result<Vec<usize>, CompileError> {
        let other = self.after(free)?;
        let again = self.here();
        self.emit(Op::HasMessage { to: free, channel, position })?;
        let mut none = vec![self.emit(Op::JumpIfZero { test: free, to: NOWHERE })?];
        self.emit(Op::Arity { channel, given: patterns.len() as u16, exact: false })?;
        let mut misfits = Vec::new();
        for (field, pattern) in patterns.iter().enumerate() {
            if let Pattern::Match(expected) = pattern {
                self.value(expected, free)?;
                self.emit(Op::Field { to: other, channel, position, field: field as u16 })?;
                self.emit(Op::Equal { to: free, with: other })?;
                misfits.push(self.emit(Op::JumpIfZero { test: free, to: NOWHERE })?);
            }
        }
        if !anywhere {
            none.extend(misfits);
            return Ok(none);
        }
        let found = self.emit(Op::Jump { to: NOWHERE })?;
        self.patch_here(&misfits);
        self.emit(Op::AddConst { to: position, value: 1 })?;
        self.emit(Op::Jump { to: again })?;
        self.patch_here(&[found]);
        Ok(none)
    }

    pub(super) fn poll(
        &mut self,
        channel: &Expr,
        patterns: &[Pattern],
        anywhere: bool,
        to: Register,
    ) -> Result<Interval, CompileError> {
        let position = self.after(to)?;
        let free = self.after(position)?;
        self.open(channel, to, position)?;
        self.emit(Op::NoHandshake { channel: to, polls: true })?;
        self.constant(0, position)?;
        let none = self.find(to, position, patterns, anywhere, free)?;
        self.constant(1, to)?;
        let end = self.emit(Op::Jump { to: NOWHERE })?;
        self.patch_here(&none);
        self.constant(0, to)?;
        self.patch_here(&[end]);
        Ok(Interval::BOOL)
    }

    /// Guard and readiness of the communication.
    pub(super) fn guard(&mut self, edge: &Edge) -> Result<Pc, CompileError> {
        let code = self.here();
        for conjunct in &edge.guard {
            self.require(conjunct)?;
        }
        match &edge.communication {
            None => {}
            Some(Communication::Send { channel, .. }) => self.require_room(channel)?,
            Some(Communication::Receive { channel, patterns, anywhere, keep }) => {
                self.require_message(channel, patterns, *anywhere, *keep)?;
            }
        }
        if self.here() == code {
            return Ok(NOWHERE);
        }
        self.emit(Op::Yes)?;
        Ok(code)
    }

    pub(super) fn require_room(&mut self, channel: &Expr) -> Result<(), CompileError> {
        if let Some(fixed) = self.fixed_channel(channel) {
            let layout = &self.program.layout.channels[usize::from(fixed.kind)];
            let slot = length_slot(fixed, layout);
            if layout.capacity > 0
                && let Some(test) = self.slot_test(&slot, 0, i64::from(layout.capacity) - 1, true)
            {
                return self.require_test(test);
            }
            self.value(channel, 1)?;
            self.emit(Op::Fixed { to: 0, base: fixed.base, kind: fixed.kind, offset: fixed.offset })?;
        } else {
            self.value(channel, 1)?;
            self.emit_open(0, 1)?;
        }
        self.emit(Op::RequireRoom { channel: 0, handle: 1 })?;
        Ok(())
    }

    pub(super) fn require_message(
        &mut self,
        channel: &Expr,
        patterns: &[Pattern],
        anywhere: bool,
        keep: bool,
    ) -> Result<(), CompileError> {
        if let Some(fixed) = self.fixed_channel(channel)
            && !anywhere
        {
            let layout = &self.program.layout.channels[usize::from(fixed.kind)];
            let slot = length_slot(fixed, layout);
            if layout.capacity > 0
                && patterns.len() <= layout.fields.len()
                && let Some(test) = self.slot_test(&slot, 1, i64::MAX, true)
            {
                self.require_test(test)?;
                return self.require_oldest(fixed, patterns);
            }
        }
        self.open(channel, 0, 1)?;
        self.emit(Op::RequireMessage { channel: 0, keep })?;
        let position = if anywhere {
            self.constant(0, 2)?;
            2
        } else {
            ZERO
        };
        if patterns.iter().any(|pattern| matches!(pattern, Pattern::Match(_))) {
            let none = self.find(0, position, patterns, anywhere, 3)?;
            let found = self.emit(Op::Jump { to: NOWHERE })?;
            self.patch_here(&none);
            self.emit(Op::No)?;
            self.patch_here(&[found]);
        } else {
            self.emit(Op::Arity { channel: 0, given: patterns.len() as u16, exact: false })?;
        }
        Ok(())
    }

    /// The oldest message of a known channel fits: tests of cells.
    pub(super) fn require_oldest(&mut self, channel: FixedChannel, patterns: &[Pattern]) -> Result<(), CompileError> {
        for (field, pattern) in patterns.iter().enumerate() {
            let Pattern::Match(expected) = pattern else { continue };
            let slot = self.oldest_field(channel, field);
            if let Some(value) = constant_of(expected)
                && let Some(test) = self.slot_test(&slot, value, value, true)
            {
                self.require_test(test)?;
                continue;
            }
            self.value(expected, 0)?;
            self.load(&slot, 1)?;
            self.emit(Op::RequireEqual { x: 0, with: 1 })?;
        }
        Ok(())
    }

    pub(super) fn oldest_field(&self, channel: FixedChannel, field: usize) -> Slot {
        let layout = &self.program.layout.channels[usize::from(channel.kind)];
        let mut slot = layout.fields[field].slot;
        slot.cell.base = channel.base;
        slot.cell.offset += channel.offset + layout.first_message();
        slot
    }

    /// A communication through a buffer that can happen.
    pub(super) fn communicate(&mut self, communication: &Communication) -> Result<(), CompileError> {
        match communication {
            Communication::Send { channel, values, sorted } => {
                self.open(channel, 0, 1)?;
                self.send(values, *sorted)
            }
            Communication::Receive { channel, patterns, anywhere, keep } => {
                let simple = self.system.monitor.is_none() && !anywhere;
                if let (true, Some(fixed)) = (simple, self.fixed_channel(channel)) {
                    let layout = &self.program.layout.channels[usize::from(fixed.kind)];
                    let named = if *keep {
                        patterns.len() <= layout.fields.len()
                    } else {
                        patterns.len() == layout.fields.len()
                    };
                    if layout.capacity > 0 && named {
                        return self.receive_oldest(fixed, patterns, *keep);
                    }
                }
                self.open(channel, 0, 1)?;
                let position = if *anywhere {
                    self.constant(0, 2)?;
                    let none = self.find(0, 2, patterns, true, 3)?;
                    self.or_trap(none, Fault::Blocked)?;
                    2
                } else {
                    ZERO
                };
                self.receive(patterns, *keep, position)
            }
        }
    }

    /// Jumps that end in a fault; without it the code goes on.
    pub(super) fn or_trap(&mut self, jumps: Vec<usize>, fault: Fault) -> Result<(), CompileError> {
        let end = self.emit(Op::Jump { to: NOWHERE })?;
        self.patch_here(&jumps);
        self.trap(fault)?;
        self.patch_here(&[end]);
        Ok(())
    }

    /// Into the channel in register 0 with the handle in register 1.
    pub(super) fn send(&mut self, values: &[Expr], sorted: bool) -> Result<(), CompileError> {
        self.emit(Op::Arity { channel: 0, given: values.len() as u16, exact: true })?;
        for (field, value) in values.iter().enumerate() {
            let to = self.register(2 + field)?;
            self.value(value, to)?;
            // A value that its field refuses is a fault before the next value is looked at.
            if values[field + 1..].iter().any(|later| self.may_fault(later)) {
                self.emit(Op::FitField { to, channel: 0, field: field as u16 })?;
            }
        }
        self.register(2 + values.len())?;
        self.emit(Op::Send { channel: 0, handle: 1, first: 2, sorted })?;
        Ok(())
    }

    pub(super) fn receive(&mut self, patterns: &[Pattern], keep: bool, position: Register) -> Result<(), CompileError> {
        if !keep {
            self.emit(Op::Arity { channel: 0, given: patterns.len() as u16, exact: true })?;
        }
        self.emit(Op::Peek { channel: 0, position })?;
        self.bind_received(patterns, 3)?;
        if !keep {
            self.emit(Op::Remove { channel: 0, handle: 1, position })?;
        }
        Ok(())
    }

    /// The fields of the message received go where the patterns say.
    pub(super) fn bind_received(&mut self, patterns: &[Pattern], free: Register) -> Result<(), CompileError> {
        for (field, pattern) in patterns.iter().enumerate() {
            let Pattern::Bind(place) = pattern else { continue };
            let field = field_number(field)?;
            if let Ok(Resolved::Slot(slot)) = self.resolve(place, self.owner)
                && slot.wraps_by_itself()
            {
                self.emit(Op::Bind { field, cell: slot.cell })?;
                continue;
            }
            self.emit(Op::Offered { to: free, field })?;
            self.store(place, free, Interval::ALL)?;
        }
        Ok(())
    }

    /// The oldest message of a known channel: no need to copy it out first.
    pub(super) fn receive_oldest(
        &mut self,
        channel: FixedChannel,
        patterns: &[Pattern],
        keep: bool,
    ) -> Result<(), CompileError> {
        for (field, pattern) in patterns.iter().enumerate() {
            let Pattern::Bind(place) = pattern else { continue };
            let from = self.oldest_field(channel, field);
            if let Ok(Resolved::Slot(slot)) = self.resolve(place, self.owner)
                && (from.low, slot.low) == (0, 0)
                && (slot.wraps_by_itself() || slot.values.contains(from.values))
            {
                self.emit(Op::Move { from: from.cell, to: slot.cell })?;
                continue;
            }
            let values = self.load(&from, 0)?;
            self.store(place, 0, values)?;
        }
        if !keep {
            self.emit(Op::Fixed { to: 0, base: channel.base, kind: channel.kind, offset: channel.offset })?;
            self.emit(Op::Remove { channel: 0, handle: 0, position: ZERO })?;
        }
        Ok(())
    }
}

/// The number of messages of a channel, as a slot.
pub(super) fn length_slot(channel: FixedChannel, layout: &ChannelLayout) -> Slot {
    Slot {
        cell: Cell::whole(channel.base, layout.length, channel.offset),
        low: 0,
        scalar: Scalar::BYTE,
        values: Interval { low: 0, high: i64::from(layout.capacity) },
    }
}

pub(super) fn field_number(field: usize) -> Result<u8, CompileError> {
    let limit = FIELDS;
    if field < limit { Ok(field as u8) } else { Err(CompileError::TooMany { what: "fields of a message", limit }) }
}
