//! Temporal logic for ample: LTL and CTL formulas, their notations, and Büchi automata.
//!
//! A [`Formula`] is a tree over numbered atoms; [`parse()`] and [`print()`] know the dialects of Spin, NuSMV and Spot;
//! [`simplify()`] rewrites, [`translate()`] makes an [`Automaton`], [`hoa`] reads and writes it, [`mod@never`] writes it for Spin,
//! and [`semantics`] says what all of this means, on words that end in a cycle. There are no operators about the past.
//!
//! ```
//! use ample_logic::{Atoms, Dialect, Lasso, Options, parse, semantics, translate};
//!
//! let mut atoms = Atoms::new();
//! let f = parse("[] (request -> <> grant)", Dialect::Spin, &mut atoms)?;
//! let automaton = translate(&f, &atoms, Options::default())?;
//!
//! // request once, then grant forever; bit i of a valuation is atom i
//! let word = Lasso { prefix: vec![0b01], cycle: vec![0b10] };
//! assert!(semantics::holds(&f, &word)?);
//! assert!(automaton.accepts(&word));
//!
//! // what violates the formula is what its negation allows
//! let never = translate(&!f, &atoms, Options::default())?;
//! assert!(!never.accepts(&word));
//! let counterexample = never.accepted_word().expect("not every word satisfies f");
//! assert!(!automaton.accepts(&counterexample));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod automaton;
mod bdd;
pub mod branching;
mod degeneralize;
pub mod dialect;
pub mod dot;
pub mod emptiness;
pub mod explain;
pub mod formula;
pub mod grammar;
mod graph;
pub mod hoa;
pub mod never;
mod obligation;
pub mod parse;
mod pool;
pub mod print;
mod reduce;
pub mod semantics;
pub mod simplify;
mod tableau;
pub mod translate;
pub mod words;

pub use automaton::{Automaton, Cube, Edge, InvalidAutomaton, Size};
pub use branching::as_ctl;
pub use dialect::{Binding, Dialect, Grouping, Word};
pub use emptiness::{StutterError, TooManyTogether, is_stutter_invariant, is_stutter_invariant_within};
pub use formula::{Atom, Atoms, Binary, Formula, Unary};
pub use parse::{AtomReader, ParseError, declared_atom, named_atom, parse, parse_with};
pub use print::{PrintError, expressible, print, print_with};
pub use semantics::Lasso;
pub use simplify::{NotLtl, fold_constants, negation_normal_form, simplify};
pub use translate::{Acceptance, Options, TranslateError, translate, translate_within};
pub use words::{Reading, reading};
