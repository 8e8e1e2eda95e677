//! Evidence as engines hand it over: moves of the system, not replayed yet.

use ample_logic::Formula;
use ample_model::{Move, StartNumber};

/// How a run goes on after its last move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With its cycle, for ever.
    Cycle,
    /// It is stuck, and stays there for ever.
    Stutter,
    /// Anyhow: what was seen is enough.
    Open,
}

/// An accepted run.
#[derive(Clone, Debug)]
pub struct Run {
    /// Which of the initial states it starts in.
    pub start: StartNumber,
    /// The moves to the cycle.
    pub prefix: Vec<Move>,
    /// The moves of the cycle.
    pub cycle: Vec<Move>,
    /// How it goes on.
    pub ending: Ending,
    /// The states of the automaton when it reads the visible states of the prefix, and then again the last one if the run
    /// is stuck before the automaton's cycle begins.
    pub prefix_tags: Vec<u32>,
    /// And when it reads those of the cycle; or the last state, again and again, if the run is stuck.
    pub cycle_tags: Vec<u32>,
}

/// What shows that a formula has its value in a state.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The formula.
    pub formula: Formula,
    /// Its value.
    pub holds: bool,
    /// A run from the state on.
    pub prefix: Vec<Move>,
    /// How it goes on for ever, if it does.
    pub cycle: Vec<Move>,
    /// It is stuck at its end.
    pub stutters: bool,
    /// What there is to see on the way: after so many moves.
    pub branches: Vec<(usize, Tree)>,
}
