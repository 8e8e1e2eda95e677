//! The cells of a process type that may be reset: those of local variables that nobody else reads, and of global ones that
//! only one process uses.

use std::collections::HashMap;

use ample_model::facts::Facts;
use ample_model::{
    Action, Edge, Expr, Initial, Instruction, Place, ProcessId, Scalar, Scope, System, Variable, VariableId,
};

use crate::transform::seen::Seen;
use crate::transform::substitute::constant_slot;

/// A variable with more cells is left alone: every reset of all of them costs as many instructions.
const MAX_SLOTS: u32 = 64;

/// A cell that may be reset.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub scope: Scope,
    pub variable: VariableId,
    pub slot: u32,
    pub scalar: Scalar,
    /// What it is reset to.
    pub value: i64,
    /// It may start with another value.
    pub starts_otherwise: bool,
}

impl Candidate {
    pub fn place(&self) -> Place {
        let Candidate { scope, variable, slot, scalar, .. } = *self;
        Place { scope, variable, offset: slot, indices: Vec::new(), scalar }
    }

    /// The assignment that resets it.
    pub fn reset(&self) -> Instruction {
        Instruction::Do(Action::Assign(self.place(), Expr::Const(self.value)))
    }

    /// The assignment that resets it under a condition.
    pub fn reset_if(&self, condition: Expr) -> Instruction {
        let kept = Expr::Read(self.place());
        let value = Expr::Conditional(condition.into(), Expr::Const(self.value).into(), kept.into());
        Instruction::Do(Action::Assign(self.place(), value))
    }
}

/// The cells of a process type that may be reset.
pub(super) struct Candidates {
    cells: Vec<Candidate>,
    /// By variable: the numbers of its cells, by slot.
    numbers: HashMap<(Scope, VariableId), Vec<Option<usize>>>,
}

impl Candidates {
    /// Those that are assigned by this process type.
    pub fn of(system: &System, facts: &Facts, seen: &Seen, id: ProcessId) -> Candidates {
        let process = system.process(id);
        let mut candidates = Candidates { cells: Vec::new(), numbers: HashMap::new() };
        for place in process.edges.iter().flat_map(Edge::written_places) {
            let key = (place.scope, place.variable);
            if !candidates.numbers.contains_key(&key) {
                let cells = cells(system, facts, seen, id, key);
                candidates.add(key, cells);
            }
        }
        candidates
    }

    fn add(&mut self, key: (Scope, VariableId), cells: Vec<Option<Candidate>>) {
        let number = |cell: Option<Candidate>| {
            self.cells.extend(cell.clone());
            cell.map(|_| self.cells.len() - 1)
        };
        let numbers = cells.into_iter().map(number).collect();
        self.numbers.insert(key, numbers);
    }

    pub fn len(&self) -> usize {
        self.cells.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = (usize, &Candidate)> {
        self.cells.iter().enumerate()
    }

    fn of_variable(&self, place: &Place) -> &[Option<usize>] {
        self.numbers.get(&(place.scope, place.variable)).map(Vec::as_slice).unwrap_or_default()
    }

    /// The cell that an assignment to the place defines, if that is certain.
    pub fn defined(&self, place: &Place) -> Option<usize> {
        let numbers = self.of_variable(place);
        if numbers.is_empty() {
            return None;
        }
        numbers.get(constant_slot(place)? as usize).copied().flatten()
    }

    /// The cells that the place can mean.
    pub fn possible(&self, place: &Place) -> impl Iterator<Item = usize> {
        let numbers = self.of_variable(place);
        let slots = if numbers.is_empty() { Vec::new() } else { place.possible_slots() };
        slots.into_iter().filter_map(|slot| numbers.get(slot as usize).copied().flatten())
    }
}

/// By slot of a variable: the cell, if it may be reset.
fn cells(
    system: &System,
    facts: &Facts,
    seen: &Seen,
    id: ProcessId,
    (scope, variable): (Scope, VariableId),
) -> Vec<Option<Candidate>> {
    let process = system.process(id);
    let declared: Option<&Variable> = match scope {
        Scope::Local => process.locals.get(variable.index()),
        Scope::Global => system.globals.get(variable.index()),
    };
    let Some(declared) = declared else { return Vec::new() };
    let is_private = match scope {
        Scope::Local => !seen.locals.contains(&(id, variable)),
        Scope::Global => seen.owner(variable) == Some(id),
    };
    let is_provided = facts
        .provided(id)
        .is_some_and(|usage| usage.reads.iter().any(|cells| cells.scope == scope && cells.variable == variable));
    if !is_private || is_provided || declared.hidden || system.slots(&declared.ty) > MAX_SLOTS {
        return Vec::new();
    }
    let is_parameter = scope == Scope::Local && variable.0 < process.parameters;
    let candidate = |(slot, scalar): (usize, Scalar)| {
        if !matches!(scalar, Scalar::Int { .. } | Scalar::Range { .. } | Scalar::Enumeration(_)) {
            return None;
        }
        let slot = slot as u32;
        let (value, starts_otherwise) = match declared.initial.iter().find(|(listed, _)| *listed == slot) {
            None => (0, is_parameter),
            Some((_, Initial::Value(Expr::Const(value)))) => (*value, is_parameter),
            Some(_) => (0, true),
        };
        let fits = scalar.fit(value) == Some(value);
        fits.then_some(Candidate { scope, variable, slot, scalar, value, starts_otherwise })
    };
    system.scalars(&declared.ty).into_iter().enumerate().map(candidate).collect()
}
