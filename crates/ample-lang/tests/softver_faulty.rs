//! Faulty SoftVer texts: each is answered with a short list of messages at the right place, and none makes the front end
//! panic. The whole list is compared, so that a fault that makes others is seen. A warning does not make a text faulty.

use ample_lang::{Diagnostic, Severity, softver};
use proptest::prelude::*;

/// All messages, and whether the text was accepted. A message is its place, its text, and its help in parentheses.
fn answer(text: &str) -> (bool, Vec<String>) {
    let answer = softver::read("m.softver", text);
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

/// Compares the answers about all texts with what is expected.
fn check(cases: &[(&str, &[&str])], whole: impl Fn(&str) -> String) {
    let mut wrong = Vec::new();
    for (number, (part, expected)) in cases.iter().enumerate() {
        let (accepted, found) = answer(&whole(part));
        let acceptable = expected.iter().all(|message| message.contains(" warning: "));
        if found != *expected || accepted != acceptable {
            wrong.push(format!("{number}: {part}\n  accepted: {accepted}, {found:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A program with these statements, in line 2.
fn sequential(statements: &str) -> String {
    format!("int x, y; boolean b; int a[3]; enum {{red, green}} c; {{\n{statements}\n}}")
}

/// Two processes, the statements of which are in lines 2 and 5.
fn parallel(statements: &str) -> String {
    let (first, second) = statements.split_once(" | ").expect("a bar stands between them");
    format!(
        "process P int x; boolean b; {{ label h;\n{first}\n}}\n\
         process Q int x, y; boolean d; int e[2]; {{ label h;\n{second}\n}}"
    )
}

/// A program with these formulas, in line 2.
fn stating(formulas: &str) -> String {
    format!("int x; boolean b; int a[2]; {{ label h; x := 1; label k; }}\n{formulas}")
}

/// Two processes with these formulas, in line 7.
fn stating_of_processes(formulas: &str) -> String {
    format!("{}\n{formulas}", parallel("skip; | skip;"))
}

/// Whole texts.
const TEXTS: &[(&str, &[&str])] = &[
    ("", &[]),
    ("/* nothing */ // but comments\n", &[]),
    ("int x;", &[]),
    ("{ skip; } {", &[]),
    ("{ skip; } int x;", &[]),
    ("{ skip; } process P { skip; }", &[]),
    ("process P { skip; } { skip; }", &[]),
    ("int x; process P { skip; }", &[]),
    ("process { skip; }", &[]),
    ("process while { skip; }", &[]),
    ("process P { skip; } process P { skip; }", &[]),
    ("{ skip; } SPEC TRUE process P { skip; }", &[]),
    ("#INTEGER_LENGTH# { skip; }", &[]),
    ("#INTEGER_LENGTH# 0 { skip; }", &[]),
    ("#INTEGER_LENGTH# 33 { skip; }", &[]),
    ("int x; #INTEGER_LENGTH# 4 { skip; }", &[]),
    ("{ #INTEGER_LENGTH# 4 skip; }", &[]),
    ("#MODULE# { skip; }", &[]),
    ("{ #MODUL# skip; }", &[]),
    ("{ # skip; }", &[]),
    ("{ skip; /* open", &[]),
    ("itn x; { skip; }", &[]),
    ("int; { skip; }", &[]),
    ("int x y; { skip; }", &[]),
    ("int while; boolean AG; int U; { skip; }", &[]),
    ("int 5x; { skip; }", &[]),
    ("int x; boolean x; { skip; }", &[]),
    ("int x[0]; { skip; }", &[]),
    ("int x[70000]; { skip; }", &[]),
    ("int x[40000], y[40000]; { skip; }", &[]),
    ("int x[n]; { skip; }", &[]),
    ("int x[2; { skip; }", &[]),
    ("int(0) x; { skip; }", &[]),
    ("int(9) x; { skip; }", &[]),
    ("int(2 x; { skip; }", &[]),
    ("int x = y; int y; { skip; }", &[]),
    ("int x := 0; { skip; }", &[]),
    ("int x = TRUE; boolean b = 1; { skip; }", &[]),
    ("int(2) x = 4; int y = 300; int z = {0, 5, 256}; { skip; }", &[]),
    ("#INTEGER_LENGTH# 20 int x; int(16) y; int z = 0; { skip; }", &[]),
    ("enum {} c; { skip; }", &[]),
    ("enum {red, green, red} c; { skip; }", &[]),
    ("enum {red, green} c; enum {green, blue} d; { skip; }", &[]),
    ("enum {red, green} c, red; { skip; }", &[]),
    ("enum {red, green} c; { c := blue; c := 1; }", &[]),
    ("enum {red, green c; { skip; }", &[]),
    ("{ skip;", &[]),
    ("{ skip; } }", &[]),
    ("{ x := 1; }", &[]),
];

/// Statements.
const STATEMENTS: &[(&str, &[&str])] = &[
    ("x = 1;", &[]),
    ("x := ;", &[]),
    ("x := 1", &[]),
    ("x := 1 y := 2;", &[]),
    ("skip skip;", &[]),
    (";", &[]),
    ("terminate;", &[]),
    ("int z;", &[]),
    ("xs := 1;", &[]),
    ("indx := 1;", &[]),
    ("x := 256;", &[]),
    ("x := 99999999999999999999;", &[]),
    ("x := 5x;", &[]),
    ("x := b;", &[]),
    ("b := x;", &[]),
    ("b := x && b;", &[]),
    ("b := !x;", &[]),
    ("x := -b;", &[]),
    ("x := x + b;", &[]),
    ("b := b < b;", &[]),
    ("b := c < red;", &[]),
    ("b := x = b;", &[]),
    ("b := c = x;", &[]),
    ("b := x < y < 3;", &[]),
    ("b := x == y;", &[]),
    ("b := b & b;", &[]),
    ("b := b | b;", &[]),
    ("b := b and b;", &[]),
    ("x := x * 2;", &[]),
    ("x := x / 2;", &[]),
    ("x := a;", &[]),
    ("a := 1;", &[]),
    ("x := y[0];", &[]),
    ("y[0] := 1;", &[]),
    ("a[3] := 1;", &[]),
    ("x := a[b];", &[]),
    ("a[0] := {0, 1};", &[]),
    ("x := {};", &[]),
    ("x := {0, 1;", &[]),
    ("x := {0, TRUE};", &[]),
    ("x := (1;", &[]),
    ("x := a[0;", &[]),
    ("x := a[a[a[a[a[a[a[0]]]]]]];", &[]),
    ("x := label(h);", &[]),
    ("b := label(h);", &[]),
    ("b := AG b;", &[]),
    ("b := b U b;", &[]),
    ("label;", &[]),
    ("label h; label h;", &[]),
    ("label while;", &[]),
    ("if x then skip; else skip; fi;", &[]),
    ("if x > 0 skip; fi;", &[]),
    ("if x > 0 then skip; else skip;", &[]),
    ("if x > 0 then skip; else skip; od;", &[]),
    ("if x > 0 then skip; else skip; else skip; fi;", &[]),
    ("while x do skip; od;", &[]),
    ("while x > 0 then skip; od;", &[]),
    ("while x > 0 do skip; fi;", &[]),
    ("while x > 0 do skip;", &[]),
    ("while x := 0 do skip; od;", &[]),
    ("whlie x > 0 do skip; od;", &[]),
    ("skip; od; skip;", &[]),
    ("skip; fi; x := b;", &[]),
    ("send(P, x);", &[]),
    ("receive(P, x);", &[]),
    ("x := P.y;", &[]),
    ("P.x := 1;", &[]),
    ("#MODULE# #MODULE# skip;", &[]),
    ("skip; #MODULE#", &[]),
    ("while b do #MODULE# skip; od;", &[]),
    ("#MODULE# while b do skip; #MODULE# skip; od;", &[]),
    ("#MODULE# while b do #MODULE# skip; od; skip;", &[]),
    ("#MODULE# if b then #MODULE# skip; else skip; fi;", &[]),
    ("#MODULE# skip; if b then #MODULE# skip; else #MODULE# skip; fi; #MODULE# skip;", &[]),
    ("#MODULE# while b do #MODULE# skip; while b do #MODULE# skip; od; od;", &[]),
    ("x := é;", &[]),
    ("x := 1 – y;", &[]),
];

/// Statements of two processes, with a bar between them.
const COMMUNICATIONS: &[(&str, &[&str])] = &[
    ("send(R, x); | skip;", &[]),
    ("send(P, x); | skip;", &[]),
    ("receive(P, x); | skip;", &[]),
    ("send(Q x); | skip;", &[]),
    ("send Q, x; | skip;", &[]),
    ("send(Q, x; | skip;", &[]),
    ("send(Q); | skip;", &[]),
    ("send(Q, y); | receive(P, y);", &[]),
    ("send(Q, x); | receive(P, y + 1);", &[]),
    ("send(Q, x); | receive(P, d);", &[]),
    ("send(Q, x); send(Q, b); | receive(P, y);", &[]),
    ("send(Q, x); | receive(P, e[0]);", &[]),
    ("send(Q, x); | receive(P, e);", &[]),
    ("send(Q, x); | skip;", &[]),
    ("skip; | receive(P, y);", &[]),
    ("x := Q.y; | skip;", &[]),
    ("x := y; | skip;", &[]),
];

/// Formulas of a sequential program.
const FORMULAS: &[(&str, &[&str])] = &[
    ("SPEC", &[]),
    ("SPEC AG", &[]),
    ("SPEC x", &[]),
    ("SPEC AG x", &[]),
    ("SPEC AG y = 1", &[]),
    ("SPEC AG label(g)", &[]),
    ("SPEC AG label h", &[]),
    ("SPEC AG label(h", &[]),
    ("SPEC AG label(P.h)", &[]),
    ("SPEC AG P.x = 1", &[]),
    ("SPEC AG a[2] = 0", &[]),
    ("SPEC AG a = 0", &[]),
    ("SPEC G b", &[]),
    ("SPEC A b", &[]),
    ("SPEC A [ b ]", &[]),
    ("SPEC A [ b U b", &[]),
    ("SPEC AG (b", &[]),
    ("SPEC AG b)", &[]),
    ("SPEC b U b", &[]),
    ("SPEC AG b = AG b", &[]),
    ("SPEC a[AG b] = 1", &[]),
    ("SPEC x + AG b = 1", &[]),
    ("SPEC - AG b", &[]),
    ("SPEC AG b and b", &[]),
    ("SPEC one := AG b SPEC one := AF b", &[]),
    ("SPEC ctl2 := AG b SPEC AF b", &[]),
    ("SPEC one = AG b", &[]),
    ("LTLSPEC AG b", &[]),
    ("LTLSPEC G x", &[]),
    ("LTLSPEC G (b -> F y = 0)", &[]),
    ("SPEX AG b", &[]),
    ("SPEC AG b; x := 1;", &[]),
    ("SPEC AG x == 1", &[]),
    ("SPEC AG label(terminat)", &[]),
];

/// Formulas of a parallel program.
const FORMULAS_OF_PROCESSES: &[(&str, &[&str])] = &[
    ("SPEC AG x = 1", &[]),
    ("SPEC AG label(h)", &[]),
    ("SPEC AG label(terminate)", &[]),
    ("SPEC AG label(R.h)", &[]),
    ("SPEC AG P.y = 1", &[]),
    ("SPEC AG R.x = 1", &[]),
    ("SPEC AG label(P.k)", &[]),
];

#[test]
fn faulty_texts_are_answered_with_what_is_wrong() {
    check(TEXTS, str::to_owned);
}

#[test]
fn faulty_statements_are_answered_with_what_is_wrong() {
    check(STATEMENTS, sequential);
}

#[test]
fn faulty_communications_are_answered_with_what_is_wrong() {
    check(COMMUNICATIONS, parallel);
}

#[test]
fn faulty_formulas_are_answered_with_what_is_wrong() {
    check(FORMULAS, stating);
    check(FORMULAS_OF_PROCESSES, stating_of_processes);
}

#[test]
fn nesting_is_limited() {
    let nested = |open: &str, close: &str| format!("{}skip;{}", open.repeat(200), close.repeat(200));
    let expression = |open: &str, close: &str| format!("x := {}1{};", open.repeat(5000), close.repeat(5000));
    for statements in [
        nested("while b do ", " od;"),
        nested("if b then ", " fi;"),
        nested("if b then skip; else ", " fi;"),
        expression("(", ")"),
        expression("-", ""),
        format!("b := {}b;", "!".repeat(5000)),
        format!("x := {}1;", "1 + ".repeat(5000)),
        expression("a[", "]"),
    ] {
        let (accepted, messages) = answer(&sequential(&statements));
        assert!(!accepted && messages[0].starts_with("2:"), "{messages:?}");
        assert!(["deep", "in a row"].iter().any(|words| messages[0].contains(words)), "{messages:?}");
    }
    // A chain of conjunctions is no deeper than it has to be.
    assert!(answer(&sequential(&format!("b := {}b;", "b && ".repeat(5000)))).0);
}

#[test]
fn only_the_first_errors_are_reported() {
    let (accepted, messages) = answer(&sequential(&"x := z;\n".repeat(100)));
    assert!(!accepted && messages.len() == 20, "{}", messages.len());
}

#[test]
fn formulas_on_their_own_are_answered_with_what_is_wrong() {
    let system = softver::read("m.softver", &stating("")).expect("right").system;
    for (text, message) in [
        ("x = 1 &&", "expected an expression, found the end of the formula"),
        ("x", "expected a truth value, found an integer"),
        ("z = 1", "the variable `z` is not declared"),
        ("AG x = 1", "expected an expression, found `A`"),
    ] {
        let rejected = softver::expression(&system, text).expect_err(text);
        assert_eq!(rejected.diagnostics[0].message, message, "{text}");
    }
    assert!(softver::ctl(&system, "AG (label(terminate) -> x = 1)").is_ok());
    assert!(softver::ltl(&system, "F (label(k) && x = 1)").is_ok());
    assert!(softver::ltl(&system, "AF x = 1").is_err());
}

const TOKENS: &[&str] = &[
    "process", "int", "boolean", "enum", "skip", "label", "if", "then", "else", "fi", "while", "do", "od", "send",
    "receive", "terminate", "SPEC", "LTLSPEC", "TRUE", "FALSE", "x", "b", "a", "c", "P", "Q", "h", "red", "0", "1",
    "300", "(", ")", "[", "]", "{", "}", ";", ",", ".", ":=", "=", "!=", "<", "<=", "+", "-", "&&", "||", "!", "->",
    "<->", "A", "E", "AG", "EF", "X", "G", "U", "#MODULE#", "#INTEGER_LENGTH#", "/*", "*/", "//", "\n", "&", "~",
    "\u{0}", "é",
];

fn soup(length: usize) -> impl Strategy<Value = String> {
    let token = (0..TOKENS.len()).prop_map(|at| TOKENS[at]);
    prop::collection::vec(token, 0..length).prop_map(|tokens| tokens.join(" "))
}

/// A right program with all statements there are.
const PROGRAM: &str = "#INTEGER_LENGTH# 2 process P int x, a[2] = {0, 1}; enum {red, green} c; boolean b; { \
     #MODULE# x := {0, 1}; #MODULE# while b && x < 2 do #MODULE# label h; if c = red then a[x] := - x + 1; b := !b; \
     else skip; fi; od; #MODULE# send(Q, x); } process Q int y; { receive(P, y); } \
     SPEC AG (label(P.h) -> EF y = 1) LTLSPEC F G label(Q.terminate)";

/// Reads it, and what comes out is well-formed.
fn survive(text: &str) -> Result<(), TestCaseError> {
    match softver::read("m.softver", text) {
        Ok(lowered) => prop_assert!(ample_model::check::check(&lowered.system).is_ok()),
        Err(rejected) => prop_assert!(rejected.diagnostics.iter().any(|one| one.severity == Severity::Error)),
    }
    Ok(())
}

proptest! {
    #[test]
    fn no_soup_of_tokens_makes_it_panic(text in soup(60)) {
        survive(&text)?;
    }

    #[test]
    fn no_soup_in_a_program_makes_it_panic(statements in soup(12), formulas in soup(12)) {
        survive(&sequential(&statements))?;
        survive(&sequential(&format!("x := {statements};")))?;
        survive(&stating(&format!("SPEC {formulas}")))?;
        survive(&parallel(&format!("{statements} | receive(P, y);")))?;
    }

    #[test]
    fn no_text_makes_it_panic(text in any::<String>()) {
        survive(&text)?;
    }

    #[test]
    fn no_change_of_a_token_makes_it_panic(at in 0_usize..140, with in 0..TOKENS.len(), kind in 0..3) {
        let mut words: Vec<&str> = PROGRAM.split_whitespace().collect();
        let at = at % words.len();
        match kind {
            0 => words[at] = TOKENS[with],
            1 => words.insert(at, TOKENS[with]),
            _ => { words.remove(at); }
        }
        survive(&words.join(" "))?;
    }

    #[test]
    fn no_formula_makes_it_panic(text in soup(20)) {
        let system = softver::read("m.softver", PROGRAM).expect("right").system;
        let _ = softver::expression(&system, &text);
        let _ = softver::ltl(&system, &text);
        let _ = softver::ctl(&system, &text);
    }
}
