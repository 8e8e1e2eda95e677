//! How the explicit engine searches: its options, as they are given on the command line and in the library.

use clap::{Args, ValueEnum};

use ample_engine::registry::{self, Asked, Choice};
use ample_engine::settings::{PartialOrder, Settings};

use super::reduction::{Algorithm, Dependency, Proviso, Reduction};
use crate::partial::Replacement;

/// The order in which states are visited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Search {
    /// Depth first with partial-order reduction, and breadth first for a short counterexample; without reduction breadth
    /// first, and a large model (a million states, a quarter of the memory) then depth first.
    #[default]
    Auto,
    /// Breadth first.
    ///
    /// Counterexamples are as short as can be.
    #[value(name = "bfs")]
    BreadthFirst,
    /// Depth first.
    ///
    /// It takes less memory for a state.
    #[value(name = "dfs")]
    DepthFirst,
}

/// How a property automaton's product with the model is searched for an accepting run (the emptiness check).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Emptiness {
    /// The one that suits the property.
    #[default]
    Auto,
    /// By strongly connected components.
    ///
    /// In one pass, for any acceptance and fairness.
    #[value(alias = "scc")]
    Components,
    /// By nested depth-first search.
    ///
    /// With two bits for each state; without fairness only.
    #[value(alias = "ndfs")]
    Nested,
}

/// The explicit engine: single states, one after the other.
///
/// ```
/// use ample_explicit::engine::options::{Explicit, Search};
///
/// let depth_first = Explicit { search: Search::DepthFirst, ..Explicit::default() };
/// assert_ne!(depth_first, Explicit::default());
/// ```
#[derive(Args, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[command(next_help_heading = "Explicit engine")]
#[group(skip)]
pub struct Explicit {
    /// The order of the search; breadth first finds the shortest counterexamples
    #[arg(long, value_enum, value_name = "ORDER", default_value_t)]
    pub search: Search,
    /// How persistent sets are computed
    #[arg(long = "por-algorithm", value_enum, value_name = "NAME", default_value_t)]
    pub algorithm: Algorithm,
    /// Which transitions count as dependent, for the algorithms of Godefroid's thesis (all but `guards`) [default:
    /// conditional]
    #[arg(long, value_enum, value_name = "WHICH")]
    pub dependency: Option<Dependency>,
    /// The proviso against the ignoring problem: that no transition is postponed for ever
    #[arg(long, value_enum, value_name = "WHICH", default_value_t)]
    pub proviso: Proviso,
    /// Keep at most that many states, depth first; with persistent and sleep sets unless `--por` says otherwise
    #[arg(long, value_name = "N")]
    pub cache: Option<usize>,
    /// Which state makes room for another
    #[arg(long, value_enum, value_name = "WHICH", default_value_t, requires = "cache")]
    pub cache_policy: Replacement,
    /// How an endless run that violates a property is looked for (the emptiness check)
    #[arg(long, value_enum, value_name = "HOW", default_value_t)]
    pub emptiness: Emptiness,
}

/// Why a dependency cannot be chosen.
pub const OWN_DEPENDENCY: &str = "`--dependency` is for the algorithms of Godefroid's thesis: name one with `--por-algorithm` \
                              (conflicting, overman, stubborn or conditional)";

impl registry::Options for Explicit {
    fn given(&self, settings: &Settings) -> Option<String> {
        let default = Explicit::default();
        let options = [
            ("--search", self.search != default.search),
            ("--por-algorithm", self.algorithm != default.algorithm),
            ("--dependency", self.dependency.is_some()),
            ("--proviso", self.proviso != default.proviso),
            ("--cache", self.cache.is_some()),
            ("--emptiness", self.emptiness != default.emptiness),
        ];
        let is_own = matches!(
            settings.partial_order,
            PartialOrder::Persistent | PartialOrder::Sleep | PartialOrder::PersistentSleep | PartialOrder::TwoPhase
        );
        let own = is_own.then(|| settings.partial_order.option());
        own.or_else(|| options.iter().find(|(_, is_given)| *is_given).map(|(option, _)| (*option).to_owned()))
    }

    fn refusal(&self, _: Choice, _: Asked, settings: &Settings) -> Option<String> {
        if self.dependency.is_some() && self.algorithm == Algorithm::Guards {
            return Some(OWN_DEPENDENCY.to_owned());
        }
        let has_methods =
            self.algorithm != Algorithm::default() || self.proviso != Proviso::default() || self.cache.is_some();
        let why = "`--por two-phase` has no other algorithm, needs no proviso, and keeps all its states";
        (settings.partial_order == PartialOrder::TwoPhase && has_methods).then(|| why.to_owned())
    }
}

/// How the explicit engine searches, and what it is told like all others.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What all engines are told.
    pub settings: Settings,
    /// How it searches.
    pub explicit: Explicit,
}

impl Options {
    /// The same with another order of the search.
    pub fn searching(&self, search: Search) -> Options {
        Options { explicit: Explicit { search, ..self.explicit }, settings: self.settings.clone() }
    }

    /// What may be left out.
    pub fn reduction(&self) -> Reduction {
        Reduction::of(&self.explicit, self.settings.partial_order)
    }
}
