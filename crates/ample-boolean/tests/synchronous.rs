//! Synchronous systems: the formulas beside the reference interpreter, on random systems.

use std::collections::{BTreeSet, HashSet, VecDeque};

use ample_boolean::{Functional, JointEncoding, NotEncoded};
use ample_model::random::synchronous;
use ample_model::{Budget, Interpreter, State, System};

/// More bits are not tried out.
const TRIED: usize = 14;

/// The reachable states.
fn states(system: &System) -> Vec<State> {
    let interpreter = Interpreter::new(system);
    let mut seen = HashSet::new();
    let mut open: VecDeque<State> = interpreter.initial_states().flatten().collect();
    let mut all = Vec::new();
    while let Some(state) = open.pop_front() {
        if all.len() < 60 && seen.insert(state.clone()) {
            open.extend(interpreter.successors(&state).into_iter().filter_map(|(_, next)| next.state));
            all.push(state);
        }
    }
    all
}

/// The valuations of some bits, beside those that are given.
fn valuations(free: &[u32], fixed: impl Fn(u32) -> bool) -> impl Iterator<Item = impl Fn(u32) -> bool> {
    let free = free.to_vec();
    let fixed = std::rc::Rc::new(fixed);
    (0..1u32 << free.len()).map(move |number| {
        let (free, fixed) = (free.clone(), std::rc::Rc::clone(&fixed));
        move |bit| match free.iter().position(|one| *one == bit) {
            Some(position) => number >> position & 1 == 1,
            None => fixed(bit),
        }
    })
}

fn check_initial(system: &System, encoding: &JointEncoding, seed: u64) {
    let bits: Vec<u32> = (0..encoding.bits).collect();
    if bits.len() > TRIED {
        return;
    }
    let expected: BTreeSet<Vec<i64>> =
        Interpreter::new(system).initial_states().flatten().map(|state| state.globals).collect();
    let mut found = BTreeSet::new();
    for value in valuations(&bits, |_| false) {
        let values = encoding.dag.values(&value);
        if encoding.initial.iter().all(|lit| values.of(*lit)) {
            found.insert(encoding.state(&value).globals);
        }
    }
    assert_eq!(found, expected, "initial states of seed {seed}");
}

/// Steps of one state; false if there are too many to be tried out.
fn check_steps(system: &System, encoding: &JointEncoding, functional: &Functional, state: &State, seed: u64) -> bool {
    let free: Vec<u32> = encoding.inputs.clone().chain(functional.free.iter().copied()).collect();
    if free.len() > TRIED {
        return false;
    }
    let interpreter = Interpreter::new(system);
    let bits = encoding.bits_of(state).expect("a reachable state fits");
    assert_eq!(encoding.state(&|bit| bits[bit as usize]), *state, "seed {seed}");
    let successors = interpreter.successors(state);
    let expected: BTreeSet<Vec<i64>> =
        successors.iter().filter_map(|(_, next)| Some(next.state.as_ref()?.globals.clone())).collect();
    let is_fault = successors.iter().any(|(_, next)| next.state.is_none());
    let (mut found, mut met_fault) = (BTreeSet::new(), false);
    for value in valuations(&free, move |bit| bits.get(bit as usize).copied().unwrap_or(false)) {
        let values = encoding.dag.values(&value);
        let (step, fault) = (values.of(functional.step), values.of(functional.fault));
        assert!(!(step && fault), "seed {seed}");
        if !step && !fault {
            continue;
        }
        // The whole step: the next bits as the functions give them.
        let next = |bit: u32| match bit.checked_sub(encoding.next_bits.start) {
            Some(bit) => values.of(functional.next[bit as usize]),
            None => value(bit),
        };
        let whole = encoding.dag.values(&next);
        assert_eq!(encoding.relations.iter().all(|lit| whole.of(*lit)), step, "seed {seed}");
        let start = encoding.next_bits.start;
        let defined = encoding.functions.iter().all(|(bit, lit)| whole.of(*lit) == next(start + bit));
        assert!(defined && whole.of(encoding.fault) == fault, "seed {seed}");
        let taken = encoding.taken(&next);
        let successor = interpreter.step(state, &taken);
        if fault {
            met_fault = true;
            let not_enabled = successor.violations.contains(&ample_model::Fault::NotEnabled);
            assert!(successor.state.is_none() && !not_enabled, "seed {seed}: {taken:?}");
            continue;
        }
        let led_to = encoding.state(&|bit| next(start + bit));
        assert_eq!(successor.state.as_ref(), Some(&led_to), "seed {seed}: {taken:?}");
        found.insert(led_to.globals);
    }
    // A search that meets a fault does not go on to other steps.
    assert_eq!(met_fault, is_fault, "faults of seed {seed} in {state:?}");
    if !is_fault {
        assert_eq!(found, expected, "steps of seed {seed} in {state:?}");
    }
    true
}

#[test]
fn joint_steps_agree_with_the_interpreter() {
    let (mut compared, mut refused) = (0, 0);
    for seed in 0..400 {
        let system = synchronous(seed, seed % 2 == 1);
        let mut encoding = match JointEncoding::within(&system, &Budget::unlimited()) {
            Ok(encoding) => encoding,
            Err(NotEncoded::Unsupported(why)) => {
                assert!(why.0.contains("may be a fault"), "seed {seed}: {why}");
                refused += 1;
                continue;
            }
            Err(NotEncoded::Interrupted(interrupted)) => panic!("seed {seed}: {interrupted}"),
        };
        let functional = encoding.functional();
        check_initial(&system, &encoding, seed);
        for state in states(&system) {
            compared += usize::from(check_steps(&system, &encoding, &functional, &state, seed));
        }
    }
    println!("{compared} states compared, {refused} systems refused");
    assert!(compared > 500 && refused < 100, "{compared} states compared, {refused} systems refused");
}
