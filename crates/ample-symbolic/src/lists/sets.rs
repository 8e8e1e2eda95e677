//! Set algebra, and what can be asked of a set.
//!
//! Lists of values are walked in a loop, levels by recursion: a place may hold any number of tokens without a deep
//! stack. The result for every rest of a list is remembered, so lists share as much work as nodes.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use num_bigint::BigUint;

use super::Maybe;
use super::table::{EMPTY, END, Id, Kind, Table, What};

/// Something for every node of a set.
pub(super) type ByNode<T> = HashMap<Id, T, BuildHasherDefault<Mix>>;

/// Mixes the bits of numbers.
#[derive(Default)]
pub(super) struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        let mixed = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ mixed >> 32;
    }

    fn write_i128(&mut self, number: i128) {
        self.write_u64(number as u64);
        self.write_u64((number >> 64) as u64);
    }
}

impl Table {
    pub fn union(&mut self, f: Id, g: Id) -> Maybe<Id> {
        let what = What::new(Kind::Union, 0);
        let (mut f, mut g) = (f, g);
        let base = self.lists.len();
        let rest = loop {
            if f == g || g == EMPTY {
                break f;
            }
            if f == EMPTY {
                break g;
            }
            if f > g {
                std::mem::swap(&mut f, &mut g);
            }
            if let Some(known) = self.recall(what, f, g) {
                break known;
            }
            self.look()?;
            let (one, other) = (self.node(f), self.node(g));
            if one.value < other.value {
                self.push(one.value, one.down, f, g)?;
                f = one.right;
            } else if other.value < one.value {
                self.push(other.value, other.down, f, g)?;
                g = other.right;
            } else {
                self.descend()?;
                let down = self.union(one.down, other.down)?;
                self.push(one.value, down, f, g)?;
                (f, g) = (one.right, other.right);
            }
        };
        self.build_remembered(base, rest, what)
    }

    pub fn minus(&mut self, f: Id, g: Id) -> Maybe<Id> {
        let what = What::new(Kind::Minus, 0);
        let (mut f, mut g) = (f, g);
        let base = self.lists.len();
        let rest = loop {
            if f == EMPTY || g == EMPTY {
                break f;
            }
            if f == g {
                break EMPTY;
            }
            if let Some(known) = self.recall(what, f, g) {
                break known;
            }
            self.look()?;
            let (one, other) = (self.node(f), self.node(g));
            if one.value < other.value {
                self.push(one.value, one.down, f, g)?;
                f = one.right;
            } else if other.value < one.value {
                g = other.right;
            } else {
                self.descend()?;
                let down = self.minus(one.down, other.down)?;
                self.push(one.value, down, f, g)?;
                (f, g) = (one.right, other.right);
            }
        };
        self.build_remembered(base, rest, what)
    }

    pub fn intersect(&mut self, f: Id, g: Id) -> Maybe<Id> {
        let what = What::new(Kind::Intersect, 0);
        let (mut f, mut g) = (f, g);
        let base = self.lists.len();
        let rest = loop {
            if f == EMPTY || g == EMPTY {
                break EMPTY;
            }
            if f == g {
                break f;
            }
            if f > g {
                std::mem::swap(&mut f, &mut g);
            }
            if let Some(known) = self.recall(what, f, g) {
                break known;
            }
            self.look()?;
            let (one, other) = (self.node(f), self.node(g));
            if one.value < other.value {
                f = one.right;
            } else if other.value < one.value {
                g = other.right;
            } else {
                self.descend()?;
                let down = self.intersect(one.down, other.down)?;
                self.push(one.value, down, f, g)?;
                (f, g) = (one.right, other.right);
            }
        };
        self.build_remembered(base, rest, what)
    }

    pub fn is_subset(&mut self, f: Id, g: Id) -> Maybe<bool> {
        let what = What::new(Kind::Subset, 0);
        let (first, second) = (f, g);
        let (mut f, mut g) = (f, g);
        let result = loop {
            if f == EMPTY || f == g {
                break true;
            }
            if g == EMPTY {
                break false;
            }
            if let Some(known) = self.recall(what, f, g) {
                break known == END;
            }
            self.look()?;
            let (one, other) = (self.node(f), self.node(g));
            if one.value < other.value {
                break false;
            }
            if other.value < one.value {
                g = other.right;
                continue;
            }
            self.descend()?;
            if !self.is_subset(one.down, other.down)? {
                break false;
            }
            (f, g) = (one.right, other.right);
        };
        if first > END && second > END {
            self.remember(what, first, second, if result { END } else { EMPTY });
        }
        Ok(result)
    }

    /// The set of one sequence.
    pub fn single(&mut self, values: &[u32]) -> Maybe<Id> {
        let mut set = END;
        for value in values.iter().rev() {
            set = self.make(*value, set, EMPTY)?;
        }
        Ok(set)
    }

    pub fn contains(&self, set: Id, values: &[u32]) -> bool {
        let mut at = set;
        for value in values {
            at = self.follow(at, *value);
        }
        at == END
    }

    /// The first sequence, with the smallest values.
    pub fn first(&self, set: Id) -> Option<Vec<u32>> {
        let mut values = Vec::new();
        let mut at = set;
        while at > END {
            let node = self.node(at);
            values.push(node.value);
            at = node.down;
        }
        (at == END).then_some(values)
    }

    /// The first sequences in their order, not more than `most`.
    pub fn sequences(&self, set: Id, most: usize) -> Vec<Vec<u32>> {
        let mut found = Vec::new();
        // The lists on the path down; the last one is where it goes on.
        let mut path: Vec<Id> = vec![set];
        while let Some(at) = path.last().copied() {
            if found.len() >= most {
                break;
            }
            if at > END {
                path.push(self.node(at).down);
                continue;
            }
            path.pop();
            if at == END {
                found.push(path.iter().map(|id| self.node(*id).value).collect());
            }
            // On to the next value, on the lowest level that has one.
            while let Some(last) = path.last_mut() {
                *last = self.node(*last).right;
                if *last != EMPTY {
                    break;
                }
                path.pop();
            }
        }
        found
    }

    /// The nodes of a set, children before parents. Without `END`; in an order that only the set decides.
    pub fn nodes_of(&mut self, set: Id) -> Maybe<Vec<Id>> {
        let mut found = Vec::new();
        let mut seen: ByNode<()> = ByNode::default();
        let mut open: Vec<(Id, u8)> = vec![(set, 0)];
        while let Some((id, step)) = open.pop() {
            if step == 0 && (id <= END || seen.insert(id, ()).is_some()) {
                continue;
            }
            self.look()?;
            let node = self.node(id);
            match step {
                0 => open.extend([(id, 1), (node.right, 0)]),
                1 => open.extend([(id, 2), (node.down, 0)]),
                _ => found.push(id),
            }
        }
        Ok(found)
    }

    /// How many sequences there are.
    pub fn count(&mut self, set: Id) -> Maybe<BigUint> {
        let mut counts: ByNode<BigUint> = ByNode::default();
        counts.insert(EMPTY, BigUint::ZERO);
        counts.insert(END, BigUint::from(1u32));
        for id in self.nodes_of(set)? {
            let node = self.node(id);
            let sum = &counts[&node.down] + &counts[&node.right];
            counts.insert(id, sum);
        }
        Ok(counts.remove(&set).unwrap_or_default())
    }

    /// The smallest value on a level.
    pub fn lowest(&mut self, set: Id, level: u32) -> Maybe<Option<u32>> {
        let mut lists: Vec<Id> = vec![set];
        for _ in 0..level {
            let mut next: Vec<Id> = Vec::new();
            for list in lists {
                let mut at = list;
                while at > END {
                    self.look()?;
                    next.push(self.node(at).down);
                    at = self.node(at).right;
                }
            }
            next.sort_unstable();
            next.dedup();
            lists = next;
        }
        Ok(lists.iter().filter(|list| **list > END).map(|list| self.node(*list).value).min())
    }
}
