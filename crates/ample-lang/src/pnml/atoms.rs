//! What formulas about nets are made of: sums of tokens, what can fire, and deadlocks, as expressions of the system.
//!
//! Large sums and conjunctions are balanced trees, so that those who walk over them need little stack.

use std::collections::HashSet;

use ample_model::{BinaryOp, EdgeId, Expr, Place, Scope, System, Type, UnaryOp, VariableId};

use super::Names;
use super::document::MOST_CANDIDATES;
use crate::diagnostic::closest;

/// At most so many parts in all expressions together: a colour is short to write, and long when it is unfolded.
const MAX_PARTS: usize = 8_000_000;

/// Why there is no expression: a message, and help.
#[derive(Debug)]
pub struct Problem {
    pub message: String,
    pub help: Option<String>,
}

/// Makes expressions over a net.
#[derive(Debug)]
pub struct Atoms<'n> {
    system: &'n System,
    names: &'n Names,
    /// What may still be written.
    left: usize,
}

impl<'n> Atoms<'n> {
    pub fn new(system: &'n System, names: &'n Names) -> Self {
        Atoms { system, names, left: MAX_PARTS }
    }

    pub fn is_place(&self, id: &str) -> bool {
        self.names.places.contains_key(id)
    }

    pub fn is_transition(&self, id: &str) -> bool {
        self.names.transitions.contains_key(id)
    }

    /// The tokens of places together; each may be named once.
    pub fn tokens(&mut self, ids: &[&str]) -> Result<Expr, Problem> {
        is_each_once(ids)?;
        let mut variables: Vec<VariableId> = Vec::new();
        for id in ids {
            let of = self.names.places.get(*id);
            variables.extend(of.ok_or_else(|| unknown("place", id, self.names.places.keys()))?);
        }
        self.spend(variables.len())?;
        let reads = variables.into_iter().map(|variable| self.read(variable)).collect();
        Ok(balanced(BinaryOp::Add, reads).unwrap_or(Expr::Const(0)))
    }

    /// One of the transitions can fire.
    pub fn fireable(&mut self, ids: &[&str]) -> Result<Expr, Problem> {
        let mut edges: Vec<EdgeId> = Vec::new();
        for id in ids {
            let of = self.names.transitions.get(*id);
            edges.extend(of.ok_or_else(|| unknown("transition", id, self.names.transitions.keys()))?);
        }
        let enabled = edges.into_iter().map(|edge| self.enabled(edge)).collect::<Result<_, _>>()?;
        Ok(balanced(BinaryOp::Or, enabled).unwrap_or(Expr::FALSE))
    }

    /// Nothing can fire.
    pub fn deadlock(&mut self) -> Result<Expr, Problem> {
        let edges = 0..self.system.processes.first().map_or(0, |net| net.edges.len());
        let blocked = edges.map(|edge| Ok(Expr::unary(UnaryOp::Not, self.enabled(EdgeId::from(edge))?)));
        let blocked = blocked.collect::<Result<_, Problem>>()?;
        Ok(balanced(BinaryOp::And, blocked).unwrap_or(Expr::TRUE))
    }

    /// An edge can be taken.
    pub fn enabled(&mut self, edge: EdgeId) -> Result<Expr, Problem> {
        let guard = self.system.processes.first().and_then(|net| net.edges.get(edge.index())).map(|edge| &edge.guard);
        let guard = guard.cloned().unwrap_or_default();
        self.spend(3 * guard.len() + 1)?;
        Ok(balanced(BinaryOp::And, guard).unwrap_or(Expr::TRUE))
    }

    /// The tokens of one variable.
    pub fn read(&self, variable: VariableId) -> Expr {
        let Type::Scalar(scalar) = self.system.globals[variable.index()].ty else { return Expr::Const(0) };
        Expr::Read(Place { scope: Scope::Global, variable, offset: 0, indices: Vec::new(), scalar })
    }

    pub fn spend(&mut self, parts: usize) -> Result<(), Problem> {
        let message = "the formulas are too large for this net when colours and transitions are written out";
        let too_large = || Problem { message: message.to_owned(), help: None };
        self.left = self.left.checked_sub(parts).ok_or_else(too_large)?;
        Ok(())
    }
}

fn is_each_once(ids: &[&str]) -> Result<(), Problem> {
    let mut met = HashSet::new();
    match ids.iter().find(|id| !met.insert(**id)) {
        Some(id) => Err(Problem { message: format!("the place `{id}` is named twice in one sum"), help: None }),
        None => Ok(()),
    }
}

fn unknown<'n>(what: &str, id: &str, names: impl Iterator<Item = &'n String>) -> Problem {
    let near = closest(id, names.map(String::as_str).take(MOST_CANDIDATES));
    Problem {
        message: format!("there is no {what} `{id}` in the net"),
        help: near.map(|near| format!("did you mean `{near}`?")),
    }
}

/// All of them joined by an operator; `None` if there are none.
pub fn balanced(op: BinaryOp, exprs: Vec<Expr>) -> Option<Expr> {
    joined(exprs, &mut |left, right| Expr::binary(op, left, right))
}

/// A balanced tree; `None` of nothing.
pub fn joined<T>(mut parts: Vec<T>, join: &mut impl FnMut(T, T) -> T) -> Option<T> {
    while parts.len() > 1 {
        let mut halved = Vec::with_capacity(parts.len().div_ceil(2));
        let mut rest = parts.into_iter();
        while let Some(left) = rest.next() {
            halved.push(match rest.next() {
                Some(right) => join(left, right),
                None => left,
            });
        }
        parts = halved;
    }
    parts.pop()
}
