//! Moving variables: Rudell's sifting, pair by pair.
//!
//! Every pair is taken to all places, one exchange of neighbours after the other, and left where the diagrams were smallest.
//! A direction is given up when the diagrams have grown too much, or when even without any node of the pairs still to pass
//! they would not get smaller than they were.

use super::Maybe;
use super::core::{BOTTOM, Core};
use super::levels::Levels;

/// How much larger the diagrams may get while a pair is on its way, in percent.
const MAX_GROWTH: usize = 120;
/// They may always get larger by so many nodes.
const FREE_GROWTH: usize = 1_000;

/// So many pairs are moved before it is asked whether it was worth it.
const BATCH: usize = 16;
/// The diagrams have to get smaller by this part of their size for each batch, in percent: else the rest is left as it is.
const MIN_GAIN: usize = 1;

impl Core {
    pub fn sift(&mut self) -> Maybe<()> {
        self.collect();
        let mut sifting = Sifting { levels: Levels::new(self) };
        let result = sifting.all();
        let work = sifting.levels.work;
        sifting.levels.finish();
        self.sifted += work;
        self.after_sifting();
        result
    }

    fn after_sifting(&mut self) {
        self.order_changed();
        let is_used: Vec<bool> =
            self.table.nodes.iter().enumerate().map(|(number, node)| number == 0 || node.level != BOTTOM).collect();
        self.table.collect(&is_used);
        self.table.cache.clear();
        self.reorderings += 1;
    }
}

struct Sifting<'a> {
    levels: Levels<'a>,
}

impl Sifting<'_> {
    fn all(&mut self) -> Maybe<()> {
        let mut pairs: Vec<(usize, u32)> =
            self.order().iter().enumerate().map(|(position, pair)| (self.nodes_at(position), *pair)).collect();
        pairs.sort_unstable_by(|x, y| y.cmp(x));
        pairs.retain(|(nodes, _)| *nodes > 0);
        for batch in pairs.chunks(BATCH) {
            let before = self.levels.size;
            for (_, pair) in batch {
                let from = self.order().iter().position(|p| p == pair).unwrap_or(0);
                self.place(from)?;
            }
            // The pairs with the most nodes come first, and what they do not gain, the others will not.
            if (before - self.levels.size.min(before)) * 100 < before * MIN_GAIN {
                break;
            }
        }
        Ok(())
    }

    fn order(&self) -> &[u32] {
        &self.levels.core.order
    }

    /// The nodes of the pair at a position.
    fn nodes_at(&self, position: usize) -> usize {
        self.levels.nodes_at(position * 2) + self.levels.nodes_at(position * 2 + 1)
    }

    /// Takes the pair at that position for a walk and leaves it at the best place.
    fn place(&mut self, from: usize) -> Maybe<()> {
        let last = self.order().len() - 1;
        let (mut best, mut best_size) = (from, self.levels.size);
        let mut at = from;
        let ends = if from * 2 < last { [0, last] } else { [last, 0] };
        for end in ends {
            let mut ahead: usize = (at.min(end)..=at.max(end)).map(|other| self.may_vanish(at, other)).sum();
            while at != end && self.levels.size < best_size + ahead + self.nodes_at(at) {
                self.levels.core.table.look_now()?;
                ahead -= self.may_vanish(at, towards(at, end));
                at = self.step(at, end);
                if self.levels.size < best_size {
                    (best, best_size) = (at, self.levels.size);
                }
                if self.levels.size * 100 > best_size * MAX_GROWTH + FREE_GROWTH * 100 {
                    break;
                }
            }
            while at != from && end != ends[1] {
                at = self.step(at, from);
            }
        }
        while at != best {
            at = self.step(at, best);
        }
        Ok(())
    }

    /// How many nodes of another pair may be gone when this one has passed it.
    fn may_vanish(&self, position: usize, other: usize) -> usize {
        let interact = |this: usize, that: usize| self.levels.interact(position * 2 + this, other * 2 + that);
        let is_touched = position != other && [(0, 0), (0, 1), (1, 0), (1, 1)].iter().any(|(x, y)| interact(*x, *y));
        if is_touched { self.nodes_at(other) } else { 0 }
    }

    /// One position towards there.
    fn step(&mut self, at: usize, to: usize) -> usize {
        let upper = at.min(towards(at, to));
        for level in [upper * 2 + 1, upper * 2, upper * 2 + 2, upper * 2 + 1] {
            self.levels.exchange(level);
        }
        self.levels.core.order.swap(upper, upper + 1);
        towards(at, to)
    }
}

/// The next position on the way there.
fn towards(at: usize, to: usize) -> usize {
    if to > at { at + 1 } else { at - 1 }
}
