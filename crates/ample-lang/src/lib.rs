//! Front ends: one module per language, each turning text into a [`System`](ample_model::System).
//!
//! [`promela`], [`promplus`], [`milestones`], [`pnml`], [`smv`] and [`circuit`] read models and the formulas over them; [`export`] writes models in other
//! languages. What cannot be read is [`Rejected`], with [`Diagnostic`]s that point into the text; nothing is printed here,
//! and no input makes a front end panic.
//!
//! ```
//! use ample_lang::promela::{self, preprocess::FileLoader};
//!
//! let text = "byte x; active [2] proctype P() { x++; assert(x < 2) }";
//! let system = promela::read("two.pml", text.into(), &mut FileLoader, &[])?.system;
//! assert_eq!((system.globals[0].name.as_str(), system.start.len()), ("x", 2));
//!
//! // What is wrong, and where.
//! let text = "byte x; active proctype P() { y++ }";
//! let rejected = promela::read("faulty.pml", text.into(), &mut FileLoader, &[]).unwrap_err();
//! let diagnostic = &rejected.diagnostics[0];
//! let span = diagnostic.span.unwrap();
//! assert_eq!(&text[span.start as usize..span.end as usize], "y");
//! assert!(diagnostic.message.contains("`y`"), "{}", diagnostic.message);
//! # Ok::<(), ample_lang::Rejected>(())
//! ```

pub mod circuit;
mod cursor;
pub mod diagnostic;
pub mod export;
mod formula;
pub mod language;
pub mod milestones;
pub mod pnml;
pub mod promela;
pub mod promplus;
pub mod refused;
pub mod smv;
pub mod softver;
pub mod source;
mod watch;

pub use diagnostic::{Diagnostic, Rejected, Severity};
pub use language::{LANGUAGES, Language};
pub use refused::RefusedFormula;
