//! Other tools that answers are compared with. A test that wants one which is not installed is skipped, saying so; where
//! `AMPLE_REQUIRE_ORACLES` is set, as in `.ci/run`, it fails.

#![allow(dead_code)] // Not every test uses all of it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The tool, if it runs with that word; places are tried in order.
fn find(places: impl IntoIterator<Item = PathBuf>, word: &str) -> Option<PathBuf> {
    let runs = |place: &PathBuf| {
        let mut command = Command::new(place);
        command.arg(word).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
    };
    places.into_iter().find(runs)
}

/// What is not there: a failure, or a reason to skip the test.
fn required(found: Option<PathBuf>, name: &str, setup: &str) -> Option<PathBuf> {
    if found.is_none() {
        let required = std::env::var_os("AMPLE_REQUIRE_ORACLES").is_some_and(|value| !value.is_empty() && value != "0");
        assert!(!required, "{name} is not installed (see {setup}), and AMPLE_REQUIRE_ORACLES says that it has to be");
        eprintln!("skipped: {name} is not installed (see {setup})");
    }
    found
}

/// Spin.
pub fn spin() -> Option<PathBuf> {
    required(find(["spin".into()], "-V"), "Spin", "scripts/setup")
}

/// Any other program that says its version.
pub fn program(name: &str) -> Option<PathBuf> {
    required(find([name.into()], "--version"), name, "scripts/setup")
}

/// NuSMV: named by `AMPLE_NUSMV`, on the path, or where `scripts/setup --peers` puts it.
pub fn nusmv() -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache")));
    let named = std::env::var_os("AMPLE_NUSMV").map(PathBuf::from);
    let places = [named, Some("NuSMV".into()), cache.map(|cache| cache.join("ample/nusmv/NuSMV"))];
    required(find(places.into_iter().flatten(), "-help"), "NuSMV", "scripts/setup --peers")
}
