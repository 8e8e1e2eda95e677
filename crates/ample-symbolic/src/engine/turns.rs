//! Which way is quickest is seen by trying: where nobody names one, the ways to evaluate a formula take turns, each time
//! a longer one, until one of them comes to its end. What a turn has computed is still in the tables at the next one.

use std::time::{Duration, Instant};

use crate::diagram::Diagrams;
use crate::partial::Variant;

use super::Interruption;

/// The first turn of each.
const FIRST_TURN: Duration = Duration::from_millis(1000);
/// The next one is longer by this factor.
const GROWTH: u32 = 3;

/// A way to evaluate a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// From where its parts hold.
    Backward,
    /// From the initial states.
    Forward,
    /// From the initial states, by partial exploration.
    Reduced(Variant),
}

/// Whose turn was the last.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    way: Strategy,
    /// The time that others had before.
    others: Duration,
}

impl Turn {
    /// What the user should know about the choice, if there was one.
    pub fn told(self) -> Option<String> {
        let way = match self.way {
            Strategy::Backward => "backward",
            Strategy::Forward => "forward",
            Strategy::Reduced(_) => "forward, by partial exploration",
        };
        let others = self.others.as_secs_f64();
        (!self.others.is_zero())
            .then(|| format!("evaluated {way}; other strategies were not done after {others:.0} seconds"))
    }
}

/// Lets the ways take turns until one of them is done.
pub fn take_turns<R>(
    diagrams: &Diagrams,
    ways: &[Strategy],
    mut work: impl FnMut(&Strategy) -> Result<R, Interruption>,
) -> Result<(R, Turn), Interruption> {
    let begun = Instant::now();
    let mut turn = FIRST_TURN;
    loop {
        for way in ways {
            let others = if *way == ways[0] && turn == FIRST_TURN { Duration::ZERO } else { begun.elapsed() };
            let result = if ways.len() == 1 { work(way).map(Some) } else { in_time(diagrams, turn, || work(way)) };
            if let Some(result) = result? {
                return Ok((result, Turn { way: *way, others }));
            }
        }
        turn = turn.saturating_mul(GROWTH);
    }
}

/// Does something if it does not take longer.
pub fn in_time<R>(
    diagrams: &Diagrams,
    time: Duration,
    work: impl FnOnce() -> Result<R, Interruption>,
) -> Result<Option<R>, Interruption> {
    diagrams.set_deadline(Instant::now().checked_add(time));
    let result = work();
    diagrams.set_deadline(None);
    match result {
        Ok(result) => Ok(Some(result)),
        Err(Interruption::Late) => Ok(None),
        Err(interruption) => Err(interruption),
    }
}
