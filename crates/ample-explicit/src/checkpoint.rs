//! Checkpoints: a search is written to a file from time to time, so that it can go on from there after it was ended.
//!
//! The file begins with a version and a number that stands for the model and the options, and ends with a checksum. It is
//! written under another name first, which is then changed; so there is always a whole one, or none.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use ample_model::outcome::Statistics;
use rapidhash::v3::rapidhash_v3;

use crate::check::{Cut, Tally};
use crate::search::Position;
use crate::store::{FlatStore, Handle, Side, Visible};

/// What every file begins with: what it is, and the version of its format.
const MAGIC: &[u8; 20] = b"ample checkpoint 001";

/// Bytes that are read or written together, and have one part in the checksum.
const BLOCK: usize = 1 << 16;

/// Why a file is of no use.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// It cannot be read.
    #[error("the checkpoint cannot be read: {0}")]
    Io(#[from] io::Error),
    /// It is something else.
    #[error("this is no checkpoint of this version of ample; another file, or none, is expected")]
    NoCheckpoint,
    /// It was made for something else.
    #[error("the checkpoint is of another model, or of a search with other options")]
    Other,
    /// Something in it has changed.
    #[error("the checkpoint is damaged: its checksum is wrong")]
    Damaged,
}

/// Is there a file from which a search for `subject` can go on? False if there is no file.
pub fn verify(path: &Path, subject: u64) -> Result<bool, CheckpointError> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error.into()),
        Ok(metadata) if !metadata.is_file() => return Err(CheckpointError::NoCheckpoint),
        Ok(_) => {}
    }
    let mut reader = Reader::open(path, subject)?;
    let mut block = [0; 4096];
    while reader.left > 0 {
        let size = reader.left.min(block.len() as u64) as usize;
        reader.read_exact(&mut block[..size])?;
    }
    if reader.is_whole()? { Ok(true) } else { Err(CheckpointError::Damaged) }
}

/// Saves a search. The old file is replaced when the new one is complete.
pub(crate) fn save<D: Side, V: Visible>(
    path: &Path,
    subject: u64,
    position: &Position,
    tally: &Tally,
    store: &FlatStore<D, V>,
) -> io::Result<()> {
    let unfinished = unfinished(path);
    let written = write(&unfinished, subject, position, tally, store);
    let saved = written.and_then(|()| fs::rename(&unfinished, path));
    if saved.is_err() {
        let _ = fs::remove_file(&unfinished);
    }
    saved
}

/// The name of a file that is being written.
fn unfinished(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    name.into()
}

fn write<D: Side, V: Visible>(
    path: &Path,
    subject: u64,
    position: &Position,
    tally: &Tally,
    store: &FlatStore<D, V>,
) -> io::Result<()> {
    let mut out = Writer { file: BufWriter::with_capacity(BLOCK, File::create(path)?), block: Vec::new(), checksum: 0 };
    out.write_all(MAGIC)?;
    out.write_all(&subject.to_le_bytes())?;
    let handle = |handle: Option<Handle>| handle.map_or(0, Handle::number);
    let Statistics { states, atomic_states, transitions, atomic_steps, depth, time_s, .. } = &tally.statistics;
    let numbers = [
        position.expanded.number(),
        position.waiting as u64,
        handle(position.newest),
        handle(position.level_end),
        position.depth,
        *states,
        *atomic_states,
        *transitions,
        *atomic_steps,
        *depth,
        time_s.to_bits(),
        tally.cuts.len() as u64,
    ];
    numbers.iter().try_for_each(|number| out.write_all(&number.to_le_bytes()))?;
    for Cut { by, message, count } in &tally.cuts {
        let (process, edge) = by.unwrap_or_default();
        let numbers = [u64::from(by.is_some()), process.into(), edge.into(), *count, message.len() as u64];
        numbers.iter().try_for_each(|number| out.write_all(&number.to_le_bytes()))?;
        out.write_all(message.as_bytes())?;
    }
    store.save(&mut out)?;
    out.finish()
}

/// Reads a saved search into an empty store.
pub(crate) fn load<D: Side, V: Visible>(
    path: &Path,
    subject: u64,
    store: &mut FlatStore<D, V>,
) -> Result<(Position, Tally), CheckpointError> {
    let mut reader = Reader::open(path, subject)?;
    let mut numbers = [0; 12];
    for number in &mut numbers {
        *number = reader.number()?;
    }
    let [
        expanded,
        waiting,
        newest,
        level_end,
        level,
        states,
        atomic_states,
        transitions,
        atomic_steps,
        depth,
        time,
        cuts,
    ] = numbers;
    let position = Position {
        expanded: Handle::from_number(expanded).ok_or(CheckpointError::Damaged)?,
        waiting: waiting as usize,
        newest: Handle::from_number(newest),
        level_end: Handle::from_number(level_end),
        depth: level,
    };
    let time_s = f64::from_bits(time);
    let statistics =
        Statistics { states, atomic_states, transitions, atomic_steps, depth, time_s, ..Statistics::default() };
    let mut tally = Tally { statistics, cuts: Vec::new() };
    for _ in 0..cuts {
        let mut numbers = [0; 5];
        for number in &mut numbers {
            *number = reader.number()?;
        }
        let [is_known, process, edge, count, length] = numbers;
        let mut message = vec![0; usize::try_from(length.min(reader.left)).unwrap_or(0)];
        reader.read_exact(&mut message)?;
        let by = (is_known != 0).then_some((process as u32, edge as u32));
        tally.cuts.push(Cut { by, message: String::from_utf8_lossy(&message).into_owned(), count });
    }
    store.restore(&mut reader)?;
    if reader.left == 0 && reader.is_whole()? { Ok((position, tally)) } else { Err(CheckpointError::Damaged) }
}

/// Writes blocks and remembers a checksum.
struct Writer {
    file: BufWriter<File>,
    block: Vec<u8>,
    checksum: u64,
}

fn added(checksum: u64, block: &[u8]) -> u64 {
    (checksum.rotate_left(17) ^ rapidhash_v3(block)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let size = bytes.len().min(BLOCK - self.block.len());
        self.block.extend_from_slice(&bytes[..size]);
        if self.block.len() == BLOCK {
            self.flush_block()?;
        }
        Ok(size)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Writer {
    fn flush_block(&mut self) -> io::Result<()> {
        self.checksum = added(self.checksum, &self.block);
        self.file.write_all(&self.block)?;
        self.block.clear();
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        self.flush_block()?;
        self.file.write_all(&self.checksum.to_le_bytes())?;
        let file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all()
    }
}

/// Reads what a [`Writer`] wrote.
struct Reader {
    file: BufReader<File>,
    block: Vec<u8>,
    checksum: u64,
    /// The bytes that have not been read, without the checksum at the end.
    left: u64,
}

impl Reader {
    fn open(path: &Path, subject: u64) -> Result<Reader, CheckpointError> {
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        let least = MAGIC.len() as u64 + 16;
        if size < least {
            return Err(CheckpointError::NoCheckpoint);
        }
        let file = BufReader::with_capacity(BLOCK, file);
        let mut reader = Reader { file, block: Vec::new(), checksum: 0, left: size - 8 };
        let mut magic = [0; MAGIC.len()];
        reader.read_exact(&mut magic)?;
        if magic != *MAGIC {
            return Err(CheckpointError::NoCheckpoint);
        }
        if reader.number()? != subject {
            return Err(CheckpointError::Other);
        }
        Ok(reader)
    }

    fn number(&mut self) -> io::Result<u64> {
        let mut bytes = [0; 8];
        self.read_exact(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// All was read. Is it what was written?
    fn is_whole(&mut self) -> io::Result<bool> {
        self.checksum = added(self.checksum, &self.block);
        let mut bytes = [0; 8];
        self.file.read_exact(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes) == self.checksum)
    }
}

impl Read for Reader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let most = out.len().min(BLOCK - self.block.len()).min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let size = self.file.read(&mut out[..most])?;
        self.block.extend_from_slice(&out[..size]);
        self.left -= size as u64;
        if self.block.len() == BLOCK {
            self.checksum = added(self.checksum, &self.block);
            self.block.clear();
        }
        Ok(size)
    }
}
