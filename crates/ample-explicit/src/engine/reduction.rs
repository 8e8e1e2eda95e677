//! Which orders of independent steps a search may leave out: the methods that the options come to.

use std::fmt;

use ample_engine::settings::PartialOrder;
use clap::ValueEnum;

use super::options::Explicit;
pub use crate::compile::{Algorithm, Dependency};
pub use crate::partial::{Cache, Replacement};

/// Partial-order reduction, as the explicit engine does it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reduction {
    /// As much as keeps every answer: stubborn sets, with a proviso where the property needs one; none where it would
    /// not be sound, which is said then.
    #[default]
    Auto,
    /// All orders.
    None,
    /// These methods.
    By(Methods),
    /// Two-Phase: steps that nobody can disturb and nobody sees are taken at once, and all orders of the others. Keeps
    /// what CTL* without X can say.
    TwoPhase,
}

impl Reduction {
    /// What the options come to. Naming an algorithm, a proviso or a cache is naming persistent sets, and with a cache,
    /// which is of use where states are not visited often, sleep sets as well.
    pub fn of(explicit: &Explicit, asked: PartialOrder) -> Reduction {
        let Explicit { algorithm, proviso, dependency, .. } = *explicit;
        let cache = explicit.cache.map(|states| Cache { states, replacement: explicit.cache_policy });
        let is_named = algorithm != Algorithm::default() || proviso != Proviso::default();
        let dependency = dependency.unwrap_or_default();
        let (persistent, sleep) = match asked {
            PartialOrder::Auto if cache.is_some() => {
                (true, matches!(proviso, Proviso::Auto | Proviso::None | Proviso::Stack))
            }
            PartialOrder::Auto if is_named => (true, false),
            PartialOrder::Auto => return Reduction::Auto,
            PartialOrder::None if cache.is_some() => (false, false),
            PartialOrder::Persistent => (true, false),
            PartialOrder::Sleep => (false, true),
            PartialOrder::PersistentSleep => (true, true),
            PartialOrder::TwoPhase => return Reduction::TwoPhase,
            PartialOrder::None
            | PartialOrder::Exploration
            | PartialOrder::ExplorationNew
            | PartialOrder::ExplorationUnexpanded
            | PartialOrder::Improviso
            | PartialOrder::Areduce
            | PartialOrder::Static => return Reduction::None,
        };
        Reduction::By(Methods { persistent: persistent.then_some(algorithm), sleep, proviso, cache, dependency })
    }

    /// How persistent sets are computed, if they are.
    pub fn algorithm(&self) -> Algorithm {
        match self {
            Reduction::By(methods) => methods.persistent.unwrap_or_default(),
            Reduction::Auto | Reduction::None | Reduction::TwoPhase => Algorithm::default(),
        }
    }
}

/// The methods of partial-order reduction, to be combined (P. Godefroid's thesis, chapters 4 to 6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Methods {
    /// Take a persistent set of the enabled transitions in each state, computed like that.
    pub persistent: Option<Algorithm>,
    /// Keep sleep sets.
    pub sleep: bool,
    /// What is done so that no transition is ignored for ever (the ignoring problem).
    pub proviso: Proviso,
    /// Keep at most so many states.
    pub cache: Option<Cache>,
    /// Which transitions count as dependent, for the algorithms of the thesis.
    pub dependency: Dependency,
}

/// How it is made sure that no transition is ignored for ever (the ignoring problem).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Proviso {
    /// The one that suits the search, if the property needs one.
    #[default]
    Auto,
    /// None: only deadlocks are decided.
    None,
    /// Some chosen transition leads off the stack, or all enabled ones are taken: depth first.
    Stack,
    /// All enabled transitions are taken somewhere in every bottom strongly connected component.
    #[value(alias = "scc")]
    Components,
    /// Some chosen transition leads to a state that is still to be expanded, or all enabled ones are taken: breadth first.
    Queue,
}

impl fmt::Display for Methods {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.persistent, self.sleep) {
            (Some(algorithm), false) => write!(f, "{algorithm}")?,
            (Some(algorithm), true) => write!(f, "{algorithm}, sleep sets")?,
            (None, true) => f.write_str("sleep sets")?,
            (None, false) => f.write_str("none")?,
        }
        if self.dependency != Dependency::default() {
            write!(f, ", {}", self.dependency)?;
        }
        f.write_str(match self.proviso {
            Proviso::Auto | Proviso::None => "",
            Proviso::Stack => ", proviso on the stack",
            Proviso::Components => ", proviso on components",
            Proviso::Queue => ", proviso on the queue",
        })?;
        match self.cache {
            Some(cache) => write!(f, ", a cache of {} states", cache.states),
            None => Ok(()),
        }
    }
}
