//! Formulas as the naive answers need them: plain trees over expressions, which share nothing with the formulas that
//! are checked.

use ample_logic::{Atom, Binary, Formula as Logic, Unary};
use ample_model::{AtomTable, Expr, Temporal};

/// A temporal formula over state expressions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Formula {
    Atom(Expr),
    Not(Box<Formula>),
    And(Box<Formula>, Box<Formula>),
    Or(Box<Formula>, Box<Formula>),
    Implies(Box<Formula>, Box<Formula>),
    Iff(Box<Formula>, Box<Formula>),
    Next(Box<Formula>),
    Always(Box<Formula>),
    Eventually(Box<Formula>),
    Until(Box<Formula>, Box<Formula>),
    WeakUntil(Box<Formula>, Box<Formula>),
    Release(Box<Formula>, Box<Formula>),
    All(Box<Formula>),
    Exists(Box<Formula>),
}

impl Formula {
    /// The tree of a formula with its atom table.
    pub fn of(temporal: &Temporal) -> Formula {
        tree(&temporal.formula, &temporal.atoms)
    }

    /// The formula with its atom table.
    pub fn temporal(&self) -> Temporal {
        let mut table = AtomTable::new();
        let formula = self.over(&mut table);
        Temporal::new(formula, table)
    }

    /// Whether a path quantifier occurs in it.
    pub fn has_quantifiers(&self) -> bool {
        match self {
            Formula::Atom(_) => false,
            Formula::All(_) | Formula::Exists(_) => true,
            Formula::Not(x) | Formula::Next(x) | Formula::Always(x) | Formula::Eventually(x) => x.has_quantifiers(),
            Formula::And(x, y)
            | Formula::Or(x, y)
            | Formula::Implies(x, y)
            | Formula::Iff(x, y)
            | Formula::Until(x, y)
            | Formula::WeakUntil(x, y)
            | Formula::Release(x, y) => x.has_quantifiers() || y.has_quantifiers(),
        }
    }

    fn over(&self, table: &mut AtomTable) -> Logic {
        let mut two = |op, x: &Formula, y: &Formula| Logic::binary(op, x.over(table), y.over(table));
        match self {
            Formula::And(x, y) => two(Binary::And, x, y),
            Formula::Or(x, y) => two(Binary::Or, x, y),
            Formula::Implies(x, y) => two(Binary::Implies, x, y),
            Formula::Iff(x, y) => two(Binary::Iff, x, y),
            Formula::Until(x, y) => two(Binary::Until, x, y),
            Formula::WeakUntil(x, y) => two(Binary::WeakUntil, x, y),
            Formula::Release(x, y) => two(Binary::Release, x, y),
            Formula::Atom(expr) => table.formula(expr.clone()),
            Formula::Not(x) => !x.over(table),
            Formula::Next(x) => x.over(table).next(),
            Formula::Always(x) => x.over(table).globally(),
            Formula::Eventually(x) => x.over(table).finally(),
            Formula::All(x) => x.over(table).all(),
            Formula::Exists(x) => x.over(table).exists(),
        }
    }
}

fn tree(formula: &Logic, atoms: &[Expr]) -> Formula {
    let boxed = |f: &Logic| Box::new(tree(f, atoms));
    match formula {
        Logic::True => Formula::Atom(Expr::TRUE),
        Logic::False => Formula::Atom(Expr::FALSE),
        Logic::Atom(Atom(number)) => Formula::Atom(atoms[*number as usize].clone()),
        Logic::Unary(op, x) => {
            let make = match op {
                Unary::Not => Formula::Not,
                Unary::Next => Formula::Next,
                Unary::Finally => Formula::Eventually,
                Unary::Globally => Formula::Always,
                Unary::All => Formula::All,
                Unary::Exists => Formula::Exists,
                Unary::Previous | Unary::WeakPrevious | Unary::Once | Unary::Historically => {
                    panic!("{op:?} is not made by these tests")
                }
            };
            make(boxed(x))
        }
        Logic::Binary(op, x, y) => {
            let make = match op {
                Binary::And => Formula::And,
                Binary::Or => Formula::Or,
                Binary::Implies => Formula::Implies,
                Binary::Iff => Formula::Iff,
                Binary::Until => Formula::Until,
                Binary::WeakUntil => Formula::WeakUntil,
                Binary::Release => Formula::Release,
                Binary::Xor | Binary::StrongRelease | Binary::Since | Binary::Triggered => {
                    panic!("{op:?} is not made by these tests")
                }
            };
            make(boxed(x), boxed(y))
        }
    }
}
