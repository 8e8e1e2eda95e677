//! Petri nets: what makes them a kind of model of their own.
//!
//! A net reaches this crate as a [`System`](ample_model::System) like any other model. [`Net::of`](net::Net::of)
//! recognises it, whatever language it was written in: one process with one location, whose edges take from and add to
//! variables. Everything here works on the net that it finds, which keeps only places, transitions and arcs.
//!
//! ```
//! use ample_budget::Budget;
//! use ample_petri::explicit::search::count;
//! use ample_petri::net::{Net, Place, Transition};
//! use ample_petri::structure::semiflows::invariants;
//!
//! // Two tokens that go from `a` to `b` and back.
//! let place = |name: &str, initial| Place { name: name.into(), initial, bound: None };
//! let transition = |name: &str, from, to| Transition { name: name.into(), takes: vec![(from, 1)], adds: vec![(to, 1)] };
//! let net = Net {
//!     places: vec![place("a", 2), place("b", 0)],
//!     transitions: vec![transition("there", 0, 1), transition("back", 1, 0)],
//!     exclusive: vec![],
//! };
//!
//! // There are three markings, and in all of them as many tokens.
//! let counts = count(&net, &Default::default(), &Budget::unlimited());
//! assert_eq!((counts.states, counts.transitions, counts.most_in_marking), (3, 4, 2));
//! let found = invariants(&net, &Budget::unlimited());
//! assert_eq!((found.basis.len(), found.rank), (1, Some(1)));
//! ```

pub mod diagram;
pub mod engine;
pub mod evidence;
pub mod explicit;
pub mod net;
pub mod simplify;
pub mod structure;
