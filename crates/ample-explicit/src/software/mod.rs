//! An abstract layer for software: processes with control flow, functions, and data on a heap.
//!
//! The generic layer knows that there are states and transitions; this layer knows what they are made of, and no concrete
//! syntax (M. Kattenbelt, *Towards an explicit-state model checking framework*, 2006, chapter 4). A front end builds a
//! [`TypeGraph`]; its instances make the states of a [`SoftwareModel`], which is a
//! [`StateSpace`](crate::space::StateSpace) like any other: every search, store, simulation and transformation runs on it.
//!
//! - [`types`]: the type graph: processes, functions, data, and their variables.
//! - [`data`]: data types. A new one implements [`DataType`](data::DataType), and opts into comparing, logical and numerical
//!   expressions.
//! - [`flow`]: control flow, which is a state space itself.
//! - [`expression`], [`statement`]: what is evaluated, and what is executed.
//! - [`state`]: states as graphs of instances.
//! - [`linear`]: states as bit vectors, and [`BitvectorModel`], the transformation.
//!
//! The layer is for models that are put together in Rust, and for experiments with the representation of states. The
//! models of ample's languages do not go through it: for speed, [`compile`](crate::compile) makes flat programs over packed
//! states of them.

pub mod data;
pub mod expression;
pub mod flow;
pub mod linear;
mod model;
pub mod state;
pub mod statement;
pub mod types;

pub use linear::{BitvectorModel, Decoded, Linearisation, ProcessOrder};
pub use model::{Condition, SoftwareModel, SoftwareTransition};
pub use state::SoftwareState;
pub use types::TypeGraph;
