//! Dead variables: a cell that is not read again before it is assigned has its initial value (Yorav, section 3.3.2).
//!
//! Considered are cells of variables that no other process and no property reads ([`candidates`]), elements of arrays and
//! fields of records included. Where a cell is dead in any case ([`liveness`]), the edges that lead there reset it; where it
//! is dead under a condition ([`partial`]), they reset it if the condition holds. States that differ only in dead cells are
//! bisimilar, and the conditions are the same in both; so every combination of such resets preserves CTL*.

mod candidates;
mod condition;
mod liveness;
mod partial;

use ample_model::facts::{Facts, Lens};
use ample_model::{
    Action, Budget, Communication, Edge, Expr, Instruction, Interrupted, Pattern, ProcessId, ProcessType, Role, System,
};

use self::candidates::{Candidate, Candidates};
use self::condition::Condition;
use self::liveness::{Liveness, Set};
use self::partial::Partial;
use super::seen::Seen;

/// Cells times edges of a process type; more are left alone.
const MAX_WORK: usize = 2_000_000;
/// The same for conditions.
const MAX_PARTIAL_WORK: usize = 20_000;

/// The process types that are looked at, with their candidates.
fn subjects<'a>(
    system: &'a System,
    facts: &'a Facts,
    seen: &'a Seen,
) -> impl Iterator<Item = (ProcessId, &'a ProcessType, Candidates)> {
    let subject = move |number: usize| {
        let id = ProcessId::from(number);
        let process = &system.processes[number];
        if process.role != Role::Process || process.locations.len() < 2 {
            return None;
        }
        let candidates = Candidates::of(system, facts, seen, id);
        let is_small = candidates.len().saturating_mul(process.edges.len()) <= MAX_WORK;
        (candidates.len() > 0 && is_small).then_some((id, process, candidates))
    };
    (0..system.processes.len()).filter_map(subject)
}

/// Resets dead variables; how many resets there are.
pub(super) fn reset(system: &mut System, facts: &Facts, seen: &Seen, budget: &Budget) -> Result<usize, Interrupted> {
    let mut added: Vec<(ProcessId, usize, Vec<Instruction>)> = Vec::new();
    let lens = Lens::new(system);
    for (id, process, candidates) in subjects(system, facts, seen) {
        budget.check()?;
        let liveness = Liveness { candidates: &candidates, process, id, lens: &lens };
        let live = liveness.at_locations();
        let mut resets: Vec<Vec<Instruction>> = vec![Vec::new(); process.edges.len()];
        for (number, edge) in process.edges.iter().enumerate().filter(|(_, edge)| !edge.ends_process()) {
            resets[number] = dead_resets(process, &candidates, &live, edge);
        }
        if candidates.len().saturating_mul(process.edges.len()) <= MAX_PARTIAL_WORK {
            let partial = Partial::new(&liveness, &live, seen);
            for (cell, candidate) in candidates.iter() {
                budget.check()?;
                let dead = partial.conditions(cell);
                for (number, edge) in process.edges.iter().enumerate().filter(|(_, edge)| !edge.ends_process()) {
                    resets[number].extend(partial_reset(&liveness, (cell, candidate), &dead, edge));
                }
            }
        }
        let resets = resets.into_iter().enumerate().filter(|(_, resets)| !resets.is_empty());
        added.extend(resets.map(|(number, resets)| (id, number, resets)));
    }
    let count = added.iter().map(|(.., instructions)| instructions.len()).sum();
    for (id, edge, instructions) in added {
        system.processes[id.index()].edges[edge].effect.extend(instructions);
    }
    Ok(count)
}

/// The resets of cells that are dead where an edge leads, and may not have been before.
fn dead_resets(process: &ProcessType, candidates: &Candidates, live: &[Set], edge: &Edge) -> Vec<Instruction> {
    let mut written = Set::empty(candidates.len());
    edge.written_places()
        .into_iter()
        .flat_map(|place| candidates.possible(place))
        .for_each(|cell| written.insert(cell));
    let needs_reset = |(cell, candidate): (usize, &Candidate)| {
        let is_first = edge.from == process.initial && candidate.starts_otherwise;
        let may_differ = written.contains(cell) || is_first || live[edge.from.index()].contains(cell);
        let is_dead = !live[edge.to.index()].contains(cell);
        (is_dead && may_differ).then(|| candidate.reset())
    };
    candidates.iter().filter_map(needs_reset).collect()
}

/// The reset of a cell that is dead under a condition where an edge leads, unless that was so before.
fn partial_reset(
    liveness: &Liveness<'_>,
    (cell, candidate): (usize, &Candidate),
    dead: &[Condition],
    edge: &Edge,
) -> Option<Instruction> {
    let (before, after) = (&dead[edge.from.index()], &dead[edge.to.index()]);
    if after.is_false() || after.is_true() {
        return None;
    }
    let written = edge.written_places();
    let is_written = written.iter().any(|place| liveness.candidates.possible(place).any(|other| other == cell));
    let reads = |expr: &Expr| liveness.lens.expr(liveness.id, expr).reads;
    let changes = after
        .expressions()
        .flat_map(reads)
        .any(|cells| written.iter().any(|place| (place.scope, place.variable) == (cells.scope, cells.variable)));
    let is_first = edge.from == liveness.process.initial && candidate.starts_otherwise;
    let was_reset = after.implies(before) && !is_written && !changes && !is_first;
    (!was_reset).then(|| candidate.reset_if(after.expr()))
}

/// Leaves out what is stored and not read again: assignments that cannot be faults, and what is received. How many.
pub(super) fn leave_out_stores(
    system: &mut System,
    facts: &Facts,
    seen: &Seen,
    budget: &Budget,
) -> Result<usize, Interrupted> {
    let mut changed: Vec<(ProcessId, usize, Edge)> = Vec::new();
    let mut count = 0;
    let lens = Lens::new(system);
    for (id, process, candidates) in subjects(system, facts, seen) {
        budget.check()?;
        let liveness = Liveness { candidates: &candidates, process, id, lens: &lens };
        let live = liveness.at_locations();
        for (number, edge) in process.edges.iter().enumerate() {
            let after = liveness.in_program(&edge.effect, &live[edge.to.index()]);
            let (edge, left_out) = without_stores(&liveness, edge, &after);
            if left_out > 0 {
                count += left_out;
                changed.push((id, number, edge));
            }
        }
    }
    for (id, number, edge) in changed {
        system.processes[id.index()].edges[number] = edge;
    }
    Ok(count)
}

/// An edge without stores that are not read again, by what is live before each instruction; and how many there were.
fn without_stores(liveness: &Liveness<'_>, edge: &Edge, live: &[Set]) -> (Edge, usize) {
    let mut edge = edge.clone();
    let mut count = 0;
    let mut ignore = |communication: &mut Communication, live: &Set| {
        let Communication::Receive { patterns, .. } = communication else { return };
        for pattern in patterns {
            if matches!(pattern, Pattern::Bind(place) if liveness.is_dead_cell(place, live)) {
                *pattern = Pattern::Ignore;
                count += 1;
            }
        }
    };
    if let Some(communication) = &mut edge.communication {
        ignore(communication, &live[0]);
    }
    for (number, instruction) in edge.effect.iter_mut().enumerate() {
        if let Instruction::Do(Action::Communicate(communication)) = instruction {
            ignore(communication, &live[number + 1]);
        }
    }
    for (number, instruction) in edge.effect.iter_mut().enumerate() {
        let is_dead = matches!(instruction, Instruction::Do(Action::Assign(place, value))
            if liveness.is_dead_store(place, value, &live[number + 1]));
        if is_dead {
            *instruction = Instruction::Do(Action::Test(Expr::TRUE));
            count += 1;
        }
    }
    (edge, count)
}
