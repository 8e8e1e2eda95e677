//! Beam search: breadth first, but of each level only the best states are expanded.
//!
//! It takes little time for each level, however wide the state space is, and finds goals deep down. What it does not find
//! may still be there.

use std::borrow::Borrow;

use super::best_first::Heuristic;
use super::visit::{PathSource, Place, Visit};
use super::{Backtrack, Explore, Feedback, SearchResult, Terminated};
use crate::space::{Buffer, StateSpace};
use crate::store::{ExactStore, Handle, Linked};

/// The beam search strategy.
///
/// ```
/// use ample_explicit::search::{Beam, SearchResult};
/// use ample_explicit::search::handlers::{Accept, Always, Goal, Handlers, Insert};
/// use ample_explicit::store::{HashStore, Parent, Store};
/// # use ample_explicit::space::StateSpace;
/// # struct Numbers;
/// # impl StateSpace for Numbers {
/// #     type State = u64;
/// #     type Transition = u64;
/// #     fn initial(&mut self, index: usize, out: &mut u64) -> bool { *out = 0; index == 0 }
/// #     fn first(&mut self, state: &u64) -> Option<u64> { (*state < 1 << 40).then_some(0) }
/// #     fn next(&mut self, _: &u64, last: &u64) -> Option<u64> { (*last == 0).then_some(1) }
/// #     fn target(&mut self, state: &u64, bit: &u64, out: &mut u64) { *out = 2 * state + 1 + bit; }
/// # }
///
/// // A tree in which every number leads to two others. The one that is looked for is thirty levels down.
/// let wanted = (1 << 30) + 12345;
/// let mut feedback = Handlers::new().on_explore(Accept(|&n: &u64| n == wanted), Goal).on_explore(Always, Insert);
/// let mut store: HashStore<u64, Parent> = HashStore::default();
/// // How far a number is from the one above the wanted number in its level.
/// let mut distance = |n: &u64| {
///     let mut above = wanted;
///     while above > *n && (above - 1) / 2 >= *n {
///         above = (above - 1) / 2;
///     }
///     above.abs_diff(*n)
/// };
/// let found = Beam { width: 10, ..Beam::default() }.run(&mut Numbers, &mut store, &mut distance, &mut feedback);
/// assert!(matches!(found.result, SearchResult::Goal(path) if path.len() == 30));
/// assert!(found.dropped > 0 && store.len() < 1000);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Beam {
    /// So many states of a level are expanded.
    pub width: usize,
    /// States at this depth are not expanded.
    pub max_depth: u64,
}

impl Default for Beam {
    fn default() -> Self {
        Beam { width: 1_000, max_depth: u64::MAX }
    }
}

/// How a beam search ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BeamResult<T> {
    /// As a search ends. [`Exhausted`](SearchResult::Exhausted) says nothing of states that were dropped, nor of what is
    /// behind them.
    pub result: SearchResult<T>,
    /// How many states were found and not expanded.
    pub dropped: u64,
}

impl Beam {
    /// Searches from all initial states.
    pub fn run<S, St, H, F>(
        &self,
        space: &mut S,
        store: &mut St,
        heuristic: &mut H,
        feedback: &mut F,
    ) -> BeamResult<S::Transition>
    where
        S: StateSpace,
        St: ExactStore<S::State>,
        St::Side: Linked,
        H: Heuristic<S>,
        F: Feedback<S, St>,
        Buffer<S>: Default,
    {
        let mut search = Search {
            space,
            store,
            heuristic,
            feedback,
            found: Vec::new(),
            level: Vec::new(),
            depth: 0,
            width: self.width.max(1),
            max_depth: self.max_depth,
            dropped: 0,
            result: SearchResult::Exhausted,
        };
        let _ = search.run(&mut Buffer::<S>::default());
        BeamResult { result: search.result, dropped: search.dropped }
    }
}

/// A state of the next level: its estimate comes first.
type Found = (u64, Handle);

struct Search<'a, S: StateSpace, St, H, F> {
    space: &'a mut S,
    store: &'a mut St,
    heuristic: &'a mut H,
    feedback: &'a mut F,
    /// The next level so far.
    found: Vec<Found>,
    /// The level that is expanded.
    level: Vec<Found>,
    depth: u64,
    width: usize,
    max_depth: u64,
    dropped: u64,
    result: SearchResult<S::Transition>,
}

impl<S, St, H, F> Search<'_, S, St, H, F>
where
    S: StateSpace,
    St: ExactStore<S::State>,
    St::Side: Linked,
    H: Heuristic<S>,
    F: Feedback<S, St>,
    Buffer<S>: Default,
{
    fn run(&mut self, out: &mut Buffer<S>) -> Result<(), Terminated> {
        for index in 0.. {
            if !self.space.initial(index, out) {
                break;
            }
            self.arrive((*out).borrow(), None)?;
        }
        while !self.found.is_empty() {
            self.choose();
            for number in 0..self.level.len() {
                let (_, source) = self.level[number];
                if self.feedback.expand(0) != Backtrack::Continue {
                    return self.terminate(SearchResult::Interrupted);
                }
                let mut cursor = self.enter(source)?;
                while let Some(transition) = cursor {
                    self.space.target(self.store.get(source), &transition, out);
                    self.arrive((*out).borrow(), Some((source, transition)))?;
                    cursor = self.space.next(self.store.get(source), &transition);
                }
            }
            self.depth += 1;
        }
        Ok(())
    }

    /// The best of the states that were found are the next level, in the order in which they were found.
    fn choose(&mut self) {
        std::mem::swap(&mut self.found, &mut self.level);
        self.found.clear();
        if self.level.len() > self.width {
            // Handles grow in the order of insertion: of two that are equally good the first one stays.
            self.level.select_nth_unstable(self.width);
            self.dropped += (self.level.len() - self.width) as u64;
            self.level.truncate(self.width);
            self.level.sort_unstable_by_key(|(_, state)| *state);
        }
    }

    fn held(&self) -> usize {
        (self.found.capacity() + self.level.capacity()) * size_of::<Found>()
    }

    /// The EXPLORE event.
    #[inline]
    fn arrive(&mut self, state: &S::State, arrival: Option<(Handle, S::Transition)>) -> Result<(), Terminated> {
        let note = self.feedback.arrive(self.space);
        let hash = F::is_state(&note).then(|| self.store.hash(state));
        let (pending, held) = (self.found.len() as u64, self.held());
        let mut visit = Visit {
            space: self.space,
            store: self.store,
            place: Place::Arriving { state, hash, handle: None },
            arrival,
            path_source: PathSource::Links,
            depth: self.depth + u64::from(arrival.is_some()),
            pending,
            held,
        };
        let end = match self.feedback.explore(&mut visit, note) {
            // A state that has had its level does not get another.
            Explore::Skip | Explore::Reopen => return Ok(()),
            Explore::New => match visit.keep() {
                None => SearchResult::Interrupted,
                Some(found) => {
                    let estimate = self.heuristic.estimate(self.space, state);
                    self.found.push((estimate, found));
                    return Ok(());
                }
            },
            Explore::Interrupt => SearchResult::Interrupted,
            Explore::Goal => visit.goal(),
        };
        self.terminate(end)
    }

    /// The first transition out of a state, with the LEAF event if there is none.
    #[inline]
    fn enter(&mut self, state: Handle) -> Result<Option<S::Transition>, Terminated> {
        let first = self.space.first(self.store.get(state));
        if first.is_some() && self.depth < self.max_depth {
            return Ok(first);
        }
        let (pending, held) = (self.found.len() as u64, self.held());
        let mut visit = Visit {
            space: self.space,
            store: self.store,
            place: Place::Stored(state),
            arrival: None,
            path_source: PathSource::Links,
            depth: self.depth,
            pending,
            held,
        };
        if first.is_some() {
            self.feedback.truncated(&mut visit);
            return Ok(None);
        }
        let end = match self.feedback.leaf(&mut visit) {
            Backtrack::Continue => return Ok(None),
            Backtrack::Interrupt => SearchResult::Interrupted,
            Backtrack::Goal => visit.goal(),
        };
        self.terminate(end)
    }

    #[cold]
    fn terminate<X>(&mut self, result: SearchResult<S::Transition>) -> Result<X, Terminated> {
        self.result = result;
        Err(Terminated)
    }
}
