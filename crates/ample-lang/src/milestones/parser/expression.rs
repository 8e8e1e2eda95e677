//! Expressions, conditions and formulas, by the [grammar](ample_logic::grammar) of the logic; its atoms are comparisons.
//!
//! From the weakest to the strongest: `<->`, `->`, `|`, `&`, `U W R`, the
//! operators before an operand (`!` and the temporal ones), comparisons, `+ -`, `* / %`. So `!x == 1` negates the
//! comparison, and `G x == 1` speaks of it: a number is neither true nor false.
//!
//! In a formula, letters are operators; words like `AG` and `GF` are read letter by letter. If such a word is also a name
//! of the model, what stands around it decides: an operator has an operand behind it, a name has not.

use ample_logic::grammar::{
    Context, Infix, Logic, Prefix, Problem, Read, Source, climb, formula, nested, parenthesised,
};
use ample_logic::words::{Follower, follower};
use ample_logic::{self as logic, Dialect, Unary};
use ample_model::Span;

use super::super::ast::{Binary, Expr, ExprKind};
use super::super::lexer::{Keyword, Kind, Op, Token};
use super::super::model::{Arithmetic, Comparison};
use super::{Failed, Notation, Parse, Parser};
use crate::cursor::Cursor;
use crate::formula::{Elsewhere, refused};

/// How deep expressions may be nested.
const MAX_NESTING: usize = 100;
/// How high an expression's tree may be: a chain of `+` is as high as it is long, one of `&` or `|` is not.
const MAX_HEIGHT: usize = 120;

/// Where an operator stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Written {
    start: u32,
    end: u32,
    /// How many tokens it has: none if it is a letter of a word and not the last.
    tokens: usize,
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
        let token = self.peek();
        let temporal = self.notation != Notation::State;
        let (operator, tokens) = match token.kind {
            Kind::Op(Op::Not) => (Unary::Not, 1),
            Kind::Op(Op::OpenBracket) if temporal && self.op_at(1, Op::CloseBracket) => (Unary::Globally, 2),
            Kind::Op(Op::Less) if temporal && self.op_at(1, Op::Greater) => (Unary::Finally, 2),
            Kind::Word if temporal && (!self.is_name(token) || self.operand_follows()) => {
                return Ok(self.letter(token));
            }
            _ => return Ok(None),
        };
        let place = self.here(tokens);
        Ok(Some(Prefix { operator, place }))
    }

    fn infix(&mut self) -> Parse<Option<Infix<Binary, Written>>> {
        let token = self.peek();
        let operator = match token.kind {
            Kind::Op(Op::Iff) => Some(logic::Binary::Iff),
            Kind::Op(Op::Implies) => Some(logic::Binary::Implies),
            Kind::Op(Op::Or) => Some(logic::Binary::Or),
            Kind::Op(Op::And) => Some(logic::Binary::And),
            // No name stands behind an operand.
            Kind::Word if self.notation != Notation::State => self.infix_word(token),
            _ => None,
        };
        let place = self.here(1);
        Ok(operator.map(|operator| Infix {
            operator: Binary::Logical(operator),
            binding: Dialect::Milestones.binding(operator),
            place,
        }))
    }

    fn step_over(&mut self, operator: Written) {
        match operator.tokens {
            0 => self.letters += 1,
            tokens => {
                self.letters = 0;
                self.next += tokens;
            }
        }
    }

    fn atom(&mut self) -> Parse<Read<Expr>> {
        let start = self.next;
        let tree = self.comparison()?;
        let height = tree.height;
        Ok(Read { tree, start, height })
    }

    /// Behind a quantifier parentheses serve as well: the operands are whole formulas in both.
    fn open(&mut self) -> Parse<Option<(Op, &'static str)>> {
        let always = self.at(Op::OpenBracket) && self.op_at(1, Op::CloseBracket);
        let close = match self.peek().kind {
            _ if self.letters > 0 || always => return Ok(None),
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
        let end = self.tokens[self.next - 1].span.end;
        self.make(ExprKind::Unary(prefix.operator, operand), Span { end, ..operator }, operator)
    }

    fn binary(&mut self, infix: Infix<Binary, Written>, left: Read<Expr>, right: Expr) -> Parse<Expr> {
        let operator = self.span_of(infix.place);
        self.joined(infix.operator, left.tree, right, operator)
    }

    fn refuse(&mut self, problem: Problem<Written>) -> Failed {
        let span = problem.place().map_or(self.peek().span, |operator| self.span_of(operator));
        let elsewhere = if self.alone { Elsewhere::Option } else { Elsewhere::Section };
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
            ExprKind::Unary(_, x) => x.height,
            ExprKind::Binary(_, x, y) => x.height.max(y.height),
            _ => 0,
        };
        if height > MAX_HEIGHT {
            let operator = Written { start: operator.start, end: operator.end, tokens: 1 };
            return Err(self.refuse(Problem::TooHigh { operator, start: self.next, limit: MAX_HEIGHT }));
        }
        Ok(Expr { kind: Box::new(kind), span, operator, height })
    }

    fn joined(&mut self, op: Binary, left: Expr, right: Expr, operator: Span) -> Parse<Expr> {
        let span = Span { end: right.span.end, ..left.span };
        self.make(ExprKind::Binary(op, left, right), span, operator)
    }

    // Operators.

    /// The operator of so many tokens that stands here.
    fn here(&self, tokens: usize) -> Written {
        Written { start: self.peek().span.start, end: self.token_at(tokens - 1).span.end, tokens }
    }

    fn span_of(&self, operator: Written) -> Span {
        Span { start: operator.start, end: operator.end, ..self.peek().span }
    }

    /// The operator between operands that a word is if it is no name.
    fn infix_word(&self, token: Token) -> Option<logic::Binary> {
        use logic::Binary::{Iff, Implies, Release, Until, WeakUntil};
        match Dialect::Milestones.word(self.written(token.span)) {
            Some(logic::Word::Infix(op @ (Until | WeakUntil | Release | Implies | Iff), _)) => Some(op),
            _ => None,
        }
    }

    fn is_name(&self, token: Token) -> bool {
        self.names.contains(self.written(token.span))
    }

    /// Whether an operand stands behind the word here.
    fn operand_follows(&self) -> bool {
        let followers = (1..).map(|ahead| {
            let token = self.token_at(ahead);
            let begins_operand = match token.kind {
                Kind::Word if self.infix_word(token).is_none() => true,
                Kind::Word if self.is_name(token) => return Follower::InfixName,
                Kind::Number | Kind::Keyword(Keyword::True | Keyword::False) => true,
                Kind::Op(Op::Not | Op::OpenParen) => true,
                Kind::Op(Op::OpenBracket) => !self.dot_follows_bracket(ahead),
                Kind::Op(Op::Less) => self.op_at(ahead + 1, Op::Greater),
                _ => false,
            };
            if begins_operand { Follower::Operand } else { Follower::Other }
        });
        follower(followers) == Follower::Operand
    }

    /// The letter of this word whose turn it is, if the word is made of operators.
    fn letter(&self, token: Token) -> Option<Prefix<Unary, Written>> {
        let word = self.written(token.span).as_bytes();
        if !word.iter().all(|letter| b"AEFGX".contains(letter)) {
            return None;
        }
        let operator = match word.get(self.letters)? {
            b'A' => Unary::All,
            b'E' => Unary::Exists,
            b'F' => Unary::Finally,
            b'G' => Unary::Globally,
            _ => Unary::Next,
        };
        let start = token.span.start + self.letters as u32;
        let tokens = usize::from(self.letters + 1 == word.len());
        Some(Prefix { operator, place: Written { start, end: start + 1, tokens } })
    }

    // Comparisons and numbers.

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
        let right = self.sum()?;
        if self.compare_op().is_some() {
            let (second, help) = (self.peek().span, "write `x < y & y < z`");
            return Err(self.error_with_help(second, "a comparison has two sides", help));
        }
        self.joined(Binary::Compare(op), left, right, token.span)
    }

    /// An arithmetic expression.
    pub(super) fn sum(&mut self) -> Parse<Expr> {
        self.left_chain(Self::product, |op| match op {
            Op::Plus => Some(Arithmetic::Add),
            Op::Minus => Some(Arithmetic::Subtract),
            _ => None,
        })
    }

    fn product(&mut self) -> Parse<Expr> {
        self.left_chain(Self::primary, |op| match op {
            Op::Star => Some(Arithmetic::Multiply),
            Op::Slash => Some(Arithmetic::Divide),
            Op::Percent => Some(Arithmetic::Remainder),
            _ => None,
        })
    }

    fn left_chain(
        &mut self,
        operand: impl Fn(&mut Self) -> Parse<Expr>,
        operator: impl Fn(Op) -> Option<Arithmetic>,
    ) -> Parse<Expr> {
        let mut left = operand(self)?;
        while let Kind::Op(op) = self.peek().kind
            && let Some(op) = operator(op)
        {
            let token = self.take();
            let right = operand(self)?;
            left = self.joined(Binary::Arithmetic(op), left, right, token.span)?;
        }
        Ok(left)
    }

    /// A constant, a variable, or something in parentheses.
    pub(super) fn primary(&mut self) -> Parse<Expr> {
        let token = self.peek();
        match token.kind {
            Kind::Number => self.number(),
            Kind::Keyword(Keyword::True | Keyword::False) => {
                self.take();
                self.make(ExprKind::Truth(token.kind == Kind::Keyword(Keyword::True)), token.span, token.span)
            }
            Kind::Word => self.variable(),
            Kind::Op(Op::OpenParen) => {
                self.take();
                let mut inner = self.expression()?;
                if !self.at(Op::CloseParen) {
                    return Err(self.unexpected_after_operand("`)`"));
                }
                inner.span = Span { end: self.take().span.end, ..token.span };
                Ok(inner)
            }
            Kind::Op(Op::Minus) => {
                let help = "numbers are unsigned: write `0 - x`, which is modulo the width of `x`";
                Err(self.error_with_help(token.span, "there is no minus sign before an operand", help))
            }
            _ => Err(self.unexpected(if self.notation == Notation::State { "an expression" } else { "a formula" })),
        }
    }

    fn number(&mut self) -> Parse<Expr> {
        let token = self.take();
        let written = self.written(token.span);
        if !written.bytes().all(|digit| digit.is_ascii_digit()) {
            return Err(self.error(token.span, format!("`{written}` is neither a number nor a name")));
        }
        match written.parse() {
            Ok(value) => self.make(ExprKind::Number(value), token.span, token.span),
            Err(_) => Err(self.error(token.span, format!("the number {written} does not fit in 32 bits"))),
        }
    }

    /// `x`, `p.x` or `p[i].x`. A bracket that is not followed by a dot begins the next command.
    fn variable(&mut self) -> Parse<Expr> {
        let start = self.next;
        let name = self.expect_name("a variable")?;
        let indexed = self.at(Op::OpenBracket) && self.dot_follows_bracket(0);
        if !indexed && !self.at(Op::Dot) {
            return self.make(ExprKind::Name(name.text), name.span, name.span);
        }
        let index = if indexed { Some(nested(self, Self::index)?) } else { None };
        self.expect(Op::Dot, "`.`")?;
        let field = self.expect_name("a variable of the process")?;
        let span = self.span_from(start);
        self.make(ExprKind::Member { process: name, index, field }, span, span)
    }

    fn index(&mut self) -> Parse<Expr> {
        self.take();
        let index = self.sum()?;
        self.expect(Op::CloseBracket, "`]` after the number of the instance")?;
        Ok(index)
    }

    /// Whether the bracket that is open so many tokens ahead is closed just before a dot. An index is short: one that is
    /// not closed within a few tokens is none.
    fn dot_follows_bracket(&self, from: usize) -> bool {
        let mut depth = 0_usize;
        for ahead in from..from + MAX_NESTING {
            match self.token_at(ahead).kind {
                Kind::Op(Op::OpenBracket) => depth += 1,
                Kind::Op(Op::CloseBracket) => depth -= 1,
                Kind::End | Kind::Op(Op::Semicolon) => return false,
                _ => {}
            }
            if depth == 0 {
                return self.op_at(ahead + 1, Op::Dot);
            }
        }
        false
    }

    /// The error that something stands behind an operand that can neither go on with it nor end it.
    pub(super) fn unexpected_after_operand(&mut self, expected: &str) -> Failed {
        let mut error = self.unexpected_diagnostic(expected);
        let before = self.previous();
        if self.at(Op::Assign) {
            error = error.with_help("`:=` assigns; a comparison is written `==`");
        } else if self.at(Op::OpenBracket)
            && let Some(Token { kind: Kind::Word, span }) = before
        {
            error = error.with_help(format!("a variable of a process is written `{}[0].x`", self.written(span)));
        } else if let Some(help) = self.foreign_word() {
            error = error.with_help(help);
        }
        self.report(error)
    }

    /// What to write instead of an operator of other languages, if one stands here or just before.
    fn foreign_word(&self) -> Option<String> {
        let before = self.previous();
        for token in [Some(self.peek()), before].into_iter().flatten() {
            let written = self.written(token.span);
            if token.kind != Kind::Word || self.is_name(token) {
                continue;
            }
            let help = match written {
                "and" | "AND" => "write `&`",
                "or" | "OR" => "write `|`",
                "not" | "NOT" => "write `!`",
                "mod" | "MOD" => "write `%`",
                "implies" => "write `->`",
                _ if self.notation == Notation::State && is_temporal_word(written) => {
                    return Some(format!("`{written}` is a temporal operator, for formulas in CTL or LTL"));
                }
                _ => continue,
            };
            return Some(help.to_owned());
        }
        None
    }
}

fn is_temporal_word(word: &str) -> bool {
    matches!(word, "U" | "W" | "R" | "V") || word.bytes().all(|letter| b"AEFGX".contains(&letter))
}
