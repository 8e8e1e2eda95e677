//! Conditions and sums over packed markings: whether they hold, and how far from it a marking is.
//!
//! That a coloured transition can fire is a disjunction with a part for every binding, thousands of them, and only those
//! can hold that need a token on a marked place. So large disjunctions have an index: each part stands at one of the
//! places that it needs to be marked, and only marked places are looked at. A conjunction of opposites is a disjunction
//! that must not hold. What several conditions have in common is there once.

use std::collections::HashMap;
use std::sync::Arc;

use super::layout::{Cell, Layout, word};
use crate::net::{Condition, Parts, Sum};

/// A condition whose places are cells.
#[derive(Clone, Debug)]
pub(super) enum Test {
    Const(bool),
    /// The sum is at most so much. The sum fits 64 bits if the flag says so.
    AtMost(Terms, i128),
    And(Arc<[Test]>),
    Or(Arc<[Test]>),
    /// All of many parts.
    AndIndexed(Arc<Index>),
    /// Some of many parts.
    OrIndexed(Arc<Index>),
}

/// Fewer parts have no index.
const MANY: usize = 8;

/// Many parts, by places without whose tokens they have one and the same value.
#[derive(Debug)]
pub(super) struct Index {
    /// The words in which there are homes: where they begin, and the bits of homes in them.
    words: Vec<(u32, u64)>,
    /// By word and bit: the home.
    home_at: Vec<u32>,
    /// The parts at a home, and the bits of its word above it.
    homes: Vec<(u32, u32, u64)>,
    /// Those with a home, in order of homes; then those that are always looked at.
    parts: Vec<Test>,
    /// So many have a home.
    housed: usize,
}

/// A sum of cells. The tokens of a coloured place are hundreds of cells with one factor, so that cells of a bit or a
/// byte are added up a word at a time.
#[derive(Clone, Debug)]
pub(super) struct Terms {
    /// Bits of words, all with that factor.
    bits: Vec<(u32, u64, i64)>,
    /// Bytes of words, all with that factor.
    bytes: Vec<(u32, u64, i64)>,
    /// The other cells.
    terms: Vec<(Cell, i64)>,
    /// No marking makes it overflow 64 bits.
    is_small: bool,
}

/// A marking has no way at all to the goal, as far as a distance can tell.
const FAR: u64 = u64::MAX / 2;

impl Terms {
    pub fn of(layout: &Layout, terms: impl Iterator<Item = (u32, i64)>) -> Terms {
        let terms: Vec<(Cell, i64)> = terms.map(|(place, factor)| (layout.cells[place as usize], factor)).collect();
        let size = |(cell, factor): &(Cell, i64)| u128::from(cell.most()) * u128::from(factor.unsigned_abs());
        let is_small = terms.iter().try_fold(0_u128, |sum, term| sum.checked_add(size(term)));
        let is_small = is_small.is_some_and(|most| most < 1 << 62);
        let mut sum = Terms { bits: Vec::new(), bytes: Vec::new(), terms: Vec::new(), is_small };
        for (cell, factor) in terms {
            let groups = match (cell.width, cell.shift % 8) {
                (1, _) => &mut sum.bits,
                (8, 0) => &mut sum.bytes,
                _ => {
                    sum.terms.push((cell, factor));
                    continue;
                }
            };
            groups.push((cell.offset, cell.mask(), factor));
        }
        merge(&mut sum.bits);
        merge(&mut sum.bytes);
        sum
    }

    #[inline]
    pub fn value(&self, state: &[u8]) -> i128 {
        if self.is_small {
            let bits = self.bits.iter().map(|(at, mask, factor)| {
                let marked = word(state, *at) & mask;
                i64::from(marked.count_ones()) * factor
            });
            let bytes =
                self.bytes.iter().map(|(at, mask, factor)| sum_of_bytes(word(state, *at) & mask) as i64 * factor);
            let others = self.terms.iter().map(|(cell, factor)| cell.get(state) as i64 * factor);
            return i128::from(bits.chain(bytes).chain(others).sum::<i64>());
        }
        let bits =
            self.bits.iter().map(|(at, mask, factor)| (u64::from((word(state, *at) & mask).count_ones()), factor));
        let bytes = self.bytes.iter().map(|(at, mask, factor)| (sum_of_bytes(word(state, *at) & mask), factor));
        let others = self.terms.iter().map(|(cell, factor)| (cell.get(state), factor));
        let each = bits.chain(bytes).chain(others);
        each.map(|(number, factor)| i128::from(number) * i128::from(*factor)).fold(0, i128::saturating_add)
    }
}

/// Makes one group of cells with the same factor in the same word.
fn merge(groups: &mut Vec<(u32, u64, i64)>) {
    groups.sort_unstable_by_key(|(offset, _, factor)| (*offset, *factor));
    groups.dedup_by(|next, first| {
        let is_same = (next.0, next.2) == (first.0, first.2);
        if is_same {
            first.1 |= next.1;
        }
        is_same
    });
}

/// The eight bytes of a word, added up.
#[inline]
fn sum_of_bytes(word: u64) -> u64 {
    const EVEN: u64 = 0x00ff_00ff_00ff_00ff;
    let pairs = (word & EVEN) + (word >> 8 & EVEN);
    pairs.wrapping_mul(0x0001_0001_0001_0001) >> 48
}

/// Makes tests for conditions, of parts that they share only once.
#[derive(Debug)]
pub(super) struct Tests<'l> {
    layout: &'l Layout,
    /// By the address of parts, and whether all or some of them are meant.
    known: HashMap<(usize, bool), Test>,
}

impl<'l> Tests<'l> {
    pub fn new(layout: &'l Layout) -> Tests<'l> {
        Tests { layout, known: HashMap::new() }
    }

    pub fn of(&mut self, condition: &Condition) -> Test {
        match condition {
            Condition::Const(value) => Test::Const(*value),
            Condition::AtMost { terms, most } => {
                Test::AtMost(Terms::of(self.layout, terms.iter().copied()), i128::from(*most))
            }
            Condition::And(parts) => self.shared(parts, true),
            Condition::Or(parts) => self.shared(parts, false),
        }
    }

    fn shared(&mut self, parts: &Parts, is_and: bool) -> Test {
        let key = (parts.address(), is_and);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let test = self.indexed(parts, is_and).unwrap_or_else(|| {
            let tests = parts.iter().map(|part| self.of(part)).collect();
            if is_and { Test::And(tests) } else { Test::Or(tests) }
        });
        self.known.insert(key, test.clone());
        test
    }

    /// With an index, where that pays.
    fn indexed(&mut self, parts: &Parts, is_and: bool) -> Option<Test> {
        if parts.len() < MANY {
            return None;
        }
        let mut housed: Vec<(u32, u8, usize)> = Vec::new();
        let mut others = Vec::new();
        for (number, part) in parts.iter().enumerate() {
            match home(part, is_and) {
                Some(place) => {
                    let place = place as usize;
                    housed.push((self.layout.word_of[place], self.layout.cells[place].shift, number));
                }
                None => others.push(number),
            }
        }
        if housed.len() < MANY {
            return None;
        }
        housed.sort_unstable();
        let mut index = Index {
            words: Vec::new(),
            home_at: Vec::new(),
            homes: Vec::new(),
            parts: Vec::with_capacity(parts.len()),
            housed: housed.len(),
        };
        let mut last = None;
        for (word, shift, number) in housed {
            let new_word = last.is_none_or(|(before, _)| before != word);
            if last != Some((word, shift)) {
                let place = home(&parts[number], is_and)? as usize;
                index.open_home(new_word, self.layout.cells[place]);
                last = Some((word, shift));
            }
            index.parts.push(self.of(&parts[number]));
            index.homes.last_mut()?.1 = index.parts.len() as u32;
        }
        index.parts.extend(others.into_iter().map(|number| self.of(&parts[number])));
        let index = Arc::new(index);
        Some(if is_and { Test::AndIndexed(index) } else { Test::OrIndexed(index) })
    }
}

/// A place without whose tokens the part of a disjunction is false, or that of a conjunction true.
fn home(part: &Condition, is_and: bool) -> Option<u32> {
    match (part, is_and) {
        // At least so many tokens.
        (Condition::AtMost { terms, most }, false) => match terms[..] {
            [(place, factor)] if factor < 0 && *most < 0 => Some(place),
            _ => None,
        },
        // At most so many.
        (Condition::AtMost { terms, most }, true) => match terms[..] {
            [(place, factor)] if factor > 0 && *most >= 0 => Some(place),
            _ => None,
        },
        (Condition::And(parts), false) | (Condition::Or(parts), true) => parts.iter().find_map(|part| match part {
            Condition::AtMost { .. } => home(part, is_and),
            _ => None,
        }),
        _ => None,
    }
}

impl Index {
    fn open_home(&mut self, new_word: bool, cell: Cell) {
        if new_word {
            self.words.push((cell.offset, 0));
            self.home_at.resize(self.words.len() * 64, u32::MAX);
        }
        let number = self.homes.len() as u32;
        let start = self.parts.len() as u32;
        let above = u64::MAX.checked_shl(u32::from(cell.shift + cell.width)).unwrap_or(0);
        self.homes.push((start, start, above));
        if let Some((_, bits)) = self.words.last_mut() {
            *bits |= cell.mask();
        }
        let first = (self.words.len() - 1) * 64;
        let bits = usize::from(cell.shift)..usize::from(cell.shift + cell.width);
        self.home_at[first..][bits].fill(number);
    }

    /// Some part that may have this value has it. Parts whose home is empty have the other one.
    fn has(&self, state: &[u8], value: bool) -> bool {
        for (number, (offset, bits)) in self.words.iter().enumerate() {
            let mut marked = word(state, *offset) & bits;
            while marked != 0 {
                let home = self.home_at[64 * number + marked.trailing_zeros() as usize];
                let (start, end, above) = self.homes[home as usize];
                if self.parts[start as usize..end as usize].iter().any(|part| part.holds(state) == value) {
                    return true;
                }
                marked &= above;
            }
        }
        self.parts[self.housed..].iter().any(|part| part.holds(state) == value)
    }
}

impl Test {
    /// A condition that shares nothing with others.
    pub fn of(layout: &Layout, condition: &Condition) -> Test {
        Tests::new(layout).of(condition)
    }

    #[inline]
    pub fn holds(&self, state: &[u8]) -> bool {
        match self {
            Test::Const(value) => *value,
            Test::AtMost(terms, most) => terms.value(state) <= *most,
            Test::And(parts) => parts.iter().all(|part| part.holds(state)),
            Test::Or(parts) => parts.iter().any(|part| part.holds(state)),
            Test::AndIndexed(index) => !index.has(state, false),
            Test::OrIndexed(index) => index.has(state, true),
        }
    }

    /// How many tokens are too many or too few, added up; zero where it holds.
    pub fn distance(&self, state: &[u8]) -> u64 {
        let sum = |parts: &[Test]| parts.iter().fold(0, |sum: u64, part| part.distance(state).saturating_add(sum));
        let least = |parts: &[Test]| parts.iter().map(|part| part.distance(state)).min().unwrap_or(FAR);
        match self {
            Test::Const(value) => u64::from(!value) * FAR,
            Test::AtMost(terms, most) => excess(terms.value(state), *most),
            Test::And(parts) => sum(parts),
            Test::Or(parts) => least(parts),
            Test::AndIndexed(index) => sum(&index.parts),
            Test::OrIndexed(index) => least(&index.parts),
        }
    }
}

fn excess(value: i128, most: i128) -> u64 {
    u64::try_from(value.saturating_sub(most).max(0)).unwrap_or(FAR).min(FAR)
}

/// The distance of a marking that is not packed.
pub(super) fn distance(condition: &Condition, marking: &[u64]) -> u64 {
    match condition {
        Condition::Const(value) => u64::from(!value) * FAR,
        Condition::AtMost { terms, most } => excess(value(terms.iter().copied(), marking), i128::from(*most)),
        Condition::And(parts) => parts.iter().fold(0, |sum, part| distance(part, marking).saturating_add(sum)),
        Condition::Or(parts) => parts.iter().map(|part| distance(part, marking)).min().unwrap_or(FAR),
    }
}

/// The value of a sum in a marking that is not packed.
pub(super) fn value(terms: impl Iterator<Item = (u32, i64)>, marking: &[u64]) -> i128 {
    let each = terms.map(|(place, factor)| i128::from(marking[place as usize]) * i128::from(factor));
    each.fold(0, i128::saturating_add)
}

/// The terms of a sum.
pub(super) fn terms(sum: &Sum) -> impl Iterator<Item = (u32, i64)> + '_ {
    sum.terms.iter().map(|(place, factor)| (*place, *factor))
}
