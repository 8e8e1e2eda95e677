//! Emptiness by nested depth-first search with a set that cannot give states back, compressing or approximate.
//!
//! After C. Courcoubetis, M. Vardi, P. Wolper, M. Yannakakis (Memory-efficient algorithms for the verification of temporal
//! properties, 1992), the search that bit-state hashing was first used for with properties of endless runs: a *blue*
//! search goes through all states; when it leaves an accepting one behind, a *red* search from there looks for a way back
//! to that very state. A state is blue at most once, and red at most once. So all that has to be known of states that are
//! not on one of the two paths is whether they are blue and whether they are red, which is to say whether the state with
//! that colour in front of it is in the set.
//!
//! The states on the paths are kept in full, and a cycle is closed only by a state that is equal to the one it began with:
//! an approximate set may omit cycles, but invents none.

use std::mem;

use ample_budget::Budget;
use ample_model::outcome::Reason;

use super::lasso::Seek;
use super::{Concurrent, Fairness, GeneralisedBuchi, Options, Report, SearchCounts};
use crate::search::Terminated;
use crate::store::{ExactStore, FlatStore, Handle, Inserted, Marks, Parent, SetStore, Side, StateSet, Store, Visible};

/// Bytes of a colour.
const COLOUR: usize = 1;
/// Found by the first search.
const BLUE: u8 = 0;
/// Found by the second.
const RED: u8 = 1;

/// What is hidden of a state is hidden of it when it has a colour.
#[derive(Clone, Copy, Debug, Default)]
pub struct Coloured<V>(pub V);

impl<V> Coloured<V> {
    /// How many bytes come before the state.
    pub(crate) const BYTES: usize = COLOUR;
}

impl<V: Visible> Visible for Coloured<V> {
    #[inline]
    fn visible(&self, state: &[u8]) -> usize {
        COLOUR + self.0.visible(&state[COLOUR..])
    }
}

/// Looks for an accepted run by nested depth-first search, for a single mark that belongs to states. Both stores must be
/// empty; what is visible of a state in the first is [`Coloured`]. The states of the run that is found are in the second.
/// Fairness is not looked at.
pub fn nested_with_set<P, C, V>(
    space: &mut P,
    store: &mut SetStore<C>,
    found: &mut FlatStore<Marks, V>,
    options: &Options,
    budget: &Budget,
) -> Report<P::Transition>
where
    P: GeneralisedBuchi<State = [u8]> + Concurrent,
    C: StateSet,
    V: Visible,
{
    let mut search = Search {
        all: space.all_marks(),
        observed: SearchCounts::new(options, budget),
        space,
        store,
        max_depth: options.max_depth,
        blue: Vec::new(),
        accepting: Vec::new(),
        red: Vec::new(),
        out: Vec::new(),
        coloured: Vec::new(),
        truncated: false,
        cycle: None,
    };
    let mut index = 0;
    loop {
        let mut out = mem::take(&mut search.out);
        let is_there = search.space.initial(index, &mut out);
        search.out = out;
        if !is_there || !search.space.is_dead() && search.from().is_err() {
            break;
        }
        index += 1;
    }
    let Search { observed: mut watch, cycle, space, store, truncated, .. } = search;
    if truncated && watch.ended.is_none() {
        watch.ended = Some(Reason::Depth);
    }
    let seek = cycle.map(|cycle| cycle.moved(store, found));
    if let Some(None) = seek {
        watch.ended = Some(Reason::Memory);
    }
    let lasso = seek.flatten().map(|seek| seek.lasso(space, found, Fairness::None, watch.budget));
    watch.report(lasso, store.bytes(), store.state_bytes().saturating_sub(COLOUR))
}

/// What was found, while its states are on the paths of the search.
struct Cycle<T> {
    /// To the state where the cycle begins, or after which everything is accepted.
    path: Vec<(Handle, T)>,
    end: Handle,
    /// The states of the cycle.
    members: Vec<Handle>,
}

impl<T: Copy> Cycle<T> {
    /// The same with states in another store. None if there is no memory for them.
    fn moved<C, V>(self, from: &SetStore<C>, to: &mut FlatStore<Marks, V>) -> Option<Seek<T>>
    where
        C: StateSet,
        V: Visible,
    {
        let mut moved = |handle: Handle| to.insert_with(plain(from.get(handle)), Marks::fresh(None)).handle();
        let path = self.path.iter().map(|&(state, step)| Some((moved(state)?, step))).collect::<Option<_>>()?;
        let end = moved(self.end)?;
        if self.members.is_empty() {
            return Some(Seek::Beginning { path, end });
        }
        let members = self.members.iter().map(|&state| moved(state)).collect::<Option<_>>()?;
        Some(Seek::Component { path, end, members })
    }
}

/// A state without its colour.
#[inline]
fn plain(coloured: &[u8]) -> &[u8] {
    &coloured[COLOUR..]
}

struct Search<'a, P: GeneralisedBuchi, C> {
    all: u64,
    observed: SearchCounts<'a>,
    space: &'a mut P,
    /// The states on the two paths, the second of which begins where the first ends.
    store: &'a mut SetStore<C>,
    max_depth: u64,
    /// The path of the first search.
    blue: Vec<(Handle, P::Transition)>,
    /// For each state on it: it is accepting.
    accepting: Vec<bool>,
    /// The path of the second.
    red: Vec<(Handle, P::Transition)>,
    /// The state that was arrived at.
    out: Vec<u8>,
    /// The same with a colour in front.
    coloured: Vec<u8>,
    truncated: bool,
    cycle: Option<Cycle<P::Transition>>,
}

impl<P, C> Search<'_, P, C>
where
    P: GeneralisedBuchi<State = [u8]> + Concurrent,
    C: StateSet,
{
    /// Everything that can be reached from the state that was arrived at.
    fn from(&mut self) -> Result<(), Terminated> {
        let Some(mut current) = self.arrive(0)? else { return Ok(()) };
        let mut cursor = self.enter(current)?;
        loop {
            let Some(transition) = cursor else {
                if self.accepting.pop() == Some(true) {
                    self.search_red(current)?;
                }
                self.store.release(current);
                let Some((source, transition)) = self.blue.pop() else { return Ok(()) };
                current = source;
                cursor = self.next(current, &transition);
                continue;
            };
            if self.step(current, &transition)
                && let Some(new) = self.arrive(self.blue.len() + 1)?
            {
                self.blue.push((current, transition));
                current = new;
                cursor = self.enter(current)?;
            } else {
                cursor = self.next(current, &transition);
            }
        }
    }

    #[inline]
    fn next(&mut self, state: Handle, last: &P::Transition) -> Option<P::Transition> {
        self.space.next(plain(self.store.get(state)), last)
    }

    /// Takes a transition; false if it leads nowhere.
    #[inline]
    fn step(&mut self, state: Handle, transition: &P::Transition) -> bool {
        self.space.target(plain(self.store.get(state)), transition, &mut self.out);
        !self.space.is_dead()
    }

    /// Puts the state that was arrived at into the set. None if it is there.
    #[inline]
    fn insert(&mut self, colour: u8) -> Inserted {
        self.coloured.clear();
        self.coloured.push(colour);
        self.coloured.extend_from_slice(&self.out);
        self.store.insert_with(&self.coloured, Parent::fresh(None))
    }

    /// Arrives at a state in the first search. Gives its handle if it is new.
    fn arrive(&mut self, depth: usize) -> Result<Option<Handle>, Terminated> {
        let atomic_steps = self.space.atomic_steps();
        let inserted = self.insert(BLUE);
        let transient = self.space.is_transient(&self.out);
        let new = matches!(inserted, Inserted::New(_));
        if self.observed.arrived(transient, new, atomic_steps, depth) {
            self.report_progress()?;
        }
        match inserted {
            Inserted::New(handle) => Ok(Some(handle)),
            Inserted::Seen(_) => Ok(None),
            Inserted::Full => self.observed.end(Reason::Memory),
        }
    }

    fn report_progress(&mut self) -> Result<(), Terminated> {
        let steps = self.blue.capacity() + self.red.capacity();
        let memory = self.store.bytes() + steps * size_of::<(Handle, P::Transition)>() + self.accepting.capacity();
        self.observed.report_progress(self.blue.len(), memory)
    }

    /// The first transition out of a new state.
    fn enter(&mut self, state: Handle) -> Result<Option<P::Transition>, Terminated> {
        let first = self.space.first(plain(self.store.get(state)));
        if let Some(first) = &first
            && self.space.is_universal(plain(self.store.get(state)), first)
        {
            let path = mem::take(&mut self.blue);
            self.cycle = Some(Cycle { path, end: state, members: Vec::new() });
            return Err(Terminated);
        }
        let is_deep = first.is_some() && self.blue.len() as u64 >= self.max_depth;
        self.truncated |= is_deep;
        let first = first.filter(|_| !is_deep);
        let is_accepting = first.as_ref().is_some_and(|first| self.space.marks(first) & self.all == self.all);
        self.accepting.push(is_accepting);
        Ok(first)
    }

    /// The second search, from an accepting state, which is the last on the first path.
    fn search_red(&mut self, seed: Handle) -> Result<(), Terminated> {
        let mut current = seed;
        let mut cursor = self.space.first(plain(self.store.get(current)));
        loop {
            let Some(transition) = cursor else {
                let Some((source, transition)) = self.red.pop() else { return Ok(()) };
                self.store.release(current);
                current = source;
                cursor = self.next(current, &transition);
                continue;
            };
            self.observed.countdown -= 1;
            if self.observed.countdown == 0 {
                self.report_progress()?;
            }
            if self.step(current, &transition) {
                let inserted = self.insert(RED);
                if self.is_back(seed) {
                    return self.close(seed, current);
                }
                match inserted {
                    Inserted::New(new) => {
                        self.red.push((current, transition));
                        current = new;
                        cursor = self.space.first(plain(self.store.get(current)));
                        continue;
                    }
                    Inserted::Seen(_) => {}
                    Inserted::Full => return self.observed.end(Reason::Memory),
                }
            }
            cursor = self.next(current, &transition);
        }
    }

    /// The state that was arrived at is that one.
    #[inline]
    fn is_back(&mut self, seed: Handle) -> bool {
        self.coloured[0] = BLUE;
        self.store.same(self.store.get(seed), &self.coloured)
    }

    #[cold]
    fn close<X>(&mut self, seed: Handle, last: Handle) -> Result<X, Terminated> {
        let path = mem::take(&mut self.blue);
        let members = self.red.iter().map(|(state, _)| *state).chain([last]).collect();
        self.cycle = Some(Cycle { path, end: seed, members });
        Err(Terminated)
    }
}
