//! What modularity costs: the same depth-first search written by hand, with conditions and actions, and as
//! a complete safety check; each in time, and as a ratio to the search that was written by hand.
//!
//!     cargo run --release -p ample-explicit --example modularity [COUNTERS [TOKENS]]

mod clock;

use ample_explicit::search::handlers::{Accept, Always, Goal, Handlers, Insert};
use ample_explicit::search::{BreadthFirst, InsertionOrder, breadth_first, dedicated, depth_first};
use ample_explicit::space::StateSpace;
use ample_explicit::store::{FlatStore, Parent, Store};
use clock::Clock;

/// Counters in a ring that pass tokens, as in the example `counters`.
#[derive(Clone, Copy)]
struct Counters {
    counters: usize,
    tokens: u8,
}

impl StateSpace for Counters {
    type State = [u8];
    type Transition = u8;

    fn initial(&mut self, index: usize, out: &mut Vec<u8>) -> bool {
        out.clear();
        out.resize(self.counters, 0);
        out[0] = self.tokens;
        index == 0
    }

    #[inline]
    fn first(&mut self, state: &[u8]) -> Option<u8> {
        state.iter().position(|&tokens| tokens > 0).map(|counter| counter as u8)
    }

    #[inline]
    fn next(&mut self, state: &[u8], last: &u8) -> Option<u8> {
        let later = *last as usize + 1;
        state[later..].iter().position(|&tokens| tokens > 0).map(|counter| (later + counter) as u8)
    }

    #[inline]
    fn target(&mut self, state: &[u8], counter: &u8, out: &mut Vec<u8>) {
        state.clone_into(out);
        let counter = *counter as usize;
        out[counter] -= 1;
        out[(counter + 1) % self.counters] += 1;
    }
}

fn never(state: &[u8]) -> bool {
    state.len() > 255
}

/// How often each search is measured. They take turns, so that a busy machine is busy for all of them.
const ROUNDS: usize = 9;

/// How many states are visited in a round at least.
const STATES: usize = 500_000;

/// The best of all rounds, in nanoseconds for each state.
fn compare(searches: &mut [(&str, &mut dyn FnMut() -> usize)]) {
    let mut best = vec![f64::INFINITY; searches.len()];
    for _ in 0..ROUNDS {
        for ((_, search), best) in searches.iter_mut().zip(&mut best) {
            let clock = Clock::start();
            let mut states = 0;
            while states < STATES {
                states += search();
            }
            *best = best.min(clock.nanoseconds() / states as f64);
        }
    }
    println!("{:40} {:>9} {:>7}", "", "ns/state", "ratio");
    for ((name, _), time) in searches.iter().zip(&best) {
        println!("{name:40} {time:>9.1} {:>7.2}", time / best[0]);
    }
}

fn run(space: Counters) {
    let iterative = || {
        let mut store = FlatStore::new();
        dedicated::iterative(&mut { space }, &mut store, &mut never);
        store.len()
    };
    let recursive = || {
        let mut store = FlatStore::new();
        dedicated::recursive(&mut { space }, &mut store, &mut never);
        store.len()
    };
    let handlers = || Handlers::new().on_explore(Accept(never), Goal).on_explore(Always, Insert);
    let deep = || {
        let mut store = FlatStore::new();
        depth_first(&mut { space }, &mut store, &mut handlers());
        store.len()
    };
    let broad = || {
        let mut store: FlatStore<Parent> = FlatStore::default();
        breadth_first(&mut { space }, &mut store, &mut handlers());
        store.len()
    };
    let windowed = || {
        let mut store: FlatStore<Parent> = FlatStore::default();
        let strategy = BreadthFirst { window: 32, ..Default::default() };
        strategy.run_with(InsertionOrder::default(), &mut { space }, &mut store, &mut handlers());
        store.len()
    };
    println!("{} counters, {} tokens: {} states", space.counters, space.tokens, iterative());
    compare(&mut [
        ("by hand, iterative", &mut { iterative }),
        ("by hand, recursive", &mut { recursive }),
        ("depth-first with handlers", &mut { deep }),
        ("breadth-first with handlers", &mut { broad }),
        ("the same, 32 arrivals at a time", &mut { windowed }),
    ]);
}

fn main() {
    let mut numbers = std::env::args().skip(1).map_while(|argument| argument.parse().ok());
    let counters = numbers.next().unwrap_or(7).clamp(1, 255);
    let tokens = numbers.next().unwrap_or(8).min(255) as u8;
    // The recursive search goes as deep as there are states.
    let thread = std::thread::Builder::new().stack_size(8 << 30).spawn(move || run(Counters { counters, tokens }));
    if let Ok(thread) = thread {
        let _ = thread.join();
    }
}
