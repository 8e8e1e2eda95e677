//! Partial-order search: of all the orders of independent transitions, as few as will do (P. Godefroid's thesis).
//!
//! A state space that knows which of its transitions are independent is [`Partial`]. It chooses persistent sets; the
//! searches here follow them, keep sleep sets, and see to it that no transition is ignored for ever (the ignoring problem).
//!
//! A [`Reduction`] says how much of that is done; [`depth_first`] and [`breadth_first`] take the same options and give
//! the same report as the searches of [`check`](crate::check), and [`Counts`] beside it.
//!
//! What is found, if the reduction has persistent sets: every deadlock, always; with a [`Proviso`] also every violated
//! assertion and every fault, provided that a transition depends on what its assertions read, and every violated
//! invariant, provided that the transitions that can change its value depend on each other. A fault ends a run, so that
//! nothing is independent of it: where a transition that was chosen ends in one, all that is enabled is taken.
//!
//! ```
//! use ample_explicit::check::Options;
//! use ample_explicit::partial::{self, Label, Labelled, Mark, Partial, Reduction};
//! use ample_explicit::space::{Checked, StateSpace};
//! use ample_explicit::store::{HashStore, Parent};
//! use ample_budget::Budget;
//!
//! /// Three runners, each of whom has nine steps to go.
//! struct Race;
//!
//! impl StateSpace for Race {
//!     type State = [u8; 3];
//!     type Transition = usize;
//!
//!     fn initial(&mut self, index: usize, out: &mut [u8; 3]) -> bool {
//!         *out = [9; 3];
//!         index == 0
//!     }
//!     fn first(&mut self, state: &[u8; 3]) -> Option<usize> {
//!         (0..3).find(|&runner| state[runner] > 0)
//!     }
//!     fn next(&mut self, state: &[u8; 3], last: &usize) -> Option<usize> {
//!         (last + 1..3).find(|&runner| state[runner] > 0)
//!     }
//!     fn target(&mut self, state: &[u8; 3], runner: &usize, out: &mut [u8; 3]) {
//!         *out = *state;
//!         out[*runner] -= 1;
//!     }
//! }
//!
//! impl Checked for Race {
//!     // In the end nobody runs any more, and that is not as it should be.
//!     fn is_valid_end(&mut self, _: &[u8; 3]) -> bool {
//!         false
//!     }
//!     // Nothing else can go wrong.
//!     # fn violation(&self) -> Option<String> { None }
//!     # fn is_dead(&self) -> bool { false }
//!     # fn is_transient(&self, _: &[u8; 3]) -> bool { false }
//!     # fn atomic_steps(&self) -> u32 { 0 }
//!     # fn invariant(&mut self, _: usize, _: &[u8; 3]) -> bool { true }
//! }
//!
//! impl Partial for Race {
//!     fn enabled(&mut self, state: &[u8; 3], out: &mut Vec<Labelled<usize>>) {
//!         let runners = (0..3).filter(|&runner| state[runner] > 0);
//!         out.extend(runners.map(|runner| Labelled { transition: runner, label: runner as Label }));
//!     }
//!     // Nobody gets into the way of another: each step alone is a persistent set.
//!     fn persistent(&mut self, state: &[u8; 3], enabled: &[Labelled<usize>], out: &mut Vec<u32>) {
//!         self.persistent_with(state, enabled, 0, out);
//!     }
//!     fn persistent_with(&mut self, _: &[u8; 3], _: &[Labelled<usize>], member: u32, out: &mut Vec<u32>) {
//!         out.push(member);
//!     }
//!     fn independent(&mut self, _: &[u8; 3], first: Label, second: Label) -> bool {
//!         first != second
//!     }
//! }
//!
//! let options = Options::default();
//! let search = |reduction| {
//!     let mut store: HashStore<[u8; 3], Mark> = HashStore::default();
//!     partial::depth_first(&mut Race, &mut store, &options, &reduction, &Budget::unlimited()).unwrap()
//! };
//! let full = search(Reduction::default());
//! assert_eq!((full.counts.stored, full.counts.transitions), (1000, 2701));
//!
//! // Sleep sets save transitions, persistent sets states.
//! let sleep = search(Reduction { sleep: true, ..Reduction::default() });
//! assert_eq!((sleep.counts.stored, sleep.counts.transitions), (1000, 1000));
//! let persistent = Reduction { persistent: true, ..Reduction::default() };
//! let reduced = search(persistent);
//! assert_eq!((reduced.counts.stored, reduced.counts.transitions), (28, 28));
//! assert!(reduced.report.deadlock.is_some());
//!
//! let mut store: HashStore<[u8; 3], Parent> = HashStore::default();
//! let reduced = partial::breadth_first(&mut Race, &mut store, &options, &persistent, &Budget::unlimited()).unwrap();
//! assert_eq!(reduced.report.deadlock.unwrap().path.len(), 27);
//! ```

mod ahead;
mod breadth_first;
mod cache;
mod choice;
mod components;
mod depth_first;
mod labels;
mod mark;
mod postponed;
mod reduction;
mod set_visited;
pub mod two_phase;
mod visited;

pub use breadth_first::breadth_first;
pub use depth_first::{depth_first, depth_first_in_set};
pub use mark::Mark;
pub use postponed::{Postponed, Taken};
pub use reduction::{Cache, Counts, Incompatible, Proviso, Reduced, Reduction, Replacement};
pub use two_phase::{Phases, ProcessModel, TwoPhase};

use crate::space::Checked;

/// Names a transition in all states in which it is enabled.
pub type Label = u32;

/// An enabled transition and its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Labelled<T> {
    /// The transition.
    pub transition: T,
    /// Its name.
    pub label: Label,
}

/// A state space that knows of independence.
///
/// A set of enabled transitions is given by their positions in the list of all of them. In a
/// [transient](Checked::is_transient) state all enabled transitions belong to the process that has exclusive control;
/// the set of all of them is taken there, and for sleep sets and labels nothing happens: what the transition that began
/// the atomic sequence is independent of, all of the sequence is independent of.
pub trait Partial: Checked {
    /// Writes the enabled transitions of a state, in the order of [`first`](crate::space::StateSpace::first) and
    /// [`next`](crate::space::StateSpace::next).
    fn enabled(&mut self, state: &Self::State, out: &mut Vec<Labelled<Self::Transition>>);

    /// Writes a persistent set, as small a one as it finds; not empty unless nothing is enabled.
    fn persistent(&mut self, state: &Self::State, enabled: &[Labelled<Self::Transition>], out: &mut Vec<u32>);

    /// Writes a persistent set that contains the transition at that position.
    fn persistent_with(
        &mut self,
        state: &Self::State,
        enabled: &[Labelled<Self::Transition>],
        member: u32,
        out: &mut Vec<u32>,
    );

    /// The two transitions, both enabled in the state, are independent there.
    fn independent(&mut self, state: &Self::State, first: Label, second: Label) -> bool;

    /// Something that is looked for, other than a deadlock, may still happen after the state.
    fn may_matter(&mut self, _state: &Self::State) -> bool {
        true
    }
}
