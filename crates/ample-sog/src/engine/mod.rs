//! Symbolic observation graphs of a model, and LTL without X on them.
//!
//! Nets get list decision diagrams, all other models binary ones. A run that is shown has been performed by the reference
//! interpreter.
//!
//! ```
//! use ample_lang::promela::{self, preprocess::FileLoader};
//! use ample_budget::Budget;
//! use ample_sog::engine::{SogOptions, build};
//!
//! let text = "byte x; active proctype P() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }";
//! let model = promela::read("count.pml", text.into(), &mut FileLoader, &[])?;
//! let options = SogOptions { observe: vec!["x = 0".into()], ..SogOptions::default() };
//! let built = build(&model.system, &options, &Budget::unlimited())?;
//! assert_eq!(built.graph.size().aggregates, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod distributed;
pub mod options;
mod saved;

use std::time::{Duration, Instant};

use ample_budget::Budget;
use ample_engine::board::Board;
use ample_engine::engine::{Engine, Fit, Suits, Task, knows};
use ample_engine::evidence::{Ending, Evidence, Invalid, Lasso, Validated, unexpanded, validate};
use ample_engine::faults::{Fallible, Survey};
use ample_engine::registry::{self, Choice};
use ample_engine::report::{Answer, Report};
use ample_engine::settings::{Fairness, Settings};
use ample_engine::workers::with_deep_stack;
use ample_logic::{Atom, Formula as Logic, semantics};
use ample_model::{
    Certainty, Expr, Fault, Interpreter, Move, Outcome, Property, Question as Asked, Reason, State, Statistics, System,
    Temporal, Trace, Violation,
};
use ample_petri::net::{Condition, Net};
use ample_symbolic::engine as symbolic;
use serde::{Deserialize, Serialize};

use self::distributed::{Actions, Operation, Prepared};
pub use self::options::{DiagramKind, Kind, SogOptions};
pub use self::saved::SavedGraph;
use crate::aggregate::Facts;
pub use crate::output::{Names, dot, json};
pub use crate::{Aggregate, Balance, Canonical, Graph, ProductSize, Rule, Size, Work};
use crate::{
    BuildOptions, Checked, Cost, Error, Meaning, Model, Observed, Question, Witness, build_measured, check as judge,
};

/// Where nobody sets a limit to the memory.
const DEFAULT_MEMORY: u64 = 4 << 30;

/// Why there is no graph, or no verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum SogError {
    /// No action has this name.
    #[error("no action is called `{0}`")]
    NoSuchAction(String),
    /// The text is no formula.
    #[error("{0}")]
    Formula(String),
    /// A file with a graph is of no use.
    #[error("{0}")]
    File(String),
    /// It ended early, or the model is of a kind that is not known here.
    #[error("{0}")]
    Ended(Reason),
    /// A bug in ample.
    #[error("internal error: {0}")]
    Internal(String),
}

/// A graph with its names.
#[derive(Clone, Debug)]
pub struct Built {
    /// The graph.
    pub graph: Graph,
    /// The names of all actions.
    pub actions: Vec<String>,
    /// What the actions are.
    pub moves: Vec<Move>,
    /// The names of the atoms.
    pub atoms: Vec<String>,
    /// What the threads did.
    pub work: Work,
    /// What each aggregate cost, if that was measured.
    pub costs: Vec<Cost>,
    /// `"list diagrams"` or `"binary diagrams"`.
    pub engine: &'static str,
    /// Some atomic sequence may go on for ever: what does so is no run.
    pub has_endless_sequences: bool,
    /// How long it took.
    pub took: Duration,
    /// How long it took with each kind of diagrams.
    pub times: Vec<(&'static str, Duration)>,
}

/// A formula over states and events.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SogFormula {
    formula: Logic,
    atoms: Vec<Said>,
    /// The formula as the model's language has it, if it has no events.
    stated: Option<Temporal>,
}

/// What an atom says.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Said {
    /// The condition holds.
    State(Expr),
    /// The action of that name is taken.
    Event(String),
}

/// A verdict.
#[derive(Clone, Debug)]
pub struct Judged {
    /// A run that violates the formula; if there is none, it holds.
    pub violation: Option<Counterexample>,
    /// Aggregates that were found, and how many of them were expanded.
    pub aggregates: (usize, usize),
    /// The product with the automaton.
    pub product: ProductSize,
    /// The graph, if it was built to its end.
    pub size: Option<Size>,
    /// What the threads did.
    pub work: Work,
    /// `"list diagrams"` or `"binary diagrams"`.
    pub engine: &'static str,
    /// Some atomic sequence may go on for ever: what does so is no run.
    pub has_endless_sequences: bool,
    /// How long it took.
    pub took: Duration,
    /// How long it took with each kind of diagrams.
    pub times: Vec<(&'static str, Duration)>,
}

/// A run that violates a formula, validated.
#[derive(Clone, Debug)]
pub enum Counterexample {
    /// One over states, as for all engines.
    States(Validated),
    /// One with events, which only observation graphs know.
    Events(Box<Violation>),
}

impl Counterexample {
    /// The run.
    pub fn violation(&self) -> &Violation {
        match self {
            Counterexample::States(validated) => validated.violation(),
            Counterexample::Events(violation) => violation,
        }
    }
}

impl SogFormula {
    /// A formula over states.
    pub fn stated(temporal: &Temporal) -> SogFormula {
        let atoms = temporal.atoms.iter().cloned().map(Said::State).collect();
        SogFormula { formula: temporal.formula.clone(), atoms, stated: Some(temporal.clone()) }
    }

    /// A formula with these atoms.
    pub fn over(formula: Logic, atoms: Vec<Said>) -> SogFormula {
        SogFormula { formula, atoms, stated: None }
    }

    /// What it says about states.
    pub fn conditions(&self) -> Vec<Expr> {
        let state = |said: &Said| if let Said::State(expr) = said { Some(expr.clone()) } else { None };
        self.atoms.iter().filter_map(state).collect()
    }

    /// The formula over the actions of those names, and over its conditions in their order.
    pub fn question(&self, system: &System, actions: &[String]) -> Result<Question, SogError> {
        let mut states = 0;
        let mut meanings = Vec::new();
        for said in &self.atoms {
            meanings.push(match said {
                Said::State(_) => {
                    states += 1;
                    Meaning::State(states - 1)
                }
                Said::Event(name) => Meaning::Event(find(system, actions, name)?),
            });
        }
        Ok(Question { formula: self.formula.clone(), meanings })
    }

    /// What may be a fault in it. Beside events each condition is evaluated by itself.
    fn fallible(&self, system: &System) -> Fallible {
        // Sums of tokens are computed with as many bits as they need.
        let is_net = Net::of(system).is_some();
        let is_exact = |expr: &Expr| is_net && Condition::of(expr).is_some();
        let survey = Survey::of(system).exact_for(&is_exact);
        match &self.stated {
            Some(temporal) => survey.in_formula(temporal),
            None => survey.among(&self.conditions()),
        }
    }
}

/// What the expression asks about is part of the states.
pub fn is_kept(system: &System, expr: &Expr) -> Result<(), String> {
    let mut is_kept = true;
    expr.walk(&mut |part| match part {
        Expr::LastMover => is_kept &= system.uses_last,
        Expr::Priority(_) => is_kept &= system.uses_priorities,
        _ => {}
    });
    if is_kept { Ok(()) } else { Err("who moved last, and priorities, are not part of the states".into()) }
}

/// Builds the graph; with [`DiagramKind::Both`] twice, and it must be the same.
pub fn build(system: &System, options: &SogOptions, budget: &Budget) -> Result<Built, SogError> {
    let begun = Instant::now();
    options.atoms.iter().try_for_each(|expr| is_kept(system, expr)).map_err(SogError::Formula)?;
    let build = |kind| {
        let operation = Build { system, options, begun: Instant::now(), budget };
        with_model(system, &options.atoms, kind, budget, operation)
    };
    if options.diagrams != DiagramKind::Both {
        return build(options.diagrams);
    }
    if options.kind == Kind::Split {
        return Err(SogError::Formula(
            "where successors are split depends on the diagrams: `--diagrams` cannot be `both`".into(),
        ));
    }
    let (lists, binary) = (build(DiagramKind::Lists)?, build(DiagramKind::Binary)?);
    if !lists.is_same(&binary) {
        return Err(SogError::Internal("the graph with binary diagrams is another one than that with lists".into()));
    }
    let times = lists.times.iter().chain(&binary.times).copied().collect();
    Ok(Built { times, took: begun.elapsed(), ..lists })
}

impl Built {
    /// The same graph, whatever the diagrams are and however actions are numbered.
    fn is_same(&self, other: &Built) -> bool {
        let names = [self, other].map(|built| Names { actions: &built.actions, atoms: &built.atoms });
        let arcs = |number: usize, aggregate: &Aggregate| -> Vec<(String, usize)> {
            aggregate.arcs.iter().map(|(action, to)| (names[number].action(*action), *to)).collect()
        };
        let same = |(one, another): (&Aggregate, &Aggregate)| {
            let bare = |aggregate: &Aggregate| Facts { nodes: 0, ..aggregate.facts.clone() };
            one.label == another.label && bare(one) == bare(another) && arcs(0, one) == arcs(1, another)
        };
        let (one, another) = (&self.graph, &other.graph);
        one.initial == another.initial
            && one.aggregates.len() == another.aggregates.len()
            && one.aggregates.iter().zip(&another.aggregates).all(same)
    }
}

/// Why a property is not for observation graphs.
const ONLY_RUNS: &str = "observation graphs are for formulas of LTL; `--engine auto` checks this";

/// The engine of symbolic observation graphs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sog;

impl Engine for Sog {
    fn name(&self) -> &'static str {
        ENGINE
    }

    fn suits(&self, task: &Task<'_>, number: usize) -> Suits {
        knows(self, task.system)?;
        match &task.properties[number].question {
            Asked::Ltl(_) if task.settings.fairness != Fairness::None => Err(NO_FAIRNESS.into()),
            Asked::Ltl(temporal) if temporal.formula.has_next() => Err(NO_NEXT.into()),
            Asked::Ltl(temporal) => {
                temporal.atoms.iter().try_for_each(|atom| is_kept(task.system, atom))?;
                // A graph is made of each formula, and has to pay for that.
                Ok(Fit::Possible)
            }
            _ => Err(ONLY_RUNS.into()),
        }
    }

    fn check(&self, task: &Task<'_>, board: &Board, budget: &Budget) -> Report {
        check_all(task, board, budget)
    }

    fn counts(&self) -> Result<(), String> {
        Err(NO_COUNT.into())
    }

    fn count(&self, task: &Task<'_>, _: &Budget) -> Report {
        Report::unfinished(task.system, Vec::new(), Reason::Unsupported(NO_COUNT.into()))
    }
}

impl registry::Options for Sog {
    fn given(&self, _: &Settings) -> Option<String> {
        None
    }

    fn refusal(&self, choice: Choice, asked: registry::Asked, _: &Settings) -> Option<String> {
        if choice == Choice::Named(ENGINE) && asked == registry::Asked::Count { self.counts().err() } else { None }
    }
}

/// What to say where an atomic sequence may go on for ever.
pub const ENDLESS: &str = "an atomic sequence may never end, and what stays in it for ever is no run";

/// Its name.
const ENGINE: &str = "sog";
/// Of counting.
const NO_COUNT: &str = "an observation graph has aggregates, whose states are not counted: `ample sog` builds the graph, \
                        and `--engine auto` counts states";
/// Of fairness.
const NO_FAIRNESS: &str = "observation graphs know no fairness";
/// Of what comes next.
const NO_NEXT: &str = "observation graphs are for LTL without X; `--engine auto` checks this";

/// Answers properties: formulas of LTL, each by a graph of its own.
pub fn check_all(task: &Task<'_>, board: &Board, budget: &Budget) -> Report {
    let Task { system, properties, settings } = *task;
    let begun = Instant::now();
    let graph = SogOptions { threads: budget.threads(), ..SogOptions::default() };
    let mut ended = None;
    let mut answers = Vec::new();
    for (number, property) in properties.iter().enumerate() {
        // It is left alone as soon as another engine has the answer.
        let answered = board.answered(&[number]);
        let budget = budget.clone().with_cancellation(&answered);
        let answer = match &property.question {
            Asked::Ltl(_) if settings.fairness != Fairness::None => refused(property, NO_FAIRNESS),
            Asked::Ltl(temporal) => {
                let judged = check(system, &SogFormula::stated(temporal), &graph, &budget);
                let (answer, reason) = answer_of(property, judged);
                if !answered.is_cancelled() {
                    ended = ended.or(reason);
                }
                answer
            }
            _ => refused(property, ONLY_RUNS),
        };
        board.post(number, &answer);
        answers.push(answer);
    }
    let statistics =
        Statistics { time_s: begun.elapsed().as_secs_f64(), complete: ended.is_none(), ..Statistics::default() };
    Report { answers, ended, statistics, ..Report::of(system) }
}

fn refused(property: &Property, why: &str) -> Answer {
    Answer::to(property, ENGINE, Reason::Unsupported(why.into()))
}

/// The answer, and why the work ended early.
fn answer_of(property: &Property, judged: Result<Judged, SogError>) -> (Answer, Option<Reason>) {
    match judged {
        Ok(judged) => {
            let (found, expanded) = judged.aggregates;
            let endless = if judged.has_endless_sequences { format!("; {ENDLESS}") } else { String::new() };
            let note = Some(format!("{found} aggregates, {expanded} of them expanded, as {}{endless}", judged.engine));
            let answer = match judged.violation {
                Some(Counterexample::States(validated)) => Answer::refuted(property, ENGINE, validated),
                Some(Counterexample::Events(_)) => refused(property, "it has events; `ample sog --ltl` checks it"),
                None => Answer::to(property, ENGINE, Certainty::Proved),
            };
            (Answer { note, ..answer }, None)
        }
        Err(SogError::Ended(Reason::Unsupported(why))) => (refused(property, &why), None),
        Err(SogError::Ended(reason)) => (Answer::to(property, ENGINE, reason.clone()), Some(reason)),
        Err(SogError::Internal(what)) => (Answer::to(property, ENGINE, Reason::Internal(what)), None),
        Err(error) => (refused(property, &error.to_string()), None),
    }
}

/// Checks a formula; with [`DiagramKind::Both`] twice, and the verdicts must agree. It is violated too if one of its
/// conditions is a fault in some reachable state.
pub fn check(system: &System, formula: &SogFormula, options: &SogOptions, budget: &Budget) -> Result<Judged, SogError> {
    let begun = Instant::now();
    let exprs = formula.conditions();
    let check = |kind| {
        let operation = Check { system, formula, options, begun: Instant::now(), budget };
        with_model(system, &exprs, kind, budget, operation)
    };
    let judged = match options.diagrams {
        DiagramKind::Both => {
            let (lists, binary) = (check(DiagramKind::Lists)?, check(DiagramKind::Binary)?);
            if lists.violation.is_some() != binary.violation.is_some() {
                return Err(SogError::Internal("binary diagrams give another verdict than lists".into()));
            }
            let times = lists.times.iter().chain(&binary.times).copied().collect();
            Judged { times, took: begun.elapsed(), ..lists }
        }
        kind => check(kind)?,
    };
    with_faults(system, formula, judged, budget)
}

/// The verdict, unless a condition of the formula is a fault in a reachable state, which the graph takes for false.
fn with_faults(system: &System, formula: &SogFormula, mut judged: Judged, budget: &Budget) -> Result<Judged, SogError> {
    let fallible = formula.fallible(system);
    if !fallible.is_empty() {
        let met = match &judged.violation {
            Some(shown) => fallible.met_on(system, shown.violation()),
            None => fault(system, &fallible, budget)?,
        };
        if let Some(met) = met {
            judged.violation = Some(Counterexample::States(met));
        }
    }
    Ok(judged)
}

/// A run to a state in which a condition is a fault, which the graph takes for false.
fn fault(system: &System, fallible: &Fallible, budget: &Budget) -> Result<Option<Validated>, SogError> {
    let invariant = Property { question: Asked::Invariant(fallible.invariant()), ..Property::assertions() };
    let board = Board::default();
    let report = symbolic::check(system, &[invariant], &symbolic::Options::default(), &board, budget);
    match report.answers.into_iter().next().map(|answer| answer.outcome.into_inner()) {
        Some(Outcome::Holds(_)) => Ok(None),
        Some(Outcome::Violated(violation)) => match fallible.met_on(system, &violation) {
            Some(met) => Ok(Some(met)),
            None => Err(SogError::Internal("no condition is a fault where one was found".into())),
        },
        Some(Outcome::Unknown(reason)) => Err(SogError::Ended(reason)),
        None => Err(SogError::Ended(report.ended.unwrap_or(Reason::Interrupted))),
    }
}

impl From<Error> for SogError {
    fn from(error: Error) -> SogError {
        match error {
            Error::Cancelled => SogError::Ended(Reason::Interrupted),
            Error::Deadline => SogError::Ended(Reason::Time),
            Error::Memory => SogError::Ended(Reason::Memory),
            Error::Unsupported(why) => SogError::Ended(Reason::Unsupported(why)),
            Error::Internal(why) => SogError::Internal(why),
        }
    }
}

fn with_model<T>(
    system: &System,
    atoms: &[Expr],
    diagrams: DiagramKind,
    budget: &Budget,
    task: impl Operation<T>,
) -> Result<T, SogError> {
    Prepared::new(system, atoms, diagrams, budget)?.perform(system, task)
}

/// The actions of a name: that of the action itself, or of its statement. None if the statement is never executed.
fn find(system: &System, names: &[String], name: &str) -> Result<Vec<usize>, SogError> {
    let found: Vec<usize> = (0..names.len()).filter(|number| is_called(&names[*number], name)).collect();
    let mut statements = system.processes.iter().flat_map(|process| &process.edges);
    if found.is_empty() && !statements.any(|edge| edge.label == name) {
        return Err(SogError::NoSuchAction(name.to_owned()));
    }
    Ok(found)
}

/// Whether a name means the action: its own, or that of its statement.
fn is_called(action: &str, name: &str) -> bool {
    let is_statement = |one: &str| one == name || one.split_once("):").is_some_and(|(_, label)| label == name);
    action == name || action.split(" / ").any(is_statement)
}

fn build_options(options: &SogOptions, budget: &Budget) -> BuildOptions {
    BuildOptions {
        threads: options.threads.max(1),
        balance: options.balance,
        canonical: options.canonical,
        max_bytes: budget.room().unwrap_or(DEFAULT_MEMORY) / 4,
        budget: budget.clone(),
    }
}

/// What the options observe of a model.
fn observed<M: Model>(system: &System, model: &M, options: &SogOptions) -> Result<Observed, SogError> {
    let count = model.actions().len();
    let mut events = Vec::new();
    for name in &options.observe {
        events.extend(find(system, model.actions(), name)?);
    }
    let atoms: Vec<usize> = (0..model.atoms().len()).collect();
    Ok(match options.kind {
        Kind::Event => Observed::events(count, &events)?,
        Kind::Split => Observed::split(count, &events, options.parts)?,
        Kind::State => Observed::events_and_states(count, &[], &atoms)?,
        Kind::EventState => Observed::events_and_states(count, &events, &atoms)?,
    })
}

struct Build<'a> {
    system: &'a System,
    options: &'a SogOptions,
    begun: Instant,
    budget: &'a Budget,
}

impl Operation<Built> for Build<'_> {
    fn perform<M: Model>(self, model: &M, actions: &Actions<'_>) -> Result<Built, SogError> {
        let observed = observed(self.system, model, self.options)?;
        let how = build_options(self.options, self.budget);
        if self.options.costs {
            let measured = with_deep_stack(ENGINE, || {
                let mut sets = model.sets(1, self.budget)?;
                build_measured(&mut sets, &observed, how.canonical, how.max_bytes, self.budget)
            });
            let (graph, costs) = measured.map_err(SogError::Ended)??;
            return Ok(Built { costs, ..Build::built(model, actions, graph, Work::default(), self.begun) });
        }
        let (graph, work) = crate::build_with_threads(model, &observed, &how)?;
        Ok(Build::built(model, actions, graph, work, self.begun))
    }
}

impl Build<'_> {
    fn built<M: Model>(model: &M, actions: &Actions<'_>, graph: Graph, work: Work, begun: Instant) -> Built {
        Built {
            graph,
            actions: model.actions().to_vec(),
            moves: actions.moves.clone(),
            atoms: model.atoms().to_vec(),
            work,
            costs: Vec::new(),
            engine: actions.engine,
            has_endless_sequences: actions.has_endless_sequences,
            took: begun.elapsed(),
            times: vec![(actions.engine, begun.elapsed())],
        }
    }
}

struct Check<'a> {
    system: &'a System,
    formula: &'a SogFormula,
    options: &'a SogOptions,
    begun: Instant,
    budget: &'a Budget,
}

impl Operation<Judged> for Check<'_> {
    fn perform<M: Model>(self, model: &M, actions: &Actions<'_>) -> Result<Judged, SogError> {
        let question = self.formula.question(self.system, model.actions())?;
        let options = crate::CheckOptions {
            build: build_options(self.options, self.budget),
            rule: self.options.rule(),
            on_demand: self.options.on_demand,
            collapsed: self.options.collapsed,
        };
        self.judged(judge(model, &question, &options)?, model, actions)
    }
}

impl Check<'_> {
    /// The verdict, with the run validated.
    fn judged<M: Model>(&self, checked: Checked, model: &M, actions: &Actions<'_>) -> Result<Judged, SogError> {
        let shown = checked.violation.as_ref().map(|witness| self.validated(witness, actions, model.actions()));
        Ok(Judged {
            violation: shown.transpose()?,
            aggregates: checked.aggregates,
            product: checked.product,
            size: checked.graph.as_ref().map(Graph::size),
            work: checked.work,
            engine: actions.engine,
            has_endless_sequences: actions.has_endless_sequences,
            took: self.begun.elapsed(),
            times: vec![(actions.engine, self.begun.elapsed())],
        })
    }

    /// The run, validated: a run that the reference interpreter does not perform, or that satisfies the formula, is a bug.
    fn validated(
        &self,
        witness: &Witness,
        actions: &Actions<'_>,
        names: &[String],
    ) -> Result<Counterexample, SogError> {
        let Some(temporal) = &self.formula.stated else {
            let violation = self.perform_run(witness, actions, names)?;
            return Ok(Counterexample::Events(Box::new(violation)));
        };
        let refuted = |why: &str| SogError::Internal(format!("the counterexample does not replay: {why}"));
        let start = (actions.start)(&witness.start).ok_or_else(|| refuted("no such initial state"))?;
        let moves = |numbers: &[usize]| numbers.iter().map(|number| actions.moves.get(*number).cloned()).collect();
        let (prefix, cycle): (Option<Vec<Move>>, Option<Vec<Move>>) = (moves(&witness.prefix), moves(&witness.cycle));
        let (Some(prefix), Some(cycle)) = (prefix, cycle) else { return Err(refuted("no such action")) };
        let ending = match witness.ending {
            crate::Ending::Cycle => Ending::Cycle,
            crate::Ending::Stuck | crate::Ending::Fault => Ending::Stutter,
        };
        let lasso = Lasso { start, prefix, cycle, ending, prefix_tags: Vec::new(), cycle_tags: Vec::new() };
        let property = Property { question: Asked::Ltl(temporal.clone()), ..Property::assertions() };
        match validate(self.system, &property, &Evidence::Lasso(lasso), &Settings::default(), self.budget) {
            Ok(validated) => Ok(Counterexample::States(validated)),
            Err(Invalid::Refuted(why)) => Err(refuted(&why)),
            Err(Invalid::Ended(reason)) => Err(SogError::Ended(reason)),
            Err(Invalid::Unexpanded(why)) => Err(SogError::Ended(unexpanded(&why))),
        }
    }

    /// The run of a formula with events, step by step with the reference interpreter; one that it does not perform is a
    /// bug.
    fn perform_run(&self, witness: &Witness, actions: &Actions<'_>, names: &[String]) -> Result<Violation, SogError> {
        let refuted = |why: &str| SogError::Internal(format!("a counterexample does not replay: {why}"));
        let interpreter = Interpreter::new(self.system);
        let start = (actions.start)(&witness.start).ok_or_else(|| refuted("no such initial state"))?;
        let mut state = match interpreter.initial_state(&start) {
            Some(Ok(state)) => state,
            _ => return Err(refuted("no such initial state")),
        };
        let mut trace = Trace { start, ..Trace::default() };
        let mut base = interpreter.identity(&state);
        let mut states = vec![state.clone()];
        for (number, action) in witness.prefix.iter().chain(&witness.cycle).enumerate() {
            let taken = actions.moves.get(*action).ok_or_else(|| refuted("no such action"))?;
            let successor = interpreter.step(&state, taken);
            if successor.violations.contains(&Fault::NotEnabled) {
                return Err(refuted(&format!("step {} is not executable", number + 1)));
            }
            let step = interpreter.describe(&state, taken, &successor);
            if number < witness.prefix.len() { &mut trace.prefix } else { &mut trace.cycle }.push(step);
            let is_last = number + 1 == witness.prefix.len() + witness.cycle.len();
            match successor.state {
                Some(next) => {
                    state = next;
                    states.push(state.clone());
                }
                // The run stays for ever where the fault has stopped it.
                None if is_last && witness.ending == crate::Ending::Fault => states.push(state.clone()),
                None => return Err(refuted("a step is a fault")),
            }
            if number + 1 == witness.prefix.len() {
                base = interpreter.identity(&state);
            }
        }
        let message = match witness.ending {
            crate::Ending::Cycle if base != interpreter.identity(&state) => return Err(refuted("no cycle")),
            crate::Ending::Stuck if !interpreter.is_stuck(&state) => return Err(refuted("not stuck")),
            crate::Ending::Cycle => "a run goes on for ever without satisfying it",
            crate::Ending::Stuck => "a run ends without satisfying it",
            crate::Ending::Fault => "a run stops at a fault without satisfying it",
        };
        self.judge(&interpreter, witness, &states, names)?;
        Ok(Violation { message: message.into(), trace, branches: Vec::new() })
    }

    /// Judges a run that was performed by the plain meaning of the formula: a run that satisfies it is a bug, whatever
    /// graph and automaton have found.
    fn judge(
        &self,
        interpreter: &Interpreter<'_>,
        witness: &Witness,
        states: &[State],
        names: &[String],
    ) -> Result<(), SogError> {
        let mut actions: Vec<usize> = witness.prefix.iter().chain(&witness.cycle).copied().collect();
        if witness.ending == crate::Ending::Fault {
            // A step that is a fault is not taken.
            actions.pop();
        }
        let used = self.formula.formula.atoms();
        let mut letters = Vec::new();
        let mut shown = &states[0];
        for (position, state) in states.iter().enumerate() {
            let action = actions.get(position).copied();
            // Inside an atomic sequence the conditions are those of where it began; a run that is over is where it is.
            let is_over = witness.cycle.is_empty() && position + 1 == states.len();
            if is_over || interpreter.normalise(state).control.is_none() {
                shown = state;
            }
            let states = self.formula.atoms.iter().map(|said| match said {
                Said::State(expr) => interpreter.evaluate(shown, None, expr).is_ok_and(|value| value != 0),
                Said::Event(_) => false,
            });
            let states: Vec<bool> = states.collect();
            // Conditions that the formula does not mention are not observed.
            let label = used.iter().map(|atom| states[atom.0 as usize]).collect();
            let values = self.formula.atoms.iter().zip(&states).map(|(said, value)| match said {
                Said::State(_) => *value,
                Said::Event(name) => action.is_some_and(|action| is_called(&names[action], name)),
            });
            let (values, is_event) = (values.collect(), action.is_some_and(|a| self.is_event(&names[a])));
            letters.push(Letter { values, label, is_event });
        }
        let turn = if witness.cycle.is_empty() { states.len() - 1 } else { witness.prefix.len() };
        let end = if witness.cycle.is_empty() { states.len() } else { states.len() - 1 };
        let word = |keep: &dyn Fn(usize) -> bool| {
            let prefix: Vec<usize> = (0..turn).filter(|at| keep(*at)).collect();
            let mut cycle: Vec<usize> = (turn..end).filter(|at| keep(*at)).collect();
            // What goes on for ever without being seen is seen once.
            if cycle.is_empty() {
                cycle.push(end - 1);
            }
            let positions: Vec<usize> = prefix.iter().chain(&cycle).copied().collect();
            let value = |at: usize, atom: Atom| letters[positions[at]].values[atom.0 as usize];
            semantics::holds_with(&self.formula.formula, prefix.len(), cycle.len(), &value).unwrap_or(true)
        };
        let all = |_: usize| true;
        // A position whose action is not observed and keeps the label is left out.
        let collapsed = |at: usize| {
            let next = if at + 1 == end { turn } else { at + 1 };
            letters[at].is_event || letters[at].label != letters[next].label
        };
        let satisfied = if self.options.collapsed { word(&collapsed) } else { word(&all) };
        if satisfied { Err(SogError::Internal("the counterexample satisfies the formula".into())) } else { Ok(()) }
    }

    /// The formula speaks of the action.
    fn is_event(&self, action: &str) -> bool {
        let used = self.formula.formula.atoms();
        let mut used = used.iter().map(|atom| &self.formula.atoms[atom.0 as usize]);
        used.any(|said| matches!(said, Said::Event(name) if is_called(action, name)))
    }
}

/// A position of a run: the values of the formula's atoms there.
struct Letter {
    values: Vec<bool>,
    /// The same without those of the action.
    label: Vec<bool>,
    /// The action that is taken there is one that the formula speaks of.
    is_event: bool,
}
