//! Collapse compression (G. J. Holzmann: State compression in SPIN, 1997): a state is kept as the numbers of its components.
//!
//! The components, the globals, each channel and each process, are kept once each, and there are few of them even where
//! there are many ways to combine them. A number below 128 takes one byte in a state.

use std::rc::Rc;

use rapidhash::v3::rapidhash_v3;

use super::set::{Entry, StateSet};
use super::{ExactStore, FlatStore, Handle, Inserted, Side, Store};

/// Writes where the components of a state begin, but for the first one, to the end of a list; in ascending order. States
/// that agree up to the first of these places have the same places.
pub type Components = Rc<dyn Fn(&[u8], &mut Vec<usize>)>;

/// Components beyond so many share one table.
const TABLES: usize = 64;

/// The number of a component.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Number(u32);

impl Side for Number {
    const SIZE: usize = 4;

    #[inline]
    fn fresh(_: Option<Handle>) -> Self {
        Number(0)
    }

    #[inline]
    fn write(self, bytes: &mut [u8]) {
        bytes.copy_from_slice(&self.0.to_le_bytes());
    }

    #[inline]
    fn read(bytes: &[u8]) -> Self {
        Number(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }
}

/// A set of states that are kept as the numbers of their components.
///
/// ```
/// use std::rc::Rc;
/// use ample_explicit::store::{CollapseSet, Entry, StateSet};
///
/// // Two components: the first three bytes, and the rest.
/// let mut set = CollapseSet::new(Rc::new(|_: &[u8], cuts: &mut Vec<usize>| cuts.push(3)));
/// let mut insert = |state: &[u8]| {
///     let signature = set.signature(state);
///     set.insert(state, signature)
/// };
/// assert_eq!(insert(b"one, two"), Entry::New);
/// assert_eq!(insert(b"two, one"), Entry::New);
/// assert_eq!(insert(b"one, two"), Entry::Seen);
/// ```
pub struct CollapseSet {
    components: Components,
    tables: Vec<FlatStore<Number>>,
    states: FlatStore,
    /// The state that was offered last, where its components begin, and their numbers.
    last: Vec<u8>,
    cuts: Vec<usize>,
    numbers: Vec<u32>,
    new_cuts: Vec<usize>,
    /// The numbers, as they are kept.
    vector: Vec<u8>,
    limit: usize,
    is_full: bool,
}

impl CollapseSet {
    /// An empty set of states with these components.
    pub fn new(components: Components) -> CollapseSet {
        CollapseSet {
            components,
            tables: Vec::new(),
            states: FlatStore::new(),
            last: Vec::new(),
            cuts: Vec::new(),
            numbers: Vec::new(),
            new_cuts: Vec::new(),
            vector: Vec::new(),
            limit: usize::MAX,
            is_full: false,
        }
    }

    fn tables_bytes(&self) -> usize {
        self.tables.iter().map(Store::bytes).sum()
    }

    /// Writes the vector of a state. False if there is no memory for a component.
    fn collapse(&mut self, state: &[u8]) -> bool {
        self.new_cuts.clear();
        (self.components)(state, &mut self.new_cuts);
        self.new_cuts.push(state.len());
        let is_alike = self.new_cuts == self.cuts && self.last.len() == state.len();
        if !is_alike {
            std::mem::swap(&mut self.cuts, &mut self.new_cuts);
            self.numbers.clear();
        }
        self.vector.clear();
        let mut start = 0;
        for (index, &end) in self.cuts.iter().enumerate() {
            let component = &state[start..end];
            let number = match self.numbers.get(index) {
                Some(&number) if is_alike && self.last[start..end] == *component => number,
                _ => {
                    let place = index.min(TABLES);
                    while self.tables.len() <= place {
                        self.tables.push(FlatStore::default());
                    }
                    let table = &mut self.tables[place];
                    let next = Number(table.len() as u32);
                    let number = match table.insert_with(component, next) {
                        Inserted::New(_) => next.0,
                        Inserted::Seen(handle) => table.side(handle).0,
                        Inserted::Full => return false,
                    };
                    match self.numbers.get_mut(index) {
                        Some(known) => *known = number,
                        None => self.numbers.push(number),
                    }
                    number
                }
            };
            write(number, &mut self.vector);
            start = end;
        }
        self.last.clear();
        self.last.extend_from_slice(state);
        true
    }
}

/// Seven bits in each byte, the last of which has its highest bit clear.
#[inline]
fn write(mut number: u32, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

impl StateSet for CollapseSet {
    const IS_SLOW: bool = true;

    /// Of no use: a vector is made when it is needed.
    #[inline]
    fn signature(&mut self, _: &[u8]) -> u64 {
        0
    }

    #[inline]
    fn insert(&mut self, state: &[u8], _: u64) -> Entry {
        if self.is_full || !self.collapse(state) {
            self.is_full = true;
            return Entry::Full;
        }
        let hash = rapidhash_v3(&self.vector);
        match self.states.insert_hashed(&self.vector, hash, ()) {
            Inserted::New(_) => {
                let is_time = self.states.len() % 1024 == 0;
                if is_time && self.bytes() > self.limit {
                    self.is_full = true;
                }
                Entry::New
            }
            Inserted::Seen(_) => Entry::Seen,
            Inserted::Full => Entry::Full,
        }
    }

    fn contains(&self, state: &[u8]) -> bool {
        let mut cuts = Vec::new();
        (self.components)(state, &mut cuts);
        cuts.push(state.len());
        let (mut vector, mut start) = (Vec::new(), 0);
        for (index, &end) in cuts.iter().enumerate() {
            let Some(table) = self.tables.get(index.min(TABLES)) else { return false };
            let Some(handle) = table.find(&state[start..end]) else { return false };
            write(table.side(handle).0, &mut vector);
            start = end;
        }
        self.states.find(&vector).is_some()
    }

    fn len(&self) -> usize {
        self.states.len()
    }

    fn bytes(&self) -> usize {
        self.tables_bytes() + self.states.bytes()
    }

    fn set_limit(&mut self, bytes: usize) {
        self.limit = bytes;
        self.states.set_limit(bytes.saturating_sub(self.tables_bytes()));
    }
}
