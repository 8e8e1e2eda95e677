//! Which transitions closures began with, and whether that came to something.
//!
//! A transition that belongs to a small stubborn set in one state mostly does so in the next one; a closure that comes to
//! nothing is the most expensive. So what was successful is tried first, and what has failed for a long time is tried
//! only now and then. Attempts are counted, not time, so that the same search always has the same result.

use crate::scheme::TransitionNumber;

/// After so many failures, one after the other, a transition is tried less often.
const PATIENCE: u32 = 16;

/// The longest pause, in states where it could be tried.
const LONGEST_PAUSE: u32 = 256;

/// The attempts with each transition.
#[derive(Debug, Default)]
pub(super) struct Successes {
    has_pauses: bool,
    of: Vec<Attempts>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Attempts {
    /// Failures since the last success.
    failures: u32,
    /// How long the last pause was, and how much is left of it.
    pause: u32,
    remaining: u32,
}

impl Successes {
    /// With pauses after many failures, or without.
    pub fn new(has_pauses: bool) -> Successes {
        Successes { has_pauses, of: Vec::new() }
    }

    /// Failures since the last success; few of them mean nothing.
    pub fn failures(&self, transition: TransitionNumber) -> u32 {
        self.of.get(transition as usize).map_or(0, |attempts| attempts.failures / 4)
    }

    /// The transition is not tried this time.
    pub fn is_pause(&mut self, transition: TransitionNumber) -> bool {
        let Some(attempts) = self.of.get_mut(transition as usize) else { return false };
        let is_pause = attempts.remaining > 0;
        attempts.remaining -= u32::from(is_pause);
        is_pause
    }

    /// The transition was tried.
    pub fn note(&mut self, transition: TransitionNumber, is_success: bool) {
        let number = transition as usize;
        if number >= self.of.len() {
            self.of.resize(number + 1, Attempts::default());
        }
        let attempts = &mut self.of[number];
        if is_success {
            *attempts = Attempts::default();
            return;
        }
        attempts.failures += 1;
        if self.has_pauses && attempts.failures >= PATIENCE {
            attempts.pause = (2 * attempts.pause).clamp(1, LONGEST_PAUSE);
            attempts.remaining = attempts.pause;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_is_tried_less_often_until_it_succeeds() {
        let mut successes = Successes::new(true);
        let mut tries = 0;
        for _ in 0..10_000 {
            if !successes.is_pause(7) {
                tries += 1;
                successes.note(7, false);
            }
        }
        assert!((PATIENCE..100).contains(&tries), "{tries}");
        assert!(successes.failures(7) > successes.failures(8));
        successes.note(7, true);
        assert!(!successes.is_pause(7) && successes.failures(7) == 0);
    }

    #[test]
    fn without_pauses_everything_is_tried() {
        let mut successes = Successes::new(false);
        (0..1_000).for_each(|_| successes.note(3, false));
        assert!(!successes.is_pause(3));
    }
}
