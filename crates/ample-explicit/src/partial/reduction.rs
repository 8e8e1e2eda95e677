//! What to reduce by, and what came of it.

use crate::check::Report;

/// How a search may leave out transitions.
///
/// ```
/// use ample_explicit::partial::{Proviso, Reduction};
///
/// // For deadlocks alone nothing has to be done about transitions that are ignored for ever.
/// let deadlocks = Reduction { persistent: true, sleep: true, ..Reduction::default() };
/// assert_eq!(deadlocks.proviso, Proviso::None);
/// assert!(deadlocks.for_depth_first().is_ok());
/// assert!(deadlocks.for_breadth_first().is_err());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reduction {
    /// Take a persistent set in each state, not all that is enabled.
    pub persistent: bool,
    /// Keep sleep sets: what need not be taken because it was, before something that is independent of it.
    pub sleep: bool,
    /// What is done about the ignoring problem: transitions that are never taken. Needed when persistent sets are used and something
    /// other than a deadlock is looked for.
    pub proviso: Proviso,
    /// Keep only some of the states that the search has left.
    pub cache: Option<Cache>,
}

/// How it is made sure that a cycle of the reduced graph does not ignore a transition for ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Proviso {
    /// It is not. Enough for deadlocks.
    #[default]
    None,
    /// Depth-first: something that is taken in each state leads to a state that is not on the stack, unless all that
    /// is enabled is taken (Def. 6.2).
    Stack,
    /// Depth-first: in each terminal component of the reduced graph everything is taken that is enabled there
    /// (Def. 6.15). Not with sleep sets.
    Components,
    /// Breadth-first: something that is taken in each state leads to a state that has yet to be expanded, unless all
    /// that is enabled is taken.
    Queue,
}

/// A visited set that forgets (P. Godefroid's thesis, §8.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cache {
    /// How many states it holds at most, those on the stack among them.
    pub states: usize,
    /// Which one makes room for another.
    pub replacement: Replacement,
}

/// Which state makes room for another. A state on the stack never does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Replacement {
    /// The one that is cheapest to explore again.
    ///
    /// First the states that one explored transition leaves, and that were not matched: from them the search soon comes to
    /// a state that is kept. Last those that were matched most often. Of several the one that the search left first.
    #[default]
    Cheapest,
    /// The one that the search left first.
    Oldest,
    /// One at random.
    Random,
    /// Of a handful taken at random, the one that the search has met least often.
    LeastVisited,
}

/// Things that do not go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Incompatible {
    /// What sleeps in a component may have been taken outside of it.
    #[error("sleep sets cannot be used with the proviso on components")]
    SleepWithComponents,
    /// A component has to be kept until it is complete.
    #[error("a cache of states cannot be used with the proviso on components")]
    CacheWithComponents,
    /// There is no queue.
    #[error("the proviso on the queue is for breadth-first search")]
    QueueDepthFirst,
    /// There is no stack.
    #[error("the provisos on the stack and on components are for depth-first search")]
    StackBreadthFirst,
    /// They are implemented depth-first only.
    #[error("sleep sets are for depth-first search")]
    SleepBreadthFirst,
    /// All states wait in the store.
    #[error("a cache of states is for depth-first search")]
    CacheBreadthFirst,
    /// A state that was left is not known any more.
    #[error(
        "sleep sets, caches and the proviso on components keep something beside each state, which only the exact store can: \
         `--store exact`"
    )]
    MarksInSet,
}

impl Reduction {
    /// How the cache evicts states. Where nothing is left out, most states are matched soon after the search has left them,
    /// and what they cost to be explored again says little.
    pub(super) fn replacement(&self, cache: Cache) -> Replacement {
        match cache.replacement {
            Replacement::Cheapest if !self.persistent && !self.sleep => Replacement::Oldest,
            asked => asked,
        }
    }

    /// Can a depth-first search do this?
    pub fn for_depth_first(&self) -> Result<(), Incompatible> {
        match self.proviso {
            Proviso::Queue => Err(Incompatible::QueueDepthFirst),
            Proviso::Components if self.sleep => Err(Incompatible::SleepWithComponents),
            Proviso::Components if self.cache.is_some() => Err(Incompatible::CacheWithComponents),
            Proviso::None | Proviso::Stack | Proviso::Components => Ok(()),
        }
    }

    /// Can this be done with a set that cannot give its states back?
    pub fn for_set(&self) -> Result<(), Incompatible> {
        let keeps_marks = self.sleep || self.cache.is_some() || self.proviso == Proviso::Components;
        if keeps_marks { Err(Incompatible::MarksInSet) } else { Ok(()) }
    }

    /// Can a breadth-first search do this?
    pub fn for_breadth_first(&self) -> Result<(), Incompatible> {
        match self.proviso {
            Proviso::Stack | Proviso::Components => Err(Incompatible::StackBreadthFirst),
            Proviso::None | Proviso::Queue if self.sleep => Err(Incompatible::SleepBreadthFirst),
            Proviso::None | Proviso::Queue if self.cache.is_some() => Err(Incompatible::CacheBreadthFirst),
            Proviso::None | Proviso::Queue => Ok(()),
        }
    }
}

/// What the search did, in the terms of P. Godefroid's thesis (§8.4). States inside atomic sequences count like all
/// others, and an initial state counts as an arrival: `stored + cleared + matched` is `transitions`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// States in the store in the end.
    pub stored: u64,
    /// States that a cache has forgotten.
    pub cleared: u64,
    /// Arrivals at a state that was in the store.
    pub matched: u64,
    /// Arrivals at a state.
    pub transitions: u64,
    /// The most states on the stack, or waiting in the queue, at once.
    pub deepest: u64,
    /// States where only some of the enabled transitions were taken.
    pub reduced: u64,
    /// How often a proviso, or a fault, added transitions to those that were chosen first.
    pub extended: u64,
    /// How often a state was expanded again because it had been left with a larger sleep set.
    pub again: u64,
    /// Distinct sleep sets.
    pub sleep_sets: u64,
}

/// A report and what the reduction did for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Reduced<T> {
    /// What was found. With a cache, `states` of the statistics counts a state as often as it was stored.
    pub report: Report<T>,
    /// What was done.
    pub counts: Counts,
}
