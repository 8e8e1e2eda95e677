//! Trace files: counterexamples as JSON, to be kept, read by other programs, and replayed.

use std::path::Path;

use ample::{LoadOptions, Report, Trace};
use serde_json::{Value, json};

/// The counterexamples of some reports, and after them the witnesses, as a file holds them.
pub fn to_json(reports: &[Report]) -> Value {
    let mut traces = Vec::new();
    for (report, is_witness) in reports.iter().map(|report| (report, false)).chain(reports.iter().map(|r| (r, true))) {
        for answer in &report.answers {
            if answer.shown().is_none() || answer.trace().is_none() != is_witness {
                continue;
            }
            let mut entry = json!(answer);
            entry["model"] = json!(report.model);
            traces.push(entry);
        }
    }
    json!({"schema": ample::SCHEMA, "traces": traces})
}

/// A trace from a file: one that `check --trace` wrote, a JSON report, or a bare trace. Of several the first that
/// is about the property, if one is named, or else the first counterexample.
pub fn read(path: &Path, property: Option<&str>, options: &LoadOptions) -> Result<Trace, String> {
    let path_shown = path.display();
    let text = ample::read_text(path, options).map_err(|error| error.to_string())?;
    // A run of `check --json` over several files has written several objects.
    let values = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
    let mut traces = Vec::new();
    for value in values {
        collect(value.map_err(|error| format!("{path_shown} is not JSON: {error}"))?, &mut traces);
    }
    traces.sort_by_key(|found| found.is_witness);
    let wanted = traces.into_iter().find(|found| property.is_none_or(|wanted| found.property == wanted));
    let Some(Found { trace, .. }) = wanted else {
        return Err(match property {
            Some(property) => format!("there is no trace for `{property}` in {path_shown}"),
            None => format!("there is no trace in {path_shown}"),
        });
    };
    serde_json::from_value(trace).map_err(|error| format!("{path_shown} is not a trace: {error}"))
}

/// A trace in a file.
struct Found {
    property: String,
    is_witness: bool,
    trace: Value,
}

/// All traces in a value.
fn collect(mut value: Value, traces: &mut Vec<Found>) {
    if value.get("prefix").is_some() {
        traces.push(Found { property: String::new(), is_witness: false, trace: value });
        return;
    }
    if let Some(trace) = value.get_mut("trace").map(Value::take) {
        let property = value.get("property").and_then(Value::as_str).unwrap_or("").to_owned();
        let is_witness = value.get("verdict").is_some_and(|verdict| verdict == "holds");
        traces.push(Found { property, is_witness, trace });
        return;
    }
    for list in ["traces", "results"] {
        if let Some(Value::Array(entries)) = value.get_mut(list).map(Value::take) {
            entries.into_iter().for_each(|entry| collect(entry, traces));
        }
    }
}
