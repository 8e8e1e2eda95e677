//! Promela, the language of Spin.
//!
//! Text goes through a [preprocessor](preprocess) of our own, a [`lexer`] and a [`parser`] that
//! expands inline calls, and the result is [lowered](lower) to a [`System`](ample_model::System) in which
//! every statement is an edge, exactly as Spin builds its automata without statement merging.

pub mod ast;
pub mod lexer;
pub mod lower;
pub mod parser;
pub mod preprocess;

pub use lower::{Lowered, ctl, expression, ltl};

use ample_budget::Budget;

use crate::diagnostic::Rejected;

/// Reads a model: `text` is the content of the file shown as `path`, `loader` finds what it includes,
/// `defines` are macros defined from outside.
///
/// ```
/// use ample_lang::promela::{self, preprocess::FileLoader};
///
/// let text = "byte x; active proctype P() { x = 1; assert(x == 1) }";
/// let lowered = promela::read("example.pml", text.into(), &mut FileLoader, &[]).unwrap();
/// assert_eq!(lowered.system.processes[0].name, "P");
/// ```
pub fn read(
    path: &str,
    text: String,
    loader: &mut dyn preprocess::Loader,
    defines: &[(String, String)],
) -> Result<Lowered, Rejected> {
    read_within(path, text, loader, defines, &Budget::unlimited())
}

/// As [`read`], within a budget.
pub fn read_within(
    path: &str,
    text: String,
    loader: &mut dyn preprocess::Loader,
    defines: &[(String, String)],
    budget: &Budget,
) -> Result<Lowered, Rejected> {
    let parsed = parser::parse(path, text, loader, defines)?;
    budget.check()?;
    lower::lower(parsed, path)
}
