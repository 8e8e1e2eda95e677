//! SMV, the language of NuSMV 2.6: finite-state machines in which everything moves at once.
//!
//! Text goes through a [`lexer`] and a [`parser`]; [`flatten`] makes instances of the modules, [`expression`] resolves names
//! and checks types, [`formula`] does the same for specifications, and [`lower`] makes a synchronous
//! [`System`] of it. [`range`] refuses values that a variable cannot have.
//!
//! The grammar and the types are those of the *NuSMV 2.6 User Manual* (R. Cavada et al., 2015). What is left out is refused
//! with a sentence: `PSLSPEC`, uninterpreted functions, real numbers, words of more than 62 bits.

pub mod ast;
mod build;
pub mod expression;
pub mod flatten;
pub mod formula;
pub mod lexer;
pub mod lower;
pub mod parser;
pub mod range;
mod words;

use ample_budget::Budget;
use ample_model::{Expr, Source, SourceId, Span, System, Temporal};

use crate::diagnostic::{Diagnostic, Rejected};
use crate::refused::{Block, RefusedFormula, read_apart};
use crate::watch::Watch;
use ast::{Item, Logic, Module};
pub use lower::Lowered;
use lower::Named;

/// Reads a model; `name` is what reports call it.
///
/// ```
/// let text = "MODULE main VAR x : 0..3; ASSIGN init(x) := 0; next(x) := (x + 1) mod 4; SPEC AG EF x = 0";
/// let lowered = ample_lang::smv::read("count.smv", text)?;
/// assert_eq!(lowered.system.globals[0].name, "x");
/// assert_eq!(lowered.system.properties[0].text, "AG EF x = 0");
/// # Ok::<(), ample_lang::Rejected>(())
/// ```
pub fn read(name: &str, text: &str) -> Result<Lowered, Rejected> {
    read_within(name, text, &Budget::unlimited())
}

/// As [`read`], within a budget.
pub fn read_within(name: &str, text: &str, budget: &Budget) -> Result<Lowered, Rejected> {
    let watch = Watch::new(budget);
    let source = Source { path: name.to_owned(), text: text.to_owned() };
    let modules = watch.finish(modules(&source, &watch))?;
    watch.finish(lower::lower(&source, &modules, head(&source), &watch))
}

/// As [`read_within`], but a formula that is refused is no reason to refuse the model: it is left out.
pub fn read_apart_from_refused(
    name: &str,
    text: &str,
    budget: &Budget,
) -> Result<(Lowered, Vec<RefusedFormula>), Rejected> {
    let mut once = |text: String| read_within(name, &text, budget).map(|lowered| (lowered.system, lowered.warnings));
    let ((system, warnings), refused) = read_apart(text, |text| blocks(text, budget), &mut once)?;
    Ok((Lowered { system, warnings }, refused))
}

/// The formulas of a text. They can be told apart only if all of it can be parsed.
fn blocks(text: &str, budget: &Budget) -> Vec<Block> {
    let watch = Watch::new(budget);
    let source = Source { path: String::new(), text: text.to_owned() };
    let Ok(modules) = modules(&source, &watch) else { return Vec::new() };
    let items = modules.iter().flat_map(|module| &module.items);
    let block = |item: &Item| {
        let Item::Specification(specification) = item else { return None };
        let logic = match specification.logic {
            Logic::Ltl => "ltl",
            Logic::Invariant => "invariant",
            _ => "ctl",
        };
        let formula = specification.formulas.first()?.span;
        Some(Block {
            whole: specification.span.start as usize..specification.span.end as usize,
            formula: formula.start as usize..formula.end as usize,
            logic,
            name: Some(specification.name.as_ref().map_or_else(String::new, |name| name.text.clone())),
        })
    };
    items.filter_map(block).collect()
}

fn modules(source: &Source, watch: &Watch<'_>) -> Result<Vec<Module>, Rejected> {
    let rejected = |diagnostic| Rejected::new(vec![source.clone()], vec![diagnostic]);
    let tokens = lexer::tokenize(SourceId(0), &source.text, watch).map_err(rejected)?;
    parser::parse(source, &tokens, watch)
}

/// The first line that says something, for what is wrong with the whole.
fn head(source: &Source) -> Span {
    let text = &source.text;
    let start = text.len() - text.trim_start().len();
    let end = text[start..].find('\n').map_or(text.len(), |end| start + end);
    Span { source: SourceId(0), start: start as u32, end: end as u32 }
}

/// Reads a condition over the names of a model.
pub fn expression_within(system: &System, text: &str, budget: &Budget) -> Result<Expr, Rejected> {
    let temporal = temporal(system, text, Logic::Invariant, budget)?;
    temporal.state_expr(&temporal.formula).ok_or_else(|| {
        let source = Source { path: "the condition".into(), text: text.to_owned() };
        let span = head(&source);
        Rejected::new(vec![source], vec![Diagnostic::error(span, "temporal operators in a condition on states")])
    })
}

/// Reads a formula of linear time over the names of a model.
pub fn ltl_within(system: &System, text: &str, budget: &Budget) -> Result<Temporal, Rejected> {
    temporal(system, text, Logic::Ltl, budget)
}

/// Reads a formula of branching time over the names of a model.
pub fn ctl_within(system: &System, text: &str, budget: &Budget) -> Result<Temporal, Rejected> {
    temporal(system, text, Logic::Ctl, budget)
}

/// The modules are read again, because the system knows variables only.
fn temporal(system: &System, text: &str, logic: Logic, budget: &Budget) -> Result<Temporal, Rejected> {
    let watch = Watch::new(budget);
    let model = system.source_system().sources.first().cloned();
    let model = model.unwrap_or_else(|| Source { path: String::new(), text: String::new() });
    let modules = watch.finish(modules(&model, &watch))?;
    let named = Named::new(modules, head(&model));
    let source = Source { path: "the formula".into(), text: text.to_owned() };
    let rejected = |diagnostics| Rejected::new(vec![source.clone()], diagnostics);
    let tokens = lexer::tokenize(SourceId(0), &source.text, &watch).map_err(|error| rejected(vec![error]))?;
    let node = watch.finish(parser::parse_expression(&source, &tokens, &watch))?;
    watch.finish(named.temporal(&node, logic, &watch).map_err(rejected))
}
