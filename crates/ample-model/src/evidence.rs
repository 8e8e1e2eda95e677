//! Evidence as engines hand it over: moves of the system, which nobody has replayed yet.
//!
//! A finite run shows that a state or a step is reachable, a lasso how a run goes on for ever, and a tree of runs what a
//! formula of branching time says. What they are evidence of is given when they are validated.

use ample_logic::Formula;

use crate::initial::StartNumber;
use crate::trace::Move;

/// What an engine has found.
#[derive(Clone, Debug)]
pub enum Evidence {
    /// A finite run.
    Run(Run),
    /// An ultimately periodic run.
    Lasso(Lasso),
    /// A tree of runs, from the initial state of that number.
    Tree(StartNumber, Tree),
}

impl Evidence {
    /// How many moves it has, those of branches not counted.
    pub fn len(&self) -> usize {
        match self {
            Evidence::Run(run) => run.moves.len(),
            Evidence::Lasso(lasso) => lasso.prefix.len() + lasso.cycle.len(),
            Evidence::Tree(_, tree) => tree.prefix.len() + tree.cycle.len(),
        }
    }

    /// It is an initial state and no more.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A finite run: to a state, or to a step that is a violation.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Which of the initial states it starts in.
    pub start: StartNumber,
    /// The moves from there.
    pub moves: Vec<Move>,
}

/// How an endless run goes on after its last move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With its cycle, for ever.
    Cycle,
    /// It is stuck, and stays there for ever.
    Stutter,
    /// Anyhow: what was seen is enough.
    Open,
}

/// An ultimately periodic run.
#[derive(Clone, Debug)]
pub struct Lasso {
    /// Which of the initial states it starts in.
    pub start: StartNumber,
    /// The moves to the cycle.
    pub prefix: Vec<Move>,
    /// The moves of the cycle.
    pub cycle: Vec<Move>,
    /// How it goes on.
    pub ending: Ending,
    /// The states of the property automaton when it reads the visible states of the prefix, and then again the last one if
    /// the run is stuck before the automaton's cycle begins. Only never claims need them.
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
    /// What there is to see along the run: after so many moves.
    pub branches: Vec<(usize, Tree)>,
}
