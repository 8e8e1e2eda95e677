//! Actions that several processes take together, simultaneous assignments, and objects on a heap.

use super::*;
use crate::check::{check, check_origins};
use crate::expr::{BinaryOp, Expr, Field, Place};
use crate::samples::*;
use crate::system::*;

const BYTE: Scalar = Scalar::BYTE;

fn act(edge: Edge, action: u32) -> Edge {
    Edge { action: Some(ActionId(action)), ..edge }
}

fn named(system: &mut System, name: &str) {
    system.actions.push(NamedAction { name: name.into(), span: None });
}

/// Two processes of a type and one of another that all list `go`; a fourth has never heard of it.
fn together() -> (System, Place) {
    let mut system = System::empty();
    named(&mut system, "go");
    let x = system.global("x", BYTE);
    let grow = |by: i64| plus(Expr::binary(BinaryOp::Multiply, read(&x), Expr::Const(2)), by);
    let worker = vec![act(edge(0, 1).sets(&x, grow(1)), 0), edge(1, 0)];
    let id = system.start(process("worker", vec![], worker, &[0, 1]));
    let chief =
        vec![act(edge(0, 0).when(equal(read(&x), 0)).sets(&x, grow(0)), 0), act(edge(0, 0).sets(&x, grow(1)), 0)];
    system.start(process("chief", vec![], chief, &[0]));
    system.start.push(Instance { process: id, arguments: vec![], priority: None });
    system.start(process("idle", vec![], vec![edge(0, 0).when(Expr::FALSE)], &[0]));
    (system, x)
}

#[test]
fn an_action_is_taken_by_all_who_list_it() {
    let (system, _) = together();
    assert_eq!(check(&system), Ok(()));
    assert_eq!(system.features(), [crate::Feature::Actions]);
    let interpreter = Interpreter::new(&system);
    let start = interpreter.initial_state(0).unwrap().unwrap();
    let go = |chief: u32| Move::Action {
        action: ActionId(0),
        participants: [(0, EdgeId(0)), (1, EdgeId(chief)), (2, EdgeId(0))].into(),
    };
    assert_eq!(interpreter.enabled(&start), [go(0), go(1)]);
    // The guards are asked before anything happens; the effects follow each other: 0, 1, 2 or 3, 5 or 7.
    let after = |chief: u32| interpreter.step(&start, &go(chief)).state.unwrap();
    assert_eq!((after(0).globals[0], after(1).globals[0]), (5, 7));
    assert_eq!(after(0).processes.iter().map(|p| p.location.0).collect::<Vec<_>>(), [1, 0, 1, 0]);
    // One of them is elsewhere: nobody can.
    let alone: Vec<Move> = [2, 0].map(|process| Move::Process { process, edge: EdgeId(1) }).into();
    assert_eq!(interpreter.enabled(&after(0)), alone);
    let back = interpreter.step(&after(0), &alone[0]).state.unwrap();
    assert_eq!(interpreter.enabled(&back), &alone[1..]);
    let trace = interpreter.run_trace(0, &[go(0), alone[0].clone()]).unwrap();
    let step = &trace.prefix[0];
    assert_eq!(
        (step.process.as_str(), step.participants.len(), step.participants[1].0.as_str()),
        ("go", 3, "chief(1)")
    );
    assert_eq!(interpreter.replay(&trace).unwrap().len(), 3);
}

#[test]
fn an_action_without_somebody_is_none() {
    let (system, _) = together();
    let interpreter = Interpreter::new(&system);
    let start = interpreter.initial_state(0).unwrap().unwrap();
    let wrong =
        |participants: &[(u32, EdgeId)]| Move::Action { action: ActionId(0), participants: participants.into() };
    for taken in [
        wrong(&[]),
        wrong(&[(0, EdgeId(0)), (1, EdgeId(0))]),
        wrong(&[(0, EdgeId(1)), (1, EdgeId(0)), (2, EdgeId(0))]),
        wrong(&[(2, EdgeId(0)), (1, EdgeId(0)), (0, EdgeId(0))]),
        Move::Process { process: 0, edge: EdgeId(0) },
    ] {
        assert_eq!(interpreter.step(&start, &taken).violations, [Fault::NotEnabled], "{taken:?}");
        assert!(!interpreter.allows(&start, &taken), "{taken:?}");
    }
}

#[test]
fn an_action_that_nobody_else_joins_is_told() {
    let (mut system, x) = together();
    system.processes[1].edges[1].guard.push(equal(read(&x), 9));
    system.processes[1].edges[0].guard.push(equal(read(&x), 9));
    let interpreter = Interpreter::new(&system);
    let start = interpreter.initial_state(0).unwrap().unwrap();
    assert!(interpreter.enabled(&start).is_empty());
    let end = EndState::of(&interpreter, &start);
    assert_eq!(end.processes[0].statements[0].because.as_deref(), Some("not all who take part in go are ready"));
}

#[test]
fn actions_that_make_no_sense_are_refused() {
    let refused = |damage: fn(&mut System)| {
        let (mut system, _) = together();
        damage(&mut system);
        check(&system).unwrap_err()[0].to_string()
    };
    assert!(refused(|s| s.actions.clear()).contains("action 0 does not exist"));
    assert!(refused(|s| s.processes[0].edges[0].keeps_control = true).contains("keeps control"));
    assert!(refused(|s| s.processes[1].edges[1].guard.push(Expr::Blocked(vec![EdgeId(0)]))).contains("is an action"));
}

#[test]
fn simultaneous_assignments_swap() {
    let mut system = System::empty();
    let (x, y) = (system.global("x", BYTE), system.global("y", BYTE));
    system.globals[0].initial = vec![(0, Initial::Value(Expr::Const(1)))];
    system.globals[1].initial = vec![(0, Initial::Value(Expr::Const(2)))];
    let swap = Action::AssignAll(vec![(x.clone(), read(&y)), (y.clone(), read(&x))]);
    system.start(process("p", vec![], vec![edge(0, 1).does(swap)], &[1]));
    assert_eq!(check(&system), Ok(()));
    let interpreter = Interpreter::new(&system);
    let start = interpreter.initial_state(0).unwrap().unwrap();
    let after = interpreter.successors(&start).remove(0).1.state.unwrap();
    assert_eq!(after.globals, [2, 1]);
    let facts = crate::facts::Facts::of(&system);
    let edge = facts.edge(ProcessId(0), EdgeId(0));
    assert_eq!((edge.effect.reads.len(), edge.effect.writes.len(), edge.effect.traits.may_fault), (2, 2, false));
}

#[test]
fn subscripts_are_evaluated_before_anything_is_stored() {
    let mut system = System::empty();
    let i = system.global("i", BYTE);
    system.globals.push(variable("a", Type::Array { element: Box::new(Type::Scalar(BYTE)), length: 2 }));
    let cell = element(&global(1, BYTE), read(&i), 2);
    let all = Action::AssignAll(vec![(i.clone(), Expr::Const(1)), (cell, Expr::Const(7)), (i.clone(), Expr::Const(3))]);
    system.start(process("p", vec![], vec![edge(0, 1).does(all)], &[1]));
    assert_eq!(check(&system), Ok(()));
    let interpreter = Interpreter::new(&system);
    let start = interpreter.initial_state(0).unwrap().unwrap();
    let after = interpreter.successors(&start).remove(0).1.state.unwrap();
    assert_eq!(after.globals, [3, 7, 0]);
}

const NODE: RecordId = RecordId(0);

/// A list of nodes with a value and a reference to the next one.
fn listed() -> (System, Place, Place) {
    let mut system = System::empty();
    let fields = vec![("value".into(), Type::Scalar(BYTE)), ("next".into(), Type::Scalar(Scalar::Reference(NODE)))];
    system.records.push(Record { name: "node".into(), fields });
    let (head, fresh) =
        (system.global("head", Scalar::Reference(NODE)), system.global("fresh", Scalar::Reference(NODE)));
    (system, head, fresh)
}

fn value_of() -> Field {
    Field { record: NODE, offset: 0, indices: vec![], scalar: BYTE }
}

fn next_of() -> Field {
    Field { record: NODE, offset: 1, indices: vec![], scalar: Scalar::Reference(NODE) }
}

fn field(object: &Place, field: Field) -> Expr {
    Expr::Field(Box::new(read(object)), field)
}

#[test]
fn objects_are_created_linked_and_read() {
    let (mut system, head, fresh) = listed();
    let push = |value: i64| {
        edge(0, 0)
            .does(Action::Allocate(fresh.clone(), NODE))
            .does(Action::AssignField(Box::new((read(&fresh), value_of(), Expr::Const(value)))))
            .does(Action::AssignField(Box::new((read(&fresh), next_of(), read(&head)))))
            .sets(&head, read(&fresh))
            .sets(&fresh, Expr::Const(0))
    };
    let pop = edge(0, 0).when(Expr::binary(BinaryOp::NotEqual, read(&head), Expr::Const(0)));
    let pop = pop.sets(&head, field(&head, next_of()));
    let wrong = edge(0, 1).when(equal(field(&head, value_of()), 9));
    system.start(process("p", vec![], vec![push(7), push(9), pop, wrong], &[1]));
    assert_eq!(check(&system), Ok(()));
    assert_eq!(system.features(), [crate::Feature::Heap]);
    let interpreter = Interpreter::new(&system);
    let start = interpreter.initial_state(0).unwrap().unwrap();
    let step = |state: &State, edge: u32| interpreter.step(state, &Move::Process { process: 0, edge: EdgeId(edge) });
    assert_eq!(step(&start, 3).violations, [Fault::NoObject]);
    let one = step(&start, 0).state.unwrap();
    let two = step(&one, 1).state.unwrap();
    assert_eq!((&two.globals[..], two.heap.len()), (&[1, 0][..], 2));
    assert_eq!(two.heap[0].cells, [9, 2]);
    assert_eq!(two.heap[1].cells, [7, 0]);
    // The order of creation is forgotten, and so is what cannot be reached.
    assert_eq!(step(&two, 2).state.unwrap(), one);
    assert_eq!(step(&step(&two, 2).state.unwrap(), 2).state.unwrap(), start);
    assert!(step(&two, 3).state.is_some());
    let cells = EndState::of(&interpreter, &two).variables;
    let shown: Vec<String> = cells.iter().map(|cell| format!("{}={}", cell.name, cell.value)).collect();
    assert_eq!(shown, ["head=#1", "fresh=none", "#1.value=9", "#1.next=#2", "#2.value=7", "#2.next=none"]);
    assert_eq!(system.show_expr(None, &field(&head, value_of())), "head->value");
    let json = serde_json::to_string(&two).unwrap();
    assert_eq!(serde_json::from_str::<State>(&json).unwrap(), two);
    let facts = crate::facts::Facts::of(&system);
    assert!(facts.edges().all(|edge| edge.all.traits.heap && edge.all.traits.may_fault));
}

#[test]
fn states_that_differ_in_numbers_only_are_the_same() {
    let (system, ..) = listed();
    let interpreter = Interpreter::new(&system);
    let object = |cells: &[i64]| Object { record: NODE, cells: cells.into() };
    let state = |globals: &[i64], heap: Vec<Object>| State { globals: globals.into(), heap, ..State::default() };
    // Two objects that refer to each other, with rubbish in between.
    let one = state(&[1, 3], vec![object(&[5, 3]), object(&[0, 2]), object(&[6, 1])]);
    let other = state(&[2, 1], vec![object(&[6, 2]), object(&[5, 1])]);
    assert_eq!(interpreter.identity(&one), interpreter.identity(&other));
    assert_eq!(interpreter.identity(&one).heap.len(), 2);
    let third = state(&[1, 1], vec![object(&[5, 1])]);
    assert_ne!(interpreter.identity(&one), interpreter.identity(&third));
}

#[test]
fn numbers_and_references_are_kept_apart() {
    let refused = |edge: fn(&Place, &Place) -> Edge| {
        let (mut system, head, fresh) = listed();
        system.global("n", BYTE);
        let edge = edge(&head, &fresh);
        system.start(process("p", vec![], vec![edge], &[]));
        check(&system).unwrap_err()[0].to_string()
    };
    let n = || global(2, BYTE);
    assert!(refused(|head, _| edge(0, 0).sets(&global(2, BYTE), read(head))).contains("a number is needed"));
    assert!(refused(|head, _| edge(0, 0).sets(head, Expr::Const(1))).contains("something else than a reference"));
    assert!(refused(|head, _| edge(0, 0).when(plus(read(head), 1))).contains("a number is needed"));
    assert!(refused(|head, _| edge(0, 0).when(equal(read(head), 3))).contains("a comparison of a reference"));
    assert!(refused(|_, _| edge(0, 0).does(Action::Allocate(global(2, BYTE), NODE))).contains("does not refer"));
    assert!(refused(|_, _| edge(0, 0).when(field(&global(2, BYTE), value_of()))).contains("does not refer"));
    let (mut system, head, _) = listed();
    system.globals.push(variable("n", Type::Scalar(BYTE)));
    system.start(process(
        "p",
        vec![],
        vec![edge(0, 0).when(equal(field(&head, value_of()), 1)).sets(&n(), read(&n()))],
        &[],
    ));
    assert_eq!(check(&system), Ok(()));
}

#[test]
fn nested_structure_names_locations() {
    let mut system = System::empty();
    system.start(process("p", vec![], vec![edge(0, 1), edge(1, 0)], &[]));
    let leaf = |number: u32| Block::Leaf(LocationId(number));
    system.processes[0].structure = Some(Block::Loop(LocationId(0), vec![Block::Sequence(vec![leaf(0), leaf(1)])]));
    assert_eq!(check(&system), Ok(()));
    let json = serde_json::to_string(&system).unwrap();
    assert_eq!(serde_json::from_str::<System>(&json).unwrap(), system);
    system.processes[0].structure = Some(Block::Choice(LocationId(0), vec![leaf(2)]));
    assert!(check(&system).unwrap_err()[0].to_string().contains("location 2 does not exist"));
}

#[test]
fn a_reduced_edge_knows_the_steps_it_stands_for() {
    let mut original = System::empty();
    original.start(process("p", vec![], vec![edge(0, 1), edge(1, 2), edge(2, 0)], &[]));
    let reduced = |origin: &[u32]| {
        let mut system = System::empty();
        let edge = Edge { origin: origin.iter().map(|id| EdgeId(*id)).collect(), ..edge(0, 0) };
        system.start(process("p", vec![], vec![edge], &[]));
        system
    };
    assert_eq!(check_origins(&reduced(&[0, 1, 2]), &original), Ok(()));
    assert!(check_origins(&reduced(&[0, 2]), &original).unwrap_err()[0].to_string().contains("do not follow"));
    assert!(check_origins(&reduced(&[3]), &original).unwrap_err()[0].to_string().contains("does not exist"));
}
