//! What is checked: a system, and its code, which is made when it is first needed and shared by all searches of a check.

use std::ops::Deref;
use std::sync::OnceLock;

use ample_model::{Budget, Expr, System};

use super::distributed::Searcher;
use super::options::Options;
use crate::compile::{CompileError, Compiled, CompiledSystem};

/// A system that is compiled at most once.
pub struct Subject<'a> {
    system: &'a System,
    /// Of the whole check: no search that has less time compiles in the place of others.
    budget: Budget,
    compiled: OnceLock<Result<CompiledSystem<'a>, CompileError>>,
    /// Long searches may compile to native code.
    is_native: bool,
    /// Whose workers search, if they are not of this process alone.
    searcher: Option<&'a dyn Searcher>,
}

impl<'a> Subject<'a> {
    /// A system that is checked within a budget.
    pub fn new(system: &'a System, options: &Options, budget: &Budget) -> Subject<'a> {
        let is_native = !options.explicit.no_native;
        Subject { system, budget: budget.clone(), compiled: OnceLock::new(), is_native, searcher: None }
    }

    /// The same, searched by the workers of a searcher.
    pub fn searched_by(self, searcher: Option<&'a dyn Searcher>) -> Subject<'a> {
        Subject { searcher, ..self }
    }

    /// Whose workers search, if they are not of this process alone.
    pub fn searcher(&self) -> Option<&'a dyn Searcher> {
        self.searcher
    }

    /// The compiled system.
    pub fn compiled(&self) -> Result<&CompiledSystem<'a>, CompileError> {
        let compile = || {
            let compiled = CompiledSystem::new(self.system, &self.budget)?;
            Ok(if self.is_native { compiled } else { compiled.without_native_code() })
        };
        self.compiled.get_or_init(compile).as_ref().map_err(Clone::clone)
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
