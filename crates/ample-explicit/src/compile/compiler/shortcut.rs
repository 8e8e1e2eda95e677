//! Shortcuts: what most guards and effects begin with, and often end with, is done without the evaluator.

use super::Compiler;
use crate::compile::bytecode::{NO_BIT, NOWHERE, Op, Pc};
use crate::compile::layout::{Cell, Kind};
use crate::compile::program::{EdgeCode, FirstStep, FirstTest};

impl Compiler<'_> {
    /// Gives an edge its guard, the beginning of it as a shortcut if that is possible.
    pub(super) fn set_guard(&mut self, edge: usize, guard: Pc) {
        let code = &mut self.program.edges[edge];
        code.guard = guard;
        code.unblocked = guard;
        match self.program.ops.get(guard as usize..) {
            Some([Op::RequireBlocked { bit, .. }, rest, ..]) if *bit != NO_BIT => {
                code.blocked = *bit;
                code.unblocked = if matches!(rest, Op::Yes) { NOWHERE } else { guard + 1 };
            }
            Some([first, rest, ..]) => {
                let Some(test) = test_of(first) else { return };
                code.first = test;
                code.guard = if matches!(rest, Op::Yes) { NOWHERE } else { guard + 1 };
                code.unblocked = code.guard;
            }
            _ => {}
        }
    }

    /// Gives an edge its effect, the first step of it as a shortcut if that is possible.
    pub(super) fn set_effect(&mut self, edge: usize, effect: Pc) {
        let code: &mut EdgeCode = &mut self.program.edges[edge];
        code.effect = effect;
        match self.program.ops.get(effect as usize..) {
            Some([Op::Done, ..]) => code.effect = NOWHERE,
            Some([first, rest, ..]) => {
                let Some(step) = step_of(first) else { return };
                code.step = step;
                code.effect = if matches!(rest, Op::Done) { NOWHERE } else { effect + 1 };
            }
            _ => {}
        }
    }
}

fn test_of(op: &Op) -> Option<FirstTest> {
    let (Op::RequireByteIn { cell, low, high } | Op::RequireByteNotIn { cell, low, high }) = op else { return None };
    let (low, high) = (u8::try_from(*low).ok()?, u8::try_from(*high).ok()?);
    let inside = matches!(op, Op::RequireByteIn { .. });
    let Cell { offset, base, shift, mask, .. } = *cell;
    Some(FirstTest { offset, base, shift, mask, low, span: high.checked_sub(low)?, inside })
}

fn step_of(op: &Op) -> Option<FirstStep> {
    let (cell, keeps, value) = match op {
        Op::SetByte { cell, value } => (cell, false, *value),
        Op::Set { cell, value } => (cell, false, *value as u8),
        Op::Bump { cell, value } => (cell, true, *value as u8),
        _ => return None,
    };
    let Cell { offset, base, kind, shift, mask } = *cell;
    let keep = if keeps { mask } else { 0 };
    (kind == Kind::Bits).then_some(FirstStep { offset, base, shift, mask, keep, value })
}
