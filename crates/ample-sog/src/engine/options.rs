//! What is observed and how the graph is built: the options of `ample sog`, as on the command line and in the library.

use ample_model::Expr;
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

use crate::{Balance, Canonical, Rule};

/// Which graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
pub enum Kind {
    /// By actions, deterministic.
    #[default]
    Event,
    /// By actions, and the successors by one are split into parts.
    Split,
    /// By conditions on states.
    State,
    /// By both.
    EventState,
}

/// Which decision diagrams the sets of states are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub enum DiagramKind {
    /// Lists for nets, binary ones for other models
    #[default]
    Auto,
    /// List decision diagrams: for nets
    Lists,
    /// Binary decision diagrams
    Binary,
    /// Everything is done with both, one after the other, and compared
    Both,
}

/// What is observed, and how the graph is built.
#[derive(Args, Clone, Debug, Serialize, Deserialize)]
#[group(skip)]
pub struct SogOptions {
    /// The actions that are observed, by name (a transition of a net, a statement), separated by commas
    #[arg(long, value_name = "NAMES", allow_hyphen_values = true, value_delimiter = ',', value_parser = name)]
    pub observe: Vec<String>,
    /// The observed conditions.
    #[arg(skip)]
    pub atoms: Vec<Expr>,
    /// Which graph
    #[arg(long, value_enum, value_name = "WHICH", default_value_t)]
    pub kind: Kind,
    /// Into how many parts `--kind split` splits the successors by an action
    #[arg(long, value_name = "N", default_value_t = SogOptions::default().parts)]
    pub parts: usize,
    /// Which aggregates are kept as a few representative states
    #[arg(long, value_enum, value_name = "WHICH", default_value_t)]
    pub canonical: Canonical,
    /// Which decision diagrams
    #[arg(long, value_enum, value_name = "WHICH", default_value_t)]
    pub diagrams: DiagramKind,
    /// How many threads build.
    #[arg(skip = SogOptions::default().threads)]
    pub threads: usize,
    /// Which thread gets a new aggregate
    #[arg(long, value_enum, value_name = "HOW", default_value_t)]
    pub balance: Balance,
    /// Measure what each aggregate costs, with one thread.
    #[arg(skip)]
    pub costs: bool,
    /// Bytes for all of it.
    #[arg(skip)]
    pub memory_limit: Option<u64>,
    /// Formulas with events are meant on runs without the steps that are not observed, even where that matters
    #[arg(long, requires = "ltl")]
    pub collapsed: bool,
    /// For a formula, build only what its product with the automaton asks for; several threads divide the arcs of an aggregate
    /// among them
    #[arg(long, requires = "ltl")]
    pub on_demand: bool,
    /// For a formula, compare labels as the definition says, in place of observing all that may change an atom
    #[arg(long, requires = "ltl")]
    pub compare_labels: bool,
}

impl Default for SogOptions {
    fn default() -> Self {
        SogOptions {
            observe: Vec::new(),
            atoms: Vec::new(),
            kind: Kind::default(),
            parts: 2,
            canonical: Canonical::default(),
            diagrams: DiagramKind::default(),
            threads: 1,
            balance: Balance::default(),
            costs: false,
            memory_limit: None,
            collapsed: false,
            on_demand: false,
            compare_labels: false,
        }
    }
}

impl SogOptions {
    /// Which graph a formula gets.
    pub fn rule(&self) -> Rule {
        if self.compare_labels { Rule::Definition } else { Rule::Static }
    }
}

/// A name in a list.
fn name(text: &str) -> Result<String, std::convert::Infallible> {
    Ok(text.trim().to_owned())
}
