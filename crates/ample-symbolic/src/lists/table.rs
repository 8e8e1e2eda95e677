//! The table of list nodes, with lists in the making and what handles hold.
//!
//! A node is a value, what follows it (`down`), and the node with the next larger value (`right`). Node 0 is the empty
//! set, node 1 the set of the empty sequence. All paths from a node to node 1 have the same length, so a node belongs
//! to one level, and results are remembered without it.

use std::sync::Arc;

use ample_budget::Budget;

use super::{Maybe, SetError, Size, stack};
use crate::table::{self, FIRST_CACHE, MAX_CACHE, NONE};

/// The number of a node.
pub(super) type Id = u32;

/// The empty set.
pub(super) const EMPTY: Id = 0;
/// The set of the empty sequence: where the levels end.
pub(super) const END: Id = 1;
/// As a limit, everything: above the last level no other node has this number, and behind it there is only the end.
pub(super) const ANY: Id = END;

/// With fewer nodes no garbage is collected.
const FIRST_COLLECTION: usize = 2_000_000;
/// How often the room between two collections is doubled.
const MOST_DOUBLINGS: usize = 6;
/// Bits of a remembered operation that say which one it is; the others say with what.
const KIND_BITS: u32 = 5;

/// An operation whose results are remembered.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Kind {
    Union,
    Minus,
    Intersect,
    Subset,
    Fire,
    Disabled,
    CanFire,
    Image,
    Dead,
    Saturate,
    FireSaturated,
}

/// An operation with what it needs beside its operands: the number of an event or of a group.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct What(u32);

impl What {
    pub const LIMIT: u32 = 1 << (32 - KIND_BITS);

    #[inline]
    pub fn new(kind: Kind, with: u32) -> What {
        What(kind as u32 | with << KIND_BITS)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Node {
    pub value: u32,
    pub down: Id,
    pub right: Id,
    /// The next node of the same bucket, or of the free list.
    next: u32,
}

impl table::Node for Node {
    const TERMINALS: usize = 2;

    fn free(next: u32) -> Node {
        Node { value: NONE, down: EMPTY, right: EMPTY, next }
    }

    /// A node that is in use has something below.
    fn is_free(&self) -> bool {
        self.down == EMPTY
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
    fn new([value, down, right]: [u32; 3], next: u32) -> Node {
        Node { value, down, right, next }
    }

    #[inline]
    fn key(&self) -> [u32; 3] {
        [self.value, self.down, self.right]
    }

    fn children(&self) -> [u32; 2] {
        [self.down, self.right]
    }
}

/// A node in the making, on the stack of lists: a value with what follows it, and two nodes that the operation that
/// makes the list needs again. All three survive a collection of garbage.
#[derive(Clone, Copy)]
pub(super) struct Item {
    pub value: u32,
    pub down: Id,
    pub f: Id,
    pub g: Id,
}

/// What handles hold. The table has one reference, every handle another.
#[derive(Debug)]
pub(super) struct Root {
    pub node: Id,
    /// Which table it is in.
    pub table: u64,
}

/// All that sets share.
pub(super) struct Table {
    /// A result is remembered under the operation and two operands.
    pub nodes: table::Table<Node, 3>,
    collect_at: usize,
    roots: Vec<Arc<Root>>,
    compact_at: usize,
    /// Lists in the making, of all operations under way.
    pub lists: Vec<Item>,
    /// Operands of operations under way that may collect garbage.
    pub protected: Vec<Id>,
    /// Below this address the stack of calls must not grow.
    floor: usize,
    number: u64,
}

impl Table {
    pub fn new(number: u64, max_nodes: usize, budget: Budget) -> Table {
        let max_nodes = max_nodes.min(1 << 31);
        // With its buckets a node takes 20 to 24 bytes; the cache should not take more than all nodes do.
        let max_cache = max_nodes.next_power_of_two().clamp(FIRST_CACHE, MAX_CACHE);
        let nodes: table::Table<Node, 3> =
            table::Table::new(table::Node::free(NONE), max_nodes, (FIRST_CACHE, max_cache), budget);
        let collect_at = FIRST_COLLECTION.min(nodes.max_nodes() / 4 * 3);
        Table {
            nodes,
            collect_at,
            roots: Vec::new(),
            compact_at: 1 << 10,
            lists: Vec::new(),
            protected: Vec::new(),
            floor: 0,
            number,
        }
    }

    pub fn size(&self) -> Size {
        self.nodes.size()
    }

    pub fn number(&self) -> u64 {
        self.number
    }

    /// A handle's share of a node.
    pub fn root(&mut self, node: Id) -> Arc<Root> {
        if self.roots.len() >= self.compact_at {
            self.forget_dropped_roots();
        }
        let root = Arc::new(Root { node, table: self.number });
        self.roots.push(Arc::clone(&root));
        root
    }

    /// Only the table knows a root of which no handle is left, so nobody can take it up again.
    fn forget_dropped_roots(&mut self) {
        self.roots.retain(|root| Arc::strong_count(root) > 1);
        self.compact_at = (self.roots.len() * 2).max(1 << 10);
    }

    #[inline]
    pub fn node(&self, id: Id) -> Node {
        self.nodes.nodes[id as usize]
    }

    /// The node; `right` begins with a larger value. Without anything below it is left out.
    #[inline]
    pub fn make(&mut self, value: u32, down: Id, right: Id) -> Maybe<Id> {
        if down == EMPTY {
            return Ok(right);
        }
        self.nodes.unique(value, down, right)
    }

    #[inline]
    pub fn recall(&self, what: What, f: Id, g: Id) -> Option<Id> {
        self.nodes.cache.recall([what.0, f, g])
    }

    #[inline]
    pub fn remember(&mut self, what: What, f: Id, g: Id, result: Id) {
        self.nodes.cache.remember_growing([what.0, f, g], result);
    }

    /// Called once for every step of a recursion that is real work.
    #[inline]
    pub fn look(&mut self) -> Maybe<()> {
        self.nodes.look()
    }

    /// Called where a recursion goes one level down.
    #[inline]
    pub fn descend(&self) -> Maybe<()> {
        if stack::here() < self.floor { Err(SetError::Depth) } else { Ok(()) }
    }

    /// Adds to the list in the making. Lists are as bounded as nodes are.
    #[inline]
    pub fn push(&mut self, value: u32, down: Id, f: Id, g: Id) -> Maybe<()> {
        if self.lists.len() >= self.nodes.max_nodes() {
            return Err(SetError::Memory);
        }
        self.lists.push(Item { value, down, f, g });
        Ok(())
    }

    /// The list above `base` as nodes, before `rest`.
    pub fn build(&mut self, base: usize, rest: Id) -> Maybe<Id> {
        let mut list = rest;
        for at in (base..self.lists.len()).rev() {
            let item = self.lists[at];
            list = self.make(item.value, item.down, list)?;
        }
        self.lists.truncate(base);
        Ok(list)
    }

    /// The same, and the result of every rest of the list is remembered under the two nodes of its item.
    pub fn build_remembered(&mut self, base: usize, rest: Id, what: What) -> Maybe<Id> {
        let mut list = rest;
        for at in (base..self.lists.len()).rev() {
            let item = self.lists[at];
            list = self.make(item.value, item.down, list)?;
            self.remember(what, item.f, item.g, list);
        }
        self.lists.truncate(base);
        Ok(list)
    }

    /// What follows a value in a list; `EMPTY` if it is not there.
    #[inline]
    pub fn follow(&self, list: Id, value: u32) -> Id {
        let mut at = list;
        while at > END {
            let node = &self.nodes.nodes[at as usize];
            if node.value >= value {
                return if node.value == value { node.down } else { EMPTY };
            }
            at = node.right;
        }
        EMPTY
    }

    /// The same for a limit.
    #[inline]
    pub fn follow_limit(&self, limit: Id, value: u32) -> Id {
        if limit == ANY { ANY } else { self.follow(limit, value) }
    }

    /// Before an operation: nothing is under way.
    pub fn enter(&mut self) -> Maybe<()> {
        self.lists.clear();
        self.protected.clear();
        self.floor = stack::floor();
        if self.nodes.budget.is_cancelled() {
            return Err(SetError::Cancelled);
        }
        self.tidy();
        Ok(())
    }

    /// Collects garbage where it is time. Only what handles, lists and `protected` hold is left.
    #[inline]
    pub fn tidy(&mut self) {
        if self.nodes.used() > self.collect_at {
            self.collect();
        }
    }

    #[cold]
    pub fn collect(&mut self) {
        self.forget_dropped_roots();
        let roots = self.roots.iter().map(|root| root.node);
        let listed = self.lists.iter().flat_map(|item| [item.down, item.f, item.g]);
        let marked = self.nodes.marked(roots.chain(self.protected.iter().copied()).chain(listed));
        self.nodes.collect(&marked);
        let is_there = |id: Id| marked[id as usize];
        self.nodes.cache.retain(|[_, f, g], result| is_there(*f) && is_there(*g) && is_there(result));
        // What is thrown away may have to be made again, with all the results that led to it: each time there is twice as
        // much room before the next collection. A table that is nearly full of what is needed would be collected for every
        // few nodes; it is rather given up when it is full.
        let size = self.nodes.size();
        let room = self.nodes.max_nodes().saturating_sub(size.nodes);
        let more = size.nodes.max(FIRST_COLLECTION << size.collections.min(MOST_DOUBLINGS));
        self.collect_at = if self.has_room() { size.nodes + (room / 4 * 3).min(more) } else { usize::MAX };
    }

    /// After collecting garbage: it is worth going on.
    pub fn has_room(&self) -> bool {
        self.nodes.used() <= self.nodes.max_nodes() / 4 * 3
    }
}
