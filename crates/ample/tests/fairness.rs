//! Partial-order reduction under weak fairness, against a search that leaves nothing out: the example of P. Godefroid's
//! thesis (§7.4), and random models of processes that wait for what several others do, with random formulas.
//!
//! `AMPLE_SEED=n` looks at one model only. `AMPLE_MODELS=n` is the number of models in the long run, from the seed
//! `AMPLE_FROM=n` on: `cargo test -p ample --test fairness -- --ignored --nocapture`.

mod fairness {
    pub mod generate;
    pub mod suite;
}

use ample::{Choice, Explicit, Fairness, Outcome, PartialOrder};
use fairness::suite::{Suite, check, load, number_from};

#[test]
fn what_is_left_out_changes_no_verdict_about_fair_runs() {
    let mut suite = Suite::default();
    match number_from("AMPLE_SEED") {
        Some(seed) => suite.examine(seed),
        None => (0..1_500).for_each(|seed| suite.examine(seed)),
    }
    suite.finish();
}

#[test]
#[ignore = "takes minutes"]
fn what_is_left_out_changes_no_verdict_about_fair_runs_of_many_models() {
    let first = number_from("AMPLE_FROM").unwrap_or(1_000_000);
    let mut suite = Suite::default();
    (first..first + number_from("AMPLE_MODELS").unwrap_or(20_000)).for_each(|seed| suite.examine(seed));
    suite.finish();
}

/// The verdict on the only formula of the model, and the number of states.
fn verdict(text: &str, partial_order: PartialOrder, engine: &'static str) -> (bool, u64) {
    let (engine, engines) = (Choice::Named(engine), Explicit::default().into());
    let report = check(&load(text), engine, engines, partial_order, Fairness::Weak, &[]);
    let holds = match &*report.answers[0].outcome {
        Outcome::Holds(_) => true,
        Outcome::Violated(_) => false,
        Outcome::Unknown(why) => panic!("{why}\n{text}"),
    };
    (holds, report.statistics.states)
}

/// The same verdict with and without a reduction.
fn assert_verdict(text: &str, expected: bool) {
    assert_eq!(verdict(text, PartialOrder::None, "explicit").0, expected, "explicit, all orders\n{text}");
    assert_eq!(verdict(text, PartialOrder::Persistent, "explicit").0, expected, "explicit, reduced\n{text}");
    for order in [
        PartialOrder::None,
        PartialOrder::Exploration,
        PartialOrder::ExplorationNew,
        PartialOrder::ExplorationUnexpanded,
        PartialOrder::Static,
    ] {
        assert_eq!(verdict(text, order, "symbolic").0, expected, "symbolic, {order:?}\n{text}");
    }
}

/// Two processes that have nothing to do with each other: all steps of one and then all of the other represent every finite
/// order of their steps, but a fair run has infinitely many of both.
#[test]
fn both_of_two_independent_processes_move_for_ever() {
    let text = |formula: &str| {
        format!(
            "bool x, y;
            active proctype P() {{ do :: x = true; x = false od }}
            active proctype Q() {{ do :: y = true; y = false od }}
            ltl {{ {formula} }}"
        )
    };
    assert_verdict(&text("!([]<> x && []<> y)"), false);
    assert_verdict(&text("[]<> x && []<> y"), true);
    assert_verdict(&text("[]<> (x || y)"), true);
    assert_verdict(&text("<>[] !(x && y)"), false);
    assert_verdict(&text("<>[] (x || y)"), false);
}

/// The same with steps that the formula does not look at, so that most of the orders are left out.
#[test]
fn independent_processes_are_reduced() {
    let text = "byte n[4]; bool done;
        active [4] proctype P() { n[_pid] = 1; n[_pid] = 2; n[_pid] = 3; n[_pid] = 0 }
        active proctype Q() { do :: done = !done od }
        ltl { []<> done }";
    let (holds, all) = verdict(text, PartialOrder::None, "explicit");
    let (same, reduced) = verdict(text, PartialOrder::Persistent, "explicit");
    assert!(holds && same);
    assert!(10 * reduced < all, "{reduced} states of {all}");
}

/// A process is disabled only while two others stand in the right places at once: that they never do so is one of the
/// orders of independent steps, and so is that they do so again and again.
#[test]
fn whether_a_process_is_disabled_depends_on_the_order_of_independent_steps() {
    let text = "bool x, y, done;
        active proctype P() { do :: x = true; x = false od }
        active proctype Q() { do :: y = true; y = false od }
        active proctype R() { (!x || !y) -> done = true }
        ltl { <> done }";
    assert_verdict(text, false);
    // There are states after the last change, so that all orders are not explored where cycles are closed.
    let text = "bool x, y, done;
        active proctype P() { do :: x = true; x = false; skip od }
        active proctype Q() { do :: y = true; y = false; skip od }
        active proctype R() { (!x || !y) -> done = true }
        ltl { <> done }";
    assert_verdict(text, false);
    let text = "bool x, y, done;
        active proctype P() { do :: x = true; x = false; skip od }
        active proctype Q() { do :: y = true; y = false; skip od }
        active proctype R() { if :: !x :: !y fi; done = true }
        ltl { <> done }";
    assert_verdict(text, false);
    let text = "byte n = 1; bool done;
        active proctype P() { do :: n++; n--; skip od }
        active proctype Q() { do :: atomic { n > 0 -> n-- }; n++; skip od }
        active proctype R() { n > 0 -> done = true }
        ltl { <> done }";
    assert_verdict(text, false);
}

/// A step that nobody would take otherwise must not enable a process that then waits unfairly.
#[test]
fn a_step_that_enables_another_process_is_not_taken_for_nothing() {
    let text = "bool go, done, b;
        active proctype P() { do :: b = !b :: go = true; break od }
        active proctype R() { go -> done = true }
        active proctype S() { bool c; do :: c = !c od }
        ltl { <> done }";
    assert_verdict(text, false);
    // Nor if it leaves its process where it is.
    let text = "bool x, y, b, done;
        active proctype P() { do :: x = true :: b = !b od }
        active proctype Q() { do :: y = false od }
        active proctype R() { if :: x :: y fi; done = true }
        ltl { <> done || <>[] b }";
    assert_verdict(text, false);
}

#[test]
fn a_handshake_is_a_step_of_both() {
    let text = "chan c = [0] of { bit }; bool done; byte n;
        active proctype P() { do :: c!0 :: c!1 od }
        active proctype Q() { do :: c?0 :: c?1 -> n = 1 - n od }
        active proctype R() { c?1; done = true }
        active proctype S() { byte i; do :: i = 1 - i od }
        ltl { <> done }";
    assert_verdict(text, false);
}
