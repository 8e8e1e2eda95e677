//! Faulty SMV texts: each is answered with messages at the right place, and none makes the front end panic. The whole list is
//! compared, so that a fault that makes others is seen.

use ample_lang::{Diagnostic, Severity, smv};
use proptest::prelude::*;

/// All messages, and whether the text was accepted. A message is its place, its text, and its help in parentheses.
fn answer(text: &str) -> (bool, Vec<String>) {
    let answer = smv::read("m.smv", text);
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

#[test]
fn faulty_texts_are_answered_with_what_is_wrong() {
    let mut wrong = Vec::new();
    for (text, expected) in TEXTS {
        let (accepted, found) = answer(text);
        if found != *expected || accepted {
            wrong.push(format!("{text}\n  accepted: {accepted}, {found:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    /// Any sequence of the words of the language is refused, or becomes a well-formed system.
    #[test]
    fn no_text_makes_the_front_end_panic(words in prop::collection::vec(prop::sample::select(WORDS), 0..40)) {
        let text = format!("MODULE main VAR x : boolean; n : 0..3; a : array 0..1 of {{p, q}}; {}", words.join(" "));
        match smv::read("m.smv", &text) {
            Ok(lowered) => prop_assert!(ample_model::check::check(&lowered.system).is_ok()),
            Err(rejected) => {
                prop_assert!(!rejected.diagnostics.is_empty());
                for span in rejected.diagnostics.iter().filter_map(|diagnostic| diagnostic.span) {
                    prop_assert!(span.start <= span.end && span.end as usize <= text.len());
                }
            }
        }
    }
}

#[test]
fn deep_and_long_texts_are_answered() {
    let deep = format!("MODULE main VAR x : boolean; INIT {}x{}", "(".repeat(100_000), ")".repeat(100_000));
    assert!(!answer(&deep).0);
    let not = format!("MODULE main VAR x : boolean; INIT {}x", "!".repeat(100_000));
    assert!(!answer(&not).0);
    let long = format!("MODULE main VAR x : boolean; INIT {}x", "x & ".repeat(100_000));
    assert_eq!(answer(&long), (true, Vec::new()));
    // A graph of definitions that would be a tree of 2^200 leaves.
    let mut graph = String::from("MODULE main VAR x : boolean; DEFINE d0 := x & x;");
    (1..200).for_each(|n| graph.push_str(&format!(" d{n} := d{} xor d{};", n - 1, n - 1)));
    assert_eq!(answer(&format!("{graph} INIT d199")), (true, Vec::new()));
    let mut chain = String::from("MODULE main VAR x : boolean; DEFINE d0 := x & x;");
    (1..20_000).for_each(|n| chain.push_str(&format!(" d{n} := d{} xor x;", n - 1)));
    assert!(!answer(&format!("{chain} INIT d19999")).0);
}

const WORDS: &[&str] = &[
    "x", "n", "a", "p", "next", "init", "(", ")", "[", "]", "{", "}", ";", ":", ":=", ",", "=", "<", "+", "-", "*", "mod",
    "&", "|", "!", "->", "<->", "case", "esac", "TRUE", "FALSE", "0", "1", "0ud2_1", "::", "..", "?", "in", "union", "ASSIGN",
    "INIT", "TRANS", "INVAR", "SPEC", "LTLSPEC", "INVARSPEC", "DEFINE", "VAR", "AG", "EF", "G", "F", "X", "U", "O", "S", "A",
    "E", "MODULE", "m", "self", ".", "count", "array", "of", "boolean", "word", "FAIRNESS", "COMPUTE", "MIN", "IN", "NAME",
];

/// Texts and what is wrong with them.
const TEXTS: &[(&str, &[&str])] = &[
    ("", &[]),
    ("VAR x : boolean;", &[]),
    ("MODULE other VAR x : boolean;", &[]),
    ("MODULE main MODULE main", &[]),
    ("MODULE main(x)", &[]),
    ("MODULE main VAR x boolean;", &[]),
    ("MODULE main VAR x : boolean", &[]),
    ("MODULE main VAR x : bolean;", &[]),
    ("MODULE main VAR next : boolean;", &[]),
    ("MODULE main VAR x : integer;", &[]),
    ("MODULE main VAR x : real;", &[]),
    ("MODULE main VAR x : 3..1;", &[]),
    ("MODULE main VAR x : {a, b, a};", &[]),
    ("MODULE main VAR x : {TRUE, a};", &[]),
    ("MODULE main VAR x : word[63];", &[]),
    ("MODULE main VAR x : array 3..1 of boolean;", &[]),
    ("MODULE main VAR x : array word[2] of boolean;", &[]),
    ("MODULE main VAR x : 0..n;", &[]),
    ("MODULE main VAR x : boolean; x : 0..1;", &[]),
    ("MODULE main IVAR x : m; MODULE m", &[]),
    ("MODULE main VAR x : m(TRUE); MODULE m", &[]),
    ("MODULE main VAR x : m; MODULE m VAR y : m;", &[]),
    ("MODULE main VAR x : missing;", &[]),
    ("MODULE main ISA missing", &[]),
    ("MODULE main VARS x : boolean;", &[]),
    ("MODULE main PSLSPEC always x", &[]),
    ("MODULE main FUN f : boolean;", &[]),
    ("MODULE main PRED x", &[]),
    ("MODULE main DEFINE x := y;", &[]),
    ("MODULE main DEFINE x := x + 1;", &[]),
    ("MODULE main DEFINE x := y + 1; y := x + 1;", &[]),
    ("MODULE main DEFINE x := 1.5;", &[]),
    ("MODULE main DEFINE x := 99999999999;", &[]),
    ("MODULE main DEFINE x := 0ud2_9;", &[]),
    ("MODULE main DEFINE x := 0ud_9;", &[]),
    ("MODULE main DEFINE x := 0ub3_12;", &[]),
    ("MODULE main DEFINE x := (1 + 2;", &[]),
    ("MODULE main DEFINE x := 1 + ;", &[]),
    ("MODULE main DEFINE x := case TRUE : 1 esac;", &[]),
    ("MODULE main DEFINE x := {};", &[]),
    ("MODULE main DEFINE x := AG TRUE;", &[]),
    ("MODULE main DEFINE x := TRUE + 1;", &[]),
    ("MODULE main DEFINE x := TRUE = 1;", &[]),
    ("MODULE main DEFINE x := 1 & TRUE;", &[]),
    ("MODULE main DEFINE x := !3;", &[]),
    ("MODULE main DEFINE x := TRUE -> 1;", &[]),
    ("MODULE main DEFINE x := case 1 : 2; TRUE : 3; esac;", &[]),
    ("MODULE main DEFINE x := case TRUE : 2; TRUE : FALSE; esac;", &[]),
    ("MODULE main DEFINE x := 0ud2_1 + 0ud3_1;", &[]),
    ("MODULE main DEFINE x := 0ud2_1 :: 3;", &[]),
    ("MODULE main DEFINE x := 0ud4_1[5:0];", &[]),
    ("MODULE main DEFINE x := 0ud4_1[1];", &[]),
    ("MODULE main DEFINE x := extend(0ud4_1, 60);", &[]),
    ("MODULE main DEFINE x := count(1, TRUE);", &[]),
    ("MODULE main DEFINE x := toint(TRUE, 1);", &[]),
    ("MODULE main DEFINE x := next(next(TRUE));", &[]),
    ("MODULE main VAR x : boolean; ASSIGN init(x) := 0;", &[]),
    ("MODULE main VAR x : 0..3; ASSIGN next(x) := x + 1;", &[]),
    ("MODULE main VAR x : {a, b}; ASSIGN next(x) := c;", &[]),
    ("MODULE main VAR x : {a, b}; y : {b, c}; ASSIGN next(x) := y;", &[]),
    ("MODULE main VAR x : 0..3; ASSIGN next(x) := case x < 2 : 1; esac;", &[]),
    ("MODULE main VAR x : 0..3; ASSIGN next(x) := 3 / x;", &[]),
    ("MODULE main VAR x : 0..3; a : array 0..2 of boolean; ASSIGN init(a[0]) := a[x];", &[]),
    ("MODULE main VAR a : array 0..2 of boolean; ASSIGN init(a) := TRUE;", &[]),
    ("MODULE main VAR a : array 0..2 of boolean; ASSIGN init(a[3]) := TRUE;", &[]),
    ("MODULE main VAR x : boolean; ASSIGN x := TRUE; next(x) := FALSE;", &[]),
    ("MODULE main VAR x : boolean; ASSIGN init(x) := TRUE; init(x) := FALSE;", &[]),
    ("MODULE main VAR x : boolean; ASSIGN init(x) := next(x);", &[]),
    ("MODULE main IVAR x : boolean; ASSIGN init(x) := TRUE;", &[]),
    ("MODULE main IVAR x : boolean; VAR y : boolean; ASSIGN init(y) := x;", &[]),
    ("MODULE main FROZENVAR x : boolean; ASSIGN next(x) := TRUE;", &[]),
    ("MODULE main IVAR x : boolean; TRANS next(x)", &[]),
    ("MODULE main IVAR x : boolean; INVAR x", &[]),
    ("MODULE main VAR x : boolean; INIT next(x)", &[]),
    ("MODULE main VAR x : 0..3; INIT x", &[]),
    ("MODULE main VAR x : boolean; y : boolean; ASSIGN x := y; y := x;", &[]),
    ("MODULE main VAR x : boolean; SPEC G x", &[]),
    ("MODULE main VAR x : boolean; LTLSPEC AG x", &[]),
    ("MODULE main VAR x : boolean; INVARSPEC AG x", &[]),
    ("MODULE main VAR x : boolean; INVARSPEC next(x)", &[]),
    ("MODULE main IVAR x : boolean; SPEC AG x", &[]),
    ("MODULE main VAR x : boolean; SPEC AG x IN y", &[]),
    ("MODULE main VAR x : boolean; SPEC EBF 3..1 x", &[]),
    ("MODULE main VAR x : boolean; LTLSPEC F [0, 1000] x", &[]),
    ("MODULE main VAR x : m; SPEC AG x MODULE m", &[]),
    ("MODULE main VAR x : boolean; SPEC AG xs", &[]),
    ("MODULE main VAR x : boolean; SPEC AG (x & true)", &[]),
    ("MODULE main VAR x : boolean; SPEC AG x.y", &[]),
    ("MODULE main VAR x : boolean; SPEC A [ x ]", &[]),
    ("MODULE main /-- no end", &[]),
    ("MODULE main VAR x : boolean; SPEC AG @", &[]),
];
