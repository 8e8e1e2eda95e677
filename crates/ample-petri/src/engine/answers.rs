//! From what was found out to answers, with runs that were replayed.

use ample_logic::{Formula as Logic, Unary};
use ample_model::{
    Branch, Budget, Certainty, Outcome, Property, Question, Reason, StartNumber, System, Temporal, Trace, Violation,
};

use crate::net::Net;

use super::board::{Board, Conclusion, Finding, NetRun};
use super::explanation::{Again, EvidenceFinder, moves};
use super::tasks::{Answerable, Wanted};
use ample_engine::evidence::{
    EndState, Ending, Evidence, Invalid, Lasso, Run, Tree, needs_run, validate, validate_witness, without_run,
};
use ample_engine::report::Answer;
use ample_engine::settings::Settings;

/// The answers to all properties. What is open is unknown, for that reason.
pub fn all(
    system: &System,
    net: &Net,
    properties: &[Property],
    board: &Board<'_>,
    reason: Option<&Reason>,
    budget: &Budget,
) -> Vec<Answer> {
    let unknown = || Outcome::Unknown(reason.cloned().unwrap_or(Reason::Interrupted));
    let mut finder = EvidenceFinder::new(net, board, budget);
    let one = |(property, wanted): (&Property, &Answerable)| match wanted {
        Answerable::Not(why) => answer(property, Outcome::Unknown(Reason::Unsupported(why.clone()))),
        Answerable::Ended(reason) => answer(property, Outcome::Unknown(reason.clone())),
        Answerable::Value(task) => match board.found(*task) {
            Some(Conclusion { finding: Finding::Value(value), engine, how }) => {
                let outcome = Outcome::Holds(Certainty::Proved);
                Answer { value: Some(value), engine, note: Some(by(how)), ..answer(property, outcome) }
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

fn answer(property: &Property, outcome: Outcome) -> Answer {
    Answer::to(property, "explicit", outcome)
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
type Validated = Result<(Violation, EndState), Invalid>;

/// Runs that make a formula of branching time true are shown.
fn holds(system: &System, property: &Property, finder: &mut EvidenceFinder<'_, '_>) -> Answer {
    let proved = answer(property, Outcome::Holds(Certainty::Proved));
    let Question::Ctl(temporal) = &property.question else { return proved };
    let Some(tree) = finder.explain(temporal, true) else { return proved };
    let evidence = Evidence::Tree(StartNumber::default(), tree.clone());
    match validate_witness(system, property, &evidence, finder.budget()) {
        Ok((violation, end)) => {
            let message =
                if is_short(&tree) { "a marking that satisfies it is reached" } else { "it holds at the start" };
            let witness = Violation { message: brief(violation.message, message), ..violation };
            let witness = Some(Box::new(with_brief_branches(witness)));
            Answer { witness, end: Some(plain(end)), ..proved }
        }
        Err(Invalid::Refuted(why)) => refuted(property, length(&tree), &why),
        Err(Invalid::Ended(_)) => proved,
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

fn with_brief_branches(violation: Violation) -> Violation {
    fn all(branches: Vec<Branch>) -> Vec<Branch> {
        let one = |branch: Branch| {
            let message = brief(branch.message, "a part of the formula, from there on");
            let end = branch.end.map(|end| Box::new(plain(*end)));
            Branch { message, branches: all(branch.branches), end, ..branch }
        };
        branches.into_iter().map(one).collect()
    }
    let branches = all(violation.branches);
    Violation { branches, ..violation }
}

fn refuted(property: &Property, length: usize, why: &str) -> Answer {
    let why = format!("internal error: the run of {length} steps does not replay ({why})");
    answer(property, Outcome::Unknown(Reason::Unsupported(why)))
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
        Some(Ok((violation, end))) => {
            let outcome = Outcome::Violated(Box::new(with_brief_branches(violation)));
            Answer { end: Some(plain(end)), ..answer(property, outcome) }
        }
        Some(Err(Invalid::Refuted(why))) if !may_fail => refuted(property, length, &why),
        // The certificate of the state equation has been checked, in whole numbers.
        Some(Err(_)) | None if is_certified(wanted) => {
            let message = "the state equation refutes it: no marking that it needs is reachable".to_owned();
            let violation = Violation { message, trace: Trace::default(), branches: Vec::new() };
            answer(property, Outcome::Violated(Box::new(violation)))
        }
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
    let (violation, end) = match finder.look_again(temporal)? {
        Again::Run(run) => validated_run(system, property, &run, finder.budget())?.ok()?,
        Again::Tree(tree) => validated_tree(system, property, tree, finder.budget()).ok()?,
    };
    let outcome = Outcome::Violated(Box::new(with_brief_branches(violation)));
    Some(Answer { end: Some(plain(end)), ..answer(property, outcome) })
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
    let length = run.prefix.len() + run.cycle.len();
    if !finder.is_run(run) {
        return refuted(property, length, "a step is not executable");
    }
    let message = format!("a run of {length} steps shows it, too long to be shown");
    let violation = Violation { message, trace: Trace::default(), branches: Vec::new() };
    answer(property, Outcome::Violated(Box::new(violation)))
}

/// Replays a run against a property that is not of branching time.
fn validated_run(system: &System, property: &Property, run: &NetRun, budget: &Budget) -> Option<Validated> {
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
fn validated_tree(system: &System, property: &Property, tree: Tree, budget: &Budget) -> Validated {
    let evidence = Evidence::Tree(StartNumber::default(), tree);
    validate(system, property, &evidence, &Settings::default(), budget)
}

/// Replays what shows that a formula of branching time does not hold; and how long it was.
fn branching(
    system: &System,
    property: &Property,
    temporal: &Temporal,
    finder: &mut EvidenceFinder<'_, '_>,
) -> Option<(Validated, usize)> {
    let tree = finder.explain(temporal, false)?;
    let validated = validated_tree(system, property, tree.clone(), finder.budget()).map(|(violation, end)| {
        let always = is_short(&tree) && is_always(&tree.formula);
        let message = if always {
            "a marking in which it fails is reached".to_owned()
        } else {
            brief(violation.message, "it does not hold at the start")
        };
        (Violation { message, ..violation }, end)
    });
    Some((validated, length(&tree)))
}

/// It is `AG` of something.
fn is_always(formula: &Logic) -> bool {
    let Logic::Unary(Unary::All, path) = formula else { return false };
    matches!(&**path, Logic::Unary(Unary::Globally, _))
}
