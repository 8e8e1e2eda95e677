//! Fairness and justice: which runs count, and branching time over those that do.
//!
//! A fair formula of CTL that does not hold is shown by a fair run where the formula says of all runs what a formula of
//! LTL could say: then the quantifiers are left out, and the run violates the rest. For others there is a run to a state
//! from which fair runs cannot do what the formula asks for; without one there is no verdict, if it takes a run to show it.

use crate::ctl::{Ctl, Evaluator, FairRuns, known_atoms};
use crate::diagram::Bdd;
use crate::fair::{self, Condition};
use crate::space::{Space, SpaceSets};
use ample_logic::{Atom, Binary, Formula as Logic, Unary};
use ample_model::{Move, Property, Question, Reason, Temporal};

use super::Direction;
use super::answers::{Checker, ENGINE, IN_PASSING, add, start_states};
use ample_engine::evidence::Evidence;
use ample_engine::report::Answer;
use ample_engine::settings::Fairness;

/// Of a formula that does not hold, if no single fair run can show it.
const SHOWN_IN_PART: &str = "how fair runs go on from where the run ends is not shown";
/// Of a way that was asked for.
const BACKWARD: &str = "evaluated backward: so are fair CTL formulas always";

impl Checker<'_, '_> {
    /// Which runs count, as `--fairness` says.
    pub(super) fn fairness(&self) -> Result<fair::Fairness, Reason> {
        self.fairness_of(&self.session.space)
    }

    /// The same over other diagrams of the system.
    pub(super) fn fairness_of(&self, space: &Space) -> Result<fair::Fairness, Reason> {
        Ok(match self.options.settings.fairness {
            Fairness::None => fair::Fairness::default(),
            Fairness::Weak => fair::Fairness::weak(space)?,
            Fairness::Strong => fair::Fairness::strong(space, &self.actions())?,
        })
    }

    /// The number of each step's action; where processes of several types may have an id, several steps have one.
    fn actions(&self) -> Vec<usize> {
        let mut known: Vec<Move> = Vec::new();
        let mut number = |taken: Move| {
            known.iter().position(|known| *known == taken).unwrap_or_else(|| {
                known.push(taken);
                known.len() - 1
            })
        };
        (0..self.session.space.steps.len()).map(|step| number(self.session.taken(step))).collect()
    }

    /// Not all runs count.
    pub(super) fn is_fair(&self) -> bool {
        self.options.settings.fairness != Fairness::None || !self.justice.is_empty()
    }

    /// A formula of CTL, where `E` means: on some fair run.
    pub(super) fn branching_fairly(&mut self, temporal: &Temporal, numbers: &[usize]) -> Result<Answer, Reason> {
        if self.stops_in_passing()? {
            return Ok(self.unknown(IN_PASSING));
        }
        let Some(ctl) = Ctl::of(&temporal.formula) else {
            return Ok(self.unknown("the formula is not CTL: path quantifiers and temporal operators must alternate"));
        };
        let reached = self.session.reached(self.setting)?;
        let atoms = self.atoms(numbers);
        let fair = self.fair_runs()?;
        let mut sets = SpaceSets::new(&self.session.space);
        let mut evaluator = Evaluator::new(&mut sets, known_atoms(&atoms), reached)?.over(&fair)?;
        let states = evaluator.states(&ctl)?;
        let effort = evaluator.effort.clone();
        drop(evaluator);
        add(&mut self.session.effort, &effort);
        let bad = start_states(self.session)?.minus(&states)?;
        let symbolic = &self.options.symbolic;
        let asked = symbolic.direction == Direction::Forward || self.options.exploration().is_some();
        let note = asked.then(|| BACKWARD.to_owned());
        if bad.is_false() {
            return Ok(Answer { note, ..self.holds() });
        }
        match self.as_a_run(temporal, numbers)? {
            Some(answer) => Ok(Answer { note: answer.note.clone().or(note), ..answer }),
            None => self.as_a_tree(temporal, &ctl, &atoms, &fair),
        }
    }

    fn fair_runs(&self) -> Result<FairRuns, Reason> {
        let space = &self.session.space;
        let mut fairness = self.fairness()?;
        let mut stopped = space.diagrams.constant(true);
        for just in self.atoms(self.justice) {
            fairness.justice.push(Condition { states: just.and(&space.visible)?, steps: Vec::new() });
            stopped = stopped.and(&just)?;
        }
        Ok(FairRuns { fairness, stopped })
    }

    /// A run that violates what the formula says of all runs, if it says no more than that.
    fn as_a_run(&mut self, temporal: &Temporal, numbers: &[usize]) -> Result<Option<Answer>, Reason> {
        let Some(formula) = without_quantifiers(&temporal.formula) else { return Ok(None) };
        let mut linear = temporal.with(formula);
        let mut numbers = numbers.to_vec();
        for (number, expr) in self.justice.iter().zip(&self.options.settings.justice) {
            // Of the runs on which each of these holds again and again.
            let again = Logic::atom(Atom(linear.atoms.len() as u32)).finally().globally();
            linear.formula = again.implies(linear.formula);
            linear.atoms.push(expr.clone());
            numbers.push(*number);
        }
        self.know_what_rests()?;
        // What is said of the initial state alone may be wrong there without any fair run.
        let Some(lasso) = self.lasso(&linear, &numbers, None)? else { return Ok(None) };
        let Some(run) = self.run(&lasso) else { return Ok(Some(self.too_many_starts())) };
        // The run is judged by the formula that it violates, and told as an answer to the one that was asked.
        let linear = Property { question: Question::Ltl(linear), ..self.property.clone() };
        let (system, settings) = (self.session.system, &self.options.settings);
        let answer = Answer::violated(system, &linear, ENGINE, &Evidence::Lasso(run), settings, self.setting.budget);
        Ok(Some(Answer { property: self.property.id(), ..answer }))
    }

    /// Finite runs that show in part why the formula does not hold.
    fn as_a_tree(&mut self, temporal: &Temporal, ctl: &Ctl, atoms: &[Bdd], fair: &FairRuns) -> Result<Answer, Reason> {
        let (start, tree) = match self.explain(&temporal.formula, ctl, false, atoms, Some(fair))? {
            Ok(explained) => explained,
            Err(answer) => return Ok(*answer),
        };
        if tree.prefix.is_empty() && tree.branches.is_empty() {
            return Ok(self.violated_unseen());
        }
        let answer = self.violated(&Evidence::Tree(start, tree));
        Ok(Answer { note: Some(SHOWN_IN_PART.into()), ..answer })
    }
}

/// A formula of LTL that holds of the same sets of runs, fair ones or all: with the quantifiers left out, where it does
/// not matter when it is decided which run is meant (M. Maidl's common fragment, a part of it).
fn without_quantifiers(formula: &Logic) -> Option<Logic> {
    if formula.is_propositional() {
        return Some(formula.clone());
    }
    Some(match formula {
        Logic::Unary(Unary::All, path) => match path.as_ref() {
            Logic::Unary(Unary::Next, f) => without_quantifiers(f)?.next(),
            Logic::Unary(Unary::Globally, f) => without_quantifiers(f)?.globally(),
            Logic::Unary(Unary::Finally, f) if f.is_propositional() => path.as_ref().clone(),
            Logic::Binary(_, f, g) if f.is_propositional() && g.is_propositional() => path.as_ref().clone(),
            _ => return None,
        },
        Logic::Binary(Binary::And, f, g) => without_quantifiers(f)? & without_quantifiers(g)?,
        Logic::Binary(Binary::Or, f, g) if f.is_propositional() || g.is_propositional() => {
            without_quantifiers(f)? | without_quantifiers(g)?
        }
        Logic::Binary(Binary::Implies, f, g) if f.is_propositional() => {
            f.as_ref().clone().implies(without_quantifiers(g)?)
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use ample_logic::{Atoms, Dialect, parse};

    use super::*;

    #[test]
    fn quantifiers_are_left_out_only_where_that_changes_nothing() {
        let read = |text: &str| parse(text, Dialect::Smv, &mut Atoms::new()).unwrap();
        for (branching, linear) in [
            ("AG p", Some("G p")),
            ("AG AF p", Some("G F p")),
            ("AG (p -> AF q)", Some("G (p -> F q)")),
            ("A [p U q] & AX AG q", Some("(p U q) & X G q")),
            ("AF AG p", None),
            ("AG EF p", None),
            ("AG p | AG q", None),
            ("!AG p", None),
        ] {
            assert_eq!(without_quantifiers(&read(branching)), linear.map(read), "{branching}");
        }
    }
}
