//! Macro definitions and their expansion.

use ample_model::{SourceId, Span};

use super::super::lexer::{Kind, Op, Symbol, Symbols, Token, tokenize};
use super::{Aborted, Preprocessor, blank, join};
use crate::diagnostic::counted;

/// How deep macro calls may stand in arguments of macro calls.
const MAX_NESTING: usize = 100;

/// What is wrong with a definition, and where if not at its name.
type Fault = (Option<Span>, String);

/// A macro.
#[derive(Debug)]
pub(super) struct Macro {
    /// The parameters of a function-like macro.
    parameters: Option<Parameters>,
    body: Vec<Token>,
}

#[derive(Debug, PartialEq, Eq)]
struct Parameters {
    names: Vec<Symbol>,
    /// The last one takes all arguments that are left.
    variadic: bool,
}

impl Macro {
    /// Whether the two are written alike.
    pub(super) fn same_as(&self, other: &Macro) -> bool {
        let kinds = |definition: &Macro| definition.body.iter().map(|token| token.kind).collect::<Vec<_>>();
        self.parameters == other.parameters && kinds(self) == kinds(other)
    }

    fn parameter(&self, token: &Token) -> Option<usize> {
        let Kind::Name(symbol) = token.kind else { return None };
        self.parameters.as_ref()?.names.iter().position(|&name| name == symbol)
    }
}

/// What stands after the name in a `#define`.
pub(super) fn definition(rest: &[Token], symbols: &mut Symbols) -> Result<Macro, Fault> {
    let function = rest.first().is_some_and(|token| token.kind == Kind::Op(Op::OpenParen) && !token.space);
    let (parameters, body) = if function {
        let (parameters, body) = parameters(&rest[1..], symbols)?;
        (Some(parameters), body)
    } else {
        (None, rest)
    };
    let misplaced = [body.first(), body.last()].into_iter().flatten().find(|t| t.kind == Kind::Op(Op::HashHash));
    if let Some(token) = misplaced {
        return Err((Some(token.span), "`##` joins two tokens, one on each side".to_owned()));
    }
    Ok(Macro { parameters, body: body.to_vec() })
}

fn parameters<'t>(mut rest: &'t [Token], symbols: &mut Symbols) -> Result<(Parameters, &'t [Token]), Fault> {
    let mut parameters = Parameters { names: Vec::new(), variadic: false };
    if let [Token { kind: Kind::Op(Op::CloseParen), .. }, body @ ..] = rest {
        return Ok((parameters, body));
    }
    loop {
        let kinds: Vec<Kind> = rest.iter().take(2).map(|token| token.kind).collect();
        let length = match kinds.as_slice() {
            [Kind::Op(Op::DotDot), Kind::Op(Op::Dot)] => {
                parameters.variadic = true;
                parameters.names.push(symbols.intern("__VA_ARGS__"));
                2
            }
            [Kind::Name(name), ..] => {
                parameters.names.push(*name);
                1
            }
            _ => return Err((rest.first().map(|t| t.span), "expected the name of a macro's parameter".to_owned())),
        };
        rest = &rest[length..];
        match rest.split_first() {
            Some((Token { kind: Kind::Op(Op::CloseParen), .. }, body)) => return Ok((parameters, body)),
            Some((Token { kind: Kind::Op(Op::Comma), .. }, more)) if !parameters.variadic => rest = more,
            other => {
                let span = other.map(|(token, _)| token.span);
                return Err((span, "expected `,` or `)` among a macro's parameters".to_owned()));
            }
        }
    }
}

/// Tokens to be read before anything else.
pub(super) struct Frame {
    tokens: Vec<Token>,
    next: usize,
    /// The macro it is the expansion of; none for an argument that is expanded by itself.
    name: Option<Symbol>,
    /// A line ended inside the call's arguments; it counts after the expansion.
    newline_after: bool,
}

/// An argument of a macro call, as written and expanded.
struct Argument {
    raw: Vec<Token>,
    expanded: Vec<Token>,
}

impl Preprocessor<'_> {
    /// The next token in which there is nothing left to expand.
    pub(super) fn next_expanded(&mut self) -> Result<Token, Aborted> {
        loop {
            let token = self.next_raw()?;
            let Kind::Name(name) = token.kind else { return Ok(token) };
            let Some(definition) = self.macros.get(&name).filter(|_| !token.painted).cloned() else {
                return Ok(token);
            };
            if self.active.contains(&name) {
                return Ok(Token { painted: true, ..token });
            }
            if definition.parameters.is_some() && !self.parenthesis_follows() {
                return Ok(token);
            }
            self.expand(token, name, &definition)?;
        }
    }

    /// Expands tokens by themselves.
    pub(super) fn expand_all(&mut self, tokens: Vec<Token>) -> Result<Vec<Token>, Aborted> {
        let newline = self.newline;
        self.frames.push(Frame { tokens, next: 0, name: None, newline_after: false });
        let mut out = Vec::new();
        loop {
            let token = self.next_expanded()?;
            if token.kind == Kind::End {
                break;
            }
            out.push(token);
        }
        self.frames.pop();
        self.newline = newline;
        Ok(out)
    }

    fn next_raw(&mut self) -> Result<Token, Aborted> {
        while let Some(frame) = self.frames.last_mut() {
            if let Some(&token) = frame.tokens.get(frame.next) {
                frame.next += 1;
                return Ok(self.with_newline(token));
            }
            let Some(name) = frame.name else {
                return Ok(blank(Kind::End, Span { source: SourceId(0), start: 0, end: 0 }));
            };
            self.newline |= frame.newline_after;
            self.active.remove(&name);
            self.frames.pop();
        }
        let token = self.next_from_files()?;
        Ok(self.with_newline(token))
    }

    fn with_newline(&mut self, token: Token) -> Token {
        Token { newline: std::mem::take(&mut self.newline) | token.newline, ..token }
    }

    fn parenthesis_follows(&self) -> bool {
        for frame in self.frames.iter().rev() {
            if let Some(token) = frame.tokens.get(frame.next) {
                return token.kind == Kind::Op(Op::OpenParen);
            }
            if frame.name.is_none() {
                return false;
            }
        }
        let next = self.files.last().and_then(|file| file.tokens.get(file.next));
        next.is_some_and(|token| token.kind == Kind::Op(Op::OpenParen))
    }

    /// Puts the expansion of a macro's use before all that is still to be read.
    fn expand(&mut self, token: Token, name: Symbol, definition: &Macro) -> Result<(), Aborted> {
        let (mut tokens, span, newline_after) = match &definition.parameters {
            None => (self.substitute(definition, &[], token.span)?, token.span, false),
            Some(parameters) => {
                let (raw, end, newline) = self.collect_arguments(token, name)?;
                let span = join(token.span, end);
                let arguments = self.match_arguments(raw, parameters, span, name)?;
                (self.substitute(definition, &arguments, span)?, span, newline)
            }
        };
        self.count(tokens.len() + 1, span)?;
        for token in &mut tokens {
            *token = Token { span, site: span, newline: false, line_start: false, ..*token };
        }
        match tokens.first_mut() {
            Some(first) => {
                first.newline = token.newline;
                first.space = token.space;
            }
            None => self.newline |= token.newline,
        }
        self.active.insert(name);
        self.frames.push(Frame { tokens, next: 0, name: Some(name), newline_after });
        Ok(())
    }

    /// The arguments of a call, where it ends, and whether a line ended in it.
    fn collect_arguments(&mut self, start: Token, name: Symbol) -> Result<(Vec<Vec<Token>>, Span, bool), Aborted> {
        let open = self.next_raw()?;
        let mut newline = open.newline;
        let (mut arguments, mut depth) = (vec![Vec::new()], 0_usize);
        loop {
            let token = self.next_raw()?;
            newline |= token.newline;
            match token.kind {
                Kind::End => {
                    let message = format!("the arguments of `{}` are not closed", self.symbols.text(name));
                    return Err(self.fatal(start.span, message));
                }
                Kind::Op(Op::CloseParen) if depth == 0 => return Ok((arguments, token.span, newline)),
                Kind::Op(Op::Comma) if depth == 0 => {
                    arguments.push(Vec::new());
                    continue;
                }
                Kind::Op(Op::OpenParen) => depth += 1,
                Kind::Op(Op::CloseParen) => depth -= 1,
                _ => {}
            }
            self.count(1, start.span)?;
            if let Some(argument) = arguments.last_mut() {
                argument.push(token);
            }
        }
    }

    fn match_arguments(
        &mut self,
        mut raw: Vec<Vec<Token>>,
        parameters: &Parameters,
        span: Span,
        name: Symbol,
    ) -> Result<Vec<Argument>, Aborted> {
        let expected = parameters.names.len();
        if expected == 0 && raw.len() == 1 && raw[0].is_empty() {
            raw.clear();
        }
        if parameters.variadic {
            merge_variadic(&mut raw, expected, span);
        }
        if raw.len() != expected {
            let message = format!(
                "macro `{}` takes {}, not {}",
                self.symbols.text(name),
                counted(expected, "argument"),
                raw.len()
            );
            return Err(self.fatal(span, message));
        }
        if self.nesting >= MAX_NESTING {
            return Err(self.fatal(span, format!("macro calls are nested more than {MAX_NESTING} deep")));
        }
        self.nesting += 1;
        let mut arguments = Vec::new();
        for raw in raw {
            let expanded = self.expand_all(raw.clone())?;
            arguments.push(Argument { raw, expanded });
        }
        self.nesting -= 1;
        Ok(arguments)
    }

    /// The body with the arguments in place of the parameters, `#` and `##` done.
    fn substitute(&mut self, definition: &Macro, arguments: &[Argument], span: Span) -> Result<Vec<Token>, Aborted> {
        let body = &definition.body;
        let is = |at: usize, op: Op| body.get(at).is_some_and(|token| token.kind == Kind::Op(op));
        let mut out: Vec<Token> = Vec::new();
        let mut at = 0;
        while let Some(token) = body.get(at) {
            self.count(1, span)?;
            let pasting = is(at, Op::HashHash);
            let from = if pasting { at + 1 } else { at };
            let raw = pasting || is(at + 1, Op::HashHash);
            let (operand, length) = self.operand(definition, arguments, from, raw);
            self.count(operand.len(), span)?;
            if pasting {
                self.paste(&mut out, operand, span)?;
            } else {
                let first = out.len();
                out.extend(operand);
                if let Some(first) = out.get_mut(first) {
                    first.space = token.space;
                }
            }
            at = from + length;
        }
        out.retain(|token| token.kind != Kind::Nothing);
        Ok(out)
    }

    /// What the body has at a place, and how many of its tokens that takes.
    fn operand(&mut self, definition: &Macro, arguments: &[Argument], at: usize, raw: bool) -> (Vec<Token>, usize) {
        let Some(token) = definition.body.get(at) else { return (Vec::new(), 1) };
        let argument = |at: usize| {
            let index = definition.body.get(at).and_then(|token| definition.parameter(token));
            index.and_then(|index| arguments.get(index))
        };
        if token.kind == Kind::Op(Op::Hash) && argument(at + 1).is_some() {
            let text = argument(at + 1).map(|argument| self.stringise(&argument.raw)).unwrap_or_default();
            return (vec![Token { kind: Kind::Text(self.symbols.intern(&text)), ..*token }], 2);
        }
        match argument(at) {
            None => (vec![*token], 1),
            Some(argument) if !raw => (argument.expanded.clone(), 1),
            Some(argument) if argument.raw.is_empty() => (vec![blank(Kind::Nothing, token.span)], 1),
            Some(argument) => (argument.raw.clone(), 1),
        }
    }

    fn stringise(&self, tokens: &[Token]) -> String {
        let mut text = String::new();
        for (index, token) in tokens.iter().enumerate() {
            if index > 0 && (token.space || token.newline) {
                text.push(' ');
            }
            let spelling = self.symbols.spelling(token.kind);
            if matches!(token.kind, Kind::Text(_) | Kind::Char(_)) {
                text.push_str(&spelling.replace('\\', "\\\\").replace('"', "\\\""));
            } else {
                text.push_str(&spelling);
            }
        }
        text
    }

    /// Joins the last token of `out` with the first of `operand`.
    fn paste(&mut self, out: &mut Vec<Token>, operand: Vec<Token>, span: Span) -> Result<(), Aborted> {
        let mut operand = operand.into_iter();
        let (Some(left), Some(right)) = (out.pop(), operand.next()) else { return Ok(()) };
        let joined = match (left.kind, right.kind) {
            (Kind::Nothing, _) => right,
            (_, Kind::Nothing) => left,
            _ => {
                let text = self.symbols.spelling(left.kind) + &self.symbols.spelling(right.kind);
                match tokenize(span.source, &text, &mut self.symbols).as_slice() {
                    [one] if !matches!(one.kind, Kind::Bad(_)) => Token { kind: one.kind, ..left },
                    _ => return Err(self.fatal(span, format!("`##` gives `{text}`, which is not one token"))),
                }
            }
        };
        out.push(joined);
        out.extend(operand);
        Ok(())
    }
}

/// Makes one argument of all that belong to the `...`.
fn merge_variadic(raw: &mut Vec<Vec<Token>>, expected: usize, span: Span) {
    if raw.len() + 1 == expected {
        raw.push(Vec::new());
    }
    if raw.len() <= expected || expected == 0 {
        return;
    }
    let rest = raw.split_off(expected);
    let Some(last) = raw.last_mut() else { return };
    for more in rest {
        last.push(blank(Kind::Op(Op::Comma), span));
        last.extend(more);
    }
}
