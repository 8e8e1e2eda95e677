//! Expressions, conditions and formulas. From the weakest to the strongest: `<->`, `->`, `|`, `&`, `U W R`, the
//! operators before an operand (`!` and the temporal ones), comparisons, `+ -`, `* / %`. So `!x == 1` negates the
//! comparison, and `G x == 1` speaks of it: a number is neither true nor false.
//!
//! In a formula, letters are operators; words like `AG` and `GF` are read letter by letter. If such a word is also a name
//! of the model, what stands around it decides: an operator has an operand behind it, a name has not.

use ample_logic::{self as logic, Binding, Dialect, Syntax, climb};
use ample_model::Span;

use super::super::ast::{Binary, Expr, ExprKind, Unary};
use super::super::lexer::{Keyword, Kind, Op, Token};
use super::super::model::{Arithmetic, Comparison};
use super::{Failed, Notation, Parse, Parser};

/// How deep expressions may be nested.
const MAX_NESTING: usize = 100;
/// How high an expression's tree may be: a chain of `+` is as high as it is long, one of `&` or `|` is not.
const MAX_HEIGHT: u32 = 120;

impl Syntax for Parser<'_> {
    type Tree = Expr;
    type Operator = Binary;
    type Error = Failed;

    fn operand(&mut self) -> Parse<Expr> {
        self.unary()
    }

    fn operator(&mut self) -> Parse<Option<(Binary, Binding)>> {
        Ok(self.infix())
    }

    fn join(&mut self, left: Expr, op: Binary, binding: Binding) -> Parse<Expr> {
        let token = self.take();
        // It makes no difference how these group, so that the tree is kept low.
        if matches!(op, Binary::And | Binary::Or) {
            return self.chain(left, op, binding.level, token.span);
        }
        let right = self.nested(|parser| climb(parser, binding.right_operand()))?;
        self.joined(op, left, right, token.span)
    }
}

impl Parser<'_> {
    /// An expression, a condition or, in the notation of a logic, a formula.
    pub(super) fn expression(&mut self) -> Parse<Expr> {
        self.nested(|parser| climb(parser, 0))
    }

    /// A formula in which quantifiers stand where the logic wants them.
    pub(super) fn formula(&mut self) -> Parse<Expr> {
        let formula = self.expression()?;
        match self.notation {
            Notation::State => {}
            Notation::Linear => self.check_linear(&formula)?,
            Notation::Branching => self.check_branching(&formula, false)?,
        }
        Ok(formula)
    }

    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.nesting >= MAX_NESTING {
            let span = self.peek().span;
            return Err(self.error(span, format!("this is nested more than {MAX_NESTING} levels deep")));
        }
        self.nesting += 1;
        let read = read(self);
        self.nesting -= 1;
        read
    }

    fn make(&mut self, kind: ExprKind, span: Span, operator: Span) -> Parse<Expr> {
        let height = 1 + match &kind {
            ExprKind::Unary(_, x) => x.height,
            ExprKind::Binary(_, x, y) => x.height.max(y.height),
            _ => 0,
        };
        if height > MAX_HEIGHT {
            let help = format!("more than {MAX_HEIGHT} operators work on each other's results");
            return Err(self.error_with_help(operator, "this expression is too long", help));
        }
        Ok(Expr { kind: Box::new(kind), span, operator, height })
    }

    // Operators between operands.

    /// The operator between operands that stands here, and how it binds.
    fn infix(&self) -> Option<(Binary, Binding)> {
        let token = self.peek();
        let binding = |op| Dialect::Milestones.binding(op);
        Some(match token.kind {
            Kind::Op(Op::Iff) => (Binary::Iff, binding(logic::Binary::Iff)),
            Kind::Op(Op::Implies) => (Binary::Implies, binding(logic::Binary::Implies)),
            Kind::Op(Op::Or) => (Binary::Or, binding(logic::Binary::Or)),
            Kind::Op(Op::And) => (Binary::And, binding(logic::Binary::And)),
            // No name stands behind an operand.
            Kind::Word if self.notation != Notation::State => {
                let (op, binding) = self.infix_word(token)?;
                (op, if self.in_brackets && op.is_temporal() { Binding::right(0) } else { binding })
            }
            _ => return None,
        })
    }

    /// The operator between operands that a word is if it is no name.
    fn infix_word(&self, token: Token) -> Option<(Binary, Binding)> {
        let Some(logic::Word::Infix(op, binding)) = Dialect::Milestones.word(self.written(token.span)) else {
            return None;
        };
        let op = match op {
            logic::Binary::Until => Binary::Until,
            logic::Binary::WeakUntil => Binary::WeakUntil,
            logic::Binary::Release => Binary::Release,
            logic::Binary::Implies => Binary::Implies,
            logic::Binary::Iff => Binary::Iff,
            _ => return None,
        };
        Some((op, binding))
    }

    /// The rest of `f & g & …`: a tree that is no higher than it must be, with the operands in their order.
    fn chain(&mut self, first: Expr, op: Binary, strength: u8, operator: Span) -> Parse<Expr> {
        let mut operands = vec![first, self.nested(|parser| climb(parser, strength + 1))?];
        while self.infix().is_some_and(|(next, ..)| next == op) {
            self.take();
            operands.push(self.nested(|parser| climb(parser, strength + 1))?);
        }
        while operands.len() > 1 {
            let mut halved = Vec::with_capacity(operands.len().div_ceil(2));
            let mut rest = operands.into_iter();
            while let Some(left) = rest.next() {
                halved.push(match rest.next() {
                    Some(right) => self.joined(op, left, right, operator)?,
                    None => left,
                });
            }
            operands = halved;
        }
        operands.pop().ok_or(Failed)
    }

    fn joined(&mut self, op: Binary, left: Expr, right: Expr, operator: Span) -> Parse<Expr> {
        let span = Span { end: right.span.end, ..left.span };
        self.make(ExprKind::Binary(op, left, right), span, operator)
    }

    // Operators before an operand.

    fn is_name(&self, token: Token) -> bool {
        self.names.contains(self.written(token.span))
    }

    /// The operator before an operand that stands here, and its place.
    fn prefix(&self) -> Option<(Unary, Span)> {
        let token = self.peek();
        let temporal = self.notation != Notation::State;
        let two = |op| {
            let end = self.token_at(1).span.end;
            Some((op, Span { end, ..token.span }))
        };
        match token.kind {
            Kind::Op(Op::Not) => Some((Unary::Not, token.span)),
            Kind::Op(Op::OpenBracket) if temporal && self.op_at(1, Op::CloseBracket) => two(Unary::Always),
            Kind::Op(Op::Less) if temporal && self.op_at(1, Op::Greater) => two(Unary::Eventually),
            Kind::Word if temporal && (!self.is_name(token) || self.operand_follows()) => self.letter(token),
            _ => None,
        }
    }

    /// Whether an operand stands behind the word here. A name like `U` stands between operands or is one: as an operand
    /// follows it, or does not.
    fn operand_follows(&self) -> bool {
        let mut is_operand = true;
        for ahead in 1..MAX_NESTING {
            let token = self.token_at(ahead);
            let begins = match token.kind {
                Kind::Word if self.infix_word(token).is_none() => true,
                Kind::Word if self.is_name(token) => {
                    is_operand = !is_operand;
                    continue;
                }
                Kind::Number | Kind::Keyword(Keyword::True | Keyword::False) => true,
                Kind::Op(Op::Not | Op::OpenParen) => true,
                Kind::Op(Op::OpenBracket) => !self.dot_follows_bracket(ahead),
                Kind::Op(Op::Less) => self.op_at(ahead + 1, Op::Greater),
                _ => false,
            };
            return begins == is_operand;
        }
        false
    }

    /// The letter of this word whose turn it is, if the word is made of operators.
    fn letter(&self, token: Token) -> Option<(Unary, Span)> {
        let word = self.written(token.span).as_bytes();
        if !word.iter().all(|letter| b"AEFGX".contains(letter)) {
            return None;
        }
        let op = match word.get(self.letters)? {
            b'A' => Unary::All,
            b'E' => Unary::Exists,
            b'F' => Unary::Eventually,
            b'G' => Unary::Always,
            _ => Unary::Next,
        };
        let start = token.span.start + self.letters as u32;
        Some((op, Span { start, end: start + 1, ..token.span }))
    }

    fn take_prefix(&mut self) {
        let token = self.peek();
        let length = (token.span.end - token.span.start) as usize;
        match token.kind {
            Kind::Word if self.letters + 1 < length => self.letters += 1,
            Kind::Op(Op::OpenBracket | Op::Less) => self.next += 2,
            _ => {
                self.letters = 0;
                self.next += 1;
            }
        }
    }

    fn unary(&mut self) -> Parse<Expr> {
        let Some((op, operator)) = self.prefix() else { return self.comparison() };
        self.take_prefix();
        let quantifier = matches!(op, Unary::All | Unary::Exists);
        let always = self.at(Op::OpenBracket) && self.op_at(1, Op::CloseBracket);
        let close = match self.peek().kind {
            Kind::Op(Op::OpenBracket) if !always => Some((Op::CloseBracket, "`]`")),
            Kind::Op(Op::OpenParen) => Some((Op::CloseParen, "`)`")),
            _ => None,
        };
        let close = close.filter(|_| quantifier && self.letters == 0);
        let bracketed = close.is_some();
        let operand = self.nested(|parser| match close {
            Some((close, expected)) => parser.bracketed(close, expected),
            None => parser.unary(),
        })?;
        let end = if bracketed { self.tokens[self.next - 1].span.end } else { operand.span.end };
        self.make(ExprKind::Unary(op, operand), Span { end, ..operator }, operator)
    }

    /// `[ f U g ]` or `( f U g )` behind a quantifier: the operands are whole formulas.
    fn bracketed(&mut self, close: Op, expected: &str) -> Parse<Expr> {
        self.take();
        let path = self.inside(true)?;
        if !self.at(close) {
            return Err(self.unexpected_after_operand(expected));
        }
        self.take();
        Ok(path)
    }

    fn inside(&mut self, brackets: bool) -> Parse<Expr> {
        let outer = std::mem::replace(&mut self.in_brackets, brackets);
        let read = self.expression();
        self.in_brackets = outer;
        read
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
                let mut inner = self.inside(false)?;
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
        let index = if indexed { Some(self.nested(Self::index)?) } else { None };
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
        let before = self.next.checked_sub(1).map(|at| self.tokens[at]);
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
        let before = self.next.checked_sub(1).map(|at| self.tokens[at]);
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

    // Where quantifiers stand.

    fn check_linear(&mut self, e: &Expr) -> Parse<()> {
        match &*e.kind {
            ExprKind::Unary(Unary::All | Unary::Exists, _) => {
                let message = format!("`{}` is a path quantifier, which LTL does not have", self.written(e.operator));
                let help = if self.alone { "a formula of CTL is checked with --ctl" } else { "write it under CTL" };
                Err(self.error_with_help(e.operator, message, help))
            }
            ExprKind::Unary(_, x) => self.check_linear(x),
            ExprKind::Binary(_, x, y) => {
                self.check_linear(x)?;
                self.check_linear(y)
            }
            _ => Ok(()),
        }
    }

    /// Every temporal operator stands directly behind a quantifier, and every quantifier before such an operator.
    fn check_branching(&mut self, e: &Expr, quantified: bool) -> Parse<()> {
        let path = match &*e.kind {
            ExprKind::Unary(op, _) => op.is_path_operator(),
            ExprKind::Binary(op, ..) => op.is_temporal(),
            _ => false,
        };
        if path && !quantified {
            return Err(self.no_quantifier(e));
        }
        if quantified && !path {
            return Err(self.no_operator(e));
        }
        match &*e.kind {
            ExprKind::Unary(Unary::All | Unary::Exists, x) => self.check_branching(x, true),
            ExprKind::Unary(_, x) => self.check_branching(x, false),
            ExprKind::Binary(_, x, y) => {
                self.check_branching(x, false)?;
                self.check_branching(y, false)
            }
            _ => Ok(()),
        }
    }

    fn no_quantifier(&mut self, e: &Expr) -> Failed {
        let written = self.written(e.operator);
        let other = if self.alone { "check the formula with --ltl" } else { "write the formula under LTL" };
        let help = match &*e.kind {
            ExprKind::Binary(..) => format!("write `A [ f {written} g ]` or `E [ f {written} g ]`, or {other}"),
            _ => format!("write `A{written}` or `E{written}`, or {other}"),
        };
        self.error_with_help(e.operator, format!("`{written}` has no path quantifier"), help)
    }

    fn no_operator(&mut self, e: &Expr) -> Failed {
        let help = "in CTL they come in pairs, as in `AG` or `A [ f U g ]`";
        self.error_with_help(e.span, "a path quantifier does not stand before a temporal operator", help)
    }
}

fn is_temporal_word(word: &str) -> bool {
    matches!(word, "U" | "W" | "R" | "V") || word.bytes().all(|letter| b"AEFGX".contains(&letter))
}
