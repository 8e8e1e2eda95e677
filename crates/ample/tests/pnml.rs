//! Petri nets through the library: state counts of the contest's nets, coloured ones and their unfolded twins, and the
//! contest's questions. The nets are read from a folder beside the project and skipped where there is none.

use std::path::{Path, PathBuf};

use ample::{CheckOptions, Engine, Examination, LoadOptions, Verdict};

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
    CheckOptions { engine: Engine::Explicit, ..CheckOptions::default() }
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
        let report = ample::states(&loaded.system, &explicit(), &mut ample::Limits::new());
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
        let report = ample::check(&loaded.system, &options, &mut ample::Limits::new());
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
            for engine in [Engine::Auto, Engine::Explicit, Engine::Symbolic] {
                let property = loaded.examination(examination).expect("it is a net");
                let options = CheckOptions { engine, properties: Some(vec![property]), ..CheckOptions::default() };
                let report = ample::check(&loaded.system, &options, &mut ample::Limits::new());
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
        let report = ample::check(&loaded.system, &options, &mut ample::Limits::new());
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
        let report = ample::check(&loaded.system, &options, &mut ample::Limits::new());
        assert_eq!(report.answers[0].verdict(), verdict, "{formula}");
    }
}
