//! Path reduction: a path of steps that nobody can tell apart is one edge.
//!
//! A location is passed at once if all edges that leave it concern their process alone (nobody else reads or writes what
//! they use, no property sees what they do), one of them is always executable, and none can be a fault. All other locations
//! are breaking points. What an edge does before it comes to such a location is substituted into the guards of the edges
//! that leave it, so that every path is an edge with a guard of its own. A path ends where it would come to a location
//! again, so that every cycle has a location where a process stands.
//!
//! The location in the middle and the one after it must not be asked for by name: otherwise the step between them is seen.
//! The step after one that gives up exclusive control must not take it: others may move between the two.

use std::collections::HashSet;

use ample_model::facts::{EdgeFacts, Facts, Lens, Traits};
use ample_model::visit::{Folder, Made, fold_expr};
use ample_model::{
    BinaryOp, Budget, Communication, Edge, EdgeId, Expr, Instruction, Interrupted, LocationId, ProcessId, ProcessType,
    Role, Scalar, Shared, System, UnaryOp,
};

use super::Preserve;
use super::seen::{Seen, may_shake_hands};
use super::substitute::{Assigned, negation, size};

/// An edge becomes so many paths at most: as many as keep the process type from growing, by these attempts.
const MAX_PATHS: [usize; 3] = [32, 4, 1];
/// A location with more edges is a breaking point.
const MAX_CHOICES: usize = 12;
/// A path has so many edges at most.
const MAX_LENGTH: usize = 64;
/// A guard has so many parts at most.
const MAX_SIZE: usize = 128;

/// Merges the edges of every process type; how many locations nobody stands at any more.
pub(super) fn merge(
    system: &mut System,
    facts: &Facts,
    seen: &Seen,
    (preserve, keeps_blocks): (Preserve, bool),
    budget: &Budget,
) -> Result<usize, Interrupted> {
    if seen.every_step || !system.actions.is_empty() {
        return Ok(0);
    }
    let lens = Lens::new(system);
    let mut all = Vec::new();
    let mut merged = 0;
    for (number, process) in system.processes.iter().enumerate() {
        let is_fixed = process.role == Role::Claim || process.provided.is_some();
        budget.check()?;
        let merger = Merger { system, lens: &lens, id: number.into(), process, facts, seen, preserve, keeps_blocks };
        let reduced = if is_fixed { None } else { merger.reduced() };
        merged += reduced.as_ref().map_or(0, |(_, merged)| *merged);
        all.push(reduced.map_or_else(|| process.clone(), |(process, _)| process));
    }
    system.processes = all;
    Ok(merged)
}

struct Merger<'a> {
    system: &'a System,
    lens: &'a Lens<'a>,
    id: ProcessId,
    process: &'a ProcessType,
    facts: &'a Facts,
    seen: &'a Seen,
    preserve: Preserve,
    /// The borders of blocks are breaking points.
    keeps_blocks: bool,
}

/// A path through the control-flow graph.
#[derive(Clone)]
struct Path {
    edge: Edge,
    /// The locations that it has come through, where it begins included.
    through: Vec<LocationId>,
    /// What it has assigned.
    assigned: Assigned,
    /// It may go on.
    is_open: bool,
}

/// An edge that leaves a location, and when it is executable.
struct Choice {
    edge: EdgeId,
    condition: Vec<Expr>,
}

impl Merger<'_> {
    fn facts_of(&self, edge: EdgeId) -> &EdgeFacts {
        self.facts.edge(self.id, edge)
    }

    /// The process type with its paths merged, and how many locations are passed at once; `None` if there are none.
    /// Choices one after the other multiply the paths, and engines look at every edge: fewer states must not be paid for
    /// with many more edges.
    fn reduced(&self) -> Option<(ProcessType, usize)> {
        let mut choices: Vec<Option<Vec<Choice>>> =
            self.process.locations.iter().map(|l| self.choices(&l.edges)).collect();
        if let Some(structure) = self.process.structure.as_ref().filter(|_| self.keeps_blocks) {
            structure.borders().iter().for_each(|border| choices[border.index()] = None);
        }
        if choices.iter().all(Option::is_none) {
            return None;
        }
        let instructions = |process: &ProcessType| process.edges.iter().map(|edge| edge.effect.len()).sum::<usize>();
        let most_edges = self.process.edges.len() * 3 / 2 + 8;
        let most_instructions = instructions(self.process) * 4 + 64;
        let is_small =
            |process: &ProcessType| process.edges.len() <= most_edges && instructions(process) <= most_instructions;
        MAX_PATHS.iter().find_map(|most| self.merged(&choices, *most, most_edges).filter(|(p, _)| is_small(p)))
    }

    /// The same with so many paths for an edge at most; `None` also if there are more edges than that.
    fn merged(&self, choices: &[Option<Vec<Choice>>], most: usize, most_edges: usize) -> Option<(ProcessType, usize)> {
        let mut reduced = ProcessType { edges: Vec::new(), structure: None, ..self.process.clone() };
        reduced.locations.iter_mut().for_each(|location| location.edges.clear());
        let mut waiting = vec![self.process.initial];
        let mut is_reached = vec![false; self.process.locations.len()];
        is_reached[self.process.initial.index()] = true;
        let mut passes = false;
        while let Some(location) = waiting.pop() {
            // By edge that leaves the location: what it has become.
            let mut becomes: Vec<(EdgeId, Vec<EdgeId>)> = Vec::new();
            for old in &self.process.locations[location.index()].edges {
                let mut numbers = Vec::new();
                for path in self.paths(*old, choices, most) {
                    passes |= path.through.len() > 1;
                    let number = EdgeId::from(reduced.edges.len());
                    numbers.push(number);
                    if !is_reached[path.edge.to.index()] {
                        is_reached[path.edge.to.index()] = true;
                        waiting.push(path.edge.to);
                    }
                    reduced.edges.push(Renumber(&becomes, Made::default()).edge(&path.edge));
                    reduced.locations[location.index()].edges.push(number);
                }
                becomes.push((*old, numbers));
                if reduced.edges.len() > most_edges {
                    return None;
                }
            }
        }
        let mut was_reached = vec![false; self.process.locations.len()];
        reach(self.process, self.process.initial, &mut was_reached);
        let merged = was_reached.iter().zip(&is_reached).filter(|(before, after)| **before && !**after).count();
        let structure = self.process.structure.as_ref();
        reduced.structure = structure.map(|structure| structure.retained(&|location| is_reached[location.index()]));
        (passes && merged > 0).then_some((reduced, merged))
    }

    /// The edges that leave a location which is passed at once, with their conditions; `None` if it is a breaking point.
    fn choices(&self, edges: &[EdgeId]) -> Option<Vec<Choice>> {
        if edges.is_empty() || edges.len() > MAX_CHOICES || !edges.iter().all(|edge| self.is_private(*edge)) {
            return None;
        }
        let conditions: Vec<Vec<Expr>> =
            edges.iter().map(|edge| condition(self.process, *edge)).collect::<Option<_>>()?;
        let Totality { is_total, is_deterministic } = Totality::of(self.process, edges, &conditions);
        if !is_total || self.preserve == Preserve::Branching && !is_deterministic {
            return None;
        }
        Some(edges.iter().zip(conditions).map(|(edge, condition)| Choice { edge: *edge, condition }).collect())
    }

    /// The step concerns its process alone, and is never a fault.
    fn is_private(&self, id: EdgeId) -> bool {
        let (edge, facts) = (&self.process.edges[id.index()], self.facts_of(id));
        let usage = &facts.all;
        let Traits {
            timeout,
            process_count,
            non_progress,
            accepting,
            priority,
            sets_priority,
            may_fault,
            at,
            remote,
            ..
        } = usage.traits;
        let depends_on_others = timeout || process_count || non_progress || accepting || priority || at || remote;
        edge.communication.is_none()
            && edge.action.is_none()
            && !(facts.ends || facts.monitored || sets_priority || may_fault || depends_on_others)
            && facts.spawns.is_empty()
            && usage.channels.is_empty()
            && facts.effect.blocked.is_empty()
            && usage.reads.iter().all(|cells| self.seen.is_stable(self.id, cells))
            && usage.writes.iter().all(|cells| self.seen.is_private(self.id, cells))
            && !self.seen.locations.contains(&(self.id, edge.to))
    }

    /// All paths that begin with an edge, so many at most.
    fn paths(&self, first: EdgeId, choices: &[Option<Vec<Choice>>], most: usize) -> Vec<Path> {
        let edge = self.process.edges[first.index()].clone();
        let facts = self.facts_of(first);
        // After a handshake the receiver may hold exclusive control, so that the sender could not go on at once.
        let offers =
            matches!(edge.communication, Some(Communication::Send { .. })) && may_shake_hands(self.system, facts);
        // Both sides of a handshake are combined with each other: more receivers are many more transitions.
        let receives =
            matches!(edge.communication, Some(Communication::Receive { .. })) && may_shake_hands(self.system, facts);
        let most = if receives { 1 } else { most };
        let gives = edge.keeps_control && edge.communication.is_some();
        let can_go_on = !(facts.ends || edge.action.is_some() || offers || gives);
        let assigned = Assigned::by(edge.communication.as_ref(), &edge.effect);
        let mut open = vec![Path { through: vec![edge.from], edge, assigned, is_open: can_go_on }];
        let mut done = Vec::new();
        while let Some(path) = open.pop() {
            let others = open.len() + done.len();
            match self.extended(&path, choices).filter(|longer| others + longer.len() <= most) {
                Some(longer) => open.extend(longer.into_iter().rev()),
                None => done.push(path),
            }
        }
        done
    }

    /// The path, and one step after it for each edge that leaves the location where it ends; `None` if it ends there.
    fn extended(&self, path: &Path, choices: &[Option<Vec<Choice>>]) -> Option<Vec<Path>> {
        let at = path.edge.to;
        let choices = choices[at.index()].as_ref()?;
        let is_again = path.through.contains(&at);
        let is_seen = self.seen.locations.contains(&(self.id, at));
        if !path.is_open || is_again || is_seen || path.through.len() >= MAX_LENGTH {
            return None;
        }
        choices.iter().map(|choice| self.joined(path, choice)).collect()
    }

    /// The path with one more edge.
    fn joined(&self, path: &Path, choice: &Choice) -> Option<Path> {
        let next = &self.process.edges[choice.edge.index()];
        if next.keeps_control && !path.edge.keeps_control {
            return None;
        }
        let mut guard = path.edge.guard.clone();
        for conjunct in &choice.condition {
            let before = self.before(path, conjunct)?;
            if before != Expr::TRUE {
                guard.push(before);
            }
        }
        if guard.iter().map(size).sum::<usize>() > MAX_SIZE {
            return None;
        }
        let shift = path.edge.effect.len() as u32;
        let moved = |instruction: &Instruction| match instruction {
            Instruction::Try(action, target) => Instruction::Try(action.clone(), target + shift),
            Instruction::Jump(target) => Instruction::Jump(target + shift),
            other => other.clone(),
        };
        let effect = path.edge.effect.iter().cloned().chain(next.effect.iter().map(moved)).collect();
        let origin = path.edge.origin.iter().chain(&next.origin).copied().collect();
        let edge = Edge { guard, effect, origin, to: next.to, keeps_control: next.keeps_control, ..path.edge.clone() };
        let mut assigned = path.assigned.clone();
        assigned.extend(&next.effect);
        let through = path.through.iter().copied().chain([path.edge.to]).collect();
        Some(Path { edge, through, assigned, is_open: true })
    }

    /// A condition after a path, as one before it; `None` if there is no such expression that is never a fault.
    fn before(&self, path: &Path, condition: &Expr) -> Option<Expr> {
        let before = path.assigned.before(condition)?;
        let is_sound = !self.lens.expr(self.id, &before).traits.may_fault;
        is_sound.then_some(before)
    }
}

/// When an edge is executable, without reference to its siblings; only for edges without a communication.
fn condition(process: &ProcessType, id: EdgeId) -> Option<Vec<Expr>> {
    let mut all = Vec::new();
    for conjunct in &process.edges[id.index()].guard {
        match conjunct {
            Expr::Const(value) if *value != 0 => {}
            Expr::Blocked(others) => {
                for other in others {
                    all.push(negation(condition(process, *other)?));
                }
            }
            conjunct if has_blocked(conjunct) => return None,
            conjunct => all.push(conjunct.clone()),
        }
    }
    Some(all)
}

/// What is known of the edges that leave a location.
struct Totality {
    /// One of them is always executable.
    is_total: bool,
    /// Never more than one is.
    is_deterministic: bool,
}

impl Totality {
    /// By their conditions.
    fn of(process: &ProcessType, edges: &[EdgeId], conditions: &[Vec<Expr>]) -> Totality {
        let has_else = edges.split_last().is_some_and(|(last, others)| {
            !others.is_empty() && process.edges[last.index()].guard == [Expr::Blocked(others.to_vec())]
        });
        let are_opposite = match conditions {
            [one, other] => is_negation(one, other),
            _ => false,
        };
        let is_total = has_else
            || are_opposite
            || conditions.iter().any(Vec::is_empty)
            || Outcomes::of(conditions).is_some_and(|outcomes| outcomes.are_all())
            || compare_with_all_values(conditions);
        let options = if has_else { &conditions[..edges.len() - 1] } else { conditions };
        let is_deterministic = options.len() == 1
            || are_opposite
            || are_exclusive(options)
            || Outcomes::of(options).is_some_and(|outcomes| outcomes.are_disjoint());
        Totality { is_total, is_deterministic }
    }
}

/// One of the edges that leave a location is always executable; none of them may communicate.
pub(super) fn is_total(process: &ProcessType, location: LocationId) -> bool {
    let edges = &process.locations[location.index()].edges;
    let conditions: Option<Vec<_>> = edges.iter().map(|edge| condition(process, *edge)).collect();
    conditions.is_some_and(|conditions| Totality::of(process, edges, &conditions).is_total)
}

/// Marks the locations that can be come to.
fn reach(process: &ProcessType, from: LocationId, reached: &mut [bool]) {
    let mut waiting = vec![from];
    reached[from.index()] = true;
    while let Some(location) = waiting.pop() {
        for edge in &process.locations[location.index()].edges {
            let to = process.edges[edge.index()].to;
            if !reached[to.index()] {
                reached[to.index()] = true;
                waiting.push(to);
            }
        }
    }
}

/// One condition is the negation of the other.
fn is_negation(one: &[Expr], other: &[Expr]) -> bool {
    let ([one], [other]) = (one, other) else { return false };
    let opposite = |op: BinaryOp| match op {
        BinaryOp::Equal => Some(BinaryOp::NotEqual),
        BinaryOp::NotEqual => Some(BinaryOp::Equal),
        BinaryOp::Less => Some(BinaryOp::GreaterEqual),
        BinaryOp::GreaterEqual => Some(BinaryOp::Less),
        BinaryOp::Greater => Some(BinaryOp::LessEqual),
        BinaryOp::LessEqual => Some(BinaryOp::Greater),
        _ => None,
    };
    match (one, other) {
        (Expr::Unary(UnaryOp::Not, inner), same) | (same, Expr::Unary(UnaryOp::Not, inner)) => **inner == *same,
        (Expr::Binary(op, x, y), Expr::Binary(other, z, w)) => opposite(*op) == Some(*other) && x == z && y == w,
        _ => false,
    }
}

/// All of them compare the same with different constants.
fn are_exclusive(options: &[Vec<Expr>]) -> bool {
    compared(options).is_some_and(|(_, values)| values.iter().collect::<HashSet<_>>().len() == options.len())
}

/// What all conditions compare with a constant, and the constants; `None` if the conditions are others.
fn compared(conditions: &[Vec<Expr>]) -> Option<(&Expr, Vec<i64>)> {
    let (mut same, mut values) = (None, Vec::new());
    for condition in conditions {
        let [Expr::Binary(BinaryOp::Equal, x, y)] = condition.as_slice() else { return None };
        let (compared, value) = match (&**x, &**y) {
            (Expr::Const(value), other) | (other, Expr::Const(value)) => (other, *value),
            _ => return None,
        };
        if same.is_some_and(|known| known != compared) {
            return None;
        }
        same = Some(compared);
        values.push(value);
    }
    Some((same?, values))
}

/// What comparisons of the same two expressions accept: whether the first is less, equal, or greater.
struct Outcomes(Vec<[bool; 3]>);

impl Outcomes {
    /// `None` if the conditions are no such comparisons.
    fn of(conditions: &[Vec<Expr>]) -> Option<Outcomes> {
        let (mut operands, mut accepted) = (None, Vec::new());
        for condition in conditions {
            let [Expr::Binary(op, x, y)] = condition.as_slice() else { return None };
            if operands.is_some_and(|known| known != (x, y)) {
                return None;
            }
            operands = Some((x, y));
            accepted.push(match op {
                BinaryOp::Less => [true, false, false],
                BinaryOp::LessEqual => [true, true, false],
                BinaryOp::Equal => [false, true, false],
                BinaryOp::NotEqual => [true, false, true],
                BinaryOp::GreaterEqual => [false, true, true],
                BinaryOp::Greater => [false, false, true],
                _ => return None,
            });
        }
        Some(Outcomes(accepted))
    }

    fn count(&self, outcome: usize) -> usize {
        self.0.iter().filter(|accepted| accepted[outcome]).count()
    }

    fn are_all(&self) -> bool {
        (0..3).all(|outcome| self.count(outcome) > 0)
    }

    fn are_disjoint(&self) -> bool {
        (0..3).all(|outcome| self.count(outcome) <= 1)
    }
}

/// The conditions compare a cell with every value that it can have.
fn compare_with_all_values(conditions: &[Vec<Expr>]) -> bool {
    let Some((cell, values)) = compared(conditions) else { return false };
    let Expr::Read(place) = cell else { return false };
    let (low, high) = match place.scalar {
        Scalar::Int { bits, signed: false } if bits <= 4 => (0, (1 << bits) - 1),
        Scalar::Range { low, high, .. } if high.checked_sub(low).is_some_and(|span| span <= MAX_CHOICES as i64) => {
            (low, high)
        }
        _ => return false,
    };
    (low..=high).all(|value| values.contains(&value))
}

fn has_blocked(expr: &Expr) -> bool {
    let mut has = false;
    expr.walk(&mut |part| has |= matches!(part, Expr::Blocked(_)));
    has
}

/// Puts the numbers of the edges that an edge has become in the place of its own.
struct Renumber<'a>(&'a [(EdgeId, Vec<EdgeId>)], Made);

impl Folder for Renumber<'_> {
    fn expr(&mut self, expr: &Expr) -> Expr {
        match expr {
            Expr::Blocked(edges) => {
                let numbers = edges.iter().flat_map(|edge| {
                    let becomes = self.0.iter().find(|(old, _)| old == edge);
                    becomes.map(|(_, numbers)| numbers.as_slice()).unwrap_or_default()
                });
                Expr::Blocked(numbers.copied().collect())
            }
            _ => fold_expr(self, expr),
        }
    }

    fn shared(&mut self, shared: &Shared) -> Expr {
        if let Some(made) = self.1.get(shared) {
            return made;
        }
        let made = self.expr(shared);
        self.1.keep(shared, made)
    }
}
