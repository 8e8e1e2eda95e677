//! All ways to leave something out.

use std::fmt;

use ample::{Algorithm, Explicit, PartialOrder, Proviso, Replacement, Search};
use ample_explicit::engine::reduction::{Cache, Methods, Reduction};

const ALGORITHMS: [Algorithm; 5] =
    [Algorithm::Guards, Algorithm::Conflicting, Algorithm::Overman, Algorithm::Stubborn, Algorithm::Conditional];

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    All,
    Deadlock,
    Assertions,
    Invariant,
}

/// One way to answer.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    pub partial_order: PartialOrder,
    pub explicit: Explicit,
    pub asked: Asked,
}

impl Setting {
    pub fn new(partial_order: PartialOrder, search: Search) -> Setting {
        Setting { partial_order, explicit: Explicit { search, ..Explicit::default() }, asked: Asked::All }
    }

    /// The options that come to these methods.
    pub fn by(methods: Methods, search: Search) -> Setting {
        let partial_order = match (methods.persistent, methods.sleep) {
            (Some(_), true) => PartialOrder::PersistentSleep,
            (Some(_), false) => PartialOrder::Persistent,
            (None, true) => PartialOrder::Sleep,
            (None, false) => PartialOrder::None,
        };
        let explicit = Explicit {
            search,
            algorithm: methods.persistent.unwrap_or_default(),
            proviso: methods.proviso,
            cache: methods.cache.map(|cache| cache.states),
            cache_policy: methods.cache.map_or_else(Replacement::default, |cache| cache.replacement),
            ..Explicit::default()
        };
        assert_eq!(Reduction::of(&explicit, partial_order), Reduction::By(methods));
        Setting { partial_order, explicit, asked: Asked::All }
    }

    fn reduction(&self) -> Reduction {
        Reduction::of(&self.explicit, self.partial_order)
    }

    fn asking(self, asked: Asked) -> Setting {
        Setting { asked, ..self }
    }

    /// Only deadlocks are decided.
    pub fn ignores(&self) -> bool {
        matches!(self.reduction(), Reduction::By(Methods { persistent: Some(_), proviso: Proviso::None, .. }))
    }

    /// It may run out of states.
    pub fn is_cached(&self) -> bool {
        matches!(self.reduction(), Reduction::By(Methods { cache: Some(_), .. }))
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reduction() {
            Reduction::By(methods) => write!(f, "{methods} ({:?})", methods.proviso)?,
            other => write!(f, "{other:?}")?,
        }
        write!(f, ", {:?}, asked for {:?}", self.explicit.search, self.asked)
    }
}

/// All of them.
pub fn all() -> Vec<Setting> {
    let mut settings = Vec::new();
    for search in [Search::Auto, Search::BreadthFirst, Search::DepthFirst] {
        for asked in [Asked::All, Asked::Deadlock, Asked::Assertions, Asked::Invariant] {
            settings.push(Setting::new(PartialOrder::Auto, search).asking(asked));
            settings.push(Setting::new(PartialOrder::TwoPhase, search).asking(asked));
        }
    }
    let sleep = Methods { sleep: true, ..Methods::default() };
    settings.push(Setting::by(sleep, Search::Auto));
    settings.push(Setting::by(sleep, Search::DepthFirst).asking(Asked::Deadlock));
    for algorithm in ALGORITHMS {
        let persistent = Methods { persistent: Some(algorithm), ..Methods::default() };
        let provisos = [
            (Proviso::Auto, Search::Auto),
            (Proviso::Auto, Search::BreadthFirst),
            (Proviso::Stack, Search::DepthFirst),
            (Proviso::Components, Search::DepthFirst),
            (Proviso::Queue, Search::BreadthFirst),
            (Proviso::None, Search::DepthFirst),
        ];
        for (proviso, search) in provisos {
            settings.push(Setting::by(Methods { proviso, ..persistent }, search));
        }
        let both = Methods { sleep: true, ..persistent };
        settings.push(Setting::by(both, Search::DepthFirst));
        for asked in [Asked::Deadlock, Asked::Assertions, Asked::Invariant] {
            settings.push(Setting::by(persistent, Search::DepthFirst).asking(asked));
            settings.push(Setting::by(both, Search::DepthFirst).asking(asked));
        }
        settings.push(Setting::by(persistent, Search::BreadthFirst).asking(Asked::Deadlock));
        settings.push(Setting::by(persistent, Search::BreadthFirst).asking(Asked::Assertions));
    }
    settings.extend(cached());
    settings
}

/// With small caches.
fn cached() -> Vec<Setting> {
    let persistent = Some(Algorithm::Guards);
    let reductions = [
        Methods::default(),
        Methods { persistent, ..Methods::default() },
        Methods { sleep: true, ..Methods::default() },
        Methods { persistent, sleep: true, ..Methods::default() },
    ];
    let caches = [
        Cache { states: 12, replacement: Replacement::Oldest },
        Cache { states: 25, replacement: Replacement::Cheapest },
        Cache { states: 40, replacement: Replacement::Random },
        Cache { states: 150, replacement: Replacement::LeastVisited },
    ];
    let mut settings = Vec::new();
    for methods in reductions {
        for cache in caches {
            settings.push(Setting::by(Methods { cache: Some(cache), ..methods }, Search::DepthFirst));
        }
    }
    settings
}
