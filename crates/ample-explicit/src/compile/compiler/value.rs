//! Code that leaves the value of an expression in a register.

use ample_model::{BinaryOp, Expr, Fault, Place, Scalar, UnaryOp};

use super::Compiler;
use super::known::{accepted, chain, constant_of, constant_right, is_truth};
use super::place::Resolved;
use crate::compile::CompileError;
use crate::compile::bytecode::{NOWHERE, Op, Register, ZERO};
use crate::compile::layout::{Cell, Interval, Kind, Slot};

/// A test of a byte-sized cell.
pub(super) enum CellTest {
    Always(bool),
    In(Cell, i32, i32),
    NotIn(Cell, i32, i32),
}

impl Compiler<'_> {
    /// Code that leaves the value of `expr` in register `to`, using only registers from there on.
    pub(super) fn value(&mut self, expr: &Expr, to: Register) -> Result<Interval, CompileError> {
        match constant_of(expr) {
            Some(value) => self.constant(value, to),
            None => self.value_of(expr, to),
        }
    }

    pub(super) fn value_of(&mut self, expr: &Expr, to: Register) -> Result<Interval, CompileError> {
        match expr {
            Expr::Const(value) => self.constant(*value, to),
            Expr::Shared(x) => self.shared(x, to),
            Expr::Read(place) => self.read(place, to),
            Expr::Field(object, field) => self.load_field(object, field, to),
            Expr::Next(place) => self.read_next(place, to),
            Expr::Unary(op, x) => {
                let values = self.interval(expr);
                self.value(x, to)?;
                self.emit(match op {
                    UnaryOp::Negate => Op::Negate { to },
                    UnaryOp::Not => Op::Not { to },
                    UnaryOp::Complement => Op::Complement { to },
                })?;
                Ok(values)
            }
            Expr::Binary(op, x, y) => self.binary(*op, x, y, to),
            Expr::Cast(scalar, x) => {
                let from = self.value(x, to)?;
                self.cast(*scalar, from, to)
            }
            Expr::Conditional(c, x, y) => {
                let otherwise = self.jump_unless(c, to)?;
                let one = self.value(x, to)?;
                let end = self.emit(Op::Jump { to: NOWHERE })?;
                self.patch_here(&otherwise);
                let other = self.value(y, to)?;
                self.patch_here(&[end]);
                Ok(one.hull(other))
            }
            Expr::SelfId if self.owner.is_none() => {
                self.trap(Fault::NoProcess)?;
                Ok(Interval::ALL)
            }
            Expr::SelfId => self.whole(Op::SelfId { to }, expr),
            Expr::ProcessCount => self.whole(Op::ProcessCount { to }, expr),
            Expr::LastMover => match self.program.layout.last {
                Some(cell) => self.whole(Op::Byte { to, cell }, expr),
                None => self.constant(0, to),
            },
            Expr::Timeout => self.whole(Op::Timeout { to }, expr),
            Expr::Blocked(_) if self.owner.is_none() => {
                self.trap(Fault::NoProcess)?;
                Ok(Interval::BOOL)
            }
            Expr::Blocked(edges) => {
                let (bit, list) = self.list(edges)?;
                self.whole(Op::Blocked { to, bit, list }, expr)
            }
            Expr::Enabled(x) => {
                self.value(x, to)?;
                self.whole(Op::Enabled { to }, expr)
            }
            Expr::LocationOf(x) => {
                self.value(x, to)?;
                self.whole(Op::LocationOf { to }, expr)
            }
            Expr::Priority(x) => {
                self.value(x, to)?;
                self.whole(Op::Priority { to }, expr)
            }
            Expr::At { process, of, locations } => {
                let otherwise = self.subject(process.as_deref(), of.index(), to)?;
                let mut set = vec![0u64; self.system.process(*of).locations.len().div_ceil(64)];
                for location in locations {
                    let word = set.get_mut(location.index() / 64);
                    *word.ok_or(CompileError::Malformed("a location that does not exist"))? |=
                        1 << (location.index() % 64);
                }
                let index = self.program.location_sets.len() as u32;
                self.program.location_sets.push(set);
                self.emit(Op::StandsAt { to, set: index })?;
                self.or_zero(otherwise, to)?;
                Ok(Interval::BOOL)
            }
            Expr::Remote { process, of, place } => self.remote(process.as_deref(), of.index(), place, to),
            Expr::NonProgress => self.whole(Op::NonProgress { to }, expr),
            Expr::Accepting => self.whole(Op::Accepting { to }, expr),
            Expr::Length(channel) => self.length(channel, to),
            Expr::Full(channel) => self.full(channel, to),
            Expr::Poll { channel, patterns, anywhere } => self.poll(channel, patterns, *anywhere, to),
        }
    }

    pub(super) fn whole(&mut self, op: Op, expr: &Expr) -> Result<Interval, CompileError> {
        self.emit(op)?;
        Ok(self.interval(expr))
    }

    pub(super) fn subject(&mut self, process: Option<&Expr>, of: usize, to: Register) -> Result<usize, CompileError> {
        if of >= self.system.processes.len() {
            return Err(CompileError::Malformed("a process of no declared type"));
        }
        let of = of as u16;
        match process {
            Some(process) => {
                self.value(process, to)?;
                self.emit(Op::Subject { to, of, otherwise: NOWHERE })
            }
            None => self.emit(Op::FirstOf { to, of, otherwise: NOWHERE }),
        }
    }

    pub(super) fn or_zero(&mut self, otherwise: usize, to: Register) -> Result<(), CompileError> {
        let end = self.emit(Op::Jump { to: NOWHERE })?;
        self.patch_here(&[otherwise]);
        self.constant(0, to)?;
        self.patch_here(&[end]);
        Ok(())
    }

    pub(super) fn remote(
        &mut self,
        process: Option<&Expr>,
        of: usize,
        place: &Place,
        to: Register,
    ) -> Result<Interval, CompileError> {
        let otherwise = self.subject(process, of, to)?;
        let (slot, distance, limit) = match self.resolve(place, Some(of))? {
            Resolved::Slot(slot) => (slot, ZERO, 0),
            Resolved::Indexed { first, steps, limit } => {
                let distance = self.after(to)?;
                self.distance(&place.indices, &steps, distance)?;
                (first, distance, limit)
            }
        };
        self.emit(Op::LoadRemote { to, distance, of: of as u16, cell: slot.cell, limit })?;
        self.shift_by(to, slot.low)?;
        self.or_zero(otherwise, to)?;
        Ok(slot.values.hull(Interval::of(0)))
    }

    pub(super) fn cast(&mut self, scalar: Scalar, from: Interval, to: Register) -> Result<Interval, CompileError> {
        let values = Interval::of_scalar(scalar);
        if values.contains(from) {
            return Ok(from);
        }
        let op = match scalar {
            Scalar::Int { bits: 32, signed: true } => Op::Int { to },
            Scalar::Int { bits, signed } => Op::Wrap { to, shift: 64 - bits, signed },
            Scalar::Enumeration(_) | Scalar::Channel | Scalar::Process => Op::Wrap { to, shift: 56, signed: false },
            Scalar::Range { .. } => {
                let index = self.program.scalars.len() as u32;
                self.program.scalars.push(scalar);
                Op::Fit { to, scalar: index }
            }
            Scalar::Reference(_) | Scalar::Unbounded => return Ok(from),
        };
        self.emit(op)?;
        Ok(values)
    }

    pub(super) fn binary(&mut self, op: BinaryOp, x: &Expr, y: &Expr, to: Register) -> Result<Interval, CompileError> {
        match op {
            BinaryOp::And | BinaryOp::Or => {
                let mut parts = chain(op, x);
                parts.extend(chain(op, y));
                let last = parts.len() - 1;
                let mut decided = Vec::with_capacity(last);
                for (number, part) in parts.into_iter().enumerate() {
                    let values = self.value(part, to)?;
                    if number == last || op == BinaryOp::Or {
                        self.truth(values, to)?;
                    }
                    if number < last {
                        decided.push(self.emit(match op {
                            BinaryOp::And => Op::JumpIfZero { test: to, to: NOWHERE },
                            _ => Op::JumpIfNotZero { test: to, to: NOWHERE },
                        })?);
                    }
                }
                self.patch_here(&decided);
                Ok(Interval::BOOL)
            }
            op if is_truth(op) => self.comparison(op, x, y, to),
            op => self.arithmetic(op, x, y, to),
        }
    }

    pub(super) fn truth(&mut self, values: Interval, to: Register) -> Result<(), CompileError> {
        if !Interval::BOOL.contains(values) {
            self.emit(Op::Truth { to })?;
        }
        Ok(())
    }

    pub(super) fn arithmetic(
        &mut self,
        op: BinaryOp,
        x: &Expr,
        y: &Expr,
        to: Register,
    ) -> Result<Interval, CompileError> {
        let left = self.value(x, to)?;
        let small = constant_of(y).and_then(|c| i32::try_from(c).ok()).filter(|c| *c != i32::MIN);
        if let (Some(value), BinaryOp::Add | BinaryOp::Subtract) = (small, op)
            && let Some(values) = self.exact_interval(op, left, Interval::of(value.into()))
        {
            let value = if op == BinaryOp::Add { value } else { -value };
            self.emit(Op::AddConst { to, value })?;
            return Ok(values);
        }
        let with = self.after(to)?;
        let right = self.value(y, with)?;
        let values = self.exact_interval(op, left, right);
        let code = match (op, values) {
            (BinaryOp::Add, Some(_)) => Op::Add { to, with },
            (BinaryOp::Subtract, Some(_)) => Op::Sub { to, with },
            (BinaryOp::Multiply, Some(_)) => Op::Mul { to, with },
            (BinaryOp::Add, None) => Op::AddChecked { to, with },
            (BinaryOp::Subtract, None) => Op::SubChecked { to, with },
            (BinaryOp::Multiply, None) => Op::MulChecked { to, with },
            (BinaryOp::Divide, _) => Op::Div { to, with },
            (BinaryOp::Remainder, _) => Op::Rem { to, with },
            (BinaryOp::BitAnd, _) => Op::BitAnd { to, with },
            (BinaryOp::BitOr, _) => Op::BitOr { to, with },
            (BinaryOp::BitXor, _) => Op::BitXor { to, with },
            (BinaryOp::ShiftLeft, _) => Op::Shl { to, with },
            _ => Op::Shr { to, with },
        };
        self.emit(code)?;
        Ok(values.unwrap_or(Interval::ALL))
    }

    pub(super) fn comparison(
        &mut self,
        op: BinaryOp,
        x: &Expr,
        y: &Expr,
        to: Register,
    ) -> Result<Interval, CompileError> {
        let (op, x, y) = constant_right(op, x, y);
        if let Some(test) = self.cell_test(op, x, y) {
            self.emit(match test {
                CellTest::Always(value) => Op::Const { to, value: value.into() },
                CellTest::In(cell, low, high) => Op::ByteIn { to, cell, low, high },
                CellTest::NotIn(cell, low, high) => Op::ByteNotIn { to, cell, low, high },
            })?;
            return Ok(Interval::BOOL);
        }
        if let Some((low, high, inside)) = self.value_test(op, x, y) {
            self.value(x, to)?;
            self.emit(if inside { Op::In { to, low, high } } else { Op::NotIn { to, low, high } })?;
            return Ok(Interval::BOOL);
        }
        let with = self.after(to)?;
        self.value(x, to)?;
        self.value(y, with)?;
        match op {
            BinaryOp::Equal => self.emit(Op::Equal { to, with })?,
            BinaryOp::NotEqual => self.emit(Op::NotEqual { to, with })?,
            BinaryOp::Less => self.emit(Op::Less { to, with })?,
            BinaryOp::LessEqual => self.emit(Op::LessEqual { to, with })?,
            BinaryOp::Greater => {
                self.emit(Op::LessEqual { to, with })?;
                self.emit(Op::Not { to })?
            }
            _ => {
                self.emit(Op::Less { to, with })?;
                self.emit(Op::Not { to })?
            }
        };
        Ok(Interval::BOOL)
    }

    /// A comparison of a byte-sized cell with a constant.
    pub(super) fn cell_test(&self, op: BinaryOp, x: &Expr, y: &Expr) -> Option<CellTest> {
        let slot = self.plain_slot(x)?;
        let (low, high, inside) = accepted(op, constant_of(y)?);
        self.slot_test(&slot, low, high, inside)
    }

    pub(super) fn slot_test(&self, slot: &Slot, low: i64, high: i64, inside: bool) -> Option<CellTest> {
        if slot.cell.kind != Kind::Bits {
            return None;
        }
        let (low, high) = (low.max(slot.values.low), high.min(slot.values.high));
        if low > high {
            return Some(CellTest::Always(!inside));
        }
        let (low, high) = (low.checked_sub(slot.low)?, high.checked_sub(slot.low)?);
        let (low, high) = (i32::try_from(low).ok()?, i32::try_from(high).ok()?);
        Some(if inside { CellTest::In(slot.cell, low, high) } else { CellTest::NotIn(slot.cell, low, high) })
    }

    /// A comparison of a value that fits 32 bits with a constant, as a test of an interval.
    pub(super) fn value_test(&self, op: BinaryOp, x: &Expr, y: &Expr) -> Option<(i32, i32, bool)> {
        let (low, high, inside) = accepted(op, constant_of(y)?);
        let values = self.interval(x);
        if !Interval::of_scalar(Scalar::INT).contains(values) {
            return None;
        }
        let (low, high) = (low.max(i64::from(i32::MIN)), high.min(i64::from(i32::MAX)));
        if low > high {
            return None;
        }
        Some((low as i32, high as i32, inside))
    }
}
