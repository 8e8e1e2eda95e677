//! The table of nodes: unique nodes, a cache of results, and sweeping.
//!
//! A node is a value, what follows it (`down`), and the node with the next larger value (`right`). Node 0 is the empty
//! set, node 1 the set of the empty sequence. All ways from a node to node 1 have the same length, so a node belongs to
//! one level, and results are remembered without it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Maybe, SetError, Size, stack};

/// The number of a node.
pub(super) type Id = u32;

/// The empty set.
pub(super) const EMPTY: Id = 0;
/// The set of the empty sequence: where the levels end.
pub(super) const END: Id = 1;
/// As a limit, everything: above the last level no other node has this number, and behind it there is only the end.
pub(super) const ANY: Id = END;

/// No node.
const NONE: u32 = u32::MAX;
/// How much work is done between two looks at whether it should go on.
const LOOK_EVERY: u32 = 1 << 13;
/// Tables begin with so many entries.
const FIRST_SIZE: usize = 1 << 12;
/// So the cache does.
const FIRST_CACHE: usize = 1 << 14;
/// With fewer nodes nothing is swept away.
const FIRST_SWEEP: usize = 2_000_000;
/// How often the room between two sweeps is doubled.
const MOST_DOUBLINGS: usize = 6;
/// A cache is never larger than this.
const MAX_CACHE: usize = 1 << 24;
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

/// A remembered result.
#[derive(Clone, Copy)]
struct Entry {
    what: u32,
    f: Id,
    g: Id,
    result: Id,
}

const VACANT: Entry = Entry { what: NONE, f: NONE, g: NONE, result: NONE };

/// A node in the making, on the stack of lists: a value with what follows it, and two nodes that the operation that
/// makes the list needs again. All three survive a sweep.
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

/// Gets to see how large the table is, now and then during long operations.
pub(super) type Watch = Box<dyn FnMut(Size) + Send>;

/// All that sets share.
pub(super) struct Table {
    nodes: Vec<Node>,
    buckets: Vec<u32>,
    free: u32,
    used: usize,
    peak: usize,
    sweeps: usize,
    cache: Vec<Entry>,
    max_cache: usize,
    /// Results that made others be forgotten since the cache has had its size.
    forgotten: usize,
    max_nodes: usize,
    sweep_at: usize,
    roots: Vec<Arc<Root>>,
    compact_at: usize,
    /// Lists in the making, of all operations under way.
    pub lists: Vec<Item>,
    /// Operands of operations under way that may sweep.
    pub protected: Vec<Id>,
    stop: Arc<AtomicBool>,
    pub watch: Option<Watch>,
    work: u32,
    /// Below this address the stack of calls must not grow.
    floor: usize,
    number: u64,
}

impl Table {
    pub fn new(number: u64, max_nodes: usize, stop: Arc<AtomicBool>) -> Table {
        let end = Node { value: NONE, down: EMPTY, right: EMPTY, next: NONE };
        let max_nodes = max_nodes.clamp(FIRST_SIZE, 1 << 31);
        Table {
            nodes: vec![end, end],
            buckets: vec![NONE; FIRST_SIZE],
            free: NONE,
            used: 2,
            peak: 2,
            sweeps: 0,
            cache: vec![VACANT; FIRST_CACHE],
            // With its buckets a node takes 20 to 24 bytes; the cache should not take more than all nodes do.
            max_cache: max_nodes.next_power_of_two().clamp(FIRST_CACHE, MAX_CACHE),
            forgotten: 0,
            max_nodes,
            sweep_at: FIRST_SWEEP.min(max_nodes / 4 * 3),
            roots: Vec::new(),
            compact_at: 1 << 10,
            lists: Vec::new(),
            protected: Vec::new(),
            stop,
            watch: None,
            work: 0,
            floor: 0,
            number,
        }
    }

    pub fn size(&self) -> Size {
        Size { nodes: self.used, peak: self.peak, sweeps: self.sweeps }
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
        self.nodes[id as usize]
    }

    /// The node; `right` begins with a larger value. Without anything below it is left out.
    #[inline]
    pub fn make(&mut self, value: u32, down: Id, right: Id) -> Maybe<Id> {
        if down == EMPTY {
            return Ok(right);
        }
        let mut bucket = hash(value, down, right) & (self.buckets.len() - 1);
        let mut at = self.buckets[bucket];
        while at != NONE {
            let node = &self.nodes[at as usize];
            if node.down == down && node.right == right && node.value == value {
                return Ok(at);
            }
            at = node.next;
        }
        if self.used >= self.max_nodes {
            return Err(SetError::Memory);
        }
        if self.used > self.buckets.len() {
            self.grow();
            bucket = hash(value, down, right) & (self.buckets.len() - 1);
        }
        let node = Node { value, down, right, next: self.buckets[bucket] };
        let number = match self.free {
            NONE => {
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
        Ok(number)
    }

    #[cold]
    fn grow(&mut self) {
        let size = self.buckets.len() * 2;
        self.rehash(size);
        if self.cache.len() < size * 2 {
            self.grow_cache(size * 2);
        }
    }

    /// Few nodes may have many results, where there are many events.
    #[cold]
    fn grow_cache(&mut self, size: usize) {
        self.forgotten = 0;
        if size > self.max_cache {
            return;
        }
        let before = std::mem::replace(&mut self.cache, vec![VACANT; size]);
        for entry in before.into_iter().filter(|entry| entry.what != NONE) {
            self.cache[hash(entry.what, entry.f, entry.g) & (size - 1)] = entry;
        }
    }

    /// All nodes into a new set of buckets. Free nodes have nothing below.
    fn rehash(&mut self, size: usize) {
        self.buckets.clear();
        self.buckets.resize(size, NONE);
        for (number, node) in self.nodes.iter_mut().enumerate() {
            if node.down != EMPTY {
                let bucket = hash(node.value, node.down, node.right) & (size - 1);
                node.next = std::mem::replace(&mut self.buckets[bucket], number as u32);
            }
        }
    }

    #[inline]
    pub fn recall(&self, what: What, f: Id, g: Id) -> Option<Id> {
        let entry = &self.cache[hash(what.0, f, g) & (self.cache.len() - 1)];
        (entry.f == f && entry.g == g && entry.what == what.0).then_some(entry.result)
    }

    #[inline]
    pub fn remember(&mut self, what: What, f: Id, g: Id, result: Id) {
        let place = hash(what.0, f, g) & (self.cache.len() - 1);
        let before = std::mem::replace(&mut self.cache[place], Entry { what: what.0, f, g, result });
        if before.what != NONE {
            self.forgotten += 1;
            if self.forgotten > self.cache.len() {
                self.grow_cache(self.cache.len() * 2);
            }
        }
    }

    /// Called once for every step of a recursion that is real work.
    #[inline]
    pub fn look(&mut self) -> Maybe<()> {
        self.work = self.work.wrapping_add(1);
        if self.work.is_multiple_of(LOOK_EVERY) { self.look_up() } else { Ok(()) }
    }

    #[cold]
    fn look_up(&mut self) -> Maybe<()> {
        if let Some(watch) = &mut self.watch {
            watch(Size { nodes: self.used, peak: self.peak, sweeps: self.sweeps });
        }
        if self.stop.load(Ordering::Relaxed) { Err(SetError::Cancelled) } else { Ok(()) }
    }

    /// Called where a recursion goes one level down.
    #[inline]
    pub fn descend(&self) -> Maybe<()> {
        if stack::here() < self.floor { Err(SetError::Depth) } else { Ok(()) }
    }

    /// Adds to the list in the making. Lists are as bounded as nodes are.
    #[inline]
    pub fn push(&mut self, value: u32, down: Id, f: Id, g: Id) -> Maybe<()> {
        if self.lists.len() >= self.max_nodes {
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
            let node = &self.nodes[at as usize];
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
        if self.stop.load(Ordering::Relaxed) {
            return Err(SetError::Cancelled);
        }
        self.tidy();
        Ok(())
    }

    /// Sweeps where it is time. Only what handles, lists and `protected` hold is left.
    #[inline]
    pub fn tidy(&mut self) {
        if self.used > self.sweep_at {
            self.sweep();
        }
    }

    #[cold]
    pub fn sweep(&mut self) {
        self.forget_dropped_roots();
        let marked = self.mark();
        self.free = NONE;
        self.used = 2;
        for number in (2..self.nodes.len()).rev() {
            if marked[number] {
                self.used += 1;
            } else {
                self.nodes[number] = Node { value: NONE, down: EMPTY, right: EMPTY, next: self.free };
                self.free = number as u32;
            }
        }
        self.rehash(self.buckets.len());
        let is_there = |id: Id| marked[id as usize];
        for entry in self.cache.iter_mut().filter(|entry| entry.what != NONE) {
            if !(is_there(entry.f) && is_there(entry.g) && is_there(entry.result)) {
                *entry = VACANT;
            }
        }
        self.sweeps += 1;
        // What is swept away may have to be made again, with all the results that led to it: each time there is twice as
        // much room before the next one. A table that is nearly full of what is needed would be swept for every few
        // nodes; it is rather given up when it is full.
        let room = self.max_nodes.saturating_sub(self.used);
        let more = self.used.max(FIRST_SWEEP << self.sweeps.min(MOST_DOUBLINGS));
        self.sweep_at = if self.has_room() { self.used + (room / 4 * 3).min(more) } else { usize::MAX };
    }

    /// After sweeping: it is worth going on.
    pub fn has_room(&self) -> bool {
        self.used <= self.max_nodes / 4 * 3
    }

    fn mark(&self) -> Vec<bool> {
        let mut marked = vec![false; self.nodes.len()];
        marked[EMPTY as usize] = true;
        marked[END as usize] = true;
        let mut open: Vec<Id> = self.roots.iter().map(|root| root.node).collect();
        open.extend(&self.protected);
        open.extend(self.lists.iter().flat_map(|item| [item.down, item.f, item.g]));
        while let Some(id) = open.pop() {
            let mut at = id;
            while !std::mem::replace(&mut marked[at as usize], true) {
                let node = &self.nodes[at as usize];
                open.push(node.down);
                at = node.right;
            }
        }
        marked
    }
}

#[inline]
fn hash(x: u32, y: u32, z: u32) -> usize {
    let mixed = (u64::from(x) << 32 | u64::from(y)).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(z);
    let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed ^ mixed >> 32) as usize
}
