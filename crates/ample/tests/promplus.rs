//! PROM+ programs from text to answer: the models of M. Kattenbelt's thesis, and that verdicts on random programs with objects
//! are the same with and without reductions.
//!
//! `AMPLE_SEED=n` looks at one random program only and shows it.

mod support;

use ample::{
    Budget, CheckOptions, Choice, LoadOptions, PartialOrder, Property, Question, StaticReduction, System, Verdict,
};
use ample_lang::promplus::{Widths, random};
use ample_model::interpret::explore;
use support::{Folder, ample, errors, json, result, text};

fn load(text: &str, widths: Widths) -> System {
    let options = LoadOptions { widths, ..LoadOptions::default() };
    match ample::load_text("m.promp", text.into(), &options) {
        Ok(loaded) => loaded.system,
        Err(error) => panic!("{error}\n{text}"),
    }
}

fn model(name: &str) -> std::path::PathBuf {
    support::model("promplus").join(format!("{name}.promp"))
}

fn asked(text: &str, question: Question) -> Property {
    Property { name: text.into(), question, text: text.into(), span: None }
}

fn verdict(system: &System, property: &Property, options: CheckOptions) -> Verdict {
    let options = CheckOptions { properties: Some(vec![property.clone()]), no_vacuity: true, ..options };
    let report = ample::check(system, &options);
    report.answer(&property.id()).expect("it was asked").verdict()
}

#[test]
fn states_are_counted_as_in_the_thesis() {
    let counts = [
        ("peterson", 64, 77),
        ("peterson_objects", 126, 138),
        ("dekker", 288, 397),
        ("dekker_objects", 356, 467),
        ("dijkstra", 860, 1247),
        ("dijkstra_objects", 942, 1338),
        ("philosophers_3", 875, 1490),
        ("philosophers_3_objects", 1082, 1861),
        ("philosophers_4", 8545, 22288),
        ("philosophers_4_objects", 11124, 29539),
        ("aliases", 9, 0),
    ];
    for (name, states, revisits) in counts {
        let output = ample(&["states", "--json", "--por", "none"], &model(name));
        assert_eq!(output.status.code(), Some(0), "{name}: {}", errors(&output));
        let report = json(&output);
        let count = |key: &str| report["stats"][key].as_u64().unwrap();
        // As Spin does, the initial state counts as stored, and so as a transition.
        assert_eq!((count("states"), count("transitions") - count("states")), (states, revisits), "{name}");
    }
}

#[test]
fn the_models_have_their_verdicts() {
    for (name, deadlock, assertions) in [
        ("peterson_objects", "holds", "holds"),
        ("peterson_broken", "holds", "violated"),
        ("dekker_objects", "holds", "holds"),
        ("dijkstra_objects", "holds", "holds"),
        ("philosophers_3_objects", "violated", "holds"),
        ("philosophers_4_objects", "violated", "holds"),
        ("philosophers_functions", "violated", "holds"),
        ("aliases", "holds", "holds"),
    ] {
        for options in [&["--por", "none", "--reductions", "none"][..], &[]] {
            let arguments = [&["check", "--json", "--deadlock", "--assertions"], options].concat();
            let report = json(&ample(&arguments, &model(name)));
            assert_eq!(result(&report, "deadlock")["verdict"], deadlock, "{name} {options:?}");
            assert_eq!(result(&report, "assertions")["verdict"], assertions, "{name} {options:?}");
        }
    }
}

#[test]
fn a_recursion_without_end_is_told() {
    let folder = Folder::new("promplus-recursion");
    let text = "byte x; function f() { f(); } active [1] proctype P() { f(); }";
    let report = json(&ample(&["check", "--json", "--ref-bits", "4"], &folder.file("m.promp", text)));
    let result = result(&report, "assertions");
    assert_eq!(result["verdict"], "violated", "{report}");
    assert!(result.to_string().contains("too many objects"), "{report}");
}

#[test]
fn formulas_over_objects_are_checked() {
    let folder = Folder::new("promplus-formulas");
    let file = folder.file(
        "m.promp",
        "byte *p, *q; bool done;
         active [1] proctype P() { p = new byte; q = p; do :: *p < 3 -> *p = *p + 1; :: else -> break; od; done = true; }",
    );
    for (option, formula, expected) in [
        ("--invariant", "p == null || *p <= 3", "holds"),
        ("--invariant", "p == null || *p < 3", "violated"),
        ("--ltl", "<> done", "holds"),
        ("--ltl", "[] (p == q)", "violated"),
        ("--ltl", "<> [] (p == q)", "holds"),
        ("--ctl", "AG (p != null -> EF (done))", "holds"),
        ("--ctl", "EF (p != q)", "holds"),
        ("--ctl", "AF (p == null)", "holds"),
        ("--ctl", "AG (p == q)", "violated"),
    ] {
        let report = json(&ample(&["check", "--json", option, formula], &file));
        let verdict = &report["results"].as_array().unwrap().last().unwrap()["verdict"];
        assert_eq!(verdict, expected, "{option} {formula}: {report}");
    }
}

#[test]
fn limits_of_ids_and_references_are_told() {
    let folder = Folder::new("promplus-limits");
    let file = folder
        .file("m.promp", "active [1] proctype P() { do :: run Q(); od; } active [0] proctype Q() { do :: skip; od; }");
    let output = ample(&["check", "--deadlock", "--pid-bits", "2"], &file);
    assert!(text(&output).contains("all 4 process ids were taken"), "{}", text(&output));
    let file = folder.file(
        "list.promp",
        "typedef Node { Node *next } Node *n, *top;
         active [1] proctype P() { do :: n = new Node; n.next = top; top = n; od; }",
    );
    let output = ample(&["check", "--assertions", "--ref-bits", "3"], &file);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output).contains("too many objects (7 max)"), "{}", text(&output));
}

#[test]
fn a_run_shows_objects_and_draws_them() {
    let folder = Folder::new("promplus-picture");
    let picture = folder.file("state.dot", "");
    let file = folder.file(
        "m.promp",
        "typedef Node { byte v; Node *next } Node *n;
         active [1] proctype P() { byte *p; n = new Node; n.next = n; n.v = 3; p = new byte; *p = 7; }",
    );
    let output = ample(&["simulate", "--steps", "5", "--dot", picture.to_str().unwrap()], &file);
    let said = text(&output);
    assert!(said.contains("n.v = 3") && said.contains("#1.v: 0 → 3") && said.contains("#2.value = 7"), "{said}");
    let dot = std::fs::read_to_string(&picture).unwrap();
    for line in
        ["globals -> o1 [label=\"n\"]", "o1 -> o1 [label=\"next\"]", "p0 -> o2 [label=\"p\"]", "#2: byte\\lvalue = 7"]
    {
        assert!(dot.contains(line), "{line}\n{dot}");
    }
}

#[test]
fn other_engines_say_why_not() {
    for engine in ["symbolic", "bounded", "sog", "modular"] {
        let output = ample(&["check", "--engine", engine, "--deadlock"], &model("peterson_objects"));
        assert_ne!(output.status.code(), Some(0), "{engine}: {}", text(&output));
        let said = text(&output) + &errors(&output);
        assert!(said.contains("heap") || said.contains("objects"), "{engine}: {said}");
    }
}

#[test]
fn reductions_do_not_change_verdicts_on_random_programs() {
    let one = std::env::var("AMPLE_SEED").ok().and_then(|seed| seed.parse().ok());
    let seeds = one.map_or(0..25, |seed: u64| seed..seed + 1);
    let (mut violated, mut held) = (0, 0);
    for seed in seeds {
        let program = random::program(seed);
        if one.is_some() {
            println!("{program}");
        }
        let system = load(&program, Widths { pid_bits: 2, ref_bits: 3 });
        let plain = explore(&system, 3_000);
        if !plain.complete {
            continue;
        }
        let found = |is_violated: bool| if is_violated { Verdict::Violated } else { Verdict::Holds };
        let mut properties = vec![
            (Property::deadlock(), Some(found(plain.deadlocks > 0))),
            (Property::assertions(), Some(found(plain.violations > 0))),
        ];
        for formula in ["[] (m == n || g < 2)", "<> (p != null || h)", "[] (p == q -> <> (g == 0))"] {
            let ltl = ample::ltl(&system, formula).unwrap();
            properties.push((asked(formula, Question::Ltl(ltl)), None));
        }
        for formula in ["AG (EF (m == n))", "EF (p == q && p != null)", "AF (n != null)"] {
            let ctl = ample::ctl(&system, formula).unwrap();
            properties.push((asked(formula, Question::Ctl(ctl)), None));
        }
        for (property, expected) in properties {
            let engine = || CheckOptions {
                engine: Choice::Named("explicit"),
                budget: Budget::unlimited(),
                ..CheckOptions::default()
            };
            let plainly = CheckOptions { reductions: Vec::new(), partial_order: PartialOrder::None, ..engine() };
            let plainly = verdict(&system, &property, plainly);
            let name = format!("{seed}, {}\n{program}", property.id());
            if let Some(expected) = expected {
                assert_eq!(plainly, expected, "{name}");
            }
            for partial_order in [PartialOrder::None, PartialOrder::Auto, PartialOrder::Persistent, PartialOrder::Sleep]
            {
                for reductions in [Vec::new(), StaticReduction::ALL.to_vec()] {
                    let options = CheckOptions { reductions: reductions.clone(), partial_order, ..engine() };
                    let with = verdict(&system, &property, options);
                    assert_eq!(with, plainly, "{partial_order:?}, {reductions:?}: {name}");
                }
            }
            match plainly {
                Verdict::Violated => violated += 1,
                Verdict::Holds => held += 1,
                Verdict::Unknown | Verdict::Computed => panic!("{name}"),
            }
        }
    }
    assert!(one.is_some() || violated > 30 && held > 30, "{violated} violated, {held} held");
}
