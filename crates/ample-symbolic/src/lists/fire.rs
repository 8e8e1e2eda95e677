//! Images: what transitions lead to, all markings of a set at once.
//!
//! One transition changes the tokens of a place by a number that does not depend on the marking. So different markings
//! have different successors by it, lists of values stay sorted, and the image is one walk over the diagram without a
//! union. A predecessor is a successor by the transition with its arcs turned round. Levels below the last one that a
//! transition touches are shared as they are.
//!
//! The image by many transitions takes them where they touch the diagram first, from there down, so that what lies
//! above is walked once for all of them. So is the search for dead markings.

use std::sync::Arc;

use super::table::{ANY, EMPTY, END, Id, Kind, Table, What};
use crate::error::{Maybe, SetError};

/// What an event does on one level.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub level: u32,
    /// So many tokens must be there and are taken,
    pub need: u64,
    /// so many are added.
    pub give: u64,
}

impl Step {
    /// The value after it; more than 32 bits are for the caller to see.
    #[inline]
    pub fn target(&self, value: u32) -> Option<u64> {
        let rest = u64::from(value).checked_sub(self.need)?;
        Some(rest.saturating_add(self.give))
    }
}

/// A transition forward or backward, or the mere test whether it is enabled.
#[derive(Debug)]
pub(super) struct Event {
    /// Tells it from all others.
    pub number: u32,
    /// From the root down; at least one, unless there are no places.
    pub steps: Vec<Step>,
    /// It leads somewhere else.
    pub changes: bool,
}

/// Events by the first level that they touch.
#[derive(Debug)]
pub(super) struct Group {
    /// Tells it from all others.
    pub number: u32,
    /// The first of as many numbers as it has events, for what is remembered of an event in this group.
    pub first: u32,
    /// Sorted by their first levels.
    pub events: Vec<Arc<Event>>,
    /// Where those of a level begin; one entry more than there are levels.
    pub starts: Vec<u32>,
}

impl Group {
    /// Levels from this one on have no events.
    #[inline]
    pub fn is_over(&self, level: u32) -> bool {
        self.starts[level as usize] as usize == self.events.len()
    }

    /// The events that begin on a level.
    #[inline]
    pub fn at(&self, level: u32) -> std::ops::Range<usize> {
        self.starts[level as usize] as usize..self.starts[level as usize + 1] as usize
    }
}

impl Table {
    /// A set as far as it lies within the limit.
    #[inline]
    pub fn within(&mut self, set: Id, limit: Id) -> Maybe<Id> {
        if limit == ANY { Ok(set) } else { self.intersect(set, limit) }
    }

    /// The image of an event within a limit, from its step `next` on.
    pub fn fire(&mut self, event: &Event, next: usize, level: u32, set: Id, limit: Id) -> Maybe<Id> {
        let Some(step) = event.steps.get(next) else { return self.within(set, limit) };
        let (step, after) =
            if step.level == level { (*step, next + 1) } else { (Step { level, need: 0, give: 0 }, next) };
        let what = What::new(Kind::Fire, event.number);
        let (mut set, mut limit) = (set, limit);
        let base = self.lists.len();
        loop {
            if set == EMPTY || limit == EMPTY {
                return self.build_remembered(base, EMPTY, what);
            }
            if let Some(known) = self.recall(what, set, limit) {
                return self.build_remembered(base, known, what);
            }
            self.look()?;
            let node = self.node(set);
            let Some(target) = step.target(node.value) else {
                set = node.right;
                continue;
            };
            let (mut limit_down, mut limit_right) = (ANY, ANY);
            if limit != ANY {
                let allowed = self.node(limit);
                if u64::from(allowed.value) < target {
                    limit = allowed.right;
                    continue;
                }
                if u64::from(allowed.value) > target {
                    set = node.right;
                    continue;
                }
                (limit_down, limit_right) = (allowed.down, allowed.right);
            }
            self.descend()?;
            let down = self.fire(event, after, level + 1, node.down, limit_down)?;
            self.push(tokens(target, down)?, down, set, limit)?;
            (set, limit) = (node.right, limit_right);
        }
    }

    /// The markings that do not enable the event, from its step `next` on.
    pub fn disabled(&mut self, event: &Event, next: usize, level: u32, set: Id) -> Maybe<Id> {
        let Some(step) = event.steps.get(next) else { return Ok(EMPTY) };
        let (need, after) = if step.level == level { (step.need, next + 1) } else { (0, next) };
        let what = What::new(Kind::Disabled, event.number);
        let mut set = set;
        let base = self.lists.len();
        let rest = loop {
            if set == EMPTY {
                break EMPTY;
            }
            if let Some(known) = self.recall(what, set, EMPTY) {
                break known;
            }
            self.look()?;
            let node = self.node(set);
            let mut down = node.down;
            if u64::from(node.value) >= need {
                self.descend()?;
                down = self.disabled(event, after, level + 1, node.down)?;
            }
            self.push(node.value, down, set, EMPTY)?;
            set = node.right;
        };
        self.build_remembered(base, rest, what)
    }

    /// Some marking enables the event, from its step `next` on.
    pub fn can_fire(&mut self, event: &Event, next: usize, level: u32, set: Id) -> Maybe<bool> {
        let Some(step) = event.steps.get(next) else { return Ok(set != EMPTY) };
        if set == EMPTY {
            return Ok(false);
        }
        let (need, after) = if step.level == level { (step.need, next + 1) } else { (0, next) };
        let what = What::new(Kind::CanFire, event.number);
        if let Some(known) = self.recall(what, set, EMPTY) {
            return Ok(known == END);
        }
        self.look()?;
        self.descend()?;
        let mut at = set;
        let mut found = false;
        while at > END && !found {
            let node = self.node(at);
            if u64::from(node.value) >= need {
                found = self.can_fire(event, after, level + 1, node.down)?;
            }
            at = node.right;
        }
        self.remember(what, set, EMPTY, if found { END } else { EMPTY });
        Ok(found)
    }

    /// The image by the events of a group that begin on this level or below, within a limit.
    pub fn image(&mut self, group: &Group, level: u32, set: Id, limit: Id) -> Maybe<Id> {
        if set == EMPTY || limit == EMPTY || group.is_over(level) {
            return Ok(EMPTY);
        }
        let what = What::new(Kind::Image, group.number);
        if let Some(known) = self.recall(what, set, limit) {
            return Ok(known);
        }
        self.look()?;
        self.descend()?;
        let base = self.lists.len();
        let mut at = set;
        while at > END {
            let node = self.node(at);
            let below = self.follow_limit(limit, node.value);
            let below = self.image(group, level + 1, node.down, below)?;
            self.add(base, u64::from(node.value), below)?;
            for event in &group.events[group.at(level)] {
                let Some(target) = event.steps[0].target(node.value) else { continue };
                let allowed = self.allowed(limit, target);
                let down = self.fire(event, 1, level + 1, node.down, allowed)?;
                self.add(base, target, down)?;
            }
            at = node.right;
        }
        let result = self.build(base, EMPTY)?;
        self.remember(what, set, limit, result);
        Ok(result)
    }

    /// What may follow a value that may be too large.
    #[inline]
    pub fn allowed(&self, limit: Id, target: u64) -> Id {
        match u32::try_from(target) {
            Ok(value) => self.follow_limit(limit, value),
            Err(_) if limit == ANY => ANY,
            Err(_) => EMPTY,
        }
    }

    /// Adds to the sorted list above `base`. Says where, and whether it is more than before.
    pub fn add(&mut self, base: usize, value: u64, down: Id) -> Maybe<Added> {
        if down == EMPTY {
            return Ok(Added::Nothing);
        }
        let value = tokens(value, down)?;
        match self.lists[base..].binary_search_by_key(&value, |item| item.value) {
            Ok(at) => {
                let before = self.lists[base + at].down;
                let union = self.union(before, down)?;
                self.lists[base + at].down = union;
                Ok(if union == before { Added::Nothing } else { Added::More })
            }
            Err(at) => {
                self.push(value, down, EMPTY, EMPTY)?;
                self.lists[base + at..].rotate_right(1);
                Ok(Added::New(base + at))
            }
        }
    }

    /// The markings that enable no event of a group that begins on this level or below.
    pub fn dead(&mut self, group: &Group, level: u32, set: Id) -> Maybe<Id> {
        if set == EMPTY || group.is_over(level) {
            return Ok(set);
        }
        let what = What::new(Kind::Dead, group.number);
        if let Some(known) = self.recall(what, set, EMPTY) {
            return Ok(known);
        }
        self.look()?;
        self.descend()?;
        let base = self.lists.len();
        let mut at = set;
        while at > END {
            let node = self.node(at);
            let mut down = self.dead(group, level + 1, node.down)?;
            for event in &group.events[group.at(level)] {
                if down == EMPTY {
                    break;
                }
                if u64::from(node.value) >= event.steps[0].need {
                    down = self.disabled(event, 1, level + 1, down)?;
                }
            }
            self.push(node.value, down, EMPTY, EMPTY)?;
            at = node.right;
        }
        let result = self.build(base, EMPTY)?;
        self.remember(what, set, EMPTY, result);
        Ok(result)
    }
}

/// What has become of a list.
pub(super) enum Added {
    /// Nothing new.
    Nothing,
    /// More follows a value that was there.
    More,
    /// A value at that position that was not there.
    New(usize),
}

/// A number of tokens that somebody has, if `down` is not empty.
#[inline]
fn tokens(value: u64, down: Id) -> Maybe<u32> {
    match u32::try_from(value) {
        Ok(value) => Ok(value),
        Err(_) if down == EMPTY => Ok(u32::MAX),
        Err(_) => Err(SetError::Overflow),
    }
}
