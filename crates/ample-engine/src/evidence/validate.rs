//! Validation: evidence is replayed by the reference interpreter, and judged by the plain meaning of the property.

use ample_model::{Evidence, Observer, Property, Question, System, Violation};

use super::{
    Charge, Claim, EndState, Unconfirmed, confirm, confirm_acting, confirm_run, confirm_tree, not_confirmed, refuted,
};
use crate::faults::Survey;
use crate::report::Answer;
use crate::settings::Settings;
use crate::temporal::Forbidden;
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
    observer: &mut dyn Observer,
) -> Result<Validated, Unconfirmed> {
    let fairness = settings.fairness;
    match (&property.question, evidence) {
        (question, Evidence::Run(run)) => {
            let fallible = Survey::of(system).fallible(property, &settings.justice);
            let claim = match question {
                Question::Deadlock => Claim::Deadlock,
                Question::Assertions => Claim::Assertion,
                Question::Invariant(condition) => Claim::Invariant(condition),
                _ => Claim::Evaluation(fallible.parts()),
            };
            confirm(system, &run.start, &run.moves, claim, observer)
        }
        (Question::Ltl(temporal), Evidence::Lasso(lasso)) => {
            confirm_run(system, lasso, Charge::Formula(temporal), fairness, observer)
        }
        (Question::Automaton(automaton), Evidence::Lasso(lasso)) => {
            confirm_run(system, lasso, Charge::Automaton(automaton), fairness, observer)
        }
        (Question::Acceptance, Evidence::Lasso(lasso)) => {
            confirm_run(system, lasso, Charge::Acceptance, fairness, observer)
        }
        (Question::Progress, Evidence::Lasso(lasso)) => {
            confirm_run(system, lasso, Charge::NonProgress, fairness, observer)
        }
        (Question::Never(claim), Evidence::Lasso(lasso)) => {
            if let Some(acting) = Acting::of(system, *claim).map_err(Unconfirmed::Refuted)? {
                return confirm_acting(system, lasso, &acting, fairness, observer);
            }
            let automaton = Forbidden::claim(system, *claim).map_err(Unconfirmed::Refuted)?;
            confirm_run(system, lasso, Charge::Claim(&automaton), fairness, observer)
        }
        (Question::Ctl(temporal), Evidence::Tree(start, tree)) => confirm_tree(system, start.clone(), tree, temporal),
        _ => refuted("evidence of this kind shows nothing about a property of that kind".into()),
    }
}

impl Answer {
    /// The answer that evidence of a violation gives: the violation if it can be validated; otherwise none.
    pub fn violated(
        system: &System,
        property: &Property,
        engine: &'static str,
        evidence: &Evidence,
        settings: &Settings,
        observer: &mut dyn Observer,
    ) -> Answer {
        match validate(system, property, evidence, settings, observer) {
            Ok((violation, end)) => Answer {
                end: Some(end),
                ..Answer::to(property, engine, ample_model::Outcome::Violated(Box::new(violation)))
            },
            Err(unconfirmed) => Answer::to(property, engine, not_confirmed(unconfirmed, evidence.len())),
        }
    }
}
