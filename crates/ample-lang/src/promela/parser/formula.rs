//! Temporal formulas: the words that are operators, and what is read only in formulas that a user types beside a model.
//!
//! An `ltl` block knows Spin's operators and nothing else. A formula from the command line knows the letters of other
//! tools as well, in LTL `G F X U W R V M`, in CTL also the path quantifiers `A` and `E`; but a name of the model is
//! always that name, and never an operator.

use std::collections::HashSet;

use ample_logic::grammar::{self, Infix, Problem, Source as _};
use ample_logic::{self as logic, Dialect, Word};
use ample_model::{BinaryOp, Source, Span};

use super::super::ast::{Binary, Expr, ExprKind};
use super::super::lexer::{Keyword, Kind, Op, Symbol, Symbols, Token};
use super::super::preprocess::preprocess_formula;
use super::{Failed, MAX_NESTING, Parse, Parser, Written};
use crate::cursor::Cursor;
use crate::diagnostic::{Diagnostic, Rejected};
use crate::formula::{Elsewhere, refused};
use crate::watch::Watch;

/// Which operators are known where an expression is read, beside those of Promela.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// In the text of a model: none.
    Model,
    /// In an `ltl` block: those of Spin.
    Block,
    /// In a state expression from the command line: the implication and the equivalence.
    State,
    /// In an LTL formula from the command line: those of Spin, and the letters.
    Linear,
    /// In a CTL formula from the command line: the same, and the path quantifiers.
    Branching,
}

/// The names that a formula from the command line can speak of.
#[derive(Clone, Debug)]
pub struct Names<'a> {
    /// The model's files, for its macros.
    pub sources: &'a [Source],
    /// Its variables and constants.
    pub variables: Vec<&'a str>,
    /// Its process types.
    pub processes: Vec<&'a str>,
    /// It is one of PROM+, with pointers.
    pub pointers: bool,
}

impl Notation {
    /// Whether the operators `[]` and `<>` and their kin are known.
    pub(super) fn is_temporal(self) -> bool {
        matches!(self, Notation::Block | Notation::Linear | Notation::Branching)
    }

    /// Whether `->` and `<->` are operators everywhere.
    pub(super) fn has_implication(self) -> bool {
        self != Notation::Model
    }

    /// Whether the text stands beside the model, not in it.
    pub(in crate::promela) fn is_separate(self) -> bool {
        matches!(self, Notation::State | Notation::Linear | Notation::Branching)
    }

    /// The operator that a word is if it is no name. Letters that are written together have been cut apart, and truth
    /// values are numbers.
    pub(super) fn word(self, text: &str) -> Option<Word> {
        use logic::Binary::{Iff, Implies, Xor};
        let word = match self {
            Notation::Model => None,
            Notation::Block | Notation::State => Dialect::Spin.word(text),
            Notation::Linear | Notation::Branching => Dialect::Promela.word(text),
        };
        word.filter(|word| match word {
            Word::Infix(operator, _) if self == Notation::State => matches!(operator, Implies | Iff),
            _ if self == Notation::State => false,
            Word::Infix(operator, _) => *operator != Xor,
            Word::Prefix(operators) => operators.len() == 1,
            Word::Constant(_) => false,
            Word::PastPrefix | Word::PastInfix => true,
        })
    }
}

/// How else an operator can be written whose word is a name of the model.
fn other_spelling(word: &str) -> &'static str {
    match word {
        "G" => "write `[]`",
        "F" => "write `<>`",
        "X" => "write `next`",
        "U" => "write `until`",
        "W" => "write `weakuntil`",
        "R" | "V" => "write `release`",
        "M" => "write `g U (f && g)` for `f M g`",
        "A" => "write `AG`, `AF`, `AX` in one word",
        "E" => "write `EG`, `EF`, `EX` in one word",
        "next" => "write `X`",
        "always" => "write `[]`",
        "eventually" => "write `<>`",
        "until" | "stronguntil" => "write `U`",
        "weakuntil" => "write `W`",
        "release" => "write `V`",
        "implies" => "write `->`",
        _ => "write `<->`",
    }
}

/// Parses a formula on its own: what a user types on the command line. `label` stands for a file name in messages.
pub fn parse_formula(
    label: &str,
    text: String,
    names: &Names<'_>,
    notation: Notation,
    watch: &Watch<'_>,
) -> Result<(Expr, Vec<Source>), Rejected> {
    let known: HashSet<&str> = names.variables.iter().chain(&names.processes).copied().collect();
    let mut ambiguous = Vec::new();
    let mut cut = |tokens: &[Token], symbols: &mut Symbols, is_macro: &dyn Fn(Symbol) -> bool| {
        cut_letters(tokens, symbols, notation, &|text| known.contains(text), is_macro, &mut ambiguous)
    };
    let mut input = preprocess_formula(label, text.clone(), names.sources, &mut cut, watch);
    input.diagnostics.extend(ambiguous.into_iter().map(|word| word.diagnostic(&text)));
    let mut parser = Parser::new(input, watch);
    parser.pointers = names.pointers;
    parser.notation = notation;
    parser.names = known.iter().map(|name| parser.symbols.intern(name)).collect();
    parser.proctypes = names.processes.iter().map(|name| parser.symbols.intern(name)).collect();
    parser.declared = parser.proctypes.clone();
    let parsed = if parser.errors() == 0 { parser.whole_formula() } else { Err(Failed) };
    match parsed {
        Ok(formula) if parser.errors() == 0 => Ok((formula, parser.sources)),
        _ => Err(Rejected::new(parser.sources, parser.diagnostics)),
    }
}

/// How many letters at the beginning of a word could be prefix operators.
fn letters_of(word: &str) -> usize {
    word.bytes().take_while(|byte| b"AEFGX".contains(byte)).count()
}

/// How many letters can be cut off a word that is no name: what is left over must be a name, or nothing. A quantifier is
/// not cut off its operator.
fn letters_to_cut(word: &str, is_name: &dyn Fn(&str) -> bool) -> Vec<usize> {
    let splits = |length: usize| !word[..length].ends_with(['A', 'E']) && is_name(&word[length..]);
    // More of them than can be nested are no operators.
    let most = letters_of(word).min(MAX_NESTING);
    let named: Vec<usize> = (1..=most).filter(|&length| length < word.len() && splits(length)).collect();
    // The letter at its end is a name of the model sooner than an operator.
    if named.is_empty() && most == word.len() { vec![most] } else { named }
}

/// A word that can be split into operators and a name in two ways.
struct Ambiguous {
    word: Span,
    readings: [String; 2],
}

impl Ambiguous {
    fn diagnostic(self, text: &str) -> Diagnostic {
        let written = text.get(self.word.start as usize..self.word.end as usize).unwrap_or("");
        let [one, other] = self.readings;
        let message = format!("`{written}` can be read as `{one}` and as `{other}`");
        Diagnostic::error(self.word, message).with_help("write a blank behind each operator")
    }
}

/// So many letters of a word, and what is left of it, with blanks between them.
fn apart(word: &str, letters: usize) -> String {
    let operators: String = word[..letters].chars().flat_map(|letter| [letter, ' ']).collect();
    (operators + &word[letters..]).trim_end().to_owned()
}

/// Cuts words like `GF`, `GFp` and `AG` into their letters, unless the whole word is a name.
fn cut_letters(
    tokens: &[Token],
    symbols: &mut Symbols,
    notation: Notation,
    is_known: &dyn Fn(&str) -> bool,
    is_macro: &dyn Fn(Symbol) -> bool,
    ambiguous: &mut Vec<Ambiguous>,
) -> Vec<Token> {
    if !matches!(notation, Notation::Linear | Notation::Branching) {
        return tokens.to_vec();
    }
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    for token in tokens {
        let is_name = |word: &str| is_known(word) || symbols.get(word).is_some_and(is_macro);
        let word = match token.kind {
            Kind::Name(symbol) => symbols.text(symbol).to_owned(),
            _ => String::new(),
        };
        // What follows these is the name of a label, a variable or a field of something else.
        let inside = out.last().is_some_and(|t| matches!(t.kind, Kind::Op(Op::At | Op::Colon | Op::Dot)));
        let whole = inside || word.len() < 2 || is_name(&word) || notation.word(&word).is_some();
        let lengths = if whole { Vec::new() } else { letters_to_cut(&word, &is_name) };
        if let [one, other, ..] = lengths[..] {
            ambiguous.push(Ambiguous { word: token.span, readings: [apart(&word, one), apart(&word, other)] });
        }
        let Some(length) = lengths.first().copied() else {
            out.push(*token);
            continue;
        };
        let part = |kind: Kind, from: usize, to: usize| {
            let (start, end) = (token.span.start + from as u32, token.span.start + to as u32);
            let span = Span { start, end, ..token.span };
            Token { kind, span, site: span, space: token.space && from == 0, ..*token }
        };
        let letters = word[..length].chars().enumerate();
        out.extend(letters.map(|(at, letter)| part(Kind::Letter(letter), at, at + 1)));
        if length < word.len() {
            out.push(part(Kind::Name(symbols.intern(&word[length..])), length, word.len()));
        }
    }
    out
}

impl Parser<'_> {
    /// A formula and nothing after it.
    fn whole_formula(&mut self) -> Parse<Expr> {
        let read = grammar::formula(self)?;
        if self.peek().kind != Kind::End {
            return Err(self.unexpected_after_operand("the end of the formula"));
        }
        Ok(read.tree)
    }

    /// The operator that this token is.
    pub(super) fn word(&self, token: Token) -> Option<Word> {
        match token.kind {
            Kind::Letter(letter) => self.notation.word(letter.encode_utf8(&mut [0; 4])),
            Kind::Name(name) if !self.names.contains(&name) => self.notation.word(self.symbols.text(name)),
            _ => None,
        }
    }

    /// The operator before an operand that the word here is, if it is one. A quantifier without an operand behind it is a
    /// name after all.
    pub(super) fn prefix_word(&mut self) -> Parse<Option<logic::Unary>> {
        use logic::Unary::{All, Exists};
        match self.word(self.peek()) {
            Some(Word::Prefix(&[All | Exists]) | Word::PastPrefix) if !self.begins_operand(1) => Ok(None),
            Some(Word::Prefix(&[operator])) => Ok(Some(operator)),
            Some(Word::PastPrefix) => {
                let place = self.here(1);
                Err(self.refuse(Problem::Past(place)))
            }
            _ => Ok(None),
        }
    }

    /// Reports what the grammar does not allow.
    pub(super) fn refuse_formula(&mut self, problem: Problem<Written>) -> Failed {
        let tokens = problem.place().map(|operator| self.tokens_of(operator));
        let written = tokens.into_iter().flatten().map(|token| self.symbols.spelling(token.kind)).collect::<String>();
        let span = match (problem, problem.place()) {
            (Problem::TooHigh { start, .. }, _) => self.span_from(start),
            (_, Some(operator)) => self.span_of(operator),
            (_, None) => self.peek().span,
        };
        let mut diagnostic = refused(problem, span, &written, Elsewhere::Option);
        if let Some(help) = self.help_for_operator(problem) {
            diagnostic = diagnostic.with_help(help);
        }
        self.report(diagnostic)
    }

    fn span_of(&self, operator: Written) -> Span {
        match self.tokens_of(operator) {
            [first, .., last] => super::join(first.span, last.span),
            [only] => only.span,
            [] => self.peek().span,
        }
    }

    /// What to write instead where a name of the model was taken for an operator, or the other way round.
    fn help_for_operator(&self, problem: Problem<Written>) -> Option<String> {
        match problem {
            Problem::QuantifierAlone(quantifier) => self.help_for_name(*self.tokens.get(quantifier.token + 1)?),
            // `A [ f U g ]` where `A` is a variable.
            Problem::Unquantified(operator, _) => {
                let before = self.tokens.get(..operator.token)?;
                let mut bracketed = before.windows(2).filter(|pair| pair[1].kind == Kind::Op(Op::OpenBracket));
                bracketed.find_map(|pair| self.help_for_name(pair[0]))
            }
            _ => None,
        }
    }

    /// Whether an operand can begin so many tokens ahead.
    fn begins_operand(&self, ahead: usize) -> bool {
        let token = self.token_at(ahead);
        match token.kind {
            Kind::Name(_) | Kind::Letter(_) => !matches!(self.word(token), Some(Word::Infix(..) | Word::PastInfix)),
            Kind::Number(_) | Kind::Char(_) => true,
            Kind::Op(Op::OpenParen | Op::OpenBracket | Op::Bang | Op::Tilde) => true,
            Kind::Op(Op::Less) => self.op_at(ahead + 1, Op::Greater),
            Kind::Keyword(word) => {
                use Keyword::{Empty, Enabled, False, Full, Len, Nempty, Nfull, NonProgress, PcValue, Timeout, True};
                matches!(
                    word,
                    Empty | Enabled | False | Full | Len | Nempty | Nfull | NonProgress | PcValue | Timeout | True
                )
            }
            _ => false,
        }
    }

    /// Refuses `&` and `|` beside an operator that other tools read the other way round.
    pub(super) fn refuse_ambiguous(&mut self, infix: Infix<Binary, Written>, sides: [&Expr; 2]) -> Parse<()> {
        let Infix { operator, binding, place } = infix;
        // Between the brackets of a quantifier all operators bind more strongly than the until, in other tools too.
        if !matches!(self.notation, Notation::Linear | Notation::Branching) || binding.level == 0 {
            return Ok(());
        }
        for side in sides {
            let ExprKind::Binary(Binary::Arithmetic(bits), left, _) = &*side.kind else { continue };
            let is_and = operator == Binary::Logical(logic::Binary::And);
            let differs = match bits {
                BinaryOp::BitAnd => operator.is_temporal(),
                BinaryOp::BitOr => operator.is_temporal() || is_and && side.is_temporal(),
                _ => false,
            };
            let parenthesised = left.span.start != side.span.start;
            if parenthesised || !differs {
                continue;
            }
            let single = if *bits == BinaryOp::BitAnd { "&" } else { "|" };
            let token = self.tokens[place.token];
            let message = format!("`{single}` beside {} needs parentheses", self.describe(token));
            let help = format!("`{single}` binds stronger here, as in Promela, and weaker in other tools");
            return Err(self.error_with_help(side.span, message, help));
        }
        Ok(())
    }

    /// The error that neither an operator nor what ends the expression stands behind an operand.
    pub(super) fn unexpected_after_operand(&mut self, end: &str) -> Failed {
        let expected = format!("an operator or {end}");
        let Some(help) = self.help_after_operand() else { return self.unexpected(&expected) };
        let token = self.peek();
        let message = format!("expected {expected}, found {}", self.describe(token));
        self.error_with_help(token.span, message, help)
    }

    /// What to write for an operator whose word is a name of the model, if such a name stands here.
    pub(super) fn help_for_name(&self, token: Token) -> Option<String> {
        let Kind::Name(name) = token.kind else { return None };
        let text = self.symbols.text(name);
        if !self.names.contains(&name) || self.notation.word(text).is_none() {
            return None;
        }
        Some(format!("`{text}` is a name of the model and so no operator: {}", other_spelling(text)))
    }

    /// What to do about a variable whose name is an operator in an `ltl` block, if that may be what stands there.
    pub(super) fn help_in_block(&self, token: Token) -> Option<String> {
        let Kind::Name(name) = token.kind else { return None };
        let text = self.symbols.text(name);
        if self.notation != Notation::Block || self.notation.word(text).is_none() {
            return None;
        }
        Some(format!(
            "`{text}` is an operator in an ltl block, as in Spin: a formula of --ltl can speak of such a variable"
        ))
    }

    fn help_after_operand(&self) -> Option<String> {
        if self.at(Op::Assign) {
            return Some("to compare, write `==`".to_owned());
        }
        let before = self.previous();
        let words = before.into_iter().filter(|_| self.begins_operand(0)).chain([self.peek()]);
        for token in words {
            if let Some(help) = self.help_for_name(token) {
                return Some(help);
            }
            let Kind::Name(name) = token.kind else { continue };
            let text = self.symbols.text(name);
            if self.names.contains(&name) {
                continue;
            }
            match self.notation {
                Notation::Block if matches!(text, "G" | "F" | "R" | "M") => {
                    let spelling = other_spelling(text);
                    return Some(format!("`{text}` is no operator in an ltl block: {spelling}"));
                }
                Notation::State if Notation::Branching.word(text).is_some() || letters_of(text) == text.len() => {
                    return Some(format!("`{text}` is a temporal operator, for formulas that are checked with --ltl"));
                }
                Notation::Model | Notation::Block => {}
                _ => match text {
                    "and" => return Some("write `&&`".to_owned()),
                    "or" => return Some("write `||`".to_owned()),
                    "not" => return Some("write `!`".to_owned()),
                    "imply" => return Some("write `->`".to_owned()),
                    _ => {}
                },
            }
        }
        None
    }
}
