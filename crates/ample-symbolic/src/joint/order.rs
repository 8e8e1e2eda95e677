//! The first order of the variables of a synchronous system.

use std::collections::HashSet;

use ample_boolean::JointEncoding;

use crate::order::force;

/// An order of the pairs: bits of states and inputs, in cells, those that formulas read together standing together.
pub fn arrange(encoding: &JointEncoding, should_stop: &dyn Fn() -> bool) -> Vec<u32> {
    let pairs = encoding.inputs.end as usize;
    let mut cell_of = vec![0; pairs];
    for (number, cell) in encoding.cells.iter().enumerate() {
        (cell.first..cell.first + cell.bits).for_each(|bit| cell_of[bit as usize] = number);
    }
    // A next bit stands beside the current one.
    let pair = |bit: u32| if bit < encoding.next_bits.start { bit } else { bit - encoding.next_bits.start };
    let mut groups = HashSet::new();
    let mut add = |bits: &mut dyn Iterator<Item = u32>| {
        let mut group: Vec<usize> = bits.map(|bit| cell_of[pair(bit) as usize]).collect();
        group.sort_unstable();
        group.dedup();
        if group.len() > 1 {
            groups.insert(group);
        }
    };
    for (bit, lit) in &encoding.functions {
        if should_stop() {
            break;
        }
        add(&mut encoding.dag.support(*lit).into_iter().chain([*bit]));
    }
    for lit in encoding.relations.iter().flat_map(|lit| encoding.dag.conjuncts(*lit)) {
        if should_stop() {
            break;
        }
        add(&mut encoding.dag.support(lit).into_iter());
    }
    let mut groups: Vec<Vec<usize>> = groups.into_iter().collect();
    groups.sort_unstable();
    let cells = force(encoding.cells.len(), &groups, should_stop).into_iter().map(|cell| &encoding.cells[cell]);
    cells.flat_map(|cell| cell.first..cell.first + cell.bits).collect()
}
