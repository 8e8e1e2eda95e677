//! Wrong calls of `ample testgen`: each is refused with exit code 2 and a sentence that names what is wrong; an expression is
//! shown with its line and column, and the wrong place is underlined.

mod support;

use std::path::Path;

use support::{Folder, code, command, errors, json, model, text};

const AAG: &str = "aag 3 1 1 1 1\n2\n4 6\n6\n6 4 2\ni0 go\nl0 held\no0 out\n";
const PROGRAM: &str = "byte x; active proctype P() { do :: x < 9 -> x++ od }";

fn testgen(file: &Path, words: &[&str]) -> std::process::Output {
    command(&["testgen"]).arg(file).args(words).output().unwrap()
}

/// What is said on standard error about a call that is refused.
fn refused(file: &Path, words: &[&str]) -> String {
    let output = testgen(file, words);
    let said = errors(&output);
    assert_eq!(code(&output), 2, "{} {words:?}: {said}", file.display());
    assert!(!said.contains("panicked") && !said.trim().is_empty(), "{} {words:?}: {said}", file.display());
    assert!(text(&output).is_empty(), "{} {words:?}: {}", file.display(), text(&output));
    said
}

/// Expressions that are wrong whatever names a model has, with a name of it in the place of `$`; the column, and a part of what is
/// said.
const EXPRESSIONS: [(&str, usize, &str); 18] = [
    ("", 1, ""),
    ("nothing", 1, "nothing"),
    ("(nothing)", 0, "nothing"),
    ("($", 0, ""),
    ("$)", 0, ")"),
    ("$ &&", 0, ""),
    ("&& $", 1, "&"),
    ("! ", 0, ""),
    ("$ $", 0, ""),
    ("$ || || $", 0, "|"),
    ("$ == ", 0, ""),
    ("@", 1, ""),
    ("$ ? 1", 0, ""),
    ("'", 1, ""),
    ("$[0][0]", 0, ""),
    ("$.part", 0, "part"),
    ("99999999999999999999 == 1", 1, ""),
    ("(((((((($)))))))", 0, ""),
];

#[test]
fn wrong_targets_are_underlined_in_every_format() {
    let folder = Folder::new("wrong-targets");
    let aag = folder.file("held.aag", AAG);
    let program = folder.file("p.pml", PROGRAM);
    let mut count = 0;
    for (file, name) in [
        (model("circuits/counter.bench"), "carry"),
        (model("circuits/arbiter.blif"), "grant1"),
        (aag, "held"),
        (model("smv/arbiter.smv"), "turn"),
        (program, "x"),
    ] {
        for (number, (expression, column, said)) in EXPRESSIONS.iter().enumerate() {
            let target = expression.replace('$', name);
            // Promela takes a number of any length, as Spin does.
            if name == "x" && target.starts_with('9') {
                continue;
            }
            let message = refused(&file, &["--target", &target]);
            let at = if *column > 0 { format!(":1:{column}") } else { ":1:".to_owned() };
            let is_placed = message.contains(&at) && (message.contains('^') || target.trim().is_empty());
            assert!(is_placed && message.contains(said), "{} {target:?}: {message}", file.display());
            // The same in the third line of a file, after a target that is right.
            if !target.trim().is_empty() {
                let path = folder.file(&format!("{number}.txt"), &format!("# targets\n\n  {target}  # wrong\n"));
                let message = refused(&file, &["--sequence", path.to_str().unwrap()]);
                assert!(message.contains(&format!("{number}.txt:3:")), "{} {target:?}: {message}", file.display());
                count += 1;
            }
            count += 1;
        }
    }
    assert!(count > 150, "{count}");
}

#[test]
fn wrong_options_are_refused() {
    let folder = Folder::new("wrong-options");
    let program = folder.file("p.pml", PROGRAM);
    let (bench, smv) = (model("circuits/counter.bench"), model("smv/arbiter.smv"));
    let missing = folder.0.join("missing.txt");
    let missing = missing.to_str().unwrap();
    let table: &[(&Path, &[&str], &str)] = &[
        (&bench, &[], "--target"),
        (&bench, &["--target"], "--target"),
        (&bench, &["--coverage", "everything"], "everything"),
        (&bench, &["--coverage", "statements"], "processes"),
        (&bench, &["--coverage", "branches"], "processes"),
        (&bench, &["--coverage", "transitions"], "--automaton"),
        (&bench, &["--coverage", "transitions", "--automaton", "nothing"], "nothing"),
        (&bench, &["--coverage", "transitions", "--automaton", "enable"], "input"),
        (&bench, &["--target", "carry", "--automaton", "bit0"], "--automaton"),
        (&bench, &["--target", "carry", "--coverage", "latches"], ""),
        (&bench, &["--target", "carry", "--sequence", "x"], ""),
        (&bench, &["--sequence", missing], "missing.txt"),
        (&bench, &["--sequence", "/"], ""),
        (&bench, &["--target", "carry", "--method", "fast"], "fast"),
        (&bench, &["--target", "carry", "--max-cycles", "-1"], ""),
        (&bench, &["--target", "carry", "--max-cycles", "many"], "many"),
        (&bench, &["--target", "carry", "--completions", "many"], "many"),
        (&bench, &["--target", "carry", "--seed", "x"], "x"),
        (&bench, &["--target", "carry", "--format", "pdf"], "pdf"),
        (&bench, &["--target", "carry", "--output", "/nowhere/t.json"], "/nowhere"),
        (&bench, &["--target", "carry", "--time-limit", "soon"], "soon"),
        (&bench, &["--target", "carry", "--memory-limit", "little"], "little"),
        (&smv, &["--coverage", "transitions", "--automaton", "nothing"], "nothing"),
        (&smv, &["--target", "turn = 0", "--format", "stimulus"], "circuits"),
        (&smv, &["--coverage", "statements"], "processes"),
        (&program, &["--coverage", "latches"], "circuits"),
        (&program, &["--coverage", "transitions", "--automaton", "x"], "circuits"),
        (&program, &["--target", "x == 1", "--target", "x == 2"], "sequence"),
        (&program, &["--target", "x == 1", "--format", "vcd"], "text or JSON"),
        (&program, &["--target", "x == 1", "--format", "stimulus"], "text or JSON"),
    ];
    for (file, words, part) in table {
        let said = refused(file, words);
        assert!(said.contains(part), "{words:?}: {said}");
    }
}

#[test]
fn files_that_are_no_models_are_refused() {
    let folder = Folder::new("no-models");
    for (name, written) in [
        ("a.bench", "INPUT(a\n"),
        ("b.bench", "q = DFF(q, q)\n"),
        ("c.blif", ".model m\n.latch a\n.end\n"),
        ("d.blif", ".names a b\n2 1\n"),
        ("e.aag", "aag 1 2 3\n"),
        ("f.aag", "aag 1 0 0 1 0\n9\n"),
        ("g.smv", "MODULE main VAR x : bool;"),
        ("h.softver", "int x; { x := ; }"),
        ("i.pml", "active proctype P() { x = 1 }"),
    ] {
        let file = folder.file(name, written);
        let said = refused(&file, &["--coverage", "latches"]);
        assert!(said.contains(&format!("{name}:")) && said.contains('^'), "{name}: {said}");
        let output = testgen(&file, &["--coverage", "latches", "--json"]);
        assert_eq!(code(&output), 2);
        assert!(json(&output)["error"].is_string(), "{}", text(&output));
    }
    let said = refused(&model("circuits/counter.bench"), &["--target", "carry == nothing"]);
    assert!(said.contains(":1:10") && said.contains("^^^^^^^"), "{said}");
    refused(&folder.0.join("missing.bench"), &["--target", "a"]);
    refused(&folder.0, &["--target", "a"]);
}
