//! The clauses of a solver, one after the other in one vector of words.

use super::Frame;
use crate::solver::Literal;

/// Where a clause is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Ref(u32);

/// It was derived from others.
pub(super) const LEARNT: u32 = 1;
/// It holds for one question.
pub(super) const TEMPORARY: u32 = 2;
/// It is known outside by a number.
pub(super) const LEMMA: u32 = 4;
const DELETED: u32 = 8;
const FLAG_BITS: u32 = 4;
const FLAGS: u32 = (1 << FLAG_BITS) - 1;

/// Words before the literals: length and flags, frame, activity.
const HEADER: usize = 3;

/// The clauses.
#[derive(Default)]
pub(super) struct Arena {
    words: Vec<u32>,
    wasted: usize,
    increment: f32,
}

impl Arena {
    /// Without clauses, for those of another.
    pub fn like(other: &Arena) -> Arena {
        Arena { words: Vec::with_capacity(other.words.len() - other.wasted), wasted: 0, increment: other.increment }
    }

    pub fn add(&mut self, literals: &[Literal], frame: Frame, flags: u32) -> Ref {
        let at = Ref(self.words.len() as u32);
        let activity = if flags & LEARNT == 0 { 0.0 } else { self.increment.max(1.0) };
        self.words.extend([(literals.len() as u32) << FLAG_BITS | flags, frame, activity.to_bits()]);
        self.words.extend(literals.iter().map(|literal| literal.0));
        at
    }

    #[inline]
    pub fn len(&self, clause: Ref) -> usize {
        (self.words[clause.0 as usize] >> FLAG_BITS) as usize
    }

    #[inline]
    pub fn flags(&self, clause: Ref) -> u32 {
        self.words[clause.0 as usize] & FLAGS
    }

    #[inline]
    pub fn is_deleted(&self, clause: Ref) -> bool {
        self.flags(clause) & DELETED != 0
    }

    #[inline]
    pub fn is_temporary(&self, clause: Ref) -> bool {
        self.flags(clause) & TEMPORARY != 0
    }

    #[inline]
    pub fn is_learnt(&self, clause: Ref) -> bool {
        self.flags(clause) & LEARNT != 0
    }

    #[inline]
    pub fn frame(&self, clause: Ref) -> Frame {
        self.words[clause.0 as usize + 1]
    }

    #[inline]
    pub fn literal(&self, clause: Ref, place: usize) -> Literal {
        Literal(self.words[clause.0 as usize + HEADER + place])
    }

    #[inline]
    pub fn literals_mut(&mut self, clause: Ref) -> &mut [u32] {
        let (first, len) = (clause.0 as usize + HEADER, self.len(clause));
        &mut self.words[first..first + len]
    }

    #[inline]
    pub fn activity(&self, clause: Ref) -> f32 {
        f32::from_bits(self.words[clause.0 as usize + 2])
    }

    pub fn set_activity(&mut self, clause: Ref, activity: f32) {
        self.words[clause.0 as usize + 2] = activity.to_bits();
    }

    /// The clause was used; later uses count for more.
    pub fn bump(&mut self, clause: Ref) {
        self.increment = self.increment.max(1.0) * 1.001;
        let activity = self.activity(clause) + self.increment;
        self.set_activity(clause, activity);
        if activity > 1e20 {
            let all: Vec<Ref> = self.all().collect();
            all.into_iter().for_each(|clause| self.set_activity(clause, self.activity(clause) * 1e-20));
            self.increment *= 1e-20;
        }
    }

    pub fn delete(&mut self, clause: Ref) {
        if !self.is_deleted(clause) {
            self.wasted += HEADER + self.len(clause);
            self.words[clause.0 as usize] |= DELETED;
        }
    }

    /// More than a third of it is not needed any more.
    pub fn is_wasteful(&self) -> bool {
        self.wasted > 100_000 && self.wasted > self.words.len() / 3
    }

    /// All clauses, deleted ones too.
    pub fn all(&self) -> impl Iterator<Item = Ref> + '_ {
        let mut next = 0;
        std::iter::from_fn(move || {
            let at = Ref(next as u32);
            (next < self.words.len()).then(|| {
                next += HEADER + self.len(at);
                at
            })
        })
    }
}
