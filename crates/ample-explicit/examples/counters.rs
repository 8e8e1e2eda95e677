//! A network of counters that pass tokens: a state space whose states are bytes, checked for deadlocks
//! and an invariant.
//!
//!     cargo run --release -p ample-explicit --example counters [COUNTERS [TOKENS]]

use ample_budget::Budget;
use ample_explicit::check::{self, Options};
use ample_explicit::space::{Checked, StateSpace};
use ample_explicit::store::{ExactStore, FlatStore, Parent};

/// Counters in a ring, each of which can pass a token to the next one. At first one of them has all.
///
/// If they are thirsty, each can also drop its last token instead, and then there is an end.
struct Counters {
    counters: usize,
    tokens: u8,
    thirsty: bool,
}

/// What a counter does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Move {
    Pass(usize),
    Drop(usize),
}

impl Counters {
    fn is_enabled(&self, state: &[u8], step: Move) -> bool {
        match step {
            Move::Pass(counter) => state[counter] > 0,
            Move::Drop(counter) => self.thirsty && state[counter] == 1,
        }
    }

    /// The first move that is enabled from that position on, in the order in which they are walked.
    fn from(&self, state: &[u8], position: usize) -> Option<Move> {
        let order = |position| if position % 2 == 0 { Move::Pass(position / 2) } else { Move::Drop(position / 2) };
        (position..2 * self.counters).map(order).find(|&step| self.is_enabled(state, step))
    }
}

impl StateSpace for Counters {
    type State = [u8];
    type Transition = Move;

    fn initial(&mut self, index: usize, out: &mut Vec<u8>) -> bool {
        out.clear();
        out.resize(self.counters, 0);
        out[0] = self.tokens;
        index == 0
    }

    fn first(&mut self, state: &[u8]) -> Option<Move> {
        self.from(state, 0)
    }

    fn next(&mut self, state: &[u8], last: &Move) -> Option<Move> {
        match last {
            Move::Pass(counter) => self.from(state, 2 * counter + 1),
            Move::Drop(counter) => self.from(state, 2 * counter + 2),
        }
    }

    fn target(&mut self, state: &[u8], step: &Move, out: &mut Vec<u8>) {
        state.clone_into(out);
        match *step {
            Move::Pass(counter) => {
                out[counter] -= 1;
                out[(counter + 1) % self.counters] += 1;
            }
            Move::Drop(counter) => out[counter] -= 1,
        }
    }
}

impl Checked for Counters {
    fn is_valid_end(&mut self, _: &[u8]) -> bool {
        false
    }

    fn violation(&self) -> Option<String> {
        None
    }

    fn is_dead(&self) -> bool {
        false
    }

    fn is_transient(&self, _: &[u8]) -> bool {
        false
    }

    fn atomic_steps(&self) -> u32 {
        0
    }

    /// No token gets lost.
    fn invariant(&mut self, _: usize, state: &[u8]) -> bool {
        state.iter().map(|&tokens| u32::from(tokens)).sum::<u32>() == u32::from(self.tokens)
    }
}

fn main() {
    let mut numbers = std::env::args().skip(1).map_while(|argument| argument.parse().ok());
    let counters = numbers.next().unwrap_or(8).max(1);
    let tokens = numbers.next().unwrap_or(16).min(255) as u8;
    for thirsty in [false, true] {
        let mut space = Counters { counters, tokens, thirsty };
        let mut store: FlatStore<Parent> = FlatStore::default();
        let options = Options { invariants: 1, ..Options::default() };
        let report = check::breadth_first(&mut space, &mut store, &options, &Budget::unlimited());
        let statistics = &report.statistics;
        println!("{counters} {} counters, {tokens} tokens", if thirsty { "thirsty" } else { "honest" });
        println!("  {} states, {} transitions, depth {}", statistics.states, statistics.transitions, statistics.depth);
        println!("  {:.2} s, {:.1} MB", statistics.time_s, statistics.memory_bytes as f64 / 1e6);
        for (name, violation) in [("deadlock", &report.deadlock), ("no token gets lost", &report.invariants[0])] {
            let Some(violation) = violation else {
                println!("  {name}: holds");
                continue;
            };
            println!("  {name}: {} after {} steps", violation.message, violation.path.len());
            if let Some(end) = violation.path.end {
                println!("    {:?}", store.get(end));
            }
        }
    }
}
