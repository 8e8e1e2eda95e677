//! A condition node and its two step edges: `CheckStepEdge` (§3.2.3).

use super::assumptions::Assumptions;
use super::closure::{Closure, Subformula};
use super::structure::{Change, Limits, Source};
use super::{Failure, Saved};
use crate::build::Builder;
use crate::diagram::{Bdd, Diagrams, Maybe};
use ample_model::LocationId;

/// The states at a location with a condition, as diagrams in a table of their own. There are no transitions in it.
pub struct Head {
    /// Where the diagrams are.
    pub diagrams: Diagrams,
    /// The valuations in which the condition holds, and those in which it does not.
    pub outcomes: [Bdd; 2],
    /// What its step edges change, if a static reduction has given them something to do.
    changes: [Change; 2],
    conditions: Vec<Bdd>,
    /// No other valuations matter.
    pub domain: Bdd,
}

/// By subformula: the states that satisfy it; `None` is ⊥.
pub type Sets = Vec<Option<Bdd>>;

impl Head {
    /// The condition at that location, with the variables in that order.
    pub fn of(
        source: Source<'_>,
        at: LocationId,
        domain: Option<&Saved>,
        order: &[u32],
        limits: &Limits,
    ) -> Result<Head, Failure> {
        let diagrams = limits.table(source.program.encoding.bits, order);
        let mut builder = Builder::new(source.program.dag(), &diagrams);
        let outcome = |builder: &mut Builder<'_>, number: usize| -> Maybe<(Bdd, Change)> {
            match source.program.locations[at.index()].steps.get(number) {
                Some(step) => {
                    let guard = builder.diagram(step.guard)?;
                    let change = Change::of(&diagrams, builder, &guard, &step.updates)?;
                    Ok((guard, change))
                }
                None => Ok((diagrams.constant(false), Change::None)),
            }
        };
        let (first, second) = (outcome(&mut builder, 0)?, outcome(&mut builder, 1)?);
        let (outcomes, changes) = ([first.0, second.0], [first.1, second.1]);
        let conditions = &source.conditions[at.index()];
        let conditions = conditions.iter().map(|lit| builder.diagram(*lit)).collect::<Maybe<Vec<_>>>()?;
        drop(builder);
        let domain = match domain {
            Some(domain) => domain.load(&diagrams)?,
            None => diagrams.constant(true),
        };
        Ok(Head { diagrams, outcomes, changes, conditions, domain })
    }

    /// Exactly one of the two outcomes is possible in every valuation.
    pub fn is_condition(&self) -> Maybe<bool> {
        Ok(self.outcomes[0].xor(&self.outcomes[1])?.is_true())
    }

    /// Assumptions, in this table.
    pub fn load(&self, given: &Assumptions) -> Result<Sets, Failure> {
        given.iter().map(|set| set.as_ref().map(|set| set.load(&self.diagrams)).transpose()).collect()
    }

    /// `CheckStepEdge`: what holds in the states with that outcome, given what holds where the step leads.
    pub fn step_edge(&self, closure: &Closure, outcome: usize, given: &Sets) -> Maybe<Sets> {
        let mut found: Sets = Vec::new();
        for (number, subformula) in closure.subformulas.iter().enumerate() {
            let set = match &given[number] {
                None => None,
                Some(there) => {
                    let known = |f: usize| found[f].clone().unwrap_or_else(|| self.diagrams.constant(false));
                    let next = |f: usize| given[f].clone().unwrap_or_else(|| self.diagrams.constant(false));
                    Some(self.step(subformula, outcome, &known, &next, there)?)
                }
            };
            found.push(set);
        }
        Ok(found)
    }

    /// The same for one subformula: `known` holds here, `next` where the step leads, `there` is what the subformula itself holds in.
    pub fn step(
        &self,
        subformula: &Subformula,
        outcome: usize,
        known: &dyn Fn(usize) -> Bdd,
        next: &dyn Fn(usize) -> Bdd,
        there: &Bdd,
    ) -> Maybe<Bdd> {
        let here = self.outcomes[outcome].and(&self.domain)?;
        match subformula {
            Subformula::Condition(number) => here.and(&self.conditions[*number]),
            Subformula::Not(f) => here.minus(&known(*f)),
            Subformula::And(f, g) => known(*f).and(&known(*g))?.and(&here),
            Subformula::Or(f, g) => known(*f).or(&known(*g))?.and(&here),
            Subformula::Next(_, f) => self.back(outcome, &next(*f), &here),
            Subformula::Until(_, f, g) => {
                let goal = known(*g).and(&here)?;
                goal.or(&self.back(outcome, there, &known(*f).and(&here)?)?)
            }
        }
    }

    /// The states of a set from which the step edge leads into another.
    fn back(&self, outcome: usize, there: &Bdd, within: &Bdd) -> Maybe<Bdd> {
        self.changes[outcome].preimage(&self.outcomes[outcome], there, within)
    }

    /// The states that the step edge leads to from those that matter.
    pub fn image(&self, outcome: usize) -> Maybe<Bdd> {
        self.changes[outcome].image(&self.outcomes[outcome], &self.domain)
    }

    /// What holds at the location itself, for a subformula without temporal operators around it.
    pub fn here(&self, subformula: &Subformula, known: &dyn Fn(usize) -> Bdd) -> Maybe<Option<Bdd>> {
        Ok(Some(match subformula {
            Subformula::Condition(number) => self.domain.and(&self.conditions[*number])?,
            Subformula::Not(f) => self.domain.minus(&known(*f))?,
            Subformula::And(f, g) => known(*f).and(&known(*g))?,
            Subformula::Or(f, g) => known(*f).or(&known(*g))?,
            Subformula::Next(..) | Subformula::Until(..) => return Ok(None),
        }))
    }
}
