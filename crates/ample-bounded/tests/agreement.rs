//! The bounded engine beside a breadth-first search by the reference interpreter, on random systems: the same verdicts,
//! and counterexamples of the same length.

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use ample_bounded::engine::{Bounded, Method};
use ample_budget::Budget;
use ample_engine::board::Board;
use ample_engine::engine::{Engine, Task};
use ample_engine::report::{Answer, Report, Verdict};
use ample_engine::settings::Settings;
use ample_lang::promela::{self, preprocess::FileLoader};
use ample_model::random::{self, Features};
use ample_model::{
    BinaryOp, Certainty, Expr, Interpreter, Outcome, Place, Property, Question, Reason, Scope, State, System,
    VariableId,
};

/// Systems with more states are left out.
const MOST: usize = 2000;

/// What a complete search has found: the lengths of shortest runs, where there are some.
#[derive(Default)]
struct Expected {
    deadlock: Option<usize>,
    violation: Option<usize>,
    invariants: Vec<Option<usize>>,
}

/// `None` if there are too many states, or an initial state is a fault.
fn search(system: &System, invariants: &[Expr]) -> Option<Expected> {
    let interpreter = Interpreter::new(system);
    let mut expected = Expected { invariants: vec![None; invariants.len()], ..Expected::default() };
    let mut open: VecDeque<(State, usize)> = VecDeque::new();
    for state in interpreter.initial_states() {
        open.push_back((interpreter.identity(&state.ok()?), 0));
    }
    let mut seen: HashSet<State> = HashSet::new();
    while let Some((state, depth)) = open.pop_front() {
        if !seen.insert(state.clone()) {
            continue;
        }
        if seen.len() > MOST {
            return None;
        }
        let is_visible = interpreter.normalise(&state).control.is_none();
        for (found, invariant) in expected.invariants.iter_mut().zip(invariants) {
            if is_visible && !matches!(interpreter.evaluate(&state, None, invariant), Ok(value) if value != 0) {
                found.get_or_insert(depth);
            }
        }
        let successors = interpreter.successors(&state);
        if successors.is_empty() && !interpreter.is_end_state(&state) {
            expected.deadlock.get_or_insert(depth);
        }
        for (_, successor) in successors {
            if successor.violation().is_some() {
                expected.violation.get_or_insert(depth + 1);
            }
            open.extend(successor.state.map(|next| (interpreter.identity(&next), depth + 1)));
        }
    }
    Some(expected)
}

/// That the first global slots do not have certain values.
fn invariants(system: &System) -> Vec<Expr> {
    let mut invariants = Vec::new();
    for (number, variable) in system.globals.iter().enumerate().filter(|(_, variable)| !variable.hidden) {
        let Some(scalar) = system.scalars(&variable.ty).first().copied() else { continue };
        let variable = VariableId(number as u32);
        let place = Place { scope: Scope::Global, variable, offset: 0, indices: Vec::new(), scalar };
        for value in [1, 2] {
            let read = Box::new(Expr::Read(place.clone()));
            invariants.push(Expr::Binary(BinaryOp::NotEqual, read, Box::new(Expr::Const(value))));
        }
    }
    invariants.truncate(4);
    invariants
}

fn check(system: &System, properties: &[Property], options: Bounded, seconds: u64) -> Report {
    let settings = Settings::default();
    let task = Task { system, properties, settings: &settings };
    let budget = Budget::unlimited().with_time(Duration::from_secs(seconds));
    options.check(&task, &Board::of(properties), &budget)
}

fn properties(invariants: &[Expr]) -> Vec<Property> {
    let invariant = |(number, expr): (usize, &Expr)| Property {
        name: format!("i{number}"),
        question: Question::Invariant(expr.clone()),
        ..Property::assertions()
    };
    let mut properties = vec![Property::deadlock(), Property::assertions()];
    properties.extend(invariants.iter().enumerate().map(invariant));
    properties
}

#[derive(Debug, Default)]
struct Tally {
    violated: usize,
    proved: usize,
    undecided: usize,
    refused: usize,
}

/// The answer is what was expected.
fn compare(answer: &Answer, expected: Option<usize>, is_shortest: bool, what: &str, tally: &mut Tally) {
    match (&*answer.outcome, expected) {
        (Outcome::Unknown(Reason::Unsupported(_)), _) => tally.refused += 1,
        (Outcome::Unknown(Reason::Time), _) => tally.undecided += 1,
        (Outcome::Violated(violation), Some(length)) => {
            let found = violation.trace.prefix.len();
            assert!(if is_shortest { found == length } else { found >= length }, "{what}: {found}, not {length} steps");
            tally.violated += 1;
        }
        (Outcome::Holds(Certainty::Proved), None) => tally.proved += 1,
        (outcome, expected) => panic!("{what}: {outcome:?}, not {expected:?}"),
    }
}

fn compare_all(seed: u64, system: &System, method: Method, tally: &mut Tally) {
    let invariants = invariants(system);
    let Some(expected) = search(system, &invariants) else { return };
    let report = check(system, &properties(&invariants), Bounded { method, ..Bounded::default() }, 10);
    let lengths = [expected.deadlock, expected.violation].into_iter().chain(expected.invariants);
    for (answer, length) in report.answers.iter().zip(lengths) {
        let is_shortest = method != Method::Ic3 && method != Method::Auto;
        let what = format!("seed {seed}, {method:?}, {}", answer.property);
        compare(answer, length, is_shortest, &what, tally);
    }
}

fn features(seed: u64) -> Features {
    let none = Features::NONE;
    match seed % 8 {
        0 => none,
        1 => Features { faults: true, ..none },
        2 => Features { control: true, ..none },
        3 => Features { spawn: true, ..none },
        4 => Features { looks: true, ..none },
        5 => Features { priorities: true, ..none },
        6 => Features { monitor: true, ..none },
        _ => Features::ALL,
    }
}

fn seeds(default: u64) -> std::ops::Range<u64> {
    match std::env::var("AMPLE_SEED").ok().and_then(|text| text.parse().ok()) {
        Some(seed) => seed..seed + 1,
        None => 0..std::env::var("AMPLE_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(default),
    }
}

#[test]
fn random_systems_have_the_same_verdicts_and_shortest_runs() {
    let mut tally = Tally::default();
    for seed in seeds(32) {
        let system = random::system(seed, features(seed));
        let method = [Method::Induction, Method::Ic3, Method::Auto][seed as usize / 8 % 3];
        compare_all(seed, &system, method, &mut tally);
    }
    println!("{tally:?}");
    assert!(tally.violated > 10 && tally.proved > 20 || std::env::var("AMPLE_SEED").is_ok(), "{tally:?}");
}

#[test]
fn random_synchronous_systems_have_the_same_verdicts_and_shortest_runs() {
    let mut tally = Tally::default();
    for seed in seeds(32) {
        let system = random::synchronous(seed, seed % 2 == 1);
        let method = [Method::Induction, Method::Ic3, Method::Auto][seed as usize / 2 % 3];
        compare_all(seed, &system, method, &mut tally);
    }
    println!("{tally:?}");
    assert!(tally.violated > 10 && tally.proved > 20 || std::env::var("AMPLE_SEED").is_ok(), "{tally:?}");
}

/// Partial exploration finds what there is to be found, and nothing else.
#[test]
fn partial_exploration_finds_all_violations() {
    let mut tally = Tally::default();
    for seed in seeds(12) {
        let system = random::system(seed, features(seed));
        let invariants = invariants(&system);
        let Some(expected) = search(&system, &invariants) else { continue };
        let lengths = [expected.deadlock, expected.violation].into_iter().chain(expected.invariants);
        let steps = [1, 2, 0, 4][seed as usize / 3 % 4];
        for (number, length) in lengths.enumerate() {
            // In each schedule there is a step that is needed or one that changes nothing for it. So with as many schedules
            // as a shortest run has steps there is a run; if there is none, a few schedules will do.
            let schedule = u64::from(steps) * 8 + 1;
            let bound = length.map_or(3, |length| length as u64 + 1) * schedule;
            let method = Method::Partial;
            let options = Bounded { bound: Some(bound), method, partial_steps: Some(steps), ..Bounded::default() };
            let property = properties(&invariants).swap_remove(number);
            let report = check(&system, &[property], options, 10);
            let what = format!("seed {seed}, {steps} steps in turn, {}", report.answers[0].property);
            match (&*report.answers[0].outcome, length) {
                (Outcome::Holds(Certainty::Bounded(_)), None) => tally.proved += 1,
                _ => compare(&report.answers[0], length, false, &what, &mut tally),
            }
        }
    }
    println!("{tally:?}");
    assert!(tally.violated > 4 && tally.proved > 8 || std::env::var("AMPLE_SEED").is_ok(), "{tally:?}");
}

/// With steps of several transitions everything is found that there is, within as many steps as a shortest run has.
#[test]
fn steps_of_several_transitions_find_all_violations() {
    let mut tally = Tally::default();
    for seed in seeds(48) {
        let system = random::system(seed, features(seed));
        let invariants = invariants(&system);
        let Some(expected) = search(&system, &invariants) else { continue };
        let lengths = [expected.deadlock, expected.violation].into_iter().chain(expected.invariants);
        let method = [Method::Steps, Method::Processes, Method::Commuting][seed as usize / 8 % 3];
        for (number, length) in lengths.enumerate() {
            let options = Bounded { bound: Some(length.unwrap_or(6) as u64), method, ..Bounded::default() };
            let property = properties(&invariants).swap_remove(number);
            let report = check(&system, &[property], options, 10);
            let what = format!("seed {seed}, {method:?}, {}", report.answers[0].property);
            match (&*report.answers[0].outcome, length) {
                (Outcome::Holds(_), None) => tally.proved += 1,
                // A step of one transition is what it is everywhere.
                _ => compare(&report.answers[0], length, method == Method::Commuting, &what, &mut tally),
            }
        }
    }
    println!("{tally:?}");
    assert!(tally.violated > 10 && tally.proved > 20 || std::env::var("AMPLE_SEED").is_ok(), "{tally:?}");
}

/// Below the length of a shortest run nothing is found; up to it, it is.
#[test]
fn a_bound_is_a_bound() {
    let mut compared = 0;
    for seed in seeds(16) {
        let system = random::system(seed, features(seed));
        let invariants = invariants(&system);
        let Some(expected) = search(&system, &invariants) else { continue };
        let lengths: Vec<Option<usize>> =
            [expected.deadlock, expected.violation].into_iter().chain(expected.invariants).collect();
        for bound in [1, 3] {
            let options = Bounded { bound: Some(bound), ..Bounded::default() };
            let report = check(&system, &properties(&invariants), options, 10);
            for (number, (answer, length)) in report.answers.iter().zip(&lengths).enumerate() {
                // A violation is a step out of a state within the bound.
                let within = length.is_some_and(|length| length <= bound as usize + usize::from(number == 1));
                match &*answer.outcome {
                    Outcome::Violated(_) => assert!(within, "seed {seed}, bound {bound}: {answer:?}"),
                    Outcome::Holds(_) => assert!(!within, "seed {seed}, bound {bound}: {answer:?}"),
                    Outcome::Unknown(_) => continue,
                }
                compared += usize::from(answer.verdict() != Verdict::Unknown);
            }
        }
    }
    assert!(compared > 50 || std::env::var("AMPLE_SEED").is_ok(), "{compared}");
}

/// `y` is never 1 because `x` never exceeds 4.
const GUARDED: &str = "
byte x = 0;
bit y = 0;
active proctype p() {
  do
  :: d_step {
       if :: x == 6 -> y = 1 :: else fi;
       if :: x == 4 -> x = 0 :: x == 7 -> x = 6 :: else -> x++ fi
     }
  od
}";

#[test]
fn what_another_engine_has_proved_strengthens_induction_and_the_certificate_says_so() {
    let system = promela::read("guarded.pml", GUARDED.into(), &mut FileLoader, &[]).expect("a model").system;
    let bounded_by = |name: &str, largest: i64| {
        let number = system.globals.iter().position(|variable| variable.name == name).expect("a variable");
        let scalar = system.scalars(&system.globals[number].ty)[0];
        let variable = VariableId(number as u32);
        let place = Place { scope: Scope::Global, variable, offset: 0, indices: Vec::new(), scalar };
        Expr::Binary(BinaryOp::LessEqual, Box::new(Expr::Read(place)), Box::new(Expr::Const(largest)))
    };
    let properties = properties(&[bounded_by("x", 4), bounded_by("y", 0)]);
    let properties = &properties[2..];
    let settings = Settings::default();
    let task = Task { system: &system, properties, settings: &settings };
    let certificate = |facts: &[usize]| {
        let board = Board::of(properties);
        for number in facts {
            board.post(*number, &Answer::to(&properties[*number], "symbolic", Certainty::Proved));
        }
        let options = Bounded { method: Method::Induction, ..Bounded::default() };
        let _ = options.check(&task, &board, &Budget::unlimited());
        board.answer(1).and_then(|answer| answer.certificate).expect("a certificate")
    };
    let kind = "-induction over paths of different states";
    let (alone, strengthened) = (certificate(&[]), certificate(&[0]));
    assert!(alone.contains(&format!("{kind}\"")), "{alone}");
    assert!(strengthened.contains(&format!("\"1{kind}, where these hold: invariant:i0\"")), "{strengthened}");
}
