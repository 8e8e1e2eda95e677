//! From generalised to ordinary Büchi automata with accepting states.
//!
//! Each component is treated by itself: one whose cycles are all accepting, or none, needs no counter. In the others a
//! state is paired with the number of sets seen in turn, in the order that gives the smallest result; since it does not
//! matter where the counter stands when a component is entered, only its smallest closed part is kept (compare Babiak
//! et al.: *Compositional approach to suspension and other improvements to LTL translation*, SPIN 2013).

use std::collections::HashMap;

use crate::bdd::Bdds;
use crate::graph::{Arc, Graph};

/// A state of the counting product: a state and how many sets have been seen.
type Counted = (usize, u32);

/// Which of the counters to enter a component with, where there is a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    Lowest,
    Highest,
}

/// An equivalent automaton with one set, in which all arcs that leave a state have equal marks.
pub(crate) fn degeneralize(graph: &Graph, bdds: &mut Bdds, entry: Entry) -> Graph {
    let components = graph.components();
    let top = graph.sets;
    let mut members = vec![Vec::new(); components.accepting.len()];
    for (q, &c) in components.of.iter().enumerate() {
        members[c].push(q);
    }
    // the part of the product that is kept, as pairs, and the order in which its component counts
    let mut kept: Vec<Counted> = Vec::new();
    let mut orders: Vec<Option<Counter>> = Vec::new();
    for (c, states) in members.iter().enumerate() {
        let counter = if !components.accepting[c] {
            kept.extend(states.iter().map(|&q| (q, 0)));
            None
        } else if all_cycles_accept(graph, states) {
            kept.extend(states.iter().map(|&q| (q, top)));
            None
        } else {
            let (counter, part) = best_counter(graph, states, &components.of);
            kept.extend(part);
            Some(counter)
        };
        orders.push(counter);
    }
    let number: HashMap<Counted, usize> = kept.iter().enumerate().map(|(i, &pair)| (pair, i)).collect();
    let mut enter = vec![usize::MAX; graph.states()];
    for (i, &(q, level)) in kept.iter().enumerate() {
        let old = enter[q];
        let better = match entry {
            _ if old == usize::MAX => true,
            Entry::Lowest => level < kept[old].1,
            Entry::Highest => level > kept[old].1,
        };
        if better {
            enter[q] = i;
        }
    }
    let out = kept.iter().map(|&(q, level)| {
        let c = components.of[q];
        let marks = u32::from(components.accepting[c] && level == top);
        let arcs = graph.out[q].iter().map(|a| {
            let to = match &orders[c] {
                Some(counter) if components.of[a.to] == c => number[&(a.to, counter.step(level, a))],
                _ => enter[a.to],
            };
            Arc { to, marks, label: a.label }
        });
        arcs.collect()
    });
    let mut result = Graph { initial: enter[graph.initial], sets: 1, out: out.collect() };
    let everything = vec![true; result.states()];
    result.restrict(&everything);
    result.merge_arcs(bdds);
    result
}

/// Whether each cycle through these states, which form a component, visits all sets.
fn all_cycles_accept(graph: &Graph, states: &[usize]) -> bool {
    let number: HashMap<usize, usize> = states.iter().enumerate().map(|(i, &q)| (q, i)).collect();
    (0..graph.sets).all(|set| {
        let without = |q: &usize| {
            let arcs = graph.out[*q].iter().filter(|a| a.marks >> set & 1 == 0);
            arcs.filter_map(|a| Some(Arc { to: *number.get(&a.to)?, marks: 0, label: a.label })).collect()
        };
        let rest = Graph { initial: 0, sets: 0, out: states.iter().map(without).collect() };
        !rest.components().accepting.contains(&true)
    })
}

/// How a component counts.
struct Counter {
    order: Vec<u32>,
    /// For each state, the marks that all its arcs within the component have, counted on arrival.
    ahead: Option<HashMap<usize, u32>>,
}

impl Counter {
    /// The count after an arc that stays in the component.
    fn step(&self, level: u32, arc: &Arc) -> u32 {
        let top = self.order.len() as u32;
        let mut level = if level == top { 0 } else { level };
        let advance = |level: &mut u32, marks: u32| {
            while *level < top && marks >> self.order[*level as usize] & 1 == 1 {
                *level += 1;
            }
        };
        advance(&mut level, arc.marks);
        if let Some(ahead) = &self.ahead {
            advance(&mut level, ahead[&arc.to]);
        }
        level
    }
}

/// The order of counting in a component that needs the fewest states, and these states.
fn best_counter(graph: &Graph, states: &[usize], of: &[usize]) -> (Counter, Vec<Counted>) {
    let c = of[states[0]];
    let inner = |q: usize| graph.out[q].iter().filter(move |a| of[a.to] == c);
    let ahead: HashMap<usize, u32> =
        states.iter().map(|&q| (q, inner(q).fold(graph.all_marks(), |m, a| m & a.marks))).collect();
    let mut best: Option<(Counter, Vec<Counted>)> = None;
    for order in orders(graph.sets) {
        for eager in [true, false] {
            let counter = Counter { order: order.clone(), ahead: eager.then(|| ahead.clone()) };
            let part = closed_part(graph, states, of, &counter);
            if best.as_ref().is_none_or(|(_, smallest)| part.len() < smallest.len()) {
                best = Some((counter, part));
            }
        }
    }
    match best {
        Some(found) => found,
        None => unreachable!("there is at least one order"),
    }
}

/// The smallest part of a component's product that cannot be left without leaving the component.
fn closed_part(graph: &Graph, states: &[usize], of: &[usize], counter: &Counter) -> Vec<Counted> {
    let c = of[states[0]];
    let mut number: HashMap<Counted, usize> = HashMap::new();
    let mut pairs: Vec<Counted> = Vec::new();
    let mut out: Vec<Vec<Arc>> = Vec::new();
    for level in 0..=counter.order.len() as u32 {
        pairs.extend(states.iter().map(|&q| (q, level)));
    }
    number.extend(pairs.iter().enumerate().map(|(i, &pair)| (pair, i)));
    for &(q, level) in &pairs {
        let inner = graph.out[q].iter().filter(|a| of[a.to] == c);
        out.push(inner.map(|a| Arc { to: number[&(a.to, counter.step(level, a))], ..*a }).collect());
    }
    let product = Graph { initial: 0, sets: 0, out };
    let parts = product.components();
    let mut closed = vec![true; parts.accepting.len()];
    let mut size = vec![0; parts.accepting.len()];
    for (i, arcs) in product.out.iter().enumerate() {
        size[parts.of[i]] += 1;
        closed[parts.of[i]] &= arcs.iter().all(|a| parts.of[a.to] == parts.of[i]);
    }
    let smallest = (0..size.len()).filter(|&p| closed[p]).min_by_key(|&p| size[p]);
    pairs.iter().enumerate().filter(|(i, _)| Some(parts.of[*i]) == smallest).map(|(_, &pair)| pair).collect()
}

/// The orders of the sets that are tried: all for a few, some for many.
fn orders(sets: u32) -> Vec<Vec<u32>> {
    let identity: Vec<u32> = (0..sets).collect();
    if sets > 4 {
        return (0..sets)
            .flat_map(|shift| {
                let mut turned = identity.clone();
                turned.rotate_left(shift as usize);
                let back = turned.iter().rev().copied().collect();
                [turned, back]
            })
            .collect();
    }
    let mut all = vec![Vec::new()];
    for _ in 0..sets {
        all = all
            .iter()
            .flat_map(|order: &Vec<u32>| {
                let free = identity.iter().filter(|i| !order.contains(i));
                free.map(|&i| {
                    let mut longer = order.clone();
                    longer.push(i);
                    longer
                })
                .collect::<Vec<_>>()
            })
            .collect();
    }
    all
}
