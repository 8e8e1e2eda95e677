//! Symbolic observation graphs: model checking of LTL without X on sets of states (S. Haddad, J.-M. Ilié and K. Klai, *Design
//! and evaluation of a symbolic and abstraction-based model checker*, 2004).
//!
//! Some actions of a model are observed, and some conditions on its states may be. States connected by unobserved steps are
//! grouped into *aggregates*, which are sets of states in some compact form; the arcs between them are the observed steps. The
//! graph is often tiny beside the state space, and enough to decide LTL without X. The parallel construction is that of
//! H. Ouni, *Parallel verification of concurrent systems using the Symbolic Observation Graph*, 2019.
//!
//! [`Sets`](ample_symbolic::Sets) is what a set engine must offer; [`Lists`] offers it for nets, by list decision diagrams, [`Binary`] for any
//! bounded system, by binary ones, and [`Explicit`] for small nets, state by state. [`Observed`] says which graph is wanted, [`build`] and
//! [`build_with_threads`] build it, [`check()`] decides a formula while it is being built.
//!
//! ```
//! use ample_logic::{Atom, Formula};
//! use ample_petri::net::{Net, Place, Transition};
//! use ample_sog::{CheckOptions, Ending, Explicit, Meaning, Question, check};
//!
//! // A token is moved from `a` to `b` again and again, or taken away.
//! let place = |name: &str, initial| Place { name: name.into(), initial, bound: None };
//! let transition = |name: &str, takes, adds| Transition { name: name.into(), takes, adds };
//! let net = Net {
//!     places: vec![place("a", 1), place("b", 0)],
//!     transitions: vec![
//!         transition("there", vec![(0, 1)], vec![(1, 1)]),
//!         transition("back", vec![(1, 1)], vec![(0, 1)]),
//!         transition("away", vec![(0, 1)], vec![]),
//!     ],
//!     exclusive: vec![],
//! };
//! let model = Explicit::new(net, vec![]);
//!
//! // Is there always another `back`?
//! let formula = Formula::atom(Atom(0)).finally().globally();
//! let question = Question { formula, meanings: vec![Meaning::Event(vec![1])] };
//! let checked = check(&model, &question, &CheckOptions::default())?;
//! let run = checked.violation.expect("the token may go away");
//! assert_eq!((run.prefix, run.ending), (vec![2], Ending::Stuck));
//! # Ok::<(), ample_sog::Error>(())
//! ```

pub mod aggregate;
pub mod binary;
mod bytes;
pub mod canonical;
pub mod check;
pub mod digest;
pub mod engine;
pub mod explicit;
pub mod graph;
pub mod lists;
pub mod model;
pub mod observed;
pub mod output;
mod product;
pub mod remote;
mod rounds;
mod sequential;
mod table;
mod threads;
mod witness;

pub use binary::Binary;
pub use canonical::Canonical;
pub use check::{CheckOptions, Checked, Meaning, Question, Rule, check, check_graph, is_insensitive};
pub use explicit::Explicit;
pub use graph::{Aggregate, Graph, Size};
pub use lists::Lists;
pub use model::{Error, Labelled, Model};
pub use observed::{Label, Observed};
pub use product::ProductSize;
pub use sequential::{Cost, build, build_measured};
pub use threads::{Balance, BuildOptions, Work, build_with_threads};
pub use witness::{Ending, Witness};
