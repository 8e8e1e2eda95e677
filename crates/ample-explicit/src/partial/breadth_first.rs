//! Breadth-first search with persistent sets.
//!
//! Transitions are chosen as in the depth-first search. In place of the stack there is the queue: something that is
//! taken leads to a state that has yet to be expanded, so that what was put off is looked at again there, and not for
//! ever, since states are expanded one after the other. The store is the queue: its states lie in the order in which
//! they are expanded.

use std::borrow::Borrow;

use ample_budget::Budget;
use ample_model::outcome::Reason;

use super::ahead::Ahead;
use super::choice::Choice;
use super::reduction::{Counts, Incompatible, Proviso, Reduced, Reduction};
use super::{Labelled, Partial};
use crate::check::{Note, Options, Safety, Violation};
use crate::search::{Path, Terminated};
use crate::space::Buffer;
use crate::store::{ExactStore, Handle, Inserted, Linked, Retraced, Side};

/// Checks breadth-first with a reduction. The paths to violations are shortest ones of the reduced graph. The store must
/// be empty.
pub fn breadth_first<S, St>(
    space: &mut S,
    store: &mut St,
    options: &Options,
    reduction: &Reduction,
    budget: &Budget,
) -> Result<Reduced<S::Transition>, Incompatible>
where
    S: Partial,
    St: ExactStore<S::State>,
    St::Side: Linked,
    Buffer<S>: Default,
{
    reduction.for_breadth_first()?;
    let mut search = Search {
        space,
        store,
        safety: Safety::new(options, budget),
        reduction: *reduction,
        enabled: Vec::new(),
        chosen: Vec::new(),
        choice: Choice::default(),
        ahead: Ahead::new(),
        newest: None,
        depth: 0,
        waiting: 0,
        has_escaped: true,
        is_whole: true,
        counts: Counts::default(),
    };
    let _ = search.run();
    Ok(search.finish())
}

struct Search<'a, S: Partial, St> {
    space: &'a mut S,
    store: &'a mut St,
    safety: Safety<'a, S::Transition>,
    reduction: Reduction,
    /// What is enabled in the state that is expanded, and which of it is taken.
    enabled: Vec<Labelled<S::Transition>>,
    chosen: Vec<u32>,
    choice: Choice,
    ahead: Ahead<S>,
    /// The state that was stored last.
    newest: Option<Handle>,
    /// The depth of the states that are expanded now.
    depth: u64,
    /// How many states have yet to be expanded.
    waiting: u64,
    /// The proviso is satisfied in the state that is expanded, or is not asked for.
    has_escaped: bool,
    /// All that is enabled in it is chosen.
    is_whole: bool,
    counts: Counts,
}

impl<S, St> Search<'_, S, St>
where
    S: Partial,
    St: ExactStore<S::State>,
    St::Side: Linked,
    Buffer<S>: Default,
{
    fn run(&mut self) -> Result<(), Terminated> {
        let mut out = Buffer::<S>::default();
        for index in 0.. {
            if !self.space.initial(index, &mut out) {
                break;
            }
            let note = self.safety.note(self.space);
            self.arrive(&out, note, None)?;
        }
        let mut level_end = self.newest;
        let mut next = self.store.first();
        while let Some(source) = next {
            self.waiting -= 1;
            self.expand(source, &mut out)?;
            if Some(source) == level_end {
                self.depth += 1;
                level_end = self.newest;
            }
            next = self.store.after(source);
            self.store.release(source);
        }
        Ok(())
    }

    /// Takes the chosen transitions of a state, and more if those are too few.
    fn expand(&mut self, source: Handle, out: &mut Buffer<S>) -> Result<(), Terminated> {
        let state = self.store.get(source);
        self.enabled.clear();
        self.space.enabled(state, &mut self.enabled);
        if self.enabled.is_empty() {
            return self.leaf(source);
        }
        if self.depth >= self.safety.options.max_depth {
            self.safety.ended.get_or_insert(Reason::Depth);
            return Ok(());
        }
        let is_transient = self.space.is_transient(state);
        self.choose(source, is_transient);
        let mut next = 0;
        loop {
            while let Some(&position) = self.chosen.get(next) {
                next += 1;
                self.step(source, self.enabled[position as usize].transition, out)?;
            }
            if !self.escape(source) {
                return Ok(());
            }
        }
    }

    fn choose(&mut self, source: Handle, is_transient: bool) {
        self.chosen.clear();
        if is_transient || !self.reduction.persistent {
            self.chosen.extend(0..self.enabled.len() as u32);
        } else {
            let chosen = self.choice.persistent(self.space, self.store.get(source), &self.enabled);
            self.chosen.extend_from_slice(chosen);
        }
        self.is_whole = self.chosen.len() == self.enabled.len();
        self.has_escaped = self.is_whole || self.reduction.proviso != Proviso::Queue;
        self.counts.reduced += u64::from(!self.is_whole);
    }

    /// Takes a transition.
    #[inline]
    fn step(&mut self, source: Handle, transition: S::Transition, out: &mut Buffer<S>) -> Result<(), Terminated> {
        self.space.target(self.store.get(source), &transition, out);
        let note = self.safety.note(self.space);
        if note.dead && !self.is_whole {
            self.expand_fully();
        } else if !note.dead && !self.has_escaped && self.space.is_transient(Borrow::borrow(out)) {
            let store = &*self.store;
            let is_waiting = |state: &S::State| store.find(state).is_none_or(|state| state > source);
            self.has_escaped = self.ahead.ends_in(self.space, store, Borrow::borrow(out), |_| true, is_waiting);
        }
        self.arrive(out, note, Some((source, transition)))
    }

    /// A transition ended in a fault: everything else is taken as well.
    #[cold]
    fn expand_fully(&mut self) {
        self.is_whole = true;
        let enabled = 0..self.enabled.len() as u32;
        let rest: Vec<u32> = enabled.filter(|position| !self.chosen.contains(position)).collect();
        self.chosen.extend(rest);
        self.counts.extended += 1;
    }

    /// The proviso on the queue: if everything that was taken leads to states that have been expanded, chooses more.
    fn escape(&mut self, source: Handle) -> bool {
        if self.has_escaped || self.is_whole {
            return false;
        }
        let state = self.store.get(source);
        if !self.space.may_matter(state) {
            return false;
        }
        let is_open = |position: u32| !self.chosen.contains(&position);
        let added = self.choice.smallest(self.space, state, &self.enabled, is_open, is_open);
        self.chosen.extend_from_slice(added);
        self.is_whole = self.chosen.len() == self.enabled.len();
        self.counts.extended += 1;
        !added.is_empty()
    }

    /// Arrives at a state.
    #[inline]
    fn arrive(
        &mut self,
        out: &Buffer<S>,
        note: Note,
        arrival: Option<(Handle, S::Transition)>,
    ) -> Result<(), Terminated> {
        let state: &S::State = out.borrow();
        self.safety.statistics.atomic_steps += u64::from(note.atomic_steps);
        let side = St::Side::fresh(arrival.map(|(source, _)| source));
        let inserted = if note.dead { None } else { Some(self.store.insert_with(state, side)) };
        let mut violated = false;
        if let Some(message) = note.violation
            && self.safety.asks_assertions()
        {
            let path = self.path(arrival, inserted.and_then(Inserted::handle));
            self.safety.assertions = Some(Violation { message: message.into(), path });
            violated = true;
        }
        match inserted {
            Some(Inserted::New(handle)) => {
                self.waiting += 1;
                self.newest = Some(handle);
                self.counts.deepest = self.counts.deepest.max(self.waiting);
                violated |= self.arrived(state, handle, arrival);
            }
            Some(Inserted::Seen(handle)) => self.matched(state, handle, arrival),
            Some(Inserted::Full) => self.safety.ended = Some(Reason::Memory),
            None => {}
        }
        self.safety.countdown -= 1;
        let interrupted =
            self.safety.countdown == 0 && self.safety.report_progress(self.waiting, self.store.bytes() + self.held());
        let is_full = matches!(inserted, Some(Inserted::Full));
        if interrupted || is_full || (violated && self.safety.is_done()) { Err(Terminated) } else { Ok(()) }
    }

    /// Counts the arrival at a state that is known.
    fn matched(&mut self, state: &S::State, handle: Handle, arrival: Option<(Handle, S::Transition)>) {
        let is_transient = self.space.is_transient(state);
        self.count(is_transient);
        self.counts.matched += 1;
        self.has_escaped |= !is_transient && arrival.is_some_and(|(source, _)| handle > source);
    }

    /// Counts the arrival at a new state. True if it violates an invariant.
    fn arrived(&mut self, state: &S::State, handle: Handle, arrival: Option<(Handle, S::Transition)>) -> bool {
        let is_transient = self.space.is_transient(state);
        self.count(is_transient);
        let statistics = &mut self.safety.statistics;
        *if is_transient { &mut statistics.atomic_states } else { &mut statistics.states } += 1;
        statistics.depth = statistics.depth.max(self.depth + u64::from(arrival.is_some()));
        if is_transient {
            return false;
        }
        self.has_escaped = true;
        let before = self.safety.open.len();
        let mut next = 0;
        while let Some(&number) = self.safety.open.get(next) {
            if self.space.invariant(number, state) {
                next += 1;
                continue;
            }
            let path = self.path(arrival, Some(handle));
            self.safety.invariants[number] = Some(Violation { message: "invariant violated".to_owned(), path });
            self.safety.open.remove(next);
        }
        self.safety.open.len() < before
    }

    #[inline]
    fn count(&mut self, is_transient: bool) {
        let statistics = &mut self.safety.statistics;
        *if is_transient { &mut statistics.atomic_steps } else { &mut statistics.transitions } += 1;
        self.counts.transitions += 1;
    }

    /// Nothing is enabled in the state.
    fn leaf(&mut self, handle: Handle) -> Result<(), Terminated> {
        let state = self.store.get(handle);
        if !self.safety.asks_deadlock() || self.space.is_transient(state) || self.space.is_valid_end(state) {
            return Ok(());
        }
        let Retraced { steps, end } = self.store.retrace(self.space, handle, S::is_dead);
        let path = Path { steps, end };
        self.safety.deadlock = Some(Violation { message: "invalid end state".to_owned(), path });
        if self.safety.is_done() { Err(Terminated) } else { Ok(()) }
    }

    /// The path to where the search arrives.
    #[cold]
    fn path(&mut self, arrival: Option<(Handle, S::Transition)>, end: Option<Handle>) -> Path<S::Transition> {
        let end = end.and_then(|end| self.store.keep(end));
        let Some((source, transition)) = arrival else { return Path { steps: Vec::new(), end } };
        let Retraced { mut steps, end: last } = self.store.retrace(self.space, source, S::is_dead);
        steps.extend(last.map(|last| (last, transition)));
        Path { steps, end }
    }

    /// The bytes held beside the store.
    fn held(&self) -> usize {
        self.enabled.capacity() * size_of::<Labelled<S::Transition>>()
            + self.chosen.capacity() * size_of::<u32>()
            + self.choice.bytes()
    }

    fn finish(mut self) -> Reduced<S::Transition> {
        self.counts.stored = self.store.len() as u64;
        self.safety.held = self.held();
        let report = self.safety.report(self.store.bytes(), self.store.state_bytes());
        Reduced { report, counts: self.counts }
    }
}
