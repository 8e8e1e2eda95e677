//! What temporal properties of a synchronous system observe beside its states, made part of the states.
//!
//! Engines evaluate conditions in single states. A condition on a step (an input, a next value), and what was before, are
//! therefore recorded in additional variables:
//!
//! - An operator about the past becomes a history variable: a bit whose next value is a function of the current state, as in
//!   O. Lichtenstein, A. Pnueli and L. Zuck, *The glory of the past* (1985). If its operand speaks of the future, a free bit
//!   stands for the operand, and only runs on which it is right count.
//! - A condition of justice on a step becomes a bit that says whether it held in the step before. It holds again and again
//!   if and only if the bit does, and no state has other successors than before, so that this is right in branching time.
//! - An invariant on steps becomes a bit that says whether the step before satisfied it.
//! - A condition on a step in a formula of linear time becomes a free bit, and a relation that says that it is right. In
//!   branching time that would be wrong, because the bit decides about the step too early.

use ample_logic::{Binary, Formula, Unary};

use crate::expr::{BinaryOp, Expr, Place, Scope, UnaryOp};
use crate::property::{AtomTable, Property, Question, Temporal};
use crate::system::{
    Coupling, Definition, Initial, NextValue, Notation, Scalar, Synchronous, System, Type, Variable, VariableId,
    VariableKind,
};

/// Whether a property observes more than states: operators about the past, inputs, next values.
pub fn observes_steps(system: &System, property: &Property) -> bool {
    let is_observed = match &property.question {
        Question::Ltl(temporal) => {
            temporal.formula.has_past() || temporal.atoms.iter().any(|atom| reads_step(system, atom))
        }
        Question::Invariant(expr) => reads_step(system, expr),
        _ => false,
    };
    system.synchronous().is_some() && is_observed
}

/// Whether an expression reads inputs or next values.
fn reads_step(system: &System, expr: &Expr) -> bool {
    let is_input = |place: &Place| {
        let variable = system.globals.get(place.variable.index());
        place.scope == Scope::Global && variable.is_some_and(|variable| variable.kind == VariableKind::Input)
    };
    let mut found = false;
    expr.walk(&mut |expr| {
        found |= match expr {
            Expr::Next(_) => true,
            Expr::Read(place) => is_input(place),
            _ => false,
        };
    });
    found
}

/// The system with variables for what these properties, and its own justice, observe; and the properties over them.
///
/// The variables come after the others, so that what is known about the others stays right.
pub fn observe(system: &System, properties: &[Property]) -> Option<(System, Vec<Property>)> {
    let synchronous = system.synchronous()?;
    let of_steps = synchronous.justice.iter().any(|expr| reads_step(system, expr))
        || synchronous.compassion.iter().any(|(p, q)| reads_step(system, p) || reads_step(system, q));
    let is_about_runs =
        |property: &Property| matches!(property.question, Question::Ltl(_) | Question::Ctl(_) | Question::Distance(_));
    let needed = of_steps && properties.iter().any(is_about_runs)
        || properties.iter().any(|property| observes_steps(system, property));
    if !needed {
        return None;
    }
    let parts = synchronous.clone();
    let mut observer = Observer { original: system, system: system.clone(), parts, steps: Vec::new() };
    observer.justice();
    let properties = properties.iter().map(|property| match &property.question {
        Question::Ltl(temporal) => Property { question: Question::Ltl(observer.formula(temporal)), ..property.clone() },
        Question::Invariant(expr) if observes_steps(system, property) => {
            let held = observer.history(true, |_| truth(expr.clone()));
            Property { question: Question::Invariant(held), ..property.clone() }
        }
        _ => property.clone(),
    });
    let properties: Vec<Property> = properties.collect();
    let Observer { mut system, parts, .. } = observer;
    system.coupling = Coupling::Synchronous(parts);
    Some((system, properties))
}

struct Observer<'a> {
    original: &'a System,
    system: System,
    parts: Synchronous,
    /// Conditions on steps, and the bits that stand for them.
    steps: Vec<(Expr, Expr)>,
}

impl Observer<'_> {
    /// A new bit.
    fn bit(&mut self, initial: Option<bool>) -> Place {
        let number = self.system.globals.len();
        let mut variable = Variable::new(&format!("_observed_{number}"), Type::Scalar(Scalar::BOOL));
        if let Some(initial) = initial {
            variable.initial = vec![(0, Initial::Value(Expr::Const(initial.into())))];
        }
        self.parts.notations.resize(number, Notation::Number);
        self.parts.notations.push(Notation::Truth);
        self.system.globals.push(variable);
        let variable = VariableId::from(number);
        Place { scope: Scope::Global, variable, offset: 0, indices: Vec::new(), scalar: Scalar::BOOL }
    }

    /// A bit with that first value, whose next value is that of an expression of the current state and the bit itself.
    fn history(&mut self, initial: bool, next: impl FnOnce(Expr) -> Expr) -> Expr {
        let bit = self.bit(Some(initial));
        let next = NextValue::Function(next(Expr::Read(bit.clone())));
        self.parts.definitions.push(Definition { variable: bit.variable, slot: 0, next, span: None });
        Expr::Read(bit)
    }

    fn justice(&mut self) {
        for number in 0..self.parts.justice.len() {
            let expr = std::mem::replace(&mut self.parts.justice[number], Expr::TRUE);
            self.parts.justice[number] = self.recorded(expr);
        }
        for number in 0..self.parts.compassion.len() {
            let pair = std::mem::replace(&mut self.parts.compassion[number], (Expr::TRUE, Expr::TRUE));
            self.parts.compassion[number] = (self.recorded(pair.0), self.recorded(pair.1));
        }
    }

    /// A condition on a step as one on the state after it.
    fn recorded(&mut self, expr: Expr) -> Expr {
        match reads_step(self.original, &expr) {
            true => self.history(false, |_| truth(expr)),
            false => expr,
        }
    }

    fn formula(&mut self, temporal: &Temporal) -> Temporal {
        let mut table = AtomTable::new();
        let formula = table.import(temporal);
        // Conditions on steps first: what follows speaks of states only.
        let mut atoms = Temporal::new(formula, table);
        for atom in &atoms.atoms {
            let is_known = self.steps.iter().any(|(step, _)| step == atom);
            if !is_known && reads_step(self.original, atom) {
                let bit = Expr::Read(self.bit(None));
                let same = Expr::binary(BinaryOp::Equal, not(bit.clone()), not(atom.clone()));
                self.parts.relations.push(same);
                // Where the bit is wrong, no step is left, and what ends there is no run.
                self.parts.infinite_runs = true;
                self.steps.push((atom.clone(), bit));
            }
        }
        let steps = &self.steps;
        atoms.map_atoms(&mut |atom| steps.iter().find(|(step, _)| *step == atom).map_or(atom, |(_, bit)| bit.clone()));
        let mut table = AtomTable::new();
        let formula = table.import(&atoms);
        let mut right = Vec::new();
        let formula = self.without_past(&formula, &mut table, &mut right);
        let formula = right.into_iter().fold(formula, |formula, right: Formula| right.globally().implies(formula));
        Temporal::new(formula, table)
    }

    /// The formula with bits in place of operators about the past; `right` collects what has to hold always.
    fn without_past(&mut self, formula: &Formula, table: &mut AtomTable, right: &mut Vec<Formula>) -> Formula {
        match formula {
            Formula::True | Formula::False | Formula::Atom(_) => formula.clone(),
            Formula::Unary(op, f) if op.is_past() => {
                let f = self.without_past(f, table, right);
                let (f, now) = self.now(f, table, right);
                let next = now.clone();
                match op {
                    Unary::Previous => table.formula(self.history(false, |_| next)),
                    Unary::WeakPrevious => table.formula(self.history(true, |_| next)),
                    Unary::Once => {
                        f | table.formula(self.history(false, |before| Expr::binary(BinaryOp::Or, next, before)))
                    }
                    _ => f & table.formula(self.history(true, |before| Expr::binary(BinaryOp::And, next, before))),
                }
            }
            Formula::Binary(op, f, g) if op.is_past() => {
                let f = self.without_past(f, table, right);
                let g = self.without_past(g, table, right);
                let ((f, f_now), (g, g_now)) = (self.now(f, table, right), self.now(g, table, right));
                let both = |op, x, y| Expr::binary(op, x, y);
                if *op == Binary::Since {
                    // g | f & before
                    let bit =
                        self.history(false, |before| both(BinaryOp::Or, g_now, both(BinaryOp::And, f_now, before)));
                    g | (f & table.formula(bit))
                } else {
                    // g & (f | before)
                    let bit =
                        self.history(true, |before| both(BinaryOp::And, g_now, both(BinaryOp::Or, f_now, before)));
                    g & (f | table.formula(bit))
                }
            }
            Formula::Unary(op, f) => Formula::unary(*op, self.without_past(f, table, right)),
            Formula::Binary(op, f, g) => {
                let f = self.without_past(f, table, right);
                Formula::binary(*op, f, self.without_past(g, table, right))
            }
        }
    }

    /// An operand of an operator about the past, and the condition that says whether it holds now.
    fn now(&mut self, f: Formula, table: &mut AtomTable, right: &mut Vec<Formula>) -> (Formula, Expr) {
        let known = Temporal::new(Formula::True, table.clone());
        if let Some(expr) = known.state_expr(&f) {
            return (f, truth(expr));
        }
        let bit = Expr::Read(self.bit(None));
        let atom = table.formula(bit.clone());
        right.push(atom.clone().iff(f));
        (atom, bit)
    }
}

fn not(expr: Expr) -> Expr {
    Expr::unary(UnaryOp::Not, expr)
}

/// 0 or 1.
fn truth(expr: Expr) -> Expr {
    not(not(expr))
}
