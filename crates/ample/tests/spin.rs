//! Random models against the real Spin, where it is installed.

use std::path::Path;
use std::process::{Command, Stdio};

fn installed(program: &str) -> bool {
    let version = if program == "spin" { "-V" } else { "--version" };
    Command::new(program).arg(version).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

fn compare(words: &[&str], count: u32, seed: u32) {
    for program in ["spin", "gcc", "python3"] {
        if !installed(program) {
            eprintln!("skipped: {program} is not installed (see scripts/setup)");
            return;
        }
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/compare-with-spin");
    let done = Command::new("python3")
        .arg(script)
        .args(words)
        .args(["--count", &count.to_string(), "--seed", &seed.to_string()])
        .args(["--ample", env!("CARGO_BIN_EXE_ample")])
        .output()
        .expect("the script runs");
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{said}{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn random_models_agree_with_spin() {
    compare(&[], 12, 1);
}

#[test]
#[ignore = "takes minutes"]
fn many_random_models_agree_with_spin() {
    compare(&[], 400, 10_000);
}

#[test]
fn verdicts_about_endless_runs_agree_with_spin() {
    compare(&["--liveness"], 10, 1);
}

#[test]
#[ignore = "takes minutes"]
fn many_verdicts_about_endless_runs_agree_with_spin() {
    compare(&["--liveness"], 300, 1000);
}
