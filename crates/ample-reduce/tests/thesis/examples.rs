//! The worked examples (ch. 4 and 6), with the sets that the thesis gives, and the sizes of the reduced state spaces.

use super::models::*;
use super::oracle::{is_conditional_stubborn, is_persistent, is_trace_automaton};
use super::search::{Choose, Order, Revisit, full, proviso, search, sleep, terminal};
use super::system::{System, write};
use ample_reduce::algorithms::{Algorithm, Choice, Chooser, Interference};
use ample_reduce::objects::Table;
use ample_reduce::scheme::TransitionNumber;

pub const A1: Algorithm = Algorithm::Conflicting(Interference::Possible);
pub const A2: Algorithm = Algorithm::Overman(Interference::Possible);
pub const A3: Algorithm = Algorithm::Stubborn(Choice::Greedy);
pub const A4: Algorithm = Algorithm::Conditional(Choice::Greedy);

/// The persistent set of the initial state that the algorithm finds from t`seed`, with the thesis's numbers.
fn persistent(system: &System, algorithm: Algorithm, seed: TransitionNumber) -> Vec<TransitionNumber> {
    let mut chooser = Chooser::new(Table::Conditional);
    chooser.update(&system.scheme);
    let mut set = Vec::new();
    chooser.persistent(algorithm, &system.scheme, &mut system.view(&system.initial), seed - 1, &mut set);
    assert!(is_persistent(system, &system.initial, &set, Table::Conditional));
    assert!(is_conditional_stubborn(system, &system.initial, &set, Table::Conditional, 5));
    set.iter().map(|number| number + 1).collect()
}

fn size(system: &System, algorithm: Algorithm) -> (usize, usize) {
    search(system, Choose::smallest(system, algorithm, Table::Conditional)).size()
}

fn asleep(system: &System) -> super::search::Graph {
    sleep(system, Choose::Everything, Table::Conditional, Order::Stack, Revisit::WakeUp)
}

#[test]
fn example_4_8_conflicting_transitions() {
    let system = example_4_8();
    assert_eq!(persistent(&system, A1, 1), [1]);
    assert_eq!(full(&system).size(), (7, 7));
    assert_eq!(size(&system, A1), (6, 5));
}

#[test]
fn example_4_11_a_disabled_transition_stops_algorithm_1() {
    let system = example_4_11();
    assert_eq!(persistent(&system, A1, 1), [1, 4]);
    assert_eq!(persistent(&system, A2, 1), [1]);
    assert_eq!(full(&system).size(), (7, 7));
    assert_eq!((size(&system, A1), size(&system, A2)), ((7, 7), (6, 5)));
}

#[test]
fn example_4_19_stubborn_sets_see_what_cannot_be_enabled() {
    let system = example_4_19();
    for seed in [2, 4] {
        assert_eq!(persistent(&system, A1, seed), [2, 4]);
        assert_eq!(persistent(&system, A2, seed), [2, 4]);
    }
    assert_eq!(persistent(&system, A3, 4), [4]);
    assert_eq!(full(&system).size(), (8, 12));
    assert_eq!(size(&system, A3), (7, 9));
}

#[test]
fn example_4_30_first_interference() {
    let system = example_4_30();
    for algorithm in [A1, A2, A3] {
        assert_eq!(persistent(&system, algorithm, 1), [1, 3]);
    }
    assert_eq!(persistent(&system, A4, 1), [1]);
    assert_eq!(full(&system).size(), (34, 47));
    assert_eq!([A1, A2, A3, A4].map(|algorithm| size(&system, algorithm)), [(34, 47), (34, 47), (32, 40), (24, 27)]);
}

#[test]
fn example_5_1_has_one_persistent_set_only() {
    let system = example_5_1();
    let subsets: [&[TransitionNumber]; 3] = [&[0], &[2], &[0, 2]];
    let judge = |set: &[TransitionNumber]| is_persistent(&system, &system.initial, set, Table::Conditional);
    assert_eq!(subsets.map(judge), [false, false, true]);
    assert_eq!(full(&system).size(), (13, 14));
    assert_eq!(asleep(&system).size(), (13, 12));
}

#[test]
fn example_5_5_sleep_sets_leave_nothing_to_match() {
    let system = example_5_5();
    assert_eq!(full(&system).size(), (9, 12));
    let graph = asleep(&system);
    assert_eq!((graph.size(), graph.matched), ((9, 8), 0));
}

#[test]
fn example_6_1_needs_a_proviso() {
    let system = example_6_1();
    let reaches_l = |graph: &super::search::Graph| graph.local_states().contains(&(1, 1));
    assert_eq!(persistent(&system, A2, 1), [1]);
    assert_eq!(full(&system).size(), (4, 6));
    let graph = search(&system, Choose::smallest(&system, A2, Table::Conditional));
    assert!(graph.size() == (2, 2) && !reaches_l(&graph));
    for algorithm in Algorithm::ALL {
        let choose = || Choose::smallest(&system, algorithm, Table::WeaklyUniform);
        let graph = proviso(&system, choose(), Some(Table::WeaklyUniform));
        assert!(reaches_l(&graph) && [(3, 3), (4, 4)].contains(&graph.size()), "{algorithm:?}: {:?}", graph.size());
        assert!(is_trace_automaton(&system, &graph, Table::WeaklyUniform, 4), "{algorithm:?}");
        assert!(reaches_l(&proviso(&system, choose(), None)), "{algorithm:?}");
        assert!(reaches_l(&terminal(&system, choose())), "{algorithm:?}");
    }
}

#[test]
fn the_search_without_proviso_gives_no_trace_automaton() {
    let system = example_6_1();
    let graph = search(&system, Choose::smallest(&system, A2, Table::Conditional));
    assert!(!is_trace_automaton(&system, &graph, Table::Conditional, 2));
}

#[test]
fn trace_automata_of_the_examples() {
    let systems =
        [example_4_8(), example_4_11(), example_4_19(), example_5_1(), example_5_5(), philosophers(2), meeting()];
    for (number, system) in systems.iter().enumerate() {
        for algorithm in [A1, A2, A3, A4] {
            let choose = Choose::smallest(system, algorithm, Table::WeaklyUniform);
            let graph = proviso(system, choose, Some(Table::WeaklyUniform));
            assert!(is_trace_automaton(system, &graph, Table::WeaklyUniform, 4), "system {number}, {algorithm:?}");
        }
    }
}

#[test]
#[should_panic(expected = "R1")]
fn an_object_is_not_used_after_it_was_changed() {
    let mut system = example_4_8();
    system.transition(&[(0, 0, 0)], &[], &[write(0, 1), write(0, 0)]);
}

#[test]
fn an_operation_that_is_not_defined_disables_its_transition() {
    let system = producer_and_consumer(1, Waiting::Implicit);
    assert_eq!(system.enabled(&system.initial), [1]);
    let full = system.successor(&system.initial, 1);
    assert_eq!(system.enabled(&full), [0]);
}

#[test]
fn transitions_of_several_processes_are_taken_together() {
    let system = meeting();
    let graph = full(&system);
    assert_eq!(graph.size(), (5, 8));
    assert!(graph.deadlocks(&system).is_empty());
}

#[test]
fn nothing_is_gained_where_everything_depends() {
    for number in 2..=4 {
        let system = turns(number);
        for algorithm in Algorithm::ALL {
            assert_eq!(size(&system, algorithm), full(&system).size());
        }
    }
}

/// An assertion is a transition to a location of its own (§6.4); a monitor is a process.
#[test]
fn a_violated_assertion_and_a_violated_invariant_are_found() {
    use super::system::is;
    for is_wrong in [true, false] {
        let mut system = example_6_1();
        system.transition(&[(1, 1, 2)], &[is(1, if is_wrong { 1 } else { 0 })], &[]);
        let monitor = system.process(0);
        system.transition(&[(monitor, 0, 1)], &[is(0, if is_wrong { 1 } else { 2 })], &[]);
        for algorithm in Algorithm::ALL {
            let choose = Choose::smallest(&system, algorithm, Table::WeaklyUniform);
            let graph = proviso(&system, choose, Some(Table::WeaklyUniform));
            assert_eq!(graph.local_states(), full(&system).local_states(), "{algorithm:?}");
            assert_eq!(graph.local_states().contains(&(1, 2)), is_wrong);
            assert_eq!(graph.local_states().contains(&(2, 1)), is_wrong);
        }
    }
}
