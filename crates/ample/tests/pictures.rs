//! Pictures: state graphs and message sequence charts.

mod support;

use std::path::Path;

use serde_json::Value;
use support::{Folder, ample, json, model};

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// That every element is closed, in the order in which they were opened.
fn check_markup(svg: &str) {
    let mut open = Vec::new();
    for part in svg.split('<').skip(1) {
        let tag = part.split('>').next().unwrap();
        let name = tag.split([' ', '/']).find(|name| !name.is_empty()).unwrap().to_owned();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "{tag}");
        } else if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn the_whole_state_graph_is_that_which_engines_count() {
    let folder = Folder::new("whole");
    let (svg, dot) = (folder.0.join("graph.svg"), folder.0.join("graph.dot"));
    for name in ["promela/dekker.pml", "petri/philosophers_4.pnml", "smv/arbiter.smv", "promela/rendezvous_atomic.pml"]
    {
        let file = model(name);
        let options =
            ["--max-nodes", "20000", "--svg", svg.to_str().unwrap(), "--dot", dot.to_str().unwrap(), "--json"];
        let picture = &json(&ample(&[&["states"], &options[..]].concat(), &file))["picture"];
        assert_eq!((&picture["complete"], &picture["open"]), (&Value::Bool(true), &Value::from(0)), "{name}");
        let counted = json(&ample(&["states", "--json", "--por", "none", "--engine", "explicit"], &file));
        // States inside atomic sequences are drawn, dashed.
        let (svg, dot) = (text(&svg), text(&dot));
        let dashed = svg.matches("class=\"node dashed\"").count() as u64;
        assert_eq!(
            picture["states"].as_u64().map(|states| states - dashed),
            counted["stats"]["states"].as_u64(),
            "{name}"
        );
        check_markup(&svg);
        let nodes = dot.lines().filter(|line| line.contains(" [label=") && !line.contains("->")).count();
        assert_eq!(Some(nodes as u64), picture["states"].as_u64(), "{name}");
    }
}

#[test]
fn what_is_not_drawn_is_said() {
    let folder = Folder::new("part");
    let svg = folder.0.join("graph.svg");
    let output = ample(&["states", "--max-nodes", "20", "--svg", svg.to_str().unwrap()], &model("promela/paxos.pml"));
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(out.contains("20 states and ") && out.contains("of the states have steps that are not"), "{out}");
    assert!(text(&svg).contains(">…</text>"));
    // An endless state space, too.
    let endless = folder.file("endless.pml", "int x; active proctype P() { do :: x++ :: x = x * 3 od }");
    let output = ample(&["states", "--svg", svg.to_str().unwrap(), "--time-limit", "60s"], &endless);
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stdout).contains("500 states"));
}

#[test]
fn deadlocks_faults_and_ends_stand_out() {
    let folder = Folder::new("looks");
    let dot = folder.0.join("graph.dot");
    let text = |source: &str| {
        let file = folder.file("model.pml", source);
        ample(&["states", "--dot", dot.to_str().unwrap()], &file);
        text(&dot)
    };
    let blocked = text("byte x; active proctype P() { x = 1; x == 2 }");
    assert!(blocked.contains("x = 1") && blocked.contains("color=red"), "{blocked}");
    let fault = text("byte x; active proctype P() { x = 1 / x }");
    assert!(fault.contains("[label=\"division by zero\", color=red"), "{fault}");
    let end = text("byte x; active proctype P() { x = 1 }");
    assert!(end.contains("peripheries=2") && !end.contains("color=red"), "{end}");
    let assertion = text("byte x; active proctype P() { assert(x == 1) }");
    assert!(
        assertion.contains("assert(x==1)\", color=red") || assertion.contains("assert(x == 1)\", color=red"),
        "{assertion}"
    );
}

#[test]
fn counterexamples_are_drawn_as_charts() {
    let folder = Folder::new("charts");
    let svg = folder.0.join("chart.svg");
    let file = folder.file(
        "m.pml",
        "chan c = [1] of { byte }; chan d = [0] of { byte }; byte x;
         active proctype P() { c!7; d!8 } active proctype Q() { c?x; d?x; assert(x == 7) }
         active proctype R() { x == 9 }",
    );
    let msc = format!("--msc={}", svg.display());
    let output = ample(&["check", &msc], &file);
    assert_eq!(output.status.code(), Some(1));
    // Steps are shown as without a chart.
    assert!(String::from_utf8_lossy(&output.stdout).contains("violat"));
    // Two properties are violated.
    let charts = [svg.clone(), folder.0.join("chart-2.svg")].map(|path| text(&path));
    for chart in &charts {
        check_markup(chart);
    }
    let assertion = charts.iter().find(|chart| chart.contains("class=\"label wrong\"")).unwrap();
    for part in ["P(0)", "Q(1)", "c?7", "d!8", "<title>m.pml: assertions</title>"] {
        let found = assertion.contains(part) || assertion.contains(&part.replace("m.pml", &file.display().to_string()));
        assert!(found, "{part}\n{assertion}");
    }
    let replayed = folder.0.join("random.svg");
    let output = ample(&["simulate", "--seed", "1", &format!("--msc={}", replayed.display())], &file);
    assert!(output.status.code().is_some_and(|code| code < 2), "{output:?}");
    check_markup(&text(&replayed));
}

#[test]
fn pictures_are_not_written_over_models_and_not_counted() {
    let folder = Folder::new("refused");
    let file = folder.file("m.pml", "byte x; active proctype P() { x = 1 }");
    let own = file.to_str().unwrap().to_owned();
    let svg = folder.0.join("graph.svg").display().to_string();
    for (words, why) in [
        (vec!["states", "--svg", &own], "would be written over"),
        (vec!["check", "--msc=REPLACED"], "would be written over"),
        (vec!["states", "--svg", &svg, "--dot", &svg], "would be written twice"),
        (vec!["states", "--svg", &svg, "--engine", "symbolic"], "cannot be used with"),
        (vec!["states", "--svg", &svg, "--search", "bfs"], "options of engines do not matter"),
        (vec!["states", "--svg", "/nonexistent/graph.svg"], "cannot write /nonexistent/graph.svg"),
        (vec!["states", "--svg", &svg, "--max-nodes", "0"], "invalid value"),
    ] {
        let words: Vec<String> = words.into_iter().map(|word| word.replace("REPLACED", &own)).collect();
        let output = ample(&words.iter().map(String::as_str).collect::<Vec<_>>(), &file);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.contains(why), "{words:?}: {errors}");
    }
    assert_eq!(text(&file), "byte x; active proctype P() { x = 1 }");
}

#[test]
fn automata_and_observation_graphs_are_drawn() {
    let folder = Folder::new("graphs");
    let svg = folder.0.join("automaton.svg");
    let path = svg.to_str().unwrap();
    let output = support::command(&["automaton", "--to", "svg", "G (a -> F b)", "-o", path]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    check_markup(&text(&svg));
    let output = ample(&["sog", "--observe", "k3,k5,k9,k11", "--svg", path, "--json"], &model("petri/erk_4.pnml"));
    let arcs: usize = json(&output)["graph"]["aggregates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|aggregate| aggregate["arcs"].as_array().unwrap().len())
        .sum();
    let svg = text(&svg);
    check_markup(&svg);
    assert_eq!(svg.matches("<g><title>aggregate ").count(), 54);
    // At most a route for each arc, and one from the start.
    assert!(svg.matches("<path class=\"edge").count() <= arcs + 1 && arcs == 164);
}
