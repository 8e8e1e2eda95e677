//! Liveness: infinite runs, and automata that accept them.
//!
//! A [`BuchiAutomaton`] is a Büchi automaton that reads the visible states of a run, one letter for each; it is made from
//! the negation of an LTL formula, from a never claim, or from the labels of a model. [`Product`] is the product of
//! a state space with an automaton, a transformation like any other: a state space again, whose transitions carry
//! [marks](GeneralisedBuchi::marks). A run that collects all of them again and again shows what must not be.
//!
//! Two algorithms look for such a run, both on the fly: [`components`] by strongly connected components, in one pass,
//! for any number of marks and with fairness; [`nested`] by nested depth-first search, for a single mark, with two
//! bits for each state. Both answer with a [`Lasso`], which is made short. [`nested_with_set`] is for stores that cannot
//! give states back, and `cndfs` for several threads.
//!
//! What counts as a run: one that is stuck, or that is stopped by a fault, repeats its last state for ever
//! ([`Product::stutters`]). States inside atomic sequences are passed over, and a run that never leaves one is none.

mod automaton;
mod cndfs;
mod coloured;
mod components;
mod fair;
mod lasso;
mod nested;
mod product;
mod projections;
mod stopping;
mod streett;

pub use automaton::{BuchiAutomaton, Cube, Edge, TooManyAtoms};
pub(crate) use cndfs::cndfs;
pub use coloured::{Coloured, nested_with_set};
pub use components::components;
pub use fair::{Concurrent, Fairness, Processes};
pub use lasso::Lasso;
pub use nested::nested;
pub use product::{Behind, MAX_STATES, Product, Step, Tagged};
pub use projections::{AutomatonPart, SystemPart};
pub use stopping::{Stopping, Stops};

use std::time::Instant;

use ample_budget::{Budget, Progress};
use ample_model::outcome::{Reason, Statistics};

use crate::pacing::Pacing;
use crate::search::Terminated;
use crate::space::Checked;
use crate::store::{Handle, Side};

/// A state space with generalised Büchi acceptance: marks on the transitions, one for each acceptance set.
pub trait GeneralisedBuchi: Checked {
    /// The marks that a run must take again and again to be accepted.
    fn all_marks(&self) -> u64;

    /// The marks of a transition.
    fn marks(&self, transition: &Self::Transition) -> u64;

    /// All states of a strongly connected component are accepting, except those that are only passed through, or none is.
    fn is_weak(&self) -> bool {
        false
    }

    /// Every run that goes on with this transition is accepted, wherever it leads; and some run does.
    fn is_universal(&mut self, state: &Self::State, transition: &Self::Transition) -> bool;

    /// The transition only repeats the state.
    fn is_stutter(&self, transition: &Self::Transition) -> bool;
}

/// How far to go.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which runs count.
    pub fairness: Fairness,
    /// Do not expand states at this depth.
    pub max_depth: u64,
    /// The budget is told after every so many arrivals at a state.
    pub report_every: u64,
}

impl Default for Options {
    /// All runs, without limits.
    fn default() -> Self {
        Options { fairness: Fairness::None, max_depth: u64::MAX, report_every: 10_000 }
    }
}

/// What a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct Report<T> {
    /// An accepted run.
    pub found: Option<Lasso<T>>,
    /// Why the search ended early, if it did; without a run, nothing is decided then.
    pub ended: Option<Reason>,
    /// What the search did.
    pub statistics: Statistics,
}

/// The place of a state among the live ones of a search by components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number(u32);

impl Number {
    /// Of a state whose component is complete.
    const DEAD: Number = Number(u32::MAX);
    /// Of a state in the component that was found.
    const MEMBER: Number = Number(u32::MAX - 1);
}

/// Side data that can say: this state belongs to the component that was found.
pub trait Member: Side {
    /// It belongs to it.
    fn is_member(self) -> bool;

    /// From now on it does.
    fn member(self) -> Self;
}

impl Member for Number {
    fn is_member(self) -> bool {
        self == Number::MEMBER
    }

    fn member(self) -> Self {
        Number::MEMBER
    }
}

impl Side for Number {
    const SIZE: usize = 4;

    #[inline]
    fn fresh(_: Option<Handle>) -> Self {
        Number::DEAD
    }

    #[inline]
    fn write(self, bytes: &mut [u8]) {
        bytes.copy_from_slice(&self.0.to_le_bytes());
    }

    #[inline]
    fn read(bytes: &[u8]) -> Self {
        Number(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }
}

/// Counts, and reports the progress to the budget.
struct SearchCounts<'a> {
    budget: &'a Budget,
    statistics: Statistics,
    start: Instant,
    pacing: Pacing,
    countdown: u64,
    ended: Option<Reason>,
}

impl<'a> SearchCounts<'a> {
    fn new(options: &Options, budget: &'a Budget) -> Self {
        let pacing = Pacing::new(options.report_every);
        let (statistics, start) = (Statistics::default(), Instant::now());
        SearchCounts { budget, statistics, start, pacing, countdown: pacing.first(), ended: None }
    }

    /// An arrival at a state; true if the search has to end.
    #[inline]
    fn arrived(&mut self, transient: bool, new: bool, atomic_steps: u32, depth: usize) -> bool {
        let statistics = &mut self.statistics;
        statistics.atomic_steps += u64::from(atomic_steps);
        *if transient { &mut statistics.atomic_steps } else { &mut statistics.transitions } += 1;
        if new {
            *if transient { &mut statistics.atomic_states } else { &mut statistics.states } += 1;
            statistics.depth = statistics.depth.max(depth as u64);
        }
        self.countdown -= 1;
        self.countdown == 0
    }

    /// Reports the progress to the budget, which may end the search.
    #[cold]
    fn report_progress(&mut self, pending: usize, memory: usize) -> Result<(), Terminated> {
        self.countdown = self.pacing.next();
        let progress = Progress {
            states: self.statistics.states,
            transitions: self.statistics.transitions,
            depth: self.statistics.depth,
            pending: pending as u64,
            memory: memory as u64,
            ..Progress::default()
        };
        self.statistics.memory_bytes = self.statistics.memory_bytes.max(memory as u64);
        match self.budget.report(&progress) {
            Ok(()) => Ok(()),
            Err(interrupted) => self.end(interrupted.into()),
        }
    }

    #[cold]
    fn end<X>(&mut self, reason: Reason) -> Result<X, Terminated> {
        self.ended = Some(reason);
        Err(Terminated)
    }

    fn report<T>(self, found: Option<Lasso<T>>, store_bytes: usize, state_bytes: usize) -> Report<T> {
        let ended = if found.is_some() { None } else { self.ended };
        let statistics = Statistics {
            time_s: self.start.elapsed().as_secs_f64(),
            memory_bytes: self.statistics.memory_bytes.max(store_bytes as u64),
            store_bytes: store_bytes as u64,
            state_bytes: state_bytes as u64,
            complete: ended.is_none(),
            counts_transitions: true,
            counts_depth: true,
            ..self.statistics
        };
        Report { found, ended, statistics }
    }
}
