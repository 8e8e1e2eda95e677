//! Bounded model checking in which several transitions are one step (T. Jussila, *On Bounded Model Checking of Asynchronous
//! Systems*, 2005): those that are enabled and independent of each other, in any order of which they lead to the same state.
//!
//! In the *step semantics* a step is any set of such transitions, one at least. In the *process semantics* runs are in the
//! normal form of D. Foata: a transition after the first step depends on one of the step before, since otherwise it could
//! have been part of that. So every order of independent transitions is there once, and in both semantics bounds are
//! smaller than where transitions are taken one by one.

use ample_boolean::{Encoding, Lit};
use ample_budget::{Budget, Interrupted};

use crate::machine::{Machine, standing, update};
use crate::partial::Touched;

/// Which sets of transitions are steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Semantics {
    /// All sets of independent ones.
    Steps,
    /// Those of runs in normal form.
    Processes,
}

/// The machine of an interleaving system whose steps are sets of transitions.
pub fn stepping(encoding: &Encoding, semantics: Semantics, budget: &Budget) -> Result<Machine, Interrupted> {
    let mut machine = standing(encoding);
    machine.dag.set_budget(budget);
    let dependent = dependent(encoding, budget)?;
    let chosen: Vec<Lit> = encoding.partitions.iter().map(|_| machine.add_input()).collect();
    let dag = &mut machine.dag;
    let mut required = vec![dag.any(&chosen)];
    for (number, partition) in encoding.partitions.iter().enumerate() {
        required.push(dag.implies(chosen[number], partition.guard));
        for other in dependent[number].iter().filter(|other| **other < number) {
            let both = dag.and(chosen[number], chosen[*other]);
            required.push(!both);
        }
    }
    machine.step = machine.dag.all(&required);
    update(&mut machine, &encoding.partitions, &chosen);
    if semantics == Semantics::Processes {
        normalise(&mut machine, &chosen, &dependent);
    }
    machine.dag.interrupted().map_or(Ok(machine), Err)
}

/// A transition after the first step depends on one of the step before.
fn normalise(machine: &mut Machine, chosen: &[Lit], dependent: &[Vec<usize>]) {
    let begun = machine.add_bit();
    machine.require_initially(!begun);
    machine.set_next(begun, Lit::TRUE);
    let mut before = Vec::new();
    for lit in chosen {
        let bit = machine.add_bit();
        machine.require_initially(!bit);
        machine.set_next(bit, *lit);
        before.push(bit);
    }
    for (number, lit) in chosen.iter().enumerate() {
        let causes: Vec<Lit> = dependent[number].iter().map(|other| before[*other]).chain([!begun]).collect();
        let has_cause = machine.dag.any(&causes);
        let is_normal = machine.dag.implies(*lit, has_cause);
        machine.require(is_normal);
    }
}

/// By transition: those that it depends on, itself among them. Two are independent if neither writes what the other reads or
/// writes.
fn dependent(encoding: &Encoding, budget: &Budget) -> Result<Vec<Vec<usize>>, Interrupted> {
    let bits = encoding.bits as usize;
    let (mut readers, mut writers) = (vec![Vec::new(); bits], vec![Vec::new(); bits]);
    let mut touched = Vec::new();
    for (number, partition) in encoding.partitions.iter().enumerate() {
        budget.check()?;
        let one = Touched::by(encoding, partition);
        one.reads.iter().for_each(|bit| readers[*bit as usize].push(number));
        one.writes.iter().for_each(|bit| writers[*bit as usize].push(number));
        touched.push(one);
    }
    let mut dependent = Vec::new();
    for (number, Touched { reads, writes }) in touched.iter().enumerate() {
        budget.check()?;
        let mut others = vec![number];
        reads.iter().for_each(|bit| others.extend(&writers[*bit as usize]));
        writes.iter().for_each(|bit| others.extend(readers[*bit as usize].iter().chain(&writers[*bit as usize])));
        others.sort_unstable();
        others.dedup();
        dependent.push(others);
    }
    Ok(dependent)
}
