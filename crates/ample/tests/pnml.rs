//! Petri nets through the library: state counts of the contest's nets, coloured ones and their unfolded twins, and the
//! contest's questions. The nets are read from a folder beside the project and skipped where there is none.

use std::path::{Path, PathBuf};

use ample::{CheckOptions, Choice, Examination, LoadOptions, Verdict};

/// Larger ones take too long for a test.
const MOST_STATES: u64 = 10_000;

fn corpus() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpora");
    let is_there = folder.join("petri.csv").is_file();
    if !is_there {
        eprintln!("skipped: there is no {}", folder.display());
    }
    is_there.then_some(folder)
}

fn explicit() -> CheckOptions {
    CheckOptions { engine: Choice::Named("explicit"), ..CheckOptions::default() }
}

#[test]
fn state_counts_are_those_of_the_contest() {
    let Some(folder) = corpus() else { return };
    let table = std::fs::read_to_string(folder.join("petri.csv")).expect("the table can be read");
    for line in table.lines().skip(1) {
        let columns: Vec<&str> = line.split(',').collect();
        let path = folder.join("petri").join(columns[0]).join("model.pnml");
        let (Ok(states), true) = (columns[1].parse::<u64>(), path.is_file()) else { continue };
        if states > MOST_STATES {
            continue;
        }
        let loaded = ample::load(&path, &LoadOptions::default()).expect("the net is right");
        let report = ample::states(&loaded.system, &explicit());
        assert_eq!(report.statistics.states, states, "{}", columns[0]);
    }
}

const MUTEX: &str = r#"<pnml><net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="g">
    <place id="idle"><initialMarking><text>2</text></initialMarking></place>
    <place id="free"><initialMarking><text>1</text></initialMarking></place><place id="busy"/>
    <transition id="enter"/><transition id="leave"/>
    <arc id="a" source="idle" target="enter"/><arc id="b" source="free" target="enter"/>
    <arc id="c" source="enter" target="busy"/><arc id="d" source="busy" target="leave"/>
    <arc id="e" source="leave" target="free"/><arc id="f" source="leave" target="idle"/>
    </page></net></pnml>"#;

#[test]
fn examinations_have_the_answers_of_the_contest() {
    let loaded = ample::load_text("mutex.pnml", MUTEX.into(), &LoadOptions::default()).expect("the net is right");
    for (examination, verdict) in [
        (Examination::OneSafe, Verdict::Violated),
        (Examination::StableMarking, Verdict::Violated),
        (Examination::QuasiLiveness, Verdict::Holds),
        (Examination::Liveness, Verdict::Holds),
        (Examination::ReachabilityDeadlock, Verdict::Violated),
    ] {
        let property = loaded.examination(examination).expect("it is a net");
        let options = CheckOptions { properties: Some(vec![property]), ..explicit() };
        let report = ample::check(&loaded.system, &options);
        assert_eq!(report.answers[0].verdict(), verdict, "{}", examination.name());
    }
}

/// Three processes in a circle; `t` moves a token of a colour to the next one.
const COLOURS: &str = r#"<declaration><structure><declarations><namedsort id="s" name="s"><cyclicenumeration>
    <feconstant id="a" name="a"/><feconstant id="b" name="b"/><feconstant id="c" name="c"/></cyclicenumeration></namedsort>
    <variabledecl id="x" name="x"><usersort declaration="s"/></variabledecl></declarations></structure></declaration>"#;

/// A net with the sort `s` of three colours: places with their markings, transitions, arcs with their terms.
fn coloured(places: &[(&str, &str)], transitions: &[&str], arcs: &[(&str, &str, &str)]) -> String {
    let mut body = COLOURS.to_owned();
    for (id, marking) in places {
        let sort = r#"<type><structure><usersort declaration="s"/></structure></type>"#;
        let marking = match marking.is_empty() {
            true => String::new(),
            false => format!("<hlinitialMarking><structure>{marking}</structure></hlinitialMarking>"),
        };
        body += &format!("<place id=\"{id}\">{sort}{marking}</place>");
    }
    transitions.iter().for_each(|id| body += &format!("<transition id=\"{id}\"/>"));
    for (number, (source, target, label)) in arcs.iter().enumerate() {
        let label = format!("<hlinscription><structure>{label}</structure></hlinscription>");
        body += &format!("<arc id=\"arc{number}\" source=\"{source}\" target=\"{target}\">{label}</arc>");
    }
    let kind = "http://www.pnml.org/version-2009/grammar/symmetricnet";
    format!("<pnml><net id=\"n\" type=\"{kind}\">{body}</net></pnml>")
}

const X: &str = r#"<variable refvariable="x"/>"#;
const NEXT: &str = r#"<successor><subterm><variable refvariable="x"/></subterm></successor>"#;
const A: &str = r#"<useroperator declaration="a"/>"#;
const B: &str = r#"<useroperator declaration="b"/>"#;
const ALL: &str = r#"<all><usersort declaration="s"/></all>"#;

/// The contest counts all tokens of a coloured place, whatever their colour; a coloured transition is live if it is
/// under some binding.
#[test]
fn examinations_of_coloured_nets_are_about_places_and_transitions_of_the_file() {
    use Examination::{Liveness, OneSafe, QuasiLiveness, StableMarking};
    use Verdict::{Holds, Violated};
    let circle: &[_] = &[("p", "t", X), ("t", "p", NEXT)];
    let nets = [
        // One token of changing colour: safe and stable.
        ("one", coloured(&[("p", A)], &["t"], circle), [Holds, Holds, Holds, Holds]),
        // Three tokens, one of each colour at the start; as many for ever.
        ("three", coloured(&[("p", ALL)], &["t"], circle), [Violated, Holds, Holds, Holds]),
        // Each colour moves once; no place is stable. Never more than one of a colour.
        (
            "move",
            coloured(&[("p", ALL), ("q", "")], &["t"], &[("p", "t", X), ("t", "q", X)]),
            [Violated, Violated, Holds, Violated],
        ),
        // `u` is never enabled; `q` is empty for ever.
        (
            "dead",
            coloured(&[("p", A), ("q", "")], &["t", "u"], &[("p", "t", X), ("t", "p", NEXT), ("q", "u", X)]),
            [Holds, Holds, Violated, Violated],
        ),
        // `t` is enabled under one binding of three, for ever.
        ("some", coloured(&[("p", B)], &["t"], &[("p", "t", X), ("t", "p", X)]), [Holds, Holds, Holds, Holds]),
    ];
    for (name, text, verdicts) in nets {
        let loaded = ample::load_text("coloured.pnml", text, &LoadOptions::default()).expect("the net is right");
        for (examination, verdict) in [OneSafe, StableMarking, QuasiLiveness, Liveness].into_iter().zip(verdicts) {
            for engine in [Choice::Auto, Choice::Named("explicit"), Choice::Named("symbolic")] {
                let property = loaded.examination(examination).expect("it is a net");
                let options = CheckOptions { engine, properties: Some(vec![property]), ..CheckOptions::default() };
                let report = ample::check(&loaded.system, &options);
                let found = report.answers[0].verdict();
                assert_eq!(found, verdict, "{name}: {} by {engine:?}", examination.name());
            }
        }
    }
}

#[test]
fn examinations_of_coloured_nets_have_the_answers_of_the_contest() {
    let Some(folder) = corpus() else { return };
    let table = std::fs::read_to_string(folder.join("petri-verdicts.csv")).expect("the table can be read");
    // Small ones: the others take too long for a test.
    let small = ["DatabaseWithMutex-COL-02", "PhilosophersDyn-COL-03", "SafeBus-COL-03", "Sudoku-COL-AN01"];
    for line in table.lines().skip(1) {
        let columns: Vec<&str> = line.split(',').collect();
        let examination = Examination::ALL.into_iter().find(|one| one.name() == columns[1]);
        let (Some(examination), true) = (examination, small.contains(&columns[0])) else { continue };
        let path = folder.join("petri").join(columns[0]).join("model.pnml");
        let loaded = ample::load(&path, &LoadOptions::default()).expect("the net is right");
        let property = loaded.examination(examination).expect("it is a net");
        let options = CheckOptions { properties: Some(vec![property]), ..CheckOptions::default() };
        let report = ample::check(&loaded.system, &options);
        let expected = if columns[3] == "TRUE" { Verdict::Holds } else { Verdict::Violated };
        assert_eq!(report.answers[0].verdict(), expected, "{line}");
    }
}

#[test]
fn typed_formulas_are_checked() {
    let loaded = ample::load_text("mutex", MUTEX.into(), &LoadOptions::default()).expect("it looks like a net");
    for (formula, verdict) in [
        ("AG busy <= 1", Verdict::Holds),
        ("EF (busy & free)", Verdict::Violated),
        ("AG EF fireable(enter)", Verdict::Holds),
        ("AG (busy + free = 1)", Verdict::Holds),
    ] {
        let question = ample::Question::Ctl(loaded.ctl(formula).expect("the formula is right"));
        let property = ample::Property { name: "f".into(), question, text: formula.into(), span: None };
        let options = CheckOptions { properties: Some(vec![property]), ..explicit() };
        let report = ample::check(&loaded.system, &options);
        assert_eq!(report.answers[0].verdict(), verdict, "{formula}");
    }
}

/// A file of its own for a test.
fn temporary(name: &str, bytes: &[u8]) -> PathBuf {
    let path = std::env::temp_dir().join(format!("ample-pnml-{}-{name}", std::process::id()));
    std::fs::write(&path, bytes).expect("it can be written");
    path
}

#[test]
fn nets_and_formulas_in_utf_16_are_read() {
    let net = format!("<?xml version=\"1.0\" encoding=\"UTF-16\"?>{}", MUTEX.replace("busy", "tätig"));
    let formulas = "<?xml version=\"1.0\" encoding=\"UTF-16\"?><property-set><property><id>é</id><formula><place-bound>\
        <place>tätig</place></place-bound></formula></property></property-set>";
    let little = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let big = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
    type Encode<'a> = &'a dyn Fn(&str) -> Vec<u8>;
    let encodings: [(&str, Encode<'_>); 4] = [
        ("little", &|text| [b"\xff\xfe".as_slice(), &little(text)].concat()),
        ("big", &|text| [b"\xfe\xff".as_slice(), &big(text)].concat()),
        ("little-without-mark", &|text| little(text)),
        ("big-without-mark", &|text| big(text)),
    ];
    for (name, encode) in encodings {
        let path = temporary(&format!("{name}.pnml"), &encode(&net));
        let list = temporary(&format!("{name}.xml"), &encode(formulas));
        let loaded = ample::load(&path, &LoadOptions::default()).expect(name);
        let text = ample::read_text(&list, &LoadOptions::default()).expect(name);
        let properties = loaded.formulas("f.xml", &text).expect(name);
        assert_eq!(properties[0].name, "é", "{name}");
        let report = ample::check(&loaded.system, &CheckOptions { properties: Some(properties), ..explicit() });
        assert_eq!(report.answers[0].value, Some(1), "{name}");
        [path, list].iter().for_each(|path| std::fs::remove_file(path).expect("it is there"));
    }
}

/// Ten readers and many writers: a net with thousands of transitions and few markings. No proof about it may take longer
/// than a look at them all.
fn readers_and_writers(writers: usize) -> String {
    let mut body = "<place id=\"permits\"><initialMarking><text>10</text></initialMarking></place>".to_owned();
    for (kind, count, needs) in [("reader", 10, 1), ("writer", writers, 10)] {
        for number in 0..count {
            let weight = format!("<inscription><text>{needs}</text></inscription>");
            body += &format!(
                "<place id=\"{kind}{number}\"><initialMarking><text>1</text></initialMarking></place>\
                 <place id=\"{kind}-busy{number}\"/><transition id=\"{kind}-begins{number}\"/>\
                 <transition id=\"{kind}-ends{number}\"/>\
                 <arc id=\"a-{kind}{number}\" source=\"{kind}{number}\" target=\"{kind}-begins{number}\"/>\
                 <arc id=\"b-{kind}{number}\" source=\"permits\" target=\"{kind}-begins{number}\">{weight}</arc>\
                 <arc id=\"c-{kind}{number}\" source=\"{kind}-begins{number}\" target=\"{kind}-busy{number}\"/>\
                 <arc id=\"d-{kind}{number}\" source=\"{kind}-busy{number}\" target=\"{kind}-ends{number}\"/>\
                 <arc id=\"e-{kind}{number}\" source=\"{kind}-ends{number}\" target=\"{kind}{number}\"/>\
                 <arc id=\"f-{kind}{number}\" source=\"{kind}-ends{number}\" target=\"permits\">{weight}</arc>"
            );
        }
    }
    let kind = "http://www.pnml.org/version-2009/grammar/ptnet";
    format!("<pnml><net id=\"n\" type=\"{kind}\"><page id=\"g\">{body}</page></net></pnml>")
}

#[test]
fn a_wide_net_with_few_markings_is_checked_about_as_fast_as_it_is_counted() {
    let text = readers_and_writers(1000);
    let loaded = ample::load_text("rw.pnml", text, &LoadOptions::default()).expect("the net is right");
    let begun = std::time::Instant::now();
    let counted = ample::states(&loaded.system, &explicit());
    let counting = begun.elapsed();
    assert_eq!(counted.statistics.states, 1024 + 1000);
    let properties = vec![
        ample::Property::deadlock(),
        loaded.examination(Examination::Liveness).expect("it is a net"),
        loaded.examination(Examination::QuasiLiveness).expect("it is a net"),
    ];
    for engine in [Choice::Auto, Choice::Named("explicit")] {
        let begun = std::time::Instant::now();
        let options = CheckOptions { engine, properties: Some(properties.clone()), ..CheckOptions::default() };
        let report = ample::check(&loaded.system, &options);
        for answer in &report.answers {
            assert_eq!(answer.verdict(), Verdict::Holds, "{} by {engine:?}", answer.property);
        }
        // Two thousand formulas are evaluated besides, on a machine that does other things, too.
        let most = 60 * counting + std::time::Duration::from_secs(20);
        assert!(begun.elapsed() < most, "{engine:?}: {:?}, and counting took {counting:?}", begun.elapsed());
    }
}

/// What is read, unfolded and written out ends by its budget, and says so.
#[test]
fn limits_hold_before_the_first_marking_is_looked_at() {
    use std::time::{Duration, Instant};
    let limited = |time: u64| LoadOptions {
        budget: ample::Budget::unlimited().with_time(Duration::from_millis(time)),
        ..LoadOptions::default()
    };
    let wide = readers_and_writers(40_000);
    let begun = Instant::now();
    let error = ample::load_text("rw.pnml", wide, &limited(5)).expect_err("there is no time for that");
    assert!(matches!(error, ample::LoadError::Interrupted { .. }), "{error}");
    assert_eq!(error.to_string(), "rw.pnml: the time limit was reached while it was being read");
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    let loaded = ample::load_text("mutex.pnml", MUTEX.into(), &LoadOptions::default()).expect("the net is right");
    let property = "<property><id>f</id><formula><place-bound><place>busy</place></place-bound></formula></property>";
    let text = format!("<property-set>{}</property-set>", property.repeat(100_000));
    let begun = Instant::now();
    let error = loaded.formulas_within("f.xml", &text, &limited(5).budget).expect_err("there is no time for that");
    assert_eq!(error.to_string(), "f.xml: the time limit was reached while it was being read");
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}
