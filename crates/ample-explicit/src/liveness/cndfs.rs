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
//! For a single mark that belongs to states, as in the nested search by one thread. Workers that have come to their end find
//! nothing that others do not; the search ends when all have, or when one has found a cycle.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

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
            out: Vec::new(),
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
    let observed = SearchCounts { ended, statistics, ..SearchCounts::new(options, budget) };
    observed.report(lasso, store.bytes(), store.state_bytes())
}

/// A path, and for each state on it the transitions that have yet to be taken.
struct Path<T> {
    frames: Vec<Frame<T>>,
    pending: Vec<T>,
}

/// A state on a path.
struct Frame<T> {
    state: Handle,
    /// The transition that was taken from it last.
    taken: Option<T>,
    /// Where its pending transitions begin.
    first: usize,
}

impl<T> Default for Path<T> {
    fn default() -> Self {
        Path { frames: Vec::new(), pending: Vec::new() }
    }
}

impl<T: Copy> Path<T> {
    /// The last state, and the next transition out of it.
    fn next(&mut self) -> Option<(Handle, Option<T>)> {
        let last = self.frames.last_mut()?;
        if self.pending.len() > last.first {
            last.taken = self.pending.pop();
            return Some((last.state, last.taken));
        }
        Some((last.state, None))
    }

    fn steps(&self) -> impl Iterator<Item = (Handle, T)> + '_ {
        self.frames.iter().filter_map(|frame| Some((frame.state, frame.taken?)))
    }

    fn bytes(&self) -> usize {
        self.frames.capacity() * size_of::<Frame<T>>() + self.pending.capacity() * size_of::<T>()
    }
}

/// The search of one worker.
struct Search<'a, 'b, P: GeneralisedBuchi> {
    all: u64,
    observed: SearchCounts<'a>,
    space: &'a mut P,
    store: &'a mut Worker<'b, Colours>,
    team: &'a Team<P::Transition>,
    cyan: u32,
    pink: u32,
    /// What shuffles transitions; the first worker takes them as they come.
    random: Option<Random>,
    blue: Path<P::Transition>,
    red: Path<P::Transition>,
    /// The states of the red search.
    seen: Vec<Handle>,
    out: Vec<u8>,
}

impl<P> Search<'_, '_, P>
where
    P: GeneralisedBuchi<State = [u8]> + Concurrent,
{
    fn run(&mut self) -> Result<(), Terminated> {
        for index in 0.. {
            let mut out = std::mem::take(&mut self.out);
            let is_there = self.space.initial(index, &mut out);
            self.out = out;
            if !is_there {
                return Ok(());
            }
            if self.space.is_dead() {
                continue;
            }
            let state = self.arrive(0)?;
            if self.colours(state) & (self.cyan | BLUE) == 0 {
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

    /// Puts the state that was just computed into the store.
    #[inline]
    fn arrive(&mut self, depth: usize) -> Result<Handle, Terminated> {
        let atomic_steps = self.space.atomic_steps();
        let inserted = self.store.insert_with(&self.out, Colours(0));
        let is_transient = self.space.is_transient(&self.out);
        let is_new = matches!(inserted, Inserted::New(_));
        if self.observed.arrived(is_transient, is_new, atomic_steps, depth) {
            self.report_progress()?;
        }
        if self.team.is_over() {
            return Err(Terminated);
        }
        match inserted.handle() {
            Some(state) => Ok(state),
            None => self.observed.end(Reason::Memory),
        }
    }

    #[cold]
    fn report_progress(&mut self) -> Result<(), Terminated> {
        let seen = self.seen.capacity() * size_of::<Handle>();
        let memory = self.store.bytes() + self.blue.bytes() + self.red.bytes() + seen;
        self.observed.report_progress(self.blue.frames.len(), memory)
    }

    /// The transitions out of a state, as pending ones of a path; whether the state is accepting.
    fn expand(&mut self, state: Handle, is_red: bool) -> bool {
        let path = if is_red { &mut self.red } else { &mut self.blue };
        let first = path.pending.len();
        let bytes = self.store.get(state);
        let mut cursor = self.space.first(bytes);
        let is_accepting = cursor.is_some_and(|first| self.space.marks(&first) & self.all == self.all);
        while let Some(transition) = cursor {
            path.pending.push(transition);
            cursor = self.space.next(bytes, &transition);
        }
        // They are taken from the end.
        let pending = &mut path.pending[first..];
        match &mut self.random {
            None => pending.reverse(),
            Some(random) => random.shuffle(pending),
        }
        path.frames.push(Frame { state, taken: None, first });
        is_accepting
    }

    fn enter_blue(&mut self, state: Handle) -> Result<(), Terminated> {
        let bytes = self.store.get(state);
        // What decides comes first.
        if let Some(first) = self.space.first(bytes)
            && self.space.is_universal(bytes, &first)
        {
            let path = self.blue.steps().collect();
            return self.found(Seek::Beginning { path, end: state });
        }
        let is_accepting = self.expand(state, false);
        self.store.paint(state, self.cyan | if is_accepting { ACCEPTING } else { 0 });
        Ok(())
    }

    fn search_blue(&mut self) -> Result<(), Terminated> {
        while let Some((state, transition)) = self.blue.next() {
            let Some(transition) = transition else {
                self.leave_blue(state)?;
                continue;
            };
            let mut out = std::mem::take(&mut self.out);
            self.space.target(self.store.get(state), &transition, &mut out);
            self.out = out;
            if self.space.is_dead() {
                continue;
            }
            let to = self.arrive(self.blue.frames.len())?;
            let colours = self.colours(to);
            if colours & self.cyan != 0 {
                if (colours | self.colours(state)) & ACCEPTING != 0 {
                    return self.close(to);
                }
            } else if colours & BLUE == 0 {
                self.enter_blue(to)?;
            }
        }
        Ok(())
    }

    /// All transitions out of a state have been taken.
    fn leave_blue(&mut self, state: Handle) -> Result<(), Terminated> {
        self.store.paint(state, BLUE);
        if self.colours(state) & ACCEPTING != 0 {
            self.search_red(state)?;
        }
        self.store.erase(state, self.cyan);
        self.blue.frames.pop();
        Ok(())
    }

    /// Looks for a way back onto the path, from an accepting state.
    fn search_red(&mut self, seed: Handle) -> Result<(), Terminated> {
        self.enter_red(seed);
        while let Some((state, transition)) = self.red.next() {
            let Some(transition) = transition else {
                self.red.frames.pop();
                continue;
            };
            let mut out = std::mem::take(&mut self.out);
            self.space.target(self.store.get(state), &transition, &mut out);
            self.out = out;
            if self.space.is_dead() {
                continue;
            }
            // A state on the path of another worker may have successors that nobody has seen yet.
            let to = self.arrive(self.blue.frames.len() + self.red.frames.len())?;
            let colours = self.colours(to);
            if colours & self.cyan != 0 {
                return self.close(to);
            }
            if colours & (self.pink | RED) == 0 {
                self.enter_red(to);
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

    fn enter_red(&mut self, state: Handle) {
        let is_accepting = self.expand(state, true);
        self.store.paint(state, self.pink | if is_accepting { ACCEPTING } else { 0 });
        self.seen.push(state);
    }

    /// A step back onto the path of the blue search has closed an accepted cycle.
    #[cold]
    fn close(&mut self, to: Handle) -> Result<(), Terminated> {
        let path: Vec<_> = self.blue.steps().collect();
        let begins = self.blue.frames.iter().position(|frame| frame.state == to).unwrap_or(0);
        let blue = self.blue.frames[begins..].iter().map(|frame| frame.state);
        let members = blue.chain(self.red.frames.iter().map(|frame| frame.state)).collect();
        self.found(Seek::Component { path: path[..begins].to_vec(), end: to, members })
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
