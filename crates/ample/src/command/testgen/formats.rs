//! Tests for other programs: JSON, value change dumps (IEEE 1364, section 18), and stimuli for AIGER's simulator.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use ample::Loaded;
use ample::testgen::{Outcome, Runs, Signal, TargetResult, Test, Tests, is_circuit};
use serde_json::{Map, Value, json};

use super::super::arguments::{TestFormat, Testgen};

/// The format that a file's extension stands for.
pub fn of_extension(path: &Path) -> TestFormat {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("").to_ascii_lowercase();
    match extension.as_str() {
        "json" => TestFormat::Json,
        "vcd" => TestFormat::Vcd,
        "stim" | "aiw" => TestFormat::Stimulus,
        _ => TestFormat::Text,
    }
}

/// The path with a number before its extension.
pub fn numbered(path: &Path, number: usize) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let name = match path.extension() {
        Some(extension) => format!("{stem}-{number}.{}", extension.to_string_lossy()),
        None => format!("{stem}-{number}"),
    };
    path.with_file_name(name)
}

fn result_json(result: &TargetResult) -> Value {
    match &result.outcome {
        Outcome::Reached { test, cycle } => {
            json!({"target": result.name, "outcome": "reached", "test": test, "cycle": cycle})
        }
        Outcome::Unreachable => json!({"target": result.name, "outcome": "unreachable"}),
        Outcome::Unknown(why) => json!({"target": result.name, "outcome": "unknown", "reason": why.to_string()}),
    }
}

/// All targets were decided.
fn is_complete(results: &[TargetResult]) -> bool {
    results.iter().all(|result| !matches!(result.outcome, Outcome::Unknown(_)))
}

/// Tests of a synchronous system: values are strings, those that are open are `null`.
pub fn tests_json(loaded: &Loaded, tests: &Tests, arguments: &Testgen) -> Value {
    let values = |signals: &[Signal], values: &[Option<String>]| -> Value {
        let pairs = signals.iter().zip(values).map(|(signal, value)| (signal.name.clone(), json!(value)));
        Value::Object(pairs.collect::<Map<_, _>>())
    };
    let outputs = |values: &[Option<bool>]| -> Value {
        let shown = |value: &Option<bool>| json!(value.map(|value| if value { "1" } else { "0" }));
        Value::Object(tests.outputs.iter().cloned().zip(values.iter().map(shown)).collect::<Map<_, _>>())
    };
    let test = |test: &Test| {
        let cycle = |cycle: &ample::testgen::Cycle| {
            json!({
                "inputs": values(&tests.inputs, &cycle.inputs),
                "state": values(&tests.state, &cycle.state),
                "outputs": outputs(&cycle.outputs),
            })
        };
        json!({"cycles": test.cycles.iter().map(cycle).collect::<Vec<_>>()})
    };
    let (work, sizes) = (&tests.work, tests.work.sizes);
    json!({
        "schema": ample::SCHEMA,
        "model": loaded.system.name,
        "language": loaded.system.language,
        "complete": is_complete(&tests.results),
        "method": arguments.options.method.name(),
        "completions": arguments.options.completions,
        "seed": arguments.options.seed,
        "results": tests.results.iter().map(result_json).collect::<Vec<_>>(),
        "tests": tests.tests.iter().map(test).collect::<Vec<_>>(),
        "statistics": {
            "bits": work.bits,
            "preimages": sizes.preimages,
            "average_relation_nodes": sizes.average(),
            "parts": sizes.parts,
            "max_parts": sizes.max_parts,
            "peak_nodes": work.peak_nodes,
            "reorderings": work.reorderings,
            "time_s": tests.took.as_secs_f64(),
            "memory_bytes": ample::peak_memory(),
        },
    })
}

/// Runs of a program: traces as everywhere.
pub fn runs_json(loaded: &Loaded, runs: &Runs) -> Value {
    json!({
        "schema": ample::SCHEMA,
        "model": loaded.system.name,
        "language": loaded.system.language,
        "complete": is_complete(&runs.results),
        "results": runs.results.iter().map(result_json).collect::<Vec<_>>(),
        "runs": runs.runs,
        "statistics": {"states": runs.states, "time_s": runs.took.as_secs_f64(), "memory_bytes": ample::peak_memory()},
    })
}

/// The inputs of a circuit, a line for each cycle, `x` for those that are open; or why that cannot be written.
pub fn stimulus(loaded: &Loaded, tests: &Tests, test: &Test) -> Result<String, String> {
    if !is_circuit(&loaded.system) || tests.inputs.iter().any(|signal| !signal.is_bit || signal.is_choice) {
        return Err("stimuli are for circuits; the tests of this model are written as text, JSON or VCD".into());
    }
    let mut out = String::new();
    for cycle in &test.cycles {
        let digit = |value: &Option<String>| match value.as_deref() {
            None => 'x',
            Some("0" | "FALSE" | "false") => '0',
            Some(_) => '1',
        };
        out.extend(cycle.inputs.iter().map(digit).chain(['\n']));
    }
    out.push_str(".\n");
    Ok(out)
}

/// What a signal is in a dump.
struct Wave {
    is_bit: bool,
    id: String,
    last: Option<String>,
}

/// A short name of printable characters.
fn identifier(mut number: usize) -> String {
    const FIRST: u8 = b'!';
    const LETTERS: usize = 94;
    let mut id = String::new();
    loop {
        id.push(char::from(FIRST + (number % LETTERS) as u8));
        number /= LETTERS;
        if number == 0 {
            return id;
        }
        number -= 1;
    }
}

/// The test as a value change dump; a cycle is one unit of time. Values that are no bits are strings, as wave viewers know
/// them.
pub fn vcd(loaded: &Loaded, tests: &Tests, test: &Test) -> String {
    let mut out = format!("$version ample {} $end\n$timescale 1 ns $end\n", env!("CARGO_PKG_VERSION"));
    let _ = writeln!(out, "$comment {} $end", loaded.system.name.replace("$end", "$"));
    let mut numbers = 0..;
    let mut wave = |name: &'_ str, is_bit: bool| (name.to_owned(), is_bit, identifier(numbers.next().unwrap_or(0)));
    let inputs: Vec<_> = tests.inputs.iter().map(|signal| wave(&signal.name, signal.is_bit)).collect();
    let state: Vec<_> = tests.state.iter().map(|signal| wave(&signal.name, signal.is_bit)).collect();
    let outputs: Vec<_> = tests.outputs.iter().map(|name| wave(name, true)).collect();
    let groups = [("inputs", &inputs), ("state", &state), ("outputs", &outputs)];
    for (scope, signals) in groups.iter().filter(|(_, signals)| !signals.is_empty()) {
        let _ = writeln!(out, "$scope module {scope} $end");
        for (name, is_bit, id) in *signals {
            let kind = if *is_bit { "wire" } else { "string" };
            let _ = writeln!(out, "$var {kind} 1 {id} {} $end", word(name));
        }
        out.push_str("$upscope $end\n");
    }
    out.push_str("$enddefinitions $end\n");
    let all = inputs.iter().chain(&state).chain(&outputs);
    let mut waves: Vec<Wave> =
        all.map(|(_, is_bit, id)| Wave { is_bit: *is_bit, id: id.clone(), last: None }).collect();
    for (time, cycle) in test.cycles.iter().enumerate() {
        let _ = writeln!(out, "#{time}");
        let outputs = cycle.outputs.iter().map(|value| value.map(|value| u8::from(value).to_string()));
        let values = cycle.inputs.iter().chain(&cycle.state).cloned().chain(outputs);
        for (wave, value) in waves.iter_mut().zip(values) {
            let value = match (wave.is_bit, value.as_deref()) {
                (true, None) => format!("x{}", wave.id),
                (true, Some("0" | "FALSE" | "false")) => format!("0{}", wave.id),
                (true, Some(_)) => format!("1{}", wave.id),
                (false, value) => format!("s{} {}", word(value.unwrap_or("x")), wave.id),
            };
            if wave.last.as_ref() != Some(&value) {
                let _ = writeln!(out, "{value}");
                wave.last = Some(value);
            }
        }
    }
    let _ = writeln!(out, "#{}", test.cycles.len());
    out
}

/// Names in a dump have no blanks.
fn word(text: &str) -> String {
    text.chars().map(|c| if c.is_whitespace() { '_' } else { c }).collect()
}
