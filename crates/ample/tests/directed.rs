//! Directed searches against breadth-first search: random models with random safety properties, our own models, and models
//! that show one thing each.
//!
//! `AMPLE_SEED=n` looks at one model only. The long run, which is
//! `cargo test -p ample --release --test directed -- --ignored --nocapture`, looks at `AMPLE_MODELS` models, beginning with
//! the seed `AMPLE_SEED`.

#[path = "partial/generate.rs"]
mod generate;
// What makes models smaller is for another suite.
#[allow(dead_code)]
#[path = "partial/model.rs"]
mod model;
mod support;

use ample::{
    Answer, Budget, CheckOptions, Choice, Explicit, HeuristicKind, LoadOptions, Outcome, PartialOrder, Property,
    Question, Reason, Report, Search, System, Verdict,
};
use ample_random::Random;
use support::{Folder, code, errors, json, result, text};

/// Larger models are left out.
const MOST_STATES: u64 = 3_000;

const COMPLETE: [Search; 3] = [Search::BestFirst, Search::HillClimbing, Search::AStar];
const INCOMPLETE: [Search; 2] = [Search::Beam, Search::RandomWalk];

fn load(text: &str) -> System {
    let loaded = ample::load_text("m.pml", text.into(), &LoadOptions::default());
    loaded.unwrap_or_else(|error| panic!("{error}\n{text}")).system
}

fn property(name: &str, question: Question) -> Property {
    Property { text: name.to_owned(), name: name.to_owned(), question, span: None }
}

fn invariant(system: &System, text: &str) -> Property {
    property(text, Question::Invariant(ample::expression(system, text).unwrap_or_else(|error| panic!("{error}"))))
}

fn ltl(system: &System, text: &str) -> Property {
    property(text, Question::Ltl(ample::ltl(system, text).unwrap_or_else(|error| panic!("{error}"))))
}

fn options(properties: &[Property], search: Search, heuristic: HeuristicKind) -> CheckOptions {
    let explicit = Explicit {
        search,
        heuristic,
        beam_width: (search == Search::Beam).then_some(10),
        walks: (search == Search::RandomWalk).then_some(20),
        walk_depth: (search == Search::RandomWalk).then_some(200),
        ..Explicit::default()
    };
    CheckOptions {
        engine: Choice::Named("explicit"),
        properties: Some(properties.to_vec()),
        engines: explicit.into(),
        partial_order: if search.is_directed() { PartialOrder::Auto } else { PartialOrder::None },
        budget: Budget::unlimited().with_threads(1),
        no_vacuity: true,
        ..CheckOptions::default()
    }
}

fn check(system: &System, properties: &[Property], search: Search) -> Report {
    ample::check(system, &options(properties, search, HeuristicKind::Auto))
}

/// The steps of a counterexample.
fn steps(answer: &Answer) -> Option<usize> {
    answer.trace().map(|trace| trace.prefix.len())
}

/// What a directed search says that contradicts what is known.
fn contradiction(expected: &Answer, answer: &Answer, search: Search) -> Option<String> {
    let is_right = match (expected.verdict(), answer.verdict()) {
        (Verdict::Violated, Verdict::Violated) => {
            // The heuristics of deadlocks and formulas may be too high, but no path is shorter than a shortest one.
            let shorter = steps(answer) < steps(expected);
            !shorter || !matches!(search, Search::AStar)
        }
        (_, Verdict::Unknown) => {
            INCOMPLETE.contains(&search) && matches!(&*answer.outcome, Outcome::Unknown(Reason::Unsupported(_)))
        }
        (Verdict::Holds, Verdict::Holds) => COMPLETE.contains(&search),
        _ => false,
    };
    let tell = || format!("{search:?}: {:?} and not {:?} for {}", answer.outcome, expected.verdict(), answer.property);
    (!is_right).then(tell)
}

/// What is wrong with the answers about a random model; none if it is too large.
fn examine(seed: u64) -> Option<Vec<String>> {
    let mut random = Random::new(seed);
    let model = generate::model(&mut random);
    let system = ample::load_text("m.pml", model.to_string(), &LoadOptions::default()).ok()?.system;
    let counting = CheckOptions { engine: Choice::Named("explicit"), ..CheckOptions::default() };
    let budget = Budget::unlimited().until(|progress| progress.states > MOST_STATES).0;
    ample::states(&system, &CheckOptions { budget, ..counting }).ended.is_none().then_some(())?;
    let mut properties = vec![Property::deadlock(), Property::assertions(), invariant(&system, &model.invariant)];
    for text in ["[] (x < 2)", "[] !(b && f)", "(x == 0) W (y == 1)"] {
        if let Ok(formula) = ample::ltl(&system, text) {
            properties.push(property(text, Question::Ltl(formula)));
        }
    }
    let expected = check(&system, &properties, Search::BreadthFirst);
    let kinds = [HeuristicKind::Auto, HeuristicKind::Deadlock, HeuristicKind::Assertion, HeuristicKind::Formula];
    let mut wrong = Vec::new();
    for search in COMPLETE.into_iter().chain(INCOMPLETE) {
        let kind = random.pick(&kinds);
        let mut options = options(&properties, search, kind);
        if random.one_in(4) {
            options.heuristic = ample::expression(&system, "x + y").ok();
        }
        let report = ample::check(&system, &options);
        for (expected, answer) in expected.answers.iter().zip(&report.answers) {
            wrong.extend(
                contradiction(expected, answer, search).map(|why| format!("seed {seed}, {kind:?}: {why}\n{model}")),
            );
        }
    }
    Some(wrong)
}

fn number_from(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is {text}, which is no number")))
}

#[test]
fn directed_searches_agree_with_breadth_first_search() {
    let seeds = number_from("AMPLE_SEED").map_or(0..80, |seed| seed..seed + 1);
    let wrong: Vec<String> = seeds.filter_map(examine).flatten().collect();
    assert!(
        wrong.is_empty(),
        "{} wrong\n{}",
        wrong.len(),
        wrong.iter().take(3).cloned().collect::<Vec<_>>().join("\n")
    );
}

#[test]
#[ignore = "takes minutes"]
fn directed_searches_agree_on_many_models() {
    let (models, first) =
        (number_from("AMPLE_MODELS").unwrap_or(2_000), number_from("AMPLE_SEED").unwrap_or(1_000_000));
    let all: Vec<Vec<String>> = (first..first + 2 * models).filter_map(examine).take(models as usize).collect();
    let wrong: Vec<&String> = all.iter().flatten().collect();
    println!("{} models, {} wrong", all.len(), wrong.len());
    assert!(wrong.is_empty(), "{:#?}", wrong.iter().take(3).collect::<Vec<_>>());
}

#[test]
fn our_models_have_the_same_verdicts() {
    let mut wrong = Vec::new();
    for name in [
        "bounded_buffer_deadlock",
        "lock_upgrade",
        "lost_wakeup",
        "mutex_test_then_set",
        "peterson",
        "resource_pool",
        "sleeping_barber",
        "store_and_forward",
        "telephones",
    ] {
        let path = support::model(&format!("promela/{name}.pml"));
        let system = ample::load(&path, &LoadOptions::default()).unwrap_or_else(|error| panic!("{error}")).system;
        let properties = [Property::deadlock(), Property::assertions()];
        let expected = check(&system, &properties, Search::BreadthFirst);
        for search in COMPLETE.into_iter().chain(INCOMPLETE) {
            let report = check(&system, &properties, search);
            for (expected, answer) in expected.answers.iter().zip(&report.answers) {
                wrong.extend(contradiction(expected, answer, search).map(|why| format!("{name}: {why}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A counter that goes up and down, and a process far from its assertion.
const COUNTERS: &str = "
    byte x, y;
    active proctype A() { do :: x < 200 -> x++ :: x > 0 -> x-- od }
    active proctype B() { do :: y < 200 -> y++ :: y > 0 -> y-- od }
    active proctype C() { x == 90; y == 90; y == 100 && x == 100; assert(false) }";

#[test]
fn the_distance_of_an_invariant_leads_to_its_violation() {
    let system = load(COUNTERS);
    let expected = 240;
    for text in ["!(x == 120 && y == 120)", "x < 120 || y != 120", "!(x >= 120) || !(y > 119)"] {
        for search in COMPLETE {
            let report = check(&system, &[invariant(&system, text)], search);
            assert_eq!(report.answers[0].verdict(), Verdict::Violated, "{text}");
            let states = report.statistics.states;
            // Of hundreds of thousands. A* looks at all that may be on a shorter path.
            assert!(search != Search::BestFirst || states < 2_000, "{search:?}, {text}: {states} states");
            let steps = steps(&report.answers[0]).unwrap_or(0);
            assert!(steps >= expected, "{search:?}, {text}: {steps} steps");
        }
        let report = check(&system, &[invariant(&system, text)], Search::AStar);
        // Each step is one of the promela statements, of which there are two for a change: a condition and an assignment.
        let wide = check(&system, &[invariant(&system, text)], Search::BreadthFirst);
        assert_eq!(steps(&report.answers[0]), steps(&wide.answers[0]), "{text}");
        assert!(report.statistics.states <= wide.statistics.states, "{text}");
    }
}

#[test]
fn a_formula_is_directed_by_its_automaton() {
    let system = load(COUNTERS);
    for text in ["[] !(x == 60 && y == 60)", "(x != 50) W (y == 50)", "[] (x == 30 -> y != 70)"] {
        let wide = check(&system, &[ltl(&system, text)], Search::BreadthFirst);
        for search in COMPLETE {
            let report = check(&system, &[ltl(&system, text)], search);
            assert_eq!(report.answers[0].verdict(), wide.answers[0].verdict(), "{search:?} {text}");
            // Where all successors look alike, hill climbing is depth first.
            let is_narrow = report.statistics.states <= wide.statistics.states;
            assert!(is_narrow || search == Search::HillClimbing, "{search:?} {text}");
        }
    }
}

#[test]
fn what_only_endless_runs_violate_is_not_for_a_directed_search() {
    let system = load("byte x; active proctype A() { do :: x = 1 - x od }");
    let ctl = ample::ctl(&system, "EF (x == 1)").unwrap_or_else(|error| panic!("{error}"));
    for search in COMPLETE.into_iter().chain(INCOMPLETE) {
        let report =
            check(&system, &[ltl(&system, "<> [] (x == 1)"), property("ctl", Question::Ctl(ctl.clone()))], search);
        for answer in &report.answers {
            let why = match &*answer.outcome {
                Outcome::Unknown(Reason::Unsupported(why)) => why,
                other => panic!("{other:?}"),
            };
            assert!(why.starts_with(&format!("`{}` looks for runs of finite length", search.option())), "{why}");
        }
    }
}

#[test]
fn one_property_that_holds_does_not_hide_another() {
    // The deadlock is found at once; the invariant holds, and the search for it visits everything.
    let system = load("byte x; active proctype A() { do :: x < 9 -> x++ :: x > 3 -> x = 20 - x; false od }");
    for search in COMPLETE {
        let properties = [Property::deadlock(), invariant(&system, "x < 18"), invariant(&system, "x != 15")];
        let report = check(&system, &properties, search);
        let verdicts: Vec<Verdict> = report.answers.iter().map(Answer::verdict).collect();
        assert_eq!(verdicts, [Verdict::Violated, Verdict::Holds, Verdict::Violated], "{search:?}");
    }
}

#[test]
fn the_command_takes_heuristics_by_name_and_as_expressions() {
    let folder = Folder::new("directed-heuristics");
    let file = folder.file("m.pml", COUNTERS);
    let ample = |words: &[&str]| support::ample(words, &file);
    for heuristic in ["auto", "formula", "200 - x", "120 - x + 120 - y"] {
        let invariant = ["--invariant", "x < 120", "--search", "best-first", "--heuristic", heuristic, "--json"];
        let output = ample(&[&["check"][..], &invariant].concat());
        assert_eq!(code(&output), 1, "{}", errors(&output));
        assert!(json(&output)["stats"]["expanded"].is_u64());
        assert_eq!(result(&json(&output), "invariant:x < 120")["verdict"], "violated");
    }
    let output = ample(&["check", "--search", "a-star", "--heuristic", "120 - z"]);
    assert_eq!(code(&output), 2);
    assert!(errors(&output).contains('z') && errors(&output).contains("1:7"), "{}", errors(&output));

    for (words, sentence) in [
        (&["--heuristic", "deadlock"][..], "`--heuristic` is for a directed search"),
        (&["--heuristic", "x"], "`--heuristic` is for a directed search"),
        (&["--search", "a-star", "--beam-width", "3"], "`--beam-width` is for beam search"),
        (&["--search", "beam", "--walks", "3"], "`--walks` is for random walks"),
        (&["--search", "a-star", "--por", "persistent"], "`--search a-star` is without partial-order reduction"),
        (&["--search", "random-walk", "--symmetry", "canonical"], "has no use for `--symmetry`"),
        (&["--search", "beam", "--engine", "symbolic"], "`--search` is for the explicit engine"),
    ] {
        let output = ample(&[&["check"], words].concat());
        assert_eq!(code(&output), 2, "{words:?}");
        assert!(errors(&output).contains(sentence), "{words:?}: {}", errors(&output));
    }
    let output = ample(&["states", "--search", "a-star"]);
    assert!(code(&output) == 2 && errors(&output).contains("looks for violations"), "{}", errors(&output));
}

#[test]
fn beam_search_and_random_walks_never_say_holds() {
    let folder = Folder::new("directed-incomplete");
    let file = folder.file("m.pml", "byte x; active proctype A() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }");
    for search in ["beam", "random-walk"] {
        let output = support::ample(&["check", "--search", search], &file);
        assert_eq!(code(&output), 3, "{}", text(&output));
        assert!(!text(&output).contains("holds") && text(&output).contains("unknown: "), "{}", text(&output));
    }
    // The same seed, the same walk.
    let file = folder.file(
        "d.pml",
        "byte x; active [3] proctype A() { do :: x < 50 -> x++ :: x > 2 -> x = x - 2 :: x == 37 -> break od; false }",
    );
    let walk = |seed| text(&support::ample(&["check", "--deadlock", "--search", "random-walk", "--seed", seed], &file));
    let without_times =
        |text: String| text.lines().filter(|line| !line.contains("seconds")).collect::<Vec<_>>().join("\n");
    assert_eq!(without_times(walk("7")), without_times(walk("7")));
    assert!(walk("7").contains("violated"), "{}", walk("7"));
}

/// Ten philosophers, to a deadlock: with rotations hill climbing stores the states of the way there, and nothing else.
#[test]
fn ten_philosophers_starve_within_twenty_states() {
    let path = support::model("promela/philosophers_deadlock.pml");
    let words = "check --deadlock -D N=10 --symmetry canonical --search hill-climbing --json";
    let output = support::ample(&words.split(' ').collect::<Vec<_>>(), &path);
    assert_eq!(code(&output), 1, "{}", errors(&output));
    let report = json(&output);
    assert_eq!(result(&report, "deadlock")["verdict"], "violated");
    assert!(report["symmetry"].as_str().is_some_and(|symmetry| symmetry.contains("group order 10")), "{report}");
    assert!(report["stats"]["states"].as_u64().is_some_and(|states| states <= 20), "{}", report["stats"]);
}

#[test]
fn limits_end_directed_searches_with_a_reason() {
    let path = support::model("promela/philosophers_asymmetric.pml");
    for search in ["best-first", "hill-climbing", "a-star", "beam", "random-walk"] {
        let words = ["check", "--deadlock", "--search", search, "--time-limit", "1ms"];
        let output = support::ample(&words, &path);
        assert_eq!(code(&output), 3, "{search}: {}", text(&output));
    }
    let words = ["check", "--deadlock", "--search", "a-star", "--max-depth", "3", "--json"];
    let output = support::ample(&words, &path);
    assert_eq!(code(&output), 3);
    assert_eq!(result(&json(&output), "deadlock")["verdict"], "unknown");
}
