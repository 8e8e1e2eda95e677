use std::collections::HashMap;
use std::sync::Mutex;
use std::thread;

use super::table::{Offer, Word};
use super::*;
use crate::store::Parent;

/// State of that number: of various lengths.
fn state(number: u64) -> Vec<u8> {
    let mut state = number.to_le_bytes().to_vec();
    state.resize(8 + (number % 13) as usize + if number % 1_000 == 7 { 150 } else { 0 }, number as u8);
    state
}

/// Lets so many workers insert the states of the first numbers, each in an order of its own, and says what became of them.
fn insert_all(store: &SharedStore<Parent>, workers: u64, numbers: u64) -> Vec<Vec<(u64, Inserted)>> {
    let results = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for number in 0..workers {
            let results = &results;
            scope.spawn(move || {
                let mut worker = store.worker();
                let step = [1, 7, 11, 13][number as usize % 4];
                let order = (0..numbers).map(|place| (place * step + number * 31) % numbers);
                let inserted = order.map(|number| (number, worker.insert(&state(number)))).collect::<Vec<_>>();
                results.lock().unwrap().push(inserted);
            });
        }
    });
    results.into_inner().unwrap()
}

#[test]
fn each_state_is_new_once_while_the_table_grows() {
    for workers in [1, 2, 4] {
        // Steps are coprime to it.
        let numbers = 60_000;
        let mut flat = FlatStore::<Parent>::default();
        let before: Vec<Inserted> = (0..100).map(|number| flat.insert(&state(number))).collect();
        let Ok(store) = SharedStore::of(flat, workers as usize) else { panic!("no memory") };
        let results = insert_all(&store, workers, numbers);
        let mut handles: HashMap<u64, Handle> = HashMap::new();
        let mut new = 0;
        for (number, inserted) in results.into_iter().flatten() {
            new += u64::from(matches!(inserted, Inserted::New(_)));
            let handle = inserted.handle().unwrap();
            assert_eq!(*handles.entry(number).or_insert(handle), handle, "state {number}, {workers} workers");
        }
        assert_eq!(new, numbers - 100, "{workers} workers");
        let reader = store.join();
        for (number, handle) in &handles {
            assert_eq!(reader.get(*handle), state(*number));
            assert_eq!(reader.find(&state(*number)), Some(*handle));
        }
        for (number, inserted) in before.into_iter().enumerate() {
            assert_eq!(inserted.handle(), handles.get(&(number as u64)).copied(), "handles stay the same");
        }
        assert_eq!((reader.len() as u64, reader.state_bytes()), (numbers, 8 + 12 + 150));
    }
}

#[test]
fn the_limit_is_kept_and_what_is_there_is_found() {
    let limit = 2 << 20;
    let Ok(store) = SharedStore::of(FlatStore::<Parent>::default().limit(limit), 3) else { panic!("no memory") };
    let results = insert_all(&store, 3, 200_001);
    let all: Vec<_> = results.into_iter().flatten().collect();
    assert!(all.iter().any(|(_, inserted)| *inserted == Inserted::Full));
    let new = all.iter().filter(|(_, inserted)| matches!(inserted, Inserted::New(_))).count();
    assert!(new > 20_000, "{new} states in {limit} bytes");
    assert!(store.bytes() <= limit, "{} bytes", store.bytes());
    let reader = store.join();
    assert_eq!(reader.len(), new);
    for (number, inserted) in all {
        if let Some(handle) = inserted.handle() {
            assert_eq!(reader.find(&state(number)), Some(handle));
        }
    }
}

#[test]
fn a_worker_that_rests_does_not_keep_the_table_from_growing() {
    let Ok(store) = SharedStore::of(FlatStore::<Parent>::default(), 2) else { panic!("no memory") };
    let (done, wait) = std::sync::mpsc::channel::<()>();
    thread::scope(|scope| {
        let other = &store;
        scope.spawn(move || {
            let mut worker = other.worker();
            worker.rest(|| wait.recv().unwrap());
            assert!((0..100_000).all(|number| matches!(worker.insert(&state(number)), Inserted::Seen(_))));
        });
        let mut worker = store.worker();
        assert!((0..100_000).all(|number| matches!(worker.insert(&state(number)), Inserted::New(_))));
        done.send(()).unwrap();
    });
}

#[test]
fn side_data_can_be_replaced() {
    let Ok(store) = SharedStore::of(FlatStore::<Parent>::default(), 1) else { panic!("no memory") };
    let mut worker = store.worker();
    let first = worker.insert(b"first").handle().unwrap();
    let second = worker.insert_with(b"second", Parent(Some(first))).handle().unwrap();
    assert_eq!((worker.side(first), worker.side(second)), (Parent(None), Parent(Some(first))));
    worker.set_side(first, Parent(Some(second)));
    assert_eq!(worker.side(first), Parent(Some(second)));
    assert_eq!((worker.after(first), worker.same(b"a", b"b")), (Some(second), false));
}

impl Word for loom::sync::atomic::AtomicU64 {
    fn acquire(&self) -> u64 {
        self.load(Ordering::Acquire)
    }

    fn replace_zero(&self, new: u64) -> Result<(), u64> {
        self.compare_exchange(0, new, Ordering::AcqRel, Ordering::Acquire).map(|_| ())
    }
}

/// A bucket with room for all, and a record for each worker and state, whose accesses are watched.
struct Modelled {
    bucket: Vec<loom::sync::atomic::AtomicU64>,
    records: Vec<loom::cell::UnsafeCell<u64>>,
}

// SAFETY: loom finds accesses to the records that are not ordered.
unsafe impl Sync for Modelled {}

/// In every interleaving that the memory model allows: of workers that offer the same states in different orders one
/// inserts each of them, the others find what it has inserted, and nobody reads a record that is not complete.
#[test]
fn insertion_is_linearisable_in_every_interleaving() {
    loom::model(|| {
        let modelled = loom::sync::Arc::new(Modelled {
            bucket: (0..2).map(|_| loom::sync::atomic::AtomicU64::new(0)).collect(),
            records: (0..4).map(|_| loom::cell::UnsafeCell::new(0)).collect(),
        });
        let offer = |modelled: &Modelled, worker: u64, state: u64| {
            // All have the same tag, so that records are compared.
            let mut offer = Offer { tag: 1 << Handle::BITS, given: None };
            let record = worker * 2 + state;
            let handle = Handle::at(record).unwrap();
            let read = |place: Handle| modelled.records[place.position() as usize].with(|record| unsafe { *record });
            let mut give = || {
                modelled.records[record as usize].with_mut(|place| unsafe { *place = 10 + state });
                Some(handle)
            };
            let offered = offer.put_into(&modelled.bucket, &mut |place| read(place) == 10 + state, &mut give);
            match offered {
                Some(Offered::New(found)) => (true, found),
                Some(Offered::Seen(found)) => (false, found),
                other => panic!("{other:?}"),
            }
        };
        let other = loom::sync::Arc::clone(&modelled);
        let thread = loom::thread::spawn(move || [offer(&other, 1, 1), offer(&other, 1, 0)]);
        let own = [offer(&modelled, 0, 0), offer(&modelled, 0, 1)];
        let others = thread.join().unwrap();
        for (own, other) in [(own[0], others[1]), (own[1], others[0])] {
            assert!(own.0 != other.0, "one of the two is new");
            assert_eq!(own.1, other.1);
        }
    });
}
