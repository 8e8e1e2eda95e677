//! Words: numbers of a fixed number of bits, kept as integers, and their operations, modulo a power of two.

use ample_model::{BinaryOp, Expr, Overflow, Scalar, UnaryOp};

use super::build::{Missing, binary, conditional, first_of, impossible, shared};

/// The least and the largest value.
fn limits(bits: u32, signed: bool) -> (i64, i64) {
    if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

/// The type that stores a word.
pub fn scalar(bits: u32, signed: bool) -> Scalar {
    if bits <= 32 {
        return Scalar::Int { bits: bits as u8, signed };
    }
    let (low, high) = limits(bits, signed);
    Scalar::Range { low, high, overflow: Overflow::Wrap }
}

/// Whether a number is a value of the type.
pub fn fits(value: i64, bits: u32, signed: bool) -> bool {
    let (low, high) = limits(bits, signed);
    (low..=high).contains(&value)
}

/// The number modulo the size of the type.
pub fn wrap(x: Expr, bits: u32, signed: bool) -> Expr {
    let scalar = scalar(bits, signed);
    match x {
        Expr::Const(value) => Expr::Const(scalar.fit(value).unwrap_or(value)),
        x => Expr::Cast(scalar, Box::new(x)),
    }
}

/// The same bits as a number without a sign.
pub fn unsigned(x: Expr, bits: u32, is_signed: bool) -> Expr {
    if is_signed { wrap(x, bits, false) } else { x }
}

/// The same bits as a number with a sign.
pub fn signed(x: Expr, bits: u32, is_signed: bool) -> Expr {
    if is_signed { x } else { wrap(x, bits, true) }
}

/// Every bit the other way round.
pub fn complement(x: Expr, bits: u32, signed: bool) -> Expr {
    match (x, signed) {
        (Expr::Const(value), true) => Expr::Const(!value),
        (x, true) => Expr::unary(UnaryOp::Complement, x),
        (x, false) => binary(BinaryOp::Subtract, Expr::Const(limits(bits, false).1), x),
    }
}

/// `-x`
pub fn negate(x: Expr, bits: u32, signed: bool) -> Expr {
    wrap(binary(BinaryOp::Subtract, Expr::Const(0), x), bits, signed)
}

/// `x * y`, in halves where the product could exceed 64 bits.
pub fn multiply(x: Expr, y: Expr, bits: u32, signed: bool) -> Expr {
    if bits <= 31 {
        return wrap(binary(BinaryOp::Multiply, x, y), bits, signed);
    }
    let (x, y) = (shared(unsigned(x, bits, signed)), shared(unsigned(y, bits, signed)));
    let low_bits = 31;
    let high_bits = bits - low_bits;
    let low = |x: &Expr| shared(binary(BinaryOp::BitAnd, x.clone(), Expr::Const((1 << low_bits) - 1)));
    let high = |x: &Expr| shared(binary(BinaryOp::ShiftRight, x.clone(), Expr::Const(low_bits.into())));
    let (xl, xh, yl, yh) = (low(&x), high(&x), low(&y), high(&y));
    let product = |x: &Expr, y: &Expr| binary(BinaryOp::Multiply, x.clone(), y.clone());
    let cross = binary(BinaryOp::Add, product(&xh, &yl), product(&xl, &yh));
    let cross = binary(BinaryOp::BitAnd, cross, Expr::Const((1 << high_bits) - 1));
    let cross = binary(BinaryOp::Multiply, cross, Expr::Const(1 << low_bits));
    wrap(binary(BinaryOp::Add, product(&xl, &yl), cross), bits, signed)
}

/// `x << by`, `x >> by`. By more than there are bits is a fault.
pub fn shift(left: bool, x: Expr, by: Expr, bits: u32, signed: bool) -> Expr {
    let x = shared(x);
    if let Expr::Const(by) = by {
        return match u32::try_from(by) {
            Ok(by) if by <= bits => shift_constant(left, x, by, bits, signed),
            _ => impossible(Missing::Shift),
        };
    }
    let by = shared(by);
    let branches = (0..=bits).map(|count| {
        let same = binary(BinaryOp::Equal, by.clone(), Expr::Const(count.into()));
        (same, shift_constant(left, x.clone(), count, bits, signed))
    });
    first_of(branches.collect(), impossible(Missing::Shift))
}

fn shift_constant(left: bool, x: Expr, by: u32, bits: u32, is_signed: bool) -> Expr {
    match left {
        _ if by == 0 => x,
        // The sign fills what is free.
        false if by == bits && is_signed => {
            conditional(binary(BinaryOp::Less, x, Expr::Const(0)), Expr::Const(-1), Expr::Const(0))
        }
        _ if by == bits => Expr::Const(0),
        false => shift_right(x, by),
        true => {
            let kept = binary(BinaryOp::BitAnd, x, Expr::Const((1 << (bits - by)) - 1));
            signed(binary(BinaryOp::Multiply, kept, Expr::Const(1 << by)), bits, !is_signed)
        }
    }
}

/// Shifts of the model are by at most 31.
fn shift_right(x: Expr, by: u32) -> Expr {
    let first = binary(BinaryOp::ShiftRight, x, Expr::Const(by.min(31).into()));
    if by > 31 { binary(BinaryOp::ShiftRight, first, Expr::Const((by - 31).into())) } else { first }
}

/// So many bits from that position on, without a sign.
pub fn select(x: Expr, bits: u32, is_signed: bool, from: u32, width: u32) -> Expr {
    let x = unsigned(x, bits, is_signed);
    let x = if from == 0 { x } else { shift_right(x, from) };
    if from + width == bits { x } else { binary(BinaryOp::BitAnd, x, Expr::Const((1 << width) - 1)) }
}

/// The same number with another number of bits. A word with a sign that gets shorter keeps its sign bit.
pub fn resize(x: Expr, bits: u32, width: u32, is_signed: bool) -> Expr {
    if width >= bits {
        return x;
    }
    if !is_signed {
        return binary(BinaryOp::BitAnd, x, Expr::Const((1 << width) - 1));
    }
    let x = shared(x);
    let rest = binary(BinaryOp::BitAnd, x.clone(), Expr::Const((1 << (width - 1)) - 1));
    let negative = binary(BinaryOp::Less, x, Expr::Const(0));
    let below = binary(BinaryOp::Subtract, rest.clone(), Expr::Const(1 << (width - 1)));
    conditional(negative, below, rest)
}
