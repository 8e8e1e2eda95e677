//! How nets are checked: the options of the engine, as they are given on the command line and in the library.

use std::time::Duration;

use clap::{Args, ValueEnum};

use ample_engine::registry::{self, Asked, Choice};
use ample_engine::settings::Settings;

/// How Petri nets are checked.
#[derive(Args, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[command(next_help_heading = "Petri nets")]
#[group(skip)]
pub struct PetriOptions {
    /// Which diagrams hold the markings (with `--engine symbolic`)
    #[arg(long, value_enum, value_name = "WHICH", default_value_t)]
    pub diagrams: DiagramKind,
    /// Methods that are tried one after the other get so long at first; a moment if nobody says.
    #[arg(skip)]
    pub first_slice: Option<Duration>,
}

/// Which diagrams hold the markings of a Petri net. Other models have binary ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum DiagramKind {
    /// List decision diagrams, a level for each place.
    #[default]
    Lists,
    /// Binary decision diagrams, a variable for places that share one token.
    Binary,
}

impl registry::Options for PetriOptions {
    /// What a model is does not depend on options: none of them is a choice of this engine.
    fn given(&self, _: &Settings) -> Option<String> {
        None
    }

    fn refusal(&self, choice: Choice, _: Asked, _: &Settings) -> Option<String> {
        let is_refused = self.diagrams == DiagramKind::Binary && choice != Choice::Named("symbolic");
        is_refused.then(|| "`--diagrams binary` is for the symbolic engine: `--engine symbolic`".to_owned())
    }
}
