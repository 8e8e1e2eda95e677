//! A visited set of bounded size (P. Godefroid's thesis, §8.4).
//!
//! A state that the search has entered is held; one that it has left is loose and may make room for another. The
//! states lie in numbered slots, found through chains of equal hashes; a slot keeps its memory when its state goes,
//! so that nothing is allocated once the cache is full.

use std::borrow::Borrow;
use std::collections::VecDeque;

use ample_random::Random;

use super::mark::Mark;
use super::reduction::{Cache, Replacement};
use crate::store::{Handle, Inserted};

/// No slot.
const NONE: u32 = u32::MAX;

/// What it costs to lose a state is one of so many numbers.
const COSTS: usize = 8;

/// Of how many loose states the least visited is taken.
const HANDFUL: usize = 8;

/// States of the owned form `B`.
pub(super) struct Bounded<B> {
    slots: Vec<Slot<B>>,
    /// Where the chain of a hash begins; as many as a power of two.
    heads: Vec<u32>,
    capacity: usize,
    replacement: Replacement,
    /// The slots whose states may go.
    loose: Vec<u32>,
    /// Those in the order in which they became loose, with the stamp of that moment, by what it costs to lose them. What
    /// has another stamp by now does not count any more.
    orders: [VecDeque<(u32, u32)>; COSTS],
    random: Random,
    cleared: u64,
    /// The bytes of all states.
    payload: usize,
    largest: usize,
}

struct Slot<B> {
    state: B,
    hash: u64,
    /// The next slot of the chain.
    next: u32,
    mark: Mark,
    visits: u32,
    /// Several transitions that were explored leave it.
    branches: bool,
    /// When it became loose.
    stamp: u32,
    /// Its place among the loose ones.
    loose: u32,
}

impl<B> Bounded<B> {
    pub(super) fn new(cache: Cache) -> Bounded<B> {
        Bounded {
            slots: Vec::new(),
            heads: vec![NONE; 16],
            capacity: cache.states.min(NONE as usize - 1),
            replacement: cache.replacement,
            loose: Vec::new(),
            orders: Default::default(),
            random: Random::new(0),
            cleared: 0,
            payload: 0,
            largest: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// How many states have made room for others.
    pub(super) fn cleared(&self) -> u64 {
        self.cleared
    }

    /// The size of the largest state.
    pub(super) fn state_bytes(&self) -> usize {
        self.largest
    }

    pub(super) fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot<B>>()
            + (self.heads.capacity() + self.loose.capacity()) * size_of::<u32>()
            + self.orders.iter().map(VecDeque::capacity).sum::<usize>() * size_of::<(u32, u32)>()
            + self.payload
    }

    #[inline]
    pub(super) fn get<S: ?Sized>(&self, handle: Handle) -> &S
    where
        B: Borrow<S>,
    {
        self.slots[handle.position() as usize].state.borrow()
    }

    #[inline]
    pub(super) fn mark(&self, handle: Handle) -> Mark {
        self.slots[handle.position() as usize].mark
    }

    #[inline]
    pub(super) fn set_mark(&mut self, handle: Handle, mark: Mark) {
        self.slots[handle.position() as usize].mark = mark;
    }

    /// The state with that hash for which `same` holds.
    #[inline]
    pub(super) fn find<S: ?Sized>(&self, hash: u64, mut same: impl FnMut(&S) -> bool) -> Option<Handle>
    where
        B: Borrow<S>,
    {
        let mut number = self.heads[self.home(hash)];
        while let Some(slot) = self.slots.get(number as usize) {
            if slot.hash == hash && same(slot.state.borrow()) {
                return Handle::at(u64::from(number));
            }
            number = slot.next;
        }
        None
    }

    /// Takes in a state, and holds it if it is new. It is full if all the states that it has are held.
    pub(super) fn insert<S: ?Sized + ToOwned<Owned = B>>(
        &mut self,
        state: &S,
        hash: u64,
        mark: Mark,
        same: impl FnMut(&S) -> bool,
    ) -> Inserted
    where
        B: Borrow<S>,
    {
        if let Some(handle) = self.find(hash, same) {
            let visits = &mut self.slots[handle.position() as usize].visits;
            *visits = visits.saturating_add(1);
            return Inserted::Seen(handle);
        }
        let Some(number) = self.place(state, hash, mark) else { return Inserted::Full };
        let size = size_of_val(state);
        self.payload += size;
        self.largest = self.largest.max(size);
        self.link(number);
        match Handle::at(u64::from(number)) {
            Some(handle) => Inserted::New(handle),
            None => Inserted::Full,
        }
    }

    /// The search enters a state that it had left.
    pub(super) fn hold(&mut self, handle: Handle) {
        let place = std::mem::replace(&mut self.slots[handle.position() as usize].loose, NONE);
        if place == NONE {
            return;
        }
        self.loose.swap_remove(place as usize);
        if let Some(&moved) = self.loose.get(place as usize) {
            self.slots[moved as usize].loose = place;
        }
    }

    /// The search leaves a state, of which one explored transition leads on, or several.
    pub(super) fn let_go(&mut self, handle: Handle, branches: bool) {
        let number = handle.position() as u32;
        let slot = &mut self.slots[number as usize];
        slot.loose = self.loose.len() as u32;
        slot.stamp = slot.stamp.wrapping_add(1);
        slot.branches |= branches;
        self.loose.push(number);
        if matches!(self.replacement, Replacement::Cheapest | Replacement::Oldest) {
            let cost = self.cost(number);
            self.orders[cost].push_back((number, self.slots[number as usize].stamp));
            self.tidy(cost);
        }
    }

    /// What it costs to lose the state of a slot. From a state that does not branch the search soon comes to one that is
    /// kept; one that was matched may be again, and the more often it was the likelier.
    fn cost(&self, number: u32) -> usize {
        let slot = &self.slots[number as usize];
        match self.replacement {
            Replacement::Cheapest => (usize::from(slot.branches) + slot.visits.max(1).ilog2() as usize).min(COSTS - 1),
            _ => 0,
        }
    }

    /// Removes what does not count from an order, when that is most of it.
    fn tidy(&mut self, cost: usize) {
        if self.orders[cost].len() > 64 + 2 * self.slots.len() {
            let slots = &self.slots;
            self.orders[cost].retain(|&(number, stamp)| is_current(&slots[number as usize], stamp));
        }
    }

    /// The cheapest state that is loose, and of several the one that the search left first. Where the cost has grown since
    /// then, the state is put off.
    fn cheapest(&mut self) -> Option<u32> {
        for cost in 0..COSTS {
            while let Some((number, stamp)) = self.orders[cost].pop_front() {
                if !is_current(&self.slots[number as usize], stamp) {
                    continue;
                }
                let now = self.cost(number);
                if now == cost {
                    return Some(number);
                }
                self.orders[now].push_back((number, stamp));
            }
        }
        None
    }

    /// Writes a state to a slot that is new or made free.
    fn place<S: ?Sized + ToOwned<Owned = B>>(&mut self, state: &S, hash: u64, mark: Mark) -> Option<u32>
    where
        B: Borrow<S>,
    {
        if self.slots.len() < self.capacity {
            let state = state.to_owned();
            self.slots.push(Slot { state, hash, next: NONE, mark, visits: 1, branches: false, stamp: 0, loose: NONE });
            if self.slots.len() > self.heads.len() {
                self.grow();
            }
            return Some(self.slots.len() as u32 - 1);
        }
        let number = self.victim()?;
        self.unlink(number);
        self.hold(Handle::at(u64::from(number))?);
        self.cleared += 1;
        let slot = &mut self.slots[number as usize];
        self.payload -= size_of_val::<S>(slot.state.borrow());
        state.clone_into(&mut slot.state);
        (slot.hash, slot.mark, slot.visits, slot.branches) = (hash, mark, 1, false);
        Some(number)
    }

    /// The slot whose state goes.
    fn victim(&mut self) -> Option<u32> {
        if self.loose.is_empty() {
            return None;
        }
        match self.replacement {
            Replacement::Cheapest | Replacement::Oldest => self.cheapest(),
            Replacement::Random => Some(self.any()),
            Replacement::LeastVisited => {
                let handful: [u32; HANDFUL] = std::array::from_fn(|_| self.any());
                handful.into_iter().min_by_key(|&number| self.slots[number as usize].visits)
            }
        }
    }

    /// A loose slot.
    fn any(&mut self) -> u32 {
        self.random.pick(&self.loose)
    }

    #[inline]
    fn home(&self, hash: u64) -> usize {
        hash as usize & (self.heads.len() - 1)
    }

    fn link(&mut self, number: u32) {
        let home = self.home(self.slots[number as usize].hash);
        self.slots[number as usize].next = std::mem::replace(&mut self.heads[home], number);
    }

    fn unlink(&mut self, number: u32) {
        let home = self.home(self.slots[number as usize].hash);
        let next = self.slots[number as usize].next;
        if self.heads[home] == number {
            self.heads[home] = next;
            return;
        }
        let mut before = self.heads[home];
        while let Some(slot) = self.slots.get_mut(before as usize) {
            if slot.next == number {
                slot.next = next;
                return;
            }
            before = slot.next;
        }
    }

    /// Twice as many chains. The last slot is not in any yet.
    #[cold]
    fn grow(&mut self) {
        self.heads = vec![NONE; 2 * self.heads.len()];
        for number in 0..self.slots.len() as u32 - 1 {
            self.link(number);
        }
    }
}

fn is_current<B>(slot: &Slot<B>, stamp: u32) -> bool {
    slot.loose != NONE && slot.stamp == stamp
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    fn insert(cache: &mut Bounded<u32>, state: u32) -> Inserted {
        cache.insert(&state, u64::from(state % 7), Mark::default(), |&other: &u32| other == state)
    }

    #[test]
    fn loose_states_make_room_and_held_ones_do_not() {
        for replacement in Replacement::value_variants().iter().copied() {
            let mut cache = Bounded::new(Cache { states: 20, replacement });
            let held: Vec<Handle> = (0..10).filter_map(|state| insert(&mut cache, state).handle()).collect();
            for state in 10..1000 {
                let Inserted::New(handle) = insert(&mut cache, state) else { panic!("{state}") };
                cache.let_go(handle, state % 3 == 0);
            }
            for (state, &handle) in held.iter().enumerate() {
                assert_eq!(insert(&mut cache, state as u32), Inserted::Seen(handle));
                assert_eq!(*cache.get::<u32>(handle), state as u32);
            }
            assert_eq!((cache.len(), cache.cleared()), (20, 980));
        }
    }

    #[test]
    fn the_oldest_goes_first_and_none_if_all_are_held() {
        let mut cache = Bounded::new(Cache { states: 3, replacement: Replacement::Oldest });
        let handles: Vec<Handle> = (0..3).filter_map(|state| insert(&mut cache, state).handle()).collect();
        assert_eq!(insert(&mut cache, 3), Inserted::Full);
        handles.iter().rev().for_each(|&handle| cache.let_go(handle, false));
        cache.hold(handles[2]);
        assert_eq!(insert(&mut cache, 3), Inserted::New(handles[1]));
        assert_eq!(insert(&mut cache, 4), Inserted::New(handles[0]));
        assert_eq!(insert(&mut cache, 5), Inserted::Full);
    }

    #[test]
    fn states_that_branch_and_states_that_were_matched_go_last() {
        let mut cache = Bounded::new(Cache { states: 4, replacement: Replacement::Cheapest });
        let handles: Vec<Handle> = (0..4).filter_map(|state| insert(&mut cache, state).handle()).collect();
        for (&handle, branches) in handles.iter().zip([true, true, false, false]) {
            cache.let_go(handle, branches);
        }
        for matched in [0, 2] {
            assert!(matches!(insert(&mut cache, matched), Inserted::Seen(_)));
        }
        let evicted: Vec<Option<Handle>> = (4..8).map(|state| insert(&mut cache, state).handle()).collect();
        assert_eq!(evicted, [3, 1, 2, 0].map(|number: usize| Some(handles[number])));
    }
}
