//! Slicing: variables and parts of messages that nothing asked for depends on are not assigned and not sent any more.
//!
//! A variable matters if a guard, a subscript, an assertion, an argument of a new process or anything that may be a fault
//! reads it, if a property or another process does, or if a value that is assigned to a variable that matters, or sent in a
//! field that matters, is computed from it. A field of the messages of a kind of channels matters if a receive or a poll
//! compares it, if messages are sorted, or if it is received into a variable that matters. All steps stay, with what makes
//! them executable; only assignments to other variables go, so that these keep their first values, and other fields are
//! sent as 0. Where a subscript or a value may be a fault, it is still computed. A counter that nobody reads no longer makes states different.

use std::collections::HashSet;

use ample_model::facts::{Cells, Lens};
use ample_model::visit::Visitor;
use ample_model::{
    Action, ChannelId, Communication, Edge, Expr, Initial, Instruction, Overflow, Pattern, Place, ProcessId, Role,
    Scalar, Scope, Shared, System, Type, Variable, VariableId,
};

use super::seen::{Seen, looked_at};

/// Something that matters or does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Item {
    /// A variable: of a process type, or a global one.
    Variable(Option<ProcessId>, VariableId),
    /// A field of the messages of a kind of channels.
    Field(ChannelId, usize),
}

fn variable(process: ProcessId, scope: Scope, variable: VariableId) -> Item {
    match scope {
        Scope::Global => Item::Variable(None, variable),
        Scope::Local => Item::Variable(Some(process), variable),
    }
}

/// Leaves out the assignments, and what is sent for nothing; the variables and fields that do not matter.
pub(super) fn slice(system: &mut System, seen: &Seen) -> Vec<Item> {
    if seen.every_step {
        return Vec::new();
    }
    let useless = useless(system, seen);
    if useless.is_empty() {
        return Vec::new();
    }
    let mut changed: Vec<Vec<Edge>> = Vec::new();
    let lens = Lens::new(system);
    for (number, process) in system.processes.iter().enumerate() {
        let slicer = Slicer { system, lens: &lens, process: number.into(), useless: &useless };
        let mut edges = process.edges.clone();
        if process.role == Role::Process {
            edges.iter_mut().for_each(|edge| slicer.edge(edge));
        }
        changed.push(edges);
    }
    system.processes.iter_mut().zip(changed).for_each(|(process, edges)| process.edges = edges);
    let mut useless: Vec<Item> = useless.into_iter().collect();
    useless.sort_unstable();
    useless
}

/// Takes out of the edges of a process type what does not matter.
struct Slicer<'a> {
    system: &'a System,
    lens: &'a Lens<'a>,
    process: ProcessId,
    useless: &'a HashSet<Item>,
}

impl Slicer<'_> {
    fn edge(&self, edge: &mut Edge) {
        edge.communication.iter_mut().for_each(|communication| self.communication(communication));
        edge.effect.iter_mut().for_each(|instruction| self.instruction(instruction));
    }

    fn is_useless(&self, place: &Place) -> bool {
        self.useless.contains(&variable(self.process, place.scope, place.variable))
    }

    fn instruction(&self, instruction: &mut Instruction) {
        match instruction {
            Instruction::Do(Action::Assign(place, value)) if self.is_useless(place) => {
                *instruction = Instruction::Do(self.what_may_fault(place, value));
            }
            Instruction::Do(Action::AssignAll(pairs)) => pairs.retain(|(place, _)| !self.is_useless(place)),
            Instruction::Do(Action::Communicate(communication))
            | Instruction::Try(Action::Communicate(communication), _) => self.communication(communication),
            _ => {}
        }
    }

    /// What is left of an assignment to a variable that does not matter: nothing, or what may be a fault of it, with the
    /// first value in the place of the value.
    fn what_may_fault(&self, place: &Place, value: &Expr) -> Action {
        let value_faults = may_reject(place.scalar) || self.lens.expr(self.process, value).traits.may_fault;
        let place_faults = self.lens.place(self.process, place).1.traits.may_fault;
        let Some(first) = first_value(self.system, self.process, place) else { return Action::Test(Expr::TRUE) };
        match (value_faults, place_faults) {
            (false, false) => Action::Test(Expr::TRUE),
            (false, true) => Action::Assign(place.clone(), Expr::Const(first)),
            (true, _) => {
                let fitted = Expr::Cast(place.scalar, value.clone().into());
                let first = || Expr::Const(first).into();
                Action::Assign(place.clone(), Expr::Conditional(fitted.into(), first(), first()))
            }
        }
    }

    fn communication(&self, communication: &mut Communication) {
        match communication {
            Communication::Send { channel, values, .. } => {
                let Some(kinds) = self.lens.kinds(self.process, channel) else { return };
                for (field, value) in values.iter_mut().enumerate() {
                    if kinds.iter().all(|kind| self.useless.contains(&Item::Field(*kind, field))) {
                        *value = Expr::Const(0);
                    }
                }
            }
            Communication::Receive { patterns, .. } => {
                for pattern in patterns {
                    if matches!(pattern, Pattern::Bind(place) if self.is_useless(place)) {
                        *pattern = Pattern::Ignore;
                    }
                }
            }
        }
    }
}

/// What is assigned or sent and does not matter.
fn useless(system: &System, seen: &Seen) -> HashSet<Item> {
    let lens = Lens::new(system);
    let mut flow = Flow {
        system,
        lens: &lens,
        process: ProcessId(0),
        roots: HashSet::new(),
        flows: Vec::new(),
        assigned: HashSet::new(),
    };
    flow.roots.extend(seen.globals.iter().map(|id| Item::Variable(None, *id)));
    flow.roots.extend(seen.locals.iter().map(|(process, id)| Item::Variable(Some(*process), *id)));
    flow.keep_what_is_no_number();
    seen.messages.iter().for_each(|kind| flow.keep_messages(*kind));
    for (number, process) in system.processes.iter().enumerate().filter(|(_, process)| process.role == Role::Process) {
        flow.process = number.into();
        process.provided.iter().for_each(|condition| flow.root(condition));
        for variable in &process.locals {
            for (_, initial) in &variable.initial {
                if let Initial::Value(expr) = initial {
                    flow.root(expr);
                }
            }
        }
        process.edges.iter().for_each(|edge| flow.edge(edge));
    }
    let mut matters = flow.roots;
    loop {
        let before = matters.len();
        for (target, sources) in &flow.flows {
            if matters.contains(target) {
                matters.extend(sources.iter().copied());
            }
        }
        if matters.len() == before {
            return flow.assigned.difference(&matters).copied().collect();
        }
    }
}

fn is_number(scalar: Scalar) -> bool {
    matches!(scalar, Scalar::Int { .. } | Scalar::Range { .. } | Scalar::Enumeration(_))
}

fn holds_numbers(system: &System, ty: &Type) -> bool {
    match ty {
        Type::Scalar(scalar) => is_number(*scalar),
        Type::Array { element, .. } => holds_numbers(system, element),
        Type::Record(record) => {
            system.records[record.index()].fields.iter().all(|(_, field)| holds_numbers(system, field))
        }
    }
}

/// The value that all cells start with which a place can mean, if it is known.
fn first_value(system: &System, process: ProcessId, place: &Place) -> Option<i64> {
    let variable = match place.scope {
        Scope::Global => system.globals.get(place.variable.index())?,
        Scope::Local => system.process(process).locals.get(place.variable.index())?,
    };
    let mut values = vec![0; system.slots(&variable.ty) as usize];
    for (slot, initial) in &variable.initial {
        let Initial::Value(Expr::Const(value)) = initial else { return None };
        *values.get_mut(*slot as usize)? = *value;
    }
    let first = *values.first()?;
    let is_same = values.iter().all(|value| *value == first) && place.scalar.fit(first) == Some(first);
    is_same.then_some(first)
}

/// Storing a value of another type there may be a fault.
fn may_reject(scalar: Scalar) -> bool {
    matches!(scalar, Scalar::Range { overflow: Overflow::Fault, .. })
}

/// Collects what is read for what.
struct Flow<'a, 's> {
    system: &'s System,
    lens: &'a Lens<'s>,
    process: ProcessId,
    /// What matters in itself.
    roots: HashSet<Item>,
    /// What the value of a variable or a field is computed from.
    flows: Vec<(Item, Vec<Item>)>,
    assigned: HashSet<Item>,
}

impl Flow<'_, '_> {
    /// Handles of channels and ids of processes say what a step touches; several first values are several initial states.
    fn keep_what_is_no_number(&mut self) {
        let mut keep = |item: Item, variable: &Variable| {
            let is_number = holds_numbers(self.system, &variable.ty);
            let is_single = variable.initial.iter().all(|(_, initial)| matches!(initial, Initial::Value(_)));
            if !is_number || !is_single || variable.hidden {
                self.roots.insert(item);
            }
        };
        let globals = self.system.globals.iter().enumerate();
        globals.for_each(|(id, variable)| keep(Item::Variable(None, id.into()), variable));
        for (number, process) in self.system.processes.iter().enumerate() {
            for (id, variable) in process.locals.iter().enumerate() {
                keep(Item::Variable(Some(number.into()), id.into()), variable);
            }
        }
        for (kind, channel) in self.system.channels.iter().enumerate() {
            for (field, scalar) in channel.fields.iter().enumerate() {
                if !is_number(*scalar) || scalar.fit(0) != Some(0) {
                    self.roots.insert(Item::Field(kind.into(), field));
                }
            }
        }
    }

    fn fields(&self, kind: ChannelId) -> impl Iterator<Item = Item> + use<> {
        (0..self.system.channels[kind.index()].fields.len()).map(move |field| Item::Field(kind, field))
    }

    fn keep_messages(&mut self, kind: ChannelId) {
        let fields = self.fields(kind);
        self.roots.extend(fields);
    }

    fn reads(&self, expr: &Expr) -> Vec<Item> {
        let usage = self.lens.expr(self.process, expr);
        let item = |cells: &Cells| variable(self.process, cells.scope, cells.variable);
        let remote = usage.remote_reads.iter().map(|(process, cells)| Item::Variable(Some(*process), cells.variable));
        let messages = looked_at(self.system, &usage).into_iter().flat_map(|kind| self.fields(kind));
        usage.reads.iter().map(item).chain(remote).chain(messages).collect()
    }

    fn root(&mut self, expr: &Expr) {
        let reads = self.reads(expr);
        self.roots.extend(reads);
    }

    fn may_fault(&self, expr: &Expr) -> bool {
        self.lens.expr(self.process, expr).traits.may_fault
    }

    /// A value is stored that is computed from these.
    fn stored(&mut self, place: &Place, sources: Vec<Item>) {
        let target = variable(self.process, place.scope, place.variable);
        self.assigned.insert(target);
        self.flows.push((target, sources));
    }

    /// What the subscripts of a place are computed from, and whether they may be a fault.
    fn subscripts(&self, place: &Place) -> (Vec<Item>, bool) {
        let (_, usage) = self.lens.place(self.process, place);
        let reads = usage.reads.iter().map(|cells| variable(self.process, cells.scope, cells.variable));
        let messages = looked_at(self.system, &usage).into_iter().flat_map(|kind| self.fields(kind));
        (reads.chain(messages).collect(), usage.traits.may_fault)
    }

    /// What a value is computed from that may be a fault matters; the variable only if it cannot be left as it is.
    fn assigned(&mut self, place: &Place, value: &Expr, is_single: bool) {
        let (subscripts, place_faults) = self.subscripts(place);
        let value_faults = self.may_fault(value) || may_reject(place.scalar);
        let sources = self.reads(value);
        let target = variable(self.process, place.scope, place.variable);
        if place_faults || value_faults {
            self.roots.extend(subscripts.iter().copied());
            if !is_single || first_value(self.system, self.process, place).is_none() {
                self.roots.insert(target);
            }
        }
        if value_faults {
            self.roots.extend(sources.iter().copied());
        }
        self.stored(place, [sources, subscripts].concat());
    }

    /// A value from outside is stored; if that may be a fault, the variable matters.
    fn bound(&mut self, place: &Place, sources: Vec<Item>) {
        let (subscripts, may_fault) = self.subscripts(place);
        if may_fault || may_reject(place.scalar) {
            self.roots.insert(variable(self.process, place.scope, place.variable));
        }
        self.stored(place, [sources, subscripts].concat());
    }

    fn sent(&mut self, kinds: Option<Vec<ChannelId>>, values: &[Expr], sorted: bool) {
        let Some(kinds) = kinds else { return values.iter().for_each(|value| self.root(value)) };
        for kind in kinds {
            let scalars = &self.system.channels[kind.index()].fields;
            if sorted || scalars.len() != values.len() {
                self.keep_messages(kind);
            }
            for (field, value) in values.iter().enumerate() {
                let item = Item::Field(kind, field);
                if *value != Expr::Const(0) {
                    self.assigned.insert(item);
                }
                let sources = self.reads(value);
                if self.may_fault(value) || scalars.get(field).is_none_or(|scalar| may_reject(*scalar)) {
                    self.roots.extend(sources.iter().copied());
                    self.roots.insert(item);
                }
                self.flows.push((item, sources));
            }
        }
    }

    fn received(&mut self, kinds: Option<Vec<ChannelId>>, patterns: &[Pattern]) {
        let is_known = kinds.is_some();
        let kinds = kinds.unwrap_or_else(|| (0..self.system.channels.len()).map(ChannelId::from).collect());
        for kind in &kinds {
            if !is_known || self.system.channels[kind.index()].fields.len() != patterns.len() {
                self.keep_messages(*kind);
            }
        }
        for (field, pattern) in patterns.iter().enumerate() {
            let fields = || kinds.iter().map(|kind| Item::Field(*kind, field)).collect::<Vec<_>>();
            match pattern {
                Pattern::Match(expr) => {
                    self.root(expr);
                    self.roots.extend(fields());
                }
                Pattern::Bind(place) => self.bound(place, fields()),
                Pattern::Ignore => {}
            }
        }
    }
}

impl<'a> Visitor<'a> for Flow<'_, '_> {
    fn instruction(&mut self, instruction: &'a Instruction) {
        match instruction {
            Instruction::Do(Action::Assign(place, value)) => self.assigned(place, value, true),
            Instruction::Do(Action::AssignAll(pairs)) => {
                pairs.iter().for_each(|(place, value)| self.assigned(place, value, false));
            }
            Instruction::Do(Action::Print { .. }) | Instruction::Jump(_) | Instruction::Fail(_) => {}
            // Whether it is performed is seen.
            Instruction::Try(Action::Assign(place, value), _) => {
                self.assigned(place, value, false);
                let target = variable(self.process, place.scope, place.variable);
                self.roots.insert(target);
            }
            Instruction::Do(action) | Instruction::Try(action, _) => self.action(action),
        }
    }

    fn communication(&mut self, communication: &'a Communication) {
        self.root(communication.channel());
        let kinds = self.lens.kinds(self.process, communication.channel());
        match communication {
            Communication::Send { values, sorted, .. } => self.sent(kinds, values, *sorted),
            Communication::Receive { patterns, .. } => self.received(kinds, patterns),
        }
    }

    fn write(&mut self, place: &'a Place) {
        // A reference to a new object.
        self.roots.insert(variable(self.process, place.scope, place.variable));
    }

    fn expr(&mut self, expr: &'a Expr) {
        self.root(expr);
    }

    fn shared(&mut self, shared: &'a Shared) {
        self.root(shared);
    }
}
