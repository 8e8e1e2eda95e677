//! Warnings that a property holds vacuously: given by every engine where they are true, and nowhere else.

use std::path::PathBuf;

use ample::{Budget, CheckOptions, Choice, Fairness, LoadOptions, Loaded, Property, Question, Report, Verdict};

/// `a` is never true; `c` and `b` are, in turn; `n` counts up to 4.
const MODEL: &str = "bool a, b, c; byte n;
active proctype P() { do :: c = 1; n = (n + 1) % 5; b = 1; b = 0; c = 0 od }";

const ENGINES: [Choice; 4] = [Choice::Auto, Choice::Named("explicit"), Choice::Named("symbolic"), Choice::Named("sog")];

fn load(text: &str) -> Loaded {
    ample::load_text("m.pml", text.into(), &LoadOptions::default()).unwrap()
}

fn property(name: &str, question: Question) -> Property {
    Property { name: name.into(), question, text: name.into(), span: None }
}

fn check(loaded: &Loaded, question: Question, options: CheckOptions) -> Report {
    let mut system = loaded.system.clone();
    let properties = vec![property("p", question)];
    ample::adapt(&mut system, &properties);
    ample::check(&system, &CheckOptions { properties: Some(properties), ..options })
}

/// The warnings of a formula that holds.
fn warnings(loaded: &Loaded, question: Question, options: CheckOptions) -> Vec<String> {
    let report = check(loaded, question, options);
    assert_eq!(report.answers[0].verdict(), Verdict::Holds, "{:?}", report.answers[0]);
    report.answers[0].warnings.clone()
}

#[test]
fn antecedents_that_are_never_true_are_warned_of_by_every_engine() {
    let table = [
        ("[] (a -> <> b)", Some("`a` is false in every state of every run")),
        ("[] (c -> <> b)", None),
        ("<> a -> <> b", Some("no run satisfies `<>a`")),
        ("<> c -> <> b", None),
        ("(n == 1) -> <> b", Some("`n == 1` is false in every initial state")),
        ("(n == 0) -> <> b", None),
        ("[] ((c && a) -> b)", Some("`c && a` is false in every state")),
        ("[] (<> a -> b)", Some("no run ever satisfies `<>a`")),
        ("[] (c -> [] ((n == 7) -> b))", Some("no run satisfies `<>(c && <>(n == 7))`")),
        ("[] (c -> <> ((n == 3) -> b))", None),
        ("[] (a -> (c -> b))", Some("`a` is false in every state of every run")),
        ("<> (a -> b)", Some("`a` is false in every state of every run")),
        ("(a -> b) W (n == 9)", Some("`a` is false in every state of every run")),
        ("[] ((a -> b) || (n == 9))", Some("`a` is false in every state of every run")),
        ("! ([] (a -> b) -> [] (n < 4))", Some("`a` is false in every state of every run")),
        // What is denied is no promise, and an equivalence has no antecedent.
        ("! <> (! (c -> c))", None),
        ("[] (a <-> (n == 9))", None),
        ("[] ! a", None),
        ("[] (! a || b)", None),
    ];
    let loaded = load(MODEL);
    for engine in ENGINES {
        for (formula, expected) in table {
            let question = Question::Ltl(loaded.ltl(formula).unwrap());
            let warned = warnings(&loaded, question.clone(), CheckOptions { engine, ..CheckOptions::default() });
            match expected {
                Some(why) => {
                    assert!(warned.iter().any(|warning| warning.contains(why)), "{engine:?} {formula}: {warned:?}")
                }
                None => assert!(warned.is_empty(), "{engine:?} {formula}: {warned:?}"),
            }
            let silent = CheckOptions { engine, no_vacuity: true, ..CheckOptions::default() };
            assert!(warnings(&loaded, question, silent).is_empty(), "{engine:?} {formula}");
        }
    }
}

#[test]
fn branching_formulas_are_looked_at_too() {
    let table = [
        ("AG (a -> AF b)", Some("`a` is false in every state")),
        ("AG (c -> AF b)", None),
        ("EF (a -> b)", Some("`a` is false in every state")),
        ("AG (c -> AX ((n == 7) -> b))", Some("no initial state satisfies `EF(c & EX(n == 7))`")),
        ("AG (EF a -> b)", Some("no run ever satisfies `EF a`")),
        ("a -> AF b", Some("`a` is false in every initial state")),
        ("AG (EF c -> EF b)", None),
    ];
    let loaded = load(MODEL);
    for engine in [Choice::Auto, Choice::Named("explicit"), Choice::Named("symbolic")] {
        for (formula, expected) in table {
            let question = Question::Ctl(loaded.ctl(formula).unwrap());
            let warned = warnings(&loaded, question, CheckOptions { engine, ..CheckOptions::default() });
            match expected {
                Some(why) => {
                    assert!(warned.iter().any(|warning| warning.contains(why)), "{engine:?} {formula}: {warned:?}")
                }
                None => assert!(warned.is_empty(), "{engine:?} {formula}: {warned:?}"),
            }
        }
    }
}

#[test]
fn a_justice_that_no_run_has_is_warned_of_by_every_engine() {
    let loaded = load(MODEL);
    for engine in ENGINES {
        for (justice, vacuous) in [("false", true), ("a", true), ("n == 9", true), ("b", false), ("!b", false)] {
            for fairness in [Fairness::None, Fairness::Weak] {
                if engine == Choice::Named("sog") && fairness != Fairness::None {
                    continue;
                }
                let options = CheckOptions {
                    engine,
                    fairness,
                    justice: vec![loaded.expression(justice).unwrap()],
                    ..CheckOptions::default()
                };
                let question = Question::Ltl(loaded.ltl("[] (c -> <> b)").unwrap());
                let warned = warnings(&loaded, question, options);
                let why = "run on which every `--justice` holds again and again";
                assert_eq!(
                    warned.iter().any(|warning| warning.contains(why)),
                    vacuous,
                    "{engine:?} {justice}: {warned:?}"
                );
            }
        }
    }
}

#[test]
fn under_a_justice_the_antecedent_must_be_true_on_a_just_run() {
    // Where x comes to 2 it stays, and that is not just.
    let loaded = load("byte x; active proctype P() { do :: x = 1; x = 0 :: x = 2; do :: x = 2 od od }");
    let question = || Question::Ltl(loaded.ltl("[] ((x == 2) -> <> (x == 1))").unwrap());
    for engine in ENGINES {
        let justice = vec![loaded.expression("x == 0").unwrap()];
        let warned = warnings(&loaded, question(), CheckOptions { engine, justice, ..CheckOptions::default() });
        assert!(warned.iter().any(|warning| warning.contains("`x == 2` is false")), "{engine:?} {warned:?}");
        let report = check(&loaded, question(), CheckOptions { engine, ..CheckOptions::default() });
        assert_eq!(report.verdict(), Verdict::Violated);
        assert!(report.answers[0].warnings.is_empty());
    }
}

#[test]
fn models_without_runs_are_warned_of() {
    let endless = load("byte x; active proctype P() { atomic { do :: x = 1 - x od } }");
    let error = load("byte a[2]; byte i = 3; byte x = a[i]; active proctype P() { x = 1 }");
    for (loaded, why) in [(&endless, "endless atomic sequence"), (&error, "every initial state is a run-time error")] {
        let warned = warnings(loaded, Question::Ltl(loaded.ltl("<> (x == 7)").unwrap()), CheckOptions::default());
        assert!(warned.iter().any(|warning| warning.contains(why)), "{warned:?}");
    }
    let ends = load("byte x; active proctype P() { atomic { do :: x < 2 -> x++ :: else -> break od } }");
    assert!(warnings(&ends, Question::Ltl(ends.ltl("<> (x == 2)").unwrap()), CheckOptions::default()).is_empty());
}

#[test]
fn nets_are_warned_of_too() {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models/petri/philosophers_4.pnml");
    let loaded = ample::load(&file, &LoadOptions::default()).unwrap();
    let place = |number: usize| format!("\"{}\"", loaded.system.globals[number].name);
    let (dead, alive) = (format!("{} > 7", place(0)), format!("{} >= 0", place(0)));
    for (antecedent, vacuous) in [(&dead, true), (&alive, false)] {
        let ltl = Question::Ltl(loaded.ltl(&format!("[] (({antecedent}) -> [] ({alive}))")).unwrap());
        let ctl = Question::Ctl(loaded.ctl(&format!("AG (({antecedent}) -> EF ({alive}))")).unwrap());
        for question in [ltl, ctl] {
            let warned = warnings(&loaded, question, CheckOptions::default());
            assert_eq!(!warned.is_empty(), vacuous, "{antecedent}: {warned:?}");
        }
    }
}

#[test]
fn what_is_not_decided_soon_is_not_mentioned() {
    // Far more states than are looked at for a warning; the formula itself is decided at once.
    let text = "byte x[9]; bool a; active [9] proctype P() { do :: x[_pid] = (x[_pid] + 1) % 100 od }";
    let loaded = load(text);
    let question = Question::Ltl(loaded.ltl("a || [] (a -> [] (x[0] >= 0 && x[1] >= 0)) || true").unwrap());
    let options = CheckOptions {
        engine: Choice::Named("explicit"),
        properties: Some(vec![property("p", question)]),
        budget: Budget::unlimited().with_memory(2 << 30),
        ..CheckOptions::default()
    };
    let report = ample::check(&loaded.system, &options);
    assert_eq!(report.verdict(), Verdict::Holds);
    assert_eq!(report.answers[0].warnings, Vec::<String>::new());
}

#[test]
fn our_models_are_not_warned_of() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models/promela");
    let mut looked_at = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "pml") {
            continue;
        }
        let loaded = ample::load(&path, &LoadOptions::default()).unwrap();
        let properties: Vec<Property> =
            loaded.system.properties.iter().filter(|one| matches!(one.question, Question::Ltl(_))).cloned().collect();
        if properties.is_empty() {
            continue;
        }
        looked_at += 1;
        let budget = Budget::unlimited().with_time(std::time::Duration::from_secs(5));
        let options = CheckOptions { properties: Some(properties), budget, ..CheckOptions::default() };
        let report = ample::check(&loaded.system, &options);
        for answer in &report.answers {
            assert_eq!(answer.warnings, Vec::<String>::new(), "{}: {}", path.display(), answer.property);
        }
    }
    assert!(looked_at > 5, "{looked_at} models with formulas");
}
