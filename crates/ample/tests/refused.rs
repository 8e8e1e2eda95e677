//! Formulas that are refused: each blocks itself, and nothing else that is asked about the file.

mod support;

use std::path::Path;

use serde_json::Value;
use support::{Folder, ample, errors};

/// `property verdict` for each result of the JSON form, which must have the same exit code as the text.
fn results(words: &[&str], file: &Path, code: i32) -> (Vec<String>, Value) {
    let text = ample(words, file);
    assert_eq!(text.status.code(), Some(code), "{words:?}: {}", errors(&text));
    let words = [words, &["--json"]].concat();
    let output = ample(&words, file);
    assert_eq!(output.status.code(), Some(code), "{words:?}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let shown = String::from_utf8_lossy(&text.stdout).into_owned();
    let result = |result: &Value| {
        let (property, verdict) = (result["property"].as_str().unwrap(), result["verdict"].as_str().unwrap());
        assert!(shown.contains(property), "{property}: {shown}");
        if result["diagnostics"].is_array() {
            assert!(!result["reason"].as_str().unwrap().is_empty(), "{result}");
            assert!(errors(&text).contains("Error"), "{}", errors(&text));
        }
        format!("{property} {verdict}")
    };
    let results = report["results"].as_array().unwrap().iter().map(result).collect();
    (results, report)
}

const COUNTER: &str = "byte x;
active proctype P() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od; dead: skip; also: goto dead }
ltl live { <> (x == 3) }
";

#[test]
fn formulas_of_the_command_line_block_themselves() {
    let folder = Folder::new("typed");
    let file = folder.file("m.pml", COUNTER);
    let words =
        ["check", "--ltl", "[] (x < 4)", "--ltl", "b@d", "--deadlock", "--ctl", "AG F x", "--invariant", "y < 2"];
    let (found, report) = results(&words, &file, 2);
    assert_eq!(
        found,
        ["deadlock holds", "invariant:y < 2 unknown", "ltl:[] (x < 4) holds", "ltl:b@d unknown", "ctl:AG F x unknown"]
    );
    assert_eq!(report["error"], "undeclared variable `y`");
    assert_eq!(report["diagnostics"].as_array().unwrap().len(), 3);
    assert_eq!(report["results"][3]["diagnostics"][0]["message"], "there is no proctype `b`");
    // A violation does not hide that the call is wrong, and the other way round.
    let (found, _) = results(&["check", "--ltl", "[] (x < 3)", "--ltl", "[] ("], &file, 2);
    assert_eq!(found, ["ltl:[] (x < 3) violated", "ltl:[] ( unknown"]);
    // Nothing is checked that nobody asks about.
    assert_eq!(results(&["check", "--ltl", "b@d"], &file, 2).0, ["ltl:b@d unknown"]);
    assert_eq!(results(&["check", "--never", "--deadlock"], &file, 2).0, ["deadlock holds", "never unknown"]);
}

#[test]
fn a_refused_condition_of_justice_blocks_what_is_asked_about_runs() {
    let folder = Folder::new("justice");
    let file = folder.file("m.pml", COUNTER);
    let (found, report) = results(&["check", "--justice", "y"], &file, 2);
    assert_eq!(found, ["assertions holds", "deadlock holds", "ltl:live unknown", "justice:y unknown"]);
    assert!(report["results"][2]["reason"].as_str().unwrap().contains("--justice is refused"));
}

#[test]
fn formulas_of_a_model_block_themselves() {
    let folder = Folder::new("blocks");
    let bad = "ltl bad { [] (y == 1) }\nltl { [] (\n }\nltl good { [] (x <= 3) }\nltl { x <= 3 }\n\
               ltl label { [] ! P@ded }\nltl good { [] (x <= 4) }\nbyte z;\n";
    let file = folder.file("m.pml", &format!("{COUNTER}{bad}"));
    let (found, report) = results(&["check"], &file, 2);
    let expected = [
        "assertions holds",
        "deadlock holds",
        "ltl:live holds",
        "ltl:good holds",
        "ltl:ltl_1 holds",
        "ltl:bad unknown",
        "ltl:ltl_0 unknown",
        "ltl:label unknown",
        "ltl:good unknown",
    ];
    assert_eq!(found, expected);
    let places: Vec<_> = report["diagnostics"].as_array().unwrap().iter().map(|one| one["line"].as_u64()).collect();
    assert_eq!(places, [4, 6, 9, 10].map(Some));
    // What nobody asks about is a warning.
    let output = ample(&["check", "--deadlock"], &file);
    assert_eq!(output.status.code(), Some(0));
    assert!(errors(&output).contains("ltl:bad is refused"), "{}", errors(&output));
    assert_eq!(results(&["check", "--ltl", "bad", "--ltl", "live"], &file, 2).0, ["ltl:bad unknown", "ltl:live holds"]);
    assert_eq!(ample(&["states"], &file).status.code(), Some(0));
    // An error elsewhere still refuses the model.
    let file = folder.file("w.pml", &format!("{COUNTER}{bad}byte 3;\n"));
    let output = ample(&["check", "--json"], &file);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(output.status.code() == Some(2) && report["error"].is_string(), "{report}");
    assert!(report["results"].as_array().is_some_and(Vec::is_empty), "{report}");
}

#[test]
fn formulas_of_milestones_models_block_themselves() {
    let folder = Folder::new("milestones");
    let text = "VARIABLE g:2:=0; END ACTION up; END MAIN CASE [up] g < 3: g := g + 1; END END
        LTL F g == 3; bad: F h == 3; F (g ==; F g == 2; END CTL AG g < 4; AG F g < 3; END";
    let (found, _) = results(&["check"], &folder.file("m.mil", text), 2);
    let expected = [
        "assertions holds",
        "deadlock violated",
        "ltl:ltl1 holds",
        "ltl:ltl4 holds",
        "ctl:ctl1 holds",
        "ltl:bad unknown",
        "ltl:ltl3 unknown",
        "ctl:ctl2 unknown",
    ];
    assert_eq!(found, expected);
}

#[test]
fn formulas_of_softver_programs_block_themselves() {
    let folder = Folder::new("softver");
    let text = "int x; { x := 0; while x < 3 do x := x + 1; od; }
        SPEC AF x = 3 SPEC bad := AF y = 3 SPEC AF (x = SPEC AG F x = 3 LTLSPEC F x = 3;";
    let (found, _) = results(&["check"], &folder.file("m.softver", text), 2);
    let expected = [
        "assertions holds",
        "deadlock holds",
        "ctl:ctl1 holds",
        "ltl:ltl1 holds",
        "ctl:bad unknown",
        "ctl:ctl3 unknown",
        "ctl:ctl4 unknown",
    ];
    assert_eq!(found, expected);
}

#[test]
fn formulas_of_a_file_block_themselves() {
    let folder = Folder::new("contest");
    let net = "<pnml><net id=\"n\" type=\"http://www.pnml.org/version-2009/grammar/ptnet\"><page id=\"g\">\
        <place id=\"p\"/><transition id=\"t\"/><arc id=\"a\" source=\"t\" target=\"p\"/></page></net></pnml>";
    let file = folder.file("n.pnml", net);
    let property = |id: &str, transition: &str, path: &str| {
        format!(
            "<property><id>{id}</id><formula><all-paths><{path}><is-fireable><transition>{transition}</transition>\
             </is-fireable></{path}></all-paths></formula></property>"
        )
    };
    let set = |properties: &[String]| format!("<property-set>{}</property-set>", properties.concat());
    let one = set(&[property("good", "t", "finally"), property("bad", "u", "finally")]);
    let formulas = folder.file("f.xml", &one);
    let words = ["check", "--formulas", formulas.to_str().unwrap(), "--deadlock", "--ltl", "F u"];
    let (found, _) = results(&words, &file, 2);
    assert_eq!(found, ["deadlock holds", "ltl:F u unknown", "good holds", "bad unknown"]);
    // Nothing says in which logic the formula is that has a next state.
    let formulas = folder.file("g.xml", &set(&[property("next", "t", "next"), property("bad", "u", "finally")]));
    let (found, _) = results(&["check", "--formulas", formulas.to_str().unwrap()], &file, 2);
    assert_eq!(found, ["next unknown", "bad unknown"]);
    let (found, _) = results(&["check", "--formulas", "nowhere.xml", "--deadlock"], &file, 2);
    assert_eq!(found, ["deadlock holds", "nowhere.xml unknown"]);
}

#[test]
fn formulas_over_observation_graphs_block_themselves() {
    let folder = Folder::new("sog");
    let file = folder.file("m.pml", COUNTER);
    let output = ample(&["sog", "--json", "--ltl", "F (y == 3)", "--ltl", "F (x == 3)"], &file);
    assert_eq!(output.status.code(), Some(2));
    let lines: Vec<Value> =
        String::from_utf8_lossy(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["verdict"], &lines[1]["verdict"]), (&"unknown".into(), &"holds".into()));
    assert_eq!(lines[0]["diagnostics"][0]["severity"], "error");
}

#[test]
fn names_of_formulas_are_suggested() {
    let folder = Folder::new("suggested");
    let file = folder.file("m.pml", COUNTER);
    let output = ample(&["check", "--ltl", "lve"], &file);
    assert!(errors(&output).contains("did you mean the formula `live`?"), "{}", errors(&output));
    let text = "VARIABLE g:1:=0; END ACTION up; END MAIN CASE [up] true: g := 1; END END CTL safe: AG g < 2; END";
    let file = folder.file("m.mil", text);
    let output = ample(&["check", "--ctl", "saef"], &file);
    assert!(errors(&output).contains("did you mean the formula `safe`?"), "{}", errors(&output));
    let output = ample(&["check", "--ltl", "safe"], &file);
    assert!(errors(&output).contains("is checked with --ctl"), "{}", errors(&output));
}

#[test]
fn labels_of_code_that_is_not_reached_are_known_in_every_formula() {
    let folder = Folder::new("labels");
    let blocks = "ltl one { [] ! P@dead } ltl two { <> P@dead } ltl three { [] ! P@also }";
    let file = folder.file("m.pml", &format!("{COUNTER}{blocks}"));
    let names = results(&["check", "--ltl", "one", "--ltl", "two", "--ltl", "three"], &file, 1).0;
    let words = ["check", "--ltl", "[] ! P@dead", "--ltl", "<> P@dead", "--ltl", "[] ! P@also"];
    let typed = results(&words, &file, 1).0;
    let verdicts = |found: &[String]| -> Vec<String> {
        found.iter().map(|result| result.rsplit(' ').next().unwrap_or("").to_owned()).collect()
    };
    assert_eq!(verdicts(&names), ["holds", "violated", "holds"]);
    assert_eq!(verdicts(&typed), verdicts(&names));
    assert_eq!(results(&["check", "--ctl", "AG ! P@dead", "--invariant", "!P@also"], &file, 0).0.len(), 2);
    // A process passes a label before a jump, so that a formula beside the model cannot speak of it.
    let file = folder.file("g.pml", "byte x; active proctype P() { do :: x < 3 -> x++; jump: goto on; on: skip od }");
    assert_eq!(results(&["check", "--ltl", "[] ! P@jump"], &file, 2).0, ["ltl:[] ! P@jump unknown"]);
}

#[test]
fn the_error_is_the_first_error_and_warnings_stay() {
    let folder = Folder::new("warnings");
    let warned = "init { skip }\ninit { skip }\n";
    let file = folder.file("w.pml", warned);
    for words in [&["check", "-q"][..], &["check"], &["states", "-q"], &["simulate", "-q"]] {
        assert!(errors(&ample(words, &file)).contains("Warning"), "{words:?}");
    }
    let file = folder.file("e.pml", &format!("{warned}active proctype P() {{ y = 1 }}\n"));
    let output = ample(&["check", "--json"], &file);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["diagnostics"][0]["severity"], "warning", "{report}");
    assert_eq!(report["error"], "undeclared variable `y`");
}

#[test]
fn options_for_systems_of_processes_are_refused_where_all_move_at_once() {
    let folder = Folder::new("synchronous");
    let model = "MODULE main\nVAR x : boolean;\nASSIGN init(x) := FALSE; next(x) := !x;\nLTLSPEC G F x\n";
    let file = folder.file("m.smv", model);
    for (option, verdict) in [
        (&["--reach", "frontier"][..], "holds"),
        (&["--reach", "bfs"], "holds"),
        (&["--reach", "chaining"], "unknown"),
        (&["--reach", "none"], "holds"),
        (&["--direction", "forward"], "unknown"),
        (&["--liveness-to-safety"], "unknown"),
    ] {
        let words = [&["check", "--engine", "symbolic", "--json"], option].concat();
        let report: Value = serde_json::from_slice(&ample(&words, &file).stdout).unwrap();
        let result = &report["results"][0];
        assert_eq!(result["verdict"], verdict, "{option:?}: {result}");
        let reason = result["reason"].as_str().unwrap_or_default();
        assert_eq!(reason.contains("synchronous"), verdict == "unknown", "{option:?}: {reason}");
    }
}

#[test]
fn what_is_not_counted_is_null() {
    let folder = Folder::new("counts");
    let model = folder.file("m.pml", COUNTER);
    let net = "<pnml><net id=\"n\" type=\"http://www.pnml.org/version-2009/grammar/ptnet\"><page id=\"g\">\
        <place id=\"p\"><initialMarking><text>2</text></initialMarking></place><place id=\"q\"/><transition id=\"t\"/>\
        <arc id=\"a\" source=\"p\" target=\"t\"/><arc id=\"b\" source=\"t\" target=\"q\"/></page></net></pnml>";
    let net = folder.file("n.pnml", net);
    // Engine and question; whether states, transitions and the depth are counted.
    for (words, file, counted) in [
        (&["check", "--engine", "explicit", "--deadlock"][..], &model, [true, true, true]),
        (&["check", "--engine", "explicit", "--ltl", "live"], &model, [true, true, true]),
        (&["check", "--engine", "explicit", "--ctl", "EF (x == 3)"], &model, [true, true, true]),
        (&["check", "--engine", "symbolic", "--deadlock"], &model, [true, false, false]),
        (&["check", "--engine", "symbolic", "--ltl", "live"], &model, [true, false, false]),
        (&["check", "--engine", "sog", "--ltl", "live"], &model, [false, false, false]),
        (&["check", "--engine", "sog", "--ltl", "F q >= 2"], &net, [false, false, false]),
        // The net that is searched may be a smaller one.
        (&["check", "--engine", "symbolic", "--ctl", "AF q >= 2"], &net, [false, false, false]),
        (&["check", "--engine", "symbolic", "--diagrams", "binary", "--ctl", "AF q >= 2"], &net, [true, false, false]),
        (&["states", "--engine", "explicit"], &model, [true, true, true]),
        (&["states", "--engine", "symbolic"], &model, [true, false, false]),
        (&["states", "--engine", "explicit"], &net, [true, true, true]),
        (&["states", "--engine", "symbolic"], &net, [true, false, false]),
    ] {
        let output = ample(&[words, &["--json"]].concat(), file);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let found = ["states", "transitions", "depth"].map(|key| report["stats"][key].is_u64());
        assert_eq!(found, counted, "{words:?}: {}", report["stats"]);
        let text = String::from_utf8_lossy(&ample(words, file).stdout).into_owned();
        assert_eq!(text.contains("depth reached"), counted[2], "{words:?}: {text}");
        assert_eq!(text.contains("transitions"), counted[1], "{words:?}: {text}");
    }
}
