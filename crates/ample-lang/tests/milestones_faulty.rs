//! Faulty Milestones texts: each is answered with a short list of messages at the right place, and none makes the
//! front end panic. The whole list is compared, so that a fault that makes others is seen. A warning does not make a
//! text faulty.

use ample_lang::{Diagnostic, Severity, milestones};
use proptest::prelude::*;

/// All messages, and whether the text was accepted. A message is its place, its text, and its help in parentheses.
fn answer(text: &str) -> (bool, Vec<String>) {
    let answer = milestones::read("m.mil", text);
    let (diagnostics, sources) = match &answer {
        Ok(lowered) => (&lowered.warnings, &lowered.system.sources),
        Err(rejected) => (&rejected.diagnostics, &rejected.sources),
    };
    let message = |diagnostic: &Diagnostic| {
        let span = diagnostic.span.expect("a message has a place");
        let (line, column) = sources[span.source.index()].position(span.start);
        let kind = if diagnostic.severity == Severity::Error { "" } else { "warning: " };
        let help = diagnostic.help.as_ref().map_or_else(String::new, |help| format!(" ({help})"));
        format!("{line}:{column}: {kind}{}{help}", diagnostic.message)
    };
    (answer.is_ok(), diagnostics.iter().map(message).collect())
}

/// Two globals, an action, a process type with these commands (in line 3), three processes of it, these global
/// commands (in line 6), and these formulas (from line 8 on).
fn around(commands: &str, global: &str, formulas: &str) -> String {
    format!(
        "ACTION go; END VARIABLE g:2:=0; total:4:=0; END\n\
         LOCAL P ACTION step; END VARIABLE pc:1:=0; x:2:=0; END\n\
         CASE {commands}\n\
         END SYNC go; END END\n\
         MAIN PROC p: P[2]; q: P[1]; END\n\
         CASE {global}\n\
         END END\n\
         {formulas}"
    )
}

/// A right command of a process, and a right global command.
const LOCAL_COMMAND: &str = "[1][go] true:";
const GLOBAL_COMMAND: &str = "[go] true:";

fn check(cases: &[(&str, &[&str])], whole: impl Fn(&str) -> String) {
    let mut wrong = Vec::new();
    for (part, expected) in cases {
        let (accepted, found) = answer(&whole(part));
        let acceptable = expected.iter().all(|message| message.contains(" warning: "));
        if found != *expected || accepted != acceptable {
            wrong.push(format!("{part}\n  accepted: {accepted}, {found:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whole texts.
const TEXTS: &[(&str, &[&str])] = &[
    (
        "",
        &["1:1: the model has neither processes nor global commands (write `MAIN PROC a : A[1]; END CASE … END END`)"],
    ),
    (
        "-- nothing\n/* but */ // comments\n",
        &["1:1: the model has neither processes nor global commands (write `MAIN PROC a : A[1]; END CASE … END END`)"],
    ),
    (
        "ACTION a b; END",
        &["1:1: the model has neither processes nor global commands (write `MAIN PROC a : A[1]; END CASE … END END`)"],
    ),
    (
        "ACTON a; END",
        &["1:1: expected ACTIONS, VARIABLES, LOCAL, MAIN, CTL or LTL, found `ACTON` (did you mean `ACTION`?)"],
    ),
    (
        "ACTIONS a;\nVARIABLE x:1; END",
        &["2:1: expected an action or `END`, found `VARIABLE` (the section ACTIONS that begins in line 1 is not \
             closed)"],
    ),
    ("ACTION a; 5; b; END MAIN CASE [a] true: [b] true: END END", &["1:11: expected an action, found `5`"]),
    (
        "ACTION CASE; END",
        &["1:8: expected an action or `END`, found `CASE` (the section ACTION that begins in line 1 is not closed)"],
    ),
    ("VARIABLE x; END", &["1:11: expected `:` and the number of bits, found `;`"]),
    ("VARIABLE x:1 = 0; y:0; END", &["1:14: expected `:=` or `;`, found `=`"]),
    (
        "VARIABLE x:33; y:2:=4; z:1:=1+1; w:y; v:4/0; u:1-2; END MAIN CASE END END",
        &[
            "1:12: `x` has 33 bits, but a variable has 1 to 32",
            "1:21: the first value 4 does not fit in 2 bits (`y` is at most 3)",
            "1:29: the first value 2 does not fit in 1 bit (`z` is at most 1)",
            "1:36: expected a constant, found a variable",
            "1:41: this constant divides by zero",
            "1:48: the constant -1 is negative",
        ],
    ),
    (
        "VARIABLE x:20; END ACTION a; END MAIN CASE [a] true: END END",
        &["1:10: `x` has no first value and 20 bits (every value would be a first value, and that is supported up \
             to 16 bits)"],
    ),
    (
        "LOCAL P VARIABLE pc:1; END\nMAIN PROC p: P[1]; END END",
        &["2:1: expected ACTIONS, VARIABLES, CASE, SYNC or `END`, found `MAIN` (the process type `P` that begins \
             in line 1 is not closed)"],
    ),
    (
        "LOCAL P ACTION a; END CASE [0][a] true: END END MAIN PROC p: P[1]; END END",
        &["1:7: the process type `P` has no variable `pc` (its commands say at which value of `pc` they may fire: \
             declare `pc : 1 := 0;`)"],
    ),
    (
        "LOCAL P VARIABLE pc:1; END END\nLOCAL P VARIABLE pc:1; END END MAIN PROC p: P[1]; END END",
        &["2:7: the process type `P` is declared twice (the first one stands in line 1)"],
    ),
    (
        "LOCAL Type VARIABLE pc:1; END END MAIN PROC p: Tpye[1]; END END",
        &["1:48: there is no process type `Tpye` (did you mean `Type`?)"],
    ),
    (
        "LOCAL P VARIABLE pc:1; END END MAIN PROC p: P[0]; p: P[1]; END END",
        &["1:47: `p` has no instances", "1:51: the process `p` is declared twice (the first one stands in line 1)"],
    ),
    (
        "LOCAL P VARIABLE pc:1; END END MAIN PROC q: P; r P[1]; END END",
        &[
            "1:46: expected `[` and the number of instances, found `;`",
            "1:50: expected `:` and a process type, found `P`",
        ],
    ),
    ("LOCAL P VARIABLE pc:1; END END MAIN PROC p: P[300]; END END", &["1:47: more than 254 processes"]),
    (
        "LOCAL P VARIABLE pc:1; pc:2; END END MAIN PROC p: P[1]; END END",
        &["1:24: the variable `pc` is declared twice (the first one stands in line 1)"],
    ),
    ("MAIN END\nMAIN END", &["2:1: a second section MAIN (the first one begins in line 1)"]),
    (
        "LOCAL P VARIABLE pc:1; END END ACTION a; END MAIN CASE [a] true: END END",
        &["1:7: warning: there is no process of the type `P`"],
    ),
    (
        "MAIN PROC END CASE END END END",
        &["1:28: expected ACTIONS, VARIABLES, LOCAL, MAIN, CTL or LTL, found `END` (all sections before it are \
             closed)"],
    ),
    (
        "ACTION a; a; END VARIABLE a:1:=0;\na:1:=0; END MAIN CASE [a] true: END END",
        &[
            "1:11: the action `a` is declared twice (the first one stands in line 1)",
            "2:1: the variable `a` is declared twice (the first one stands in line 1)",
        ],
    ),
    ("ACTION a; /* open", &["1:11: this comment is not closed"]),
    (
        "ACTION a; END MAIN CASE [a] { true }: END END",
        &["1:29: the character `{` is not used in Milestones (a section is closed by `END`, and expressions have \
             round brackets)"],
    ),
    (
        "ACTION a; END LOCAL P ACTION a; END VARIABLE pc:1; END SYNC b; a; a; END END MAIN PROC p:P[1]; END END",
        &[
            "1:30: `a` is a global action already (what the action means would depend on where it is used: rename \
             one of the two)",
            "1:61: the action `b` is not declared",
            "1:67: `a` stands in SYNC twice",
        ],
    ),
    (
        "LOCAL P ACTION l; END VARIABLE pc:1; END SYNC l; END END MAIN PROC p:P[1]; END END",
        &["1:47: `l` is a local action, and SYNC lists global ones (processes take part together only in actions \
             that are declared for the whole model)"],
    ),
    (
        "ACTION go; END LOCAL P VARIABLE pc:1; END SYNC go; END END MAIN PROC p:P[1]; END CASE [go] true: END END",
        &["1:8: warning: the action `go` never fires: `p[0]` lists it in SYNC and has no command for it"],
    ),
    (
        "ACTION go; END VARIABLE x:1; END LOCAL P VARIABLE pc:1; x:1; END CASE [0][go] x==0: END END MAIN PROC \
         p:P[1]; END CASE [go] x==0: END END",
        &[
            "1:57: warning: `x` hides the global variable `x`",
            "1:75: warning: this command never fires: `go` is not in SYNC",
        ],
    ),
];

/// Commands of a process.
const LOCAL: &[(&str, &[&str])] = &[
    ("[2][step] true: pc := 0;", &["3:7: `pc` is never 2: it has 1 bit (it is at most 1)"]),
    ("[x][step] true: pc := 0;", &["3:7: expected a constant, found a variable"]),
    ("[0][stop] true: pc := 0;", &["3:10: the action `stop` is not declared (did you mean `step`?)"]),
    ("[0][step] tru: pc := 0;", &["3:16: the variable `tru` is not declared"]),
    (
        "[0][step] x: pc := 0;",
        &["3:16: expected a condition, found a number (compare it with something, as in `x != 0`)"],
    ),
    ("[0][step] true; pc := 0;", &["3:20: expected `:` after the guard, found `;`"]),
    ("[0][step] true: pc = 0;", &["3:25: expected `:=`, found `=` (`=` compares; an assignment is written `:=`)"]),
    ("[0][step] true: pc := true;", &["3:28: expected a number, found a condition"]),
    ("[0][step] true: pc := x == 1;", &["3:28: expected a number, found a condition"]),
    ("[0][step] true: y := 1;", &["3:22: the variable `y` is not declared"]),
    (
        "[0][step] true: pc := 1; pc := 0;",
        &["3:31: this variable is assigned twice in one command (all assignments of a command happen at once)"],
    ),
    (
        "[0][step] true: p[0].x := 1;",
        &["3:22: a process does not see the variables of other processes (a command of `P` uses its own \
             variables, by their names alone, and global ones)"],
    ),
    (
        "[0][step] q.x == 1: pc := 1;",
        &["3:16: a process does not see the variables of other processes (a command of `P` uses its own \
             variables, by their names alone, and global ones)"],
    ),
    ("[0][step] 1 < x < 3: pc := 1;", &["3:22: a comparison has two sides (write `x < y & y < z`)"]),
    ("[0][step] x == : pc := 1;", &["3:21: expected an expression, found `:`"]),
    ("[0][step] (x == 1: pc := 1;", &["3:23: expected `)`, found `:`"]),
    ("[0][step] x == 1 and g == 1: pc := 1;", &["3:23: expected `:` after the guard, found `and` (write `&`)"]),
    (
        "[0][step] x := 1: pc := 1;",
        &["3:18: expected `:` after the guard, found `:=` (`:=` assigns; a comparison is written `==`)"],
    ),
    (
        "[0][step] x = -1: pc := 1;",
        &["3:20: there is no minus sign before an operand (numbers are unsigned: write `0 - x`, which is modulo \
             the width of `x`)"],
    ),
    ("[0][step] x = 1a: pc := 1;", &["3:20: `1a` is neither a number nor a name"]),
    ("[0][step] x = 5000000000: pc := 1;", &["3:20: the number 5000000000 does not fit in 32 bits"]),
    ("[0][step] x = ~1: pc := 1;", &["3:20: the character `~` is not used in Milestones (write `!`)"]),
    (
        "[0][step] G x = 1: pc := 1;",
        &["3:18: expected `:` after the guard, found `x` (`G` is a temporal operator, for formulas in CTL or LTL)"],
    ),
    (
        "[0][go] g == 0: pc := 1;",
        &["3:14: `g` is global, and `go` is a global action (a process uses only its own variables there; \
             the global command of `go` uses the others)"],
    ),
    (
        "[0][go] true: g := 1; pc := g;",
        &[
            "3:20: `g` is global, and `go` is a global action (a process uses only its own variables there; \
             the global command of `go` uses the others)",
            "3:34: `g` is global, and `go` is a global action (a process uses only its own variables there; \
             the global command of `go` uses the others)",
        ],
    ),
    ("[0 step] true: pc := 1;", &["3:9: expected `]` after the value of `pc`, found `step`"]),
    (
        "[0][step] true: 5 := 1; [0][step] true: pc := 1 +; [0][step] x ==: pc := 1;",
        &[
            "3:22: expected `;`, an assignment, a command or `END`, found `5`",
            "3:55: expected an expression, found `;`",
            "3:71: expected an expression, found `:`",
        ],
    ),
    (
        "[0][step] x == 3 - 4: pc := 4000000000 * 2; g := 7 / 0;",
        &[
            "3:21: the constant -1 is negative",
            "3:34: the constant 8000000000 does not fit in 32 bits",
            "3:55: this constant divides by zero",
        ],
    ),
];

/// Global commands.
const GLOBAL: &[(&str, &[&str])] = &[
    ("[step] true: g := 1;", &["6:7: `step` is an action of `P`, and no global one"]),
    ("[gone] true: g := 1;", &["6:7: the action `gone` is not declared"]),
    (
        "[go] pc == 0: g := 1;",
        &["6:11: the variable `pc` is not declared (it is a variable of a process: write `p[0].pc`)"],
    ),
    ("[go] p.pc == 0: g := 1;", &["6:11: `p` has 2 instances (write `p[0].pc`, for instance)"]),
    ("[go] p[2].pc == 0: g := 1;", &["6:13: there is no process `p[2]` (the last one is `p[1]`)"]),
    ("[go] p[g].pc == 0: g := 1;", &["6:13: expected a constant, found a variable"]),
    ("[go] p[0].y == 0: g := 1;", &["6:16: `p` has no variable `y`"]),
    ("[go] r.x == 0: g := 1;", &["6:11: there is no process `r`"]),
    (
        "[go] p[0] == 0: g := 1;",
        &["6:12: expected `:` after the guard, found `[` (a variable of a process is written `p[0].x`)"],
    ),
    ("[go] p == 0: g := 1;", &["6:11: the variable `p` is not declared (it is a process: write `p[0].x`)"]),
    (
        "[go] true: p[0].x := 1;",
        &["6:17: a global command writes only global variables (processes change their variables in commands of \
             their own for the same action)"],
    ),
    (
        "[go] true: x := 1;",
        &["6:17: a global command writes only global variables (processes change their variables in commands of \
             their own for the same action)"],
    ),
    ("[0][go] true: g := 1;", &["6:7: expected an action, found `0`"]),
    ("[go] totl == 0: g := 1;", &["6:11: the variable `totl` is not declared (did you mean `total`?)"]),
    (
        "[go] true: g := 1 total := 2 [go] g == 1: total := g [go] g == 2: stotal := 1",
        &["6:72: the variable `stotal` is not declared (did you mean `total`?)"],
    ),
];

/// Sections of formulas.
const FORMULAS: &[(&str, &[&str])] = &[
    ("CTL AG F g == 1;", &["8:8: `F` has no path quantifier (write `AF` or `EF`, or write the formula under LTL)"]),
    (
        "CTL A g == 1;",
        &["8:5: `A` does not stand before a temporal operator (in CTL they come in pairs, as in `AG` or \
           `A [ f U g ]`; other formulas stand under LTL)"],
    ),
    (
        "CTL g == 1 U g == 2;",
        &["8:12: `U` has no path quantifier (write `A [ f U g ]` or `E [ f U g ]`, or write the formula under LTL)"],
    ),
    ("CTL A[g == 1 U g == 2;", &["8:22: expected `]`, found `;`"]),
    ("CTL AG (g == 1;", &["8:15: expected `)`, found `;`"]),
    ("CTL AG g;", &["8:8: expected a condition, found a number (compare it with something, as in `x != 0`)"]),
    (
        "CTL AG (EF g == 1) == 1;",
        &["8:20: a temporal formula is no number (between formulas write `<->`, and put formulas in parentheses)"],
    ),
    ("LTL AG g == 1;", &["8:5: `A` is a path quantifier, which LTL does not have (write it under CTL)"]),
    ("LTL G g == 1 F g == 2;", &["8:14: expected `;` after the formula, found `F`"]),
    ("LTL G x == 1;", &["8:7: the variable `x` is not declared (it is a variable of a process: write `p[0].x`)"]),
    ("LTL a: G g == 1; a: F g == 1; G G G; U; F g = 2;", &["8:36: expected a formula, found `;`"]),
    (
        "LTL G q == 1; END END",
        &["8:19: expected ACTIONS, VARIABLES, LOCAL, MAIN, CTL or LTL, found `END` (all sections before it are \
             closed)"],
    ),
    ("LTL G (g == 1 -> F h == 1) & p[7].x == 1; CTL EX EX; END", &["8:52: expected a formula, found `;`"]),
];

#[test]
fn faulty_texts() {
    check(TEXTS, str::to_owned);
}

#[test]
fn faulty_commands() {
    check(LOCAL, |command| around(&format!("{command} {LOCAL_COMMAND}"), GLOBAL_COMMAND, ""));
    check(GLOBAL, |command| {
        let more = if command.contains("[go]") { String::new() } else { format!(" {GLOBAL_COMMAND}") };
        around(LOCAL_COMMAND, &format!("{command}{more}"), "")
    });
}

#[test]
fn faulty_formulas() {
    check(FORMULAS, |formulas| around(LOCAL_COMMAND, GLOBAL_COMMAND, formulas));
}

#[test]
fn what_surrounds_the_faults_is_right() {
    assert_eq!(
        answer(&around(LOCAL_COMMAND, GLOBAL_COMMAND, "CTL AG EF g == 0; LTL G p[0].x == 0")),
        (true, Vec::new())
    );
}

#[test]
fn too_many_combinations_are_refused() {
    let commands: String = (0..8).map(|at| format!("[0][go] x != {at}: x := {at};\n")).collect();
    let text = format!(
        "ACTION go; END LOCAL P VARIABLE pc:1:=0; x:4:=0; END CASE {commands} END SYNC go; END END\n\
         MAIN PROC p: P[5]; END CASE [go] true: END END"
    );
    let help = "at most 10000 are supported: give its commands guards that exclude each other";
    let expected = format!("10:29: the action `go` can fire by 32768 combinations of commands ({help})");
    assert_eq!(answer(&text), (false, vec![expected]));
}

#[test]
fn what_is_nested_too_deep_or_too_long_is_refused_and_long_chains_are_not() {
    let guard = |guard: &str| answer(&around(LOCAL_COMMAND, &format!("[go] {guard}:"), ""));
    let deep = |levels: usize| format!("{}g == 0{}", "(".repeat(levels), ")".repeat(levels));
    assert_eq!(guard(&deep(90)), (true, Vec::new()));
    assert_eq!(guard(&deep(100_000)).1, ["6:111: this is nested more than 100 levels deep"]);
    let chain = |operator: &str, operand: &str, length: usize| vec![operand; length].join(operator);
    assert_eq!(guard(&chain(" & ", "g == 0", 5000)), (true, Vec::new()));
    assert_eq!(guard(&chain(" | ", "g == 0", 5000)), (true, Vec::new()));
    assert_eq!(guard(&format!("{} == 0", chain("*", "g", 119))), (true, Vec::new()));
    assert!(!guard(&format!("{} == 0", chain("*", "g", 200))).0);
    let widest = chain("*", "w", 118);
    let text = format!("ACTION a; END VARIABLE w:32:=3; END MAIN CASE [a] !({widest} == 0): w := {widest}; END END");
    let system = milestones::read("m.mil", &text).expect("high, but not too high").system;
    assert!(ample_model::check::check(&system).is_ok());
}

/// Everything that a text is made of, and a little more.
const TOKENS: &[&str] = &[
    "ACTION",
    "ACTIONS",
    "VARIABLE",
    "VARIABLES",
    "LOCAL",
    "CASE",
    "SYNC",
    "MAIN",
    "GLOBAL",
    "PROC",
    "CTL",
    "LTL",
    "END",
    "true",
    "false",
    "pc",
    "x",
    "g",
    "P",
    "p",
    "go",
    "0",
    "1",
    "2",
    "33",
    "99999999999",
    "(",
    ")",
    "[",
    "]",
    ";",
    ",",
    ".",
    ":",
    ":=",
    "+",
    "-",
    "*",
    "/",
    "%",
    "=",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "&",
    "&&",
    "|",
    "||",
    "!",
    "->",
    "=>",
    "<->",
    "<=>",
    "A",
    "E",
    "G",
    "F",
    "X",
    "U",
    "W",
    "R",
    "AG",
    "EFAX",
    "[]",
    "<>",
    "/*",
    "*/",
    "--",
    "\n",
    "~",
    "∧",
    "≤",
    "\u{0}",
    "é",
];

fn soup(length: usize) -> impl Strategy<Value = String> {
    let token = (0..TOKENS.len()).prop_map(|at| TOKENS[at]);
    prop::collection::vec(token, 0..length).prop_map(|tokens| tokens.join(" "))
}

/// Reads it, and what comes out is well-formed.
fn survive(text: &str) -> Result<(), TestCaseError> {
    if let Ok(lowered) = milestones::read("m.mil", text) {
        prop_assert!(ample_model::check::check(&lowered.system).is_ok());
    }
    Ok(())
}

proptest! {
    #[test]
    fn no_soup_of_tokens_makes_it_panic(text in soup(60)) {
        survive(&text)?;
    }

    #[test]
    fn no_soup_in_a_model_makes_it_panic(local in soup(12), global in soup(12), formulas in soup(12)) {
        survive(&around(&format!("[0][step] {local}"), &format!("[go] {global}"), &format!("CTL {formulas}")))?;
        survive(&around(&format!("[0][step] true: {local}"), GLOBAL_COMMAND, &format!("LTL {formulas}")))?;
    }

    #[test]
    fn no_text_makes_it_panic(text in any::<String>()) {
        survive(&text)?;
    }

    #[test]
    fn no_formula_makes_it_panic(text in soup(20)) {
        let system = milestones::read("m.mil", &around(LOCAL_COMMAND, GLOBAL_COMMAND, "")).expect("right").system;
        let _ = milestones::expression(&system, &text);
        let _ = milestones::ltl(&system, &text);
        let _ = milestones::ctl(&system, &text);
    }
}
