//! Checking: properties in, a [`Report`] out, whichever engine does the work.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::sync::Arc;
use std::time::Instant;

use ample_bounded::engine::Method as SatMethod;
use ample_budget::Budget;
use ample_cluster::Cluster;
use ample_engine::board::Board;
use ample_engine::engine::{Engine, Task, knows};
use ample_engine::evidence::is_unexpanded;
use ample_engine::justice;
use ample_engine::portfolio::{self, Joins, Member};
use ample_engine::registry::{self, Asked, Choice, Team};
use ample_engine::report::{Answer, Report};
use ample_engine::settings::{Checkpoint, Fairness, PartialOrder, Settings, UnreachedCode};
use ample_explicit::checkpoint::{CheckpointError, verify};
use ample_explicit::engine::distributed::{self, Distributed};
use ample_explicit::engine::options::{Explicit, Options as ExplicitOptions, Search};
use ample_model::{Expr, Outcome, Property, Question, Reason, Role, System};

use crate::engines::{ENGINES, EngineOptions};
use crate::groups;
use crate::load::language_of;
use crate::reductions::{self, StaticReduction};
use crate::runs;
use crate::vacuity;

/// A number that stands for a text.
struct Fingerprint(u64);

impl fmt::Write for Fingerprint {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            // The hash of Fowler, Noll and Vo.
            self.0 = (self.0 ^ u64::from(byte)).wrapping_add(0xcbf2_9ce4_8422_2325).wrapping_mul(0x0100_0000_01b3);
        }
        Ok(())
    }
}

/// What to check, and how.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// Which engine checks.
    pub engine: Choice,
    /// How the engines work.
    pub engines: EngineOptions,
    /// What to check; `None` is [all that the model states](stated).
    pub properties: Option<Vec<Property>>,
    /// Which orders of independent steps may be left out.
    pub partial_order: PartialOrder,
    /// Which runs count for temporal properties.
    pub fairness: Fairness,
    /// Only runs on which each of these holds again and again count for temporal properties.
    pub justice: Vec<Expr>,
    /// A directed search goes first where this is smaller; `None` is what [`Explicit::heuristic`] names.
    pub heuristic: Option<Expr>,
    /// What is made of the model before it is checked, as far as the properties allow.
    pub reductions: Vec<StaticReduction>,
    /// States that many steps from the start are not expanded.
    pub max_depth: Option<u64>,
    /// Where the explicit engine saves its search from time to time, to go on from there.
    pub checkpoint: Option<Checkpoint>,
    /// What all phases may take, those before and after the searches included, and who hears of the progress. The time is
    /// for all properties together: their searches share it, so that none has to wait for one that does not end.
    pub budget: Budget,
    /// Where answers are posted as soon as they are known.
    pub board: Option<Arc<Board>>,
    /// End at the first violation, whatever it is of.
    pub stop_at_first: bool,
    /// It is not asked whether what holds does so [vacuously](Answer::warnings).
    pub no_vacuity: bool,
    /// Whether the statements that no run executes are asked for.
    pub unreached: UnreachedCode,
    /// The workers of several processes that search, if there are some.
    pub cluster: Option<Workers>,
}

/// Workers of several processes.
#[derive(Clone)]
pub struct Workers(pub Arc<Cluster>);

impl fmt::Debug for Workers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Workers")
    }
}

impl Default for CheckOptions {
    fn default() -> CheckOptions {
        CheckOptions {
            engine: Choice::default(),
            engines: EngineOptions::default(),
            properties: None,
            partial_order: PartialOrder::default(),
            fairness: Fairness::default(),
            justice: Vec::new(),
            heuristic: None,
            reductions: StaticReduction::ALL.to_vec(),
            max_depth: None,
            checkpoint: None,
            budget: Budget::default(),
            board: None,
            stop_at_first: false,
            no_vacuity: false,
            unreached: UnreachedCode::default(),
            cluster: None,
        }
    }
}

impl CheckOptions {
    /// Gives the [checkpoint](CheckOptions::checkpoint), if there is one, the number that stands for the model and the options,
    /// and makes sure that the file, if it exists, is one that the search can go on from.
    pub fn prepare_checkpoint(&mut self, system: &System) -> Result<(), CheckpointError> {
        let Some(checkpoint) = &self.checkpoint else { return Ok(()) };
        let mut subject = Fingerprint(0);
        let asked = (&self.properties, &self.engines.explicit, self.partial_order, &self.reductions);
        let bounds = (self.max_depth, self.stop_at_first, env!("CARGO_PKG_VERSION"));
        // Writing to a number does not fail.
        let _ = write!(subject, "{system:?} {asked:?} {bounds:?}");
        verify(&checkpoint.path, subject.0)?;
        self.checkpoint = Some(Checkpoint { subject: subject.0, ..checkpoint.clone() });
        Ok(())
    }

    /// What all engines are told.
    pub(crate) fn settings(&self) -> Settings {
        Settings {
            fairness: self.fairness,
            justice: self.justice.clone(),
            heuristic: self.heuristic.clone(),
            partial_order: self.partial_order,
            max_depth: self.max_depth,
            checkpoint: self.checkpoint.clone(),
            stop_at_first: self.stop_at_first,
            // If the searches for the properties do not tell, there is one of its own.
            unreached: match self.unreached {
                UnreachedCode::Required => UnreachedCode::IfKnown,
                other => other,
            },
        }
    }

    /// The static reductions that fit the search. Where a shortest counterexample is asked for, steps are those of the model
    /// itself: a path that is one step may be longer than another way.
    fn static_reductions(&self) -> Vec<StaticReduction> {
        let is_shortest = match self.chosen_engine(Asked::Answers) {
            Ok(Choice::Named("bounded")) => {
                !matches!(self.engines.bounded.method, SatMethod::Partial | SatMethod::Steps | SatMethod::Processes)
            }
            _ => matches!(self.engines.explicit.search, Search::BreadthFirst | Search::AStar),
        };
        let fits = |reduction: &&StaticReduction| !is_shortest || **reduction != StaticReduction::Paths;
        self.reductions.iter().filter(fits).copied().collect()
    }

    /// Why the workers of several processes cannot do what is asked, if they cannot.
    pub fn not_distributed(&self, asked: Asked) -> Option<String> {
        match self.chosen_engine(asked) {
            Ok(Choice::Auto | Choice::Named("explicit")) => {
                let settings = self.settings();
                distributed::refusal(&ExplicitOptions { settings, explicit: self.engines.explicit })
            }
            Ok(other) => Some(format!(
                "the {} engine works within one process, not with `--processes` or `--hosts`; the explicit engine can be \
                 distributed",
                other.name()
            )),
            Err(why) => Some(why),
        }
    }

    /// The engine that the options leave, since some are for one engine only; or why they cannot be combined, and what
    /// would work. An engine that is named and cannot do what is asked is refused too.
    ///
    /// ```
    /// use ample::{Asked, CheckOptions, Choice, Reach, Symbolic};
    ///
    /// let chaining = Symbolic { reach: Reach::Chaining, ..Symbolic::default() };
    /// let options = CheckOptions { engines: chaining.into(), ..CheckOptions::default() };
    /// assert_eq!(options.chosen_engine(Asked::Answers), Ok(Choice::Named("symbolic")));
    /// assert!(CheckOptions { engine: Choice::Named("explicit"), ..options }.chosen_engine(Asked::Answers).is_err());
    /// ```
    pub fn chosen_engine(&self, asked: Asked) -> Result<Choice, String> {
        registry::choose(ENGINES, &self.engines, &self.settings(), self.engine, asked)
    }
}

/// All that a model states: its assertions, the absence of deadlocks, and the properties in its text.
pub fn stated(system: &System) -> Vec<Property> {
    // A language in which only infinite runs count has no deadlocks, and states what it asks; so does a circuit.
    let states_all = language_of(system).states_all() && !system.properties.is_empty();
    if states_all || system.synchronous().is_some_and(|synchronous| synchronous.only_stated) {
        return system.properties.clone();
    }
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

/// Checks a model, within the budget of the options. Inputs that properties read are a part of the state:
/// see [`System::keep_inputs`].
///
/// ```
/// use ample::{CheckOptions, Verdict};
///
/// let model = ample::load_text("m.pml", "active proctype P() { assert(1 + 1 == 3) }".into(), &Default::default())?;
/// let report = ample::check(&model.system, &CheckOptions::default());
/// assert_eq!(report.answer("assertions").unwrap().verdict(), Verdict::Violated);
/// assert_eq!(report.answer("deadlock").unwrap().verdict(), Verdict::Holds);
/// # Ok::<(), ample::LoadError>(())
/// ```
pub fn check(system: &System, options: &CheckOptions) -> Report {
    let begun = Instant::now();
    let properties = options.properties.clone().unwrap_or_else(|| stated(system));
    let board = options.board.clone().unwrap_or_default();
    board.open(&properties);
    // With an input in its states a system branches elsewhere: that is only for formulas that ask for it.
    let reads_inputs = !system.inputs_in(properties.iter().flat_map(Property::expressions)).is_empty();
    let is_apart = |number: &usize| {
        let property = &properties[*number];
        reads_inputs
            && matches!(property.question, Question::Ctl(_))
            && system.inputs_in(property.expressions()).is_empty()
    };
    let (apart, others) = (0..properties.len()).partition(is_apart);
    groups::check(&[others, apart], &properties, &board, |asked, board| {
        let read: Vec<Expr> = options.justice.iter().chain(&options.heuristic).cloned().collect();
        let system = &*adapted(system, asked, &read);
        check_together(system, asked, options, board, begun)
    })
}

fn check_together(
    system: &System,
    properties: &[Property],
    options: &CheckOptions,
    board: &Board,
    begun: Instant,
) -> Report {
    if let Some(report) = runs::check(system, properties, options, board) {
        return report;
    }
    let mut report = if options.justice.is_empty() {
        check_all(system, properties, options, board)
    } else {
        let just = justice::under(properties, &options.justice);
        let mut report = check_all(system, &just, options, board);
        justice::tell(&mut report, properties);
        report
    };
    vacuity::warn(&mut report, system, properties, options, begun.elapsed());
    tell_unreached(&mut report, system, options);
    report
}

/// Says which statements no run executes: where the searches for the properties have found out, and where that is required
/// by a search of its own.
fn tell_unreached(report: &mut Report, system: &System, options: &CheckOptions) {
    if matches!(report.unreached, Some(Ok(_))) {
        return;
    }
    report.unreached = None;
    if options.unreached == UnreachedCode::Required {
        let settings =
            Settings { max_depth: options.max_depth, unreached: UnreachedCode::Required, ..Settings::default() };
        let reduced = reductions::reduced(system, &[], &settings, &options.reductions, false, &options.budget);
        let system = reduced.as_ref().map_or(system, |reduced| &reduced.system);
        let task = Task { system, properties: &[], settings: &settings };
        report.unreached = match knows(&Explicit::default(), system) {
            Ok(()) => Explicit::default().check(&task, &Board::default(), &options.budget).unreached,
            Err(why) => Some(Err(why)),
        };
    }
}

/// The model, with the inputs that are asked about in its states.
pub(crate) fn adapted<'s>(system: &'s System, properties: &[Property], justice: &[Expr]) -> Cow<'s, System> {
    // What formulas of linear time ask of systems with relations is observed, and so are all steps that invariants ask
    // about where not every input is possible in every state: see `runs`.
    let synchronous = system.synchronous();
    let has_relations = synchronous.is_some_and(|synchronous| !synchronous.relations.is_empty());
    let observes = synchronous.is_some_and(|synchronous| synchronous.observes_inputs);
    let is_observed = |property: &&Property| match property.question {
        Question::Ltl(_) => has_relations,
        Question::Invariant(_) => observes,
        _ => false,
    };
    let kept = || properties.iter().filter(|property| !is_observed(property));
    let asked = || kept().flat_map(Property::expressions).chain(justice);
    if system.inputs_in(asked()).is_empty() {
        return Cow::Borrowed(system);
    }
    let mut adapted = system.clone();
    adapted.keep_inputs(asked());
    Cow::Owned(adapted)
}

/// Checks properties with the engines that are asked for, or that suit, in a reduced model where there is one.
pub(crate) fn check_all(system: &System, properties: &[Property], options: &CheckOptions, board: &Board) -> Report {
    let settings = options.settings();
    let wanted = options.static_reductions();
    let keeps_blocks = match options.chosen_engine(Asked::Answers) {
        // The modular engine joins for its formulas. Blocks cost the explicit search a third more states.
        Ok(Choice::Auto) => {
            let is_structured = matches!(&system.processes[..], [only] if only.structure.is_some());
            is_structured && properties.iter().any(|property| matches!(property.question, Question::Ctl(_)))
        }
        chosen => chosen == Ok(Choice::Named("modular")),
    };
    let Some(reduced) = reductions::reduced(system, properties, &settings, &wanted, keeps_blocks, &options.budget)
    else {
        return check_as_it_is(system, properties, options, board);
    };
    let mut report = check_as_it_is(&reduced.system, properties, options, board);
    report.static_reduction = Some(reductions::described(&reduced));
    if let Some(Ok(statements)) = &mut report.unreached {
        // Processes that are left out execute nothing; what the others execute does not depend on them.
        statements.retain(|statement| !reduced.removed.contains(&statement.process));
        report.unreached_except.clone_from(&reduced.removed);
    }
    let is_open = |answer: &Answer| matches!(&*answer.outcome, Outcome::Unknown(reason) if is_unexpanded(reason));
    let open: Vec<usize> = (0..report.answers.len()).filter(|number| is_open(&report.answers[*number])).collect();
    if !open.is_empty() {
        let left: Vec<Property> = open.iter().map(|number| properties[*number].clone()).collect();
        let again = check_as_it_is(system, &left, options, &Board::of(&left));
        for (number, answer) in open.into_iter().zip(again.answers) {
            board.post(number, &answer);
            report.answers[number] = answer;
        }
        report.ended = report.ended.or(again.ended);
    }
    report
}

fn check_as_it_is(system: &System, properties: &[Property], options: &CheckOptions, board: &Board) -> Report {
    let settings = options.settings();
    let task = Task { system, properties, settings: &settings };
    if let Some(Workers(cluster)) = &options.cluster {
        let engine = Distributed { searcher: &**cluster, explicit: options.engines.explicit };
        return portfolio::check(&[Member { engine: &engine, joins: Joins::AtOnce }], &task, board, &options.budget);
    }
    match team(&task, options, Asked::Answers) {
        Ok(team) => portfolio::check(&team.members(), &task, board, &options.budget),
        Err(reason) => not_begun(system, properties, options, &reason),
    }
}

/// The engines that work on a task, or why none does.
fn team(task: &Task<'_>, options: &CheckOptions, asked: Asked) -> Result<Team, Reason> {
    let choice = options.chosen_engine(asked).map_err(Reason::Unsupported)?;
    Ok(Team::of(ENGINES, &options.engines, task, choice, asked, &options.budget)?)
}

/// Nothing was looked at.
fn not_begun(system: &System, properties: &[Property], options: &CheckOptions, reason: &Reason) -> Report {
    let engine = options.engine.name();
    let unknown = |property: &Property| Answer::to(property, engine, reason.clone());
    Report::unfinished(system, properties.iter().map(unknown).collect(), reason.clone())
}

/// Builds the whole state space and counts it; nothing is checked.
///
/// ```
/// use ample::CheckOptions;
///
/// let text = "byte x; active [2] proctype P() { x++ }";
/// let model = ample::load_text("m.pml", text.into(), &Default::default())?;
/// let report = ample::states(&model.system, &CheckOptions::default());
/// assert!(report.ended.is_none());
/// assert_eq!(report.statistics.states, 7);
/// # Ok::<(), ample::LoadError>(())
/// ```
pub fn states(system: &System, options: &CheckOptions) -> Report {
    let settings = Settings { unreached: UnreachedCode::Ignored, ..options.settings() };
    let task = Task { system, properties: &[], settings: &settings };
    if let Some(Workers(cluster)) = &options.cluster {
        let engine = Distributed { searcher: &**cluster, explicit: options.engines.explicit };
        return portfolio::count(&[Member { engine: &engine, joins: Joins::AtOnce }], &task, &options.budget);
    }
    match team(&task, options, Asked::Count) {
        Ok(team) => portfolio::count(&team.members(), &task, &options.budget),
        Err(reason) => not_begun(system, &[], options, &reason),
    }
}
