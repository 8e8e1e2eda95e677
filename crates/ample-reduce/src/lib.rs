//! What may be left out of a search, and why nothing is lost: independence of transitions, persistent sets, visibility
//! (P. Godefroid, *Partial-order methods for the verification of concurrent systems*, 1996).
//!
//! A system is seen as a [`Scheme`](scheme::Scheme): processes, objects, and transitions that use operations on objects.
//!
//! ```
//! use ample_lang::promela::{self, preprocess::FileLoader};
//! use ample_reduce::algorithms::Relations;
//! use ample_reduce::objects::Table;
//! use ample_reduce::unfold::Unfolding;
//!
//! let text = "byte x, y; active proctype P() { x = 1; y = 1 } active proctype Q() { x = 2 }";
//! let system = promela::read("m.pml", text.into(), &mut FileLoader, &[]).unwrap().system;
//! let unfolding = Unfolding::new(&system, &[]).unwrap();
//! let scheme = unfolding.scheme();
//! let mut relations = Relations::new(Table::Conditional);
//! relations.update(scheme);
//!
//! // Two writes of the same variable disturb each other, writes of different ones do not.
//! let labelled = |label: &str| scheme.transitions.iter().position(|other| other.label == label).unwrap() as u32;
//! let [p, then, q] = ["x = 1", "y = 1", "x = 2"].map(labelled);
//! assert!(!relations.are_independent(p, q));
//! assert!(relations.are_independent(then, q));
//! ```

pub mod algorithms;
pub mod bits;
pub mod effort;
pub mod guards;
pub mod objects;
pub mod scheme;
pub mod traces;
pub mod unfold;
