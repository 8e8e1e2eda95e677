//! The processes that a symmetry is about: those of a state in which all have been created.

use std::collections::{BTreeMap, HashSet, VecDeque};

use ample_model::facts::Lens;
use ample_model::{
    Action, Budget, ChannelId, Edge, Expr, Instruction, Interpreter, ProcessId, Scalar, Scope, State, System,
    VariableId,
};

use crate::unfold::fold::fixed_slot;

/// So many states are looked at to find one in which all processes are there.
const MOST_STATES: usize = 2_000;

/// A process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// Its type.
    pub process: ProcessId,
    /// The cells that never change, and what is in them: the variable, and its slot. References are not among them.
    pub constants: BTreeMap<(VariableId, u32), i64>,
}

/// The processes of a state.
#[derive(Clone, Debug)]
pub(super) struct Instances {
    pub processes: Vec<Instance>,
    /// The kinds of the channels.
    pub channels: Vec<ChannelId>,
    /// The global cells, of which those that are never assigned matter.
    pub globals: Vec<i64>,
}

impl Instances {
    /// The processes of the system; `None` if no initial state can be computed, or there is no time.
    pub fn of(system: &System, lens: &Lens<'_>, budget: &Budget) -> Option<Instances> {
        let interpreter = Interpreter::new(system);
        let first = interpreter.initial_state(0)?.ok()?;
        let creates = system.processes.iter().flat_map(|process| &process.edges).any(creates);
        let state = if creates { most_processes(&interpreter, first, budget)? } else { first };
        Some(Instances::in_state(system, lens, &state))
    }

    fn in_state(system: &System, lens: &Lens<'_>, state: &State) -> Instances {
        let processes = state.processes.iter().map(|process| {
            let mut constants = BTreeMap::new();
            let mut first = 0;
            for (number, variable) in system.process(process.process).locals.iter().enumerate() {
                let scalars = system.scalars(&variable.ty);
                for (slot, scalar) in scalars.iter().enumerate() {
                    let is_constant = !lens.is_assigned_local(process.process, number.into());
                    if is_constant && !matches!(scalar, Scalar::Reference(_)) {
                        constants.insert((number.into(), slot as u32), process.locals[first + slot]);
                    }
                }
                first += scalars.len();
            }
            Instance { process: process.process, constants }
        });
        Instances {
            processes: processes.collect(),
            channels: state.channels.iter().map(|channel| channel.kind).collect(),
            globals: state.globals.clone(),
        }
    }

    /// The value of an expression that is the same in all states, if a process evaluates it.
    pub fn value(&self, expr: &Expr, process: Option<u32>) -> Option<i64> {
        match expr {
            Expr::Const(value) => Some(*value),
            Expr::SelfId => process.map(i64::from),
            Expr::Read(place) if place.scope == Scope::Local => {
                let slot = match fixed_slot(place) {
                    Some(slot) => slot,
                    None => {
                        let mut slot = i64::from(place.offset);
                        for index in &place.indices {
                            let at = self.value(&index.at, process)?;
                            if !(0..i64::from(index.length)).contains(&at) {
                                return None;
                            }
                            slot += at * i64::from(index.stride);
                        }
                        u32::try_from(slot).ok()?
                    }
                };
                self.processes[process? as usize].constants.get(&(place.variable, slot)).copied()
            }
            Expr::Unary(op, x) => op.apply(self.value(x, process)?).ok(),
            Expr::Binary(op, x, y) => op.apply(self.value(x, process)?, self.value(y, process)?).ok(),
            Expr::Cast(scalar, x) => scalar.fit(self.value(x, process)?),
            Expr::Conditional(condition, x, y) => {
                let chosen = if self.value(condition, process)? != 0 { x } else { y };
                self.value(chosen, process)
            }
            Expr::Shared(x) => self.value(x, process),
            _ => None,
        }
    }
}

/// The edge creates a process.
pub(super) fn creates(edge: &Edge) -> bool {
    edge.effect.iter().any(|instruction| {
        matches!(instruction, Instruction::Do(Action::Spawn { .. }) | Instruction::Try(Action::Spawn { .. }, _))
    })
}

/// The first state with the most processes, among so many.
fn most_processes(interpreter: &Interpreter<'_>, first: State, budget: &Budget) -> Option<State> {
    let mut best = first.clone();
    let mut seen = HashSet::from([interpreter.identity(&first)]);
    let mut frontier = VecDeque::from([first]);
    while let Some(state) = frontier.pop_front() {
        budget.check().ok()?;
        for (_, successor) in interpreter.successors(&state) {
            let Some(next) = successor.state else { continue };
            if seen.len() < MOST_STATES && seen.insert(interpreter.identity(&next)) {
                if next.processes.len() > best.processes.len() {
                    best = next.clone();
                }
                frontier.push_back(next);
            }
        }
    }
    Some(best)
}
