//! Synchronous systems that say themselves which runs count: just and compassionate ones, infinite ones, and what
//! properties observe of their steps.
//!
//! Properties of linear time get premises. In branching time the formula says where a path that counts goes on, and engines
//! take `EG` for that of just and infinite paths.

use std::time::{Duration, Instant};

use ample_engine::board::Board;
use ample_engine::justice;
use ample_engine::report::{Answer, Report, Verdict};
use ample_logic::Formula;
use ample_model::observe::{observe, observes_steps};
use ample_model::{Distance, Property, Question, Synchronous, System, Temporal};

use crate::check::{CheckOptions, check_all};
use crate::groups;
use crate::simulate::first_start;

/// Checks properties of such a system; `None` if it is none.
pub(crate) fn check(system: &System, properties: &[Property], options: &CheckOptions, board: &Board) -> Option<Report> {
    let begun = Instant::now();
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
        warn(&mut report, system, properties, options, begun.elapsed());
        return Some(report);
    }
    // What is observed for a property of linear time would be wrong for one of branching time.
    let mut report = groups::check(&[others, observing], properties, board, |asked, board| {
        check_group(system, asked, options, board)
    });
    warn(&mut report, system, properties, options, begun.elapsed());
    Some(report)
}

/// So long it is asked which runs count, and such a part of the time that the check took.
const TIME: Duration = Duration::from_millis(500);
const TIME_SHARE: u32 = 10;

/// Says where properties hold, or do not, because few runs count: without an initial state or a run that counts
/// everything holds, and what ends in a deadlock does not count.
fn warn(report: &mut Report, system: &System, asked: &[Property], options: &CheckOptions, took: Duration) {
    if options.no_vacuity || options.budget.check().is_err() {
        return;
    }
    let is_empty = report.ended.is_none()
        && report.statistics.states == 0
        && first_start(system, &options.budget).is_ok_and(|start| start.is_none());
    if is_empty {
        report.answers.iter_mut().for_each(|answer| answer.warnings.push("vacuous: there is no initial state".into()));
        return;
    }
    let is_about_runs = |(answer, property): (&Answer, &Property)| {
        matches!(property.question, Question::Ltl(_) | Question::Ctl(_) | Question::Distance(_))
            && answer.verdict() != Verdict::Unknown
    };
    if !report.answers.iter().zip(asked).any(is_about_runs) {
        return;
    }
    let warnings = warnings(system, options, took);
    for (answer, property) in report.answers.iter_mut().zip(asked) {
        if is_about_runs((answer, property)) {
            answer.warnings.extend(warnings.iter().cloned());
        }
    }
}

/// What there is to say of the runs that count, if that is found out soon enough.
fn warnings(system: &System, options: &CheckOptions, took: Duration) -> Vec<String> {
    let budget = options.budget.clone().without_sinks().with_time(TIME + took / TIME_SHARE);
    let options = CheckOptions { no_vacuity: true, board: None, budget, properties: None, ..options.clone() };
    let says = |property: Property, verdict: Verdict| {
        let properties = [property];
        let report = check_group(system, &properties, &options, &Board::of(&properties));
        report.answers.iter().all(|answer| answer.verdict() == verdict)
    };
    let nothing = Temporal { formula: Formula::False, atoms: Vec::new() };
    let none = Property { question: Question::Ltl(nothing), name: "runs".into(), ..Property::deadlock() };
    let mut warnings = Vec::new();
    if says(none, Verdict::Holds) {
        warnings.push("vacuous: no run counts, since no initial state is a fair state".into());
    }
    let ends = system.synchronous().is_some_and(|parts| parts.infinite_runs);
    if ends && says(Property::deadlock(), Verdict::Violated) {
        warnings.push("the transition relation is not total: runs that end in a deadlock do not count".into());
    }
    warnings
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
        Question::Distance(distance) if parts.infinite_runs || !options.justice.is_empty() => {
            let [from, to] = [&distance.from, &distance.to].map(justice::with_counted_paths);
            Property { question: Question::Distance(Distance { from, to, ..distance.clone() }), ..property.clone() }
        }
        Question::Ltl(_) => justice::with_compassion(property, &parts.compassion),
        _ => property.clone(),
    }
}
