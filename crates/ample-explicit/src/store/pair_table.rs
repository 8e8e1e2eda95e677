//! A hash table of pairs, each with its number: the order in which it came.
//!
//! Pair and number lie together in buckets of one cache line, so that a look-up waits for the memory once. A full bucket
//! overflows into the next. Large tables are divided into shards that grow one at a time, as in
//! [`CompactTable`](super::compact_table::CompactTable).

use super::prefetch::prefetch;
use super::set::mix;

/// Pairs in a bucket.
const WIDTH: usize = 5;

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Bucket {
    pairs: [u64; WIDTH],
    numbers: [u32; WIDTH],
    len: u32,
}

const EMPTY: Bucket = Bucket { pairs: [0; WIDTH], numbers: [0; WIDTH], len: 0 };

const BUCKET_BYTES: usize = size_of::<Bucket>();

/// A shard that is the only one is divided when it has so many buckets.
const DIVIDED: usize = 1 << 11;

/// So many shards it is divided into.
const SHARDS: usize = 64;

/// Beyond so many buckets, a shard grows by a quarter instead of doubling.
const LARGE: usize = 1 << 5;

/// There are at most so many pairs.
const MOST: usize = u32::MAX as usize - 1;

/// Pairs of 32-bit values that have a number.
pub(super) struct PairTable {
    shards: Vec<Shard>,
    len: usize,
    buckets: usize,
}

struct Shard {
    buckets: Vec<Bucket>,
    len: usize,
    comfortable: usize,
}

impl Shard {
    fn new(buckets: usize) -> Option<Shard> {
        let mut list = Vec::new();
        list.try_reserve_exact(buckets).ok()?;
        list.resize(buckets, EMPTY);
        let places = buckets * WIDTH;
        let comfortable = if buckets < 8 { places * 3 / 4 } else { places * 17 / 20 };
        Some(Shard { buckets: list, len: 0, comfortable })
    }

    /// The number of a pair, or the bucket where it belongs.
    #[inline]
    fn probe(&self, mut bucket: usize, pair: u64) -> Result<u32, usize> {
        loop {
            let there = &self.buckets[bucket];
            // All places are compared, and only then is it decided: one jump that may be guessed wrong instead of many.
            let same = there
                .pairs
                .iter()
                .enumerate()
                .fold(0, |same, (index, &other)| same | u32::from(other == pair) << index);
            let same = same & ((1 << there.len) - 1);
            if same != 0 {
                return Ok(there.numbers[same.trailing_zeros() as usize]);
            }
            if (there.len as usize) < WIDTH {
                return Err(bucket);
            }
            bucket = if bucket + 1 == self.buckets.len() { 0 } else { bucket + 1 };
        }
    }

    #[inline]
    fn write(&mut self, bucket: usize, pair: u64, number: u32) {
        let there = &mut self.buckets[bucket];
        let index = there.len as usize;
        there.pairs[index] = pair;
        there.numbers[index] = number;
        there.len += 1;
        self.len += 1;
    }
}

impl PairTable {
    pub(super) fn new() -> PairTable {
        let first = Shard { buckets: vec![EMPTY], len: 0, comfortable: WIDTH - 1 };
        PairTable { shards: vec![first], len: 0, buckets: 1 }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn bytes(&self) -> usize {
        self.buckets * BUCKET_BYTES + self.shards.capacity() * size_of::<Shard>()
    }

    /// Starts to bring the place of a pair into the cache.
    #[inline]
    pub(super) fn prefetch(&self, pair: u64) {
        let (shard, bucket) = self.home(pair);
        prefetch(&self.shards[shard].buckets[bucket]);
    }

    /// The number of a pair, if it is there.
    #[inline]
    pub(super) fn find(&self, pair: u64) -> Option<u32> {
        let (shard, bucket) = self.home(pair);
        self.shards[shard].probe(bucket, pair).ok()
    }

    /// The number of a pair, which is taken in if it is new. None if there is no memory for it within the limit.
    #[inline]
    pub(super) fn number(&mut self, pair: u64, limit: usize) -> Option<u32> {
        let (shard, bucket) = self.home(pair);
        match self.shards[shard].probe(bucket, pair) {
            Ok(number) => Some(number),
            Err(bucket) => self.add(pair, shard, bucket, limit),
        }
    }

    fn add(&mut self, pair: u64, shard: usize, bucket: usize, limit: usize) -> Option<u32> {
        if self.len >= MOST {
            return None;
        }
        let (mut shard, mut bucket) = (shard, bucket);
        while self.shards[shard].len >= self.shards[shard].comfortable {
            if !self.grow(shard, limit.saturating_sub(self.bytes())) {
                return None;
            }
            let home = self.home(pair);
            shard = home.0;
            bucket = self.shards[shard].probe(home.1, pair).err()?;
        }
        let number = self.len as u32;
        self.shards[shard].write(bucket, pair, number);
        self.len += 1;
        Some(number)
    }

    #[inline]
    fn home(&self, pair: u64) -> (usize, usize) {
        let hash = mix(pair);
        let shard = if self.shards.len() == 1 { 0 } else { hash as usize % SHARDS };
        let buckets = self.shards[shard].buckets.len();
        (shard, ((u128::from(hash) * buckets as u128) >> 64) as usize)
    }

    /// Makes room in a shard, with at most so many more bytes. False if there is no memory for it.
    #[cold]
    fn grow(&mut self, number: usize, room: usize) -> bool {
        if self.shards.len() == 1 && self.shards[0].buckets.len() >= DIVIDED {
            return self.divide(room);
        }
        let old = self.shards[number].buckets.len();
        let wanted = if old >= LARGE { old + old / 4 } else { 2 * old };
        // Both are alive while the pairs are moved.
        if wanted > room / BUCKET_BYTES {
            return false;
        }
        let Some(larger) = Shard::new(wanted) else { return false };
        let smaller = std::mem::replace(&mut self.shards[number], larger);
        self.buckets = self.buckets + wanted - old;
        self.take_over(&smaller);
        true
    }

    /// From one shard to many.
    fn divide(&mut self, room: usize) -> bool {
        let each = self.shards[0].buckets.len() / SHARDS * 3 / 2;
        if room < each * SHARDS * BUCKET_BYTES {
            return false;
        }
        let shards: Option<Vec<Shard>> = (0..SHARDS).map(|_| Shard::new(each)).collect();
        let Some(shards) = shards else { return false };
        let single = std::mem::replace(&mut self.shards, shards);
        self.buckets = each * SHARDS;
        single.iter().for_each(|shard| self.take_over(shard));
        true
    }

    /// Places the pairs of a shard that is gone.
    fn take_over(&mut self, old: &Shard) {
        for bucket in &old.buckets {
            for index in 0..bucket.len as usize {
                let pair = bucket.pairs[index];
                let (shard, home) = self.home(pair);
                if let Err(place) = self.shards[shard].probe(home, pair) {
                    self.shards[shard].write(place, pair, bucket.numbers[index]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn pairs_are_numbered_in_order_and_keep_their_numbers() {
        let mut table = PairTable::new();
        let mut expected: HashMap<u64, u32> = HashMap::new();
        for step in 0..400_000_u64 {
            let pair = mix(step % 300_000) & if step % 3 == 0 { 0xffff } else { u64::MAX };
            let next = expected.len() as u32;
            assert_eq!(table.find(pair), expected.get(&pair).copied());
            assert_eq!(table.number(pair, usize::MAX), Some(*expected.entry(pair).or_insert(next)));
        }
        assert_eq!(table.len(), expected.len());
        assert!(table.bytes() < 20 * table.len(), "{} bytes for {}", table.bytes(), table.len());
    }

    #[test]
    fn a_table_stays_within_its_limit() {
        let mut table = PairTable::new();
        let count = (0..).take_while(|&number| table.number(mix(number), 100_000).is_some()).count();
        assert!(table.bytes() <= 100_000 && count > 2_000, "{count} in {}", table.bytes());
        assert!((0..count as u64).all(|number| table.find(mix(number)) == Some(number as u32)));
    }
}
