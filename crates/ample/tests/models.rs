//! Models with known answers: those of the project, which say in their first comment what Spin answers, and
//! those of a corpus of real models, where it lies beside the project.

use std::path::{Path, PathBuf};

use ample::{CheckOptions, Fairness, Verdict};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What is known about a model; `None` where it is not.
struct Expected {
    model: PathBuf,
    states: Option<u64>,
    deadlock: Option<bool>,
    assertions: Option<bool>,
    /// Other properties by their names, under weak fairness or not.
    others: Vec<(String, Fairness, bool)>,
}

/// What is different from what is expected, one line each.
fn disagreements(expected: &Expected) -> Vec<String> {
    let name = expected.model.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let loaded = match ample::load(&expected.model, &Default::default()) {
        Ok(loaded) => loaded,
        Err(error) => return vec![format!("{name}: refused: {error}")],
    };
    let mut wrong = Vec::new();
    if let Some(states) = expected.states {
        let report = ample::states(&loaded.system, &CheckOptions::default());
        if report.statistics.states != states {
            wrong.push(format!("{name}: {} states, expected {states}", report.statistics.states));
        }
    }
    let properties = vec![ample::Property::deadlock(), ample::Property::assertions()];
    let options = CheckOptions { properties: Some(properties), ..CheckOptions::default() };
    let report = ample::check(&loaded.system, &options);
    for (property, violated) in [("deadlock", expected.deadlock), ("assertions", expected.assertions)] {
        let Some(violated) = violated else { continue };
        let wanted = if violated { Verdict::Violated } else { Verdict::Holds };
        let got = report.answer(property).map(ample::Answer::verdict);
        if got != Some(wanted) {
            wrong.push(format!("{name}: {property} {got:?}, expected {wanted:?}"));
        }
    }
    for fairness in [Fairness::None, Fairness::Weak] {
        let asked: Vec<_> = expected.others.iter().filter(|(_, under, _)| *under == fairness).collect();
        let named = |property: &ample::Property| asked.iter().any(|(name, ..)| *name == property.id());
        let properties = ample::stated(&loaded.system).into_iter().filter(named).collect();
        let options = CheckOptions { properties: Some(properties), fairness, ..CheckOptions::default() };
        let report = ample::check(&loaded.system, &options);
        for (property, _, violated) in asked {
            let wanted = if *violated { Verdict::Violated } else { Verdict::Holds };
            let got = report.answer(property).map(ample::Answer::verdict);
            if got != Some(wanted) {
                wrong.push(format!("{name}: {property} ({fairness:?}) {got:?}, expected {wanted:?}"));
            }
        }
    }
    wrong
}

/// What the text says about properties beside deadlock and assertions: `expect ltl NAME (weak fairness): holds`,
/// `expect progress: violated`, `expect never NAME: holds`.
fn others(text: &str) -> Vec<(String, Fairness, bool)> {
    let mut found = Vec::new();
    for line in text.lines() {
        let Some(line) = line.trim_start_matches([' ', '*', '/']).strip_prefix("expect ") else { continue };
        let Some((what, word)) = line.split_once(':') else { continue };
        let (what, fairness) = match what.strip_suffix("(weak fairness)") {
            Some(what) => (what.trim(), Fairness::Weak),
            None => (what.trim(), Fairness::None),
        };
        let property = match what.split_once(' ') {
            Some((kind @ ("ltl" | "never"), name)) => format!("{kind}:{}", name.trim()),
            None if ["acceptance", "progress"].contains(&what) => what.to_owned(),
            _ => continue,
        };
        found.push((property, fairness, verdict(word.trim())));
    }
    found
}

/// The value behind `expect KEY:` in a model's text.
fn expectation<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let mark = format!("expect {key}:");
    text.lines().find_map(|line| line.trim_start_matches([' ', '*', '/']).strip_prefix(&mark)).map(str::trim)
}

fn verdict(word: &str) -> bool {
    match word {
        "holds" => false,
        "violated" => true,
        other => panic!("'{other}' is no verdict"),
    }
}

#[test]
fn our_models_have_the_verdicts_and_counts_they_say() {
    let mut models: Vec<PathBuf> = std::fs::read_dir(root().join("models/promela"))
        .expect("the models are there")
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.extension().is_some_and(|e| e == "pml"))
        .collect();
    models.sort();
    assert!(models.len() >= 15, "only {} models", models.len());
    let mut wrong = Vec::new();
    let mut count = 0;
    for model in models {
        let text = std::fs::read_to_string(&model).expect("a model can be read");
        let expected = Expected {
            states: expectation(&text, "states").map(|n| n.parse().expect("a number of states")),
            deadlock: expectation(&text, "deadlock").map(verdict),
            assertions: expectation(&text, "assertions").map(verdict),
            others: others(&text),
            model,
        };
        assert!(expected.deadlock.is_some() && expected.assertions.is_some(), "{:?} says nothing", expected.model);
        count += expected.others.len();
        wrong.extend(disagreements(&expected));
    }
    assert!(count >= 60, "only {count} temporal properties");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Models of the corpus that include files which the corpus does not have.
const INCOMPLETE: [&str; 2] = ["spins/case_studies/Tests/zune.pml", "spins/case_studies/smcs/smcs.promela"];

/// The corpus models with at most so many states, from its table of Spin's answers.
fn corpus(from: u64, to: u64) -> Option<Vec<Expected>> {
    let folder = root().join("../shared/corpora");
    let table = std::fs::read_to_string(folder.join("promela.csv")).ok()?;
    let mut lines = table.lines();
    let header: Vec<&str> = lines.next()?.split(',').collect();
    let column = |name: &str| header.iter().position(|h| *h == name);
    let (model, states) = (column("model")?, column("states_plain")?);
    let (deadlock, assertion) = (column("deadlock")?, column("assertion")?);
    let answer = |word: &str| match word {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    };
    let mut rows = Vec::new();
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let Some(Ok(count)) = cells.get(states).map(|c| c.parse::<u64>()) else { continue };
        if count < from || count >= to || INCOMPLETE.iter().any(|name| cells[model].ends_with(name)) {
            continue;
        }
        rows.push(Expected {
            model: folder.join(cells[model]),
            states: Some(count),
            deadlock: answer(cells[deadlock]),
            assertions: answer(cells[assertion]),
            others: Vec::new(),
        });
    }
    Some(rows)
}

fn check_corpus(from: u64, to: u64) {
    let Some(rows) = corpus(from, to) else {
        eprintln!("skipped: there is no corpus beside the project");
        return;
    };
    let wrong: Vec<String> = rows.iter().flat_map(disagreements).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn real_models_agree_with_spin() {
    check_corpus(0, 50_000);
}

#[test]
#[ignore = "takes minutes"]
fn large_real_models_agree_with_spin() {
    check_corpus(50_000, u64::MAX);
}
