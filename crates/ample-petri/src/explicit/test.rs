//! Conditions and sums over packed markings: whether they hold, and how far from it a marking is.

use super::layout::{Cell, Layout};
use crate::net::{Condition, Sum};

/// A condition whose places are cells.
#[derive(Clone, Debug)]
pub(super) enum Test {
    Const(bool),
    /// The sum is at most so much. The sum fits 64 bits if the flag says so.
    AtMost(Terms, i128),
    And(Vec<Test>),
    Or(Vec<Test>),
}

/// A sum of cells.
#[derive(Clone, Debug)]
pub(super) struct Terms {
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
        Terms { is_small: is_small.is_some_and(|most| most < 1 << 62), terms }
    }

    #[inline]
    pub fn value(&self, state: &[u8]) -> i128 {
        if self.is_small {
            let sum: i64 = self.terms.iter().map(|(cell, factor)| cell.get(state) as i64 * factor).sum();
            return i128::from(sum);
        }
        let each = self.terms.iter().map(|(cell, factor)| i128::from(cell.get(state)) * i128::from(*factor));
        each.fold(0, i128::saturating_add)
    }
}

impl Test {
    pub fn of(layout: &Layout, condition: &Condition) -> Test {
        let all = |parts: &[Condition]| parts.iter().map(|part| Test::of(layout, part)).collect();
        match condition {
            Condition::Const(value) => Test::Const(*value),
            Condition::AtMost { terms, most } => {
                Test::AtMost(Terms::of(layout, terms.iter().copied()), i128::from(*most))
            }
            Condition::And(parts) => Test::And(all(parts)),
            Condition::Or(parts) => Test::Or(all(parts)),
        }
    }

    #[inline]
    pub fn holds(&self, state: &[u8]) -> bool {
        match self {
            Test::Const(value) => *value,
            Test::AtMost(terms, most) => terms.value(state) <= *most,
            Test::And(parts) => parts.iter().all(|part| part.holds(state)),
            Test::Or(parts) => parts.iter().any(|part| part.holds(state)),
        }
    }

    /// How many tokens are too many or too few, added up; zero where it holds.
    pub fn distance(&self, state: &[u8]) -> u64 {
        match self {
            Test::Const(value) => u64::from(!value) * FAR,
            Test::AtMost(terms, most) => excess(terms.value(state), *most),
            Test::And(parts) => parts.iter().fold(0, |sum, part| part.distance(state).saturating_add(sum)),
            Test::Or(parts) => parts.iter().map(|part| part.distance(state)).min().unwrap_or(FAR),
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
