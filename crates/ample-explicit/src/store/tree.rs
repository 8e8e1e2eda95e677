//! Tree compression (S. Blom, B. Lisser, J. van de Pol, M. Weber: A database approach to distributed state space generation,
//! 2009; A. Laarman, J. van de Pol, M. Weber: Parallel recursive state compression for free, 2011).
//!
//! A state is a vector of 32-bit words. Two neighbours make a pair, which gets a number; the numbers of neighbouring pairs
//! make pairs in turn, up to a last one, the *root*. Pairs are kept once, so that states share whatever they have in
//! common, and a new state that differs from others in few places costs little more than its root: eight bytes.
//!
//! The set remembers the tree of the last state of each length. The states that a search offers one after the other are
//! successors of one state and mostly equal, so that only the pairs above changed words have to be looked up. States that
//! are announced together are looked up together, level by level, so that the memory is asked for all pairs of a level
//! before the first of them is needed.

use std::num::NonZeroU32;

use super::compact_table::CompactTable;
use super::pair_table::PairTable;
use super::set::{Entry, StateSet};

/// Bytes of a pair of words.
const PAIR: usize = 8;

/// So many states are remembered between their announcement and their insertion; the tree of an older one is made again.
const MOST_ANNOUNCED: usize = 64;

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
    trees: Trees,
    /// For each length of states: its roots.
    roots: Vec<CompactTable<8>>,
    len: usize,
    /// The bytes of all roots.
    roots_bytes: usize,
    limit: usize,
}

impl Default for TreeSet {
    fn default() -> Self {
        TreeSet::new()
    }
}

impl TreeSet {
    /// An empty set.
    pub fn new() -> TreeSet {
        TreeSet { trees: Trees::new(), roots: Vec::new(), len: 0, roots_bytes: 0, limit: usize::MAX }
    }

    /// How many pairs there are that are not roots.
    pub fn inner_pairs(&self) -> usize {
        self.trees.pairs.len()
    }

    /// Inserts a root into a table that is to grow, if there is memory for it.
    #[cold]
    fn insert_in_larger(&mut self, layout: usize, root: u64) -> Entry {
        let roots = &mut self.roots[layout];
        let before = roots.bytes();
        let room = self.limit.saturating_sub(self.trees.bytes() + self.roots_bytes);
        let entry = roots.insert(root, room);
        self.roots_bytes += roots.bytes() - before;
        entry
    }

    /// Finds the roots of all states that were announced.
    fn settle(&mut self) -> Option<()> {
        let begin = self.trees.settled;
        self.trees.settle(self.limit.saturating_sub(self.roots_bytes))?;
        self.roots.resize_with(self.trees.layouts.len(), CompactTable::new);
        for announced in &self.trees.announced[begin..] {
            self.roots[announced.layout].prefetch(announced.root);
        }
        Some(())
    }
}

impl StateSet for TreeSet {
    const IS_SLOW: bool = true;

    /// Says which of the announced states it is: their roots are found together.
    #[inline]
    fn signature(&mut self, state: &[u8]) -> u64 {
        self.trees.announce(state)
    }

    #[inline]
    fn insert(&mut self, state: &[u8], signature: u64) -> Entry {
        let mut signature = signature;
        if !self.trees.is_announced(signature) {
            signature = self.trees.announce(state);
        }
        if !self.trees.is_settled() && self.settle().is_none() {
            return Entry::Full;
        }
        let Announced { layout, root } = self.trees.take(signature);
        // How much room there is for the table to grow matters only if it has to.
        let mut entry = self.roots[layout].insert(root, 0);
        if entry == Entry::Full {
            entry = self.insert_in_larger(layout, root);
        }
        self.len += usize::from(entry == Entry::New);
        entry
    }

    fn contains(&self, state: &[u8]) -> bool {
        let Some((layout, root)) = self.trees.find(state) else { return false };
        self.roots.get(layout).is_some_and(|roots| roots.contains(root))
    }

    fn len(&self) -> usize {
        self.len
    }

    fn bytes(&self) -> usize {
        self.trees.bytes() + self.roots_bytes + self.roots.capacity() * size_of::<CompactTable<8>>()
    }

    fn set_limit(&mut self, bytes: usize) {
        self.limit = bytes;
    }
}

/// Trees of pairs: what leads from a state to its root and back.
pub(super) struct Trees {
    pairs: PairTable,
    recent: Recent,
    layouts: Vec<Layout>,
    /// Which of the layouts states of that length have, if it is known.
    by_length: Vec<u32>,
    announced: Vec<Announced>,
    /// So many of them have their roots.
    settled: usize,
    /// So many of them have been asked for.
    taken: usize,
    /// The number of the first one.
    first: u64,
    /// The pairs to look up at a level and at the one above, and where those of each announced state end.
    pending: Vec<Pending>,
    ends: Vec<usize>,
    next_pending: Vec<Pending>,
    next_ends: Vec<usize>,
    /// The places of the values that have changed.
    changed: Vec<u32>,
    /// There was no memory for a pair.
    is_full: bool,
}

/// A state that will be asked for.
#[derive(Clone, Copy)]
pub(super) struct Announced {
    pub(super) layout: usize,
    /// Not known before it is settled.
    pub(super) root: u64,
}

/// A pair that is looked for: its number goes to that place of its level.
#[derive(Clone, Copy)]
struct Pending {
    place: u32,
    /// Its number, if that is known.
    number: Option<NonZeroU32>,
    pair: u64,
}

/// The trees of the states of one length.
struct Layout {
    /// The pairs of words of the last state.
    words: Vec<u64>,
    /// Their numbers, the numbers of the pairs of these, and so on, level by level.
    values: Vec<u32>,
    /// Where each level begins among the values, and how many it has; at the last one there are two, or one if that is all.
    levels: Vec<(usize, usize)>,
    is_fresh: bool,
}

impl Layout {
    fn new(length: usize) -> Layout {
        let words = length.div_ceil(PAIR).max(1);
        let mut levels = vec![(0, words)];
        while let Some(&(start, size)) = levels.last()
            && size > 2
        {
            levels.push((start + size, size.div_ceil(2)));
        }
        let values = levels.last().map_or(0, |&(start, size)| start + size);
        Layout { words: vec![0; words], values: vec![0; values], levels, is_fresh: true }
    }

    /// The root, when all values belong to one state.
    #[inline]
    fn root(&self) -> u64 {
        match *self.levels.last().unwrap_or(&(0, 0)) {
            (start, 2) => join(self.values[start], self.values[start + 1]),
            _ => self.words[0],
        }
    }
}

/// The pairs of words of a state, the last one filled up with zeros.
#[inline]
fn pairs_of(state: &[u8]) -> impl Iterator<Item = u64> {
    let (whole, rest) = state.as_chunks::<PAIR>();
    let mut last = [0; PAIR];
    last[..rest.len()].copy_from_slice(rest);
    let rest = (!rest.is_empty() || whole.is_empty()).then_some(last);
    whole.iter().copied().chain(rest).map(u64::from_le_bytes)
}

#[inline]
fn join(left: u32, right: u32) -> u64 {
    u64::from(right) << 32 | u64::from(left)
}

impl Trees {
    pub(super) fn new() -> Trees {
        Trees {
            pairs: PairTable::new(),
            recent: Recent::new(),
            layouts: Vec::new(),
            by_length: Vec::new(),
            announced: Vec::new(),
            settled: 0,
            taken: 0,
            first: 0,
            pending: Vec::new(),
            ends: Vec::new(),
            next_pending: Vec::new(),
            next_ends: Vec::new(),
            changed: Vec::new(),
            is_full: false,
        }
    }

    pub(super) fn bytes(&self) -> usize {
        let lengths = self.by_length.capacity() * size_of::<u32>();
        self.pairs.bytes() + self.recent.bytes() + self.layouts.capacity() * size_of::<Layout>() + lengths
    }

    #[inline]
    fn layout(&self, length: usize) -> Option<usize> {
        match self.by_length.get(length) {
            None | Some(&u32::MAX) => None,
            Some(&number) => Some(number as usize),
        }
    }

    #[cold]
    fn add_layout(&mut self, length: usize) -> usize {
        if self.by_length.len() <= length {
            self.by_length.resize(length + 1, u32::MAX);
        }
        self.by_length[length] = self.layouts.len() as u32;
        self.layouts.push(Layout::new(length));
        self.layouts.len() - 1
    }

    /// Notes a state whose root will be asked for; its number.
    #[inline]
    pub(super) fn announce(&mut self, state: &[u8]) -> u64 {
        if self.is_settled() && (self.taken == self.announced.len() || self.announced.len() >= MOST_ANNOUNCED) {
            self.first += self.announced.len() as u64;
            self.announced.clear();
            (self.settled, self.taken) = (0, 0);
        }
        let number = match self.layout(state.len()) {
            Some(number) => number,
            None => self.add_layout(state.len()),
        };
        let layout = &mut self.layouts[number];
        if layout.words.len() > 1 {
            for (place, (pair, last)) in pairs_of(state).zip(&mut layout.words).enumerate() {
                if pair != *last || layout.is_fresh {
                    *last = pair;
                    let number = self.recent.find(pair);
                    if number.is_none() {
                        self.pairs.prefetch(pair);
                    }
                    self.pending.push(Pending { place: place as u32, number, pair });
                }
            }
            layout.is_fresh = false;
        }
        let root = if layout.words.len() == 1 { pairs_of(state).next().unwrap_or(0) } else { 0 };
        self.ends.push(self.pending.len());
        self.announced.push(Announced { layout: number, root });
        self.first + self.announced.len() as u64 - 1
    }

    #[inline]
    pub(super) fn is_announced(&self, number: u64) -> bool {
        number.checked_sub(self.first).is_some_and(|index| index < self.announced.len() as u64)
    }

    #[inline]
    pub(super) fn is_settled(&self) -> bool {
        self.settled == self.announced.len() && !self.is_full
    }

    /// An announced state that has its root.
    #[inline]
    pub(super) fn take(&mut self, number: u64) -> Announced {
        self.taken += 1;
        self.announced[(number - self.first) as usize]
    }

    /// Finds the roots of all announced states, after taking in the pairs below them. None if there is no memory for one.
    pub(super) fn settle(&mut self, limit: usize) -> Option<()> {
        // The last values do not belong together any more if this ends early, and then nothing is taken in any more.
        if std::mem::replace(&mut self.is_full, true) {
            return None;
        }
        let mut level = 0;
        let mut is_done = false;
        while !is_done {
            is_done = self.settle_level(level, limit)?;
            level += 1;
        }
        self.pending.clear();
        self.ends.clear();
        self.settled = self.announced.len();
        self.is_full = false;
        Some(())
    }

    /// Looks up the pairs whose numbers are the values of a level. True if there is no level above in any tree.
    #[inline]
    fn settle_level(&mut self, level: usize, limit: usize) -> Option<bool> {
        let (mut begin, mut is_done) = (0, true);
        self.next_pending.clear();
        self.next_ends.clear();
        for (announced, &end) in self.announced[self.settled..].iter_mut().zip(&self.ends) {
            let layout = &mut self.layouts[announced.layout];
            let pending = &self.pending[std::mem::replace(&mut begin, end)..end];
            if layout.words.len() == 1 || level >= layout.levels.len() {
                self.next_ends.push(self.next_pending.len());
                continue;
            }
            let (start, size) = layout.levels[level];
            // A last value without a neighbour is its own pair's number.
            let single = if level > 0 && layout.levels[level - 1].1 % 2 == 1 { size - 1 } else { usize::MAX };
            self.changed.clear();
            for &Pending { place, number, pair } in pending {
                let value = match number {
                    Some(number) => number.get(),
                    None if place as usize == single => pair as u32,
                    None => {
                        let number = self.pairs.number(pair, limit)? + 1;
                        self.recent.note(pair, number, self.pairs.len());
                        number
                    }
                };
                let there = &mut layout.values[start + place as usize];
                if *there != value || level == 0 {
                    *there = value;
                    self.changed.push(place);
                }
            }
            if level + 1 == layout.levels.len() {
                announced.root = layout.root();
            } else {
                is_done = false;
                let mut last = u32::MAX;
                for &place in &self.changed {
                    let above = place / 2;
                    if std::mem::replace(&mut last, above) == above {
                        continue;
                    }
                    let left = start + 2 * above as usize;
                    let is_single = 2 * above as usize + 1 == size;
                    let right = if is_single { 0 } else { layout.values[left + 1] };
                    let pair = join(layout.values[left], right);
                    let number = if is_single { None } else { self.recent.find(pair) };
                    if number.is_none() && !is_single {
                        self.pairs.prefetch(pair);
                    }
                    self.next_pending.push(Pending { place: above, number, pair });
                }
            }
            self.next_ends.push(self.next_pending.len());
        }
        std::mem::swap(&mut self.pending, &mut self.next_pending);
        std::mem::swap(&mut self.ends, &mut self.next_ends);
        Some(is_done)
    }

    /// The layout and the root of a state, if all its pairs are there.
    pub(super) fn find(&self, state: &[u8]) -> Option<(usize, u64)> {
        let layout = self.layout(state.len())?;
        let mut pairs: Vec<u64> = pairs_of(state).collect();
        let mut single = None;
        while pairs.len() > 1 || single.is_some() {
            let mut values: Vec<u32> =
                pairs.iter().map(|&pair| Some(self.pairs.find(pair)? + 1)).collect::<Option<_>>()?;
            values.extend(single.take());
            if let &[left, right] = &values[..] {
                return Some((layout, join(left, right)));
            }
            let (whole, rest) = values.as_chunks::<2>();
            pairs = whole.iter().map(|&[left, right]| join(left, right)).collect();
            single = rest.first().copied();
        }
        Some((layout, pairs[0]))
    }
}

/// The smallest and the largest number of pairs that are at hand.
const FEWEST_RECENT: usize = 1 << 8;
const MOST_RECENT: usize = 1 << 13;

/// The numbers of pairs that were asked for lately. It is small enough for the processor's own memory, and most pairs that
/// are asked for are in it: those of the state that is expanded, and of its siblings.
struct Recent {
    entries: Vec<(u64, Option<NonZeroU32>)>,
}

impl Recent {
    fn new() -> Recent {
        Recent { entries: vec![(0, None); FEWEST_RECENT] }
    }

    fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<(u64, Option<NonZeroU32>)>()
    }

    #[inline]
    fn place(&self, pair: u64) -> usize {
        (pair.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize & (self.entries.len() - 1)
    }

    #[inline]
    fn find(&self, pair: u64) -> Option<NonZeroU32> {
        let (there, number) = self.entries[self.place(pair)];
        if there == pair { number } else { None }
    }

    /// Puts a pair in the place of another one. The more pairs there are, the more are kept at hand.
    #[inline]
    fn note(&mut self, pair: u64, number: u32, pairs: usize) {
        if pairs > 8 * self.entries.len() && self.entries.len() < MOST_RECENT {
            let more = self.entries.len();
            self.entries.extend(std::iter::repeat_n((0, None), more));
        }
        let place = self.place(pair);
        self.entries[place] = (pair, NonZeroU32::new(number));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// States of all lengths, many of which are alike.
    fn states() -> impl Iterator<Item = Vec<u8>> {
        (0..20_000_u64).map(|number| {
            let length = (number / 7 % 71) as usize;
            let mut state = vec![(number % 3) as u8; length];
            for (place, byte) in number.to_le_bytes().into_iter().enumerate() {
                if let Some(there) = state.get_mut(place * 5 % length.max(1)) {
                    *there ^= byte;
                }
            }
            state
        })
    }

    #[test]
    fn it_makes_no_difference_how_many_states_are_announced_together() {
        let all: Vec<Vec<u8>> = states().collect();
        let mut seen = std::collections::HashSet::new();
        let expected: Vec<bool> = all.iter().map(|state| seen.insert(state.clone())).collect();
        for together in [1, 2, 16, 63, 64, 65, 200] {
            let mut set = TreeSet::new();
            let mut is_new = Vec::new();
            for window in all.chunks(together) {
                let signatures: Vec<u64> = window.iter().map(|state| set.signature(state)).collect();
                // Some are inserted late, or never.
                for (index, (state, signature)) in window.iter().zip(signatures).enumerate() {
                    if index % 5 == 1 {
                        set.signature(&all[index]);
                    }
                    is_new.push(set.insert(state, signature) == Entry::New);
                    assert!(set.contains(state));
                }
            }
            assert_eq!(is_new, expected, "{together} together");
            assert_eq!(set.len(), seen.len());
        }
    }

    #[test]
    fn a_full_set_says_so() {
        let mut set = TreeSet::new();
        set.set_limit(20_000);
        let mut full = false;
        for number in 0..100_000_u64 {
            let mut state = [0; 40];
            state[..8].copy_from_slice(&number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes());
            let signature = set.signature(&state);
            full |= set.insert(&state, signature) == Entry::Full;
        }
        assert!(full && set.bytes() <= 20_000 + 4096, "{}", set.bytes());
    }
}
