//! Smaller automata of the same language: useless states, useless acceptance, simulation in both directions.
//!
//! The simulations compare, letter by letter, with the union of the other state's arcs: `q` is simulated by `p` if
//! under each valuation every arc of `q` is matched by one of `p` with at least its marks to a state that simulates
//! the target. States that simulate each other are merged; of two arcs under the same valuation, the one that is
//! strictly simulated is dropped (Etessami, Wilke, Schuller: *Fair simulation relations, parity games, and state space
//! reduction for Büchi automata*, 2005; Clemente, Mayr: *Advanced automata minimization*, 2013).

use crate::bdd::{Bdds, FALSE};
use crate::graph::{Arc, Graph};

/// Above this many states or arcs, simulations are not computed: they would take too long, for all arcs are compared
/// with each other.
const MAX_SIMULATION: usize = 400;
const MAX_SIMULATION_ARCS: usize = 4000;

/// Applies all reductions until none helps. If `state_based`, acceptance stays readable off the states.
pub(crate) fn reduce(graph: &mut Graph, bdds: &mut Bdds, state_based: bool) {
    trim(graph, bdds, state_based);
    let mut fill = false;
    loop {
        let before = (graph.states(), graph.arcs(), graph.sets);
        if graph.states() <= MAX_SIMULATION && graph.arcs() <= MAX_SIMULATION_ARCS {
            if fill && !state_based {
                fill_marks(graph);
            }
            forward_simulation(graph, bdds);
            trim(graph, bdds, state_based);
            if fill && !state_based {
                fill_marks(graph);
            }
            backward_simulation(graph, bdds, state_based);
            trim(graph, bdds, state_based);
        }
        let after = (graph.states(), graph.arcs(), graph.sets);
        if after >= before {
            if fill || state_based {
                break;
            }
            fill = true;
        }
    }
}

/// Gives arcs on no accepting cycle all marks: there they mean nothing, but help to simulate.
fn fill_marks(graph: &mut Graph) {
    let components = graph.components();
    let all = graph.all_marks();
    for q in 0..graph.states() {
        let c = components.of[q];
        for arc in &mut graph.out[q] {
            if components.of[arc.to] != c {
                arc.marks = all;
            }
        }
    }
}

/// Removes states from which no accepting cycle can be reached, marks without effect and superfluous sets.
pub(crate) fn trim(graph: &mut Graph, bdds: &mut Bdds, state_based: bool) {
    graph.merge_arcs(bdds);
    let components = graph.components();
    let mut useful = components.accepting.clone();
    let mut members = vec![Vec::new(); useful.len()];
    for (q, &c) in components.of.iter().enumerate() {
        members[c].push(q);
    }
    for c in 0..useful.len() {
        useful[c] |= members[c].iter().any(|&q| graph.out[q].iter().any(|a| useful[components.of[a.to]]));
    }
    let keep: Vec<bool> = components.of.iter().map(|&c| useful[c]).collect();
    for q in 0..graph.states() {
        let c = components.of[q];
        for arc in &mut graph.out[q] {
            if !components.accepting[c] || components.of[arc.to] != c && !state_based {
                arc.marks = 0;
            }
        }
    }
    graph.restrict(&keep);
    if !state_based {
        simplify_acceptance(graph);
    }
    graph.merge_arcs(bdds);
}

/// In each component, drops the sets that another one implies there; what is left is numbered from 0, and the numbers
/// that a component does not need repeat its first set.
fn simplify_acceptance(graph: &mut Graph) {
    let components = graph.components();
    let count = components.accepting.len();
    let mut inner: Vec<Vec<u32>> = vec![Vec::new(); count];
    for q in 0..graph.states() {
        let c = components.of[q];
        inner[c].extend(graph.out[q].iter().filter(|a| components.of[a.to] == c).map(|a| a.marks));
    }
    let mut needed: Vec<Vec<u32>> = Vec::with_capacity(count);
    for (c, marks) in inner.iter().enumerate() {
        let mut sets: Vec<u32> = Vec::new();
        if components.accepting[c] {
            let within = |i: u32, j: u32| marks.iter().all(|m| m >> i & 1 == 0 || m >> j & 1 == 1);
            sets.extend(0..graph.sets);
            // set j is superfluous if all arcs of another set i are in j
            for j in (0..graph.sets).rev() {
                if sets.iter().any(|&i| i != j && within(i, j)) || marks.iter().all(|m| m >> j & 1 == 1) {
                    sets.retain(|&i| i != j);
                }
            }
        }
        needed.push(sets);
    }
    let rejecting = (0..graph.states()).any(|q| {
        let c = components.of[q];
        !components.accepting[c] && graph.out[q].iter().any(|a| components.of[a.to] == c)
    });
    let sets = needed.iter().map(Vec::len).max().unwrap_or(0).max(usize::from(rejecting)) as u32;
    for q in 0..graph.states() {
        let c = components.of[q];
        for arc in &mut graph.out[q] {
            let old = arc.marks;
            arc.marks = 0;
            if components.of[arc.to] != c || !components.accepting[c] {
                continue;
            }
            for i in 0..sets {
                let set = needed[c].get(i as usize).or(needed[c].first());
                if set.is_none_or(|&s| old >> s & 1 == 1) {
                    arc.marks |= 1 << i;
                }
            }
        }
    }
    graph.sets = sets;
}

/// A preorder on states: `relation[q][p]` if `p` simulates `q`.
type Relation = Vec<Vec<bool>>;

/// The largest simulation on `arcs`; `start` says which pairs may be related at all.
fn simulation(arcs: &[Vec<Arc>], bdds: &mut Bdds, start: impl Fn(usize, usize) -> bool) -> Relation {
    let n = arcs.len();
    let mut relation: Relation = (0..n).map(|q| (0..n).map(|p| q == p || start(q, p)).collect()).collect();
    loop {
        let mut changed = false;
        for q in 0..n {
            for p in 0..n {
                if q != p && relation[q][p] && !simulates(arcs, bdds, &relation, q, p) {
                    relation[q][p] = false;
                    changed = true;
                }
            }
        }
        if !changed {
            return relation;
        }
    }
}

fn simulates(arcs: &[Vec<Arc>], bdds: &mut Bdds, relation: &Relation, q: usize, p: usize) -> bool {
    arcs[q].iter().all(|a| {
        let mut open = a.label;
        for b in &arcs[p] {
            if open == FALSE {
                break;
            }
            if a.marks & !b.marks == 0 && relation[a.to][b.to] {
                open = bdds.minus(open, b.label);
            }
        }
        open == FALSE
    })
}

/// For each state, the first of those it is equivalent to.
fn representatives(relation: &Relation) -> Vec<usize> {
    let n = relation.len();
    (0..n).map(|q| (0..=q).find(|&p| relation[q][p] && relation[p][q]).unwrap_or(q)).collect()
}

/// Removes from each label the valuations under which another arc is strictly better.
fn prune(arcs: &mut Vec<Vec<Arc>>, bdds: &mut Bdds, relation: &Relation) {
    for list in arcs {
        let old = list.clone();
        for (i, a) in list.iter_mut().enumerate() {
            for (j, b) in old.iter().enumerate() {
                let covers = a.marks & !b.marks == 0 && relation[a.to][b.to];
                let covered = b.marks & !a.marks == 0 && relation[b.to][a.to];
                if i != j && covers && (!covered || j < i) {
                    a.label = bdds.minus(a.label, b.label);
                }
            }
        }
        list.retain(|a| a.label != FALSE);
    }
}

fn forward_simulation(graph: &mut Graph, bdds: &mut Bdds) {
    let relation = simulation(&graph.out, bdds, |_, _| true);
    let first = representatives(&relation);
    for arc in graph.out.iter_mut().flatten() {
        arc.to = first[arc.to];
    }
    graph.initial = first[graph.initial];
    graph.merge_arcs(bdds);
    prune(&mut graph.out, bdds, &relation);
}

fn backward_simulation(graph: &mut Graph, bdds: &mut Bdds, state_based: bool) {
    let n = graph.states();
    let mut into: Vec<Vec<Arc>> = vec![Vec::new(); n];
    for q in 0..n {
        for a in &graph.out[q] {
            into[a.to].push(Arc { to: q, ..*a });
        }
    }
    let initial = graph.initial;
    let accepting: Vec<bool> = graph.out.iter().map(|arcs| arcs.first().is_some_and(|a| a.marks != 0)).collect();
    let relation = simulation(&into, bdds, |q, p| {
        (q != initial || p == initial) && (!state_based || accepting[q] <= accepting[p])
    });
    let first = representatives(&relation);
    if first.iter().enumerate().any(|(q, &p)| q != p) {
        let mut out = vec![Vec::new(); n];
        for q in 0..n {
            for a in &graph.out[q] {
                out[first[q]].push(Arc { to: first[a.to], ..*a });
            }
        }
        graph.out = out;
        graph.merge_arcs(bdds);
        return;
    }
    prune(&mut into, bdds, &relation);
    let mut out = vec![Vec::new(); n];
    for (q, arcs) in into.iter().enumerate() {
        for a in arcs {
            out[a.to].push(Arc { to: q, ..*a });
        }
    }
    graph.out = out;
}
