//! The budget of reading a model or a formula file.
//!
//! Readers give diagnostics where they cannot go on. That the budget is exhausted is none; so it is noted here, and the
//! diagnostic that ends the reading is dropped for it.

use std::cell::Cell;

use ample_budget::{Budget, Interrupted};
use ample_model::{SourceId, Span};

use crate::diagnostic::{Diagnostic, Rejected};

/// What asking gives: a diagnostic to end the reading with.
type Read<T> = Result<T, Diagnostic>;

/// So many steps are taken between two looks at the budget.
const STEPS: usize = 256;

/// Asks a budget now and then, and remembers that it was exhausted.
#[derive(Debug)]
pub struct Watch<'b> {
    budget: &'b Budget,
    left: Cell<usize>,
    ended: Cell<Option<Interrupted>>,
}

impl<'b> Watch<'b> {
    pub fn new(budget: &'b Budget) -> Watch<'b> {
        Watch { budget, left: Cell::new(0), ended: Cell::new(None) }
    }

    /// Another step.
    #[inline]
    pub fn step(&self) -> Read<()> {
        self.steps(1)
    }

    /// A step that takes as long as so many.
    #[inline]
    pub fn steps(&self, steps: usize) -> Read<()> {
        match self.left.get().checked_sub(steps) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => self.look(),
        }
    }

    #[cold]
    fn look(&self) -> Read<()> {
        self.record(self.budget.check())?;
        self.left.set(STEPS);
        Ok(())
    }

    /// Asks for memory that is about to be taken at once.
    pub fn room(&self, bytes: usize) -> Read<()> {
        self.record(self.budget.check_allocation(bytes as u64))
    }

    fn record(&self, result: Result<(), Interrupted>) -> Read<()> {
        let Err(interrupted) = result.and(self.ended.get().map_or(Ok(()), Err)) else { return Ok(()) };
        self.ended.set(Some(interrupted));
        // From now on every step is refused.
        self.left.set(0);
        let start = Span { source: SourceId(0), start: 0, end: 0 };
        Err(Diagnostic::error(start, interrupted.to_string()))
    }

    /// Gives what was read, unless the budget was exhausted meanwhile: then what was read is not all of it.
    pub fn finish<T>(&self, read: Result<T, Rejected>) -> Result<T, Rejected> {
        self.ended().map_or(read, |interrupted| Err(interrupted.into()))
    }

    /// The budget was exhausted.
    pub fn ended(&self) -> Option<Interrupted> {
        self.ended.get()
    }
}
