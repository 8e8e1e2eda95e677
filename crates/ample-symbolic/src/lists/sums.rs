//! Linear conditions on markings, and the largest values of sums.
//!
//! `Σ factor · tokens ≤ most` goes down with what is left of the right side. Before that, every node gets the smallest
//! and the largest value that the rest of the sum has below it; where these decide, the walk ends, so that most nodes
//! are met with one or two values only.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::sets::{ByNode, Mix};
use super::table::{EMPTY, END, Id, Table};
use super::{Diagrams, Maybe, Set, SetError};

/// A sum over levels, and what is known of it below nodes.
struct Sum {
    /// Factors by level, up to the last one that is not zero.
    factors: Vec<i64>,
    /// The smallest and the largest value from a node on.
    ranges: ByNode<(i128, i128)>,
    /// What is left of a node with so much left on the right side.
    known: HashMap<(Id, i128), Id, BuildHasherDefault<Mix>>,
}

impl Diagrams {
    /// The markings with `Σ factor · tokens ≤ most`.
    pub fn at_most(&mut self, set: &Set, terms: &[(u32, i64)], most: i64) -> Maybe<Set> {
        let factors = self.factors(terms)?;
        let set = self.own(set)?;
        self.perform(|table| {
            let mut sum = Sum::new(factors.clone());
            sum.at_most(table, set, 0, i128::from(most))
        })
    }

    /// The largest value of `Σ factor · tokens`; `None` if the set is empty.
    pub fn max_sum(&mut self, set: &Set, terms: &[(u32, i64)]) -> Maybe<Option<i128>> {
        let factors = self.factors(terms)?;
        let set = self.own(set)?;
        self.table.enter()?;
        if set == EMPTY {
            return Ok(None);
        }
        Ok(Some(Sum::new(factors).range(&mut self.table, set, 0)?.1))
    }

    /// The most tokens that a place has in a marking of the set; 0 if it is empty.
    pub fn max_tokens(&mut self, set: &Set) -> Maybe<u32> {
        let set = self.own(set)?;
        self.table.enter()?;
        let nodes = self.table.nodes_of(set)?;
        Ok(nodes.iter().map(|id| self.table.node(*id).value).max().unwrap_or(0))
    }

    /// The most tokens that each place has in a marking of the set, in the net's order.
    pub fn bounds(&mut self, set: &Set) -> Maybe<Vec<u32>> {
        let set = self.own(set)?;
        self.table.enter()?;
        let mut bounds = vec![0; self.order.len()];
        let mut lists: Vec<Id> = vec![set];
        for place in &self.order {
            let mut next = Vec::new();
            for list in lists {
                let mut at = list;
                while at > END {
                    self.table.look()?;
                    let node = self.table.node(at);
                    bounds[*place as usize] = bounds[*place as usize].max(node.value);
                    next.push(node.down);
                    at = node.right;
                }
            }
            next.sort_unstable();
            next.dedup();
            lists = next;
        }
        Ok(bounds)
    }

    fn factors(&self, terms: &[(u32, i64)]) -> Maybe<Vec<i64>> {
        let mut factors: Vec<i64> = vec![0; self.order.len()];
        for (place, factor) in terms {
            let level = *self.level_of.get(*place as usize).ok_or(SetError::Foreign)?;
            let entry = &mut factors[level as usize];
            *entry = entry.checked_add(*factor).ok_or(SetError::Overflow)?;
        }
        let end = factors.iter().rposition(|factor| *factor != 0).map_or(0, |last| last + 1);
        factors.truncate(end);
        Ok(factors)
    }
}

impl Sum {
    fn new(factors: Vec<i64>) -> Sum {
        Sum { factors, ranges: ByNode::default(), known: HashMap::default() }
    }

    /// The smallest and the largest value of the rest of the sum; the set is not empty.
    fn range(&mut self, table: &mut Table, set: Id, level: usize) -> Maybe<(i128, i128)> {
        let Some(factor) = self.factors.get(level).copied() else { return Ok((0, 0)) };
        if let Some(known) = self.ranges.get(&set) {
            return Ok(*known);
        }
        table.descend()?;
        let mut range = (i128::MAX, i128::MIN);
        let mut at = set;
        while at > END {
            table.look()?;
            let node = table.node(at);
            let here = i128::from(factor) * i128::from(node.value);
            let below = self.range(table, node.down, level + 1)?;
            range = (range.0.min(here + below.0), range.1.max(here + below.1));
            at = node.right;
        }
        self.ranges.insert(set, range);
        Ok(range)
    }

    fn at_most(&mut self, table: &mut Table, set: Id, level: usize, most: i128) -> Maybe<Id> {
        if set == EMPTY {
            return Ok(EMPTY);
        }
        let (least, largest) = self.range(table, set, level)?;
        if largest <= most {
            return Ok(set);
        }
        if least > most {
            return Ok(EMPTY);
        }
        if let Some(known) = self.known.get(&(set, most)) {
            return Ok(*known);
        }
        table.descend()?;
        let base = table.lists.len();
        let mut at = set;
        while at > END {
            table.look()?;
            let node = table.node(at);
            let here = i128::from(self.factors[level]) * i128::from(node.value);
            let down = self.at_most(table, node.down, level + 1, most - here)?;
            table.push(node.value, down, EMPTY, EMPTY)?;
            at = node.right;
        }
        let result = table.build(base, EMPTY)?;
        self.known.insert((set, most), result);
        Ok(result)
    }
}
