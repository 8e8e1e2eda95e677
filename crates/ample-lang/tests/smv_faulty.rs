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
    let depth = 2_400;
    for (open, close) in
        [("x | (", ")"), ("x xor (", ")"), ("!(", ")"), ("case x : x; TRUE : ", "; esac"), ("x -> ", "")]
    {
        let nested = format!("{}x{}", open.repeat(depth), close.repeat(depth));
        let text = format!("MODULE main VAR x : boolean; INIT {nested} DEFINE d := {nested}; INVARSPEC d LTLSPEC G d");
        assert_eq!(answer(&text), (true, Vec::new()), "{open}");
    }
    let sums = format!("MODULE main VAR x : 0..1; DEFINE d := x{}; INIT d < 1", " - x".repeat(depth));
    assert_eq!(answer(&sums), (true, Vec::new()));
    // A graph of definitions that would be a tree of 2^200 leaves.
    let mut graph = String::from("MODULE main VAR x : boolean; DEFINE d0 := x & x;");
    (1..200).for_each(|n| graph.push_str(&format!(" d{n} := d{} xor d{};", n - 1, n - 1)));
    assert_eq!(answer(&format!("{graph} INIT d199")), (true, Vec::new()));
    let mut chain = String::from("MODULE main VAR x : boolean; DEFINE d0 := x & x;");
    (1..20_000).for_each(|n| chain.push_str(&format!(" d{n} := d{} xor x;", n - 1)));
    assert_eq!(answer(&format!("{chain} INIT d19999")), (true, Vec::new()));
}

const WORDS: &[&str] = &[
    "x",
    "n",
    "a",
    "p",
    "next",
    "init",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ";",
    ":",
    ":=",
    ",",
    "=",
    "<",
    "+",
    "-",
    "*",
    "mod",
    "&",
    "|",
    "!",
    "->",
    "<->",
    "case",
    "esac",
    "TRUE",
    "FALSE",
    "0",
    "1",
    "0ud2_1",
    "::",
    "..",
    "?",
    "in",
    "union",
    "ASSIGN",
    "INIT",
    "TRANS",
    "INVAR",
    "SPEC",
    "LTLSPEC",
    "INVARSPEC",
    "PSLSPEC",
    "always",
    "never",
    "forall i in {0:1}:",
    "until!",
    "before_",
    "eventually!",
    "a[i]",
    "a[n]",
    "\"x y\"",
    "COMPUTE MIN [",
    "COMPUTE MAX [",
    "DEFINE",
    "VAR",
    "AG",
    "EF",
    "G",
    "F",
    "X",
    "U",
    "O",
    "S",
    "A",
    "E",
    "MODULE",
    "m",
    "self",
    ".",
    "count",
    "array",
    "of",
    "boolean",
    "word",
    "FAIRNESS",
    "COMPUTE",
    "MIN",
    "IN",
    "NAME",
];

/// Texts and what is wrong with them.
const TEXTS: &[(&str, &[&str])] = &[
    ("", &["1:1: expected `MODULE`, but found the end of the text"]),
    ("VAR x : boolean;", &["1:1: expected `MODULE`, but found `VAR`"]),
    ("MODULE other VAR x : boolean;", &["1:1: there is no module `main`"]),
    ("MODULE main MODULE main", &["1:20: module `main` is defined twice"]),
    ("MODULE main(x)", &["1:13: module `main` has no parameters"]),
    ("MODULE main VAR x boolean;", &["1:19: expected `:`, but found `boolean`"]),
    ("MODULE main VAR x : boolean", &["1:28: expected `;`, but found the end of the text"]),
    ("MODULE main VAR x : bolean;", &["1:21: there is no module `bolean` (is `boolean` meant?)"]),
    (
        "MODULE main VAR next : boolean;",
        &["1:17: expected a name or the next part of the module, but found `next` (`next` is a word of the language)"],
    ),
    (
        "MODULE main VAR x : integer;",
        &["1:21: the type `integer` is not supported (give the range of values, as in `0..7`)"],
    ),
    ("MODULE main VAR x : real;", &["1:21: the type `real` is not supported (give the range of values, as in `0..7`)"]),
    ("MODULE main VAR x : 3..1;", &["1:21: the range 3..1 is empty"]),
    ("MODULE main VAR x : {a, b, a};", &["1:28: `a` is listed twice"]),
    ("MODULE main VAR x : {TRUE, a};", &["1:21: `TRUE` and `FALSE` together are the type `boolean`"]),
    ("MODULE main VAR x : word[63];", &["1:26: a word may have 1 to 62 bits"]),
    ("MODULE main VAR x : array 3..1 of boolean;", &["1:21: an array over the empty range 3..1"]),
    (
        "MODULE main VAR x : array word[2] of boolean;",
        &["1:21: arrays over a type are not supported (use an array over a range: `array 0..3 of …`)"],
    ),
    ("MODULE main VAR x : 0..n;", &["1:24: expected a constant integer"]),
    ("MODULE main VAR x : boolean; x : 0..1;", &["1:30: `x` is declared twice in module `main`"]),
    ("MODULE main IVAR x : m; MODULE m", &["1:22: instances of modules are declared in `VAR`"]),
    ("MODULE main VAR x : m(TRUE); MODULE m", &["1:21: module `m` has 0 parameters, but 1 given"]),
    ("MODULE main VAR x : m; MODULE m VAR y : m;", &["1:41: module `m` contains itself"]),
    ("MODULE main VAR x : missing;", &["1:21: there is no module `missing`"]),
    ("MODULE main ISA missing", &["1:17: there is no module `missing`"]),
    (
        "MODULE main VARS x : boolean;",
        &["1:13: expected a part of a module (`VAR`, `ASSIGN`, `SPEC`, …), but found `VARS` (is `VAR` meant?)"],
    ),
    ("MODULE main VAR x : boolean; PSLSPEC always x", &["1:46: expected `;`, but found the end of the text"]),
    (
        "MODULE main VAR x : boolean; PSLSPEC {x; x} |-> x;",
        &["1:38: sequences of PSL are not supported (write the property with `next` and `until`, or as `LTLSPEC`)"],
    ),
    ("MODULE main VAR x : boolean; PSLSPEC eventually x;", &["1:49: expected `eventually!`, but found `x`"]),
    (
        "MODULE main VAR x : boolean; PSLSPEC forall i in {2:0}: x;",
        &["1:51: expected at most 1000 values, the least first"],
    ),
    (
        "MODULE main FUN f : boolean;",
        &["1:13: `FUN` is not supported (uninterpreted functions have no finite meaning)"],
    ),
    ("MODULE main PRED x", &["1:13: `PRED` is not supported (predicate abstraction is not done)"]),
    ("MODULE main DEFINE x := y;", &["1:25: `y` is not declared in module `main`"]),
    ("MODULE main DEFINE x := x + 1;", &["1:25: a definition that depends on itself"]),
    ("MODULE main DEFINE x := y + 1; y := x + 1;", &["1:25: a definition that depends on itself"]),
    (
        "MODULE main DEFINE x := 1.5;",
        &["1:25: real numbers are not supported (integers and words are the only numbers here)"],
    ),
    ("MODULE main DEFINE x := 99999999999;", &["1:25: an integer may be at most 2147483647"]),
    ("MODULE main DEFINE x := 0ud2_9;", &["1:25: the constant does not fit into 2 bits"]),
    ("MODULE main DEFINE x := 0ud_9;", &["1:25: a decimal constant needs its width, as in `0ud8_255`"]),
    ("MODULE main DEFINE x := 0ub3_12;", &["1:25: the digits are not those of a number to the base 2"]),
    ("MODULE main DEFINE x := (1 + 2;", &["1:31: expected `)`, but found `;`"]),
    ("MODULE main DEFINE x := 1 + ;", &["1:29: expected an expression, but found `;`"]),
    ("MODULE main DEFINE x := case TRUE : 1 esac;", &["1:39: expected `;`, but found `esac`"]),
    ("MODULE main DEFINE x := {};", &["1:26: expected an expression, but found `}`"]),
    (
        "MODULE main DEFINE x := AG TRUE;",
        &["1:25: a temporal operator where a value is expected (these are for `SPEC`, `LTLSPEC` and `CTLSPEC`)"],
    ),
    ("MODULE main DEFINE x := TRUE + 1;", &["1:25: expected an integer or a word, but this is of type boolean"]),
    (
        "MODULE main DEFINE x := TRUE = 1;",
        &[
            "1:32: expected a value of type boolean, but this is of type integer (0 and 1 are no truth values: write `FALSE` and `TRUE`)",
        ],
    ),
    (
        "MODULE main DEFINE x := 1 & TRUE;",
        &[
            "1:25: expected a truth value or a word, but this is of type integer (0 and 1 are no truth values: write `FALSE` and `TRUE`)",
        ],
    ),
    ("MODULE main DEFINE x := !3;", &["1:26: expected a truth value or a word, but this is of type integer"]),
    ("MODULE main DEFINE x := TRUE -> 1;", &["1:33: expected a value of type boolean, but this is of type integer"]),
    (
        "MODULE main DEFINE x := case 1 : 2; TRUE : 3; esac;",
        &[
            "1:30: expected a truth value, but this is of type integer (0 and 1 are no truth values: write `FALSE` and `TRUE`)",
        ],
    ),
    (
        "MODULE main DEFINE x := case TRUE : 2; TRUE : FALSE; esac;",
        &[
            "1:47: expected a value of type integer, but this is of type boolean (0 and 1 are no truth values: write `FALSE` and `TRUE`)",
        ],
    ),
    (
        "MODULE main DEFINE x := 0ud2_1 + 0ud3_1;",
        &["1:34: expected a value of type unsigned word[2], but this is of type unsigned word[3]"],
    ),
    ("MODULE main DEFINE x := 0ud2_1 :: 3;", &["1:35: expected a word, but this is of type integer"]),
    ("MODULE main DEFINE x := 0ud4_1[5:0];", &["1:25: bits 5 to 0 of a word with the bits 3 to 0"]),
    ("MODULE main DEFINE x := 0ud4_1[1];", &["1:25: a word has no elements (bits are selected by `[high : low]`)"]),
    ("MODULE main DEFINE x := extend(0ud4_1, 60);", &["1:40: expected a constant such that the word has 1 to 62 bits"]),
    (
        "MODULE main DEFINE x := count(1, TRUE);",
        &[
            "1:31: expected a truth value, but this is of type integer (0 and 1 are no truth values: write `FALSE` and `TRUE`)",
        ],
    ),
    ("MODULE main DEFINE x := toint(TRUE, 1);", &["1:25: expected 1 argument, but 2 given"]),
    ("MODULE main DEFINE x := next(next(TRUE));", &["1:30: `next` inside of `next`"]),
    (
        "MODULE main VAR x : boolean; ASSIGN init(x) := 0;",
        &[
            "1:48: `x` is of type boolean, but this is of type integer (0 and 1 are no truth values: write `FALSE` and `TRUE`)",
        ],
    ),
    (
        "MODULE main VAR x : 0..3; ASSIGN next(x) := x + 1;",
        &["1:45: `x` is in 0..3, but this may be 4 (that is so if x = 3)"],
    ),
    ("MODULE main VAR x : {a, b}; ASSIGN next(x) := c;", &["1:47: `c` is not declared in module `main`"]),
    (
        "MODULE main VAR x : {a, b}; y : {b, c}; ASSIGN next(x) := y;",
        &["1:59: `x` is one of {a, b}, but this may be another value (that is so if y = c)"],
    ),
    (
        "MODULE main VAR x : 0..3; ASSIGN next(x) := case x < 2 : 1; esac;",
        &["1:45: the conditions of the `case` are not exhaustive (that is so if x = 2)"],
    ),
    ("MODULE main VAR x : 0..3; ASSIGN next(x) := 3 / x;", &["1:45: a division by zero (that is so if x = 0)"]),
    (
        "MODULE main VAR x : 0..3; a : array 0..2 of boolean; ASSIGN init(a[0]) := a[x];",
        &["1:75: an index is outside of its array (that is so if x = 3, a[0] = FALSE, a[1] = FALSE, a[2] = FALSE)"],
    ),
    (
        "MODULE main VAR a : array 0..2 of boolean; ASSIGN init(a) := TRUE;",
        &["1:62: expected an array, since the variable is one (assign its elements one by one)"],
    ),
    (
        "MODULE main VAR a : array 0..2 of boolean; ASSIGN init(a[3]) := TRUE;",
        &["1:58: the index 3 is outside of 0..2"],
    ),
    ("MODULE main VAR x : boolean; ASSIGN x := TRUE; next(x) := FALSE;", &["1:53: `x` is assigned twice"]),
    ("MODULE main VAR x : boolean; ASSIGN init(x) := TRUE; init(x) := FALSE;", &["1:59: `x` is assigned twice"]),
    ("MODULE main VAR x : boolean; ASSIGN init(x) := next(x);", &["1:48: `next` is not allowed in `init`"]),
    ("MODULE main IVAR x : boolean; ASSIGN init(x) := TRUE;", &["1:43: the input `x` cannot be assigned"]),
    (
        "MODULE main IVAR x : boolean; VAR y : boolean; ASSIGN init(y) := x;",
        &["1:66: inputs are not allowed in `init`, which speaks of states"],
    ),
    (
        "MODULE main FROZENVAR x : boolean; ASSIGN next(x) := TRUE;",
        &["1:48: `x` is frozen: only its first value can be assigned"],
    ),
    ("MODULE main IVAR x : boolean; TRANS next(x)", &["1:18: the input `x` has no next value"]),
    ("MODULE main IVAR x : boolean; INVAR x", &["1:37: inputs are not allowed in `INVAR`, which speaks of states"]),
    ("MODULE main VAR x : boolean; INIT next(x)", &["1:35: `next` is not allowed in `INIT`"]),
    ("MODULE main VAR x : 0..3; INIT x", &["1:32: expected a truth value, but this is of type integer"]),
    ("MODULE main VAR x : boolean; y : boolean; ASSIGN x := y; y := x;", &["1:50: a circular assignment of `x`, `y`"]),
    (
        "MODULE main VAR x : boolean; SPEC G x",
        &[
            "1:35: an operator of linear time in a formula of branching time (in `CTLSPEC` every temporal operator has a path quantifier: `AG`, `EF`, `A [p U q]`)",
        ],
    ),
    (
        "MODULE main VAR x : boolean; LTLSPEC AG x",
        &["1:38: a path quantifier in a formula of linear time (in `LTLSPEC` write `G`, `F`, `X`, `p U q`)"],
    ),
    ("MODULE main VAR x : boolean; INVARSPEC AG x", &["1:40: `INVARSPEC` has no temporal operators"]),
    (
        "MODULE main IVAR x : boolean; SPEC AG x",
        &[
            "1:39: `CTLSPEC` speaks of states, and inputs are no part of them (`LTLSPEC` and `INVARSPEC` may use inputs)",
        ],
    ),
    ("MODULE main VAR x : boolean; SPEC AG x IN y", &["1:43: `y` is not declared in module `main`"]),
    ("MODULE main VAR x : boolean; SPEC EBF 3..1 x", &["1:39: the bounds must be numbers of steps, the least first"]),
    ("MODULE main VAR x : boolean; LTLSPEC F [0, 1000] x", &["1:38: bounds may be at most 100 steps"]),
    ("MODULE main VAR x : m; SPEC AG x MODULE m", &["1:32: an instance of module `m` where a value is expected"]),
    ("MODULE main VAR x : boolean; SPEC AG xs", &["1:38: `xs` is not declared in module `main`"]),
    (
        "MODULE main VAR x : boolean; SPEC AG (x & true)",
        &["1:43: `true` is not declared in module `main` (truth values are `TRUE` and `FALSE`)"],
    ),
    ("MODULE main VAR x : boolean; SPEC AG x.y", &["1:38: only instances of modules have parts"]),
    ("MODULE main VAR x : boolean; SPEC A [ x ]", &["1:41: expected `U`, but found `]`"]),
    ("MODULE main /-- no end", &["1:13: a comment `/--` without its end `--/`"]),
    ("MODULE main VAR x : boolean; SPEC AG @", &["1:38: expected an expression, but found `@`"]),
];
