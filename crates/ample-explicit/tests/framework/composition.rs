//! Features in all combinations, without code for any pair of them: each function below adds one choice to the
//! configuration, and is generic over all others. States are graphs, vectors or inlined vectors; all transitions are taken
//! or persistent sets; symmetric states are all searched, or only representatives, or stored as representatives; and the
//! search is depth-first or breadth-first. The searches of `partial` with sleep sets and a cache go over all of these
//! spaces, too.

use std::cell::Cell;
use std::collections::BTreeMap;

use ample_budget::Budget;
use ample_explicit::check::Options;
use ample_explicit::partial::{self, Cache, Mark, Partial, Reduction, Replacement};
use ample_explicit::search::handlers::{Always, Deadlock, Handlers, Insert, InsertRepresentative, Perform};
use ample_explicit::search::{BreadthFirst, DepthFirst, Explore, Feedback, SearchResult, Strategy};
use ample_explicit::software::{BitvectorModel, Linearisation, SoftwareModel, SoftwareState};
use ample_explicit::space::{Buffer, Checked, StateSpace};
use ample_explicit::store::{ExactStore, FlatStore, HashStore, Parent, Store};
use ample_explicit::transform::{Persistent, Quotient, Representative};

use crate::models::*;

/// States and deadlock of each configuration.
type Results = BTreeMap<String, (usize, bool)>;

/// A way to write states: new stores for it, with parents and with marks.
trait Stores<State: ?Sized>: Copy {
    type Linked: ExactStore<State, Side = Parent>;
    type Marked: ExactStore<State, Side = Mark>;
    fn linked(self) -> Self::Linked;
    fn marked(self) -> Self::Marked;
}

#[derive(Clone, Copy)]
struct Hashed;

impl Stores<SoftwareState> for Hashed {
    type Linked = HashStore<SoftwareState, Parent>;
    type Marked = HashStore<SoftwareState, Mark>;

    fn linked(self) -> Self::Linked {
        HashStore::default()
    }

    fn marked(self) -> Self::Marked {
        HashStore::default()
    }
}

#[derive(Clone, Copy)]
struct Flat;

impl Stores<[u8]> for Flat {
    type Linked = FlatStore<Parent>;
    type Marked = FlatStore<Mark>;

    fn linked(self) -> Self::Linked {
        FlatStore::default()
    }

    fn marked(self) -> Self::Marked {
        FlatStore::default()
    }
}

fn representations(model: &SoftwareModel, results: &mut Results) {
    let linear = Linearisation::new(model.types().clone());
    let canonical = |state: &SoftwareState, out: &mut SoftwareState| linear.canonical(state, out).unwrap();
    reductions("graph", model, canonical, Hashed, results);
    for (name, inline) in [("vector", false), ("inlined vector", true)] {
        let vectors = BitvectorModel::new(model.clone()).inline(inline);
        let linear = vectors.linearisation().clone();
        let canonical = |state: &[u8], out: &mut Vec<u8>| {
            let mut representative = SoftwareState::default();
            linear.canonical(&linear.decode(state).unwrap(), &mut representative).unwrap();
            *out = linear.encode(&representative).unwrap();
        };
        reductions(name, &vectors, canonical, Flat, results);
    }
}

fn reductions<S, R, K>(name: &str, space: &S, canonical: R, stores: K, results: &mut Results)
where
    S: Partial<State: PartialEq, Transition: PartialEq> + Clone,
    R: Representative<S> + Representative<Persistent<S>> + Clone,
    K: Stores<S::State>,
    Buffer<S>: Default,
{
    symmetries(&format!("{name}, all"), || space.clone(), canonical.clone(), stores, results);
    let reduced = || Persistent::new(space.clone());
    symmetries(&format!("{name}, persistent"), reduced, canonical.clone(), stores, results);
    searches(&format!("{name}, all, plain"), || space.clone(), stores, results);
    searches(&format!("{name}, all, quotient"), || Quotient::new(space.clone(), canonical.clone()), stores, results);
}

fn symmetries<S, R, K>(name: &str, space: impl Fn() -> S, canonical: R, stores: K, results: &mut Results)
where
    S: Checked,
    R: Representative<S> + Clone,
    K: Stores<S::State>,
    Buffer<S>: Default,
{
    let found = Cell::new(false);
    let deadlock = || {
        let found = &found;
        Perform(move |_: &S::State| {
            found.set(true);
            Explore::New
        })
    };
    let insert = || Handlers::new().on_explore(Deadlock, deadlock()).on_explore(Always, Insert);
    strategies(&format!("{name}, plain"), &space, insert, &found, stores, results);
    let quotient = || Quotient::new(space(), canonical.clone());
    strategies(&format!("{name}, quotient"), quotient, insert, &found, stores, results);
    let symmetric = || {
        let representatives = InsertRepresentative::new(canonical.clone(), stores.linked());
        Handlers::new().on_explore(Deadlock, deadlock()).on_explore(Always, representatives)
    };
    strategies(&format!("{name}, store of representatives"), &space, symmetric, &found, stores, results);
}

fn strategies<S, F, K>(
    name: &str,
    space: impl Fn() -> S,
    feedback: impl Fn() -> F,
    found: &Cell<bool>,
    stores: K,
    results: &mut Results,
) where
    S: StateSpace,
    F: Feedback<S, K::Linked>,
    K: Stores<S::State>,
    Buffer<S>: Default,
{
    let mut run = |strategy: &str, search: &mut dyn Strategy<S, K::Linked, F>| {
        found.set(false);
        let mut store = stores.linked();
        let result = search.search(&mut space(), &mut store, &mut feedback());
        assert!(matches!(result, SearchResult::Exhausted));
        results.insert(format!("{name}, {strategy}"), (store.len(), found.get()));
    };
    run("depth-first", &mut DepthFirst::default());
    run("breadth-first", &mut BreadthFirst::default());
    run("breadth-first with a window", &mut BreadthFirst { window: 16, ..Default::default() });
}

/// The searches with persistent sets, sleep sets and a cache of states.
fn searches<S, K>(name: &str, space: impl Fn() -> S, stores: K, results: &mut Results)
where
    S: Partial,
    K: Stores<S::State>,
    Buffer<S>: Default,
{
    let cache = Some(Cache { states: 50_000, replacement: Replacement::Oldest });
    for persistent in [false, true] {
        for sleep in [false, true] {
            for cache in [None, cache] {
                let reduction = Reduction { persistent, sleep, cache, ..Reduction::default() };
                let options = Options { assertions: false, ..Options::default() };
                let (mut store, budget) = (stores.marked(), Budget::unlimited());
                let report = partial::depth_first(&mut space(), &mut store, &options, &reduction, &budget).unwrap();
                let found = report.report.deadlock.is_some();
                let name = format!("{name}, partial {persistent} {sleep} {}", cache.is_some());
                results.insert(name, (report.counts.stored as usize, found));
            }
        }
    }
}

#[test]
fn features_are_combined_without_code_for_each_pair() {
    // States, representatives, and whether there is a deadlock.
    let table = [
        (philosophers_with_references(3), 1082, 374, true),
        (peterson_with_references(), 126, 82, false),
        (counters(4, "bit"), 16, 5, false),
    ];
    for (model, states, orbits, deadlock) in table {
        let mut results = Results::new();
        representations(&model, &mut results);
        assert_eq!(results.len(), 3 * (2 * 3 * 3 + 2 * 8));
        for (name, (count, found)) in &results {
            assert_eq!(*found, deadlock, "{name}");
            if name.contains("partial") {
                assert!(deadlock || *count <= states, "{name}: {count}");
                continue;
            }
            let most = if name.contains("plain") { states } else { orbits };
            if name.contains("all") {
                assert_eq!(*count, most, "{name}");
            } else {
                assert!(*count <= most, "{name}: {count}");
            }
        }
    }
    // Where all steps are local, one process moves at a time.
    let mut results = Results::new();
    representations(&counters(4, "bit"), &mut results);
    assert_eq!(results["graph, persistent, plain, depth-first"], (2, false));
}
