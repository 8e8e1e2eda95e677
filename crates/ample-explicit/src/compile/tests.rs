//! The compiled space against the reference interpreter, on hand-made and on random systems.

use std::collections::{HashSet, VecDeque};

use ample_lang::promela::{self, preprocess::FileLoader};
use ample_model::interpret::Interpreter;
use ample_model::random::{self, Features};
use ample_model::{BinaryOp, Expr, Scalar, State, System, UnaryOp};

use super::{Compiled, MAX_ATOMIC_STEPS, Transition, Unsupported};
use crate::space::{Checked, StateSpace};

/// A model in Promela.
fn model(text: &str) -> System {
    match promela::read("test.pml", text.into(), &mut FileLoader, &[]) {
        Ok(lowered) => lowered.system,
        Err(why) => panic!("{why:?}"),
    }
}

fn compiled(text: &str) -> Compiled {
    Compiled::new(&model(text), &[]).unwrap()
}

/// The first initial state.
fn initial(space: &mut Compiled) -> Vec<u8> {
    let mut state = Vec::new();
    assert!(space.initial(0, &mut state));
    state
}

/// All states that can be reached, at most that many.
fn reach(space: &mut Compiled, limit: usize) -> Vec<Vec<u8>> {
    let mut states = vec![initial(space)];
    let (mut at, mut out) = (0, Vec::new());
    while at < states.len() && states.len() < limit {
        let state = states[at].clone();
        at += 1;
        for transition in transitions(space, &state) {
            space.target(&state, &transition, &mut out);
            if !space.is_dead() && !states.contains(&out) {
                states.push(out.clone());
            }
        }
    }
    states
}

/// Everything that the two say about the reachable states, up to a number of them, is the same.
fn agree(name: &str, system: &System, invariants: &[Expr], limit: usize) -> usize {
    let interpreter = Interpreter::new(system);
    let mut space = Compiled::new(system, invariants).unwrap_or_else(|why| panic!("{name}: {why}"));
    let mut seen: HashSet<Vec<u8>> = HashSet::new();
    let mut queue: VecDeque<Vec<u8>> = VecDeque::new();
    let mut out = Vec::new();
    for number in 0.. {
        let expected = interpreter.initial_state(number);
        let there = space.initial(number as usize, &mut out);
        assert_eq!(there, expected.is_some(), "{name}: initial state {number}");
        match expected {
            None => break,
            Some(Err(fault)) => {
                assert!(space.is_dead(), "{name}: initial state {number} should be a fault: {fault}");
                assert_eq!(space.violation(), Some(fault.to_string()), "{name}: initial state {number}");
            }
            Some(Ok(state)) => {
                assert_eq!(space.violation(), None, "{name}: initial state {number}");
                assert_eq!(space.decode(&out), state, "{name}: initial state {number}");
                queue.push_back(out.clone());
                seen.insert(out.clone());
            }
        }
    }
    while let Some(bytes) = queue.pop_front() {
        let state = space.decode(&bytes);
        assert_eq!(space.encode(&state).as_deref(), Some(&bytes[..]), "{name}: encode {state:?}");
        compare_state(name, &interpreter, &mut space, invariants, &bytes, &state);
        for transition in transitions(&mut space, &bytes) {
            space.target(&bytes, &transition, &mut out);
            compare_step(name, &interpreter, &mut space, &bytes, &state, &transition, &out);
            space.target(&bytes, &transition, &mut out);
            if !space.is_dead() && seen.len() < limit && seen.insert(out.clone()) {
                queue.push_back(out.clone());
            }
        }
    }
    seen.len()
}

fn transitions(space: &mut Compiled, state: &[u8]) -> Vec<Transition> {
    let mut all = Vec::new();
    let mut next = space.first(state);
    while let Some(transition) = next {
        all.push(transition);
        next = space.next(state, &transition);
    }
    all
}

fn compare_state(
    name: &str,
    interpreter: &Interpreter<'_>,
    space: &mut Compiled,
    invariants: &[Expr],
    bytes: &[u8],
    state: &State,
) {
    let expected = interpreter.enabled(state);
    let moves: Vec<_> = transitions(space, bytes).iter().map(|t| space.expand(bytes, t)[0]).collect();
    assert_eq!(moves, expected, "{name}: moves of {state:#?}");
    assert_eq!(space.is_valid_end(bytes), interpreter.is_end_state(state), "{name}: {state:?}");
    assert_eq!(space.is_transient(bytes), state.control.is_some(), "{name}: {state:?}");
    for (number, invariant) in invariants.iter().enumerate() {
        let expected = interpreter.evaluate(state, None, invariant);
        assert_eq!(space.evaluate(number, bytes), expected, "{name}: {invariant:?} in {state:#?}");
    }
}

fn compare_step(
    name: &str,
    interpreter: &Interpreter<'_>,
    space: &mut Compiled,
    bytes: &[u8],
    state: &State,
    transition: &Transition,
    out: &[u8],
) {
    let (violation, dead, steps) = (space.violation(), space.is_dead(), space.atomic_steps());
    let moves = space.expand(bytes, transition);
    assert_eq!(steps as usize + 1, moves.len(), "{name}: {moves:?}");
    let mut current = state.clone();
    let mut sentences = Vec::new();
    for (number, taken) in moves.iter().enumerate() {
        if number > 0 {
            assert!(current.control.is_some(), "{name}: {moves:?} goes on without control in {current:#?}");
            assert_eq!(interpreter.enabled(&current), [*taken], "{name}: {moves:?} goes on in {current:#?}");
        }
        let successor = interpreter.step(&current, taken);
        sentences.extend(successor.violations.iter().map(ToString::to_string));
        match successor.state {
            Some(next) => current = next,
            None => {
                assert!(dead, "{name}: {taken:?} should be a fault: {sentences:?}, from {current:#?}");
                assert_eq!(number + 1, moves.len(), "{name}: {moves:?} goes on after a fault");
                assert_eq!(violation, Some(sentences.join("; ")), "{name}: {taken:?} from {current:#?}");
                return;
            }
        }
    }
    assert!(!dead, "{name}: {moves:?} is no fault: {violation:?}, from {state:#?}");
    assert_eq!(violation, (!sentences.is_empty()).then(|| sentences.join("; ")), "{name}: {moves:?}");
    assert_eq!(space.decode(out), interpreter.normalise(&current), "{name}: {moves:?} from {state:#?}");
    if space.is_transient(out) && steps < MAX_ATOMIC_STEPS {
        assert!(interpreter.enabled(&current).len() > 1, "{name}: {moves:?} stops early in {current:#?}");
    }
}

#[test]
fn random_systems_step_as_the_interpreter_says() {
    let mut invariants = vec![Expr::Timeout, Expr::NonProgress, Expr::Accepting, Expr::ProcessCount, Expr::LastMover];
    invariants.extend((0..3).map(enabled));
    for seed in 0..seeds() {
        let features = if seed % 4 == 3 { Features::NONE } else { Features::ALL };
        let system = random::system(seed, features);
        agree(&format!("seed {seed}"), &system, &invariants, 400);
    }
}

#[test]
fn random_systems_of_every_width_step_as_the_interpreter_says() {
    let mut invariants = vec![Expr::Timeout, Expr::NonProgress, Expr::Accepting];
    invariants.extend((0..3).map(enabled));
    let mut states = 0;
    for seed in 0..seeds() {
        let system = super::random::system(seed);
        if let Err(problems) = ample_model::check::check(&system) {
            panic!("seed {seed}: {problems:?}");
        }
        states += agree(&format!("seed {seed}"), &system, &invariants, 300);
    }
    assert!(states as u64 > 20 * seeds(), "random systems that hardly move: {states} states");
}

/// Whether the process of that id is enabled.
fn enabled(process: i64) -> Expr {
    Expr::Enabled(Box::new(Expr::Const(process)))
}

/// How many random systems; more on demand.
fn seeds() -> u64 {
    std::env::var("AMPLE_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(200)
}

#[test]
fn the_models_step_as_the_interpreter_says() {
    let models = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/promela");
    let mut checked = 0;
    for entry in std::fs::read_dir(models).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "pml") {
            continue;
        }
        let (path, text) = (path.display().to_string(), std::fs::read_to_string(&path).unwrap());
        let Ok(lowered) = promela::read(&path, text, &mut FileLoader, &[]) else { continue };
        agree(&path, &lowered.system, &[], 300);
        checked += 1;
    }
    assert!(checked >= 20, "only {checked} models were read");
}

#[test]
fn cells_narrower_than_a_byte_share_bytes_unless_they_are_elements() {
    let text = "bit a, b; unsigned u : 3; byte d; bit array[4]; short s; int i; unsigned w : 4; \
                active proctype P() { skip }";
    // Shape, a b u together, d, array, s, i, w for which they leave no room, location.
    assert_eq!(initial(&mut compiled(text)).len(), 2 + 1 + 1 + 4 + 2 + 4 + 1 + 1);
}

#[test]
fn what_is_received_leaves_no_trace() {
    let text = "chan q = [3] of { byte, int }; byte x; int y; \
                active proctype P() { do :: q!1,70000 :: q?x,y -> x = 0; y = 0 od }";
    let mut space = compiled(text);
    // One message more or less, and two locations on the way back.
    assert_eq!(reach(&mut space, 100).len(), 4 + 3 + 3);
}

#[test]
fn hidden_variables_are_at_the_end_and_do_not_count() {
    let text = "hidden int h; byte x; \
                proctype Q() { h = 3; x = 1 } \
                active proctype P() { h = 5; run Q() }";
    let mut space = compiled(text);
    let visible = space.visible();
    let states = reach(&mut space, 100);
    let h = model(text).globals.iter().position(|variable| variable.hidden).unwrap();
    assert!(states.iter().any(|state| space.process_count(state) == 2));
    for state in &states {
        assert_eq!(space.hidden_tail(state), 4);
        assert_eq!(visible(state), state.len() - 4);
        let hidden = space.decode(state).globals[h];
        assert_eq!(state[state.len() - 4..], (hidden as i32).to_le_bytes());
    }
    agree("hidden", &model(text), &[], 100);
}

#[test]
fn endless_atomic_sequences_are_cut_into_pieces() {
    let mut space = compiled("int x; active proctype P() { atomic { do :: x++ od } }");
    let state = initial(&mut space);
    let transition = space.first(&state).unwrap();
    let mut out = Vec::new();
    space.target(&state, &transition, &mut out);
    assert!(space.is_transient(&out));
    assert_eq!(space.atomic_steps(), MAX_ATOMIC_STEPS);
    assert_eq!(space.expand(&state, &transition).len(), 1 + MAX_ATOMIC_STEPS as usize);
}

#[test]
fn a_choice_in_an_atomic_sequence_is_a_transient_state() {
    let text = "byte x; active proctype P() { atomic { x = 1; if :: x = 2 :: x = 3 fi; x = 4 } }";
    let mut space = compiled(text);
    let states = reach(&mut space, 100);
    assert!(states.iter().any(|state| space.is_transient(state) && transitions(&mut space, state).len() == 2));
    agree("choice", &model(text), &[], 100);
}

#[test]
fn processes_with_many_locations_and_many_options() {
    let steps: String = (0..300).map(|step| format!("x = {}; ", step % 7)).collect();
    agree("locations", &model(&format!("byte x; active [2] proctype P() {{ {steps} }}")), &[], 400);
    let options: String = (0..80).map(|option| format!(":: x == {option} -> x = x + 2 ")).collect();
    let text = format!(
        "byte x; active proctype P() {{ do {options} :: else -> x = x + 5; if :: x > 190 -> break :: else fi od }}"
    );
    assert!(agree("options", &model(&text), &[], 400) > 100);
}

#[test]
fn clones_number_shapes_alike() {
    let text = "proctype A() { skip } proctype B() { skip; skip } \
                active proctype P() { do :: run A() :: run B() od }";
    let mut one = compiled(text);
    let mut other = one.clone();
    let states = reach(&mut one, 200);
    for state in &states {
        let decoded = one.decode(state);
        assert_eq!(other.hidden_tail(state), 0);
        assert_eq!(other.decode(state), decoded);
        assert_eq!(other.encode(&decoded).as_ref(), Some(state));
    }
}

#[test]
fn too_many_sequences_of_processes_are_a_limit_and_no_violation() {
    // Seven types, up to seven alive beside P: more sequences than numbers.
    let types: String = (0..7).map(|n| format!("proctype Q{n}() {{ false }} ")).collect();
    let runs: String = (0..7).map(|n| format!(":: run Q{n}() ")).collect();
    let mut space = compiled(&format!("{types} active proctype P() {{ do {runs} od }}"));
    let (mut states, mut out) = (vec![initial(&mut space)], Vec::new());
    while let Some(state) = states.pop() {
        let deep = space.process_count(&state) > 6;
        for transition in transitions(&mut space, &state) {
            space.target(&state, &transition, &mut out);
            if space.is_dead() {
                let sentence = space.violation().unwrap();
                assert_eq!(space.limit_reached(), Some(sentence));
                return;
            }
            if !deep || out.len() < state.len() {
                states.push(out.clone());
            }
        }
    }
    panic!("no limit was reached");
}

/// Whether `High` is enabled depends on whether `Low` can move, and that on whether `High` is enabled.
#[test]
fn who_waits_for_a_timeout_is_enabled_when_nobody_below_can_move() {
    for (low, expected) in [("false", true), ("skip", false)] {
        let low = format!("active proctype Low() priority 1 {{ {low} }}");
        let system = model(&format!("{low} active proctype High() priority 2 {{ timeout }}"));
        let mut space = Compiled::new(&system, &[enabled(1)]).unwrap();
        let state = initial(&mut space);
        assert_eq!(space.evaluate(0, &state), Ok(expected.into()), "{low}");
        agree(&low, &system, &[enabled(0), enabled(1)], 10);
    }
}

#[test]
fn a_space_can_go_to_another_thread() {
    fn sendable<T: Send + Clone>() {}
    sendable::<Compiled>();
}

#[test]
fn what_cannot_be_compiled_is_refused_with_a_sentence() {
    let system = model("byte x; active proctype P() { skip }");
    let refused = |invariant: Expr| Compiled::new(&system, &[invariant]).err();
    let to_the_right = (0..100).fold(Expr::LastMover, |sum, _| Expr::binary(BinaryOp::Add, Expr::ProcessCount, sum));
    assert!(matches!(refused(to_the_right), Some(Unsupported::TooDeep { .. })));
    let nested = (0..300).fold(Expr::Timeout, |x, _| Expr::unary(UnaryOp::Complement, x));
    assert!(matches!(refused(nested), Some(Unsupported::TooDeep { .. })));
    let long = (0..1_000).fold(Expr::Timeout, |x, _| Expr::binary(BinaryOp::And, x, Expr::NonProgress));
    assert_eq!(refused(long), None);
    let mut large = system.clone();
    large.globals[0].ty =
        ample_model::Type::Array { element: ample_model::Type::Scalar(Scalar::INT).into(), length: 300_000 };
    large.globals[0].initial.clear();
    assert_eq!(Compiled::new(&large, &[]).err(), Some(Unsupported::StateTooLong));
}

#[test]
#[should_panic(expected = "a transition of another state")]
fn a_transition_of_another_state_is_noticed() {
    let mut space = compiled("byte x; active proctype P() { x = 1; x = 2 }");
    let state = initial(&mut space);
    let transition = space.first(&state).unwrap();
    let mut out = Vec::new();
    space.target(&state, &transition, &mut out);
    let after = out.clone();
    space.target(&after, &transition, &mut out);
}

/// Bytes that are no state may lead to a panic or to nonsense, but to nothing worse (run it under valgrind).
#[test]
fn bytes_that_are_no_state_do_no_harm() {
    for seed in 0..seeds() / 10 {
        let system = super::random::system(seed);
        let mut space = Compiled::new(&system, &[Expr::NonProgress]).unwrap();
        let mut random = seed;
        for state in reach(&mut space, 20) {
            let mut broken = state.clone();
            for byte in &mut broken[2..] {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                if random >> 61 == 0 {
                    *byte ^= (random >> 40) as u8;
                }
            }
            let mut space = space.clone();
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
                let mut out = Vec::new();
                space.invariant(0, &broken);
                for transition in transitions(&mut space, &broken) {
                    space.target(&broken, &transition, &mut out);
                    let _ = space.violation();
                }
                space.decode(&broken);
            }));
        }
    }
}
