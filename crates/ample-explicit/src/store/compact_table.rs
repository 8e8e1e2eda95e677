//! A hash table of numbers of a few bytes each, and nothing else: five to twelve percent of it are free.
//!
//! The numbers lie in buckets of one cache line; a full bucket overflows into the next. What a number stands for is not
//! kept, so that it has to say by itself where it belongs: a table grows by moving its numbers. Large tables are divided
//! into shards that grow one at a time, so that only a small part of the table is ever held twice.

use super::prefetch::prefetch;
use super::set::{Entry, mix};

/// The bytes of a bucket: a cache line.
const LINE: usize = 64;

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Bucket([u8; LINE]);

/// A shard that is the only one is divided when it has so many buckets.
const DIVIDED: usize = 1 << 12;

/// So many shards it is divided into.
const SHARDS: usize = 128;

/// Beyond so many buckets, a shard grows by a quarter instead of doubling.
const LARGE: usize = 1 << 5;

/// A set of numbers of `W` bytes.
pub(super) struct CompactTable<const W: usize> {
    shards: Vec<Shard>,
    len: usize,
    /// The number zero, which marks free places, is in the set.
    has_zero: bool,
    buckets: usize,
}

struct Shard {
    buckets: Vec<Bucket>,
    len: usize,
    comfortable: usize,
}

/// Numbers in a bucket.
const fn width(bytes: usize) -> usize {
    LINE / bytes
}

/// How many numbers so many buckets may hold before they are too full for speed.
fn comfortable(buckets: usize, width: usize) -> usize {
    let places = buckets * width;
    if buckets < 8 { places * 3 / 4 } else { places * 9 / 10 }
}

impl Shard {
    fn new(buckets: usize, width: usize) -> Option<Shard> {
        let mut list = Vec::new();
        list.try_reserve_exact(buckets).ok()?;
        list.resize(buckets, Bucket([0; LINE]));
        Some(Shard { buckets: list, len: 0, comfortable: comfortable(buckets, width) })
    }
}

impl<const W: usize> CompactTable<W> {
    pub(super) fn new() -> Self {
        CompactTable { shards: Vec::new(), len: 0, has_zero: false, buckets: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn bytes(&self) -> usize {
        self.buckets * LINE + self.shards.capacity() * size_of::<Shard>()
    }

    /// Starts to bring the place of a number into the cache.
    #[inline]
    pub(super) fn prefetch(&self, number: u64) {
        if let Some((shard, bucket)) = self.home(number) {
            prefetch(&self.shards[shard].buckets[bucket]);
        }
    }

    #[inline]
    pub(super) fn contains(&self, number: u64) -> bool {
        if number == 0 {
            return self.has_zero;
        }
        let Some((shard, bucket)) = self.home(number) else { return false };
        self.shards[shard].probe::<W>(bucket, number).is_none()
    }

    /// Takes in a number, and at most `room` bytes from the system for it.
    #[inline]
    pub(super) fn insert(&mut self, number: u64, room: usize) -> Entry {
        if number == 0 {
            let entry = if self.has_zero { Entry::Seen } else { Entry::New };
            self.len += usize::from(!self.has_zero);
            self.has_zero = true;
            return entry;
        }
        let Some((shard, bucket)) = self.home(number) else {
            return if self.grow(0, room) { self.insert(number, room) } else { Entry::Full };
        };
        let Some((bucket, index)) = self.shards[shard].probe::<W>(bucket, number) else { return Entry::Seen };
        if self.shards[shard].len >= self.shards[shard].comfortable {
            return if self.grow(shard, room) { self.insert(number, room) } else { Entry::Full };
        }
        let shard = &mut self.shards[shard];
        shard.write::<W>(bucket, index, number);
        self.len += 1;
        Entry::New
    }

    #[inline]
    fn home(&self, number: u64) -> Option<(usize, usize)> {
        let hash = mix(number);
        let shard = if self.shards.len() == 1 { 0 } else { hash as usize % SHARDS };
        let buckets = self.shards.get(shard)?.buckets.len();
        Some((shard, ((u128::from(hash) * buckets as u128) >> 64) as usize))
    }

    /// Makes room in a shard. False if there is no memory for it.
    #[cold]
    fn grow(&mut self, number: usize, room: usize) -> bool {
        let width = width(W);
        if self.shards.is_empty() {
            let Some(first) = Shard::new(1, width).filter(|_| room >= LINE) else { return false };
            self.shards.push(first);
            self.buckets = 1;
            return true;
        }
        if self.shards.len() == 1 && self.shards[0].buckets.len() >= DIVIDED {
            return self.divide(room);
        }
        let old = self.shards[number].buckets.len();
        let wanted = if old >= LARGE { old + old / 4 } else { 2 * old };
        let new = wanted.min(room / LINE);
        if new <= old {
            return false;
        }
        let Some(larger) = Shard::new(new, width) else { return false };
        if larger.comfortable <= self.shards[number].len {
            return false;
        }
        let smaller = std::mem::replace(&mut self.shards[number], larger);
        self.buckets = self.buckets + new - old;
        self.take_over(&smaller);
        true
    }

    /// From one shard to many.
    fn divide(&mut self, room: usize) -> bool {
        let each = self.shards[0].buckets.len() / SHARDS * 3 / 2;
        if room < each * SHARDS * LINE {
            return false;
        }
        let shards: Option<Vec<Shard>> = (0..SHARDS).map(|_| Shard::new(each, width(W))).collect();
        let Some(shards) = shards else { return false };
        let single = std::mem::replace(&mut self.shards, shards);
        self.buckets = each * SHARDS;
        single.iter().for_each(|shard| self.take_over(shard));
        true
    }

    /// Places the numbers of a shard that is gone.
    fn take_over(&mut self, old: &Shard) {
        for bucket in &old.buckets {
            for index in 0..width(W) {
                let number = read::<W>(bucket, index);
                if number == 0 {
                    break;
                }
                if let Some((shard, home)) = self.home(number)
                    && let Some((bucket, index)) = self.shards[shard].probe::<W>(home, number)
                {
                    self.shards[shard].write::<W>(bucket, index, number);
                }
            }
        }
    }
}

impl Shard {
    /// The place where a number belongs; none if it is there.
    #[inline]
    fn probe<const W: usize>(&self, mut bucket: usize, number: u64) -> Option<(usize, usize)> {
        loop {
            // All places are compared, and only then is it decided: one jump that may be guessed wrong instead of many.
            let line = &self.buckets[bucket];
            let (mut same, mut free) = (0_u32, 0_u32);
            for index in 0..width(W) {
                let there = read::<W>(line, index);
                same |= u32::from(there == number) << index;
                free |= u32::from(there == 0) << index;
            }
            if same != 0 {
                return None;
            }
            if free != 0 {
                return Some((bucket, free.trailing_zeros() as usize));
            }
            bucket = if bucket + 1 == self.buckets.len() { 0 } else { bucket + 1 };
        }
    }

    #[inline]
    fn write<const W: usize>(&mut self, bucket: usize, index: usize, number: u64) {
        self.buckets[bucket].0[index * W..][..W].copy_from_slice(&number.to_le_bytes()[..W]);
        self.len += 1;
    }
}

#[inline]
fn read<const W: usize>(bucket: &Bucket, index: usize) -> u64 {
    // Eight bytes in which the number lies; the last ones of a line lie at their end.
    let start = (index * W).min(LINE - size_of::<u64>());
    let Some(bytes) = bucket.0[start..].first_chunk() else { return 0 };
    u64::from_le_bytes(*bytes) >> (8 * (index * W - start)) & (u64::MAX >> (64 - 8 * W))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn is_a_set<const W: usize>() {
        let mut table = CompactTable::<W>::new();
        let mut expected = HashSet::new();
        let mask = u64::MAX >> (64 - 8 * W);
        for number in 0..400_000_u64 {
            let number = mix(number % 300_000) & mask & if number % 3 == 0 { 0xffff } else { u64::MAX };
            assert_eq!(table.contains(number), expected.contains(&number));
            let entry = table.insert(number, usize::MAX);
            assert_eq!(entry == Entry::New, expected.insert(number), "{number}");
        }
        assert_eq!(table.len(), expected.len());
        assert!(table.bytes() < table.len() * W * 8 / 5, "{} bytes for {}", table.bytes(), table.len());
    }

    #[test]
    fn tables_of_every_width_are_sets() {
        is_a_set::<4>();
        is_a_set::<5>();
        is_a_set::<6>();
        is_a_set::<8>();
    }

    #[test]
    fn a_table_stays_within_its_room() {
        let mut table = CompactTable::<8>::new();
        let count =
            (1..).take_while(|&number| table.insert(mix(number), (100_000 - table.bytes()) & !63) == Entry::New);
        let count = count.count();
        assert!(table.bytes() <= 100_000 && count > 5_000, "{count} in {}", table.bytes());
        assert!((1..=count as u64).all(|number| table.contains(mix(number))));
    }
}
