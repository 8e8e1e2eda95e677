//! What a linear-time formula says about one run, read off its definition.

use ample_model::Expr;

use super::graph::{Graph, Lasso};
use super::tree::Formula;

/// The letters of a run's visible nodes; those from number `turn` on repeat for ever.
pub struct Word {
    pub letters: Vec<u8>,
    pub turn: usize,
}

impl Word {
    /// The word of a run, if it comes to visible nodes again and again.
    pub fn of(lasso: &Lasso, graph: &Graph, letters: &[u8]) -> Option<Word> {
        let (mut nodes, cycle) = lasso.visible(graph);
        let turn = nodes.len();
        nodes.extend(&cycle);
        (!cycle.is_empty()).then(|| Word { letters: nodes.iter().map(|&node| letters[node]).collect(), turn })
    }

    /// The word satisfies the formula.
    pub fn satisfies(&self, formula: &Formula, atoms: &[Expr]) -> bool {
        self.truth(formula, atoms)[0]
    }

    fn after(&self, place: usize) -> usize {
        if place + 1 < self.letters.len() { place + 1 } else { self.turn }
    }

    /// All places from that one on, in their order.
    fn from(&self, place: usize) -> Vec<usize> {
        std::iter::successors(Some(place), |&place| Some(self.after(place))).take(self.letters.len()).collect()
    }

    /// Whether the formula holds from each place on.
    fn truth(&self, formula: &Formula, atoms: &[Expr]) -> Vec<bool> {
        let each = |value: &dyn Fn(usize) -> bool| (0..self.letters.len()).map(value).collect::<Vec<bool>>();
        let both = |x: &Formula, y: &Formula| (self.truth(x, atoms), self.truth(y, atoms));
        let until = |x: &[bool], y: &[bool], place: usize| {
            self.from(place).into_iter().take_while(|&p| x[p] || y[p]).any(|p| y[p])
        };
        let always = |x: &[bool], place: usize| self.from(place).into_iter().all(|p| x[p]);
        match formula {
            Formula::Atom(expr) => {
                let bit = atoms.iter().position(|atom| atom == expr).expect("all atoms are listed");
                each(&|place| self.letters[place] >> bit & 1 == 1)
            }
            Formula::Not(x) => {
                let x = self.truth(x, atoms);
                each(&|place| !x[place])
            }
            Formula::And(x, y) => {
                let (x, y) = both(x, y);
                each(&|place| x[place] && y[place])
            }
            Formula::Or(x, y) => {
                let (x, y) = both(x, y);
                each(&|place| x[place] || y[place])
            }
            Formula::Implies(x, y) => {
                let (x, y) = both(x, y);
                each(&|place| !x[place] || y[place])
            }
            Formula::Iff(x, y) => {
                let (x, y) = both(x, y);
                each(&|place| x[place] == y[place])
            }
            Formula::Next(x) => {
                let x = self.truth(x, atoms);
                each(&|place| x[self.after(place)])
            }
            Formula::Always(x) => {
                let x = self.truth(x, atoms);
                each(&|place| always(&x, place))
            }
            Formula::Eventually(x) => {
                let x = self.truth(x, atoms);
                each(&|place| self.from(place).into_iter().any(|p| x[p]))
            }
            Formula::Until(x, y) => {
                let (x, y) = both(x, y);
                each(&|place| until(&x, &y, place))
            }
            Formula::WeakUntil(x, y) => {
                let (x, y) = both(x, y);
                each(&|place| until(&x, &y, place) || always(&x, place))
            }
            Formula::Release(x, y) => {
                let (x, y) = both(x, y);
                let together: Vec<bool> = each(&|place| x[place] && y[place]);
                each(&|place| until(&y, &together, place) || always(&y, place))
            }
            Formula::All(_) | Formula::Exists(_) => panic!("a quantifier in linear time"),
        }
    }
}
