//! The graph as plain data: aggregates, arcs, numbers.
//!
//! Whoever built it and in whatever order, aggregates are numbered breadth first from the initial ones, arcs in the
//! order of their labels, so that equal graphs are equal data.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::aggregate::Facts;
use crate::bytes::hex;
use crate::observed::{Label, Observed};

/// An arc: the observed action, or τ, and the aggregate that it leads to.
pub type Arc = (Option<usize>, usize);

/// A set of states of equal label that is closed under what is not observed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Aggregate {
    /// Which atoms hold in its states.
    pub label: Label,
    /// What was found out about it.
    pub facts: Facts,
    /// Its set, or its representatives, as bytes of the engine.
    #[serde(with = "hex")]
    pub set: Vec<u8>,
    /// The arcs that leave it, sorted.
    pub arcs: Vec<Arc>,
}

/// A symbolic observation graph.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Graph {
    /// What is observed.
    pub observed: Observed,
    /// The sets of the aggregates are their representatives.
    pub is_canonical: bool,
    /// The aggregates in which runs begin.
    pub initial: Vec<usize>,
    /// The aggregates.
    pub aggregates: Vec<Aggregate>,
}

/// The figures of a graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    /// Aggregates.
    pub aggregates: usize,
    /// Arcs, those labelled τ among them.
    pub arcs: usize,
    /// Arcs labelled τ.
    pub silent: usize,
    /// Aggregates with a state without successors.
    pub dead: usize,
    /// Aggregates with a cycle of unobserved actions.
    pub divergent: usize,
    /// The states of all aggregates, those that are in several counted several times.
    pub states: u128,
    /// The nodes of all aggregates' diagrams as they are kept, shared ones counted several times.
    pub nodes: usize,
    /// The bytes of all aggregates' sets as they are kept.
    pub bytes: usize,
}

impl Graph {
    /// Its figures.
    pub fn size(&self) -> Size {
        let mut size = Size { aggregates: self.aggregates.len(), ..Size::default() };
        for aggregate in &self.aggregates {
            size.arcs += aggregate.arcs.len();
            size.silent += aggregate.arcs.iter().filter(|(action, _)| action.is_none()).count();
            size.dead += usize::from(aggregate.facts.dead);
            size.divergent += usize::from(aggregate.facts.divergent);
            size.states = size.states.saturating_add(aggregate.facts.states);
            size.nodes += aggregate.facts.nodes;
            size.bytes += aggregate.set.len();
        }
        size
    }

    /// The aggregates without their sets and the numbers of nodes: what does not depend on how sets are kept.
    pub fn without_sets(&self) -> Vec<Aggregate> {
        let bare = |facts: &Facts| Facts { nodes: 0, ..facts.clone() };
        let one = |a: &Aggregate| Aggregate { facts: bare(&a.facts), set: Vec::new(), ..a.clone() };
        self.aggregates.iter().map(one).collect()
    }

    /// Numbers aggregates anew, breadth first; what cannot be reached goes. Arcs with the same label are ordered by the
    /// label and the bytes of where they lead, so that the order depends on content alone.
    pub fn numbered(
        observed: Observed,
        is_canonical: bool,
        mut initial: Vec<usize>,
        mut aggregates: Vec<Aggregate>,
    ) -> Graph {
        let content = |number: usize| (aggregates[number].label, &aggregates[number].set);
        initial.sort_by(|x, y| content(*x).cmp(&content(*y)));
        initial.dedup();
        let mut sorted: Vec<Vec<Arc>> = Vec::with_capacity(aggregates.len());
        for aggregate in &aggregates {
            let mut arcs = aggregate.arcs.clone();
            // τ after the observed actions.
            let key = |arc: &Arc| (arc.0.is_none(), arc.0);
            arcs.sort_by(|x, y| key(x).cmp(&key(y)).then_with(|| content(x.1).cmp(&content(y.1))));
            arcs.dedup();
            sorted.push(arcs);
        }
        let mut numbers = vec![usize::MAX; aggregates.len()];
        let mut order = Vec::new();
        let mut queue = VecDeque::new();
        let mut visit = |number: usize, order: &mut Vec<usize>, queue: &mut VecDeque<usize>| {
            if numbers[number] == usize::MAX {
                numbers[number] = order.len();
                order.push(number);
                queue.push_back(number);
            }
        };
        initial.iter().for_each(|number| visit(*number, &mut order, &mut queue));
        while let Some(number) = queue.pop_front() {
            sorted[number].iter().for_each(|(_, to)| visit(*to, &mut order, &mut queue));
        }
        let mut named = Vec::with_capacity(order.len());
        for number in order {
            let mut arcs = std::mem::take(&mut sorted[number]);
            arcs.iter_mut().for_each(|(_, to)| *to = numbers[*to]);
            let aggregate = &mut aggregates[number];
            let set = std::mem::take(&mut aggregate.set);
            named.push(Aggregate { label: aggregate.label, facts: aggregate.facts.clone(), set, arcs });
        }
        let initial = initial.into_iter().map(|number| numbers[number]).collect();
        Graph { observed, is_canonical, initial, aggregates: named }
    }
}
