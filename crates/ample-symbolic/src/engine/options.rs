//! How the symbolic engine works: its options, as they are given on the command line and in the library.

use clap::{Args, ValueEnum};

use ample_engine::registry;
use ample_engine::settings::{PartialOrder, Settings};

use crate::partial::Variant;
use crate::reach::Method;

/// The symbolic engine: sets of states, as decision diagrams.
///
/// ```
/// use ample_symbolic::engine::{Direction, Symbolic};
///
/// let forward = Symbolic { direction: Direction::Forward, ..Symbolic::default() };
/// assert_ne!(forward, Symbolic::default());
/// ```
#[derive(Args, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[command(next_help_heading = "Symbolic engine")]
#[group(skip)]
pub struct Symbolic {
    /// How the reachable states are computed
    #[arg(long, value_enum, value_name = "HOW", default_value_t)]
    pub reach: Reach,
    /// In which direction formulas are evaluated
    #[arg(long, value_enum, value_name = "DIRECTION", default_value_t)]
    pub direction: Direction,
    /// Look for an endless run that violates a property as for a state that is reached again, with twice as many
    /// variables
    #[arg(long)]
    pub liveness_to_safety: bool,
    /// What a reduced set of states preserves, when states are counted
    #[arg(long, value_enum, value_name = "WHAT", default_value_t)]
    pub preserve: Preserve,
    /// Which parts of the step relation of a synchronous system preimages take
    #[arg(long, value_enum, value_name = "WHICH", default_value_t)]
    pub relations: StepRelations,
    /// Keep the initial variable order: no dynamic reordering
    #[arg(long)]
    pub no_reorder: bool,
}

/// Which parts of the step relation of a synchronous system preimages take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum StepRelations {
    /// All, in clusters that are made once.
    #[default]
    Static,
    /// Those that the set of states depends on (dynamic transition relations).
    Dynamic,
}

/// How the reachable states are computed before formulas are evaluated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Reach {
    /// From the bottom of the diagram up.
    #[default]
    Saturation,
    /// Relation by relation, each from all states so far.
    Chaining,
    /// Breadth first, each layer from the one before.
    Frontier,
    /// Breadth first, each layer from all states so far.
    #[value(name = "bfs", alias = "whole")]
    BreadthFirst,
    /// Not at all: formulas are evaluated over all states, reachable or not.
    None,
}

impl Reach {
    /// The method, where the reachable states are needed.
    pub fn method(self) -> Method {
        match self {
            Reach::Saturation | Reach::None => Method::Saturation,
            Reach::Chaining => Method::Chaining,
            Reach::Frontier => Method::Frontier,
            Reach::BreadthFirst => Method::BreadthFirst,
        }
    }
}

/// In which direction formulas are evaluated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Direction {
    /// Backward; forward with partial exploration.
    #[default]
    Auto,
    /// From the states where a formula's parts hold.
    Backward,
    /// From the initial states.
    Forward,
}

/// What a reduced set of states preserves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Preserve {
    /// Deadlocks only.
    Deadlocks,
    /// LTL without X.
    Ltl,
    /// CTL without X.
    #[default]
    Ctl,
}

/// Which states a process may expand by its safe steps alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exploration {
    /// Partial exploration in one of its variants.
    Partial(Variant),
    /// As ImProviso does it: reachable states only.
    ImProviso,
    /// As AReduce does it: reachable states only.
    AReduce,
    /// Once and for all, before the search: reachable states only.
    Static,
}

impl Exploration {
    /// The one that is asked for, if it is one of this engine's.
    pub fn of(asked: PartialOrder) -> Option<Exploration> {
        Some(match asked {
            PartialOrder::Exploration => Exploration::Partial(Variant::All),
            PartialOrder::ExplorationNew => Exploration::Partial(Variant::New),
            PartialOrder::ExplorationUnexpanded => Exploration::Partial(Variant::NotExpanded),
            PartialOrder::Improviso => Exploration::ImProviso,
            PartialOrder::Areduce => Exploration::AReduce,
            PartialOrder::Static => Exploration::Static,
            PartialOrder::Auto
            | PartialOrder::None
            | PartialOrder::Persistent
            | PartialOrder::Sleep
            | PartialOrder::PersistentSleep
            | PartialOrder::TwoPhase => return None,
        })
    }
}

impl registry::Options for Symbolic {
    fn given(&self, settings: &Settings) -> Option<String> {
        let default = Symbolic::default();
        let options = [
            ("--reach", self.reach != default.reach),
            ("--direction", self.direction != default.direction),
            ("--liveness-to-safety", self.liveness_to_safety),
            ("--preserve", self.preserve != default.preserve),
            ("--relations", self.relations != default.relations),
            ("--no-reorder", self.no_reorder),
        ];
        let own = Exploration::of(settings.partial_order).map(|_| settings.partial_order.option());
        own.or_else(|| options.iter().find(|(_, is_given)| *is_given).map(|(option, _)| (*option).to_owned()))
    }
}

/// How the symbolic engine works, and what it is told like all others.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What all engines are told.
    pub settings: Settings,
    /// How it works.
    pub symbolic: Symbolic,
}

impl Options {
    /// Safe steps of single processes first.
    pub fn exploration(&self) -> Option<Exploration> {
        Exploration::of(self.settings.partial_order)
    }
}
