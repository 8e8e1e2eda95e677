//! Intervals: between which values an expression lies.

use crate::expr::{BinaryOp, Expr, UnaryOp};
use crate::system::{Overflow, Scalar};

/// An interval of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub low: i128,
    pub high: i128,
}

impl Bounds {
    pub const ANY: Bounds = Bounds { low: i64::MIN as i128, high: i64::MAX as i128 };

    pub fn new(low: i64, high: i64) -> Bounds {
        Bounds { low: low.into(), high: high.into() }
    }

    /// The values of a type.
    pub fn of(scalar: Scalar) -> Bounds {
        match scalar {
            Scalar::Int { bits, signed: false } => Bounds { low: 0, high: (1i128 << bits) - 1 },
            Scalar::Int { bits, signed: true } => {
                let half = 1i128 << (bits - 1);
                Bounds { low: -half, high: half - 1 }
            }
            Scalar::Range { low, high, .. } => Bounds::new(low, high),
            Scalar::Enumeration(_) | Scalar::Channel | Scalar::Process => Bounds::new(0, 255),
            Scalar::Reference(_) => Bounds::new(0, u32::MAX.into()),
            Scalar::Unbounded => Bounds::ANY,
        }
    }

    /// Between which values an expression lies, if it has a value at all.
    pub fn of_expr(expr: &Expr) -> Bounds {
        Bounds::of_expr_by(expr, &|_| None)
    }

    /// The same, where more is `known` about some expressions.
    pub fn of_expr_by(expr: &Expr, known: &dyn Fn(&Expr) -> Option<Bounds>) -> Bounds {
        let exact = Bounds::exact_by(expr, known);
        Bounds { low: exact.low.max(i64::MIN.into()), high: exact.high.min(i64::MAX.into()) }
    }

    /// Between which values it lies where results need not fit 64 bits.
    pub fn exact(expr: &Expr) -> Bounds {
        Bounds::exact_by(expr, &|_| None)
    }

    fn exact_by(expr: &Expr, known: &dyn Fn(&Expr) -> Option<Bounds>) -> Bounds {
        if let Some(bounds) = known(expr) {
            return bounds;
        }
        let of_expr = |expr: &Expr| Bounds::of_expr_by(expr, known);
        match expr {
            Expr::Const(value) => Bounds::new(*value, *value),
            Expr::Shared(x) => x.bounds(),
            Expr::Read(place) | Expr::Next(place) => Bounds::of(place.scalar),
            Expr::Field(_, field) => Bounds::of(field.scalar),
            Expr::Remote { place, .. } => Bounds::of(place.scalar).join(Bounds::new(0, 0)),
            Expr::Cast(scalar, x) => of_expr(x).fitted(*scalar),
            Expr::Unary(UnaryOp::Negate, x) => of_expr(x).negate(),
            Expr::Unary(UnaryOp::Complement, x) => {
                let x = of_expr(x);
                Bounds { low: -x.high - 1, high: -x.low - 1 }
            }
            Expr::Conditional(_, x, y) => of_expr(x).join(of_expr(y)),
            Expr::Binary(op, x, y) => Bounds::binary(*op, of_expr(x), of_expr(y)),
            Expr::SelfId | Expr::ProcessCount | Expr::LastMover | Expr::Priority(_) => Bounds::new(0, 255),
            Expr::LocationOf(_) | Expr::Length(_) => Bounds::new(0, u32::MAX.into()),
            Expr::Unary(UnaryOp::Not, _)
            | Expr::Timeout
            | Expr::Blocked(_)
            | Expr::Enabled(_)
            | Expr::At { .. }
            | Expr::NonProgress
            | Expr::Accepting
            | Expr::Full(_)
            | Expr::Poll { .. } => Bounds::new(0, 1),
        }
    }

    /// What a cell of that type holds when this was stored: what is a fault is not.
    pub fn stored(self, scalar: Scalar) -> Bounds {
        let values = Bounds::of(scalar);
        match scalar {
            Scalar::Range { overflow: Overflow::Fault | Overflow::Saturate, .. } => {
                let clamp = |value: i128| value.clamp(values.low, values.high);
                Bounds { low: clamp(self.low), high: clamp(self.high) }
            }
            _ => self.fitted(scalar),
        }
    }

    /// More, so that a sequence of these ends soon: up to what as many bits can hold, and down to the least of all.
    pub fn widened(self, all: Bounds) -> Bounds {
        let high = if self.high > 0 { (1i128 << (128 - self.high.leading_zeros())) - 1 } else { self.high };
        Bounds {
            low: if self.low < 0 { all.low.min(self.low) } else { self.low },
            high: high.min(all.high).max(self.high),
        }
    }

    /// The smallest and the largest value.
    pub fn ends(self) -> (i64, i64) {
        let clamp = |value: i128| value.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
        (clamp(self.low), clamp(self.high))
    }

    pub fn contains(self, value: i128) -> bool {
        (self.low..=self.high).contains(&value)
    }

    pub fn within(self, low: i128, high: i128) -> bool {
        low <= self.low && self.high <= high
    }

    pub fn join(self, other: Bounds) -> Bounds {
        Bounds { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    pub fn negate(self) -> Bounds {
        Bounds { low: -self.high, high: -self.low }
    }

    /// Some of these values are refused by the type.
    pub fn may_fault_in(self, scalar: Scalar) -> bool {
        match scalar {
            Scalar::Range { low, high, overflow: Overflow::Fault } => !self.within(low.into(), high.into()),
            _ => false,
        }
    }

    /// The values as the type keeps them.
    pub fn fitted(self, scalar: Scalar) -> Bounds {
        let values = Bounds::of(scalar);
        if self.within(values.low, values.high) { self } else { values }
    }

    pub fn binary(op: BinaryOp, x: Bounds, y: Bounds) -> Bounds {
        let corners = |f: fn(i128, i128) -> i128| {
            let values = [f(x.low, y.low), f(x.low, y.high), f(x.high, y.low), f(x.high, y.high)];
            values.into_iter().map(|v| Bounds { low: v, high: v }).reduce(Bounds::join).unwrap_or(Bounds::ANY)
        };
        let size = x.low.abs().max(x.high.abs());
        match op {
            BinaryOp::Add => Bounds { low: x.low + y.low, high: x.high + y.high },
            BinaryOp::Subtract => Bounds { low: x.low - y.high, high: x.high - y.low },
            BinaryOp::Multiply => corners(|a, b| a * b),
            BinaryOp::Divide => Bounds { low: -size, high: size },
            BinaryOp::Remainder => {
                let below = (y.low.abs().max(y.high.abs()) - 1).max(0).min(size);
                Bounds { low: if x.low < 0 { -below } else { 0 }, high: if x.high > 0 { below } else { 0 } }
            }
            // Anding with a value that is not negative only takes bits away from it.
            BinaryOp::BitAnd if x.low >= 0 && y.low >= 0 => Bounds { low: 0, high: x.high.min(y.high) },
            BinaryOp::BitAnd if x.low >= 0 => Bounds { low: 0, high: x.high },
            BinaryOp::BitAnd if y.low >= 0 => Bounds { low: 0, high: y.high },
            BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => Bounds::bitwise(x, y),
            BinaryOp::ShiftLeft => Bounds { low: x.low.min(0) << 31, high: x.high.max(0) << 31 },
            BinaryOp::ShiftRight => Bounds { low: x.low.min(0), high: x.high.max(-1) },
            BinaryOp::Equal
            | BinaryOp::NotEqual
            | BinaryOp::Less
            | BinaryOp::LessEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterEqual
            | BinaryOp::And
            | BinaryOp::Or => Bounds::new(0, 1),
        }
    }

    /// The result has no more bits than the wider operand.
    fn bitwise(x: Bounds, y: Bounds) -> Bounds {
        let both = x.join(y);
        let largest = both.high.max(-both.low - 1).max(0) as u128;
        let bits = 128 - largest.leading_zeros();
        let high = (1i128 << bits) - 1;
        Bounds { low: if both.low < 0 { -high - 1 } else { 0 }, high }
    }
}
