//! Run-time errors: in a formula they are violations, and where they end a run, that is told.

use ample::{
    Algorithm, CheckOptions, Choice, Direction, Emptiness, Explicit, Fairness, LoadOptions, Loaded, PartialOrder,
    Property, Question, Reach, Reason, Report, Search, Symbolic, Verdict,
};
use ample_model::{Interpreter, Outcome};

/// `i` goes up to 3, one more than `a` has elements, and `d` down to 0.
const MODEL: &str = "
byte a[3]; byte i; byte d = 2; byte n; chan nobody; chan q = [1] of { byte };
active proctype P() { do :: i < 3 -> i++ :: else -> break od; do :: n = 1 - n od }
active proctype Q() { do :: d > 0 -> d-- :: else -> break od; do :: q!1; q?_ od }
";

fn load(text: &str) -> Loaded {
    ample::load_text("m.pml", text.into(), &LoadOptions::default()).unwrap_or_else(|error| panic!("{error:?}\n{text}"))
}

fn property(text: &str, question: Question) -> Property {
    Property { name: text.into(), question, text: text.into(), span: None }
}

/// All ways to look at a temporal property.
fn ways() -> Vec<(String, CheckOptions)> {
    let base = |engine| CheckOptions { engine, ..CheckOptions::default() };
    let explicit = || base(Choice::Named("explicit"));
    let by = |explicit: Explicit| CheckOptions { engines: explicit.into(), ..base(Choice::Named("explicit")) };
    let symbolic = |symbolic: Symbolic| CheckOptions { engines: symbolic.into(), ..base(Choice::Named("symbolic")) };
    let mut ways = vec![
        explicit(),
        base(Choice::Auto),
        by(Explicit { emptiness: Emptiness::Components, ..Explicit::default() }),
        by(Explicit { emptiness: Emptiness::Nested, ..Explicit::default() }),
        CheckOptions { partial_order: PartialOrder::None, ..explicit() },
        CheckOptions { partial_order: PartialOrder::TwoPhase, ..explicit() },
        by(Explicit { algorithm: Algorithm::Stubborn, ..Explicit::default() }),
        by(Explicit { search: Search::DepthFirst, ..Explicit::default() }),
        by(Explicit { search: Search::BreadthFirst, ..Explicit::default() }),
        symbolic(Symbolic::default()),
        symbolic(Symbolic { reach: Reach::None, ..Symbolic::default() }),
        symbolic(Symbolic { direction: Direction::Forward, ..Symbolic::default() }),
        symbolic(Symbolic { direction: Direction::Backward, ..Symbolic::default() }),
        symbolic(Symbolic { liveness_to_safety: true, ..Symbolic::default() }),
        base(Choice::Named("sog")),
    ];
    for partial_order in [PartialOrder::Exploration, PartialOrder::ExplorationNew, PartialOrder::ExplorationUnexpanded]
    {
        ways.push(CheckOptions { partial_order, ..symbolic(Symbolic::default()) });
    }
    ways.into_iter()
        .map(|way| {
            let CheckOptions { engine, engines, partial_order, .. } = &way;
            (format!("{engine:?} {partial_order:?} {engines:?}"), way)
        })
        .collect()
}

/// The last state of the only answer's run, and its message.
fn shown(loaded: &Loaded, report: &Report) -> (ample_model::State, String) {
    let Outcome::Violated(violation) = &*report.answers[0].outcome else { panic!("not violated: {report:?}") };
    assert!(violation.trace.cycle.is_empty(), "{violation:?}");
    let states = Interpreter::new(&loaded.system).replay(&violation.trace).unwrap();
    (states.last().unwrap().clone(), violation.message.clone())
}

/// Expressions, and what is wrong with them somewhere.
const FAULTY: [(&str, &str); 5] = [
    ("a[i] == 0", "invalid array index: 3 not in 0..3"),
    ("6 / d > 0", "division by zero"),
    ("6 % d == 0", "division by zero"),
    ("len(nobody) == 0", "uninitialized"),
    ("(n > 5 -> a[0] : a[i]) == 0", "invalid array index"),
];

#[test]
fn a_fault_in_a_formula_is_a_violation_for_every_engine() {
    let loaded = load(MODEL);
    for (expr, fault) in FAULTY {
        let condition = loaded.expression(expr).unwrap();
        for formula in
            ["[] (…)", "!<> !(…)", "<> (…)", "[] <> (…)", "<> [] !(…)", "(…) U (i == 3)", "[] (n < 2 && (…))"]
        {
            let text = formula.replace('…', expr);
            let question = Question::Ltl(loaded.ltl(&text).unwrap());
            for (way, options) in ways() {
                let report = asked(&loaded, &text, question.clone(), options);
                if report.answers[0].verdict() == Verdict::Violated && !is_fault(&report) {
                    // Another run may violate it before anything goes wrong.
                    continue;
                }
                let (last, message) = shown(&loaded, &report);
                assert!(message.starts_with("run-time error in the formula: "), "{text}, {way}: {message}");
                assert!(message.contains(fault), "{text}, {way}: {message}");
                let value = Interpreter::new(&loaded.system).evaluate(&last, None, &condition);
                assert!(value.is_err(), "{text}, {way}: {value:?}");
            }
        }
        for formula in ["AG (…)", "EF (…)", "!EF !(…)", "AG EF (…)", "EG (…)", "A [ (…) U i == 3 ]"] {
            let text = formula.replace('…', expr);
            let question = Question::Ctl(loaded.ctl(&text).unwrap());
            for (way, options) in ways().into_iter().filter(|(_, options)| options.engine != Choice::Named("sog")) {
                let report = asked(&loaded, &text, question.clone(), options);
                assert_eq!(report.answers[0].verdict(), Verdict::Violated, "{text}, {way}");
            }
        }
    }
}

fn asked(loaded: &Loaded, text: &str, question: Question, options: CheckOptions) -> Report {
    let properties = Some(vec![property(text, question)]);
    ample::check(&loaded.system, &CheckOptions { properties, ..options })
}

fn is_fault(report: &Report) -> bool {
    match &*report.answers[0].outcome {
        Outcome::Violated(violation) => violation.message.starts_with("run-time error in the formula: "),
        _ => false,
    }
}

#[test]
fn what_holds_only_because_a_fault_was_false_is_violated() {
    let loaded = load(MODEL);
    for text in ["!<> (a[i] == 1)", "[] !(a[i] == 1)", "[] (6 / d < 7)", "[] (a[i] == 0 || i < 4)"] {
        for (way, options) in ways() {
            let report = asked(&loaded, text, Question::Ltl(loaded.ltl(text).unwrap()), options);
            assert!(is_fault(&report), "{text}, {way}: {:?}", report.answers[0].outcome);
        }
    }
}

#[test]
fn what_is_not_evaluated_is_no_fault() {
    let loaded = load(MODEL);
    for text in [
        "[] (i < 3 -> a[i] == 0)",
        "[] (i == 3 || a[i] == 0)",
        "[] !(i < 3 && a[i] == 1)",
        "[] (d == 0 || 6 / d > 1)",
        "[] ((i > 2 -> 0 : a[i]) == 0)",
        "[] (P[7]:_pid == 0)",
        "[] (len(q) < 2)",
        "[] (!enabled(9))",
    ] {
        let Ok(formula) = loaded.ltl(text) else { continue };
        for (way, options) in ways() {
            let report = asked(&loaded, text, Question::Ltl(formula.clone()), options);
            let outcome = &*report.answers[0].outcome;
            let refused = matches!(outcome, Outcome::Unknown(Reason::Unsupported(_)));
            assert!(report.answers[0].verdict() == Verdict::Holds || refused, "{text}, {way}: {outcome:?}");
        }
    }
}

#[test]
fn justice_and_fairness_do_not_hide_a_fault() {
    let loaded = load(MODEL);
    let justice = vec![loaded.expression("a[i] == 0").unwrap()];
    let linear = Question::Ltl(loaded.ltl("[] (i < 4)").unwrap());
    let branching = Question::Ctl(loaded.ctl("AG (i < 4)").unwrap());
    for fairness in [Fairness::None, Fairness::Weak, Fairness::Strong] {
        for (engine, question) in [
            (Choice::Named("explicit"), &linear),
            (Choice::Named("symbolic"), &linear),
            (Choice::Named("symbolic"), &branching),
        ] {
            let options = CheckOptions { engine, fairness, justice: justice.clone(), ..CheckOptions::default() };
            let report = asked(&loaded, "i < 4", question.clone(), options);
            assert!(is_fault(&report), "{engine:?}, {fairness:?}: {:?}", report.answers[0].outcome);
        }
    }
}

#[test]
fn a_block_and_a_claim_meet_their_faults() {
    let block = load(&format!("{MODEL} ltl f {{ !<> (a[i] == 1) }}"));
    for (way, options) in ways() {
        let report =
            ample::check(&block.system, &CheckOptions { properties: Some(block.system.properties.clone()), ..options });
        assert!(is_fault(&report), "{way}: {:?}", report.answers[0].outcome);
    }
    for (claim, expected) in [
        ("do :: a[i] == 1 -> break :: else od", Some("run-time error in claim: invalid array index: 3 not in 0..3")),
        ("do :: 6 / d > 7 -> break :: else od", Some("run-time error in claim: division by zero")),
        ("do :: i < 3 && a[i] == 1 -> break :: else od", None),
        // It is not there when the index is too large.
        ("do :: i == 0 :: i > 0 -> break od; do :: i == 0 && a[i + 9] == 1 :: i < 0 od", None),
        ("do :: skip od", None),
    ] {
        let loaded = load(&format!("{MODEL} never {{ {claim} }}"));
        for (way, options) in ways().into_iter().filter(|(_, options)| options.engine == Choice::Named("explicit")) {
            let properties = Some(loaded.system.properties.clone());
            let report = ample::check(&loaded.system, &CheckOptions { properties, ..options });
            match expected {
                Some(expected) => assert_eq!(shown(&loaded, &report).1, expected, "{claim}, {way}"),
                None => assert_eq!(report.answers[0].verdict(), Verdict::Holds, "{claim}, {way}: {report:?}"),
            }
        }
    }
}

#[test]
fn a_search_for_faults_that_is_cut_short_proves_nothing() {
    // The formula holds at once, whatever comes; the fault lies deep.
    let loaded = load("int x; byte a[2]; active proctype P() { do :: x < 1000 -> x++ :: else -> x = 0 od }");
    let text = "x == 0 || [] (a[x / 900] == 0)";
    let question = Question::Ltl(loaded.ltl(text).unwrap());
    let options = CheckOptions { engine: Choice::Named("explicit"), ..CheckOptions::default() };
    let whole = asked(&loaded, text, question.clone(), options.clone());
    assert_eq!(whole.answers[0].verdict(), Verdict::Holds);
    let cut = asked(&loaded, text, question, CheckOptions { max_depth: Some(10), ..options.clone() });
    assert_eq!(*cut.answers[0].outcome, Outcome::Unknown(Reason::Depth));
    let text = "x == 0 || [] (a[x / 400] == 0)";
    let question = Question::Ltl(loaded.ltl(text).unwrap());
    let cut = asked(&loaded, text, question.clone(), CheckOptions { max_depth: Some(10), ..options.clone() });
    assert_eq!(*cut.answers[0].outcome, Outcome::Unknown(Reason::Depth));
    assert!(is_fault(&asked(&loaded, text, question, options)));
}

/// Models with steps that are run-time errors, and how many there are.
const CUT: [(&str, u64); 4] = [
    ("byte x = 2, y; active proctype P() { do :: x > 0 -> x-- :: else -> break od; y = 4 / x; false }", 1),
    // What loops could be taken for ever, and the fault never.
    ("byte x, z; active proctype Q() { do :: z = 1 - z od } active proctype P() { byte w; w = 4 / x; false }", 2),
    ("byte a[2], i; active [2] proctype P() { atomic { i++; a[i] = 1; a[0] = 2 } }", 3),
    ("byte x; active [2] proctype P() { x++; if :: x / (2 - x) == 1 -> false :: skip fi }", 0),
];

#[test]
fn runs_that_end_in_a_fault_are_counted_and_told() {
    for (text, count) in CUT {
        let loaded = load(text);
        let states = |options: &CheckOptions| ample::states(&loaded.system, options);
        let mut counts = Vec::new();
        for engine in [Choice::Named("explicit"), Choice::Named("symbolic"), Choice::Auto] {
            let cut = states(&CheckOptions { engine, ..CheckOptions::default() }).cut.expect(text);
            assert!(!cut.at_least, "{text}");
            assert_eq!(cut.steps, cut.by.iter().map(|by| by.steps).sum::<u64>());
            assert!(cut.by.iter().all(|by| !by.error.is_empty() && by.at.is_some()), "{cut:?}");
            counts.push(cut.steps);
        }
        assert_eq!(counts[0], counts[1], "{text}");
        assert!(count == 0 || counts[0] == count, "{text}: {counts:?}");
        let deadlock = Some(vec![Property::deadlock(), invariant(&loaded)]);
        for (way, options) in ways().into_iter().filter(|(_, options)| options.engine != Choice::Named("sog")) {
            let report = ample::check(&loaded.system, &CheckOptions { properties: deadlock.clone(), ..options });
            for answer in report.answers.iter().filter(|answer| answer.verdict() == Verdict::Holds) {
                let note = answer.note.clone().unwrap_or_default();
                assert!(note.contains("run-time error"), "{text}, {way}, {}: {note:?}", answer.property);
            }
            assert!(report.cut.is_some(), "{text}, {way}");
        }
    }
}

fn invariant(loaded: &Loaded) -> Property {
    property("x", Question::Invariant(loaded.expression("_nr_pr < 9").unwrap()))
}

#[test]
fn deadlock_alone_is_told_with_what_was_cut() {
    for (text, _) in &CUT[..2] {
        let loaded = load(text);
        for (way, options) in ways().into_iter().filter(|(_, options)| options.engine != Choice::Named("sog")) {
            let properties = Some(vec![Property::deadlock()]);
            let report = ample::check(&loaded.system, &CheckOptions { properties, ..options });
            let answer = &report.answers[0];
            assert_eq!(answer.verdict(), Verdict::Holds, "{way}");
            assert!(answer.note.as_ref().is_some_and(|note| note.contains("run-time error")), "{way}: {answer:?}");
        }
    }
}

#[test]
fn runs_that_stop_are_told_beside_formulas_that_hold() {
    let loaded = load(CUT[0].0);
    for engine in [Choice::Named("explicit"), Choice::Named("symbolic")] {
        for question in
            [Question::Ltl(loaded.ltl("[] (x < 3)").unwrap()), Question::Ctl(loaded.ctl("AG (x < 3)").unwrap())]
        {
            let options = CheckOptions { engine, ..CheckOptions::default() };
            let answer = asked(&loaded, "x < 3", question, options).answers.remove(0);
            assert_eq!(answer.verdict(), Verdict::Holds);
            let note = answer.note.unwrap_or_default();
            assert!(note.contains("stops at a run-time error") && note.contains("y = 4 / x"), "{engine:?}: {note}");
        }
    }
}

#[test]
fn a_failed_assertion_cuts_nothing() {
    let loaded = load("byte x; active proctype P() { assert(x == 1); x = 2; false }");
    for engine in [Choice::Named("explicit"), Choice::Named("symbolic")] {
        let properties = Some(vec![Property::deadlock()]);
        let options = CheckOptions { engine, properties, ..CheckOptions::default() };
        let report = ample::check(&loaded.system, &options);
        assert_eq!(report.answers[0].verdict(), Verdict::Violated, "{engine:?}");
        assert_eq!(report.cut, None);
    }
}

#[test]
fn an_initial_state_that_is_a_fault_is_not_overlooked() {
    let loaded = load("byte x = 1 / 0; active proctype P() { x = 1 }");
    for engine in [Choice::Named("explicit"), Choice::Named("symbolic"), Choice::Auto] {
        let options = CheckOptions { engine, ..CheckOptions::default() };
        let report = ample::check(&loaded.system, &options);
        let expected = if engine == Choice::Named("symbolic") { Verdict::Unknown } else { Verdict::Violated };
        assert_eq!(report.answer("assertions").unwrap().verdict(), expected, "{engine:?}");
    }
}

#[test]
fn json_tells_what_cut_runs() {
    let loaded = load(CUT[1].0);
    let options = CheckOptions { engine: Choice::Named("explicit"), ..CheckOptions::default() };
    let report = ample::states(&loaded.system, &options);
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["cut"]["steps"], 2);
    assert_eq!(json["cut"]["exact"], true);
    assert_eq!(json["cut"]["by"][0]["error"], "division by zero");
    assert_eq!(json["cut"]["by"][0]["process"], "P");
    assert_eq!(json["cut"]["by"][0]["steps"], 2);
}
