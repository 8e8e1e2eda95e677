//! The states that a search is at work on, in full: its queue or its stack, as bytes one after the other.
//!
//! States are added at the end; a queue lets go of them at the front, a stack at the end. They lie in chunks, of which
//! those that are not needed any more are used again.

use std::collections::VecDeque;

const CHUNK_BITS: u32 = 16;
const CHUNK: usize = 1 << CHUNK_BITS;

/// Bytes of the length of a record in front of it, and of its number.
const HEADER: usize = 4 + NUMBER;
const NUMBER: usize = 5;

/// Records, each a number and the bytes of a state.
pub(super) struct Active {
    chunks: VecDeque<Vec<u8>>,
    /// The number of the first chunk: so many are gone.
    gone: u64,
    spare: Vec<Vec<u8>>,
    bytes: usize,
}

impl Active {
    pub(super) fn new() -> Active {
        Active { chunks: VecDeque::new(), gone: 0, spare: Vec::new(), bytes: 0 }
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The bytes that would have to be taken from the system for a state of that size.
    #[inline]
    pub(super) fn needs(&self, size: usize) -> usize {
        let fits = self.chunks.back().is_some_and(|chunk| chunk.len() + HEADER + size <= CHUNK);
        if fits || !self.spare.is_empty() { 0 } else { CHUNK.max(HEADER + size) }
    }

    /// Adds a state; its position.
    #[inline]
    pub(super) fn push(&mut self, state: &[u8], number: u64) -> u64 {
        let size = HEADER + state.len();
        if self.chunks.back().is_none_or(|chunk| chunk.len() + size > CHUNK) {
            self.extend(size);
        }
        let last = self.gone + self.chunks.len() as u64 - 1;
        let Some(chunk) = self.chunks.back_mut() else { return 0 };
        let position = (last << CHUNK_BITS) + chunk.len() as u64;
        chunk.extend_from_slice(&(state.len() as u32).to_le_bytes());
        chunk.extend_from_slice(&number.to_le_bytes()[..NUMBER]);
        chunk.extend_from_slice(state);
        position
    }

    #[cold]
    fn extend(&mut self, size: usize) {
        let mut chunk = self.spare.pop().unwrap_or_default();
        let before = chunk.capacity();
        chunk.reserve_exact(CHUNK.max(size));
        self.bytes += chunk.capacity() - before;
        self.chunks.push_back(chunk);
    }

    #[inline]
    fn record(&self, position: u64) -> &[u8] {
        &self.chunks[((position >> CHUNK_BITS) - self.gone) as usize][position as usize & (CHUNK - 1)..]
    }

    /// The state at a position.
    #[inline]
    pub(super) fn state(&self, position: u64) -> &[u8] {
        let record = self.record(position);
        &record[HEADER..HEADER + length(record)]
    }

    /// The number that it was added with.
    pub(super) fn number(&self, position: u64) -> u64 {
        let mut number = [0; 8];
        number[..NUMBER].copy_from_slice(&self.record(position)[4..HEADER]);
        u64::from_le_bytes(number)
    }

    /// The position of the first state.
    pub(super) fn first(&self) -> Option<u64> {
        self.chunks.front().filter(|chunk| !chunk.is_empty())?;
        Some(self.gone << CHUNK_BITS)
    }

    /// The position after that one.
    #[inline]
    pub(super) fn after(&self, position: u64) -> Option<u64> {
        let chunk = position >> CHUNK_BITS;
        let end = (position as usize & (CHUNK - 1)) + HEADER + length(self.record(position));
        if end < self.chunks[(chunk - self.gone) as usize].len() {
            return Some((chunk << CHUNK_BITS) + end as u64);
        }
        self.chunks.get((chunk + 1 - self.gone) as usize).filter(|chunk| !chunk.is_empty())?;
        Some((chunk + 1) << CHUNK_BITS)
    }

    /// What lies before that position is not needed any more.
    #[inline]
    pub(super) fn release_before(&mut self, position: u64) {
        while self.gone < position >> CHUNK_BITS {
            let Some(chunk) = self.chunks.pop_front() else { return };
            self.gone += 1;
            self.reuse(chunk);
        }
    }

    /// What lies at that position and behind it is not needed any more.
    #[inline]
    pub(super) fn release_from(&mut self, position: u64) {
        let chunk = (position >> CHUNK_BITS) - self.gone;
        while self.chunks.len() as u64 > chunk + 1 {
            let Some(last) = self.chunks.pop_back() else { return };
            self.reuse(last);
        }
        if let Some(last) = self.chunks.back_mut() {
            last.truncate(position as usize & (CHUNK - 1));
        }
    }

    /// Keeps a chunk for later, or gives it back where there are some already.
    #[cold]
    fn reuse(&mut self, mut chunk: Vec<u8>) {
        if self.spare.len() < 4 && chunk.capacity() <= 2 * CHUNK {
            chunk.clear();
            self.spare.push(chunk);
        } else {
            self.bytes -= chunk.capacity();
        }
    }
}

#[inline]
fn length(record: &[u8]) -> usize {
    u32::from_le_bytes([record[0], record[1], record[2], record[3]]) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_lets_go_at_the_front() {
        let mut active = Active::new();
        let positions: Vec<u64> = (0..100_000_u64).map(|number| active.push(&number.to_le_bytes(), number)).collect();
        let mut at = active.first();
        for (number, &position) in positions.iter().enumerate() {
            assert_eq!(at, Some(position));
            active.release_before(position);
            assert_eq!(active.state(position), (number as u64).to_le_bytes());
            assert_eq!(active.number(position), number as u64);
            at = active.after(position);
        }
        assert_eq!(at, None);
        assert!(active.bytes() <= 5 * CHUNK);
    }

    #[test]
    fn a_stack_lets_go_at_the_end() {
        let mut active = Active::new();
        for _ in 0..3 {
            let states: Vec<Vec<u8>> = (0..2000).map(|number| vec![number as u8; number * 50 % 70_001]).collect();
            let positions: Vec<u64> = states.iter().map(|state| active.push(state, 0)).collect();
            for (state, &position) in states.iter().zip(&positions).rev() {
                assert_eq!(active.state(position), state);
                active.release_from(position);
            }
        }
        assert_eq!(active.first(), None);
    }
}
