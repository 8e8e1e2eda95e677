//! Reports for continuous integration.

mod support;

use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use support::{Folder, command, text};

const WRONG: &str = "byte x;\nactive proctype P() {\n    x = 1;\n    assert(x == 2)\n}\nltl low { [] (x < 5) }\n";
const REJECTED: &str = "byte x;\nactive proctype P() { x = = 1 }\n";
const ENDLESS: &str = "int a = 1, b = 2, c = 3;
active [3] proctype P() {
    do
    :: a = a * 1103515245 + 12345 + (b ^ c)
    :: b = b * 69069 + a + c
    :: c = c * 1664525 + 1013904223 + a
    :: a == 5 && b == 78 && c == 91 -> assert(false)
    od
}";

/// Checks three files; one of them takes too long.
fn checked(format: &str) -> (i32, String) {
    let folder = Folder::new(&format!("three-{format}"));
    folder.file("wrong.pml", WRONG);
    folder.file("rejected.pml", REJECTED);
    folder.file("endless.pml", ENDLESS);
    let words =
        ["check", "--format", format, "--time-limit", "1s", "--assertions", "wrong.pml", "rejected.pml", "endless.pml"];
    let output = command(&words).current_dir(&folder.0).output().unwrap();
    (output.status.code().unwrap(), text(&output))
}

#[test]
fn sarif_has_all_files_and_steps() {
    let (code, log) = checked("sarif");
    assert_eq!(code, 2);
    let log: Value = serde_json::from_str(&log).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    let results = run["results"].as_array().unwrap();
    let place = |result: &Value| result["locations"][0]["physicalLocation"].clone();
    let wrong = place(&results[0]);
    assert_eq!(
        [&wrong["artifactLocation"]["uri"], &wrong["region"]["startLine"]],
        [&Value::from("wrong.pml"), &4.into()]
    );
    assert_eq!(results[0]["codeFlows"][0]["threadFlows"][0]["locations"].as_array().unwrap().len(), 2);
    assert_eq!([&results[1]["kind"], &results[1]["level"]], ["open", "none"]);
    assert_eq!(place(&results[1])["artifactLocation"]["uri"], "endless.pml");
    let invocation = &run["invocations"][0];
    assert_eq!([&invocation["executionSuccessful"], &invocation["exitCode"]], [&Value::from(false), &2.into()]);
    let rejected = &invocation["toolExecutionNotifications"][0]["locations"][0]["physicalLocation"];
    assert_eq!(
        [&rejected["artifactLocation"]["uri"], &rejected["region"]["startLine"]],
        [&Value::from("rejected.pml"), &2.into()]
    );
}

#[test]
fn junit_has_a_test_suite_for_each_file() {
    let (_, xml) = checked("junit");
    assert_eq!([xml.matches("<testsuite name=").count(), xml.matches("<testcase ").count()], [3, 3], "{xml}");
    assert!(xml.contains("<failure type=\"violated\" message=\"assertion violated (x == 2)\">wrong.pml:4: "), "{xml}");
    assert!(xml.contains("<error type=\"input\"") && xml.contains("<error type=\"unknown\""), "{xml}");
    assert!(xml.starts_with("<?xml ") && xml.ends_with("</testsuites>\n"), "{xml}");
}

#[test]
fn github_has_annotations() {
    let (_, lines) = checked("github");
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(
        lines[0].starts_with("::error file=wrong.pml,line=4,title=assertions is violated::assertion violated"),
        "{lines:?}"
    );
    assert!(lines[1].starts_with("::error file=rejected.pml,line=2,col=27,"), "{lines:?}");
    assert!(lines[2].starts_with("::warning file=endless.pml,title=assertions is not decided::"), "{lines:?}");
}

#[test]
fn json_is_what_it_was() {
    let (_, lines) = checked("json");
    let models: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["model"].clone()).collect();
    assert_eq!(models, ["wrong.pml", "rejected.pml", "endless.pml"]);
}

/// Where memory is exhausted the supervisor ends the work, and the document is complete all the same.
#[test]
fn what_is_cut_short_is_a_whole_document() {
    let folder = Folder::new("cut");
    let file = folder.file("endless.pml", ENDLESS);
    for format in ["sarif", "junit"] {
        let output = support::ample(&["check", "--format", format, "--memory-limit", "60M"], &file);
        assert_eq!(output.status.code(), Some(3));
        let text = text(&output);
        match format {
            "sarif" => {
                assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["runs"][0]["invocations"][0]["exitCode"], 3)
            }
            _ => assert!(text.ends_with("</testsuites>\n") && text.contains("<error type=\"unknown\""), "{text}"),
        }
    }
    let output = support::ample(&["check", "--format", "sarif", "--json"], &file);
    assert_eq!(output.status.code(), Some(2));
}

/// Where somebody interrupts the work, files that were not reached are in the document as well.
#[cfg(unix)]
#[test]
fn what_was_not_reached_is_not_decided() {
    let folder = Folder::new("interrupt");
    folder.file("endless.pml", ENDLESS);
    folder.file("wrong.pml", WRONG);
    let words = ["check", "--format", "junit", "--assertions", "endless.pml", "wrong.pml"];
    let mut command = command(&words);
    let child = command.current_dir(&folder.0).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(1));
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let xml = text(&output);
    assert_eq!(
        [xml.matches("<testsuite name=").count(), xml.matches("<error type=\"unknown\"").count()],
        [2, 2],
        "{xml}"
    );
    assert!(xml.contains("wrong.pml: interrupted before there was an answer"), "{xml}");
}
