//! An and-inverter graph: formulas over numbered bits, built of conjunction and negation alone.
//!
//! Equal nodes are made once, and a conjunction is simplified by what its operands show one level
//! down. Nodes stand in topological order: an operand has a smaller number than what it is part of.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use ample_model::{Budget, Interrupted};

/// A literal: the number of a node times two, plus one if it is negated.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Lit(pub u32);

impl Lit {
    /// The constant false.
    pub const FALSE: Lit = Lit(0);
    /// The constant true.
    pub const TRUE: Lit = Lit(1);

    /// The number of its node.
    #[inline]
    pub fn index(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// It is the negation of its node.
    #[inline]
    pub fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }

    /// True or false.
    #[inline]
    pub fn is_constant(self) -> bool {
        self.0 <= 1
    }
}

impl std::ops::Not for Lit {
    type Output = Lit;

    #[inline]
    fn not(self) -> Lit {
        Lit(self.0 ^ 1)
    }
}

impl From<bool> for Lit {
    fn from(value: bool) -> Lit {
        if value { Lit::TRUE } else { Lit::FALSE }
    }
}

/// What a node is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Node {
    /// The constant false.
    Constant,
    /// A bit of the state.
    Input(u32),
    /// The conjunction of two literals.
    And(Lit, Lit),
}

/// Marks an input in the table of nodes; no literal is as large.
const INPUT: Lit = Lit(u32::MAX);

/// Up to how many bits of support a formula is tried out in full.
const TRIED: usize = 12;

/// How large a formula may be to be tried out.
const TRIED_NODES: usize = 50_000;

/// An and-inverter graph with shared nodes.
///
/// ```
/// use ample_boolean::{Dag, Lit};
///
/// let mut dag = Dag::new();
/// let (x, y) = (dag.input(0), dag.input(1));
/// let both = dag.and(x, y);
/// assert_eq!(dag.and(y, x), both);
/// assert_eq!(dag.and(both, !x), Lit::FALSE);
/// assert!(dag.evaluate(both, &|_| true));
/// ```
#[derive(Clone, Debug)]
pub struct Dag {
    nodes: Vec<(Lit, Lit)>,
    inputs: HashMap<u32, Lit>,
    known: HashMap<(Lit, Lit), Lit, BuildHasherDefault<PairHasher>>,
    budget: Budget,
    /// New nodes until the budget is asked.
    countdown: u32,
    /// The budget was exhausted: nothing is added any more, and the formulas mean nothing.
    interrupted: Option<Interrupted>,
}

/// How often the budget is asked.
const CHECK_EVERY: u32 = 4096;
/// Bytes of a node in the tables.
const NODE_BYTES: u64 = 24;

impl Default for Dag {
    fn default() -> Dag {
        Dag::new()
    }
}

impl Dag {
    /// The graph that has only the constants.
    pub fn new() -> Dag {
        Dag::within(&Budget::unlimited())
    }

    /// The graph that has only the constants, and that ends to grow when the budget is exhausted. Its formulas mean
    /// nothing after that; see [`interrupted`](Self::interrupted).
    pub fn within(budget: &Budget) -> Dag {
        Dag {
            nodes: vec![(Lit::FALSE, Lit::FALSE)],
            inputs: HashMap::new(),
            known: HashMap::default(),
            budget: budget.clone(),
            countdown: CHECK_EVERY,
            interrupted: None,
        }
    }

    /// Why the graph has ended to grow, if it has.
    pub fn interrupted(&self) -> Option<Interrupted> {
        self.interrupted
    }

    /// From now on the graph grows within that budget. What was made before keeps its meaning, except for formulas that
    /// were being made when the last one was exhausted.
    pub fn set_budget(&mut self, budget: &Budget) {
        self.budget = budget.clone();
        self.interrupted = None;
    }

    /// Asks the budget, which has to allow for tables of twice the size where they are full.
    #[cold]
    fn check(&mut self) {
        self.countdown = CHECK_EVERY;
        let is_full = self.known.len() + CHECK_EVERY as usize >= self.known.capacity();
        let bytes = if is_full { 2 * NODE_BYTES * self.known.capacity() as u64 } else { 0 };
        self.interrupted = self.budget.check_allocation(bytes).err();
    }

    /// What the literal's node is (whether it is negated is not looked at).
    #[inline]
    pub fn node(&self, lit: Lit) -> Node {
        match self.nodes[lit.index()] {
            _ if lit.index() == 0 => Node::Constant,
            (INPUT, bit) => Node::Input(bit.0),
            (a, b) => Node::And(a, b),
        }
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// There is nothing but the constants.
    pub fn is_empty(&self) -> bool {
        self.nodes.len() == 1
    }

    fn push(&mut self, a: Lit, b: Lit) -> Lit {
        self.nodes.push((a, b));
        Lit(((self.nodes.len() - 1) as u32) << 1)
    }

    /// That bit of the state.
    pub fn input(&mut self, bit: u32) -> Lit {
        if let Some(lit) = self.inputs.get(&bit) {
            return *lit;
        }
        let lit = self.push(INPUT, Lit(bit));
        self.inputs.insert(bit, lit);
        lit
    }

    /// That bit of the state, if a formula speaks of it.
    pub fn find_input(&self, bit: u32) -> Option<Lit> {
        self.inputs.get(&bit).copied()
    }

    /// All bits that the graph has.
    pub fn all_inputs(&self) -> impl Iterator<Item = u32> + '_ {
        self.inputs.keys().copied()
    }

    /// The conjuncts of a formula: it holds where all of them do, and none of them is a conjunction.
    pub fn conjuncts(&self, lit: Lit) -> Vec<Lit> {
        let mut seen: HashSet<Lit> = HashSet::from([lit]);
        let mut open = vec![lit];
        let mut conjuncts = Vec::new();
        while let Some(lit) = open.pop() {
            match self.node(lit) {
                Node::And(x, y) if !lit.is_negated() => {
                    open.extend([x, y].into_iter().filter(|part| seen.insert(*part)))
                }
                _ => conjuncts.push(lit),
            }
        }
        conjuncts
    }

    /// `a ∧ b`
    pub fn and(&mut self, a: Lit, b: Lit) -> Lit {
        let (a, b) = if a <= b { (a, b) } else { (b, a) };
        if a == Lit::FALSE || a == !b {
            return Lit::FALSE;
        }
        if a == Lit::TRUE || a == b {
            return b;
        }
        if let Some(simpler) = self.absorbed(a, b).or_else(|| self.absorbed(b, a)) {
            return simpler;
        }
        if let Some(lit) = self.known.get(&(a, b)) {
            return *lit;
        }
        self.countdown -= 1;
        if self.countdown == 0 {
            self.check();
        }
        if self.interrupted.is_some() {
            self.countdown = CHECK_EVERY;
            return Lit::FALSE;
        }
        let lit = self.push(a, b);
        self.known.insert((a, b), lit);
        lit
    }

    /// `a ∧ b` where `b` is a conjunction that says something about `a`, or its negation.
    fn absorbed(&mut self, a: Lit, b: Lit) -> Option<Lit> {
        let Node::And(x, y) = self.node(b) else { return None };
        if !b.is_negated() {
            if a == x || a == y {
                return Some(b);
            }
            if a == !x || a == !y {
                return Some(Lit::FALSE);
            }
            return self.clash(a, b);
        }
        if a == !x || a == !y {
            return Some(a);
        }
        if a == x {
            return Some(self.and(a, !y));
        }
        if a == y {
            return Some(self.and(a, !x));
        }
        None
    }

    /// Two conjunctions with opposite operands.
    fn clash(&self, a: Lit, b: Lit) -> Option<Lit> {
        let (Node::And(x, y), Node::And(u, v)) = (self.node(a), self.node(b)) else { return None };
        if a.is_negated() {
            return (u == !x || v == !x || u == !y || v == !y).then_some(b);
        }
        (x == !u || x == !v || y == !u || y == !v).then_some(Lit::FALSE)
    }

    /// `a ∨ b`
    pub fn or(&mut self, a: Lit, b: Lit) -> Lit {
        !self.and(!a, !b)
    }

    /// `a ≠ b`
    pub fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        if a.is_constant() {
            return if a == Lit::TRUE { !b } else { b };
        }
        if b.is_constant() {
            return if b == Lit::TRUE { !a } else { a };
        }
        let (one, other) = (self.and(a, !b), self.and(!a, b));
        self.or(one, other)
    }

    /// `a = b`
    pub fn iff(&mut self, a: Lit, b: Lit) -> Lit {
        !self.xor(a, b)
    }

    /// `a → b`
    pub fn implies(&mut self, a: Lit, b: Lit) -> Lit {
        !self.and(a, !b)
    }

    /// `then` if the condition holds, else `otherwise`.
    pub fn ite(&mut self, condition: Lit, then: Lit, otherwise: Lit) -> Lit {
        if condition.is_constant() {
            return if condition == Lit::TRUE { then } else { otherwise };
        }
        if then == otherwise {
            return then;
        }
        if then == !otherwise {
            return self.iff(condition, then);
        }
        let (one, other) = (self.and(condition, then), self.and(!condition, otherwise));
        self.or(one, other)
    }

    /// The conjunction of all, as a balanced tree.
    pub fn all(&mut self, lits: &[Lit]) -> Lit {
        match lits {
            [] => Lit::TRUE,
            [lit] => *lit,
            _ => {
                let (left, right) = lits.split_at(lits.len() / 2);
                let (left, right) = (self.all(left), self.all(right));
                self.and(left, right)
            }
        }
    }

    /// The disjunction of all, as a balanced tree.
    pub fn any(&mut self, lits: &[Lit]) -> Lit {
        match lits {
            [] => Lit::FALSE,
            [lit] => *lit,
            _ => {
                let (left, right) = lits.split_at(lits.len() / 2);
                let (left, right) = (self.any(left), self.any(right));
                self.or(left, right)
            }
        }
    }

    /// The nodes that a literal is made of, operands first; `None` if there are more than so many.
    fn cone(&self, lit: Lit, most: usize) -> Option<Vec<usize>> {
        self.cone_of([lit], most)
    }

    /// The same for several formulas together.
    fn cone_of(&self, lits: impl IntoIterator<Item = Lit>, most: usize) -> Option<Vec<usize>> {
        let mut seen: HashSet<u32, BuildHasherDefault<PairHasher>> = HashSet::default();
        let mut open: Vec<Lit> = lits.into_iter().filter(|lit| seen.insert(lit.0 >> 1)).collect();
        while let Some(lit) = open.pop() {
            if seen.len() > most {
                return None;
            }
            if let Node::And(a, b) = self.node(lit) {
                open.extend([a, b].into_iter().filter(|operand| seen.insert(operand.0 >> 1)));
            }
        }
        let mut cone: Vec<usize> = seen.into_iter().map(|index| index as usize).collect();
        cone.sort_unstable();
        Some(cone)
    }

    /// The bits that the formula speaks of, sorted.
    pub fn support(&self, lit: Lit) -> Vec<u32> {
        self.support_of([lit])
    }

    /// The bits that any of these formulas speaks of, sorted. What they share is looked at once.
    pub fn support_of(&self, lits: impl IntoIterator<Item = Lit>) -> Vec<u32> {
        let cone = self.cone_of(lits, usize::MAX).unwrap_or_default();
        let bits = cone.into_iter().filter_map(|index| match self.node(Lit((index as u32) << 1)) {
            Node::Input(bit) => Some(bit),
            _ => None,
        });
        let mut bits: Vec<u32> = bits.collect();
        bits.sort_unstable();
        bits
    }

    /// Its value where the bits have these values.
    pub fn evaluate(&self, lit: Lit, bit: &dyn Fn(u32) -> bool) -> bool {
        let Some(cone) = self.cone(lit, usize::MAX) else { return false };
        let mut values: HashMap<usize, bool> = HashMap::with_capacity(cone.len());
        for index in cone {
            let of = |lit: Lit| values.get(&lit.index()).copied().unwrap_or(false) != lit.is_negated();
            let value = match self.node(Lit((index as u32) << 1)) {
                Node::Constant => false,
                Node::Input(number) => bit(number),
                Node::And(a, b) => of(a) && of(b),
            };
            values.insert(index, value);
        }
        values.get(&lit.index()).copied().unwrap_or(false) != lit.is_negated()
    }

    /// The values of all nodes at once, for many questions about one state: see [`Values::of`].
    pub fn values(&self, bit: &dyn Fn(u32) -> bool) -> Values {
        let mut values = Values(vec![false; self.nodes.len()]);
        for index in 1..self.nodes.len() {
            values.0[index] = match self.node(Lit((index as u32) << 1)) {
                Node::Constant => false,
                Node::Input(number) => bit(number),
                Node::And(a, b) => values.of(a) && values.of(b),
            };
        }
        values
    }

    /// The values of all nodes where some bits are unknown, in three-valued logic: a value that is known does not depend on
    /// the bits that are not.
    ///
    /// ```
    /// use ample_boolean::Dag;
    ///
    /// let mut dag = Dag::new();
    /// let (x, y) = (dag.input(0), dag.input(1));
    /// let both = dag.and(x, y);
    /// let values = dag.ternary(&|bit| (bit == 0).then_some(false));
    /// assert_eq!((values.of(both), values.of(y)), (Some(false), None));
    /// ```
    pub fn ternary(&self, bit: &dyn Fn(u32) -> Option<bool>) -> TernaryValues {
        let mut values = TernaryValues(vec![Some(false); self.nodes.len()]);
        for index in 1..self.nodes.len() {
            values.0[index] = match self.node(Lit((index as u32) << 1)) {
                Node::Constant => Some(false),
                Node::Input(number) => bit(number),
                Node::And(a, b) => match (values.of(a), values.of(b)) {
                    (Some(false), _) | (_, Some(false)) => Some(false),
                    (Some(true), other) | (other, Some(true)) => other,
                    (None, None) => None,
                },
            };
        }
        values
    }

    /// The formula is false whatever the bits are, and small enough for that to be seen by trying.
    pub fn is_plainly_false(&self, lit: Lit) -> bool {
        if lit.is_constant() {
            return lit == Lit::FALSE;
        }
        let Some(cone) = self.cone(lit, TRIED_NODES) else { return false };
        let is_input = |index: &&usize| matches!(self.node(Lit((**index as u32) << 1)), Node::Input(_));
        let inputs = cone.iter().filter(is_input).count();
        if inputs > TRIED {
            return false;
        }
        let positions: HashMap<usize, u32> = cone.iter().copied().zip(0..).collect();
        let here = |lit: Lit| Lit(positions[&lit.index()] << 1 | u32::from(lit.is_negated()));
        let mut next_input = 0..;
        let small = cone.iter().map(|index| match self.node(Lit((*index as u32) << 1)) {
            Node::Constant => Node::Constant,
            Node::Input(_) => Node::Input(next_input.next().unwrap_or(0)),
            Node::And(a, b) => Node::And(here(a), here(b)),
        });
        let small: Vec<Node> = small.collect();
        let mut values = vec![0; small.len()];
        let rounds = (1u64 << inputs).div_ceil(64);
        (0..rounds).all(|round| try_out(&small, round, &mut values, here(lit)) == 0)
    }
}

/// A formula for 64 valuations of its bits at once; its nodes are numbered from 0, operands first.
fn try_out(nodes: &[Node], round: u64, values: &mut [u64], lit: Lit) -> u64 {
    const LOW: [u64; 6] = [
        0xaaaa_aaaa_aaaa_aaaa,
        0xcccc_cccc_cccc_cccc,
        0xf0f0_f0f0_f0f0_f0f0,
        0xff00_ff00_ff00_ff00,
        0xffff_0000_ffff_0000,
        0xffff_ffff_0000_0000,
    ];
    let of = |values: &[u64], lit: Lit| if lit.is_negated() { !values[lit.index()] } else { values[lit.index()] };
    for (index, node) in nodes.iter().enumerate() {
        values[index] = match node {
            Node::Constant => 0,
            Node::Input(bit) => match LOW.get(*bit as usize) {
                Some(pattern) => *pattern,
                None if round >> (*bit as usize - LOW.len()) & 1 == 1 => u64::MAX,
                None => 0,
            },
            Node::And(a, b) => of(values, *a) & of(values, *b),
        };
    }
    of(values, lit)
}

/// The values of all nodes of a graph.
#[derive(Clone, Debug)]
pub struct Values(Vec<bool>);

impl Values {
    /// The value of a literal.
    pub fn of(&self, lit: Lit) -> bool {
        self.0[lit.index()] != lit.is_negated()
    }
}

/// The values of all nodes of a graph, as far as they are known.
#[derive(Clone, Debug)]
pub struct TernaryValues(Vec<Option<bool>>);

impl TernaryValues {
    /// The value of a literal.
    pub fn of(&self, lit: Lit) -> Option<bool> {
        self.0[lit.index()].map(|value| value != lit.is_negated())
    }
}

/// A hash of two literals: cheap, since the table is asked at every conjunction.
#[derive(Default)]
pub(crate) struct PairHasher(u64);

impl Hasher for PairHasher {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u32(u32::from(*byte));
        }
    }

    fn write_u32(&mut self, value: u32) {
        self.0 = (self.0.rotate_left(23) ^ u64::from(value)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conjunctions_are_simplified_and_shared() {
        let mut dag = Dag::new();
        let (x, y, z) = (dag.input(0), dag.input(1), dag.input(7));
        let both = dag.and(x, y);
        assert_eq!(dag.and(y, x), both);
        assert_eq!(dag.and(x, both), both);
        assert_eq!(dag.and(!x, both), Lit::FALSE);
        assert_eq!(dag.and(!x, !both), !x);
        let rest = dag.and(x, !y);
        assert_eq!(dag.and(x, !both), rest);
        assert_eq!(dag.and(rest, both), Lit::FALSE);
        assert_eq!(dag.and(rest, !both), rest);
        assert_eq!(dag.xor(x, x), Lit::FALSE);
        assert_eq!(dag.ite(x, y, y), y);
        let mixed = dag.ite(x, both, z);
        assert_eq!(dag.support(mixed), [0, 1, 7]);
    }

    /// Every operator against its truth table, and trying out against the values.
    #[test]
    fn operators_have_their_truth_tables() {
        let mut dag = Dag::new();
        let inputs = [0, 1, 2].map(|bit| dag.input(bit));
        let [a, b, c] = inputs;
        type Table = fn(bool, bool, bool) -> bool;
        let cases: Vec<(Lit, Table)> = vec![
            (dag.and(a, b), |a, b, _| a && b),
            (dag.or(a, b), |a, b, _| a || b),
            (dag.xor(a, b), |a, b, _| a != b),
            (dag.iff(a, b), |a, b, _| a == b),
            (dag.implies(a, b), |a, b, _| !a || b),
            (dag.ite(a, b, c), |a, b, c| if a { b } else { c }),
            (dag.all(&inputs), |a, b, c| a && b && c),
            (dag.any(&inputs), |a, b, c| a || b || c),
        ];
        for (number, (lit, table)) in cases.iter().enumerate() {
            for state in 0..8u32 {
                let bit = |number: u32| state >> number & 1 == 1;
                let expected = table(bit(0), bit(1), bit(2));
                assert_eq!(dag.evaluate(*lit, &bit), expected, "case {number}, state {state}");
                assert_eq!(dag.values(&bit).of(*lit), expected, "case {number}, state {state}");
            }
            assert!(!dag.is_plainly_false(*lit) && !dag.is_plainly_false(!*lit));
        }
    }

    #[test]
    fn what_is_false_for_deeper_reasons_is_seen_by_trying() {
        let mut dag = Dag::new();
        let bits: Vec<Lit> = (0..10).map(|bit| dag.input(bit)).collect();
        let forwards = bits.iter().fold(Lit::FALSE, |sum, bit| dag.xor(sum, *bit));
        let backwards = bits.iter().rev().fold(Lit::FALSE, |sum, bit| dag.xor(sum, *bit));
        let differ = dag.xor(forwards, backwards);
        assert!(!differ.is_constant());
        assert!(dag.is_plainly_false(differ));
        assert!(!dag.is_plainly_false(!differ));
    }
}
