//! A store made of a set that cannot give states back: the states that a search is at work on are kept beside it in full.
//!
//! Every search needs the states on its stack, or in its queue, and no others. So any [`StateSet`], compressing or
//! approximate, becomes a store for any search: a state that is new goes into the set and to the end of the stack or
//! queue, and leaves that when the search [releases](ExactStore::release) it. A state that was seen has no handle of its
//! own: all have [`Handle::LEFT`].
//!
//! A breadth-first search finds the path to a state without the states on it: the store knows the number of each state's
//! parent and a few bits of its hash, and from an initial state on takes the steps that match. Where several do, it tries
//! one after the other; in the end the path has led to the state that it was for.

use std::rc::Rc;

use rapidhash::v3::rapidhash_v3;

use super::active::Active;
use super::links::Links;
use super::recent::RecentStates;
use super::set::{Entry, Omission, StateSet};
use super::{ExactStore, FlatStore, Handle, Inserted, Parent, Retraced, Side, Store, Visible};
use crate::space::StateSpace;

/// Handles of states that are kept for a path begin here.
const KEPT: u64 = 1 << (Handle::BITS - 1);

/// Announces a state that was inserted lately.
const RECENT: u64 = u64::MAX;

/// In which order a search returns to its states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    FirstIn,
    LastIn,
}

/// Tells how many bytes of a state count.
type Counting = Rc<dyn Fn(&[u8]) -> usize>;

/// How much of a state counts, where that is not everything.
#[derive(Clone, Default)]
pub struct Key(Option<Counting>);

impl Key {
    /// Only the bytes of which `visible` tells the number.
    pub fn new(visible: impl Fn(&[u8]) -> usize + 'static) -> Key {
        Key(Some(Rc::new(visible)))
    }

    /// The bytes that count.
    #[inline]
    pub(crate) fn of<'a>(&self, state: &'a [u8]) -> &'a [u8] {
        match &self.0 {
            None => state,
            Some(visible) => &state[..visible(state)],
        }
    }
}

impl Visible for Key {
    #[inline]
    fn visible(&self, state: &[u8]) -> usize {
        self.of(state).len()
    }
}

/// A store over a set of states, for a search that tells when it is done with a state.
///
/// ```
/// use ample_explicit::store::{ExactStore, Handle, Inserted, Key, SetStore, Store, TreeSet};
///
/// let mut store = SetStore::stack(TreeSet::new(), Key::default());
/// let Inserted::New(handle) = store.insert(b"one") else { panic!() };
/// assert_eq!(store.get(handle), b"one");
/// store.release(handle);
/// assert_eq!(store.insert(b"one"), Inserted::Seen(Handle::LEFT));
/// ```
pub struct SetStore<C> {
    set: C,
    /// For a set that is slow.
    recent: Option<RecentStates>,
    key: Key,
    active: Active,
    order: Order,
    links: Option<Links>,
    /// The states on paths that were asked for.
    kept: FlatStore<(), Key>,
    limit: usize,
    longest: usize,
}

impl<C: StateSet> SetStore<C> {
    fn new(set: C, key: Key, order: Order, links: Option<Links>) -> Self {
        let kept = FlatStore::with_visible(key.clone());
        let recent = C::IS_SLOW.then(RecentStates::new);
        SetStore { set, recent, key, active: Active::new(), order, links, kept, limit: usize::MAX, longest: 0 }
    }

    /// For a depth-first search.
    pub fn stack(set: C, key: Key) -> Self {
        SetStore::new(set, key, Order::LastIn, None)
    }

    /// For a breadth-first search, which may ask for paths or not.
    pub fn queue(set: C, key: Key, finds_paths: bool) -> Self {
        SetStore::new(set, key, Order::FirstIn, finds_paths.then(Links::default))
    }

    /// Takes at most that many bytes from the system, and is [`Inserted::Full`] beyond.
    pub fn limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self.set.set_limit(bytes);
        self
    }

    /// How likely it is that a state was omitted; none if the set is exact.
    pub fn omission(&self) -> Option<Omission> {
        self.set.omission()
    }

    /// The bytes that the set holds, without the states that the search is at work on.
    pub fn set_bytes(&self) -> usize {
        self.set.bytes() + self.recent.as_ref().map_or(0, RecentStates::bytes)
    }

    /// Makes room for a state of that size beside the set.
    #[cold]
    fn extend(&mut self, more: usize) -> bool {
        let beside = self.active.bytes() + self.links_bytes() + self.kept.bytes() + more;
        if self.limit.saturating_sub(beside) < self.set_bytes() {
            return false;
        }
        self.set.set_limit(self.limit - beside);
        true
    }

    fn links_bytes(&self) -> usize {
        self.links.as_ref().map_or(0, Links::bytes)
    }

    /// Puts a new state behind the others.
    #[inline]
    fn push(&mut self, state: &[u8], side: Parent) -> Inserted {
        let more = self.active.needs(state.len());
        if more > 0 && !self.extend(more) {
            return Inserted::Full;
        }
        let number = match &mut self.links {
            None => 0,
            Some(links) => {
                let parent = side.parent().map_or(0, |parent| self.active.number(parent.position() - 1));
                let number = links.next();
                links.push(parent, tag(self.key.of(state)));
                number
            }
        };
        self.longest = self.longest.max(state.len());
        let position = self.active.push(state, number);
        match Handle::at(position + 1).filter(|_| position + 1 < KEPT) {
            Some(handle) => Inserted::New(handle),
            None => Inserted::Full,
        }
    }

    fn keep_state(&mut self, state: &[u8]) -> Option<Handle> {
        Handle::at(KEPT + self.kept.insert(state).handle()?.position())
    }
}

/// The part of a state's hash by which it is found on a path.
fn tag(key: &[u8]) -> u8 {
    (rapidhash_v3(key) >> 32) as u8
}

impl<C: StateSet> Store<[u8]> for SetStore<C> {
    type Side = Parent;

    #[inline]
    fn hash(&self, state: &[u8]) -> u64 {
        rapidhash_v3(self.key.of(state))
    }

    #[inline]
    fn insert_hashed(&mut self, state: &[u8], _: u64, side: Parent) -> Inserted {
        let signature = self.announce(state);
        self.insert_announced(state, signature, side)
    }

    #[inline]
    fn announce(&mut self, state: &[u8]) -> u64 {
        let key = self.key.of(state);
        if let Some(recent) = &self.recent
            && recent.contains(key)
        {
            return RECENT;
        }
        let signature = self.set.signature(key);
        self.set.prefetch(signature);
        signature
    }

    #[inline]
    fn insert_announced(&mut self, state: &[u8], announced: u64, side: Parent) -> Inserted {
        if C::IS_SLOW && announced == RECENT {
            return Inserted::Seen(Handle::LEFT);
        }
        let key = self.key.of(state);
        let entry = self.set.insert(key, announced);
        if let Some(recent) = &mut self.recent
            && entry != Entry::Full
        {
            recent.note(key, self.set.len());
        }
        match entry {
            Entry::New => self.push(state, side),
            Entry::Seen => Inserted::Seen(Handle::LEFT),
            Entry::Full => Inserted::Full,
        }
    }

    fn len(&self) -> usize {
        self.set.len()
    }

    fn bytes(&self) -> usize {
        self.set_bytes() + self.active.bytes() + self.links_bytes() + self.kept.bytes()
    }

    fn state_bytes(&self) -> usize {
        self.longest
    }
}

impl<C: StateSet> ExactStore<[u8]> for SetStore<C> {
    /// The state, if the search has not released it, or if it lies on a path that was asked for.
    #[inline]
    fn get(&self, handle: Handle) -> &[u8] {
        let position = handle.position();
        if position < KEPT {
            return self.active.state(position - 1);
        }
        Handle::at(position - KEPT).map_or(&[], |handle| self.kept.get(handle))
    }

    fn find(&self, state: &[u8]) -> Option<Handle> {
        if let Some(kept) = self.kept.find(state) {
            return Handle::at(KEPT + kept.position());
        }
        self.set.contains(self.key.of(state)).then_some(Handle::LEFT)
    }

    #[inline]
    fn same(&self, one: &[u8], other: &[u8]) -> bool {
        self.key.of(one) == self.key.of(other)
    }

    /// Nothing is known beside a state but its parent, and that only when a path is asked for.
    #[inline]
    fn side(&self, _: Handle) -> Parent {
        Parent(None)
    }

    #[inline]
    fn set_side(&mut self, _: Handle, _: Parent) {}

    fn first(&self) -> Option<Handle> {
        Handle::at(self.active.first()? + 1)
    }

    #[inline]
    fn after(&self, handle: Handle) -> Option<Handle> {
        Handle::at(self.active.after(handle.position() - 1)? + 1)
    }

    #[inline]
    fn release(&mut self, handle: Handle) {
        let Some(position) = handle.position().checked_sub(1).filter(|&position| position + 1 < KEPT) else { return };
        match self.order {
            Order::FirstIn => self.active.release_before(position),
            Order::LastIn => self.active.release_from(position),
        }
    }

    fn keep(&mut self, handle: Handle) -> Option<Handle> {
        if handle.position() >= KEPT {
            return Some(handle);
        }
        if handle == Handle::LEFT {
            return None;
        }
        let state = self.active.state(handle.position() - 1).to_vec();
        self.keep_state(&state)
    }

    #[cold]
    fn retrace<P>(&mut self, space: &mut P, end: Handle, skip: impl Fn(&P) -> bool) -> Retraced<P::Transition>
    where
        P: StateSpace<State = [u8]>,
    {
        let Some(links) = &self.links else { return Retraced { steps: Vec::new(), end: self.keep(end) } };
        let mut numbers = vec![self.active.number(end.position() - 1)];
        while let Some(&number) = numbers.last()
            && number != 0
        {
            numbers.push(links.parent(number));
        }
        numbers.pop();
        let tags: Vec<u8> = numbers.iter().rev().map(|&number| links.tag(number)).collect();
        let goal = self.active.state(end.position() - 1);
        let fits = |state: &[u8], depth: usize| {
            let key = self.key.of(state);
            tag(key) == tags[depth] && (depth + 1 < tags.len() || key == self.key.of(goal))
        };
        let path = replay(space, tags.len(), fits, skip);
        let steps = path.iter().filter_map(|(state, transition)| Some((self.keep_state(state)?, (*transition)?)));
        let steps = steps.collect();
        Retraced { steps, end: path.last().and_then(|(state, _)| self.keep_state(state)) }
    }
}

/// A path from an initial state through so many states that fit, each for its depth; with the transition that is taken in
/// each but the last.
fn replay<P: StateSpace<State = [u8]>>(
    space: &mut P,
    length: usize,
    fits: impl Fn(&[u8], usize) -> bool,
    skip: impl Fn(&P) -> bool,
) -> Vec<(Vec<u8>, Option<P::Transition>)> {
    let mut path: Vec<(Vec<u8>, Option<P::Transition>)> = Vec::new();
    let mut out = Vec::new();
    for index in 0.. {
        if !space.initial(index, &mut out) {
            return Vec::new();
        }
        if skip(space) || !fits(&out, 0) {
            continue;
        }
        path.push((out.clone(), None));
        while path.len() < length {
            let depth = path.len();
            let Some((state, taken)) = path.last_mut() else { break };
            let mut cursor = match taken {
                None => space.first(state),
                Some(last) => space.next(state, last),
            };
            while let Some(transition) = cursor {
                space.target(state, &transition, &mut out);
                if !skip(space) && fits(&out, depth) {
                    break;
                }
                cursor = space.next(state, &transition);
            }
            *taken = cursor;
            if cursor.is_some() {
                path.push((out.clone(), None));
            } else {
                path.pop();
            }
        }
        if !path.is_empty() {
            break;
        }
    }
    path
}
