//! Breadth-first search.
//!
//! The first path to a goal is a shortest one. It is found again along the parents that the store keeps
//! beside its states, so that the side data of the store must be [`Linked`].
//!
//! The states that wait are kept by a [`Frontier`]: a [`Queue`] of handles, or, where every state that
//! enters the store is also to be expanded, just a position in the store, which takes no memory.
//!
//! Most of the time of a large search is spent waiting for the memory to bring in the places where the
//! visited set is looked up. Therefore arrivals can be collected in a window: their places are asked for
//! while they come in, and they are explored together when it is full. They are explored in the order
//! of their arrival, so that the search visits the same states in the same order whatever the window.

mod parallel;

use std::borrow::Borrow;
use std::collections::VecDeque;
use std::mem;

use super::visit::{PathSource, Place, Visit};
use super::{Arrivals, Backtrack, Explore, Feedback, SearchResult, Terminated};
use crate::space::{Buffer, StateSpace};
use crate::store::{ExactStore, Handle, Inserted, Linked, Side};
use crate::targets::Targets;

pub(crate) use parallel::{LevelSearch, Span, Spans};

/// So many states that were found together are explored together.
const TOGETHER: usize = 64;

/// Breadth-first search from all initial states, with a queue and without a depth limit.
///
/// ```
/// use ample_explicit::search::breadth_first;
/// use ample_explicit::search::handlers::{Accept, Always, Goal, Handlers, Insert};
/// use ample_explicit::store::{HashStore, Parent};
/// # use ample_explicit::space::StateSpace;
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
/// // Ten places in a ring, and steps to the right or to the left.
/// let mut feedback = Handlers::new().on_explore(Accept(|&at: &u8| at == 9), Goal).on_explore(Always, Insert);
/// let mut store: HashStore<u8, Parent> = HashStore::default();
/// let path = breadth_first(&mut Ring(10), &mut store, &mut feedback).goal().unwrap();
/// assert_eq!(path.steps.iter().map(|(_, step)| *step).collect::<Vec<_>>(), [-1]);
/// ```
pub fn breadth_first<S, St, F>(space: &mut S, store: &mut St, feedback: &mut F) -> SearchResult<S::Transition>
where
    S: StateSpace,
    St: ExactStore<S::State>,
    St::Side: Linked,
    F: Feedback<S, St>,
    Buffer<S>: Default,
{
    BreadthFirst::default().run(space, store, feedback)
}

/// The states that wait to be expanded, first in, first out.
pub trait Frontier {
    /// Adds a state.
    fn push(&mut self, state: Handle);

    /// Takes the next one.
    fn pop<S: ?Sized>(&mut self, store: &impl ExactStore<S>) -> Option<Handle>;

    /// How many there are.
    fn len(&self) -> usize;

    /// Are there none?
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes it holds.
    fn bytes(&self) -> usize;
}

/// A queue of handles. Always right.
#[derive(Clone, Debug, Default)]
pub struct Queue(VecDeque<Handle>);

impl Frontier for Queue {
    #[inline]
    fn push(&mut self, state: Handle) {
        self.0.push_back(state);
    }

    #[inline]
    fn pop<S: ?Sized>(&mut self, _: &impl ExactStore<S>) -> Option<Handle> {
        self.0.pop_front()
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn bytes(&self) -> usize {
        self.0.capacity() * size_of::<Handle>()
    }
}

/// A position in the store. Right only if the store was empty at the start and the feedback answers
/// [`New`](Explore::New) exactly when it put the state into the store.
#[derive(Clone, Debug, Default)]
pub struct InsertionOrder {
    last: Option<Handle>,
    waiting: usize,
}

impl Frontier for InsertionOrder {
    #[inline]
    fn push(&mut self, _: Handle) {
        self.waiting += 1;
    }

    #[inline]
    fn pop<S: ?Sized>(&mut self, store: &impl ExactStore<S>) -> Option<Handle> {
        self.waiting = self.waiting.checked_sub(1)?;
        self.last = match self.last {
            None => store.first(),
            Some(last) => store.after(last),
        };
        self.last
    }

    fn len(&self) -> usize {
        self.waiting
    }

    fn bytes(&self) -> usize {
        0
    }
}

/// Where a breadth-first search is that has the store for its queue, between two expansions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The state that was expanded last.
    pub expanded: Handle,
    /// How many have yet to be expanded.
    pub waiting: usize,
    /// The state that was found last.
    pub newest: Option<Handle>,
    /// The last state of the level that is expanded.
    pub level_end: Option<Handle>,
    /// The depth of that level.
    pub depth: u64,
}

/// Looks at a breadth-first search now and then, between two expansions.
pub trait Pause<St, F> {
    /// Is it time? Asked after each expansion.
    fn is_due(&mut self) -> bool;

    /// Looks at where the search is. False if it is not to go on: then another one can go on from there.
    fn pause(&mut self, position: &Position, store: &St, feedback: &F) -> bool;
}

/// Never.
impl<St, F> Pause<St, F> for () {
    #[inline]
    fn is_due(&mut self) -> bool {
        false
    }

    fn pause(&mut self, _: &Position, _: &St, _: &F) -> bool {
        true
    }
}

/// The breadth-first strategy.
#[derive(Clone, Copy, Debug)]
pub struct BreadthFirst {
    /// States at this depth are not expanded.
    pub max_depth: u64,
    /// How many arrivals are collected before they are explored. With one, which is the default, the
    /// feedback may still ask the state space about the arrival when it explores it.
    pub window: usize,
}

impl Default for BreadthFirst {
    fn default() -> Self {
        BreadthFirst { max_depth: u64::MAX, window: 1 }
    }
}

impl BreadthFirst {
    /// Searches from all initial states, with a queue.
    pub fn run<S, St, F>(&self, space: &mut S, store: &mut St, feedback: &mut F) -> SearchResult<S::Transition>
    where
        S: StateSpace,
        St: ExactStore<S::State>,
        St::Side: Linked,
        F: Feedback<S, St>,
        Buffer<S>: Default,
    {
        self.run_with(Queue::default(), space, store, feedback)
    }

    /// Searches from all initial states, with an empty frontier of any kind.
    pub fn run_with<S, St, F, Fr>(
        &self,
        frontier: Fr,
        space: &mut S,
        store: &mut St,
        feedback: &mut F,
    ) -> SearchResult<S::Transition>
    where
        S: StateSpace,
        St: ExactStore<S::State>,
        St::Side: Linked,
        F: Feedback<S, St>,
        Fr: Frontier,
        Buffer<S>: Default,
    {
        self.start(frontier, None, space, store, feedback, &mut ())
    }

    /// Searches from all initial states, or goes on where another search was that had the same store. The feedback answers
    /// [`New`](Explore::New) exactly when it has put the state into the store.
    pub fn run_from<S, St, F>(
        &self,
        begun: Option<Position>,
        space: &mut S,
        store: &mut St,
        feedback: &mut F,
        pause: &mut impl Pause<St, F>,
    ) -> SearchResult<S::Transition>
    where
        S: StateSpace,
        St: ExactStore<S::State>,
        St::Side: Linked,
        F: Feedback<S, St>,
        Buffer<S>: Default,
    {
        let last = begun.map(|begun| begun.expanded);
        let waiting = begun.map_or(0, |begun| begun.waiting);
        self.start(InsertionOrder { last, waiting }, begun, space, store, feedback, pause)
    }

    fn start<S, St, F, Fr>(
        &self,
        frontier: Fr,
        begun: Option<Position>,
        space: &mut S,
        store: &mut St,
        feedback: &mut F,
        pause: &mut impl Pause<St, F>,
    ) -> SearchResult<S::Transition>
    where
        S: StateSpace,
        St: ExactStore<S::State>,
        St::Side: Linked,
        F: Feedback<S, St>,
        Fr: Frontier,
        Buffer<S>: Default,
    {
        let mut search = Search {
            space,
            store,
            feedback,
            frontier,
            newest: begun.and_then(|begun| begun.newest),
            expanded: None,
            depth: begun.map_or(0, |begun| begun.depth),
            max_depth: self.max_depth,
            result: SearchResult::Exhausted,
        };
        let mut window = Window::new(self.window);
        let _ = search.run(begun, &mut window, pause);
        search.result
    }
}

/// A search under way.
struct Search<'a, S: StateSpace, St, F, Fr> {
    space: &'a mut S,
    store: &'a mut St,
    feedback: &'a mut F,
    frontier: Fr,
    /// The state that was added to the frontier last.
    newest: Option<Handle>,
    /// The last state all of whose transitions have been taken.
    expanded: Option<Handle>,
    /// The depth of the states that are expanded now.
    depth: u64,
    max_depth: u64,
    /// What is returned in the end.
    result: SearchResult<S::Transition>,
}

/// Arrivals that have not been explored. Their buffers are used again and again.
struct Window<S: StateSpace, N> {
    arrivals: Vec<Arrival<S, N>>,
    len: usize,
    size: usize,
    /// Arrivals that were found together, and are counted together.
    targets: Targets<S::Transition>,
}

impl<S: StateSpace, N> Window<S, N> {
    fn new(size: usize) -> Self {
        Window { arrivals: Vec::new(), len: 0, size: size.max(1), targets: Targets::default() }
    }
}

struct Arrival<S: StateSpace, N> {
    state: Buffer<S>,
    hash: Option<u64>,
    by: Option<(Handle, S::Transition)>,
    note: N,
}

impl<S: StateSpace, N: Default> Window<S, N>
where
    Buffer<S>: Default,
{
    /// The arrival to fill in next. It counts when [`Search::arrive`] has seen it.
    #[inline]
    fn next(&mut self) -> &mut Arrival<S, N> {
        if self.len == self.arrivals.len() {
            self.arrivals.push(Arrival { state: Buffer::<S>::default(), hash: None, by: None, note: N::default() });
        }
        &mut self.arrivals[self.len]
    }
}

impl<S, St, F, Fr> Search<'_, S, St, F, Fr>
where
    S: StateSpace,
    St: ExactStore<S::State>,
    St::Side: Linked,
    F: Feedback<S, St>,
    Fr: Frontier,
    Buffer<S>: Default,
{
    fn run(
        &mut self,
        begun: Option<Position>,
        window: &mut Window<S, F::Note>,
        pause: &mut impl Pause<St, F>,
    ) -> Result<(), Terminated> {
        let mut level_end = match begun {
            Some(begun) => begun.level_end,
            None => {
                self.start_level(window)?;
                self.newest
            }
        };
        let mut listed = Vec::new();
        while let Some(source) = self.frontier.pop(self.store) {
            self.expand(source, &mut listed, window)?;
            self.expanded = Some(source);
            if Some(source) == level_end {
                self.explore_all(window)?;
                self.depth += 1;
                level_end = self.newest;
            }
            if pause.is_due() {
                self.explore_all(window)?;
                let (waiting, newest, depth) = (self.frontier.len(), self.newest, self.depth);
                let position = Position { expanded: source, waiting, newest, level_end, depth };
                if !pause.pause(&position, self.store, self.feedback) {
                    return self.terminate(SearchResult::Interrupted);
                }
            }
        }
        Ok(())
    }

    /// Takes all transitions out of a state; `listed` is empty before and afterwards.
    #[inline]
    fn expand(
        &mut self,
        source: Handle,
        listed: &mut Vec<S::Transition>,
        window: &mut Window<S, F::Note>,
    ) -> Result<(), Terminated> {
        if F::COUNTS && !St::Side::COSTS && self.depth < self.max_depth {
            window.targets.source = Some(source);
            let before = window.targets.states.len();
            if self.space.targets(self.store.get(source), &mut window.targets) {
                return self.take_targets(source, before, window);
            }
        }
        let mut all = self.enter(source, listed)?;
        while let Some(&last) = listed.last() {
            for transition in &*listed {
                self.space.target(self.store.get(source), transition, &mut window.next().state);
                window.next().by = Some((source, *transition));
                self.arrive(window)?;
            }
            listed.clear();
            if !all {
                all = self.space.list(self.store.get(source), Some(&last), listed);
            }
        }
        Ok(())
    }

    /// Takes all transitions out of a state, whose targets have been found from there on.
    #[inline]
    fn take_targets(
        &mut self,
        source: Handle,
        before: usize,
        window: &mut Window<S, F::Note>,
    ) -> Result<(), Terminated> {
        let count = window.targets.states.len();
        if count == before && window.targets.rest.is_empty() {
            return self.leave(source);
        }
        for number in 0..window.targets.rest.len() {
            let transition = window.targets.rest[number];
            self.space.target(self.store.get(source), &transition, &mut window.next().state);
            window.next().by = Some((source, transition));
            let note = self.feedback.arrive(self.space);
            let state = window.arrivals[window.len].state.borrow();
            match (self.feedback.counted(self.space, state, &note), S::to_bytes(state)) {
                (Some((is_transient, atomic_steps)), Some(bytes)) => {
                    window.targets.push(transition, atomic_steps, |all| {
                        all.extend_from_slice(bytes);
                        is_transient
                    });
                }
                _ => self.enter_window(window, note)?,
            }
        }
        window.targets.rest.clear();
        if window.targets.states.len() >= TOGETHER { self.explore_all(window) } else { Ok(()) }
    }

    /// Explores the states that were found together.
    fn count_targets(&mut self, targets: &mut Targets<S::Transition>) -> Result<(), Terminated> {
        let Targets { states, bytes, .. } = targets;
        let depth = self.depth + 1;
        for target in &mut *states {
            let Some(state) = S::of_bytes(&bytes[target.bytes()]) else { continue };
            target.hash = self.store.announce(state);
        }
        states.iter().for_each(|target| self.store.prefetch_state(target.hash));
        let asks_new = self.feedback.asks_new();
        let mut counted = Arrivals { depth, ..Arrivals::default() };
        let mut is_ended = false;
        for target in &*states {
            let Some(state) = S::of_bytes(&bytes[target.bytes()]) else { continue };
            let side = St::Side::reached(Some(target.source), depth);
            let new = match self.store.insert_announced(state, target.hash, side) {
                Inserted::Seen(_) => None,
                Inserted::New(new) => Some(new),
                Inserted::Full => {
                    counted.is_full = true;
                    break;
                }
            };
            let (all, fresh) = match target.is_transient {
                true => (&mut counted.transient, &mut counted.new_transient),
                false => (&mut counted.others, &mut counted.new_others),
            };
            *all += 1;
            counted.atomic_steps += u64::from(target.atomic_steps);
            let Some(new) = new else { continue };
            *fresh += 1;
            self.frontier.push(new);
            self.newest = Some(new);
            if asks_new {
                let mut visit = Visit {
                    space: self.space,
                    store: self.store,
                    place: Place::Arriving { state, hash: Some(target.hash), handle: Some(new) },
                    arrival: Some((target.source, target.transition)),
                    path_source: PathSource::Links,
                    depth,
                    pending: self.frontier.len() as u64,
                    held: self.frontier.bytes(),
                };
                if matches!(self.feedback.explore_new(&mut visit), Explore::Interrupt | Explore::Goal) {
                    is_ended = true;
                    break;
                }
            }
        }
        targets.clear();
        counted.pending = self.frontier.len() as u64;
        counted.held = self.frontier.bytes();
        let answer = self.feedback.count(&counted, || self.store.bytes());
        if is_ended || matches!(answer, Explore::Interrupt) {
            return self.terminate(SearchResult::Interrupted);
        }
        Ok(())
    }

    /// Arrives at the initial states.
    fn start_level(&mut self, window: &mut Window<S, F::Note>) -> Result<(), Terminated> {
        for index in 0.. {
            if !self.space.initial(index, &mut window.next().state) {
                break;
            }
            window.next().by = None;
            self.arrive(window)?;
        }
        self.explore_all(window)
    }

    /// Puts the state that was just written into the window, and explores all in it if it is full.
    #[inline]
    fn arrive(&mut self, window: &mut Window<S, F::Note>) -> Result<(), Terminated> {
        let note = self.feedback.arrive(self.space);
        self.enter_window(window, note)
    }

    #[inline]
    fn enter_window(&mut self, window: &mut Window<S, F::Note>, note: F::Note) -> Result<(), Terminated> {
        if !window.targets.states.is_empty() {
            // What was found before is explored before; this arrival is the first one of the window then.
            let len = window.len;
            self.explore_all(window)?;
            window.arrivals.swap(0, len);
        }
        let arrival = window.next();
        arrival.note = note;
        arrival.hash = F::is_state(&arrival.note).then(|| self.store.announce(arrival.state.borrow()));
        window.len += 1;
        if window.len == window.size { self.explore_all(window) } else { Ok(()) }
    }

    fn explore_all(&mut self, window: &mut Window<S, F::Note>) -> Result<(), Terminated> {
        self.explore_window(window)?;
        if !window.targets.states.is_empty() {
            self.count_targets(&mut window.targets)?;
        }
        if let Some(expanded) = self.expanded {
            self.store.release(expanded);
        }
        Ok(())
    }

    /// Explores the arrivals in the window, all of which were found before those that are counted together.
    fn explore_window(&mut self, window: &mut Window<S, F::Note>) -> Result<(), Terminated> {
        let arrivals = &mut window.arrivals[..mem::take(&mut window.len)];
        if arrivals.len() > 1 {
            arrivals.iter().filter_map(|arrival| arrival.hash).for_each(|hash| self.store.prefetch_state(hash));
        }
        arrivals.iter_mut().try_for_each(|arrival| self.explore(arrival))
    }

    /// The EXPLORE event.
    #[inline]
    fn explore(&mut self, arrival: &mut Arrival<S, F::Note>) -> Result<(), Terminated> {
        let note = mem::take(&mut arrival.note);
        let mut visit = Visit {
            space: self.space,
            store: self.store,
            place: Place::Arriving { state: arrival.state.borrow(), hash: arrival.hash, handle: None },
            arrival: arrival.by,
            path_source: PathSource::Links,
            depth: self.depth + arrival.by.is_some() as u64,
            pending: self.frontier.len() as u64,
            held: self.frontier.bytes(),
        };
        let end = match self.feedback.explore(&mut visit, note) {
            Explore::Skip => return Ok(()),
            Explore::New | Explore::Reopen => match visit.keep() {
                None => SearchResult::Interrupted,
                Some(new) => {
                    self.frontier.push(new);
                    self.newest = Some(new);
                    return Ok(());
                }
            },
            Explore::Interrupt => SearchResult::Interrupted,
            Explore::Goal => visit.goal(),
        };
        self.terminate(end)
    }

    /// Lists the first transitions out of a state, with the LEAF event if there is none. True if these are all.
    #[inline]
    fn enter(&mut self, state: Handle, listed: &mut Vec<S::Transition>) -> Result<bool, Terminated> {
        let all = self.space.list(self.store.get(state), None, listed);
        if !listed.is_empty() && self.depth < self.max_depth {
            return Ok(all);
        }
        if listed.is_empty() {
            return self.leave(state).map(|()| true);
        }
        listed.clear();
        let mut visit = stored(self.space, self.store, &self.frontier, state, self.depth);
        self.feedback.truncated(&mut visit);
        Ok(true)
    }

    /// The LEAF event.
    #[cold]
    fn leave(&mut self, state: Handle) -> Result<(), Terminated> {
        let mut visit = stored(self.space, self.store, &self.frontier, state, self.depth);
        let end = match self.feedback.leaf(&mut visit) {
            Backtrack::Continue => return Ok(()),
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

/// The moment at which a search is at a state in the store.
fn stored<'v, S: StateSpace, St>(
    space: &'v mut S,
    store: &'v mut St,
    frontier: &impl Frontier,
    state: Handle,
    depth: u64,
) -> Visit<'v, S, St> {
    Visit {
        space,
        store,
        place: Place::Stored(state),
        arrival: None,
        path_source: PathSource::Links,
        depth,
        pending: frontier.len() as u64,
        held: frontier.bytes(),
    }
}
