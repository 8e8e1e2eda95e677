//! Synchronous systems through the library: simulated step by step, and refused with a sentence by engines that do not know
//! them.

use ample::simulate::{Ending, Simulation, first_start};
use ample::{Budget, CheckOptions, Property, Question, Verdict};
use ample_model::{
    BinaryOp, Coupling, Definition, Expr, NextValue, Overflow, Place, Scalar, Scope, Synchronous, System, Type,
    Variable, VariableId, VariableKind,
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
        assert_eq!((answer.verdict(), answer.engine), (Verdict::Holds, "explicit"), "{:?}", answer.outcome);
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
    for engine in ["symbolic", "sog"] {
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
