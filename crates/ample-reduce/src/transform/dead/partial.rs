//! Partially dead variables (Yorav, section 3.3.2): by location, a condition under which a cell is not read again before it
//! is assigned.
//!
//! The condition before an edge is the condition after it, with what the edge assigns substituted, if the edge does not read
//! the cell itself; at a location it holds for every edge that may be executable. It reads only what no other process
//! changes, so that it keeps its value while the process stands there; what is received, and what is not known, makes it
//! false. So it is an under-approximation.
//!
//! Cycles: a cell is dead in the greatest set of states from which no step reads it without leaving the set or assigning
//! it. Conditions that imply what the edges make of them describe a subset of it. They are looked for from above, beginning
//! with true; if that does not end soon, conditions are taken that begin with the locations where the cell is dead in any
//! case, which are sound after every round. This is the two-pass refinement of the thesis, for any control-flow graph.

use std::collections::HashSet;

use ample_model::facts::{Lens, Traits};
use ample_model::visit::Visitor;
use ample_model::{
    Action, Communication, Edge, EdgeId, Expr, Instruction, LocationId, Pattern, ProcessId, ProcessType, Scope,
    VariableId,
};

use super::condition::Condition;
use super::liveness::{Liveness, Set};
use crate::transform::seen::Seen;
use crate::transform::substitute::{Assigned, negation};

/// So many rounds from above, after so many of which conditions over what a cycle changes are left out.
const ROUNDS: usize = 8;
const EXACT_ROUNDS: usize = 3;

/// Finds the conditions of a process type.
pub(super) struct Partial<'a> {
    pub liveness: &'a Liveness<'a>,
    pub live: &'a [Set],
    pub seen: &'a Seen,
    /// The locations, those first that come last on paths.
    order: Vec<LocationId>,
    /// By location: the variables that are assigned on cycles through it.
    changed: Vec<HashSet<(Scope, VariableId)>>,
    /// By edge: what holds where it is executable, of what no other process changes.
    guards: Vec<Vec<Expr>>,
    /// By edge and instruction: what is live before it.
    in_programs: Vec<Vec<Set>>,
    /// By edge: what its guard and its communication read.
    read_before: Vec<Set>,
    /// By edge and instruction: what it reads for something that matters.
    read_in_programs: Vec<Vec<Set>>,
}

impl<'a> Partial<'a> {
    pub fn new(liveness: &'a Liveness<'a>, live: &'a [Set], seen: &'a Seen) -> Partial<'a> {
        let process = liveness.process;
        let in_programs =
            process.edges.iter().map(|edge| liveness.in_program(&edge.effect, &live[edge.to.index()])).collect();
        let mut partial = Partial {
            liveness,
            live,
            seen,
            order: postorder(process),
            changed: changed_on_cycles(process),
            guards: Vec::new(),
            in_programs,
            read_before: process.edges.iter().map(|edge| read_before(liveness, edge)).collect(),
            read_in_programs: Vec::new(),
        };
        let read = |(edge, live): (&Edge, &Vec<Set>)| {
            let instructions = edge.effect.iter().enumerate();
            instructions.map(|(number, instruction)| read_by(liveness, instruction, &live[number + 1])).collect()
        };
        partial.read_in_programs = process.edges.iter().zip(&partial.in_programs).map(read).collect();
        partial.guards = (0..process.edges.len()).map(|edge| partial.guard(edge.into())).collect();
        partial
    }

    /// By location: when the cell is dead there.
    pub fn conditions(&self, cell: usize) -> Vec<Condition> {
        self.iterated_down(cell).unwrap_or_else(|| self.iterated_up(cell))
    }

    fn at_first(&self, cell: usize, where_live: &Condition) -> Vec<Condition> {
        let first = |live: &Set| if live.contains(cell) { where_live.clone() } else { Condition::TRUE };
        self.live.iter().map(first).collect()
    }

    /// The locations where more than a constant can come out.
    fn open(&self, cell: usize) -> impl Iterator<Item = LocationId> {
        self.order.iter().copied().filter(move |location| self.live[location.index()].contains(cell))
    }

    /// Conditions that imply what the edges make of them; `None` if none were found.
    fn iterated_down(&self, cell: usize) -> Option<Vec<Condition>> {
        let mut dead = self.at_first(cell, &Condition::TRUE);
        for round in 0..ROUNDS {
            let mut is_stable = true;
            for location in self.open(cell) {
                let at = location.index();
                let mut now = self.at_location(cell, location, &dead);
                if dead[at].implies(&now) {
                    continue;
                }
                if round >= EXACT_ROUNDS {
                    now = now.and(&dead[at]).replaced(|expr| self.unchanged_on_cycles(location, expr));
                }
                is_stable = false;
                dead[at] = now;
            }
            if is_stable {
                return Some(dead);
            }
        }
        None
    }

    /// Conditions that are sound wherever one stops.
    fn iterated_up(&self, cell: usize) -> Vec<Condition> {
        let mut dead = self.at_first(cell, &Condition::falsity());
        for _ in 0..2 {
            for location in self.open(cell) {
                dead[location.index()] = self.at_location(cell, location, &dead);
            }
        }
        dead
    }

    fn unchanged_on_cycles(&self, location: LocationId, expr: &Expr) -> Option<Expr> {
        let reads = self.liveness.lens.expr(self.liveness.id, expr).reads;
        let changed = &self.changed[location.index()];
        reads.iter().all(|cells| !changed.contains(&(cells.scope, cells.variable))).then(|| expr.clone())
    }

    fn at_location(&self, cell: usize, location: LocationId, dead: &[Condition]) -> Condition {
        let mut condition = Condition::TRUE;
        for edge in &self.liveness.process.locations[location.index()].edges {
            condition = condition.and(&self.before_edge(cell, *edge, dead));
            if condition.is_false() {
                break;
            }
        }
        condition
    }

    fn before_edge(&self, cell: usize, id: EdgeId, dead: &[Condition]) -> Condition {
        let edge = &self.liveness.process.edges[id.index()];
        if self.read_before[id.index()].contains(cell) {
            return Condition::falsity();
        }
        let mut condition = self.before_communication(cell, edge, self.before_program(cell, id, dead));
        for conjunct in &self.guards[id.index()] {
            condition = Condition::of(conjunct, false).or(&condition);
        }
        condition
    }

    fn before_communication(&self, cell: usize, edge: &Edge, after: Condition) -> Condition {
        let Some(communication) = &edge.communication else { return after };
        if let Communication::Receive { patterns, .. } = communication {
            let mut bound = patterns.iter().filter_map(|pattern| match pattern {
                Pattern::Bind(place) => Some(place),
                _ => None,
            });
            if bound.any(|place| self.liveness.candidates.defined(place) == Some(cell)) {
                return Condition::TRUE;
            }
        }
        self.substituted(cell, &after, &Assigned::by(Some(communication), &[]))
    }

    /// At the beginning of the effect of an edge.
    fn before_program(&self, cell: usize, id: EdgeId, dead: &[Condition]) -> Condition {
        let edge = &self.liveness.process.edges[id.index()];
        let live = &self.in_programs[id.index()];
        // A jump backward finds what is certain there.
        let first = |live: &Set| if live.contains(cell) { Condition::falsity() } else { Condition::TRUE };
        let mut at: Vec<Condition> = live.iter().map(first).collect();
        at[edge.effect.len()] = dead[edge.to.index()].clone();
        for number in (0..edge.effect.len()).rev() {
            if !live[number].contains(cell) {
                continue;
            }
            if self.read_in_programs[id.index()][number].contains(cell) {
                at[number] = Condition::falsity();
                continue;
            }
            at[number] = match &edge.effect[number] {
                Instruction::Do(action) => self.before_action(cell, action, &at[number + 1]),
                Instruction::Try(Action::Test(condition), otherwise) => {
                    let (next, other) = (&at[number + 1], &at[*otherwise as usize]);
                    self.at_choice(condition, next, other)
                }
                Instruction::Try(action, otherwise) => {
                    let next = self.before_action(cell, action, &at[number + 1]);
                    next.and(&at[*otherwise as usize])
                }
                Instruction::Jump(target) => at[*target as usize].clone(),
                Instruction::Fail(_) => Condition::TRUE,
            };
        }
        at.swap_remove(0)
    }

    fn at_choice(&self, condition: &Expr, next: &Condition, other: &Condition) -> Condition {
        if !self.is_stable(condition) {
            return next.and(other);
        }
        let (not, holds) = (Condition::of(condition, false), Condition::of(condition, true));
        not.or(next).and(&holds.or(other))
    }

    fn before_action(&self, cell: usize, action: &Action, after: &Condition) -> Condition {
        match action {
            Action::Assign(place, _) if self.liveness.candidates.defined(place) == Some(cell) => Condition::TRUE,
            Action::End => Condition::TRUE,
            _ if after.is_true() || after.is_false() => after.clone(),
            _ => {
                let mut assigned = Assigned::default();
                assigned.extend(std::slice::from_ref(&Instruction::Do(action.clone())));
                self.substituted(cell, after, &assigned)
            }
        }
    }

    /// A condition after assignments as one before them.
    fn substituted(&self, cell: usize, after: &Condition, assigned: &Assigned) -> Condition {
        after.replaced(|expr| {
            let before = assigned.before(expr)?;
            let is_used = self.liveness.uses(|uses| uses.expr(&before)).contains(cell);
            (!is_used && self.is_stable(&before)).then_some(before)
        })
    }

    /// What holds where an edge is executable, as far as no other process changes it.
    fn guard(&self, id: EdgeId) -> Vec<Expr> {
        let edge = &self.liveness.process.edges[id.index()];
        let mut guard = Vec::new();
        for conjunct in &edge.guard {
            match conjunct {
                Expr::Blocked(others) => {
                    // Of a sibling that is nothing but a condition, it is known when it is blocked.
                    let others = others.iter().map(|other| &self.liveness.process.edges[other.index()]);
                    let is_condition = |other: &&Edge| {
                        other.communication.is_none()
                            && other.action.is_none()
                            && !other.ends_process()
                            && other.guard.iter().all(|conjunct| self.is_stable(conjunct))
                    };
                    guard.extend(others.filter(is_condition).map(|other| negation(other.guard.clone())));
                }
                conjunct if self.is_stable(conjunct) => guard.push(conjunct.clone()),
                _ => {}
            }
        }
        guard
    }

    /// No other process changes the value of the expression, and it is never a fault.
    fn is_stable(&self, expr: &Expr) -> bool {
        is_stable(self.liveness.lens, self.seen, self.liveness.id, expr)
    }
}

/// What the guard and the communication of an edge read.
fn read_before(liveness: &Liveness<'_>, edge: &Edge) -> Set {
    liveness.uses(|uses| {
        edge.guard.iter().for_each(|conjunct| uses.expr(conjunct));
        edge.communication.iter().for_each(|communication| uses.communication(communication));
    })
}

/// What an instruction reads, unless that is for nothing; by what is live after it.
fn read_by(liveness: &Liveness<'_>, instruction: &Instruction, live: &Set) -> Set {
    let is_ignored = match instruction {
        Instruction::Do(action) | Instruction::Try(action, _) => {
            let is_dead = matches!(action, Action::Assign(place, value) if liveness.is_dead_store(place, value, live));
            is_dead || liveness.is_ignored(action)
        }
        Instruction::Jump(_) | Instruction::Fail(_) => true,
    };
    liveness.uses(|uses| {
        if !is_ignored {
            uses.instruction(instruction);
        }
    })
}

fn is_stable(lens: &Lens<'_>, seen: &Seen, id: ProcessId, expr: &Expr) -> bool {
    let usage = lens.expr(id, expr);
    usage.traits == Traits::default()
        && usage.channels.is_empty()
        && usage.blocked.is_empty()
        && usage.next_reads.is_empty()
        && usage.remote_reads.is_empty()
        && usage.reads.iter().all(|cells| seen.is_stable(id, cells))
}

/// The locations that can be come to, each after those that its edges lead to, but for cycles.
fn postorder(process: &ProcessType) -> Vec<LocationId> {
    let mut order = Vec::new();
    let mut is_known = vec![false; process.locations.len()];
    is_known[process.initial.index()] = true;
    let mut stack = vec![(process.initial, 0)];
    while let Some((location, next)) = stack.last_mut() {
        match process.locations[location.index()].edges.get(*next) {
            Some(edge) => {
                *next += 1;
                let to = process.edges[edge.index()].to;
                if !is_known[to.index()] {
                    is_known[to.index()] = true;
                    stack.push((to, 0));
                }
            }
            None => {
                order.push(*location);
                stack.pop();
            }
        }
    }
    order
}

/// By location: the variables that are assigned on edges between locations of its strongly connected component.
fn changed_on_cycles(process: &ProcessType) -> Vec<HashSet<(Scope, VariableId)>> {
    let components = components(process);
    let mut changed = vec![HashSet::new(); process.locations.len()];
    for edge in process.edges.iter().filter(|edge| components[edge.from.index()] == components[edge.to.index()]) {
        for place in edge.written_places() {
            changed[components[edge.from.index()]].insert((place.scope, place.variable));
        }
    }
    components.iter().map(|component| changed[*component].clone()).collect()
}

/// By location: the number of its strongly connected component (Kosaraju).
fn components(process: &ProcessType) -> Vec<usize> {
    let mut before: Vec<Vec<LocationId>> = vec![Vec::new(); process.locations.len()];
    process.edges.iter().for_each(|edge| before[edge.to.index()].push(edge.from));
    let mut component: Vec<Option<usize>> = vec![None; process.locations.len()];
    for root in postorder(process).into_iter().rev() {
        let mut waiting = vec![root];
        while let Some(location) = waiting.pop() {
            if component[location.index()].is_none() {
                component[location.index()] = Some(root.index());
                waiting.extend(&before[location.index()]);
            }
        }
    }
    component.iter().enumerate().map(|(location, component)| component.unwrap_or(location)).collect()
}
