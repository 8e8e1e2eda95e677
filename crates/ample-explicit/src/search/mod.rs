//! Search: strategies that order the traversal, and feedback that decides.
//!
//! A strategy, [`DepthFirst`], [`BreadthFirst`], or one that is directed by a [`Heuristic`] ([`BestFirst`],
//! [hill climbing](DepthFirst::hill_climbing), [`Beam`], [`RandomWalk`]), knows how to walk a state space and nothing about
//! what is looked for. At every event it asks a [`Feedback`] what to do: *explore* when it arrives at a
//! state, *leaf* when a state turns out to have no outgoing transition, and, depth-first only,
//! *backtrack* when a state has been fully expanded. The feedback sees the moment as a [`Visit`].
//!
//! Feedback can be written by hand, as the safety check of [`check`](crate::check) is, or put together
//! from conditions and actions with [`Handlers`](handlers::Handlers). All of it is resolved when it is
//! compiled; nothing is virtual.

mod beam;
mod best_first;
mod breadth_first;
mod cycles;
pub mod dedicated;
mod depth_first;
pub mod handlers;
mod open;
mod path;
mod random_walk;
mod strategy;
mod visit;

pub use beam::{Beam, BeamResult};
pub use best_first::{BestFirst, Evaluation, Heuristic, Zero, a_star, best_first};
pub use breadth_first::{BreadthFirst, Frontier, InsertionOrder, Pause, Position, Queue, breadth_first};
pub(crate) use breadth_first::{LevelSearch, Span, Spans};
pub use cycles::{AcceptingCycle, BackEdge, CycleResult, InsertLevelled, Level, Levelled, breadth_first_cycle};
pub use depth_first::{DepthFirst, depth_first};
pub use open::{OpenList, Ties};
pub use path::{Path, retrace};
pub use random_walk::RandomWalk;
pub use strategy::Strategy;
pub use visit::Visit;

use crate::space::StateSpace;

/// The answer to arriving at a state. The order is the priority: the greatest of several wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Explore {
    /// Go on from here.
    New,
    /// Go on from here once more: the state is known, but a cheaper path has led to it. Only where the store keeps costs
    /// ([`Costed`](crate::store::Costed)).
    Reopen,
    /// Do not.
    Skip,
    /// End the search without an answer: out of memory, or out of time.
    Interrupt,
    /// Found it.
    Goal,
}

/// The answer to leaving a state behind. The order is the priority: the greatest of several wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Backtrack {
    /// Go on.
    Continue,
    /// End the search without an answer.
    Interrupt,
    /// Found it.
    Goal,
}

/// Decides what a search looks for and where it goes.
///
/// ```
/// use ample_explicit::search::{Explore, Feedback, Visit, depth_first};
/// use ample_explicit::space::StateSpace;
/// use ample_explicit::store::{ExactStore, HashStore, Inserted};
/// # struct Ring(u8);
/// # impl StateSpace for Ring {
/// #     type State = u8;
/// #     type Transition = i8;
/// #     fn initial(&mut self, index: usize, out: &mut u8) -> bool { *out = 0; index == 0 }
/// #     fn first(&mut self, _: &u8) -> Option<i8> { Some(1) }
/// #     fn next(&mut self, _: &u8, last: &i8) -> Option<i8> { (*last == 1).then_some(-1) }
/// #     fn target(&mut self, state: &u8, step: &i8, out: &mut u8) {
/// #         *out = (*state as i8 + self.0 as i8 + step) as u8 % self.0;
/// #     }
/// # }
///
/// /// Counts the arrivals at states that are known already.
/// struct Returns(u32);
///
/// impl<S: StateSpace, St: ExactStore<S::State>> Feedback<S, St> for Returns {
///     type Note = ();
///
///     fn explore(&mut self, visit: &mut Visit<'_, S, St>, (): ()) -> Explore {
///         match visit.insert() {
///             Inserted::New(_) => Explore::New,
///             Inserted::Seen(_) => {
///                 self.0 += 1;
///                 Explore::Skip
///             }
///             Inserted::Full => Explore::Interrupt,
///         }
///     }
/// }
///
/// let mut returns = Returns(0);
/// depth_first(&mut Ring(10), &mut HashStore::new(), &mut returns);
/// assert_eq!(returns.0, 11); // Ten places, twenty steps, nine of which lead to a new one.
/// ```
pub trait Feedback<S: StateSpace, St> {
    /// What is remembered of an arrival until the state is explored; often nothing, `()`.
    type Note: Default;

    /// The search has called [`target`](StateSpace::target) or [`initial`](StateSpace::initial) just now:
    /// the moment to ask the state space about that call. The state may be explored only after some
    /// others.
    fn arrive(&mut self, _space: &mut S) -> Self::Note {
        Self::Note::default()
    }

    /// Did the arrival end in a state? If not, the strategy does not look at what was written for one.
    fn is_state(_note: &Self::Note) -> bool {
        true
    }

    /// The search has arrived at a state: an initial one, or by a transition.
    fn explore(&mut self, visit: &mut Visit<'_, S, St>, note: Self::Note) -> Explore;

    /// It does not ask the state space about arrivals, as long as nothing has gone wrong on the way, but for the states that
    /// are new: many arrivals are counted together then.
    const COUNTS: bool = false;

    /// The search has arrived at many states, without a fault or a violated assertion on the way: what these arrivals were.
    /// Asked of a feedback that [counts](Feedback::COUNTS).
    fn count(&mut self, _arrivals: &Arrivals, _store_bytes: impl FnOnce() -> usize) -> Explore {
        Explore::Skip
    }

    /// An arrival that can be counted together with others, at that state: whether it is only passed through, and how many steps
    /// of an atomic sequence were passed over. None if it has to be explored by itself.
    fn counted(&self, _space: &S, _state: &S::State, _note: &Self::Note) -> Option<(bool, u32)> {
        None
    }

    /// One of these arrivals has put a state into the store that the feedback [wants to see](Feedback::asks_new).
    fn explore_new(&mut self, _visit: &mut Visit<'_, S, St>) -> Explore {
        Explore::New
    }

    /// New states are to be explored one by one.
    fn asks_new(&self) -> bool {
        false
    }

    /// The state has no outgoing transition.
    fn leaf(&mut self, _visit: &mut Visit<'_, S, St>) -> Backtrack {
        Backtrack::Continue
    }

    /// The state has outgoing transitions, but lies at the depth limit and is not expanded.
    fn truncated(&mut self, _visit: &mut Visit<'_, S, St>) {}

    /// A state is expanded next. Best-first and beam search only. As far as the heuristic of A\* is admissible, no path that
    /// has not been looked at costs less than `least`.
    fn expand(&mut self, _least: u64) -> Backtrack {
        Backtrack::Continue
    }

    /// The state has been fully expanded. Depth-first only.
    fn backtrack(&mut self, _visit: &mut Visit<'_, S, St>) -> Backtrack {
        Backtrack::Continue
    }
}

/// Arrivals that are counted together.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arrivals {
    /// How many ended in a state that is only passed through, and in another one.
    pub transient: u64,
    /// How many ended in another one.
    pub others: u64,
    /// How many of each put the state into the store.
    pub new_transient: u64,
    /// The same of others.
    pub new_others: u64,
    /// Steps of atomic sequences that were passed over.
    pub atomic_steps: u64,
    /// The depth of these states.
    pub depth: u64,
    /// How many states wait to be expanded further.
    pub pending: u64,
    /// The bytes of the frontier.
    pub held: usize,
    /// There was no room for one of the states.
    pub is_full: bool,
}

/// How a search ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchResult<T> {
    /// At a goal, to which the path leads.
    Goal(Path<T>),
    /// There is no goal among the states that were explored.
    Exhausted,
    /// The feedback interrupted it, or the store is full.
    Interrupted,
}

impl<T> SearchResult<T> {
    /// The path to the goal, if one was found.
    pub fn goal(self) -> Option<Path<T>> {
        match self {
            SearchResult::Goal(path) => Some(path),
            SearchResult::Exhausted | SearchResult::Interrupted => None,
        }
    }
}

/// Inside a search: it has terminated early; its result, or why there is none, is recorded where it is run.
pub(crate) struct Terminated;
