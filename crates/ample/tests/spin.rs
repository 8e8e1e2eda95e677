//! Random models against the real Spin, where it is installed.

mod support;

use std::path::Path;
use std::process::Command;
use support::oracle;

fn compare(words: &[&str], count: u32, seed: u32) {
    let tools = [oracle::spin(), oracle::program("gcc"), oracle::program("python3")];
    if tools.contains(&None) {
        return;
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
