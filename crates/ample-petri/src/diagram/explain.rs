//! Evidence for formulas of CTL, from the sets of markings that satisfy their parts.
//!
//! A true `E` and a false `A` are shown by one run: shortest to where it is decided, or around a cycle. The markings on
//! it whose operands need runs of their own get branches. Sets tell where to go; single markings are walked. A marking
//! without a successor ends its run.

use std::collections::HashMap;

use ample_logic::{Binary, Formula, Unary};

use super::ctl::Evaluator;
use super::evidence::Run;
use super::{Maybe, Set, stack};
use crate::evidence::{Evidence, LONGEST};
use crate::net::Condition;

/// How many markings of one run have a branch for the operand that holds all along it.
const MAX_BRANCHES: usize = 16;
/// How many runs there are in all.
const MAX_RUNS: usize = 100;

/// The sets of a formula and its parts.
pub type Known = HashMap<Formula, Set>;

/// A run with all its markings; `cycle` steps at its end repeat.
struct Way {
    markings: Vec<Vec<u64>>,
    steps: Vec<u32>,
    cycle: usize,
    stutters: bool,
}

/// What a path must be like, its operands having the same value.
enum Shape<'f> {
    Next(&'f Formula),
    Until(Option<&'f Formula>, &'f Formula),
    /// The second until, and while, the first; or for ever.
    Release(Option<&'f Formula>, &'f Formula),
}

/// Finds evidence.
pub struct Explainer<'e, 'a> {
    evaluator: &'e mut Evaluator<'a>,
    atoms: &'e [Condition],
    known: &'e mut Known,
    left: usize,
    /// A step of the run that is being explained: one that shows `EX` there needs no branch.
    step: Option<Way>,
}

impl<'e, 'a> Explainer<'e, 'a> {
    /// With the sets of an evaluator; atom `i` is condition `i`. What is `known` is not computed again.
    pub fn new(evaluator: &'e mut Evaluator<'a>, atoms: &'e [Condition], known: &'e mut Known) -> Explainer<'e, 'a> {
        Explainer { evaluator, atoms, known, left: MAX_RUNS, step: None }
    }

    /// What shows the value of a formula in a marking; `None` if no run does.
    pub fn evidence(&mut self, formula: &Formula, marking: &[u64]) -> Maybe<Option<Evidence>> {
        self.explain(formula, marking)
    }

    /// Where the formula has the value.
    fn set(&mut self, formula: &Formula, value: bool) -> Maybe<Set> {
        let set = self.evaluator.evaluate(formula, self.atoms, self.known)?;
        if value { Ok(set) } else { self.evaluator.not(&set) }
    }

    fn value(&mut self, formula: &Formula, marking: &[u64]) -> Maybe<bool> {
        let set = self.evaluator.evaluate(formula, self.atoms, self.known)?;
        Ok(self.evaluator.diagrams().contains(&set, marking))
    }

    fn explain(&mut self, formula: &Formula, marking: &[u64]) -> Maybe<Option<Evidence>> {
        stack::check()?;
        match formula {
            Formula::True | Formula::False | Formula::Atom(_) => Ok(None),
            Formula::Unary(Unary::Not, f) => self.explain(f, marking),
            Formula::Unary(quantifier, path) => {
                let holds = self.value(formula, marking)?;
                if holds != (*quantifier == Unary::Exists) || self.left == 0 {
                    return Ok(None);
                }
                self.left -= 1;
                self.explain_path(formula, path, holds, marking)
            }
            Formula::Binary(op, f, g) => {
                let holds = self.value(formula, marking)?;
                let branches = self.operands(*op, [f, g], holds, marking)?;
                if branches.is_empty() {
                    return Ok(None);
                }
                Ok(Some(Evidence { branches, ..Evidence::bare(formula, holds) }))
            }
        }
    }

    /// What shows the values of the operands that matter.
    fn operands(
        &mut self,
        op: Binary,
        [f, g]: [&Formula; 2],
        holds: bool,
        marking: &[u64],
    ) -> Maybe<Vec<(usize, Evidence)>> {
        let deciding = match (op, holds) {
            (Binary::And, false) => [(f, false), (g, false)],
            (Binary::Or, true) => [(f, true), (g, true)],
            (Binary::Implies, true) => [(f, false), (g, true)],
            _ => {
                let mut branches = self.operand(f, marking)?;
                branches.extend(self.operand(g, marking)?);
                return Ok(branches);
            }
        };
        // A condition that decides needs no run.
        let mut deciding = deciding;
        deciding.sort_by_key(|(operand, _)| !operand.is_propositional());
        for (operand, value) in deciding {
            if self.value(operand, marking)? == value {
                return self.operand(operand, marking);
            }
        }
        Ok(Vec::new())
    }

    fn operand(&mut self, operand: &Formula, marking: &[u64]) -> Maybe<Vec<(usize, Evidence)>> {
        Ok(match self.explain(operand, marking)? {
            None => Vec::new(),
            Some(evidence) if matches!(evidence.formula, Formula::Binary(..)) => evidence.branches,
            Some(evidence) => vec![(0, evidence)],
        })
    }

    /// A path that satisfies the path formula if `holds`, and one that does not otherwise.
    fn explain_path(
        &mut self,
        formula: &Formula,
        path: &Formula,
        holds: bool,
        marking: &[u64],
    ) -> Maybe<Option<Evidence>> {
        // f W g is g R (f ∨ g), f M g is g U (f ∧ g).
        let both = |op, f: &Formula, g: &Formula| Formula::binary(op, f.clone(), g.clone());
        let joined;
        let shape = match path {
            Formula::Unary(Unary::Next, f) => Shape::Next(f),
            Formula::Unary(Unary::Finally, f) => Shape::Until(None, f),
            Formula::Unary(Unary::Globally, f) => Shape::Release(None, f),
            Formula::Binary(Binary::Until, f, g) => Shape::Until(Some(f), g),
            Formula::Binary(Binary::Release, f, g) => Shape::Release(Some(f), g),
            Formula::Binary(Binary::WeakUntil, f, g) => {
                joined = both(Binary::Or, f, g);
                Shape::Release(Some(g), &joined)
            }
            Formula::Binary(Binary::StrongRelease, f, g) => {
                joined = both(Binary::And, f, g);
                Shape::Until(Some(g), &joined)
            }
            _ => return Ok(None),
        };
        // What no path satisfies is the dual, of negated operands.
        let shape = match shape {
            shape if holds => shape,
            Shape::Next(f) => Shape::Next(f),
            Shape::Until(f, g) => Shape::Release(f, g),
            Shape::Release(f, g) => Shape::Until(f, g),
        };
        self.follow(formula, holds, &shape, marking)
    }

    fn follow(
        &mut self,
        formula: &Formula,
        holds: bool,
        shape: &Shape<'_>,
        marking: &[u64],
    ) -> Maybe<Option<Evidence>> {
        let (way, along, at_end) = match shape {
            Shape::Next(f) => (self.next(f, holds, marking)?, None, Some(*f)),
            Shape::Until(f, g) => {
                let way = self.until(*f, g, holds, marking)?;
                let before = way.as_ref().map_or(0, |way| way.markings.len() - 1);
                (way, f.map(|f| (f, before)), Some(*g))
            }
            Shape::Release(f, g) => {
                let way = self.release(*f, g, holds, marking)?;
                let count = way.as_ref().map_or(0, |way| way.markings.len() - usize::from(way.cycle > 0));
                let released = way.as_ref().is_some_and(|way| way.cycle == 0 && !way.stutters);
                (way, Some((*g, count)), f.filter(|_| released))
            }
        };
        let Some(way) = way.filter(|way| way.steps.len() <= LONGEST) else { return Ok(None) };
        let last = way.markings.len() - 1;
        let mut branches = Vec::new();
        // The end first, since the number of runs is limited.
        if let Some(operand) = at_end {
            branches.extend(self.explain(operand, &way.markings[last])?.map(|branch| (last, branch)));
        }
        if let Some((operand, count)) = along.filter(|(operand, _)| !operand.is_propositional()) {
            let most = branches.len() + MAX_BRANCHES;
            for (after, marking) in way.markings.iter().enumerate().take(count) {
                if branches.len() == most {
                    break;
                }
                self.step = way.part(after);
                branches.extend(self.explain(operand, marking)?.map(|branch| (after, branch)));
            }
        }
        branches.sort_by_key(|(after, _)| *after);
        let mut prefix = way.steps;
        let cycle = prefix.split_off(prefix.len() - way.cycle);
        Ok(Some(Evidence { formula: formula.clone(), holds, prefix, cycle, stutters: way.stutters, branches }))
    }

    /// A step to where `f` has the value.
    fn next(&mut self, f: &Formula, value: bool, marking: &[u64]) -> Maybe<Option<Way>> {
        let goal = self.set(f, value)?;
        let diagrams = self.evaluator.diagrams();
        if let Some(step) = self.step.take_if(|step| step.markings[0] == marking)
            && diagrams.contains(&goal, &step.markings[1])
        {
            return Ok(Some(step));
        }
        let all = self.evaluator.all().clone();
        let step = self.evaluator.diagrams().neighbour(marking, &all, &goal, true);
        Ok(step.map(|(transition, after)| {
            let mut way = Way::at(marking);
            way.push(transition, after);
            way
        }))
    }

    /// A shortest way to where `g` has the value.
    fn until(&mut self, f: Option<&Formula>, g: &Formula, value: bool, marking: &[u64]) -> Maybe<Option<Way>> {
        let goal = self.set(g, value)?;
        let within = match f {
            Some(f) => {
                let f = self.set(f, value)?;
                self.evaluator.diagrams().union(&f, &goal)?
            }
            None => self.evaluator.reached().clone(),
        };
        let start = self.evaluator.diagrams().marking(marking)?;
        self.way(&start, &goal, &within)
    }

    /// A shortest way between sets.
    fn way(&mut self, from: &Set, goal: &Set, within: &Set) -> Maybe<Option<Way>> {
        let all = self.evaluator.all().clone();
        let diagrams = self.evaluator.diagrams();
        let run = diagrams.run_between(from, goal, &all, within)?;
        Ok(run.and_then(|run: Run| {
            let mut way = Way::at(&run.start);
            for transition in run.transitions {
                let after = diagrams.after(&way.markings[way.markings.len() - 1], transition)?;
                way.push(transition, after);
            }
            Some(way)
        }))
    }

    /// A way on which `g` has the value, to where `f` has it too, to where the run is over, or around a cycle.
    fn release(&mut self, f: Option<&Formula>, g: &Formula, value: bool, marking: &[u64]) -> Maybe<Option<Way>> {
        let through = self.set(g, value)?;
        let dead = self.evaluator.dead()?;
        let released = match f {
            Some(f) => {
                let f = self.set(f, value)?;
                self.evaluator.diagrams().intersect(&f, &through)?
            }
            None => self.evaluator.diagrams().empty(),
        };
        let diagrams = self.evaluator.diagrams();
        let over = diagrams.intersect(&dead, &through)?;
        let goal = diagrams.union(&released, &over)?;
        let start = diagrams.marking(marking)?;
        if let Some(mut way) = self.way(&start, &goal, &through)? {
            let end = &way.markings[way.markings.len() - 1];
            way.stutters = !self.evaluator.diagrams().contains(&released, end);
            return Ok(Some(way));
        }
        self.cycle(&through, marking)
    }

    /// A way to a cycle, all of it in a set, from a marking from which no run in the set is over.
    fn cycle(&mut self, set: &Set, marking: &[u64]) -> Maybe<Option<Way>> {
        let all = self.evaluator.all().clone();
        let start = self.evaluator.diagrams().marking(marking)?;
        let reach = self.evaluator.diagrams().closure_within(&start, &all, set)?;
        let endless = self.evaluator.eg(&reach)?;
        let mut way = Way::at(marking);
        // Where all that follows may be on cycles, or between them.
        let mut inner = self.core(&endless)?;
        loop {
            let here = self.evaluator.diagrams().marking(&way.markings[way.markings.len() - 1])?;
            let Some(part) = self.way(&here, &inner, &endless)? else { return Ok(None) };
            way.extend(part);
            let turn = way.markings[way.markings.len() - 1].clone();
            if let Some(round) = self.round(&turn, &inner)? {
                way.cycle = round.steps.len();
                way.extend(round);
                return Ok(Some(way));
            }
            // Between cycles: on to what can be reached from there, which does not lead back.
            let diagrams = self.evaluator.diagrams();
            let turn = diagrams.marking(&turn)?;
            let after = diagrams.image_within(&turn, &all, &inner)?;
            let ahead = diagrams.closure_within(&after, &all, &inner)?;
            inner = self.core(&ahead)?;
            if inner.is_empty() || way.steps.len() > LONGEST {
                return Ok(None);
            }
        }
    }

    /// The markings of a set that lie on cycles in it, or on the way from one cycle to another.
    fn core(&mut self, set: &Set) -> Maybe<Set> {
        let all = self.evaluator.all().clone();
        let diagrams = self.evaluator.diagrams();
        let mut left = set.clone();
        loop {
            let before = diagrams.preimage(&left, &all, &left)?;
            let next = diagrams.image_within(&before, &all, &before)?;
            if next == left {
                return Ok(left);
            }
            left = next;
        }
    }

    /// A shortest cycle through a marking.
    fn round(&mut self, turn: &[u64], within: &Set) -> Maybe<Option<Way>> {
        let all = self.evaluator.all().clone();
        let diagrams = self.evaluator.diagrams();
        let here = diagrams.marking(turn)?;
        let first = diagrams.image_within(&here, &all, within)?;
        let Some(rest) = self.way(&first, &here, within)? else { return Ok(None) };
        let start = self.evaluator.diagrams().marking(&rest.markings[0])?;
        let step = self.evaluator.diagrams().neighbour(turn, &all, &start, true);
        Ok(step.map(|(transition, after)| {
            let mut round = Way::at(turn);
            round.push(transition, after);
            round.extend(rest);
            round
        }))
    }
}

impl Way {
    fn at(marking: &[u64]) -> Way {
        Way { markings: vec![marking.to_vec()], steps: Vec::new(), cycle: 0, stutters: false }
    }

    /// The step after so many others.
    fn part(&self, after: usize) -> Option<Way> {
        let mut step = Way::at(&self.markings[after]);
        step.push(*self.steps.get(after)?, self.markings.get(after + 1)?.clone());
        Some(step)
    }

    fn push(&mut self, transition: u32, after: Vec<u64>) {
        self.steps.push(transition);
        self.markings.push(after);
    }

    fn extend(&mut self, other: Way) {
        self.steps.extend(other.steps);
        self.markings.extend(other.markings.into_iter().skip(1));
    }
}
