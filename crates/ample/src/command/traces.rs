//! Trace files: counterexamples as JSON, to be kept, read by other programs, and replayed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ample::{Answer, Branch, LoadOptions, Report, System, Trace, simulate};
use serde::Serialize;
use serde_json::Value;

use super::layout;

/// A file of traces.
#[derive(Serialize)]
struct Traces<'a> {
    schema: u32,
    traces: Vec<Entry<'a>>,
}

/// An answer with its trace, and the model that it is about.
#[derive(Serialize)]
struct Entry<'a> {
    model: &'a str,
    #[serde(flatten)]
    answer: &'a Answer,
}

/// The counterexamples of some reports, and after them the witnesses, as a file holds them.
pub fn to_json(reports: &[Report]) -> serde_json::Result<Vec<u8>> {
    let mut traces = Vec::new();
    for (report, is_witness) in reports.iter().map(|report| (report, false)).chain(reports.iter().map(|r| (r, true))) {
        let shown =
            report.answers.iter().filter(|answer| answer.shown().is_some() && answer.trace().is_none() == is_witness);
        traces.extend(shown.map(|answer| Entry { model: &report.model, answer }));
    }
    let mut text = serde_json::to_vec_pretty(&Traces { schema: ample::SCHEMA, traces })?;
    text.push(b'\n');
    Ok(text)
}

/// A run from a file.
pub struct Recorded {
    /// What it shows; empty if the file does not say.
    pub property: String,
    pub trace: Trace,
    /// What branches off it.
    pub branches: Vec<Branch>,
    /// How many runs of the model there are in the file.
    pub of: usize,
}

/// The run of a model in a file: one that `check --trace` wrote, a JSON report, or a bare trace. Of several it is the
/// first one about the property, if one is named, or else the first counterexample. It is one of the model indeed.
pub fn read(path: &Path, system: &System, property: Option<&str>, options: &LoadOptions) -> Result<Recorded, String> {
    let shown = path.display();
    let text = ample::read_text(path, options).map_err(|error| error.to_string())?;
    // A run of `check --json` over several files has written several objects.
    let values = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
    let mut runs = Vec::new();
    for value in values {
        collect(value.map_err(|error| format!("{shown} is not JSON: {error}"))?, None, &mut runs);
    }
    let mut runs = of_model(runs, path, &system.name)?;
    runs.sort_by_key(|run| run.is_witness);
    let of = runs.len();
    let Some(at) = runs.iter().position(|run| property.is_none_or(|wanted| run.property == wanted)) else {
        let property = property.unwrap_or_default();
        return Err(format!("there is no run for `{property}` in {shown}; it has\n{}", listed(&runs)));
    };
    let RecordedRun { property, trace, branches, .. } = runs.swap_remove(at);
    let malformed = |error: serde_json::Error| format!("{shown} is not a trace: {error}");
    let trace: Trace = serde_json::from_value(trace).map_err(malformed)?;
    let branches: Vec<Branch> =
        if branches.is_null() { Vec::new() } else { serde_json::from_value(branches).map_err(malformed)? };
    simulate::validate(system, &trace, &branches)
        .map_err(|why| format!("the trace in {shown} is not a run of {}: {why}", system.name))?;
    Ok(Recorded { property, trace, branches, of })
}

/// A run in a file.
struct RecordedRun {
    /// The model's name, if the file says it.
    model: Option<String>,
    property: String,
    is_witness: bool,
    trace: Value,
    branches: Value,
}

/// All runs in a value.
fn collect(mut value: Value, model: Option<&str>, runs: &mut Vec<RecordedRun>) {
    if let Value::Array(values) = value {
        return values.into_iter().for_each(|value| collect(value, model, runs));
    }
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let named = text(&value, "model");
    let model = named.as_deref().or(model);
    let own = |trace: Value, branches: Value, value: &Value| RecordedRun {
        model: model.map(str::to_owned),
        property: text(value, "property").unwrap_or_default(),
        is_witness: value.get("verdict").is_some_and(|verdict| verdict == "holds"),
        trace,
        branches,
    };
    if value.get("prefix").is_some() {
        return runs.push(own(value, Value::Null, &Value::Null));
    }
    if let Some(trace) = value.get_mut("trace").map(Value::take) {
        let branches = value.get_mut("branches").map_or(Value::Null, Value::take);
        return runs.push(own(trace, branches, &value));
    }
    for key in ["traces", "results", "violation"] {
        if let Some(inner) = value.get_mut(key).map(Value::take) {
            collect(inner, model, runs);
        }
    }
}

/// The runs of the model that is given, or an error that lists what there is.
fn of_model(runs: Vec<RecordedRun>, path: &Path, given: &str) -> Result<Vec<RecordedRun>, String> {
    let shown = path.display();
    if runs.is_empty() {
        return Err(format!("there is no run in {shown}"));
    }
    let likeness = |run: &RecordedRun| run.model.as_deref().map_or(Some(0), |name| likeness(name, given, path));
    let Some(best) = runs.iter().filter_map(likeness).min() else {
        return Err(format!("there is no run of {given} in {shown}; it has\n{}", listed(&runs)));
    };
    let is_alike = |run: &RecordedRun| likeness(run) == Some(best);
    let models: BTreeSet<&Option<String>> = runs.iter().filter(|run| is_alike(run)).map(|run| &run.model).collect();
    if models.len() > 1 {
        let runs = listed(&runs);
        return Err(format!("it is not clear which run in {shown} is one of {given}; it has\n{runs}"));
    }
    Ok(runs.into_iter().filter(is_alike).collect())
}

/// How sure it is that a name in a file means the model that is given, the surest first: the same name, the same file,
/// a name that ends like the other, the same file name. The last two are for a file that has been moved, or is named from
/// another folder; a file that is there and is not the one given is another model.
fn likeness(name: &str, given: &str, trace: &Path) -> Option<u8> {
    if name == given {
        return Some(0);
    }
    let folder = trace.parent().unwrap_or(Path::new(""));
    let files = [Path::new(name).to_path_buf(), folder.join(name)];
    if let Ok(given) = Path::new(given).canonicalize() {
        let there: Vec<PathBuf> = files.iter().filter_map(|file| file.canonicalize().ok()).collect();
        if there.contains(&given) {
            return Some(1);
        }
        if !there.is_empty() {
            return None;
        }
    }
    let (name, given) = (Path::new(name), Path::new(given));
    if name.ends_with(given) || given.ends_with(name) {
        return Some(2);
    }
    (name.file_name().is_some() && name.file_name() == given.file_name()).then_some(3)
}

/// So many models, and properties of one, are listed.
const MOST: usize = 20;

/// The runs in a file, a line for each model.
fn listed(runs: &[RecordedRun]) -> String {
    let mut models: Vec<(&str, Vec<&str>)> = Vec::new();
    for run in runs {
        let (model, property) = (run.model.as_deref().unwrap_or("a model without a name"), run.property.as_str());
        match models.iter_mut().find(|(name, _)| *name == model) {
            Some((_, properties)) => properties.push(property),
            None => models.push((model, vec![property])),
        }
    }
    let line = |(model, properties): &(&str, Vec<&str>)| {
        let named: Vec<&str> = properties.iter().copied().filter(|property| !property.is_empty()).collect();
        let (shown, more) = layout::first(MOST, &named);
        let shown: Vec<String> = shown.iter().map(|property| layout::shortened(property, LONG)).collect();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let runs = if named.is_empty() { "a run".to_owned() } else { shown.join(", ") };
        format!("  {model}: {runs}{more}")
    };
    let (shown, more) = layout::first(MOST, &models);
    let mut lines: Vec<String> = shown.iter().map(line).collect();
    if more > 0 {
        lines.push(format!("  and {more} more models"));
    }
    lines.join("\n")
}

/// A property's name is a whole formula sometimes.
const LONG: usize = 80;
