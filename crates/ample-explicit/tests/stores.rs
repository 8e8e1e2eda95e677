//! Every store with every search: on random systems the exact ones count what the plain search counts and answer as it does,
//! and the approximate ones find no error that is not there.
//!
//! The long run, `cargo test -p ample-explicit --release --test stores -- --ignored --nocapture`, looks at `AMPLE_MODELS`
//! systems.

use ample_budget::Budget;
use ample_engine::board::Board;
use ample_engine::report::{Answer, Report, Verdict};
use ample_engine::settings::{PartialOrder, Settings};
use ample_explicit::engine::options::{Explicit, Options, Search, SignatureBits, StoreKind};
use ample_explicit::engine::work;
use ample_logic::{Atoms, Dialect, parse};
use ample_model::random::{self, Features};
use ample_model::{BinaryOp, Certainty, Expr, Outcome, Place, Property, Question, Scope, System, Temporal, VariableId};

const SETS: [StoreKind; 6] = [
    StoreKind::Collapse,
    StoreKind::Tree,
    StoreKind::Automaton,
    StoreKind::BitState,
    StoreKind::Compact,
    StoreKind::Disk,
];

fn options(explicit: Explicit, partial_order: PartialOrder) -> Options {
    Options { explicit, settings: Settings { partial_order, ..Settings::default() } }
}

fn budget() -> Budget {
    Budget::unlimited().until(|progress| progress.states > 20_000).0
}

fn counted(system: &System, options: &Options) -> Report {
    work::states(system, options, &budget())
}

fn checked(system: &System, options: &Options) -> Report {
    let properties = [Property::deadlock(), Property::assertions()];
    work::check(system, &properties, options, &Board::of(&properties), &budget())
}

/// The answers, without what depends on the order of the search.
fn verdicts(report: &Report) -> Vec<(String, Verdict)> {
    let answered = |answer: &Answer| (answer.property.clone(), answer.verdict());
    report.answers.iter().map(answered).collect()
}

fn counts(report: &Report) -> (u64, u64, u64, u64) {
    let statistics = &report.statistics;
    (statistics.states, statistics.transitions, statistics.atomic_states, statistics.atomic_steps)
}

fn is_approximate(store: StoreKind) -> bool {
    store.is_approximate()
}

/// Compares all stores on a system; how many comparisons there were.
fn compare(seed: u64, system: &System) -> u64 {
    let plain = |search| Explicit { search, ..Explicit::default() };
    let exact = counted(system, &options(plain(Search::BreadthFirst), PartialOrder::None));
    if !exact.statistics.complete {
        return 0;
    }
    let mut compared = 0;
    let expected = checked(system, &options(plain(Search::BreadthFirst), PartialOrder::None));
    for store in SETS {
        for search in [Search::BreadthFirst, Search::DepthFirst] {
            if store == StoreKind::Disk && search == Search::DepthFirst {
                continue;
            }
            let small = is_approximate(store) && seed.is_multiple_of(3);
            let explicit = Explicit {
                search,
                store,
                // Small enough to omit states.
                hash_bits: (store == StoreKind::BitState).then_some(if small { 10 } else { 22 }),
                hash_functions: (store == StoreKind::BitState && small).then_some(2),
                signature_bits: (store == StoreKind::Compact && small).then_some(SignatureBits::Short),
                ..Explicit::default()
            };
            let name = format!("seed {seed}, {explicit:?}");
            let report = counted(system, &options(explicit, PartialOrder::None));
            assert_eq!(report.ended, None, "{name}");
            if is_approximate(store) {
                assert!(report.statistics.states <= exact.statistics.states, "{name}");
                assert!(report.statistics.omitted.is_some(), "{name}");
            } else {
                assert_eq!(counts(&report), counts(&exact), "{name}");
                assert_eq!(report.statistics.omitted, None, "{name}");
            }
            for partial_order in
                [PartialOrder::None, PartialOrder::Auto, PartialOrder::Persistent, PartialOrder::TwoPhase]
            {
                compared += 1;
                let report = checked(system, &options(explicit, partial_order));
                let name = format!("{name}, {partial_order:?}");
                if is_approximate(store) {
                    approximates(&report, &expected, &name);
                } else {
                    assert_eq!(verdicts(&report), verdicts(&expected), "{name}");
                }
            }
        }
    }
    compared
}

/// What holds is said to hold probably, and nothing is violated that is not.
fn approximates(report: &Report, expected: &Report, name: &str) {
    for (answer, right) in report.answers.iter().zip(&expected.answers) {
        match &*answer.outcome {
            Outcome::Holds(Certainty::Probable(omission)) => assert!((0.0..=1.0).contains(omission), "{name}"),
            Outcome::Violated(_) => assert_eq!(right.verdict(), Verdict::Violated, "{name}"),
            Outcome::Unknown(reason) => assert_eq!(right.verdict(), Verdict::Unknown, "{name}: {reason}"),
            Outcome::Holds(certainty) => panic!("{name}: {} holds, {certainty:?}", answer.property),
        }
    }
}

fn compare_random(seeds: std::ops::Range<u64>) -> u64 {
    let sets = [Features::ALL, Features::NONE, Features { faults: false, looks: false, ..Features::ALL }];
    let all = seeds.map(|seed| compare(seed, &random::system(seed, sets[seed as usize % sets.len()])));
    all.sum()
}

#[test]
fn every_store_agrees_with_the_exact_one_on_random_systems() {
    let compared = compare_random(0..60);
    assert!(compared > 1_000, "{compared}");
}

#[test]
#[ignore = "takes minutes"]
fn every_store_agrees_with_the_exact_one_on_many_random_systems() {
    let models = std::env::var("AMPLE_MODELS").ok().and_then(|models| models.parse().ok()).unwrap_or(2_000);
    println!("{} comparisons", compare_random(1_000..1_000 + models));
    println!("{:?} that hold and that are violated", compare_endless(1_000..1_000 + models));
}

/// Formulas over two atoms, most of which say something of endless runs.
const FORMULAS: [&str; 10] = [
    "[] <> p",
    "<> [] p",
    "[] (p -> <> q)",
    "[] <> p -> [] <> q",
    "([] <> p) && ([] <> q)",
    "p U q",
    "[] !(p && q)",
    "<> q",
    "X X (p || q)",
    "[] (q -> (q U p) || <> [] !p)",
];

/// A global variable is not zero.
fn is_set(system: &System, number: usize) -> Expr {
    let scalar = system.scalars(&system.globals[number].ty)[0];
    let place =
        Place { scope: Scope::Global, variable: VariableId::from(number), offset: 0, indices: Vec::new(), scalar };
    Expr::binary(BinaryOp::NotEqual, Expr::Read(place), Expr::Const(0))
}

/// Properties of endless runs of a random system.
fn endless(system: &System) -> Vec<Property> {
    let formula = |text: &&str| {
        let mut atoms = Atoms::from_iter(["p", "q"]);
        let formula = parse(text, Dialect::Spin, &mut atoms).expect("a formula");
        Question::Ltl(Temporal { formula, atoms: vec![is_set(system, 0), is_set(system, 1)] })
    };
    let questions = FORMULAS.iter().map(formula).chain([Question::Acceptance, Question::Progress]);
    let named = |(number, question)| Property { name: format!("{number}"), question, ..Property::deadlock() };
    questions.enumerate().map(named).collect()
}

/// Compares all stores on properties of endless runs; how many hold and how many are violated.
fn compare_endless(seeds: std::ops::Range<u64>) -> (usize, usize) {
    let sets = [Features::ALL, Features::NONE, Features { faults: false, looks: false, ..Features::ALL }];
    let (mut holding, mut violated) = (0, 0);
    for seed in seeds {
        let system = random::system(seed, sets[seed as usize % sets.len()]);
        let properties = endless(&system);
        let checked = |explicit: Explicit| {
            let options = options(explicit, PartialOrder::Auto);
            work::check(&system, &properties, &options, &Board::of(&properties), &budget())
        };
        let expected = checked(Explicit::default());
        if expected.ended.is_some() {
            continue;
        }
        let count = |verdict| expected.answers.iter().filter(|answer| answer.verdict() == verdict).count();
        holding += count(Verdict::Holds);
        violated += count(Verdict::Violated);
        for store in SETS.into_iter().filter(|store| *store != StoreKind::Disk) {
            let small = is_approximate(store) && seed.is_multiple_of(3);
            let explicit = Explicit {
                store,
                hash_bits: (store == StoreKind::BitState).then_some(if small { 10 } else { 22 }),
                signature_bits: (store == StoreKind::Compact && small).then_some(SignatureBits::Short),
                ..Explicit::default()
            };
            let name = format!("seed {seed}, {explicit:?}");
            let report = checked(explicit);
            if is_approximate(store) {
                approximates(&report, &expected, &name);
            } else {
                assert_eq!(verdicts(&report), verdicts(&expected), "{name}");
            }
        }
    }
    (holding, violated)
}

#[test]
fn endless_runs_are_found_with_every_store() {
    let (holding, violated) = compare_endless(0..60);
    assert!(holding > 50 && violated > 100, "{holding} hold, {violated} are violated");
}
