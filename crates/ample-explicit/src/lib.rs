//! Explicit-state search: state spaces, strategies, stores.
//!
//! The short way to check a model of your own is [`model`]: owned states and actions, properties by closures, one line to
//! assert them. This page is about what lies below it, for those who want all the speed there is.
//!
//! A model checker visits states. What a state is, whether a puzzle's board, a marking of a Petri net or
//! the variables of a Promela model, makes no difference to the search; so this crate is generic over it.
//! Whoever implements [`StateSpace`](space::StateSpace) can search, check and simulate, with every strategy
//! and every store, at the speed of code that was written for the purpose.
//!
//! # A puzzle
//!
//! A farmer wants to cross a river with a wolf, a goat and a cabbage. The boat takes him and one of them.
//! Without him the wolf eats the goat and the goat the cabbage. A state says who is across; a transition
//! is what he takes along. The transitions out of a state are walked with `first` and `next`, so that no
//! list of them is ever built:
//!
//! ```
//! use ample_explicit::space::StateSpace;
//!
//! #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
//! struct Across {
//!     farmer: bool,
//!     wolf: bool,
//!     goat: bool,
//!     cabbage: bool,
//! }
//!
//! #[derive(Clone, Copy, Debug, PartialEq, Eq)]
//! enum Cargo {
//!     Nothing,
//!     Wolf,
//!     Goat,
//!     Cabbage,
//! }
//!
//! const CARGOES: [Cargo; 4] = [Cargo::Nothing, Cargo::Wolf, Cargo::Goat, Cargo::Cabbage];
//!
//! impl Across {
//!     /// The state after the farmer has crossed with that cargo, if he can and nobody gets eaten.
//!     fn cross(self, cargo: Cargo) -> Option<Across> {
//!         let mut after = Across { farmer: !self.farmer, ..self };
//!         let passenger = match cargo {
//!             Cargo::Nothing => return after.is_safe().then_some(after),
//!             Cargo::Wolf => &mut after.wolf,
//!             Cargo::Goat => &mut after.goat,
//!             Cargo::Cabbage => &mut after.cabbage,
//!         };
//!         if *passenger != self.farmer {
//!             return None;
//!         }
//!         *passenger = !self.farmer;
//!         after.is_safe().then_some(after)
//!     }
//!
//!     fn is_safe(self) -> bool {
//!         self.farmer == self.goat || (self.wolf != self.goat && self.goat != self.cabbage)
//!     }
//! }
//!
//! struct River;
//!
//! impl StateSpace for River {
//!     type State = Across;
//!     type Transition = Cargo;
//!
//!     fn initial(&mut self, index: usize, out: &mut Across) -> bool {
//!         *out = Across::default();
//!         index == 0
//!     }
//!
//!     fn first(&mut self, state: &Across) -> Option<Cargo> {
//!         CARGOES.into_iter().find(|&cargo| state.cross(cargo).is_some())
//!     }
//!
//!     fn next(&mut self, state: &Across, last: &Cargo) -> Option<Cargo> {
//!         CARGOES.into_iter().skip(*last as usize + 1).find(|&cargo| state.cross(cargo).is_some())
//!     }
//!
//!     fn target(&mut self, state: &Across, cargo: &Cargo, out: &mut Across) {
//!         *out = state.cross(*cargo).unwrap_or(*state);
//!     }
//! }
//!
//! // How can all be across?
//! use ample_explicit::search::breadth_first;
//! use ample_explicit::search::handlers::{Accept, Always, Goal, Handlers, Insert};
//! use ample_explicit::store::{HashStore, Parent, Store};
//!
//! let all = Across { farmer: true, wolf: true, goat: true, cabbage: true };
//! let mut feedback = Handlers::new()
//!     .on_explore(Accept(|state: &Across| *state == all), Goal)
//!     .on_explore(Always, Insert);
//! let mut store: HashStore<Across, Parent> = HashStore::default();
//! let path = breadth_first(&mut River, &mut store, &mut feedback).goal().unwrap();
//!
//! use Cargo::*;
//! let cargoes: Vec<Cargo> = path.transitions().copied().collect();
//! assert_eq!(cargoes, [Goat, Nothing, Wolf, Goat, Cabbage, Nothing, Goat]);
//! assert_eq!(store.len(), 10);
//! ```
//!
//! # The parts
//!
//! The division into strategies, feedback, stores and transformations is that of M. Kattenbelt, *Towards an explicit-state
//! model checking framework*, 2006.
//!
//! - [`space`]: what a state space is, and what it may know beyond its transitions.
//! - [`store`]: the set of visited states. A [`FlatStore`](store::FlatStore) for states that are bytes, a
//!   [`HashStore`](store::HashStore) for all others.
//! - [`search`]: the strategies, depth-first and breadth-first, and the feedback that steers them; in
//!   [`search::handlers`] feedback from ready-made conditions and actions, nested search included.
//! - [`model`]: models as ordinary Rust values, with named properties; everything below is behind it.
//! - [`check`]: deadlocks, assertions and invariants, with counterexamples and Spin's statistics.
//! - [`compile`]: the state space of an [`ample_model`] system, as bytes.
//! - [`simulate`](mod@simulate): one run, chosen by a person, by chance or by a counterexample.
//! - [`transform`]: state spaces made of others: parallel composition, for one.
//! - [`software`]: an abstract layer over all of this for processes, functions and data, put together in Rust.
//!
//! The examples `two_phase_commit`, `philosophers` and `sliding_puzzle` are models to start from, `river` and `counters`
//! state spaces; `modularity` measures what the
//! generic strategies cost over a search written by hand, and `inserts` what an insertion costs.

pub mod batch;
pub mod check;
pub mod checkpoint;
pub mod compile;
pub mod ctl;
pub mod engine;
pub mod liveness;
pub mod model;
mod pacing;
pub mod partial;
pub mod search;
pub mod simulate;
pub mod software;
pub mod space;
pub mod store;
pub mod targets;
pub mod transform;

/// The examples of the manual.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/search-library.md")]
struct Manual;
