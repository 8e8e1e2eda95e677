//! Formulas as the evaluator wants them: a few operators, and equal subformulas only once.
//!
//! Every CTL operator is written with `EX`, `E[f U g]` and `E[f R g]`: `A[f U g]` is `!E[!f R !g]`, `A[f R g]` is
//! `!E[!f U !g]`, `f W g` is `g R (f | g)` and `f M g` is `g U (f & g)`. What can be decided without a look at a
//! state is folded. `E[f R true]` cannot: in a state from which no path leads on it is as false as `EG true`.

use std::collections::HashMap;

use ample_logic::explain::PathFormula;
use ample_logic::{Atom, Binary, Formula, Unary};
use thiserror::Error;

/// How deep a formula may nest, so that none can exhaust the stack.
const MAX_LEVELS: usize = 1000;

/// How deep temporal operators may nest: each level has a search of its own under way.
const MAX_TEMPORAL: usize = 200;

/// Why a formula cannot be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NotCtl {
    /// A path quantifier or a temporal operator stands alone.
    #[error(
        "the formula is not CTL: a path quantifier (A, E) must stand directly before a temporal operator, \
         and a temporal operator directly behind a path quantifier"
    )]
    Mixed,
    /// It is nested too deeply.
    #[error("the formula nests more than {MAX_TEMPORAL} temporal operators or more than {MAX_LEVELS} operators")]
    TooDeep,
}

/// Names a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Id(u32);

impl Id {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A formula over nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Node {
    Const(bool),
    Atom(u32),
    Not(Id),
    And(Id, Id),
    Or(Id, Id),
    /// Both are true or both are false.
    Same(Id, Id),
    /// `EX f`
    Next(Id),
    /// `E[f U g]`
    Until(Id, Id),
    /// `E[f R g]`
    Release(Id, Id),
}

impl Node {
    fn is_temporal(self) -> bool {
        matches!(self, Node::Next(_) | Node::Until(..) | Node::Release(..))
    }
}

/// All nodes, each once.
#[derive(Default)]
pub(super) struct Nodes {
    nodes: Vec<Node>,
    /// How much work each is: the cheaper operand is looked at first.
    costs: Vec<u32>,
    ids: HashMap<Node, Id>,
}

impl Nodes {
    #[inline]
    pub(super) fn get(&self, id: Id) -> Node {
        self.nodes[id.index()]
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// How many of them need a search.
    pub(super) fn temporal(&self) -> usize {
        self.nodes.iter().filter(|node| node.is_temporal()).count()
    }

    /// The node of a formula.
    pub(super) fn read(&mut self, formula: &Formula) -> Result<Id, NotCtl> {
        self.read_at(formula, 0, 0)
    }

    /// The node of a formula, or of its negation.
    pub(super) fn read_signed(&mut self, formula: &Formula, positive: bool) -> Result<Id, NotCtl> {
        let id = self.read(formula)?;
        Ok(if positive { id } else { self.not(id) })
    }

    fn read_at(&mut self, formula: &Formula, levels: usize, temporal: usize) -> Result<Id, NotCtl> {
        if levels > MAX_LEVELS || temporal > MAX_TEMPORAL {
            return Err(NotCtl::TooDeep);
        }
        match formula {
            Formula::True => Ok(self.constant(true)),
            Formula::False => Ok(self.constant(false)),
            Formula::Atom(Atom(number)) => Ok(self.intern(Node::Atom(*number))),
            Formula::Unary(Unary::Not, f) => {
                let f = self.read_at(f, levels + 1, temporal)?;
                Ok(self.not(f))
            }
            Formula::Unary(Unary::Exists, path) => {
                let path_formula = PathFormula::of(path).ok_or(NotCtl::Mixed)?;
                self.exists(&path_formula, |nodes, f| nodes.read_at(f, levels + 1, temporal + 1))
            }
            Formula::Unary(Unary::All, path) => {
                let path_formula = PathFormula::of(path).ok_or(NotCtl::Mixed)?.dual();
                let counterexample = self.exists(&path_formula, |nodes, f| {
                    let f = nodes.read_at(f, levels + 1, temporal + 1)?;
                    Ok(nodes.not(f))
                })?;
                Ok(self.not(counterexample))
            }
            Formula::Unary(..) => Err(NotCtl::Mixed),
            Formula::Binary(op, ..) if op.is_temporal() => Err(NotCtl::Mixed),
            Formula::Binary(op, f, g) => {
                let f = self.read_at(f, levels + 1, temporal)?;
                let g = self.read_at(g, levels + 1, temporal)?;
                Ok(self.connective(*op, f, g))
            }
        }
    }

    /// There is a path of that form, whose operands are read with `read`.
    fn exists<E>(
        &mut self,
        path_formula: &PathFormula,
        mut read: impl FnMut(&mut Self, &Formula) -> Result<Id, E>,
    ) -> Result<Id, E> {
        Ok(match path_formula {
            PathFormula::Next(f) => {
                let f = read(self, f)?;
                self.next(f)
            }
            PathFormula::Until(f, g) => {
                let (f, g) = (read(self, f)?, read(self, g)?);
                self.until(f, g)
            }
            PathFormula::Release(f, g) => {
                let (f, g) = (read(self, f)?, read(self, g)?);
                self.release(f, g)
            }
        })
    }

    fn connective(&mut self, op: Binary, f: Id, g: Id) -> Id {
        match op {
            Binary::And => self.and(f, g),
            Binary::Implies => {
                let f = self.not(f);
                self.or(f, g)
            }
            Binary::Iff => self.same(f, g),
            Binary::Xor => {
                let same = self.same(f, g);
                self.not(same)
            }
            _ => self.or(f, g),
        }
    }

    fn constant(&mut self, value: bool) -> Id {
        self.intern(Node::Const(value))
    }

    pub(super) fn not(&mut self, f: Id) -> Id {
        match self.get(f) {
            Node::Const(value) => self.constant(!value),
            Node::Not(f) => f,
            _ => self.intern(Node::Not(f)),
        }
    }

    fn and(&mut self, f: Id, g: Id) -> Id {
        match (self.get(f), self.get(g)) {
            (Node::Const(false), _) | (_, Node::Const(true)) => f,
            (Node::Const(true), _) | (_, Node::Const(false)) => g,
            _ if f == g => f,
            _ if self.not(f) == g => self.constant(false),
            _ => {
                let (f, g) = self.cheaper_first(f, g);
                self.intern(Node::And(f, g))
            }
        }
    }

    fn or(&mut self, f: Id, g: Id) -> Id {
        match (self.get(f), self.get(g)) {
            (Node::Const(true), _) | (_, Node::Const(false)) => f,
            (Node::Const(false), _) | (_, Node::Const(true)) => g,
            _ if f == g => f,
            _ if self.not(f) == g => self.constant(true),
            _ => {
                let (f, g) = self.cheaper_first(f, g);
                self.intern(Node::Or(f, g))
            }
        }
    }

    fn same(&mut self, f: Id, g: Id) -> Id {
        match (self.get(f), self.get(g)) {
            (Node::Const(true), _) => g,
            (_, Node::Const(true)) => f,
            (Node::Const(false), _) => self.not(g),
            (_, Node::Const(false)) => self.not(f),
            (Node::Not(f), _) => {
                let same = self.same(f, g);
                self.not(same)
            }
            (_, Node::Not(g)) => {
                let same = self.same(f, g);
                self.not(same)
            }
            _ if f == g => self.constant(true),
            _ => {
                let (f, g) = self.cheaper_first(f, g);
                self.intern(Node::Same(f, g))
            }
        }
    }

    fn next(&mut self, f: Id) -> Id {
        match self.get(f) {
            Node::Const(false) => f,
            _ => self.intern(Node::Next(f)),
        }
    }

    pub(super) fn until(&mut self, f: Id, g: Id) -> Id {
        match (self.get(f), self.get(g)) {
            (Node::Const(false), _) | (_, Node::Const(_)) => g,
            _ if f == g => g,
            _ => self.intern(Node::Until(f, g)),
        }
    }

    pub(super) fn release(&mut self, f: Id, g: Id) -> Id {
        match (self.get(f), self.get(g)) {
            (Node::Const(true), _) | (_, Node::Const(false)) => g,
            _ if f == g => g,
            _ => self.intern(Node::Release(f, g)),
        }
    }

    fn cheaper_first(&self, f: Id, g: Id) -> (Id, Id) {
        if self.is_cheaper(f, g) { (f, g) } else { (g, f) }
    }

    /// It takes a look at a state and at those that follow it within a few steps to evaluate it.
    pub(super) fn is_local(&self, formula: Id) -> bool {
        match self.get(formula) {
            Node::Const(_) | Node::Atom(_) => true,
            Node::Not(f) | Node::Next(f) => self.is_local(f),
            Node::And(f, g) | Node::Or(f, g) | Node::Same(f, g) => self.is_local(f) && self.is_local(g),
            Node::Until(..) | Node::Release(..) => false,
        }
    }

    /// Is `f` looked at before `g`?
    pub(super) fn is_cheaper(&self, f: Id, g: Id) -> bool {
        let rank = |id: Id| (self.costs[id.index()], id);
        rank(f) <= rank(g)
    }

    fn intern(&mut self, node: Node) -> Id {
        if let Some(&id) = self.ids.get(&node) {
            return id;
        }
        let cost = |id: Id| self.costs[id.index()];
        let cost = match node {
            Node::Const(_) | Node::Atom(_) => 1,
            Node::Not(f) => cost(f),
            Node::And(f, g) | Node::Or(f, g) | Node::Same(f, g) => cost(f).saturating_add(cost(g)),
            Node::Next(f) => cost(f).saturating_add(SEARCH),
            Node::Until(f, g) | Node::Release(f, g) => cost(f).saturating_add(cost(g)).saturating_add(SEARCH),
        };
        let id = Id(self.nodes.len() as u32);
        self.nodes.push(node);
        self.costs.push(cost);
        self.ids.insert(node, id);
        id
    }
}

/// What a search costs in the evaluations of atoms.
const SEARCH: u32 = 1 << 20;

#[cfg(test)]
mod tests {
    use ample_logic::{Atoms, Dialect, parse};

    use super::*;

    fn read(text: &str) -> (Nodes, Result<Id, NotCtl>) {
        let mut nodes = Nodes::default();
        let formula = parse(text, Dialect::Plain, &mut Atoms::from_iter(["p", "q"])).unwrap();
        let id = nodes.read(&formula);
        (nodes, id)
    }

    #[test]
    fn equal_formulas_are_one_node() {
        let pairs = [
            ("A(p U q)", "!E(!p R !q)"),
            ("A F p", "!E G !p"),
            ("A G p", "!E F !p"),
            ("A X p", "!E X !p"),
            ("E(p W q)", "E(q R (p | q))"),
            ("E(p M q)", "E(q U (q & p))"),
            ("A(p W q)", "!E(!q U !(p | q))"),
            ("p -> q", "!p | q"),
            ("p xor q", "!(q <-> p)"),
            ("!p <-> q", "p xor q"),
            ("E F 0 | p", "p"),
            ("A(0 U p)", "p"),
            ("E(1 R p)", "p"),
            ("p & !p", "0"),
            ("E F (p & !!p)", "E F p"),
        ];
        for (left, right) in pairs {
            let (mut nodes, left_id) = read(left);
            let formula = parse(right, Dialect::Plain, &mut Atoms::from_iter(["p", "q"])).unwrap();
            assert_eq!(left_id, nodes.read(&formula), "{left} and {right}");
        }
    }

    #[test]
    fn only_ctl_is_read() {
        for text in ["F p", "A F G p", "A p", "E(p & F q)", "p U q", "A G (p -> F q)"] {
            assert_eq!(read(text).1, Err(NotCtl::Mixed), "{text}");
        }
        let nested = |times: usize| read(&format!("{}p", "E X ".repeat(times))).1;
        assert!(nested(MAX_TEMPORAL).is_ok());
        assert_eq!(nested(MAX_TEMPORAL + 1), Err(NotCtl::TooDeep));
        let mut deep = Formula::True;
        (0..=MAX_LEVELS).for_each(|_| deep = !std::mem::replace(&mut deep, Formula::True));
        assert_eq!(Nodes::default().read(&deep), Err(NotCtl::TooDeep));
    }
}
