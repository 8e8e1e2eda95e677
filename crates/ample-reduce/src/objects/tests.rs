//! One test over all kinds for each promise of the library, and the rejection of tables that break one.

use super::*;
use crate::scheme::Verb::{
    Add, Complement, Empty, Full, Length, Peek, Read, Receive, Search, Send, SendSorted, Set, Write,
};

const FIFO: [Verb; 5] = [Send, Receive, Length, Empty, Full];

fn kinds() -> Vec<Kind> {
    let channels = (1..=4).map(|capacity| Kind::Channel { capacity });
    let semaphores = (1..=5).map(|most| Kind::Semaphore { most });
    [Kind::Variable, Kind::Lock].into_iter().chain(channels).chain(semaphores).collect()
}

/// The fills of a kind, each with the values that have it.
fn fills(kind: Kind) -> std::collections::BTreeMap<u32, Vec<Value>> {
    let mut fills = std::collections::BTreeMap::<u32, Vec<Value>>::new();
    for value in values(kind) {
        fills.entry(fill(kind, &value)).or_default().push(value);
    }
    fills
}

/// The library's relation for a kind.
fn relation(kind: Kind, table: Table) -> impl Fn(Verb, Verb, u32) -> bool + Copy {
    move |first, second, fill| dependent(kind, first, second, fill, table)
}

/// Calls for each kind, table by operations, and pair of its verbs.
fn for_each_pair(mut look: impl FnMut(Kind, Table, Verb, Verb)) {
    for kind in kinds() {
        for table in [Table::Constant, Table::Conditional, Table::WeaklyUniform] {
            for first in verbs(kind) {
                verbs(kind).into_iter().for_each(|second| look(kind, table, first, second));
            }
        }
    }
}

#[test]
fn every_table_is_valid() {
    for kind in kinds() {
        for table in Table::ALL {
            assert_eq!(check::validity(kind, &verbs(kind), relation(kind, table)), Ok(()), "{kind:?}, {table:?}");
        }
    }
}

#[test]
fn the_conditional_table_is_the_finest() {
    for_each_pair(|kind, table, first, second| {
        for &fill in fills(kind).keys() {
            let finest = check::finest(kind, first, second, fill);
            let ours = dependent(kind, first, second, fill, table);
            let place = format!("{first:?}, {second:?} at {fill} of {kind:?}, {table:?}");
            assert!(if table == Table::Conditional { ours == finest } else { ours || !finest }, "{place}");
        }
    });
}

#[test]
fn the_constant_and_the_weakly_uniform_table_are_weakly_uniform() {
    for kind in kinds() {
        for table in [Table::Objects, Table::Constant, Table::WeaklyUniform] {
            let result = check::weak_uniformity(kind, &verbs(kind), relation(kind, table));
            assert_eq!(result, Ok(()), "{kind:?}, {table:?}");
        }
    }
}

#[test]
fn first_interference_is_exact() {
    for_each_pair(|kind, table, operation, by| {
        for (fill, values) in fills(kind) {
            let brute = |value| check::disturbs(kind, &verbs(kind), relation(kind, table), operation, by, value);
            let place = format!("{operation:?} by {by:?} at {fill} of {kind:?}, {table:?}");
            assert_eq!(disturbs(kind, operation, by, fill, table), values.iter().any(brute), "{place}");
        }
    });
}

#[test]
fn first_interference_among_the_operations_of_a_fifo_is_exact() {
    for capacity in 1..=4 {
        let kind = Kind::Channel { capacity };
        for table in [Table::Conditional, Table::WeaklyUniform] {
            for (operation, by) in FIFO.iter().flat_map(|one| FIFO.iter().map(|other| (*one, *other))) {
                for (fill, values) in fills(kind) {
                    let brute = |value| check::disturbs(kind, &FIFO, relation(kind, table), operation, by, value);
                    assert_eq!(disturbs(kind, operation, by, fill, table), values.iter().any(brute));
                }
            }
        }
    }
}

#[test]
fn first_interference_has_a_direction() {
    let kind = Kind::Channel { capacity: 5 };
    assert!(disturbs(kind, Empty, Receive, 3, Table::Conditional));
    assert!(!disturbs(kind, Receive, Empty, 3, Table::Conditional));
}

#[test]
fn what_can_be_dependent_and_what_does_not_accord_is_exact() {
    for_each_pair(|kind, table, first, second| {
        let place = format!("{first:?}, {second:?} of {kind:?}, {table:?}");
        let relation = relation(kind, table);
        assert_eq!(
            can_be_dependent(kind, first, second, table),
            check::can_be_dependent(kind, relation, first, second),
            "{place}"
        );
        assert_eq!(
            do_not_accord(kind, first, second, table),
            check::do_not_accord(kind, relation, first, second),
            "{place}"
        );
    });
}

#[test]
fn independent_writes_are_rejected() {
    let all_but_writes = |first, second, fill| {
        (first, second) != (Write, Write) && dependent(Kind::Variable, first, second, fill, Table::Conditional)
    };
    let violation = check::validity(Kind::Variable, &[Read, Write, Complement], all_but_writes).unwrap_err();
    assert_eq!((violation.verbs, violation.reason), (vec![Write, Write], "they do not commute"));
}

#[test]
fn a_relation_that_is_not_symmetric_is_rejected() {
    let one_way = |first, second, _| (first, second) != (Read, Complement);
    let violation = check::validity(Kind::Variable, &[Read, Complement], one_way).unwrap_err();
    assert_eq!(violation.reason, "not symmetric");
}

/// Ex. 3.19: the conditional table of sends, receives and lengths; Ex. 3.20: with questions for empty and full;
/// Ex. 6.7: repaired.
#[test]
fn weak_uniformity_of_the_tables_of_the_thesis() {
    for capacity in 1..=4 {
        let kind = Kind::Channel { capacity };
        let judge = |verbs: &[Verb], table| check::weak_uniformity(kind, verbs, relation(kind, table)).is_ok();
        assert!(judge(&[Send, Receive, Length], Table::Constant));
        assert!(judge(&[Send, Receive, Length], Table::Conditional));
        assert_eq!(judge(&FIFO, Table::Conditional), capacity == 1);
        assert!(judge(&FIFO, Table::WeaklyUniform));
    }
    for most in 2..=5 {
        let kind = Kind::Semaphore { most };
        assert!(check::weak_uniformity(kind, &verbs(kind), relation(kind, Table::Conditional)).is_err());
    }
}

#[test]
fn the_tables_of_the_thesis() {
    let kind = Kind::Channel { capacity: 3 };
    let at = |first, second, table| -> Vec<u32> {
        (0..=3).filter(|fill| dependent(kind, first, second, *fill, table)).collect()
    };
    assert_eq!(at(Send, Send, Table::Conditional), [0, 1, 2]);
    assert_eq!(at(Send, Receive, Table::Conditional), [0, 3]);
    assert_eq!(at(Empty, Send, Table::Conditional), [0]);
    assert_eq!(at(Full, Send, Table::Conditional), [2]);
    assert_eq!(at(Full, Send, Table::WeaklyUniform), [0, 1, 2]);
    assert_eq!(at(Receive, Empty, Table::Conditional), [1]);
    assert_eq!(at(Receive, Empty, Table::WeaklyUniform), [1, 2, 3]);
    assert_eq!(at(Receive, Full, Table::WeaklyUniform), [3]);
    assert_eq!(at(Length, Full, Table::Constant), [] as [u32; 0]);
    assert_eq!(at(Send, Peek, Table::WeaklyUniform), [0]);
    assert_eq!(at(Receive, Peek, Table::WeaklyUniform), [1, 2, 3]);
    assert_eq!(at(Send, Search, Table::WeaklyUniform), [0, 1, 2]);
    assert_eq!(at(SendSorted, SendSorted, Table::Conditional), [2]);
}

/// Operations told apart depend on fewer others than the coarse ones they stand for.
#[test]
fn refined_operations_have_fewer_dependent_pairs() {
    let variable = |first, second| dependent(Kind::Variable, first, second, 0, Table::Conditional);
    assert!(variable(Write, Write) && !variable(Complement, Complement) && !variable(Read, Read));
    assert!(!variable(Set(1), Set(1)) && variable(Set(0), Set(1)));
    assert!(!variable(Add(1), Add(2)) && variable(Add(1), Set(1)) && variable(Add(1), Read) && !variable(Add(0), Read));
    let count = |look| {
        let pairs = [Send, Receive].into_iter().flat_map(|verb| (0..=3).map(move |fill| (verb, fill)));
        let kind = Kind::Channel { capacity: 3 };
        pairs.filter(|(verb, fill)| dependent(kind, *verb, look, *fill, Table::Conditional)).count()
    };
    assert!(count(Empty) < count(Length) && count(Full) < count(Length));
}
