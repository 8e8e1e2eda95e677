//! Front ends: one module per language, each turning text into a [`System`](ample_model::System).

pub mod diagnostic;
pub mod export;
pub mod milestones;
pub mod pnml;
pub mod promela;
pub mod refused;
pub mod source;

pub use diagnostic::{Diagnostic, Rejected, Severity};
pub use refused::RefusedFormula;
