//! N dining philosophers (take left, take right, release both) by Stateright's breadth-first search.
//!
//!     stateright-philosophers N THREADS
//!
//! Prints the number of states and the seconds of the search.

use std::time::Instant;

use stateright::{Checker, Model, Property};

struct Philosophers(usize);

#[derive(Clone, Debug, Hash, PartialEq, Eq)]
struct State {
    taken: Vec<bool>,
    /// 0 thinks, 1 has the left fork, 2 has both.
    at: Vec<u8>,
}

impl Model for Philosophers {
    type State = State;
    type Action = usize;

    fn init_states(&self) -> Vec<State> {
        vec![State { taken: vec![false; self.0], at: vec![0; self.0] }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<usize>) {
        let right = |number: usize| (number + 1) % self.0;
        actions.extend((0..self.0).filter(|number| match state.at[*number] {
            0 => !state.taken[*number],
            1 => !state.taken[right(*number)],
            _ => true,
        }));
    }

    fn next_state(&self, state: &State, number: usize) -> Option<State> {
        let mut next = state.clone();
        let right = (number + 1) % self.0;
        match state.at[number] {
            0 => next.taken[number] = true,
            1 => next.taken[right] = true,
            _ => (next.taken[number], next.taken[right]) = (false, false),
        }
        next.at[number] = (state.at[number] + 1) % 3;
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        // Everything is to be explored.
        vec![Property::always("true", |_, _| true)]
    }
}

fn main() {
    let number = |place| std::env::args().nth(place).and_then(|word: String| word.parse().ok());
    let (Some(size), Some(threads)) = (number(1), number(2)) else {
        eprintln!("usage: stateright-philosophers N THREADS");
        std::process::exit(2);
    };
    let begun = Instant::now();
    let checker = Philosophers(size).checker().threads(threads).spawn_bfs().join();
    println!("{} {:.3}", checker.unique_state_count(), begun.elapsed().as_secs_f64());
}
