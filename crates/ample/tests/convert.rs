//! `ample convert`: a model in another language has as many states as before, and the same answers. Promela is read by
//! our own front end; the language of NuSMV by NuSMV, where it is installed.

mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use ample::{CheckOptions, Property, Question, System, Verdict};
use ample_lang::export::{promela, smv};
use ample_lang::milestones::{self, Model, model::Logic};
use ample_random::Random;
use support::{Folder, command, errors, oracle};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/milestones")
}

fn file(name: &str) -> String {
    std::fs::read_to_string(folder().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn parse(name: &str, text: &str) -> Model {
    milestones::parse(name, text).unwrap_or_else(|rejected| panic!("{rejected}\n{text}"))
}

fn load(name: &str, text: &str) -> System {
    match ample::load_text(name, text.into(), &Default::default()) {
        Ok(loaded) => loaded.system,
        Err(error) => panic!("{error}\n{text}"),
    }
}

fn states(system: &System) -> u64 {
    ample::states(system, &CheckOptions::default()).statistics.states
}

/// The verdicts on what a model states in a logic, in its order: whether it is violated.
fn verdicts(system: &System, logic: Logic) -> Vec<bool> {
    let is_asked = |property: &Property| match logic {
        Logic::Ctl => matches!(property.question, Question::Ctl(_)),
        Logic::Ltl => matches!(property.question, Question::Ltl(_)),
    };
    let asked: Vec<Property> = ample::stated(system).into_iter().filter(is_asked).collect();
    let options = CheckOptions { properties: Some(asked.clone()), ..CheckOptions::default() };
    let report = ample::check(system, &options);
    let verdict = |property: &Property| match report.answer(&property.id()).map(ample::Answer::verdict) {
        Some(Verdict::Holds) => false,
        Some(Verdict::Violated) => true,
        other => panic!("{}: {other:?}", property.id()),
    };
    asked.iter().map(verdict).collect()
}

/// Models that are small enough for everything.
const SMALL: [&str; 7] = [
    "running_example.mil",
    "producers_consumers_1.mil",
    "turntable_1.mil",
    "turntable_2.mil",
    "elevators_small.mil",
    "cash_points_small.mil",
    "cash_points_small_fixed.mil",
];

/// The value behind `expect KEY:` in a model's text.
fn expectations<'a>(text: &'a str, key: &str) -> Vec<&'a str> {
    let lines = text.lines().filter_map(|line| line.trim_start_matches(['-', ' ']).strip_prefix("expect "));
    let named = lines.filter_map(|line| line.split_once(':'));
    named.filter(|(what, _)| what.split(' ').next() == Some(key)).map(|(_, value)| value.trim()).collect()
}

#[test]
fn our_models_have_the_counts_and_verdicts_they_say() {
    for name in SMALL {
        let text = file(name);
        let system = load(name, &text);
        assert_eq!(expectations(&text, "states"), [states(&system).to_string()], "{name}");
        for (key, logic) in [("ctl", Logic::Ctl), ("ltl", Logic::Ltl)] {
            let said: Vec<bool> = expectations(&text, key).iter().map(|word| *word == "violated").collect();
            assert_eq!(said, verdicts(&system, logic), "{name}, {key}");
        }
    }
}

/// Whether there is one more state in Promela: the one in which first values are chosen.
fn chooses(model: &Model) -> bool {
    model.variables.iter().any(|variable| variable.initial.is_none())
}

/// Says what both Promela forms say differently, or nothing.
fn promela_agrees(name: &str, text: &str) {
    let model = parse(name, text);
    let system = load(name, text);
    let (count, ltl) = (states(&system) + u64::from(chooses(&model)), verdicts(&system, Logic::Ltl));
    for promela in [promela::model(&model), promela::processes(&model)] {
        let promela = promela.unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
        // Formulas with X are there for those who know it.
        let translated = load("translated.pml", &format!("#define NXT\n{promela}"));
        assert_eq!(count, states(&translated), "states of {name}\n{text}\n{promela}");
        assert_eq!(ltl, verdicts(&translated, Logic::Ltl), "LTL of {name}\n{text}\n{promela}");
        let deadlock = |system: &System| {
            let options = CheckOptions { properties: Some(vec![Property::deadlock()]), ..CheckOptions::default() };
            ample::check(system, &options).answer("deadlock").map(ample::Answer::verdict)
        };
        assert_eq!(deadlock(&system), deadlock(&translated), "deadlocks of {name}\n{text}\n{promela}");
    }
}

#[test]
fn promela_has_the_same_states_and_verdicts() {
    for name in SMALL {
        promela_agrees(name, &file(name));
    }
}

/// What NuSMV says: the number of states, and which formulas are violated, in the order of the file. It is asked one by
/// one, because by itself it begins with those that depend on few variables.
fn ask_nusmv(nusmv: &Path, folder: &Folder, model: &Model) -> (u64, Vec<bool>) {
    let text = smv::model(model).unwrap_or_else(|error| panic!("{}: {error}", model.name));
    let [file, order, script] = ["model.smv", "model.ord", "script"].map(|name| folder.0.join(name));
    std::fs::write(&file, &text).unwrap();
    std::fs::write(&order, smv::order(model).unwrap()).unwrap();
    let checks: String = (0..model.properties.len()).map(|number| format!("check_property -n {number}\n")).collect();
    std::fs::write(&script, format!("go\nprint_reachable_states\n{checks}quit\n")).unwrap();
    let mut command = Command::new(nusmv);
    command.arg("-dcx").arg("-source").arg(&script).arg("-i").args([&order, &file]);
    let done = command.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    let wrong = || format!("{said}{}\n{text}", String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{}", wrong());
    let count = said.lines().find_map(|line| line.strip_prefix("reachable states: "));
    let count = count.and_then(|rest| rest.split(' ').next()?.parse().ok()).unwrap_or_else(|| panic!("{}", wrong()));
    let answers: Vec<bool> = said
        .lines()
        .filter(|line| line.starts_with("-- specification"))
        .map(|line| line.trim_end().ends_with("is false"))
        .collect();
    assert_eq!(answers.len(), model.properties.len(), "{}", wrong());
    (count, answers)
}

fn nusmv_agrees(nusmv: &Path, folder: &Folder, name: &str, text: &str) {
    let system = load(name, text);
    let (count, answers) = ask_nusmv(nusmv, folder, &parse(name, text));
    assert_eq!(count, states(&system), "states of {name}\n{text}");
    let ours: Vec<bool> = [Logic::Ctl, Logic::Ltl].into_iter().flat_map(|logic| verdicts(&system, logic)).collect();
    assert_eq!(answers, ours, "verdicts of {name}\n{text}");
}

#[test]
fn nusmv_finds_the_same_states_and_verdicts() {
    let Some(nusmv) = oracle::nusmv() else { return };
    let folder = Folder::new("models");
    for name in SMALL {
        nusmv_agrees(&nusmv, &folder, name, &file(name));
    }
}

/// Writes models.
struct Author(Random);

impl Author {
    fn below(&mut self, limit: usize) -> usize {
        self.0.below(limit)
    }

    fn of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        self.0.pick(words)
    }

    fn number(&mut self, variables: &[&str], depth: usize) -> String {
        match self.below(if depth == 0 { 2 } else { 7 }) {
            0 => self.below(6).to_string(),
            1 => self.of(variables).to_owned(),
            2 => format!("({} % {})", self.number(variables, depth - 1), 1 + self.below(4)),
            3 => format!("({} / {})", self.number(variables, depth - 1), 1 + self.below(4)),
            // A constant may not be negative.
            4 => format!("({} - {})", self.of(variables), self.number(variables, depth - 1)),
            _ => {
                let sign = self.of(&["+", "*"]);
                format!("({} {sign} {})", self.number(variables, depth - 1), self.number(variables, depth - 1))
            }
        }
    }

    fn condition(&mut self, variables: &[&str], depth: usize) -> String {
        match self.below(if depth == 0 { 3 } else { 6 }) {
            0..=2 => {
                let sign = self.of(&["=", "!=", "<", "<=", ">", ">="]);
                format!("({} {sign} {})", self.number(variables, depth), self.number(variables, depth))
            }
            3 => format!("!{}", self.condition(variables, depth - 1)),
            _ => {
                let sign = self.of(&["&", "|", "->", "<->"]);
                format!("({} {sign} {})", self.condition(variables, depth - 1), self.condition(variables, depth - 1))
            }
        }
    }

    fn guard(&mut self, variables: &[&str]) -> String {
        if self.below(2) == 0 { "true".into() } else { self.condition(variables, 1) }
    }

    /// Some assignments with distinct targets, which read each other's targets.
    fn assignments(&mut self, targets: &[&str], variables: &[&str]) -> String {
        let chosen: Vec<&str> = targets.iter().copied().filter(|_| self.below(3) > 0).collect();
        chosen.iter().map(|target| format!("{target} := {}; ", self.number(variables, 2))).collect()
    }

    fn formula(&mut self, linear: bool, depth: usize) -> String {
        if depth == 0 {
            return self.condition(&["g", "h"], 0);
        }
        let below = |author: &mut Author| author.formula(linear, depth - 1);
        match (self.below(4), linear) {
            (0, _) => format!("!{}", below(self)),
            (1, _) => format!("({} {} {})", below(self), self.of(&["&", "|", "->"]), below(self)),
            (2, true) => format!("{} {}", self.of(&["G", "F", "X"]), below(self)),
            (_, true) => format!("({} {} {})", below(self), self.of(&["U", "R", "W"]), below(self)),
            (2, false) => format!("{} {}", self.of(&["AG", "AF", "AX", "EG", "EF", "EX"]), below(self)),
            (_, false) => format!("{}[{} U {}]", self.of(&["A", "E"]), below(self), below(self)),
        }
    }

    /// A process type. Several commands may be possible at once, under its own actions and under the shared one.
    fn process(&mut self, name: &str) -> String {
        let mut commands = String::new();
        for _ in 0..2 + self.below(3) {
            let (pc, guard) = (self.below(3), self.guard(&["x", "y", "g"]));
            let effect = self.assignments(&["pc", "x", "y", "g"], &["x", "y", "g", "h", "pc"]);
            commands += &format!("    [{pc}] [{}] {guard} : {effect}\n", self.of(&["one", "two"]));
        }
        for _ in 0..1 + self.below(2) {
            let (pc, guard) = (self.below(3), self.guard(&["x", "y"]));
            let effect = self.assignments(&["x", "y", "pc"], &["x", "y", "pc"]);
            commands += &format!("    [{pc}] [meet] {guard} : {effect}\n");
        }
        let first = if self.below(3) == 0 { "" } else { " := 1" };
        format!(
            "LOCAL {name}\n  ACTIONS one; two; END\n  VARIABLES pc : 2 := 0; x : 1{first}; y : 2 := 2; END\n  \
             CASE\n{commands}  END\n  SYNC meet; END\nEND\n"
        )
    }

    fn model(&mut self) -> String {
        let everything = ["g", "h", "p[0].x", "p[1].y", "q.pc", "q.y"];
        let mut commands = String::new();
        for _ in 0..1 + self.below(2) {
            let (guard, effect) = (self.guard(&everything), self.assignments(&["g", "h"], &everything));
            commands += &format!("    [meet] {guard} : {effect}\n");
        }
        let (guard, effect) = (self.guard(&everything), self.assignments(&["h", "g"], &everything));
        commands += &format!("    [alone] {guard} : {effect}\n");
        let ctl: String = (0..3).map(|_| format!("  {};\n", self.formula(false, 3))).collect();
        let ltl: String = (0..3).map(|_| format!("  {};\n", self.formula(true, 3))).collect();
        let (one, other) = (self.process("P"), self.process("init"));
        format!(
            "ACTIONS meet; alone; END\nVARIABLES g : 2 := 1; h : 3 := 5; END\n{one}{other}GLOBAL\n  \
             PROC p : P[2]; q : init[1]; END\n  CASE\n{commands}  END\nEND\nCTL\n{ctl}END\nLTL\n{ltl}END\n"
        )
    }
}

fn random_models_agree(seeds: std::ops::Range<u64>) {
    let nusmv = oracle::nusmv();
    let folder = Folder::new(&format!("random-{}", seeds.start));
    for seed in seeds {
        let name = format!("seed-{seed}.mil");
        let mut author = Author(Random::new(seed));
        let text = author.model();
        promela_agrees(&name, &text);
        if let Some(nusmv) = &nusmv {
            nusmv_agrees(nusmv, &folder, &name, &text);
        }
    }
}

#[test]
fn random_models_stay_the_same() {
    random_models_agree(0..25);
}

#[test]
#[ignore = "takes minutes"]
fn many_random_models_stay_the_same() {
    random_models_agree(1000..1600);
}

fn ample(words: &[&str]) -> Output {
    command(words).output().unwrap()
}

#[test]
fn the_command_writes_to_standard_output_or_to_files() {
    let folder = Folder::new("command");
    let example = folder_file("running_example.mil");
    let (out, order) = (folder.0.join("out.smv"), folder.0.join("out.ord"));
    let (out, order) = (out.to_str().unwrap(), order.to_str().unwrap());
    for (language, mark) in [("smv", "MODULE main"), ("promela", "init {"), ("promela-processes", "active proctype")] {
        let said = ample(&["convert", &example, "--to", language]);
        assert_eq!(said.status.code(), Some(0), "{}", errors(&said));
        assert!(String::from_utf8_lossy(&said.stdout).contains(mark), "{language}");
    }
    let said = ample(&["convert", &example, "--to", "smv", "-o", out, "--order-file", order]);
    assert_eq!((said.status.code(), said.stdout.len()), (Some(0), 0));
    assert!(std::fs::read_to_string(out).unwrap().contains("MODULE main"));
    let order = std::fs::read_to_string(order).unwrap();
    assert_eq!(order.lines().collect::<Vec<_>>(), ["action", "g", "a_pc", "a_x", "a_z", "b_pc", "b_y"]);
}

#[test]
fn what_cannot_be_converted_is_refused_with_a_sentence() {
    let folder = Folder::new("refused");
    let faulty = folder.0.join("faulty.mil");
    std::fs::write(&faulty, "VARIABLES g : 2 := 9; END").unwrap();
    let divides = folder.0.join("divides.mil");
    std::fs::write(&divides, "ACTIONS a; END VARIABLES g : 2; END MAIN CASE [a] true : g := 3 / g; END END").unwrap();
    let promela = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/promela/peterson.pml");
    let table = [
        (promela.to_str().unwrap(), "only Milestones models are translated into Promela"),
        (divides.to_str().unwrap(), "a division by anything but a constant other than zero cannot be translated"),
        (faulty.to_str().unwrap(), "faulty.mil"),
        ("no-such-file.mil", "cannot read no-such-file.mil"),
    ];
    for (path, sentence) in table {
        let language = if path.ends_with(".pml") { "promela" } else { "smv" };
        let said = ample(&["convert", path, "--to", language]);
        assert_eq!((said.status.code(), said.stdout.len()), (Some(2), 0), "{path}");
        assert!(errors(&said).contains(sentence), "{path}: {}", errors(&said));
    }
    let said = ample(&["convert", &folder_file("running_example.mil"), "--to", "smv", "-o", "/nowhere/at/all.smv"]);
    assert_eq!(said.status.code(), Some(2));
    assert!(errors(&said).contains("cannot write /nowhere/at/all.smv"));
}

fn folder_file(name: &str) -> String {
    folder().join(name).to_str().unwrap().to_owned()
}

/// Formulas with and without X, and a variable without a first value.
const WITH_NEXT: &str = "VARIABLE g:2; h:1:=0; END ACTION up; END MAIN CASE [up] g < 3: g := g + 1; END END
    LTL a: F (g == 3); b: G (g < 3 -> X (g > 0)); c: (g < 3) W (h == 1); d: (h == 0) R (g < 4); END";

#[test]
fn spin_accepts_the_translation() {
    let Some(spin) = oracle::spin() else { return };
    let folder = Folder::new("spin");
    let mut texts: Vec<(String, String)> = SMALL.iter().map(|name| ((*name).to_owned(), file(name))).collect();
    texts.push(("with_next.mil".to_owned(), WITH_NEXT.to_owned()));
    for (name, text) in texts {
        let model = parse(&name, &text);
        for promela in [promela::model(&model), promela::processes(&model)] {
            std::fs::write(folder.0.join("m.pml"), promela.unwrap()).unwrap();
            let output = Command::new(&spin).args(["-a", "m.pml"]).current_dir(&folder.0).output().unwrap();
            assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stdout));
        }
    }
}

#[test]
fn formulas_with_next_are_named_and_kept_for_those_who_know_it() {
    promela_agrees("with_next.mil", WITH_NEXT);
    let model = parse("with_next.mil", WITH_NEXT);
    assert_eq!(promela::with_next(&model), ["b"]);
    let plain = load("translated.pml", &promela::model(&model).unwrap());
    let names: Vec<&str> = plain.properties.iter().map(|property| property.name.as_str()).collect();
    assert_eq!(names, ["a", "c", "d"]);
}

/// What is asked of a model, with the answers.
fn asked(system: &System) -> Vec<(String, Verdict)> {
    let report = ample::check(system, &CheckOptions { no_vacuity: true, ..CheckOptions::default() });
    report.answers.into_iter().map(|answer| (answer.property.to_string(), answer.verdict())).collect()
}

/// The names of the properties in a translation, which stand before them.
fn names_in(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().collect();
    let is_property = |line: &str| ["INVARSPEC ", "LTLSPEC ", "CTLSPEC "].iter().any(|word| line.starts_with(word));
    let pairs = lines.windows(2).filter(|pair| is_property(pair[1]));
    pairs.filter_map(|pair| pair[0].strip_prefix("-- ")).collect()
}

/// Any model, with how many of its properties are in the translations into SMV and AIGER.
const ANY: [(&str, usize, usize); 7] = [
    ("promela/peterson.pml", 5, 2),
    ("promela/dekker.pml", 2, 2),
    ("promela/river_crossing.pml", 5, 2),
    ("promela/philosophers_deadlock.pml", 2, 2),
    ("circuits/traffic.blif", 2, 0),
    ("circuits/fifo.aag", 2, 2),
    ("smv/cache.smv", 5, 1),
];

#[test]
fn any_model_is_translated_bit_by_bit() {
    let folder = Folder::new("bits");
    let nusmv = oracle::nusmv();
    for (model, in_smv, in_aiger) in ANY {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(model);
        let path = path.to_str().unwrap();
        let answers = asked(&ample::load(Path::new(path), &Default::default()).unwrap().system);
        let verdict_of = |name: &str| answers.iter().find(|(other, _)| other == name).map(|(_, verdict)| *verdict);
        let [smv, aig] = ["m.smv", "m.aig"].map(|name| folder.0.join(name));
        let said = ample(&["convert", path, "--to", "smv", "-o", smv.to_str().unwrap()]);
        assert_eq!(said.status.code(), Some(0), "{model}: {}", errors(&said));
        let text = std::fs::read_to_string(&smv).unwrap();
        let translated = ample::load(&smv, &Default::default()).unwrap().system;
        let found: Vec<(&str, Verdict)> =
            names_in(&text).into_iter().zip(asked(&translated).into_iter().map(|(_, verdict)| verdict)).collect();
        let known = found.iter().filter(|(name, verdict)| match verdict_of(name) {
            Some(expected) => {
                assert_eq!(*verdict, expected, "{model}: {name} in SMV");
                true
            }
            None => {
                assert_eq!((*name, *verdict), ("overflow", Verdict::Holds), "{model}");
                false
            }
        });
        assert_eq!(known.count(), in_smv, "{model}: {found:?}");
        if let Some(nusmv) = &nusmv {
            let output = Command::new(nusmv).arg(&smv).output().unwrap();
            let told = String::from_utf8_lossy(&output.stdout).into_owned();
            let holds = found.iter().filter(|(_, verdict)| *verdict == Verdict::Holds).count();
            let is_true = |line: &&str| line.starts_with("-- ") && line.trim_end().ends_with("is true");
            assert_eq!(told.lines().filter(is_true).count(), holds, "{model}: {told}");
        }
        let said = ample(&["convert", path, "--to", "aig", "-o", aig.to_str().unwrap()]);
        assert_eq!(said.status.code(), Some(0), "{model}: {}", errors(&said));
        let mut count = 0;
        for (name, verdict) in asked(&ample::load(&aig, &Default::default()).unwrap().system) {
            let name = name.strip_prefix("invariant:bad:").unwrap_or(&name);
            if let Some(expected) = verdict_of(name).or_else(|| verdict_of(&format!("invariant:bad:{name}"))) {
                assert_eq!(verdict, expected, "{model}: {name} in AIGER");
                count += 1;
            }
        }
        assert_eq!(count, in_aiger, "{model} in AIGER");
    }
}
