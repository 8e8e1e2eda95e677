//! Synchronous systems that say themselves which runs count: just and compassionate ones, infinite ones, and what
//! properties observe of their steps.
//!
//! Properties of linear time get premises. In branching time the formula says where a path that counts goes on, and engines
//! take `EG` for that of just and infinite paths.

use ample_engine::board::Board;
use ample_engine::justice;
use ample_engine::report::Report;
use ample_model::observe::{observe, observes_steps};
use ample_model::{Property, Question, Synchronous, System, Temporal};

use crate::check::{CheckOptions, check_all};
use crate::groups;
use crate::simulate::first_start;

/// Checks properties of such a system; `None` if it is none.
pub(crate) fn check(system: &System, properties: &[Property], options: &CheckOptions, board: &Board) -> Option<Report> {
    let parts = system.synchronous()?;
    let is_just = !parts.justice.is_empty() || !options.justice.is_empty();
    let plain = !is_just && parts.compassion.is_empty() && !parts.infinite_runs;
    let (observing, others): (Vec<usize>, Vec<usize>) =
        (0..properties.len()).partition(|number| observes_steps(system, &properties[*number]));
    if plain && observing.is_empty() {
        return None;
    }
    if observing.is_empty() {
        let mut report = check_group(system, properties, options, board);
        warn_if_empty(&mut report, system, options);
        return Some(report);
    }
    // What is observed for a property of linear time would be wrong for one of branching time.
    let mut report = groups::check(&[others, observing], properties, board, |asked, board| {
        check_group(system, asked, options, board)
    });
    warn_if_empty(&mut report, system, options);
    Some(report)
}

/// Without an initial state everything holds.
fn warn_if_empty(report: &mut Report, system: &System, options: &CheckOptions) {
    let is_empty = report.ended.is_none()
        && report.statistics.states == 0
        && first_start(system, &options.budget).is_ok_and(|start| start.is_none());
    for answer in report.answers.iter_mut().filter(|_| is_empty && !options.no_vacuity) {
        answer.warnings.push("vacuous: there is no initial state".into());
    }
}

fn check_group(system: &System, asked: &[Property], options: &CheckOptions, board: &Board) -> Report {
    let observed = observe(system, asked);
    let (system, properties) = match &observed {
        Some((system, properties)) => (system, &properties[..]),
        None => (system, asked),
    };
    let Some(parts) = system.synchronous() else { return check_all(system, asked, options, board) };
    let mut options = options.clone();
    let by_option = !options.justice.is_empty();
    options.justice.extend(parts.justice.iter().cloned());
    let counted: Vec<Property> = properties.iter().map(|property| counted(property, parts, &options)).collect();
    let mut report = check_all(system, &justice::under(&counted, &options.justice), &options, board);
    if by_option {
        justice::tell(&mut report, asked);
    } else {
        justice::rename(&mut report, asked);
    }
    report
}

/// The property with what it takes for a run to count.
fn counted(property: &Property, parts: &Synchronous, options: &CheckOptions) -> Property {
    match &property.question {
        Question::Ctl(Temporal { formula, atoms }) if parts.infinite_runs || !options.justice.is_empty() => {
            // A language that says itself which runs count asks nothing of a state from which none begins.
            let formula = match parts.infinite_runs || !parts.justice.is_empty() {
                true => justice::over_counted_paths(formula),
                false => justice::with_counted_paths(formula),
            };
            Property { question: Question::Ctl(Temporal { formula, atoms: atoms.clone() }), ..property.clone() }
        }
        Question::Ltl(_) => justice::with_compassion(property, &parts.compassion),
        _ => property.clone(),
    }
}
