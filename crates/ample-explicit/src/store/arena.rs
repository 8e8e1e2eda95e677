//! Where the records of a [`FlatStore`](super::FlatStore) lie: chunks that never move.
//!
//! A position is a number; its high bits name the chunk. A record lies in one chunk, and records follow
//! each other without gaps, so that they can be walked in the order of insertion. A record that is
//! larger than a chunk gets one of its own, of its size.

use super::prefetch::prefetch;

/// The size of a cache line.
const LINE: usize = 64;

pub(super) const CHUNK_BITS: u32 = 22;
pub(super) const CHUNK: usize = 1 << CHUNK_BITS;

/// The first chunk starts small, for the many small state spaces.
const FIRST: usize = 1 << 12;

/// Bytes in chunks.
pub(super) struct Arena {
    chunks: Vec<Vec<u8>>,
    /// The capacity of all chunks together.
    bytes: usize,
}

impl Arena {
    pub(super) fn new() -> Arena {
        Arena { chunks: Vec::new(), bytes: 0 }
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes + self.chunks.capacity() * size_of::<Vec<u8>>()
    }

    /// The bytes in use.
    pub(super) fn used(&self) -> usize {
        self.chunks.iter().map(Vec::len).sum()
    }

    /// The bytes from `position` to the end of its chunk.
    #[inline]
    pub(super) fn tail(&self, position: u64) -> &[u8] {
        &self.chunks[chunk_of(position)][offset_of(position)..]
    }

    /// The bytes from `position` to the end of its chunk.
    #[inline]
    pub(super) fn tail_mut(&mut self, position: u64) -> &mut [u8] {
        &mut self.chunks[chunk_of(position)][offset_of(position)..]
    }

    /// Starts to bring the record at `position` into the cache: its first two lines.
    #[inline]
    pub(super) fn prefetch(&self, position: u64) {
        let bytes = self.tail(position);
        prefetch(&bytes[0]);
        if let Some(later) = bytes.get(LINE) {
            prefetch(later);
        }
    }

    /// The position of the first record.
    pub(super) fn start(&self) -> Option<u64> {
        self.chunks.first().is_some_and(|chunk| !chunk.is_empty()).then_some(0)
    }

    /// The position of the record after the one at `position` that has `size` bytes.
    #[inline]
    pub(super) fn after(&self, position: u64, size: usize) -> Option<u64> {
        let chunk = chunk_of(position);
        let end = offset_of(position) + size;
        if end < self.chunks[chunk].len() {
            return Some(position + size as u64);
        }
        let next = self.chunks.get(chunk + 1)?;
        (!next.is_empty()).then(|| position_of(chunk + 1, 0))
    }

    /// Where a record of that size goes, if there is room.
    #[inline]
    pub(super) fn place(&self, size: usize) -> Option<u64> {
        let last = self.chunks.last()?;
        let fits = last.capacity() - last.len() >= size && last.len() < CHUNK;
        fits.then(|| position_of(self.chunks.len() - 1, last.len()))
    }

    /// Makes room for a record of that size by taking up to `room` bytes from the system. False if that
    /// is not enough.
    #[cold]
    pub(super) fn extend(&mut self, size: usize, room: usize) -> bool {
        if let [first] = &mut self.chunks[..]
            && first.len() + size <= CHUNK
        {
            let old = first.capacity();
            let capacity = (2 * old).max(first.len() + size).min(CHUNK);
            // Both are alive while the bytes are moved, so that both have to fit.
            if capacity <= room {
                let taken = first.try_reserve_exact(capacity - first.len()).is_ok();
                self.bytes += first.capacity() - old;
                return taken;
            }
        }
        let list = if self.chunks.len() < self.chunks.capacity() { 0 } else { self.chunks.len().max(4) };
        let room = room.saturating_sub(2 * list * size_of::<Vec<u8>>());
        let capacity = if self.chunks.is_empty() { FIRST } else { CHUNK }.max(size).min(room);
        if capacity < size {
            return false;
        }
        let mut chunk = Vec::new();
        if chunk.try_reserve_exact(capacity).is_err() {
            return false;
        }
        self.bytes += chunk.capacity();
        self.chunks.reserve_exact(list);
        self.chunks.push(chunk);
        true
    }

    /// The chunks themselves.
    pub(super) fn into_chunks(self) -> Vec<Vec<u8>> {
        self.chunks
    }

    /// The bytes of each chunk.
    pub(super) fn contents(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.chunks.iter().map(Vec::as_slice)
    }

    /// Adds a chunk as it was in another arena, behind all others. False if there is no memory for it.
    pub(super) fn restore(
        &mut self,
        size: usize,
        fill: impl FnOnce(&mut [u8]) -> std::io::Result<()>,
    ) -> std::io::Result<()> {
        let mut chunk = Vec::new();
        chunk.try_reserve_exact(size.max(CHUNK)).map_err(|_| std::io::ErrorKind::OutOfMemory)?;
        chunk.resize(size, 0);
        fill(&mut chunk)?;
        self.bytes += chunk.capacity();
        self.chunks.push(chunk);
        Ok(())
    }

    /// Writes to the end of the last chunk, where [`place`](Arena::place) found room.
    #[inline]
    pub(super) fn write(&mut self, bytes: &[u8]) {
        if let Some(chunk) = self.chunks.last_mut() {
            chunk.extend_from_slice(bytes);
        }
    }

    /// Writes `size` bytes, which `fill` fills in, to the same place.
    #[inline]
    pub(super) fn write_with(&mut self, size: usize, fill: impl FnOnce(&mut [u8])) {
        if let Some(chunk) = self.chunks.last_mut() {
            let start = chunk.len();
            chunk.resize(start + size, 0);
            fill(&mut chunk[start..]);
        }
    }
}

#[inline]
pub(super) fn position_of(chunk: usize, offset: usize) -> u64 {
    ((chunk as u64) << CHUNK_BITS) + offset as u64
}

#[inline]
pub(super) fn chunk_of(position: u64) -> usize {
    (position >> CHUNK_BITS) as usize
}

#[inline]
pub(super) fn offset_of(position: u64) -> usize {
    position as usize & (CHUNK - 1)
}
