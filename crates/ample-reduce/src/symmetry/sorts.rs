//! Sorts: which cells, subscripts and message fields hold values of one kind.
//!
//! Two places have the same sort if a value goes from one to the other, or if they are compared with each other. So
//! a permutation of values that is applied to all places of a sort cannot be noticed by who only copies and compares
//! them: the discipline of scalarsets (C. N. Ip and D. L. Dill, *Better Verification Through Symmetry*, 1996), but inferred.

use std::cell::RefCell;
use std::collections::HashMap;

use ample_model::facts::Lens;
use ample_model::visit::{Seen, Visitor, walk_action, walk_expr};
use ample_model::{
    Action, BinaryOp, Communication, Expr, Pattern, Place, ProcessId, Scalar, Scope, Shared, System, Type, VariableId,
};

/// Something that holds a value, or takes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Holder {
    /// Ids of processes.
    Process,
    /// Handles of channels.
    Channel,
    /// The cells of a variable that differ in subscripts only: the process type if it is local, the variable, and the
    /// slots that are skipped for record fields.
    Cell(Option<ProcessId>, VariableId, u32),
    /// The subscripts of a variable at that depth, with that stride.
    Subscript(Option<ProcessId>, VariableId, u32, u32),
    /// A field of the messages of a kind of channel.
    Field(u32, u32),
    /// The cells of objects of that record type.
    Heap(u32, u32),
}

/// One subscript of a place, outermost first.
pub(super) enum Subscript<'e> {
    /// A number that the front end has put into the offset.
    Fixed(i64),
    /// An expression.
    Given(&'e Expr),
}

/// A place, taken apart: its subscripts, with their holders and the lengths of the arrays, and the cells that it means.
pub(super) struct Parts<'e> {
    pub subscripts: Vec<(Holder, u32, Subscript<'e>)>,
    pub cell: Holder,
}

/// The variables of a scope.
pub(super) fn variables(system: &System, owner: Option<ProcessId>) -> &[ample_model::Variable] {
    match owner {
        None => &system.globals,
        Some(process) => &system.process(process).locals,
    }
}

/// Takes a place apart. `owner` is the type of the process if the place is local.
pub(super) fn parts<'e>(system: &System, owner: Option<ProcessId>, place: &'e Place) -> Parts<'e> {
    let owner = if place.scope == Scope::Global { None } else { owner };
    let mut ty = &variables(system, owner)[place.variable.index()].ty;
    let mut rest = place.offset;
    let mut given = place.indices.iter().peekable();
    let mut fields = 0;
    let mut depth = 0;
    let mut subscripts = Vec::new();
    loop {
        match ty {
            Type::Scalar(_) => break,
            Type::Record(record) => {
                let mut found = None;
                for (_, field) in &system.records[record.index()].fields {
                    let size = system.slots(field);
                    if rest < size {
                        found = Some(field);
                        break;
                    }
                    rest -= size;
                    fields += size;
                }
                let Some(field) = found else { break };
                ty = field;
            }
            Type::Array { element, length } => {
                let stride = system.slots(element);
                let holder = Holder::Subscript(owner, place.variable, depth, stride);
                let is_given = given.peek().is_some_and(|index| index.stride == stride && index.length == *length);
                let subscript = match given.next_if(|_| is_given) {
                    Some(index) => Subscript::Given(&index.at),
                    None => {
                        let at = rest / stride.max(1);
                        rest %= stride.max(1);
                        Subscript::Fixed(at.into())
                    }
                };
                subscripts.push((holder, *length, subscript));
                depth += 1;
                ty = element;
            }
        }
    }
    Parts { subscripts, cell: Holder::Cell(owner, place.variable, fields) }
}

/// A slot of a variable: the holder of its value, and its subscripts with their strides.
pub(super) struct SlotParts {
    pub cell: Holder,
    pub subscripts: Vec<(Holder, u32, u32)>,
    pub scalar: Scalar,
}

/// All slots of a variable.
pub(super) fn slots(system: &System, owner: Option<ProcessId>, variable: VariableId) -> Vec<SlotParts> {
    let mut out = Vec::new();
    let ty = &variables(system, owner)[variable.index()].ty;
    collect(system, ty, &mut Vec::new(), 0, (owner, variable), &mut out);
    out
}

fn collect(
    system: &System,
    ty: &Type,
    subscripts: &mut Vec<(Holder, u32, u32)>,
    fields: u32,
    of: (Option<ProcessId>, VariableId),
    out: &mut Vec<SlotParts>,
) {
    let (owner, variable) = of;
    match ty {
        Type::Scalar(scalar) => out.push(SlotParts {
            cell: Holder::Cell(owner, variable, fields),
            subscripts: subscripts.clone(),
            scalar: *scalar,
        }),
        Type::Record(record) => {
            let mut skipped = fields;
            for (_, field) in &system.records[record.index()].fields {
                collect(system, field, subscripts, skipped, of, out);
                skipped += system.slots(field);
            }
        }
        Type::Array { element, length } => {
            let stride = system.slots(element);
            let holder = Holder::Subscript(owner, variable, subscripts.len() as u32, stride);
            for at in 0..*length {
                subscripts.push((holder, at, stride));
                collect(system, element, subscripts, fields, of, out);
                subscripts.pop();
            }
        }
    }
}

/// The number of a sort.
pub(super) type Sort = usize;

/// The sorts of a system.
pub(super) struct Sorts {
    numbers: HashMap<Holder, usize>,
    /// The forest of a union-find structure.
    parents: RefCell<Vec<usize>>,
}

impl Sorts {
    /// Infers the sorts of a system, with the expressions of properties.
    pub fn of(system: &System, lens: &Lens<'_>, observed: &[Expr]) -> Sorts {
        let mut inference = Inference {
            system,
            lens,
            owner: None,
            sorts: Sorts { numbers: HashMap::new(), parents: RefCell::default() },
            seen: Seen::default(),
        };
        inference.sorts.number(Holder::Process);
        inference.sorts.number(Holder::Channel);
        inference.declare(None);
        for number in 0..system.processes.len() {
            inference.declare(Some(number.into()));
        }
        for (number, channel) in system.channels.iter().enumerate() {
            for (field, scalar) in channel.fields.iter().enumerate() {
                let holder = Holder::Field(number as u32, field as u32);
                inference.sorts.number(holder);
                if *scalar == Scalar::Channel {
                    inference.sorts.join(holder, Holder::Channel);
                }
            }
        }
        for (number, process) in system.processes.iter().enumerate() {
            inference.owner = Some(number.into());
            inference.seen = Seen::default();
            process.edges.iter().for_each(|edge| inference.edge(edge));
            process.provided.iter().for_each(|provided| inference.expr(provided));
        }
        inference.owner = None;
        inference.seen = Seen::default();
        observed.iter().for_each(|expr| inference.expr(expr));
        inference.sorts
    }

    fn number(&mut self, holder: Holder) -> usize {
        if let Some(number) = self.numbers.get(&holder) {
            return *number;
        }
        let parents = self.parents.get_mut();
        let number = parents.len();
        parents.push(number);
        self.numbers.insert(holder, number);
        number
    }

    fn root(&self, mut number: usize) -> usize {
        let mut parents = self.parents.borrow_mut();
        while parents[number] != number {
            parents[number] = parents[parents[number]];
            number = parents[number];
        }
        number
    }

    fn join(&mut self, one: Holder, other: Holder) {
        let (one, other) = (self.number(one), self.number(other));
        let (one, other) = (self.root(one), self.root(other));
        self.parents.get_mut()[other] = one;
    }

    /// The sort of a holder. One that occurs nowhere has a sort that nothing else has.
    pub fn sort(&self, holder: Holder) -> Option<Sort> {
        self.numbers.get(&holder).map(|number| self.root(*number))
    }

    /// The holder whose value an expression is a copy of.
    pub fn copied(system: &System, owner: Option<ProcessId>, expr: &Expr) -> Option<Holder> {
        match expr {
            Expr::Read(place) => Some(parts(system, owner, place).cell),
            Expr::Remote { of, place, .. } => Some(parts(system, Some(*of), place).cell),
            Expr::Field(_, field) => Some(Holder::Heap(field.record.0, field.offset)),
            Expr::Cast(_, x) => Sorts::copied(system, owner, x),
            Expr::Conditional(_, x, y) => Sorts::copied(system, owner, x).or_else(|| Sorts::copied(system, owner, y)),
            Expr::Shared(x) => Sorts::copied(system, owner, x),
            _ => None,
        }
    }
}

/// Collects who copies values to whom, and who is compared with whom.
struct Inference<'a, 's> {
    system: &'s System,
    lens: &'s Lens<'s>,
    owner: Option<ProcessId>,
    sorts: Sorts,
    seen: Seen<'a>,
}

impl Inference<'_, '_> {
    fn declare(&mut self, owner: Option<ProcessId>) {
        for variable in 0..variables(self.system, owner).len() {
            for slot in slots(self.system, owner, variable.into()) {
                self.sorts.number(slot.cell);
                slot.subscripts.iter().for_each(|(holder, ..)| {
                    self.sorts.number(*holder);
                });
                if slot.scalar == Scalar::Channel {
                    self.sorts.join(slot.cell, Holder::Channel);
                }
            }
        }
    }

    /// The value of the expression goes to the holder, or is compared with it.
    fn meets(&mut self, holder: Holder, expr: &Expr) {
        match expr {
            Expr::Conditional(_, x, y) => {
                self.meets(holder, x);
                self.meets(holder, y);
            }
            Expr::Cast(_, x) => self.meets(holder, x),
            Expr::Shared(x) => self.meets(holder, x),
            _ => {
                if let Some(copied) = Sorts::copied(self.system, self.owner, expr) {
                    self.sorts.join(holder, copied);
                }
            }
        }
    }

    fn written(&mut self, place: &Place, value: &Expr) {
        let cell = parts(self.system, self.owner, place).cell;
        self.meets(cell, value);
    }

    fn kinds(&self, channel: &Expr) -> Vec<u32> {
        let known = self.owner.and_then(|owner| self.lens.kinds(owner, channel));
        match known {
            Some(kinds) => kinds.into_iter().map(|kind| kind.0).collect(),
            None => (0..self.system.channels.len() as u32).collect(),
        }
    }

    fn fields<'e>(&mut self, channel: &'e Expr, values: impl Iterator<Item = Option<Taken<'e>>>) {
        let kinds = self.kinds(channel);
        for (field, value) in values.enumerate() {
            for kind in &kinds {
                let holder = Holder::Field(*kind, field as u32);
                match &value {
                    Some(Taken::Value(expr)) => self.meets(holder, expr),
                    Some(Taken::Place(place)) => {
                        let cell = parts(self.system, self.owner, place).cell;
                        self.sorts.join(holder, cell);
                    }
                    None => {}
                }
            }
            // A message that may go to several kinds of channels has fields of the same sorts in all of them.
            for pair in kinds.windows(2) {
                self.sorts.join(Holder::Field(pair[0], field as u32), Holder::Field(pair[1], field as u32));
            }
        }
        self.meets(Holder::Channel, channel);
    }
}

/// What a field of a message meets.
enum Taken<'e> {
    Value(&'e Expr),
    Place(&'e Place),
}

fn pattern_of(pattern: &Pattern) -> Option<Taken<'_>> {
    match pattern {
        Pattern::Match(expr) => Some(Taken::Value(expr)),
        Pattern::Bind(place) => Some(Taken::Place(place)),
        Pattern::Ignore => None,
    }
}

impl<'a> Visitor<'a> for Inference<'a, '_> {
    fn action(&mut self, action: &'a Action) {
        match action {
            Action::Assign(place, value) => self.written(place, value),
            Action::AssignAll(pairs) => pairs.iter().for_each(|(place, value)| self.written(place, value)),
            Action::AssignField(parts) => {
                let (_, field, value) = &**parts;
                self.meets(Holder::Heap(field.record.0, field.offset), value);
            }
            _ => {}
        }
        walk_action(self, action);
    }

    fn communication(&mut self, communication: &'a Communication) {
        match communication {
            Communication::Send { channel, values, .. } => {
                self.fields(channel, values.iter().map(|value| Some(Taken::Value(value))));
            }
            Communication::Receive { channel, patterns, .. } => {
                self.fields(channel, patterns.iter().map(pattern_of));
            }
        }
        ample_model::visit::walk_communication(self, communication);
    }

    fn place(&mut self, place: &'a Place) {
        for (holder, _, subscript) in parts(self.system, self.owner, place).subscripts {
            if let Subscript::Given(at) = subscript {
                self.meets(holder, at);
            }
        }
        ample_model::visit::walk_place(self, place);
    }

    fn expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Binary(BinaryOp::Equal | BinaryOp::NotEqual, x, y) => {
                if let Some(holder) = Sorts::copied(self.system, self.owner, x) {
                    self.meets(holder, x);
                    self.meets(holder, y);
                }
            }
            Expr::Conditional(_, x, y) => {
                if let Some(holder) = Sorts::copied(self.system, self.owner, expr) {
                    self.meets(holder, x);
                    self.meets(holder, y);
                }
            }
            Expr::Enabled(x) | Expr::LocationOf(x) | Expr::Priority(x) => self.meets(Holder::Process, x),
            Expr::At { process: Some(x), .. } => self.meets(Holder::Process, x),
            Expr::Remote { process, of, place } => {
                if let Some(x) = process {
                    self.meets(Holder::Process, x);
                }
                // The subscripts are evaluated by the reader, but the array is the other's.
                for (holder, _, subscript) in parts(self.system, Some(*of), place).subscripts {
                    if let Subscript::Given(at) = subscript {
                        self.meets(holder, at);
                    }
                }
                process.iter().for_each(|process| self.expr(process));
                place.indices.iter().for_each(|index| self.expr(&index.at));
                return;
            }
            Expr::Length(x) | Expr::Full(x) => self.meets(Holder::Channel, x),
            Expr::Poll { channel, patterns, .. } => {
                // A place in a poll is neither read nor written.
                let matched = |pattern: &'a Pattern| match pattern {
                    Pattern::Match(expr) => Some(Taken::Value(expr)),
                    Pattern::Bind(_) | Pattern::Ignore => None,
                };
                self.fields(channel, patterns.iter().map(matched));
            }
            _ => {}
        }
        walk_expr(self, expr);
    }

    fn shared(&mut self, shared: &'a Shared) {
        for part in self.seen.unseen(shared) {
            self.expr(part);
        }
    }
}
