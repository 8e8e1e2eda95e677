//! From what was found out to answers, with runs that were replayed.

use ample_logic::{Formula as Logic, Unary};
use ample_model::{Budget, Certainty, Property, Question, Reason, StartNumber, System, Temporal};

use crate::net::Net;

use super::board::{Board, Conclusion, Finding, NetRun};
use super::explanation::{Again, EvidenceFinder, moves};
use super::tasks::{Answerable, Wanted};
use ample_engine::evidence::{
    Certificate, EndState, Ending, Evidence, Invalid, Lasso, Run, Tree, Validated, certified, needs_run, validate,
    validate_witness, without_run,
};
use ample_engine::report::{Answer, ValidOutcome};
use ample_engine::settings::Settings;

/// Who answers, unless it was found in another way.
const ENGINE: &str = "explicit";

/// The answers to all properties. What is open is unknown, for that reason.
pub fn all(
    system: &System,
    net: &Net,
    properties: &[Property],
    board: &Board<'_>,
    reason: Option<&Reason>,
    budget: &Budget,
) -> Vec<Answer> {
    let unknown = || reason.cloned().unwrap_or(Reason::Interrupted);
    let mut finder = EvidenceFinder::new(net, board, budget);
    let one = |(property, wanted): (&Property, &Answerable)| match wanted {
        Answerable::Not(why) => answer(property, Reason::Unsupported(why.clone())),
        Answerable::Ended(reason) => answer(property, reason.clone()),
        Answerable::Value(task) => match board.found(*task) {
            Some(Conclusion { finding: Finding::Value(value), engine, how }) => {
                Answer { value: Some(value), engine, note: Some(by(how)), ..answer(property, Certainty::Proved) }
            }
            _ => answer(property, unknown()),
        },
        Answerable::Truth(wanted) => match board.value(wanted) {
            None => answer(property, unknown()),
            Some(true) => with_source(holds(system, property, &mut finder), wanted, board),
            Some(false) => with_source(violated(system, property, wanted, &mut finder), wanted, board),
        },
    };
    properties.iter().zip(board.wanted).map(one).collect()
}

fn by(how: &str) -> String {
    format!("by {how}")
}

fn answer(property: &Property, outcome: impl Into<ValidOutcome>) -> Answer {
    Answer::to(property, ENGINE, outcome)
}

/// Says which engine found it and how, if it was one finding that decides.
fn with_source(answer: Answer, wanted: &Wanted, board: &Board<'_>) -> Answer {
    if let Wanted::Proved(_) = wanted {
        let note = answer.note.clone().or_else(|| Some(by("the state equation")));
        return Answer { note, ..answer };
    }
    let task = match wanted {
        Wanted::Task(task) => Some(*task),
        Wanted::Not(inner) => match &**inner {
            Wanted::Task(task) => Some(*task),
            _ => None,
        },
        _ => None,
    };
    match task.and_then(|task| board.found(task)) {
        Some(found) => {
            let note = answer.note.clone().or_else(|| Some(by(found.how)));
            Answer { engine: found.engine, note, ..answer }
        }
        None => answer,
    }
}

/// A counterexample or witness that was validated, or how that failed.
type Validation = Result<Validated, Invalid>;

/// Runs that make a formula of branching time true are shown.
fn holds(system: &System, property: &Property, finder: &mut EvidenceFinder<'_, '_>) -> Answer {
    let proved = answer(property, Certainty::Proved);
    let Question::Ctl(temporal) = &property.question else { return proved };
    let Some(tree) = finder.explain(temporal, true) else { return proved };
    let evidence = Evidence::Tree(StartNumber::default(), tree.clone());
    match validate_witness(system, property, &evidence, finder.budget()) {
        Ok(witness) => {
            let message =
                if is_short(&tree) { "a marking that satisfies it is reached" } else { "it holds at the start" };
            proved.with_witness(in_brief(witness.with_message(|long| brief(long, message))))
        }
        Err(Invalid::Refuted(why)) => refuted(property, length(&tree), &why),
        Err(Invalid::Ended(_) | Invalid::Unexpanded(_)) => proved,
    }
}

/// It was looked at to its end: one run without a cycle, and nothing else.
fn is_short(tree: &Tree) -> bool {
    tree.cycle.is_empty() && !tree.stutters && tree.branches.is_empty()
}

fn length(tree: &Tree) -> usize {
    tree.prefix.len() + tree.cycle.len()
}

/// The one process that a net is in the model is nothing that its user knows.
fn plain(end: EndState) -> EndState {
    EndState { processes: Vec::new(), ..end }
}

/// The formula in the words of the model may be very long: a coloured transition stands for thousands.
fn brief(message: String, instead: &str) -> String {
    const LONG: usize = 200;
    if message.len() > LONG { instead.to_owned() } else { message }
}

fn in_brief(shown: Validated) -> Validated {
    let reword = |message: &mut String, end: Option<&mut EndState>| {
        *message = brief(std::mem::take(message), "a part of the formula, from there on");
        if let Some(end) = end {
            end.processes.clear();
        }
    };
    shown.with_branches(&reword).with_end(plain)
}

fn refuted(property: &Property, length: usize, why: &str) -> Answer {
    answer(property, Reason::Internal(format!("the run of {length} steps does not replay ({why})")))
}

fn violated(system: &System, property: &Property, wanted: &Wanted, finder: &mut EvidenceFinder<'_, '_>) -> Answer {
    let (validated, length, may_fail) = match &property.question {
        Question::Ctl(temporal) => match branching(system, property, temporal, finder) {
            Some((validated, length)) => (Some(validated), length, false),
            None => (None, 0, false),
        },
        _ => match finder.against(wanted) {
            Some((run, may_fail)) => {
                let length = run.prefix.len() + run.cycle.len();
                if !may_fail && !finder.can_tell(length) {
                    return without_steps(property, &run, finder);
                }
                (validated_run(system, property, &run, finder.budget()), length, may_fail)
            }
            None => (None, 0, false),
        },
    };
    match validated {
        Some(Ok(validated)) => Answer::refuted(property, ENGINE, in_brief(validated)),
        Some(Err(Invalid::Refuted(why))) if !may_fail => refuted(property, length, &why),
        Some(Err(_)) | None if is_certified(wanted) => answer(property, certified(&StateEquation(wanted))),
        Some(Err(_)) | None => explained_again(system, property, finder)
            .unwrap_or_else(|| answer(property, without_run(&property.question, "by complete search"))),
    }
}

/// The verdict with a counterexample that is looked for anew, where there has to be one.
fn explained_again(system: &System, property: &Property, finder: &mut EvidenceFinder<'_, '_>) -> Option<Answer> {
    let (Question::Ltl(temporal) | Question::Ctl(temporal)) = &property.question else { return None };
    if !needs_run(&property.question) {
        return None;
    }
    let validated = match finder.look_again(temporal)? {
        Again::Run(run) => validated_run(system, property, &run, finder.budget())?.ok()?,
        Again::Tree(tree) => validated_tree(system, property, tree, finder.budget()).ok()?,
    };
    Some(Answer::refuted(property, ENGINE, in_brief(validated)))
}

/// Part of the answer follows from the structure of the net, which leaves no run behind.
fn is_certified(wanted: &Wanted) -> bool {
    match wanted {
        Wanted::Proved(_) => true,
        Wanted::Const(_) | Wanted::Task(_) => false,
        Wanted::Not(inner) => is_certified(inner),
        Wanted::All(parts) | Wanted::Any(parts) => parts.iter().any(is_certified),
    }
}

/// A run that is too long to be shown step by step was performed on the net only.
fn without_steps(property: &Property, run: &NetRun, finder: &EvidenceFinder<'_, '_>) -> Answer {
    answer(property, certified(&LongRun { run, finder }))
}

/// Multipliers that refute the state equation. They were checked in whole numbers when they were found: a `Wanted::Proved`
/// comes from nothing else.
struct StateEquation<'a>(&'a Wanted);

impl Certificate for StateEquation<'_> {
    fn message(&self) -> String {
        "the state equation refutes it: no marking that it needs is reachable".into()
    }

    fn verify(&self) -> Result<(), String> {
        if is_certified(self.0) { Ok(()) } else { Err("no multipliers refute it".into()) }
    }
}

/// A firing sequence of the net.
struct LongRun<'a, 'f, 'n> {
    run: &'a NetRun,
    finder: &'a EvidenceFinder<'f, 'n>,
}

impl Certificate for LongRun<'_, '_, '_> {
    fn message(&self) -> String {
        format!("a run of {} steps shows it, too long to be shown", self.run.prefix.len() + self.run.cycle.len())
    }

    fn verify(&self) -> Result<(), String> {
        if self.finder.is_run(self.run) { Ok(()) } else { Err("a step is not executable".into()) }
    }
}

/// Replays a run against a property that is not of branching time.
fn validated_run(system: &System, property: &Property, run: &NetRun, budget: &Budget) -> Option<Validation> {
    let start = StartNumber::default();
    let evidence = match &property.question {
        Question::Deadlock | Question::Invariant(_) => Evidence::Run(Run { start, moves: moves(&run.prefix) }),
        Question::Ltl(_) => {
            let ending = match (run.open, run.cycle.is_empty()) {
                (true, _) => Ending::Open,
                (false, true) => Ending::Stutter,
                (false, false) => Ending::Cycle,
            };
            let (prefix, cycle) = (moves(&run.prefix), moves(&run.cycle));
            let (prefix_tags, cycle_tags) = (Vec::new(), Vec::new());
            Evidence::Lasso(Lasso { start, prefix, cycle, ending, prefix_tags, cycle_tags })
        }
        _ => return None,
    };
    Some(validate(system, property, &evidence, &Settings::default(), budget))
}

/// Replays a tree of runs.
fn validated_tree(system: &System, property: &Property, tree: Tree, budget: &Budget) -> Validation {
    let evidence = Evidence::Tree(StartNumber::default(), tree);
    validate(system, property, &evidence, &Settings::default(), budget)
}

/// Replays what shows that a formula of branching time does not hold; and how long it was.
fn branching(
    system: &System,
    property: &Property,
    temporal: &Temporal,
    finder: &mut EvidenceFinder<'_, '_>,
) -> Option<(Validation, usize)> {
    let tree = finder.explain(temporal, false)?;
    let always = is_short(&tree) && is_always(&tree.formula);
    let validated = validated_tree(system, property, tree.clone(), finder.budget()).map(|shown| {
        shown.with_message(|message| match always {
            true => "a marking in which it fails is reached".to_owned(),
            false => brief(message, "it does not hold at the start"),
        })
    });
    Some((validated, length(&tree)))
}

/// It is `AG` of something.
fn is_always(formula: &Logic) -> bool {
    let Logic::Unary(Unary::All, path) = formula else { return false };
    matches!(&**path, Logic::Unary(Unary::Globally, _))
}
