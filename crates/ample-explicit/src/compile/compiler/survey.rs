//! What is looked up in the whole system before any code is made.

use std::collections::{HashMap, HashSet};

use ample_model::visit::{Visitor, walk_expr};
use ample_model::{Action, BinaryOp, Edge, Expr, Initial, Instruction, Scope, Shared, System};

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
    let mut nesting = Nesting { limit, depth: 0, height: 0, exceeded: false, known: HashMap::new() };
    nesting.expr(expr);
    nesting.exceeded
}

/// Finds out how high an expression is.
struct Nesting {
    limit: usize,
    /// How many levels there are around what is looked at.
    depth: usize,
    /// How many levels there are in what was looked at last, and in what stands beside it.
    height: usize,
    exceeded: bool,
    /// How many there are in shared expressions, by their addresses.
    known: HashMap<usize, usize>,
}

impl<'a> Visitor<'a> for Nesting {
    fn expr(&mut self, expr: &'a Expr) {
        if self.exceeded || self.depth >= self.limit {
            self.exceeded = true;
            return;
        }
        let beside = std::mem::take(&mut self.height);
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
        self.height = beside.max(self.height + 1);
    }

    fn shared(&mut self, shared: &'a Shared) {
        if let Some(height) = self.known.get(&shared.address()) {
            self.exceeded |= self.depth + height > self.limit;
            self.height = self.height.max(*height);
            return;
        }
        let beside = std::mem::take(&mut self.height);
        self.expr(shared);
        self.known.insert(shared.address(), self.height);
        self.height = beside.max(self.height);
    }
}

pub(super) fn initial_value(initial: &Initial) -> Option<&Expr> {
    if let Initial::Value(expr) = initial { Some(expr) } else { None }
}
