//! Circuits mean what their gates say: random and-inverter graphs, written in every format and read again, are simulated
//! cycle by cycle beside the graph itself. And size is no obstacle: neither deep nor wide nor large circuits.

use std::fmt::Write;

use ample_budget::Budget;
use ample_lang::circuit::{Format, read};
use ample_lang::export::aig::{Aig, Latch, Reset};
use ample_lang::export::{aiger, blif};
use ample_lang::source::decode;
use ample_model::{Expr, Initial, Interpreter, Move, State, System, VariableKind};
use ample_random::Random;

fn system(format: Format, text: &str) -> System {
    match read(format, "test", text) {
        Ok(circuit) => {
            assert_eq!(ample_model::check::check(&circuit.system), Ok(()), "{text}");
            circuit.system
        }
        Err(rejected) => panic!("{rejected}: {:?}\n{text}", rejected.diagnostics),
    }
}

fn aig_of(system: &System) -> Aig {
    Aig::of(system, &[], &Budget::unlimited()).expect("a circuit")
}

/// A random graph.
fn random_aig(random: &mut Random) -> Aig {
    let mut aig = Aig::default();
    let (inputs, latches, gates) = (random.below(4), 1 + random.below(4), random.below(25));
    aig.inputs = (0..inputs).map(|number| format!("in{number}")).collect();
    for number in 0..latches {
        let reset = [Reset::Value(false), Reset::Value(true), Reset::Any][random.below(3)];
        aig.latches.push(Latch { name: format!("q[{number}]"), next: 0, reset });
    }
    for _ in 0..gates {
        let below = 2 * aig.variables() + 2;
        let (x, y) = (random.below(below as usize) as u32, random.below(below as usize) as u32);
        aig.gates.push([x.max(y), x.min(y)]);
    }
    let all = 2 * aig.variables() as usize + 2;
    for number in 0..latches {
        aig.latches[number].next = random.below(all) as u32;
    }
    aig.outputs = (0..2).map(|number| (format!("out {number}"), random.below(all) as u32)).collect();
    aig.bad = vec![("never".into(), random.below(all) as u32)];
    aig
}

/// The values of all variables of a graph.
fn values(aig: &Aig, inputs: &[bool], latches: &[bool]) -> Vec<bool> {
    let mut values = vec![false];
    values.extend_from_slice(inputs);
    values.extend_from_slice(latches);
    for [x, y] in &aig.gates {
        let value = literal(&values, *x) && literal(&values, *y);
        values.push(value);
    }
    values
}

fn literal(values: &[bool], literal: u32) -> bool {
    values[(literal / 2) as usize] != (literal % 2 == 1)
}

/// Simulates a system that has the inputs and latches of a graph beside it.
fn simulated_alike(aig: &Aig, mut system: System, random: &mut Random, what: &str) {
    let outputs: Vec<Expr> =
        system.signals.iter().filter(|signal| signal.is_output).map(|signal| signal.value.clone()).collect();
    system.keep_inputs(&outputs);
    let (inputs, latches) = (aig.inputs.len(), aig.latches.len());
    assert_eq!(system.globals.len(), inputs + latches, "{what}");
    for (latch, variable) in aig.latches.iter().zip(&system.globals[inputs..]) {
        let expected = match latch.reset {
            Reset::Value(value) => vec![(0, Initial::Value(Expr::Const(value.into())))],
            Reset::Any => Vec::new(),
        };
        assert_eq!(variable.initial, expected, "{what}");
    }
    let interpreter = Interpreter::new(&system);
    let mut flags = |count: usize| (0..count).map(|_| random.below(2) == 1).collect::<Vec<bool>>();
    let (mut now, mut latch_values) = (flags(inputs), flags(latches));
    for _ in 0..8 {
        let next = flags(inputs);
        let expected = values(aig, &now, &latch_values);
        let globals = now.iter().chain(&latch_values).map(|value| i64::from(*value)).collect();
        let state = State { globals, ..State::default() };
        for ((name, expected_literal), output) in aig.outputs.iter().zip(&outputs) {
            let told = interpreter.evaluate(&state, None, output).expect("a value") != 0;
            assert_eq!(told, literal(&expected, *expected_literal), "{what}: {name}");
        }
        let kept = |slot: usize| system.globals[slot].kind == VariableKind::State;
        let cells = |of: &[bool], wanted: bool| {
            let cells = of.iter().enumerate().filter(|(slot, _)| kept(*slot) == wanted);
            cells.map(|(slot, value)| (slot as u32, i64::from(*value))).collect::<Box<[_]>>()
        };
        let taken = Move::Joint { inputs: cells(&now, false), choices: cells(&next, true) };
        // The inputs of the step are no part of the state.
        let mut before = state.clone();
        (0..inputs).filter(|slot| !kept(*slot)).for_each(|slot| before.globals[slot] = 0);
        let after = interpreter.step(&before, &taken).state.expect("a next state");
        let expected_next: Vec<bool> = aig.latches.iter().map(|latch| literal(&expected, latch.next)).collect();
        let told: Vec<bool> = after.globals[inputs..].iter().map(|value| *value != 0).collect();
        assert_eq!(told, expected_next, "{what}");
        (now, latch_values) = (next, expected_next);
    }
}

#[test]
fn random_graphs_mean_the_same_in_every_format() {
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let aig = random_aig(&mut random);
        let what = |format: &str| format!("seed {seed}, {format}");
        let text = system(Format::Aiger, &aiger::text(&aig));
        let binary = system(Format::Aiger, &decode(aiger::binary(&aig)));
        let other = system(Format::Blif, &blif::model(&aig, "random"));
        assert_eq!(aig_of(&text), aig_of(&binary), "{}", what("aig"));
        assert_eq!(text.globals.iter().map(|one| &one.name).collect::<Vec<_>>(), {
            let latches = aig.latches.iter().map(|latch| &latch.name);
            aig.inputs.iter().chain(latches).collect::<Vec<_>>()
        });
        simulated_alike(&aig, text.clone(), &mut random, &what("aag"));
        simulated_alike(&aig, binary, &mut random, &what("aig"));
        simulated_alike(&aig, other, &mut random, &what("blif"));
        // What was read is written as something that means the same.
        let again = aig_of(&text);
        assert!(again.gates.len() <= aig.gates.len(), "{}", what("again"));
        simulated_alike(&aig, system(Format::Aiger, &aiger::text(&again)), &mut random, &what("again"));
    }
}

#[test]
fn gates_of_bench_files_are_what_they_are_called() {
    let gates = ["AND", "NAND", "OR", "NOR", "XOR", "XNOR"];
    let mut text =
        String::from("INPUT(a)\nINPUT(b)\nINPUT(c)\nn = NOT(a)\nf = buff(a)\nv = VDD\ng = gnd()\nl = DFF(a)\n");
    gates.iter().for_each(|gate| text.push_str(&format!("{gate}_3 = {gate}(a, b, c)\n{gate}_1 = {gate}(a)\n")));
    let mut system = system(Format::Bench, &text);
    system.keep_inputs(&system.signals.iter().map(|signal| signal.value.clone()).collect::<Vec<_>>());
    let interpreter = Interpreter::new(&system);
    for bits in 0..8i64 {
        let values = [bits & 1, bits >> 1 & 1, bits >> 2 & 1];
        let state = State { globals: values.iter().copied().chain([0]).collect(), ..State::default() };
        let value = |name: &str| {
            let signal = system.signals.iter().find(|signal| signal.name == name).expect(name);
            interpreter.evaluate(&state, None, &signal.value).expect("a value")
        };
        let [a, b, c] = values;
        let (all, some, odd) = (a & b & c, a | b | c, a ^ b ^ c);
        let three = gates.map(|gate| value(&format!("{gate}_3")));
        assert_eq!(three, [all, 1 - all, some, 1 - some, odd, 1 - odd], "{values:?}");
        assert_eq!(gates.map(|gate| value(&format!("{gate}_1"))), [a, 1 - a, a, 1 - a, a, 1 - a]);
        assert_eq!(["n", "f", "v", "g"].map(value), [1 - a, a, 1, 0]);
    }
}

#[test]
fn covers_latches_and_models_of_blif() {
    let text = "\
.model main # the circuit
.inputs a b \\
  c
.outputs on off none one zero many used.x
.names a b c on
1-0 1
01- 1
.names a b c off
1-0 0
01- 0
.names a none
- -
.names one
1
.names zero
0
.names a b c many
--- 1
.latch on q0
.latch on q1 0
.latch on q2 1
.latch on q3 2
.latch on q4 re clk 3
.latch on q5 re clk
.subckt pair x=a y=used.x
.subckt pair x=used.x y=again
.conn again alias
.exdc
.names a on
1 1
.end
.model pair
.inputs x
.outputs y
.names x inner
0 1
.names inner y
0 1
.end
";
    let circuit = read(Format::Blif, "main.blif", text).expect("a circuit");
    let warnings: Vec<&str> = circuit.warnings.iter().map(|warning| warning.message.as_str()).collect();
    assert!(warnings.iter().any(|one| one.contains("output does not matter")), "{warnings:?}");
    assert!(warnings.iter().any(|one| one.contains("don't-care")), "{warnings:?}");
    let mut system = circuit.system;
    assert_eq!(ample_model::check::check(&system), Ok(()));
    let starts: Vec<Option<&Initial>> =
        system.globals[3..].iter().map(|latch| latch.initial.first().map(|(_, initial)| initial)).collect();
    let value = |value: i64| Some(Initial::Value(Expr::Const(value)));
    let expected = [None, value(0), value(1), None, None, None];
    assert_eq!(starts, expected.iter().map(Option::as_ref).collect::<Vec<_>>());
    system.keep_inputs(&system.signals.iter().map(|signal| signal.value.clone()).collect::<Vec<_>>());
    let interpreter = Interpreter::new(&system);
    for bits in 0..8i64 {
        let [a, b, c] = [bits & 1, bits >> 1 & 1, bits >> 2 & 1];
        let state = State { globals: vec![a, b, c, 0, 0, 0, 0, 0, 0], ..State::default() };
        let value = |name: &str| {
            let signal = system.signals.iter().find(|signal| signal.name == name).expect(name);
            interpreter.evaluate(&state, None, &signal.value).expect("a value")
        };
        let on = i64::from(a == 1 && c == 0 || a == 0 && b == 1);
        let names =
            ["on", "off", "none", "one", "zero", "many", "used.x", "again", "alias", "pair.0.inner", "pair.1.inner"];
        assert_eq!(names.map(value), [on, 1 - on, 0, 1, 0, 1, a, a, a, 1 - a, 1 - a], "{a} {b} {c}");
    }
}

/// A chain of gates, each of which reads the one before it.
fn chain(length: usize) -> String {
    let mut text = String::from("INPUT(i)\nOUTPUT(g0)\nl = DFF(g0)\n");
    for number in 0..length {
        let next = if number + 1 == length { "i".to_owned() } else { format!("g{}", number + 1) };
        let gate = ["AND", "NOR", "XOR", "NAND"][number % 4];
        let _ = writeln!(text, "g{number} = {gate}({next}, l)");
    }
    text
}

#[test]
fn deep_circuits_are_no_deeper_than_others() {
    let mut system = system(Format::Bench, &chain(100_000));
    let other = read(Format::Bench, "test", &chain(100_000)).expect("a circuit").system;
    assert!(system.signals[0].value == other.signals[0].value, "equal graphs are equal");
    assert_eq!(aig_of(&system), aig_of(&other));
    let outputs: Vec<Expr> = vec![system.signals[0].value.clone()];
    system.keep_inputs(&outputs);
    let interpreter = Interpreter::new(&system);
    let start = interpreter.initial_states().next().expect("an initial state").expect("a state");
    let value = interpreter.evaluate(&start, None, &outputs[0]).expect("a value");
    let next = interpreter.step(&start, &Move::Joint { inputs: [].into(), choices: [(0, 1)].into() });
    assert_eq!(next.state.expect("a next state").globals[1], value);
    let mut parts = 0;
    outputs[0].walk(&mut |_| parts += 1);
    assert!(parts > 100_000);
    let json = serde_json::to_string(&outputs[0]).expect("JSON");
    assert!(serde_json::from_str::<Expr>(&json).expect("an expression") == outputs[0]);
}

#[test]
fn wide_gates_are_no_deeper_than_others() {
    let names: Vec<String> = (0..20_000).map(|number| format!("i{number}")).collect();
    let mut text: String = names.iter().map(|name| format!("INPUT({name})\n")).collect();
    for gate in ["AND", "OR", "XOR"] {
        let _ = writeln!(text, "{gate}_all = {gate}({})", names.join(", "));
    }
    text.push_str("l = DFF(XOR_all)\n");
    assert_eq!(system(Format::Bench, &text).globals.len(), 20_001);
}

#[test]
fn large_circuits_are_read_in_time() {
    let mut aig = Aig { inputs: vec!["i".into()], ..Aig::default() };
    aig.latches = (0..1_000).map(|number| Latch { name: format!("l{number}"), next: 0, reset: Reset::Any }).collect();
    let mut random = Random::new(7);
    for _ in 0..200_000 {
        let below = 2 * aig.variables() as usize + 2;
        let (x, y) = (random.below(below) as u32, random.below(below) as u32);
        aig.gates.push([x.max(y), x.min(y)]);
    }
    let last = 2 * aig.variables() as usize;
    aig.latches.iter_mut().for_each(|latch| latch.next = random.below(last) as u32);
    let begin = std::time::Instant::now();
    let read = system(Format::Aiger, &decode(aiger::binary(&aig)));
    assert!(begin.elapsed().as_secs() < 120, "{:?}", begin.elapsed());
    assert_eq!(read.globals.len(), 1_001);
}

#[test]
fn a_budget_ends_reading() {
    let text = chain(50_000);
    let late = Budget::unlimited().with_time(std::time::Duration::ZERO);
    for format in [Format::Bench, Format::Blif, Format::Aiger] {
        let rejected = ample_lang::circuit::read_within(format, "late", &text, &late).expect_err("no time");
        assert!(rejected.interrupted.is_some());
    }
    // Each model uses the next one twice: 2^40 gates.
    let mut text = String::from(".model m0\n.inputs x\n");
    for number in 0..40 {
        let _ = write!(text, ".subckt m{0} x=x\n.subckt m{0} x=x\n.end\n.model m{0}\n.inputs x\n", number + 1);
    }
    text.push_str(".names x y\n1 1\n.end\n");
    let soon = Budget::unlimited().with_time(std::time::Duration::from_millis(300));
    let rejected = ample_lang::circuit::read_within(Format::Blif, "doubled", &text, &soon).expect_err("no end");
    assert!(rejected.interrupted.is_some(), "{rejected}");
}
