//! The constant expressions after `#if` and `#elif`, with C's operators and precedence.
//!
//! An operand that the value does not depend on (after `0 &&`, `1 ||`, or in the branch of `?:` not taken) is
//! read but not calculated, so that a division by zero in it is no error.

use ample_model::Span;

use super::super::lexer::{Kind, Op, Symbols, Token};

/// How deep an expression may be nested.
const MAX_NESTING: usize = 100;

/// What is wrong, and where.
type Fault = (Span, String);

/// The value of an expression whose macros are expanded; `span` is that of the directive.
pub(super) fn evaluate(tokens: &[Token], span: Span, symbols: &Symbols) -> Result<i64, Fault> {
    let mut reader = Reader { tokens, next: 0, end: span, symbols, nesting: 0 };
    let value = reader.conditional(true)?;
    match reader.peek() {
        None => Ok(value),
        Some(token) => {
            let found = symbols.spelling(token.kind);
            Err(reader.fault(format!("expected an operator or the end of the condition, found `{found}`")))
        }
    }
}

struct Reader<'a> {
    tokens: &'a [Token],
    next: usize,
    end: Span,
    symbols: &'a Symbols,
    nesting: usize,
}

/// How strongly a binary operator binds.
fn level(op: Op) -> Option<u8> {
    Some(match op {
        Op::OrOr => 1,
        Op::AndAnd => 2,
        Op::Or => 3,
        Op::Caret => 4,
        Op::And => 5,
        Op::Equal | Op::NotEqual => 6,
        Op::Less | Op::LessEqual | Op::Greater | Op::GreaterEqual => 7,
        Op::ShiftLeft | Op::ShiftRight => 8,
        Op::Plus | Op::Minus => 9,
        Op::Star | Op::Slash | Op::Percent => 10,
        _ => return None,
    })
}

impl Reader<'_> {
    fn peek(&self) -> Option<Token> {
        self.tokens.get(self.next).copied()
    }

    fn eat(&mut self, op: Op) -> bool {
        let found = self.peek().is_some_and(|token| token.kind == Kind::Op(op));
        self.next += usize::from(found);
        found
    }

    fn fault(&self, message: impl Into<String>) -> Fault {
        (self.peek().map_or(self.end, |token| token.span), message.into())
    }

    fn conditional(&mut self, live: bool) -> Result<i64, Fault> {
        if self.nesting >= MAX_NESTING {
            return Err(self.fault(format!("the condition is nested more than {MAX_NESTING} deep")));
        }
        self.nesting += 1;
        let condition = self.binary(1, live)?;
        let value = if self.eat(Op::Question) {
            let yes = self.conditional(live && condition != 0)?;
            if !self.eat(Op::Colon) {
                return Err(self.fault("expected `:` in the condition"));
            }
            let no = self.conditional(live && condition == 0)?;
            if condition != 0 { yes } else { no }
        } else {
            condition
        };
        self.nesting -= 1;
        Ok(value)
    }

    fn binary(&mut self, minimum: u8, live: bool) -> Result<i64, Fault> {
        let mut left = self.unary(live)?;
        while let Some(token) = self.peek() {
            let Kind::Op(op) = token.kind else { break };
            let Some(level) = level(op).filter(|&level| level >= minimum) else { break };
            self.next += 1;
            let needed = match op {
                Op::AndAnd => left != 0,
                Op::OrOr => left == 0,
                _ => true,
            };
            let right = self.binary(level + 1, live && needed)?;
            left = match calculate(op, left, right) {
                Some(value) => value,
                None if live => return Err((token.span, "division by zero in a condition".to_owned())),
                None => 0,
            };
        }
        Ok(left)
    }

    fn unary(&mut self, live: bool) -> Result<i64, Fault> {
        let mut prefixes = Vec::new();
        while let Some(Kind::Op(op)) = self.peek().map(|token| token.kind) {
            match op {
                Op::Bang | Op::BangBang | Op::Tilde | Op::Minus | Op::Plus => prefixes.push(op),
                _ => break,
            }
            self.next += 1;
        }
        let value = self.primary(live)?;
        Ok(prefixes.into_iter().rev().fold(value, |value, op| match op {
            Op::Bang => i64::from(value == 0),
            Op::BangBang => i64::from(value != 0),
            Op::Tilde => !value,
            Op::Minus => value.wrapping_neg(),
            _ => value,
        }))
    }

    fn primary(&mut self, live: bool) -> Result<i64, Fault> {
        if self.eat(Op::OpenParen) {
            let value = self.conditional(live)?;
            return if self.eat(Op::CloseParen) { Ok(value) } else { Err(self.fault("expected `)` in the condition")) };
        }
        let Some(token) = self.peek() else { return Err(self.fault("the condition is incomplete")) };
        let value = match token.kind {
            // A name that is no macro counts as 0.
            Kind::Name(_) => 0,
            Kind::Number(symbol) => number(self.symbols.text(symbol))
                .ok_or_else(|| self.fault(format!("`{}` is not a number", self.symbols.text(symbol))))?,
            Kind::Char(symbol) => self.symbols.text(symbol).chars().last().map_or(0, |c| i64::from(u32::from(c))),
            _ => {
                let spelling = self.symbols.spelling(token.kind);
                return Err(self.fault(format!("`{spelling}` cannot stand in a condition")));
            }
        };
        self.next += 1;
        Ok(value)
    }
}

/// `None` is a division by zero.
fn calculate(op: Op, left: i64, right: i64) -> Option<i64> {
    let shift = (right & 63) as u32;
    Some(match op {
        Op::OrOr => i64::from(left != 0 || right != 0),
        Op::AndAnd => i64::from(left != 0 && right != 0),
        Op::Or => left | right,
        Op::Caret => left ^ right,
        Op::And => left & right,
        Op::Equal => i64::from(left == right),
        Op::NotEqual => i64::from(left != right),
        Op::Less => i64::from(left < right),
        Op::LessEqual => i64::from(left <= right),
        Op::Greater => i64::from(left > right),
        Op::GreaterEqual => i64::from(left >= right),
        Op::ShiftLeft => left.wrapping_shl(shift),
        Op::ShiftRight => left.wrapping_shr(shift),
        Op::Plus => left.wrapping_add(right),
        Op::Minus => left.wrapping_sub(right),
        Op::Star => left.wrapping_mul(right),
        Op::Slash if right != 0 => left.wrapping_div(right),
        Op::Percent if right != 0 => left.wrapping_rem(right),
        _ => return None,
    })
}

/// A number as C writes it: decimal, `0x…` or octal, perhaps with a suffix.
fn number(text: &str) -> Option<i64> {
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
    let (digits, radix) = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hexadecimal) => (hexadecimal, 16),
        None if digits.len() > 1 && digits.starts_with('0') => (digits, 8),
        None => (digits, 10),
    };
    u64::from_str_radix(digits, radix).ok().map(|value| value as i64)
}
