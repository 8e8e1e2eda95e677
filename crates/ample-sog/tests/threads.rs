//! Several threads on one graph: it is always the same, whatever they do when.

mod common;

use ample_budget::Budget;
use ample_logic::{Atom, Formula};
use ample_petri::net::Net;
use ample_sog::{
    Balance, Binary, BuildOptions, Canonical, CheckOptions, Graph, Lists, Meaning, Model, Observed, Question, build,
    build_with_threads, check,
};
use common::{erk, fms, is_marked, marked, named, philosophers, ring, system};

const MEMORY: u64 = 1 << 28;
const THREADS: [usize; 5] = [1, 2, 4, 8, 16];
const BALANCES: [Balance; 3] = [Balance::Order, Balance::Steal, Balance::MinLoad];
const CANONICAL: [Canonical; 3] = [Canonical::None, Canonical::Sent, Canonical::Full];

/// Nets with what is observed of them.
fn nets() -> Vec<(&'static str, Net, Vec<usize>)> {
    let of = |name, net: Net, wanted: &dyn Fn(&str) -> bool| {
        let actions = named(&net, wanted);
        (name, net, actions)
    };
    vec![
        of("ring3", ring(3), &|name| name.starts_with("give") || name.starts_with("put")),
        of("philosophers4", philosophers(4), &|name| name.starts_with("GoEat") || name.starts_with("Release")),
        of("fms2", fms(2), &|name| ["tP1", "tP1M1", "tP2", "tP12M3"].contains(&name)),
        of("erk4", erk(4), &|name| ["k3", "k5", "k9", "k11"].contains(&name)),
    ]
}

fn sequential<M: Model>(model: &M, observed: &Observed, canonical: Canonical) -> Graph {
    let budget = Budget::unlimited();
    model.with_stack(|| build(&mut model.sets(1, &budget).unwrap(), observed, canonical, MEMORY, &budget).unwrap())
}

/// Builds graphs of a model with all numbers of threads, so often; how many were built.
fn always_the_same<M: Model>(name: &str, model: &M, actions: &[usize], rounds: usize) -> usize {
    let count = model.actions().len();
    let atoms: Vec<usize> = (0..model.atoms().len()).collect();
    let mut built = 0;
    let kinds = [Observed::events(count, actions), Observed::events_and_states(count, actions, &atoms)];
    for observed in kinds.map(Result::unwrap) {
        let expected = CANONICAL.map(|canonical| sequential(model, &observed, canonical));
        for round in 0..rounds {
            for (number, threads) in THREADS.into_iter().enumerate() {
                let balance = BALANCES[(round + number) % BALANCES.len()];
                let which = (round / BALANCES.len() + number) % CANONICAL.len();
                let canonical = CANONICAL[which];
                let options = BuildOptions { threads, balance, canonical, ..BuildOptions::default() };
                let (graph, work) = build_with_threads(model, &observed, &options).unwrap();
                let what = format!("{name}, {threads} threads, {balance:?}, {canonical:?}, round {round}");
                assert!(graph == expected[which], "{what}: another graph");
                assert_eq!(work.expanded.iter().sum::<usize>(), graph.aggregates.len(), "{what}");
                assert_eq!(work.expanded.len(), threads, "{what}");
                built += 1;
            }
        }
    }
    built
}

fn all_are_always_the_same(rounds: usize) {
    let mut built = 0;
    for (name, net, actions) in nets() {
        let atoms = vec![("p".to_owned(), marked(0))];
        built += always_the_same(name, &Lists::new(net.clone(), atoms, MEMORY), &actions, rounds);
        if name != "ring3" {
            let atoms = [("p".to_owned(), is_marked(0))];
            let binary = Binary::new(&system(&net), &atoms, MEMORY, &Budget::unlimited()).unwrap();
            let actions = named(&net, |name| actions.iter().any(|action| net.transitions[*action].name == name));
            assert_eq!(binary.actions().len(), net.transitions.len());
            built += always_the_same(name, &binary, &actions, rounds.div_ceil(10));
        }
    }
    println!("{built} graphs");
}

#[test]
fn every_number_of_threads_builds_the_same_graph() {
    all_are_always_the_same(9);
}

/// `cargo test --release -p ample-sog --test threads -- --ignored --nocapture`
#[test]
#[ignore = "minutes"]
fn a_thousand_builds_give_the_same_graph() {
    all_are_always_the_same(1_000);
}

/// What another thread gets: the bytes of an aggregate on average.
fn average_bytes(canonical: Canonical) -> f64 {
    let net = ring(4);
    let actions = named(&net, |name| name.starts_with("give") || name.starts_with("put"));
    let observed = Observed::events(net.transitions.len(), &actions).unwrap();
    let model = Lists::new(net, vec![], MEMORY);
    let options = BuildOptions { threads: 4, balance: Balance::MinLoad, canonical, ..BuildOptions::default() };
    let (_, work) = build_with_threads(&model, &observed, &options).unwrap();
    assert!(work.received > 0, "{work:?}");
    println!("{canonical:?}: {} bytes for {} aggregates", work.received_bytes, work.received);
    work.received_bytes as f64 / work.received as f64
}

#[test]
fn representatives_are_sent_in_fewer_bytes() {
    let (whole, reduced) = (average_bytes(Canonical::None), average_bytes(Canonical::Sent));
    assert!(1.5 * reduced < whole, "{reduced} {whole}");
}

#[test]
fn on_demand_only_what_is_asked_for_is_expanded() {
    for (name, net, actions) in nets() {
        let model = Lists::new(net, vec![], MEMORY);
        let meanings = actions.iter().take(2).map(|action| Meaning::Event(vec![*action])).collect::<Vec<_>>();
        let (first, second) = (Formula::atom(Atom(0)), Formula::atom(Atom(1)));
        let formulas = [
            first.clone().finally().globally(),
            first.clone().implies(second.clone().finally()).globally(),
            (!second.clone()).weak_until(first.clone()),
            first.finally().globally().implies(second.finally().globally()),
        ];
        for formula in formulas {
            let question = Question { formula, meanings: meanings.clone() };
            let mut found = Vec::new();
            for (threads, on_demand) in THREADS.into_iter().flat_map(|n| [(n, true), (n, false)]) {
                let build = BuildOptions { threads, ..BuildOptions::default() };
                let options = CheckOptions { build, on_demand, collapsed: true, ..CheckOptions::default() };
                let checked = check(&model, &question, &options).unwrap();
                found.push((on_demand, checked.violation.is_some(), checked.aggregates.1));
            }
            let demanded: Vec<_> = found.iter().filter(|(on_demand, ..)| *on_demand).collect();
            assert!(demanded.windows(2).all(|pair| pair[0] == pair[1]), "{name} {question:?}: {found:?}");
            assert!(found.iter().all(|one| one.1 == found[0].1), "{name} {question:?}: {found:?}");
            assert!(found.iter().all(|one| one.2 >= found[0].2), "{name} {question:?}: {found:?}");
        }
    }
}
