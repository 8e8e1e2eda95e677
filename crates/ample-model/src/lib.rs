//! The model that every language of ample is translated into, and what it means.
//!
//! A [`System`] is plain data: typed variables, channels, and processes as control-flow graphs with
//! guarded edges. [`interpret`] is the one definition of a step; every engine is tested against it and
//! every counterexample is replayed through it before it is shown. [`facts`] says what an edge reads,
//! writes and communicates. A [`Property`] is a question, an [`Outcome`] an answer, a [`Trace`] the
//! evidence; on the way there everything asks its [`Budget`], and tells it the [`Progress`].
//!
//! ```
//! use ample_model::Interpreter;
//! use ample_model::random::{Features, system};
//!
//! // Some system; the front ends of `ample-lang` read them from text.
//! let system = system(42, Features::NONE);
//! assert!(ample_model::check::check(&system).is_ok());
//!
//! // A run that always takes the first move, for at most ten steps.
//! let interpreter = Interpreter::new(&system);
//! let mut state = interpreter.initial_states().next().unwrap().unwrap();
//! for _ in 0..10 {
//!     let Some(first) = interpreter.enabled(&state).into_iter().next() else { break };
//!     let Some(next) = interpreter.step(&state, &first).state else { break };
//!     state = next;
//! }
//! assert!(!interpreter.is_deadlock(&state) || interpreter.enabled(&state).is_empty());
//! ```

pub mod check;
pub mod evidence;
pub mod expr;
pub mod facts;
mod features;
pub mod initial;
pub mod interpret;
pub mod observe;
pub mod outcome;
pub mod plan;
pub mod property;
pub mod random;
mod show;
pub mod system;
pub mod trace;
pub mod visit;

#[cfg(test)]
mod samples;

pub use ample_budget::{Budget, Cancellation, Interrupted, Progress};
pub use evidence::{Ending, Evidence, Lasso, Run, Tree};
pub use expr::{BinaryOp, Expr, Field, Index, Pattern, Place, Scope, Shared, UnaryOp};
pub use features::Feature;
pub use initial::{Choice, Combinations, StartNumber};
pub use interpret::{Cell, Contents, EndState, Fault, Interpreter, Standing, State, Statement};
pub use outcome::{Branch, Certainty, Outcome, Reason, Statistics, Violation};
pub use property::{AtomTable, Distance, Property, PropertyAutomaton, Question, Temporal};
pub use system::{
    Action, ActionId, Alternative, Block, Channel, ChannelId, Communication, Coupling, DeadStatement, Definition, Edge,
    EdgeId, Enumeration, EnumerationId, EventKind, Initial, Instance, Instruction, Location, LocationId, Monitor,
    MonitorEdge, NamedAction, NextValue, Notation, Original, Overflow, ProcessId, ProcessType, Record, RecordId, Role,
    Scalar, Signal, Source, SourceId, Span, Synchronous, System, Type, Variable, VariableId, VariableKind,
};
pub use trace::{Change, Message, Move, Step, Trace};
