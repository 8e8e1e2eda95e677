//! What may be left out of a search, and why nothing is lost: independence of transitions, persistent sets, visibility
//! (P. Godefroid, *Partial-order methods for the verification of concurrent systems*, 1996).
//!
//! A system is seen as a [`Scheme`](scheme::Scheme): processes, objects, and transitions that use operations on objects.
//!
//! ```
//! use ample_reduce::algorithms::Relations;
//! use ample_reduce::objects::Table;
//! use ample_reduce::scheme::{Scheme, Step, Transition};
//!
//! // Two steps of one process, and one of another that shares nothing with it.
//! let transition = |process, from, to| Transition {
//!     steps: vec![Step { process, from, to: vec![to] }],
//!     conditions: vec![],
//!     command: vec![],
//!     is_global: false,
//!     label: String::new(),
//! };
//! let transitions = vec![transition(0, 0, 1), transition(0, 1, 2), transition(1, 0, 1)];
//! let scheme = Scheme { processes: vec!["A".into(), "B".into()], transitions, ..Scheme::default() };
//! let mut relations = Relations::new(Table::Conditional);
//! relations.update(&scheme);
//!
//! // Only steps of different processes can come in any order.
//! assert!(relations.are_parallel(0, 2) && relations.are_independent(0, 2));
//! assert!(!relations.are_parallel(0, 1));
//! ```

pub mod algorithms;
pub mod bits;
pub mod effort;
pub mod guards;
pub mod objects;
pub mod scheme;
pub mod traces;
pub mod unfold;
