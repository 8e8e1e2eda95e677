//! The aggregates that threads share, found by the bytes of their sets and their labels. The label says nothing new, except
//! where a set consists of transient states alone.
//!
//! To look for an aggregate and to insert it is one critical section, of the part of the table that its bytes belong to.
//! What an aggregate is like and where it leads is found later, by exactly one thread, and published at once.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use ample_budget::Progress;

use crate::aggregate::Facts;
use crate::graph::{Aggregate, Graph};
use crate::model::{Error, Maybe};
use crate::observed::{Label, Observed};

/// The number of an aggregate, in the order in which they were inserted.
pub type Id = u32;

/// What is found when an aggregate is expanded.
#[derive(Clone, Debug)]
pub struct Expansion {
    /// What it is like.
    pub facts: Facts,
    /// Where it leads: sorted, each arc once.
    pub arcs: Vec<(Option<usize>, Id)>,
}

/// An aggregate in the table.
pub struct Entry {
    /// The label of its states.
    pub label: Label,
    /// Its set, or its representatives.
    pub bytes: Arc<[u8]>,
    claimed: AtomicBool,
    expansion: OnceLock<Expansion>,
}

impl Entry {
    /// True for one caller only: that one expands it.
    pub fn claim(&self) -> bool {
        !self.claimed.swap(true, Ordering::AcqRel)
    }

    /// What was found, if it was expanded.
    pub fn expansion(&self) -> Option<&Expansion> {
        self.expansion.get()
    }
}

const SHARDS: usize = 64;

/// The aggregates with some bytes: nearly always one.
type Shard = HashMap<Arc<[u8]>, Known>;

struct Known {
    label: Label,
    id: Id,
    others: Vec<(Label, Id)>,
}

impl Known {
    fn find(&self, label: Label) -> Option<Id> {
        if self.label == label {
            return Some(self.id);
        }
        self.others.iter().find(|(other, _)| *other == label).map(|(_, id)| *id)
    }
}

/// How much there is in a table.
#[derive(Debug, Default)]
pub struct Figures {
    found: AtomicU64,
    expanded: AtomicU64,
    arcs: AtomicU64,
    bytes: AtomicU64,
}

impl Figures {
    /// What an engine of sets tells, with them.
    pub fn with(&self, progress: &Progress) -> Progress {
        let (found, expanded) = (self.found.load(Ordering::Relaxed), self.expanded.load(Ordering::Acquire));
        Progress {
            aggregates: found,
            transitions: self.arcs.load(Ordering::Relaxed),
            pending: found.saturating_sub(expanded),
            memory: progress.memory.saturating_add(self.bytes.load(Ordering::Relaxed)),
            ..*progress
        }
    }
}

/// The aggregates.
pub struct Table {
    shards: Vec<Mutex<Shard>>,
    hasher: RandomState,
    entries: RwLock<Vec<Arc<Entry>>>,
    figures: Arc<Figures>,
    max_bytes: u64,
    initial: OnceLock<Vec<Id>>,
}

/// A lock whose holder has panicked is as good as any: nothing is left half done under it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Table {
    /// An empty one, for at most so many bytes of sets.
    pub fn new(max_bytes: u64) -> Table {
        Table {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            hasher: RandomState::new(),
            entries: RwLock::default(),
            figures: Arc::default(),
            max_bytes,
            initial: OnceLock::new(),
        }
    }

    /// The aggregate with this label and these bytes, and whether it is new.
    pub fn find_or_insert(&self, label: Label, bytes: Vec<u8>) -> Maybe<(Id, bool)> {
        let shard = (self.hasher.hash_one(&bytes) >> 32) as usize % SHARDS;
        let mut known = lock(&self.shards[shard]);
        if let Some(id) = known.get(bytes.as_slice()).and_then(|known| known.find(label)) {
            return Ok((id, false));
        }
        let size = bytes.len() as u64 + 200;
        if self.figures.bytes.fetch_add(size, Ordering::Relaxed) + size > self.max_bytes {
            return Err(Error::Memory);
        }
        let bytes: Arc<[u8]> = bytes.into();
        let entry =
            Entry { label, bytes: Arc::clone(&bytes), claimed: AtomicBool::new(false), expansion: OnceLock::new() };
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        let id = Id::try_from(entries.len()).map_err(|_| Error::Memory)?;
        entries.push(Arc::new(entry));
        drop(entries);
        self.figures.found.fetch_add(1, Ordering::Relaxed);
        match known.entry(bytes) {
            std::collections::hash_map::Entry::Occupied(mut same) => same.get_mut().others.push((label, id)),
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(Known { label, id, others: Vec::new() });
            }
        }
        Ok((id, true))
    }

    /// The aggregate of that number.
    pub fn entry(&self, id: Id) -> Arc<Entry> {
        Arc::clone(&self.entries.read().unwrap_or_else(PoisonError::into_inner)[id as usize])
    }

    /// Tells what was found.
    pub fn publish(&self, entry: &Entry, expansion: Expansion) {
        let arcs = expansion.arcs.len() as u64;
        if entry.expansion.set(expansion).is_ok() {
            self.figures.arcs.fetch_add(arcs, Ordering::Relaxed);
            self.figures.expanded.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// How many aggregates there are, and how many of them were expanded.
    pub fn len(&self) -> (usize, usize) {
        let all = self.entries.read().unwrap_or_else(PoisonError::into_inner).len();
        (all, self.figures.expanded.load(Ordering::Acquire) as usize)
    }

    /// How much there is in it.
    pub fn figures(&self) -> Arc<Figures> {
        Arc::clone(&self.figures)
    }

    /// Says where runs begin, once.
    pub fn set_initial(&self, initial: Vec<Id>) {
        let _ = self.initial.set(initial);
    }

    /// Where runs begin, once that is known.
    pub fn initial(&self) -> Option<&[Id]> {
        self.initial.get().map(Vec::as_slice)
    }

    /// All of it as plain data; `None` if something was not expanded.
    pub fn graph(&self, observed: &Observed, is_canonical: bool) -> Option<Graph> {
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        let mut aggregates = Vec::with_capacity(entries.len());
        for entry in entries.iter() {
            let Expansion { facts, arcs } = entry.expansion()?;
            let arcs = arcs.iter().map(|(action, to)| (*action, *to as usize)).collect();
            let (facts, set) = (facts.clone(), entry.bytes.to_vec());
            aggregates.push(Aggregate { label: entry.label, facts, set, arcs });
        }
        let initial = self.initial()?.iter().map(|id| *id as usize).collect();
        Some(Graph::numbered(observed.clone(), is_canonical, initial, aggregates))
    }
}
