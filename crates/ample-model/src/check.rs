//! Well-formedness: what every consumer of a [`System`] may rely on.
//!
//! Ids are in range, places lie inside their variables, jumps inside their programs, `Blocked` lists
//! name earlier siblings, and so on: a system that passes makes neither the interpreter nor an engine
//! panic, and holds no surprise that its data does not show. Front ends call it in their tests; whoever
//! reads a system from a file calls it before anything else.

use std::collections::HashSet;

use ample_logic::{Atom, Formula};
use thiserror::Error;

use crate::expr::{BinaryOp, Expr, Field, Pattern, Place, Scope};
use crate::plan::{Circular, Plan};
use crate::property::{Distance, PropertyAutomaton, Question, Temporal};
use crate::system::{
    Action, Block, Communication, Definition, Edge, EdgeId, Initial, Instance, Instruction, Location, LocationId,
    Monitor, NextValue, ProcessId, ProcessType, RecordId, Role, Scalar, Span, Synchronous, System, Type, Variable,
    VariableId, VariableKind,
};
use crate::visit::innermost_first;

/// The most slots that the variables of one scope may have together.
pub const MAX_SLOTS: u32 = 1 << 20;

/// How deep expressions, formulas and types may be nested. In a synchronous system it is the expressions between one shared
/// expression and the next ones inside it: circuits are deep.
pub const MAX_DEPTH: u32 = 500;

/// Process ids and handles are kept in a byte.
pub const MAX_PROCESSES: u32 = 255;

/// Something that a [`System`] must not contain.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{at}: {problem}")]
pub struct Malformed {
    /// Where in the system.
    pub at: String,
    /// What is wrong there.
    pub problem: String,
}

/// Checks that the system is well-formed; otherwise returns all that is wrong with it.
///
/// What the types say is checked first: if that is not in order, the rest is not looked at.
///
/// ```
/// use ample_model::check::check;
/// let mut system = ample_model::System::new("empty", "none");
/// assert!(check(&system).is_ok());
/// system.max_processes = 1000;
/// let problems = check(&system).unwrap_err();
/// assert_eq!(problems[0].to_string(), "system: max_processes is 1000, more than 255");
/// ```
pub fn check(system: &System) -> Result<(), Vec<Malformed>> {
    let mut checker = Checker {
        system,
        at: String::new(),
        problems: Vec::new(),
        spawned: spawned(system),
        shared: HashSet::new(),
        last: None,
    };
    checker.types();
    if checker.problems.is_empty() {
        checker.contents();
    }
    if checker.problems.is_empty() { Ok(()) } else { Err(checker.problems) }
}

/// Checks that the edges of a reduced system know their [origins](Edge::origin): each is a path of edges of the process
/// type of the same name in the original system.
///
/// ```
/// use ample_model::System;
/// use ample_model::check::check_origins;
/// use ample_model::random::{Features, system};
///
/// let original = system(42, Features::NONE);
/// assert!(check_origins(&original, &original).is_ok());
/// ```
pub fn check_origins(reduced: &System, original: &System) -> Result<(), Vec<Malformed>> {
    let mut problems = Vec::new();
    for process in &reduced.processes {
        let source = original.processes.iter().find(|other| other.name == process.name);
        for (number, edge) in process.edges.iter().enumerate().filter(|(_, edge)| !edge.origin.is_empty()) {
            let at = format!("process {}, edge {number} ({})", process.name, edge.label);
            let edge_of = |id: &EdgeId| source.and_then(|source| source.edges.get(id.index()));
            let path: Option<Vec<&Edge>> = edge.origin.iter().map(edge_of).collect();
            let problem = match path {
                None => "an original edge that does not exist",
                Some(path) if path.windows(2).any(|pair| pair[0].to != pair[1].from) => {
                    "original edges that do not follow each other"
                }
                Some(_) => continue,
            };
            problems.push(Malformed { at, problem: problem.into() });
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// Who evaluates an expression.
#[derive(Clone, Copy)]
enum Reader<'a> {
    /// Nobody: a property. One that reads inputs is checked in a system in which these are a part of the state.
    Nobody,
    /// Nobody, and before or beside the run: a monitor, the first value of a global.
    Static,
    /// A process, before the run: the first value of a local.
    StaticIn(&'a ProcessType),
    /// A process, wherever it stands.
    Process(&'a ProcessType),
    /// A process about to take an edge, or taking it.
    Edge(&'a ProcessType, &'a Edge, EdgeId),
    /// A joint step: it knows inputs and next values.
    Step,
}

impl<'a> Reader<'a> {
    fn alike(self) -> Option<Alike> {
        match self {
            Reader::Nobody => Some(Alike::Nobody),
            Reader::Static => Some(Alike::Static),
            Reader::Step => Some(Alike::Step),
            Reader::StaticIn(_) | Reader::Process(_) | Reader::Edge(..) => None,
        }
    }

    fn process(self) -> Option<&'a ProcessType> {
        match self {
            Reader::Nobody | Reader::Static | Reader::Step => None,
            Reader::StaticIn(process) | Reader::Process(process) | Reader::Edge(process, ..) => Some(process),
        }
    }

    fn is_static(self) -> bool {
        matches!(self, Reader::Static | Reader::StaticIn(_))
    }
}

struct Checker<'a> {
    system: &'a System,
    at: String,
    problems: Vec<Malformed>,
    /// The names of the process types that are spawned.
    spawned: HashSet<&'a str>,
    /// The shared expressions that were checked for the same reader.
    shared: HashSet<usize>,
    /// Who the last reader was, if all readers of its kind are the same.
    last: Option<Alike>,
}

/// Readers that may read the same.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Alike {
    Nobody,
    Static,
    Step,
}

impl<'a> Checker<'a> {
    fn problem(&mut self, problem: impl Into<String>) {
        self.problems.push(Malformed { at: self.at.clone(), problem: problem.into() });
    }

    fn require(&mut self, holds: bool, problem: impl FnOnce() -> String) {
        if !holds {
            self.problem(problem());
        }
    }

    fn span(&mut self, span: Option<Span>) {
        if let Some(span) = span {
            self.require(span.source.index() < self.system.sources.len(), || "its span names no source".into());
        }
    }

    // What the types say.

    fn types(&mut self) {
        let system = self.system;
        self.records();
        for enumeration in &system.enumerations {
            self.at = format!("enumeration {}", enumeration.name);
            for (name, value) in &enumeration.values {
                self.require((0..=255).contains(value), || format!("{name} is {value}, which a byte does not keep"));
            }
        }
        for channel in &system.channels {
            self.at = format!("channel {}", channel.name);
            channel.fields.iter().for_each(|scalar| self.scalar(*scalar));
            let refers = channel.fields.iter().any(|scalar| is_reference(*scalar));
            self.require(!refers, || "messages with references to objects".into());
            self.require(channel.fields.len() <= MAX_SLOTS as usize, || "too many fields".into());
            self.span(channel.span);
        }
        if !self.problems.is_empty() {
            return;
        }
        self.at = "globals".into();
        self.variable_types(&system.globals);
        for process in &system.processes {
            self.at = format!("process {}", process.name);
            self.variable_types(&process.locals);
        }
    }

    /// Fields name earlier records only, and the sizes stay within bounds: then sizes can be computed.
    fn records(&mut self) {
        let mut sizes: Vec<u64> = Vec::new();
        for record in &self.system.records {
            self.at = format!("record {}", record.name);
            self.require(!record.fields.is_empty(), || "it has no fields".into());
            let mut size = 0u64;
            for (name, ty) in &record.fields {
                match self.size(ty, &sizes, 0) {
                    Some(slots) => size = size.saturating_add(slots),
                    None => self.problem(format!("the type of field {name} is not known before it")),
                }
            }
            self.require(size <= u64::from(MAX_SLOTS), || format!("it has more than {MAX_SLOTS} slots"));
            sizes.push(size);
        }
    }

    /// The slots of a type, given those of the records it may name.
    fn size(&mut self, ty: &Type, records: &[u64], depth: u32) -> Option<u64> {
        if depth > MAX_DEPTH {
            return None;
        }
        match ty {
            Type::Scalar(scalar) => {
                self.scalar(*scalar);
                Some(1)
            }
            Type::Array { element, length } => {
                self.require(*length > 0, || "an array without elements".into());
                Some(self.size(element, records, depth + 1)?.saturating_mul((*length).into()))
            }
            Type::Record(RecordId(id)) => records.get(*id as usize).copied(),
        }
    }

    fn variable_types(&mut self, variables: &[Variable]) {
        let sizes: Vec<u64> = {
            let system = self.system;
            system.records.iter().map(|r| r.fields.iter().map(|(_, ty)| u64::from(system.slots(ty))).sum()).collect()
        };
        let mut total = 0u64;
        for variable in variables {
            match self.size(&variable.ty, &sizes, 0) {
                Some(slots) => total = total.saturating_add(slots),
                None => self.problem(format!("the type of {} is not known", variable.name)),
            }
        }
        self.require(total <= MAX_SLOTS.into(), || format!("the variables have more than {MAX_SLOTS} slots"));
    }

    fn scalar(&mut self, scalar: Scalar) {
        match scalar {
            Scalar::Int { bits, .. } => self.require((1..=32).contains(&bits), || format!("an integer of {bits} bits")),
            Scalar::Range { low, high, .. } => self.require(low <= high, || format!("the empty range {low}..={high}")),
            Scalar::Enumeration(id) => {
                let known = id.index() < self.system.enumerations.len();
                self.require(known, || "an enumeration that does not exist".into());
            }
            Scalar::Reference(id) => {
                let known = id.index() < self.system.records.len();
                self.require(known, || "a reference to objects of no record type".into());
            }
            Scalar::Channel | Scalar::Process | Scalar::Unbounded => {}
        }
    }

    // What is made of them.

    fn contents(&mut self) {
        let system = self.system;
        self.at = "system".into();
        let max = system.max_processes;
        self.require(max <= MAX_PROCESSES, || format!("max_processes is {max}, more than {MAX_PROCESSES}"));
        let (most, limit) = (system.max_objects, crate::interpret::MAX_OBJECTS);
        self.require(most <= limit, || format!("max_objects is {most}, more than {limit}"));
        let started = system.start.len();
        self.require(started <= max as usize, || format!("{started} processes start, but at most {max} may be alive"));
        for variable in &system.globals {
            self.at = format!("global {}", variable.name);
            self.variable(variable, Reader::Static, true);
        }
        for process in &system.processes {
            self.process(process);
        }
        if let Some(synchronous) = system.synchronous() {
            self.synchronous(synchronous);
        }
        for signal in &system.signals {
            self.at = format!("signal {}", signal.name);
            self.span(signal.span);
            self.expr(&signal.value, Reader::Nobody);
        }
        for (id, instance) in system.start.iter().enumerate() {
            self.at = format!("start {id}");
            self.instance(instance);
        }
        if let Some(monitor) = &system.monitor {
            self.at = "monitor".into();
            self.monitor(monitor);
        }
        for property in &system.properties {
            self.at = format!("property {}", property.id());
            self.span(property.span);
            match &property.question {
                Question::Deadlock | Question::Assertions | Question::Acceptance | Question::Progress => {}
                // In a synchronous system, what an invariant or a formula of linear time says of a step can be observed.
                Question::Invariant(expr) if self.system.synchronous().is_some() => self.expr(expr, Reader::Step),
                Question::Invariant(expr) | Question::Bound(expr) => self.expr(expr, Reader::Nobody),
                Question::Distance(distance) => {
                    let Distance { from, to, atoms, .. } = distance;
                    [from, to].into_iter().for_each(|formula| self.formula(formula, atoms.len(), 0));
                    atoms.iter().for_each(|atom| self.expr(atom, Reader::Nobody));
                }
                Question::Ltl(temporal) if self.system.synchronous().is_some() => {
                    self.temporal(temporal, Reader::Step);
                }
                Question::Ltl(temporal) | Question::Ctl(temporal) => self.temporal(temporal, Reader::Nobody),
                Question::Never(id) => self.process_id(*id, Role::Claim),
                Question::Automaton(automaton) => self.automaton(automaton),
            }
        }
    }

    fn variable(&mut self, variable: &Variable, reader: Reader<'a>, initialised: bool) {
        self.span(variable.span);
        let plain = variable.kind == VariableKind::State;
        let joint = self.system.synchronous().is_some() && matches!(reader, Reader::Static);
        self.require(plain || joint, || format!("{:?} outside of a synchronous system", variable.kind));
        let scalars = self.system.scalars(&variable.ty);
        let mut next = 0;
        for (slot, initial) in &variable.initial {
            self.require(*slot >= next, || format!("the first values are not in slot order at slot {slot}"));
            next = slot.saturating_add(1);
            match scalars.get(*slot as usize) {
                Some(scalar) => self.initial(initial, *scalar, reader),
                None => self.problem(format!("a first value for slot {slot} of {}", scalars.len())),
            }
        }
        if !initialised {
            self.require(variable.initial.is_empty(), || "a parameter with a first value".into());
            return;
        }
        if joint {
            return self.joint_variable(variable, &scalars);
        }
        let surprising = (0u32..).zip(&scalars).find(|(slot, scalar)| {
            scalar.fit(0) != Some(0) && variable.initial.iter().all(|(listed, _)| listed != slot)
        });
        if let Some((slot, _)) = surprising {
            self.problem(format!("slot {slot} has no first value, and 0 is outside of its type"));
        }
    }

    fn initial(&mut self, initial: &Initial, scalar: Scalar, reader: Reader<'a>) {
        match initial {
            Initial::Value(expr) => {
                self.expr(expr, reader);
                self.fits(scalar, expr);
            }
            Initial::Channel(kind) => {
                self.require(scalar == Scalar::Channel, || "a channel in a cell that is none".into());
                let known = kind.index() < self.system.channels.len();
                self.require(known, || "a channel of a kind that does not exist".into());
            }
            Initial::AnyOf(values) => {
                self.may_choose(reader, scalar);
                self.require(!values.is_empty(), || "a choice of no first value".into());
                let fit = values.iter().all(|value| scalar.fit(*value) == Some(*value));
                self.require(fit, || "a choice of a value outside of the type".into());
            }
            Initial::Between(least, most) => {
                self.may_choose(reader, scalar);
                self.require(least <= most, || "a choice of no first value".into());
                let fit = [least, most].iter().all(|value| scalar.fit(**value) == Some(**value));
                self.require(fit, || "a choice of a value outside of the type".into());
                let few = most.checked_sub(*least).is_some_and(|more| more <= u32::MAX.into());
                self.require(few, || "a choice of more than 2^32 first values".into());
            }
        }
    }

    /// There are several initial states only because of processes that are there initially.
    fn may_choose(&mut self, reader: Reader<'a>, scalar: Scalar) {
        self.require(!is_reference(scalar), || "a choice of references".into());
        let Reader::StaticIn(process) = reader else { return };
        let starts = process.role == Role::Process && !self.spawned.contains(process.name.as_str());
        self.require(starts, || "a choice of first values in a process that is spawned".into());
    }

    // What is particular to synchronous systems.

    fn synchronous(&mut self, synchronous: &'a Synchronous) {
        let system = self.system;
        self.at = "synchronous system".into();
        self.require(system.start.is_empty(), || "processes start in it".into());
        self.require(system.monitor.is_none(), || "it has a monitor".into());
        self.require(system.actions.is_empty(), || "it has actions of processes".into());
        self.require(!system.uses_last && !system.uses_priorities, || {
            "it asks for the last mover or priorities".into()
        });
        for process in &system.processes {
            self.at = format!("process {}", process.name);
            self.require(process.role == Role::Claim, || "a process in a synchronous system".into());
            let acts = process.edges.iter().any(|edge| edge.communication.is_some() || !edge.effect.is_empty());
            self.require(!acts, || "a claim that acts in a synchronous system".into());
        }
        self.conjuncts("init", &synchronous.init, Reader::Static);
        self.conjuncts("invariant", &synchronous.invariant, Reader::Static);
        self.conjuncts("relation", &synchronous.relations, Reader::Step);
        self.definitions(&synchronous.definitions);
        self.conjuncts("justice", &synchronous.justice, Reader::Step);
        let pairs = synchronous.compassion.iter();
        let (first, second): (Vec<&Expr>, Vec<&Expr>) = pairs.map(|(first, second)| (first, second)).unzip();
        for condition in first.into_iter().chain(second) {
            self.at = "compassion".into();
            self.expr(condition, Reader::Step);
        }
        if self.problems.is_empty() {
            self.at = "first values".into();
            self.circle(Plan::initial(system).err());
            self.at = "next values".into();
            self.circle(Plan::step(system).err());
        }
    }

    fn conjuncts(&mut self, name: &str, conjuncts: &'a [Expr], reader: Reader<'a>) {
        for (number, conjunct) in conjuncts.iter().enumerate() {
            self.at = format!("{name} {number}");
            self.expr(conjunct, reader);
        }
    }

    /// The cells of a global of a synchronous system: those that nothing is said of may take any value.
    fn joint_variable(&mut self, variable: &Variable, scalars: &[Scalar]) {
        for scalar in scalars {
            let plain = !matches!(scalar, Scalar::Channel | Scalar::Process | Scalar::Reference(_));
            self.require(plain, || "a channel or a process or a reference in a synchronous system".into());
        }
        let is_input = variable.kind == VariableKind::Input;
        self.require(!is_input || variable.initial.is_empty(), || "an input with a first value".into());
        for (slot, scalar) in (0u32..).zip(scalars) {
            let listed = variable.initial.iter().any(|(listed, _)| *listed == slot);
            let few = listed || self.system.values_of(*scalar).is_some();
            self.require(few, || format!("slot {slot} may have any value, and its type has no end of them"));
        }
    }

    fn definitions(&mut self, definitions: &'a [Definition]) {
        let mut defined = HashSet::new();
        for definition in definitions {
            let Definition { variable: id, slot, next, span } = definition;
            let Some(variable) = self.system.globals.get(id.index()) else {
                self.at = "next values".into();
                self.problem(format!("variable {} does not exist", id.0));
                continue;
            };
            let slots = self.system.slots(&variable.ty);
            if *slot >= slots {
                self.at = format!("next value of {}", variable.name);
                self.problem(format!("a definition of slot {slot} of {slots}"));
                continue;
            }
            self.at = format!("next value of {}", self.system.slot_name(variable, *slot));
            self.span(*span);
            let is_state = variable.kind == VariableKind::State;
            self.require(is_state, || "an input or a frozen variable has no next value of its own".into());
            self.require(defined.insert((*id, *slot)), || "it is defined twice".into());
            match next {
                NextValue::Function(value) => self.expr(value, Reader::Step),
                NextValue::Choice(alternatives) => {
                    self.require(!alternatives.is_empty(), || "a choice of no next value".into());
                    for alternative in alternatives {
                        alternative.when.iter().chain([&alternative.value]).for_each(|x| self.expr(x, Reader::Step));
                    }
                }
            }
        }
        self.undefined(&defined);
    }

    /// Cells without a definition may have any value next.
    fn undefined(&mut self, defined: &HashSet<(VariableId, u32)>) {
        for (number, variable) in self.system.globals.iter().enumerate() {
            if variable.kind != VariableKind::State {
                continue;
            }
            for (slot, scalar) in (0u32..).zip(self.system.scalars(&variable.ty)) {
                let few = defined.contains(&(number.into(), slot)) || self.system.values_of(scalar).is_some();
                self.at = format!("next value of {}", self.system.slot_name(variable, slot));
                self.require(few, || "it may be any, and its type has no end of them".into());
            }
        }
    }

    fn circle(&mut self, circular: Option<Circular>) {
        let Some(Circular(slots)) = circular else { return };
        let names: Vec<String> = slots.iter().map(|slot| self.system.global_cell_name(*slot)).collect();
        self.problem(format!("a circular definition of {}", names.join(", ")));
    }

    // Processes.

    fn process(&mut self, process: &'a ProcessType) {
        self.at = format!("process {}", process.name);
        self.span(process.span);
        let parameters = process.parameters as usize;
        self.require(parameters <= process.locals.len(), || "more parameters than locals".into());
        let initial = process.initial.index();
        self.require(initial < process.locations.len(), || format!("it starts at location {initial}, which is none"));
        for (number, variable) in process.locals.iter().enumerate() {
            self.at = format!("process {}, local {}", process.name, variable.name);
            self.variable(variable, Reader::StaticIn(process), number >= parameters);
        }
        if let Some(structure) = &process.structure {
            self.at = format!("process {}, structure", process.name);
            self.block(structure, process.locations.len(), 0);
        }
        if let Some(provided) = &process.provided {
            self.at = format!("process {}, provided", process.name);
            self.expr(provided, Reader::Process(process));
        }
        for (number, location) in process.locations.iter().enumerate() {
            self.at = format!("process {}, location {number}", process.name);
            self.location(process, number, location);
        }
        let is_listed = listed(process);
        for (number, edge) in process.edges.iter().enumerate() {
            self.at = format!("process {}, edge {number} ({})", process.name, edge.label);
            self.require(is_listed[number], || "the location it leaves does not list it".into());
            self.edge(process, number.into(), edge);
        }
    }

    /// The nested structure speaks of locations that there are.
    fn block(&mut self, block: &Block, locations: usize, depth: u32) {
        if depth > MAX_DEPTH {
            return self.problem("blocks that are nested too deep");
        }
        let (at, parts): (_, &[Block]) = match block {
            Block::Leaf(location) => (Some(*location), &[]),
            Block::Sequence(parts) => (None, parts),
            Block::Module(part) => (None, std::slice::from_ref(&**part)),
            Block::Choice(location, parts) | Block::Loop(location, parts) => (Some(*location), parts),
        };
        if let Some(LocationId(number)) = at.filter(|location| location.index() >= locations) {
            self.problem(format!("location {number} does not exist"));
        }
        parts.iter().for_each(|part| self.block(part, locations, depth + 1));
    }

    fn location(&mut self, process: &ProcessType, number: usize, location: &Location) {
        self.span(location.span);
        let mut seen = HashSet::with_capacity(location.edges.len());
        for id in &location.edges {
            match process.edges.get(id.index()) {
                Some(edge) => {
                    self.require(edge.from.index() == number, || format!("edge {} does not leave it", id.0));
                }
                None => self.problem(format!("edge {} does not exist", id.0)),
            }
            self.require(seen.insert(*id), || format!("edge {} is listed twice", id.0));
        }
    }

    fn edge(&mut self, process: &'a ProcessType, id: EdgeId, edge: &'a Edge) {
        self.span(edge.span);
        let to = edge.to.index();
        self.require(to < process.locations.len(), || format!("it leads to location {to}, which is none"));
        if let Some(action) = edge.action {
            self.require(action.index() < self.system.actions.len(), || format!("action {} does not exist", action.0));
            let plain = edge.communication.is_none() && !edge.keeps_control && process.role == Role::Process;
            self.require(plain, || "an action with a communication, of a claim, or that keeps control".into());
        }
        let reader = Reader::Edge(process, edge, id);
        edge.guard.iter().for_each(|conjunct| self.expr(conjunct, reader));
        if let Some(communication) = &edge.communication {
            self.communication(communication, reader);
        }
        let end = edge.effect.len();
        for instruction in &edge.effect {
            match instruction {
                Instruction::Do(action) => self.action(action, reader),
                Instruction::Try(action, target) => {
                    self.action(action, reader);
                    self.require(*target as usize <= end, || format!("a jump to instruction {target} of {end}"));
                }
                Instruction::Jump(target) => {
                    self.require(*target as usize <= end, || format!("a jump to instruction {target} of {end}"));
                }
                Instruction::Fail(_) => {}
            }
        }
    }

    fn action(&mut self, action: &Action, reader: Reader<'a>) {
        match action {
            Action::Test(condition) | Action::Assert { condition, .. } => self.expr(condition, reader),
            Action::Assign(place, value) => self.assign(place, value, reader),
            Action::AssignAll(pairs) => pairs.iter().for_each(|(place, value)| self.assign(place, value, reader)),
            Action::AssignField(parts) => {
                let (object, field, value) = &**parts;
                self.field(object, field, reader, 0);
                self.expr(value, reader);
                self.fits(field.scalar, value);
            }
            Action::Allocate(place, record) => {
                self.place(place, reader.process(), reader, 0);
                let right = place.scalar == Scalar::Reference(*record);
                self.require(right, || "an object for a cell that does not refer to such".into());
                let known = record.index() < self.system.records.len();
                let fits = |scalar: &Scalar| scalar.fit(0) == Some(0);
                let sound = known && self.system.scalars(&Type::Record(*record)).iter().all(fits);
                self.require(sound, || "an object with a cell that cannot be 0".into());
            }
            Action::Communicate(communication) => self.communication(communication, reader),
            Action::Spawn { process, arguments, priority } => {
                self.process_id(*process, Role::Process);
                self.arguments(*process, arguments.len());
                self.require(*priority != Some(0), || "a priority of 0".into());
                let scalars = self.parameter_scalars(*process);
                for (argument, scalar) in arguments.iter().zip(scalars) {
                    self.expr(argument, reader);
                    self.fits(scalar, argument);
                }
            }
            Action::Print { arguments, .. } => self.numbers(arguments, reader),
            Action::SetPriority(process, priority) => {
                self.expr(process, reader);
                self.expr(priority, reader);
            }
            Action::End => {}
        }
    }

    fn assign(&mut self, place: &Place, value: &Expr, reader: Reader<'a>) {
        self.place(place, reader.process(), reader, 0);
        self.expr(value, reader);
        self.fits(place.scalar, value);
    }

    fn numbers(&mut self, exprs: &[Expr], reader: Reader<'a>) {
        for expr in exprs {
            self.expr(expr, reader);
            self.number(expr);
        }
    }

    /// References are kept where references belong, and numbers where numbers do.
    fn fits(&mut self, scalar: Scalar, value: &Expr) {
        match scalar {
            Scalar::Reference(record) => {
                self.require(refers_to(value, record), || "something else than a reference of that type".into());
            }
            _ => self.number(value),
        }
    }

    /// The number of an object means nothing.
    fn number(&mut self, expr: &Expr) {
        self.require(reference_of(expr).is_none(), || "a reference where a number is needed".into());
    }

    /// A cell of an object of that type.
    fn field(&mut self, object: &Expr, field: &Field, reader: Reader<'a>, depth: u32) {
        self.expr_at(object, reader, depth);
        for index in &field.indices {
            self.expr_at(&index.at, reader, depth);
            self.number(&index.at);
        }
        self.require(refers_to(object, field.record), || "a field of what does not refer to such an object".into());
        if field.record.index() >= self.system.records.len() {
            return self.problem("a field of no record type");
        }
        let ty = Type::Record(field.record);
        let Field { offset, indices, scalar, .. } = field.clone();
        let place = Place { scope: Scope::Global, variable: VariableId(0), offset, indices, scalar };
        if !lies_within(&place, self.system.slots(&ty)) {
            return self.problem("a field that reaches outside of its object");
        }
        let scalars = self.system.scalars(&ty);
        let right = reachable_slots(&place).iter().all(|slot| scalars.get(*slot as usize) == Some(&scalar));
        self.require(right, || "a field with another type than its cells".into());
    }

    fn communication(&mut self, communication: &Communication, reader: Reader<'a>) {
        self.expr(communication.channel(), reader);
        match communication {
            Communication::Send { values, .. } => {
                for value in values {
                    self.expr(value, reader);
                    self.number(value);
                }
            }
            Communication::Receive { patterns, .. } => self.patterns(patterns, reader, 0),
        }
    }

    fn patterns(&mut self, patterns: &[Pattern], reader: Reader<'a>, depth: u32) {
        for pattern in patterns {
            match pattern {
                Pattern::Match(expr) => self.expr_at(expr, reader, depth),
                Pattern::Bind(place) => {
                    self.place(place, reader.process(), reader, depth);
                    self.require(!is_reference(place.scalar), || "a reference that is received".into());
                }
                Pattern::Ignore => {}
            }
        }
    }

    fn process_id(&mut self, id: ProcessId, role: Role) {
        match self.system.processes.get(id.index()) {
            Some(process) if process.role == role => {}
            Some(process) => self.problem(format!("{} is not a {role:?}", process.name)),
            None => self.problem(format!("process type {} does not exist", id.0)),
        }
    }

    /// The types of the slots of its parameters.
    fn parameter_scalars(&self, id: ProcessId) -> Vec<Scalar> {
        let Some(process) = self.system.processes.get(id.index()) else { return Vec::new() };
        let parameters = process.locals.iter().take(process.parameters as usize);
        parameters.flat_map(|variable| self.system.scalars(&variable.ty)).collect()
    }

    fn arguments(&mut self, id: ProcessId, given: usize) {
        let Some(process) = self.system.processes.get(id.index()) else { return };
        let parameters = process.locals.iter().take(process.parameters as usize);
        let slots: usize = parameters.map(|variable| self.system.slots(&variable.ty) as usize).sum();
        let name = &process.name;
        self.require(given == slots, || format!("{given} arguments for the {slots} parameter slots of {name}"));
    }

    fn instance(&mut self, instance: &Instance) {
        self.process_id(instance.process, Role::Process);
        self.arguments(instance.process, instance.arguments.len());
        let parameters = self.parameter_scalars(instance.process);
        let mut given = parameters.into_iter().zip(&instance.arguments);
        let is_object = given.any(|(scalar, value)| is_reference(scalar) && *value != 0);
        self.require(!is_object, || "an object before there are any".into());
        self.require(instance.priority != Some(0), || "a priority of 0".into());
    }

    fn monitor(&mut self, monitor: &Monitor) {
        self.span(monitor.span);
        let locations = monitor.locations.len();
        for location in [monitor.initial, monitor.last].iter().chain(&monitor.ends) {
            self.require((*location as usize) < locations, || format!("location {location} does not exist"));
        }
        let leaves_last = monitor.locations.get(monitor.last as usize).is_some_and(|edges| !edges.is_empty());
        self.require(!leaves_last, || "an edge leaves the last location".into());
        for edge in monitor.locations.iter().flatten() {
            self.span(edge.span);
            self.require((edge.to as usize) < locations, || format!("location {} does not exist", edge.to));
            let binds = edge.patterns.iter().any(|pattern| matches!(pattern, Pattern::Bind(_)));
            self.require(!binds, || "an edge that stores a field".into());
            self.expr(&edge.channel, Reader::Static);
            self.patterns(&edge.patterns, Reader::Static, 0);
        }
        monitor.observed.iter().for_each(|(_, channel)| self.expr(channel, Reader::Static));
    }

    fn temporal(&mut self, temporal: &Temporal, reader: Reader<'a>) {
        self.formula(&temporal.formula, temporal.atoms.len(), 0);
        for atom in &temporal.atoms {
            self.expr(atom, reader);
        }
    }

    fn automaton(&mut self, PropertyAutomaton { automaton, atoms }: &PropertyAutomaton) {
        if let Err(error) = automaton.check() {
            self.problem(error.to_string());
        }
        let known = |Atom(number): &Atom| (*number as usize) < atoms.len();
        self.require(automaton.atoms.iter().all(known), || format!("an atom of an automaton with {}", atoms.len()));
        for atom in atoms {
            self.expr(atom, Reader::Nobody);
        }
    }

    fn formula(&mut self, formula: &Formula, atoms: usize, depth: u32) {
        if depth > MAX_DEPTH {
            return self.problem("a formula that is nested too deep");
        }
        if let Formula::Atom(Atom(number)) = formula {
            self.require((*number as usize) < atoms, || format!("atom {number} of {atoms}"));
        }
        for operand in formula.operands() {
            self.formula(operand, atoms, depth + 1);
        }
    }

    fn expr(&mut self, expr: &Expr, reader: Reader<'a>) {
        let alike = reader.alike();
        if alike.is_none() || alike != self.last {
            self.shared.clear();
        }
        self.last = alike;
        self.expr_at(expr, reader, 0);
    }

    fn expr_at(&mut self, expr: &Expr, reader: Reader<'a>, depth: u32) {
        if depth > MAX_DEPTH {
            return self.problem("an expression that is nested too deep");
        }
        let deeper = depth + 1;
        if self.system.synchronous().is_some() && speaks_of_processes(expr) {
            self.problem("an expression about processes or channels in a synchronous system");
        }
        match expr {
            Expr::Const(_) | Expr::ProcessCount | Expr::NonProgress | Expr::Accepting => {}
            Expr::Next(place) => {
                self.require(matches!(reader, Reader::Step), || "a next value outside of a joint step".into());
                self.require(place.scope == Scope::Global, || "the next value of a local".into());
                let variable = self.system.globals.get(place.variable.index());
                let is_input = variable.is_some_and(|variable| variable.kind == VariableKind::Input);
                self.require(!is_input, || "the next value of an input".into());
                self.place(place, None, reader, deeper);
            }
            Expr::Read(place) => self.place(place, reader.process(), reader, deeper),
            Expr::Field(object, field) => self.field(object, field, reader, deeper),
            Expr::Unary(_, x) | Expr::LocationOf(x) | Expr::Length(x) | Expr::Full(x) | Expr::Priority(x) => {
                self.expr_at(x, reader, deeper);
                self.number(x);
            }
            Expr::Cast(scalar, x) => {
                self.scalar(*scalar);
                self.require(!is_reference(*scalar), || "a number that is made a reference".into());
                self.expr_at(x, reader, deeper);
                self.number(x);
            }
            Expr::Binary(op, x, y) => {
                self.expr_at(x, reader, deeper);
                self.expr_at(y, reader, deeper);
                match reference_of(x).or(reference_of(y)) {
                    Some(record) if matches!(op, BinaryOp::Equal | BinaryOp::NotEqual) => {
                        let same = refers_to(x, record) && refers_to(y, record);
                        self.require(same, || "a comparison of a reference with something else".into());
                    }
                    Some(_) => self.problem("a reference where a number is needed"),
                    None => {}
                }
            }
            Expr::Conditional(condition, x, y) => {
                self.expr_at(condition, reader, deeper);
                self.expr_at(x, reader, deeper);
                self.expr_at(y, reader, deeper);
            }
            Expr::SelfId => self.require(reader.process().is_some(), || "its own id where there is no process".into()),
            Expr::LastMover => {
                self.require(self.system.uses_last, || "the last mover, which the state does not keep".into());
            }
            Expr::Timeout => self.require(!reader.is_static(), || "timeout outside of a run".into()),
            Expr::Blocked(edges) => self.blocked(edges, reader),
            Expr::Enabled(process) => {
                self.require(!reader.is_static(), || "enabled() outside of a run".into());
                self.expr_at(process, reader, deeper);
            }
            Expr::At { process, of, locations } => {
                if let Some(process) = process {
                    self.expr_at(process, reader, deeper);
                }
                let count = self.system.processes.get(of.index()).map_or(0, |ty| ty.locations.len());
                let known = locations.iter().all(|location| location.index() < count);
                self.require(count > 0 && known, || format!("a location that process type {} does not have", of.0));
            }
            Expr::Remote { process, of, place } => {
                if let Some(process) = process {
                    self.expr_at(process, reader, deeper);
                }
                match self.system.processes.get(of.index()) {
                    Some(ty) if place.scope == Scope::Local => self.place(place, Some(ty), reader, deeper),
                    Some(_) => self.problem("a global cell of another process"),
                    None => self.problem(format!("process type {} does not exist", of.0)),
                }
            }
            Expr::Poll { channel, patterns, .. } => {
                self.expr_at(channel, reader, deeper);
                self.patterns(patterns, reader, deeper);
            }
            // It may stand in very many places, and in a circuit very deep: each is checked once, and alone.
            Expr::Shared(x) if self.system.synchronous().is_some() => {
                for part in innermost_first(x, &mut |part| self.shared.insert(part.address())) {
                    self.expr_at(part, reader, 0);
                }
            }
            // Once it was checked, only how deep it stands can be wrong.
            Expr::Shared(x) => {
                if self.shared.insert(x.address()) {
                    self.expr_at(x, reader, deeper);
                } else {
                    let fits = deeper.saturating_add(x.height()) <= MAX_DEPTH;
                    self.require(fits, || "an expression that is nested too deep".into());
                }
            }
        }
    }

    /// `Blocked` names edges that leave the same location and stand before the edge it belongs to.
    fn blocked(&mut self, edges: &[EdgeId], reader: Reader<'a>) {
        let Reader::Edge(process, edge, id) = reader else {
            return self.problem("a list of blocked edges outside of an edge");
        };
        let siblings = process.locations.get(edge.from.index()).map_or(&[][..], |from| &from.edges);
        let before: Vec<EdgeId> = siblings.iter().copied().take_while(|sibling| *sibling != id).collect();
        for other in edges {
            self.require(before.contains(other), || {
                format!("edge {} does not stand before it, but it waits for that to be blocked", other.0)
            });
            let is_action = process.edges.get(other.index()).is_some_and(|other| other.action.is_some());
            self.require(!is_action, || format!("it waits for edge {} to be blocked, which is an action", other.0));
        }
    }

    /// A place of a global, or of a local of `owner`; its subscripts are evaluated by the reader.
    fn place(&mut self, place: &Place, owner: Option<&'a ProcessType>, reader: Reader<'a>, depth: u32) {
        for index in &place.indices {
            self.expr_at(&index.at, reader, depth + 1);
            self.number(&index.at);
        }
        let variables = match (place.scope, owner) {
            (Scope::Global, _) => &self.system.globals,
            (Scope::Local, Some(owner)) => &owner.locals,
            (Scope::Local, None) => return self.problem("a local variable where there is no process"),
        };
        let Some(variable) = variables.get(place.variable.index()) else {
            return self.problem(format!("variable {} does not exist", place.variable.0));
        };
        self.scalar(place.scalar);
        let name = &variable.name;
        let is_fresh = place.scope == Scope::Global && variable.kind == VariableKind::Input;
        let knows_inputs = matches!(reader, Reader::Step | Reader::Nobody);
        self.require(!is_fresh || knows_inputs, || format!("the input {name} outside of a step"));
        if !lies_within(place, self.system.slots(&variable.ty)) {
            return self.problem(format!("a place that reaches outside of {name}"));
        }
        let right = one_scalar(&variable.ty) == Some(place.scalar) || {
            let scalars = self.system.scalars(&variable.ty);
            reachable_slots(place).iter().all(|slot| scalars.get(*slot as usize) == Some(&place.scalar))
        };
        self.require(right, || format!("a place of {name} with another type than its cells"));
    }
}

/// The names of the process types that are spawned somewhere.
fn spawned(system: &System) -> HashSet<&str> {
    let edges = system.processes.iter().flat_map(|process| &process.edges);
    let types = edges.flat_map(|edge| &edge.effect).filter_map(|instruction| match instruction {
        Instruction::Do(Action::Spawn { process, .. }) | Instruction::Try(Action::Spawn { process, .. }, _) => {
            system.processes.get(process.index())
        }
        _ => None,
    });
    types.map(|process| process.name.as_str()).collect()
}

fn is_reference(scalar: Scalar) -> bool {
    matches!(scalar, Scalar::Reference(_))
}

/// The type of the objects that the expression refers to; `None` if its value is a number.
fn reference_of(expr: &Expr) -> Option<RecordId> {
    let mut seen = HashSet::new();
    let mut open = vec![expr];
    while let Some(expr) = open.pop() {
        match expr {
            Expr::Read(Place { scalar: Scalar::Reference(record), .. })
            | Expr::Remote { place: Place { scalar: Scalar::Reference(record), .. }, .. }
            | Expr::Field(_, Field { scalar: Scalar::Reference(record), .. }) => return Some(*record),
            Expr::Conditional(_, x, y) => open.extend([&**y, &**x]),
            Expr::Shared(x) if seen.insert(x.address()) => open.push(x),
            _ => {}
        }
    }
    None
}

/// The expression refers to an object of that type, or to none.
fn refers_to(expr: &Expr, record: RecordId) -> bool {
    let mut seen = HashSet::new();
    let mut open = vec![expr];
    while let Some(expr) = open.pop() {
        match expr {
            Expr::Const(0) => {}
            Expr::Conditional(_, x, y) => open.extend([&**y, &**x]),
            Expr::Shared(x) => open.extend(seen.insert(x.address()).then_some(&**x)),
            _ if reference_of(expr) == Some(record) => {}
            _ => return false,
        }
    }
    true
}

/// Only processes and channels make it mean something.
fn speaks_of_processes(expr: &Expr) -> bool {
    match expr {
        Expr::Const(_)
        | Expr::Read(_)
        | Expr::Next(_)
        | Expr::Unary(..)
        | Expr::Binary(..)
        | Expr::Cast(..)
        | Expr::Conditional(..)
        | Expr::Blocked(_)
        | Expr::Field(..)
        | Expr::Shared(_) => false,
        Expr::SelfId
        | Expr::ProcessCount
        | Expr::LastMover
        | Expr::Timeout
        | Expr::Enabled(_)
        | Expr::LocationOf(_)
        | Expr::At { .. }
        | Expr::Remote { .. }
        | Expr::NonProgress
        | Expr::Accepting
        | Expr::Length(_)
        | Expr::Full(_)
        | Expr::Poll { .. }
        | Expr::Priority(_) => true,
    }
}

/// The type of all cells, where that is plain to see.
fn one_scalar(ty: &Type) -> Option<Scalar> {
    match ty {
        Type::Scalar(scalar) => Some(*scalar),
        Type::Array { element, .. } => one_scalar(element),
        Type::Record(_) => None,
    }
}

/// Every slot that the place can mean is one of the variable's, and no two subscripts mean the same.
fn lies_within(place: &Place, slots: u32) -> bool {
    let slots = u64::from(slots);
    let mut last = u64::from(place.offset);
    let mut count = 1u64;
    for index in &place.indices {
        let (length, stride) = (u64::from(index.length), u64::from(index.stride));
        if length == 0 || length > slots || (length > 1 && !(1..=slots).contains(&stride)) {
            return false;
        }
        last += (length - 1) * stride;
        count *= length;
        if last >= slots || count > slots {
            return false;
        }
    }
    last < slots
}

/// The slots that a place can mean, if it [lies within](lies_within) its variable.
fn reachable_slots(place: &Place) -> Vec<u32> {
    let mut reachable = vec![place.offset];
    for index in &place.indices {
        let step = |slot: &u32, i: u32| slot + i * index.stride;
        reachable = reachable.iter().flat_map(|slot| (0..index.length).map(move |i| step(slot, i))).collect();
    }
    reachable
}

/// By edge: the location that it leaves lists it.
fn listed(process: &ProcessType) -> Vec<bool> {
    let mut listed = vec![false; process.edges.len()];
    for (number, location) in process.locations.iter().enumerate() {
        for id in &location.edges {
            if process.edges.get(id.index()).is_some_and(|edge| edge.from.index() == number) {
                listed[id.index()] = true;
            }
        }
    }
    listed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Index;
    use crate::property::Property;
    use crate::samples::*;
    use crate::system::{
        Channel, Enumeration, EventKind, LocationId, MonitorEdge, Overflow, Record, SourceId, VariableId,
    };

    /// A system in which everything is in order and there is much to break: two processes, an array, a
    /// record, channels, a monitor, a property.
    fn sound() -> System {
        let mut system = System::empty();
        let fields = vec![("a".into(), Type::Scalar(Scalar::BYTE)), ("b".into(), Type::Scalar(Scalar::SHORT))];
        system.records.push(Record { name: "r".into(), fields });
        let x = system.global("x", Scalar::BYTE);
        system.globals.push(variable("a", Type::Array { element: Box::new(Type::Record(RecordId(0))), length: 3 }));
        let q = system.channel("q", 1, &[Scalar::BYTE]);
        let a = Place { indices: vec![Index { at: read(&x), length: 3, stride: 2 }], ..global(1, Scalar::BYTE) };
        let edges = vec![
            edge(0, 1).sends(&q, vec![read(&a)]),
            edge(0, 1).when(Expr::Blocked(vec![EdgeId(0)])).sets(&a, Expr::SelfId),
            edge(1, 0).receives(&q, vec![Pattern::Bind(local(0, Scalar::BYTE))]),
        ];
        let mut p = process("p", vec![variable("n", Type::Scalar(Scalar::BYTE))], edges, &[]);
        p.parameters = 1;
        let p = system.declare(p);
        let run = Action::Spawn { process: p, arguments: vec![Expr::Const(1)], priority: None };
        let mut main = edge(0, 1).does(run);
        main.effect.push(Instruction::Jump(2));
        system.start(process("main", vec![], vec![main], &[1]));
        let fits = MonitorEdge {
            kind: EventKind::Send,
            channel: q.clone(),
            patterns: vec![Pattern::Ignore],
            to: 1,
            span: None,
        };
        system.monitor = Some(Monitor {
            forbids: true,
            locations: vec![vec![fits], vec![]],
            initial: 0,
            last: 1,
            ends: vec![0],
            observed: vec![(EventKind::Send, q)],
            span: None,
        });
        let remote = Expr::Remote { process: None, of: p, place: local(0, Scalar::BYTE) };
        let at = Expr::At { process: None, of: p, locations: vec![LocationId(1)] };
        let invariant = Expr::binary(crate::expr::BinaryOp::Or, remote, at);
        let question = Question::Invariant(invariant);
        system.properties.push(Property { name: "i".into(), question, text: String::new(), span: None });
        system
    }

    fn first_assignment(system: &mut System) -> &mut Place {
        match &mut system.processes[0].edges[1].effect[0] {
            Instruction::Do(Action::Assign(place, _)) => place,
            other => panic!("not an assignment: {other:?}"),
        }
    }

    fn invariant(system: &mut System, expr: Expr) {
        system.properties[0].question = Question::Invariant(expr);
    }

    #[test]
    fn what_is_sound_passes() {
        assert_eq!(check(&sound()), Ok(()));
        assert_eq!(check(&System::empty()), Ok(()));
    }

    #[test]
    fn what_is_broken_is_told() {
        type Break = fn(&mut System);
        let table: Vec<(&str, Break)> = vec![
            ("outside of a", |s| first_assignment(s).offset = 5),
            ("outside of a", |s| first_assignment(s).indices[0].length = 4),
            ("outside of a", |s| first_assignment(s).indices[0].stride = 0),
            ("outside of a", |s| first_assignment(s).indices[0].stride = u32::MAX),
            ("another type", |s| first_assignment(s).indices[0].stride = 1),
            ("another type", |s| first_assignment(s).scalar = Scalar::INT),
            ("variable 9", |s| first_assignment(s).variable = VariableId(9)),
            ("does not stand before", |s| s.processes[0].edges[1].guard = vec![Expr::Blocked(vec![EdgeId(1)])]),
            ("does not stand before", |s| s.processes[0].edges[1].guard = vec![Expr::Blocked(vec![EdgeId(2)])]),
            ("outside of an edge", |s| invariant(s, Expr::Blocked(vec![]))),
            ("its own id", |s| invariant(s, Expr::SelfId)),
            ("last mover", |s| invariant(s, Expr::LastMover)),
            ("no process", |s| invariant(s, read(&local(0, Scalar::BYTE)))),
            ("a location that", |s| {
                invariant(s, Expr::At { process: None, of: ProcessId(0), locations: vec![LocationId(2)] });
            }),
            ("process type 7", |s| {
                invariant(s, Expr::Remote { process: None, of: ProcessId(7), place: local(0, Scalar::BYTE) });
            }),
            ("a global cell", |s| {
                invariant(s, Expr::Remote { process: None, of: ProcessId(0), place: global(0, Scalar::BYTE) });
            }),
            ("nested too deep", |s| {
                let deep = (0..2 * MAX_DEPTH).fold(Expr::TRUE, |e, _| plus(e, 1));
                invariant(s, deep);
            }),
            ("is not a Claim", |s| s.properties[0].question = Question::Never(ProcessId(0))),
            ("which is none", |s| s.processes[0].edges[0].to = LocationId(9)),
            ("does not list it", |s| s.processes[0].edges[0].from = LocationId(1)),
            ("listed twice", |s| s.processes[0].locations[0].edges.push(EdgeId(0))),
            ("does not exist", |s| s.processes[0].locations[0].edges.push(EdgeId(9))),
            ("which is none", |s| s.processes[0].initial = LocationId(9)),
            ("more parameters", |s| s.processes[0].parameters = 9),
            ("arguments for", |s| s.processes[0].parameters = 0),
            ("a jump to", |s| s.processes[1].edges[0].effect[1] = Instruction::Jump(3)),
            ("arguments for", |s| s.start[0].arguments.push(1)),
            ("process type 9", |s| s.start[0].process = ProcessId(9)),
            ("is not a Process", |s| s.processes[1].role = Role::Claim),
            ("a priority of 0", |s| s.start[0].priority = Some(0)),
            ("at most 0", |s| s.max_processes = 0),
            ("40 bits", |s| s.globals[0].ty = Type::Scalar(Scalar::Int { bits: 40, signed: true })),
            ("empty range", |s| {
                s.globals[0].ty = Type::Scalar(Scalar::Range { low: 1, high: 0, overflow: Overflow::Wrap });
            }),
            ("0 is outside", |s| {
                let ty = Type::Scalar(Scalar::Range { low: 1, high: 2, overflow: Overflow::Wrap });
                s.globals.push(variable("r", ty));
            }),
            ("first value for slot 1", |s| s.globals[0].initial.push((1, Initial::Value(Expr::TRUE)))),
            ("not in slot order", |s| {
                s.globals[1].initial = [1, 0].map(|slot| (slot, Initial::Value(Expr::TRUE))).to_vec();
            }),
            ("a process that is spawned", |s| s.processes[0].locals[0].initial.push((0, Initial::AnyOf(vec![1])))),
            ("no first value", |s| s.globals[0].initial.push((0, Initial::AnyOf(vec![])))),
            ("a value outside", |s| s.globals[0].initial.push((0, Initial::AnyOf(vec![256])))),
            ("in a cell that is none", |s| s.globals[0].initial.push((0, Initial::Channel(0usize.into())))),
            ("a kind that", |s| s.globals[2].initial[0].1 = Initial::Channel(9usize.into())),
            ("timeout outside", |s| s.globals[0].initial.push((0, Initial::Value(Expr::Timeout)))),
            ("without elements", |s| {
                s.globals[0].ty = Type::Array { element: Box::new(Type::Scalar(Scalar::BYTE)), length: 0 };
            }),
            ("more than 1048576 slots", |s| {
                s.globals[0].ty = Type::Array { element: Box::new(Type::Scalar(Scalar::BYTE)), length: u32::MAX };
            }),
            ("not known before it", |s| s.records[0].fields[0].1 = Type::Record(RecordId(0))),
            ("no fields", |s| s.records[0].fields.clear()),
            ("is not known", |s| s.globals[0].ty = Type::Record(RecordId(1))),
            ("e is 256", |s| {
                s.enumerations.push(Enumeration { name: String::new(), values: vec![("e".into(), 256)] });
            }),
            ("an enumeration that", |s| s.channels[0].fields[0] = Scalar::Enumeration(0usize.into())),
            ("no source", |s| s.globals[0].span = Some(Span { source: SourceId(0), start: 0, end: 0 })),
            ("leaves the last", |s| s.monitor.as_mut().unwrap().last = 0),
            ("location 5", |s| s.monitor.as_mut().unwrap().ends = vec![5]),
            ("stores a field", |s| {
                let place = global(0, Scalar::BYTE);
                s.monitor.as_mut().unwrap().locations[0][0].patterns = vec![Pattern::Bind(place)];
            }),
        ];
        for (expected, damage) in table {
            let mut system = sound();
            damage(&mut system);
            let problems = check(&system).expect_err(expected);
            assert!(problems.iter().any(|p| p.to_string().contains(expected)), "{expected}: {problems:?}");
        }
    }

    #[test]
    fn records_that_double_do_not_take_for_ever() {
        let mut system = System::empty();
        for number in 0..100u32 {
            let part = if number == 0 { Type::Scalar(Scalar::BYTE) } else { Type::Record(RecordId(number - 1)) };
            let fields = vec![("l".to_string(), part.clone()), ("r".to_string(), part)];
            system.records.push(Record { name: format!("r{number}"), fields });
        }
        system.channels.push(Channel { name: "c".into(), capacity: 0, fields: vec![], span: None });
        assert!(check(&system).is_err());
    }
}
