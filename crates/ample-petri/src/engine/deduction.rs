//! Which answers follow from the tasks that are decided, kept up to date as decisions come in.
//!
//! Every answer is a tree of conjunctions, disjunctions and negations over tasks. Each node counts its parts that are
//! still open, so that a decision costs only the path from its leaves upwards: a property that is a conjunction of
//! thousands of tasks is not evaluated anew for each of them.

use super::tasks::{Answerable, Wanted};

/// The trees of all answers, as far as they are decided.
pub struct Deduction {
    nodes: Vec<Node>,
    /// By task: its leaves.
    leaves: Vec<Vec<u32>>,
    /// By answer: it follows.
    is_known: Vec<bool>,
    open: usize,
}

struct Node {
    up: Up,
    kind: Kind,
    /// Parts without a value.
    open: u32,
    is_known: bool,
}

/// What takes the value of a node.
#[derive(Clone, Copy)]
enum Up {
    Node(u32),
    Answer(usize),
}

#[derive(Clone, Copy)]
enum Kind {
    Leaf,
    Not,
    /// One part with this value decides; otherwise it is the opposite when all are known.
    Gate(bool),
}

impl Deduction {
    /// Nothing is decided.
    pub fn new(tasks: usize, answers: &[Answerable]) -> Deduction {
        let is_known = vec![false; answers.len()];
        let mut all = Deduction { nodes: vec![], leaves: vec![vec![]; tasks], is_known, open: answers.len() };
        for (number, answer) in answers.iter().enumerate() {
            match answer {
                Answerable::Truth(wanted) => all.add(wanted, Up::Answer(number)),
                Answerable::Value(task) => all.leaf(*task, Up::Answer(number)),
                Answerable::Not(_) | Answerable::Ended(_) => all.answered(number),
            }
        }
        all
    }

    /// All answers follow.
    pub fn is_complete(&self) -> bool {
        self.open == 0
    }

    /// The answer of that number follows.
    pub fn is_known(&self, answer: usize) -> bool {
        self.is_known[answer]
    }

    /// The task is decided, for the first time. One that asks for a number has any value then.
    pub fn decide(&mut self, task: usize, value: bool) {
        for leaf in std::mem::take(&mut self.leaves[task]) {
            self.set(leaf, value);
        }
    }

    /// The answer of that number is not asked for any more.
    pub fn dismiss(&mut self, answer: usize) {
        self.answered(answer);
    }

    fn node(&mut self, up: Up, kind: Kind, open: usize) -> u32 {
        self.nodes.push(Node { up, kind, open: open as u32, is_known: false });
        self.nodes.len() as u32 - 1
    }

    fn leaf(&mut self, task: usize, up: Up) {
        let leaf = self.node(up, Kind::Leaf, 0);
        self.leaves[task].push(leaf);
    }

    fn add(&mut self, wanted: &Wanted, up: Up) {
        match wanted {
            Wanted::Const(value) | Wanted::Proved(value) => {
                let leaf = self.node(up, Kind::Leaf, 0);
                self.set(leaf, *value);
            }
            Wanted::Task(task) => self.leaf(*task, up),
            Wanted::Not(inner) => {
                let not = self.node(up, Kind::Not, 1);
                self.add(inner, Up::Node(not));
            }
            Wanted::All(parts) | Wanted::Any(parts) => {
                let decisive = matches!(wanted, Wanted::Any(_));
                let gate = self.node(up, Kind::Gate(decisive), parts.len());
                if parts.is_empty() {
                    self.set(gate, !decisive);
                }
                parts.iter().for_each(|part| self.add(part, Up::Node(gate)));
            }
        }
    }

    /// A node has its value, and so may those above it.
    fn set(&mut self, mut node: u32, mut value: bool) {
        loop {
            let this = &mut self.nodes[node as usize];
            if std::mem::replace(&mut this.is_known, true) {
                return;
            }
            let above = match this.up {
                Up::Answer(number) => return self.answered(number),
                Up::Node(above) => above,
            };
            let gate = &mut self.nodes[above as usize];
            gate.open -= 1;
            value = match gate.kind {
                Kind::Leaf => return,
                Kind::Not => !value,
                Kind::Gate(decisive) if value == decisive => value,
                Kind::Gate(_) if gate.open > 0 => return,
                Kind::Gate(decisive) => !decisive,
            };
            node = above;
        }
    }

    fn answered(&mut self, number: usize) {
        if !std::mem::replace(&mut self.is_known[number], true) {
            self.open -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same as evaluating the trees, whatever is decided in whatever order.
    #[test]
    fn what_follows_is_what_the_trees_say() {
        let task = |number| Wanted::Task(number);
        let not = |inner| Wanted::Not(Box::new(inner));
        let trees = [
            Wanted::All(vec![task(0), not(task(1)), Wanted::Any(vec![task(2), not(task(0))])]),
            Wanted::Any(vec![Wanted::All(vec![task(1), task(2)]), not(Wanted::Any(vec![task(3), task(3)]))]),
            not(Wanted::All(vec![])),
            Wanted::All(vec![Wanted::Const(true), Wanted::Proved(true), task(3)]),
            Wanted::Any(vec![Wanted::Const(true), task(0)]),
        ];
        let answers: Vec<Answerable> = trees.iter().cloned().map(Answerable::Truth).collect();
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1], [1, 3, 0, 2]] {
            for values in 0..16_usize {
                let mut deduction = Deduction::new(4, &answers);
                let mut known = [None; 4];
                for task in order {
                    for (number, tree) in trees.iter().enumerate() {
                        let follows = tree.value(&|task| known[task]).is_some();
                        assert_eq!(deduction.is_known(number), follows, "{tree:?} after {known:?}");
                    }
                    let value = values >> task & 1 == 1;
                    known[task] = Some(value);
                    deduction.decide(task, value);
                }
                assert!(deduction.is_complete(), "{known:?}");
            }
        }
    }
}
