//! The figures of P. Godefroid's thesis, on models in Promela: what the algorithms find on the systems that it describes
//! (§3.1, §4.5, §4.7, §8.1), and how they compare with its table 8.1 on models of the same protocols. The latter are not
//! part of the project; without them those tests say so, and end.

use std::path::{Path, PathBuf};

use ample_budget::Budget;
use ample_engine::settings::{PartialOrder, Settings};
use ample_explicit::engine::options::{Explicit, Options, Search};
use ample_explicit::engine::reduce::{Point, ReduceError, ReduceOptions, choice, trace_automaton};
use ample_explicit::engine::reduction::{Algorithm, Dependency, Proviso};
use ample_explicit::engine::work::states;
use ample_lang::promela::{self, preprocess::FileLoader};
use ample_model::System;

const PERSISTENT: PartialOrder = PartialOrder::Persistent;
const SLEEP: PartialOrder = PartialOrder::Sleep;
const BOTH: PartialOrder = PartialOrder::PersistentSleep;

fn read(text: &str) -> System {
    promela::read("model.pml", text.into(), &mut FileLoader, &[]).unwrap().system
}

fn explicit(algorithm: Algorithm) -> Explicit {
    Explicit { algorithm, proviso: Proviso::None, ..Explicit::default() }
}

/// The states and transitions of a search.
fn count(system: &System, partial_order: PartialOrder, explicit: Explicit) -> (u64, u64) {
    let settings = Settings { partial_order, ..Settings::default() };
    let report = states(system, &Options { settings, explicit }, &Budget::unlimited());
    assert_eq!(report.ended, None);
    (report.statistics.states, report.statistics.transitions)
}

fn philosophers(number: u32) -> System {
    read(&format!(
        "bool fork[{number}];
         active [{number}] proctype P() {{
           do
           :: atomic {{ !fork[_pid] -> fork[_pid] = true }};
              atomic {{ !fork[(_pid + 1) % {number}] -> fork[(_pid + 1) % {number}] = true }};
              fork[_pid] = false;
              fork[(_pid + 1) % {number}] = false
           od
         }}"
    ))
}

/// The systems of §2.3 and §8.1; the initial state counts as an arrival.
#[test]
fn philosophers_are_few_with_stubborn_sets() {
    for (number, all, overman, stubborn) in [(3, 26, 20, (20, 28)), (5, 242, 102, (62, 86)), (8, 6560, 736, (170, 233))]
    {
        let system = philosophers(number);
        let whole = Explicit { search: Search::DepthFirst, ..Explicit::default() };
        assert_eq!(count(&system, PartialOrder::None, whole).0, all);
        assert_eq!(count(&system, PERSISTENT, explicit(Algorithm::Overman)).0, overman);
        for algorithm in [Algorithm::Stubborn, Algorithm::Conditional, Algorithm::Guards] {
            assert_eq!(count(&system, PERSISTENT, explicit(algorithm)), stubborn, "{number}, {algorithm:?}");
        }
    }
}

/// Example 4.30: a channel with three of five messages.
const FIRST_INTERFERENCE: &str = "
    chan q = [5] of { bit };
    bit x;
    active proctype A() { d_step { q!0; q!0; q!0 }; do :: q?_ -> x = 0 od }
    active proctype B() { x = 1; if :: empty(q) :: nempty(q) fi }";

#[test]
fn conditional_stubborn_sets_know_first_interference() {
    let system = read(FIRST_INTERFERENCE);
    let taken = |algorithm, dependency| {
        let options = ReduceOptions { algorithm, dependency, ..ReduceOptions::default() };
        let at = |moves| choice(&system, &Point::Moves(moves), &options, &Budget::unlimited()).unwrap().1;
        // The channel is filled first.
        let filling = at(vec![]).enabled.iter().find(|one| one.text.contains("q!0")).unwrap().number;
        let choice = at(vec![filling]);
        let enabled = |text: &str| choice.enabled.iter().any(|one| one.text.contains(text));
        assert!(enabled("q?_") && enabled("x = 1"));
        let taken = choice.enabled.iter().filter(|one| one.taken).map(|one| one.text.clone());
        taken.filter(|text| text.contains("q?_") || text.contains("x = 1")).collect::<Vec<_>>()
    };
    assert_eq!(taken(Algorithm::Conditional, Dependency::Conditional), ["q?_"]);
    assert_eq!(taken(Algorithm::Stubborn, Dependency::Conditional).len(), 2);
    // Ours know first interference too, unless dependency is the same in all states.
    for algorithm in [Algorithm::Conflicting, Algorithm::Overman] {
        assert_eq!(taken(algorithm, Dependency::Operation).len(), 2, "{algorithm:?}");
    }
}

const PRODUCER: &str = "active proctype producer() { do :: queue!1 od }";
const CONSUMER: &str = "active proctype consumer() { do :: queue?_ od }";

/// Example 8.1, whichever process comes first; and with the guards that the thesis writes.
#[test]
fn a_producer_and_a_consumer_have_two_states_in_any_order() {
    let careful = "active proctype producer() { do :: atomic { nfull(queue) -> queue!1 } od }";
    let ready = "active proctype consumer() { do :: atomic { nempty(queue) -> queue?_ } od }";
    for (first, second) in [(PRODUCER, CONSUMER), (CONSUMER, PRODUCER), (careful, ready), (ready, careful)] {
        let system = read(&format!("chan queue = [50] of {{ bit }}; {first} {second}"));
        for algorithm in [Algorithm::Overman, Algorithm::Stubborn, Algorithm::Conditional, Algorithm::Guards] {
            for proviso in [Proviso::None, Proviso::Stack, Proviso::Components] {
                let explicit = Explicit { proviso, ..explicit(algorithm) };
                let (states, _) = count(&system, PERSISTENT, explicit);
                assert_eq!(states, 2, "{algorithm:?}, {proviso:?}, {first}");
            }
        }
    }
}

/// All orders of these.
fn permutations(parts: &[&str]) -> Vec<String> {
    if parts.is_empty() {
        return vec![String::new()];
    }
    let mut all = Vec::new();
    for number in 0..parts.len() {
        let mut rest = parts.to_vec();
        let first = rest.remove(number);
        all.extend(permutations(&rest).into_iter().map(|rest| format!("{first}\n{rest}")));
    }
    all
}

#[test]
fn the_order_of_declarations_does_not_matter_much() {
    let pipeline: [&str; 4] = [
        "active proctype source() { byte i; do :: i < 6 -> a!i; i++ :: else -> break od }",
        "active proctype relay() { byte m; do :: a?m -> b!m od }",
        "active proctype filter() { byte m; do :: b?m -> if :: m % 2 -> c!m :: else fi od }",
        "active proctype sink() { byte m; do :: c?m od }",
    ];
    let ring: [&str; 3] = [
        "active proctype P() { do :: a?_ -> x++; b!0 od }",
        "active proctype Q() { do :: b?_ -> x--; c!0 od }",
        "active proctype R() { c!0; do :: c?_ -> a!0 od }",
    ];
    let channels = "chan a = [3] of { byte }; chan b = [3] of { byte }; chan c = [3] of { byte }; byte x;";
    for parts in [&pipeline[..], &ring[..]] {
        for algorithm in [Algorithm::Overman, Algorithm::Stubborn, Algorithm::Conditional, Algorithm::Guards] {
            let counts: Vec<u64> = permutations(parts)
                .iter()
                .map(|processes| count(&read(&format!("{channels} {processes}")), PERSISTENT, explicit(algorithm)).0)
                .collect();
            let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
            assert!(*most <= 2 * least, "{algorithm:?}: {counts:?}");
        }
    }
}

#[test]
fn finer_dependency_reduces_more() {
    let system = read(
        "chan q = [4] of { byte }; byte x;
         active proctype P() { do :: atomic { nfull(q) -> q!1 } :: x++ od }
         active proctype Q() { byte m; do :: q?m od }
         active proctype R() { do :: x++ od }",
    );
    let states = |dependency| {
        let explicit = Explicit { dependency: Some(dependency), ..explicit(Algorithm::Overman) };
        count(&system, PERSISTENT, explicit).0
    };
    let counts = [Dependency::Constant, Dependency::Operation, Dependency::Conditional].map(states);
    assert!(counts[0] >= counts[1] && counts[1] >= counts[2] && counts[0] > counts[2], "{counts:?}");
}

#[test]
fn a_trace_automaton_has_one_order_of_independent_steps() {
    let system = read("byte x, y; active proctype P() { x = 1 } active proctype Q() { y = 2 }");
    let options = ReduceOptions { most_states: 20, ..ReduceOptions::default() };
    let (_, automaton) = trace_automaton(&system, &options, &Budget::unlimited()).unwrap();
    assert_eq!(automaton.steps.len() + 1, automaton.states.len());
    assert_eq!(automaton.states.iter().filter(|state| state.is_dead).count(), 1);
    let small = ReduceOptions { most_states: 2, ..ReduceOptions::default() };
    let refused = trace_automaton(&system, &small, &Budget::unlimited()).err();
    assert_eq!(refused, Some(ReduceError::TooLarge(2)));
}

/// It is the graph of the search with persistent sets, sleep sets and the proviso.
#[test]
fn trace_automata_are_the_graphs_of_the_search() {
    for system in [philosophers(3), philosophers(4), read(FIRST_INTERFERENCE)] {
        let options = ReduceOptions { most_states: 1_000, ..ReduceOptions::default() };
        let (_, automaton) = trace_automaton(&system, &options, &Budget::unlimited()).unwrap();
        let whole = Explicit { search: Search::DepthFirst, ..Explicit::default() };
        let (all, _) = count(&system, PartialOrder::None, whole);
        let settled = automaton.states.iter().filter(|state| !state.is_transient).count() as u64;
        assert!(settled <= all, "{settled} of {all}");
        assert!(automaton.states.iter().filter(|state| state.is_dead).count() >= 1);
    }
}

/// A model beside the project, if it is there.
fn foreign(name: &str) -> Option<System> {
    let file: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpora/promela").join(name);
    let Ok(text) = std::fs::read_to_string(&file) else {
        println!("skipped, because there is no {name}");
        return None;
    };
    Some(promela::read(&file.to_string_lossy(), text, &mut FileLoader, &[]).unwrap().system)
}

/// Table 8.1, DTP: 251,409 states and 648,467 transitions; a model with the same numbers without reduction is public.
#[test]
fn the_data_transfer_protocol_comes_to_no_more_than_in_the_thesis() {
    let Some(system) = foreign("spin/dtp.pml") else { return };
    let (states, transitions) = count(&system, PERSISTENT, explicit(Algorithm::Overman));
    assert!(states <= 9_904 && transitions <= 10_351, "{states} states, {transitions} transitions");
    let (states, transitions) = count(&system, SLEEP, Explicit::default());
    assert!(states == 251_409 && transitions <= 269_912, "{states} states, {transitions} transitions");
}

/// Table 8.1, PFTP: 56 % of the states with persistent and sleep sets, 62 % with persistent sets.
#[test]
fn the_file_transfer_protocol_is_reduced_as_in_the_thesis() {
    let Some(system) = foreign("spin/LTL/pftp.pml") else { return };
    for partial_order in [PERSISTENT, BOTH] {
        let (states, _) = count(&system, partial_order, explicit(Algorithm::Overman));
        assert!(states * 100 <= 56 * 439_895, "{states} states");
    }
}
