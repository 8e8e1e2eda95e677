//! Symbolic model checking: sets of states as decision diagrams.
//!
//! There are two kinds of diagrams over one table of nodes, binary ([`diagram`]) and list ([`lists`]); [`sets`] is the algebra of
//! sets that both implement, over which reachability ([`reach`]), CTL ([`ctl`]), fair cycles ([`fair`]), LTL by products
//! ([`product`]) and counterexamples ([`evidence`]) are written once. [`testgen`] looks for inputs of synchronous systems. [`engine`] puts them together into an engine for any
//! bounded [`System`](ample_model::System).
//!
//! ```
//! use ample_boolean::{Bounds, Encoding};
//! use ample_budget::Budget;
//! use ample_model::interpret::explore;
//! use ample_model::random::{Features, system};
//! use ample_symbolic::build::build;
//! use ample_symbolic::diagram::Diagrams;
//! use ample_symbolic::reach::{Effort, Method, reachable};
//!
//! // A system as bits, and its steps as relations between them.
//! let system = system(42, Features::NONE);
//! let encoding = Encoding::of(&system, &Bounds::sampled(&system, 10_000)).unwrap();
//! let diagrams = Diagrams::new(encoding.bits, 1 << 22, Budget::unlimited());
//! let space = build(&encoding, &diagrams).unwrap().space;
//!
//! // All states that it can reach, in one set.
//! let go_on = &mut |_: &_| Ok(true);
//! let reached = reachable(&space, &space.initial, Method::Chaining, &mut Effort::default(), go_on).unwrap();
//! assert_eq!(space.count(&reached).unwrap(), explore(&system, 10_000).states.into());
//! ```

pub use num_bigint::BigUint;

pub use self::error::{Maybe, SetError};
pub use self::sets::{Portable, Sets};

pub mod build;
pub mod ctl;
pub mod diagram;
pub mod encode;
pub mod engine;
mod error;
pub mod evidence;
pub mod fair;
pub mod joint;
pub mod lists;
pub mod ltl;
pub mod modular;
pub mod order;
pub mod partial;
pub mod process_model;
pub mod product;
pub mod reach;
pub mod save;
pub mod sets;
pub mod space;
mod table;
pub mod testgen;

#[cfg(test)]
mod tests;
