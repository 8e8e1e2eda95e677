//! SMV models against NuSMV: the models of the project with the answers that NuSMV gave, and random models with those that
//! it gives, if it is installed (`scripts/setup --peers`).

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use ample::{Budget, CheckOptions, Choice, Verdict};
use ample_random::Random;

/// How many specifications are true and false, and how many states are reachable.
type Answers = (usize, usize, u64);

fn by(engine: &'static str) -> CheckOptions {
    let seconds = if engine == "explicit" { 4 } else { 120 };
    let budget = Budget::unlimited().with_time(std::time::Duration::from_secs(seconds));
    CheckOptions { engine: Choice::Named(engine), budget, no_vacuity: true, ..CheckOptions::default() }
}

/// What ample says, by both engines that answer everything; or why it says nothing.
fn answers(name: &str, text: &str) -> Result<Answers, String> {
    let found = answers_by("symbolic", name, text);
    let other = answers_by("explicit", name, text);
    // Explicit search may reach its limit, in the search itself or for a counterexample.
    if found.is_ok() && other.is_ok() && found != other {
        return Err(format!("the engines disagree: symbolic {found:?}, explicit {other:?}"));
    }
    found
}

fn answers_by(engine: &'static str, name: &str, text: &str) -> Result<Answers, String> {
    let model = ample::load_text(name, text.into(), &Default::default()).map_err(|error| error.to_string())?;
    let report = ample::check(&model.system, &by(engine));
    let count = |verdict| report.answers.iter().filter(|answer| answer.verdict() == verdict).count();
    if let Some(unknown) = report.answers.iter().find(|answer| answer.verdict() == Verdict::Unknown) {
        return Err(format!("{}: {:?}", unknown.property, unknown.outcome));
    }
    let states = ample::states(&model.system, &by(engine));
    if let Some(reason) = states.ended {
        return Err(format!("{reason:?}"));
    }
    Ok((count(Verdict::Holds), count(Verdict::Violated), states.statistics.states))
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
    Some((numbers.next()? as usize, numbers.next()? as usize, numbers.next()?))
}

#[test]
fn the_models_have_the_answers_that_nusmv_gave() {
    let mut wrong = Vec::new();
    for path in models() {
        let text = std::fs::read_to_string(&path).expect("a model");
        let expected = stated(&text).expect("the answers of NuSMV in the second line");
        let found = answers(&path.display().to_string(), &text);
        if found != Ok(expected) {
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
        Some(states) => Ok((ends("is true"), ends("is false"), states)),
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
            let line = match self.random.below(5) {
                0 => format!("INVARSPEC {}", self.condition(2)),
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
        match self.random.below(7) {
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
