//! The rules of `#MODULE#` (K. Yorav, section 5.2: "the parser checks that the partitioning adheres to the rules").
//!
//! A mark begins a module, which goes on to the next mark of the same block or to its end. An `if` or a `while` with a
//! mark in it is taken apart: it is a module by itself, so that one mark stands before it and another one behind it, if
//! anything follows, and each of its blocks begins with a mark.

use ample_model::{Source, Span};

use super::ast::{Block, Statement, StatementKind};
use crate::diagnostic::Diagnostic;

/// Reports what is wrong with the marks of a block.
pub(super) fn check(block: &Block, source: &Source, diagnostics: &mut Vec<Diagnostic>) {
    Check { source, diagnostics }.block(block);
}

struct Check<'a> {
    source: &'a Source,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl Check<'_> {
    fn error(&mut self, span: Span, message: String, help: &str) {
        self.diagnostics.push(Diagnostic::error(span, message).with_help(help));
    }

    fn block(&mut self, block: &Block) {
        for (number, (at, span)) in block.marks.iter().enumerate() {
            let next = block.marks.get(number + 1).map_or(block.statements.len(), |(next, _)| *next);
            if next == *at {
                self.error(*span, "this module has no statements".into(), "write `skip;` or leave it out");
            }
        }
        for (number, statement) in block.statements.iter().enumerate() {
            let blocks = blocks(statement);
            if blocks.iter().any(|block| has_marks(block)) {
                self.taken_apart(block, number, &blocks);
            }
            for block in blocks {
                self.block(block);
            }
        }
    }

    /// The rules of a statement with marks in it.
    fn taken_apart(&mut self, within: &Block, number: usize, blocks: &[&Block]) {
        let statement = &within.statements[number];
        let word = match statement.kind {
            StatementKind::While(..) => "while",
            _ => "if",
        };
        if !is_marked(within, number) {
            let message = format!("there are modules in this `{word}`, and it does not begin one");
            self.error(statement.span, message, "write `#MODULE#` before it");
        }
        let line = self.source.position(statement.span.start).0;
        if let Some(next) = within.statements.get(number + 1)
            && !is_marked(within, number + 1)
        {
            let message = format!("there are modules in the `{word}` in line {line}, and none begins after it");
            self.error(next.span, message, "write `#MODULE#` here");
        }
        for block in blocks {
            if let Some(first) = block.statements.first()
                && !is_marked(block, 0)
            {
                let message = format!("there are modules in the `{word}` in line {line}, and none begins here");
                self.error(first.span, message, "write `#MODULE#` at the beginning of each of its blocks");
            }
        }
    }
}

/// The blocks of a statement.
fn blocks(statement: &Statement) -> Vec<&Block> {
    match &statement.kind {
        StatementKind::If(_, first, second) => vec![first, second],
        StatementKind::While(_, body) => vec![body],
        _ => Vec::new(),
    }
}

/// A mark stands in the block, however deep.
fn has_marks(block: &Block) -> bool {
    !block.marks.is_empty() || block.statements.iter().flat_map(blocks).any(has_marks)
}

/// A mark stands before the statement with this number.
fn is_marked(block: &Block, number: usize) -> bool {
    block.marks.iter().any(|(at, _)| *at == number)
}
