//! Exchanging neighbouring levels in place, as R. Rudell describes it (ICCAD 1993).
//!
//! Every node keeps its number and its meaning, so that handles stay valid. While variables are moved, the field of a node
//! for its level says which variable it is of, and a variable has a hash table of its own nodes, chained through the nodes as
//! in the table for all of them. An exchange then touches only the nodes of the upper variable and those it makes anew. There
//! is a count of who refers to each node; nodes that nobody refers to are gone at once, so that sizes are true. Two variables
//! that no function depends on both of exchange their places in no time.

use super::core::{BOTTOM, Core, Edge, Node, TRUE};
use crate::table::NONE;

/// A node that has to be made anew takes as long as so many that are looked at.
const NODES_FOR_ONE: usize = 4;
/// Looking for the functions that depend on two variables may take as many steps as there are nodes, times this.
const MAX_WALKS: usize = 64;

/// The nodes of one variable, by their children.
struct Variable {
    buckets: Vec<u32>,
    nodes: usize,
}

/// All nodes by their variables. A variable is named by the level that it had before anything was moved.
pub(super) struct Levels<'a> {
    pub core: &'a mut Core,
    variables: Vec<Variable>,
    /// Which variable stands on each level.
    at: Vec<u32>,
    references: Vec<u32>,
    free: Vec<u32>,
    interaction: Option<Interaction>,
    /// The nodes in use.
    pub size: usize,
    /// How many nodes were looked at.
    pub work: u64,
    dependent: Vec<u32>,
    abandoned: Vec<u32>,
}

impl<'a> Levels<'a> {
    /// Of diagrams without garbage.
    pub fn new(core: &'a mut Core) -> Levels<'a> {
        let mut counts = vec![0; core.order.len() * 2];
        let used = |node: &&mut Node| node.level != BOTTOM;
        core.table.nodes.iter_mut().skip(1).filter(used).for_each(|node| counts[node.level as usize] += 1);
        let variable = |count: &usize| Variable { buckets: vec![NONE; count.next_power_of_two()], nodes: *count };
        let mut variables: Vec<Variable> = counts.iter().map(variable).collect();
        let mut references = vec![0u32; core.table.nodes.len()];
        let mut free = Vec::new();
        for (number, node) in core.table.nodes.iter_mut().enumerate().skip(1) {
            if node.level == BOTTOM {
                free.push(number as u32);
                continue;
            }
            let buckets = &mut variables[node.level as usize].buckets;
            let bucket = place(node.lo, node.hi, buckets.len());
            node.next = std::mem::replace(&mut buckets[bucket], number as u32);
            references[(node.lo >> 1) as usize] += 1;
            references[(node.hi >> 1) as usize] += 1;
        }
        let interaction = Interaction::of(core, &references);
        core.kept.iter().for_each(|edge| references[(edge >> 1) as usize] += 1);
        let (at, size) = ((0..counts.len() as u32).collect(), counts.iter().sum());
        let (dependent, abandoned) = (Vec::new(), Vec::new());
        Levels { core, variables, at, references, free, interaction, size, work: 0, dependent, abandoned }
    }

    /// The nodes on a level.
    pub fn nodes_at(&self, level: usize) -> usize {
        self.variables[self.at[level] as usize].nodes
    }

    /// Some function depends on the variables on both levels.
    pub fn interact(&self, level: usize, other: usize) -> bool {
        self.interaction.as_ref().is_none_or(|interaction| interaction.is_between(self.at[level], self.at[other]))
    }

    /// Exchanges the variable on a level with the one below it.
    pub fn exchange(&mut self, level: usize) {
        let (upper, lower) = (self.at[level], self.at[level + 1]);
        if self.interact(level, level + 1) {
            self.exchange_nodes(upper, lower);
        }
        self.at.swap(level, level + 1);
    }

    fn exchange_nodes(&mut self, upper: u32, lower: u32) {
        self.take_dependent(upper, lower);
        let mut dependent = std::mem::take(&mut self.dependent);
        for number in dependent.drain(..) {
            let Node { lo: f0, hi: f1, .. } = self.core.table.nodes[number as usize];
            let ((f00, f01), (f10, f11)) = (self.core.cofactors(f0, lower), self.core.cofactors(f1, lower));
            let lo = self.make(upper, f00, f10);
            let hi = self.make(upper, f01, f11);
            self.refer(lo);
            self.refer(hi);
            self.insert(number, lower, lo, hi);
            self.abandon(f0);
            self.abandon(f1);
        }
        self.dependent = dependent;
    }

    /// Takes the nodes of the upper variable that have a child of the lower one out of their table.
    fn take_dependent(&mut self, upper: u32, lower: u32) {
        let variable = &mut self.variables[upper as usize];
        let nodes = &mut self.core.table.nodes;
        for bucket in &mut variable.buckets {
            let mut number = std::mem::replace(bucket, NONE);
            while number != NONE {
                let node = nodes[number as usize];
                let is_dependent =
                    nodes[(node.lo >> 1) as usize].level == lower || nodes[(node.hi >> 1) as usize].level == lower;
                if is_dependent {
                    self.dependent.push(number);
                } else {
                    nodes[number as usize].next = std::mem::replace(bucket, number);
                }
                number = node.next;
            }
        }
        self.work += (variable.nodes + NODES_FOR_ONE * self.dependent.len()) as u64;
        variable.nodes -= self.dependent.len();
    }

    /// Makes a node one of that variable, with these children, and puts it into its table.
    fn insert(&mut self, number: u32, level: u32, lo: Edge, hi: Edge) {
        let variable = &mut self.variables[level as usize];
        variable.nodes += 1;
        if variable.nodes > 2 * variable.buckets.len() {
            variable.grow(&mut self.core.table.nodes);
        }
        let bucket = place(lo, hi, variable.buckets.len());
        let next = std::mem::replace(&mut variable.buckets[bucket], number);
        self.core.table.nodes[number as usize] = Node { level, lo, hi, next };
    }

    fn make(&mut self, level: u32, lo: Edge, hi: Edge) -> Edge {
        if lo == hi {
            return lo;
        }
        let negated = hi & 1;
        let (lo, hi) = (lo ^ negated, hi ^ negated);
        let buckets = &self.variables[level as usize].buckets;
        let mut known = buckets[place(lo, hi, buckets.len())];
        while known != NONE {
            let node = &self.core.table.nodes[known as usize];
            if node.lo == lo && node.hi == hi {
                return known << 1 | negated;
            }
            known = node.next;
        }
        let number = self.free.pop().unwrap_or_else(|| {
            self.core.table.nodes.push(Node { level, lo, hi, next: NONE });
            self.references.push(0);
            self.core.table.nodes.len() as u32 - 1
        });
        self.references[number as usize] = 0;
        self.insert(number, level, lo, hi);
        self.refer(lo);
        self.refer(hi);
        self.size += 1;
        number << 1 | negated
    }

    fn refer(&mut self, edge: Edge) {
        self.references[(edge >> 1) as usize] += 1;
    }

    /// One reference less; without any a node is gone, and refers to nobody.
    fn abandon(&mut self, edge: Edge) {
        self.abandoned.push(edge >> 1);
        while let Some(number) = self.abandoned.pop() {
            self.references[number as usize] -= 1;
            if number == 0 || self.references[number as usize] > 0 {
                continue;
            }
            let node = self.core.table.nodes[number as usize];
            self.remove(number, &node);
            self.core.table.nodes[number as usize].level = BOTTOM;
            self.free.push(number);
            self.size -= 1;
            self.abandoned.extend([node.lo >> 1, node.hi >> 1]);
        }
    }

    /// Takes a node out of the table of its variable.
    fn remove(&mut self, number: u32, node: &Node) {
        let variable = &mut self.variables[node.level as usize];
        variable.nodes -= 1;
        let bucket = place(node.lo, node.hi, variable.buckets.len());
        if variable.buckets[bucket] == number {
            variable.buckets[bucket] = node.next;
            return;
        }
        let mut before = variable.buckets[bucket];
        while before != NONE {
            let next = self.core.table.nodes[before as usize].next;
            if next == number {
                self.core.table.nodes[before as usize].next = node.next;
                return;
            }
            before = next;
        }
    }

    /// Nodes say their levels again, and those that are not in use nothing.
    pub fn finish(self) {
        let mut level_of = vec![0; self.at.len()];
        self.at.iter().enumerate().for_each(|(level, variable)| level_of[*variable as usize] = level as u32);
        for node in self.core.table.nodes.iter_mut().skip(1) {
            match node.level {
                BOTTOM => *node = Node { level: BOTTOM, lo: TRUE, hi: TRUE, next: NONE },
                variable => node.level = level_of[variable as usize],
            }
        }
    }
}

impl Variable {
    #[cold]
    fn grow(&mut self, nodes: &mut [Node]) {
        let size = self.buckets.len() * 4;
        for mut number in std::mem::replace(&mut self.buckets, vec![NONE; size]) {
            while number != NONE {
                let node = &mut nodes[number as usize];
                let next = node.next;
                node.next = std::mem::replace(&mut self.buckets[place(node.lo, node.hi, size)], number);
                number = next;
            }
        }
    }
}

#[inline]
fn place(lo: Edge, hi: Edge, buckets: usize) -> usize {
    let mixed = (u64::from(lo) << 32 | u64::from(hi)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 32) as usize & (buckets - 1)
}

/// Which variables some function depends on both of.
struct Interaction {
    /// The words of a row, with a bit for each variable.
    words: usize,
    bits: Vec<u64>,
}

impl Interaction {
    /// Of all that handles hold; nothing if finding out would take too long. `references` are those of nodes.
    fn of(core: &Core, references: &[u32]) -> Option<Interaction> {
        let variables = core.order.len() * 2;
        let words = variables.div_ceil(64);
        let mut bits = vec![0; words * variables];
        // What another function refers to depends on no more than that one.
        let mut roots: Vec<u32> = core.kept.iter().map(|edge| edge >> 1).collect();
        roots.sort_unstable();
        roots.dedup();
        roots.retain(|root| *root != 0 && references[*root as usize] == 0);
        let most = core.table.used() * MAX_WALKS;
        let mut visited = 0;
        let mut support = vec![0u64; words];
        for root in roots {
            support.fill(0);
            core.visit([root << 1], |node| {
                visited += 1;
                support[node.level as usize / 64] |= 1 << (node.level % 64);
            });
            if visited > most {
                return None;
            }
            for variable in (0..variables).filter(|variable| support[variable / 64] >> (variable % 64) & 1 == 1) {
                let row = &mut bits[variable * words..(variable + 1) * words];
                row.iter_mut().zip(&support).for_each(|(word, more)| *word |= more);
            }
        }
        Some(Interaction { words, bits })
    }

    fn is_between(&self, one: u32, other: u32) -> bool {
        self.bits[one as usize * self.words + other as usize / 64] >> (other % 64) & 1 == 1
    }
}
