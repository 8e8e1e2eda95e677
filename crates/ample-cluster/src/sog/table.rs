//! The aggregates that a process owns, found by their digests.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use ample_sog::aggregate::Facts;
use ample_sog::observed::Label;
use ample_sog::{Error, Size};

/// The hash of a digest is a part of it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OfDigest(u64);

impl Hasher for OfDigest {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u128(&mut self, digest: u128) {
        self.0 = (digest >> 64) as u64;
    }
}

/// What is known of digests.
pub(super) type ByDigest<T> = HashMap<u128, T, BuildHasherDefault<OfDigest>>;

/// Where an aggregate leads: actions, or τ, and digests.
pub(super) type Arcs = Vec<(Option<usize>, u128)>;

/// An aggregate.
#[derive(Clone)]
pub(super) struct Entry {
    pub(super) digest: u128,
    pub(super) label: Label,
    /// Its set, or its representatives.
    pub(super) bytes: Arc<[u8]>,
    pub(super) is_whole: bool,
    /// Somebody expands it, or has done so.
    pub(super) is_claimed: bool,
    pub(super) expansion: Option<(Facts, Arcs)>,
}

/// What an aggregate takes beside the bytes of its set, about.
const ENTRY_BYTES: usize = 200;

/// The aggregates.
pub(super) struct Table {
    numbers: ByDigest<u32>,
    entries: Vec<Entry>,
    expanded: usize,
    bytes: usize,
    max_bytes: usize,
}

impl Table {
    /// An empty one, for at most so many bytes.
    pub(super) fn new(max_bytes: usize) -> Table {
        Table { numbers: ByDigest::default(), entries: Vec::new(), expanded: 0, bytes: 0, max_bytes }
    }

    pub(super) fn find(&self, digest: u128) -> Option<u32> {
        self.numbers.get(&digest).copied()
    }

    pub(super) fn entry(&self, number: u32) -> &Entry {
        &self.entries[number as usize]
    }

    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// How many aggregates there are, and how many of them were expanded.
    pub(super) fn len(&self) -> (usize, usize) {
        (self.entries.len(), self.expanded)
    }

    /// Makes room for so many bytes more, of whatever the worker remembers.
    pub(super) fn charge(&mut self, bytes: usize) -> Result<(), Error> {
        self.bytes += bytes;
        if self.bytes > self.max_bytes { Err(Error::Memory) } else { Ok(()) }
    }

    /// So many bytes are free again.
    pub(super) fn discharge(&mut self, bytes: usize) {
        self.bytes -= bytes;
    }

    /// Inserts a new aggregate.
    pub(super) fn insert(&mut self, digest: u128, label: Label, bytes: Vec<u8>, is_whole: bool) -> Result<u32, Error> {
        self.charge(bytes.len() + ENTRY_BYTES)?;
        let number = u32::try_from(self.entries.len()).map_err(|_| Error::Memory)?;
        self.numbers.insert(digest, number);
        let bytes = bytes.into();
        self.entries.push(Entry { digest, label, bytes, is_whole, is_claimed: false, expansion: None });
        Ok(number)
    }

    /// True for one caller only: that one expands it.
    pub(super) fn claim(&mut self, number: u32) -> bool {
        !std::mem::replace(&mut self.entries[number as usize].is_claimed, true)
    }

    /// The whole set of an aggregate in place of its representatives.
    pub(super) fn complete(&mut self, number: u32, bytes: Vec<u8>) -> Result<(), Error> {
        let entry = &mut self.entries[number as usize];
        let more = bytes.len().saturating_sub(entry.bytes.len());
        entry.bytes = bytes.into();
        entry.is_whole = true;
        self.charge(more)
    }

    /// What was found when the aggregate was expanded, by now for the first time.
    pub(super) fn expand(&mut self, number: u32, facts: Facts, arcs: Arcs) -> Result<(), Error> {
        let more = arcs.len() * size_of::<(Option<usize>, u128)>();
        if self.entries[number as usize].expansion.replace((facts, arcs)).is_none() {
            self.expanded += 1;
        }
        self.charge(more)
    }

    /// How many aggregates there are of those with some digests, and the figures of those that were expanded.
    pub(super) fn size(&self, is_meant: impl Fn(u128) -> bool) -> (u64, Size) {
        let (mut found, mut size) = (0, Size::default());
        for entry in self.entries.iter().filter(|entry| is_meant(entry.digest)) {
            found += 1;
            let Some((facts, arcs)) = &entry.expansion else { continue };
            size.aggregates += 1;
            size.arcs += arcs.len();
            size.silent += arcs.iter().filter(|(action, _)| action.is_none()).count();
            size.dead += usize::from(facts.dead);
            size.divergent += usize::from(facts.divergent);
            size.states = size.states.saturating_add(facts.states);
            size.nodes += facts.nodes;
            size.bytes += entry.bytes.len();
        }
        (found, size)
    }
}
