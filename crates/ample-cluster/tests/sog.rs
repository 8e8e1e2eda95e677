//! Observation graphs by several workers: the same graphs and verdicts as by one, whoever owns what.

#[path = "../../ample-sog/tests/common/mod.rs"]
mod common;

use std::thread;

use ample_budget::Budget;
use ample_cluster::{Cluster, Group, Identity, Mesh, SogSpread, sog};
use ample_model::System;
use ample_petri::net::Net;
use ample_sog::engine::{Built, SogOptions, build};
use ample_sog::{Canonical, digest};
use common::{erk, fms, philosophers, ring, system, trains};

/// Does something with the workers of one process.
fn with_workers<T>(threads: usize, work: impl FnOnce(&Cluster) -> T) -> T {
    let budget = Budget::unlimited();
    let identity = Identity { version: "1".into(), digest: 1, threads };
    let mesh = Mesh::form(&Group::alone(), &identity, &budget).unwrap();
    let cluster = Cluster::new(&mesh);
    thread::scope(|scope| {
        let served = scope.spawn(|| cluster.serve(mesh, sog::STACK, &budget));
        let result = work(&cluster);
        cluster.finish();
        served.join().unwrap().unwrap();
        result
    })
}

fn observing(names: &[String], canonical: Canonical) -> SogOptions {
    SogOptions { observe: names.to_vec(), canonical, ..SogOptions::default() }
}

fn starting_with(net: &Net, names: &[&str]) -> Vec<String> {
    let all = net.transitions.iter().map(|transition| &transition.name);
    all.filter(|name| names.iter().any(|start| name.starts_with(start))).cloned().collect()
}

/// Nets of H. Ouni's thesis, with what is observed.
fn nets() -> Vec<(System, Vec<String>, (usize, usize))> {
    let row = |net: Net, names: &[&str], size| {
        let observed = starting_with(&net, names);
        (system(&net), observed, size)
    };
    let exactly = |net: Net, names: &[&str], size| {
        (system(&net), names.iter().map(|name| String::from(*name)).collect::<Vec<_>>(), size)
    };
    vec![
        row(ring(4), &["give", "put"], (304, 1280)),
        row(philosophers(6), &["GoEat", "Release"], (64, 384)),
        exactly(fms(3), &["tP1", "tP1M1", "tP2", "tP12M3"], (113, 333)),
        exactly(erk(4), &["k3", "k5", "k9", "k11"], (0, 0)),
        exactly(trains(24), &["T0", "T3", "T6", "T9"], (81, 188)),
    ]
}

/// Every aggregate is where its digest says, and nowhere else.
fn check_owners(built: &Built, spread: &SogSpread) {
    let mut owned = vec![0; spread.workers.len()];
    for aggregate in &built.graph.aggregates {
        let digest = digest::digest(aggregate.label, &aggregate.set);
        owned[digest::owner(digest, spread.workers.len())] += 1;
    }
    let found: Vec<u64> = spread.workers.iter().map(|worker| worker.aggregates).collect();
    assert_eq!(found, owned);
    assert_eq!(spread.workers.iter().map(|worker| worker.expanded).collect::<Vec<_>>(), owned);
}

#[test]
fn graphs_of_nets_are_the_same_for_any_number_of_workers() {
    let budget = Budget::unlimited();
    let nets = nets();
    for (system, observed, size) in &nets {
        for canonical in [Canonical::None, Canonical::Sent, Canonical::Full] {
            let options = observing(observed, canonical);
            let expected = build(system, &options, &budget).unwrap().graph;
            let found = (expected.size().aggregates, expected.size().arcs);
            assert!(*size == (0, 0) || *size == found, "{found:?}");
            for workers in [1, 2, 4] {
                let (built, spread) =
                    with_workers(workers, |cluster| cluster.build_sog(system, &options, &budget).unwrap());
                assert_eq!(built.graph, expected, "{} by {workers} workers, {canonical:?}", system.name);
                check_owners(&built, &spread);
            }
        }
    }
}
