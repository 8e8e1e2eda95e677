//! Observation graphs by several workers: the same graphs and verdicts as by one, whoever owns what.

#[path = "../../ample-sog/tests/common/mod.rs"]
mod common;

use std::thread;
use std::time::{Duration, Instant};

use ample_budget::{Budget, Cancellation};
use ample_cluster::{Cluster, Group, Identity, Mesh, SogSpread, sog};
use ample_model::random::{self, Features};
use ample_model::{BinaryOp, Expr, Place, Reason, Scope, System, Type};
use ample_petri::net::Net;
use ample_random::Random;
use ample_sog::engine::options::Kind;
use ample_sog::engine::{Built, DiagramKind, Said, SogError, SogFormula, SogOptions, build, check};
use ample_sog::{Canonical, digest};
use common::{Generate, erk, fms, is_marked, philosophers, ring, system, trains};

/// Does something with the workers of one process.
fn with_workers<T>(threads: usize, work: impl FnOnce(&Cluster) -> T) -> T {
    with_cluster(threads, |cluster| cluster, work)
}

/// Does something with workers that share no more than if each of them had a process of its own.
fn with_processes<T>(processes: usize, work: impl FnOnce(&Cluster) -> T) -> T {
    with_cluster(processes, Cluster::apart, work)
}

fn with_cluster<T>(threads: usize, kind: impl FnOnce(Cluster) -> Cluster, work: impl FnOnce(&Cluster) -> T) -> T {
    let budget = Budget::unlimited();
    let identity = Identity { version: String::new(), digest: 0, threads };
    let mesh = Mesh::form(&Group::alone(), &identity, &budget).unwrap();
    let cluster = kind(Cluster::new(&mesh));
    thread::scope(|scope| {
        let served = scope.spawn(|| cluster.serve(mesh, sog::STACK, &budget));
        let end = End(&cluster);
        let result = work(&cluster);
        drop(end);
        served.join().unwrap().unwrap();
        result
    })
}

/// Ends the workers, also where a test fails.
struct End<'a>(&'a Cluster);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.finish();
    }
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

/// Every aggregate was expanded once, by whatever worker of the process.
fn check_expanded(built: &Built, spread: &SogSpread) {
    let expanded: u64 = spread.workers.iter().map(|worker| worker.expanded).sum();
    assert_eq!((expanded, spread.messages), (built.graph.aggregates.len() as u64, 0));
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
                check_expanded(&built, &spread);
                let (built, spread) =
                    with_processes(workers, |cluster| cluster.build_sog(system, &options, &budget).unwrap());
                assert_eq!(built.graph, expected, "{} by {workers} processes, {canonical:?}", system.name);
                check_owners(&built, &spread);
            }
        }
    }
}

/// Systems with atomic sequences and faults.
const SEQUENCES: Features = Features {
    faults: true,
    control: true,
    spawn: false,
    looks: false,
    priorities: false,
    monitor: false,
    actions: false,
};

/// Conditions on the variables of a system.
fn conditions(system: &System) -> Vec<Expr> {
    let mut conditions = Vec::new();
    for (number, variable) in system.globals.iter().enumerate() {
        let Type::Scalar(scalar) = &variable.ty else { continue };
        let place =
            Place { scope: Scope::Global, variable: number.into(), offset: 0, indices: vec![], scalar: *scalar };
        conditions.push(Expr::binary(BinaryOp::Greater, Expr::Read(place), Expr::Const(0)));
    }
    conditions.truncate(3);
    conditions
}

/// One of each kind of graph.
fn kinds(random: &mut Random, names: &[String], atoms: &[Expr]) -> Vec<SogOptions> {
    let some: Vec<String> = names.iter().filter(|_| random.below(3) == 0).cloned().collect();
    let both = SogOptions { observe: some, atoms: atoms.to_vec(), ..SogOptions::default() };
    let nothing = Vec::new;
    vec![
        SogOptions { kind: Kind::Event, atoms: nothing(), ..both.clone() },
        SogOptions { kind: Kind::Split, atoms: nothing(), parts: 3, ..both.clone() },
        SogOptions { kind: Kind::State, observe: Vec::new(), ..both.clone() },
        SogOptions { kind: Kind::EventState, ..both },
    ]
}

/// Graphs of a system by these workers are those of one thread; how many were compared.
fn compare_graphs(
    cluster: &Cluster,
    check: fn(&Built, &SogSpread),
    random: &mut Random,
    system: &System,
    names: &[String],
    atoms: &[Expr],
) -> usize {
    let budget = Budget::unlimited();
    let mut compared = 0;
    for options in kinds(random, names, atoms) {
        let canonical = [Canonical::None, Canonical::Sent, Canonical::Full][random.below(3usize)];
        let options = SogOptions { canonical, ..options };
        match (build(system, &options, &budget), cluster.build_sog(system, &options, &budget)) {
            (Ok(expected), Ok((built, spread))) => {
                assert_eq!(built.graph, expected.graph, "{} {options:?}", system.name);
                assert_eq!((&built.actions, &built.atoms), (&expected.actions, &expected.atoms));
                check(&built, &spread);
                compared += 1;
            }
            (expected, found) => {
                let (expected, found) = (expected.map(|_| ()), found.map(|_| ()));
                assert_eq!(found, expected, "{} {options:?}", system.name);
            }
        }
    }
    compared
}

/// Verdicts on random formulas are those of one thread; how many were compared, and how many of them are violations.
fn compare_verdicts(
    cluster: &Cluster,
    random: &mut Random,
    system: &System,
    names: &[String],
    atoms: &[Expr],
) -> (usize, usize) {
    let budget = Budget::unlimited();
    let (mut compared, mut violated) = (0, 0);
    for _ in 0..4 {
        let mut said: Vec<Said> = atoms.iter().cloned().map(Said::State).collect();
        if !names.is_empty() {
            said.extend((0..random.below(3usize)).map(|_| Said::Event(names[random.below(names.len())].clone())));
        }
        if said.is_empty() {
            continue;
        }
        let size = 2 + random.below(6usize);
        let formula = SogFormula::over(random.formula(size, said.len()), said);
        let canonical = [Canonical::None, Canonical::Sent, Canonical::Full][random.below(3usize)];
        let options =
            SogOptions { collapsed: true, compare_labels: random.below(2) == 0, canonical, ..SogOptions::default() };
        let on_demand = random.below(2) == 0;
        let expected = check(system, &formula, &options, &budget);
        match (expected, cluster.check_sog(system, &formula, &options, on_demand, &budget)) {
            (Ok(expected), Ok((judged, _))) => {
                let holds = judged.violation.is_none();
                assert_eq!(holds, expected.violation.is_none(), "{} {on_demand} {formula:?} {options:?}", system.name);
                compared += 1;
                violated += usize::from(!holds);
            }
            (expected, found) => {
                let (expected, found) = (expected.map(|_| ()), found.map(|_| ()));
                assert_eq!(found, expected, "{} {on_demand} {formula:?} {options:?}", system.name);
            }
        }
    }
    (compared, violated)
}

/// Says which system it was if a test fails.
struct Seed(usize, u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("{} workers, seed {}", self.0, self.1);
        }
    }
}

fn seeds(default: u64) -> u64 {
    std::env::var("AMPLE_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Does something with workers that share aggregates, and with processes that do not, each with what is to be so.
fn with_both(workers: usize, mut work: impl FnMut(&Cluster, fn(&Built, &SogSpread))) {
    with_workers(workers, |cluster| work(cluster, check_expanded));
    with_processes(workers, |cluster| work(cluster, check_owners));
}

#[test]
fn random_nets_have_the_graphs_and_verdicts_of_one_worker() {
    let (mut graphs, mut verdicts, mut violated) = (0, 0, 0);
    for workers in [2, 3, 5] {
        with_both(workers, |cluster, check| {
            for seed in 0..seeds(40) {
                let _seed = Seed(workers, seed);
                let mut random = Random::new(seed + 1000 * workers as u64);
                let net = random.net();
                let names: Vec<String> = net.transitions.iter().map(|transition| transition.name.clone()).collect();
                let atoms: Vec<Expr> = (0..net.places.len().min(3) as u32).map(is_marked).collect();
                let system = system(&net);
                graphs += compare_graphs(cluster, check, &mut random, &system, &names, &atoms);
                let (compared, against) = compare_verdicts(cluster, &mut random, &system, &names, &atoms);
                (verdicts, violated) = (verdicts + compared, violated + against);
            }
        });
    }
    println!("{graphs} graphs, {verdicts} verdicts, {violated} violated");
    assert!(graphs > 300 && verdicts > 300 && violated > 50);
}

#[test]
fn random_systems_have_the_graphs_and_verdicts_of_one_worker() {
    let (mut graphs, mut verdicts, mut violated) = (0, 0, 0);
    for workers in [2, 4] {
        with_both(workers, |cluster, check| {
            for seed in 0..seeds(40) {
                let _seed = Seed(workers, seed);
                let mut random = Random::new(seed + 1000 * workers as u64);
                let system = random::system(seed, SEQUENCES);
                let atoms = conditions(&system);
                let options = SogOptions { atoms: atoms.clone(), kind: Kind::State, ..SogOptions::default() };
                let Ok(built) = build(&system, &options, &Budget::unlimited()) else { continue };
                if built.graph.size().states > 3000 {
                    continue;
                }
                graphs += compare_graphs(cluster, check, &mut random, &system, &built.actions, &atoms);
                let (compared, against) = compare_verdicts(cluster, &mut random, &system, &built.actions, &atoms);
                (verdicts, violated) = (verdicts + compared, violated + against);
            }
        });
    }
    println!("{graphs} graphs, {verdicts} verdicts, {violated} violated");
    assert!(graphs > 100 && verdicts > 100 && violated > 20);
}

#[test]
fn binary_diagrams_of_nets_are_the_same_in_all_workers() {
    let budget = Budget::unlimited();
    for (system, observed, _) in nets().iter().skip(1) {
        let options = SogOptions { diagrams: DiagramKind::Binary, ..observing(observed, Canonical::None) };
        let expected = build(system, &options, &budget).unwrap().graph;
        let (built, spread) = with_processes(3, |cluster| cluster.build_sog(system, &options, &budget).unwrap());
        assert_eq!(built.graph, expected, "{}", system.name);
        check_owners(&built, &spread);
    }
}

#[test]
fn each_process_sends_an_aggregate_once() {
    let budget = Budget::unlimited();
    for (system, observed, _) in &nets() {
        for workers in [2, 4] {
            let options = observing(observed, Canonical::None);
            let (built, spread) =
                with_processes(workers, |cluster| cluster.build_sog(system, &options, &budget).unwrap());
            let owner = |number: usize| {
                let aggregate = &built.graph.aggregates[number];
                digest::owner(digest::digest(aggregate.label, &aggregate.set), workers)
            };
            // The owner of an aggregate makes what its arcs lead to.
            let mut sent: Vec<(usize, usize)> = built.graph.initial.iter().map(|number| (0, *number)).collect();
            for (number, aggregate) in built.graph.aggregates.iter().enumerate() {
                sent.extend(aggregate.arcs.iter().map(|(_, to)| (owner(number), *to)));
            }
            sent.retain(|(sender, number)| *sender != owner(*number));
            sent.sort_unstable();
            sent.dedup();
            assert_eq!(spread.messages, sent.len() as u64, "{} by {workers}", system.name);
        }
    }
}

/// What does not end by itself: the aggregates are many, and each takes a while.
fn long() -> (System, SogOptions) {
    let net = ring(7);
    (system(&net), observing(&starting_with(&net, &["give", "put", "used"]), Canonical::None))
}

#[test]
fn deadlines_and_cancellations_end_a_construction() {
    let (system, options) = long();
    with_both(2, |cluster, _| {
        let begun = Instant::now();
        let budget = Budget::unlimited().with_time(Duration::from_millis(200));
        let ended = cluster.build_sog(&system, &options, &budget).map(|_| ());
        assert_eq!(ended, Err(SogError::Ended(Reason::Time)));
        let cancellation = Cancellation::new();
        let budget = Budget::unlimited().with_cancellation(&cancellation);
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(200));
                cancellation.cancel();
            });
            let ended = cluster.build_sog(&system, &options, &budget).map(|_| ());
            assert_eq!(ended, Err(SogError::Ended(Reason::Interrupted)));
        });
        assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
        // The workers are still there for something else.
        let budget = Budget::unlimited();
        let (system, observed, size) = &nets()[0];
        let (built, _) = cluster.build_sog(system, &observing(observed, Canonical::None), &budget).unwrap();
        assert_eq!((built.graph.size().aggregates, built.graph.size().arcs), *size);
    });
}
