//! From formula graphs to clauses (G. Tseitin, *On the complexity of derivation in propositional calculus*, 1968): a
//! variable for each node that is asked for, and clauses that define it, once.
//!
//! A node that chooses between two others, or compares them, is defined by the four clauses of the choice instead of the
//! nine of the three conjunctions that it is made of.

use ample_boolean::{Dag, Lit, Node};
use ample_budget::{Budget, Interrupted};

use crate::solver::{Literal, Solver};

/// The nodes of a graph that have variables.
#[derive(Default)]
pub struct Clauses {
    /// By node.
    known: Vec<Option<Literal>>,
}

/// What a node is to the solver.
enum Gate {
    And(Lit, Lit),
    /// `then` if the first holds, else the third.
    Choice(Lit, Lit, Lit),
}

impl Clauses {
    /// The literal of a formula, defined in the solver. The nodes of the graph must not have changed their meaning since
    /// the last call; there may be more of them.
    pub fn literal(
        &mut self,
        dag: &Dag,
        lit: Lit,
        solver: &mut dyn Solver,
        budget: &Budget,
    ) -> Result<Literal, Interrupted> {
        self.known.resize(dag.len(), None);
        let mut pace = budget.pace();
        let mut stack = vec![lit.index()];
        while let Some(&index) = stack.last() {
            if self.known[index].is_some() {
                stack.pop();
                continue;
            }
            let made = match dag.node(node(index)) {
                Node::Constant => {
                    let made = solver.new_variable();
                    solver.add(&[!made]);
                    made
                }
                Node::Input(_) => solver.new_variable(),
                Node::And(x, y) => {
                    let gate = gate(dag, x, y);
                    let operands = gate.operands();
                    let before = stack.len();
                    stack.extend(operands.iter().map(|lit| lit.index()).filter(|index| self.known[*index].is_none()));
                    if stack.len() > before {
                        continue;
                    }
                    pace.step()?;
                    self.define(&gate, solver)
                }
            };
            self.known[index] = Some(made);
            stack.pop();
        }
        Ok(self.signed(lit))
    }

    /// The literal of a formula that has one.
    pub fn known(&self, lit: Lit) -> Option<Literal> {
        self.known.get(lit.index()).copied().flatten().map(|literal| literal.negated_if(lit.is_negated()))
    }

    /// The formula, whose node has a variable.
    fn signed(&self, lit: Lit) -> Literal {
        self.known(lit).unwrap_or(Literal(0))
    }

    fn define(&self, gate: &Gate, solver: &mut dyn Solver) -> Literal {
        let made = solver.new_variable();
        match gate {
            Gate::And(x, y) => {
                let (x, y) = (self.signed(*x), self.signed(*y));
                solver.add(&[!made, x]);
                solver.add(&[!made, y]);
                solver.add(&[made, !x, !y]);
            }
            Gate::Choice(condition, then, otherwise) => {
                let (c, x, y) = (self.signed(*condition), self.signed(*then), self.signed(*otherwise));
                solver.add(&[!c, !x, made]);
                solver.add(&[!c, x, !made]);
                solver.add(&[c, !y, made]);
                solver.add(&[c, y, !made]);
                // If both are the same, it does not matter which; a choice between opposites has nothing to add.
                if x != !y {
                    solver.add(&[!x, !y, made]);
                    solver.add(&[x, y, !made]);
                }
            }
        }
        let operands: Vec<Literal> = gate.operands().into_iter().map(|lit| self.signed(lit)).collect();
        solver.define(made, &operands);
        made
    }
}

impl Gate {
    fn operands(&self) -> Vec<Lit> {
        match self {
            Gate::And(x, y) => vec![*x, *y],
            Gate::Choice(condition, then, otherwise) => vec![*condition, *then, *otherwise],
        }
    }
}

fn node(index: usize) -> Lit {
    Lit((index as u32) << 1)
}

/// The conjunction of two literals, or the choice that it is: `¬(c ∧ x) ∧ ¬(¬c ∧ y)` is `¬x` if `c`, else `¬y`.
fn gate(dag: &Dag, x: Lit, y: Lit) -> Gate {
    if let (true, true, Node::And(a, b), Node::And(c, d)) = (x.is_negated(), y.is_negated(), dag.node(x), dag.node(y)) {
        for (condition, then, other, otherwise) in [(a, b, c, d), (a, b, d, c), (b, a, c, d), (b, a, d, c)] {
            if condition == !other {
                return Gate::Choice(condition, !then, !otherwise);
            }
        }
    }
    Gate::And(x, y)
}

#[cfg(test)]
mod tests {
    use ample_random::Random;

    use super::*;
    use crate::solver::Batsat;

    /// Random formulas over five bits: the solver gives them the values that the graph gives them.
    #[test]
    fn clauses_mean_what_the_graph_means() {
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let mut dag = Dag::new();
            let mut lits: Vec<Lit> = (0..5).map(|bit| dag.input(bit)).collect();
            for _ in 0..30 {
                let mut pick = || random.pick(&lits);
                let (x, y, z) = (pick(), pick(), pick());
                let (x, y) = if random.one_in(2) { (!x, y) } else { (x, !y) };
                let made = match random.below(3) {
                    0 => dag.and(x, y),
                    1 => dag.ite(x, y, z),
                    _ => dag.xor(x, z),
                };
                lits.push(made);
            }
            let goal = lits[lits.len() - 1];
            let (mut clauses, mut solver, budget) = (Clauses::default(), Batsat::default(), Budget::unlimited());
            let literal = clauses.literal(&dag, goal, &mut solver, &budget).unwrap();
            let inputs: Vec<Literal> =
                (0..5).map(|bit| clauses.literal(&dag, lits[bit], &mut solver, &budget).unwrap()).collect();
            for valuation in 0..32u32 {
                let bit = |bit: u32| valuation >> bit & 1 == 1;
                let fixed = (0..5).map(|number| inputs[number as usize].negated_if(!bit(number)));
                let mut assumptions: Vec<Literal> = fixed.collect();
                assumptions.push(literal);
                let expected = dag.evaluate(goal, &bit);
                assert_eq!(solver.solve(&assumptions, &budget), Ok(expected), "seed {seed}, {valuation:05b}");
            }
        }
    }
}
