//! How long an insertion takes: nanoseconds and bytes for each 48-byte state, new and seen.
//!
//!     cargo run --release -p ample-explicit --example inserts [MILLIONS]

mod clock;

use ample_explicit::store::{FlatStore, HashStore, Inserted, Parent, Side, Store};
use clock::Clock;

/// A state as models have them: mostly zeros, with a few bytes that differ.
fn state(number: u64) -> [u8; 48] {
    let mut bytes = [0; 48];
    let spread = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    bytes[8..16].copy_from_slice(&number.to_le_bytes());
    bytes[40..48].copy_from_slice(&(spread & 0x0F0F_0F0F_0F0F_0F0F).to_le_bytes());
    bytes
}

/// Offers all states to a store, `window` at a time.
fn offer<St: Store<[u8]>>(store: &mut St, numbers: impl Iterator<Item = u64>, window: usize) {
    let mut numbers = numbers.peekable();
    let mut batch = Vec::with_capacity(window);
    while numbers.peek().is_some() {
        for state in numbers.by_ref().take(window).map(state) {
            let hash = store.hash(&state);
            store.prefetch(hash);
            batch.push((hash, state));
        }
        batch.iter().for_each(|&(hash, _)| store.prefetch_state(hash));
        for (hash, state) in batch.drain(..) {
            store.insert_hashed(&state, hash, St::Side::fresh(None));
        }
    }
}

fn measure<St: Store<[u8]>>(name: &str, create: impl Fn() -> St, count: u64) {
    print!("{name:24} {count:>9}");
    let mut bytes = 0;
    for window in [1, 32] {
        // The best of some rounds; the clock may tick only every few milliseconds.
        let rounds = 3.max(4_000_000 / count);
        let together = rounds / 3;
        let (mut new, mut seen) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..3 {
            let mut stores: Vec<St> = (0..together).map(|_| create()).collect();
            let clock = Clock::start();
            stores.iter_mut().for_each(|store| offer(store, 0..count, window));
            new = new.min(clock.nanoseconds() / (together * count) as f64);
            let clock = Clock::start();
            // In another order, as a search comes back to states.
            let again = (0..count).map(|number| (number.wrapping_mul(2_654_435_761) + 12_345) % count);
            (0..together).for_each(|_| offer(&mut stores[0], again.clone(), window));
            seen = seen.min(clock.nanoseconds() / (together * count) as f64);
            assert!(stores.iter().all(|store| store.len() as u64 == count));
            bytes = stores[0].bytes();
        }
        print!(" {new:>9.1} {seen:>9.1}");
    }
    println!(" {:>9.1}", bytes as f64 / count as f64);
}

/// Arrays of bytes in a [`HashStore`], for comparison.
struct Arrays<D>(HashStore<[u8; 48], D>);

impl<D: Side> Store<[u8]> for Arrays<D> {
    type Side = D;

    fn hash(&self, state: &[u8]) -> u64 {
        state.first_chunk().map_or(0, |state| self.0.hash(state))
    }

    fn insert_hashed(&mut self, state: &[u8], hash: u64, side: D) -> Inserted {
        state.first_chunk().map_or(Inserted::Full, |state| self.0.insert_hashed(state, hash, side))
    }

    fn prefetch(&self, hash: u64) {
        self.0.prefetch(hash);
    }

    fn prefetch_state(&self, hash: u64) {
        self.0.prefetch_state(hash);
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn bytes(&self) -> usize {
        self.0.bytes()
    }

    fn state_bytes(&self) -> usize {
        self.0.state_bytes()
    }
}

fn main() {
    let millions = std::env::args().nth(1).and_then(|argument| argument.parse().ok()).unwrap_or(4);
    println!("{:34} one at a time       32 at a time", "");
    println!(
        "{:24} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "store", "states", "ns new", "ns seen", "ns new", "ns seen", "bytes"
    );
    for count in [10_000, 100_000, 1_000_000, millions * 1_000_000] {
        measure("FlatStore", FlatStore::new, count);
        measure("FlatStore with parents", FlatStore::<Parent>::default, count);
        measure("HashStore", || Arrays(HashStore::new()), count);
    }
}
