//! Text to tokens. The signs of the printed grammar (`∧`, `≤`, `×`, …) are read as well as their plain spellings.

use ample_budget::Budget;
use ample_model::{SourceId, Span};

use crate::cursor;
use crate::watch::Watch;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A name, or an operator of temporal logic: only the parser knows.
    Word,
    /// A digit and the letters and digits after it.
    Number,
    /// A word of the language.
    Keyword(Keyword),
    /// An operator or a bracket.
    Op(Op),
    /// A character that no token begins with.
    Other(char),
    /// A comment without its end.
    OpenComment,
    /// The end of the text.
    End,
}

/// A token with its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Where it stands.
    pub span: Span,
}

impl cursor::Token for Token {
    type Op = Op;
    type Keyword = Keyword;

    fn op(self) -> Option<Op> {
        if let Kind::Op(op) = self.kind { Some(op) } else { None }
    }

    fn keyword(self) -> Option<Keyword> {
        if let Kind::Keyword(keyword) = self.kind { Some(keyword) } else { None }
    }

    fn is_end(self) -> bool {
        self.kind == Kind::End
    }
}

/// The words of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Keyword {
    Actions,
    Variables,
    Local,
    Case,
    Sync,
    Main,
    Proc,
    Ctl,
    Ltl,
    End,
    True,
    False,
}

const KEYWORDS: &[(&str, Keyword)] = &[
    ("ACTIONS", Keyword::Actions),
    ("ACTION", Keyword::Actions),
    ("VARIABLES", Keyword::Variables),
    ("VARIABLE", Keyword::Variables),
    ("LOCAL", Keyword::Local),
    ("CASE", Keyword::Case),
    ("SYNC", Keyword::Sync),
    ("MAIN", Keyword::Main),
    ("GLOBAL", Keyword::Main),
    ("PROC", Keyword::Proc),
    ("CTL", Keyword::Ctl),
    ("LTL", Keyword::Ltl),
    ("END", Keyword::End),
    ("true", Keyword::True),
    ("TRUE", Keyword::True),
    ("false", Keyword::False),
    ("FALSE", Keyword::False),
];

/// The operators and brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Op {
    OpenParen,
    CloseParen,
    OpenBracket,
    CloseBracket,
    Semicolon,
    Comma,
    Dot,
    Colon,
    Assign,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    And,
    Or,
    Not,
    Implies,
    Iff,
}

/// Longer spellings first, so that the longest is found.
const OPS: &[(&str, Op)] = &[
    ("<->", Op::Iff),
    ("<=>", Op::Iff),
    (":=", Op::Assign),
    ("==", Op::Equal),
    ("!=", Op::NotEqual),
    ("<=", Op::LessEqual),
    (">=", Op::GreaterEqual),
    ("=>", Op::Implies),
    ("->", Op::Implies),
    ("&&", Op::And),
    ("||", Op::Or),
    ("(", Op::OpenParen),
    (")", Op::CloseParen),
    ("[", Op::OpenBracket),
    ("]", Op::CloseBracket),
    (";", Op::Semicolon),
    (",", Op::Comma),
    (".", Op::Dot),
    (":", Op::Colon),
    ("+", Op::Plus),
    ("-", Op::Minus),
    ("*", Op::Star),
    ("/", Op::Slash),
    ("%", Op::Percent),
    ("=", Op::Equal),
    ("<", Op::Less),
    (">", Op::Greater),
    ("&", Op::And),
    ("|", Op::Or),
    ("!", Op::Not),
    ("×", Op::Star),
    ("≠", Op::NotEqual),
    ("≤", Op::LessEqual),
    ("≥", Op::GreaterEqual),
    ("∧", Op::And),
    ("∨", Op::Or),
    ("¬", Op::Not),
    ("⇒", Op::Implies),
    ("⇔", Op::Iff),
];

/// All tokens of a text. The last one is its end, and there is only one such.
pub fn tokenize(source: SourceId, text: &str) -> Vec<Token> {
    tokenize_within(source, text, &Watch::new(&Budget::unlimited()))
}

/// As [`tokenize`]; when the budget is exhausted, the rest is left out.
pub(super) fn tokenize_within(source: SourceId, text: &str, watch: &Watch<'_>) -> Vec<Token> {
    let mut lexer = Lexer { text, next: 0 };
    let mut tokens = Vec::new();
    loop {
        if watch.step().is_err() {
            lexer.next = text.len();
        }
        let open_comment = lexer.skip_gap();
        let start = open_comment.unwrap_or(lexer.next);
        let kind = if open_comment.is_some() { Kind::OpenComment } else { lexer.kind() };
        let end = if open_comment.is_some() { start + 2 } else { lexer.next };
        tokens.push(Token { kind, span: Span { source, start: start as u32, end: end as u32 } });
        if kind == Kind::End {
            return tokens;
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    next: usize,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.next..]
    }

    /// Steps over white space and comments; where a comment begins that is not closed.
    fn skip_gap(&mut self) -> Option<usize> {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
            self.next += rest.len() - trimmed.len();
            if trimmed.starts_with("--") || trimmed.starts_with("//") {
                self.next += trimmed.find('\n').unwrap_or(trimmed.len());
            } else if let Some(comment) = trimmed.strip_prefix("/*") {
                let Some(length) = comment.find("*/") else {
                    let start = self.next;
                    self.next = self.text.len();
                    return Some(start);
                };
                self.next += length + 4;
            } else {
                return None;
            }
        }
    }

    fn kind(&mut self) -> Kind {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Kind::End };
        if first.is_ascii_alphanumeric() || first == '_' {
            let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            self.next += length;
            let keyword = KEYWORDS.iter().find(|(word, _)| *word == &rest[..length]);
            return match keyword {
                Some(&(_, keyword)) => Kind::Keyword(keyword),
                None if first.is_ascii_digit() => Kind::Number,
                None => Kind::Word,
            };
        }
        let found = OPS.iter().find(|(spelling, _)| rest.starts_with(spelling));
        self.next += found.map_or(first.len_utf8(), |(spelling, _)| spelling.len());
        found.map_or(Kind::Other(first), |&(_, op)| Kind::Op(op))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spellings(text: &str) -> Vec<&str> {
        let tokens = tokenize(SourceId(0), text);
        let written = tokens.iter().map(|token| &text[token.span.start as usize..token.span.end as usize]);
        written.filter(|word| !word.is_empty()).collect()
    }

    #[test]
    fn the_longest_operator_is_taken() {
        for (text, expected) in [
            ("x:2:=0", "x : 2 := 0"),
            ("p<->q<=>r", "p <-> q <=> r"),
            ("a=>b>=c", "a => b >= c"),
            ("x<=y==z=w", "x <= y == z = w"),
            ("a&&b||!c", "a && b || ! c"),
            ("a--b\nc//d\ne/*f*/g", "a c e g"),
            ("x≤3∧¬y", "x ≤ 3 ∧ ¬ y"),
        ] {
            assert_eq!(spellings(text).join(" "), expected, "{text}");
        }
    }

    #[test]
    fn an_open_comment_is_marked_where_it_begins() {
        let tokens = tokenize(SourceId(0), "a /* b");
        assert_eq!(tokens.len(), 3);
        assert_eq!((tokens[1].kind, tokens[1].span.start, tokens[1].span.end), (Kind::OpenComment, 2, 4));
    }
}
