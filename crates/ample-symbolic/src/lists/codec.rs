//! Sets as bytes, for messages and digests.
//!
//! The bytes are the nodes, children first, in the order in which a walk from the root leaves them: to the right
//! before down. Only the set and the order of the places decide them, so equal sets give equal bytes in every table
//! of the same net and order, and different sets give different ones.
//!
//! All numbers are in groups of seven bits, the lowest first. First come the number of levels and of nodes; a node is
//! its value, what is below and what is right of it: 0 for the empty set, 1 for the end, and how far back the node
//! stands, plus one, for a node. Without a node, one more number says which of the two it is.

use std::collections::HashMap;

use super::table::{EMPTY, END, Id, Table};
use super::{Diagrams, Maybe, Set, SetError};

impl Diagrams {
    /// The set as bytes. Equal sets give equal bytes, different ones different bytes.
    pub fn encode(&mut self, set: &Set) -> Maybe<Vec<u8>> {
        let set = self.own(set)?;
        self.table.enter()?;
        let nodes = self.table.nodes_of(set)?;
        let mut bytes = Vec::with_capacity(nodes.len() * 4 + 10);
        write(&mut bytes, self.order.len() as u64);
        write(&mut bytes, nodes.len() as u64);
        if nodes.is_empty() {
            write(&mut bytes, u64::from(set));
        }
        let mut places: HashMap<Id, u64> = HashMap::with_capacity(nodes.len());
        for (place, id) in nodes.iter().enumerate() {
            let node = self.table.node(*id);
            write(&mut bytes, u64::from(node.value));
            for child in [node.down, node.right] {
                let back = places.get(&child).map_or(u64::from(child), |at| place as u64 - at + 1);
                write(&mut bytes, back);
            }
            places.insert(*id, place as u64);
        }
        Ok(bytes)
    }

    /// The set that [`Diagrams::encode`] made these bytes of, in any table of the same net and order.
    pub fn decode(&mut self, bytes: &[u8]) -> Maybe<Set> {
        let levels = self.order.len() as u64;
        self.perform(|table| decode(table, bytes, levels))
    }
}

/// The node, with its distance from the end.
type Placed = (Id, u64);

fn decode(table: &mut Table, bytes: &[u8], levels: u64) -> Maybe<Id> {
    let mut rest = bytes;
    if read(&mut rest)? != levels {
        return Err(SetError::Foreign);
    }
    let count = read(&mut rest)?;
    let root = if count == 0 {
        match read(&mut rest)? {
            0 => EMPTY,
            1 if levels == 0 => END,
            _ => return Err(SetError::Foreign),
        }
    } else {
        let mut nodes: Vec<Placed> = Vec::new();
        for _ in 0..count {
            table.look()?;
            let node = decode_node(table, &mut rest, &nodes)?;
            nodes.push(node);
        }
        match nodes.last() {
            Some((root, height)) if *height == levels => *root,
            _ => return Err(SetError::Foreign),
        }
    };
    if rest.is_empty() { Ok(root) } else { Err(SetError::Foreign) }
}

fn decode_node(table: &mut Table, rest: &mut &[u8], nodes: &[Placed]) -> Maybe<Placed> {
    let value = u32::try_from(read(rest)?).map_err(|_| SetError::Foreign)?;
    let (down, below) = decode_child(rest, nodes)?;
    let (right, height) = decode_child(rest, nodes)?;
    let is_sorted = right == EMPTY || (right > END && height == below + 1 && table.node(right).value > value);
    if down == EMPTY || !is_sorted {
        return Err(SetError::Foreign);
    }
    Ok((table.make(value, down, right)?, below + 1))
}

fn decode_child(rest: &mut &[u8], nodes: &[Placed]) -> Maybe<Placed> {
    Ok(match read(rest)? {
        0 => (EMPTY, 0),
        1 => (END, 0),
        back => {
            let back = usize::try_from(back - 1).map_err(|_| SetError::Foreign)?;
            let at = nodes.len().checked_sub(back).ok_or(SetError::Foreign)?;
            nodes[at]
        }
    })
}

fn write(bytes: &mut Vec<u8>, number: u64) {
    let mut number = number;
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn read(rest: &mut &[u8]) -> Maybe<u64> {
    let mut number = 0u64;
    for shift in (0..63).step_by(7) {
        let (byte, after) = rest.split_first().ok_or(SetError::Foreign)?;
        *rest = after;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(SetError::Foreign)
}
