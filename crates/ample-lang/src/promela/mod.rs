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

pub use lower::{Lowered, ctl, ctl_within, expression, expression_within, ltl, ltl_within};

use ample_budget::Budget;
use ample_model::SourceId;

use crate::diagnostic::Rejected;
use crate::refused::{Block, RefusedFormula, read_apart};
use crate::watch::Watch;
use lexer::{Kind, Op, Symbols, Token, tokenize};

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
    let watch = Watch::new(budget);
    let parsed = watch.finish(parser::parse_within(path, text, loader, defines, &watch))?;
    watch.finish(lower::lower_within(parsed, path, &watch))
}

/// As [`read_within`], but an `ltl` block that is refused is no reason to refuse the model: it is left out.
///
/// ```
/// use ample_lang::promela::{self, preprocess::FileLoader};
///
/// let text = "byte x; active proctype P() { x = 1 } ltl live { <> (x == 1) } ltl bad { [] (y == 1) }";
/// let budget = ample_budget::Budget::unlimited();
/// let (lowered, refused) = promela::read_apart_from_refused("m.pml", text.into(), &mut FileLoader, &[], &budget)?;
/// assert_eq!(lowered.system.properties[0].name, "live");
/// assert_eq!(refused[0].property, "ltl:bad");
/// # Ok::<(), ample_lang::Rejected>(())
/// ```
pub fn read_apart_from_refused(
    path: &str,
    text: String,
    loader: &mut dyn preprocess::Loader,
    defines: &[(String, String)],
    budget: &Budget,
) -> Result<(Lowered, Vec<RefusedFormula>), Rejected> {
    let mut once = |text: String| {
        read_within(path, text, loader, defines, budget).map(|lowered| (lowered.system, lowered.warnings))
    };
    let ((system, warnings), refused) = read_apart(&text, blocks, &mut once)?;
    Ok((Lowered { system, warnings }, refused))
}

/// The `ltl` blocks of a text that is not preprocessed.
pub(crate) fn blocks(text: &str) -> Vec<Block> {
    let mut symbols = Symbols::default();
    let tokens = tokenize(SourceId(0), text, &mut symbols);
    let name_at = |at: usize| match tokens.get(at).map(|token| token.kind) {
        Some(Kind::Name(symbol)) => Some(symbols.text(symbol)),
        _ => None,
    };
    let mut blocks = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let open = at + 1 + usize::from(name_at(at + 1).is_some());
        match matching(&tokens, open).filter(|_| name_at(at) == Some("ltl")) {
            Some(close) => {
                let formula = tokens[open].span.end as usize..tokens[close].span.start as usize;
                let whole = tokens[at].span.start as usize..tokens[close].span.end as usize;
                let name = name_at(at + 1).map(str::to_owned);
                blocks.push(Block { whole, formula, logic: "ltl", name, replaceable: true });
                at = close + 1;
            }
            None => at += 1,
        }
    }
    blocks
}

/// Where the brace is closed that is opened there.
fn matching(tokens: &[Token], open: usize) -> Option<usize> {
    if !tokens.get(open).is_some_and(|token| token.kind == Kind::Op(Op::OpenBrace)) {
        return None;
    }
    let is = |token: &Token, op: Op| token.kind == Kind::Op(op);
    let inside = tokens[open + 1..].iter();
    // There are no braces in a formula; if another one is opened, this one is not closed.
    let end = inside.take_while(|token| !is(token, Op::OpenBrace)).position(|token| is(token, Op::CloseBrace))?;
    Some(open + 1 + end)
}
