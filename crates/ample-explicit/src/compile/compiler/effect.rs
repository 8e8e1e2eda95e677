//! Effects: instructions, actions, assignments.

use ample_model::{Action, BinaryOp, Communication, Expr, Fault, Instruction, Place, Scalar, Scope};

use super::Compiler;
use super::known::constant_of;
use super::place::{Resolved, single};
use crate::compile::CompileError;
use crate::compile::bytecode::{NOWHERE, Op, REGISTERS, Register};
use crate::compile::layout::{Interval, Kind, Slot};

impl Compiler<'_> {
    pub(super) fn effect(&mut self, program: &[Instruction]) -> Result<(), CompileError> {
        let target = |i: &Instruction| match i {
            Instruction::Try(_, to) | Instruction::Jump(to) => Some(*to as usize),
            _ => None,
        };
        let loops = program.iter().enumerate().any(|(at, i)| target(i).is_some_and(|to| to <= at));
        let mut starts = Vec::with_capacity(program.len());
        let mut jumps: Vec<(usize, usize)> = Vec::new();
        let mut stuck = Vec::new();
        for instruction in program {
            starts.push(self.here());
            if loops {
                self.emit(Op::Tick)?;
            }
            match instruction {
                Instruction::Do(action) => {
                    stuck.extend(self.act(action)?);
                }
                Instruction::Try(action, to) => {
                    let blocked = self.act(action)?;
                    jumps.extend(blocked.into_iter().map(|jump| (jump, *to as usize)));
                }
                Instruction::Jump(to) => jumps.push((self.emit(Op::Jump { to: NOWHERE })?, *to as usize)),
                Instruction::Fail(message) => self.trap(Fault::Fail(message.clone()))?,
            }
        }
        let end = self.here();
        self.emit(Op::Done)?;
        for (jump, to) in jumps {
            self.patch(jump, starts.get(to).copied().unwrap_or(end));
        }
        if !stuck.is_empty() {
            self.patch_here(&stuck);
            self.trap(Fault::Blocked)?;
        }
        Ok(())
    }

    /// An action; the jumps that are returned are taken if it is not executable.
    pub(super) fn act(&mut self, action: &Action) -> Result<Vec<usize>, CompileError> {
        match action {
            Action::Test(condition) => return self.jump_unless(condition, 0),
            Action::Assign(place, value) => self.assign(place, value)?,
            Action::AssignAll(pairs) => self.assign_all(pairs)?,
            Action::AssignField(parts) => {
                let (object, field, value) = &**parts;
                self.store_field(object, field, value)?;
            }
            Action::Allocate(place, record) => {
                let object = self.object_place(*record)?;
                self.emit(Op::Allocate { to: 0, object })?;
                self.store(place, 0, Interval { low: 0, high: self.program.layout.heap.most.into() })?;
            }
            Action::Communicate(communication) => return self.try_communicate(communication),
            Action::Spawn { process, arguments, priority } => {
                let ty = self.system.processes.get(process.index());
                let ty = ty.ok_or(CompileError::Malformed("a process of no declared type"))?;
                if arguments.len() > REGISTERS {
                    return Err(CompileError::TooMany { what: "parameters of a process", limit: REGISTERS });
                }
                for (number, argument) in arguments.iter().enumerate() {
                    let to = self.register(number)?;
                    self.value(argument, to)?;
                }
                self.emit(Op::Spawn { process: process.index() as u16, priority: priority.unwrap_or(ty.priority) })?;
            }
            Action::Assert { condition, text } => {
                if constant_of(condition).is_none_or(|value| value == 0) {
                    self.value(condition, 0)?;
                    let index = self.program.texts.len() as u32;
                    self.program.texts.push(text.clone());
                    self.emit(Op::Assert { test: 0, text: index })?;
                }
            }
            Action::Print { format, arguments } => {
                for argument in arguments.iter().take(conversions(format)) {
                    if self.may_fault(argument) {
                        self.value(argument, 0)?;
                    }
                }
            }
            Action::SetPriority(process, priority) => {
                self.value(process, 0)?;
                self.value(priority, 1)?;
                self.emit(Op::SetPriority { process: 0, priority: 1 })?;
            }
            Action::End => {
                self.emit(Op::IsYoungest { to: 0 })?;
                let jump = self.emit(Op::JumpIfZero { test: 0, to: NOWHERE })?;
                self.emit(Op::End)?;
                return Ok(vec![jump]);
            }
        }
        Ok(Vec::new())
    }

    pub(super) fn try_communicate(&mut self, communication: &Communication) -> Result<Vec<usize>, CompileError> {
        self.open(communication.channel(), 0, 1)?;
        self.emit(Op::NoHandshake { channel: 0, polls: communication.keeps() })?;
        match communication {
            Communication::Send { values, sorted, .. } => {
                self.emit(Op::HasRoom { to: 2, channel: 0 })?;
                let full = self.emit(Op::JumpIfZero { test: 2, to: NOWHERE })?;
                self.send(values, *sorted)?;
                Ok(vec![full])
            }
            Communication::Receive { patterns, anywhere, keep, .. } => {
                self.constant(0, 2)?;
                let none = self.find(0, 2, patterns, *anywhere, 3)?;
                self.receive(patterns, *keep, 2)?;
                Ok(none)
            }
        }
    }

    pub(super) fn assign(&mut self, place: &Place, value: &Expr) -> Result<(), CompileError> {
        let Ok(Resolved::Slot(slot)) = self.resolve(place, self.owner) else {
            let values = self.value(value, 0)?;
            return self.store(place, 0, values);
        };
        if let Some(constant) = constant_of(value) {
            return match slot.scalar.fit(constant) {
                Some(kept) => self.store_constant(&slot, kept),
                None => self.trap(Fault::OutOfRange { value: constant }),
            };
        }
        let value = if slot.wraps_by_itself() { self.without_casts(value, &slot) } else { value };
        if let Some(step) = self.step_of(value, &slot) {
            self.emit(Op::Bump { cell: slot.cell, value: step })?;
            return Ok(());
        }
        if let Some(from) = self.plain_slot(value)
            && (from.low, slot.low) == (0, 0)
            && (slot.wraps_by_itself() || slot.values.contains(from.values))
        {
            self.emit(Op::Move { from: from.cell, to: slot.cell })?;
            return Ok(());
        }
        let values = self.value(value, 0)?;
        self.fit_and_store(0, &slot, values)
    }

    /// All values and the distances of all subscripts in registers, before anything is stored.
    fn assign_all(&mut self, pairs: &[(Place, Expr)]) -> Result<(), CompileError> {
        let mut stores = Vec::with_capacity(pairs.len());
        let mut free = 0;
        for (place, value) in pairs {
            let from = self.register(free)?;
            if place.scope == Scope::Local && self.owner.is_none() {
                return self.trap(Fault::NoProcess);
            }
            let values = self.value(value, from)?;
            let resolved = self.resolve(place, self.owner)?;
            let (Resolved::Slot(first) | Resolved::Indexed { first, .. }) = &resolved;
            self.fit(from, first, values)?;
            free += 1;
            if let Resolved::Indexed { steps, .. } = &resolved {
                let distance = self.register(free)?;
                self.distance(&place.indices, steps, distance)?;
                free += 1;
            }
            stores.push((from, resolved));
        }
        for (from, resolved) in stores {
            match resolved {
                Resolved::Slot(slot) => self.emit(Op::Store { from, cell: slot.cell })?,
                Resolved::Indexed { first, limit, .. } => {
                    self.emit(Op::StoreTo { from, distance: self.after(from)?, cell: first.cell, limit })?
                }
            };
        }
        Ok(())
    }

    /// A cast to at least as many bits as the cell keeps does not matter.
    pub(super) fn without_casts<'e>(&self, value: &'e Expr, slot: &Slot) -> &'e Expr {
        match (value, slot.scalar) {
            (Expr::Cast(Scalar::Int { bits, .. }, x), Scalar::Int { bits: kept, .. }) if *bits >= kept => {
                self.without_casts(x, slot)
            }
            (Expr::Cast(Scalar::Int { bits, .. }, x), Scalar::Enumeration(_) | Scalar::Channel | Scalar::Process)
                if *bits >= 8 =>
            {
                self.without_casts(x, slot)
            }
            _ => value,
        }
    }

    /// `cell + step` for that very cell.
    pub(super) fn step_of(&self, value: &Expr, slot: &Slot) -> Option<i32> {
        let Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Subtract), x, y) = value else { return None };
        if !slot.wraps_by_itself() || slot.cell.kind == Kind::I64 {
            return None;
        }
        let (x, y) = if *op == BinaryOp::Add && constant_of(x).is_some() { (y, x) } else { (x, y) };
        if self.plain_slot(x)?.cell != slot.cell {
            return None;
        }
        let step = i32::try_from(constant_of(y)?).ok()?;
        if *op == BinaryOp::Add { Some(step) } else { step.checked_neg() }
    }

    pub(super) fn store_constant(&mut self, slot: &Slot, value: i64) -> Result<(), CompileError> {
        let Some(raw) = value.checked_sub(slot.low).and_then(|raw| i32::try_from(raw).ok()) else {
            self.constant(value, 0)?;
            return self.fit_and_store(0, slot, Interval::of(value));
        };
        if slot.cell.kind == Kind::Bits && slot.cell.mask == 0xff {
            self.emit(Op::SetByte { cell: slot.cell, value: raw as u8 })?;
        } else {
            self.emit(Op::Set { cell: slot.cell, value: raw })?;
        }
        Ok(())
    }

    pub(super) fn store(&mut self, place: &Place, from: Register, values: Interval) -> Result<(), CompileError> {
        if place.scope == Scope::Local && self.owner.is_none() {
            return self.trap(Fault::NoProcess);
        }
        match self.resolve(place, self.owner)? {
            Resolved::Slot(slot) => self.fit_and_store(from, &slot, values),
            Resolved::Indexed { first, steps, limit } => {
                self.fit(from, &first, values)?;
                let index = self.after(from)?;
                if let Some(array) = single(&first, &steps) {
                    self.value(&place.indices[steps[0].index].at, index)?;
                    self.emit(Op::StoreAt { from, index, array })?;
                } else {
                    self.distance(&place.indices, &steps, index)?;
                    self.emit(Op::StoreTo { from, distance: index, cell: first.cell, limit })?;
                }
                Ok(())
            }
        }
    }

    pub(super) fn fit_and_store(&mut self, from: Register, slot: &Slot, values: Interval) -> Result<(), CompileError> {
        self.fit(from, slot, values)?;
        self.emit(Op::Store { from, cell: slot.cell })?;
        Ok(())
    }

    /// The value as the slot's bytes will say it.
    pub(super) fn fit(&mut self, from: Register, slot: &Slot, values: Interval) -> Result<(), CompileError> {
        if slot.wraps_by_itself() {
            return Ok(());
        }
        self.cast(slot.scalar, values, from)?;
        self.shift_by(from, slot.low.wrapping_neg())
    }
}

/// How many arguments a format asks for.
fn conversions(format: &str) -> usize {
    let mut count = 0;
    let mut characters = format.chars().peekable();
    while let Some(c) = characters.next() {
        if c != '%' {
            continue;
        }
        match characters.peek() {
            Some('%') => {
                characters.next();
            }
            Some('d' | 'u' | 'x' | 'o' | 'c' | 'e') => {
                characters.next();
                count += 1;
            }
            _ => {}
        }
    }
    count
}
