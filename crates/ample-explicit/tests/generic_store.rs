//! The stores against the standard library's sets: random states, growth, limits, hidden bytes.

use std::collections::HashMap;

use ample_explicit::store::{ExactStore, FlatStore, Handle, HashStore, Inserted, Marks, Parent, Store};

mod generic_graph;
use ample_random::Random;

/// Random bytes; short ones come back often, and a few are long.
fn bytes(random: &mut Random) -> Vec<u8> {
    let length = match random.below(100) {
        0 => 100 + random.below(400),
        1 => random.below(2),
        _ => 2 + random.below(30),
    };
    (0..length).map(|_| random.below(4) as u8).collect()
}

/// All handles of a store in the order of insertion.
fn handles<S: ?Sized>(store: &impl ExactStore<S>) -> Vec<Handle> {
    std::iter::successors(store.first(), |&handle| store.after(handle)).collect()
}

#[test]
fn a_flat_store_is_a_set_that_keeps_the_order() {
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let mut store: FlatStore<Parent> = FlatStore::default();
        let mut expected: HashMap<Vec<u8>, Handle> = HashMap::new();
        let mut order = Vec::new();
        for _ in 0..20_000 {
            let state = bytes(&mut random);
            assert_eq!(store.find(&state), expected.get(&state).copied(), "seed {seed}");
            let parent = Parent(order.last().map(|&(handle, _)| handle));
            match store.insert_with(&state, parent) {
                Inserted::New(handle) => {
                    assert_eq!(expected.insert(state, handle), None, "seed {seed}");
                    order.push((handle, parent));
                }
                Inserted::Seen(handle) => assert_eq!(expected.get(&state), Some(&handle), "seed {seed}"),
                Inserted::Full => panic!("seed {seed}: full"),
            }
        }
        assert_eq!(store.len(), expected.len());
        assert_eq!(store.state_bytes(), expected.keys().map(Vec::len).max().unwrap());
        expected.iter().for_each(|(state, &handle)| assert_eq!(store.get(handle), state, "seed {seed}"));
        assert_eq!(handles(&store), order.iter().map(|&(handle, _)| handle).collect::<Vec<_>>(), "seed {seed}");
        assert!(order.is_sorted_by_key(|&(handle, _)| handle));
        order.iter().for_each(|&(handle, parent)| assert_eq!(store.side(handle), parent, "seed {seed}"));
    }
}

#[test]
fn a_million_states_are_found_again() {
    let mut flat = FlatStore::new();
    let mut hash: HashStore<u64> = HashStore::new();
    let spread = |number: u64| number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let inserted: Vec<_> = (0..1_000_000u64)
        .map(|number| (flat.insert(&spread(number).to_le_bytes()), hash.insert(&spread(number))))
        .collect();
    assert_eq!((flat.len(), hash.len()), (1_000_000, 1_000_000));
    for (number, &(a, b)) in inserted.iter().enumerate() {
        let (Inserted::New(a), Inserted::New(b)) = (a, b) else { panic!("{number} is not new") };
        let state = spread(number as u64);
        assert_eq!(flat.insert(&state.to_le_bytes()), Inserted::Seen(a));
        assert_eq!(hash.insert(&state), Inserted::Seen(b));
        assert_eq!((flat.get(a), hash.get(b)), (&state.to_le_bytes()[..], &state));
    }
    assert_eq!(handles(&flat).len(), 1_000_000);
    assert_eq!(handles(&hash).len(), 1_000_000);
    // Nine bytes of record, ten to twenty of table, and a chunk that may be empty.
    assert!(flat.bytes() < 1_000_000 * 29 + (4 << 20), "{}", flat.bytes());
}

#[test]
fn states_may_be_empty_or_larger_than_a_chunk() {
    let mut store: FlatStore<Marks> = FlatStore::default();
    let sizes = [0, 127, 128, 5_000_000, 1, 4 << 20, (4 << 20) - 6, 129, 20_000_000, 2];
    let new: Vec<_> = sizes.iter().map(|&size| store.insert(&vec![7; size])).collect();
    for (&size, inserted) in sizes.iter().zip(&new) {
        let Inserted::New(handle) = *inserted else { panic!("{size} is not new") };
        assert_eq!(store.insert(&vec![7; size]), Inserted::Seen(handle));
        assert_eq!(store.get(handle).len(), size);
        store.set_side(handle, Marks(size as u8));
    }
    let found: Vec<_> = handles(&store).into_iter().map(|handle| store.get(handle).len()).collect();
    assert_eq!(found, sizes);
    assert!(handles(&store).into_iter().all(|handle| store.side(handle) == Marks(store.get(handle).len() as u8)));
}

#[test]
fn hidden_bytes_neither_distinguish_states_nor_change() {
    let mut random = Random::new(1);
    // The first byte says how many bytes count.
    let mut store = FlatStore::<(), _>::with_visible(|state: &[u8]| 1 + state[0] as usize);
    let mut first: HashMap<Vec<u8>, Vec<u8>> = HashMap::new();
    for _ in 0..50_000 {
        let visible = 1 + random.below(6);
        let mut state = vec![visible as u8];
        state.extend((0..visible + random.below(4)).map(|_| random.below(4) as u8));
        let key = state[..=visible].to_vec();
        let inserted = store.insert(&state);
        assert_eq!(matches!(inserted, Inserted::New(_)), !first.contains_key(&key));
        let kept = first.entry(key).or_insert(state);
        assert_eq!(store.get(inserted.handle().unwrap()), kept);
    }
    assert_eq!(store.len(), first.len());
}

#[test]
fn a_store_never_holds_more_than_its_limit() {
    for limit in [10_000, 100_000, 1_000_000, 3_333_333, 20_000_000] {
        let mut store: FlatStore<Parent> = FlatStore::default().limit(limit);
        let mut count = 0u64;
        while let Inserted::New(_) = store.insert(&[&count.to_le_bytes()[..], &[0; 24]].concat()) {
            count += 1;
            assert!(store.bytes() <= limit, "{} of {limit}", store.bytes());
        }
        assert_eq!(store.len() as u64, count);
        // A record takes 38 bytes and an entry of a full table 10: at worst the last chunk of the arena and
        // the growth of the table are lost.
        assert!(count as usize * 48 * 2 > limit, "{count} states in {limit} bytes");
        for number in 0..count {
            let state = [&number.to_le_bytes()[..], &[0; 24]].concat();
            assert!(matches!(store.insert(&state), Inserted::Seen(_)));
        }
        assert_eq!(store.insert(&[1; 32]), Inserted::Full);
        assert_eq!(store.len() as u64, count);
    }
    for limit in [10_000, 1_000_000] {
        let mut store: HashStore<u64> = HashStore::new().limit(limit);
        let count = (0..).take_while(|number| matches!(store.insert(number), Inserted::New(_))).count();
        assert!(store.bytes() <= limit && count * 8 * 5 > limit, "{count} states in {limit} bytes");
        assert_eq!(store.insert(&0), Inserted::Seen(store.first().unwrap()));
    }
}
