//! What an engine is.

use ample_budget::Budget;
use ample_model::{Feature, Property, System};

use crate::board::Board;
use crate::report::Report;
use crate::settings::Settings;

/// What an engine is asked about.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// The model.
    pub system: &'a System,
    /// The properties, which have the numbers that their answers are posted under.
    pub properties: &'a [Property],
    /// What all engines are told.
    pub settings: &'a Settings,
}

/// Whether an engine knows all that a system has; or else the sentence that says what it does not know.
pub fn knows(engine: &dyn Engine, system: &System) -> Result<(), String> {
    let Some(feature) = system.features().into_iter().find(|feature| !engine.features().contains(feature)) else {
        return Ok(());
    };
    let who = if EXPLICIT.contains(&feature) { "`--engine explicit`" } else { "`ample simulate`" };
    Err(format!("the {} engine does not know {feature}; {who} does", engine.name()))
}

/// What the explicit engine knows of what not every engine knows: others name it instead of themselves.
pub const EXPLICIT: &[Feature] = &[Feature::Synchronous, Feature::Heap];

/// Whether a property is for an engine: how well it suits the engine, or else the sentence that says why it does not, and
/// what would work.
pub type Suits = Result<Fit, String>;

/// How well a property of a model suits an engine. The policy of `--engine auto` asks for it where there are fewer cores
/// than engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    /// It can answer it, as others can.
    Possible,
    /// Its method is one of the usual ones for this.
    Well,
    /// It is made for this.
    Made,
}

/// Answers questions about models.
///
/// An engine posts each answer on the board as soon as it is known and its evidence has been
/// [validated](crate::evidence), and leaves alone what another engine has answered. In every loop that can last it asks
/// its budget, which also hears of its progress. A property that is not for it is
/// answered by the sentence that [`suits`](Engine::suits) gives, never by another engine in its place.
pub trait Engine: Sync {
    /// Its name, as in `--engine NAME`.
    fn name(&self) -> &'static str;

    /// What it knows of what not every engine knows.
    fn features(&self) -> &'static [Feature] {
        &[]
    }

    /// Whether it can answer the property of that number, and how well that suits it; or else why not, and what would
    /// work.
    fn suits(&self, task: &Task<'_>, number: usize) -> Suits;

    /// How many threads it uses on a task, of those that the budget allows.
    fn threads(&self, task: &Task<'_>, budget: &Budget) -> usize {
        let _ = (task, budget);
        1
    }

    /// Answers the properties.
    fn check(&self, task: &Task<'_>, board: &Board, budget: &Budget) -> Report;

    /// Whether it can count states, or else why not, and what would work.
    fn counts(&self) -> Result<(), String> {
        Ok(())
    }

    /// Counts the reachable states.
    fn count(&self, task: &Task<'_>, budget: &Budget) -> Report;
}
