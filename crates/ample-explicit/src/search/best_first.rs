//! Best-first search, and A\*.
//!
//! Of the states that were found, the one is expanded next that looks best to a [`Heuristic`]: greedily the one from which
//! it is the shortest way to a goal, as far as the heuristic can tell; in A\* (P. Hart, N. Nilsson and B. Raphael, *A formal
//! basis for the heuristic determination of minimum cost paths*, 1968) the one on the shortest path from the start to a
//! goal, what it cost to get there included. A\* expands a state again when a cheaper path to it is found (it *reopens* a
//! closed state), so that its first path to a goal is a cheapest one if no estimate is too high (the heuristic is
//! admissible), even where estimates of neighbours contradict each other (it is not consistent).
//!
//! Both visit all states if there is no goal: what they do not find is not there.

use std::borrow::Borrow;

use super::open::{Open, OpenList, Priority, Ties};
use super::path::retrace;
use super::visit::{PathSource, Place, Visit};
use super::{Backtrack, Explore, Feedback, Path, SearchResult, Terminated};
use crate::space::{Buffer, StateSpace};
use crate::store::{Costed, ExactStore, Handle, Linked, Side};

/// Estimates how far it is from a state to a goal.
///
/// Any function from a state to a number is one.
pub trait Heuristic<S: StateSpace> {
    /// The cost of the cheapest path from there to a goal, more or less. Larger than any path costs if there seems to be
    /// none. The state is that of the last call of [`target`](StateSpace::target) or [`initial`](StateSpace::initial); in a
    /// [random walk](super::RandomWalk) that call may have ended in a fault, which the state space tells.
    fn estimate(&mut self, space: &mut S, state: &S::State) -> u64;

    /// What a transition costs.
    fn cost(&mut self, _space: &mut S, _state: &S::State, _transition: &S::Transition) -> u64 {
        1
    }
}

impl<S: StateSpace, F: FnMut(&S::State) -> u64> Heuristic<S> for F {
    #[inline]
    fn estimate(&mut self, _: &mut S, state: &S::State) -> u64 {
        self(state)
    }
}

/// The heuristic that knows nothing. With it both strategies are breadth first.
#[derive(Clone, Copy, Debug, Default)]
pub struct Zero;

impl<S: StateSpace> Heuristic<S> for Zero {
    #[inline]
    fn estimate(&mut self, _: &mut S, _: &S::State) -> u64 {
        0
    }
}

/// What the priority of a state is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Evaluation {
    /// The estimate.
    #[default]
    Greedy,
    /// The cost of the path to the state, and the estimate so many times. With one it is A\*; with more it goes to a goal
    /// faster, by a path that costs so many times as much at most.
    AStar {
        /// How many times.
        weight: u32,
    },
}

impl Evaluation {
    /// A\*.
    pub const A_STAR: Evaluation = Evaluation::AStar { weight: 1 };

    #[inline]
    fn priority(self, cost: u64, estimate: u64) -> Priority {
        match self {
            Evaluation::Greedy => (estimate, 0),
            Evaluation::AStar { weight } => (cost.saturating_add(estimate.saturating_mul(weight.into())), estimate),
        }
    }
}

/// Greedy best-first search from all initial states: see [`BestFirst`].
///
/// ```
/// use ample_explicit::search::best_first;
/// use ample_explicit::search::handlers::{Accept, Always, Goal, Handlers, Insert};
/// use ample_explicit::store::{HashStore, Parent, Store};
/// # use ample_explicit::space::StateSpace;
/// # struct Grid(u32);
/// # impl StateSpace for Grid {
/// #     type State = (u32, u32);
/// #     type Transition = u8;
/// #     fn initial(&mut self, index: usize, out: &mut (u32, u32)) -> bool { *out = (0, 0); index == 0 }
/// #     fn first(&mut self, at: &(u32, u32)) -> Option<u8> { self.next(at, &0) }
/// #     fn next(&mut self, at: &(u32, u32), last: &u8) -> Option<u8> {
/// #         (*last < 1 && at.0 < self.0).then_some(1).or((*last < 2 && at.1 < self.0).then_some(2))
/// #     }
/// #     fn target(&mut self, at: &(u32, u32), step: &u8, out: &mut (u32, u32)) {
/// #         *out = if *step == 1 { (at.0 + 1, at.1) } else { (at.0, at.1 + 1) };
/// #     }
/// # }
///
/// // From one corner of a grid to the other, by steps to the right and down. The distance that is left tells the way.
/// let goal = (100, 100);
/// let mut feedback = Handlers::new().on_explore(Accept(|&at: &(u32, u32)| at == goal), Goal).on_explore(Always, Insert);
/// let mut store: HashStore<(u32, u32), Parent> = HashStore::default();
/// let mut left = |at: &(u32, u32)| u64::from(200 - at.0 - at.1);
/// let path = best_first(&mut Grid(100), &mut store, &mut left, &mut feedback).goal().unwrap();
/// assert_eq!(path.len(), 200);
/// assert!(store.len() < 500); // Of more than ten thousand.
/// ```
pub fn best_first<S, St, H, F>(
    space: &mut S,
    store: &mut St,
    heuristic: &mut H,
    feedback: &mut F,
) -> SearchResult<S::Transition>
where
    S: StateSpace,
    St: ExactStore<S::State>,
    St::Side: Linked,
    H: Heuristic<S>,
    F: Feedback<S, St>,
    Buffer<S>: Default,
{
    BestFirst::default().greedy(space, store, heuristic, feedback)
}

/// A\* from all initial states: see [`BestFirst`].
///
/// ```
/// use ample_explicit::search::a_star;
/// use ample_explicit::search::handlers::{Accept, Always, Goal, Handlers, Insert};
/// use ample_explicit::space::StateSpace;
/// use ample_explicit::store::{ExactStore, HashStore, PathCost};
///
/// /// The eight puzzle: tiles slide into the hole, which is the zero.
/// struct Tiles;
///
/// impl StateSpace for Tiles {
///     type State = [u8; 9];
///     /// Where the hole goes.
///     type Transition = u8;
///
///     fn initial(&mut self, index: usize, out: &mut [u8; 9]) -> bool {
///         *out = [2, 1, 6, 4, 0, 8, 7, 5, 3];
///         index == 0
///     }
///     fn first(&mut self, tiles: &[u8; 9]) -> Option<u8> {
///         from(tiles, 0)
///     }
///     fn next(&mut self, tiles: &[u8; 9], last: &u8) -> Option<u8> {
///         from(tiles, last + 1)
///     }
///     fn target(&mut self, tiles: &[u8; 9], to: &u8, out: &mut [u8; 9]) {
///         *out = *tiles;
///         out.swap(hole(tiles) as usize, *to as usize);
///     }
/// }
///
/// fn hole(tiles: &[u8; 9]) -> u8 {
///     tiles.iter().position(|&tile| tile == 0).unwrap() as u8
/// }
/// fn distance(one: u8, other: u8) -> u64 {
///     u64::from((one % 3).abs_diff(other % 3) + (one / 3).abs_diff(other / 3))
/// }
/// fn from(tiles: &[u8; 9], first: u8) -> Option<u8> {
///     (first..9).find(|&place| distance(place, hole(tiles)) == 1)
/// }
///
/// let solved = [1, 2, 3, 8, 0, 4, 7, 6, 5];
/// // Each tile has to go at least so far.
/// let mut far = |tiles: &[u8; 9]| -> u64 {
///     let place = |tile: u8| solved.iter().position(|&other| other == tile).unwrap() as u8;
///     (0..9).filter(|&at| tiles[at as usize] != 0).map(|at| distance(at, place(tiles[at as usize]))).sum()
/// };
/// let mut feedback = Handlers::new().on_explore(Accept(|tiles: &[u8; 9]| *tiles == solved), Goal).on_explore(Always, Insert);
/// let mut store: HashStore<[u8; 9], PathCost> = HashStore::default();
/// let path = a_star(&mut Tiles, &mut store, &mut far, &mut feedback).goal().unwrap();
/// let states: Vec<_> = path.states().map(|handle| *store.get(handle)).collect();
/// assert_eq!(states.last(), Some(&solved));
/// assert_eq!(path.len(), 18);
/// ```
pub fn a_star<S, St, H, F>(
    space: &mut S,
    store: &mut St,
    heuristic: &mut H,
    feedback: &mut F,
) -> SearchResult<S::Transition>
where
    S: StateSpace,
    St: ExactStore<S::State>,
    St::Side: Costed,
    H: Heuristic<S>,
    F: Feedback<S, St>,
    Buffer<S>: Default,
{
    BestFirst { evaluation: Evaluation::A_STAR, ..BestFirst::default() }.run(space, store, heuristic, feedback)
}

/// The strategy that expands the best state first.
///
/// A path that is found again along the parents in the store may go by any transition between two states: where there are
/// several of different costs, not necessarily the cheapest.
#[derive(Clone, Copy, Debug)]
pub struct BestFirst {
    /// What is best.
    pub evaluation: Evaluation,
    /// Which of several that are equally good comes first.
    pub ties: Ties,
    /// States that it cost so much to reach are not expanded.
    pub max_depth: u64,
}

impl Default for BestFirst {
    fn default() -> Self {
        BestFirst { evaluation: Evaluation::Greedy, ties: Ties::Oldest, max_depth: u64::MAX }
    }
}

impl BestFirst {
    /// Searches from all initial states, with a store that keeps costs.
    pub fn run<S, St, H, F>(
        &self,
        space: &mut S,
        store: &mut St,
        heuristic: &mut H,
        feedback: &mut F,
    ) -> SearchResult<S::Transition>
    where
        S: StateSpace,
        St: ExactStore<S::State>,
        St::Side: Costed,
        H: Heuristic<S>,
        F: Feedback<S, St>,
        Buffer<S>: Default,
    {
        self.search(self.evaluation, space, store, heuristic, feedback)
    }

    /// Searches greedily from all initial states, whatever the evaluation: that needs no costs, and reopens nothing.
    pub fn greedy<S, St, H, F>(
        &self,
        space: &mut S,
        store: &mut St,
        heuristic: &mut H,
        feedback: &mut F,
    ) -> SearchResult<S::Transition>
    where
        S: StateSpace,
        St: ExactStore<S::State>,
        St::Side: Linked,
        H: Heuristic<S>,
        F: Feedback<S, St>,
        Buffer<S>: Default,
    {
        self.search(Evaluation::Greedy, space, store, heuristic, feedback)
    }

    fn search<S, St, H, F>(
        &self,
        evaluation: Evaluation,
        space: &mut S,
        store: &mut St,
        heuristic: &mut H,
        feedback: &mut F,
    ) -> SearchResult<S::Transition>
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
            evaluation,
            open: OpenList::new(self.ties),
            candidate: None,
            max_depth: self.max_depth,
            result: SearchResult::Exhausted,
        };
        if search.run(&mut Buffer::<S>::default()).is_ok()
            && let Some((goal, _)) = search.candidate
        {
            search.result = search.goal(goal);
        }
        search.result
    }
}

/// A search under way.
struct Search<'a, S: StateSpace, St, H, F> {
    space: &'a mut S,
    store: &'a mut St,
    heuristic: &'a mut H,
    feedback: &'a mut F,
    evaluation: Evaluation,
    open: OpenList,
    /// The goal with the cheapest path so far, and what that costs. A state that is open may lead to a cheaper one.
    candidate: Option<(Handle, u64)>,
    max_depth: u64,
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
            let note = self.feedback.arrive(self.space);
            self.explore((*out).borrow(), None, 0, note)?;
        }
        while let Some(((total, _), Open { state: source, cost })) = self.open.pop() {
            if self.store.side(source).cost().is_some_and(|cheapest| cheapest < cost) {
                continue;
            }
            self.bound(total)?;
            let mut cursor = self.enter(source, cost)?;
            while let Some(transition) = cursor {
                let state = self.store.get(source);
                let cost = cost.saturating_add(self.heuristic.cost(self.space, state, &transition));
                self.space.target(state, &transition, out);
                let note = self.feedback.arrive(self.space);
                self.explore((*out).borrow(), Some((source, transition)), cost, note)?;
                cursor = self.space.next(self.store.get(source), &transition);
            }
        }
        Ok(())
    }

    /// No path that was not looked at costs less than `total`, as far as estimates are right.
    #[inline]
    fn bound(&mut self, total: u64) -> Result<(), Terminated> {
        let total = if self.evaluation == Evaluation::Greedy { 0 } else { total };
        if let Some((goal, cost)) = self.candidate
            && cost <= total
        {
            let end = self.goal(goal);
            return self.terminate(end);
        }
        match self.feedback.expand(total) {
            Backtrack::Continue => Ok(()),
            Backtrack::Interrupt | Backtrack::Goal => self.terminate(SearchResult::Interrupted),
        }
    }

    /// The EXPLORE event.
    #[inline]
    fn explore(
        &mut self,
        state: &S::State,
        arrival: Option<(Handle, S::Transition)>,
        cost: u64,
        note: F::Note,
    ) -> Result<(), Terminated> {
        let hash = F::is_state(&note).then(|| self.store.hash(state));
        let mut visit = Visit {
            space: self.space,
            store: self.store,
            place: Place::Arriving { state, hash, handle: None },
            arrival,
            path_source: PathSource::Links,
            depth: cost,
            pending: self.open.len() as u64,
            held: self.open.bytes(),
        };
        let is_greedy = self.evaluation == Evaluation::Greedy;
        let end = match self.feedback.explore(&mut visit, note) {
            Explore::Skip => return Ok(()),
            Explore::Reopen if is_greedy => return Ok(()),
            Explore::New | Explore::Reopen => match visit.keep() {
                None => SearchResult::Interrupted,
                Some(found) => {
                    let estimate = self.heuristic.estimate(self.space, state);
                    self.open.push(self.evaluation.priority(cost, estimate), Open { state: found, cost });
                    return Ok(());
                }
            },
            Explore::Interrupt => SearchResult::Interrupted,
            Explore::Goal if is_greedy => visit.goal(),
            Explore::Goal => match visit.keep() {
                None => visit.goal(),
                Some(goal) => {
                    visit.reopen();
                    if self.candidate.is_none_or(|(_, cheapest)| cost < cheapest) {
                        self.candidate = Some((goal, cost));
                    }
                    return Ok(());
                }
            },
        };
        self.terminate(end)
    }

    /// The first transition out of a state, with the LEAF event if there is none.
    #[inline]
    fn enter(&mut self, state: Handle, cost: u64) -> Result<Option<S::Transition>, Terminated> {
        let first = self.space.first(self.store.get(state));
        if first.is_some() && cost < self.max_depth {
            return Ok(first);
        }
        let mut visit = Visit {
            space: self.space,
            store: self.store,
            place: Place::Stored(state),
            arrival: None,
            path_source: PathSource::Links,
            depth: cost,
            pending: self.open.len() as u64,
            held: self.open.bytes(),
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
    fn goal(&mut self, goal: Handle) -> SearchResult<S::Transition> {
        let steps = retrace(self.space, self.store, goal, |_| false);
        SearchResult::Goal(Path { steps, end: Some(goal) })
    }

    #[cold]
    fn terminate<X>(&mut self, result: SearchResult<S::Transition>) -> Result<X, Terminated> {
        self.result = result;
        Err(Terminated)
    }
}
