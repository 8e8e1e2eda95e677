//! The visited set on disk: sorted runs, and delayed detection of duplicates (U. Stern, D. L. Dill: Using magnetic disk
//! instead of main memory in the Murφ verifier, 1998; R. Korf: Best-first frontier search with delayed duplicate detection,
//! 2004).
//!
//! A look at the disk for each state would be far too slow. So states are collected, and many are looked up together: they
//! are sorted by their hashes, as the states on disk are, and a part of a file is read only if something in it is asked
//! for. While everything fits into memory, nothing is written but the queue.
//!
//! Files have no name once they are open, so that nothing is left of them when the process ends, however it does.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{ExactStore, FlatStore, Handle, Inserted, Key, Store};

/// Bytes of a run between two places that can be gone to directly.
const BLOCK: usize = 1 << 16;

/// When there are so many runs of about one size, they become one.
const FAN: usize = 8;

/// The bytes of a buffer for writing.
const BUFFER: usize = 1 << 18;

/// The least memory that the store can work with.
const LEAST: usize = 4 << 20;

/// What became of a state that was offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offered {
    /// It is new: it is in the queue.
    New,
    /// It was seen before.
    Seen,
    /// It is not in memory; whether it is on disk turns out when states are [resolved](DiskStore::resolve).
    Pending,
}

/// A visited set and a queue on disk.
pub struct DiskStore {
    key: Key,
    /// States that are not in any run.
    memory: FlatStore<(), Key>,
    /// States of which it is not known whether they are in a run.
    pending: FlatStore<(), Key>,
    runs: Vec<Run>,
    queue: Queue,
    len: u64,
    limit: usize,
    longest: usize,
    /// The states on paths that were asked for.
    pub kept: FlatStore<(), Key>,
}

impl DiskStore {
    /// An empty store that takes about so many bytes of memory.
    pub fn new(key: Key, limit: usize) -> io::Result<DiskStore> {
        let limit = limit.max(LEAST);
        let table = |bytes| FlatStore::with_visible(key.clone()).limit(bytes);
        Ok(DiskStore {
            memory: table(limit / 2),
            pending: table(limit / 8),
            runs: Vec::new(),
            queue: Queue::new()?,
            len: 0,
            limit,
            longest: 0,
            kept: FlatStore::with_visible(key.clone()),
            key,
        })
    }

    /// How many states there are.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The memory held, in bytes.
    pub fn bytes(&self) -> usize {
        let runs: usize = self.runs.iter().map(Run::bytes).sum();
        self.memory.bytes() + self.pending.bytes() + self.kept.bytes() + runs + self.queue.bytes()
    }

    /// The bytes on disk.
    pub fn disk_bytes(&self) -> u64 {
        self.queue.end + self.runs.iter().map(|run| run.size).sum::<u64>()
    }

    /// The size of the largest state, in bytes.
    pub fn state_bytes(&self) -> usize {
        self.longest
    }

    /// Takes in a state, or notes it to be looked up with others. None if there is no room for it until those that are
    /// pending have been [resolved](DiskStore::resolve).
    pub fn offer(&mut self, state: &[u8]) -> io::Result<Option<Offered>> {
        self.longest = self.longest.max(state.len());
        if self.memory.find(state).is_some() {
            return Ok(Some(Offered::Seen));
        }
        if self.runs.is_empty() {
            self.add(state)?;
            return Ok(Some(Offered::New));
        }
        Ok(match self.pending.insert(state) {
            Inserted::New(_) => Some(Offered::Pending),
            Inserted::Seen(_) => Some(Offered::Seen),
            Inserted::Full => None,
        })
    }

    /// A state that is new.
    fn add(&mut self, state: &[u8]) -> io::Result<()> {
        self.queue.push(state)?;
        self.len += 1;
        if self.memory.insert(state) == Inserted::Full {
            self.write_memory()?;
            if self.memory.insert(state) == Inserted::Full {
                return Err(io::ErrorKind::OutOfMemory.into());
            }
        }
        Ok(())
    }

    /// Looks up the states that are pending. Those that are new are in the queue then, and `new` is called for each.
    pub fn resolve(&mut self, mut new: impl FnMut(&[u8])) -> io::Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let empty = FlatStore::with_visible(self.key.clone()).limit(self.limit / 8);
        let pending = std::mem::replace(&mut self.pending, empty);
        let mut asked = sorted(&pending);
        let key = &self.key;
        for run in &mut self.runs {
            run.subtract(&mut asked, |handle| key.of(pending.get(handle)))?;
        }
        // In the order of arrival, as a search in memory would have met them.
        asked.sort_unstable_by_key(|&(_, handle)| handle);
        for (_, handle) in asked {
            let state = pending.get(handle);
            self.add(state)?;
            new(state);
        }
        Ok(())
    }

    /// Writes what is in memory to disk.
    fn write_memory(&mut self) -> io::Result<()> {
        let empty = FlatStore::with_visible(self.key.clone()).limit(self.limit / 2);
        let memory = std::mem::replace(&mut self.memory, empty);
        let mut writer = RunWriter::new()?;
        for (hash, handle) in sorted(&memory) {
            writer.push(hash, self.key.of(memory.get(handle)))?;
        }
        drop(memory);
        self.runs.push(writer.finish(0)?);
        while let Some(level) = self.runs.last().map(|run| run.level)
            && self.runs.iter().filter(|run| run.level == level).count() >= FAN
        {
            let (mut alike, others): (Vec<Run>, Vec<Run>) = self.runs.drain(..).partition(|run| run.level == level);
            self.runs = others;
            self.runs.push(merge(&mut alike, level + 1)?);
        }
        Ok(())
    }

    /// The next state of the queue, and where it lies in it.
    pub fn next(&mut self, state: &mut Vec<u8>) -> io::Result<Option<u64>> {
        self.queue.next(state)
    }

    /// The end of the queue, where the next new state will be.
    pub fn end(&self) -> u64 {
        self.queue.end
    }

    /// Goes through a part of the queue again, until `found` is true of a state and the place where it lies.
    pub fn scan(&mut self, from: u64, to: u64, mut found: impl FnMut(&[u8]) -> bool) -> io::Result<Option<Vec<u8>>> {
        self.queue.scan(from, to, &mut found)
    }

    /// Where the state lies that is next in the queue.
    pub fn at(&self) -> u64 {
        self.queue.window_start + self.queue.at as u64
    }

    /// How much of a state counts.
    pub fn keys(&self) -> Key {
        self.key.clone()
    }

    /// The bytes of a state that count.
    pub fn key<'a>(&self, state: &'a [u8]) -> &'a [u8] {
        self.key.of(state)
    }
}

/// The states of a table in the order of their hashes, and of their keys where those are equal.
fn sorted(table: &FlatStore<(), Key>) -> Vec<(u64, Handle)> {
    let handles = std::iter::successors(table.first(), |&handle| table.after(handle));
    let mut all: Vec<(u64, Handle)> = handles.map(|handle| (table.hash(table.get(handle)), handle)).collect();
    all.sort_unstable_by_key(|&(hash, _)| hash);
    all
}

/// A file that is gone when it is closed.
fn nameless() -> io::Result<File> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("ample-states-{}-{number}", std::process::id());
    let path: PathBuf = std::env::temp_dir().join(name);
    let told = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path).map_err(told)?;
    std::fs::remove_file(&path).map_err(told)?;
    Ok(file)
}

/// A sorted file: hash, length and bytes of each key.
struct Run {
    file: File,
    /// For each block the first hash in it, and where it begins.
    index: Vec<(u64, u64)>,
    size: u64,
    level: u32,
}

struct RunWriter {
    file: BufWriter<File>,
    index: Vec<(u64, u64)>,
    size: u64,
}

const HEADER: usize = 12;

impl RunWriter {
    fn new() -> io::Result<RunWriter> {
        Ok(RunWriter { file: BufWriter::with_capacity(BUFFER, nameless()?), index: Vec::new(), size: 0 })
    }

    fn push(&mut self, hash: u64, key: &[u8]) -> io::Result<()> {
        if self.index.last().is_none_or(|&(_, start)| self.size - start >= BLOCK as u64) {
            self.index.push((hash, self.size));
        }
        self.file.write_all(&hash.to_le_bytes())?;
        self.file.write_all(&(key.len() as u32).to_le_bytes())?;
        self.file.write_all(key)?;
        self.size += (HEADER + key.len()) as u64;
        Ok(())
    }

    fn finish(self, level: u32) -> io::Result<Run> {
        let RunWriter { file, index, size } = self;
        let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok(Run { file, index, size, level })
    }
}

impl Run {
    fn bytes(&self) -> usize {
        self.index.capacity() * size_of::<(u64, u64)>()
    }

    fn read_block(&mut self, number: usize, block: &mut Vec<u8>) -> io::Result<()> {
        let (_, start) = self.index[number];
        let end = self.index.get(number + 1).map_or(self.size, |&(_, end)| end);
        block.resize((end - start) as usize, 0);
        self.file.seek(SeekFrom::Start(start))?;
        self.file.read_exact(block)
    }

    /// Takes those that are in the run out of a list that is sorted by the hashes.
    fn subtract<'a>(&mut self, asked: &mut Vec<(u64, Handle)>, key: impl Fn(Handle) -> &'a [u8]) -> io::Result<()> {
        let (mut block, mut loaded, mut place) = (Vec::new(), None, 0);
        let mut kept = 0;
        for number in 0..asked.len() {
            let (hash, handle) = asked[number];
            // The first block that may contain it: that before the first one that begins with such a hash or a greater one.
            let first = self.index.partition_point(|&(first, _)| first < hash).saturating_sub(1);
            if loaded.is_none_or(|loaded| loaded < first) {
                self.read_block(first, &mut block)?;
                (loaded, place) = (Some(first), 0);
            }
            if !self.finds(hash, key(handle), &mut block, &mut loaded, &mut place)? {
                asked[kept] = (hash, handle);
                kept += 1;
            }
        }
        asked.truncate(kept);
        Ok(())
    }

    /// Goes on to the first key with that hash, and through all with it.
    fn finds(
        &mut self,
        hash: u64,
        key: &[u8],
        block: &mut Vec<u8>,
        loaded: &mut Option<usize>,
        place: &mut usize,
    ) -> io::Result<bool> {
        let mut at = *place;
        let mut is_first = true;
        loop {
            if at >= block.len() {
                let next = loaded.map_or(0, |number| number + 1);
                // Where keys with one hash lie in two blocks, others with it may be asked for next.
                if next >= self.index.len() || self.index[next].0 > hash {
                    return Ok(false);
                }
                self.read_block(next, block)?;
                (*loaded, at, *place) = (Some(next), 0, 0);
                continue;
            }
            let (there, bytes) = entry(&block[at..]);
            if there > hash {
                return Ok(false);
            }
            if there == hash {
                if is_first {
                    (*place, is_first) = (at, false);
                }
                if bytes == key {
                    return Ok(true);
                }
            }
            at += HEADER + bytes.len();
            if there < hash {
                *place = at;
            }
        }
    }
}

fn entry(bytes: &[u8]) -> (u64, &[u8]) {
    let mut hash = [0; 8];
    hash.copy_from_slice(&bytes[..8]);
    let length = u32::from_le_bytes([bytes[8], bytes[9], bytes[10], bytes[11]]) as usize;
    (u64::from_le_bytes(hash), &bytes[HEADER..HEADER + length])
}

/// One run of several.
fn merge(runs: &mut [Run], level: u32) -> io::Result<Run> {
    struct Cursor {
        block: Vec<u8>,
        number: usize,
        place: usize,
    }
    let mut writer = RunWriter::new()?;
    let mut cursors: Vec<Cursor> = Vec::new();
    for run in runs.iter_mut() {
        let mut block = Vec::new();
        if !run.index.is_empty() {
            run.read_block(0, &mut block)?;
        }
        cursors.push(Cursor { block, number: 0, place: 0 });
    }
    loop {
        let heads = cursors.iter().enumerate().filter(|(_, cursor)| cursor.place < cursor.block.len());
        let least = heads.map(|(number, cursor)| (entry(&cursor.block[cursor.place..]).0, number)).min();
        let Some((_, number)) = least else { break };
        let cursor = &mut cursors[number];
        let (hash, key) = entry(&cursor.block[cursor.place..]);
        let size = key.len();
        writer.push(hash, key)?;
        cursor.place += HEADER + size;
        if cursor.place >= cursor.block.len() && cursor.number + 1 < runs[number].index.len() {
            cursor.number += 1;
            cursor.place = 0;
            runs[number].read_block(cursor.number, &mut cursor.block)?;
        }
    }
    writer.finish(level)
}

/// All states in the order in which they were found, in a file.
struct Queue {
    file: File,
    /// The end of what was pushed, and what of it is not in the file yet.
    end: u64,
    unwritten: Vec<u8>,
    /// A part of the file that was read, where it begins, and where the next state lies in it.
    window: Vec<u8>,
    window_start: u64,
    at: usize,
}

impl Queue {
    fn new() -> io::Result<Queue> {
        let file = nameless()?;
        Ok(Queue { file, end: 0, unwritten: Vec::new(), window: Vec::new(), window_start: 0, at: 0 })
    }

    fn bytes(&self) -> usize {
        self.unwritten.capacity() + self.window.capacity()
    }

    fn push(&mut self, state: &[u8]) -> io::Result<()> {
        if self.unwritten.len() >= BUFFER {
            self.flush()?;
        }
        self.unwritten.extend_from_slice(&(state.len() as u32).to_le_bytes());
        self.unwritten.extend_from_slice(state);
        self.end += 4 + state.len() as u64;
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        let written = self.end - self.unwritten.len() as u64;
        self.file.seek(SeekFrom::Start(written))?;
        self.file.write_all(&self.unwritten)?;
        self.unwritten.clear();
        Ok(())
    }

    /// Reads on from a place of the file into a window.
    fn read(&mut self, start: u64, end: u64, least: usize, window: &mut Vec<u8>) -> io::Result<()> {
        let size = (end - start).min(BUFFER.max(least) as u64) as usize;
        window.resize(size, 0);
        self.file.seek(SeekFrom::Start(start))?;
        self.file.read_exact(window)
    }

    /// The length of the record at a place of the window, if all of it is there; else how many bytes it has to have.
    fn record(window: &[u8], at: usize) -> Result<usize, usize> {
        let Some(length) = window[at..].first_chunk() else { return Err(4) };
        let length = u32::from_le_bytes(*length) as usize;
        if window.len() - at >= 4 + length { Ok(length) } else { Err(4 + length) }
    }

    fn next(&mut self, state: &mut Vec<u8>) -> io::Result<Option<u64>> {
        let mut place = self.window_start + self.at as u64;
        if place >= self.end {
            return Ok(None);
        }
        let length = loop {
            match Queue::record(&self.window, self.at) {
                Ok(length) => break length,
                Err(least) => {
                    self.flush()?;
                    let mut window = std::mem::take(&mut self.window);
                    self.read(place, self.end, least, &mut window)?;
                    (self.window, self.window_start, self.at) = (window, place, 0);
                    place = self.window_start;
                }
            }
        };
        state.clear();
        state.extend_from_slice(&self.window[self.at + 4..self.at + 4 + length]);
        self.at += 4 + length;
        Ok(Some(place))
    }

    fn scan(&mut self, from: u64, to: u64, found: &mut dyn FnMut(&[u8]) -> bool) -> io::Result<Option<Vec<u8>>> {
        self.flush()?;
        let (mut window, mut start, mut at) = (Vec::new(), from, 0);
        while start + (at as u64) < to {
            match Queue::record(&window, at) {
                Ok(length) => {
                    let state = &window[at + 4..at + 4 + length];
                    if found(state) {
                        return Ok(Some(state.to_vec()));
                    }
                    at += 4 + length;
                }
                Err(least) => {
                    start += at as u64;
                    at = 0;
                    self.read(start, to, least, &mut window)?;
                }
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ample_random::Random;
    use std::collections::HashSet;

    #[test]
    fn it_is_a_set_with_more_states_than_fit_into_memory() {
        let mut random = Random::new(7);
        let mut store = DiskStore::new(Key::default(), 0).unwrap();
        let mut expected: HashSet<Vec<u8>> = HashSet::new();
        let mut count = 0;
        for _ in 0..600_000 {
            let number = random.below(400_000) as u64;
            let mut state = number.to_le_bytes().to_vec();
            state.resize(8 + number as usize % 40, 7);
            match store.offer(&state).unwrap() {
                Some(Offered::New) => assert!(expected.insert(state)),
                Some(Offered::Seen) => assert!(expected.contains(&state) || store.pending.find(&state).is_some()),
                Some(Offered::Pending) => {}
                None => {
                    store.resolve(|state| assert!(expected.insert(state.to_vec()))).unwrap();
                    assert_ne!(store.offer(&state).unwrap(), None);
                }
            }
            count += 1;
        }
        store.resolve(|state| assert!(expected.insert(state.to_vec()))).unwrap();
        assert_eq!(store.len(), expected.len() as u64, "of {count}");
        assert!(store.bytes() < LEAST + (2 << 20), "{} bytes", store.bytes());
        assert!(store.runs.len() > 2);
        let mut state = Vec::new();
        let mut places = Vec::new();
        while let Some(place) = store.next(&mut state).unwrap() {
            places.push(place);
            assert!(expected.remove(&state));
        }
        assert!(expected.is_empty());
        let last = state.clone();
        let found = store.scan(places[1000], store.end(), |state| *state == last).unwrap();
        assert_eq!(found, Some(last));
    }
}
