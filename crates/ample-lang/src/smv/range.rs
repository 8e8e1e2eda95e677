//! Values that an expression cannot have: outside of the range of a variable, of a `case` no condition of which holds, of an
//! index outside of its array.
//!
//! NuSMV refuses a model in which such a value is possible for some values of the variables, reachable or not. Here that is
//! found by trying all of them where they are few; where they are many, the value is a fault when it is met.

use std::collections::{HashMap, HashSet};

use ample_model::visit::{Seen, Visitor, innermost_first, walk_expr};
use ample_model::{BinaryOp, Expr, Overflow, Place, Scalar, Shared, UnaryOp};

use super::build::NOTHING;
use crate::diagnostic::Diagnostic;
use crate::watch::Watch;

/// So many combinations of values are tried.
const MAX_TRIED: u64 = 1 << 14;

/// A cell, now or next.
pub type Variable = (usize, bool);

/// What is wrong, and for which values.
pub struct Wrong {
    /// Of which kind it is.
    pub kind: WrongKind,
    /// The values of the cells.
    pub values: Vec<(Variable, i64)>,
}

/// What can be wrong with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrongKind {
    /// No condition of a `case` holds.
    Case,
    /// An index is outside of its array.
    Element,
    /// A shift by more bits than there are.
    Shift,
    /// A division by zero.
    Division,
    /// Arithmetic beyond 64 bits.
    Overflow,
    /// It does not fit into the variable.
    Outside(i64),
}

/// What may be wrong with a value that is stored in a cell of this type, if one is given and if the condition holds.
pub fn find(
    when: Option<&Expr>,
    value: &Expr,
    scalar: Option<Scalar>,
    watch: &Watch<'_>,
) -> Result<Option<Wrong>, Diagnostic> {
    let mut intervals = Intervals::default();
    let range = intervals.of(value);
    let certain = when.map(|when| intervals.of(when)).is_none_or(|range| range.is_some()) && range.is_some();
    let fits = scalar.is_none_or(|scalar| range.is_some_and(|range| within(range, scalar)));
    if certain && fits {
        return Ok(None);
    }
    let mut cells = Cells::default();
    when.iter().for_each(|when| cells.expr(when));
    cells.expr(value);
    let mut variables: Vec<(Variable, i64, i64)> =
        cells.found.into_iter().map(|(v, (low, high))| (v, low, high)).collect();
    variables.sort_unstable();
    let count = variables.iter().try_fold(1u64, |all, (_, low, high)| {
        all.checked_mul(high.abs_diff(*low).checked_add(1)?).filter(|all| *all <= MAX_TRIED)
    });
    if count.is_none() {
        return Ok(None);
    }
    try_all(&variables, when, value, scalar, watch)
}

fn try_all(
    variables: &[(Variable, i64, i64)],
    when: Option<&Expr>,
    value: &Expr,
    scalar: Option<Scalar>,
    watch: &Watch<'_>,
) -> Result<Option<Wrong>, Diagnostic> {
    let mut values: HashMap<Variable, i64> = variables.iter().map(|(variable, low, _)| (*variable, *low)).collect();
    loop {
        watch.steps(16)?;
        let mut evaluation = Evaluation { values: &values, shared: HashMap::new() };
        let result = match when.map_or(Ok(1), |when| evaluation.value(when)) {
            Ok(0) => Ok(None),
            Ok(_) => evaluation.value(value).map(Some),
            Err(kind) => Err(kind),
        };
        let kind = match (result, scalar) {
            (Err(kind), _) => Some(kind),
            (Ok(Some(value)), Some(scalar)) if scalar.fit(value).is_none() => Some(WrongKind::Outside(value)),
            _ => None,
        };
        if let Some(kind) = kind {
            let values = variables.iter().map(|(variable, ..)| (*variable, values[variable])).collect();
            return Ok(Some(Wrong { kind, values }));
        }
        let mut done = true;
        for (variable, low, high) in variables.iter().rev() {
            let value = values.entry(*variable).or_insert(*low);
            if *value < *high {
                *value += 1;
                done = false;
                break;
            }
            *value = *low;
        }
        if done {
            return Ok(None);
        }
    }
}

/// The cells whose current, or next, values a value depends on.
pub fn reads(value: &super::expression::Lowered, next: bool) -> Vec<usize> {
    let mut found = Vec::new();
    for one in &value.alternatives {
        let plain = one.value.plain();
        let mut cells = Cells::default();
        one.when.iter().for_each(|when| cells.expr(when));
        cells.expr(&plain);
        found.extend(cells.found.keys().filter(|(_, of_next)| *of_next == next).map(|(cell, _)| *cell));
    }
    found
}

fn limits(scalar: Scalar) -> Option<(i64, i64)> {
    match scalar {
        Scalar::Int { bits, signed: false } => Some((0, (1 << bits) - 1)),
        Scalar::Int { bits, signed: true } => Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
        Scalar::Range { low, high, .. } => Some((low, high)),
        _ => None,
    }
}

fn within((low, high): (i64, i64), scalar: Scalar) -> bool {
    match scalar {
        Scalar::Range { low: least, high: most, overflow: Overflow::Fault } => low >= least && high <= most,
        _ => true,
    }
}

/// Collects the cells that are read, with the limits of their types.
#[derive(Default)]
struct Cells<'a> {
    found: HashMap<Variable, (i64, i64)>,
    seen: Seen<'a>,
}

impl<'a> Visitor<'a> for Cells<'a> {
    fn expr(&mut self, expr: &'a Expr) {
        let mut add = |place: &Place, next| {
            let limits = limits(place.scalar).unwrap_or((i64::MIN, i64::MAX));
            self.found.insert((place.variable.index(), next), limits);
        };
        match expr {
            Expr::Read(place) => add(place, false),
            Expr::Next(place) => add(place, true),
            _ => {}
        }
        walk_expr(self, expr);
    }

    fn shared(&mut self, shared: &'a Shared) {
        for part in self.seen.unseen(shared) {
            self.expr(part);
        }
    }
}

/// Between which values an expression lies; none if it may have no value at all.
#[derive(Default)]
struct Intervals {
    shared: HashMap<usize, Option<(i64, i64)>>,
}

impl Intervals {
    fn of(&mut self, expr: &Expr) -> Option<(i64, i64)> {
        match expr {
            Expr::Const(value) => Some((*value, *value)),
            Expr::Read(place) | Expr::Next(place) => limits(place.scalar),
            Expr::Unary(op, x) => {
                let (low, high) = self.of(x)?;
                match op {
                    UnaryOp::Not => Some((0, 1)),
                    UnaryOp::Negate => Some((high.checked_neg()?, low.checked_neg()?)),
                    UnaryOp::Complement => Some((!high, !low)),
                }
            }
            Expr::Binary(op, x, y) => {
                let (x, y) = (self.of(x)?, self.of(y)?);
                binary(*op, x, y)
            }
            Expr::Cast(scalar, x) => {
                let range = self.of(x)?;
                let limits = limits(*scalar)?;
                let inside = range.0 >= limits.0 && range.1 <= limits.1;
                if inside { Some(range) } else { within(range, *scalar).then_some(limits) }
            }
            Expr::Conditional(c, x, y) => {
                self.of(c)?;
                let (x, y) = (self.of(x)?, self.of(y)?);
                Some((x.0.min(y.0), x.1.max(y.1)))
            }
            Expr::Shared(x) => {
                if let Some(known) = self.shared.get(&x.address()) {
                    return *known;
                }
                let (known, mut seen) = (&self.shared, HashSet::new());
                let is_new = &mut |part: &Shared| !known.contains_key(&part.address()) && seen.insert(part.address());
                for part in innermost_first(x, is_new) {
                    let range = self.of(part);
                    self.shared.insert(part.address(), range);
                }
                self.shared.get(&x.address()).copied().flatten()
            }
            _ => None,
        }
    }
}

fn binary(op: BinaryOp, x: (i64, i64), y: (i64, i64)) -> Option<(i64, i64)> {
    match op {
        BinaryOp::Add => Some((x.0.checked_add(y.0)?, x.1.checked_add(y.1)?)),
        BinaryOp::Subtract => Some((x.0.checked_sub(y.1)?, x.1.checked_sub(y.0)?)),
        BinaryOp::Multiply => {
            let mut products = [(x.0, y.0), (x.0, y.1), (x.1, y.0), (x.1, y.1)].map(|(x, y)| x.checked_mul(y));
            products.sort_unstable();
            Some((products[0]?, products[3]?))
        }
        BinaryOp::Divide | BinaryOp::Remainder if y.0 <= 0 && y.1 >= 0 => None,
        BinaryOp::Divide => {
            let most = x.0.checked_abs()?.max(x.1.checked_abs()?);
            Some((if x.0 >= 0 && y.0 > 0 { 0 } else { -most }, most))
        }
        BinaryOp::Remainder => {
            let most = y.0.checked_abs()?.max(y.1.checked_abs()?) - 1;
            Some((if x.0 >= 0 { 0 } else { -most }, if x.1 <= 0 { 0 } else { most }))
        }
        BinaryOp::BitAnd if y.0 >= 0 => Some((0, y.1)),
        BinaryOp::BitAnd if x.0 >= 0 => Some((0, x.1)),
        BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => {
            let bits = [x.0, x.1, y.0, y.1].map(|value| 64 - (value ^ (value >> 63)).leading_zeros());
            let bits = bits.into_iter().max().filter(|bits| *bits < 63)?;
            let negative = x.0 < 0 || y.0 < 0;
            Some((if negative { -(1 << bits) } else { 0 }, (1 << bits) - 1))
        }
        BinaryOp::ShiftRight if y.0 == y.1 => Some((x.0 >> (y.0 & 31), x.1 >> (y.0 & 31))),
        BinaryOp::ShiftRight | BinaryOp::ShiftLeft => None,
        _ => Some((0, 1)),
    }
}

struct Evaluation<'v> {
    values: &'v HashMap<Variable, i64>,
    shared: HashMap<usize, Result<i64, WrongKind>>,
}

impl Evaluation<'_> {
    fn value(&mut self, expr: &Expr) -> Result<i64, WrongKind> {
        let fault = |fault| match fault {
            ample_model::Fault::DivisionByZero => WrongKind::Division,
            _ => WrongKind::Overflow,
        };
        match expr {
            Expr::Const(value) => Ok(*value),
            Expr::Read(place) => Ok(self.values.get(&(place.variable.index(), false)).copied().unwrap_or(0)),
            Expr::Next(place) => Ok(self.values.get(&(place.variable.index(), true)).copied().unwrap_or(0)),
            Expr::Unary(op, x) => op.apply(self.value(x)?).map_err(fault),
            Expr::Binary(op, x, y) => {
                let x = self.value(x)?;
                match (op, x) {
                    (BinaryOp::And, 0) => return Ok(0),
                    (BinaryOp::Or, x) if x != 0 => return Ok(1),
                    _ => {}
                }
                op.apply(x, self.value(y)?).map_err(fault)
            }
            Expr::Cast(scalar, x) => {
                let value = self.value(x)?;
                scalar.fit(value).ok_or(match (*scalar == NOTHING, value) {
                    (true, 2) => WrongKind::Element,
                    (true, 3) => WrongKind::Shift,
                    (true, _) => WrongKind::Case,
                    _ => WrongKind::Outside(value),
                })
            }
            Expr::Conditional(c, x, y) => {
                let c = self.value(c)?;
                self.value(if c != 0 { x } else { y })
            }
            Expr::Shared(x) => {
                if let Some(known) = self.shared.get(&x.address()) {
                    return *known;
                }
                let value = self.value(x);
                self.shared.insert(x.address(), value);
                value
            }
            _ => Ok(0),
        }
    }
}
