//! What a persistent set is, looked at directly (Godefroid's thesis, §4.1): while only others move, the transitions of the set stay
//! enabled, and none of the others gets into their way.
//!
//! A transition that begins an atomic sequence is all of the sequence, and may lead to several states. Two that change
//! the value of an invariant are in each other's way.

use std::collections::{BTreeMap, BTreeSet};

use ample::System;
use ample_explicit::compile::{Algorithm, Dependency, Reduced, Transition};
use ample_explicit::partial::{Label, Labelled, Partial};
use ample_explicit::space::{Checked, StateSpace};
use ample_model::Expr;

/// The states after a transition, by number; none stands for a fault.
type Ends = BTreeSet<Option<usize>>;

/// A state that is not part of an atomic sequence.
struct Node {
    state: Vec<u8>,
    enabled: Vec<Labelled<Transition>>,
    ends: BTreeMap<Label, Ends>,
    /// The value of the invariant.
    holds: bool,
}

/// The state space.
struct Graph<'a> {
    space: Reduced<'a>,
    nodes: Vec<Node>,
    numbers: BTreeMap<Vec<u8>, usize>,
}

impl<'a> Graph<'a> {
    fn new(space: Reduced<'a>) -> Graph<'a> {
        let mut graph = Graph { space, nodes: Vec::new(), numbers: BTreeMap::new() };
        let mut state = Vec::new();
        if graph.space.initial(0, &mut state) && !graph.space.is_dead() {
            graph.ends_of(vec![state]);
        }
        let mut next = 0;
        while next < graph.nodes.len() {
            graph.expand(next);
            next += 1;
        }
        graph
    }

    fn expand(&mut self, number: usize) {
        let state = self.nodes[number].state.clone();
        let mut enabled = Vec::new();
        self.space.enabled(&state, &mut enabled);
        for one in &enabled {
            let ends = self.after(&state, &one.transition);
            self.nodes[number].ends.insert(one.label, ends);
        }
        self.nodes[number].enabled = enabled;
    }

    fn after(&mut self, state: &[u8], transition: &Transition) -> Ends {
        let mut out = Vec::new();
        self.space.target(state, transition, &mut out);
        if self.space.is_dead() { Ends::from([None]) } else { self.ends_of(vec![out]) }
    }

    /// The states where atomic sequences end that have come to these.
    fn ends_of(&mut self, mut met: Vec<Vec<u8>>) -> Ends {
        let mut ends = Ends::new();
        let mut next = 0;
        while let Some(state) = met.get(next).cloned() {
            next += 1;
            if !self.space.is_transient(&state) {
                ends.insert(Some(self.number(state)));
                continue;
            }
            let mut cursor = self.space.first(&state);
            while let Some(transition) = cursor {
                let mut out = Vec::new();
                self.space.target(&state, &transition, &mut out);
                if self.space.is_dead() {
                    ends.insert(None);
                } else if !met.contains(&out) {
                    met.push(out);
                }
                cursor = self.space.next(&state, &transition);
            }
        }
        ends
    }

    fn number(&mut self, state: Vec<u8>) -> usize {
        if let Some(number) = self.numbers.get(&state) {
            return *number;
        }
        let number = self.nodes.len();
        self.numbers.insert(state.clone(), number);
        let holds = self.space.invariant(0, &state);
        self.nodes.push(Node { state, enabled: Vec::new(), ends: BTreeMap::new(), holds });
        number
    }

    /// Where the second leads to after the first; none if it is not enabled there.
    fn both(&self, from: usize, first: Label, second: Label) -> Option<Ends> {
        let mut ends = Ends::new();
        for between in &self.nodes[from].ends[&first] {
            match between {
                Some(between) => ends.extend(self.nodes[*between].ends.get(&second)?),
                None => {
                    ends.insert(None);
                }
            }
        }
        Some(ends)
    }

    /// Neither disables the other, and their order makes no difference. What never ends is followed by nothing: there
    /// the search takes more, as its proviso demands.
    fn commute(&self, from: usize, first: Label, second: Label) -> bool {
        let (Some(one), Some(other)) = (self.both(from, first, second), self.both(from, second, first)) else {
            return false;
        };
        let is_endless = |label: Label| self.nodes[from].ends[&label].is_empty();
        let are_seen = self.is_seen(from, first) && self.is_seen(from, second);
        is_endless(first) || is_endless(second) || one == other && !are_seen
    }

    /// The transition changes the value of the invariant.
    fn is_seen(&self, from: usize, transition: Label) -> bool {
        let node = &self.nodes[from];
        node.ends[&transition].iter().flatten().any(|end| self.nodes[*end].holds != node.holds)
    }

    fn name(&self, label: Label) -> &str {
        &self.space.unfolding().scheme().transitions[label as usize].label
    }

    /// What is wrong with the set in that state.
    fn objection(&self, number: usize, set: &[Label]) -> Option<String> {
        let faults = |label: &Label| self.nodes[number].ends[label].contains(&None);
        // Then the search takes all that is enabled.
        if set.iter().any(faults) {
            return None;
        }
        let mut met = BTreeSet::from([number]);
        let mut pending = vec![number];
        while let Some(here) = pending.pop() {
            let node = &self.nodes[here];
            if set.iter().any(|member| !node.ends.contains_key(member)) {
                return Some("a member of a persistent set is disabled by another".into());
            }
            for (other, ends) in node.ends.iter().filter(|(label, _)| !set.contains(label)) {
                if let Some(member) = set.iter().find(|member| !self.commute(here, **member, *other)) {
                    let (member, other) = (self.name(*member), self.name(*other));
                    return Some(format!("a persistent set has {member} and not {other}"));
                }
                pending.extend(ends.iter().flatten().filter(|end| met.insert(**end)));
            }
        }
        None
    }
}

/// What is wrong with the persistent sets in the states of a system.
pub fn persistent_sets(system: &System, invariant: &Expr, algorithm: Algorithm) -> Vec<String> {
    let Ok(space) = Reduced::new(system, std::slice::from_ref(invariant), true, algorithm) else { return Vec::new() };
    // The finest dependency, which is used unless sleep sets are combined with a proviso.
    let mut graph = Graph::new(space.with_dependency(Dependency::Conditional, false, false));
    for number in 0..graph.nodes.len() {
        let (state, enabled) = (graph.nodes[number].state.clone(), graph.nodes[number].enabled.clone());
        for seed in [None].into_iter().chain((0..enabled.len() as u32).map(Some)) {
            let mut chosen = Vec::new();
            match seed {
                None => graph.space.persistent(&state, &enabled, &mut chosen),
                Some(seed) => graph.space.persistent_with(&state, &enabled, seed, &mut chosen),
            }
            let set: Vec<Label> = chosen.iter().map(|position| enabled[*position as usize].label).collect();
            if let Some(objection) = graph.objection(number, &set) {
                return vec![objection];
            }
        }
    }
    Vec::new()
}

/// What is wrong with the independence of transitions, as sleep sets use it.
pub fn independence(system: &System, invariant: &Expr) -> Vec<String> {
    let invariants = std::slice::from_ref(invariant);
    let Ok(space) = Reduced::new(system, invariants, true, Algorithm::Guards) else { return Vec::new() };
    let mut graph = Graph::new(space.with_dependency(Dependency::Conditional, true, false));
    for number in 0..graph.nodes.len() {
        let (state, labels) = (graph.nodes[number].state.clone(), graph.nodes[number].enabled.clone());
        for (place, first) in labels.iter().enumerate() {
            for second in &labels[place + 1..] {
                let faults = [first, second].iter().any(|one| graph.nodes[number].ends[&one.label].contains(&None));
                let independent = graph.space.independent(&state, first.label, second.label);
                if independent && !faults && !graph.commute(number, first.label, second.label) {
                    let (first, second) = (graph.name(first.label), graph.name(second.label));
                    return vec![format!("{first} and {second} are not independent")];
                }
            }
        }
    }
    Vec::new()
}
