//! Faulty models: each is answered with a short list of messages, at the right place, and in no time.
//!
//! The whole list is compared, so that a fault that makes others is seen. A text whose list has no error must be
//! accepted. What Spin accepts must not be refused without a reason: it is compared by hand with `spin -a`.

use std::time::{Duration, Instant};

use ample_lang::promela::{self, preprocess::MemoryLoader};
use ample_lang::{Diagnostic, Severity};
use ample_model::Source;

/// Far more than any of these takes, on a busy machine too.
const LIMIT: Duration = Duration::from_secs(5);

/// A message, by what the user sees of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Message<'a> {
    severity: Severity,
    line: usize,
    column: usize,
    message: &'a str,
    help: Option<&'a str>,
}

impl<'a> Message<'a> {
    const fn help(mut self, help: &'a str) -> Self {
        self.help = Some(help);
        self
    }

    fn of(diagnostic: &'a Diagnostic, sources: &[Source]) -> Self {
        let span = diagnostic.span.expect("a message has a place");
        let (line, column) = sources[span.source.index()].position(span.start);
        let Diagnostic { severity, message, help, .. } = diagnostic;
        Message { severity: *severity, line, column, message, help: help.as_deref() }
    }
}

const fn error(line: usize, column: usize, message: &str) -> Message<'_> {
    Message { severity: Severity::Error, line, column, message, help: None }
}

const fn warning(line: usize, column: usize, message: &str) -> Message<'_> {
    Message { severity: Severity::Warning, line, column, message, help: None }
}

struct Case {
    name: &'static str,
    text: &'static str,
    expected: &'static [Message<'static>],
}

const fn case(name: &'static str, text: &'static str, expected: &'static [Message<'static>]) -> Case {
    Case { name, text, expected }
}

/// What is wrong with the answer to a text, if anything.
fn check(name: &str, text: &str, expected: &[Message<'_>]) -> Option<String> {
    let mut loader = MemoryLoader::default();
    loader.files.insert("loop.h".into(), "#include \"loop.h\"\n".into());
    let start = Instant::now();
    let answer = promela::read("m.pml", text.into(), &mut loader, &[]);
    let taken = start.elapsed();
    let (accepted, diagnostics, sources) = match &answer {
        Ok(lowered) => (true, &lowered.warnings, &lowered.system.sources),
        Err(rejected) => (false, &rejected.diagnostics, &rejected.sources),
    };
    let found: Vec<_> = diagnostics.iter().map(|diagnostic| Message::of(diagnostic, sources)).collect();
    let acceptable = expected.iter().all(|message| message.severity == Severity::Warning);
    if accepted != acceptable || found != expected {
        return Some(format!("{name}: accepted: {accepted}, {found:#?}"));
    }
    (taken > LIMIT).then(|| format!("{name}: took {taken:?}"))
}

fn check_all(cases: &[Case]) {
    let wrong: Vec<_> = cases.iter().filter_map(|case| check(case.name, case.text, case.expected)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const SYNTAX: &[Case] = &[
    case(
        "an empty file",
        "",
        &[error(1, 1, "the model has no processes").help("write `init { … }` or put `active` before a proctype")],
    ),
    case(
        "nothing but comments",
        "/* a */ // b\n",
        &[error(1, 1, "the model has no processes").help("write `init { … }` or put `active` before a proctype")],
    ),
    case(
        "a body that is not closed",
        "byte x;\nactive proctype P() {\n\tx = 1;\n",
        &[error(4, 1, "expected `}`, found the end of the file").help("the body that begins in line 2 is not closed")],
    ),
    case(
        "a body that is not closed before the next proctype",
        "active proctype P() {\n\tskip;\nproctype Q() { skip }\n",
        &[error(3, 1, "expected a statement, found `proctype`")
            .help("it cannot stand in a body: is a `}` missing before it?")],
    ),
    case(
        "a brace too many",
        "active proctype P() { skip } }\n",
        &[error(1, 30, "expected a declaration, a proctype or another unit, found `}`")
            .help("all braces before it are closed")],
    ),
    case(
        "a semicolon missing",
        "byte x;\nactive proctype P() { x = 1 x = 2 }",
        &[error(2, 29, "expected `;` or `->` between two statements, found `x`")],
    ),
    case(
        "a declaration without its semicolon",
        "byte x\nactive proctype P() { byte y byte z; skip }",
        &[error(2, 30, "expected `;` or `->` between two statements, found `byte`")],
    ),
    case(
        "a parenthesis missing",
        "byte x;\nactive proctype P() { (x == 1 -> skip }",
        &[error(2, 39, "expected `:` in the conditional expression `(c -> a : b)`, found `}`")
            .help("if it is none, a `)` is missing before the `->`")],
    ),
    case(
        "a parenthesis too many",
        "byte x;\nactive proctype P() { x = (1 + 2)); skip }",
        &[error(2, 34, "expected `;` or `->` between two statements, found `)`")],
    ),
    case(
        "a bracket missing",
        "byte a[2];\nactive proctype P() { a[1 = 0 }",
        &[error(2, 27, "expected `]` after the index, found `=`")],
    ),
    case(
        "an operand missing",
        "byte x;\nactive proctype P() { x = 1 + ; skip }",
        &[error(2, 31, "expected an expression, found `;`")],
    ),
    case(
        "an if without fi",
        "byte x;\nactive proctype P() {\n\tif\n\t:: x == 0 -> skip\n}",
        &[error(5, 1, "expected `::` or the `fi` of `if`, found `}`")],
    ),
    case(
        "a do closed by fi",
        "active proctype P() { do :: break fi }",
        &[error(1, 35, "expected `::` or the `od` of `do`, found `fi`")],
    ),
    case(
        "an if without options",
        "active proctype P() { if skip fi }",
        &[error(1, 26, "expected an option, which begins with `::`, found `skip`")],
    ),
    case(
        "an option without statements",
        "active proctype P() { if :: fi }",
        &[error(1, 29, "expected a statement, found `fi`").help("a statement that does nothing is written `skip`")],
    ),
    case(
        "an empty body",
        "active proctype P() { }",
        &[error(1, 23, "expected a statement, found `}`").help("a statement that does nothing is written `skip`")],
    ),
    case(
        "an empty atomic",
        "active proctype P() { atomic { } }",
        &[error(1, 32, "expected a statement, found `}`").help("a statement that does nothing is written `skip`")],
    ),
    case(
        "a stray token at the top level",
        "byte x;\n) active proctype P() { skip }",
        &[error(2, 1, "expected a declaration, a proctype or another unit, found `)`")],
    ),
    case(
        "a statement at the top level",
        "byte x;\nx = 1;\nactive proctype P() { skip }",
        &[error(2, 1, "expected a declaration, a proctype or another unit, found `x`")
            .help("statements stand in the body of a proctype or of `init`")],
    ),
    case(
        "a comment that is not closed",
        "byte x;\n/* active proctype P() { skip }\n",
        &[error(2, 1, "this comment is not closed")],
    ),
    case(
        "a string that is not closed",
        "active proctype P() {\n\tprintf(\"hello);\n\tskip\n}",
        &[error(2, 9, "this string is not closed on its line")],
    ),
    case(
        "a character that is not closed",
        "byte x;\nactive proctype P() { x = 'a; skip }",
        &[error(2, 27, "this character constant is not closed")],
    ),
    case(
        "an empty character",
        "byte x;\nactive proctype P() { x = '' }",
        &[error(2, 27, "a character constant is one ASCII character in quotes")],
    ),
    case(
        "a character that is not ASCII",
        "byte x;\nactive proctype P() { x = 'ä' }",
        &[error(2, 27, "a character constant is one ASCII character in quotes")],
    ),
    case(
        "a hexadecimal number",
        "byte x;\nactive proctype P() { x = 0xff }",
        &[error(2, 27, "`0xff` is not a number of Promela").help("write `255`")],
    ),
    case(
        "a number with letters",
        "byte x;\nactive proctype P() { x = 12ab }",
        &[error(2, 27, "`12ab` is not a number of Promela")],
    ),
    case(
        "a real number",
        "byte x;\nactive proctype P() { x = 1.5 }",
        &[error(2, 27, "the numbers of Promela are whole")],
    ),
    case(
        "a number that does not fit",
        "int x;\nactive proctype P() { x = 99999999999 }",
        &[warning(2, 27, "`99999999999` does not fit 32 bits and is taken as 1215752191")],
    ),
    case(
        "smart quotes",
        "active proctype P() { printf(“hello”) }",
        &[error(1, 30, "the character `“` is not used in Promela").help("write a straight quote, `\"`")],
    ),
    case(
        "a smart apostrophe",
        "byte x;\nactive proctype P() { x = ’a’ }",
        &[error(2, 27, "the character `’` is not used in Promela").help("write a straight quote, `'`")],
    ),
    case(
        "a dash for a minus",
        "byte x;\nactive proctype P() { x = x – 1 }",
        &[error(2, 29, "the character `–` is not used in Promela").help("write a hyphen, `-`")],
    ),
    case(
        "a letter that is not ASCII",
        "byte größe;\nactive proctype P() { skip }",
        &[error(1, 8, "the character `ö` is not used in Promela")],
    ),
    case(
        "a character of another language",
        "active proctype P() { skip $ }",
        &[error(1, 28, "the character `$` is not used in Promela")],
    ),
    case(
        "C's while",
        "byte x;\nactive proctype P() { while (x < 3) { x++ } }",
        &[error(2, 23, "`while` is not an inline")
            .help("a loop is written `do :: condition -> … :: else -> break od`")],
    ),
    case(
        "C's else",
        "byte x;\nactive proctype P() { if (x) { skip } else { skip } }",
        &[error(2, 26, "expected an option, which begins with `::`, found `(`")
            .help("a selection is written `if :: condition -> … :: else -> … fi`")],
    ),
    case(
        "C's compound assignment",
        "byte x;\nactive proctype P() { x += 1 }",
        &[error(2, 26, "expected an expression, found `=`").help("there is no `+=`: write `v = v + …`")],
    ),
    case(
        "a keyword as a name",
        "byte len;\nactive proctype P() { skip }",
        &[error(1, 6, "expected the name of a variable, found `len`")
            .help("`len` is a word of the language and cannot be a name")],
    ),
    case(
        "a proctype without parentheses",
        "active proctype P { skip }",
        &[error(1, 19, "expected `(` before the parameters, found `{`")],
    ),
    case(
        "parameters separated by commas of different types",
        "proctype P(byte a, byte b) { skip } init { run P(1, 2) }",
        &[error(1, 20, "expected the name of a variable, found a type")
            .help("declarations of different types are separated by `;`")],
    ),
    case(
        "an unknown type of a parameter",
        "proctype P(boole a) { skip } init { run P(1) }",
        &[error(1, 12, "`boole` is not a type").help("did you mean `bool`?")],
    ),
    case(
        "a misspelt keyword",
        "activ proctype P() { skip }",
        &[error(1, 1, "expected a declaration, a proctype or another unit, found `activ`")
            .help("did you mean `active`?")],
    ),
    case(
        "goto without a label",
        "active proctype P() { goto 3 }",
        &[error(1, 28, "expected the name of a label, found `3`")],
    ),
    case(
        "a channel without of",
        "chan c = [1] { byte };\nactive proctype P() { skip }",
        &[error(1, 14, "expected `of` after the capacity, found `{`")],
    ),
    case(
        "a for without a range",
        "byte i;\nactive proctype P() { for (i : 1) { skip } }",
        &[error(2, 33, "expected `..` between the limits, found `)`")],
    ),
    case(
        "printf without a format",
        "byte x;\nactive proctype P() { printf(x) }",
        &[error(2, 30, "expected a string, found `x`")],
    ),
    case(
        "two faults in two units",
        "active proctype P() { x = }\nactive proctype Q() { y = }\nactive proctype R() { skip }",
        &[error(1, 27, "expected an expression, found `}`"), error(2, 27, "expected an expression, found `}`")],
    ),
    case(
        "a stray brace after a faulty body",
        "active proctype P() { x = ; { skip } }\nbyte y;\nactive proctype Q() { y = }",
        &[error(1, 27, "expected an expression, found `;`"), error(3, 27, "expected an expression, found `}`")],
    ),
];

const TYPES: &[Case] = &[
    case(
        "an array used as a scalar",
        "byte a[3], x;\nactive proctype P() { x = a }",
        &[error(2, 27, "`a` is an array: an index is missing")],
    ),
    case(
        "an array assigned as a whole",
        "byte a[3];\nactive proctype P() { a = 1 }",
        &[error(2, 23, "`a` is an array: an index is missing")],
    ),
    case("a scalar with an index", "byte x;\nactive proctype P() { x[1] = 2 }", &[error(2, 25, "`x` is not an array")]),
    case(
        "a record without a field",
        "typedef T { byte f }\nT t;\nactive proctype P() { t = 1 }",
        &[error(3, 23, "`T` is a record: a field is missing")],
    ),
    case(
        "a record read as a whole",
        "typedef T { byte f }\nT t; byte x;\nactive proctype P() { x = t + 1 }",
        &[error(3, 27, "`T` is a record: a field is missing")],
    ),
    case(
        "an unknown field",
        "typedef T { byte first }\nT t;\nactive proctype P() { t.frist = 1 }",
        &[error(3, 25, "type `T` has no field `frist`").help("did you mean `first`?")],
    ),
    case(
        "a field of a scalar",
        "byte x;\nactive proctype P() { x.f = 1 }",
        &[error(2, 25, "this is not a record and has no field `f`")],
    ),
    case("a send to a number", "byte x;\nactive proctype P() { x ! 1 }", &[error(2, 23, "`x` is not a channel")]),
    case(
        "a receive from a number",
        "byte x, y;\nactive proctype P() { x ? y }",
        &[error(2, 23, "`x` is not a channel")],
    ),
    case(
        "the length of a number",
        "byte x;\nactive proctype P() { len(x) == 0 }",
        &[error(2, 27, "`x` is not a channel")],
    ),
    case("a poll of a number", "byte x;\nactive proctype P() { x ? [1] }", &[error(2, 23, "`x` is not a channel")]),
    case(
        "a constant assigned to a channel",
        "chan c = [1] of { byte };\nactive proctype P() { c = 1 }",
        &[error(2, 23, "a constant cannot be assigned to a channel")],
    ),
    case(
        "a number initialised as a channel",
        "byte c = [1] of { byte };\nactive proctype P() { skip }",
        &[error(1, 10, "`c` is not a channel and cannot be initialised as one")],
    ),
    case(
        "an unsigned that is too wide",
        "unsigned x : 40;\nactive proctype P() { skip }",
        &[error(1, 14, "the width of `x` must be 1 to 31 bits")],
    ),
    case(
        "an unsigned of no bits",
        "unsigned x : 0;\nactive proctype P() { skip }",
        &[error(1, 14, "the width of `x` must be 1 to 31 bits")],
    ),
    case(
        "a width of another type",
        "byte x : 3;\nactive proctype P() { skip }",
        &[error(1, 10, "only an unsigned can have a width")],
    ),
    case(
        "a hidden channel",
        "hidden chan c = [1] of { byte };\nactive proctype P() { c ! 1 }",
        &[error(1, 13, "channel `c` cannot be hidden")],
    ),
    case(
        "a hidden local",
        "active proctype P() { hidden byte x; x = 1 }",
        &[error(1, 35, "only globals can be hidden, not `x`")],
    ),
    case(
        "an array of no elements",
        "byte a[0];\nactive proctype P() { skip }",
        &[error(1, 8, "an array cannot have 0 elements")],
    ),
    case(
        "an array of a negative length",
        "byte a[-2];\nactive proctype P() { skip }",
        &[error(1, 8, "an array cannot have -2 elements")],
    ),
    case(
        "an array whose length is a sum of variables",
        "byte n; byte a[n + 1];\nactive proctype P() { skip }",
        &[error(1, 16, "expected a constant")],
    ),
    case(
        "a list of values for a scalar",
        "byte x = { 1, 2 };\nactive proctype P() { skip }",
        &[error(1, 6, "`x` must be an array to have a list of values")],
    ),
    case(
        "an unsigned message field",
        "chan c = [1] of { unsigned };\nactive proctype P() { skip }",
        &[error(1, 19, "`unsigned` cannot be the type of a message field")],
    ),
    case(
        "a loop over a number",
        "byte i, x;\nactive proctype P() { for (i in x) { skip } }",
        &[error(2, 33, "only an array or a channel can be walked with `for … in`")],
    ),
    case(
        "a loop over a channel with a number",
        "chan c = [2] of { byte }; byte i;\nactive proctype P() { for (i in c) { skip } }",
        &[error(2, 28, "to walk a channel the variable must be of its message's typedef")],
    ),
    case(
        "a record's own first value",
        "typedef T { byte f }\nT t = 3;\nactive proctype P() { t.f = 1 }",
        &[warning(2, 3, "the first value of a variable of type `T` is ignored")],
    ),
    case(
        "a typedef that contains itself",
        "typedef T { byte f; T next }\nactive proctype P() { skip }",
        &[error(1, 21, "`T` is not a type").help("the typedef of `T` must stand before its use")],
    ),
    case(
        "xr of a number",
        "byte x;\nactive proctype P() { xr x; skip }",
        &[error(2, 26, "xr and xs are for channels only")],
    ),
    case(
        "a hidden channel that is used",
        "hidden chan c = [1] of { byte };\nbyte x;\nactive proctype P() { c ! 1; c ? x }",
        &[error(1, 13, "channel `c` cannot be hidden")],
    ),
    case(
        "a faulty array that is used",
        "byte a[0];\nactive proctype P() { a[1] = 2; a[0] = a[1] }",
        &[error(1, 8, "an array cannot have 0 elements")],
    ),
    case(
        "a faulty local that is used",
        "active proctype P() { byte a : 3; a = 2 }",
        &[error(1, 32, "only an unsigned can have a width")],
    ),
];

const NAMES: &[Case] = &[
    case(
        "an undeclared variable",
        "byte count;\nactive proctype P() { cuont = 1 }",
        &[error(2, 23, "undeclared variable `cuont`").help("did you mean `count`?")],
    ),
    case(
        "an undeclared variable far from all names",
        "byte count;\nactive proctype P() { zebra = 1 }",
        &[error(2, 23, "undeclared variable `zebra`")],
    ),
    case(
        "two undeclared variables in two statements",
        "active proctype P() { a = 1; b = 2 }",
        &[error(1, 23, "undeclared variable `a`"), error(1, 30, "undeclared variable `b`")],
    ),
    case(
        "the same undeclared variable thrice",
        "active proctype P() { do :: q < 3 -> q++ :: q > 3 -> break od }",
        &[error(1, 29, "undeclared variable `q`")],
    ),
    case("an undeclared channel", "active proctype P() { ch ! 1 }", &[error(1, 23, "undeclared variable `ch`")]),
    case(
        "an undeclared proctype",
        "proctype Server() { skip }\ninit { run Servr() }",
        &[error(2, 12, "there is no proctype `Servr`").help("did you mean `Server`?")],
    ),
    case(
        "an undeclared label",
        "active proctype P() { loop: skip; goto lop }",
        &[error(1, 35, "undefined label `lop`").help("did you mean `loop`?")],
    ),
    case("an undeclared type", "Msg m;\nactive proctype P() { skip }", &[error(1, 1, "`Msg` is not a type")]),
    case(
        "an undeclared type of a local",
        "active proctype P() { Msg m; skip }",
        &[error(1, 23, "`Msg` is not a type")],
    ),
    case(
        "a type used before its declaration",
        "T t;\ntypedef T { byte f }\nactive proctype P() { t.f = 1 }",
        &[error(1, 1, "`T` is not a type").help("the typedef of `T` must stand before its use")],
    ),
    case(
        "an undeclared subtype of mtype",
        "mtype:colour = { red }\nmtype:color c;\nactive proctype P() { skip }",
        &[warning(2, 7, "no names are declared for `mtype:color`").help("did you mean `mtype:colour`?")],
    ),
    case(
        "an undeclared label in a remote reference",
        "active proctype P() { critical: skip }\nactive proctype Q() { assert(!P@critcal) }",
        &[error(2, 33, "there is no label `critcal` in `P`").help("did you mean `critical`?")],
    ),
    case(
        "an undeclared variable in a remote reference",
        "active proctype P() { byte count; count = 1 }\nactive proctype Q() { P[0]:cuont == 1 }",
        &[error(2, 28, "there is no variable `cuont` in `P`").help("did you mean `count`?")],
    ),
    case(
        "an undeclared proctype in a remote reference",
        "ltl p { [] !Q[0]@crit }\nactive proctype P() { crit: skip }",
        &[error(1, 13, "there is no proctype `Q`")],
    ),
    case(
        "an undeclared variable in a formula",
        "bool ready;\nltl p { <> redy }\nactive proctype P() { ready = true }",
        &[error(2, 12, "undeclared variable `redy`").help("did you mean `ready`?")],
    ),
    case(
        "a call of something undefined",
        "active proctype P() { incr(1) }",
        &[error(1, 23, "`incr` is not an inline").help("an inline must be defined before it is called")],
    ),
    case(
        "a misspelt inline",
        "inline increment(v) { v++ }\nbyte x;\nactive proctype P() { incremnt(x) }",
        &[error(3, 23, "`incremnt` is not an inline").help("did you mean `increment`?")],
    ),
    case(
        "a call of a proctype",
        "proctype Q() { skip }\nactive proctype P() { Q() }",
        &[error(2, 23, "`Q` is not an inline").help("a process is started with `run Q(…)`")],
    ),
    case(
        "a global declared twice",
        "byte x;\nint x;\nactive proctype P() { skip }",
        &[error(2, 5, "`x` is declared twice").help("the first declaration is in line 1")],
    ),
    case(
        "a local declared twice",
        "active proctype P() { byte x; int x; skip }",
        &[error(1, 35, "`x` is declared twice")],
    ),
    case(
        "a parameter declared twice",
        "proctype P(byte a; byte a) { skip }\ninit { run P(1, 2) }",
        &[error(1, 25, "`a` is declared twice")],
    ),
    case(
        "a local like a parameter",
        "proctype P(byte a) { byte a; skip }\ninit { run P(1) }",
        &[error(1, 27, "`a` is declared twice")],
    ),
    case(
        "a field declared twice",
        "typedef T { byte f; int f }\nactive proctype P() { skip }",
        &[error(1, 25, "field `f` is declared twice")],
    ),
    case(
        "a label declared twice",
        "active proctype P() {\n\tL: skip;\n\tL: skip;\n\tgoto L\n}",
        &[error(3, 2, "label `L` is declared twice")],
    ),
    case(
        "a proctype declared twice",
        "active proctype P() { skip }\nproctype P() { skip }",
        &[error(2, 10, "`P` is declared twice").help("the first declaration is in line 1")],
    ),
    case(
        "two inits",
        "init { skip }\ninit { skip }",
        &[warning(2, 1, "there is another `init` before this one, and both are run")],
    ),
    case(
        "an mtype name declared twice",
        "mtype = { a, b, a }\nactive proctype P() { skip }",
        &[error(1, 17, "`a` appears twice in mtype declarations")],
    ),
    case(
        "a formula declared twice",
        "ltl p { [] true }\nltl p { <> true }\nactive proctype P() { skip }",
        &[error(2, 5, "the formula `p` is declared twice")],
    ),
    case(
        "a field declared twice, and used",
        "typedef T { byte f; int f }\nT t;\nactive proctype P() { t.f = 1; t.f = 2 }",
        &[error(1, 25, "field `f` is declared twice")],
    ),
    case(
        "a faulty field, and used",
        "typedef T { byte f : 3; chan c = [-1] of { byte } }\nT t;\nactive proctype P() { t.f = 1; t.c ! 2 }",
        &[
            error(1, 22, "only an unsigned can have a width"),
            error(1, 35, "a channel cannot have -1 slots").help("it can have 0 (a rendezvous) to 65536"),
        ],
    ),
    case(
        "a typedef declared twice",
        "typedef T { byte f }\ntypedef T { int g }\nactive proctype P() { skip }",
        &[error(2, 9, "type `T` is declared twice")],
    ),
    case(
        "an inline defined twice",
        "inline f() { skip }\ninline f() { skip }\nactive proctype P() { f() }",
        &[error(2, 8, "the inline `f` is defined twice")],
    ),
    case(
        "a variable like an mtype name",
        "mtype = { red }\nbyte red;\nactive proctype P() { skip }",
        &[error(2, 6, "`red` is an mtype name and cannot be a variable")],
    ),
    case(
        "a variable like a proctype",
        "byte P;\nactive proctype P() { skip }",
        &[error(2, 17, "`P` is a variable and cannot be a proctype").help("the first declaration is in line 1")],
    ),
    case(
        "an mtype name assigned",
        "mtype = { red }\nactive proctype P() { red = 1 }",
        &[error(2, 23, "`red` is an mtype name and cannot be assigned")],
    ),
    case(
        "a predefined variable declared",
        "byte _pid;\nactive proctype P() { skip }",
        &[error(1, 6, "`_pid` is predefined")],
    ),
    case(
        "a local of another block",
        "active proctype P() { { byte x; x = 1 } ; x = 2 }",
        &[error(1, 43, "undeclared variable `x`").help("it is declared in a block that is closed here")],
    ),
    case(
        "a jump to a label of another proctype",
        "active proctype P() { there: skip }\nactive proctype Q() { goto there }",
        &[error(2, 23, "undefined label `there`")],
    ),
];

const ARITY: &[Case] = &[
    case(
        "run with too few arguments",
        "proctype P(byte a; byte b) { skip }\ninit { run P(1) }",
        &[error(2, 8, "`P` takes 2 arguments, not 1")],
    ),
    case(
        "run with too many arguments",
        "proctype P() { skip }\ninit { run P(1, 2) }",
        &[error(2, 8, "`P` takes 0 arguments, not 2")],
    ),
    case(
        "a send with too few fields",
        "chan c = [1] of { byte, byte };\nactive proctype P() { c ! 1 }",
        &[warning(2, 23, "the messages of `c` have 2 fields, not 1")],
    ),
    case(
        "a receive with too many fields",
        "chan c = [1] of { byte }; byte x, y;\nactive proctype P() { c ! 1; c ? x, y }",
        &[warning(2, 30, "the messages of `c` have 1 field, not 2")],
    ),
    case(
        "an inline with too few arguments",
        "inline f(a, b) { a = b }\nbyte x;\nactive proctype P() { f(x) }",
        &[error(3, 24, "the inline `f` takes 2 arguments, not 1")],
    ),
    case(
        "an inline with an empty argument",
        "inline f(a, b) { a = b }\nbyte x;\nactive proctype P() { f(x, ) }",
        &[error(3, 24, "the inline `f` takes 2 arguments, not 1")],
    ),
];

const MISUSE: &[Case] = &[
    case("a break outside a loop", "active proctype P() { break }", &[error(1, 23, "`break` outside a loop")]),
    case(
        "a break in an if outside a loop",
        "active proctype P() { if :: break fi }",
        &[error(1, 29, "`break` outside a loop")],
    ),
    case(
        "a jump to nowhere",
        "active proctype P() { skip; goto nowhere }",
        &[error(1, 29, "undefined label `nowhere`")],
    ),
    case(
        "a jump into a d_step",
        "active proctype P() { goto L; d_step { skip; L: skip; skip } }",
        &[error(1, 23, "jump into a d_step sequence")],
    ),
    case(
        "a jump out of a d_step",
        "active proctype P() { d_step { skip; goto L; skip }; skip; L: skip }",
        &[error(1, 38, "jump out of a d_step sequence")],
    ),
    case(
        "a break out of a d_step",
        "active proctype P() { do :: d_step { skip; break } od }",
        &[error(1, 44, "jump out of a d_step sequence")],
    ),
    case(
        "a run in a d_step",
        "proctype Q() { skip }\nactive proctype P() { d_step { skip; run Q() } }",
        &[error(2, 38, "`run` cannot be used in a d_step").help("use atomic instead")],
    ),
    case(
        "a run in an assertion",
        "proctype Q() { skip }\nactive proctype P() { assert(run Q() > 0) }",
        &[error(2, 30, "`run` cannot be used here")],
    ),
    case(
        "a run in an argument",
        "chan c = [1] of { byte };\nproctype Q() { skip }\nactive proctype P() { c ! run Q() }",
        &[error(3, 27, "`run` cannot be used here")],
    ),
    case(
        "two runs in an expression",
        "proctype Q() { skip }\nactive proctype P() { run Q() && run Q() }",
        &[error(2, 34, "an expression can contain only one `run`")],
    ),
    case(
        "two runs in an assignment",
        "byte x;\nproctype Q() { skip }\nactive proctype P() { x = run Q() + run Q() }",
        &[error(3, 37, "an expression can contain only one `run`")],
    ),
    case(
        "a run of a formula",
        "ltl p { [] true }\nactive proctype P() { run p() }",
        &[error(2, 27, "there is no proctype `p`").help("did you mean `P`?")],
    ),
    case(
        "a run of a claim",
        "never N { do :: true od }\nactive proctype P() { run N() }",
        &[error(2, 27, "`N` is a claim and cannot be run")],
    ),
    case(
        "the write-only variable read",
        "byte x;\nactive proctype P() { x = _ }",
        &[error(2, 27, "the value of `_` cannot be read")],
    ),
    case("_pid assigned", "active proctype P() { _pid = 1 }", &[error(1, 23, "`_pid` cannot be assigned")]),
    case("_nr_pr assigned", "active proctype P() { _nr_pr = 1 }", &[error(1, 23, "`_nr_pr` cannot be assigned")]),
    case("_last assigned", "active proctype P() { _last = 1 }", &[error(1, 23, "`_last` cannot be assigned")]),
    case(
        "_pid received",
        "chan c = [1] of { byte };\nactive proctype P() { c ? _pid }",
        &[error(2, 27, "`_pid` cannot be assigned").help("to compare with it, write eval(_pid)")],
    ),
    case(
        "two elses",
        "byte x;\nactive proctype P() { if :: else -> skip :: x -> skip :: else -> skip fi }",
        &[error(2, 58, "a selection can have only one `else`")],
    ),
    case(
        "a label before a declaration",
        "active proctype P() { L: byte x; goto L }",
        &[error(1, 23, "the label `L` stands before a declaration")],
    ),
    case(
        "a label at the start of an atomic",
        "active proctype P() { atomic { L: skip; goto L } }",
        &[error(1, 32, "label `L` is placed incorrectly").help("write `L: atomic { statement … }`")],
    ),
    case(
        "a label at the start of an option",
        "byte x;\nactive proctype P() { do :: end: x++ od }",
        &[warning(2, 29, "label `end` at the start of an option marks the whole selection")
            .help("write it before the `if` or `do`")],
    ),
    case(
        "a channel initialised late",
        "active proctype P() { skip; chan c = [1] of { byte }; c ! 1 }",
        &[error(1, 38, "channel `c` must be initialised before the first statement of the proctype")],
    ),
    case(
        "a list of values late",
        "active proctype P() { skip; byte a[2] = { 1, 2 }; skip }",
        &[error(1, 34, "array `a` can be given a list of values only before the first statement")],
    ),
    case(
        "a parameter with a first value",
        "proctype P(byte a = 3) { skip }\ninit { run P(1) }",
        &[error(1, 17, "a parameter cannot have an initial value")],
    ),
    case(
        "an array parameter",
        "proctype P(byte a[2]) { skip }\ninit { run P(1) }",
        &[error(1, 17, "`a` is an array and cannot be a parameter")],
    ),
    case(
        "two traces",
        "chan c = [1] of { byte };\n\
         trace { c ! 1 }\n\
         notrace { c ? 1 }\n\
         active proctype P() { c ! 1 }",
        &[error(3, 1, "there can be only one trace or notrace")],
    ),
    case(
        "an assignment in a trace",
        "byte x; chan c = [1] of { byte };\ntrace { c ! 1; x = 1 }\nactive proctype P() { c ! 1 }",
        &[error(2, 16, "a trace can contain only sends and receives")],
    ),
    case(
        "a random receive in a trace",
        "chan c = [1] of { byte };\ntrace { c ?? 1 }\nactive proctype P() { c ! 1 }",
        &[error(2, 9, "a trace can contain only sends and receives")],
    ),
    case(
        "a variable in a never claim",
        "never { byte x; do :: x == 0 od }\nactive proctype P() { skip }",
        &[error(1, 14, "a never claim cannot have variables of its own")],
    ),
    case(
        "a send in a never claim",
        "chan c = [1] of { byte };\nnever { c ! 1 }\nactive proctype P() { c ! 1 }",
        &[error(2, 9, "a never claim cannot send or receive")
            .help("a channel is looked into with `channel?[message]`, `len` and the like")],
    ),
    case(
        "an assignment in a never claim",
        "byte x;\nnever { x = 1 }\nactive proctype P() { skip }",
        &[warning(2, 9, "a never claim should not change the state")],
    ),
    case(
        "a temporal operator in an assertion",
        "bool x;\nactive proctype P() { assert([] x) }",
        &[error(2, 30, "a temporal operator can be used only in an ltl formula")],
    ),
    case(
        "an until in an assertion",
        "bool x;\nactive proctype P() { assert(x U x) }",
        &[error(2, 32, "a temporal operator can be used only in an ltl formula")],
    ),
    case(
        "arithmetic on a formula",
        "bool x;\nltl p { ([] x) + 1 }\nactive proctype P() { x = true }",
        &[error(2, 9, "arithmetic on a temporal formula")],
    ),
    case(
        "a bitwise and of formulas",
        "bool x;\nltl p { x & <> x }\nactive proctype P() { x = true }",
        &[error(2, 9, "arithmetic on a temporal formula").help("write `&&`")],
    ),
    case(
        "a comparison of formulas",
        "bool x;\nltl p { (<> x) == 1 }\nactive proctype P() { x = true }",
        &[error(2, 9, "arithmetic on a temporal formula").help("between formulas, write `<->`")],
    ),
    case(
        "a comparison after a prefix operator",
        "byte x;\nltl p { [] x == 1 }\nactive proctype P() { x = 1 }",
        &[error(2, 9, "arithmetic on a temporal formula").help("`[]` binds stronger than `==`: write `[] (x == 1)`")],
    ),
    case(
        "a letter of another tool in a formula",
        "bool x;\nltl p { G x }\nactive proctype P() { x = true }",
        &[error(2, 11, "expected an operator or `}` after the formula, found `x`")
            .help("`G` is no operator in an ltl block: write `[]`")],
    ),
    case(
        "the id of no process",
        "ltl p { [] (_pid == 0) }\nactive proctype P() { skip }",
        &[error(1, 13, "`_pid` has no value in a formula, which belongs to no process")],
    ),
    case(
        "a formula that ends early",
        "bool x;\nltl p { [] (x -> <> }\nactive proctype P() { x = true }",
        &[error(2, 21, "expected an expression, found `}`")],
    ),
    case(
        "a formula without its braces",
        "bool x;\nltl p [] x\nactive proctype P() { x = true }",
        &[error(2, 7, "expected `{` before the formula, found `[`")],
    ),
    case(
        "a priority of zero",
        "active proctype P() priority 0 { skip }",
        &[error(1, 30, "a priority must be between 1 and 255")],
    ),
    case(
        "a priority that is too high",
        "proctype Q() { skip }\ninit { run Q() priority 300 }",
        &[error(2, 25, "a priority must be between 1 and 255")],
    ),
    case(
        "a priority that is a variable",
        "byte x;\nproctype Q() { skip }\ninit { run Q() priority x }",
        &[error(3, 25, "expected a constant")],
    ),
    case(
        "select of an empty range",
        "byte x;\nactive proctype P() { select (x : 5 .. 2) }",
        &[error(2, 23, "the range 5 .. 2 is empty")],
    ),
    case(
        "a for over an empty range",
        "byte x;\nactive proctype P() { for (x : 5 .. 2) { skip } }",
        &[error(2, 23, "the range 5 .. 2 is empty")],
    ),
    case(
        "select of a channel",
        "chan c = [1] of { byte };\nactive proctype P() { select (c : 1 .. 2) }",
        &[error(2, 31, "the loop variable must be a plain variable")],
    ),
    case(
        "too many active processes",
        "active [300] proctype P() { skip }",
        &[error(1, 9, "300 processes are started: there can be at most 255")],
    ),
    case(
        "too many active processes together",
        "active [200] proctype P() { skip }\nactive [200] proctype Q() { skip }",
        &[error(2, 9, "400 processes are started: there can be at most 255")],
    ),
    case(
        "a negative number of processes",
        "active [-1] proctype P() { skip }",
        &[error(1, 9, "there cannot be -1 processes")],
    ),
    case(
        "no process at all",
        "byte x;\n",
        &[error(1, 1, "the model has no processes").help("write `init { … }` or put `active` before a proctype")],
    ),
    case(
        "no process that is started",
        "proctype P() { skip }",
        &[error(1, 10, "no process is ever started: there is no `init` and no `active` proctype")
            .help("write `init { … }` or put `active` before a proctype")],
    ),
    case(
        "nothing but a claim",
        "never { do :: true od }",
        &[error(1, 1, "the model has no processes").help("write `init { … }` or put `active` before a proctype")],
    ),
    case("an infinite goto loop", "active proctype P() { L: goto L }", &[error(1, 26, "infinite goto loop")]),
    case(
        "a return outside an inline",
        "byte x;\nactive proctype P() { return 1 }",
        &[error(2, 23, "there is nothing to return to")
            .help("`return e` stands in an inline that is called as `v = name(…)`")],
    ),
    case(
        "mtype names in a proctype",
        "active proctype P() { mtype = { a, b }; skip }",
        &[error(1, 23, "names of an mtype must be declared outside of the proctypes")],
    ),
    case(
        "timeout assigned",
        "active proctype P() { timeout = 1 }",
        &[error(1, 31, "expected `;` or `->` between two statements, found `=`")],
    ),
    case(
        "a constant received into an expression",
        "chan c = [1] of { byte }; byte x;\nactive proctype P() { c ? x + 1 }",
        &[error(2, 29, "expected `;` or `->` between two statements, found `+`")],
    ),
    case(
        "an inline inside a proctype",
        "active proctype P() { inline f() { skip } f() }",
        &[error(1, 23, "expected a statement, found `inline`")
            .help("it cannot stand in a body: is a `}` missing before it?")],
    ),
    case(
        "a proctype inside a proctype",
        "active proctype P() { proctype Q() { skip } }",
        &[error(1, 23, "expected a statement, found `proctype`")
            .help("it cannot stand in a body: is a `}` missing before it?")],
    ),
    case(
        "a run in a guard of a global",
        "proctype Q() { skip }\nbyte x = run Q();\ninit { skip }",
        &[error(2, 10, "`run` cannot be used outside a proctype")],
    ),
    case(
        "an undeclared first value",
        "byte x = y;\nactive proctype P() { skip }",
        &[error(1, 10, "undeclared variable `y`")],
    ),
    case(
        "a variable that receives two fields",
        "chan c = [1] of { byte, byte }; byte x;\nactive proctype P() { c ? x, x }",
        &[error(2, 30, "`x` cannot receive two fields of one message")],
    ),
    case(
        "a receive in a never claim",
        "chan c = [1] of { byte }; byte x;\n\
         never { do :: c ? x od }\n\
         active proctype P() { c ! 1 }",
        &[error(2, 15, "a never claim cannot send or receive")
            .help("a channel is looked into with `channel?[message]`, `len` and the like")],
    ),
];

const PREPROCESSOR: &[Case] = &[
    case(
        "a macro with too few arguments",
        "#define ADD(a, b) a + b\nbyte x;\nactive proctype P() { x = ADD(1) }",
        &[error(3, 27, "macro `ADD` takes 2 arguments, not 1")],
    ),
    case(
        "a macro with too many arguments",
        "#define NEG(a) -a\nbyte x;\nactive proctype P() { x = NEG(1, 2) }",
        &[error(3, 27, "macro `NEG` takes 1 argument, not 2")],
    ),
    case(
        "a macro that calls itself",
        "#define F(x) F(x, 1)\nbyte x;\nactive proctype P() { x = F(1) }",
        &[error(3, 27, "`F` is not an inline").help("a macro is not expanded inside itself")],
    ),
    case(
        "a missing include",
        "#include \"nothing.h\"\nactive proctype P() { skip }",
        &[error(1, 10, "cannot include `nothing.h`: there is no such file")],
    ),
    case(
        "an include without a name",
        "#include\nactive proctype P() { skip }",
        &[error(1, 2, "`#include` needs a file, as in `#include \"file\"`")],
    ),
    case(
        "an include loop",
        "#include \"loop.h\"\nactive proctype P() { skip }",
        &[error(1, 10, "files include each other more than 64 deep")],
    ),
    case(
        "an if without endif",
        "#if 1\nactive proctype P() { skip }\n",
        &[error(1, 2, "this conditional has no `#endif`")],
    ),
    case(
        "an ifdef without endif",
        "#ifdef X\nactive proctype P() { skip }\n",
        &[error(1, 2, "this conditional has no `#endif`")],
    ),
    case(
        "an endif without if",
        "active proctype P() { skip }\n#endif\n",
        &[error(2, 2, "`#endif` without an `#if` before it")],
    ),
    case(
        "else twice",
        "#if 1\n#else\n#else\n#endif\nactive proctype P() { skip }",
        &[error(3, 2, "`#else` after `#else`")],
    ),
    case(
        "elif after else",
        "#if 0\n#else\n#elif 1\n#endif\nactive proctype P() { skip }",
        &[error(3, 2, "`#elif` after `#else`")],
    ),
    case(
        "an unknown directive",
        "#defne N 3\nactive proctype P() { skip }",
        &[error(1, 2, "unknown directive `#defne`").help("did you mean `#define`?")],
    ),
    case(
        "a condition that ends early",
        "#if 1 +\n#endif\nactive proctype P() { skip }",
        &[error(1, 2, "the condition is incomplete")],
    ),
    case(
        "a condition without an expression",
        "#if\n#endif\nactive proctype P() { skip }",
        &[error(1, 2, "the condition is incomplete")],
    ),
    case(
        "an assignment in a condition",
        "#define N 3\n#if N = 3\n#endif\nactive proctype P() { skip }",
        &[error(2, 7, "expected an operator or the end of the condition, found `=`")],
    ),
    case(
        "a division by zero in a condition",
        "#if 1 / 0\n#endif\nactive proctype P() { skip }",
        &[error(1, 7, "division by zero in a condition")],
    ),
    case(
        "a string in a condition",
        "#if \"a\"\n#endif\nactive proctype P() { skip }",
        &[error(1, 5, "`\"a\"` cannot stand in a condition")],
    ),
    case(
        "an unterminated macro call",
        "#define F(x) x\nbyte y;\nactive proctype P() { y = F(1 }\n",
        &[error(3, 27, "the arguments of `F` are not closed")],
    ),
    case(
        "an error directive",
        "#ifndef N\n#error N must be set\n#endif\nactive proctype P() { skip }",
        &[error(2, 1, "#error N must be set")],
    ),
    case("a define without a name", "#define\nactive proctype P() { skip }", &[error(1, 2, "`#define` needs a name")]),
    case(
        "a define of a number",
        "#define 3 4\nactive proctype P() { skip }",
        &[error(1, 9, "a macro's name must be an identifier")],
    ),
    case(
        "a define with bad parameters",
        "#define F(1) 2\nactive proctype P() { skip }",
        &[error(1, 11, "expected the name of a macro's parameter")],
    ),
    case(
        "a paste that gives no token",
        "#define CAT(a, b) a ## b\nbyte x;\nactive proctype P() { x = CAT(+, /) }",
        &[error(3, 27, "`##` gives `+/`, which is not one token")],
    ),
    case(
        "a macro defined twice",
        "#define N 1\n#define N 2\nbyte x;\nactive proctype P() { x = N }",
        &[warning(2, 9, "`N` is defined again, differently")],
    ),
    case(
        "a macro body with a semicolon",
        "#define N 3;\nbyte a[N];\nactive proctype P() { a[0] = 1 }",
        &[error(2, 8, "expected `]` after the length, found `;`")],
    ),
    case(
        "an error in a macro",
        "#define SET(v) v = \nbyte x;\nactive proctype P() { SET(x); skip }",
        &[error(3, 29, "expected an expression, found `;`")],
    ),
    case(
        "an undeclared variable in a macro",
        "#define BUMP n = n + 1\nactive proctype P() { BUMP }",
        &[error(2, 23, "undeclared variable `n`")],
    ),
];

const SIZES: &[Case] = &[
    case(
        "a huge record, and used",
        "typedef S { byte a[1000000] }\ntypedef T { S s[1]; S t; S u }\nT t;\nactive proctype P() { skip }",
        &[error(2, 9, "`T` has 3000000 cells, more than a state can have"), error(3, 1, "unknown type `T`")],
    ),
    case(
        "a huge array",
        "byte a[2000000000];\nactive proctype P() { skip }",
        &[error(1, 8, "`a` has 2000000000 cells, more than a state can have")],
    ),
    case(
        "an array of huge records",
        "typedef T { byte a[100000] }\nT t[1000];\nactive proctype P() { skip }",
        &[error(2, 5, "`t` has 100000000 cells, more than a state can have")],
    ),
    case(
        "a huge channel",
        "chan c = [100000] of { byte };\nactive proctype P() { skip }",
        &[error(1, 11, "a channel cannot have 100000 slots").help("it can have 0 (a rendezvous) to 65536")],
    ),
    case(
        "a negative channel",
        "chan c = [-1] of { byte };\nactive proctype P() { skip }",
        &[error(1, 11, "a channel cannot have -1 slots").help("it can have 0 (a rendezvous) to 65536")],
    ),
    case(
        "a channel of huge messages",
        "typedef T { byte a[100000] }\nchan c = [100] of { T };\nactive proctype P() { skip }",
        &[error(2, 11, "channel `c` is larger than a state can be")],
    ),
    case(
        "an inline that calls itself",
        "inline f() { skip; f() }\nactive proctype P() { f() }",
        &[error(1, 20, "the inline `f` calls itself").help("this is read in a call of the inline `f`")],
    ),
    case(
        "inlines that call each other",
        "inline f() { skip; g() }\ninline g() { f() }\nactive proctype P() { f() }",
        &[error(2, 14, "the inline `f` calls itself").help("this is read in a call of the inline `g`")],
    ),
];

const EMBEDDED_C: &[Case] = &[
    case(
        "embedded C",
        "active proctype P() { c_code { x++; }; skip }",
        &[error(1, 23, "embedded C code is not supported: `c_code`")
            .help("write the step in Promela; what the C code reads and changes cannot be known here")],
    ),
    case(
        "a C expression",
        "active proctype P() { c_expr { x > 3 } -> skip }",
        &[error(1, 23, "embedded C code is not supported: `c_expr`")
            .help("write the step in Promela; what the C code reads and changes cannot be known here")],
    ),
    case(
        "a C declaration",
        "c_decl { int x; }\nactive proctype P() { skip }",
        &[error(1, 1, "embedded C code is not supported: `c_decl`")
            .help("write the step in Promela; what the C code reads and changes cannot be known here")],
    ),
    case(
        "C state",
        "c_state \"int x\" \"Global\"\nactive proctype P() { skip }",
        &[error(1, 1, "embedded C code is not supported: `c_state`")
            .help("write the step in Promela; what the C code reads and changes cannot be known here")],
    ),
    case(
        "embedded C and a mistake",
        "c_code { int x; }\nactive proctype P() { y = 1; c_code { x++; } }",
        &[
            error(1, 1, "embedded C code is not supported: `c_code`")
                .help("write the step in Promela; what the C code reads and changes cannot be known here"),
            error(2, 30, "embedded C code is not supported: `c_code`")
                .help("write the step in Promela; what the C code reads and changes cannot be known here"),
        ],
    ),
];

#[test]
fn a_faulty_syntax_is_explained() {
    check_all(SYNTAX);
}

#[test]
fn a_wrong_type_is_explained() {
    check_all(TYPES);
}

#[test]
fn a_wrong_name_is_explained() {
    check_all(NAMES);
}

#[test]
fn a_wrong_number_of_arguments_is_told() {
    check_all(ARITY);
}

#[test]
fn a_misused_construct_is_explained() {
    check_all(MISUSE);
}

#[test]
fn a_faulty_directive_is_explained() {
    check_all(PREPROCESSOR);
}

#[test]
fn an_absurd_size_is_refused() {
    check_all(SIZES);
}

#[test]
fn embedded_c_is_refused() {
    check_all(EMBEDDED_C);
}

/// A model of one process.
fn in_process(before: &str, body: &str) -> String {
    format!("{before}\nactive proctype P() {{ {body} }}")
}

fn repeated(item: &str, separator: &str, times: usize) -> String {
    vec![item; times].join(separator)
}

/// Lines that define each of `B` to `Z` as twice the letter before it.
fn doubled(before: &str, open: &str, call: &str, separator: &str) -> String {
    let line = |letter: u8| {
        let (name, part) = (letter as char, (letter - 1) as char);
        format!("{before}{name}{open}{part}{call}{separator}{part}{call}\n")
    };
    (b'B'..=b'Z').map(line).collect()
}

#[test]
fn an_enormous_text_is_taken_or_refused_at_once() {
    let cases: Vec<(&str, String, Vec<Message<'_>>)> = vec![
        (
            "100000 parentheses",
            format!("byte x;\nactive proctype P() {{ x = {}1{} }}", "(".repeat(100_000), ")".repeat(100_000)),
            vec![error(2, 226, "this is nested more than 200 levels deep")],
        ),
        (
            "100000 negations",
            format!("byte x;\nactive proctype P() {{ x = {}1 }}", "! ".repeat(100_000)),
            vec![error(2, 425, "this is nested more than 200 levels deep")],
        ),
        (
            "300 blocks",
            in_process("", &format!("{}skip{}", "{ ".repeat(300), " }".repeat(300))),
            vec![error(2, 223, "this is nested more than 200 levels deep")],
        ),
        ("60 blocks", in_process("", &format!("{}skip{}", "{ ".repeat(60), " }".repeat(60))), vec![]),
        (
            "300 selections",
            in_process("", &format!("{}skip{}", "if :: ".repeat(300), " fi".repeat(300))),
            vec![error(2, 623, "this is nested more than 200 levels deep")],
        ),
        (
            "10000 terms",
            in_process("int x;", &format!("x = {}", repeated("x", " + ", 10_000))),
            vec![error(2, 27, "this expression has more than 1000 operators in a row")],
        ),
        (
            "10000 conjuncts",
            in_process("int x;", &repeated("x == 0", " && ", 10_000)),
            vec![error(2, 23, "this expression has more than 1000 operators in a row")],
        ),
        (
            "a formula of 10000 terms",
            in_process(&format!("int x; ltl p {{ {} }}", repeated("<> (x == 0)", " && ", 10_000)), "x = 1"),
            vec![error(1, 16, "this expression has more than 1000 operators in a row")],
        ),
        (
            "300 brackets",
            in_process("byte a[2];", &format!("a{}[0]{} = 1", "[a".repeat(300), "]".repeat(300))),
            vec![error(2, 423, "this is nested more than 200 levels deep")],
        ),
        ("10000 statements", in_process("int x;", &repeated("x = 1", "; ", 10_000)), vec![]),
        ("2000 options", in_process("int x;", &format!("if {} fi", repeated(":: x++", " ", 2_000))), vec![]),
        (
            "a macro bomb",
            in_process(&format!("#define A x + x\n{}int x;", doubled("#define ", " ", "", " + ")), "x = Z"),
            vec![error(28, 27, "preprocessing makes more than 4000000 tokens")],
        ),
        (
            "a macro bomb of arguments",
            in_process("#define D(x) x x\nint x;", &format!("{}x{}", "D(".repeat(60), ")".repeat(60))),
            vec![error(3, 103, "preprocessing makes more than 4000000 tokens")],
        ),
        (
            "an inline bomb",
            in_process(
                &format!(
                    "inline A() {{ skip; skip }}\n{}",
                    doubled("inline ", "() { ", "()", "; ").replace('\n', " }\n")
                ),
                "Z()",
            ),
            vec![
                error(8, 14, "inline calls make more than 2000000 tokens")
                    .help("this is read in a call of the inline `H`"),
            ],
        ),
        (
            "300 mtype names",
            in_process(
                &format!("mtype = {{ {} }}", (0..300).map(|i| format!("m{i}")).collect::<Vec<_>>().join(", ")),
                "skip",
            ),
            vec![error(1, 1431, "an mtype can have at most 255 names")],
        ),
    ];
    let wrong: Vec<_> = cases.iter().filter_map(|(name, text, expected)| check(name, text, expected)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
