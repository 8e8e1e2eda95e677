//! Static reductions of SoftVer programs, as in K. Yorav's thesis: its figures, and what must not be reduced.

use std::collections::HashSet;

use ample_lang::softver;
use ample_model::{Budget, Expr, Interpreter, Property, Question, State, System};
use ample_reduce::transform::{Preserve, Reduced, Reductions, reduce};

const PATHS: Reductions =
    Reductions { paths: Some(Preserve::Branching), dead: false, slice: false, processes: false, blocks: false };
const DEAD: Reductions = Reductions { paths: None, dead: true, slice: false, processes: false, blocks: false };
const BOTH: Reductions =
    Reductions { paths: Some(Preserve::Branching), dead: true, slice: false, processes: false, blocks: false };

fn load(text: &str) -> System {
    softver::read("m.softver", text).unwrap_or_else(|error| panic!("{error}\n{text}")).system
}

fn ctl(system: &System, text: &str) -> Property {
    let question = Question::Ctl(softver::ctl(system, text).expect(text));
    Property { name: "asked".into(), question, text: text.into(), span: None }
}

fn reduced(system: &System, properties: &[Property], reductions: Reductions) -> Reduced {
    reduce(system, properties, &[], reductions, &Budget::unlimited()).expect("something to reduce")
}

/// All states, from all initial ones.
fn states(system: &System) -> HashSet<State> {
    let interpreter = Interpreter::new(system);
    let mut frontier: Vec<State> = interpreter.initial_states().map(|start| start.expect("no fault")).collect();
    let mut seen: HashSet<State> = frontier.iter().cloned().collect();
    while let Some(state) = frontier.pop() {
        for (_, successor) in interpreter.successors(&state) {
            let next = successor.state.expect("no fault");
            if seen.insert(next.clone()) {
                frontier.push(next);
            }
        }
    }
    seen
}

/// The locations of the first process where somebody may stand.
fn stands_at(system: &System) -> Vec<usize> {
    let mut found: Vec<usize> = states(system).iter().map(|state| state.processes[0].location.index()).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Figure 3.8: two paths between `l0` and `l4`, the first where `1 > y`, with the result `(1, y + z, z)`.
#[test]
fn the_paths_of_figure_3_8() {
    let system = load("#INTEGER_LENGTH# 3 int x, y, z; { x := 1; if x > y then y := y + z; else x := x + z; fi; }");
    let merged = reduced(&system, &[], PATHS);
    assert_eq!(stands_at(&merged.system), [0, 4]);
    assert_eq!(merged.system.processes[0].locations[0].edges.len(), 2);
    let interpreter = Interpreter::new(&merged.system);
    for start in interpreter.initial_states() {
        let start = start.expect("no fault");
        let (y, z) = (start.globals[1], start.globals[2]);
        let after: Vec<State> = interpreter.successors(&start).into_iter().filter_map(|(_, to)| to.state).collect();
        let expected = if 1 > y { [1, (y + z) % 8, z] } else { [(1 + z) % 8, y, z] };
        assert_eq!(after.len(), 1);
        assert_eq!(after[0].globals, expected);
    }
}

/// Assignments to variables that are asked about, choices, heads of loops and communications stay; so does what is behind
/// a communication.
#[test]
fn breaking_points_stay() {
    let system = load(
        "#INTEGER_LENGTH# 1 int x = 0, v = 0, a[2] = 0; \
         { x := 1; x := 0; v := 1; a[x] := 1; x := {0, 1}; x := 1 - x; while x = 0 do x := 1; skip; od; x := 0; }",
    );
    let merged = reduced(&system, &[ctl(&system, "AG (v = 0 || a[0] = 0)")], PATHS);
    // The initial location, `v := …`, `a[x] := …`, the choice, the head of the loop, and `terminate`.
    assert_eq!(stands_at(&merged.system), [0, 2, 3, 4, 6, 10]);
}

/// A label that a formula speaks of is not enough: the locations before it are breaking points, too.
#[test]
fn a_label_that_is_asked_for_and_what_leads_to_it_stay() {
    let system = load("#INTEGER_LENGTH# 1 int x = 0; { x := {0, 1}; if x = 0 then label h; else skip; fi; }");
    let asked = ctl(&system, "EF (!label(h) && A [!label(h) U label(h)])");
    let merged = reduce(&system, &[asked], &[], PATHS, &Budget::unlimited());
    let stands = merged.map_or_else(|| stands_at(&system), |merged| stands_at(&merged.system));
    // The `if` and the label.
    assert!(stands.contains(&1) && stands.contains(&2), "{stands:?}");
}

#[test]
fn a_loop_whose_body_is_invisible_is_one_edge() {
    let system = load("#INTEGER_LENGTH# 2 int x = 0; { while TRUE do x := x + 1; skip; od; }");
    let merged = reduced(&system, &[], PATHS);
    assert_eq!(stands_at(&merged.system), [0]);
    assert_eq!(states(&merged.system).len(), 4);
}

#[test]
fn communications_are_not_passed() {
    let system = load(
        "#INTEGER_LENGTH# 1 process P int x = 0; { x := 1; x := 0; send(Q, x); x := 1; x := 0; } \
         process Q int y = 0; { receive(P, y); y := 0; }",
    );
    let merged = reduced(&system, &[Property::deadlock()], PATHS);
    let stands = stands_at(&merged.system);
    assert!(stands.contains(&2) && stands.contains(&3), "{stands:?}");
    assert!(states(&merged.system).len() < states(&system).len());
}

/// Figure 3.11: before the `if`, `x` is dead where `y` is not below 2; the analysis by paths alone finds nothing there.
#[test]
fn the_condition_of_figure_3_11() {
    let text = "#INTEGER_LENGTH# 2 int x, y; { x := {0, 1, 2, 3}; y := {0, 1, 2, 3}; if y < 2 then y := x; else y := 0; fi; x := 0; \
                if y = 1 then label end; else skip; fi; }";
    let system = load(text);
    let merged = reduced(&system, &[ctl(&system, "AF label(end)")], DEAD);
    let at_if = |system: &System| -> HashSet<(i64, i64)> {
        let here = states(system).into_iter().filter(|state| state.processes[0].location.index() == 2);
        here.map(|state| (state.globals[0], state.globals[1])).collect()
    };
    // Without a reduction, all values; with it, x is one of its values where y is at least 2.
    assert_eq!(at_if(&system).len(), 16);
    let found = at_if(&merged.system);
    assert_eq!(found.iter().filter(|(_, y)| *y < 2).count(), 8, "{found:?}");
    assert_eq!(found.iter().filter(|(_, y)| *y >= 2).count(), 2, "{found:?}");
}

/// A condition that reads the variable keeps it alive in the loop.
#[test]
fn a_variable_in_the_condition_of_a_loop_is_not_reset() {
    let system = load("#INTEGER_LENGTH# 2 int x, y = 0; { while x > 0 do y := y + 1; od; x := 0; }");
    let asked = ctl(&system, "AF y = 1");
    let merged = reduce(&system, &[asked], &[], DEAD, &Budget::unlimited());
    let after = merged.as_ref().map_or(&system, |merged| &merged.system);
    let turns =
        |system: &System| states(system).iter().filter(|state| state.processes[0].location.index() == 1).count();
    // In the body, x has three values and y four.
    assert_eq!((turns(&system), turns(after)), (12, 12));
}

/// What is assigned or received is not overwritten where the variable was dead before.
#[test]
fn a_definition_is_not_overwritten() {
    let text = "#INTEGER_LENGTH# 1 process P int x = 0; { x := 1; send(Q, x); } \
                process Q int y = 0, z = 0; { receive(P, y); z := y; label got; }";
    let system = load(text);
    let merged = reduced(&system, &[ctl(&system, "AG (label(got) -> z = 1)")], BOTH);
    let got = |state: &State| state.processes[1].location.index() >= 2;
    let values: HashSet<i64> = states(&merged.system).iter().filter(|state| got(state)).map(|s| s.globals[2]).collect();
    assert_eq!(values, HashSet::from([1]));
}

/// Both reductions together have no more states than each alone, on the thesis's programs.
#[test]
fn both_reductions_together_are_no_larger_than_each_alone() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/softver");
    for name in ["sort_3", "linked_list", "simple", "stop_and_wait"] {
        let text = std::fs::read_to_string(format!("{folder}/{name}.softver")).expect("it is there");
        let system = load(&text);
        let count = |reductions| {
            let reduced = reduce(&system, &system.properties, &[], reductions, &Budget::unlimited());
            states(reduced.as_ref().map_or(&system, |reduced| &reduced.system)).len()
        };
        let (none, paths, dead, both) = (states(&system).len(), count(PATHS), count(DEAD), count(BOTH));
        assert!(both <= paths && both <= dead && paths < none && dead <= none, "{name}: {none} {paths} {dead} {both}");
    }
}

/// The variables of fairness conditions are visible.
#[test]
fn variables_of_fairness_conditions_are_visible() {
    let system = load("#INTEGER_LENGTH# 1 int x = 0, y = 0; { while TRUE do x := 1; y := 1; y := 0; x := 0; od; }");
    let asked = [ctl(&system, "AF x = 1")];
    let condition: Expr = softver::expression(&system, "y = 1").expect("right");
    let without = reduce(&system, &asked, &[], PATHS, &Budget::unlimited()).expect("something to reduce");
    let with = reduce(&system, &asked, &[condition], PATHS, &Budget::unlimited());
    let with = with.map_or_else(|| stands_at(&system), |with| stands_at(&with.system));
    assert!(stands_at(&without.system).len() < with.len());
}

/// The values of a variable in the states after one step from the initial state.
fn values_after_one_step(system: &System, global: usize) -> HashSet<i64> {
    let interpreter = Interpreter::new(system);
    let starts = interpreter.initial_states().map(|start| start.expect("no fault"));
    let after = starts.flat_map(|start| interpreter.successors(&start));
    after.map(|(_, to)| to.state.expect("no fault").globals[global]).collect()
}

/// Paths are merged, so that `AX v = 1` holds initially and did not before: `X` is not preserved. Dead variables are reset in
/// steps that there are anyway, and `X` is preserved.
#[test]
fn next_is_preserved_by_dead_variables_and_not_by_paths() {
    let system = load("#INTEGER_LENGTH# 1 int x = 0, y = 0, v = 0; { x := 1; y := x; x := 0; v := 1; }");
    let asked = [ctl(&system, "AF v = 1")];
    assert_eq!(values_after_one_step(&system, 2), HashSet::from([0]));
    let merged = reduced(&system, &asked, PATHS);
    // `v := 1` is a breaking point, and one more step leads to it.
    assert_eq!(values_after_one_step(&merged.system, 2), HashSet::from([0]));
    assert_eq!(stands_at(&merged.system), [0, 3, 4]);
    let interpreter = Interpreter::new(&merged.system);
    let start = interpreter.initial_states().next().expect("a start").expect("no fault");
    let second = interpreter.successors(&start).remove(0).1.state.expect("no fault");
    let third = interpreter.successors(&second).remove(0).1.state.expect("no fault");
    // `AX AX v = 1` is true now; in the program it takes four steps.
    assert_eq!(third.globals[2], 1);
    let steps = |system: &System| {
        let interpreter = Interpreter::new(system);
        let mut state = interpreter.initial_states().next().expect("a start").expect("no fault");
        (0..)
            .take_while(|_| {
                let is_before = state.globals[2] == 0;
                state = interpreter.successors(&state).remove(0).1.state.expect("no fault");
                is_before
            })
            .count()
    };
    assert_eq!((steps(&system), steps(&merged.system)), (4, 2));
    let reset = reduce(&system, &asked, &[], DEAD, &Budget::unlimited());
    assert_eq!(steps(reset.as_ref().map_or(&system, |reset| &reset.system)), 4);
}

/// Before a value is received, a variable is dead only if it is so whatever is received.
#[test]
fn a_received_value_may_be_any() {
    let text = |other: &str| {
        format!(
            "#INTEGER_LENGTH# 1 process P int v = 0; {{ v := {{0, 1}}; send(Q, v); }} \
             process Q int y = 0, x = 0, z = 0; {{ x := {{0, 1}}; receive(P, y); if y = 0 then z := {other}; else z := 1; fi; \
             x := 0; label end; }}"
        )
    };
    let kept = |text: String| {
        let system = load(&text);
        let asked = ctl(&system, "AF (label(Q.end) && Q.z = 1)");
        let merged = reduce(&system, &[asked], &[], DEAD, &Budget::unlimited());
        let found = states(merged.as_ref().map_or(&system, |merged| &merged.system));
        let before = found.iter().filter(|state| state.processes[1].location.index() == 1);
        before.map(|state| state.globals[2]).collect::<HashSet<i64>>().len()
    };
    // Where one of the values leads to a use, both values of `x` are kept; where none does, one of them.
    assert_eq!((kept(text("x")), kept(text("0"))), (2, 1));
}
