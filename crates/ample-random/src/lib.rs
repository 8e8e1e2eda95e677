//! Pseudo-random numbers: the same seed gives the same numbers on every machine and in every version.
//!
//! Reports and the messages of failed tests identify random runs and random models by their seeds, from which these must be
//! reproducible. So the generator is our own: SplitMix64 (G. Steele, D. Lea and C. Flood, *Fast splittable pseudorandom
//! number generators*, 2014), which is good with any seed. It is not for secrets.
//!
//! ```
//! use ample_random::Random;
//!
//! let mut random = Random::new(42);
//! let die = 1 + random.below(6_u32);
//! assert!((1..=6).contains(&die));
//! let side = random.pick(&["heads", "tails"]);
//!
//! let mut again = Random::new(42);
//! assert_eq!((1 + again.below(6_u32), again.pick(&["heads", "tails"])), (die, side));
//! ```

/// A generator of pseudo-random numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Random(u64);

impl Random {
    /// From a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// Any number.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from zero up to, but not including, the limit; zero if the limit is not positive.
    #[inline]
    pub fn below<T: Integer>(&mut self, limit: T) -> T {
        // The upper half of the product: without a division, and without a preference for small numbers.
        T::from_u64(((u128::from(self.next_u64()) * u128::from(limit.to_u64())) >> 64) as u64)
    }

    /// True once in so many times.
    #[inline]
    pub fn one_in<T: Integer>(&mut self, chances: T) -> bool {
        self.below(chances.to_u64()) == 0
    }

    /// True in so many of a hundred cases.
    #[inline]
    pub fn percent<T: Integer>(&mut self, percent: T) -> bool {
        self.below(100) < percent.to_u64()
    }

    /// One of the items.
    ///
    /// # Panics
    /// If there are none.
    pub fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())].clone()
    }

    /// Puts the items into any order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

/// A type of integers that a limit can have.
pub trait Integer: Copy {
    /// The number, or zero if it is negative.
    fn to_u64(self) -> u64;

    /// The number; it is below one that came from this type.
    fn from_u64(number: u64) -> Self;
}

macro_rules! integers {
    ($($integer:ty),*) => {$(
        impl Integer for $integer {
            #[inline]
            fn to_u64(self) -> u64 {
                u64::try_from(self).unwrap_or(0)
            }

            #[inline]
            fn from_u64(number: u64) -> Self {
                number as $integer
            }
        }
    )*};
}

integers!(u8, u16, u32, u64, usize, i32, i64);

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers that the authors' own program prints for the seed 1234567.
    #[test]
    fn the_numbers_are_those_of_splitmix64() {
        let mut random = Random::new(1_234_567);
        let numbers = [(); 3].map(|()| random.next_u64());
        assert_eq!(numbers, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn numbers_stay_below_their_limit_and_come_near_it() {
        let mut random = Random::new(1);
        let mut counts = [0_u32; 7];
        (0..7_000).for_each(|_| counts[random.below(7_usize)] += 1);
        assert!(counts.iter().all(|count| (800..1_200).contains(count)), "{counts:?}");
        assert_eq!((random.below(0_u8), random.below(-3)), (0, 0));
        assert!((0..1_000).all(|_| random.below(i64::MAX) >= 0));
    }

    #[test]
    fn a_shuffled_list_has_the_same_items() {
        let mut items: Vec<u32> = (0..50).collect();
        Random::new(3).shuffle(&mut items);
        assert!(!items.is_sorted());
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }
}
