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
    (
        "",
        &[
            "1:1: the text has no program (a program is `{ statements }`, with the declarations of its variables before it)",
        ],
    ),
    (
        "/* nothing */ // but comments\n",
        &[
            "2:1: the text has no program (a program is `{ statements }`, with the declarations of its variables before it)",
        ],
    ),
    ("int x;", &["1:7: expected a declaration or `{`, found the end of the file"]),
    ("{ skip; } {", &["1:11: expected `SPEC`, `LTLSPEC` or the end of the file, found `{`"]),
    ("{ skip; } int x;", &["1:11: expected `SPEC`, `LTLSPEC` or the end of the file, found `int`"]),
    (
        "{ skip; } process P { skip; }",
        &[
            "1:11: a process stands beside a program without a name (a program is one block without a name, or processes that all have one)",
        ],
    ),
    (
        "process P { skip; } { skip; }",
        &["1:21: expected `process`, `SPEC`, `LTLSPEC` or the end of the file, found `{`"],
    ),
    (
        "int x; process P { skip; }",
        &[
            "1:8: expected a declaration or `{`, found `process` (variables are local: declare them behind the name of their process)",
        ],
    ),
    ("process { skip; }", &["1:9: expected the name of a process, found `{`"]),
    (
        "process while { skip; }",
        &[
            "1:9: expected the name of a process, found `while` (`while` is a word of the language and cannot be a name)",
        ],
    ),
    (
        "process P { skip; } process P { skip; }",
        &["1:29: the process `P` is declared twice (the first one stands in line 1)"],
    ),
    (
        "{ skip; } SPEC TRUE process P { skip; }",
        &[
            "1:21: expected an operator, `SPEC`, `LTLSPEC` or the end of the file, found `process` (formulas stand after all processes)",
        ],
    ),
    ("#INTEGER_LENGTH# { skip; }", &["1:18: expected the number of bits of an integer, found `{`"]),
    ("#INTEGER_LENGTH# 0 { skip; }", &["1:18: an integer has 1 to 32 bits, not 0"]),
    ("#INTEGER_LENGTH# 33 { skip; }", &["1:18: an integer has 1 to 32 bits, not 33"]),
    (
        "int x; #INTEGER_LENGTH# 4 { skip; }",
        &[
            "1:8: expected a declaration or `{`, found `#INTEGER_LENGTH#` (`#INTEGER_LENGTH#` stands at the beginning of the text)",
        ],
    ),
    (
        "{ #INTEGER_LENGTH# 4 skip; }",
        &[
            "1:3: expected a statement, found `#INTEGER_LENGTH#` (`#INTEGER_LENGTH#` stands at the beginning of the text)",
        ],
    ),
    ("#MODULE# { skip; }", &["1:1: expected a declaration or `{`, found `#MODULE#` (modules are parts of a block)"]),
    (
        "{ #MODUL# skip; }",
        &["1:3: expected a statement, found `#MODUL#` (the directives are `#MODULE#` and `#INTEGER_LENGTH#`)"],
    ),
    (
        "{ # skip; }",
        &["1:3: the character `#` is not used in SoftVer (the directives are `#MODULE#` and `#INTEGER_LENGTH#`)"],
    ),
    ("{ skip; /* open", &["1:9: this comment is not closed"]),
    ("itn x; { skip; }", &["1:1: expected a declaration or `{`, found `itn` (did you mean `int`?)"]),
    ("int; { skip; }", &["1:4: expected a variable, found `;`"]),
    ("int x y; { skip; }", &["1:7: expected `,` or `;` after the variable, found `y`"]),
    (
        "int while; boolean AG; int X; { skip; }",
        &[
            "1:5: expected a variable, found `while` (`while` is a word of the language and cannot be a name)",
            "1:20: expected a variable, found `A` (`A` is an operator of temporal logic and cannot be a name)",
            "1:28: expected a variable, found `X` (`X` is an operator of temporal logic and cannot be a name)",
        ],
    ),
    ("int 5x; { skip; }", &["1:5: expected a variable, found `5x`"]),
    ("int x; boolean x; { skip; }", &["1:16: the variable `x` is declared twice (the first one stands in line 1)"]),
    ("int x[0]; { skip; }", &["1:7: the array `x` has 1 to 65536 cells, not 0"]),
    ("int x[70000]; { skip; }", &["1:7: the array `x` has 1 to 65536 cells, not 70000"]),
    ("int x[40000], y[40000]; { skip; }", &["1:15: the variables have more than 65536 cells together"]),
    ("int x[n]; { skip; }", &["1:7: expected the number of cells, found `n`"]),
    ("int x[2; { skip; }", &["1:8: expected `]`, found `;`"]),
    ("int(0) x; { skip; }", &["1:5: a variable has 1 to 8 bits, as many as an integer, not 0"]),
    ("int(9) x; { skip; }", &["1:5: a variable has 1 to 8 bits, as many as an integer, not 9"]),
    ("int(2 x; { skip; }", &["1:7: expected `)`, found `x`"]),
    ("int x = y; int y; { skip; }", &["1:9: an initial value is a constant"]),
    (
        "int x := 0; { skip; }",
        &["1:7: expected `=`, found `:=` (an initial value is written `=`; `:=` is for statements)"],
    ),
    (
        "int x = TRUE; boolean b = 1; { skip; }",
        &[
            "1:9: expected an integer, found a truth value",
            "1:27: expected a truth value, found an integer (compare it with something, as in `x != 0`)",
        ],
    ),
    (
        "int(2) x = 4; int y = 300; int z = {0, 5, 256}; { skip; }",
        &[
            "1:12: the initial value 4 does not fit in 2 bits",
            "1:23: the number 300 does not fit in 8 bits (`#INTEGER_LENGTH# 9` at the beginning of the text allows it)",
            "1:43: the number 256 does not fit in 8 bits (`#INTEGER_LENGTH# 9` at the beginning of the text allows it)",
        ],
    ),
    (
        "#INTEGER_LENGTH# 20 int x; int(16) y; int z = 0; { skip; }",
        &[
            "1:25: `x` has no initial value and 20 bits (every value would be an initial value, and that is supported up to 16 bits)",
        ],
    ),
    ("enum {} c; { skip; }", &["1:7: expected the name of a value, found `}`"]),
    ("enum {red, green, red} c; { skip; }", &["1:19: the value `red` stands here twice"]),
    ("enum {red, green} c; enum {green, blue} d; { skip; }", &["1:28: `green` is a value of another enumeration"]),
    ("enum {red, green} c, red; { skip; }", &["1:22: `red` is a value of an enumeration"]),
    (
        "enum {red, green} c; { c := blue; c := 1; }",
        &["1:29: the variable `blue` is not declared", "1:40: expected one of {red, green}, found an integer"],
    ),
    ("enum {red, green c; { skip; }", &["1:18: expected `,` or `}`, found `c`"]),
    ("{ skip;", &["1:8: expected a statement or `}`, found the end of the file (the `{` in line 1 is not closed)"]),
    ("{ skip; } }", &["1:11: expected `SPEC`, `LTLSPEC` or the end of the file, found `}`"]),
    ("{ x := 1; }", &["1:3: the variable `x` is not declared"]),
];

/// Statements.
const STATEMENTS: &[(&str, &[&str])] = &[
    ("x = 1;", &["2:3: expected `:=`, found `=` (`=` compares; an assignment is written `:=`)"]),
    ("x := ;", &["2:6: expected an expression, found `;`"]),
    ("x := 1 y := 2;", &["2:8: expected `;` or `}`, found `y`"]),
    ("skip skip;", &["2:6: expected `;` or `}`, found `skip`"]),
    (";", &["2:1: expected a statement, found `;` (write `skip;`)"]),
    ("terminate;", &["2:1: expected a statement, found `terminate` (every program ends with it, without saying so)"]),
    ("int z;", &["2:1: expected a statement, found `int` (variables are declared before the block)"]),
    ("xs := 1;", &["2:1: the variable `xs` is not declared"]),
    ("indx := 1;", &["2:1: the variable `indx` is not declared"]),
    (
        "x := 256;",
        &["2:6: the number 256 does not fit in 8 bits (`#INTEGER_LENGTH# 9` at the beginning of the text allows it)"],
    ),
    ("x := 99999999999999999999;", &["2:6: the number 99999999999999999999 is too large"]),
    ("x := 5x;", &["2:6: `5x` is neither a number nor a name"]),
    ("x := b;", &["2:6: expected an integer, found a truth value"]),
    ("b := x;", &["2:6: expected a truth value, found an integer (compare it with something, as in `x != 0`)"]),
    ("b := x && b;", &["2:6: expected a truth value, found an integer (compare it with something, as in `x != 0`)"]),
    ("b := !x;", &["2:7: expected a truth value, found an integer (compare it with something, as in `x != 0`)"]),
    ("x := -b;", &["2:7: expected an integer, found a truth value"]),
    ("x := x + b;", &["2:10: expected an integer, found a truth value"]),
    ("b := b < b;", &["2:8: a truth value has no order (only `=` and `!=` compare such values)"]),
    ("b := c < red;", &["2:8: one of {red, green} has no order (only `=` and `!=` compare such values)"]),
    ("b := x = b;", &["2:8: an integer is compared with a truth value"]),
    ("b := c = x;", &["2:8: one of {red, green} is compared with an integer"]),
    ("b := x < y < 3;", &["2:12: a comparison has two sides (write `x < y && y < z`)"]),
    ("b := x == y;", &["2:9: expected an expression, found `=` (equality is written `=`)"]),
    ("b := b & b;", &["2:8: the character `&` is not used in SoftVer (write `&&`)"]),
    ("b := b | b;", &["2:8: the character `|` is not used in SoftVer (write `||`)"]),
    ("b := b and b;", &["2:8: expected `;` or `}`, found `and` (write `&&`)"]),
    ("x := x * 2;", &["2:8: the character `*` is not used in SoftVer (the operators of integers are `+` and `-`)"]),
    ("x := x / 2;", &["2:8: the character `/` is not used in SoftVer (the operators of integers are `+` and `-`)"]),
    ("x := a;", &["2:6: `a` is an array (write `a[0]` for its first cell)"]),
    ("a := 1;", &["2:1: `a` is an array (write `a[0]` for its first cell)"]),
    ("x := y[0];", &["2:8: `y` is no array"]),
    ("y[0] := 1;", &["2:3: `y` is no array"]),
    ("a[3] := 1;", &["2:3: `a` has no cell 3 (its cells are `a[0]` to `a[2]`)"]),
    ("x := a[b];", &["2:8: expected an integer, found a truth value"]),
    (
        "a[0] := {0, 1};",
        &[
            "2:9: one of several values is assigned to a variable, not to a cell of an array (assign one of the values to a variable, and that variable to the cell)",
        ],
    ),
    ("x := {};", &["2:6: there are no values between the braces"]),
    ("x := {0, 1;", &["2:11: expected `,` or `}`, found `;`"]),
    ("x := {0, TRUE};", &["2:10: expected an integer, found a truth value"]),
    ("x := (1;", &["2:8: expected `)`, found `;`"]),
    ("x := a[0;", &["2:9: expected `]`, found `;`"]),
    ("x := a[a[a[a[a[a[a[0]]]]]]];", &["2:19: subscripts are nested more than 6 levels deep"]),
    ("x := label(h);", &["2:6: a statement does not see where a process stands (formulas speak of labels)"]),
    ("b := label(h);", &["2:6: a statement does not see where a process stands (formulas speak of labels)"]),
    ("b := AG b;", &["2:6: expected an expression, found `A` (`A` is an operator of temporal logic, for formulas)"]),
    ("b := b U b;", &["2:8: expected `;` or `}`, found `U` (it is an operator of temporal logic, for formulas)"]),
    ("label;", &["2:6: expected a label, found `;`"]),
    ("label h; label h;", &["2:16: the label `h` is declared twice (the first one stands in line 2)"]),
    (
        "label while;",
        &["2:7: expected a label, found `while` (`while` is a word of the language and cannot be a name)"],
    ),
    (
        "if x then skip; else skip; fi;",
        &["2:4: expected a truth value, found an integer (compare it with something, as in `x != 0`)"],
    ),
    ("if x > 0 skip; fi;", &["2:10: expected `then`, found `skip`"]),
    (
        "if x > 0 then skip; else skip;",
        &["3:1: expected a statement or `fi`, found `}` (the `if` in line 2 is not closed)"],
    ),
    (
        "if x > 0 then skip; else skip; od;",
        &["2:32: expected a statement or `fi`, found `od` (the `if` in line 2 is not closed)"],
    ),
    (
        "if x > 0 then skip; else skip; else skip; fi;",
        &["2:32: expected a statement or `fi`, found `else` (the `if` in line 2 is not closed)"],
    ),
    (
        "while x do skip; od;",
        &["2:7: expected a truth value, found an integer (compare it with something, as in `x != 0`)"],
    ),
    ("while x > 0 then skip; od;", &["2:13: expected `do`, found `then`"]),
    (
        "while x > 0 do skip; fi;",
        &["2:22: expected a statement or `od`, found `fi` (the `while` in line 2 is not closed)"],
    ),
    ("while x > 0 do skip;", &["3:1: expected a statement or `od`, found `}` (the `while` in line 2 is not closed)"]),
    ("while x := 0 do skip; od;", &["2:9: expected `do`, found `:=` (`:=` assigns; a comparison is written `=`)"]),
    (
        "whlie x > 0 do skip; od;",
        &[
            "2:7: expected `:=`, found `x` (did you mean `while`?)",
            "2:22: expected a statement or `}`, found `od` (it belongs to no `while`: all before it are closed)",
        ],
    ),
    (
        "skip; od; skip;",
        &["2:7: expected a statement or `}`, found `od` (it belongs to no `while`: all before it are closed)"],
    ),
    (
        "skip; fi; x := b;",
        &["2:7: expected a statement or `}`, found `fi` (it belongs to no `if`: all before it are closed)"],
    ),
    (
        "send(P, x);",
        &["2:6: there is no process `P` (the program has no processes: they are written `process P … { … }`)"],
    ),
    (
        "receive(P, x);",
        &["2:9: there is no process `P` (the program has no processes: they are written `process P … { … }`)"],
    ),
    (
        "x := P.y;",
        &["2:6: a statement does not see `P.y` (a process uses its own variables, and values that it receives)"],
    ),
    ("P.x := 1;", &["2:2: expected `:=`, found `.` (a process does not see the variables of other processes)"]),
    ("#MODULE# #MODULE# skip;", &["2:1: this module has no statements (write `skip;` or leave it out)"]),
    ("skip; #MODULE#", &["2:7: this module has no statements (write `skip;` or leave it out)"]),
    (
        "while b do #MODULE# skip; od;",
        &["2:1: there are modules in this `while`, and it does not begin one (write `#MODULE#` before it)"],
    ),
    (
        "#MODULE# while b do skip; #MODULE# skip; od;",
        &[
            "2:21: there are modules in the `while` in line 2, and none begins here (write `#MODULE#` at the beginning of each of its blocks)",
        ],
    ),
    (
        "#MODULE# while b do #MODULE# skip; od; skip;",
        &["2:40: there are modules in the `while` in line 2, and none begins after it (write `#MODULE#` here)"],
    ),
    (
        "#MODULE# if b then #MODULE# skip; else skip; fi;",
        &[
            "2:40: there are modules in the `if` in line 2, and none begins here (write `#MODULE#` at the beginning of each of its blocks)",
        ],
    ),
    (
        "#MODULE# skip; if b then #MODULE# skip; else #MODULE# skip; fi; #MODULE# skip;",
        &["2:16: there are modules in this `if`, and it does not begin one (write `#MODULE#` before it)"],
    ),
    (
        "#MODULE# while b do #MODULE# skip; while b do #MODULE# skip; od; od;",
        &["2:36: there are modules in this `while`, and it does not begin one (write `#MODULE#` before it)"],
    ),
    ("x := é;", &["2:6: the character `é` is not used in SoftVer"]),
    ("x := 1 – y;", &["2:8: the character `–` is not used in SoftVer (write a hyphen, `-`)"]),
];

/// Statements of two processes, with a bar between them.
const COMMUNICATIONS: &[(&str, &[&str])] = &[
    ("send(R, x); | skip;", &["2:6: there is no process `R`"]),
    ("send(P, x); | skip;", &["2:1: a process does not communicate with itself"]),
    ("receive(P, x); | skip;", &["2:1: a process does not communicate with itself"]),
    ("send(Q x); | skip;", &["2:8: expected `,` after the name of the process, found `x`"]),
    ("send Q, x; | skip;", &["2:6: expected `(` after `send`, found `Q`"]),
    ("send(Q, x; | skip;", &["2:10: expected `)`, found `;`"]),
    ("send(Q); | skip;", &["2:7: expected `,` after the name of the process, found `)`"]),
    (
        "send(Q, y); | receive(P, y);",
        &["2:9: the variable `y` is not declared (it is a variable of `Q`, which only that process uses)"],
    ),
    ("send(Q, x); | receive(P, y + 1);", &["5:14: expected `)`, found `+` (a value is received into a variable)"]),
    ("send(Q, x); | receive(P, d);", &["5:12: `P` sends an integer, and `d` is a truth value"]),
    (
        "send(Q, x); send(Q, b); | receive(P, y);",
        &[
            "2:21: `P` sends an integer to `Q` in line 2, and a truth value here (all values from one process to another have one type)",
        ],
    ),
    (
        "send(Q, x); | receive(P, e[0]);",
        &[
            "5:14: a value is received into a variable, not into a cell of an array (receive into a variable, and assign it to the cell)",
        ],
    ),
    ("send(Q, x); | receive(P, e);", &["5:12: `e` is an array (write `e[0]` for its first cell)"]),
    ("send(Q, x); | skip;", &["2:1: warning: this blocks for ever: `Q` never receives from `P`"]),
    ("skip; | receive(P, y);", &["5:1: warning: this blocks for ever: `P` never sends to `Q`"]),
    (
        "x := Q.y; | skip;",
        &["2:6: a statement does not see `Q.y` (a process uses its own variables, and values that it receives)"],
    ),
    (
        "x := y; | skip;",
        &["2:6: the variable `y` is not declared (it is a variable of `Q`, which only that process uses)"],
    ),
];

/// Formulas of a sequential program.
const FORMULAS: &[(&str, &[&str])] = &[
    ("SPEC", &["2:5: expected a formula, found the end of the file"]),
    ("SPEC AG", &["2:8: expected a formula, found the end of the file"]),
    ("SPEC x", &["2:6: expected a truth value, found an integer (compare it with something, as in `x != 0`)"]),
    ("SPEC AG x", &["2:9: expected a truth value, found an integer (compare it with something, as in `x != 0`)"]),
    ("SPEC AG y = 1", &["2:9: the variable `y` is not declared"]),
    ("SPEC AG label(g)", &["2:15: the label `g` is not declared"]),
    ("SPEC AG label h", &["2:15: expected `(` after `label`, found `h`"]),
    ("SPEC AG label(h", &["2:16: expected `)`, found the end of the file"]),
    (
        "SPEC AG label(P.h)",
        &["2:15: there is no process `P` (the program has no processes: they are written `process P … { … }`)"],
    ),
    (
        "SPEC AG P.x = 1",
        &["2:9: there is no process `P` (the program has no processes: they are written `process P … { … }`)"],
    ),
    ("SPEC AG a[2] = 0", &["2:11: `a` has no cell 2 (its cells are `a[0]` to `a[1]`)"]),
    ("SPEC AG a = 0", &["2:9: `a` is an array (write `a[0]` for its first cell)"]),
    ("SPEC G b", &["2:6: `G` has no path quantifier (write `AG` or `EG`, or write the formula behind LTLSPEC)"]),
    (
        "SPEC A b",
        &[
            "2:6: `A` does not stand before a temporal operator (in CTL they come in pairs, as in `AG` or `A [ f U g ]`; other formulas stand behind LTLSPEC)",
        ],
    ),
    (
        "SPEC A [ b ]",
        &[
            "2:6: `A` does not stand before a temporal operator (in CTL they come in pairs, as in `AG` or `A [ f U g ]`; other formulas stand behind LTLSPEC)",
        ],
    ),
    ("SPEC A [ b U b", &["2:15: expected `]`, found the end of the file"]),
    ("SPEC AG (b", &["2:11: expected `)`, found the end of the file"]),
    ("SPEC AG b)", &["2:10: expected an operator, `SPEC`, `LTLSPEC` or the end of the file, found `)`"]),
    (
        "SPEC b U b",
        &[
            "2:8: `U` has no path quantifier (write `A [ f U g ]` or `E [ f U g ]`, or write the formula behind LTLSPEC)",
        ],
    ),
    ("SPEC AG b = AG b", &["2:13: a temporal formula is no value (between formulas write `<->`)"]),
    ("SPEC a[AG b] = 1", &["2:14: a temporal formula is no value (between formulas write `<->`)"]),
    ("SPEC x + AG b = 1", &["2:10: a temporal formula is no value (between formulas write `<->`)"]),
    ("SPEC - AG b", &["2:8: a temporal formula is no value (between formulas write `<->`)"]),
    (
        "SPEC AG b and b",
        &["2:11: expected an operator, `SPEC`, `LTLSPEC` or the end of the file, found `and` (write `&&`)"],
    ),
    ("SPEC one := AG b SPEC one := AF b", &["2:23: there is another formula with the name `one`"]),
    ("SPEC ctl2 := AG b SPEC AF b", &["2:24: there is another formula with the name `ctl2`"]),
    ("SPEC one = AG b", &["2:12: a temporal formula is no value (between formulas write `<->`)"]),
    ("LTLSPEC AG b", &["2:9: `A` is a path quantifier, which LTL does not have (write it behind SPEC)"]),
    ("LTLSPEC G x", &["2:11: expected a truth value, found an integer (compare it with something, as in `x != 0`)"]),
    ("LTLSPEC G (b -> F y = 0)", &["2:19: the variable `y` is not declared"]),
    ("SPEX AG b", &["2:1: expected `SPEC`, `LTLSPEC` or the end of the file, found `SPEX` (did you mean `SPEC`?)"]),
    ("SPEC AG b; x := 1;", &["2:12: expected an operator, `SPEC`, `LTLSPEC` or the end of the file, found `x`"]),
    ("SPEC AG x == 1", &["2:12: expected an expression, found `=` (equality is written `=`)"]),
    ("SPEC AG label(terminat)", &["2:15: the label `terminat` is not declared"]),
];

/// Formulas of a parallel program.
const FORMULAS_OF_PROCESSES: &[(&str, &[&str])] = &[
    ("SPEC AG x = 1", &["7:9: several processes have a variable `x` (write `P.x`, for instance)"]),
    ("SPEC AG label(h)", &["7:15: several processes have a label `h` (write `P.h`, for instance)"]),
    (
        "SPEC AG label(terminate)",
        &["7:9: every process has its `terminate` (write `label(P.terminate)` with the name of a process)"],
    ),
    ("SPEC AG label(R.h)", &["7:15: there is no process `R`"]),
    ("SPEC AG P.y = 1", &["7:11: the variable `y` is not declared (it is a variable of `Q`)"]),
    ("SPEC AG R.x = 1", &["7:9: there is no process `R`"]),
    ("SPEC AG label(P.k)", &["7:17: the label `k` is not declared"]),
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
}

#[test]
fn faulty_formulas_of_processes_are_answered_with_what_is_wrong() {
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
    "process",
    "int",
    "boolean",
    "enum",
    "skip",
    "label",
    "if",
    "then",
    "else",
    "fi",
    "while",
    "do",
    "od",
    "send",
    "receive",
    "terminate",
    "SPEC",
    "LTLSPEC",
    "TRUE",
    "FALSE",
    "x",
    "b",
    "a",
    "c",
    "P",
    "Q",
    "h",
    "red",
    "0",
    "1",
    "300",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ";",
    ",",
    ".",
    ":=",
    "=",
    "!=",
    "<",
    "<=",
    "+",
    "-",
    "&&",
    "||",
    "!",
    "->",
    "<->",
    "A",
    "E",
    "AG",
    "EF",
    "X",
    "G",
    "U",
    "#MODULE#",
    "#INTEGER_LENGTH#",
    "/*",
    "*/",
    "//",
    "\n",
    "&",
    "~",
    "\u{0}",
    "é",
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
