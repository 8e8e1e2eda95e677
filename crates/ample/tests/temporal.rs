//! Properties of time, by all algorithms, against a naive evaluation on the explicit graph: random systems with random
//! formulas, acceptance, progress and random never claims, under fairness and justice.
//!
//! `AMPLE_SEED=n` looks at one system only. `AMPLE_ALLOW_UNKNOWN=1` lets answers that say "not decided" pass, and
//! `AMPLE_ALLOW_DEAD_ENDS=1` counterexamples that violate their formula however they go on, but do not go on.
//! `AMPLE_PAIRS=n` is the number of pairs of a system and a formula in the long run, from the system `AMPLE_FROM=n` on:
//! `cargo test -p ample --test temporal -- --ignored --nocapture`.

mod temporal {
    pub mod branching;
    pub mod claim;
    pub mod emptiness;
    pub mod evidence;
    pub mod fair;
    pub mod faults;
    pub mod generate;
    pub mod graph;
    pub mod linear;
    pub mod naive;
    pub mod promela;
    pub mod suite;
    pub mod tree;
    pub mod word;

    mod selfcheck;
}

use temporal::suite::{Suite, number_from};

#[test]
fn every_algorithm_agrees_with_the_naive_one() {
    let mut suite = Suite::default();
    match number_from("AMPLE_SEED") {
        Some(seed) => {
            suite.thorough = true;
            suite.examine(seed);
        }
        None => (0..300).for_each(|seed| suite.examine(seed)),
    }
    suite.finish();
}

/// With the flags of strong fairness in all states, reachable or not, its diagrams were too large for the time limit.
#[test]
fn strong_fairness_as_safety_is_decided_in_time() {
    let mut suite = Suite::default();
    suite.thorough = true;
    suite.examine(1_003_966);
    suite.finish();
}

#[test]
fn synchronous_systems_have_the_verdicts_of_the_naive_evaluation() {
    let mut suite = Suite::default();
    match number_from("AMPLE_SEED") {
        Some(seed) => suite.examine_jointly(seed),
        None => (0..400).for_each(|seed| suite.examine_jointly(seed)),
    }
    assert!(suite.pairs() > 1_000 || number_from("AMPLE_SEED").is_some(), "{} pairs", suite.pairs());
    suite.finish();
}

#[test]
#[ignore = "takes minutes"]
fn every_algorithm_agrees_with_the_naive_one_on_many_systems() {
    let pairs = number_from("AMPLE_PAIRS").unwrap_or(50_000);
    let mut suite = Suite::default();
    suite.thorough = true;
    let mut seed = number_from("AMPLE_FROM").unwrap_or(1_000_000);
    while suite.pairs() < pairs {
        suite.examine(seed);
        seed += 1;
    }
    suite.finish();
}
