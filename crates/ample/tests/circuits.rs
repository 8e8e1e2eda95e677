//! Circuits from the file to the verdict. Random circuits are compared with a search of our own over the values of latches and
//! inputs, published ones with the answers of ABC, witnesses with a simulation of the and-inverter graph; and files that are
//! written are compared by ABC with those that were read, where it is installed.

mod support;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use ample::witness_circuits::{self, NoWitness, Numbering};
use ample::{Budget, CheckOptions, Choice, Property, Question, Report, SatLiveness, SatMethod, System, Verdict};
use ample_lang::circuit::quoted;
use ample_lang::export::aig::{Aig, Latch, Reset};
use ample_lang::export::witness::{Status, witness};
use ample_lang::export::{aiger, blif};
use ample_random::Random;
use support::{Folder, ample, code, command, errors, json, model, result, text};

fn load(name: &str, text: &str) -> System {
    match ample::load_text(name, text.to_owned(), &Default::default()) {
        Ok(loaded) => loaded.system,
        Err(error) => panic!("{error}\n{text}"),
    }
}

/// The report of the explicit engine. The symbolic one has the same verdicts.
fn check(system: &System, properties: Option<Vec<Property>>) -> Report {
    let [explicit, symbolic] = ["explicit", "symbolic"].map(|engine| {
        let properties = properties.clone();
        ample::check(system, &CheckOptions { properties, engine: Choice::Named(engine), ..CheckOptions::default() })
    });
    let verdicts = |report: &Report| report.answers.iter().map(ample::Answer::verdict).collect::<Vec<_>>();
    assert_eq!(verdicts(&explicit), verdicts(&symbolic), "explicit, symbolic");
    explicit
}

// A circuit by its graph, cycle by cycle.

fn literal(values: &[bool], literal: u32) -> bool {
    values[(literal / 2) as usize] != (literal % 2 == 1)
}

/// The values of all variables in a cycle.
fn values(aig: &Aig, inputs: &[bool], latches: &[bool]) -> Vec<bool> {
    let mut values = vec![false];
    values.extend_from_slice(inputs);
    values.extend_from_slice(latches);
    for [x, y] in &aig.gates {
        let value = literal(&values, *x) && literal(&values, *y);
        values.push(value);
    }
    values
}

fn next(aig: &Aig, values: &[bool]) -> Vec<bool> {
    aig.latches.iter().map(|latch| literal(values, latch.next)).collect()
}

fn all_flags(count: usize) -> impl Iterator<Item = Vec<bool>> {
    (0..1usize << count).map(move |bits| (0..count).map(|bit| bits >> bit & 1 == 1).collect())
}

fn allowed(aig: &Aig, values: &[bool]) -> bool {
    aig.constraints.iter().all(|one| literal(values, *one))
}

fn starts(aig: &Aig) -> Vec<Vec<bool>> {
    let fits = |flags: &Vec<bool>| {
        aig.latches
            .iter()
            .zip(flags)
            .all(|(latch, flag)| latch.reset == Reset::Any || latch.reset == Reset::Value(*flag))
    };
    all_flags(aig.latches.len()).filter(fits).collect()
}

/// The first cycle in which a literal can be true while the constraints have always held.
fn first_frame(aig: &Aig, bad: u32) -> Option<usize> {
    let mut frontier = starts(aig);
    let mut seen: HashSet<Vec<bool>> = frontier.iter().cloned().collect();
    for frame in 0.. {
        let mut after = Vec::new();
        for (latches, inputs) in frontier.iter().flat_map(|one| all_flags(aig.inputs.len()).map(move |i| (one, i))) {
            let values = values(aig, &inputs, latches);
            if !allowed(aig, &values) {
                continue;
            }
            if literal(&values, bad) {
                return Some(frame);
            }
            let next = next(aig, &values);
            if seen.insert(next.clone()) {
                after.push(next);
            }
        }
        if after.is_empty() {
            return None;
        }
        frontier = after;
    }
    None
}

/// There is a run on which all of these are true again and again.
fn can_repeat(aig: &Aig, literals: &[u32]) -> bool {
    // Cycles of a run that the constraints allow, and which of them follow which.
    let mut cycles: Vec<(Vec<bool>, Vec<bool>)> = Vec::new();
    for latches in all_flags(aig.latches.len()) {
        for inputs in all_flags(aig.inputs.len()) {
            let values = values(aig, &inputs, &latches);
            if allowed(aig, &values) {
                cycles.push((latches.clone(), values));
            }
        }
    }
    let mut by_latches: HashMap<&[bool], Vec<usize>> = HashMap::new();
    for (number, (latches, _)) in cycles.iter().enumerate() {
        by_latches.entry(latches).or_default().push(number);
    }
    let follow = |from: &[usize]| {
        let (mut seen, mut open) = (vec![false; cycles.len()], from.to_vec());
        while let Some(one) = open.pop() {
            let next = next(aig, &cycles[one].1);
            for other in by_latches.get(&next[..]).into_iter().flatten() {
                if !std::mem::replace(&mut seen[*other], true) {
                    open.push(*other);
                }
            }
        }
        seen
    };
    let first: Vec<usize> =
        starts(aig).iter().flat_map(|one| by_latches.get(&one[..]).cloned().unwrap_or_default()).collect();
    let mut reachable = follow(&first);
    first.iter().for_each(|one| reachable[*one] = true);
    let behind: Vec<Vec<bool>> = (0..cycles.len()).map(|one| follow(&[one])).collect();
    (0..cycles.len()).any(|one| {
        let together = |other: usize| behind[one][other] && behind[other][one];
        let has = |wanted: &u32| (0..cycles.len()).any(|other| together(other) && literal(&cycles[other].1, *wanted));
        reachable[one] && behind[one][one] && literals.iter().all(has)
    })
}

fn random_aig(random: &mut Random) -> Aig {
    let mut aig = Aig::default();
    let (inputs, latches, gates) = (random.below(3), 1 + random.below(4), 3 + random.below(20));
    aig.inputs = (0..inputs).map(|number| format!("i{number}")).collect();
    for number in 0..latches {
        let reset = [Reset::Value(false), Reset::Value(false), Reset::Value(true), Reset::Any][random.below(4)];
        aig.latches.push(Latch { name: format!("l{number}"), next: 0, reset });
    }
    for _ in 0..gates {
        let below = 2 * aig.variables() as usize + 2;
        let (x, y) = (random.below(below) as u32, random.below(below) as u32);
        aig.gates.push([x.max(y), x.min(y)]);
    }
    let all = 2 * aig.variables() as usize + 2;
    aig.latches.iter_mut().for_each(|latch| latch.next = random.below(all) as u32);
    let mut some = |most: usize| (0..random.below(most + 1)).map(|_| random.below(all) as u32).collect::<Vec<_>>();
    aig.bad = (0..2).zip(some(2)).map(|(number, one)| (format!("b{number}"), one)).collect();
    aig.constraints = some(2);
    aig.justice = vec![("j0".into(), some(3)), ("j1".into(), some(1))];
    aig
}

/// Goes through a witness with the graph; panics if it is none.
fn follows(aig: &Aig, witness: &str, what: &str) {
    assert!(witness.starts_with("1\n"), "{what}\n{witness}");
    let label = witness.lines().nth(1).expect("a property");
    let mut lines = witness.lines().skip(2);
    let mut flags = |count: usize| {
        let line = lines.next().unwrap_or_else(|| panic!("{what}: it ends early\n{witness}"));
        assert!(line == "." || line.len() == count, "{what}: {line}\n{witness}");
        (line != ".").then(|| line.bytes().map(|digit| digit == b'1').collect::<Vec<bool>>())
    };
    let mut latches = flags(aig.latches.len()).expect("latches");
    assert!(starts(aig).contains(&latches), "{what}: an initial state\n{witness}");
    let mut run: Vec<(Vec<bool>, Vec<bool>)> = Vec::new();
    while let Some(inputs) = flags(aig.inputs.len()) {
        let values = values(aig, &inputs, &latches);
        assert!(allowed(aig, &values), "{what}: a constraint\n{witness}");
        let after = next(aig, &values);
        run.push((std::mem::replace(&mut latches, after), values));
    }
    let number: usize = label[1..].parse().expect("a number");
    if label.starts_with('b') {
        let (_, values) = run.last().expect("a cycle");
        return assert!(literal(values, aig.bad[number].1), "{what}: the bad state\n{witness}");
    }
    // From some cycle on it repeats itself, and everything is true there.
    let repeats = (0..run.len()).any(|begin| {
        let has = |wanted: &u32| run[begin..].iter().any(|(_, values)| literal(values, *wanted));
        run[begin].0 == latches && aig.justice[number].1.iter().all(has)
    });
    assert!(repeats, "{what}: justice\n{witness}");
}

#[test]
fn random_circuits_are_checked_as_a_plain_search_does() {
    let mut counts = [0; 4];
    for seed in 0..250 {
        let aig = random_aig(&mut Random::new(seed));
        let written = aiger::text(&aig);
        let mut system = load("random.aag", &written);
        let properties = system.properties.clone();
        system.keep_inputs(properties.iter().flat_map(Property::expressions));
        let report = check(&system, Some(properties.clone()));
        let what = |property: &Property| format!("seed {seed}, {}\n{written}", property.id());
        for (number, property) in properties.iter().enumerate() {
            let answer = &report.answers[number];
            let (expected, kind) = match number.checked_sub(aig.bad.len()) {
                None => {
                    let frame = first_frame(&aig, aig.bad[number].1);
                    if let (Some(frame), Some(trace)) = (frame, answer.trace()) {
                        assert_eq!(trace.prefix.len(), frame, "{}", what(property));
                    }
                    (frame.is_some(), 0)
                }
                Some(justice) => (can_repeat(&aig, &aig.justice[justice].1), 2),
            };
            let verdict = if expected { Verdict::Violated } else { Verdict::Holds };
            assert_eq!(answer.verdict(), verdict, "{}", what(property));
            counts[kind + usize::from(expected)] += 1;
            if let Some(trace) = answer.trace() {
                let told = witness(&system, &property.id(), Status::Violated(trace)).expect("a run");
                follows(&aig, &told, &what(property));
            }
        }
    }
    assert!(counts.iter().all(|count| *count > 20), "{counts:?}");
}

/// A circuit, and one that does the same beside it, in other gates: signals of the two correspond.
fn doubled(random: &mut Random) -> Aig {
    let mut aig = random_aig(random);
    let (inputs, latches, gates) = (aig.inputs.len() as u32, aig.latches.len() as u32, aig.gates.len() as u32);
    let first_gate = inputs + 2 * latches + 1;
    // Latches come before gates: the numbers of these move.
    let moved = |literal: u32| if literal >> 1 > inputs + latches { literal + 2 * latches } else { literal };
    let copied = |literal: u32| match literal >> 1 {
        variable if variable <= inputs => literal,
        variable if variable <= inputs + latches => literal + 2 * latches,
        variable => 2 * (first_gate + gates + 2 * (variable - inputs - latches - 1) + 1) + (literal & 1),
    };
    let own: Vec<[u32; 2]> = aig.gates.iter().map(|gate| gate.map(moved)).collect();
    let mut copy = Vec::new();
    for [x, y] in &aig.gates {
        // The conjunction of x with the conjunction of both.
        let (x, y) = (copied(*x), copied(*y));
        copy.push([x.max(y), x.min(y)]);
        let both = 2 * (first_gate + gates + copy.len() as u32 - 1);
        copy.push([both.max(x), both.min(x)]);
    }
    let second: Vec<Latch> = aig
        .latches
        .iter()
        .map(|latch| Latch { name: format!("c{}", latch.name), next: copied(latch.next), ..*latch })
        .collect();
    aig.latches.iter_mut().for_each(|latch| latch.next = moved(latch.next));
    aig.bad = aig.bad.iter().map(|(name, bad)| (name.clone(), moved(*bad))).collect();
    aig.constraints.iter_mut().for_each(|literal| *literal = moved(*literal));
    aig.justice.iter_mut().flat_map(|(_, literals)| literals).for_each(|literal| *literal = moved(*literal));
    aig.latches.extend(second);
    aig.gates = own.into_iter().chain(copy).collect();
    // The last gate of one is not that of the other.
    let (one, other) = (2 * (first_gate + gates - 1), 2 * (first_gate + 3 * gates - 1));
    let above = 2 * aig.variables() + 2;
    aig.gates.extend([[other ^ 1, one], [other, one ^ 1], [(above + 2) ^ 1, above ^ 1]]);
    aig.bad.push(("differ".into(), (above + 4) ^ 1));
    aig.justice.clear();
    aig
}

#[test]
fn random_circuits_are_checked_by_sat_solving_as_a_plain_search_does() {
    let (mut counts, mut certified) = ([0; 2], 0);
    for seed in 0..120 {
        let mut random = Random::new(seed);
        let aig = if seed % 3 == 0 { random_aig(&mut random) } else { doubled(&mut random) };
        let written = aiger::text(&aig);
        let mut system = load("random.aag", &written);
        let properties: Vec<Property> = system.properties[..aig.bad.len()].to_vec();
        system.keep_inputs(properties.iter().flat_map(Property::expressions));
        let mut options = CheckOptions {
            properties: Some(properties.clone()),
            engine: Choice::Named("bounded"),
            ..CheckOptions::default()
        };
        options.engines.bounded.method = [SatMethod::Auto, SatMethod::Ic3, SatMethod::Induction][seed as usize % 3];
        let report = ample::check(&system, &options);
        for (number, answer) in report.answers.iter().enumerate() {
            let what = format!("seed {seed}, {}\n{written}", answer.property);
            let frame = first_frame(&aig, aig.bad[number].1);
            let verdict = if frame.is_some() { Verdict::Violated } else { Verdict::Holds };
            assert_eq!(answer.verdict(), verdict, "{answer:?}, {what}");
            counts[usize::from(frame.is_some())] += 1;
            if let Some(trace) = answer.trace() {
                let told = witness(&system, &properties[number].id(), Status::Violated(trace)).expect("a run");
                follows(&aig, &told, &what);
            }
            if let Some(certificate) =
                answer.certificate.as_ref().filter(|text| text.contains("\"inductive invariant\""))
            {
                let plain = load("random.aag", &written);
                is_certified(&plain, &properties[number], &written, certificate)
                    .unwrap_or_else(|why| panic!("{why}, {what}"));
                certified += 1;
            }
        }
    }
    assert!(counts.iter().all(|count| *count > 20) && certified > 20, "{counts:?}, {certified}");
}

/// The witness circuit of a certificate, written, read again and verified; a weaker one is refused.
fn is_certified(system: &System, property: &Property, text: &str, certificate: &str) -> Result<(), NoWitness> {
    let budget = Budget::unlimited();
    let model = witness_circuits::model(system, property, &budget)?;
    let numbering = Numbering::of(&model, text);
    let circuit = witness_circuits::witness_circuit(&model, &numbering, certificate)?;
    let bytes = witness_circuits::written(&circuit, false, "b0", "random.aag");
    let read = load("witness.aag", &String::from_utf8_lossy(&bytes));
    let read = Aig::of(&read, &[], &budget).expect("a circuit");
    witness_circuits::verify(&model, &numbering, &read, &budget)?;
    // Without latches that stand for those of the circuit nothing follows, unless there is nothing bad at all.
    let mut other = read.clone();
    other.bad[0].1 = 0;
    let refused = witness_circuits::verify(&model, &numbering, &other, &budget);
    assert!(matches!(refused, Ok(()) | Err(NoWitness::Wrong("property"))), "{refused:?}");
    let mut other = read;
    other.bad[0].1 = 1;
    let refused = witness_circuits::verify(&model, &numbering, &other, &budget);
    assert!(matches!(refused, Ok(()) | Err(NoWitness::Wrong("base" | "step"))), "{refused:?}");
    Ok(())
}

/// By liveness to safety, by k-liveness and by both: the same verdicts as by a search of the circuit.
#[test]
fn random_justice_is_checked_by_sat_solving_as_a_plain_search_does() {
    let mut counts = [0; 2];
    for seed in 0..90 {
        let aig = random_aig(&mut Random::new(seed));
        let written = aiger::text(&aig);
        let mut system = load("random.aag", &written);
        let properties: Vec<Property> = system.properties[aig.bad.len()..].to_vec();
        system.keep_inputs(properties.iter().flat_map(Property::expressions));
        let mut options = CheckOptions {
            properties: Some(properties.clone()),
            engine: Choice::Named("bounded"),
            ..CheckOptions::default()
        };
        let liveness = [SatLiveness::Auto, SatLiveness::KLiveness, SatLiveness::LivenessToSafety][seed as usize % 3];
        options.engines.bounded.liveness = liveness;
        let report = ample::check(&system, &options);
        for (answer, (_, literals)) in report.answers.iter().zip(&aig.justice) {
            let expected = can_repeat(&aig, literals);
            let verdict = if expected { Verdict::Violated } else { Verdict::Holds };
            assert_eq!(answer.verdict(), verdict, "seed {seed}, {liveness:?}, {answer:?}\n{written}");
            counts[usize::from(expected)] += 1;
        }
    }
    assert!(counts.iter().all(|count| *count > 10), "{counts:?}");
}

fn corpora() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpora");
    if path.join("circuits.csv").exists() {
        return Some(path);
    }
    eprintln!("skipped: there are no circuits at {}", path.display());
    None
}

/// Circuits that are small enough for explicit search.
const SMALL: [&str; 15] = [
    "iscas89/s27.bench",
    "mcnc/a.blif",
    "mcnc/dk16.blif",
    "mcnc/dk27.blif",
    "mcnc/donfile.blif",
    "mcnc/ex2.blif",
    "mcnc/ex4.blif",
    "mcnc/ex5.blif",
    "mcnc/ex6.blif",
    "mcnc/mc.blif",
    "mcnc/modulo12.blif",
    "mcnc/planet.blif",
    "mcnc/shiftreg.blif",
    "mcnc/sse.blif",
    "mcnc/tbk.blif",
];

/// What the table of ABC's answers says about a circuit: a condition, and the first cycle in which it can hold.
fn questions(table: &str, circuit: &str) -> Vec<(String, Option<usize>)> {
    let rows = table.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    let ours = rows.filter(|row| row[0] == circuit);
    let condition = |never: &str| never.split(" && ").map(quoted).collect::<Vec<_>>().join(" && ");
    ours.map(|row| (condition(row[1]), row[3].parse().ok().filter(|_| row[2] == "no"))).collect()
}

#[test]
fn published_circuits_have_the_answers_of_abc() {
    let Some(corpora) = corpora() else { return };
    let table = std::fs::read_to_string(corpora.join("circuits.csv")).expect("a table");
    let mut asked = 0;
    for circuit in SMALL {
        let path = corpora.join("circuits").join(circuit);
        let loaded = ample::load(&path, &Default::default()).expect(circuit);
        let questions = questions(&table, circuit);
        asked += questions.len();
        for (condition, frame) in questions {
            let expr = loaded.expression(&format!("!({condition})")).expect(circuit);
            let question = Question::Invariant(expr);
            let property = Property { name: condition.clone(), question, text: condition.clone(), span: None };
            let report = check(&loaded.system, Some(vec![property]));
            let told = report.answers[0].trace().map(|trace| trace.prefix.len());
            assert_ne!(report.answers[0].verdict(), Verdict::Unknown, "{circuit}: {condition}");
            assert_eq!(told, frame, "{circuit}: {condition}");
        }
    }
    assert!(asked > 150, "{asked} questions");
}

#[test]
fn every_published_circuit_is_read_and_written() {
    let Some(corpora) = corpora() else { return };
    let mut read = 0;
    for folder in ["aiger", "iscas89", "mcnc"] {
        for entry in std::fs::read_dir(corpora.join("circuits").join(folder)).expect("a folder") {
            let path = entry.expect("a file").path();
            let Ok(loaded) = ample::load(&path, &Default::default()) else {
                eprintln!("{} is refused", path.display());
                continue;
            };
            let aig = Aig::of(&loaded.system, &[], &Budget::unlimited()).expect("a circuit");
            let again = load("again.aag", &aiger::text(&aig));
            assert_eq!(again.globals.len(), loaded.system.globals.len(), "{}", path.display());
            read += 1;
        }
    }
    assert!(read > 40, "{read} circuits");
}

#[test]
fn written_circuits_are_equivalent_for_abc() {
    if Command::new("berkeley-abc").arg("-h").output().is_err() {
        return eprintln!("skipped: berkeley-abc is not installed");
    }
    let folder = Folder::new("abc");
    for name in ["counter.bench", "shift.bench", "gray.blif", "traffic.blif", "arbiter.blif"] {
        let path = model("circuits").join(name);
        let loaded = ample::load(&path, &Default::default()).expect(name);
        let aig = Aig::of(&loaded.system, &[], &Budget::unlimited()).expect(name);
        // A variable that is an output is no signal of its own.
        if aig.outputs.is_empty() {
            continue;
        }
        let binary = folder.0.join("written.aig");
        std::fs::write(&binary, aiger::binary(&aig)).expect("a file");
        let text = folder.file("written.blif", &blif::model(&aig, "written"));
        // For ABC the models that a model uses are boxes all of whose outputs depend on all of their inputs.
        let is_flat = name != "arbiter.blif";
        let pairs = [(&path, &binary), (&path, &text), (&binary, &text)];
        for (one, other) in pairs.into_iter().filter(|(one, _)| is_flat || *one != &path) {
            let script = format!("cec -n {} {}", one.display(), other.display());
            let output = Command::new("berkeley-abc").args(["-c", &script]).output().expect("abc");
            let told = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(told.contains("Networks are equivalent"), "{name}: {script}\n{told}");
        }
    }
}

#[test]
fn frames_of_random_circuits_are_those_of_abc() {
    if Command::new("berkeley-abc").arg("-h").output().is_err() {
        return eprintln!("skipped: berkeley-abc is not installed");
    }
    let folder = Folder::new("frames");
    for seed in 1000..1030 {
        let mut aig = random_aig(&mut Random::new(seed));
        aig.latches
            .iter_mut()
            .filter(|latch| latch.reset == Reset::Any)
            .for_each(|latch| latch.reset = Reset::Value(false));
        let bad = 2 * aig.variables() - 1;
        let aig = Aig {
            bad: Vec::new(),
            justice: Vec::new(),
            constraints: Vec::new(),
            outputs: vec![("o".into(), bad)],
            ..aig
        };
        let path = folder.0.join("random.aig");
        std::fs::write(&path, aiger::binary(&aig)).expect("a file");
        let script = format!("read_aiger {}; bmc3 -F 40", path.display());
        let output = Command::new("berkeley-abc").args(["-c", &script]).output().expect("abc");
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        let frame = told.split("asserted in frame ").nth(1).and_then(|rest| {
            rest.split(|c: char| !c.is_ascii_digit()).next().and_then(|digits| digits.parse::<usize>().ok())
        });
        let report = check(&load("random.aag", &aiger::text(&aig)), None);
        let ours = report.answers[0].trace().map(|trace| trace.prefix.len());
        assert_eq!(ours, frame, "seed {seed}: {told}\n{}", aiger::text(&aig));
    }
}

#[test]
fn deep_circuits_are_checked() {
    let mut circuit = String::from("INPUT(i)\nOUTPUT(g0)\nl = DFF(g0)\nm = DFF(l)\n");
    let length = 100_000;
    for number in 0..length {
        let next = if number + 1 == length { "i".to_owned() } else { format!("g{}", number + 1) };
        let gate = ["AND", "NOR", "XOR", "NAND"][number % 4];
        circuit.push_str(&format!("g{number} = {gate}({next}, m)\n"));
    }
    let loaded = ample::load_text("deep.bench", circuit, &Default::default()).expect("a circuit");
    for (text, verdict) in [("l -> g0 || !g0", Verdict::Holds), ("!(g0 && l)", Verdict::Violated)] {
        let question = Question::Invariant(loaded.expression(text).expect(text));
        let property = Property { name: text.into(), question, text: text.into(), span: None };
        let report = check(&loaded.system, Some(vec![property]));
        let answer = &report.answers[0];
        // Whatever is on g0, both are possible unless it is constant.
        assert!(answer.verdict() == verdict || answer.verdict() == Verdict::Holds, "{text}: {:?}", answer.outcome);
        assert_ne!(answer.verdict(), Verdict::Unknown, "{text}: {:?}", answer.outcome);
    }
}

#[test]
fn what_the_models_state_and_what_is_asked() {
    let fifo = json(&ample(&["check", "--json"], &model("circuits/fifo.aag")));
    assert_eq!(result(&fifo, "invariant:bad:overflow_happens")["verdict"], "holds");
    assert_eq!(result(&fifo, "ltl:justice:fills_and_drains")["verdict"], "violated");
    let asked = [
        ("counter.bench", "--invariant", "!carry", "violated"),
        ("counter.bench", "--ltl", "G (carry -> X (!bit0 && !bit1 && !bit2))", "holds"),
        ("counter.bench", "--ctl", "AG EF (bit0 == 0 && bit1 == 0 && bit2 == 0)", "holds"),
        ("shift.bench", "--ltl", "G (in -> X X X X out)", "holds"),
        ("shift.bench", "--ltl", "G (in -> X X X out)", "violated"),
        ("gray.blif", "--invariant", "(\"g<0>\" <-> \"g<1>\") <-> (\"g<2>\" <-> parity)", "holds"),
        ("gray.blif", "--ltl", "G (!\"g<0>\" && \"g<1>\" && step && parity -> X \"g<1>\")", "holds"),
        ("traffic.blif", "--invariant", "!(main_green && side_green)", "holds"),
        ("traffic.blif", "--invariant", "state[1] -> main_red", "holds"),
        ("traffic.blif", "--ltl", "G F main_green", "holds"),
        ("traffic.blif", "--ltl", "G (car && main_green -> F side_green)", "holds"),
        ("traffic.blif", "--ltl", "G F side_green", "violated"),
        ("arbiter.blif", "--invariant", "!(grant0 && grant1) && !(grant1 && grant2) && !(grant0 && grant2)", "holds"),
        ("arbiter.blif", "--ltl", "G (G ask1 -> F grant1)", "holds"),
        ("arbiter.blif", "--invariant", "!(\"cell.1.used\" && grant1)", "holds"),
        ("arbiter.blif", "--invariant", "!grant2", "violated"),
    ];
    for (file, option, formula, verdict) in asked {
        let output = ample(&["check", "--json", option, formula], &model("circuits").join(file));
        assert_eq!(json(&output)["results"][0]["verdict"], verdict, "{file}: {formula} {}", errors(&output));
    }
}

#[test]
fn the_command_writes_witnesses_and_circuits() {
    let folder = Folder::new("command");
    let path = model("circuits/fifo.aag");
    let (witness, written) = (folder.0.join("fifo.aiw"), folder.0.join("fifo.aig"));
    let output = command(&["check", "--witness"]).arg(&witness).arg(&path).output().unwrap();
    assert_eq!(code(&output), 1, "{}", errors(&output));
    let told = std::fs::read_to_string(&witness).unwrap();
    let (holds, violated) = told.split_at(told.find("1\nj0\n").expect("a witness"));
    assert_eq!(holds, "0\nb0\n.\n");
    let loaded = ample::load(&path, &Default::default()).unwrap();
    let aig = Aig::of(&loaded.system, &[], &Budget::unlimited()).unwrap();
    follows(&aig, violated, "fifo.aag");
    let output = command(&["convert", "--to", "aig", "-o"]).arg(&written).arg(&path).output().unwrap();
    assert_eq!((code(&output), errors(&output).as_str()), (0, ""));
    let again = json(&ample(&["check", "--json"], &written));
    assert_eq!(result(&again, "invariant:bad:overflow_happens")["verdict"], "holds");
    assert_eq!(result(&again, "ltl:justice:fills_and_drains")["verdict"], "violated");
    let output = ample(&["convert", "--to", "blif"], &path);
    assert!(errors(&output).contains("a circuit with constraints cannot be written in BLIF"), "{}", errors(&output));
    let output = ample(&["convert", "--to", "aag", "--invariant", "!carry"], &model("circuits/counter.bench"));
    assert!(text(&output).contains("b0 !carry"), "{}", text(&output));
    let output = ample(&["convert", "--to", "aag"], &model("promela/peterson.pml"));
    assert!(text(&output).contains("b0 assertions"), "{}", errors(&output));
    assert!(errors(&output).contains("left out, because aag cannot say it: ltl:mutex"), "{}", errors(&output));
}

#[test]
fn circuits_are_simulated_and_counted() {
    let output = ample(&["simulate", "--steps", "5", "--seed", "1"], &model("circuits/counter.bench"));
    assert_eq!(code(&output), 0, "{}", errors(&output));
    assert!(text(&output).contains("enable = "), "{}", text(&output));
    // Inputs are no part of the state.
    let counted = json(&ample(&["states", "--json"], &model("circuits/counter.bench")));
    assert_eq!(counted["stats"]["states"], 8);
    let counted = json(&ample(&["states", "--json"], &model("circuits/shift.bench")));
    assert_eq!(counted["stats"]["states"], 16);
}

#[test]
fn names_that_are_not_there_are_refused_at_their_place() {
    for (formula, message) in [
        ("!carrry", "there is no signal `carrry`"),
        ("bit0 ==", "expected 0, 1 or the name of a signal behind a comparison"),
        ("\"bit0", "quot"),
        ("G bit0", "no operators about runs"),
    ] {
        let output = ample(&["check", "--invariant", formula], &model("circuits/counter.bench"));
        assert_eq!(code(&output), 2, "{formula}: {}", text(&output));
        assert!(errors(&output).contains(message), "{formula}: {}", errors(&output));
    }
}
