//! Philosophers, and a producer with a consumer, from small to large (§2.3, §8.1).

use super::examples::{A1, A2, A3, A4};
use super::models::{Waiting, philosophers, producer_and_consumer};
use super::search::{Choose, Order, Revisit, full, proviso, search, sleep};
use super::system::System;
use ample_reduce::algorithms::{Algorithm, Interference};
use ample_reduce::objects::Table;

fn size(system: &System, algorithm: Algorithm) -> (usize, usize) {
    search(system, Choose::smallest(system, algorithm, Table::Conditional)).size()
}

/// Number of philosophers; all states, Algorithm 2, Algorithm 3; states with sleep sets too.
type Row = (u32, (usize, usize), (usize, usize), (usize, usize), usize);

const TABLE: [Row; 7] = [
    (2, (8, 10), (8, 10), (8, 10), 8),
    (3, (26, 51), (20, 30), (20, 27), 17),
    (4, (80, 212), (48, 76), (38, 52), 32),
    (5, (242, 805), (102, 165), (62, 85), 53),
    (6, (728, 2910), (205, 336), (92, 126), 80),
    (7, (2186, 10199), (394, 651), (128, 175), 113),
    (8, (6560, 34984), (736, 1224), (170, 232), 152),
];

#[test]
fn philosophers_by_the_table() {
    for (number, all, overman, stubborn, asleep) in TABLE {
        let system = philosophers(number);
        let graph = full(&system);
        assert_eq!(graph.size(), all);
        assert_eq!(graph.states.len(), 3usize.pow(number) - 1);
        assert_eq!(graph.deadlocks(&system).len(), 1);
        assert_eq!(size(&system, A2), overman, "{number} philosophers, Algorithm 2");
        assert_eq!(size(&system, A3), stubborn, "{number} philosophers, Algorithm 3");
        let choose = Choose::smallest(&system, A3, Table::Conditional);
        let both = sleep(&system, choose, Table::Conditional, Order::Stack, Revisit::WakeUp);
        assert_eq!(both.states.len(), asleep, "{number} philosophers, Algorithm 3 with sleep sets");
        assert_eq!(asleep as u32, 3 * number * number - 6 * number + 8);
        assert_eq!(both.deadlocks(&system), graph.deadlocks(&system));
    }
}

#[test]
fn sleep_sets_alone_keep_all_philosophers() {
    for number in 2..=7 {
        let system = philosophers(number);
        let all = full(&system);
        let graph = sleep(&system, Choose::Everything, Table::Conditional, Order::Stack, Revisit::WakeUp);
        assert_eq!(graph.states.len(), all.states.len());
        assert!(graph.transitions < all.transitions);
    }
}

#[test]
fn algorithm_1_does_not_help_philosophers() {
    let system = philosophers(4);
    assert_eq!(size(&system, A1), full(&system).size());
}

#[test]
fn the_number_of_philosophers_is_polynomial_with_algorithm_4_too() {
    for number in 2..=6 {
        let system = philosophers(number);
        let choose = Choose::smallest(&system, A4, Table::WeaklyUniform);
        let graph = sleep(&system, choose, Table::WeaklyUniform, Order::Stack, Revisit::WakeUp);
        assert!(graph.states.len() as u32 <= 3 * number * number - 6 * number + 8);
        assert_eq!(graph.deadlocks(&system).len(), 1);
    }
}

#[test]
fn dead_code_of_philosophers_with_the_proviso() {
    let system = philosophers(4);
    for algorithm in Algorithm::ALL {
        let choose = Choose::smallest(&system, algorithm, Table::WeaklyUniform);
        let graph = proviso(&system, choose, Some(Table::WeaklyUniform));
        assert_eq!(graph.executed().len(), system.scheme.transitions.len());
    }
}

const SHARP: [Algorithm; 4] =
    [A3, A4, Algorithm::Conflicting(Interference::First), Algorithm::Overman(Interference::First)];

#[test]
fn two_states_of_a_producer_and_a_consumer_are_enough() {
    for capacity in [2, 3, 10, 100, 1000] {
        let system = producer_and_consumer(capacity, Waiting::Implicit);
        let all = (capacity as usize + 1, 2 * capacity as usize);
        assert_eq!(full(&system).size(), all);
        assert_eq!([A1, A2].map(|algorithm| size(&system, algorithm)), [all; 2]);
        assert_eq!(SHARP.map(|algorithm| size(&system, algorithm)), [(2, 2); 4]);
    }
}

#[test]
fn conditions_of_their_own_spoil_it() {
    let system = producer_and_consumer(1000, Waiting::Literal);
    for algorithm in Algorithm::ALL {
        assert_eq!(size(&system, algorithm), (1001, 2000), "{algorithm:?}");
    }
}
