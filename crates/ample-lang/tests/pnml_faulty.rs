//! Faulty files: whatever is cut off, changed or repeated in a net or a formula file, the reader answers, with messages
//! that lie in the text or with a well-formed system.

use ample_lang::{Diagnostic, pnml};
use ample_random::Random;

const PLAIN: &str = include_str!("pnml/plain.pnml");
const COLOURED: &str = include_str!("pnml/coloured.pnml");
const FORMULAS: &str = include_str!("pnml/formulas.xml");

fn lie_in_text(diagnostics: &[Diagnostic], text: &str) {
    assert!(!diagnostics.is_empty());
    for span in diagnostics.iter().filter_map(|diagnostic| diagnostic.span) {
        assert!(span.start <= span.end && span.end as usize <= text.len());
        assert!(text.is_char_boundary(span.start as usize), "{span:?}");
    }
}

fn read_net(text: &str) {
    match pnml::read("n.pnml", text) {
        Ok(net) => ample_model::check::check(&net.system).expect("a net that is read is a well-formed system"),
        Err(rejected) => lie_in_text(&rejected.diagnostics, text.trim_start_matches('\u{feff}')),
    }
}

/// The net that the formulas are about.
fn net() -> pnml::Unfolded {
    pnml::read("coloured.pnml", COLOURED).expect("the net is right")
}

fn read_formulas(net: &pnml::Unfolded, text: &str) {
    if let Err(rejected) = pnml::formulas(&net.system, &net.names, "f.xml", text) {
        lie_in_text(&rejected.diagnostics, text);
    }
}

/// The text cut off at every place.
fn prefixes(text: &str) -> impl Iterator<Item = &str> {
    (0..=text.len()).filter_map(|end| text.get(..end))
}

/// The text with something else at one place. The same seed gives the same texts.
fn changed(text: &str, seed: u64, count: usize) -> impl Iterator<Item = String> {
    let pieces = [
        "",
        "<",
        ">",
        "\"",
        "/",
        "&",
        "&#0;",
        "&lt;",
        "]]>",
        "<![CDATA[",
        "<!--",
        "-->",
        "<?",
        "é",
        "\0",
        "0",
        "-1",
        "99999999999999999999",
        "</subterm>",
        "<subterm>",
        "<page id='x'>",
        "</page>",
        "<all/>",
        "\u{2028}",
    ];
    let mut random = Random::new(seed);
    let boundary = |mut at: usize| {
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    (0..count).map(move |_| {
        let from = boundary(random.below(text.len()));
        let to = boundary((from + random.below(30)).min(text.len()));
        let to = to.max(from);
        let other = boundary(random.below(text.len()));
        let end = boundary((other + random.below(60)).min(text.len())).max(other);
        let piece = if random.one_in(3) { &text[other..end] } else { random.pick(&pieces) };
        format!("{}{piece}{}", &text[..from], &text[to..])
    })
}

#[test]
fn the_files_themselves_are_right() {
    assert!(pnml::read("plain.pnml", PLAIN).is_ok());
    let net = net();
    let properties = pnml::formulas(&net.system, &net.names, "formulas.xml", FORMULAS).expect("the formulas are right");
    assert_eq!(properties.len(), 4);
}

#[test]
fn files_that_are_cut_off_are_refused() {
    let net = net();
    prefixes(PLAIN).for_each(read_net);
    prefixes(COLOURED).for_each(read_net);
    prefixes(FORMULAS).for_each(|text| read_formulas(&net, text));
    assert!(pnml::read("n.pnml", &PLAIN[..PLAIN.len() / 2]).is_err());
}

#[test]
fn files_that_are_changed_are_answered() {
    let net = net();
    changed(PLAIN, 1, 3000).for_each(|text| read_net(&text));
    changed(COLOURED, 2, 3000).for_each(|text| read_net(&text));
    changed(FORMULAS, 3, 3000).for_each(|text| read_formulas(&net, &text));
}

#[test]
fn deep_nesting_is_refused() {
    let net = net();
    let deep = |name: &str, inside: &str| {
        let times = 100_000;
        format!("{}{inside}{}", format!("<{name}>").repeat(times), format!("</{name}>").repeat(times))
    };
    read_net(&deep("pnml", ""));
    read_net(&PLAIN.replace("<page id=\"g\">", &format!("<page id=\"g\">{}", deep("page", ""))));
    read_net(&COLOURED.replace("<all>", &format!("<add>{}</add><all>", deep("subterm", ""))));
    let formula = format!(
        "<property-set><property><id>d</id><formula>{}</formula></property></property-set>",
        deep("negation", "<true/>")
    );
    assert!(pnml::formulas(&net.system, &net.names, "f.xml", &formula).is_err());
    let nested = format!("{}true{}", "(".repeat(5000), ")".repeat(5000));
    assert!(pnml::expression(&net.system, &net.names, &nested).is_err());
}

#[test]
fn typed_formulas_of_any_kind_are_answered() {
    let net = net();
    let right = "AG (P + 2 * Q <= 3 -> E [\"P\" U fireable(go, \"stop\")]) & !deadlock | GF (P - 1 >= -2)";
    for text in prefixes(right).map(str::to_owned).chain(changed(right, 4, 5000)) {
        let answers = [
            pnml::expression(&net.system, &net.names, &text).err(),
            pnml::ltl(&net.system, &net.names, &text).err(),
            pnml::ctl(&net.system, &net.names, &text).err(),
        ];
        answers.iter().flatten().for_each(|rejected| lie_in_text(&rejected.diagnostics, &text));
    }
}
