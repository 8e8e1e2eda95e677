//! What is looked up in the whole system before any code is made.

use std::collections::HashSet;

use ample_model::visit::{Visitor, innermost_first, walk_expr};
use ample_model::{Action, BinaryOp, Edge, Expr, Initial, Instruction, Scope, Shared, System};

use super::known::chain;

/// How deep an expression may be nested; a chain of `&&` or `||` counts once, and so does a shared expression.
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

/// Is the expression nested deeper than that? Shared expressions that were `seen` are not looked at again.
pub(super) fn deeper_than(expr: &Expr, limit: usize, seen: &mut HashSet<usize>) -> bool {
    let mut nesting = Nesting { limit, depth: 0, exceeded: false, seen };
    nesting.expr(expr);
    nesting.exceeded
}

/// Finds out how high an expression is. A shared one inside it has code of its own if it stands deep.
struct Nesting<'s> {
    limit: usize,
    /// How many levels there are around what is looked at.
    depth: usize,
    exceeded: bool,
    /// The shared expressions that were looked at, by their addresses.
    seen: &'s mut HashSet<usize>,
}

impl<'a> Visitor<'a> for Nesting<'_> {
    fn expr(&mut self, expr: &'a Expr) {
        if self.exceeded || self.depth >= self.limit {
            self.exceeded = true;
            return;
        }
        self.depth += 1;
        match expr {
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), ..) => {
                let parts = chain(*op, expr);
                self.exceeded |= parts.len() > MAX_CHAIN;
                parts.into_iter().for_each(|part| self.expr(part));
            }
            _ => walk_expr(self, expr),
        }
        self.depth -= 1;
    }

    fn shared(&mut self, shared: &'a Shared) {
        let depth = std::mem::take(&mut self.depth);
        for part in innermost_first(shared, &mut |part| self.seen.insert(part.address())) {
            self.expr(part);
        }
        self.depth = depth;
    }
}

pub(super) fn initial_value(initial: &Initial) -> Option<&Expr> {
    if let Initial::Value(expr) = initial { Some(expr) } else { None }
}
