//! Any text as a SoftVer program, as statements of one, and as a formula over a small one: it is refused with diagnostics
//! whose spans lie in the text, or becomes a well-formed system. `cargo fuzz run softver` (see docs/developing.md).
#![no_main]

use ample_lang::{Rejected, softver};
use libfuzzer_sys::fuzz_target;

const PROGRAM: &str = "process P int x, a[2]; enum {red, green} c; { label h; send(Q, x); } \
                       process Q int(2) y; boolean b; { receive(P, y); }";

fn lie_in_text(rejected: &Rejected) {
    assert!(!rejected.diagnostics.is_empty());
    for span in rejected.diagnostics.iter().filter_map(|d| d.span) {
        let source = &rejected.sources[span.source.index()];
        assert!(span.start <= span.end && span.end as usize <= source.text.len());
    }
}

fuzz_target!(|text: &str| {
    let statements = format!("#INTEGER_LENGTH# 2 int x, y = 0, a[2] = 0; boolean b = TRUE; {{ {text} }}");
    for text in [text, &statements] {
        match softver::read("fuzz.softver", text) {
            Err(rejected) => lie_in_text(&rejected),
            Ok(lowered) => {
                ample_model::check::check(&lowered.system).expect("a program is a well-formed system");
                ample_model::interpret::explore(&lowered.system, 50);
            }
        }
    }
    let program = softver::read("m.softver", PROGRAM).expect("the program is right");
    for rejected in [
        softver::ltl(&program.system, text).err(),
        softver::ctl(&program.system, text).err(),
        softver::expression(&program.system, text).err(),
    ] {
        rejected.iter().for_each(lie_in_text);
    }
});
