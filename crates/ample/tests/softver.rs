//! SoftVer programs from text to answer: the figures of K. Yorav's bubble sort, our versions of the thesis's programs, and
//! that all engines, with and without reductions, agree on random programs.
//!
//! `AMPLE_SEED=n` looks at one random program only and shows it.

#[path = "../../ample-lang/tests/softver/random.rs"]
mod random;
mod support;

use std::path::{Path, PathBuf};

use ample::{CheckOptions, Choice, PartialOrder, Property, Question, StaticReduction, System, Verdict};
use ample_random::Random;
use support::Folder;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn model(text: &str) -> System {
    match ample::load_text("m.softver", text.into(), &Default::default()) {
        Ok(loaded) => loaded.system,
        Err(error) => panic!("{error}\n{text}"),
    }
}

fn with(engine: &'static str, reductions: &[StaticReduction]) -> CheckOptions {
    CheckOptions {
        engine: Choice::Named(engine),
        reductions: reductions.to_vec(),
        partial_order: PartialOrder::None,
        ..CheckOptions::default()
    }
}

fn states(system: &System, engine: &'static str) -> u64 {
    ample::states(system, &with(engine, &[])).statistics.states
}

fn verdict(system: &System, property: &Property, options: CheckOptions) -> Verdict {
    let options = CheckOptions { properties: Some(vec![property.clone()]), no_vacuity: true, ..options };
    ample::check(system, &options).answer(&property.id()).expect("it was asked").verdict()
}

fn property(text: &str, question: Question) -> Property {
    Property { name: "asked".into(), question, text: text.into(), span: None }
}

fn ctl(system: &System, text: &str) -> Property {
    property(text, Question::Ctl(ample::ctl(system, text).expect(text)))
}

fn ltl(system: &System, text: &str) -> Property {
    property(text, Question::Ltl(ample::ltl(system, text).expect(text)))
}

fn invariant(system: &System, text: &str) -> Property {
    property(text, Question::Invariant(ample::expression(system, text).expect(text)))
}

/// The bubble sort of three numbers of two bits, from all values or from zero.
fn sort(from_zero: bool) -> System {
    let text = std::fs::read_to_string(root().join("models/softver/sort_3.softver")).expect("it is there");
    if !from_zero {
        return model(&text);
    }
    let mut text = text.replace("boolean flag;", "boolean flag = FALSE;").replace("int a[3];", "int a[3] = 0;");
    for name in ["tmp", "index", "sub_ind"] {
        text = text.replace(&format!("int {name};"), &format!("int {name} = 0;"));
    }
    model(&text)
}

#[test]
fn the_bubble_sort_has_its_states_and_sorts() {
    for (from_zero, count) in [(true, 481), (false, 21510)] {
        let system = sort(from_zero);
        for engine in ["explicit", "symbolic"] {
            assert_eq!(states(&system, engine), count, "{engine}");
            for reductions in [&[][..], &StaticReduction::ALL] {
                for stated in ample::stated(&system) {
                    let found = verdict(&system, &stated, with(engine, reductions));
                    assert_eq!(found, Verdict::Holds, "{} by {engine}", stated.id());
                }
            }
        }
        let sorted = invariant(&system, "label(halt) -> a[0] <= a[1] && a[1] <= a[2]");
        assert_eq!(verdict(&system, &sorted, with("bounded", &[])), Verdict::Holds);
        let unsorted = invariant(&system, "label(halt) -> a[0] < a[1]");
        for engine in ["explicit", "symbolic", "bounded"] {
            assert_eq!(verdict(&system, &unsorted, with(engine, &[])), Verdict::Violated, "{engine}");
        }
    }
}

/// The values behind `expect KEY` in a model's text: what is behind the key, and the value.
fn expectations<'a>(text: &'a str, key: &str) -> Vec<(&'a str, &'a str)> {
    let mark = format!("expect {key}");
    let lines = text.lines().filter_map(|line| line.trim().strip_prefix(&mark)?.split_once(':'));
    lines.map(|(name, value)| (name.trim(), value.trim())).collect()
}

#[test]
fn our_models_have_the_counts_and_verdicts_they_say() {
    let folder = root().join("models/softver");
    let files = std::fs::read_dir(&folder).expect("it is there").map(|entry| entry.expect("it can be read").path());
    let mut files: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|extension| extension == "softver")).collect();
    files.sort();
    assert!(files.len() >= 8, "{files:?}");
    let mut wrong = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("it can be read");
        let system = ample::load(&file, &Default::default()).expect("it is right").system;
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for (_, count) in expectations(&text, "states") {
            let found = ample::states(&system, &CheckOptions::default()).statistics.states;
            if found != count.parse::<u64>().expect("a number") {
                wrong.push(format!("{name}: {found} states, expected {count}"));
            }
        }
        let report = ample::check(&system, &CheckOptions::default());
        let mut expected: Vec<(String, &str)> =
            expectations(&text, "ctl ").into_iter().map(|(name, word)| (format!("ctl:{name}"), word)).collect();
        assert_eq!(expected.len(), system.properties.len(), "{name} says nothing of a formula");
        expected.extend(expectations(&text, "deadlock").into_iter().map(|(_, word)| ("deadlock".to_owned(), word)));
        for (id, word) in expected {
            let found = report.answer(&id).map(|answer| answer.verdict());
            let wanted = if word == "holds" { Verdict::Holds } else { Verdict::Violated };
            if found != Some(wanted) {
                wrong.push(format!("{name}: {id} {found:?}, expected {word}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Asks all engines that answer, with and without reductions.
fn compare(system: &System, property: &Property, engines: &[&'static str], shown: &str) {
    let plain = verdict(system, property, with("explicit", &[]));
    assert_ne!(plain, Verdict::Unknown, "{}\n{shown}", property.text);
    for engine in engines {
        for reductions in [&[][..], &[StaticReduction::Paths], &[StaticReduction::Dead], &StaticReduction::ALL] {
            let found = verdict(system, property, with(engine, reductions));
            assert_eq!(found, plain, "{} by {engine} with {reductions:?}\n{shown}", property.text);
        }
    }
    let by_default = verdict(system, property, CheckOptions::default());
    assert_eq!(by_default, plain, "{} by default\n{shown}", property.text);
}

fn engines_agree(seeds: std::ops::Range<u64>) {
    let only: Option<u64> = std::env::var("AMPLE_SEED").ok().map(|seed| seed.parse().expect("a number"));
    let mut compared = 0;
    for seed in only.map_or(seeds, |seed| seed..seed + 1) {
        let mut random = Random::new(seed);
        let processes = 1 + random.below(3_usize);
        let program = random::program(&mut random, processes);
        let system = model(&program.text);
        let shown = format!("seed {seed}\n{}", program.text);
        if only.is_some() {
            println!("{shown}");
        }
        let explored = ample_model::interpret::explore(&system, 2000);
        if !explored.complete {
            continue;
        }
        compared += 1;
        assert_eq!(states(&system, "explicit"), explored.states, "{shown}");
        assert_eq!(states(&system, "symbolic"), explored.states, "{shown}");
        for stutters in [true, false] {
            let text = random::ctl(&mut random, &program.atoms, 2, stutters);
            compare(&system, &ctl(&system, &text), &["explicit", "symbolic"], &shown);
        }
        let atom = random.pick(&program.atoms);
        let all = ["explicit", "symbolic", "bounded"];
        compare(&system, &invariant(&system, &atom), &all, &shown);
        compare(&system, &ltl(&system, &format!("F G ({atom})")), &["explicit", "symbolic"], &shown);
        compare(&system, &Property::deadlock(), &all, &shown);
    }
    assert!(only.is_some() || compared > 0);
}

#[test]
fn engines_agree_on_random_programs() {
    engines_agree(0..25);
}

#[test]
#[ignore = "takes minutes"]
fn engines_agree_on_many_random_programs() {
    engines_agree(1000..1400);
}

#[test]
fn labels_and_variables_of_processes_are_named_in_formulas() {
    let system = model(
        "#INTEGER_LENGTH# 2 process P int x = 1; { send(Q, x); label sent; } \
         process Q int x = 0, y = 0; { receive(P, y); label got; }",
    );
    for (text, expected) in [
        ("AF label(P.sent)", Verdict::Holds),
        ("AF label(sent)", Verdict::Holds),
        ("AG (label(got) -> y = P.x)", Verdict::Holds),
        ("AF (label(P.terminate) && label(Q.terminate))", Verdict::Holds),
        ("AG Q.x = 0", Verdict::Holds),
        ("AG P.x = Q.x", Verdict::Violated),
    ] {
        for engine in ["explicit", "symbolic"] {
            assert_eq!(verdict(&system, &ctl(&system, text), with(engine, &[])), expected, "{text} by {engine}");
        }
    }
    assert_eq!(verdict(&system, &Property::deadlock(), CheckOptions::default()), Verdict::Holds);
}

/// A program whose reduced structure would be wrong if only `h` itself were a breaking point: its predecessor must be one.
#[test]
fn a_label_that_is_asked_for_is_come_to_by_a_step_of_its_own() {
    let system = model("#INTEGER_LENGTH# 1 int x = 0; { x := {0, 1}; if x = 0 then label h; else skip; fi; }");
    let formula = "EF (!label(h) && A [!label(h) U label(h)])";
    compare(&system, &ctl(&system, formula), &["explicit", "symbolic"], formula);
    assert_eq!(verdict(&system, &ctl(&system, formula), CheckOptions::default()), Verdict::Holds);
}

/// Path reduction does not preserve X: it is not used for formulas with X, and would change their truth.
#[test]
fn formulas_with_next_see_every_step() {
    let system = model("#INTEGER_LENGTH# 2 int x = 0, y = 0; { y := 1; y := 2; x := 1; }");
    let formula = ctl(&system, "AX AX x = 0");
    compare(&system, &formula, &["explicit", "symbolic"], &formula.text);
    assert_eq!(verdict(&system, &formula, CheckOptions::default()), Verdict::Holds);
}

#[test]
fn the_command_reads_checks_and_converts_programs() {
    let folder = Folder::new("softver-command");
    let text = "#INTEGER_LENGTH# 2 int x; { x := {0, 1}; while x < 3 do x := x + 1; od; label done; }\n\
                SPEC AF (label(done) && x = 3)\nLTLSPEC F G x = 3\n";
    let file = folder.file("up.swv", text);
    let run = |words: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_ample")).args(words).output().expect("it runs");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let path = file.to_str().expect("a plain name");
    for engine in ["explicit", "symbolic", "auto"] {
        assert_eq!(run(&["check", "--engine", engine, path]).0, Some(0), "{engine}");
    }
    assert_eq!(run(&["check", "--engine", "bounded", "--invariant", "label(done) -> x = 3", path]).0, Some(0));
    let plain = folder.file("program", text);
    assert_eq!(run(&["check", "--language", "softver", plain.to_str().expect("a plain name")]).0, Some(0));
    let (code, smv) = run(&["convert", "--to", "smv", path]);
    assert_eq!(code, Some(0));
    let converted = ample::load_text("up.smv", smv, &Default::default()).expect("it is a model").system;
    let report = ample::check(&converted, &CheckOptions::default());
    let answers: Vec<Verdict> = report.answers.iter().map(|answer| answer.verdict()).collect();
    assert!(!answers.is_empty() && answers.iter().all(|verdict| *verdict == Verdict::Holds), "{answers:?}");
}
