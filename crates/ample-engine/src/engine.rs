//! What an engine is.

use ample_model::{Observer, Property, System};

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

impl<'a> Task<'a> {
    /// The same with other settings, for an engine that gets a part of the resources.
    pub fn with<'b>(&self, settings: &'b Settings) -> Task<'b>
    where
        'a: 'b,
    {
        Task { settings, ..*self }
    }
}

/// Answers questions about models.
///
/// An engine posts each answer on the board of its [`Settings`] as soon as it is known and its evidence has been
/// [validated](crate::evidence), and leaves alone what another engine has answered. A property that is not for it is
/// answered by the sentence that [`suits`](Engine::suits) gives, never by another engine in its place.
pub trait Engine: Sync {
    /// Its name, as in `--engine NAME`.
    fn name(&self) -> &'static str;

    /// Whether it can answer the property of that number, or else why not, and what would work.
    fn suits(&self, task: &Task<'_>, number: usize) -> Result<(), String>;

    /// Answers the properties.
    fn check(&self, task: &Task<'_>, observer: &mut dyn Observer) -> Report;

    /// Counts the reachable states.
    fn count(&self, task: &Task<'_>, observer: &mut dyn Observer) -> Report;
}
