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
            modular_reach: random.pick(&[Reachability::None, Reachability::Local, Reachability::Full]),
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

#[test]
fn what_it_does_not_take_is_said_in_a_sentence() {
    let load = |file: &str, text: &str| ample::load_text(file, text.into(), &ample::LoadOptions::default()).unwrap();
    let two = load("m.pml", "byte x; active [2] proctype P() { do :: x < 3 -> x++ :: else -> x = 0 od }");
    let options = CheckOptions { engine: Choice::Named("modular"), ..CheckOptions::default() };
    let report = ample::check(&two.system, &options);
    let said = format!("{:?}", report.answers[0].outcome);
    assert!(said.contains("there are 2 processes"), "{said}");
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
