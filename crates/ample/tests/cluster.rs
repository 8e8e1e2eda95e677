//! `--processes` and `--hosts`: the same answers and the same counts as one process gives, whoever does the work; and a clear
//! end when one of them dies.

#![cfg(target_os = "linux")]

mod support;

use std::io::Read;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use support::{Folder, ample, code, command, errors, json, model};

/// Every process of a group ends within that time, whatever happens to one of them.
const END_LIMIT: Duration = Duration::from_secs(10);

/// Processes and workers of each.
const GROUPS: [(&str, &str); 6] = [("1", "1"), ("1", "2"), ("2", "1"), ("2", "2"), ("4", "1"), ("4", "2")];

/// Numbers that are mixed without end.
const ENDLESS: &str = "int a = 1, b = 2, c = 3, d = 5;
active [3] proctype P() {
    do
    :: a = a * 1103515245 + 12345 + (b ^ d)
    :: b = b * 69069 + a + c
    :: c = c * 1664525 + 1013904223 + a * d
    :: d = d * 22695477 + b * c + 1
    od
}
ltl l { <> [] (a == 7 && b == 9 && c == 11) || [] <> (d == 13 && b == 1) }";

fn in_group(words: &[&str], (processes, threads): (&str, &str), file: &Path) -> Output {
    let group = ["--json", "--processes", processes, "--threads", threads];
    ample(&[words, &group].concat(), file)
}

/// What has to be the same.
fn counts(report: &Value) -> [&Value; 4] {
    ["states", "transitions", "atomic_steps", "depth"].map(|figure| &report["stats"][figure])
}

/// The verdict of each property, and how long its counterexample is where a shortest one is promised.
fn verdicts(report: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let results = report["results"].as_array().unwrap().iter();
    // CTL is for one process.
    let results = results.map(|one| (text(&one["property"]), text(&one["verdict"])));
    results.filter(|(property, _)| !property.starts_with("ctl")).collect()
}

/// Models of all kinds: deadlocks, violated assertions, formulas, labels, dynamic processes, atomic sequences, never claims,
/// so many combinations of processes that states do not say by themselves which are alive; and other languages.
fn models() -> Vec<PathBuf> {
    let promela = [
        "alternating_bit",
        "dekker",
        "lock_upgrade",
        "needham_schroeder",
        "par_timeout",
        "philosophers_deadlock",
        "polling_progress",
        "prime_sieve",
        "rendezvous_atomic",
        "traffic_light",
        "trehel_naimi",
        "treiber_aba",
        "watchdog_never",
    ];
    let promela = promela.iter().map(|name| model(&format!("promela/{name}.pml")));
    promela.chain([model("milestones/cash_points_small.mil"), model("smv/counter.smv")]).collect()
}

#[test]
fn every_group_counts_the_same_states() {
    for file in models() {
        let alone = json(&ample(&["states", "--json", "--engine", "explicit"], &file));
        assert_eq!(alone["complete"], true, "{}", file.display());
        for group in GROUPS {
            let output = in_group(&["states"], group, &file);
            let report = json(&output);
            assert_eq!(counts(&report), counts(&alone), "{} {group:?}", file.display());
            assert_eq!((code(&output), &report["complete"]), (0, &Value::Bool(true)), "{}", file.display());
            let workers = report["cluster"]["workers"].as_array().unwrap();
            let states: u64 = workers.iter().map(|worker| worker["states"].as_u64().unwrap()).sum();
            assert_eq!(states, alone["stats"]["states"], "each state has one owner: {} {group:?}", file.display());
        }
    }
}

#[test]
fn every_group_gives_the_same_verdicts() {
    for file in models() {
        for options in [&["check", "--por", "none"][..], &["check"]] {
            let alone = ample(&[options, &["--json", "--engine", "explicit"]].concat(), &file);
            let expected = verdicts(&json(&alone));
            let mut reduced: Option<Vec<Value>> = None;
            for group in GROUPS {
                let output = in_group(options, group, &file);
                assert_eq!(verdicts(&json(&output)), expected, "{} {options:?} {group:?}", file.display());
                let violated = expected.iter().any(|(_, verdict)| verdict == "violated");
                assert_eq!(code(&output) == 1, violated, "{} {group:?}", file.display());
                // What a reduction leaves out does not depend on who does the work, if nothing ends the search early; but where
                // processes are created, it depends on those that a worker has met.
                let creates = std::fs::read_to_string(&file).unwrap().contains("run ");
                if code(&output) == 0 && (!creates || options.contains(&"none")) {
                    let counts: Vec<Value> = counts(&json(&output)).into_iter().cloned().collect();
                    assert_eq!(reduced.get_or_insert_with(|| counts.clone()), &counts, "{} {group:?}", file.display());
                }
            }
        }
    }
}

#[test]
fn counterexamples_of_safety_properties_are_shortest() {
    for name in ["philosophers_deadlock", "lock_upgrade", "needham_schroeder", "treiber_aba"] {
        let file = model(&format!("promela/{name}.pml"));
        let lengths = |output: &Output| -> Vec<usize> {
            let report = json(output);
            let results = report["results"].as_array().unwrap().iter();
            let violated = results.filter(|one| one["verdict"] == "violated" && one["property"] != "ltl");
            violated.map(|one| one["trace"]["steps"].as_array().map_or(0, Vec::len)).collect()
        };
        let options = ["check", "--por", "none", "--reductions", "none", "--deadlock", "--assertions"];
        let alone = ample(&[&options[..], &["--json", "--search", "bfs"]].concat(), &file);
        for group in [("1", "2"), ("3", "1")] {
            assert_eq!(lengths(&in_group(&options, group, &file)), lengths(&alone), "{name} {group:?}");
        }
    }
}

/// Graphs whose aggregates are few or many, of nets and of a model with atomic sequences: what is observed.
const GRAPHS: [(&str, &[&str]); 5] = [
    ("petri/philosophers_4.pnml", &["--observe", "GoEat_0,GoEat_1,Release_2,GetL_3"]),
    ("petri/ring_3.pnml", &["--observe", "give_0,put_1,used_2", "--canonical", "send"]),
    ("petri/erk_4.pnml", &["--observe", "k3,k5,k9,k11", "--canonical", "full"]),
    ("petri/trains_12.pnml", &["--kind", "event-state", "--observe", "T0,T3", "--atoms", "Section_5 >= 1"]),
    ("promela/rendezvous_atomic.pml", &["--kind", "state", "--atoms", "free == 0", "--atoms", "running > 1"]),
];

#[test]
fn every_group_builds_the_same_graph() {
    for (name, options) in GRAPHS {
        let (file, words) = (model(name), [&["sog"], options].concat());
        let alone = json(&ample(&[&words[..], &["--json", "--threads", "1"]].concat(), &file));
        let aggregates = alone["statistics"]["aggregates"].as_u64().unwrap();
        assert!(aggregates > 1, "{name}");
        for group in GROUPS {
            let report = json(&in_group(&words, group, &file));
            assert_eq!(report["graph"], alone["graph"], "{name} {group:?}");
            assert_eq!(report["statistics"], alone["statistics"], "{name} {group:?}");
            let workers = report["cluster"]["workers"].as_array().unwrap();
            let sum = |figure: &str| workers.iter().map(|worker| worker[figure].as_u64().unwrap()).sum::<u64>();
            assert_eq!([sum("aggregates"), sum("expanded")], [aggregates; 2], "each has one owner: {name} {group:?}");
            // What travels between workers of different processes goes over the network.
            if group.1 == "1" {
                let [messages, wire] = ["message_bytes", "wire_bytes"].map(|part| report["cluster"][part].as_u64());
                assert!(wire >= messages, "{name} {group:?}: {wire:?} {messages:?}");
            }
        }
        for balance in ["order", "steal", "min-load"] {
            let report = json(&in_group(&[&words[..], &["--balance", balance]].concat(), ("2", "2"), &file));
            assert_eq!(report["graph"], alone["graph"], "{name} {balance}");
        }
    }
}

#[test]
fn formulas_on_graphs_have_the_same_verdicts_in_every_group() {
    for (name, formula) in [
        ("petri/erk_4.pnml", "G F k5"),
        ("petri/erk_4.pnml", "(!k5) W k3"),
        ("petri/trains_12.pnml", "G (Section_0 -> F Section_1)"),
        ("petri/philosophers_4.pnml", "G (WaitL_0 -> F HasL_0)"),
        ("promela/rendezvous_atomic.pml", "[] <> (running == 0)"),
    ] {
        let file = model(name);
        let alone = json(&ample(&["sog", "--json", "--threads", "1", "--ltl", formula], &file));
        for options in [&[][..], &["--on-demand"], &["--canonical", "send", "--compare-labels"]] {
            for group in GROUPS {
                let report = json(&in_group(&[&["sog", "--ltl", formula], options].concat(), group, &file));
                assert_eq!(report["verdict"], alone["verdict"], "{name} {formula} {options:?} {group:?}");
                // A counterexample has been replayed by process 0 before it is shown.
                assert_eq!(report["violation"].is_null(), alone["violation"].is_null(), "{name} {formula}");
            }
        }
    }
}

/// The whole graph has 65,536 aggregates.
#[test]
fn a_formula_that_holds_early_ends_all_workers() {
    let folder = Folder::new("early");
    let file = folder.file("counters.pml", COUNTERS);
    for group in GROUPS {
        let report = json(&in_group(&["sog", "--ltl", r#"!("a++" & "b++")"#], group, &file));
        assert_eq!(report["verdict"], "holds", "{group:?}");
        let workers = report["cluster"]["workers"].as_array().unwrap();
        let expanded: u64 = workers.iter().map(|worker| worker["expanded"].as_u64().unwrap()).sum();
        assert!(expanded < 65_536, "{group:?}: {expanded}");
    }
}

/// Between processes a slow network costs time, and nothing else.
#[test]
fn delays_make_no_difference() {
    let file = model("promela/needham_schroeder.pml");
    let delayed = |words: &[&str], file: &Path| {
        let mut command = command(&[words, &["--json", "--processes", "2", "--threads", "1"]].concat());
        json(&command.env("AMPLE_CLUSTER_DELAY", "5").arg(file).output().unwrap())
    };
    let alone = json(&ample(&["states", "--json", "--engine", "explicit"], &file));
    let report = delayed(&["states"], &file);
    assert_eq!(counts(&report), counts(&alone));
    let waited = |report: &Value| -> f64 {
        let workers = report["cluster"]["workers"].as_array().unwrap();
        workers.iter().map(|worker| worker["waited_s"].as_f64().unwrap()).sum()
    };
    assert!(waited(&report) > 0.0);
    let (name, options) = GRAPHS[1];
    let words = [&["sog"], options].concat();
    let alone = json(&ample(&[&words[..], &["--json", "--threads", "1"]].concat(), &model(name)));
    let report = delayed(&words, &model(name));
    assert_eq!(report["graph"], alone["graph"]);
    assert!(waited(&report) > 0.0);
}

/// A command of a group, with everything that it has started.
struct Group(Child);

impl Group {
    fn start(words: &[&str], file: &Path) -> Group {
        let mut command = command(words);
        command.arg(file).stdout(Stdio::piped()).stderr(Stdio::piped());
        Group(command.spawn().unwrap())
    }

    /// The processes that it has started.
    fn members(&self) -> Vec<u32> {
        let tasks = format!("/proc/{}/task", self.0.id());
        let Ok(tasks) = std::fs::read_dir(tasks) else { return Vec::new() };
        let children = tasks.flatten().filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
        children
            .flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
            .collect()
    }

    /// Waits until so many processes have been started.
    fn wait_for_members(&self, count: usize) -> Vec<u32> {
        let limit = Instant::now() + Duration::from_secs(20);
        loop {
            let members = self.members();
            if members.len() == count {
                return members;
            }
            assert!(Instant::now() < limit, "{count} processes are not there");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// How it ends, which has to be soon.
    fn end(mut self) -> (i32, String, String) {
        let limit = Instant::now() + END_LIMIT;
        let status = loop {
            if let Some(status) = self.0.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < limit, "it has not ended within {END_LIMIT:?}");
            std::thread::sleep(Duration::from_millis(10));
        };
        let (mut out, mut err) = (String::new(), String::new());
        self.0.stdout.take().unwrap().read_to_string(&mut out).unwrap();
        self.0.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        (status.code().unwrap_or(-1), out, err)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn kill(signal: &str, pid: u32) {
    let status = std::process::Command::new("kill").args([signal, &pid.to_string()]).status().unwrap();
    assert!(status.success());
}

fn is_running(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // A zombie has ended.
    stat.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with(" Z"))
}

/// Numbers that are counted for long: each combination is an aggregate if all statements are observed.
const COUNTERS: &str = "byte a, b, c;
active proctype P() { do :: a++ od }
active proctype Q() { do :: b++ od }
active proctype R() { do :: c++ od }";

/// A formula on them that holds.
const EXCLUSIVE: &str = r#"G !("a++" & "b++") & G !("b++" & "c++")"#;

/// Kills a process of a group at some moment, so many times.
fn kill_some(times: u64) {
    let folder = Folder::new(&format!("kill{times}"));
    let endless = folder.file("endless.pml", ENDLESS);
    let counters = folder.file("counters.pml", COUNTERS);
    let commands = [
        (&["states"][..], &endless),
        (&["check"], &endless),
        (&["sog", "--observe", "a++,b++,c++"], &counters),
        (&["sog", "--ltl", EXCLUSIVE], &counters),
    ];
    for number in 0..times {
        let (words, file) = commands[number as usize % commands.len()];
        let words = [words, &["--processes", "3", "--threads", "1", "--time-limit", "60s"]].concat();
        let group = Group::start(&words, file);
        let members = group.wait_for_members(2);
        // From their first moment on to the middle of the search.
        std::thread::sleep(Duration::from_millis(number * 7919 % 700));
        kill("-9", members[number as usize / commands.len() % 2]);
        let (code, out, err) = group.end();
        assert_eq!(code, 3, "{number}: {out}{err}");
        assert!(format!("{out}{err}").contains(" was lost: "), "{number}: {out}{err}");
        let limit = Instant::now() + END_LIMIT;
        while members.iter().any(|member| is_running(*member)) {
            assert!(Instant::now() < limit, "{number}: a process is left over");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

#[test]
fn a_process_that_is_killed_ends_all_others() {
    kill_some(12);
}

/// At any moment: run with `--ignored`.
#[test]
#[ignore = "takes a minute or two"]
fn a_process_that_is_killed_ends_all_others_a_hundred_times() {
    kill_some(100);
}

#[test]
fn the_first_process_that_is_killed_leaves_none_behind() {
    let folder = Folder::new("first");
    let file = folder.file("endless.pml", ENDLESS);
    let group = Group::start(&["states", "--processes", "3", "--threads", "1", "--time-limit", "60s"], &file);
    let members = group.wait_for_members(2);
    std::thread::sleep(Duration::from_millis(300));
    kill("-9", group.0.id());
    let limit = Instant::now() + END_LIMIT;
    while members.iter().any(|member| is_running(*member)) {
        assert!(Instant::now() < limit, "a process is left over");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn limits_and_interrupts_end_a_group_with_what_was_counted() {
    let folder = Folder::new("limits");
    let file = folder.file("endless.pml", ENDLESS);
    for (words, interrupt, why) in [
        (&["--time-limit", "1s"][..], false, "the time limit was reached"),
        (&["--memory-limit", "150M", "--time-limit", "60s"], false, "the memory limit was reached"),
        (&["--time-limit", "60s"], true, "it was interrupted"),
    ] {
        let group = Group::start(&[&["states", "--processes", "2", "--threads", "1"], words].concat(), &file);
        if interrupt {
            group.wait_for_members(1);
            std::thread::sleep(Duration::from_secs(1));
            kill("-INT", group.0.id());
        }
        let (code, out, err) = group.end();
        assert_eq!(code, 3, "{out}{err}");
        assert!(out.contains(why) && out.contains(" states, stored"), "{out}{err}");
        assert!(out.contains("States by worker: "), "{out}{err}");
    }
}

#[test]
fn graphs_that_are_not_complete_are_counted_so_far() {
    let folder = Folder::new("partial");
    let file = folder.file("counters.pml", COUNTERS);
    let observed = ["sog", "--observe", "a++,b++,c++"];
    let formula = ["sog", "--ltl", EXCLUSIVE];
    for (words, group, interrupt, why) in [
        (&observed[..], &["--threads", "2"][..], false, "the time limit was reached"),
        (&observed, &["--processes", "2", "--threads", "2"], false, "the time limit was reached"),
        (&observed, &["--processes", "2", "--threads", "1"], true, "interrupted"),
        (&formula, &["--processes", "2", "--threads", "1", "--on-demand"], true, "interrupted"),
    ] {
        let limit = ["--time-limit", if interrupt { "60s" } else { "2s" }];
        let group = Group::start(&[words, group, &limit].concat(), &file);
        if interrupt {
            group.wait_for_members(1);
            std::thread::sleep(Duration::from_secs(2));
            kill("-INT", group.0.id());
        }
        let (code, out, err) = group.end();
        assert_eq!(code, 3, "{out}{err}");
        assert!(format!("{out}{err}").contains(why), "{out}{err}");
        assert!(out.contains(" aggregates so far, ") && out.contains("not complete"), "{out}{err}");
    }
}

/// Two ports that nobody uses.
fn hosts(folder: &Folder) -> PathBuf {
    let listeners = [0, 1].map(|_| TcpListener::bind("127.0.0.1:0").unwrap());
    let lines = listeners.map(|listener| format!("{}\n", listener.local_addr().unwrap()));
    folder.file("hosts", &format!("# two of them\n{}", lines.concat()))
}

#[test]
fn hosts_of_a_file_work_together() {
    let folder = Folder::new("hosts");
    let hosts = hosts(&folder);
    let hosts = hosts.to_str().unwrap();
    let file = model("promela/needham_schroeder.pml");
    let words = |process| ["states", "--json", "--hosts", hosts, "--process", process, "--threads", "2"];
    let first = Group::start(&words("0"), &file);
    let second = Group::start(&words("1"), &file);
    let (second, first) = (second.end(), first.end());
    assert_eq!((second.0, second.1.as_str()), (0, ""), "{}", second.2);
    let report: Value = serde_json::from_str(&first.1).unwrap();
    let alone = json(&ample(&["states", "--json", "--engine", "explicit"], &file));
    assert_eq!(counts(&report), counts(&alone));
    assert_eq!(report["cluster"]["processes"], 2);
}

#[test]
fn hosts_with_another_model_are_refused() {
    let folder = Folder::new("other");
    let hosts = hosts(&folder);
    let hosts = hosts.to_str().unwrap();
    let words = |process| ["check", "--hosts", hosts, "--process", process, "--threads", "1"];
    let first = Group::start(&words("0"), &model("promela/dekker.pml"));
    let second = Group::start(&words("1"), &model("promela/bakery.pml"));
    for (code, out, err) in [second.end(), first.end()] {
        assert_eq!(code, 3, "{out}{err}");
        assert!(err.contains("model"), "{err}");
    }
}

#[test]
fn what_works_in_one_process_only_is_refused() {
    let file = model("promela/dekker.pml");
    let folder = Folder::new("wrong");
    let hosts = folder.file("hosts", "here:1\nhere\n");
    let hosts = hosts.to_str().unwrap();
    for (words, why) in [
        (&["--processes", "2", "--engine", "symbolic"][..], "works within one process"),
        (&["--processes", "2", "--store", "bitstate"], "works within one process"),
        (&["--processes", "2", "--fairness", "weak"], "works within one process"),
        (&["--processes", "0"], "expected a number from 1 to 256"),
        (&["--hosts", hosts, "--process", "0"], "hosts:2: expected `host:port`, not `here`"),
        (&["--hosts", "nowhere", "--process", "0"], "nowhere"),
    ] {
        let output = ample(&[&["check"], words].concat(), &file);
        assert_eq!(code(&output), 2, "{words:?} {}", errors(&output));
        assert!(errors(&output).contains(why), "{words:?} {}", errors(&output));
    }
}
