//! Shared expressions: code that stands once, and values that are computed once.
//!
//! An expression that stands in several places of what is compiled has code of its own, behind the code of those who use
//! it. [`Op::Share`] asks for its value, and only who asks first has it computed. So it does not matter on which ways
//! through conditions, `&&` and `||` it is asked for, and a fault comes up where it always did. How long values are
//! remembered is up to [`Op::Fresh`]; in a joint step it is as long as no choice is made anew.
//!
//! The graph of a circuit is deeper than calls can be nested. So one that stands in one place only has code of its own, too,
//! if it stands deep, and what is to be known of all parts of a deep one is found out along a list, innermost first.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use ample_model::visit::{MAX_RECURSION, Visitor, innermost_first};
use ample_model::{Expr, Shared};

use super::Compiler;
use super::joint::Reads;
use super::survey::MAX_NESTING;
use crate::compile::CompileError;
use crate::compile::bytecode::{NOWHERE, Op, Pc, REGISTERS, Register};
use crate::compile::layout::Interval;

/// A shared expression by its address, and whose values it reads.
type Key = (usize, Reads);

/// The shared expressions of the code that is being made.
#[derive(Default)]
pub(super) struct Sharing {
    /// In how many places they stand.
    uses: HashMap<Key, u32>,
    /// The numbers of those that have code of their own.
    numbers: HashMap<Key, u32>,
    /// Those whose code is still to be made.
    open: Vec<(u32, Reads, Shared)>,
    /// What is being compiled was counted.
    is_counted: bool,
    /// How many levels of shared expressions there are around what is being compiled that have no code of their own.
    levels: u32,
    /// What is known of them without evaluating them, by the process type whose code it is.
    pub(super) known: RefCell<HashMap<(Key, Option<usize>), Known>>,
}

/// What is known of an expression without evaluating it.
#[derive(Clone, Copy, Default)]
pub(super) struct Known {
    pub(super) interval: Option<Interval>,
    pub(super) may_fault: Option<bool>,
}

/// Counts in how many places shared expressions stand.
struct Uses<'u> {
    uses: &'u mut HashMap<Key, u32>,
    reads: Reads,
}

impl<'a> Visitor<'a> for Uses<'_> {
    fn shared(&mut self, shared: &'a Shared) {
        innermost_first(shared, &mut |part| {
            let uses = self.uses.entry((part.address(), self.reads)).or_default();
            *uses += 1;
            *uses == 1
        });
    }
}

impl Compiler<'_> {
    /// Counts the shared expressions inside one that is going to be compiled.
    pub(super) fn count(&mut self, expr: &Expr, reads: Reads) {
        Uses { uses: &mut self.sharing.uses, reads }.expr(expr);
    }

    /// From here on what is compiled was counted.
    pub(super) fn begin_shared(&mut self) {
        self.sharing.is_counted = true;
    }

    /// Makes the code of the shared expressions that were asked for. What is compiled after it was not counted.
    pub(super) fn end_shared(&mut self) -> Result<(), CompileError> {
        let reads = self.reads;
        while let Some((number, reads, shared)) = self.sharing.open.pop() {
            self.reads = reads;
            self.program.shared[number as usize] = self.here();
            self.sharing.levels = 0;
            self.value(&shared, 0)?;
            self.emit(Op::Keep { shared: number })?;
        }
        self.reads = reads;
        self.sharing.uses.clear();
        self.sharing.numbers.clear();
        self.sharing.is_counted = false;
        Ok(())
    }

    /// Some expression that was counted has code of its own.
    fn has_shared(&self) -> bool {
        self.sharing.uses.values().any(|uses| *uses > 1)
    }

    /// It stands in one place only, or it is as quickly computed as looked up: its code stands where it is used.
    fn is_inline(&self, shared: &Shared) -> bool {
        let is_simple = matches!(&**shared, Expr::Const(_) | Expr::Read(_) | Expr::Next(_) | Expr::SelfId);
        let is_deep = self.sharing.levels + shared.local_height() >= MAX_NESTING as u32;
        is_simple || !is_deep && self.sharing.uses.get(&(shared.address(), self.reads)).is_none_or(|uses| *uses < 2)
    }

    /// Compiles a shared expression where it stands.
    pub(super) fn inline<T>(
        &mut self,
        shared: &Shared,
        compile: impl FnOnce(&mut Self) -> Result<T, CompileError>,
    ) -> Result<T, CompileError> {
        let levels = self.sharing.levels;
        self.sharing.levels += shared.local_height() + 1;
        let compiled = compile(self);
        self.sharing.levels = levels;
        compiled
    }

    /// Nothing inside it has code of its own, and neither has it.
    pub(super) fn is_plain(&mut self, shared: &Shared) -> bool {
        if self.sharing.is_counted {
            return self.is_inline(shared);
        }
        if !shared.is_nested() || shared.height() > MAX_NESTING as u32 {
            return !shared.is_nested();
        }
        self.count(shared, self.reads);
        let is_plain = !self.has_shared();
        self.sharing.uses.clear();
        is_plain
    }

    /// The value of a shared expression.
    pub(super) fn shared(&mut self, shared: &Shared, to: Register) -> Result<Interval, CompileError> {
        if self.sharing.is_counted {
            let is_inline = self.is_inline(shared) && usize::from(to) < REGISTERS / 2;
            return match is_inline {
                true => self.inline(shared, |compiler| compiler.value(shared, to)),
                false => self.share(shared, to),
            };
        }
        if self.is_plain(shared) {
            return self.inline(shared, |compiler| compiler.value(shared, to));
        }
        self.count(shared, self.reads);
        self.begin_shared();
        self.emit(Op::Fresh)?;
        let values = self.value(shared, to)?;
        let end = self.emit(Op::Jump { to: NOWHERE })?;
        self.end_shared()?;
        self.patch_here(&[end]);
        Ok(values)
    }

    fn share(&mut self, shared: &Shared, to: Register) -> Result<Interval, CompileError> {
        let key = (shared.address(), self.reads);
        let number = match self.sharing.numbers.get(&key) {
            Some(number) => *number,
            None => {
                let number = self.program.shared.len() as u32;
                self.program.shared.push(NOWHERE);
                self.sharing.numbers.insert(key, number);
                self.sharing.open.push((number, self.reads, shared.clone()));
                number
            }
        };
        self.emit(Op::Share { to, shared: number })?;
        Ok(self.known_interval(shared))
    }

    /// A piece of code that leaves the value of the expression in register 0.
    pub(super) fn expression(&mut self, expr: &Expr) -> Result<Pc, CompileError> {
        let code = self.here();
        if self.sharing.is_counted {
            self.value(expr, 0)?;
            self.emit(Op::Done)?;
            return Ok(code);
        }
        self.count(expr, self.reads);
        if self.has_shared() {
            self.emit(Op::Fresh)?;
        }
        self.begin_shared();
        self.value(expr, 0)?;
        self.emit(Op::Done)?;
        self.end_shared()?;
        Ok(code)
    }

    /// The values that a shared expression can have.
    pub(super) fn known_interval(&self, shared: &Shared) -> Interval {
        let key = ((shared.address(), self.reads), self.owner);
        let known = self.sharing.known.borrow().get(&key).and_then(|known| known.interval);
        known.unwrap_or_else(|| {
            self.inside(
                shared,
                |known| known.interval.is_some(),
                |part| {
                    self.known_interval(part);
                },
            );
            let interval = self.interval(shared);
            self.sharing.known.borrow_mut().entry(key).or_default().interval = Some(interval);
            interval
        })
    }

    /// Can evaluating a shared expression be a fault?
    pub(super) fn shared_may_fault(&self, shared: &Shared) -> bool {
        let key = ((shared.address(), self.reads), self.owner);
        let known = self.sharing.known.borrow().get(&key).and_then(|known| known.may_fault);
        known.unwrap_or_else(|| {
            self.inside(
                shared,
                |known| known.may_fault.is_some(),
                |part| {
                    self.shared_may_fault(part);
                },
            );
            let may_fault = self.may_fault(shared);
            self.sharing.known.borrow_mut().entry(key).or_default().may_fault = Some(may_fault);
            may_fault
        })
    }

    /// Calls `find_out` for the shared expressions inside a deep one of which something is not known, innermost first.
    fn inside(&self, shared: &Shared, is_known: impl Fn(&Known) -> bool, find_out: impl Fn(&Shared)) {
        if shared.height() <= MAX_RECURSION {
            return;
        }
        let mut seen = HashSet::new();
        let mut parts = innermost_first(shared, &mut |part| {
            let key = ((part.address(), self.reads), self.owner);
            !self.sharing.known.borrow().get(&key).is_some_and(&is_known) && seen.insert(part.address())
        });
        parts.pop();
        parts.into_iter().for_each(find_out);
    }
}
