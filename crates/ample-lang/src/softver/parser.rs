//! Tokens to syntax tree, by recursive descent.
//!
//! An error is reported once, with what was found and what was expected; reading goes on with the next declaration,
//! statement or formula. All recursion is bounded, and so is the height of the trees that are built, for those who
//! walk them.

mod expression;

use ample_budget::Budget;
use ample_logic::grammar::{Context, nested};
use ample_model::{Source, SourceId, Span};

use super::ast::{
    Block, Declaration, Expr, ExprKind, Logic, Name, Number, Process, Stated, Statement, StatementKind, Target, Text,
    TypeName,
};
use super::lexer::{KEYWORDS, Keyword, Kind, Op, Token, tokenize};
use crate::cursor::{Cursor, Failed, Parse};
use crate::diagnostic::{Diagnostic, Rejected, closest};
use crate::watch::Watch;
use expression::Written;

/// After so many errors the rest of the text is not looked at.
pub(super) const MAX_ERRORS: usize = 20;

/// Marks the beginning of a module.
const MODULE: &str = "#MODULE#";
/// Says how many bits an integer has.
const INTEGER_LENGTH: &str = "#INTEGER_LENGTH#";

/// Which operators are known where an expression is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// Those of conditions.
    State,
    /// Those of linear temporal logic as well.
    Linear,
    /// Those of computation tree logic as well.
    Branching,
}

impl From<Logic> for Notation {
    fn from(logic: Logic) -> Self {
        match logic {
            Logic::Ctl => Notation::Branching,
            Logic::Ltl => Notation::Linear,
        }
    }
}

/// Parses a program. When the budget is exhausted, the rest is left out.
pub(super) fn parse(source: &Source, watch: &Watch<'_>) -> Result<Text, Rejected> {
    let mut parser = Parser::new(source, watch);
    parser.text();
    let Parser { text, errors, .. } = parser;
    if errors.is_empty() { Ok(text) } else { Err(Rejected::new(vec![source.clone()], errors)) }
}

/// The processes of a program that was accepted before, whatever has become of its formulas.
pub(super) fn reparse(source: &Source) -> Text {
    let budget = Budget::unlimited();
    let watch = Watch::new(&budget);
    let mut parser = Parser::new(source, &watch);
    parser.text();
    parser.text
}

/// Parses an expression or a formula that stands alone.
pub fn parse_formula(source: &Source, notation: Notation) -> Result<Expr, Rejected> {
    let budget = Budget::unlimited();
    let watch = Watch::new(&budget);
    let mut parser = Parser::new(source, &watch);
    parser.alone = true;
    parser.notation = notation;
    match parser.whole_formula() {
        Ok(formula) => Ok(formula),
        Err(Failed) => Err(Rejected::new(vec![source.clone()], parser.errors)),
    }
}

struct Parser<'a> {
    watch: &'a Watch<'a>,
    source: &'a Source,
    tokens: Vec<Token>,
    next: usize,
    errors: Vec<Diagnostic>,
    text: Text,
    /// What the grammar of formulas remembers.
    context: Context<Written>,
    notation: Notation,
    /// How many subscripts are open.
    subscripts: usize,
    /// What is read is a formula on its own and no program.
    alone: bool,
    /// A comment that is not closed has been reported: what is missing after it may stand in it.
    in_comment: bool,
}

impl Cursor for Parser<'_> {
    type Token = Token;

    fn state(&self) -> (&[Token], usize) {
        (&self.tokens, self.next)
    }

    fn step_over(&mut self, _: Token) {
        // A text that there is no time to read ends here.
        self.next = if self.watch.step().is_ok() { self.next + 1 } else { self.tokens.len() - 1 };
    }

    fn report(&mut self, diagnostic: Diagnostic) -> Failed {
        // At the end of the text, everything that is open is missing something.
        let again = self.errors.last().is_some_and(|last| last.span == diagnostic.span);
        if !self.in_comment && !again {
            self.errors.push(diagnostic);
        }
        self.in_comment |= self.peek().kind == Kind::OpenComment;
        Failed
    }
}

impl<'a> Parser<'a> {
    fn new(source: &'a Source, watch: &'a Watch<'a>) -> Self {
        Parser {
            watch,
            source,
            tokens: tokenize(SourceId(0), &source.text, watch),
            next: 0,
            errors: Vec::new(),
            text: Text::default(),
            context: Context::default(),
            notation: Notation::State,
            subscripts: 0,
            alone: false,
            in_comment: false,
        }
    }

    // Looking at tokens.

    fn written(&self, span: Span) -> &'a str {
        self.source.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    fn at_directive(&self, directive: &str) -> bool {
        let token = self.peek();
        token.kind == Kind::Directive && self.written(token.span) == directive
    }

    /// At a word that begins a process or a formula, or at the end of the text.
    fn at_border(&self) -> bool {
        use Keyword::{LtlSpec, Process, Spec};
        match self.peek().kind {
            Kind::Keyword(keyword) => matches!(keyword, Process | Spec | LtlSpec),
            kind => kind == Kind::End,
        }
    }

    /// At a word or bracket that ends a block.
    fn at_closing(&self) -> bool {
        use Keyword::{Else, Fi, Od};
        match self.peek().kind {
            Kind::Keyword(keyword) => matches!(keyword, Else | Fi | Od),
            kind => kind == Kind::Op(Op::CloseBrace),
        }
    }

    fn has_too_many_errors(&self) -> bool {
        self.errors.len() >= MAX_ERRORS
    }

    // Taking tokens.

    fn expect(&mut self, op: Op, expected: &str) -> Parse<Token> {
        if self.at(op) { Ok(self.take()) } else { Err(self.unexpected(expected)) }
    }

    fn expect_name(&mut self, what: &str) -> Parse<Name> {
        let token = self.peek();
        let written = self.written(token.span);
        let help = match token.kind {
            Kind::Word => {
                self.take();
                return Ok(Name { text: written.to_owned(), span: token.span });
            }
            Kind::Keyword(_) => format!("`{written}` is a word of the language and cannot be a name"),
            Kind::Temporal(_) => {
                format!("`{written}` is an operator of temporal logic and cannot be a name")
            }
            _ => return Err(self.unexpected(what)),
        };
        Err(self.error_with_help(token.span, format!("expected {what}, found `{written}`"), help))
    }

    /// The name of a process, which is never taken for an operator.
    fn expect_process(&mut self) -> Parse<Name> {
        let token = self.peek();
        if !matches!(token.kind, Kind::Temporal(_)) {
            return self.expect_name("the name of a process");
        }
        self.take();
        Ok(Name { text: self.written(token.span).to_owned(), span: token.span })
    }

    /// A number without a sign.
    fn expect_number(&mut self, what: &str) -> Parse<Number> {
        let token = self.peek();
        if token.kind != Kind::Number {
            return Err(self.unexpected(what));
        }
        self.take();
        let written = self.written(token.span);
        if !written.bytes().all(|digit| digit.is_ascii_digit()) {
            return Err(self.error(token.span, format!("`{written}` is neither a number nor a name")));
        }
        match written.parse() {
            Ok(value) => Ok(Number { value, span: token.span }),
            Err(_) => Err(self.error(token.span, format!("the number {written} is too large"))),
        }
    }

    // Reporting.

    /// The error that the next token is not what should stand here.
    fn unexpected(&mut self, expected: &str) -> Failed {
        let diagnostic = self.unexpected_diagnostic(expected);
        self.report(diagnostic)
    }

    fn unexpected_diagnostic(&self, expected: &str) -> Diagnostic {
        let token = self.peek();
        match token.kind {
            Kind::OpenComment => Diagnostic::error(token.span, "this comment is not closed"),
            Kind::Other(character) => {
                let message = format!("the character `{}` is not used in SoftVer", character.escape_debug());
                let error = Diagnostic::error(token.span, message);
                match character {
                    '–' | '—' | '−' => error.with_help("write a hyphen, `-`"),
                    '&' => error.with_help("write `&&`"),
                    '|' => error.with_help("write `||`"),
                    '~' => error.with_help("write `!`"),
                    '*' | '/' | '%' => error.with_help("the operators of integers are `+` and `-`"),
                    '#' => error.with_help(format!("the directives are `{MODULE}` and `{INTEGER_LENGTH}`")),
                    ':' => error.with_help("an assignment is written `:=`"),
                    _ => error,
                }
            }
            _ => Diagnostic::error(token.span, format!("expected {expected}, found {}", self.describe(token))),
        }
    }

    fn describe(&self, token: Token) -> String {
        match token.kind {
            Kind::End if self.alone => "the end of the formula".to_owned(),
            Kind::End => "the end of the file".to_owned(),
            _ => format!("`{}`", self.written(token.span)),
        }
    }

    fn misspelt(&self, token: Token, words: &[&str]) -> Option<String> {
        let near = closest(self.written(token.span), words.iter().copied());
        near.filter(|_| token.kind == Kind::Word).map(|word| format!("did you mean `{word}`?"))
    }

    fn with_misspelt(&self, error: Diagnostic, words: &[&str]) -> Diagnostic {
        match self.misspelt(self.peek(), words) {
            Some(help) => error.with_help(help),
            None => error,
        }
    }

    /// From the token with this index to the last one taken.
    fn span_from(&self, start: usize) -> Span {
        let first = self.tokens.get(start).map_or(self.peek().span, |token| token.span);
        let last = self.previous().map_or(first, |token| token.span);
        Span { end: last.end.max(first.end), ..first }
    }

    fn line(&self, span: Span) -> usize {
        self.source.position(span.start).0
    }

    // The text.

    fn text(&mut self) {
        self.integer_length();
        while self.peek().kind != Kind::End && !self.has_too_many_errors() {
            let part = match self.peek().kind {
                Kind::Keyword(Keyword::Spec) => self.stated(Logic::Ctl),
                Kind::Keyword(Keyword::LtlSpec) => self.stated(Logic::Ltl),
                _ if !self.text.formulas.is_empty() => Err(self.after_formulas()),
                _ => self.process(),
            };
            if part.is_err() {
                self.skip_to_border();
            }
        }
        if self.text.processes.is_empty() && self.errors.is_empty() {
            let help = "a program is `{ statements }`, with the declarations of its variables before it";
            self.error_with_help(self.peek().span, "the text has no program", help);
        }
    }

    /// Goes on after an error that leaves it open what the tokens after it belong to.
    fn skip_to_border(&mut self) {
        self.notation = Notation::State;
        while !self.at_border() {
            self.take();
        }
    }

    fn after_formulas(&mut self) -> Failed {
        let error = self.unexpected_diagnostic("an operator, `SPEC`, `LTLSPEC` or the end of the file");
        let error = match self.foreign_word() {
            Some(help) => error.with_help(help),
            None if self.at_keyword(Keyword::Process) => error.with_help("formulas stand after all processes"),
            None => error,
        };
        if self.at_keyword(Keyword::Process) {
            self.take();
        }
        self.report(error)
    }

    fn integer_length(&mut self) {
        if !self.at_directive(INTEGER_LENGTH) {
            return;
        }
        self.take();
        if let Ok(length) = self.expect_number("the number of bits of an integer") {
            self.text.integer_length = Some(length);
            self.eat(Op::Semicolon);
        }
    }

    /// A process, or a program that is none.
    fn process(&mut self) -> Parse<()> {
        let begin = self.peek();
        let named = self.eat_keyword(Keyword::Process);
        if !self.text.processes.is_empty() && (!named || self.text.processes[0].name.is_none()) {
            return Err(self.second_program(begin));
        }
        let name = if named { Some(self.expect_process()?) } else { None };
        let declarations = self.declarations();
        if !self.at(Op::OpenBrace) {
            return Err(self.no_block(named));
        }
        let open = self.take();
        let body = self.block(open, "`}`", &[]);
        let span = name.as_ref().map_or(open.span, |name| name.span);
        self.text.processes.push(Process { name, declarations, body: body?, span });
        Ok(())
    }

    fn second_program(&mut self, begin: Token) -> Failed {
        let sequential = self.text.processes[0].name.is_none();
        if begin.kind == Kind::Keyword(Keyword::Process) && sequential {
            let help = "a program is one block without a name, or processes that all have one";
            return self.error_with_help(begin.span, "a process stands beside a program without a name", help);
        }
        let expected = if sequential { "`SPEC`, `LTLSPEC`" } else { "`process`, `SPEC`, `LTLSPEC`" };
        let error = self.unexpected_diagnostic(&format!("{expected} or the end of the file"));
        let error = self.with_misspelt(error, &["SPEC", "LTLSPEC", "process"]);
        self.report(error)
    }

    fn no_block(&mut self, named: bool) -> Failed {
        let token = self.peek();
        let error = self.unexpected_diagnostic("a declaration or `{`");
        let error = match token.kind {
            Kind::Keyword(Keyword::Process) if !named && self.text.processes.is_empty() => {
                error.with_help("variables are local: declare them behind the name of their process")
            }
            Kind::Directive if self.at_directive(INTEGER_LENGTH) => {
                error.with_help(format!("`{INTEGER_LENGTH}` stands at the beginning of the text"))
            }
            Kind::Directive if self.at_directive(MODULE) => error.with_help("modules are parts of a block"),
            _ => self.with_misspelt(error, &["int", "boolean", "enum", "process"]),
        };
        self.report(error)
    }

    // Declarations.

    fn declarations(&mut self) -> Vec<Declaration> {
        let mut declarations = Vec::new();
        while let Kind::Keyword(Keyword::Int | Keyword::Boolean | Keyword::Enum) = self.peek().kind
            && !self.has_too_many_errors()
        {
            if self.declaration(&mut declarations).is_err() {
                while !self.at_border() && !self.at(Op::OpenBrace) && !self.eat(Op::Semicolon) {
                    self.take();
                }
            }
        }
        declarations
    }

    /// `type name[cells] = initial, …;`
    fn declaration(&mut self, declarations: &mut Vec<Declaration>) -> Parse<()> {
        let ty = self.type_name()?;
        loop {
            let name = self.expect_name("a variable")?;
            let cells = if self.eat(Op::OpenBracket) {
                let cells = self.expect_number("the number of cells")?;
                self.expect(Op::CloseBracket, "`]`")?;
                Some(cells)
            } else {
                None
            };
            let initial = if self.at(Op::Equal) || self.at(Op::Assign) { self.initial()? } else { Vec::new() };
            declarations.push(Declaration { ty: ty.clone(), name, cells, initial });
            if !self.eat(Op::Comma) {
                break;
            }
        }
        if !self.eat(Op::Semicolon) {
            return Err(self.unexpected_after_operand("`,` or `;` after the variable"));
        }
        Ok(())
    }

    fn type_name(&mut self) -> Parse<TypeName> {
        Ok(match self.take().kind {
            Kind::Keyword(Keyword::Boolean) => TypeName::Boolean,
            Kind::Keyword(Keyword::Int) if self.eat(Op::OpenParen) => {
                let bits = self.expect_number("the number of bits")?;
                self.expect(Op::CloseParen, "`)`")?;
                TypeName::Int(Some(bits))
            }
            Kind::Keyword(Keyword::Int) => TypeName::Int(None),
            _ => {
                self.expect(Op::OpenBrace, "`{` and the names of the values")?;
                let mut names = vec![self.expect_name("the name of a value")?];
                while self.eat(Op::Comma) {
                    names.push(self.expect_name("the name of a value")?);
                }
                self.expect(Op::CloseBrace, "`,` or `}`")?;
                TypeName::Enum(names)
            }
        })
    }

    /// `= value` or `= { values }`
    fn initial(&mut self) -> Parse<Vec<Expr>> {
        if self.at(Op::Assign) {
            let help = "an initial value is written `=`; `:=` is for statements";
            return Err(self.error_with_help(self.peek().span, "expected `=`, found `:=`", help));
        }
        self.take();
        Ok(self.values()?.0)
    }

    /// `value` or `{ values }`, and where the braces stand.
    fn values(&mut self) -> Parse<(Vec<Expr>, Option<Span>)> {
        let start = self.next;
        if !self.eat(Op::OpenBrace) {
            return Ok((vec![self.expression()?], None));
        }
        if self.eat(Op::CloseBrace) {
            return Err(self.error(self.span_from(start), "there are no values between the braces"));
        }
        let mut values = vec![self.expression()?];
        while self.eat(Op::Comma) {
            values.push(self.expression()?);
        }
        if !self.eat(Op::CloseBrace) {
            return Err(self.unexpected_after_operand("`,` or `}`"));
        }
        Ok((values, Some(self.span_from(start))))
    }

    // Statements.

    /// Statements up to one of the words, or to the closing brace, which is taken. A faulty statement is left out.
    fn block(&mut self, begin: Token, closing: &str, words: &[Keyword]) -> Parse<Block> {
        let mut block = Block::default();
        loop {
            if self.closes(words) {
                return Ok(block);
            }
            if self.at_directive(MODULE) {
                block.marks.push((block.statements.len(), self.take().span));
            } else if self.at_border() || self.at_closing() {
                self.not_closed(begin, closing);
                // A word that closes nothing, or a second `else`.
                let goes_on = words.is_empty() || words == [Keyword::Fi] && self.at_keyword(Keyword::Else);
                if self.at_border() || !goes_on {
                    return Err(Failed);
                }
                self.take();
                self.eat(Op::Semicolon);
            } else if self.separated_statement(&mut block, closing).is_err() {
                if self.has_too_many_errors() {
                    return Err(Failed);
                }
                self.skip_statement();
            }
        }
    }

    /// At one of the words, or at the closing brace if there are none, which is taken.
    fn closes(&mut self, words: &[Keyword]) -> bool {
        match words {
            [] => self.eat(Op::CloseBrace),
            words => words.iter().any(|word| self.at_keyword(*word)),
        }
    }

    fn not_closed(&mut self, begin: Token, closing: &str) {
        let mut error = self.unexpected_diagnostic(&format!("a statement or {closing}"));
        let (word, line) = (self.written(begin.span), self.line(begin.span));
        error = match self.peek().kind {
            Kind::Keyword(Keyword::Else | Keyword::Fi) if closing == "`}`" => {
                error.with_help("it belongs to no `if`: all before it are closed")
            }
            Kind::Keyword(Keyword::Od) if closing == "`}`" => {
                error.with_help("it belongs to no `while`: all before it are closed")
            }
            _ => error.with_help(format!("the `{word}` in line {line} is not closed")),
        };
        self.report(error);
    }

    /// Goes on after an error in a statement.
    fn skip_statement(&mut self) {
        while !self.at_border() && !self.at_closing() && !self.at_directive(MODULE) && !self.eat(Op::Semicolon) {
            self.take();
        }
    }

    /// A statement and the semicolon behind it, which may be missing before the end of the block.
    fn separated_statement(&mut self, block: &mut Block, closing: &str) -> Parse<()> {
        let statement = nested(self, Self::statement)?;
        block.statements.push(statement);
        if !self.eat(Op::Semicolon) && !self.at_closing() {
            return Err(self.unexpected_after_operand(&format!("`;` or {closing}")));
        }
        Ok(())
    }

    fn statement(&mut self) -> Parse<Statement> {
        let (start, token) = (self.next, self.peek());
        let kind = match token.kind {
            Kind::Keyword(Keyword::Skip) => {
                self.take();
                StatementKind::Skip
            }
            Kind::Keyword(Keyword::Label) => {
                self.take();
                StatementKind::Label(self.expect_name("a label")?)
            }
            Kind::Keyword(Keyword::Send) => self.send()?,
            Kind::Keyword(Keyword::Receive) => self.receive()?,
            Kind::Keyword(Keyword::If) => return self.selection(),
            Kind::Keyword(Keyword::While) => return self.repetition(),
            Kind::Word => self.assignment()?,
            _ => return Err(self.no_statement()),
        };
        Ok(Statement { kind, span: self.span_from(start), size: 1 })
    }

    fn no_statement(&mut self) -> Failed {
        let error = self.unexpected_diagnostic("a statement");
        let error = match self.peek().kind {
            Kind::Keyword(Keyword::Terminate) => error.with_help("every program ends with it, without saying so"),
            Kind::Keyword(Keyword::Int | Keyword::Boolean | Keyword::Enum) => {
                error.with_help("variables are declared before the block")
            }
            Kind::Op(Op::Semicolon) => error.with_help("write `skip;`"),
            Kind::Directive if self.at_directive(INTEGER_LENGTH) => {
                error.with_help(format!("`{INTEGER_LENGTH}` stands at the beginning of the text"))
            }
            Kind::Directive => error.with_help(format!("the directives are `{MODULE}` and `{INTEGER_LENGTH}`")),
            _ => error,
        };
        self.report(error)
    }

    fn assignment(&mut self) -> Parse<StatementKind> {
        let words: Vec<&str> = KEYWORDS.iter().map(|(word, _)| *word).collect();
        let first = self.peek();
        let target = self.target()?;
        if !self.at(Op::Assign) {
            let mut error = self.unexpected_diagnostic("`:=`");
            if self.at(Op::Equal) {
                error = error.with_help("`=` compares; an assignment is written `:=`");
            } else if let Some(help) = self.misspelt(first, &words) {
                error = error.with_help(help);
            } else if self.at(Op::Dot) {
                error = error.with_help("a process does not see the variables of other processes");
            }
            return Err(self.report(error));
        }
        self.take();
        let (values, braces) = self.values()?;
        Ok(StatementKind::Assign { target, values, braces })
    }

    fn target(&mut self) -> Parse<Target> {
        let start = self.next;
        let name = self.expect_name("a variable")?;
        let index = if self.at(Op::OpenBracket) { Some(self.index()?) } else { None };
        Ok(Target { name, index, span: self.span_from(start) })
    }

    fn send(&mut self) -> Parse<StatementKind> {
        let process = self.partner()?;
        let value = self.expression()?;
        if !self.eat(Op::CloseParen) {
            return Err(self.unexpected_after_operand("`)`"));
        }
        Ok(StatementKind::Send(process, value))
    }

    fn receive(&mut self) -> Parse<StatementKind> {
        let process = self.partner()?;
        let target = self.target()?;
        if !self.eat(Op::CloseParen) {
            let error = self.unexpected_diagnostic("`)`").with_help("a value is received into a variable");
            return Err(self.report(error));
        }
        Ok(StatementKind::Receive(process, target))
    }

    /// `send(process,` or `receive(process,`
    fn partner(&mut self) -> Parse<Name> {
        let word = self.take();
        self.expect(Op::OpenParen, &format!("`(` after `{}`", self.written(word.span)))?;
        let process = self.expect_process()?;
        self.expect(Op::Comma, "`,` after the name of the process")?;
        Ok(process)
    }

    fn selection(&mut self) -> Parse<Statement> {
        let begin = self.take();
        let condition = self.condition(begin, Keyword::Then, "`then`")?;
        let span = Span { end: condition.span.end, ..begin.span };
        let first = self.block(begin, "`else` or `fi`", &[Keyword::Else, Keyword::Fi])?;
        let second = match self.eat_keyword(Keyword::Else) {
            true => self.block(begin, "`fi`", &[Keyword::Fi])?,
            false => Block::default(),
        };
        self.take();
        let size = 1 + size(&first) + size(&second);
        Ok(Statement { kind: StatementKind::If(condition, first, second), span, size })
    }

    fn repetition(&mut self) -> Parse<Statement> {
        let begin = self.take();
        let condition = self.condition(begin, Keyword::Do, "`do`")?;
        let span = Span { end: condition.span.end, ..begin.span };
        let body = self.block(begin, "`od`", &[Keyword::Od])?;
        self.take();
        let size = 1 + size(&body);
        Ok(Statement { kind: StatementKind::While(condition, body), span, size })
    }

    /// The condition of an `if` or a `while`, and the word behind it. After an error in it, reading goes on there.
    fn condition(&mut self, begin: Token, word: Keyword, expected: &str) -> Parse<Expr> {
        match self.expression() {
            Ok(condition) if self.eat_keyword(word) => Ok(condition),
            Ok(condition) => {
                self.unexpected_after_operand(expected);
                // What follows is likely to be the block.
                let is_other = self.at_keyword(Keyword::Then) || self.at_keyword(Keyword::Do);
                if is_other || self.at(Op::Assign) {
                    self.skip_to_word(word);
                }
                Ok(condition)
            }
            Err(Failed) => {
                self.skip_to_word(word);
                let kind = Box::new(ExprKind::Truth(true));
                Ok(Expr { kind, span: begin.span, operator: begin.span, height: 1 })
            }
        }
    }

    /// Goes on behind `then` or `do`, if one comes before the next statement.
    fn skip_to_word(&mut self, word: Keyword) {
        while !self.at_border() && !self.at_closing() && !self.at(Op::Semicolon) {
            let token = self.take();
            if matches!(token.kind, Kind::Keyword(found) if found == word || matches!(found, Keyword::Then | Keyword::Do))
            {
                return;
            }
        }
    }

    // Formulas.

    /// `SPEC formula` or `SPEC name := formula`
    fn stated(&mut self, logic: Logic) -> Parse<()> {
        self.take();
        let named = self.peek().kind == Kind::Word && self.op_at(1, Op::Assign);
        let name = if named { Some(self.expect_name("a name")?) } else { None };
        if named {
            self.take();
        }
        self.notation = logic.into();
        let formula = self.formula();
        self.notation = Notation::State;
        self.text.formulas.push(Stated { logic, name, formula: formula? });
        self.eat(Op::Semicolon);
        Ok(())
    }

    fn whole_formula(&mut self) -> Parse<Expr> {
        let formula = self.formula()?;
        self.eat(Op::Semicolon);
        if self.peek().kind != Kind::End {
            return Err(self.unexpected_after_operand("the end of the formula"));
        }
        Ok(formula)
    }
}

/// How many statements there are in a block.
fn size(block: &Block) -> usize {
    block.statements.iter().map(|statement| statement.size).sum()
}
