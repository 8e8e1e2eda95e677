//! Closures by saturation (Ciardo, Lüttgen and Siminiceanu; with a limit: Zhao and Ciardo).
//!
//! From the last level up, every list is closed under the events that begin on its level or below before it becomes a
//! node. What an event makes below its first level is closed at once, while it is made. So nodes of unfinished sets
//! hardly ever come to be, and an event is fired on a part of the diagram, never on the whole.
//!
//! With a limit, a marking counts only if it lies within; that makes the backward closure an until.
//!
//! Garbage may be collected in between. Everything that is still needed stands in the lists or is protected.

use super::Maybe;
use super::fire::{Added, Event, Group, Step};
use super::table::{ANY, EMPTY, END, Id, Kind, Table, What};

impl Table {
    /// The closure of a set, which lies within the limit, under the events that begin on this level or below.
    pub fn saturate(&mut self, group: &Group, level: u32, set: Id, limit: Id) -> Maybe<Id> {
        if set == EMPTY || limit == EMPTY || group.is_over(level) {
            return Ok(set);
        }
        let what = What::new(Kind::Saturate, group.number);
        if let Some(known) = self.recall(what, set, limit) {
            return Ok(known);
        }
        self.look()?;
        self.descend()?;
        self.protected.extend([set, limit]);
        let base = self.lists.len();
        let mut at = set;
        while at > END {
            let node = self.node(at);
            let below = self.follow_limit(limit, node.value);
            let down = self.saturate(group, level + 1, node.down, below)?;
            self.push(node.value, down, EMPTY, EMPTY)?;
            at = node.right;
        }
        self.fire_until_closed(group, level, base, limit)?;
        let result = self.build(base, EMPTY)?;
        self.protected.truncate(self.protected.len() - 2);
        self.remember(what, set, limit, result);
        self.remember(what, result, limit, result);
        Ok(result)
    }

    /// Fires the events that begin on this level until the list above `base` does not grow. What follows the values is
    /// closed already. An item's `f` is what followed its value when the events were last fired on it.
    fn fire_until_closed(&mut self, group: &Group, level: u32, base: usize, limit: Id) -> Maybe<()> {
        let events = group.at(level);
        if events.is_empty() {
            return Ok(());
        }
        let mut is_stable = false;
        while !is_stable {
            is_stable = true;
            let mut at = base;
            while at < self.lists.len() {
                let item = self.lists[at];
                if item.down != item.f {
                    is_stable = false;
                    self.lists[at].f = item.down;
                    at = self.fire_on(group, level, (base, at), limit)?;
                }
                at += 1;
            }
        }
        Ok(())
    }

    /// Fires the events on one item of a list. Where it stands afterwards.
    fn fire_on(&mut self, group: &Group, level: u32, item: (usize, usize), limit: Id) -> Maybe<usize> {
        let (base, mut at) = item;
        let value = self.lists[at].value;
        for number in group.at(level) {
            let event = &*group.events[number];
            let Some(target) = event.steps[0].target(value).filter(|_| event.changes) else { continue };
            let allowed = self.allowed(limit, target);
            let down = self.lists[at].down;
            let image = self.fire_saturated(group, number, 1, level + 1, down, allowed)?;
            if let Added::New(place) = self.add(base, target, image)?
                && place <= at
            {
                at += 1;
            }
            self.look()?;
            self.tidy();
        }
        Ok(at)
    }

    /// The image of an event of the group, closed under all that begin on this level or below. The set is closed.
    fn fire_saturated(
        &mut self,
        group: &Group,
        number: usize,
        next: usize,
        level: u32,
        set: Id,
        limit: Id,
    ) -> Maybe<Id> {
        if set == EMPTY || limit == EMPTY {
            return Ok(EMPTY);
        }
        let event: &Event = &group.events[number];
        let Some(step) = event.steps.get(next) else {
            // Closed under another limit is not yet closed under this one.
            if limit == ANY {
                return Ok(set);
            }
            let inside = self.intersect(set, limit)?;
            return self.saturate(group, level, inside, limit);
        };
        let (step, after) =
            if step.level == level { (*step, next + 1) } else { (Step { level, need: 0, give: 0 }, next) };
        let what = What::new(Kind::FireSaturated, group.first + number as u32);
        if let Some(known) = self.recall(what, set, limit) {
            return Ok(known);
        }
        self.look()?;
        self.descend()?;
        self.protected.extend([set, limit]);
        let base = self.lists.len();
        let mut at = set;
        while at > END {
            let node = self.node(at);
            at = node.right;
            let Some(target) = step.target(node.value) else { continue };
            let allowed = self.allowed(limit, target);
            let down = self.fire_saturated(group, number, after, level + 1, node.down, allowed)?;
            self.add(base, target, down)?;
        }
        self.fire_until_closed(group, level, base, limit)?;
        let result = self.build(base, EMPTY)?;
        self.protected.truncate(self.protected.len() - 2);
        self.remember(what, set, limit, result);
        Ok(result)
    }
}
