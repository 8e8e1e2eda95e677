//! What tests of the command share: a folder of models, running the command, reading what it says; and other tools that
//! answers are compared with.

#![allow(dead_code)] // Not every test uses all of it.

pub mod coverage;
pub mod oracle;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// A temporary folder, gone after the test.
pub struct Folder(pub PathBuf);

impl Folder {
    /// For the test of that name.
    pub fn new(test: &str) -> Folder {
        let name = format!("ample-{}-{}-{test}", env!("CARGO_CRATE_NAME"), std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    /// A file in it with that text; folders in its name are made.
    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A file below `models`.
pub fn model(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(path)
}

/// The command with these words.
pub fn command(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ample"));
    command.args(words).stdin(Stdio::null());
    command
}

/// Runs the command with these words, and a file behind them.
pub fn ample(words: &[&str], file: &Path) -> Output {
    command(words).arg(file).output().unwrap()
}

/// The exit code.
pub fn code(output: &Output) -> i32 {
    output.status.code().expect("an exit code")
}

/// What it said on standard output.
pub fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// What it said on standard error.
pub fn errors(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The JSON that it wrote to standard output.
pub fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", text(output)))
}

/// The result for a property in a report.
pub fn result<'a>(report: &'a Value, property: &str) -> &'a Value {
    let results = report["results"].as_array().unwrap();
    results.iter().find(|result| result["property"] == property).unwrap_or_else(|| panic!("no {property}"))
}
