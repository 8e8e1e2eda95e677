//! A state in the words of the source: where the processes stand and what keeps them there, what the channels hold,
//! the values of the variables.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::evaluate::Context;
use super::state::{ProcessState, State};
use super::{Interpreter, Layout};
use crate::expr::{BinaryOp, Expr, Pattern, Place, Scope};
use crate::system::{Communication, Edge, EdgeId, Scalar, Type, Variable, VariableKind};
use crate::trace::Move;

/// A state in the words of the source, usually the one at the end of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndState {
    /// Where each process stands.
    pub processes: Vec<Standing>,
    /// What each buffered channel holds.
    pub channels: Vec<Contents>,
    /// All cells and their values, and the outputs of a circuit.
    pub variables: Vec<Cell>,
}

/// Where a process stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// The process: `name(id)`.
    pub process: String,
    /// `file:line`, where known.
    pub at: Option<String>,
    /// The statements that it stands before, as text.
    pub waits_for: Vec<String>,
    /// The same statements, with what keeps them from being executable.
    pub statements: Vec<Statement>,
    /// It may stay there for ever.
    pub valid_end: bool,
    /// Nothing is left for it to do; it only waits for younger processes to end.
    pub finished: bool,
}

/// A statement that a process stands before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statement {
    /// The statement in the words of the source.
    pub text: String,
    /// It can be executed now.
    pub executable: bool,
    /// If not: the values that its false conditions read. A local of its own process has no prefix.
    pub reads: Vec<Cell>,
    /// If not, and it is not because of a condition: why, as `q is full`.
    pub because: Option<String>,
}

/// A channel and what it holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contents {
    /// The channel's name.
    pub channel: String,
    /// The messages, oldest first, each as its fields.
    pub messages: Vec<Vec<String>>,
    /// How many it can hold.
    pub capacity: u32,
}

/// A cell and its value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Cell {
    /// Its name; a local is prefixed with its process, `name(id):cell`.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// The edges that are part of some move.
type Movable = HashSet<(u32, EdgeId)>;

impl EndState {
    /// The state in the words of the source.
    pub fn of(interpreter: &Interpreter<'_>, state: &State) -> EndState {
        let movable = interpreter.movable(state);
        let mut variables = Vec::new();
        interpreter.cells("", &interpreter.system.globals, &interpreter.globals, &state.globals, &mut variables);
        let mut processes = Vec::new();
        for (id, process) in state.processes.iter().enumerate() {
            let standing = interpreter.standing(state, id as u32, process, &movable);
            let locals = &interpreter.system.process(process.process).locals;
            let prefix = format!("{}:", standing.process);
            interpreter.cells(&prefix, locals, interpreter.locals(process.process), &process.locals, &mut variables);
            processes.push(standing);
        }
        interpreter.objects(state, &mut variables);
        interpreter.outputs(state, &mut variables);
        EndState { processes, channels: interpreter.buffers(state), variables }
    }
}

/// So many outputs of a circuit are evaluated.
const MAX_OUTPUTS: usize = 64;

impl Interpreter<'_> {
    /// The outputs that do not depend on inputs that the state does not have.
    fn outputs(&self, state: &State, variables: &mut Vec<Cell>) {
        for signal in self.system.signals.iter().filter(|signal| signal.is_output).take(MAX_OUTPUTS) {
            // A latch may be an output, and is shown already.
            if !matches!(signal.value, Expr::Read(_))
                && self.system.inputs_in([&signal.value]).is_empty()
                && let Ok(value) = self.evaluate(state, None, &signal.value)
            {
                variables.push(Cell { name: signal.name.clone(), value: value.to_string() });
            }
        }
    }

    fn movable(&self, state: &State) -> Movable {
        if state.processes.is_empty() {
            return Movable::new();
        }
        self.enabled(state).iter().flat_map(Move::movers).collect()
    }

    fn standing(&self, state: &State, id: u32, process: &ProcessState, movable: &Movable) -> Standing {
        let location = self.location(process);
        let considered = self.considered(state, id, process, movable);
        let span = considered.iter().find_map(|edge| self.edge(process.process, *edge).span).or(location.span);
        let mut statements: Vec<Statement> = Vec::new();
        for edge in considered {
            let statement = self.statement_at(state, id, edge, movable);
            // A global action of a Milestones model is an edge for every combination of participants.
            if statements.last() != Some(&statement) {
                statements.push(statement);
            }
        }
        Standing {
            process: self.process_name(state, id),
            at: span.map(|span| self.system.place_of(span)),
            waits_for: statements.iter().map(|statement| statement.text.clone()).collect(),
            statements,
            valid_end: location.end,
            finished: self.edges_at(process).all(Edge::ends_process),
        }
    }

    /// The edges that are worth telling. A process with one location has its control elsewhere. If all its edges begin
    /// with a test of the same variable, which it sets, that is where, as in an instance of a Milestones process: then
    /// they are those for its value. Otherwise, as in a net, they are those that are executable, if there are any.
    fn considered(&self, state: &State, id: u32, process: &ProcessState, movable: &Movable) -> Vec<EdgeId> {
        let mut chosen = self.location(process).edges.clone();
        if self.system.process(process.process).locations.len() > 1 {
            return chosen;
        }
        let context = self.context(state, Some(id), Some(false));
        let first = |edge: &EdgeId| self.edge(process.process, *edge).guard.first();
        let tested = |edge: &EdgeId| first(edge).and_then(tested_variable);
        let controls: HashSet<Option<&Place>> = chosen.iter().map(tested).collect();
        let all_same = controls.len() == 1;
        let control = controls.into_iter().next().flatten();
        if all_same && control.is_some_and(|place| self.assigns(process, place)) {
            chosen.retain(|edge| first(edge).is_none_or(|test| context.holds(test) == Ok(true)));
            return chosen;
        }
        if chosen.iter().any(|edge| movable.contains(&(id, *edge))) {
            chosen.retain(|edge| movable.contains(&(id, *edge)));
        }
        chosen
    }

    /// Some edge of the process assigns to that very place.
    fn assigns(&self, process: &ProcessState, place: &Place) -> bool {
        self.edges_at(process).any(|edge| edge.written_places().contains(&place))
    }

    fn statement_at(&self, state: &State, id: u32, edge: EdgeId, movable: &Movable) -> Statement {
        let context = self.context(state, Some(id), Some(false));
        let process = state.processes[id as usize].process;
        let executable = movable.contains(&(id, edge));
        let edge = self.edge(process, edge);
        let mut reads = Reads { context, seen: HashSet::new(), cells: Vec::new() };
        let because = if executable { None } else { reads.obstacle(edge) };
        Statement { text: edge.label.clone(), executable, reads: reads.cells, because }
    }

    fn buffers(&self, state: &State) -> Vec<Contents> {
        let mut buffers = Vec::new();
        for (index, channel) in state.channels.iter().enumerate() {
            let kind = self.kind(channel);
            if kind.capacity > 0 {
                buffers.push(Contents {
                    channel: self.channel_name(state, index as u32 + 1),
                    messages: channel.messages.iter().map(|message| self.fields(&kind.fields, message)).collect(),
                    capacity: kind.capacity,
                });
            }
        }
        buffers
    }

    /// The cells of the objects on the heap: `#1.field`.
    fn objects(&self, state: &State, out: &mut Vec<Cell>) {
        for (number, object) in state.heap.iter().enumerate() {
            let whole = Variable::new(&format!("#{}", number + 1), Type::Record(object.record));
            for ((slot, value), scalar) in (0u32..).zip(&object.cells).zip(self.system.scalars(&whole.ty)) {
                let name = self.system.slot_name(&whole, slot);
                out.push(Cell { name, value: self.system.show_value(scalar, *value) });
            }
        }
    }

    /// The cells of one scope. Channel handles mean nothing to the user, and are left out.
    fn cells(&self, prefix: &str, variables: &[Variable], layout: &Layout, values: &[i64], out: &mut Vec<Cell>) {
        let is_global = std::ptr::eq(variables, &raw const *self.system.globals);
        for ((number, variable), offset) in variables.iter().enumerate().zip(&layout.offsets) {
            if variable.kind == VariableKind::Input {
                continue;
            }
            for slot in 0..self.system.slots(&variable.ty) {
                let at = offset + slot as usize;
                let (Some(value), Some(scalar)) = (values.get(at), layout.scalars.get(at)) else { return };
                if *scalar != Scalar::Channel {
                    let name = format!("{prefix}{}", self.system.slot_name(variable, slot));
                    let value = match is_global {
                        true => self.system.show_global(number, *scalar, *value),
                        false => self.system.show_value(*scalar, *value),
                    };
                    out.push(Cell { name, value });
                }
            }
        }
    }
}

/// The variable that a condition compares with a constant.
fn tested_variable(condition: &Expr) -> Option<&Place> {
    match condition {
        Expr::Binary(BinaryOp::Equal, x, y) => match (&**x, &**y) {
            (Expr::Read(place), Expr::Const(_)) if place.indices.is_empty() => Some(place),
            _ => None,
        },
        _ => None,
    }
}

/// Collects what conditions read.
struct Reads<'a> {
    context: Context<'a>,
    seen: HashSet<Cell>,
    cells: Vec<Cell>,
}

impl Reads<'_> {
    /// Collects what the false conditions of an edge read; what else keeps it from being executable, in words.
    fn obstacle(&mut self, edge: &Edge) -> Option<String> {
        let process = self.context.my_process().ok()?.process;
        let provided = self.context.interpreter.system.process(process).provided.as_ref();
        if let Some(condition) = provided.filter(|condition| self.context.holds(condition) == Ok(false)) {
            self.condition(condition);
            return Some("its provided clause is false".into());
        }
        let mut holds = true;
        for condition in &edge.guard {
            match self.context.holds(condition) {
                Ok(true) => {}
                Ok(false) => {
                    self.condition(condition);
                    holds = false;
                }
                Err(_) => return None,
            }
        }
        let system = self.context.interpreter.system;
        match edge.action.and_then(|action| system.actions.get(action.index())) {
            _ if !holds => None,
            Some(action) => Some(format!("not all who take part in {} are ready", action.name)),
            None => self.communication(edge.communication.as_ref()?),
        }
    }

    /// Why a communication cannot happen.
    fn communication(&mut self, communication: &Communication) -> Option<String> {
        let (handle, kind, channel) = self.context.channel(communication.channel()).ok()?;
        let name = self.context.interpreter.channel_name(self.context.state, handle as u32);
        Some(match communication {
            Communication::Send { .. } if kind.capacity == 0 => format!("no matching receiver on {name}"),
            Communication::Send { .. } if channel.messages.len() >= kind.capacity as usize => format!("{name} is full"),
            Communication::Send { .. } => return None,
            Communication::Receive { patterns, anywhere, .. } => {
                patterns.iter().for_each(|pattern| self.pattern(pattern));
                match (kind.capacity, channel.messages.len()) {
                    (0, _) => format!("no matching sender on {name}"),
                    (_, 0) => format!("{name} is empty"),
                    _ if *anywhere => format!("no message in {name} matches"),
                    _ => format!("the first message in {name} does not match"),
                }
            }
        })
    }

    fn pattern(&mut self, pattern: &Pattern) {
        if let Pattern::Match(expr) = pattern {
            self.condition(expr);
        }
    }

    /// Collects what an expression reads; subscripts show in the names of the cells.
    fn condition(&mut self, expr: &Expr) {
        match expr {
            Expr::Read(place) => self.read(place),
            Expr::Unary(_, x) | Expr::Cast(_, x) => self.condition(x),
            Expr::Binary(_, x, y) => {
                self.condition(x);
                self.condition(y);
            }
            Expr::Conditional(condition, x, y) => {
                self.condition(condition);
                if let Ok(holds) = self.context.holds(condition) {
                    self.condition(if holds { x } else { y });
                }
            }
            // `else` and `timeout` depend on other statements; constants and the process's own id do not change.
            Expr::Const(_) | Expr::SelfId | Expr::Blocked(_) | Expr::Timeout => {}
            _ => self.value_of(expr),
        }
    }

    fn read(&mut self, place: &Place) {
        let Ok(slot) = self.context.slot(place) else { return };
        let (system, interpreter) = (self.context.interpreter.system, self.context.interpreter);
        let (variables, layout) = match (place.scope, self.context.my_process()) {
            (Scope::Global, _) => (&system.globals, &interpreter.globals),
            (Scope::Local, Ok(me)) => (&system.process(me.process).locals, interpreter.locals(me.process)),
            (Scope::Local, Err(_)) => return,
        };
        let index = place.variable.index();
        let (Some(variable), Some(offset)) = (variables.get(index), layout.offsets.get(index)) else { return };
        let Ok(value) = self.context.value(&Expr::Read(place.clone())) else { return };
        let name = system.slot_name(variable, (slot - offset) as u32);
        let value = match place.scope {
            Scope::Global => system.show_global(index, place.scalar, value),
            Scope::Local => system.show_value(place.scalar, value),
        };
        self.add(Cell { name, value });
    }

    /// What is not a cell is printed as it is written.
    fn value_of(&mut self, expr: &Expr) {
        let Ok(value) = self.context.value(expr) else { return };
        let of = self.context.my_process().ok().map(|process| process.process);
        let name = self.context.interpreter.system.show_expr(of, expr);
        self.add(Cell { name, value: value.to_string() });
    }

    fn add(&mut self, cell: Cell) {
        if self.seen.insert(cell.clone()) {
            self.cells.push(cell);
        }
    }
}
