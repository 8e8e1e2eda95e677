//! Sets as bytes: the same function gives the same bytes in every table whose variables have the same order, so that
//! bytes can be compared, hashed, and read into the table of another thread.
//!
//! The nodes follow each other, children before parents, each as its position in the order and the edges to its two
//! children; the edge to the root comes last. All numbers have seven bits in a byte. An edge is twice the number of a
//! node (the constant is number 0, the first node that is written number 1), and one more if it is negated.

use super::core::{BOTTOM, Core, Edge, TRUE};
use super::{Bdd, Diagrams, Maybe, SetError, perform};

impl Bdd {
    /// The function as bytes. It must not depend on bits of the next state.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.core.borrow().to_bytes(self.edge())
    }
}

impl Diagrams {
    /// The function that these bytes stand for; `None` if they stand for none.
    pub fn from_bytes(&self, bytes: &[u8]) -> Maybe<Option<Bdd>> {
        let Some(written) = Written::read(bytes, self.pairs()) else { return Ok(None) };
        perform(&self.core, |core| core.read(&written)).map(Some)
    }

    /// The function that bytes stand for that were written in a table whose variables have that order; `None` if they
    /// stand for none.
    pub fn from_bytes_in(&self, order: &[u32], bytes: &[u8]) -> Maybe<Option<Bdd>> {
        if order == self.order() {
            return self.from_bytes(bytes);
        }
        let pairs = self.pairs();
        if order.len() != pairs as usize || order.iter().any(|pair| *pair >= pairs) {
            return Ok(None);
        }
        let Some(written) = Written::read(bytes, pairs) else { return Ok(None) };
        // A node is of no use after the last one that refers to it.
        let mut last_use = vec![0; written.nodes.len() + 1];
        for (number, (_, lo, hi)) in written.nodes.iter().enumerate() {
            last_use[(lo >> 1) as usize] = number;
            last_use[(hi >> 1) as usize] = number;
        }
        last_use[(written.root >> 1) as usize] = usize::MAX;
        let mut made: Vec<Option<Bdd>> = vec![Some(self.constant(true))];
        for (number, (position, lo, hi)) in written.nodes.iter().enumerate() {
            let child = |edge: &u32| -> Maybe<Bdd> {
                let known = made[(edge >> 1) as usize].as_ref().ok_or(SetError::Foreign)?;
                Ok(if edge & 1 == 1 { known.not() } else { known.clone() })
            };
            let (low, high) = (child(lo)?, child(hi)?);
            made.push(Some(self.now(order[*position as usize])?.ite(&high, &low)?));
            for edge in [lo, hi] {
                let child = (edge >> 1) as usize;
                if child > 0 && last_use[child] == number {
                    made[child] = None;
                }
            }
        }
        let root = made[(written.root >> 1) as usize].as_ref().ok_or(SetError::Foreign)?;
        Ok(Some(if written.root & 1 == 1 { root.not() } else { root.clone() }))
    }
}

impl Core {
    fn to_bytes(&self, root: Edge) -> Vec<u8> {
        let mut bytes = Vec::new();
        // By node: the number that it is written under; none yet for all but the constant.
        let mut numbers = vec![0u32; self.table.nodes.len()];
        let mut count = 0;
        let mut stack = vec![(root >> 1, false)];
        while let Some((number, is_ready)) = stack.pop() {
            if number == 0 || numbers[number as usize] != 0 {
                continue;
            }
            let node = self.table.nodes[number as usize];
            if !is_ready {
                // The lower child first, since the stack gives back what was put last.
                stack.extend([(number, true), (node.hi >> 1, false), (node.lo >> 1, false)]);
                continue;
            }
            put(&mut bytes, node.level / 2);
            put(&mut bytes, numbers[(node.lo >> 1) as usize] << 1 | node.lo & 1);
            put(&mut bytes, numbers[(node.hi >> 1) as usize] << 1 | node.hi & 1);
            count += 1;
            numbers[number as usize] = count;
        }
        put(&mut bytes, numbers[(root >> 1) as usize] << 1 | root & 1);
        bytes
    }

    fn read(&mut self, written: &Written) -> Maybe<Edge> {
        let mut edges = vec![TRUE];
        for (position, lo, hi) in &written.nodes {
            self.look()?;
            let child = |edge: &u32| edges[(edge >> 1) as usize] ^ edge & 1;
            let (lo, hi) = (child(lo), child(hi));
            edges.push(self.make(position * 2, lo, hi)?);
        }
        Ok(edges[(written.root >> 1) as usize] ^ written.root & 1)
    }
}

/// What bytes say, found to be well-formed.
struct Written {
    /// Position, and the edges to both children.
    nodes: Vec<(u32, u32, u32)>,
    root: u32,
}

impl Written {
    fn read(bytes: &[u8], pairs: u32) -> Option<Written> {
        let mut numbers = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            numbers.push(take(&mut rest)?);
        }
        let (root, nodes) = numbers.split_last()?;
        if !nodes.len().is_multiple_of(3) {
            return None;
        }
        let mut positions = vec![BOTTOM];
        let mut read = Vec::with_capacity(nodes.len() / 3);
        for node in nodes.chunks_exact(3) {
            let [position, lo, hi] = *node else { return None };
            let is_below = |edge: u32| positions.get((edge >> 1) as usize).is_some_and(|child| *child > position);
            // As they are in a table: the upper edge is never negated, and the children differ.
            if position >= pairs || !is_below(lo) || !is_below(hi) || hi & 1 == 1 || lo == hi {
                return None;
            }
            positions.push(position);
            read.push((position, lo, hi));
        }
        ((root >> 1) as usize <= read.len()).then_some(Written { nodes: read, root: *root })
    }
}

fn put(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn take(bytes: &mut &[u8]) -> Option<u32> {
    let mut number = 0u64;
    for shift in (0..35).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return u32::try_from(number).ok();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use ample_budget::Budget;

    use super::*;

    fn table() -> Diagrams {
        Diagrams::new(6, 10_000, Budget::unlimited())
    }

    /// A function of six bits, from a number.
    fn function(diagrams: &Diagrams, seed: u64) -> Bdd {
        let mut all = diagrams.constant(false);
        for state in 0..64u64 {
            if (state + 1).wrapping_mul(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 62 == 0 {
                let bits: Vec<bool> = (0..6).map(|bit| state >> bit & 1 == 1).collect();
                all = all.or(&all.only(&bits).unwrap()).unwrap();
            }
        }
        all
    }

    #[test]
    fn bytes_are_the_same_in_every_table_and_come_back() {
        let (one, other) = (table(), table());
        // Tables with a different past.
        let _past: Vec<Bdd> = (100..110).map(|seed| function(&other, seed)).collect();
        for seed in 1..60 {
            let (here, there) = (function(&one, seed), function(&other, seed));
            let bytes = here.to_bytes();
            assert_eq!(bytes, there.to_bytes(), "seed {seed}");
            assert!(other.from_bytes(&bytes).unwrap().is_some_and(|set| set == there), "seed {seed}");
            let opposite = here.not().to_bytes();
            assert_ne!(bytes, opposite);
            assert!(other.from_bytes(&opposite).unwrap().is_some_and(|set| set == there.not()), "seed {seed}");
        }
        for value in [true, false] {
            let bytes = one.constant(value).to_bytes();
            assert!(other.from_bytes(&bytes).unwrap().is_some_and(|set| set.is_true() == value));
        }
    }

    #[test]
    fn bytes_are_read_in_another_order() {
        let (one, other) = (table(), table());
        other.set_order(&[3, 0, 5, 1, 4, 2]);
        for seed in 1..60 {
            let (here, there) = (function(&one, seed), function(&other, seed));
            let read = other.from_bytes_in(&one.order(), &here.to_bytes()).unwrap();
            assert!(read.is_some_and(|set| set == there), "seed {seed}");
            let read = one.from_bytes_in(&other.order(), &there.not().to_bytes()).unwrap();
            assert!(read.is_some_and(|set| set == here.not()), "seed {seed}");
        }
        assert!(one.from_bytes_in(&[0, 1], &[0]).unwrap().is_none());
    }

    #[test]
    fn other_bytes_are_refused() {
        let diagrams = table();
        let bytes = function(&diagrams, 7).to_bytes();
        for cut in 0..bytes.len() {
            // What is left may be a function by chance; it must not be the end of the process.
            let _ = diagrams.from_bytes(&bytes[..cut]).unwrap();
        }
        for wrong in [&[][..], &[0x80], &[0xff; 6], &[9, 0, 1, 2], &[0, 0, 0, 2], &[0, 9, 0, 2], &[0, 1, 0]] {
            assert!(diagrams.from_bytes(wrong).unwrap().is_none(), "{wrong:?}");
        }
    }
}
