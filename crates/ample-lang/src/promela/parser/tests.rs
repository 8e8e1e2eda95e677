//! What the parser makes of small texts, shown in a notation with all parentheses.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::super::ast::*;
use super::super::preprocess::MemoryLoader;
use super::{Parsed, parse};
use crate::diagnostic::{Rejected, Severity};

fn read(text: &str) -> Result<Parsed, Rejected> {
    parse("test.pml", text.to_owned(), &mut MemoryLoader::default(), &[])
}

fn model(text: &str) -> Model {
    match read(text) {
        Ok(parsed) => parsed.model,
        Err(rejected) => panic!("{text}\n{:#?}", rejected.diagnostics),
    }
}

/// The body of an `active proctype P` with this text, after some declarations that the text may use.
fn body(text: &str) -> String {
    const BEFORE: &str = "typedef T { byte f }; inline pair(a, b) { a = b; b = a }
        inline outer(v) { pair(v, y); v++ } inline value(a) { return a + 1 } inline twice(a) { x = a * 2 }";
    let model = model(&format!("{BEFORE} proctype Q() {{ skip }} active proctype P() {{ {text} }}"));
    match model.units.last() {
        Some(Unit::Proctype(proctype)) => statements(&proctype.body),
        other => panic!("{other:?}"),
    }
}

fn errors(text: &str) -> Vec<(String, String)> {
    let Err(rejected) = read(text) else { panic!("accepted: {text}") };
    let marked = rejected.diagnostics.iter().filter(|d| d.severity == Severity::Error).map(|diagnostic| {
        let span = diagnostic.span.expect("an error has a place");
        let source = &rejected.sources[span.source.index()].text;
        (diagnostic.message.clone(), source[span.start as usize..span.end as usize].to_owned())
    });
    marked.collect()
}

fn statements(body: &[Stmt]) -> String {
    body.iter().map(statement).collect::<Vec<_>>().join("; ")
}

fn statement(stmt: &Stmt) -> String {
    let options = |options: &[OptionSequence]| {
        options.iter().map(|option| format!(":: {}", statements(&option.body))).collect::<Vec<_>>().join(" ")
    };
    match &stmt.kind {
        StmtKind::Declaration(d) => declaration(d),
        StmtKind::Exclusive { receive, channels } => {
            let list: Vec<_> = channels.iter().map(variable).collect();
            format!("{} {}", if *receive { "xr" } else { "xs" }, list.join(","))
        }
        StmtKind::Label(name, stmt) => format!("{}: {}", name.text, statement(stmt)),
        StmtKind::Unless(main, escape) => format!("[{} unless {}]", statement(main), statement(escape)),
        StmtKind::Send { channel, args, sorted } => {
            format!("{} {} {}", variable(channel), if *sorted { "!!" } else { "!" }, expressions(args))
        }
        StmtKind::Receive { channel, args, random, keep } => {
            let op = if *random { "??" } else { "?" };
            let args = receive_args(args);
            format!("{} {op} {}", variable(channel), if *keep { format!("<{args}>") } else { args })
        }
        StmtKind::For { var, from, to, body } => {
            format!("for {} {}..{} {{{}}}", variable(var), expression(from), expression(to), statements(body))
        }
        StmtKind::ForIn { var, over, body } => {
            format!("for {} in {} {{{}}}", variable(var), variable(over), statements(body))
        }
        StmtKind::Select { var, from, to, .. } => {
            format!("select {} {}..{}", variable(var), expression(from), expression(to))
        }
        StmtKind::If(list) => format!("if {} fi", options(list)),
        StmtKind::Do(list) => format!("do {} od", options(list)),
        StmtKind::Break => "break".to_owned(),
        StmtKind::Goto(name) => format!("goto {}", name.text),
        StmtKind::New(to, ty, _) => format!("{} = new {ty:?}", variable(to)),
        StmtKind::Call { result, function, args } => {
            let result = result.as_ref().map_or(String::new(), |var| format!("{} = ", variable(var)));
            format!("{result}{}({})", function.text, expressions(args))
        }
        StmtKind::Return(value) => format!("return {}", value.as_ref().map_or(String::new(), expression)),
        StmtKind::Reset(pointer) => format!("reset {}", variable(pointer)),
        StmtKind::Assign(to, value) => format!("{} = {}", variable(to), expression(value)),
        StmtKind::SetPriority(p, n) => format!("set_priority({},{})", expression(p), expression(n)),
        StmtKind::Printf(format, args) => format!("printf({format:?} {})", expressions(args)),
        StmtKind::Printm(value) => format!("printm({})", expression(value)),
        StmtKind::Assert(condition, text) => format!("assert {} `{text}`", expression(condition)),
        StmtKind::Expr(value) => expression(value),
        StmtKind::Else => "else".to_owned(),
        StmtKind::Atomic(body) => format!("atomic {{{}}}", statements(body)),
        StmtKind::DStep(body) => format!("d_step {{{}}}", statements(body)),
        StmtKind::Block(body) => format!("{{{}}}", statements(body)),
    }
}

fn declaration(d: &Declaration) -> String {
    let mut text = match &d.ty {
        TypeName::User(name) => name.text.clone(),
        TypeName::Mtype(Some(name)) => format!("mtype:{}", name.text),
        other => format!("{other:?}"),
    };
    for variable in &d.variables {
        let _ = write!(text, " {}", variable.name.text);
        if let Some((width, _)) = variable.width {
            let _ = write!(text, ":{width}");
        }
        if let Some(length) = &variable.length {
            let _ = write!(text, "[{}]", expression(length));
        }
        match &variable.initial {
            None => {}
            Some(Initializer::Value(value)) => text += &format!("={}", expression(value)),
            Some(Initializer::List(values)) => text += &format!("={{{}}}", expressions(values)),
            Some(Initializer::Channel { capacity, fields, .. }) => {
                text += &format!("=[{}]of{}", expression(capacity), fields.len());
            }
        }
    }
    text
}

fn variable(v: &VarRef) -> String {
    let part = |(name, index): &(Name, Option<Expr>)| match index {
        None => name.text.clone(),
        Some(index) => format!("{}[{}]", name.text, expression(index)),
    };
    v.parts.iter().map(part).collect::<Vec<_>>().join(".")
}

fn expressions(list: &[Expr]) -> String {
    list.iter().map(expression).collect::<Vec<_>>().join(",")
}

fn receive_args(list: &[ReceiveArg]) -> String {
    let arg = |arg: &ReceiveArg| match arg {
        ReceiveArg::Var(v) => variable(v),
        ReceiveArg::Const(value, _) => value.to_string(),
        ReceiveArg::Eval(value) => format!("eval({})", expression(value)),
    };
    list.iter().map(arg).collect::<Vec<_>>().join(",")
}

fn expression(e: &Expr) -> String {
    let process = |name: &Name, index: &Option<Expr>| match index {
        None => name.text.clone(),
        Some(index) => format!("{}[{}]", name.text, expression(index)),
    };
    match &*e.kind {
        ExprKind::Const(value) => value.to_string(),
        ExprKind::Var(v) => variable(v),
        ExprKind::Unary(Unary::Logical(op), a) => format!("({op:?} {})", expression(a)),
        ExprKind::Unary(Unary::Arithmetic(op), a) => format!("({op:?} {})", expression(a)),
        ExprKind::Binary(Binary::Logical(op), a, b) => format!("({} {op:?} {})", expression(a), expression(b)),
        ExprKind::Binary(Binary::Arithmetic(op), a, b) => format!("({} {op:?} {})", expression(a), expression(b)),
        ExprKind::Conditional(c, a, b) => format!("({} -> {} : {})", expression(c), expression(a), expression(b)),
        ExprKind::Run { name, args, priority } => {
            let priority = priority.as_ref().map_or(String::new(), |p| format!(" priority {}", expression(p)));
            format!("run {}({}){priority}", name.text, expressions(args))
        }
        ExprKind::Probe(probe, channel) => format!("{probe:?}({})", variable(channel)),
        ExprKind::Poll { channel, args, random } => {
            format!("{}{}[{}]", variable(channel), if *random { "??" } else { "?" }, receive_args(args))
        }
        ExprKind::Enabled(a) => format!("enabled({})", expression(a)),
        ExprKind::PcValue(a) => format!("pc_value({})", expression(a)),
        ExprKind::GetPriority(a) => format!("get_priority({})", expression(a)),
        ExprKind::Timeout => "timeout".to_owned(),
        ExprKind::NonProgress => "np_".to_owned(),
        ExprKind::RemoteLabel { proctype, index, label } => format!("{}@{}", process(proctype, index), label.text),
        ExprKind::RemoteVar { proctype, index, var } => format!("{}:{}", process(proctype, index), variable(var)),
    }
}

#[test]
fn operators_bind_as_in_spins_table() {
    for (text, expected) in [
        ("a + b * c - d", "((a Add (b Multiply c)) Subtract d)"),
        ("!a == b", "((Not a) Equal b)"),
        ("-a * ~b", "((Negate a) Multiply (Complement b))"),
        ("a | b ^ c & d == e < f << g", "(a BitOr (b BitXor (c BitAnd (d Equal (e Less (f ShiftLeft g))))))"),
        ("a || b && c || d", "((a Or (b And c)) Or d)"),
        ("(a -> b : c) + 1", "((a -> b : c) Add 1)"),
        ("'a' + '\\n' + true + skip - false", "((((97 Add 10) Add 1) Add 1) Subtract 0)"),
        ("010 + 4294967295", "(10 Add -1)"),
        ("len(q) > 2 && nempty(r[1].c) || full(q)", "(((Len(q) Greater 2) And NotEmpty(r[1].c)) Or Full(q))"),
        ("q?[m, 1, -2, eval(x+1)] && r??[_]", "(q?[m,1,-2,eval((x Add 1))] And r??[_])"),
        ("Q[1]@lab && Q@end && Z[_pid]@lab", "((Q[1]@lab And Q@end) And Z[_pid]@lab)"),
        ("Q[1]:v + Q:w[2]", "(Q[1]:v Add Q:w[2])"),
        ("run Q(1, x) priority 3", "run Q(1,x) priority 3"),
        ("enabled(1) && pc_value(2) && get_priority(_pid)", "((enabled(1) And pc_value(2)) And get_priority(_pid))"),
        ("timeout && np_", "(timeout And np_)"),
        ("a.b[c.d[1]].e", "a.b[c.d[1]].e"),
    ] {
        assert_eq!(body(text), expected, "{text}");
    }
}

#[test]
fn statements_of_every_kind_are_read() {
    for (text, expected) in [
        ("x = 1; a[x].f++; x--", "x = 1; a[x].f = (a[x].f Add 1); x = (x Subtract 1)"),
        ("c!1; c!!m(x, 2); c!x,y+1; c!m(1)", "c ! 1; c !! m,x,2; c ! x,(y Add 1); c ! m,1"),
        ("c?x; c??m(x,_); c?(x,y); c?m,-1,eval(x)", "c ? x; c ?? m,x,_; c ? x,y; c ? m,-1,eval(x)"),
        ("c?<x,y>; c??<m(x)>; c?[x]; (c??[x,1])", "c ? <x,y>; c ?? <m,x>; c?[x]; c??[x,1]"),
        ("if :: a -> b :: else fi; do :: c; break od", "if :: a; b :: else fi; do :: c; break od"),
        ("for (i : 1..N) { skip }", "for i 1..N {1}"),
        ("for (i in a.b) { skip; }", "for i in a.b {1}"),
        ("select (i : x .. y + 1)", "select i x..(y Add 1)"),
        ("l: m: x = 1; goto l; end:", "l: m: x = 1; goto l; end: 1"),
        ("l: { a } unless { b }; c", "[l: {a} unless {b}]; c"),
        ("atomic { a; b }; d_step { c }", "atomic {a; b}; d_step {c}"),
        ("assert x == 1; assert( x  &&  y )", "assert (x Equal 1) `x == 1`; assert (x And y) `( x && y )`"),
        (r#"printf("a\n\"%d", x); printf("b"); printm(m)"#, r#"printf("a\n\"%d" x); printf("b" ); printm(m)"#),
        ("set_priority(_pid, 3); xr c, d; xs e[1]", "set_priority(_pid,3); xr c,d; xs e[1]"),
        ("byte x = 1, y[2] = {1, 2}; unsigned z : 5 = 3", "Byte x=1 y[2]={1,2}; Unsigned z:5=3"),
        ("chan c[2] = [N + 1] of { byte, T, mtype:s }", "Chan c[2]=[(N Add 1)]of3"),
        ("chan c = [1] of { byte }, d; T t; mtype:s m; hidden bit b", "Chan c=[1]of1 d; T t; mtype:s m; Bit b"),
    ] {
        assert_eq!(body(text), expected, "{text}");
    }
}

#[test]
fn semicolons_are_implied_where_spin_implies_them() {
    for (text, expected) in [
        ("x = 1\ny = 2", "x = 1; y = 2"),
        ("a\n-b", "a; (Negate b)"),
        ("a -\nb", "(a Subtract b)"),
        ("(a\n-b)", "(a Subtract b)"),
        ("c\n!x", "c; (Not x)"),
        ("c!x\n(y)", "c ! x; y"),
        ("c?x\n(y)", "c ? x; y"),
        ("a\n&& b", "(a And b)"),
        ("if :: a /*\n*/ -b fi", "if :: a; (Negate b) fi"),
        ("{ a } b", "{a}; b"),
        ("{ a }\nunless { b }", "[{a} unless {b}]"),
        ("if :: a :: else x = 1 fi", "if :: a :: else; x = 1 fi"),
        ("if :: a;; -> b; ; fi", "if :: a; b fi"),
        ("pair(x, y) a", "{x = y; y = x}; a"),
        ("timeout\n(x)", "timeout; x"),
        ("for (i : 0 .. 1)\n{ skip }", "for i 0..1 {1}"),
    ] {
        assert_eq!(body(text), expected, "{text}");
    }
    for text in ["if :: a fi x = 2", "a b", "x = 1 c!2", "; a"] {
        assert!(read(&format!("init {{ {text} }}")).is_err(), "{text}");
    }
}

#[test]
fn inline_calls_are_read_in_place_with_their_arguments() {
    for (text, expected) in [
        ("pair(x[1], y.f)", "{x[1] = y.f; y.f = x[1]}"),
        ("outer(z)", "{{z = y; y = z}; z = (z Add 1)}"),
        ("r = value(2)", "{r = (2 Add 1)}"),
        ("twice(a + b)", "{x = (a Add (b Multiply 2))}"),
        ("if :: pair(b, a) :: else fi", "if :: {b = a; a = b} :: else fi"),
    ] {
        assert_eq!(body(text), expected, "{text}");
    }
}

#[test]
fn every_inline_call_has_its_own_number() {
    let model = model("inline g() { skip } inline f() { g(); x = 1 } init { f(); f(); skip }");
    let Some(Unit::Init(init)) = model.units.last() else { panic!() };
    let numbers = |stmt: &Stmt| match &stmt.kind {
        StmtKind::Block(body) => body.iter().map(|stmt| stmt.inline).collect::<Vec<_>>(),
        _ => Vec::new(),
    };
    assert_eq!(init.body.iter().map(|stmt| stmt.inline).collect::<Vec<_>>(), [1, 3, 0]);
    assert_eq!(init.body.iter().map(numbers).collect::<Vec<_>>(), [vec![2, 1], vec![4, 3], vec![]]);
}

#[test]
fn a_statement_of_an_inline_stands_in_the_inlines_body() {
    let text = "inline f(v) { v = v + 1 } byte x; init { f(x) }";
    let parsed = read(text).expect("the model is right");
    let Some(Unit::Init(init)) = parsed.model.units.last() else { panic!() };
    let StmtKind::Block(body) = &init.body[0].kind else { panic!() };
    let shown = |span: ample_model::Span| &text[span.start as usize..span.end as usize];
    let StmtKind::Assign(variable, sum) = &body[0].kind else { panic!() };
    let spans = [init.body[0].span, body[0].span, variable.span, sum.span];
    assert_eq!(spans.map(shown), ["f(x)", "v = v + 1", "x", "v + 1"]);
}

#[test]
fn formulas_bind_as_in_spins_table() {
    for (text, expected) in [
        ("[] p U q", "((Globally p) Until q)"),
        ("[]<>!p -> <>[]q -> r", "(((Globally (Finally (Not p))) Implies (Finally (Globally q))) Implies r)"),
        ("p U q W r V s", "(((p Until q) WeakUntil r) Release s)"),
        ("p && q U r || s", "((p And (q Until r)) Or s)"),
        ("p <-> X q", "(p Iff (Next q))"),
        ("always (x < -1 implies eventually y == 2)", "(Globally ((x Less (Negate 1)) Implies ((Finally y) Equal 2)))"),
        ("next p until q equivalent r release s", "(((Next p) Until q) Iff (r Release s))"),
        ("[] (P[0]@cs -> P[0]:x > 0 && P:y)", "(Globally (P[0]@cs Implies ((P[0]:x Greater 0) And P:y)))"),
    ] {
        let model = model(&format!("ltl f {{ {text} }} proctype P() {{ skip }}"));
        let Some(Unit::Ltl { formula, text: shown, .. }) = model.units.first() else { panic!() };
        assert_eq!((expression(formula).as_str(), shown.as_str()), (expected, text));
    }
}

#[test]
fn units_of_every_kind_are_read() {
    let model = model(
        "typedef R { bit r }\ntypedef T { byte a, b; R c\n unsigned d : 3; }
         mtype = { a b, c } mtype:s = { d };
         active [2] proctype P(byte a, b; chan c; T t) priority 4 provided (x > 0) { skip };
         D_proctype D() { skip } init priority 2 { skip } never { skip } never named { skip }
         trace { c!1; c?2 } notrace { c!1 } ltl { [] x } ltl l { <> x; } hidden byte z = 1 int y;",
    );
    let shown: Vec<String> = model.units.iter().map(unit).collect();
    let expected = [
        "typedef R Bit r",
        "typedef T Byte a b|R c|Unsigned d:3",
        "mtype a,b,c",
        "mtype s d",
        "proctype P 2 (Byte a b|Chan c|T t) 4 (x Greater 0)",
        "proctype D",
        "init 2",
        "never never_0",
        "never named",
        "trace false 2",
        "trace true 1",
        "ltl ltl_0",
        "ltl l",
        "Byte z=1",
        "Int y",
    ];
    assert_eq!(shown, expected);
}

fn unit(unit: &Unit) -> String {
    let list = |declarations: &[Declaration]| declarations.iter().map(declaration).collect::<Vec<_>>().join("|");
    let or_nothing = |e: &Option<Expr>| e.as_ref().map_or(String::new(), |e| format!(" {}", expression(e)));
    match unit {
        Unit::Proctype(p) => {
            let parameters =
                if p.parameters.is_empty() { String::new() } else { format!(" ({})", list(&p.parameters)) };
            let (active, priority) = (or_nothing(&p.active), or_nothing(&p.priority));
            format!("proctype {}{active}{parameters}{priority}{}", p.name.text, or_nothing(&p.provided))
        }
        Unit::Init(p) => format!("init{}", or_nothing(&p.priority)),
        Unit::Never(p) => format!("never {}", p.name.text),
        Unit::Trace { negated, body, .. } => format!("trace {negated} {}", body.len()),
        Unit::Ltl { name, .. } => format!("ltl {}", name.text),
        Unit::Declaration(d) => declaration(d),
        Unit::Typedef { name, fields } => format!("typedef {} {}", name.text, list(fields)),
        Unit::Function(function) => format!("function {} {}", function.name.text, statements(&function.body)),
        Unit::Mtype { subtype, names } => {
            let subtype = subtype.as_ref().map_or(String::new(), |name| format!(" {}", name.text));
            let names: Vec<_> = names.iter().map(|name| name.text.as_str()).collect();
            format!("mtype{subtype} {}", names.join(","))
        }
    }
}

#[test]
fn an_error_says_what_was_found_where_and_what_was_expected() {
    for (text, message, marked) in [
        ("init { x = }", "expected an expression, found `}`", "}"),
        ("init { x y }", "`x` is not a type", "x"),
        ("init { }", "expected a statement, found `}`", "}"),
        ("init { if :: a od }", "expected `::` or the `fi` of `if`, found `od`", "od"),
        ("init { a; b", "expected `}`, found the end of the file", ""),
        ("init { a b = 1 }", "`a` is not a type", "a"),
        ("init { a = 1 b = 1 }", "expected `;` or `->` between two statements, found `b`", "b"),
        ("proctype P(byte a, byte b) { skip }", "expected the name of a variable, found a type", "byte"),
        ("init { P() } proctype P() { skip }", "`P` is not an inline", "P"),
        ("inline f(a) { skip } init { f(1, 2) }", "the inline `f` takes 1 argument, not 2", "(1, 2)"),
        ("inline f() { g() } inline g() { f() } init { f() }", "the inline `f` calls itself", "f"),
        ("inline f() { return 1 } init { f() }", "there is nothing to return to", "return"),
        ("init { x = 0x1F }", "`0x1F` is not a number of Promela", "0x1F"),
        ("init { printf(\"a) }", "this string is not closed on its line", "\""),
        ("init { x = 'ab' }", "a character constant is one ASCII character in quotes", "'ab'"),
        ("init { x = 1 $ }", "the character `$` is not used in Promela", "$"),
        ("init { skip } /* open", "this comment is not closed", "/*"),
        ("init { l: byte x }", "the label `l` stands before a declaration", "l"),
        ("init { c_code { x = 1; } skip }", "embedded C code is not supported: `c_code`", "c_code"),
        ("c_decl { int x; }; init { c_expr { x } -> skip }", "embedded C code is not supported: `c_decl`", "c_decl"),
        ("c_state \"int x\" \"Global\" init { skip }", "embedded C code is not supported: `c_state`", "c_state"),
        ("#define M )\ninit { x = (1 M M }", "expected `;` or `->` between two statements, found `)`", "M"),
        ("foo x; init { skip } typedef foo { byte a }", "`foo` is not a type", "foo"),
    ] {
        let first = errors(text).into_iter().next();
        assert_eq!(first, Some((message.to_owned(), marked.to_owned())), "{text}");
    }
}

#[test]
fn every_faulty_unit_is_reported_once() {
    let text = "byte = 1; byte y; proctype P( { x = ; y } proctype Q() { x = ; y = ; } init { c_code { a } x = ; }";
    let found: Vec<String> = errors(text).into_iter().map(|(message, _)| message).collect();
    assert_eq!(found.len(), 5, "{found:#?}");
    let many = "init { x = } ".repeat(50);
    assert_eq!(errors(&many).len(), 20);
}

#[test]
fn nesting_and_long_chains_are_bounded() {
    let deep = |open: &str, inner: &str, close: &str, n: usize| {
        format!("init {{ {}{inner}{} }}", open.repeat(n), close.repeat(n))
    };
    for text in [
        deep("(", "x", ")", 10_000),
        deep("!", "x", "", 10_000),
        deep("{", "x", "}", 10_000),
        deep("if :: ", "x", " fi", 10_000),
        deep("l: ", "x", "", 10_000),
        deep("a[", "x", "]", 10_000),
        deep("x + ", "x", "", 10_000),
        deep("c?a(", "x", ")", 10_000),
        format!("ltl {{ {} p }}", "[]".repeat(10_000)),
    ] {
        assert_eq!(errors(&text).len(), 1);
    }
    assert!(read(&deep("(", "x", ")", 90)).is_ok());
    assert!(read(&deep("x || ", "x", "", 900)).is_ok());
}

#[test]
fn a_short_text_cannot_grow_without_bound() {
    let mut inlines = "inline f0() { skip; skip }".to_owned();
    let mut macros = "#define m0 x x\n".to_owned();
    for i in 1..60 {
        let _ = write!(inlines, " inline f{i}() {{ f{0}(); f{0}() }}", i - 1);
        let _ = writeln!(macros, "#define m{i} m{0} m{0}", i - 1);
    }
    assert_eq!(errors(&format!("{inlines} init {{ f59() }}")).len(), 1);
    assert_eq!(errors(&format!("{macros} init {{ m59 }}")).len(), 1);
}

const SAMPLE: &str = r#"
#define N 3
#define ACQUIRE(x) atomic { (x == 0) -> x = 1 }
#if N > 2 && !defined(Q)
mtype = { req, ack };
#else
mtype = { other };
#endif
typedef T { byte a[N]; chan c };
chan q[2] = [N] of { mtype, byte };
inline step(v, d) { v = v + d; assert(v >= 0) }
byte lock, x;
active [N] proctype P(byte k; chan c) provided (x < 5) {
    T t; int i = 'a';
start:
    do
    :: q[0]?req(i) -> q[1]!ack(i + 1); step(i, -1)
    :: q[0]??[ack, _] && len(q[1]) < N -> ACQUIRE(lock); x = (i > 0 -> 1 : 2)
    :: else { goto start } unless { timeout }
    od
    for (i : 0 .. N - 1) { t.a[i]++ }
    select (i : 1..3); printf("%d\n", i)
}
ltl safe { [] (P[0]@start -> <> (x U !lock)) }
init { run P(1, q[0]); d_step { x = 1; lock = 0 } }
"#;

#[test]
fn no_truncated_model_makes_the_parser_panic() {
    assert!(read(SAMPLE).is_ok());
    for end in 0..SAMPLE.len() {
        let _ = read(&SAMPLE[..end]);
        let _ = read(&SAMPLE[end..]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_mutated_model_makes_the_parser_panic(
        edits in prop::collection::vec((0..SAMPLE.len(), 0..SAMPLE.len(), 0..40_usize, any::<bool>()), 1..8)
    ) {
        let mut text = SAMPLE.to_owned();
        for (at, from, length, replace) in edits {
            let at = at.min(text.len());
            let piece = &SAMPLE[from..(from + length).min(SAMPLE.len())];
            let end = if replace { (at + length).min(text.len()) } else { at };
            text.replace_range(at..end, piece);
        }
        let _ = read(&text);
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in r#"([a-z0-9 #\n\\"'(){};:!?<>*/.,=-]|#define |inline |proctype |é){0,60}"#) {
        let _ = read(&text);
    }
}
