//! Expressions of the model, simplified as they are built; and values of enumerations, which variables store by their
//! positions while expressions compare them across types.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use ample_model::visit::innermost_first;
use ample_model::{BinaryOp, Expr, Overflow, Scalar, Shared, UnaryOp};

/// `op x op y`, evaluated if both are known.
pub fn binary(op: BinaryOp, x: Expr, y: Expr) -> Expr {
    let known = match (&x, &y) {
        (Expr::Const(x), Expr::Const(y)) => op.apply(*x, *y).ok(),
        _ => None,
    };
    known.map_or_else(|| Expr::binary(op, x, y), Expr::Const)
}

/// `!x` of a truth value.
pub fn not(x: Expr) -> Expr {
    match x {
        Expr::Const(value) => Expr::Const((value == 0).into()),
        Expr::Unary(UnaryOp::Not, inner) if is_truth(&inner) => *inner,
        x => Expr::unary(UnaryOp::Not, x),
    }
}

/// Whether its value is 0 or 1 for sure.
pub fn is_truth(x: &Expr) -> bool {
    match x {
        Expr::Const(value) => matches!(value, 0 | 1),
        Expr::Read(place) | Expr::Next(place) => place.scalar == Scalar::BOOL,
        Expr::Unary(op, _) => *op == UnaryOp::Not,
        Expr::Binary(op, ..) => !matches!(
            op,
            BinaryOp::Add
                | BinaryOp::Subtract
                | BinaryOp::Multiply
                | BinaryOp::Divide
                | BinaryOp::Remainder
                | BinaryOp::BitAnd
                | BinaryOp::BitOr
                | BinaryOp::BitXor
                | BinaryOp::ShiftLeft
                | BinaryOp::ShiftRight
        ),
        Expr::Cast(scalar, _) => *scalar == Scalar::BOOL,
        Expr::Conditional(_, x, y) => is_truth(x) && is_truth(y),
        Expr::Shared(x) => is_truth(x),
        _ => false,
    }
}

/// `x & y`
pub fn and(x: Expr, y: Expr) -> Expr {
    match (x, y) {
        (Expr::Const(0), _) | (_, Expr::Const(0)) => Expr::FALSE,
        (Expr::Const(_), other) | (other, Expr::Const(_)) => other,
        (x, y) => Expr::binary(BinaryOp::And, x, y),
    }
}

/// `x | y`
pub fn or(x: Expr, y: Expr) -> Expr {
    match (x, y) {
        (Expr::Const(0), other) | (other, Expr::Const(0)) => other,
        (Expr::Const(_), _) | (_, Expr::Const(_)) => Expr::TRUE,
        (x, y) => Expr::binary(BinaryOp::Or, x, y),
    }
}

/// All of them, as a tree that is as flat as it can be.
pub fn balanced(mut items: Vec<Expr>, neutral: Expr, join: &dyn Fn(Expr, Expr) -> Expr) -> Expr {
    while items.len() > 1 {
        let mut joined = Vec::with_capacity(items.len().div_ceil(2));
        let mut rest = items.into_iter();
        while let Some(x) = rest.next() {
            joined.push(match rest.next() {
                Some(y) => join(x, y),
                None => x,
            });
        }
        items = joined;
    }
    items.pop().unwrap_or(neutral)
}

/// `if c then x else y`
pub fn conditional(c: Expr, x: Expr, y: Expr) -> Expr {
    match c {
        Expr::Const(0) => y,
        Expr::Const(_) => x,
        c => match (x, y) {
            (Expr::Const(1), Expr::Const(0)) if is_truth(&c) => c,
            (Expr::Const(0), Expr::Const(1)) => not(c),
            (x, y) if x == y => x,
            (x, y) => Expr::Conditional(Box::new(c), Box::new(x), Box::new(y)),
        },
    }
}

/// The same, kept once if it is more than a leaf.
pub fn shared(x: Expr) -> Expr {
    match x {
        Expr::Const(_) | Expr::Read(_) | Expr::Next(_) | Expr::Shared(_) => x,
        x => Expr::Shared(Shared::new(x)),
    }
}

/// Which expressions may have no value: an index outside of an array, a division by zero, a `case` without a condition that
/// holds. What is known of shared parts is remembered, and they with it, so that their addresses stay theirs.
#[derive(Default)]
pub struct Failing {
    known: HashMap<usize, (Shared, bool)>,
}

impl Failing {
    fn may_fail(&mut self, x: &Expr) -> bool {
        match x {
            Expr::Unary(_, x) => self.may_fail(x),
            Expr::Binary(op, x, y) => {
                let divides = matches!(op, BinaryOp::Divide | BinaryOp::Remainder);
                divides && !matches!(**y, Expr::Const(1..)) || self.may_fail(x) || self.may_fail(y)
            }
            Expr::Cast(scalar, x) => *scalar == NOTHING || self.may_fail(x),
            Expr::Conditional(c, x, y) => self.may_fail(c) || self.may_fail(x) || self.may_fail(y),
            Expr::Shared(x) => {
                let (known, mut seen) = (&self.known, HashSet::new());
                let is_new = &mut |part: &Shared| !known.contains_key(&part.address()) && seen.insert(part.address());
                for part in innermost_first(x, is_new) {
                    let fails = self.may_fail(part);
                    self.known.insert(part.address(), (part.clone(), fails));
                }
                self.known.get(&x.address()).is_none_or(|(_, fails)| *fails)
            }
            _ => false,
        }
    }

    /// Operands of a conjunction or a disjunction, those that may have no value last: another one may decide, in any order.
    pub fn last(&mut self, operands: Vec<Expr>) -> Vec<Expr> {
        let (last, mut first): (Vec<Expr>, Vec<Expr>) =
            operands.into_iter().partition(|operand| self.may_fail(operand));
        first.extend(last);
        first
    }
}

/// Whether there are more than so many levels in an expression. What is shared stands for itself.
pub fn is_higher(x: &Expr, most: u32) -> bool {
    let Some(below) = most.checked_sub(1) else { return true };
    match x {
        Expr::Unary(_, x) | Expr::Cast(_, x) => is_higher(x, below),
        Expr::Binary(_, x, y) => is_higher(x, below) || is_higher(y, below),
        Expr::Conditional(c, x, y) => is_higher(c, below) || is_higher(x, below) || is_higher(y, below),
        _ => false,
    }
}

/// How many levels there are in an expression. What is shared stands for itself, however many it has.
pub fn height(x: &Expr) -> u32 {
    match x {
        Expr::Unary(_, x) | Expr::Cast(_, x) => 1 + height(x),
        Expr::Binary(_, x, y) => 1 + height(x).max(height(y)),
        Expr::Conditional(c, x, y) => 1 + height(c).max(height(x)).max(height(y)),
        _ => 1,
    }
}

/// Why an expression has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// No condition of a `case` holds.
    Case = 1,
    /// An index is outside of its array.
    Element = 2,
    /// A shift by more bits than there are.
    Shift = 3,
}

/// A value that cannot be: what is evaluated to it is a fault.
pub fn impossible(why: Missing) -> Expr {
    Expr::Cast(NOTHING, Box::new(Expr::Const(why as i64)))
}

/// The type of [`impossible`] values.
pub const NOTHING: Scalar = Scalar::Range { low: 0, high: 0, overflow: Overflow::Fault };

/// The first value whose condition holds; what is evaluated to if none does is `otherwise`. Long lists are halved, so
/// that they do not become deep.
pub fn first_of(mut branches: Vec<(Expr, Expr)>, otherwise: Expr) -> Expr {
    if branches.len() > 24 {
        let second = branches.split_off(branches.len() / 2);
        let branches: Vec<(Expr, Expr)> = branches.into_iter().map(|(c, x)| (shared(c), x)).collect();
        let any = balanced(branches.iter().map(|(c, _)| c.clone()).collect(), Expr::FALSE, &or);
        let last = branches.last().map_or(Expr::FALSE, |(_, x)| x.clone());
        let count = branches.len() - 1;
        let first = first_of(branches.into_iter().take(count).collect(), last);
        return conditional(any, first, first_of(second, otherwise));
    }
    branches.into_iter().rev().fold(otherwise, |rest, (c, x)| conditional(c, x, rest))
}

/// A value: a number, or a symbol by its code.
#[derive(Clone, Debug)]
pub enum Val {
    /// The code itself.
    Plain(Expr),
    /// A position among these codes.
    Coded(Expr, Rc<[i64]>),
    /// One or the other.
    If(Expr, Rc<Val>, Rc<Val>),
}

impl Val {
    /// How many values it chooses from.
    pub fn size(&self) -> usize {
        match self {
            Val::If(_, x, y) => x.size().saturating_add(y.size()),
            _ => 1,
        }
    }

    /// Its code.
    pub fn plain(&self) -> Expr {
        match self {
            Val::Plain(x) => x.clone(),
            Val::Coded(x, codes) => decode(x, codes),
            Val::If(c, x, y) => conditional(c.clone(), x.plain(), y.plain()),
        }
    }

    /// Its position among these codes, and -1 if it is none of them.
    pub fn position(&self, codes: &Rc<[i64]>) -> Expr {
        match self {
            Val::Plain(Expr::Const(code)) => Expr::Const(find(codes, *code).unwrap_or(-1)),
            Val::Plain(x) => {
                let x = shared(x.clone());
                let same = |code: &i64| binary(BinaryOp::Equal, x.clone(), Expr::Const(*code));
                let branches = codes.iter().enumerate().map(|(at, code)| (same(code), Expr::Const(at as i64)));
                first_of(branches.collect(), Expr::Const(-1))
            }
            Val::Coded(x, own) if own == codes => x.clone(),
            Val::Coded(x, own) => {
                let x = shared(x.clone());
                let of = own
                    .iter()
                    .enumerate()
                    .map(|(at, code)| (binary(BinaryOp::Equal, x.clone(), Expr::Const(at as i64)), find(codes, *code)));
                let branches = of.filter_map(|(c, found)| Some((c, Expr::Const(found?))));
                first_of(branches.collect(), Expr::Const(-1))
            }
            Val::If(c, x, y) => conditional(c.clone(), x.position(codes), y.position(codes)),
        }
    }

    /// Whether two values are the same.
    pub fn equals(&self, other: &Val) -> Expr {
        match (self, other) {
            (Val::If(c, x, y), other) | (other, Val::If(c, x, y)) if self.size() * other.size() <= 64 => {
                conditional(c.clone(), x.equals(other), y.equals(other))
            }
            (Val::Coded(x, codes), Val::Plain(Expr::Const(code)))
            | (Val::Plain(Expr::Const(code)), Val::Coded(x, codes)) => match find(codes, *code) {
                Some(at) => binary(BinaryOp::Equal, x.clone(), Expr::Const(at)),
                None => Expr::FALSE,
            },
            (Val::Coded(x, codes), Val::Coded(y, others)) if codes == others => {
                binary(BinaryOp::Equal, x.clone(), y.clone())
            }
            (Val::Coded(x, codes), Val::Coded(y, others)) => {
                let common = codes.iter().enumerate().filter_map(|(at, code)| Some((at as i64, find(others, *code)?)));
                let both = |(at, other): (i64, i64)| {
                    let first = binary(BinaryOp::Equal, x.clone(), Expr::Const(at));
                    and(first, binary(BinaryOp::Equal, y.clone(), Expr::Const(other)))
                };
                balanced(common.map(both).collect(), Expr::FALSE, &or)
            }
            (x, y) => binary(BinaryOp::Equal, x.plain(), y.plain()),
        }
    }
}

fn find(codes: &[i64], code: i64) -> Option<i64> {
    codes.iter().position(|other| *other == code).map(|at| at as i64)
}

fn decode(x: &Expr, codes: &[i64]) -> Expr {
    if codes.windows(2).all(|pair| pair[1] == pair[0] + 1) {
        return binary(BinaryOp::Add, x.clone(), Expr::Const(codes[0]));
    }
    let x = shared(x.clone());
    let last = codes[codes.len() - 1];
    let branches = codes[..codes.len() - 1]
        .iter()
        .enumerate()
        .map(|(at, code)| (binary(BinaryOp::Equal, x.clone(), Expr::Const(at as i64)), Expr::Const(*code)));
    first_of(branches.collect(), Expr::Const(last))
}
