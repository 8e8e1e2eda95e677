//! Milestones, the language of J. Vander Meulen's thesis on partial orders in symbolic model checking (chapter 6):
//! processes of guarded commands over small unsigned numbers, with rendez-vous of any number of processes.
//!
//! Text goes through a [`lexer`] and a [`parser`]; [`resolve`] looks up the names, checks the static rules and writes
//! out the instances; the result, a [`Model`], is what exporters work on. [`lower`] makes a
//! [`System`](ample_model::System) of it.

pub mod ast;
pub mod lexer;
pub mod lower;
pub mod model;
pub mod parser;
pub mod resolve;

use std::result::Result;

use ample_budget::Budget;
use ample_model::Source;

use crate::diagnostic::Rejected;

pub use lower::{Lowered, ctl, expression, ltl};
pub use model::Model;

/// Reads a model as far as its flattened form; `name` is what reports call it.
///
/// ```
/// let text = "VARIABLE g:2:=0; END ACTION up; END MAIN CASE [up] g < 3: g := g + 1; END END";
/// let model = ample_lang::milestones::parse("up.mil", text)?;
/// assert_eq!(model.globals()[0].name, "g");
/// assert_eq!(model.commands[0].assignments.len(), 1);
/// # Ok::<(), ample_lang::Rejected>(())
/// ```
pub fn parse(name: &str, text: &str) -> Result<Model, Rejected> {
    let source = Source { path: name.to_owned(), text: text.to_owned() };
    let tree = parser::parse(&source)?;
    resolve::resolve(name, source, &tree)
}

/// Reads a model; `name` is what reports call it.
///
/// ```
/// let text = "VARIABLE g:2:=0; END ACTION up; END MAIN CASE [up] g < 3: g := g + 1; END END";
/// let lowered = ample_lang::milestones::read("up.mil", text)?;
/// assert_eq!(lowered.system.processes[0].name, "main");
/// # Ok::<(), ample_lang::Rejected>(())
/// ```
pub fn read(name: &str, text: &str) -> Result<Lowered, Rejected> {
    read_within(name, text, &Budget::unlimited())
}

/// As [`read`], within a budget.
pub fn read_within(name: &str, text: &str, budget: &Budget) -> Result<Lowered, Rejected> {
    let parsed = parse(name, text)?;
    budget.check()?;
    lower::lower(&parsed)
}
