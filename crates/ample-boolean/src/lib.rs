//! A [`System`](ample_model::System) as Boolean formulas over the bits of its states.
//!
//! An [`Encoding`] gives every cell of a state a run of bits, and every move a [`Partition`]: the condition
//! under which it can be taken and, for each bit that it may change, the formula of the next value. The
//! formulas live in a [`Dag`], an and-inverter graph. A partition is a function, not a relation: what is
//! nondeterministic in the system is the choice among its moves.
//!
//! States are exactly the [identities](ample_model::Interpreter::identity) of the reference interpreter's,
//! and the formulas agree with it bit for bit: the modules `evaluate`, `moves` and `perform` follow it case
//! by case. How wide a cell is, and which processes may be there, is guessed ([`Bounds`]) and then checked: a
//! step that leaves the guess is an *overflow* of its partition, never cut off, and [`Encoding::widen`] makes
//! room for it.
//!
//! ```
//! use ample_boolean::{Bounds, Encoding};
//! use ample_model::random::{Features, system};
//!
//! let system = system(1, Features::NONE);
//! let encoding = Encoding::of(&system, &Bounds::sampled(&system, 100))?;
//! assert!(encoding.bits > 0 && !encoding.partitions.is_empty());
//! for partition in &encoding.partitions {
//!     assert!(partition.updates.is_sorted());
//! }
//! # Ok::<(), ample_boolean::Unsupported>(())
//! ```

mod bounds;
mod dag;
mod encoding;
mod evaluate;
mod layout;
mod moves;
mod perform;
mod symbolic;
mod synchronous;
mod word;

pub use bounds::Bounds;
pub use dag::{Dag, Lit, Node, TernaryValues, Values};
pub use encoding::{Cell, Encoding, NotEncoded, Partition};
pub use synchronous::{Functional, JointEncoding, Substitution};

use thiserror::Error;

/// The largest state.
pub(crate) const MAX_BITS: u32 = 20_000;

/// Why a system has no encoding: a whole sentence for the user.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct Unsupported(pub String);
