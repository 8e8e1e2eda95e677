//! Temporal formulas: the words that are operators, and what is read only in formulas that a user types beside a model.
//!
//! An `ltl` block knows Spin's operators and nothing else. A formula from the command line knows the letters of other
//! tools as well, in LTL `G F X U W R V M`, in CTL also the path quantifiers `A` and `E`; but a name of the model is
//! always that name, and never an operator. In CTL every temporal operator must stand directly behind a quantifier.
//! The parser keeps a list of those that do not: an operator is put on it when it has been read, and a quantifier
//! takes the last one off again, which is its operand.

use std::collections::HashSet;

use ample_logic::{self as logic, Binding, Dialect};
use ample_model::{Source, Span};

use super::super::ast::{Binary, Expr, ExprKind, Unary};
use super::super::lexer::{Keyword, Kind, Op, Symbol, Symbols, Token};
use super::super::preprocess::preprocess_formula;
use super::{Failed, MAX_NESTING, Parse, Parser};
use crate::diagnostic::{Diagnostic, Rejected};

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

/// What a formula from the command line is about.
#[derive(Clone, Debug)]
pub struct Context<'a> {
    /// The model's files, for its macros.
    pub sources: &'a [Source],
    /// The names of its variables and constants.
    pub names: Vec<&'a str>,
    /// The names of its process types.
    pub processes: Vec<&'a str>,
}

/// A word that is an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Prefix(Unary),
    Infix(Binary, Binding),
    Quantifier(Unary),
    /// An operator about the past before its operand.
    PastPrefix,
    /// An operator about the past between its operands.
    PastInfix,
}

impl Word {
    /// The operator of the logic as one of the language, if it is written so here: letters that are written together
    /// have been cut apart, and truth values are numbers.
    fn of(word: logic::Word) -> Option<Word> {
        Some(match word {
            logic::Word::Prefix(&[operator]) => match operator {
                logic::Unary::Not => return None,
                logic::Unary::Next => Word::Prefix(Unary::Next),
                logic::Unary::Finally => Word::Prefix(Unary::Eventually),
                logic::Unary::Globally => Word::Prefix(Unary::Always),
                logic::Unary::All => Word::Quantifier(Unary::All),
                logic::Unary::Exists => Word::Quantifier(Unary::Exists),
            },
            logic::Word::Infix(operator, binding) => {
                let operator = match operator {
                    logic::Binary::Implies => Binary::Implies,
                    logic::Binary::Iff => Binary::Iff,
                    logic::Binary::Until => Binary::Until,
                    logic::Binary::WeakUntil => Binary::WeakUntil,
                    logic::Binary::Release => Binary::Release,
                    logic::Binary::StrongRelease => Binary::StrongRelease,
                    logic::Binary::And | logic::Binary::Or | logic::Binary::Xor => return None,
                };
                Word::Infix(operator, binding)
            }
            logic::Word::PastPrefix => Word::PastPrefix,
            logic::Word::PastInfix => Word::PastInfix,
            logic::Word::Prefix(_) | logic::Word::Constant(_) => return None,
        })
    }
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

    /// The operator that a word is if it is no name.
    pub(super) fn word(self, text: &str) -> Option<Word> {
        let word = |dialect: Dialect| dialect.word(text).and_then(Word::of);
        match self {
            Notation::Model => None,
            Notation::Block => word(Dialect::Spin),
            Notation::State => {
                word(Dialect::Spin).filter(|word| matches!(word, Word::Infix(Binary::Implies | Binary::Iff, _)))
            }
            Notation::Linear | Notation::Branching => word(Dialect::Promela),
        }
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
    context: &Context<'_>,
    notation: Notation,
) -> Result<(Expr, Vec<Source>), Rejected> {
    let known: HashSet<&str> = context.names.iter().chain(&context.processes).copied().collect();
    let mut ambiguous = Vec::new();
    let mut cut = |tokens: &[Token], symbols: &mut Symbols, is_macro: &dyn Fn(Symbol) -> bool| {
        cut_letters(tokens, symbols, notation, &|text| known.contains(text), is_macro, &mut ambiguous)
    };
    let mut input = preprocess_formula(label, text.clone(), context.sources, &mut cut);
    input.diagnostics.extend(ambiguous.into_iter().map(|word| word.diagnostic(&text)));
    let mut parser = Parser::new(input.tokens, input.symbols, input.sources, input.diagnostics);
    parser.notation = notation;
    parser.names = known.iter().map(|name| parser.symbols.intern(name)).collect();
    parser.proctypes = context.processes.iter().map(|name| parser.symbols.intern(name)).collect();
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

/// A word whose letters can be cut off in two ways.
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

impl Parser {
    /// A formula and nothing after it.
    fn whole_formula(&mut self) -> Parse<Expr> {
        let formula = self.expression()?;
        if self.peek().kind != Kind::End {
            return Err(self.unexpected_after_operand("the end of the formula"));
        }
        if self.notation == Notation::Branching
            && let Some(&(binary, span)) = self.unquantified.iter().min_by_key(|(_, span)| span.start)
        {
            return Err(self.no_quantifier(binary, span));
        }
        Ok(formula)
    }

    /// The operator that this token is.
    pub(super) fn word(&self, token: Token) -> Option<Word> {
        match token.kind {
            Kind::Letter(letter) => self.notation.word(letter.encode_utf8(&mut [0; 4])),
            Kind::Name(name) if !self.names.contains(&name) => self.notation.word(self.symbols.text(name)),
            _ => None,
        }
    }

    /// Notes an operator that has been read, for the rule of CTL.
    pub(super) fn note_temporal(&mut self, binary: bool, operator: Span) {
        if self.notation == Notation::Branching {
            self.unquantified.push((binary, operator));
        }
    }

    /// The quantifier or operator about the past that stands here before its operand, which is refused; none if it is
    /// a name after all.
    pub(super) fn special_prefix(&mut self) -> Parse<Option<Expr>> {
        let token = self.peek();
        let word = self.word(token);
        if !matches!(word, Some(Word::Quantifier(_) | Word::PastPrefix)) || !self.begins_operand(1) {
            return Ok(None);
        }
        match word {
            Some(Word::Quantifier(quantifier)) if self.notation == Notation::Branching => {
                self.quantified(quantifier).map(Some)
            }
            Some(Word::Quantifier(_)) => {
                let message = format!("{} is a path quantifier, which LTL does not have", self.describe(token));
                Err(self.error_with_help(token.span, message, "a formula of CTL is checked with --ctl"))
            }
            _ => Err(self.past_operator()),
        }
    }

    /// The error that the operator that stands here is about the past.
    pub(super) fn past_operator(&mut self) -> Failed {
        let token = self.peek();
        let message = format!("{} is an operator about the past, which is not supported", self.describe(token));
        self.error_with_help(token.span, message, "the operators are `X F G U W R M`, about the future")
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

    /// `A f`, `A [ f U g ]` and so on, where `f` must be a temporal operator with its operands.
    fn quantified(&mut self, quantifier: Unary) -> Parse<Expr> {
        let start = self.next;
        let token = self.take();
        let name = self.help_for_name(self.peek());
        let bracketed = self.at(Op::OpenBracket) && !self.op_at(1, Op::CloseBracket);
        let path = if bracketed { self.nested(Self::bracketed)? } else { self.nested(Self::prefixed)? };
        self.height += 1;
        if !path.is_path_formula() {
            let message = format!("{} does not stand before a temporal operator", self.describe(token));
            let pairs =
                || "in CTL they come in pairs, as in `AG` or `A [ f U g ]`; other formulas are for --ltl".to_owned();
            return Err(self.error_with_help(token.span, message, name.unwrap_or_else(pairs)));
        }
        self.unquantified.pop();
        Ok(Expr { kind: Box::new(ExprKind::Unary(quantifier, path)), span: self.span_from(start) })
    }

    /// `[ f U g ]`: as in NuSMV the operands are whole formulas, so that `->` binds stronger here than `U`.
    fn bracketed(&mut self) -> Parse<Expr> {
        self.take();
        let start = self.next;
        let outer = std::mem::replace(&mut self.until_ends, true);
        let read = self.until(start);
        self.until_ends = outer;
        let path = read?;
        if !self.at(Op::CloseBracket) {
            return Err(self.unexpected_after_operand("`]`"));
        }
        self.take();
        Ok(path)
    }

    fn until(&mut self, start: usize) -> Parse<Expr> {
        let left = self.nested(|parser| parser.binary(1))?;
        let token = self.peek();
        let Some(Word::Infix(operator, _)) = self.word(token) else { return Ok(left) };
        let height = self.height;
        self.take();
        let right = self.nested(|parser| parser.binary(1))?;
        self.height = height.max(self.height) + 1;
        self.note_temporal(true, token.span);
        let span = self.span_from(start);
        Ok(Expr { kind: Box::new(ExprKind::Binary(operator, left, right)), span })
    }

    /// The error that an operator has no quantifier before it.
    fn no_quantifier(&mut self, binary: bool, span: Span) -> Failed {
        let source = self.sources.get(span.source.index()).map_or("", |source| &source.text);
        let written = source.get(span.start as usize..span.end as usize).unwrap_or("").trim();
        let glue = if written.len() > 2 { " " } else { "" };
        let message = format!("`{written}` has no path quantifier");
        // `A [ f U g ]` where `A` is a variable.
        let bracketed = self.tokens.windows(2).filter(|pair| pair[1].kind == Kind::Op(Op::OpenBracket));
        let name =
            bracketed.filter(|pair| pair[1].span.start < span.start).find_map(|pair| self.help_for_name(pair[0]));
        let help = match binary {
            _ if name.is_some() => name.unwrap_or_default(),
            true => format!("write `A [ f {written} g ]` or `E [ f {written} g ]`, or check the formula with --ltl"),
            false => format!("write `A{glue}{written}` or `E{glue}{written}`, or check the formula with --ltl"),
        };
        self.error_with_help(span, message, help)
    }

    /// Refuses `&` and `|` beside an operator that other tools read the other way round.
    pub(super) fn refuse_ambiguous(&mut self, operator: Binary, token: Token, sides: [&Expr; 2]) -> Parse<()> {
        if !matches!(self.notation, Notation::Linear | Notation::Branching) {
            return Ok(());
        }
        for side in sides {
            let ExprKind::Binary(bits @ (Binary::BitAnd | Binary::BitOr), left, _) = &*side.kind else { continue };
            let parenthesised = left.span.start != side.span.start;
            let differs =
                operator.is_temporal() || operator == Binary::And && *bits == Binary::BitOr && side.is_temporal();
            if parenthesised || !differs {
                continue;
            }
            let single = if *bits == Binary::BitAnd { "&" } else { "|" };
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
        let before = self.next.checked_sub(1).and_then(|at| self.tokens.get(at)).copied();
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
