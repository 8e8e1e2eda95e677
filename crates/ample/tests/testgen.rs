//! Test generation from the file to the test, and dynamic transition relations in CTL: on random circuits and systems, on our
//! models, and on published circuits with ABC's answers.

mod support;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ample::testgen::{
    CodeCoverage, Method, Outcome, Target, TestgenOptions, Tests, generate, latch_targets, statements,
};
use ample::{
    Answer, Budget, CheckOptions, Choice, Loaded, Property, Question, Reach, Reason, StepRelations, Symbolic, System,
    Temporal, Verdict,
};
use ample_lang::circuit::quoted;
use ample_logic::{Atom, Formula};
use ample_model::random::synchronous;
use ample_model::{BinaryOp, Expr, Place, Scope, VariableId};
use ample_random::Random;
use serde_json::Value;
use support::{Folder, code, command, errors, json, model, text};

fn load(name: &str, text: &str) -> Loaded {
    match ample::load_text(name, text.to_owned(), &Default::default()) {
        Ok(loaded) => loaded,
        Err(error) => panic!("{error}\n{text}"),
    }
}

fn tests(system: &System, targets: &[Target], method: Method) -> Tests {
    let options = TestgenOptions { method, ..TestgenOptions::default() };
    generate(system, targets, &options, &Budget::unlimited()).unwrap_or_else(|why| panic!("{}: {why}", system.name))
}

/// A circuit in the BENCH format.
fn random_bench(random: &mut Random) -> String {
    let (inputs, latches, gates) = (random.below(3) + 1, random.below(4) + 1, random.below(6) + 2);
    let mut names: Vec<String> = (0..inputs).map(|n| format!("i{n}")).collect();
    let mut text: String = names.iter().map(|name| format!("INPUT({name})\n")).collect();
    names.extend((0..latches).map(|n| format!("q{n}")));
    for gate in 0..gates {
        let op = random.pick(&["AND", "OR", "XOR", "NAND", "NOT"]);
        let mut operands = vec![random.pick(&names)];
        if op != "NOT" {
            operands.push(random.pick(&names));
        }
        text.push_str(&format!("g{gate} = {op}({})\n", operands.join(", ")));
        names.push(format!("g{gate}"));
    }
    for latch in 0..latches {
        text.push_str(&format!("q{latch} = DFF({})\n", random.pick(&names)));
    }
    text.push_str(&format!("OUTPUT(g{})\n", gates - 1));
    text
}

#[test]
fn what_is_reached_is_what_a_check_finds_reachable() {
    let mut counts = [0; 2];
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let written = random_bench(&mut random);
        let loaded = load("random.bench", &written);
        let signals: Vec<String> = loaded.system.signals.iter().map(|signal| signal.name.clone()).collect();
        let (one, other) = (random.pick(&signals), random.pick(&signals));
        let condition = loaded.expression(&format!("{one} && !{other}")).unwrap();
        let never = Question::Invariant(Expr::unary(ample_model::UnaryOp::Not, condition.clone()));
        let property = Property { name: "never".into(), question: never, text: String::new(), span: None };
        let mut kept = loaded.system.clone();
        kept.keep_inputs([&condition]);
        let options = CheckOptions {
            properties: Some(vec![property]),
            engine: Choice::Named("symbolic"),
            no_vacuity: true,
            ..CheckOptions::default()
        };
        let answer = ample::check(&kept, &options).answers.remove(0);
        let expected = answer.trace().map(|trace| trace.prefix.len());
        for method in [Method::Dynamic, Method::Static, Method::Monolithic] {
            let found = tests(&loaded.system, &[Target::new("one", vec![condition.clone()])], method);
            let before = match found.results[0].outcome {
                Outcome::Reached { cycle, .. } => Some(cycle),
                _ => None,
            };
            assert_eq!(before, expected, "seed {seed}, {method:?}\n{written}");
        }
        counts[usize::from(expected.is_some())] += 1;
    }
    assert!(counts.iter().all(|count| *count > 20), "{counts:?}");
}

#[test]
fn tests_of_latches_cover_what_they_say() {
    let mut shared = 0;
    for seed in 0..100 {
        let written = random_bench(&mut Random::new(seed));
        let loaded = load("random.bench", &written);
        let targets = latch_targets(&loaded.system);
        let found = tests(&loaded.system, &targets, Method::Dynamic);
        let names: Vec<&str> = found.state.iter().map(|signal| signal.name.as_str()).collect();
        for result in &found.results {
            let Outcome::Reached { test, cycle } = result.outcome else { continue };
            let [name, from, _, to] = result.name.split(' ').collect::<Vec<_>>()[..] else { panic!() };
            let place = names.iter().position(|other| *other == name).unwrap();
            let cycles = &found.tests[test].cycles;
            let value = |cycle: usize| cycles[cycle].state[place].as_deref();
            assert_eq!(
                (value(cycle), value(cycle + 1)),
                (Some(from), Some(to)),
                "seed {seed}: {}\n{written}",
                result.name
            );
        }
        let reached = found.results.iter().filter(|result| matches!(result.outcome, Outcome::Reached { .. })).count();
        assert!(found.tests.len() <= reached);
        shared += reached - found.tests.len();
    }
    assert!(shared > 50, "{shared}");
}

fn corpora() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpora");
    if path.join("circuits.csv").exists() {
        return Some(path);
    }
    eprintln!("skipped: there are no circuits at {}", path.display());
    None
}

#[test]
fn published_circuits_are_tested_as_abc_says() {
    let Some(corpora) = corpora() else { return };
    let table = std::fs::read_to_string(corpora.join("circuits.csv")).expect("a table");
    let rows = table.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    let mut loaded: HashMap<String, Loaded> = HashMap::new();
    let (mut reached, mut unreachable, mut unknown) = (0, 0, 0);
    for row in rows.filter(|row| row.len() >= 4 && (row[0].starts_with("mcnc") || row[0].starts_with("iscas"))) {
        let path = corpora.join("circuits").join(row[0]);
        let one = loaded
            .entry(row[0].to_owned())
            .or_insert_with(|| ample::load(&path, &Default::default()).expect("a circuit"));
        let condition = row[1].split(" && ").map(quoted).collect::<Vec<_>>().join(" && ");
        let target = Target::new(row[1], vec![one.expression(&condition).unwrap()]);
        let options = TestgenOptions::default();
        let budget = Budget::unlimited().with_time(Duration::from_secs(5));
        let frame: Option<usize> = row[3].parse().ok().filter(|_| row[2] == "no");
        match generate(&one.system, &[target], &options, &budget) {
            Ok(found) => match &found.results[0].outcome {
                Outcome::Reached { cycle, .. } => {
                    assert_eq!(Some(*cycle), frame, "{row:?}");
                    reached += 1;
                }
                Outcome::Unreachable => {
                    assert_eq!(frame, None, "{row:?}");
                    unreachable += 1;
                }
                Outcome::Unknown(_) => unknown += 1,
            },
            Err(why) => {
                assert_eq!(why, Reason::Time, "{row:?}");
                unknown += 1;
            }
        }
    }
    eprintln!("{reached} reached, {unreachable} unreachable, {unknown} unknown");
    assert!(reached > 20 && unreachable > 5, "{reached} {unreachable} {unknown}");
}

/// Which parts of the step relation preimages take, and whether reachable states are computed first.
const WAYS: [(StepRelations, Reach); 4] = [
    (StepRelations::Static, Reach::Saturation),
    (StepRelations::Dynamic, Reach::Saturation),
    (StepRelations::Static, Reach::None),
    (StepRelations::Dynamic, Reach::None),
];

fn verdicts(
    system: &System,
    properties: &[Property],
    (relations, reach): (StepRelations, Reach),
    justice: &[Expr],
) -> Vec<Verdict> {
    let symbolic = Symbolic { relations, reach, ..Symbolic::default() };
    let options = CheckOptions {
        properties: Some(properties.to_vec()),
        engine: Choice::Named("symbolic"),
        engines: symbolic.into(),
        justice: justice.to_vec(),
        no_vacuity: true,
        budget: match reach {
            Reach::None => Budget::unlimited().with_time(Duration::from_secs(2)),
            _ => Budget::unlimited(),
        },
        ..CheckOptions::default()
    };
    ample::check(system, &options).answers.iter().map(Answer::verdict).collect()
}

fn random_ctl(random: &mut Random, atoms: u32, depth: u32) -> Formula {
    if depth == 0 {
        return Formula::atom(Atom(random.below(atoms)));
    }
    let mut part = || random_ctl(random, atoms, depth - 1);
    let (f, g) = (part(), part());
    match random.below(8) {
        0 => !f,
        1 => f & g,
        2 => f.next().exists(),
        3 => f.globally().exists(),
        4 => f.until(g).exists(),
        5 => f.finally().all(),
        6 => f.next().all(),
        _ => f.until(g).all(),
    }
}

#[test]
fn dynamic_relations_do_not_change_verdicts_of_ctl() {
    let mut counts = [0; 2];
    for seed in 0..150 {
        let system = synchronous(seed, false);
        let mut random = Random::new(seed);
        let atom = |random: &mut Random| {
            let number = random.below(system.globals.len());
            let slot = random.below(system.slots(&system.globals[number].ty));
            let scalar = system.scalars(&system.globals[number].ty)[slot as usize];
            let (scope, variable) = (Scope::Global, VariableId::from(number));
            let read = Expr::Read(Place { scope, variable, offset: slot, indices: Vec::new(), scalar });
            Expr::binary(BinaryOp::Equal, read, Expr::Const(random.below(2)))
        };
        let mut properties = Vec::new();
        for number in 0..4 {
            let atoms = (0..3).map(|_| atom(&mut random)).collect();
            let formula = random_ctl(&mut random, 3, 3);
            let question = Question::Ctl(Temporal { formula, atoms });
            properties.push(Property { name: format!("{number}"), question, text: String::new(), span: None });
        }
        let justice = if seed % 3 == 0 { vec![atom(&mut random)] } else { Vec::new() };
        let expected = verdicts(&system, &properties, WAYS[0], &justice);
        for way in &WAYS[1..] {
            assert_eq!(verdicts(&system, &properties, *way, &justice), expected, "seed {seed}, {way:?}");
        }
        for (count, verdict) in counts.iter_mut().zip([Verdict::Holds, Verdict::Violated]) {
            *count += expected.iter().filter(|one| **one == verdict).count();
        }
    }
    assert!(counts.iter().all(|count| *count > 50), "{counts:?}");
}

#[test]
fn dynamic_relations_do_not_change_verdicts_of_our_models() {
    let mut checked = 0;
    for folder in ["smv", "circuits"] {
        for entry in std::fs::read_dir(model(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension == "md") {
                continue;
            }
            let system = ample::load(&path, &Default::default()).unwrap().system;
            let properties = ample::stated(&system);
            let expected = verdicts(&system, &properties, WAYS[0], &[]);
            for way in &WAYS[1..] {
                let found = verdicts(&system, &properties, *way, &[]);
                for (number, (found, expected)) in found.iter().zip(&expected).enumerate() {
                    // Over all states, reachable or not, some models take too long.
                    let is_unknown = way.1 == Reach::None && *found == Verdict::Unknown;
                    let name = &properties[number].name;
                    assert!(is_unknown || found == expected, "{}, {way:?}, {name}: {found:?}", path.display());
                    checked += usize::from(!is_unknown);
                }
            }
        }
    }
    assert!(checked > 100, "{checked}");
}

#[test]
fn runs_execute_every_statement_that_can_be_executed() {
    let path = model("promela/peterson.pml");
    let system = ample::load(&path, &Default::default()).unwrap().system;
    for coverage in [CodeCoverage::Statements, CodeCoverage::Branches] {
        let found = statements(&system, coverage, &Budget::unlimited()).unwrap();
        assert!(found.results.iter().all(|result| matches!(result.outcome, Outcome::Reached { .. })));
        for run in &found.runs {
            ample::simulate::validate(&system, run, &[]).unwrap();
        }
    }
    // What is never executable is unreachable, as the check says.
    let loaded = load("m.pml", "byte x; active proctype P() { x = 1; if :: x == 2 -> x = 7 :: else -> x = 3 fi }");
    let found = statements(&loaded.system, CodeCoverage::Statements, &Budget::unlimited()).unwrap();
    let missing: Vec<&str> = found
        .results
        .iter()
        .filter(|result| result.outcome == Outcome::Unreachable)
        .map(|result| result.name.as_str())
        .collect();
    assert_eq!(missing.len(), 2, "{missing:?}");
    assert!(missing[0].contains("x == 2") && missing[1].contains("x = 7"), "{missing:?}");
}

// The command.

fn testgen(file: &Path, words: &[&str]) -> std::process::Output {
    command(&["testgen"]).arg(file).args(words).output().unwrap()
}

#[test]
fn the_exit_code_says_what_became_of_the_targets() {
    let counter = model("circuits/counter.bench");
    assert_eq!(code(&testgen(&counter, &["--target", "carry"])), 0);
    assert_eq!(code(&testgen(&counter, &["--target", "carry && !bit0"])), 1);
    let limited = testgen(&counter, &["--target", "carry", "--max-cycles", "3"]);
    assert_eq!(code(&limited), 3);
    assert!(text(&limited).contains("unknown") && text(&limited).contains("depth limit"), "{}", text(&limited));
    assert_eq!(code(&testgen(&counter, &["--target", "nothing"])), 2);
    assert_eq!(code(&testgen(&counter, &[])), 2);
    assert_eq!(code(&testgen(&counter, &["--coverage", "statements"])), 2);
    assert_eq!(code(&testgen(&counter, &["--coverage", "transitions"])), 2);
    assert_eq!(code(&testgen(&counter, &["--coverage", "transitions", "--automaton", "enable"])), 2);
    assert_eq!(code(&testgen(&model("promela/peterson.pml"), &["--coverage", "latches"])), 2);
}

#[test]
fn errors_in_targets_have_a_place() {
    let folder = Folder::new("places");
    let counter = model("circuits/counter.bench");
    let said = errors(&testgen(&counter, &["--target", "carry && wrong"]));
    assert!(said.contains(":1:10") && said.contains("^"), "{said}");
    let file = folder.file("targets.txt", "true  # anything\n\nbit0 && wrong # here\n");
    let wrong = testgen(&counter, &["--sequence", file.to_str().unwrap()]);
    assert_eq!(code(&wrong), 2);
    let said = errors(&wrong);
    assert!(said.contains("targets.txt:3:9") && said.contains("bit0 && wrong"), "{said}");
    let empty = folder.file("empty.txt", "# nothing\n");
    assert_eq!(code(&testgen(&counter, &["--sequence", empty.to_str().unwrap()])), 2);
}

#[test]
fn a_sequence_is_that_of_its_targets() {
    let folder = Folder::new("sequence");
    let counter = model("circuits/counter.bench");
    let file = folder.file("targets.txt", "bit0 && bit1\nbit0 && bit1 && !clear\n!bit0 # once more\n");
    for words in [
        vec!["--sequence", file.to_str().unwrap()],
        vec!["--target", "bit0 && bit1", "--target", "bit0 && bit1 && !clear", "--target", "!bit0"],
    ] {
        let answer = json(&testgen(&counter, &[&words[..], &["--json"]].concat()));
        assert_eq!(answer["results"][0]["cycle"], 3);
        let cycles = answer["tests"][0]["cycles"].as_array().unwrap();
        assert_eq!(cycles.len(), 6);
        let bits = |cycle: usize| [&cycles[cycle]["state"]["bit0"], &cycles[cycle]["state"]["bit1"]];
        assert_eq!((bits(3), bits(4), bits(5)[0]), ([&Value::from("1"); 2], [&Value::from("1"); 2], &Value::from("0")));
    }
}

#[test]
fn tests_are_written_in_every_format() {
    let folder = Folder::new("formats");
    let counter = model("circuits/counter.bench");
    for (name, expected) in [
        ("t.json", "\"outcome\":\"reached\""),
        ("t.vcd", "$enddefinitions $end\n#0\n1!\n"),
        ("t.stim", "10\n10\n10\n10\n10\n10\n10\n1x\n.\n"),
        ("t.aiw", "10\n10\n10\n10\n10\n10\n10\n1x\n.\n"),
        ("t.txt", "test 1: 8 cycles"),
    ] {
        let path = folder.0.join(name);
        let output = testgen(&counter, &["--target", "carry", "--output", path.to_str().unwrap()]);
        assert_eq!(code(&output), 0, "{}", errors(&output));
        let written = std::fs::read_to_string(&path).unwrap();
        assert!(written.contains(expected), "{name}\n{written}");
        assert!(text(&output).contains("reached"), "{}", text(&output));
    }
    // Several tests are several files.
    let path = folder.0.join("all.stim");
    let arbiter = model("circuits/arbiter.blif");
    let output = testgen(&arbiter, &["--coverage", "latches", "--output", path.to_str().unwrap()]);
    assert!(matches!(code(&output), 0 | 1), "{}", errors(&output));
    assert!(folder.0.join("all-1.stim").exists() || path.exists());
    // No format of circuits for what is none.
    let arbiter = model("smv/arbiter.smv");
    assert_eq!(code(&testgen(&arbiter, &["--target", "grant[0]", "--format", "stimulus"])), 2);
    assert_eq!(code(&testgen(&model("promela/peterson.pml"), &["--coverage", "branches", "--format", "vcd"])), 2);
    // Never over an input.
    let copy = folder.file("copy.bench", &std::fs::read_to_string(&counter).unwrap());
    assert_eq!(code(&testgen(&copy, &["--target", "carry", "--output", copy.to_str().unwrap()])), 2);
}

#[test]
fn limits_are_kept_and_told() {
    let folder = Folder::new("limits");
    // A counter of 40 bits is full after a thousand milliard steps.
    let mut written = "INPUT(go)\nc0 = AND(go, go)\n".to_owned();
    for bit in 0..40 {
        written.push_str(&format!(
            "n{bit} = XOR(q{bit}, c{bit})\nq{bit} = DFF(n{bit})\nc{} = AND(c{bit}, q{bit})\n",
            bit + 1
        ));
    }
    written.push_str("OUTPUT(c40)\n");
    let file = folder.file("long.bench", &written);
    let begun = std::time::Instant::now();
    let output = testgen(&file, &["--target", "c40", "--time-limit", "1s", "--json"]);
    assert_eq!(code(&output), 3, "{}", errors(&output));
    assert!(begun.elapsed().as_secs() < 20);
    let said = json(&output);
    assert_eq!(said["complete"], false);
    assert!(said.to_string().contains("time limit"), "{said}");
}
