//! Dead markings and cycles: what observation graphs ask of their aggregates.

use super::{Diagrams, Maybe, Selection, Set};

impl Diagrams {
    /// The markings of the set that enable no transition of the net at all.
    pub fn deadlocks(&mut self, set: &Set) -> Maybe<Set> {
        let all = self.all()?;
        let (set, selected) = (self.own(set)?, self.selected(&all)?);
        self.perform(|table| table.dead(&selected.forward, 0, set))
    }

    /// Some marking of the set enables no transition of the net at all.
    pub fn has_dead(&mut self, set: &Set) -> Maybe<bool> {
        Ok(!self.deadlocks(set)?.is_empty())
    }

    /// The transitions can go on for ever without leaving the set.
    pub fn has_cycle(&mut self, set: &Set, selection: &Selection) -> Maybe<bool> {
        // A transition that changes nothing needs no search.
        for transition in selection.transitions() {
            if !self.compiled(*transition)?.forward.changes && self.can_fire(set, *transition)? {
                return Ok(true);
            }
        }
        Ok(!self.after_cycles(set, selection)?.is_empty())
    }

    /// The markings of the set that have an endless way behind them in it: those on cycles, and what these lead to.
    pub fn after_cycles(&mut self, set: &Set, selection: &Selection) -> Maybe<Set> {
        let mut left = set.clone();
        loop {
            let next = self.image_within(&left, selection, &left)?;
            if next == left {
                return Ok(left);
            }
            left = next;
        }
    }

    /// The markings of the set that have an endless way before them in it: those on cycles, and what leads to these.
    pub fn before_cycles(&mut self, set: &Set, selection: &Selection) -> Maybe<Set> {
        let mut left = set.clone();
        loop {
            let next = self.preimage(&left, selection, &left)?;
            if next == left {
                return Ok(left);
            }
            left = next;
        }
    }
}
