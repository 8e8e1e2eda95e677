//! Lowering: the syntax tree becomes a [`System`].
//!
//! Names are resolved and types laid out in `names`, expressions in `expression`; a body's statements
//! become a control flow (`statement`, `flow`, `deterministic`); this module puts the pieces
//! together: process types, claims, traces and properties.

mod deterministic;
mod expression;
mod flow;
mod formula;
mod names;
mod patch;
mod statement;

use std::collections::{HashMap, HashSet};

use ample_budget::Budget;
use ample_model::{
    Action, BinaryOp, Communication, Coupling, DeadStatement, Edge, EdgeId, EventKind, Expr, Instance, Instruction,
    Location, LocationId, Monitor, MonitorEdge, Pattern, ProcessId, ProcessType, Property, Question, Role, Source,
    Span, System, Type, VariableId,
};

use super::ast::{self, Name, Unit, VarRef};
use super::parser::{Notation, Parsed};
use crate::diagnostic::{Diagnostic, Rejected, Severity, closest};
use crate::promplus::Widths;
use crate::watch::Watch;
pub use formula::{ctl, ctl_within, expression, expression_within, ltl, ltl_within};

use flow::{Automaton, Flow, LabelName, Node};
use names::Globals;
use statement::{Body, Leaf};

type Result<T> = std::result::Result<T, Diagnostic>;

/// Spin's own limit; process ids are kept in a byte.
const MAX_PROCESSES: u32 = 255;

/// More errors than this help nobody.
const MAX_ERRORS: usize = 20;

/// How the message about a name that is not declared begins.
const UNDECLARED: &str = "undeclared variable";

/// A model that was accepted.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The system.
    pub system: System,
    /// What the user should know all the same.
    pub warnings: Vec<Diagnostic>,
}

/// Something in another process type, looked up when all bodies are known.
enum Reference {
    Label { of: ProcessId, label: Name },
    Variable { of: ProcessId, var: VarRef, indices: Vec<Option<Expr>> },
}

/// What becomes of a `run` in the expression that is being lowered.
enum RunSlot {
    Forbidden,
    Empty,
    Filled(Action),
}

struct Lower<'a> {
    watch: &'a Watch<'a>,
    sources: &'a [Source],
    system: System,
    globals: Globals,
    /// The parameters' cells of every process type.
    parameter_slots: Vec<usize>,
    /// The names and types of the parameters of every process type.
    parameters: Vec<Vec<(String, Type)>>,
    roles: Vec<Role>,
    body: Option<Body>,
    run_slot: RunSlot,
    /// What kind of text is being lowered: the model's, or a formula, which belongs to no process.
    notation: Notation,
    references: Vec<Reference>,
    diagnostics: Vec<Diagnostic>,
    /// The text is one of PROM+, with these widths of process ids and references.
    widths: Option<Widths>,
}

/// A body that was read, before its automaton is built.
struct Built {
    process: ProcessId,
    body: Body,
}

/// Turns a parsed model into a system; `name` is for reports.
pub fn lower(parsed: Parsed, name: &str) -> std::result::Result<Lowered, Rejected> {
    lower_within(parsed, name, &Watch::new(&Budget::unlimited()))
}

/// As [`lower`]; what it gives when the budget is exhausted is of no use.
pub(super) fn lower_within(parsed: Parsed, name: &str, watch: &Watch<'_>) -> std::result::Result<Lowered, Rejected> {
    lower_as(parsed, name, None, watch)
}

/// As [`lower_within`]: Promela, or PROM+ with these widths of process ids and references.
pub(crate) fn lower_as(
    parsed: Parsed,
    name: &str,
    widths: Option<Widths>,
    watch: &Watch<'_>,
) -> std::result::Result<Lowered, Rejected> {
    let Parsed { model, sources, diagnostics } = parsed;
    let mut lower = Lower::new(&sources, name, diagnostics, watch);
    if let Some(widths) = widths {
        lower.widths = Some(widths);
        lower.system.language = crate::promplus::NAME.into();
        lower.system.max_processes = widths.processes();
        lower.system.max_objects = widths.objects();
    }
    lower.model(&model);
    let Lower { mut system, mut diagnostics, .. } = lower;
    if diagnostics.iter().any(|d| d.severity == Severity::Error) {
        diagnostics.retain({
            let mut errors = 0;
            move |d| {
                errors += usize::from(d.severity == Severity::Error);
                errors <= MAX_ERRORS
            }
        });
        return Err(Rejected::new(sources, diagnostics));
    }
    system.sources = sources;
    Ok(Lowered { system, warnings: diagnostics })
}

impl<'a> Lower<'a> {
    fn new(sources: &'a [Source], name: &str, diagnostics: Vec<Diagnostic>, watch: &'a Watch<'a>) -> Self {
        let system = System {
            name: name.into(),
            language: "promela".into(),
            sources: Vec::new(),
            enumerations: Vec::new(),
            records: Vec::new(),
            channels: Vec::new(),
            globals: Vec::new(),
            processes: Vec::new(),
            start: Vec::new(),
            max_processes: MAX_PROCESSES,
            max_objects: ample_model::interpret::MAX_OBJECTS,
            monitor: None,
            properties: Vec::new(),
            uses_last: false,
            uses_priorities: false,
            exclusive: Vec::new(),
            dead_ends: false,
            coupling: Coupling::Interleaving,
            actions: Vec::new(),
            exact_types: false,
            signals: Vec::new(),
            original: None,
        };
        Lower {
            watch,
            sources,
            system,
            globals: Globals::default(),
            parameter_slots: Vec::new(),
            parameters: Vec::new(),
            roles: Vec::new(),
            body: None,
            run_slot: RunSlot::Forbidden,
            notation: Notation::Model,
            references: Vec::new(),
            diagnostics,
            widths: None,
        }
    }

    /// Notes an error; that a name is not declared, once.
    fn keep_error(&mut self, done: Result<()>) {
        let Err(error) = done else { return };
        let known = |d: &Diagnostic| d.message == error.message && d.message.starts_with(UNDECLARED);
        if !self.diagnostics.iter().any(known) {
            self.diagnostics.push(error);
        }
    }

    /// Where something was declared before, as help.
    fn declared_before(&self, span: Option<Span>) -> String {
        let line = span.and_then(|s| self.sources.get(s.source.index()).map(|source| source.position(s.start).0));
        match line {
            Some(line) => format!("the first declaration is in line {line}"),
            None => "it is declared before".into(),
        }
    }

    fn warn(&mut self, span: Span, message: String) {
        self.diagnostics.push(Diagnostic::warning(span, message));
    }

    fn refer(&mut self, reference: Reference) -> u32 {
        self.references.push(reference);
        (self.references.len() - 1) as u32
    }

    /// The source text of a span on one line, its white space folded.
    fn text(&self, span: Span) -> String {
        let text = &self.sources[span.source.index()].text;
        let slice = text.get(span.start as usize..span.end as usize).unwrap_or("");
        let mut folded = slice.split_whitespace().collect::<Vec<_>>().join(" ");
        if folded.chars().count() > 100 {
            folded = folded.chars().take(99).collect();
            folded.push('…');
        }
        folded
    }

    fn model(&mut self, model: &ast::Model) {
        self.collect_globals(model);
        let mut bodies = self.collect_processes(model).into_iter();
        let mut built = Vec::new();
        let mut process = 0;
        for unit in &model.units {
            if self.watch.step().is_err() {
                return;
            }
            match unit {
                Unit::Proctype(p) | Unit::Init(p) | Unit::Never(p) => {
                    let id = ProcessId::from(process);
                    process += 1;
                    let Some(body) = bodies.next() else { continue };
                    let done = self.proctype(p, id, body);
                    match done {
                        Ok(body) => built.push(Built { process: id, body }),
                        Err(error) => self.diagnostics.push(error),
                    }
                }
                Unit::Trace { negated, body, span } => {
                    let done = self.trace(*negated, body, *span);
                    self.keep_error(done);
                }
                Unit::Ltl { name, formula, text } => {
                    let done = self.ltl(name, formula, text);
                    self.keep_error(done);
                }
                Unit::Declaration(_) | Unit::Typedef { .. } | Unit::Mtype { .. } => {}
                // Its calls have been expanded.
                Unit::Function(_) => {}
            }
        }
        self.start(model);
        if self.watch.ended().is_some() || self.diagnostics.iter().any(|d| d.severity == Severity::Error) {
            return;
        }
        self.finish(built);
    }

    /// The process types, each with the body in which its parameters are declared.
    fn collect_processes(&mut self, model: &ast::Model) -> Vec<Body> {
        let mut bodies = Vec::new();
        for unit in &model.units {
            let (proctype, role) = match unit {
                Unit::Proctype(p) | Unit::Init(p) => (p, Role::Process),
                Unit::Never(p) => (p, Role::Claim),
                _ => continue,
            };
            let id = ProcessId::from(self.system.processes.len());
            self.name_process(unit, proctype, id);
            self.roles.push(role);
            self.system.processes.push(ProcessType {
                name: proctype.name.text.clone(),
                role,
                parameters: 0,
                locals: Vec::new(),
                locations: Vec::new(),
                edges: Vec::new(),
                initial: LocationId(0),
                provided: None,
                priority: 1,
                unreachable_labels: Vec::new(),
                dead_code: Vec::new(),
                structure: None,
                span: Some(proctype.name.span),
            });
            self.body = Some(Body::new(role == Role::Claim, false));
            let slots = self.parameters(proctype);
            self.parameter_slots.push(slots);
            let body = self.body.take();
            let parameters = body.iter().flat_map(|body| &body.locals.variables);
            self.parameters.push(parameters.map(|variable| (variable.name.clone(), variable.ty.clone())).collect());
            bodies.extend(body);
        }
        bodies
    }

    fn name_process(&mut self, unit: &Unit, proctype: &ast::Proctype, id: ProcessId) {
        let Name { text, span } = &proctype.name;
        let before = self.globals.processes.insert(text.clone(), id);
        let before = before.map(|before| self.system.process(before).span);
        if before.is_some() && matches!(unit, Unit::Init(_)) {
            self.warn(*span, "there is another `init` before this one, and both are run".into());
        } else if let Some(before) = before {
            let error = Diagnostic::error(*span, format!("`{text}` is declared twice"));
            self.diagnostics.push(error.with_help(self.declared_before(before)));
        } else if let Some(variable) = self.globals.variables.get(text)
            && !matches!(unit, Unit::Never(_))
        {
            let before = self.system.globals[variable.index()].span;
            let error = Diagnostic::error(*span, format!("`{text}` is a variable and cannot be a proctype"));
            self.diagnostics.push(error.with_help(self.declared_before(before)));
        }
    }

    /// Declares the parameters in the open body; how many cells they have.
    fn parameters(&mut self, proctype: &ast::Proctype) -> usize {
        let mut slots = 0;
        for declaration in &proctype.parameters {
            for declarator in &declaration.variables {
                if declarator.length.is_some() {
                    let message = format!("`{}` is an array and cannot be a parameter", declarator.name.text);
                    self.diagnostics.push(Diagnostic::error(declarator.name.span, message));
                }
                let id = match self.add_local(declaration, declarator, true) {
                    Ok(id) => id,
                    Err(error) => {
                        self.diagnostics.push(error);
                        slots += 1;
                        continue;
                    }
                };
                let body = self.body.as_mut().expect("parameters are declared inside a body");
                let variable = &mut body.locals.variables[id.index()];
                // A record's own first values are overwritten by the argument.
                variable.initial.clear();
                slots += match variable.ty {
                    // Refused above: its arguments are not counted against it as well.
                    ample_model::Type::Array { .. } => 1,
                    ref ty => self.system.slots(ty) as usize,
                };
            }
        }
        slots
    }

    fn proctype(&mut self, proctype: &ast::Proctype, id: ProcessId, body: Body) -> Result<Body> {
        let role = self.roles[id.index()];
        self.body = Some(body);
        let body = self.body.as_mut().expect("the body was just opened");
        self.system.processes[id.index()].parameters = body.locals.variables.len() as u32;
        body.locals.open_scope();
        self.statements(&proctype.body);
        let mut body = self.body.take().expect("the body is still open");
        body.locals.close_scope();
        if let Some(local) = body.locals.variables.first()
            && role == Role::Claim
        {
            let span = local.span.unwrap_or(proctype.name.span);
            return Err(Diagnostic::error(span, "a never claim cannot have variables of its own"));
        }
        body.flow.add(Node::End, proctype.end, &[])?;
        if let Some(provided) = &proctype.provided {
            self.body = Some(body);
            let lowered = self.expression(provided);
            body = self.body.take().expect("the body was just put back");
            self.system.processes[id.index()].provided = Some(lowered?);
        }
        Ok(body)
    }

    fn start(&mut self, model: &ast::Model) {
        let mut process = 0;
        for unit in &model.units {
            let (proctype, is_init) = match unit {
                Unit::Proctype(p) => (p, false),
                Unit::Init(p) => (p, true),
                Unit::Never(_) => {
                    process += 1;
                    continue;
                }
                _ => continue,
            };
            let done = self.instances(proctype, ProcessId::from(process), is_init);
            self.keep_error(done);
            process += 1;
        }
        let runnable = self.roles.contains(&Role::Process);
        if self.system.start.is_empty() && !self.diagnostics.iter().any(|d| d.severity == Severity::Error) {
            let is_promela = self.widths.is_none();
            let message = if runnable && is_promela {
                "no process is ever started: there is no `init` and no `active` proctype"
            } else if runnable {
                "no process is ever started: there is no `active` proctype"
            } else {
                "the model has no processes"
            };
            let top = Span { source: ample_model::SourceId(0), start: 0, end: 0 };
            let span = self.system.processes.first().and_then(|p| p.span).or(Some(top));
            let help = match is_promela {
                true => "write `init { … }` or put `active` before a proctype",
                false => "write `active [1]` before a proctype",
            };
            let help = Some(help.to_string());
            let severity = Severity::Error;
            self.diagnostics.push(Diagnostic { severity, message: message.into(), span, help });
        }
    }

    fn instances(&mut self, proctype: &ast::Proctype, id: ProcessId, is_init: bool) -> Result<()> {
        let priority = match &proctype.priority {
            Some(e) => Some(self.priority(e)?),
            None => None,
        };
        let count = match (&proctype.active, is_init) {
            (_, true) => 1,
            (None, false) => return Ok(()),
            (Some(e), false) => {
                let count = self.instance_count(e)?;
                if count < 0 {
                    return Err(Diagnostic::error(e.span, format!("there cannot be {count} processes")));
                }
                let all = count + self.system.start.len() as i64;
                let most = self.system.max_processes;
                if all > i64::from(most) {
                    let message = format!("{all} processes are started: there can be at most {most}");
                    return Err(Diagnostic::error(e.span, message));
                }
                count
            }
        };
        let arguments = vec![0; self.parameter_slots[id.index()]];
        for _ in 0..count {
            self.system.start.push(Instance { process: id, arguments: arguments.clone(), priority });
        }
        Ok(())
    }

    fn instance_count(&mut self, e: &ast::Expr) -> Result<i64> {
        if let Ok(count) = self.constant(e) {
            return Ok(count);
        }
        // A global with a constant initial value may stand here.
        if let Expr::Read(place) = self.expression(e)?
            && place.scope == ample_model::Scope::Global
            && let Some((_, ample_model::Initial::Value(Expr::Const(value)))) =
                self.system.globals[place.variable.index()].initial.first()
        {
            return Ok(*value);
        }
        Err(Diagnostic::error(e.span, "expected a constant number of processes"))
    }

    fn ltl(&mut self, name: &Name, formula: &ast::Expr, text: &str) -> Result<()> {
        if self.system.properties.iter().any(|p| p.name == name.text) {
            return Err(Diagnostic::error(name.span, format!("the formula `{}` is declared twice", name.text)));
        }
        self.notation = Notation::Block;
        let temporal = self.temporal(formula);
        self.notation = Notation::Model;
        let question = Question::Ltl(temporal?);
        let property = Property { name: name.text.clone(), question, text: text.into(), span: Some(name.span) };
        self.system.properties.push(property);
        Ok(())
    }

    fn finish(&mut self, mut built: Vec<Built>) {
        for reference in &self.references {
            if let Reference::Label { of, label } = reference
                && let Some(target) = built.iter_mut().find(|b| b.process == *of)
                && let Some(element) = find_remote_label(&target.body.flow, &label.text)
            {
                target.body.flow.fix_remote_label(element);
            }
        }
        let mut labels = Vec::new();
        for Built { process, mut body } in built {
            // The automaton is built once from a flow.
            let unbuilt = body.flow.clone();
            let done = body.flow.automaton(&statement::is_dead, self.watch).and_then(|automaton| {
                let (locations, edges, numbers) = edges(&body.flow, &automaton, self.roles[process.index()], self)?;
                let dead_code = dead_code(&body.flow, &automaton, self)?;
                Ok((locations, edges, numbers, dead_code, automaton.start))
            });
            match done {
                Ok((locations, edges, numbers, dead_code, start)) => {
                    let target = &mut self.system.processes[process.index()];
                    target.initial = numbers[&start];
                    target.dead_code = dead_code;
                    target.locations = locations;
                    target.edges = edges;
                    target.locals = body.locals.variables;
                    let table = label_table(&body.flow, &numbers);
                    target.unreachable_labels = unreachable_labels(unbuilt, &table, self.watch);
                    labels.push((process, table));
                }
                Err(error) => self.diagnostics.push(error),
            }
        }
        for (index, role) in self.roles.iter().enumerate() {
            if *role == Role::Claim {
                let process = &self.system.processes[index];
                self.system.properties.push(Property {
                    name: process.name.clone(),
                    question: Question::Never(ProcessId::from(index)),
                    text: "never claim".into(),
                    span: process.span,
                });
            }
        }
        self.resolve_references(&labels.into_iter().collect());
    }

    fn resolve_references(&mut self, labels: &HashMap<ProcessId, HashMap<String, Vec<LocationId>>>) {
        let mut resolved = Vec::new();
        for reference in std::mem::take(&mut self.references) {
            resolved.push(match self.resolve(reference, labels) {
                Ok(found) => found,
                Err(error) => {
                    self.diagnostics.push(error);
                    return;
                }
            });
        }
        if resolved.is_empty() {
            return;
        }
        patch::system(&mut self.system, &mut |e| match e {
            Expr::At { process, of, locations } => match &resolved[locations[0].index()] {
                Resolved::Locations(found) => Expr::At { process, of, locations: found.clone() },
                Resolved::Place(_) => Expr::At { process, of, locations },
            },
            Expr::Remote { process, of, place } => match &resolved[place.variable.index()] {
                Resolved::Place(found) => Expr::Remote { process, of, place: found.clone() },
                Resolved::Locations(_) => Expr::Remote { process, of, place },
            },
            e => e,
        });
    }

    fn resolve(
        &self,
        reference: Reference,
        labels: &HashMap<ProcessId, HashMap<String, Vec<LocationId>>>,
    ) -> Result<Resolved> {
        match reference {
            Reference::Label { of, label } => {
                let known = labels.get(&of);
                match known.and_then(|k| k.get(&label.text)) {
                    Some(locations) => Ok(Resolved::Locations(locations.clone())),
                    None => {
                        let name = &self.system.process(of).name;
                        let error =
                            Diagnostic::error(label.span, format!("there is no label `{}` in `{name}`", label.text));
                        let near = known.and_then(|k| closest(&label.text, k.keys().map(String::as_str)));
                        Err(match near {
                            Some(near) => error.with_help(format!("did you mean `{near}`?")),
                            None => error,
                        })
                    }
                }
            }
            Reference::Variable { of, var, indices } => {
                let process = self.system.process(of);
                let (name, _) = &var.parts[0];
                let Some(position) = process.locals.iter().position(|v| v.name == name.text) else {
                    let message = format!("there is no variable `{}` in `{}`", name.text, process.name);
                    let error = Diagnostic::error(name.span, message);
                    return Err(match closest(&name.text, process.locals.iter().map(|v| v.name.as_str())) {
                        Some(near) => error.with_help(format!("did you mean `{near}`?")),
                        None => error,
                    });
                };
                let mut target = expression::Target {
                    root: expression::Root::Variable(ample_model::Scope::Local, VariableId::from(position)),
                    offset: 0,
                    indices: Vec::new(),
                    ty: process.locals[position].ty.clone(),
                };
                for (i, ((field, _), index)) in var.parts.iter().zip(indices).enumerate() {
                    if i > 0 {
                        self.select_field(&mut target, field)?;
                    }
                    self.select_element(&mut target, &field.text, index.map(|e| (e, field.span)))?;
                }
                if var.deref || matches!(target.root, expression::Root::Object(..)) || target.refers_to().is_some() {
                    let message = format!("the pointer `{}` of `{}` is not seen from outside", name.text, process.name);
                    return Err(Diagnostic::error(var.span, message));
                }
                match self.flat_places(&target).into_iter().next() {
                    Some(place) if matches!(target.ty, ample_model::Type::Scalar(_)) => Ok(Resolved::Place(place)),
                    _ => Err(Diagnostic::error(var.span, format!("`{}` is not a plain variable", name.text))),
                }
            }
        }
    }

    fn trace(&mut self, negated: bool, body: &[ast::Stmt], span: Span) -> Result<()> {
        if self.system.monitor.is_some() {
            return Err(Diagnostic::error(span, "there can be only one trace or notrace"));
        }
        self.body = Some(Body::new(true, true));
        let errors = self.diagnostics.len();
        self.statements(body);
        let mut body = self.body.take().expect("the body was just opened");
        if self.diagnostics[errors..].iter().any(|d| d.severity == Severity::Error) {
            return Ok(());
        }
        let end = body.flow.add(Node::End, span, &[])?;
        let last = body.flow.element(end).number;
        let automaton = body.flow.automaton(&statement::is_dead, self.watch)?;
        self.system.monitor = Some(monitor(&body.flow, &automaton, last, negated, span)?);
        Ok(())
    }
}

enum Resolved {
    Locations(Vec<LocationId>),
    Place(ample_model::Place),
}

fn find_remote_label(flow: &Flow<Leaf>, name: &str) -> Option<flow::ElementId> {
    flow.labels.named(&LabelName::Named(name.to_owned())).next().map(|l| l.element)
}

/// For every label of the source the location it names; none if control never rests there.
fn label_table(flow: &Flow<Leaf>, numbers: &HashMap<u32, LocationId>) -> HashMap<String, Vec<LocationId>> {
    let mut table: HashMap<String, Vec<LocationId>> = HashMap::new();
    for label in flow.labels.iter() {
        if let LabelName::Named(name) = &label.name
            && !table.contains_key(name)
        {
            let number = flow.element(label.element).number;
            table.insert(name.clone(), numbers.get(&number).copied().into_iter().collect());
        }
    }
    table
}

/// The labels at which control never rests, not even if somebody refers to them: a jump that a label stands before
/// becomes a state only where the label is referred to.
fn unreachable_labels(
    mut fixed: Flow<Leaf>,
    table: &HashMap<String, Vec<LocationId>>,
    watch: &Watch<'_>,
) -> Vec<String> {
    let mut idle: Vec<&String> = table.iter().filter(|(_, found)| found.is_empty()).map(|(name, _)| name).collect();
    if idle.is_empty() {
        return Vec::new();
    }
    for name in &idle {
        if let Some(element) = find_remote_label(&fixed, name) {
            fixed.fix_remote_label(element);
        }
    }
    let Ok(automaton) = fixed.automaton(&statement::is_dead, watch) else { return Vec::new() };
    let states = reachable(&automaton);
    let is_state = |element: flow::ElementId| states.binary_search(&fixed.element(element).number).is_ok();
    idle.retain(|name| find_remote_label(&fixed, name).is_some_and(|element| !is_state(element)));
    idle.sort();
    idle.into_iter().cloned().collect()
}

/// The state numbers that can be reached, in order.
fn reachable(automaton: &Automaton) -> Vec<u32> {
    let mut seen = vec![false; automaton.transitions.len()];
    let mut stack = vec![automaton.start];
    while let Some(number) = stack.pop() {
        if !std::mem::replace(&mut seen[number as usize], true) {
            let targets = automaton.transitions[number as usize].iter().map(|t| t.target);
            stack.extend(targets.filter(|t| *t != 0));
        }
    }
    (1..seen.len() as u32).filter(|n| seen[*n as usize]).collect()
}

/// The statements of states that cannot be reached. A jump or a join is none, nor is a test that is always false.
fn dead_code(flow: &Flow<Leaf>, automaton: &Automaton, lower: &Lower) -> Result<Vec<DeadStatement>> {
    let mut seen = HashSet::new();
    for number in reachable(automaton) {
        let transitions = &automaton.transitions[number as usize];
        lower.watch.steps(1 + transitions.len())?;
        seen.extend(transitions.iter().map(|transition| transition.element));
    }
    let mut dead = Vec::new();
    for transition in automaton.transitions.iter().flatten() {
        lower.watch.step()?;
        let element = flow.element(transition.element);
        let is_statement = matches!(element.node, Node::Leaf(_) | Node::Skip | Node::Else | Node::DStep(_) | Node::End)
            && !statement::is_dead(&element.node);
        if seen.insert(transition.element) && is_statement {
            dead.push(DeadStatement { label: label(flow, transition.element, lower), span: Some(element.span) });
        }
    }
    Ok(dead)
}

type Graph = (Vec<Location>, Vec<Edge>, HashMap<u32, LocationId>);

fn edges(flow: &Flow<Leaf>, automaton: &Automaton, role: Role, lower: &Lower) -> Result<Graph> {
    let states = reachable(automaton);
    let numbers: HashMap<u32, LocationId> = states.iter().enumerate().map(|(i, n)| (*n, LocationId::from(i))).collect();
    let mut locations = Vec::new();
    let mut edges: Vec<Edge> = Vec::new();
    for &number in &states {
        lower.watch.step()?;
        let from = numbers[&number];
        let transitions = &automaton.transitions[number as usize];
        let marks = automaton.marks[number as usize];
        let mut location =
            Location { number, end: marks.end, progress: marks.progress, accept: marks.accept, ..Location::default() };
        let first = edges.len();
        for (i, transition) in transitions.iter().enumerate() {
            lower.watch.steps(1 + i)?;
            let element = flow.element(transition.element);
            if role == Role::Claim && matches!(element.node, Node::End) {
                continue;
            }
            let mut edge = Edge {
                from,
                to: numbers.get(&transition.target).copied().unwrap_or(from),
                guard: Vec::new(),
                communication: None,
                effect: Vec::new(),
                keeps_control: transition.keeps_control,
                action: None,
                origin: Vec::new(),
                span: Some(element.span),
                label: String::new(),
            };
            // Once an escape can be taken, what is not part of it cannot.
            let escapes: Vec<EdgeId> = (0..i)
                .filter(|j| transitions[*j].escape != 0 && transitions[*j].escape != transition.escape)
                .map(|j| EdgeId::from(first + j))
                .collect();
            if !escapes.is_empty() {
                edge.guard.push(Expr::Blocked(escapes));
            }
            let before = || Expr::Blocked((first..first + i).map(EdgeId::from).collect());
            fill_edge(&mut edge, flow, transition.element, &before, lower)?;
            location.edges.push(EdgeId::from(edges.len()));
            location.span = location.span.or(edge.span);
            edges.push(edge);
        }
        locations.push(location);
    }
    for label in flow.labels.iter() {
        if let LabelName::Named(name) = &label.name
            && let Some(id) = numbers.get(&flow.element(label.element).number)
        {
            locations[id.index()].labels.push(name.clone());
        }
    }
    Ok((locations, edges, numbers))
}

fn fill_edge(
    edge: &mut Edge,
    flow: &Flow<Leaf>,
    id: flow::ElementId,
    before: &dyn Fn() -> Expr,
    lower: &Lower,
) -> Result<()> {
    let element = flow.element(id);
    edge.label = label(flow, id, lower);
    match &element.node {
        Node::Leaf(leaf) => {
            edge.guard.extend(leaf.guard.iter().cloned());
            edge.communication = leaf.communication.clone();
            edge.effect = leaf.actions.iter().cloned().map(Instruction::Do).collect();
        }
        Node::Else => edge.guard.push(before()),
        Node::DStep(inside) => {
            let lowered = deterministic::lower(flow, *inside)?;
            if lowered.is_else {
                edge.guard.push(before());
            }
            edge.guard.extend(lowered.guard);
            edge.communication = lowered.communication;
            edge.effect = lowered.program;
        }
        Node::End => {
            let youngest = Expr::binary(BinaryOp::Subtract, Expr::ProcessCount, Expr::Const(1));
            edge.guard.push(Expr::binary(BinaryOp::Equal, Expr::SelfId, youngest));
            edge.effect = vec![Instruction::Do(Action::End)];
        }
        _ => {}
    }
    Ok(())
}

/// What to show of an element.
fn label(flow: &Flow<Leaf>, id: flow::ElementId, lower: &Lower) -> String {
    let element = flow.element(id);
    match &element.node {
        Node::Leaf(leaf) => leaf.label.clone(),
        Node::Else => "else".into(),
        Node::End => "-end-".into(),
        Node::Join | Node::Exit => "goto".into(),
        Node::Goto(LabelName::Exit(_), _) => "break".into(),
        _ => lower.text(element.span),
    }
}

fn monitor(flow: &Flow<Leaf>, automaton: &Automaton, last: u32, forbids: bool, span: Span) -> Result<Monitor> {
    let mut states = reachable(automaton);
    if !states.contains(&last) {
        states.push(last);
    }
    let position = |number: u32| states.iter().position(|s| *s == number).unwrap_or(0) as u32;
    let mut locations = Vec::new();
    let mut observed: Vec<(EventKind, Expr)> = Vec::new();
    for &number in &states {
        let mut out = Vec::new();
        for transition in &automaton.transitions[number as usize] {
            let element = flow.element(transition.element);
            let communication = match &element.node {
                Node::End => continue,
                Node::Leaf(Leaf { communication: Some(communication), .. }) => communication,
                _ => return Err(Diagnostic::error(element.span, "a trace can contain only sends and receives")),
            };
            let ignore_unless_constant = |e: &Expr| match e {
                Expr::Const(_) => Pattern::Match(e.clone()),
                _ => Pattern::Ignore,
            };
            let (kind, channel, patterns) = match communication {
                Communication::Send { channel, values, .. } => {
                    (EventKind::Send, channel, values.iter().map(ignore_unless_constant).collect())
                }
                Communication::Receive { channel, patterns, .. } => {
                    let matches = patterns.iter().map(|p| match p {
                        Pattern::Bind(_) => Pattern::Ignore,
                        p => p.clone(),
                    });
                    (EventKind::Receive, channel, matches.collect())
                }
            };
            if !observed.iter().any(|(k, c)| *k == kind && c == channel) {
                observed.push((kind, channel.clone()));
            }
            let to = position(transition.target);
            out.push(MonitorEdge { kind, channel: channel.clone(), patterns, to, span: Some(element.span) });
        }
        locations.push(out);
    }
    Ok(Monitor {
        forbids,
        locations,
        initial: position(automaton.start),
        last: position(last),
        ends: (0..states.len() as u32).filter(|i| automaton.marks[states[*i as usize] as usize].end).collect(),
        observed,
        span: Some(span),
    })
}
