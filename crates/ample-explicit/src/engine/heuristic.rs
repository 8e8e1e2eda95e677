//! Heuristics over compiled states: how many steps it is at least, or about, to a violation.
//!
//! - To a deadlock: every process that can move has to come to another location where it can be blocked. Their distances from
//!   the next one in the control-flow graph are added up. In a system of one process, as a net is, it is the number of enabled transitions.
//!   Or it has to be blocked where it stands, which counts as one step.
//! - To a violated assertion: the distance of the nearest process to an assertion, in the control-flow graph. A process that
//!   is yet to be created counts from where it is created.
//! - To a state in which a condition holds: by the structure of the condition, after S. Edelkamp, A. Lluch Lafuente and
//!   S. Leue (*Directed explicit model checking with HSF-SPIN*, 2001). The distances of the parts of a conjunction are added up,
//!   that of a disjunction is its smallest one; a comparison is as far as its sides are apart, and `process@label` as the
//!   process is from there in its control-flow graph.
//! - To a state in which a property automaton accepts whatever follows: the distance of the condition of an arc, and that of
//!   the automaton's state after it.
//! - Or whatever an expression of the user says.
//!
//! The distance of a condition is itself an expression of the model, which is compiled and evaluated like all others.

use std::collections::HashMap;

use ample_model::facts::Facts;
use ample_model::{
    Action, BinaryOp, Edge, EdgeId, Expr, Instruction, LocationId, ProcessId, ProcessType, Role, Shared, System,
    UnaryOp,
};

use crate::compile::Compiled;
use crate::liveness::{BuchiAutomaton, Product, Tagged};
use crate::search::Heuristic;
use crate::space::{Checked, StateSpace};

/// Further than anything that can be reached, and small enough to be added up.
const FAR: u32 = 1 << 20;

/// Expressions that are nested more deeply are taken as they are: true or not.
const DEEPEST: u32 = 200;

/// An automaton with more states is not looked at in detail.
const MOST_STATES: usize = 256;

/// Distances by process type and location.
type Distances = Vec<Vec<u32>>;

/// An estimate of the distance of a compiled state from a violation.
#[derive(Clone, Debug)]
pub enum Estimate {
    /// Nothing is known.
    Zero,
    /// The sum over the processes that can move.
    Blocked(Distances),
    /// How many transitions are enabled.
    Enabled,
    /// The smallest of all processes.
    Nearest(Distances),
    /// The value of the expression of that number.
    Value(usize),
    /// The smallest of these.
    Least(Vec<Estimate>),
}

impl Estimate {
    /// The distance from a deadlock: every process that can move has to come to the next location where it can be blocked.
    pub fn deadlock(system: &System) -> Estimate {
        Estimate::of_blocked(system, distances_to_waiting)
    }

    /// The distance from a deadlock: every process that can move has to be blocked where it stands, or where it can be next.
    pub fn blocked(system: &System) -> Estimate {
        Estimate::of_blocked(system, distances_to_blocked)
    }

    fn of_blocked(system: &System, distances: impl Fn(&ProcessType) -> Vec<u32>) -> Estimate {
        if system.synchronous().is_some() {
            return Estimate::Zero;
        }
        let spawns = |edge: &Edge| actions(edge).any(|action| matches!(action, Action::Spawn { .. }));
        let edges = system.processes.iter().flat_map(|process| &process.edges);
        if system.start.len() < 2 && !edges.into_iter().any(spawns) {
            return Estimate::Enabled;
        }
        Estimate::Blocked(system.processes.iter().map(distances).collect())
    }

    /// The distance from an assertion; in a system without assertions from a step that may be a fault.
    pub fn assertions(system: &System) -> Estimate {
        let asserts = |process: ProcessId, edge: EdgeId| {
            let edge = &system.processes[process.index()].edges[edge.index()];
            actions(edge).any(|action| matches!(action, Action::Assert { .. }))
        };
        let facts = Facts::of(system);
        let faults = |process: ProcessId, edge: EdgeId| {
            let facts = facts.edge(process, edge);
            facts.all.traits.may_fault || facts.monitored
        };
        let nearest = distances_to_edges(system, &asserts);
        let nearest = nearest.or_else(|| distances_to_edges(system, &faults));
        nearest.map_or(Estimate::Zero, Estimate::Nearest)
    }

    fn of(&self, space: &mut Compiled, state: &[u8]) -> u64 {
        match self {
            Estimate::Zero => 0,
            Estimate::Blocked(distances) => {
                let mut sum = 0;
                space.each_process(state, |process, location, can_move| {
                    if can_move() {
                        sum += u64::from(distances[usize::from(process)][location]);
                    }
                });
                sum
            }
            Estimate::Enabled => {
                let mut count = 0;
                let mut next = space.first(state);
                while let Some(transition) = next {
                    count += 1;
                    next = space.next(state, &transition);
                }
                count
            }
            Estimate::Nearest(distances) => {
                let mut least = FAR;
                space.each_process(state, |process, location, _| {
                    least = least.min(distances[usize::from(process)][location]);
                });
                u64::from(least.max(1))
            }
            Estimate::Value(number) => value(space, *number, state),
            Estimate::Least(all) => all.iter().map(|one| one.of(space, state)).min().unwrap_or(0),
        }
    }
}

/// The value of an expression. One that cannot be evaluated is far, and no distance is negative.
fn value(space: &mut Compiled, number: usize, state: &[u8]) -> u64 {
    space.evaluate(number, state).map_or(FAR.into(), |value| u64::try_from(value).unwrap_or(0))
}

impl Heuristic<Compiled> for Estimate {
    #[inline]
    fn estimate(&mut self, space: &mut Compiled, state: &[u8]) -> u64 {
        // There is no state after a fault, which is what is looked for or not: it costs one step to see.
        if space.is_dead() { 0 } else { self.of(space, state) }
    }
}

/// An estimate of the distance of a state of a product from one where the automaton accepts whatever follows.
#[derive(Clone, Debug)]
pub enum ProductEstimate {
    /// By state of the automaton: an expression.
    Values(Vec<usize>),
    /// By state of the automaton: how far it is in the automaton.
    Distances(Vec<u32>),
    /// That of the state without the automaton.
    Plain(Estimate),
}

impl ProductEstimate {
    /// For an automaton over these atoms; the expressions that it needs are added to them.
    pub fn of(system: &System, automaton: &BuchiAutomaton, expressions: &mut Vec<Expr>) -> ProductEstimate {
        let arcs = automaton.arcs_to_acceptance();
        if arcs.len() > MOST_STATES {
            let distance = |arcs: &Vec<(u32, _)>| arcs.iter().map(|(distance, _)| *distance).min().unwrap_or(FAR);
            return ProductEstimate::Distances(arcs.iter().map(distance).collect());
        }
        let atoms = expressions.clone();
        let mut formulas = Formulas::new(system);
        let mut values = Vec::new();
        for arcs in arcs {
            let mut nearest = constant(FAR);
            for (distance, label) in arcs {
                for cube in label {
                    let literals = cube.iter().map(|(atom, holds)| formulas.distance(&atoms[*atom as usize], *holds));
                    let here = literals.fold(constant(distance), sum);
                    nearest = least(nearest, here);
                }
            }
            values.push(expressions.len());
            expressions.push(nearest);
        }
        ProductEstimate::Values(values)
    }
}

impl Heuristic<Product<Compiled>> for ProductEstimate {
    fn estimate(&mut self, product: &mut Product<Compiled>, state: &[u8]) -> u64 {
        let (at, plain) = (Product::<Compiled>::automaton_state(state) as usize, <[u8]>::plain(state));
        match self {
            ProductEstimate::Values(values) => value(product.space(), values[at], plain),
            ProductEstimate::Distances(distances) => distances[at].into(),
            ProductEstimate::Plain(estimate) => estimate.of(product.space(), plain),
        }
    }
}

/// The expression of the distance of a state from one where the condition is false.
pub fn distance_to_violation(system: &System, condition: &Expr) -> Expr {
    Formulas::new(system).distance(condition, false)
}

/// Makes expressions of distances from conditions.
struct Formulas<'a> {
    system: &'a System,
    /// What was made of shared conditions, by their addresses.
    made: HashMap<(usize, bool), Expr>,
}

impl<'a> Formulas<'a> {
    fn new(system: &'a System) -> Formulas<'a> {
        Formulas { system, made: HashMap::new() }
    }

    /// The distance from a state where the condition is true, or false.
    fn distance(&mut self, condition: &Expr, wanted: bool) -> Expr {
        // The height of a graph may be that of a circuit.
        if Shared::new(condition.clone()).height() > DEEPEST {
            return plain(condition, wanted);
        }
        self.of(condition, wanted)
    }

    fn of(&mut self, condition: &Expr, wanted: bool) -> Expr {
        match condition {
            Expr::Const(value) => constant(if (*value != 0) == wanted { 0 } else { FAR }),
            Expr::Unary(UnaryOp::Not, part) => self.of(part, !wanted),
            Expr::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) => {
                let (left, right) = (self.of(left, wanted), self.of(right, wanted));
                if (*op == BinaryOp::And) == wanted { sum(left, right) } else { least(left, right) }
            }
            Expr::Binary(op, left, right) => {
                comparison(*op, left, right, wanted).unwrap_or_else(|| plain(condition, wanted))
            }
            Expr::Conditional(test, yes, no) => {
                let yes = sum(self.of(test, true), self.of(yes, wanted));
                let no = sum(self.of(test, false), self.of(no, wanted));
                least(yes, no)
            }
            Expr::At { process, of, locations } if wanted => self.at(process.as_deref(), *of, locations),
            Expr::Shared(shared) => {
                let key = (shared.address(), wanted);
                if let Some(made) = self.made.get(&key) {
                    return made.clone();
                }
                let made = share(self.of(shared, wanted));
                self.made.insert(key, made.clone());
                made
            }
            other => plain(other, wanted),
        }
    }

    /// How far a process is from these locations.
    fn at(&self, process: Option<&Expr>, of: ProcessId, locations: &[LocationId]) -> Expr {
        let Some(definition) = self.system.processes.get(of.index()) else { return constant(FAR) };
        let mut distances = vec![FAR; definition.locations.len()];
        locations.iter().for_each(|location| distances[location.index()] = 0);
        relax(definition, &mut distances, |_, _| FAR);
        let mut classes: HashMap<u32, Vec<LocationId>> = HashMap::new();
        for (location, distance) in distances.into_iter().enumerate().filter(|(_, distance)| *distance < FAR) {
            classes.entry(distance).or_default().push(location.into());
        }
        let mut classes: Vec<(u32, Vec<LocationId>)> = classes.into_iter().collect();
        classes.sort_unstable_by_key(|(distance, _)| std::cmp::Reverse(*distance));
        classes.into_iter().fold(constant(FAR), |further, (distance, locations)| {
            let at = Expr::At { process: process.cloned().map(Box::new), of, locations };
            conditional(at, constant(distance), further)
        })
    }
}

/// How far the sides of a comparison are from being in that relation, or not.
fn comparison(op: BinaryOp, left: &Expr, right: &Expr, wanted: bool) -> Option<Expr> {
    let negated = |op| match op {
        BinaryOp::Equal => BinaryOp::NotEqual,
        BinaryOp::NotEqual => BinaryOp::Equal,
        BinaryOp::Less => BinaryOp::GreaterEqual,
        BinaryOp::LessEqual => BinaryOp::Greater,
        BinaryOp::Greater => BinaryOp::LessEqual,
        BinaryOp::GreaterEqual => BinaryOp::Less,
        other => other,
    };
    let is_comparison = negated(op) != op;
    let op = if wanted { op } else { negated(op) };
    let (left, right) = (share(left.clone()), share(right.clone()));
    let is = Expr::binary(op, left.clone(), right.clone());
    let minus = |x: &Expr, y: &Expr| Expr::binary(BinaryOp::Subtract, x.clone(), y.clone());
    let apart = match op {
        BinaryOp::Equal => {
            let is_less = Expr::binary(BinaryOp::Less, left.clone(), right.clone());
            conditional(is_less, minus(&right, &left), minus(&left, &right))
        }
        BinaryOp::NotEqual => constant(1),
        BinaryOp::Less => sum(minus(&left, &right), constant(1)),
        BinaryOp::LessEqual => minus(&left, &right),
        BinaryOp::Greater => sum(minus(&right, &left), constant(1)),
        BinaryOp::GreaterEqual => minus(&right, &left),
        _ => return None,
    };
    is_comparison.then(|| conditional(is, constant(0), apart))
}

/// The condition is as it should be, or not.
fn plain(condition: &Expr, wanted: bool) -> Expr {
    let (yes, no) = if wanted { (0, 1) } else { (1, 0) };
    conditional(condition.clone(), constant(yes), constant(no))
}

fn constant(value: u32) -> Expr {
    Expr::Const(value.into())
}

fn conditional(test: Expr, yes: Expr, no: Expr) -> Expr {
    Expr::Conditional(Box::new(test), Box::new(yes), Box::new(no))
}

/// An expression that is used more than once.
fn share(expr: Expr) -> Expr {
    match expr {
        Expr::Const(_) | Expr::Shared(_) => expr,
        Expr::Read(ref place) if place.indices.is_empty() => expr,
        other => Expr::Shared(Shared::new(other)),
    }
}

fn sum(left: Expr, right: Expr) -> Expr {
    match (left, right) {
        (Expr::Const(0), other) | (other, Expr::Const(0)) => other,
        (left, right) => Expr::binary(BinaryOp::Add, left, right),
    }
}

fn least(left: Expr, right: Expr) -> Expr {
    let far = Expr::Const(FAR.into());
    if left == far {
        return right;
    }
    if right == far || left == right {
        return left;
    }
    let (left, right) = (share(left), share(right));
    let is_less = Expr::binary(BinaryOp::LessEqual, left.clone(), right.clone());
    conditional(is_less, left, right)
}

fn actions(edge: &Edge) -> impl Iterator<Item = &Action> {
    edge.effect.iter().filter_map(|instruction| match instruction {
        Instruction::Do(action) | Instruction::Try(action, _) => Some(action),
        Instruction::Jump(_) | Instruction::Fail(_) => None,
    })
}

/// How much of a step an edge is: none if it may be taken together with the next one.
fn weight(edge: &Edge) -> u32 {
    u32::from(!edge.keeps_control)
}

/// Makes distances as small as the edges of a process type allow. What is beyond an edge besides its target has a distance
/// of its own. True if some distance has become smaller.
fn relax(process: &ProcessType, distances: &mut [u32], beyond: impl Fn(usize, &Edge) -> u32) -> bool {
    let beyond: Vec<u32> = process.edges.iter().enumerate().map(|(number, edge)| beyond(number, edge)).collect();
    let mut is_smaller = false;
    loop {
        let mut is_final = true;
        for (edge, beyond) in process.edges.iter().zip(&beyond) {
            let distance = distances[edge.to.index()].min(*beyond).saturating_add(weight(edge)).min(FAR);
            if distance < distances[edge.from.index()] {
                distances[edge.from.index()] = distance;
                (is_final, is_smaller) = (false, true);
            }
        }
        if is_final {
            return is_smaller;
        }
    }
}

/// How far each location is from the nearest one where the process may have to wait, which may be itself.
fn distances_to_nearest_waiting(process: &ProcessType) -> Vec<u32> {
    let waits = |edge: &Edge| {
        let is_blocked = |conjunct: &Expr| matches!(conjunct, Expr::Blocked(_));
        let is_else = edge.guard.iter().any(is_blocked);
        let is_true = edge.guard.iter().all(|conjunct| conjunct.constant().is_some_and(|value| value != 0));
        edge.communication.is_some() || !is_else && !is_true || process.provided.is_some()
    };
    let location = |location: &ample_model::Location| {
        if location.edges.iter().all(|edge| waits(&process.edges[edge.index()])) { 0 } else { FAR }
    };
    let mut distances: Vec<u32> = process.locations.iter().map(location).collect();
    relax(process, &mut distances, |_, _| FAR);
    distances
}

/// A process that never waits does not make others wait more by moving.
fn most_steps(process: &ProcessType) -> u32 {
    process.locations.len().max(1) as u32
}

/// How far each location is from the next one where the process may have to wait: a process that can move goes there, by one
/// step at least.
fn distances_to_waiting(process: &ProcessType) -> Vec<u32> {
    let distances = distances_to_nearest_waiting(process);
    let next = |location: &ample_model::Location| {
        let edges = location.edges.iter().map(|edge| &process.edges[edge.index()]);
        let steps = edges.map(|edge| distances[edge.to.index()].saturating_add(weight(edge)));
        steps.min().unwrap_or(0).clamp(1, most_steps(process))
    };
    process.locations.iter().map(next).collect()
}

/// The same, but a process that may have to wait where it stands is one step from it: another one takes what it waits for.
fn distances_to_blocked(process: &ProcessType) -> Vec<u32> {
    let nearest = distances_to_nearest_waiting(process);
    nearest.into_iter().map(|distance| distance.clamp(1, most_steps(process))).collect()
}

/// How many steps it takes from each location to take one of these edges, by the process itself or by one that it creates.
/// None if there are no such edges.
fn distances_to_edges(system: &System, is_target: &dyn Fn(ProcessId, EdgeId) -> bool) -> Option<Distances> {
    let is_process = |process: &ProcessType| process.role == Role::Process;
    let targets: Vec<Vec<bool>> = (system.processes.iter().enumerate())
        .map(|(number, process)| {
            let is_one = |edge: usize| is_process(process) && is_target(number.into(), edge.into());
            (0..process.edges.len()).map(is_one).collect()
        })
        .collect();
    if !targets.iter().flatten().any(|is_target| *is_target) {
        return None;
    }
    let mut distances: Distances = system.processes.iter().map(|process| vec![FAR; process.locations.len()]).collect();
    loop {
        let mut is_final = true;
        for (number, process) in system.processes.iter().enumerate() {
            let created = |edge: &Edge| {
                let start = |action: &Action| match action {
                    Action::Spawn { process, .. } => {
                        let initial = system.processes[process.index()].initial;
                        Some(distances[process.index()][initial.index()])
                    }
                    _ => None,
                };
                actions(edge).filter_map(start).min().unwrap_or(FAR)
            };
            let beyond = |edge: usize, this: &Edge| if targets[number][edge] { 0 } else { created(this) };
            let mut own = distances[number].clone();
            if relax(process, &mut own, beyond) {
                distances[number] = own;
                is_final = false;
            }
        }
        if is_final {
            return Some(distances);
        }
    }
}
