//! What a step is, shown on systems small enough to be checked by hand.

use super::*;
use crate::check::check;
use crate::expr::{BinaryOp, Pattern, Scope};
use crate::facts::{Cells, Facts};
use crate::random::{self, Features};
use crate::samples::*;
use crate::system::{
    Action, Communication, Enumeration, EnumerationId, EventKind, Instance, Instruction, LocationId, Monitor,
    MonitorEdge, Overflow, ProcessType, Record, RecordId, Source, SourceId, Span, Type,
};
use crate::trace::Trace;

const BYTE: Scalar = Scalar::BYTE;

/// Follows the run as long as there is exactly one move; the state where it stops or branches.
fn run(interpreter: &Interpreter<'_>) -> State {
    let mut state = start(interpreter);
    for _ in 0..100 {
        let mut successors = interpreter.successors(&state);
        if successors.len() != 1 {
            return state;
        }
        let (_, successor) = successors.remove(0);
        assert_eq!(successor.violations, []);
        state = successor.state.unwrap();
    }
    panic!("the run does not end");
}

fn start(interpreter: &Interpreter<'_>) -> State {
    assert_eq!(check(interpreter.system()), Ok(()));
    interpreter.initial_state(0).unwrap().unwrap()
}

/// The faults of the first move, and whether there is a state after it.
fn first_faults(system: &System) -> (Vec<Fault>, bool) {
    let interpreter = Interpreter::new(system);
    let state = start(&interpreter);
    let taken = interpreter.enabled(&state).remove(0);
    let successor = interpreter.step(&state, &taken);
    (successor.violations, successor.state.is_some())
}

fn spawn(process: ProcessId, arguments: Vec<Expr>) -> Action {
    Action::Spawn { process, arguments, priority: None }
}

fn moves(interpreter: &Interpreter<'_>, state: &State) -> Vec<(u32, u32)> {
    interpreter
        .enabled(state)
        .iter()
        .filter_map(|taken| taken.movers().next())
        .map(|(process, edge)| (process, edge.0))
        .collect()
}

#[test]
fn handshake_moves_both_and_binds() {
    let mut system = System::empty();
    let x = system.global("x", BYTE);
    let q = system.channel("q", 0, &[BYTE, BYTE]);
    system.start(process("sender", vec![], vec![edge(0, 1).sends(&q, vec![Expr::Const(7), Expr::Const(300)])], &[1]));
    let wrong = vec![Pattern::Match(Expr::Const(8)), Pattern::Ignore];
    let right = vec![Pattern::Match(Expr::Const(7)), Pattern::Bind(x)];
    let receives = vec![edge(0, 1).receives(&q, wrong), edge(0, 2).receives(&q, right)];
    system.start(process("receiver", vec![], receives, &[2]));
    let interpreter = Interpreter::new(&system);
    let state = start(&interpreter);
    let enabled = interpreter.enabled(&state);
    assert_eq!(enabled, [Move::Handshake { sender: (0, EdgeId(0)), receiver: (1, EdgeId(1)) }]);
    let successor = interpreter.step(&state, &enabled[0]);
    let kinds: Vec<EventKind> = successor.events.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [EventKind::Send, EventKind::Receive]);
    let after = successor.state.unwrap();
    // 300 was fitted to the field's byte before it was received.
    assert_eq!(after.globals[0], 44);
    assert_eq!((after.processes[0].location.0, after.processes[1].location.0), (1, 2));
    assert!(interpreter.enabled(&after).is_empty() && interpreter.is_end_state(&after));
}

#[test]
fn nobody_shakes_hands_with_itself() {
    let mut system = System::empty();
    let q = system.channel("q", 0, &[BYTE]);
    let edges = vec![edge(0, 1).sends(&q, vec![Expr::Const(1)]), edge(0, 1).receives(&q, vec![Pattern::Ignore])];
    system.start(process("p", vec![], edges, &[]));
    let interpreter = Interpreter::new(&system);
    assert!(interpreter.is_deadlock(&start(&interpreter)));
}

/// A sender in an atomic sequence, a receiver in one of its own, and a bystander.
fn atomic_handshake() -> System {
    let mut system = System::empty();
    let x = system.global("x", BYTE);
    let q = system.channel("q", 0, &[BYTE]);
    let sender =
        vec![edge(0, 1).sends(&q, vec![Expr::Const(1)]).keeping_control(), edge(1, 2).sets(&x, Expr::Const(1))];
    system.start(process("sender", vec![], sender, &[2]));
    let receiver = vec![
        edge(0, 1).receives(&q, vec![Pattern::Ignore]).keeping_control(),
        edge(1, 2).when(equal(read(&x), 1)).sets(&x, Expr::Const(2)),
    ];
    system.start(process("receiver", vec![], receiver, &[2]));
    system.start(process("bystander", vec![], vec![edge(0, 1)], &[1]));
    system
}

#[test]
fn control_passes_to_the_receiver_and_is_lost_when_it_blocks() {
    let system = atomic_handshake();
    let interpreter = Interpreter::new(&system);
    let state = start(&interpreter);
    let enabled = interpreter.enabled(&state);
    let shake = enabled.into_iter().find(|taken| matches!(taken, Move::Handshake { .. })).unwrap();
    let after = interpreter.step(&state, &shake).state.unwrap();
    assert_eq!(after.control, Some(1));
    // The receiver waits for the sender: control is released, and everybody may move.
    assert_eq!(interpreter.normalise(&after).control, None);
    assert_eq!(moves(&interpreter, &after), [(2, 0), (0, 1)]);
    let sent = interpreter.step(&after, &interpreter.enabled(&after)[1]).state.unwrap();
    assert_eq!(sent.control, None);
    assert_eq!(moves(&interpreter, &sent), [(2, 0), (1, 1)]);
    // As many states as Spin stores.
    assert_eq!(explore(&system, 100).states, 8);
}

#[test]
fn control_keeps_others_out() {
    let mut system = System::empty();
    let x = system.global("x", BYTE);
    let atomic = vec![edge(0, 1).sets(&x, Expr::Const(1)).keeping_control(), edge(1, 2).sets(&x, Expr::Const(2))];
    system.start(process("p", vec![], atomic, &[2]));
    system.start(process("q", vec![], vec![edge(0, 1)], &[1]));
    let interpreter = Interpreter::new(&system);
    let state = start(&interpreter);
    assert_eq!(moves(&interpreter, &state), [(1, 0), (0, 0)]);
    let inside = interpreter.step(&state, &interpreter.enabled(&state)[1]).state.unwrap();
    assert_eq!((inside.control, interpreter.normalise(&inside).control), (Some(0), Some(0)));
    assert_eq!(moves(&interpreter, &inside), [(0, 1)]);
    let explored = explore(&system, 100);
    assert_eq!((explored.states, explored.transient, explored.deadlocks), (4, 2, 0));
}

#[test]
fn else_waits_for_its_siblings() {
    let mut system = System::empty();
    let x = system.global("x", BYTE);
    let options = vec![
        edge(0, 1).when(equal(read(&x), 1)),
        edge(0, 0).when(Expr::Blocked(vec![EdgeId(0)])).sets(&x, plus(read(&x), 1)),
    ];
    system.start(process("p", vec![], options, &[1]));
    let interpreter = Interpreter::new(&system);
    let state = start(&interpreter);
    assert_eq!(moves(&interpreter, &state), [(0, 1)]);
    let after = interpreter.step(&state, &interpreter.enabled(&state)[0]).state.unwrap();
    assert_eq!(moves(&interpreter, &after), [(0, 0)]);
}

#[test]
fn else_beside_a_handshake_send_waits_for_a_receiver() {
    let mut system = System::empty();
    let q = system.channel("q", 0, &[BYTE]);
    let options = vec![edge(0, 1).sends(&q, vec![Expr::Const(1)]), edge(0, 2).when(Expr::Blocked(vec![EdgeId(0)]))];
    system.start(process("p", vec![], options, &[]));
    let interpreter = Interpreter::new(&system);
    assert_eq!(moves(&interpreter, &start(&interpreter)), [(0, 1)]);

    let mut with_receiver = system.clone();
    with_receiver.start(process("r", vec![], vec![edge(0, 1).receives(&q, vec![Pattern::Ignore])], &[]));
    let interpreter = Interpreter::new(&with_receiver);
    assert_eq!(moves(&interpreter, &start(&interpreter)), [(0, 0)]);

    // The receiver comes late, and the sender may have given up: as many states as Spin stores.
    let mut late = System::empty();
    let q = late.channel("q", 0, &[BYTE]);
    let mut sender = vec![edge(0, 1).sends(&q, vec![Expr::Const(1)]), edge(0, 2), edge(2, 1)];
    sender[1].guard = vec![Expr::Blocked(vec![EdgeId(0)])];
    late.start(process("s", vec![], sender, &[1]));
    late.start(process("r", vec![], vec![edge(0, 1), edge(1, 2).receives(&q, vec![Pattern::Ignore])], &[2]));
    let explored = explore(&late, 100);
    assert_eq!((explored.states, explored.deadlocks), (7, 1));
}

#[test]
fn a_receiver_blocked_by_its_siblings_is_asked_about_that_message() {
    let mut system = System::empty();
    let q = system.channel("q", 0, &[BYTE]);
    let sends = vec![edge(0, 1).sends(&q, vec![Expr::Const(1)]), edge(0, 1).sends(&q, vec![Expr::Const(2)])];
    system.start(process("sender", vec![], sends, &[]));
    // The second receive stands behind an escape that takes only 1; the plain escape edge 1 takes no message.
    let receives = vec![
        edge(0, 1).receives(&q, vec![Pattern::Match(Expr::Const(1))]),
        edge(0, 1),
        edge(0, 2).when(Expr::Blocked(vec![EdgeId(0), EdgeId(1)])).receives(&q, vec![Pattern::Ignore]),
    ];
    system.start(process("receiver", vec![], receives, &[]));
    let interpreter = Interpreter::new(&system);
    let enabled = interpreter.enabled(&start(&interpreter));
    let edges = |taken: &Move| match taken {
        Move::Handshake { sender, receiver } => Some((sender.1.0, receiver.1.0)),
        _ => None,
    };
    let handshakes: Vec<_> = enabled.iter().filter_map(edges).collect();
    assert_eq!(handshakes, [(0, 0), (1, 2)]);
}

#[test]
fn timeout_is_the_last_resort() {
    let mut system = System::empty();
    let x = system.global("x", BYTE);
    let first = vec![edge(0, 1).when(Expr::Timeout).sets(&x, Expr::Const(1))];
    system.start(process("p", vec![], first, &[1]));
    system.start(process("q", vec![], vec![edge(0, 1), edge(1, 2).when(equal(read(&x), 1))], &[2]));
    let interpreter = Interpreter::new(&system);
    let state = start(&interpreter);
    assert_eq!(moves(&interpreter, &state), [(1, 0)]);
    assert_eq!(interpreter.evaluate(&state, None, &Expr::Timeout), Ok(0));
    let stuck = interpreter.step(&state, &interpreter.enabled(&state)[0]).state.unwrap();
    assert_eq!(interpreter.evaluate(&stuck, None, &Expr::Timeout), Ok(1));
    assert_eq!(moves(&interpreter, &stuck), [(0, 0)]);
    assert_eq!(run(&interpreter).globals, [1]);
}

#[test]
fn youngest_process_ends_first_and_takes_its_channels_along() {
    let mut system = System::empty();
    let locals = vec![variable("n", Type::Scalar(BYTE)), variable("own", Type::Scalar(Scalar::Channel))];
    let mut child_type = process("child", locals, vec![edge(0, 1), edge(1, 1).does(Action::End)], &[]);
    child_type.parameters = 1;
    child_type.locals[1].initial = vec![(0, Initial::Channel(0usize.into()))];
    system.channels.push(Channel { name: "own".into(), capacity: 1, fields: vec![BYTE], span: None });
    let child = system.declare(child_type);
    let main = vec![
        edge(0, 1).does(spawn(child, vec![Expr::Const(257)])),
        edge(1, 2).does(spawn(child, vec![Expr::ProcessCount])),
        edge(2, 3).when(equal(Expr::ProcessCount, 1)).does(Action::End),
    ];
    system.start(process("main", vec![], main, &[]));
    let interpreter = Interpreter::new(&system);
    let mut state = start(&interpreter);
    for edge in [0, 1] {
        let taken = Move::Process { process: 0, edge: EdgeId(edge) };
        state = interpreter.step(&state, &taken).state.unwrap();
    }
    assert_eq!((&state.processes[1].locals[..], &state.processes[2].locals[..]), (&[1, 1][..], &[2, 2][..]));
    assert_eq!(state.channels.len(), 2);
    // The older child is ready to end first, but must wait for the younger.
    state = interpreter.step(&state, &Move::Process { process: 1, edge: EdgeId(0) }).state.unwrap();
    assert_eq!(moves(&interpreter, &state), [(2, 0)]);
    state = interpreter.step(&state, &Move::Process { process: 2, edge: EdgeId(0) }).state.unwrap();
    assert_eq!(moves(&interpreter, &state), [(2, 1)]);
    state = interpreter.step(&state, &Move::Process { process: 2, edge: EdgeId(1) }).state.unwrap();
    assert_eq!((state.channels.len(), state.processes.len()), (1, 2));
    let explored = explore(&system, 1000);
    assert_eq!((explored.deadlocks, explored.violations, explored.complete), (0, 0, true));
}

#[test]
fn sorted_send_and_random_receive() {
    let mut system = System::empty();
    let x = system.global("x", BYTE);
    let q = system.channel("q", 4, &[BYTE, BYTE]);
    let send = |from: u32, a: i64, b: i64| {
        let mut edge = edge(from, from + 1);
        let values = vec![Expr::Const(a), Expr::Const(b)];
        edge.communication = Some(Communication::Send { channel: q.clone(), values, sorted: true });
        edge
    };
    let mut take = edge(4, 5);
    let patterns = vec![Pattern::Match(Expr::Const(2)), Pattern::Bind(x)];
    take.communication =
        Some(Communication::Receive { channel: q.clone(), patterns: patterns.clone(), anywhere: true, keep: false });
    let edges = vec![send(0, 2, 2), send(1, 1, 9), send(2, 2, 1), send(3, 2, 2), take];
    system.start(process("p", vec![], edges, &[5]));
    let interpreter = Interpreter::new(&system);
    let mut state = start(&interpreter);
    for _ in 0..4 {
        state = interpreter.step(&state, &interpreter.enabled(&state)[0]).state.unwrap();
    }
    assert_eq!(state.channels[0].messages, [[1, 9], [2, 1], [2, 2], [2, 2]]);
    let poll = |anywhere| Expr::Poll { channel: Box::new(q.clone()), patterns: patterns.clone(), anywhere };
    assert_eq!(interpreter.evaluate(&state, None, &poll(false)), Ok(0));
    assert_eq!(interpreter.evaluate(&state, None, &poll(true)), Ok(1));
    assert_eq!(interpreter.evaluate(&state, None, &Expr::Full(Box::new(q.clone()))), Ok(1));
    let end = run(&interpreter);
    assert_eq!(end.globals[0], 1);
    assert_eq!(end.channels[0].messages, [[1, 9], [2, 2], [2, 2]]);
}

#[test]
fn a_receive_binds_from_left_to_right() {
    let mut system = System::empty();
    system.globals.push(variable("a", Type::Array { element: Box::new(Type::Scalar(BYTE)), length: 3 }));
    let a = global(0, BYTE);
    let i = system.global("i", BYTE);
    let q = system.channel("q", 1, &[BYTE, BYTE]);
    let edges = vec![
        edge(0, 1).sends(&q, vec![Expr::Const(2), Expr::Const(5)]),
        edge(1, 2).receives(&q, vec![Pattern::Bind(i.clone()), Pattern::Bind(element(&a, read(&i), 3))]),
    ];
    system.start(process("p", vec![], edges, &[2]));
    assert_eq!(run(&Interpreter::new(&system)).globals, [0, 0, 5, 2, 1]);
}

/// A process that sends these values; the monitor sees the sends.
fn watched(forbids: bool, expected: &[i64], sent: &[i64]) -> System {
    let mut system = System::empty();
    let q = system.channel("q", 9, &[BYTE]);
    let sends = (0u32..).zip(sent).map(|(at, value)| edge(at, at + 1).sends(&q, vec![Expr::Const(*value)]));
    system.start(process("p", vec![], sends.collect(), &[sent.len()]));
    let step = |(to, value): (u32, &i64)| {
        let patterns = vec![Pattern::Match(Expr::Const(*value))];
        vec![MonitorEdge { kind: EventKind::Send, channel: q.clone(), patterns, to, span: None }]
    };
    let mut locations: Vec<_> = (1..).zip(expected).map(step).collect();
    locations.push(Vec::new());
    let last = expected.len() as u32;
    let observed = vec![(EventKind::Send, q)];
    system.monitor = Some(Monitor { forbids, locations, initial: 0, last, ends: Vec::new(), observed, span: None });
    system
}

#[test]
fn monitor_says_what_spin_says() {
    let none = "event_trace error (no matching event)";
    let all = "event_trace error (all events matched)";
    // forbids, expected, sent; the violation, deadlocks and states that Spin 6.5.2 reports.
    type Case = (bool, &'static [i64], &'static [i64], Option<&'static str>, u64, u64);
    let table: [Case; 8] = [
        (false, &[1, 2], &[1, 2], None, 0, 3),
        (false, &[1, 2], &[1, 1], Some(none), 1, 3),
        (false, &[1], &[1, 1], Some(none), 0, 3),
        (false, &[1, 2], &[1], None, 1, 2),
        (true, &[1, 2], &[1, 2, 3], Some(all), 0, 4),
        (true, &[1, 2], &[2, 1, 2], None, 0, 4),
        (true, &[1, 2], &[1, 3], None, 0, 3),
        (true, &[1, 2], &[1], None, 1, 2),
    ];
    for (forbids, expected, sent, violation, deadlocks, states) in table {
        let explored = explore(&watched(forbids, expected, sent), 100);
        let messages: Vec<&str> = explored.messages.iter().map(String::as_str).collect();
        let found = (messages, explored.deadlocks, explored.states);
        let wanted: (Vec<&str>, u64, u64) = (violation.into_iter().collect(), deadlocks, states);
        assert_eq!(found, wanted, "forbids {forbids}, expected {expected:?}, sent {sent:?}");
    }
    let mut may_stop = watched(false, &[1, 2], &[1]);
    may_stop.monitor.as_mut().unwrap().ends = vec![1];
    assert_eq!(explore(&may_stop, 100).deadlocks, 0);
}

#[test]
fn faults_end_the_step() {
    type Build = fn(&mut System) -> Edge;
    let table: Vec<(Fault, Build)> = vec![
        (Fault::DivisionByZero, |s| {
            edge(0, 1).when(Expr::binary(BinaryOp::Divide, Expr::Const(1), read(&s.global("x", BYTE))))
        }),
        (Fault::Overflow, |_| edge(0, 1).when(plus(Expr::Const(i64::MAX), 1))),
        (Fault::Index { value: 3, length: 3 }, |s| {
            s.globals.push(variable("a", Type::Array { element: Box::new(Type::Scalar(BYTE)), length: 3 }));
            edge(0, 1).sets(&element(&global(0, BYTE), Expr::Const(3), 3), Expr::Const(1))
        }),
        (Fault::OutOfRange { value: 6 }, |s| {
            let x = s.global("x", Scalar::Range { low: 0, high: 5, overflow: Overflow::Fault });
            edge(0, 1).sets(&x, Expr::Const(6))
        }),
        (Fault::NoChannel { handle: 0 }, |s| {
            let q = s.global("q", Scalar::Channel);
            edge(0, 1).sends(&read(&q), vec![Expr::Const(1)])
        }),
        (Fault::MessageArity { given: 1, expected: 2 }, |s| {
            let q = s.channel("q", 1, &[BYTE, BYTE]);
            edge(0, 1).sends(&q, vec![Expr::Const(1)])
        }),
        (Fault::TooManyProcesses { limit: 1 }, |s| {
            s.max_processes = 1;
            edge(0, 1).does(spawn(ProcessId(0), vec![]))
        }),
        (Fault::Blocked, |_| edge(0, 1).does(Action::Test(Expr::FALSE))),
        (Fault::Fail("no option".into()), |_| {
            let mut edge = edge(0, 1);
            edge.effect = vec![Instruction::Fail("no option".into())];
            edge
        }),
        (Fault::HandshakeInEffect, |s| {
            let channel = s.channel("q", 0, &[BYTE]);
            let values = vec![Expr::Const(1)];
            edge(0, 1).does(Action::Communicate(Communication::Send { channel, values, sorted: false }))
        }),
        (Fault::PollHandshake, |s| {
            let channel = Box::new(s.channel("q", 0, &[BYTE]));
            edge(0, 1).when(Expr::Poll { channel, patterns: vec![Pattern::Ignore], anywhere: false })
        }),
        (Fault::EffectTooLong { limit: MAX_INSTRUCTIONS }, |_| {
            let mut edge = edge(0, 1);
            edge.effect = vec![Instruction::Jump(0)];
            edge
        }),
        (Fault::PriorityOutOfRange { value: 256 }, |_| {
            edge(0, 1).does(Action::SetPriority(Expr::SelfId, Expr::Const(256)))
        }),
        (Fault::Circular, |_| edge(0, 1).when(Expr::Enabled(Box::new(Expr::SelfId)))),
    ];
    for (fault, build) in table {
        let mut system = System::empty();
        let edge = build(&mut system);
        system.start(process("p", vec![], vec![edge], &[1]));
        assert_eq!(first_faults(&system), (vec![fault], false));
    }
}

#[test]
fn a_violated_assertion_is_told_and_the_run_goes_on() {
    let mut system = System::empty();
    let x = system.global("x", BYTE);
    let edges = vec![edge(0, 1).asserts(equal(read(&x), 1), "x == 1").sets(&x, Expr::Const(9))];
    system.start(process("p", vec![], edges, &[1]));
    let violated = Fault::AssertionViolated { text: "x == 1".into() };
    assert_eq!(first_faults(&system), (vec![violated], true));
    let explored = explore(&system, 10);
    assert_eq!((explored.states, explored.violations, explored.deadlocks), (2, 1, 0));
}

#[test]
fn branches_and_loops_inside_an_effect() {
    let mut system = System::empty();
    let (x, y) = (system.global("x", BYTE), system.global("y", BYTE));
    let mut counts = edge(0, 1);
    let less = Expr::binary(BinaryOp::Less, read(&x), Expr::Const(5));
    counts.effect = vec![
        Instruction::Try(Action::Test(less), 3),
        Instruction::Do(Action::Assign(x.clone(), plus(read(&x), 1))),
        Instruction::Jump(0),
        Instruction::Do(Action::Assign(y, plus(read(&x), 0))),
    ];
    system.start(process("p", vec![], vec![counts], &[1]));
    assert_eq!(run(&Interpreter::new(&system)).globals, [5, 5]);
}

#[test]
fn every_choice_of_first_values_is_an_initial_state() {
    let mut system = System::empty();
    let (x, y) = (system.global("x", BYTE), system.global("y", BYTE));
    let z = system.global("z", BYTE);
    system.globals[0].initial = vec![(0, Initial::AnyOf(vec![1, 2]))];
    system.globals[1].initial = vec![(0, Initial::AnyOf(vec![5, 6, 7]))];
    let product = Expr::binary(BinaryOp::Multiply, read(&x), read(&y));
    system.globals[2].initial = vec![(0, Initial::Value(product))];
    let interpreter = Interpreter::new(&system);
    let found: Vec<Vec<i64>> = interpreter.initial_states().map(|state| state.unwrap().globals).collect();
    assert_eq!(found, [[1, 5, 5], [1, 6, 6], [1, 7, 7], [2, 5, 10], [2, 6, 12], [2, 7, 14]]);
    assert_eq!(interpreter.initial_state(6), None);
    assert_eq!(explore(&system, 100).states, 6);
    assert_eq!(z.variable.0, 2);
}

#[test]
fn provided_and_priorities_hold_processes_back() {
    let mut system = System::empty();
    let x = system.global("x", BYTE);
    system.start(process("low", vec![], vec![edge(0, 1)], &[1]));
    let mut high = process("high", vec![], vec![edge(0, 1).when(equal(read(&x), 0)).sets(&x, Expr::Const(1))], &[1]);
    high.priority = 3;
    system.start(high);
    let mut never = process("never", vec![], vec![edge(0, 1)], &[0]);
    never.provided = Some(Expr::FALSE);
    never.priority = 9;
    system.start(never);
    let interpreter = Interpreter::new(&system);
    assert_eq!(moves(&interpreter, &start(&interpreter)), [(1, 0), (0, 0)]);

    system.uses_priorities = true;
    let interpreter = Interpreter::new(&system);
    let state = start(&interpreter);
    assert_eq!(moves(&interpreter, &state), [(1, 0)]);
    let after = interpreter.step(&state, &interpreter.enabled(&state)[0]).state.unwrap();
    assert_eq!(moves(&interpreter, &after), [(0, 0)]);
    assert_eq!(interpreter.evaluate(&after, None, &Expr::Priority(Box::new(Expr::Const(1)))), Ok(3));
    assert_eq!(interpreter.evaluate(&after, None, &Expr::Enabled(Box::new(Expr::Const(1)))), Ok(0));
    assert_eq!(interpreter.evaluate(&after, None, &Expr::Enabled(Box::new(Expr::Const(0)))), Ok(1));
}

#[test]
fn remote_looks_reach_into_other_processes() {
    let mut system = System::empty();
    let mut p = process("p", vec![variable("n", Type::Scalar(BYTE))], vec![edge(0, 1), edge(1, 0)], &[]);
    p.parameters = 1;
    p.locations[1].progress = true;
    let p = system.declare(p);
    system.start = vec![
        Instance { process: p, arguments: vec![4], priority: None },
        Instance { process: p, arguments: vec![5], priority: None },
    ];
    system.uses_last = true;
    let interpreter = Interpreter::new(&system);
    let state = start(&interpreter);
    let after = interpreter.step(&state, &Move::Process { process: 1, edge: EdgeId(0) }).state.unwrap();
    let id = |id| Some(Box::new(Expr::Const(id)));
    let remote = |process| Expr::Remote { process, of: p, place: local(0, BYTE) };
    let at = |process| Expr::At { process, of: p, locations: vec![LocationId(1)] };
    let table = [
        (remote(None), 4, 4),
        (remote(id(1)), 5, 5),
        (remote(id(7)), 0, 0),
        (at(None), 0, 0),
        (at(id(1)), 0, 1),
        (Expr::LocationOf(Box::new(Expr::Const(1))), 1, 2),
        (Expr::LocationOf(Box::new(Expr::Const(-1))), 0, 0),
        (Expr::NonProgress, 1, 0),
        (Expr::Accepting, 0, 0),
        (Expr::LastMover, 0, 1),
        (Expr::ProcessCount, 2, 2),
    ];
    for (expr, before, then) in table {
        assert_eq!(interpreter.evaluate(&state, None, &expr), Ok(before), "{expr:?}");
        assert_eq!(interpreter.evaluate(&after, None, &expr), Ok(then), "{expr:?}");
    }
    assert_eq!(interpreter.evaluate(&state, None, &Expr::SelfId), Err(Fault::NoProcess));
    assert_eq!(interpreter.evaluate(&state, Some(9), &read(&local(0, BYTE))), Err(Fault::NoProcess));
}

#[test]
fn arithmetic_is_exact_and_checked() {
    let system = System::empty();
    let interpreter = Interpreter::new(&system);
    let state = start(&interpreter);
    let table = [
        (BinaryOp::Divide, -7, 2, Ok(-3)),
        (BinaryOp::Remainder, -7, 2, Ok(-1)),
        (BinaryOp::Remainder, i64::MIN, -1, Ok(0)),
        (BinaryOp::Divide, i64::MIN, -1, Err(Fault::Overflow)),
        (BinaryOp::ShiftLeft, 3, 33, Ok(6)),
        (BinaryOp::ShiftLeft, i64::MAX, 1, Err(Fault::Overflow)),
        (BinaryOp::ShiftRight, -8, 1, Ok(-4)),
        (BinaryOp::ShiftRight, 8, -31, Ok(4)),
        (BinaryOp::Multiply, i64::MAX, 2, Err(Fault::Overflow)),
        (BinaryOp::And, 2, 4, Ok(1)),
        (BinaryOp::Or, 0, 4, Ok(1)),
    ];
    for (op, x, y, value) in table {
        let expr = Expr::binary(op, Expr::Const(x), Expr::Const(y));
        assert_eq!(interpreter.evaluate(&state, None, &expr), value, "{x} {op:?} {y}");
    }
    let fault = Expr::binary(BinaryOp::Divide, Expr::Const(1), Expr::Const(0));
    let guarded = Expr::binary(BinaryOp::And, Expr::FALSE, fault.clone());
    assert_eq!(interpreter.evaluate(&state, None, &guarded), Ok(0));
    let chosen = Expr::Conditional(Box::new(Expr::TRUE), Box::new(Expr::Const(5)), Box::new(fault));
    assert_eq!(interpreter.evaluate(&state, None, &chosen), Ok(5));
}

/// Also in a build without optimisation, on the small stack of a thread.
#[test]
fn deepest_allowed_expression_is_evaluated() {
    let mut system = System::empty();
    system.globals.push(variable("a", Type::Array { element: Box::new(Type::Scalar(BYTE)), length: 1 }));
    let cell = global(0, BYTE);
    let depth = crate::check::MAX_DEPTH;
    let sum = (0..depth).fold(Expr::Const(1), |expr, _| plus(expr, 1));
    let subscripts = (0..depth / 2).fold(Expr::Const(0), |expr, _| read(&element(&cell, expr, 1)));
    for (expr, expected) in [(sum, i64::from(depth) + 1), (subscripts, 0)] {
        let question = crate::property::Question::Invariant(expr.clone());
        system.properties = vec![crate::property::Property { question, ..crate::property::Property::deadlock() }];
        let interpreter = Interpreter::new(&system);
        assert_eq!(interpreter.evaluate(&start(&interpreter), None, &expr), Ok(expected));
        Facts::of_expr(&system, None, &expr);
    }
}

#[test]
fn hidden_variables_do_not_tell_states_apart() {
    let mut system = System::empty();
    let x = system.global("x", BYTE);
    system.start(process("p", vec![], vec![edge(0, 0).sets(&x, plus(read(&x), 1))], &[]));
    assert_eq!(explore(&system, 1000).states, 256);
    system.globals[0].hidden = true;
    assert_eq!(explore(&system, 1000).states, 1);
}

#[test]
fn printing_knows_the_conversions() {
    let mut system = System::empty();
    system.enumerations.push(Enumeration { name: String::new(), values: vec![("ack".into(), 1), ("nak".into(), 2)] });
    let arguments = [-1, -1, 255, 8, 65, 2].map(Expr::Const).to_vec();
    let print = Action::Print { format: "%d %u %x %o %c %e 100%% %d\n".into(), arguments };
    system.start(process("p", vec![], vec![edge(0, 1).does(print)], &[1]));
    let interpreter = Interpreter::new(&system);
    let successor = interpreter.successors(&start(&interpreter)).remove(0).1;
    assert_eq!(successor.printed, "-1 4294967295 ff 10 A nak 100% %d\n");
}

/// Everything that a description can tell: a handshake, a spawn, messages in a buffer, an enumeration.
fn talkative() -> System {
    let mut system = System::empty();
    system.enumerations.push(Enumeration { name: String::new(), values: vec![("ack".into(), 1)] });
    system.sources.push(Source { path: "talk.pml".into(), text: "one\ntwo\nthree\n".into() });
    let mtype = Scalar::Enumeration(EnumerationId(0));
    let m = system.global("m", mtype);
    let rv = system.channel("rv", 0, &[mtype]);
    let q = system.channel("q", 2, &[mtype, BYTE]);
    let mut child = process("child", vec![variable("n", Type::Scalar(BYTE))], vec![edge(0, 1).does(Action::End)], &[]);
    child.parameters = 1;
    let child = system.declare(child);
    let mut first = edge(0, 1).sends(&rv, vec![Expr::Const(1)]);
    first.span = Some(Span { source: SourceId(0), start: 4, end: 7 });
    let rest = vec![
        first,
        edge(1, 2).sends(&q, vec![Expr::Const(1), Expr::Const(3)]).does(spawn(child, vec![Expr::Const(6)])),
        edge(2, 3).when(equal(Expr::ProcessCount, 2)).asserts(Expr::FALSE, "false"),
        edge(3, 0),
    ];
    system.start(process("a", vec![], rest, &[]));
    let again = edge(0, 0).receives(&rv, vec![Pattern::Bind(m)]);
    system.start(process("b", vec![], vec![again], &[0]));
    system
}

fn first_moves(interpreter: &Interpreter<'_>, count: usize) -> Vec<Move> {
    let mut state = start(interpreter);
    let mut taken = Vec::new();
    for _ in 0..count {
        taken.push(interpreter.enabled(&state).remove(0));
        state = interpreter.step(&state, &taken[taken.len() - 1]).state.unwrap();
    }
    taken
}

#[test]
fn a_trace_tells_what_happened() {
    let system = talkative();
    let interpreter = Interpreter::new(&system);
    let trace = interpreter.run_trace(0, &first_moves(&interpreter, 4)).unwrap();
    let [shake, send, end, assertion] = &trace.prefix[..] else { panic!("four steps") };
    let change = |step: &crate::trace::Step| -> Vec<String> {
        let show =
            |c: &crate::trace::Change| format!("{}: {} -> {}", c.name, c.before.as_deref().unwrap_or("-"), c.after);
        step.changes.iter().map(show).collect()
    };
    assert_eq!((shake.process.as_str(), shake.at.as_deref()), ("a(0)", Some("talk.pml:2")));
    assert_eq!(shake.partner, Some(("b(1)".into(), "0->0".into(), None)));
    assert_eq!(change(shake), ["m: 0 -> ack"]);
    assert_eq!((shake.messages.len(), shake.messages[1].channel.as_str()), (2, "rv"));
    assert_eq!(shake.messages[1].fields, ["ack"]);
    assert_eq!(change(send), ["child(2): - -> alive", "child(2):n: - -> 6", "q:  -> [ack,3]"]);
    assert_eq!(change(end), ["child(2): alive -> ended"]);
    assert_eq!(assertion.violation.as_deref(), Some("assertion violated (false)"));
    let json = serde_json::to_string(&trace).unwrap();
    assert_eq!(serde_json::from_str::<Trace>(&json).unwrap(), trace);
}

#[test]
fn a_tampered_trace_is_refused() {
    let system = talkative();
    let interpreter = Interpreter::new(&system);
    let trace = interpreter.run_trace(0, &first_moves(&interpreter, 4)).unwrap();
    assert_eq!(interpreter.replay(&trace).unwrap().len(), 5);

    let refused = |tamper: &dyn Fn(&mut Trace)| {
        let mut tampered = trace.clone();
        tamper(&mut tampered);
        interpreter.replay(&tampered).unwrap_err()
    };
    assert_eq!(refused(&|t| t.prefix[1].taken = Move::of(0, EdgeId(2), None)), ReplayError::NotEnabled { step: 2 });
    assert_eq!(refused(&|t| t.prefix[1].taken = Move::of(0, EdgeId(99), None)), ReplayError::NotEnabled { step: 2 });
    assert_eq!(refused(&|t| t.prefix[0].taken = Move::of(0, EdgeId(0), None)), ReplayError::NotEnabled { step: 1 });
    assert_eq!(
        refused(&|t| t.prefix[0].taken = Move::of(77, EdgeId(0), Some((1, EdgeId(0))))),
        ReplayError::NotEnabled { step: 1 }
    );
    assert_eq!(refused(&|t| drop(t.prefix.remove(0))), ReplayError::NotEnabled { step: 1 });
    assert_eq!(refused(&|t| t.start = 1.into()), ReplayError::NoStart { start: 1.into() });
    assert!(matches!(refused(&|t| t.prefix[3].violation = None), ReplayError::OtherViolation { step: 4, .. }));
    assert_eq!(refused(&|t| t.cycle = t.prefix.split_off(2)), ReplayError::OpenCycle);
}

#[test]
fn a_cycle_must_close_and_a_fault_is_the_end() {
    let mut system = System::empty();
    let x = system.global("x", Scalar::Range { low: 0, high: 1, overflow: Overflow::Wrap });
    let y = system.global("y", Scalar::Range { low: 0, high: 0, overflow: Overflow::Fault });
    let edges = vec![edge(0, 0).sets(&x, plus(read(&x), 1)), edge(0, 0).sets(&y, Expr::Const(1))];
    system.start(process("p", vec![], edges, &[]));
    let interpreter = Interpreter::new(&system);
    let [flip, fault] = [0, 1].map(|edge| Move::Process { process: 0, edge: EdgeId(edge) });
    let flip = || flip.clone();
    let fault = || fault.clone();
    let lasso = interpreter.run_lasso(0, &[flip()], &[flip(), flip()]).unwrap();
    assert_eq!((lasso.prefix.len(), lasso.cycle.len()), (1, 2));
    assert_eq!(interpreter.replay(&lasso).unwrap().len(), 4);
    assert_eq!(interpreter.run_lasso(0, &[flip()], &[flip()]), Err(ReplayError::OpenCycle));
    let trace = interpreter.run_trace(0, &[flip(), fault()]).unwrap();
    assert_eq!(trace.prefix[1].violation.as_deref(), Some("value out of range: 1"));
    assert_eq!(interpreter.replay(&trace).unwrap().len(), 2);
    let gone_on = ReplayError::AfterFault { step: 1, fault: Fault::OutOfRange { value: 1 } };
    assert_eq!(interpreter.run_trace(0, &[fault(), flip()]), Err(gone_on));
}

#[test]
fn a_system_survives_json() {
    for system in [talkative(), atomic_handshake(), watched(true, &[1, 2], &[2, 1])] {
        let json = serde_json::to_string(&system).unwrap();
        assert_eq!(serde_json::from_str::<System>(&json).unwrap(), system);
        let interpreter = Interpreter::new(&system);
        let state = start(&interpreter);
        let json = serde_json::to_string(&state).unwrap();
        assert_eq!(serde_json::from_str::<State>(&json).unwrap(), state);
    }
}

#[test]
fn records_and_arrays_of_channels() {
    let mut system = System::empty();
    let pair = vec![("a".to_string(), Type::Scalar(BYTE)), ("b".to_string(), Type::Scalar(Scalar::SHORT))];
    system.records.push(Record { name: "pair".into(), fields: pair });
    let element = Box::new(Type::Record(RecordId(0)));
    system.globals.push(variable("pairs", Type::Array { element, length: 3 }));
    system.globals.push(variable("qs", Type::Array { element: Box::new(Type::Scalar(Scalar::Channel)), length: 2 }));
    system.channels.push(Channel { name: "qs".into(), capacity: 1, fields: vec![BYTE], span: None });
    system.globals[1].initial = vec![(0, Initial::Channel(0usize.into())), (1, Initial::Channel(0usize.into()))];
    let mut b = global(0, Scalar::SHORT);
    b.offset = 1;
    b.indices = vec![crate::expr::Index { at: Expr::Const(2), length: 3, stride: 2 }];
    let mut second = global(1, Scalar::Channel);
    second.indices = vec![crate::expr::Index { at: Expr::Const(1), length: 2, stride: 1 }];
    let edges = vec![edge(0, 1).sends(&read(&second), vec![Expr::Const(1)]).sets(&b, Expr::Const(-5))];
    system.start(process("p", vec![], edges, &[1]));
    let interpreter = Interpreter::new(&system);
    let trace = interpreter.run_trace(0, &first_moves(&interpreter, 1)).unwrap();
    let names: Vec<&str> = trace.prefix[0].changes.iter().map(|change| change.name.as_str()).collect();
    assert_eq!(names, ["pairs[2].b", "qs[1]"]);
    assert_eq!(trace.prefix[0].messages[0].channel, "qs[1]");
}

/// Dijkstra's philosophers without a table: n processes, each takes its left fork, then its right.
fn philosophers(count: u32) -> System {
    let mut system = System::empty();
    let element = Box::new(Type::Scalar(Scalar::BOOL));
    system.globals.push(variable("fork", Type::Array { element, length: count }));
    let fork = |at: Expr| element_of(count, at);
    let left = fork(Expr::SelfId);
    let next = Expr::binary(BinaryOp::Remainder, plus(Expr::SelfId, 1), Expr::Const(count.into()));
    let right = fork(next);
    let take = |from, fork: &crate::expr::Place| {
        edge(from, from + 1).when(Expr::unary(crate::expr::UnaryOp::Not, read(fork))).sets(fork, Expr::TRUE)
    };
    let give = edge(2, 0).sets(&left, Expr::FALSE).sets(&right, Expr::FALSE);
    let ty: ProcessType = process("phil", vec![], vec![take(0, &left), take(1, &right), give], &[]);
    let id = system.declare(ty);
    system.start = (0..count).map(|_| Instance { process: id, arguments: vec![], priority: None }).collect();
    system
}

fn element_of(count: u32, at: Expr) -> crate::expr::Place {
    element(&global(0, Scalar::BOOL), at, count)
}

/// The numbers are those of Spin 6.5.2 (`-o3`, `-DNOREDUCE`) for the same models in Promela.
#[test]
fn philosophers_deadlock_once() {
    for (count, states) in [(2, 6), (3, 14), (4, 34)] {
        let explored = explore(&philosophers(count), 10_000);
        assert_eq!((explored.states, explored.deadlocks, explored.violations), (states, 1, 0), "{count} philosophers");
    }
}

/// Random systems neither panic nor run away, what is found in them can be told and replayed, and the
/// facts about their edges are true.
#[test]
fn random_systems_keep_their_promises() {
    for seed in 0..600 {
        let features = [Features::NONE, Features::ALL, Features::MOST][seed as usize % 3];
        let system = random::system(seed, features);
        assert_eq!(check(&system), Ok(()), "seed {seed}");
        let explored = explore(&system, 300);
        assert!(explored.states + explored.violations > 0, "seed {seed}");
        let interpreter = Interpreter::new(&system);
        let facts = Facts::of(&system);
        for start in 0..2 {
            if let Some(Ok(state)) = interpreter.initial_state(start) {
                walk(&interpreter, &facts, start, state, seed);
            }
        }
    }
}

/// Walks along the moves that the seed picks.
fn walk(interpreter: &Interpreter<'_>, facts: &Facts, start: u64, mut state: State, seed: u64) {
    let mut taken = Vec::new();
    for turn in 0..30 {
        let mut successors = interpreter.successors(&state);
        for (movement, successor) in &successors {
            assert_eq!(interpreter.step(&state, movement), *successor, "seed {seed}");
            facts_are_true(interpreter, facts, &state, movement, successor, seed);
        }
        if successors.is_empty() {
            break;
        }
        let (movement, successor) = successors.swap_remove((seed as usize + turn * 7) % successors.len());
        taken.push(movement);
        match successor.state {
            Some(next) => state = next,
            None => break,
        }
    }
    let trace = interpreter.run_trace(start, &taken).unwrap();
    assert!(interpreter.replay(&trace).is_ok(), "seed {seed}");
}

/// An edge that may not fault does not, and only the cells that the edges write change.
fn facts_are_true(
    interpreter: &Interpreter<'_>,
    facts: &Facts,
    state: &State,
    taken: &Move,
    successor: &Successor,
    seed: u64,
) {
    let of = |(process, edge): (u32, EdgeId)| facts.edge(state.processes[process as usize].process, edge);
    let involved: Vec<_> = taken.movers().map(|party| (party.0, of(party))).collect();
    let Some(after) = &successor.state else {
        let provided = |process| facts.provided(process).is_some_and(|usage| usage.traits.may_fault);
        let expected = interpreter.system.uses_priorities
            || involved.iter().any(|(_, e)| e.all.traits.may_fault || e.monitored || provided(e.process));
        assert!(expected, "seed {seed}: {:?}", successor.violations);
        return;
    };
    let written = |scope: Scope, owner: Option<u32>, variable: usize, slot: u32| {
        let cell = Cells { scope, variable: variable.into(), slots: Some((slot, slot + 1)) };
        let mut parties = involved.iter().filter(|(process, _)| owner.is_none_or(|owner| owner == *process));
        parties.any(|(_, edge)| edge.all.writes.iter().any(|cells| cells.overlaps(&cell)))
    };
    let slots = |layout: &Layout, slot: usize| {
        let variable = layout.offsets.partition_point(|offset| *offset <= slot) - 1;
        (variable, (slot - layout.offsets[variable]) as u32)
    };
    for (at, (old, new)) in state.globals.iter().zip(&after.globals).enumerate() {
        let (variable, slot) = slots(&interpreter.globals, at);
        assert!(old == new || written(Scope::Global, None, variable, slot), "seed {seed}: global slot {at}");
    }
    for (id, (old, new)) in state.processes.iter().zip(&after.processes).enumerate() {
        if old.process != new.process || involved.iter().any(|(process, e)| *process == id as u32 && e.ends) {
            continue;
        }
        for (at, (old, new)) in old.locals.iter().zip(&new.locals).enumerate() {
            let (variable, slot) = slots(interpreter.locals(state.processes[id].process), at);
            let known = old == new || written(Scope::Local, Some(id as u32), variable, slot);
            assert!(known, "seed {seed}: slot {at} of process {id}");
        }
    }
    if !involved.iter().any(|(_, edge)| !edge.spawns.is_empty()) {
        assert!(after.processes.len() <= state.processes.len(), "seed {seed}");
    }
}
