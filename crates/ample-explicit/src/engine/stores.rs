//! Searches with a store that compresses states, or keeps only a part of their hash.
//!
//! A search is written once, for any [`StateSet`] ([`Work`]); which set it is, the options say ([`with_set`]).

use std::rc::Rc;

use ample_model::{Budget, Reason};

use super::liveness::EmptinessResult;
use super::options::{Explicit, Options, Search, SignatureBits, StoreKind};
use super::{KnownCoverage, OfCompiled, Request, Run, collect};
use crate::batch;
use crate::check as safety;
use crate::liveness::{self, Behind, Coloured, Concurrent, Product};
use crate::space::Checked;
use crate::store::{
    AutomatonSet, BitStateSet, CollapseSet, CompactionSet, Components, DiskStore, FlatStore, Key, Marks, Omission,
    SetStore, StateSet, TreeSet, Visible,
};

/// So much memory is left for compiling to native code beside the search.
const COMPILATION: usize = 10 << 20;

/// A store on disk holds at most so many bytes in memory without a limit.
const MOST_ON_DISK: usize = 1 << 36;

/// Two to this power of bits are enough for most models.
const HASH_BITS: u32 = 30;

/// So many bits are set for a state, as in Spin.
const HASH_FUNCTIONS: u32 = 3;

/// Why it is not known which statements are never executed.
const OMITTED: &str = "an approximate store may have omitted states";

/// Of a store that looks states up many at a time.
pub const ONLY_SAFETY: &str = "`--store disk` checks assertions, invariants and deadlocks; the search for endless runs and \
                               CTL need to know at once which states are new";

/// Of branching time.
pub const NO_BRANCHING: &str = "formulas in branching time (CTL) are evaluated with `--store exact`: their values are kept \
                                beside the states. This store checks LTL, assertions, invariants and deadlocks";

/// Of fairness.
pub const NO_FAIRNESS: &str = "fairness is checked by strongly connected components, with `--store exact`: this store knows \
                               of a state only that it was seen";

/// Of never claims that change the state.
pub const NO_ACTING: &str = "a never claim that changes the state is checked with `--store exact`";

/// Of the search by components.
pub const NO_COMPONENTS: &str = "`--emptiness components` keeps a number beside each state: it needs `--store exact`; \
                                 with this store, `--emptiness nested` looks for endless runs";

/// Something that is done with a set of states of any kind.
pub trait Work {
    /// What comes of it.
    type Output;

    /// Does it with an empty set.
    fn with<C: StateSet>(self, set: C) -> Self::Output;
}

/// Does something with a set of the kind that the options say, which has so many bytes of room.
pub fn with_set<W: Work>(
    explicit: &Explicit,
    components: Components,
    room: usize,
    work: W,
) -> Result<W::Output, Reason> {
    Ok(match explicit.store {
        StoreKind::Collapse => work.with(CollapseSet::new(components)),
        StoreKind::Automaton => work.with(AutomatonSet::new()),
        StoreKind::BitState => {
            let bits =
                explicit.hash_bits.unwrap_or_else(|| (room / 2).max(1024).ilog2().saturating_add(3).min(HASH_BITS));
            let fits = 1_usize.checked_shl(bits.saturating_sub(3)).is_some_and(|bytes| bytes <= room);
            let functions = explicit.hash_functions.unwrap_or(HASH_FUNCTIONS);
            let set = fits.then(|| BitStateSet::new(bits, functions)).flatten();
            work.with(set.ok_or(Reason::Memory)?)
        }
        StoreKind::Compact => match explicit.signature_bits.unwrap_or_default() {
            SignatureBits::Short => work.with(CompactionSet::<4>::new()),
            SignatureBits::Medium => work.with(CompactionSet::<6>::new()),
            SignatureBits::Long => work.with(CompactionSet::<8>::new()),
        },
        StoreKind::Tree | StoreKind::Exact | StoreKind::Cache | StoreKind::Disk => work.with(TreeSet::new()),
    })
}

/// The components of the states of a space.
pub fn components(space: &mut impl OfCompiled) -> Components {
    Rc::new(space.compiled().components())
}

/// A search that leaves nothing out, on any space that is a compiled system or made of one.
pub struct Plain<'a, P> {
    pub space: &'a mut P,
    pub key: Key,
    pub safety: &'a safety::Options,
    pub order: Search,
    /// Something is looked for, to which there may be a path.
    pub finds_paths: bool,
    pub room: usize,
    pub budget: &'a Budget,
}

impl<P: Checked<State = [u8]> + Concurrent + OfCompiled> Work for Plain<'_, P> {
    type Output = Run;

    fn with<C: StateSet>(self, set: C) -> Run {
        let Plain { space, key, safety, order, finds_paths, room, budget } = self;
        let (report, store) = if order == Search::DepthFirst {
            let mut store = SetStore::stack(set, key).limit(room);
            (safety::depth_first(space, &mut store, safety, budget), store)
        } else {
            let mut store = SetStore::queue(set, key, finds_paths).limit(room);
            (safety::breadth_first(space, &mut store, safety, budget), store)
        };
        let run = collect(space, &store, report);
        estimated(run, store.set_bytes(), store.omission())
    }
}

/// Searches without reduction.
pub fn plain<P>(
    space: &mut P,
    key: Key,
    request: &Request,
    safety: &safety::Options,
    options: &Options,
    room: usize,
    budget: &Budget,
) -> Run
where
    P: Checked<State = [u8]> + Concurrent + OfCompiled,
{
    if options.explicit.store == StoreKind::Disk {
        return on_disk(space, key, safety, room, budget);
    }
    let components = components(space);
    let finds_paths = !request.is_empty();
    let work = Plain { space, key, safety, order: options.explicit.search, finds_paths, room, budget };
    match with_set(&options.explicit, components, room, work) {
        Ok(run) => run,
        Err(reason) => Run { ended: Some(reason), ..Run::default() },
    }
}

/// Searches with a store on disk.
fn on_disk<P>(space: &mut P, key: Key, safety: &safety::Options, room: usize, budget: &Budget) -> Run
where
    P: Checked<State = [u8]> + Concurrent + OfCompiled,
{
    // The rest is for what the process needs beside the store.
    match DiskStore::new(key, (room.saturating_sub(COMPILATION) / 8 * 7).min(MOST_ON_DISK)) {
        Ok(mut store) => {
            let report = batch::breadth_first(space, &mut store, safety, budget);
            let bytes = store.bytes() as u64 + store.disk_bytes();
            let mut run = collect(space, &store.kept, report);
            run.statistics.store_bytes = bytes;
            run
        }
        Err(error) => {
            let why = format!("the states could not be kept on disk: {error}");
            Run { ended: Some(Reason::Unsupported(why)), ..Run::default() }
        }
    }
}

/// A nested search for endless runs.
pub struct NestedSearch<'a, P: Checked<State = [u8]>, V> {
    pub product: &'a mut Product<P>,
    /// What counts of the states of the product.
    pub visible: V,
    pub limits: &'a liveness::Options,
    pub room: usize,
    pub budget: &'a Budget,
}

/// This part of the memory is for the states of a counterexample.
const FOR_THE_RUN: usize = 8;

impl<P, V> Work for NestedSearch<'_, P, V>
where
    P: Checked<State = [u8]> + Concurrent + OfCompiled,
    V: Visible + Clone + 'static,
{
    type Output = EmptinessResult;

    fn with<C: StateSet>(self, set: C) -> EmptinessResult {
        let NestedSearch { product, visible, limits, room, budget } = self;
        let mut store = SetStore::stack(set, Coloured(visible.clone()).key()).limit(room - room / FOR_THE_RUN);
        let mut found = FlatStore::<Marks, _>::with_visible(visible).limit(room / FOR_THE_RUN);
        let report = liveness::nested_with_set(product, &mut store, &mut found, limits, budget);
        let limit = product.space().compiled().limit_reached();
        let mut result = super::liveness::collect(product, &found, report, limit);
        result.statistics.store_bytes = store.set_bytes() as u64;
        result.statistics.omitted = store.omission().map(|omission| omission.expected);
        result
    }
}

/// Looks for endless runs.
pub fn nested<P, V>(search: NestedSearch<'_, P, V>, explicit: &Explicit) -> EmptinessResult
where
    P: Checked<State = [u8]> + Concurrent + OfCompiled,
    V: Visible + Clone + 'static,
{
    let inner = components(search.product.space());
    // The colour and the state of the automaton belong to the first component.
    let before = Coloured::<V>::BYTES + Behind::<V>::BYTES;
    let components: Components = Rc::new(move |state: &[u8], starts: &mut Vec<usize>| {
        let known = starts.len();
        inner(&state[before..], starts);
        starts[known..].iter_mut().for_each(|start| *start += before);
    });
    let room = search.room - search.room / FOR_THE_RUN;
    match with_set(explicit, components, room, search) {
        Ok(found) => found,
        Err(reason) => EmptinessResult { ended: Some(reason), ..EmptinessResult::default() },
    }
}

/// A run with what is known of its store.
pub fn estimated(run: Run, set_bytes: usize, omission: Option<Omission>) -> Run {
    let mut run = run;
    run.statistics.store_bytes = set_bytes as u64;
    run.statistics.omitted = omission.map(|omission| omission.expected);
    if omission.is_some() && run.coverage.0.is_ok() {
        run.coverage = KnownCoverage(Err(OMITTED));
    }
    run
}
