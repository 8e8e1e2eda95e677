//! What the parsers share: looking at tokens, taking them, and reporting what is wrong.

use ample_model::Span;

use crate::diagnostic::Diagnostic;

/// Parsing failed; the reason has been reported.
#[derive(Debug)]
pub(crate) struct Failed;

/// What a parsing function gives.
pub(crate) type Parse<T> = Result<T, Failed>;

/// A token of some language.
pub(crate) trait Token: Copy {
    /// Its operators and brackets.
    type Op: Copy + PartialEq;
    /// The words of the language.
    type Keyword: Copy + PartialEq;

    /// The operator or bracket that it is.
    fn op(self) -> Option<Self::Op>;
    /// The word of the language that it is.
    fn keyword(self) -> Option<Self::Keyword>;
    /// Whether it is the end of the text.
    fn is_end(self) -> bool;
}

/// A place in a list of tokens. The last one is the end of the text.
pub(crate) trait Cursor {
    /// What is read.
    type Token: Token;

    /// All tokens, and the number of the next one.
    fn state(&self) -> (&[Self::Token], usize);

    /// Goes on behind the next token, which is not the end.
    fn step_over(&mut self, token: Self::Token);

    /// Reports what is wrong.
    fn report(&mut self, diagnostic: Diagnostic) -> Failed;

    /// The token so many places ahead, or the end.
    fn token_at(&self, ahead: usize) -> Self::Token {
        let (tokens, next) = self.state();
        tokens[(next + ahead).min(tokens.len() - 1)]
    }

    /// The next token.
    fn peek(&self) -> Self::Token {
        self.token_at(0)
    }

    /// The last token that was taken.
    fn previous(&self) -> Option<Self::Token> {
        let (tokens, next) = self.state();
        next.checked_sub(1).and_then(|at| tokens.get(at)).copied()
    }

    fn op_at(&self, ahead: usize, op: <Self::Token as Token>::Op) -> bool {
        self.token_at(ahead).op() == Some(op)
    }

    fn at(&self, op: <Self::Token as Token>::Op) -> bool {
        self.op_at(0, op)
    }

    fn at_keyword(&self, keyword: <Self::Token as Token>::Keyword) -> bool {
        self.peek().keyword() == Some(keyword)
    }

    /// Takes the next token; the end stays.
    fn take(&mut self) -> Self::Token {
        let token = self.peek();
        if !token.is_end() {
            self.step_over(token);
        }
        token
    }

    /// Takes the next token if it is that operator.
    fn eat(&mut self, op: <Self::Token as Token>::Op) -> bool {
        let found = self.at(op);
        if found {
            self.take();
        }
        found
    }

    /// Takes the next token if it is that word.
    fn eat_keyword(&mut self, keyword: <Self::Token as Token>::Keyword) -> bool {
        let found = self.at_keyword(keyword);
        if found {
            self.take();
        }
        found
    }

    fn error(&mut self, span: Span, message: impl Into<String>) -> Failed {
        self.report(Diagnostic::error(span, message))
    }

    fn error_with_help(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) -> Failed {
        self.report(Diagnostic::error(span, message).with_help(help))
    }
}
