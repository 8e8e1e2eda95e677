//! Runs that execute every statement or branch of a program, against the reference interpreter: what is reported as reached is
//! executed by the run and in the step that is told, and what is unreachable is executed in no reachable state.
//!
//! `AMPLE_SEED=n` looks at one random program only and shows it.

#[path = "../../ample-lang/tests/softver/random.rs"]
mod random;
mod support;

use std::collections::HashSet;

use ample::testgen::{CodeCoverage, Outcome, Runs, statements};
use ample::{Budget, System};
use ample_model::{Interpreter, Move, Role, State, Trace};
use ample_random::Random;
use support::{Folder, code, command, errors, json, model, text};

/// More states are not looked at.
const MAX_STATES: usize = 20_000;

/// The statements that a move executes in a state, as reports name them.
fn executed(system: &System, state: &State, taken: &Move) -> Vec<String> {
    let edges = match taken {
        Move::Process { process, edge } => vec![(*process, *edge)],
        Move::Handshake { sender, receiver } => vec![*sender, *receiver],
        Move::Action { participants, .. } => participants.to_vec(),
        _ => Vec::new(),
    };
    let name = |(process, edge): (u32, ample_model::EdgeId)| {
        let process = &system.processes[state.processes[process as usize].process.index()];
        let edge = &process.edges[edge.index()];
        let at = edge.span.map_or_else(String::new, |span| format!(" ({})", system.place_of(span)));
        format!("{}: {}{at}", process.name, edge.label.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    edges.into_iter().map(name).collect()
}

/// What is executed in some reachable state; nothing if there are too many states.
fn executable(system: &System) -> Option<HashSet<String>> {
    let interpreter = Interpreter::new(system);
    let mut open: Vec<State> = interpreter.initial_states().flatten().take(MAX_STATES).collect();
    let mut known: HashSet<State> = open.iter().cloned().collect();
    let mut found = HashSet::new();
    while let Some(state) = open.pop() {
        if known.len() >= MAX_STATES {
            return None;
        }
        for (taken, successor) in interpreter.successors(&state) {
            found.extend(executed(system, &state, &taken));
            if let Some(after) = successor.state
                && known.insert(after.clone())
            {
                open.push(after);
            }
        }
    }
    Some(found)
}

/// The statements that each step of a run executes.
fn steps(system: &System, run: &Trace) -> Vec<Vec<String>> {
    let interpreter = Interpreter::new(system);
    let mut state = interpreter.initial_state(run.start.clone()).unwrap().unwrap();
    let mut all = Vec::new();
    for step in &run.prefix {
        let at = interpreter.normalise(&state);
        assert!(interpreter.allows(&at, &step.taken), "{:?} is not enabled", step.taken);
        all.push(executed(system, &state, &step.taken));
        match interpreter.step(&at, &step.taken).state {
            Some(after) => state = after,
            None => break,
        }
    }
    assert_eq!(all.len(), run.prefix.len(), "only the last step may be a fault");
    all
}

fn covered(system: &System, coverage: CodeCoverage) -> Runs {
    statements(system, coverage, &Budget::unlimited()).unwrap_or_else(|why| panic!("{}: {why}", system.name))
}

/// Compares the coverage of a system with what its reachable states execute: how many targets are reached, and how many not.
fn compare(system: &System, shown: &str) -> [usize; 2] {
    let mut counts = [0; 2];
    let expected = executable(system);
    for coverage in [CodeCoverage::Statements, CodeCoverage::Branches] {
        let found = covered(system, coverage);
        let runs: Vec<_> = found.runs.iter().map(|run| steps(system, run)).collect();
        for result in &found.results {
            match &result.outcome {
                Outcome::Reached { test, cycle } => {
                    let step = &runs[*test][cycle - 1];
                    assert!(step.contains(&result.name), "{}: step {cycle} executes {step:?}\n{shown}", result.name);
                    counts[0] += 1;
                }
                Outcome::Unreachable => {
                    let is_executed = expected.as_ref().is_some_and(|expected| expected.contains(&result.name));
                    assert!(!is_executed, "{} is executed\n{shown}", result.name);
                    counts[1] += 1;
                }
                Outcome::Unknown(why) => panic!("{}: {why}\n{shown}", result.name),
            }
        }
        // Each run is of use.
        for number in 0..found.runs.len() {
            let is_of_use = |outcome: &Outcome| matches!(outcome, Outcome::Reached { test, .. } if *test == number);
            assert!(found.results.iter().any(|result| is_of_use(&result.outcome)), "run {number} is idle\n{shown}");
        }
        // Every statement of a process is a target.
        if coverage == CodeCoverage::Statements {
            let names: HashSet<&str> = found.results.iter().map(|result| result.name.as_str()).collect();
            let executed = expected.iter().flatten();
            let is_missing = |name: &&String| !names.contains(name.as_str());
            let missing: Vec<&String> = executed.filter(is_missing).collect();
            let is_control = |name: &String| name.contains(": goto") || name.contains(": -end-") || ends(system, name);
            assert!(missing.iter().all(|name| is_control(name)), "{missing:?}\n{shown}");
        }
    }
    counts
}

/// The edge of that name ends a process.
fn ends(system: &System, name: &str) -> bool {
    let processes = system.processes.iter().filter(|process| process.role == Role::Process);
    processes.into_iter().any(|process| {
        process
            .edges
            .iter()
            .any(|edge| edge.ends_process() && name.starts_with(&format!("{}: {}", process.name, edge.label.trim())))
    })
}

#[test]
fn what_is_reached_is_executed_and_the_rest_is_unreachable() {
    let asked = std::env::var("AMPLE_SEED").ok().and_then(|seed| seed.parse::<u64>().ok());
    let mut counts = [0; 2];
    for seed in asked.map_or(0..150, |seed| seed..seed + 1) {
        let mut random = Random::new(seed);
        let processes = 1 + seed as usize % 3;
        // A statement in each line, so that no two of them have the same name.
        let written = random::program(&mut random, processes).text.replace("; ", ";\n");
        if asked.is_some() {
            eprintln!("{written}");
        }
        let loaded = ample::load_text("random.softver", written.clone(), &Default::default())
            .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{written}"));
        let [reached, unreachable] = compare(&loaded.system, &format!("seed {seed}\n{written}"));
        counts = [counts[0] + reached, counts[1] + unreachable];
    }
    assert!(asked.is_some() || counts.iter().all(|count| *count > 200), "{counts:?}");
}

#[test]
fn our_programs_are_covered_as_their_states_say() {
    let mut compared = 0;
    for folder in ["softver", "promela", "milestones"] {
        let mut paths: Vec<_> = std::fs::read_dir(model(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for path in paths.iter().filter(|path| path.extension().is_some_and(|extension| extension != "md")) {
            let Ok(loaded) = ample::load(path, &Default::default()) else { continue };
            let limited = Budget::unlimited().with_time(std::time::Duration::from_millis(300));
            let found = statements(&loaded.system, CodeCoverage::Statements, &limited);
            let is_large = |runs: &Runs| runs.results.iter().any(|one| matches!(one.outcome, Outcome::Unknown(_)));
            if found.as_ref().map_or(true, is_large) {
                continue;
            }
            compare(&loaded.system, &path.display().to_string());
            compared += 1;
        }
    }
    assert!(compared > 15, "{compared}");
}

#[test]
fn the_command_covers_softver_programs() {
    let path = model("softver/find_max.softver");
    for coverage in ["statements", "branches"] {
        let output = command(&["testgen"]).arg(&path).args(["--coverage", coverage]).output().unwrap();
        assert_eq!(code(&output), 0, "{}", errors(&output));
        assert!(text(&output).contains("0 unreachable, 0 unknown"), "{}", text(&output));
        let output = command(&["testgen"]).arg(&path).args(["--coverage", coverage, "--json"]).output().unwrap();
        let said = json(&output);
        let results = said["results"].as_array().unwrap();
        assert!(results.len() > 3 && results.iter().all(|one| one["outcome"] == "reached"), "{said}");
        let longest = said["runs"].as_array().unwrap().iter().map(|run| run["prefix"].as_array().unwrap().len()).max();
        for one in results {
            let step = one["cycle"].as_u64().unwrap() as usize;
            assert!((1..=longest.unwrap()).contains(&step), "{one}");
        }
    }
}

#[test]
fn what_no_run_executes_has_exit_code_one() {
    let folder = Folder::new("coverage");
    let program = "#INTEGER_LENGTH# 2\nint x = 0;\n{ if x = 0 then x := 1; else x := 2; fi; x := 3; }\n";
    let file = folder.file("dead.softver", program);
    let output = command(&["testgen"]).arg(&file).args(["--coverage", "statements", "--json"]).output().unwrap();
    assert_eq!(code(&output), 1, "{}", errors(&output));
    let said = json(&output);
    let outcome = |text: &str| {
        let found =
            said["results"].as_array().unwrap().iter().find(|one| one["target"].as_str().unwrap().contains(text));
        found.unwrap_or_else(|| panic!("{text}: {said}"))["outcome"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        (outcome("x := 1"), outcome("x := 2"), outcome("x := 3")),
        ("reached".into(), "unreachable".into(), "reached".into())
    );
}

#[test]
fn a_limit_leaves_what_was_not_found_unknown() {
    let folder = Folder::new("coverage-limit");
    // The last statement comes after a count to four milliards.
    let program = "int n; active proctype P() { do :: n < 2000000000 -> n++ :: else -> break od; n = 7 }";
    let file = folder.file("long.pml", program);
    for limit in [["--time-limit", "1s"], ["--memory-limit", "60M"]] {
        let begun = std::time::Instant::now();
        let output =
            command(&["testgen"]).arg(&file).args(["--coverage", "statements", "--json"]).args(limit).output().unwrap();
        assert_eq!(code(&output), 3, "{limit:?}: {}", errors(&output));
        assert!(begun.elapsed().as_secs() < 60, "{limit:?}");
        let said = json(&output);
        let outcomes: Vec<&str> =
            said["results"].as_array().unwrap().iter().map(|one| one["outcome"].as_str().unwrap()).collect();
        assert!(outcomes.contains(&"reached") && outcomes.contains(&"unknown"), "{outcomes:?}");
        assert!(!outcomes.contains(&"unreachable"), "{outcomes:?}");
    }
}
