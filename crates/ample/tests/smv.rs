//! SMV models against NuSMV: the models of the project with the answers that NuSMV gave, and random models with those that
//! it gives, if it is installed (`scripts/setup --peers`).

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use ample::{Budget, CheckOptions, Choice, Question, Verdict};
use ample_random::Random;

/// How many specifications are true and false, how many states are reachable, and what was computed, in order.
type Answers = (usize, usize, u64, Vec<String>);

fn by(engine: &'static str) -> CheckOptions {
    let seconds = if engine == "explicit" { 4 } else { 120 };
    let budget = Budget::unlimited().with_time(std::time::Duration::from_secs(seconds));
    CheckOptions { engine: Choice::Named(engine), budget, no_vacuity: true, ..CheckOptions::default() }
}

/// What ample says, by both engines that answer everything; or why it says nothing.
fn answers(name: &str, text: &str) -> Result<Answers, String> {
    let found = answers_by("symbolic", name, text);
    let other = answers_by("explicit", name, text);
    // Explicit search may reach its limit, in the search itself or for a counterexample, and computes no distances.
    if let (Ok(found), Ok(other)) = (&found, &other)
        && (found.0, found.1, found.2) != (other.0, other.1, other.2)
    {
        return Err(format!("the engines disagree: symbolic {found:?}, explicit {other:?}"));
    }
    found
}

fn answers_by(engine: &'static str, name: &str, text: &str) -> Result<Answers, String> {
    let model = ample::load_text(name, text.into(), &Default::default()).map_err(|error| error.to_string())?;
    let mut properties = ample::stated(&model.system);
    properties.retain(|property| engine != "explicit" || !matches!(property.question, Question::Distance(_)));
    let report = ample::check(&model.system, &CheckOptions { properties: Some(properties), ..by(engine) });
    let count = |verdict| report.answers.iter().filter(|answer| answer.verdict() == verdict).count();
    if let Some(unknown) = report.answers.iter().find(|answer| answer.verdict() == Verdict::Unknown) {
        return Err(format!("{}: {:?}", unknown.property, unknown.outcome));
    }
    let states = ample::states(&model.system, &by(engine));
    if let Some(reason) = states.ended {
        return Err(format!("{reason:?}"));
    }
    let mut computed: Vec<String> =
        report.answers.iter().filter_map(|answer| Some(answer.length?.to_string())).collect();
    computed.sort();
    Ok((count(Verdict::Holds), count(Verdict::Violated), states.statistics.states, computed))
}

fn models() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/smv");
    let files = std::fs::read_dir(folder).expect("the models").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|ext| ext == "smv")).collect();
    files.sort();
    files
}

/// The second line of a model: `-- NuSMV: 2 true, 1 false, 8 reachable states.`
fn stated(text: &str) -> Option<Answers> {
    let line = text.lines().nth(1)?.strip_prefix("-- NuSMV: ")?;
    let mut numbers = line.split([' ', ',']).filter_map(|word| word.parse::<u64>().ok());
    Some((numbers.next()? as usize, numbers.next()? as usize, numbers.next()?, Vec::new()))
}

#[test]
fn the_models_have_the_answers_that_nusmv_gave() {
    let mut wrong = Vec::new();
    for path in models() {
        let text = std::fs::read_to_string(&path).expect("a model");
        let expected = stated(&text).expect("the answers of NuSMV in the second line");
        let found = answers(&path.display().to_string(), &text);
        if found.as_ref() != Ok(&expected) {
            wrong.push(format!("{}: {found:?}, not {expected:?}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn nusmv() -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))?;
    let path = cache.join("ample/nusmv/NuSMV");
    if path.exists() {
        return Some(path);
    }
    let required = std::env::var("AMPLE_REQUIRE_ORACLES").is_ok_and(|value| value == "1");
    assert!(!required, "NuSMV is not installed; `scripts/setup --peers` installs it");
    println!("skipped: NuSMV is not installed (`scripts/setup --peers`)");
    None
}

/// What NuSMV says of a model; or what it complains of.
fn oracle(program: &Path, text: &str, seed: u64) -> Result<Answers, String> {
    let file = std::env::temp_dir().join(format!("ample-smv-{}-{seed}.smv", std::process::id()));
    std::fs::write(&file, text).expect("a file");
    let output = Command::new(program).arg("-r").arg(&file).output().expect("NuSMV runs");
    let _ = std::fs::remove_file(&file);
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    let ends = |end: &str| {
        let is_answer = |line: &&str| line.starts_with("-- specification") || line.starts_with("-- invariant");
        said.lines().filter(is_answer).filter(|line| line.trim_end().ends_with(end)).count()
    };
    let states = said.lines().find_map(|line| line.strip_prefix("reachable states: ")?.split(' ').next()?.parse().ok());
    match states {
        Some(states) => {
            let result = |line: &str| Some(line.strip_prefix("-- the result of ")?.rsplit_once(" is ")?.1.to_owned());
            let mut computed: Vec<String> = said.lines().filter_map(result).collect();
            computed.sort();
            Ok((ends("is true"), ends("is false"), states, computed))
        }
        None => {
            Err(said.lines().filter(|line| !line.starts_with("***") && !line.is_empty()).collect::<Vec<_>>().join("\n"))
        }
    }
}

#[test]
fn random_models_have_the_answers_of_nusmv() {
    let Some(program) = nusmv() else { return };
    let number = |name: &str, usual: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let (count, first) = (number("AMPLE_MODELS", 40), number("AMPLE_SEED", 1));
    let mut agreed = 0;
    for seed in first..first + count {
        let text = Generator::new(seed).model();
        let (expected, found) = (oracle(&program, &text, seed), answers("random.smv", &text));
        match (&expected, &found) {
            (Ok(expected), Ok(found)) => {
                assert_eq!(found, expected, "AMPLE_SEED={seed} AMPLE_MODELS=1:\n{text}");
                agreed += 1;
            }
            (Err(_), Err(_)) => {}
            _ => panic!("AMPLE_SEED={seed} AMPLE_MODELS=1: NuSMV: {expected:?}, ample: {found:?}\n{text}"),
        }
    }
    assert!(agreed * 2 > count, "only {agreed} of {count} random models were accepted");
}

/// The answers in the order of the text: `T`, `F`, `?`, or the number.
fn told(text: &str) -> String {
    let model = ample::load_text("m.smv", text.into(), &Default::default()).map_err(|error| error.to_string());
    let model = model.unwrap_or_else(|error| panic!("{error}\n{text}"));
    let report = ample::check(&model.system, &by("symbolic"));
    let told = report.answers.iter().map(|answer| match answer.verdict() {
        Verdict::Holds => "T".to_owned(),
        Verdict::Violated => "F".to_owned(),
        Verdict::Computed => answer.length.map_or_else(String::new, |length| length.to_string()),
        Verdict::Unknown => format!("? {:?}", answer.outcome),
    });
    told.collect::<Vec<_>>().join(" ")
}

/// What NuSMV 2.6 says of these.
#[test]
fn constructs_mean_what_they_mean_in_nusmv() {
    let walk = "MODULE main VAR x : 0..7; ASSIGN init(x) := 0; next(x) := x < 7 ? {x, x + 1} : 7;";
    let chain = "MODULE main VAR x : 0..7; INIT x = 1 TRANS x < 5 & next(x) = x + 1";
    let count = "MODULE main VAR x : 0..7; ASSIGN init(x) := 0; next(x) := x < 7 ? x + 1 : 7;";
    let array = "MODULE main VAR a : array 0..2 of boolean; j : 0..3; x : boolean;";
    let psl = "MODULE main VAR a : boolean; b : array 0..1 of boolean; ASSIGN init(a) := TRUE; next(a) := !a; b[0] := a; b[1] := !a;";
    let table: &[(&str, &str, &str)] = &[
        (
            walk,
            "COMPUTE MIN [x = 0, x = 3] COMPUTE MAX [x = 0, x = 3] COMPUTE MIN [x = 3, x = 0]",
            "3 infinity infinity",
        ),
        (
            walk,
            "COMPUTE MIN [FALSE, x = 0] COMPUTE MAX [FALSE, x = 0] COMPUTE MAX [TRUE, FALSE]",
            "infinity undefined undefined",
        ),
        (walk, "COMPUTE MAX [x = 7, x = 7] COMPUTE MIN [x = 1, EX x = 3]", "0 1"),
        (
            count,
            "COMPUTE MIN [x in 1..2, x = 5] COMPUTE MAX [x in 1..2, x = 5] COMPUTE MAX [x in {1, 6}, x = 5]",
            "3 4 infinity",
        ),
        // No run is infinite.
        (
            chain,
            "COMPUTE MIN [x = 1, x = 3] COMPUTE MAX [x = 1, x = 3] COMPUTE MAX [x = 1, x = 7]",
            "infinity 0 undefined",
        ),
        (chain, "INVARSPEC next(x) = x + 1 INVARSPEC next(x) < 5 INVARSPEC x < 5", "T F F"),
        (
            "MODULE main IVAR i : boolean; VAR x : 0..3; INIT x = 0 TRANS i -> x < 3",
            "INVARSPEC i -> x < 3 INVARSPEC i -> x < 2 INVARSPEC i -> next(x) = 0",
            "T F F",
        ),
        (
            count,
            "LTLSPEC H [0, 0] x = 0 LTLSPEC H [0, 1] x = 0 LTLSPEC X H [1, 1] x = 0 LTLSPEC H [0, 2] TRUE",
            "T F T F",
        ),
        (array, "INVARSPEC a[j] & j < 3 -> a[j] INVARSPEC j = 3 | a[j] LTLSPEC G !(a[j] & j = 3 & FALSE)", "T F T"),
        (array, "ASSIGN next(x) := (a[j] | x) & j < 3; SPEC EF x SPEC AG (j = 3 -> AX !x)", "T T"),
        (
            "MODULE m VAR x : boolean; ASSIGN next(x) := !x; MODULE main VAR p : process m; q : process m;",
            "LTLSPEC G (_process_selector_ = p <-> p.running) INVARSPEC _process_selector_ != main",
            "T F",
        ),
        // That there is no run is wrong in the initial state already.
        (count, "SPEC AG (x = 0 -> EX x = 3) SPEC AG (x < 2 -> EG x = 0 | EX x = 5)", "F F"),
        (psl, "PSLSPEC always a -> next !a; PSLSPEC never (a & (next a)); PSLSPEC a until! !a;", "T T T"),
        (psl, "PSLSPEC forall i in {0:1}: always eventually! b[i]; PSLSPEC forall i in {0,1}: b[i];", "T F"),
        (psl, "PSLSPEC a before !a; PSLSPEC AG EF a; PSLSPEC next[2] a; PSLSPEC next_e[1:2] (!a);", "T T T T"),
        ("MODULE main VAR \"a b\" : {\"c.d\", e};", "SPEC AG \"a b\" = \"c.d\" SPEC EF \"a b\" = e", "F T"),
        (
            "MODULE main VAR w : word[40]; v : word[40];",
            "SPEC AG w != 0ud40_6 INVARSPEC w[39:39] = 0ub1_0 | w > 0ud40_6",
            "F T",
        ),
        (
            "MODULE main VAR a : array 0..1 of boolean; b : array 0..1 of boolean; ASSIGN init(a) := b; next(a) := b;",
            "SPEC a[1] = b[1] SPEC AG (b[0] -> AX a[0]) SPEC AG (b[0] -> a[0])",
            "T T F",
        ),
    ];
    for (model, specifications, expected) in table {
        assert_eq!(&told(&format!("{model} {specifications}")), expected, "{specifications}");
    }
}

#[test]
fn deep_expressions_are_checked() {
    for (open, close) in [("x | (", ")"), ("y xor (", ")"), ("case x & y : y; TRUE : ", "; esac")] {
        let deep = format!("{}x{}", open.repeat(2000), close.repeat(2000));
        let text =
            format!("MODULE main VAR x : boolean; y : boolean; ASSIGN next(y) := {deep}; INVARSPEC y | ({deep})");
        for engine in ["symbolic", "bounded"] {
            let model = ample::load_text("m.smv", text.clone(), &Default::default()).expect("a model");
            let report = ample::check(&model.system, &by(engine));
            assert_eq!(report.answers[0].verdict(), Verdict::Violated, "{open} by {engine}");
        }
    }
}

#[test]
fn runs_that_do_not_count_are_reported() {
    for (text, expected) in [
        ("MODULE main VAR x : boolean; TRANS x SPEC EX TRUE", Some("not total")),
        ("MODULE main VAR x : boolean; FAIRNESS FALSE SPEC AG x", Some("no run counts")),
        ("MODULE main VAR x : boolean; TRANS next(x) = x SPEC AG x", None),
    ] {
        let model = ample::load_text("m.smv", text.into(), &Default::default()).expect("a model");
        let report = ample::check(&model.system, &CheckOptions { no_vacuity: false, ..by("symbolic") });
        let warnings = report.answers[0].warnings.join("; ");
        assert!(expected.map_or(warnings.is_empty(), |expected| warnings.contains(expected)), "{text}: {warnings}");
    }
    let text = "MODULE main VAR x : boolean; COMPASSION (x, !x) SPEC AG x";
    let model = ample::load_text("m.smv", text.into(), &Default::default()).expect("a model");
    assert!(model.warnings[0].message.contains("COMPASSION"));
}

/// Makes random models: variables of all types, assignments, constraints, fairness, specifications.
struct Generator {
    random: Random,
    has_inputs: bool,
    has_processes: bool,
}

impl Generator {
    fn new(seed: u64) -> Generator {
        let mut random = Random::new(seed);
        let (has_inputs, has_processes) = (random.below(2) == 0, random.below(4) == 0);
        Generator { random, has_inputs, has_processes }
    }

    fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.random.below(all.len() as u64) as usize]
    }

    fn model(&mut self) -> String {
        let mut text = String::from(
            "MODULE main\nVAR\n  b : boolean;\n  c : boolean;\n  n : 0..3;\n  e : {red, green, 7};\n  w : unsigned word[2];\n",
        );
        text.push_str("  s : signed word[2];\n  a : array 1..2 of boolean;\n  u : cell(b, n);\n");
        if self.has_processes {
            text.push_str("  p : process worker(c);\n  q : process worker(b);\n");
        }
        if self.has_inputs {
            text.push_str("IVAR\n  i : boolean;\n  j : 0..2;\n");
        }
        text.push_str("FROZENVAR\n  z : 0..1;\nDEFINE\n");
        let (d, f) = (self.condition(2), self.number(2));
        let _ = writeln!(text, "  d := {d};\n  f := {f};\n  g := [n, f, 2];");
        text.push_str("ASSIGN\n");
        self.assignments(&mut text);
        for _ in 0..self.random.below(3) {
            let (keyword, condition) = match self.random.below(4) {
                0 => ("INIT", self.condition(2)),
                1 => ("INVAR", format!("{} | {}", self.condition(1), self.condition(1))),
                _ => ("TRANS", format!("{} | next({})", self.condition(2), self.state_condition(1))),
            };
            let _ = writeln!(text, "{keyword} {condition}");
        }
        for _ in 0..self.random.below(3) {
            let condition =
                if self.has_inputs && self.random.below(2) == 0 { self.step_condition() } else { self.condition(1) };
            let _ = writeln!(text, "FAIRNESS {condition}");
        }
        if self.has_processes && self.random.below(2) == 0 {
            text.push_str("FAIRNESS p.running\nFAIRNESS q.running\n");
        }
        self.specifications(&mut text);
        text.push_str("MODULE cell(x, y)\nVAR v : boolean;\nASSIGN next(v) := x xor y > 1;\nDEFINE o := v & x;\n");
        text.push_str("MODULE worker(x)\nVAR k : 0..2;\nASSIGN init(k) := 0; next(k) := (k + 1) mod 3;\n");
        text.push_str("  next(x) := k = 1 ? !x : {TRUE, FALSE};\n");
        text
    }

    fn assignments(&mut self, text: &mut String) {
        // `b` and `c` are assigned by processes, if there are some.
        let mut all = vec![("n", 'n'), ("e", 'e'), ("w", 'w'), ("s", 's'), ("a[1]", 'b')];
        if !self.has_processes {
            all.extend([("b", 'b'), ("c", 'b')]);
        }
        for (name, ty) in all {
            if self.random.below(3) > 0 {
                let value = self.first_value(ty);
                let _ = writeln!(text, "  init({name}) := {value};");
            }
            if self.random.below(4) > 0 {
                let value = self.value(ty, true);
                let _ = writeln!(text, "  next({name}) := {value};");
            }
        }
        if self.random.below(3) == 0 {
            let condition = self.condition(2);
            let _ = writeln!(text, "  a[2] := {};", condition.replace("a[2]", "c").replace("a[n mod 2 + 1]", "c"));
        }
    }

    /// A first value, or a set of them; they do not depend on each other.
    fn first_value(&mut self, ty: char) -> String {
        let plain = match ty {
            'n' => self.pick(&["0", "{1, 3}", "0..2", "z", "z + 1"]),
            'e' => self.pick(&["red", "{red, 7}", "green union 7"]),
            'w' => self.pick(&["0ud2_1", "0ub2_10", "resize(0ud3_5, 2)", "uwconst(3, 2)"]),
            's' => self.pick(&["0sd2_1", "-0sd2_1", "swconst(-2, 2)", "signed(0ud2_3)"]),
            _ => self.pick(&["TRUE", "FALSE", "{TRUE, FALSE}", "z = 1"]),
        };
        if self.random.below(3) > 0 {
            return plain.into();
        }
        let other = match ty {
            'n' => "3",
            'e' => "green",
            'w' => "0ud2_0",
            's' => "0sd2_0",
            _ => "TRUE",
        };
        format!("case z = 0 : {plain}; TRUE : {other}; esac")
    }

    /// A value, or a set of them.
    fn value(&mut self, ty: char, is_next: bool) -> String {
        let plain = |own: &mut Generator| match ty {
            'n' => match own.random.below(4) {
                0 => format!("({}) mod 4", own.number(1).replace('-', "+")),
                1 => "0..2".into(),
                2 => own.pick(&["{0, 3}", "{1, n}", "n", "3 - n", "g[0]"]).into(),
                _ => own.pick(&["0", "1", "2", "3"]).into(),
            },
            'e' => own.pick(&["red", "green", "7", "{red, 7}", "e", "{e, green}"]).into(),
            'w' => own.word(1),
            's' => own.pick(&["s", "-s", "s + s", "signed(w)", "!s", "0sd2_1", "s >> 1", "s * signed(w)"]).into(),
            _ => match own.random.below(4) {
                0 => "{TRUE, FALSE}".into(),
                1 if is_next && own.has_inputs => own.step_condition(),
                _ => own.condition(1),
            },
        };
        if self.random.below(2) == 0 {
            return plain(self);
        }
        let (condition, first, second) = (self.condition(1), plain(self), plain(self));
        format!("case {condition} : {first}; TRUE : {second}; esac")
    }

    fn number(&mut self, depth: u64) -> String {
        if depth == 0 || self.random.below(3) == 0 {
            return self.pick(&["n", "1", "2", "z", "toint(w)", "count(b, c)"]).into();
        }
        let (x, y) = (self.number(depth - 1), self.number(depth - 1));
        match self.random.below(6) {
            0 => format!("({x} + {y})"),
            1 => format!("({x} - {y})"),
            2 => format!("({x} * {y})"),
            3 => format!("({x} / 2)"),
            4 => format!("max({x}, {y})"),
            _ => format!("(b ? {x} : {y})"),
        }
    }

    fn word(&mut self, depth: u64) -> String {
        if depth == 0 || self.random.below(3) == 0 {
            return self.pick(&["w", "0ud2_1", "0ub2_10", "unsigned(s)", "resize(0ud3_5, 2)"]).into();
        }
        let (x, y) = (self.word(depth - 1), self.word(depth - 1));
        match self.random.below(8) {
            0 => format!("({x} + {y})"),
            1 => format!("({x} - {y})"),
            2 => format!("({x} * {y})"),
            3 => format!("({x} & {y})"),
            4 => format!("({x} xor {y})"),
            5 => format!("({x} << 1)"),
            6 => format!("({x} :: {y})[2:1]"),
            _ => format!("!({x})"),
        }
    }

    fn state_condition(&mut self, depth: u64) -> String {
        self.condition(depth)
    }

    fn step_condition(&mut self) -> String {
        let condition = self.condition(1);
        let of_input = self.pick(&["i", "j = 1", "j < n"]);
        match self.random.below(3) {
            0 => of_input.into(),
            1 => format!("({of_input} & {condition})"),
            _ => format!("({of_input} xor {condition})"),
        }
    }

    fn condition(&mut self, depth: u64) -> String {
        if depth == 0 || self.random.below(4) == 0 {
            return self
                .pick(&[
                    "b",
                    "c",
                    "e = red",
                    "e in {green, 7}",
                    "n = 2",
                    "a[1]",
                    "a[2]",
                    "u.o",
                    "z = 1",
                    "n in 1..2",
                    "w = 0ud2_2",
                ])
                .into();
        }
        let (x, y) = (self.condition(depth - 1), self.condition(depth - 1));
        match self.random.below(9) {
            0 => format!("({x} & {y})"),
            1 => format!("({x} | {y})"),
            2 => format!("({x} -> {y})"),
            3 => format!("({x} <-> {y})"),
            4 => format!("!({x})"),
            5 => format!("({} <= {})", self.number(1), self.number(1)),
            6 => format!("({} < {})", self.word(1), self.word(1)),
            7 => "a[n mod 2 + 1]".into(),
            _ => format!("({x} xor {y})"),
        }
    }

    fn specifications(&mut self, text: &mut String) {
        for _ in 0..2 + self.random.below(3) {
            let line = match self.random.below(7) {
                0 => format!("INVARSPEC {}", self.condition(2)),
                5 => {
                    let next = format!("{} -> next({})", self.condition(1), self.condition(1));
                    let of_step = if self.has_inputs { self.step_condition() } else { "TRUE".into() };
                    format!(
                        "INVARSPEC {of_step} -> {}",
                        if self.random.below(2) == 0 { next } else { self.condition(2) }
                    )
                }
                6 => {
                    let which = self.pick(&["MIN", "MAX"]);
                    let (from, to) = (self.condition(1), self.condition(1));
                    format!("COMPUTE {which} [{from}, {to}]")
                }
                1 | 2 => format!("CTLSPEC {}", self.branching(3)),
                _ => format!("LTLSPEC {}", self.linear(3)),
            };
            let _ = writeln!(text, "{line}");
        }
    }

    fn branching(&mut self, depth: u64) -> String {
        if depth == 0 {
            return self.condition(1);
        }
        let (x, y) = (self.branching(depth - 1), self.branching(depth - 1));
        match self.random.below(8) {
            0 => format!("({x} & {y})"),
            1 => format!("({x} -> {y})"),
            2 => format!("!({x})"),
            3 => format!("E [ {x} U {y} ]"),
            4 => format!("A [ {x} U {y} ]"),
            5 => format!("EBF 0..2 ({x})"),
            _ => format!("{} ({x})", self.pick(&["AG", "EG", "AF", "EF", "AX", "EX"])),
        }
    }

    fn linear(&mut self, depth: u64) -> String {
        if depth == 0 {
            let of_step = self.random.below(4) == 0;
            return match of_step {
                true if self.has_inputs => self.step_condition(),
                true if self.has_processes => "p.running".into(),
                _ => self.condition(1),
            };
        }
        let (x, y) = (self.linear(depth - 1), self.linear(depth - 1));
        match self.random.below(8) {
            7 => format!("{} ({x})", self.pick(&["F [0, 2]", "G [1, 2]", "O [1, 2]", "H [0, 1]", "H [1, 2]"])),
            0 => format!("({x} & {y})"),
            1 => format!("({x} -> {y})"),
            2 => format!("(({x}) U ({y}))"),
            3 => format!("(({x}) S ({y}))"),
            4 => format!("(({x}) V ({y}))"),
            5 => format!("{} ({x})", self.pick(&["O", "H", "Y", "Z"])),
            _ => format!("{} ({x})", self.pick(&["G", "F", "X"])),
        }
    }
}
