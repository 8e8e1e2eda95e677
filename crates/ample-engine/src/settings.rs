//! Settings: what all engines are told about a check, beside the properties.

use std::path::PathBuf;
use std::time::Duration;

use ample_model::Expr;
use clap::ValueEnum;

/// Which runs a temporal property is asked about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Fairness {
    /// All runs.
    #[default]
    None,
    /// Every process that is enabled from some moment on without a break moves infinitely often, as with Spin's `-f`.
    Weak,
    /// Every action that is enabled infinitely often is taken infinitely often.
    ///
    /// An action is a statement of one process, or a handshake of two.
    Strong,
}

/// Partial-order reduction: of the orders of independent steps, one may stand for all.
///
/// Not every engine has every method. One that a single engine has is a choice of that engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum PartialOrder {
    /// Stubborn sets, where they are sound and pay.
    ///
    /// With a proviso where the property needs one; where nothing is left out, the report says why.
    #[default]
    Auto,
    /// All orders.
    None,
    /// Persistent sets.
    Persistent,
    /// Sleep sets.
    Sleep,
    /// Both.
    #[value(name = "persistent+sleep")]
    PersistentSleep,
    /// Two-Phase: steps that nobody can disturb and no property sees are taken at once, for CTL without X too.
    TwoPhase,
    /// Partial exploration, in the symbolic engine: safe steps of each process first.
    Exploration,
    /// The same, from new states only.
    ExplorationNew,
    /// The same, from states that were not expanded in full only.
    ExplorationUnexpanded,
    /// ImProviso, in the symbolic engine: reachable states only.
    Improviso,
    /// AReduce, in the symbolic engine: reachable states only.
    Areduce,
    /// Only the first process with a safe step moves, in the symbolic engine: reachable states, and LTL without X.
    Static,
}

impl PartialOrder {
    /// As it is written on the command line.
    pub fn option(self) -> String {
        let value = self.to_possible_value();
        format!("--por {}", value.as_ref().map_or("", |value| value.get_name()))
    }
}

/// Whether the statements that no run executes are asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnreachedCode {
    /// They are not.
    Ignored,
    /// They are told if the search for something else has found them out.
    #[default]
    IfKnown,
    /// They are looked for.
    Required,
}

/// What every engine has to know of a check. What it may take is not here, but in its
/// [`Budget`](ample_budget::Budget).
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Which runs count for temporal properties.
    pub fairness: Fairness,
    /// Only runs on which each of these holds again and again count for temporal properties.
    pub justice: Vec<Expr>,
    /// Which orders of independent steps may be left out.
    pub partial_order: PartialOrder,
    /// A directed search goes first where this is smaller.
    pub heuristic: Option<Expr>,
    /// States that many steps from the start are not expanded.
    pub max_depth: Option<u64>,
    /// End at the first violation, whatever it is of.
    pub stop_at_first: bool,
    /// Whether the statements that no run executes are asked for.
    pub unreached: UnreachedCode,
    /// Where a search is saved from time to time, to go on from there if it is ended.
    pub checkpoint: Option<Checkpoint>,
}

/// Where a search is saved, and how often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The file.
    pub path: PathBuf,
    /// The time between two savings.
    pub every: Duration,
    /// Stands for the model and all options that the search depends on.
    pub subject: u64,
}

impl Settings {
    /// Several engines may work side by side: nothing is asked for that depends on the order of one search.
    pub fn allow_portfolio(&self) -> bool {
        self.partial_order == PartialOrder::Auto && self.max_depth.is_none() && !self.stop_at_first
    }
}
