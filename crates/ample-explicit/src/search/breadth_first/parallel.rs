//! The part of one worker in a breadth-first search by several threads, level by level.
//!
//! A level is a list of [spans](Span): states that lie one after the other in the store. Workers take spans of the current
//! level and expand them as the search of one thread does, with a window of their own; the states that a worker finds lie
//! one after the other again, and are spans of the next level.

use super::{Frontier, Search, Window};
use crate::search::{Feedback, SearchResult, Terminated};
use crate::space::{Buffer, StateSpace};
use crate::store::{ExactStore, Handle, Linked, is_same_chunk};

/// The most states of a span: few enough for workers to come to the end of a level at about the same time.
const LONGEST: u32 = 64;

/// States that one worker has inserted one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    first: Handle,
    count: u32,
}

/// The states that a worker has found for the next level.
#[derive(Debug, Default)]
pub(crate) struct Spans {
    spans: Vec<Span>,
    states: usize,
    /// This worker's share of what waits in the current level.
    rest: usize,
}

impl Spans {
    /// Adds a state that was inserted right after the last one, or in another chunk.
    #[inline]
    pub(crate) fn add(&mut self, state: Handle) {
        self.states += 1;
        match self.spans.last_mut() {
            Some(last) if last.count < LONGEST && is_same_chunk(last.first, state) => last.count += 1,
            _ => self.spans.push(Span { first: state, count: 1 }),
        }
    }

    /// How many states there are.
    pub(crate) fn states(&self) -> usize {
        self.states
    }

    /// The spans.
    pub(crate) fn into_spans(self) -> Vec<Span> {
        self.spans
    }

    /// Adds what another worker has found.
    pub(crate) fn extend(&mut self, other: Spans) {
        self.states += other.states;
        self.spans.extend(other.spans);
    }
}

impl Frontier for Spans {
    #[inline]
    fn push(&mut self, state: Handle) {
        self.add(state);
    }

    fn pop<S: ?Sized>(&mut self, _: &impl ExactStore<S>) -> Option<Handle> {
        None
    }

    fn len(&self) -> usize {
        self.states + self.rest
    }

    fn bytes(&self) -> usize {
        self.spans.capacity() * size_of::<Span>()
    }
}

/// The search of one worker.
pub(crate) struct LevelSearch<'a, S: StateSpace, St, F: Feedback<S, St>> {
    search: Search<'a, S, St, F, Spans>,
    window: Window<S, F::Note>,
    /// The transitions of a state.
    listed: Vec<S::Transition>,
}

impl<'a, S, St, F> LevelSearch<'a, S, St, F>
where
    S: StateSpace,
    St: ExactStore<S::State>,
    St::Side: Linked,
    F: Feedback<S, St>,
    Buffer<S>: Default,
{
    /// A search that has found nothing yet.
    pub(crate) fn new(space: &'a mut S, store: &'a mut St, feedback: &'a mut F, max_depth: u64, window: usize) -> Self {
        let search = Search {
            space,
            store,
            feedback,
            frontier: Spans::default(),
            newest: None,
            expanded: None,
            depth: 0,
            max_depth,
            result: SearchResult::Exhausted,
        };
        LevelSearch { search, window: Window::new(window), listed: Vec::new() }
    }

    /// The store.
    pub(crate) fn store(&mut self) -> &mut St {
        self.search.store
    }

    /// What is asked at every event.
    pub(crate) fn feedback(&mut self) -> &mut F {
        self.search.feedback
    }

    /// Begins to expand states of that depth.
    pub(crate) fn enter_level(&mut self, depth: u64) {
        self.search.depth = depth;
    }

    /// Expands the states of a span, of which the worker has so many still to do.
    pub(crate) fn expand(&mut self, span: Span, rest: usize) -> Result<(), Terminated> {
        let Self { search, window, listed } = self;
        search.frontier.rest = rest;
        let mut source = span.first;
        for position in 1..=span.count {
            search.expand(source, listed, window)?;
            if position < span.count {
                let Some(next) = search.store.after(source) else { break };
                source = next;
            }
        }
        Ok(())
    }

    /// Explores what is still in the window, and gives the states for the next level.
    pub(crate) fn leave_level(&mut self) -> Result<Spans, Terminated> {
        self.search.explore_all(&mut self.window)?;
        self.search.frontier.rest = 0;
        Ok(std::mem::take(&mut self.search.frontier))
    }
}
