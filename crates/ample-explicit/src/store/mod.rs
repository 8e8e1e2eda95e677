//! Stores: the set of visited states.
//!
//! A [`Store`] answers one question, *new or seen*, and hands out a [`Handle`] for every state it took
//! in. An [`ExactStore`] can also give the state back, which lets a search keep handles instead of
//! states on its stack and in its queue. Beside each state a store keeps a little [`Side`] data: the
//! state it was first reached from, visited marks, or nothing.
//!
//! [`FlatStore`] is for states that are bytes and is built for speed and little memory; [`HashStore`]
//! takes any Rust type that can be hashed and compared. [`RunStore`] is no set: it keeps the states of one run.
//!
//! A [`StateSet`] cannot give states back: it compresses them ([`TreeSet`], [`CollapseSet`], [`AutomatonSet`]), or keeps only
//! a part of their hash and is approximate ([`BitStateSet`], [`CompactionSet`]). With the states that a search is at work on
//! beside it, it is a [`SetStore`], for any search.

mod active;
mod arena;
mod automaton;
mod bit_state;
mod collapse;
mod compact_table;
mod compaction;
mod disk;
mod flat;
mod hash;
mod links;
mod pair_table;
mod prefetch;
mod recent;
mod run;
mod set;
mod set_store;
mod shared;
mod side;
mod table;
mod tree;

pub use automaton::AutomatonSet;
pub use bit_state::{BitStateSet, MOST_HASH_FUNCTIONS};
pub use collapse::{CollapseSet, Components};
pub use compaction::CompactionSet;
pub use disk::{DiskStore, Offered};
pub use flat::{FlatStore, Visible, Whole};
pub use hash::HashStore;
pub use run::RunStore;
pub use set::{Entry, Omission, StateSet};
pub use set_store::{Key, SetStore};
pub(crate) use shared::{SharedStore, Worker, is_same_chunk};
pub use side::{Costed, Linked, Marked, Marks, Parent, PathCost, Pathless, Side};
pub use tree::TreeSet;

use std::num::NonZeroU64;

use crate::search::retrace;
use crate::space::StateSpace;

/// Names a state in the store that gave it out. Handles grow in the order of insertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Handle(NonZeroU64);

impl Handle {
    /// Handles use this many bits, so that a table entry has room for a tag beside one.
    pub(crate) const BITS: u32 = 40;

    /// Of any state that a [`SetStore`] has seen and does not keep.
    pub const LEFT: Handle = Handle(NonZeroU64::MIN);

    /// The handle of a position; none where the position is out of reach.
    #[inline]
    pub(crate) fn at(position: u64) -> Option<Handle> {
        if position >= (1 << Handle::BITS) - 1 {
            return None;
        }
        NonZeroU64::new(position + 1).map(Handle)
    }

    /// The position that [`Handle::at`] was given.
    #[inline]
    pub(crate) fn position(self) -> u64 {
        self.0.get() - 1
    }

    /// The handle as a number that is never zero and has at most 40 bits.
    #[inline]
    pub fn number(self) -> u64 {
        self.0.get()
    }

    /// The inverse of [`Handle::number`], zero being no handle.
    #[inline]
    pub fn from_number(number: u64) -> Option<Handle> {
        NonZeroU64::new(number).map(Handle)
    }
}

/// What became of a state that was offered to a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inserted {
    /// It was not there, and is now.
    New(Handle),
    /// It was there already.
    Seen(Handle),
    /// It was not there, and there is no memory left to take it in.
    Full,
}

impl Inserted {
    /// The handle of the state, new or seen.
    pub fn handle(self) -> Option<Handle> {
        match self {
            Inserted::New(handle) | Inserted::Seen(handle) => Some(handle),
            Inserted::Full => None,
        }
    }
}

/// A set of visited states.
pub trait Store<S: ?Sized> {
    /// What is kept beside each state.
    type Side: Side;

    /// The hash of a state, for the calls that want one.
    fn hash(&self, state: &S) -> u64;

    /// Takes in a state, given its hash and its side data. The side data of a state that is there
    /// already stays as it is.
    fn insert_hashed(&mut self, state: &S, hash: u64, side: Self::Side) -> Inserted;

    /// Starts to bring that part of the table into the cache in which a state with that hash will be
    /// looked for. The memory takes a hundred times longer to answer than an insertion takes to compute,
    /// but answers many requests at once: who has several states to insert does well to announce them
    /// all, first with this, then with [`prefetch_state`](Store::prefetch_state), before inserting any.
    fn prefetch(&self, _hash: u64) {}

    /// The second step: starts to bring the stored state into the cache that one with that hash will be
    /// compared with.
    fn prefetch_state(&self, _hash: u64) {}

    /// The first step for a state that will be inserted together with others: computes what is needed to find its place,
    /// and [prefetches](Store::prefetch) that. What it gives is for [`insert_announced`](Store::insert_announced).
    #[inline]
    fn announce(&mut self, state: &S) -> u64 {
        let hash = self.hash(state);
        self.prefetch(hash);
        hash
    }

    /// Takes in a state that was [announced](Store::announce).
    #[inline]
    fn insert_announced(&mut self, state: &S, announced: u64, side: Self::Side) -> Inserted {
        self.insert_hashed(state, announced, side)
    }

    /// Takes in a state with its side data.
    #[inline]
    fn insert_with(&mut self, state: &S, side: Self::Side) -> Inserted {
        self.insert_hashed(state, self.hash(state), side)
    }

    /// Takes in a state that was reached from nowhere: an initial one, or one whose origin is of no
    /// interest.
    #[inline]
    fn insert(&mut self, state: &S) -> Inserted {
        self.insert_with(state, Self::Side::fresh(None))
    }

    /// How many states there are.
    fn len(&self) -> usize;

    /// Are there none?
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The memory held, in bytes: capacity, not use.
    fn bytes(&self) -> usize;

    /// The size of the largest state, in bytes.
    fn state_bytes(&self) -> usize;
}

/// A store that keeps the states themselves, in the order of their insertion: all of them, or at least those that the search
/// has not [released](ExactStore::release).
pub trait ExactStore<S: ?Sized>: Store<S> {
    /// The state as it was when it was taken in.
    fn get(&self, handle: Handle) -> &S;

    /// The handle of a state, if it is in the store.
    fn find(&self, state: &S) -> Option<Handle>;

    /// Are the two the same state for this store?
    fn same(&self, one: &S, other: &S) -> bool;

    /// The side data of a state.
    fn side(&self, handle: Handle) -> Self::Side;

    /// Replaces the side data of a state.
    fn set_side(&mut self, handle: Handle, side: Self::Side);

    /// The state that was taken in first.
    fn first(&self) -> Option<Handle>;

    /// The state that was taken in after that one.
    fn after(&self, handle: Handle) -> Option<Handle>;

    /// The search is done with a state: it has expanded it, and does not ask for it by its handle any more. A breadth-first
    /// search is done with all that were taken in before that one, a depth-first search with all that came after it.
    #[inline]
    fn release(&mut self, _: Handle) {}

    /// A handle of a state that stays good when the search has released it; none if there is no memory for that, or if it is
    /// [`Handle::LEFT`]. The state has not been released.
    fn keep(&mut self, handle: Handle) -> Option<Handle> {
        Some(handle)
    }

    /// The steps to a state that has not been released, along the parents that the store knows of; see [`retrace`]. A
    /// transition is left out of consideration if `skip` says so right after its target was computed: it has no target.
    fn retrace<P>(&mut self, space: &mut P, end: Handle, skip: impl Fn(&P) -> bool) -> Retraced<P::Transition>
    where
        S: ToOwned,
        S::Owned: Default,
        P: StateSpace<State = S>,
        Self: Sized,
    {
        let steps = retrace(space, self, end, skip);
        Retraced { steps, end: Some(end) }
    }
}

/// How a state was reached, in handles that stay good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retraced<T> {
    /// Each step: the state it starts from, and the transition that it takes there.
    pub steps: Vec<(Handle, T)>,
    /// The state itself; none if there was no memory to keep it.
    pub end: Option<Handle>,
}
