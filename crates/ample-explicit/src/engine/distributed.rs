//! Searches by workers that share no memory.
//!
//! Who spreads a search over processes implements [`Searcher`]. What it is asked and what it answers is made of plain
//! data: states are bytes, as the [compiled](crate::compile) system writes them, and a counterexample is the states along
//! it. This module decides what to search for, and turns the states into moves.

use ample_engine::board::Board;
use ample_engine::engine::{EXPLICIT, Engine, Fit, Suits, Task};
use ample_engine::report::Report;
use ample_engine::settings::{Fairness, UnreachedCode};
use ample_model::evidence;
use ample_model::{Budget, Expr, Feature, Question, Reason, Statistics, System};

use super::liveness::{EmptinessResult, Specification, collect as collect_lasso};
use super::options::{Emptiness, Explicit, Options, Search, StoreKind};
use super::partial::may_fault;
use super::reduction::{Algorithm, Methods, Proviso, Reduction};
use super::subject::Subject;
use super::symmetry::SymmetryReduction;
use super::work::{check_with, states_with};
use super::{KnownCoverage, Request, Run, atomic, has_hidden_variables, is_sequential};
use super::{SEQUENTIAL, SYNCHRONOUS};
use crate::check::Cut;
use crate::compile::{Compiled, Transition};
use crate::liveness::{self, Behind, BuchiAutomaton, Concurrent, GeneralisedBuchi, Lasso, Product, Step, Stops};
use crate::space::{Checked, StateSpace};
use crate::store::{ExactStore, FlatStore, Handle, Store, Visible, Whole};

/// Searches state spaces with workers of its own.
pub trait Searcher: Sync {
    /// Looks for violations of safety properties.
    fn safety(&self, system: &System, search: &SafetySearch, budget: &Budget) -> SafetyFound;

    /// Looks for a run that an automaton accepts.
    fn emptiness(&self, system: &System, search: &EmptinessSearch<'_>, budget: &Budget) -> EmptinessFound;
}

/// A search for safety properties.
#[derive(Clone, Debug)]
pub struct SafetySearch {
    /// Look for deadlocks.
    pub deadlock: bool,
    /// Look for violated assertions and faults.
    pub assertions: bool,
    /// Look for states where one of these is false.
    pub invariants: Vec<Expr>,
    /// Persistent sets are computed like this, if any are used.
    pub persistent: Option<Persistent>,
    /// The search ends at the first violation, whatever it is of.
    pub stop_at_first: bool,
    /// States at this depth are not expanded.
    pub max_depth: u64,
    /// Long searches may compile to native code.
    pub is_native: bool,
    /// States may have parts that do not count.
    pub has_hidden: bool,
}

/// How persistent sets are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Persistent {
    /// How they are computed.
    pub algorithm: Algorithm,
    /// They leave violated assertions and faults alone, not only deadlocks and what is stated of states.
    pub keeps_assertions: bool,
    /// In each state something that is taken leads to a state that has yet to be expanded, or everything is taken.
    pub has_proviso: bool,
}

/// The states along a run from an initial state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// The states.
    pub states: Vec<Vec<u8>>,
    /// After the last of them comes a step that violates an assertion or is a fault; without states, there is such an
    /// initial state.
    pub violates: bool,
}

/// What a search for safety properties has found.
#[derive(Clone, Debug, Default)]
pub struct SafetyFound {
    /// A deadlock.
    pub deadlock: Option<Trace>,
    /// A violated assertion or a fault.
    pub assertions: Option<Trace>,
    /// For each invariant a violation.
    pub invariants: Vec<Option<Trace>>,
    /// Why the search ended early, if it did.
    pub ended: Option<Reason>,
    /// What it did.
    pub statistics: Statistics,
    /// The steps that were faults.
    pub cuts: Vec<Cut>,
    /// Why no persistent sets were used, if they were asked for.
    pub irreducible: Option<String>,
}

/// A search for runs that an automaton accepts.
#[derive(Clone, Debug)]
pub struct EmptinessSearch<'a> {
    /// The automaton.
    pub automaton: &'a BuchiAutomaton,
    /// What its atoms stand for.
    pub atoms: &'a [Expr],
    /// Deadlocked states repeat for ever.
    pub stutters: bool,
    /// A beginning is enough where all that can follow is accepted.
    pub is_hasty: bool,
    /// States at this depth are not expanded.
    pub max_depth: u64,
    /// Long searches may compile to native code.
    pub is_native: bool,
    /// States may have parts that do not count.
    pub has_hidden: bool,
}

/// A run of the product with an automaton, by its states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LassoTrace {
    /// The states before the cycle.
    pub prefix: Vec<Vec<u8>>,
    /// The states of the cycle, the first one included once, each with the marks of the transition after it. If there is
    /// only one, and it has no marks, the run may go on as it likes from there.
    pub cycle: Vec<(Vec<u8>, u64)>,
}

/// What a search for accepted runs has found.
#[derive(Clone, Debug, Default)]
pub struct EmptinessFound {
    /// An accepted run.
    pub run: Option<LassoTrace>,
    /// Why the search ended early, if it did.
    pub ended: Option<Reason>,
    /// What it did.
    pub statistics: Statistics,
    /// The run-time errors that stop runs.
    pub stops: Stops,
}

/// The explicit engine with the workers of a [`Searcher`].
pub struct Distributed<'a> {
    /// Whose workers search.
    pub searcher: &'a dyn Searcher,
    /// What the explicit engine is told.
    pub explicit: Explicit,
}

impl Distributed<'_> {
    fn options(&self, task: &Task<'_>) -> Options {
        Options { settings: task.settings.clone(), explicit: self.explicit }
    }
}

impl Engine for Distributed<'_> {
    fn name(&self) -> &'static str {
        self.explicit.name()
    }

    fn features(&self) -> &'static [Feature] {
        EXPLICIT
    }

    fn suits(&self, task: &Task<'_>, number: usize) -> Suits {
        if let Some(why) = refusal(&self.options(task)) {
            return Err(why);
        }
        if matches!(task.properties[number].question, Question::Ctl(_)) {
            return Err(NO_BRANCHING.into());
        }
        self.explicit.suits(task, number).map(|_| Fit::Well)
    }

    fn threads(&self, _: &Task<'_>, _: &Budget) -> usize {
        1
    }

    fn check(&self, task: &Task<'_>, board: &Board, budget: &Budget) -> Report {
        // The searches share the workers, one after the other.
        let budget = budget.clone().with_threads(1);
        check_with(task.system, task.properties, &self.options(task), Some(self.searcher), board, &budget)
    }

    fn count(&self, task: &Task<'_>, budget: &Budget) -> Report {
        states_with(task.system, &self.options(task), Some(self.searcher), budget)
    }
}

/// Of CTL.
pub(super) const NO_BRANCHING: &str = "CTL is checked within one process; without `--processes` and `--hosts` it is";
/// Of a never claim that changes the state.
pub(super) const NO_ACTING: &str =
    "a never claim that changes variables is checked within one process; without `--processes` and `--hosts` it is";
/// Of a model whose states need more than one space knows to be compared.
pub const NOT_SELF_CONTAINED: &str = "hidden variables in a model with so many combinations of live processes need one \
                                      process; without `--processes` and `--hosts` the model can be checked";
/// Of numbers for combinations of processes that workers use differently.
pub const NUMBERED_TWICE: &str = "two combinations of live processes have the same number in different workers; without \
                                  `--processes` and `--hosts` the model can be checked";

/// Why several processes cannot search as the options say; none if they can.
pub fn refusal(options: &Options) -> Option<String> {
    let explicit = &options.explicit;
    let only = |what: &str| Some(format!("{what} works within one process, not with `--processes` or `--hosts`"));
    if explicit.store != StoreKind::Exact {
        return only("an approximate, compressed or disk store");
    }
    if !matches!(explicit.search, Search::Auto | Search::BreadthFirst) {
        return only(&format!("`{}`", explicit.search.option()));
    }
    if explicit.emptiness == Emptiness::Nested {
        return only("the nested search");
    }
    if matches!(explicit.symmetry, SymmetryReduction::Canonical | SymmetryReduction::Lazy) {
        return only("symmetry reduction");
    }
    if options.settings.checkpoint.is_some() {
        return only("a checkpoint");
    }
    if options.settings.unreached == UnreachedCode::Required {
        return only("the search for statements that are never executed");
    }
    if options.settings.fairness != Fairness::None {
        return only("weak or strong fairness");
    }
    match options.reduction() {
        Reduction::TwoPhase => only("two-phase reduction"),
        Reduction::By(Methods { sleep: true, .. }) => only("a search with sleep sets"),
        Reduction::By(Methods { cache: Some(_), .. }) => only("a cache of states"),
        Reduction::By(Methods { proviso: Proviso::Stack | Proviso::Components, .. }) => {
            only("a proviso on the stack or on components")
        }
        _ => None,
    }
}

/// Searches for safety properties.
pub(super) fn run(
    system: &Subject<'_>,
    searcher: &dyn Searcher,
    request: &Request,
    options: &Options,
    budget: &Budget,
) -> Run {
    if let Some(why) = refusal(options) {
        return Run { ended: Some(Reason::Unsupported(why)), ..Run::default() };
    }
    let may_fault = may_fault(system);
    let (persistent, why_none) = match persistent(system, request, options, may_fault) {
        Ok(persistent) => (persistent, None),
        Err(why) => (None, Some(why.to_owned())),
    };
    let search = SafetySearch {
        deadlock: request.deadlock,
        assertions: request.assertions,
        invariants: request.invariants.clone(),
        persistent,
        stop_at_first: options.settings.stop_at_first,
        max_depth: options.settings.max_depth.unwrap_or(u64::MAX),
        is_native: !options.explicit.no_native,
        has_hidden: has_hidden_variables(system),
    };
    let found = searcher.safety(system, &search, budget);
    let persistent = persistent.filter(|_| found.irreducible.is_none());
    let reduction = match (persistent, found.irreducible.or(why_none)) {
        (_, Some(why)) => Some(format!("none, because {why}")),
        (Some(persistent), None) => Some(describe(persistent, options)),
        (None, None) => None,
    };
    let only_deadlocks = persistent.is_some_and(|persistent| !persistent.has_proviso);
    let mut ended = found.ended;
    let mut evidence = Evidence { system, expressions: &request.invariants, budget, has_hidden: search.has_hidden };
    let mut moves = |trace: Option<Trace>| {
        let trace = trace?;
        let run = evidence.run(&trace);
        if let Err(why) = &run {
            ended.get_or_insert(why.clone());
        }
        run.ok()
    };
    Run {
        deadlock: moves(found.deadlock),
        assertions: moves(found.assertions),
        invariants: found.invariants.into_iter().map(moves).collect(),
        ended,
        statistics: found.statistics,
        reduction,
        symmetry: None,
        only_deadlocks,
        cuts: found.cuts,
        is_reduced: persistent.is_some(),
        may_miss_faults: only_deadlocks && may_fault,
        coverage: KnownCoverage(Err("workers of several processes do not note which statements are executed")),
    }
}

/// The persistent sets that a search may use, or why none though they are asked for.
fn persistent(
    system: &Subject<'_>,
    request: &Request,
    options: &Options,
    may_fault: bool,
) -> Result<Option<Persistent>, &'static str> {
    let methods = match options.reduction() {
        Reduction::Auto if !request.is_empty() => Methods { persistent: Some(Algorithm::Guards), ..Methods::default() },
        Reduction::By(methods) => methods,
        _ => return Ok(None),
    };
    let Some(algorithm) = methods.persistent else { return Ok(None) };
    if system.synchronous().is_some() {
        return Err(SYNCHRONOUS);
    }
    if is_sequential(system) {
        return Err(SEQUENTIAL);
    }
    let is_auto = options.reduction() == Reduction::Auto;
    // A run-time error cuts runs whatever is asked, and is told. Who names a method gets that method.
    let keeps_assertions = request.assertions || request.is_empty() || is_auto && may_fault;
    let looks_further = keeps_assertions || !request.invariants.is_empty();
    let has_proviso = looks_further && methods.proviso != Proviso::None;
    Ok(Some(Persistent { algorithm, keeps_assertions, has_proviso }))
}

fn describe(persistent: Persistent, options: &Options) -> String {
    let algorithm = options.reduction().algorithm();
    if persistent.has_proviso { format!("{algorithm}, proviso on the queue") } else { algorithm.to_string() }
}

/// Looks for an accepted run.
pub(super) fn look_for(
    system: &Subject<'_>,
    searcher: &dyn Searcher,
    specification: &Specification<'_>,
    options: &Options,
    budget: &Budget,
) -> EmptinessResult {
    if specification.automaton.len() > liveness::MAX_STATES {
        return EmptinessResult::unsupported("the automaton of the formula has too many states");
    }
    if let Some(why) = refusal(options) {
        return EmptinessResult::unsupported(why);
    }
    let search = EmptinessSearch {
        automaton: &specification.automaton,
        atoms: specification.atoms,
        stutters: specification.stutters,
        is_hasty: options.settings.fairness == Fairness::None || !atomic::may_be_endless(system),
        max_depth: options.settings.max_depth.unwrap_or(u64::MAX),
        is_native: !options.explicit.no_native,
        has_hidden: has_hidden_variables(system),
    };
    let found = searcher.emptiness(system, &search, budget);
    let mut evidence = Evidence { system, expressions: specification.atoms, budget, has_hidden: search.has_hidden };
    let (run, ended) = match found.run.map(|lasso| evidence.lasso(&search, &lasso)) {
        None => (None, found.ended),
        Some(Ok(run)) => (Some(run), found.ended),
        Some(Err(why)) => (None, Some(why)),
    };
    let stops = found.stops;
    EmptinessResult { run, ended, statistics: found.statistics, stops, ..EmptinessResult::default() }
}

/// Finds the moves between states.
struct Evidence<'a, 's> {
    system: &'a Subject<'s>,
    expressions: &'a [Expr],
    budget: &'a Budget,
    has_hidden: bool,
}

/// Some workers have found a run that this one cannot follow.
fn not_followed() -> Reason {
    Reason::Internal("a counterexample that workers have found is no run of the model".into())
}

impl Evidence<'_, '_> {
    fn run(&mut self, trace: &Trace) -> Result<evidence::Run, Reason> {
        let mut space = self.system.space(self.expressions, self.budget)?;
        let visible = space.visible();
        let length = |state: &[u8]| if self.has_hidden { visible(state) } else { state.len() };
        let same = |one: &[u8], other: &[u8]| one[..length(one)] == other[..length(other)];
        let mut moves = Vec::new();
        let is_start = |space: &mut Compiled, out: &[u8]| match trace.states.first() {
            None => space.violation().is_some(),
            Some(first) => !space.is_dead() && same(first, out),
        };
        let position = start(&mut space, is_start).ok_or_else(not_followed)?;
        for pair in trace.states.windows(2) {
            let is_it = |space: &mut Compiled, _: &Transition, out: &[u8]| !space.is_dead() && same(out, &pair[1]);
            let transition = step(&mut space, &pair[0], is_it).ok_or_else(not_followed)?;
            moves.extend(space.actions(&pair[0], &transition));
        }
        if let Some(last) = trace.states.last()
            && trace.violates
        {
            let transition =
                step(&mut space, last, |space, _, _| space.violation().is_some()).ok_or_else(not_followed)?;
            moves.extend(space.actions(last, &transition));
        }
        Ok(evidence::Run { start: space.start_number(position), moves })
    }

    fn lasso(&mut self, search: &EmptinessSearch<'_>, lasso: &LassoTrace) -> Result<evidence::Lasso, Reason> {
        let space = self.system.space(self.expressions, self.budget)?;
        let product = Product::new(space, search.automaton.clone()).stutters(search.stutters).hasty(search.is_hasty);
        if self.has_hidden {
            let mut product = product;
            let visible = product.space().visible();
            lasso_of(product, Behind(visible), lasso)
        } else {
            lasso_of(product, Behind(Whole), lasso)
        }
    }
}

/// The position of the initial state that it is.
fn start<P: StateSpace<State = [u8]>>(space: &mut P, mut is_it: impl FnMut(&mut P, &[u8]) -> bool) -> Option<usize> {
    let mut out = Vec::new();
    let mut position = 0;
    while space.initial(position, &mut out) {
        if is_it(space, &out) {
            return Some(position);
        }
        position += 1;
    }
    None
}

/// The first transition out of a state that it is.
fn step<P: StateSpace<State = [u8]>>(
    space: &mut P,
    state: &[u8],
    mut is_it: impl FnMut(&mut P, &P::Transition, &[u8]) -> bool,
) -> Option<P::Transition> {
    let mut out = Vec::new();
    let mut next = space.first(state);
    while let Some(transition) = next {
        space.target(state, &transition, &mut out);
        if is_it(space, &transition, &out) {
            return Some(transition);
        }
        next = space.next(state, &transition);
    }
    None
}

fn lasso_of(
    mut product: Product<Compiled>,
    visible: impl Visible,
    lasso: &LassoTrace,
) -> Result<evidence::Lasso, Reason> {
    let mut store = FlatStore::<(), _>::with_visible(visible);
    let mut stored = |state: &[u8]| store.insert(state).handle().ok_or(Reason::Memory);
    let prefix = lasso.prefix.iter().map(|state| stored(state)).collect::<Result<Vec<_>, _>>()?;
    let cycle = lasso.cycle.iter().map(|(state, _)| stored(state)).collect::<Result<Vec<_>, _>>()?;
    let end = *cycle.first().ok_or_else(not_followed)?;
    let is_open = matches!(lasso.cycle.as_slice(), [(_, 0)]);
    let mut between = |from: Handle, to: Handle, marks: u64| -> Result<(Handle, Step<Transition>), Reason> {
        let is_it = |product: &mut Product<Compiled>, step: &Step<Transition>, out: &[u8]| {
            !product.is_dead() && product.marks(step) & marks == marks && store.same(store.get(to), out)
        };
        let step = step(&mut product, store.get(from), is_it).ok_or_else(not_followed)?;
        Ok((from, step))
    };
    let steps =
        |states: &[Handle],
         marks: &dyn Fn(usize) -> u64,
         last: Handle,
         between: &mut dyn FnMut(Handle, Handle, u64) -> Result<(Handle, Step<Transition>), Reason>| {
            let targets = states.iter().skip(1).copied().chain([last]);
            let pairs = states.iter().copied().zip(targets).enumerate();
            pairs.map(|(position, (from, to))| between(from, to, marks(position))).collect::<Result<Vec<_>, Reason>>()
        };
    let prefix = steps(&prefix, &|_| 0, end, &mut between)?;
    let cycle =
        if is_open { Vec::new() } else { steps(&cycle, &|position| lasso.cycle[position].1, end, &mut between)? };
    let report =
        liveness::Report { found: Some(Lasso { prefix, end, cycle }), ended: None, statistics: Statistics::default() };
    let collected = collect_lasso(&mut product, &store, report, None);
    collected.run.ok_or_else(not_followed)
}
