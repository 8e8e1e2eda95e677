//! The table of binary decision nodes, with the order of the variables and what handles hold.

use std::cell::RefCell;

use ample_budget::Budget;

use super::relations::SATURATE;
use super::{Maybe, SetError, Size};
use crate::table::{self, FIRST_CACHE, MAX_CACHE, Table};

/// The node's number, doubled, and one more if the function is negated.
pub(super) type Edge = u32;

/// The constant true: node 0.
pub(super) const TRUE: Edge = 0;
/// The constant false.
pub(super) const FALSE: Edge = 1;

/// The level of the constant.
pub(super) const BOTTOM: u32 = u32::MAX;

/// The cache begins with so many entries.
const FIRST_RESULTS: usize = 2 * FIRST_CACHE;
/// With fewer nodes no garbage is collected: it would forget results for little room.
const FIRST_COLLECTION: usize = 1 << 18;
/// How often the room between two collections is doubled. What takes long needs results about nodes again that are garbage
/// meanwhile; what ends soon is not to touch so much memory.
const MOST_DOUBLINGS: usize = 4;
/// A collection that frees less than this part of a full table is a poor one; after so many in a row, the table is full.
const POOR: usize = 4;
const MAX_POOR: usize = 2;
pub use crate::table::NODE_BYTES;
/// With fewer nodes nothing is moved.
const FIRST_REORDERING: usize = 20_000;
/// With fewer nodes nothing is moved in the midst of saturation.
const FIRST_IN_SATURATION: usize = 300_000;
/// So many nodes may be looked at while variables are moved for each step of an operation. A look takes less than a tenth of
/// the time, and a good order saves many steps later.
const SIFTED_FOR_STEP: u64 = 40;
/// The same where variables are moved between operations only. The first order is a good one there, as a rule.
const SIFTED_FOR_STEP_BETWEEN: u64 = 8;
/// Nothing is moved before operations have taken so many steps, which is about a tenth of a second.
const FIRST_STEPS: u64 = 400_000;
/// There are never more nodes: an edge has a bit for the sign.
const MAX_NODES: usize = 1 << 30;

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

impl table::Node for Node {
    const TERMINALS: usize = 1;

    fn free(next: u32) -> Node {
        Node { level: BOTTOM, lo: TRUE, hi: TRUE, next }
    }

    #[inline]
    fn is_free(&self) -> bool {
        self.level == BOTTOM
    }

    #[inline]
    fn next(&self) -> u32 {
        self.next
    }

    #[inline]
    fn set_next(&mut self, next: u32) {
        self.next = next;
    }

    #[inline]
    fn new([level, lo, hi]: [u32; 3], next: u32) -> Node {
        Node { level, lo, hi, next }
    }

    #[inline]
    fn key(&self) -> [u32; 3] {
        [self.level, self.lo, self.hi]
    }

    #[inline]
    fn children(&self) -> [u32; 2] {
        [self.lo >> 1, self.hi >> 1]
    }
}

/// All that diagrams share.
pub(super) struct Core {
    /// A result is remembered under the operation, in the low byte, with what it needs beside its operands, and three
    /// operands, of which the last may be 0.
    pub table: Table<Node, 4>,
    /// What handles hold; vacant slots are in `vacant`.
    pub kept: Vec<Edge>,
    vacant: Vec<u32>,
    /// The pairs from the root down, and where each stands.
    pub order: Vec<u32>,
    pub level_of: Vec<u32>,
    /// Sets of pairs, by pair; and the same by position, with the position after the last.
    sets: Vec<Vec<u32>>,
    pub by_position: Vec<(Vec<bool>, u32)>,
    /// Collecting garbage is worth a thought from so many nodes on.
    collect_at: usize,
    /// How many collections in a row have made little room in a full table.
    poor: usize,
    pub reorders: bool,
    pub reorder_at: usize,
    pub reorderings: usize,
    /// How many nodes were looked at while variables were moved.
    pub sifted: u64,
    runs: u32,
    /// Where room is made early: how many nodes there may be at all, and from how many on variables are moved first.
    early: Option<Early>,
    visits: RefCell<Visits>,
}

/// Which nodes were met on a walk through a diagram: those that have its number.
#[derive(Default)]
struct Visits {
    walk: u32,
    of: Vec<u32>,
}

/// Limits on a table in which variables are moved in the midst of operations.
#[derive(Clone, Copy)]
struct Early {
    max_nodes: usize,
    first: usize,
    /// Garbage is collected as if there were so many nodes at least, where that is not by when variables are moved.
    least: Option<usize>,
}

impl Core {
    pub fn new(pairs: u32, max_nodes: usize, budget: Budget) -> Core {
        let terminal = Node { level: BOTTOM, lo: TRUE, hi: TRUE, next: table::NONE };
        Core {
            table: Table::new(terminal, max_nodes.min(MAX_NODES), (FIRST_RESULTS, MAX_CACHE), budget),
            kept: Vec::new(),
            vacant: Vec::new(),
            order: (0..pairs).collect(),
            level_of: (0..pairs).collect(),
            sets: Vec::new(),
            by_position: Vec::new(),
            collect_at: FIRST_COLLECTION.min(max_nodes / 4 * 3),
            poor: 0,
            reorders: false,
            reorder_at: FIRST_REORDERING,
            reorderings: 0,
            sifted: 0,
            runs: 0,
            early: None,
            visits: RefCell::default(),
        }
    }

    /// Calls back once for each node that these refer to, directly or not.
    pub fn visit(&self, roots: impl IntoIterator<Item = Edge>, mut found: impl FnMut(&Node)) {
        let visits = &mut *self.visits.borrow_mut();
        if visits.walk == u32::MAX {
            *visits = Visits::default();
        }
        visits.walk += 1;
        visits.of.resize(self.table.nodes.len(), 0);
        visits.of[0] = visits.walk;
        let mut open: Vec<u32> = roots.into_iter().map(|edge| edge >> 1).collect();
        while let Some(number) = open.pop() {
            let mut at = number;
            while std::mem::replace(&mut visits.of[at as usize], visits.walk) != visits.walk {
                let node = &self.table.nodes[at as usize];
                found(node);
                open.push(node.lo >> 1);
                at = node.hi >> 1;
            }
        }
    }

    pub fn set_max_nodes(&mut self, max_nodes: usize) {
        let max_nodes = max_nodes.min(MAX_NODES);
        match &mut self.early {
            Some(early) => {
                early.max_nodes = max_nodes;
                self.set_next_limit();
            }
            None => {
                self.table.set_max_nodes(max_nodes);
                self.set_next_collection();
            }
        }
        self.poor = 0;
    }

    pub fn reorder_early(&mut self, first: usize) {
        let max_nodes = self.early.map_or(self.table.max_nodes(), |early| early.max_nodes);
        self.early = Some(Early { max_nodes, first, least: None });
        self.reorder_at = first;
        self.set_next_limit();
    }

    pub fn collect_early(&mut self, least: usize) {
        if let Some(early) = &mut self.early {
            early.least = Some(least);
            self.set_next_limit();
        }
    }

    /// There is more room than the table has now.
    pub fn is_limited_early(&self) -> bool {
        self.early.is_some_and(|early| self.table.max_nodes() < early.max_nodes)
    }

    /// In the midst of an operation: collects garbage, moves variables where it is time, and allows for more nodes.
    pub fn make_way(&mut self) -> Maybe<()> {
        self.table.look_now()?;
        let before = self.table.max_nodes();
        self.collect();
        if self.wants_order() {
            self.reorder()?;
        }
        self.set_next_limit();
        // An operation that needs so much itself must come to its end.
        let least = before.saturating_mul(2);
        if let Some(early) = self.early.filter(|_| self.table.max_nodes() < least) {
            self.table.set_max_nodes(least.min(early.max_nodes));
        }
        Ok(())
    }

    /// So many nodes, with garbage, until room is made again.
    fn set_next_limit(&mut self) {
        let Some(early) = self.early else { return };
        let least = early.least.unwrap_or(self.reorder_at);
        let limit = (self.table.used().max(least) * 4).min(early.max_nodes);
        self.table.set_max_nodes(limit);
        self.collect_at = limit - limit / 4;
    }

    /// The tables will have to do with the room for so many nodes: the cache gets a third of it.
    pub fn make_room_for(&mut self, nodes: usize) {
        self.table.cache.limit(nodes * NODE_BYTES / 3);
    }

    pub fn set_order(&mut self, order: &[u32]) {
        debug_assert_eq!(self.table.used(), 1, "there are nodes already");
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
        Size { reorderings: self.reorderings, ..self.table.size() }
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

    #[inline]
    pub fn level(&self, edge: Edge) -> u32 {
        self.table.nodes[(edge >> 1) as usize].level
    }

    /// The cofactors of a function at a level that is not below its root.
    #[inline]
    pub fn cofactors(&self, edge: Edge, level: u32) -> (Edge, Edge) {
        let node = &self.table.nodes[(edge >> 1) as usize];
        if node.level != level {
            return (edge, edge);
        }
        (node.lo ^ (edge & 1), node.hi ^ (edge & 1))
    }

    /// The node with these children, or what stands for it.
    #[inline]
    pub fn make(&mut self, level: u32, lo: Edge, hi: Edge) -> Maybe<Edge> {
        if lo == hi {
            return Ok(lo);
        }
        let negated = hi & 1;
        Ok(self.table.unique(level, lo ^ negated, hi ^ negated)? << 1 | negated)
    }

    #[inline]
    pub fn recall(&self, what: u32, f: Edge, g: Edge) -> Option<Edge> {
        self.table.cache.recall([what, f, g, 0])
    }

    #[inline]
    pub fn recall3(&self, what: u32, f: Edge, g: Edge, h: Edge) -> Option<Edge> {
        self.table.cache.recall([what, f, g, h])
    }

    #[inline]
    pub fn remember(&mut self, what: u32, f: Edge, g: Edge, result: Edge) {
        self.table.cache.remember([what, f, g, 0], result);
    }

    #[inline]
    pub fn remember3(&mut self, what: u32, f: Edge, g: Edge, h: Edge, result: Edge) {
        self.table.cache.remember([what, f, g, h], result);
    }

    /// Called once for every step of a recursion that is real work.
    #[inline]
    pub fn look(&mut self) -> Maybe<()> {
        self.table.look()
    }

    /// It is time to collect garbage.
    pub fn is_full_of_garbage(&self) -> bool {
        self.table.used() > self.collect_at
    }

    /// After that: when to do so again.
    pub fn set_next_collection(&mut self) {
        let (used, most) = (self.table.used(), self.table.max_nodes());
        let more = used.max(FIRST_COLLECTION << self.table.size().collections.min(MOST_DOUBLINGS));
        // A table that is nearly full of what is needed would be collected for every operation.
        self.collect_at = match used < most / 4 * 3 {
            true => used + more.min((most - used) / 4 * 3),
            false => usize::MAX,
        };
        self.set_next_limit();
    }

    /// The diagrams have grown so much that moving variables may pay.
    pub fn wants_order(&self) -> bool {
        self.reorders && self.table.used() > self.reorder_at && self.can_afford_order()
    }

    /// The same in the midst of saturation, which would begin again: only if the diagrams are large.
    pub fn wants_order_in_saturation(&self) -> bool {
        self.table.used() > FIRST_IN_SATURATION && self.wants_order()
    }

    /// The time for moving variables is in proportion to what operations have taken so far: what ends soon is left alone.
    fn can_afford_order(&self) -> bool {
        let cost = self.table.used() as u64 * self.order.len() as u64;
        let steps = self.table.work();
        let looks = if self.early.is_some() { SIFTED_FOR_STEP } else { SIFTED_FOR_STEP_BETWEEN };
        steps > FIRST_STEPS && looks * steps > self.sifted + cost
    }

    pub fn reorder(&mut self) -> Maybe<()> {
        self.sift()?;
        let first = self.early.map_or(FIRST_REORDERING, |early| early.first);
        self.reorder_at = (self.table.used() * 2).max(first);
        self.set_next_collection();
        Ok(())
    }

    /// Between operations: collects garbage, and moves variables, where it is time.
    pub fn tidy(&mut self) -> Maybe<()> {
        self.table.look_now()?;
        if self.table.used() > self.collect_at {
            self.collect();
            if self.wants_order() {
                self.reorder()?;
            }
            self.set_next_collection();
        }
        Ok(())
    }

    /// In a full table: throws away what is not needed. An error if that has made little room again and again, since then
    /// every operation would be performed twice, with a collection in between.
    pub fn collect_full(&mut self) -> Maybe<()> {
        self.collect();
        let is_poor = self.table.used() > self.table.max_nodes() / POOR * (POOR - 1);
        self.poor = if is_poor { self.poor + 1 } else { 0 };
        if self.poor >= MAX_POOR { Err(SetError::Memory) } else { Ok(()) }
    }

    /// Throws away the nodes that no handle reaches, and the results that speak of them.
    pub fn collect(&mut self) {
        let marked = self.table.marked(self.kept.iter().map(|edge| edge >> 1));
        self.table.collect(&marked);
        let is_left = |edge: Edge| marked[(edge >> 1) as usize];
        self.table.cache.retain(|key, result| operands(key).iter().all(|edge| is_left(*edge)) && is_left(result));
    }
}

/// Those parts of the key of a result that are functions.
fn operands(key: &[u32; 4]) -> &[Edge] {
    if key[0] & 0xff == SATURATE { &key[1..2] } else { &key[1..] }
}

/// Which positions are in the set, and the one after the last.
fn positions(set: &[u32], level_of: &[u32]) -> (Vec<bool>, u32) {
    let mut is_in = vec![false; level_of.len()];
    set.iter().for_each(|pair| is_in[level_of[*pair as usize] as usize] = true);
    let end = is_in.iter().rposition(|is_in| *is_in).map_or(0, |last| last as u32 + 1);
    (is_in, end)
}
