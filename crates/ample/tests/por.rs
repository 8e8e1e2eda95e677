//! The options of partial-order reduction, as a user gives them: what is accepted, what is refused, what is said.

mod support;

use std::path::PathBuf;
use std::process::Output;

use serde_json::Value;
use support::{Folder, ample, errors, json, result, text};

fn model(name: &str) -> PathBuf {
    support::model("promela").join(name)
}

/// The words of a line, and the model's name.
fn run(line: &str, name: &str) -> Output {
    ample(&line.split_whitespace().collect::<Vec<_>>(), &model(name))
}

fn states(report: &Value) -> u64 {
    report["stats"]["states"].as_u64().unwrap()
}

/// The states and transitions that `ample states` counts with these options.
fn counted(options: &str, name: &str) -> (u64, u64) {
    let output = run(&format!("states --json {options}"), name);
    assert_eq!(output.status.code(), Some(0), "{options}: {}", errors(&output));
    let report = json(&output);
    (states(&report), report["stats"]["transitions"].as_u64().unwrap())
}

const BURNS: u64 = 6885;

#[test]
fn every_method_gives_the_same_verdicts() {
    for (options, said) in [
        ("--por auto", Some("stubborn sets by guards, proviso on components")),
        ("--por none", None),
        ("--por persistent", Some("stubborn sets by guards, proviso on components")),
        ("--por sleep", Some("sleep sets")),
        ("--por persistent+sleep", Some("stubborn sets by guards, sleep sets, proviso on the stack")),
        ("--por auto --search bfs", Some("stubborn sets by guards, proviso on the queue")),
        ("--por persistent --proviso auto", Some("stubborn sets by guards, proviso on components")),
        ("--por persistent --proviso stack", Some("stubborn sets by guards, proviso on the stack")),
        ("--por persistent --proviso components", Some("stubborn sets by guards, proviso on components")),
        ("--por persistent --proviso queue", Some("stubborn sets by guards, proviso on the queue")),
        ("--por persistent+sleep --proviso stack", Some("stubborn sets by guards, sleep sets, proviso on the stack")),
    ] {
        let fine = run(&format!("check --deadlock --assertions --json {options}"), "burns.pml");
        assert_eq!(fine.status.code(), Some(0), "{options}: {}", errors(&fine));
        let report = json(&fine);
        assert_eq!(report["reduction"].as_str(), said, "{options}");
        assert!(states(&report) <= BURNS, "{options}");

        let broken = run(&format!("check --deadlock --assertions --json {options}"), "mutex_set_then_test.pml");
        assert_eq!(broken.status.code(), Some(1), "{options}");
        let report = json(&broken);
        assert_eq!(result(&report, "deadlock")["verdict"], "violated", "{options}");
        assert_eq!(result(&report, "assertions")["verdict"], "holds", "{options}");
    }
}

#[test]
fn every_algorithm_gives_the_same_verdicts() {
    for (algorithm, said) in [
        ("guards", "stubborn sets by guards"),
        ("conflicting", "persistent sets of conflicting transitions"),
        ("overman", "persistent sets by Overman's algorithm"),
        ("stubborn", "stubborn sets"),
        ("conditional", "conditional stubborn sets"),
    ] {
        let line = format!("check --json --por persistent --por-algorithm {algorithm}");
        let fine = run(&line, "peterson.pml");
        assert_eq!(fine.status.code(), Some(1), "{algorithm}: {}", errors(&fine));
        let report = json(&fine);
        assert_eq!(report["reduction"], format!("{said}, proviso on components"));
        for (property, verdict) in
            [("deadlock", "holds"), ("assertions", "holds"), ("ltl:mutex", "holds"), ("ltl:served", "violated")]
        {
            assert_eq!(result(&report, property)["verdict"], verdict, "{algorithm}, {property}");
        }
        let broken = json(&run(&line, "philosophers_deadlock.pml"));
        assert_eq!(result(&broken, "deadlock")["verdict"], "violated", "{algorithm}");
    }
}

#[test]
fn a_value_that_is_none_is_a_mistake_in_the_command() {
    for line in [
        "check --por some",
        "check --por-algorithm best",
        "check --proviso all",
        "check --cache few",
        "check --cache 9 --cache-policy best",
        "check --cache-policy random",
    ] {
        let output = run(line, "peterson.pml");
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(errors(&output).starts_with("error: "), "{line}");
    }
}

/// Exit code 3, every verdict unknown, and why.
#[test]
fn options_that_do_not_go_together_are_refused_by_name() {
    for (options, why) in [
        ("--por sleep --proviso components", "sleep sets cannot be used with the proviso on components"),
        ("--por persistent+sleep --proviso components", "sleep sets cannot be used with the proviso on components"),
        ("--cache 10 --proviso components", "a cache of states cannot be used with the proviso on components"),
        ("--por persistent+sleep --proviso queue", "sleep sets are for depth-first search"),
        ("--por persistent --cache 10 --proviso queue", "a cache of states is for depth-first search"),
    ] {
        let output = run(&format!("check --json --deadlock --assertions {options}"), "peterson.pml");
        assert_eq!(output.status.code(), Some(3), "{options}: {}", errors(&output));
        let report = json(&output);
        for property in ["deadlock", "assertions"] {
            let result = result(&report, property);
            assert_eq!(result["verdict"], "unknown", "{options}");
            assert!(result["reason"].as_str().unwrap().contains(why), "{options}: {}", result["reason"]);
        }
        let output = run(&format!("check {options}"), "producer_consumer_reduced.pml");
        assert!(text(&output).contains(&format!("deadlock    unknown: {why}\n")), "{options}: {}", text(&output));
    }
}

#[test]
fn without_a_proviso_only_deadlocks_are_decided() {
    for options in ["--por persistent --proviso none", "--por persistent+sleep --proviso none"] {
        let output = run(&format!("check --json {options} --invariant turn<2 --assertions --deadlock"), "peterson.pml");
        assert_eq!(output.status.code(), Some(3));
        let report = json(&output);
        assert_eq!(result(&report, "deadlock")["verdict"], "holds");
        for property in ["assertions", "invariant:turn<2"] {
            let result = result(&report, property);
            assert_eq!(result["verdict"], "unknown", "{property}, {options}");
            assert!(result["reason"].as_str().unwrap().contains("without a proviso"), "{}", result["reason"]);
        }
        let alone = run(&format!("check --deadlock {options}"), "peterson.pml");
        assert_eq!(alone.status.code(), Some(0));
    }
    // What is found is found.
    let output = run("check --assertions --json --por persistent --proviso none", "treiber_aba.pml");
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
}

/// Sleep sets visit all states, and so they need none.
#[test]
fn sleep_sets_alone_need_no_proviso() {
    let output = run("check --json --assertions --reductions none --por sleep --proviso none", "burns.pml");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert_eq!(states(&json(&output)), BURNS);
}

#[test]
fn a_formula_that_counts_steps_is_not_reduced_and_says_so() {
    let formula = "[] (flag[0] -> X !flag[1])";
    let output = ample(&["check", "--ltl", formula], &model("peterson.pml"));
    assert_eq!(output.status.code(), Some(1));
    let note = "no partial-order reduction: the formula depends on how often a state is repeated (it uses X)";
    assert!(text(&output).contains(&format!("({note})")), "{}", text(&output));
    let output = ample(&["check", "--json", "--ltl", formula], &model("peterson.pml"));
    let report = json(&output);
    assert_eq!(report["results"][0]["note"], note);
    assert_eq!(report["reduction"], Value::Null);
    // It uses X, but it does not matter how often a state is repeated.
    let output = ample(&["check", "--json", "--ltl", "[] (flag[0] -> X flag[0])"], &model("peterson.pml"));
    let report = json(&output);
    assert_eq!(report["results"][0]["note"], Value::Null);
    assert_eq!(report["reduction"], "stubborn sets by guards, proviso on cycles");
}

/// The steps inside an atomic sequence belong to the state where it began: it is there that nothing may be put off.
#[test]
fn a_cycle_that_is_closed_inside_an_atomic_sequence_puts_nothing_off() {
    let text = "\
bool x;
active proctype A() { byte n; do :: atomic { skip; if :: n = 1 :: n = 2 fi } od }
active proctype B() { x = true }
";
    let folder = Folder::new("atomic");
    let file = folder.file("m.pml", text);
    let output = ample(&["check", "--json", "--ltl", "[] !x", "--invariant", "!x"], &file);
    let report = json(&output);
    for property in ["invariant:!x", "ltl:[] !x"] {
        assert_eq!(result(&report, property)["verdict"], "violated", "{property}");
    }
}

#[test]
fn what_cannot_be_reduced_is_said() {
    let output = run("check", "watchdog_never.pml");
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output).contains("(no partial-order reduction: a never claim may count steps)"), "{}", text(&output));
    for (words, why) in [
        (["--emptiness", "nested"], "none, because the nested search looks at states twice"),
        (["--por", "sleep"], "none, because only persistent sets can be used for it"),
        (["--fairness", "strong"], "none, because under strong fairness every step of every process counts"),
    ] {
        let output = ample(&["check", "--ltl", "mutex", words[0], words[1]], &model("peterson.pml"));
        assert_eq!(output.status.code(), Some(0), "{words:?}");
        assert!(text(&output).contains(&format!("Partial-order reduction: {why}\n")), "{}", text(&output));
    }
}

#[test]
fn fairness_goes_with_every_method() {
    for por in ["auto", "none", "persistent", "sleep", "persistent+sleep"] {
        let line = format!("check --json --ltl served --deadlock --fairness weak --por {por}");
        let output = run(&line, "peterson.pml");
        assert_eq!(output.status.code(), Some(0), "{por}: {}", text(&output));
        assert_eq!(result(&json(&output), "ltl:served")["verdict"], "holds", "{por}");
    }
}

#[test]
fn counterexamples_are_as_short_as_without_reduction() {
    for name in ["philosophers_array.pml", "treiber_aba.pml", "par_premature.pml", "needham_schroeder.pml"] {
        let length = |por: &str| {
            let output = run(&format!("check --json --deadlock --assertions --por {por}"), name);
            assert_eq!(output.status.code(), Some(1), "{name}");
            let report = json(&output);
            let results = report["results"].as_array().unwrap().clone();
            results.iter().map(|result| result["trace"]["prefix"].as_array().map(Vec::len)).collect::<Vec<_>>()
        };
        assert_eq!(length("auto"), length("none"), "{name}");
    }
}

#[test]
fn states_are_counted_without_reduction_unless_a_method_is_named() {
    assert_eq!(counted("", "producer_consumer_reduced.pml"), (101, 201));
    assert_eq!(counted("--por none", "producer_consumer_reduced.pml"), (101, 201));
    for options in ["--por persistent", "--por persistent --proviso none", "--por persistent+sleep"] {
        assert_eq!(counted(options, "producer_consumer_reduced.pml").0, 2, "{options}");
    }
    let output = run("states --json --por persistent", "producer_consumer_reduced.pml");
    assert_eq!(json(&output)["reduction"], "stubborn sets by guards, proviso on components");
    assert_eq!(json(&run("states --json", "producer_consumer_reduced.pml"))["reduction"], Value::Null);
}

#[test]
fn models_come_to_few_states() {
    let (philosophers, _) = counted("--por persistent --proviso none", "philosophers_array.pml");
    assert!(philosophers <= 183, "{philosophers}");
    let (all, transitions) = counted("--search dfs", "trehel_naimi.pml");
    assert_eq!((all, transitions), (18_839, 64_296));
    let (sleep, fewer) = counted("--por sleep", "trehel_naimi.pml");
    assert!(sleep == all && fewer < transitions / 2, "{sleep} states, {fewer} transitions");
    let (persistent, _) = counted("--por persistent --proviso none", "trehel_naimi.pml");
    let (both, _) = counted("--por persistent+sleep --proviso none", "trehel_naimi.pml");
    assert!(persistent < all / 6 && both < all / 6, "{persistent} and {both} states");
}

#[test]
fn a_cache_forgets_and_comes_to_the_same_end() {
    for policy in ["cheapest", "oldest", "random", "least-visited"] {
        let line = format!("check --deadlock --json --por persistent+sleep --cache 150 --cache-policy {policy}");
        let output = run(&line, "trehel_naimi.pml");
        assert_eq!(output.status.code(), Some(0), "{policy}");
        let report = json(&output);
        let said = report["reduction"].as_str().unwrap();
        let (methods, counts) = said.split_once(": ").unwrap();
        assert_eq!(methods, "stubborn sets by guards, sleep sets, a cache of 150 states");
        let numbers: Vec<u64> = counts.split(' ').filter_map(|word| word.trim_end_matches(',').parse().ok()).collect();
        let [stored, cleared, matched, stack] = numbers[..] else { panic!("{counts}") };
        assert!(stored <= 150 && cleared > 0 && stack <= 150, "{counts}");
        assert_eq!(Some(stored + cleared + matched), report["stats"]["transitions"].as_u64());
    }
}

#[test]
fn a_cache_that_does_not_hold_the_stack_decides_nothing() {
    let output = run("check --deadlock --json --por persistent+sleep --cache 10", "trehel_naimi.pml");
    assert_eq!(output.status.code(), Some(3));
    let report = json(&output);
    assert_eq!(report["complete"], false);
    assert_eq!(result(&report, "deadlock")["verdict"], "unknown");
}
