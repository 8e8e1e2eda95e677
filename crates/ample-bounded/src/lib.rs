//! Model checking by SAT solving: bounded model checking, k-induction and IC3.

pub mod bmc;
#[cfg(feature = "cadical")]
pub mod cadical;
pub mod cdcl;
pub mod certificate;
pub mod clauses;
pub mod correspond;
pub mod engine;
pub mod export;
pub mod frames;
pub mod ic3;
pub mod induction;
pub mod lasso;
pub mod machine;
pub mod partial;
pub mod product;
pub mod project;
pub mod simplify;
pub mod solver;
pub mod steps;
