//! Bit-state hashing (G. J. Holzmann: An analysis of bitstate hashing, 1998): a large array of bits, a few of which are set
//! for each state.
//!
//! A state whose bits are all set already is taken for one that was seen. So states may be omitted, and nothing can be
//! said to be proved; an error that is found is one. The positions come from two independent hashes by double hashing
//! (P. C. Dillinger, P. Manolios: Bloom filters in probabilistic verification, 2004).
//!
//! The estimate of how many states were omitted: a state that is new when a fraction *f* of the bits is set is taken for
//! seen with probability *f* to the power of the number of hash functions. Since every stored state was such an arrival,
//! and every omitted one another, the expected number of omitted states follows from the sum over the arrivals. It
//! counts the states that were taken for seen themselves; what could be reached only through them is not seen either,
//! and not counted.

use rapidhash::v3::rapidhash_v3;

use super::prefetch::prefetch;
use super::set::{Entry, Omission, StateSet, mix};

/// The most hash functions that are of any use.
pub const MOST_HASH_FUNCTIONS: u32 = 16;

/// A set of states that keeps a few bits of each.
pub struct BitStateSet {
    bits: Vec<u64>,
    /// One less than the number of bits, which is a power of two.
    mask: u64,
    functions: u32,
    set: u64,
    len: usize,
    /// The expected number of states that were new and taken for seen.
    omitted: f64,
}

impl BitStateSet {
    /// An empty set of two to the power of `log` bits. None if there is no memory for it.
    ///
    /// ```
    /// use ample_explicit::store::{BitStateSet, Entry, StateSet};
    ///
    /// let mut set = BitStateSet::new(20, 3).unwrap();
    /// let signature = set.signature(b"state");
    /// assert_eq!(set.insert(b"state", signature), Entry::New);
    /// assert_eq!(set.insert(b"state", signature), Entry::Seen);
    /// ```
    pub fn new(log: u32, functions: u32) -> Option<BitStateSet> {
        let words = 1_usize.checked_shl(log.clamp(6, 60) - 6)?;
        let mut bits: Vec<u64> = Vec::new();
        bits.try_reserve_exact(words).ok()?;
        drop(bits);
        let functions = functions.clamp(1, MOST_HASH_FUNCTIONS);
        let mask = (1_u64 << log.clamp(6, 60)) - 1;
        Some(BitStateSet { bits: vec![0; words], mask, functions, set: 0, len: 0, omitted: 0.0 })
    }

    /// The part of the bits that is set.
    pub fn fill(&self) -> f64 {
        self.set as f64 / (self.mask as f64 + 1.0)
    }

    /// The places of the bits of a state.
    #[inline]
    fn places(&self, signature: u64) -> impl Iterator<Item = (usize, u64)> + use<> {
        let (mask, step) = (self.mask, mix(signature) | 1);
        let mut at = signature;
        (0..self.functions).map(move |_| {
            let bit = at & mask;
            at = at.wrapping_add(step);
            ((bit / 64) as usize, 1 << (bit % 64))
        })
    }
}

impl StateSet for BitStateSet {
    #[inline]
    fn signature(&mut self, state: &[u8]) -> u64 {
        rapidhash_v3(state)
    }

    #[inline]
    fn prefetch(&self, signature: u64) {
        self.places(signature).for_each(|(word, _)| prefetch(&self.bits[word]));
    }

    #[inline]
    fn insert(&mut self, _: &[u8], signature: u64) -> Entry {
        let mut fresh = 0;
        for (word, bit) in self.places(signature) {
            let there = &mut self.bits[word];
            fresh += u64::from(*there & bit == 0);
            *there |= bit;
        }
        if fresh == 0 {
            return Entry::Seen;
        }
        // Of the states that are new, this part is taken for seen.
        let missed = self.fill().powi(self.functions as i32);
        self.omitted += missed / (1.0 - missed).max(f64::EPSILON);
        self.set += fresh;
        self.len += 1;
        Entry::New
    }

    fn contains(&self, state: &[u8]) -> bool {
        self.places(rapidhash_v3(state)).all(|(word, bit)| self.bits[word] & bit != 0)
    }

    fn len(&self) -> usize {
        self.len
    }

    fn bytes(&self) -> usize {
        self.bits.capacity() * size_of::<u64>()
    }

    fn set_limit(&mut self, _: usize) {}

    fn omission(&self) -> Option<Omission> {
        Some(Omission { expected: self.omitted })
    }
}
