//! Tree compression (S. Blom, B. Lisser, J. van de Pol, M. Weber: A database approach to distributed state space generation,
//! 2009; A. Laarman, J. van de Pol, M. Weber: Parallel recursive state compression for free, 2011).
//!
//! A state is a vector of 32-bit words. Two neighbours make a pair, which gets a number; the numbers of neighbouring pairs
//! make pairs in turn, up to a last one, the *root*. Pairs are kept once, so that states share whatever they have in
//! common, and a new state that differs from others in few places costs little more than its root: eight bytes.
//!
//! The set remembers the pairs of the last state that it was asked for. The states that a search offers one after the
//! other are successors of one state and mostly equal, so that only the pairs above changed words have to be looked up.

use super::compact_table::CompactTable;
use super::set::{Entry, StateSet, mix};

/// Bytes of a word.
const WORD: usize = 4;

/// There are at most so many pairs that are not roots.
const MOST_PAIRS: usize = u32::MAX as usize - 1;

/// A set of states that are kept as trees of pairs.
///
/// ```
/// use ample_explicit::store::{Entry, StateSet, TreeSet};
///
/// let mut set = TreeSet::new();
/// let mut insert = |state: &[u8]| {
///     let signature = set.signature(state);
///     set.insert(state, signature)
/// };
/// assert_eq!(insert(b"a state of some length"), Entry::New);
/// assert_eq!(insert(b"a state of another length"), Entry::New);
/// assert_eq!(insert(b"a state of some length"), Entry::Seen);
/// ```
pub struct TreeSet {
    pairs: Pairs,
    /// For each length of states: its roots.
    forests: Vec<Forest>,
    /// Which of them has states of that length, if it is known.
    by_length: Vec<u32>,
    /// The tree of the last state: its words, the numbers of their pairs, and so on, level by level.
    last: Vec<u32>,
    last_length: usize,
    /// Which of the values of a level have changed, one in each bit.
    changed: Vec<u64>,
    len: usize,
    /// The bytes of all roots.
    roots_bytes: usize,
    limit: usize,
    /// There was no memory for a pair.
    is_full: bool,
}

/// The states of one length.
struct Forest {
    roots: CompactTable<8>,
    /// Where each level begins in the list of all values, and how many values it has; at the last one there are two.
    levels: Vec<(usize, usize)>,
}

impl Forest {
    fn new(length: usize) -> Forest {
        let mut levels = vec![(0, length.div_ceil(WORD).max(2))];
        while let Some(&(start, size)) = levels.last()
            && size > 2
        {
            levels.push((start + size, size.div_ceil(2)));
        }
        Forest { roots: CompactTable::new(), levels }
    }

    /// How many values a tree has.
    fn values(&self) -> usize {
        self.levels.last().map_or(0, |&(start, size)| start + size)
    }
}

impl Default for TreeSet {
    fn default() -> Self {
        TreeSet::new()
    }
}

impl TreeSet {
    /// An empty set.
    pub fn new() -> TreeSet {
        TreeSet {
            pairs: Pairs::new(),
            forests: Vec::new(),
            by_length: Vec::new(),
            last: Vec::new(),
            last_length: usize::MAX,
            changed: Vec::new(),
            len: 0,
            roots_bytes: 0,
            limit: usize::MAX,
            is_full: false,
        }
    }

    /// How many pairs there are that are not roots.
    pub fn inner_pairs(&self) -> usize {
        self.pairs.list.len()
    }

    /// The number of the states of a length.
    #[inline]
    fn forest(&self, length: usize) -> Option<usize> {
        match self.by_length.get(length) {
            None | Some(&u32::MAX) => None,
            Some(&number) => Some(number as usize),
        }
    }

    #[cold]
    fn plant(&mut self, length: usize) -> usize {
        if self.by_length.len() <= length {
            self.by_length.resize(length + 1, u32::MAX);
        }
        self.by_length[length] = self.forests.len() as u32;
        self.forests.push(Forest::new(length));
        self.forests.len() - 1
    }

    /// The root of a state, after taking in the pairs below it.
    #[inline]
    fn root(&mut self, state: &[u8]) -> Option<u64> {
        let forest = match self.forest(state.len()) {
            Some(forest) => forest,
            None => self.plant(state.len()),
        };
        if self.last_length != state.len() {
            self.last.clear();
            self.last.resize(self.forests[forest].values(), 0);
            self.last_length = usize::MAX;
        }
        let Forest { levels, .. } = &self.forests[forest];
        let is_fresh = self.last_length == usize::MAX;
        let words = levels[0].1;
        let limit = self.limit.saturating_sub(self.roots_bytes);
        self.changed.clear();
        self.changed.resize(words.div_ceil(64), 0);
        for (index, word) in words_of(state).enumerate() {
            let changed = is_fresh || self.last[index] != word;
            self.last[index] = word;
            self.changed[index / 64] |= u64::from(changed) << (index % 64);
        }
        // Whatever goes wrong now, the values do not belong together until all are there.
        self.last_length = usize::MAX;
        for level in levels.windows(2) {
            let [(start, size), (above, _)] = *level else { continue };
            for part in 0..size.div_ceil(64) {
                let bits = std::mem::take(&mut self.changed[part]);
                // Neighbours fall together, and their bits are those of the level above.
                let mut pairs = (bits | bits >> 1) & 0x5555_5555_5555_5555;
                while pairs != 0 {
                    let even = part * 64 + pairs.trailing_zeros() as usize;
                    pairs &= pairs - 1;
                    let value = if even + 1 == size {
                        self.last[start + even]
                    } else {
                        let (left, right) = (self.last[start + even], self.last[start + even + 1]);
                        self.pairs.number(join(left, right), limit)?
                    };
                    let (place, index) = (above + even / 2, even / 2);
                    if is_fresh || self.last[place] != value {
                        self.last[place] = value;
                        self.changed[index / 64] |= 1 << (index % 64);
                    }
                }
            }
        }
        self.last_length = state.len();
        let &(start, _) = levels.last()?;
        Some(join(self.last[start], self.last[start + 1]))
    }
}

/// The words of a state; there are at least two, and the last ones are filled up with zeros.
#[inline]
fn words_of(state: &[u8]) -> impl Iterator<Item = u32> {
    let (whole, rest) = state.as_chunks::<WORD>();
    let mut last = [0; WORD];
    last[..rest.len()].copy_from_slice(rest);
    let rest = (!rest.is_empty()).then_some(last);
    let missing = 2_usize.saturating_sub(state.len().div_ceil(WORD));
    whole.iter().copied().chain(rest).map(u32::from_le_bytes).chain(std::iter::repeat_n(0, missing))
}

#[inline]
fn join(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

impl StateSet for TreeSet {
    #[inline]
    fn signature(&mut self, state: &[u8]) -> u64 {
        match self.root(state) {
            Some(root) => root,
            None => {
                self.is_full = true;
                0
            }
        }
    }

    #[inline]
    fn prefetch(&self, signature: u64) {
        if let Some(forest) = self.forest(self.last_length) {
            self.forests[forest].roots.prefetch(signature);
        }
    }

    #[inline]
    fn insert(&mut self, state: &[u8], signature: u64) -> Entry {
        let Some(forest) = self.forest(state.len()).filter(|_| !self.is_full) else { return Entry::Full };
        let roots = &mut self.forests[forest].roots;
        let before = roots.bytes();
        let room = self.limit.saturating_sub(self.pairs.bytes() + self.roots_bytes);
        let entry = roots.insert(signature, room);
        self.roots_bytes += roots.bytes() - before;
        self.len += usize::from(entry == Entry::New);
        entry
    }

    fn contains(&self, state: &[u8]) -> bool {
        let Some(forest) = self.forest(state.len()) else { return false };
        let forest = &self.forests[forest];
        let mut values: Vec<u32> = words_of(state).collect();
        while values.len() > 2 {
            let pair = |pair: &[u32]| match *pair {
                [left, right] => self.pairs.find(join(left, right)),
                _ => pair.first().copied(),
            };
            let Some(above) = values.chunks(2).map(pair).collect() else { return false };
            values = above;
        }
        forest.roots.contains(join(values[0], values[1]))
    }

    fn len(&self) -> usize {
        self.len
    }

    fn bytes(&self) -> usize {
        let forests = self.forests.capacity() * size_of::<Forest>() + self.by_length.capacity() * size_of::<u32>();
        self.pairs.bytes() + self.roots_bytes + forests
    }

    fn set_limit(&mut self, bytes: usize) {
        self.limit = bytes;
    }
}

/// Pairs that have a number.
struct Pairs {
    list: Vec<u64>,
    /// One more than the number of a pair, at or after the place that its hash says; zero where nothing is.
    table: Vec<u32>,
}

impl Pairs {
    fn new() -> Pairs {
        Pairs { list: Vec::new(), table: vec![0; 64] }
    }

    fn bytes(&self) -> usize {
        self.list.capacity() * size_of::<u64>() + self.table.capacity() * size_of::<u32>()
    }

    #[inline]
    fn home(&self, pair: u64) -> usize {
        (mix(pair) >> 32) as usize & (self.table.len() - 1)
    }

    /// The number of a pair, or the place where it belongs.
    #[inline]
    fn probe(&self, pair: u64) -> Result<u32, usize> {
        let mut place = self.home(pair);
        loop {
            let Some(number) = self.table[place].checked_sub(1) else { return Err(place) };
            if self.list[number as usize] == pair {
                return Ok(number);
            }
            place = (place + 1) & (self.table.len() - 1);
        }
    }

    fn find(&self, pair: u64) -> Option<u32> {
        self.probe(pair).ok()
    }

    /// The number of a pair, which is taken in if it is new. None if there is no memory for it.
    #[inline]
    fn number(&mut self, pair: u64, limit: usize) -> Option<u32> {
        match self.probe(pair) {
            Ok(number) => Some(number),
            Err(place) => self.add(pair, place, limit),
        }
    }

    fn add(&mut self, pair: u64, place: usize, limit: usize) -> Option<u32> {
        let number = self.list.len();
        if number >= MOST_PAIRS {
            return None;
        }
        if number == self.list.capacity() {
            let more = (number / 2).max(64);
            // Both are alive while the pairs are moved.
            let fits = self.bytes() + (number + more) * size_of::<u64>() <= limit;
            if !fits || self.list.try_reserve_exact(more).is_err() {
                return None;
            }
        }
        self.list.push(pair);
        self.table[place] = number as u32 + 1;
        if self.list.len() > self.table.len() / 4 * 3 && !self.rehash(limit) {
            // The table must have a free place to end a search at.
            if self.list.len() >= self.table.len() / 16 * 15 {
                return None;
            }
        }
        Some(number as u32)
    }

    /// A table of twice the size. False if there is no memory for it.
    #[cold]
    fn rehash(&mut self, limit: usize) -> bool {
        let size = 2 * self.table.len();
        if self.list.capacity() * size_of::<u64>() + size * size_of::<u32>() > limit {
            return false;
        }
        // The old one goes before the new one comes.
        self.table = Vec::new();
        self.table = vec![0; size];
        for (number, &pair) in self.list.iter().enumerate() {
            let mut place = self.home(pair);
            while self.table[place] != 0 {
                place = (place + 1) & (size - 1);
            }
            self.table[place] = number as u32 + 1;
        }
        true
    }
}
