//! What is known of an expression without evaluating it: its values, its faults, the channel it names.

use ample_model::{BinaryOp, Expr, Scalar, Scope, UnaryOp};

use super::Compiler;
use super::channel::FixedChannel;
use super::place::Resolved;
use crate::compile::layout::{Base, Interval, MAX_STATE_BYTES};

impl Compiler<'_> {
    /// The values that the expression can have.
    pub(super) fn interval(&self, expr: &Expr) -> Interval {
        match expr {
            Expr::Const(value) => Interval::of(*value),
            Expr::Shared(x) => self.known_interval(x),
            Expr::Next(place) => match self.resolve_next(place) {
                Ok(Resolved::Slot(slot) | Resolved::Indexed { first: slot, .. }) => slot.values,
                Err(_) => Interval::ALL,
            },
            Expr::Read(place) => match self.resolve(place, self.owner) {
                Ok(Resolved::Slot(slot) | Resolved::Indexed { first: slot, .. }) => slot.values,
                Err(_) => Interval::ALL,
            },
            // An object's cells start with 0, whatever their type.
            Expr::Field(_, field) => Interval::of_scalar(field.scalar).hull(Interval::of(0)),
            Expr::Unary(UnaryOp::Not, _) => Interval::BOOL,
            Expr::Unary(UnaryOp::Negate, x) => {
                let x = self.interval(x);
                exact(-i128::from(x.high), -i128::from(x.low)).unwrap_or(Interval::ALL)
            }
            Expr::Unary(UnaryOp::Complement, x) => {
                let x = self.interval(x);
                Interval { low: !x.high, high: !x.low }
            }
            Expr::Binary(op, x, y) => self.binary_interval(*op, x, y),
            Expr::Cast(scalar, x) => {
                let (to, from) = (Interval::of_scalar(*scalar), self.interval(x));
                if to.contains(from) { from } else { to }
            }
            Expr::Conditional(_, x, y) => self.interval(x).hull(self.interval(y)),
            Expr::SelfId | Expr::ProcessCount | Expr::LastMover | Expr::Priority(_) => Interval { low: 0, high: 255 },
            Expr::Timeout
            | Expr::Blocked(_)
            | Expr::Enabled(_)
            | Expr::At { .. }
            | Expr::NonProgress
            | Expr::Accepting
            | Expr::Full(_)
            | Expr::Poll { .. } => Interval::BOOL,
            Expr::LocationOf(_) => Interval { low: 0, high: i64::from(u32::MAX) },
            Expr::Length(_) => Interval { low: 0, high: i64::from(MAX_STATE_BYTES) },
            Expr::Remote { of, place, .. } => match self.resolve(place, Some(of.index())) {
                Ok(Resolved::Slot(slot) | Resolved::Indexed { first: slot, .. }) => slot.values.hull(Interval::of(0)),
                Err(_) => Interval::ALL,
            },
        }
    }

    pub(super) fn binary_interval(&self, op: BinaryOp, x: &Expr, y: &Expr) -> Interval {
        if is_truth(op) {
            return Interval::BOOL;
        }
        let (x, y) = (self.interval(x), self.interval(y));
        self.exact_interval(op, x, y).unwrap_or(Interval::ALL)
    }

    /// The values of a result that cannot overflow; `None` if it can, or if little is known.
    pub(super) fn exact_interval(&self, op: BinaryOp, x: Interval, y: Interval) -> Option<Interval> {
        let [a, b, c, d] = [x.low, x.high, y.low, y.high].map(i128::from);
        match op {
            BinaryOp::Add => exact(a + c, b + d),
            BinaryOp::Subtract => exact(a - d, b - c),
            BinaryOp::Multiply => {
                let products = [a * c, a * d, b * c, b * d];
                exact(products.into_iter().min()?, products.into_iter().max()?)
            }
            BinaryOp::BitAnd if a >= 0 && c >= 0 => exact(0, b.min(d)),
            BinaryOp::BitOr | BinaryOp::BitXor if a >= 0 && c >= 0 => {
                let bits = 128 - (b as u128 | d as u128).leading_zeros();
                exact(0, (1i128 << bits) - 1)
            }
            BinaryOp::Remainder if a >= 0 && c > 0 => exact(0, b.min(d - 1)),
            BinaryOp::Divide if a >= 0 && c > 0 => exact(0, b),
            BinaryOp::ShiftRight if a >= 0 => exact(0, b),
            _ => None,
        }
    }

    /// Can evaluating it be a fault? (Yes, if in doubt.)
    pub(super) fn may_fault(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Const(_) | Expr::ProcessCount | Expr::LastMover | Expr::NonProgress | Expr::Accepting => false,
            Expr::SelfId => self.owner.is_none(),
            Expr::Shared(x) => self.shared_may_fault(x),
            Expr::Read(_) => self.plain_slot(expr).is_none(),
            Expr::Unary(_, x) => self.may_fault(x) || self.interval(x).low == i64::MIN,
            Expr::Binary(op, x, y) => {
                self.may_fault(x)
                    || self.may_fault(y)
                    || !is_truth(*op)
                        && !matches!(op, BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor | BinaryOp::ShiftRight)
                        && self.exact_interval(*op, self.interval(x), self.interval(y)).is_none()
            }
            Expr::Cast(scalar, x) => {
                self.may_fault(x)
                    || matches!(scalar, Scalar::Range { .. })
                        && !Interval::of_scalar(*scalar).contains(self.interval(x))
            }
            Expr::Conditional(c, x, y) => self.may_fault(c) || self.may_fault(x) || self.may_fault(y),
            Expr::LocationOf(x) | Expr::Priority(x) => self.may_fault(x),
            Expr::Length(x) | Expr::Full(x) => self.fixed_channel(x).is_none(),
            _ => true,
        }
    }

    /// A channel expression that always names the same channel: a variable's own, never assigned to.
    pub(super) fn fixed_channel(&self, expr: &Expr) -> Option<FixedChannel> {
        if self.created.is_some() {
            return None;
        }
        let layout = &self.program.layout;
        match expr {
            Expr::Const(handle) => {
                let own = layout.global_channels.get(usize::try_from(*handle).ok()?.checked_sub(1)?)?;
                Some(FixedChannel { base: Base::Global, offset: own.offset, kind: own.kind })
            }
            Expr::Cast(Scalar::Channel, x) => self.fixed_channel(x),
            Expr::Read(place) => {
                let (owner, base, channels) = match place.scope {
                    Scope::Global => (None, Base::Global, &layout.global_channels),
                    Scope::Local => (self.owner, Base::Local, &layout.segments[self.owner?].channels),
                };
                if self.assigned.contains(&(owner, place.variable.0)) {
                    return None;
                }
                let mut slot = u64::from(place.offset);
                for index in &place.indices {
                    let at = constant_of(&index.at).filter(|at| (0..i64::from(index.length)).contains(at))?;
                    slot += at as u64 * u64::from(index.stride);
                }
                let own = channels.iter().find(|c| c.variable == place.variable.0 && u64::from(c.slot) == slot)?;
                Some(FixedChannel { base, offset: own.offset, kind: own.kind })
            }
            _ => None,
        }
    }
}

/// The value of an expression without variables, unless it is a fault.
pub(super) fn constant_of(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::Const(value) => Some(*value),
        Expr::Unary(UnaryOp::Negate, x) => constant_of(x)?.checked_neg(),
        Expr::Unary(UnaryOp::Not, x) => Some((constant_of(x)? == 0).into()),
        Expr::Unary(UnaryOp::Complement, x) => Some(!constant_of(x)?),
        Expr::Cast(scalar, x) => scalar.fit(constant_of(x)?),
        Expr::Shared(_) => expr.constant(),
        Expr::Binary(op, x, y) => {
            let (x, y) = (constant_of(x)?, constant_of(y)?);
            match op {
                BinaryOp::Add => x.checked_add(y),
                BinaryOp::Subtract => x.checked_sub(y),
                BinaryOp::Multiply => x.checked_mul(y),
                BinaryOp::Equal => Some((x == y).into()),
                BinaryOp::NotEqual => Some((x != y).into()),
                BinaryOp::Less => Some((x < y).into()),
                BinaryOp::LessEqual => Some((x <= y).into()),
                BinaryOp::Greater => Some((x > y).into()),
                BinaryOp::GreaterEqual => Some((x >= y).into()),
                BinaryOp::And => Some((x != 0 && y != 0).into()),
                BinaryOp::Or => Some((x != 0 || y != 0).into()),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The parts of a chain of `&&` or `||`, however it is bracketed.
pub(super) fn chain(op: BinaryOp, expr: &Expr) -> Vec<&Expr> {
    let (mut parts, mut open) = (Vec::new(), vec![expr]);
    while let Some(next) = open.pop() {
        match next {
            Expr::Binary(other, x, y) if *other == op => open.extend([&**y, &**x]),
            _ => parts.push(next),
        }
    }
    parts
}

pub(super) fn exact(low: i128, high: i128) -> Option<Interval> {
    Some(Interval { low: i64::try_from(low).ok()?, high: i64::try_from(high).ok()? })
}

pub(super) fn is_comparison(op: BinaryOp) -> bool {
    matches!(
        op,
        BinaryOp::Equal
            | BinaryOp::NotEqual
            | BinaryOp::Less
            | BinaryOp::LessEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterEqual
    )
}

pub(super) fn is_truth(op: BinaryOp) -> bool {
    is_comparison(op) || matches!(op, BinaryOp::And | BinaryOp::Or)
}

pub(super) fn opposite(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Equal => BinaryOp::NotEqual,
        BinaryOp::NotEqual => BinaryOp::Equal,
        BinaryOp::Less => BinaryOp::GreaterEqual,
        BinaryOp::LessEqual => BinaryOp::Greater,
        BinaryOp::Greater => BinaryOp::LessEqual,
        BinaryOp::GreaterEqual => BinaryOp::Less,
        other => other,
    }
}

/// The comparison with a constant, if there is one, on its right side.
pub(super) fn constant_right<'e>(op: BinaryOp, x: &'e Expr, y: &'e Expr) -> (BinaryOp, &'e Expr, &'e Expr) {
    if constant_of(x).is_none() || constant_of(y).is_some() {
        return (op, x, y);
    }
    let turned = match op {
        BinaryOp::Less => BinaryOp::Greater,
        BinaryOp::LessEqual => BinaryOp::GreaterEqual,
        BinaryOp::Greater => BinaryOp::Less,
        BinaryOp::GreaterEqual => BinaryOp::LessEqual,
        other => other,
    };
    (turned, y, x)
}

/// The values for which `value op constant` holds: those in the interval, or those outside of it.
pub(super) fn accepted(op: BinaryOp, constant: i64) -> (i64, i64, bool) {
    match op {
        BinaryOp::Equal => (constant, constant, true),
        BinaryOp::NotEqual => (constant, constant, false),
        BinaryOp::Less => (constant, i64::MAX, false),
        BinaryOp::LessEqual => (i64::MIN, constant, true),
        BinaryOp::Greater => (i64::MIN, constant, false),
        _ => (constant, i64::MAX, true),
    }
}
