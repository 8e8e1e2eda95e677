//! Random walks: runs that take any transition, one after the other, and are forgotten.
//!
//! Nothing is stored but the run under way, so that walks go on in state spaces of any size. Every other walk is pulled: of
//! a few transitions that it draws, it takes the one after which a heuristic's estimate is smallest, most of the time. What
//! walks do not find may still be there.

use std::borrow::Borrow;

use ample_random::Random;

use super::best_first::Heuristic;
use super::visit::{PathSource, Place, Visit};
use super::{Backtrack, Explore, Feedback, SearchResult, Terminated};
use crate::space::{Buffer, StateSpace, initial_count};
use crate::store::{ExactStore, Handle, RunStore};

/// A walk that is pulled draws so many transitions.
const SAMPLES: usize = 5;

/// One step in so many goes anywhere even so.
const STRAY: u32 = 6;

/// So many initial states are drawn from at most.
const MOST_STARTS: usize = 1 << 20;

/// The random walk strategy.
///
/// ```
/// use ample_explicit::search::{RandomWalk, SearchResult};
/// use ample_explicit::search::handlers::{Accept, Goal, Handlers};
/// use ample_explicit::store::RunStore;
/// # use ample_explicit::space::StateSpace;
/// # struct Dice;
/// # impl StateSpace for Dice {
/// #     type State = u32;
/// #     type Transition = u32;
/// #     fn initial(&mut self, index: usize, out: &mut u32) -> bool { *out = 0; index == 0 }
/// #     fn first(&mut self, _: &u32) -> Option<u32> { Some(1) }
/// #     fn next(&mut self, _: &u32, last: &u32) -> Option<u32> { (*last < 6).then_some(last + 1) }
/// #     fn target(&mut self, state: &u32, eyes: &u32, out: &mut u32) { *out = state + eyes; }
/// # }
///
/// // Throws a die until the sum of the eyes is 100, or more.
/// let mut feedback = Handlers::new().on_explore(Accept(|&sum: &u32| sum == 100), Goal);
/// let walks = RandomWalk { walks: 100, depth: 60, seed: 1 };
/// let result = walks.run(&mut Dice, &mut RunStore::default(), &mut [|sum: &u32| u64::from(sum.abs_diff(100))], &mut feedback);
/// let path = result.goal().unwrap();
/// assert_eq!(path.transitions().sum::<u32>(), 100);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct RandomWalk {
    /// How many walks.
    pub walks: u64,
    /// No walk is longer.
    pub depth: u64,
    /// Which walks: the same seed gives the same walks.
    pub seed: u64,
}

impl Default for RandomWalk {
    fn default() -> Self {
        RandomWalk { walks: 1_000, depth: 10_000, seed: 1 }
    }
}

impl RandomWalk {
    /// Walks from initial states, pulled by one heuristic after the other. The search is
    /// [`Exhausted`](SearchResult::Exhausted) after the last walk.
    pub fn run<S, H, F>(
        &self,
        space: &mut S,
        store: &mut RunStore<S::State>,
        heuristics: &mut [H],
        feedback: &mut F,
    ) -> SearchResult<S::Transition>
    where
        S: StateSpace,
        S::State: PartialEq,
        H: Heuristic<S>,
        F: Feedback<S, RunStore<S::State>>,
        Buffer<S>: Default,
    {
        let mut walker = Walker {
            space,
            store,
            feedback,
            random: Random::new(self.seed),
            run: Vec::new(),
            enabled: Vec::new(),
            depth: self.depth,
            result: SearchResult::Exhausted,
        };
        let (mut out, mut trial) = (Buffer::<S>::default(), Buffer::<S>::default());
        let starts = initial_count(walker.space, MOST_STARTS, &mut out);
        for number in 0..self.walks {
            let pull = match heuristics.len() as u64 {
                0 => None,
                _ if number % 2 == 0 => None,
                count => heuristics.get_mut((number / 2 % count) as usize),
            };
            if starts == 0 || walker.walk(starts, pull, &mut out, &mut trial).is_err() {
                break;
            }
        }
        walker.result
    }
}

struct Walker<'a, S: StateSpace, F> {
    space: &'a mut S,
    store: &'a mut RunStore<S::State>,
    feedback: &'a mut F,
    random: Random,
    /// The run under way.
    run: Vec<(Handle, S::Transition)>,
    /// The transitions out of its last state.
    enabled: Vec<S::Transition>,
    depth: u64,
    result: SearchResult<S::Transition>,
}

impl<S, F> Walker<'_, S, F>
where
    S: StateSpace,
    S::State: PartialEq,
    F: Feedback<S, RunStore<S::State>>,
    Buffer<S>: Default,
{
    /// One walk.
    fn walk<H: Heuristic<S>>(
        &mut self,
        starts: usize,
        mut pull: Option<&mut H>,
        out: &mut Buffer<S>,
        trial: &mut Buffer<S>,
    ) -> Result<(), Terminated> {
        self.store.clear();
        self.run.clear();
        let start = self.random.below(starts);
        self.space.initial(start, out);
        let mut next = self.arrive((*out).borrow(), None)?;
        while let Some(state) = next {
            self.collect(state);
            if self.enabled.is_empty() {
                return self.leave(state, true);
            }
            if self.run.len() as u64 >= self.depth {
                return self.leave(state, false);
            }
            let transition = self.choose(state, &mut pull, trial);
            self.space.target(self.store.get(state), &transition, out);
            self.run.push((state, transition));
            next = self.arrive((*out).borrow(), Some((state, transition)))?;
        }
        Ok(())
    }

    /// Collects the transitions out of a state.
    fn collect(&mut self, state: Handle) {
        self.enabled.clear();
        let state = self.store.get(state);
        let mut cursor = self.space.first(state);
        while let Some(transition) = cursor {
            self.enabled.push(transition);
            cursor = self.space.next(state, &transition);
        }
    }

    /// Which of the transitions to take.
    fn choose<H: Heuristic<S>>(
        &mut self,
        state: Handle,
        pull: &mut Option<&mut H>,
        trial: &mut Buffer<S>,
    ) -> S::Transition {
        let count = self.enabled.len();
        let any = self.enabled[self.random.below(count)];
        let Some(heuristic) = pull else { return any };
        if count == 1 || self.random.one_in(STRAY) {
            return any;
        }
        let mut best: Option<(u64, S::Transition)> = None;
        for sample in 0..SAMPLES.min(count) {
            let other = if sample == 0 { any } else { self.enabled[self.random.below(count)] };
            self.space.target(self.store.get(state), &other, trial);
            let estimate = heuristic.estimate(self.space, (*trial).borrow());
            if best.is_none_or(|(least, _)| estimate < least) {
                best = Some((estimate, other));
            }
        }
        best.map_or(any, |(_, best)| best)
    }

    /// The EXPLORE event; the state, if the walk goes on from it.
    fn arrive(
        &mut self,
        state: &S::State,
        arrival: Option<(Handle, S::Transition)>,
    ) -> Result<Option<Handle>, Terminated> {
        let note = self.feedback.arrive(self.space);
        let hash = F::is_state(&note).then_some(0);
        let before = self.run.len() - usize::from(arrival.is_some());
        let mut visit = Visit {
            space: self.space,
            store: self.store,
            place: Place::Arriving { state, hash, handle: None },
            arrival,
            path_source: PathSource::Stack(&self.run[..before]),
            depth: self.run.len() as u64,
            pending: 0,
            held: self.run.capacity() * size_of::<(Handle, S::Transition)>(),
        };
        let end = match self.feedback.explore(&mut visit, note) {
            Explore::Skip => return Ok(None),
            Explore::New | Explore::Reopen => match visit.keep() {
                None => SearchResult::Interrupted,
                kept => return Ok(kept),
            },
            Explore::Interrupt => SearchResult::Interrupted,
            Explore::Goal => visit.goal(),
        };
        self.result = end;
        Err(Terminated)
    }

    /// The walk ends in a state, with the LEAF event if it has no transitions.
    fn leave(&mut self, state: Handle, is_leaf: bool) -> Result<(), Terminated> {
        let (arrival, before) = match self.run.split_last() {
            Some((last, rest)) => (Some(*last), rest),
            None => (None, &[][..]),
        };
        let mut visit = Visit {
            space: self.space,
            store: self.store,
            place: Place::Stored(state),
            arrival,
            path_source: PathSource::Stack(before),
            depth: self.run.len() as u64,
            pending: 0,
            held: self.run.capacity() * size_of::<(Handle, S::Transition)>(),
        };
        if !is_leaf {
            self.feedback.truncated(&mut visit);
            return Ok(());
        }
        self.result = match self.feedback.leaf(&mut visit) {
            Backtrack::Continue => return Ok(()),
            Backtrack::Interrupt => SearchResult::Interrupted,
            Backtrack::Goal => visit.goal(),
        };
        Err(Terminated)
    }
}
