//! Any text: it is refused with a diagnostic whose span lies in the text, or becomes a well-formed system
//! whose first states can be explored. `cargo fuzz run promela` (see docs/developing.md).
#![no_main]

use ample_lang::promela;
use libfuzzer_sys::fuzz_target;

/// Nothing can be included.
struct Nothing;

impl promela::preprocess::Loader for Nothing {
    fn load(&mut self, path: &str, _: Option<&str>) -> Result<(String, String), String> {
        Err(format!("{path}: no such file"))
    }
}

fuzz_target!(|text: &str| {
    match promela::read("fuzz.pml", text.to_string(), &mut Nothing, &[]) {
        Err(rejected) => {
            assert!(!rejected.diagnostics.is_empty());
            for span in rejected.diagnostics.iter().filter_map(|d| d.span) {
                let source = &rejected.sources[span.source.index()];
                assert!(span.start <= span.end && span.end as usize <= source.text.len());
            }
        }
        Ok(lowered) => {
            ample_model::check::check(&lowered.system).expect("a lowered model is well-formed");
            ample_model::interpret::explore(&lowered.system, 50);
        }
    }
});
