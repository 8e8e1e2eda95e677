//! Text to tokens.
//!
//! Names may contain `$`, `#`, `-` and `\`, as in NuSMV: `a-b` is a name, and a difference needs blanks. Only in `a->b` the
//! minus belongs to the arrow.

use ample_model::{SourceId, Span};

use crate::diagnostic::Diagnostic;
use crate::watch::Watch;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A name, or a word of the language.
    Word,
    /// A decimal number.
    Number,
    /// A constant of a word type: `0ud8_255`.
    WordConstant,
    /// A number of another kind: real, fractional, exponential.
    OtherNumber,
    /// An operator or a bracket.
    Sign(&'static str),
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

/// The longest first.
const SIGNS: &[&str] = &[
    "<->", ":=", "::", "..", "->", "<<", ">>", "!=", "<=", ">=", ":", ";", ",", "(", ")", "[", "]", "{", "}", ".", "+",
    "-", "*", "/", "=", "<", ">", "&", "|", "!", "?",
];

/// The words that are no names.
pub const RESERVED: &[&str] = &[
    "MODULE",
    "DEFINE",
    "MDEFINE",
    "CONSTANTS",
    "VAR",
    "IVAR",
    "FROZENVAR",
    "INIT",
    "TRANS",
    "INVAR",
    "SPEC",
    "CTLSPEC",
    "LTLSPEC",
    "PSLSPEC",
    "COMPUTE",
    "NAME",
    "INVARSPEC",
    "FAIRNESS",
    "JUSTICE",
    "COMPASSION",
    "ISA",
    "ASSIGN",
    "CONSTRAINT",
    "SIMPWFF",
    "CTLWFF",
    "LTLWFF",
    "PSLWFF",
    "COMPWFF",
    "IN",
    "MIN",
    "MAX",
    "MIRROR",
    "PRED",
    "PREDICATES",
    "process",
    "array",
    "of",
    "boolean",
    "integer",
    "real",
    "word",
    "word1",
    "bool",
    "signed",
    "unsigned",
    "extend",
    "resize",
    "sizeof",
    "toint",
    "count",
    "uwconst",
    "swconst",
    "EX",
    "AX",
    "EF",
    "AF",
    "EG",
    "AG",
    "E",
    "F",
    "O",
    "G",
    "H",
    "X",
    "Y",
    "Z",
    "A",
    "U",
    "S",
    "V",
    "T",
    "BU",
    "EBF",
    "ABF",
    "EBG",
    "ABG",
    "case",
    "esac",
    "mod",
    "next",
    "init",
    "union",
    "in",
    "xor",
    "xnor",
    "self",
    "TRUE",
    "FALSE",
    "abs",
    "max",
    "min",
];

/// The words that begin a part of a module.
pub const SECTIONS: &[&str] = &[
    "MODULE",
    "DEFINE",
    "MDEFINE",
    "CONSTANTS",
    "VAR",
    "IVAR",
    "FROZENVAR",
    "INIT",
    "TRANS",
    "INVAR",
    "SPEC",
    "CTLSPEC",
    "LTLSPEC",
    "PSLSPEC",
    "COMPUTE",
    "INVARSPEC",
    "FAIRNESS",
    "JUSTICE",
    "COMPASSION",
    "ISA",
    "ASSIGN",
    "MIRROR",
    "PRED",
    "FUN",
];

/// The tokens of a text; the last one is its end.
pub fn tokenize(source: SourceId, text: &str, watch: &Watch<'_>) -> Result<Vec<Token>, Diagnostic> {
    let mut tokens = Vec::new();
    let mut at = 0;
    loop {
        watch.step()?;
        let blank = |c: char| c.is_whitespace() || c == '\u{feff}';
        at += text[at..].len() - text[at..].trim_start_matches(blank).len();
        let rest = &text[at..];
        let (kind, length) = match rest.chars().next() {
            None => (Kind::End, 0),
            Some(_) if rest.starts_with("/--") => match rest.find("--/") {
                Some(end) => {
                    at += end + 3;
                    continue;
                }
                None => (Kind::OpenComment, 3),
            },
            Some(_) if rest.starts_with("--") => {
                at += rest.find('\n').unwrap_or(rest.len());
                continue;
            }
            Some(first) => token(rest, first),
        };
        let span = Span { source, start: at as u32, end: (at + length) as u32 };
        tokens.push(Token { kind, span });
        at += length;
        if kind == Kind::End {
            return Ok(tokens);
        }
    }
}

fn token(rest: &str, first: char) -> (Kind, usize) {
    if first.is_ascii_alphabetic() || first == '_' {
        return (Kind::Word, word_length(rest));
    }
    if first.is_ascii_digit() {
        return number(rest);
    }
    // A name between quotation marks, which belong to it.
    if let Some(end) = rest.strip_prefix('"').and_then(|rest| rest.find(['"', '\n']))
        && rest.as_bytes()[end + 1] == b'"'
    {
        return (Kind::Word, end + 2);
    }
    match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
        Some(sign) => (Kind::Sign(sign), sign.len()),
        None => (Kind::Other(first), first.len_utf8()),
    }
}

fn word_length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let mut length = 0;
    while let Some(&byte) = bytes.get(length) {
        let is_arrow = byte == b'-' && matches!(bytes.get(length + 1), Some(b'>' | b'-'));
        if is_arrow || !(byte.is_ascii_alphanumeric() || b"_$#-".contains(&byte)) {
            break;
        }
        length += 1;
    }
    length
}

/// `12`, `0ud8_255`, `0b101`, or a real number.
fn number(rest: &str) -> (Kind, usize) {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    if let Some(tail) = rest.strip_prefix('0')
        && let Some(length) = word_constant(tail)
    {
        return (Kind::WordConstant, 1 + length);
    }
    let length = digits(rest);
    let after = &rest[length..];
    let fraction = after.strip_prefix('.').map_or(0, digits);
    if fraction > 0 {
        return (Kind::OtherNumber, length + 1 + fraction);
    }
    if after.starts_with(['e', 'E', 'f', 'F', '\'']) {
        let end = after.bytes().position(|byte| !(byte.is_ascii_alphanumeric() || b"'/".contains(&byte)));
        return (Kind::OtherNumber, length + end.unwrap_or(after.len()));
    }
    (Kind::Number, length)
}

/// What follows the `0`: `ud8_255`.
fn word_constant(tail: &str) -> Option<usize> {
    let bytes = tail.as_bytes();
    let sign = usize::from(matches!(bytes.first(), Some(b'u' | b's')));
    if !matches!(bytes.get(sign)?, b'b' | b'B' | b'o' | b'O' | b'd' | b'D' | b'h' | b'H') {
        return None;
    }
    let body = bytes[sign + 1..].iter().take_while(|byte| byte.is_ascii_hexdigit() || **byte == b'_').count();
    (body > 0).then_some(sign + 1 + body)
}
