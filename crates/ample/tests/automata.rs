//! Automata: what `ample automaton` writes, and automata as properties. For random formulas, the automaton of the
//! negation in the HOA format has the verdict of the formula.

mod support;

use std::process::Output;

use ample::{CheckOptions, Emptiness, Explicit, Fairness, Loaded, Outcome, PartialOrder, Property, Question, Verdict};
use ample_logic::{Acceptance, Atoms, Dialect, Formula, Options, hoa, parse, translate};
use ample_model::{AtomTable, Temporal};
use ample_random::Random;
use support::Folder;

fn ample(words: &[&str]) -> Output {
    support::command(words).output().unwrap()
}

fn shown(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

// What is written.

#[test]
fn an_automaton_in_hoa_is_read_back() {
    for (formula, words) in [
        ("G (a -> F b)", &[][..]),
        ("[] (a -> <> \"x > 3\")", &["--negate"]),
        ("GFa & GFb", &["--buchi"]),
        ("a U b U c", &["-B", "--negated"]),
    ] {
        let output = ample(&[&["automaton", formula], words].concat());
        assert_eq!(output.status.code(), Some(0), "{formula}: {}", shown(&output));
        let mut atoms = Atoms::new();
        let automaton = hoa::read(&String::from_utf8(output.stdout).unwrap(), &mut atoms).unwrap();
        let parsed = parse(formula, Dialect::Plain, &mut atoms).unwrap();
        let parsed = if words.iter().any(|word| word.starts_with("--neg")) { !parsed } else { parsed };
        let other = translate(&!parsed.clone(), &atoms, Options::default()).unwrap();
        assert!(!automaton.intersects(&other).unwrap(), "{formula}");
        let same = translate(&parsed, &atoms, Options::default()).unwrap();
        assert!(automaton.intersects(&same).unwrap(), "{formula}");
        let is_buchi = words.iter().any(|word| ["-B", "--buchi"].contains(word));
        assert_eq!(automaton.state_based, is_buchi, "{formula}");
    }
}

#[test]
fn never_claims_and_graphs_are_written_too() {
    let folder = Folder::new("formats");
    let claim = ample(&["automaton", "-f", "[] (p -> <> q)", "--negate", "--to", "never"]);
    let claim = shown(&claim);
    assert!(claim.starts_with("never { /* !([] (p -> <> q)) */"), "{claim}");
    // The claim is one of the model language.
    let model = format!("bool p, q;\nactive proctype P() {{ do :: p = 1 :: q = 1; p = 0 od }}\n{claim}");
    let model = folder.file("m.pml", &model);
    assert_eq!(ample(&["check", "--never", model.to_str().unwrap()]).status.code(), Some(1));
    let graph = shown(&ample(&["automaton", "F \"x > 3\"", "--to", "dot", "-B"]));
    assert!(graph.starts_with("digraph automaton {") && graph.contains("doublecircle"), "{graph}");
    let path = folder.0.join("out.hoa");
    let output = ample(&["automaton", "F a", "-o", path.to_str().unwrap()]);
    assert_eq!((output.status.code(), shown(&output).as_str()), (Some(0), ""));
    assert!(std::fs::read_to_string(path).unwrap().starts_with("HOA: v1"));
    let json: serde_json::Value = serde_json::from_slice(&ample(&["automaton", "F a", "--json"]).stdout).unwrap();
    assert_eq!((&json["states"], &json["format"]), (&2.into(), &"hoa".into()));
}

#[test]
fn what_is_no_formula_is_underlined() {
    for (formula, said) in
        [("G (a -> F", "<formula>:1:10"), ("AG a", "only LTL"), ("a b", "<formula>:1:3"), ("", "1:1")]
    {
        let output = ample(&["automaton", formula]);
        assert_eq!(output.status.code(), Some(2), "{formula}");
        assert!(shown(&output).contains(said), "{formula}: {}", shown(&output));
    }
}

// What is checked.

const COUNTER: &str = "byte x; active proctype P() { do :: x < 3 -> x++ :: x == 3 -> x = 0 :: x == 1 -> x = 0 od }";

fn check(folder: &Folder, hoa: &str, words: &[&str]) -> Output {
    let (model, automaton) = (folder.file("m.pml", COUNTER), folder.file("a.hoa", hoa));
    let (model, automaton) = (model.to_str().unwrap(), automaton.to_str().unwrap());
    ample(&[&["check", model, "--automaton", automaton], words].concat())
}

fn never(formula: &str, acceptance: Acceptance) -> String {
    let mut atoms = Atoms::new();
    let formula = parse(formula, Dialect::Plain, &mut atoms).unwrap();
    hoa::write(&translate(&!formula, &atoms, Options { acceptance, ..Options::default() }).unwrap(), "")
}

#[test]
fn an_automaton_accepts_the_runs_that_are_wrong() {
    let folder = Folder::new("wrong");
    for (formula, code) in [
        ("G F \"x == 3\"", 1),
        ("G F \"x == 0\"", 0),
        ("G \"x < 3\"", 1),
        ("G \"x <= 3\"", 0),
        ("G F \"x == 0\" & G F \"x == 1\"", 0),
        ("X \"x == 1\"", 1),
    ] {
        for acceptance in [Acceptance::Generalised, Acceptance::Buchi] {
            let output = check(&folder, &never(formula, acceptance), &[]);
            assert_eq!(output.status.code(), Some(code), "{formula}: {}", shown(&output));
        }
        let output = check(&folder, &never(formula, Acceptance::Buchi), &["--emptiness", "nested"]);
        assert_eq!(output.status.code(), Some(code), "{formula}: {}", shown(&output));
    }
}

#[test]
fn what_cannot_be_checked_is_refused_with_its_place() {
    let folder = Folder::new("refused");
    let good = never("G F \"x == 3\"", Acceptance::Generalised);
    for (hoa, words, code, said) in [
        (good.replace("x == 3", "y == 3"), &[][..], 2, "undeclared variable `y`"),
        (good.replace("x == 3", "y == 3"), &[], 2, "a.hoa:4:8"),
        (good.replace("Inf(0)", "Fin(0)"), &[], 2, "only generalised Büchi acceptance"),
        (good.replace("Inf(0)", "Fin(0)"), &[], 2, "a.hoa:6:15"),
        ("nothing".into(), &[], 2, "a.hoa:1:1"),
        (good.clone(), &["--engine", "symbolic"], 3, "`--engine explicit` does"),
        (good.clone(), &["--engine", "sog"], 3, "observation graphs are for formulas of LTL"),
        (good.clone(), &["--justice", "x == 1"], 3, "an automaton has acceptance sets of its own"),
        (
            never("G F a", Acceptance::Generalised).replace("\"a\"", "\"x == 3\""),
            &["--emptiness", "nested"],
            3,
            "components",
        ),
    ] {
        let output = check(&folder, &hoa, words);
        assert_eq!(output.status.code(), Some(code), "{said}: {}", shown(&output));
        assert!(shown(&output).contains(said), "{said}: {}", shown(&output));
    }
    let missing = ample(&["check", folder.0.join("m.pml").to_str().unwrap(), "--automaton", "no-such.hoa"]);
    assert_eq!(missing.status.code(), Some(2));
}

#[test]
fn automata_speak_of_nets_too() {
    let folder = Folder::new("nets");
    let net = r#"<pnml><net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="g">
        <place id="p"><initialMarking><text>1</text></initialMarking></place><place id="q"/>
        <transition id="t"/><transition id="u"/>
        <arc id="a" source="p" target="t"/><arc id="b" source="t" target="q"/>
        <arc id="c" source="q" target="u"/><arc id="d" source="u" target="p"/></page></net></pnml>"#;
    let net = folder.file("n.pnml", net);
    for (formula, code) in [("G F \"q = 1\"", 0), ("F G \"q = 1\"", 1), ("G F p", 0)] {
        let automaton = folder.file("a.hoa", &never(formula, Acceptance::Generalised));
        let output = ample(&["check", net.to_str().unwrap(), "--automaton", automaton.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(code), "{formula}: {}", shown(&output));
    }
}

// Random formulas.

const MODELS: [&str; 4] = [
    COUNTER,
    "byte x; bool b; active proctype P() { do :: x < 2 -> x++; b = !b :: x == 2 -> break od }",
    "byte x; chan c = [1] of { byte }; active proctype S() { do :: c ! x; x = (x + 1) % 3 od }
     active proctype R() { byte y; do :: c ? y od }",
    "byte x; bool b; active [2] proctype P() { do :: atomic { x == _pid -> x = 1 - _pid } :: b = !b od }",
];

struct Maker<'a> {
    random: &'a mut Random,
    atoms: &'a [ample_model::Expr],
    table: AtomTable,
}

impl Maker<'_> {
    fn formula(&mut self, size: usize) -> Formula {
        if size <= 1 {
            return self.table.formula(self.random.pick(self.atoms));
        }
        let left = 1 + self.random.below(size - 1);
        match self.random.below(11) {
            0 => !self.formula(size - 1),
            1 => self.formula(left) & self.formula(size - left),
            2 => self.formula(left) | self.formula(size - left),
            3 => self.formula(left).implies(self.formula(size - left)),
            4 | 5 => self.formula(size - 1).globally(),
            6 | 7 => self.formula(size - 1).finally(),
            8 => self.formula(size - 1).next(),
            9 if self.random.one_in(3) => self.formula(left).weak_until(self.formula(size - left)),
            9 => self.formula(left).until(self.formula(size - left)),
            _ => self.formula(left).release(self.formula(size - left)),
        }
    }
}

fn verdict(loaded: &Loaded, question: Question, options: &CheckOptions) -> (Verdict, Outcome) {
    let property = Property { name: "p".into(), question, text: String::new(), span: None };
    let options = CheckOptions { properties: Some(vec![property]), ..options.clone() };
    let report = ample::check(&loaded.system, &options);
    (report.answers[0].verdict(), report.answers[0].outcome.clone().into_inner())
}

/// The automaton of the negation, written and read again, with the atoms in the words of the model.
fn by_file(loaded: &Loaded, temporal: &Temporal, acceptance: Acceptance) -> Question {
    let names: Atoms = temporal.atoms.iter().map(|atom| loaded.system.show_expr(None, atom)).collect();
    let options = Options { acceptance, ..Options::default() };
    let text = hoa::write(&translate(&!temporal.formula.clone(), &names, options).unwrap(), "");
    Question::Automaton(Box::new(loaded.automaton("never.hoa", &text).unwrap_or_else(|e| panic!("{e}\n{text}"))))
}

#[test]
fn a_formula_and_the_automaton_of_its_negation_have_the_same_verdict() {
    let options = |emptiness, fairness| CheckOptions {
        engines: Explicit { emptiness, ..Explicit::default() }.into(),
        fairness,
        partial_order: PartialOrder::None,
        no_vacuity: true,
        ..CheckOptions::default()
    };
    let mut counts = [0, 0];
    for (number, model) in MODELS.iter().enumerate() {
        let loaded = ample::load_text("m.pml", (*model).into(), &Default::default()).unwrap();
        let texts = ["x == 1", "x == 0", "b", "x < 2", "len(c) > 0"];
        let atoms: Vec<_> = texts.iter().filter_map(|text| loaded.expression(text).ok()).collect();
        for seed in 0..60 {
            let random = &mut Random::new(seed * 4 + number as u64);
            let size = 2 + random.below(7);
            let mut maker = Maker { random, atoms: &atoms, table: AtomTable::new() };
            let temporal = Temporal::new(maker.formula(size), maker.table);
            for fairness in [Fairness::None, Fairness::Weak] {
                let plain = options(Emptiness::Auto, fairness);
                let (expected, _) = verdict(&loaded, Question::Ltl(temporal.clone()), &plain);
                assert_ne!(expected, Verdict::Unknown, "model {number}, seed {seed}");
                counts[usize::from(expected == Verdict::Violated)] += 1;
                for acceptance in [Acceptance::Generalised, Acceptance::Buchi] {
                    let (found, outcome) = verdict(&loaded, by_file(&loaded, &temporal, acceptance), &plain);
                    assert_eq!(found, expected, "model {number}, seed {seed}, {acceptance:?}: {outcome:?}");
                }
            }
            let (expected, _) =
                verdict(&loaded, Question::Ltl(temporal.clone()), &options(Emptiness::Auto, Fairness::None));
            let nested = options(Emptiness::Nested, Fairness::None);
            let (found, outcome) = verdict(&loaded, by_file(&loaded, &temporal, Acceptance::Buchi), &nested);
            assert_eq!(found, expected, "model {number}, seed {seed}, nested: {outcome:?}");
        }
    }
    assert!(counts.iter().all(|count| *count > 50), "{counts:?}");
}

#[test]
fn what_is_read_is_a_property_of_the_system() {
    let loaded = ample::load_text("m.pml", COUNTER.into(), &Default::default()).unwrap();
    let automaton = loaded.automaton("a.hoa", &never("G F \"x == 3\"", Acceptance::Buchi)).unwrap();
    let mut system = loaded.system.clone();
    let question = Question::Automaton(Box::new(automaton));
    system.properties = vec![Property { name: "p".into(), question, text: String::new(), span: None }];
    assert_eq!(ample_model::check::check(&system), Ok(()));
    assert_eq!(system.properties[0].id(), "automaton:p");
}
