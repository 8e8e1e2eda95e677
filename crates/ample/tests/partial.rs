//! Partial-order reduction against a search that leaves nothing out: random models, all settings, the same answers.
//!
//! `AMPLE_SEED=n` looks at one model only, in all settings. The long run, which is
//! `cargo test -p ample --release --test partial -- --ignored --nocapture`, looks at `AMPLE_MODELS` models in all
//! settings, beginning with the seed `AMPLE_SEED`. A model that fails is made as small as possible before it is shown.

mod partial {
    pub mod generate;
    pub mod known;
    pub mod model;
    pub mod oracle;
    pub mod settings;
    pub mod suite;
}
mod support;

use partial::known;
use partial::suite::{Suite, number_from};

#[test]
fn what_is_left_out_changes_no_answer() {
    let mut suite = Suite::default();
    match number_from("AMPLE_SEED") {
        Some(seed) => suite.examine(seed),
        None => {
            suite.is_quick = true;
            (0..400).for_each(|seed| suite.examine(seed));
        }
    }
    suite.finish();
}

/// Models that were wrong once, and such as random ones seldom are.
#[test]
fn what_is_left_out_changes_no_answer_for_known_models() {
    let mut text = String::new();
    for (name, model) in known::MODELS {
        for complaint in Suite::confront(model, "true") {
            text.push_str(&format!("{name}: {complaint}\n"));
        }
    }
    assert!(text.is_empty(), "{text}");
}

#[test]
#[ignore = "takes minutes"]
fn what_is_left_out_changes_no_answer_for_many_models() {
    let models = number_from("AMPLE_MODELS").unwrap_or(5_000);
    let mut seed = number_from("AMPLE_SEED").unwrap_or(1_000_000);
    let mut suite = Suite::default();
    while suite.models() < models && suite.failed() < 1_000 {
        suite.examine(seed);
        seed += 1;
        if seed.is_multiple_of(1_000) {
            println!("seed {seed}: {} models, {} failures", suite.models(), suite.failed());
        }
    }
    suite.finish();
}
