//! What was cut short is never presented as complete: every way to end early, with every command, engine and language.

#![cfg(unix)]

mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use support::Folder;

/// Numbers that are mixed without end: nobody comes to the end of it, with states or with diagrams.
const PROMELA: &str = "int a = 1, b = 2, c = 3, d = 5;
active [3] proctype P() {
    do
    :: a = a * 1103515245 + 12345 + (b ^ d)
    :: b = b * 69069 + a + c
    :: c = c * 1664525 + 1013904223 + a * d
    :: d = d * 22695477 + b * c + 1
    od
}
ltl l { <> [] (a == 7 && b == 9 && c == 11) || [] <> (d == 13 && b == 1) }";

const MILESTONES: &str = "ACTIONS a; b; c; d; END
VARIABLES g0 : 24 := 1; g1 : 24 := 2; g2 : 24 := 3; g3 : 24 := 5; END
MAIN CASE
  [a] true: g0 := g0 * 69069 + g1 + g3;
  [b] true: g1 := g1 * 1664525 + g0 * g2;
  [c] true: g2 := g2 * 22695477 + g0 + g3 * g1;
  [d] true: g3 := g3 * 1103515 + g1 * g2 + 1;
END END
LTL F (G g0 == 7) | G (F g1 == 1); END
CTL AG EF (g0 == 7 & g1 == 9 & g2 == 11 & g3 == 1); END";

/// A net without bounds.
const NET: &str = r#"<pnml><net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="g">
<place id="p"/><place id="q"/><place id="r"/><place id="s"><initialMarking><text>1</text></initialMarking></place>
<transition id="t"/><transition id="u"/><transition id="v"/><transition id="w"/>
<arc id="a0" source="t" target="p"/><arc id="a1" source="p" target="u"/><arc id="a2" source="u" target="q"/>
<arc id="a3" source="u" target="r"/><arc id="a4" source="q" target="v"/><arc id="a5" source="v" target="s"/>
<arc id="a6" source="s" target="w"/><arc id="a7" source="r" target="w"/><arc id="a8" source="w" target="s"/>
<arc id="a9" source="w" target="p"/></page></net></pnml>"#;

/// How the work is ended.
#[derive(Clone, Copy, Debug)]
enum End {
    Time,
    Memory,
    Signal(&'static str),
}

fn start(words: &[&str], end: End, file: &Path) -> Output {
    let mut command = support::command(words);
    command.arg(file).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Nothing may depend on a limit that is not the one under test, except that the test has to end.
    match end {
        End::Time => command.args(["--time-limit", "400ms"]),
        // With little memory some engines go on for ever, forgetting what they have seen.
        End::Memory => command.args(["--memory-limit", "48M", "--time-limit", "4s"]),
        End::Signal(_) => command.args(["--memory-limit", "2G"]),
    };
    let child = command.spawn().unwrap();
    if let End::Signal(signal) = end {
        std::thread::sleep(Duration::from_millis(600));
        Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    }
    child.wait_with_output().unwrap()
}

fn in_folder(test: &str, files: &[(&str, &str)]) -> (Folder, Vec<PathBuf>) {
    let folder = Folder::new(test);
    let paths = files.iter().map(|(name, text)| folder.file(name, text)).collect();
    (folder, paths)
}

#[test]
fn what_ends_early_says_so() {
    let (_folder, files) = in_folder("early", &[("m.pml", PROMELA), ("m.mil", MILESTONES), ("n.pnml", NET)]);
    let engines: [&[&str]; 4] = [&[], &["--engine", "explicit"], &["--engine", "symbolic"], &["--engine", "sog"]];
    let ends = [End::Time, End::Memory, End::Signal("-INT"), End::Signal("-TERM")];
    let mut problems = Vec::new();
    let mut tried = 0;
    for (number, file) in files.iter().enumerate() {
        for engine in engines {
            for command in ["states", "check"] {
                // There is no such thing, and a test below says so.
                if command == "states" && engine.contains(&"sog") {
                    continue;
                }
                let asked: &[&str] = match (command, number) {
                    ("check", 2) => &["--ltl", "G F (p == 7 && q == 3)", "--ctl", "AG EF (p == 7 && r == 9)"],
                    _ => &[],
                };
                for end in ends {
                    tried += 1;
                    let words: Vec<&str> = [&[command], engine, asked].concat();
                    let begun = Instant::now();
                    let output = start(&[&words[..], &["--json"]].concat(), end, file);
                    let took = begun.elapsed();
                    let mut blame = |what: &str| {
                        let shown = String::from_utf8_lossy(&output.stdout).chars().take(400).collect::<String>();
                        problems.push(format!("{words:?} {end:?} {}: {what}\n{shown}", file.display()));
                    };
                    let Ok(report) = serde_json::from_slice::<Value>(&output.stdout) else {
                        blame("no JSON");
                        continue;
                    };
                    let code = output.status.code();
                    let open = report["results"].as_array().is_some_and(|results| {
                        results.is_empty() || results.iter().any(|result| result["verdict"] == "unknown")
                    });
                    let decided = command == "check" && !open;
                    let violated = report["results"]
                        .as_array()
                        .is_some_and(|results| results.iter().any(|result| result["verdict"] == "violated"));
                    if !decided && code != Some(if violated { 1 } else { 3 }) {
                        blame(&format!("exit {code:?}"));
                    }
                    // An engine that cannot do what is asked has not been cut short.
                    let unsupported = engine.contains(&"sog");
                    if !decided && !unsupported && report["complete"] != false {
                        blame("complete");
                    }
                    if took > Duration::from_secs(10) && !matches!(end, End::Memory) {
                        blame(&format!("took {took:?}"));
                    }
                }
            }
        }
    }
    assert!(problems.is_empty(), "{} of {tried}:\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn the_text_says_that_it_did_not_come_to_its_end() {
    let (_folder, files) = in_folder("early-text", &[("m.pml", PROMELA), ("m.mil", MILESTONES), ("n.pnml", NET)]);
    for file in &files {
        for (end, reason) in [(End::Time, "time limit"), (End::Signal("-INT"), "interrupted")] {
            let output = start(&["states"], end, file);
            let text =
                format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            assert_eq!(output.status.code(), Some(3), "{text}");
            assert!(text.contains("did not come to its end") && text.contains(reason), "{}: {text}", file.display());
        }
    }
}

#[test]
fn an_observation_graph_does_not_count_states() {
    let (_folder, files) = in_folder("early-sog", &[("n.pnml", NET)]);
    let output = start(&["states", "--engine", "sog"], End::Time, &files[0]);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("ample sog"), "{text}");
}
