//! Dead variables: a variable that is not read again before it is assigned has its initial value.
//!
//! Classical liveness on the control-flow graph of a process type, through the programs of its edges. It concerns local
//! variables that nobody else reads, and global ones that only one process uses, if they hold a single number. On every
//! edge to a location where such a variable is dead it is reset, unless it has that value already.

use std::collections::HashSet;

use ample_model::facts::Facts;
use ample_model::visit::{Visitor, walk_expr};
use ample_model::{
    Action, Communication, Edge, Expr, Initial, Instruction, Pattern, Place, ProcessId, ProcessType, Role, Scalar,
    Scope, Shared, System, Type, Variable, VariableId,
};

use super::seen::Seen;

/// Variables times edges of a process type; more are left alone.
const MAX_WORK: usize = 2_000_000;

/// A variable that may be reset.
#[derive(Clone, Debug)]
struct Candidate {
    scope: Scope,
    variable: VariableId,
    scalar: Scalar,
    /// What it is reset to.
    value: i64,
    /// It may start with another value.
    starts_otherwise: bool,
}

/// A set of candidates.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Set(Vec<u64>);

impl Set {
    fn empty(size: usize) -> Set {
        Set(vec![0; size.div_ceil(64)])
    }

    fn insert(&mut self, number: usize) {
        self.0[number / 64] |= 1 << (number % 64);
    }

    fn remove(&mut self, number: usize) {
        self.0[number / 64] &= !(1 << (number % 64));
    }

    fn contains(&self, number: usize) -> bool {
        self.0[number / 64] >> (number % 64) & 1 == 1
    }

    fn add(&mut self, other: &Set) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, more)| *word |= more);
    }
}

/// Resets dead variables; how many resets there are.
pub(super) fn reset(system: &mut System, facts: &Facts, seen: &Seen) -> usize {
    let mut resets = 0;
    for number in 0..system.processes.len() {
        let id = ProcessId::from(number);
        let process = &system.processes[number];
        if process.role != Role::Process || process.locations.len() < 2 {
            continue;
        }
        let candidates = candidates(system, facts, seen, id);
        if candidates.is_empty() || candidates.len().saturating_mul(process.edges.len()) > MAX_WORK {
            continue;
        }
        let liveness = Liveness { candidates: &candidates, process };
        let live = liveness.at_locations();
        let mut added: Vec<(usize, Vec<Instruction>)> = Vec::new();
        for (edge_number, edge) in process.edges.iter().enumerate().filter(|(_, edge)| !edge.ends_process()) {
            let written = edge.written_places();
            let needs_reset = |(number, candidate): (usize, &Candidate)| {
                let is_written = written.iter().any(|place| candidate.is(place));
                let is_first = edge.from == process.initial && candidate.starts_otherwise;
                let may_differ = is_written || is_first || live[edge.from.index()].contains(number);
                let is_dead = !live[edge.to.index()].contains(number);
                (is_dead && may_differ).then(|| candidate.reset())
            };
            let instructions: Vec<Instruction> = candidates.iter().enumerate().filter_map(needs_reset).collect();
            if !instructions.is_empty() {
                added.push((edge_number, instructions));
            }
        }
        let process = &mut system.processes[number];
        for (edge, instructions) in added {
            resets += instructions.len();
            process.edges[edge].effect.extend(instructions);
        }
    }
    resets
}

impl Candidate {
    fn is(&self, place: &Place) -> bool {
        place.scope == self.scope && place.variable == self.variable
    }

    fn reset(&self) -> Instruction {
        let Candidate { scope, variable, scalar, value, .. } = *self;
        let place = Place { scope, variable, offset: 0, indices: Vec::new(), scalar };
        Instruction::Do(Action::Assign(place, Expr::Const(value)))
    }
}

/// The variables of a process type that may be reset.
fn candidates(system: &System, facts: &Facts, seen: &Seen, id: ProcessId) -> Vec<Candidate> {
    let process = system.process(id);
    let provided = facts.provided(id);
    let mut written: Vec<(Scope, VariableId)> = Vec::new();
    for place in process.edges.iter().flat_map(Edge::written_places) {
        if !written.contains(&(place.scope, place.variable)) {
            written.push((place.scope, place.variable));
        }
    }
    let candidate = |(scope, variable): (Scope, VariableId)| {
        let declared: &Variable = match scope {
            Scope::Local => process.locals.get(variable.index())?,
            Scope::Global => system.globals.get(variable.index())?,
        };
        let Type::Scalar(scalar) = declared.ty else { return None };
        let is_private = match scope {
            Scope::Local => !seen.locals.contains(&(id, variable)),
            Scope::Global => seen.owner(variable) == Some(id),
        };
        let is_provided = provided
            .is_some_and(|usage| usage.reads.iter().any(|cells| cells.scope == scope && cells.variable == variable));
        let is_number = matches!(scalar, Scalar::Int { .. } | Scalar::Range { .. } | Scalar::Enumeration(_));
        if !is_private || is_provided || !is_number || declared.hidden {
            return None;
        }
        let is_parameter = scope == Scope::Local && variable.0 < process.parameters;
        let (value, starts_otherwise) = match declared.initial.first() {
            None => (0, is_parameter),
            Some((_, Initial::Value(Expr::Const(value)))) => (*value, is_parameter),
            Some(_) => (0, true),
        };
        (scalar.fit(value) == Some(value)).then_some(Candidate { scope, variable, scalar, value, starts_otherwise })
    };
    written.into_iter().filter_map(candidate).collect()
}

struct Liveness<'a> {
    candidates: &'a [Candidate],
    process: &'a ProcessType,
}

impl Liveness<'_> {
    /// By location: the variables that may be read before they are assigned.
    fn at_locations(&self) -> Vec<Set> {
        let mut live = vec![Set::empty(self.candidates.len()); self.process.locations.len()];
        loop {
            let before = live.clone();
            for edge in self.process.edges.iter().rev() {
                let before_edge = self.before_edge(edge, &live[edge.to.index()]);
                live[edge.from.index()].add(&before_edge);
            }
            if live == before {
                return live;
            }
        }
    }

    fn before_edge(&self, edge: &Edge, after: &Set) -> Set {
        let mut live = self.before_program(&edge.effect, after);
        if let Some(communication) = &edge.communication {
            self.define_received(communication, &mut live);
            self.used(|uses| uses.communication(communication), &mut live);
        }
        self.used(|uses| edge.guard.iter().for_each(|conjunct| uses.expr(conjunct)), &mut live);
        live
    }

    /// The variables that are live at the beginning of the program of an edge.
    fn before_program(&self, program: &[Instruction], after: &Set) -> Set {
        let mut live = vec![Set::empty(self.candidates.len()); program.len() + 1];
        live[program.len()] = after.clone();
        loop {
            let mut changed = false;
            for at in (0..program.len()).rev() {
                let now = match &program[at] {
                    Instruction::Do(action) => self.before_action(action, &live[at + 1]),
                    Instruction::Try(action, otherwise) => {
                        let mut now = self.before_action(action, &live[at + 1]);
                        now.add(&live[*otherwise as usize]);
                        now
                    }
                    Instruction::Jump(target) => live[*target as usize].clone(),
                    Instruction::Fail(_) => Set::empty(self.candidates.len()),
                };
                changed |= now != live[at];
                live[at] = now;
            }
            if !changed {
                return live.swap_remove(0);
            }
        }
    }

    fn before_action(&self, action: &Action, after: &Set) -> Set {
        let mut live = after.clone();
        match action {
            Action::Assign(place, _) => self.define(place, &mut live),
            Action::AssignAll(pairs) => pairs.iter().for_each(|(place, _)| self.define(place, &mut live)),
            Action::Communicate(communication) => self.define_received(communication, &mut live),
            Action::End => live = Set::empty(self.candidates.len()),
            _ => {}
        }
        self.used(|uses| uses.action(action), &mut live);
        live
    }

    fn define(&self, place: &Place, live: &mut Set) {
        if let Some(number) = self.candidates.iter().position(|candidate| candidate.is(place)) {
            live.remove(number);
        }
    }

    fn define_received(&self, communication: &Communication, live: &mut Set) {
        let Communication::Receive { patterns, .. } = communication else { return };
        for pattern in patterns {
            if let Pattern::Bind(place) = pattern {
                self.define(place, live);
            }
        }
    }

    fn used(&self, walk: impl FnOnce(&mut Uses<'_>), live: &mut Set) {
        walk(&mut Uses { candidates: self.candidates, live, shared: HashSet::new() });
    }
}

/// Adds what is read.
struct Uses<'a> {
    candidates: &'a [Candidate],
    live: &'a mut Set,
    /// The addresses of shared expressions that were looked at.
    shared: HashSet<usize>,
}

impl<'a> Visitor<'a> for Uses<'_> {
    fn read(&mut self, place: &'a Place) {
        if let Some(number) = self.candidates.iter().position(|candidate| candidate.is(place)) {
            self.live.insert(number);
        }
        self.place(place);
    }

    fn expr(&mut self, expr: &'a Expr) {
        walk_expr(self, expr);
    }

    fn shared(&mut self, shared: &'a Shared) {
        if self.shared.insert(shared.address()) {
            self.expr(shared);
        }
    }
}
