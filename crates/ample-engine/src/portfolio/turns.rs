//! Turns: engines that share a core.
//!
//! Engines have numbers, and the smaller the number, the better an engine suits. Where there are more engines at work
//! than cores, the first ones keep a core each and never wait; the others share the last core, and the first of them has
//! every second turn. So on two cores the second engine takes at most twice as long as if it had a core of its own. Turns
//! become longer with time, so that engines that divide their time themselves are not disturbed often.
//!
//! A turn ends when its time is over, whether or not the engine has noticed; it does when it asks its budget, at the latest
//! ([`Budget::with_turn`](ample_budget::Budget::with_turn)).

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The shortest turn.
const SHORTEST: Duration = Duration::from_millis(10);
/// A turn lasts this part of the time that has passed, if that is longer.
const PART: u32 = 16;
/// Whoever waits looks again after this time, because the budget may have ended.
const NAP: Duration = Duration::from_millis(5);

/// Who is at work, and whose turn it is.
pub(super) struct Turns {
    cores: usize,
    begun: Instant,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    /// The numbers of the engines at work, in order.
    at_work: Vec<usize>,
    /// The number of the turn, and when it began.
    turn: usize,
    since: Instant,
}

impl State {
    /// The engine of that number has a core, if engines share so many.
    fn has_core(&self, number: usize, cores: usize) -> bool {
        let own = cores.saturating_sub(1);
        match self.at_work.iter().position(|one| *one == number) {
            Some(place) if place < own => true,
            Some(place) => place - own == self.on_turn(self.at_work.len() - own),
            None => true,
        }
    }

    /// Which of so many engines has the core that they share.
    fn on_turn(&self, sharing: usize) -> usize {
        if sharing < 2 || self.turn.is_multiple_of(2) { 0 } else { 1 + self.turn / 2 % (sharing - 1) }
    }
}

impl Turns {
    /// On so many cores.
    pub fn new(cores: usize) -> Turns {
        let begun = Instant::now();
        let state = Mutex::new(State { at_work: Vec::new(), turn: 0, since: begun });
        Turns { cores, begun, state, changed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An engine begins.
    pub fn enter(&self, number: usize) {
        let mut state = self.state();
        let place = state.at_work.partition_point(|one| *one < number);
        state.at_work.insert(place, number);
    }

    /// An engine has ended, or has not begun.
    pub fn leave(&self, number: usize) {
        self.state().at_work.retain(|one| *one != number);
        self.changed.notify_all();
    }

    /// Whether an engine may go on; waits a little if it may not.
    pub fn is_on(&self, number: usize) -> bool {
        let mut state = self.state();
        if state.at_work.len() <= self.cores {
            return true;
        }
        let now = Instant::now();
        let length = SHORTEST.max((now - self.begun) / PART);
        let passed = now - state.since;
        if passed >= length {
            state.turn += 1;
            state.since = now;
            self.changed.notify_all();
        }
        if state.has_core(number, self.cores) {
            return true;
        }
        drop(self.changed.wait_timeout(state, NAP.min(length.saturating_sub(passed)).max(NAP / 10)));
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which engines have a core in each of the first turns.
    fn turns(at_work: &[usize], cores: usize) -> Vec<Vec<usize>> {
        let having = |turn: usize| {
            let state = State { at_work: at_work.to_vec(), turn, since: Instant::now() };
            at_work.iter().copied().filter(|number| state.has_core(*number, cores)).collect()
        };
        (0..5).map(having).collect()
    }

    #[test]
    fn the_first_engines_keep_their_cores_and_the_others_share_the_last() {
        assert_eq!(turns(&[0, 1], 2), vec![vec![0, 1]; 5]);
        assert_eq!(turns(&[0, 1, 2], 2), [[0, 1], [0, 2], [0, 1], [0, 2], [0, 1]]);
        assert_eq!(turns(&[0, 1, 2, 3], 2), [[0, 1], [0, 2], [0, 1], [0, 3], [0, 1]]);
        assert_eq!(turns(&[0, 1, 2, 3], 3), [[0, 1, 2], [0, 1, 3], [0, 1, 2], [0, 1, 3], [0, 1, 2]]);
        // The first one has ended.
        assert_eq!(turns(&[1, 2, 3], 2), [[1, 2], [1, 3], [1, 2], [1, 3], [1, 2]]);
    }

    #[test]
    fn every_engine_that_shares_a_core_gets_on() {
        let turns = Turns::new(2);
        (0..4).for_each(|number| turns.enter(number));
        for number in [3, 2, 1, 0] {
            while !turns.is_on(number) {}
        }
        turns.leave(0);
        turns.leave(3);
        assert!(turns.is_on(1) && turns.is_on(2));
    }
}
