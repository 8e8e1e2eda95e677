//! Petri nets in list diagrams and in binary diagrams over units: the same markings, the same answers.

use ample::{
    CheckOptions, Choice, DiagramKind, Outcome, PetriOptions, Property, Question, Reason, Report, System, Verdict,
};

use ample_random::Random;

/// Machines that share transitions, and a store of tokens that some of them take from or add to.
struct Net {
    /// How many states each machine has.
    machines: Vec<u64>,
    /// The tokens in the store.
    store: u64,
    /// Arcs of transitions to and from places by name.
    transitions: Vec<(Vec<String>, Vec<String>)>,
    /// The places of a machine are called a unit.
    has_units: bool,
}

impl Net {
    /// A fork, if there is one, sends a machine to two of its states: what its unit promises is not so.
    fn random(random: &mut Random, has_units: bool, forks: bool) -> Net {
        let machines: Vec<u64> = (0..1 + random.below(3)).map(|_| 2 + random.below(5)).collect();
        let mut transitions = vec![(vec!["m0_0".to_owned()], vec!["m0_1".to_owned()])];
        for _ in 0..2 + random.below(8) {
            let (mut takes, mut adds) = (Vec::new(), Vec::new());
            for (machine, states) in machines.iter().enumerate() {
                if random.below(2) == 0 {
                    continue;
                }
                takes.push(format!("m{machine}_{}", random.below(*states)));
                adds.push(format!("m{machine}_{}", random.below(*states)));
            }
            match random.below(6) {
                0 => takes.push("store".into()),
                1 if !takes.is_empty() => adds.push("rest".into()),
                2 => {
                    takes.push("store".into());
                    adds.push("rest".into());
                }
                _ => {}
            }
            if !takes.is_empty() {
                transitions.push((takes, adds));
            }
        }
        // What is added without being taken is taken away in the end: the store is never refilled, so runs are finite.
        for (takes, adds) in &mut transitions {
            if adds.contains(&"rest".to_owned()) && !takes.contains(&"store".to_owned()) {
                takes.push("store".into());
            }
        }
        if forks {
            let machine = random.below(machines.len() as u64) as usize;
            let state = |random: &mut Random| format!("m{machine}_{}", random.below(machines[machine]));
            let (from, left) = (state(random), state(random));
            let right = state(random);
            let adds = if left == right { vec![left] } else { vec![left, right] };
            transitions.push((vec![from], adds));
        }
        Net { machines, store: random.below(4), transitions, has_units }
    }

    fn text(&self) -> String {
        let mut text = String::from(
            "<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\">\
             <net id=\"n\" type=\"http://www.pnml.org/version-2009/grammar/ptnet\"><page id=\"g\">\n",
        );
        let mut place = |name: &str, tokens: u64| {
            text += &format!("<place id=\"{name}\"><initialMarking><text>{tokens}</text></initialMarking></place>\n");
        };
        for (machine, states) in self.machines.iter().enumerate() {
            (0..*states).for_each(|state| place(&format!("m{machine}_{state}"), u64::from(state == 0)));
        }
        // With units every place is promised to hold one token at most.
        let store = if self.has_units { self.store.min(1) } else { self.store };
        place("store", store);
        place("rest", 0);
        let mut arcs = 0;
        for (number, (takes, adds)) in self.transitions.iter().enumerate() {
            text += &format!("<transition id=\"t{number}\"/>\n");
            let taken = takes.iter().map(|place| (place.clone(), format!("t{number}")));
            for (from, to) in taken.chain(adds.iter().map(|place| (format!("t{number}"), place.clone()))) {
                text += &format!("<arc id=\"a{arcs}\" source=\"{from}\" target=\"{to}\"/>\n");
                arcs += 1;
            }
        }
        text += "</page>";
        if self.has_units {
            text += &self.units();
        }
        text + "</net></pnml>\n"
    }

    fn units(&self) -> String {
        let count = self.machines.len();
        let names: Vec<String> = (0..count + 2).map(|number| format!("u{number}")).collect();
        let mut text = format!(
            "<toolspecific tool=\"nupn\" version=\"1.1\"><structure units=\"{}\" root=\"root\" safe=\"true\">\
             <unit id=\"root\"><places/><subunits>{}</subunits></unit>",
            count + 3,
            names.join(" ")
        );
        for (machine, states) in self.machines.iter().enumerate() {
            let places: Vec<String> = (0..*states).map(|state| format!("m{machine}_{state}")).collect();
            text += &format!("<unit id=\"u{machine}\"><places>{}</places><subunits/></unit>", places.join(" "));
        }
        text += &format!("<unit id=\"u{count}\"><places>store</places><subunits/></unit>");
        text += &format!("<unit id=\"u{}\"><places>rest</places><subunits/></unit>", count + 1);
        text + "</structure></toolspecific>"
    }
}

fn load(text: String) -> System {
    ample::load_text("n.pnml", text, &Default::default()).expect("a net").system
}

fn by(diagrams: DiagramKind) -> CheckOptions {
    let engines = PetriOptions { diagrams, ..PetriOptions::default() }.into();
    CheckOptions { engine: Choice::Named("symbolic"), engines, ..CheckOptions::default() }
}

/// With a limit on the depth, nets are models like all others.
fn plainly() -> CheckOptions {
    CheckOptions { engine: Choice::Named("explicit"), max_depth: Some(1 << 40), ..CheckOptions::default() }
}

fn questions(random: &mut Random, system: &System) -> Vec<Property> {
    let mut all = vec![Property::deadlock()];
    let mut add = |question, text: String| all.push(Property { name: text.clone(), question, text, span: None });
    let condition = |random: &mut Random| {
        let mut place = || system.globals[random.below(system.globals.len() as u64) as usize].name.clone();
        let (p, q, r) = (place(), place(), place());
        let edges = &system.processes[0].edges;
        match random.below(5) {
            0 => format!("(fireable({}))", edges[random.below(edges.len() as u64) as usize].label),
            1 => format!("({p} <= {q})"),
            2 => format!("({p} + {q} + {r} >= {})", random.below(3)),
            3 => "(!deadlock)".to_owned(),
            _ => format!("({p} = {})", random.below(2)),
        }
    };
    for shape in ["AG", "EF", "AF", "EG", "EX", "AX", "AG EF", "AG AX", "EF EG", "AF EX", "E U", "A U"] {
        let (f, g) = (condition(random), condition(random));
        let text = match shape {
            "E U" => format!("E ({f} U {g})"),
            "A U" => format!("A ({f} U {g})"),
            shape => format!("{shape} {f}"),
        };
        add(Question::Ctl(ample::ctl(system, &text).expect("a formula")), text);
    }
    for shape in ["G", "F", "G F", "F G", "X", "U"] {
        let (f, g) = (condition(random), condition(random));
        let text = if shape == "U" { format!("{f} U {g}") } else { format!("{shape} {f}") };
        add(Question::Ltl(ample::ltl(system, &text).expect("a formula")), text);
    }
    let text = condition(random);
    add(Question::Invariant(ample::expression(system, &text).expect("a condition")), text);
    let text = format!("{} + 2 * rest", system.globals[0].name);
    add(Question::Bound(ample::expression(system, &text).expect("a sum")), text);
    all
}

fn ask(system: &System, properties: &[Property], options: CheckOptions) -> Report {
    let options = CheckOptions { properties: Some(properties.to_vec()), ..options };
    ample::check(system, &options)
}

/// What binary diagrams say is what another way says. How many answers were compared.
fn compare(of: &str, system: &System, properties: &[Property], expected: &Report, given: &Report) -> usize {
    let mut compared = 0;
    for ((property, expected), given) in properties.iter().zip(&expected.answers).zip(&given.answers) {
        let of = format!("{of}, {}", property.text);
        match (&*expected.outcome, &*given.outcome) {
            (_, Outcome::Unknown(why)) => panic!("{of}: {why}"),
            (Outcome::Unknown(Reason::Unsupported(why)), _) => assert!(!why.contains("internal error"), "{of}: {why}"),
            (Outcome::Unknown(why), _) => panic!("{of}: the other way does not know: {why}"),
            _ => {
                assert_eq!(expected.verdict(), given.verdict(), "{of}");
                assert_eq!(expected.value, given.value, "{of}");
                compared += 1;
            }
        }
        if let (Question::Invariant(_) | Question::Deadlock, Outcome::Violated(violation)) =
            (&property.question, &*given.outcome)
        {
            let end = given.end.as_ref().expect("the end of a run");
            assert!(end.processes.is_empty(), "{of}: a net has no processes");
            for step in &violation.trace.prefix {
                assert!(system.processes[0].edges.iter().any(|edge| edge.label == step.text), "{of}: {step:?}");
                for change in &step.changes {
                    assert!(system.globals.iter().any(|place| place.name == change.name), "{of}: {change:?}");
                }
            }
        }
    }
    compared
}

fn count(system: &System, options: &CheckOptions) -> u64 {
    let report = ample::states(system, options);
    assert_eq!(report.ended, None);
    report.statistics.states
}

/// Both diagrams, and the explicit engine for all models.
fn confront(seed: u64) -> usize {
    let random = &mut Random::new(seed);
    let has_units = random.below(2) == 0;
    let system = &load(Net::random(random, has_units, false).text());
    let of = format!("seed {seed}");
    let expected = count(system, &plainly());
    assert_eq!(count(system, &by(DiagramKind::Lists)), expected, "{of}, lists");
    assert_eq!(count(system, &by(DiagramKind::Binary)), expected, "{of}, binary");
    let properties = questions(random, system);
    let given = ask(system, &properties, by(DiagramKind::Binary));
    let general = compare(&of, system, &properties, &ask(system, &properties, plainly()), &given);
    general + compare(&of, system, &properties, &ask(system, &properties, by(DiagramKind::Lists)), &given)
}

#[test]
fn both_diagrams_count_the_same_markings_and_give_the_same_answers() {
    let compared: usize = (0..60).map(confront).sum();
    assert!(compared > 2000, "{compared}");
}

#[test]
#[ignore = "long: AMPLE_NETS of them, from AMPLE_FROM on"]
fn many_random_nets_have_the_same_answers_in_both_diagrams() {
    let number = |name: &str, default| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default);
    let (from, nets) = (number("AMPLE_FROM", 1000), number("AMPLE_NETS", 2000));
    let compared: usize = (from..from + nets).map(confront).sum();
    eprintln!("{nets} nets, {compared} answers compared");
}

#[test]
fn a_unit_that_does_not_keep_its_promise_is_given_up() {
    let mut broken = 0;
    for seed in 0..80 {
        let random = &mut Random::new(seed);
        let system = &load(Net::random(random, true, true).text());
        let (expected, given) = (count(system, &plainly()), count(system, &by(DiagramKind::Binary)));
        assert_eq!(given, expected, "seed {seed}");
        let report = ample::check(system, &plainly());
        if report.answer("assertions").is_some_and(|answer| answer.verdict() == Verdict::Violated) {
            broken += 1;
            let choice = ample::states(system, &by(DiagramKind::Binary)).choice;
            assert!(choice.is_some_and(|choice| choice.ends_with("proved")), "seed {seed}: the promise is broken");
        }
    }
    assert!(broken > 5, "{broken}");
}

#[test]
fn the_nets_of_this_repository_have_as_many_markings_in_both_diagrams() {
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/petri");
    let mut seen = 0;
    for entry in std::fs::read_dir(directory).expect("the models").flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|extension| extension != "pnml") {
            continue;
        }
        let system = &ample::load(&path, &Default::default()).expect("a net").system;
        let lists = count(system, &by(DiagramKind::Lists));
        assert_eq!(count(system, &by(DiagramKind::Binary)), lists, "{}", path.display());
        let text = "AG EF (!deadlock)";
        let formula = Question::Ctl(ample::ctl(system, text).expect("a formula"));
        let live = Property { name: text.into(), question: formula, text: text.into(), span: None };
        let properties = [Property::deadlock(), live];
        let expected = ask(system, &properties, by(DiagramKind::Lists));
        let given = ask(system, &properties, by(DiagramKind::Binary));
        assert!(given.choice.as_ref().is_some_and(|choice| choice.starts_with("Binary decision diagrams")));
        compare(&path.display().to_string(), system, &properties, &expected, &given);
        seen += 1;
    }
    assert!(seen > 8, "{seen}");
}
