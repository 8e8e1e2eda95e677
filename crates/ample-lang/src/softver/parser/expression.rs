//! Expressions, conditions and formulas, by the [grammar](ample_logic::grammar) of the logic; its atoms are comparisons.
//!
//! From the weakest to the strongest: `<->`, `->`, `||`, `&&`, `U W R`, the operators before an operand (`!` and the
//! temporal ones), comparisons, `+ -`, the minus sign. `!x = y` negates the comparison; between truth values that is the
//! same as `(!x) = y`, and there is no other reading between integers.

use ample_logic::grammar::{
    Context, Infix, Logic, Prefix, Problem, Read, Source, climb, formula, nested, parenthesised,
};
use ample_logic::{self as logic, Dialect, Unary};
use ample_model::Span;

use super::super::ast::{Arithmetic, Binary, Comparison, Expr, ExprKind, Name};
use super::super::lexer::{Keyword, Kind, Op, Token};
use super::{Failed, Notation, Parse, Parser};
use crate::cursor::Cursor;
use crate::formula::{Elsewhere, refused};

/// How deep expressions and statements may be nested.
const MAX_NESTING: usize = 100;
/// How high an expression's tree may be: a chain of `+` is as high as it is long, one of `&&` or `||` is not.
const MAX_HEIGHT: usize = 120;

/// How deep subscripts may be nested: each level is written out several times.
const MAX_SUBSCRIPTS: usize = 6;

/// Where an operator stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Written {
    start: u32,
    end: u32,
}

impl Source for Parser<'_> {
    type Tree = Expr;
    type Place = Written;
    type Unary = Unary;
    type Binary = Binary;
    type Bracket = (Op, &'static str);
    type Error = Failed;

    const MAX_DEPTH: usize = MAX_NESTING;
    const MAX_HEIGHT: usize = MAX_HEIGHT;
    const BALANCED: bool = true;

    fn context(&mut self) -> &mut Context<Written> {
        &mut self.context
    }

    fn logic(&self) -> Logic {
        match self.notation {
            Notation::State => Logic::Any,
            Notation::Linear => Logic::Linear,
            Notation::Branching => Logic::Branching,
        }
    }

    fn position(&self) -> usize {
        self.next
    }

    fn prefix(&mut self) -> Parse<Option<Prefix<Unary, Written>>> {
        let operator = match self.peek().kind {
            Kind::Op(Op::Not) => Unary::Not,
            Kind::Temporal(operator) if self.notation != Notation::State && !self.at_process() => operator,
            _ => return Ok(None),
        };
        Ok(Some(Prefix { operator, place: self.here() }))
    }

    fn infix(&mut self) -> Parse<Option<Infix<Binary, Written>>> {
        let operator = match self.peek().kind {
            Kind::Op(Op::Iff) => logic::Binary::Iff,
            Kind::Op(Op::Implies) => logic::Binary::Implies,
            Kind::Op(Op::Or) => logic::Binary::Or,
            Kind::Op(Op::And) => logic::Binary::And,
            // No name stands behind an operand.
            Kind::Word if self.notation != Notation::State => match self.written(self.peek().span) {
                "U" => logic::Binary::Until,
                "W" => logic::Binary::WeakUntil,
                "R" => logic::Binary::Release,
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        let binding = Dialect::Milestones.binding(operator);
        Ok(Some(Infix { operator: Binary::Logical(operator), binding, place: self.here() }))
    }

    fn step_over(&mut self, _: Written) {
        self.take();
    }

    fn atom(&mut self) -> Parse<Read<Expr>> {
        let start = self.next;
        let tree = self.comparison()?;
        let height = tree.height;
        Ok(Read { tree, start, height })
    }

    /// Behind a quantifier parentheses serve as well: the operands are whole formulas in both.
    fn open(&mut self) -> Parse<Option<(Op, &'static str)>> {
        let close = match self.peek().kind {
            Kind::Op(Op::OpenBracket) => (Op::CloseBracket, "`]`"),
            Kind::Op(Op::OpenParen) => (Op::CloseParen, "`)`"),
            _ => return Ok(None),
        };
        self.take();
        Ok(Some(close))
    }

    fn close(&mut self, (bracket, expected): (Op, &'static str)) -> Parse<()> {
        if !self.eat(bracket) {
            return Err(self.unexpected_after_operand(expected));
        }
        Ok(())
    }

    fn is_path(expr: &Expr) -> bool {
        match &*expr.kind {
            ExprKind::Unary(op, _) => matches!(op, Unary::Next | Unary::Finally | Unary::Globally),
            ExprKind::Binary(Binary::Logical(op), ..) => op.is_temporal(),
            _ => false,
        }
    }

    fn unary(&mut self, prefix: Prefix<Unary, Written>, operand: Expr) -> Parse<Expr> {
        let operator = self.span_of(prefix.place);
        let end = self.previous().map_or(operator.end, |token| token.span.end);
        self.make(ExprKind::Unary(prefix.operator, operand), Span { end, ..operator }, operator)
    }

    fn binary(&mut self, infix: Infix<Binary, Written>, left: Read<Expr>, right: Expr) -> Parse<Expr> {
        let operator = self.span_of(infix.place);
        self.joined(infix.operator, left.tree, right, operator)
    }

    fn refuse(&mut self, problem: Problem<Written>) -> Failed {
        let span = problem.place().map_or(self.peek().span, |operator| self.span_of(operator));
        let elsewhere = if self.alone { Elsewhere::Option } else { Elsewhere::Spec };
        self.report(refused(problem, span, self.written(span), elsewhere))
    }
}

impl Parser<'_> {
    /// An expression, a condition or, in the notation of a logic, a formula.
    pub(super) fn expression(&mut self) -> Parse<Expr> {
        Ok(parenthesised(self, |parser| climb(parser, 0))?.tree)
    }

    /// A formula in which quantifiers stand where the logic wants them.
    pub(super) fn formula(&mut self) -> Parse<Expr> {
        Ok(formula(self)?.tree)
    }

    fn make(&mut self, kind: ExprKind, span: Span, operator: Span) -> Parse<Expr> {
        let height = 1 + match &kind {
            ExprKind::Unary(_, x) | ExprKind::Negate(x) => x.height,
            ExprKind::Binary(_, x, y) => x.height.max(y.height),
            ExprKind::Variable { index, .. } => index.as_ref().map_or(0, |index| index.height),
            _ => 0,
        };
        if height > MAX_HEIGHT {
            let operator = Written { start: operator.start, end: operator.end };
            return Err(self.refuse(Problem::TooHigh { operator, start: self.next, limit: MAX_HEIGHT }));
        }
        Ok(Expr { kind: Box::new(kind), span, operator, height })
    }

    fn joined(&mut self, op: Binary, left: Expr, right: Expr, operator: Span) -> Parse<Expr> {
        let span = Span { end: right.span.end, ..left.span };
        self.make(ExprKind::Binary(op, left, right), span, operator)
    }

    fn here(&self) -> Written {
        let span = self.peek().span;
        Written { start: span.start, end: span.end }
    }

    fn span_of(&self, operator: Written) -> Span {
        Span { start: operator.start, end: operator.end, ..self.peek().span }
    }

    // Comparisons and integers.

    fn compare_op(&self) -> Option<Comparison> {
        let Kind::Op(op) = self.peek().kind else { return None };
        Some(match op {
            Op::Equal => Comparison::Equal,
            Op::NotEqual => Comparison::NotEqual,
            Op::Less => Comparison::Less,
            Op::LessEqual => Comparison::LessEqual,
            Op::Greater => Comparison::Greater,
            Op::GreaterEqual => Comparison::GreaterEqual,
            _ => return None,
        })
    }

    fn comparison(&mut self) -> Parse<Expr> {
        let left = self.sum()?;
        let Some(op) = self.compare_op() else { return Ok(left) };
        let token = self.take();
        if self.at(Op::Equal) {
            let help = "equality is written `=`";
            return Err(self.error_with_help(self.peek().span, "expected an expression, found `=`", help));
        }
        let right = self.sum()?;
        if self.compare_op().is_some() {
            let (second, help) = (self.peek().span, "write `x < y && y < z`");
            return Err(self.error_with_help(second, "a comparison has two sides", help));
        }
        self.joined(Binary::Compare(op), left, right, token.span)
    }

    fn sum(&mut self) -> Parse<Expr> {
        let mut left = self.primary()?;
        loop {
            let op = match self.peek().kind {
                Kind::Op(Op::Plus) => Arithmetic::Add,
                Kind::Op(Op::Minus) => Arithmetic::Subtract,
                _ => return Ok(left),
            };
            let token = self.take();
            let right = self.primary()?;
            left = self.joined(Binary::Arithmetic(op), left, right, token.span)?;
        }
    }

    /// A constant, a variable, something in parentheses, or one of these with a sign before it.
    fn primary(&mut self) -> Parse<Expr> {
        let token = self.peek();
        match token.kind {
            Kind::Number => {
                let number = self.expect_number("a number")?;
                self.make(ExprKind::Number(number.value), token.span, token.span)
            }
            Kind::Keyword(Keyword::True | Keyword::False) => {
                self.take();
                self.make(ExprKind::Truth(token.kind == Kind::Keyword(Keyword::True)), token.span, token.span)
            }
            Kind::Keyword(Keyword::Label) => self.label(),
            Kind::Word => self.variable(),
            Kind::Temporal(_) if self.at_process() => self.variable(),
            Kind::Op(Op::OpenParen) => {
                self.take();
                let mut inner = self.expression()?;
                if !self.at(Op::CloseParen) {
                    return Err(self.unexpected_after_operand("`)`"));
                }
                inner.span = Span { end: self.take().span.end, ..token.span };
                Ok(inner)
            }
            Kind::Op(Op::Minus) => self.signed(ExprKind::Negate),
            Kind::Op(Op::Not) => self.signed(|operand| ExprKind::Unary(Unary::Not, operand)),
            Kind::Temporal(_) if self.notation == Notation::State => {
                let help = format!("`{}` is an operator of temporal logic, for formulas", self.written(token.span));
                let error = self.unexpected_diagnostic("an expression").with_help(help);
                Err(self.report(error))
            }
            Kind::Temporal(_) => {
                let help = "between formulas write `<->`";
                Err(self.error_with_help(token.span, "a temporal formula is no value", help))
            }
            _ => Err(self.unexpected(if self.notation == Notation::State { "an expression" } else { "a formula" })),
        }
    }

    /// A sign and what stands behind it.
    fn signed(&mut self, make: impl Fn(Expr) -> ExprKind) -> Parse<Expr> {
        let sign = self.take();
        let operand = nested(self, Self::primary)?;
        let span = Span { end: operand.span.end, ..sign.span };
        self.make(make(operand), span, sign.span)
    }

    /// `label(h)`, `label(P.h)` or `label(P.terminate)`
    fn label(&mut self) -> Parse<Expr> {
        let start = self.next;
        self.take();
        self.expect(Op::OpenParen, "`(` after `label`")?;
        let process = if self.at_process() { Some(self.process_of()?) } else { None };
        let label = match self.eat_keyword(Keyword::Terminate) {
            true => None,
            false => Some(self.expect_name("a label")?),
        };
        self.expect(Op::CloseParen, "`)`")?;
        let span = self.span_from(start);
        self.make(ExprKind::Label { process, label }, span, span)
    }

    /// At a name and a dot.
    fn at_process(&self) -> bool {
        self.op_at(1, Op::Dot)
    }

    /// `P.`
    fn process_of(&mut self) -> Parse<Name> {
        let process = self.expect_process()?;
        self.take();
        Ok(process)
    }

    /// `x`, `a[i]`, `P.x` or `P.a[i]`
    fn variable(&mut self) -> Parse<Expr> {
        let start = self.next;
        let process = if self.at_process() { Some(self.process_of()?) } else { None };
        let name = self.expect_name("a variable")?;
        let index = if self.at(Op::OpenBracket) { Some(self.index()?) } else { None };
        let span = self.span_from(start);
        self.make(ExprKind::Variable { process, name, index }, span, span)
    }

    /// `[index]`
    pub(super) fn index(&mut self) -> Parse<Expr> {
        let open = self.take();
        if self.subscripts == MAX_SUBSCRIPTS {
            let message = format!("subscripts are nested more than {MAX_SUBSCRIPTS} levels deep");
            return Err(self.error(open.span, message));
        }
        self.subscripts += 1;
        let index = self.expression();
        self.subscripts -= 1;
        let index = index?;
        if !self.eat(Op::CloseBracket) {
            return Err(self.unexpected_after_operand("`]`"));
        }
        Ok(index)
    }

    /// The error that something stands behind an operand that can neither go on with it nor end it.
    pub(super) fn unexpected_after_operand(&mut self, expected: &str) -> Failed {
        let mut error = self.unexpected_diagnostic(expected);
        if self.at(Op::Assign) {
            error = error.with_help("`:=` assigns; a comparison is written `=`");
        } else if let Some(help) = self.foreign_word() {
            error = error.with_help(help);
        }
        self.report(error)
    }

    /// What to write instead of an operator of other languages, if one stands here or just before.
    pub(super) fn foreign_word(&self) -> Option<&'static str> {
        for Token { kind, span } in [Some(self.peek()), self.previous()].into_iter().flatten() {
            if kind != Kind::Word {
                continue;
            }
            return Some(match self.written(span) {
                "and" | "AND" => "write `&&`",
                "or" | "OR" => "write `||`",
                "not" | "NOT" => "write `!`",
                "implies" => "write `->`",
                "U" | "W" | "R" if self.notation == Notation::State => {
                    "it is an operator of temporal logic, for formulas"
                }
                _ => continue,
            });
        }
        None
    }
}
