//! Any text as an SMV model, and as a formula over a small one: it is refused with diagnostics whose spans lie in the text,
//! or becomes a well-formed system. `cargo fuzz run smv` (see docs/developing.md).
#![no_main]

use ample_lang::{Rejected, smv};
use ample_model::Budget;
use libfuzzer_sys::fuzz_target;

const MODEL: &str = "MODULE main VAR x : boolean; n : 0..3; a : array 0..1 of {p, q};";

fn lie_in_text(rejected: &Rejected) {
    assert!(!rejected.diagnostics.is_empty());
    for span in rejected.diagnostics.iter().filter_map(|d| d.span) {
        let source = &rejected.sources[span.source.index()];
        assert!(span.start <= span.end && span.end as usize <= source.text.len());
    }
}

fuzz_target!(|text: &str| {
    for text in [text.to_owned(), format!("{MODEL} {text}")] {
        match smv::read("fuzz.smv", &text) {
            Err(rejected) => lie_in_text(&rejected),
            Ok(lowered) => {
                ample_model::check::check(&lowered.system).expect("a model is a well-formed system");
                ample_model::interpret::explore(&lowered.system, 50);
            }
        }
    }
    let model = smv::read("m.smv", MODEL).expect("the model is right");
    let budget = Budget::unlimited();
    for rejected in [
        smv::ltl_within(&model.system, text, &budget).err(),
        smv::ctl_within(&model.system, text, &budget).err(),
        smv::expression_within(&model.system, text, &budget).err(),
    ] {
        rejected.iter().for_each(lie_in_text);
    }
});
