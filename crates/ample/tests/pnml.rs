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
