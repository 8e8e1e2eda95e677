//! Nets by their markings, one by one.
//!
//! | where | what |
//! |---|---|
//! | [`space`](NetSpace) | markings as bytes, for every search of `ample-explicit` |
//! | [`search`] | everything that can be reached, breadth first: counts, several goals, deadlocks, bounds |
//! | [`reduced`] | one goal or a deadlock, guided and with stubborn sets |
//! | [`stubborn`] | which of the enabled transitions are enough |
//! | [`walk`] | random walks, for witnesses |
//! | [`realise`] | orders of the firings that the state equation counts |
//! | [`temporal`] | LTL and CTL, one formula after the other |
//! | [`graph`] | CTL for many formulas, on the whole graph |
//! | [`shorten`] | shorter runs, once there is one |
//!
//! All of them take as few bits for a place as its bound allows. A bound that is not known is guessed, and a guess that
//! turns out to be too small is noticed when a transition fires: the search begins again with more bits. Runs are lists
//! of transition numbers, from the initial marking on.

mod ample;
pub mod graph;
mod layout;
pub mod realise;
pub mod reduced;
mod relations;
pub mod search;
pub mod shorten;
mod space;
pub mod stubborn;
pub mod temporal;
mod test;
pub mod walk;

pub use space::{Fire, NetSpace, TooNarrow};

use ample_model::{Budget, Progress, Reason};

use crate::net::Net;
use layout::Widths;
use relations::Relations;

/// How far to go.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// By place: it never has more tokens, if that is known. What is missing is taken from the net.
    pub bounds: &'a [Option<u64>],
    /// The bytes that a search may hold.
    pub memory: usize,
    /// Progress is reported after every so many arrivals at a state.
    pub report_every: u64,
}

impl Default for Limits<'_> {
    /// The bounds of the net, and 2 GiB.
    fn default() -> Self {
        Limits { bounds: &[], memory: 2 << 30, report_every: 10_000 }
    }
}

/// What is known of each place: from the caller, from the net, or because it excludes others.
fn known_bounds(net: &Net, bounds: &[Option<u64>]) -> Vec<Option<u64>> {
    let least = |one: Option<u64>, other: Option<u64>| one.into_iter().chain(other).min();
    let own = net.places.iter().enumerate();
    let mut known: Vec<Option<u64>> =
        own.map(|(number, place)| least(place.bound, bounds.get(number).copied().flatten())).collect();
    for place in net.exclusive.iter().flatten() {
        if let Some(bound) = known.get_mut(*place as usize) {
            *bound = least(*bound, Some(1));
        }
    }
    known
}

/// Tries with more and more bits, until they are enough.
fn widening<R>(
    net: &Net,
    limits: &Limits<'_>,
    mut attempt: impl FnMut(&Relations, &Widths) -> Result<R, TooNarrow>,
) -> Result<R, Reason> {
    let relations = Relations::of(net)?;
    let mut widths = Widths::of(net, &known_bounds(net, limits.bounds));
    for round in 1.. {
        match attempt(&relations, &widths) {
            Ok(result) => return Ok(result),
            Err(TooNarrow { place }) if widths.widen(place, round) => {}
            Err(TooNarrow { place }) => {
                let name = net.places.get(place as usize).map_or("", |place| place.name.as_str());
                return Err(Reason::Unsupported(format!("place `{name}` gets more than 2^64 tokens")));
            }
        }
    }
    Err(Reason::Memory)
}

/// Tells the budget now and then, and looks after the memory.
struct ProgressReports<'a> {
    budget: &'a Budget,
    every: u64,
    countdown: u64,
    memory: usize,
}

impl<'a> ProgressReports<'a> {
    fn new(limits: &Limits<'_>, budget: &'a Budget) -> ProgressReports<'a> {
        let every = limits.report_every.max(1);
        ProgressReports { budget, every, countdown: every, memory: limits.memory }
    }

    /// So many more arrivals: is it time to report progress?
    #[inline]
    fn is_due(&mut self, arrivals: u64) -> bool {
        self.countdown = self.countdown.saturating_sub(arrivals);
        self.countdown == 0
    }

    /// Tells; why to end, if that is so.
    #[cold]
    fn report(&mut self, progress: &Progress) -> Option<Reason> {
        self.countdown = self.every;
        let full = progress.memory > self.memory as u64;
        self.budget.report(progress).err().map(Reason::from).or(full.then_some(Reason::Memory))
    }
}
