//! Any text as a circuit: it is refused with diagnostics whose spans lie in the text, or becomes a well-formed system that can be
//! written and read again. `cargo fuzz run blif` (see docs/developing.md).
#![no_main]

use ample_budget::Budget;
use ample_lang::circuit::{Format, read};
use ample_lang::export::{aig::Aig, aiger};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &str| {
    let text = data.to_owned();
    match read(Format::Blif, "fuzz", &text) {
        Err(rejected) => {
            assert!(!rejected.diagnostics.is_empty());
            for span in rejected.diagnostics.iter().filter_map(|diagnostic| diagnostic.span) {
                let source = &rejected.sources[span.source.index()];
                assert!(span.start <= span.end && span.end as usize <= source.text.len());
            }
        }
        Ok(circuit) => {
            ample_model::check::check(&circuit.system).expect("a circuit is a well-formed system");
            ample_model::interpret::explore(&circuit.system, 20);
            let aig = Aig::of(&circuit.system, &[], &Budget::unlimited()).expect("a circuit");
            read(Format::Aiger, "again", &aiger::text(&aig)).expect("what is written can be read");
        }
    }
});
