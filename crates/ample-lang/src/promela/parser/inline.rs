//! Inlines: their bodies are kept as tokens, and every call is read anew with the arguments put in.
//!
//! A call becomes a block of its own, in which every statement carries the call's number. Arguments replace whole
//! identifiers, wherever in the body these stand.

use std::rc::Rc;

use super::super::ast::{Stmt, StmtKind, VarRef};
use super::super::lexer::{Kind, Op, Symbol, Token};
use super::{Failed, Parse, Parser};
use crate::cursor::Cursor;
use crate::diagnostic::{closest, counted};

/// The most tokens that inline calls may make together.
const MAX_INLINED: usize = 2_000_000;

/// An inline definition.
pub(super) struct Inline {
    parameters: Vec<Symbol>,
    /// The body, with its braces.
    body: Vec<Token>,
}

impl Inline {
    /// The body with the arguments in place of the parameters.
    fn substitute(&self, arguments: &[Vec<Token>]) -> Vec<Token> {
        let mut out = Vec::with_capacity(self.body.len() + 1);
        for token in &self.body {
            let Some(argument) = self.argument(token, arguments) else {
                out.push(*token);
                continue;
            };
            for (index, part) in argument.iter().enumerate() {
                // The line ends of the body count, those among the arguments do not.
                let newline = index == 0 && token.newline;
                let distance = part.distance.saturating_add(1);
                out.push(Token { newline, distance, site: token.site, ..*part });
            }
        }
        out
    }

    /// What is put in place of a token of the body, if it is a parameter.
    fn argument<'a>(&self, token: &Token, arguments: &'a [Vec<Token>]) -> Option<&'a Vec<Token>> {
        let Kind::Name(name) = token.kind else { return None };
        let index = self.parameters.iter().position(|&parameter| parameter == name)?;
        arguments.get(index)
    }

    /// How many tokens a call makes.
    fn size(&self, arguments: &[Vec<Token>]) -> usize {
        let made = |token| self.argument(token, arguments).map_or(1, Vec::len);
        self.body.iter().map(made).fold(0, usize::saturating_add)
    }
}

impl Parser<'_> {
    pub(super) fn inline_definition(&mut self) -> Parse<()> {
        self.take();
        let symbol = self.name_at(0);
        let name = self.expect_name("the name of the inline")?;
        self.expect(Op::OpenParen, "before the parameters")?;
        let mut parameters = Vec::new();
        while !self.at(Op::CloseParen) {
            if !parameters.is_empty() {
                self.expect(Op::Comma, "or `)` after a parameter")?;
            }
            let Some(parameter) = self.name_at(0) else {
                return Err(self.unexpected("the name of a parameter (without a type)"));
            };
            self.take();
            parameters.push(parameter);
        }
        self.take();
        if !self.at(Op::OpenBrace) {
            return Err(self.unexpected("`{` before the body"));
        }
        let start = self.next;
        if !self.skip_group(Op::OpenBrace, Op::CloseBrace) {
            return Err(self.unexpected(&format!("the `}}` of the inline `{}`", name.text)));
        }
        let body = self.tokens.get(start..self.next).unwrap_or(&[]).to_vec();
        let Some(symbol) = symbol else { return Ok(()) };
        if self.inlines.contains_key(&symbol) {
            return Err(self.error(name.span, format!("the inline `{}` is defined twice", name.text)));
        }
        self.inlines.insert(symbol, Rc::new(Inline { parameters, body }));
        Ok(())
    }

    /// `name(arguments)`, perhaps after `result =`; the statement begins at token `start`.
    pub(super) fn inline_call(&mut self, start: usize, result: Option<VarRef>) -> Parse<Stmt> {
        let name_token = self.peek();
        let Kind::Name(symbol) = name_token.kind else { return Err(self.unexpected("an inline")) };
        if self.functions.contains(&symbol) {
            return self.function_call(start, result);
        }
        let Some(inline) = self.inlines.get(&symbol).cloned() else { return Err(self.not_callable(symbol)) };
        self.take();
        let arguments = self.arguments(&inline, symbol)?;
        let span = self.span_from(start);
        let name = self.symbols.text(symbol).to_owned();
        if self.calls.contains(&symbol) {
            return Err(self.error(name_token.span, format!("the inline `{name}` calls itself")));
        }
        self.inlined = self.inlined.saturating_add(inline.size(&arguments));
        if self.inlined > MAX_INLINED {
            let message = format!("inline calls make more than {MAX_INLINED} tokens");
            return Err(self.error(name_token.span, message));
        }
        let mut tokens = inline.substitute(&arguments);
        tokens.push(Token { kind: Kind::End, newline: true, ..name_token });
        let (number, body) = self.expansion(tokens.into(), symbol, result)?;
        self.closed_at = Some(self.next);
        Ok(Stmt { kind: StmtKind::Block(body), span, inline: number })
    }

    /// The same of a function of PROM+.
    fn function_call(&mut self, start: usize, result: Option<VarRef>) -> Parse<Stmt> {
        let function = self.expect_name("a function")?;
        self.expect(Op::OpenParen, "before the arguments")?;
        let args = if self.at(Op::CloseParen) { Vec::new() } else { self.expressions()? };
        self.expect(Op::CloseParen, "after the arguments")?;
        Ok(self.statement_from(start, StmtKind::Call { result, function, args }))
    }

    /// Reads an expansion in place of the tokens; the call's number and the statements.
    fn expansion(&mut self, tokens: Rc<[Token]>, symbol: Symbol, result: Option<VarRef>) -> Parse<(u32, Vec<Stmt>)> {
        self.inline_count += 1;
        let number = self.inline_count;
        let tokens = std::mem::replace(&mut self.tokens, tokens);
        let next = std::mem::replace(&mut self.next, 0);
        let inline = std::mem::replace(&mut self.inline, number);
        let result = std::mem::replace(&mut self.result, result);
        self.closed_at = None;
        self.calls.push(symbol);
        let body = self.block("before the inline's statements");
        self.calls.pop();
        self.result = result;
        self.inline = inline;
        self.next = next;
        self.tokens = tokens;
        Ok((number, body?))
    }

    /// The tokens of each argument of a call.
    fn arguments(&mut self, inline: &Inline, name: Symbol) -> Parse<Vec<Vec<Token>>> {
        let start = self.next;
        self.expect(Op::OpenParen, "before the arguments")?;
        let groups = self.groups;
        let (mut arguments, mut depth) = (vec![Vec::new()], 0_usize);
        loop {
            match self.peek().kind {
                Kind::End => return Err(self.unexpected("`)` after the arguments")),
                Kind::Op(Op::CloseParen) if depth == 0 => break,
                Kind::Op(Op::Comma) if depth == 0 => {
                    self.take();
                    arguments.push(Vec::new());
                    continue;
                }
                Kind::Op(Op::OpenParen | Op::OpenBracket | Op::OpenBrace) => depth += 1,
                Kind::Op(Op::CloseParen | Op::CloseBracket | Op::CloseBrace) => depth = depth.saturating_sub(1),
                _ => {}
            }
            let token = self.take();
            if let Some(argument) = arguments.last_mut() {
                argument.push(token);
            }
        }
        self.groups = groups;
        self.take();
        if inline.parameters.is_empty() && arguments.iter().all(Vec::is_empty) && arguments.len() == 1 {
            arguments.clear();
        }
        if arguments.len() != inline.parameters.len() || arguments.iter().any(Vec::is_empty) {
            let (span, name) = (self.span_from(start), self.symbols.text(name));
            let given = arguments.iter().filter(|argument| !argument.is_empty()).count();
            let expected = counted(inline.parameters.len(), "argument");
            let message = format!("the inline `{name}` takes {expected}, not {given}");
            return Err(self.error(span, message));
        }
        Ok(arguments)
    }

    /// `return e` assigns to the variable that the call's value goes to.
    pub(super) fn return_statement(&mut self) -> Parse<StmtKind> {
        let span = self.take().span;
        let Some(result) = self.result.clone() else {
            if self.in_function {
                let is_alone = self.at_sequence_end() || self.at(Op::Semicolon) || self.at(Op::Arrow);
                return Ok(StmtKind::Return(if is_alone { None } else { Some(self.expression()?) }));
            }
            let help = "`return e` stands in an inline that is called as `v = name(…)`";
            return Err(self.error_with_help(span, "there is nothing to return to", help));
        };
        Ok(StmtKind::Assign(result, self.expression()?))
    }

    /// The error that the name that stands here before `(` is no inline.
    fn not_callable(&mut self, symbol: Symbol) -> Failed {
        let (span, name) = (self.peek().span, self.symbols.text(symbol).to_owned());
        let message = format!("`{name}` is not an inline");
        if self.proctypes.contains(&symbol) {
            return self.error_with_help(span, message, format!("a process is started with `run {name}(…)`"));
        }
        if self.peek().painted {
            return self.error_with_help(span, message, "a macro is not expanded inside itself");
        }
        if name == "while" {
            let help = "a loop is written `do :: condition -> … :: else -> break od`";
            return self.error_with_help(span, message, help);
        }
        let help = match closest(&name, self.inlines.keys().map(|known| self.symbols.text(*known))) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "an inline must be defined before it is called".to_owned(),
        };
        self.error_with_help(span, message, help)
    }
}
