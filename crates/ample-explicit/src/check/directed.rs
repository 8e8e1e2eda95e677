//! The safety check by directed searches: best-first, hill climbing, A\*, beam search, random walks.
//!
//! A [`Heuristic`] directs a search to one violation, its [`Aim`]. The search looks for everything that the options ask for,
//! and ends when its aim is met. [`best_first`], [`hill_climbing`] and [`a_star`] visit all states if it is not; [`beam`] and
//! [`random_walk`] do not, so that their reports always say why the search [ended](Report::ended) if something was not found.
//!
//! ```
//! use ample_budget::Budget;
//! use ample_explicit::check::{Options, directed::{self, Aim}};
//! # use ample_explicit::space::{Checked, StateSpace};
//! use ample_explicit::store::{FlatStore, PathCost};
//! # struct Locks(usize);
//! # impl StateSpace for Locks {
//! #     type State = [u8];
//! #     type Transition = usize;
//! #     fn initial(&mut self, index: usize, out: &mut Vec<u8>) -> bool { *out = vec![0; self.0]; index == 0 }
//! #     fn first(&mut self, state: &[u8]) -> Option<usize> { (0..2 * self.0).find(|step| self.is_enabled(state, *step)) }
//! #     fn next(&mut self, state: &[u8], last: &usize) -> Option<usize> {
//! #         (last + 1..2 * self.0).find(|step| self.is_enabled(state, *step))
//! #     }
//! #     fn target(&mut self, state: &[u8], step: &usize, out: &mut Vec<u8>) {
//! #         out.clear();
//! #         out.extend_from_slice(state);
//! #         out[step / 2] = if step % 2 == 0 { state[step / 2] + 1 } else { 0 };
//! #     }
//! # }
//! # impl Locks {
//! #     fn is_enabled(&self, state: &[u8], step: usize) -> bool {
//! #         let (at, before, after) = (step / 2, (step / 2 + self.0 - 1) % self.0, (step / 2 + 1) % self.0);
//! #         match (state[at], step % 2) {
//! #             (0, 0) => state[before] < 2,
//! #             (1, 0) => state[after] == 0,
//! #             (2, 1) => true,
//! #             _ => false,
//! #         }
//! #     }
//! # }
//! # impl Checked for Locks {
//! #     fn is_valid_end(&mut self, _: &[u8]) -> bool { false }
//! #     fn violation(&self) -> Option<String> { None }
//! #     fn is_dead(&self) -> bool { false }
//! #     fn is_transient(&self, _: &[u8]) -> bool { false }
//! #     fn atomic_steps(&self) -> u32 { 0 }
//! #     fn invariant(&mut self, _: usize, _: &[u8]) -> bool { true }
//! # }
//!
//! // Twenty philosophers: each takes the left fork, then the right one, then puts both back.
//! let mut store = FlatStore::<PathCost, _>::default();
//! let mut thinking = |forks: &[u8]| forks.iter().filter(|&&forks| forks != 1).count() as u64;
//! let report = directed::a_star(
//!     &mut Locks(20),
//!     &mut store,
//!     &mut thinking,
//!     Some(Aim::Deadlock),
//!     &Options::default(),
//!     &Budget::unlimited(),
//! );
//! assert_eq!(report.deadlock.unwrap().path.len(), 20);
//! assert!(report.statistics.states < 1000); // Of many millions.
//! ```

use std::collections::HashMap;
use std::hash::Hash;

use ample_budget::Budget;
use ample_model::outcome::{Reason, Statistics};

use super::{Note, Options, Report, Safety};
use crate::search::{
    Backtrack, Beam, BestFirst, DepthFirst, Evaluation, Explore, Feedback, Heuristic, Path, RandomWalk, Visit,
};
use crate::space::{Buffer, Checked};
use crate::store::{Costed, ExactStore, Linked, RunStore, Store};

/// What a search is directed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// A deadlock.
    Deadlock,
    /// A violated assertion or another fault.
    Assertions,
    /// A violation of the invariant of that number.
    Invariant(usize),
}

/// Why what a beam search has not found is not known.
pub const BEAM: &str = "beam search does not look at all states; `--search best-first` does";

/// Why what random walks have not found is not known.
pub const WALKS: &str = "random walks do not visit all states; `--search best-first` does";

/// Checks greedily: what seems nearest to a violation first. The store must be empty.
pub fn best_first<S, St, H>(
    space: &mut S,
    store: &mut St,
    heuristic: &mut H,
    aim: Option<Aim>,
    options: &Options,
    budget: &Budget,
) -> Report<S::Transition>
where
    S: Checked,
    St: ExactStore<S::State>,
    St::Side: Linked,
    H: Heuristic<S>,
    Buffer<S>: Default,
{
    let mut safety = Safety { aim, ..Safety::new(options, budget) };
    let strategy = BestFirst { max_depth: options.max_depth, ..BestFirst::default() };
    strategy.greedy(space, store, heuristic, &mut safety);
    safety.report(store.bytes(), store.state_bytes())
}

/// Checks depth first, and goes first to the successor that seems nearest to a violation (hill climbing). The store must be
/// empty.
pub fn hill_climbing<S, St, H>(
    space: &mut S,
    store: &mut St,
    heuristic: &mut H,
    aim: Option<Aim>,
    options: &Options,
    budget: &Budget,
) -> Report<S::Transition>
where
    S: Checked,
    St: ExactStore<S::State>,
    H: Heuristic<S>,
    Buffer<S>: Default,
{
    let mut safety = Safety { aim, stack: Some(Vec::new()), ..Safety::new(options, budget) };
    DepthFirst { max_depth: options.max_depth }.hill_climbing(space, store, heuristic, &mut safety);
    safety.report(store.bytes(), store.state_bytes())
}

/// Checks by A\*. The paths to violations are shortest ones if the heuristic is admissible for what they violate. The store
/// must be empty.
pub fn a_star<S, St, H>(
    space: &mut S,
    store: &mut St,
    heuristic: &mut H,
    aim: Option<Aim>,
    options: &Options,
    budget: &Budget,
) -> Report<S::Transition>
where
    S: Checked,
    St: ExactStore<S::State>,
    St::Side: Costed,
    H: Heuristic<S>,
    Buffer<S>: Default,
{
    let mut safety = Safety { aim, is_shortest: true, ..Safety::new(options, budget) };
    let strategy = BestFirst { evaluation: Evaluation::A_STAR, max_depth: options.max_depth, ..BestFirst::default() };
    strategy.run(space, store, heuristic, &mut safety);
    safety.report(store.bytes(), store.state_bytes())
}

/// Checks by beam search of that width. The store must be empty.
pub fn beam<S, St, H>(
    space: &mut S,
    store: &mut St,
    heuristic: &mut H,
    width: usize,
    aim: Option<Aim>,
    options: &Options,
    budget: &Budget,
) -> Report<S::Transition>
where
    S: Checked,
    St: ExactStore<S::State>,
    St::Side: Linked,
    H: Heuristic<S>,
    Buffer<S>: Default,
{
    let mut safety = Safety { aim, ..Safety::new(options, budget) };
    Beam { width, max_depth: options.max_depth }.run(space, store, heuristic, &mut safety);
    safety.give_up(BEAM);
    safety.report(store.bytes(), store.state_bytes())
}

/// Checks by random walks, which heuristics pull one after the other. A run that comes to a state twice is shown without the
/// steps between. The report counts transitions only: nothing is known of how many states are distinct.
pub fn random_walk<S, H>(
    space: &mut S,
    store: &mut RunStore<S::State>,
    heuristics: &mut [H],
    walks: RandomWalk,
    options: &Options,
    budget: &Budget,
) -> Report<S::Transition>
where
    S: Checked,
    S::State: Hash + Eq,
    H: Heuristic<S>,
    Buffer<S>: Default,
{
    let options = &Options { max_depth: walks.depth.min(options.max_depth), ..options.clone() };
    let mut keeping = Keeping { safety: Safety::new(options, budget), found: 0 };
    let walks = RandomWalk { depth: options.max_depth, ..walks };
    walks.run(space, store, heuristics, &mut keeping);
    let mut safety = keeping.safety;
    // That no walk is longer is no reason of its own.
    safety.ended.take_if(|reason| *reason == Reason::Depth);
    safety.give_up(WALKS);
    let mut report = safety.report(store.bytes(), store.state_bytes());
    let violations = report.deadlock.iter_mut().chain(&mut report.assertions);
    for violation in violations.chain(report.invariants.iter_mut().flatten()) {
        without_cycles(&mut violation.path, store);
    }
    let statistics = Statistics { states: 0, atomic_states: 0, ..report.statistics };
    Report { statistics, ..report }
}

/// Leaves out the steps between two visits of the same state.
fn without_cycles<S, T>(path: &mut Path<T>, store: &RunStore<S>)
where
    S: ?Sized + ToOwned + Hash + Eq,
    T: Copy,
{
    let mut last: HashMap<&S, usize> = HashMap::new();
    for (number, (state, _)) in path.steps.iter().enumerate() {
        last.insert(store.get(*state), number);
    }
    let (mut steps, mut next) = (Vec::new(), 0);
    while let Some((state, _)) = path.steps.get(next) {
        let number = last.get(store.get(*state)).copied().unwrap_or(next);
        steps.push(path.steps[number]);
        next = number + 1;
    }
    path.steps = steps;
}

/// The feedback of random walks: the states of a run that violates something are kept.
struct Keeping<'a, T> {
    safety: Safety<'a, T>,
    /// How many violations were found before.
    found: usize,
}

impl<T> Keeping<'_, T> {
    fn keep<S: ?Sized + ToOwned>(&mut self, store: &mut RunStore<S>) {
        let Safety { deadlock, assertions, invariants, .. } = &self.safety;
        let found = deadlock.iter().chain(assertions).chain(invariants.iter().flatten()).count();
        if found > self.found {
            self.found = found;
            store.keep();
        }
    }
}

impl<S> Feedback<S, RunStore<S::State>> for Keeping<'_, S::Transition>
where
    S: Checked,
    S::State: PartialEq,
    Buffer<S>: Default,
{
    type Note = Note;

    fn arrive(&mut self, space: &mut S) -> Note {
        self.safety.note(space)
    }

    fn is_state(note: &Note) -> bool {
        !note.dead
    }

    fn explore(&mut self, visit: &mut Visit<'_, S, RunStore<S::State>>, note: Note) -> Explore {
        let answer = self.safety.explore(visit, note);
        self.keep(visit.store);
        answer
    }

    fn leaf(&mut self, visit: &mut Visit<'_, S, RunStore<S::State>>) -> Backtrack {
        let answer = self.safety.leaf(visit);
        self.keep(visit.store);
        answer
    }

    fn truncated(&mut self, visit: &mut Visit<'_, S, RunStore<S::State>>) {
        self.safety.truncated(visit);
    }
}

impl<T> Safety<'_, T> {
    /// The search has not looked at everything.
    fn give_up(&mut self, why: &str) {
        if !self.is_decided && self.ended.is_none() {
            self.ended = Some(Reason::Unsupported(why.to_owned()));
        }
    }
}
