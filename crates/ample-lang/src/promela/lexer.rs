//! Text to tokens, for the preprocessor and the parser alike.
//!
//! The tokens are those of Spin's lexer, found as C finds its preprocessing tokens: a malformed stretch of text
//! becomes a [`Kind::Bad`] or [`Kind::Other`] token, so that it is only reported if it reaches the parser and not
//! if it stands in a skipped group or an unused macro. The words of temporal logic are ordinary names here, since
//! only the parser knows that it is inside an `ltl` block.

use std::collections::HashMap;
use std::rc::Rc;

use ample_budget::Budget;
use ample_model::{SourceId, Span};

use crate::cursor;
use crate::watch::Watch;

/// An interned piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Symbol(u32);

/// The interned pieces of text. The keywords come first, so that a symbol's number shows whether it is one.
#[derive(Clone, Debug)]
pub struct Symbols {
    numbers: HashMap<Rc<str>, Symbol>,
    texts: Vec<Rc<str>>,
}

impl Default for Symbols {
    fn default() -> Self {
        let mut symbols = Symbols { numbers: HashMap::new(), texts: Vec::new() };
        for (text, _) in KEYWORDS {
            symbols.intern(text);
        }
        symbols
    }
}

impl Symbols {
    /// The symbol of a text.
    pub fn intern(&mut self, text: &str) -> Symbol {
        if let Some(&symbol) = self.numbers.get(text) {
            return symbol;
        }
        let text: Rc<str> = text.into();
        let symbol = Symbol(self.texts.len() as u32);
        self.texts.push(text.clone());
        self.numbers.insert(text, symbol);
        symbol
    }

    /// The symbol of a text, if it has been interned.
    pub fn get(&self, text: &str) -> Option<Symbol> {
        self.numbers.get(text).copied()
    }

    /// The text of a symbol.
    pub fn text(&self, symbol: Symbol) -> &str {
        &self.texts[symbol.0 as usize]
    }

    /// How a token is written.
    pub fn spelling(&self, kind: Kind) -> String {
        match kind {
            Kind::Name(symbol) | Kind::Number(symbol) => self.text(symbol).to_owned(),
            Kind::Text(symbol) => format!("\"{}\"", self.text(symbol)),
            Kind::Char(symbol) => format!("'{}'", self.text(symbol)),
            Kind::Keyword(keyword) => keyword.text().to_owned(),
            Kind::Op(op) => op.text().to_owned(),
            Kind::Letter(character) | Kind::Other(character) => character.to_string(),
            Kind::Bad(Bad::Text) => "\"".to_owned(),
            Kind::Bad(Bad::Char) => "'".to_owned(),
            Kind::Bad(Bad::Comment) => "/*".to_owned(),
            Kind::Nothing | Kind::End => String::new(),
        }
    }
}

/// A lexical error that may yet turn out to be harmless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bad {
    /// A string without its closing quote.
    Text,
    /// A character constant without its closing quote.
    Char,
    /// A comment without its end.
    Comment,
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An identifier.
    Name(Symbol),
    /// A digit and the letters, digits and underscores after it.
    Number(Symbol),
    /// A string: what stands between the quotes, as written.
    Text(Symbol),
    /// A character constant: what stands between the quotes, as written.
    Char(Symbol),
    /// A word of the language; only after preprocessing, for a macro may be called like a keyword.
    Keyword(Keyword),
    /// An operator or a bracket.
    Op(Op),
    /// An operator of temporal logic that was cut off a longer word, as the `G` of `GF`: only in a formula that does
    /// not stand in a model.
    Letter(char),
    /// A character that no token begins with.
    Other(char),
    /// A lexical error.
    Bad(Bad),
    /// No token at all: an empty macro argument beside `##`.
    Nothing,
    /// The end of the text.
    End,
}

/// A token with its place.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Where it stands; of a token from a macro, where the macro is used.
    pub span: Span,
    /// A line ended before it, perhaps inside a comment: this may imply a semicolon.
    pub newline: bool,
    /// It is the first of a line, so that `#` begins a directive.
    pub line_start: bool,
    /// White space or a comment stands before it.
    pub space: bool,
    /// A macro's name met while the macro was being expanded: never expanded again.
    pub painted: bool,
    /// Where it stands in the text being read: of an inline call's argument, where the parameter stands.
    pub site: Span,
    /// How many inline calls it has been an argument of.
    pub distance: u8,
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

macro_rules! words {
    ($(#[$doc:meta])* $type:ident $table:ident { $($text:literal $name:ident,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub enum $type { $($name,)* }

        const $table: &[(&str, $type)] = &[$(($text, $type::$name),)*];

        impl $type {
            /// As it is written.
            pub fn text(self) -> &'static str {
                match self { $($type::$name => $text,)* }
            }
        }
    };
}

words! {
    /// The words of the language. (`in` is one only inside `for (…)` and a name elsewhere.)
    Keyword KEYWORDS {
        "active" Active, "assert" Assert, "atomic" Atomic, "bit" Bit, "bool" Bool, "break" Break, "byte" Byte,
        "c_code" CCode, "c_decl" CDecl, "c_expr" CExpr, "c_state" CState, "c_track" CTrack, "chan" Chan,
        "D_proctype" DProctype, "d_step" DStep, "do" Do, "else" Else, "empty" Empty, "enabled" Enabled,
        "eval" Eval, "false" False, "fi" Fi, "for" For, "full" Full, "get_priority" GetPriority, "goto" Goto,
        "hidden" Hidden, "if" If, "init" Init, "inline" Inline, "int" Int, "len" Len, "local" Local, "ltl" Ltl,
        "mtype" Mtype, "nempty" Nempty, "never" Never, "nfull" Nfull, "notrace" Notrace, "np_" NonProgress,
        "od" Od, "of" Of, "pc_value" PcValue, "pid" Pid, "printf" Printf, "printm" Printm, "priority" Priority,
        "proctype" Proctype, "provided" Provided, "return" Return, "run" Run, "select" Select,
        "set_priority" SetPriority, "short" Short, "show" Show, "skip" Skip, "timeout" Timeout, "trace" Trace,
        "true" True, "typedef" Typedef, "unless" Unless, "unsigned" Unsigned, "xr" Xr, "xs" Xs,
    }
}

words! {
    /// The operators and brackets, those of the preprocessor included.
    Op OPS {
        "{" OpenBrace, "}" CloseBrace, "(" OpenParen, ")" CloseParen, "[" OpenBracket, "]" CloseBracket,
        ";" Semicolon, "," Comma, "." Dot, ".." DotDot, ":" Colon, "::" Option, "->" Arrow, "-" Minus,
        "--" Decrement, "+" Plus, "++" Increment, "*" Star, "/" Slash, "%" Percent, "&" And, "&&" AndAnd,
        "|" Or, "||" OrOr, "^" Caret, "~" Tilde, "!" Bang, "!=" NotEqual, "!!" BangBang, "?" Question,
        "??" QuestionQuestion, "<" Less, "<=" LessEqual, "<<" ShiftLeft, ">" Greater, ">=" GreaterEqual,
        ">>" ShiftRight, "=" Assign, "==" Equal, "@" At, "#" Hash, "##" HashHash,
    }
}

/// A name that is a word of the language becomes that word.
pub fn classify(kind: Kind) -> Kind {
    match kind {
        Kind::Name(Symbol(number)) => KEYWORDS.get(number as usize).map_or(kind, |&(_, word)| Kind::Keyword(word)),
        _ => kind,
    }
}

/// All tokens of a text; there is none for its end.
pub fn tokenize(source: SourceId, text: &str, symbols: &mut Symbols) -> Vec<Token> {
    tokenize_within(source, text, symbols, &Watch::new(&Budget::unlimited()))
}

/// As [`tokenize`]; when the budget is exhausted, the rest is left out.
pub(super) fn tokenize_within(source: SourceId, text: &str, symbols: &mut Symbols, watch: &Watch<'_>) -> Vec<Token> {
    let mut lexer = Lexer { cursor: Cursor::new(text), source, symbols, buffer: String::new() };
    let mut tokens = Vec::new();
    while let Some(token) = lexer.next_token(tokens.is_empty()) {
        tokens.push(token);
        if watch.step().is_err() {
            break;
        }
    }
    tokens
}

/// A place in a text, in which a backslash at the end of a line joins it with the next.
#[derive(Clone)]
struct Cursor<'a> {
    text: &'a str,
    next: usize,
    /// One past the last character taken.
    end: usize,
}

impl<'a> Cursor<'a> {
    fn new(text: &'a str) -> Self {
        let mut cursor = Cursor { text, next: 0, end: 0 };
        cursor.skip_splices();
        cursor
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.next..).unwrap_or("")
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn peek_second(&self) -> Option<char> {
        let mut ahead = self.clone();
        ahead.take();
        ahead.peek()
    }

    fn take(&mut self) -> Option<char> {
        let character = self.peek()?;
        self.next += character.len_utf8();
        self.end = self.next;
        self.skip_splices();
        Some(character)
    }

    fn skip_splices(&mut self) {
        while let Some(after) = self.rest().strip_prefix('\\') {
            let line = after.trim_start_matches([' ', '\t', '\r']);
            let Some(line) = line.strip_prefix('\n') else { return };
            self.next = self.text.len() - line.len();
        }
    }
}

struct Lexer<'a> {
    cursor: Cursor<'a>,
    source: SourceId,
    symbols: &'a mut Symbols,
    buffer: String,
}

/// What stands before a token.
#[derive(Default)]
struct Gap {
    newline: bool,
    line_start: bool,
    space: bool,
    /// A comment that is not closed begins here.
    open_comment: Option<usize>,
}

impl Lexer<'_> {
    fn next_token(&mut self, first: bool) -> Option<Token> {
        let gap = self.gap();
        let start = gap.open_comment.unwrap_or(self.cursor.next);
        let kind = if gap.open_comment.is_some() { Kind::Bad(Bad::Comment) } else { self.kind()? };
        // Only the two characters that open a comment are marked, not the rest of the file.
        let end = if gap.open_comment.is_some() { start + 2 } else { self.cursor.end };
        let span = Span { source: self.source, start: start as u32, end: end as u32 };
        Some(Token {
            kind,
            span,
            site: span,
            newline: gap.newline,
            line_start: gap.line_start || first,
            space: gap.space,
            painted: false,
            distance: 0,
        })
    }

    fn gap(&mut self) -> Gap {
        let mut gap = Gap::default();
        while let Some(character) = self.cursor.peek() {
            match (character, self.cursor.peek_second()) {
                ('\n', _) => {
                    gap.newline = true;
                    gap.line_start = true;
                    self.cursor.take();
                }
                (c, _) if c.is_ascii_whitespace() || c == '\u{b}' || c == '\u{feff}' => {
                    self.cursor.take();
                }
                ('/', Some('/')) => self.line_comment(),
                ('/', Some('*')) => self.block_comment(&mut gap),
                // The end of no comment, left by one that was thought to nest; Spin ignores it as well.
                ('*', Some('/')) => {
                    self.cursor.take();
                    self.cursor.take();
                }
                _ => break,
            }
            gap.space = true;
        }
        gap
    }

    fn line_comment(&mut self) {
        while self.cursor.peek().is_some_and(|c| c != '\n') {
            self.cursor.take();
        }
    }

    fn block_comment(&mut self, gap: &mut Gap) {
        let start = self.cursor.next;
        self.cursor.take();
        self.cursor.take();
        while let Some(character) = self.cursor.take() {
            gap.newline |= character == '\n';
            if character == '*' && self.cursor.peek() == Some('/') {
                self.cursor.take();
                return;
            }
        }
        gap.open_comment = Some(start);
    }

    fn kind(&mut self) -> Option<Kind> {
        let first = self.cursor.peek()?;
        Some(match first {
            '0'..='9' => Kind::Number(self.word()),
            'a'..='z' | 'A'..='Z' | '_' => Kind::Name(self.word()),
            '"' => self.quoted('"', Kind::Text, Bad::Text),
            '\'' => self.quoted('\'', Kind::Char, Bad::Char),
            _ => self.operator(first),
        })
    }

    fn word(&mut self) -> Symbol {
        self.buffer.clear();
        while let Some(c) = self.cursor.peek().filter(|c| c.is_ascii_alphanumeric() || *c == '_') {
            self.buffer.push(c);
            self.cursor.take();
        }
        self.symbols.intern(&self.buffer)
    }

    /// A string or a character constant; without its end on the same line it is only the quote.
    fn quoted(&mut self, quote: char, whole: fn(Symbol) -> Kind, bad: Bad) -> Kind {
        self.cursor.take();
        let after_quote = self.cursor.clone();
        self.buffer.clear();
        loop {
            match self.cursor.take() {
                None | Some('\n') => {
                    self.cursor = after_quote;
                    return Kind::Bad(bad);
                }
                Some(c) if c == quote => return whole(self.symbols.intern(&self.buffer)),
                Some('\\') => {
                    self.buffer.push('\\');
                    if let Some(escaped) = self.cursor.peek().filter(|c| *c != '\n') {
                        self.buffer.push(escaped);
                        self.cursor.take();
                    }
                }
                Some(c) => self.buffer.push(c),
            }
        }
    }

    fn operator(&mut self, first: char) -> Kind {
        let second = self.cursor.peek_second();
        let fits = |text: &str, length: usize| {
            let mut characters = text.chars();
            text.len() == length && characters.next() == Some(first) && (length == 1 || characters.next() == second)
        };
        let find = |length: usize| OPS.iter().find(|(text, _)| fits(text, length)).map(|&(_, op)| op);
        let (length, kind) = match (find(2), find(1)) {
            (Some(op), _) => (2, Kind::Op(op)),
            (None, Some(op)) => (1, Kind::Op(op)),
            (None, None) => (1, Kind::Other(first)),
        };
        for _ in 0..length {
            self.cursor.take();
        }
        kind
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spellings(text: &str) -> Vec<String> {
        let mut symbols = Symbols::default();
        let tokens = tokenize(SourceId(0), text, &mut symbols);
        tokens.iter().map(|token| symbols.spelling(token.kind)).collect()
    }

    #[test]
    fn the_longest_operator_is_taken() {
        for (text, expected) in [
            ("c!!x", "c !! x"),
            ("a->b::c", "a -> b :: c"),
            ("1..N", "1 .. N"),
            ("[]<>p", "[ ] < > p"),
            ("p<->q", "p < -> q"),
            ("x+++1", "x ++ + 1"),
            ("a/**/b//c\nd", "a b d"),
            ("n\\\name", "name"),
            (r#"printf("a\"b", 'c')"#, r#"printf ( "a\"b" , 'c' )"#),
            ("don't", "don ' t"),
            ("a /* b /* c */ */ d", "a d"),
        ] {
            assert_eq!(spellings(text).join(" "), expected, "{text}");
        }
    }

    #[test]
    fn a_token_knows_its_place_and_whether_a_line_ended_before_it() {
        let mut symbols = Symbols::default();
        let tokens = tokenize(SourceId(3), "ab /*\n*/ c\nd", &mut symbols);
        let facts: Vec<_> = tokens.iter().map(|t| (t.span.start, t.span.end, t.newline, t.line_start)).collect();
        assert_eq!(facts, [(0, 2, false, true), (9, 10, true, false), (11, 12, true, true)]);
        assert!(tokens.iter().all(|t| t.span.source == SourceId(3)));
    }

    #[test]
    fn an_open_comment_is_marked_where_it_begins() {
        let tokens = tokenize(SourceId(0), "a /* b", &mut Symbols::default());
        assert_eq!(tokens.last().map(|t| (t.kind, t.span.start)), Some((Kind::Bad(Bad::Comment), 2)));
    }

    #[test]
    fn keywords_are_names_until_they_are_classified() {
        let mut symbols = Symbols::default();
        let proctype = symbols.intern("proctype");
        let other = symbols.intern("procedure");
        assert_eq!(classify(Kind::Name(proctype)), Kind::Keyword(Keyword::Proctype));
        assert_eq!(classify(Kind::Name(other)), Kind::Name(other));
    }
}
