//! Depth-first search with persistent sets, sleep sets and the provisos of chapter 6 of P. Godefroid's thesis
//! (Figs. 4.1, 5.2, 6.2).
//!
//! Three things are put off until they are known for nothing. Whether the proviso on the stack holds turns out while the
//! chosen transitions are taken; if it does not, more are chosen. Whether a terminal component ignores a transition is
//! asked when it is about to be closed. And that a transition ends in a fault is seen when it is taken: what is
//! independent of it cannot follow it then, so that all others are chosen in that state.
//!
//! A state is on the stack at most once. When the search arrives at one that is there with a sleep set that lacks
//! something, it expands it again only after it is done with it.

mod extend;
mod frames;

use std::borrow::Borrow;

use ample_budget::Budget;
use ample_model::outcome::Reason;
use rapidhash::RapidHashMap;

use super::ahead::Ahead;
use super::choice::Choice;
use super::components::Components;
use super::labels::{self, LabelSets};
use super::mark::Mark;
use super::reduction::{Cache, Counts, Incompatible, Proviso, Reduced, Reduction};
use super::set_visited::SetVisited;
use super::visited::{Cached, Kept, Visited};
use super::{Label, Labelled, Partial};
use crate::check::{Note, Options, Safety, Violation};
use crate::search::{Path, Terminated};
use crate::space::Buffer;
use crate::store::{ExactStore, Handle, Inserted, Key, StateSet};
use frames::Frames;

/// Checks depth-first with a reduction. The store must be empty. With a [cache](super::Cache) it holds in the end only
/// the states on the paths of the report.
pub fn depth_first<S, St>(
    space: &mut S,
    store: &mut St,
    options: &Options,
    reduction: &Reduction,
    budget: &Budget,
) -> Result<Reduced<S::Transition>, Incompatible>
where
    S: Partial,
    St: ExactStore<S::State, Side = Mark>,
    Buffer<S>: Default,
{
    reduction.for_depth_first()?;
    let safety = Safety::new(options, budget);
    Ok(match reduction.cache {
        None => Search::new(space, Kept(store), safety, reduction).run(),
        Some(cache) => {
            let cache = Cache { replacement: reduction.replacement(cache), ..cache };
            Search::new(space, Cached::new(store, cache), safety, reduction).run()
        }
    })
}

/// Checks depth-first with a reduction, and with any set of states, which must be empty and may hold, with the states on
/// the stack, so many bytes. The store, empty as well, holds in the end the states on the paths of the report.
pub fn depth_first_in_set<S, St, C>(
    space: &mut S,
    store: &mut St,
    (set, key): (&mut C, Key),
    limit: usize,
    options: &Options,
    reduction: &Reduction,
    budget: &Budget,
) -> Result<Reduced<S::Transition>, Incompatible>
where
    S: Partial<State = [u8]>,
    St: ExactStore<[u8], Side = Mark>,
    C: StateSet,
{
    reduction.for_depth_first()?;
    reduction.for_set()?;
    let visited = SetVisited::new(store, set, key, limit);
    Ok(Search::new(space, visited, Safety::new(options, budget), reduction).run())
}

struct Search<'a, S: Partial, V> {
    space: &'a mut S,
    visited: V,
    safety: Safety<'a, S::Transition>,
    reduction: Reduction,
    /// It has to be known which states are on the stack.
    marks_stack: bool,
    frames: Frames<S::Transition>,
    /// The sleep sets of the stored states.
    sets: LabelSets,
    /// The sleep sets with which states on the stack are to be expanded again.
    delayed: RapidHashMap<Handle, Vec<u32>>,
    components: Components,
    choice: Choice,
    ahead: Ahead<S>,
    /// What is enabled in the state that is entered.
    enabled: Vec<Labelled<S::Transition>>,
    counts: Counts,
}

impl<'a, S, V> Search<'a, S, V>
where
    S: Partial,
    V: Visited<S::State>,
    Buffer<S>: Default,
{
    fn new(space: &'a mut S, visited: V, safety: Safety<'a, S::Transition>, reduction: &Reduction) -> Self {
        Search {
            space,
            visited,
            safety,
            reduction: *reduction,
            marks_stack: reduction.sleep || reduction.proviso == Proviso::Stack,
            frames: Frames::new(),
            sets: LabelSets::new(),
            delayed: RapidHashMap::default(),
            components: Components::default(),
            choice: Choice::default(),
            ahead: Ahead::new(),
            enabled: Vec::new(),
            counts: Counts::default(),
        }
    }

    fn run(mut self) -> Reduced<S::Transition> {
        let mut out = Buffer::<S>::default();
        for index in 0.. {
            if !self.space.initial(index, &mut out) || self.from(&mut out).is_err() {
                break;
            }
        }
        (self.counts.stored, self.counts.cleared) = self.visited.counts();
        self.counts.sleep_sets = self.sets.len() as u64;
        self.safety.held = self.held();
        let report = self.safety.report(self.visited.bytes(), self.visited.state_bytes());
        Reduced { report, counts: self.counts }
    }

    /// Searches from one initial state, which is in `out`.
    fn from(&mut self, out: &mut Buffer<S>) -> Result<(), Terminated> {
        let note = self.safety.note(self.space);
        self.arrive(out, note, 0)?;
        while !self.frames.is_empty() {
            match self.frames.pick() {
                Some(taken) => self.step(taken, out)?,
                None if self.extend() || self.resume()? => {}
                None => self.leave(),
            }
        }
        Ok(())
    }

    /// Takes a transition of the last state.
    #[inline]
    fn step(&mut self, taken: Labelled<S::Transition>, out: &mut Buffer<S>) -> Result<(), Terminated> {
        let Some(frame) = self.frames.last_mut() else { return Ok(()) };
        if self.reduction.sleep && !frame.is_transient {
            frame.tired = Some(taken.label);
        }
        self.space.target(self.visited.get(frame.state), &taken.transition, out);
        let note = self.safety.note(self.space);
        if note.dead {
            self.components.take((!frame.is_transient).then_some(taken.label));
            self.expand_fully();
        } else if !frame.has_escaped && !frame.is_transient && self.space.is_transient(Borrow::borrow(out)) {
            self.look_ahead(out);
        }
        let sleep = self.inherit(taken.label);
        self.arrive(out, note, sleep)
    }

    /// Writes what sleeps in the state after a transition to the end of the stack of sleep sets, and says where it
    /// begins.
    #[inline]
    fn inherit(&mut self, taken: Label) -> usize {
        let start = self.frames.sleep_end();
        if !self.reduction.sleep {
            return start;
        }
        if let Some(frame) = self.frames.last() {
            let (space, state, is_transient) = (&mut *self.space, self.visited.get(frame.state), frame.is_transient);
            self.frames.inherit(|label| is_transient || (label != taken && space.independent(state, label, taken)));
        }
        start
    }

    /// Arrives at a state by the current transition of the last frame, or at an initial state.
    #[inline]
    fn arrive(&mut self, out: &Buffer<S>, note: Note, sleep: usize) -> Result<(), Terminated> {
        let state: &S::State = out.borrow();
        self.safety.statistics.atomic_steps += u64::from(note.atomic_steps);
        let mark = self.fresh_mark()?;
        let inserted = if note.dead { None } else { Some(self.visited.insert(state, mark)) };
        let handle = inserted.and_then(Inserted::handle);
        let mut violated = false;
        if let Some(message) = note.violation {
            violated |= self.assertion_violated(message.into(), handle)?;
        }
        let mut steps = self.frames.last().map_or(0, |frame| frame.steps) + u64::from(note.atomic_steps);
        let is_transient = handle.is_some() && self.space.is_transient(state);
        let is_new = matches!(inserted, Some(Inserted::New(_)));
        if is_new && !self.frames.is_empty() {
            steps += 1;
        }
        if handle.is_some() {
            self.count(is_transient, is_new, steps);
        }
        if is_new && !is_transient && !self.safety.open.is_empty() {
            violated |= self.breaks_invariant(state, handle)?;
        }
        self.safety.countdown -= 1;
        if self.safety.countdown == 0
            && self.safety.report_progress(self.frames.len() as u64, self.visited.bytes() + self.held())
        {
            return Err(Terminated);
        }
        if violated && self.safety.is_done() {
            return Err(Terminated);
        }
        match inserted {
            Some(Inserted::New(state)) => self.enter_new(state, steps, is_transient, sleep),
            Some(Inserted::Seen(state)) => self.matched(state, steps, is_transient, sleep),
            Some(Inserted::Full) => self.end(Reason::Memory),
            None => {
                self.frames.truncate_sleep(sleep);
                Ok(())
            }
        }
    }

    /// The mark of a state that is put into the store now.
    #[inline]
    fn fresh_mark(&mut self) -> Result<Mark, Terminated> {
        if self.reduction.proviso != Proviso::Components {
            return Ok(Mark::new(0, self.marks_stack));
        }
        let place = self.components.next_place();
        if place > Mark::MOST { self.end(Reason::Memory) } else { Ok(Mark::live(place as u32)) }
    }

    #[inline]
    fn count(&mut self, is_transient: bool, is_new: bool, steps: u64) {
        let statistics = &mut self.safety.statistics;
        *if is_transient { &mut statistics.atomic_steps } else { &mut statistics.transitions } += 1;
        statistics.depth = statistics.depth.max(steps);
        self.counts.transitions += 1;
        if is_new {
            *if is_transient { &mut statistics.atomic_states } else { &mut statistics.states } += 1;
        } else {
            self.counts.matched += 1;
        }
    }

    /// Enters a state for the first time.
    #[inline]
    fn enter_new(&mut self, state: Handle, steps: u64, is_transient: bool, sleep: usize) -> Result<(), Terminated> {
        if self.reduction.proviso == Proviso::Components {
            self.components.open(state, self.current_label(), !is_transient);
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.has_escaped |= !is_transient;
        }
        if self.frames.sleep_end() > sleep {
            let Some(number) = self.sets.number(self.frames.sleep_from(sleep)) else { return self.end(Reason::Memory) };
            self.visited.set_mark(state, Mark::new(number, true));
        }
        self.push(state, steps, is_transient, sleep);
        if self.enabled.is_empty() {
            return self.leaf(state, is_transient);
        }
        if self.is_truncated() {
            return Ok(());
        }
        let is_whole = if is_transient || !self.reduction.persistent {
            (0..self.enabled.len() as u32).for_each(|position| self.frames.choose(position));
            true
        } else {
            let chosen = self.choice.persistent(self.space, self.visited.get(state), &self.enabled);
            chosen.iter().for_each(|&position| self.frames.choose(position));
            chosen.len() == self.enabled.len()
        };
        self.counts.reduced += u64::from(!is_whole);
        if let Some(frame) = self.frames.last_mut() {
            frame.is_whole = is_whole;
            frame.has_escaped = self.reduction.proviso != Proviso::Stack || is_whole;
        }
        Ok(())
    }

    /// Arrives at a state that is in the visited set.
    #[inline]
    fn matched(&mut self, state: Handle, steps: u64, is_transient: bool, sleep: usize) -> Result<(), Terminated> {
        if self.reduction.proviso == Proviso::Components {
            match self.visited.mark(state) {
                Mark::COMPLETE => self.components.leave(),
                Mark::TRAP => self.components.take(self.current_label()),
                live => self.components.join(live.place(), self.current_label()),
            }
            return Ok(());
        }
        if !self.marks_stack {
            return Ok(());
        }
        let mark = self.visited.mark(state);
        if let Some(frame) = self.frames.last_mut() {
            frame.has_escaped |= !is_transient && !mark.is_on_stack();
        }
        let asleep = self.frames.sleep_from(sleep);
        if labels::is_subset(self.sets.get(mark.sleep()), asleep) {
            self.frames.truncate_sleep(sleep);
            return Ok(());
        }
        if !mark.is_on_stack() {
            return self.enter_again(state, steps + 1, is_transient, sleep);
        }
        let Some(number) = self.sets.number(asleep) else { return self.end(Reason::Memory) };
        self.frames.truncate_sleep(sleep);
        let delayed = self.delayed.entry(state).or_default();
        if !delayed.contains(&number) {
            delayed.push(number);
        }
        Ok(())
    }

    /// Enters a state that was left with a sleep set that contains more than this one.
    fn enter_again(&mut self, state: Handle, steps: u64, is_transient: bool, sleep: usize) -> Result<(), Terminated> {
        self.visited.enter(state);
        self.visited.set_mark(state, Mark::new(self.visited.mark(state).sleep(), true));
        self.push(state, steps, is_transient, sleep);
        if self.is_truncated() { Ok(()) } else { self.wake(state) }
    }

    /// Expands the last state again, with the sleep set that its frame has.
    fn wake(&mut self, state: Handle) -> Result<(), Terminated> {
        self.counts.again += 1;
        self.frames.wake(self.sets.get(self.visited.mark(state).sleep()));
        let Some(number) = self.sets.number(self.frames.sleep()) else { return self.end(Reason::Memory) };
        self.visited.set_mark(state, Mark::new(number, true));
        Ok(())
    }

    /// Expands the last state again if that was put off. False if not.
    #[inline]
    fn resume(&mut self) -> Result<bool, Terminated> {
        if self.delayed.is_empty() {
            return Ok(false);
        }
        let Some(state) = self.frames.last().map(|frame| frame.state) else { return Ok(false) };
        while let Some(number) = self.delayed.get_mut(&state).and_then(Vec::pop) {
            let stored = self.sets.get(self.visited.mark(state).sleep());
            if !labels::is_subset(stored, self.sets.get(number)) {
                self.frames.replace_sleep(self.sets.get(number));
                return self.wake(state).map(|()| true);
            }
        }
        self.delayed.remove(&state);
        Ok(false)
    }

    /// Leaves the last state.
    #[inline]
    fn leave(&mut self) {
        let branches = self.frames.chosen().len() > 1;
        let Some(frame) = self.frames.pop() else { return };
        if self.reduction.proviso == Proviso::Components {
            if self.components.is_root(self.visited.mark(frame.state).place()) {
                let closed = self.components.close();
                let mark = if closed.is_trap { Mark::TRAP } else { Mark::COMPLETE };
                closed.members.for_each(|member| self.visited.set_mark(member, mark));
            }
        } else if self.marks_stack {
            let mark = self.visited.mark(frame.state);
            self.visited.set_mark(frame.state, Mark::new(mark.sleep(), false));
        }
        self.visited.leave(frame.state, branches);
    }

    /// Puts a state on the stack, and lists what is enabled in it.
    #[inline]
    fn push(&mut self, state: Handle, steps: u64, is_transient: bool, sleep: usize) {
        self.enabled.clear();
        self.space.enabled(self.visited.get(state), &mut self.enabled);
        self.frames.push(state, steps, is_transient, &self.enabled, sleep);
        self.counts.deepest = self.counts.deepest.max(self.frames.len() as u64);
    }

    /// The last state lies at the depth limit and is not expanded.
    #[inline]
    fn is_truncated(&mut self) -> bool {
        let is_truncated = self.frames.len() as u64 > self.safety.options.max_depth;
        if is_truncated {
            self.components.leave();
            self.safety.ended.get_or_insert(Reason::Depth);
        }
        is_truncated
    }

    /// Nothing is enabled in the state.
    fn leaf(&mut self, state: Handle, is_transient: bool) -> Result<(), Terminated> {
        if !self.safety.asks_deadlock() || is_transient || self.space.is_valid_end(self.visited.get(state)) {
            return Ok(());
        }
        let path = self.path(Some(state))?;
        self.safety.deadlock = Some(Violation { message: "invalid end state".to_owned(), path });
        if self.safety.is_done() { Err(Terminated) } else { Ok(()) }
    }

    #[cold]
    fn assertion_violated(&mut self, message: String, end: Option<Handle>) -> Result<bool, Terminated> {
        if !self.safety.asks_assertions() {
            return Ok(false);
        }
        let path = self.path(end)?;
        self.safety.assertions = Some(Violation { message, path });
        Ok(true)
    }

    /// Looks at the invariants that are still open. True if one of them is violated.
    fn breaks_invariant(&mut self, state: &S::State, end: Option<Handle>) -> Result<bool, Terminated> {
        let before = self.safety.open.len();
        let mut next = 0;
        while let Some(&number) = self.safety.open.get(next) {
            if self.space.invariant(number, state) {
                next += 1;
                continue;
            }
            let path = self.path(end)?;
            self.safety.invariants[number] = Some(Violation { message: "invariant violated".to_owned(), path });
            self.safety.open.remove(next);
        }
        Ok(self.safety.open.len() < before)
    }

    /// The path that the search is on.
    #[cold]
    fn path(&mut self, end: Option<Handle>) -> Result<Path<S::Transition>, Terminated> {
        let path = Path { steps: self.frames.path(), end };
        match self.visited.lasting(path) {
            Some(path) => Ok(path),
            None => self.end(Reason::Memory),
        }
    }

    /// The label of the transition that the search follows; none inside an atomic sequence.
    #[inline]
    fn current_label(&self) -> Option<Label> {
        let frame = self.frames.last()?;
        if frame.is_transient { None } else { Some(frame.current?.label) }
    }

    #[cold]
    fn end<X>(&mut self, reason: Reason) -> Result<X, Terminated> {
        self.safety.ended = Some(reason);
        Err(Terminated)
    }

    /// The bytes held beside the visited set.
    fn held(&self) -> usize {
        self.frames.bytes()
            + self.sets.bytes()
            + self.components.bytes()
            + self.choice.bytes()
            + self.enabled.capacity() * size_of::<Labelled<S::Transition>>()
    }
}
