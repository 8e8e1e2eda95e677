//! Shortest runs, by rings from both ends.
//!
//! Forward rings begin with where the run may start, backward rings with where it shall end; the smaller of the two
//! grows next. Where they meet, a marking is picked and followed both ways, ring by ring, as a plain marking.

use super::{Diagrams, Maybe, Selection, Set};

/// A run: markings and the transitions between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Where it starts.
    pub start: Vec<u64>,
    /// What fires, in this order.
    pub transitions: Vec<u32>,
    /// Where it ends.
    pub end: Vec<u64>,
}

/// Sets of growing distance, the last one the farthest, and all of them together.
struct Rings {
    rings: Vec<Set>,
    seen: Set,
    nodes: usize,
}

impl Diagrams {
    /// A shortest run of the net from its initial marking to one of the goal, as transitions; `None` if there is none.
    pub fn run_to(&mut self, reached: &Set, goal: &Set) -> Maybe<Option<Vec<u32>>> {
        let (initial, all) = (self.initial()?, self.all()?);
        Ok(self.run_between(&initial, goal, &all, reached)?.map(|run| run.transitions))
    }

    /// A shortest run from one set to the other by the transitions, without leaving `within`; `None` if there is none.
    pub fn run_between(&mut self, from: &Set, goal: &Set, selection: &Selection, within: &Set) -> Maybe<Option<Run>> {
        let (from, goal) = (self.intersect(from, within)?, self.intersect(goal, within)?);
        let (mut ahead, mut behind) = (self.rings(from)?, self.rings(goal)?);
        loop {
            let (first, last) = (ahead.farthest().clone(), behind.farthest().clone());
            if first.is_empty() || last.is_empty() {
                return Ok(None);
            }
            let met = self.intersect(&first, &last)?;
            if let Some(middle) = self.pick(&met) {
                return Ok(self.through(middle, selection, &ahead, &behind));
            }
            if ahead.nodes <= behind.nodes {
                let next = self.image_within(&first, selection, within)?;
                self.grow(&mut ahead, &next)?;
            } else {
                let next = self.preimage(&last, selection, within)?;
                self.grow(&mut behind, &next)?;
            }
        }
    }

    fn rings(&mut self, first: Set) -> Maybe<Rings> {
        Ok(Rings { nodes: self.nodes(&first)?, seen: first.clone(), rings: vec![first] })
    }

    fn grow(&mut self, rings: &mut Rings, next: &Set) -> Maybe<()> {
        let ring = self.minus(next, &rings.seen)?;
        rings.seen = self.union(&rings.seen, &ring)?;
        rings.nodes = self.nodes(&ring)?;
        rings.rings.push(ring);
        Ok(())
    }

    /// The run through a marking of both last rings.
    fn through(&self, middle: Vec<u64>, selection: &Selection, ahead: &Rings, behind: &Rings) -> Option<Run> {
        let mut transitions = Vec::new();
        let mut start = middle.clone();
        for ring in ahead.rings.iter().rev().skip(1) {
            let (transition, before) = self.neighbour(&start, selection, ring, false)?;
            transitions.push(transition);
            start = before;
        }
        transitions.reverse();
        let mut end = middle;
        for ring in behind.rings.iter().rev().skip(1) {
            let (transition, after) = self.neighbour(&end, selection, ring, true)?;
            transitions.push(transition);
            end = after;
        }
        Some(Run { start, transitions, end })
    }

    /// A step from the marking into the set, or from the set to the marking.
    pub(super) fn neighbour(
        &self,
        marking: &[u64],
        selection: &Selection,
        set: &Set,
        forward: bool,
    ) -> Option<(u32, Vec<u64>)> {
        selection.transitions().iter().find_map(|number| {
            let next = self.beside(marking, *number, forward)?;
            self.contains(set, &next).then_some((*number, next))
        })
    }

    /// The marking after a transition; `None` if it cannot fire.
    pub(super) fn after(&self, marking: &[u64], transition: u32) -> Option<Vec<u64>> {
        self.beside(marking, transition, true)
    }

    /// The marking after a transition, or before it.
    fn beside(&self, marking: &[u64], transition: u32, forward: bool) -> Option<Vec<u64>> {
        let transition = self.transitions.get(transition as usize)?;
        let (takes, adds) =
            if forward { (&transition.takes, &transition.adds) } else { (&transition.adds, &transition.takes) };
        if takes.iter().any(|(place, weight)| marking[*place as usize] < *weight) {
            return None;
        }
        let mut next = marking.to_vec();
        for (place, weight) in takes {
            let cell = &mut next[*place as usize];
            *cell = cell.checked_sub(*weight)?;
        }
        for (place, weight) in adds {
            let cell = &mut next[*place as usize];
            *cell = cell.checked_add(*weight)?;
        }
        Some(next)
    }
}

impl Rings {
    fn farthest(&self) -> &Set {
        &self.rings[self.rings.len() - 1]
    }
}
