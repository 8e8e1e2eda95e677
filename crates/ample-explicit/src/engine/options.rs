//! How the explicit engine searches: its options, as they are given on the command line and in the library.

use clap::{Args, ValueEnum};

use ample_engine::registry::{self, Asked, Choice};
use ample_engine::settings::{PartialOrder, Settings};

use super::reduction::{Algorithm, Dependency, Proviso, Reduction};
use super::symmetry::SymmetryReduction;
use crate::partial::Replacement;

/// The order in which states are visited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Search {
    /// Depth first with partial-order reduction, and breadth first for a short counterexample; without reduction breadth
    /// first, and in a large model (a million states) depth first beside it, for what lies deep.
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
    /// Best first: what is nearest to a violation, as far as the heuristic can tell.
    ///
    /// A directed search, greedy; all states are visited if there is no violation.
    BestFirst,
    /// Hill climbing: depth first, and first to the successor that is nearest to a violation, as far as the heuristic can
    /// tell.
    ///
    /// States that are not entered are not stored; all states are visited if there is no violation.
    HillClimbing,
    /// A*: what is on the shortest path to a violation, as far as the heuristic can tell.
    ///
    /// Counterexamples are as short as can be if the heuristic is admissible: never too high.
    AStar,
    /// Beam search: breadth first, but of each level only the best states.
    ///
    /// It finds violations, and proves nothing.
    Beam,
    /// Random walks.
    ///
    /// They find violations, and prove nothing.
    RandomWalk,
}

impl Search {
    /// A heuristic says where to go.
    pub fn is_directed(self) -> bool {
        match self {
            Search::Auto | Search::BreadthFirst | Search::DepthFirst => false,
            Search::BestFirst | Search::HillClimbing | Search::AStar | Search::Beam | Search::RandomWalk => true,
        }
    }

    /// As it is written on the command line.
    pub fn option(self) -> String {
        let value = self.to_possible_value();
        format!("--search {}", value.as_ref().map_or("", |value| value.get_name()))
    }
}

/// What a directed search estimates, where that is not an expression of the user: see
/// [`Settings::heuristic`](ample_engine::settings::Settings::heuristic).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum HeuristicKind {
    /// The distance from a violation of the property that is checked.
    #[default]
    Auto,
    /// The distance from a deadlock.
    Deadlock,
    /// The distance from a deadlock, where a process can be blocked without a step of its own.
    Blocked,
    /// The distance from an assertion.
    Assertion,
    /// The distance from a violation of an invariant or of a formula.
    Formula,
}

/// How visited states are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum StoreKind {
    /// Each state as it is, in full.
    #[default]
    Exact,
    /// At most as many states as `--cache` says.
    ///
    /// States that the search has left make room for others, and are explored again when they are met again.
    Cache,
    /// Each state as the numbers of its components.
    ///
    /// The components, globals, channels and processes, are kept once each.
    Collapse,
    /// Each state as a tree of pairs.
    ///
    /// Pairs that several states have in common are kept once: little more than eight bytes for a state at best.
    Tree,
    /// All states as one minimal automaton.
    ///
    /// It takes the least memory where states are alike, and the most time.
    Automaton,
    /// A few bits for each state.
    ///
    /// Approximate: states may be omitted. `--hash-bits` and `--hash-functions` say how many bits.
    #[value(name = "bitstate", alias = "bit-state")]
    BitState,
    /// A hash of each state.
    ///
    /// Approximate: states may be omitted. `--signature-bits` says how long a hash is.
    #[value(alias = "compaction")]
    Compact,
    /// Each state as it is, on disk.
    ///
    /// Breadth first, level by level; the memory limit is kept to however many states there are. Files are in the folder for
    /// temporary files (`TMPDIR`).
    Disk,
}

impl StoreKind {
    /// States cannot be given back: it is a set.
    pub fn is_set(self) -> bool {
        !matches!(self, StoreKind::Exact | StoreKind::Cache | StoreKind::Disk)
    }

    /// States are kept in full, in memory: all of them, or as many as fit.
    pub fn is_exact(self) -> bool {
        matches!(self, StoreKind::Exact | StoreKind::Cache)
    }

    /// A state may be taken for another one.
    pub fn is_approximate(self) -> bool {
        matches!(self, StoreKind::BitState | StoreKind::Compact)
    }
}

/// How long a hash of [`StoreKind::Compact`] is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum SignatureBits {
    /// Four bytes.
    #[value(name = "32")]
    Short,
    /// Six bytes.
    #[default]
    #[value(name = "48")]
    Medium,
    /// Eight bytes.
    #[value(name = "64")]
    Long,
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
    /// How visited states are kept
    #[arg(long, value_enum, value_name = "HOW", default_value_t)]
    pub store: StoreKind,
    /// Two to that power of bits are there for `--store bitstate` [default: 30, or what half of the memory limit allows]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(10..=44))]
    pub hash_bits: Option<u32>,
    /// So many bits are set for a state by `--store bitstate` [default: 3]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=16))]
    pub hash_functions: Option<u32>,
    /// The length of a hash for `--store compact` [default: 48]
    #[arg(long, value_enum, value_name = "BITS")]
    pub signature_bits: Option<SignatureBits>,
    /// Keep at most that many states, depth first; with persistent and sleep sets unless `--por` says otherwise
    #[arg(long, value_name = "N")]
    pub cache: Option<usize>,
    /// Which state makes room for another
    #[arg(long, value_enum, value_name = "WHICH", default_value_t, requires = "cache")]
    pub cache_policy: Replacement,
    /// How an endless run that violates a property is looked for (the emptiness check)
    #[arg(long, value_enum, value_name = "HOW", default_value_t)]
    pub emptiness: Emptiness,
    /// What a directed search estimates.
    #[arg(skip)]
    pub heuristic: HeuristicKind,
    /// How many states of each level beam search expands [default: 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub beam_width: Option<u32>,
    /// How many random walks there are [default: 1000]
    #[arg(long, value_name = "N")]
    pub walks: Option<u64>,
    /// How many steps a random walk takes at most [default: 10000]
    #[arg(long, value_name = "N")]
    pub walk_depth: Option<u64>,
    /// The seed of random walks; the same seed gives the same walks [default: 1]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Whether states that differ in the places of processes only, which nobody tells apart, are taken for the same
    #[arg(long, value_enum, value_name = "HOW", default_value_t)]
    pub symmetry: SymmetryReduction,
    /// Do not compile to native code: long searches stay with the evaluator of bytecode
    #[arg(long)]
    pub no_native: bool,
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
            ("--store", self.store != default.store),
            ("--hash-bits", self.hash_bits.is_some()),
            ("--hash-functions", self.hash_functions.is_some()),
            ("--signature-bits", self.signature_bits.is_some()),
            ("--cache", self.cache.is_some()),
            ("--emptiness", self.emptiness != default.emptiness),
            ("--heuristic", self.heuristic != default.heuristic || settings.heuristic.is_some()),
            ("--beam-width", self.beam_width.is_some()),
            ("--walks", self.walks.is_some()),
            ("--walk-depth", self.walk_depth.is_some()),
            ("--seed", self.seed.is_some()),
            ("--symmetry", self.symmetry != default.symmetry),
        ];
        let is_own = matches!(
            settings.partial_order,
            PartialOrder::Persistent | PartialOrder::Sleep | PartialOrder::PersistentSleep | PartialOrder::TwoPhase
        );
        if settings.checkpoint.is_some() {
            return Some("--checkpoint".to_owned());
        }
        let own = is_own.then(|| settings.partial_order.option());
        own.or_else(|| options.iter().find(|(_, is_given)| *is_given).map(|(option, _)| (*option).to_owned()))
    }

    fn refusal(&self, _: Choice, asked: Asked, settings: &Settings) -> Option<String> {
        if let Some(why) = self.directed_refusal(asked, settings) {
            return Some(why);
        }
        if settings.checkpoint.is_some() && !self.may_be_resumed(settings) {
            return Some(
                "`--checkpoint` is for breadth-first search with the exact store and without partial-order reduction: it \
                 cannot be combined with `--search dfs`, `--store`, `--cache`, `--symmetry` and `--por`"
                    .to_owned(),
            );
        }
        if let Some(why) = self.store_refusal() {
            return Some(why.to_owned());
        }
        if self.dependency.is_some() && self.algorithm == Algorithm::Guards {
            return Some(OWN_DEPENDENCY.to_owned());
        }
        let has_methods =
            self.algorithm != Algorithm::default() || self.proviso != Proviso::default() || self.cache.is_some();
        let why = "`--por two-phase` has no other algorithm, needs no proviso, and keeps all its states";
        (settings.partial_order == PartialOrder::TwoPhase && has_methods).then(|| why.to_owned())
    }
}

impl Explicit {
    /// Why the options of directed searches cannot be combined with others.
    fn directed_refusal(&self, asked: Asked, settings: &Settings) -> Option<String> {
        let has_heuristic = self.heuristic != HeuristicKind::default() || settings.heuristic.is_some();
        if has_heuristic && !self.search.is_directed() {
            return Some(
                "`--heuristic` is for a directed search: `--search best-first`, `hill-climbing`, `a-star`, `beam` or \
                 `random-walk`"
                    .into(),
            );
        }
        if self.beam_width.is_some() && self.search != Search::Beam {
            return Some("`--beam-width` is for beam search: `--search beam`".into());
        }
        let walks = [
            ("--walks", self.walks.is_some()),
            ("--walk-depth", self.walk_depth.is_some()),
            ("--seed", self.seed.is_some()),
        ];
        if let Some((option, _)) = walks.iter().find(|(_, is_given)| *is_given && self.search != Search::RandomWalk) {
            return Some(format!("`{option}` is for random walks: `--search random-walk`"));
        }
        if !self.search.is_directed() {
            return None;
        }
        let search = self.search.option();
        if asked == Asked::Count {
            return Some(format!(
                "`{search}` looks for violations; states are counted with `--search bfs` or `--search dfs`"
            ));
        }
        let is_symmetric = !matches!(self.symmetry, SymmetryReduction::Auto | SymmetryReduction::None);
        if is_symmetric && self.search == Search::RandomWalk {
            return Some(format!("`{search}` stores no states, and has no use for `--symmetry`"));
        }
        if self.store != StoreKind::Exact {
            return Some(format!(
                "`{search}` has a store of its own, with the costs of paths: it goes without `--store`"
            ));
        }
        let reduces = !matches!(Reduction::of(self, settings.partial_order), Reduction::Auto | Reduction::None);
        let why = || format!("`{search}` is without partial-order reduction: its order is that of the heuristic");
        reduces.then(why)
    }

    /// A search with these options can go on from a checkpoint.
    fn may_be_resumed(&self, settings: &Settings) -> bool {
        matches!(self.search, Search::Auto | Search::BreadthFirst)
            && matches!(Reduction::of(self, settings.partial_order), Reduction::Auto | Reduction::None)
            && self.store == StoreKind::Exact
            && matches!(self.symmetry, SymmetryReduction::Auto | SymmetryReduction::None)
    }

    /// Why the options for stores do not go together.
    fn store_refusal(&self) -> Option<&'static str> {
        let is_cache = matches!(self.store, StoreKind::Exact | StoreKind::Cache);
        let has_bits = self.hash_bits.is_some() || self.hash_functions.is_some();
        match self.store {
            StoreKind::Disk if self.search == Search::DepthFirst => {
                Some("`--store disk` searches breadth first: it looks up many states together")
            }
            _ if self.cache.is_some() && !is_cache => Some("`--cache` is a store of its own: `--store cache`"),
            StoreKind::Cache if self.cache.is_none() => {
                Some("`--store cache` needs `--cache N`: how many states it keeps")
            }
            store if has_bits && store != StoreKind::BitState => {
                Some("`--hash-bits` and `--hash-functions` are for `--store bitstate`")
            }
            store if self.signature_bits.is_some() && store != StoreKind::Compact => {
                Some("`--signature-bits` is for `--store compact`")
            }
            _ => None,
        }
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

    /// The same for a search that is not saved.
    pub fn without_checkpoint(&self) -> Options {
        Options { explicit: self.explicit, settings: Settings { checkpoint: None, ..self.settings.clone() } }
    }

    /// The same with the exact store.
    pub fn exactly(&self) -> Options {
        Options { explicit: Explicit { store: StoreKind::Exact, ..self.explicit }, settings: self.settings.clone() }
    }

    /// The same with another store.
    pub fn storing(&self, store: StoreKind) -> Options {
        Options { explicit: Explicit { store, ..self.explicit }, settings: self.settings.clone() }
    }

    /// The same with another use of symmetry.
    pub fn with_symmetry(&self, symmetry: SymmetryReduction) -> Options {
        Options { explicit: Explicit { symmetry, ..self.explicit }, settings: self.settings.clone() }
    }

    /// What may be left out.
    pub fn reduction(&self) -> Reduction {
        Reduction::of(&self.explicit, self.settings.partial_order)
    }
}
