//! Code that goes on only if an expression holds: guards, and branches of effects.

use ample_model::{BinaryOp, EdgeId, Expr, UnaryOp};

use super::channel::length_slot;
use super::known::{chain, constant_of, constant_right, is_comparison, opposite};
use super::value::CellTest;
use super::{Compiler, MAX_LISTS};
use crate::compile::CompileError;
use crate::compile::bytecode::{NO_BIT, NOWHERE, Op, Register};
use crate::compile::layout::Interval;

impl Compiler<'_> {
    /// The guard goes on only if the expression holds.
    pub(super) fn require(&mut self, expr: &Expr) -> Result<(), CompileError> {
        self.condition(expr, true)
    }

    /// The guard goes on only if the truth of the expression is the one wanted.
    pub(super) fn condition(&mut self, expr: &Expr, wanted: bool) -> Result<(), CompileError> {
        if let Some(value) = constant_of(expr) {
            if (value != 0) != wanted {
                self.emit(Op::No)?;
            }
            return Ok(());
        }
        match (expr, wanted) {
            (Expr::Binary(op @ BinaryOp::And, ..), true) | (Expr::Binary(op @ BinaryOp::Or, ..), false) => {
                return chain(*op, expr).into_iter().try_for_each(|part| self.condition(part, wanted));
            }
            (Expr::Unary(UnaryOp::Not, x), _) => return self.condition(x, !wanted),
            (Expr::Shared(x), _) if self.is_plain(x) => {
                return self.inline(x, |compiler| compiler.condition(x, wanted));
            }
            (Expr::Cast(scalar, x), _) if Interval::of_scalar(*scalar).contains(self.interval(x)) => {
                return self.condition(x, wanted);
            }
            (Expr::Binary(op, x, y), _) if is_comparison(*op) => {
                let op = if wanted { *op } else { opposite(*op) };
                return self.require_comparison(op, x, y);
            }
            (Expr::Timeout, true) => {
                self.emit(Op::RequireTimeout)?;
                return Ok(());
            }
            (Expr::Blocked(edges), true) if self.owner.is_some() => {
                let (bit, list) = self.list(edges)?;
                self.emit(Op::RequireBlocked { bit, list })?;
                return Ok(());
            }
            (Expr::Full(channel), _) => {
                if let Some(fixed) = self.fixed_channel(channel)
                    && let layout = &self.program.layout.channels[usize::from(fixed.kind)]
                    && layout.capacity > 0
                {
                    let slot = length_slot(fixed, layout);
                    let test = self.slot_test(&slot, i64::from(layout.capacity), i64::MAX, wanted);
                    if let Some(test) = test {
                        return self.require_test(test);
                    }
                }
            }
            _ => {}
        }
        if let Some(slot) = self.plain_slot(expr)
            && let Some(test) = self.slot_test(&slot, 0, 0, !wanted)
        {
            return self.require_test(test);
        }
        self.value(expr, 0)?;
        self.emit(if wanted { Op::Require { test: 0 } } else { Op::RequireNot { test: 0 } })?;
        Ok(())
    }

    pub(super) fn require_test(&mut self, test: CellTest) -> Result<(), CompileError> {
        match test {
            CellTest::Always(true) => {}
            CellTest::Always(false) => {
                self.emit(Op::No)?;
            }
            CellTest::In(cell, low, high) => {
                self.emit(Op::RequireByteIn { cell, low, high })?;
            }
            CellTest::NotIn(cell, low, high) => {
                self.emit(Op::RequireByteNotIn { cell, low, high })?;
            }
        }
        Ok(())
    }

    pub(super) fn require_comparison(&mut self, op: BinaryOp, x: &Expr, y: &Expr) -> Result<(), CompileError> {
        let (op, x, y) = constant_right(op, x, y);
        if let Some(test) = self.cell_test(op, x, y) {
            return self.require_test(test);
        }
        if self.value_test(op, x, y).is_some() || op == BinaryOp::NotEqual {
            self.comparison(op, x, y, 0)?;
            self.emit(Op::Require { test: 0 })?;
            return Ok(());
        }
        self.value(x, 0)?;
        self.value(y, 1)?;
        self.emit(match op {
            BinaryOp::Equal => Op::RequireEqual { x: 0, with: 1 },
            BinaryOp::Less => Op::RequireLess { x: 0, with: 1 },
            BinaryOp::LessEqual => Op::RequireLessEqual { x: 0, with: 1 },
            BinaryOp::Greater => Op::RequireLess { x: 1, with: 0 },
            _ => Op::RequireLessEqual { x: 1, with: 0 },
        })?;
        Ok(())
    }

    /// Jumps, still to be given a target, that are taken if the expression does not hold.
    pub(super) fn jump_unless(&mut self, expr: &Expr, to: Register) -> Result<Vec<usize>, CompileError> {
        if let Expr::Binary(BinaryOp::And, ..) = expr {
            let mut jumps = Vec::new();
            for part in chain(BinaryOp::And, expr) {
                jumps.extend(self.jump_unless(part, to)?);
            }
            return Ok(jumps);
        }
        match constant_of(expr) {
            Some(0) => Ok(vec![self.emit(Op::Jump { to: NOWHERE })?]),
            Some(_) => Ok(Vec::new()),
            None => {
                self.value(expr, to)?;
                Ok(vec![self.emit(Op::JumpIfZero { test: to, to: NOWHERE })?])
            }
        }
    }

    /// The bit and the number of a list of siblings.
    pub(super) fn list(&mut self, edges: &[EdgeId]) -> Result<(u8, u32), CompileError> {
        let position = |id: &EdgeId| self.siblings.iter().position(|sibling| sibling == id);
        let positions: Option<Vec<usize>> = edges.iter().map(position).collect();
        // Only what has been looked at already, in this order, can be read off a mask.
        let in_order = match (&positions, self.position) {
            (Some(positions), Some(before)) => {
                positions.windows(2).all(|w| w[0] < w[1]) && positions.iter().all(|at| *at < before)
            }
            _ => false,
        };
        let known = self.lists.iter().position(|(list, _)| list == edges);
        if let Some(bit) = known
            && self.position.is_some()
        {
            let number = self.lists[bit].1;
            return Ok((if in_order && bit < MAX_LISTS { bit as u8 } else { NO_BIT }, number));
        }
        let number = self.program.lists.len() as u32;
        let flat = edges.iter().map(|id| self.edge_number(*id)).collect::<Result<Vec<_>, _>>()?;
        self.program.lists.push(flat);
        if self.position.is_none() {
            return Ok((NO_BIT, number));
        }
        self.lists.push((edges.to_vec(), number));
        let bit = self.lists.len() - 1;
        Ok((if in_order && bit < MAX_LISTS { bit as u8 } else { NO_BIT }, number))
    }

    /// The number of an edge of the process at hand.
    pub(super) fn edge_number(&self, id: EdgeId) -> Result<u32, CompileError> {
        let malformed = CompileError::Malformed("an edge that leaves no location");
        let segment = &self.program.layout.segments[self.owner.ok_or(malformed.clone())?];
        let locations = &self.program.locations[segment.first_location as usize..][..segment.locations as usize];
        let (first, end) = match locations {
            [first, .., last] => (first.first_edge, last.end_edge),
            [only] => (only.first_edge, only.end_edge),
            [] => (0, 0),
        };
        (first..end).find(|at| self.program.edges[*at as usize].id == id.0).ok_or(malformed)
    }
}
