//! Emptiness by nested depth-first search, after Schwoon and Esparza: early, and with two bits for each state.
//!
//! A first, *blue* search goes through all states. When it leaves an accepting state behind, a second, *red* search from
//! there looks for a path back onto the path of the first one. Each state is red at most once. A blue step back
//! onto the path closes an accepted cycle at once if one of its ends is accepting.
//!
//! For a single mark that belongs to states: all transitions out of a state have it, or none.

use std::borrow::Borrow;

use ample_budget::Budget;
use ample_model::outcome::Reason;

use super::lasso::Seek;
use super::{Concurrent, Fairness, GeneralisedBuchi, Member, Options, Report, SearchCounts};
use crate::search::Terminated;
use crate::space::Buffer;
use crate::store::{ExactStore, Handle, Inserted, Marked, Marks};

/// On the path of the blue search.
const CYAN: u8 = 1;
/// Left behind by the blue search.
const BLUE: u8 = 2;
/// No accepted cycle goes through it.
const RED: u8 = 4;
/// Accepting.
const ACCEPTING: u8 = 8;
/// In the cycle that was found.
const MEMBER: u8 = 16;

impl Member for Marks {
    fn is_member(self) -> bool {
        self.0 & MEMBER != 0
    }

    fn member(self) -> Self {
        Marks(self.0 | MEMBER)
    }
}

/// Looks for an accepted run by nested depth-first search. The store must be empty. Fairness is not looked at.
pub fn nested<P, St>(space: &mut P, store: &mut St, options: &Options, budget: &Budget) -> Report<P::Transition>
where
    P: GeneralisedBuchi + Concurrent,
    St: ExactStore<P::State, Side = Marks>,
    Buffer<P>: Default,
{
    let mut search = Search {
        all: space.all_marks(),
        observed: SearchCounts::new(options, budget),
        space,
        store,
        max_depth: options.max_depth,
        blue: Vec::new(),
        not_red: Vec::new(),
        red: Vec::new(),
        truncated: false,
        found: None,
    };
    let mut out = Buffer::<P>::default();
    for index in 0.. {
        if !search.space.initial(index, &mut out) {
            break;
        }
        if search.space.is_dead() {
            continue;
        }
        if search.from(&mut out).is_err() {
            break;
        }
    }
    let Search { observed: mut watch, found, space, store, truncated, .. } = search;
    if truncated && watch.ended.is_none() {
        watch.ended = Some(Reason::Depth);
    }
    let lasso = found.map(|seek| seek.lasso(space, store, Fairness::None, watch.budget));
    watch.report(lasso, store.bytes(), store.state_bytes())
}

struct Search<'a, P: GeneralisedBuchi, St> {
    all: u64,
    observed: SearchCounts<'a>,
    space: &'a mut P,
    store: &'a mut St,
    max_depth: u64,
    /// The path of the first search.
    blue: Vec<(Handle, P::Transition)>,
    /// For each state on it: some successor is not red.
    not_red: Vec<bool>,
    /// The path of the second.
    red: Vec<(Handle, P::Transition)>,
    truncated: bool,
    found: Option<Seek<P::Transition>>,
}

impl<P, St> Search<'_, P, St>
where
    P: GeneralisedBuchi + Concurrent,
    St: ExactStore<P::State, Side = Marks>,
    Buffer<P>: Default,
{
    fn colours(&self, state: Handle) -> u8 {
        self.store.side(state).marks()
    }

    fn paint(&mut self, state: Handle, colours: u8) {
        self.store.set_side(state, Marks(colours));
    }

    fn from(&mut self, out: &mut Buffer<P>) -> Result<(), Terminated> {
        let Inserted::New(mut current) = self.arrive(out, 0)? else { return Ok(()) };
        let mut cursor = self.enter(current)?;
        loop {
            let Some(transition) = cursor else {
                let red = self.leave(current, out)?;
                let Some((source, transition)) = self.blue.pop() else { return Ok(()) };
                current = source;
                self.saw(red);
                cursor = self.space.next(self.store.get(current), &transition);
                continue;
            };
            self.space.target(self.store.get(current), &transition, out);
            if self.space.is_dead() {
                cursor = self.space.next(self.store.get(current), &transition);
                continue;
            }
            match self.arrive(out, self.blue.len() + 1)? {
                Inserted::New(new) => {
                    self.blue.push((current, transition));
                    current = new;
                    cursor = self.enter(current)?;
                }
                seen => {
                    let Some(to) = seen.handle() else { return self.observed.end(Reason::Memory) };
                    let colours = self.colours(to);
                    if colours & CYAN != 0 && (colours | self.colours(current)) & ACCEPTING != 0 {
                        return self.close(to, (current, transition));
                    }
                    self.saw(colours & RED != 0);
                    cursor = self.space.next(self.store.get(current), &transition);
                }
            }
        }
    }

    fn saw(&mut self, red: bool) {
        if let Some(not_red) = self.not_red.last_mut() {
            *not_red |= !red;
        }
    }

    fn arrive(&mut self, out: &Buffer<P>, depth: usize) -> Result<Inserted, Terminated> {
        let atomic_steps = self.space.atomic_steps();
        let inserted = self.store.insert_with(out.borrow(), Marks(CYAN));
        let transient = self.space.is_transient(out.borrow());
        let new = matches!(inserted, Inserted::New(_));
        if self.observed.arrived(transient, new, atomic_steps, depth) {
            self.report_progress()?;
        }
        if inserted == Inserted::Full { self.observed.end(Reason::Memory) } else { Ok(inserted) }
    }

    fn report_progress(&mut self) -> Result<(), Terminated> {
        let steps = self.blue.capacity() + self.red.capacity();
        let memory = self.store.bytes() + steps * size_of::<(Handle, P::Transition)>() + self.not_red.capacity();
        self.observed.report_progress(self.blue.len(), memory)
    }

    /// The first transition out of a new state.
    fn enter(&mut self, state: Handle) -> Result<Option<P::Transition>, Terminated> {
        self.not_red.push(false);
        let Some(first) = self.space.first(self.store.get(state)) else { return Ok(None) };
        if self.space.is_universal(self.store.get(state), &first) {
            let path = std::mem::take(&mut self.blue);
            self.found = Some(Seek::Beginning { path, end: state });
            return Err(Terminated);
        }
        if self.space.marks(&first) & self.all == self.all {
            self.paint(state, CYAN | ACCEPTING);
        }
        if self.blue.len() as u64 >= self.max_depth {
            self.truncated = true;
            return Ok(None);
        }
        Ok(Some(first))
    }

    /// A state has been expanded; is it red now?
    fn leave(&mut self, state: Handle, out: &mut Buffer<P>) -> Result<bool, Terminated> {
        let not_red = self.not_red.pop().unwrap_or(true);
        let colours = self.colours(state);
        if not_red && colours & ACCEPTING == 0 {
            self.paint(state, BLUE);
            return Ok(false);
        }
        if not_red {
            self.search_red(state, out)?;
        }
        self.paint(state, BLUE | RED | colours & ACCEPTING);
        Ok(true)
    }

    /// The second search, from an accepting state.
    fn search_red(&mut self, seed: Handle, out: &mut Buffer<P>) -> Result<(), Terminated> {
        let mut current = seed;
        let mut cursor = self.space.first(self.store.get(current));
        loop {
            let Some(transition) = cursor else {
                let Some((source, transition)) = self.red.pop() else { return Ok(()) };
                current = source;
                cursor = self.space.next(self.store.get(current), &transition);
                continue;
            };
            self.observed.countdown -= 1;
            if self.observed.countdown == 0 {
                self.report_progress()?;
            }
            self.space.target(self.store.get(current), &transition, out);
            let to = if self.space.is_dead() { None } else { self.store.find((*out).borrow()) };
            if let Some(to) = to {
                let colours = self.colours(to);
                if colours & CYAN != 0 {
                    let last = (current, transition);
                    return self.close(to, last);
                }
                if colours & BLUE != 0 && colours & RED == 0 {
                    self.paint(to, colours | RED);
                    self.red.push((current, transition));
                    current = to;
                    cursor = self.space.first(self.store.get(current));
                    continue;
                }
            }
            cursor = self.space.next(self.store.get(current), &transition);
        }
    }

    /// A step back onto the blue path has closed an accepted cycle.
    #[cold]
    fn close<X>(&mut self, to: Handle, last: (Handle, P::Transition)) -> Result<X, Terminated> {
        let blue = std::mem::take(&mut self.blue);
        let begins = blue.iter().position(|(state, _)| *state == to).unwrap_or(blue.len());
        let steps = blue[begins..].iter().chain(&self.red).chain(std::iter::once(&last));
        let members = steps.map(|(state, _)| *state).chain([to]).collect();
        self.found = Some(Seek::Component { path: blue, end: to, members });
        Err(Terminated)
    }
}
