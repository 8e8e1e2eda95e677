//! Objects: finding them, and the cells inside them.

use ample_model::{Expr, Field, RecordId};

use super::Compiler;
use super::place::{Resolved, resolve_among};
use crate::compile::CompileError;
use crate::compile::bytecode::{Op, Register, ZERO};
use crate::compile::layout::{Interval, Slot};

impl Compiler<'_> {
    /// The place of a record type among those of objects.
    pub(super) fn object_place(&self, record: RecordId) -> Result<u16, CompileError> {
        let place = self.program.layout.heap.place_of(record);
        place.ok_or(CompileError::Malformed("an object that nothing can refer to"))
    }

    /// Finds the object, whose offset is in `to` afterwards, and the distance of the cell in it.
    fn find_cell(&mut self, object: &Expr, field: &Field, to: Register) -> Result<(Slot, Register, u32), CompileError> {
        let place = self.object_place(field.record)?;
        let slots = &self.program.layout.heap.objects[usize::from(place)].slots;
        let resolved = resolve_among(slots, field.offset, &field.indices, field.scalar)?;
        self.value(object, to)?;
        self.emit(Op::Object { to, from: to, object: place })?;
        match resolved {
            Resolved::Slot(slot) => Ok((slot, ZERO, 0)),
            Resolved::Indexed { first, steps, limit } => {
                let distance = self.after(to)?;
                self.distance(&field.indices, &steps, distance)?;
                Ok((first, distance, limit))
            }
        }
    }

    /// The value of a cell of an object.
    pub(super) fn load_field(&mut self, object: &Expr, field: &Field, to: Register) -> Result<Interval, CompileError> {
        let (slot, distance, limit) = self.find_cell(object, field, to)?;
        self.emit(Op::LoadField { to, object: to, distance, cell: slot.cell, limit })?;
        self.shift_by(to, slot.low)?;
        Ok(slot.values)
    }

    /// Stores a value in a cell of an object.
    pub(super) fn store_field(&mut self, object: &Expr, field: &Field, value: &Expr) -> Result<(), CompileError> {
        let values = self.value(value, 0)?;
        let place = self.object_place(field.record)?;
        let slots = &self.program.layout.heap.objects[usize::from(place)].slots;
        let (Resolved::Slot(slot) | Resolved::Indexed { first: slot, .. }) =
            resolve_among(slots, field.offset, &field.indices, field.scalar)?;
        self.fit(0, &slot, values)?;
        let (slot, distance, limit) = self.find_cell(object, field, 1)?;
        self.emit(Op::StoreField { from: 0, object: 1, distance, cell: slot.cell, limit })?;
        Ok(())
    }
}
