//! Lassos: a prefix, and the cycle that it leads to; short ones, for people to read.
//!
//! What a depth-first search finds is as deep as the search went. So once there is a component with an accepted run in
//! it, a breadth-first search looks for a short path there, and others inside it for a short round that collects all
//! that is needed.

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet, VecDeque};

use ample_budget::{Budget, Progress};
use ample_model::Move;

use super::{Concurrent, Fairness, GeneralisedBuchi, Member};
use crate::space::Buffer;
use crate::store::{ExactStore, Handle, Side};

/// An endless run, or the beginning of one that says enough.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lasso<T> {
    /// From an initial state: where each step begins, and the step.
    pub prefix: Vec<(Handle, T)>,
    /// The state after it.
    pub end: Handle,
    /// From there back to there, for ever. Without a cycle, every run that begins with the prefix is accepted.
    pub cycle: Vec<(Handle, T)>,
}

/// The steps from an initial state, and the state after them.
type Road<T> = (Vec<(Handle, T)>, Handle);

/// What a search has found, before it is made short.
pub(super) enum Seek<T> {
    /// The path to a state after which everything is accepted.
    Beginning { path: Vec<(Handle, T)>, end: Handle },
    /// A strongly connected set of states with an accepted run in it. One of them is on the path, or is its end, or
    /// can be reached from there over states that the search has seen.
    Component { path: Vec<(Handle, T)>, end: Handle, members: Vec<Handle> },
}

/// A shorter path is looked for among so many states, and as many as the search has seen.
const PATIENCE: usize = 200_000;
/// But not among more than that.
const MAX_PATIENCE: usize = 2_000_000;
/// A state with so many steps out of it counts once.
const STEPS_PER_STATE: usize = 4;
/// The budget is asked every so many steps.
const ASK_EVERY: usize = 64;

impl<T: Copy> Seek<T> {
    pub fn lasso<P, St>(self, space: &mut P, store: &mut St, fairness: Fairness, budget: &Budget) -> Lasso<T>
    where
        P: GeneralisedBuchi<Transition = T> + Concurrent,
        St: ExactStore<P::State, Side: Member>,
        Buffer<P>: Default,
    {
        match self {
            Seek::Beginning { path, end } => {
                let goal = |space: &mut P, store: &St, state: Handle| {
                    let first = space.first(store.get(state));
                    first.is_some_and(|first| space.is_universal(store.get(state), &first))
                };
                let (prefix, end) = shorter(space, store, path.len(), goal, budget).unwrap_or((path, end));
                Lasso { prefix, end, cycle: Vec::new() }
            }
            Seek::Component { mut path, end, members } => {
                for member in &members {
                    store.set_side(*member, store.side(*member).member());
                }
                let goal = |_: &mut P, store: &St, state: Handle| store.side(state).is_member();
                let entry = path.iter().position(|(state, _)| store.side(*state).is_member());
                let known = match entry {
                    Some(entry) => {
                        let end = path[entry].0;
                        path.truncate(entry);
                        Some((path, end))
                    }
                    None if store.side(end).is_member() => Some((path, end)),
                    None => search(space, store, Bounds { seen_only: true, ..Bounds::NONE }, goal, budget),
                };
                let length = known.as_ref().map_or(usize::MAX, |(path, _)| path.len());
                let short = shorter(space, store, length, goal, budget);
                let (prefix, end) = short.or(known).unwrap_or((Vec::new(), members[0]));
                let cycle = Round::new(space, store, &members, fairness).close(end);
                Lasso { prefix, end, cycle }
            }
        }
    }
}

/// A path of fewer steps than `length` from an initial state to one where `goal` holds, if one is found soon.
fn shorter<P, St>(
    space: &mut P,
    store: &mut St,
    length: usize,
    goal: impl Fn(&mut P, &St, Handle) -> bool,
    budget: &Budget,
) -> Option<Road<P::Transition>>
where
    P: GeneralisedBuchi,
    St: ExactStore<P::State, Side: Member>,
    Buffer<P>: Default,
{
    let patience = (store.len() + PATIENCE).min(MAX_PATIENCE);
    search(space, store, Bounds { length, patience, seen_only: false }, goal, budget)
}

/// How far to search.
struct Bounds {
    /// A path of so many steps is too long.
    length: usize,
    /// Look at so many states.
    patience: usize,
    /// Look only at states that are in the store; and whatever the budget says, as it will not take long.
    seen_only: bool,
}

impl Bounds {
    const NONE: Bounds = Bounds { length: usize::MAX, patience: usize::MAX, seen_only: false };
}

/// The shortest path from an initial state to one where `goal` holds, within bounds.
fn search<P, St>(
    space: &mut P,
    store: &mut St,
    bounds: Bounds,
    goal: impl Fn(&mut P, &St, Handle) -> bool,
    budget: &Budget,
) -> Option<Road<P::Transition>>
where
    P: GeneralisedBuchi,
    St: ExactStore<P::State, Side: Member>,
    Buffer<P>: Default,
{
    let mut parents: HashMap<Handle, Option<(Handle, P::Transition)>> = HashMap::new();
    let mut pending = VecDeque::new();
    let mut out = Buffer::<P>::default();
    let mut known = |store: &mut St, out: &Buffer<P>, from: Option<(Handle, P::Transition)>| {
        let handle = match store.find(out.borrow()) {
            Some(handle) => handle,
            None if bounds.seen_only => return Some(None),
            None => store.insert_with(out.borrow(), St::Side::fresh(None)).handle()?,
        };
        let new = !parents.contains_key(&handle);
        if new {
            parents.insert(handle, from);
        }
        Some(Some(handle).filter(|_| new))
    };
    for index in 0.. {
        if !space.initial(index, &mut out) {
            break;
        }
        if !space.is_dead()
            && let Some(handle) = known(store, &out, None)?
        {
            pending.push_back((handle, 0));
        }
    }
    let mut arrivals = 0;
    let mut end = None;
    while let Some((state, depth)) = pending.pop_front() {
        if depth >= bounds.length {
            return None;
        }
        if goal(space, store, state) {
            end = Some(state);
            break;
        }
        let mut cursor = space.first(store.get(state));
        while let Some(transition) = cursor {
            // A state may have thousands of successors, so these are counted.
            arrivals += 1;
            let ask = arrivals % ASK_EVERY == 0 && !bounds.seen_only;
            let progress = || Progress { memory: store.bytes() as u64, ..Progress::default() };
            if arrivals / STEPS_PER_STATE > bounds.patience || ask && budget.report(&progress()).is_err() {
                return None;
            }
            space.target(store.get(state), &transition, &mut out);
            if !space.is_dead()
                && let Some(handle) = known(store, &out, Some((state, transition)))?
            {
                pending.push_back((handle, depth + 1));
            }
            cursor = space.next(store.get(state), &transition);
        }
    }
    let end = end?;
    let mut steps = Vec::new();
    let mut at = end;
    while let Some(Some(step)) = parents.get(&at) {
        steps.push(*step);
        at = step.0;
    }
    steps.reverse();
    Some((steps, end))
}

/// What a step contributes to what a cycle needs.
#[derive(Clone, Default)]
struct Gain {
    marks: u64,
    served: [u64; 4],
    actions: Vec<u32>,
}

/// A round through a component that collects all that makes it accepted and fair.
struct Round<'a, P, St> {
    space: &'a mut P,
    store: &'a St,
    fairness: Fairness,
    numbers: HashMap<Move, u32>,
    marks: u64,
    served: [u64; 4],
    actions: HashSet<u32>,
}

/// A step to a member, and what it contributes.
type MemberStep<T> = (T, Handle, Gain);

impl<'a, P, St> Round<'a, P, St>
where
    P: GeneralisedBuchi + Concurrent,
    St: ExactStore<P::State, Side: Member>,
    Buffer<P>: Default,
{
    fn new(space: &'a mut P, store: &'a St, members: &[Handle], fairness: Fairness) -> Self {
        let marks = space.all_marks();
        let served = if fairness == Fairness::Weak { [u64::MAX; 4] } else { [0; 4] };
        let mut round =
            Round { space, store, fairness, numbers: HashMap::new(), marks, served, actions: HashSet::new() };
        if fairness == Fairness::Strong {
            for &member in members {
                round.need_actions(member);
            }
        }
        round
    }

    /// All actions that are enabled in a member are needed.
    fn need_actions(&mut self, member: Handle) {
        let state = self.store.get(member);
        let mut cursor = self.space.first(state);
        while let Some(transition) = cursor {
            if let Some(action) = self.space.actions(state, &transition).into_iter().next() {
                let next = self.numbers.len() as u32;
                self.actions.insert(*self.numbers.entry(action).or_insert(next));
            }
            cursor = self.space.next(state, &transition);
        }
    }

    /// From that member back to it. Empty if there is no such round, which cannot be.
    fn close(mut self, start: Handle) -> Vec<(Handle, P::Transition)> {
        let mut cycle = Vec::new();
        let mut at = start;
        while self.needs_more() {
            let Some(leg) = self.leg(at, |round, gain, _| round.wants(gain)) else { return Vec::new() };
            at = self.walk(leg, &mut cycle);
        }
        if at != start || cycle.is_empty() {
            let Some(leg) = self.leg(at, |_, _, to| to == start) else { return Vec::new() };
            self.walk(leg, &mut cycle);
        }
        cycle
    }

    fn needs_more(&self) -> bool {
        self.marks != 0 || self.served != [0; 4] || !self.actions.is_empty()
    }

    fn wants(&self, gain: &Gain) -> bool {
        gain.marks & self.marks != 0
            || self.served.iter().zip(gain.served).any(|(need, got)| need & got != 0)
            || gain.actions.iter().any(|action| self.actions.contains(action))
    }

    /// Goes along the steps; where they end.
    fn walk(
        &mut self,
        leg: Vec<(Handle, MemberStep<P::Transition>)>,
        cycle: &mut Vec<(Handle, P::Transition)>,
    ) -> Handle {
        let mut at = None;
        for (from, (transition, to, gain)) in leg {
            self.marks &= !gain.marks;
            for (need, got) in self.served.iter_mut().zip(gain.served) {
                *need &= !got;
            }
            for action in gain.actions {
                self.actions.remove(&action);
            }
            cycle.push((from, transition));
            at = Some(to);
        }
        at.expect("a leg has at least one step")
    }

    /// The shortest path over members whose last step is a wanted one.
    fn leg(
        &mut self,
        from: Handle,
        wanted: impl Fn(&Self, &Gain, Handle) -> bool,
    ) -> Option<Vec<(Handle, MemberStep<P::Transition>)>> {
        let mut parents: HashMap<Handle, (Handle, MemberStep<P::Transition>)> = HashMap::new();
        let mut pending = VecDeque::from([from]);
        while let Some(state) = pending.pop_front() {
            for step in self.steps(state) {
                let to = step.1;
                if wanted(self, &step.2, to) {
                    let mut leg = vec![(state, step)];
                    let mut at = state;
                    while at != from {
                        let before = parents.remove(&at)?;
                        at = before.0;
                        leg.push(before);
                    }
                    leg.reverse();
                    return Some(leg);
                }
                if to != from && !parents.contains_key(&to) {
                    parents.insert(to, (state, step));
                    pending.push_back(to);
                }
            }
        }
        None
    }

    /// The steps from a member to members.
    fn steps(&mut self, member: Handle) -> Vec<MemberStep<P::Transition>> {
        let state = self.store.get(member);
        let mut steps: Vec<MemberStep<P::Transition>> = Vec::new();
        let mut out = Buffer::<P>::default();
        let mut movers = super::Processes::NONE;
        let mut cursor = self.space.first(state);
        while let Some(transition) = cursor {
            cursor = self.space.next(state, &transition);
            if let Some(mover) = self.space.mover(&transition) {
                movers.insert(mover);
            }
            self.space.target(state, &transition, &mut out);
            if self.space.is_dead() {
                continue;
            }
            let served = self.space.participants().words();
            let Some(to) = self.store.find(out.borrow()).filter(|to| self.store.side(*to).is_member()) else {
                continue;
            };
            let mut gain = Gain { marks: self.space.marks(&transition), served, actions: Vec::new() };
            if self.fairness == Fairness::Strong {
                let taken = self.space.actions(state, &transition);
                gain.actions = taken.iter().filter_map(|action| self.numbers.get(action).copied()).collect();
            }
            steps.push((transition, to, gain));
        }
        if self.fairness == Fairness::Weak && !self.space.is_transient(state) {
            for (_, _, gain) in &mut steps {
                for (got, idle) in gain.served.iter_mut().zip(movers.others().words()) {
                    *got |= idle;
                }
            }
        }
        steps
    }
}
