//! CaDiCaL (A. Biere et al., *CaDiCaL 2.0*, CAV 2024) behind the trait of [solvers](crate::solver), where it is compiled in. Its
//! inprocessing pays off on the large formulas of bounded model checking, not on the small questions of IC3.

use std::cell::Cell;
use std::collections::HashSet;
use std::rc::Rc;

use ample_budget::{Budget, Interrupted};
use rustsat::solvers::{ControlSignal, Solve, SolveIncremental, SolverResult, Terminate};
use rustsat::types::{Lit, TernaryVal};
use rustsat_cadical::CaDiCaL;

use crate::solver::{Effort, Literal, Solver};

/// Asked so often, it asks the budget once.
const CALLS: u32 = 32;

/// The solver.
///
/// ```
/// use ample_bounded::cadical::Cadical;
/// use ample_bounded::solver::Solver;
/// use ample_budget::Budget;
///
/// let mut solver = Cadical::default();
/// let (x, y) = (solver.new_variable(), solver.new_variable());
/// solver.add(&[x, y]);
/// assert_eq!(solver.solve(&[!x], &Budget::unlimited()), Ok(true));
/// assert!(solver.value(y));
/// assert_eq!(solver.solve(&[!y, !x], &Budget::unlimited()), Ok(false));
/// assert!(solver.is_in_core(!x) && solver.is_in_core(!y));
/// ```
pub struct Cadical {
    solver: CaDiCaL<'static, 'static>,
    budget: Rc<Cell<Option<Budget>>>,
    interrupted: Rc<Cell<Option<Interrupted>>>,
    variables: u32,
    /// A clause could not be added.
    lacks_clauses: bool,
    core: HashSet<Lit>,
    effort: Effort,
}

impl Default for Cadical {
    fn default() -> Cadical {
        let budget: Rc<Cell<Option<Budget>>> = Rc::new(Cell::new(None));
        let interrupted = Rc::new(Cell::new(None));
        let (seen, told, mut countdown) = (Rc::clone(&budget), Rc::clone(&interrupted), CALLS);
        let mut solver = CaDiCaL::default();
        solver.attach_terminator(move || {
            if told.get().is_some() {
                return ControlSignal::Terminate;
            }
            countdown -= 1;
            if countdown > 0 {
                return ControlSignal::Continue;
            }
            countdown = CALLS;
            let Some(budget) = seen.take() else { return ControlSignal::Continue };
            told.set(budget.check().err());
            seen.set(Some(budget));
            if told.get().is_some() { ControlSignal::Terminate } else { ControlSignal::Continue }
        });
        let (core, effort) = (HashSet::new(), Effort::default());
        Cadical { solver, budget, interrupted, variables: 0, lacks_clauses: false, core, effort }
    }
}

fn of(literal: Literal) -> Lit {
    Lit::new(literal.variable(), literal.is_negated())
}

impl Solver for Cadical {
    fn new_variable(&mut self) -> Literal {
        self.variables += 1;
        Literal((self.variables - 1) << 1)
    }

    fn add(&mut self, clause: &[Literal]) {
        let clause: rustsat::types::Clause = clause.iter().map(|literal| of(*literal)).collect();
        // It fails where memory is exhausted; without the clause no answer would be right.
        self.lacks_clauses |= self.solver.add_clause(clause).is_err();
        self.effort.clauses += 1;
    }

    fn solve(&mut self, assumptions: &[Literal], budget: &Budget) -> Result<bool, Interrupted> {
        budget.check()?;
        if self.lacks_clauses {
            return Err(Interrupted::Memory);
        }
        let assumptions: Vec<Lit> = assumptions.iter().map(|literal| of(*literal)).collect();
        self.budget.set(Some(budget.clone()));
        self.interrupted.set(None);
        self.core.clear();
        let found = self.solver.solve_assumps(&assumptions);
        self.budget.set(None);
        match found {
            Ok(SolverResult::Sat) => Ok(true),
            Ok(SolverResult::Unsat) => {
                // The core is a clause: the negated assumptions.
                self.core = self.solver.core().unwrap_or_default().into_iter().map(|lit| !lit).collect();
                Ok(false)
            }
            _ => Err(self.interrupted.get().unwrap_or(Interrupted::Cancelled)),
        }
    }

    fn value(&self, literal: Literal) -> bool {
        matches!(self.solver.lit_val(of(literal)), Ok(TernaryVal::True))
    }

    fn is_in_core(&self, assumption: Literal) -> bool {
        self.core.contains(&of(assumption))
    }

    fn effort(&self) -> Effort {
        self.effort
    }
}
