//! How much memory the process holds, as Linux tells it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A look at the memory of the process is good for so long: it costs microseconds, and everybody asks.
const GOOD_FOR: Duration = Duration::from_millis(2);

/// What a process may take if nobody says: nine tenths of the memory that is free, so that no model makes the machine
/// swap. `None` where the operating system does not tell.
pub fn sensible_memory_limit() -> Option<u64> {
    Some(field("/proc/meminfo", "MemAvailable:")? / 10 * 9)
}

/// The bytes of memory that the process holds now; `None` where the operating system does not tell.
pub fn resident_memory() -> Option<u64> {
    let table = std::fs::read("/proc/self/statm").ok()?;
    let resident = table.split(|byte| *byte == b' ').nth(1)?;
    let pages: u64 = std::str::from_utf8(resident).ok()?.parse().ok()?;
    Some(pages * page_size()?)
}

/// The most bytes of memory that the process has held; `None` where the operating system does not tell.
pub fn peak_memory() -> Option<u64> {
    field("/proc/self/status", "VmHWM:")
}

/// As [`resident_memory`], a moment old at most.
pub(crate) fn lately_resident() -> Option<u64> {
    static BEGUN: OnceLock<Instant> = OnceLock::new();
    /// When somebody looked last, in microseconds after `BEGUN` and one more, so that 0 is never.
    static LOOKED: AtomicU64 = AtomicU64::new(0);
    static RESIDENT: AtomicU64 = AtomicU64::new(0);
    let now = BEGUN.get_or_init(Instant::now).elapsed().as_micros() as u64 + 1;
    let looked = LOOKED.load(Ordering::Acquire);
    if looked != 0 && now < looked + GOOD_FOR.as_micros() as u64 {
        return Some(RESIDENT.load(Ordering::Relaxed));
    }
    let resident = resident_memory()?;
    RESIDENT.store(resident, Ordering::Relaxed);
    LOOKED.store(now, Ordering::Release);
    Some(resident)
}

/// From the vector that the kernel hands to every process: the value of key 6.
fn page_size() -> Option<u64> {
    static SIZE: OnceLock<Option<u64>> = OnceLock::new();
    *SIZE.get_or_init(|| {
        let words = std::fs::read("/proc/self/auxv").ok()?;
        let words: Vec<usize> = words
            .chunks_exact(size_of::<usize>())
            .filter_map(|word| Some(usize::from_ne_bytes(word.try_into().ok()?)))
            .collect();
        let size = words.chunks_exact(2).find(|pair| pair[0] == 6)?[1];
        Some(size as u64)
    })
}

/// A size in one of the tables that Linux shows as files, in bytes.
fn field(file: &str, name: &str) -> Option<u64> {
    let table = std::fs::read_to_string(file).ok()?;
    let line = table.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_touched_is_resident() {
        let Some(before) = resident_memory() else { return eprintln!("skipped: the operating system does not tell") };
        let block = vec![1u8; 64 << 20];
        let after = resident_memory().unwrap();
        assert!(after >= before + (60 << 20), "{before} {after} {}", block.len());
        assert!(peak_memory().unwrap() >= before + (60 << 20));
    }
}
