//! What is looked up in the whole system before any code is made.

use std::collections::HashSet;

use ample_model::visit::{Visitor, walk_expr};
use ample_model::{Action, BinaryOp, Edge, Expr, Initial, Instruction, Scope, System};

use super::known::chain;

/// How deep an expression may be nested; a chain of `&&` or `||` counts once.
pub(super) const MAX_NESTING: usize = 200;

/// How long such a chain may be.
const MAX_CHAIN: usize = 2_000;

/// All actions of all effects, with the number of the process type.
pub fn actions(system: &System) -> impl Iterator<Item = (usize, &Action)> {
    let edges = system.processes.iter().enumerate().flat_map(|(number, p)| p.edges.iter().map(move |e| (number, e)));
    edges.flat_map(|(number, edge)| edge.effect.iter().filter_map(action_of).map(move |action| (number, action)))
}

fn action_of(instruction: &Instruction) -> Option<&Action> {
    match instruction {
        Instruction::Do(action) | Instruction::Try(action, _) => Some(action),
        Instruction::Jump(_) | Instruction::Fail(_) => None,
    }
}

/// The variables that something is assigned to: global, or of a process type.
pub(super) fn assigned_variables(system: &System) -> HashSet<(Option<usize>, u32)> {
    let mut assigned = HashSet::new();
    for (number, process) in system.processes.iter().enumerate() {
        for place in process.edges.iter().flat_map(Edge::written_places) {
            let owner = if place.scope == Scope::Global { None } else { Some(number) };
            assigned.insert((owner, place.variable.0));
        }
    }
    assigned
}

/// Is the expression nested deeper than that?
pub(super) fn deeper_than(expr: &Expr, limit: usize) -> bool {
    let mut nesting = Nesting { left: limit, exceeded: false };
    nesting.expr(expr);
    nesting.exceeded
}

/// How many levels are left.
struct Nesting {
    left: usize,
    exceeded: bool,
}

impl<'a> Visitor<'a> for Nesting {
    fn expr(&mut self, expr: &'a Expr) {
        let Some(left) = self.left.checked_sub(1).filter(|_| !self.exceeded) else {
            self.exceeded = true;
            return;
        };
        self.left = left;
        match expr {
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), ..) => {
                let parts = chain(*op, expr);
                self.exceeded |= parts.len() > MAX_CHAIN;
                parts.into_iter().for_each(|part| self.expr(part));
            }
            _ => walk_expr(self, expr),
        }
        self.left = left + 1;
    }
}

pub(super) fn initial_value(initial: &Initial) -> Option<&Expr> {
    if let Initial::Value(expr) = initial { Some(expr) } else { None }
}
