//! Validation: evidence is replayed by the reference interpreter, and judged by the plain meaning of the property.

use ample_model::{Branch, Budget, Certainty, Evidence, Property, Question, Reason, System, Violation};

use super::expand::expanded;
use super::{
    EndState, Invalid, LassoViolation, Patience, RunViolation, not_validated, refuted, refuted_witness, validate_lasso,
    validate_run, validate_tree, validate_with_claim,
};
use crate::faults::Survey;
use crate::report::{Answer, ValidOutcome};
use crate::settings::Settings;
use crate::temporal::ClaimAutomaton;
use crate::temporal::claim::Acting;

/// A counterexample or witness that has been validated, and the state at the end of its run or where its cycle begins. It
/// can be worded differently, but only validation makes one.
#[derive(Clone, Debug, PartialEq)]
pub struct Validated {
    violation: Violation,
    end: EndState,
}

impl Validated {
    pub(crate) fn new((violation, end): (Violation, EndState)) -> Validated {
        Validated { violation, end }
    }

    /// What it shows.
    pub fn violation(&self) -> &Violation {
        &self.violation
    }

    /// The same, with another sentence that says what it shows.
    pub fn with_message(mut self, message: impl FnOnce(String) -> String) -> Validated {
        self.violation.message = message(std::mem::take(&mut self.violation.message));
        self
    }

    /// The same, with other sentences and final states of what branches off.
    pub fn with_branches(mut self, reword: &impl Fn(&mut String, Option<&mut EndState>)) -> Validated {
        fn all(branches: &mut [Branch], reword: &impl Fn(&mut String, Option<&mut EndState>)) {
            for branch in branches {
                reword(&mut branch.message, branch.end.as_deref_mut());
                all(&mut branch.branches, reword);
            }
        }
        all(&mut self.violation.branches, reword);
        self
    }

    /// The same, with the final state told differently.
    pub fn with_end(mut self, end: impl FnOnce(EndState) -> EndState) -> Validated {
        self.end = end(self.end);
        self
    }
}

/// Replays evidence and looks whether it shows that the property is violated. A finite run against a formula shows that
/// one of its expressions cannot be evaluated where it ends. Evidence about a reduced system is replayed in the original.
pub fn validate(
    system: &System,
    property: &Property,
    evidence: &Evidence,
    settings: &Settings,
    budget: &Budget,
) -> Result<Validated, Invalid> {
    in_original(system, evidence, budget, &|system, evidence| validate_in(system, property, evidence, settings, budget))
}

/// Validates evidence, about a reduced system as steps of the original.
fn in_original(
    system: &System,
    evidence: &Evidence,
    budget: &Budget,
    validate: &dyn Fn(&System, &Evidence) -> Result<Validated, Invalid>,
) -> Result<Validated, Invalid> {
    let Some(original) = &system.original else { return validate(system, evidence) };
    let told = expanded(system, original, evidence, &mut Patience::new(budget)).and_then(|told| {
        // A counter that nothing depends on may go on for ever, and so may what is computed from it.
        let mut validated = validate(&original.system, &told);
        if matches!(validated, Err(Invalid::Refuted(_))) && !original.sliced.is_empty() {
            validated = validate(&original.without_sliced(), &told);
        }
        match (validated, &original.essential) {
            (Err(Invalid::Refuted(_)), Some(essential)) => validate(essential, &told),
            (validated, _) => validated,
        }
    });
    match told {
        Err(Invalid::Refuted(why)) => match validate(system, evidence) {
            Ok(_) => Err(Invalid::Unexpanded(why)),
            Err(invalid) => Err(invalid),
        },
        told => told,
    }
}

fn validate_in(
    system: &System,
    property: &Property,
    evidence: &Evidence,
    settings: &Settings,
    budget: &Budget,
) -> Result<Validated, Invalid> {
    let fairness = settings.fairness;
    let validated = match (&property.question, evidence) {
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
                validate_with_claim(system, lasso, &acting, fairness, budget)
            } else {
                let automaton = ClaimAutomaton::claim(system, *claim).map_err(Invalid::Refuted)?;
                validate_lasso(system, lasso, LassoViolation::Claim(&automaton), fairness, budget)
            }
        }
        (Question::Ctl(temporal), Evidence::Tree(start, tree)) => {
            validate_tree(system, start.clone(), tree, temporal, false, budget)
        }
        _ => refuted("evidence of this kind shows nothing about a property of that kind".into()),
    };
    validated.map(Validated::new)
}

/// Replays a witness and looks whether it shows that the property holds: a tree of runs that makes a formula of branching
/// time true.
pub fn validate_witness(
    system: &System,
    property: &Property,
    evidence: &Evidence,
    budget: &Budget,
) -> Result<Validated, Invalid> {
    in_original(system, evidence, budget, &|system, evidence| match (&property.question, evidence) {
        (Question::Ctl(temporal), Evidence::Tree(start, tree)) => {
            validate_tree(system, start.clone(), tree, temporal, true, budget).map(Validated::new)
        }
        _ => refuted("evidence of this kind is no witness of a property of that kind".into()),
    })
}

impl Answer {
    /// The same answer with its witness.
    pub fn with_witness(self, witness: Validated) -> Answer {
        Answer { witness: Some(Box::new(witness.violation)), end: Some(witness.end), ..self }
    }

    /// The answer with its counterexample in place of what it was.
    pub(crate) fn with_counterexample(self, Validated { violation, end }: Validated) -> Answer {
        Answer { outcome: ValidOutcome::violated(violation), end: Some(end), ..self }
    }

    /// The answer where a complete search has shown that the property holds, and has found a witness. One that does not
    /// replay is an error of ours, and leaves no verdict.
    pub fn witnessed(
        system: &System,
        property: &Property,
        engine: &'static str,
        evidence: &Evidence,
        budget: &Budget,
    ) -> Answer {
        let proved = Answer::to(property, engine, Certainty::Proved);
        match validate_witness(system, property, evidence, budget) {
            Ok(witness) => proved.with_witness(witness),
            Err(Invalid::Ended(_) | Invalid::Unexpanded(_)) => proved,
            Err(Invalid::Refuted(why)) => Answer::to(property, engine, refuted_witness(&why)),
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
            Ok(validated) => Answer::refuted(property, engine, validated),
            Err(invalid) => Answer::to(property, engine, not_validated(invalid, evidence.len())),
        }
    }

    /// The answer that a validated counterexample gives.
    pub fn refuted(property: &Property, engine: &'static str, counterexample: Validated) -> Answer {
        Answer::to(property, engine, Reason::Interrupted).with_counterexample(counterexample)
    }
}
