//! Statements and sequences of statements.

use super::super::ast::{Binary, Expr, ExprKind, OptionSequence, Stmt, StmtKind, VarRef};
use super::super::lexer::{Keyword, Kind, Op};
use super::{Failed, Parse, Parser, begins_unit, is_embedded_c};
use crate::cursor::Cursor;
use ample_model::{BinaryOp, Span};

impl Parser<'_> {
    pub(super) fn statement_from(&self, start: usize, kind: StmtKind) -> Stmt {
        Stmt { kind, span: self.span_from(start), inline: self.inline }
    }

    fn skip(&self, span: Span) -> Stmt {
        let skip = Expr { kind: Box::new(ExprKind::Const(1)), span };
        Stmt { kind: StmtKind::Expr(skip), span, inline: self.inline }
    }

    pub(super) fn at_sequence_end(&self) -> bool {
        match self.peek().kind {
            Kind::End => true,
            Kind::Op(op) => matches!(op, Op::CloseBrace | Op::Option),
            Kind::Keyword(keyword) => matches!(keyword, Keyword::Fi | Keyword::Od),
            _ => false,
        }
    }

    /// Whether the next statement may follow without a semicolon.
    fn semicolon_is_implied(&self) -> bool {
        self.peek().newline
            || self.closed_at == Some(self.next)
            || matches!(
                self.previous().map(|token| token.kind),
                Some(Kind::Op(Op::CloseBrace) | Kind::Keyword(Keyword::Else))
            )
    }

    /// Statements up to what ends them, which is left; at least one.
    pub(super) fn sequence(&mut self) -> Parse<Vec<Stmt>> {
        if self.at_sequence_end() && self.peek().kind != Kind::End {
            let (span, found) = (self.peek().span, self.describe(self.peek()));
            let help = "a statement that does nothing is written `skip`";
            return Err(self.error_with_help(span, format!("expected a statement, found {found}"), help));
        }
        let mut statements = vec![self.step()?];
        loop {
            let separated = self.separators();
            if self.at_sequence_end() {
                return Ok(statements);
            }
            if !separated && !self.semicolon_is_implied() {
                return Err(self.unexpected("`;` or `->` between two statements"));
            }
            statements.push(self.step()?);
        }
    }

    /// `{ … }`
    pub(super) fn block(&mut self, context: &str) -> Parse<Vec<Stmt>> {
        self.expect(Op::OpenBrace, context)?;
        let statements = self.nested(Self::sequence)?;
        self.expect(Op::CloseBrace, "after the statements")?;
        Ok(statements)
    }

    /// A declaration, or a statement perhaps with an `unless`.
    fn step(&mut self) -> Parse<Stmt> {
        let start = self.next;
        if self.at_mtype_list() {
            let span = self.peek().span;
            return Err(self.error(span, "names of an mtype must be declared outside of the proctypes"));
        }
        if self.at_declaration() {
            let declaration = self.declaration()?;
            return Ok(self.statement_from(start, StmtKind::Declaration(declaration)));
        }
        if self.at_keyword(Keyword::Xr) || self.at_keyword(Keyword::Xs) {
            return self.exclusive();
        }
        let statement = self.statement()?;
        if !self.eat_keyword(Keyword::Unless) {
            return Ok(statement);
        }
        let escape = self.statement()?;
        Ok(self.statement_from(start, StmtKind::Unless(Box::new(statement), Box::new(escape))))
    }

    fn exclusive(&mut self) -> Parse<Stmt> {
        let start = self.next;
        let receive = self.take().kind == Kind::Keyword(Keyword::Xr);
        let mut channels = vec![self.variable("a channel")?];
        while self.eat(Op::Comma) {
            channels.push(self.variable("a channel")?);
        }
        Ok(self.statement_from(start, StmtKind::Exclusive { receive, channels }))
    }

    fn statement(&mut self) -> Parse<Stmt> {
        self.nested(Self::unguarded_statement)
    }

    fn unguarded_statement(&mut self) -> Parse<Stmt> {
        let start = self.next;
        let kind = match self.peek().kind {
            Kind::Op(Op::Star) if self.pointers => return self.variable_statement(),
            Kind::Name(_) if self.pointers && self.at_word("reset") => {
                self.take();
                StmtKind::Reset(self.variable("the name of a pointer")?)
            }
            Kind::Name(name) => {
                if self.op_at(1, Op::Colon) && !self.declared.contains(&name) {
                    return self.labelled();
                }
                let called = self.op_at(1, Op::OpenParen) && !self.token_at(1).newline;
                if called || self.op_at(1, Op::OpenParen) && self.inlines.contains_key(&name) {
                    return self.inline_call(start, None);
                }
                match (self.name_at(1), self.token_at(1).newline) {
                    (Some(_), false) => return Err(self.unknown_type(name)),
                    _ => return self.variable_statement(),
                }
            }
            Kind::Op(Op::OpenBrace) => StmtKind::Block(self.block("before the statements")?),
            // Reported and stepped over, so that what follows can be read all the same.
            kind if is_embedded_c(kind) => {
                self.embedded_c();
                StmtKind::Break
            }
            Kind::Keyword(keyword) => match self.keyword_statement(keyword)? {
                Some(kind) => kind,
                None => StmtKind::Expr(self.expression_statement()?),
            },
            _ => StmtKind::Expr(self.expression_statement()?),
        };
        Ok(self.statement_from(start, kind))
    }

    fn expression_statement(&mut self) -> Parse<Expr> {
        let starts = match self.peek().kind {
            Kind::Op(op) => matches!(op, Op::OpenParen | Op::Minus | Op::Bang | Op::Tilde),
            Kind::Number(_) | Kind::Char(_) => true,
            Kind::Keyword(keyword) => matches!(
                keyword,
                Keyword::True
                    | Keyword::False
                    | Keyword::Skip
                    | Keyword::Run
                    | Keyword::Len
                    | Keyword::Full
                    | Keyword::Empty
                    | Keyword::Nfull
                    | Keyword::Nempty
                    | Keyword::Enabled
                    | Keyword::PcValue
                    | Keyword::GetPriority
                    | Keyword::Timeout
                    | Keyword::NonProgress
            ),
            _ => false,
        };
        if starts { self.expression() } else { Err(self.not_a_statement()) }
    }

    /// The error that no statement stands here.
    fn not_a_statement(&mut self) -> Failed {
        let token = self.peek();
        if !begins_unit(token.kind) {
            return self.unexpected("a statement");
        }
        let message = format!("expected a statement, found {}", self.describe(token));
        self.error_with_help(token.span, message, "it cannot stand in a body: is a `}` missing before it?")
    }

    fn labelled(&mut self) -> Parse<Stmt> {
        let start = self.next;
        let name = self.expect_name("a label")?;
        self.take();
        let nothing_follows = self.at_sequence_end() || self.at(Op::Semicolon) || self.at(Op::Arrow);
        if self.at_declaration() || self.at_keyword(Keyword::Xr) || self.at_keyword(Keyword::Xs) {
            let span = name.span;
            return Err(self.error(span, format!("the label `{}` stands before a declaration", name.text)));
        }
        let statement = if nothing_follows { self.skip(name.span) } else { self.statement()? };
        Ok(self.statement_from(start, StmtKind::Label(name, Box::new(statement))))
    }

    /// A statement that begins with a variable.
    fn variable_statement(&mut self) -> Parse<Stmt> {
        let start = self.next;
        let variable = self.variable("a statement")?;
        let ended = self.line_ends_statement();
        let kind = match self.peek().kind {
            Kind::Op(Op::Assign) => {
                self.take();
                if self.pointers && self.at_word("new") {
                    self.take();
                    let at = self.next;
                    let ty = self.type_name()?;
                    StmtKind::New(variable, ty, self.span_from(at))
                } else if self.name_at(0).is_some() && self.op_at(1, Op::OpenParen) && !self.token_at(1).newline {
                    return self.inline_call(start, Some(variable));
                } else {
                    StmtKind::Assign(variable, self.expression()?)
                }
            }
            Kind::Op(Op::Increment) => self.step_by_one(variable, BinaryOp::Add),
            Kind::Op(Op::Decrement) => self.step_by_one(variable, BinaryOp::Subtract),
            Kind::Op(Op::Bang | Op::BangBang) if !ended => self.send(variable)?,
            Kind::Op(Op::Question | Op::QuestionQuestion) if !self.op_at(1, Op::OpenBracket) => {
                self.receive(variable)?
            }
            _ => {
                let first = self.after_variable(variable, start)?;
                StmtKind::Expr(self.expression_from(first, start)?)
            }
        };
        Ok(self.statement_from(start, kind))
    }

    /// `v++` as `v = v + 1`, `v--` likewise.
    fn step_by_one(&mut self, variable: VarRef, operator: BinaryOp) -> StmtKind {
        let sign: Span = self.take().span;
        let one = Expr { kind: Box::new(ExprKind::Const(1)), span: sign };
        let old = Expr { span: variable.span, kind: Box::new(ExprKind::Var(variable.clone())) };
        let span = super::join(old.span, sign);
        let new = Expr { kind: Box::new(ExprKind::Binary(Binary::Arithmetic(operator), old, one)), span };
        StmtKind::Assign(variable, new)
    }

    fn send(&mut self, channel: VarRef) -> Parse<StmtKind> {
        let sorted = self.take().kind == Kind::Op(Op::BangBang);
        let mut args = vec![self.expression()?];
        loop {
            if self.at(Op::OpenParen) && !self.line_ends_statement() {
                self.take();
                args.extend(self.expressions()?);
                self.expect(Op::CloseParen, "after the arguments")?;
            }
            if !self.eat(Op::Comma) {
                return Ok(StmtKind::Send { channel, args, sorted });
            }
            args.push(self.expression()?);
        }
    }

    fn receive(&mut self, channel: VarRef) -> Parse<StmtKind> {
        let random = self.take().kind == Kind::Op(Op::QuestionQuestion);
        let keep = self.eat(Op::Less);
        let args = self.receive_args()?;
        if keep {
            self.expect(Op::Greater, "after the arguments")?;
        }
        Ok(StmtKind::Receive { channel, args, random, keep })
    }

    /// A statement that begins with a keyword; none if it is an expression.
    fn keyword_statement(&mut self, keyword: Keyword) -> Parse<Option<StmtKind>> {
        Ok(Some(match keyword {
            Keyword::If => StmtKind::If(self.options(Keyword::Fi)?),
            Keyword::Do => StmtKind::Do(self.options(Keyword::Od)?),
            Keyword::For => self.for_loop()?,
            Keyword::Select => self.select()?,
            Keyword::Break => {
                self.take();
                StmtKind::Break
            }
            Keyword::Else => {
                self.take();
                StmtKind::Else
            }
            Keyword::Goto => {
                self.take();
                StmtKind::Goto(self.expect_name("the name of a label")?)
            }
            Keyword::Atomic => {
                self.take();
                StmtKind::Atomic(self.block("after `atomic`")?)
            }
            Keyword::DStep => {
                self.take();
                StmtKind::DStep(self.block("after `d_step`")?)
            }
            Keyword::Assert => self.assertion()?,
            Keyword::Printf => self.printf()?,
            Keyword::Printm => self.printm()?,
            Keyword::SetPriority => self.set_priority()?,
            Keyword::Return => self.return_statement()?,
            _ => return Ok(None),
        }))
    }

    fn options(&mut self, end: Keyword) -> Parse<Vec<OptionSequence>> {
        let opening = self.take();
        let mut options = Vec::new();
        while self.at(Op::Option) {
            let span = self.take().span;
            let is_empty = self.pointers && self.at_sequence_end() && self.peek().kind != Kind::End;
            let body = if is_empty { vec![self.skip(span)] } else { self.nested(Self::sequence)? };
            options.push(OptionSequence { body, span });
        }
        if options.is_empty() && end == Keyword::Fi && self.at(Op::OpenParen) {
            let span = self.peek().span;
            let help = "a selection is written `if :: condition -> … :: else -> … fi`";
            return Err(self.error_with_help(span, "expected an option, which begins with `::`, found `(`", help));
        }
        if options.is_empty() {
            return Err(self.unexpected("an option, which begins with `::`"));
        }
        if !self.eat_keyword(end) {
            let opening = self.describe(opening);
            return Err(self.unexpected(&format!("`::` or the `{}` of {opening}", end.text())));
        }
        Ok(options)
    }

    fn for_loop(&mut self) -> Parse<StmtKind> {
        self.take();
        self.expect(Op::OpenParen, "after `for`")?;
        let var = self.variable("the loop's variable")?;
        if self.at_word("in") {
            self.take();
            let over = self.variable("an array or a channel")?;
            let body = self.for_body()?;
            return Ok(StmtKind::ForIn { var, over, body });
        }
        if !self.at(Op::Colon) {
            return Err(self.unexpected("`:` or `in`"));
        }
        let (from, to) = self.range()?;
        let body = self.for_body()?;
        Ok(StmtKind::For { var, from, to, body })
    }

    fn for_body(&mut self) -> Parse<Vec<Stmt>> {
        self.expect(Op::CloseParen, "after the loop's head")?;
        self.eat(Op::Semicolon);
        self.block("before the loop's body")
    }

    /// `: e .. e`
    fn range(&mut self) -> Parse<(Expr, Expr)> {
        self.expect(Op::Colon, "before the range")?;
        let from = self.expression()?;
        self.expect(Op::DotDot, "between the limits")?;
        let to = self.expression()?;
        Ok((from, to))
    }

    fn select(&mut self) -> Parse<StmtKind> {
        self.take();
        self.expect(Op::OpenParen, "after `select`")?;
        let var = self.variable("the variable")?;
        let numbers = |parser: &Self, ahead| matches!(parser.token_at(ahead).kind, Kind::Number(_));
        let in_numbers =
            numbers(self, 1) && self.op_at(2, Op::DotDot) && numbers(self, 3) && self.op_at(4, Op::CloseParen);
        let (from, to) = self.range()?;
        self.expect(Op::CloseParen, "after the range")?;
        Ok(StmtKind::Select { var, from, to, in_numbers })
    }

    fn assertion(&mut self) -> Parse<StmtKind> {
        self.take();
        let start = self.next;
        let condition = self.expression()?;
        Ok(StmtKind::Assert(condition, self.text_from(start)))
    }

    fn printf(&mut self) -> Parse<StmtKind> {
        self.take();
        self.expect(Op::OpenParen, "after `printf`")?;
        let Kind::Text(format) = self.peek().kind else { return Err(self.unexpected("a string")) };
        let format = unescape(self.symbols.text(format));
        self.take();
        let args = if self.eat(Op::Comma) { self.expressions()? } else { Vec::new() };
        self.expect(Op::CloseParen, "after the arguments")?;
        Ok(StmtKind::Printf(format, args))
    }

    fn printm(&mut self) -> Parse<StmtKind> {
        self.take();
        self.expect(Op::OpenParen, "after `printm`")?;
        let value = self.expression()?;
        self.expect(Op::CloseParen, "after the value")?;
        Ok(StmtKind::Printm(value))
    }

    fn set_priority(&mut self) -> Parse<StmtKind> {
        self.take();
        self.expect(Op::OpenParen, "after `set_priority`")?;
        let process = self.expression()?;
        self.expect(Op::Comma, "before the priority")?;
        let priority = self.expression()?;
        self.expect(Op::CloseParen, "after the priority")?;
        Ok(StmtKind::SetPriority(process, priority))
    }
}

/// A format with C's escapes resolved; an escape that C does not have stands for its character.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            out.push(character);
            continue;
        }
        match characters.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('f') => out.push('\u{c}'),
            Some('v') => out.push('\u{b}'),
            Some('a') => out.push('\u{7}'),
            Some('b') => out.push('\u{8}'),
            Some(other) => out.push(other),
            None => {}
        }
    }
    out
}
