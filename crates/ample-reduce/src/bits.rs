//! Sets of small numbers as bits, and matrices of them.

/// A set of numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bits {
    words: Vec<u64>,
}

impl Bits {
    /// The empty set.
    pub const fn new() -> Bits {
        Bits { words: Vec::new() }
    }

    /// Adds a number; true if it was not there.
    #[inline]
    pub fn insert(&mut self, number: u32) -> bool {
        let (word, bit) = (number as usize / 64, 1 << (number % 64));
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        new
    }

    /// Removes a number.
    #[inline]
    pub fn remove(&mut self, number: u32) {
        if let Some(word) = self.words.get_mut(number as usize / 64) {
            *word &= !(1 << (number % 64));
        }
    }

    /// Is the number there?
    #[inline]
    pub fn contains(&self, number: u32) -> bool {
        self.words.get(number as usize / 64).is_some_and(|word| word >> (number % 64) & 1 != 0)
    }

    /// Removes everything, and keeps the memory.
    #[inline]
    pub fn clear(&mut self) {
        self.words.fill(0);
    }

    /// Adds all of another set.
    #[inline]
    pub fn extend(&mut self, other: &Bits) {
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        for (word, more) in self.words.iter_mut().zip(&other.words) {
            *word |= more;
        }
    }

    /// Adds the numbers that are bits of a word: number `n` is bit `n % 64` of word `n / 64`.
    #[inline]
    pub fn extend_word(&mut self, word: usize, bits: u64) {
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= bits;
    }

    /// Keeps what is in the other set too.
    #[inline]
    pub fn retain(&mut self, other: &Bits) {
        for (number, word) in self.words.iter_mut().enumerate() {
            *word &= other.words.get(number).copied().unwrap_or(0);
        }
    }

    /// Removes the numbers of a set, except for those that are in the other one too.
    #[inline]
    pub fn remove_all_but(&mut self, these: &Bits, kept: &Bits) {
        for (number, (word, removed)) in self.words.iter_mut().zip(&these.words).enumerate() {
            *word &= !(removed & !kept.words.get(number).copied().unwrap_or(0));
        }
    }

    /// Is there a number that is in both?
    #[inline]
    pub fn meets(&self, other: &Bits) -> bool {
        self.words.iter().zip(&other.words).any(|(word, other)| word & other != 0)
    }

    /// Is every number of this set in the other one?
    #[inline]
    pub fn is_within(&self, other: &Bits) -> bool {
        let rest = |number: usize| other.words.get(number).copied().unwrap_or(0);
        self.words.iter().enumerate().all(|(number, word)| word & !rest(number) == 0)
    }

    /// Is there nothing in it?
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// How many numbers there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The numbers, from the smallest to the largest.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().enumerate().flat_map(|(number, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros())?;
                rest &= rest - 1;
                Some(number as u32 * 64 + bit)
            })
        })
    }

    /// The words: number `n` is bit `n % 64` of word `n / 64`.
    #[inline]
    pub fn words(&self) -> &[u64] {
        &self.words
    }
}

impl FromIterator<u32> for Bits {
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Bits {
        let mut bits = Bits::new();
        numbers.into_iter().for_each(|number| {
            bits.insert(number);
        });
        bits
    }
}

/// A relation between numbers: a set for each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matrix {
    rows: Vec<Bits>,
}

impl Matrix {
    /// The empty relation.
    pub const fn new() -> Matrix {
        Matrix { rows: Vec::new() }
    }

    /// Relates the first to the second.
    pub fn insert(&mut self, first: u32, second: u32) {
        self.row_mut(first).insert(second);
    }

    /// Relates them to each other.
    pub fn insert_both(&mut self, first: u32, second: u32) {
        self.insert(first, second);
        self.insert(second, first);
    }

    /// Is the first related to the second?
    #[inline]
    pub fn contains(&self, first: u32, second: u32) -> bool {
        self.rows.get(first as usize).is_some_and(|row| row.contains(second))
    }

    /// What the number is related to.
    #[inline]
    pub fn row(&self, number: u32) -> &Bits {
        const NOTHING: &Bits = &Bits::new();
        self.rows.get(number as usize).unwrap_or(NOTHING)
    }

    /// What the number is related to, to be changed.
    pub fn row_mut(&mut self, number: u32) -> &mut Bits {
        let number = number as usize;
        if number >= self.rows.len() {
            self.rows.resize(number + 1, Bits::new());
        }
        &mut self.rows[number]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_sets() {
        let mut set: Bits = [3, 64, 200].into_iter().collect();
        assert!(set.contains(64) && !set.contains(65) && !set.contains(10_000));
        assert!(!set.insert(3) && set.insert(4));
        assert_eq!(set.iter().collect::<Vec<_>>(), [3, 4, 64, 200]);
        set.remove(64);
        set.retain(&[4, 64, 200, 300].into_iter().collect());
        assert_eq!((set.len(), set.is_empty()), (2, false));
        assert!(set.meets(&[200].into_iter().collect()) && !set.meets(&[3].into_iter().collect()));
        assert!(set.is_within(&[4, 200, 201].into_iter().collect()) && !set.is_within(&[4].into_iter().collect()));
        set.clear();
        assert!(set.is_empty());
    }

    #[test]
    fn relations_grow() {
        let mut relation = Matrix::new();
        relation.insert_both(1, 70);
        assert!(relation.contains(1, 70) && relation.contains(70, 1) && !relation.contains(1, 1));
        assert!(relation.row(1_000).is_empty());
    }
}
