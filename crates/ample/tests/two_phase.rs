//! Two-Phase against a search that leaves nothing out: random models with random formulas without X, and models that
//! show one thing each.
//!
//! `AMPLE_SEED=n` looks at one model only. The long run, which is
//! `cargo test -p ample --release --test two_phase -- --ignored --nocapture`, looks at `AMPLE_MODELS` models, beginning
//! with the seed `AMPLE_SEED`.

#[path = "partial/generate.rs"]
mod generate;
// What makes models smaller is for another suite.
#[allow(dead_code)]
#[path = "partial/model.rs"]
mod model;

use ample::{
    Budget, CheckOptions, Choice, Explicit, Fairness, LoadOptions, Outcome, PartialOrder, Property, Question, Reason,
    Report, Search, System, Verdict,
};
use ample_logic::Formula;
use ample_model::{AtomTable, Expr, Temporal};
use ample_random::Random;

/// Larger models are left out.
const MOST_STATES: u64 = 3_000;

/// How many formulas of each kind a model is asked about.
const FORMULAS: usize = 3;

/// Ends a search that has become too large.
fn at_most(states: u64) -> Budget {
    Budget::unlimited().until(move |progress| progress.states > states).0
}

/// A random formula without X.
struct Maker<'a> {
    random: &'a mut Random,
    atoms: &'a [Expr],
    branching: bool,
    table: AtomTable,
}

impl Maker<'_> {
    fn formula(&mut self, size: usize) -> Formula {
        if size <= 1 {
            return self.table.formula(self.random.pick(self.atoms));
        }
        let left = 1 + self.random.below(size - 1);
        match self.random.below(10) {
            0 => !self.formula(size - 1),
            1 => self.formula(left) & self.formula(size - left),
            2 => self.formula(left) | self.formula(size - left),
            3 | 4 => self.path(|maker| maker.formula(size - 1).globally()),
            5 | 6 => self.path(|maker| maker.formula(size - 1).finally()),
            7 | 8 => self.path(|maker| maker.formula(left).until(maker.formula(size - left))),
            _ => self.path(|maker| maker.formula(left).release(maker.formula(size - left))),
        }
    }

    fn path(&mut self, path: impl FnOnce(&mut Self) -> Formula) -> Formula {
        let path = path(self);
        match (self.branching, self.random.one_in(2)) {
            (false, _) => path,
            (true, false) => path.all(),
            (true, true) => path.exists(),
        }
    }
}

fn load(text: &str) -> System {
    let loaded = ample::load_text("m.pml", text.into(), &LoadOptions::default());
    loaded.unwrap_or_else(|error| panic!("{error}\n{text}")).system
}

fn property(name: impl Into<String>, question: Question) -> Property {
    let name = name.into();
    Property { text: name.clone(), name, question, span: None }
}

/// What a model is asked: safety, and formulas over conditions of which one at least is of interest.
fn questions(system: &System, invariant: &str, random: &mut Random) -> Vec<Property> {
    let texts = [invariant, "x == 0", "a[1] == 1", "b", "f", "y == 1"];
    let atoms: Vec<Expr> = texts.iter().filter_map(|text| ample::expression(system, text).ok()).collect();
    let mut properties = vec![Property::deadlock(), Property::assertions()];
    properties.push(property("invariant", Question::Invariant(atoms[0].clone())));
    for number in 0..FORMULAS {
        // Few atoms leave more steps unseen.
        let some: Vec<Expr> = (0..1 + random.below(2)).map(|_| random.pick(&atoms)).collect();
        for branching in [false, true] {
            let size = 2 + random.below(6);
            let mut maker = Maker { random, atoms: &some, branching, table: AtomTable::new() };
            let temporal = Temporal::new(maker.formula(size), maker.table);
            let question = if branching { Question::Ctl(temporal) } else { Question::Ltl(temporal) };
            properties.push(property(format!("f{number}{branching}"), question));
        }
    }
    properties.push(Property::acceptance());
    properties
}

fn check(system: &System, properties: &[Property], partial_order: PartialOrder, search: Search) -> Report {
    let options = CheckOptions {
        engine: Choice::Named("explicit"),
        properties: Some(properties.to_vec()),
        engines: Explicit { search, ..Explicit::default() }.into(),
        partial_order,
        budget: Budget::unlimited().with_threads(1),
        ..CheckOptions::default()
    };
    ample::check(system, &options)
}

fn count(system: &System, partial_order: PartialOrder) -> Option<u64> {
    let options = CheckOptions { engine: Choice::Named("explicit"), partial_order, ..CheckOptions::default() };
    let report = ample::states(system, &CheckOptions { budget: at_most(MOST_STATES), ..options });
    report.ended.is_none().then_some(report.statistics.states)
}

/// What was compared.
#[derive(Default)]
struct Tally {
    models: u64,
    reduced: u64,
    pairs: u64,
    violated: u64,
    temporal: u64,
    temporal_violated: u64,
    all: u64,
    left: u64,
    failures: Vec<String>,
}

impl Tally {
    /// Compares the answers about the model of that seed.
    fn examine(&mut self, seed: u64) {
        let mut random = Random::new(seed);
        let model = generate::model(&mut random);
        let Ok(loaded) = ample::load_text("m.pml", model.to_string(), &LoadOptions::default()) else { return };
        let system = loaded.system;
        let Some(all) = count(&system, PartialOrder::None) else { return };
        let left = count(&system, PartialOrder::TwoPhase).unwrap_or(u64::MAX);
        if left > all {
            self.failures.push(format!("seed {seed}: {left} states left of {all}\n{model}"));
        }
        self.models += 1;
        self.all += all;
        self.left += left;
        self.reduced += u64::from(left < all);
        let properties = questions(&system, &model.invariant, &mut random);
        let search = random.pick(&[Search::Auto, Search::BreadthFirst, Search::DepthFirst]);
        let plain = check(&system, &properties, PartialOrder::None, Search::BreadthFirst);
        let reduced = check(&system, &properties, PartialOrder::TwoPhase, search);
        for ((expected, answer), property) in plain.answers.iter().zip(&reduced.answers).zip(&properties) {
            let is_temporal = matches!(property.question, Question::Ltl(_) | Question::Ctl(_));
            let violated = expected.verdict() == Verdict::Violated;
            self.pairs += 1;
            self.violated += u64::from(violated);
            self.temporal += u64::from(is_temporal);
            self.temporal_violated += u64::from(is_temporal && violated);
            // A counterexample that does not replay is unknown, with a sentence that says so.
            if answer.verdict() != expected.verdict() {
                let (question, outcome) = (&property.question, &answer.outcome);
                let expected = expected.verdict();
                self.failures.push(format!("seed {seed}: {outcome:?} and not {expected:?}\n{question:?}\n{model}"));
            }
        }
    }

    fn finish(self) {
        let Tally { models, reduced, pairs, violated, temporal, temporal_violated, all, left, failures } = self;
        println!("{models} models, {reduced} reduced, {left} states of {all}");
        println!("{pairs} pairs, {violated} violated; {temporal} with a formula, {temporal_violated} violated");
        let shown: Vec<&String> = failures.iter().take(3).collect();
        assert!(failures.is_empty(), "{} failures\n{shown:#?}", failures.len());
        assert!(models < 50 || 3 * reduced > models, "hardly anything is left out: this tests nothing");
    }
}

fn number_from(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is {text}, which is no number")))
}

#[test]
fn no_answer_changes_when_safe_steps_are_taken_at_once() {
    let mut tally = Tally::default();
    match number_from("AMPLE_SEED") {
        Some(seed) => tally.examine(seed),
        None => (0..150).for_each(|seed| tally.examine(seed)),
    }
    tally.finish();
}

#[test]
#[ignore = "takes minutes"]
fn no_answer_changes_for_many_models() {
    let models = number_from("AMPLE_MODELS").unwrap_or(3_000);
    let mut seed = number_from("AMPLE_SEED").unwrap_or(1_000_000);
    let mut tally = Tally::default();
    while tally.models < models && tally.failures.len() < 100 {
        tally.examine(seed);
        seed += 1;
        if seed.is_multiple_of(500) {
            println!("seed {seed}: {} models, {} failures", tally.models, tally.failures.len());
        }
    }
    tally.finish();
}

fn ask(system: &System, question: Question, partial_order: PartialOrder) -> Report {
    check(system, &[property("asked", question)], partial_order, Search::Auto)
}

fn ctl(system: &System, text: &str) -> Question {
    Question::Ctl(ample::ctl(system, text).unwrap_or_else(|error| panic!("{text}: {error}")))
}

/// Two processes that go round on their own, and one that waits for nobody: the cycle of safe steps must be left.
const LOOPS: &str = "
    byte x;
    active [2] proctype Loop() { byte i; do :: i = 1 - i od }
    active proctype Set() { x = 1; x = 2 }";

#[test]
fn a_cycle_of_safe_steps_does_not_hide_the_others() {
    let system = load(LOOPS);
    let seen = ample::expression(&system, "x != 2").expect("it is an expression");
    let report = ask(&system, Question::Invariant(seen), PartialOrder::TwoPhase);
    assert_eq!(report.answers[0].verdict(), Verdict::Violated);
    let (all, left) = (count(&system, PartialOrder::None), count(&system, PartialOrder::TwoPhase));
    assert!(left < all, "{left:?} of {all:?}");
}

/// A hole in how Vander Meulen's thesis extracts a process model from a program: who takes no part looks at a local variable.
const HOLE: &str = "
    byte g;
    active proctype P() { byte pc; pc = 1; pc = 2 }
    active proctype Q() { P[0]:pc == 1 -> g = 1 }";

#[test]
fn a_step_that_somebody_looks_at_is_not_safe() {
    let system = load(HOLE);
    let seen = ample::expression(&system, "g == 0").expect("it is an expression");
    let report = ask(&system, Question::Invariant(seen), PartialOrder::TwoPhase);
    assert_eq!(report.answers[0].verdict(), Verdict::Violated);
}

/// A process that counts up to what a cell can hold, alone: Phase 1 must not go on for ever.
const COUNTER: &str = "
    bool done;
    active proctype Count() { int i; do :: i++ od }
    active proctype Other() { done = true }";

#[test]
fn phase_one_comes_to_an_end_where_a_process_counts_for_ever() {
    let system = load(COUNTER);
    let options = CheckOptions { partial_order: PartialOrder::TwoPhase, ..CheckOptions::default() };
    let report = ample::states(&system, &CheckOptions { budget: at_most(600), ..options });
    assert_eq!(report.ended, Some(Reason::Interrupted));
}

#[test]
fn formulas_with_next_and_fairness_are_checked_in_full_and_say_so() {
    let system = load(LOOPS);
    let next = ask(&system, ctl(&system, "EX (x == 1)"), PartialOrder::TwoPhase);
    assert_eq!(next.answers[0].verdict(), Verdict::Holds);
    assert!(next.answers[0].note.as_ref().is_some_and(|note| note.contains("X")));
    let eventually = ample::ltl(&system, "<> (x == 2)").expect("a formula");
    let options = CheckOptions {
        properties: Some(vec![property("served", Question::Ltl(eventually.clone()))]),
        partial_order: PartialOrder::TwoPhase,
        fairness: Fairness::Weak,
        ..CheckOptions::default()
    };
    let fair = ample::check(&system, &options);
    assert_eq!(fair.answers[0].verdict(), Verdict::Holds);
    assert!(fair.answers[0].reduction.as_ref().is_some_and(|reduction| reduction.starts_with("none")));
    let unfair = ask(&system, Question::Ltl(eventually), PartialOrder::TwoPhase);
    let Outcome::Violated(shown) = &*unfair.answers[0].outcome else { panic!("{:?}", unfair.answers[0]) };
    assert!(!shown.trace.cycle.is_empty());
}

#[test]
fn branching_formulas_have_the_same_value_and_evidence_that_replays() {
    let system = load(LOOPS);
    for (text, verdict) in [
        ("AG EF (x == 2)", Verdict::Holds),
        ("EG (x == 0)", Verdict::Holds),
        ("AF (x == 2)", Verdict::Violated),
        ("A[x == 0 U x == 2]", Verdict::Violated),
        ("E[x < 2 U EG (x == 2)]", Verdict::Holds),
    ] {
        let report = ask(&system, ctl(&system, text), PartialOrder::TwoPhase);
        assert_eq!(report.answers[0].verdict(), verdict, "{text}: {:?}", report.answers[0]);
        assert!(report.answers[0].reduction.as_ref().is_some_and(|text| text.starts_with("two-phase")));
    }
}
