//! Numbers as bits: signed two's complement, of the width that they need.
//!
//! Nothing is lost: a sum is a bit wider than its operands, a product as wide as both together. What the
//! interpreter keeps in 64 bits is brought there by [`Dag::kept`], which tells where that is not possible.

use ample_model::{BinaryOp, Overflow, Scalar};

use crate::dag::{Dag, Lit};

/// A number: bits from the least significant on, the last one is the sign. There is at least one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Word(Vec<Lit>);

impl Word {
    /// These bits, without those that only repeat the sign.
    fn of(mut bits: Vec<Lit>) -> Word {
        if bits.is_empty() {
            bits.push(Lit::FALSE);
        }
        while bits.len() > 1 && bits[bits.len() - 1] == bits[bits.len() - 2] {
            bits.pop();
        }
        Word(bits)
    }

    pub fn constant(value: i128) -> Word {
        Word::of((0..128).map(|bit| Lit::from(value >> bit & 1 == 1)).collect())
    }

    pub fn zero() -> Word {
        Word(vec![Lit::FALSE])
    }

    /// The bits of a number that is not negative.
    pub fn unsigned(mut bits: Vec<Lit>) -> Word {
        bits.push(Lit::FALSE);
        Word::of(bits)
    }

    /// The bits of a number whose last bit is its sign.
    pub fn signed(bits: Vec<Lit>) -> Word {
        Word::of(bits)
    }

    /// 1 or 0.
    pub fn truth(lit: Lit) -> Word {
        Word::unsigned(vec![lit])
    }

    pub fn width(&self) -> usize {
        self.0.len()
    }

    pub fn sign(&self) -> Lit {
        self.0[self.0.len() - 1]
    }

    /// Its bit of that weight, however far.
    pub fn bit(&self, number: usize) -> Lit {
        self.0.get(number).copied().unwrap_or(self.sign())
    }

    fn extended(&self, width: usize) -> Vec<Lit> {
        (0..width).map(|number| self.bit(number)).collect()
    }

    /// Its value, if it is a constant.
    #[cfg(test)]
    pub fn value(&self) -> Option<i128> {
        if self.width() > 127 || !self.0.iter().all(|bit| bit.is_constant()) {
            return None;
        }
        let sign = if self.sign() == Lit::TRUE { -1i128 << self.width() } else { 0 };
        let bits = (0..).zip(&self.0).map(|(number, bit)| i128::from(*bit == Lit::TRUE) << number);
        Some(bits.sum::<i128>() | sign)
    }
}

impl Dag {
    pub(crate) fn select(&mut self, condition: Lit, then: &Word, otherwise: &Word) -> Word {
        if condition.is_constant() || then == otherwise {
            return if condition == Lit::FALSE { otherwise.clone() } else { then.clone() };
        }
        let width = then.width().max(otherwise.width());
        Word::of((0..width).map(|number| self.ite(condition, then.bit(number), otherwise.bit(number))).collect())
    }

    /// The number is not 0.
    pub(crate) fn is_true(&mut self, x: &Word) -> Lit {
        self.any(&x.0)
    }

    pub(crate) fn equal(&mut self, x: &Word, y: &Word) -> Lit {
        let width = x.width().max(y.width());
        let mut same = Vec::with_capacity(width);
        for number in (0..width).rev() {
            let bit = self.iff(x.bit(number), y.bit(number));
            if bit == Lit::FALSE {
                return Lit::FALSE;
            }
            same.push(bit);
        }
        self.all(&same)
    }

    pub(crate) fn equals(&mut self, x: &Word, value: i128) -> Lit {
        self.equal(x, &Word::constant(value))
    }

    pub(crate) fn less(&mut self, x: &Word, y: &Word) -> Lit {
        let width = x.width().max(y.width());
        let mut less = Lit::FALSE;
        for number in 0..width {
            // The sign weighs the other way round.
            let (a, b) = (x.bit(number), y.bit(number));
            let (a, b) = if number + 1 == width { (b, a) } else { (a, b) };
            let here = self.and(!a, b);
            let same = self.iff(a, b);
            let below = self.and(same, less);
            less = self.or(here, below);
        }
        less
    }

    pub(crate) fn add(&mut self, x: &Word, y: &Word) -> Word {
        let width = x.width().max(y.width()) + 1;
        Word::of(self.sum(&x.extended(width), &y.extended(width), Lit::FALSE))
    }

    pub(crate) fn subtract(&mut self, x: &Word, y: &Word) -> Word {
        let width = x.width().max(y.width()) + 1;
        let negated: Vec<Lit> = y.extended(width).into_iter().map(|bit| !bit).collect();
        Word::of(self.sum(&x.extended(width), &negated, Lit::TRUE))
    }

    /// The sum modulo two to the width of the first.
    fn sum(&mut self, x: &[Lit], y: &[Lit], mut carry: Lit) -> Vec<Lit> {
        let mut out = Vec::with_capacity(x.len());
        for (a, b) in x.iter().zip(y) {
            let half = self.xor(*a, *b);
            out.push(self.xor(half, carry));
            let both = self.and(*a, *b);
            let carried = self.and(half, carry);
            carry = self.or(both, carried);
        }
        out
    }

    pub(crate) fn negate(&mut self, x: &Word) -> Word {
        self.subtract(&Word::zero(), x)
    }

    fn multiply(&mut self, x: &Word, y: &Word) -> Word {
        // The one with fewer bits that are not constant zeros decides what is added.
        let zeros = |word: &Word| word.0.iter().filter(|bit| **bit != Lit::FALSE).count();
        let (x, y) = if zeros(y) <= zeros(x) { (x, y) } else { (y, x) };
        let width = x.width() + y.width();
        let (left, right) = (x.extended(width), y.extended(width));
        let mut total = vec![Lit::FALSE; width];
        for shift in 0..y.width() {
            if right[shift] == Lit::FALSE {
                continue;
            }
            let row: Vec<Lit> = left[..width - shift].iter().map(|bit| self.and(*bit, right[shift])).collect();
            // The sign of the factor has a negative weight.
            let sum = if shift + 1 == y.width() {
                let negated: Vec<Lit> = row.iter().map(|bit| !*bit).collect();
                self.sum(&total[shift..], &negated, Lit::TRUE)
            } else {
                self.sum(&total[shift..], &row, Lit::FALSE)
            };
            total.splice(shift.., sum);
        }
        Word::of(total)
    }

    /// The bits of the absolute value; as many as the word has.
    fn magnitude(&mut self, x: &Word) -> Vec<Lit> {
        let negated = self.negate(x);
        self.select(x.sign(), &negated, x).extended(x.width())
    }

    /// Quotient and remainder, towards zero. Where the divisor is 0 they mean nothing.
    fn divide(&mut self, x: &Word, y: &Word) -> (Word, Word) {
        let (dividend, divisor) = (self.magnitude(x), self.magnitude(y));
        let divisor = Word::unsigned(divisor);
        let mut rest = Word::zero();
        let mut quotient = vec![Lit::FALSE; dividend.len()];
        for number in (0..dividend.len()).rev() {
            let mut bits = vec![dividend[number]];
            bits.extend(&rest.0);
            rest = Word::of(bits);
            let smaller = self.less(&rest, &divisor);
            quotient[number] = !smaller;
            let reduced = self.subtract(&rest, &divisor);
            let next = self.select(smaller, &rest, &reduced);
            // What is left is never negative and below the divisor: its width needs no sign of its own.
            let width = next.width().min(divisor.width());
            let mut kept = next.extended(width.saturating_sub(1));
            kept.push(Lit::FALSE);
            rest = Word::of(kept);
        }
        let quotient = Word::unsigned(quotient);
        let (minus_quotient, minus_rest) = (self.negate(&quotient), self.negate(&rest));
        let differ = self.xor(x.sign(), y.sign());
        (self.select(differ, &minus_quotient, &quotient), self.select(x.sign(), &minus_rest, &rest))
    }

    fn bitwise(&mut self, x: &Word, y: &Word, op: fn(&mut Dag, Lit, Lit) -> Lit) -> Word {
        let width = x.width().max(y.width());
        Word::of((0..width).map(|number| op(self, x.bit(number), y.bit(number))).collect())
    }

    pub(crate) fn complement(&mut self, x: &Word) -> Word {
        Word::of(x.0.iter().map(|bit| !*bit).collect())
    }

    /// Shifts by the low five bits of the distance; `left` by nothing lost, else arithmetically to the right.
    fn shift(&mut self, x: &Word, distance: &Word, left: bool) -> Word {
        let mut shifted = x.clone();
        for stage in 0..5 {
            let by = 1usize << stage;
            let moved = if left {
                let mut bits = vec![Lit::FALSE; by];
                bits.extend(&shifted.0);
                Word::of(bits)
            } else {
                Word::of((by..shifted.width().max(by + 1)).map(|number| shifted.bit(number)).collect())
            };
            shifted = self.select(distance.bit(stage), &moved, &shifted);
        }
        shifted
    }

    /// The number in 64 bits, and where it does not fit.
    pub(crate) fn kept(&mut self, x: Word) -> (Word, Lit) {
        if x.width() <= 64 {
            return (x, Lit::FALSE);
        }
        let lost: Vec<Lit> = (63..x.width()).map(|number| self.xor(x.bit(number), x.sign())).collect();
        let lost = self.any(&lost);
        (Word::of(x.0[..64].to_vec()), lost)
    }

    /// The value of a binary operator, and where it is a fault. Both operands are evaluated.
    pub(crate) fn apply(&mut self, op: BinaryOp, x: &Word, y: &Word) -> (Word, Lit) {
        let word = match op {
            BinaryOp::Add => self.add(x, y),
            BinaryOp::Subtract => self.subtract(x, y),
            BinaryOp::Multiply => self.multiply(x, y),
            BinaryOp::Divide | BinaryOp::Remainder => {
                let by_zero = !self.is_true(y);
                if by_zero == Lit::TRUE {
                    return (Word::zero(), Lit::TRUE);
                }
                let (quotient, rest) = self.divide(x, y);
                let (word, lost) = self.kept(if op == BinaryOp::Divide { quotient } else { rest });
                return (word, self.or(by_zero, lost));
            }
            BinaryOp::BitAnd => self.bitwise(x, y, Dag::and),
            BinaryOp::BitOr => self.bitwise(x, y, Dag::or),
            BinaryOp::BitXor => self.bitwise(x, y, Dag::xor),
            BinaryOp::ShiftLeft => self.shift(x, y, true),
            BinaryOp::ShiftRight => self.shift(x, y, false),
            BinaryOp::Equal => Word::truth(self.equal(x, y)),
            BinaryOp::NotEqual => Word::truth(!self.equal(x, y)),
            BinaryOp::Less => Word::truth(self.less(x, y)),
            BinaryOp::LessEqual => Word::truth(!self.less(y, x)),
            BinaryOp::Greater => Word::truth(self.less(y, x)),
            BinaryOp::GreaterEqual => Word::truth(!self.less(x, y)),
            BinaryOp::And | BinaryOp::Or => {
                let (x, y) = (self.is_true(x), self.is_true(y));
                Word::truth(if op == BinaryOp::And { self.and(x, y) } else { self.or(x, y) })
            }
        };
        self.kept(word)
    }

    /// The value as the type keeps it, and where that is a fault.
    pub(crate) fn fit(&mut self, scalar: Scalar, x: &Word) -> (Word, Lit) {
        match scalar {
            Scalar::Int { bits, signed } => (cut(x, bits.into(), signed), Lit::FALSE),
            Scalar::Enumeration(_) | Scalar::Channel | Scalar::Process => (cut(x, 8, false), Lit::FALSE),
            Scalar::Reference(_) | Scalar::Unbounded => (x.clone(), Lit::FALSE),
            Scalar::Range { low, high, overflow } => self.fit_range(i128::from(low), i128::from(high), overflow, x),
        }
    }

    fn fit_range(&mut self, low: i128, high: i128, overflow: Overflow, x: &Word) -> (Word, Lit) {
        let (least, most) = (Word::constant(low), Word::constant(high));
        let (below, above) = (self.less(x, &least), self.less(&most, x));
        let outside = self.or(below, above);
        if outside == Lit::FALSE {
            return (x.clone(), Lit::FALSE);
        }
        match overflow {
            Overflow::Fault => (x.clone(), outside),
            Overflow::Saturate => {
                let capped = self.select(above, &most, x);
                (self.select(below, &least, &capped), Lit::FALSE)
            }
            Overflow::Wrap => {
                let size = Word::constant(high - low + 1);
                let offset = self.subtract(x, &least);
                let (_, rest) = self.divide(&offset, &size);
                let lifted = self.add(&rest, &size);
                let wrapped = self.select(rest.sign(), &lifted, &rest);
                let wrapped = self.add(&wrapped, &least);
                (self.select(outside, &wrapped, x), Lit::FALSE)
            }
        }
    }
}

/// The low bits.
fn cut(x: &Word, bits: usize, signed: bool) -> Word {
    let low = x.extended(bits);
    if signed { Word::signed(low) } else { Word::unsigned(low) }
}

#[cfg(test)]
mod tests {
    use ample_random::Random;

    use super::*;

    const OPERATORS: [BinaryOp; 18] = [
        BinaryOp::Add,
        BinaryOp::Subtract,
        BinaryOp::Multiply,
        BinaryOp::Divide,
        BinaryOp::Remainder,
        BinaryOp::BitAnd,
        BinaryOp::BitOr,
        BinaryOp::BitXor,
        BinaryOp::ShiftLeft,
        BinaryOp::ShiftRight,
        BinaryOp::Equal,
        BinaryOp::NotEqual,
        BinaryOp::Less,
        BinaryOp::LessEqual,
        BinaryOp::Greater,
        BinaryOp::GreaterEqual,
        BinaryOp::And,
        BinaryOp::Or,
    ];

    /// A number of any size, with those at the edges often.
    fn number(random: &mut Random, width: u32) -> i64 {
        let edges = [0, 1, -1, 2, -2, i64::MIN, i64::MAX, 31, 32, -32, 255, 256];
        let raw = match random.one_in(3) {
            true => random.pick(&edges),
            false => (random.next_u64() as i64) >> random.below(64),
        };
        raw << (64 - width) >> (64 - width)
    }

    /// A word whose bits are inputs from that one on.
    fn inputs(dag: &mut Dag, first: u32, width: u32) -> Word {
        Word::signed((first..first + width).map(|bit| dag.input(bit)).collect())
    }

    fn read(values: &crate::dag::Values, word: &Word) -> i128 {
        let bit = |number: usize| i128::from(values.of(word.bit(number)));
        (0..127).map(|number| bit(number) << number).sum::<i128>() | (-bit(127) << 127)
    }

    /// The formulas of the operators for symbolic operands of several widths, against the interpreter's.
    #[test]
    fn operators_agree_with_64_bit_arithmetic() {
        let mut random = Random::new(7);
        for (left, right) in [(1, 1), (3, 2), (8, 8), (5, 13), (33, 32), (64, 64), (64, 7), (9, 64)] {
            for op in OPERATORS {
                let mut dag = Dag::new();
                let (x, y) = (inputs(&mut dag, 0, left), inputs(&mut dag, left, right));
                let (word, fault) = dag.apply(op, &x, &y);
                for _ in 0..60 {
                    let (a, b) = (number(&mut random, left), number(&mut random, right));
                    let bit = |number: u32| {
                        if number < left { a >> number & 1 == 1 } else { b >> (number - left) & 1 == 1 }
                    };
                    let values = dag.values(&bit);
                    let found = if values.of(fault) { None } else { Some(read(&values, &word)) };
                    assert_eq!(found, op.apply(a, b).ok().map(i128::from), "{a} {op:?} {b} ({left}, {right} bits)");
                }
            }
        }
    }

    #[test]
    fn operators_fold_constants() {
        let mut random = Random::new(11);
        for _ in 0..300 {
            let (a, b) = (number(&mut random, 64), {
                let width = 1 + random.below(64);
                number(&mut random, width)
            });
            for op in OPERATORS {
                let mut dag = Dag::new();
                let (word, fault) = dag.apply(op, &Word::constant(a.into()), &Word::constant(b.into()));
                assert!(fault.is_constant() && dag.is_empty(), "{a} {op:?} {b}");
                let found = if fault == Lit::TRUE { None } else { word.value() };
                assert_eq!(found, op.apply(a, b).ok().map(i128::from), "{a} {op:?} {b}");
            }
        }
    }

    #[test]
    fn types_keep_what_they_keep() {
        let ranges = [(-1, 1), (0, 2), (3, 9), (-7, -5), (i64::MIN, i64::MAX), (0, i64::MAX), (5, 5)];
        let rules = [Overflow::Wrap, Overflow::Fault, Overflow::Saturate];
        let mut scalars = vec![Scalar::Channel, Scalar::Process, Scalar::Unbounded];
        for (low, high) in ranges {
            scalars.extend(rules.map(|overflow| Scalar::Range { low, high, overflow }));
        }
        for bits in [1, 2, 7, 8, 16, 31, 32] {
            scalars.extend([true, false].map(|signed| Scalar::Int { bits, signed }));
        }
        let mut random = Random::new(13);
        for scalar in scalars {
            for width in [1, 2, 4, 9, 33, 64] {
                let mut dag = Dag::new();
                let x = inputs(&mut dag, 0, width);
                let (word, fault) = dag.fit(scalar, &x);
                for _ in 0..40 {
                    let a = number(&mut random, width);
                    let values = dag.values(&|bit| a >> bit & 1 == 1);
                    let found = if values.of(fault) { None } else { Some(read(&values, &word)) };
                    assert_eq!(found, scalar.fit(a).map(i128::from), "{a} as {scalar:?}");
                }
            }
        }
    }

    #[test]
    fn unary_operators_and_choices() {
        let mut random = Random::new(17);
        for width in [1, 5, 64] {
            let mut dag = Dag::new();
            let (x, condition) = (inputs(&mut dag, 0, width), dag.input(64));
            let negated = dag.negate(&x);
            let (negated, lost) = dag.kept(negated);
            let (complement, truth) = (dag.complement(&x), dag.is_true(&x));
            let chosen = dag.select(condition, &x, &complement);
            for _ in 0..50 {
                let (a, first) = (number(&mut random, width), random.one_in(2));
                let values = dag.values(&|bit| if bit == 64 { first } else { a >> bit & 1 == 1 });
                let found = if values.of(lost) { None } else { Some(read(&values, &negated)) };
                assert_eq!(found, a.checked_neg().map(i128::from));
                assert_eq!(read(&values, &complement), i128::from(!a));
                assert_eq!(values.of(truth), a != 0);
                assert_eq!(read(&values, &chosen), i128::from(if first { a } else { !a }));
            }
        }
    }
}
