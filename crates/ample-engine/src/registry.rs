//! The table of engines: an entry for each, and the policy that says which of them work on a task.
//!
//! An engine's crate owns its options, a group of `clap` arguments, and says of them what nobody else could: whether one
//! was given that only this engine understands, and whether they can be combined. So an entry is all that the command
//! and the library know of an engine.

use std::cmp::Reverse;

use ample_budget::{Budget, Interrupted};
use ample_model::Reason;

use crate::engine::{Engine, Fit, Task, knows};
use crate::portfolio::{Joins, Later, Member};
use crate::settings::Settings;

/// Which engine checks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// Those that suit the model: a portfolio.
    #[default]
    Auto,
    /// The one of that name.
    Named(&'static str),
}

impl Choice {
    /// `--engine auto`.
    pub const AUTO: &'static str = "auto";

    /// As it is written on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Choice::Auto => Choice::AUTO,
            Choice::Named(name) => name,
        }
    }
}

/// The options of an engine.
pub trait Options {
    /// An option that was given and that only this engine understands, as on the command line.
    fn given(&self, settings: &Settings) -> Option<String>;

    /// Why the options cannot be combined, with each other or with what is asked, and what would work.
    fn refusal(&self, choice: Choice, asked: Asked, settings: &Settings) -> Option<String> {
        let _ = (choice, asked, settings);
        None
    }
}

/// Why an engine does not work on a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It could not be found out in time.
    Interrupted(Interrupted),
    /// The engine is not for this model, or there is none of that name.
    Unsuitable(String),
}

impl From<Interrupted> for Refusal {
    fn from(interrupted: Interrupted) -> Refusal {
        Refusal::Interrupted(interrupted)
    }
}

impl From<Refusal> for Reason {
    fn from(refusal: Refusal) -> Reason {
        match refusal {
            Refusal::Interrupted(interrupted) => interrupted.into(),
            Refusal::Unsuitable(why) => Reason::Unsupported(why),
        }
    }
}

/// Makes an engine for a task, with the options of all engines, under the name that was chosen and within a budget.
pub type Make<O> = fn(&O, &Task<'_>, Choice, &Budget) -> Result<Box<dyn Engine>, Refusal>;

/// An engine in the table; `O` has the options of all engines.
pub struct Entry<O: 'static> {
    /// As in `--engine NAME`.
    pub name: &'static str,
    /// What it is, for the help text.
    pub about: &'static str,
    /// For models that it takes, it is also the engine of these names.
    pub stands_for: &'static [&'static str],
    /// With `--engine auto` it is the first to work on such a task, if no engine before it in the table is and takes it.
    pub leads: fn(&Task<'_>) -> bool,
    /// The engines that it joins with `--engine auto`, and how.
    pub joins: &'static [(&'static str, Later)],
    /// Its options.
    pub options: fn(&O) -> &dyn Options,
    /// The engine for a task, under one of its names.
    pub engine: Make<O>,
}

impl<O> Entry<O> {
    fn serves(&self, choice: Choice) -> bool {
        match choice {
            Choice::Auto => true,
            Choice::Named(name) => self.name == name || self.stands_for.contains(&name),
        }
    }
}

/// What is asked of the engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Answers to the properties.
    Answers,
    /// The number of states.
    Count,
}

/// The engine that the options leave: an option that only one engine understands is a choice of that engine. Options
/// that contradict each other, the choice or what is asked are refused with a sentence.
pub fn choose<O>(
    entries: &[Entry<O>],
    options: &O,
    settings: &Settings,
    choice: Choice,
    asked: Asked,
) -> Result<Choice, String> {
    let given: Vec<(&'static str, String)> = entries
        .iter()
        .filter_map(|entry| (entry.options)(options).given(settings).map(|option| (entry.name, option)))
        .collect();
    let chosen = match (choice, given.as_slice()) {
        (Choice::Named(name), _) if !entries.iter().any(|entry| entry.name == name) => {
            let names: Vec<&str> = entries.iter().map(|entry| entry.name).collect();
            return Err(format!("there is no engine `{name}`, but {}", names.join(", ")));
        }
        (Choice::Named(name), given) => match given.iter().find(|(other, _)| *other != name) {
            Some((other, option)) => {
                return Err(format!("`{option}` is for the {other} engine: `--engine {other}`"));
            }
            None => choice,
        },
        (Choice::Auto, []) => choice,
        (Choice::Auto, [(name, _)]) => Choice::Named(name),
        (Choice::Auto, [(one, first), (other, second), ..]) => {
            return Err(format!("`{first}` is for the {one} engine, and `{second}` for the {other} engine"));
        }
    };
    let refusal = entries.iter().find_map(|entry| (entry.options)(options).refusal(chosen, asked, settings));
    refusal.map_or(Ok(chosen), Err)
}

/// The engines that work on a task.
pub struct Team(Vec<(Box<dyn Engine>, Joins)>);

impl Team {
    /// The engine of that choice alone; with [`Choice::Auto`] the first one that takes the model, and those that join it
    /// and have something to answer, the one that it suits best first. The choice is one that [`choose`] has made.
    pub fn of<O>(
        entries: &[Entry<O>],
        options: &O,
        task: &Task<'_>,
        choice: Choice,
        asked: Asked,
        budget: &Budget,
    ) -> Result<Team, Refusal> {
        let mut refusal = Refusal::Unsuitable(format!("there is no engine `{}`", choice.name()));
        let mut candidates = entries.iter().filter(|entry| entry.serves(choice));
        let lead = loop {
            let Some(entry) = candidates.next() else { return Err(refusal) };
            if choice == Choice::Auto && !(entry.leads)(task) {
                continue;
            }
            match (entry.engine)(options, task, choice, budget) {
                Ok(engine) => break engine,
                Err(Refusal::Interrupted(interrupted)) => return Err(interrupted.into()),
                Err(unsuitable) => refusal = unsuitable,
            }
        };
        let mut team = vec![];
        if choice == Choice::Auto && task.settings.allow_portfolio() && budget.thread_limit() != Some(1) {
            let joining = entries.iter().filter_map(|entry| {
                let (_, later) = entry.joins.iter().find(|(whom, _)| *whom == lead.name())?;
                let engine = (entry.engine)(options, task, choice, budget).ok()?;
                Some((fit(&*engine, task, asked)?, engine, Joins::Later(*later)))
            });
            let mut joining: Vec<_> = joining.collect();
            // Where cores are short, those that come later in the portfolio wait for one.
            joining.sort_by_key(|(fit, ..)| Reverse(*fit));
            team.extend(joining.into_iter().map(|(_, engine, joins)| (engine, joins)));
        }
        team.insert(0, (lead, Joins::AtOnce));
        Ok(Team(team))
    }

    /// For a portfolio.
    pub fn members(&self) -> Vec<Member<'_>> {
        self.0.iter().map(|(engine, joins)| Member { engine: &**engine, joins: *joins }).collect()
    }
}

/// How well the property that suits the engine best suits it, or counting states; `None` if there is nothing for it.
fn fit(engine: &dyn Engine, task: &Task<'_>, asked: Asked) -> Option<Fit> {
    knows(engine, task.system).ok()?;
    match asked {
        Asked::Answers => (0..task.properties.len()).filter_map(|number| engine.suits(task, number).ok()).max(),
        Asked::Count => engine.counts().ok().map(|()| Fit::Well),
    }
}
