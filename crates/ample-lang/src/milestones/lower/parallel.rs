//! Parallel assignments, one after the other: nobody may read what was already overwritten. Where the assignments
//! read each other's targets in a circle, the old value of one of them is saved first.

use std::collections::HashSet;

use super::super::model::{Assignment, VariableId};

/// A step of a parallel assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Keep the value of this variable; from here on it is read where it was saved.
    Save(VariableId),
    /// The assignment of this index.
    Assign(usize),
}

/// An order in which the assignments have the effect of doing them all at once.
pub(super) fn in_order(assignments: &[Assignment]) -> Vec<Step> {
    let reads: Vec<HashSet<VariableId>> = assignments.iter().map(reads).collect();
    let mut left: Vec<usize> = (0..assignments.len()).collect();
    let mut saved = HashSet::new();
    let mut order = Vec::new();
    while !left.is_empty() {
        let is_needed = |index: usize, saved: &HashSet<VariableId>| {
            let target = assignments[index].target;
            !saved.contains(&target) && left.iter().any(|other| *other != index && reads[*other].contains(&target))
        };
        match left.iter().position(|index| !is_needed(*index, &saved)) {
            Some(at) => order.push(Step::Assign(left.remove(at))),
            None => {
                let target = assignments[left[0]].target;
                saved.insert(target);
                order.push(Step::Save(target));
            }
        }
    }
    order
}

fn reads(assignment: &Assignment) -> HashSet<VariableId> {
    let mut reads = HashSet::new();
    assignment.value.number.reads(&mut |id| {
        reads.insert(id);
    });
    reads
}
