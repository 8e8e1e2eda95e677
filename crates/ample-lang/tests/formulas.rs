//! Formulas from the command line: what they are read as, and what is said about those that are none.

use ample_lang::promela::{self, preprocess::MemoryLoader};
use ample_lang::{Diagnostic, Rejected};
use ample_logic::{Acceptance, Atoms, Binary, Dialect, Formula, Options, Unary, never, parse, translate};
use ample_model::{BinaryOp, Expr, Pattern, Place, Property, Question, Scope, System, Temporal, UnaryOp};
use ample_random::Random;

const MODEL: &str = r#"
#define big (x > 3)
#define more(n) x > n
mtype = { req, ack };
typedef Pair { byte left; byte right[2] };
byte x, y, count;
bool p, q, r;
bool Gp;
mtype state;
Pair pair;
chan c = [3] of { mtype, byte };
proctype Worker(byte id) {
    byte round;
idle:
    do
    :: x < 5 -> x++
    :: Boss[1]@rest -> critical: x = 0
    :: c ? req(y) -> progress: round++
    od
}
active proctype Boss() { byte z; rest: z = Worker[0]:round; c ! ack(z) }
init { run Worker(1) }
"#;

/// A model whose names look like operators.
const LETTERS: &str = "bool G, U, A, p, q; active proctype F() { always: G = 1 }";

fn system(text: &str) -> System {
    match promela::read("m.pml", text.into(), &mut MemoryLoader::default(), &[]) {
        Ok(lowered) => lowered.system,
        Err(rejected) => panic!("{:#?}", rejected.diagnostics),
    }
}

fn place(place: &Place, of: Option<usize>, system: &System) -> String {
    let variables = match (place.scope, of) {
        (Scope::Local, Some(process)) => &system.processes[process].locals,
        _ => &system.globals,
    };
    let mut text = variables[place.variable.index()].name.clone();
    if place.offset > 0 {
        text += &format!("+{}", place.offset);
    }
    for index in &place.indices {
        text += &format!("[{}]", expr(&index.at, system));
    }
    text
}

/// An expression, with parentheses around everything.
fn expr(e: &Expr, system: &System) -> String {
    let go = |e: &Expr| expr(e, system);
    let of_process = |process: &Option<Box<Expr>>, of: usize| match process {
        Some(process) => format!("{}[{}]", system.processes[of].name, go(process)),
        None => system.processes[of].name.clone(),
    };
    match e {
        Expr::Const(value) => value.to_string(),
        Expr::Read(read) => place(read, None, system),
        Expr::Unary(UnaryOp::Not, x) => format!("!{}", go(x)),
        Expr::Unary(op, x) => format!("{op:?}({})", go(x)),
        Expr::Binary(op, x, y) => {
            let sign = match op {
                BinaryOp::Equal => "==",
                BinaryOp::Less => "<",
                BinaryOp::LessEqual => "<=",
                BinaryOp::Greater => ">",
                BinaryOp::And => "&&",
                BinaryOp::Or => "||",
                BinaryOp::BitAnd => "&",
                BinaryOp::BitOr => "|",
                BinaryOp::Add => "+",
                other => return format!("{other:?}({}, {})", go(x), go(y)),
            };
            format!("({} {sign} {})", go(x), go(y))
        }
        Expr::Cast(_, x) => go(x),
        Expr::Conditional(c, x, y) => format!("({} ? {} : {})", go(c), go(x), go(y)),
        Expr::ProcessCount => "_nr_pr".into(),
        Expr::LastMover => "_last".into(),
        Expr::Timeout => "timeout".into(),
        Expr::NonProgress => "np_".into(),
        Expr::Enabled(x) => format!("enabled({})", go(x)),
        Expr::LocationOf(x) => format!("pc_value({})", go(x)),
        Expr::Priority(x) => format!("get_priority({})", go(x)),
        Expr::Length(x) => format!("len({})", go(x)),
        Expr::Full(x) => format!("full({})", go(x)),
        Expr::At { process, of, locations } => {
            let labels = locations.iter().flat_map(|l| &system.process(*of).locations[l.index()].labels);
            format!("{}@{}", of_process(process, of.index()), labels.cloned().collect::<Vec<_>>().join("/"))
        }
        Expr::Remote { process, of, place: cell } => {
            format!("{}:{}", of_process(process, of.index()), place(cell, Some(of.index()), system))
        }
        Expr::Poll { channel, patterns, anywhere } => {
            let pattern = |pattern: &Pattern| match pattern {
                Pattern::Match(e) => go(e),
                Pattern::Bind(to) => place(to, None, system),
                Pattern::Ignore => "_".into(),
            };
            let patterns: Vec<String> = patterns.iter().map(pattern).collect();
            format!("{}{}[{}]", go(channel), if *anywhere { "??" } else { "?" }, patterns.join(","))
        }
        other => format!("{other:?}"),
    }
}

/// A formula, atoms between braces.
fn shape(temporal: &Temporal, system: &System) -> String {
    part(&temporal.formula, temporal, system)
}

fn part(f: &Formula, temporal: &Temporal, system: &System) -> String {
    let go = |f: &Formula| part(f, temporal, system);
    match f {
        Formula::True => "{1}".into(),
        Formula::False => "{0}".into(),
        Formula::Atom(atom) => format!("{{{}}}", expr(temporal.expr(*atom), system)),
        Formula::Unary(op, x) => {
            let sign = match op {
                Unary::Not => "!",
                Unary::Next => "X",
                Unary::Globally => "G",
                Unary::Finally => "F",
                Unary::All => "A",
                Unary::Exists => "E",
                Unary::Previous => "Y",
                Unary::WeakPrevious => "Z",
                Unary::Once => "O",
                Unary::Historically => "H",
            };
            format!("{sign}{}", go(x))
        }
        Formula::Binary(op, x, y) => {
            let sign = match op {
                Binary::And => "&&",
                Binary::Or => "||",
                Binary::Implies => "->",
                Binary::Iff => "<->",
                Binary::Xor => "xor",
                Binary::Until => "U",
                Binary::WeakUntil => "W",
                Binary::Release => "R",
                Binary::StrongRelease => "M",
                Binary::Since => "S",
                Binary::Triggered => "T",
            };
            format!("({} {sign} {})", go(x), go(y))
        }
    }
}

/// The first error: what it marks, what it says, and the help.
fn complaint(text: &str, rejected: &Rejected) -> String {
    let Diagnostic { message, span, help, .. } = &rejected.diagnostics[0];
    let span = span.expect("an error has a place");
    let marked = &text[span.start as usize..span.end as usize];
    assert_eq!(rejected.sources.len(), 1);
    assert_eq!(rejected.sources[0].text, text);
    match help {
        Some(help) => format!("`{marked}`: {message} ({help})"),
        None => format!("`{marked}`: {message}"),
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Ltl,
    Ctl,
    State,
}

/// What a text is read as, or what is said about it.
fn read(kind: Kind, text: &str, system: &System) -> String {
    let read = match kind {
        Kind::Ltl => promela::ltl(system, text).map(|f| shape(&f, system)),
        Kind::Ctl => promela::ctl(system, text).map(|f| shape(&f, system)),
        Kind::State => promela::expression(system, text).map(|e| expr(&e, system)),
    };
    read.unwrap_or_else(|rejected| complaint(text, &rejected))
}

fn compare(kind: Kind, system: &System, table: &[(&str, &str)]) {
    for (text, expected) in table {
        assert_eq!(read(kind, text, system), *expected, "{text}");
    }
}

/// Formulas of LTL.
const LTL: &[(&str, &str)] = &[
    ("[] (x > 3 -> <> Worker[2]@critical)", "G({(x > 3)} -> F{Worker[2]@critical})"),
    ("G (x > 3 -> F Worker@critical)", "G({(x > 3)} -> F{Worker@critical})"),
    ("always (p implies eventually q)", "G({p} -> F{q})"),
    ("[] p U q", "(G{p} U {q})"),
    ("p U q U r", "(({p} U {q}) U {r})"),
    ("p W q", "({p} W {q})"),
    ("p weakuntil q", "({p} W {q})"),
    ("p V q", "({p} R {q})"),
    ("p R q", "({p} R {q})"),
    ("p release q", "({p} R {q})"),
    ("p M q", "!(!{p} W !{q})"),
    ("p M (q M r)", "!(!{p} W !!(!{q} W !{r}))"),
    ("X p", "X{p}"),
    ("next p", "X{p}"),
    ("XX p", "XX{p}"),
    ("GF p", "GF{p}"),
    ("GFp", "GF{p}"),
    ("Gp", "{Gp}"),
    ("FGq", "FG{q}"),
    ("F Gp", "F{Gp}"),
    ("GF Gp", "GF{Gp}"),
    ("GF(p)", "GF{p}"),
    ("p && q || r", "{((p && q) || r)}"),
    ("p & q", "{(p & q)}"),
    ("x & y", "{(x & y)}"),
    ("p & F q", "({p} && F{q})"),
    ("F p | G q", "(F{p} || G{q})"),
    ("(p & q) U r", "({(p & q)} U {r})"),
    ("p && (F q | r) && q", "(({p} && (F{q} || {r})) && {q})"),
    ("p -> q -> r", "(({p} -> {q}) -> {r})"),
    ("p <-> q", "({p} <-> {q})"),
    ("p equivalent q", "({p} <-> {q})"),
    ("!p U q", "({!p} U {q})"),
    ("TRUE", "{1}"),
    ("FALSE U true", "({0} U {1})"),
    ("false", "{0}"),
    ("1 U 0", "({1} U {0})"),
    ("[] big", "G{(x > 3)}"),
    ("[] (more(2))", "G{(x > 2)}"),
    ("GFbig", "GF{(x > 3)}"),
    ("[] (state == req -> <> (state == ack))", "G({(state == 2)} -> F{(state == 1)})"),
    ("[] (len(c) <= 3)", "G{(len(c) <= 3)}"),
    (
        "[] (empty(c) || nempty(c) && !full(c) && nfull(c))",
        "G{((len(c) == 0) || (((len(c) > 0) && !full(c)) && !full(c)))}",
    ),
    ("<> c?[req]", "F{c?[2]}"),
    ("<> (c?[req, 3] || c??[ack, _])", "F{(c?[2,3] || c??[1,_])}"),
    ("[]<> !np_", "GF{!np_}"),
    ("[] (_last == 1 -> _nr_pr < 3)", "G({(_last == 1)} -> {(_nr_pr < 3)})"),
    ("[] (enabled(1) -> pc_value(1) == 2)", "G({enabled(1)} -> {(pc_value(1) == 2)})"),
    ("<> timeout", "F{timeout}"),
    ("[] (Worker[2]:round + Worker:round < 7)", "G{((Worker[2]:round + Worker:round) < 7)}"),
    ("[] (pair.left < pair.right[1] && pair.right[x] == 0)", "G{((pair < pair+2) && (pair+1[x] == 0))}"),
    ("[] ((p -> x : y) < 3)", "G{((p ? x : y) < 3)}"),
    ("[] (p -> q : r)", "G{(p ? q : r)}"),
    ("'p'", "{1}"),
    ("x < 'p'", "{(x < 112)}"),
    ("x[0]", "{x}"),
    ("[](p) && <>(q)", "(G{p} && F{q})"),
    ("G p -> F q", "(G{p} -> F{q})"),
    ("G !p", "G{!p}"),
    ("XGFp", "XGF{p}"),
    ("p ^ q", "{BitXor(p, q)}"),
    ("99999999999 == x", "{(1215752191 == x)}"),
];

/// What is no formula of LTL: what is marked, what is said, and the help.
const NO_LTL: &[(&str, &str)] = &[
    ("GFGp", "`GFGp`: `GFGp` can be read as `G F Gp` and as `G F G p` (write a blank behind each operator)"),
    (
        "G p & q U r",
        "`G p & q`: `&` beside `U` needs parentheses (`&` binds stronger here, as in Promela, and weaker in other tools)",
    ),
    (
        "p & q U r",
        "`p & q`: `&` beside `U` needs parentheses (`&` binds stronger here, as in Promela, and weaker in other tools)",
    ),
    (
        "F q | r && q",
        "`F q | r`: `|` beside `&&` needs parentheses (`|` binds stronger here, as in Promela, and weaker in other tools)",
    ),
    (
        "[] more(2)",
        "`[] more(2)`: arithmetic on a temporal formula (`[]` binds stronger: put parentheses around all that it speaks of)",
    ),
    (
        "[] (big -> <> more(y))",
        "`<> more(y)`: arithmetic on a temporal formula (`<>` binds stronger: put parentheses around all that it speaks of)",
    ),
    ("[] x > 3", "`[] x > 3`: arithmetic on a temporal formula (`[]` binds stronger than `>`: write `[] (x > 3)`)"),
    ("G x > 3 -> F q", "`G x > 3`: arithmetic on a temporal formula (`G` binds stronger than `>`: write `G (x > 3)`)"),
    ("<> x == y", "`<> x == y`: arithmetic on a temporal formula (`<>` binds stronger than `==`: write `<> (x == y)`)"),
    ("(p -> q) == r", "`(p -> q) == r`: arithmetic on a temporal formula (between formulas, write `<->`)"),
    ("- F p", "`- F p`: arithmetic on a temporal formula"),
    ("A p", "`A`: `A` is a path quantifier, which LTL does not have (a formula of CTL is checked with --ctl)"),
    ("AG p", "`A`: `A` is a path quantifier, which LTL does not have (a formula of CTL is checked with --ctl)"),
    ("E<> p", "`E`: `E` is a path quantifier, which LTL does not have (a formula of CTL is checked with --ctl)"),
    (
        "O p",
        "`O`: `O` is an operator about the past, which is not supported (the operators are `X F G U W R M`, about the future)",
    ),
    (
        "G (p -> O q)",
        "`O`: `O` is an operator about the past, which is not supported (the operators are `X F G U W R M`, about the future)",
    ),
    (
        "p S q",
        "`S`: `S` is an operator about the past, which is not supported (the operators are `X F G U W R M`, about the future)",
    ),
    ("S", "`S`: undeclared variable `S`"),
    ("O", "`O`: undeclared variable `O`"),
    ("G", "``: expected an expression, found the end of the formula"),
    ("[]", "``: expected an expression, found the end of the formula"),
    ("p U", "``: expected an expression, found the end of the formula"),
    ("U p", "`U`: expected an operand, found `U`"),
    ("p q", "`q`: expected an operator or the end of the formula, found `q`"),
    ("(p", "``: expected an operator or `)`, found the end of the formula"),
    ("p)", "`)`: expected an operator or the end of the formula, found `)`"),
    ("(p q)", "`q`: expected an operator or `)`, found `q`"),
    ("x = 3", "`=`: expected an operator or the end of the formula, found `=` (to compare, write `==`)"),
    ("G (x = 3)", "`=`: expected an operator or `)`, found `=` (to compare, write `==`)"),
    ("p and q", "`and`: expected an operator or the end of the formula, found `and` (write `&&`)"),
    ("not p", "`p`: expected an operator or the end of the formula, found `p` (write `!`)"),
    ("G (xx > 3)", "`xx`: undeclared variable `xx`"),
    ("G (y1 > 3)", "`y1`: undeclared variable `y1`"),
    ("G (cuont > 3)", "`cuont`: undeclared variable `cuont` (did you mean `count`?)"),
    ("Wroker[2]@critical", "`Wroker`: there is no proctype `Wroker` (did you mean `Worker`?)"),
    ("Worker[2]@critcal", "`critcal`: there is no label `critcal` in `Worker` (did you mean `critical`?)"),
    ("Worker[2]:ruond", "`ruond`: there is no variable `ruond` in `Worker` (did you mean `round`?)"),
    ("Wroker[2]:round", "`Wroker`: there is no proctype `Wroker` (did you mean `Worker`?)"),
    ("Wroker:round", "`Wroker`: there is no proctype `Wroker` (did you mean `Worker`?)"),
    ("state == reqq", "`reqq`: undeclared variable `reqq` (did you mean `req`?)"),
    ("pair.lefft == 1", "`lefft`: type `Pair` has no field `lefft` (did you mean `left`?)"),
    ("pair.middle == 1", "`middle`: type `Pair` has no field `middle`"),
    ("round > 1", "`round`: undeclared variable `round` (it is a variable of `Worker`: write `Worker[pid]:round`)"),
    (
        "critical",
        "`critical`: undeclared variable `critical` (it is a label of `Worker`: write `Worker[pid]@critical`)",
    ),
    (
        "Worker",
        "`Worker`: undeclared variable `Worker` (it is a process type: write `Worker[pid]@label` or `Worker[pid]:variable`)",
    ),
    ("z == 2", "`z`: undeclared variable `z` (it is a variable of `Boss`: write `Boss[pid]:z`)"),
    ("_pid == 0", "`_pid`: `_pid` has no value in a formula, which belongs to no process"),
    ("Worker[_pid]@critical", "`_pid`: `_pid` has no value in a formula, which belongs to no process"),
    ("run Worker(1)", "`run Worker(1)`: `run` cannot be used outside a proctype"),
    ("x > 0x10", "`0x10`: `0x10` is not a number of Promela (write `16`)"),
    ("p ∧ q", "`∧`: the character `∧` is not used in Promela"),
    ("len(x) == 1", "`x`: `x` is not a channel"),
    ("len(c", "``: expected `)` after the channel, found the end of the formula"),
    ("pair", "`pair`: `Pair` is a record: a field is missing"),
    ("pair.right", "`pair.right`: `right` is an array: an index is missing"),
    ("p; q", "`;`: expected an operator or the end of the formula, found `;`"),
    ("{ p }", "`{`: expected an expression, found `{`"),
    ("c ! 1", "`!`: expected an operator or the end of the formula, found `!`"),
    ("p ->", "``: expected an expression, found the end of the formula"),
    ("more(1", "`more`: the arguments of `more` are not closed"),
    ("more(1, 2)", "`more(1, 2)`: macro `more` takes 1 argument, not 2"),
    ("/* comment", "`/*`: this comment is not closed"),
    ("", "``: expected an expression, found the end of the formula"),
    ("G F", "``: expected an expression, found the end of the formula"),
    ("p U (q", "``: expected an operator or `)`, found the end of the formula"),
    ("Worker[2]@", "``: expected the name of a label, found the end of the formula"),
    ("Worker[]@critical", "`]`: expected an expression, found `]`"),
    ("Worker[2@critical", "`@`: expected `]` after the index, found `@`"),
    ("p xor q", "`xor`: expected an operator or the end of the formula, found `xor`"),
    (
        "p U q & r",
        "`q & r`: `&` beside `U` needs parentheses (`&` binds stronger here, as in Promela, and weaker in other tools)",
    ),
];

/// Formulas of CTL.
const CTL: &[(&str, &str)] = &[
    ("AG (p -> EF q)", "AG({p} -> EF{q})"),
    ("AG EF p", "AGEF{p}"),
    ("AGEF p", "AGEF{p}"),
    ("AGEFp", "AGEF{p}"),
    ("AG p", "AG{p}"),
    ("A G p", "AG{p}"),
    ("A[] p", "AG{p}"),
    ("A [] p", "AG{p}"),
    ("A<> p", "AF{p}"),
    ("A <> p", "AF{p}"),
    ("E[] p", "EG{p}"),
    ("E <> p", "EF{p}"),
    ("EX p", "EX{p}"),
    ("E X p", "EX{p}"),
    ("AX AX p", "AXAX{p}"),
    ("A [ p U q ]", "A({p} U {q})"),
    ("A[p U q]", "A({p} U {q})"),
    ("E [ p W q ]", "E({p} W {q})"),
    ("E (p R q)", "E({p} R {q})"),
    ("A [ p V q ]", "A({p} R {q})"),
    ("A [ p M q ]", "!E(!{p} W !{q})"),
    ("E [ p M q ]", "!A(!{p} W !{q})"),
    ("A [ p until q ]", "A({p} U {q})"),
    ("A [ p && q U r ]", "A({(p && q)} U {r})"),
    ("A [ p -> q U r || p ]", "A(({p} -> {q}) U {(r || p)})"),
    ("A [ p & q U r | p ]", "A({(p & q)} U {(r | p)})"),
    ("A [ E [ p U q ] U AG r ]", "A(E({p} U {q}) U AG{r})"),
    ("A [ G p ]", "AG{p}"),
    ("A ( [] p )", "AG{p}"),
    ("!AG !p", "!AG{!p}"),
    ("AG p && EF q || !EX r", "((AG{p} && EF{q}) || !EX{r})"),
    ("AG p & EF q | EX r", "((AG{p} && EF{q}) || EX{r})"),
    ("AG p -> EF q", "(AG{p} -> EF{q})"),
    ("AG p <-> EF q", "(AG{p} <-> EF{q})"),
    ("p", "{p}"),
    ("x > 3 && y < 2", "{((x > 3) && (y < 2))}"),
    ("AG (x > 3)", "AG{(x > 3)}"),
    ("AG big", "AG{(x > 3)}"),
    ("A always p", "AG{p}"),
    ("E eventually p", "EF{p}"),
];

/// What is no formula of CTL.
const NO_CTL: &[(&str, &str)] = &[
    (
        "A (p & q U r)",
        "`p & q`: `&` beside `U` needs parentheses (`&` binds stronger here, as in Promela, and weaker in other tools)",
    ),
    ("AG x > 3", "`AG x > 3`: arithmetic on a temporal formula (`AG` binds stronger than `>`: write `AG (x > 3)`)"),
    ("G p", "`G`: `G` has no path quantifier (write `AG` or `EG`, or check the formula with --ltl)"),
    ("[] p", "`[]`: `[]` has no path quantifier (write `A[]` or `E[]`, or check the formula with --ltl)"),
    ("AG F p", "`F`: `F` has no path quantifier (write `AF` or `EF`, or check the formula with --ltl)"),
    ("AG <> p", "`<>`: `<>` has no path quantifier (write `A<>` or `E<>`, or check the formula with --ltl)"),
    (
        "p U q",
        "`U`: `U` has no path quantifier (write `A [ f U g ]` or `E [ f U g ]`, or check the formula with --ltl)",
    ),
    (
        "AG (p U q)",
        "`U`: `U` has no path quantifier (write `A [ f U g ]` or `E [ f U g ]`, or check the formula with --ltl)",
    ),
    ("AG (p -> X q)", "`X`: `X` has no path quantifier (write `AX` or `EX`, or check the formula with --ltl)"),
    (
        "A p",
        "`A`: `A` does not stand before a temporal operator (in CTL they come in pairs, as in `AG` or `A [ f U g ]`; other formulas are for --ltl)",
    ),
    (
        "A (p && G q)",
        "`A`: `A` does not stand before a temporal operator (in CTL they come in pairs, as in `AG` or `A [ f U g ]`; other formulas are for --ltl)",
    ),
    (
        "A [ p ]",
        "`A`: `A` does not stand before a temporal operator (in CTL they come in pairs, as in `AG` or `A [ f U g ]`; other formulas are for --ltl)",
    ),
    ("A [ p U q U r ]", "`U`: expected an operator or `]`, found `U`"),
    ("A [ p U q", "``: expected an operator or `]`, found the end of the formula"),
    ("A [ p U ]", "`]`: expected an expression, found `]`"),
    ("A [ U q ]", "`U`: expected an operand, found `U`"),
    ("A", "`A`: undeclared variable `A`"),
    ("AG", "``: expected an expression, found the end of the formula"),
    ("A []", "``: expected an expression, found the end of the formula"),
    (
        "AG O p",
        "`O`: `O` is an operator about the past, which is not supported (the operators are `X F G U W R M`, about the future)",
    ),
    (
        "A [ p S q ]",
        "`S`: `S` is an operator about the past, which is not supported (the operators are `X F G U W R M`, about the future)",
    ),
    (
        "AG (p S q)",
        "`S`: `S` is an operator about the past, which is not supported (the operators are `X F G U W R M`, about the future)",
    ),
    (
        "always p",
        "`always`: `always` has no path quantifier (write `A always` or `E always`, or check the formula with --ltl)",
    ),
    (
        "A A p",
        "`A`: `A` does not stand before a temporal operator (in CTL they come in pairs, as in `AG` or `A [ f U g ]`; other formulas are for --ltl)",
    ),
    (
        "A !G p",
        "`A`: `A` does not stand before a temporal operator (in CTL they come in pairs, as in `AG` or `A [ f U g ]`; other formulas are for --ltl)",
    ),
    ("A (F p U q)", "`F`: `F` has no path quantifier (write `AF` or `EF`, or check the formula with --ltl)"),
    (
        "A [ p U q ] U r",
        "`U`: `U` has no path quantifier (write `A [ f U g ]` or `E [ f U g ]`, or check the formula with --ltl)",
    ),
    ("E [ p q ]", "`q`: expected an operator or `]`, found `q`"),
    ("AG Worker[2]@critcal", "`critcal`: there is no label `critcal` in `Worker` (did you mean `critical`?)"),
];

/// State expressions.
const STATE: &[(&str, &str)] = &[
    ("len(c) <= 3", "(len(c) <= 3)"),
    ("p -> q", "(!p || q)"),
    ("p -> q -> r", "(!(!p || q) || r)"),
    ("p <-> q", "(!p == !q)"),
    ("p implies q", "(!p || q)"),
    ("(p -> x : y) < 3", "((p ? x : y) < 3)"),
    ("x & (p -> q)", "(x && (!p || q))"),
    ("big", "(x > 3)"),
    ("TRUE", "1"),
    ("Worker[0]@idle -> x < 5", "(!Worker[0]@idle || (x < 5))"),
];

/// What is no state expression.
const NO_STATE: &[(&str, &str)] = &[
    ("[] p", "`[]`: a temporal operator can be used only in an ltl formula (a formula of LTL is checked with --ltl)"),
    ("(p U q)", "`U`: a temporal operator can be used only in an ltl formula (a formula of LTL is checked with --ltl)"),
    (
        "p U q",
        "`U`: expected an operator or the end of the formula, found `U` (`U` is a temporal operator, for formulas that are checked with --ltl)",
    ),
    (
        "G p",
        "`p`: expected an operator or the end of the formula, found `p` (`G` is a temporal operator, for formulas that are checked with --ltl)",
    ),
    (
        "GF p",
        "`p`: expected an operator or the end of the formula, found `p` (`GF` is a temporal operator, for formulas that are checked with --ltl)",
    ),
    ("<> p", "`<>`: a temporal operator can be used only in an ltl formula (a formula of LTL is checked with --ltl)"),
    (
        "G (p)",
        "`(`: expected an operator or the end of the formula, found `(` (`G` is a temporal operator, for formulas that are checked with --ltl)",
    ),
    ("x = 3", "`=`: expected an operator or the end of the formula, found `=` (to compare, write `==`)"),
    ("_pid == 1", "`_pid`: `_pid` has no value in a formula, which belongs to no process"),
    ("x > 3 and p", "`and`: expected an operator or the end of the formula, found `and` (write `&&`)"),
    (
        "AG p",
        "`p`: expected an operator or the end of the formula, found `p` (`AG` is a temporal operator, for formulas that are checked with --ltl)",
    ),
    ("F", "`F`: undeclared variable `F`"),
    (
        "(G p)",
        "`p`: expected an operator or `)`, found `p` (`G` is a temporal operator, for formulas that are checked with --ltl)",
    ),
];

/// What is read where names of the model look like operators.
const NAMED: &[(Kind, &str, &str)] = &[
    (Kind::Ltl, "G", "{G}"),
    (
        Kind::Ltl,
        "G p",
        "`p`: expected an operator or the end of the formula, found `p` (`G` is a name of the model and so no operator: write `[]`)",
    ),
    (
        Kind::Ltl,
        "G U p",
        "`U`: expected an operator or the end of the formula, found `U` (`G` is a name of the model and so no operator: write `[]`)",
    ),
    (
        Kind::Ltl,
        "p U q",
        "`U`: expected an operator or the end of the formula, found `U` (`U` is a name of the model and so no operator: write `until`)",
    ),
    (Kind::Ltl, "[] G", "G{G}"),
    (
        Kind::Ltl,
        "F p",
        "`p`: expected an operator or the end of the formula, found `p` (`F` is a name of the model and so no operator: write `<>`)",
    ),
    (Kind::Ltl, "F[0]@always", "{F[0]@always}"),
    (Kind::Ltl, "F[0]@alwys", "`alwys`: there is no label `alwys` in `F` (did you mean `always`?)"),
    (Kind::Ltl, "F@always", "{F@always}"),
    (Kind::Ltl, "<> F@always", "F{F@always}"),
    (Kind::Ltl, "p until U", "({p} U {U})"),
    (Kind::Ltl, "always p", "G{p}"),
    (Kind::Ltl, "GX p", "GX{p}"),
    (
        Kind::Ltl,
        "FG p",
        "`p`: expected an operator or the end of the formula, found `p` (`G` is a name of the model and so no operator: write `[]`)",
    ),
    (Kind::Ltl, "p R q", "({p} R {q})"),
    (
        Kind::Ctl,
        "A [ p U q ]",
        "`U`: expected `]` after the index, found `U` (`A` is a name of the model and so no operator: write `AG`, `AF`, `AX` in one word)",
    ),
    (Kind::Ctl, "AG p", "AG{p}"),
    (
        Kind::Ctl,
        "A G p",
        "`G`: expected an operator or the end of the formula, found `G` (`A` is a name of the model and so no operator: write `AG`, `AF`, `AX` in one word)",
    ),
    (Kind::Ctl, "EG p", "EG{p}"),
    (Kind::Ctl, "E [ p until q ]", "E({p} U {q})"),
    (
        Kind::Ctl,
        "E G",
        "`E`: `E` does not stand before a temporal operator (`G` is a name of the model and so no operator: write `[]`)",
    ),
    (Kind::Ctl, "E [] G", "EG{G}"),
    (Kind::Ltl, "A", "{A}"),
];

#[test]
fn formulas_of_linear_time_are_read() {
    compare(Kind::Ltl, &system(MODEL), LTL);
}

#[test]
fn what_is_no_formula_of_linear_time_is_explained() {
    compare(Kind::Ltl, &system(MODEL), NO_LTL);
}

#[test]
fn formulas_of_branching_time_are_read() {
    compare(Kind::Ctl, &system(MODEL), CTL);
}

#[test]
fn what_is_no_formula_of_branching_time_is_explained() {
    compare(Kind::Ctl, &system(MODEL), NO_CTL);
}

#[test]
fn state_expressions_are_read() {
    compare(Kind::State, &system(MODEL), STATE);
}

#[test]
fn what_is_no_state_expression_is_explained() {
    compare(Kind::State, &system(MODEL), NO_STATE);
}

#[test]
fn a_name_of_the_model_is_never_an_operator() {
    let system = system(LETTERS);
    for (kind, text, expected) in NAMED {
        assert_eq!(read(*kind, text, &system), *expected, "{text}");
    }
}

#[test]
fn a_formula_means_the_same_beside_the_model_as_in_it() {
    let beside = system(MODEL);
    for text in [
        "[] (x > 3 -> <> Worker[2]@critical)",
        "p U q W r V (p && !q) || <> X p",
        "p -> q -> r <-> p",
        "always (p implies eventually big)",
        "[] <> (c?[req, 3] && len(c) < 2 && Worker[1]:round == x && pair.right[y] == state)",
        "[] (state == ack -> (next p) until q release r)",
    ] {
        let within = system(&format!("{MODEL}\nltl f {{ {text} }}"));
        let property = within.properties.iter().find(|property| property.name == "f").expect("the formula is kept");
        let Question::Ltl(expected) = &property.question else { panic!("{property:?}") };
        assert_eq!(promela::ltl(&beside, text).as_ref().ok(), Some(expected), "{text}");
    }
}

#[test]
fn what_is_read_is_a_property_of_the_system() {
    let mut system = system(MODEL);
    system.uses_last = true;
    let formulas = LTL.iter().map(|(text, _)| Question::Ltl(promela::ltl(&system, text).expect("LTL")));
    let branching = CTL.iter().map(|(text, _)| Question::Ctl(promela::ctl(&system, text).expect("CTL")));
    let states = STATE.iter().map(|(text, _)| Question::Invariant(promela::expression(&system, text).expect("state")));
    let questions: Vec<Question> = formulas.chain(branching).chain(states).collect();
    let property = |question| Property { name: "p".into(), question, text: String::new(), span: None };
    system.properties = questions.into_iter().map(property).collect();
    assert_eq!(ample_model::check::check(&system), Ok(()));
}

#[test]
fn macros_from_everywhere_are_known() {
    let files = [("sub/limits.h", "#include \"more.h\"\n#define LIMIT 3"), ("more.h", "#define twice(n) (n + n)")];
    let mut loader = MemoryLoader { files: files.iter().map(|(p, t)| (p.to_string(), t.to_string())).collect() };
    let text = "#include \"sub/limits.h\"\n#define gone 1\n#undef gone\n#ifdef FAST\n#define speed x\n#endif\nbyte x;
        active proctype P() { x = LIMIT }";
    let defines = [("FAST".to_owned(), "1".to_owned()), ("GOAL".to_owned(), "(x == twice(LIMIT))".to_owned())];
    let system = promela::read("m.pml", text.into(), &mut loader, &defines).expect("the model is right").system;
    for (text, expected) in [
        ("<> GOAL", "F{(x == 6)}"),
        ("<> (speed > twice(LIMIT) + FAST)", "F{(x > 7)}"),
        ("FGGOAL", "FG{(x == 6)}"),
        ("<> gone", "`gone`: undeclared variable `gone`"),
    ] {
        assert_eq!(read(Kind::Ltl, text, &system).replace("(3 + 3)", "6"), expected, "{text}");
    }
}

#[test]
fn a_claim_that_the_translator_writes_is_read() {
    let mut atoms = Atoms::new();
    for text in ["!([] (p -> <> q))", "<> [] p", "p U \"x > 3\" && [] q", "true", "false", "X X p"] {
        let formula = parse(text, Dialect::Spin, &mut atoms).expect("a formula");
        let options = Options { acceptance: Acceptance::Buchi, ..Options::default() };
        let automaton = translate(&formula, &atoms, options).expect("small");
        let claim = never::write(&automaton, text, &mut |atom| atoms.label(atom)).expect("accepting states");
        let system = system(&format!("{MODEL}\n{claim}"));
        assert!(system.properties.iter().any(|p| matches!(p.question, Question::Never(_))), "{claim}");
    }
}

#[test]
fn no_depth_is_too_much() {
    let system = system(MODEL);
    let pieces = [
        "(",
        "!",
        "[] ",
        "GF",
        "p U ",
        "p -> ",
        "(p -> ",
        "p && F q || ",
        "A[",
        "AG (",
        "A [ p U ",
        "pair.right[",
        "x + ",
    ];
    for kind in [Kind::Ltl, Kind::Ctl, Kind::State] {
        for piece in pieces {
            for (count, close) in [(50, true), (150, true), (400, true), (900, true), (100_000, false)] {
                let end = if piece.contains('(') {
                    ")"
                } else if piece.contains('[') {
                    "]"
                } else {
                    ""
                };
                let end = if close && piece != "[] " { end.repeat(count) } else { String::new() };
                let _ = read(kind, &format!("{}p{end}", piece.repeat(count)), &system);
            }
        }
    }
    let long = format!("p{}", " && p".repeat(900));
    assert!(promela::ltl(&system, &long).is_ok());
    assert!(promela::ltl(&system, &format!("F p{}", " M F p".repeat(900))).is_ok());
}

#[test]
fn no_soup_of_tokens_makes_a_reader_panic() {
    const TOKENS: &[&str] = &[
        "p",
        "q",
        "x",
        "pair",
        ".left",
        ".right",
        "[",
        "]",
        "(",
        ")",
        "[]",
        "<>",
        "!",
        "&&",
        "||",
        "&",
        "|",
        "->",
        "<->",
        "U",
        "W",
        "R",
        "M",
        "V",
        "X",
        "G",
        "F",
        "A",
        "E",
        "AG",
        "EF",
        "GFp",
        "O",
        "S",
        "T",
        "Worker",
        "@",
        ":",
        "critical",
        "round",
        "c",
        "?[",
        "??[",
        "req",
        "_",
        ",",
        "len(c)",
        "enabled(",
        "1",
        "==",
        "<",
        ">",
        "+",
        "-",
        "~",
        "^",
        "big",
        "more(",
        "always",
        "until",
        "next",
        "TRUE",
        "np_",
        "timeout",
        "_last",
        "run",
        "\"",
        "'",
        "/*",
        "#",
        "\n",
        "\\",
        "é",
        "{",
        "}",
        ";",
        "=",
        "eval(",
        "A [ p U q ]",
        "E (p W q)",
        "skip",
        "if",
    ];
    let systems = [system(MODEL), system(LETTERS)];
    for seed in 0..8_000 {
        let mut random = Random::new(seed);
        let length = 1 + random.below(12);
        let glue = [" ", ""][random.below(2)];
        let words: Vec<&str> = (0..length).map(|_| TOKENS[random.below(TOKENS.len())]).collect();
        let text = words.join(glue);
        for system in &systems {
            for kind in [Kind::Ltl, Kind::Ctl, Kind::State] {
                let _ = std::hint::black_box(read(kind, &text, system));
            }
        }
    }
}
