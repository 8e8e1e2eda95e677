//! The block structure of a control-flow graph, where the source comes with none.
//!
//! From the entry of a region on, what comes next is a single step, a choice up to the place where all its branches meet
//! (the immediate postdominator), or a loop that is left at its head alone. Whatever is none of these, as a loop that is left from
//! its midst or jumps into a branch, is one piece up to the next place that control must come to. So there is a structure of
//! every graph; of an irreducible one it is a coarse one.

use std::collections::{HashMap, HashSet};

use ample_model::{Block, LocationId};

/// Nested deeper than this, a region is one piece.
const MAX_DEPTH: usize = 64;
/// Of larger graphs no structure is looked for.
const MAX_LOCATIONS: usize = 5_000;

/// A structure of the locations that are reachable from the first one, which it begins with; `successors` are by location.
pub fn structure(successors: &[Vec<usize>], initial: usize) -> Block {
    let mut graph = Graph { successors, heads: HashSet::new() };
    let region = graph.region(initial, None);
    if region.order.len() > MAX_LOCATIONS {
        return flat(&region.order);
    }
    let position: HashMap<usize, usize> = region.order.iter().copied().zip(0..).collect();
    for at in &region.order {
        graph.heads.extend(successors[*at].iter().filter(|to| position[to] <= position[at]));
    }
    graph.sequence(initial, None, 0)
}

struct Graph<'a> {
    successors: &'a [Vec<usize>],
    /// Where steps lead back to.
    heads: HashSet<usize>,
}

/// What is reachable from an entry without passing an exit.
struct Region {
    /// In reverse postorder: the entry first.
    order: Vec<usize>,
    inside: HashSet<usize>,
}

fn leaf(at: usize) -> Block {
    Block::Leaf(LocationId::from(at))
}

fn flat(order: &[usize]) -> Block {
    Block::Sequence(order.iter().map(|at| leaf(*at)).collect())
}

impl Graph<'_> {
    fn region(&self, entry: usize, exit: Option<usize>) -> Region {
        let mut order = Vec::new();
        let mut inside = HashSet::new();
        if Some(entry) == exit {
            return Region { order, inside };
        }
        inside.insert(entry);
        let mut path = vec![(entry, 0)];
        while let Some((at, next)) = path.last_mut() {
            match self.successors[*at].get(*next) {
                Some(to) => {
                    *next += 1;
                    if Some(*to) != exit && inside.insert(*to) {
                        path.push((*to, 0));
                    }
                }
                None => {
                    order.push(*at);
                    path.pop();
                }
            }
        }
        order.reverse();
        Region { order, inside }
    }

    /// What is between an entry and an exit; all that is reachable if there is no exit.
    fn sequence(&self, entry: usize, exit: Option<usize>, depth: usize) -> Block {
        let mut blocks = Vec::new();
        let mut at = Some(entry);
        let mut done: HashSet<usize> = HashSet::new();
        while let Some(here) = at.filter(|here| Some(*here) != exit) {
            // Control that comes back to what is done is for whoever checks the structure to see.
            if !done.insert(here) {
                break;
            }
            let (block, next) = match self.successors[here].as_slice() {
                [] => (leaf(here), None),
                [next] if !self.heads.contains(&here) => (leaf(here), Some(*next)),
                _ => self.next_block(here, exit, &self.region(here, exit), depth),
            };
            blocks.push(block);
            at = next;
        }
        Block::Sequence(blocks)
    }

    /// The first block of a region, and where the next one begins.
    fn next_block(&self, here: usize, exit: Option<usize>, region: &Region, depth: usize) -> (Block, Option<usize>) {
        let comes_back =
            self.heads.contains(&here) && region.order.iter().any(|at| self.successors[*at].contains(&here));
        if !comes_back && let [next] = self.successors[here].as_slice() {
            return (leaf(here), Some(*next));
        }
        // A loop that is no such loop is one piece as a whole.
        let cycle = if comes_back { self.coming_back(here, region) } else { HashSet::from([here]) };
        let meeting = self.meeting(here, exit, region, &cycle);
        let structured = match (depth < MAX_DEPTH, comes_back) {
            (false, _) => None,
            (true, true) => self.loops(here, exit, &cycle, depth),
            (true, false) => self.choice(here, meeting.or(exit), depth).map(|choice| (choice, meeting.or(exit))),
        };
        structured.unwrap_or_else(|| (flat(&self.region(here, meeting.or(exit)).order), meeting.or(exit)))
    }

    /// A choice whose branches have nothing in common before the place where they meet.
    fn choice(&self, here: usize, meeting: Option<usize>, depth: usize) -> Option<Block> {
        let mut seen = HashSet::from([here]);
        let mut branches = Vec::new();
        for to in distinct(&self.successors[here]).into_iter().filter(|to| Some(*to) != meeting) {
            let branch = self.region(to, meeting);
            if branch.order.iter().any(|at| !seen.insert(*at)) {
                return None;
            }
            branches.push(self.sequence(to, meeting, depth + 1));
        }
        Some(Block::Choice(LocationId::from(here), branches))
    }

    /// A loop that is left at its head, for one place only, and what comes after it.
    fn loops(
        &self,
        head: usize,
        exit: Option<usize>,
        cycle: &HashSet<usize>,
        depth: usize,
    ) -> Option<(Block, Option<usize>)> {
        let mut outside = distinct(&self.successors[head]);
        outside.retain(|to| !cycle.contains(to));
        let after = match outside.as_slice() {
            [] => None,
            [one] => Some(*one),
            _ => return None,
        };
        let mut seen = HashSet::from([head]);
        let mut bodies = Vec::new();
        for to in distinct(&self.successors[head]).into_iter().filter(|to| cycle.contains(to) && *to != head) {
            let body = self.region(to, Some(head));
            let is_left = |at: &usize| !cycle.contains(at) || Some(*at) == exit || Some(*at) == after;
            if body.order.iter().any(|at| is_left(at) || !seen.insert(*at)) {
                return None;
            }
            bodies.push(self.sequence(to, Some(head), depth + 1));
        }
        Some((Block::Loop(LocationId::from(head), bodies), after))
    }

    /// The locations of a region from which control can come back to its entry.
    fn coming_back(&self, head: usize, region: &Region) -> HashSet<usize> {
        let before = self.predecessors(region);
        let mut found = HashSet::from([head]);
        let mut waiting = vec![head];
        while let Some(at) = waiting.pop() {
            for from in before.get(&at).into_iter().flatten() {
                if found.insert(*from) {
                    waiting.push(*from);
                }
            }
        }
        found
    }

    fn predecessors(&self, region: &Region) -> HashMap<usize, Vec<usize>> {
        let mut before: HashMap<usize, Vec<usize>> = HashMap::new();
        for at in &region.order {
            for to in self.successors[*at].iter().filter(|to| region.inside.contains(to)) {
                before.entry(*to).or_default().push(*at);
            }
        }
        before
    }

    /// The first place outside of `cycle` that every path from the entry of a region on to the end comes to: a postdominator. The
    /// end is the exit, or any place that nothing leaves; paths that never end do not count. `None` if that is the end.
    fn meeting(&self, entry: usize, exit: Option<usize>, region: &Region, cycle: &HashSet<usize>) -> Option<usize> {
        // Dominators of the reversed graph, after Cooper, Harvey and Kennedy: numbers are positions in its reverse postorder.
        let before = self.predecessors(region);
        let is_last =
            |at: usize| self.successors[at].is_empty() || exit.is_some_and(|exit| self.successors[at].contains(&exit));
        let mut postorder = Vec::new();
        let mut seen: HashSet<usize> = HashSet::new();
        for start in region.order.iter().copied().filter(|at| is_last(*at)) {
            if !seen.insert(start) {
                continue;
            }
            let mut path = vec![(start, 0)];
            while let Some((at, next)) = path.last_mut() {
                match before.get(at).and_then(|all| all.get(*next)) {
                    Some(from) => {
                        *next += 1;
                        if seen.insert(*from) {
                            path.push((*from, 0));
                        }
                    }
                    None => {
                        postorder.push(*at);
                        path.pop();
                    }
                }
            }
        }
        // The end comes before all.
        let mut order = vec![usize::MAX];
        order.extend(postorder.into_iter().rev());
        let position: HashMap<usize, usize> = order.iter().enumerate().map(|(position, at)| (*at, position)).collect();
        let mut dominator: Vec<Option<usize>> = vec![None; order.len()];
        dominator[0] = Some(0);
        loop {
            let mut is_stable = true;
            for (number, at) in order.iter().enumerate().skip(1) {
                let ends = is_last(*at).then_some(0);
                let next = self.successors[*at].iter().filter_map(|to| position.get(to).copied());
                let known = ends.into_iter().chain(next).filter(|to| dominator[*to].is_some());
                let new = known.reduce(|one, other| common(&dominator, one, other));
                if new.is_some() && dominator[number] != new {
                    dominator[number] = new;
                    is_stable = false;
                }
            }
            if is_stable {
                break;
            }
        }
        let mut meeting = dominator[*position.get(&entry)?]?;
        while meeting != 0 && cycle.contains(&order[meeting]) {
            meeting = dominator[meeting]?;
        }
        (meeting != 0).then(|| order[meeting])
    }
}

/// The nearest place that dominates both.
fn common(dominator: &[Option<usize>], mut one: usize, mut other: usize) -> usize {
    while one != other {
        while one > other {
            one = dominator[one].unwrap_or(0);
        }
        while other > one {
            other = dominator[other].unwrap_or(0);
        }
    }
    one
}

fn distinct(all: &[usize]) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::new();
    for one in all {
        if !found.contains(one) {
            found.push(*one);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(number: u32) -> LocationId {
        LocationId(number)
    }

    #[test]
    fn while_and_if_are_recovered() {
        // 0: while { 1: if { 2 } { 3 }; 4 }; 5
        let graph = [vec![1, 5], vec![2, 3], vec![4], vec![4], vec![0], vec![]];
        let body =
            vec![Block::Choice(at(1), vec![Block::Sequence(vec![leaf(2)]), Block::Sequence(vec![leaf(3)])]), leaf(4)];
        let expected = vec![Block::Loop(at(0), vec![Block::Sequence(body)]), leaf(5)];
        assert_eq!(structure(&graph, 0), Block::Sequence(expected));
    }

    #[test]
    fn a_loop_that_is_left_from_its_midst_is_one_piece() {
        // 0 → 1 → 0, 1 → 2, 2 is the end.
        let graph = [vec![1], vec![0, 2], vec![]];
        let expected = vec![flat(&[0, 1]), leaf(2)];
        assert_eq!(structure(&graph, 0), Block::Sequence(expected));
    }

    #[test]
    fn jumps_into_a_loop_are_one_piece() {
        // 0 → 1 | 2, 1 → 2, 2 → 1 | 3: irreducible.
        let graph = [vec![1, 2], vec![2], vec![1, 3], vec![]];
        let Block::Sequence(blocks) = structure(&graph, 0) else { panic!() };
        assert_eq!(blocks.last(), Some(&leaf(3)));
        assert_eq!(structure(&graph, 0).entry(), Some(at(0)));
    }

    #[test]
    fn a_loop_without_end_ends_the_sequence() {
        let graph = [vec![1], vec![2, 1], vec![1]];
        let expected = vec![leaf(0), Block::Loop(at(1), vec![Block::Sequence(vec![leaf(2)])])];
        assert_eq!(structure(&graph, 0), Block::Sequence(expected));
    }

    #[test]
    fn a_branch_without_end_stands_alone() {
        // 0: if { 1: for ever } { 2 }; 3
        let graph = [vec![1, 2], vec![1], vec![3], vec![]];
        let Block::Sequence(blocks) = structure(&graph, 0) else { panic!() };
        let mut all: Vec<u32> = Vec::new();
        fn numbers(block: &Block, all: &mut Vec<u32>) {
            match block {
                Block::Leaf(LocationId(at)) => all.push(*at),
                Block::Choice(LocationId(at), blocks) | Block::Loop(LocationId(at), blocks) => {
                    all.push(*at);
                    blocks.iter().for_each(|block| numbers(block, all));
                }
                Block::Sequence(blocks) => blocks.iter().for_each(|block| numbers(block, all)),
                Block::Module(inner) => numbers(inner, all),
            }
        }
        blocks.iter().for_each(|block| numbers(block, &mut all));
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3]);
    }
}
