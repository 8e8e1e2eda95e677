//! Synchronous systems through the library: simulated step by step, checked, and refused with a sentence by engines that do not know
//! them.

use ample::simulate::{Ending, Simulation, first_start};
use ample::{Budget, Cancellation, CheckOptions, Choice, Fairness, Outcome, Property, Question, Reason, Verdict};
use ample_model::{
    AtomTable, BinaryOp, Coupling, Definition, Expr, NextValue, Overflow, Place, Scalar, Scope, Synchronous, System,
    Temporal, Type, Variable, VariableId, VariableKind,
};

fn cell(variable: u32, scalar: Scalar) -> Place {
    Place { scope: Scope::Global, variable: VariableId(variable), offset: 0, indices: Vec::new(), scalar }
}

/// Counts up to 3 while its input is set; `init` says that it starts at 1, and a relation that it never becomes 3.
fn counter() -> System {
    let count = Scalar::Range { low: 0, high: 3, overflow: Overflow::Fault };
    let (tick, count_cell) = (cell(0, Scalar::BOOL), cell(1, count));
    let sum = Expr::binary(BinaryOp::Add, Expr::Read(count_cell.clone()), Expr::Read(tick));
    let next = NextValue::Function(sum);
    let parts = Synchronous {
        init: vec![Expr::binary(BinaryOp::Equal, Expr::Read(count_cell.clone()), Expr::Const(1))],
        invariant: Vec::new(),
        definitions: vec![Definition { variable: VariableId(1), slot: 0, next, span: None }],
        relations: vec![Expr::binary(BinaryOp::Less, Expr::Next(count_cell), Expr::Const(3))],
        ..Synchronous::default()
    };
    let mut input = Variable::new("tick", Type::Scalar(Scalar::BOOL));
    input.kind = VariableKind::Input;
    let mut system = System::new("counter", "by hand");
    system.globals = vec![input, Variable::new("count", Type::Scalar(count))];
    system.coupling = Coupling::Synchronous(parts);
    assert_eq!(ample_model::check::check(&system), Ok(()));
    system
}

#[test]
fn a_synchronous_system_is_simulated() {
    let system = counter();
    let budget = Budget::unlimited();
    let start = first_start(&system, &budget).unwrap().expect("an initial state");
    assert_eq!(start, 1.into());
    let mut run = Simulation::new(&system, &start).unwrap().within(&budget);
    assert_eq!((run.moves().len(), run.state().variables[0].value.as_str()), (2, "1"));
    let step = run.take(&run.moves()[1].clone());
    assert_eq!((step.text.as_str(), step.inputs.len(), step.changes.len()), ("tick = 1", 1, 1));
    // From 2 on only waiting is left.
    assert_eq!((run.moves().len(), run.ending()), (1, None));
}

#[test]
fn a_state_without_a_next_one_is_a_deadlock() {
    let mut system = counter();
    let Coupling::Synchronous(parts) = &mut system.coupling else { panic!("synchronous") };
    parts.relations.push(Expr::FALSE);
    let run = Simulation::new(&system, 1).unwrap();
    assert_eq!(run.ending(), Some(Ending::Deadlock));
    let Coupling::Synchronous(parts) = &mut system.coupling else { panic!("synchronous") };
    parts.init.push(Expr::FALSE);
    assert_eq!(first_start(&system, &Budget::unlimited()), Ok(None));
}

fn invariant() -> Property {
    let count = cell(1, Scalar::Range { low: 0, high: 3, overflow: Overflow::Fault });
    let below = Expr::binary(BinaryOp::Less, Expr::Read(count), Expr::Const(3));
    Property { name: "below".into(), question: Question::Invariant(below), text: "count < 3".into(), span: None }
}

#[test]
fn the_portfolio_takes_the_engine_that_knows_them() {
    let options = CheckOptions { properties: Some(vec![Property::deadlock(), invariant()]), ..CheckOptions::default() };
    let report = ample::check(&counter(), &options);
    for answer in &report.answers {
        assert_eq!((answer.verdict(), answer.engine), (Verdict::Holds, "symbolic"), "{:?}", answer.outcome);
    }
    let mut stuck = counter();
    let Coupling::Synchronous(parts) = &mut stuck.coupling else { panic!("synchronous") };
    parts.relations.push(Expr::Read(cell(0, Scalar::BOOL)));
    let report = ample::check(&stuck, &options);
    assert_eq!(report.answers[0].verdict(), Verdict::Violated);
    assert!(format!("{:?}", report.answers[0].outcome).contains("no next state"), "{:?}", report.answers[0].outcome);
}

#[test]
fn engines_that_do_not_know_synchronous_systems_say_so() {
    let system = counter();
    for engine in ["sog"] {
        let options = CheckOptions {
            engine: ample::engine(engine).unwrap(),
            properties: Some(vec![Property::deadlock(), invariant()]),
            ..CheckOptions::default()
        };
        let report = ample::check(&system, &options);
        for answer in &report.answers {
            let told = format!("{:?}", answer.outcome);
            assert_eq!(answer.verdict(), Verdict::Unknown, "{engine}: {told}");
            assert!(told.contains("does not know synchronous systems"), "{engine}: {told}");
        }
        assert_eq!(report.answers.len(), 2, "{engine}");
    }
}

/// A formula about the count.
fn temporal(formula: &str) -> Temporal {
    let mut table = AtomTable::new();
    let count = cell(1, Scalar::Range { low: 0, high: 3, overflow: Overflow::Fault });
    let two = table.intern(Expr::binary(BinaryOp::Equal, Expr::Read(count), Expr::Const(2)));
    let mut atom = |rest: &str| Ok(rest.starts_with("two").then_some((3, two)));
    let formula = ample_logic::parse_with(formula, ample_logic::Dialect::Plain, &mut atom).expect("a formula");
    Temporal::new(formula, table)
}

fn property(question: Question) -> Property {
    Property { name: "it".into(), question, text: "it".into(), span: None }
}

#[test]
fn fairness_is_refused_with_what_works_and_justice_is_known() {
    let system = counter();
    let two = temporal("F two");
    for fairness in [Fairness::Weak, Fairness::Strong] {
        for engine in [Choice::Named("explicit"), Choice::Named("symbolic"), Choice::Auto] {
            for question in [Question::Ltl(two.clone()), Question::Ctl(temporal("A F two"))] {
                let properties = Some(vec![property(question)]);
                let options = CheckOptions { engine, fairness, properties, ..CheckOptions::default() };
                let answer = &ample::check(&system, &options).answers[0];
                let told = format!("{:?}", answer.outcome);
                assert_eq!(answer.verdict(), Verdict::Unknown, "{told}");
                assert!(told.contains("a synchronous system has none"), "{told}");
                assert!(told.contains("`--justice"), "{told}");
            }
        }
    }
    let properties = Some(vec![property(Question::Ltl(two.clone()))]);
    let options = CheckOptions { properties, ..CheckOptions::default() };
    assert_eq!(ample::check(&system, &options).answers[0].verdict(), Verdict::Violated);
    let options = CheckOptions { justice: two.atoms, ..options };
    assert_eq!(ample::check(&system, &options).answers[0].verdict(), Verdict::Holds);
}

/// The next state, or the first one, is looked for among 2^64 candidates, and there is none.
fn endless(at_start: bool) -> System {
    let word = Scalar::Int { bits: 32, signed: false };
    let mut system = System::new("endless", "by hand");
    let value = |number| if at_start { Expr::Read(cell(number, word)) } else { Expr::Next(cell(number, word)) };
    let square = Expr::binary(BinaryOp::Multiply, value(0), value(0));
    let other = Expr::binary(BinaryOp::Subtract, value(1), Expr::Const(1 << 40));
    let never = Expr::binary(BinaryOp::Equal, square, other);
    let mut parts = Synchronous::default();
    if at_start { &mut parts.init } else { &mut parts.relations }.push(never);
    for name in ["x", "y"] {
        let mut variable = Variable::new(name, Type::Scalar(word));
        if !at_start {
            variable.initial = vec![(0, ample_model::Initial::Value(Expr::Const(0)))];
        }
        system.globals.push(variable);
    }
    system.coupling = Coupling::Synchronous(parts);
    assert_eq!(ample_model::check::check(&system), Ok(()));
    system
}

#[test]
fn a_search_inside_a_state_ends_for_the_reason_that_there_is() {
    let word = Scalar::Int { bits: 32, signed: false };
    let zero = Expr::binary(BinaryOp::Equal, Expr::Read(cell(0, word)), Expr::Const(0));
    let over = |formula: &str| {
        let mut table = AtomTable::new();
        let atom = table.intern(zero.clone());
        let mut atoms = |rest: &str| Ok(rest.starts_with("zero").then_some((4, atom)));
        let formula = ample_logic::parse_with(formula, ample_logic::Dialect::Plain, &mut atoms).expect("a formula");
        Temporal::new(formula, table)
    };
    let properties = vec![
        Property::deadlock(),
        property(Question::Invariant(zero.clone())),
        property(Question::Ltl(over("F G zero"))),
        property(Question::Ltl(over("G F ! zero"))),
        property(Question::Ctl(over("A G zero"))),
        property(Question::Ctl(over("E F ! zero"))),
    ];
    let cancellation = Cancellation::new();
    cancellation.cancel();
    for at_start in [true, false] {
        let system = endless(at_start);
        for one in &properties {
            for (budget, reason) in [
                (Budget::unlimited().with_time(std::time::Duration::from_millis(100)), Reason::Time),
                (Budget::unlimited().with_cancellation(&cancellation), Reason::Interrupted),
            ] {
                // The other engines see at once what this one searches for.
                let engine = Choice::Named("explicit");
                let properties = Some(vec![one.clone()]);
                let options = CheckOptions { engine, properties, budget, ..CheckOptions::default() };
                let answer = &ample::check(&system, &options).answers[0];
                let of = format!("{:?}, at the start: {at_start}", one.question);
                assert_eq!(*answer.outcome, Outcome::Unknown(reason), "{of}");
            }
        }
    }
}
