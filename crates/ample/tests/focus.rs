//! Which steps of a run are shown, and the states between them.

mod support;

use std::path::PathBuf;

use support::{Folder, ample, errors, model, text};

/// Three processes that take turns before an assertion fails.
fn turns(folder: &Folder) -> PathBuf {
    folder.file(
        "turns.pml",
        "byte x, y; chan c = [2] of { byte }; byte a[3];
active proctype P() { byte z; z = 1; x = 1; c!5; a[1] = 7 }
active proctype Q() { byte w; a[1] == 7; c?w; y = w }
active proctype R() { y == 5; x = 2; assert(x == 3) }",
    )
}

#[test]
fn whole_states_are_shown_after_each_step() {
    let folder = Folder::new("states");
    let file = turns(&folder);
    let shown = text(&ample(&["check", "--assertions", "--full-state"], &file));
    assert!(shown.contains("     0  initial state\n    P(0)"), "{shown}");
    // Each state has a line for each process, and so has the one at the end.
    assert_eq!(shown.matches("\n    R(2)  turns.pml:4").count(), 12, "{shown}");
    assert!(shown.contains("    channel c: [5]\n"), "{shown}");
    let alone = text(&ample(&["check", "--assertions"], &file));
    assert_eq!(alone.matches("\n    R(2)  turns.pml:4").count(), 1, "{alone}");
}

#[test]
fn some_processes_variables_and_steps_are_shown() {
    let folder = Folder::new("some");
    let file = turns(&folder);
    let check = |options: &[&str]| text(&ample(&[&["check", "--assertions"], options].concat(), &file));
    let only = check(&["--only-processes", "Q"]);
    assert!(only.contains("c?w") && !only.contains("x = 1"), "{only}");
    // What goes wrong is shown in any case.
    assert!(only.contains("assert(x == 3)") && only.contains("… 4 steps are not shown"), "{only}");
    for (variables, shown, hidden) in
        [("a[1]", "a[1] = 7", "x = 1"), ("c", "c!5", "a[1] = 7"), ("P(0):z,x", "z = 1", "y = w"), ("w", "c?w", "c!5")]
    {
        let only = check(&["--only-variables", variables]);
        assert!(only.contains(&format!("  {shown}")) && !only.contains(&format!("  {hidden} ")), "{variables}: {only}");
    }
    let only = check(&["--only-steps", "2..3", "--full-state", "--only-variables", "x"]);
    assert!(only.contains("     2  P(0)  turns.pml:2  x = 1") && !only.contains("initial state"), "{only}");
    assert!(only.contains("… 1 step is not shown") && only.contains("\n    x = 1\n"), "{only}");
    let only = check(&["--only-steps", "2"]);
    assert!(only.contains("turns.pml:2  x = 1") && !only.contains("turns.pml:2  z = 1"), "{only}");
}

#[test]
fn simulations_are_shown_in_the_same_way() {
    let folder = Folder::new("simulate");
    let file = turns(&folder);
    let run = text(&ample(&["simulate", "--seed", "3", "--only-processes", "R"], &file));
    assert!(run.contains("assert(x == 3)") && !run.contains("c!5") && run.contains("are not shown"), "{run}");
    let trace = folder.0.join("trace.json");
    let trace = trace.to_str().unwrap();
    ample(&["check", "--assertions", "--trace", trace], &file);
    let replayed = text(&ample(&["simulate", "--trace", trace, "--full-state", "--only-variables", "y"], &file));
    assert!(replayed.contains("y = w") && replayed.contains("\n    y = 5\n"), "{replayed}");
}

/// The states of a branch begin where it leaves its run.
#[test]
fn branches_of_formulas_have_states_too() {
    let folder = Folder::new("branches");
    let file = folder.file("b.pml", "byte x; active proctype P() { do :: x < 2 -> x++ :: x == 2 -> x = 0 od }");
    let shown = text(&ample(&["check", "--full-state", "--ctl", "AG (x == 1 -> EX (x == 0))"], &file));
    assert!(shown.contains("initial state") && shown.contains("x = 1"), "{shown}");
}

/// Engines may find one of two dead markings: all forks in left hands, or all in right ones.
#[test]
fn places_of_nets_are_variables() {
    let net = model("petri/philosophers_4.pnml");
    let shown = text(&ample(&["check", "--deadlock", "--full-state", "--only-variables", "HasL_0,HasR_0"], &net));
    assert!(shown.contains("    HasL_0 = 1") || shown.contains("    HasR_0 = 1"), "{shown}");
    assert!(!shown.contains("\n    HasL_1 = 1"), "{shown}");
}

#[test]
fn what_does_not_exist_is_refused() {
    let folder = Folder::new("refused");
    let file = turns(&folder);
    for (options, why) in [
        (["--only-processes", "S"], "there is no process `S`; there are P, Q, R"),
        (["--only-variables", "v"], "there is no variable or channel `v`"),
        (["--only-steps", "9..3"], "expected steps such as"),
    ] {
        for command in ["check", "simulate"] {
            let output = ample(&[&[command], &options[..]].concat(), &file);
            assert_eq!(output.status.code(), Some(2));
            assert!(errors(&output).contains(why), "{}", errors(&output));
        }
    }
}
