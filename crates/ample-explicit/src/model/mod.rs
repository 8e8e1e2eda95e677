//! Models as ordinary Rust values: the way in for those who want to check their own protocol, puzzle or data structure.
//!
//! A [`Model`] says where to begin, which actions are possible in a state, and where each leads. States are anything
//! that can be cloned, compared and hashed; actions anything that can be cloned and printed. [`Model::check`] is asked
//! for properties by name, each a closure or a formula over them, and answers with a [`Report`]; or it
//! [asserts](Check::assert) them all, which makes a model check one line of a test:
//!
//! ```
//! use ample_explicit::model::Model;
//!
//! /// Two threads add one to a counter: each reads it, then writes what it has read plus one.
//! struct Counter;
//!
//! #[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
//! struct State {
//!     counter: u8,
//!     /// What each thread has read.
//!     read: [Option<u8>; 2],
//!     done: [bool; 2],
//! }
//!
//! #[derive(Clone, Debug, PartialEq)]
//! enum Action {
//!     Read(usize),
//!     Write(usize),
//! }
//!
//! impl Model for Counter {
//!     type State = State;
//!     type Action = Action;
//!
//!     fn init(&self) -> Vec<State> {
//!         vec![State::default()]
//!     }
//!
//!     fn actions(&self, _: &State) -> Vec<Action> {
//!         vec![Action::Read(0), Action::Write(0), Action::Read(1), Action::Write(1)]
//!     }
//!
//!     fn next(&self, state: &State, action: &Action) -> Option<State> {
//!         let mut next = state.clone();
//!         match *action {
//!             Action::Read(i) if state.read[i].is_none() => next.read[i] = Some(state.counter),
//!             Action::Write(i) if !state.done[i] => {
//!                 next.counter = state.read[i]? + 1;
//!                 next.done[i] = true;
//!             }
//!             _ => return None,
//!         }
//!         Some(next)
//!     }
//! }
//!
//! // Both threads are done in the end, whatever happens.
//! Counter.check().eventually("done", |s| s.done == [true; 2]).assert();
//!
//! // But one addition may be lost, and this is the shortest way to lose it.
//! let report = Counter
//!     .check()
//!     .always("both count", |s| s.done != [true; 2] || s.counter == 2)
//!     .run();
//! let path = report.assert_violated("both count");
//! use Action::*;
//! let actions: Vec<_> = path.actions().cloned().collect();
//! assert_eq!(actions, [Read(0), Read(1), Write(0), Write(1)]);
//! assert_eq!(path.last().counter, 1);
//! ```
//!
//! # Properties
//!
//! | method of [`Check`] | holds if | shown by |
//! |---|---|---|
//! | [`always`](Check::always) | the condition holds in every reachable state | a path to one where it does not |
//! | [`sometimes`](Check::sometimes) | the condition holds in some reachable state | a path to one where it does |
//! | [`eventually`](Check::eventually) | on every run the condition holds at some time | a run on which it never does |
//! | [`deadlock_free`](Check::deadlock_free) | a state without successors is a [valid end](Model::is_valid_end) | a path to one that is not |
//! | [`ltl`](Check::ltl) | every run satisfies the formula | a run that does not |
//! | [`ctl`](Check::ctl) | every initial state satisfies the formula | a path, where one can show it |
//!
//! The conditions of the first three can be named in formulas, and [`condition`](Check::condition) gives a name to a
//! condition that is asked for nowhere else. A run is endless: one that comes to a state without successors stays there
//! for ever. [`Check::fairness`] leaves out runs on which a process is passed over for ever.
//!
//! ```
//! # use ample_explicit::model::Model;
//! /// A lift with so many floors that goes up and down.
//! struct Lift(u8);
//!
//! impl Model for Lift {
//!     type State = (u8, bool);
//!     type Action = &'static str;
//!
//!     fn init(&self) -> Vec<(u8, bool)> {
//!         vec![(0, true)]
//!     }
//!     fn actions(&self, _: &(u8, bool)) -> Vec<&'static str> {
//!         vec!["move", "turn"]
//!     }
//!     fn next(&self, &(floor, up): &(u8, bool), action: &&'static str) -> Option<(u8, bool)> {
//!         match (*action, up) {
//!             ("move", true) if floor + 1 < self.0 => Some((floor + 1, up)),
//!             ("move", false) if floor > 0 => Some((floor - 1, up)),
//!             ("turn", _) if floor == 0 || floor + 1 == self.0 => Some((floor, !up)),
//!             _ => None,
//!         }
//!     }
//! }
//!
//! let lift = Lift(4);
//! let report = lift
//!     .check()
//!     .deadlock_free()
//!     .condition("ground", |s| s.0 == 0)
//!     .sometimes("top", |s| s.0 + 1 == lift.0)
//!     .ctl("can come back", "AG EF ground")
//!     .ltl("comes back", "always (top implies eventually ground)")
//!     .run();
//! assert!(report.holds("top") && report.holds("can come back"));
//! // It may turn for ever at the top.
//! assert_eq!(report.path("comes back").unwrap().cycle().unwrap().len(), 2);
//! ```
//!
//! # What is behind it
//!
//! States are numbered as they are found, and the state space of numbers is searched by the same code as any other
//! [`StateSpace`](crate::space::StateSpace): [`check`](crate::check) for conditions and deadlocks, breadth first unless
//! [told otherwise](Check::depth_first), so that counterexamples are shortest; [`liveness`](crate::liveness) for runs;
//! [`ctl`](crate::ctl) for branching time. A state is expanded once, however many properties are asked. Every path is
//! performed again by the model, and every run evaluated again by the plain meaning of its formula, before it is shown.

mod check;
mod graph;
mod path;
mod report;
mod validate;

pub use check::Check;
pub use path::{Ending, Path};
pub use report::{Answer, Report, Verdict};

pub use crate::liveness::Fairness;
pub use ample_model::{Budget, Cancellation, Reason};

use std::fmt::Debug;
use std::hash::Hash;

/// A system that moves from state to state.
///
/// The methods are functions of their arguments: asked twice about the same state they give the same answer. See the
/// [module](self) for examples.
pub trait Model: Sized {
    /// All there is to know at one moment.
    type State: Clone + Eq + Hash;

    /// What can happen.
    type Action: Clone + Debug;

    /// The initial states.
    fn init(&self) -> Vec<Self::State>;

    /// The actions to try in a state. Those that are not possible there may be among them, if
    /// [`next`](Model::next) says so.
    fn actions(&self, state: &Self::State) -> Vec<Self::Action>;

    /// The state after an action; none if it is not possible.
    fn next(&self, state: &Self::State, action: &Self::Action) -> Option<Self::State>;

    /// Is it all right to end in this state, if it has no successors? Otherwise it is a deadlock.
    fn is_valid_end(&self, _state: &Self::State) -> bool {
        false
    }

    /// Whose action it is, for [fairness](Check::fairness). Actions of nobody may be passed over for ever.
    fn process(&self, _action: &Self::Action) -> Option<u8> {
        None
    }

    /// The properties that every check of this model asks for.
    ///
    /// ```
    /// use ample_explicit::model::{Check, Model};
    ///
    /// /// Counts from zero to a number.
    /// struct CountTo(u32);
    ///
    /// impl Model for CountTo {
    ///     type State = u32;
    ///     type Action = ();
    ///     fn init(&self) -> Vec<u32> {
    ///         vec![0]
    ///     }
    ///     fn actions(&self, state: &u32) -> Vec<()> {
    ///         if *state < self.0 { vec![()] } else { vec![] }
    ///     }
    ///     fn next(&self, state: &u32, _: &()) -> Option<u32> {
    ///         Some(state + 1)
    ///     }
    ///     fn properties<'m>(&'m self, check: Check<'m, Self>) -> Check<'m, Self> {
    ///         check.always("in range", |s| *s <= self.0).eventually("arrived", |s| *s == self.0)
    ///     }
    /// }
    ///
    /// assert_eq!(CountTo(10).check().assert().states(), 11);
    /// ```
    fn properties<'m>(&'m self, check: Check<'m, Self>) -> Check<'m, Self> {
        check
    }

    /// Begins a check of the model's own [properties](Model::properties) and of those that are added to it.
    fn check(&self) -> Check<'_, Self> {
        self.properties(Check::new(self))
    }

    /// A random run of at most so many steps; the same seed gives the same run. None if there is no initial state.
    fn random_run(&self, seed: u64, steps: u64) -> Option<Path<Self::State, Self::Action>> {
        graph::random_run(self, seed, steps)
    }
}
