//! The encoding says exactly what the reference interpreter does.

mod agree;
mod language;

use std::collections::BTreeMap;
use std::time::Instant;

use ample_boolean::{Bounds, Encoding};
use ample_lang::promela::{self, preprocess::FileLoader};
use ample_model::System;
use ample_model::interpret::{Explored, explore};
use ample_model::random::{self, Features};

use agree::{compare, search};

/// How many seeds, or states of a model, unless the environment asks for more.
fn effort(variable: &str, default: usize) -> usize {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn seeds(default: usize) -> u64 {
    effort("AMPLE_SEEDS", default) as u64
}

/// Everything, nothing, and each feature by itself.
fn features(seed: u64) -> Features {
    let none = Features::NONE;
    match seed % 10 {
        0 => none,
        1 => Features { faults: true, ..none },
        2 => Features { control: true, ..none },
        3 => Features { spawn: true, ..none },
        4 => Features { looks: true, ..none },
        5 => Features { priorities: true, ..none },
        6 => Features { monitor: true, ..none },
        7 => Features { priorities: false, ..Features::ALL },
        _ => Features::ALL,
    }
}

/// The random system of that seed; in some a variable is hidden, in some expressions are shared.
fn random_system(seed: u64) -> System {
    let mut system = random::system(seed, features(seed));
    system.globals[1].hidden = seed % 25 == 3;
    if seed % 3 == 2 { random::with_shared(system, seed) } else { system }
}

#[test]
fn random_systems_agree_with_the_interpreter() {
    let mut refused: BTreeMap<String, u64> = BTreeMap::new();
    let (mut states, mut steps, mut faults, mut overflows, mut conditions) = (0, 0, 0, 0, 0);
    let count = seeds(2_000);
    for seed in 0..count {
        let system = random_system(seed);
        // Little effort in some, so that bounds are left.
        let bounds = match seed / 10 % 4 {
            0 => Bounds::declared(&system),
            1 => Bounds::sampled(&system, 4),
            _ => Bounds::sampled(&system, 150),
        };
        match compare(&format!("seed {seed}"), &system, &bounds, 60) {
            Ok(compared) => {
                states += compared.states;
                steps += compared.steps;
                faults += compared.faults;
                overflows += compared.overflows;
                conditions += compared.conditions;
            }
            Err(reason) => *refused.entry(reason.to_string()).or_default() += 1,
        }
    }
    println!("{count} systems: {states} states, {steps} steps of which {faults} faults and {overflows} overflows");
    println!("{conditions} conditions");
    for (reason, times) in &refused {
        println!("refused {times}: {reason}");
    }
    assert!(states > 0 && faults > 0 && overflows > 0);
}

fn models() -> Vec<(String, System)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/promela");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "pml"));
    paths.sort();
    let load = |path: std::path::PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let lowered = promela::read(&path.to_string_lossy(), text, &mut FileLoader, &[]).unwrap();
        (name, lowered.system)
    };
    paths.into_iter().map(load).collect()
}

#[test]
fn our_models_agree_with_the_interpreter() {
    let mut refused = Vec::new();
    for (name, system) in models() {
        let begin = Instant::now();
        let bounds = Bounds::sampled(&system, 300);
        let sampled = begin.elapsed();
        let encoding = Encoding::of(&system, &bounds);
        let encoded = begin.elapsed() - sampled;
        drop(encoding);
        match compare(&name, &system, &bounds, effort("AMPLE_STATES", 60)) {
            Ok(c) => println!(
                "{name}: {} bits, {} partitions, {} nodes; {} states, {} steps, {} overflows; \
                 {sampled:.1?} {encoded:.1?}",
                c.bits, c.partitions, c.nodes, c.states, c.steps, c.overflows
            ),
            Err(reason) => refused.push(format!("{name}: {reason}")),
        }
    }
    refused.iter().for_each(|sentence| println!("refused {sentence}"));
    assert!(refused.len() <= 2, "{refused:#?}");
}

/// What an exhaustive search says, without the sentences.
fn figures(explored: Explored) -> Explored {
    Explored { messages: Default::default(), ..explored }
}

/// From bounds that are far too small a search comes to those that suffice, and finds what there is.
#[test]
fn widening_ends_where_all_states_fit() {
    let (mut searched, mut widened, mut refused) = (0, 0, 0);
    let count = seeds(2_000) / 4;
    for seed in 0..count {
        let system = random_system(seed);
        let expected = explore(&system, 400);
        if !expected.complete {
            continue;
        }
        let name = format!("seed {seed}");
        match search(&name, &system, Bounds::sampled(&system, 1)) {
            Ok((found, tries)) => {
                assert_eq!(found, figures(expected), "{name}");
                searched += 1;
                widened += tries;
            }
            Err(_) => refused += 1,
        }
    }
    println!("{searched} systems searched in full, widened {widened} times, {refused} refused");
    assert!(searched > 0 && widened > 0);
}

#[test]
fn our_models_are_searched_in_full() {
    for (name, system) in models() {
        let expected = explore(&system, 3_000);
        if !expected.complete {
            continue;
        }
        let begin = Instant::now();
        let (found, tries) = search(&name, &system, Bounds::sampled(&system, 20)).unwrap();
        assert_eq!(found, figures(expected), "{name}");
        println!("{name}: {} states, widened {tries} times, {:.1?}", found.states, begin.elapsed());
    }
}

/// Written out, these graphs would have 2^60 leaves.
#[test]
fn deep_graphs_of_shared_expressions_agree() {
    use ample_model::{BinaryOp, Expr, Place, Scalar, Scope, Shared, UnaryOp};
    let begin = Instant::now();
    let text = "byte x; byte y; active [2] proctype P() { do :: x < 4 -> x++ :: y = x od }";
    let mut system = promela::read("deep.pml", text.into(), &mut FileLoader, &[]).unwrap().system;
    let place =
        Place { scope: Scope::Global, variable: 0.into(), offset: 0, indices: Vec::new(), scalar: Scalar::BYTE };
    let leaf = Expr::binary(BinaryOp::Less, Expr::Read(place), Expr::Const(3));
    let deep = (0..60).fold(leaf, |expr, level| {
        let shared = Expr::Shared(Shared::new(expr));
        let (one, two) = (Box::new(shared.clone()), Box::new(shared));
        match level % 4 {
            0 => Expr::Binary(BinaryOp::And, one, two),
            1 => Expr::Binary(BinaryOp::Or, Expr::unary(UnaryOp::Not, *one).into(), two),
            2 => Expr::Conditional(one.clone(), two.clone(), one),
            _ => Expr::Cast(Scalar::BOOL, Expr::Binary(BinaryOp::Add, one, two).into()),
        }
    });
    for edge in &mut system.processes[0].edges {
        edge.guard.push(Expr::unary(UnaryOp::Not, Expr::unary(UnaryOp::Not, deep.clone())));
    }
    let compared = compare("deep", &system, &Bounds::declared(&system), 100).unwrap();
    assert!(compared.states > 0 && compared.nodes < 20_000, "{compared:?}");
    assert!(begin.elapsed() < std::time::Duration::from_secs(5), "{:?}", begin.elapsed());
}
