//! Emptiness by strongly connected components, after Couvreur and Gabow, in one depth-first pass.
//!
//! The states whose component is not complete are *live*; they lie on a stack in the order in which they were
//! reached, and a state knows its place there. The components among them are intervals of that stack: `roots` says
//! where each begins, and which marks its inner transitions carry. A transition back to a live state joins the
//! components on the way. As soon as one has all marks, some run stays in it and collects them for ever.
//!
//! Fairness comes at little cost, without copies of states: for weak fairness, a component also collects the
//! processes that move in it and, when a state has been expanded, those that cannot move there (those that a
//! partial-order reduction does not let move can); for strong fairness, a complete component is taken apart ([`streett`](super::streett)).

use std::borrow::Borrow;

use ample_budget::Budget;
use ample_model::outcome::Reason;

use super::lasso::Seek;
use super::{Concurrent, Fairness, GeneralisedBuchi, Number, Options, Processes, Report, SearchCounts, streett};
use crate::search::Terminated;
use crate::space::Buffer;
use crate::store::{ExactStore, Handle, Inserted};

/// Looks for an accepted run by strongly connected components. The store must be empty.
pub fn components<P, St>(space: &mut P, store: &mut St, options: &Options, budget: &Budget) -> Report<P::Transition>
where
    P: GeneralisedBuchi + Concurrent,
    St: ExactStore<P::State, Side = Number>,
    Buffer<P>: Default,
{
    if options.fairness == Fairness::Weak {
        space.note_participants();
    }
    let mut search = Search {
        all: space.all_marks(),
        weak: options.fairness == Fairness::Weak,
        strong: options.fairness == Fairness::Strong,
        observed: SearchCounts::new(options, budget),
        space,
        store,
        max_depth: options.max_depth,
        stack: Vec::new(),
        live: Vec::new(),
        roots: Vec::new(),
        services: Vec::new(),
        movers: Vec::new(),
        on_path: Vec::new(),
        closes: Vec::new(),
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
    space.put_off(false);
    let lasso = found.map(|seek| seek.lasso(space, store, options.fairness, watch.budget));
    watch.report(lasso, store.bytes(), store.state_bytes())
}

/// A component among the live states.
struct Root {
    /// Where it begins.
    index: u32,
    /// The marks of its inner transitions.
    marks: u64,
    /// The marks of the transition that leads to it.
    entry: u64,
}

/// What a component knows for weak fairness.
struct Service {
    /// Who moves in it or cannot move somewhere in it.
    inner: Processes,
    /// Who moved on the way to it.
    entry: Processes,
}

struct Search<'a, P: GeneralisedBuchi, St> {
    all: u64,
    weak: bool,
    strong: bool,
    observed: SearchCounts<'a>,
    space: &'a mut P,
    store: &'a mut St,
    max_depth: u64,
    stack: Vec<(Handle, P::Transition)>,
    live: Vec<Handle>,
    roots: Vec<Root>,
    /// For weak fairness: beside each root.
    services: Vec<Service>,
    /// For weak fairness: who can move, for each state on the path.
    movers: Vec<Processes>,
    /// For each live state: it is on the path.
    on_path: Vec<bool>,
    /// For each state on the path: a transition leads back to the path, so that nothing may be put off.
    closes: Vec<bool>,
    truncated: bool,
    found: Option<Seek<P::Transition>>,
}

impl<P, St> Search<'_, P, St>
where
    P: GeneralisedBuchi + Concurrent,
    St: ExactStore<P::State, Side = Number>,
    Buffer<P>: Default,
{
    fn from(&mut self, out: &mut Buffer<P>) -> Result<(), Terminated> {
        let Some(mut current) = self.arrive(out, 0, Processes::NONE)? else { return Ok(()) };
        let mut cursor = self.enter(current);
        loop {
            let Some(transition) = cursor else {
                self.leave(current)?;
                let Some((source, transition)) = self.stack.pop() else { return Ok(()) };
                current = source;
                cursor = self.after(current, &transition);
                continue;
            };
            if self.space.is_universal(self.store.get(current), &transition) {
                let path = std::mem::take(&mut self.stack);
                self.found = Some(Seek::Beginning { path, end: current });
                return Err(Terminated);
            }
            if self.weak
                && let Some(mover) = self.space.mover(&transition)
                && let Some(movers) = self.movers.last_mut()
            {
                movers.insert(mover);
            }
            self.space.target(self.store.get(current), &transition, out);
            if self.space.is_dead() {
                cursor = self.after(current, &transition);
                continue;
            }
            let served = if self.weak { self.space.participants() } else { Processes::NONE };
            self.stack.push((current, transition));
            match self.arrive(out, self.space.marks(&transition), served)? {
                Some(new) => {
                    current = new;
                    cursor = self.enter(current);
                }
                None => {
                    self.stack.pop();
                    cursor = self.after(current, &transition);
                }
            }
        }
    }

    /// The transition out of a state after that one. On a cycle nothing may be ignored for ever, so that what was is
    /// taken where the cycle is closed (P. Godefroid's thesis, chapter 7, the closed-cycle proviso).
    #[inline]
    fn after(&mut self, state: Handle, last: &P::Transition) -> Option<P::Transition> {
        let next = self.space.next(self.store.get(state), last);
        // Inside of an atomic sequence nothing is put off, but maybe where it began.
        if next.is_none()
            && self.closes.last() == Some(&true)
            && !self.space.is_transient(self.store.get(state))
            && let Some(closes) = self.closes.last_mut()
        {
            *closes = false;
            return self.space.rest(self.store.get(state), last);
        }
        next
    }

    /// Arrives at a state by the last transition of the stack. Gives its handle if it is new.
    #[inline]
    fn arrive(&mut self, out: &Buffer<P>, marks: u64, served: Processes) -> Result<Option<Handle>, Terminated> {
        let atomic_steps = self.space.atomic_steps();
        let Ok(index) = u32::try_from(self.live.len()) else { return self.observed.end(Reason::Memory) };
        let inserted = self.store.insert_with(out.borrow(), Number(index));
        let transient = self.space.is_transient(out.borrow());
        let new = matches!(inserted, Inserted::New(_));
        if self.observed.arrived(transient, new, atomic_steps, self.stack.len()) {
            self.observed.report_progress(self.stack.len(), self.memory())?;
        }
        match inserted {
            Inserted::New(handle) => {
                self.live.push(handle);
                self.on_path.push(true);
                self.closes.push(false);
                self.roots.push(Root { index, marks: 0, entry: marks });
                if self.weak {
                    self.services.push(Service { inner: Processes::NONE, entry: served });
                    self.movers.push(Processes::NONE);
                }
                Ok(Some(handle))
            }
            Inserted::Seen(handle) => {
                let number = self.store.side(handle);
                if number != Number::DEAD {
                    // What follows a state inside of an atomic sequence may lead back to the path.
                    if (self.on_path[number.0 as usize] || transient)
                        && let Some(closes) = self.closes.last_mut()
                    {
                        *closes = true;
                    }
                    self.join(number, marks, served)?;
                }
                Ok(None)
            }
            Inserted::Full => self.observed.end(Reason::Memory),
        }
    }

    /// A transition back to a live state: all between is one component.
    fn join(&mut self, to: Number, mut marks: u64, mut served: Processes) -> Result<(), Terminated> {
        while self.roots.last().is_some_and(|root| root.index > to.0) {
            let Some(root) = self.roots.pop() else { break };
            marks |= root.marks | root.entry;
            if let Some(service) = self.services.pop() {
                served |= service.inner;
                served |= service.entry;
            }
        }
        if let Some(root) = self.roots.last_mut() {
            root.marks |= marks;
        }
        if let Some(service) = self.services.last_mut() {
            service.inner |= served;
        }
        self.check_last()
    }

    /// Is the last component accepting already?
    #[inline]
    fn check_last(&mut self) -> Result<(), Terminated> {
        let Some(root) = self.roots.last() else { return Ok(()) };
        let unfair = self.services.last().is_some_and(|service| service.inner != Processes::ALL);
        if root.marks & self.all != self.all || self.strong || unfair {
            return Ok(());
        }
        let members = self.live[root.index as usize..].to_vec();
        self.accept(members[0], members)
    }

    /// The states were found, all of them reachable from the last one of the path, which is `end`.
    #[cold]
    fn accept(&mut self, end: Handle, members: Vec<Handle>) -> Result<(), Terminated> {
        let path = std::mem::take(&mut self.stack);
        self.found = Some(Seek::Component { path, end, members });
        Err(Terminated)
    }

    /// The first transition out of a new state.
    #[inline]
    fn enter(&mut self, state: Handle) -> Option<P::Transition> {
        let first = self.space.first(self.store.get(state));
        if first.is_some() && self.stack.len() as u64 >= self.max_depth {
            self.truncated = true;
            if let Some(movers) = self.movers.last_mut() {
                *movers = Processes::ALL;
            }
            return None;
        }
        if let (true, Some(first), Some(movers)) = (self.weak, &first, self.movers.last_mut()) {
            *movers |= self.space.postponed_movers(first);
        }
        first
    }

    /// A state has been expanded.
    #[inline]
    fn leave(&mut self, state: Handle) -> Result<(), Terminated> {
        if self.weak
            && let Some(movers) = self.movers.pop()
            && !self.space.is_transient(self.store.get(state))
            && let Some(service) = self.services.last_mut()
        {
            service.inner |= movers.others();
            self.check_last()?;
        }
        let number = self.store.side(state);
        self.on_path[number.0 as usize] = false;
        let closes = self.closes.pop() == Some(true);
        if closes
            && self.space.is_transient(self.store.get(state))
            && let Some(below) = self.closes.last_mut()
        {
            *below = true;
        }
        if self.roots.last().is_none_or(|root| root.index != number.0) {
            return Ok(());
        }
        let Some(root) = self.roots.pop() else { return Ok(()) };
        self.services.pop();
        if self.strong && root.marks & self.all == self.all {
            let memory = self.memory();
            let (watch, pending) = (&mut self.observed, self.stack.len());
            let mut ask = |bytes: usize| watch.report_progress(pending, memory + bytes);
            let members = &self.live[root.index as usize..];
            let fair = streett::fair_part(self.space, self.store, members, self.all, &mut ask)?;
            if let Some(members) = fair {
                return self.accept(state, members);
            }
        }
        self.on_path.truncate(root.index as usize);
        for handle in self.live.drain(root.index as usize..) {
            self.store.set_side(handle, Number::DEAD);
        }
        Ok(())
    }

    fn memory(&self) -> usize {
        self.store.bytes()
            + self.stack.capacity() * size_of::<(Handle, P::Transition)>()
            + self.live.capacity() * size_of::<Handle>()
            + self.roots.capacity() * size_of::<Root>()
            + self.services.capacity() * size_of::<Service>()
            + self.movers.capacity() * size_of::<Processes>()
    }
}
