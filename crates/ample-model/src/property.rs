//! Properties: what is to be checked.
//!
//! A temporal property carries a formula of [`ample_logic`], whose atoms are numbers, and the table of the state
//! expressions that these stand for. Equal expressions are one atom, and constants are none: whoever checks a formula
//! finds it as it is needed.

use std::collections::HashMap;

use ample_logic::{Atom, Automaton, Binary, Formula, Unary};
use serde::{Deserialize, Serialize};

use crate::expr::{BinaryOp, Expr, UnaryOp};
use crate::system::{ProcessId, Span};

/// A temporal formula with its atom table.
///
/// ```
/// use ample_model::{AtomTable, Expr, Temporal};
/// let mut table = AtomTable::new();
/// let p = table.formula(Expr::ProcessCount);
/// let again = Temporal::new(p.clone().finally().globally() & p, table);
/// assert_eq!(again.atoms, [Expr::ProcessCount]);
/// assert!(again.formula.is_ltl());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Temporal {
    /// The formula.
    pub formula: Formula,
    /// What its atoms stand for, by their numbers.
    pub atoms: Vec<Expr>,
}

/// A Büchi automaton over state expressions, which accepts the runs that violate a property.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PropertyAutomaton {
    /// The automaton.
    pub automaton: Automaton,
    /// What its atoms stand for, by their numbers.
    pub atoms: Vec<Expr>,
}

/// A table of atoms that grows: each expression has one number.
#[derive(Clone, Debug, Default)]
pub struct AtomTable {
    atoms: Vec<Expr>,
    numbers: HashMap<Expr, Atom>,
}

impl AtomTable {
    /// An empty table.
    pub fn new() -> AtomTable {
        AtomTable::default()
    }

    /// The formula that is just this expression: an atom, or a truth value if it is a constant.
    pub fn formula(&mut self, expr: Expr) -> Formula {
        match expr {
            Expr::Const(0) => Formula::False,
            Expr::Const(_) => Formula::True,
            expr => Formula::atom(self.intern(expr)),
        }
    }

    /// The atom of an expression, which is added if it is new.
    pub fn intern(&mut self, expr: Expr) -> Atom {
        if let Some(atom) = self.numbers.get(&expr) {
            return *atom;
        }
        let atom = Atom(self.atoms.len() as u32);
        self.numbers.insert(expr.clone(), atom);
        self.atoms.push(expr);
        atom
    }

    /// The formula with its atoms taken from this table instead of its own.
    pub fn import(&mut self, temporal: &Temporal) -> Formula {
        temporal.formula.substitute(&mut |atom| self.formula(temporal.expr(atom).clone()))
    }
}

impl Temporal {
    /// A formula over a table.
    pub fn new(formula: Formula, table: AtomTable) -> Temporal {
        Temporal { formula, atoms: table.atoms }
    }

    /// The formula that is just this expression.
    pub fn state(expr: Expr) -> Temporal {
        let mut table = AtomTable::new();
        let formula = table.formula(expr);
        Temporal::new(formula, table)
    }

    /// Another formula over the same table.
    pub fn with(&self, formula: Formula) -> Temporal {
        Temporal { formula, atoms: self.atoms.clone() }
    }

    /// What an atom stands for; false if the table does not have it.
    pub fn expr(&self, atom: Atom) -> &Expr {
        self.atoms.get(atom.0 as usize).unwrap_or(&Expr::FALSE)
    }

    /// A formula over the table as one state expression, in the order in which it is written; none if it has temporal
    /// operators or path quantifiers.
    pub fn state_expr(&self, formula: &Formula) -> Option<Expr> {
        let not = |expr| Expr::unary(UnaryOp::Not, expr);
        let both = |op, f, g| Expr::binary(op, f, g);
        Some(match formula {
            Formula::True => Expr::TRUE,
            Formula::False => Expr::FALSE,
            Formula::Atom(atom) => self.expr(*atom).clone(),
            Formula::Unary(Unary::Not, f) => not(self.state_expr(f)?),
            Formula::Unary(..) => return None,
            Formula::Binary(op, f, g) => {
                if op.is_temporal() {
                    return None;
                }
                let (f, g) = (self.state_expr(f)?, self.state_expr(g)?);
                match op {
                    Binary::And => both(BinaryOp::And, f, g),
                    Binary::Or => both(BinaryOp::Or, f, g),
                    Binary::Implies => both(BinaryOp::Or, not(f), g),
                    // Numbers are true or false here.
                    Binary::Iff => both(BinaryOp::Equal, not(f), not(g)),
                    _ => both(BinaryOp::NotEqual, not(f), not(g)),
                }
            }
        })
    }

    /// Replaces every expression of the table; what is equal or constant then is one atom, or none.
    pub fn map_atoms(&mut self, change: &mut dyn FnMut(Expr) -> Expr) {
        let mut table = AtomTable::new();
        let atoms: Vec<Formula> =
            std::mem::take(&mut self.atoms).into_iter().map(|expr| table.formula(change(expr))).collect();
        self.formula =
            self.formula.substitute(&mut |Atom(number)| atoms.get(number as usize).cloned().unwrap_or(Formula::False));
        self.atoms = table.atoms;
    }

    /// Calls `visit` on every expression in the formula, and on those inside.
    pub fn walk(&self, visit: &mut dyn FnMut(&Expr)) {
        for atom in &self.atoms {
            atom.walk(visit);
        }
    }
}

/// What a property asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Question {
    /// No reachable state is stuck unless every process stands at an end location.
    Deadlock,
    /// No assertion fails and no step is a fault.
    Assertions,
    /// The expression holds in every reachable state.
    Invariant(Expr),
    /// Every run satisfies the formula.
    Ltl(Temporal),
    /// Every initial state satisfies the formula, in which every temporal operator has its quantifier.
    Ctl(Temporal),
    /// The never claim has no accepting run.
    Never(ProcessId),
    /// The automaton accepts no run.
    Automaton(Box<PropertyAutomaton>),
    /// No run passes again and again through states where a process stands at a location marked `accept`.
    Acceptance,
    /// On every endless run, some process comes to a location marked `progress` again and again.
    Progress,
    /// How large the expression gets in a reachable state: the answer is a number.
    Bound(Expr),
    /// How many steps it takes from states of one kind to one of another: the answer is a number, if there is one.
    Distance(Distance),
}

/// The number of steps on runs that count, from reachable states of one kind to the first state of another: quantitative
/// analysis after S. Campos, E. Clarke, W. Marrero and M. Minea, *Computing quantitative characteristics of finite-state
/// real-time systems* (1994).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Distance {
    /// The most steps, not the fewest.
    pub longest: bool,
    /// Where they begin: a formula of branching time.
    pub from: Formula,
    /// Where they end: a formula of branching time.
    pub to: Formula,
    /// The atoms of both formulas.
    pub atoms: Vec<Expr>,
}

/// A named property.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Property {
    /// Its name: what comes after the colon in a report, or the whole for `deadlock` and `assertions`.
    pub name: String,
    /// What it asks.
    pub question: Question,
    /// The text as the user wrote it.
    pub text: String,
    /// Where it is stated.
    pub span: Option<Span>,
}

impl Property {
    /// Its expressions, the outermost ones.
    pub fn expressions(&self) -> &[Expr] {
        match &self.question {
            Question::Invariant(expr) | Question::Bound(expr) => std::slice::from_ref(expr),
            Question::Ltl(temporal) | Question::Ctl(temporal) => &temporal.atoms,
            Question::Automaton(automaton) => &automaton.atoms,
            Question::Distance(distance) => &distance.atoms,
            Question::Deadlock
            | Question::Assertions
            | Question::Never(_)
            | Question::Acceptance
            | Question::Progress => &[],
        }
    }

    /// Calls `visit` on every expression in the property.
    pub fn walk(&self, visit: &mut dyn FnMut(&Expr)) {
        match &self.question {
            Question::Invariant(expr) | Question::Bound(expr) => expr.walk(visit),
            Question::Ltl(temporal) | Question::Ctl(temporal) => temporal.walk(visit),
            Question::Automaton(automaton) => automaton.atoms.iter().for_each(|atom| atom.walk(visit)),
            Question::Distance(distance) => distance.atoms.iter().for_each(|atom| atom.walk(visit)),
            Question::Deadlock
            | Question::Assertions
            | Question::Never(_)
            | Question::Acceptance
            | Question::Progress => {}
        }
    }

    /// The freedom from deadlock that every model is asked for.
    pub fn deadlock() -> Property {
        Property {
            name: "deadlock".into(),
            question: Question::Deadlock,
            text: "no invalid end state".into(),
            span: None,
        }
    }

    /// The assertions in the model.
    pub fn assertions() -> Property {
        Property {
            name: "assertions".into(),
            question: Question::Assertions,
            text: "no assertion violated".into(),
            span: None,
        }
    }

    /// The labels `accept` of the processes: no run passes them for ever.
    pub fn acceptance() -> Property {
        Property {
            name: "acceptance".into(),
            question: Question::Acceptance,
            text: "no acceptance cycle".into(),
            span: None,
        }
    }

    /// The labels `progress` of the processes: every endless run passes them for ever.
    pub fn progress() -> Property {
        Property {
            name: "progress".into(),
            question: Question::Progress,
            text: "no non-progress cycle".into(),
            span: None,
        }
    }

    /// The name in a report: `deadlock`, `assertions`, `acceptance`, `progress`, `invariant:NAME`, `ltl:NAME`,
    /// `ctl:NAME`, `never:NAME`, `automaton:NAME`, `bound:NAME`, `compute:NAME`.
    pub fn id(&self) -> String {
        match self.question {
            Question::Deadlock | Question::Assertions | Question::Acceptance | Question::Progress => self.name.clone(),
            Question::Invariant(_) => format!("invariant:{}", self.name),
            Question::Ltl(_) => format!("ltl:{}", self.name),
            Question::Ctl(_) => format!("ctl:{}", self.name),
            Question::Never(_) => format!("never:{}", self.name),
            Question::Automaton(_) => format!("automaton:{}", self.name),
            Question::Bound(_) => format!("bound:{}", self.name),
            Question::Distance(_) => format!("compute:{}", self.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_expressions_are_one_atom_and_constants_are_none() {
        let mut table = AtomTable::new();
        let (p, q) = (table.formula(Expr::ProcessCount), table.formula(Expr::NonProgress));
        let (sure, again) = (table.formula(Expr::Const(3)), table.formula(Expr::ProcessCount));
        assert_eq!((&again, &sure), (&p, &Formula::True));
        let mut temporal = Temporal::new(p.until(q) & sure.implies(again), table);
        assert_eq!(temporal.atoms, [Expr::ProcessCount, Expr::NonProgress]);
        temporal.map_atoms(&mut |_| Expr::Accepting);
        let accepting = Formula::atom(Atom(0));
        assert_eq!(temporal.atoms, [Expr::Accepting]);
        assert_eq!(temporal.formula, accepting.clone().until(accepting.clone()) & Formula::True.implies(accepting));
    }
}
