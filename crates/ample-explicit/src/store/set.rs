//! Sets of states that cannot give a state back: what compressing and approximate stores have in common.
//!
//! A [`StateSet`] knows only whether a state is in it. A search needs more, since it returns to the states on its stack or
//! in its queue; that part, which is the same for all sets, is [`SetStore`](super::SetStore).

use std::fmt;

/// What became of a state that was offered to a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// It was not there, and is now.
    New,
    /// It was there, or, in an approximate set, seems to have been.
    Seen,
    /// It was not there, and there is no memory left to take it in.
    Full,
}

/// How likely it is that an approximate set has taken a new state for one that it had seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Omission {
    /// How many states were probably omitted: the expected number of new states that were taken for seen ones.
    pub expected: f64,
}

impl Omission {
    /// The probability that at least one state was omitted, if omissions are independent of each other.
    ///
    /// ```
    /// use ample_explicit::store::Omission;
    ///
    /// assert_eq!(Omission { expected: 0.0 }.probability(), 0.0);
    /// assert!(Omission { expected: 30.0 }.probability() > 0.999);
    /// ```
    pub fn probability(self) -> f64 {
        -(-self.expected).exp_m1()
    }

    /// The part of the state space that was visited, of which so many states were stored.
    pub fn coverage(self, stored: u64) -> f64 {
        let stored = stored as f64;
        if stored + self.expected > 0.0 { stored / (stored + self.expected) } else { 1.0 }
    }
}

impl fmt::Display for Omission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1e} states omitted", self.expected)
    }
}

/// A set of states, each a string of bytes, that answers one question: new or seen.
///
/// An insertion has two parts, so that memory can be asked for in advance: [`signature`](StateSet::signature), and
/// [`insert`](StateSet::insert) with what that gave.
pub trait StateSet {
    /// To insert a state takes so long that it pays to look first whether it was inserted lately. A signature is never
    /// [`u64::MAX`] then.
    const IS_SLOW: bool = false;

    /// A number that stands for the state when it is [inserted](StateSet::insert): a hash, or the number of the parts that
    /// the state consists of, which the set may take in for it.
    fn signature(&mut self, state: &[u8]) -> u64;

    /// Starts to bring that part of the table into the cache in which the state of that signature will be looked for.
    fn prefetch(&self, _signature: u64) {}

    /// Takes in a state, given its signature.
    fn insert(&mut self, state: &[u8], signature: u64) -> Entry;

    /// Is the state there, or, in an approximate set, does it seem so?
    fn contains(&self, state: &[u8]) -> bool;

    /// How many states were new when they were offered.
    fn len(&self) -> usize;

    /// Are there none?
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The memory held, in bytes: capacity, not use.
    fn bytes(&self) -> usize;

    /// It may hold at most so many bytes from now on.
    fn set_limit(&mut self, bytes: usize);

    /// How likely it is that a state was omitted; none for an exact set.
    fn omission(&self) -> Option<Omission> {
        None
    }
}

/// Spreads the bits of a number.
#[inline]
pub(super) fn mix(number: u64) -> u64 {
    let product = u128::from(number ^ 0x2d35_8dcc_aa6c_78a5) * 0x9e37_79b9_7f4a_7c15;
    let product = (product as u64) ^ ((product >> 64) as u64);
    product ^ (product >> 32)
}
