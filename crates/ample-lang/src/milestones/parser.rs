//! Tokens to syntax tree: recursive descent over the grammar of the thesis, in both of its spellings.
//!
//! An error is reported once, with what was found and what was expected; reading goes on with the next declaration,
//! command or formula. All recursion is bounded, and so is the height of the trees that are built, for those who
//! walk them.

mod expression;

use std::collections::HashSet;

use ample_budget::Budget;
use ample_logic::grammar::Context;
use ample_model::{Source, SourceId, Span};

use super::ast::{Assignment, Command, Declaration, Expr, Instances, Name, ProcessType, Stated, Text};
use super::lexer::{Keyword, Kind, Op, Token, tokenize_within};
use super::model::Logic;
use crate::cursor::{Cursor, Failed, Parse};
use crate::diagnostic::{Diagnostic, Rejected, closest};
use crate::watch::Watch;
use expression::Written;

/// After so many errors the rest of the text is not looked at.
pub(super) const MAX_ERRORS: usize = 20;

/// The words that begin a section of a model.
const SECTIONS: [&str; 9] = ["ACTIONS", "ACTION", "VARIABLES", "VARIABLE", "LOCAL", "MAIN", "GLOBAL", "CTL", "LTL"];

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

/// Parses a model. When the budget is exhausted, the rest is left out.
pub(super) fn parse(source: &Source, watch: &Watch<'_>) -> Result<Text, Rejected> {
    let mut parser = Parser::new(source, HashSet::new(), watch);
    parser.sections();
    let Parser { text, errors, .. } = parser;
    if errors.is_empty() { Ok(text) } else { Err(Rejected::new(vec![source.clone()], errors)) }
}

/// Parses an expression or a formula that stands alone. `names` are those of the model: they are no operators.
pub fn parse_formula(source: &Source, names: HashSet<String>, notation: Notation) -> Result<Expr, Rejected> {
    let budget = Budget::unlimited();
    let watch = Watch::new(&budget);
    let mut parser = Parser::new(source, names, &watch);
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
    /// The names that are no operators of temporal logic, whatever they look like.
    names: HashSet<String>,
    /// How many letters of the next token have been read as operators: `GF` is two.
    letters: usize,
    /// What is read is a formula on its own and no model.
    alone: bool,
    /// Where the section MAIN begins.
    main: Option<Span>,
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
        if !self.in_comment {
            self.errors.push(diagnostic);
        }
        self.in_comment |= self.peek().kind == Kind::OpenComment;
        Failed
    }
}

impl<'a> Parser<'a> {
    fn new(source: &'a Source, names: HashSet<String>, watch: &'a Watch<'a>) -> Self {
        Parser {
            watch,
            source,
            tokens: tokenize_within(SourceId(0), &source.text, watch),
            next: 0,
            errors: Vec::new(),
            text: Text::default(),
            context: Context::default(),
            notation: Notation::State,
            names,
            letters: 0,
            alone: false,
            main: None,
            in_comment: false,
        }
    }

    // Looking at tokens.

    /// At a word that begins or ends a section, or at the end of the text.
    fn at_border(&self) -> bool {
        match self.peek().kind {
            Kind::Keyword(keyword) => !matches!(keyword, Keyword::True | Keyword::False),
            kind => kind == Kind::End,
        }
    }

    fn written(&self, span: Span) -> &'a str {
        self.source.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    // Taking tokens.

    fn eat_separators(&mut self) {
        while self.at(Op::Semicolon) || self.at(Op::Comma) {
            self.take();
        }
    }

    fn expect(&mut self, op: Op, expected: &str) -> Parse<Token> {
        if self.at(op) { Ok(self.take()) } else { Err(self.unexpected(expected)) }
    }

    fn expect_name(&mut self, what: &str) -> Parse<Name> {
        let token = self.peek();
        match token.kind {
            Kind::Word => {
                self.take();
                Ok(Name { text: self.written(token.span).to_owned(), span: token.span })
            }
            Kind::Keyword(_) => {
                let written = self.written(token.span);
                let help = format!("`{written}` is a word of the language and cannot be a name");
                Err(self.error_with_help(token.span, format!("expected {what}, found `{written}`"), help))
            }
            _ => Err(self.unexpected(what)),
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
                let message = format!("the character `{}` is not used in Milestones", character.escape_debug());
                let error = Diagnostic::error(token.span, message);
                match character {
                    '–' | '—' | '−' => error.with_help("write a hyphen, `-`"),
                    '~' => error.with_help("write `!`"),
                    '^' => error.with_help("the operators of numbers are `+ - * / %`"),
                    '{' | '}' => error.with_help("a section is closed by `END`, and expressions have round brackets"),
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

    /// The error that a section goes on where it cannot.
    fn not_closed(&mut self, expected: &str, what: &str, begin: Span) -> Failed {
        let mut diagnostic = self.unexpected_diagnostic(expected);
        if self.at_border() {
            let line = self.source.position(begin.start).0;
            diagnostic = diagnostic.with_help(format!("{what} that begins in line {line} is not closed"));
        }
        self.report(diagnostic)
    }

    /// From the token with this index to the last one taken.
    fn span_from(&self, start: usize) -> Span {
        let first = self.tokens.get(start).map_or(self.peek().span, |token| token.span);
        let last = self.previous().map_or(first, |token| token.span);
        Span { end: last.end.max(first.end), ..first }
    }

    // Sections.

    fn sections(&mut self) {
        while self.peek().kind != Kind::End && self.errors.len() < MAX_ERRORS {
            if self.section().is_err() {
                self.skip_to_section();
            }
            self.eat_separators();
        }
    }

    /// Goes on after an error that leaves it open what the tokens after it belong to.
    fn skip_to_section(&mut self) {
        use Keyword::{Ctl, Local, Ltl, Main};
        self.notation = Notation::State;
        while self.peek().kind != Kind::End && ![Local, Main, Ctl, Ltl].iter().any(|word| self.at_keyword(*word)) {
            self.take();
        }
    }

    fn section(&mut self) -> Parse<()> {
        let Kind::Keyword(keyword) = self.peek().kind else { return Err(self.no_section()) };
        match keyword {
            Keyword::Actions => {
                let names = self.names_section("an action")?;
                self.text.actions.extend(names);
            }
            Keyword::Variables => {
                let variables = self.variables()?;
                self.text.variables.extend(variables);
            }
            Keyword::Local => {
                let process_type = self.process_type()?;
                self.text.types.push(process_type);
            }
            Keyword::Main => self.main()?,
            Keyword::Ctl => self.formulas(Logic::Ctl),
            Keyword::Ltl => self.formulas(Logic::Ltl),
            _ => return Err(self.no_section()),
        }
        Ok(())
    }

    fn no_section(&mut self) -> Failed {
        let token = self.peek();
        let mut error = self.unexpected_diagnostic("ACTIONS, VARIABLES, LOCAL, MAIN, CTL or LTL");
        if token.kind == Kind::Keyword(Keyword::End) {
            error = error.with_help("all sections before it are closed");
        } else if let Some(word) = self.misspelt(token, &SECTIONS) {
            error = error.with_help(word);
        }
        self.report(error)
    }

    fn misspelt(&self, token: Token, words: &[&str]) -> Option<String> {
        let near = closest(self.written(token.span), words.iter().copied());
        near.filter(|_| token.kind == Kind::Word).map(|word| format!("did you mean `{word}`?"))
    }

    /// Reads items up to `END`. A faulty item is left out.
    fn items<T>(
        &mut self,
        what: &str,
        item: impl Fn(&mut Self) -> Parse<T>,
        recover: impl Fn(&mut Self),
    ) -> Parse<Vec<T>> {
        let begin = self.take();
        let section = format!("the section {}", self.written(begin.span));
        let mut items = Vec::new();
        loop {
            self.eat_separators();
            if self.at_keyword(Keyword::End) {
                self.take();
                return Ok(items);
            }
            if self.at_border() {
                return Err(self.not_closed(&format!("{what} or `END`"), &section, begin.span));
            }
            match item(self) {
                Ok(item) => items.push(item),
                Err(Failed) if self.errors.len() >= MAX_ERRORS => return Err(Failed),
                Err(Failed) => recover(self),
            }
        }
    }

    /// Goes on after an error in something that ends with a semicolon.
    fn skip_statement(&mut self) {
        self.letters = 0;
        while !self.at_border() && !self.eat(Op::Semicolon) {
            self.take();
        }
    }

    /// Goes on after an error in a command: at the next one, which begins with a bracket behind a semicolon.
    fn skip_command(&mut self) {
        let mut after_semicolon = false;
        while !(self.at_border() || after_semicolon && self.at(Op::OpenBracket)) {
            after_semicolon = self.take().kind == Kind::Op(Op::Semicolon);
        }
    }

    fn names_section(&mut self, what: &str) -> Parse<Vec<Name>> {
        self.items(what, |parser| parser.expect_name(what), Self::skip_statement)
    }

    fn variables(&mut self) -> Parse<Vec<Declaration>> {
        self.items("a variable", Self::declaration, Self::skip_statement)
    }

    fn declaration(&mut self) -> Parse<Declaration> {
        let name = self.expect_name("a variable")?;
        self.expect(Op::Colon, "`:` and the number of bits")?;
        let bits = self.sum()?;
        let initial = if self.eat(Op::Assign) { Some(self.sum()?) } else { None };
        if !self.at(Op::Semicolon) && !self.at(Op::Comma) && !self.at_border() && self.peek().kind != Kind::Word {
            return Err(self.unexpected(if initial.is_some() { "`;`" } else { "`:=` or `;`" }));
        }
        Ok(Declaration { name, bits, initial })
    }

    fn process_type(&mut self) -> Parse<ProcessType> {
        let begin = self.take();
        let name = self.expect_name("the name of a process type")?;
        let mut result =
            ProcessType { name, actions: Vec::new(), variables: Vec::new(), commands: Vec::new(), sync: Vec::new() };
        loop {
            match self.peek().kind {
                Kind::Keyword(Keyword::Actions) => result.actions.extend(self.names_section("an action")?),
                Kind::Keyword(Keyword::Variables) => result.variables.extend(self.variables()?),
                Kind::Keyword(Keyword::Case) => result.commands.extend(self.commands(Self::local_command)?),
                Kind::Keyword(Keyword::Sync) => result.sync.extend(self.names_section("a global action")?),
                Kind::Keyword(Keyword::End) => {
                    self.take();
                    return Ok(result);
                }
                _ => {
                    let what = format!("the process type `{}`", result.name.text);
                    let expected = "ACTIONS, VARIABLES, CASE, SYNC or `END`";
                    return Err(self.not_closed(expected, &what, begin.span));
                }
            }
        }
    }

    fn main(&mut self) -> Parse<()> {
        let begin = self.take();
        if let Some(first) = self.main.replace(begin.span) {
            let line = self.source.position(first.start).0;
            let help = format!("the first one begins in line {line}");
            self.error_with_help(begin.span, format!("a second section {}", self.written(begin.span)), help);
        }
        loop {
            match self.peek().kind {
                Kind::Keyword(Keyword::Proc) => {
                    let processes = self.items("a process", Self::instances, Self::skip_statement)?;
                    self.text.processes.extend(processes);
                }
                Kind::Keyword(Keyword::Case) => {
                    let commands = self.commands(Self::global_command)?;
                    self.text.commands.extend(commands);
                }
                Kind::Keyword(Keyword::End) => {
                    self.take();
                    return Ok(());
                }
                _ => {
                    let what = format!("the section {}", self.written(begin.span));
                    return Err(self.not_closed("PROC, CASE or `END`", &what, begin.span));
                }
            }
        }
    }

    fn instances(&mut self) -> Parse<Instances> {
        let name = self.expect_name("a process")?;
        if !self.eat(Op::Assign) {
            self.expect(Op::Colon, "`:` and a process type")?;
        }
        let of = self.expect_name("the name of a process type")?;
        self.expect(Op::OpenBracket, "`[` and the number of instances")?;
        let count = self.sum()?;
        self.expect(Op::CloseBracket, "`]`")?;
        Ok(Instances { name, of, count })
    }

    // Commands.

    fn commands(&mut self, read: impl Fn(&mut Self) -> Parse<Command>) -> Parse<Vec<Command>> {
        self.items("a command", read, Self::skip_command)
    }

    fn local_command(&mut self) -> Parse<Command> {
        let start = self.next;
        self.expect(Op::OpenBracket, "`[` and a value of `pc`")?;
        let pc = self.sum()?;
        self.expect(Op::CloseBracket, "`]` after the value of `pc`")?;
        self.command(start, Some(pc))
    }

    fn global_command(&mut self) -> Parse<Command> {
        self.command(self.next, None)
    }

    /// The rest of a command, which begins at the token with the index `start`.
    fn command(&mut self, start: usize, pc: Option<Expr>) -> Parse<Command> {
        self.expect(Op::OpenBracket, "`[` and an action")?;
        let action = self.expect_name("an action")?;
        self.expect(Op::CloseBracket, "`]` after the action")?;
        let guard = self.expression()?;
        if !self.at(Op::Colon) {
            return Err(self.unexpected_after_operand("`:` after the guard"));
        }
        self.take();
        let mut assignments = Vec::new();
        let mut end = self.next;
        self.eat_separators();
        while self.peek().kind == Kind::Word {
            assignments.push(self.assignment()?);
            end = self.next;
            self.eat_separators();
        }
        if !self.at(Op::OpenBracket) && !self.at_border() {
            return Err(self.unexpected_after_operand("`;`, an assignment, a command or `END`"));
        }
        let (first, last) = (self.tokens[start].span, self.tokens[end - 1].span);
        Ok(Command { pc, action, guard, assignments, span: Span { end: last.end, ..first } })
    }

    fn assignment(&mut self) -> Parse<Assignment> {
        let target = self.primary()?;
        if !self.at(Op::Assign) {
            let mut error = self.unexpected_diagnostic("`:=`");
            if self.at(Op::Equal) {
                error = error.with_help("`=` compares; an assignment is written `:=`");
            }
            return Err(self.report(error));
        }
        self.take();
        Ok(Assignment { target, value: self.expression()? })
    }

    // Formulas.

    /// A section of formulas. Its `END` may be missing where the section can only end.
    fn formulas(&mut self, logic: Logic) {
        self.take();
        let variables = self.text.variables.iter().map(|variable| &variable.name.text);
        let processes = self.text.processes.iter().map(|process| &process.name.text);
        self.names = variables.chain(processes).cloned().collect();
        self.notation = logic.into();
        loop {
            self.eat_separators();
            if self.at_border() || self.errors.len() >= MAX_ERRORS {
                break;
            }
            match self.stated(logic) {
                Ok(stated) => self.text.formulas.push(stated),
                Err(Failed) => self.skip_statement(),
            }
        }
        self.notation = Notation::State;
        if self.at_keyword(Keyword::End) {
            self.take();
        }
    }

    fn stated(&mut self, logic: Logic) -> Parse<Stated> {
        let named = self.peek().kind == Kind::Word && self.op_at(1, Op::Colon);
        let name = if named { Some(self.expect_name("a name")?) } else { None };
        if named {
            self.take();
        }
        let formula = self.formula()?;
        if !self.at(Op::Semicolon) && !self.at_border() {
            return Err(self.unexpected_after_operand("`;` after the formula"));
        }
        Ok(Stated { logic, name, formula })
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
