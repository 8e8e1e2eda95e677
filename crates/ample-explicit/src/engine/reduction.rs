//! Which orders of independent steps a search may leave out, as a user says it.

use std::fmt;

pub use crate::partial::{Cache, Replacement};

/// Partial-order reduction: of the orders of steps that do not disturb each other, one may stand for all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PartialOrder {
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

impl PartialOrder {
    /// How persistent sets are computed, if they are.
    pub fn algorithm(&self) -> Algorithm {
        match self {
            PartialOrder::By(methods) => methods.persistent.unwrap_or_default(),
            PartialOrder::Auto | PartialOrder::None | PartialOrder::TwoPhase => Algorithm::default(),
        }
    }
}

/// The methods of partial-order reduction, to be combined (spec 001 §3.2).
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
}

/// How persistent sets are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// Stubborn sets by guards: necessary enabling sets chosen in each state.
    #[default]
    Guards,
    /// Algorithm 1 of the thesis: conflicting transitions.
    Conflicting,
    /// Algorithm 2: Overman's.
    Overman,
    /// Algorithm 3: stubborn sets.
    Stubborn,
    /// Algorithm 4: conditional stubborn sets.
    Conditional,
}

/// How it is made sure that no transition is ignored for ever (the ignoring problem).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Proviso {
    /// In the way that suits the search, if the property needs it.
    #[default]
    Auto,
    /// It is not; then only deadlocks are decided.
    None,
    /// Something leads off the stack of the depth-first search, or all is taken.
    Stack,
    /// All that is enabled is taken somewhere in each terminal component.
    Components,
    /// Something leads to a state that is not yet expanded, or all is taken: for breadth-first search.
    Queue,
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Algorithm::Guards => "stubborn sets by guards",
            Algorithm::Conflicting => "persistent sets of conflicting transitions",
            Algorithm::Overman => "persistent sets by Overman's algorithm",
            Algorithm::Stubborn => "stubborn sets",
            Algorithm::Conditional => "conditional stubborn sets",
        })
    }
}

impl fmt::Display for Methods {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.persistent, self.sleep) {
            (Some(algorithm), false) => write!(f, "{algorithm}")?,
            (Some(algorithm), true) => write!(f, "{algorithm}, sleep sets")?,
            (None, true) => f.write_str("sleep sets")?,
            (None, false) => f.write_str("none")?,
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
