//! Validation: evidence is replayed by the reference interpreter, and judged by the plain meaning of the property.

use ample_model::{Budget, Certainty, Evidence, Outcome, Property, Question, System, Violation};

use super::{
    EndState, Invalid, LassoViolation, RunViolation, not_validated, refuted, refuted_witness, validate_lasso,
    validate_run, validate_tree, validate_with_claim,
};
use crate::faults::Survey;
use crate::report::Answer;
use crate::settings::Settings;
use crate::temporal::ClaimAutomaton;
use crate::temporal::claim::Acting;

/// A violation that has been replayed, and the state at the end of its run or where its cycle begins.
pub type Validated = (Violation, EndState);

/// Replays evidence and looks whether it shows that the property is violated. A finite run against a formula shows that
/// one of its expressions cannot be evaluated where it ends.
pub fn validate(
    system: &System,
    property: &Property,
    evidence: &Evidence,
    settings: &Settings,
    budget: &Budget,
) -> Result<Validated, Invalid> {
    let fairness = settings.fairness;
    match (&property.question, evidence) {
        (question, Evidence::Run(run)) => {
            let fallible = Survey::of(system).fallible(property, &settings.justice);
            let claim = match question {
                Question::Deadlock => RunViolation::Deadlock,
                Question::Assertions => RunViolation::Assertion,
                Question::Invariant(condition) => RunViolation::Invariant(condition),
                _ => RunViolation::Evaluation(fallible.parts()),
            };
            validate_run(system, &run.start, &run.moves, claim, budget)
        }
        (Question::Ltl(temporal), Evidence::Lasso(lasso)) => {
            validate_lasso(system, lasso, LassoViolation::Formula(temporal), fairness, budget)
        }
        (Question::Automaton(automaton), Evidence::Lasso(lasso)) => {
            validate_lasso(system, lasso, LassoViolation::Automaton(automaton), fairness, budget)
        }
        (Question::Acceptance, Evidence::Lasso(lasso)) => {
            validate_lasso(system, lasso, LassoViolation::Acceptance, fairness, budget)
        }
        (Question::Progress, Evidence::Lasso(lasso)) => {
            validate_lasso(system, lasso, LassoViolation::NonProgress, fairness, budget)
        }
        (Question::Never(claim), Evidence::Lasso(lasso)) => {
            if let Some(acting) = Acting::of(system, *claim).map_err(Invalid::Refuted)? {
                return validate_with_claim(system, lasso, &acting, fairness, budget);
            }
            let automaton = ClaimAutomaton::claim(system, *claim).map_err(Invalid::Refuted)?;
            validate_lasso(system, lasso, LassoViolation::Claim(&automaton), fairness, budget)
        }
        (Question::Ctl(temporal), Evidence::Tree(start, tree)) => {
            validate_tree(system, start.clone(), tree, temporal, false, budget)
        }
        _ => refuted("evidence of this kind shows nothing about a property of that kind".into()),
    }
}

/// Replays a witness and looks whether it shows that the property holds: a tree of runs that makes a formula of branching
/// time true.
pub fn validate_witness(
    system: &System,
    property: &Property,
    evidence: &Evidence,
    budget: &Budget,
) -> Result<Validated, Invalid> {
    match (&property.question, evidence) {
        (Question::Ctl(temporal), Evidence::Tree(start, tree)) => {
            validate_tree(system, start.clone(), tree, temporal, true, budget)
        }
        _ => refuted("evidence of this kind is no witness of a property of that kind".into()),
    }
}

impl Answer {
    /// The answer where a complete search has shown that the property holds, and has found a witness. One that does not
    /// replay is an error of ours, and leaves no verdict.
    pub fn witnessed(
        system: &System,
        property: &Property,
        engine: &'static str,
        evidence: &Evidence,
        budget: &Budget,
    ) -> Answer {
        let proved = Answer::to(property, engine, Outcome::Holds(Certainty::Proved));
        match validate_witness(system, property, evidence, budget) {
            Ok((witness, end)) => Answer { witness: Some(Box::new(witness)), end: Some(end), ..proved },
            Err(Invalid::Ended(_)) => proved,
            Err(Invalid::Refuted(why)) => Answer { outcome: refuted_witness(&why), ..proved },
        }
    }

    /// The answer that evidence of a violation gives: the violation if it can be validated; otherwise none.
    pub fn violated(
        system: &System,
        property: &Property,
        engine: &'static str,
        evidence: &Evidence,
        settings: &Settings,
        budget: &Budget,
    ) -> Answer {
        match validate(system, property, evidence, settings, budget) {
            Ok((violation, end)) => {
                Answer { end: Some(end), ..Answer::to(property, engine, Outcome::Violated(Box::new(violation))) }
            }
            Err(invalid) => Answer::to(property, engine, not_validated(invalid, evidence.len())),
        }
    }
}
