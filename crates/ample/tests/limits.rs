//! Limits hold in every phase: models that are hard to set up, to analyse or to search, with every engine, under small
//! limits of time and memory.
//!
//! Machines that run tests are slow, so the time allowed beyond a limit is several times what the manual promises; a
//! phase that does not ask its budget takes much longer than that.

mod support;

use std::io::Read;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;
use support::{Folder, command};

/// So much later than its time limit a run may end here.
const LATE: Duration = Duration::from_secs(6);
/// So much more memory than its limit a run may hold, in bytes.
const MORE: u64 = 20 << 20;

/// What came of a run.
struct Ran {
    exit: i32,
    json: Value,
    took: Duration,
    /// The most memory it held; none where the operating system does not tell.
    peak: Option<u64>,
}

/// Runs `ample` on a model, and looks at its memory meanwhile.
fn run(name: &str, text: &str, arguments: &[&str]) -> Ran {
    let folder = Folder::new(name);
    let path = folder.file(name, text);
    let begun = Instant::now();
    let mut child =
        command(arguments).arg("--json").arg(&path).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let output = std::thread::spawn(move || {
        let mut text = String::new();
        stdout.read_to_string(&mut text).map(|_| text)
    });
    let mut peak = None;
    let status = loop {
        peak = peak.max(peak_of(child.id()));
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        std::thread::sleep(Duration::from_millis(3));
    };
    let took = begun.elapsed();
    let text = output.join().unwrap().unwrap();
    let json = text.lines().last().and_then(|line| serde_json::from_str(line).ok()).unwrap_or_default();
    Ran { exit: status.code().unwrap_or(-1), json, took, peak }
}

/// The most memory that a process has held, in bytes.
fn peak_of(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

/// The limits were kept, and what was not decided is said to be unknown.
fn assert_within(ran: &Ran, seconds: u64, megabytes: u64, what: &str) {
    assert!(ran.took < Duration::from_secs(seconds) + LATE, "{what}: it took {:?}", ran.took);
    let limit = megabytes * 1_000_000;
    if let Some(peak) = ran.peak {
        assert!(peak <= (limit + MORE).max(limit / 100 * 105), "{what}: it held {} MB", peak / 1_000_000);
    }
    assert!([0, 1, 3].contains(&ran.exit), "{what}: exit code {}", ran.exit);
    if ran.exit == 3 {
        let answers = ran.json["results"].as_array();
        let reasons = |answers: &Vec<Value>| answers.iter().any(|answer| answer["verdict"] == "unknown");
        assert!(answers.is_none_or(|answers| answers.is_empty() || reasons(answers)), "{what}: {}", ran.json);
        // A formula or a state that is too large for an engine is refused, whatever time there is.
        let is_too_large = |text: &&str| ran.json.to_string().contains(text);
        let is_refused =
            ["the automaton of the formula has", "that the symbolic engine supports"].iter().any(is_too_large);
        assert!(is_refused || ran.json["complete"] == false, "{what}: {}", ran.json);
    }
}

/// Models that are hard in one way or another, with their names.
fn hard_models() -> Vec<(&'static str, String)> {
    let options = |count: u32| (0..count).map(|k| format!(":: x == {k} -> x = {}\n", k + 1)).collect::<String>();
    let arrays = |count: u32| (0..count).map(|k| format!("byte a{k}[250];\n")).collect::<String>();
    let uses = |count: u32| (0..count).map(|k| format!(":: a{k}[i] = a{k}[j] + 1\n")).collect::<String>();
    vec![
        ("initial_states.mil", initial_states(4)),
        (
            "array.pml",
            "byte a[32000]; int i; active proctype P() { do :: a[i] = a[i] + 1; i = (i * 7 + 1) % 32000 od }".into(),
        ),
        (
            "sequential.pml",
            "int a[200000] = 3; int i; active proctype P() { do :: i < 9000 -> a[i] = a[i + 1]; i++ od }".into(),
        ),
        (
            "two.pml",
            "int a[20000]; int i; active [2] proctype P() { do :: i < 9000 -> a[i] = a[i + 1]; i++ od }".into(),
        ),
        (
            "arrays.pml",
            format!("{}byte i, j; active [2] proctype P() {{ do\n{}:: i++ :: j++ od }}", arrays(400), uses(400)),
        ),
        ("children.pml", "proctype P() { run P() } init { run P() }".into()),
        ("options.pml", format!("int x; active [2] proctype P() {{ do :: if\n{}fi od }}", options(10_000))),
        (
            "queues.pml",
            "chan q[50] = [3] of { byte, byte }; active [60] proctype P() { byte a, b; \
                        do :: q[_pid % 50]!_pid, 1 :: q[(_pid + 1) % 50]?a, b od }"
                .into(),
        ),
    ]
}

/// A model with 2^(16·count) initial states.
fn initial_states(count: u32) -> String {
    let variables: String = (0..count).map(|k| format!("g{k}:16; ")).collect();
    format!("ACTIONS a; END VARIABLES {variables}END MAIN CASE [a] g0 == 0: g0 := 1; END END")
}

#[test]
fn engines_keep_to_small_limits() {
    for (name, text) in hard_models() {
        for engine in ["explicit", "symbolic", "auto"] {
            let arguments = ["check", "--engine", engine, "--time-limit", "2s", "--memory-limit", "100M"];
            let ran = run(&format!("{engine}-{name}"), &text, &arguments);
            assert_within(&ran, 2, 100, &format!("{name}, {engine}"));
        }
    }
}

#[test]
fn counting_states_and_observation_graphs_keep_to_small_limits() {
    for (name, text) in hard_models() {
        for engine in ["explicit", "symbolic"] {
            let arguments = ["states", "--engine", engine, "--time-limit", "1s", "--memory-limit", "80M"];
            let ran = run(&format!("states-{engine}-{name}"), &text, &arguments);
            assert_within(&ran, 1, 80, &format!("states of {name}, {engine}"));
        }
    }
    for (name, text) in hard_models() {
        let ran = run(&format!("sog-{name}"), &text, &["sog", "--time-limit", "1s", "--memory-limit", "80M"]);
        assert!(ran.took < Duration::from_secs(1) + LATE, "sog of {name}: it took {:?}", ran.took);
        let within = |peak| peak <= 80_000_000 + MORE;
        assert!(ran.peak.is_none_or(within), "sog of {name}: it held {:?} bytes", ran.peak);
    }
}

#[test]
fn algorithms_for_partial_orders_keep_to_small_limits() {
    for (name, text) in hard_models().into_iter().filter(|(name, _)| name.ends_with(".pml")) {
        for algorithm in ["guards", "stubborn", "conditional", "conflicting", "overman"] {
            let por = ["--por", "persistent", "--por-algorithm", algorithm];
            let limits = ["check", "--engine", "explicit", "--time-limit", "1s", "--memory-limit", "200M"];
            let ran = run(&format!("{algorithm}-{name}"), &text, &[&limits[..], &por].concat());
            assert_within(&ran, 1, 200, &format!("{name}, {algorithm}"));
        }
    }
}

#[test]
fn formulas_keep_to_small_limits() {
    let parts: Vec<String> = (0..14).map(|k| format!("([]<> (x == {k}) -> []<> (x == {}))", k + 20)).collect();
    let until = (1..30).fold("(x == 0)".to_owned(), |f, k| format!("(({f} U (x == {k})) V (x == {}))", k + 40));
    for (name, formula) in [("fair.pml", parts.join(" && ")), ("until.pml", until)] {
        let text = format!("byte x; active [2] proctype P() {{ do :: x++ :: x-- od }}\nltl f {{ {formula} }}");
        for engine in ["explicit", "symbolic"] {
            let arguments = ["check", "--engine", engine, "--time-limit", "1s", "--memory-limit", "200M"];
            let ran = run(&format!("{engine}-{name}"), &text, &arguments);
            assert_within(&ran, 1, 200, &format!("{name}, {engine}"));
        }
    }
}

#[test]
fn initial_states_are_enumerated_one_by_one() {
    let limits = ["states", "--engine", "explicit", "--time-limit", "300ms", "--memory-limit", "200M"];
    let ran = run("endless.mil", &initial_states(4), &limits);
    assert_eq!((ran.exit, &ran.json["complete"]), (3, &Value::Bool(false)), "{}", ran.json);
    // Few of them, and all engines agree.
    for engine in ["explicit", "symbolic"] {
        let text = initial_states(1);
        let ran = run(&format!("few-{engine}.mil"), &text, &["states", "--engine", engine, "--memory-limit", "500M"]);
        assert_eq!(ran.json["stats"]["states"], 65_536, "{engine}: {}", ran.json);
    }
}

#[test]
fn a_trace_from_any_initial_state_is_replayed() {
    // The run begins in the last of 2^192 initial states, or of 2^32.
    for (count, start) in [(2, (1u128 << 32) - 1), (12, 0)] {
        let variables: String = (0..count).map(|k| format!("g{k}:16; ")).collect();
        let last: Vec<String> = (0..count).map(|k| format!("g{k} == 65535")).collect();
        let condition = last.join(" && ");
        let text =
            format!("ACTIONS a; END VARIABLES {variables}b:1:=0; END MAIN CASE [a] {condition}: b := 1; END END");
        let arguments = ["check", "--engine", "symbolic", "--invariant", "b == 0", "--memory-limit", "500M"];
        let ran = run(&format!("last-{count}.mil"), &text, &arguments);
        assert_eq!(ran.exit, 1, "{}", ran.json);
        let answers = ran.json["results"].as_array().unwrap();
        let violated = answers.iter().find(|answer| answer["trace"].is_object());
        let trace = &violated.unwrap_or_else(|| panic!("no trace: {}", ran.json))["trace"];
        assert_eq!(trace["prefix"].as_array().map(Vec::len), Some(1), "{trace}");
        if count == 2 {
            assert_eq!(trace["start"], Value::from(start as u64));
        } else {
            let number = trace["start"].as_str().expect("a number of many digits");
            assert_eq!(number.len(), 58, "{number}");
        }
    }
}
