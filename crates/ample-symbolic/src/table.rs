//! The table of nodes that both kinds of diagrams are made of: every node once, a cache of results, garbage collection, a
//! limit on the number of nodes, and interruption.
//!
//! What a node is, which nodes are still needed, and when it is time to collect the others is for the kind of diagrams to
//! say ([`diagram`](crate::diagram), [`lists`](crate::lists)); how they are found, kept and thrown away is the same.

use ample_budget::{Budget, Progress};

use crate::error::{Maybe, SetError};

/// Bytes for each node, with its share of the tables and caches.
pub const NODE_BYTES: usize = 40;

/// No node.
pub(crate) const NONE: u32 = u32::MAX;
/// How much work is done between two looks at whether it should go on.
const LOOK_EVERY: u64 = 1 << 13;
/// Tables begin with so many buckets.
const FIRST_SIZE: usize = 1 << 12;
/// So the cache does.
pub(crate) const FIRST_CACHE: usize = 1 << 14;
/// A cache is never larger than this.
pub(crate) const MAX_CACHE: usize = 1 << 24;

/// A node of some kind of diagrams. The first numbers are those of terminals, which are in no bucket.
pub(crate) trait Node: Copy {
    /// How many terminals there are.
    const TERMINALS: usize;

    /// A node that is not in use, with the number of the next such one.
    fn free(next: u32) -> Self;

    /// It is not in use.
    fn is_free(&self) -> bool;

    /// The next node of the same bucket, or of the free list.
    fn next(&self) -> u32;

    /// Sets that.
    fn set_next(&mut self, next: u32);

    /// The node with this key, before the next one of its bucket.
    fn new(key: [u32; 3], next: u32) -> Self;

    /// What tells it from all others.
    fn key(&self) -> [u32; 3];

    /// The numbers of the nodes that it refers to.
    fn children(&self) -> [u32; 2];
}

/// How large a table is and was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Nodes in use or not yet collected.
    pub nodes: usize,
    /// The largest number that there was at once.
    pub peak: usize,
    /// How often garbage was collected.
    pub collections: usize,
    /// How often the variables were moved.
    pub reorderings: usize,
}

/// A remembered result: the operation with its operands, and what it gave.
#[derive(Clone, Copy)]
struct Entry<const K: usize> {
    key: [u32; K],
    result: u32,
}

impl<const K: usize> Entry<K> {
    const VACANT: Entry<K> = Entry { key: [NONE; K], result: NONE };

    #[inline]
    fn is_vacant(&self) -> bool {
        self.key[0] == NONE
    }

    /// Operands differ more often than operations do. One number after the other: put together for one comparison, keys
    /// would be written to memory and read again.
    #[inline]
    fn is_of(&self, key: &[u32; K]) -> bool {
        (1..K).all(|part| self.key[part] == key[part]) && self.key[0] == key[0]
    }
}

/// Results of operations, of `K` numbers each with the operation. A result may be forgotten for another one.
pub(crate) struct Cache<const K: usize> {
    entries: Vec<Entry<K>>,
    /// At most so many entries.
    max: usize,
    /// Results that made others be forgotten since the cache has had its size.
    forgotten: usize,
}

impl<const K: usize> Cache<K> {
    fn new(size: usize, max: usize) -> Cache<K> {
        Cache { entries: vec![Entry::VACANT; size], max, forgotten: 0 }
    }

    /// At most so many bytes from now on.
    pub fn limit(&mut self, bytes: usize) {
        self.max = (bytes / size_of::<Entry<K>>()).clamp(self.entries.len(), MAX_CACHE);
    }

    #[inline]
    fn place(&self, key: &[u32; K]) -> usize {
        let mut first = key[0];
        for more in &key[3..] {
            first ^= more.wrapping_mul(0x9e37_79b1);
        }
        hash(first, key[1], key[2]) & (self.entries.len() - 1)
    }

    #[inline]
    pub fn recall(&self, key: [u32; K]) -> Option<u32> {
        let entry = &self.entries[self.place(&key)];
        entry.is_of(&key).then_some(entry.result)
    }

    /// Remembers a result; says whether another one was forgotten for it.
    #[inline]
    pub fn remember(&mut self, key: [u32; K], result: u32) -> bool {
        let place = self.place(&key);
        !std::mem::replace(&mut self.entries[place], Entry { key, result }).is_vacant()
    }

    /// The same; the cache grows if it forgets too much, since few nodes may have many results.
    #[inline]
    pub fn remember_growing(&mut self, key: [u32; K], result: u32) {
        if self.remember(key, result) {
            self.forgotten += 1;
            if self.forgotten > self.entries.len() {
                self.grow(self.entries.len() * 2);
            }
        }
    }

    #[cold]
    fn grow(&mut self, size: usize) {
        if size <= self.entries.len() {
            return;
        }
        self.forgotten = 0;
        if size > self.max {
            return;
        }
        let before = std::mem::replace(&mut self.entries, vec![Entry::VACANT; size]);
        for entry in before.into_iter().filter(|entry| !entry.is_vacant()) {
            let place = self.place(&entry.key);
            self.entries[place] = entry;
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.entries.fill(Entry::VACANT);
    }

    /// Forgets all results but these.
    pub fn retain(&mut self, keeps: impl Fn(&[u32; K], u32) -> bool) {
        for entry in self.entries.iter_mut().filter(|entry| !entry.is_vacant()) {
            if !keeps(&entry.key, entry.result) {
                *entry = Entry::VACANT;
            }
        }
    }
}

/// Nodes, each once, and results of operations on them.
pub(crate) struct Table<N, const K: usize> {
    /// The nodes by their numbers; those that are not in use among them.
    pub nodes: Vec<N>,
    buckets: Vec<u32>,
    free: u32,
    used: usize,
    peak: usize,
    collections: usize,
    max_nodes: usize,
    pub cache: Cache<K>,
    /// What operations may take, and who hears of them.
    pub budget: Budget,
    work: u64,
}

impl<N: Node, const K: usize> Table<N, K> {
    /// With these terminals and at most so many nodes; operations ask the budget.
    pub fn new(terminal: N, max_nodes: usize, cache: (usize, usize), budget: Budget) -> Table<N, K> {
        Table {
            nodes: vec![terminal; N::TERMINALS],
            buckets: vec![NONE; FIRST_SIZE],
            free: NONE,
            used: N::TERMINALS,
            peak: N::TERMINALS,
            collections: 0,
            max_nodes: max_nodes.max(FIRST_SIZE),
            cache: Cache::new(cache.0, cache.1),
            budget,
            work: 0,
        }
    }

    /// At most so many nodes from now on.
    pub fn set_max_nodes(&mut self, max_nodes: usize) {
        self.max_nodes = max_nodes.max(FIRST_SIZE);
    }

    #[inline]
    pub fn max_nodes(&self) -> usize {
        self.max_nodes
    }

    /// How many nodes are in use or not yet collected.
    #[inline]
    pub fn used(&self) -> usize {
        self.used
    }

    pub fn size(&self) -> Size {
        Size { nodes: self.used, peak: self.peak, collections: self.collections, reorderings: 0 }
    }

    /// The number of the node with the key `x, y, z`. The parts of the key are handed over one by one, and so compared: a
    /// node would be handed over in memory.
    pub fn unique(&mut self, x: u32, y: u32, z: u32) -> Maybe<u32> {
        let hashed = hash(x, y, z);
        let mut bucket = hashed & (self.buckets.len() - 1);
        let mut at = self.buckets[bucket];
        while at != NONE {
            let known = &self.nodes[at as usize];
            let [a, b, c] = known.key();
            if b == y && c == z && a == x {
                return Ok(at);
            }
            at = known.next();
        }
        if self.used >= self.max_nodes {
            return Err(SetError::Memory);
        }
        if self.used > self.buckets.len() {
            self.grow();
            bucket = hashed & (self.buckets.len() - 1);
        }
        let node = N::new([x, y, z], self.buckets[bucket]);
        let number = match self.free {
            NONE => {
                if self.nodes.len() == self.nodes.capacity() {
                    self.reserve();
                }
                self.nodes.push(node);
                self.nodes.len() as u32 - 1
            }
            free => {
                self.free = self.nodes[free as usize].next();
                self.nodes[free as usize] = node;
                free
            }
        };
        self.buckets[bucket] = number;
        self.used += 1;
        self.peak = self.peak.max(self.used);
        Ok(number)
    }

    /// Twice as many, as vectors do, but no more than there will be.
    #[cold]
    fn reserve(&mut self) {
        let more = self.max_nodes.saturating_sub(self.nodes.len());
        self.nodes.reserve_exact(more.clamp(1, self.nodes.len().max(FIRST_SIZE)));
    }

    #[cold]
    fn grow(&mut self) {
        let size = self.buckets.len() * 2;
        self.rehash(size);
        self.cache.grow(size * 2);
    }

    /// All nodes into a new set of buckets.
    fn rehash(&mut self, size: usize) {
        self.buckets.clear();
        self.buckets.resize(size, NONE);
        for (number, node) in self.nodes.iter_mut().enumerate().skip(N::TERMINALS) {
            if !node.is_free() {
                let key = node.key();
                let bucket = hash(key[0], key[1], key[2]) & (size - 1);
                node.set_next(std::mem::replace(&mut self.buckets[bucket], number as u32));
            }
        }
    }

    /// Which nodes these refer to, directly or not, with their own numbers.
    pub fn marked(&self, roots: impl Iterator<Item = u32>) -> Vec<bool> {
        let mut marked = vec![false; self.nodes.len()];
        marked[..N::TERMINALS].fill(true);
        let mut open: Vec<u32> = roots.collect();
        while let Some(number) = open.pop() {
            let mut at = number;
            while !std::mem::replace(&mut marked[at as usize], true) {
                let [first, second] = self.nodes[at as usize].children();
                open.push(first);
                at = second;
            }
        }
        marked
    }

    /// Frees all nodes that are not marked. Results that speak of them have to be forgotten.
    pub fn collect(&mut self, marked: &[bool]) {
        self.free = NONE;
        self.used = N::TERMINALS;
        for number in (N::TERMINALS..self.nodes.len()).rev() {
            if marked[number] {
                self.used += 1;
            } else {
                self.nodes[number] = N::free(self.free);
                self.free = number as u32;
            }
        }
        self.rehash(self.buckets.len());
        self.collections += 1;
    }

    /// How many steps recursions have taken.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// Called once for every step of a recursion that is real work.
    #[inline]
    pub fn look(&mut self) -> Maybe<()> {
        self.work = self.work.wrapping_add(1);
        if self.work.is_multiple_of(LOOK_EVERY) { self.look_now() } else { Ok(()) }
    }

    /// An error if it should end.
    #[cold]
    pub fn look_now(&mut self) -> Maybe<()> {
        let nodes = self.used as u64;
        let progress = Progress { nodes, memory: nodes * NODE_BYTES as u64, ..Progress::default() };
        Ok(self.budget.report(&progress)?)
    }
}

#[inline]
fn hash(x: u32, y: u32, z: u32) -> usize {
    let mixed = (u64::from(x) << 32 | u64::from(y)).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(z);
    let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed ^ mixed >> 32) as usize
}
