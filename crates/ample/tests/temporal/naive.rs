//! The naive answer to every question about time.

use ample::{Fairness, Question};
use ample_model::{Expr, Interpreter};

use super::branching::Branching;
use super::claim::Claim;
use super::emptiness::{Also, Automaton, Search};
use super::fair::FairBranching;
use super::faults::meets_fault;
use super::graph::{Graph, Lasso};
use super::linear::{self, Again, FromThenOn, Tableau};
use super::tree::Formula;

/// Answers questions about a graph.
#[derive(Clone, Copy)]
pub struct Naive<'a> {
    pub interpreter: &'a Interpreter<'a>,
    pub graph: &'a Graph,
}

impl Naive<'_> {
    /// The property does not hold.
    pub fn is_violated(&self, question: &Question, fairness: Fairness) -> bool {
        if meets_fault(self.interpreter, self.graph, question, &[]) {
            return true;
        }
        match question {
            Question::Ctl(temporal) => !self.ctl(&Formula::of(temporal)),
            _ => self.counterexample(question, fairness).is_some(),
        }
    }

    /// A fair run that violates a property of linear time.
    pub fn counterexample(&self, question: &Question, fairness: Fairness) -> Option<Lasso> {
        match question {
            Question::Ltl(temporal) => {
                let formula = &Formula::of(temporal);
                let atoms = linear::atoms(formula);
                let letters = self.letters(&atoms);
                self.search(&Tableau::against(formula, &atoms, &letters), fairness, true)
            }
            Question::Acceptance => self.search(&Again(&self.truth(&Expr::Accepting)), fairness, true),
            Question::Progress => self.search(&FromThenOn(&self.truth(&Expr::NonProgress)), fairness, false),
            Question::Never(id) => Claim::new(self.interpreter, self.graph, *id).violation(self.graph, fairness),
            other => panic!("{other:?} is not of linear time"),
        }
    }

    /// The property does not hold of the fair runs on which each of these expressions holds again and again.
    pub fn is_violated_by_just(&self, question: &Question, fairness: Fairness, justice: &[Expr]) -> bool {
        if meets_fault(self.interpreter, self.graph, question, justice) {
            return true;
        }
        let sets: Vec<Vec<bool>> = justice.iter().map(|expr| self.truth(expr)).collect();
        let accepts =
            |first: &dyn Automaton, stutters| self.search(&Also { first, sets: &sets }, fairness, stutters).is_some();
        match question {
            Question::Ltl(temporal) => {
                let formula = &Formula::of(temporal);
                let atoms = linear::atoms(formula);
                accepts(&Tableau::against(formula, &atoms, &self.letters(&atoms)), true)
            }
            Question::Acceptance => accepts(&Again(&self.truth(&Expr::Accepting)), true),
            Question::Ctl(temporal) => {
                let formula = &Formula::of(temporal);
                let atoms = linear::atoms(formula);
                let (atoms, letters) = (&atoms[..], &self.letters(&atoms)[..]);
                !FairBranching { graph: self.graph, atoms, letters, fairness, justice: &sets }.holds(formula)
            }
            other => panic!("{other:?} is not asked of just runs"),
        }
    }

    fn search(&self, automaton: &dyn Automaton, fairness: Fairness, stutters: bool) -> Option<Lasso> {
        Search { graph: self.graph, automaton, fairness, stutters }.run()
    }

    fn ctl(&self, formula: &Formula) -> bool {
        let atoms = linear::atoms(formula);
        Branching::new(self.graph, &atoms, &self.letters(&atoms)).holds(formula)
    }

    fn letters(&self, atoms: &[Expr]) -> Vec<u8> {
        linear::letters(self.graph, self.interpreter, atoms)
    }

    fn truth(&self, expr: &Expr) -> Vec<bool> {
        self.graph.truth_or_fault(self.interpreter, expr)
    }
}
