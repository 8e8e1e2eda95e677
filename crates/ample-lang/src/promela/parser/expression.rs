//! Expressions and formulas: the [grammar](ample_logic::grammar) of the logic over the tokens of Promela, with its
//! expressions as atoms, and with the operators of Spin's table; those of the logic are in [`Dialect`].
//!
//! From weak to strong: `-> <->`, `||`, `&&`, `U V W`, `|`, `^`, `&`, `== !=`, `< <= > >=`, `<< >>`, `+ -`,
//! `* / %`, all of them from left to right; the prefix operators, the temporal ones included, bind stronger than
//! all of these. The temporal operators and the implication exist only in formulas; in a model `->` separates
//! statements, or is part of the conditional `(c -> a : b)`. The words that are operators are known to `formula`.

use ample_logic::grammar::{
    Context, Infix, Logic, Prefix, Problem, Read, Source, climb, climb_on, operand, parenthesised,
};
use ample_logic::{self as logic, Binding, Dialect};
use ample_model::{BinaryOp, Span, UnaryOp};

use super::super::ast::{Binary, Expr, ExprKind, Name, Probe, ReceiveArg, Unary, VarRef};
use super::super::lexer::{Keyword, Kind, Op, Symbol, Token};
use super::formula::Notation;
use super::{Failed, MAX_HEIGHT, MAX_NESTING, Parse, Parser, is_embedded_c};
use crate::cursor::Cursor;
use crate::diagnostic::Diagnostic;

/// The operator that is written so, outside of formulas too, and how it binds. What is only Promela's binds more strongly
/// than all that is the logic's.
fn binary_operator(op: Op) -> Option<(Binary, Binding)> {
    let (operator, level) = match op {
        Op::OrOr => return Some(logical(logic::Binary::Or)),
        Op::AndAnd => return Some(logical(logic::Binary::And)),
        Op::Or => (BinaryOp::BitOr, 5),
        Op::Caret => (BinaryOp::BitXor, 6),
        Op::And => (BinaryOp::BitAnd, 7),
        Op::Equal => (BinaryOp::Equal, 8),
        Op::NotEqual => (BinaryOp::NotEqual, 8),
        Op::Less => (BinaryOp::Less, 9),
        Op::LessEqual => (BinaryOp::LessEqual, 9),
        Op::Greater => (BinaryOp::Greater, 9),
        Op::GreaterEqual => (BinaryOp::GreaterEqual, 9),
        Op::ShiftLeft => (BinaryOp::ShiftLeft, 10),
        Op::ShiftRight => (BinaryOp::ShiftRight, 10),
        Op::Plus => (BinaryOp::Add, 11),
        Op::Minus => (BinaryOp::Subtract, 11),
        Op::Star => (BinaryOp::Multiply, 12),
        Op::Slash => (BinaryOp::Divide, 12),
        Op::Percent => (BinaryOp::Remainder, 12),
        _ => return None,
    };
    Some((Binary::Arithmetic(operator), Binding::left(level)))
}

/// An operator of the logic, which binds equally in all notations.
fn logical(operator: logic::Binary) -> (Binary, Binding) {
    (Binary::Logical(operator), Dialect::Promela.binding(operator))
}

/// Where an operator stands: its first token, and how many tokens it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Written {
    pub(super) token: usize,
    length: usize,
}

impl Source for Parser<'_> {
    type Tree = Expr;
    type Place = Written;
    type Unary = Unary;
    type Binary = Binary;
    type Bracket = ();
    type Error = Failed;

    const MAX_DEPTH: usize = MAX_NESTING;
    const MAX_HEIGHT: usize = MAX_HEIGHT;

    fn context(&mut self) -> &mut Context<Written> {
        &mut self.context
    }

    fn logic(&self) -> Logic {
        match self.notation {
            Notation::Model | Notation::Block | Notation::State => Logic::Any,
            Notation::Linear => Logic::Linear,
            Notation::Branching => Logic::Branching,
        }
    }

    fn position(&self) -> usize {
        self.next
    }

    fn prefix(&mut self) -> Parse<Option<Prefix<Unary, Written>>> {
        use logic::Unary::{Finally, Globally, Not};
        let temporal = self.notation.is_temporal();
        let (operator, length) = match self.peek().kind {
            Kind::Op(Op::Minus) => (Unary::Arithmetic(UnaryOp::Negate), 1),
            Kind::Op(Op::Tilde) => (Unary::Arithmetic(UnaryOp::Complement), 1),
            Kind::Op(Op::Bang) => (Unary::Logical(Not), 1),
            Kind::Op(Op::OpenBracket) if temporal && self.op_at(1, Op::CloseBracket) => (Unary::Logical(Globally), 2),
            Kind::Op(Op::Less) if temporal && self.op_at(1, Op::Greater) => (Unary::Logical(Finally), 2),
            _ => match self.prefix_word()? {
                Some(operator) => (Unary::Logical(operator), 1),
                None => return Ok(None),
            },
        };
        Ok(Some(Prefix { operator, place: self.here(length) }))
    }

    fn infix(&mut self) -> Parse<Option<Infix<Binary, Written>>> {
        let formula = self.notation.has_implication();
        let mut length = 1;
        let operator = match self.peek().kind {
            Kind::Op(Op::Arrow) if formula => Some(logical(logic::Binary::Implies)),
            Kind::Op(Op::Less) if formula && self.op_at(1, Op::Arrow) => {
                length = 2;
                Some(logical(logic::Binary::Iff))
            }
            Kind::Op(Op::Minus) if self.line_ends_statement() => None,
            Kind::Op(op) => binary_operator(op),
            _ => match self.word(self.peek()) {
                Some(logic::Word::Infix(operator, _)) => Some(logical(operator)),
                Some(logic::Word::PastInfix) => {
                    let place = self.here(1);
                    return Err(self.refuse(Problem::Past(place)));
                }
                _ => None,
            },
        };
        let place = self.here(length);
        Ok(operator.map(|(operator, binding)| Infix { operator, binding, place }))
    }

    fn step_over(&mut self, operator: Written) {
        for _ in 0..operator.length {
            self.take();
        }
    }

    fn atom(&mut self) -> Parse<Read<Expr>> {
        let start = self.next;
        let tree = self.primary()?;
        Ok(Read { tree, start, height: self.height })
    }

    fn open(&mut self) -> Parse<Option<()>> {
        let always = self.op_at(1, Op::CloseBracket);
        Ok((!always && self.eat(Op::OpenBracket)).then_some(()))
    }

    fn close(&mut self, (): ()) -> Parse<()> {
        if !self.eat(Op::CloseBracket) {
            return Err(self.unexpected_after_operand("`]`"));
        }
        Ok(())
    }

    fn is_path(expr: &Expr) -> bool {
        expr.is_path_formula()
    }

    fn unary(&mut self, prefix: Prefix<Unary, Written>, operand: Expr) -> Parse<Expr> {
        let kind = Box::new(ExprKind::Unary(prefix.operator, operand));
        Ok(Expr { kind, span: self.span_from(prefix.place.token) })
    }

    fn binary(&mut self, infix: Infix<Binary, Written>, left: Read<Expr>, right: Expr) -> Parse<Expr> {
        self.refuse_ambiguous(infix, [&left.tree, &right])?;
        let kind = Box::new(ExprKind::Binary(infix.operator, left.tree, right));
        Ok(Expr { kind, span: self.span_from(left.start) })
    }

    fn refuse(&mut self, problem: Problem<Written>) -> Failed {
        self.refuse_formula(problem)
    }
}

impl Parser<'_> {
    /// A whole expression.
    pub(super) fn expression(&mut self) -> Parse<Expr> {
        let read = parenthesised(self, |parser| climb(parser, 1))?;
        Ok(self.finish(read))
    }

    /// The rest of an expression whose first operand, from token `start` on, is already read.
    pub(super) fn expression_from(&mut self, tree: Expr, start: usize) -> Parse<Expr> {
        let first = Read { tree, start, height: self.height };
        let read = climb_on(self, first, 1)?;
        Ok(self.finish(read))
    }

    /// An operand with its prefix operators.
    pub(super) fn prefixed(&mut self) -> Parse<Expr> {
        let read = operand(self)?;
        Ok(self.finish(read))
    }

    fn finish(&mut self, read: Read<Expr>) -> Expr {
        self.height = read.height;
        read.tree
    }

    /// The operator of so many tokens that stands here.
    pub(super) fn here(&self, length: usize) -> Written {
        Written { token: self.next, length }
    }

    /// The tokens of an operator.
    pub(super) fn tokens_of(&self, operator: Written) -> &[Token] {
        self.tokens.get(operator.token..operator.token + operator.length).unwrap_or(&[])
    }

    fn primary(&mut self) -> Parse<Expr> {
        let start = self.next;
        self.height = 1;
        let kind = match self.peek().kind {
            Kind::Op(Op::OpenParen) => return self.parenthesis(),
            Kind::Op(Op::Star) if self.pointers => return self.reference(),
            Kind::Name(_) if matches!(self.word(self.peek()), Some(logic::Word::Infix(..))) => {
                let word = self.peek();
                return Err(match self.help_in_block(word) {
                    Some(help) => {
                        let message = format!("expected an operand, found {}", self.describe(word));
                        self.error_with_help(word.span, message, help)
                    }
                    None => self.unexpected("an operand"),
                });
            }
            Kind::Name(name) if self.truth_value(name).is_some() => {
                self.take();
                self.truth_value(name).map(ExprKind::Const)
            }
            Kind::Name(_) => return self.reference(),
            // Reported and stepped over, so that what follows can be read all the same.
            kind if is_embedded_c(kind) => {
                self.embedded_c();
                Some(ExprKind::Timeout)
            }
            Kind::Keyword(keyword) => self.keyword_operand(keyword)?,
            _ => None,
        };
        let kind = match kind {
            Some(kind) => kind,
            None => match self.constant()? {
                Some(value) => ExprKind::Const(value),
                None => return Err(self.not_an_operand()),
            },
        };
        Ok(Expr { kind: Box::new(kind), span: self.span_from(start) })
    }

    /// The error that no operand stands here.
    fn not_an_operand(&mut self) -> Failed {
        let token = self.peek();
        let always = self.op_at(0, Op::OpenBracket) && self.op_at(1, Op::CloseBracket);
        let eventually = self.op_at(0, Op::Less) && self.op_at(1, Op::Greater);
        if always || eventually {
            let span = super::join(token.span, self.token_at(1).span);
            return self.temporal_outside(span);
        }
        let before = self.previous();
        let operator = before.filter(|_| token.kind == Kind::Op(Op::Assign)).map(|token| token.kind);
        if let Some(Kind::Op(operator @ (Op::Plus | Op::Minus | Op::Star | Op::Slash | Op::Percent))) = operator {
            let help = format!("there is no `{0}=`: write `v = v {0} …`", operator.text());
            return self.error_with_help(token.span, "expected an expression, found `=`", help);
        }
        if let Some(help) = before.and_then(|before| self.help_in_block(before)) {
            let message = format!("expected an expression, found {}", self.describe(token));
            return self.error_with_help(token.span, message, help);
        }
        self.unexpected("an expression")
    }

    /// `(e)` or `(c -> a : b)`; the expression keeps the place with its parentheses.
    fn parenthesis(&mut self) -> Parse<Expr> {
        let start = self.next;
        self.take();
        let read = parenthesised(self, Self::choice)?;
        let mut inner = self.finish(read);
        if let Kind::Name(word) = self.peek().kind
            && !self.notation.is_temporal()
            && !self.names.contains(&word)
            && let Some(logic::Word::Infix(..)) = Notation::Linear.word(self.symbols.text(word))
        {
            let span = self.peek().span;
            return Err(self.temporal_outside(span));
        }
        if !self.at(Op::CloseParen) {
            return Err(self.unexpected_after_operand("`)`"));
        }
        self.take();
        inner.span = self.span_from(start);
        Ok(inner)
    }

    /// An expression, or `c -> a : b`. Where the `->` is an operator as well, the `:` decides.
    fn choice(&mut self) -> Parse<Read<Expr>> {
        let condition = climb(self, 2)?;
        if !self.eat(Op::Arrow) {
            return climb_on(self, condition, 1);
        }
        let start = condition.start;
        let yes = self.nested(|parser| climb(parser, 2))?;
        let height = condition.height.max(yes.height) + 1;
        if self.eat(Op::Colon) {
            let no = self.expression()?;
            let kind = Box::new(ExprKind::Conditional(condition.tree, yes.tree, no));
            let tree = Expr { kind, span: self.span_from(start) };
            return Ok(Read { tree, start, height: self.height.max(height) + 1 });
        }
        if !self.notation.has_implication() {
            return Err(self.no_alternative());
        }
        let implies = Binary::Logical(logic::Binary::Implies);
        let kind = Box::new(ExprKind::Binary(implies, condition.tree, yes.tree));
        let implication = Expr { kind, span: self.span_from(start) };
        climb_on(self, Read { tree: implication, start, height }, 1)
    }

    /// The error that a temporal operator stands where there can be none.
    fn temporal_outside(&mut self, span: Span) -> Failed {
        const MESSAGE: &str = "a temporal operator can be used only in an ltl formula";
        match self.notation {
            Notation::State => self.error_with_help(span, MESSAGE, "a formula of LTL is checked with --ltl"),
            _ => self.error(span, MESSAGE),
        }
    }

    /// The value of `TRUE` or `FALSE`, which formulas from the command line may have from other tools.
    fn truth_value(&self, name: Symbol) -> Option<i64> {
        match self.symbols.text(name) {
            _ if !self.notation.is_separate() || self.names.contains(&name) => None,
            "TRUE" => Some(1),
            "FALSE" => Some(0),
            _ => None,
        }
    }

    /// The error that `(c -> a` does not go on as a conditional expression.
    fn no_alternative(&mut self) -> Failed {
        let token = self.peek();
        let message =
            format!("expected `:` in the conditional expression `(c -> a : b)`, found {}", self.describe(token));
        self.error_with_help(token.span, message, "if it is none, a `)` is missing before the `->`")
    }

    /// An operand that begins with a keyword; none for the constants among them.
    fn keyword_operand(&mut self, keyword: Keyword) -> Parse<Option<ExprKind>> {
        let probe = match keyword {
            Keyword::Len => Probe::Len,
            Keyword::Full => Probe::Full,
            Keyword::Empty => Probe::Empty,
            Keyword::Nfull => Probe::NotFull,
            Keyword::Nempty => Probe::NotEmpty,
            Keyword::Run => return self.run().map(Some),
            Keyword::Enabled => return Ok(Some(ExprKind::Enabled(self.keyword_argument()?))),
            Keyword::PcValue => return Ok(Some(ExprKind::PcValue(self.keyword_argument()?))),
            Keyword::GetPriority => return Ok(Some(ExprKind::GetPriority(self.keyword_argument()?))),
            Keyword::Timeout | Keyword::NonProgress => {
                self.take();
                let timeout = keyword == Keyword::Timeout;
                return Ok(Some(if timeout { ExprKind::Timeout } else { ExprKind::NonProgress }));
            }
            _ => return Ok(None),
        };
        self.take();
        self.expect(Op::OpenParen, "before the channel")?;
        let channel = self.variable("a channel")?;
        self.expect(Op::CloseParen, "after the channel")?;
        Ok(Some(ExprKind::Probe(probe, channel)))
    }

    /// `word ( e )`
    fn keyword_argument(&mut self) -> Parse<Expr> {
        self.take();
        self.expect(Op::OpenParen, "before the argument")?;
        let argument = self.expression()?;
        self.expect(Op::CloseParen, "after the argument")?;
        self.height += 1;
        Ok(argument)
    }

    fn run(&mut self) -> Parse<ExprKind> {
        self.take();
        let name = self.expect_name("the name of a proctype")?;
        self.expect(Op::OpenParen, "before the arguments")?;
        let args = if self.at(Op::CloseParen) { Vec::new() } else { self.expressions()? };
        self.expect(Op::CloseParen, "after the arguments")?;
        let height = self.height;
        let priority = self.priority()?;
        self.height = self.height.max(height) + 1;
        Ok(ExprKind::Run { name, args, priority })
    }

    /// `e, e, …`; the height is that of the highest.
    pub(super) fn expressions(&mut self) -> Parse<Vec<Expr>> {
        let mut expressions = vec![self.expression()?];
        let mut height = self.height;
        while self.eat(Op::Comma) {
            expressions.push(self.expression()?);
            height = height.max(self.height);
        }
        self.height = height;
        Ok(expressions)
    }

    /// A number, a character or a word that stands for one; none if something else stands here.
    pub(super) fn constant(&mut self) -> Parse<Option<i64>> {
        let token = self.peek();
        let value = match token.kind {
            Kind::Keyword(Keyword::True | Keyword::Skip) => 1,
            Kind::Keyword(Keyword::False) => 0,
            Kind::Number(_) => self.number()?,
            Kind::Char(_) => self.character()?,
            _ => return Ok(None),
        };
        self.take();
        Ok(Some(value))
    }

    /// The value of the number that stands here: decimal, and cut to 32 bits as Spin does.
    fn number(&mut self) -> Parse<i64> {
        let token = self.peek();
        let text = self.symbols.spelling(token.kind);
        if !text.bytes().all(|byte| byte.is_ascii_digit()) {
            let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
            let message = format!("`{text}` is not a number of {}", self.language());
            return Err(match hexadecimal.and_then(|digits| u32::from_str_radix(digits, 16).ok()) {
                Some(value) => self.error_with_help(token.span, message, format!("write `{value}`")),
                None => self.error(token.span, message),
            });
        }
        if self.op_at(1, Op::Dot) && matches!(self.token_at(2).kind, Kind::Number(_)) {
            let span = super::join(token.span, self.token_at(2).span);
            return Err(self.error(span, format!("the numbers of {} are whole", self.language())));
        }
        let exact = text.parse::<i64>().unwrap_or(i64::MAX);
        let value = i64::from(exact as i32);
        if value != exact {
            let message = format!("`{text}` does not fit 32 bits and is taken as {value}");
            self.diagnostics.push(Diagnostic::warning(token.span, message));
        }
        Ok(value)
    }

    fn character(&mut self) -> Parse<i64> {
        let token = self.peek();
        let Kind::Char(symbol) = token.kind else { return Err(self.unexpected("a character")) };
        let mut characters = self.symbols.text(symbol).chars();
        let value = match characters.next() {
            Some('\\') => characters.next().map(|escaped| match escaped {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'f' => '\u{c}',
                other => other,
            }),
            other => other,
        };
        match value {
            Some(value) if value.is_ascii() && characters.next().is_none() => Ok(i64::from(u32::from(value))),
            _ => Err(self.error(token.span, "a character constant is one ASCII character in quotes")),
        }
    }

    /// `a[i].b[j]`
    pub(super) fn variable(&mut self, what: &str) -> Parse<VarRef> {
        let start = self.next;
        let mut parts = Vec::new();
        let mut height = 0;
        let deref = self.pointers && self.eat(Op::Star);
        if deref && self.at(Op::Star) {
            let span = self.peek().span;
            return Err(self.error(span, "PROM+ has no pointers to pointers"));
        }
        loop {
            let name = self.expect_name(if parts.is_empty() { what } else { "the name of a field" })?;
            let index = if self.at(Op::OpenBracket) { Some(self.index()?) } else { None };
            height = height.max(if index.is_some() { self.height } else { 0 });
            parts.push((name, index));
            if !self.eat(Op::Dot) {
                break;
            }
        }
        self.height = height + 1;
        Ok(VarRef { parts, deref, span: self.span_from(start) })
    }

    fn index(&mut self) -> Parse<Expr> {
        let array = self.previous();
        self.take();
        let index = self.expression()?;
        // `A [ f U g ]`, where `A` is a variable
        let name = array.filter(|_| !self.at(Op::CloseBracket)).and_then(|token| self.help_for_name(token));
        if let Some(help) = name {
            let message = format!("expected `]` after the index, found {}", self.describe(self.peek()));
            return Err(self.error_with_help(self.peek().span, message, help));
        }
        self.expect(Op::CloseBracket, "after the index")?;
        Ok(index)
    }

    fn reference(&mut self) -> Parse<Expr> {
        let start = self.next;
        let variable = self.variable("a variable")?;
        self.after_variable(variable, start)
    }

    /// The operand that begins with a variable: itself, a poll of a channel or a remote reference.
    pub(super) fn after_variable(&mut self, variable: VarRef, start: usize) -> Parse<Expr> {
        let polls = (self.at(Op::Question) || self.at(Op::QuestionQuestion)) && self.op_at(1, Op::OpenBracket);
        let kind = if polls {
            let random = self.take().kind == Kind::Op(Op::QuestionQuestion);
            self.take();
            let args = self.receive_args()?;
            self.expect(Op::CloseBracket, "after the arguments")?;
            ExprKind::Poll { channel: variable, args, random }
        } else if self.at(Op::At) && variable.parts.len() == 1 && !variable.deref {
            self.take();
            let label = self.expect_name("the name of a label")?;
            let (proctype, index) = single_part(variable);
            ExprKind::RemoteLabel { proctype, index, label }
        } else if self.at(Op::Colon) && self.names_process(&variable, start) {
            self.take();
            let height = self.height;
            let var = self.variable("the name of a variable")?;
            self.height = self.height.max(height);
            let (proctype, index) = single_part(variable);
            ExprKind::RemoteVar { proctype, index, var }
        } else {
            ExprKind::Var(variable)
        };
        Ok(Expr { kind: Box::new(kind), span: self.span_from(start) })
    }

    /// Whether a variable before a `:` is really a process: then it is no label, nor part of a conditional.
    pub(super) fn names_process(&self, variable: &VarRef, start: usize) -> bool {
        // The name is the first token; of what `*` stands before, it is not.
        let Some(Kind::Name(name)) = self.tokens.get(start).map(|token| token.kind) else { return false };
        let [(_, index)] = variable.parts.as_slice() else { return false };
        // Beside a model, what is no variable can only be meant as a process.
        let unknown = self.notation.is_separate() && !self.names.contains(&name);
        let ahead = (index.is_some() || self.notation.is_temporal()) && self.proctypes.contains(&name);
        self.declared.contains(&name) || ahead || unknown
    }

    /// The arguments of a receive: `a, b`, `a(b, c)`, `(a, b)`.
    pub(super) fn receive_args(&mut self) -> Parse<Vec<ReceiveArg>> {
        let mut args = Vec::new();
        self.collect_receive_args(&mut args)?;
        Ok(args)
    }

    fn collect_receive_args(&mut self, args: &mut Vec<ReceiveArg>) -> Parse<()> {
        loop {
            if !self.at(Op::OpenParen) {
                args.push(self.receive_arg()?);
            }
            if self.at(Op::OpenParen) && !self.line_ends_statement() {
                self.take();
                self.nested(|parser| parser.collect_receive_args(args))?;
                self.expect(Op::CloseParen, "after the arguments")?;
            }
            if !self.eat(Op::Comma) {
                return Ok(());
            }
        }
    }

    fn receive_arg(&mut self) -> Parse<ReceiveArg> {
        let start = self.next;
        if self.at_keyword(Keyword::Eval) {
            return Ok(ReceiveArg::Eval(self.keyword_argument()?));
        }
        let negative = self.eat(Op::Minus);
        if let Some(value) = self.constant()? {
            let value = if negative { -value } else { value };
            return Ok(ReceiveArg::Const(value, self.span_from(start)));
        }
        if negative {
            return Err(self.unexpected("a number"));
        }
        self.variable("a variable, a constant or `eval(…)`").map(ReceiveArg::Var)
    }
}

fn single_part(variable: VarRef) -> (Name, Option<Expr>) {
    let span = variable.span;
    let part = variable.parts.into_iter().next();
    part.unwrap_or((Name { text: String::new(), span }, None))
}
