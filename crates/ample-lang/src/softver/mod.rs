//! SoftVer, the language of K. Yorav's model checker of the same name (*Exploiting Syntactic Structure for Automatic
//! Verification*, 2000, sections 3.1 and 5.2): non-deterministic while programs, alone or in parallel with rendez-vous.
//!
//! Text goes through a `lexer` and a `parser`; `names` finds out what is declared, `typed` resolves expressions,
//! `modules` checks the marks `#MODULE#`, and `lower` makes a [`System`] of it.

pub mod ast;
pub mod lexer;
mod lower;
mod modules;
mod names;
pub mod parser;
mod typed;

use ample_budget::Budget;
use ample_model::{Expr, Source, SourceId, System, Temporal};

use crate::diagnostic::{Diagnostic, Rejected};
use crate::refused::{Block, RefusedFormula, read_apart};
use crate::watch::Watch;
use lexer::{Keyword, Kind, Op, Token};
use names::Names;
use parser::{Notation, parse_formula};
use typed::Resolver;

/// What the text of a formula is called in messages.
const LABEL: &str = "<formula>";

/// A program that was accepted.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The system.
    pub system: System,
    /// What the user should know all the same.
    pub warnings: Vec<Diagnostic>,
}

/// Reads a text as far as its syntax tree; `name` is what reports call it.
///
/// ```
/// let text = ample_lang::softver::parse("m.softver", "int x; { x := {0, 1}; skip; }")?;
/// assert_eq!(text.processes[0].body.statements.len(), 2);
/// # Ok::<(), ample_lang::Rejected>(())
/// ```
pub fn parse(name: &str, text: &str) -> Result<ast::Text, Rejected> {
    let budget = Budget::unlimited();
    let source = Source { path: name.to_owned(), text: text.to_owned() };
    parser::parse(&source, &Watch::new(&budget))
}

/// Reads a program; `name` is what reports call it.
///
/// ```
/// let text = "int x; { x := {0, 1}; while x < 3 do x := x + 1; od; label done; } SPEC AF (label(done) && x = 3)";
/// let lowered = ample_lang::softver::read("up.softver", text)?;
/// assert_eq!(lowered.system.globals[0].name, "x");
/// // Four statements, and `terminate`.
/// assert_eq!(lowered.system.processes[0].locations.len(), 5);
/// # Ok::<(), ample_lang::Rejected>(())
/// ```
pub fn read(name: &str, text: &str) -> Result<Lowered, Rejected> {
    read_within(name, text, &Budget::unlimited())
}

/// As [`read`], within a budget.
pub fn read_within(name: &str, text: &str, budget: &Budget) -> Result<Lowered, Rejected> {
    let watch = Watch::new(budget);
    let source = Source { path: name.to_owned(), text: text.to_owned() };
    let tree = watch.finish(parser::parse(&source, &watch))?;
    watch.finish(lower::lower(name, source, &tree, &watch))
}

/// As [`read_within`], but a formula that is refused is no reason to refuse the program: it is left out.
///
/// ```
/// let text = "int x; { x := 0; } SPEC AF x = 0 SPEC bad := AF y = 0";
/// let budget = ample_budget::Budget::unlimited();
/// let (lowered, refused) = ample_lang::softver::read_apart_from_refused("m.softver", text, &budget)?;
/// assert_eq!(lowered.system.properties.len(), 1);
/// assert_eq!(refused[0].property, "ctl:bad");
/// # Ok::<(), ample_lang::Rejected>(())
/// ```
pub fn read_apart_from_refused(
    name: &str,
    text: &str,
    budget: &Budget,
) -> Result<(Lowered, Vec<RefusedFormula>), Rejected> {
    let mut once = |text: String| read_within(name, &text, budget).map(|lowered| (lowered.system, lowered.warnings));
    let ((system, warnings), refused) = read_apart(text, blocks, &mut once)?;
    Ok((Lowered { system, warnings }, refused))
}

/// The formulas of a text.
fn blocks(text: &str) -> Vec<Block> {
    let budget = Budget::unlimited();
    let tokens = lexer::tokenize(SourceId(0), text, &Watch::new(&budget));
    let mut blocks = Vec::new();
    let mut before: Option<(&'static str, Token)> = None;
    let begins = |token: &Token| match token.kind {
        Kind::Keyword(Keyword::Spec) => Some("ctl"),
        Kind::Keyword(Keyword::LtlSpec) => Some("ltl"),
        _ => None,
    };
    for part in tokens.split_inclusive(|token| begins(token).is_some() || token.kind == Kind::End) {
        let [stated @ .., end] = part else { continue };
        let stated = match stated {
            [stated @ .., Token { kind: Kind::Op(Op::Semicolon), .. }] => stated,
            stated => stated,
        };
        if let (Some((logic, word)), [.., last]) = (before, stated) {
            let name = match stated {
                [Token { kind: Kind::Word, span }, Token { kind: Kind::Op(Op::Assign), .. }, _, ..] => Some(span),
                _ => None,
            };
            let formula = stated[if name.is_some() { 2 } else { 0 }].span.start as usize;
            blocks.push(Block {
                // What is missing at the end of a formula is missed where the next one begins.
                whole: word.span.start as usize..end.span.start as usize,
                formula: formula..last.span.end as usize,
                logic,
                name: name.and_then(|span| text.get(span.start as usize..span.end as usize)).map(str::to_owned),
                replaceable: true,
            });
        }
        before = begins(end).map(|logic| (logic, *end));
    }
    blocks
}

/// A condition over a system that was read from a SoftVer text, as a user types it.
///
/// ```
/// let system = ample_lang::softver::read("m.softver", "int x; { label h; x := 0; }")?.system;
/// assert!(ample_lang::softver::expression(&system, "label(h) -> x < 3").is_ok());
/// assert!(ample_lang::softver::expression(&system, "y < 3").is_err());
/// # Ok::<(), ample_lang::Rejected>(())
/// ```
pub fn expression(system: &System, text: &str) -> Result<Expr, Rejected> {
    let temporal = over(system, text, Notation::State)?;
    // There are no temporal operators in this notation.
    Ok(temporal.state_expr(&temporal.formula).unwrap_or(Expr::FALSE))
}

/// A formula of linear temporal logic over a system that was read from a SoftVer text.
///
/// ```
/// let system = ample_lang::softver::read("m.softver", "int x; { label h; x := 0; }")?.system;
/// assert!(ample_lang::softver::ltl(&system, "F G x = 0").is_ok());
/// # Ok::<(), ample_lang::Rejected>(())
/// ```
pub fn ltl(system: &System, text: &str) -> Result<Temporal, Rejected> {
    over(system, text, Notation::Linear)
}

/// A formula of computation tree logic over a system that was read from a SoftVer text.
///
/// ```
/// let system = ample_lang::softver::read("m.softver", "int x; { label h; x := 0; }")?.system;
/// assert!(ample_lang::softver::ctl(&system, "AF label(h) && A[TRUE U x = 0]").is_ok());
/// # Ok::<(), ample_lang::Rejected>(())
/// ```
pub fn ctl(system: &System, text: &str) -> Result<Temporal, Rejected> {
    over(system, text, Notation::Branching)
}

fn over(system: &System, text: &str, notation: Notation) -> Result<Temporal, Rejected> {
    let source = Source { path: LABEL.to_owned(), text: text.to_owned() };
    let parsed = parse_formula(&source, notation)?;
    // Types and labels are in the text of the program.
    let empty = Source { path: String::new(), text: String::new() };
    let program = system.sources.first().unwrap_or(&empty);
    let names = Names::of(&parser::reparse(program), program, &mut Vec::new());
    let mut diagnostics = Vec::new();
    let mut resolver = Resolver { names: &names, own: None, diagnostics: &mut diagnostics };
    let temporal = resolver.temporal(&parsed);
    temporal.ok_or_else(|| Rejected::new(vec![source], diagnostics))
}
