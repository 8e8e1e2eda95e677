//! Expressions. The arithmetic of a [`System`](ample_model::System) is exact, so every operation that may leave the
//! width of its expression is cast back into it.

use ample_logic::{Atom, Formula};
use ample_model::{AtomTable, BinaryOp, Expr, Place, Scalar, Scope, Temporal, UnaryOp, VariableId as SystemVariable};

use super::super::model::{Arithmetic, Comparison, Condition, Number, Value, VariableId};

/// How many bits a variable has.
type Bits<'a> = &'a dyn Fn(VariableId) -> u8;
/// What is read in place of a variable, if it is not the variable.
type Instead<'a> = &'a dyn Fn(VariableId) -> Option<Expr>;

fn unsigned(bits: u8) -> Scalar {
    Scalar::Int { bits, signed: false }
}

pub(super) fn place(id: VariableId, bits: u8) -> Place {
    let variable = SystemVariable::from(id.0);
    Place { scope: Scope::Global, variable, offset: 0, indices: Vec::new(), scalar: unsigned(bits) }
}

pub(super) fn read(id: VariableId, bits: u8) -> Expr {
    Expr::Read(place(id, bits))
}

/// `pc == value`
pub(super) fn is_at(pc: VariableId, bits: u8, value: u32) -> Expr {
    Expr::binary(BinaryOp::Equal, read(pc, bits), Expr::Const(value.into()))
}

pub(super) fn value(value: &Value, bits: Bits<'_>, instead: Instead<'_>) -> Expr {
    number(&value.number, value.bits, bits, instead)
}

fn number(number_: &Number, width: u8, bits: Bits<'_>, instead: Instead<'_>) -> Expr {
    match number_ {
        Number::Const(value) => Expr::Const((*value).into()),
        Number::Read(id) => instead(*id).unwrap_or_else(|| read(*id, bits(*id))),
        Number::Binary(op, x, y) => {
            let (x, y) = (number(x, width, bits, instead), number(y, width, bits, instead));
            arithmetic(*op, x, y, width)
        }
    }
}

fn arithmetic(op: Arithmetic, x: Expr, y: Expr, width: u8) -> Expr {
    let wrapped = |op, x, y| Expr::Cast(unsigned(width), Box::new(Expr::binary(op, x, y)));
    // Of two numbers of 32 bits the product may have 64, one too many; it is the same modulo 2^32 if they are
    // taken as signed, and then has 63.
    let signed = |e| if width > 31 { Expr::Cast(Scalar::INT, Box::new(e)) } else { e };
    match op {
        Arithmetic::Add => wrapped(BinaryOp::Add, x, y),
        Arithmetic::Subtract => wrapped(BinaryOp::Subtract, x, y),
        Arithmetic::Multiply => wrapped(BinaryOp::Multiply, signed(x), signed(y)),
        // These do not leave the width.
        Arithmetic::Divide => Expr::binary(BinaryOp::Divide, x, y),
        Arithmetic::Remainder => Expr::binary(BinaryOp::Remainder, x, y),
    }
}

pub(super) fn condition(e: &Condition, bits: Bits<'_>) -> Expr {
    let two = |op, x: &Condition, y: &Condition| Expr::binary(op, condition(x, bits), condition(y, bits));
    match e {
        Condition::Const(true) => Expr::TRUE,
        Condition::Const(false) => Expr::FALSE,
        Condition::Compare(op, x, y) => {
            let op = match op {
                Comparison::Equal => BinaryOp::Equal,
                Comparison::NotEqual => BinaryOp::NotEqual,
                Comparison::Less => BinaryOp::Less,
                Comparison::LessEqual => BinaryOp::LessEqual,
                Comparison::Greater => BinaryOp::Greater,
                Comparison::GreaterEqual => BinaryOp::GreaterEqual,
            };
            Expr::binary(op, value(x, bits, &|_| None), value(y, bits, &|_| None))
        }
        Condition::Not(x) => Expr::unary(UnaryOp::Not, condition(x, bits)),
        Condition::And(x, y) => two(BinaryOp::And, x, y),
        Condition::Or(x, y) => two(BinaryOp::Or, x, y),
        Condition::Implies(x, y) => {
            Expr::binary(BinaryOp::Or, Expr::unary(UnaryOp::Not, condition(x, bits)), condition(y, bits))
        }
        // Both are 0 or 1.
        Condition::Iff(x, y) => two(BinaryOp::Equal, x, y),
    }
}

/// Whether all hold.
pub(super) fn all(conditions: Vec<Expr>) -> Expr {
    balanced(BinaryOp::And, conditions).unwrap_or(Expr::TRUE)
}

/// Whether one holds.
pub(super) fn any(conditions: Vec<Expr>) -> Expr {
    balanced(BinaryOp::Or, conditions).unwrap_or(Expr::FALSE)
}

/// A tree that is no higher than it must be, with the operands in their order.
fn balanced(op: BinaryOp, mut operands: Vec<Expr>) -> Option<Expr> {
    while operands.len() > 1 {
        let mut rest = operands.into_iter();
        let mut halved = Vec::new();
        while let Some(left) = rest.next() {
            halved.push(match rest.next() {
                Some(right) => Expr::binary(op, left, right),
                None => left,
            });
        }
        operands = halved;
    }
    operands.pop()
}

/// A formula over the system's expressions.
pub(super) fn temporal(formula: &Formula, atoms: &[Condition], bits: Bits<'_>) -> Temporal {
    let mut table = AtomTable::new();
    let atoms: Vec<Formula> = atoms.iter().map(|atom| table.formula(condition(atom, bits))).collect();
    let formula = formula.substitute(&mut |Atom(number)| atoms[number as usize].clone());
    Temporal::new(formula, table)
}
