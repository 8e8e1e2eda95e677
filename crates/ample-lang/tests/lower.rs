//! What lowering makes of small models: as many states as Spin finds, and the same verdicts.
//!
//! The number of states is the one that Spin 6.5.2 prints for
//! `spin -a -o1 -o2 -o3 m.pml && gcc -w -O1 -DSAFETY -DNOREDUCE -o pan pan.c && ./pan -c0 -n -m100000`.

use ample_lang::promela::{self, preprocess::MemoryLoader};
use ample_model::System;
use ample_model::interpret::explore;

fn system(text: &str) -> System {
    match promela::read("m.pml", text.into(), &mut MemoryLoader::default(), &[]) {
        Ok(lowered) => lowered.system,
        Err(rejected) => panic!("{:#?}", rejected.diagnostics),
    }
}

struct Model {
    shows: &'static str,
    text: &'static str,
    /// Stored by Spin, which stops at no error.
    states: u64,
    /// States that Spin calls invalid end states.
    deadlocks: u64,
    /// What else goes wrong.
    messages: &'static [&'static str],
}

const MODELS: &[Model] = &[
    Model {
        shows: "goto out of atomic",
        text: r#"
byte x;
active [2] proctype P() {
    atomic { x++; if :: x == 1 -> goto out :: else fi; x = 5 };
    skip;
out:    x = 3
}
"#,
        states: 24,
        deadlocks: 0,
        messages: &[],
    },
    Model {
        shows: "atomic loses control",
        text: r#"
byte x; chan c = [0] of { byte };
active proctype P() { atomic { x = 1; c ! 2; x = 3 } }
active proctype Q() { byte y; atomic { c ? y; x = y + x; y = 0 } ; x++ }
active proctype R() { atomic { x == 3; x = 9; (x == 9); x = 8 } }
"#,
        states: 31,
        deadlocks: 1,
        messages: &[],
    },
    Model {
        shows: "unless nests",
        text: r#"
byte x;
active proctype P() {
    { { x = 1; x = 2; x = 3 } unless { x == 7; x = 10 } } unless { x == 8 -> x = 20; x = 21 }
}
active proctype Q() { if :: x = 7 :: x = 8 :: skip fi }
"#,
        states: 43,
        deadlocks: 0,
        messages: &[],
    },
    Model {
        shows: "else sees nested selections",
        text: r#"
byte x, y;
active proctype P() {
    do
    :: x == 1 -> if :: y == 1 -> y = 2 :: else -> y = 3 fi
    :: if :: x == 2 -> y = 4 :: x == 3 -> break fi
    :: else -> y = 0; x++
    od
}
active proctype Q() { y = 1; y = 1 }
"#,
        states: 60,
        deadlocks: 0,
        messages: &[],
    },
    Model {
        shows: "d step runs its loops",
        text: r#"
byte x, s; byte a[4];
active proctype P() {
    d_step { x = 0; do :: x < 4 -> a[x] = x * x; x++ :: else -> break od; s = a[1] + a[2] + a[3]; x = 0 };
    assert(s == 14)
}
active proctype Q() { d_step { s > 0; for (x : 1 .. 3) { s = s + x } ; x = 0 } }
"#,
        states: 8,
        deadlocks: 0,
        messages: &["assertion violated (s == 14)"],
    },
    Model {
        shows: "select and for are written out",
        text: r#"
byte i, s; int v;
active proctype P() {
    select (v : 1 .. 3);
    for (i : 1 .. v) { s = s + i };
    select (v : 0 .. s)
}
"#,
        states: 77,
        deadlocks: 0,
        messages: &[],
    },
    Model {
        shows: "end labels mark nested statements",
        text: r#"
chan c = [1] of { byte }; byte x;
active proctype P() {
end:    do
    :: c ? x
    :: atomic { x == 2 -> end1: c ? 1; x = 3 }
    od
}
active proctype Q() { c ! 1; c ! 2; if :: c ? 5 :: end_q: c ? 6 fi }
"#,
        states: 6,
        deadlocks: 1,
        messages: &[],
    },
    Model {
        shows: "a nested wait is a deadlock",
        text: r#"
chan c = [1] of { byte }; byte x;
active proctype P() { do :: c ? x -> { c ? 3 } od }
active proctype Q() { c ! 1 }
"#,
        states: 5,
        deadlocks: 1,
        messages: &[],
    },
    Model {
        shows: "remote references see labels and variables",
        text: r#"
byte g;
active proctype P() {
    byte n;
again:    n++;
    if :: n < 3 -> goto again :: n >= 3 -> g = 1; there: goto done fi;
    n = 9;
done:    g = 2
}
active proctype Q() {
    if :: P[0]@there -> g = 10 + P[0]:n :: P[0]@again -> g = 7 :: g == 2 fi
}
"#,
        states: 58,
        deadlocks: 0,
        messages: &[],
    },
    Model {
        shows: "channels go through run and messages",
        text: r#"
chan server = [1] of { chan, byte };
proctype Client(chan reply; byte n) { byte got; server ! reply, n; reply ? got; assert(got == n + 1) }
active proctype Server() {
    chan to; byte n;
end:    do :: server ? to, n -> to ! n + 1 od
}
init { chan a = [0] of { byte }; chan b = [1] of { byte }; atomic { run Client(a, 3); run Client(b, 5) } }
"#,
        states: 46,
        deadlocks: 0,
        messages: &[],
    },
    Model {
        shows: "hidden variables are no part of a state",
        text: r#"
hidden byte h; byte x;
active proctype P() { do :: x < 2 -> h = x + 1; x++ :: x == 2 -> h = 0; break od; h = 5 }
active proctype Q() { hidden_free: h = 3; skip }
"#,
        states: 41,
        deadlocks: 0,
        messages: &[],
    },
    Model {
        shows: "a declaration among statements is a step",
        text: r#"
byte x;
active proctype P() { x = 1; byte y = x + 1; if :: y == 2 -> byte z; z = y; x = z :: skip fi; { int w = 4; x = w } }
active proctype Q() { x = 5 }
"#,
        states: 68,
        deadlocks: 0,
        messages: &[],
    },
    Model {
        shows: "sorted send and random receive",
        text: r#"
chan c = [3] of { byte, byte }; byte x, y;
active proctype P() { c !! 3, 1; c !! 1, 2; c !! 2, 2 }
active proctype Q() {
    c ?? x, 2 -> c ?? [3, 1] -> c ? y, _;
    if :: c ?? <x, y> :: c ? x, eval(y) fi
}
"#,
        states: 17,
        deadlocks: 0,
        messages: &[],
    },
    Model {
        shows: "a trace is followed",
        text: r#"
chan c = [1] of { byte }; byte x;
trace { do :: c ! 1; c ? 1 :: c ! 2; c ? 2 od }
active proctype P() { c ! 1; c ! 2 }
active proctype Q() { c ? x; c ? x }
"#,
        states: 7,
        deadlocks: 0,
        messages: &[],
    },
    Model {
        shows: "a trace is left",
        text: r#"
chan c = [2] of { byte }; byte x;
trace { do :: c ! 1; c ? _ :: c ! 2; c ? _ od }
active proctype P() { c ! 1; c ! 2 }
active proctype Q() { c ? x; c ? x }
"#,
        states: 9,
        deadlocks: 0,
        messages: &["event_trace error (no matching event)"],
    },
    Model {
        shows: "a notrace is completed",
        text: r#"
chan c = [2] of { byte }; byte x;
notrace { c ! 1; c ? 1; c ! 2 }
active proctype P() { c ! 1; c ! 2 }
active proctype Q() { c ? x; c ? x }
"#,
        states: 8,
        deadlocks: 0,
        messages: &["event_trace error (all events matched)"],
    },
    Model {
        shows: "two inits are both run",
        text: r#"
byte x;
init { x = 1; x = 2 }
init { x == 2; x = 3 }
"#,
        states: 7,
        deadlocks: 0,
        messages: &[],
    },
];

#[test]
fn small_models_have_the_states_and_the_verdicts_of_spin() {
    let mut wrong = Vec::new();
    for Model { shows, text, states, deadlocks, messages } in MODELS {
        let explored = explore(&system(text), 10_000);
        let found: Vec<&str> = explored.messages.iter().map(String::as_str).collect();
        if (explored.states, explored.deadlocks, &found[..]) != (*states, *deadlocks, *messages) || !explored.complete {
            wrong.push(format!("{shows}: {} states, {} deadlocks, {found:?}", explored.states, explored.deadlocks));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_select_of_plain_numbers_is_written_out_and_another_is_walked() {
    let edges = |select: &str| {
        let text = format!("byte v, n = 3; active proctype P() {{ select (v : {select}) }}");
        let system = system(&text);
        let labels = system.processes[0].edges.iter().map(|edge| edge.label.clone());
        labels.filter(|label| label.starts_with("v =") || label.starts_with("v <")).collect::<Vec<_>>()
    };
    assert_eq!(edges("1 .. 3"), ["v = 1", "v = 2", "v = 3"]);
    assert_eq!(edges("1 .. n"), ["v = smallest choice", "v = v + 1", "v < largest choice"]);
}

#[test]
fn a_d_step_is_one_edge_and_an_atomic_is_several() {
    let edges = |block: &str| {
        let text = format!("byte x; active proctype P() {{ {block} {{ x = 1; x = 2; x = 3 }} }}");
        let system = system(&text);
        let process = &system.processes[0];
        let kept = process.edges.iter().filter(|edge| edge.keeps_control).count();
        (process.edges.len(), kept)
    };
    // The last edge is the end of the process.
    assert_eq!(edges("d_step"), (2, 0));
    assert_eq!(edges("atomic"), (4, 2));
}

#[test]
fn labels_mark_the_locations_that_they_name() {
    let system = system("byte x; active proctype P() { end_a: do :: x = 1; progress_b: x = 2 od; accept_c: x = 3 }");
    let marks = |name: &str| {
        let mut locations = system.processes[0].locations.iter();
        let found = locations.find(|l| l.labels.iter().any(|label| label == name));
        found.map(|l| (l.end, l.progress, l.accept))
    };
    assert_eq!(marks("end_a"), Some((true, false, false)));
    assert_eq!(marks("progress_b"), Some((false, true, false)));
    assert_eq!(marks("accept_c"), None, "what cannot be reached is no location");
}

#[test]
fn a_label_at_the_start_of_an_option_marks_the_selection() {
    let system = system("active proctype P() { end_a: do :: progress_b: skip :: accept_c: goto end_a od }");
    let [location] = &system.processes[0].locations[..] else { panic!("{:?}", system.processes[0].locations) };
    assert!(location.end && location.progress && location.accept);
}

#[test]
fn hidden_variables_are_marked() {
    let system = system("hidden byte h; byte x; active proctype P() { h = x }");
    let hidden: Vec<_> = system.globals.iter().map(|v| (v.name.as_str(), v.hidden)).collect();
    assert_eq!(hidden, [("h", true), ("x", false)]);
}
