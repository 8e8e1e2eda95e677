//! Model checking by SAT solving: bounded model checking, k-induction and IC3.

pub mod bmc;
pub mod clauses;
pub mod engine;
pub mod frames;
pub mod machine;
pub mod solver;
