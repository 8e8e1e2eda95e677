//! SAT solvers behind one small trait: variables, clauses, and questions under assumptions that a budget may end.
//!
//! There is always [`Batsat`], in pure Rust, after MiniSat (N. Eén, N. Sörensson, *An Extensible SAT-solver*, 2003). It asks
//! the budget every few decisions. CaDiCaL is a feature of the crate, `cadical`.

use std::cell::Cell;
use std::rc::Rc;

use ample_budget::{Budget, Interrupted};
use batsat::{Callbacks, SolverInterface, lbool};
use clap::ValueEnum;

/// A variable of a solver or its negation: the number of the variable times two, plus one if it is negated.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Literal(pub u32);

impl Literal {
    /// The number of its variable.
    #[inline]
    pub fn variable(self) -> u32 {
        self.0 >> 1
    }

    /// It is the negation of its variable.
    #[inline]
    pub fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }

    /// Itself, or its negation.
    #[inline]
    pub fn negated_if(self, negated: bool) -> Literal {
        Literal(self.0 ^ u32::from(negated))
    }
}

impl std::ops::Not for Literal {
    type Output = Literal;

    #[inline]
    fn not(self) -> Literal {
        Literal(self.0 ^ 1)
    }
}

/// What a solver has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    /// Clauses that it was given.
    pub clauses: u64,
    /// Conflicts.
    pub conflicts: u64,
}

/// An incremental SAT solver.
pub trait Solver {
    /// A new variable.
    fn new_variable(&mut self) -> Literal;

    /// Adds a clause.
    fn add(&mut self, clause: &[Literal]);

    /// A variable is a gate with these operands, by clauses that were added. Solvers may use it, and need not.
    fn define(&mut self, gate: Literal, operands: &[Literal]) {
        let _ = (gate, operands);
    }

    /// Whether the clauses are satisfiable together with the assumptions.
    fn solve(&mut self, assumptions: &[Literal], budget: &Budget) -> Result<bool, Interrupted>;

    /// The value of a literal, after a solution was found.
    fn value(&self, literal: Literal) -> bool;

    /// After there was no solution: the assumption is one of those that alone make one impossible.
    fn is_in_core(&self, assumption: Literal) -> bool;

    /// What it has done so far.
    fn effort(&self) -> Effort;
}

/// Which solver looks for runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum SolverKind {
    /// CaDiCaL if it is compiled in, else BatSat.
    #[default]
    Auto,
    /// BatSat, in Rust.
    Batsat,
    /// CaDiCaL, which has to be compiled in.
    Cadical,
}

impl SolverKind {
    /// A new solver of that kind; BatSat where CaDiCaL is not compiled in.
    pub fn solver(self) -> Box<dyn Solver> {
        #[cfg(feature = "cadical")]
        if self != SolverKind::Batsat {
            return Box::new(crate::cadical::Cadical::default());
        }
        Box::new(Batsat::default())
    }

    /// Why there is no such solver, if there is none.
    pub fn refusal(self) -> Option<&'static str> {
        let is_missing = self == SolverKind::Cadical && !cfg!(feature = "cadical");
        is_missing
            .then_some("CaDiCaL is not compiled in: `cargo build --features cadical` does that, and needs libclang")
    }
}

/// Ends batsat's search when the budget is exhausted.
struct Watch {
    budget: Rc<Cell<Option<Budget>>>,
    interrupted: Rc<Cell<Option<Interrupted>>>,
    /// Decisions until the budget is asked.
    countdown: Cell<u32>,
}

/// So many decisions are made between two looks at the budget.
const DECISIONS: u32 = 16;

impl Callbacks for Watch {
    fn stop(&self) -> bool {
        // Once it is to end it is asked again, and must get the same answer.
        if self.interrupted.get().is_some() {
            return true;
        }
        let left = self.countdown.get();
        if left > 0 {
            self.countdown.set(left - 1);
            return false;
        }
        self.countdown.set(DECISIONS);
        let Some(budget) = self.budget.take() else { return false };
        let interrupted = budget.check().err();
        self.budget.set(Some(budget));
        self.interrupted.set(interrupted);
        interrupted.is_some()
    }
}

/// The solver in pure Rust.
///
/// ```
/// use ample_bounded::solver::{Batsat, Solver};
/// use ample_budget::Budget;
///
/// let mut solver = Batsat::default();
/// let (x, y) = (solver.new_variable(), solver.new_variable());
/// solver.add(&[x, y]);
/// assert_eq!(solver.solve(&[!x], &Budget::unlimited()), Ok(true));
/// assert!(solver.value(y));
/// assert_eq!(solver.solve(&[!y, !x], &Budget::unlimited()), Ok(false));
/// assert!(solver.is_in_core(!x) && solver.is_in_core(!y));
/// ```
pub struct Batsat {
    solver: batsat::Solver<Watch>,
    budget: Rc<Cell<Option<Budget>>>,
    interrupted: Rc<Cell<Option<Interrupted>>>,
    buffer: Vec<batsat::Lit>,
    clauses: u64,
}

impl Default for Batsat {
    fn default() -> Batsat {
        let (budget, interrupted) = (Rc::new(Cell::new(None)), Rc::new(Cell::new(None)));
        let watch =
            Watch { budget: Rc::clone(&budget), interrupted: Rc::clone(&interrupted), countdown: Cell::new(DECISIONS) };
        let solver = batsat::Solver::new(batsat::SolverOpts::default(), watch);
        Batsat { solver, budget, interrupted, buffer: Vec::new(), clauses: 0 }
    }
}

impl Batsat {
    fn literal(&mut self, literal: Literal) -> batsat::Lit {
        batsat::Lit::new(self.solver.var_of_int(literal.variable()), !literal.is_negated())
    }
}

impl Solver for Batsat {
    fn new_variable(&mut self) -> Literal {
        let number = self.solver.num_vars();
        self.solver.var_of_int(number);
        Literal(number << 1)
    }

    fn add(&mut self, clause: &[Literal]) {
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        buffer.extend(clause.iter().map(|literal| self.literal(*literal)));
        self.solver.add_clause_reuse(&mut buffer);
        self.buffer = buffer;
        self.clauses += 1;
    }

    fn solve(&mut self, assumptions: &[Literal], budget: &Budget) -> Result<bool, Interrupted> {
        budget.check()?;
        let assumptions: Vec<batsat::Lit> = assumptions.iter().map(|literal| self.literal(*literal)).collect();
        self.budget.set(Some(budget.clone()));
        self.interrupted.set(None);
        let found = self.solver.solve_limited(&assumptions);
        self.budget.set(None);
        match found {
            found if found == lbool::TRUE => Ok(true),
            found if found == lbool::FALSE => Ok(false),
            _ => Err(self.interrupted.get().unwrap_or(Interrupted::Cancelled)),
        }
    }

    fn value(&self, literal: Literal) -> bool {
        let variable = batsat::Var::unsafe_from_idx(literal.variable());
        (self.solver.value_var(variable) == lbool::TRUE) != literal.is_negated()
    }

    fn is_in_core(&self, assumption: Literal) -> bool {
        let variable = batsat::Var::unsafe_from_idx(assumption.variable());
        self.solver.unsat_core_contains_var(variable)
    }

    fn effort(&self) -> Effort {
        Effort { clauses: self.clauses, conflicts: self.solver.num_conflicts() }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    /// So many pigeons and one hole less: a question that takes a solver very long.
    #[test]
    fn a_deadline_ends_a_long_question() {
        let (holes, mut solver) = (11, Batsat::default());
        let pigeons: Vec<Vec<Literal>> =
            (0..=holes).map(|_| (0..holes).map(|_| solver.new_variable()).collect()).collect();
        pigeons.iter().for_each(|pigeon| solver.add(pigeon));
        for (number, one) in pigeons.iter().enumerate() {
            for other in &pigeons[..number] {
                one.iter().zip(other).for_each(|(one, other)| solver.add(&[!*one, !*other]));
            }
        }
        let begun = Instant::now();
        let budget = Budget::unlimited().with_time(Duration::from_millis(100));
        assert_eq!(solver.solve(&[], &budget), Err(Interrupted::Deadline));
        assert!(begun.elapsed() < Duration::from_secs(10));
        // It can be asked again.
        let budget = Budget::unlimited().with_time(Duration::from_millis(50));
        assert_eq!(solver.solve(&[pigeons[0][0]], &budget), Err(Interrupted::Deadline));
    }
}
