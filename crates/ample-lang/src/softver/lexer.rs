//! Text to tokens.

use ample_logic::Unary;
use ample_model::{SourceId, Span};

use crate::cursor;
use crate::watch::Watch;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A name.
    Word,
    /// A digit and the letters and digits after it.
    Number,
    /// A word of the language.
    Keyword(Keyword),
    /// An operator of temporal logic before its operand. `AG` and the like are two tokens.
    Temporal(Unary),
    /// `#WORD#`
    Directive,
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
    Process,
    Int,
    Boolean,
    Enum,
    Skip,
    Label,
    If,
    Then,
    Else,
    Fi,
    While,
    Do,
    Od,
    Send,
    Receive,
    Terminate,
    Spec,
    LtlSpec,
    True,
    False,
}

/// The words of the language, as they are written.
pub(super) const KEYWORDS: &[(&str, Keyword)] = &[
    ("process", Keyword::Process),
    ("int", Keyword::Int),
    ("boolean", Keyword::Boolean),
    ("enum", Keyword::Enum),
    ("skip", Keyword::Skip),
    ("label", Keyword::Label),
    ("if", Keyword::If),
    ("then", Keyword::Then),
    ("else", Keyword::Else),
    ("fi", Keyword::Fi),
    ("while", Keyword::While),
    ("do", Keyword::Do),
    ("od", Keyword::Od),
    ("send", Keyword::Send),
    ("receive", Keyword::Receive),
    ("terminate", Keyword::Terminate),
    ("SPEC", Keyword::Spec),
    ("CTLSPEC", Keyword::Spec),
    ("LTLSPEC", Keyword::LtlSpec),
    ("TRUE", Keyword::True),
    ("true", Keyword::True),
    ("FALSE", Keyword::False),
    ("false", Keyword::False),
];

/// The operators and brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Op {
    OpenParen,
    CloseParen,
    OpenBracket,
    CloseBracket,
    OpenBrace,
    CloseBrace,
    Semicolon,
    Comma,
    Dot,
    Assign,
    Plus,
    Minus,
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
    (":=", Op::Assign),
    ("!=", Op::NotEqual),
    ("<=", Op::LessEqual),
    (">=", Op::GreaterEqual),
    ("->", Op::Implies),
    ("&&", Op::And),
    ("||", Op::Or),
    ("(", Op::OpenParen),
    (")", Op::CloseParen),
    ("[", Op::OpenBracket),
    ("]", Op::CloseBracket),
    ("{", Op::OpenBrace),
    ("}", Op::CloseBrace),
    (";", Op::Semicolon),
    (",", Op::Comma),
    (".", Op::Dot),
    ("+", Op::Plus),
    ("-", Op::Minus),
    ("=", Op::Equal),
    ("<", Op::Less),
    (">", Op::Greater),
    ("!", Op::Not),
];

/// All tokens of a text; when the budget is exhausted, the rest is left out. The last one is its end, and there is only
/// one such.
pub(super) fn tokenize(source: SourceId, text: &str, watch: &Watch<'_>) -> Vec<Token> {
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
        let span = Span { source, start: start as u32, end: end as u32 };
        match (kind, &text[start..end]) {
            // These are written as one word and are two operators.
            (Kind::Temporal(quantifier), word) if word.len() == 2 => {
                let middle = span.start + 1;
                let operator = single(&word[1..]).unwrap_or(kind);
                tokens.push(Token { kind: Kind::Temporal(quantifier), span: Span { end: middle, ..span } });
                tokens.push(Token { kind: operator, span: Span { start: middle, ..span } });
            }
            _ => tokens.push(Token { kind, span }),
        }
        if kind == Kind::End {
            return tokens;
        }
    }
}

/// The operator of temporal logic that a letter is.
fn single(letter: &str) -> Option<Kind> {
    Some(match letter {
        "A" => Kind::Temporal(Unary::All),
        "E" => Kind::Temporal(Unary::Exists),
        "X" => Kind::Temporal(Unary::Next),
        "F" => Kind::Temporal(Unary::Finally),
        "G" => Kind::Temporal(Unary::Globally),
        _ => return None,
    })
}

/// What a word is.
fn word(word: &str) -> Kind {
    if let Some(&(_, keyword)) = KEYWORDS.iter().find(|(spelling, _)| *spelling == word) {
        return Kind::Keyword(keyword);
    }
    let is_pair = matches!(word, "AX" | "AF" | "AG" | "EX" | "EF" | "EG");
    let operator = if is_pair { single(&word[..1]) } else { single(word) };
    operator.unwrap_or(Kind::Word)
}

fn is_part_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
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
            if trimmed.starts_with("//") {
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
        if is_part_of_word(first) {
            let length = rest.find(|c: char| !is_part_of_word(c)).unwrap_or(rest.len());
            self.next += length;
            return if first.is_ascii_digit() { Kind::Number } else { word(&rest[..length]) };
        }
        if let Some(length) = directive(rest) {
            self.next += length;
            return Kind::Directive;
        }
        let found = OPS.iter().find(|(spelling, _)| rest.starts_with(spelling));
        self.next += found.map_or(first.len_utf8(), |(spelling, _)| spelling.len());
        found.map_or(Kind::Other(first), |&(_, op)| Kind::Op(op))
    }
}

/// The length of the directive that a text begins with.
fn directive(text: &str) -> Option<usize> {
    let word = text.strip_prefix('#')?;
    let length = word.find(|c: char| !is_part_of_word(c))?;
    (length > 0 && word[length..].starts_with('#')).then_some(length + 2)
}

#[cfg(test)]
mod tests {
    use ample_budget::Budget;

    use super::*;

    fn tokens(text: &str) -> Vec<Token> {
        tokenize(SourceId(0), text, &Watch::new(&Budget::unlimited()))
    }

    #[test]
    fn the_longest_operator_is_taken() {
        let written = |text: &str| {
            let spelling = |token: Token| text[token.span.start as usize..token.span.end as usize].to_owned();
            tokens(text).into_iter().map(spelling).collect::<Vec<_>>().join(" ").trim_end().to_owned()
        };
        for (text, expected) in [
            ("x:=-1;", "x := - 1 ;"),
            ("p<->q->r", "p <-> q -> r"),
            ("x<=y!=z=w", "x <= y != z = w"),
            ("a&&b||!c", "a && b || ! c"),
            ("a//d\ne/*f*/g", "a e g"),
            ("#MODULE#x#", "#MODULE# x #"),
            ("AG EFx AX A[x U y]", "A G EFx A X A [ x U y ]"),
        ] {
            assert_eq!(written(text), expected, "{text}");
        }
    }

    #[test]
    fn an_open_comment_is_marked_where_it_begins() {
        let tokens = tokens("a /* b");
        assert_eq!(tokens.len(), 3);
        assert_eq!((tokens[1].kind, tokens[1].span.start, tokens[1].span.end), (Kind::OpenComment, 2, 4));
    }
}
