//! Models as Rust values against models of ample's languages: the same system, checked both ways, has the same verdicts.

use ample::model::{Model, Path, Verdict};
use ample::{CheckOptions, Choice, Move, PartialOrder, Property, Question, System};
use ample_model::random::{Features, system};
use ample_model::{Interpreter, State, Temporal};

/// A system as the reference interpreter sees it.
struct Interpreted<'a>(Interpreter<'a>);

impl Model for Interpreted<'_> {
    type State = State;
    type Action = Move;

    fn init(&self) -> Vec<State> {
        self.0.initial_states().flatten().map(|state| self.0.identity(&state)).collect()
    }

    fn actions(&self, state: &State) -> Vec<Move> {
        self.0.enabled(state)
    }

    fn next(&self, state: &State, action: &Move) -> Option<State> {
        self.0.step(state, action).state.map(|state| self.0.identity(&state))
    }

    fn is_valid_end(&self, state: &State) -> bool {
        self.0.is_end_state(state)
    }
}

fn property(name: &str, question: fn(Temporal) -> Question, formula: Temporal) -> Property {
    Property { name: name.into(), question: question(formula), text: name.into(), span: None }
}

/// The verdicts that the command would give, and how long the counterexample of the first one is.
fn answers(system: &System, properties: Vec<Property>) -> (Vec<ample::Verdict>, Option<usize>) {
    let options = CheckOptions {
        properties: Some(properties),
        engine: Choice::Named("explicit"),
        partial_order: PartialOrder::None,
        no_vacuity: true,
        ..CheckOptions::default()
    };
    let report = ample::check(system, &options);
    let length = report.answers[0].trace().map(|trace| trace.prefix.len());
    (report.answers.iter().map(|answer| answer.verdict()).collect(), length)
}

fn same(verdict: &Verdict) -> ample::Verdict {
    match verdict {
        Verdict::Holds => ample::Verdict::Holds,
        Verdict::Violated => ample::Verdict::Violated,
        Verdict::Unknown(_) => ample::Verdict::Unknown,
    }
}

#[test]
fn random_systems_have_the_verdicts_of_the_explicit_engine() {
    const LTL: [&str; 3] = ["always eventually zero", "always (zero implies eventually set)", "zero until set"];
    const CTL: [&str; 2] = ["AG EF zero", "AF (set | EG zero)"];
    let mut violated = 0;
    for seed in 0..100 {
        let system = system(seed, Features::NONE);
        let named = |text: &str| text.replace("zero", "(a == 0)").replace("set", "(b == 1)");
        let mut properties = vec![Property::deadlock()];
        properties.extend(LTL.map(|text| property(text, Question::Ltl, ample::ltl(&system, &named(text)).unwrap())));
        properties.extend(CTL.map(|text| property(text, Question::Ctl, ample::ctl(&system, &named(text)).unwrap())));
        let expected = answers(&system, properties);

        let model = Interpreted(Interpreter::new(&system));
        let value = |text: &str| {
            let expr = ample::expression(&system, text).unwrap();
            let model = &model;
            move |state: &State| model.0.evaluate(state, None, &expr) == Ok(1)
        };
        let mut check =
            model.check().condition("zero", value("a == 0")).condition("set", value("b == 1")).deadlock_free();
        for text in LTL {
            check = check.ltl(text, text);
        }
        for text in CTL {
            check = check.ctl(text, text);
        }
        let report = check.run();
        let verdicts: Vec<ample::Verdict> = report.answers.iter().map(|answer| same(&answer.verdict)).collect();
        let length = report.path("deadlock").map(Path::len);
        assert_eq!((verdicts, length), expected, "seed {seed}");
        violated += expected.0.iter().filter(|verdict| **verdict == ample::Verdict::Violated).count();
    }
    assert!(violated > 100, "only {violated} violations");
}

/// Two threads add one to a counter, each in two steps.
struct Counter;

impl Model for Counter {
    type State = (u8, [(u8, u8); 2]);
    type Action = usize;

    fn init(&self) -> Vec<Self::State> {
        vec![(0, [(0, 0); 2])]
    }

    fn actions(&self, _: &Self::State) -> Vec<usize> {
        vec![0, 1]
    }

    fn next(&self, &(counter, threads): &Self::State, &thread: &usize) -> Option<Self::State> {
        let (mut counter, mut threads) = (counter, threads);
        let (at, read) = &mut threads[thread];
        match at {
            0 => *read = counter,
            1 => counter = *read + 1,
            _ => return None,
        }
        *at += 1;
        Some((counter, threads))
    }

    fn is_valid_end(&self, _: &Self::State) -> bool {
        true
    }
}

#[test]
fn a_racy_counter_is_the_same_in_promela() {
    let text = "
        byte counter, done;
        active [2] proctype thread() { byte read; read = counter; d_step { counter = read + 1; done++ } }";
    let system = ample::load_text("counter.pml", text.into(), &Default::default()).unwrap().system;
    let ltl = |text: &str| property(text, Question::Ltl, ample::ltl(&system, text).unwrap());
    let (verdicts, length) = answers(
        &system,
        vec![ltl("[] (done == 2 -> counter == 2)"), ltl("<> (done == 2)"), ltl("[] (counter <= done)")],
    );
    let done = |state: &<Counter as Model>::State| state.1.iter().filter(|(at, _)| *at == 2).count();
    let report = Counter
        .check()
        .always("both count", |s| done(s) < 2 || s.0 == 2)
        .eventually("done", |s| done(s) == 2)
        .always("no more than done", |s| usize::from(s.0) <= done(s))
        .deadlock_free()
        .run();
    let ours: Vec<ample::Verdict> = report.answers[..3].iter().map(|answer| same(&answer.verdict)).collect();
    assert_eq!(ours, verdicts);
    assert_eq!(report.path("both count").map(Path::len), length);
    assert!(report.holds("deadlock"));
}
