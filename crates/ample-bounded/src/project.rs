//! Inputs that are bits of a state, as inputs again.
//!
//! A property of a circuit may read inputs, and then these are part of the state: bits that may have any value initially and
//! after every step. To IC3 such a bit is a burden: a cube that has it says little about the states outside of it. In the
//! projected machine it is an input, and what holds in every state, which may speak of it, is required of every step and of
//! bad states.

use std::collections::{HashMap, HashSet};

use ample_boolean::{Dag, Lit, Node};

use crate::bmc::Path;
use crate::machine::Machine;

/// What is known of the steps of a synchronous machine.
#[derive(Clone, Debug)]
pub struct Requirements {
    /// What a step requires, except for the invariant in the next state.
    pub own: Vec<Lit>,
    /// What holds in every state.
    pub invariant: Vec<Lit>,
    /// What holds initially, the invariant among it.
    pub initial: Vec<Lit>,
}

/// A machine with fewer state bits and more inputs.
#[derive(Clone, Debug)]
pub struct Projected {
    /// The machine. Its step and the bad states require that the constraint holds.
    pub machine: Machine,
    /// What a step requires except for the constraint.
    pub own: Lit,
    /// What holds in every state that counts, over state bits and inputs.
    pub constraint: Lit,
    /// The position of each state bit in the machine that it was made from.
    kept: Vec<usize>,
    /// Of each input of that machine: where its value is.
    sources: Vec<Source>,
    /// The state bits of that machine that are inputs: their position there, and here.
    moved: Vec<(usize, usize)>,
}

/// Where the value of an input is.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// An input of the same step.
    Here(usize),
    /// An input of the next step.
    Next(usize),
}

/// The nodes that formulas are made of.
pub(crate) fn cone(dag: &Dag, roots: impl IntoIterator<Item = Lit>) -> Vec<bool> {
    let mut reached = vec![false; dag.len()];
    let mut open: Vec<usize> = roots.into_iter().map(Lit::index).collect();
    while let Some(index) = open.pop() {
        if std::mem::replace(&mut reached[index], true) {
            continue;
        }
        if let Node::And(x, y) = dag.node(Lit((index as u32) << 1)) {
            open.extend([x.index(), y.index()]);
        }
    }
    reached
}

/// The nodes that formulas are made of, now or after some steps.
pub(crate) fn sequential_cone(machine: &Machine, roots: impl IntoIterator<Item = Lit>) -> Vec<bool> {
    let mut next = vec![None; machine.unused as usize];
    machine.state.iter().zip(&machine.next).for_each(|(bit, lit)| next[*bit as usize] = Some(lit.index()));
    let mut reached = vec![false; machine.dag.len()];
    let mut open: Vec<usize> = roots.into_iter().map(Lit::index).collect();
    while let Some(index) = open.pop() {
        if std::mem::replace(&mut reached[index], true) {
            continue;
        }
        match machine.dag.node(Lit((index as u32) << 1)) {
            Node::Constant => {}
            Node::Input(number) => open.extend(next.get(number as usize).copied().flatten()),
            Node::And(x, y) => open.extend([x.index(), y.index()]),
        }
    }
    reached
}

impl Projected {
    /// The machine without state bits that are inputs; `None` if it has none of these. The formulas of `bad` must not be
    /// about next values.
    pub fn of(machine: &Machine, requirements: &Requirements, bad: &[Lit]) -> Option<Projected> {
        let invariant: HashSet<Lit> = requirements.invariant.iter().copied().collect();
        let initial: Vec<Lit> = requirements.initial.iter().copied().filter(|lit| !invariant.contains(lit)).collect();
        let moved = movable(machine, requirements, &initial, bad);
        if !moved.contains(&true) {
            return None;
        }
        let mut projected = machine.clone();
        let dag = &mut projected.dag;
        let constraint = dag.all(&requirements.invariant);
        let own = dag.all(&requirements.own);
        projected.step = dag.and(own, constraint);
        projected.initial = dag.all(&initial);
        let kept: Vec<usize> = (0..machine.state.len()).filter(|position| !moved[*position]).collect();
        projected.state = kept.iter().map(|position| machine.state[*position]).collect();
        projected.next = kept.iter().map(|position| machine.next[*position]).collect();
        let next_of = |position: usize| match machine.dag.node(machine.next[position]) {
            Node::Input(number) => Some(number),
            _ => None,
        };
        let positions: Vec<usize> = (0..machine.state.len()).filter(|position| moved[*position]).collect();
        let next_values = positions.iter().filter_map(|position| next_of(*position));
        let dropped: HashMap<u32, usize> = next_values.zip(0..).collect();
        projected.inputs.retain(|number| !dropped.contains_key(number));
        let count = projected.inputs.len();
        let places: HashMap<u32, usize> = projected.inputs.iter().copied().zip(0..).collect();
        let source = |number: &u32| match dropped.get(number) {
            Some(place) => Source::Next(count + place),
            None => Source::Here(places.get(number).copied().unwrap_or_default()),
        };
        let sources = machine.inputs.iter().map(source).collect();
        projected.inputs.extend(positions.iter().map(|position| machine.state[*position]));
        let moved = positions.into_iter().zip(count..).collect();
        Some(Projected { machine: projected, own, constraint, kept, sources, moved })
    }

    /// The bad states, in which the constraint holds, too.
    pub fn bad(&mut self, bad: Lit) -> Lit {
        self.machine.dag.and(bad, self.constraint)
    }

    /// The position of a state bit in the machine that it was made from.
    pub fn position(&self, bit: u32) -> u32 {
        self.kept[bit as usize] as u32
    }

    /// A run of this machine as one of the machine that it was made from.
    pub fn restore(&self, path: &Path) -> Path {
        let count = self.kept.len() + self.moved.len();
        let inputs = |step: usize| path.inputs.get(step).unwrap_or(&path.last_inputs);
        let value = |step: usize, place: usize| inputs(step).get(place).copied().unwrap_or(false);
        let state = |(step, bits): (usize, &Vec<bool>)| {
            let mut state = vec![false; count];
            self.kept.iter().zip(bits).for_each(|(position, value)| state[*position] = *value);
            self.moved.iter().for_each(|(position, place)| state[*position] = value(step, *place));
            state
        };
        let of_step = |step: usize| {
            let source = |source: &Source| match source {
                Source::Here(place) => value(step, *place),
                Source::Next(place) => step < path.inputs.len() && value(step + 1, *place),
            };
            self.sources.iter().map(source).collect()
        };
        Path {
            states: path.states.iter().enumerate().map(state).collect(),
            inputs: (0..path.inputs.len()).map(of_step).collect(),
            last_inputs: of_step(path.inputs.len()),
        }
    }
}

/// By position: the state bit may have any value initially and after every step, as far as the invariant lets it.
fn movable(machine: &Machine, requirements: &Requirements, initial: &[Lit], bad: &[Lit]) -> Vec<bool> {
    let dag = &machine.dag;
    let inputs: HashSet<u32> = machine.inputs.iter().copied().collect();
    let mut free = Vec::new();
    for lit in &machine.next {
        free.push(match dag.node(*lit) {
            Node::Input(number) if !lit.is_negated() && inputs.contains(&number) => Some(number),
            _ => None,
        });
    }
    let mut is_shared: HashSet<u32> = HashSet::new();
    let mut seen = HashSet::new();
    free.iter().flatten().filter(|number| !seen.insert(**number)).for_each(|number| {
        is_shared.insert(*number);
    });
    let functions = machine.next.iter().zip(&free).filter(|(_, free)| free.is_none()).map(|(lit, _)| *lit);
    let used = cone(dag, functions.chain(requirements.own.iter().copied()).chain(bad.iter().copied()));
    let begins = cone(dag, initial.iter().copied());
    let is_in = |reached: &[bool], number: u32| dag.find_input(number).is_some_and(|lit| reached[lit.index()]);
    let is_movable = |(bit, free): (&u32, &Option<u32>)| {
        free.is_some_and(|number| !is_shared.contains(&number) && !is_in(&used, number) && !is_in(&begins, *bit))
    };
    machine.state.iter().zip(&free).map(is_movable).collect()
}
