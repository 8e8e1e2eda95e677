//! ample, a model checker for concurrent systems: explore enough, never all.
//!
//! A model is text: [`load`] reads it from a file and [`load_text`] from a string. What comes out is a [`System`],
//! whatever the language. [`check`] looks at every state that the system can reach and answers with a [`Report`]:
//! for each property whether it holds, and if not, a run that shows it.
//!
//! Two processes each want to be alone, and each looks before it leaps:
//!
//! ```
//! use ample::{CheckOptions, LoadOptions, Verdict};
//!
//! let text = "
//!     bool busy; byte inside;
//!     active [2] proctype P() {
//!         !busy;                  /* wait until nobody is busy */
//!         busy = true;
//!         inside++;
//!         assert(inside == 1);
//!         inside--;
//!         busy = false
//!     }";
//! let model = ample::load_text("mutex.pml", text.into(), &LoadOptions::default())?;
//! let report = ample::check(&model.system, &CheckOptions::default());
//!
//! // Both may look before either leaps.
//! let answer = report.answer("assertions").unwrap();
//! assert_eq!(answer.verdict(), Verdict::Violated);
//! let trace = answer.trace().unwrap();
//! for step in &trace.prefix {
//!     println!("{} {}", step.process, step.text);
//! }
//! assert_eq!(trace.prefix.len(), 7);
//!
//! // It never gets stuck, though.
//! assert_eq!(report.answer("deadlock").unwrap().verdict(), Verdict::Holds);
//! # Ok::<(), ample::LoadError>(())
//! ```
//!
//! A model may also be a Rust value: see [`model`].
//!
//! What the work may take, who may end it, and who hears of its progress is a [`Budget`] in the options. [`simulate`](mod@simulate) walks through a model one step at a time. Every run that is shown has been
//! performed by the reference interpreter first ([`evidence`]).

mod check;
mod circuits;
mod engines;
mod groups;
mod load;
pub mod pictures;
mod reductions;
mod runs;
pub mod simulate;
pub mod sog;
pub mod testgen;
mod vacuity;
pub mod witness_circuits;

/// Validation of counterexamples, and the states that they end in.
pub use ample_engine::evidence;
/// What partial-order reduction makes of a model.
pub use ample_explicit::engine::reduce;

pub use ample_bounded::engine::{Bounded, Liveness as SatLiveness, Method as SatMethod, SolverKind as SatSolver};
pub use ample_budget::{
    Budget, Cancellation, Interrupted, Progress, peak_memory, resident_memory, sensible_memory_limit,
};
pub use ample_cluster::mesh::digest;
pub use ample_cluster::sog::STACK as SOG_STACK;
pub use ample_cluster::{Cluster, ClusterOptions, End, Identity, Mesh, SogSpread};
pub use ample_engine::board::Board;
pub use ample_engine::registry::{Asked, Choice};
pub use ample_engine::report::{
    Answer, Cut, CutBy, DiagramStatistics, DynamicStatistics, ModularStatistics, Report, SCHEMA, SolvingStatistics,
    Spread, Verdict,
};
pub use ample_engine::settings::{Checkpoint, Fairness, PartialOrder, UnreachedCode};
pub use ample_engine::unreached::Unreached;
pub use ample_explicit::checkpoint::CheckpointError;
pub use ample_explicit::engine::options::OWN_DEPENDENCY;
pub use ample_explicit::engine::options::{Emptiness, Explicit, HeuristicKind, Search, SignatureBits, StoreKind};
pub use ample_explicit::engine::reduction::{Algorithm, Dependency, Proviso, Replacement};
pub use ample_explicit::model;
pub use ample_lang::pnml::{Examination, Formulas, Refused};
pub use ample_lang::{Diagnostic, RefusedFormula, Rejected, Severity};
pub use ample_model::{
    Branch, Certainty, Change, EventKind, Message, Move, Outcome, Property, PropertyAutomaton, Question, Reason,
    Source, Span, StartNumber, Statistics, Step, System, Temporal, Trace, Violation,
};
pub use ample_petri::engine::{DiagramKind, PetriOptions};
pub use ample_symbolic::engine::modular::Modular;
pub use ample_symbolic::engine::{Direction, Preserve, Reach, StepRelations, Symbolic};
pub use ample_symbolic::modular::Reachability;
pub use ample_symbolic::modular::partition::Partitioning;
pub use check::{CheckOptions, Workers, check, stated, states};
pub use circuits::circuit;
pub use engines::{EngineOptions, engine, engines};
pub use load::{LoadError, LoadOptions, Loaded, adapt, ctl, expression, language_of, load, load_text, ltl, read_text};
pub use reductions::StaticReduction;

/// The page of the manual, so that its examples are run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
struct Manual;
