//! Checking: properties in, a [`Report`] out, whichever engine does the work.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ample_budget::Budget;
use ample_engine::board::Board;
use ample_engine::engine::Task;
use ample_engine::justice;
use ample_engine::portfolio::{self, Joins, Later, Member};
use ample_engine::report::{Answer, Report};
use ample_engine::settings::{Fairness, Settings};
use ample_explicit::engine::options::{Emptiness, Options as ExplicitOptions, Search};
use ample_explicit::engine::reduction::PartialOrder;
use ample_explicit::engine::work::Explicit;
use ample_model::{Expr, Interrupted, Observer, Outcome, Property, Question, Reason, Role, System};
use ample_petri::engine::{Petri, Workers};
use ample_sog::engine::Sog;
use ample_symbolic::engine::{self as symbolic, Symbolic};

use crate::vacuity;

/// Which engine checks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// Whoever suits the model.
    #[default]
    Auto,
    /// Explicit-state search.
    Explicit,
    /// Decision diagrams.
    Symbolic,
    /// Symbolic observation graphs: LTL without X.
    Sog,
}

/// What to check, and how.
#[derive(Clone, Debug, Default)]
pub struct CheckOptions {
    /// Which engine checks.
    pub engine: Engine,
    /// What to check; `None` is [all that the model states](stated).
    pub properties: Option<Vec<Property>>,
    /// The order of the search.
    pub search: Search,
    /// Which orders of independent steps are left out.
    pub partial_order: PartialOrder,
    /// Which runs count for temporal properties.
    pub fairness: Fairness,
    /// Only runs on which each of these holds again and again count for temporal properties.
    pub justice: Vec<Expr>,
    /// How endless runs are found.
    pub emptiness: Emptiness,
    /// States that many steps from the start are not expanded.
    pub max_depth: Option<u64>,
    /// The time that there is for all properties together: their searches share it, so that none has to wait for one
    /// that does not end. Who ends them is the [`Observer`].
    pub time: Option<Duration>,
    /// How many searches may be under way at once: as many as there are cores if nobody says.
    pub threads: Option<usize>,
    /// Bytes that the search may take. An [`Observer`] can watch over the rest of the process.
    pub memory_limit: Option<u64>,
    /// What all phases may take, those before and after the searches included.
    pub budget: Budget,
    /// Where answers are posted as soon as they are known.
    pub board: Option<Arc<Board>>,
    /// End at the first violation, whatever it is of.
    pub stop_at_first: bool,
    /// It is not asked whether what holds does so [vacuously](Answer::warnings).
    pub no_vacuity: bool,
    /// How the symbolic engine works.
    pub symbolic: Symbolic,
    /// On a net, ways that are tried in turn get so long at first; a moment if nobody says.
    pub first_turn: Option<Duration>,
}

impl CheckOptions {
    /// What all engines are told.
    pub(crate) fn settings(&self) -> Settings {
        Settings {
            fairness: self.fairness,
            justice: self.justice.clone(),
            max_depth: self.max_depth,
            time: self.time,
            threads: self.threads,
            memory_limit: self.memory_limit,
            budget: self.budget.clone(),
            board: self.board.clone(),
            stop_at_first: self.stop_at_first,
        }
    }

    /// What the explicit engine is told.
    pub(crate) fn explicit(&self) -> ExplicitOptions {
        let CheckOptions { search, partial_order, emptiness, .. } = *self;
        ExplicitOptions { settings: self.settings(), search, partial_order, emptiness }
    }

    /// What the symbolic engine is told.
    pub(crate) fn symbolic(&self) -> symbolic::Options {
        symbolic::Options { settings: self.settings(), symbolic: self.symbolic }
    }
}

/// All that a model states: its assertions, the absence of deadlocks, and the properties in its text.
pub fn stated(system: &System) -> Vec<Property> {
    let mut properties = vec![Property::assertions(), Property::deadlock()];
    let locations = || {
        let processes = system.processes.iter().filter(|process| process.role == Role::Process);
        processes.flat_map(|process| &process.locations)
    };
    // With a never claim, these labels mean what the claim makes of them.
    let claimed = system.properties.iter().any(|property| matches!(property.question, Question::Never(_)));
    if locations().any(|location| location.accept) && !claimed {
        properties.push(Property::acceptance());
    }
    if locations().any(|location| location.progress) {
        properties.push(Property::progress());
    }
    properties.extend(system.properties.iter().cloned());
    properties
}

/// Checks a model. The observer is told of the progress, and may end the search.
///
/// ```
/// use ample::{CheckOptions, Silent, Verdict};
///
/// let model = ample::load_text("m.pml", "active proctype P() { assert(1 + 1 == 3) }".into(), &Default::default())?;
/// let report = ample::check(&model.system, &CheckOptions::default(), &mut Silent);
/// assert_eq!(report.answer("assertions").unwrap().verdict(), Verdict::Violated);
/// assert_eq!(report.answer("deadlock").unwrap().verdict(), Verdict::Holds);
/// # Ok::<(), ample::LoadError>(())
/// ```
pub fn check(system: &System, options: &CheckOptions, observer: &mut dyn Observer) -> Report {
    let begun = Instant::now();
    let properties = options.properties.clone().unwrap_or_else(|| stated(system));
    if let Some(board) = &options.board {
        board.open(&properties);
    }
    let mut report = if options.justice.is_empty() {
        check_all(system, &properties, options, observer)
    } else {
        let just = justice::under(&properties, &options.justice);
        let mut report = check_all(system, &just, options, observer);
        justice::tell(&mut report, &properties);
        report
    };
    vacuity::warn(&mut report, system, &properties, options, begun.elapsed(), observer);
    report
}

/// Checks properties with the engines that are asked for, or that suit.
pub(crate) fn check_all(
    system: &System,
    properties: &[Property],
    options: &CheckOptions,
    observer: &mut dyn Observer,
) -> Report {
    let settings = options.settings();
    let task = Task { system, properties, settings: &settings };
    match Engines::of(&task, options) {
        Ok(engines) => portfolio::check(&engines.members(&task, options), &task, observer),
        Err(interrupted) => not_begun(system, properties, &interrupted.into()),
    }
}

/// The engines that are registered, with their options.
struct Engines {
    explicit: Explicit,
    symbolic: Symbolic,
    sog: Sog,
    /// If the model is a net.
    petri: Option<Petri>,
}

/// When the symbolic engine joins the explicit one.
const SYMBOLIC: Later =
    Later { after: Duration::from_millis(1500), patience: Duration::from_millis(6000), memory_share: 4, time_share: 4 };
/// When observation graphs join the engine for nets.
const SOG: Later =
    Later { after: Duration::from_millis(300), patience: Duration::ZERO, memory_share: 5, time_share: 2 };

impl Engines {
    fn of(task: &Task<'_>, options: &CheckOptions) -> Result<Engines, Interrupted> {
        let CheckOptions { search, partial_order, emptiness, .. } = *options;
        // What is made for nets takes no automata: the search for all models does.
        let by_automata = options.engine != Engine::Symbolic && task.properties.iter().any(is_automaton);
        let is_general = options.engine == Engine::Sog || by_automata;
        let petri = if is_general { None } else { Petri::of(task.system, task.settings)? };
        let petri = petri.map(|petri| Petri {
            workers: match options.engine {
                Engine::Explicit => Workers::Explicit,
                Engine::Symbolic => Workers::Symbolic,
                Engine::Auto | Engine::Sog => Workers::All,
            },
            reduces: partial_order != PartialOrder::None,
            symbolic: options.symbolic,
            first_turn: options.first_turn,
            ..petri
        });
        let explicit = Explicit { search, partial_order, emptiness };
        // What is said of the symbolic engine alone is not for the portfolio.
        let symbolic = if options.engine == Engine::Symbolic { options.symbolic } else { Symbolic::default() };
        Ok(Engines { explicit, symbolic, sog: Sog, petri })
    }

    /// Who works at a task: the policy of `--engine auto`, and a portfolio of one for every other choice.
    fn members(&self, task: &Task<'_>, options: &CheckOptions) -> Vec<Member<'_>> {
        let lead = |engine| Member { engine, joins: Joins::AtOnce };
        let later = |engine, how| Member { engine, joins: Joins::Later(how) };
        match (&self.petri, options.engine) {
            (_, Engine::Sog) => vec![lead(&self.sog)],
            (Some(petri), Engine::Auto) if self.serves(&self.sog, task) && options.threads != Some(1) => {
                vec![lead(petri), later(&self.sog, SOG)]
            }
            (Some(petri), _) => vec![lead(petri)],
            (None, Engine::Symbolic) => vec![lead(&self.symbolic)],
            (None, Engine::Auto) if is_open(options) => vec![lead(&self.explicit), later(&self.symbolic, SYMBOLIC)],
            (None, _) => vec![lead(&self.explicit)],
        }
    }

    /// The engine can answer one of the properties at least.
    fn serves(&self, engine: &dyn ample_engine::engine::Engine, task: &Task<'_>) -> bool {
        (0..task.properties.len()).any(|number| engine.suits(task, number).is_ok())
    }
}

/// Whether the choice of an engine is ours: nothing was said that only one of them understands.
fn is_open(options: &CheckOptions) -> bool {
    options.search == Search::Auto
        && options.partial_order == PartialOrder::Auto
        && options.emptiness == Emptiness::Auto
        && options.max_depth.is_none()
        && !options.stop_at_first
        && options.threads != Some(1)
}

fn is_automaton(property: &Property) -> bool {
    matches!(property.question, Question::Automaton(_))
}

/// Nothing was looked at.
fn not_begun(system: &System, properties: &[Property], reason: &Reason) -> Report {
    let unknown = |property: &Property| Answer::to(property, "explicit", Outcome::Unknown(reason.clone()));
    Report::unfinished(system, properties.iter().map(unknown).collect(), reason.clone())
}

/// Builds the whole state space and counts it; nothing is checked.
///
/// ```
/// use ample::{CheckOptions, Silent};
///
/// let text = "byte x; active [2] proctype P() { x++ }";
/// let model = ample::load_text("m.pml", text.into(), &Default::default())?;
/// let report = ample::states(&model.system, &CheckOptions::default(), &mut Silent);
/// assert!(report.ended.is_none());
/// assert_eq!(report.statistics.states, 7);
/// # Ok::<(), ample::LoadError>(())
/// ```
pub fn states(system: &System, options: &CheckOptions, observer: &mut dyn Observer) -> Report {
    let settings = options.settings();
    let task = Task { system, properties: &[], settings: &settings };
    match Engines::of(&task, options) {
        Ok(engines) => portfolio::count(&engines.members(&task, options), &task, observer),
        Err(interrupted) => not_begun(system, &[], &interrupted.into()),
    }
}
