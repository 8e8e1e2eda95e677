//! Symbolic checking for ample: sets of states as decision diagrams.

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
pub mod lists;
pub mod ltl;
pub mod order;
pub mod partial;
pub mod process_model;
pub mod product;
pub mod reach;
pub mod save;
pub mod sets;
pub mod space;
mod table;

#[cfg(test)]
mod tests;
