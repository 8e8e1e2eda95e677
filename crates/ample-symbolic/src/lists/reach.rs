//! The reachable markings.

use super::{Diagrams, Maybe, Selection, Set};

/// How the reachable markings are looked for. All find the same set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Step by step, all markings of the same distance at once.
    Bfs,
    /// One transition after the other, each on all that is known.
    Chaining,
    /// From the last place up, all below closed before anything above moves.
    #[default]
    Saturation,
}

impl Diagrams {
    /// The markings that the initial one leads to.
    pub fn reachable(&mut self, method: Method) -> Maybe<Set> {
        let (initial, all) = (self.initial()?, self.all()?);
        self.reachable_from(&initial, &all, method)
    }

    /// The markings that the set leads to by the transitions, with its own.
    pub fn reachable_from(&mut self, set: &Set, selection: &Selection, method: Method) -> Maybe<Set> {
        match method {
            Method::Bfs => self.breadth_first(set, selection),
            Method::Chaining => self.chaining(set, selection),
            Method::Saturation => self.closure_by(set, selection),
        }
    }

    fn breadth_first(&mut self, set: &Set, selection: &Selection) -> Maybe<Set> {
        let (mut reached, mut ring) = (set.clone(), set.clone());
        while !ring.is_empty() {
            let next = self.image_by(&ring, selection)?;
            ring = self.minus(&next, &reached)?;
            reached = self.union(&reached, &ring)?;
        }
        Ok(reached)
    }

    fn chaining(&mut self, set: &Set, selection: &Selection) -> Maybe<Set> {
        let first = |transition: &u32| self.compiled[*transition as usize].forward.steps.first().map(|step| step.level);
        let mut transitions = selection.transitions().to_vec();
        // From below up: what is made below is there when it is used above.
        transitions.sort_by_key(|transition| std::cmp::Reverse(first(transition)));
        let mut reached = set.clone();
        loop {
            let before = reached.clone();
            for transition in &transitions {
                let image = self.fire(&reached, *transition)?;
                reached = self.union(&reached, &image)?;
            }
            if reached == before {
                return Ok(reached);
            }
        }
    }
}
