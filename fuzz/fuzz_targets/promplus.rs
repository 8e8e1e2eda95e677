//! Any text as a PROM+ program, as statements of one, and as a formula over a small one: it is refused with diagnostics whose
//! spans lie in the text, or becomes a well-formed system. `cargo fuzz run promplus` (see docs/developing.md).
#![no_main]

use ample_lang::Rejected;
use ample_lang::promela::preprocess::MemoryLoader;
use ample_lang::promplus::{self, Widths};
use ample_model::Budget;
use libfuzzer_sys::fuzz_target;

const PROGRAM: &str = "typedef Node { byte v; Node *next } byte x, *p, *q; Node *n; bool *b[2]; \
                       active [1] proctype P() { byte y; end: p = new byte; *p = 1; n = new Node; run Q(p, n); reset p; } \
                       active [0] proctype Q(byte *r; Node *m) { *r = 2; m.next = m; }";

fn lie_in_text(rejected: &Rejected) {
    assert!(!rejected.diagnostics.is_empty());
    for span in rejected.diagnostics.iter().filter_map(|d| d.span) {
        let source = &rejected.sources[span.source.index()];
        assert!(span.start <= span.end && span.end as usize <= source.text.len());
    }
}

fuzz_target!(|text: &str| {
    let budget = Budget::unlimited();
    let read = |text: &str| {
        let loader = &mut MemoryLoader::default();
        promplus::read_within("fuzz.promp", text.into(), loader, &[], Widths { pid_bits: 2, ref_bits: 3 }, &budget)
    };
    let statements = format!("{PROGRAM} active [1] proctype R() {{ byte z, *s; Node *o; {text} }}");
    for text in [text, &statements] {
        match read(text) {
            Err(rejected) => lie_in_text(&rejected),
            Ok(lowered) => {
                ample_model::check::check(&lowered.system).expect("a program is a well-formed system");
                ample_model::interpret::explore(&lowered.system, 50);
            }
        }
    }
    let system = read(PROGRAM).expect("the program is right").system;
    for read in [promplus::ltl_within, promplus::ctl_within] {
        if let Err(rejected) = read(&system, text, &budget) {
            lie_in_text(&rejected);
        }
    }
    if let Err(rejected) = promplus::expression_within(&system, text, &budget) {
        lie_in_text(&rejected);
    }
});
