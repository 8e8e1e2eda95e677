//! Constructs that our models and the random systems use rarely, each in a small model of its own.

use ample_boolean::{Bounds, Encoding, Lit};
use ample_lang::promela::{self, preprocess::FileLoader};
use ample_model::interpret::{Explored, explore};
use ample_model::{BinaryOp, Expr, Initial, Interpreter, Place, Scope, System};

use crate::agree::{compare, search};

fn system(text: &str) -> System {
    promela::read("model.pml", text.into(), &mut FileLoader, &[]).unwrap_or_else(|why| panic!("{why:?}")).system
}

/// Compared state by state and searched in full, from bounds of all kinds.
fn agrees(text: &str) {
    let system = system(text);
    let expected = Explored { messages: Default::default(), ..explore(&system, 5_000) };
    assert!(expected.complete, "{text}");
    for bounds in [Bounds::sampled(&system, 1), Bounds::sampled(&system, 1_000), Bounds::declared(&system)] {
        compare(text, &system, &bounds, 500).unwrap();
        let (found, _) = search(text, &system, bounds).unwrap();
        assert_eq!(found, expected, "{text}");
    }
}

fn refusal(text: &str) -> String {
    let system = system(text);
    match Encoding::of(&system, &Bounds::sampled(&system, 100)) {
        Ok(_) => panic!("not refused: {text}"),
        Err(sentence) => sentence.to_string(),
    }
}

#[test]
fn loops_inside_a_step_are_unrolled() {
    agrees(
        "byte a[4]; byte i;
         active proctype P() {
             unsigned n : 2;
             do :: n < 3 -> n++ :: break od;
             d_step { i = 0; do :: i < 4 -> a[i] = a[i] + n + i; i++ :: else -> break od };
             d_step { do :: n > 0 -> n--; if :: n == 1 -> a[n] = 7 :: else fi :: else -> break od };
             assert(a[1] != 7)
         }",
    );
}

#[test]
fn a_loop_without_a_bound_is_refused_by_name() {
    let sentence =
        refusal("int x; active proctype P() { x = 30000; d_step { do :: x > 0 -> x = x - 3 :: else -> break od } }");
    assert!(sentence.contains("cannot unroll the loop") && sentence.contains("P at model.pml:1"), "{sentence}");
}

#[test]
fn handles_travel_through_channels() {
    agrees(
        "chan q = [2] of { byte, chan }; chan r = [0] of { byte }; chan s = [1] of { byte }; byte got;
         active proctype A() { byte n; do :: n < 2 -> q!n,r; n++ :: n < 2 -> q!n,s; n++ :: break od }
         active [2] proctype B() { chan c; byte m; end: do :: q?m,c -> if :: c!m :: timeout fi od }
         active proctype C() { end: do :: atomic { r?got -> got = got + 1 } :: s??1 :: s?[0] -> s?got od }",
    );
}

#[test]
fn processes_of_several_types_take_turns_in_a_slot() {
    agrees(
        "byte done; chan out = [1] of { byte };
         proctype A(byte x) { chan mine = [1] of { byte }; mine!x; mine?x; done++ }
         proctype B(bit y; byte z) { chan mine = [2] of { byte, bit }; mine!z,y; mine!!1,0; done = done + len(mine) }
         init { byte n; do
             :: n < 2 && _nr_pr == 1 -> run A(n + 3); n++
             :: n < 2 && _nr_pr == 1 -> run B(n, 200); n++
             :: n == 2 && _nr_pr == 1 -> break od; assert(done == 2) }",
    );
    let sentence = refusal(
        "proctype A() { chan mine = [1] of { byte }; mine!1 } proctype B() { skip }
         init { if :: run A() :: run B() fi }",
    );
    assert!(sentence.contains("different numbers of channels"), "{sentence}");
}

#[test]
fn hidden_variables_are_no_state() {
    agrees(
        "hidden byte h; byte x;
         active proctype P() { do :: x < 3 -> atomic { d_step { h = x; h = h * 2 + 1; x = h } } :: else -> break od }",
    );
    let sentence = refusal("hidden byte h; byte x; active proctype P() { h = 1; x = h }");
    assert_eq!(sentence, "the symbolic engine cannot read the hidden variable h in a step that has not set it");
}

#[test]
fn priorities_provided_and_traces_are_known() {
    agrees(
        "byte x; chan q = [1] of { byte };
         trace { do :: q!1 :: q?1 od }
         active proctype P() provided (x < 3) { do :: q!1 :: x++ :: q!2 od }
         active proctype Q() priority 3 { byte m; do :: q?m :: x > 0 -> x--; set_priority(0, x + 1) od }",
    );
}

#[test]
fn sorted_sends_receives_from_the_middle_and_remote_references() {
    agrees(
        "mtype = { a, b, c }; chan q = [2] of { mtype, short }; short y;
         active proctype P() { short k = -1;
         loop:   do :: k < 1 -> q!!b,k; k++ :: k < 3 -> q!!a,-k; k++ :: k > 1 -> break od }
         active proctype Q() { do
             :: q??b(y) :: q??<c(y)> :: nfull(q) && P@loop && P:k > 0 -> q?_,y :: q?[a,0] -> q?a,_
             :: empty(q) && y < 0 -> break od }",
    );
}

#[test]
fn arithmetic_is_that_of_the_language() {
    agrees(
        "short s = 32000; unsigned u : 3; int i = -7; byte b = 250;
         active proctype P() { byte n; do
             :: n < 4 -> d_step { n++; s = s + 700; u = u + 3; b = b * 3 + n; i = (i / 2) - (i % 3) + (1 << n) }
             :: n < 4 -> d_step { n++; i = i ^ ~n; s = s >> 2; b = -b; u = u | 4 }
             :: n == 3 -> i = 10 / (u - 5); break
             :: else -> break od }",
    );
}

/// A counter that leaves what was seen of it.
#[test]
fn a_counter_outgrows_its_bounds_and_is_widened() {
    let system = system("int x; active proctype P() { do :: x < 1000 -> x++ od }");
    let bounds = Bounds::sampled(&system, 5);
    let encoding = Encoding::of(&system, &bounds).unwrap();
    let width = |encoding: &Encoding| encoding.cells.iter().find(|cell| cell.name == "x").unwrap().bits;
    assert!(width(&encoding) <= 3);
    let (overflowing, partition) =
        encoding.partitions.iter().enumerate().find(|(_, p)| p.overflow != Lit::FALSE).unwrap();
    assert_ne!(partition.guard, Lit::FALSE);
    let interpreter = Interpreter::new(&system);
    let mut state = interpreter.initial_state(0).unwrap().unwrap();
    state.globals[0] = (1 << width(&encoding)) - 1;
    let (_, edge) = partition.taken.movers().next().unwrap();
    state.processes[0].location = system.processes[0].edges[edge.index()].from;
    let bits = encoding.bits_of(&system, &state).unwrap();
    let says = |lit| encoding.dag.evaluate(lit, &|bit| bits[bit as usize]);
    assert!(says(partition.overflow) && !says(partition.guard) && !says(partition.violation));
    let wider = encoding.widen(&system, &bounds, &state, overflowing);
    assert!(width(&Encoding::of(&system, &wider).unwrap()) > width(&encoding));
    let (found, tries) = search("counter", &system, bounds).unwrap();
    assert_eq!(found.states, explore(&system, 10_000).states);
    assert!((1..8).contains(&tries), "{tries}");
}

/// So many initial states that they cannot be listed.
#[test]
fn choices_of_first_values_are_formulas() {
    let mut system = system("byte a[12]; byte sum; active proctype P() { assert(a[0] != 3) }");
    system.globals[0].initial = (0..12).map(|slot| (slot, Initial::AnyOf(vec![0, 3, 5, 6]))).collect();
    let encoding = Encoding::of(&system, &Bounds::sampled(&system, 20)).unwrap();
    let interpreter = Interpreter::new(&system);
    for number in [0, 1, 77_777, (1 << 24) - 1] {
        let state = interpreter.initial_state(number).unwrap().unwrap();
        let mut bits = encoding.bits_of(&system, &state).unwrap();
        assert!(encoding.dag.evaluate(encoding.initial, &|bit| bits[bit as usize]));
        let cell = encoding.cells.iter().find(|cell| cell.name == "a[11]").unwrap();
        bits[cell.first as usize] ^= true;
        let changed = encoding.state(&system, &|bit| bits[bit as usize]).globals[11];
        let allowed = [0, 3, 5, 6].contains(&changed);
        assert_eq!(encoding.dag.evaluate(encoding.initial, &|bit| bits[bit as usize]), allowed, "{changed}");
    }
}

#[test]
fn cells_have_the_names_of_reports() {
    let system = system(
        "typedef R { byte f; bool g[2] }; R r[2]; chan q = [2] of { byte, bool };
         active [2] proctype P() { byte y; atomic { y = _pid; r[y].f = 1; q!1,r[1].g[1] } }",
    );
    let encoding = Encoding::of(&system, &Bounds::declared(&system)).unwrap();
    let names: Vec<&str> = encoding.cells.iter().map(|cell| cell.name.as_str()).collect();
    for name in ["control", "r[0].f", "r[1].g[1]", "chan#1.length", "chan#1[1].0", "P(0)@", "P(1):y"] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
    let mut next = 0;
    for cell in &encoding.cells {
        assert_eq!(cell.first, next);
        next += cell.bits;
    }
    assert_eq!(next, encoding.bits);
    let local = encoding.cells.iter().find(|cell| cell.name == "P(1):y").unwrap();
    assert_eq!((local.owner, local.bits), (Some(1), 8));
}

#[test]
fn a_property_may_ask_for_more_than_a_step() {
    let system = system("byte x; active proctype P() { do :: x < 2 -> x++ :: x > 0 -> x-- od }");
    let mut encoding = Encoding::of(&system, &Bounds::sampled(&system, 100)).unwrap();
    let x = Place {
        scope: Scope::Global,
        variable: 0usize.into(),
        offset: 0,
        indices: Vec::new(),
        scalar: ample_model::Scalar::BYTE,
    };
    let quotient = Expr::binary(BinaryOp::Divide, Expr::Const(2), Expr::Read(x));
    let (holds, fault) = encoding.condition(&system, &quotient).unwrap();
    let mut state = Interpreter::new(&system).initial_state(0).unwrap().unwrap();
    for (value, expected) in [(0, (false, true)), (1, (true, false)), (3, (false, false))] {
        state.globals[0] = value;
        let bits = encoding.bits_of(&system, &state).unwrap();
        let says = |lit| encoding.dag.evaluate(lit, &|bit| bits[bit as usize]);
        assert_eq!((says(holds), says(fault)), expected, "x = {value}");
    }
}
