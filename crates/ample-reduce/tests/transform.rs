//! Static reductions: what they make of small models, and that they leave alone what somebody sees.

use std::collections::{HashSet, VecDeque};

use ample_lang::promela::{self, preprocess::FileLoader};
use ample_model::{
    Action, Budget, Communication, Expr, Instruction, Interpreter, Pattern, Property, Question, State, System,
};
use ample_reduce::transform::{Preserve, Reduced, Reductions, reduce};

const ALL: Reductions =
    Reductions { paths: Some(Preserve::Runs), dead: true, slice: true, processes: false, blocks: false };
const PATHS: Reductions =
    Reductions { paths: Some(Preserve::Branching), dead: false, slice: false, processes: false, blocks: false };
const DEAD: Reductions = Reductions { paths: None, dead: true, slice: false, processes: false, blocks: false };
const SLICE: Reductions = Reductions { paths: None, dead: false, slice: true, processes: false, blocks: false };

fn load(text: &str) -> System {
    promela::read("m.pml", text.into(), &mut FileLoader, &[]).unwrap().system
}

fn invariant(system: &System, text: &str) -> Property {
    let with = format!("{}\nltl p {{ [] ({text}) }}", system.sources[0].text);
    let property = load(&with).properties.pop().unwrap();
    let Question::Ltl(temporal) = &property.question else { panic!("no formula") };
    Property { question: Question::Invariant(temporal.atoms[0].clone()), ..property }
}

fn reduced(system: &System, properties: &[Property], reductions: Reductions) -> Reduced {
    reduce(system, properties, &[], reductions, &Budget::unlimited()).expect("something to reduce")
}

/// All states.
fn states(system: &System) -> HashSet<State> {
    let interpreter = Interpreter::new(system);
    let start = interpreter.initial_state(0).unwrap().unwrap();
    let mut seen = HashSet::from([interpreter.identity(&start)]);
    let mut frontier = VecDeque::from([start]);
    while let Some(state) = frontier.pop_front() {
        for (_, successor) in interpreter.steps(&state) {
            let Some(next) = successor.state else { continue };
            if seen.insert(interpreter.identity(&next)) {
                frontier.push_back(next);
            }
        }
    }
    seen
}

/// Figure 3.8 of Yorav's thesis: two paths, with what was assigned substituted into the condition.
#[test]
fn the_paths_of_figure_3_8() {
    let text = "active proctype P() { int x, y, z; x = 1; if :: x > y -> y = y + z :: else -> x = x + z fi }";
    let system = load(text);
    let merged = reduced(&system, &[], PATHS);
    let process = &merged.system.processes[0];
    let first: Vec<_> = process.locations[process.initial.index()].edges.iter().collect();
    assert_eq!(first.len(), 2, "{process:?}");
    let guards: Vec<String> = first
        .iter()
        .map(|edge| {
            let guard = &process.edges[edge.index()].guard;
            guard.iter().map(|g| system.show_expr(Some(0usize.into()), g)).collect::<Vec<_>>().join(" && ")
        })
        .collect();
    assert!(guards[0].contains("> y") && guards[0].contains('1'), "{guards:?}");
    assert!(guards[1].contains('!'), "{guards:?}");
    // Then: (1, y + z, z); otherwise: (1 + z, y, z).
    let interpreter = Interpreter::new(&merged.system);
    for ((y, z), expected) in [((0, 5), [1, 5, 5]), ((3, 5), [6, 3, 5])] {
        let mut state = interpreter.initial_state(0).unwrap().unwrap();
        state.processes[0].locals.copy_from_slice(&[7, y, z]);
        let after: Vec<State> = interpreter.steps(&state).filter_map(|(_, successor)| successor.state).collect();
        assert_eq!(after.len(), 1);
        assert_eq!(after[0].processes[0].locals, expected);
    }
}

#[test]
fn a_cycle_without_visible_steps_stays_finite() {
    let system = load("active proctype P() { byte x; do :: x < 3 -> x++ :: else -> x = 0 od }");
    let merged = reduced(&system, &[], PATHS);
    let (before, after) = (states(&system).len(), states(&merged.system).len());
    assert!(after < before && after >= 4, "{before} states, {after} reduced");
}

/// A path must not hide that another process may take its `else` before a handshake becomes possible.
#[test]
fn an_else_sees_where_a_handshake_is_offered() {
    let text = "chan c = [0] of { bit }; bit g, missed;
        active proctype P() { byte x; g = 1; x = 1; x = 2; c?_ }
        active proctype Q() { (g == 1); if :: c!0 :: else -> missed = 1 fi }";
    let system = load(text);
    let properties = [invariant(&system, "missed == 0")];
    let reduced = reduced(&system, &properties, ALL);
    let is_missed = |state: &State| state.globals.last() == Some(&1);
    assert!(states(&system).iter().any(is_missed));
    assert!(states(&reduced.system).iter().any(is_missed), "{:?}", reduced.system.processes[0]);
}

/// Others may move between a step and an atomic sequence that begins with a local one.
#[test]
fn an_atomic_sequence_is_not_entered_at_once() {
    let text = "bit g, seen;
        active proctype P() { byte x; g = 1; atomic { x = 1; g = 0 } }
        active proctype Q() { (g == 1); seen = 1 }";
    let system = load(text);
    let properties = [invariant(&system, "seen == 0")];
    let is_seen = |state: &State| state.globals[1] == 1;
    if let Some(reduced) = reduce(&system, &properties, &[], ALL, &Budget::unlimited()) {
        assert!(states(&reduced.system).iter().any(is_seen));
    }
}

/// A location that a property names is not passed, nor left or come to in passing.
#[test]
fn locations_that_are_asked_for_stay() {
    let text =
        "active proctype P() { byte x; if :: x = 0 :: x = 1 fi; if :: x == 0 -> h: skip :: else -> skip fi; x = 2 }";
    let system = load(text);
    let properties = [invariant(&system, "!P@h")];
    let at_h = |system: &System| {
        let Question::Invariant(condition) = &properties[0].question else { panic!("no invariant") };
        let interpreter = Interpreter::new(system);
        states(system).iter().any(|state| interpreter.evaluate(state, None, condition) == Ok(0))
    };
    assert!(at_h(&system));
    if let Some(reduced) = reduce(&system, &properties, &[], ALL, &Budget::unlimited()) {
        assert!(at_h(&reduced.system));
    }
}

/// Choices that nobody sees may be made earlier on runs, but not in branching time.
#[test]
fn branching_time_keeps_choices() {
    let text = "byte g; active proctype P() { byte x; g = 1; if :: x = 1 :: x = 2 fi; g = 1 + x }";
    let system = load(text);
    let properties = [invariant(&system, "g < 9")];
    let runs = Reductions { paths: Some(Preserve::Runs), ..PATHS };
    let first = |reduced: &Reduced| reduced.system.processes[0].locations[0].edges.len();
    assert_eq!(first(&reduced(&system, &properties, runs)), 2);
    assert_eq!(
        first(&reduce(&system, &properties, &[], PATHS, &Budget::unlimited()).unwrap_or_else(|| reduced(
            &system,
            &[],
            DEAD
        ))),
        1
    );
}

#[test]
fn dead_variables_are_reset() {
    let text = "byte g; active proctype P() { byte x; do :: g < 9 -> x = g; g = x + 1 :: g == 9 -> g = 0 od }";
    let system = load(text);
    let properties = [invariant(&system, "g < 10")];
    let reset = reduced(&system, &properties, DEAD);
    assert!(reset.resets > 0);
    assert!(states(&reset.system).len() < states(&system).len());
    let globals = |system: &System| states(system).into_iter().map(|state| state.globals).collect::<HashSet<_>>();
    assert_eq!(globals(&reset.system), globals(&system));
}

#[test]
fn a_counter_that_nobody_reads_is_left_out() {
    let text = "int n; bit g; active proctype P() { do :: g = 1 - g; n++ od }";
    let system = load(text);
    let sliced = reduced(&system, &[invariant(&system, "g < 2")], SLICE);
    assert_eq!(sliced.sliced, ["n"]);
    assert!(states(&sliced.system).len() <= 4);
    // What is asked for stays, and so does what it is computed from.
    assert_eq!(reduced(&system, &[invariant(&system, "n >= 0")], SLICE).sliced, ["g"]);
    let text = "int n, m; active proctype P() { do :: m = n; n++ :: m > 3 -> break od }";
    assert!(reduce(&load(text), &[], &[], SLICE, &Budget::unlimited()).is_none());
}

/// Figure 3.11 of the thesis: `x` is dead before the choice where `y` is not negative.
#[test]
fn the_condition_of_figure_3_11() {
    let text = "chan c = [1] of { int, int };
        active proctype P() { int x, y; c?x,y; if :: y < 0 -> y = x :: else -> y = 0 fi; x = 0; c!y,x }";
    let system = load(text);
    let reset = reduced(&system, &[Property::deadlock()], DEAD);
    let process = &reset.system.processes[0];
    let receive = process.edges.iter().find(|edge| edge.from == process.initial).unwrap();
    let [Instruction::Do(Action::Assign(place, Expr::Conditional(condition, then, other)))] = &receive.effect[..]
    else {
        panic!("{:?}", receive.effect)
    };
    assert_eq!(system.show_expr(Some(0usize.into()), condition), "!(y < 0)");
    assert_eq!((&**then, &**other), (&Expr::Const(0), &Expr::Read(place.clone())));
}

/// A loop does not hide a condition that it does not change.
#[test]
fn conditions_go_through_loops() {
    let text = "chan c = [1] of { byte, byte, byte };
        active proctype P() { byte x, y, z;
            c?x,y,z; do :: z > 0 -> z-- :: else -> break od; if :: y == 1 -> c!x,0,0 :: else fi; x = 0; c!x,x,x }";
    let system = load(text);
    let reset = reduced(&system, &[Property::deadlock()], DEAD);
    let process = &reset.system.processes[0];
    let receive = process.edges.iter().find(|edge| edge.from == process.initial).unwrap();
    let conditions: Vec<String> = receive
        .effect
        .iter()
        .filter_map(|instruction| match instruction {
            Instruction::Do(Action::Assign(place, Expr::Conditional(condition, ..))) if place.variable.0 == 0 => {
                Some(system.show_expr(Some(0usize.into()), condition))
            }
            _ => None,
        })
        .collect();
    assert_eq!(conditions, ["!(y == 1)"], "{:?}", receive.effect);
}

/// The elements of arrays and the fields of records are reset one by one, all where nothing is read any more.
#[test]
fn dead_elements_and_fields_are_reset() {
    let text = "typedef T { byte f; byte g }; byte n, r;
        active proctype P() { byte a[3]; T t; byte i;
            do
            :: n < 3 -> i = n; a[i] = n; t.f = n; t.g = n; a[1] = t.f + t.g; r = a[1] % 2; n = (n + 1) % 3; i = 0
            od }";
    let system = load(text);
    let properties = [invariant(&system, "n < 3 && r < 2")];
    let reset = reduced(&system, &properties, DEAD);
    let loops: HashSet<Vec<i64>> = states(&reset.system)
        .into_iter()
        .filter(|state| state.processes[0].location == system.processes[0].initial)
        .map(|state| state.processes[0].locals.clone())
        .collect();
    assert_eq!(loops, HashSet::from([vec![0; 6]]));
    assert!(states(&reset.system).len() < states(&system).len());
}

/// What is received and not read is not bound; what is stored and not read is not stored.
#[test]
fn dead_stores_are_left_out() {
    let text = "chan c = [1] of { byte, byte };
        active proctype P() { byte x, y; do :: c?x,y; y = x; x = 0 od }
        active proctype Q() { do :: c!1,1 :: c!2,2 od }";
    let system = load(text);
    let reset = reduced(&system, &[Property::deadlock()], DEAD);
    let receives = reset.system.processes[0].edges.iter().filter_map(|edge| match &edge.communication {
        Some(Communication::Receive { patterns, .. }) => Some(patterns),
        _ => None,
    });
    for patterns in receives {
        assert!(patterns.iter().all(|pattern| *pattern == Pattern::Ignore), "{patterns:?}");
    }
}

/// A field that nobody reads is sent as 0; one that is compared, or received for something that matters, is not.
#[test]
fn fields_that_nobody_reads_are_sliced() {
    let text = "chan c = [2] of { byte, int, byte }; byte g; int n;
        active proctype P() { do :: c!1,n,g; n++; g = 1 - g od }
        active proctype Q() { byte x; int m; do :: c?1,m,x; g = x od }";
    let system = load(text);
    let sliced = reduced(&system, &[invariant(&system, "g < 2")], SLICE);
    assert_eq!(sliced.sliced, ["n", "Q:m", "field 2 of c"]);
    assert!(states(&sliced.system).len() < 200);
    // What is polled, or looked at by a property, stays.
    for more in ["active proctype R() { do :: c?[1,0,0] -> g = 0 od }", "ltl q { <> c?[1,0,0] }"] {
        let system = load(&format!("{text}\n{more}"));
        assert_eq!(reduced(&system, &system.properties, SLICE).sliced, ["Q:m"], "{more}");
    }
    // Sorted messages are compared with each other.
    let sorted = load(&text.replace("c!1", "c!!1"));
    assert_eq!(reduced(&sorted, &[invariant(&system, "g < 2")], SLICE).sliced, ["Q:m"]);
}

/// What is received into a variable that is not read again need not be sent, and so need not be computed.
#[test]
fn what_is_computed_for_a_dead_variable_is_sliced() {
    let text = "chan c = [1] of { int }; byte g; int n;
        active proctype P() { do :: c!n; n++ od }
        active proctype Q() { int x; do :: c?x; x = 1; g = x od }";
    let system = load(text);
    let properties = [invariant(&system, "g < 2")];
    assert!(reduce(&system, &properties, &[], SLICE, &Budget::unlimited()).is_none());
    let both = reduced(&system, &properties, Reductions { dead: true, ..SLICE });
    assert_eq!(both.sliced, ["n", "field 1 of c"]);
    assert!(states(&both.system).len() < 100);
}

/// A subscript that may be out of range is still computed where what is stored there does not matter.
#[test]
fn slicing_keeps_faults() {
    let text = "byte log[3]; byte g; active proctype P() { do :: log[g] = g; g = g + 1 od }";
    let system = load(text);
    let sliced = reduced(&system, &[Property::assertions()], SLICE);
    assert_eq!(sliced.sliced, ["log"]);
    let faults = |system: &System| {
        let interpreter = Interpreter::new(system);
        states(system)
            .iter()
            .flat_map(|state| interpreter.successors(state))
            .filter(|(_, successor)| successor.state.is_none())
            .count()
    };
    assert_eq!(faults(&sliced.system), faults(&system));
    assert!(states(&sliced.system).iter().all(|state| state.globals[..3] == [0, 0, 0]));
}

/// A selection without `else` whose conditions cover all cases is passed.
#[test]
fn conditions_that_cover_all_cases_are_total() {
    for choice in ["x < y -> x = 1 :: x == y -> x = 2 :: x > y -> x = 3", "b == 0 -> x = 1 :: b == 1 -> x = 2"] {
        let text = format!("active proctype P() {{ byte x, y; bit b; x = y + 1; if :: {choice} fi; y = x }}");
        let merged = reduced(&load(&text), &[Property::deadlock()], PATHS).merged;
        assert!(merged >= 2, "{choice}: {merged}");
    }
    let partial = load("active proctype P() { byte x, y; x = y; if :: x < y -> x = 1 :: x > y -> x = 3 fi; y = x }");
    let stays = |reduced: &Reduced| reduced.system.processes[0].locations.iter().filter(|l| l.edges.len() == 2).count();
    assert_eq!(stays(&reduced(&partial, &[Property::deadlock()], PATHS)), 1);
}

/// What takes the place of a process that does not matter depends on whether it ends, and on what is asked.
#[test]
fn processes_that_do_not_matter_do_not_move() {
    const PROCESSES: Reductions = Reductions { processes: true, slice: false, ..SLICE };
    let other = "byte g; active proctype P() { do :: g < 3 -> g++ :: g > 0 -> g-- od }";
    let ltl = "ltl p { <> (g == 2) }";
    let formula = || load(&format!("{other} {ltl}")).properties;
    let cases = [
        // The process, and whether it goes for: a formula, deadlock, an invariant.
        ("active proctype Q() { byte x; do :: x = 1; x = 2 od }", [true, true, true]),
        ("active proctype Q() { byte x; x = 1; x = 2 }", [true, true, true]),
        ("active proctype Q() { byte x; do :: x < 3 -> x++ :: else -> break od }", [false, true, true]),
        ("active proctype Q() { byte x; x = 1; (g == 2); x = 2 }", [false, false, true]),
        ("active proctype Q() { byte x; x = 1; assert(x == 1) }", [false, false, false]),
        ("active proctype Q() { byte x; x = 1; g = 0 }", [false, false, false]),
    ];
    for (process, expected) in cases {
        let system = load(&format!("{other} {process}"));
        let invariant = [invariant(&system, "g < 4")];
        for (properties, expected) in [formula(), vec![Property::deadlock()], invariant.to_vec()].iter().zip(expected) {
            let reduced = reduce(&system, properties, &[], PROCESSES, &Budget::unlimited());
            let removed = reduced.map(|reduced| reduced.removed).unwrap_or_default();
            assert_eq!(removed == ["Q"], expected, "{process}: {removed:?}, {properties:?}");
        }
    }
}

/// Table 3.2 of the thesis, on our versions of its programs: path reduction to 37 % of the states on average, both
/// reductions to 33 %. (`bench/static.py` prints the table, with larger instances.)
#[test]
fn the_ratios_of_table_3_2() {
    let properties = [Property::deadlock(), Property::assertions()];
    let mut ratios: Vec<[f64; 2]> = Vec::new();
    for name in ["row_of_maxima", "leader_dolev_klawe_rodeh", "request_switch"] {
        let path = format!("{}/../../models/promela/{name}.pml", env!("CARGO_MANIFEST_DIR"));
        let system = load(&std::fs::read_to_string(path).unwrap());
        let count = |reductions: Reductions| match reduce(&system, &properties, &[], reductions, &Budget::unlimited()) {
            Some(reduced) => states(&reduced.system).len(),
            None => states(&system).len(),
        };
        let paths = Reductions { paths: Some(Preserve::Runs), ..PATHS };
        let all =
            [states(&system).len(), count(paths), count(DEAD), count(Reductions { dead: true, ..paths }), count(ALL)];
        println!("{name}: {all:?}");
        ratios.push([all[1] as f64 / all[0] as f64, all[3] as f64 / all[0] as f64]);
    }
    let mean = |which: usize| ratios.iter().map(|ratio| ratio[which]).sum::<f64>() / ratios.len() as f64;
    assert!(mean(0) <= 0.37 && mean(1) <= 0.33, "{ratios:?}");
}
