//! Properties: what is to be checked.
//!
//! Temporal formulas are kept here as plain trees over the system's own expressions; what they mean
//! and how they are checked is the business of the logic and the engines.

use serde::{Deserialize, Serialize};

use crate::expr::Expr;
use crate::system::{ProcessId, Span};

/// A temporal formula over state expressions.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Formula {
    /// A state expression.
    Atom(Expr),
    /// ¬
    Not(Box<Formula>),
    /// ∧
    And(Box<Formula>, Box<Formula>),
    /// ∨
    Or(Box<Formula>, Box<Formula>),
    /// →
    Implies(Box<Formula>, Box<Formula>),
    /// ↔
    Iff(Box<Formula>, Box<Formula>),
    /// In the next state.
    Next(Box<Formula>),
    /// In all states from here on.
    Always(Box<Formula>),
    /// In some state from here on.
    Eventually(Box<Formula>),
    /// The second some time, the first until then.
    Until(Box<Formula>, Box<Formula>),
    /// Like until, but the second may never come.
    WeakUntil(Box<Formula>, Box<Formula>),
    /// The second up to and including the state where the first holds, or for ever.
    Release(Box<Formula>, Box<Formula>),
    /// On all runs from here: only in branching time.
    All(Box<Formula>),
    /// On some run from here: only in branching time.
    Exists(Box<Formula>),
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
    Ltl(Formula),
    /// Every initial state satisfies the formula, in which every temporal operator has its quantifier.
    Ctl(Formula),
    /// The never claim has no accepting run.
    Never(ProcessId),
    /// No run passes again and again through states where a process stands at a location marked `accept`.
    Acceptance,
    /// On every endless run, some process comes to a location marked `progress` again and again.
    Progress,
    /// How large the expression gets in a reachable state: the answer is a number.
    Bound(Expr),
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

impl Formula {
    /// Calls `visit` on every atom, from the left.
    pub fn atoms(&self, visit: &mut dyn FnMut(&Expr)) {
        match self {
            Formula::Atom(expr) => visit(expr),
            Formula::Not(f)
            | Formula::Next(f)
            | Formula::Always(f)
            | Formula::Eventually(f)
            | Formula::All(f)
            | Formula::Exists(f) => f.atoms(visit),
            Formula::And(f, g)
            | Formula::Or(f, g)
            | Formula::Implies(f, g)
            | Formula::Iff(f, g)
            | Formula::Until(f, g)
            | Formula::WeakUntil(f, g)
            | Formula::Release(f, g) => {
                f.atoms(visit);
                g.atoms(visit);
            }
        }
    }

    /// Calls `visit` on every expression in the formula.
    pub fn walk(&self, visit: &mut dyn FnMut(&Expr)) {
        self.atoms(&mut |atom| atom.walk(visit));
    }
}

impl Property {
    /// Calls `visit` on every expression in the property.
    pub fn walk(&self, visit: &mut dyn FnMut(&Expr)) {
        match &self.question {
            Question::Invariant(expr) | Question::Bound(expr) => expr.walk(visit),
            Question::Ltl(formula) | Question::Ctl(formula) => formula.walk(visit),
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
    /// `ctl:NAME`, `never:NAME`, `bound:NAME`.
    pub fn id(&self) -> String {
        match self.question {
            Question::Deadlock | Question::Assertions | Question::Acceptance | Question::Progress => self.name.clone(),
            Question::Invariant(_) => format!("invariant:{}", self.name),
            Question::Ltl(_) => format!("ltl:{}", self.name),
            Question::Ctl(_) => format!("ctl:{}", self.name),
            Question::Never(_) => format!("never:{}", self.name),
            Question::Bound(_) => format!("bound:{}", self.name),
        }
    }
}
