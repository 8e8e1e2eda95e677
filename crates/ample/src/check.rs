//! Checking: properties in, a [`Report`] out, whichever engine does the work.

use ample_model::{Certainty, Observer, Outcome, Property, Question, Reason, System};

use crate::evidence::{Claim, Unconfirmed, confirm};
use crate::explicit::{self, Found, Request, Run};
use crate::report::{Answer, Report};

/// Who does the work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// Whoever suits the model.
    #[default]
    Auto,
    /// Explicit-state search.
    Explicit,
}

/// The order in which states are visited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Search {
    /// Breadth first up to about a million states or a quarter of the memory; after that again from the
    /// start depth first, which finds the deep violations of large models.
    #[default]
    Auto,
    /// Breadth first: counterexamples are as short as can be.
    BreadthFirst,
    /// Depth first: less memory per state.
    DepthFirst,
}

/// Which runs a temporal property is asked about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fairness {
    /// All.
    #[default]
    None,
    /// Those on which every process that is executable from some moment on without a break moves again and again, as
    /// with Spin's `-f`.
    Weak,
    /// Those on which every action that is executable again and again is taken again and again. An action is a
    /// statement of one process, or a handshake of two.
    Strong,
}

/// How to look for an endless run that violates a property.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Emptiness {
    /// The one that suits the property.
    #[default]
    Auto,
    /// By strongly connected components, in one pass, for any acceptance and fairness.
    Components,
    /// By nested depth-first search, with two bits for each state; without fairness only.
    Nested,
}

/// What to check, and how.
#[derive(Clone, Debug, Default)]
pub struct CheckOptions {
    /// Who does the work.
    pub engine: Engine,
    /// What to check; `None` is [all that the model states](stated).
    pub properties: Option<Vec<Property>>,
    /// The order of the search.
    pub search: Search,
    /// Which runs count for temporal properties.
    pub fairness: Fairness,
    /// How endless runs are found.
    pub emptiness: Emptiness,
    /// States that many steps from the start are not expanded.
    pub max_depth: Option<u64>,
    /// Bytes that the search may take. An [`Observer`] can watch over the rest of the process.
    pub memory_limit: Option<u64>,
    /// End at the first violation, whatever it is of.
    pub stop_at_first: bool,
}

/// All that a model states: its assertions, the absence of deadlocks, and the properties in its text.
pub fn stated(system: &System) -> Vec<Property> {
    let mut properties = vec![Property::assertions(), Property::deadlock()];
    properties.extend(system.properties.iter().cloned());
    properties
}

/// Checks a model. The observer is told of the progress, and may end the search.
///
/// ```
/// use ample::{CheckOptions, Silent, Verdict};
///
/// let model = ample::load_text("m.pml", "active proctype P() { assert(1 + 1 == 3) }".into(), &Default::default())?;
/// let report = ample::check(&model.system, &CheckOptions::default(), &mut Silent);
/// assert_eq!(report.answer("assertions").unwrap().verdict(), Verdict::Violated);
/// assert_eq!(report.answer("deadlock").unwrap().verdict(), Verdict::Holds);
/// # Ok::<(), ample::LoadError>(())
/// ```
pub fn check(system: &System, options: &CheckOptions, observer: &mut dyn Observer) -> Report {
    let properties = options.properties.clone().unwrap_or_else(|| stated(system));
    let mut request = Request::default();
    for property in &properties {
        match &property.question {
            Question::Deadlock => request.deadlock = true,
            Question::Assertions => request.assertions = true,
            Question::Invariant(condition) => request.invariants.push(condition.clone()),
            _ => {}
        }
    }
    if request.is_empty() {
        let answers = properties.iter().map(|property| answer(property, liveness(property))).collect();
        return report(system, answers, Run::default());
    }
    let run = explicit::run(system, &request, options, observer);
    let mut invariants = 0;
    let mut answers = Vec::new();
    for property in &properties {
        let (found, claim) = match &property.question {
            Question::Deadlock => (&run.deadlock, Claim::Deadlock),
            Question::Assertions => (&run.assertions, Claim::Assertion),
            Question::Invariant(condition) => {
                invariants += 1;
                (run.invariants.get(invariants - 1).unwrap_or(&None), Claim::Invariant(condition))
            }
            _ => {
                answers.push(answer(property, liveness(property)));
                continue;
            }
        };
        answers.push(match found {
            Some(found) => violated(system, property, found, claim, observer),
            None => answer(property, undisturbed(&run, options)),
        });
    }
    report(system, answers, run)
}

/// Builds the whole state space and counts it; nothing is checked.
///
/// ```
/// use ample::{CheckOptions, Silent};
///
/// let text = "byte x; active [2] proctype P() { x++ }";
/// let model = ample::load_text("m.pml", text.into(), &Default::default())?;
/// let report = ample::states(&model.system, &CheckOptions::default(), &mut Silent);
/// assert!(report.ended.is_none());
/// assert_eq!(report.statistics.states, 7);
/// # Ok::<(), ample::LoadError>(())
/// ```
pub fn states(system: &System, options: &CheckOptions, observer: &mut dyn Observer) -> Report {
    report(system, Vec::new(), explicit::run(system, &Request::default(), options, observer))
}

fn report(system: &System, answers: Vec<Answer>, run: Run) -> Report {
    Report {
        model: system.name.clone(),
        language: system.language.clone(),
        answers,
        ended: run.ended,
        statistics: run.statistics,
    }
}

fn answer(property: &Property, outcome: Outcome) -> Answer {
    Answer { property: property.id(), formula: property.text.clone(), outcome, engine: "explicit", end: None }
}

/// The answer where no violation was found.
fn undisturbed(run: &Run, options: &CheckOptions) -> Outcome {
    match &run.ended {
        Some(reason) => Outcome::Unknown(reason.clone()),
        None if options.stop_at_first && run.found_something() => {
            Outcome::Unknown(Reason::Unsupported("the search stopped at the first violation".into()))
        }
        None => Outcome::Holds(Certainty::Proved),
    }
}

fn violated(
    system: &System,
    property: &Property,
    found: &Found,
    claim: Claim<'_>,
    observer: &mut dyn Observer,
) -> Answer {
    match confirm(system, found.start, &found.moves, claim, observer) {
        Ok((violation, end)) => Answer { end: Some(end), ..answer(property, Outcome::Violated(Box::new(violation))) },
        Err(Unconfirmed::Ended(reason)) => {
            let why =
                format!("a violation was found, but {reason} before its {} steps were replayed", found.moves.len());
            answer(property, Outcome::Unknown(Reason::Unsupported(why)))
        }
        Err(Unconfirmed::Refuted(why)) => {
            let why = format!(
                "internal error: the counterexample does not replay ({why}); \
                 this is a bug in ample, please report it with the model"
            );
            answer(property, Outcome::Unknown(Reason::Unsupported(why)))
        }
    }
}

fn liveness(property: &Property) -> Outcome {
    let kind = if matches!(property.question, Question::Never(_)) { "a never claim" } else { "an LTL formula" };
    Outcome::Unknown(Reason::Unsupported(format!("{kind} is not checked yet; liveness comes with a later version")))
}
