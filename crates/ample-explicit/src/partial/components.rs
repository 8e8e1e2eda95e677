//! The components of the reduced graph, and what is taken in each (Def. 6.15), after Gabow.
//!
//! The states whose component is not complete are *live*. The components among them are intervals of the list of live
//! states. The labels of the transitions that were taken inside lie on a stack of their own, and there too each
//! component has an interval, so that components are joined by forgetting where one of them begins. For a component
//! that can be left no labels are kept: nobody will ask for them.
//!
//! A component of an atomic sequence without end is a *trap*: nothing is enabled in it but the sequence, so that nothing
//! can be served there. A transition into a trap does not lead out of a component.

use super::Label;
use crate::store::Handle;

/// How many labels a component gathers before it looks for equal ones.
const TIDY: usize = 64;

/// The components of the live states.
#[derive(Default)]
pub(super) struct Components {
    live: Vec<Handle>,
    roots: Vec<Root>,
    labels: Vec<Label>,
}

/// A component among the live states.
struct Root {
    /// Where it begins among the live states.
    place: u32,
    /// Where its labels begin.
    labels: usize,
    /// How many labels it may have before they are tidied.
    most: usize,
    /// The label of the transition that led to it.
    entry: Option<Label>,
    /// A transition leads out of it, and not into a trap.
    is_left: bool,
    /// It has a state that is not part of an atomic sequence.
    is_visible: bool,
}

/// What became of the last component.
pub(super) struct Closed<'a> {
    /// Its states.
    pub(super) members: std::vec::Drain<'a, Handle>,
    /// It is a trap.
    pub(super) is_trap: bool,
}

impl Components {
    /// The place of the next new state.
    #[inline]
    pub(super) fn next_place(&self) -> usize {
        self.live.len()
    }

    /// A new state, reached by a transition with that label; none if it is part of an atomic sequence.
    #[inline]
    pub(super) fn open(&mut self, state: Handle, entry: Option<Label>, is_visible: bool) {
        let place = self.live.len() as u32;
        self.live.push(state);
        self.roots.push(Root { place, labels: self.labels.len(), most: TIDY, entry, is_left: false, is_visible });
    }

    /// A transition leads back to the live state at that place: all between is one component.
    pub(super) fn join(&mut self, place: u32, label: Option<Label>) {
        let (mut is_left, mut is_visible) = (false, false);
        while self.roots.last().is_some_and(|root| root.place > place) {
            let Some(root) = self.roots.pop() else { break };
            self.labels.extend(root.entry);
            is_left |= root.is_left;
            is_visible |= root.is_visible;
        }
        if let Some(root) = self.roots.last_mut() {
            root.is_visible |= is_visible;
        }
        if is_left {
            self.leave();
        }
        self.take(label);
    }

    /// A transition with that label was taken in the last component.
    #[inline]
    pub(super) fn take(&mut self, label: Option<Label>) {
        let Some(root) = self.roots.last_mut() else { return };
        if root.is_left {
            self.labels.truncate(root.labels);
            return;
        }
        self.labels.extend(label);
        if self.labels.len() - root.labels > root.most {
            tidy(&mut self.labels, root.labels);
            root.most = TIDY.max(2 * (self.labels.len() - root.labels));
        }
    }

    /// A transition leads out of the last component.
    #[inline]
    pub(super) fn leave(&mut self) {
        if let Some(root) = self.roots.last_mut() {
            root.is_left = true;
            self.labels.truncate(root.labels);
        }
    }

    /// The state at that place is the first of the last component.
    #[inline]
    pub(super) fn is_root(&self, place: u32) -> bool {
        self.roots.last().is_some_and(|root| root.place == place)
    }

    /// The labels that were taken inside the last component, sorted. None if a transition leads out of it.
    pub(super) fn taken(&mut self) -> Option<&[Label]> {
        let root = self.roots.last()?;
        if root.is_left {
            return None;
        }
        tidy(&mut self.labels, root.labels);
        Some(&self.labels[root.labels..])
    }

    /// The last component is complete. The search goes on in the one before, which is left by the transition to this
    /// one, unless it is a trap.
    pub(super) fn close(&mut self) -> Closed<'_> {
        let Some(root) = self.roots.pop() else { return Closed { members: self.live.drain(..), is_trap: false } };
        self.labels.truncate(root.labels);
        let is_trap = !root.is_visible && !root.is_left;
        if is_trap {
            self.take(root.entry);
        } else {
            self.leave();
        }
        Closed { members: self.live.drain(root.place as usize..), is_trap }
    }

    pub(super) fn bytes(&self) -> usize {
        self.live.capacity() * size_of::<Handle>()
            + self.roots.capacity() * size_of::<Root>()
            + self.labels.capacity() * size_of::<Label>()
    }
}

/// Sorts the labels from `start` on, and removes equal ones.
fn tidy(labels: &mut Vec<Label>, start: usize) {
    labels[start..].sort_unstable();
    let mut kept = start;
    for next in start..labels.len() {
        if next == start || labels[next] != labels[kept - 1] {
            labels[kept] = labels[next];
            kept += 1;
        }
    }
    labels.truncate(kept);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_joined_with_components() {
        let mut components = Components::default();
        let states: Vec<Handle> = (0..3).filter_map(Handle::at).collect();
        components.open(states[0], None, true);
        components.open(states[1], Some(7), true);
        components.open(states[2], Some(5), true);
        components.join(1, Some(6));
        assert!(components.is_root(1));
        assert_eq!(components.taken(), Some(&[5, 6][..]));
        components.join(0, Some(6));
        assert_eq!(components.taken(), Some(&[5, 6, 7][..]));
        assert_eq!(components.close().members.collect::<Vec<_>>(), states);
        assert_eq!(components.taken(), None);
    }

    #[test]
    fn a_component_that_is_left_keeps_no_labels() {
        let mut components = Components::default();
        let states: Vec<Handle> = (0..2).filter_map(Handle::at).collect();
        components.open(states[0], None, true);
        components.open(states[1], Some(1), true);
        assert_eq!(components.close().members.count(), 1);
        components.join(0, Some(2));
        assert_eq!(components.taken(), None);
        assert!(components.labels.is_empty());
    }
    #[test]
    fn a_trap_is_no_way_out() {
        let mut components = Components::default();
        let states: Vec<Handle> = (0..2).filter_map(Handle::at).collect();
        components.open(states[0], None, true);
        components.open(states[1], Some(1), false);
        components.join(1, None);
        assert!(components.close().is_trap);
        assert_eq!(components.taken(), Some(&[1][..]));
        assert!(!components.close().is_trap);
    }
}
