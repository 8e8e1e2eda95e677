//! Three abstract layers beside that for software: Petri nets, graph rewriting and a puzzle. They have nothing in common
//! but the interface of state spaces.

pub mod cube;
pub mod petri;
pub mod rewriting;
