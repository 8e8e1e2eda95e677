//! Branching time over fair runs only: the plain definition, by a search for a fair run from each node.

use ample::Fairness;
use ample_model::Expr;

use super::branching::visible_successors;
use super::emptiness::{Also, Anything, Search};
use super::graph::Graph;
use super::tree::Formula;

/// Where formulas hold, if `E` means: on some fair run on which each of some sets is visited again and again.
pub struct FairBranching<'a> {
    pub graph: &'a Graph,
    pub atoms: &'a [Expr],
    pub letters: &'a [u8],
    pub fairness: Fairness,
    pub justice: &'a [Vec<bool>],
}

impl FairBranching<'_> {
    /// The formula holds in every initial state.
    pub fn holds(&self, formula: &Formula) -> bool {
        let truth = self.truth(formula);
        self.graph.initial.iter().all(|&node| truth[node])
    }

    fn each(&self, value: &dyn Fn(usize) -> bool) -> Vec<bool> {
        (0..self.graph.nodes.len()).map(value).collect()
    }

    fn truth(&self, formula: &Formula) -> Vec<bool> {
        let both = |x: &Formula, y: &Formula| (self.truth(x), self.truth(y));
        match formula {
            Formula::Atom(expr) => {
                let bit = self.atoms.iter().position(|atom| atom == expr).expect("all atoms are listed");
                self.each(&|node| self.letters[node] >> bit & 1 == 1)
            }
            Formula::Not(x) => not(&self.truth(x)),
            Formula::And(x, y) => {
                let (x, y) = both(x, y);
                self.each(&|node| x[node] && y[node])
            }
            Formula::Or(x, y) => {
                let (x, y) = both(x, y);
                self.each(&|node| x[node] || y[node])
            }
            Formula::Implies(x, y) => {
                let (x, y) = both(x, y);
                self.each(&|node| !x[node] || y[node])
            }
            Formula::Iff(x, y) => {
                let (x, y) = both(x, y);
                self.each(&|node| x[node] == y[node])
            }
            Formula::Exists(path) => self.some(path),
            Formula::All(path) => not(&self.some_against(path)),
            _ => panic!("a temporal operator without a quantifier"),
        }
    }

    /// Some fair run satisfies the path formula.
    fn some(&self, path: &Formula) -> Vec<bool> {
        let all = vec![true; self.graph.nodes.len()];
        match path {
            Formula::Next(x) => self.next(&self.truth(x)),
            Formula::Always(x) => self.always(&self.truth(x)),
            Formula::Eventually(x) => self.until(&all, &self.truth(x)),
            Formula::Until(x, y) => self.until(&self.truth(x), &self.truth(y)),
            Formula::WeakUntil(x, y) => {
                let (x, y) = (self.truth(x), self.truth(y));
                or(&self.until(&x, &y), &self.always(&x))
            }
            Formula::Release(x, y) => {
                let (x, y) = (self.truth(x), self.truth(y));
                or(&self.until(&y, &and(&x, &y)), &self.always(&y))
            }
            _ => panic!("a quantifier without a temporal operator"),
        }
    }

    /// Some fair run does not satisfy the path formula.
    fn some_against(&self, path: &Formula) -> Vec<bool> {
        let negated = |x: &Formula| not(&self.truth(x));
        let all = vec![true; self.graph.nodes.len()];
        match path {
            Formula::Next(x) => self.next(&negated(x)),
            Formula::Always(x) => self.until(&all, &negated(x)),
            Formula::Eventually(x) => self.always(&negated(x)),
            Formula::Until(x, y) => {
                let (x, y) = (negated(x), negated(y));
                or(&self.until(&y, &and(&x, &y)), &self.always(&y))
            }
            Formula::WeakUntil(x, y) => {
                let (x, y) = (negated(x), negated(y));
                self.until(&y, &and(&x, &y))
            }
            Formula::Release(x, y) => self.until(&negated(x), &negated(y)),
            _ => panic!("a quantifier without a temporal operator"),
        }
    }

    fn next(&self, set: &[bool]) -> Vec<bool> {
        let fair = and(set, &self.always(&vec![true; set.len()]));
        self.each(&|node| visible_successors(self.graph, node).iter().any(|&next| fair[next]))
    }

    fn until(&self, through: &[bool], goal: &[bool]) -> Vec<bool> {
        let successors: Vec<Vec<usize>> = (0..goal.len()).map(|node| visible_successors(self.graph, node)).collect();
        let mut set = and(goal, &self.always(&vec![true; goal.len()]));
        loop {
            let grown = self.each(&|node| set[node] || through[node] && successors[node].iter().any(|&next| set[next]));
            if grown == set {
                return set;
            }
            set = grown;
        }
    }

    /// Some fair run from the node stays in the set, as far as it is seen.
    fn always(&self, set: &[bool]) -> Vec<bool> {
        let allowed = |node: usize| !self.graph.nodes[node].visible || set[node];
        let inside = self.graph.only(&allowed);
        let automaton = Also { first: &Anything, sets: self.justice };
        let search = Search { graph: &inside, automaton: &automaton, fairness: self.fairness, stutters: true };
        let mut known: Vec<Option<bool>> = self.each(&allowed).iter().map(|ok| (!ok).then_some(false)).collect();
        for node in 0..known.len() {
            if known[node].is_some() {
                continue;
            }
            let reached = inside.reached_from(node);
            if search.lasso_from(node).is_none() {
                reached.iter().for_each(|&node| known[node] = Some(false));
            } else {
                known[node] = Some(true);
            }
        }
        known.iter().map(|value| *value == Some(true)).collect()
    }
}

fn not(set: &[bool]) -> Vec<bool> {
    set.iter().map(|value| !value).collect()
}

fn and(x: &[bool], y: &[bool]) -> Vec<bool> {
    x.iter().zip(y).map(|(x, y)| *x && *y).collect()
}

fn or(x: &[bool], y: &[bool]) -> Vec<bool> {
    x.iter().zip(y).map(|(x, y)| *x || *y).collect()
}
