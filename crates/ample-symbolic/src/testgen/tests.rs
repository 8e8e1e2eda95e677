//! Test generation against the reference interpreter, on random circuits and random synchronous systems.

use std::collections::HashSet;

use ample_model::random::synchronous;
use ample_model::{
    BinaryOp, Coupling, Definition, Initial, NextValue, Place, Scalar, Scope, Synchronous, Type, UnaryOp, Variable,
    VariableId,
};
use ample_model::{Expr, Interpreter, State};
use ample_random::Random;

use super::*;

fn cell(number: usize) -> Expr {
    let (scope, variable, scalar) = (Scope::Global, VariableId::from(number), Scalar::BOOL);
    Expr::Read(Place { scope, variable, offset: 0, indices: Vec::new(), scalar })
}

fn not(expr: Expr) -> Expr {
    Expr::unary(UnaryOp::Not, expr)
}

fn binary(op: BinaryOp, one: Expr, other: Expr) -> Expr {
    Expr::binary(op, one, other)
}

fn xor(one: Expr, other: Expr) -> Expr {
    binary(BinaryOp::NotEqual, one, other)
}

/// A circuit: inputs `i0`, `i1`, … are the first cells, then latches with their first values and their next values.
fn circuit(inputs: usize, latches: &[(Option<bool>, Expr)], invariant: Vec<Expr>) -> System {
    let mut system = System::new("circuit", "by hand");
    let boolean = || Type::Scalar(Scalar::BOOL);
    for number in 0..inputs {
        let input = Variable { kind: VariableKind::Input, ..Variable::new(&format!("i{number}"), boolean()) };
        system.globals.push(input);
    }
    let mut definitions = Vec::new();
    for (number, (initial, next)) in latches.iter().enumerate() {
        let mut latch = Variable::new(&format!("v{number}"), boolean());
        latch.initial = match initial {
            Some(value) => vec![(0, Initial::Value(Expr::Const(i64::from(*value))))],
            None => vec![(0, Initial::Between(0, 1))],
        };
        system.globals.push(latch);
        let (variable, next) = (VariableId::from(inputs + number), NextValue::Function(next.clone()));
        definitions.push(Definition { variable, slot: 0, next, span: None });
    }
    let parts = Synchronous { definitions, invariant, ..Synchronous::default() };
    system.coupling = Coupling::Synchronous(parts);
    system
}

/// A condition of a few cells.
fn random_expr(random: &mut Random, cells: usize, depth: u32) -> Expr {
    if depth == 0 || random.one_in(4) {
        let read = cell(random.below(cells));
        return if random.one_in(2) { not(read) } else { read };
    }
    let op = random.pick(&[BinaryOp::And, BinaryOp::Or, BinaryOp::NotEqual]);
    let one = random_expr(random, cells, depth - 1);
    binary(op, one, random_expr(random, cells, depth - 1))
}

fn random_circuit(random: &mut Random) -> System {
    let (inputs, latches) = (random.below(3usize) + 1, random.below(4usize) + 1);
    let latch = |random: &mut Random| {
        let initial = random.pick(&[Some(false), Some(false), Some(true), None]);
        (initial, random_expr(random, inputs + latches, 2))
    };
    let latches: Vec<(Option<bool>, Expr)> = (0..latches).map(|_| latch(random)).collect();
    let cells = inputs + latches.len();
    let invariant = if random.one_in(5) { vec![random_expr(random, cells, 2)] } else { Vec::new() };
    circuit(inputs, &latches, invariant)
}

fn random_targets(random: &mut Random, cells: usize) -> Vec<Expr> {
    (0..random.below(3) + 1).map(|_| random_expr(random, cells, 2)).collect()
}

fn generator<'a>(system: &'a System, relations: Relations, seed: u64) -> Generator<'a> {
    let options = Options { relations, seed, ..Options::default() };
    Generator::new(system, &options, &Budget::unlimited()).unwrap()
}

fn holds(interpreter: &Interpreter<'_>, state: &State, expr: &Expr) -> bool {
    interpreter.evaluate(state, None, expr).is_ok_and(|value| value != 0)
}

/// The states after one step from these.
fn successors(interpreter: &Interpreter<'_>, states: &HashSet<State>) -> HashSet<State> {
    states.iter().flat_map(|state| interpreter.steps(state)).filter_map(|(_, successor)| successor.state).collect()
}

/// How many cycles come before the first target on a shortest run through all of them; none if there is no run.
fn shortest(system: &System, targets: &[Expr]) -> Option<usize> {
    let interpreter = Interpreter::new(system);
    let mut layer: HashSet<State> = interpreter.initial_states().filter_map(Result::ok).collect();
    let mut seen = HashSet::new();
    for before in 0.. {
        if layer.is_empty() {
            break;
        }
        let mut through: HashSet<State> = layer.clone();
        for (number, target) in targets.iter().enumerate() {
            if number > 0 {
                through = successors(&interpreter, &through);
            }
            through.retain(|state| holds(&interpreter, state, target));
        }
        if !through.is_empty() {
            return Some(before);
        }
        seen.extend(layer.iter().cloned());
        layer = successors(&interpreter, &layer);
        layer.retain(|state| !seen.contains(state));
    }
    None
}

/// Looks at all runs with the given values of bits that nothing defines, and of the first state: why one of them is not as it
/// should be.
fn wrong_completion(generator: &Generator<'_>, sequence: &Sequence, targets: &[Expr]) -> Option<String> {
    let interpreter = Interpreter::new(generator.system);
    let encoding = &generator.encoding;
    let is_defined = |bit: usize| encoding.functions.iter().any(|(defined, _)| *defined as usize == bit);
    let agrees = |state: &State, cycle: usize, all: bool| {
        let bits = encoding.bits_of(state).unwrap();
        let given = bits.iter().zip(&sequence.given[cycle]).enumerate();
        given
            .filter(|(bit, _)| all || !is_defined(*bit))
            .all(|(_, (value, given))| given.is_none_or(|given| given == *value))
    };
    let mut states: HashSet<State> = interpreter.initial_states().filter_map(Result::ok).collect();
    states.retain(|state| agrees(state, 0, true));
    for cycle in 0..sequence.cycles() {
        if cycle > 0 {
            states = successors(&interpreter, &states);
            states.retain(|state| agrees(state, cycle, false));
        }
        if states.is_empty() {
            return Some(format!("no run comes to cycle {cycle}"));
        }
        if !states.iter().all(|state| agrees(state, cycle, true)) {
            return Some(format!("a value in cycle {cycle} is another one"));
        }
        let target = cycle.checked_sub(sequence.before).and_then(|number| targets.get(number));
        if target.is_some_and(|target| !states.iter().all(|state| holds(&interpreter, state, target))) {
            return Some(format!("the target of cycle {cycle} does not always hold"));
        }
    }
    (sequence.cycles() != sequence.before + targets.len()).then(|| "it has another length".to_owned())
}

/// All three kinds of relations, all completions, and the shortest run.
fn check(system: &System, targets: &[Expr], name: &str) -> bool {
    let kept = with_inputs(system);
    let expected = shortest(&kept, targets);
    for relations in [Relations::Dynamic, Relations::Static, Relations::Monolithic] {
        let mut generator = generator(&kept, relations, 7);
        match generator.generate(targets).unwrap_or_else(|why| panic!("{name}: {why}")) {
            Generated::Unreachable { .. } => assert_eq!(expected, None, "{name}, {relations:?}"),
            Generated::Sequence(sequence) => {
                assert_eq!(expected, Some(sequence.before), "{name}, {relations:?}");
                assert_eq!(wrong_completion(&generator, &sequence, targets), None, "{name}, {relations:?}");
            }
        }
    }
    expected.is_some()
}

#[test]
fn sequences_of_random_circuits_hold_under_every_completion() {
    let (mut found, mut unreachable) = (0, 0);
    for seed in 0..3000 {
        let mut random = Random::new(seed);
        let system = random_circuit(&mut random);
        let targets = random_targets(&mut random, system.globals.len());
        if check(&system, &targets, &format!("circuit {seed}")) { found += 1 } else { unreachable += 1 }
    }
    assert!(found > 1000 && unreachable > 200, "{found} {unreachable}");
}

#[test]
fn sequences_of_random_synchronous_systems_hold_under_every_completion() {
    let (mut found, mut unreachable) = (0, 0);
    for seed in 0..300 {
        let system = synchronous(seed, false);
        let mut random = Random::new(seed);
        // Cells of any type, compared with numbers.
        let slots: Vec<(usize, u32)> = system
            .globals
            .iter()
            .enumerate()
            .flat_map(|(number, variable)| (0..system.slots(&variable.ty)).map(move |slot| (number, slot)))
            .collect();
        let mut target = || {
            let (number, slot) = random.pick(&slots);
            let (scope, variable) = (Scope::Global, VariableId::from(number));
            let scalar = system.scalars(&system.globals[number].ty)[slot as usize];
            let read = Expr::Read(Place { scope, variable, offset: slot, indices: Vec::new(), scalar });
            binary(random.pick(&[BinaryOp::Equal, BinaryOp::NotEqual]), read, Expr::Const(random.below(3i64) - 1))
        };
        let targets: Vec<Expr> = (0..seed % 3 + 1).map(|_| target()).collect();
        if check(&system, &targets, &format!("system {seed}")) { found += 1 } else { unreachable += 1 }
    }
    assert!(found > 60 && unreachable > 30, "{found} {unreachable}");
}

/// The second stage as the thesis prints it: inputs of the parts that the sets of the next cycle depend on, and flip-flops that
/// these parts read are chosen where the set does not say what they are.
fn literal_choice(generator: &mut Generator<'_>, sets: &[Bdd]) -> Vec<Vec<Option<bool>>> {
    let bits = generator.encoding.bits as usize;
    let mut steps = Vec::new();
    for (cycle, set) in sets.iter().enumerate() {
        let mut read = vec![false; bits];
        let next = sets.get(cycle + 1).map(|set| set.primed().unwrap().literals());
        let parts = next.map(|literals| generator.parts.needed(&literals).unwrap());
        match &parts {
            Some(parts) => parts.iter().for_each(|part| {
                let literals = generator.parts.conjunct(*part).unwrap().literals();
                literals.iter().filter(|(_, is_next)| !is_next).for_each(|(bit, _)| read[*bit as usize] = true);
            }),
            None => set.literals().iter().for_each(|(bit, _)| read[*bit as usize] = true),
        }
        steps.push((read, parts.unwrap_or_default()));
    }
    let start = sets[0].and(&generator.initial).unwrap().pick().unwrap();
    let given = |read: &[bool], values: &[bool]| -> Vec<Option<bool>> {
        read.iter().zip(values).map(|(read, value)| read.then_some(*value)).collect()
    };
    let mut chosen = vec![given(&steps[0].0, &start)];
    for cycle in 1..sets.len() {
        let before = chosen[cycle - 1].clone();
        let mut states = sets[cycle].clone();
        for part in steps[cycle - 1].1.clone() {
            let conjunct = generator.parts.conjunct(part).unwrap().clone();
            let now = conjunct
                .literals()
                .iter()
                .filter_map(|(bit, next)| Some(((*bit, false), before[*bit as usize].filter(|_| !next)?)));
            let now = generator.parts.diagrams.minterm(&now.collect::<Vec<_>>()).unwrap();
            let rest = conjunct.relation.restrict(&now).unwrap();
            states = states.and(&rest.unprimed().unwrap()).unwrap();
        }
        let Some(values) = states.pick() else { break };
        chosen.push(given(&steps[cycle].0, &values));
    }
    // Only inputs are part of a test, beside the initial state.
    let defined: Vec<usize> = generator.encoding.functions.iter().map(|(bit, _)| *bit as usize).collect();
    chosen.iter_mut().skip(1).for_each(|given| defined.iter().for_each(|bit| given[*bit] = None));
    chosen
}

/// Whether the printed algorithm gives a sequence that does what it should.
fn is_literal_right(system: &System, targets: &[Expr]) -> Option<bool> {
    let mut generator = generator(system, Relations::Dynamic, 1);
    let sets: Vec<Bdd> = targets.iter().map(|target| generator.condition(target).unwrap()).collect();
    let Backward::Found { sets, leading: before } = generator.backward(&sets).unwrap() else { return None };
    let given = literal_choice(&mut generator, &sets);
    if given.len() < sets.len() {
        return Some(false);
    }
    Some(wrong_completion(&generator, &Sequence { before, given }, targets).is_none())
}

#[test]
fn an_input_that_only_a_target_speaks_of_is_given() {
    // V = {q}, N_q = i0, and targets over q and i1.
    let system = circuit(2, &[(Some(false), cell(0))], Vec::new());
    let kept = with_inputs(&system);
    let targets = [cell(1), binary(BinaryOp::And, cell(2), cell(1))];
    assert_eq!(is_literal_right(&kept, &targets), Some(false));
    assert!(check(&system, &targets, "inputs of targets"));
}

#[test]
fn flip_flops_that_cancel_are_computed_and_not_chosen() {
    // v1' = a ^ b, v2' = b, a' = i, b' = 1. That v1 ^ v2 holds after a step does not depend on b, and yet the input that equals
    // v2 does.
    let (i, v1, v2, a, b) = (cell(0), cell(1), cell(2), cell(3), cell(4));
    let off = |next| (Some(false), next);
    let latches = [off(xor(a, b.clone())), off(b), off(i.clone()), off(Expr::Const(1))];
    let system = circuit(1, &latches, Vec::new());
    let equal = binary(BinaryOp::Equal, i, v2.clone());
    let targets = [Expr::TRUE, Expr::TRUE, binary(BinaryOp::And, xor(v1, v2), equal)];
    assert!(check(&system, &targets, "cancelled flip-flops"));
    assert_eq!(is_literal_right(&with_inputs(&system), &targets), Some(false));
}

#[test]
fn the_printed_algorithm_fails_where_this_one_does_not() {
    let (mut right, mut wrong) = (0, 0);
    for seed in 0..1000 {
        let mut random = Random::new(seed);
        let system = with_inputs(&random_circuit(&mut random));
        let targets = random_targets(&mut random, system.globals.len());
        match is_literal_right(&system, &targets) {
            Some(true) => right += 1,
            Some(false) => wrong += 1,
            None => {}
        }
    }
    assert!(wrong > 100 && right > 100, "{right} {wrong}");
}

#[test]
fn a_target_of_the_initial_state_needs_no_step() {
    let system = with_inputs(&circuit(1, &[(Some(true), cell(0))], Vec::new()));
    let mut generator = generator(&system, Relations::Dynamic, 1);
    let Generated::Sequence(sequence) = generator.generate(&[cell(1)]).unwrap() else { panic!() };
    assert_eq!((sequence.before, sequence.cycles()), (0, 1));
    // The input is open, the latch is known.
    assert_eq!(sequence.given, [[None, Some(true)]]);
}

#[test]
fn a_target_may_lie_many_cycles_after_the_initial_state() {
    // A counter of three bits, which counts when the input is set.
    let (i, v) = (|| cell(0), |bit: usize| cell(1 + bit));
    let carry = binary(BinaryOp::And, i(), v(0));
    let latches = [
        (Some(false), xor(i(), v(0))),
        (Some(false), xor(v(1), carry.clone())),
        (Some(false), xor(v(2), binary(BinaryOp::And, carry, v(1)))),
    ];
    let system = circuit(1, &latches, Vec::new());
    let full = binary(BinaryOp::And, binary(BinaryOp::And, v(0), v(1)), v(2));
    assert!(check(&system, std::slice::from_ref(&full), "counter"));
    let kept = with_inputs(&system);
    let mut all = generator(&kept, Relations::Dynamic, 1);
    let Generated::Sequence(sequence) = all.generate(std::slice::from_ref(&full)).unwrap() else { panic!() };
    assert_eq!(sequence.before, 7);
    let options = Options { max_cycles: Some(6), ..Options::default() };
    let mut few = Generator::new(&kept, &options, &Budget::unlimited()).unwrap();
    assert_eq!(few.generate(&[full]), Err(Reason::Depth));
}

#[test]
fn an_exhausted_budget_is_said() {
    let system = with_inputs(&circuit(1, &[(Some(false), cell(0))], Vec::new()));
    let mut generator = generator(&system, Relations::Dynamic, 1);
    let cancelled = ample_budget::Cancellation::new();
    cancelled.cancel();
    generator.set_budget(&Budget::unlimited().with_cancellation(&cancelled));
    assert_eq!(generator.generate(&[cell(1)]), Err(Reason::Interrupted));
}
