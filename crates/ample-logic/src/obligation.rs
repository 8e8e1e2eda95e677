//! Minimal deterministic automata for obligations, the Boolean combinations of safety and guarantee properties.
//!
//! Such a property is recognised by a weak deterministic Büchi automaton, and the smallest one is unique and cheap to
//! find (Löding: *Efficient minimization of deterministic weak ω-automata*, 2001; Dax, Eisinger, Klaedtke: *Mechanizing
//! the powerset construction for restricted classes of ω-automata*, 2007): determinise by the powerset, let one cycle of
//! each component decide whether it accepts, minimise as for finite words, and check that the result is right. If it is
//! not, the property was no obligation.

use std::collections::HashMap;

use crate::bdd::{Bdd, Bdds, FALSE, TRUE};
use crate::graph::{Arc, Graph};

/// A powerset is given up at so many arcs for each state that it may have.
const MAX_DEGREE: usize = 16;

/// The minimal weak deterministic automaton of the language of `graph`, if there is one with at most `max_states`
/// states before minimisation. `negation` must accept the complement.
pub(crate) fn weak_deterministic(graph: &Graph, negation: &Graph, bdds: &mut Bdds, max_states: usize) -> Option<Graph> {
    let (mut deterministic, sets) = powerset(graph, bdds, max_states)?;
    let accepting = colour(graph, &deterministic, &sets, bdds);
    minimise(&mut deterministic, &accepting, bdds);
    let mut complement = deterministic.clone();
    for arc in complement.out.iter_mut().flatten() {
        arc.marks ^= 1;
    }
    let right = !intersect(&deterministic, negation, bdds)? && !intersect(&complement, graph, bdds)?;
    right.then_some(deterministic)
}

/// The complete deterministic graph of sets of states.
fn powerset(graph: &Graph, bdds: &mut Bdds, max_states: usize) -> Option<(Graph, Vec<Vec<usize>>)> {
    let mut number: HashMap<Vec<usize>, usize> = HashMap::new();
    let mut sets = vec![vec![graph.initial]];
    number.insert(sets[0].clone(), 0);
    let mut out: Vec<Vec<Arc>> = Vec::new();
    let mut arcs_left = MAX_DEGREE * max_states;
    while out.len() < sets.len() {
        // the successor sets, by valuation
        let mut successors: Vec<(Bdd, Vec<usize>)> = vec![(TRUE, Vec::new())];
        for arc in sets[out.len()].iter().flat_map(|&q| &graph.out[q]) {
            let mut split = Vec::new();
            for (label, set) in successors {
                let inside = bdds.and(label, arc.label);
                let outside = bdds.minus(label, arc.label);
                if inside != FALSE {
                    let mut larger = set.clone();
                    if let Err(at) = larger.binary_search(&arc.to) {
                        larger.insert(at, arc.to);
                    }
                    split.push((inside, larger));
                }
                if outside != FALSE {
                    split.push((outside, set));
                }
            }
            successors = split;
            if successors.len() > arcs_left {
                return None;
            }
        }
        arcs_left -= successors.len();
        let mut arcs = Vec::new();
        for (label, set) in successors {
            let to = *number.entry(set).or_insert_with_key(|set| {
                sets.push(set.clone());
                sets.len() - 1
            });
            arcs.push(Arc { to, marks: 0, label });
        }
        out.push(arcs);
        if sets.len() > max_states {
            return None;
        }
    }
    let mut result = Graph { initial: 0, sets: 1, out };
    result.merge_arcs(bdds);
    Some((result, sets))
}

/// Which states of the powerset are accepting: for each component that of one of its cycles, for states on no cycle the
/// colour that allows the most merging.
fn colour(graph: &Graph, powerset: &Graph, sets: &[Vec<usize>], bdds: &mut Bdds) -> Vec<bool> {
    let components = powerset.components();
    let count = components.accepting.len();
    let largest = (count | 1) + 1;
    let mut rank = vec![largest; count];
    let mut first = vec![usize::MAX; count];
    for (q, &c) in components.of.iter().enumerate() {
        first[c] = first[c].min(q);
    }
    let mut members = vec![Vec::new(); count];
    for (q, &c) in components.of.iter().enumerate() {
        members[c].push(q);
    }
    // components are numbered from the bottom
    for c in 0..count {
        let below = members[c].iter().flat_map(|&q| &powerset.out[q]).map(|a| components.of[a.to]);
        let least = below.filter(|&d| d != c).map(|d| rank[d]).min().unwrap_or(largest);
        rank[c] = match cycle(powerset, first[c], &components.of, bdds) {
            None => least,
            Some(word) if accepts_cycle(graph, &sets[first[c]], &word, bdds) => least & !1,
            Some(_) => (least - 1) | 1,
        };
    }
    components.of.iter().map(|&c| rank[c].is_multiple_of(2)).collect()
}

/// A shortest cycle through a state within its component, as single valuations.
fn cycle(graph: &Graph, start: usize, of: &[usize], bdds: &mut Bdds) -> Option<Vec<Bdd>> {
    let mut parent: HashMap<usize, (usize, Bdd)> = HashMap::new();
    let mut queue = std::collections::VecDeque::from([start]);
    while let Some(q) = queue.pop_front() {
        for arc in graph.out[q].iter().filter(|a| of[a.to] == of[start]) {
            if arc.to == start {
                let mut word = vec![one_valuation(arc.label, bdds)];
                let mut at = q;
                while at != start {
                    let (before, label) = parent[&at];
                    word.push(one_valuation(label, bdds));
                    at = before;
                }
                word.reverse();
                return Some(word);
            }
            parent.entry(arc.to).or_insert_with(|| {
                queue.push_back(arc.to);
                (q, arc.label)
            });
        }
    }
    None
}

/// The literals of one valuation that satisfies `label`. What it leaves open is false.
fn one_valuation(label: Bdd, bdds: &mut Bdds) -> Bdd {
    let mut literals = Vec::new();
    let mut at = label;
    while at > TRUE {
        let var = bdds.top(at);
        let (low, high) = bdds.cofactors(at, var);
        literals.push((var, low == FALSE));
        at = if low == FALSE { high } else { low };
    }
    // labels that mention further variables must still be decided: those are checked by `allows`
    literals.into_iter().rev().fold(TRUE, |all, (var, sign)| {
        let literal = bdds.literal(var, sign);
        bdds.and(literal, all)
    })
}

/// Whether the valuation that makes the literals of `word` true, and all other variables false, satisfies `label`.
fn allows(label: Bdd, word: Bdd, bdds: &Bdds) -> bool {
    let (mut label, mut word) = (label, word);
    while label > TRUE {
        let var = bdds.top(label);
        while bdds.top(word) < var {
            let (low, high) = bdds.cofactors(word, bdds.top(word));
            word = if low == FALSE { high } else { low };
        }
        let positive = bdds.top(word) == var && bdds.cofactors(word, var).0 == FALSE;
        let (low, high) = bdds.cofactors(label, var);
        label = if positive { high } else { low };
    }
    label == TRUE
}

/// Whether the word repeated forever is accepted from one of the states.
fn accepts_cycle(graph: &Graph, states: &[usize], word: &[Bdd], bdds: &Bdds) -> bool {
    let n = graph.states();
    let mut out = Vec::with_capacity(n * word.len() + 1);
    for (i, &letter) in word.iter().enumerate() {
        let next = (i + 1) % word.len();
        for arcs in &graph.out {
            let allowed = arcs.iter().filter(|a| allows(a.label, letter, bdds));
            out.push(allowed.map(|a| Arc { to: next * n + a.to, ..*a }).collect::<Vec<Arc>>());
        }
    }
    out.push(states.iter().map(|&q| Arc { to: q, marks: 0, label: TRUE }).collect());
    has_accepting_run(Graph { initial: n * word.len(), sets: graph.sets, out })
}

/// Whether an accepting cycle can be reached.
pub(crate) fn has_accepting_run(mut graph: Graph) -> bool {
    let everything = vec![true; graph.states()];
    graph.restrict(&everything);
    graph.components().accepting.contains(&true)
}

/// Merges states that no continuation distinguishes (Moore), and moves the colours to the arcs.
fn minimise(graph: &mut Graph, accepting: &[bool], bdds: &mut Bdds) {
    let mut class: Vec<usize> = accepting.iter().map(|&a| usize::from(a)).collect();
    let mut count = 0;
    loop {
        let mut signatures: HashMap<(usize, Vec<(usize, Bdd)>), usize> = HashMap::new();
        let mut next = Vec::with_capacity(class.len());
        for (q, arcs) in graph.out.iter().enumerate() {
            let mut labels: HashMap<usize, Bdd> = HashMap::new();
            for arc in arcs {
                let label = labels.entry(class[arc.to]).or_insert(FALSE);
                *label = bdds.or(*label, arc.label);
            }
            let mut labels: Vec<(usize, Bdd)> = labels.into_iter().collect();
            labels.sort_unstable();
            let fresh = signatures.len();
            next.push(*signatures.entry((class[q], labels)).or_insert(fresh));
        }
        class = next;
        if signatures.len() == count {
            break;
        }
        count = signatures.len();
    }
    let mut out = vec![Vec::new(); count];
    for (q, arcs) in graph.out.iter().enumerate() {
        let marks = u32::from(accepting[q]);
        if out[class[q]].is_empty() {
            out[class[q]] = arcs.iter().map(|a| Arc { to: class[a.to], marks, label: a.label }).collect();
        }
    }
    *graph = Graph { initial: class[graph.initial], sets: 1, out };
    graph.merge_arcs(bdds);
}

/// Whether some word is accepted by both, or `None` if they have too many sets together.
pub(crate) fn intersect(a: &Graph, b: &Graph, bdds: &mut Bdds) -> Option<bool> {
    product(a, b, bdds, usize::MAX).map(has_accepting_run)
}

/// The automaton that accepts what both do, or `None` if it needs more than 32 sets or `max_states` states.
pub(crate) fn product(a: &Graph, b: &Graph, bdds: &mut Bdds, max_states: usize) -> Option<Graph> {
    if a.sets + b.sets > 32 {
        return None;
    }
    let mut number: HashMap<(usize, usize), usize> = HashMap::new();
    let mut pairs = vec![(a.initial, b.initial)];
    number.insert(pairs[0], 0);
    let mut out: Vec<Vec<Arc>> = Vec::new();
    while out.len() < pairs.len() {
        let (p, q) = pairs[out.len()];
        let mut arcs = Vec::new();
        for x in &a.out[p] {
            for y in &b.out[q] {
                let label = bdds.and(x.label, y.label);
                if label == FALSE {
                    continue;
                }
                let to = *number.entry((x.to, y.to)).or_insert_with(|| {
                    pairs.push((x.to, y.to));
                    pairs.len() - 1
                });
                let high = if b.sets == 0 { 0 } else { y.marks << a.sets };
                arcs.push(Arc { to, marks: x.marks | high, label });
            }
        }
        out.push(arcs);
        if pairs.len() > max_states {
            return None;
        }
    }
    Some(Graph { initial: 0, sets: a.sets + b.sets, out })
}
