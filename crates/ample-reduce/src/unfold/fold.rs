//! Puts what is known of a process into its edges: its id, the parameters that nobody assigns, constant globals.
//!
//! An array of flags indexed by `_pid` becomes a flag of its own for each process, and a channel that was passed as a
//! parameter becomes that channel.

use std::cell::RefCell;
use std::collections::HashMap;

use ample_model::facts::Lens;
use ample_model::visit::{Folder, Made, fold_edge, fold_expr, fold_place};
use ample_model::{BinaryOp, Edge, Expr, Initial, Place, Scope, Shared, System, UnaryOp, VariableId};

/// What is known of a process.
pub struct Fold<'a> {
    /// The system.
    pub system: &'a System,
    /// What its variables are.
    pub lens: &'a Lens<'a>,
    /// Its id, if that is known.
    pub id: Option<u32>,
    /// The values of its local cells that never change.
    pub constants: HashMap<(VariableId, u32), i64>,
    /// What was made of shared expressions.
    pub made: RefCell<Made>,
}

/// Everything is made of expressions, and these are folded.
impl Folder for &Fold<'_> {
    fn expr(&mut self, expr: &Expr) -> Expr {
        Fold::expr(self, expr)
    }

    /// What others are shared inside of stays shared; the rest can be looked into where it stands.
    fn shared(&mut self, shared: &Shared) -> Expr {
        if !shared.is_nested() {
            return Fold::expr(self, shared);
        }
        if let Some(made) = self.made.borrow().get(shared) {
            return made;
        }
        let made = Fold::expr(self, shared);
        self.made.borrow_mut().keep(shared, made)
    }
}

impl Fold<'_> {
    /// The edge of this process.
    pub fn edge(&self, edge: &Edge) -> Edge {
        fold_edge(&mut &*self, edge)
    }

    /// The expression as this process evaluates it.
    pub fn expr(&self, expr: &Expr) -> Expr {
        match expr {
            Expr::SelfId => self.id.map_or(Expr::SelfId, |id| Expr::Const(id.into())),
            Expr::Read(place) => {
                let place = fold_place(&mut &*self, place);
                self.known(&place).map_or(Expr::Read(place), Expr::Const)
            }
            Expr::Unary(op, x) => unary(*op, self.expr(x)),
            Expr::Binary(op, x, y) => binary(*op, self.expr(x), self.expr(y)),
            Expr::Cast(scalar, x) => match self.expr(x) {
                Expr::Const(value) => match scalar.fit(value) {
                    Some(value) => Expr::Const(value),
                    None => Expr::Cast(*scalar, Box::new(Expr::Const(value))),
                },
                x => Expr::Cast(*scalar, Box::new(x)),
            },
            Expr::Conditional(condition, x, y) => match self.expr(condition) {
                Expr::Const(0) => self.expr(y),
                Expr::Const(_) => self.expr(x),
                condition => Expr::Conditional(Box::new(condition), self.expr(x).into(), self.expr(y).into()),
            },
            Expr::Shared(x) => Folder::shared(&mut &*self, x),
            Expr::Const(_)
            | Expr::Next(_)
            | Expr::Field(..)
            | Expr::ProcessCount
            | Expr::LastMover
            | Expr::Timeout
            | Expr::Blocked(_)
            | Expr::Enabled(_)
            | Expr::LocationOf(_)
            | Expr::At { .. }
            | Expr::Remote { .. }
            | Expr::NonProgress
            | Expr::Accepting
            | Expr::Length(_)
            | Expr::Full(_)
            | Expr::Poll { .. }
            | Expr::Priority(_) => fold_expr(&mut &*self, expr),
        }
    }

    /// The value of a cell that never changes.
    fn known(&self, place: &Place) -> Option<i64> {
        let slot = fixed_slot(place)?;
        match place.scope {
            Scope::Local => self.constants.get(&(place.variable, slot)).copied(),
            Scope::Global if self.lens.is_assigned(place.variable) => None,
            Scope::Global => {
                if let Some(handle) = self.lens.global_channel(place.variable, slot) {
                    return Some(handle.into());
                }
                let initial = &self.system.globals[place.variable.index()].initial;
                match initial.iter().find(|(listed, _)| *listed == slot) {
                    None => Some(0),
                    Some((_, Initial::Value(Expr::Const(value)))) => place.scalar.fit(*value),
                    Some(_) => None,
                }
            }
        }
    }
}

/// The slot that a place means in every state.
pub fn fixed_slot(place: &Place) -> Option<u32> {
    let mut slot = place.offset;
    for index in &place.indices {
        let Expr::Const(at) = index.at else { return None };
        let at = u32::try_from(at).ok().filter(|at| *at < index.length)?;
        slot = slot.checked_add(at.checked_mul(index.stride)?)?;
    }
    Some(slot)
}

fn unary(op: UnaryOp, x: Expr) -> Expr {
    let value = match (op, &x) {
        (UnaryOp::Negate, Expr::Const(x)) => x.checked_neg(),
        (UnaryOp::Not, Expr::Const(x)) => Some(i64::from(*x == 0)),
        (UnaryOp::Complement, Expr::Const(x)) => Some(!x),
        _ => None,
    };
    value.map_or_else(|| Expr::unary(op, x), Expr::Const)
}

fn binary(op: BinaryOp, x: Expr, y: Expr) -> Expr {
    match (op, &x, &y) {
        // The right side is not evaluated.
        (BinaryOp::And, Expr::Const(0), _) => return Expr::FALSE,
        (BinaryOp::Or, Expr::Const(1), _) => return Expr::TRUE,
        (_, Expr::Const(x), Expr::Const(y)) => {
            if let Ok(value) = op.apply(*x, *y) {
                return Expr::Const(value);
            }
        }
        _ => {}
    }
    Expr::binary(op, x, y)
}
