//! One aggregate after the other: what all other constructions are compared with.

use std::collections::HashMap;
use std::time::Instant;

use crate::aggregate::{arc_labels, arcs_by, facts, first};
use crate::canonical::{Canonical, kept_nodes, representatives};
use crate::digest::digest;
use crate::graph::{Aggregate, Graph};
use crate::model::{Error, Labelled, Maybe};
use crate::observed::{Label, Observed};
use crate::table::{Expansion, Id, Table};
use ample_budget::Budget;
use ample_symbolic::Portable;
use serde::Serialize;

/// What an aggregate cost that was computed once.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// Its number in the graph.
    pub id: usize,
    /// Seconds in which it was computed for the first time: the image, its closure, its bytes, and what there is to know of it.
    pub build_s: f64,
    /// The bytes of its set.
    pub bytes: usize,
    /// Its [`digest`](crate::digest::digest), which names its owner.
    pub owner_digest: String,
    /// Where its arcs lead.
    pub successors: Vec<usize>,
}

/// Builds the graph with one engine. `max_bytes` is for the sets of the aggregates.
///
/// ```
/// use ample_budget::Budget;
/// use ample_petri::net::{Net, Place, Transition};
/// use ample_sog::{Canonical, Explicit, Model, Observed, build};
///
/// // A token goes from `a` to `b` and back; only the way back is observed.
/// let place = |name: &str, initial| Place { name: name.into(), initial, bound: None };
/// let transition = |name: &str, from, to| Transition { name: name.into(), takes: vec![(from, 1)], adds: vec![(to, 1)] };
/// let net = Net {
///     places: vec![place("a", 1), place("b", 0)],
///     transitions: vec![transition("there", 0, 1), transition("back", 1, 0)],
///     exclusive: vec![],
/// };
/// let model = Explicit::new(net, vec![]);
/// let observed = Observed::events(2, &[1])?;
/// let budget = Budget::unlimited();
/// let graph = build(&mut model.sets(1, &budget)?, &observed, Canonical::None, 1 << 20, &budget)?;
/// assert_eq!((graph.size().aggregates, graph.size().arcs, graph.size().states), (1, 1, 2));
/// # Ok::<(), ample_sog::Error>(())
/// ```
pub fn build<S: Portable>(
    sets: &mut Labelled<S>,
    observed: &Observed,
    canonical: Canonical,
    max_bytes: u64,
    budget: &Budget,
) -> Maybe<Graph> {
    build_measured(sets, observed, canonical, max_bytes, budget).map(|(graph, _)| graph)
}

/// As [`build`], with what each aggregate cost.
pub fn build_measured<S: Portable>(
    sets: &mut Labelled<S>,
    observed: &Observed,
    canonical: Canonical,
    max_bytes: u64,
    budget: &Budget,
) -> Maybe<(Graph, Vec<Cost>)> {
    let table = Table::new(max_bytes);
    // There is nobody to send anything to.
    let is_canonical = canonical == Canonical::Full;
    let insert = |sets: &mut Labelled<S>, label: Label, set: &S::Set| -> Maybe<(Id, bool)> {
        let bytes = if is_canonical {
            let kept = representatives(sets, set, observed)?;
            sets.encode(&kept)?
        } else {
            sets.encode(set)?
        };
        table.find_or_insert(label, bytes)
    };
    let mut stack = Vec::new();
    let mut initial = Vec::new();
    // By the numbers of the table.
    let mut seconds = Vec::new();
    let begun = Instant::now();
    for (label, set) in first(sets, observed)? {
        let (id, is_new) = insert(sets, label, &set)?;
        initial.push(id);
        if is_new {
            stack.push((id, label, set));
        }
    }
    seconds.resize(stack.len(), begun.elapsed().as_secs_f64() / stack.len() as f64);
    table.set_initial(initial);
    while let Some((id, label, set)) = stack.pop() {
        budget.check()?;
        let begun = Instant::now();
        let mut facts = facts(sets, &set, label, observed)?;
        if is_canonical {
            facts.nodes = kept_nodes(sets, &table.entry(id).bytes)?;
        }
        seconds[id as usize] += begun.elapsed().as_secs_f64();
        let mut arcs = Vec::new();
        for action in arc_labels(observed) {
            budget.check()?;
            let begun = Instant::now();
            let before = seconds.len();
            let leaving = arcs_by(sets, &set, label, action, observed)?;
            let parts = leaving.len();
            for (action, label, to) in leaving {
                let (id, is_new) = insert(sets, label, &to)?;
                arcs.push((action, id));
                if is_new {
                    stack.push((id, label, to));
                    seconds.push(0.0);
                }
            }
            seconds[before..].fill(begun.elapsed().as_secs_f64() / parts as f64);
        }
        table.publish(&table.entry(id), Expansion { facts, arcs });
    }
    let missing = || Error::Internal("an aggregate was not expanded".into());
    let graph = table.graph(observed, is_canonical).ok_or_else(missing)?;
    let costs = costs(&graph, &table, &seconds);
    Ok((graph, costs))
}

/// What the aggregates cost, in the order of the graph.
fn costs(graph: &Graph, table: &Table, seconds: &[f64]) -> Vec<Cost> {
    let measured = (0..).zip(seconds).map(|(id, seconds)| {
        let entry = table.entry(id);
        (digest(entry.label, &entry.bytes), *seconds)
    });
    let measured: HashMap<u128, f64> = measured.collect();
    let cost = |(id, aggregate): (usize, &Aggregate)| {
        let digest = digest(aggregate.label, &aggregate.set);
        Cost {
            id,
            build_s: measured.get(&digest).copied().unwrap_or_default(),
            bytes: aggregate.set.len(),
            owner_digest: format!("{digest:032x}"),
            successors: aggregate.arcs.iter().map(|(_, to)| *to).collect(),
        }
    };
    graph.aggregates.iter().enumerate().map(cost).collect()
}
