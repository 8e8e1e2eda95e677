//! How the explicit engine searches.

use ample_engine::settings::Settings;

use super::reduction::PartialOrder;

/// The order in which states are visited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Search {
    /// Breadth first up to about a million states or a quarter of the memory; after that again from the
    /// start depth first, which finds the deep violations of large models.
    #[default]
    Auto,
    /// Breadth first: counterexamples are as short as can be.
    BreadthFirst,
    /// Depth first: less memory per state.
    DepthFirst,
}

/// How to look for an endless run that violates a property.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Emptiness {
    /// The one that suits the property.
    #[default]
    Auto,
    /// By strongly connected components, in one pass, for any acceptance and fairness.
    Components,
    /// By nested depth-first search, with two bits for each state; without fairness only.
    Nested,
}

/// How the explicit engine searches, and what it is told like all others.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What all engines are told.
    pub settings: Settings,
    /// The order of the search.
    pub search: Search,
    /// Which orders of independent steps are left out.
    pub partial_order: PartialOrder,
    /// How endless runs are found.
    pub emptiness: Emptiness,
}
