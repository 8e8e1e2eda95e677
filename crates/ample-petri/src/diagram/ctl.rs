//! CTL over the reachable markings.
//!
//! `EX` is a preimage, `E[f U g]` a backward closure within `f ∨ g`, by saturation, and `EG f` a greatest fixpoint. A
//! marking without a successor ends its run: there `EX f` is false, `AX f` true, and `EG f` is `f`.

use std::collections::HashMap;

use ample_logic::{Binary, Formula, Unary};

use super::{Diagrams, Maybe, Selection, Set, Stop, stack};
use crate::net::Condition;

/// Evaluates formulas on a set of markings that no transition leaves.
pub struct Evaluator<'a> {
    diagrams: &'a mut Diagrams,
    reached: Set,
    all: Selection,
    dead: Option<Set>,
}

impl<'a> Evaluator<'a> {
    /// An evaluator on the reachable markings, or on others that lead only to each other.
    pub fn new(diagrams: &'a mut Diagrams, reached: Set) -> Maybe<Evaluator<'a>> {
        diagrams.own(&reached)?;
        let all = diagrams.all()?;
        Ok(Evaluator { diagrams, reached, all, dead: None })
    }

    /// The table.
    pub fn diagrams(&mut self) -> &mut Diagrams {
        self.diagrams
    }

    /// All transitions.
    pub(super) fn all(&self) -> &Selection {
        &self.all
    }

    /// All markings.
    pub fn reached(&self) -> &Set {
        &self.reached
    }

    /// The markings that satisfy a condition.
    pub fn condition(&mut self, condition: &Condition) -> Maybe<Set> {
        self.diagrams.filter(&self.reached, condition)
    }

    /// All other markings.
    pub fn not(&mut self, f: &Set) -> Maybe<Set> {
        self.diagrams.minus(&self.reached, f)
    }

    /// The markings without a successor.
    pub fn dead(&mut self) -> Maybe<Set> {
        if self.dead.is_none() {
            self.dead = Some(self.diagrams.deadlocks(&self.reached)?);
        }
        self.dead.clone().ok_or(Stop::Foreign)
    }

    /// `EX f`: some successor is in the set.
    pub fn ex(&mut self, f: &Set) -> Maybe<Set> {
        self.diagrams.preimage(f, &self.all, &self.reached)
    }

    /// `E[f U g]`
    pub fn eu(&mut self, f: &Set, g: &Set) -> Maybe<Set> {
        let within = self.diagrams.union(f, g)?;
        self.diagrams.backward_closure(g, &self.all, &within)
    }

    /// `EF f`
    pub fn ef(&mut self, f: &Set) -> Maybe<Set> {
        let all = self.reached.clone();
        self.eu(&all, f)
    }

    /// `EG f`: a run on which it holds for ever, or up to a marking without a successor.
    pub fn eg(&mut self, f: &Set) -> Maybe<Set> {
        if *f == self.reached {
            return Ok(f.clone());
        }
        let dead = self.dead()?;
        let ends = self.diagrams.intersect(&dead, f)?;
        let mut left = f.clone();
        loop {
            let inside = self.diagrams.preimage(&left, &self.all, &left)?;
            let next = self.diagrams.union(&inside, &ends)?;
            if next == left {
                return Ok(left);
            }
            left = next;
        }
    }

    /// `E[f R g]`, which is `E[g U f∧g] ∨ EG g`.
    fn er(&mut self, f: &Set, g: &Set) -> Maybe<Set> {
        let both = self.diagrams.intersect(f, g)?;
        let ends = self.eu(g, &both)?;
        let always = self.eg(g)?;
        self.diagrams.union(&ends, &always)
    }

    /// The markings that satisfy a formula; atom `i` is condition `i`.
    pub fn formula(&mut self, formula: &Formula, atoms: &[Condition]) -> Maybe<Set> {
        let mut known = HashMap::new();
        self.evaluate(formula, atoms, &mut known)
    }

    /// The same, where some sets may be known already; those of all parts are known afterwards.
    pub fn evaluate(
        &mut self,
        formula: &Formula,
        atoms: &[Condition],
        known: &mut HashMap<Formula, Set>,
    ) -> Maybe<Set> {
        if let Some(set) = known.get(formula) {
            return Ok(set.clone());
        }
        stack::check()?;
        let set = match formula {
            Formula::True => self.reached.clone(),
            Formula::False => self.diagrams.empty(),
            Formula::Atom(atom) => self.condition(atoms.get(atom.0 as usize).ok_or(Stop::Foreign)?)?,
            Formula::Unary(Unary::Not, f) => {
                let f = self.evaluate(f, atoms, known)?;
                self.not(&f)?
            }
            Formula::Unary(Unary::Exists, path) => self.some_run(path, true, atoms, known)?,
            Formula::Unary(Unary::All, path) => {
                let others = self.some_run(path, false, atoms, known)?;
                self.not(&others)?
            }
            Formula::Unary(..) => return Err(Stop::NotBranching),
            Formula::Binary(op, f, g) => {
                let (f, g) = (self.evaluate(f, atoms, known)?, self.evaluate(g, atoms, known)?);
                self.boolean(*op, &f, &g)?
            }
        };
        known.insert(formula.clone(), set.clone());
        Ok(set)
    }

    fn boolean(&mut self, op: Binary, f: &Set, g: &Set) -> Maybe<Set> {
        match op {
            Binary::And => self.diagrams.intersect(f, g),
            Binary::Or => self.diagrams.union(f, g),
            Binary::Implies => {
                let not_f = self.not(f)?;
                self.diagrams.union(&not_f, g)
            }
            Binary::Xor | Binary::Iff => {
                let (one, other) = (self.diagrams.minus(f, g)?, self.diagrams.minus(g, f)?);
                let differs = self.diagrams.union(&one, &other)?;
                if op == Binary::Xor { Ok(differs) } else { self.not(&differs) }
            }
            _ => Err(Stop::NotBranching),
        }
    }

    /// From here some run satisfies the path formula, or its negation.
    fn some_run(
        &mut self,
        path: &Formula,
        positive: bool,
        atoms: &[Condition],
        known: &mut HashMap<Formula, Set>,
    ) -> Maybe<Set> {
        let mut side = |f: &Formula| {
            let set = self.evaluate(f, atoms, known)?;
            if positive { Ok(set) } else { self.not(&set) }
        };
        match path {
            Formula::Unary(op, f) => {
                let f = side(f)?;
                match (op, positive) {
                    // Where a run ends, `AX` holds of everything, so that its opposite is `EX` of the opposite.
                    (Unary::Next, _) => self.ex(&f),
                    (Unary::Finally, true) | (Unary::Globally, false) => self.ef(&f),
                    (Unary::Globally, true) | (Unary::Finally, false) => self.eg(&f),
                    _ => Err(Stop::NotBranching),
                }
            }
            Formula::Binary(op, f, g) => {
                let (f, g) = (side(f)?, side(g)?);
                self.some_run_of_two(*op, positive, &f, &g)
            }
            _ => Err(Stop::NotBranching),
        }
    }

    /// ¬(f U g) is ¬f R ¬g, and so on; f W g is g R (f ∨ g), f M g is g U (f ∧ g).
    fn some_run_of_two(&mut self, op: Binary, positive: bool, f: &Set, g: &Set) -> Maybe<Set> {
        match (op, positive) {
            (Binary::Until, true) | (Binary::Release, false) => self.eu(f, g),
            (Binary::Release, true) | (Binary::Until, false) => self.er(f, g),
            (Binary::WeakUntil, true) | (Binary::StrongRelease, false) => {
                let either = self.diagrams.union(f, g)?;
                self.er(g, &either)
            }
            (Binary::WeakUntil, false) | (Binary::StrongRelease, true) => {
                let both = self.diagrams.intersect(f, g)?;
                self.eu(g, &both)
            }
            _ => Err(Stop::NotBranching),
        }
    }
}
