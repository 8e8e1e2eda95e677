//! Substitution: what expressions are worth after assignments, as expressions over what cells held before.

use std::collections::HashSet;

use ample_model::visit::{Folder, Made, Visitor, fold_expr};
use ample_model::{Action, BinaryOp, Communication, Expr, Instruction, Place, Scope, Shared, UnaryOp, VariableId};

/// A value has so many parts at most; what is larger is not known.
const MAX_SIZE: usize = 128;

/// What cells hold after a sequence of assignments, as expressions over what they held before.
#[derive(Clone, Default)]
pub(super) struct Assigned {
    cells: Vec<(Scope, VariableId, u32, Expr)>,
    /// Variables of which it is not known what their other cells hold.
    unknown: HashSet<(Scope, VariableId)>,
}

impl Assigned {
    /// What an edge does: its communication, then its effect.
    pub fn by(communication: Option<&Communication>, effect: &[Instruction]) -> Assigned {
        let mut assigned = Assigned::default();
        if let Some(communication) = communication {
            // What is received is not known before.
            assigned.lose(|written| written.communication(communication));
        }
        assigned.extend(effect);
        assigned
    }

    /// Adds what an effect assigns.
    pub fn extend(&mut self, effect: &[Instruction]) {
        let is_jump = |i: &Instruction| matches!(i, Instruction::Try(..) | Instruction::Jump(_) | Instruction::Fail(_));
        if effect.iter().any(is_jump) {
            // Which of the assignments are performed is not known.
            return self.lose(|written| effect.iter().for_each(|instruction| written.instruction(instruction)));
        }
        effect.iter().for_each(|instruction| self.one(instruction));
    }

    fn one(&mut self, instruction: &Instruction) {
        match instruction {
            Instruction::Do(Action::Assign(place, value)) => {
                let value = self.value(place, value);
                self.store(place, value);
            }
            Instruction::Do(Action::AssignAll(pairs)) => {
                let values: Vec<Option<Expr>> = pairs.iter().map(|(place, value)| self.value(place, value)).collect();
                pairs.iter().zip(values).for_each(|((place, _), value)| self.store(place, value));
            }
            Instruction::Do(Action::Test(_) | Action::Assert { .. } | Action::Print { .. }) => {}
            other => self.lose(|written| written.instruction(other)),
        }
    }

    /// What is stored, as far as that is known.
    fn value(&self, place: &Place, value: &Expr) -> Option<Expr> {
        let value = self.before(value)?;
        (size(&value) <= MAX_SIZE).then(|| fitted(place, value))
    }

    fn store(&mut self, place: &Place, value: Option<Expr>) {
        let (scope, variable) = (place.scope, place.variable);
        match constant_slot(place) {
            Some(slot) => {
                self.cells.retain(|(s, v, other, _)| (*s, *v, *other) != (scope, variable, slot));
                match value {
                    Some(value) => self.cells.push((scope, variable, slot, value)),
                    None => _ = self.unknown.insert((scope, variable)),
                }
            }
            None => self.forget((scope, variable)),
        }
    }

    fn lose(&mut self, walk: impl FnOnce(&mut Written)) {
        let mut written = Written(HashSet::new());
        walk(&mut written);
        written.0.into_iter().for_each(|key| self.forget(key));
    }

    fn forget(&mut self, key: (Scope, VariableId)) {
        self.cells.retain(|(scope, variable, ..)| (*scope, *variable) != key);
        self.unknown.insert(key);
    }

    /// An expression after the assignments, as one before them; `None` if that is not known. It may be a fault.
    pub fn before(&self, expr: &Expr) -> Option<Expr> {
        if self.cells.is_empty() && self.unknown.is_empty() {
            return Some(expr.clone());
        }
        let mut substitution = Substitution { assigned: self, is_possible: true, made: Made::default() };
        let before = substitution.expr(expr);
        substitution.is_possible.then_some(before)
    }
}

/// The value as a cell of that type keeps it.
fn fitted(place: &Place, value: Expr) -> Expr {
    match value.constant().and_then(|value| place.scalar.fit(value)) {
        Some(value) => Expr::Const(value),
        None => Expr::Cast(place.scalar, value.into()),
    }
}

/// A conjunction does not hold.
pub(super) fn negation(condition: Vec<Expr>) -> Expr {
    match condition.into_iter().reduce(|x, y| Expr::binary(BinaryOp::And, x, y)) {
        Some(condition) => Expr::unary(UnaryOp::Not, condition),
        None => Expr::FALSE,
    }
}

/// How many parts an expression has.
pub(super) fn size(expr: &Expr) -> usize {
    let mut size = 0;
    expr.walk(&mut |_| size += 1);
    size
}

/// The cell of a place without variable subscripts.
pub(super) fn constant_slot(place: &Place) -> Option<u32> {
    if !place.indices.iter().all(|index| matches!(index.at, Expr::Const(_))) {
        return None;
    }
    match place.possible_slots().as_slice() {
        [slot] => Some(*slot),
        _ => None,
    }
}

/// Collects the variables that are written.
struct Written(HashSet<(Scope, VariableId)>);

impl<'a> Visitor<'a> for Written {
    fn write(&mut self, place: &'a Place) {
        self.0.insert((place.scope, place.variable));
    }

    /// Nothing is written in an expression.
    fn expr(&mut self, _: &'a Expr) {}

    fn shared(&mut self, _: &'a Shared) {}
}

/// Puts what was assigned in the place of what is read.
struct Substitution<'a> {
    assigned: &'a Assigned,
    is_possible: bool,
    made: Made,
}

impl Folder for Substitution<'_> {
    fn expr(&mut self, expr: &Expr) -> Expr {
        let Expr::Read(place) = expr else { return fold_expr(self, expr) };
        let key = (place.scope, place.variable);
        let mut written = self.assigned.cells.iter().filter(|(scope, variable, ..)| (*scope, *variable) == key);
        let is_unknown = self.assigned.unknown.contains(&key);
        match constant_slot(place) {
            Some(slot) => match written.find(|(_, _, other, _)| *other == slot) {
                Some((.., value)) => value.clone(),
                None => {
                    self.is_possible &= !is_unknown;
                    expr.clone()
                }
            },
            None if is_unknown || written.next().is_some() => {
                self.is_possible = false;
                expr.clone()
            }
            None => fold_expr(self, expr),
        }
    }

    fn shared(&mut self, shared: &Shared) -> Expr {
        if let Some(made) = self.made.get(shared) {
            return made;
        }
        let made = self.expr(shared);
        self.made.keep(shared, made)
    }
}
