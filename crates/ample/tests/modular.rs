//! The modular engine against the symbolic and the explicit one, on random sequential programs and on models: with static
//! reductions, counterexamples and all.

use ample::{CheckOptions, Choice, EngineOptions, Modular, Partitioning, Reachability, StaticReduction, Verdict};
use ample_logic::{Atom, Binary, Formula};
use ample_model::random::sequential;
use ample_model::{BinaryOp, Expr, LocationId, Overflow, Place, Property, Question, Scalar, Scope, System, Temporal};
use ample_random::Random;

/// How many pairs of a program and a formula.
fn pairs() -> u64 {
    std::env::var("AMPLE_PAIRS").ok().and_then(|pairs| pairs.parse().ok()).unwrap_or(300)
}

fn equal(variable: usize, scalar: Scalar, value: i64) -> Expr {
    let place = Place { scope: Scope::Global, variable: variable.into(), offset: 0, indices: Vec::new(), scalar };
    Expr::binary(BinaryOp::Equal, Expr::Read(place), Expr::Const(value))
}

fn formula(random: &mut Random, depth: u32) -> Formula {
    if depth == 0 || random.one_in(5) {
        return Formula::atom(Atom(random.below(4)));
    }
    let f = formula(random, depth - 1);
    let path = match random.below(7) {
        0 => return !f,
        1 => return Formula::binary(Binary::And, f, formula(random, depth - 1)),
        2 => return f.implies(formula(random, depth - 1)),
        3 if random.one_in(2) => f.next(),
        3 | 4 => f.finally(),
        5 => f.globally(),
        _ => f.until(formula(random, depth - 1)),
    };
    if random.one_in(2) { path.all() } else { path.exists() }
}

fn property(question: Question) -> Property {
    Property { question, ..Property::assertions() }
}

fn properties(system: &System, random: &mut Random) -> Vec<Property> {
    let locations = vec![LocationId::from(random.below(system.processes[0].locations.len()))];
    let at = Expr::At { process: None, of: 0usize.into(), locations };
    let int = |bits| Scalar::Int { bits, signed: false };
    let three = Scalar::Range { low: 0, high: 2, overflow: Overflow::Wrap };
    let atoms = vec![equal(0, int(2), random.below(3)), equal(1, three, random.below(3)), equal(2, int(1), 1), at];
    let invariant = Expr::binary(BinaryOp::Or, atoms[0].clone(), atoms[1].clone());
    let ctl = Question::Ctl(Temporal { formula: formula(random, 3), atoms });
    vec![property(ctl), property(Question::Invariant(invariant)), Property::assertions(), Property::deadlock()]
}

fn verdicts(system: &System, options: &CheckOptions) -> Vec<Verdict> {
    let report = ample::check(system, options);
    for answer in &report.answers {
        let unknown = matches!(answer.verdict(), Verdict::Unknown);
        assert!(!unknown, "{}: {:?} {:?}", system.name, answer.outcome, answer.formula);
    }
    report.answers.iter().map(ample::Answer::verdict).collect()
}

#[test]
fn all_engines_agree_on_random_programs() {
    for seed in 0..pairs().div_ceil(4) {
        let system = sequential(seed + 10_000, seed % 4 == 0);
        let mut random = Random::new(seed);
        let properties = properties(&system, &mut random);
        let reductions = if random.one_in(4) { Vec::new() } else { StaticReduction::ALL.to_vec() };
        let modular = Modular {
            modular_partition: random.pick(&[Partitioning::Auto, Partitioning::None, Partitioning::Size]),
            modular_size: Some(1 + random.below(5)),
            modular_reach: random.pick(&[
                Reachability::Auto,
                Reachability::None,
                Reachability::Local,
                Reachability::Full,
            ]),
            ..Modular::default()
        };
        let options = |engine, engines| CheckOptions {
            engine: Choice::Named(engine),
            engines,
            properties: Some(properties.clone()),
            reductions: reductions.clone(),
            no_vacuity: true,
            ..CheckOptions::default()
        };
        let found = verdicts(&system, &options("modular", modular.into()));
        for engine in ["symbolic", "explicit"] {
            let expected = verdicts(&system, &options(engine, EngineOptions::default()));
            assert_eq!(found, expected, "seed {seed}, {engine}, {modular:?}, {reductions:?}, {properties:?}");
        }
    }
}

/// A random program of Promela with one process: selections and repetitions with any number of options, some of which may be
/// possible at once or none, jumps and the end of the process.
struct Promela {
    random: Random,
    labels: u32,
}

impl Promela {
    fn text(seed: u64) -> String {
        let mut maker = Promela { random: Random::new(seed), labels: 0 };
        let body = maker.statements(3, false);
        let jump = if maker.labels > 0 && maker.random.one_in(3) {
            let to = maker.random.below(maker.labels);
            format!("; if :: x == 1 -> goto l{to} :: else fi")
        } else {
            String::new()
        };
        format!("byte x, y; bit b; bit a[2];\nactive proctype P() {{\n byte z;\n {body}{jump}\n}}\n")
    }

    fn statements(&mut self, depth: u32, in_loop: bool) -> String {
        let count = 1 + self.random.below(3);
        let statements: Vec<String> = (0..count).map(|_| self.statement(depth, in_loop)).collect();
        statements.join("; ")
    }

    fn statement(&mut self, depth: u32, in_loop: bool) -> String {
        let label = if self.random.one_in(4) {
            self.labels += 1;
            format!("l{}: ", self.labels - 1)
        } else {
            String::new()
        };
        let text = match self.random.below(if depth == 0 { 7 } else { 12 }) {
            0 => "skip".to_owned(),
            1 => "x = (x + 1) % 4".to_owned(),
            2 => "y = (x + z) % 3".to_owned(),
            3 => "b = 1 - b".to_owned(),
            4 => "a[b] = (x == y)".to_owned(),
            5 => "z = (z + 1) % 3".to_owned(),
            6 if in_loop && self.random.one_in(2) => "break".to_owned(),
            6 => format!("assert({})", self.condition()),
            7..=9 => format!("if {} fi", self.options(depth - 1, in_loop)),
            _ => format!("do {} od", self.options(depth - 1, true)),
        };
        label + &text
    }

    fn options(&mut self, depth: u32, in_loop: bool) -> String {
        let count = 1 + self.random.below(3);
        let mut all: Vec<String> =
            (0..count).map(|_| format!(":: {} -> {}", self.condition(), self.statements(depth, in_loop))).collect();
        if self.random.one_in(2) {
            all.push(format!(":: else -> {}", if in_loop { "break".into() } else { self.statement(0, false) }));
        }
        all.join(" ")
    }

    fn condition(&mut self) -> String {
        let number = self.random.below(3);
        match self.random.below(5) {
            0 => format!("x == {number}"),
            1 => format!("y < {number}"),
            2 => "b".to_owned(),
            3 => "a[1 - b]".to_owned(),
            _ => format!("z != {number}"),
        }
    }
}

#[test]
fn single_processes_of_promela_are_checked_as_the_explicit_engine_does() {
    let [mut violated, mut parts] = [0; 2];
    for seed in 0..pairs().div_ceil(3) {
        let text = Promela::text(seed);
        let Ok(loaded) = ample::load_text("m.pml", text.clone(), &ample::LoadOptions::default()) else {
            panic!("seed {seed}: {text}");
        };
        let mut random = Random::new(seed ^ 0x9e37);
        let formulas = [
            "AF (x == 1)",
            "EF (y == 2 && b)",
            "AG (x == 2 -> EF (y == 0))",
            "E [x < 2 U a[0]]",
            "A [b == 0 U x == 1 || y == 2]",
            "AG (EX (x == 1) -> AX (x <= 2))",
            "EG (x != 3)",
            "AG EF (b == 1)",
        ];
        let ctl = Question::Ctl(loaded.ctl(random.pick(&formulas)).unwrap());
        let properties = vec![property(ctl), Property::assertions(), Property::deadlock()];
        let reductions = if random.one_in(2) { Vec::new() } else { StaticReduction::ALL.to_vec() };
        let modular = Modular {
            modular_size: Some(1 + random.below(5)),
            modular_reach: random.pick(&[Reachability::Auto, Reachability::Local, Reachability::Full]),
            modular_partition: random.pick(&[Partitioning::Auto, Partitioning::Size, Partitioning::None]),
            ..Modular::default()
        };
        let options = |engine, engines| CheckOptions {
            engine: Choice::Named(engine),
            engines,
            properties: Some(properties.clone()),
            reductions: reductions.clone(),
            no_vacuity: true,
            ..CheckOptions::default()
        };
        let report = ample::check(&loaded.system, &options("modular", modular.into()));
        let found: Vec<Verdict> = report.answers.iter().map(ample::Answer::verdict).collect();
        let expected = verdicts(&loaded.system, &options("explicit", EngineOptions::default()));
        assert_eq!(found, expected, "seed {seed}, {modular:?}, {reductions:?}\n{text}\n{:?}", report.answers);
        violated += found.iter().filter(|verdict| **verdict == Verdict::Violated).count();
        parts += report.diagrams.and_then(|diagrams| diagrams.modular).map_or(0, |modular| modular.nodes);
    }
    assert!(violated > 20, "{violated}");
    assert!(parts > 200, "{parts}");
}

#[test]
fn what_it_does_not_take_is_said_in_a_sentence() {
    let load = |file: &str, text: &str| ample::load_text(file, text.into(), &ample::LoadOptions::default()).unwrap();
    let two = load("m.pml", "byte x; active [2] proctype P() { do :: x < 3 -> x++ :: else -> x = 0 od }");
    let options = CheckOptions { engine: Choice::Named("modular"), ..CheckOptions::default() };
    let report = ample::check(&two.system, &options);
    let said = format!("{:?}", report.answers[0].outcome);
    assert!(said.contains("there are 2 processes"), "{said}");
    for (text, why) in [
        ("chan c = [1] of { byte }; active proctype P() { c!1 }", "there are channels"),
        ("byte x; active proctype P() { atomic { x = 1; x = 2 } }", "there are atomic sequences"),
        ("byte x; active proctype P() { run Q() } proctype Q() { x = 1 }", "it starts other processes"),
        ("byte x; active proctype P() provided (x == 0) { x = 1 }", "conditions on moving at all"),
    ] {
        let plain = CheckOptions { reductions: Vec::new(), ..options.clone() };
        let report = ample::check(&load("m.pml", text).system, &plain);
        let said = format!("{:?}", report.answers[0].outcome);
        assert!(said.contains(why) && said.contains("--engine symbolic"), "{text}: {said}");
    }
    let linear = load("m.softver", "int x; { x := 1; } LTLSPEC F x = 1");
    let report = ample::check(&linear.system, &options);
    let said = format!("{:?}", report.answers.last().unwrap().outcome);
    assert!(said.contains("modular checking is for CTL"), "{said}");
}

#[test]
fn it_ends_in_time() {
    let cells = 9;
    let order: Vec<String> = (1..cells).map(|i| format!("a[{}] <= a[{i}]", i - 1)).collect();
    let text = format!(
        "#INTEGER_LENGTH# 5\nint t, i, j; boolean f; int a[{cells}];
        {{ f := TRUE; i := {}; while f && i > 0 do j := 0; f := FALSE; while j < i do
           if a[j] > a[j + 1] then t := a[j]; a[j] := a[j + 1]; a[j + 1] := t; f := TRUE; else skip; fi;
           j := j + 1; od; i := i - 1; od; label halt; }} SPEC s := AF (label(halt) && {})",
        cells - 1,
        order.join(" && ")
    );
    let loaded = ample::load_text("sort.softver", text, &ample::LoadOptions::default()).unwrap();
    let begun = std::time::Instant::now();
    let budget = ample::Budget::unlimited().with_time(std::time::Duration::from_millis(800));
    let options = CheckOptions { engine: Choice::Named("modular"), budget, ..CheckOptions::default() };
    ample::check(&loaded.system, &options);
    assert!(begun.elapsed() < std::time::Duration::from_secs(20));
}
