//! From the bits of a system to its diagrams.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use ample_boolean::{Dag, Encoding, Lit, Node, Partition};

use crate::diagram::{Bdd, Diagrams, Maybe};
use crate::order::{force, order_of};
use crate::space::{Space, Step};

/// Makes diagrams of formulas.
pub struct Builder<'a> {
    dag: &'a Dag,
    diagrams: &'a Diagrams,
    known: HashMap<u32, Bdd>,
}

impl<'a> Builder<'a> {
    /// For the formulas of that graph; its inputs are the pairs of the same number.
    pub fn new(dag: &'a Dag, diagrams: &'a Diagrams) -> Builder<'a> {
        Builder { dag, diagrams, known: HashMap::new() }
    }

    /// The diagram of a formula.
    pub fn diagram(&mut self, lit: Lit) -> Maybe<Bdd> {
        let mut stack = vec![lit.0 >> 1];
        while let Some(&number) = stack.last() {
            if self.known.contains_key(&number) {
                stack.pop();
                continue;
            }
            let made = match self.dag.node(Lit(number << 1)) {
                Node::Constant => self.diagrams.constant(false),
                Node::Input(bit) => self.diagrams.now(bit)?,
                Node::And(x, y) => {
                    let missing = [x, y].into_iter().filter(|lit| !self.known.contains_key(&(lit.0 >> 1)));
                    let missing: Vec<u32> = missing.map(|lit| lit.0 >> 1).collect();
                    if !missing.is_empty() {
                        stack.extend(missing);
                        continue;
                    }
                    self.signed(x).and(&self.signed(y))?
                }
            };
            self.known.insert(number, made);
            stack.pop();
        }
        Ok(self.signed(lit))
    }

    fn signed(&self, lit: Lit) -> Bdd {
        let bdd = &self.known[&(lit.0 >> 1)];
        if lit.0 & 1 == 1 { bdd.not() } else { bdd.clone() }
    }
}

/// What keeps its place beside its neighbours when variables are put into an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grain {
    /// The bits of a cell.
    Cells,
    /// Nothing: a bit is put beside those that it gets its value from, so that copies are cheap.
    Bits,
}

/// Puts the variables of an encoding into an order in which those that are used together stand together.
pub fn arrange(encoding: &Encoding, diagrams: &Diagrams, grain: Grain) {
    let budget = diagrams.budget();
    let should_stop = || budget.check().is_err();
    let order = match grain {
        Grain::Cells => by_cells(encoding, &should_stop),
        Grain::Bits => by_bits(encoding, &should_stop),
    };
    diagrams.set_order(&order);
}

fn by_cells(encoding: &Encoding, should_stop: &dyn Fn() -> bool) -> Vec<u32> {
    let mut cell_of = vec![0; encoding.bits as usize];
    for (number, cell) in encoding.cells.iter().enumerate() {
        (cell.first..cell.first + cell.bits).for_each(|bit| cell_of[bit as usize] = number);
    }
    let mut groups = HashSet::new();
    for partition in &encoding.partitions {
        if should_stop() {
            break;
        }
        let (reads, writes) = footprint(&encoding.dag, partition);
        groups.insert(group(reads.iter().chain(&writes).map(|bit| cell_of[*bit as usize])));
    }
    let groups = sorted(groups);
    let order = order_of(encoding.cells.len(), &groups, should_stop);
    let cells = order.into_iter().map(|cell| &encoding.cells[cell]);
    cells.flat_map(|cell| cell.first..cell.first + cell.bits).collect()
}

/// A bit with those that it gets its next value from, the bits of a cell, and a partition's bits.
fn by_bits(encoding: &Encoding, should_stop: &dyn Fn() -> bool) -> Vec<u32> {
    let mut groups = HashSet::new();
    for cell in &encoding.cells {
        groups.insert(group((cell.first..cell.first + cell.bits).map(|bit| bit as usize)));
    }
    for partition in &encoding.partitions {
        for (bit, lit) in &partition.updates {
            if should_stop() {
                break;
            }
            let sources = encoding.dag.support(*lit);
            groups.insert(group(sources.iter().chain([bit]).map(|bit| *bit as usize)));
        }
        let (reads, writes) = footprint(&encoding.dag, partition);
        groups.insert(group(reads.iter().chain(&writes).map(|bit| *bit as usize)));
    }
    force(encoding.bits as usize, &sorted(groups), should_stop).into_iter().map(|bit| bit as u32).collect()
}

fn group(members: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut group: Vec<usize> = members.collect();
    group.sort_unstable();
    group.dedup();
    group
}

/// In an order that does not depend on chance.
fn sorted(groups: HashSet<Vec<usize>>) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = groups.into_iter().filter(|group| group.len() > 1).collect();
    groups.sort_unstable();
    groups
}

/// The bits that a partition reads, and those that it writes.
fn footprint(dag: &Dag, partition: &Partition) -> (Vec<u32>, Vec<u32>) {
    let formulas = [partition.guard, partition.fault, partition.violation, partition.overflow];
    let reads = dag.support_of(formulas.into_iter().chain(partition.updates.iter().map(|(_, lit)| *lit)));
    (reads, partition.updates.iter().map(|(bit, _)| *bit).collect())
}

/// A space with, for each of its steps, the states in which its outcome does not fit into the encoding.
pub struct Built {
    /// The space.
    pub space: Space,
    /// The overflow of each step.
    pub overflow: Vec<Bdd>,
}

/// The space of an encoding.
pub fn build(encoding: &Encoding, diagrams: &Diagrams) -> Maybe<Built> {
    let mut builder = Builder::new(&encoding.dag, diagrams);
    let mut steps = Vec::new();
    let mut overflow = Vec::new();
    let mut faulty = diagrams.constant(false);
    for partition in &encoding.partitions {
        let step = step(encoding, partition, diagrams, &mut builder)?;
        faulty = faulty.or(&step.fault)?;
        overflow.push(builder.diagram(partition.overflow)?);
        steps.push(step);
    }
    let space = Space {
        diagrams: diagrams.clone(),
        bits: encoding.bits,
        initial: builder.diagram(encoding.initial)?,
        clusters: OnceCell::new(),
        steps,
        visible: builder.diagram(encoding.visible)?,
        idle: None,
        end: builder.diagram(encoding.end)?,
        faulty,
        companion: None,
    };
    Ok(Built { space, overflow })
}

fn step(encoding: &Encoding, partition: &Partition, diagrams: &Diagrams, builder: &mut Builder<'_>) -> Maybe<Step> {
    let guard = builder.diagram(partition.guard)?;
    // What is at the bottom first: each conjunction is with something above it.
    let order = diagrams.order();
    let mut position = vec![0; order.len()];
    order.iter().enumerate().for_each(|(place, pair)| position[*pair as usize] = place);
    let mut updates = partition.updates.clone();
    updates.sort_by_key(|(bit, _)| std::cmp::Reverse(position[*bit as usize]));
    let mut relation = guard.clone();
    for (bit, lit) in updates {
        let value = builder.diagram(lit)?;
        relation = relation.and(&diagrams.next(bit)?.iff(&value)?)?;
    }
    let (reads, writes) = footprint(&encoding.dag, partition);
    let processes = partition.taken.movers().map(|(process, _)| process).collect();
    Ok(Step {
        relation,
        written: diagrams.written(&writes),
        guard,
        fault: builder.diagram(partition.fault)?,
        violation: builder.diagram(partition.violation)?,
        reads,
        writes,
        processes,
    })
}
