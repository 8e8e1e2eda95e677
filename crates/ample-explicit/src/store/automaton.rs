//! The visited set as a minimal deterministic automaton (G. J. Holzmann, A. Puri: A minimized automaton representation of
//! reachable states, 1999).
//!
//! The automaton reads a state byte by byte and accepts those that were seen. It has one path for each of them, and no two
//! of its nodes accept the same rest, so that states share what they have in common at both ends. A state is added by
//! making new nodes along its path, where a node that exists already is used again, and dropping those that no path
//! needs any more; so the automaton is minimal at all times.
//!
//! States of different lengths have roots of their own; below them, nodes are shared.

use super::set::{Entry, StateSet, mix};

/// The node at which all states end; it has no edges.
const END: u32 = 0;
/// No node.
const NONE: u32 = u32::MAX;

/// A node: its edges, which lie sorted by their bytes in the lists of all edges.
#[derive(Clone, Copy)]
struct Node {
    start: u32,
    size: u16,
    /// How many edges and roots lead to it. Of a free one: zero, and `start` is the next free one.
    references: u32,
    hash: u32,
}

/// A set of states as a minimal automaton.
///
/// ```
/// use ample_explicit::store::{AutomatonSet, Entry, StateSet};
///
/// let mut set = AutomatonSet::new();
/// for state in [b"abba", b"acca", b"bbba", b"bcca"] {
///     assert_eq!(set.insert(state, 0), Entry::New);
/// }
/// assert!(set.contains(b"acca") && !set.contains(b"bbca"));
/// // After the first byte all that counts is whether the middle is `bb` or `cc`.
/// assert_eq!(set.nodes(), 6);
/// ```
pub struct AutomatonSet {
    nodes: Vec<Node>,
    /// The first free node.
    free_node: u32,
    used_nodes: usize,
    labels: Vec<u8>,
    targets: Vec<u32>,
    /// For each number of edges: where some lie that are not used. The next place is the target of the first one.
    free_edges: Vec<u32>,
    /// Nodes by their edges, with linear probing.
    register: Vec<u32>,
    /// The root of states of each length.
    roots: Vec<u32>,
    len: usize,
    limit: usize,
    path: Vec<u32>,
    edited: Vec<(u8, u32)>,
    unreferenced: Vec<u32>,
}

impl Default for AutomatonSet {
    fn default() -> Self {
        AutomatonSet::new()
    }
}

impl AutomatonSet {
    /// An empty set.
    pub fn new() -> AutomatonSet {
        AutomatonSet {
            nodes: vec![Node { start: 0, size: 0, references: 1, hash: 0 }],
            free_node: NONE,
            used_nodes: 1,
            labels: Vec::new(),
            targets: Vec::new(),
            free_edges: vec![NONE; 257],
            register: vec![NONE; 64],
            roots: Vec::new(),
            len: 0,
            limit: usize::MAX,
            path: Vec::new(),
            edited: Vec::new(),
            unreferenced: Vec::new(),
        }
    }

    /// How many nodes the automaton has, the last one included.
    pub fn nodes(&self) -> usize {
        self.used_nodes
    }

    /// Where the edges of a node lie.
    #[inline]
    fn edges(&self, node: u32) -> std::ops::Range<usize> {
        let Node { start, size, .. } = self.nodes[node as usize];
        start as usize..start as usize + size as usize
    }

    /// Where an edge of a node leads to.
    #[inline]
    fn target(&self, node: u32, label: u8) -> Option<u32> {
        let edges = self.edges(node);
        let place = self.labels[edges.clone()].iter().position(|&other| other == label)?;
        Some(self.targets[edges.start + place])
    }

    fn root(&self, length: usize) -> u32 {
        self.roots.get(length).copied().unwrap_or(NONE)
    }

    /// The node with the edges in `edited`, which gets one more reference. A node that is new refers to its targets.
    fn node(&mut self) -> Option<u32> {
        let hash = hash_of(self.edited.iter().copied());
        let mask = self.register.len() - 1;
        let mut place = hash as usize & mask;
        while self.register[place] != NONE {
            let node = self.register[place];
            if self.nodes[node as usize].hash == hash && self.is_edited(node) {
                self.nodes[node as usize].references += 1;
                return Some(node);
            }
            place = (place + 1) & mask;
        }
        let start = self.take_edges()?;
        for index in 0..self.edited.len() {
            let (label, target) = self.edited[index];
            self.labels[start as usize + index] = label;
            self.targets[start as usize + index] = target;
            self.nodes[target as usize].references += 1;
        }
        let node = Node { start, size: self.edited.len() as u16, references: 1, hash };
        let number = match self.free_node {
            NONE => {
                self.nodes.push(node);
                u32::try_from(self.nodes.len() - 1).ok().filter(|&number| number != NONE)?
            }
            free => {
                self.free_node = self.nodes[free as usize].start;
                self.nodes[free as usize] = node;
                free
            }
        };
        self.used_nodes += 1;
        self.register[place] = number;
        if self.used_nodes > self.register.len() / 4 * 3 {
            self.rehash();
        }
        Some(number)
    }

    fn is_edited(&self, node: u32) -> bool {
        let edges = self.edges(node);
        edges.len() == self.edited.len()
            && edges.zip(&self.edited).all(|(place, &edge)| (self.labels[place], self.targets[place]) == edge)
    }

    #[cold]
    fn rehash(&mut self) {
        let size = 2 * self.register.len();
        let old = std::mem::replace(&mut self.register, vec![NONE; size]);
        for node in old.into_iter().filter(|&node| node != NONE) {
            let mut place = self.nodes[node as usize].hash as usize & (size - 1);
            while self.register[place] != NONE {
                place = (place + 1) & (size - 1);
            }
            self.register[place] = node;
        }
    }

    /// Room for the edges in `edited`.
    fn take_edges(&mut self) -> Option<u32> {
        let size = self.edited.len();
        match self.free_edges[size] {
            NONE => {
                let start = u32::try_from(self.labels.len()).ok().filter(|&start| start < NONE - 256)?;
                self.labels.resize(self.labels.len() + size, 0);
                self.targets.resize(self.targets.len() + size, 0);
                Some(start)
            }
            free => {
                self.free_edges[size] = self.targets[free as usize];
                Some(free)
            }
        }
    }

    /// Takes a reference to a node away, and the node with all that it alone refers to if it was the last.
    fn release(&mut self, node: u32) {
        self.unreferenced.push(node);
        while let Some(node) = self.unreferenced.pop() {
            let entry = &mut self.nodes[node as usize];
            entry.references -= 1;
            if entry.references > 0 {
                continue;
            }
            self.unregister(node);
            let edges = self.edges(node);
            self.unreferenced.extend_from_slice(&self.targets[edges.clone()]);
            self.targets[edges.start] = std::mem::replace(&mut self.free_edges[edges.len()], edges.start as u32);
            self.nodes[node as usize] =
                Node { start: std::mem::replace(&mut self.free_node, node), size: 0, references: 0, hash: 0 };
            self.used_nodes -= 1;
        }
    }

    /// Takes a node out of the register, and moves those behind it up.
    fn unregister(&mut self, node: u32) {
        let mask = self.register.len() - 1;
        let mut hole = self.nodes[node as usize].hash as usize & mask;
        while self.register[hole] != node {
            hole = (hole + 1) & mask;
        }
        let mut place = hole;
        loop {
            place = (place + 1) & mask;
            let other = self.register[place];
            if other == NONE {
                break;
            }
            let home = self.nodes[other as usize].hash as usize & mask;
            // It may move if the hole is not before the place where its search begins.
            if (place.wrapping_sub(home) & mask) >= (place.wrapping_sub(hole) & mask) {
                self.register[hole] = other;
                hole = place;
            }
        }
        self.register[hole] = NONE;
    }

    /// Adds a state that is not there. `path` are the nodes that it leads to as far as there are any, the root first.
    fn add(&mut self, state: &[u8]) -> Option<()> {
        let known = self.path.len();
        // From the end to the front: the node of the rest behind each byte.
        let mut below = END;
        for index in (0..state.len()).rev() {
            self.edited.clear();
            if index < known {
                let edges = self.edges(self.path[index]);
                let old = edges.map(|place| (self.labels[place], self.targets[place]));
                self.edited.extend(old);
            }
            match self.edited.binary_search_by_key(&state[index], |&(label, _)| label) {
                Ok(place) => self.edited[place].1 = below,
                Err(place) => self.edited.insert(place, (state[index], below)),
            }
            let node = self.node()?;
            // The node has a reference to it now, and it was counted once more when it was made.
            if below != END {
                self.nodes[below as usize].references -= 1;
            }
            below = node;
        }
        if self.roots.len() <= state.len() {
            self.roots.resize(state.len() + 1, NONE);
        }
        let old = std::mem::replace(&mut self.roots[state.len()], below);
        if old != NONE {
            self.release(old);
        }
        self.len += 1;
        Some(())
    }
}

fn hash_of(edges: impl Iterator<Item = (u8, u32)>) -> u32 {
    edges.fold(0, |hash, (label, target)| mix(hash ^ u64::from(target) << 8 ^ u64::from(label))) as u32
}

impl StateSet for AutomatonSet {
    const IS_SLOW: bool = true;

    #[inline]
    fn signature(&mut self, _: &[u8]) -> u64 {
        0
    }

    fn insert(&mut self, state: &[u8], _: u64) -> Entry {
        self.path.clear();
        let mut node = self.root(state.len());
        if node != NONE {
            self.path.push(node);
            for &byte in state {
                match self.target(node, byte) {
                    Some(next) => node = next,
                    None => break,
                }
                self.path.push(node);
            }
            if self.path.len() > state.len() {
                return Entry::Seen;
            }
        }
        if self.bytes() > self.limit {
            return Entry::Full;
        }
        match self.add(state) {
            Some(()) => Entry::New,
            None => {
                self.limit = 0;
                Entry::Full
            }
        }
    }

    fn contains(&self, state: &[u8]) -> bool {
        let root = self.root(state.len());
        root != NONE && state.iter().try_fold(root, |node, &byte| self.target(node, byte)).is_some()
    }

    fn len(&self) -> usize {
        self.len
    }

    fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
            + self.labels.capacity()
            + (self.targets.capacity() + self.register.capacity() + self.roots.capacity()) * size_of::<u32>()
    }

    /// A list that has to grow is moved, so that half of it must be left.
    fn set_limit(&mut self, bytes: usize) {
        self.limit = bytes / 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ample_random::Random;
    use std::collections::{BTreeSet, HashSet};

    /// The number of nodes of the minimal automaton: one for each distinct set of rests, by definition.
    fn minimal(states: &HashSet<Vec<u8>>) -> usize {
        let mut rests: HashSet<BTreeSet<&[u8]>> = HashSet::new();
        let lengths: HashSet<usize> = states.iter().map(Vec::len).collect();
        for length in lengths {
            let alike: Vec<&[u8]> = states.iter().map(Vec::as_slice).filter(|state| state.len() == length).collect();
            for cut in 0..length {
                let prefixes: HashSet<&[u8]> = alike.iter().map(|state| &state[..cut]).collect();
                rests.extend(prefixes.into_iter().map(|prefix| {
                    alike.iter().filter(|state| state.starts_with(prefix)).map(|state| &state[cut..]).collect()
                }));
            }
        }
        rests.len() + 1
    }

    #[test]
    fn the_automaton_is_minimal_at_all_times() {
        for seed in 0..30 {
            let mut random = Random::new(seed);
            let (mut set, mut expected) = (AutomatonSet::new(), HashSet::new());
            for round in 0..200 {
                let length = 1 + random.below(6);
                let state: Vec<u8> = (0..length).map(|_| random.below(3) as u8).collect();
                assert_eq!(set.contains(&state), expected.contains(&state));
                let is_new = expected.insert(state.clone());
                assert_eq!(set.insert(&state, 0) == Entry::New, is_new, "seed {seed}");
                if round % 10 == 0 {
                    assert_eq!(set.nodes(), minimal(&expected), "seed {seed}, round {round}");
                }
            }
            assert_eq!((set.len(), set.nodes()), (expected.len(), minimal(&expected)), "seed {seed}");
        }
    }

    #[test]
    fn an_automaton_of_all_words_has_a_node_for_each_byte() {
        let mut set = AutomatonSet::new();
        for word in 0..=u16::MAX {
            assert_eq!(set.insert(&word.to_be_bytes(), 0), Entry::New);
        }
        assert_eq!((set.len(), set.nodes()), (65_536, 3));
    }
}
