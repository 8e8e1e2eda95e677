//! A part of the states with the edges inside it, to find short paths and cycles in.

use std::iter;

use rapidhash::RapidHashMap;

/// States in the order in which a breadth-first search from the first of them finds them. They are named by their
/// place in that order.
pub(super) struct Region {
    states: Vec<u32>,
    places: RapidHashMap<u32, usize>,
    /// From where each was found.
    parents: Vec<usize>,
    /// Where the edges of each state that is expanded begin.
    starts: Vec<usize>,
    edges: Vec<usize>,
}

impl Region {
    /// A state, not expanded.
    pub(super) fn new(root: u32) -> Region {
        Region {
            states: vec![root],
            places: RapidHashMap::from_iter([(root, 0)]),
            parents: vec![0],
            starts: Vec::new(),
            edges: Vec::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.states.len()
    }

    /// The state to expand next, if there is one; what is [linked](Region::link) until the next call are its edges.
    pub(super) fn expand(&mut self) -> Option<u32> {
        let state = self.states.get(self.starts.len()).copied()?;
        self.starts.push(self.edges.len());
        Some(state)
    }

    /// An edge to that state.
    pub(super) fn link(&mut self, to: u32) {
        let new = self.states.len();
        let place = *self.places.entry(to).or_insert(new);
        if place == new {
            self.states.push(to);
            self.parents.push(self.starts.len() - 1);
        }
        self.edges.push(place);
    }

    /// The states on the shortest path from the first one.
    pub(super) fn path(&self, to: usize) -> Vec<u32> {
        let mut path: Vec<u32> = iter::successors(Some(to), |&place| (place > 0).then(|| self.parents[place]))
            .map(|place| self.states[place])
            .collect();
        path.reverse();
        path
    }

    /// The states after that one on the shortest cycle through it, which ends with it; none if there is no cycle.
    pub(super) fn cycle(&self, through: usize) -> Vec<u32> {
        let mut parents = vec![usize::MAX; self.len()];
        let mut queue = vec![through];
        let mut head = 0;
        while let Some(&place) = queue.get(head) {
            head += 1;
            for &next in self.edges_of(place) {
                if parents[next] != usize::MAX {
                    continue;
                }
                parents[next] = place;
                if next == through {
                    let back = iter::successors(Some(place), |&place| (place != through).then(|| parents[place]));
                    let mut cycle: Vec<u32> = iter::once(through).chain(back).map(|place| self.states[place]).collect();
                    cycle.pop();
                    cycle.reverse();
                    return cycle;
                }
                queue.push(next);
            }
        }
        Vec::new()
    }

    /// Which states lie on a cycle? By Gabow's search, as in the evaluator. All must be expanded.
    pub(super) fn on_cycles(&self) -> Vec<bool> {
        let mut cyclic = vec![false; self.len()];
        // Zero: not found yet. Else its number on the stack of open components, from one; or it is completed.
        let mut numbers = vec![0; self.len()];
        const COMPLETED: usize = usize::MAX;
        let (mut frames, mut open, mut bounds) = (vec![(0, 0)], vec![0], vec![1]);
        numbers[0] = 1;
        while let Some((place, taken)) = frames.last_mut() {
            let place = *place;
            if let Some(&next) = self.edges_of(place).get(*taken) {
                *taken += 1;
                cyclic[place] |= next == place;
                match numbers[next] {
                    0 => {
                        frames.push((next, 0));
                        open.push(next);
                        numbers[next] = open.len();
                        bounds.push(open.len());
                    }
                    COMPLETED => {}
                    number => bounds.truncate(bounds.partition_point(|&bound| bound <= number)),
                }
                continue;
            }
            frames.pop();
            if bounds.last() == Some(&numbers[place]) {
                bounds.pop();
                let component = open.split_off(numbers[place] - 1);
                for &member in &component {
                    cyclic[member] |= component.len() > 1;
                    numbers[member] = COMPLETED;
                }
            }
        }
        cyclic
    }

    /// A cycle on which each of so many conditions holds somewhere: the place at which it begins, and the states after it,
    /// the last of which is there again. All must be expanded.
    pub(super) fn just_cycle(
        &self,
        conditions: usize,
        holds: &mut dyn FnMut(usize, u32) -> bool,
    ) -> Option<(usize, Vec<u32>)> {
        let components = self.components();
        let mut all_members = vec![Vec::new(); self.len()];
        components.iter().enumerate().for_each(|(place, component)| all_members[*component].push(place));
        for start in 0..self.len() {
            let members = &all_members[components[start]];
            // Only the first state of each component is tried.
            if members.first() != Some(&start) {
                continue;
            }
            let is_cyclic = members.len() > 1 || self.edges_of(start).contains(&start);
            let goals: Option<Vec<usize>> = (0..conditions)
                .map(|number| members.iter().copied().find(|place| holds(number, self.states[*place])))
                .collect();
            let (true, Some(goals)) = (is_cyclic, goals) else { continue };
            let mut cycle = Vec::new();
            let mut at = start;
            for goal in goals {
                if goal != at {
                    cycle.extend(self.leg(at, goal, &components));
                    at = goal;
                }
            }
            if at != start || cycle.is_empty() {
                cycle.extend(self.leg(at, start, &components));
            }
            return Some((start, cycle));
        }
        None
    }

    /// The states after the first on a shortest path of at least one step inside of a component.
    fn leg(&self, from: usize, to: usize, components: &[usize]) -> Vec<u32> {
        let mut parents = vec![usize::MAX; self.len()];
        let mut queue = vec![from];
        let mut head = 0;
        while let Some(&place) = queue.get(head) {
            head += 1;
            for &next in self.edges_of(place) {
                if parents[next] != usize::MAX || components[next] != components[from] {
                    continue;
                }
                parents[next] = place;
                if next == to {
                    let back = iter::successors(Some(place), |&place| (place != from).then(|| parents[place]));
                    let mut leg: Vec<u32> = iter::once(to).chain(back).map(|place| self.states[place]).collect();
                    leg.pop();
                    leg.reverse();
                    return leg;
                }
                queue.push(next);
            }
        }
        Vec::new()
    }

    /// The number of the component of each state.
    fn components(&self) -> Vec<usize> {
        let mut components = vec![usize::MAX; self.len()];
        let mut numbers = vec![0; self.len()];
        let (mut frames, mut open, mut bounds) = (Vec::new(), Vec::new(), Vec::new());
        for root in 0..self.len() {
            if numbers[root] != 0 {
                continue;
            }
            frames.push((root, 0));
            open.push(root);
            numbers[root] = open.len();
            bounds.push(open.len());
            while let Some((place, taken)) = frames.last_mut() {
                let place = *place;
                if let Some(&next) = self.edges_of(place).get(*taken) {
                    *taken += 1;
                    if numbers[next] == 0 {
                        frames.push((next, 0));
                        open.push(next);
                        numbers[next] = open.len();
                        bounds.push(open.len());
                    } else if components[next] == usize::MAX {
                        let number = numbers[next];
                        bounds.truncate(bounds.partition_point(|&bound| bound <= number));
                    }
                    continue;
                }
                frames.pop();
                if bounds.last() == Some(&numbers[place]) {
                    bounds.pop();
                    for member in open.split_off(numbers[place] - 1) {
                        components[member] = place;
                    }
                }
            }
        }
        components
    }

    fn edges_of(&self, place: usize) -> &[usize] {
        let end = self.starts.get(place + 1).copied().unwrap_or(self.edges.len());
        self.starts.get(place).map_or(&[], |&start| &self.edges[start..end])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All that can be reached from the first vertex of a graph.
    fn region(graph: &[&[u32]]) -> Region {
        let mut region = Region::new(0);
        while let Some(vertex) = region.expand() {
            graph[vertex as usize].iter().for_each(|&next| region.link(next));
        }
        region
    }

    #[test]
    fn states_between_two_cycles_are_on_none() {
        let region = region(&[&[1, 2], &[0], &[3], &[3, 4, 5], &[], &[6], &[5]]);
        let cyclic = region.on_cycles();
        let on_cycles: Vec<u32> = (0..region.len()).filter(|&place| cyclic[place]).map(|p| region.states[p]).collect();
        assert_eq!(on_cycles, [0, 1, 3, 5, 6]);
        assert_eq!(region.cycle(0), [1, 0]);
        let place = |state: u32| region.places[&state];
        assert_eq!(region.cycle(place(3)), [3]);
        assert_eq!(region.cycle(place(5)), [6, 5]);
        assert!(region.cycle(place(2)).is_empty());
        assert_eq!(region.path(place(6)), [0, 2, 3, 5, 6]);
    }
}
