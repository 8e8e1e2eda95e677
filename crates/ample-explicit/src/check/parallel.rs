//! The safety check by several threads: breadth-first, level by level.
//!
//! A search begins in one thread. When it has become large and there are cores that nobody uses, the store is handed over to
//! several workers ([`SharedStore`]), and the search goes on where it was. Workers take the states of a level a few at a time,
//! and begin the next level when all are done. So a state has the depth that it has in the search by one thread: what is
//! counted is the same, and paths are shortest ones, whatever the number of threads. Only which of several shortest paths
//! is found, and what was counted when the last violation is found, depends on who is faster.
//!
//! Narrow levels are expanded by the worker that was last to come to the end of the level before. It is entitled to the
//! core that the search has anyway; the others help as long as there are [spare](Budget::spare_core) cores.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use ample_budget::Budget;
use ample_engine::workers::run_workers;
use ample_model::outcome::Reason;

use super::{Options, Report, Safety, Violation, WINDOW};
use crate::search::{BreadthFirst, LevelSearch, Pause, Position, Span, Spans, Terminated};
use crate::space::{Checked, Fork};
use crate::store::{ExactStore, FlatStore, Linked, SharedStore, Store, Visible, Worker};

/// When several threads are worth it.
#[derive(Clone, Copy, Debug)]
struct Thresholds {
    /// So many states have been found.
    large: usize,
    /// So many states there are in a level; others are expanded by one thread.
    wide: usize,
}

const THRESHOLDS: Thresholds = Thresholds { large: 30_000, wide: 1_000 };

/// So many states are expanded between two looks at whether the search has become large.
const LOOK_EVERY: u32 = 256;

/// With less memory left than this for each of them, several threads are not worth it: the last chunks stay half empty.
const LEAST_ROOM: usize = 32 << 20;

/// A worker tells how it goes after so many arrivals at most.
const TELL_EVERY: u64 = 2048;

/// What a search has found, and the store to which its handles belong.
pub(crate) enum Searched<T, D, V> {
    /// It came to its end in one thread.
    Alone(Report<T>, FlatStore<D, V>),
    /// It came to its end in several.
    Together(Report<T>, SharedStore<D>),
}

/// Checks breadth-first, by several threads once the search has become large, if the budget allows for them and nothing
/// depends on the order in which states are found. The paths to violations are shortest ones. The store must be empty.
pub(crate) fn breadth_first_together<S, D, V>(
    space: &mut S,
    store: FlatStore<D, V>,
    options: &Options,
    budget: &Budget,
) -> Searched<S::Transition, D, V>
where
    S: Checked<State = [u8]> + Fork,
    S::Transition: Send,
    D: Linked,
    V: Visible,
{
    search(space, store, options, budget, THRESHOLDS)
}

fn search<S, D, V>(
    space: &mut S,
    mut store: FlatStore<D, V>,
    options: &Options,
    budget: &Budget,
    thresholds: Thresholds,
) -> Searched<S::Transition, D, V>
where
    S: Checked<State = [u8]> + Fork,
    S::Transition: Send,
    D: Linked,
    V: Visible,
{
    // What is hidden in a state, and which violation is the first, depends on the order.
    let has_order = !store.is_whole() || options.stop_at_first;
    let threads = if has_order { 1 } else { budget.threads() };
    let strategy = BreadthFirst { max_depth: options.max_depth, window: WINDOW };
    let mut safety = Safety::new(options, budget);
    let look_every = LOOK_EVERY.min(thresholds.large as u32);
    let mut handover =
        Handover { threads, large: thresholds.large, budget, look_every, countdown: look_every, position: None };
    strategy.run_from(None, space, &mut store, &mut safety, &mut handover);
    if let Some(position) = handover.position {
        let mut others: Vec<S> = (1..threads).map_while(|_| space.fork()).collect();
        let frontier = Waiting::of(&store, &position);
        let shared = if others.is_empty() { Err(store) } else { SharedStore::of(store, 1 + others.len()) };
        match shared {
            Ok(shared) => {
                let team = Team::new(1 + others.len(), frontier, options.invariants, thresholds.wide);
                let report = together(space, &mut others, &shared, &team, safety, budget);
                others.into_iter().for_each(|other| space.join(other));
                return Searched::Together(report, shared);
            }
            Err(alone) => {
                store = alone;
                strategy.run_from(Some(position), space, &mut store, &mut safety, &mut ());
            }
        }
    }
    let report = safety.report(store.bytes(), store.state_bytes());
    Searched::Alone(report, store)
}

/// Ends the search by one thread when it has become large and others can help.
struct Handover<'a> {
    threads: usize,
    large: usize,
    budget: &'a Budget,
    look_every: u32,
    countdown: u32,
    /// Where it was then.
    position: Option<Position>,
}

impl<D: Linked, V: Visible, T> Pause<FlatStore<D, V>, Safety<'_, T>> for Handover<'_> {
    #[inline]
    fn is_due(&mut self) -> bool {
        self.countdown -= 1;
        if self.countdown > 0 {
            return false;
        }
        self.countdown = self.look_every;
        self.threads > 1
    }

    fn pause(&mut self, position: &Position, store: &FlatStore<D, V>, _: &Safety<'_, T>) -> bool {
        let is_time = store.len() >= self.large
            && position.waiting > 0
            && store.room() / self.threads >= LEAST_ROOM
            && self.budget.spare_core().is_some();
        self.position = is_time.then_some(*position);
        !is_time
    }
}

/// The states that wait in a search by one thread.
struct Waiting {
    level: Level,
    /// What was found for the level after that one.
    next: Spans,
}

impl Waiting {
    fn of<D: Linked, V: Visible>(store: &FlatStore<D, V>, position: &Position) -> Waiting {
        let (mut level, mut next) = (Spans::default(), Spans::default());
        let mut state = position.expanded;
        let mut is_next = position.level_end == Some(state);
        for _ in 0..position.waiting {
            let Some(after) = store.after(state) else { break };
            state = after;
            if is_next { &mut next } else { &mut level }.add(state);
            is_next |= position.level_end == Some(state);
        }
        Waiting { level: Level::of(level, position.depth), next }
    }
}

/// The states of one depth that have yet to be expanded.
#[derive(Default)]
struct Level {
    spans: Vec<Span>,
    states: usize,
    depth: u64,
    /// The first span that nobody has taken.
    next: AtomicUsize,
}

impl Level {
    fn of(found: Spans, depth: u64) -> Level {
        let states = found.states();
        Level { spans: found.into_spans(), states, depth, next: AtomicUsize::new(0) }
    }

    /// Takes a span, and says how many states are left behind it.
    fn take(&self) -> Option<(Span, usize)> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let span = *self.spans.get(number)?;
        Some((span, self.states * (self.spans.len() - number - 1) / self.spans.len()))
    }
}

/// Where workers come to at the end of a level.
struct Turn {
    /// How many wait here.
    idle: usize,
    /// The level in which all are to help, and how many there have been.
    level: Arc<Level>,
    begun: u64,
    depth: u64,
    /// What workers have found for the next level.
    found: Spans,
    is_over: bool,
}

/// What workers share beside the store.
struct Team {
    workers: usize,
    /// Levels with fewer states are expanded by one of them.
    wide: usize,
    turn: Mutex<Turn>,
    changed: Condvar,
    /// The search has ended; the same as in the turn.
    is_over: AtomicBool,
    /// How many properties are violated, and which.
    violations: AtomicUsize,
    violated: Mutex<Violated>,
}

#[derive(Default)]
struct Violated {
    deadlock: bool,
    assertions: bool,
    invariants: Vec<bool>,
}

/// What another worker has found to be violated, other than invariants.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Elsewhere {
    pub(super) deadlock: bool,
    pub(super) assertions: bool,
}

/// A part in a level.
struct Assignment {
    level: Arc<Level>,
    /// The worker needs no core beside the one that the search has.
    leads: bool,
}

impl Team {
    fn new(workers: usize, waiting: Waiting, invariants: usize, wide: usize) -> Team {
        let Waiting { level, next } = waiting;
        let turn =
            Turn { idle: workers, depth: level.depth, level: Arc::new(level), begun: 0, found: next, is_over: false };
        let violated = Violated { invariants: vec![false; invariants], ..Violated::default() };
        Team {
            workers,
            wide,
            turn: Mutex::new(turn),
            changed: Condvar::new(),
            is_over: AtomicBool::new(false),
            violations: AtomicUsize::new(0),
            violated: Mutex::new(violated),
        }
    }

    fn turn(&self) -> MutexGuard<'_, Turn> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A worker begins. The first one leads, and the others wait for it.
    fn start(&self, number: usize) -> Option<Assignment> {
        let mut turn = self.turn();
        if number == 0 {
            turn.begun += 1;
            self.changed.notify_all();
        }
        while turn.begun == 0 {
            if turn.is_over {
                return None;
            }
            turn = self.changed.wait(turn).unwrap_or_else(PoisonError::into_inner);
        }
        turn.idle -= 1;
        Some(Assignment { level: Arc::clone(&turn.level), leads: number == 0 })
    }

    /// A worker has come to the end of a level, and has found these states for the next one. Waits for that, and takes part
    /// in it; none if there is none.
    fn next(&self, found: Spans) -> Option<Assignment> {
        let mut turn = self.turn();
        turn.found.extend(found);
        turn.idle += 1;
        let begun = turn.begun;
        loop {
            if turn.is_over {
                return None;
            }
            if turn.begun != begun {
                turn.idle -= 1;
                return Some(Assignment { level: Arc::clone(&turn.level), leads: false });
            }
            if turn.idle == self.workers {
                return self.begin_level(&mut turn);
            }
            turn = self.changed.wait(turn).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The last worker has come to the end of a level: begins the next one, in which the others help if it is wide.
    fn begin_level(&self, turn: &mut Turn) -> Option<Assignment> {
        let found = std::mem::take(&mut turn.found);
        if found.states() == 0 {
            self.end(turn);
            return None;
        }
        turn.depth += 1;
        turn.idle -= 1;
        let is_wide = found.states() >= self.wide;
        let level = Arc::new(Level::of(found, turn.depth));
        if is_wide {
            turn.level = Arc::clone(&level);
            turn.begun += 1;
            self.changed.notify_all();
        }
        Some(Assignment { level, leads: true })
    }

    fn end(&self, turn: &mut Turn) {
        turn.is_over = true;
        self.is_over.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    /// Tells the others what a worker has found to be violated, and the worker what they have. An error if nothing is left
    /// to look for.
    fn exchange<T>(&self, safety: &mut Safety<'_, T>, known: &mut usize) -> Result<(), Terminated> {
        if safety.violations() == *known && self.violations.load(Ordering::Relaxed) == *known {
            return Ok(());
        }
        let mut violated = self.violated.lock().unwrap_or_else(PoisonError::into_inner);
        *known = safety.exchange(&mut violated);
        self.violations.store(*known, Ordering::Relaxed);
        if safety.is_done() { Err(Terminated) } else { Ok(()) }
    }
}

impl<T> Safety<'_, T> {
    /// How many properties are violated, as far as this worker knows.
    fn violations(&self) -> usize {
        let deadlock = self.deadlock.is_some() || self.elsewhere.deadlock;
        let assertions = self.assertions.is_some() || self.elsewhere.assertions;
        usize::from(deadlock) + usize::from(assertions) + self.invariants.len() - self.open.len()
    }

    /// Adds what this worker has found to be violated to what all have, and the other way round; how many there are.
    fn exchange(&mut self, all: &mut Violated) -> usize {
        all.deadlock |= self.deadlock.is_some();
        all.assertions |= self.assertions.is_some();
        self.elsewhere = Elsewhere { deadlock: all.deadlock, assertions: all.assertions };
        all.invariants.iter_mut().zip(&self.invariants).for_each(|(all, own)| *all |= own.is_some());
        self.open.retain(|number| !all.invariants[*number]);
        self.violations()
    }
}

/// Ends the search of all when a worker ends, however it does.
struct EndOnDrop<'a>(&'a Team);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        let team = self.0;
        team.end(&mut team.turn());
    }
}

/// Goes on with a search in several threads.
fn together<S, D>(
    space: &mut S,
    others: &mut [S],
    store: &SharedStore<D>,
    team: &Team,
    begun: Safety<'_, S::Transition>,
    budget: &Budget,
) -> Report<S::Transition>
where
    S: Checked<State = [u8]> + Fork,
    S::Transition: Send,
    D: Linked,
{
    let options = Options { report_every: begun.options.report_every.max(TELL_EVERY), ..begun.options.clone() };
    let spaces: Vec<_> = [space].into_iter().chain(others).map(|space| Mutex::new(Some(space))).collect();
    let begun = Mutex::new(Some(begun));
    let reports: Vec<_> = spaces.iter().map(|_| Mutex::new(None)).collect();
    run_workers(team.workers, budget, |budget, number| {
        let _end = EndOnDrop(team);
        let mut worker = store.worker();
        let Some(space) = taken(&spaces[number]) else { return };
        let mut safety = match if number == 0 { taken(&begun) } else { None } {
            Some(begun) => Safety { options: &options, budget, ..begun },
            None => Safety::new(&options, budget),
        };
        work(team, number, space, &mut worker, &mut safety);
        let report = safety.report(0, 0);
        *reports[number].lock().unwrap_or_else(PoisonError::into_inner) = Some(report);
    });
    let reports = reports.into_iter().filter_map(|report| report.into_inner().unwrap_or_else(PoisonError::into_inner));
    let mut report = reports.reduce(Report::joined).unwrap_or_else(|| Safety::new(&options, budget).report(0, 0));
    let held = report.statistics.memory_bytes;
    report.statistics.store_bytes = store.bytes() as u64;
    report.statistics.memory_bytes = held + report.statistics.store_bytes;
    report.statistics.state_bytes = store.state_bytes() as u64;
    report
}

fn taken<X>(place: &Mutex<Option<X>>) -> Option<X> {
    place.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// The part of one worker, up to the end of the search.
fn work<S, D>(
    team: &Team,
    number: usize,
    space: &mut S,
    worker: &mut Worker<'_, D>,
    safety: &mut Safety<'_, S::Transition>,
) where
    S: Checked<State = [u8]>,
    D: Linked,
{
    let (budget, max_depth) = (safety.budget, safety.options.max_depth);
    // What was found before is told before the others tell anything.
    if number == 0 && safety.report_progress(0, worker.bytes()) {
        return;
    }
    let mut search = LevelSearch::new(space, worker, safety, max_depth, WINDOW);
    let mut known = 0;
    let mut assignment = search.store().rest(|| team.start(number));
    while let Some(Assignment { level, leads }) = assignment {
        let core = if leads { None } else { budget.spare_core() };
        if leads || core.is_some() {
            search.enter_level(level.depth);
            while let Some((span, left)) = level.take() {
                let is_ended = search.expand(span, left / team.workers).is_err()
                    || team.exchange(search.feedback(), &mut known).is_err();
                if is_ended || team.is_over.load(Ordering::Relaxed) {
                    return;
                }
                if !leads && budget.is_crowded() {
                    break;
                }
            }
        }
        let Ok(found) = search.leave_level() else { return };
        if team.exchange(search.feedback(), &mut known).is_err() {
            return;
        }
        drop(core);
        assignment = search.store().rest(|| team.next(found));
    }
}

impl<T> Report<T> {
    /// What two workers have found in one search.
    fn joined(self, other: Report<T>) -> Report<T> {
        let (mut statistics, more) = (self.statistics, other.statistics);
        statistics.states += more.states;
        statistics.atomic_states += more.atomic_states;
        statistics.transitions += more.transitions;
        statistics.atomic_steps += more.atomic_steps;
        statistics.depth = statistics.depth.max(more.depth);
        statistics.time_s = statistics.time_s.max(more.time_s);
        statistics.memory_bytes += more.memory_bytes;
        statistics.complete &= more.complete;
        let mut cuts = self.cuts;
        for cut in other.cuts {
            match cuts.binary_search_by_key(&cut.by, |known| known.by) {
                Ok(known) => cuts[known].count += cut.count,
                Err(place) => cuts.insert(place, cut),
            }
        }
        let invariants = self.invariants.into_iter().zip(other.invariants);
        Report {
            deadlock: shorter(self.deadlock, other.deadlock),
            assertions: shorter(self.assertions, other.assertions),
            invariants: invariants.map(|(one, other)| shorter(one, other)).collect(),
            cuts,
            exhausted: self.exhausted && other.exhausted,
            // That the depth limit was met is only said if nothing else ended the search.
            ended: match (self.ended, other.ended) {
                (Some(Reason::Depth) | None, Some(other)) => Some(other),
                (own, _) => own,
            },
            statistics,
        }
    }
}

/// What one of two workers has found; the one with the shorter path if both have.
fn shorter<T>(one: Option<Violation<T>>, other: Option<Violation<T>>) -> Option<Violation<T>> {
    match (one, other) {
        (Some(one), Some(other)) if other.path.len() < one.path.len() => Some(other),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests;
