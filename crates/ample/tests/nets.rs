//! Petri nets: what the workers for nets say is what the engines for all models say, on random nets and formulas.

mod support;

use std::path::PathBuf;
use std::time::Duration;

use ample::{
    Answer, CheckOptions, Choice, Outcome, PetriOptions, Property, Question, Reason, System, Trace, Verdict, Violation,
};
use ample_model::{Expr, Interpreter, State};

use ample_random::Random;

/// A net with few markings: no transition adds more tokens than it takes.
fn net(random: &mut Random) -> String {
    let places = 2 + random.below(5);
    let transitions = 1 + random.below(7);
    let mut text = String::from(
        "<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\">\
         <net id=\"n\" type=\"http://www.pnml.org/version-2009/grammar/ptnet\"><page id=\"g\">\n",
    );
    for place in 0..places {
        let tokens = if random.below(2) == 0 { random.below(4) } else { 0 };
        text += &format!("<place id=\"p{place}\"><initialMarking><text>{tokens}</text></initialMarking></place>\n");
    }
    let mut arcs = String::new();
    let mut arc = |from: String, to: String, weight: u64| {
        let number = arcs.len();
        arcs += &format!("<arc id=\"a{number}\" source=\"{from}\" target=\"{to}\">");
        arcs += &format!("<inscription><text>{weight}</text></inscription></arc>\n");
    };
    for transition in 0..transitions {
        text += &format!("<transition id=\"t{transition}\"/>\n");
        let mut left = 0;
        let mut taken = Vec::new();
        for _ in 0..=random.below(2) {
            let (place, weight) = (random.below(places), 1 + random.below(2));
            if !taken.contains(&place) {
                taken.push(place);
                arc(format!("p{place}"), format!("t{transition}"), weight);
                left += weight;
            }
        }
        let mut given = Vec::new();
        while left > 0 && random.below(5) > 0 {
            let (place, weight) = (random.below(places), 1 + random.below(left));
            if !given.contains(&place) {
                given.push(place);
                arc(format!("t{transition}"), format!("p{place}"), weight);
            }
            left -= weight;
        }
    }
    format!("{text}{arcs}</page></net></pnml>\n")
}

fn condition(random: &mut Random, system: &System) -> String {
    let place = |random: &mut Random| &system.globals[random.below(system.globals.len() as u64) as usize].name;
    let edges = &system.processes[0].edges;
    match random.below(5) {
        0 => format!("fireable({})", edges[random.below(edges.len() as u64) as usize].label),
        1 => format!("{} <= {}", place(random), place(random)),
        2 => format!("{} + {} >= {}", place(random), place(random), random.below(4)),
        3 => format!("{} = {}", place(random), random.below(3)),
        _ => format!("{} > {}", place(random), random.below(3)),
    }
}

fn branching(random: &mut Random, system: &System, depth: u32) -> String {
    if depth == 0 {
        return format!("({})", condition(random, system));
    }
    let mut part = || branching(random, system, depth - 1);
    let (f, g) = (part(), part());
    match random.below(11) {
        0 => format!("(AG {f})"),
        1 => format!("(EF {f})"),
        2 => format!("(AF {f})"),
        3 => format!("(EG {f})"),
        4 => format!("(A ({f} U {g}))"),
        5 => format!("(E ({f} U {g}))"),
        6 => format!("(EX {f})"),
        7 => format!("(AX {f})"),
        8 => format!("(!{f})"),
        9 => format!("({f} & {g})"),
        _ => format!("({f} | {g})"),
    }
}

fn linear(random: &mut Random, system: &System, depth: u32) -> String {
    if depth == 0 {
        return format!("({})", condition(random, system));
    }
    let mut part = || linear(random, system, depth - 1);
    let (f, g) = (part(), part());
    match random.below(9) {
        0 | 1 => format!("(G {f})"),
        2 | 3 => format!("(F {f})"),
        4 => format!("({f} U {g})"),
        5 => format!("(X {f})"),
        6 => format!("(!{f})"),
        7 => format!("({f} & {g})"),
        _ => format!("({f} -> {g})"),
    }
}

fn questions(random: &mut Random, system: &System) -> Vec<Property> {
    let mut all = vec![Property::deadlock()];
    let mut add = |question, text: String| all.push(Property { name: text.clone(), question, text, span: None });
    for depth in [1, 2, 3] {
        let text = branching(random, system, depth);
        add(Question::Ctl(ample::ctl(system, &text).expect("a formula")), text);
        let text = linear(random, system, depth);
        add(Question::Ltl(ample::ltl(system, &text).expect("a formula")), text);
    }
    let text = condition(random, system);
    add(Question::Invariant(ample::expression(system, &text).expect("a condition")), text);
    all
}

fn answers(system: &System, properties: &[Property], options: CheckOptions) -> Vec<Answer> {
    let options = CheckOptions { properties: Some(properties.to_vec()), ..options };
    ample::check(system, &options).answers
}

fn verdicts(system: &System, properties: &[Property], options: CheckOptions) -> Vec<Outcome> {
    answers(system, properties, options).into_iter().map(|answer| answer.outcome.into_inner()).collect()
}

/// There are runs to be seen.
fn shows_something(outcome: &Outcome) -> bool {
    let Outcome::Violated(violation) = outcome else { return false };
    let Trace { prefix, cycle, .. } = &violation.trace;
    !prefix.is_empty() || !cycle.is_empty() || !violation.branches.is_empty()
}

fn word(outcome: &Outcome) -> Verdict {
    match outcome {
        Outcome::Holds(_) => Verdict::Holds,
        Outcome::Violated(_) => Verdict::Violated,
        Outcome::Unknown(_) => Verdict::Unknown,
    }
}

/// A net and its formulas: all ways agree. How many answers were compared.
fn confront(seed: u64) -> usize {
    let random = &mut Random::new(seed);
    let text = net(random);
    let loaded = ample::load_text("n.pnml", text, &Default::default()).expect("a net");
    let system = &loaded.system;
    let properties = questions(random, system);
    // With a limit on the depth, nets are models like all others.
    let general =
        CheckOptions { engine: Choice::Named("explicit"), max_depth: Some(1 << 40), ..CheckOptions::default() };
    let expected = verdicts(system, &properties, general);
    let mut compared = 0;
    let mut ways = vec![
        (Choice::Auto, None),
        (Choice::Named("explicit"), None),
        (Choice::Named("symbolic"), None),
        (Choice::Named("sog"), None),
    ];
    if seed.is_multiple_of(4) {
        // So short that second attempts and rounds are needed.
        ways.extend([Choice::Auto, Choice::Named("symbolic")].map(|engine| (engine, Some(Duration::from_micros(50)))));
    }
    for (engine, first_slice) in ways {
        let given = answers(
            system,
            &properties,
            CheckOptions {
                engine,
                engines: PetriOptions { first_slice, ..PetriOptions::default() }.into(),
                ..CheckOptions::default()
            },
        );
        for ((property, expected), answer) in properties.iter().zip(&expected).zip(&given) {
            let given = &*answer.outcome;
            let of = format!("seed {seed}, {engine:?}, {}", property.text);
            match (expected, given) {
                (_, Outcome::Unknown(Reason::Unsupported(why))) => {
                    assert!(engine == Choice::Named("sog") && !why.contains("internal error"), "{of}: {why}");
                }
                (Outcome::Unknown(why), _) => panic!("{of}: the general engine does not know: {why}"),
                (expected, given) => {
                    assert_eq!(word(expected), word(given), "{of}");
                    // A part of a conjunction may decide it that no run shows.
                    let has_quantifier = property.text.starts_with("(A") || property.text.starts_with("(E");
                    let is_ctl = matches!(property.question, Question::Ctl(_)) && has_quantifier;
                    // Where the start is enough, nothing but it is shown.
                    let is_shown = !is_ctl || answer.end.is_some() || !shows_something(expected);
                    // What follows from the structure of the net alone is known without a run.
                    assert!(is_shown || first_slice.is_some(), "{of}: nothing is shown");
                    compared += 1;
                }
            }
        }
    }
    compared
}

#[test]
fn random_nets_have_the_verdicts_of_the_general_engine() {
    let compared: usize = (0..150).map(confront).sum();
    assert!(compared > 2000, "{compared}");
}

#[test]
#[ignore = "long: AMPLE_NETS of them, from AMPLE_FROM on"]
fn many_random_nets_have_the_verdicts_of_the_general_engine() {
    let number = |name: &str, default| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default);
    let (from, nets) = (number("AMPLE_FROM", 1000), number("AMPLE_NETS", 5000));
    let compared: usize = (from..from + nets).map(confront).sum();
    eprintln!("{nets} nets, {compared} answers compared");
}

/// The states of a run of the reference interpreter; those of the cycle come after those of the prefix.
fn states(system: &System, trace: &Trace) -> Vec<State> {
    let interpreter = Interpreter::new(system);
    let mut states = vec![interpreter.initial_state(&trace.start).expect("a start").expect("no fault")];
    for step in trace.prefix.iter().chain(&trace.cycle) {
        let successor = interpreter.step(&states[states.len() - 1], &step.taken);
        states.push(successor.state.expect("a step that can be taken"));
    }
    states
}

fn is_dead(system: &System, state: &State) -> bool {
    Interpreter::new(system).enabled(state).is_empty()
}

/// A formula with one temporal operator, and whether a run shows it to be true, or else to be false.
struct Plain {
    text: String,
    shown_if: bool,
    /// On the run the first holds until the second does (or if there is none, for ever).
    first: Option<Expr>,
    last: Option<Expr>,
    steps: Option<usize>,
}

fn plain_formulas(random: &mut Random, system: &System) -> Vec<Plain> {
    let (p, q) = (condition(random, system), condition(random, system));
    let expr = |text: &str| Some(ample::expression(system, text).expect("a condition"));
    let (is_p, is_q) = (expr(&p), expr(&q));
    let (no_p, no_q) = (expr(&format!("!({p})")), expr(&format!("!({q})")));
    let plain = |text: String, shown_if, first: &Option<Expr>, last: &Option<Expr>, steps| Plain {
        text,
        shown_if,
        first: first.clone(),
        last: last.clone(),
        steps,
    };
    vec![
        plain(format!("EF ({p})"), true, &None, &is_p, None),
        plain(format!("AG ({p})"), false, &None, &no_p, None),
        plain(format!("!AG ({p})"), true, &None, &no_p, None),
        plain(format!("EX ({p})"), true, &None, &is_p, Some(1)),
        plain(format!("AX ({p})"), false, &None, &no_p, Some(1)),
        plain(format!("E (({p}) U ({q}))"), true, &is_p, &is_q, None),
        plain(format!("EG ({p})"), true, &is_p, &None, None),
        plain(format!("AF ({p})"), false, &no_p, &None, None),
        plain(format!("EF (({p}) & !({q}))"), true, &None, &expr(&format!("({p}) & !({q})")), None),
        plain(format!("AG (({p}) | ({q}))"), false, &None, &expr(&format!("!({p}) & !({q})")), None),
        plain(format!("A (({p}) U ({q}))"), false, &no_q, &expr(&format!("!({p}) & !({q})")), None),
    ]
}

/// The run is what it should be, by the reference interpreter alone.
fn judge(system: &System, plain: &Plain, shown: &Violation, of: &str) {
    let Trace { prefix, cycle, .. } = &shown.trace;
    let all = states(system, &shown.trace);
    let interpreter = Interpreter::new(system);
    let holds = |expr: &Expr, state: &State| interpreter.evaluate(state, None, expr) != Ok(0);
    let last = &all[all.len() - 1];
    let ends = cycle.is_empty() && plain.last.as_ref().is_some_and(|expr| holds(expr, last));
    let along = if ends { &all[..all.len() - 1] } else { &all[..] };
    if let Some(first) = &plain.first {
        assert!(along.iter().all(|state| holds(first, state)), "{of}: not on the whole run");
    }
    if !ends {
        assert!(plain.first.is_some(), "{of}: it does not end where it must");
        let closes = !cycle.is_empty() && interpreter.identity(&all[prefix.len()]) == interpreter.identity(last);
        assert!(closes || cycle.is_empty() && is_dead(system, last), "{of}: it does not go on for ever");
    }
    assert!(plain.steps.is_none_or(|steps| steps == prefix.len() + cycle.len()), "{of}: {} steps", prefix.len());
}

#[test]
fn what_runs_can_show_is_shown_by_every_engine() {
    let mut shown = 0;
    for seed in 5000..5150 {
        let random = &mut Random::new(seed);
        let loaded = ample::load_text("n.pnml", net(random), &Default::default()).expect("a net");
        let system = &loaded.system;
        let plain = plain_formulas(random, system);
        let property = |plain: &Plain| {
            let question = Question::Ctl(ample::ctl(system, &plain.text).expect("a formula"));
            Property { name: plain.text.clone(), question, text: plain.text.clone(), span: None }
        };
        let properties: Vec<Property> = plain.iter().map(property).collect();
        for engine in [Choice::Auto, Choice::Named("explicit"), Choice::Named("symbolic")] {
            let given = answers(system, &properties, CheckOptions { engine, ..CheckOptions::default() });
            for (plain, answer) in plain.iter().zip(&given) {
                let of = format!("seed {seed}, {engine:?}, {}", plain.text);
                let is_shown = match word(&answer.outcome) {
                    Verdict::Holds => plain.shown_if,
                    Verdict::Violated => !plain.shown_if,
                    Verdict::Unknown | Verdict::Computed => panic!("{of}: {:?}", answer.outcome),
                };
                if is_shown {
                    assert!(answer.end.is_some(), "{of}: no run");
                    judge(system, plain, answer.shown().expect("a run"), &of);
                    shown += 1;
                }
            }
        }
    }
    assert!(shown > 1500, "{shown}");
}

/// A net of `models/petri`, with other numbers of tokens in some places.
fn with_tokens(folder: &support::Folder, name: &str, tokens: &[(&str, u64)]) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models/petri").join(format!("{name}.pnml"));
    let mut text = std::fs::read_to_string(path).unwrap();
    for (place, number) in tokens {
        let place = format!("<place id=\"{place}\"><name><text>{place}</text></name><initialMarking><text>");
        let begin = text.find(&place).expect(&place) + place.len();
        let end = begin + text[begin..].find('<').unwrap();
        text.replace_range(begin..end, &number.to_string());
    }
    folder.file("net.pnml", &text).display().to_string()
}

fn robot(n: u64) -> [(&'static str, u64); 3] {
    [("p_i1", 2 * n + 1), ("r_stopped", 2 * n), ("access", 2 * n)]
}

fn cloud(n: u64) -> [(&'static str, u64); 8] {
    let idle = ["Wsr1NotDeployed", "Wsr2NotDeployed", "Wsr3NotDeployed", "Bounder1", "Bounder2"];
    let [a, b, c, d, e] = idle.map(|place| (place, n));
    [a, b, c, d, e, ("ContainerDown", n / 2), ("OsNotInstalled", n / 2), ("ScUnavailable", n / 2)]
}

fn value(words: &[&str]) -> serde_json::Value {
    let output = support::command(words).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{words:?}: {output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn robots_and_clouds_have_the_markings_of_the_literature() {
    let folder = support::Folder::new("markings");
    // H. Ouni's thesis, tables 3.1 and 7.1; and the formula that fits the robots.
    let choose = |n: u64, k: u64| (1..=k).fold(1, |product, i| product * (n - k + i) / i);
    let robots = [2, 4, 5, 6, 7, 10].map(|n| ("robot_2", robot(n).to_vec(), 2 * choose(2 * n + 9, 9)));
    let clouds = [(2, 3857), (5, 1_612_703), (10, 10_733_339_000)];
    let clouds = clouds.map(|(n, markings)| ("cloud_2", cloud(n).to_vec(), markings));
    for (name, tokens, markings) in robots.into_iter().chain(clouds) {
        let net = with_tokens(&folder, name, &tokens);
        for engine in ["symbolic", "explicit"] {
            if engine == "explicit" && markings > 100_000 {
                continue;
            }
            let found = value(&["states", "--json", "--engine", engine, net.as_str()]);
            assert_eq!(found["stats"]["states"], markings, "{name} {tokens:?} {engine}");
        }
    }
}

#[test]
fn observation_graphs_have_the_size_that_the_literature_has() {
    let folder = support::Folder::new("sizes");
    let robots = "p_sop,r_stops,p_start,p_started,r_end_move,p_moved";
    let erk = |n| ["Raf", "RKIP", "ERK", "MEK", "RP"].map(|place| (place, n)).to_vec();
    let fms = |n| ["P1", "P2", "P3"].map(|place| (place, n)).to_vec();
    // H. Ouni's thesis, table 3.1.
    let rows = [
        ("robot_2", robot(4).to_vec(), robots, 2574, 11_649),
        ("robot_2", robot(5).to_vec(), robots, 6006, 28_600),
        ("fms_2", fms(4), "tM1,tM2,tM3,tP1", 266, 830),
        ("erk_4", erk(10), "k3,k5,k9,k11", 505, 1803),
    ];
    for (name, tokens, observed, aggregates, arcs) in rows {
        let net = with_tokens(&folder, name, &tokens);
        for threads in ["1", "2"] {
            let graph = value(&["sog", "--json", "--observe", observed, "--threads", threads, net.as_str()]);
            let size = &graph["statistics"];
            assert_eq!((&size["aggregates"], &size["arcs"]), (&aggregates.into(), &arcs.into()), "{name} {tokens:?}");
        }
    }
    // Table 6.1: an aggregate of the robots has one representative, with a node for each place.
    for (n, nodes) in [(4, 38_610), (5, 90_090)] {
        let net = with_tokens(&folder, "robot_2", &robot(n));
        let graph = value(&["sog", "--json", "--observe", robots, "--canonical", "full", net.as_str()]);
        assert_eq!(graph["statistics"]["nodes"], nodes, "{n}");
    }
}
