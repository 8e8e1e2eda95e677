//! Trace files: counterexamples as JSON, to be kept, read by other programs, and replayed.

use std::path::Path;

use ample::{Report, Trace};
use serde_json::{Value, json};

/// The counterexamples of some reports, as a file holds them.
pub fn to_json(reports: &[Report]) -> Value {
    let mut traces = Vec::new();
    for report in reports {
        for answer in report.answers.iter().filter(|answer| answer.trace().is_some()) {
            let mut entry = json!(answer);
            entry["model"] = json!(report.model);
            traces.push(entry);
        }
    }
    json!({"schema": ample::SCHEMA, "traces": traces})
}

/// A trace from a file: one that `check --trace` wrote, a JSON report, or a bare trace. Of several the first that
/// is about the property, if one is named.
pub fn read(path: &Path, property: Option<&str>) -> Result<Trace, String> {
    let path_shown = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {path_shown}: {error}"))?;
    // A run of `check --json` over several files has written several objects.
    let values = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
    let mut traces = Vec::new();
    for value in values {
        collect(value.map_err(|error| format!("{path_shown} is not JSON: {error}"))?, &mut traces);
    }
    let wanted = traces.into_iter().find(|(name, _)| property.is_none_or(|wanted| name == wanted));
    let Some((_, trace)) = wanted else {
        return Err(match property {
            Some(property) => format!("there is no trace for `{property}` in {path_shown}"),
            None => format!("there is no trace in {path_shown}"),
        });
    };
    serde_json::from_value(trace).map_err(|error| format!("{path_shown} is not a trace: {error}"))
}

/// All traces in a value, each with the name of its property.
fn collect(mut value: Value, traces: &mut Vec<(String, Value)>) {
    if value.get("prefix").is_some() {
        traces.push((String::new(), value));
        return;
    }
    if let Some(trace) = value.get_mut("trace").map(Value::take) {
        let property = value.get("property").and_then(Value::as_str).unwrap_or("").to_owned();
        traces.push((property, trace));
        return;
    }
    for list in ["traces", "results"] {
        if let Some(Value::Array(entries)) = value.get_mut(list).map(Value::take) {
            entries.into_iter().for_each(|entry| collect(entry, traces));
        }
    }
}
