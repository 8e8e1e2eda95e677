//! Systems in which nobody sees which ids processes have.
//!
//! A process gets the lowest free id, and leaves only when it is the youngest. So the order in which processes begin and
//! end shows in their ids, and in who is still there, waiting for younger ones to leave. If no expression can see an
//! id or the number of processes, no id decides whether there is a run-time error, and there are never too many processes,
//! all that makes no difference: a process that has come to its end does nothing, whether it has left or not, and states that
//! differ in the numbering behave alike. Then beginnings and ends of processes are independent of each other.

use std::collections::HashSet;

use ample_model::facts::Lens;
use ample_model::{Action, Edge, Expr, Instruction, Overflow, Place, ProcessId, Scalar, Scope, System, VariableId};

use super::operations::spawned;

/// Nobody sees which ids processes have. `looks` are the expressions of properties.
pub fn is_anonymous(system: &System, looks: &[Expr], lens: &Lens<'_>) -> bool {
    if system.monitor.is_some() || looks.iter().any(sees_ids) || !is_bounded(system) {
        return false;
    }
    // A process takes its channels along; only the oldest of all leaves when nobody can miss them.
    let has_channels = |process: &ProcessId| super::own_channels(system, *process) > 0;
    let spawned = system.processes.iter().flat_map(|process| &process.edges).flat_map(spawned);
    let started = system.start.iter().skip(1).map(|instance| instance.process);
    if spawned.chain(started).any(|process| has_channels(&process)) {
        return false;
    }
    let provided = system.processes.iter().flat_map(|process| &process.provided);
    let locals = system.processes.iter().flat_map(|process| &process.locals);
    let initials = locals.flat_map(|variable| &variable.initial);
    let values = initials.filter_map(|(_, initial)| match initial {
        ample_model::Initial::Value(expr) => Some(expr),
        _ => None,
    });
    if provided.chain(values).any(sees_ids) {
        return false;
    }
    let read = read_variables(system, looks);
    system.processes.iter().enumerate().all(|(number, process)| {
        let unread = |place: &Place| {
            let variable = variable_of(place, number.into());
            !read.contains(&variable) && !is_channel(system, number.into(), place.scope, place.variable)
        };
        let may_fault = |place: &Place, value: &Expr| {
            let process = ProcessId::from(number);
            let by_subscript =
                place.indices.iter().any(|index| sees_ids(&index.at)) && lens.place(process, place).1.traits.may_fault;
            let is_refused = matches!(place.scalar, Scalar::Range { overflow: Overflow::Fault, .. });
            by_subscript || sees_ids(value) && (is_refused || lens.expr(process, value).traits.may_fault)
        };
        process.edges.iter().all(|edge| is_blind(edge, &|place, value| unread(place) && !may_fault(place, value)))
    })
}

/// The expression depends on ids.
fn sees_ids(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |part| {
        found |= matches!(
            part,
            Expr::SelfId
                | Expr::ProcessCount
                | Expr::LastMover
                | Expr::Enabled(_)
                | Expr::LocationOf(_)
                | Expr::Priority(_)
                | Expr::At { .. }
                | Expr::Remote { .. }
        );
    });
    found
}

/// The edge does not see ids, except that it ends its process, and that it keeps one where nobody looks at it and nothing can go
/// wrong.
fn is_blind(edge: &Edge, is_unseen: &dyn Fn(&Place, &Expr) -> bool) -> bool {
    let mut edge = edge.clone();
    if edge.ends_process() {
        edge.guard.retain(|conjunct| *conjunct != super::operations::youngest());
    }
    edge.effect.retain(
        |instruction| !matches!(instruction, Instruction::Do(Action::Assign(place, value)) if is_unseen(place, value)),
    );
    !edge.expressions().into_iter().any(sees_ids)
}

/// A variable, with the type of its processes if it is local.
type Variable = (Option<ProcessId>, VariableId);

fn variable_of(place: &Place, owner: ProcessId) -> Variable {
    match place.scope {
        Scope::Global => (None, place.variable),
        Scope::Local => (Some(owner), place.variable),
    }
}

/// The variables that somebody reads.
fn read_variables(system: &System, looks: &[Expr]) -> HashSet<Variable> {
    let mut read = HashSet::new();
    for (number, process) in system.processes.iter().enumerate() {
        let edges = process.edges.iter().flat_map(Edge::expressions);
        for expr in edges.chain(&process.provided) {
            expr.walk(&mut |part| {
                if let Expr::Read(place) = part {
                    read.insert(variable_of(place, number.into()));
                }
            });
        }
    }
    for expr in looks {
        expr.walk(&mut |part| {
            if let Expr::Read(Place { scope: Scope::Global, variable, .. }) = part {
                read.insert((None, *variable));
            }
        });
    }
    read
}

fn is_channel(system: &System, owner: ProcessId, scope: Scope, variable: VariableId) -> bool {
    let variables = match scope {
        Scope::Global => &system.globals,
        Scope::Local => &system.process(owner).locals,
    };
    let scalars = system.scalars(&variables[variable.index()].ty);
    scalars.contains(&ample_model::Scalar::Channel)
}

/// No more processes are created than there may be: no process is created in a loop, nor by itself.
fn is_bounded(system: &System) -> bool {
    let mut count = vec![None; system.processes.len()];
    let mut total: u64 = 0;
    for instance in &system.start {
        let Some(born) = descendants(system, instance.process, &mut count, 0) else { return false };
        total += born;
    }
    total < u64::from(system.max_processes.min(250))
}

/// How many processes come from one of the type, itself included.
fn descendants(system: &System, process: ProcessId, known: &mut Vec<Option<u64>>, depth: usize) -> Option<u64> {
    if depth > system.processes.len() {
        return None;
    }
    if let Some(count) = known[process.index()] {
        return Some(count);
    }
    let ty = system.process(process);
    let reach = super::reach(ty);
    let mut count: u64 = 1;
    for edge in &ty.edges {
        for child in spawned(edge) {
            if reach[edge.to.index()].contains(edge.from.0) {
                return None;
            }
            count = count.checked_add(descendants(system, child, known, depth + 1)?)?;
        }
    }
    known[process.index()] = Some(count);
    Some(count)
}
