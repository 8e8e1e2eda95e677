//! The table of nodes: unique nodes, a cache of results, and sweeping.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::{Maybe, SetError, Size};

/// The node's number, doubled, and one more if the function is negated.
pub(super) type Edge = u32;

/// The constant true: node 0.
pub(super) const TRUE: Edge = 0;
/// The constant false.
pub(super) const FALSE: Edge = 1;

/// No node.
const NONE: u32 = u32::MAX;
/// The level of the constant.
pub(super) const BOTTOM: u32 = u32::MAX;

/// How much work is done between two looks at whether it should go on.
const LOOK_EVERY: u32 = 1 << 14;
/// Tables begin with so many entries.
const FIRST_SIZE: usize = 1 << 12;
/// So the cache does.
const FIRST_CACHE: usize = 1 << 15;
/// With fewer nodes nothing is swept away: it would empty the cache for little room.
const FIRST_SWEEP: usize = 3_000_000;
/// A cache is never larger than this.
const MAX_CACHE: usize = 1 << 24;
/// Bytes for a node, with its share of the buckets and the cache.
pub const NODE_BYTES: usize = 40;
/// With fewer nodes nothing is moved.
const FIRST_REORDERING: usize = 300_000;

#[derive(Clone, Copy)]
pub(super) struct Node {
    /// Twice the position of the pair in the order; one more for the next state's bit.
    pub level: u32,
    pub lo: Edge,
    /// Never negated.
    pub hi: Edge,
    /// The next node of the same bucket, or of the free list.
    pub next: u32,
}

/// A remembered result. `what` is the operation, in the low byte, and what it needs beside its operands.
#[derive(Clone, Copy)]
struct Entry {
    f: Edge,
    g: Edge,
    /// A third operand, or 0.
    h: Edge,
    what: u32,
    result: Edge,
}

const VACANT: Entry = Entry { f: NONE, g: NONE, h: NONE, what: NONE, result: NONE };

/// All that diagrams share.
pub(super) struct Core {
    pub nodes: Vec<Node>,
    buckets: Vec<u32>,
    free: u32,
    used: usize,
    peak: usize,
    cache: Vec<Entry>,
    /// What handles hold; vacant slots are in `vacant`.
    pub kept: Vec<Edge>,
    vacant: Vec<u32>,
    /// The pairs from the root down, and where each stands.
    pub order: Vec<u32>,
    pub level_of: Vec<u32>,
    /// Sets of pairs, by pair; and the same by position, with the position after the last.
    sets: Vec<Vec<u32>>,
    pub by_position: Vec<(Vec<bool>, u32)>,
    max_nodes: usize,
    /// The cache has at most so many entries.
    max_cache: usize,
    /// Sweeping is worth a thought from so many nodes on.
    sweep_at: usize,
    pub reorders: bool,
    pub reorder_at: usize,
    stop: Arc<AtomicBool>,
    pub deadline: Option<Instant>,
    work: u32,
    sweeps: usize,
    pub reorderings: usize,
    runs: u32,
}

impl Core {
    pub fn new(pairs: u32, max_nodes: usize, stop: Arc<AtomicBool>) -> Core {
        let terminal = Node { level: BOTTOM, lo: TRUE, hi: TRUE, next: NONE };
        Core {
            nodes: vec![terminal],
            buckets: vec![NONE; FIRST_SIZE],
            free: NONE,
            used: 1,
            peak: 1,
            cache: vec![VACANT; FIRST_CACHE],
            kept: Vec::new(),
            vacant: Vec::new(),
            order: (0..pairs).collect(),
            level_of: (0..pairs).collect(),
            sets: Vec::new(),
            by_position: Vec::new(),
            max_nodes: max_nodes.clamp(FIRST_SIZE, 1 << 30),
            max_cache: MAX_CACHE,
            sweep_at: FIRST_SWEEP,
            reorders: false,
            reorder_at: FIRST_REORDERING,
            stop,
            deadline: None,
            work: 0,
            sweeps: 0,
            reorderings: 0,
            runs: 0,
        }
    }

    pub fn set_max_nodes(&mut self, max_nodes: usize) {
        self.max_nodes = max_nodes.clamp(FIRST_SIZE, 1 << 30);
    }

    /// The tables will have to do with the room for so many nodes: the cache gets a third of it.
    pub fn make_room_for(&mut self, nodes: usize) {
        let entries = nodes * NODE_BYTES / 3 / size_of::<Entry>();
        self.max_cache = entries.clamp(FIRST_CACHE, MAX_CACHE);
    }

    pub fn set_order(&mut self, order: &[u32]) {
        debug_assert_eq!(self.used, 1, "there are nodes already");
        self.order = order.to_vec();
        self.order_changed();
    }

    pub fn add_pairs(&mut self, count: u32) -> u32 {
        let first = self.order.len() as u32;
        self.order.extend(first..first + count);
        self.level_of.resize((first + count) as usize, 0);
        self.order_changed();
        first
    }

    /// What depends on where the pairs stand is computed anew.
    pub fn order_changed(&mut self) {
        for (position, pair) in self.order.iter().enumerate() {
            self.level_of[*pair as usize] = position as u32;
        }
        self.by_position = self.sets.iter().map(|set| positions(set, &self.level_of)).collect();
    }

    pub fn add_written(&mut self, pairs: &[u32]) -> u32 {
        if let Some(known) = self.sets.iter().position(|set| set == pairs) {
            return known as u32;
        }
        self.by_position.push(positions(pairs, &self.level_of));
        self.sets.push(pairs.to_vec());
        self.sets.len() as u32 - 1
    }

    /// The first position that a relation reads or writes.
    pub fn top(&self, relation: Edge, written: u32) -> u32 {
        let first = self.by_position[written as usize].0.iter().position(|is_in| *is_in);
        let read = self.level(relation) / 2;
        first.map_or(read, |first| read.min(first as u32))
    }

    /// A number that tells one list of events from all others.
    pub fn new_run(&mut self) -> u32 {
        self.runs += 1;
        self.runs
    }

    pub fn size(&self) -> Size {
        Size { nodes: self.used, peak: self.peak, sweeps: self.sweeps, reorderings: self.reorderings }
    }

    pub fn keep(&mut self, edge: Edge) -> u32 {
        match self.vacant.pop() {
            Some(slot) => {
                self.kept[slot as usize] = edge;
                slot
            }
            None => {
                self.kept.push(edge);
                self.kept.len() as u32 - 1
            }
        }
    }

    pub fn release(&mut self, slot: u32) {
        self.kept[slot as usize] = TRUE;
        self.vacant.push(slot);
    }

    pub fn level(&self, edge: Edge) -> u32 {
        self.nodes[(edge >> 1) as usize].level
    }

    /// The cofactors of a function at a level that is not below its root.
    pub fn cofactors(&self, edge: Edge, level: u32) -> (Edge, Edge) {
        let node = &self.nodes[(edge >> 1) as usize];
        if node.level != level {
            return (edge, edge);
        }
        (node.lo ^ (edge & 1), node.hi ^ (edge & 1))
    }

    /// The node with these children, or what stands for it.
    pub fn make(&mut self, level: u32, lo: Edge, hi: Edge) -> Maybe<Edge> {
        if lo == hi {
            return Ok(lo);
        }
        let negated = hi & 1;
        Ok(self.unique(level, lo ^ negated, hi ^ negated)? | negated)
    }

    fn unique(&mut self, level: u32, lo: Edge, hi: Edge) -> Maybe<Edge> {
        let mut bucket = hash(level, lo, hi) & (self.buckets.len() - 1);
        let mut at = self.buckets[bucket];
        while at != NONE {
            let node = &self.nodes[at as usize];
            if node.lo == lo && node.hi == hi && node.level == level {
                return Ok(at << 1);
            }
            at = node.next;
        }
        if self.used >= self.max_nodes {
            return Err(SetError::Memory);
        }
        if self.used > self.buckets.len() {
            self.grow();
            bucket = hash(level, lo, hi) & (self.buckets.len() - 1);
        }
        let node = Node { level, lo, hi, next: self.buckets[bucket] };
        let number = match self.free {
            NONE => {
                if self.nodes.len() == self.nodes.capacity() {
                    // Twice as many, as vectors do, but no more than there will be.
                    let more = self.max_nodes.saturating_sub(self.nodes.len());
                    self.nodes.reserve_exact(more.clamp(1, self.nodes.len().max(FIRST_SIZE)));
                }
                self.nodes.push(node);
                self.nodes.len() as u32 - 1
            }
            free => {
                self.free = self.nodes[free as usize].next;
                self.nodes[free as usize] = node;
                free
            }
        };
        self.buckets[bucket] = number;
        self.used += 1;
        self.peak = self.peak.max(self.used);
        Ok(number << 1)
    }

    fn grow(&mut self) {
        let size = self.buckets.len() * 2;
        self.rehash(size);
        let size = size * 2;
        if self.cache.len() < size && size <= self.max_cache {
            let before = std::mem::replace(&mut self.cache, vec![VACANT; size]);
            for entry in before {
                if entry.what != NONE {
                    let place = place(entry.what, entry.f, entry.g, entry.h) & (size - 1);
                    self.cache[place] = entry;
                }
            }
        }
    }

    /// All nodes into a new set of buckets. Free nodes have no level but the constant's.
    pub fn rehash(&mut self, size: usize) {
        self.buckets.clear();
        self.buckets.resize(size, NONE);
        for number in 1..self.nodes.len() {
            let node = self.nodes[number];
            if node.level != BOTTOM {
                let bucket = hash(node.level, node.lo, node.hi) & (size - 1);
                self.nodes[number].next = self.buckets[bucket];
                self.buckets[bucket] = number as u32;
            }
        }
    }

    pub fn recall(&mut self, what: u32, f: Edge, g: Edge) -> Option<Edge> {
        self.recall3(what, f, g, 0)
    }

    pub fn recall3(&mut self, what: u32, f: Edge, g: Edge, h: Edge) -> Option<Edge> {
        let entry = &self.cache[place(what, f, g, h) & (self.cache.len() - 1)];
        (entry.f == f && entry.g == g && entry.what == what && entry.h == h).then_some(entry.result)
    }

    pub fn remember(&mut self, what: u32, f: Edge, g: Edge, result: Edge) {
        self.remember3(what, f, g, 0, result);
    }

    pub fn remember3(&mut self, what: u32, f: Edge, g: Edge, h: Edge, result: Edge) {
        let place = place(what, f, g, h) & (self.cache.len() - 1);
        self.cache[place] = Entry { f, g, h, what, result };
    }

    pub fn forget_all(&mut self) {
        self.cache.fill(VACANT);
    }

    /// Called once for every step of a recursion that is real work.
    pub fn look(&mut self) -> Maybe<()> {
        self.work += 1;
        if self.work.is_multiple_of(LOOK_EVERY) { self.look_around() } else { Ok(()) }
    }

    fn look_around(&self) -> Maybe<()> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(SetError::Cancelled);
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(SetError::Deadline);
        }
        Ok(())
    }

    pub fn should_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// It is time to sweep.
    pub fn is_full_of_garbage(&self) -> bool {
        self.used > self.sweep_at
    }

    /// After sweeping: when to do so again.
    pub fn set_next_sweep(&mut self) {
        self.sweep_at = (self.used * 2).max(FIRST_SWEEP);
    }

    /// The diagrams have grown so much that moving variables may pay.
    pub fn wants_order(&self) -> bool {
        self.reorders && self.used > self.reorder_at
    }

    pub fn reorder(&mut self) -> Maybe<()> {
        self.sift()?;
        self.reorder_at = (self.used * 2).max(FIRST_REORDERING);
        self.set_next_sweep();
        Ok(())
    }

    /// Between operations: sweeps, and moves variables, where it is time.
    pub fn tidy(&mut self) -> Maybe<()> {
        self.look_around()?;
        if self.used > self.sweep_at {
            self.sweep();
            if self.wants_order() {
                self.reorder()?;
            }
            self.set_next_sweep();
        }
        Ok(())
    }

    /// Throws away the nodes that no handle reaches.
    pub fn sweep(&mut self) {
        let mut marked = vec![false; self.nodes.len()];
        marked[0] = true;
        let mut stack: Vec<u32> = self.kept.iter().map(|edge| edge >> 1).collect();
        while let Some(number) = stack.pop() {
            if !std::mem::replace(&mut marked[number as usize], true) {
                let node = &self.nodes[number as usize];
                stack.extend([node.lo >> 1, node.hi >> 1]);
            }
        }
        self.free = NONE;
        self.used = 1;
        for number in (1..self.nodes.len()).rev() {
            if marked[number] {
                self.used += 1;
            } else {
                self.nodes[number] = Node { level: BOTTOM, lo: TRUE, hi: TRUE, next: self.free };
                self.free = number as u32;
            }
        }
        self.rehash(self.buckets.len());
        self.forget_all();
        self.sweeps += 1;
    }
}

/// Which positions are in the set, and the one after the last.
fn positions(set: &[u32], level_of: &[u32]) -> (Vec<bool>, u32) {
    let mut is_in = vec![false; level_of.len()];
    set.iter().for_each(|pair| is_in[level_of[*pair as usize] as usize] = true);
    let end = is_in.iter().rposition(|is_in| *is_in).map_or(0, |last| last as u32 + 1);
    (is_in, end)
}

/// Where a result is remembered.
#[inline]
fn place(what: u32, f: Edge, g: Edge, h: Edge) -> usize {
    hash(what ^ h.wrapping_mul(0x9e37_79b1), f, g)
}

#[inline]
fn hash(x: u32, y: u32, z: u32) -> usize {
    let mixed = (u64::from(x) << 32 | u64::from(y)).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(z);
    let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed ^ mixed >> 32) as usize
}
