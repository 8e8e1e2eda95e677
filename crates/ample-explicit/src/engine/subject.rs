//! What is checked: a system, and its code, which is made when it is first needed and shared by all searches of a check.

use std::ops::Deref;
use std::sync::OnceLock;

use ample_model::{Budget, Expr, System};

use crate::compile::{CompileError, Compiled, CompiledSystem};

/// A system that is compiled at most once.
pub struct Subject<'a> {
    system: &'a System,
    /// Of the whole check: no search that has less time compiles in the place of others.
    budget: Budget,
    compiled: OnceLock<Result<CompiledSystem<'a>, CompileError>>,
}

impl<'a> Subject<'a> {
    /// A system that is checked within a budget.
    pub fn new(system: &'a System, budget: &Budget) -> Subject<'a> {
        Subject { system, budget: budget.clone(), compiled: OnceLock::new() }
    }

    /// The compiled system.
    pub fn compiled(&self) -> Result<&CompiledSystem<'a>, CompileError> {
        self.compiled.get_or_init(|| CompiledSystem::new(self.system, &self.budget)).as_ref().map_err(Clone::clone)
    }

    /// A state space for a search that looks at these expressions.
    pub fn space(&self, expressions: &[Expr], budget: &Budget) -> Result<Compiled, CompileError> {
        self.compiled()?.space(expressions, budget)
    }
}

impl Deref for Subject<'_> {
    type Target = System;

    fn deref(&self) -> &System {
        self.system
    }
}
