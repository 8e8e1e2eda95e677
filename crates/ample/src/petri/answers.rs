//! From what was found out to answers, with runs that were replayed.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use ample_logic::{Formula as Logic, Unary};
use ample_model::{Certainty, EdgeId, Move, Observer, Outcome, Property, Question, Reason, System, Trace, Violation};

use ample_petri::net::Net;

use super::board::{Board, Finding, Found, NetRun};
use super::tasks::{Answerable, Wanted};
use crate::check::Fairness;
use crate::evidence::{Charge, Claim, EndState, Unconfirmed, confirm, confirm_run, confirm_tree};
use crate::explicit::branching::Tree;
use crate::explicit::liveness::{Ending, Run};
use crate::report::Answer;
use crate::temporal::Numbered;

/// The answers to all properties. What is open is unknown, for that reason.
pub fn all(
    system: &System,
    net: &Net,
    properties: &[Property],
    board: &Board<'_>,
    reason: Option<&Reason>,
    observer: &mut dyn Observer,
) -> Vec<Answer> {
    let unknown = || Outcome::Unknown(reason.cloned().unwrap_or(Reason::Interrupted));
    let one = |(property, wanted): (&Property, &Answerable)| match wanted {
        Answerable::Not(why) => answer(property, Outcome::Unknown(Reason::Unsupported(why.clone()))),
        Answerable::Value(task) => match board.found(*task) {
            Some(Found { finding: Finding::Value(value), engine, how }) => {
                let outcome = Outcome::Holds(Certainty::Proved);
                Answer { value: Some(value), engine, note: Some(by(how)), ..answer(property, outcome) }
            }
            _ => answer(property, unknown()),
        },
        Answerable::Truth(wanted) => match board.value(wanted) {
            None => answer(property, unknown()),
            Some(true) => with_source(answer(property, Outcome::Holds(Certainty::Proved)), wanted, board),
            Some(false) => with_source(violated((system, net), property, wanted, board, observer), wanted, board),
        },
    };
    properties.iter().zip(board.wanted).map(one).collect()
}

fn by(how: &str) -> String {
    format!("by {how}")
}

fn answer(property: &Property, outcome: Outcome) -> Answer {
    Answer {
        property: property.id(),
        formula: property.text.clone(),
        outcome,
        engine: "explicit",
        value: None,
        end: None,
        note: None,
        statistics: None,
        reduction: None,
    }
}

/// Says which engine found it and how, if it was one finding that decides.
fn with_source(answer: Answer, wanted: &Wanted, board: &Board<'_>) -> Answer {
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

/// A run that shows that what was wanted is not so.
fn witness(wanted: &Wanted, board: &Board<'_>) -> Option<NetRun> {
    match wanted {
        Wanted::Const(_) => Some(NetRun::to(Vec::new())),
        Wanted::Task(task) => match board.found(*task)?.finding {
            Finding::Truth(false, run) => run,
            _ => None,
        },
        Wanted::Not(inner) => match &**inner {
            Wanted::Task(task) => match board.found(*task)?.finding {
                Finding::Truth(true, run) => run,
                _ => None,
            },
            _ => None,
        },
        Wanted::All(parts) => {
            let wrong = parts.iter().filter(|part| board.value(part) == Some(false));
            wrong.filter_map(|part| witness(part, board)).next()
        }
        Wanted::Any(_) => None,
    }
}

fn violated(
    (system, net): (&System, &Net),
    property: &Property,
    wanted: &Wanted,
    board: &Board<'_>,
    observer: &mut dyn Observer,
) -> Answer {
    let run = witness(wanted, board).map(|run| shortened(net, run));
    let shown = match (&property.question, &run) {
        (Question::Deadlock, Some(run)) => Some(confirm(system, 0, &moves(&run.prefix), Claim::Deadlock, observer)),
        (Question::Invariant(expr), Some(run)) => {
            Some(confirm(system, 0, &moves(&run.prefix), Claim::Invariant(expr), observer))
        }
        (Question::Ltl(formula), Some(run)) => {
            let numbered = Numbered::of(formula);
            let ending = match (run.open, run.cycle.is_empty()) {
                (true, _) => Ending::Open,
                (false, true) => Ending::Stutter,
                (false, false) => Ending::Cycle,
            };
            let run = Run {
                start: 0,
                prefix: moves(&run.prefix),
                cycle: moves(&run.cycle),
                ending,
                prefix_tags: Vec::new(),
                cycle_tags: Vec::new(),
            };
            Some(confirm_run(system, &run, Charge::Formula(&numbered), Fairness::None, observer))
        }
        (Question::Ctl(formula), Some(run)) => {
            // The formula in the words of the model may be very long: a coloured transition stands for thousands.
            let message = "a marking in which it fails is reached".to_owned();
            always(system, &Numbered::of(formula), run)
                .map(|shown| shown.map(|(violation, end)| (Violation { message, ..violation }, end)))
        }
        _ => None,
    };
    match shown {
        Some(Ok((violation, mut end))) => {
            // The one process that a net is in the model is nothing that its user knows.
            end.processes.clear();
            Answer { end: Some(end), ..answer(property, Outcome::Violated(Box::new(violation))) }
        }
        Some(Err(Unconfirmed::Refuted(why))) => {
            let length = run.map_or(0, |run| run.prefix.len() + run.cycle.len());
            let why = format!("internal error: the counterexample of {length} steps does not replay ({why})");
            answer(property, Outcome::Unknown(Reason::Unsupported(why)))
        }
        Some(Err(Unconfirmed::Ended(_))) | None => {
            let message = "false at the start; no single run is shown".to_owned();
            let violation = Violation { message, trace: Trace::default(), branches: Vec::new() };
            answer(property, Outcome::Violated(Box::new(violation)))
        }
    }
}

/// How long a shorter run is looked for.
const FOR_SHORTER: Duration = Duration::from_millis(500);
/// Shorter ones are short enough.
const SHORT: usize = 12;

/// A run to a marking without detours: where it comes back to a marking, what is between is left out.
fn shortened(net: &Net, run: NetRun) -> NetRun {
    if !run.cycle.is_empty() || run.prefix.len() <= SHORT {
        return run;
    }
    let begun = Instant::now();
    let mut seen: HashMap<Vec<u64>, usize> = HashMap::from([(net.initial(), 0)]);
    let mut prefix: Vec<u32> = Vec::new();
    let mut markings = vec![net.initial()];
    for number in &run.prefix {
        let last = &markings[markings.len() - 1];
        let after =
            net.transitions.get(*number as usize).filter(|one| one.is_enabled(last)).and_then(|one| one.fire(last));
        let Some(after) = after else { return run };
        if begun.elapsed() > FOR_SHORTER {
            return run;
        }
        if let Some(before) = seen.get(&after).copied() {
            for marking in markings.drain(before + 1..) {
                seen.remove(&marking);
            }
            prefix.truncate(before);
        } else {
            prefix.push(*number);
            seen.insert(after.clone(), prefix.len());
            markings.push(after);
        }
    }
    NetRun { prefix, ..run }
}

/// `AG p` is wrong at the end of a run.
fn always(system: &System, numbered: &Numbered, run: &NetRun) -> Option<Result<(Violation, EndState), Unconfirmed>> {
    let Logic::Unary(Unary::All, path) = &numbered.formula else { return None };
    let Logic::Unary(Unary::Globally, inner) = &**path else { return None };
    if !is_plain(inner) {
        return None;
    }
    let tree = Tree {
        formula: numbered.formula.clone(),
        holds: false,
        prefix: moves(&run.prefix),
        cycle: Vec::new(),
        stutters: false,
        branches: Vec::new(),
    };
    Some(confirm_tree(system, 0, &tree, numbered))
}

fn is_plain(formula: &Logic) -> bool {
    match formula {
        Logic::True | Logic::False | Logic::Atom(_) => true,
        Logic::Unary(Unary::Not, f) => is_plain(f),
        Logic::Unary(..) => false,
        Logic::Binary(op, f, g) => {
            use ample_logic::Binary::{And, Iff, Implies, Or, Xor};
            matches!(op, And | Or | Implies | Iff | Xor) && is_plain(f) && is_plain(g)
        }
    }
}

/// Transitions as moves of the system's only process.
fn moves(transitions: &[u32]) -> Vec<Move> {
    transitions.iter().map(|transition| Move { process: 0, edge: EdgeId(*transition), partner: None }).collect()
}
