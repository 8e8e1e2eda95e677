//! The states that a store was asked for lately, in full.
//!
//! Independent steps lead to the same state in every order, so that a state that is met again is mostly met again soon:
//! about half of such states are among the last thousand. To find them here is faster than to find their parts in a
//! compressed set. A state is remembered only when it is in the set, and all of it is compared.

use rapidhash::v3::rapidhash_v3;

/// The smallest and the largest number of states that are remembered.
const FEWEST: usize = 1 << 6;
const MOST: usize = 1 << 11;

/// One in so many states is remembered, so that this memory is small beside that of the set.
const ONE_IN: usize = 64;

/// States that are longer are not remembered.
const LONGEST: usize = 256;

/// Room for a state is a multiple of this.
const LINE: usize = 64;

/// States that are in a set, each in the one place that its hash says.
pub(super) struct RecentStates {
    hashes: Vec<u64>,
    lengths: Vec<u32>,
    bytes: Vec<u8>,
    /// Room for a state.
    stride: usize,
}

impl RecentStates {
    pub(super) fn new() -> RecentStates {
        let mut states = RecentStates { hashes: Vec::new(), lengths: Vec::new(), bytes: Vec::new(), stride: LINE };
        states.clear(FEWEST);
        states
    }

    pub(super) fn bytes(&self) -> usize {
        self.hashes.capacity() * size_of::<u64>() + self.lengths.capacity() * size_of::<u32>() + self.bytes.capacity()
    }

    /// Forgets all states, and has so many places from now on.
    #[cold]
    fn clear(&mut self, places: usize) {
        *self = RecentStates {
            hashes: vec![0; places],
            // Nothing is as long as this.
            lengths: vec![u32::MAX; places],
            bytes: vec![0; places * self.stride],
            stride: self.stride,
        };
    }

    #[inline]
    fn place(&self, hash: u64) -> usize {
        hash as usize & (self.hashes.len() - 1)
    }

    /// Is the state remembered?
    #[inline]
    pub(super) fn contains(&self, state: &[u8]) -> bool {
        let hash = rapidhash_v3(state);
        let place = self.place(hash);
        self.hashes[place] == hash
            && self.lengths[place] as usize == state.len()
            && self.bytes[place * self.stride..][..state.len()] == *state
    }

    /// Remembers a state of a set with so many states.
    #[inline]
    pub(super) fn note(&mut self, state: &[u8], len: usize) {
        if state.len() > self.stride {
            if state.len() > LONGEST {
                return;
            }
            self.stride = state.len().next_multiple_of(LINE);
            self.clear(self.hashes.len());
        }
        if len >= 2 * ONE_IN * self.hashes.len() && self.hashes.len() < MOST {
            self.clear(2 * self.hashes.len());
        }
        let hash = rapidhash_v3(state);
        let place = self.place(hash);
        self.hashes[place] = hash;
        self.lengths[place] = state.len() as u32;
        self.bytes[place * self.stride..][..state.len()].copy_from_slice(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_noted_is_remembered() {
        let mut recent = RecentStates::new();
        let mut hits = 0;
        for number in 0..50_000_u64 {
            let length = 8 + (number % 300) as usize;
            let state = |number: u64| {
                let mut state = vec![0; length];
                state[..8].copy_from_slice(&number.to_le_bytes());
                state
            };
            assert!(!recent.contains(&state(number)), "{number}");
            recent.note(&state(number), number as usize);
            assert_eq!(recent.contains(&state(number)), length <= LONGEST);
            hits += u64::from(recent.contains(&state(number.saturating_sub(300))));
        }
        assert!(hits > 10_000, "{hits}");
        assert!(recent.bytes() < MOST * (LONGEST + 16));
    }
}
