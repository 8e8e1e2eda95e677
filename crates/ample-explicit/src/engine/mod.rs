//! The explicit engine: compile a system, search its states, and turn paths into moves.

pub mod atomic;
pub mod automaton;
pub mod branching;
mod checkpointed;
pub mod claimed;
pub mod covering;
mod directed;
pub mod distributed;
mod heuristic;
pub mod liveness;
mod near;
pub mod options;
mod partial;
pub mod reduce;
pub mod reduction;
mod stores;
mod subject;
pub mod symmetry;
mod threads;
mod two_phase;
pub mod work;

use std::time::Instant;

use crate::check::{self as safety, Cut, Violation};
use crate::compile::{Ample, Choice, Compiled, Packed};
use crate::liveness::Concurrent;
use crate::search::Path;
use crate::space::{Checked, Fork};
use crate::store::{ExactStore, FlatStore, Handle, Parent, Pathless, Visible, Whole};
use ample_engine::settings::UnreachedCode;
use ample_engine::unreached::Coverage;
use ample_model::evidence;
use ample_model::{Action, Budget, Cancellation, EdgeId, Expr, Instruction, ProcessType, Reason, Statistics, System};

use options::{Options, Search, StoreKind};
use partial::Attempt;
use reduction::{Algorithm, Methods, Reduction};
use subject::Subject;
use symmetry::{Expected, Keyed, Lift, SymmetryReduction};

/// How many new states lie between two looks at the budget: few enough for a limit to be kept to the tenth of
/// a second, and enough for the looking to cost nothing.
const REPORT_EVERY: u64 = 64;

/// What the rest of the process may need beside the store while the search runs.
const MARGIN: u64 = 2 << 20;

/// So many states are worth a second start, if the first one can give the shortest counterexample.
const WIDE: u64 = 1 << 20;

/// So many states are always worth looking at for a shorter counterexample.
const SHORTENED: u64 = 50_000;

/// What is asked of the engine.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Look for deadlocks.
    pub deadlock: bool,
    /// Look for violated assertions and faults.
    pub assertions: bool,
    /// Look for states where one of these is false.
    pub invariants: Vec<Expr>,
}

impl Request {
    /// Nothing is asked.
    pub fn is_empty(&self) -> bool {
        !self.deadlock && !self.assertions && self.invariants.is_empty()
    }

    /// What the generic layer is asked.
    fn safety(&self, options: &Options) -> safety::Options {
        safety::Options {
            deadlock: self.deadlock,
            assertions: self.assertions,
            invariants: self.invariants.len(),
            stop_at_first: options.settings.stop_at_first,
            max_depth: options.settings.max_depth.unwrap_or(u64::MAX),
            report_every: REPORT_EVERY,
        }
    }

    /// What has not been found yet. Invariants are all asked for again, so that they keep their numbers.
    fn without(&self, found: &Run) -> Request {
        Request {
            deadlock: self.deadlock && found.deadlock.is_none(),
            assertions: self.assertions && found.assertions.is_none(),
            invariants: self.invariants.clone(),
        }
    }
}

/// What the engine found.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// A deadlock.
    pub deadlock: Option<evidence::Run>,
    /// A violated assertion or a fault.
    pub assertions: Option<evidence::Run>,
    /// For each invariant a violation.
    pub invariants: Vec<Option<evidence::Run>>,
    /// Why the search ended early, if it did.
    pub ended: Option<Reason>,
    /// What the search did.
    pub statistics: Statistics,
    /// Which orders of steps were left out, or why none.
    pub reduction: Option<String>,
    /// Which symmetry was used, or why none.
    pub symmetry: Option<String>,
    /// Only deadlocks are decided: of what was not found nothing is known.
    pub only_deadlocks: bool,
    /// The steps that were run-time errors.
    pub cuts: Vec<Cut>,
    /// They were met in a part of the orders of steps only.
    pub is_reduced: bool,
    /// There may be others, and nobody would know.
    pub may_miss_faults: bool,
    /// Which edges were taken, if every edge was that is executable in a reachable state.
    pub coverage: KnownCoverage,
}

/// Which edges a complete search has taken, or why that is not known.
#[derive(Clone, Debug)]
pub struct KnownCoverage(pub Result<Coverage, &'static str>);

impl Default for KnownCoverage {
    fn default() -> KnownCoverage {
        KnownCoverage(Err("no search over single states has come to its end"))
    }
}

impl KnownCoverage {
    /// What this search knows, or a later one.
    fn or(self, later: KnownCoverage) -> KnownCoverage {
        if self.0.is_ok() { self } else { later }
    }
}

impl Run {
    /// What this run found, which is the shortest there is, and for the rest what a later one did.
    pub fn completed_by(self, later: Run) -> Run {
        let count = self.invariants.len().max(later.invariants.len());
        self.joined_by(count, later)
    }

    /// Everything that is asked is found to be violated.
    fn violates_all(&self, request: &Request) -> bool {
        let invariants = self.invariants.iter().filter(|found| found.is_some()).count();
        (!request.deadlock || self.deadlock.is_some())
            && (!request.assertions || self.assertions.is_some())
            && invariants == request.invariants.len()
    }

    /// What was found is as it is there, if it is shorter.
    fn shortened_by(self, other: Run) -> Run {
        let shorter = |found: Option<evidence::Run>, other: Option<evidence::Run>| match (found, other) {
            (Some(found), Some(other)) => Some(if other.moves.len() <= found.moves.len() { other } else { found }),
            (found, other) => found.or(other),
        };
        let count = self.invariants.len().max(other.invariants.len());
        let invariants = self.invariants.into_iter().chain(std::iter::repeat(None));
        let invariants = invariants.zip(other.invariants.into_iter().chain(std::iter::repeat(None))).take(count);
        Run {
            deadlock: shorter(self.deadlock, other.deadlock),
            assertions: shorter(self.assertions, other.assertions),
            invariants: invariants.map(|(found, other)| shorter(found, other)).collect(),
            ..self
        }
    }

    /// Both have searched, the other one later and for what this one had not found.
    fn joined_by(self, invariant_count: usize, later: Run) -> Run {
        let invariants = later.invariants.into_iter().chain(std::iter::repeat(None));
        let before = self.invariants.into_iter().chain(std::iter::repeat(None));
        // A search that was ended early may have met fewer of them than the one before.
        let met = |cuts: &[Cut]| cuts.iter().map(|cut| cut.count).sum::<u64>();
        let is_more = later.ended.is_none() || met(&later.cuts) >= met(&self.cuts);
        let (cuts, is_reduced) = if is_more { (later.cuts, later.is_reduced) } else { (self.cuts, self.is_reduced) };
        let invariants = before.zip(invariants).take(invariant_count);
        Run {
            deadlock: self.deadlock.or(later.deadlock),
            assertions: self.assertions.or(later.assertions),
            invariants: invariants.map(|(first, second)| first.or(second)).collect(),
            ended: later.ended,
            statistics: later.statistics,
            reduction: later.reduction,
            symmetry: later.symmetry.or(self.symmetry),
            only_deadlocks: later.only_deadlocks,
            cuts,
            is_reduced,
            may_miss_faults: later.may_miss_faults,
            coverage: self.coverage.or(later.coverage),
        }
    }

    /// Another search was part of the work.
    pub fn add(&mut self, more: &Statistics) {
        let all = &mut self.statistics;
        all.states += more.states;
        all.atomic_states += more.atomic_states;
        all.transitions += more.transitions;
        all.atomic_steps += more.atomic_steps;
        all.depth = all.depth.max(more.depth);
        all.time_s += more.time_s;
        all.memory_bytes = all.memory_bytes.max(more.memory_bytes);
        all.store_bytes = all.store_bytes.max(more.store_bytes);
        all.state_bytes = all.state_bytes.max(more.state_bytes);
        all.complete &= more.complete;
        all.counts_transitions |= more.counts_transitions;
        all.counts_depth |= more.counts_depth;
        let sum = |one: Option<u64>, other: Option<u64>| match (one, other) {
            (Some(one), Some(other)) => Some(one + other),
            (one, other) => one.or(other),
        };
        all.expanded = sum(all.expanded, more.expanded);
        all.reopened = sum(all.reopened, more.reopened);
    }

    /// Something is violated.
    pub fn found_something(&self) -> bool {
        self.deadlock.is_some() || self.assertions.is_some() || self.invariants.iter().any(Option::is_some)
    }
}

/// Searches the state space of the system.
///
/// Whether a large one is symmetric is found out when it has turned out to be large; one that is not goes on.
fn run(system: &Subject<'_>, request: &Request, options: &Options, budget: &Budget) -> Run {
    if let Some(searcher) = system.searcher() {
        return distributed::run(system, searcher, request, options, budget);
    }
    if options.explicit.search.is_directed() {
        return directed::run(system, request, options, budget);
    }
    if let Some(checkpoint) = &options.settings.checkpoint {
        return checkpointed::run(system, request, options, checkpoint, budget);
    }
    let is_required = options.settings.unreached == UnreachedCode::Required;
    if options.explicit.symmetry != SymmetryReduction::Auto || request.is_empty() && !is_required {
        return run_as_told(system, request, options, budget);
    }
    let plain = options.with_symmetry(SymmetryReduction::None);
    let canonical = options.with_symmetry(SymmetryReduction::Canonical);
    let (small, large) = symmetry::until_large(system, &request.invariants, options, |_| true, budget);
    let first = run_as_told(system, request, &plain, &small);
    if !large.is_cancelled() || first.ended.is_none() || budget.check().is_err() {
        return first;
    }
    let second = run_as_told(system, &request.without(&first), &canonical, budget);
    first.completed_by(second)
}

/// Searches with the symmetry that the options name.
fn run_as_told(system: &Subject<'_>, request: &Request, options: &Options, budget: &Budget) -> Run {
    let is_required = options.settings.unreached == UnreachedCode::Required;
    let methods = match options.reduction() {
        Reduction::Auto if !request.is_empty() || is_required => {
            Methods { persistent: Some(Algorithm::Guards), ..Methods::default() }
        }
        Reduction::Auto | Reduction::None => return run_plain(system, request, options, budget),
        Reduction::By(methods) => methods,
        Reduction::TwoPhase => Methods::default(),
    };
    let is_auto = options.reduction() == Reduction::Auto;
    let mut near = None;
    let attempt = if options.explicit.store == StoreKind::Disk && options.reduction() != Reduction::TwoPhase {
        Attempt::Irreducible(ON_DISK.into())
    } else if is_sequential(system) && methods.cache.is_none() {
        let why = if system.synchronous().is_some() { SYNCHRONOUS } else { SEQUENTIAL };
        Attempt::Irreducible(why.into())
    } else if options.reduction() == Reduction::TwoPhase {
        two_phase::run(system, request, options, budget)
    } else if is_auto && options.explicit.search == Search::Auto && options.explicit.store.is_exact() {
        let deep = |budget: &Budget| partial::run(system, request, methods, options, budget);
        let wide = |budget: &Budget| run_plain(system, request, &options.searching(Search::BreadthFirst), budget);
        let (attempt, found) = near::beside(request, budget, deep, wide);
        near = found;
        attempt
    } else {
        partial::run(system, request, methods, options, budget)
    };
    let reduced = match attempt {
        Attempt::Done(run) => *run,
        Attempt::Irreducible(why) => {
            let run = run_plain(system, request, options, budget);
            return Run { reduction: Some(format!("none, because {why}")), ..run };
        }
        Attempt::Useless => {
            let run = run_plain(system, request, options, budget);
            return Run { reduction: Some("none, because hardly anything could be left out".into()), ..run };
        }
    };
    match near {
        None => shorten(system, request, options, budget, reduced),
        Some(near) if reduced.ended == Some(Reason::Interrupted) && near.violates_all(request) => near,
        // What was found nearby is as short as can be.
        Some(near) => reduced.shortened_by(near),
    }
}

/// Looks for the shortest counterexamples, not too far.
fn shorten(system: &Subject<'_>, request: &Request, options: &Options, budget: &Budget, run: Run) -> Run {
    if !run.found_something() || options.explicit.search == Search::DepthFirst {
        return run;
    }
    let again = Request {
        deadlock: run.deadlock.is_some(),
        assertions: run.assertions.is_some(),
        invariants: request.invariants.clone(),
    };
    let begun = Instant::now();
    // Not much longer than it took to find one.
    let most = SHORTENED.saturating_add(run.statistics.states.saturating_mul(4)).min(WIDE);
    // What is near is found with the exact store as well.
    let is_exact = options.explicit.store.is_exact();
    let wide = options.exactly().searching(Search::BreadthFirst);
    let short = if options.explicit.search == Search::BreadthFirst && is_exact {
        run_plain(system, &again, &wide, budget)
    } else {
        run_plain(system, &again, &wide, &Patience::with(budget, most).budget)
    };
    let mut run = run.shortened_by(short);
    run.statistics.time_s += begun.elapsed().as_secs_f64();
    run
}

/// Searches the whole state space of the system.
fn run_plain(system: &Subject<'_>, request: &Request, options: &Options, budget: &Budget) -> Run {
    let mut space = match system.space(&request.invariants, budget) {
        Ok(space) => space,
        Err(error) => return Run { ended: Some(error.into()), ..Run::default() },
    };
    if notes_executed(system, options) {
        space.note_executed();
    }
    let symmetry = match symmetry::wanted(system, &request.invariants, options, budget) {
        None => None,
        Some(Err(why)) => Some(format!("none, because {why}")),
        Some(Ok(using)) => match using.representatives(&space) {
            Err(why) => Some(format!("none, because {why}")),
            Ok(representatives) => {
                let is_lazy = using.choice() == Choice::Lazy;
                let run = if is_lazy {
                    search(Keyed::new(space, representatives), symmetry::key_length, request, options, budget)
                } else {
                    space.represent_by(Some(representatives));
                    search(space, Whole, request, options, budget)
                };
                return Run { symmetry: Some(using.describe()), is_reduced: true, ..run };
            }
        },
    };
    if !has_hidden_variables(system) {
        let packed = if options.explicit.store == StoreKind::Exact { Packed::of(space) } else { Err(Box::new(space)) };
        let run = match packed {
            Ok(packed) => search(packed, Whole, request, options, budget),
            Err(space) => search(*space, Whole, request, options, budget),
        };
        return Run { symmetry, ..run };
    }
    let visible = space.visible();
    let run = search(space, visible, request, options, budget);
    Run { symmetry, ..run }
}

/// Why nothing is left out with states on disk.
const ON_DISK: &str = "the store on disk does not tell at once which states are new, which persistent sets need; \
                       `--por two-phase` can be used with it";

/// Why nothing is left out of a synchronous system.
const SYNCHRONOUS: &str = "everything moves at once, and there are no orders of steps";

/// Why nothing is left out of a sequential program.
const SEQUENTIAL: &str = "there is only one process, and no order of its steps";

/// There is never more than one process, and never another step that it can still take after one of its steps: so there
/// are no orders of steps to choose from. Steps that stay where they are, and atomic sequences, which may come back to
/// where they began, may be such steps.
fn is_sequential(system: &System) -> bool {
    let may_stay = |process: &ProcessType, from: usize, edge: &EdgeId| {
        let edge = &process.edges[edge.index()];
        edge.keeps_control || edge.to.index() == from
    };
    let has_orders = |process: &ProcessType| {
        let mut locations = process.locations.iter().enumerate();
        locations.any(|(from, location)| location.edges.iter().filter(|edge| may_stay(process, from, edge)).count() > 1)
    };
    if system.processes.iter().any(has_orders) {
        return false;
    }
    let spawns = |instruction: &Instruction| {
        matches!(instruction, Instruction::Do(Action::Spawn { .. }) | Instruction::Try(Action::Spawn { .. }, _))
    };
    let mut edges = system.processes.iter().flat_map(|process| &process.edges);
    system.start.len() <= 1 && !edges.any(|edge| edge.effect.iter().any(spawns))
}

/// It is to be noted which edges are taken, for the statements that no run executes. States that differ in hidden variables
/// only are the same to a search, and what comes after the second of them is not looked at.
fn notes_executed(system: &System, options: &Options) -> bool {
    options.settings.unreached != UnreachedCode::Ignored
        && system.synchronous().is_none()
        && !has_hidden_variables(system)
}

fn has_hidden_variables(system: &System) -> bool {
    let locals = system.processes.iter().flat_map(|process| &process.locals);
    system.globals.iter().chain(locals).any(|variable| variable.hidden)
}

fn search<P: Checked<State = [u8], Transition: Send> + Concurrent + OfCompiled + Fork>(
    mut space: P,
    visible: impl Visible + Clone + 'static,
    request: &Request,
    options: &Options,
    budget: &Budget,
) -> Run {
    let safety = request.safety(options);
    let room = room_for_the_store(budget);
    if !options.explicit.store.is_exact() {
        return stores::plain(&mut space, visible.key(), request, &safety, options, room, budget);
    }
    let run = |space: &mut P, order: Search, room: usize, budget: &Budget| {
        let visible = visible.clone();
        if order == Search::DepthFirst {
            let mut store = FlatStore::<(), _>::with_visible(visible).limit(room);
            let report = safety::depth_first(space, &mut store, &safety, budget);
            collect(space, &store, report)
        } else if request.is_empty() {
            let store = FlatStore::<Pathless, _>::with_visible(visible).limit(room);
            threads::breadth_first(space, store, &safety, budget)
        } else {
            let store = FlatStore::<Parent, _>::with_visible(visible).limit(room);
            threads::breadth_first(space, store, &safety, budget)
        }
    };
    // To count states there is nothing to be found deep down.
    if options.explicit.search != Search::Auto || request.is_empty() {
        return run(&mut space, options.explicit.search, room, budget);
    }
    let first = match space.fork() {
        None => run(&mut space, Search::BreadthFirst, room, budget),
        Some(mut other) => {
            let wide = |budget: &Budget| run(&mut space, Search::BreadthFirst, room, budget);
            let deep = |budget: &Budget| {
                let mut store = FlatStore::<(), _>::with_visible(Whole).limit(room / 4);
                let report = safety::depth_first(&mut other, &mut store, &safety, budget);
                collect(&mut other, &store, report)
            };
            match near::beside(request, budget, wide, deep) {
                (first, None) => first,
                (first, Some(deep)) if first.ended == Some(Reason::Interrupted) && deep.violates_all(request) => {
                    Run { statistics: first.statistics, ..deep }
                }
                (first, Some(deep)) => first.shortened_by(deep),
            }
        }
    };
    if first.ended != Some(Reason::Memory) || space.compiled().representing().is_some() {
        return first;
    }
    // There is more room in a tree.
    let compact = options.storing(StoreKind::Tree);
    let open = request.without(&first);
    let compiled = space.compiled();
    let second = stores::plain(compiled, visible.key(), &open, &open.safety(options), &compact, room, budget);
    first.completed_by(second)
}

/// Patience with a breadth-first search, which ends when that has become too wide to find anything soon.
struct Patience {
    budget: Budget,
    lost: Cancellation,
}

impl Patience {
    fn of(budget: &Budget) -> Patience {
        Patience::with(budget, WIDE)
    }

    /// It ends after so many states.
    fn with(budget: &Budget, most: u64) -> Patience {
        let (budget, lost) = budget.until(move |progress| progress.states > most);
        Patience { budget, lost }
    }

    /// The search has become too wide, and there is still something left of the whole budget.
    fn is_lost(&self, whole: &Budget) -> bool {
        self.lost.is_cancelled() && whole.check().is_ok()
    }
}

/// What the store may hold.
fn room_for_the_store(budget: &Budget) -> usize {
    budget.room().map_or(usize::MAX, |room| usize::try_from(room.saturating_sub(MARGIN)).unwrap_or(usize::MAX))
}

/// A state space that is a compiled system, or made of one.
trait OfCompiled {
    /// The compiled system. It may run into a limit of its representation, or give up a search for the next step.
    fn compiled(&mut self) -> &mut Compiled;
}

impl OfCompiled for Compiled {
    fn compiled(&mut self) -> &mut Compiled {
        self
    }
}

impl OfCompiled for Packed {
    fn compiled(&mut self) -> &mut Compiled {
        self.space()
    }
}

impl OfCompiled for Ample<'_> {
    fn compiled(&mut self) -> &mut Compiled {
        Ample::compiled(self)
    }
}

impl OfCompiled for two_phase::Space<'_> {
    fn compiled(&mut self) -> &mut Compiled {
        self.space().compiled()
    }
}

/// The paths of a report as moves.
fn collect<P, S>(space: &mut P, store: &S, report: safety::Report<P::Transition>) -> Run
where
    P: Checked<State = [u8]> + Concurrent + OfCompiled,
    S: ExactStore<[u8]>,
{
    // A step that could not be represented is no fault of the model, and not an answer.
    let mut report = report;
    if let Some(limit) = space.compiled().limit_reached() {
        report.assertions = None;
        report.cuts.clear();
        if !matches!(limit, Reason::Unsupported(_)) {
            // The state whose steps were not all looked for may seem to have none.
            report.deadlock = None;
        }
        report.ended = Some(limit);
        report.exhausted = false;
    }
    let coverage = match (report.exhausted, &report.ended) {
        (true, _) => space.compiled().coverage().ok_or("it was not noted which statements are executed"),
        (false, Some(_)) => Err("the search did not come to its end"),
        (false, None) => Err("the search ended with a violation"),
    };
    let mut ended = report.ended;
    let mut moves = |violation: Option<Violation<P::Transition>>, is_deadlock: bool| {
        let violation = violation?;
        if space.compiled().representing().is_none() {
            return Some(found(space, store, &violation.path));
        }
        let run = lifted(space, store, &violation.path, is_deadlock);
        if run.is_none() {
            ended.get_or_insert(Reason::Unsupported(NOT_LIFTED.into()));
        }
        run
    };
    Run {
        deadlock: moves(report.deadlock, true),
        assertions: moves(report.assertions, false),
        invariants: report.invariants.into_iter().map(|violation| moves(violation, false)).collect(),
        ended,
        statistics: report.statistics,
        reduction: None,
        symmetry: None,
        only_deadlocks: false,
        cuts: report.cuts,
        is_reduced: false,
        may_miss_faults: false,
        coverage: KnownCoverage(coverage),
    }
}

/// A run of the quotient that no run of the system follows.
const NOT_LIFTED: &str = "internal error: a counterexample of the symmetry reduction is no run of the model; \
                          `--symmetry none` does without";

/// The run of the system that follows a path of representatives.
fn lifted<P, S>(space: &mut P, store: &S, path: &Path<P::Transition>, is_deadlock: bool) -> Option<evidence::Run>
where
    P: Checked<State = [u8]> + Concurrent + OfCompiled,
    S: ExactStore<[u8]>,
{
    let first = store.get(path.states().next()?);
    let (mut lift, start) = Lift::start(space.compiled(), first)?;
    let mut out = Vec::new();
    for (state, transition) in &path.steps {
        space.target(store.get(*state), transition, &mut out);
        let (is_dead, violates) = (space.is_dead(), space.violation().is_some());
        if !lift.step(&Expected { state: &out, is_dead, violates }) {
            return None;
        }
    }
    if is_deadlock {
        lift.settle();
    }
    Some(evidence::Run { start, moves: lift.moves })
}

fn found<P, S>(space: &mut P, store: &S, path: &Path<P::Transition>) -> evidence::Run
where
    P: Checked<State = [u8]> + Concurrent,
    S: ExactStore<[u8]>,
{
    let mut moves = Vec::new();
    for (state, transition) in &path.steps {
        moves.extend(space.actions(store.get(*state), transition));
    }
    let start = start_of(space, store, path.states().next());
    evidence::Run { start: space.start_number(start), moves }
}

/// The position of the initial state that is that one in the store.
fn start_of<P, S>(space: &mut P, store: &S, first: Option<Handle>) -> usize
where
    P: Checked<State = [u8]>,
    S: ExactStore<[u8]>,
{
    let mut state = Vec::new();
    let mut position = 0;
    while space.initial(position, &mut state) {
        let is_it = match first {
            None => space.is_dead(),
            Some(first) => !space.is_dead() && store.same(store.get(first), &state),
        };
        if is_it {
            return position;
        }
        position += 1;
    }
    0
}
