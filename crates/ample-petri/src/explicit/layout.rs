//! Where the tokens of each place are in a run of bytes.
//!
//! A cell is a few bits inside a word of 64 that begins at any byte. Cells do not overlap and do not cross the end of
//! their word, so that firing a transition is an addition to the few words that it touches: no cell is unpacked. The
//! last word ends where the state ends, and so may share bytes with the one before it; as each only changes bits of
//! its own cells, that does no harm and saves up to seven bytes a state.

use crate::net::Net;

/// The number of bits of each place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Widths(Vec<u8>);

/// Where nothing is known of a place it begins with so many bits.
const FIRST_GUESS: u8 = 8;

/// After so many places have been widened one by one, all that are unknown are.
const PATIENCE: u32 = 8;

fn bits(number: u64) -> u8 {
    (64 - number.leading_zeros()).max(1) as u8
}

impl Widths {
    /// As few bits as the bounds allow; a place without a bound begins with a byte.
    pub fn of(net: &Net, bounds: &[Option<u64>]) -> Widths {
        let width = |(number, place): (usize, &crate::net::Place)| match bounds.get(number).copied().flatten() {
            Some(bound) => bits(bound.max(place.initial)),
            None => bits(place.initial).max(FIRST_GUESS),
        };
        Widths(net.places.iter().enumerate().map(width).collect())
    }

    /// More room for a place that needs it, and for others when it is not the first. False if there can be no more.
    pub fn widen(&mut self, place: u32, round: u32) -> bool {
        let Some(width) = self.0.get_mut(place as usize) else { return false };
        let old = *width;
        if old >= 64 {
            return false;
        }
        *width = wider(old);
        if round > PATIENCE {
            self.0.iter_mut().filter(|width| **width >= FIRST_GUESS && **width <= old).for_each(|w| *w = wider(*w));
        }
        true
    }
}

fn wider(width: u8) -> u8 {
    if width < FIRST_GUESS { FIRST_GUESS } else { width.saturating_mul(2).min(64) }
}

/// Where the tokens of a place are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    /// The byte at which its word begins.
    pub offset: u32,
    /// The bits of the word below it.
    pub shift: u8,
    /// Its bits.
    pub width: u8,
}

impl Cell {
    /// The largest number that it can hold.
    #[inline]
    pub fn most(self) -> u64 {
        u64::MAX >> (64 - u32::from(self.width))
    }

    /// Its bits in its word.
    #[inline]
    pub fn mask(self) -> u64 {
        self.most() << self.shift
    }

    /// The number that it holds.
    #[inline]
    pub fn get(self, state: &[u8]) -> u64 {
        (word(state, self.offset) >> self.shift) & self.most()
    }
}

/// The word at that byte.
#[inline]
pub(super) fn word(state: &[u8], offset: u32) -> u64 {
    state[offset as usize..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Adds to the word at that byte.
#[inline]
pub(super) fn add(state: &mut [u8], offset: u32, change: u64) {
    if let Some(bytes) = state[offset as usize..].first_chunk_mut() {
        *bytes = u64::from_le_bytes(*bytes).wrapping_add(change).to_le_bytes();
    }
}

/// The cells of all places.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// By place.
    pub cells: Vec<Cell>,
    /// The byte at which each word begins.
    pub words: Vec<u32>,
    /// For each place, the number of its word.
    pub word_of: Vec<u32>,
    /// The bytes of a state.
    pub len: usize,
}

impl Layout {
    /// Wide cells come first, so that only the last of each width leaves bits unused.
    pub fn new(Widths(widths): &Widths) -> Layout {
        let mut order: Vec<u32> = (0..widths.len() as u32).collect();
        order.sort_by_key(|place| std::cmp::Reverse(widths[*place as usize]));
        let mut cells = vec![Cell { offset: 0, shift: 0, width: 1 }; widths.len()];
        let mut word_of = vec![0; widths.len()];
        let (mut number, mut used) = (0_u32, 0);
        for place in order {
            let width = widths[place as usize];
            if used + width > 64 {
                number += 1;
                used = 0;
            }
            cells[place as usize] = Cell { offset: 0, shift: used, width };
            word_of[place as usize] = number;
            used += width;
        }
        let last = number as usize;
        // A state is never shorter than a word.
        let tail = if last == 0 { 8 } else { used.div_ceil(8) };
        let len = 8 * last + usize::from(tail);
        let words: Vec<u32> = (0..=last).map(|word| if word == last { len - 8 } else { 8 * word } as u32).collect();
        for (cell, word) in cells.iter_mut().zip(&word_of) {
            cell.offset = words[*word as usize];
            if *word as usize == last {
                cell.shift += 8 * (8 - tail);
            }
        }
        Layout { cells, words, word_of, len }
    }

    /// Writes a marking whose numbers fit.
    pub fn pack(&self, marking: &[u64]) -> Vec<u8> {
        let mut state = vec![0; self.len];
        for (cell, tokens) in self.cells.iter().zip(marking) {
            add(&mut state, cell.offset, (tokens & cell.most()) << cell.shift);
        }
        state
    }

    /// The marking.
    pub fn unpack(&self, state: &[u8]) -> Vec<u64> {
        self.cells.iter().map(|cell| cell.get(state)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_out_again() {
        let widths: Vec<u8> = (0..200).map(|place| 1 + (place * 37 % 64) as u8).collect();
        for count in [0, 1, 2, 9, 50, 200] {
            let layout = Layout::new(&Widths(widths[..count].to_vec()));
            let number = |cell: &Cell| 0x9e37_79b9_7f4a_7c15_u64.rotate_left(cell.offset) & cell.most();
            let marking: Vec<u64> = layout.cells.iter().map(number).collect();
            assert_eq!(layout.unpack(&layout.pack(&marking)), marking, "{count} places");
        }
    }

    #[test]
    fn safe_places_take_a_bit() {
        assert_eq!(Layout::new(&Widths(vec![1; 65])).len, 9);
        assert_eq!(Layout::new(&Widths(vec![1; 128])).len, 16);
        assert_eq!(Layout::new(&Widths(vec![])).len, 8);
    }

    #[test]
    fn a_place_that_overflows_gets_more_bits_and_later_the_others_too() {
        let mut widths = Widths(vec![1, 8, 8, 64]);
        assert!(widths.widen(0, 1) && widths.widen(1, 2));
        assert_eq!(widths, Widths(vec![8, 16, 8, 64]));
        assert!(widths.widen(1, 9));
        assert_eq!(widths, Widths(vec![16, 32, 16, 64]));
        assert!(!widths.widen(3, 10) && !widths.widen(7, 10));
    }
}
