//! Any text as a net, and as formulas about a small one: it is refused with diagnostics whose spans lie in the text, or
//! becomes a well-formed system. `cargo fuzz run pnml` (see docs/developing.md).
#![no_main]

use ample_lang::{Rejected, pnml};
use libfuzzer_sys::fuzz_target;

const NET: &str = r#"<pnml><net id="n" type="ptnet"><page id="g"><place id="p"/><transition id="t"/>
    <arc id="a" source="t" target="p"/></page></net></pnml>"#;

fn lie_in_text(rejected: &Rejected) {
    assert!(!rejected.diagnostics.is_empty());
    for span in rejected.diagnostics.iter().filter_map(|d| d.span) {
        let source = &rejected.sources[span.source.index()];
        assert!(span.start <= span.end && span.end as usize <= source.text.len());
    }
}

fuzz_target!(|text: &str| {
    match pnml::read("fuzz.pnml", text) {
        Err(rejected) => lie_in_text(&rejected),
        Ok(net) => {
            ample_model::check::check(&net.system).expect("a net is a well-formed system");
            ample_model::interpret::explore(&net.system, 50);
        }
    }
    let net = pnml::read("n.pnml", NET).expect("the net is right");
    let formulas = pnml::formulas(&net.system, &net.names, "fuzz.xml", text).map(|_| ());
    let typed = pnml::ltl(&net.system, &net.names, text).map(|_| ());
    let branching = pnml::ctl(&net.system, &net.names, text).map(|_| ());
    for rejected in [formulas, typed, branching].into_iter().filter_map(Result::err) {
        lie_in_text(&rejected);
    }
});
