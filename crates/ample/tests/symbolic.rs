//! The symbolic engine beside the explicit one, on our own models and on small ones written for the purpose.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ample::{
    Budget, CheckOptions, Choice, Direction, Fairness, Outcome, PartialOrder, Preserve, Property, Question, Reach,
    Reason, Symbolic, System, Verdict,
};

/// Larger ones are for the long run.
const FEW_STATES: u64 = 1000;

fn model(text: &str) -> System {
    ample::load_text("m.pml", text.into(), &Default::default()).unwrap().system
}

fn milestones(name: &str) -> System {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/milestones").join(name);
    ample::load(&path, &Default::default()).unwrap().system
}

fn with(engine: Choice, symbolic: Symbolic) -> CheckOptions {
    CheckOptions { engine, engines: symbolic.into(), ..CheckOptions::default() }
}

fn symbolic() -> CheckOptions {
    with(Choice::Named("symbolic"), Symbolic::default())
}

fn exploration(partial_order: PartialOrder, preserve: Preserve) -> CheckOptions {
    let engine = with(Choice::Named("symbolic"), Symbolic { preserve, ..Symbolic::default() });
    CheckOptions { partial_order, ..engine }
}

fn by(reach: Reach) -> CheckOptions {
    with(Choice::Named("symbolic"), Symbolic { reach, ..Symbolic::default() })
}

fn own_models() -> Vec<PathBuf> {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut files = Vec::new();
    for (folder, extension) in [("promela", "pml"), ("milestones", "mil")] {
        let entries = std::fs::read_dir(models.join(folder)).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        files.extend(paths.filter(|path| path.extension().is_some_and(|e| e == extension)));
    }
    files.sort();
    files
}

/// The same for so many seconds.
fn within(seconds: u64, options: CheckOptions) -> CheckOptions {
    CheckOptions { budget: Budget::unlimited().with_time(Duration::from_secs(seconds)), ..options }
}

/// Both engines count the same states and give the same verdicts, where both come to an end.
fn compare(files: &[PathBuf], most_states: u64, seconds: u64) -> (usize, usize) {
    let (mut compared, mut undecided) = (0, 0);
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let system = ample::load(file, &Default::default()).unwrap().system;
        let explicit = with(Choice::Named("explicit"), Symbolic::default());
        let counted = ample::states(&system, &within(5, explicit.clone()));
        if counted.ended.is_some() || counted.statistics.states > most_states {
            continue;
        }
        let found = ample::states(&system, &within(seconds, symbolic()));
        if let Some(reason) = &found.ended {
            println!("{name}: {reason}");
            undecided += 1;
            continue;
        }
        assert_eq!(found.statistics.states, counted.statistics.states, "{name}");
        let expected = ample::check(&system, &within(20, explicit));
        let answers = ample::check(&system, &within(seconds, symbolic()));
        for (answer, expected) in answers.answers.iter().zip(&expected.answers) {
            match &*answer.outcome {
                Outcome::Unknown(Reason::Unsupported(why)) if !why.contains("internal error") => {}
                Outcome::Unknown(Reason::Time) => undecided += 1,
                _ => assert_eq!(answer.verdict(), expected.verdict(), "{name}, {}: {answer:?}", answer.property),
            }
        }
        compared += 1;
    }
    (compared, undecided)
}

#[test]
fn both_engines_agree_on_our_small_models() {
    let (compared, undecided) = compare(&own_models(), FEW_STATES, 20);
    println!("{compared} models compared, {undecided} not decided");
    assert!(compared > 20, "only {compared} models were compared");
    assert!(undecided < 5, "{undecided} were not decided");
}

#[test]
#[ignore = "takes minutes"]
fn both_engines_agree_on_all_our_models() {
    let (compared, undecided) = compare(&own_models(), u64::MAX, 120);
    println!("{compared} models compared, {undecided} not decided");
}

#[test]
fn every_way_to_reach_states_counts_the_same() {
    let system = milestones("producers_consumers_2.mil");
    for reach in [Reach::Saturation, Reach::Frontier, Reach::BreadthFirst, Reach::Chaining] {
        let report = ample::states(&system, &by(reach));
        assert_eq!(report.statistics.states, 51_859, "{reach:?}");
    }
}

#[test]
fn the_running_example_is_reached_as_the_thesis_tells() {
    let report = ample::states(&milestones("running_example.mil"), &by(Reach::Frontier));
    let rounds = report.diagrams.unwrap().rounds;
    let states: Vec<&str> = rounds.iter().map(|(states, _)| states.as_str()).collect();
    assert_eq!(states, ["1", "3", "5", "6", "7", "7"]);
}

#[test]
fn producers_and_consumers_have_the_published_figures() {
    // The states, and the images that a breadth-first search and a partial exploration take.
    let known = [(1, "1059", 112, 459, 448), (2, "51859", 192, 835, 909), (3, "3807747", 272, 1211, 1368)];
    for (size, states, images, reduced, reduced_images) in known {
        let system = milestones(&format!("producers_consumers_{size}.mil"));
        let full = ample::states(&system, &by(Reach::Frontier));
        assert_eq!(full.statistics.states.to_string(), states);
        assert_eq!(full.diagrams.unwrap().posts, images);
        let options = exploration(PartialOrder::Exploration, Preserve::Ctl);
        let explored = ample::states(&system, &options);
        assert_eq!(explored.statistics.states, reduced);
        assert_eq!(explored.diagrams.unwrap().posts, reduced_images);
    }
    let large = ample::states(&milestones("producers_consumers_20.mil"), &symbolic());
    let expected = "1034661805900574442338963195400163594483";
    assert_eq!(large.statistics.many_states.as_deref(), Some(expected));
}

#[test]
fn every_exploration_leaves_states_out_and_keeps_the_verdicts() {
    for name in ["producers_consumers_2.mil", "running_example.mil", "turntable_2.mil"] {
        let system = milestones(name);
        let full = ample::states(&system, &symbolic()).statistics.states;
        let expected = ample::check(&system, &symbolic());
        let ways = [
            PartialOrder::Exploration,
            PartialOrder::ExplorationNew,
            PartialOrder::ExplorationUnexpanded,
            PartialOrder::Improviso,
            PartialOrder::Areduce,
            PartialOrder::Static,
        ];
        for way in ways {
            for preserve in [Preserve::Ctl, Preserve::Ltl, Preserve::Deadlocks] {
                let reduced = ample::states(&system, &exploration(way, preserve)).statistics.states;
                assert!(reduced > 0 && reduced <= full, "{name}, {way:?}: {reduced} of {full}");
            }
            let report = ample::check(&system, &exploration(way, Preserve::Ctl));
            for (answer, expected) in report.answers.iter().zip(&expected.answers) {
                assert_eq!(answer.verdict(), expected.verdict(), "{name}, {way:?}, {}", answer.property);
            }
        }
    }
}

#[test]
fn forward_and_backward_agree_on_a_model_with_faults_and_atomic_sequences() {
    let system = model(
        "byte x; byte y; chan c = [2] of { byte };
         active proctype P() { do :: atomic { x < 3 -> x++; c!x } :: x > 2 -> y = 6 / (3 - x); break od }
         active proctype Q() { byte v; end: do :: c?v -> y = v od }
         ltl reply { [] ((x == 1) -> <> (y == 1)) }
         ltl never3 { [] !(y == 3) }",
    );
    let explicit = ample::check(&system, &with(Choice::Named("explicit"), Symbolic::default()));
    for direction in [Direction::Backward, Direction::Forward] {
        let options = with(Choice::Named("symbolic"), Symbolic { direction, ..Symbolic::default() });
        let report = ample::check(&system, &options);
        for (answer, expected) in report.answers.iter().zip(&explicit.answers) {
            assert_eq!(answer.verdict(), expected.verdict(), "{direction:?}, {}", answer.property);
        }
    }
}

#[test]
fn a_counter_that_leaves_the_sample_gets_more_room() {
    let system = model("int n; active proctype P() { do :: n < 60000 -> n++ :: else -> break od }");
    let report = ample::states(&system, &symbolic());
    assert_eq!(report.ended, None);
    assert_eq!(report.statistics.states, 120_003);
    assert!(report.diagrams.unwrap().restarts > 0);
}

#[test]
fn limits_end_it_with_a_reason() {
    let text = "int a; int b; active proctype P() { do :: a = a * 7 + b :: b = b * 13 + a + 1 :: a == b -> break od }";
    // Slicing finds that the process is never blocked.
    let symbolic = || CheckOptions { reductions: Vec::new(), ..symbolic() };
    let report = ample::check(&model(text), &within(1, symbolic()));
    assert_eq!(report.verdict(), Verdict::Unknown);
    let options = CheckOptions { budget: Budget::unlimited().with_memory(1), ..symbolic() };
    let report = ample::states(&milestones("producers_consumers_20.mil"), &options);
    assert_eq!(report.ended, Some(Reason::Memory));
}

#[test]
fn what_one_engine_cannot_finish_the_other_does() {
    // Far too many states to look at one by one.
    let system = milestones("producers_consumers_10.mil");
    let report = ample::states(&system, &within(60, CheckOptions::default()));
    assert_eq!(report.statistics.many_states.as_deref(), Some("85103701142688067219"));
    assert!(report.choice.unwrap().starts_with("Engine: symbolic"));
}

/// One process goes on for ever; the other has one step to take.
const LAZY: &str = "bit x; bit y; active proctype P() { do :: x = 1 - x od } active proctype Q() { y = 1 }";

fn asked(question: Question) -> Option<Vec<Property>> {
    Some(vec![Property { name: "asked".into(), question, text: String::new(), span: None }])
}

fn ctl(system: &System, text: &str) -> Option<Vec<Property>> {
    asked(Question::Ctl(ample::ctl(system, text).unwrap()))
}

fn ltl(system: &System, text: &str) -> Option<Vec<Property>> {
    asked(Question::Ltl(ample::ltl(system, text).unwrap()))
}

#[test]
fn in_fair_ctl_the_quantifiers_range_over_fair_runs() {
    use Verdict::{Holds, Violated};
    let system = model(LAZY);
    // In the initial state: of all runs, of weakly and of strongly fair ones.
    let known = [
        ("AF (y == 1)", [Violated, Holds, Holds]),
        ("EG (y == 0)", [Holds, Violated, Violated]),
        ("AG AF (x == 0)", [Holds, Holds, Holds]),
        ("AG (y == 0)", [Violated, Violated, Violated]),
        ("EX (y == 0)", [Holds, Holds, Holds]),
        ("EF AG (y == 1 && x == 0)", [Violated, Violated, Violated]),
    ];
    for (text, verdicts) in known {
        let fairness = [Fairness::None, Fairness::Weak, Fairness::Strong];
        for (fairness, verdict) in fairness.into_iter().zip(verdicts) {
            let options = CheckOptions { properties: ctl(&system, text), fairness, ..symbolic() };
            let report = ample::check(&system, &options);
            assert_eq!(report.verdict(), verdict, "{text}, {fairness:?}: {:?}", report.answers);
        }
    }
}

#[test]
fn a_violated_fair_formula_is_shown_by_a_fair_run_or_not_at_all() {
    let system = model(LAZY);
    let check = |text: &str| {
        let options = CheckOptions { properties: ctl(&system, text), fairness: Fairness::Weak, ..symbolic() };
        ample::check(&system, &options).answers.remove(0)
    };
    let shown = check("AG (y == 0)");
    let trace = shown.trace().unwrap();
    assert!(!trace.cycle.is_empty(), "the run goes on fairly");
    assert!(trace.prefix.iter().any(|step| step.process.starts_with('Q')));
    // That there is no such run is shown by no run.
    let told = check("EG (y == 0)");
    assert_eq!((told.verdict(), told.shown()), (Verdict::Violated, None));
    let in_part = check("AG EF (y == 0)");
    assert!(!in_part.trace().unwrap().prefix.is_empty());
    assert!(in_part.note.unwrap().contains("is not shown"));
}

#[test]
fn justice_leaves_out_runs_with_every_engine() {
    let system = model(LAZY);
    let justice = vec![ample::expression(&system, "y == 1").unwrap()];
    for engine in [Choice::Auto, Choice::Named("explicit"), Choice::Named("symbolic")] {
        let options =
            |properties| CheckOptions { properties, justice: justice.clone(), ..with(engine, Symbolic::default()) };
        let report = ample::check(&system, &options(ltl(&system, "<> (y == 1)")));
        assert_eq!(report.verdict(), Verdict::Holds, "{engine:?}");
        let report = ample::check(&system, &options(ltl(&system, "[] <> (x == 0)")));
        assert_eq!(report.verdict(), Verdict::Holds, "P never stops, {engine:?}");
        let report = ample::check(&system, &options(ltl(&system, "[] (x == 0)")));
        assert_eq!(report.verdict(), Verdict::Violated, "{engine:?}");
        assert_eq!(report.answers[0].property, "ltl:asked");
        let expected = if engine == Choice::Named("explicit") { Verdict::Unknown } else { Verdict::Holds };
        let report = ample::check(&system, &options(ctl(&system, "AF (y == 1)")));
        assert_eq!(report.verdict(), expected, "{engine:?}");
        let report = ample::check(&system, &options(Some(vec![Property::progress()])));
        assert_eq!(report.verdict(), Verdict::Unknown, "{engine:?}");
    }
}

#[test]
fn liveness_as_safety_finds_the_shortest_run() {
    let system = model(LAZY);
    let saving = Symbolic { liveness_to_safety: true, ..Symbolic::default() };
    for (text, fairness, expected) in [
        ("<> (y == 1)", Fairness::None, Some((0, 2))),
        ("<> (y == 1)", Fairness::Weak, None),
        ("[] (y == 0)", Fairness::Strong, Some((1, 2))),
        ("[] <> (x == 0)", Fairness::Weak, None),
    ] {
        let options =
            CheckOptions { properties: ltl(&system, text), fairness, ..with(Choice::Named("symbolic"), saving) };
        let report = ample::check(&system, &options);
        let trace = report.answers[0].trace().map(|trace| (trace.prefix.len(), trace.cycle.len()));
        match expected {
            None => assert_eq!(report.verdict(), Verdict::Holds, "{text}, {fairness:?}"),
            Some((prefix, cycle)) => {
                let (found, round) = trace.unwrap();
                assert!(found + round <= prefix + cycle + 1, "{text}, {fairness:?}: {found} and {round} steps");
            }
        }
    }
}

#[test]
fn progress_is_asked_of_runs_that_go_on() {
    let stuck = model("bit x; active proctype P() { x = 1; x == 0 }");
    let endless = model("bit x; active proctype P() { do :: x = 1 - x od }");
    let marked = model("bit x; active proctype P() { do :: progress: x = 1 - x od }");
    for (system, verdict) in [(stuck, Verdict::Holds), (endless, Verdict::Violated), (marked, Verdict::Holds)] {
        let options = CheckOptions { properties: Some(vec![Property::progress()]), ..symbolic() };
        assert_eq!(ample::check(&system, &options).verdict(), verdict);
    }
}

#[test]
fn a_search_that_is_ended_tells_what_it_has_reached() {
    let system = milestones("producers_consumers_20.mil");
    let report = ample::states(&system, &within(1, by(Reach::Frontier)));
    assert_eq!(report.ended, Some(Reason::Time));
    assert!(report.statistics.states > 1 && !report.statistics.complete);
    let diagrams = report.diagrams.unwrap();
    assert!(diagrams.bits > 0 && diagrams.reached_nodes > 0 && diagrams.peak_nodes > 0);
}
