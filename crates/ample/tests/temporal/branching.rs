//! Branching time: fixpoints over all visible nodes.

use ample_model::Expr;

use super::graph::Graph;
use super::tree::Formula;

/// Where formulas hold.
pub struct Branching<'a> {
    graph: &'a Graph,
    atoms: &'a [Expr],
    letters: &'a [u8],
    /// The visible nodes that come next after each visible node.
    successors: Vec<Vec<usize>>,
}

impl<'a> Branching<'a> {
    pub fn new(graph: &'a Graph, atoms: &'a [Expr], letters: &'a [u8]) -> Branching<'a> {
        let successors = (0..graph.nodes.len()).map(|node| visible_successors(graph, node)).collect();
        Branching { graph, atoms, letters, successors }
    }

    /// The formula holds in every initial state.
    pub fn holds(&self, formula: &Formula) -> bool {
        let truth = self.truth(formula);
        self.graph.initial.iter().all(|&node| truth[node])
    }

    /// Where the formula holds; what is said of transient nodes means nothing.
    fn truth(&self, formula: &Formula) -> Vec<bool> {
        let each = |value: &dyn Fn(usize) -> bool| (0..self.graph.nodes.len()).map(value).collect::<Vec<bool>>();
        let both = |x: &Formula, y: &Formula| (self.truth(x), self.truth(y));
        match formula {
            Formula::Atom(expr) => {
                let bit = self.atoms.iter().position(|atom| atom == expr).expect("all atoms are listed");
                each(&|node| self.letters[node] >> bit & 1 == 1)
            }
            Formula::Not(x) => {
                let x = self.truth(x);
                each(&|node| !x[node])
            }
            Formula::And(x, y) => {
                let (x, y) = both(x, y);
                each(&|node| x[node] && y[node])
            }
            Formula::Or(x, y) => {
                let (x, y) = both(x, y);
                each(&|node| x[node] || y[node])
            }
            Formula::Implies(x, y) => {
                let (x, y) = both(x, y);
                each(&|node| !x[node] || y[node])
            }
            Formula::Iff(x, y) => {
                let (x, y) = both(x, y);
                each(&|node| x[node] == y[node])
            }
            Formula::All(path) => self.paths(path, &|nodes, set| nodes.iter().all(|&node| set[node])),
            Formula::Exists(path) => self.paths(path, &|nodes, set| nodes.iter().any(|&node| set[node])),
            _ => panic!("a temporal operator without a quantifier"),
        }
    }

    /// `next` tells whether all or some of these nodes are in the set.
    fn paths(&self, path: &Formula, next: &dyn Fn(&[usize], &[bool]) -> bool) -> Vec<bool> {
        let step = |set: &[bool], node: usize| next(&self.successors[node], set);
        let (x, y) = match path {
            Formula::Next(x) | Formula::Always(x) | Formula::Eventually(x) => (self.truth(x), Vec::new()),
            Formula::Until(x, y) | Formula::WeakUntil(x, y) | Formula::Release(x, y) => (self.truth(x), self.truth(y)),
            _ => panic!("a quantifier without a temporal operator"),
        };
        match path {
            Formula::Next(_) => (0..self.graph.nodes.len()).map(|node| step(&x, node)).collect(),
            Formula::Always(_) => self.fixpoint(true, &|set, node| x[node] && step(set, node)),
            Formula::Eventually(_) => self.fixpoint(false, &|set, node| x[node] || step(set, node)),
            Formula::Until(..) => self.fixpoint(false, &|set, node| y[node] || x[node] && step(set, node)),
            Formula::WeakUntil(..) => self.fixpoint(true, &|set, node| y[node] || x[node] && step(set, node)),
            _ => self.fixpoint(true, &|set, node| y[node] && (x[node] || step(set, node))),
        }
    }

    /// The greatest or the least set of nodes that is the same after another round.
    fn fixpoint(&self, greatest: bool, round: &dyn Fn(&[bool], usize) -> bool) -> Vec<bool> {
        let mut set = vec![greatest; self.graph.nodes.len()];
        loop {
            let next: Vec<bool> = (0..set.len()).map(|node| round(&set, node)).collect();
            if next == set {
                return set;
            }
            set = next;
        }
    }
}

/// What comes next, through any number of transient nodes; a deadlock comes after itself.
pub fn visible_successors(graph: &Graph, node: usize) -> Vec<usize> {
    if graph.nodes[node].is_deadlocked() {
        return vec![node];
    }
    let mut passed = vec![node];
    let mut found = Vec::new();
    let mut at = 0;
    while at < passed.len() {
        for &(_, to) in &graph.nodes[passed[at]].steps {
            let list = if graph.nodes[to].visible { &mut found } else { &mut passed };
            if !list.contains(&to) {
                list.push(to);
            }
        }
        at += 1;
    }
    found
}
