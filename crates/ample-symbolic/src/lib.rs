//! Symbolic checking for ample: sets of states as decision diagrams.

pub use num_bigint::BigUint;

pub mod build;
pub mod ctl;
pub mod diagram;
pub mod engine;
pub mod evidence;
pub mod fair;
pub mod ltl;
pub mod order;
pub mod partial;
pub mod process_model;
pub mod reach;
pub mod save;
pub mod space;

#[cfg(test)]
mod tests;
