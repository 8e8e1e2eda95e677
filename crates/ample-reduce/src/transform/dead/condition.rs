//! Conditions under which a variable is dead: small conjunctions of disjunctions.
//!
//! Every operation that would give a large condition gives a stronger one instead, so that what is computed is an
//! under-approximation of what is meant.

use ample_model::{BinaryOp, Expr, UnaryOp};

use crate::transform::substitute::size;

/// So many disjunctions.
const MAX_CLAUSES: usize = 4;
/// Of so many literals each.
const MAX_LITERALS: usize = 4;
/// With so many parts each.
const MAX_SIZE: usize = 24;

/// An expression, or its negation.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Literal {
    expr: Expr,
    is_positive: bool,
}

/// A conjunction of disjunctions; none is true, an empty one is false.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Condition(Vec<Vec<Literal>>);

impl Condition {
    pub const TRUE: Condition = Condition(Vec::new());

    pub fn falsity() -> Condition {
        Condition(vec![Vec::new()])
    }

    /// An expression or its negation, or something stronger.
    pub fn of(expr: &Expr, is_positive: bool) -> Condition {
        if let Some(value) = expr.constant() {
            return if (value != 0) == is_positive { Condition::TRUE } else { Condition::falsity() };
        }
        match expr {
            Expr::Unary(UnaryOp::Not, inner) => Condition::of(inner, !is_positive),
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), x, y) => {
                let (x, y) = (Condition::of(x, is_positive), Condition::of(y, is_positive));
                if (*op == BinaryOp::And) == is_positive { x.and(&y) } else { x.or(&y) }
            }
            _ if size(expr) > MAX_SIZE => Condition::falsity(),
            Expr::Binary(op, x, y) => {
                let opposite = match op {
                    BinaryOp::NotEqual => Some(BinaryOp::Equal),
                    BinaryOp::Greater => Some(BinaryOp::LessEqual),
                    BinaryOp::GreaterEqual => Some(BinaryOp::Less),
                    _ => None,
                };
                let literal = match opposite {
                    Some(op) => Literal { expr: Expr::Binary(op, x.clone(), y.clone()), is_positive: !is_positive },
                    None => Literal { expr: expr.clone(), is_positive },
                };
                Condition(vec![vec![literal]])
            }
            _ => Condition(vec![vec![Literal { expr: expr.clone(), is_positive }]]),
        }
    }

    pub fn is_true(&self) -> bool {
        self.0.is_empty()
    }

    pub fn is_false(&self) -> bool {
        self.0.iter().any(Vec::is_empty)
    }

    pub fn and(&self, other: &Condition) -> Condition {
        let mut both = self.clone();
        other.0.iter().for_each(|clause| both.add(clause.clone()));
        if both.0.len() > MAX_CLAUSES { Condition::falsity() } else { both }
    }

    /// One of them; the second, if both would be too large.
    pub fn or(&self, other: &Condition) -> Condition {
        let mut either = Condition::TRUE;
        for one in &self.0 {
            for two in &other.0 {
                let mut clause = one.clone();
                clause.extend(two.iter().filter(|literal| !one.contains(literal)).cloned());
                let is_tautology = clause.iter().any(|literal| {
                    clause.iter().any(|l| l.expr == literal.expr && l.is_positive != literal.is_positive)
                });
                if is_tautology {
                    continue;
                }
                if clause.len() > MAX_LITERALS {
                    return other.clone();
                }
                either.add(clause);
            }
        }
        if either.0.len() > MAX_CLAUSES { other.clone() } else { either }
    }

    /// Adds a clause that no other one implies, and removes those that it implies.
    fn add(&mut self, clause: Vec<Literal>) {
        let implies = |one: &[Literal], other: &[Literal]| one.iter().all(|literal| other.contains(literal));
        if self.0.iter().any(|known| implies(known, &clause)) {
            return;
        }
        self.0.retain(|known| !implies(&clause, known));
        self.0.push(clause);
    }

    /// Every clause of the other contains one of this: a sufficient condition for an implication.
    pub fn implies(&self, other: &Condition) -> bool {
        let contains = |clause: &[Literal]| self.0.iter().any(|one| one.iter().all(|l| clause.contains(l)));
        other.0.iter().all(|clause| contains(clause))
    }

    /// With every expression replaced; where nothing is put in its place, the literal counts as false.
    pub fn replaced(&self, mut by: impl FnMut(&Expr) -> Option<Expr>) -> Condition {
        let mut replaced = Condition::TRUE;
        for clause in &self.0 {
            let literals = clause.iter().filter_map(|literal| Some((by(&literal.expr)?, literal.is_positive)));
            let clause = literals
                .fold(Condition::falsity(), |or, (expr, is_positive)| Condition::of(&expr, is_positive).or(&or));
            replaced = replaced.and(&clause);
        }
        replaced
    }

    /// The expressions of which it consists.
    pub fn expressions(&self) -> impl Iterator<Item = &Expr> {
        self.0.iter().flatten().map(|literal| &literal.expr)
    }

    /// As one expression.
    pub fn expr(&self) -> Expr {
        let literal = |literal: &Literal| match literal.is_positive {
            true => literal.expr.clone(),
            false => Expr::unary(UnaryOp::Not, literal.expr.clone()),
        };
        let join = |op: BinaryOp| move |x: Expr, y: Expr| Expr::binary(op, x, y);
        let clause = |clause: &Vec<Literal>| clause.iter().map(literal).reduce(join(BinaryOp::Or));
        let clauses = self.0.iter().map(|literals| clause(literals).unwrap_or(Expr::FALSE));
        clauses.reduce(join(BinaryOp::And)).unwrap_or(Expr::TRUE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ample_model::{Place, Scalar, Scope, VariableId};

    fn cell(variable: u32) -> Expr {
        let place = Place {
            scope: Scope::Local,
            variable: VariableId(variable),
            offset: 0,
            indices: Vec::new(),
            scalar: Scalar::INT,
        };
        Expr::Read(place)
    }

    fn less(variable: u32, value: i64) -> Expr {
        Expr::binary(BinaryOp::Less, cell(variable), Expr::Const(value))
    }

    #[test]
    fn opposite_conditions_cancel() {
        let negative = less(0, 0);
        let not = Expr::binary(BinaryOp::GreaterEqual, cell(0), Expr::Const(0));
        let (one, other) = (Condition::of(&negative, true), Condition::of(&not, true));
        assert!(one.or(&other).is_true());
        assert_eq!(Condition::of(&not, false), one);
        assert!(one.and(&other).implies(&one));
        assert!(!one.implies(&other));
    }

    /// Small values of three variables: what is computed implies what is meant, and is the same where it is small.
    #[test]
    fn what_is_computed_implies_what_is_meant() {
        fn value(expr: &Expr, cells: &[i64]) -> i64 {
            match expr {
                Expr::Const(value) => *value,
                Expr::Read(place) => cells[place.variable.index()],
                Expr::Unary(op, x) => op.apply(value(x, cells)).unwrap(),
                Expr::Binary(op, x, y) => op.apply(value(x, cells), value(y, cells)).unwrap(),
                other => panic!("{other:?}"),
            }
        }
        let mut random = ample_random::Random::new(7);
        for round in 0..2000 {
            fn expr(random: &mut ample_random::Random, depth: u32) -> Expr {
                let op = [BinaryOp::And, BinaryOp::Or][random.below(2)];
                match random.below(4) {
                    0 if depth > 0 => Expr::unary(UnaryOp::Not, expr(random, depth - 1)),
                    1 | 2 if depth > 0 => Expr::binary(op, expr(random, depth - 1), expr(random, depth - 1)),
                    _ => less(random.below(3) as u32, random.below(3) as i64),
                }
            }
            let meant = expr(&mut random, 3);
            let computed = Condition::of(&meant, true).expr();
            for number in 0..27 {
                let cells = [number % 3, number / 3 % 3, number / 9];
                let (computed, meant) = (value(&computed, &cells) != 0, value(&meant, &cells) != 0);
                assert!(!computed || meant, "round {round}: {cells:?}");
            }
        }
    }
}
