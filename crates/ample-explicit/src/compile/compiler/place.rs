//! Cells: from a place to an offset, or to code that finds one.

use ample_model::{Expr, Fault, Index, Place, Scalar, Scope};

use super::Compiler;
use super::channel::length_slot;
use super::joint::{Reads, next_cell};
use super::known::constant_of;
use crate::compile::CompileError;
use crate::compile::bytecode::{Array, Op, Register};
use crate::compile::layout::{Interval, Kind, Slot};

/// A cell by the name of a place: at a known offset, or some steps away from one.
pub(super) enum Resolved {
    Slot(Slot),
    Indexed { first: Slot, steps: Vec<Step>, limit: u32 },
}

impl Resolved {
    /// The same of the next state.
    fn next(self) -> Resolved {
        match self {
            Resolved::Slot(slot) => Resolved::Slot(next_cell(slot)),
            Resolved::Indexed { first, steps, limit } => Resolved::Indexed { first: next_cell(first), steps, limit },
        }
    }
}

/// A subscript that is known only when the code runs.
pub(super) struct Step {
    pub(super) index: usize,
    pub(super) length: u32,
    pub(super) stride: u32,
}

impl Compiler<'_> {
    pub(super) fn resolve(&self, place: &Place, of: Option<usize>) -> Result<Resolved, CompileError> {
        let resolved = self.resolve_cell(place, of)?;
        if self.is_input(place) && place.scope == Scope::Global && self.reads != Reads::Step {
            return Err(CompileError::Malformed("an input outside of a step"));
        }
        Ok(if self.reads == Reads::NextState { resolved.next() } else { resolved })
    }

    /// The cell of the next state.
    pub(super) fn resolve_next(&self, place: &Place) -> Result<Resolved, CompileError> {
        if place.scope != Scope::Global || self.is_input(place) || self.reads != Reads::Step {
            return Err(CompileError::Malformed("a next value where there is none"));
        }
        self.resolve_cell(place, None).map(Resolved::next)
    }

    fn resolve_cell(&self, place: &Place, of: Option<usize>) -> Result<Resolved, CompileError> {
        let layouts = match (place.scope, of) {
            (Scope::Global, _) => &self.program.layout.globals,
            (Scope::Local, Some(process)) => &self.program.layout.segments[process].locals,
            (Scope::Local, None) => return Err(CompileError::Malformed("a local variable outside of its process")),
        };
        let outside = CompileError::Malformed("a place outside of its variable");
        let slots = &layouts.get(place.variable.index()).ok_or(outside)?.slots;
        resolve_among(slots, place.offset, &place.indices, place.scalar)
    }

    /// The distance that the subscripts make, in a register.
    pub(super) fn distance(&mut self, indices: &[Index], steps: &[Step], to: Register) -> Result<(), CompileError> {
        for (number, step) in steps.iter().enumerate() {
            let at = if number == 0 { to } else { self.after(to)? };
            self.value(&indices[step.index].at, at)?;
            self.emit(Op::Scale { to: at, length: step.length, stride: step.stride })?;
            if number > 0 {
                self.emit(Op::Add { to, with: at })?;
            }
        }
        Ok(())
    }

    pub(super) fn read(&mut self, place: &Place, to: Register) -> Result<Interval, CompileError> {
        if place.scope == Scope::Local && self.owner.is_none() {
            self.trap(Fault::NoProcess)?;
            return Ok(Interval::ALL);
        }
        let resolved = self.resolve(place, self.owner)?;
        self.read_resolved(place, resolved, to)
    }

    /// The value of a cell in the next state.
    pub(super) fn read_next(&mut self, place: &Place, to: Register) -> Result<Interval, CompileError> {
        let resolved = self.resolve_next(place)?;
        self.read_resolved(place, resolved, to)
    }

    fn read_resolved(&mut self, place: &Place, resolved: Resolved, to: Register) -> Result<Interval, CompileError> {
        match resolved {
            Resolved::Slot(slot) => self.load(&slot, to),
            Resolved::Indexed { first, steps, limit } => {
                match single(&first, &steps) {
                    Some(array) => {
                        self.value(&place.indices[steps[0].index].at, to)?;
                        let op = match array.kind {
                            Kind::Bits => Op::ByteAt { to, index: to, array },
                            _ => Op::LoadAt { to, index: to, array },
                        };
                        self.emit(op)?;
                    }
                    None => {
                        self.distance(&place.indices, &steps, to)?;
                        self.emit(Op::LoadFrom { to, distance: to, cell: first.cell, limit })?;
                    }
                }
                self.shift_by(to, first.low)?;
                Ok(first.values)
            }
        }
    }

    pub(super) fn load(&mut self, slot: &Slot, to: Register) -> Result<Interval, CompileError> {
        let op = match slot.cell.kind {
            Kind::Bits => Op::Byte { to, cell: slot.cell },
            _ => Op::Load { to, cell: slot.cell },
        };
        self.emit(op)?;
        self.shift_by(to, slot.low)?;
        Ok(slot.values)
    }

    /// The slot that an expression just reads, if that is all it does.
    pub(super) fn plain_slot(&self, expr: &Expr) -> Option<Slot> {
        match expr {
            Expr::Read(place) if place.scope == Scope::Global || self.owner.is_some() => {
                match self.resolve(place, self.owner) {
                    Ok(Resolved::Slot(slot)) => Some(slot),
                    _ => None,
                }
            }
            Expr::Next(place) => match self.resolve_next(place) {
                Ok(Resolved::Slot(slot)) => Some(slot),
                _ => None,
            },
            Expr::Cast(scalar, x) => {
                let slot = self.plain_slot(x)?;
                Interval::of_scalar(*scalar).contains(slot.values).then_some(slot)
            }
            Expr::Length(channel) => {
                let channel = self.fixed_channel(channel)?;
                let layout = &self.program.layout.channels[usize::from(channel.kind)];
                (layout.capacity > 0).then(|| length_slot(channel, layout))
            }
            _ => None,
        }
    }
}

/// One subscript, and a stride that an instruction can hold.
pub(super) fn single(first: &Slot, steps: &[Step]) -> Option<Array> {
    let [step] = steps else { return None };
    let stride = u16::try_from(step.stride).ok()?;
    Some(Array { offset: first.cell.offset, length: step.length, stride, base: first.cell.base, kind: first.cell.kind })
}

/// The cell among these slots that an offset and subscripts name.
pub(super) fn resolve_among(
    slots: &[Slot],
    offset: u32,
    indices: &[Index],
    scalar: Scalar,
) -> Result<Resolved, CompileError> {
    let malformed = CompileError::Malformed("a place outside of its variable");
    let mut at = u64::from(offset);
    let mut steps = Vec::new();
    for (number, index) in indices.iter().enumerate() {
        match constant_of(&index.at) {
            Some(value) if (0..i64::from(index.length)).contains(&value) => {
                at += value as u64 * u64::from(index.stride);
            }
            _ => steps.push((number, index.length, index.stride)),
        }
    }
    let slot_at = |at: u64| usize::try_from(at).ok().and_then(|at| slots.get(at)).copied();
    let first = slot_at(at).ok_or(malformed.clone())?;
    if first.scalar != scalar {
        return Err(CompileError::Malformed("a place of another type than its variable"));
    }
    if steps.is_empty() {
        return Ok(Resolved::Slot(first));
    }
    let mut resolved = Vec::new();
    let (mut last, mut limit) = (at, 0u32);
    for (index, length, stride) in steps {
        // Elements look alike: the distance of the first two is the distance of any two neighbours.
        let bytes = match length {
            0 | 1 => 0,
            _ => {
                let second = slot_at(at + u64::from(stride)).ok_or(malformed.clone())?;
                second.cell.offset.checked_sub(first.cell.offset).ok_or(malformed.clone())?
            }
        };
        last += u64::from(stride) * u64::from(length.saturating_sub(1));
        limit = limit.saturating_add(bytes.saturating_mul(length.saturating_sub(1)));
        resolved.push(Step { index, length, stride: bytes });
    }
    let end = slot_at(last).ok_or(malformed.clone())?;
    if u64::from(end.cell.offset) != u64::from(first.cell.offset) + u64::from(limit)
        || end.scalar != first.scalar
        || first.cell.mask != 0xff
    {
        return Err(malformed);
    }
    Ok(Resolved::Indexed { first, steps: resolved, limit })
}
