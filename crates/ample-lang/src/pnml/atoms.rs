//! What formulas about nets are made of: sums of tokens, what can fire, and deadlocks, as expressions of the system.
//!
//! Large sums and conjunctions are balanced trees, so that those who walk over them need little stack.

use std::collections::{HashMap, HashSet};

use ample_model::{BinaryOp, EdgeId, Expr, Place, Scope, Shared, System, Type, UnaryOp, VariableId};

use super::Names;
use super::document::MOST_CANDIDATES;
use crate::diagnostic::closest;
use crate::watch::Watch;

/// At most so many parts in the expressions of one formula: a colour is short to write, and long when it is unfolded.
/// What formulas share counts once, for the first of them.
const MAX_PARTS: usize = 8_000_000;
/// Why there is no expression for a formula that has more.
pub const TOO_LARGE: &str = "the formula is too large for this net when colours and transitions are written out";
/// Smaller expressions are not worth being shared.
const MIN_SHARED: usize = 8;

/// Why there is no expression: a message, and help.
#[derive(Debug)]
pub struct Problem {
    pub message: String,
    pub help: Option<String>,
}

impl Problem {
    /// What is wrong.
    pub fn new(message: impl Into<String>) -> Problem {
        Problem { message: message.into(), help: None }
    }
}

/// Makes expressions over a net.
#[derive(Debug)]
pub struct Atoms<'n> {
    system: &'n System,
    names: &'n Names,
    /// What this formula may still have.
    left: usize,
    /// What a transition needs, and the tokens of a place: they stand in many formulas.
    fireable: HashMap<&'n str, Expr>,
    tokens: HashMap<&'n str, Expr>,
    deadlock: Option<Expr>,
    /// A formula had too many parts.
    was_too_large: bool,
    watch: &'n Watch<'n>,
}

impl<'n> Atoms<'n> {
    pub fn new(system: &'n System, names: &'n Names, watch: &'n Watch<'n>) -> Self {
        Atoms {
            system,
            names,
            left: MAX_PARTS,
            fireable: HashMap::new(),
            tokens: HashMap::new(),
            deadlock: None,
            was_too_large: false,
            watch,
        }
    }

    /// The next formula begins.
    pub fn next_formula(&mut self) {
        (self.left, self.was_too_large) = (MAX_PARTS, false);
    }

    /// Nothing is wrong with the formula, but it has too many parts.
    pub fn was_too_large(&self) -> bool {
        self.was_too_large
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
        let each = ids.iter().map(|id| self.tokens_of(id)).collect::<Result<_, _>>()?;
        Ok(balanced(BinaryOp::Add, each).unwrap_or(Expr::Const(0)))
    }

    fn tokens_of(&mut self, id: &str) -> Result<Expr, Problem> {
        self.spend(1)?;
        if let Some(known) = self.tokens.get(id) {
            return Ok(known.clone());
        }
        let Some((id, variables)) = self.names.places.get_key_value(id) else {
            return Err(unknown("place", id, self.names.places.keys()));
        };
        self.spend(variables.len())?;
        let reads: Vec<Expr> = variables.iter().map(|variable| self.read(*variable)).collect();
        let is_large = reads.len() >= MIN_SHARED;
        let sum = balanced(BinaryOp::Add, reads).unwrap_or(Expr::Const(0));
        Ok(if is_large { self.tokens.entry(id).or_insert(Expr::Shared(Shared::new(sum))).clone() } else { sum })
    }

    /// One of the transitions can fire.
    pub fn fireable(&mut self, ids: &[&str]) -> Result<Expr, Problem> {
        let each = ids.iter().map(|id| self.fireable_one(id)).collect::<Result<_, _>>()?;
        Ok(balanced(BinaryOp::Or, each).unwrap_or(Expr::FALSE))
    }

    /// The transition can fire, under some binding.
    fn fireable_one(&mut self, id: &str) -> Result<Expr, Problem> {
        self.spend(1)?;
        if let Some(known) = self.fireable.get(id) {
            return Ok(known.clone());
        }
        let Some((id, edges)) = self.names.transitions.get_key_value(id) else {
            return Err(unknown("transition", id, self.names.transitions.keys()));
        };
        let enabled: Vec<Expr> = edges.iter().map(|edge| self.enabled(*edge)).collect::<Result<_, _>>()?;
        let is_large = enabled.len() >= MIN_SHARED;
        let some = balanced(BinaryOp::Or, enabled).unwrap_or(Expr::FALSE);
        Ok(if is_large { self.fireable.entry(id).or_insert(Expr::Shared(Shared::new(some))).clone() } else { some })
    }

    /// Nothing can fire.
    pub fn deadlock(&mut self) -> Result<Expr, Problem> {
        self.spend(1)?;
        if let Some(known) = &self.deadlock {
            return Ok(known.clone());
        }
        let edges = 0..self.system.processes.first().map_or(0, |net| net.edges.len());
        let blocked = edges.map(|edge| Ok(Expr::unary(UnaryOp::Not, self.enabled(EdgeId::from(edge))?)));
        let blocked = blocked.collect::<Result<_, Problem>>()?;
        let deadlock = balanced(BinaryOp::And, blocked).unwrap_or(Expr::TRUE);
        Ok(self.deadlock.insert(Expr::Shared(Shared::new(deadlock))).clone())
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
        self.watch.steps(parts).map_err(|ended| Problem::new(ended.message))?;
        match self.left.checked_sub(parts) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                self.was_too_large = true;
                Err(Problem::new(TOO_LARGE))
            }
        }
    }
}

fn is_each_once(ids: &[&str]) -> Result<(), Problem> {
    let mut met = HashSet::new();
    match ids.iter().find(|id| !met.insert(**id)) {
        Some(id) => Err(Problem::new(format!("the place `{id}` is named twice in one sum"))),
        None => Ok(()),
    }
}

fn unknown<'n>(what: &str, id: &str, names: impl Iterator<Item = &'n String>) -> Problem {
    let near = closest(id, names.map(String::as_str).take(MOST_CANDIDATES));
    let help = near.map(|near| format!("did you mean `{near}`?"));
    Problem { help, ..Problem::new(format!("there is no {what} `{id}` in the net")) }
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
