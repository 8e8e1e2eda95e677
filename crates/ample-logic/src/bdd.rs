//! A small package of reduced ordered binary decision diagrams, for the labels of automata and the tableau.
//!
//! Diagrams are numbers into one table; equal functions have equal numbers. Nothing is ever freed: a package
//! lives for one translation.

use std::collections::HashMap;

use ample_budget::{Budget, Interrupted};

/// A Boolean function.
pub(crate) type Bdd = u32;

/// The constant false.
pub(crate) const FALSE: Bdd = 0;
/// The constant true.
pub(crate) const TRUE: Bdd = 1;

/// A conjunction of literals: variables and their signs.
pub(crate) type Literals = Vec<(u32, bool)>;

#[derive(Default)]
pub(crate) struct Bdds {
    /// variable, function if it is false, function if it is true
    nodes: Vec<(u32, Bdd, Bdd)>,
    unique: HashMap<(u32, Bdd, Bdd), Bdd>,
    cache: HashMap<(Bdd, Bdd, Bdd), Bdd>,
    /// The number of nodes at which to give up, if any.
    limit: Option<usize>,
    exhausted: bool,
    budget: Budget,
    /// Operations until the budget is asked.
    countdown: u32,
    interrupted: Option<Interrupted>,
}

/// How often the budget is asked.
const CHECK_EVERY: u32 = 1024;

impl Bdds {
    pub fn new() -> Self {
        let mut bdds = Self::default();
        bdds.nodes.push((u32::MAX, FALSE, FALSE));
        bdds.nodes.push((u32::MAX, TRUE, TRUE));
        bdds
    }

    /// Within a budget: when it is exhausted, all results are meaningless, and quickly there.
    pub fn within(budget: &Budget) -> Self {
        Self { budget: budget.clone(), ..Self::new() }
    }

    /// Why the results are meaningless, if they are.
    pub fn interrupted(&self) -> Option<Interrupted> {
        self.interrupted
    }

    #[cold]
    fn check(&mut self) {
        self.countdown = CHECK_EVERY;
        self.interrupted = self.interrupted.or(self.budget.check().err());
    }

    fn node(&mut self, var: u32, low: Bdd, high: Bdd) -> Bdd {
        if low == high {
            return low;
        }
        *self.unique.entry((var, low, high)).or_insert_with(|| {
            self.nodes.push((var, low, high));
            (self.nodes.len() - 1) as Bdd
        })
    }

    /// The topmost variable, `u32::MAX` for a constant.
    pub fn top(&self, f: Bdd) -> u32 {
        self.nodes[f as usize].0
    }

    /// The function with the variable false and true; the variable must not be below the topmost.
    pub fn cofactors(&self, f: Bdd, var: u32) -> (Bdd, Bdd) {
        let (top, low, high) = self.nodes[f as usize];
        if top == var { (low, high) } else { (f, f) }
    }

    pub fn literal(&mut self, var: u32, positive: bool) -> Bdd {
        if positive { self.node(var, FALSE, TRUE) } else { self.node(var, TRUE, FALSE) }
    }

    pub fn ite(&mut self, f: Bdd, g: Bdd, h: Bdd) -> Bdd {
        match (f, g, h) {
            (TRUE, _, _) => return g,
            (FALSE, _, _) => return h,
            (_, TRUE, FALSE) => return f,
            _ if g == h => return g,
            _ => {}
        }
        self.countdown = self.countdown.saturating_sub(1);
        if self.countdown == 0 {
            self.check();
        }
        if self.interrupted.is_some() {
            return FALSE;
        }
        if let Some(&result) = self.cache.get(&(f, g, h)) {
            return result;
        }
        self.exhausted |= self.limit.is_some_and(|limit| self.nodes.len() > limit);
        if self.exhausted {
            return FALSE;
        }
        let var = self.top(f).min(self.top(g)).min(self.top(h));
        let ((f0, f1), (g0, g1), (h0, h1)) = (self.cofactors(f, var), self.cofactors(g, var), self.cofactors(h, var));
        let low = self.ite(f0, g0, h0);
        let high = self.ite(f1, g1, h1);
        let result = self.node(var, low, high);
        // a result that rests on an abandoned one is worth nothing
        if !self.exhausted && self.interrupted.is_none() {
            self.cache.insert((f, g, h), result);
        }
        result
    }

    /// From here on, gives up when there are that many new nodes: all results are then meaningless.
    pub fn limit_growth(&mut self, nodes: usize) {
        self.limit = Some(self.nodes.len() + nodes);
    }

    /// Whether it has given up since [`Self::limit_growth`].
    pub fn is_exhausted(&self) -> bool {
        self.exhausted
    }

    /// Ends the limit; returns whether it was reached.
    pub fn end_limit(&mut self) -> bool {
        self.limit = None;
        std::mem::take(&mut self.exhausted)
    }

    pub fn and(&mut self, f: Bdd, g: Bdd) -> Bdd {
        if f <= g { self.ite(f, g, FALSE) } else { self.ite(g, f, FALSE) }
    }

    pub fn or(&mut self, f: Bdd, g: Bdd) -> Bdd {
        if f <= g { self.ite(f, TRUE, g) } else { self.ite(g, TRUE, f) }
    }

    pub fn not(&mut self, f: Bdd) -> Bdd {
        self.ite(f, FALSE, TRUE)
    }

    pub fn minus(&mut self, f: Bdd, g: Bdd) -> Bdd {
        self.ite(g, FALSE, f)
    }

    pub fn implies(&mut self, f: Bdd, g: Bdd) -> bool {
        self.minus(f, g) == FALSE
    }

    /// An irredundant sum of products of `f` (Minato, Morreale).
    pub fn cubes(&mut self, f: Bdd) -> Vec<Literals> {
        self.isop(f, f, &mut { u64::MAX }).map_or(Vec::new(), |(_, cubes)| cubes)
    }

    /// The same, or `None` if it takes more than about `effort` steps.
    pub fn cubes_within(&mut self, f: Bdd, effort: u64) -> Option<Vec<Literals>> {
        let mut effort = effort;
        Some(self.isop(f, f, &mut effort)?.1)
    }

    /// A function between `lower` and `upper`, and its cubes, unless `effort` runs out or it was given up: then bounds are
    /// meaningless, `lower` may be above `upper`, and there is no such function.
    fn isop(&mut self, lower: Bdd, upper: Bdd, effort: &mut u64) -> Option<(Bdd, Vec<Literals>)> {
        if lower == FALSE {
            return Some((FALSE, Vec::new()));
        }
        if upper == TRUE {
            return Some((TRUE, vec![Vec::new()]));
        }
        if self.interrupted.is_some() || self.exhausted {
            return None;
        }
        *effort = effort.checked_sub(1)?;
        let var = self.top(lower).min(self.top(upper));
        let ((l0, l1), (u0, u1)) = (self.cofactors(lower, var), self.cofactors(upper, var));
        let only0 = self.minus(l0, u1);
        let only1 = self.minus(l1, u0);
        let (f0, c0) = self.isop(only0, u0, effort)?;
        let (f1, c1) = self.isop(only1, u1, effort)?;
        let rest0 = self.minus(l0, f0);
        let rest1 = self.minus(l1, f1);
        let rest = self.or(rest0, rest1);
        let both = self.and(u0, u1);
        let (f2, c2) = self.isop(rest, both, effort)?;
        let low = self.or(f0, f2);
        let high = self.or(f1, f2);
        let f = self.node(var, low, high);
        let with = |cubes: Vec<Literals>, sign| {
            cubes.into_iter().map(move |mut c| {
                c.push((var, sign));
                c
            })
        };
        let cubes = with(c0, false).chain(with(c1, true)).chain(c2).collect();
        Some((f, cubes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cubes_of_exclusive_or() {
        let mut b = Bdds::new();
        let (x, y) = (b.literal(0, true), b.literal(1, true));
        let not_y = b.not(y);
        let f = b.ite(x, not_y, y);
        let cubes = b.cubes(f);
        assert_eq!(cubes.len(), 2);
        assert!(cubes.iter().all(|c| c.len() == 2));
    }

    #[test]
    fn what_was_given_up_has_no_cubes() {
        let mut b = Bdds::new();
        b.interrupted = Some(Interrupted::Cancelled);
        assert_eq!(b.isop(TRUE, FALSE, &mut { u64::MAX }), None);
        let mut b = Bdds::new();
        b.exhausted = true;
        assert_eq!(b.isop(TRUE, FALSE, &mut { u64::MAX }), None);
    }
}
