//! Graphs whose sizes are printed in the literature.

mod common;

use std::sync::Arc;
use std::time::Instant;

use ample_budget::Budget;
use ample_petri::net::Net;
use ample_sog::{Balance, Binary, BuildOptions, Canonical, Graph, Lists, Model, Observed, build, build_with_threads};
use common::{erk, fms, named, philosophers, ring, system, trains};

const MEMORY: u64 = 2 << 30;

fn graph<M: Model>(model: &M, actions: &[usize], canonical: Canonical) -> Graph {
    let budget = Budget::unlimited();
    let observed = Observed::events(model.actions().len(), actions).unwrap();
    model.with_stack(|| {
        let mut sets = model.sets(1, &budget).unwrap();
        build(&mut sets, &observed, canonical, MEMORY, &budget).unwrap()
    })
}

/// The graph of the net with list decision diagrams has so many aggregates and arcs.
fn has(name: &str, net: Net, actions: &[usize], aggregates: usize, arcs: usize) -> Graph {
    let begun = Instant::now();
    let graph = graph(&Lists::new(net, vec![], MEMORY), actions, Canonical::None);
    let size = graph.size();
    println!("{name}: {size:?} in {:?}", begun.elapsed());
    assert_eq!((size.aggregates, size.arcs), (aggregates, arcs), "{name}");
    graph
}

fn ring_actions(net: &Net) -> Vec<usize> {
    named(net, |name| name.starts_with("give") || name.starts_with("put"))
}

fn philosopher_actions(net: &Net) -> Vec<usize> {
    named(net, |name| name.starts_with("GoEat") || name.starts_with("Release"))
}

#[test]
fn slotted_rings_have_the_printed_graphs() {
    for (n, aggregates, arcs) in [(4, 304, 1280), (5, 1632, 8320)] {
        let net = ring(n);
        let actions = ring_actions(&net);
        has(&format!("ring{n}"), net, &actions, aggregates, arcs);
    }
}

#[test]
fn philosophers_have_an_aggregate_for_every_set_of_eaters() {
    for n in [2, 4, 6, 8, 10] {
        let net = philosophers(n);
        let actions = philosopher_actions(&net);
        has(&format!("philosophers{n}"), net, &actions, 1 << n, n << n);
    }
}

#[test]
fn the_manufacturing_system_has_the_printed_graph() {
    for (n, aggregates, arcs) in [(3, 113, 333), (4, 266, 830)] {
        let net = fms(n);
        let actions = named(&net, |name| ["tP1", "tP1M1", "tP2", "tP12M3"].contains(&name));
        has(&format!("fms{n}"), net, &actions, aggregates, arcs);
    }
}

#[test]
fn the_pathway_has_the_printed_graph() {
    let net = erk(10);
    let actions = named(&net, |name| ["k3", "k5", "k9", "k11"].contains(&name));
    has("erk10", net, &actions, 505, 1803);
}

#[test]
fn trains_have_the_printed_graphs() {
    let sets: [(&[usize], usize, usize); 3] =
        [(&[0, 3, 6, 9], 81, 188), (&[0, 3, 5, 6, 9, 11], 178, 448), (&[0, 3, 6, 9, 12, 15, 18, 21], 1660, 6696)];
    for (actions, aggregates, arcs) in sets {
        has(&format!("trains, {} observed", actions.len()), trains(24), actions, aggregates, arcs);
    }
}

#[test]
fn both_kinds_of_diagrams_give_the_same_graph() {
    let nets = [
        ("ring3", ring(3), ring_actions(&ring(3))),
        ("philosophers4", philosophers(4), philosopher_actions(&philosophers(4))),
        ("fms2", fms(2), named(&fms(2), |name| ["tP1", "tP1M1", "tP2", "tP12M3"].contains(&name))),
        ("erk3", erk(3), named(&erk(3), |name| ["k3", "k5", "k9", "k11"].contains(&name))),
        ("trains12", trains(12), vec![0, 3, 6, 9]),
    ];
    for (name, net, actions) in nets {
        let system = system(&net);
        ample_model::check::check(&system).unwrap();
        let binary = Binary::new(&system, &[], MEMORY, &Arc::default()).unwrap();
        let lists = Lists::new(net, vec![], MEMORY);
        assert_eq!(binary.actions(), lists.actions(), "{name}");
        for canonical in [Canonical::None, Canonical::Full] {
            let (one, other) = (graph(&binary, &actions, canonical), graph(&lists, &actions, canonical));
            // Deterministic graphs are numbered alike whatever the bytes of sets are.
            assert_eq!(one.without_sets(), other.without_sets(), "{name}");
        }
    }
}

#[test]
fn representatives_are_few_and_give_the_same_graph() {
    let net = ring(4);
    let actions = ring_actions(&net);
    let model = Lists::new(net.clone(), vec![], MEMORY);
    let (whole, reduced) = (graph(&model, &actions, Canonical::None), graph(&model, &actions, Canonical::Full));
    assert_eq!(whole.without_sets(), reduced.without_sets());
    assert!(reduced.size().bytes < whole.size().bytes / 2, "{} {}", reduced.size().bytes, whole.size().bytes);
    // One marking for each aggregate, as the thesis counts them: 32 nodes, one for each place.
    let mut sets = model.sets(1, &Arc::default()).unwrap();
    let nodes: usize = reduced
        .aggregates
        .iter()
        .map(|aggregate| {
            let set = sets.decode(&aggregate.set).unwrap();
            sets.nodes(&set).unwrap()
        })
        .sum();
    assert_eq!(nodes, 9728);
}

#[test]
fn threads_build_the_printed_graphs() {
    let net = ring(4);
    let actions = ring_actions(&net);
    let model = Lists::new(net, vec![], MEMORY);
    let observed = Observed::events(model.actions().len(), &actions).unwrap();
    for balance in [Balance::Order, Balance::Steal, Balance::MinLoad] {
        for canonical in [Canonical::None, Canonical::Full, Canonical::Sent] {
            let options = BuildOptions { threads: 3, balance, canonical, ..BuildOptions::default() };
            let (graph, work) = build_with_threads(&model, &observed, &options).unwrap();
            assert_eq!((graph.size().aggregates, graph.size().arcs), (304, 1280), "{balance:?} {canonical:?}");
            assert_eq!(work.expanded.iter().sum::<usize>(), 304, "{work:?}");
        }
    }
}

/// Larger ones, for their times: `cargo test --release -- --ignored --nocapture`.
#[test]
#[ignore = "minutes without optimisation"]
fn larger_nets() {
    let net = fms(5);
    let actions = named(&net, |name| ["tP1", "tP1M1", "tP2", "tP12M3"].contains(&name));
    has("fms5", net, &actions, 535, 1735);
    let net = ring(6);
    let actions = ring_actions(&net);
    has("ring6", net, &actions, 9024, 53760);
}

#[test]
fn representatives_have_the_printed_nodes() {
    let of = |name: &str, net: &Net, actions: &[usize], nodes: usize| {
        let graph = graph(&Lists::new(net.clone(), vec![], MEMORY), actions, Canonical::Full);
        println!("{name}: {:?}", graph.size());
        let options = BuildOptions { threads: 2, canonical: Canonical::Full, ..BuildOptions::default() };
        let observed = Observed::events(net.transitions.len(), actions).unwrap();
        let (built, _) = build_with_threads(&Lists::new(net.clone(), vec![], MEMORY), &observed, &options).unwrap();
        assert_eq!((graph.size().nodes, built.size().nodes), (nodes, nodes), "{name}");
    };
    of("ring4", &ring(4), &ring_actions(&ring(4)), 9_728);
    of("trains, 4 observed", &trains(24), &[0, 3, 6, 9], 3_888);
    of("trains, 6 observed", &trains(24), &[0, 3, 5, 6, 9, 11], 8_544);
    for (n, nodes) in [(8, 12_288), (10, 61_440)] {
        of(&format!("philosophers{n}"), &philosophers(n), &philosopher_actions(&philosophers(n)), nodes);
    }
}
