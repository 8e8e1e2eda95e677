//! Synchronous systems, built by hand.

use super::*;
use crate::check::check;
use crate::expr::{BinaryOp, Expr, Place, UnaryOp};
use crate::samples::*;
use crate::system::*;
use crate::trace::Trace;

const BIT: Scalar = Scalar::BOOL;

fn range(low: i64, high: i64) -> Scalar {
    Scalar::Range { low, high, overflow: Overflow::Fault }
}

/// A system in which all moves at once.
struct Maker {
    system: System,
    parts: Synchronous,
}

impl Maker {
    fn new() -> Maker {
        Maker { system: System::empty(), parts: Synchronous::default() }
    }

    fn state(&mut self, name: &str, scalar: Scalar) -> Place {
        self.system.global(name, scalar)
    }

    fn input(&mut self, name: &str, scalar: Scalar) -> Place {
        let place = self.system.global(name, scalar);
        self.system.globals[place.variable.index()].kind = VariableKind::Input;
        place
    }

    fn starts(&mut self, place: &Place, initial: Initial) {
        self.system.globals[place.variable.index()].initial = vec![(0, initial)];
    }

    fn next(&mut self, place: &Place, value: Expr) {
        self.define(place, NextValue::Function(value));
    }

    fn choice(&mut self, place: &Place, alternatives: Vec<(Option<Expr>, Expr)>) {
        let alternatives = alternatives.into_iter().map(|(when, value)| Alternative { when, value }).collect();
        self.define(place, NextValue::Choice(alternatives));
    }

    fn define(&mut self, place: &Place, next: NextValue) {
        self.parts.definitions.push(Definition { variable: place.variable, slot: 0, next, span: None });
    }

    fn sound(self) -> System {
        let system = self.done();
        assert_eq!(check(&system), Ok(()));
        system
    }

    fn done(self) -> System {
        System { coupling: Coupling::Synchronous(self.parts), ..self.system }
    }

    fn problem(self) -> String {
        let problems = check(&self.done()).unwrap_err();
        problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    }
}

fn value(value: i64) -> Initial {
    Initial::Value(Expr::Const(value))
}

fn next(place: &Place) -> Expr {
    Expr::Next(place.clone())
}

fn same(x: Expr, y: Expr) -> Expr {
    Expr::binary(BinaryOp::Equal, x, y)
}

fn not(x: Expr) -> Expr {
    Expr::unary(UnaryOp::Not, x)
}

fn both(x: Expr, y: Expr) -> Expr {
    Expr::binary(BinaryOp::And, x, y)
}

fn all_successors(interpreter: &Interpreter<'_>, state: &State) -> Vec<Vec<i64>> {
    interpreter.successors(state).into_iter().map(|(_, successor)| successor.state.unwrap().globals).collect()
}

/// A counter that counts while its input is set, modulo four.
fn counter() -> System {
    let mut maker = Maker::new();
    let tick = maker.input("tick", BIT);
    let count = maker.state("count", Scalar::Int { bits: 2, signed: false });
    maker.starts(&count, value(0));
    maker.next(&count, Expr::binary(BinaryOp::Add, read(&count), read(&tick)));
    maker.sound()
}

#[test]
fn a_counter_counts_when_its_input_says_so() {
    let system = counter();
    let interpreter = Interpreter::new(&system);
    let start = interpreter.initial_state(0).unwrap().unwrap();
    assert_eq!(interpreter.initial_states().count(), 1);
    assert_eq!(interpreter.enabled(&start).len(), 2);
    // Inputs are no part of a state.
    assert_eq!(all_successors(&interpreter, &start), [[0, 0], [0, 1]]);
    let explored = explore(&system, 100);
    assert_eq!((explored.states, explored.transitions, explored.deadlocks), (4, 8, 0));
}

#[test]
fn a_joint_step_is_told_with_its_inputs() {
    let system = counter();
    let interpreter = Interpreter::new(&system);
    let tick = Move::Joint { inputs: [(0, 1)].into(), choices: [].into() };
    let trace = interpreter.run_lasso(0, std::slice::from_ref(&tick), &vec![tick.clone(); 4]).unwrap();
    let step = &trace.prefix[0];
    assert_eq!(
        (step.text.as_str(), step.inputs[0].name.as_str(), step.inputs[0].value.as_str()),
        ("tick = 1", "tick", "1")
    );
    assert_eq!((step.changes.len(), step.changes[0].name.as_str(), step.changes[0].after.as_str()), (1, "count", "1"));
    assert_eq!(interpreter.replay(&trace).unwrap().len(), 6);
    let json = serde_json::to_string(&trace).unwrap();
    assert_eq!(serde_json::from_str::<Trace>(&json).unwrap(), trace);
    let end = EndState::of(&interpreter, &interpreter.replay(&trace).unwrap()[1]);
    assert_eq!(end.variables.iter().map(|cell| cell.name.as_str()).collect::<Vec<_>>(), ["count"]);
}

#[test]
fn a_step_that_is_none_is_refused() {
    let system = counter();
    let interpreter = Interpreter::new(&system);
    let start = interpreter.initial_state(0).unwrap().unwrap();
    let joint =
        |inputs: &[(u32, i64)], choices: &[(u32, i64)]| Move::Joint { inputs: inputs.into(), choices: choices.into() };
    for wrong in [
        joint(&[], &[]),
        joint(&[(0, 2)], &[]),
        joint(&[(0, 1), (1, 1)], &[]),
        joint(&[(0, 1)], &[(1, 1)]),
        Move::Process { process: 0, edge: EdgeId(0) },
    ] {
        assert!(!interpreter.allows(&start, &wrong), "{wrong:?}");
        assert_eq!(interpreter.step(&start, &wrong).violations, [Fault::NotEnabled], "{wrong:?}");
    }
    assert!(interpreter.allows(&start, &joint(&[(0, 1)], &[])));
}

/// Two bits: the second takes what the first had, the first anything.
#[test]
fn a_shift_register_shifts() {
    let mut maker = Maker::new();
    let (first, second) = (maker.state("first", BIT), maker.state("second", BIT));
    maker.next(&second, read(&first));
    let system = maker.sound();
    let interpreter = Interpreter::new(&system);
    assert_eq!(interpreter.initial_states().count(), 4);
    for (number, state) in interpreter.starts() {
        let state = state.unwrap();
        assert_eq!(interpreter.number_of(&state), Some(number));
        let shifted = state.globals[0];
        assert_eq!(all_successors(&interpreter, &state), [[0, shifted], [1, shifted]]);
    }
    let explored = explore(&system, 100);
    assert_eq!((explored.states, explored.transitions), (4, 8));
}

/// Two processes that may enter on demand, and an invariant that forbids both: what would violate it is no step.
#[test]
fn an_invariant_excludes_states() {
    let mut maker = Maker::new();
    let requests = [maker.input("ask0", BIT), maker.input("ask1", BIT)];
    let inside = [maker.state("in0", BIT), maker.state("in1", BIT)];
    for (asks, place) in requests.iter().zip(&inside) {
        maker.starts(place, value(0));
        maker.choice(place, vec![(Some(read(asks)), Expr::TRUE), (None, Expr::FALSE)]);
    }
    maker.parts.invariant.push(not(both(read(&inside[0]), read(&inside[1]))));
    let system = maker.sound();
    let explored = explore(&system, 100);
    // From every state: nobody asks (1), one asks (2 each), both ask (4 without the one with both inside).
    assert_eq!((explored.states, explored.transitions, explored.deadlocks), (3, 3 * (1 + 2 + 2 + 3), 0));
}

#[test]
fn what_is_over_constrained_is_a_deadlock() {
    let mut maker = Maker::new();
    let count = maker.state("count", range(0, 7));
    maker.starts(&count, value(0));
    maker.next(&count, plus(read(&count), 1));
    maker.parts.relations.push(Expr::binary(BinaryOp::Less, next(&count), Expr::Const(3)));
    let system = maker.sound();
    let explored = explore(&system, 100);
    assert_eq!((explored.states, explored.transitions, explored.deadlocks), (3, 2, 1));
    let interpreter = Interpreter::new(&system);
    let mut last = interpreter.initial_state(0).unwrap().unwrap();
    last.globals[0] = 2;
    assert!(interpreter.is_deadlock(&last) && interpreter.is_stuck(&last) && !interpreter.is_end_state(&last));
    assert_eq!(interpreter.is_deadlock_within(&last, &Budget::unlimited()), Ok(true));
}

#[test]
fn a_value_outside_of_its_range_is_a_fault() {
    let mut maker = Maker::new();
    let more = maker.input("more", BIT);
    let count = maker.state("count", range(0, 1));
    maker.starts(&count, value(1));
    maker.next(&count, Expr::binary(BinaryOp::Add, read(&count), read(&more)));
    let system = maker.sound();
    let explored = explore(&system, 100);
    assert_eq!((explored.states, explored.transitions, explored.violations), (1, 1, 1));
    let interpreter = Interpreter::new(&system);
    let start = interpreter.initial_state(0).unwrap().unwrap();
    let (taken, successor) = interpreter.successors(&start).remove(1);
    assert_eq!(successor.violations, [Fault::OutOfRange { value: 2 }]);
    assert_eq!(interpreter.step(&start, &taken), successor);
    let trace = interpreter.run_trace(0, &[taken]).unwrap();
    assert_eq!(trace.prefix[0].violation.as_deref(), Some("value out of range: 2"));
}

#[test]
fn frozen_variables_are_chosen_once() {
    let mut maker = Maker::new();
    let limit = maker.state("limit", range(1, 3));
    maker.system.globals[0].kind = VariableKind::Frozen;
    let count = maker.state("count", range(0, 3));
    maker.starts(&count, value(0));
    let full = same(read(&count), read(&limit));
    maker.next(&count, Expr::Conditional(Box::new(full), Box::new(Expr::Const(0)), Box::new(plus(read(&count), 1))));
    let system = maker.sound();
    let explored = explore(&system, 100);
    assert_eq!((explored.states, explored.transitions, explored.deadlocks), (2 + 3 + 4, 9, 0));
}

#[test]
fn next_values_refer_to_each_other_in_order() {
    let mut maker = Maker::new();
    let (a, b, c) = (maker.state("a", range(0, 3)), maker.state("b", range(0, 3)), maker.state("c", range(0, 3)));
    // In an order that is not that of their declaration.
    maker.next(&a, next(&b));
    maker.next(&b, next(&c));
    maker.next(&c, read(&a));
    for place in [&a, &b, &c] {
        maker.starts(place, value(2));
    }
    let system = maker.sound();
    let interpreter = Interpreter::new(&system);
    let mut state = interpreter.initial_state(0).unwrap().unwrap();
    state.globals = vec![1, 2, 3];
    assert_eq!(all_successors(&interpreter, &state), [[1, 1, 1]]);
}

#[test]
fn first_values_refer_to_each_other_in_order() {
    let mut maker = Maker::new();
    let (a, b) = (maker.state("a", range(0, 9)), maker.state("b", range(0, 9)));
    maker.starts(&a, Initial::Value(plus(read(&b), 1)));
    maker.starts(&b, Initial::AnyOf(vec![3, 5]));
    let system = maker.sound();
    let states: Vec<_> = Interpreter::new(&system).initial_states().map(|state| state.unwrap().globals).collect();
    assert_eq!(states, [[4, 3], [6, 5]]);
}

#[test]
fn initial_states_are_found_and_not_multiplied_out() {
    // Forty words of 16 bits; init makes all of them the same, and that 7 or 9.
    let mut maker = Maker::new();
    let cells: Vec<Place> =
        (0..40).map(|number| maker.state(&format!("w{number}"), Scalar::Int { bits: 16, signed: false })).collect();
    for pair in cells.windows(2) {
        maker.parts.init.push(same(read(&pair[0]), read(&pair[1])));
    }
    let last = read(&cells[39]);
    maker.parts.init.push(Expr::binary(BinaryOp::Or, equal(last.clone(), 7), equal(last, 9)));
    let system = maker.sound();
    let interpreter = Interpreter::new(&system);
    let starts: Vec<_> = interpreter.starts().collect();
    assert_eq!(starts.len(), 2);
    for (number, state) in starts {
        assert_eq!(interpreter.initial_state(&number), Some(state));
    }
    assert_eq!(interpreter.initial_state(0), None);
}

#[test]
fn a_search_that_finds_nothing_ends_with_its_budget() {
    // The parity of sixty-four free bits is even, and odd.
    let mut maker = Maker::new();
    let cells: Vec<Place> = (0..64).map(|number| maker.state(&format!("b{number}"), BIT)).collect();
    let parity = cells.iter().map(read).reduce(|x, y| Expr::binary(BinaryOp::BitXor, x, y)).unwrap();
    maker.parts.init.push(same(parity.clone(), Expr::Const(1)));
    maker.parts.init.push(not(parity));
    let system = maker.sound();
    let interpreter = Interpreter::new(&system);
    let budget = Budget::unlimited().with_time(std::time::Duration::from_millis(20));
    assert_eq!(interpreter.starts_within(&budget).next(), Some(Err(Interrupted::Deadline)));
}

#[test]
fn very_many_initial_states_are_enumerated_lazily() {
    let mut maker = Maker::new();
    for number in 0..40 {
        maker.state(&format!("w{number}"), Scalar::Int { bits: 16, signed: true });
    }
    let system = maker.sound();
    let interpreter = Interpreter::new(&system);
    for (position, (number, state)) in interpreter.starts().take(1000).enumerate() {
        assert_eq!(number, (position as u64).into());
        assert_eq!(interpreter.number_of(&state.unwrap()), Some(number));
    }
    let start = interpreter.initial_state(0).unwrap().unwrap();
    assert_eq!(interpreter.steps(&start).take(1000).count(), 1000);
    assert!(!interpreter.is_deadlock(&start));
}

#[test]
fn circles_are_refused_by_name() {
    let mut maker = Maker::new();
    let (a, b) = (maker.state("a", BIT), maker.state("b", BIT));
    maker.next(&a, next(&b));
    maker.next(&b, not(next(&a)));
    let problem = maker.problem();
    assert!(problem.contains("circular definition") && problem.contains('a') && problem.contains('b'), "{problem}");

    let mut maker = Maker::new();
    let a = maker.state("a", BIT);
    maker.starts(&a, Initial::Value(not(read(&a))));
    assert!(maker.problem().contains("first values: a circular definition of a"));
}

#[test]
fn what_makes_no_sense_is_refused() {
    type Damage = fn(&mut Maker, &Place, &Place);
    let table: &[(&str, Damage)] = &[
        ("defined twice", |m, _, x| {
            m.next(x, Expr::TRUE);
            m.next(x, Expr::TRUE);
        }),
        ("has no next value", |m, i, _| m.next(i, Expr::TRUE)),
        ("the next value of an input", |m, i, _| m.parts.relations.push(next(i))),
        ("outside of a joint step", |m, _, x| m.parts.init.push(next(x))),
        ("outside of a joint step", |m, _, x| m.parts.invariant.push(next(x))),
        ("outside of a step", |m, i, _| m.parts.invariant.push(read(i))),
        ("an input with a first value", |m, i, _| m.starts(i, value(1))),
        ("no end of them", |m, _, _| drop(m.state("u", Scalar::Unbounded))),
        ("a choice of no next value", |m, _, x| m.choice(x, vec![])),
        ("slot 1 of 1", |m, _, x| {
            let next = NextValue::Function(Expr::TRUE);
            m.parts.definitions.push(Definition { variable: x.variable, slot: 1, next, span: None });
        }),
        ("processes start", |m, _, _| {
            m.system.start(process("p", vec![], vec![edge(0, 0)], &[]));
        }),
        ("about processes", |m, _, _| m.parts.invariant.push(Expr::ProcessCount)),
        ("a channel or a process", |m, _, _| drop(m.state("c", Scalar::Channel))),
    ];
    for (expected, damage) in table {
        let mut maker = Maker::new();
        let (i, x) = (maker.input("i", BIT), maker.state("x", BIT));
        damage(&mut maker, &i, &x);
        let problem = maker.problem();
        assert!(problem.contains(expected), "{expected}: {problem}");
    }
    let mut system = System::empty();
    system.global("x", BIT);
    system.globals[0].kind = VariableKind::Frozen;
    assert!(check(&system).is_err());
    let mut system = System::empty();
    let x = system.global("x", BIT);
    system.start(process("p", vec![], vec![edge(0, 0).when(next(&x))], &[]));
    assert!(check(&system).is_err());
}

#[test]
fn a_synchronous_system_survives_json() {
    let system = counter();
    let json = serde_json::to_string(&system).unwrap();
    assert_eq!(serde_json::from_str::<System>(&json).unwrap(), system);
}

#[test]
fn shared_expressions_are_evaluated_once() {
    // Doubling sixty times over would not end.
    let mut maker = Maker::new();
    let x = maker.state("x", BIT);
    let mut sum = read(&x);
    for _ in 0..60 {
        let shared = crate::expr::Shared::new(sum);
        sum = Expr::binary(BinaryOp::BitXor, Expr::Shared(shared.clone()), Expr::Shared(shared));
    }
    maker.next(&x, sum.clone());
    maker.parts.invariant.push(not(sum));
    let system = maker.sound();
    assert_eq!(explore(&system, 100).states, 2);
}

#[test]
fn locals_may_start_with_one_of_several_values() {
    let mut system = System::empty();
    let x = system.global("x", BIT);
    system.globals[x.variable.index()].initial = vec![(0, Initial::AnyOf(vec![0, 1]))];
    let mut n = variable("n", Type::Scalar(Scalar::BYTE));
    n.initial = vec![(0, Initial::Between(4, 6))];
    let id = system.start(process("p", vec![n], vec![edge(0, 0)], &[0]));
    system.start.push(Instance { process: id, arguments: vec![], priority: None });
    assert_eq!(check(&system), Ok(()));
    assert_eq!(system.features(), [crate::Feature::LocalChoices]);
    let interpreter = Interpreter::new(&system);
    let starts: Vec<_> = interpreter.starts().collect();
    assert_eq!(starts.len(), 2 * 3 * 3);
    for (position, (number, state)) in starts.iter().enumerate() {
        let state = state.as_ref().unwrap();
        assert_eq!((number, interpreter.number_of(state).as_ref()), (&(position as u64).into(), Some(number)));
        assert_eq!(interpreter.initial_state(number), Some(Ok(state.clone())));
    }
    let locals = |at: usize| starts[at].1.as_ref().unwrap().processes.iter().map(|p| p.locals[0]).collect::<Vec<_>>();
    assert_eq!((locals(0), locals(5), locals(17)), (vec![4, 4], vec![5, 6], vec![6, 6]));

    let spawn = Action::Spawn { process: id, arguments: vec![], priority: None };
    system.processes[0].edges[0] = edge(0, 0).does(spawn);
    assert!(check(&system).unwrap_err()[0].to_string().contains("spawned"));
}

/// All valuations of the cells that `free` says are open, the others being as in `base`.
fn valuations(interpreter: &Interpreter<'_>, base: &[i64], free: &dyn Fn(VariableKind) -> bool) -> Vec<Vec<i64>> {
    let mut all = vec![base.to_vec()];
    let mut slot = 0;
    for variable in &interpreter.system.globals {
        for scalar in interpreter.system.scalars(&variable.ty) {
            let values = interpreter.system.values_of(scalar).unwrap();
            if free(variable.kind) {
                all = all
                    .iter()
                    .flat_map(|one| {
                        (0..values.len()).map(|number| {
                            let mut one = one.clone();
                            one[slot] = values.get(number);
                            one
                        })
                    })
                    .collect();
            }
            slot += 1;
        }
    }
    all
}

/// The oracle: everything is tried, and the relation asked.
struct Naive<'a> {
    interpreter: &'a Interpreter<'a>,
    parts: &'a Synchronous,
}

impl Naive<'_> {
    fn holds(&self, current: &State, next: &State, conjuncts: &[Expr]) -> bool {
        conjuncts.iter().all(|conjunct| self.value(current, next, conjunct).is_ok_and(|value| value != 0))
    }

    fn value(&self, current: &State, next: &State, expr: &Expr) -> Result<i64, Fault> {
        let memo = evaluate::Memo::default();
        self.interpreter.context(current, None, None).with_next(next, &memo).value(expr)
    }

    fn defines(&self, current: &State, next: &State, definition: &Definition) -> Result<bool, Fault> {
        let slot = self.interpreter.globals.offsets[definition.variable.index()] + definition.slot as usize;
        let (scalar, after) = (self.interpreter.globals.scalars[slot], next.globals[slot]);
        let value = |expr: &Expr| evaluate::fit(scalar, self.value(current, next, expr)?);
        match &definition.next {
            NextValue::Function(expr) => Ok(value(expr)? == after),
            NextValue::Choice(alternatives) => {
                let mut found = false;
                for Alternative { when, value: expr } in alternatives {
                    let possible = when.as_ref().map_or(Ok(1), |when| self.value(current, next, when))? != 0;
                    found |= possible && value(expr)? == after;
                }
                Ok(found)
            }
        }
    }

    fn steps(&self, state: &State) -> Vec<(Vec<i64>, Vec<i64>)> {
        let mut steps = Vec::new();
        for inputs in valuations(self.interpreter, &state.globals, &|kind| kind == VariableKind::Input) {
            let current = State { globals: inputs.clone(), ..state.clone() };
            for after in valuations(self.interpreter, &state.globals, &|kind| kind == VariableKind::State) {
                let next = State { globals: after.clone(), ..state.clone() };
                let defined = self.parts.definitions.iter().all(|one| self.defines(&current, &next, one) == Ok(true));
                if defined
                    && self.holds(&current, &next, &self.parts.relations)
                    && self.holds(&next, &next, &self.parts.invariant)
                {
                    steps.push((inputs.clone(), after));
                }
            }
        }
        steps.sort();
        steps
    }

    fn starts(&self) -> Vec<Vec<i64>> {
        let base = vec![0; self.interpreter.globals.scalars.len()];
        let mut starts = valuations(self.interpreter, &base, &|kind| kind != VariableKind::Input);
        starts.retain(|globals| {
            let state = State { globals: globals.clone(), ..State::default() };
            let first = |slot: usize, scalar: Scalar, initial: &Initial| match initial {
                Initial::Value(expr) => {
                    let value = self.value(&state, &state, expr);
                    value.and_then(|value| evaluate::fit(scalar, value)) == Ok(globals[slot])
                }
                Initial::AnyOf(values) => values.contains(&globals[slot]),
                Initial::Between(least, most) => (*least..=*most).contains(&globals[slot]),
                Initial::Channel(_) => false,
            };
            let offsets = &self.interpreter.globals.offsets;
            let cells = self.interpreter.system.globals.iter().zip(offsets).flat_map(|(variable, offset)| {
                variable.initial.iter().map(move |(slot, initial)| (offset + *slot as usize, initial))
            });
            cells.into_iter().all(|(slot, initial)| first(slot, self.interpreter.globals.scalars[slot], initial))
                && self.holds(&state, &state, &self.parts.init)
                && self.holds(&state, &state, &self.parts.invariant)
        });
        starts.sort();
        starts
    }
}

#[test]
fn what_is_found_is_what_trying_everything_finds() {
    let (mut steps, mut deadlocks, mut faults, mut without) = (0, 0, 0, 0);
    for seed in 0..600 {
        let system = crate::random::synchronous(seed, seed % 3 == 0);
        assert_eq!(check(&system), Ok(()), "seed {seed}");
        let interpreter = Interpreter::new(&system);
        let naive = Naive { interpreter: &interpreter, parts: system.synchronous().unwrap() };
        let mut starts = Vec::new();
        for (number, state) in interpreter.starts() {
            assert_eq!(interpreter.initial_state(&number), Some(state.clone()), "seed {seed}");
            if let Ok(state) = state {
                assert_eq!(interpreter.number_of(&state), Some(number), "seed {seed}");
                starts.push(state.globals);
            }
        }
        starts.sort();
        assert_eq!(starts, naive.starts(), "seed {seed}");
        without += usize::from(starts.is_empty());
        for globals in starts.into_iter().take(4) {
            let state = State { globals, ..State::default() };
            let mut found = Vec::new();
            let successors = interpreter.successors(&state);
            for (taken, successor) in &successors {
                assert_eq!(interpreter.step(&state, taken), *successor, "seed {seed}: {taken:?} from {state:?}");
                let Move::Joint { inputs, .. } = taken else { panic!("a joint step") };
                faults += usize::from(successor.state.is_none());
                let Some(next) = &successor.state else { continue };
                let mut current = state.globals.clone();
                inputs.iter().for_each(|(slot, value)| current[*slot as usize] = *value);
                found.push((current, next.globals.clone()));
            }
            found.sort();
            assert_eq!(found, naive.steps(&state), "seed {seed}: from {state:?}");
            assert_eq!(interpreter.is_deadlock(&state), successors.is_empty(), "seed {seed}");
            steps += found.len();
            deadlocks += usize::from(successors.is_empty());
        }
    }
    assert!(steps > 5_000 && deadlocks > 20 && faults > 20 && without > 20, "{steps} {deadlocks} {faults} {without}");
}
