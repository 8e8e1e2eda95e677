//! Witnesses: a formula that holds because of some run is shown by such a run, whoever has found it.

use ample::{CheckOptions, Choice, Outcome, Property, Question, Trace, Violation};
use ample_model::{Initial, Interpreter, State, System};

/// What a witness must be like.
enum Shows {
    /// In its last state the condition holds.
    Reaches(&'static str),
    /// In all its states the condition holds, and it goes on for ever.
    Stays(&'static str),
    /// The first one holds until the second one does.
    Until(&'static str, &'static str),
    /// It has branches.
    Tree,
}

/// Those that show witnesses of models that are no nets.
const ENGINES: &[Choice] = &[Choice::Named("explicit")];

const FORMULAS: &[(&str, &str, Shows)] = &[
    ("promela/peterson.pml", "EF (in_critical == 1)", Shows::Reaches("in_critical == 1")),
    ("promela/peterson.pml", "EG !process[0]@critical", Shows::Stays("!process[0]@critical")),
    ("promela/peterson.pml", "E [in_critical == 0 U turn == 1]", Shows::Until("in_critical == 0", "turn == 1")),
    ("promela/peterson.pml", "EX (in_critical == 0)", Shows::Reaches("in_critical == 0")),
    ("promela/peterson.pml", "!AG (in_critical == 0)", Shows::Reaches("in_critical == 1")),
    ("promela/peterson.pml", "EF (turn == 1 && EG !process[0]@critical && EF (turn == 0))", Shows::Tree),
];

fn load(model: &str) -> System {
    let path = format!("{}/../../models/{model}", env!("CARGO_MANIFEST_DIR"));
    ample::load(path.as_ref(), &Default::default()).unwrap_or_else(|error| panic!("{model}: {error:?}")).system
}

/// All states on the run, the first one of the cycle again at its end.
fn states(system: &System, trace: &Trace) -> Vec<State> {
    Interpreter::new(system).replay(trace).expect("a run")
}

fn judge(system: &System, shows: &Shows, witness: &Violation, of: &str) {
    let interpreter = Interpreter::new(system);
    let all = states(system, &witness.trace);
    let holds = |text: &str, state: &State| {
        let expr = ample::expression(system, text).expect("an expression");
        interpreter.evaluate(state, None, &expr) == Ok(1)
    };
    let (last, before) = all.split_last().expect("a state");
    match shows {
        Shows::Reaches(p) => assert!(holds(p, last), "{of}: it does not end there"),
        Shows::Stays(p) => {
            assert!(all.iter().all(|state| holds(p, state)), "{of}: not all along");
            let goes_on = !witness.trace.cycle.is_empty() || interpreter.enabled(last).is_empty();
            assert!(goes_on, "{of}: it does not go on for ever");
        }
        Shows::Until(p, q) => {
            assert!(holds(q, last) && before.iter().all(|state| holds(p, state)), "{of}: not until then");
        }
        Shows::Tree => assert!(!witness.branches.is_empty(), "{of}: nothing branches off"),
    }
}

#[test]
fn true_existential_formulas_have_a_witness_by_every_engine() {
    for (model, formula, shows) in FORMULAS {
        let system = load(model);
        let question = Question::Ctl(ample::ctl(&system, formula).expect("a formula"));
        let property = Property { name: "it".into(), question, text: (*formula).into(), span: None };
        for engine in ENGINES {
            let engine = *engine;
            let of = format!("{model}, {engine:?}, {formula}");
            let options = CheckOptions { engine, properties: Some(vec![property.clone()]), ..CheckOptions::default() };
            let report = ample::check(&system, &options);
            let answer = &report.answers[0];
            assert!(matches!(*answer.outcome, Outcome::Holds(_)), "{of}: {:?}", answer.outcome);
            let witness = answer.witness.as_ref().unwrap_or_else(|| panic!("{of}: no witness"));
            judge(&system, shows, witness, &of);
        }
    }
}

/// Peterson's algorithm, where it may be anybody's turn in the beginning.
fn anybodys_turn() -> System {
    let mut system = load("promela/peterson.pml");
    let turn = system.globals.iter_mut().find(|variable| variable.name == "turn").expect("a variable");
    turn.initial = vec![(0, Initial::AnyOf(vec![0, 1]))];
    system
}

#[test]
fn a_witness_is_from_one_of_several_initial_states() {
    let system = anybodys_turn();
    assert_eq!(Interpreter::new(&system).initial_states().count(), 2);
    let formulas = [
        ("EF (in_critical == 1)", Shows::Reaches("in_critical == 1")),
        ("EG !process[0]@critical", Shows::Stays("!process[0]@critical")),
        ("EF (turn == 1 && EG !process[0]@critical && EF (turn == 0))", Shows::Tree),
    ];
    for (formula, shows) in formulas {
        let question = Question::Ctl(ample::ctl(&system, formula).expect("a formula"));
        let property = Property { name: "it".into(), question, text: formula.into(), span: None };
        for engine in ["explicit", "symbolic"] {
            let of = format!("{engine}, {formula}");
            let engine = Choice::Named(engine);
            let options = CheckOptions { engine, properties: Some(vec![property.clone()]), ..CheckOptions::default() };
            let report = ample::check(&system, &options);
            let answer = &report.answers[0];
            assert!(matches!(*answer.outcome, Outcome::Holds(_)), "{of}: {:?}", answer.outcome);
            let witness = answer.witness.as_ref().unwrap_or_else(|| panic!("{of}: no witness"));
            judge(&system, &shows, witness, &of);
            let note = answer.note.as_deref().unwrap_or_default();
            assert!(note.contains("the witness is from one of 2 initial states"), "{of}: {note:?}");
        }
    }
}

#[test]
fn what_holds_in_one_initial_state_only_has_no_witness() {
    let system = anybodys_turn();
    let question = Question::Ctl(ample::ctl(&system, "turn == 0 && EF (in_critical == 1)").expect("a formula"));
    let property = Property { name: "it".into(), question, text: "it".into(), span: None };
    for engine in ["explicit", "symbolic"] {
        let engine = Choice::Named(engine);
        let options = CheckOptions { engine, properties: Some(vec![property.clone()]), ..CheckOptions::default() };
        let answer = &ample::check(&system, &options).answers[0];
        assert!(matches!(*answer.outcome, Outcome::Violated(_)), "{engine:?}: {:?}", answer.outcome);
        assert!(answer.witness.is_none(), "{engine:?}");
    }
}
