//! Slicing: variables that nothing asked for depends on are not assigned any more.
//!
//! A variable matters if a guard, a communication, a subscript, an assertion, an argument of a new process or anything that
//! may be a fault reads it, if a property or another process does, or if a value that is assigned to a variable that
//! matters is computed from it. All steps stay, with what makes them executable; only assignments to other variables go, so
//! that these keep their first values. A counter that nobody reads no longer makes states different.

use std::collections::HashSet;

use ample_model::facts::{Cells, Lens};
use ample_model::visit::Visitor;
use ample_model::{
    Action, Communication, Expr, Initial, Instruction, Pattern, Place, ProcessId, Role, Scope, Shared, System, Type,
    VariableId,
};

use super::seen::Seen;

/// A variable: of a process type, or a global one.
type Key = (Option<ProcessId>, VariableId);

fn key(process: ProcessId, scope: Scope, variable: VariableId) -> Key {
    match scope {
        Scope::Global => (None, variable),
        Scope::Local => (Some(process), variable),
    }
}

/// Leaves out the assignments; the variables that do not matter.
pub(super) fn slice(system: &mut System, seen: &Seen) -> Vec<Key> {
    if seen.every_step {
        return Vec::new();
    }
    let useless = useless(system, seen);
    for (number, process) in system.processes.iter_mut().enumerate().filter(|(_, p)| p.role == Role::Process) {
        let is_useless = |place: &Place| useless.contains(&key(number.into(), place.scope, place.variable));
        for edge in &mut process.edges {
            if let Some(Communication::Receive { patterns, .. }) = &mut edge.communication {
                ignore(patterns, &is_useless);
            }
            edge.effect.iter_mut().for_each(|instruction| leave_out(instruction, &is_useless));
        }
    }
    let mut useless: Vec<Key> = useless.into_iter().collect();
    useless.sort_unstable();
    useless
}

fn leave_out(instruction: &mut Instruction, is_useless: &impl Fn(&Place) -> bool) {
    match instruction {
        Instruction::Do(Action::Assign(place, _)) if is_useless(place) => {
            *instruction = Instruction::Do(Action::Test(Expr::TRUE));
        }
        Instruction::Do(Action::AssignAll(pairs)) => pairs.retain(|(place, _)| !is_useless(place)),
        Instruction::Do(Action::Communicate(Communication::Receive { patterns, .. }))
        | Instruction::Try(Action::Communicate(Communication::Receive { patterns, .. }), _) => {
            ignore(patterns, is_useless);
        }
        _ => {}
    }
}

fn ignore(patterns: &mut [Pattern], is_useless: &impl Fn(&Place) -> bool) {
    for pattern in patterns {
        if matches!(pattern, Pattern::Bind(place) if is_useless(place)) {
            *pattern = Pattern::Ignore;
        }
    }
}

/// The variables that are assigned and do not matter.
fn useless(system: &System, seen: &Seen) -> HashSet<Key> {
    let lens = Lens::new(system);
    let mut flow =
        Flow { lens: &lens, process: ProcessId(0), roots: HashSet::new(), flows: Vec::new(), assigned: HashSet::new() };
    flow.roots.extend(seen.globals.iter().map(|variable| (None, *variable)));
    flow.roots.extend(seen.locals.iter().map(|(process, variable)| (Some(*process), *variable)));
    for (number, process) in system.processes.iter().enumerate().filter(|(_, process)| process.role == Role::Process) {
        flow.process = number.into();
        process.provided.iter().for_each(|condition| flow.root(condition));
        for variable in &process.locals {
            for (_, initial) in &variable.initial {
                if let Initial::Value(expr) = initial {
                    flow.root(expr);
                }
            }
        }
        process.edges.iter().for_each(|edge| flow.edge(edge));
    }
    // Handles of channels and ids of processes say what a step touches; several first values are several initial states.
    let mut keep = |key: Key, variable: &ample_model::Variable| {
        let is_number = match &variable.ty {
            Type::Scalar(scalar) => is_number(*scalar),
            Type::Array { element, .. } => matches!(&**element, Type::Scalar(scalar) if is_number(*scalar)),
            Type::Record(_) => false,
        };
        let is_single = variable.initial.iter().all(|(_, initial)| matches!(initial, Initial::Value(_)));
        if !is_number || !is_single || variable.hidden {
            flow.roots.insert(key);
        }
    };
    system.globals.iter().enumerate().for_each(|(id, variable)| keep((None, id.into()), variable));
    for (number, process) in system.processes.iter().enumerate() {
        for (id, variable) in process.locals.iter().enumerate() {
            keep((Some(number.into()), id.into()), variable);
        }
    }
    let mut matters = flow.roots;
    loop {
        let before = matters.len();
        for (target, sources) in &flow.flows {
            if matters.contains(target) {
                matters.extend(sources.iter().copied());
            }
        }
        if matters.len() == before {
            return flow.assigned.difference(&matters).copied().collect();
        }
    }
}

fn is_number(scalar: ample_model::Scalar) -> bool {
    use ample_model::Scalar;
    matches!(scalar, Scalar::Int { .. } | Scalar::Range { .. } | Scalar::Enumeration(_))
}

/// Collects what is read for what.
struct Flow<'a, 's> {
    lens: &'a Lens<'s>,
    process: ProcessId,
    /// What matters in itself.
    roots: HashSet<Key>,
    /// What the value of a variable is computed from.
    flows: Vec<(Key, Vec<Key>)>,
    assigned: HashSet<Key>,
}

impl Flow<'_, '_> {
    fn reads(&self, expr: &Expr) -> Vec<Key> {
        let usage = self.lens.expr(self.process, expr);
        let key = |cells: &Cells| key(self.process, cells.scope, cells.variable);
        let remote = usage.remote_reads.iter().map(|(process, cells)| (Some(*process), cells.variable));
        usage.reads.iter().map(key).chain(remote).collect()
    }

    fn root(&mut self, expr: &Expr) {
        let reads = self.reads(expr);
        self.roots.extend(reads);
    }

    /// A value is stored; one that may be a fault matters.
    fn stored(&mut self, place: &Place, value: Option<&Expr>) {
        let target = key(self.process, place.scope, place.variable);
        self.assigned.insert(target);
        let (_, subscripts) = self.lens.place(self.process, place);
        let may_fault = value.is_some_and(|value| self.lens.expr(self.process, value).traits.may_fault);
        let fits = !matches!(place.scalar, ample_model::Scalar::Range { overflow: ample_model::Overflow::Fault, .. });
        if may_fault || subscripts.traits.may_fault || !fits {
            self.roots.insert(target);
        }
        let mut sources: Vec<Key> = value.map(|value| self.reads(value)).unwrap_or_default();
        sources.extend(subscripts.reads.iter().map(|cells| key(self.process, cells.scope, cells.variable)));
        self.flows.push((target, sources));
    }
}

impl<'a> Visitor<'a> for Flow<'_, '_> {
    fn instruction(&mut self, instruction: &'a Instruction) {
        match instruction {
            Instruction::Do(Action::Assign(place, value)) => self.stored(place, Some(value)),
            Instruction::Do(Action::AssignAll(pairs)) => {
                pairs.iter().for_each(|(place, value)| self.stored(place, Some(value)));
            }
            Instruction::Do(Action::Print { .. }) | Instruction::Jump(_) | Instruction::Fail(_) => {}
            // Whether it is performed is seen.
            Instruction::Try(Action::Assign(place, value), _) => {
                self.stored(place, Some(value));
                let target = key(self.process, place.scope, place.variable);
                self.roots.insert(target);
            }
            Instruction::Do(action) | Instruction::Try(action, _) => self.action(action),
        }
    }

    fn write(&mut self, place: &'a Place) {
        // Received into, or a reference to a new object.
        self.stored(place, None);
    }

    fn expr(&mut self, expr: &'a Expr) {
        self.root(expr);
    }

    fn shared(&mut self, shared: &'a Shared) {
        self.root(shared);
    }
}
