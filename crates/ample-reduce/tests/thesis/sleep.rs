//! Sleep sets (ch. 5): what happens when a state is met again, and where they gain nothing.

use super::models::{example_4_19, revisits, turns};
use super::search::{Choose, Order, Revisit, full, search, sleep};
use ample_random::Random;
use ample_reduce::objects::Table;

fn random_order(seed: u64) -> Order {
    Order::Random(Random::new(seed))
}

#[test]
fn waking_up_finds_all_states_in_any_order() {
    let system = revisits();
    assert_eq!(full(&system).states.len(), 8);
    let orders = (0..2_000).map(random_order).chain([Order::Stack, Order::Queue]);
    for order in orders {
        let graph = sleep(&system, Choose::Everything, Table::Conditional, order, Revisit::WakeUp);
        assert_eq!(graph.states.len(), 8);
    }
}

#[test]
fn without_waking_up_some_order_loses_states() {
    let system = revisits();
    let states = |seed| {
        let order = random_order(seed);
        sleep(&system, Choose::Everything, Table::Conditional, order, Revisit::Ignore).states.len()
    };
    let lost = (0..2_000).filter(|seed| states(*seed) < 8).count();
    assert!(lost > 0);
}

/// If the members of all persistent sets depend on each other, nothing ever sleeps.
#[test]
fn sleep_sets_are_empty_where_everything_depends() {
    let system = turns(3);
    let graph = sleep(&system, Choose::Everything, Table::Conditional, Order::Stack, Revisit::WakeUp);
    assert_eq!(graph.most_asleep, 0);
    assert_eq!(graph.size(), search(&system, Choose::Everything).size());
}

#[test]
fn sleep_sets_are_not_empty_elsewhere() {
    let graph = sleep(&example_4_19(), Choose::Everything, Table::Conditional, Order::Stack, Revisit::WakeUp);
    assert!(graph.most_asleep > 0);
}
