//! Moving variables: Rudell's sifting, pair by pair.
//!
//! Two neighbouring levels are exchanged in place, so that every node keeps its number and its meaning and handles stay
//! valid. While it goes on there is a table of nodes for each level and a count of who refers to each node; nodes that
//! nobody refers to are gone at once, so that sizes are true.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::Maybe;
use super::core::{BOTTOM, Core, Edge, Node, TRUE};

/// How much larger the diagrams may get while a pair is on its way, in percent.
const MAX_GROWTH: usize = 120;

/// So many pairs are moved before it is asked whether it was worth it.
const BATCH: usize = 16;
/// The diagrams have to get smaller by this part of their size for each batch, in percent: else the rest is left as it is.
const MIN_GAIN: usize = 1;

/// A node that has to be made anew takes as long as so many that are looked at.
const NODES_FOR_ONE: usize = 4;

/// The nodes of one level by their children.
type Level = HashMap<(Edge, Edge), u32, BuildHasherDefault<EdgeHasher>>;

/// Mixes two edges: there are no keys to be defended against, and very many look-ups.
#[derive(Clone, Copy, Default)]
pub(super) struct EdgeHasher(u64);

impl Hasher for EdgeHasher {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u32(u32::from(*byte)));
    }

    #[inline]
    fn write_u32(&mut self, part: u32) {
        self.0 = (self.0.rotate_left(32) ^ u64::from(part)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

struct Sifting<'a> {
    core: &'a mut Core,
    levels: Vec<Level>,
    references: Vec<u32>,
    free: Vec<u32>,
    size: usize,
    /// How many nodes were looked at.
    work: u64,
}

impl Core {
    pub fn sift(&mut self) -> Maybe<()> {
        self.collect();
        let mut sifting = Sifting::new(self);
        let result = sifting.all();
        let (free, work) = (std::mem::take(&mut sifting.free), sifting.work);
        self.sifted += work;
        self.after_sifting(&free);
        result
    }

    fn after_sifting(&mut self, free: &[u32]) {
        for number in free {
            self.table.nodes[*number as usize] = Node { level: BOTTOM, lo: TRUE, hi: TRUE, next: u32::MAX };
        }
        self.order_changed();
        self.collect();
        self.table.cache.clear();
        self.reorderings += 1;
    }
}

impl<'a> Sifting<'a> {
    fn new(core: &'a mut Core) -> Sifting<'a> {
        let mut levels = vec![Level::default(); core.order.len() * 2];
        let mut references = vec![0u32; core.table.nodes.len()];
        let mut free = Vec::new();
        let mut size = 0;
        for (number, node) in core.table.nodes.iter().enumerate().skip(1) {
            if node.level == BOTTOM {
                free.push(number as u32);
                continue;
            }
            levels[node.level as usize].insert((node.lo, node.hi), number as u32);
            references[(node.lo >> 1) as usize] += 1;
            references[(node.hi >> 1) as usize] += 1;
            size += 1;
        }
        core.kept.iter().for_each(|edge| references[(edge >> 1) as usize] += 1);
        Sifting { core, levels, references, free, size, work: 0 }
    }

    fn all(&mut self) -> Maybe<()> {
        let size_of =
            |this: &Self, position: usize| this.levels[position * 2].len() + this.levels[position * 2 + 1].len();
        let mut pairs: Vec<(usize, u32)> =
            self.core.order.iter().enumerate().map(|(position, pair)| (size_of(self, position), *pair)).collect();
        pairs.sort_unstable_by(|x, y| y.cmp(x));
        pairs.retain(|(nodes, _)| *nodes > 0);
        for batch in pairs.chunks(BATCH) {
            let before = self.size;
            for (_, pair) in batch {
                let from = self.core.order.iter().position(|p| p == pair).unwrap_or(0);
                self.place(from)?;
            }
            // The pairs with the most nodes come first, and what they do not gain, the others will not.
            if (before - self.size.min(before)) * 100 < before * MIN_GAIN {
                break;
            }
        }
        Ok(())
    }

    /// Takes the pair at that position for a walk and leaves it at the best place.
    fn place(&mut self, from: usize) -> Maybe<()> {
        let last = self.core.order.len() - 1;
        let (mut best, mut best_size) = (from, self.size);
        let mut at = from;
        let ends = if from * 2 < last { [0, last] } else { [last, 0] };
        for end in ends {
            while at != end {
                self.core.table.look_now()?;
                at = self.step(at, end);
                if self.size < best_size {
                    (best, best_size) = (at, self.size);
                }
                if self.size * 100 > best_size * MAX_GROWTH + 10_000 {
                    break;
                }
            }
            while at != from && end != ends[1] {
                at = self.step(at, from);
            }
        }
        while at != best {
            at = self.step(at, best);
        }
        Ok(())
    }

    /// One position towards there.
    fn step(&mut self, at: usize, to: usize) -> usize {
        let upper = if to > at { at } else { at - 1 };
        for level in [upper * 2 + 1, upper * 2, upper * 2 + 2, upper * 2 + 1] {
            self.exchange(level);
        }
        self.core.order.swap(upper, upper + 1);
        if to > at { at + 1 } else { at - 1 }
    }

    /// Exchanges a level with the one below it.
    fn exchange(&mut self, level: usize) {
        let mut upper = std::mem::take(&mut self.levels[level]);
        let lower = std::mem::take(&mut self.levels[level + 1]);
        let below = level as u32 + 1;
        let mut dependent = Vec::new();
        for (children, number) in &upper {
            if [children.0, children.1].iter().any(|child| self.core.level(*child) == below) {
                dependent.push((*children, *number));
            }
        }
        self.work += (upper.len() + lower.len() + NODES_FOR_ONE * dependent.len()) as u64;
        for (children, _) in &dependent {
            upper.remove(children);
        }
        let (staying, dependent): (Level, Vec<u32>) =
            (upper, dependent.into_iter().map(|(_, number)| number).collect());
        // Their cofactors have to be taken before any level changes.
        let split: Vec<[Edge; 4]> = dependent.iter().map(|number| self.quarters(*number, below)).collect();
        staying.values().for_each(|number| self.core.table.nodes[*number as usize].level = below);
        lower.values().for_each(|number| self.core.table.nodes[*number as usize].level = level as u32);
        self.levels[level] = lower;
        self.levels[level + 1] = staying;
        for (number, [f00, f01, f10, f11]) in dependent.into_iter().zip(split) {
            let lo = self.make(below, f00, f10);
            let hi = self.make(below, f01, f11);
            self.refer(lo);
            self.refer(hi);
            let node = self.core.table.nodes[number as usize];
            self.core.table.nodes[number as usize] = Node { level: level as u32, lo, hi, next: u32::MAX };
            self.levels[level].insert((lo, hi), number);
            self.abandon(node.lo);
            self.abandon(node.hi);
        }
    }

    /// The cofactors by the node's own variable and the one below.
    fn quarters(&self, number: u32, below: u32) -> [Edge; 4] {
        let node = &self.core.table.nodes[number as usize];
        let ((f00, f01), (f10, f11)) = (self.core.cofactors(node.lo, below), self.core.cofactors(node.hi, below));
        [f00, f01, f10, f11]
    }

    fn make(&mut self, level: u32, lo: Edge, hi: Edge) -> Edge {
        if lo == hi {
            return lo;
        }
        let negated = hi & 1;
        let children = (lo ^ negated, hi ^ negated);
        if let Some(number) = self.levels[level as usize].get(&children) {
            return number << 1 | negated;
        }
        let node = Node { level, lo: children.0, hi: children.1, next: u32::MAX };
        let number = match self.free.pop() {
            Some(number) => {
                self.core.table.nodes[number as usize] = node;
                self.references[number as usize] = 0;
                number
            }
            None => {
                self.core.table.nodes.push(node);
                self.references.push(0);
                self.core.table.nodes.len() as u32 - 1
            }
        };
        self.levels[level as usize].insert(children, number);
        self.refer(node.lo);
        self.refer(node.hi);
        self.size += 1;
        number << 1 | negated
    }

    fn refer(&mut self, edge: Edge) {
        self.references[(edge >> 1) as usize] += 1;
    }

    /// One reference less; without any a node is gone, and refers to nobody.
    fn abandon(&mut self, edge: Edge) {
        let mut stack = vec![edge >> 1];
        while let Some(number) = stack.pop() {
            self.references[number as usize] -= 1;
            if number == 0 || self.references[number as usize] > 0 {
                continue;
            }
            let node = self.core.table.nodes[number as usize];
            self.levels[node.level as usize].remove(&(node.lo, node.hi));
            self.core.table.nodes[number as usize].level = BOTTOM;
            self.free.push(number);
            self.size -= 1;
            stack.extend([node.lo >> 1, node.hi >> 1]);
        }
    }
}
