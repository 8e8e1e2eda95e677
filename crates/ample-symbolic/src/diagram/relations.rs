//! Images: a set of states and a relation in one recursion, without a rename and without frames.
//!
//! A relation speaks of the bits that it reads, now, and of those that it writes, in the next state. For a pair that is
//! not written, the bit simply stays; for one that is, the bit now is forgotten and the next one takes its place.

use super::core::{Core, Edge, FALSE, TRUE};
use crate::error::{Maybe, SetError};

const IMAGE: u32 = 8;
const PREIMAGE: u32 = 9;
/// Its second operand is no function but the number of a list of events.
pub(super) const SATURATE: u32 = 10;
const PREIMAGE_WITHIN: u32 = 11;

/// The four cofactors of a relation at a pair: `[now][next]`.
type Cofactors = [[Edge; 2]; 2];

/// A relation, what it writes, and the first position that it reads or writes.
#[derive(Clone, Copy)]
pub(super) struct Event {
    /// The slot of the relation.
    pub relation: u32,
    pub written: u32,
    pub top: u32,
}

impl Core {
    fn relation_cofactors(&self, relation: Edge, level: u32) -> Cofactors {
        let (r0, r1) = self.cofactors(relation, level);
        let ((r00, r01), (r10, r11)) = (self.cofactors(r0, level + 1), self.cofactors(r1, level + 1));
        [[r00, r01], [r10, r11]]
    }

    /// Below the last pair that is written, a relation is a condition.
    fn is_condition(&self, level: u32, written: u32) -> bool {
        level / 2 >= self.by_position[written as usize].1
    }

    pub fn image(&mut self, set: Edge, relation: Edge, written: u32) -> Maybe<Edge> {
        if set == FALSE || relation == FALSE {
            return Ok(FALSE);
        }
        let level = self.level(set).min(self.level(relation)) & !1;
        if (set == TRUE && relation == TRUE) || self.is_condition(level, written) {
            return self.and(set, relation);
        }
        let what = IMAGE | written << 8;
        if let Some(known) = self.recall(what, set, relation) {
            return Ok(known);
        }
        self.look()?;
        let (s0, s1) = self.cofactors(set, level);
        let [[r00, r01], [r10, r11]] = self.relation_cofactors(relation, level);
        let result = if self.by_position[written as usize].0[level as usize / 2] {
            let lo = self.union_of_images((s0, r00), (s1, r10), written)?;
            let hi = if r00 == r01 && r10 == r11 { lo } else { self.union_of_images((s0, r01), (s1, r11), written)? };
            self.make(level, lo, hi)?
        } else {
            let lo = self.image(s0, r00, written)?;
            let hi = self.image(s1, r10, written)?;
            self.make(level, lo, hi)?
        };
        self.remember(what, set, relation, result);
        Ok(result)
    }

    fn union_of_images(&mut self, one: (Edge, Edge), other: (Edge, Edge), written: u32) -> Maybe<Edge> {
        let first = self.image(one.0, one.1, written)?;
        if first == TRUE {
            return Ok(TRUE);
        }
        let second = self.image(other.0, other.1, written)?;
        self.or(first, second)
    }

    pub fn preimage(&mut self, set: Edge, relation: Edge, written: u32) -> Maybe<Edge> {
        if set == FALSE || relation == FALSE {
            return Ok(FALSE);
        }
        let level = self.level(set).min(self.level(relation)) & !1;
        if (set == TRUE && relation == TRUE) || self.is_condition(level, written) {
            return self.and(set, relation);
        }
        let what = PREIMAGE | written << 8;
        if let Some(known) = self.recall(what, set, relation) {
            return Ok(known);
        }
        self.look()?;
        let (s0, s1) = self.cofactors(set, level);
        let [[r00, r01], [r10, r11]] = self.relation_cofactors(relation, level);
        let (lo, hi) = if self.by_position[written as usize].0[level as usize / 2] {
            let lo = self.union_of_preimages((s0, r00), (s1, r01), written)?;
            let hi =
                if r00 == r10 && r01 == r11 { lo } else { self.union_of_preimages((s0, r10), (s1, r11), written)? };
            (lo, hi)
        } else {
            (self.preimage(s0, r00, written)?, self.preimage(s1, r10, written)?)
        };
        let result = self.make(level, lo, hi)?;
        self.remember(what, set, relation, result);
        Ok(result)
    }

    /// The preimage as far as it lies within a set: nothing outside of it is made.
    pub fn preimage_within(&mut self, set: Edge, relation: Edge, within: Edge, written: u32) -> Maybe<Edge> {
        if set == FALSE || relation == FALSE || within == FALSE {
            return Ok(FALSE);
        }
        if within == TRUE {
            return self.preimage(set, relation, written);
        }
        let level = self.level(set).min(self.level(relation)).min(self.level(within)) & !1;
        if (set == TRUE && relation == TRUE) || self.is_condition(level, written) {
            let both = self.and(relation, within)?;
            return self.and(set, both);
        }
        let what = PREIMAGE_WITHIN | written << 8;
        if let Some(known) = self.recall3(what, set, relation, within) {
            return Ok(known);
        }
        self.look()?;
        let (s0, s1) = self.cofactors(set, level);
        let (w0, w1) = self.cofactors(within, level);
        let [[r00, r01], [r10, r11]] = self.relation_cofactors(relation, level);
        let (lo, hi) = if self.by_position[written as usize].0[level as usize / 2] {
            let lo = self.union_within((s0, r00), (s1, r01), w0, written)?;
            (lo, self.union_within((s0, r10), (s1, r11), w1, written)?)
        } else {
            (self.preimage_within(s0, r00, w0, written)?, self.preimage_within(s1, r10, w1, written)?)
        };
        let result = self.make(level, lo, hi)?;
        self.remember3(what, set, relation, within, result);
        Ok(result)
    }

    fn union_within(&mut self, one: (Edge, Edge), other: (Edge, Edge), within: Edge, written: u32) -> Maybe<Edge> {
        let first = self.preimage_within(one.0, one.1, within, written)?;
        if first == within {
            return Ok(first);
        }
        let second = self.preimage_within(other.0, other.1, within, written)?;
        self.or(first, second)
    }

    fn union_of_preimages(&mut self, one: (Edge, Edge), other: (Edge, Edge), written: u32) -> Maybe<Edge> {
        let first = self.preimage(one.0, one.1, written)?;
        if first == TRUE {
            return Ok(TRUE);
        }
        let second = self.preimage(other.0, other.1, written)?;
        self.or(first, second)
    }

    /// All that the events lead to from the set, from the event of that number on; they are sorted by their tops, the
    /// first at the root. The set is saturated below before an event fires, and again after it. `run` tells one list of
    /// events from another. Collects garbage when it has to: what is still needed is kept.
    pub fn saturate(&mut self, set: Edge, events: &[Event], from: usize, run: u32) -> Maybe<Edge> {
        if set >> 1 == 0 || from == events.len() {
            return Ok(set);
        }
        let what = SATURATE | (from as u32) << 8;
        if let Some(known) = self.recall(what, set, run << 1) {
            return Ok(known);
        }
        self.look()?;
        let position = self.level(set) / 2;
        let top = events[from].top;
        let kept = self.keep(set);
        let result = if position < top {
            self.saturate_children(set, events, from, run)
        } else {
            self.fire(set, events, from, run)
        };
        // Garbage may have been collected, but the set is still there.
        self.release(kept);
        let result = result?;
        self.remember(what, set, run << 1, result);
        Ok(result)
    }

    fn saturate_children(&mut self, set: Edge, events: &[Event], from: usize, run: u32) -> Maybe<Edge> {
        let level = self.level(set);
        let (s0, s1) = self.cofactors(set, level);
        let lo = self.saturate(s0, events, from, run)?;
        let kept = self.keep(lo);
        let hi = self.saturate(s1, events, from, run);
        self.release(kept);
        self.make(level, lo, hi?)
    }

    /// The events of one top, until nothing is new.
    fn fire(&mut self, set: Edge, events: &[Event], from: usize, run: u32) -> Maybe<Edge> {
        let top = events[from].top;
        let after = from + events[from..].iter().take_while(|event| event.top == top).count();
        let mut set = self.saturate(set, events, after, run)?;
        loop {
            // Kept also so that its number is not given to another node meanwhile.
            let before = self.keep(set);
            let round = self.fire_once(set, &events[from..after], (events, after), run);
            let is_new = round.is_ok_and(|round| round != self.kept[before as usize]);
            self.release(before);
            set = round?;
            if !is_new {
                return Ok(set);
            }
            if self.is_full_of_garbage() {
                let kept = self.keep(set);
                self.collect();
                self.set_next_collection();
                self.release(kept);
                if self.wants_order_in_saturation() {
                    return Err(SetError::Reorder);
                }
            }
        }
    }

    /// Every event of one top once, with what follows below it.
    fn fire_once(&mut self, set: Edge, fired: &[Event], below: (&[Event], usize), run: u32) -> Maybe<Edge> {
        let mut set = set;
        for event in fired {
            let image = self.image(set, self.kept[event.relation as usize], event.written)?;
            let union = self.or(set, image)?;
            if union != set {
                set = self.saturate(union, below.0, below.1, run)?;
            }
        }
        Ok(set)
    }
}
