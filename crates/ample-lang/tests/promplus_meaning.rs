//! What PROM+ means: the models of the thesis have as many states as it says, and every kind of statement does what it
//! should. All of this is decided by the reference interpreter.

use ample_lang::promela::preprocess::FileLoader;
use ample_lang::promplus::{self, Widths};
use ample_model::interpret::{Explored, explore};
use ample_model::{Budget, System};

fn read_with(text: &str, widths: Widths) -> System {
    let read = promplus::read_within("m.promp", text.into(), &mut FileLoader, &[], widths, &Budget::unlimited());
    let system = read.unwrap_or_else(|rejected| panic!("{rejected}\n{text}")).system;
    ample_model::check::check(&system).unwrap_or_else(|problems| panic!("{problems:?}\n{text}"));
    system
}

fn read(text: &str) -> System {
    read_with(text, Widths::default())
}

fn explored(text: &str) -> Explored {
    let explored = explore(&read(text), 100_000);
    assert!(explored.complete);
    explored
}

fn model(name: &str) -> String {
    let path = format!("{}/../../models/promplus/{name}.promp", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Name, states, revisits, deadlocks: table 6.2, with the misread digits put right. Every transition but those that find a new
/// state is a revisit, and the initial state is found without one.
const THESIS: &[(&str, u64, u64, u64)] = &[
    ("peterson", 64, 77, 0),
    ("peterson_objects", 126, 138, 0),
    ("dekker", 288, 397, 0),
    ("dekker_objects", 356, 467, 0),
    ("dijkstra", 860, 1247, 0),
    ("dijkstra_objects", 942, 1338, 0),
    ("philosophers_3", 875, 1490, 1),
    ("philosophers_3_objects", 1082, 1861, 1),
    ("philosophers_4", 8545, 22288, 1),
    ("philosophers_4_objects", 11124, 29539, 1),
];

#[test]
fn the_models_of_the_thesis_have_its_numbers_of_states() {
    for &(name, states, revisits, deadlocks) in THESIS {
        let found = explored(&model(name));
        assert_eq!((found.states, found.deadlocks, found.violations), (states, deadlocks, 0), "{name}");
        assert_eq!(found.transitions + 1 - found.states, revisits, "{name}");
    }
}

#[test]
fn an_object_is_there_as_long_as_something_refers_to_it() {
    // Listing 6.4.
    let found = explored(&model("aliases"));
    assert_eq!((found.states, found.transitions, found.deadlocks, found.violations), (9, 8, 0, 0));
}

#[test]
fn a_mistake_in_petersons_algorithm_is_found() {
    let found = explored(&model("peterson_broken"));
    assert!(found.messages.contains("assertion violated (mutex < 2)"), "{:?}", found.messages);
}

#[test]
fn processes_that_nothing_tells_apart_have_all_combinations() {
    // Listing 7.1, with a bit in the place of a byte.
    assert_eq!(explored(&model("counters")).states, 32);
    let bytes = "active [2] proctype P() { byte x; do :: x = x + 1; od; }";
    assert_eq!(explored(bytes).states, 65_536);
}

/// The body of a single process, with variables that it may use: states and transitions, or what went wrong.
#[test]
fn every_statement_is_a_step() {
    let cases: &[(&str, u64, u64)] = &[
        // The statements and the end of the process.
        ("skip;", 3, 2),
        ("x = 1; x = 2; x = 300;", 5, 4),
        ("x = 1 -> y = 1;", 4, 3),
        ("if :: x == 0 -> y = 1; :: else -> y = 2; fi;", 4, 3),
        ("if :: x == 1 -> y = 1; :: else -> y = 2; fi;", 4, 3),
        ("if :: y = 1; :: y = 2; fi;", 4, 4),
        // An option without a statement is one with `skip`.
        ("if :: fi; skip;", 4, 3),
        ("do :: x = 1; break; od;", 3, 2),
        ("do :: x < 2 -> x = x + 1; :: else -> break; od;", 7, 6),
        ("p = new byte; *p = 300; assert(*p == 44);", 5, 4),
        ("p = new byte; q = p; *q = 7; assert(*p == 7); assert(p == q);", 7, 6),
        ("p = new byte; q = new byte; assert(p != q); reset p; assert(p == r && p == null); p = q; reset q;", 9, 8),
        // Garbage is no part of a state.
        ("do :: p = new byte; od;", 2, 2),
        ("n = new Node; n.next = new Node; n.next.v = 3; m = n.next; assert(m.v == 3); n.next = null;", 8, 7),
        ("n = new Node; n.next = n; n.next.next.v = 1; assert(n.v == 1);", 6, 5),
        ("n = new Node; n.p = new byte; *n.p = 4; p = n.p; reset n; assert(*p == 4);", 8, 7),
        ("list[1] = new Node; x = 1; list[x].v = 2; assert(list[1].v == 2 && list[0] == null);", 6, 5),
    ];
    for (body, states, transitions) in cases {
        let text = format!(
            "typedef Node {{ byte v; Node *next; byte *p }}\n\
             active [1] proctype P() {{ byte x, y, *p, *q, *r; Node *n, *m; Node *list[2]; {body} }}"
        );
        let found = explored(&text);
        assert_eq!(found.messages.iter().collect::<Vec<_>>(), [""; 0], "{body}");
        assert_eq!((found.states, found.transitions), (*states, *transitions), "{body}");
    }
}

#[test]
fn what_goes_wrong_is_told() {
    let cases = [
        ("*p = 1;", "reference to no object"),
        ("x = *p;", "reference to no object"),
        ("*p == 1;", "reference to no object"),
        ("n.next.v = 1;", "reference to no object"),
        ("n = new Node; n.next.v = 1;", "reference to no object"),
        ("do :: n = new Node; n.next = m; m = n; od;", "too many objects (3 max)"),
        ("x = 1 / x;", "division by zero"),
    ];
    for (body, message) in cases {
        let text = format!(
            "typedef Node {{ byte v; Node *next }}\nactive [1] proctype P() {{ byte x, *p; Node *n, *m; {body} }}"
        );
        let found = explore(&read_with(&text, Widths { pid_bits: 8, ref_bits: 2 }), 1000);
        assert_eq!(found.messages.into_iter().collect::<Vec<_>>(), [message], "{body}");
    }
}

#[test]
fn run_waits_while_all_ids_are_taken() {
    let text = "active [1] proctype P() { run Q(); run Q(); } active [0] proctype Q() { skip; }";
    // The second one has the id of the first, once that has ended.
    let (two, many) = (Widths { pid_bits: 1, ref_bits: 8 }, Widths::default());
    let [two, many] = [two, many].map(|widths| explore(&read_with(text, widths), 1000));
    assert_eq!((two.violations, two.deadlocks), (0, 0));
    assert!(two.states < many.states, "{} {}", two.states, many.states);
    // If none ends, it waits for ever.
    let text = "active [1] proctype P() { do :: run Q(); od; } active [0] proctype Q() { false; }";
    let found = explore(&read_with(text, Widths { pid_bits: 2, ref_bits: 8 }), 1000);
    assert_eq!((found.states, found.deadlocks, found.violations), (4, 1, 0));
}

#[test]
fn processes_end_in_the_opposite_order() {
    // The first one waits at its end for the second.
    let found = explored("bit go; active [1] proctype P() { go = 1; } active [1] proctype Q() { go; }");
    assert_eq!((found.states, found.transitions, found.deadlocks), (5, 4, 0));
    let found = explored("active [1] proctype P() { skip; } active [1] proctype Q() { false; }");
    assert_eq!(found.deadlocks, 1);
}

#[test]
fn pointers_are_passed_by_reference() {
    let text = "byte *p; active [1] proctype P() { p = new byte; run Q(p, *p); *p == 3; assert(*p == 3); }
        active [0] proctype Q(byte *q; byte v) { byte *r; r = q; *r = v + 3; v = 9; }";
    let found = explored(text);
    assert_eq!((found.violations, found.deadlocks), (0, 0));
}

#[test]
fn formulas_see_objects() {
    let system = read(
        "typedef Node { byte v; Node *next } byte *p, *q, x; Node *n;
         active [1] proctype P() { byte y; end: y = 1; }
         ltl one { [] (p != q || *p < 3) }",
    );
    let budget = Budget::unlimited();
    for text in ["*p == 1", "p == q && x < 3", "n.next.v > 0 || n == null", "P[0]:y == 1", "P[0]@end"] {
        promplus::expression_within(&system, text, &budget).unwrap_or_else(|rejected| panic!("{text}: {rejected}"));
    }
    for text in ["p == 1", "p", "n.v.v", "*n == 1", "*x == 1", "p == n"] {
        assert!(promplus::expression_within(&system, text, &budget).is_err(), "{text}");
    }
    assert!(promplus::ltl_within(&system, "[] <> (n.next != n)", &budget).is_ok());
    assert!(promplus::ctl_within(&system, "AG (p == q -> EF (x == 1))", &budget).is_ok());
    assert_eq!(system.properties[0].name, "one");
}

#[test]
fn random_programs_are_read() {
    for seed in 0..200 {
        let system = read(&promplus::random::program(seed));
        explore(&system, 100);
    }
}

/// A function that calls itself, in two processes.
const FACTORIAL: &str = "byte out;\n\
    function factorial(byte n) : byte { byte below;\n\
      if :: n == 0 -> return 1; :: else -> below = factorial(n - 1); return n * below; fi; }\n\
    active [2] proctype Main() { byte x; x = factorial(4); out = x; assert(x == 24); }";

#[test]
fn a_function_calls_itself() {
    let found = explored(FACTORIAL);
    assert_eq!((found.deadlocks, found.violations), (0, 0));
    let wrong = explored(&FACTORIAL.replace("x == 24", "x == 25"));
    assert!(wrong.violations > 0);
}

#[test]
fn every_call_and_every_return_is_one_step() {
    // The call, the statement, the return, the assignment behind it, the end.
    let found = explored("byte x; function f() { x = 1; } active [1] proctype P() { f(); x = 2; }");
    assert_eq!((found.states, found.transitions, found.violations), (6, 5, 0));
    // With a result, `return e` is a step, too.
    let found =
        explored("byte x; function f() : byte { return 7; } active [1] proctype P() { x = f(); assert(x == 7); }");
    assert_eq!((found.states, found.transitions, found.violations), (6, 5, 0));
    // Nothing is left of an instance that has returned.
    let system = read("byte x; function f(byte n) { x = n; } active [1] proctype P() { do :: f(1); :: f(2); od; }");
    let found = explore(&system, 1000);
    // At the head of the loop, after a call, and before a return.
    assert_eq!((found.states, found.deadlocks), (3 + 2 * 3 + 2, 0));
}

#[test]
fn functions_have_pointers_and_call_each_other() {
    let text = "typedef Node { byte value; Node *next }\n\
        function push(Node *below; byte value) : Node * { Node *made; made = new Node; made.value = value; made.next = below; return made; }\n\
        function length(Node *list) : byte { byte rest; if :: list == null -> return 0; :: else -> rest = length(list.next); return rest + 1; fi; }\n\
        function even(byte n) : bool { bool r; if :: n == 0 -> return true; :: else -> r = odd(n - 1); return r; fi; }\n\
        function odd(byte n) : bool { bool r; if :: n == 0 -> return false; :: else -> r = even(n - 1); return r; fi; }\n\
        active [1] proctype Main() { Node *list; byte n; bool b;\n\
          list = push(list, 3); list = push(list, 4); n = length(list); assert(n == 2); assert(list.value == 4);\n\
          b = even(n); assert(b); b = odd(n); assert(!b); push(list, 1); assert(list.next.next == null); }";
    let found = explored(text);
    assert_eq!((found.deadlocks, found.violations), (0, 0));
}

/// The philosophers of listing 4.1, with functions, and the same without.
#[test]
fn philosophers_take_forks_by_functions() {
    let model = |functions: &str, body: &str| {
        format!(
            "typedef Fork {{ bool taken }} Fork *f1, *f2, *f3; bool start;\n{functions}\n\
             active [0] proctype Philosopher(Fork *left; Fork *right) {{ start; do :: {body} od; }}\n\
             active [1] proctype Init() {{ f1 = new Fork; f2 = new Fork; f3 = new Fork; run Philosopher(f1, f2);\n\
             run Philosopher(f2, f3); run Philosopher(f3, f1); reset f1; reset f2; reset f3; start = true; }}"
        )
    };
    let functions = "function take(Fork *fork) { atomic { !fork.taken -> fork.taken = true; } }\n\
                     function release(Fork *fork) { fork.taken = false; }";
    let found = explored(&model(functions, "take(left); take(right); release(right); release(left);"));
    assert_eq!((found.deadlocks, found.violations), (1, 0));
}
