//! Settings: what all engines are told about a check, beside the properties.

use std::sync::Arc;
use std::time::Duration;

use ample_budget::Budget;
use ample_model::Expr;

use crate::board::Board;
use crate::report::Answer;

/// Which runs a temporal property is asked about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fairness {
    /// All.
    #[default]
    None,
    /// Those on which every process that is executable from some moment on without a break moves again and again, as
    /// with Spin's `-f`.
    Weak,
    /// Those on which every action that is executable again and again is taken again and again. An action is a
    /// statement of one process, or a handshake of two.
    Strong,
}

/// What every engine has to know of a check.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Which runs count for temporal properties.
    pub fairness: Fairness,
    /// Only runs on which each of these holds again and again count for temporal properties.
    pub justice: Vec<Expr>,
    /// States that many steps from the start are not expanded.
    pub max_depth: Option<u64>,
    /// The time that there is for all properties together: their searches share it, so that none has to wait for one
    /// that does not end. Who ends them is the [`Observer`](ample_model::Observer).
    pub time: Option<Duration>,
    /// How many searches may be under way at once: as many as there are cores if nobody says.
    pub threads: Option<usize>,
    /// Bytes that the search may take. An [`Observer`](ample_model::Observer) can watch over the rest of the process.
    pub memory_limit: Option<u64>,
    /// What all phases may take, those before and after the searches included.
    pub budget: Budget,
    /// Where answers are posted as soon as they are known.
    pub board: Option<Arc<Board>>,
    /// End at the first violation, whatever it is of.
    pub stop_at_first: bool,
}

impl Settings {
    /// Posts the answer to the property of that number.
    pub fn post(&self, number: usize, answer: &Answer) {
        if let Some(board) = &self.board {
            board.post(number, answer);
        }
    }
}
