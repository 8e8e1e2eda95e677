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
use ample_model::{Source, SourceId};

use crate::diagnostic::Rejected;
use crate::refused::{Block, RefusedFormula, read_apart};
use crate::watch::Watch;
use lexer::{Keyword, Kind, Op, Token, tokenize};

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
    parse_within(name, text, &Watch::new(&Budget::unlimited()))
}

fn parse_within(name: &str, text: &str, watch: &Watch<'_>) -> Result<Model, Rejected> {
    let source = Source { path: name.to_owned(), text: text.to_owned() };
    let tree = watch.finish(parser::parse(&source, watch))?;
    watch.finish(resolve::resolve(name, source, &tree, watch))
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
    let watch = Watch::new(budget);
    let parsed = parse_within(name, text, &watch)?;
    watch.finish(lower::lower_within(&parsed, &watch))
}

/// As [`read_within`], but a formula that is refused is no reason to refuse the model: it is left out.
///
/// ```
/// let text = "VARIABLE g:2:=0; END ACTION up; END MAIN CASE [up] g < 3: g := g + 1; END END
///             LTL F g == 3; bad: F h == 3; END";
/// let budget = ample_budget::Budget::unlimited();
/// let (lowered, refused) = ample_lang::milestones::read_apart_from_refused("up.mil", text, &budget)?;
/// assert_eq!(lowered.system.properties.len(), 1);
/// assert_eq!(refused[0].property, "ltl:bad");
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
    let tokens = tokenize(SourceId(0), text);
    let mut blocks = Vec::new();
    let mut logic = None;
    let ends = |token: &Token| match token.kind {
        Kind::Keyword(keyword) => !matches!(keyword, Keyword::True | Keyword::False),
        kind => matches!(kind, Kind::End | Kind::Op(Op::Semicolon)),
    };
    for part in tokens.split_inclusive(ends) {
        let [stated @ .., end] = part else { continue };
        if let (Some(logic), [first, .., last]) = (logic, stated) {
            let name = match stated {
                [Token { kind: Kind::Word, span }, Token { kind: Kind::Op(Op::Colon), .. }, _, ..] => Some(span),
                _ => None,
            };
            let begins = stated[if name.is_some() { 2 } else { 0 }].span.start as usize;
            blocks.push(Block {
                whole: first.span.start as usize..last.span.end as usize,
                formula: begins..last.span.end as usize,
                logic,
                name: name.and_then(|span| text.get(span.start as usize..span.end as usize)).map(str::to_owned),
                replaceable: true,
            });
        }
        logic = match end.kind {
            Kind::Keyword(Keyword::Ctl) => Some("ctl"),
            Kind::Keyword(Keyword::Ltl) => Some("ltl"),
            Kind::Op(Op::Semicolon) => logic,
            _ => None,
        };
    }
    blocks
}
