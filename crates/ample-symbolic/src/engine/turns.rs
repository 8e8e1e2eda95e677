//! Which strategy is quickest is seen by trying: where nobody names one, the strategies for evaluating a formula take
//! turns, each time a longer one, until one of them comes to its end. What a turn has computed is still in the tables at the next one.

use std::time::{Duration, Instant};

use crate::diagram::Diagrams;
use crate::partial::Variant;
use ample_budget::Interrupted;
use ample_model::Reason;

/// The first turn of each.
const FIRST_TURN: Duration = Duration::from_millis(1000);
/// The next one is longer by this factor.
const GROWTH: u32 = 3;

/// A strategy for evaluating a formula.
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
    strategy: Strategy,
    /// The time that others had before.
    others: Duration,
}

impl Turn {
    /// What the user should know about the choice, if there was one.
    pub fn description(self) -> Option<String> {
        let strategy = match self.strategy {
            Strategy::Backward => "backward",
            Strategy::Forward => "forward",
            Strategy::Reduced(_) => "forward, by partial exploration",
        };
        let others = self.others.as_secs_f64();
        (!self.others.is_zero())
            .then(|| format!("evaluated {strategy}; other strategies were not done after {others:.0} seconds"))
    }
}

/// Lets the strategies take turns until one of them is done.
pub fn take_turns<R>(
    diagrams: &Diagrams,
    strategies: &[Strategy],
    mut work: impl FnMut(&Strategy) -> Result<R, Reason>,
) -> Result<(R, Turn), Reason> {
    let begun = Instant::now();
    let mut turn = FIRST_TURN;
    loop {
        for strategy in strategies {
            let others =
                if *strategy == strategies[0] && turn == FIRST_TURN { Duration::ZERO } else { begun.elapsed() };
            let result = if strategies.len() == 1 {
                work(strategy).map(Some)
            } else {
                in_time(diagrams, turn, || work(strategy))
            };
            if let Some(result) = result? {
                return Ok((result, Turn { strategy: *strategy, others }));
            }
        }
        turn = turn.saturating_mul(GROWTH);
    }
}

/// Does something if it does not take longer.
pub fn in_time<R>(
    diagrams: &Diagrams,
    time: Duration,
    work: impl FnOnce() -> Result<R, Reason>,
) -> Result<Option<R>, Reason> {
    let whole = diagrams.budget();
    diagrams.set_budget(whole.clone().with_time(time));
    let result = work();
    diagrams.set_budget(whole.clone());
    match result {
        Ok(result) => Ok(Some(result)),
        Err(Reason::Time) if whole.check() != Err(Interrupted::Deadline) => Ok(None),
        Err(reason) => Err(reason),
    }
}
