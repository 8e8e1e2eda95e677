//! Trace files: whose run is replayed, and that nothing is replayed that is not a run of the model.

mod support;

use std::process::Output;

use ample::simulate::Random;
use serde_json::{Value, json};

/// A folder in which the command is run.
struct Folder(support::Folder);

impl Folder {
    fn new(test: &str) -> Folder {
        Folder(support::Folder::new(test))
    }

    fn file(&self, name: &str, text: &str) {
        self.0.file(name, text);
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_str(&std::fs::read_to_string(self.0.0.join(name)).unwrap()).unwrap()
    }

    /// Runs the command in the folder.
    fn ample(&self, words: &[&str]) -> Output {
        support::command(words).current_dir(&self.0.0).output().unwrap()
    }

    /// Runs the command; exit code and all that it prints.
    fn tell(&self, words: &[&str]) -> (i32, String) {
        let output = self.ample(words);
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        assert!(!text.contains("panicked"), "{words:?}: {text}");
        (output.status.code().expect("an exit code"), text)
    }
}

/// Each run of one is one of the other too, as far as the numbers of processes and edges go.
const ONE: &str = "byte x; active proctype P() { x = 1; x = 2; assert(false) }";
const OTHER: &str = "byte y; active proctype Q() { y = 5; y = 6; y = 7; assert(false) }";

const LASSO: &str = "byte x; chan q = [2] of { byte };
    active proctype P() { x = 3; do :: x < 9 -> q!x; q?x; x = (x == 3 -> 4 : 3) od }
    ltl p { <> (x == 7) }";

const NET: &str = r#"<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">
<net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="g">
<place id="a"><initialMarking><text>1</text></initialMarking></place><place id="b"/><place id="c"/>
<transition id="go"/><transition id="back"/><transition id="off"/>
<arc id="1" source="a" target="go"/><arc id="2" source="go" target="b"/>
<arc id="3" source="b" target="back"/><arc id="4" source="back" target="a"/>
<arc id="5" source="b" target="off"/><arc id="6" source="off" target="c"/>
</page></net></pnml>"#;

const ROBOT: &str = "bool ready; byte side; active proctype robot() { ready = true; if :: side = 1 :: side = 2 fi }";
const BRANCHING: &str = "AG (ready -> AF (side == 1) || AF (side == 2))";

fn two_models(test: &str) -> Folder {
    let folder = Folder::new(test);
    folder.file("one.pml", ONE);
    folder.file("other.pml", OTHER);
    assert_eq!(folder.tell(&["check", "one.pml", "other.pml", "--trace", "t.json"]).0, 1);
    folder
}

#[test]
fn the_run_of_the_model_that_is_given_is_replayed() {
    let folder = two_models("two");
    let json = folder.ample(&["check", "--json", "one.pml", "other.pml"]).stdout;
    std::fs::write(folder.0.0.join("report.json"), &json).unwrap();
    let objects: Vec<Value> = serde_json::Deserializer::from_slice(&json).into_iter().map(Result::unwrap).collect();
    folder.file("array.json", &json!(objects).to_string());
    for file in ["t.json", "report.json", "array.json"] {
        for (model, statement) in [("one.pml", "x = 2"), ("other.pml", "y = 7"), ("./other.pml", "y = 7")] {
            let (code, text) = folder.tell(&["simulate", model, "--trace", file]);
            assert!(code == 1 && text.contains(statement), "{file} {model}: {text}");
            let (code, text) = folder.tell(&["reduce", model, "--trace", file, "--step", "1"]);
            assert!(code == 0 && text.contains("after 1 move"), "{file} {model}: {text}");
        }
    }
    // From another folder, and with an absolute path.
    let absolute = folder.0.0.join("other.pml").display().to_string();
    assert_eq!(folder.tell(&["simulate", &absolute, "--trace", "t.json"]).0, 1);
    folder.file("moved/there/other.pml", OTHER);
    std::fs::remove_file(folder.0.0.join("other.pml")).unwrap();
    let (code, text) = folder.tell(&["simulate", "moved/there/other.pml", "--trace", "t.json"]);
    assert!(code == 1 && text.contains("y = 7"), "{text}");
}

#[test]
fn a_run_that_is_missing_or_ambiguous_is_an_error_that_lists_what_there_is() {
    let folder = two_models("missing");
    folder.file("third.pml", ONE);
    for command in ["simulate", "reduce"] {
        let (code, text) = folder.tell(&[command, "third.pml", "--trace", "t.json"]);
        assert_eq!(code, 2, "{text}");
        for part in ["no run of third.pml", "one.pml: assertions", "other.pml: assertions"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let (code, text) = folder.tell(&[command, "one.pml", "--trace", "t.json", "--property", "ltl:p"]);
        assert!(code == 2 && text.contains("no run for `ltl:p`") && text.contains("one.pml: assertions"), "{text}");
    }
    // Two models of that name, and it is neither of them.
    folder.file("a/m.pml", ONE);
    folder.file("b/m.pml", ONE);
    folder.tell(&["check", "a/m.pml", "b/m.pml", "--trace", "u.json"]);
    let (code, text) = folder.tell(&["simulate", "b/m.pml", "--trace", "u.json"]);
    assert!(code == 1 && text.contains("b/m.pml: the run"), "{text}");
    folder.file("c/m.pml", ONE);
    let (code, text) = folder.tell(&["simulate", "c/m.pml", "--trace", "u.json"]);
    assert!(code == 2 && text.contains("no run of c/m.pml"), "{text}");
    std::fs::remove_dir_all(folder.0.0.join("a")).unwrap();
    std::fs::remove_dir_all(folder.0.0.join("b")).unwrap();
    let (code, text) = folder.tell(&["simulate", "c/m.pml", "--trace", "u.json"]);
    assert!(code == 2 && text.contains("not clear") && text.contains("a/m.pml: assertions"), "{text}");
}

const SMV: &str = "MODULE main
VAR x : {a, b, c}; y : 0..3;
ASSIGN init(x) := a; next(x) := case x = a : b; x = b : {a, c}; TRUE : x; esac;
SPEC AG (x = a & y < 4 -> AF x = c)
LTLSPEC G (y = 0 | y > 0)
LTLSPEC G F y = 0
";

#[test]
fn models_of_smv_are_reported_in_its_notation() {
    let folder = Folder::new("notation");
    folder.file("m.smv", SMV);
    let (code, text) = folder.tell(&["check", "m.smv"]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("AF(x = c) does not hold"), "{text}");
    assert!(text.contains("holds: G (y = 0 | y > 0)"), "{text}");
    assert!(text.contains("-- Loop starts here") && !text.contains("START OF CYCLE"), "{text}");
    folder.file("wrong.smv", "MODULE main\nVAR x : 0..;");
    let (code, text) = folder.tell(&["check", "--json", "wrong.smv"]);
    assert!(code == 2 && text.contains("\"results\":[]"), "{text}");
}

#[test]
fn a_cycle_must_close() {
    let folder = Folder::new("cycle");
    folder.file("m.pml", LASSO);
    folder.file("n.pnml", NET);
    for (model, property, words) in [
        ("m.pml", "ltl:p", vec!["--ltl", "p"]),
        ("n.pnml", "ltl:F c", vec!["--ltl", "F c"]),
        ("n.pnml", "ctl:AF c", vec!["--ctl", "AF c"]),
    ] {
        let check = [&["check", model, "--trace", "t.json"], words.as_slice()].concat();
        assert_eq!(folder.tell(&check).0, 1);
        let whole = folder.json("t.json");
        assert_eq!(whole["traces"][0]["property"], property);
        let (code, text) = folder.tell(&["simulate", model, "--trace", "t.json"]);
        assert!(code == 0 && text.contains("START OF CYCLE") && text.contains("the cycle begins again"), "{text}");
        let cycle = whole["traces"][0]["trace"]["cycle"].as_array().unwrap().clone();
        assert!(cycle.len() > 1, "{whole}");
        for length in 1..cycle.len() {
            let mut open = whole.clone();
            open["traces"][0]["trace"]["cycle"] = json!(cycle[..length]);
            folder.file("open.json", &open.to_string());
            for command in ["simulate", "reduce"] {
                let (code, text) = folder.tell(&[command, model, "--trace", "open.json"]);
                // A net is one process: nothing can be left out, and the trace is read all the same.
                assert!(code == 2 && text.contains("the cycle does not close: "), "{command}: {text}");
            }
        }
    }
}

#[test]
fn branches_are_replayed_and_must_fit() {
    let folder = Folder::new("branches");
    folder.file("m.pml", ROBOT);
    assert_eq!(folder.tell(&["check", "m.pml", "--ctl", BRANCHING, "--trace", "t.json"]).0, 1);
    let (code, text) = folder.tell(&["simulate", "m.pml", "--trace", "t.json"]);
    assert!(code == 0 && text.contains("branch 2, after 1 step") && text.contains("side: 0 → 2"), "{text}");
    let output = folder.ample(&["simulate", "m.pml", "--trace", "t.json", "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["branches"].as_array().map(Vec::len), Some(2));
    let whole = folder.json("t.json");
    for (change, why) in
        [(json!(7), "branch 2 begins after 7 steps, but there are 1"), (json!(0), "step 1 of branch 2: robot(0) `")]
    {
        let mut wrong = whole.clone();
        wrong["traces"][0]["branches"][1]["after"] = change;
        folder.file("wrong.json", &wrong.to_string());
        let (code, text) = folder.tell(&["simulate", "m.pml", "--trace", "wrong.json"]);
        assert!(code == 2 && text.contains(why), "{text}");
    }
}

#[test]
fn a_step_that_tells_something_else_is_refused() {
    let folder = two_models("step");
    let whole = folder.json("t.json");
    for (path, value, why) in [
        ("/traces/0/trace/prefix/1/changes/0/after", json!("9"), "step 2: P(0) `x = 2`: the trace says x becomes 9"),
        ("/traces/0/trace/prefix/1/text", json!("x = 9"), "the trace has P(0) `x = 9`, the model P(0) `x = 2`"),
        ("/traces/0/trace/prefix/1/move/edge", json!(77), "P(0) `x = 2` cannot be taken there"),
        ("/traces/0/trace/prefix/1/move/process", json!(9), "P(0) `x = 2` cannot be taken there"),
        ("/traces/0/trace/prefix/2/violation", json!(null), "the trace says: nothing goes wrong"),
        ("/traces/0/trace/start", json!(5), "the model has no initial state number 5"),
        ("/traces/0/trace/prefix", json!("none"), "is not a trace"),
        ("/traces/0/trace", json!(null), "is not a trace"),
    ] {
        let mut wrong = whole.clone();
        *wrong.pointer_mut(path).unwrap_or_else(|| panic!("{path}: {whole}")) = value;
        folder.file("wrong.json", &wrong.to_string());
        for command in ["simulate", "reduce"] {
            let (code, text) = folder.tell(&[command, "one.pml", "--trace", "wrong.json"]);
            assert!(code == 2 && text.contains(why), "{path}: {text}");
        }
    }
}

/// All numbers, texts and lists in a value.
fn places(value: &Value, path: String, out: &mut Vec<String>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(key, inner)| places(inner, format!("{path}/{key}"), out)),
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(number, inner)| places(inner, format!("{path}/{number}"), out));
        }
        _ => {}
    }
    out.push(path);
}

#[test]
fn no_damaged_file_makes_it_panic() {
    let folder = Folder::new("damaged");
    folder.file("m.pml", LASSO);
    folder.file("n.pnml", NET);
    folder.file("r.pml", ROBOT);
    for (model, words) in [
        ("m.pml", vec!["--ltl", "p"]),
        ("n.pnml", vec!["--deadlock", "--ctl", "AF c"]),
        ("r.pml", vec!["--ctl", BRANCHING]),
    ] {
        let check = [&["check", model, "--trace", "t.json"], words.as_slice()].concat();
        assert_eq!(folder.tell(&check).0, 1);
        let text = std::fs::read_to_string(folder.0.0.join("t.json")).unwrap();
        let whole: Value = serde_json::from_str(&text).unwrap();
        let mut all = Vec::new();
        places(&whole, String::new(), &mut all);
        let mut random = Random::new(7);
        for round in 0..60 {
            let mut damaged = whole.clone();
            let path = &all[random.below(all.len())];
            let values = [json!(-1), json!(4_000_000_000u64), json!("x"), json!(null), json!([]), json!({}), json!(1)];
            *damaged.pointer_mut(path).unwrap() = values[random.below(values.len())].clone();
            let mut bytes = damaged.to_string().into_bytes();
            if round % 3 == 0 {
                bytes = text.clone().into_bytes();
                bytes.truncate(random.below(text.len()));
            }
            if round % 5 == 0 && !bytes.is_empty() {
                let at = random.below(bytes.len());
                bytes[at] = random.below(256) as u8;
            }
            std::fs::write(folder.0.0.join("damaged.json"), bytes).unwrap();
            for command in ["simulate", "reduce"] {
                let (code, text) = folder.tell(&[command, model, "--trace", "damaged.json"]);
                assert!((0..=2).contains(&code), "{model}, round {round}, {path}: {code} {text}");
                assert!(code != 2 || text.contains("Error:"), "{model}, round {round}, {path}: {text}");
            }
        }
    }
}
