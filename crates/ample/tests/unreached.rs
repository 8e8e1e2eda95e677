//! Unreached code: the statements that no run executes, against the reference interpreter and against Spin.

mod support;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use ample::{
    Budget, CheckOptions, LoadOptions, PartialOrder, Property, Report, StaticReduction, System, UnreachedCode, Verdict,
};
use ample_model::random::{self, Features};
use support::coverage::unreached_by_interpreter;
use support::{Folder, oracle};

/// The random system of that seed, with a name for every edge.
fn system(seed: u64, features: Features) -> System {
    let mut system = random::system(seed, features);
    for process in &mut system.processes {
        for (number, edge) in process.edges.iter_mut().enumerate() {
            edge.label = format!("edge {number}");
        }
    }
    system
}

fn options(reductions: &[StaticReduction], partial_order: PartialOrder, unreached: UnreachedCode) -> CheckOptions {
    let budget = Budget::unlimited().until(|progress| progress.states > 100_000).0;
    let reductions = reductions.to_vec();
    CheckOptions { reductions, partial_order, unreached, budget, no_vacuity: true, ..CheckOptions::default() }
}

/// Compares random systems with the interpreter: how many answers there were, how many of them without asking, and how many
/// systems with unreached statements.
fn compare_random(seeds: std::ops::Range<u64>) -> (u64, u64, u64) {
    let (mut all, mut known, mut some) = (0, 0, 0);
    let sets = [Features::ALL, Features::NONE, Features { faults: false, looks: false, ..Features::ALL }];
    for seed in seeds {
        let features = sets[seed as usize % sets.len()];
        let system = system(seed, features);
        let Some(expected) = unreached_by_interpreter(&system, 2_000) else { continue };
        some += u64::from(!expected.is_empty());
        for reductions in [&[][..], &StaticReduction::ALL] {
            for partial_order in [PartialOrder::Auto, PartialOrder::None, PartialOrder::TwoPhase] {
                all += 1;
                let told = |unreached| ample::check(&system, &options(reductions, partial_order, unreached)).unreached;
                let name = format!("seed {seed}, {features:?}, {reductions:?}, {partial_order:?}");
                if let Some(told) = told(UnreachedCode::IfKnown) {
                    known += 1;
                    assert_eq!(told, Ok(expected.clone()), "{name}");
                }
                assert_eq!(told(UnreachedCode::Required), Some(Ok(expected.clone())), "{name}");
            }
        }
    }
    println!("{known} of {all} known without asking, {some} systems with unreached statements");
    (all, known, some)
}

#[test]
fn random_systems_have_the_unreached_statements_of_the_interpreter() {
    let (all, known, some) = compare_random(0..120);
    assert!(known * 5 > all && some > 40, "{known} of {all} known, {some} with unreached statements");
}

#[test]
#[ignore = "takes minutes"]
fn many_random_systems_have_the_unreached_statements_of_the_interpreter() {
    compare_random(1_000..5_000);
}

/// A check of a model with these options.
fn checked(text: &str, options: &CheckOptions) -> Report {
    let loaded = ample::load_text("m.pml", text.into(), &LoadOptions::default()).unwrap_or_else(|why| panic!("{why}"));
    ample::check(&loaded.system, options)
}

/// What is listed, as `line:column statement`, with `!` where control comes to it.
fn listed(report: &Report) -> Option<Vec<String>> {
    let statements = report.unreached.as_ref()?.as_ref().ok()?;
    let line = |place: Option<usize>| place.map_or("-".into(), |number| number.to_string());
    let text = |one: &ample::Unreached| {
        let reached = if one.reached { "!" } else { "" };
        format!("{}:{} {reached}{}", line(one.line), line(one.column), one.statement)
    };
    Some(statements.iter().map(text).collect())
}

fn required() -> CheckOptions {
    CheckOptions { unreached: UnreachedCode::Required, ..CheckOptions::default() }
}

const REPLY: &str = "byte x;
active proctype P() {
  if :: x == 1 -> x = 2; x = 3 :: else -> skip fi;
  goto out;
  x = 4;
out: x = 0;
  do :: x == 9 :: x == 0 -> x = 0 od;
  x = 5
}
proctype Q() { x = 6 }";

#[test]
fn unreached_and_never_executed_statements_are_told_apart() {
    let report = checked(REPLY, &CheckOptions::default());
    let expected = [
        "3:9 !x == 1",
        "3:19 x = 2",
        "3:26 x = 3",
        "5:3 x = 4",
        "7:9 !x == 9",
        "8:3 x = 5",
        "9:1 -end-",
        "10:16 x = 6",
        "10:22 -end-",
    ];
    assert_eq!(listed(&report).unwrap(), expected);
    // The statement after the first test is listed, and so is not the test.
    let implied: Vec<bool> = report.unreached.unwrap().unwrap().iter().map(|one| one.is_implied).collect();
    assert_eq!(implied, [true, false, false, false, false, false, false, false, false]);
}

#[test]
fn a_search_that_ends_with_a_violation_claims_nothing() {
    let text = "byte x; active proctype P() { assert(x == 1); x = 2; x == 3; x = 4 }";
    let assertions = CheckOptions { properties: Some(vec![Property::assertions()]), ..CheckOptions::default() };
    let report = checked(text, &assertions);
    assert_eq!((report.verdict(), report.unreached), (Verdict::Violated, None));
    // All that was asked is violated.
    assert_eq!(checked(text, &CheckOptions::default()).unreached, None);
    // Something is still open, and the search goes on to its end.
    let holds = "byte x; active proctype P() { assert(x == 1); x = 2; x = 3; do :: x == 4 -> x = 5 :: skip od }";
    let report = checked(holds, &CheckOptions::default());
    assert_eq!(report.verdict(), Verdict::Violated);
    assert_eq!(listed(&report).unwrap(), ["1:67 !x == 4", "1:77 x = 5", "1:94 -end-"]);
    // Where it is required, a search of its own tells.
    let report = checked(text, &CheckOptions { stop_at_first: true, ..required() });
    assert_eq!(listed(&report).unwrap(), ["1:54 !x == 3", "1:62 x = 4", "1:68 -end-"]);
}

#[test]
fn nothing_is_claimed_of_temporal_properties_and_hidden_variables() {
    let text = "byte x; active proctype P() { x = 1; x == 2; x = 3 } ltl p { [] (x < 2) }";
    let loaded = ample::load_text("m.pml", text.into(), &LoadOptions::default()).unwrap();
    let formula = CheckOptions { properties: Some(loaded.system.properties.clone()), ..CheckOptions::default() };
    assert_eq!(ample::check(&loaded.system, &formula).unreached, None);
    let report = ample::check(&loaded.system, &CheckOptions { unreached: UnreachedCode::Required, ..formula });
    assert_eq!(listed(&report).unwrap(), ["1:38 !x == 2", "1:46 x = 3", "1:52 -end-"]);
    let hidden = "hidden byte h; byte x; active proctype P() { do :: h = 1 :: h == 1 -> x = 1; break od }";
    assert_eq!(checked(hidden, &CheckOptions::default()).unreached, None);
    let why = checked(hidden, &required()).unreached.unwrap().unwrap_err();
    assert!(why.contains("hidden"), "{why}");
    let shallow = CheckOptions { max_depth: Some(2), ..required() };
    assert!(checked(REPLY, &shallow).unreached.unwrap().is_err());
}

#[test]
fn what_comes_after_a_run_time_error_is_unreached() {
    let text = "byte x; active proctype P() { x = 1; x = 4 / (x - 1); x = 2; x = 3 }";
    for reductions in [&[][..], &StaticReduction::ALL] {
        let report = checked(text, &options(reductions, PartialOrder::Auto, UnreachedCode::Required));
        assert_eq!(listed(&report).unwrap(), ["1:55 x = 2", "1:62 x = 3", "1:68 -end-"]);
    }
}

/// Only if the proviso holds is the second process not ignored for ever.
#[test]
fn nothing_that_a_reduction_may_have_ignored_is_listed() {
    let text = "byte x, y;
active proctype P() { do :: x = 1 :: x = 2 od }
active proctype Q() { y = 1; y = 2; y = 3 }";
    let never = ["2:47 -end-"];
    for search in [ample::Search::Auto, ample::Search::DepthFirst, ample::Search::BreadthFirst] {
        let explicit = ample::Explicit { search, ..ample::Explicit::default() };
        let options = CheckOptions { engines: explicit.into(), reductions: Vec::new(), ..CheckOptions::default() };
        let report = checked(text, &options);
        assert!(listed(&report).is_none_or(|listed| listed == never), "{report:?}");
        let report = checked(text, &CheckOptions { unreached: UnreachedCode::Required, ..options });
        assert_eq!(listed(&report).unwrap(), never);
    }
}

#[test]
fn the_command_lists_them_unless_it_is_told_not_to() {
    let folder = Folder::new("lists");
    let file = folder.file("m.pml", REPLY);
    let says = |words: &[&str]| {
        let output = support::command(words).arg(&file).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let text = says(&["check"]);
    let list = text.split("\n\n").last().unwrap().replace(&format!("{}", file.display()), "m.pml");
    let expected = "unreached in proctype P
  m.pml:3:19   x = 2
  m.pml:3:26   x = 3
  m.pml:5:3    x = 4
  m.pml:8:3    x = 5
  m.pml:9:1    -end-
never executed in proctype P
  m.pml:7:9    x == 9
unreached in proctype Q
  m.pml:10:16  x = 6
  m.pml:10:22  -end-
";
    assert_eq!(list, expected);
    assert!(!says(&["check", "--no-unreached"]).contains("unreached in"));
    assert!(!says(&["check", "--no-unreached", "--json"]).contains("\"unreached\""));
    let json: serde_json::Value = serde_json::from_str(&says(&["check", "--json"])).unwrap();
    let first = &json["unreached"][0];
    assert_eq!((&first["process"], &first["statement"]), (&"P".into(), &"x == 1".into()));
    assert_eq!((&first["line"], &first["column"], &first["reached"]), (&3.into(), &9.into(), &true.into()));
}

/// The lines that pan lists, by process type; none if the search did not come to its end.
fn unreached_by_spin(model: &Path, folder: &Folder) -> Option<BTreeSet<(String, usize)>> {
    let run = |program: &str, words: &[&str]| {
        let output = Command::new(program).args(words).current_dir(&folder.0).output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    // Without statement merging, which hides some of them.
    run("spin", &["-o3", "-a", model.to_str()?])?;
    run("gcc", &["-w", "-DNOREDUCE", "-DNOCLAIM", "-DMEMLIM=500", "-o", "pan", "pan.c"])?;
    let said = run("./pan", &["-c0", "-E", "-A", "-m100000"])?;
    if said.contains("Search not completed") || said.contains("max search depth") || !said.contains("unreached in") {
        return None;
    }
    let mut lines = BTreeSet::new();
    let mut process = None;
    for line in said.lines() {
        if let Some(name) = line.strip_prefix("unreached in ") {
            process = match name.strip_prefix("proctype ") {
                Some(name) => Some(name.to_owned()),
                None => (name == "init").then(|| ":init:".to_owned()),
            };
        } else if let (Some(process), Some((place, _))) = (&process, line.split_once(", state ")) {
            lines.insert((process.clone(), place.rsplit(':').next()?.parse().ok()?));
        }
    }
    Some(lines)
}

/// Compares models with Spin; how many were compared.
fn compare_with_spin(models: impl Iterator<Item = std::path::PathBuf>) -> usize {
    if [oracle::spin(), oracle::program("gcc")].contains(&None) {
        return usize::MAX;
    }
    let mut compared = 0;
    for model in models {
        let folder = Folder::new(&format!("spin-{}", model.file_stem().unwrap().display()));
        let Ok(loaded) = ample::load(&model, &LoadOptions::default()) else { continue };
        let Some(theirs) = unreached_by_spin(&model, &folder) else { continue };
        let properties = Some(vec![Property::deadlock()]);
        let budget = Budget::unlimited().with_time(Duration::from_secs(60));
        let report = ample::check(&loaded.system, &CheckOptions { properties, budget, ..required() });
        let Some(Ok(statements)) = &report.unreached else { continue };
        let ours: BTreeSet<(String, usize)> = statements
            .iter()
            .filter(|statement| !statement.reached)
            .map(|statement| (statement.process.clone(), statement.line.unwrap_or(0)))
            .collect();
        let name = model.display();
        let only_ours: Vec<_> = ours.difference(&theirs).collect();
        assert!(only_ours.is_empty(), "{name}: Spin reaches {only_ours:?}");
        // Spin lists each expansion of an inline on its own.
        let has_inlines = std::fs::read_to_string(&model).unwrap().contains("inline");
        let only_theirs: Vec<_> = theirs.difference(&ours).collect();
        assert!(only_theirs.is_empty() || has_inlines, "{name}: Spin lists {only_theirs:?}");
        compared += 1;
    }
    compared
}

fn own_models() -> impl Iterator<Item = std::path::PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/promela");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path().canonicalize().unwrap());
    let mut models: Vec<_> = files.filter(|path| path.extension().is_some_and(|ending| ending == "pml")).collect();
    models.sort();
    models.into_iter()
}

#[test]
fn models_have_the_unreached_lines_of_spin() {
    let some = ["dekker.pml", "microwave_unless.pml", "rendezvous_atomic.pml", "dynamic_server.pml", "elevator.pml"];
    let compared = compare_with_spin(own_models().filter(|path| some.iter().any(|name| path.ends_with(name))));
    assert!(compared >= some.len());
}

#[test]
#[ignore = "takes minutes"]
fn all_models_have_the_unreached_lines_of_spin() {
    assert!(compare_with_spin(own_models()) > 30);
}
