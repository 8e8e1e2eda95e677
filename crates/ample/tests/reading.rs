//! What a report looks like to its reader: how a run ends, what blocks a process, what is left out of something long,
//! and that columns stay columns.

mod support;

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;
use support::{Folder, ample, model};
use unicode_width::UnicodeWidthStr;

fn text(words: &[&str], file: &Path) -> String {
    support::text(&ample(words, file))
}

fn json(words: &[&str], file: &Path) -> Value {
    let words = [words, &["--json"]].concat();
    support::json(&ample(&words, file))
}

#[test]
fn a_blocked_process_shows_what_its_condition_reads() {
    let folder = Folder::new("blocked");
    for (number, (source, shown)) in [
        ("byte now = 1; active proctype P() { byte my = 2; now == my }", "now == my  (now = 1, my = 2)"),
        ("bool flag[2]; active proctype P() { flag[1 - _pid] }", "flag[1 - _pid]  (flag[1] = 0)"),
        ("mtype = { off, on }; mtype m = off; active proctype P() { m == on }", "m == on  (m = off)"),
        ("chan q = [1] of { byte }; active proctype P() { byte x; q?x }", "q?x  (q is empty)"),
        ("chan q = [1] of { byte }; active proctype P() { q!1; q!2 }", "q!2  (q is full)"),
        ("chan q = [0] of { byte }; active proctype P() { q!2 }", "q!2  (no matching receiver on q)"),
        ("chan q = [0] of { byte }; active proctype P() { q?2 }", "q?2  (no matching sender on q)"),
        (
            "chan q = [2] of { byte }; active proctype P() { byte x = 7; q!1; q?eval(x) }",
            "q?eval(x)  (the first message in q does not match, x = 7)",
        ),
        ("chan q = [2] of { byte }; active proctype P() { q!1; q??2 }", "q??2  (no message in q matches)"),
        ("chan q = [2] of { byte }; active proctype P() { q!1; len(q) == 2 }", "len(q) == 2  (len(q) = 1)"),
        ("byte x; active proctype P() { if :: x == 1 :: x == 2 fi }", "x == 1  (x = 0)  or  x == 2  (x = 0)"),
        ("byte x; active proctype P() provided (x == 1) { x = 2 }", "x = 2  (its provided clause is false, x = 0)"),
    ]
    .into_iter()
    .enumerate()
    {
        let file = folder.file(&format!("m{number}.pml"), source);
        let report = text(&["check", "--deadlock"], &file);
        assert!(report.contains(&format!("waits for  {shown}")), "{source}\n{report}");
        let report = json(&["check", "--deadlock"], &file);
        let statement = &report["results"][0]["end"]["processes"][0]["statements"][0];
        assert_eq!(statement["executable"], false, "{report}");
        let has_reason = !statement["because"].is_null() || statement["reads"][0]["value"].is_string();
        assert!(has_reason, "{report}");
    }
}

#[test]
fn every_run_ends_with_the_whole_state() {
    let folder = Folder::new("state");
    let source =
        "byte x; chan q = [2] of { byte, byte }; active proctype P() { q!1,2; again: if :: x = 0; goto again fi }
        active proctype Q() { x == 9 } ltl p { <> (x == 1) } ltl s { [] (len(q) == 0) }";
    let file = folder.file("m.pml", source);
    let whole = ["P(0)", "Q(1)", "waits for  x == 9  (x = 0)", "channel q: [1,2]", "all variables are 0"];
    for words in [
        vec!["check", "--ltl", "p"],
        vec!["check", "--ltl", "s"],
        vec!["check", "--ctl", "AF (x == 1)"],
        vec!["check", "--ctl", "AF (x == 1)", "--engine", "symbolic"],
        vec!["check", "--invariant", "len(q) == 0"],
        vec!["simulate", "--seed", "1", "--steps", "3"],
    ] {
        let report = text(&words, &file);
        let end = report.lines().skip_while(|line| !line.starts_with("    P(0)")).collect::<Vec<_>>().join("\n");
        assert!(whole.iter().all(|part| end.contains(part)), "{words:?}\n{report}");
    }
    let report = text(&["check", "--assertions"], &model("promela/mutex_test_then_set.pml"));
    assert!(report.contains("process(1)  mutex_test_then_set.pml:41  stands before  inside--"), "{report}");
    assert!(report.contains("    locked = 1, inside = 2\n"), "{report}");
    let report = text(&["simulate", "--seed", "1", "--steps", "5"], &model("petri/philosophers_4.pnml"));
    assert!(report.contains("    can fire: GoEat_0, GetL_1, GetR_3\n    Fork_0 = 1, "), "{report}");
    assert!(!report.contains("Release_0"), "{report}");
}

#[test]
fn the_middle_of_a_long_run_is_left_out_unless_all_is_asked_for() {
    let folder = Folder::new("long");
    let count = "int x; chan q = [0] of { int }; active proctype P() { do :: q!x od }
        active proctype Q() { do :: q?x; x++; assert(x < 5000) od }";
    let file = folder.file("m.pml", count);
    let trace = folder.0.join("t.json").display().to_string();
    let report = ample(&["check", "--assertions", "--trace", &trace], &file);
    let report = String::from_utf8(report.stdout).unwrap();
    assert!(report.lines().count() < 260, "{}", report.lines().count());
    assert!(report.contains(" steps are left out (--full shows all, --trace FILE keeps all)"), "{report}");
    assert!(report.lines().any(|line| line.starts_with(" 15000  ")), "{report}");
    assert!(text(&["check", "--assertions", "--full"], &file).lines().count() > 15_000);
    assert!(text(&["check", "--assertions", "--msc"], &file).lines().count() < 260);
    assert!(text(&["check", "--assertions", "--msc", "--full"], &file).lines().count() > 4_999);
    let steps = json(&["check", "--assertions"], &file)["results"][0]["trace"]["prefix"].as_array().unwrap().len();
    assert_eq!(steps, 15_000);
    assert!(text(&["simulate", "--trace", &trace], &file).lines().count() < 260);
    assert!(text(&["simulate", "--full", "--trace", &trace], &file).lines().count() > 15_000);
}

#[test]
fn a_large_state_is_shown_in_part() {
    let folder = Folder::new("large");
    let source = "byte a[5000] = 7; chan q = [200] of { byte }; byte i;
        active proctype P() { do :: i < 200 -> q!i; i++ :: else -> break od; a[4999] = 8; assert(false) }";
    let file = folder.file("m.pml", source);
    let report = text(&["check", "--assertions"], &file);
    assert!(report.len() < 40_000, "{}", report.len());
    assert!(report.contains("… 4801 more (--full shows all, --trace FILE keeps all)"), "{report}");
    assert!(text(&["check", "--assertions", "--full"], &file).contains("a[4999] = 8"));
    let report = json(&["check", "--assertions"], &file);
    let end = &report["results"][0]["end"];
    assert_eq!(end["variables"].as_array().unwrap().len(), 5001);
    assert_eq!(end["channels"][0]["messages"].as_array().unwrap().len(), 200);
}

#[test]
fn a_diagnostic_fits_on_a_screen() {
    let folder = Folder::new("diagnostic");
    let wide = format!("byte x; active proctype P() {{ {}oops = 1 }}", "x = 1; ".repeat(150_000));
    let high = format!("byte x; active proctype P() {{ x = ({}) + true.y }}", "x +\n".repeat(5_000) + "x");
    let sum = vec!["x"; 30_000].join(" + ");
    let long = "n".repeat(100_000);
    let sources = [
        wide,
        high,
        format!("byte x; active proctype P() {{ assert({sum} + oops == 1) }}"),
        format!("byte {long}; active proctype P() {{ {long}[1] = 1 }}"),
        format!("byte x; active proctype P() {{ {long} = 1 }}"),
        format!("byte x; #include \"{long}\""),
        "\u{1}".repeat(100_000),
    ];
    for (number, source) in sources.iter().enumerate() {
        let file = folder.file(&format!("m{number}.pml"), source);
        let output = ample(&["check"], &file);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.len() < 20 * 1_500 && errors.lines().count() < 20 * 8, "{number}: {}", errors.len());
    }
    let file = folder.file("fine.pml", "byte x; active proctype P() { x = 1 }");
    for option in ["--ltl", "--ctl", "--invariant"] {
        let output = ample(&["check", option, &format!("({sum}) == oops")], &file);
        assert_eq!(output.status.code(), Some(2));
        assert!(output.stderr.len() < 2_000, "{option}: {}", output.stderr.len());
        // What is right is long, too.
        let output = ample(&["check", option, &format!("({}) == 9", vec!["x"; 3_000].join(" + "))], &file);
        assert!(output.stdout.len() < 4_000, "{option}: {}", output.stdout.len());
    }
}

/// Where the places of the steps and what they do begin.
fn columns(report: &str, place: &str) -> (Vec<usize>, Vec<usize>) {
    let steps = report.lines().filter(|line| line.contains(place) && !line.contains("waits for"));
    let mut places = Vec::new();
    let mut effects = Vec::new();
    for line in steps {
        places.push(line[..line.find(place).unwrap()].width());
        if let Some(arrow) = line.find(" → ") {
            let effect = line[..arrow].rfind("  ").unwrap() + 2;
            effects.push(line[..effect].width());
        }
    }
    (places, effects)
}

#[test]
fn columns_stay_aligned() {
    let folder = Folder::new("columns");
    let name = "a_process_with_a_rather_long_name";
    let source = format!(
        "int x; byte y;
        active proctype P() {{ x = 1; y = 2; x = 2000000000; y = 3 }}
        active [11] proctype {name}() {{ x == 2000000000; y++; x = x - 1000000000 - 1000000000 + 0 * (y + y + y); assert(false) }}"
    );
    for file in ["m.pml", "ünï.pml", "日本語.pml"] {
        let file = folder.file(file, &source);
        let place = format!("{}:", file.file_name().unwrap().to_str().unwrap());
        let report = text(&["check", "--assertions"], &file);
        let run: Vec<&str> = report.lines().take_while(|line| !line.contains("assertion violated (")).collect();
        let run = report.lines().skip(run.len().min(1)).collect::<Vec<_>>().join("\n");
        let steps: String =
            run.lines().filter(|line| line.starts_with("     ")).map(|line| format!("{line}\n")).collect();
        let (places, effects) = columns(&steps, &place);
        assert!(places.len() > 3 && places.windows(2).all(|pair| pair[0] == pair[1]), "{report}");
        assert!(effects.len() > 3 && effects.windows(2).all(|pair| pair[0] == pair[1]), "{effects:?}\n{report}");
    }
}

#[test]
fn interactively_there_is_help_and_the_state() {
    let mut command = support::command(&["simulate", "-i"]);
    command.arg(model("petri/philosophers_4.pnml"));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"h\n?\nv\n1\nv\nb\nnonsense\n").unwrap();
    let text = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(text.matches("a number  takes that move").count(), 2, "{text}");
    assert!(text.contains("can fire: GoEat_0, GoEat_1, GoEat_2, GoEat_3"), "{text}");
    assert!(text.contains("can fire: GetL_0, GetR_0, GoEat_1"), "{text}");
    assert!(text.contains("`nonsense` is none of these") && text.contains("stopped here"), "{text}");
}

/// The steps of a run and of all that branches off it.
fn steps(shown: &Value) -> Vec<usize> {
    let length = |part: &str| shown["trace"][part].as_array().map_or(0, Vec::len);
    let mut steps = vec![length("prefix") + length("cycle")];
    for branch in shown["branches"].as_array().into_iter().flatten() {
        steps.extend(self::steps(branch));
    }
    steps
}

#[test]
fn evidence_for_a_formula_of_ctl_has_no_steps_that_it_does_not_need() {
    let folder = Folder::new("ctl");
    let source =
        "byte x; byte y; active proctype P() { x = 1; x = 2; x = 3; x = 4 } active proctype Q() { y = 1; y = 2 }";
    let file = folder.file("m.pml", source);
    for (formula, needed) in [
        ("!EF EX (x == 2)", vec![2]),
        ("AG AX (x != 2)", vec![2]),
        ("AG AX AX (x != 2)", vec![2]),
        ("!EX EX (y == 2)", vec![2]),
        ("!E [x < 2 U EX (y == 1)]", vec![1]),
        ("!EF (EX (x == 3) || x == 2)", vec![2]),
        ("!EF (x == 2 || EX (x == 3))", vec![2]),
        ("AG (x == 2 -> EX (x == 1))", vec![2]),
        ("A [x == 0 U y == 1]", vec![1]),
        ("!(EX (x == 1) && EX (x == 1))", vec![1]),
        ("!(EX (x == 1) && EX (y == 1))", vec![0, 1, 1]),
        ("!E [EX (x < 3) U x == 2]", vec![2]),
    ] {
        for engine in ["explicit", "symbolic"] {
            let report = json(&["check", "--engine", engine, "--ctl", formula], &file);
            let mut found = steps(&report["results"][0]);
            if needed.len() == 1 && found.len() == 2 && found[0] == 0 {
                found.remove(0);
            }
            assert_eq!(found, needed, "{engine} {formula}\n{report}");
        }
    }
    for (formula, needed) in [
        ("!EF EX (HasL_0 > 0)", vec![2]),
        ("A [Idle_0 > 0 U HasL_0 > 0]", vec![1]),
        ("AG (Idle_0 = 0 -> AX (Idle_0 = 0))", vec![4]),
        ("!EG EX (Idle_0 > 0)", vec![4]),
        ("!E [EX (Idle_0 > 0) U HasL_1 > 0]", vec![2]),
        ("!EF (HasL_0 > 0 & EX (HasL_1 > 0))", vec![4]),
        ("!EF (EX (HasL_0 > 0) | HasL_0 > 0)", vec![2]),
        ("AG (HasL_0 = 0 | EX (Idle_0 > 0 & Idle_1 > 0))", vec![2]),
    ] {
        let report = json(&["check", "--ctl", formula], &model("petri/philosophers_4.pnml"));
        assert_eq!(steps(&report["results"][0]), needed, "{formula}\n{report}");
    }
}
