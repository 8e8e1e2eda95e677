//! What is looked up in the whole system before any code is made.

use std::collections::HashSet;

use ample_model::{Action, BinaryOp, Communication, Expr, Initial, Instruction, Pattern, Place, Scope, System};

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
    let mut assign = |number: usize, place: &Place| {
        let owner = if place.scope == Scope::Global { None } else { Some(number) };
        assigned.insert((owner, place.variable.0));
    };
    let mut receives: Vec<(usize, &Communication)> = Vec::new();
    for (number, action) in actions(system) {
        match action {
            Action::Assign(place, _) => assign(number, place),
            Action::Communicate(communication) => receives.push((number, communication)),
            _ => {}
        }
    }
    for (number, process) in system.processes.iter().enumerate() {
        receives.extend(process.edges.iter().filter_map(|edge| edge.communication.as_ref()).map(|c| (number, c)));
    }
    for (number, communication) in receives {
        if let Communication::Receive { patterns, .. } = communication {
            for pattern in patterns {
                if let Pattern::Bind(place) = pattern {
                    assign(number, place);
                }
            }
        }
    }
    assigned
}

/// Is the expression nested deeper than that?
pub(super) fn deeper_than(expr: &Expr, limit: usize) -> bool {
    let Some(limit) = limit.checked_sub(1) else { return true };
    let in_place = |place: &Place| place.indices.iter().any(|index| deeper_than(&index.at, limit));
    let in_some = |expr: &Option<Box<Expr>>| expr.as_ref().is_some_and(|expr| deeper_than(expr, limit));
    match expr {
        Expr::Const(_)
        | Expr::SelfId
        | Expr::ProcessCount
        | Expr::LastMover
        | Expr::Timeout
        | Expr::Blocked(_)
        | Expr::NonProgress
        | Expr::Accepting => false,
        Expr::Read(place) => in_place(place),
        Expr::Shared(x) => deeper_than(x, limit),
        Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), ..) => {
            let parts = chain(*op, expr);
            parts.len() > MAX_CHAIN || parts.into_iter().any(|part| deeper_than(part, limit))
        }
        Expr::Binary(_, x, y) => deeper_than(x, limit) || deeper_than(y, limit),
        Expr::Unary(_, x)
        | Expr::Cast(_, x)
        | Expr::Enabled(x)
        | Expr::LocationOf(x)
        | Expr::Length(x)
        | Expr::Full(x)
        | Expr::Priority(x) => deeper_than(x, limit),
        Expr::Conditional(c, x, y) => [c, x, y].into_iter().any(|x| deeper_than(x, limit)),
        Expr::At { process, .. } => in_some(process),
        Expr::Remote { process, place, .. } => in_some(process) || in_place(place),
        Expr::Poll { channel, patterns, .. } => {
            deeper_than(channel, limit) || patterns.iter().filter_map(pattern_expr).any(|x| deeper_than(x, limit))
        }
    }
}

fn pattern_expr(pattern: &Pattern) -> Option<&Expr> {
    if let Pattern::Match(expr) = pattern { Some(expr) } else { None }
}

pub(super) fn initial_value(initial: &Initial) -> Option<&Expr> {
    if let Initial::Value(expr) = initial { Some(expr) } else { None }
}
