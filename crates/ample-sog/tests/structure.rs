//! What aggregates, representatives and the kinds of graphs are like on small nets.

mod common;

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use ample_budget::Budget;
use ample_petri::net::Net;
use ample_random::Random;
use ample_sog::canonical::representatives;
use ample_sog::output::{Names, dot, json};
use ample_sog::{Canonical, Explicit, Graph, Lists, Model, Observed, build};
use ample_symbolic::{Portable, Sets};
use common::{Generate, NetBuilder, marked};

const MEMORY: u64 = 1 << 28;

fn graph<M: Model>(model: &M, observed: &Observed) -> Graph {
    let budget = Budget::unlimited();
    build(&mut model.sets(1, &budget).unwrap(), observed, Canonical::None, MEMORY, &budget).unwrap()
}

/// What cannot be left by anything but its own component, among the states of a set.
fn source_components(model: &Explicit, markings: &[Vec<u64>], unobserved: &[usize]) -> Vec<BTreeSet<Vec<u64>>> {
    let mut sets = model.sets(1, &Arc::default()).unwrap();
    let mut reach = |marking: &Vec<u64>| -> BTreeSet<Vec<u64>> {
        let one = Arc::new(BTreeSet::from([marking.clone()]));
        (*sets.closure(&one, unobserved).unwrap()).clone()
    };
    let reached: Vec<BTreeSet<Vec<u64>>> = markings.iter().map(&mut reach).collect();
    let mut components = Vec::new();
    for (number, marking) in markings.iter().enumerate() {
        let before: Vec<usize> = (0..markings.len()).filter(|other| reached[*other].contains(marking)).collect();
        if before.iter().all(|other| reached[number].contains(&markings[*other])) {
            let component: BTreeSet<Vec<u64>> = before.iter().map(|other| markings[*other].clone()).collect();
            if !components.contains(&component) {
                components.push(component);
            }
        }
    }
    components
}

#[test]
fn one_representative_for_each_component_that_none_leads_to() {
    let mut aggregates = 0;
    for seed in 0..150 {
        let mut random = Random::new(seed);
        let net = random.net();
        let model = Explicit::new(net.clone(), vec![]);
        let actions: Vec<usize> = (0..net.transitions.len()).filter(|_| random.below(2) == 0).collect();
        let observed = Observed::events(net.transitions.len(), &actions).unwrap();
        let mut sets = model.sets(1, &Arc::default()).unwrap();
        for aggregate in graph(&model, &observed).aggregates.iter().filter(|a| a.facts.states < 100) {
            let set = sets.decode(&aggregate.set).unwrap();
            let kept = representatives(&mut sets, &set, &observed).unwrap();
            assert!(sets.closure(&kept, &observed.unobserved).unwrap() == set, "seed {seed}: the aggregate comes back");
            let markings: Vec<Vec<u64>> = set.iter().cloned().collect();
            let components = source_components(&model, &markings, &observed.unobserved);
            assert_eq!(kept.len(), components.len(), "seed {seed}");
            assert!(components.iter().all(|component| component.intersection(&kept).count() == 1), "seed {seed}");
            aggregates += 1;
        }
    }
    assert!(aggregates > 500, "{aggregates}");
}

#[test]
fn an_aggregate_may_be_kept_as_a_single_state() {
    // Everything comes from the first marking, by steps that are not observed.
    let mut net = NetBuilder::default();
    for (place, initial) in [("a", 2), ("b", 0), ("c", 0)] {
        net.place(place, initial);
    }
    net.transition("ab", "a", "b");
    net.transition("ac", "a", "c");
    let net = net.done();
    let model = Lists::new(net, vec![], MEMORY);
    let observed = Observed::events(2, &[]).unwrap();
    let mut sets = model.sets(1, &Arc::default()).unwrap();
    let initial = sets.initial().unwrap();
    let all = sets.closure(&initial, &[0, 1]).unwrap();
    assert_eq!(sets.count(&all).unwrap(), 6u32.into());
    assert!(representatives(&mut sets, &all, &observed).unwrap() == initial);
}

#[test]
fn dead_and_divergent_are_told_apart() {
    // A step without effect is a cycle; a state with an observed step only is not dead.
    let mut net = NetBuilder::default();
    net.place("a", 1);
    net.place("b", 0);
    net.transition("stay", "a", "a");
    net.transition("leave", "a", "b");
    net.transition("back", "b", "b");
    let net = net.done();
    let model = Explicit::new(net, vec![]);
    let flags = |actions: &[usize]| {
        let graph = graph(&model, &Observed::events(3, actions).unwrap());
        graph.aggregates.iter().map(|a| (a.facts.dead, a.facts.divergent)).collect::<Vec<_>>()
    };
    assert_eq!(flags(&[1]), [(false, true), (false, true)]);
    assert_eq!(flags(&[0, 1]), [(false, false), (false, true)]);
    assert_eq!(flags(&[0, 1, 2]), [(false, false), (false, false)]);
}

/// One token that goes from `s` to `p` or to `q`, unobserved, and back from each.
fn fork() -> Net {
    let mut net = NetBuilder::default();
    for (place, initial) in [("s", 1), ("p", 0), ("q", 0)] {
        net.place(place, initial);
    }
    net.transition("to_p", "s", "p");
    net.transition("to_q", "s", "q");
    net.transition("from_p", "p", "s");
    net.transition("from_q", "q", "s");
    net.done()
}

#[test]
fn unobserved_changes_of_labels_are_silent_arcs() {
    let model = Explicit::new(fork(), vec![("p".into(), marked(1)), ("q".into(), marked(2))]);
    let graph = graph(&model, &Observed::events_and_states(4, &[], &[0, 1]).unwrap());
    assert_eq!(graph.aggregates.len(), 3);
    // Two silent arcs leave the first aggregate, to different labels.
    let labels = graph.aggregates[0].arcs.iter().map(|(action, to)| (*action, graph.aggregates[*to].label));
    let labels: Vec<_> = labels.collect();
    assert_eq!(labels, [(None, 0b01), (None, 0b10)]);
    assert_eq!(graph.size().silent, 4);
}

#[test]
fn the_static_rule_observes_what_touches_an_atom() {
    let model = Explicit::new(fork(), vec![("p".into(), marked(1))]);
    let sets = model.sets(1, &Arc::default()).unwrap();
    let observed = Observed::by_reading(&sets, 4, &[], &[0]).unwrap();
    assert_eq!(observed.actions, [0, 2]);
    let graph = graph(&model, &observed);
    assert_eq!((graph.aggregates.len(), graph.size().silent), (2, 0));
}

/// The words of observed actions up to a length, each with whether a run may end or diverge after it.
fn language(graph: &Graph, length: usize) -> HashSet<(Vec<usize>, bool, bool)> {
    let mut words = HashSet::new();
    let mut layer: Vec<(Vec<usize>, usize)> = graph.initial.iter().map(|number| (Vec::new(), *number)).collect();
    for _ in 0..=length {
        let mut next = HashSet::new();
        for (word, number) in layer {
            let aggregate = &graph.aggregates[number];
            for (action, to) in &aggregate.arcs {
                let mut longer = word.clone();
                longer.extend(*action);
                next.insert((longer, *to));
            }
            // A word may lead to several aggregates: what one of them has, the word has.
            words.insert((word.clone(), false, false));
            if aggregate.facts.dead {
                words.insert((word.clone(), true, false));
            }
            if aggregate.facts.divergent {
                words.insert((word, false, true));
            }
        }
        layer = next.into_iter().collect();
    }
    words
}

#[test]
fn splitting_keeps_the_language() {
    let mut larger = 0;
    for seed in 500..560 {
        let mut random = Random::new(seed);
        let net = random.net();
        let count = net.transitions.len();
        let actions: Vec<usize> = (0..count).filter(|_| random.below(2) == 0).take(3).collect();
        let model = Lists::new(net, vec![], MEMORY);
        let plain = graph(&model, &Observed::events(count, &actions).unwrap());
        for parts in [2, 5] {
            let split = graph(&model, &Observed::split(count, &actions, parts).unwrap());
            larger += usize::from(split.size().aggregates > plain.size().aggregates);
            assert_eq!(language(&plain, 4), language(&split, 4), "seed {seed}, {parts} parts");
        }
    }
    assert!(larger > 5, "splitting makes a difference: {larger}");
}

#[test]
fn graphs_can_be_written_and_read() {
    let net = common::philosophers(3);
    let actions = common::named(&net, |name| name.starts_with("GoEat"));
    let model = Lists::new(net, vec![], MEMORY);
    let graph = graph(&model, &Observed::events(12, &actions).unwrap());
    let text = serde_json::to_string(&graph).unwrap();
    let back: Graph = serde_json::from_str(&text).unwrap();
    assert_eq!(graph, back);
    let names = Names { actions: model.actions(), atoms: model.atoms() };
    let dot = dot(&graph, names);
    assert!(dot.starts_with("digraph") && dot.matches(" -> ").count() == graph.size().arcs + 1);
    assert_eq!(json(&graph, names)["aggregates"].as_array().unwrap().len(), graph.aggregates.len());
}
