//! Syntax tree to [`System`]: the control-flow graphs of K. Yorav, *Exploiting Syntactic Structure for Automatic
//! Verification* (2000), definition 3.3.
//!
//! A process has one location before each statement, in the order of the text, and one more for `terminate`. An `if` and
//! a `while` have an edge where their condition holds and, after it, one where it does not; an assignment of one of `n`
//! values has `n` edges. Variables are globals of the system, `P.x` in a parallel program; all values are initial where
//! the text says nothing. For each ordered pair of processes that communicate there is a handshake channel.
//!
//! In a sequential program `terminate` has an edge to itself. In a parallel program it has none: a process that has
//! terminated does not move, so that a state in which others wait for it is a deadlock, and one in which all have
//! terminated is not and repeats itself.
//!
//! [`ProcessType::structure`] follows the text: a leaf for each simple statement, a choice with two blocks, a loop with
//! one, and a module from each mark to the next.

use std::collections::{BTreeMap, HashSet};

use ample_model::{
    Action, Block, Channel, ChannelId, Communication, Coupling, Edge, EdgeId, Expr, Initial, Instance, Instruction,
    Location, LocationId, Pattern, Place, ProcessId, ProcessType, Property, Question, Role, Scalar, Scope as Where,
    Source, Span, System, Type, UnaryOp, Variable, VariableId,
};

use super::ast::{self, Declaration, Logic, Name, Process, Stated, Statement, StatementKind, Target, Text};
use super::names::{Names, Ty};
use super::parser::MAX_ERRORS;
use super::typed::{Cell, Resolver};
use super::{Lowered, modules};
use crate::diagnostic::{Diagnostic, Rejected, Severity};
use crate::watch::Watch;

/// A variable without an initial value has at most so many bits, since each of its values is one.
const MAX_OPEN_BITS: u8 = 16;
/// The name of the process of a sequential program.
const MAIN: &str = "main";
/// The label of the last location of a process.
const TERMINATE: &str = "terminate";

/// Makes a system of a text; what it gives when the budget is exhausted is of no use.
pub(super) fn lower(name: &str, source: Source, text: &Text, watch: &Watch<'_>) -> Result<Lowered, Rejected> {
    let mut diagnostics = Vec::new();
    let names = Names::of(text, &source, &mut diagnostics);
    let mut work = Work { watch, source: &source, names: &names, diagnostics, pairs: BTreeMap::new() };
    let mut globals = work.variables(text);
    work.pairs(text, globals.len());
    let processes: Vec<ProcessType> = work.processes(text);
    let properties = work.properties(text);
    let (channels, handles) = work.channels();
    globals.extend(handles);
    work.unmatched();
    let mut diagnostics = work.diagnostics;
    diagnostics.sort_by_key(|diagnostic| diagnostic.span.map(|span| span.start));
    if diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        let mut errors = 0;
        diagnostics.retain(|diagnostic| {
            errors += usize::from(diagnostic.severity == Severity::Error);
            errors <= MAX_ERRORS
        });
        return Err(Rejected::new(vec![source], diagnostics));
    }
    let start = |number| Instance { process: ProcessId::from(number), arguments: Vec::new(), priority: None };
    let system = System {
        name: name.to_owned(),
        language: "softver".to_owned(),
        sources: vec![source],
        // Handles and values of enumerations are kept in bytes and use few of their values.
        exact_types: channels.is_empty() && names.enumerations.is_empty(),
        enumerations: names.enumerations,
        records: Vec::new(),
        channels,
        start: (0..processes.len()).map(start).collect(),
        max_processes: processes.len() as u32,
        max_objects: ample_model::interpret::MAX_OBJECTS,
        globals,
        processes,
        monitor: None,
        properties,
        uses_last: false,
        uses_priorities: false,
        exclusive: Vec::new(),
        dead_ends: false,
        coupling: Coupling::Interleaving,
        actions: Vec::new(),
        signals: Vec::new(),
        original: None,
    };
    Ok(Lowered { system, warnings: diagnostics })
}

/// The communication from one process to another.
struct Pair {
    /// The type of the values, and where a statement says so.
    ty: Option<(Ty, Span)>,
    /// The variable that holds the handle of the channel.
    handle: VariableId,
    send: Option<Span>,
    receive: Option<Span>,
}

struct Work<'a> {
    watch: &'a Watch<'a>,
    source: &'a Source,
    names: &'a Names,
    diagnostics: Vec<Diagnostic>,
    /// By sender and receiver.
    pairs: BTreeMap<(usize, usize), Pair>,
}

impl<'a> Work<'a> {
    fn error(&mut self, span: Span, message: impl Into<String>, help: Option<String>) {
        let error = Diagnostic::error(span, message);
        self.diagnostics.push(Diagnostic { help, ..error });
    }

    fn resolver(&mut self, own: Option<usize>) -> Resolver<'_> {
        Resolver { names: self.names, own, diagnostics: &mut self.diagnostics }
    }

    /// What is written there, in one line.
    fn written(&self, span: Span) -> String {
        let text = self.source.text.get(span.start as usize..span.end as usize).unwrap_or("");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn name_of(&self, process: usize) -> &'a str {
        self.names.scopes[process].name.as_deref().unwrap_or(MAIN)
    }

    // Variables.

    fn variables(&mut self, text: &Text) -> Vec<Variable> {
        let mut variables = Vec::new();
        for (number, process) in text.processes.iter().enumerate() {
            for declaration in &process.declarations {
                if self.watch.step().is_ok() {
                    variables.push(self.variable(number, declaration));
                }
            }
        }
        variables
    }

    fn variable(&mut self, process: usize, declaration: &Declaration) -> Variable {
        let Declaration { name, .. } = declaration;
        let full = match self.names.is_parallel() {
            true => format!("{}.{}", self.name_of(process), name.text),
            false => name.text.clone(),
        };
        let mut variable = Variable::new(&full, Type::Scalar(Scalar::BOOL));
        variable.span = Some(name.span);
        // What is declared twice has been reported.
        let Some(&known) = self.names.scopes[process].variables.get(&name.text) else { return variable };
        let initial = self.initial(process, declaration, known.ty, known.scalar);
        let cells = known.cells.unwrap_or(1);
        variable.initial = (0..cells).map(|cell| (cell, initial.clone())).collect();
        let scalar = Type::Scalar(known.scalar);
        variable.ty = match known.cells {
            Some(length) => Type::Array { element: Box::new(scalar), length },
            None => scalar,
        };
        variable
    }

    /// How a variable, or each cell of an array, starts.
    fn initial(&mut self, process: usize, declaration: &Declaration, ty: Ty, scalar: Scalar) -> Initial {
        if declaration.initial.is_empty() {
            return self.any_value(&declaration.name, ty, scalar);
        }
        let mut values = Vec::new();
        for e in &declaration.initial {
            let Some(value) = self.resolver(Some(process)).of_type(e, ty) else { continue };
            match value {
                Expr::Const(value) if scalar.fit(value) == Some(value) => values.push(value),
                Expr::Const(value) => {
                    let message = format!("the initial value {value} does not fit in {} bits", scalar.bits());
                    self.error(e.span, message, None);
                }
                _ => self.error(e.span, "an initial value is a constant", None),
            }
        }
        values.sort_unstable();
        values.dedup();
        match values.as_slice() {
            [value] => Initial::Value(Expr::Const(*value)),
            [] => Initial::AnyOf(vec![0]),
            _ => Initial::AnyOf(values),
        }
    }

    fn any_value(&mut self, name: &Name, ty: Ty, scalar: Scalar) -> Initial {
        match (ty, scalar) {
            (Ty::Enumeration(id), _) => {
                Initial::AnyOf(self.names.enumerations[id.index()].values.iter().map(|(_, value)| *value).collect())
            }
            (_, Scalar::Int { bits, .. }) if bits > MAX_OPEN_BITS => {
                let message = format!("`{}` has no initial value and {bits} bits", name.text);
                let help =
                    format!("every value would be an initial value, and that is supported up to {MAX_OPEN_BITS} bits");
                self.error(name.span, message, Some(help));
                Initial::AnyOf(vec![0])
            }
            (_, scalar) => Initial::Between(0, (1 << scalar.bits()) - 1),
        }
    }

    // Communication.

    /// Finds the pairs of processes that communicate; handles come after the other variables.
    fn pairs(&mut self, text: &Text, first: usize) {
        let mut found = Vec::new();
        for (number, process) in text.processes.iter().enumerate() {
            communications(&process.body, &mut |name, span, sends| found.push((number, name, span, sends)));
        }
        for (own, name, span, sends) in found {
            let Some(other) = self.partner(own, name, span) else { continue };
            let key = if sends { (own, other) } else { (other, own) };
            let pair =
                self.pairs.entry(key).or_insert(Pair { ty: None, handle: VariableId(0), send: None, receive: None });
            if sends {
                pair.send.get_or_insert(span);
            } else {
                pair.receive.get_or_insert(span);
            }
        }
        for (number, pair) in self.pairs.values_mut().enumerate() {
            pair.handle = VariableId::from(first + number);
        }
    }

    /// The process that a statement names.
    fn partner(&mut self, own: usize, name: &Name, span: Span) -> Option<usize> {
        let other = self.resolver(Some(own)).process(name)?;
        if other == own {
            self.error(span, "a process does not communicate with itself", None);
            return None;
        }
        Some(other)
    }

    /// The type of the values from one process to another must be the same everywhere.
    fn carries(&mut self, key: (usize, usize), ty: Ty, span: Span) -> Option<()> {
        let pair = self.pairs.get_mut(&key)?;
        let (known, place) = *pair.ty.get_or_insert((ty, span));
        if known == ty {
            return Some(());
        }
        let (from, to) = (self.name_of(key.0), self.name_of(key.1));
        let (known, found) = (self.names.describe(known), self.names.describe(ty));
        let line = self.source.position(place.start).0;
        let message = format!("`{from}` sends {known} to `{to}` in line {line}, and {found} here");
        self.error(span, message, Some("all values from one process to another have one type".into()));
        None
    }

    fn channels(&mut self) -> (Vec<Channel>, Vec<Variable>) {
        let (mut channels, mut handles) = (Vec::new(), Vec::new());
        for (&(from, to), pair) in &self.pairs {
            let field = match pair.ty {
                Some((Ty::Boolean, _)) | None => Scalar::BOOL,
                Some((Ty::Integer, _)) => Scalar::Int { bits: self.names.integer_length, signed: false },
                Some((Ty::Enumeration(id), _)) => Scalar::Enumeration(id),
            };
            let name = format!("{}->{}", self.name_of(from), self.name_of(to));
            let mut handle = Variable::new(&name, Type::Scalar(Scalar::Channel));
            handle.initial = vec![(0, Initial::Channel(ChannelId::from(channels.len())))];
            let span = pair.send.or(pair.receive);
            handle.span = span;
            handles.push(handle);
            channels.push(Channel { name, capacity: 0, fields: vec![field], span });
        }
        (channels, handles)
    }

    /// Warns of communications that no other process takes part in.
    fn unmatched(&mut self) {
        for (&(from, to), pair) in &self.pairs {
            let (from, to) = (self.name_of(from), self.name_of(to));
            let (span, message) = match (pair.send, pair.receive) {
                (Some(span), None) => (span, format!("`{to}` never receives from `{from}`")),
                (None, Some(span)) => (span, format!("`{from}` never sends to `{to}`")),
                _ => continue,
            };
            self.diagnostics.push(Diagnostic::warning(span, format!("this blocks for ever: {message}")));
        }
    }

    // Processes.

    fn processes(&mut self, text: &Text) -> Vec<ProcessType> {
        let processes = text.processes.iter().enumerate();
        processes.map(|(number, process)| self.process(number, process)).collect()
    }

    fn process(&mut self, own: usize, process: &Process) -> ProcessType {
        modules::check(&process.body, self.source, &mut self.diagnostics);
        let terminate = self.names.scopes[own].terminate;
        let locations = vec![Location::default(); terminate.index() + 1];
        let mut graph = Graph { own, locations, edges: Vec::new() };
        let mut structure = self.block(&process.body, LocationId(0), terminate, &mut graph);
        structure.push(Block::Leaf(terminate));
        let is_sequential = !self.names.is_parallel() || self.names.scopes.len() == 1;
        let last = &mut graph.locations[terminate.index()];
        last.labels.push(TERMINATE.to_owned());
        last.end = true;
        if is_sequential {
            graph.edge(terminate, terminate, process.span, TERMINATE.to_owned());
        }
        let Graph { mut locations, edges, .. } = graph;
        for (number, location) in locations.iter_mut().enumerate() {
            location.number = number as u32;
        }
        ProcessType {
            locations,
            edges,
            role: Role::Process,
            structure: Some(Block::Sequence(structure)),
            span: Some(process.span),
            ..ProcessType::of_edges(self.name_of(own), Vec::new())
        }
    }

    /// A block whose first location is `first`, and which goes on at `after`.
    fn block(&mut self, block: &ast::Block, first: LocationId, after: LocationId, graph: &mut Graph) -> Vec<Block> {
        let mut parts = Vec::new();
        let mut module: Option<Vec<Block>> = None;
        let mut here = first;
        let end = |module: Option<Vec<Block>>| module.map(|parts| Block::Module(Box::new(Block::Sequence(parts))));
        for (number, statement) in block.statements.iter().enumerate() {
            if self.watch.step().is_err() {
                break;
            }
            if block.marks.iter().any(|(at, _)| *at == number) {
                parts.extend(end(module.replace(Vec::new())));
            }
            let behind = LocationId::from(here.index() + statement.size);
            let next = if number + 1 == block.statements.len() { after } else { behind };
            let part = self.statement(statement, here, next, graph);
            module.as_mut().unwrap_or(&mut parts).push(part);
            here = behind;
        }
        parts.extend(end(module));
        parts
    }

    fn statement(&mut self, statement: &Statement, here: LocationId, next: LocationId, graph: &mut Graph) -> Block {
        let span = statement.span;
        graph.locations[here.index()].span = Some(span);
        let inner = LocationId::from(here.index() + 1);
        match &statement.kind {
            StatementKind::Skip => {
                graph.edge(here, next, span, self.written(span));
            }
            StatementKind::Label(name) => {
                graph.locations[here.index()].labels.push(name.text.clone());
                graph.edge(here, next, span, self.written(span));
            }
            StatementKind::Assign { target, values, braces } => {
                self.assignment(target, values, *braces, (here, next), graph);
            }
            StatementKind::Send(process, value) => {
                if let Some(send) = self.send(process, value, graph.own) {
                    graph.edge(here, next, span, self.written(span)).communication = Some(send);
                }
            }
            StatementKind::Receive(process, target) => {
                if let Some(receive) = self.receive(process, target, graph.own) {
                    graph.edge(here, next, span, self.written(span)).communication = Some(receive);
                }
            }
            StatementKind::If(condition, first, second) => {
                let otherwise = LocationId::from(inner.index() + size(first));
                let targets = (entry(first, inner, next), entry(second, otherwise, next));
                self.condition(condition, here, targets, graph);
                let first = self.block(first, inner, next, graph);
                let second = self.block(second, otherwise, next, graph);
                return Block::Choice(here, vec![Block::Sequence(first), Block::Sequence(second)]);
            }
            StatementKind::While(condition, body) => {
                self.condition(condition, here, (entry(body, inner, here), next), graph);
                let body = self.block(body, inner, here, graph);
                return Block::Loop(here, vec![Block::Sequence(body)]);
            }
        }
        Block::Leaf(here)
    }

    /// The edges of a condition: where it holds, and where it does not.
    fn condition(&mut self, e: &ast::Expr, here: LocationId, targets: (LocationId, LocationId), graph: &mut Graph) {
        let Some(condition) = self.resolver(Some(graph.own)).of_type(e, Ty::Boolean) else { return };
        let text = self.written(e.span);
        let is_short =
            matches!(*e.kind, ast::ExprKind::Variable { .. } | ast::ExprKind::Truth(_)) || text.starts_with('(');
        let negated = if is_short { format!("!{text}") } else { format!("!({text})") };
        let otherwise = Expr::unary(UnaryOp::Not, condition.clone());
        graph.edge(here, targets.0, e.span, text).guard = vec![condition];
        graph.edge(here, targets.1, e.span, negated).guard = vec![otherwise];
    }

    fn assignment(
        &mut self,
        target: &Target,
        values: &[ast::Expr],
        braces: Option<Span>,
        (here, next): (LocationId, LocationId),
        graph: &mut Graph,
    ) {
        if let (Some(braces), Some(_)) = (braces, &target.index) {
            let help = "assign one of the values to a variable, and that variable to the cell";
            let message = "one of several values is assigned to a variable, not to a cell of an array";
            self.error(braces, message, Some(help.into()));
        }
        let cell = self.resolver(Some(graph.own)).target(target);
        for value in values {
            let typed = match &cell {
                Some(cell) => self.resolver(Some(graph.own)).of_type(value, cell.ty),
                None => self.resolver(Some(graph.own)).value(value).map(|(value, _)| value),
            };
            let (Some(cell), Some(typed)) = (&cell, typed) else { continue };
            let text = format!("{} := {}", self.written(target.span), self.written(value.span));
            let span = Span { end: value.span.end, ..target.span };
            let edge = graph.edge(here, next, span, text);
            edge.effect = vec![Instruction::Do(assign(cell, typed))];
        }
    }

    fn send(&mut self, process: &Name, value: &ast::Expr, own: usize) -> Option<Communication> {
        let typed = self.resolver(Some(own)).value(value);
        let key = (own, self.other(process, own)?);
        let (expr, ty) = typed?;
        self.carries(key, ty, value.span)?;
        Some(Communication::Send { channel: self.handle(key)?, values: vec![expr], sorted: false })
    }

    fn receive(&mut self, process: &Name, target: &Target, own: usize) -> Option<Communication> {
        if let Some(index) = &target.index {
            let help = "receive into a variable, and assign it to the cell";
            self.error(
                index.span,
                "a value is received into a variable, not into a cell of an array",
                Some(help.into()),
            );
            return None;
        }
        let cell = self.resolver(Some(own)).target(target);
        let key = (self.other(process, own)?, own);
        let Cell { place, ty, .. } = cell?;
        if let Some((known, _)) = self.pairs.get(&key)?.ty
            && known != ty
        {
            let (known, found) = (self.names.describe(known), self.names.describe(ty));
            let message = format!("`{}` sends {known}, and `{}` is {found}", process.text, target.name.text);
            self.error(target.span, message, None);
            return None;
        }
        self.carries(key, ty, target.span)?;
        let patterns = vec![Pattern::Bind(place)];
        Some(Communication::Receive { channel: self.handle(key)?, patterns, anywhere: false, keep: false })
    }

    /// The process that a statement names, if it is right: what is wrong has been reported.
    fn other(&self, process: &Name, own: usize) -> Option<usize> {
        let found = self.names.scopes.iter().position(|scope| scope.name.as_deref() == Some(&process.text));
        found.filter(|other| *other != own)
    }

    /// The handle of the channel from one process to another.
    fn handle(&self, key: (usize, usize)) -> Option<Expr> {
        let variable = self.pairs.get(&key)?.handle;
        let place = Place { scope: Where::Global, variable, offset: 0, indices: Vec::new(), scalar: Scalar::Channel };
        Some(Expr::Read(place))
    }

    // Properties.

    fn properties(&mut self, text: &Text) -> Vec<Property> {
        let (mut numbers, mut seen) = ([0; 2], HashSet::new());
        let mut properties = Vec::new();
        for Stated { logic, name, formula } in &text.formulas {
            if self.watch.step().is_err() {
                break;
            }
            let (prefix, number) = match logic {
                Logic::Ctl => ("ctl", &mut numbers[0]),
                Logic::Ltl => ("ltl", &mut numbers[1]),
            };
            *number += 1;
            let span = name.as_ref().map_or(formula.span, |name| name.span);
            let name = name.as_ref().map_or_else(|| format!("{prefix}{number}"), |name| name.text.clone());
            if !seen.insert((*logic, name.clone())) {
                self.error(span, format!("there is another formula with the name `{name}`"), None);
            }
            let text = self.written(formula.span);
            let Some(temporal) = self.resolver(None).temporal(formula) else { continue };
            let question = match logic {
                Logic::Ctl => Question::Ctl(temporal),
                Logic::Ltl => Question::Ltl(temporal),
            };
            properties.push(Property { name, question, text, span: Some(formula.span) });
        }
        properties
    }
}

/// A control-flow graph that is being made.
struct Graph {
    /// The number of its process.
    own: usize,
    locations: Vec<Location>,
    edges: Vec<Edge>,
}

impl Graph {
    /// Adds an edge that does nothing.
    fn edge(&mut self, from: LocationId, to: LocationId, span: Span, label: String) -> &mut Edge {
        self.locations[from.index()].edges.push(EdgeId::from(self.edges.len()));
        self.edges.push(Edge {
            from,
            to,
            guard: Vec::new(),
            communication: None,
            effect: Vec::new(),
            keeps_control: false,
            action: None,
            origin: Vec::new(),
            span: Some(span),
            label,
        });
        self.edges.last_mut().expect("it was just added")
    }
}

/// Stores a value; where the cell is not there, nothing changes.
fn assign(cell: &Cell, value: Expr) -> Action {
    let value = match &cell.inside {
        Some(inside) => {
            let before = Expr::Read(cell.place.clone());
            Expr::Conditional(Box::new(inside.clone()), Box::new(value), Box::new(before))
        }
        None => value,
    };
    Action::Assign(cell.place.clone(), value)
}

/// Where a block begins: at its first location, or behind it if it is empty.
fn entry(block: &ast::Block, first: LocationId, after: LocationId) -> LocationId {
    if block.statements.is_empty() { after } else { first }
}

/// How many locations a block has.
fn size(block: &ast::Block) -> usize {
    block.statements.iter().map(|statement| statement.size).sum()
}

/// Calls `found` on every communication: its partner, where it stands, and whether it sends.
fn communications<'t>(block: &'t ast::Block, found: &mut dyn FnMut(&'t Name, Span, bool)) {
    for statement in &block.statements {
        match &statement.kind {
            StatementKind::Send(name, _) => found(name, statement.span, true),
            StatementKind::Receive(name, _) => found(name, statement.span, false),
            StatementKind::If(_, first, second) => {
                communications(first, found);
                communications(second, found);
            }
            StatementKind::While(_, body) => communications(body, found),
            _ => {}
        }
    }
}
