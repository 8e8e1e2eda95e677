//! Faulty PROM+ texts: each is answered with a short list of messages at the right place, and none makes the front end panic.

use ample_lang::promela::preprocess::MemoryLoader;
use ample_lang::promplus::{self, Widths};
use ample_lang::{Diagnostic, Severity};
use ample_model::Budget;
use proptest::prelude::*;

/// All messages, and whether the text was accepted. A message is its place, its text, and its help in parentheses.
fn answer(text: &str) -> (bool, Vec<String>) {
    let (loader, budget) = (&mut MemoryLoader::default(), Budget::unlimited());
    let answer =
        promplus::read_within("m.promp", text.into(), loader, &[], Widths { pid_bits: 2, ref_bits: 8 }, &budget);
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
fn statements(statements: &str) -> String {
    format!(
        "typedef Node {{ byte v; Node *next; bit *b }} byte x, *p, *q; bit y, *b; int *i; Node *n, record; active [1] proctype P() {{ byte l;\n\
         {statements}\n}}\nactive [0] proctype Q(byte *r; byte v) {{ skip; }}"
    )
}

/// A program with this text behind functions, in line 2.
fn with_functions(text: &str) -> String {
    format!(
        "byte x, *p; function f(byte n) : byte {{ return n; }} function g(byte *q) {{ skip; }}\n{text}\n\
         active [1] proctype M() {{ skip; }}"
    )
}

#[test]
fn functions_are_called_as_they_are_defined() {
    check(
        &[
            (
                "active [1] proctype P() { f(); }",
                &["2:27: the function `f` takes 1 argument, not 0 (every parameter gets one argument)"],
            ),
            (
                "active [1] proctype P() { x = g(p); }",
                &[
                    "2:27: the function `g` has no result (its type is written behind the parameters: `function f() : byte`)",
                ],
            ),
            (
                "active [1] proctype P() { g(x); }",
                &["2:29: `q` is a pointer to `byte`, not a number (what it refers to is `*q`)"],
            ),
            (
                "active [1] proctype P() { x = f(p); }",
                &["2:33: `p` is a pointer and not a number (what it refers to is `*p`)"],
            ),
            (
                "active [1] proctype P() { p = f(1); }",
                &["2:31: `p` is a pointer to `byte`, not a number (what it refers to is `*p`)"],
            ),
            (
                "active [1] proctype P() { h(1); }",
                &["2:27: `h` is not an inline (an inline must be defined before it is called)"],
            ),
            (
                "active [1] proctype P() { atomic { x = f(1); } }",
                &["2:36: `f` is called in an atomic sequence (put the atomic sequence into the function)"],
            ),
            (
                "active [1] proctype P() { x = f(1) + 1; }",
                &["2:36: expected `;` or `->` between two statements, found `+`"],
            ),
            (
                "active [1] proctype P() { return 1; }",
                &[
                    "2:27: there is nothing to return to (`return e` stands in an inline that is called as `v = name(…)`)",
                ],
            ),
            (
                "function h() { return 1; } active [1] proctype P() { h(); }",
                &[
                    "2:23: the function `h` has no result (its type is written behind the parameters: `function f() : byte`)",
                ],
            ),
            (
                "function h() : byte { return; } active [1] proctype P() { h(); }",
                &["2:23: the function `h` has a result (write `return e`)"],
            ),
            ("function f() { skip; }", &["2:10: the name `f` is used twice (a function needs a name of its own)"]),
            ("function x() { skip; }", &["2:10: the name `x` is used twice (a function needs a name of its own)"]),
            (
                "function h(byte caller) { skip; }",
                &[
                    "2:17: a variable of a function cannot be called `caller` (every instance of a function has such a field already)",
                ],
            ),
            (
                "function h() { byte f; skip; }",
                &["2:21: `f` is the name of a function (call the variable something else)"],
            ),
            (
                "function h() { y = 1; } active [1] proctype P() { byte y; h(); }",
                &[
                    "2:16: `y` is not a variable of this function (pass the value as an argument, or rename one of the variables)",
                ],
            ),
            (
                "function h() { x = 1; } active [1] proctype P() { byte x; h(); }",
                &[
                    "2:16: `x` is also a variable of `P`, which calls this function (pass the value as an argument, or rename one of the variables)",
                ],
            ),
            (
                "function h() { }",
                &["2:16: expected a statement, found `}` (a statement that does nothing is written `skip`)"],
            ),
            ("function h( { skip; }", &["2:13: expected a type, found `{`"]),
            ("function { skip; }", &["2:10: expected the name of the function, found `{`"]),
        ],
        with_functions,
    );
}

#[test]
fn pointers_are_no_numbers() {
    check(
        &[
            ("x = p;", &["2:5: `p` is a pointer and not a number (what it refers to is `*p`)"]),
            ("p = x;", &["2:5: `p` is a pointer to `byte`, not a number (what it refers to is `*p`)"]),
            ("p = 0;", &["2:5: `p` is a pointer to `byte`, not a number (what it refers to is `*p`)"]),
            ("p = p + 1;", &["2:5: `p` is a pointer and not a number (what it refers to is `*p`)"]),
            ("x = p + 1;", &["2:5: `p` is a pointer and not a number (what it refers to is `*p`)"]),
            ("p;", &["2:1: `p` is a pointer and not a number (what it refers to is `*p`)"]),
            ("!p;", &["2:2: `p` is a pointer and not a number (what it refers to is `*p`)"]),
            ("p && x;", &["2:1: `p` is a pointer and not a number (what it refers to is `*p`)"]),
            ("p < q;", &["2:1: `p` is a pointer and not a number (what it refers to is `*p`)"]),
            ("p == x;", &["2:6: expected a pointer"]),
            ("x != p;", &["2:1: expected a pointer"]),
            ("p == 0;", &["2:6: expected a pointer"]),
            ("p == b;", &["2:1: pointers to `byte` and to `bit` cannot be compared"]),
            ("n == p;", &["2:1: pointers to `Node` and to `byte` cannot be compared"]),
            ("assert(p);", &["2:7: `p` is a pointer and not a number (what it refers to is `*p`)"]),
            ("printf(\"%d\", p);", &["2:14: `p` is a pointer and not a number (what it refers to is `*p`)"]),
            ("x = null;", &["2:5: `null` is not a number"]),
            ("null == 1;", &["2:1: `null` is not a number"]),
            ("x = (y -> p : q);", &["2:11: `p` is a pointer and not a number (what it refers to is `*p`)"]),
        ],
        statements,
    );
}

#[test]
fn what_is_followed_is_a_pointer() {
    check(
        &[
            ("*x = 1;", &["2:1: `x` is not a pointer"]),
            ("x = *y;", &["2:5: `y` is not a pointer"]),
            ("**p = 1;", &["2:2: PROM+ has no pointers to pointers"]),
            ("*z = 1;", &["2:2: undeclared variable `z`"]),
            ("*n = 1;", &["2:1: `n` refers to a record (its fields are written `n.field`)"]),
            ("x = *n;", &["2:5: `n` refers to a record (its fields are written `n.field`)"]),
            ("*record = 1;", &["2:1: `record` is not a pointer"]),
            ("p.v = 1;", &["2:3: a pointer to `byte` has no field `v` (what it refers to is written `*p`)"]),
            ("x.v = 1;", &["2:3: this is not a record and has no field `v`"]),
            ("n.w = 1;", &["2:3: type `Node` has no field `w`"]),
            ("n.next.w = 1;", &["2:8: type `Node` has no field `w`"]),
            ("n.v.v = 1;", &["2:5: this is not a record and has no field `v`"]),
            ("n = 1;", &["2:5: `n` is a pointer to `Node`, not a number"]),
            ("n.next = p;", &["2:10: `n.next` is a pointer to `Node`, not a pointer to `byte`"]),
            ("*n.v = 1;", &["2:1: `n.v` is not a pointer"]),
            ("*n.b = p;", &["2:8: `p` is a pointer and not a number (what it refers to is `*p`)"]),
            ("n[1] = n;", &["2:3: `n` is not an array"]),
        ],
        statements,
    );
}

#[test]
fn new_and_reset_are_for_pointers_of_the_type() {
    check(
        &[
            ("x = new byte;", &["2:1: `x` is not a pointer"]),
            ("*p = new byte;", &["2:1: `*p` is not a pointer"]),
            ("p = new bit;", &["2:9: `p` is a pointer to `byte`, not to `bit`"]),
            ("p = new Node;", &["2:9: `p` is a pointer to `byte`, not to `Node`"]),
            ("n = new byte;", &["2:9: `n` is a pointer to `Node`, not to `byte`"]),
            ("p = new List;", &["2:9: `List` is not a type"]),
            ("p = new;", &["2:8: expected a type, found `;`"]),
            ("p = new 3;", &["2:9: expected a type, found `3`"]),
            (
                "new byte;",
                &["2:1: expected a statement, found `new` (`new` is a word of the language and cannot be a name)"],
            ),
            ("p = new byte + 1;", &["2:14: expected `;` or `->` between two statements, found `+`"]),
            ("reset x;", &["2:7: `x` is not a pointer"]),
            ("reset *p;", &["2:7: `*p` is not a pointer"]),
            ("reset record;", &["2:7: `record` is not a pointer"]),
            ("reset;", &["2:6: expected the name of a pointer, found `;`"]),
            ("reset 3;", &["2:7: expected the name of a pointer, found `3`"]),
            ("reset z;", &["2:7: undeclared variable `z`"]),
            ("p = new chan;", &["2:9: a pointer refers to a bit, bool, byte, pid, short, int or a record"]),
            ("p = b;", &["2:5: `p` is a pointer to `byte`, not a pointer to `bit`"]),
            ("i = p;", &["2:5: `i` is a pointer to `int`, not a pointer to `byte`"]),
        ],
        statements,
    );
}

#[test]
fn run_is_a_statement_with_arguments_of_the_types() {
    check(
        &[
            ("run Q(p);", &["2:1: `Q` takes 2 arguments, not 1"]),
            ("run Q(p, 1, 2);", &["2:1: `Q` takes 2 arguments, not 3"]),
            ("run Q(x, 1);", &["2:7: `r` is a pointer to `byte`, not a number"]),
            ("run Q(p, p);", &["2:10: `v` is a number, not a pointer"]),
            ("run Q(b, 1);", &["2:7: `r` is a pointer to `byte`, not to `bit`"]),
            ("run Q(1, 1);", &["2:7: `r` is a pointer to `byte`, not a number"]),
            ("run Z();", &["2:5: there is no proctype `Z`"]),
            ("x = run Q(p, 1);", &["2:5: `run` is a statement of PROM+ and has no value (write it on its own)"]),
            ("run Q(p, 1) > 0;", &["2:1: `run` is a statement of PROM+ and has no value (write it on its own)"]),
            ("run Q(p, 1) priority 2;", &["2:22: PROM+ has no priorities (all processes are equal)"]),
        ],
        statements,
    );
}

#[test]
fn declarations_come_first_and_have_no_values() {
    check(
        &[
            (
                "skip; byte z;",
                &[
                    "2:7: a declaration stands behind a statement (declarations stand at the beginning of a proctype or a function)",
                ],
            ),
            (
                "byte z = 1; skip;",
                &[
                    "2:6: a declaration of PROM+ has no initial value (give it a value by a statement: variables are 0 and pointers null initially, `z = …` is a step)",
                ],
            ),
            (
                "byte *z = p; skip;",
                &[
                    "2:7: a declaration of PROM+ has no initial value (give it a value by a statement: variables are 0 and pointers null initially, `z = …` is a step)",
                ],
            ),
            (
                "if :: byte z; skip; fi;",
                &[
                    "2:7: a declaration stands behind a statement (declarations stand at the beginning of a proctype or a function)",
                ],
            ),
            ("byte **z; skip;", &["2:7: PROM+ has no pointers to pointers"]),
            ("byte l; skip;", &["2:6: `l` is declared twice"]),
            (
                "byte new; skip;",
                &[
                    "2:6: expected the name of a variable, found `new` (`new` is a word of the language and cannot be a name)",
                ],
            ),
            (
                "byte reset; skip;",
                &[
                    "2:6: expected the name of a variable, found `reset` (`reset` is a word of the language and cannot be a name)",
                ],
            ),
            ("Nod *z; skip;", &["2:1: undeclared variable `Nod`"]),
            ("chan c; skip;", &["2:1: PROM+ has no channels (processes share global variables and objects)"]),
            ("unsigned *z : 3; skip;", &["2:10: a pointer refers to a bit, bool, byte, pid, short, int or a record"]),
            (
                "byte z",
                &[
                    "3:1: expected a statement, found the end of the body (a statement that does nothing is written `skip`)",
                ],
            ),
        ],
        statements,
    );
}

#[test]
fn what_promela_has_and_prom_plus_has_not_is_refused() {
    check(
        &[
            ("c ! 1;", &["2:1: PROM+ has no channels (processes share global variables and objects)"]),
            ("c ? x;", &["2:1: PROM+ has no channels (processes share global variables and objects)"]),
            ("len(c) > 0;", &["2:1: PROM+ has no channels (processes share global variables and objects)"]),
            (
                "{ skip } unless { x };",
                &["2:1: PROM+ has no `unless` (write the condition as an option of the selections inside)"],
            ),
            ("set_priority(0, 3);", &["2:1: PROM+ has no priorities (all processes are equal)"]),
            ("x = 1 x = 2;", &["2:7: expected `;` or `->` between two statements, found `x`"]),
            ("x = 1 § 2;", &["2:7: the character `§` is not used in PROM+"]),
            ("if fi;", &["2:4: expected an option, which begins with `::`, found `fi`"]),
            ("break;", &["2:1: `break` outside a loop"]),
            ("do :: skip; fi;", &["2:13: expected `::` or the `od` of `do`, found `fi`"]),
            ("x = = 1;", &["2:5: expected an expression, found `=`"]),
            ("*p = ;", &["2:6: expected an expression, found `;`"]),
            ("* = 1;", &["2:3: expected a statement, found `=`"]),
            ("/* x", &["2:1: this comment is not closed"]),
        ],
        statements,
    );
}

#[test]
fn units_are_those_of_prom_plus() {
    check(
        &[
            ("", &["1:1: the model has no processes (write `active [1]` before a proctype)"]),
            ("byte x;", &["1:1: the model has no processes (write `active [1]` before a proctype)"]),
            ("init { skip }", &["1:1: PROM+ has no `init` (write `active [1] proctype Init() { … }`)"]),
            (
                "active [1] proctype P() { }",
                &["1:27: expected a statement, found `}` (a statement that does nothing is written `skip`)"],
            ),
            (
                "active [1] proctype P() { byte x; }",
                &[
                    "1:35: expected a statement, found the end of the body (a statement that does nothing is written `skip`)",
                ],
            ),
            ("active [5] proctype P() { skip; }", &["1:9: 5 processes are started: there can be at most 4"]),
            ("active [-1] proctype P() { skip; }", &["1:9: there cannot be -1 processes"]),
            (
                "active [0] proctype P() { skip; }",
                &[
                    "1:21: no process is ever started: there is no `active` proctype (write `active [1]` before a proctype)",
                ],
            ),
            (
                "never { skip } active [1] proctype P() { skip; }",
                &["1:1: PROM+ has no never claims (write an `ltl` block, or use --ltl)"],
            ),
            (
                "hidden byte x; active [1] proctype P() { skip; }",
                &["1:1: a declaration of PROM+ begins with its type (all variables are part of the state)"],
            ),
            (
                "byte x = 3; active [1] proctype P() { skip; }",
                &[
                    "1:6: a declaration of PROM+ has no initial value (give it a value by a statement: variables are 0 and pointers null initially, `x = …` is a step)",
                ],
            ),
            (
                "typedef N { N next } active [1] proctype P() { skip; }",
                &[
                    "1:13: a record of type `N` cannot contain itself (a pointer to another one can be part of it: put a `*` before the name)",
                ],
            ),
            ("typedef N { M *next } active [1] proctype P() { skip; }", &["1:13: `M` is not a type"]),
            (
                "active [1] proctype P() provided (1) { skip; }",
                &["1:35: PROM+ has no `provided` (put the condition before the statements that wait for it)"],
            ),
            ("active [1] proctype P(byte *x = 1) { skip; }", &["1:29: a parameter cannot have an initial value"]),
            ("byte *p; active [1] proctype P() { skip; } ltl f { [] (p == 1) }", &["1:61: expected a pointer"]),
            (
                "byte *p; active [1] proctype P() { skip; } ltl f { [] p }",
                &["1:55: `p` is a pointer and not a number (what it refers to is `*p`)"],
            ),
            (
                "active [1] proctype P() { byte *l; l = new byte; } ltl f { [] (P[0]:l == 1) }",
                &["1:69: the pointer `l` of `P` is not seen from outside"],
            ),
        ],
        str::to_owned,
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Pieces of programs in any order.
    #[test]
    fn no_text_makes_it_panic(pieces in prop::collection::vec(prop::sample::select(vec![
        "byte", "*", "p", "x", "=", "new", "reset", ";", "->", "::", "if", "fi", "do", "od", "break", "else", "run", "Q", "(",
        ")", "{", "}", ",", "1", "==", ".", "next", "n", "Node", "typedef", "active", "[", "]", "proctype", "null", "assert",
        "ltl", "skip", "@", ":", "!", "&&",
    ]), 0..40)) {
        let part = pieces.join(" ");
        answer(&part);
        answer(&statements(&part));
    }
}
