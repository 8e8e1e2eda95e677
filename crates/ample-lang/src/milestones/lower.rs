//! Flattened model to [`System`].
//!
//! Every variable is a global of the system, a local by the name `a[0].x`. Each process is a process type of its own
//! that stands still at one location and has an edge for each command under a local action; its `pc` is a variable
//! like any other. One more process, `main`, owns the global actions: an edge for each global command and each
//! choice among commands of the participants. Commands of one participant that exclude each other (those at different
//! values of `pc`, mostly) need no choice: one edge stands for all of them, with a branch in its effect.
//!
//! In a rendez-vous the global command comes first. It writes only globals, and the commands of the participants use
//! only their own variables, so nobody reads what another has written.

mod exclusive;
mod expression;
mod parallel;

use std::collections::HashMap;

use ample_budget::Budget;
use ample_model::{
    Action, Coupling, Edge, Expr, Initial, Instance, Instruction, LocationId, ProcessId, ProcessType, Property,
    Question, Scalar, Source, System, Temporal, Type, Variable, VariableKind,
};

use super::model::{self, ActionId, Command, GlobalCommand, Label, Logic, Model, Process};
use super::parser::{Notation, parse_formula};
use super::resolve::{Names, alone};
use crate::diagnostic::{Diagnostic, Rejected};
use crate::watch::Watch;
use exclusive::alternatives;
use expression::{all, any, condition, is_at, temporal};
use parallel::{Step, in_order};

/// A variable without a first value has at most so many bits, since each of its values is written down.
const MAX_OPEN_BITS: u8 = 16;
/// At most so many edges for one global action.
const MAX_EDGES: usize = 10_000;
/// What the text of a formula is called in messages.
const LABEL: &str = "<formula>";

/// A model that was accepted.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The system.
    pub system: System,
    /// What the user should know all the same.
    pub warnings: Vec<Diagnostic>,
}

/// Makes a system of a model.
pub fn lower(model: &Model) -> Result<Lowered, Rejected> {
    lower_within(model, &Watch::new(&Budget::unlimited()))
}

/// As [`lower`]; what it gives when the budget is exhausted is of no use.
pub(super) fn lower_within(model: &Model, watch: &Watch<'_>) -> Result<Lowered, Rejected> {
    let mut lower = Lower { watch, model, variables: Vec::new(), errors: Vec::new() };
    lower.variables = model.variables.iter().map(|variable| lower.variable(variable)).collect();
    let mut processes: Vec<ProcessType> = model.processes.iter().map(|process| lower.process(process)).collect();
    if !model.commands.is_empty() {
        processes.push(lower.main());
    }
    let Lower { variables, errors, .. } = lower;
    if !errors.is_empty() {
        let diagnostics = model.warnings.iter().cloned().chain(errors).collect();
        return Err(Rejected::new(vec![model.source.clone()], diagnostics));
    }
    let start = |number| Instance { process: ProcessId::from(number), arguments: Vec::new(), priority: None };
    let system = System {
        name: model.name.clone(),
        language: "milestones".to_owned(),
        sources: vec![model.source.clone()],
        enumerations: Vec::new(),
        records: Vec::new(),
        channels: Vec::new(),
        start: (0..processes.len()).map(start).collect(),
        max_processes: processes.len() as u32,
        max_objects: ample_model::interpret::MAX_OBJECTS,
        globals: variables,
        processes,
        monitor: None,
        properties: model.properties.iter().map(|stated| property(model, stated)).collect(),
        uses_last: false,
        uses_priorities: false,
        exclusive: Vec::new(),
        dead_ends: false,
        coupling: Coupling::Interleaving,
        actions: Vec::new(),
        exact_types: true,
        signals: Vec::new(),
        original: None,
    };
    Ok(Lowered { system, warnings: model.warnings.clone() })
}

fn property(model: &Model, stated: &model::Property) -> Property {
    let bits = |id| model.variable(id).bits;
    let temporal = temporal(&stated.formula, &stated.atoms, &bits);
    let question = match stated.logic {
        Logic::Ctl => Question::Ctl(temporal),
        Logic::Ltl => Question::Ltl(temporal),
    };
    Property { name: stated.name.clone(), question, text: stated.text.clone(), span: Some(stated.span) }
}

struct Lower<'a> {
    watch: &'a Watch<'a>,
    model: &'a Model,
    /// Those of the model, then temporaries.
    variables: Vec<Variable>,
    errors: Vec<Diagnostic>,
}

impl<'a> Lower<'a> {
    fn variable(&mut self, variable: &model::Variable) -> Variable {
        let initial = match variable.initial {
            Some(value) => Initial::Value(Expr::Const(value.into())),
            None if variable.bits > MAX_OPEN_BITS => {
                let message = format!("`{}` has no first value and {} bits", variable.name, variable.bits);
                let help =
                    format!("every value would be a first value, and that is supported up to {MAX_OPEN_BITS} bits");
                self.errors.push(Diagnostic::error(variable.span, message).with_help(help));
                Initial::AnyOf(vec![0])
            }
            None => Initial::Between(0, variable.largest().into()),
        };
        Variable {
            name: variable.name.clone(),
            ty: Type::Scalar(Scalar::Int { bits: variable.bits, signed: false }),
            initial: vec![(0, initial)],
            hidden: false,
            kind: VariableKind::State,
            span: Some(variable.span),
        }
    }

    fn bits(&self, id: model::VariableId) -> u8 {
        self.model.variable(id).bits
    }

    fn condition(&self, e: &model::Condition) -> Expr {
        condition(e, &|id| self.bits(id))
    }

    // Processes.

    fn process(&mut self, process: &'a Process) -> ProcessType {
        let mut temporaries = Temporaries::new(&process.name);
        let mut edges = Vec::new();
        for command in &process.commands {
            if self.watch.step().is_err() {
                break;
            }
            if let Label::Local(action) = command.action {
                let effect = self.assignments(&command.assignments, &mut temporaries);
                let guard = self.enabled(process, command);
                edges.push(edge(guard, effect, &process.actions[action], command.span));
            }
        }
        ProcessType { span: Some(process.span), ..ProcessType::of_edges(&process.name, edges) }
    }

    /// What must hold for a command of a process to fire.
    fn enabled(&self, process: &Process, command: &Command) -> Vec<Expr> {
        let mut guard = vec![is_at(process.pc, self.bits(process.pc), command.pc)];
        guard.extend(command.guard.conjuncts().into_iter().map(|e| self.condition(e)));
        guard
    }

    /// A parallel assignment, one step after the other.
    fn assignments(&mut self, assignments: &[model::Assignment], temporaries: &mut Temporaries) -> Vec<Instruction> {
        let order = in_order(assignments);
        let mut code = Vec::with_capacity(order.len());
        let mut saved = HashMap::new();
        for step in order {
            let assign = match step {
                Step::Save(variable) => {
                    let temporary = temporaries.get(saved.len(), &mut self.variables);
                    saved.insert(variable, temporary.clone());
                    let value = expression::read(variable, self.bits(variable));
                    Action::Assign(temporary, value)
                }
                Step::Assign(index) => {
                    let model::Assignment { target, value, .. } = &assignments[index];
                    let place = expression::place(*target, self.bits(*target));
                    let read = |id| saved.get(&id).map(|place| Expr::Read(place.clone()));
                    Action::Assign(place, expression::value(value, &|id| self.bits(id), &read))
                }
            };
            code.push(Instruction::Do(assign));
        }
        let clear = |number: usize| Action::Assign(temporaries.places[number].clone(), Expr::Const(0));
        code.extend((0..saved.len()).map(|number| Instruction::Do(clear(number))));
        code
    }

    // Global actions.

    /// The process of the global actions.
    fn main(&mut self) -> ProcessType {
        let mut temporaries = Temporaries::new("main");
        let mut edges = Vec::new();
        for action in (0..self.model.actions.len()).map(ActionId) {
            if self.watch.step().is_err() {
                break;
            }
            let participants: Vec<&Process> = self.model.participants(action).collect();
            let choices: Vec<_> =
                participants.iter().map(|process| alternatives(process, action, self.watch)).collect();
            let commands: Vec<&GlobalCommand> = self.model.commands_of(action).collect();
            let count = choices.iter().fold(commands.len(), |count, some| count.saturating_mul(some.len()));
            if count > MAX_EDGES {
                self.too_many(action, count);
                continue;
            }
            for command in commands {
                for combination in combinations(&choices) {
                    if self.watch.steps(1 + choices.len()).is_err() {
                        break;
                    }
                    let chosen: Vec<_> = participants.iter().copied().zip(combination).collect();
                    edges.push(self.rendezvous(command, &chosen, &mut temporaries));
                }
            }
        }
        ProcessType::of_edges("main", edges)
    }

    fn too_many(&mut self, action: ActionId, count: usize) {
        let name = &self.model.actions[action.0];
        let count = if count == usize::MAX { "too many".to_owned() } else { count.to_string() };
        let message = format!("the action `{name}` can fire by {count} combinations of commands");
        let help = format!("at most {MAX_EDGES} are supported: give its commands guards that exclude each other");
        let span = self.model.commands_of(action).next().map(|command| command.span);
        let error = Diagnostic { severity: crate::Severity::Error, message, span, help: Some(help) };
        self.errors.push(error);
    }

    /// One edge for a global command and, of each participant, commands that exclude each other.
    fn rendezvous(
        &mut self,
        command: &GlobalCommand,
        chosen: &[(&'a Process, &Vec<&'a Command>)],
        temporaries: &mut Temporaries,
    ) -> Edge {
        let mut guard: Vec<Expr> = command.guard.conjuncts().into_iter().map(|e| self.condition(e)).collect();
        let mut effect = self.assignments(&command.assignments, temporaries);
        for (process, commands) in chosen {
            match commands.as_slice() {
                [only] => guard.extend(self.enabled(process, only)),
                several => guard.push(any(several.iter().map(|one| all(self.enabled(process, one))).collect())),
            }
            self.branch(process, commands, temporaries, &mut effect);
        }
        edge(guard, effect, &self.model.actions[command.action.0], command.span)
    }

    /// Appends what the one command does that is enabled; the guard has seen to it that one is.
    fn branch(
        &mut self,
        process: &Process,
        commands: &[&Command],
        temporaries: &mut Temporaries,
        effect: &mut Vec<Instruction>,
    ) {
        if commands.iter().all(|command| command.assignments.is_empty()) {
            return;
        }
        let mut jumps = Vec::new();
        for (number, command) in commands.iter().enumerate() {
            let code = self.assignments(&command.assignments, temporaries);
            if number + 1 == commands.len() {
                effect.extend(code);
                continue;
            }
            let next = effect.len() + code.len() + 2;
            effect.push(Instruction::Try(Action::Test(all(self.enabled(process, command))), next as u32));
            effect.extend(code);
            jumps.push(effect.len());
            effect.push(Instruction::Jump(0));
        }
        let end = effect.len() as u32;
        for at in jumps {
            effect[at] = Instruction::Jump(end);
        }
    }
}

/// All combinations of one of each.
fn combinations<'b, T>(choices: &'b [Vec<T>]) -> Vec<Vec<&'b T>> {
    let mut combinations = vec![Vec::new()];
    for some in choices {
        let extend = |before: &Vec<&'b T>| {
            let before = before.clone();
            some.iter().map(move |one| before.iter().copied().chain([one]).collect()).collect::<Vec<_>>()
        };
        combinations = combinations.iter().flat_map(extend).collect();
    }
    combinations
}

/// The temporaries of a process, made when they are needed.
struct Temporaries {
    process: String,
    places: Vec<ample_model::Place>,
}

impl Temporaries {
    fn new(process: &str) -> Self {
        Temporaries { process: process.to_owned(), places: Vec::new() }
    }

    fn get(&mut self, number: usize, variables: &mut Vec<Variable>) -> ample_model::Place {
        while self.places.len() <= number {
            self.places.push(expression::place(model::VariableId(variables.len()), 32));
            variables.push(Variable {
                name: format!("{}.temporary[{}]", self.process, self.places.len() - 1),
                ty: Type::Scalar(Scalar::Int { bits: 32, signed: false }),
                initial: Vec::new(),
                hidden: true,
                kind: VariableKind::State,
                span: None,
            });
        }
        self.places[number].clone()
    }
}

fn edge(guard: Vec<Expr>, effect: Vec<Instruction>, label: &str, span: ample_model::Span) -> Edge {
    Edge {
        from: LocationId(0),
        to: LocationId(0),
        guard,
        communication: None,
        effect,
        keeps_control: false,
        action: None,
        origin: Vec::new(),
        span: Some(span),
        label: label.to_owned(),
    }
}

// Formulas beside the model.

/// A condition over a system that was read from a Milestones text, as a user types it.
///
/// ```
/// let text = "VARIABLE g:2:=0; END ACTION up; END MAIN CASE [up] g < 3: g := g + 1; END END";
/// let system = ample_lang::milestones::read("up.mil", text)?.system;
/// assert!(ample_lang::milestones::expression(&system, "g <= 3").is_ok());
/// assert!(ample_lang::milestones::expression(&system, "h <= 3").is_err());
/// # Ok::<(), ample_lang::Rejected>(())
/// ```
pub fn expression(system: &System, text: &str) -> Result<Expr, Rejected> {
    let temporal = over(system, text, Notation::State)?;
    // There are no temporal operators in this notation.
    Ok(temporal.state_expr(&temporal.formula).unwrap_or(Expr::FALSE))
}

/// A formula of linear temporal logic over a system that was read from a Milestones text.
///
/// ```
/// let text = "VARIABLE g:2:=0; END ACTION up; END MAIN CASE [up] g < 3: g := g + 1; END END";
/// let system = ample_lang::milestones::read("up.mil", text)?.system;
/// assert!(ample_lang::milestones::ltl(&system, "F G g == 3").is_ok());
/// # Ok::<(), ample_lang::Rejected>(())
/// ```
pub fn ltl(system: &System, text: &str) -> Result<Temporal, Rejected> {
    over(system, text, Notation::Linear)
}

/// A formula of computation tree logic over a system that was read from a Milestones text.
///
/// ```
/// let text = "VARIABLE g:2:=0; END ACTION up; END MAIN CASE [up] g < 3: g := g + 1; END END";
/// let system = ample_lang::milestones::read("up.mil", text)?.system;
/// assert!(ample_lang::milestones::ctl(&system, "AG EF g == 3 & A[g < 3 U g == 3]").is_ok());
/// # Ok::<(), ample_lang::Rejected>(())
/// ```
pub fn ctl(system: &System, text: &str) -> Result<Temporal, Rejected> {
    over(system, text, Notation::Branching)
}

fn over(system: &System, text: &str, notation: Notation) -> Result<Temporal, Rejected> {
    let source = Source { path: LABEL.to_owned(), text: text.to_owned() };
    let names = Names::of(system);
    let parsed = parse_formula(&source, names.words(), notation)?;
    let (formula, atoms) = alone(&names, &parsed).map_err(|diagnostics| Rejected::new(vec![source], diagnostics))?;
    let bits = |id: model::VariableId| match system.globals.get(id.0).map(|variable| &variable.ty) {
        Some(Type::Scalar(Scalar::Int { bits, .. })) => *bits,
        _ => 32,
    };
    Ok(temporal(&formula, &atoms, &bits))
}
