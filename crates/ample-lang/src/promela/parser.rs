//! Tokens to syntax tree: recursive descent over the grammar of Spin 6.5.
//!
//! Spin's lexer inserts semicolons: after a `}` and after `else` always, and at the end of a line inside a body
//! wherever the line ends like a statement and no parenthesis is open. Here the parser does that, in two places:
//! between two statements, where any line end will do, and before the three tokens that could either continue an
//! expression or begin a statement (`-`, `!` and `(`), where Spin's rule is followed to the letter. So whatever
//! Spin accepts is read as Spin reads it, and a line that begins with `&&` is accepted on top.
//!
//! An error is reported once, with what was found and what was expected; parsing then goes on at the next word
//! that can only begin a unit. All recursion is bounded, and so is the height of the trees that are built, for
//! those who walk them.

mod declaration;
mod expression;
mod formula;
mod inline;
mod statement;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use ample_budget::Budget;
use ample_logic::grammar::{self, Context};
use ample_model::{Source, Span};

use super::ast::{Expr, ExprKind, Function, Model, Name, Proctype, Stmt, Unit, VarRef};
use super::lexer::{Bad, Keyword, Kind, Op, Symbol, Symbols, Token};
use super::preprocess::{Loader, MAX_ERRORS, Preprocessed, join, preprocess_within};
use crate::cursor::{Cursor, Failed, Parse};
use crate::diagnostic::{Diagnostic, Rejected, Severity, closest};
use crate::watch::Watch;
use expression::Written;
use inline::Inline;

pub use formula::{Names, Notation, parse_formula};

/// How deep statements and expressions may be nested.
const MAX_NESTING: usize = 200;
/// How high an expression's tree may be: a long chain of operators is as high as it is long.
const MAX_HEIGHT: usize = 1000;

/// A parsed model.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The model.
    pub model: Model,
    /// The files read; the first is the main one.
    pub sources: Vec<Source>,
    /// Warnings.
    pub diagnostics: Vec<Diagnostic>,
}

/// Parses a model. `defines` are macros given on the command line.
///
/// ```
/// use ample_lang::promela::{parser::parse, preprocess::MemoryLoader};
///
/// let text = "byte x; active proctype P() { do :: x < N -> x++ :: else -> break od }".to_owned();
/// let defines = [("N".to_owned(), "3".to_owned())];
/// let parsed = parse("model.pml", text, &mut MemoryLoader::default(), &defines)?;
/// assert_eq!(parsed.model.units.len(), 2);
/// # Ok::<(), ample_lang::Rejected>(())
/// ```
pub fn parse(
    path: &str,
    text: String,
    loader: &mut dyn Loader,
    defines: &[(String, String)],
) -> Result<Parsed, Rejected> {
    parse_within(path, text, loader, defines, &Watch::new(&Budget::unlimited()))
}

/// As [`parse`]; when the budget is exhausted, the rest is left out.
pub(super) fn parse_within(
    path: &str,
    text: String,
    loader: &mut dyn Loader,
    defines: &[(String, String)],
    watch: &Watch<'_>,
) -> Result<Parsed, Rejected> {
    parse_input(preprocess_within(path, text, loader, defines, watch), false, watch)
}

/// As [`parse_within`], with the pointers of PROM+.
pub(crate) fn parse_with_pointers(
    path: &str,
    text: String,
    loader: &mut dyn Loader,
    defines: &[(String, String)],
    watch: &Watch<'_>,
) -> Result<Parsed, Rejected> {
    parse_input(preprocess_within(path, text, loader, defines, watch), true, watch)
}

fn parse_input(input: Preprocessed, pointers: bool, watch: &Watch<'_>) -> Result<Parsed, Rejected> {
    let parser = Parser::new(input, watch);
    let mut parser = if pointers { parser.with_pointers() } else { parser };
    // What a failed preprocessing leaves is not what was meant: its errors would only mislead.
    let model = if parser.errors() == 0 { parser.model() } else { Model::default() };
    if parser.errors() > 0 {
        return Err(Rejected::new(parser.sources, parser.diagnostics));
    }
    Ok(Parsed { model, sources: parser.sources, diagnostics: parser.diagnostics })
}

struct Parser<'w> {
    watch: &'w Watch<'w>,
    symbols: Symbols,
    sources: Vec<Source>,
    diagnostics: Vec<Diagnostic>,
    /// The tokens being read: the file's, or those of an inline call's expansion; the last is the end.
    tokens: Rc<[Token]>,
    next: usize,
    /// How many parentheses and brackets are open.
    groups: usize,
    /// What the grammar of formulas remembers: also how deep statements are nested.
    context: Context<Written>,
    /// The height of the expression read last.
    height: usize,
    /// Inside a body, where the end of a line may end a statement.
    in_sequence: bool,
    /// Which temporal operators are known here.
    notation: Notation,
    /// The names of the model that a formula is about: they are no operators.
    names: HashSet<Symbol>,
    /// Just behind an inline call or embedded C code, which like a `}` needs no semicolon.
    closed_at: Option<usize>,
    typedefs: HashSet<Symbol>,
    /// All proctypes of the model, and those declared so far.
    proctypes: HashSet<Symbol>,
    declared: HashSet<Symbol>,
    inlines: HashMap<Symbol, Rc<Inline>>,
    /// The inline calls being expanded, outermost first.
    calls: Vec<Symbol>,
    /// Where `return` puts its value.
    result: Option<VarRef>,
    /// The number of the inline call being expanded, and of the last one that was.
    inline: u32,
    inline_count: u32,
    /// Tokens made by inline calls so far.
    inlined: usize,
    claims: usize,
    formulas: usize,
    /// PROM+ is read: there are pointers, and `new` and `reset` are words of the language.
    pointers: bool,
    /// The functions of PROM+, wherever they are defined.
    functions: HashSet<Symbol>,
    /// The body of a function is read.
    in_function: bool,
}

impl Cursor for Parser<'_> {
    type Token = Token;

    /// There is always an end token: `preprocess` and `inline` put one there.
    fn state(&self) -> (&[Token], usize) {
        (&self.tokens, self.next)
    }

    fn step_over(&mut self, token: Token) {
        match token.kind {
            Kind::Op(Op::OpenParen | Op::OpenBracket) => self.groups += 1,
            Kind::Op(Op::CloseParen | Op::CloseBracket) => self.groups = self.groups.saturating_sub(1),
            _ => {}
        }
        // A text that there is no time to read ends here.
        self.next = if self.watch.step().is_ok() { self.next + 1 } else { self.tokens.len() - 1 };
    }

    fn report(&mut self, mut diagnostic: Diagnostic) -> Failed {
        if let (None, Some(&call)) = (&diagnostic.help, self.calls.last()) {
            diagnostic.help = Some(format!("this is read in a call of the inline `{}`", self.symbols.text(call)));
        }
        self.diagnostics.push(diagnostic);
        Failed
    }
}

impl<'w> Parser<'w> {
    fn new(input: Preprocessed, watch: &'w Watch<'w>) -> Self {
        let Preprocessed { tokens, symbols, sources, diagnostics } = input;
        let is_proctype =
            |token: &Token| matches!(token.kind, Kind::Keyword(Keyword::Proctype) | Kind::Keyword(Keyword::DProctype));
        let named = tokens.windows(2).filter(|pair| is_proctype(&pair[0])).filter_map(|pair| match pair[1].kind {
            Kind::Name(name) => Some(name),
            _ => None,
        });
        Parser {
            watch,
            proctypes: named.collect(),
            symbols,
            sources,
            diagnostics,
            tokens: tokens.into(),
            next: 0,
            groups: 0,
            context: Context::default(),
            height: 0,
            in_sequence: false,
            notation: Notation::Model,
            names: HashSet::new(),
            closed_at: None,
            typedefs: HashSet::new(),
            declared: HashSet::new(),
            inlines: HashMap::new(),
            calls: Vec::new(),
            result: None,
            inline: 0,
            inline_count: 0,
            inlined: 0,
            claims: 0,
            formulas: 0,
            pointers: false,
            functions: HashSet::new(),
            in_function: false,
        }
    }

    /// Reads PROM+. A function may be called before its definition.
    fn with_pointers(mut self) -> Self {
        self.pointers = true;
        for at in 0..self.tokens.len() {
            let is_definition =
                matches!(self.tokens[at].kind, Kind::Name(word) if self.symbols.text(word) == "function");
            let kind = |ahead: usize| self.tokens.get(at + ahead).map(|token| token.kind);
            if let (true, Some(Kind::Name(name)), Some(Kind::Op(Op::OpenParen))) = (is_definition, kind(1), kind(2)) {
                self.functions.insert(name);
            }
        }
        self
    }

    /// What is read.
    fn language(&self) -> &'static str {
        if self.pointers { "PROM+" } else { "Promela" }
    }

    // Looking at tokens.

    fn name_at(&self, ahead: usize) -> Option<Symbol> {
        match self.token_at(ahead).kind {
            Kind::Name(symbol) => Some(symbol),
            _ => None,
        }
    }

    fn at_word(&self, word: &str) -> bool {
        self.name_at(0).is_some_and(|symbol| self.symbols.text(symbol) == word)
    }

    /// Whether Spin's lexer would put a semicolon here because a line has ended.
    fn line_ends_statement(&self) -> bool {
        let ends = |kind| match kind {
            Kind::Name(_) | Kind::Number(_) | Kind::Char(_) => true,
            Kind::Op(op) => {
                matches!(op, Op::CloseBrace | Op::CloseParen | Op::CloseBracket | Op::Increment | Op::Decrement)
            }
            Kind::Keyword(keyword) => matches!(
                keyword,
                Keyword::Od
                    | Keyword::Fi
                    | Keyword::Else
                    | Keyword::Break
                    | Keyword::True
                    | Keyword::False
                    | Keyword::Skip
                    | Keyword::Timeout
                    | Keyword::NonProgress
            ),
            _ => false,
        };
        self.in_sequence
            && self.groups == 0
            && self.peek().newline
            && self.previous().is_some_and(|token| ends(token.kind))
    }

    // Taking tokens.

    fn expect(&mut self, op: Op, context: &str) -> Parse<Token> {
        if self.at(op) { Ok(self.take()) } else { Err(self.unexpected(&format!("`{}` {context}", op.text()))) }
    }

    fn expect_name(&mut self, what: &str) -> Parse<Name> {
        let Some(symbol) = self.name_at(0) else { return Err(self.unexpected_name(what)) };
        let text = self.symbols.text(symbol);
        if self.pointers && matches!(text, "new" | "reset") {
            let help = format!("`{text}` is a word of the language and cannot be a name");
            let message = format!("expected {what}, found `{text}`");
            let span = self.peek().span;
            return Err(self.error_with_help(span, message, help));
        }
        let span = self.take().span;
        Ok(Name { text: self.symbols.text(symbol).to_owned(), span })
    }

    /// Takes all `;` and `->` that stand here; whether there was one.
    fn separators(&mut self) -> bool {
        let before = self.next;
        while self.at(Op::Semicolon) || self.at(Op::Arrow) {
            self.take();
        }
        self.next > before
    }

    // Reporting.

    fn errors(&self) -> usize {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).count()
    }

    /// The error that the next token is not what should stand here.
    fn unexpected(&mut self, expected: &str) -> Failed {
        let token = self.peek();
        match token.kind {
            Kind::Bad(Bad::Text) => self.error(token.span, "this string is not closed on its line"),
            Kind::Bad(Bad::Char) => self.error(token.span, "this character constant is not closed"),
            Kind::Bad(Bad::Comment) => self.error(token.span, "this comment is not closed"),
            Kind::Other(character) => self.unknown_character(token.span, character),
            kind if is_embedded_c(kind) => self.embedded_c(),
            _ => {
                let found = self.describe(token);
                self.error(token.span, format!("expected {expected}, found {found}"))
            }
        }
    }

    /// The error that no name stands where one should.
    fn unexpected_name(&mut self, expected: &str) -> Failed {
        let Token { kind: Kind::Keyword(word), span, .. } = self.peek() else { return self.unexpected(expected) };
        let message = format!("expected {expected}, found `{}`", word.text());
        self.error_with_help(span, message, format!("`{}` is a word of the language and cannot be a name", word.text()))
    }

    fn unknown_character(&mut self, span: Span, character: char) -> Failed {
        let message = format!("the character `{}` is not used in {}", character.escape_debug(), self.language());
        match character {
            '“' | '”' | '„' => self.error_with_help(span, message, "write a straight quote, `\"`"),
            '‘' | '’' => self.error_with_help(span, message, "write a straight quote, `'`"),
            '–' | '—' | '−' => self.error_with_help(span, message, "write a hyphen, `-`"),
            _ => self.error(span, message),
        }
    }

    fn describe(&self, token: Token) -> String {
        match token.kind {
            Kind::End if self.notation.is_separate() => "the end of the formula".to_owned(),
            Kind::End if self.calls.is_empty() => "the end of the file".to_owned(),
            Kind::End => "the end of the inline".to_owned(),
            Kind::Text(_) => "a string".to_owned(),
            kind => format!("`{}`", self.symbols.spelling(kind)),
        }
    }

    /// Reports the embedded C code that stands here and steps over it.
    fn embedded_c(&mut self) -> Failed {
        let token = self.take();
        while let Kind::Text(_) = self.peek().kind {
            self.take();
        }
        if self.at(Op::OpenBracket) {
            self.skip_group(Op::OpenBracket, Op::CloseBracket);
        }
        if self.at(Op::OpenBrace) {
            self.skip_group(Op::OpenBrace, Op::CloseBrace);
        }
        self.closed_at = Some(self.next);
        let word = self.symbols.spelling(token.kind);
        self.error_with_help(
            token.span,
            format!("embedded C code is not supported: `{word}`"),
            "write the step in Promela; what the C code reads and changes cannot be known here",
        )
    }

    /// Steps over a bracketed group that begins here; whether it is closed.
    fn skip_group(&mut self, open: Op, close: Op) -> bool {
        let groups = self.groups;
        let mut depth = 0_usize;
        while self.peek().kind != Kind::End {
            let kind = self.take().kind;
            depth += usize::from(kind == Kind::Op(open));
            depth -= usize::from(kind == Kind::Op(close));
            if depth == 0 {
                self.groups = groups;
                return true;
            }
        }
        false
    }

    // Places and texts.

    /// From the token with this index to the last one taken. An argument of an inline call stands elsewhere than
    /// the inline's body: what lies in one argument has its place there, all else has its place in the body.
    fn span_from(&self, start: usize) -> Span {
        let taken = self.tokens.get(start..self.next).unwrap_or(&[]);
        let (Some(first), Some(last)) = (taken.first(), taken.last()) else { return self.peek().span };
        if self.inline == 0 || first.site != last.site || first.distance == 0 {
            return join(first.site, last.site);
        }
        // An argument may in turn have been put together from arguments: those nearest to it are of one text.
        let nearest = taken.iter().map(|token| token.distance).min().unwrap_or(0);
        let mut own = taken.iter().filter(|token| token.distance == nearest);
        let begin = own.next().unwrap_or(first);
        join(begin.span, own.next_back().unwrap_or(begin).span)
    }

    /// The text of the tokens from this index to the last one taken: macros as used, white space folded.
    fn text_from(&self, start: usize) -> String {
        let mut text = String::new();
        let mut before: Option<Span> = None;
        for token in self.tokens.get(start..self.next).unwrap_or(&[]) {
            if before == Some(token.span) {
                continue;
            }
            if before.is_some() && (token.space || token.newline) {
                text.push(' ');
            }
            before = Some(token.span);
            let source = self.sources.get(token.span.source.index()).map_or("", |source| &source.text);
            let written = source.get(token.span.start as usize..token.span.end as usize).unwrap_or("");
            text.push_str(&written.split_whitespace().collect::<Vec<_>>().join(" "));
        }
        text
    }

    /// Runs `read` one level deeper, or reports that this is too deep.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        grammar::nested(self, read)
    }

    // Units.

    fn model(&mut self) -> Model {
        let mut units = Vec::new();
        while self.peek().kind != Kind::End && self.errors() < MAX_ERRORS {
            if self.separators() {
                continue;
            }
            let before = self.next;
            match self.unit() {
                Ok(unit) => units.extend(unit),
                Err(Failed) => self.recover(before),
            }
        }
        Model { units }
    }

    /// Goes on after an error: a faulty declaration ends with its semicolon, anything else with the next unit.
    fn recover(&mut self, before: usize) {
        self.in_sequence = false;
        self.notation = Notation::Model;
        let in_declaration = !self.tokens.get(before).is_some_and(|token| begins_unit(token.kind));
        if self.next == before {
            self.take();
        }
        while self.peek().kind != Kind::End && !begins_unit(self.peek().kind) {
            if in_declaration && self.at(Op::Semicolon) {
                break;
            }
            self.take();
        }
        self.groups = 0;
    }

    /// A unit; an inline definition leaves none.
    fn unit(&mut self) -> Parse<Option<Unit>> {
        if self.pointers && self.at_word("function") {
            return self.function().map(|function| Some(Unit::Function(function)));
        }
        let Kind::Keyword(keyword) = self.peek().kind else { return self.global() };
        Ok(match keyword {
            Keyword::Active | Keyword::Proctype | Keyword::DProctype => Some(Unit::Proctype(self.proctype()?)),
            Keyword::Init => Some(Unit::Init(self.init()?)),
            Keyword::Never => Some(Unit::Never(self.claim()?)),
            Keyword::Trace | Keyword::Notrace => Some(self.trace(keyword == Keyword::Notrace)?),
            Keyword::Ltl => Some(self.formula()?),
            Keyword::Typedef => Some(self.typedef()?),
            Keyword::Inline => {
                self.inline_definition()?;
                None
            }
            Keyword::CCode | Keyword::CDecl | Keyword::CState | Keyword::CTrack => {
                // The code has been stepped over, so there is nothing to recover from.
                self.embedded_c();
                None
            }
            _ => return self.global(),
        })
    }

    fn global(&mut self) -> Parse<Option<Unit>> {
        if self.at_mtype_list() {
            return self.mtype_list().map(Some);
        }
        if self.at_declaration() {
            return Ok(Some(Unit::Declaration(self.declaration()?)));
        }
        if let (Some(ty), Some(_)) = (self.name_at(0), self.name_at(1)) {
            return Err(self.unknown_type(ty));
        }
        if self.errors() > 0 {
            // What is left of a unit that could not be read: to report it would only mislead.
            return Err(Failed);
        }
        Err(self.not_a_unit())
    }

    /// The error that no unit begins here.
    fn not_a_unit(&mut self) -> Failed {
        const EXPECTED: &str = "a declaration, a proctype or another unit";
        let token = self.peek();
        let help = match token.kind {
            Kind::Op(Op::CloseBrace) => "all braces before it are closed".to_owned(),
            Kind::Name(name) => match closest(self.symbols.text(name), UNITS.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "statements stand in the body of a proctype or of `init`".to_owned(),
            },
            _ => return self.unexpected(EXPECTED),
        };
        let message = format!("expected {EXPECTED}, found {}", self.describe(token));
        self.error_with_help(token.span, message, help)
    }

    fn proctype(&mut self) -> Parse<Proctype> {
        let active = self.active()?;
        if !self.eat_keyword(Keyword::Proctype) && !self.eat_keyword(Keyword::DProctype) {
            return Err(self.unexpected("`proctype`"));
        }
        let symbol = self.name_at(0);
        let name = self.expect_name("the name of the proctype")?;
        self.declared.extend(symbol);
        self.expect(Op::OpenParen, "before the parameters")?;
        let parameters = self.parameters()?;
        self.expect(Op::CloseParen, "after the parameters")?;
        let priority = self.priority()?;
        let provided = self.provided()?;
        let (body, end) = self.body()?;
        Ok(Proctype { name, active, parameters, priority, provided, body, end })
    }

    /// `function name(parameters) [: type] { … }`
    fn function(&mut self) -> Parse<Function> {
        self.take();
        let name = self.expect_name("the name of the function")?;
        self.expect(Op::OpenParen, "before the parameters")?;
        let parameters = self.parameters()?;
        self.expect(Op::CloseParen, "after the parameters")?;
        let result = if self.eat(Op::Colon) {
            let ty = self.type_name()?;
            let star = self.peek().span;
            Some((ty, self.eat(Op::Star).then_some(star)))
        } else {
            None
        };
        self.in_function = true;
        let body = self.body();
        self.in_function = false;
        let (body, end) = body?;
        Ok(Function { name, parameters, result, body, end })
    }

    fn active(&mut self) -> Parse<Option<Expr>> {
        let span = self.peek().span;
        if !self.eat_keyword(Keyword::Active) {
            return Ok(None);
        }
        if !self.eat(Op::OpenBracket) {
            return Ok(Some(Expr { kind: Box::new(ExprKind::Const(1)), span }));
        }
        let count = self.expression()?;
        self.expect(Op::CloseBracket, "after the number of processes")?;
        Ok(Some(count))
    }

    fn priority(&mut self) -> Parse<Option<Expr>> {
        if self.eat_keyword(Keyword::Priority) { self.prefixed().map(Some) } else { Ok(None) }
    }

    fn provided(&mut self) -> Parse<Option<Expr>> {
        if !self.eat_keyword(Keyword::Provided) {
            return Ok(None);
        }
        self.expect(Op::OpenParen, "after `provided`")?;
        let condition = self.expression()?;
        self.expect(Op::CloseParen, "after the condition")?;
        Ok(Some(condition))
    }

    /// `{ … }` of a process, and its closing brace.
    fn body(&mut self) -> Parse<(Vec<Stmt>, Span)> {
        let open = self.expect(Op::OpenBrace, "before the body")?;
        self.in_sequence = true;
        let body = self.sequence()?;
        if self.peek().kind == Kind::End {
            let line = self.sources.get(open.span.source.index()).map_or(0, |s| s.position(open.span.start).0);
            let (span, found) = (self.peek().span, self.describe(self.peek()));
            let help = format!("the body that begins in line {line} is not closed");
            return Err(self.error_with_help(span, format!("expected `}}`, found {found}"), help));
        }
        let end = self.expect(Op::CloseBrace, "after the body")?.span;
        self.in_sequence = false;
        Ok((body, end))
    }

    fn init(&mut self) -> Parse<Proctype> {
        let span = self.take().span;
        let priority = self.priority()?;
        let (body, end) = self.body()?;
        let name = Name { text: ":init:".to_owned(), span };
        Ok(Proctype { name, active: None, parameters: Vec::new(), priority, provided: None, body, end })
    }

    fn claim(&mut self) -> Parse<Proctype> {
        let span = self.take().span;
        let name = match self.name_at(0) {
            Some(_) => self.expect_name("the name of the claim")?,
            None => Name { text: format!("never_{}", self.claims), span },
        };
        self.claims += 1;
        let (body, end) = self.body()?;
        Ok(Proctype { name, active: None, parameters: Vec::new(), priority: None, provided: None, body, end })
    }

    fn trace(&mut self, negated: bool) -> Parse<Unit> {
        let start = self.next;
        self.take();
        let (body, _) = self.body()?;
        Ok(Unit::Trace { negated, body, span: self.span_from(start) })
    }

    fn formula(&mut self) -> Parse<Unit> {
        let span = self.take().span;
        let name = match self.name_at(0) {
            Some(_) => self.expect_name("the name of the formula")?,
            None => {
                self.formulas += 1;
                Name { text: format!("ltl_{}", self.formulas - 1), span }
            }
        };
        self.expect(Op::OpenBrace, "before the formula")?;
        self.notation = Notation::Block;
        let start = self.next;
        let formula = self.expression()?;
        let text = self.text_from(start);
        self.separators();
        if !self.at(Op::CloseBrace) {
            return Err(self.unexpected_after_operand("`}` after the formula"));
        }
        self.take();
        self.notation = Notation::Model;
        Ok(Unit::Ltl { name, formula, text })
    }
}

/// The words that begin a unit.
const UNITS: [&str; 9] = ["active", "proctype", "init", "never", "ltl", "typedef", "inline", "trace", "notrace"];

/// Whether this word can stand nowhere but at the beginning of a unit.
fn begins_unit(kind: Kind) -> bool {
    use Keyword::{Active, DProctype, Init, Inline, Ltl, Never, Notrace, Proctype, Trace, Typedef};
    let Kind::Keyword(word) = kind else { return false };
    matches!(word, Active | Proctype | DProctype | Init | Never | Ltl | Typedef | Inline | Trace | Notrace)
}

/// Whether this word begins embedded C code.
fn is_embedded_c(kind: Kind) -> bool {
    use Keyword::{CCode, CDecl, CExpr, CState, CTrack};
    let Kind::Keyword(word) = kind else { return false };
    matches!(word, CCode | CDecl | CExpr | CState | CTrack)
}

#[cfg(test)]
mod tests;
