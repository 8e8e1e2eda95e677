//! Names that look like operators, in every notation and in every command that reads one.
//!
//! Something with such a name comes true on every run; what is left of the name behind letters that could be operators
//! is declared as well, and never does. So each wrong reading has another verdict.

mod support;

use std::path::Path;
use std::process::Output;
use support::{Folder, ample};

/// Names that are operators, or begin like some.
const NAMES: [&str; 18] =
    ["Fa", "GoEat_0", "X1", "AG1", "U", "true_", "GF", "GFa", "X", "G", "F", "A", "E", "V", "AG", "EFx", "Xor", "R"];

fn shown(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// What is left of a name behind letters that could be operators, if that can be a name.
fn decoys(name: &str) -> Vec<String> {
    let letters = name.bytes().take_while(|byte| b"FGXAE".contains(byte)).count();
    let rests = (1..=letters).map(|length| &name[length..]);
    rests.filter(|rest| rest.starts_with(|c: char| c.is_alphabetic())).map(str::to_owned).collect()
}

fn promela(name: &str) -> String {
    let decoys: String = decoys(name).iter().map(|decoy| format!("bool {decoy};\n")).collect();
    format!(
        "bool {name};\n{decoys}bool unset;\nactive proctype P() {{ {name} = 1; do :: skip od }}\n\
         ltl block {{ <> {name} }}\nltl other {{ ! [] ! ({name} && true) }}\n"
    )
}

fn milestones(name: &str) -> String {
    let decoys: String = decoys(name).iter().map(|decoy| format!(" {decoy}:1:=0;")).collect();
    format!(
        "VARIABLE {name}:1:=0;{decoys} unset:1:=0; END ACTION go; END MAIN CASE [go] true: {name} := 1; END END\n\
         LTL block: F {name} == 1; other: !G {name} == 0; END\nCTL branching: AF {name} == 1; END\n"
    )
}

/// A net whose last place, or only transition, has the name.
fn net(place: &str, transition: &str, decoys: &[String]) -> String {
    let decoys: String = decoys.iter().map(|decoy| format!("<place id=\"{decoy}\"/>")).collect();
    format!(
        "<pnml><net id=\"n\" type=\"http://www.pnml.org/version-2009/grammar/ptnet\"><page id=\"page\">\
         <place id=\"start\"><initialMarking><text>1</text></initialMarking></place><place id=\"{place}\"/>\
         <place id=\"unset\"/>{decoys}<transition id=\"{transition}\"/>\
         <arc id=\"arc1\" source=\"start\" target=\"{transition}\"/>\
         <arc id=\"arc2\" source=\"{transition}\" target=\"{place}\"/></page></net></pnml>"
    )
}

fn contest(place: &str) -> String {
    format!(
        "<property-set><property><id>block</id><formula><all-paths><finally><integer-le>\
         <integer-constant>1</integer-constant><tokens-count><place>{place}</place></tokens-count></integer-le>\
         </finally></all-paths></formula></property></property-set>"
    )
}

/// In Promela a name of the model is never an operator, and an operator of an `ltl` block is never a name. Who needs
/// both is told what to write instead.
const TOLD: [&str; 2] =
    ["is a name of the model and so no operator: write", "is an operator in an ltl block, as in Spin"];

/// Asks, and says what is wrong if the exit code is not the one that is expected.
fn ask(words: &[&str], file: &Path, expected: i32) -> Option<String> {
    let output = ample(words, file);
    let found = output.status.code();
    let is_told = file.extension().is_some_and(|extension| extension == "pml")
        && TOLD.iter().any(|told| shown(&output).contains(told));
    if found == Some(2) && is_told {
        return None;
    }
    (found != Some(expected)).then(|| format!("{words:?} {}: {found:?}\n{}", file.display(), shown(&output)))
}

/// The questions whose verdict tells whether the condition is read as meant: words, formula, and the exit code.
fn questions(condition: &str, never: &str) -> Vec<(Vec<&'static str>, String, i32)> {
    vec![
        (vec!["check", "--ltl"], format!("F ({condition})"), 0),
        (vec!["check", "--ltl"], format!("<> ({condition})"), 0),
        (vec!["check", "--ltl"], format!("!G !({condition})"), 0),
        (vec!["check", "--ltl"], format!("!({condition}) W ({condition})"), 0),
        (vec!["check", "--engine", "sog", "--ltl"], format!("F ({condition})"), 0),
        (vec!["check", "--ctl"], format!("AF ({condition})"), 0),
        (vec!["check", "--ctl"], format!("A [ true U ({condition}) ]"), 0),
        (vec!["check", "--invariant"], format!("!({condition})"), 1),
        (
            vec!["check", "--ltl", &*Box::leak(format!("F ({never})").into_boxed_str()), "--justice"],
            condition.to_owned(),
            1,
        ),
        (vec!["sog", "--ltl"], format!("F ({condition})"), 0),
        (vec!["sog", "--kind", "state", "--atoms"], condition.to_owned(), 0),
    ]
}

#[test]
fn a_declared_name_is_that_name_in_every_notation_and_command() {
    let folder = Folder::new("declared");
    let mut wrong = Vec::new();
    for name in NAMES {
        let models = [
            (folder.file("m.pml", &promela(name)), name.to_owned(), "unset"),
            (folder.file("m.mil", &milestones(name)), format!("{name} == 1"), "unset == 1"),
            (folder.file("n.pnml", &net(name, "go", &decoys(name))), name.to_owned(), "unset"),
            (folder.file("n2.pnml", &net(name, "go", &decoys(name))), format!("{name} >= 1"), "unset >= 1"),
        ];
        for (file, condition, never) in &models {
            for (mut words, formula, expected) in questions(condition, never) {
                words.push(&formula);
                wrong.extend(ask(&words, file, expected));
            }
            // Formulas in the file itself.
            if file.extension().is_none_or(|extension| extension != "pnml") {
                wrong.extend(ask(&["check", "--ltl", "block", "--ltl", "other"], file, 0));
            }
        }
        wrong.extend(ask(&["check", "--ctl", "branching"], &models[1].0, 0));
        let formulas = folder.file("f.xml", &contest(name));
        wrong.extend(ask(&["check", "--formulas", formulas.to_str().unwrap()], &models[2].0, 0));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_action_is_that_action() {
    let folder = Folder::new("actions");
    let mut wrong = Vec::new();
    for name in NAMES {
        let net = folder.file("n.pnml", &net("end", name, &decoys(name)));
        let variables: String = decoys(name).iter().map(|decoy| format!(" {decoy}:1:=0;")).collect();
        let text =
            format!("VARIABLE g:1:=0;{variables} END ACTION {name}; END MAIN CASE [{name}] g == 0: g := 1; END END");
        let milestones = folder.file("m.mil", &text);
        for file in [&net, &milestones] {
            wrong.extend(ask(&["sog", "--ltl", &format!("F {name}")], file, 0));
            wrong.extend(ask(&["sog", "--ltl", &format!("F \"{name}\"")], file, 0));
            wrong.extend(ask(&["sog", "--ltl", &format!("G F {name}")], file, 1));
            wrong.extend(ask(&["sog", "--ltl", &format!("G ! {name}")], file, 1));
            wrong.extend(ask(&["sog", "--observe", name], file, 0));
        }
        wrong.extend(ask(&["check", "--ltl", &format!("F !fireable({name})")], &net, 0));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_ambiguous_is_refused_with_what_to_write() {
    let folder = Folder::new("ambiguous");
    let places = ["a", "Fa", "X", "true", "deadlock", "7"].map(str::to_owned);
    let net = folder.file("n.pnml", &net("end", "go", &places));
    let variables = folder.file("m.pml", "bool a, Fa, end; active proctype P() { end = 1 }");
    for (file, command, option, formula, expected) in [
        (&net, "check", "--ltl", "GFa", "`G \"Fa\"`"),
        (&net, "sog", "--ltl", "GFa", "`G \"Fa\"`"),
        (&net, "check", "--ltl", "X - 1 <= end", "`\"X\"`"),
        (&net, "check", "--ltl", "F true", "`\"true\"`"),
        (&net, "sog", "--ltl", "F true", "`\"true\"`"),
        (&net, "check", "--ctl", "A [ true U end ]", "`\"true\"`"),
        (&net, "check", "--invariant", "!deadlock", "`\"deadlock\"`"),
        (&net, "check", "--invariant", "end < 7", "`\"7\"`"),
        (&net, "sog", "--atoms", "end < 7", "`7` is a number, and also the name of a place"),
        (&variables, "check", "--ltl", "GFa", "`G Fa` and as `G F a`"),
        (&variables, "sog", "--ltl", "GFa", "`G Fa` and as `G F a`"),
    ] {
        let output = ample(&[command, option, formula], file);
        let shown = shown(&output);
        assert_eq!(output.status.code(), Some(2), "{formula}: {shown}");
        assert!(shown.contains(expected), "{formula}: {shown}");
    }
    // And what to write is understood.
    for (option, formula, expected) in [
        ("--ltl", "G !\"Fa\"", 0),
        ("--ltl", "G F \"true\"", 1),
        ("--ltl", "\"X\" - 1 <= end", 0),
        ("--ltl", "F 1", 0),
        ("--invariant", "!deadlock()", 1),
        ("--invariant", "!\"deadlock\"", 0),
        ("--invariant", "end < 07", 0),
        ("--invariant", "end <= \"7\"", 1),
    ] {
        assert_eq!(ask(&["check", option, formula], &net, expected), None);
    }
}
