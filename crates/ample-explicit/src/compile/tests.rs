//! The compiled space against the reference interpreter, on hand-made and on random systems.

use std::collections::{HashMap, HashSet, VecDeque};

use ample_lang::promela::{self, preprocess::FileLoader};
use ample_lang::promplus::{self, Widths};
use ample_model::interpret::Interpreter;
use ample_model::random::{self, Features};
use ample_model::{
    BinaryOp, Budget, Cancellation, Coupling, Definition, Expr, Initial, Interrupted, NextValue, Place, Reason, Scalar,
    Scope, Shared, State, Synchronous, System, Type, UnaryOp, Variable, VariableId, VariableKind,
};

use super::sequences::Sequences;
use super::{Ample, CompileError, Compiled, CompiledSystem, MAX_ATOMIC_STEPS, Packed, Reduced, Transition};
use crate::check;
use crate::liveness::Concurrent;
use crate::space::{Checked, StateSpace};
use crate::store::{ExactStore, FlatStore, Handle, Key, Linked, Parent, SetStore, TreeSet};
use crate::targets::Targets;

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
    let mut native = natively(system, invariants);
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
        compare_native(name, &mut space, &mut native, &bytes);
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

/// The space of a system that has native code from the beginning.
fn natively(system: &System, invariants: &[Expr]) -> Compiled {
    let budget = Budget::unlimited();
    let compiled = CompiledSystem::new(system, &budget).unwrap().with_native_code();
    compiled.space(invariants, &budget).unwrap()
}

/// Native code lists the same transitions as the evaluator, and they do the same.
fn compare_native(name: &str, space: &mut Compiled, native: &mut Compiled, bytes: &[u8]) {
    let expected = transitions(space, bytes);
    let mut listed = Vec::new();
    assert!(native.list(bytes, None, &mut listed), "{name}");
    assert_eq!(listed, expected, "{name}: the moves of {:#?}", space.decode(bytes));
    assert_eq!(transitions(native, bytes), expected, "{name}: the moves of {:#?}", space.decode(bytes));
    let (mut targets, mut steps) = (Targets::default(), HashMap::new());
    targets.source = Handle::at(0);
    if !native.targets(bytes, &mut targets) {
        assert!(!native.listing.is_ready(), "{name}");
        return compare_targets(name, space, native, bytes, &expected);
    }
    for target in &targets.states {
        let state = targets.bytes[target.bytes()].to_vec();
        assert_eq!(target.is_transient, space.is_transient(&state), "{name}: {:?}", target.transition);
        assert!(steps.insert(format!("{:?}", target.transition), (state, target.atomic_steps)).is_none(), "{name}");
    }
    let count = targets.states.len() + targets.rest.len();
    assert_eq!(count, expected.len(), "{name}: the targets of {:#?}", space.decode(bytes));
    for transition in &expected {
        let Some((state, steps)) = steps.get(&format!("{transition:?}")) else {
            assert!(targets.rest.contains(transition), "{name}: {transition:?}");
            continue;
        };
        let mut out = Vec::new();
        space.target(bytes, transition, &mut out);
        let says = (space.is_dead(), space.violation(), space.atomic_steps());
        assert_eq!(says, (false, None, *steps), "{name}: {transition:?} in {:#?}", space.decode(bytes));
        assert_eq!(*state, out, "{name}: {transition:?} in {:#?}", space.decode(bytes));
    }
    compare_targets(name, space, native, bytes, &expected);
    listed.clear();
    native.list(bytes, None, &mut listed);
    compare_targets(name, space, native, bytes, &expected);
}

/// Transitions lead to the same states by native code.
fn compare_targets(name: &str, space: &mut Compiled, native: &mut Compiled, bytes: &[u8], transitions: &[Transition]) {
    let (mut one, mut other) = (Vec::new(), Vec::new());
    for transition in transitions {
        space.target(bytes, transition, &mut one);
        native.target(bytes, transition, &mut other);
        let says = |space: &Compiled| (space.is_dead(), space.violation(), space.culprit(), space.atomic_steps());
        assert_eq!(says(native), says(space), "{name}: {transition:?} in {:#?}", space.decode(bytes));
        assert!(space.is_dead() || one == other, "{name}: {transition:?} in {:#?}", space.decode(bytes));
    }
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
    let moves: Vec<_> = transitions(space, bytes).iter().map(|t| space.expand(bytes, t).remove(0)).collect();
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
            assert_eq!(
                interpreter.enabled(&current),
                std::slice::from_ref(taken),
                "{name}: {moves:?} goes on in {current:#?}"
            );
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

/// What a breadth-first search counts and finds.
fn searched<S: Checked<State = [u8]>>(space: &mut S, invariants: usize) -> (u64, u64, u64, Vec<bool>, usize) {
    searched_in(space, &mut FlatStore::<Parent>::default(), invariants)
}

fn searched_in<S, St>(space: &mut S, store: &mut St, invariants: usize) -> (u64, u64, u64, Vec<bool>, usize)
where
    S: Checked<State = [u8]>,
    St: ExactStore<[u8], Side: Linked>,
{
    let options = check::Options { invariants, ..check::Options::default() };
    let (budget, _) = Budget::unlimited().until(|progress| progress.states > 5_000);
    let report = check::breadth_first(space, store, &options, &budget);
    if report.ended.is_some() {
        // What was counted by then depends on the order.
        return Default::default();
    }
    let found = [report.deadlock.is_some(), report.assertions.is_some()];
    let found = found.into_iter().chain(report.invariants.iter().map(Option::is_some)).collect();
    let statistics = report.statistics;
    (statistics.states, statistics.transitions, statistics.depth, found, report.cuts.len())
}

#[test]
fn packed_states_are_as_many_as_others() {
    for seed in 0..seeds() {
        let small = random::system(seed, Features::ALL);
        let system = if seed.is_multiple_of(2) { small } else { super::random::system(seed) };
        let Ok(space) = Compiled::new(&system, &[Expr::NonProgress]) else { continue };
        let expected = searched(&mut space.clone(), 1);
        if let Ok(mut packed) = Packed::at_most(space, 1_000) {
            assert_eq!(searched(&mut packed, 1), expected, "seed {seed}");
            assert_eq!(packed.space().limit_reached(), None, "seed {seed}");
        }
    }
}

#[test]
fn all_who_wait_for_a_timeout_are_listed() {
    let text = "byte x, y; \
        active proctype P() { do :: timeout -> x = (x + 1) % 3 od } \
        active proctype Q() { do :: atomic { timeout -> if :: x > 1 -> y++ :: else -> y = 0 fi; y = y % 4 } od } \
        active proctype R() { do :: atomic { timeout -> y = 1; if :: x == 0 -> x = 2 :: else fi } od }";
    assert!(agree("timeouts", &model(text), &[], 1_000) > 8);
}

#[test]
fn searches_with_native_code_find_what_others_do() {
    for seed in 0..seeds() {
        let small = random::system(seed, Features::ALL);
        let system = if seed.is_multiple_of(2) { small } else { super::random::system(seed) };
        let invariants = [Expr::NonProgress];
        let Ok(mut space) = Compiled::new(&system, &invariants) else { continue };
        space.note_executed();
        let expected = searched(&mut space, 1);
        let mut native = natively(&system, &invariants);
        native.note_executed();
        assert_eq!(searched(&mut native, 1), expected, "seed {seed}");
        assert_eq!(native.coverage(), space.coverage(), "seed {seed}");
        // This store depends on the order in which states are found.
        let mut store = SetStore::queue(TreeSet::new(), Key::default(), true);
        let mut native = natively(&system, &invariants);
        assert_eq!(searched_in(&mut native, &mut store, 1), expected, "seed {seed}, in a tree");
        let mut native = natively(&system, &invariants);
        native.note_executed();
        if let Ok(mut packed) = Packed::at_most(native, 1_000) {
            assert_eq!(searched(&mut packed, 1), expected, "seed {seed}, packed");
            assert_eq!(packed.space().limit_reached(), None, "seed {seed}");
            assert_eq!(packed.space().coverage(), space.coverage(), "seed {seed}, packed");
        }
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
fn random_systems_with_shared_expressions_step_as_the_interpreter_says() {
    for seed in 0..seeds() {
        let features = if seed % 4 == 3 { Features::NONE } else { Features::ALL };
        let system = random::with_shared(random::system(seed, features), seed);
        agree(&format!("seed {seed}, shared"), &system, &[], 200);
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
    // StateLayout, a b u together, d, array, s, i, w for which they leave no room, location.
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
fn clones_number_layouts_alike() {
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

/// Models that create processes, in more and less regular ways.
fn creating() -> Vec<String> {
    let three = "proctype A() { skip } proctype B() { skip; skip } proctype C() { byte x; x = 1; x = 2 }";
    vec![
        // One after the other.
        format!("{three} init {{ run A(); run B(); run C(); run A() }}"),
        // Any number of one type.
        "proctype A() { skip } init { byte i; do :: i < 5 -> run A(); i++ :: else -> break od }".into(),
        // In any order: more sequences than two bytes can number.
        format!("{three} active proctype P() {{ do :: run A() :: run B() :: run C() od }}"),
        // By several processes, beside some that were there before.
        format!("{three} proctype D() {{ run A(); run B() }} active [2] proctype P() {{ run D(); run C() }}"),
        // By itself.
        "active proctype A() { if :: run A() :: skip fi }".into(),
        // Nothing.
        "active [3] proctype A() { byte x; do :: x < 2 -> x++ :: else -> break od }".into(),
    ]
}

/// All states that can be reached depth first, at most that many, with few enough processes for a number without a hash.
fn reach_depth_first(space: &mut Compiled, limit: usize) -> HashSet<Vec<u8>> {
    let mut stack = vec![initial(space)];
    let mut states = HashSet::from([stack[0].clone()]);
    let mut out = Vec::new();
    while let Some(state) = stack.pop() {
        for transition in transitions(space, &state) {
            space.target(&state, &transition, &mut out);
            let is_state = !space.is_dead() && space.process_count(&out) < 16;
            if is_state && states.len() < limit && states.insert(out.clone()) {
                stack.push(out.clone());
            }
        }
    }
    states
}

#[test]
fn a_state_is_the_same_bytes_in_every_search_and_compilation() {
    for text in creating() {
        let system = model(&text);
        let mut wide = Compiled::new(&system, &[]).unwrap();
        let mut deep = Compiled::new(&system, &[]).unwrap();
        let mut third = Compiled::new(&system, &[Expr::Const(1)]).unwrap();
        let mut found: HashSet<Vec<u8>> = reach(&mut wide, 600).into_iter().collect();
        let is_whole = found.len() < 600;
        found.retain(|state| wide.process_count(state) < 16);
        let other = reach_depth_first(&mut deep, 600);
        assert!(!is_whole || found == other, "{text}");
        for (states, space) in [(&found, &mut wide), (&other, &mut deep)] {
            for bytes in states {
                // Somebody who has never met the state understands it, and would write it alike.
                let state = third.decode(bytes);
                assert_eq!(space.decode(bytes), state, "{text}");
                let mut fresh = Compiled::new(&system, &[]).unwrap();
                assert_eq!(fresh.hidden_tail(bytes), space.hidden_tail(bytes), "{text}");
                assert_eq!(fresh.encode(&state).as_ref(), Some(bytes), "{text}");
                assert_eq!(transitions(&mut fresh, bytes), transitions(space, bytes), "{text}");
            }
        }
    }
}

#[test]
fn sequences_and_numbers_belong_to_each_other() {
    for text in creating() {
        let system = model(&text);
        let budget = Budget::unlimited();
        let sequences = Sequences::of(&system, &mut budget.pace()).unwrap();
        let mut numbers = 0;
        for number in 0..3_000 {
            let Some(sequence) = sequences.sequence(number) else { break };
            assert_eq!(sequences.number(&sequence), Some(number), "{text}: {sequence:?}");
            numbers += 1;
        }
        assert!(numbers > 3, "{text}");
        assert_eq!(sequences.number(&[99]), None, "{text}");
    }
}

#[test]
fn long_sequences_of_many_types_are_told_by_a_hash() {
    let types: String = (0..9).map(|n| format!("proctype Q{n}() {{ false }} ")).collect();
    let runs: String = (0..9).map(|n| format!(":: run Q{n}() ")).collect();
    let text = format!("{types} active proctype P() {{ do {runs} od }}");
    let system = model(&text);
    let mut space = Compiled::new(&system, &[]).unwrap();
    let mut other = Compiled::new(&system, &[]).unwrap();
    let (mut state, mut again, mut out) = (initial(&mut space), initial(&mut other), Vec::new());
    for step in 0..40 {
        let transition = transitions(&mut space, &state)[step * 7 % 9];
        space.target(&state, &transition, &mut out);
        state = out.clone();
        other.target(&again, &transition, &mut out);
        again = out.clone();
        assert_eq!(state, again, "after {step} steps");
        assert_eq!(space.clone().decode(&state), other.decode(&state), "after {step} steps");
    }
    assert_eq!(space.process_count(&state), 41);
}

#[test]
fn compiled_systems_are_shared_and_spaces_are_sent_between_threads() {
    fn is_shared<T: Send + Sync>() {}
    fn is_sent<T: Send>() {}
    is_shared::<CompiledSystem<'_>>();
    is_sent::<Compiled>();
    is_sent::<Reduced<'_>>();
    is_sent::<Ample<'_>>();
    is_sent::<crate::partial::TwoPhase<Reduced<'_>>>();
    let system = model("byte x; active [3] proctype P() { do :: x < 40 -> x++ :: break od }");
    let budget = Budget::unlimited();
    let compiled = CompiledSystem::new(&system, &budget).unwrap();
    let count = |invariants: &[Expr]| reach_depth_first(&mut compiled.space(invariants, &budget).unwrap(), 1_000).len();
    let counts: Vec<usize> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|n| scope.spawn(move || count(&vec![Expr::Const(1); n]))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(counts.iter().all(|count| *count == counts[0] && *count > 100), "{counts:?}");
}

/// Everything that the two say about the reachable states of a synchronous system, up to a number of them, is the same:
/// how many there are, and how many steps.
fn agree_jointly(name: &str, system: &System, limit: usize) -> (usize, usize) {
    let interpreter = Interpreter::new(system);
    let parts = system.synchronous().expect("a synchronous system");
    let mut space = Compiled::new(system, &parts.invariant).unwrap_or_else(|why| panic!("{name}: {why}"));
    let (mut seen, mut queue): (HashSet<Vec<u8>>, VecDeque<Vec<u8>>) = Default::default();
    let (mut out, mut steps) = (Vec::new(), 0);
    let expected: Vec<_> = interpreter.starts().take(limit).collect();
    for (position, (number, start)) in expected.iter().enumerate() {
        assert!(space.initial(position, &mut out), "{name}: initial state {position}");
        assert_eq!(space.start_number(position), *number, "{name}: initial state {position}");
        match start {
            Err(fault) => assert_eq!(space.violation(), Some(fault.to_string()), "{name}: initial state {position}"),
            Ok(state) => {
                assert_eq!((space.violation(), &space.decode(&out)), (None, state), "{name}: initial state {position}");
                if seen.insert(out.clone()) {
                    queue.push_back(out.clone());
                }
            }
        }
    }
    assert!(expected.len() == limit || !space.initial(expected.len(), &mut out), "{name}: more initial states");
    while let Some(bytes) = queue.pop_front() {
        let state = space.decode(&bytes);
        assert_eq!(space.encode(&state).as_deref(), Some(&bytes[..]), "{name}: {state:?}");
        assert_eq!(space.is_valid_end(&bytes), interpreter.is_end_state(&state), "{name}");
        for (number, conjunct) in parts.invariant.iter().enumerate() {
            let expected = interpreter.evaluate(&state, None, conjunct);
            assert_eq!(space.evaluate(number, &bytes), expected, "{name}: {conjunct:?} in {state:?}");
        }
        let expected = interpreter.successors(&state);
        let found = transitions(&mut space, &bytes);
        assert_eq!(found.len(), expected.len(), "{name}: steps of {state:?}");
        steps += found.len();
        // Not in the order in which they were found.
        for (transition, (taken, successor)) in found.iter().zip(&expected).rev() {
            assert_eq!(space.expand(&bytes, transition), std::slice::from_ref(taken), "{name}: {state:?}");
            space.target(&bytes, transition, &mut out);
            assert_eq!(space.violation(), successor.violation(), "{name}: {taken:?} in {state:?}");
            assert_eq!(space.is_dead(), successor.state.is_none(), "{name}: {taken:?} in {state:?}");
            let Some(next) = &successor.state else { continue };
            assert_eq!(space.decode(&out), *next, "{name}: {taken:?} in {state:?}");
            if seen.len() < limit && seen.insert(out.clone()) {
                queue.push_back(out.clone());
            }
        }
        // As a depth-first search goes on after it has been elsewhere.
        let mut elsewhere = space.clone();
        for pair in found.windows(2) {
            elsewhere.first(&out.clone());
            assert_eq!(elsewhere.next(&bytes, &pair[0]), Some(pair[1]), "{name}: {state:?}");
        }
    }
    (seen.len(), steps)
}

#[test]
fn random_synchronous_systems_step_as_the_interpreter_says() {
    let (mut states, mut steps) = (0, 0);
    for seed in 0..600 {
        let system = random::synchronous(seed, seed % 3 == 0);
        let (more_states, more_steps) = agree_jointly(&format!("seed {seed}"), &system, 60);
        states += more_states;
        steps += more_steps;
    }
    assert!(states > 2_000 && steps > 10_000, "{states} states, {steps} steps");
}

fn global(number: u32, scalar: Scalar) -> Place {
    Place { scope: Scope::Global, variable: VariableId(number), offset: 0, indices: Vec::new(), scalar }
}

fn variable(name: &str, scalar: Scalar, first: Option<i64>) -> Variable {
    let initial = first.map(|value| (0, Initial::Value(Expr::Const(value)))).into_iter().collect();
    let (name, ty) = (name.to_owned(), Type::Scalar(scalar));
    Variable { name, ty, initial, kind: VariableKind::State, hidden: false, span: None }
}

#[test]
fn steps_with_too_many_choices_for_a_number_are_told_by_their_position() {
    let mut system = System::new("wide", "by hand");
    let mut parts = Synchronous::default();
    let bit = Scalar::Int { bits: 1, signed: false };
    for number in 0..200u32 {
        let place = global(number, bit);
        let same = Expr::binary(BinaryOp::Equal, Expr::Next(place.clone()), Expr::Read(place.clone()));
        // The first three cells do what they like.
        if number > 2 {
            parts.relations.push(same);
            parts.init.push(Expr::binary(BinaryOp::Equal, Expr::Read(place), Expr::Const(1)));
        }
        system.globals.push(variable(&format!("x{number}"), bit, None));
    }
    system.coupling = Coupling::Synchronous(parts);
    let mut space = Compiled::new(&system, &[]).unwrap();
    assert_eq!(space.program.joint.as_ref().unwrap().step.codes, None);
    assert_eq!(agree_jointly("wide", &system, 1_000), (8, 64));
    let states = (0..8).filter(|position| space.initial(*position, &mut Vec::new())).count();
    assert!(states == 8 && !space.initial(8, &mut Vec::new()));
}

#[test]
fn a_search_for_a_joint_step_that_there_is_not_ends_with_the_budget() {
    let mut system = System::new("endless", "by hand");
    let mut parts = Synchronous::default();
    let word = Scalar::Int { bits: 32, signed: false };
    let places = [0, 1].map(|number| global(number, word));
    let [x, y] = places.map(Expr::Next);
    let square = Expr::binary(BinaryOp::Multiply, x.clone(), x);
    parts.relations.push(Expr::binary(
        BinaryOp::Equal,
        square,
        Expr::binary(BinaryOp::Subtract, y, Expr::Const(1 << 40)),
    ));
    for name in ["x", "y"] {
        system.globals.push(variable(name, word, Some(0)));
    }
    system.coupling = Coupling::Synchronous(parts);
    let budget = Budget::unlimited().with_time(std::time::Duration::from_millis(50));
    let compiled = CompiledSystem::new(&system, &budget).unwrap();
    let mut space = compiled.space(&[], &budget).unwrap();
    let state = initial(&mut space);
    assert_eq!(space.first(&state), None);
    assert_eq!(space.limit_reached(), Some(Reason::Time));
}

#[test]
fn a_budget_ends_the_compilation() {
    let steps: String = (0..20_000).map(|step| format!("x = {}; ", step % 7)).collect();
    let system = model(&format!("byte x; active proctype P() {{ {steps} }}"));
    let cancellation = Cancellation::new();
    cancellation.cancel();
    let budget = Budget::unlimited().with_cancellation(&cancellation);
    let error = CompiledSystem::new(&system, &budget).unwrap_err();
    assert_eq!(error, CompileError::Interrupted(Interrupted::Cancelled));
    assert_eq!(Reason::from(error), Reason::Interrupted);
    assert!(CompiledSystem::new(&system, &Budget::unlimited()).is_ok());
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
                assert_eq!(space.limit_reached(), Some(Reason::Unsupported(sentence)));
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
    assert!(matches!(refused(to_the_right), Some(CompileError::TooDeep { .. })));
    let nested = (0..300).fold(Expr::Timeout, |x, _| Expr::unary(UnaryOp::Complement, x));
    assert!(matches!(refused(nested), Some(CompileError::TooDeep { .. })));
    let long = (0..1_000).fold(Expr::Timeout, |x, _| Expr::binary(BinaryOp::And, x, Expr::NonProgress));
    assert_eq!(refused(long), None);
    let mut large = system.clone();
    large.globals[0].ty =
        ample_model::Type::Array { element: ample_model::Type::Scalar(Scalar::INT).into(), length: 300_000 };
    large.globals[0].initial.clear();
    assert_eq!(Compiled::new(&large, &[]).err(), Some(CompileError::StateTooLong));
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

/// Written out, this would have 2^levels leaves.
fn graph(leaf: Expr, levels: u32) -> Expr {
    (0..levels).fold(leaf, |expr, level| {
        let shared = Expr::Shared(Shared::new(expr));
        let (one, two) = (Box::new(shared.clone()), Box::new(shared));
        match level % 5 {
            0 => Expr::Binary(BinaryOp::And, one, two),
            1 => Expr::Binary(BinaryOp::Or, Expr::unary(UnaryOp::Not, *one).into(), two),
            2 => Expr::Conditional(one.clone(), two.clone(), one),
            3 => Expr::Binary(BinaryOp::Add, one, two),
            _ => Expr::Cast(Scalar::BOOL, Expr::Binary(BinaryOp::BitXor, one, Expr::Const(1).into()).into()),
        }
    })
}

#[test]
fn deep_graphs_are_compiled_once_and_evaluated_once() {
    let begin = std::time::Instant::now();
    let mut system = model("byte x; byte y; active [2] proctype P() { byte z; do :: x < 4 -> x++; z = y :: y = x od }");
    let byte = |number: u32| Expr::Read(global(number, Scalar::BYTE));
    let leaf = Expr::binary(BinaryOp::Less, byte(0), Expr::Const(3));
    let deep = graph(leaf.clone(), 60);
    let edges = system.processes[0].edges.len();
    for edge in &mut system.processes[0].edges {
        edge.guard.push(Expr::binary(BinaryOp::Or, deep.clone(), byte(0)));
        for instruction in &mut edge.effect {
            if let ample_model::Instruction::Do(ample_model::Action::Assign(_, value)) = instruction {
                *value = Expr::binary(BinaryOp::Add, value.clone(), graph(byte(1), 58));
            }
        }
    }
    let invariants = [deep.clone(), Expr::unary(UnaryOp::Not, deep), graph(byte(1), 60)];
    assert!(agree("deep", &system, &invariants, 200) > 2);
    let space = Compiled::new(&system, &invariants).unwrap();
    assert!(space.program.ops.len() < 1_000 * (edges + invariants.len()), "{} instructions", space.program.ops.len());
    // And in a joint step, where several definitions have a part in the same graph.
    let mut system = System::new("deep", "by hand");
    let bit = |number: u32| Expr::Read(global(number, Scalar::BOOL));
    let mut parts = Synchronous::default();
    let shared = Expr::Shared(Shared::new(graph(Expr::binary(BinaryOp::Equal, bit(0), bit(1)), 60)));
    for number in 0..40u32 {
        let kind = if number == 0 { VariableKind::Input } else { VariableKind::State };
        let first = (number > 0).then_some(0);
        system.globals.push(Variable { kind, ..variable(&format!("x{number}"), Scalar::BOOL, first) });
        if number > 0 {
            let next = NextValue::Function(Expr::binary(BinaryOp::NotEqual, shared.clone(), bit(number)));
            parts.definitions.push(Definition { variable: VariableId(number), slot: 0, next, span: None });
        }
    }
    parts.invariant.push(graph(bit(1), 55));
    parts.relations.push(Expr::binary(BinaryOp::LessEqual, shared, Expr::Const(100)));
    system.coupling = Coupling::Synchronous(parts);
    agree_jointly("deep", &system, 100);
    let space = Compiled::new(&system, &[]).unwrap();
    assert!(space.program.ops.len() < 2_000, "{} instructions", space.program.ops.len());
    assert!(begin.elapsed() < std::time::Duration::from_secs(5), "{:?}", begin.elapsed());
}

#[test]
fn faults_in_shared_expressions_come_up_where_they_always_did() {
    let mut system = model("byte x; byte y; active proctype P() { do :: x < 3 -> x++ :: y < 2 -> y++ od }");
    let byte = |number: u32| Expr::Read(global(number, Scalar::BYTE));
    let quotient = Expr::Shared(Shared::new(Expr::binary(BinaryOp::Divide, Expr::Const(6), byte(0))));
    let sum = Expr::Shared(Shared::new(Expr::binary(BinaryOp::Add, quotient.clone(), quotient.clone())));
    let guarded = |op| Expr::binary(op, byte(1), Expr::binary(BinaryOp::Multiply, sum.clone(), sum.clone()));
    let chosen = Expr::Conditional(byte(1).into(), sum.clone().into(), byte(0).into());
    // Asked for on one way first, and on all ways then.
    let both = Expr::binary(BinaryOp::Add, chosen.clone(), Expr::binary(BinaryOp::Subtract, sum.clone(), quotient));
    let invariants = [guarded(BinaryOp::And), guarded(BinaryOp::Or), chosen, both.clone(), sum];
    assert!(agree("faults", &system, &invariants, 100) > 5);
    system.processes[0].edges[0].guard.push(Expr::Shared(Shared::new(both)));
    agree("faults in a guard", &system, &invariants, 100);
}

/// A model in PROM+.
fn with_objects(text: &str, widths: Widths) -> System {
    match promplus::read_within("test.promp", text.into(), &mut FileLoader, &[], widths, &Budget::unlimited()) {
        Ok(lowered) => lowered.system,
        Err(why) => panic!("{why:?}\n{text}"),
    }
}

#[test]
fn objects_are_those_of_the_interpreter_in_random_programs() {
    let mut objects = 0;
    for seed in 0..120 {
        let text = promplus::random::program(seed);
        let system = with_objects(&text, Widths { pid_bits: 2, ref_bits: [2, 4, 8, 12][seed as usize % 4] });
        assert_eq!(ample_model::check::check(&system), Ok(()), "{seed}\n{text}");
        agree(&format!("program {seed}\n{text}"), &system, &[], 300);
        let mut space = Compiled::new(&system, &[]).unwrap();
        let states = reach(&mut space, 100);
        objects = states.iter().map(|state| space.object_count(state)).max().unwrap_or(0).max(objects);
    }
    assert!(objects > 3, "{objects}");
}

#[test]
fn the_models_of_the_thesis_have_its_numbers_of_states() {
    let all = [
        ("peterson", 64),
        ("peterson_objects", 126),
        ("dekker", 288),
        ("dekker_objects", 356),
        ("dijkstra", 860),
        ("dijkstra_objects", 942),
        ("philosophers_3", 875),
        ("philosophers_3_objects", 1082),
        ("philosophers_4", 8545),
        ("philosophers_4_objects", 11124),
        ("aliases", 9),
        ("counters", 32),
    ];
    for (name, states) in all {
        let path = format!("{}/../../models/promplus/{name}.promp", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        let system = with_objects(&text, Widths::default());
        let found = agree(name, &system, &[], if states > 2_000 { 2_000 } else { 20_000 });
        if states <= 2_000 {
            assert_eq!(found, states, "{name}");
        }
        let mut space = Compiled::new(&system, &[]).unwrap();
        let (mut seen, mut open, mut out) = (HashSet::new(), vec![initial(&mut space)], Vec::new());
        while let Some(state) = open.pop() {
            if !seen.insert(state.clone()) {
                continue;
            }
            for transition in transitions(&mut space, &state) {
                space.target(&state, &transition, &mut out);
                open.push(out.clone());
            }
        }
        assert_eq!(seen.len(), states, "{name}");
    }
}

#[test]
fn a_state_is_the_same_however_its_objects_came_to_be() {
    // Both orders of creation, and garbage in between.
    let text = "byte *p, *q; bit *b;
        active [1] proctype P() {
            if
            :: skip -> p = new byte; q = new byte; b = new bit;
            :: skip -> b = new bit; q = new byte; p = new byte; p = new byte;
            fi;
            *p = 1; *q = 2; *b = 1;
        }";
    let system = with_objects(text, Widths::default());
    let mut space = Compiled::new(&system, &[]).unwrap();
    let states = reach(&mut space, 1000);
    assert_eq!(agree("two orders", &system, &[], 1000), states.len());
    // Whichever branch was taken, there are the same heaps with three objects.
    let heaps: HashSet<_> = states.iter().map(|state| space.decode(state).heap).collect();
    assert_eq!(heaps.iter().filter(|heap| heap.len() == 3).count(), 4);
    for state in &states {
        let mut again = state.clone();
        space.canonicalise_objects(&mut again);
        assert_eq!(again, *state);
    }
}

#[test]
fn too_many_objects_and_references_to_none_are_faults() {
    let text = "typedef Node { Node *next } Node *n, *top;
        active [1] proctype P() { do :: n = new Node; n.next = top; top = n; od; }";
    for bits in [1, 3, 5] {
        let system = with_objects(text, Widths { pid_bits: 8, ref_bits: bits });
        let mut space = Compiled::new(&system, &[]).unwrap();
        let last = reach(&mut space, 10_000).pop().unwrap();
        assert_eq!(space.object_count(&last), (1 << bits) - 1);
        agree("a list", &system, &[], 10_000);
        let faults = ample_model::interpret::explore(&system, 10_000).messages;
        assert_eq!(faults.into_iter().collect::<Vec<_>>(), [format!("too many objects ({} max)", (1 << bits) - 1)]);
    }
    let system = with_objects("int *x; active [1] proctype P() { *x = 1; }", Widths::default());
    assert_eq!(agree("null", &system, &[], 10), 1);
    let messages = ample_model::interpret::explore(&system, 10).messages;
    assert_eq!(messages.into_iter().collect::<Vec<_>>(), ["reference to no object"]);
}
