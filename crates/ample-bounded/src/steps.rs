//! Bounded model checking in which several transitions are one step (T. Jussila, *On Bounded Model Checking of Asynchronous
//! Systems*, 2005): those that are enabled and independent of each other, in any order of which they lead to the same state.
//!
//! In the *step semantics* a step is any set of such transitions, one at least. In the *process semantics* runs are in the
//! normal form of D. Foata: a transition after the first step depends on one of the step before, since otherwise it could
//! have been part of that. So every order of independent transitions is there once, and in both semantics bounds are
//! smaller than where transitions are taken one by one.
//!
//! In the *commuting semantics* transitions are taken one by one, and of two orders of neighbours one is left out, where that
//! one can be replaced by the other. For this it is enough that they commute in one direction (P. A. Abdulla, B. Jonsson,
//! M. Kindahl, D. Peled, *A General Approach to Partial Order Reductions in Symbolic Verification*, CAV 1998): wherever `b`
//! and then `a` can be taken, `a` and then `b` can be taken, too, and lead to the same state. Runs keep their lengths.

use std::collections::HashMap;
use std::time::Duration;

use ample_boolean::{Dag, Encoding, Lit, Node, Partition};
use ample_budget::{Budget, Interrupted};

use crate::cdcl::{ALWAYS, Cdcl, Query};
use crate::clauses::Clauses;
use crate::machine::{Interleaved, Machine, interleaving, standing, update};
use crate::partial::Touched;

/// So long the solver is asked which transitions commute, and one question.
const FOR_COMMUTING: Duration = Duration::from_secs(3);
const LONGEST_QUESTION: Duration = Duration::from_millis(20);

/// Which sets of transitions are steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Semantics {
    /// All sets of independent ones.
    Steps,
    /// Those of runs in normal form.
    Processes,
    /// Single transitions, in an order in which none could be exchanged with the one before it, whose number is larger.
    Commuting,
}

/// The machine of an interleaving system whose steps are sets of transitions.
pub fn stepping(encoding: &Encoding, semantics: Semantics, budget: &Budget) -> Result<Machine, Interrupted> {
    if semantics == Semantics::Commuting {
        return commuting(encoding, budget);
    }
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
    let before = remembered(machine, chosen);
    for (number, lit) in chosen.iter().enumerate() {
        let causes: Vec<Lit> = dependent[number].iter().map(|other| before[*other]).chain([!begun]).collect();
        let has_cause = machine.dag.any(&causes);
        let is_normal = machine.dag.implies(*lit, has_cause);
        machine.require(is_normal);
    }
}

/// By transition: that it was part of the last step.
fn remembered(machine: &mut Machine, chosen: &[Lit]) -> Vec<Lit> {
    let mut before = Vec::new();
    for lit in chosen {
        let bit = machine.add_bit();
        machine.require_initially(!bit);
        machine.set_next(bit, *lit);
        before.push(bit);
    }
    before
}

/// The machine of the commuting semantics. A run in which two neighbours could be exchanged, with the smaller number first
/// then, is left out: exchanging them again and again ends in a run that is there, as long as it, with the same last state.
fn commuting(encoding: &Encoding, budget: &Budget) -> Result<Machine, Interrupted> {
    let dependent = dependent(encoding, budget)?;
    let mut search = Commuting::new(encoding, budget);
    let Interleaved { mut machine, chosen, .. } = interleaving(encoding, false, None);
    machine.dag.set_budget(budget);
    let before = remembered(&mut machine, &chosen);
    for (number, lit) in chosen.iter().enumerate() {
        let mut others = Vec::new();
        for (other, was_chosen) in before.iter().enumerate().skip(number + 1) {
            let is_independent = dependent[number].binary_search(&other).is_err();
            if is_independent || search.commutes(other, number)? {
                others.push(*was_chosen);
            }
        }
        let is_late = machine.dag.any(&others);
        let both = machine.dag.and(*lit, is_late);
        machine.require(!both);
    }
    machine.dag.interrupted().map_or(Ok(machine), Err)
}

/// Asks which transitions commute in one direction.
struct Commuting<'a> {
    partitions: &'a [Partition],
    dag: Dag,
    solver: Cdcl,
    clauses: Clauses,
    budget: &'a Budget,
    /// After it, transitions that depend on each other do not commute.
    part: Budget,
}

impl<'a> Commuting<'a> {
    fn new(encoding: &'a Encoding, budget: &'a Budget) -> Commuting<'a> {
        Commuting {
            partitions: &encoding.partitions,
            dag: encoding.dag.clone(),
            solver: Cdcl::default(),
            clauses: Clauses::default(),
            budget,
            part: budget.clone().with_time(FOR_COMMUTING),
        }
    }

    /// Wherever the first and then the second can be taken, they can be taken in the other order, and lead to the same state.
    fn commutes(&mut self, first: usize, second: usize) -> Result<bool, Interrupted> {
        self.budget.check()?;
        if self.part.check().is_err() {
            return Ok(false);
        }
        let (first, second) = (&self.partitions[first], &self.partitions[second]);
        let dag = &mut self.dag;
        let [forward, backward] = [(first, second), (second, first)].map(|(one, other)| {
            let after: HashMap<u32, Lit> = one.updates.iter().copied().collect();
            let mut after = After { updates: after, made: HashMap::new() };
            let both = (one.guard, after.of(dag, other.guard));
            let possible = dag.and(both.0, both.1);
            let mut state: HashMap<u32, Lit> = one.updates.iter().copied().collect();
            for (bit, value) in &other.updates {
                state.insert(*bit, after.of(dag, *value));
            }
            (possible, state)
        });
        let mut wrong = vec![!backward.0];
        for (bit, value) in &forward.1 {
            let other = backward.1.get(bit).copied().unwrap_or_else(|| dag.input(*bit));
            wrong.push(dag.xor(*value, other));
        }
        let wrong = dag.any(&wrong);
        let wrong = dag.and(forward.0, wrong);
        if let Some(interrupted) = dag.interrupted() {
            return Err(interrupted);
        }
        let literal = self.clauses.literal(&self.dag, wrong, &mut self.solver, self.budget)?;
        let assumptions = [literal];
        let query = Query { frame: ALWAYS, assumptions: &assumptions, clause: None, roots: Some(&[]) };
        let question = self.part.clone().with_time(LONGEST_QUESTION);
        match self.solver.ask(&query, &question) {
            Ok(is_wrong) => Ok(!is_wrong),
            Err(_) => self.budget.check().map(|()| false),
        }
    }
}

/// Formulas about the state after a transition, in terms of the state before it.
struct After {
    updates: HashMap<u32, Lit>,
    made: HashMap<usize, Lit>,
}

impl After {
    fn of(&mut self, dag: &mut Dag, lit: Lit) -> Lit {
        let mut open = vec![lit.index()];
        while let Some(&index) = open.last() {
            let node = Lit((index as u32) << 1);
            let made = match dag.node(node) {
                _ if self.made.contains_key(&index) => None,
                Node::Constant => Some(node),
                Node::Input(bit) => Some(self.updates.get(&bit).copied().unwrap_or(node)),
                Node::And(x, y) => match (self.known(x), self.known(y)) {
                    (Some(x), Some(y)) => Some(dag.and(x, y)),
                    (known, _) => {
                        open.push(if known.is_none() { x.index() } else { y.index() });
                        continue;
                    }
                },
            };
            open.pop();
            if let Some(made) = made {
                self.made.insert(index, made);
            }
        }
        self.known(lit).unwrap_or(lit)
    }

    fn known(&self, lit: Lit) -> Option<Lit> {
        let made = *self.made.get(&lit.index())?;
        Some(if lit.is_negated() { !made } else { made })
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
