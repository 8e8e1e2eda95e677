//! From which state each state was first reached, for a breadth-first search: ten bits a state.
//!
//! A breadth-first search expands states in the order in which it finds them, so that the numbers of the parents never
//! fall. They are kept as the difference to the one before, in unary. Beside them lie eight bits of the hash of each
//! state, by which a path is found again without the states on it.

/// So many states lie between two places that can be gone to directly.
const SAMPLE: u64 = 512;

/// Parents of states, which are numbered from one on; zero is the parent of initial states.
#[derive(Default)]
pub(super) struct Links {
    /// For each state as many zeros as the number of its parent is greater than that of the one before, and a one.
    bits: Vec<u64>,
    used: u64,
    /// Where the ones of some states are.
    samples: Vec<u64>,
    /// A part of the hash of each state.
    tags: Vec<u8>,
    last: u64,
}

impl Links {
    pub(super) fn bytes(&self) -> usize {
        (self.bits.capacity() + self.samples.capacity()) * size_of::<u64>() + self.tags.capacity()
    }

    /// The number of the next state.
    pub(super) fn next(&self) -> u64 {
        self.tags.len() as u64 + 1
    }

    /// Adds a state. The number of its parent is not less than that of the state before.
    #[inline]
    pub(super) fn push(&mut self, parent: u64, tag: u8) {
        debug_assert!(parent >= self.last, "a breadth-first search expands states in order");
        self.used += parent - self.last;
        self.last = parent;
        let word = (self.used / 64) as usize;
        if word >= self.bits.len() {
            self.bits.resize(word + 1, 0);
        }
        self.bits[word] |= 1 << (self.used % 64);
        if (self.tags.len() as u64).is_multiple_of(SAMPLE) {
            self.samples.push(self.used);
        }
        self.used += 1;
        self.tags.push(tag);
    }

    pub(super) fn tag(&self, state: u64) -> u8 {
        self.tags[state as usize - 1]
    }

    /// The number of the parent of a state; zero for an initial one.
    pub(super) fn parent(&self, state: u64) -> u64 {
        let index = state - 1;
        let mut place = self.samples[(index / SAMPLE) as usize];
        let mut left = index % SAMPLE;
        let mut word = (place / 64) as usize;
        let mut bits = self.bits[word] & (u64::MAX << (place % 64));
        while u64::from(bits.count_ones()) <= left {
            left -= u64::from(bits.count_ones());
            word += 1;
            bits = self.bits[word];
        }
        for _ in 0..left {
            bits &= bits - 1;
        }
        place = word as u64 * 64 + u64::from(bits.trailing_zeros());
        place - index
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents_are_found_again() {
        let mut links = Links::default();
        let mut parent = 0;
        let mut expected = Vec::new();
        for number in 1..20_000_u64 {
            assert_eq!(links.next(), number);
            parent = (parent + if number % 7 < 3 { number % 5 } else { 0 } + u64::from(number % 1000 == 0) * 300)
                .min(number - 1);
            links.push(parent, number as u8);
            expected.push(parent);
        }
        for (number, parent) in (1..).zip(expected) {
            assert_eq!((links.parent(number), links.tag(number)), (parent, number as u8));
        }
    }
}
