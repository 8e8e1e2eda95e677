//! The Kripke structure under a state space: visible states with numbers, and their successors.
//!
//! A successor of a visible state is a visible state that is reached by a transition, or by several through transient
//! states. The transient ones are in the store, so that a cycle of them is noticed, but have no number. The
//! successors of a state are found all at once, which lets the memory answer for several of them together, and put on
//! one flat stack; nothing is taken from it if more than one search will come by, so that each state is expanded once.

use std::borrow::Borrow;
use std::mem;

use ample_budget::{Budget, Progress};
use ample_model::outcome::{Reason, Statistics};

use super::number::Number;
use super::{Dead, Options};
use crate::pacing::Pacing;
use crate::search::Terminated;
use crate::space::{Buffer, Checked, StateSpace};
use crate::store::{ExactStore, Handle, Inserted};

/// The successors of a state that have not been looked at. Many of these lie on the stack of a search.
#[derive(Clone, Copy)]
pub(super) struct Successors {
    /// Where the list of them begins, with its length.
    base: usize,
    left: u32,
    /// The number of the state; none that is one if it is transient.
    pub(super) of: u32,
}

/// In the place of the length of a list: the state is deadlocked, and paths end in it.
const END: u32 = u32::MAX;

/// How many states wait for the memory together.
const WINDOW: usize = 32;

/// An initial state.
pub(super) enum Start {
    /// A visible one.
    Visible(u32),
    /// A transient one.
    Transient(Handle),
    /// A fault, not a state.
    Fault,
}

/// A state that the expansion under way has come by: the source, or a transient state.
struct Passed<T> {
    state: Handle,
    /// Where it was reached from, by its place in the queue, and how.
    link: Option<(usize, T)>,
}

/// The states and what is known of them.
pub(super) struct Kripke<'a, S: StateSpace, St> {
    space: &'a mut S,
    store: &'a mut St,
    budget: &'a Budget,
    options: &'a Options,
    /// States that will be stored or opened before the budget is told.
    countdown: u64,
    pacing: Pacing,
    /// Each visible state, by its number.
    handles: Vec<Handle>,
    /// Lists of successors, each with its length in front and backwards.
    lists: Vec<u32>,
    /// Where the list of each state begins, plus one; zero if it is not there. None if lists are not kept.
    kept: Option<Vec<u64>>,
    queue: Vec<Passed<S::Transition>>,
    /// States that were just reached, with their hashes.
    window: Vec<(Buffer<S>, u64)>,
    /// The transitions that led to them.
    taken: Vec<S::Transition>,
    /// A transition or an initial state was a fault.
    pub(super) met_fault: bool,
    /// Why the search ended.
    pub(super) ended: Option<Reason>,
    /// The budget has ended it, and is not to be asked again.
    pub(super) is_cancelled: bool,
    /// What was done so far, without what is only known in the end.
    pub(super) statistics: Statistics,
}

impl<'a, S, St> Kripke<'a, S, St>
where
    S: Checked,
    St: ExactStore<S::State, Side = Number>,
    Buffer<S>: Default,
{
    /// The states in an empty store. Lists of successors are kept if each state will be opened more than once.
    pub(super) fn new(
        space: &'a mut S,
        store: &'a mut St,
        budget: &'a Budget,
        options: &'a Options,
        keep_lists: bool,
    ) -> Self {
        let pacing = Pacing::new(options.report_every);
        Kripke {
            space,
            store,
            budget,
            options,
            countdown: pacing.first(),
            pacing,
            handles: Vec::new(),
            lists: Vec::new(),
            kept: keep_lists.then(Vec::new),
            queue: Vec::new(),
            window: vec![Default::default()],
            taken: Vec::new(),
            met_fault: false,
            ended: None,
            is_cancelled: false,
            statistics: Statistics::default(),
        }
    }

    /// The initial state of that number; none if there are no more.
    pub(super) fn initial(&mut self, index: usize) -> Result<Option<Start>, Terminated> {
        let (out, hash) = &mut self.window[0];
        if !self.space.initial(index, out) {
            return Ok(None);
        }
        if self.space.is_dead() {
            self.met_fault = true;
            return Ok(Some(Start::Fault));
        }
        self.statistics.atomic_steps += u64::from(self.space.atomic_steps());
        *hash = self.store.hash((*out).borrow());
        let (state, side) = self.arrive(0)?;
        let visible = side != Number::TRANSIENT;
        Ok(Some(if visible { Start::Visible(side.0) } else { Start::Transient(state) }))
    }

    /// Does the atom of that number hold in the state?
    #[inline]
    pub(super) fn atom(&mut self, number: u32, state: u32) -> bool {
        self.space.invariant(number as usize, self.store.get(self.handles[state as usize]))
    }

    /// Has the state no transitions?
    pub(super) fn is_deadlocked(&mut self, state: u32) -> bool {
        self.space.first(self.store.get(self.handles[state as usize])).is_none()
    }

    /// Is it deadlocked, and may a path stay there or end?
    pub(super) fn may_rest(&mut self, state: u32) -> bool {
        self.options.dead != Dead::Discards && self.options.justice.is_empty() && self.is_deadlocked(state)
    }

    /// The atoms that have to hold again and again.
    pub(super) fn justice(&self) -> &'a [u32] {
        &self.options.justice
    }

    /// The state in the store.
    pub(super) fn handle(&self, state: u32) -> Handle {
        self.handles[state as usize]
    }

    /// The successors of a state, to be given back with [`close`](Kripke::close) in reverse order.
    #[inline]
    pub(super) fn open(&mut self, state: u32) -> Result<Successors, Terminated> {
        self.countdown = self.countdown.saturating_sub(1);
        if let Some(&start) = self.kept.as_ref().and_then(|kept| kept.get(state as usize))
            && start != 0
        {
            let base = start as usize - 1;
            let length = self.lists[base];
            return Ok(Successors { base, left: if length == END { 0 } else { length }, of: state });
        }
        let list = self.open_from(self.handles[state as usize], Number(state))?;
        if let Some(kept) = &mut self.kept {
            if kept.len() <= state as usize {
                kept.resize(self.handles.len(), 0);
            }
            kept[state as usize] = list.base as u64 + 1;
        }
        Ok(list)
    }

    /// The visible states that a transient initial state leads to.
    pub(super) fn open_transient(&mut self, state: Handle) -> Result<Successors, Terminated> {
        self.open_from(state, Number::TRANSIENT)
    }

    /// Puts the list of successors of a state on the stack.
    fn open_from(&mut self, source: Handle, number: Number) -> Result<Successors, Terminated> {
        let mut lists = mem::take(&mut self.lists);
        let base = lists.len();
        lists.push(0);
        let expanded = self.expand(source, |next, _, _| lists.push(next));
        self.lists = lists;
        let mut is_end = false;
        if !expanded? && number != Number::TRANSIENT {
            match self.options.dead {
                Dead::Stutters => self.lists.push(number.0),
                Dead::Ends => is_end = true,
                Dead::Discards => {}
            }
        }
        self.lists[base + 1..].reverse();
        let left = (self.lists.len() - base - 1) as u32;
        self.lists[base] = if is_end { END } else { left };
        Ok(Successors { base, left, of: number.0 })
    }

    /// The next successor of a list.
    #[inline]
    pub(super) fn advance(&self, list: &mut Successors) -> Option<u32> {
        if list.left == 0 {
            return None;
        }
        let next = self.lists[list.base + list.left as usize];
        list.left -= 1;
        Some(next)
    }

    /// Is that the list of a deadlocked state in which paths end?
    #[inline]
    pub(super) fn is_end(&self, list: Successors) -> bool {
        self.lists[list.base] == END
    }

    /// Takes a list down.
    #[inline]
    pub(super) fn close(&mut self, list: Successors) {
        if self.kept.is_none() {
            self.lists.truncate(list.base);
        }
    }

    /// The transitions from a state to one of its successors.
    pub(super) fn hop(&mut self, from: Handle, to: u32) -> Result<Vec<(Handle, S::Transition)>, Terminated> {
        let mut arrival = None;
        self.expand(from, |next, place, transition| {
            if next == to && arrival.is_none() {
                arrival = Some((place, transition));
            }
        })?;
        let mut steps = Vec::new();
        while let Some((place, transition)) = arrival {
            steps.push((self.queue[place].state, transition));
            arrival = self.queue[place].link;
        }
        steps.reverse();
        Ok(steps)
    }

    /// Gives each arrival at a visible state from a state: its number, the place of its source in the queue, and
    /// the transition. False if the state has no transitions at all.
    #[inline]
    fn expand(&mut self, source: Handle, mut found: impl FnMut(u32, usize, S::Transition)) -> Result<bool, Terminated> {
        self.queue.clear();
        self.queue.push(Passed { state: source, link: None });
        if self.store.side(source) == Number::TRANSIENT {
            self.store.set_side(source, Number::PASSED);
        }
        let mut place = 0;
        let mut moves = false;
        while let Some(&Passed { state, .. }) = self.queue.get(place) {
            let mut cursor = self.space.first(self.store.get(state));
            moves |= cursor.is_some();
            while cursor.is_some() {
                cursor = self.fill_window(state, cursor);
                for index in 0..self.taken.len() {
                    let transition = self.taken[index];
                    match self.arrive(index)? {
                        (_, Number::PASSED) => {}
                        (next, Number::TRANSIENT) => {
                            self.store.set_side(next, Number::PASSED);
                            self.queue.push(Passed { state: next, link: Some((place, transition)) });
                        }
                        (_, Number(number)) => found(number, place, transition),
                    }
                }
            }
            place += 1;
        }
        for passed in &self.queue {
            if self.store.side(passed.state) == Number::PASSED {
                self.store.set_side(passed.state, Number::TRANSIENT);
            }
        }
        Ok(moves)
    }

    /// Computes the targets of some transitions from that one on, so that they can be looked up together. Gives the
    /// first transition that is left.
    #[inline]
    fn fill_window(&mut self, state: Handle, mut cursor: Option<S::Transition>) -> Option<S::Transition> {
        self.taken.clear();
        while self.taken.len() < WINDOW
            && let Some(transition) = cursor
        {
            if self.window.len() == self.taken.len() {
                self.window.push(Default::default());
            }
            let (out, hash) = &mut self.window[self.taken.len()];
            self.space.target(self.store.get(state), &transition, out);
            if self.space.is_dead() {
                self.met_fault = true;
            } else {
                self.statistics.atomic_steps += u64::from(self.space.atomic_steps());
                *hash = self.store.hash((*out).borrow());
                self.store.prefetch(*hash);
                self.taken.push(transition);
            }
            cursor = self.space.next(self.store.get(state), &transition);
        }
        self.window[..self.taken.len()].iter().for_each(|&(_, hash)| self.store.prefetch_state(hash));
        cursor
    }

    /// Stores a state of the window.
    #[inline]
    fn arrive(&mut self, index: usize) -> Result<(Handle, Number), Terminated> {
        let (out, hash) = &self.window[index];
        let state = out.borrow();
        let transient = self.space.is_transient(state);
        let statistics = &mut self.statistics;
        *if transient { &mut statistics.atomic_steps } else { &mut statistics.transitions } += 1;
        let side = if transient { Number::TRANSIENT } else { Number(self.handles.len() as u32) };
        match self.store.insert_hashed(state, *hash, side) {
            Inserted::Seen(handle) => Ok((handle, self.store.side(handle))),
            Inserted::Full => Err(self.interrupt(Reason::Memory)),
            Inserted::New(handle) if transient => {
                self.statistics.atomic_states += 1;
                Ok((handle, side))
            }
            Inserted::New(_) if side.0 >= Number::PASSED.0 => {
                Err(self.interrupt(Reason::Unsupported(format!("more than {} states cannot be numbered", side.0))))
            }
            Inserted::New(handle) => {
                self.handles.push(handle);
                self.statistics.states += 1;
                self.countdown = self.countdown.saturating_sub(1);
                Ok((handle, side))
            }
        }
    }

    #[cold]
    fn interrupt(&mut self, reason: Reason) -> Terminated {
        self.ended = Some(reason);
        Terminated
    }

    /// Is it time to report the progress?
    #[inline]
    pub(super) fn is_due(&self) -> bool {
        self.countdown == 0
    }

    /// Reports the progress to the budget, with so many bytes held elsewhere.
    #[cold]
    pub(super) fn report_progress(&mut self, held: usize, pending: usize) -> Result<(), Terminated> {
        self.countdown = self.pacing.next();
        let progress = Progress {
            states: self.statistics.states,
            transitions: self.statistics.transitions,
            depth: self.statistics.depth,
            pending: pending as u64,
            memory: (self.bytes() + held) as u64,
            ..Progress::default()
        };
        match self.budget.report(&progress) {
            Ok(()) => Ok(()),
            Err(interrupted) => {
                self.is_cancelled = true;
                Err(self.interrupt(interrupted.into()))
            }
        }
    }

    /// The bytes held, with the store.
    pub(super) fn bytes(&self) -> usize {
        self.store.bytes()
            + self.handles.capacity() * size_of::<Handle>()
            + self.lists.capacity() * size_of::<u32>()
            + self.kept.as_ref().map_or(0, |kept| kept.capacity() * size_of::<u64>())
            + self.queue.capacity() * size_of::<Passed<S::Transition>>()
    }

    /// The store, to ask what it holds.
    pub(super) fn store(&self) -> &St {
        self.store
    }
}
