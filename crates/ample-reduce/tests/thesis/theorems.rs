//! The theorems, on random systems.

use super::examples::{A1, A2, A4};
use super::oracle::{
    executed_after, is_conditional_stubborn, is_persistent, is_trace_automaton, is_valid_in, is_weakly_uniform_in,
};
use super::random::system;
use super::search::{Choose, Graph, Order, Revisit, full, proviso, search, sleep, terminal};
use super::system::{State, System};
use ample_random::Random;
use ample_reduce::algorithms::{Algorithm, Chooser, Interference};
use ample_reduce::objects::{self, Table, check};
use ample_reduce::scheme::{Kind, TransitionNumber, Verb};
use ample_reduce::traces;

const FINE: [Table; 2] = [Table::Conditional, Table::WeaklyUniform];

fn number_from(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Calls for random systems of some size, with all their states.
fn for_each_system(number: u64, mut look: impl FnMut(u64, &System, &Graph)) {
    let seeds = match number_from("AMPLE_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number_from("AMPLE_SYSTEMS").unwrap_or(number),
    };
    for seed in seeds {
        let system = system(seed);
        let graph = full(&system);
        if (4..=200).contains(&graph.states.len()) {
            look(seed, &system, &graph);
        }
    }
}

fn set(
    chooser: &mut Chooser,
    algorithm: Algorithm,
    system: &System,
    state: &State,
    seed: u32,
) -> Vec<TransitionNumber> {
    let mut set = Vec::new();
    chooser.persistent(algorithm, &system.scheme, &mut system.view(state), seed, &mut set);
    set
}

fn is_subset(one: &[TransitionNumber], other: &[TransitionNumber]) -> bool {
    one.iter().all(|transition| other.contains(transition))
}

/// Thms. 4.7, 4.10, 4.18, 4.27, and 4.24 as far as short sequences show.
#[test]
fn every_set_of_every_algorithm_is_persistent() {
    for_each_system(600, |seed, system, graph| {
        for table in Table::ALL {
            let mut chooser = Chooser::new(table);
            chooser.update(&system.scheme);
            for state in graph.states.keys() {
                for transition in system.enabled(state) {
                    for algorithm in Algorithm::ALL {
                        let set = set(&mut chooser, algorithm, system, state, transition);
                        let place = format!("seed {seed}, {table:?}, {algorithm:?}, {state:?}: {set:?}");
                        assert!(set.contains(&transition), "{place}");
                        assert!(is_persistent(system, state, &set, table), "{place}");
                    }
                }
            }
        }
    });
}

#[test]
fn persistent_sets_are_conditional_stubborn_sets() {
    for_each_system(100, |seed, system, graph| {
        let mut chooser = Chooser::new(Table::Conditional);
        chooser.update(&system.scheme);
        for state in graph.states.keys().take(10) {
            for transition in system.enabled(state) {
                for algorithm in Algorithm::ALL {
                    let set = set(&mut chooser, algorithm, system, state, transition);
                    let is_stubborn = is_conditional_stubborn(system, state, &set, Table::Conditional, 4);
                    assert!(is_stubborn, "seed {seed}, {algorithm:?}, {state:?}: {set:?}");
                }
            }
        }
    });
}

/// §4.6 to §4.8: Algorithm 2 finds subsets of Algorithm 1's sets, and first interference subsets of the plain ones.
#[test]
fn better_algorithms_find_subsets() {
    for_each_system(1_000, |seed, system, graph| {
        for table in FINE {
            let mut chooser = Chooser::new(table);
            chooser.update(&system.scheme);
            for state in graph.states.keys() {
                for transition in system.enabled(state) {
                    let mut set = |algorithm| set(&mut chooser, algorithm, system, state, transition);
                    let (first, second) = (set(A1), set(A2));
                    assert!(is_subset(&second, &first), "seed {seed}");
                    assert!(is_subset(&set(Algorithm::Conflicting(Interference::First)), &first), "seed {seed}");
                    assert!(is_subset(&set(Algorithm::Overman(Interference::First)), &second), "seed {seed}");
                }
            }
        }
    });
}

/// The smallest set is one of the smallest among those of all seeds: the first, or, of those with one transition, one
/// that does not only send if there is any.
#[test]
fn smallest_sets_are_smallest_over_all_seeds() {
    for_each_system(1_000, |seed, system, graph| {
        let mut chooser = Chooser::new(Table::WeaklyUniform);
        chooser.update(&system.scheme);
        for state in graph.states.keys() {
            for algorithm in Algorithm::ALL {
                let sets = system.enabled(state).into_iter();
                let sets = sets.map(|transition| set(&mut chooser, algorithm, system, state, transition));
                let only_sends = |set: &Vec<TransitionNumber>| set.len() == 1 && system.scheme.only_sends(set[0]);
                let expected = sets.min_by_key(|set| (set.len(), only_sends(set))).unwrap_or_default();
                let mut smallest = Vec::new();
                chooser.smallest(algorithm, &system.scheme, &mut system.view(state), &mut smallest);
                assert_eq!(smallest, expected, "seed {seed}, {algorithm:?}, {state:?}");
            }
        }
    });
}

/// Thms. 4.3, 5.2, 5.4.
#[test]
fn persistent_sets_and_sleep_sets_keep_all_deadlocks() {
    for_each_system(450, |seed, system, graph| {
        let deadlocks = graph.deadlocks(system);
        for table in FINE {
            let alone = sleep(system, Choose::Everything, table, Order::Random(Random::new(seed)), Revisit::WakeUp);
            assert_eq!(alone.states.len(), graph.states.len(), "seed {seed}");
            assert!(alone.transitions <= graph.transitions, "seed {seed}");
            for algorithm in Algorithm::ALL {
                let choose = || Choose::smallest(system, algorithm, table);
                let reduced = search(system, choose());
                assert_eq!(reduced.deadlocks(system), deadlocks, "seed {seed}, {algorithm:?}");
                for order in [Order::Stack, Order::Queue, Order::Random(Random::new(seed))] {
                    let asleep = sleep(system, choose(), table, order, Revisit::WakeUp);
                    assert_eq!(asleep.deadlocks(system), deadlocks, "seed {seed}, {algorithm:?}");
                }
            }
        }
    });
}

/// Thms. 6.13, 6.14, with sleep sets and without.
#[test]
fn the_proviso_keeps_executed_transitions_and_local_states() {
    for_each_system(1_000, |seed, system, graph| {
        for algorithm in Algorithm::ALL {
            for (table, asleep) in [(Table::WeaklyUniform, true), (Table::Conditional, false)] {
                let reduced = proviso(system, Choose::smallest(system, algorithm, table), asleep.then_some(table));
                let place = format!("seed {seed}, {algorithm:?}, asleep: {asleep}");
                assert_eq!(reduced.executed(), graph.executed(), "{place}");
                assert_eq!(reduced.local_states(), graph.local_states(), "{place}");
                assert_eq!(reduced.deadlocks(system), graph.deadlocks(system), "{place}");
            }
        }
    });
}

/// Thm. 6.16: with either proviso, and without sleep sets, nothing is ignored from any state of the reduced graph.
#[test]
fn nothing_is_ignored_from_any_state_without_sleep_sets() {
    for_each_system(200, |seed, system, graph| {
        for algorithm in Algorithm::ALL {
            let choose = || Choose::smallest(system, algorithm, Table::Conditional);
            for reduced in [terminal(system, choose()), proviso(system, choose(), None)] {
                for state in reduced.states.keys() {
                    let all = executed_after(system, graph, state);
                    assert_eq!(executed_after(system, &reduced, state), all, "seed {seed}, {algorithm:?}, {state:?}");
                }
            }
        }
    });
}

/// Thm. 6.12.
#[test]
fn the_proviso_gives_a_trace_automaton() {
    for_each_system(600, |seed, system, _| {
        for algorithm in Algorithm::ALL {
            let choose = Choose::smallest(system, algorithm, Table::WeaklyUniform);
            let reduced = proviso(system, choose, Some(Table::WeaklyUniform));
            assert!(is_trace_automaton(system, &reduced, Table::WeaklyUniform, 3), "seed {seed}, {algorithm:?}");
        }
    });
}

/// Defs. 3.17, 3.21, 6.6.
#[test]
fn lifted_dependency_is_valid_and_the_weakly_uniform_one_is_so() {
    for_each_system(600, |seed, system, graph| {
        for state in graph.states.keys() {
            for table in Table::ALL {
                assert!(is_valid_in(system, state, table), "seed {seed}, {table:?}, {state:?}");
            }
            for table in [Table::Objects, Table::Constant, Table::WeaklyUniform] {
                assert!(is_weakly_uniform_in(system, state, table), "seed {seed}, {table:?}, {state:?}");
            }
        }
    });
}

/// What the library's checker finds is found again in a system of three processes with one operation each.
#[test]
fn the_finest_dependency_is_not_weakly_uniform() {
    let fifo = [Verb::Send, Verb::Receive, Verb::Length, Verb::Empty, Verb::Full];
    for capacity in 2..=3 {
        let kind = Kind::Channel { capacity };
        let dependent = |one, other, fill| objects::dependent(kind, one, other, fill, Table::Conditional);
        let violation = check::weak_uniformity(kind, &fifo, dependent).unwrap_err();
        let mut system = System::new();
        let channel = system.object(kind, violation.value);
        for verb in violation.verbs {
            let process = system.process(0);
            system.transition(&[(process, 0, 1)], &[], &[(channel, verb, 1)]);
        }
        assert!(!is_weakly_uniform_in(&system, &system.initial, Table::Conditional));
        assert!(is_weakly_uniform_in(&system, &system.initial, Table::WeaklyUniform));
    }
}

/// Thm. 3.10: words of the same trace lead to the same state.
#[test]
fn words_of_a_trace_lead_to_the_same_state() {
    for_each_system(300, |seed, system, _| {
        let mut random = Random::new(seed);
        let (mut word, mut state) = (Vec::new(), system.initial.clone());
        while word.len() < 5 && !system.enabled(&state).is_empty() {
            let transition = random.pick(&system.enabled(&state));
            state = system.successor(&state, transition);
            word.push(transition);
        }
        let step = |state: &State, transition| system.step(state, transition);
        let independent = |state: &State, one, other| system.independent(state, one, other, Table::Conditional);
        for member in traces::members_from(&system.initial, &word, step, independent) {
            let end = member.iter().try_fold(system.initial.clone(), |state, number| system.step(&state, *number));
            assert_eq!(end.as_ref(), Some(&state), "seed {seed}: {word:?}, {member:?}");
        }
    });
}

/// Random systems are of use only if some are reduced, some have deadlocks, and some need a proviso.
#[test]
fn random_systems_are_worth_looking_at() {
    let (mut systems, mut reduced, mut deadlocking, mut ignoring) = (0, 0, 0, 0);
    for_each_system(600, |_, system, graph| {
        let smaller = search(system, Choose::smallest(system, A4, Table::Conditional));
        systems += 1;
        reduced += usize::from(smaller.states.len() < graph.states.len());
        deadlocking += usize::from(!graph.deadlocks(system).is_empty());
        ignoring += usize::from(smaller.executed() != graph.executed());
    });
    let is_enough = systems > 200 && reduced > systems / 4 && deadlocking > systems / 4 && ignoring > systems / 20;
    assert!(is_enough || number_from("AMPLE_SEED").is_some(), "{systems}, {reduced}, {deadlocking}, {ignoring}");
}
