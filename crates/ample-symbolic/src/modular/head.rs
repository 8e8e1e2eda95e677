//! A location where a choice or a loop is decided, and its step edges: `CheckStepEdge` (§3.2.3).
//!
//! What holds in a state where several steps are possible is put together from what holds along each step edge: of some run,
//! what holds along one of them; of all runs, what holds along all that are possible.

use super::assumptions::Assumptions;
use super::closure::{Closure, Quantifier, Subformula};
use super::structure::{Change, Limits, Source};
use super::{Failure, Saved};
use crate::build::Builder;
use crate::diagram::{Bdd, Diagrams, Maybe};
use ample_model::LocationId;

/// The states at a location, as diagrams in a table of their own.
pub struct Head {
    /// Where the diagrams are.
    pub diagrams: Diagrams,
    /// By step: the valuations in which it can be taken.
    pub guards: Vec<Bdd>,
    changes: Vec<Change>,
    /// Where a step is a fault without a successor.
    fault: Bdd,
    /// Where no step is possible.
    stuck: Bdd,
    conditions: Vec<Bdd>,
    /// No other valuations matter.
    pub domain: Bdd,
}

/// By subformula: the states that satisfy it; `None` is ⊥.
pub type Sets = Vec<Option<Bdd>>;

impl Head {
    /// What is decided at that location, with the variables in that order.
    pub fn of(
        source: Source<'_>,
        at: LocationId,
        domain: Option<&Saved>,
        order: &[u32],
        limits: &Limits,
    ) -> Result<Head, Failure> {
        let diagrams = limits.table(source.program.encoding.bits, order);
        let here = &source.program.locations[at.index()];
        let mut builder = Builder::new(source.program.dag(), &diagrams);
        source.program.refuse_overflow(here, &mut builder)?;
        let fault = builder.diagram(here.fault)?;
        let mut stuck = fault.not();
        let (mut guards, mut changes) = (Vec::new(), Vec::new());
        for step in &here.steps {
            let guard = builder.diagram(step.guard)?;
            stuck = stuck.minus(&guard)?;
            changes.push(Change::of(&diagrams, &mut builder, &guard, &step.updates)?);
            guards.push(guard);
        }
        let conditions = &source.conditions[at.index()];
        let conditions = conditions.iter().map(|lit| builder.diagram(*lit)).collect::<Maybe<Vec<_>>>()?;
        drop(builder);
        let domain = match domain {
            Some(domain) => domain.load(&diagrams)?,
            None => diagrams.constant(true),
        };
        Ok(Head { diagrams, guards, changes, fault, stuck, conditions, domain })
    }

    /// Assumptions, in this table.
    pub fn load(&self, given: &Assumptions) -> Result<Sets, Failure> {
        given.iter().map(|set| set.as_ref().map(|set| set.load(&self.diagrams)).transpose()).collect()
    }

    /// `CheckStepEdge`: what holds in the states in which a step can be taken, if it is, given what holds where it leads.
    pub fn step_edge(&self, closure: &Closure, step: usize, given: &Sets) -> Maybe<Sets> {
        let mut found: Sets = Vec::new();
        for (number, subformula) in closure.subformulas.iter().enumerate() {
            let set = match &given[number] {
                None => None,
                Some(there) => {
                    let known = |f: usize| found[f].clone().unwrap_or_else(|| self.diagrams.constant(false));
                    let next = |f: usize| given[f].clone().unwrap_or_else(|| self.diagrams.constant(false));
                    Some(self.step(subformula, step, &known, &next, there)?)
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
        step: usize,
        known: &dyn Fn(usize) -> Bdd,
        next: &dyn Fn(usize) -> Bdd,
        there: &Bdd,
    ) -> Maybe<Bdd> {
        let here = self.guards[step].and(&self.domain)?;
        match subformula {
            Subformula::Condition(number) => here.and(&self.conditions[*number]),
            Subformula::Not(f) => here.minus(&known(*f)),
            Subformula::And(f, g) => known(*f).and(&known(*g))?.and(&here),
            Subformula::Or(f, g) => known(*f).or(&known(*g))?.and(&here),
            Subformula::Next(_, f) => self.back(step, &next(*f), &here),
            Subformula::Until(_, f, g) => {
                let goal = known(*g).and(&here)?;
                goal.or(&self.back(step, there, &known(*f).and(&here)?)?)
            }
        }
    }

    /// The states of a set from which the step edge leads into another.
    fn back(&self, step: usize, there: &Bdd, within: &Bdd) -> Maybe<Bdd> {
        self.changes[step].preimage(&self.guards[step], there, within)
    }

    /// The states that the step edge leads to from those that matter.
    pub fn image(&self, step: usize) -> Maybe<Bdd> {
        self.changes[step].image(&self.guards[step], &self.domain)
    }

    /// What holds at the location, given what holds along each step edge: `known` is what is known here of operands. A run that
    /// ends here repeats its last state.
    pub fn joined(
        &self,
        closure: &Closure,
        subformula: &Subformula,
        known: &dyn Fn(usize) -> Bdd,
        along: &dyn Fn(usize) -> Maybe<Bdd>,
    ) -> Maybe<Bdd> {
        if let Some(set) = self.here(subformula, known)? {
            return Ok(set);
        }
        let (over, stuck, stopped) = match subformula {
            Subformula::Until(over, f, g) => {
                let stopped = known(*f).and(&self.stopped(closure, *g)?)?.or(&known(*g))?;
                (*over, known(*g), stopped)
            }
            Subformula::Next(over, f) => (*over, known(*f), self.stopped(closure, *f)?),
            _ => return Ok(self.diagrams.constant(false)),
        };
        match over {
            Quantifier::Some => {
                let mut all = self.stuck.and(&stuck)?.or(&self.fault.and(&stopped)?)?.and(&self.domain)?;
                for step in 0..self.guards.len() {
                    all = all.or(&along(step)?)?;
                }
                Ok(all)
            }
            Quantifier::All => {
                let mut left = self.domain.minus(&self.stuck.minus(&stuck)?.or(&self.fault.minus(&stopped)?)?)?;
                for step in 0..self.guards.len() {
                    left = left.minus(&self.guards[step].and(&left)?.minus(&along(step)?)?)?;
                }
                Ok(left)
            }
        }
    }

    /// The states in which a run that a fault has stopped here satisfies a subformula.
    fn stopped(&self, closure: &Closure, subformula: usize) -> Maybe<Bdd> {
        if self.fault.is_false() {
            return Ok(self.diagrams.constant(false));
        }
        let part = |f: usize| self.stopped(closure, f);
        Ok(match closure.subformulas[subformula] {
            Subformula::Condition(number) => self.conditions[number].clone(),
            Subformula::Not(f) => part(f)?.not(),
            Subformula::And(f, g) => part(f)?.and(&part(g)?)?,
            Subformula::Or(f, g) => part(f)?.or(&part(g)?)?,
            Subformula::Next(_, f) | Subformula::Until(_, _, f) => part(f)?,
        })
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
