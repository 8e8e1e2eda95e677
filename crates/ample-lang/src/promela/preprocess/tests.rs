//! What the preprocessor makes of small texts.

use std::collections::HashMap;

use super::{Diagnostic, MemoryLoader, Preprocessed, preprocess};
use crate::diagnostic::Severity;

fn run(text: &str, files: &[(&str, &str)], defines: &[(&str, &str)]) -> Preprocessed {
    let owned = |(a, b): &(&str, &str)| (a.to_string(), b.to_string());
    let mut loader = MemoryLoader { files: files.iter().map(owned).collect::<HashMap<_, _>>() };
    let defines: Vec<_> = defines.iter().map(owned).collect();
    preprocess("main.pml", text.to_owned(), &mut loader, &defines)
}

fn shown(done: &Preprocessed) -> String {
    let spellings: Vec<_> = done.tokens.iter().map(|token| done.symbols.spelling(token.kind)).collect();
    spellings.join(" ").trim_end().to_owned()
}

fn expanded(text: &str) -> String {
    let done = run(text, &[], &[]);
    assert!(done.diagnostics.is_empty(), "{text}: {:?}", done.diagnostics);
    shown(&done)
}

/// The first diagnostic and the text it marks.
fn first(done: &Preprocessed) -> (String, String) {
    let Diagnostic { message, span, .. } = done.diagnostics.first().expect("there is a diagnostic");
    let span = span.expect("it has a place");
    let text = &done.sources[span.source.index()].text;
    (message.clone(), text[span.start as usize..span.end as usize].to_owned())
}

#[test]
fn macros_are_expanded_as_in_c() {
    for (text, expected) in [
        ("#define N 3\nN NN", "3 NN"),
        ("#define A B\n#define B A + 1\nA B", "A + 1 B + 1"),
        ("#define f(x) (x+x)\nf(1) f (2) f", "( 1 + 1 ) ( 2 + 2 ) f"),
        ("#define f(x) x\n#define g f\nf(f(g(7)))", "7"),
        ("#define f(x,y) x y\nf((a,b), c[1])", "( a , b ) c [ 1 ]"),
        ("#define f() 1\nf() f( )", "1 1"),
        ("#define f(x) f(x+1)\nf(1)", "f ( 1 + 1 )"),
        ("#define s(x) #x\ns(a  +\n\"b\\n\")", r#""a + \"b\\n\"""#),
        ("#define p(x,y) x##y\np(a,1) p(,b) p(c,)", "a1 b c"),
        ("#define N 1\n#define p(x) x##N x N\np(N)", "NN 1 1"),
        ("#define v(...) h(__VA_ARGS__)\nv(1, 2) v()", "h ( 1 , 2 ) h ( )"),
        ("#define EMPTY\na EMPTY b", "a b"),
        ("#define X 1\n#undef X\nX", "X"),
        ("#define LONG a \\\n  b\nLONG", "a b"),
        ("#define C /* x\ny */ 5\nC", "5"),
        ("#define str(x) #x\n#define xstr(x) str(x)\n#define N 4\nxstr(N) str(N)", "\"4\" \"N\""),
        ("#define f(a,b) a-b\n#define t f(x\nt,y)", "x - y"),
        ("# 12 \"other\"\n#line 3\n#pragma once\n#ident \"x\"\n#\na", "a"),
        ("for (i : 1..N)\n", "for ( i : 1 .. N )"),
    ] {
        assert_eq!(expanded(text), expected, "{text}");
    }
}

#[test]
fn conditions_choose_as_in_c() {
    for (condition, expected) in [
        ("#if 1", "yes"),
        ("#if 2 * 3 == 6 && !(1 - 1)", "yes"),
        ("#if N > 2", "yes"),
        ("#if UNKNOWN", "no"),
        ("#if defined(N) && defined N && !defined(M)", "yes"),
        ("#if 0 && 1 / 0 || 0x10 == 16 && 010 == 8 && 5UL == 5", "yes"),
        ("#if (1 ? 0 : 2) || ~0 == -1 && (7 & 3 ^ 1 | 4) == 6 && 1 << 3 >> 2 == 2", "yes"),
        ("#if 'a' != 97", "no"),
        ("#ifdef N", "yes"),
        ("#ifndef N", "no"),
        ("#if 0\n#elif N", "yes"),
        ("#if 0\n#if 1\n#else\n#error no\n#endif don't\n#elif 0", "no"),
    ] {
        let text = format!("#define N 3\n{condition}\nyes\n#else\nno\n#endif");
        assert_eq!(expanded(&text), expected, "{condition}");
    }
}

#[test]
fn files_are_included_and_every_token_knows_its_file() {
    let files = [("a.h", "#ifndef A\n#define A\n#include <b.h>\nx\n#include \"a.h\"\n#endif"), ("b.h", "y B")];
    let done = run("#include \"a.h\"\nz", &files, &[("B", "1"), ("F(x)", "x")]);
    assert!(done.diagnostics.is_empty(), "{:?}", done.diagnostics);
    assert_eq!(shown(&done), "y 1 x z");
    let paths: Vec<_> = done.tokens.iter().map(|t| done.sources[t.span.source.index()].path.as_str()).collect();
    assert_eq!(paths, ["b.h", "b.h", "a.h", "main.pml", "main.pml"]);
    assert_eq!(done.sources[0].path, "main.pml");
}

#[test]
fn a_token_from_a_macro_stands_where_the_macro_is_used() {
    let text = "#define f(x) (x + 1)\n  f( 2 ) c";
    let done = run(text, &[], &[]);
    let marked: Vec<_> = done.tokens.iter().map(|t| &text[t.span.start as usize..t.span.end as usize]).collect();
    assert_eq!(marked, ["f( 2 )", "f( 2 )", "f( 2 )", "f( 2 )", "f( 2 )", "c", ""]);
}

#[test]
fn line_ends_are_those_that_the_c_preprocessor_leaves() {
    let text = "#define E\n#define f(x,y) x y\na\nE b\nf(c,\nd) e\nE\ng f\n(h,i) j f(k, E) l";
    let done = run(text, &[], &[]);
    let after_newline = done.tokens.iter().filter(|t| t.newline).map(|t| done.symbols.spelling(t.kind));
    assert_eq!(after_newline.collect::<Vec<_>>().join(" ").trim_end(), "a b c e g j");
}

#[test]
fn an_error_marks_the_text_that_it_is_about() {
    for (text, message, marked) in [
        ("#include \"no.h\"\n", "cannot include `no.h`: there is no such file", "\"no.h\""),
        ("#if 1\na", "this conditional has no `#endif`", "if"),
        ("#endif", "`#endif` without an `#if` before it", "endif"),
        ("#if 1\n#else\n#else\n#endif", "`#else` after `#else`", "else"),
        ("#if 1 +\n#endif", "the condition is incomplete", "if"),
        ("#if 1 / (2 - 2)\n#endif", "division by zero in a condition", "/"),
        ("#if 1 2\n#endif", "expected an operator or the end of the condition, found `2`", "2"),
        ("#error do not\n", "#error do not", "#error do not"),
        ("#defin X\n", "unknown directive `#defin`", "defin"),
        ("#define 3\n", "a macro's name must be an identifier", "3"),
        ("#define f(x\n", "expected `,` or `)` among a macro's parameters", "f"),
        ("#define f(x) x\nf(1, 2)", "macro `f` takes 1 argument, not 2", "f(1, 2)"),
        ("#define f(x) x\nf(1", "the arguments of `f` are not closed", "f"),
        ("#define p(x) x##+\np(a)", "`##` gives `a+`, which is not one token", "p(a)"),
        ("#define N 1\n#define N 2\n", "`N` is defined again, differently", "N"),
        ("#warning old\n", "#warning old", "#warning old"),
    ] {
        assert_eq!(first(&run(text, &[], &[])), (message.to_owned(), marked.to_owned()), "{text}");
    }
}

#[test]
fn files_that_include_others_twice_come_to_an_end() {
    let names: Vec<String> = (0..30).map(|number| format!("{number}.h")).collect();
    let texts: Vec<String> = (1..=30).map(|next| format!("#include \"{next}.h\"\n#include \"{next}.h\"\n")).collect();
    let mut files: Vec<(&str, &str)> = names.iter().map(String::as_str).zip(texts.iter().map(String::as_str)).collect();
    files.push(("30.h", ""));
    let done = run("#include \"0.h\"\n", &files, &[]);
    assert_eq!(first(&done).0, "more than 10000 files are included");
}

#[test]
fn recursion_without_end_is_an_error() {
    let deep_call = format!("#define f(x) x\n{}1{}", "f(".repeat(5000), ")".repeat(5000));
    let doubling = "#include \"self.h\"\n#include \"self.h\"\n";
    let deep_condition = format!("#if {}1\n#endif", "(".repeat(10_000));
    for text in [deep_call.as_str(), doubling, deep_condition.as_str()] {
        let done = run(text, &[("self.h", doubling)], &[]);
        let errors = done.diagnostics.iter().filter(|d| d.severity == Severity::Error).count();
        assert_eq!(errors, 1, "{:?}", done.diagnostics);
    }
}
