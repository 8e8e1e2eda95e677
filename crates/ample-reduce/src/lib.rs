//! Partial-order reduction: independence of transitions, persistent and stubborn sets, visibility (P. Godefroid,
//! *Partial-Order Methods for the Verification of Concurrent Systems*, 1996, which the modules cite as "the thesis").
//!
//! A system is represented as a [`Scheme`](scheme::Scheme): processes, objects, and transitions that use operations on
//! objects. From a scheme follows which transitions depend on each other, and from that which of them a search may leave
//! out in a state without missing a deadlock or a violation.
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
//!     is_timeout: false,
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
pub mod symmetry;
pub mod traces;
pub mod transform;
pub mod unfold;
