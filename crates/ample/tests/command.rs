//! The command, run as a user runs it: exit codes, JSON, text, limits, traces, simulation.

mod support;

use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use support::{Folder, ample, code, command, errors, json, result, text};

const FINE: &str = "byte x; active [2] proctype P() { x++; assert(x <= 2) }";

const MUTEX: &str = "\
bool busy; byte inside;
active [2] proctype P() {
    !busy;
    busy = true;
    inside++;
    assert(inside == 1);
    inside--;
    busy = false
}
";

const DEADLOCK: &str = "\
mtype = { req, ack };
chan a = [1] of { mtype, byte };
chan b = [0] of { mtype };
byte n;
active proctype Client() {
    a!req(3);
    printf(\"sent %d\\n\", 3);
    a!req(4);
    b!ack;
    b!req
}
active proctype Server() {
    mtype m; byte k;
    do
    :: a?m(k) -> n = n + k
    :: b?ack -> break
    od;
    a?m,k;
    b?m
}
";

const LIVE: &str = "byte x; active proctype P() { x = 1 } ltl p { <> (x == 1) }";

/// One process may keep the other from moving, and both from coming to an end.
const UNFAIR: &str = "byte x; bit y; active proctype P() { last: x = 1 }
    active proctype Q() { do :: x == 0 -> y = 1 - y :: x == 1 -> break od }
    ltl p { <> (x == 1) } ltl q { [] (x < 2) }";

/// 2^32 states and more.
const HUGE: &str = "int x; int y; active [3] proctype P() { do :: x++ :: y = y + 3 od }";

/// The same, with a violation near the start.
const HUGE_AND_WRONG: &str = "int x; int y; active [3] proctype P() { do :: x++; assert(x != 2) :: y = y + 3 od }";

#[test]
fn exit_codes_tell_the_verdict() {
    let folder = Folder::new("codes");
    let cases = [
        (&["check"] as &[&str], FINE, 0),
        (&["check"], MUTEX, 1),
        (&["check", "--deadlock"], MUTEX, 0),
        (&["check", "--assertions"], MUTEX, 1),
        (&["check"], DEADLOCK, 1),
        (&["check", "--assertions"], DEADLOCK, 0),
        (&["check"], LIVE, 0),
        (&["check"], UNFAIR, 1),
        (&["check", "--ltl", "q"], UNFAIR, 0),
        (&["check", "--ltl", "p"], UNFAIR, 1),
        (&["check", "--fairness", "weak"], UNFAIR, 0),
        (&["check", "--fairness", "strong"], UNFAIR, 0),
        (&["check", "--emptiness", "nested"], UNFAIR, 1),
        (&["check", "--emptiness", "components"], UNFAIR, 1),
        (&["check", "--emptiness", "nested", "--fairness", "weak"], UNFAIR, 3),
        (&["check", "--ltl", "[] <> y == 1"], UNFAIR, 2),
        (&["check", "--ltl", "G F (y == 1)"], UNFAIR, 1),
        (&["check", "--ltl", "(P@last) U (x == 1)", "--fairness", "weak"], UNFAIR, 0),
        (&["check", "--ltl", "<> (_last == 1)"], UNFAIR, 0),
        (&["check", "--ltl", "[] (_last == 0)"], UNFAIR, 1),
        (&["check", "--ctl", "AG EF (x == 1)"], UNFAIR, 0),
        (&["check", "--ctl", "AF (x == 1)"], UNFAIR, 1),
        (&["check", "--ctl", "AF (x == 1)", "--fairness", "weak"], UNFAIR, 0),
        (&["check", "--ctl", "AF (x == 1)", "--fairness", "weak", "--engine", "explicit"], UNFAIR, 3),
        (&["check", "--ctl", "G (x == 1)"], UNFAIR, 2),
        (&["check", "--never"], UNFAIR, 2),
        (&["check", "--acceptance", "--non-progress"], UNFAIR, 1),
        (&["check", "--deadlock"], LIVE, 0),
        (&["check", "--max-depth", "1"], FINE, 3),
        (&["states"], MUTEX, 0),
        (&["states", "--max-depth", "1"], MUTEX, 3),
        (&["check"], "active proctype P() { x = 1 }", 2),
        (&["check"], "active proctype P( {", 2),
        (&["check", "--engine", "nonsense"], FINE, 2),
        (&["check", "--time-limit", "soon"], FINE, 2),
        (&["check", "--search", "dfs"], MUTEX, 1),
        (&["check", "--search", "dfs"], DEADLOCK, 1),
        (&["check", "--search", "dfs"], FINE, 0),
    ];
    for (words, model, expected) in cases {
        let output = ample(words, &folder.file("m.pml", model));
        assert_eq!(code(&output), expected, "{words:?} on {model}: {}{}", text(&output), errors(&output));
    }
    assert_eq!(code(&ample(&["check"], Path::new("there/is/no/such.pml"))), 2);
    assert_eq!(code(&ample(&["check"], &folder.0)), 2);
    assert_eq!(code(&ample(&["frobnicate"], Path::new("m.pml"))), 2);
}

/// Evidence that is found without what nothing depends on is told as steps of the whole model.
#[test]
fn sliced_processes_and_messages_are_part_of_counterexamples() {
    let folder = Folder::new("sliced");
    let cases = [
        // A process that stands at its end.
        (
            "byte g; active proctype P() { g = 1; (g == 2) } active proctype Q() { byte x; x = 1; x = 2; x = 3 }",
            "deadlock",
        ),
        // One that keeps the other from moving.
        (
            "byte g; active proctype P() { g = 1 } active proctype Q() { byte x; do :: x = 1 :: x = 2 od }
             ltl p { <> (g == 1) }",
            "ltl:p",
        ),
        // A counter that is sent and not read: the cycle closes without it.
        (
            "chan c = [1] of { int }; int n; bit b; active proctype P() { do :: c!n; n++ od }
             active proctype Q() { int x; do :: c?x; x = 0; b = 1 - b od } ltl p { <> [] (b == 1) }",
            "ltl:p",
        ),
    ];
    for (model, property) in cases {
        let report = json(&ample(&["check", "--json", "--time-limit", "60"], &folder.file("m.pml", model)));
        let found = result(&report, property);
        assert_eq!(found["verdict"], "violated", "{model}: {report}");
        let steps = [&found["trace"]["prefix"], &found["trace"]["cycle"]];
        let labels: String = steps.iter().map(|steps| steps.to_string()).collect();
        assert!(labels.contains("x = 1") || labels.contains("n"), "{model}: {labels}");
    }
}

#[test]
fn json_follows_the_schema() {
    let folder = Folder::new("json");
    let output = ample(&["check", "--json", "--por", "none", "--reductions", "none"], &folder.file("m.pml", DEADLOCK));
    let report = json(&output);
    assert_eq!(report["schema"], 1);
    assert_eq!(report["language"], "promela");
    assert_eq!(report["complete"], true);
    assert!(report["model"].as_str().unwrap().ends_with("m.pml"));
    assert_eq!(result(&report, "assertions")["verdict"], "holds");
    assert_eq!(result(&report, "assertions")["certainty"], "proved");
    let deadlock = result(&report, "deadlock");
    assert_eq!(deadlock["verdict"], "violated");
    assert_eq!(deadlock["engine"], "explicit");
    assert_eq!(deadlock["trace"]["prefix"].as_array().unwrap().len(), 8);
    assert_eq!(deadlock["trace"]["cycle"].as_array().unwrap().len(), 0);
    assert_eq!(deadlock["end"]["processes"][0]["waits_for"][0], "b!req");
    for field in ["states", "transitions", "depth", "time_s", "memory_bytes"] {
        assert!(report["stats"][field].is_number(), "{field}");
    }
    assert_eq!(report["stats"]["states"], 17);

    let report = json(&ample(&["check", "--json", "--reductions", "none"], &folder.file("m.pml", UNFAIR)));
    let p = result(&report, "ltl:p");
    assert_eq!(p["verdict"], "violated");
    assert_eq!(p["formula"], "<> (x == 1)");
    assert_eq!(p["trace"]["prefix"].as_array().unwrap().len(), 0);
    assert_eq!(p["trace"]["cycle"].as_array().unwrap().len(), 4);
    assert!(p["stats"]["states"].as_u64().unwrap() > 2);
    assert_eq!(result(&report, "ltl:q")["certainty"], "proved");

    let words = [
        "check",
        "--json",
        "--ctl",
        "EF (x == 0 && EG (y == 0) && EX (y == 1))",
        "--ctl",
        "AG (y == 0 && EX (y == 1))",
    ];
    let report = json(&ample(&words, &folder.file("m.pml", UNFAIR)));
    assert_eq!(report["results"][0]["property"], "ctl:EF (x == 0 && EG (y == 0) && EX (y == 1))");
    assert_eq!(report["results"][1]["verdict"], "violated");

    let report = json(&ample(&["states", "--json"], &folder.file("m.pml", DEADLOCK)));
    assert_eq!(report["stats"]["states"], 17);
    assert_eq!(report["results"].as_array().unwrap().len(), 0);
}

#[test]
fn several_files_are_several_objects() {
    let folder = Folder::new("several");
    let (fine, wrong) = (folder.file("fine.pml", FINE), folder.file("mutex.pml", MUTEX));
    let output = ample(&["check", "--json", fine.to_str().unwrap()], &wrong);
    assert_eq!(code(&output), 1);
    let lines: Vec<Value> = text(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(result(&lines[0], "assertions")["verdict"], "holds");
    assert_eq!(result(&lines[1], "assertions")["verdict"], "violated");
}

#[test]
fn what_is_wrong_with_the_input_is_shown_where_it_is() {
    let folder = Folder::new("diagnostics");
    let file = folder.file("bad.pml", "byte x;\nactive proctype P() { zebra = 1 }\n");
    let output = ample(&["check", "--json"], &file);
    assert_eq!(code(&output), 2);
    let told = errors(&output);
    assert!(told.contains("zebra") && told.contains("bad.pml:2:23"), "{told}");
    assert!(!told.contains('\x1b'));
    let report = json(&output);
    assert_eq!(report["schema"], 1);
    assert!(report["error"].is_string());
    let diagnostic = &report["diagnostics"][0];
    assert_eq!((&diagnostic["line"], &diagnostic["column"]), (&Value::from(2), &Value::from(23)));
    assert_eq!(diagnostic["severity"], "error");
}

#[test]
fn macros_can_be_defined_outside() {
    let folder = Folder::new("defines");
    let file = folder.file("m.pml", "byte x; active proctype P() { do :: x < N -> x++ :: else -> break od }");
    let states = |n: &str| json(&ample(&["states", "--json", "-D", n], &file))["stats"]["states"].as_u64().unwrap();
    assert!(states("N=30") > states("N=3"));
    assert_eq!(code(&ample(&["states"], &file)), 2);
}

#[test]
fn the_text_begins_with_the_verdicts_and_ends_with_the_counts() {
    let folder = Folder::new("text");
    let output = ample(&["check"], &folder.file("m.pml", MUTEX));
    let text = text(&output);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[1].contains("assertions  violated: assertion violated (inside == 1), after 7 steps"), "{text}");
    assert!(lines[2].contains("deadlock    holds"), "{text}");
    assert!(text.contains("inside: 1 → 2"), "{text}");
    assert!(text.contains(" states, stored\n") && text.contains(" transitions (= stored+matched)\n"), "{text}");
    assert!(!text.contains('\x1b'));
    assert!(errors(&output).is_empty());
}

#[test]
fn a_deadlock_is_explained() {
    let folder = Folder::new("explained");
    let file = folder.file("m.pml", DEADLOCK);
    let shown = text(&ample(&["check"], &file));
    assert!(shown.contains("Client(0)  m.pml:10  waits for  b!req"), "{shown}");
    assert!(shown.contains("channel a: empty"), "{shown}");
    // A handshake is one step with two sides.
    let lines: Vec<&str> = shown.lines().collect();
    let sender = lines.iter().position(|line| line.trim_start().starts_with("8  Client(0)")).unwrap();
    assert!(lines[sender].contains("b!ack") && lines[sender + 1].contains("Server(1)"), "{shown}");
    let chart = text(&ample(&["check", "--msc"], &file));
    assert!(chart.contains("[a!req,3]") && chart.contains("a?req,3--->|") && chart.contains("b!ack---->|"), "{chart}");
    let quiet = text(&ample(&["check", "--quiet"], &file));
    assert_eq!(quiet.lines().count(), 3, "{quiet}");
}

#[test]
fn limits_end_the_search_and_keep_what_is_known() {
    let folder = Folder::new("limits");
    let (huge, wrong) = (folder.file("huge.pml", HUGE), folder.file("wrong.pml", HUGE_AND_WRONG));
    for (limit, value, reason) in [
        ("--time-limit", "300ms", "the time limit was reached"),
        ("--memory-limit", "64M", "the memory limit was reached"),
    ] {
        for search in ["bfs", "dfs"] {
            let begun = Instant::now();
            let output = ample(&["check", "--json", "--search", search, limit, value], &huge);
            assert_eq!(code(&output), 3, "{limit} {search}: {}", errors(&output));
            assert!(begun.elapsed() < Duration::from_secs(30), "{limit} {search}");
            let report = json(&output);
            assert_eq!(report["complete"], false);
            assert_eq!(result(&report, "deadlock")["reason"], reason, "{limit} {search}");
            assert!(report["stats"]["states"].as_u64().unwrap() > 0);
            if limit == "--memory-limit" {
                assert!(report["stats"]["memory_bytes"].as_u64().unwrap() <= 66 << 20, "{limit} {search}: {report}");
            }
        }
        // An engine that needs little memory would go on for minutes.
        let mut words = vec!["check", "--json", limit, value];
        words.extend(if limit == "--memory-limit" { &["--time-limit", "10s"][..] } else { &[] });
        let output = ample(&words, &wrong);
        assert_eq!(code(&output), 1);
        assert_eq!(result(&json(&output), "assertions")["verdict"], "violated");
        assert_eq!(result(&json(&output), "deadlock")["verdict"], "unknown");
    }
}

#[test]
fn counterexamples_that_are_to_be_shortest_are() {
    let folder = Folder::new("shortest");
    let model = "byte x; active proctype A() { byte l; x = 1; l = 1; l = l + 1; x = l }
        active proctype B() { x == 1; assert(false) }";
    let file = folder.file("m.pml", model);
    for words in
        [&["--search", "bfs"][..], &["--engine", "bounded"], &["--sat-method", "bmc"], &["--reductions", "none"]]
    {
        let output = ample(&[&["check", "--json", "--assertions"], words].concat(), &file);
        let report = json(&output);
        let steps = result(&report, "assertions")["trace"]["prefix"].as_array().unwrap();
        assert_eq!(steps.len(), 3, "{words:?}: {report}");
    }
}

#[test]
fn stopping_at_the_first_violation_leaves_the_rest_undecided() {
    let folder = Folder::new("first");
    let output = ample(&["check", "--json", "--stop-at-first"], &folder.file("m.pml", MUTEX));
    assert_eq!(code(&output), 1);
    assert_eq!(result(&json(&output), "assertions")["verdict"], "violated");
    assert_eq!(result(&json(&output), "deadlock")["verdict"], "unknown");
}

#[test]
fn invariants_are_expressions_over_the_model() {
    let folder = Folder::new("invariant");
    let file = folder.file("m.pml", MUTEX);
    let output = ample(&["check", "--json", "--invariant", "inside <= 2", "--invariant", "inside < 2"], &file);
    assert_eq!(code(&output), 1, "{}", errors(&output));
    let report = json(&output);
    assert_eq!(report["results"].as_array().unwrap().len(), 2);
    assert_eq!(result(&report, "invariant:inside <= 2")["verdict"], "holds");
    let violated = result(&report, "invariant:inside < 2");
    assert_eq!(violated["verdict"], "violated");
    assert_eq!(violated["formula"], "inside < 2");
    assert_eq!(violated["trace"]["prefix"].as_array().unwrap().len(), 6);
    let shown = text(&ample(&["check", "--invariant", "inside < 2"], &file));
    assert!(shown.contains("busy = 1, inside = 2"), "{shown}");
    for wrong in ["outside < 2", "inside <", "inside = 3", ""] {
        let output = ample(&["check", "--json", "--invariant", wrong], &file);
        assert_eq!(code(&output), 2, "{wrong}");
        assert!(json(&output)["error"].is_string());
    }
}

#[cfg(unix)]
fn interrupt(child: &Child) {
    let done = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(done.success());
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_the_search_with_what_is_known() {
    let folder = Folder::new("interrupt");
    let file = folder.file("m.pml", HUGE);
    let mut child = command(&["check", "--json", "--memory-limit", "1G"])
        .arg(&file)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(400));
    assert!(child.try_wait().unwrap().is_none(), "the search is over too soon");
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 3);
    let report = json(&output);
    assert_eq!(report["complete"], false);
    assert_eq!(result(&report, "deadlock")["reason"], "interrupted");
}

#[test]
fn a_trace_file_can_be_replayed() {
    let folder = Folder::new("replay");
    let (file, trace) = (folder.file("m.pml", DEADLOCK), folder.0.join("trace.json"));
    let trace_name = trace.to_str().unwrap();
    assert_eq!(code(&ample(&["check", "--quiet", "--trace", trace_name], &file)), 1);
    let output = ample(&["simulate", "--trace", trace_name], &file);
    assert_eq!(code(&output), 1, "{}", errors(&output));
    assert!(text(&output).contains("invalid end state") && text(&output).contains("> sent 3"), "{}", text(&output));

    // A report and the outcome of a replay are trace files, too.
    for words in [&["check", "--json"] as &[&str], &["simulate", "--json", "--trace", trace_name]] {
        let report = folder.0.join("report.json");
        std::fs::write(&report, ample(words, &file).stdout).unwrap();
        let again = ample(&["simulate", "--quiet", "--trace", report.to_str().unwrap()], &file);
        assert_eq!((code(&again), text(&again).as_str()), (1, "sent 3\n"), "{words:?}: {}", errors(&again));
    }

    let other = folder.file("other.pml", MUTEX);
    let output = ample(&["simulate", "--trace", trace_name], &other);
    assert_eq!(code(&output), 2);
    assert!(errors(&output).contains("there is no run of"), "{}", errors(&output));
    let output = ample(&["simulate", "--trace", trace_name, "--property", "ltl:x"], &file);
    assert_eq!(code(&output), 2);
    for nonsense in ["", "{", "[1,2]", "{\"trace\": 7}", "{\"prefix\": [{}], \"cycle\": []}"] {
        let file_name = folder.file("nonsense.json", nonsense);
        assert_eq!(code(&ample(&["simulate", "--trace", file_name.to_str().unwrap()], &file)), 2, "{nonsense}");
    }
    // The model has been changed since.
    folder.file("m.pml", MUTEX);
    let output = ample(&["simulate", "--trace", trace_name], &file);
    assert_eq!(code(&output), 2);
    assert!(
        errors(&output).contains("is not a run of") && errors(&output).contains(": step 1: "),
        "{}",
        errors(&output)
    );
}

#[test]
fn a_seed_repeats_a_run() {
    let folder = Folder::new("seed");
    let file = folder.file("m.pml", HUGE);
    let run = |seed: &str| text(&ample(&["simulate", "--seed", seed, "--steps", "50"], &file));
    assert_eq!(run("7"), run("7"));
    assert_ne!(run("7"), run("8"));
    let output = ample(&["simulate", "--json", "--steps", "20"], &file);
    assert_eq!(code(&output), 0);
    let report = json(&output);
    assert_eq!(report["trace"]["prefix"].as_array().unwrap().len(), 20);
    let seed = report["seed"].to_string();
    let again = json(&ample(&["simulate", "--json", "--steps", "20", "--seed", &seed], &file));
    assert_eq!(report["trace"], again["trace"]);
}

#[test]
fn a_random_run_stops_where_something_is_violated() {
    let folder = Folder::new("violated-run");
    let file = folder.file("m.pml", "byte x; active proctype P() { x = 3; assert(x == 4); x = 5 }");
    let output = ample(&["simulate"], &file);
    assert_eq!(code(&output), 1);
    assert!(text(&output).contains("assertion violated (x == 4)") && !text(&output).contains("x = 5  "));
}

#[test]
fn moves_can_be_chosen_by_hand() {
    let folder = Folder::new("interactive");
    let file = folder.file("m.pml", DEADLOCK);
    let talk = |words: &[&str], answers: &str| {
        let mut child = command(words)
            .arg(&file)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(answers.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    };
    let output = talk(&["simulate", "--interactive"], "1\n99\nb\nb\n1\n2\nq\n");
    assert_eq!(code(&output), 0);
    let shown = text(&output);
    assert!(shown.contains("`99` is none of these") && shown.contains("This is the beginning"), "{shown}");
    assert!(shown.contains("> sent 3"), "{shown}");
    // The end of the input is an answer.
    let output = talk(&["simulate", "--interactive", "--json"], "1\nb\n1\n");
    assert_eq!(json(&output)["trace"]["prefix"].as_array().unwrap().len(), 1);
    assert!(errors(&output).contains("choose"));
}

#[test]
fn a_reader_that_goes_away_is_no_trouble() {
    let folder = Folder::new("pipe");
    let file = folder.file("m.pml", HUGE);
    let mut child = command(&["simulate", "--steps", "20000"])
        .arg(&file)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(errors(&output).is_empty(), "{}", errors(&output));
    assert_eq!(code(&output), 0);
}

#[test]
fn progress_is_for_those_who_ask() {
    let folder = Folder::new("progress");
    let file = folder.file("m.pml", HUGE);
    let output = ample(&["states", "--time-limit", "900ms", "--progress", "json"], &file);
    let first = errors(&output).lines().next().map(str::to_owned).expect("a line of progress");
    let progress: Value = serde_json::from_str(&first).unwrap();
    assert!(progress["progress"]["states"].as_u64().unwrap() > 0);
    assert!(errors(&ample(&["states", "--time-limit", "500ms"], &file)).is_empty());
}

#[test]
fn odd_inputs_are_refused_without_a_crash() {
    let folder = Folder::new("odd");
    let deep = format!("byte x; init {{ x = {}1{} }}", "(".repeat(100_000), ")".repeat(100_000));
    let nested = format!("init {{ {} skip {} }}", "if :: ".repeat(50_000), " fi".repeat(50_000));
    for model in ["", "\0\0\0", "\u{feff}", "proctype", "/*", "\"", "#include \"nowhere\"", &deep, &nested] {
        let output = ample(&["check"], &folder.file("m.pml", model));
        let beginning: String = model.chars().take(20).collect();
        assert!([0, 2, 3].contains(&code(&output)), "{beginning}: {}", errors(&output));
        assert!(!errors(&output).contains("internal error"), "{beginning}: {}", errors(&output));
    }
    let bytes = folder.0.join("bytes.pml");
    std::fs::write(&bytes, [0xff, 0xfe, 0x80, 0x0a, 0xc3]).unwrap();
    assert_eq!(code(&ample(&["check"], &bytes)), 2);
}

fn own_model(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/milestones").join(name)
}

#[test]
fn the_symbolic_engine_tells_what_it_did() {
    let file = own_model("producers_consumers_20.mil");
    let counted = ample(&["states", "--engine", "symbolic", "--stats"], &file);
    assert_eq!(code(&counted), 0, "{}", errors(&counted));
    assert!(text(&counted).contains("1034661805900574442338963195400163594483 states"), "{}", text(&counted));
    assert!(text(&counted).contains("nodes of the reached set"), "{}", text(&counted));
    let report = json(&ample(&["states", "--engine", "symbolic", "--json"], &file));
    assert_eq!(report["stats"]["states"], "1034661805900574442338963195400163594483");
    assert_eq!(report["diagrams"]["bits"], 170);
}

#[test]
fn a_stated_formula_is_named_and_shown_to_fail_by_either_engine() {
    let file = own_model("running_example.mil");
    for engine in ["explicit", "symbolic"] {
        let checked = ample(&["check", "--engine", engine, "--json"], &file);
        assert_eq!(code(&checked), 1, "{}", errors(&checked));
        let report = json(&checked);
        assert_eq!(result(&report, "ctl:recurs")["verdict"], "holds");
        let stays = result(&report, "ltl:stays");
        assert_eq!((&stays["verdict"], &stays["engine"]), (&"violated".into(), &engine.into()));
        assert!(!stays["trace"]["cycle"].as_array().unwrap().is_empty());
        let one = json(&ample(&["check", "--engine", engine, "--json", "--ctl", "recurs"], &file));
        assert_eq!(one["results"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn reductions_of_one_engine_are_refused_with_the_other() {
    let file = own_model("running_example.mil");
    let explicit = ample(&["check", "--engine", "explicit", "--por", "exploration"], &file);
    assert_eq!(code(&explicit), 2);
    assert!(errors(&explicit).contains("--engine symbolic"), "{}", errors(&explicit));
    let symbolic = ample(&["check", "--engine", "symbolic", "--por", "sleep"], &file);
    assert_eq!(code(&symbolic), 2);
    // By itself it chooses the engine.
    let report = json(&ample(&["check", "--por", "exploration", "--json"], &file));
    assert_eq!(result(&report, "ctl:recurs")["engine"], "symbolic");
}
