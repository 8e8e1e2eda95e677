//! Reports for continuous integration: SARIF, JUnit's XML, and the workflow commands of GitHub.
//!
//! All of them are made from the JSON objects that `--json` prints, one for each file, whatever became of it. SARIF and JUnit's XML
//! are one document for all files, which is written when the work is over, also where it had to be ended.

use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ample_draw::escaped;
use clap::ValueEnum;
use serde_json::{Value, json};

use super::output::print;

/// How answers are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    #[default]
    Text,
    /// One JSON object for each file, as `--json`
    Json,
    /// Workflow commands of GitHub Actions: what is violated is shown at the lines of the model
    Github,
    /// XML as JUnit writes it: a test suite for each file, a test case for each property
    Junit,
    /// SARIF 2.1.0, for code scanning: counterexamples are code flows
    Sarif,
}

/// The format, and what is to be written at the end.
static FORMAT: Mutex<(Format, Vec<Value>)> = Mutex::new((Format::Text, Vec::new()));

fn format() -> MutexGuard<'static, (Format, Vec<Value>)> {
    FORMAT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Everything that is printed from now on has this format.
pub fn choose(chosen: Format) {
    *format() = (chosen, Vec::new());
}

/// Whether what is given is not printed as it is.
pub fn is_converted() -> bool {
    !matches!(format().0, Format::Text | Format::Json)
}

/// Prints the object about a file, or keeps it for the end.
pub fn give(value: &Value) {
    let mut format = format();
    match format.0 {
        Format::Text | Format::Json => {
            drop(format);
            print(|out| writeln!(out, "{value}"));
        }
        Format::Github => {
            drop(format);
            print(|out| write!(out, "{}", github(value)));
        }
        Format::Junit | Format::Sarif => format.1.push(value.clone()),
    }
}

/// All work is over: with what number does the command end?
pub fn finish(exit: u8) {
    let (format, files) = std::mem::take(&mut *format());
    let text = match format {
        Format::Junit => junit(&files),
        Format::Sarif => format!("{:#}\n", sarif(&files, exit)),
        Format::Text | Format::Json | Format::Github => return,
    };
    print(|out| write!(out, "{text}"));
}

/// What is known of a property, or what is wrong with the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Holds,
    Violated,
    Unknown,
    Error,
}

#[derive(Debug)]
struct Finding<'a> {
    kind: Kind,
    property: &'a str,
    message: String,
    place: Place<'a>,
    /// The counterexample.
    steps: Vec<(Place<'a>, String)>,
}

/// A file, a line and a column, as far as they are known.
#[derive(Clone, Copy, Debug)]
struct Place<'a> {
    file: &'a str,
    line: Option<u64>,
    column: Option<u64>,
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// What there is to say of a file.
fn findings(file: &Value) -> Vec<Finding<'_>> {
    let model = text(file, "model");
    let nowhere = Place { file: model, line: None, column: None };
    let mut findings: Vec<Finding<'_>> =
        file["results"].as_array().into_iter().flatten().map(|result| finding(result, nowhere)).collect();
    if !findings.is_empty() {
        return findings;
    }
    let wrong = |kind, message: &str, place| {
        let message = message.to_owned();
        Finding { kind, property: "model", message, place, steps: Vec::new() }
    };
    for diagnostic in file["diagnostics"].as_array().into_iter().flatten() {
        if text(diagnostic, "severity") == "error" {
            let file = diagnostic["file"].as_str().unwrap_or(model);
            let place = Place { file, line: diagnostic["line"].as_u64(), column: diagnostic["column"].as_u64() };
            findings.push(wrong(Kind::Error, text(diagnostic, "message"), place));
        }
    }
    match (findings.is_empty(), file["error"].as_str(), file["reason"].as_str()) {
        (true, Some(error), _) => findings.push(wrong(Kind::Error, error, nowhere)),
        (true, None, Some(reason)) => findings.push(wrong(Kind::Unknown, reason, nowhere)),
        _ => {}
    }
    findings
}

fn finding<'a>(result: &'a Value, model: Place<'a>) -> Finding<'a> {
    let (property, reason) = (text(result, "property"), text(result, "reason"));
    let (kind, default) = match text(result, "verdict") {
        "holds" => (Kind::Holds, "holds"),
        "violated" => (Kind::Violated, "violated"),
        _ => (Kind::Unknown, "unknown"),
    };
    let part = |name: &str| result["trace"][name].as_array().into_iter().flatten();
    let steps: Vec<(Place<'a>, String)> =
        part("prefix").chain(part("cycle")).map(|step| (place(step, model), sentence(step))).collect();
    let is_wrong = |step: &&Value| step["violation"].is_string();
    let wrong = part("prefix").chain(part("cycle")).find(is_wrong).or_else(|| part("prefix").next_back());
    let place = wrong.filter(|_| kind == Kind::Violated).map_or(model, |step| place(step, model));
    let message = if reason.is_empty() { default.to_owned() } else { reason.to_owned() };
    Finding { kind, property, message, place, steps }
}

/// `file:line` of a step.
fn place<'a>(step: &'a Value, model: Place<'a>) -> Place<'a> {
    let at = step["at"].as_str().and_then(|at| at.rsplit_once(':'));
    let at = at.and_then(|(file, line)| Some((file, line.parse().ok()?)));
    at.map_or(model, |(file, line)| Place { file, line: Some(line), column: None })
}

fn sentence(step: &Value) -> String {
    let mut sentence = [text(step, "process"), text(step, "text")].join(" ").trim().to_owned();
    for change in step["changes"].as_array().into_iter().flatten() {
        let (name, after) = (text(change, "name"), text(change, "after"));
        // Writing to a string cannot fail.
        let _ = match change["before"].as_str() {
            Some(before) => write!(sentence, "; {name}: {before} → {after}"),
            None => write!(sentence, "; {name} = {after}"),
        };
    }
    if let Some(violation) = step["violation"].as_str() {
        let _ = write!(sentence, "; {violation}");
    }
    sentence
}

/// `error`, `warning` and what holds, a line each.
fn github(file: &Value) -> String {
    let data = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
    let mut out = String::new();
    for finding in findings(file) {
        let Finding { kind, property: name, message, place, steps } = finding;
        let (command, verdict) = match kind {
            Kind::Holds => {
                let _ = writeln!(out, "{}: {name} holds", text(file, "model"));
                continue;
            }
            Kind::Violated => ("error", format!("{name} is violated")),
            Kind::Unknown => ("warning", format!("{name} is not decided")),
            Kind::Error => ("error", "the input is wrong".into()),
        };
        let mut message = message;
        for (number, (_, step)) in steps.iter().enumerate().take(GITHUB_STEPS) {
            let _ = write!(message, "\n{}: {step}", number + 1);
        }
        if steps.len() > GITHUB_STEPS {
            let _ = write!(message, "\n… {} more steps", steps.len() - GITHUB_STEPS);
        }
        let _ = write!(out, "::{command} file={}", property(place.file));
        for (what, number) in [("line", place.line), ("col", place.column)] {
            if let Some(number) = number {
                let _ = write!(out, ",{what}={number}");
            }
        }
        let _ = writeln!(out, ",title={}::{}", property(&verdict), data(&message));
    }
    out
}

/// So many steps are in an annotation, which is small.
const GITHUB_STEPS: usize = 30;

/// A document in the form that is known from JUnit.
fn junit(files: &[Value]) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"ample\">\n");
    for file in files {
        let findings = findings(file);
        let count = |kind: Kind| findings.iter().filter(|finding| finding.kind == kind).count();
        let (failures, errors) = (count(Kind::Violated), count(Kind::Unknown) + count(Kind::Error));
        let (model, time) = (escaped(text(file, "model")), file["stats"]["time_s"].as_f64().unwrap_or(0.0));
        let _ = writeln!(
            out,
            "  <testsuite name=\"{model}\" tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" time=\"{time:.3}\">",
            findings.len()
        );
        for finding in &findings {
            let _ = write!(out, "    <testcase classname=\"{model}\" name=\"{}\"", escaped(finding.property));
            let (element, kind) = match finding.kind {
                Kind::Holds => {
                    out.push_str("/>\n");
                    continue;
                }
                Kind::Violated => ("failure", "violated"),
                Kind::Unknown => ("error", "unknown"),
                Kind::Error => ("error", "input"),
            };
            let place = |place: &Place<'_>| match place.line {
                Some(line) => format!("{}:{line}", place.file),
                None => place.file.to_owned(),
            };
            let mut lines = vec![format!("{}: {}", place(&finding.place), finding.message)];
            let steps = finding.steps.iter().enumerate();
            lines.extend(steps.map(|(number, (at, step))| format!("{:>6}  {}  {step}", number + 1, place(at))));
            let _ = writeln!(
                out,
                ">\n      <{element} type=\"{kind}\" message=\"{}\">{}</{element}>\n    </testcase>",
                escaped(&finding.message),
                escaped(&lines.join("\n"))
            );
        }
        out.push_str("  </testsuite>\n");
    }
    out + "</testsuites>\n"
}

/// A log of the Static Analysis Results Interchange Format (OASIS, version 2.1.0).
fn sarif(files: &[Value], exit: u8) -> Value {
    let mut rules: Vec<Value> = Vec::new();
    let mut results: Vec<Value> = Vec::new();
    let mut notifications: Vec<Value> = Vec::new();
    for (file, finding) in files.iter().flat_map(|file| findings(file).into_iter().map(move |finding| (file, finding)))
    {
        let locations = json!([{"physicalLocation": physical(&finding.place)}]);
        if finding.kind == Kind::Error {
            let message = json!({"text": finding.message});
            notifications.push(json!({"level": "error", "message": message, "locations": locations}));
            continue;
        }
        let index = rules.iter().position(|rule| rule["id"] == finding.property).unwrap_or_else(|| {
            let mut results = file["results"].as_array().into_iter().flatten();
            let formula = results.find(|result| text(result, "property") == finding.property);
            let formula = formula.map_or("", |result| text(result, "formula"));
            let description = if formula.is_empty() { finding.property } else { formula };
            rules.push(json!({"id": finding.property, "shortDescription": {"text": description}}));
            rules.len() - 1
        });
        // Only what fails may have another level than `none`.
        let (kind, level) = match finding.kind {
            Kind::Holds => ("pass", "none"),
            Kind::Violated => ("fail", "error"),
            Kind::Unknown | Kind::Error => ("open", "none"),
        };
        let mut result = json!({
            "ruleId": finding.property, "ruleIndex": index, "kind": kind, "level": level,
            "message": {"text": format!("{}: {}", finding.property, finding.message)}, "locations": locations,
        });
        if !finding.steps.is_empty() {
            let steps = finding
                .steps
                .iter()
                .map(|(at, step)| json!({"location": {"physicalLocation": physical(at), "message": {"text": step}}}));
            let steps: Vec<Value> = steps.collect();
            result["codeFlows"] = json!([{"threadFlows": [{"locations": steps}]}]);
        }
        results.push(result);
    }
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "ample", "version": env!("CARGO_PKG_VERSION"), "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": rules,
            }},
            "invocations": [{
                "executionSuccessful": notifications.is_empty(), "exitCode": exit,
                "toolExecutionNotifications": notifications,
            }],
            "results": results,
        }],
    })
}

fn physical(place: &Place<'_>) -> Value {
    // What is about a whole file is shown at its beginning: viewers want a line.
    let mut location = json!({
        "artifactLocation": {"uri": uri(place.file)},
        "region": {"startLine": place.line.unwrap_or(1)},
    });
    if let (Some(_), Some(column)) = (place.line, place.column) {
        location["region"]["startColumn"] = json!(column);
    }
    location
}

/// A path as a reference: what is not allowed there is written as its bytes.
fn uri(path: &str) -> String {
    let mut uri = if path.starts_with('/') { "file://".to_owned() } else { String::new() };
    for byte in path.replace('\\', "/").bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => uri.push(byte.into()),
            byte => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Value {
        let step = |text: &str, line: u32, violation: Value| {
            let at = format!("my model.pml:{line}");
            json!({"process": "P(0)", "text": text, "at": at, "changes": [{"name": "x", "before": "0", "after": "1"}],
                   "violation": violation})
        };
        json!({"model": "my model.pml", "stats": {"time_s": 1.5}, "results": [
            {"property": "assertions", "formula": "no assertion violated", "verdict": "violated", "reason": "x < 1, 100%",
             "trace": {"prefix": [step("x++", 3, Value::Null), step("assert(x < 1)", 4, json!("it fails"))], "cycle": []}},
            {"property": "deadlock", "formula": "no invalid end state", "verdict": "holds"},
            {"property": "ltl:p", "formula": "[] p", "verdict": "unknown", "reason": "the time limit was reached"},
        ]})
    }

    fn rejected() -> Value {
        let diagnostic =
            json!({"severity": "error", "file": "bad.pml", "line": 2, "column": 7, "message": "expected `}`"});
        json!({"model": "bad.pml", "results": [], "error": "expected `}`", "diagnostics": [diagnostic]})
    }

    #[test]
    fn annotations_are_at_the_lines_and_escaped() {
        let lines = github(&report());
        let lines: Vec<&str> = lines.lines().collect();
        assert_eq!(
            lines,
            [
                "::error file=my model.pml,line=4,title=assertions is violated::x < 1, 100%25%0A1: P(0) x++; x: 0 → 1%0A\
                 2: P(0) assert(x < 1); x: 0 → 1; it fails",
                "my model.pml: deadlock holds",
                "::warning file=my model.pml,title=ltl%3Ap is not decided::the time limit was reached",
            ]
        );
        assert_eq!(github(&rejected()), "::error file=bad.pml,line=2,col=7,title=the input is wrong::expected `}`\n");
    }

    #[test]
    fn test_cases_are_properties() {
        let text = junit(&[report(), rejected()]);
        for part in [
            "<testsuite name=\"my model.pml\" tests=\"3\" failures=\"1\" errors=\"1\" time=\"1.500\">",
            "<testcase classname=\"my model.pml\" name=\"deadlock\"/>",
            "<failure type=\"violated\" message=\"x &lt; 1, 100%\">my model.pml:4: x &lt; 1, 100%\n     1  my model.pml:3",
            "<error type=\"unknown\" message=\"the time limit was reached\">",
            "<error type=\"input\" message=\"expected `}`\">bad.pml:2: expected `}`</error>",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }

    #[test]
    fn counterexamples_are_code_flows() {
        let log = sarif(&[report(), rejected()], 1);
        let run = &log["runs"][0];
        assert_eq!(run["tool"]["driver"]["rules"][2]["shortDescription"]["text"], "[] p");
        assert_eq!(run["results"].as_array().unwrap().len(), 3);
        let result = &run["results"][0];
        assert_eq!([&result["kind"], &result["level"]], ["fail", "error"]);
        assert_eq!(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "my%20model.pml");
        let flow = &result["codeFlows"][0]["threadFlows"][0]["locations"];
        assert_eq!(flow[0]["location"]["physicalLocation"]["region"]["startLine"], 3);
        assert_eq!([&run["results"][1]["kind"], &run["results"][2]["kind"]], ["pass", "open"]);
        let invocation = &run["invocations"][0];
        assert_eq!(invocation["executionSuccessful"], false);
        let place = &invocation["toolExecutionNotifications"][0]["locations"][0]["physicalLocation"]["region"];
        assert_eq!(*place, json!({"startLine": 2, "startColumn": 7}));
    }
}
