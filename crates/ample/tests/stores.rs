//! The command with every store: counts, verdicts and how certain they are, counterexamples, what is refused, states on disk,
//! and searches that are killed and go on from a checkpoint.

mod support;

use support::{Folder, code, model};

/// The JSON that the command prints.
fn json(words: &[&str], file: &std::path::Path) -> serde_json::Value {
    let output = support::ample(words, file);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|why| panic!("{words:?}: {why}: {output:?}"))
}

#[test]
fn the_command_takes_every_store_and_marks_what_is_probable() {
    let file = model("promela/trehel_naimi.pml");
    let exact = json(&["states", "--json", "--por", "none"], &file);
    for store in ["exact", "collapse", "tree", "automaton", "disk", "bitstate", "compact"] {
        for search in ["bfs", "dfs"] {
            if (store, search) == ("disk", "dfs") {
                continue;
            }
            let counted = json(&["states", "--json", "--store", store, "--search", search], &file);
            assert_eq!(counted["stats"]["states"], exact["stats"]["states"], "{store} {search}");
            assert_eq!(counted["stats"]["transitions"], exact["stats"]["transitions"], "{store} {search}");
            let checked =
                json(&["check", "--json", "--deadlock", "--por", "none", "--store", store, "--search", search], &file);
            let answer = &checked["results"][0];
            let is_approximate = ["bitstate", "compact"].contains(&store);
            assert_eq!(answer["verdict"], "holds", "{store} {search}: {checked}");
            assert_eq!(answer["certainty"], if is_approximate { "probable" } else { "proved" }, "{store} {search}");
            assert_eq!(answer["omission"].is_number(), is_approximate, "{store} {search}");
            assert_eq!(checked["stats"]["omitted"].is_number(), is_approximate, "{store} {search}");
        }
    }
}

#[test]
fn what_does_not_go_together_is_refused() {
    let file = model("promela/trehel_naimi.pml");
    for (words, part) in [
        (&["check", "--store", "tree", "--cache", "10"][..], "a store of its own"),
        (&["check", "--store", "cache"], "needs `--cache N`"),
        (&["check", "--store", "tree", "--hash-bits", "20"], "`--store bitstate`"),
        (&["check", "--hash-functions", "2"], "`--store bitstate`"),
        (&["check", "--store", "bitstate", "--signature-bits", "32"], "`--store compact`"),
        (&["check", "--store", "disk", "--search", "dfs"], "breadth first"),
        (&["check", "--store", "huffman"], "invalid value"),
    ] {
        let output = support::ample(words, &file);
        assert_eq!(code(&output), 2, "{words:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(part), "{words:?}: {output:?}");
    }
    let output = support::ample(&["check", "--store", "tree", "--por", "sleep"], &file);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(code(&output) == 3 && text.contains("--store exact"), "{text}");
    for (words, part) in [
        (&["check", "--store", "disk", "--ltl", "[] true"][..], "assertions, invariants and deadlocks"),
        (&["check", "--store", "tree", "--ltl", "[] true", "--fairness", "weak"], "`--store exact`"),
        (&["check", "--store", "tree", "--ltl", "[] true", "--emptiness", "components"], "`--store exact`"),
        (&["check", "--store", "tree", "--ctl", "AG true"], "`--store exact`"),
    ] {
        let text = String::from_utf8_lossy(&support::ample(words, &file).stdout).into_owned();
        assert!(text.contains(part), "{words:?}: {text}");
    }
}

#[test]
fn endless_runs_are_checked_with_every_store() {
    let folder = Folder::new("endless");
    let text = "byte x; bool up;\nactive proctype P() { do :: x < 50 -> x++ :: x > 0 -> x = 0 od }\n\
                active proctype Q() { do :: up = !up od }\n\
                ltl again { [] <> (x == 0) }\nltl bounded { [] (x <= 50) }\nltl returns { [] (up -> <> !up) || <> [] up }";
    let file = folder.file("m.pml", text);
    let verdicts = |report: &serde_json::Value| -> Vec<(String, String)> {
        let results = report["results"].as_array().unwrap().iter();
        results.map(|answer| (answer["property"].to_string(), answer["verdict"].to_string())).collect()
    };
    let exact = json(&["check", "--json", "--engine", "explicit"], &file);
    for store in ["collapse", "tree", "automaton", "bitstate", "compact"] {
        let report = json(&["check", "--json", "--engine", "explicit", "--store", store], &file);
        assert_eq!(verdicts(&report), verdicts(&exact), "{store}");
        let is_approximate = ["bitstate", "compact"].contains(&store);
        for answer in report["results"].as_array().unwrap().iter().filter(|answer| answer["verdict"] == "holds") {
            assert_eq!(answer["certainty"], if is_approximate { "probable" } else { "proved" }, "{store}: {answer}");
        }
    }
}

/// Counters that run freely, with as many states as there are ways to combine them.
fn counters(processes: usize, values: usize) -> String {
    format!("active [{processes}] proctype P() {{ byte x; int y[4]; do :: x = (x + 1) % {values}; y[x % 4] = x od }}")
}

#[test]
fn a_counterexample_is_found_with_every_store() {
    let folder = Folder::new("violated");
    let text = "byte sum;\nactive [3] proctype P() { byte x; do :: x < 9 -> x++; sum++ :: x > 2 -> x = x - 2; sum = sum - 2 od }\n\
                active proctype Q() { assert(sum < 20) }";
    let file = folder.file("m.pml", text);
    let shortest = json(&["check", "--json", "--search", "bfs", "--por", "none", "--reductions", "none"], &file);
    let steps = |report: &serde_json::Value| report["results"][0]["trace"]["prefix"].as_array().map(Vec::len);
    assert!(steps(&shortest).is_some_and(|steps| steps > 15), "{shortest}");
    for store in ["collapse", "tree", "automaton", "disk", "bitstate", "compact"] {
        for (search, por) in [("bfs", "none"), ("dfs", "none"), ("bfs", "auto"), ("dfs", "auto")] {
            if (store, search) == ("disk", "dfs") {
                continue;
            }
            let words = ["check", "--json", "--store", store, "--search", search, "--por", por, "--reductions", "none"];
            let report = json(&words, &file);
            assert_eq!(report["results"][0]["verdict"], "violated", "{words:?}");
            if search == "bfs" {
                assert_eq!(steps(&report), steps(&shortest), "{words:?}");
            }
        }
    }
}

#[test]
fn states_on_disk_may_be_more_than_fit_into_memory() {
    let folder = Folder::new("disk");
    let file = folder.file("m.pml", &counters(3, 60));
    let exact = json(&["states", "--json", "--engine", "explicit"], &file);
    let limited = json(&["states", "--json", "--store", "disk", "--memory-limit", "40M"], &file);
    assert_eq!(limited["stats"]["states"], exact["stats"]["states"]);
    assert_eq!(limited["stats"]["transitions"], exact["stats"]["transitions"]);
    assert!(limited["stats"]["memory_bytes"].as_u64().unwrap() < 40 << 20, "{limited}");
}

#[test]
fn a_folder_that_cannot_be_written_is_told() {
    let folder = Folder::new("missing");
    let file = folder.file("m.pml", &counters(2, 5));
    let mut command = support::command(&["states", "--store", "disk"]);
    let output = command.arg(&file).env("TMPDIR", folder.0.join("nowhere")).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(code(&output) == 3 && text.contains("could not be kept on disk"), "{output:?}");
}

/// A model with many states, and what it has: the states of counters that run freely.
fn many(folder: &Folder) -> std::path::PathBuf {
    folder.file("m.pml", &counters(3, 90))
}

#[test]
fn a_search_that_was_killed_goes_on_from_its_checkpoint() {
    let folder = Folder::new("killed");
    let file = many(&folder);
    let saved = folder.0.join("saved");
    let expected = json(&["states", "--json", "--engine", "explicit"], &file);
    let words = ["states", "--json", "--checkpoint-every", "20ms", "--checkpoint", saved.to_str().unwrap()];
    let mut was_killed = 0;
    for _ in 0..3 {
        let mut child = support::command(&words).arg(&file).stdout(std::process::Stdio::null()).spawn().unwrap();
        let before = std::fs::metadata(&saved).and_then(|saved| saved.modified()).ok();
        // Until something new is saved, and a little longer.
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while std::fs::metadata(&saved).and_then(|saved| saved.modified()).ok() == before
            && child.try_wait().unwrap().is_none()
            && std::time::Instant::now() < deadline
        {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        // SIGKILL.
        child.kill().unwrap();
        was_killed += u32::from(!child.wait().unwrap().success());
    }
    assert!(was_killed > 0 && saved.exists(), "the search was too fast to be killed");

    // Another model, other options, a damaged file, or another file: nothing is searched.
    let refuses = |words: &[&str], file: &std::path::Path, part: &str| {
        let output = support::ample(words, file);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(code(&output) == 2 && text.contains(part), "{words:?}: {output:?}");
    };
    let path = saved.to_str().unwrap();
    let other = folder.file("other.pml", &counters(3, 89));
    refuses(&["states", "--checkpoint", path], &other, "another model");
    refuses(&["states", "--checkpoint", path, "--max-depth", "1000"], &file, "other options");
    refuses(&["states", "--checkpoint", path, "--search", "dfs"], &file, "breadth-first");
    let whole = std::fs::read(&saved).unwrap();
    let mut damaged = whole.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    std::fs::write(&saved, damaged).unwrap();
    refuses(&["states", "--checkpoint", path], &file, "damaged");
    std::fs::write(&saved, &whole[..whole.len() - 100]).unwrap();
    refuses(&["states", "--checkpoint", path], &file, "damaged");
    refuses(&["states", "--checkpoint", file.to_str().unwrap()], &file, "no checkpoint");
    std::fs::write(&saved, whole).unwrap();

    let resumed = json(&words, &file);
    for count in ["states", "transitions", "depth"] {
        assert_eq!(resumed["stats"][count], expected["stats"][count], "{count}");
    }
    assert!(!saved.exists(), "the file of a search that is done is removed");
}

#[test]
fn a_violation_is_found_again_after_a_checkpoint() {
    let folder = Folder::new("violation");
    let text = format!(
        "{}\nactive proctype Q() {{ byte z; do :: z < 40 -> z++ :: else -> break od; assert(false) }}",
        counters(2, 60)
    );
    let file = folder.file("m.pml", &text);
    let saved = folder.0.join("saved");
    let words = [
        "check",
        "--json",
        "--checkpoint-every",
        "5ms",
        "--checkpoint",
        saved.to_str().unwrap(),
        "--reductions",
        "none",
    ];
    let expected = json(&["check", "--json", "--por", "none", "--search", "bfs", "--reductions", "none"], &file);
    assert_eq!(expected["results"][0]["verdict"], "violated", "{expected}");
    let mut child = support::command(&words).arg(&file).stdout(std::process::Stdio::null()).spawn().unwrap();
    while !saved.exists() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let _ = child.kill();
    let _ = child.wait();
    let resumed = json(&words, &file);
    assert_eq!(resumed["results"][0]["verdict"], "violated");
    let length = |report: &serde_json::Value| report["results"][0]["trace"]["prefix"].as_array().map(Vec::len);
    assert_eq!(length(&resumed), length(&expected));
    assert!(!saved.exists());
}
