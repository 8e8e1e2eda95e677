//! Fairness: which endless runs count.

use std::ops::BitOrAssign;

use ample_model::{Move, StartNumber};

use crate::space::StateSpace;

/// Which runs count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fairness {
    /// All.
    #[default]
    None,
    /// Those on which every process that could move from some moment on without a break takes part in a move again
    /// and again.
    Weak,
    /// Those on which every action that is enabled again and again is taken again and again.
    Strong,
}

/// A set of process ids below 256.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Processes([u64; 4]);

impl Processes {
    /// Nobody.
    pub const NONE: Processes = Processes([0; 4]);

    /// Everybody.
    pub const ALL: Processes = Processes([u64::MAX; 4]);

    /// Takes in a process.
    #[inline]
    pub fn insert(&mut self, process: u32) {
        let process = process as u8;
        self.0[usize::from(process >> 6)] |= 1 << (process & 63);
    }

    /// All the others.
    #[inline]
    pub fn others(self) -> Processes {
        Processes(self.0.map(|word| !word))
    }

    /// The set as words.
    pub fn words(self) -> [u64; 4] {
        self.0
    }
}

impl BitOrAssign for Processes {
    #[inline]
    fn bitor_assign(&mut self, other: Processes) {
        for (word, more) in self.0.iter_mut().zip(other.0) {
            *word |= more;
        }
    }
}

/// A state space whose transitions are moves of processes: what fairness needs to know.
pub trait Concurrent: StateSpace {
    /// The process that begins the transition, if it is one of a process.
    fn mover(&self, transition: &Self::Transition) -> Option<u32>;

    /// Who begins a transition that leaves the same state and may be [postponed](crate::space::Checked::rest), when that
    /// is the first one of the state: a process is not disabled because a search leaves its transitions out.
    fn postponed_movers(&self, _first: &Self::Transition) -> Processes {
        Processes::NONE
    }

    /// Who took part in the last [`target`](StateSpace::target).
    fn participants(&self) -> Processes;

    /// Keeps account of the [participants](Concurrent::participants) from now on.
    fn note_participants(&mut self);

    /// All moves that the transition stands for, in order. The first is the action that it takes; there is none if
    /// it only repeats the state.
    fn actions(&mut self, state: &Self::State, transition: &Self::Transition) -> Vec<Move>;

    /// The number that the model gives to the initial state of that position. They differ where not every combination of
    /// first values is an initial state.
    fn start_number(&mut self, position: usize) -> StartNumber {
        (position as u64).into()
    }
}
