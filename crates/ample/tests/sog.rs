//! `ample sog`: graphs and verdicts of models as a user gets them.

use std::path::PathBuf;
use std::process::{Command, Output};

use ample::sog::{Kind, SogOptions, build, check, formula};
use ample::{CheckOptions, LoadOptions, Silent, Verdict};
use serde_json::Value;

fn net(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models/petri").join(name)
}

fn ample(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ample")).args(words).output().unwrap()
}

#[test]
fn the_command_builds_a_graph_and_writes_it() {
    let file = net("philosophers_4.pnml");
    let loaded = ample::load(&file, &LoadOptions::default()).unwrap();
    let edges = &loaded.system.processes[0].edges;
    let names: Vec<&str> = edges.iter().map(|edge| edge.label.as_str()).collect();
    // Two of the four transitions of each philosopher, as the literature has it.
    let wanted: Vec<&str> =
        names.iter().copied().filter(|name| name.starts_with("GoEat") || name.starts_with("Release")).collect();
    assert_eq!(wanted.len(), 8, "{names:?}");
    let dot = std::env::temp_dir().join(format!("sog-{}.dot", std::process::id()));
    let (file, path) = (file.display().to_string(), dot.display().to_string());
    let output =
        ample(&["sog", "--json", "--threads", "2", "--observe", &wanted.join(","), "--dot", &path, file.as_str()]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&value["statistics"]["aggregates"], &value["statistics"]["arcs"]), (&16.into(), &64.into()));
    assert_eq!(value["statistics"]["states"], "322");
    assert!(std::fs::read_to_string(&dot).unwrap().starts_with("digraph"));
    std::fs::remove_file(dot).unwrap();
    let output = ample(&["sog", "--observe", "nobody", file.as_str()]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn formulas_are_checked_with_a_run_that_shows_it() {
    let file = net("erk_4.pnml").display().to_string();
    let output = ample(&["sog", "--ltl", "G F k5", file.as_str()]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let output = ample(&["sog", "--json", "--ltl", "(!k5) W k3", file.as_str()]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["verdict"], "holds");
    let sensitive = ["sog", "--ltl", "k1", file.as_str()];
    assert_eq!(ample(&sensitive).status.code(), Some(3));
    // k6 can come first.
    let collapsed = ["sog", "--collapsed", "--ltl", "k1", file.as_str()];
    assert_eq!(ample(&collapsed).status.code(), Some(1));
}

/// Models of other languages, with formulas over their states.
const MODELS: [(&str, &str, &[&str]); 2] = [
    (
        "mutex.pml",
        "bool busy; byte inside;
         active [2] proctype P() { do :: !busy; busy = true; inside++; inside--; busy = false od }",
        &["[] (inside < 2)", "[] <> (inside == 0)", "<> [] busy", "[] <> (inside == 1)"],
    ),
    (
        "count.pml",
        "byte x; active proctype P() { do :: x < 5 -> x++ :: x == 5 -> break od }",
        &["<> (x == 5)", "[] (x < 5)", "(x < 3) U (x == 3)", "<> [] (x == 5)"],
    ),
];

#[test]
fn verdicts_are_those_of_the_explicit_engine() {
    for (name, text, formulas) in MODELS {
        let loaded = ample::load_text(name, text.into(), &LoadOptions::default()).unwrap();
        for text in formulas {
            let ltl = loaded.ltl(text).unwrap();
            let question = ample::Question::Ltl(ltl);
            let property = ample::Property { name: "it".into(), question, text: (*text).into(), span: None };
            let options = CheckOptions { properties: Some(vec![property]), ..CheckOptions::default() };
            let expected = ample::check(&loaded.system, &options, &mut Silent).answers[0].verdict();
            for rule in [ample::sog::Rule::Static, ample::sog::Rule::Definition] {
                let options = SogOptions { threads: 2, rule, ..SogOptions::default() };
                let judged = check(&loaded.system, &formula(&loaded, text).unwrap(), &options, &mut Silent).unwrap();
                let found = if judged.violation.is_some() { Verdict::Violated } else { Verdict::Holds };
                assert_eq!(found, expected, "{name}: {text} {rule:?}");
            }
        }
    }
}

#[test]
fn states_and_events_are_observed_together() {
    let (name, text, _) = MODELS[1];
    let loaded = ample::load_text(name, text.into(), &LoadOptions::default()).unwrap();
    let atoms = vec![loaded.expression("x > 2").unwrap()];
    let options = SogOptions { atoms, kind: Kind::State, ..SogOptions::default() };
    let built = build(&loaded.system, &options, &mut Silent).unwrap();
    assert_eq!((built.graph.size().aggregates, built.graph.size().silent), (2, 1));
    let mixed = formula(&loaded, "G (\"x == 5\" -> G !\"x < 5\")").unwrap();
    assert!(check(&loaded.system, &mixed, &SogOptions::default(), &mut Silent).unwrap().violation.is_none());
}

#[test]
fn atomic_sequences_are_refused() {
    let text = "byte x; active [2] proctype P() { do :: atomic { x = 1; x = 0 } od }";
    let loaded = ample::load_text("atomic.pml", text.into(), &LoadOptions::default()).unwrap();
    let error = build(&loaded.system, &SogOptions::default(), &mut Silent).unwrap_err();
    assert!(error.to_string().contains("atomic"), "{error}");
}
