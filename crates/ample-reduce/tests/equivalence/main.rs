//! Reduced systems are equivalent to the original ones: random programs, each reduction alone and all together, compared
//! by brute force. Dead variables and slicing give bisimilar systems, step by step; path reduction gives systems that are
//! stuttering bisimilar where branching is preserved, and have the same runs but for stuttering otherwise.

mod graph;
mod program;

use std::collections::{HashSet, VecDeque};

use ample_lang::promela::{self, preprocess::FileLoader};
use ample_model::random::{self, Features};
use ample_model::{Budget, Expr, Interpreter, Move, Property, Question, State, System};
use ample_reduce::transform::{Preserve, Reduced, Reductions, reduce};

use graph::Graph;

const NONE: Reductions = Reductions { paths: None, dead: false, slice: false, processes: false, blocks: false };
const LIMIT: usize = 1_000;

fn load(text: &str) -> System {
    match promela::read("m.pml", text.into(), &mut FileLoader, &[]) {
        Ok(model) => model.system,
        Err(error) => panic!("{error:?}\n{text}"),
    }
}

/// The invariants that the formulas of a program are about, and what a model states besides.
fn properties(system: &System) -> (Vec<Property>, Vec<Expr>) {
    let mut conditions = Vec::new();
    for property in &system.properties {
        let Question::Ltl(temporal) = &property.question else { panic!("no formula") };
        conditions.extend(temporal.atoms.iter().cloned());
    }
    let invariant =
        |condition: &Expr| Property { question: Question::Invariant(condition.clone()), ..Property::deadlock() };
    let mut properties: Vec<Property> = conditions.iter().map(invariant).collect();
    properties.extend([Property::deadlock(), Property::assertions()]);
    (properties, conditions)
}

fn reduced(system: &System, properties: &[Property], reductions: Reductions) -> Option<Reduced> {
    reduce(system, properties, &[], reductions, &Budget::unlimited())
}

/// Both systems take the same steps for ever, and what is asked for has the same values.
fn assert_bisimilar(system: &System, reduced: &System, asked: &[Expr], about: &str) {
    let (one, other) = (Interpreter::new(system), Interpreter::new(reduced));
    let values = |interpreter: &Interpreter<'_>, state: &State| -> Vec<_> {
        asked.iter().map(|expr| interpreter.evaluate(state, None, expr)).collect()
    };
    let mut known = HashSet::new();
    let mut open: VecDeque<(State, State)> = VecDeque::new();
    for (first, second) in one.initial_states().zip(other.initial_states()) {
        if let (Ok(first), Ok(second)) = (first, second) {
            open.push_back((first, second));
        }
    }
    while let Some((first, second)) = open.pop_front() {
        if known.len() > LIMIT || !known.insert((first.clone(), second.clone())) {
            continue;
        }
        assert_eq!(values(&one, &first), values(&other, &second), "{about}: {first:?} {second:?}");
        assert_eq!(one.is_deadlock(&first), other.is_deadlock(&second), "{about}: {first:?} {second:?}");
        let (steps, others) = (one.successors(&first), other.successors(&second));
        let moves = |steps: &[(Move, _)]| steps.iter().map(|(taken, _)| taken.clone()).collect::<Vec<_>>();
        assert_eq!(moves(&steps), moves(&others), "{about}: {first:?} {second:?}");
        for ((taken, next), (_, after)) in steps.into_iter().zip(others) {
            assert_eq!(next.violations, after.violations, "{about}: {taken:?} in {first:?}, {second:?}");
            assert_eq!(next.state.is_some(), after.state.is_some(), "{about}: {taken:?}");
            if let (Some(next), Some(after)) = (next.state, after.state) {
                open.push_back((next, after));
            }
        }
    }
}

/// Every step of the reduced system is a sequence of steps of the original one, and leads to the same values.
fn assert_expands(system: &System, reduced: &System, asked: &[Expr], about: &str) {
    let (one, other) = (Interpreter::new(system), Interpreter::new(reduced));
    let mut known = HashSet::new();
    let mut open: Vec<(State, State)> = Vec::new();
    for (first, second) in one.initial_states().zip(other.initial_states()) {
        if let (Ok(first), Ok(second)) = (first, second) {
            open.push((first, second));
        }
    }
    while let Some((first, second)) = open.pop() {
        if known.len() > LIMIT || !known.insert((first.clone(), second.clone())) {
            continue;
        }
        for expr in asked {
            let values = (one.evaluate(&first, None, expr), other.evaluate(&second, None, expr));
            assert_eq!(values.0, values.1, "{about}: {first:?} {second:?}");
        }
        for (taken, next) in other.successors(&second) {
            let Move::Process { process, edge } = taken else { continue };
            let ty = second.processes[process as usize].process;
            let mut at = first.clone();
            let mut violations = Vec::new();
            for edge in &reduced.process(ty).edges[edge.index()].origin {
                let step = one.step(&at, &Move::Process { process, edge: *edge });
                violations.extend(step.violations);
                match step.state {
                    Some(state) => at = state,
                    None => break,
                }
            }
            assert_eq!(violations, next.violations, "{about}: {taken:?} in {second:?}");
            if let Some(next) = next.state {
                open.push((at, next));
            }
        }
    }
}

fn check(system: &System, about: &str, counts: &mut Counts) {
    let (properties, asked) = properties(system);
    check_for(system, &properties, &asked, about, counts);
    check_processes(system, &properties, &asked, about, counts);
}

/// Slicing of processes: for formulas nothing changes but stuttering, for conditions of states nothing that is reached.
fn check_processes(system: &System, properties: &[Property], asked: &[Expr], about: &str, counts: &mut Counts) {
    let Some(original) = Graph::of(system, asked, LIMIT) else { return };
    let about = format!("{about}, processes");
    let temporal: Vec<Property> = properties.iter().chain(&system.properties).cloned().collect();
    let states: Vec<Property> =
        properties.iter().filter(|property| property.question != Question::Deadlock).cloned().collect();
    let reductions = Reductions { processes: true, ..NONE };
    let graph = |properties: &[Property]| {
        let reduced = reduced(system, properties, reductions).filter(|reduced| !reduced.removed.is_empty())?;
        Graph::of(&reduced.system, asked, LIMIT)
    };
    if let Some(graph) = graph(&temporal) {
        assert!(original.is_stuttering_bisimilar(&graph), "{about}: not stuttering bisimilar");
        assert_eq!(original.compare_runs(&graph), None, "{about}: other runs");
        assert_eq!(original.wrong, graph.wrong, "{about}");
        counts.processes += 1;
    }
    if let Some(graph) = graph(properties) {
        assert_eq!(original.values(), graph.values(), "{about}");
        assert!(original.wrong.is_subset(&graph.wrong), "{about}");
        counts.processes += 1;
    }
    if let Some(graph) = graph(&states) {
        assert_eq!(original.values(), graph.values(), "{about}");
        counts.processes += 1;
    }
}

#[derive(Default, Debug)]
struct Counts {
    stepwise: usize,
    stuttering: usize,
    runs: usize,
    processes: usize,
}

fn check_for(system: &System, properties: &[Property], asked: &[Expr], about: &str, counts: &mut Counts) {
    for (dead, slice) in [(true, false), (false, true), (true, true)] {
        let reductions = Reductions { dead, slice, ..NONE };
        let Some(reduced) = reduced(system, properties, reductions) else { continue };
        if reduced.system.processes.iter().any(|process| process.edges.iter().any(|edge| edge.origin.is_empty())) {
            continue;
        }
        assert_bisimilar(system, &reduced.system, asked, &format!("{about}, {reductions:?}"));
        counts.stepwise += 1;
    }
    let Some(original) = Graph::of(system, asked, LIMIT) else { return };
    for preserve in [Preserve::Branching, Preserve::Runs] {
        for (dead, slice) in [(false, false), (true, false), (true, true)] {
            let reductions = Reductions { paths: Some(preserve), dead, slice, processes: false, blocks: false };
            let about = format!("{about}, {reductions:?}");
            let Some(reduced) = reduced(system, properties, reductions) else { continue };
            assert_expands(system, &reduced.system, asked, &about);
            let Some(graph) = Graph::of(&reduced.system, asked, LIMIT) else { continue };
            if preserve == Preserve::Branching {
                assert!(original.is_stuttering_bisimilar(&graph), "{about}: not stuttering bisimilar");
                counts.stuttering += 1;
            }
            assert_eq!(original.compare_runs(&graph), None, "{about}: other runs");
            assert_eq!(original.wrong, graph.wrong, "{about}");
            counts.runs += 1;
        }
    }
}

/// How many programs and systems; more if the environment says so.
fn rounds() -> u64 {
    std::env::var("AMPLE_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(400)
}

#[test]
fn random_programs() {
    let mut counts = Counts::default();
    for seed in 0..rounds() {
        let text = program::text(seed);
        let system = load(&text);
        check(&system, &format!("seed {seed}:\n{text}"), &mut counts);
    }
    println!("{counts:?}");
    assert!(counts.stepwise > 300 && counts.stuttering > 300 && counts.processes > 30, "{counts:?}");
}

/// Systems in which everything occurs that a system can contain.
#[test]
fn random_systems() {
    let mut counts = Counts::default();
    for seed in 0..rounds() {
        let features = match seed % 4 {
            0 => Features::ALL,
            1 => Features::NONE,
            2 => Features { faults: true, control: true, ..Features::NONE },
            _ => Features { spawn: true, control: true, ..Features::NONE },
        };
        let system = random::system(seed, features);
        let properties = [Property::deadlock(), Property::assertions()];
        check_for(&system, &properties, &[], &format!("system {seed}"), &mut counts);
    }
    println!("{counts:?}");
    assert!(counts.stepwise > 100, "{counts:?}");
}
