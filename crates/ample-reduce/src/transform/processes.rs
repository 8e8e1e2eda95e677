//! Slicing of processes: those on which nothing that is asked depends do not move any more.
//!
//! Such a process neither communicates nor starts others, cannot be a fault, and writes nothing that a property or a process
//! that matters reads. What it does is not seen; but that it moves may be: without fairness, others may wait for it for ever,
//! and where it can move there is no deadlock. Therefore it depends on its fate what takes its place:
//!
//! - It always has an executable step and never ends: a step that changes nothing. Others may be kept waiting, as before.
//! - It always has an executable step until it ends, and has no cycles: it stands at its end from the beginning.
//! - The same with cycles, which it may or may not leave: as before, but not for properties of infinite runs. A deadlock that
//!   is found is one of the original system if the process does come to its end, which replaying the run shows.
//! - Anything else: it stays where it is, but only if every property is about single states or steps, and nobody sees whether
//!   it is blocked or has ended.

use std::collections::HashSet;

use ample_model::facts::{EdgeFacts, Facts, Traits};
use ample_model::{
    Edge, EdgeId, Expr, Initial, LocationId, ProcessId, ProcessType, Property, Question, Role, Scope, System,
    VariableId,
};

use super::paths::is_total;
use super::seen::Seen;

/// What becomes of a process that is left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// It moves for ever.
    Moves,
    /// It ends, without cycles before.
    Ends,
    /// It ends or moves for ever.
    Either,
    /// It may be blocked.
    Unknown,
}

/// The process types that do not matter.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Removed {
    /// All of them.
    pub all: Vec<ProcessId>,
    /// Those whose processes stand at their end, or move without effect.
    pub moved: Vec<ProcessId>,
}

/// Takes the steps of processes away that do not matter.
pub(super) fn remove(system: &mut System, facts: &Facts, seen: &Seen, properties: &[Property]) -> Removed {
    let mut removed = Removed::default();
    if seen.every_step || !system.actions.is_empty() {
        return removed;
    }
    let context = Context { system, facts, seen, asked: Asked::of(properties) };
    // What cannot be replaced matters: others may be blocked by it.
    let silent = (0..system.processes.len()).map(ProcessId::from).filter(|id| context.is_silent(*id));
    let mut replaced: Vec<(ProcessId, ProcessType, bool)> = silent
        .filter_map(|id| {
            let (process, is_moved) = context.replaced(id)?;
            Some((id, process, is_moved))
        })
        .collect();
    let mut useless: HashSet<ProcessId> = replaced.iter().map(|(id, ..)| *id).collect();
    while let Some(id) = useless.iter().copied().find(|id| context.is_read(*id, &useless)) {
        useless.remove(&id);
    }
    replaced.retain(|(id, ..)| useless.contains(id));
    for (id, process, is_moved) in replaced {
        removed.all.push(id);
        removed.moved.extend(is_moved.then_some(id));
        system.processes[id.index()] = process;
    }
    removed
}

/// What the properties are about.
#[derive(Clone, Copy, Debug, Default)]
struct Asked {
    deadlock: bool,
    /// Infinite runs, or trees of them.
    runs: bool,
    /// The largest value, which must be exact.
    bound: bool,
}

impl Asked {
    fn of(properties: &[Property]) -> Asked {
        let mut asked = Asked::default();
        for property in properties {
            match property.question {
                Question::Invariant(_) | Question::Assertions => {}
                Question::Bound(_) => asked.bound = true,
                Question::Deadlock => asked.deadlock = true,
                _ => asked.runs = true,
            }
        }
        asked
    }
}

struct Context<'a> {
    system: &'a System,
    facts: &'a Facts,
    seen: &'a Seen,
    asked: Asked,
}

impl Context<'_> {
    fn edges(&self, id: ProcessId) -> impl Iterator<Item = &EdgeFacts> {
        (0..self.system.process(id).edges.len()).map(move |edge| self.facts.edge(id, edge.into()))
    }

    /// Nobody sees its variables and locations, and it does nothing but assign to variables.
    fn is_silent(&self, id: ProcessId) -> bool {
        let process = self.system.process(id);
        let is_looked_at =
            self.seen.locals.iter().any(|(of, _)| *of == id) || self.seen.locations.iter().any(|(of, _)| *of == id);
        let has_steps = process.edges.iter().any(|edge| !edge.ends_process());
        let owns_channels =
            process.locals.iter().any(|v| v.initial.iter().any(|(_, i)| matches!(i, Initial::Channel(_))));
        process.role == Role::Process
            && self.exists(id)
            && process.provided.is_none()
            && has_steps
            && !is_looked_at
            && !owns_channels
            && self.edges(id).all(|facts| is_silent(&process.edges[facts.edge.index()], facts))
    }

    /// There may be a process of the type.
    fn exists(&self, id: ProcessId) -> bool {
        let is_started = self.system.start.iter().any(|instance| instance.process == id);
        is_started || self.facts.edges().any(|edge| edge.spawns.contains(&id))
    }

    /// It writes a global variable that a property or a process reads that matters.
    fn is_read(&self, id: ProcessId, useless: &HashSet<ProcessId>) -> bool {
        let globals = |facts: &EdgeFacts| -> Vec<VariableId> {
            let writes = facts.all.writes.iter().filter(|cells| cells.scope == Scope::Global);
            writes.map(|cells| cells.variable).collect()
        };
        let written: HashSet<VariableId> = self.edges(id).flat_map(globals).collect();
        let is_read = |variable: &VariableId| {
            let others = self.facts.edges().filter(|edge| !useless.contains(&edge.process));
            let mut reads = others.flat_map(|edge| &edge.all.reads);
            self.seen.globals.contains(variable)
                || self.seen.is_read_outside(*variable)
                || reads.any(|cells| cells.scope == Scope::Global && cells.variable == *variable)
        };
        written.iter().any(is_read)
    }

    fn fate(&self, id: ProcessId) -> Fate {
        let process = self.system.process(id);
        let reached = reached(process);
        let is_end = |location: &LocationId| is_end(process, *location);
        if !reached.iter().all(|location| is_end(location) || is_total(process, *location)) {
            return Fate::Unknown;
        }
        match (reached.iter().any(is_end), has_cycle(process)) {
            (false, _) => Fate::Moves,
            (true, false) => Fate::Ends,
            (true, true) => Fate::Either,
        }
    }

    /// What takes the place of the process type, if that is sound; and whether its processes move there or stand at their
    /// end.
    fn replaced(&self, id: ProcessId) -> Option<(ProcessType, bool)> {
        let process = self.system.process(id);
        let has_control = process.edges.iter().any(|edge| edge.keeps_control);
        let waits = self.facts.edges().any(|edge| edge.all.traits.timeout);
        let is_about_states = !(self.asked.runs || self.asked.bound || waits);
        let moved = match self.fate(id) {
            Fate::Moves if !has_control => Some(moving(process)),
            Fate::Ends => ended(process),
            Fate::Either if is_about_states && !has_control => ended(process),
            _ => None,
        };
        let may_stand = || !self.asked.runs && !self.asked.deadlock && !waits && !self.sees_ends();
        match moved {
            Some(process) => Some((process, true)),
            None => may_stand().then(|| (standing(process, None), false)),
        }
    }

    /// Somebody sees whether a process has ended: by the number of processes, or the number of a new one.
    fn sees_ends(&self) -> bool {
        let counts = |edge: &EdgeFacts| edge.all.traits.process_count && !edge.ends;
        self.seen.process_count || self.facts.edges().any(|edge| counts(edge) || !edge.spawns.is_empty())
    }
}

/// The step changes variables and nothing else, or ends the process.
fn is_silent(edge: &Edge, facts: &EdgeFacts) -> bool {
    let Traits { timeout, enabled, location_of, at, last_mover, non_progress, accepting, .. } = facts.all.traits;
    let Traits { process_count, priority, heap, sets_priority, asserts, may_fault, remote, .. } = facts.all.traits;
    let looks =
        timeout || enabled || location_of || at || last_mover || non_progress || accepting || priority || remote;
    let acts = heap || sets_priority || asserts || may_fault;
    edge.communication.is_none()
        && edge.action.is_none()
        && facts.all.channels.is_empty()
        && facts.spawns.is_empty()
        && !facts.monitored
        && !(looks || acts || process_count && !facts.ends)
}

/// The process has ended there, or can do nothing else.
fn is_end(process: &ProcessType, location: LocationId) -> bool {
    process.locations[location.index()].edges.iter().all(|edge| process.edges[edge.index()].ends_process())
}

/// The locations that it can come to.
fn reached(process: &ProcessType) -> Vec<LocationId> {
    let mut reached = vec![process.initial];
    let mut next = 0;
    while let Some(location) = reached.get(next) {
        for edge in &process.locations[location.index()].edges {
            let to = process.edges[edge.index()].to;
            if !reached.contains(&to) {
                reached.push(to);
            }
        }
        next += 1;
    }
    reached
}

/// A location can be come to again from itself.
fn has_cycle(process: &ProcessType) -> bool {
    // Locations all of whose successors are known to be on no cycle are on none.
    let mut open: HashSet<LocationId> = reached(process).into_iter().collect();
    loop {
        let is_free = |location: &LocationId| {
            let edges = process.locations[location.index()].edges.iter().map(|edge| &process.edges[edge.index()]);
            edges.filter(|edge| !edge.ends_process()).all(|edge| !open.contains(&edge.to))
        };
        let free: Vec<LocationId> = open.iter().copied().filter(is_free).collect();
        if free.is_empty() {
            return !open.is_empty();
        }
        free.iter().for_each(|location| _ = open.remove(location));
    }
}

/// A process that stands where it starts, with that edge at most.
fn standing(process: &ProcessType, edge: Option<Edge>) -> ProcessType {
    let mut standing = ProcessType { edges: Vec::new(), structure: None, ..process.clone() };
    standing.locations.iter_mut().for_each(|location| location.edges.clear());
    if let Some(edge) = edge {
        standing.locations[process.initial.index()].edges.push(EdgeId(0));
        standing.edges.push(edge);
    }
    standing
}

/// A process that moves for ever, and changes nothing.
fn moving(process: &ProcessType) -> ProcessType {
    let at = process.initial;
    let first = process.locations[at.index()].edges.first().map(|edge| &process.edges[edge.index()]);
    let step = first.map(|first| Edge {
        from: at,
        to: at,
        guard: Vec::new(),
        communication: None,
        effect: Vec::new(),
        keeps_control: false,
        ..first.clone()
    });
    standing(process, step)
}

/// A process that stands at its end; `None` if it has different ones.
fn ended(process: &ProcessType) -> Option<ProcessType> {
    let ends: Vec<LocationId> = reached(process).into_iter().filter(|location| is_end(process, *location)).collect();
    let (first, rest) = ends.split_first()?;
    let location = &process.locations[first.index()];
    let is_same = |other: &LocationId| {
        let other = &process.locations[other.index()];
        other.end == location.end && other.edges.is_empty() == location.edges.is_empty()
    };
    if !rest.iter().all(is_same) || location.edges.len() > 1 {
        return None;
    }
    let edge = location.edges.first().map(|edge| process.edges[edge.index()].clone());
    let at = process.initial;
    // Nothing of its variables is left that its end could depend on.
    let is_plain = edge.as_ref().is_none_or(|edge| edge.effect.len() == 1 && edge.guard.iter().all(reads_nothing));
    let edge = edge.map(|edge| Edge { from: at, to: at, ..edge });
    let mut ended = standing(process, edge);
    ended.locations[at.index()].end = location.end;
    is_plain.then_some(ended)
}

fn reads_nothing(expr: &Expr) -> bool {
    let mut reads = false;
    expr.walk(&mut |part| reads |= matches!(part, Expr::Read(_) | Expr::Blocked(_)));
    !reads
}
