//! Emptiness by several threads: CNDFS (S. Evangelista, A. Laarman, L. Petrucci and J. van de Pol, *Improved Multi-Core
//! Nested Depth-First Search*, ATVA 2012).
//!
//! Each worker performs a nested depth-first search, in an order of its own, and all share what they know: a state that one
//! of them has left behind is *blue* and entered by no other blue search; a state through which no accepted cycle goes is
//! *red* and entered by no other red search. The path of the blue search is *cyan*, and the states of the red search under
//! way are *pink*, for each worker separately: two bits for each, beside the state. A red search makes its states red only
//! when all accepting ones among them, other than its seed, are red, for which it waits; so no worker hides a cycle from
//! another one, and no two wait for each other (theorems 1 and 2 there). Colours are written and read in one order for all
//! threads, as the proof wants it.
//!
//! If all states of a component are accepting or none is, as with a weak automaton, a cycle is accepted as soon as one of its
//! states is, and no red search is needed: of the states of an accepted cycle one is the first to become blue, and its worker
//! has found the next one on its path then.
//!
//! For a single mark that belongs to states, as in the nested search by one thread. Workers that have come to their end find
//! nothing that others do not; the search ends when all have, or when one has found a cycle.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use ample_budget::{Budget, OccupiedCore};
use ample_engine::workers::run_workers;
use ample_model::outcome::{Reason, Statistics};
use ample_random::Random;

use super::lasso::Seek;
use super::{Concurrent, Fairness, GeneralisedBuchi, Member, Options, Report, SearchCounts};
use crate::search::Terminated;
use crate::space::Fork;
use crate::store::{ExactStore, FlatStore, Handle, Inserted, SharedStore, Side, Store, Worker};

/// Left behind by a blue search.
const BLUE: u32 = 1;
/// No accepted cycle goes through it.
const RED: u32 = 2;
/// Accepting.
const ACCEPTING: u32 = 4;
/// In the cycle that was found.
const MEMBER: u32 = 8;

/// More workers have no colours of their own.
const MOST_WORKERS: usize = 14;

/// On the path of the blue search of a worker.
fn cyan(worker: usize) -> u32 {
    1 << (4 + 2 * worker)
}

/// In the red search of a worker.
fn pink(worker: usize) -> u32 {
    1 << (5 + 2 * worker)
}

/// The colours of a state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Colours(u32);

impl Side for Colours {
    const SIZE: usize = 4;

    #[inline]
    fn fresh(_: Option<Handle>) -> Self {
        Colours(0)
    }

    #[inline]
    fn write(self, bytes: &mut [u8]) {
        bytes.copy_from_slice(&self.0.to_le_bytes());
    }

    #[inline]
    fn read(bytes: &[u8]) -> Self {
        Colours(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }
}

impl Member for Colours {
    fn is_member(self) -> bool {
        self.0 & MEMBER != 0
    }

    fn member(self) -> Self {
        Colours(self.0 | MEMBER)
    }
}

/// Looks for an accepted run by several threads, as many as there are spare cores; none if there are none, or if one thread
/// has to do. `limit` is what the store may hold; it is given back with the report.
pub(crate) fn cndfs<P>(
    space: &mut P,
    limit: usize,
    options: &Options,
    budget: &Budget,
) -> Option<(Report<P::Transition>, SharedStore<Colours>)>
where
    P: GeneralisedBuchi<State = [u8], Transition: Send> + Concurrent + Fork,
{
    let threads = budget.threads().min(MOST_WORKERS);
    let cores: Vec<OccupiedCore> = (1..threads).map_while(|_| budget.spare_core()).collect();
    let mut others: Vec<P> = cores.iter().map_while(|_| space.fork()).collect();
    if others.is_empty() {
        return None;
    }
    let store = SharedStore::of(FlatStore::<Colours>::default().limit(limit), 1 + others.len()).ok()?;
    let report = together(space, &mut others, &store, options, budget);
    others.into_iter().for_each(|other| space.join(other));
    Some((report, store))
}

/// What workers share beside the store.
struct Team<T> {
    is_over: AtomicBool,
    found: Mutex<Option<Seek<T>>>,
}

impl<T> Team<T> {
    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }
}

/// Ends the search of all if a worker fails.
struct EndOnPanic<'a>(&'a AtomicBool);

impl Drop for EndOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

fn together<P>(
    space: &mut P,
    others: &mut [P],
    store: &SharedStore<Colours>,
    options: &Options,
    budget: &Budget,
) -> Report<P::Transition>
where
    P: GeneralisedBuchi<State = [u8], Transition: Send> + Concurrent + Fork,
{
    let start = Instant::now();
    let team = Team { is_over: AtomicBool::new(false), found: Mutex::new(None) };
    let workers = 1 + others.len();
    let mut spaces: Vec<_> = [&mut *space].into_iter().chain(others).map(|space| Mutex::new(Some(space))).collect();
    let reports: Vec<_> = spaces.iter().map(|_| Mutex::new(None)).collect();
    run_workers(workers, budget, |budget, number| {
        let _end = EndOnPanic(&team.is_over);
        let Some(space) = spaces[number].lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
        let mut worker = store.worker();
        let mut search = Search {
            all: space.all_marks(),
            is_weak: space.is_weak(),
            observed: SearchCounts::new(options, budget),
            space,
            store: &mut worker,
            team: &team,
            cyan: cyan(number),
            pink: pink(number),
            random: (number > 0).then(|| Random::new(number as u64)),
            blue: Path::default(),
            red: Path::default(),
            seen: Vec::new(),
            current: Vec::new(),
            listed: Vec::new(),
            window: Vec::new(),
            arrivals: 0,
            fresh: Vec::new(),
        };
        if search.run().is_err() {
            team.is_over.store(true, Ordering::Relaxed);
        }
        let Search { observed, .. } = search;
        *reports[number].lock().unwrap_or_else(PoisonError::into_inner) = Some(observed.report::<()>(None, 0, 0));
    });
    spaces.clear();
    let reports = reports.into_iter().filter_map(|report| report.into_inner().unwrap_or_else(PoisonError::into_inner));
    let (mut ended, mut statistics) = (None, Statistics::default());
    for report in reports {
        ended = ended.or(report.ended);
        statistics.states += report.statistics.states;
        statistics.atomic_states += report.statistics.atomic_states;
        statistics.transitions += report.statistics.transitions;
        statistics.atomic_steps += report.statistics.atomic_steps;
        statistics.depth = statistics.depth.max(report.statistics.depth);
        statistics.memory_bytes += report.statistics.memory_bytes;
    }
    let seek = team.found.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut reader = store.join();
    let lasso = seek.map(|seek| seek.lasso(space, &mut reader, Fairness::None, budget));
    drop(reader);
    let observed = SearchCounts { ended, statistics, start, ..SearchCounts::new(options, budget) };
    observed.report(lasso, store.bytes(), store.state_bytes())
}

/// A path, and for each state on it the successors that have yet to be entered.
#[derive(Default)]
struct Path {
    /// The states, and where the pending successors of each begin.
    frames: Vec<(Handle, usize)>,
    pending: Vec<Handle>,
}

impl Path {
    /// The last state, and the next successor of it.
    fn next(&mut self) -> Option<(Handle, Option<Handle>)> {
        let (state, first) = *self.frames.last()?;
        let next = if self.pending.len() > first { self.pending.pop() } else { None };
        Some((state, next))
    }

    fn states(&self) -> impl Iterator<Item = Handle> + '_ {
        self.frames.iter().map(|(state, _)| *state)
    }

    fn bytes(&self) -> usize {
        self.frames.capacity() * size_of::<(Handle, usize)>() + self.pending.capacity() * size_of::<Handle>()
    }
}

/// Which of the two searches of a worker.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    Blue,
    Red,
}

/// A successor that has not been looked up yet.
#[derive(Default)]
struct Arrival {
    state: Vec<u8>,
    hash: u64,
    is_transient: bool,
    atomic_steps: u32,
}

/// So many successors are looked up together, so that the memory brings in their places at the same time.
const WINDOW: usize = 32;

/// The search of one worker.
struct Search<'a, 'b, P: GeneralisedBuchi> {
    all: u64,
    is_weak: bool,
    observed: SearchCounts<'a>,
    space: &'a mut P,
    store: &'a mut Worker<'b, Colours>,
    team: &'a Team<P::Transition>,
    cyan: u32,
    pink: u32,
    /// What shuffles successors; the first worker takes them as they come.
    random: Option<Random>,
    blue: Path,
    red: Path,
    /// The states of the red search.
    seen: Vec<Handle>,
    /// The state that is expanded, its transitions, its successors that are looked up next, and those that nobody has seen
    /// before.
    current: Vec<u8>,
    listed: Vec<P::Transition>,
    window: Vec<Arrival>,
    arrivals: usize,
    fresh: Vec<Handle>,
}

impl<P> Search<'_, '_, P>
where
    P: GeneralisedBuchi<State = [u8]> + Concurrent,
{
    fn run(&mut self) -> Result<(), Terminated> {
        let mut out = Vec::new();
        for index in 0.. {
            if !self.space.initial(index, &mut out) {
                break;
            }
            if self.space.is_dead() {
                continue;
            }
            let hash = self.store.hash(&out);
            let (is_transient, atomic_steps) = (self.space.is_transient(&out), self.space.atomic_steps());
            let arrival = Arrival { state: std::mem::take(&mut out), hash, is_transient, atomic_steps };
            let (state, _) = self.arrive(&arrival)?;
            if self.colours(state) & BLUE == 0 {
                self.enter_blue(state)?;
                self.search_blue()?;
            }
        }
        Ok(())
    }

    #[inline]
    fn colours(&self, state: Handle) -> u32 {
        self.store.side_in_order(state).0
    }

    /// Puts a state into the store; whether nobody has seen it before.
    #[inline]
    fn arrive(&mut self, arrival: &Arrival) -> Result<(Handle, bool), Terminated> {
        let inserted = self.store.insert_hashed(&arrival.state, arrival.hash, Colours(0));
        let is_new = matches!(inserted, Inserted::New(_));
        let depth = self.blue.frames.len() + self.red.frames.len();
        if self.observed.arrived(arrival.is_transient, is_new, arrival.atomic_steps, depth) {
            self.report_progress()?;
        }
        if self.team.is_over() {
            return Err(Terminated);
        }
        match inserted.handle() {
            Some(state) => Ok((state, is_new)),
            None => self.observed.end(Reason::Memory),
        }
    }

    #[cold]
    fn report_progress(&mut self) -> Result<(), Terminated> {
        let states = self.seen.capacity() + self.fresh.capacity();
        let memory = self.store.bytes() + self.blue.bytes() + self.red.bytes() + states * size_of::<Handle>();
        self.observed.report_progress(self.blue.frames.len(), memory)
    }

    /// A blue search begins at a state.
    fn enter_blue(&mut self, state: Handle) -> Result<(), Terminated> {
        self.store.paint(state, self.cyan);
        self.expand(state, Pass::Blue)
    }

    /// Adds a state to a path, and looks up its successors: those that nobody has seen before are entered first, so that
    /// workers keep out of each other's way.
    fn expand(&mut self, state: Handle, pass: Pass) -> Result<(), Terminated> {
        let mut current = std::mem::take(&mut self.current);
        current.clear();
        current.extend_from_slice(self.store.get(state));
        let mut listed = std::mem::take(&mut self.listed);
        listed.clear();
        let mut is_all = self.space.list(&current, None, &mut listed);
        // What decides comes first.
        if pass == Pass::Blue && listed.first().is_some_and(|first| self.space.is_universal(&current, first)) {
            let states: Vec<Handle> = self.blue.states().chain([state]).collect();
            let path = self.steps(&states);
            return self.found(Seek::Beginning { path, end: state });
        }
        let path = if pass == Pass::Blue { &mut self.blue } else { &mut self.red };
        let begin = path.pending.len();
        path.frames.push((state, begin));
        if listed.first().is_some_and(|first| self.space.marks(first) & self.all == self.all) {
            self.store.paint(state, ACCEPTING);
        }
        let mut next = 0;
        while let Some(&transition) = listed.get(next) {
            if self.arrivals == self.window.len() {
                self.window.push(Arrival::default());
            }
            let arrival = &mut self.window[self.arrivals];
            self.space.target(&current, &transition, &mut arrival.state);
            if !self.space.is_dead() {
                arrival.hash = self.store.hash(&arrival.state);
                arrival.is_transient = self.space.is_transient(&arrival.state);
                arrival.atomic_steps = self.space.atomic_steps();
                self.store.prefetch(arrival.hash);
                self.arrivals += 1;
            }
            if self.arrivals == WINDOW {
                self.look_up(state, pass)?;
            }
            next += 1;
            if next == listed.len() && !is_all {
                is_all = self.space.list(&current, Some(&transition), &mut listed);
            }
        }
        self.current = current;
        self.listed = listed;
        self.look_up(state, pass)?;
        // They are taken from the end.
        let path = if pass == Pass::Blue { &mut self.blue } else { &mut self.red };
        match &mut self.random {
            None => {
                path.pending[begin..].reverse();
                self.fresh.reverse();
            }
            Some(random) => {
                random.shuffle(&mut path.pending[begin..]);
                random.shuffle(&mut self.fresh);
            }
        }
        path.pending.append(&mut self.fresh);
        Ok(())
    }

    /// Looks up the successors in the window.
    fn look_up(&mut self, state: Handle, pass: Pass) -> Result<(), Terminated> {
        let window = std::mem::take(&mut self.window);
        let arrivals = &window[..std::mem::take(&mut self.arrivals)];
        arrivals.iter().for_each(|arrival| self.store.prefetch_state(arrival.hash));
        for arrival in arrivals {
            let (to, is_new) = self.arrive(arrival)?;
            if is_new {
                self.fresh.push(to);
                continue;
            }
            let colours = self.colours(to);
            match pass {
                Pass::Blue if colours & self.cyan != 0 => {
                    if self.is_accepted(state, to, colours) {
                        return self.close(to);
                    }
                }
                Pass::Red if colours & self.cyan != 0 => return self.close(to),
                Pass::Blue if colours & BLUE == 0 => self.blue.pending.push(to),
                Pass::Red if colours & (self.pink | RED) == 0 => self.red.pending.push(to),
                Pass::Blue | Pass::Red => {}
            }
        }
        self.window = window;
        Ok(())
    }

    fn search_blue(&mut self) -> Result<(), Terminated> {
        while let Some((state, next)) = self.blue.next() {
            match next {
                None => self.leave_blue(state)?,
                // Since it was looked up, somebody may have left it behind, or this worker may have come to it.
                Some(next) => {
                    let colours = self.colours(next);
                    if colours & self.cyan != 0 && self.is_accepted(state, next, colours) {
                        return self.close(next);
                    }
                    if colours & (self.cyan | BLUE) == 0 {
                        self.enter_blue(next)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// A step from the end of the path back to a state on it, with these colours: is it known to close an accepted cycle?
    #[inline]
    fn is_accepted(&self, from: Handle, to: Handle, colours: u32) -> bool {
        if (colours | self.colours(from)) & ACCEPTING != 0 {
            return true;
        }
        let is_transient = |state| self.space.is_transient(self.store.get(state));
        if !self.is_weak || !is_transient(from) || !is_transient(to) {
            return false;
        }
        // Neither tells of what kind the component is.
        let mut members = self.blue.frames.iter().rev().map(|(state, _)| *state).take_while(|state| *state != to);
        members.any(|state| self.colours(state) & ACCEPTING != 0)
    }

    /// All successors of a state have been entered.
    fn leave_blue(&mut self, state: Handle) -> Result<(), Terminated> {
        self.store.paint(state, BLUE);
        if !self.is_weak && self.colours(state) & ACCEPTING != 0 {
            self.search_red(state)?;
        }
        self.store.erase(state, self.cyan);
        self.blue.frames.pop();
        Ok(())
    }

    /// Looks for a way back onto the path, from an accepting state.
    fn search_red(&mut self, seed: Handle) -> Result<(), Terminated> {
        self.enter_red(seed)?;
        while let Some((_, next)) = self.red.next() {
            // A state on the path of another worker may have successors that nobody has seen yet.
            match next {
                None => {
                    self.red.frames.pop();
                }
                Some(next) if self.colours(next) & (self.pink | RED) == 0 => self.enter_red(next)?,
                Some(_) => {}
            }
        }
        let seen = std::mem::take(&mut self.seen);
        for state in seen.iter().filter(|state| **state != seed) {
            while self.colours(*state) & (ACCEPTING | RED) == ACCEPTING {
                if self.team.is_over() {
                    return Err(Terminated);
                }
                self.report_progress()?;
                self.store.poll();
                thread::yield_now();
            }
        }
        for state in &seen {
            self.store.paint(*state, RED);
            self.store.erase(*state, self.pink);
        }
        self.seen = seen;
        self.seen.clear();
        Ok(())
    }

    fn enter_red(&mut self, state: Handle) -> Result<(), Terminated> {
        self.store.paint(state, self.pink);
        self.seen.push(state);
        self.expand(state, Pass::Red)
    }

    /// A step back onto the path of the blue search has closed an accepted cycle.
    #[cold]
    fn close(&mut self, to: Handle) -> Result<(), Terminated> {
        let mut path: Vec<Handle> = self.blue.states().collect();
        let begins = path.iter().position(|state| *state == to).unwrap_or(0);
        let members = path[begins..].iter().copied().chain(self.red.states()).collect();
        path.truncate(begins + 1);
        let path = self.steps(&path);
        self.found(Seek::Component { path, end: to, members })
    }

    /// The steps between states, each of which is a successor of the one before.
    fn steps(&mut self, states: &[Handle]) -> Vec<(Handle, P::Transition)> {
        let mut out = Vec::new();
        let mut steps = Vec::new();
        for pair in states.windows(2) {
            let bytes = self.store.get(pair[0]);
            let mut cursor = self.space.first(bytes);
            while let Some(transition) = cursor {
                self.space.target(bytes, &transition, &mut out);
                if !self.space.is_dead() && out == self.store.get(pair[1]) {
                    steps.push((pair[0], transition));
                    break;
                }
                cursor = self.space.next(bytes, &transition);
            }
        }
        steps
    }

    #[cold]
    fn found(&mut self, seek: Seek<P::Transition>) -> Result<(), Terminated> {
        let mut found = self.team.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.get_or_insert(seek);
        Err(Terminated)
    }
}

#[cfg(test)]
mod tests;
