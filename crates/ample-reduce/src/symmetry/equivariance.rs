//! Does a permutation of processes go with permutations of values so that nobody notices?
//!
//! A permutation of process ids is given. For each [sort](super::sorts) a permutation of its values is looked for, such that
//! every expression of a process, with the values of that process put in, becomes the same expression of the
//! process that takes its place. Where an expression is a known number for both, the two numbers are a constraint on the
//! permutation of the sort that is expected there: `flag[_pid]`, `fork[(_pid + 1) % N]` and `turn == 1 - _pid` say
//! which slots and values go where. What is not known may be copied, compared for equality and used as
//! a subscript; everything else needs a sort whose values stay what they are.

use std::collections::BTreeMap;

use ample_model::facts::Lens;
use ample_model::{
    Action, BinaryOp, Communication, Edge, Expr, Instruction, Pattern, Place, ProcessId, Scalar, Scope, Span, System,
};

use super::instances::Instances;
use super::sorts::{Holder, Sort, Sorts, Subscript, parts, slots};
use super::{Refusal, youngest};

/// What a permutation does to the values of each sort.
pub(super) type Maps = BTreeMap<Sort, BTreeMap<i64, i64>>;

/// Why an expression is not what the permutation makes of it.
pub(super) struct Conflict {
    pub why: String,
    pub span: Option<Span>,
}

/// What the system sees of processes beyond their values: it matters where processes end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sees {
    /// How many there are.
    pub count: bool,
    /// Whether they are there, or where they stand.
    pub standing: bool,
}

/// What is known while a permutation is looked at.
#[derive(Clone, Default)]
pub(super) struct Known {
    pub maps: Maps,
    /// Where it was said that a value stays what it is.
    stays: BTreeMap<(Sort, i64), Option<Span>>,
    /// Sorts whose values must stay what they are, with the reason.
    fixed: BTreeMap<Sort, (String, Option<Span>)>,
    /// Types that must have room for the values of sorts.
    fits: Vec<(Sort, Scalar, Option<Span>)>,
    /// Sorts that are subscripts of arrays of that length.
    lengths: Vec<(Sort, u32, Option<Span>)>,
    pub sees: Sees,
}

/// Verifies one permutation of processes.
pub(super) struct Equivariance<'a> {
    pub system: &'a System,
    pub lens: &'a Lens<'a>,
    pub sorts: &'a Sorts,
    pub instances: &'a Instances,
    /// Where each process goes.
    pub permutation: &'a [u32],
    pub known: Known,
    /// The process whose expressions are looked at, if it is one's.
    at: Option<u32>,
    span: Option<Span>,
}

type Checked = Result<(), Conflict>;

impl<'a> Equivariance<'a> {
    pub fn new(
        system: &'a System,
        lens: &'a Lens<'a>,
        sorts: &'a Sorts,
        instances: &'a Instances,
        permutation: &'a [u32],
    ) -> Self {
        let known = Known::default();
        Equivariance { system, lens, sorts, instances, permutation, known, at: None, span: None }
    }

    fn conflict<X>(&self, why: impl Into<String>) -> Result<X, Conflict> {
        Err(Conflict { why: why.into(), span: self.span })
    }

    fn owner(&self) -> Option<ProcessId> {
        self.at.map(|id| self.instances.processes[id as usize].process)
    }

    fn sort(&self, holder: Holder) -> Option<Sort> {
        self.sorts.sort(holder)
    }

    /// The values and processes that the permutation and the parameters of processes say something of.
    pub fn begin(&mut self) -> Checked {
        let process = self.sort(Holder::Process);
        for (from, to) in self.permutation.iter().enumerate() {
            self.maps_to(process, from as i64, (*to).into(), "process ids")?;
        }
        for (from, to) in self.permutation.iter().enumerate() {
            let (one, other) = (&self.instances.processes[from], &self.instances.processes[*to as usize]);
            for ((variable, slot), value) in &one.constants {
                let image = other.constants.get(&(*variable, *slot)).copied();
                let parts = &slots(self.system, Some(one.process), *variable)[*slot as usize];
                let declared = &self.system.process(one.process).locals[variable.index()];
                self.span = declared.span;
                if !parts.subscripts.is_empty() {
                    continue;
                }
                let Some(image) = image else { continue };
                self.maps_to(self.sort(parts.cell), *value, image, &format!("values of `{}`", declared.name))?;
            }
        }
        self.span = None;
        self.own_channels()
    }

    /// The channels of a process go where the process goes.
    fn own_channels(&mut self) -> Checked {
        let count = |process| i64::from(crate::unfold::own_channels(self.system, process));
        let owned: i64 = self.instances.processes.iter().map(|instance| count(instance.process)).sum();
        let mut first = vec![self.instances.channels.len() as i64 - owned + 1];
        for instance in &self.instances.processes {
            first.push(first[first.len() - 1] + count(instance.process));
        }
        for (from, to) in self.permutation.iter().enumerate() {
            for at in 0..count(self.instances.processes[from].process) {
                let (one, other) = (first[from] + at, first[*to as usize] + at);
                self.maps_to(self.sort(Holder::Channel), one, other, "channels of processes")?;
            }
        }
        Ok(())
    }

    /// The value of that sort becomes that one.
    fn maps_to(&mut self, sort: Option<Sort>, from: i64, to: i64, what: &str) -> Checked {
        let Some(sort) = sort else {
            return if from == to { Ok(()) } else { self.conflict(format!("{from} is not {to}")) };
        };
        let map = self.known.maps.entry(sort).or_default();
        match map.get(&from) {
            Some(known) if *known != to => {
                let known = *known;
                let why = format!("{what}: {from} would have to become {known} as well as {to}");
                // Who tells processes apart names one value for all of them.
                match self.known.stays.get(&(sort, from)) {
                    Some(span) if known == from => Err(Conflict { why, span: *span }),
                    _ => self.conflict(why),
                }
            }
            Some(_) => Ok(()),
            None => {
                map.insert(from, to);
                if from == to {
                    self.known.stays.insert((sort, from), self.span);
                }
                Ok(())
            }
        }
    }

    /// The values of the sort must stay what they are.
    fn fix(&mut self, sort: Option<Sort>, why: &str) {
        if let Some(sort) = sort {
            self.known.fixed.entry(sort).or_insert_with(|| (why.to_owned(), self.span));
        }
    }

    /// What must hold of the maps as a whole.
    pub fn validate(&self) -> Checked {
        for (sort, map) in &self.known.maps {
            let mut images: Vec<i64> = map.values().copied().collect();
            images.sort_unstable();
            let is_same = images.iter().eq(map.keys());
            let moves = map.iter().any(|(from, to)| from != to);
            if !is_same {
                return Err(Conflict { why: "not every value goes to another one and back".into(), span: None });
            }
            if let (true, Some((why, span))) = (moves, self.known.fixed.get(sort)) {
                return Err(Conflict { why: why.clone(), span: *span });
            }
        }
        let moved = |sort: &Sort| {
            self.known.maps.get(sort).into_iter().flatten().filter(|(from, to)| from != to).map(|(from, _)| *from)
        };
        for (sort, scalar, span) in &self.known.fits {
            if let Some(value) = moved(sort).find(|value| scalar.fit(*value) != Some(*value)) {
                let why = format!("a variable of this type has no room for {value}");
                return Err(Conflict { why, span: *span });
            }
        }
        for (sort, length, span) in &self.known.lengths {
            let map = self.known.maps.get(sort);
            let is_inside = |value: &i64| (0..i64::from(*length)).contains(value);
            if map.into_iter().flatten().any(|(from, to)| is_inside(from) != is_inside(to)) {
                let why = "one of the processes has no element in this array".into();
                return Err(Conflict { why, span: *span });
            }
        }
        Ok(())
    }

    /// Elements of arrays of channels that nobody assigns go where their channels go.
    fn arrays_of_channels(&mut self) -> Checked {
        let channel = self.sort(Holder::Channel);
        for (number, variable) in self.system.globals.iter().enumerate() {
            let slots = slots(self.system, None, number.into());
            let is_array =
                |parts: &super::sorts::SlotParts| self.sort(parts.cell) == channel && parts.subscripts.len() == 1;
            if self.lens.is_assigned(number.into()) || !slots.iter().all(is_array) {
                continue;
            }
            let first: u32 = self.system.globals[..number].iter().map(|before| self.system.slots(&before.ty)).sum();
            let handles = &self.instances.globals[first as usize..][..slots.len()];
            let map = channel.and_then(|sort| self.known.maps.get(&sort)).cloned().unwrap_or_default();
            for (at, handle) in handles.iter().enumerate() {
                let Some(to) = map.get(handle).and_then(|to| handles.iter().position(|other| other == to)) else {
                    continue;
                };
                self.span = variable.span;
                let what = format!("elements of `{}`", variable.name);
                self.maps_to(self.sort(slots[at].subscripts[0].0), at as i64, to as i64, &what)?;
            }
        }
        Ok(())
    }

    /// Global variables that nobody assigns are what they are, and stay so when their elements move: who analyses the system, such
    /// as a partial-order reduction, relies on that in every state.
    pub fn constants(&mut self) -> Checked {
        self.arrays_of_channels()?;
        for (number, variable) in self.system.globals.iter().enumerate() {
            if self.lens.is_assigned(number.into()) {
                continue;
            }
            let slots = slots(self.system, None, number.into());
            let first: u32 = self.system.globals[..number].iter().map(|before| self.system.slots(&before.ty)).sum();
            let value = |slot: u32| self.instances.globals[(first + slot) as usize];
            for (slot, parts) in slots.iter().enumerate() {
                let target = self.target(slot as u32, &parts.subscripts);
                let Ok(target) = u32::try_from(target) else { continue };
                if (target as usize) < slots.len() {
                    self.span = variable.span;
                    let what = format!("elements of `{}`, which never change", variable.name);
                    self.maps_to(self.sort(parts.cell), value(slot as u32), value(target), &what)?;
                }
            }
        }
        self.local_arrays()?;
        self.span = None;
        self.channels()
    }

    /// The same of arrays of processes.
    fn local_arrays(&mut self) -> Checked {
        for (from, to) in self.permutation.iter().enumerate() {
            let (one, other) = (&self.instances.processes[from], &self.instances.processes[*to as usize]);
            for ((variable, slot), value) in &one.constants {
                let parts = &slots(self.system, Some(one.process), *variable)[*slot as usize];
                if parts.subscripts.is_empty() {
                    continue;
                }
                let target = self.target(*slot, &parts.subscripts);
                let image =
                    u32::try_from(target).ok().and_then(|slot| other.constants.get(&(*variable, slot)).copied());
                let declared = &self.system.process(one.process).locals[variable.index()];
                self.span = declared.span;
                let Some(image) = image else {
                    return self.conflict("one of the processes has no element in this array");
                };
                let what = format!("elements of `{}`, which never change", declared.name);
                self.maps_to(self.sort(parts.cell), *value, image, &what)?;
            }
        }
        Ok(())
    }

    /// The slot where the value of a slot goes.
    fn target(&self, slot: u32, subscripts: &[(Holder, u32, u32)]) -> i64 {
        let mut target = i64::from(slot);
        for (holder, at, stride) in subscripts {
            let map = self.sort(*holder).and_then(|sort| self.known.maps.get(&sort));
            let to = map.and_then(|map| map.get(&i64::from(*at)).copied()).unwrap_or((*at).into());
            target += (to - i64::from(*at)) * i64::from(*stride);
        }
        target
    }

    /// Channels that take each other's place are of the same kind.
    fn channels(&mut self) -> Checked {
        let Some(map) = self.sort(Holder::Channel).and_then(|sort| self.known.maps.get(&sort)) else { return Ok(()) };
        for (from, to) in map {
            if from == to {
                continue;
            }
            let kind = |handle: &i64| {
                let index = usize::try_from(*handle).ok()?.checked_sub(1)?;
                self.instances.channels.get(index).copied()
            };
            let (Some(one), Some(other)) = (kind(from), kind(to)) else {
                return Err(Conflict { why: "a value that is no channel takes the place of one".into(), span: None });
            };
            if one == other {
                continue;
            }
            let (first, second) = (&self.system.channels[one.index()], &self.system.channels[other.index()]);
            let field = |kind: u32, number: usize| self.sort(Holder::Field(kind, number as u32));
            let is_alike = first.capacity == second.capacity
                && first.fields == second.fields
                && (0..first.fields.len()).all(|number| field(one.0, number) == field(other.0, number));
            if !is_alike {
                let why = format!("channels `{}` and `{}` are not of the same kind", first.name, second.name);
                return Err(Conflict { why, span: first.span });
            }
        }
        Ok(())
    }

    /// An edge of a process.
    pub fn edge(&mut self, process: u32, edge: &Edge) -> Checked {
        self.at = Some(process);
        self.span = edge.span;
        if edge.action.is_some() {
            return self.conflict("an action that several processes take together");
        }
        let ends = edge.ends_process();
        for conjunct in &edge.guard {
            if ends && *conjunct == youngest() {
                continue;
            }
            self.expect(conjunct, None)?;
        }
        if let Some(communication) = &edge.communication {
            self.communication(communication)?;
        }
        for instruction in &edge.effect {
            if let Instruction::Do(action) | Instruction::Try(action, _) = instruction {
                self.action(action)?;
            }
        }
        Ok(())
    }

    /// The condition under which a process moves.
    pub fn provided(&mut self, process: u32, condition: &Expr) -> Checked {
        self.at = Some(process);
        self.span = self.owner().and_then(|owner| self.system.process(owner).span);
        self.expect(condition, None)
    }

    /// An expression of a property.
    pub fn observed(&mut self, expr: &Expr) -> Checked {
        self.at = None;
        self.span = None;
        self.expect(expr, None)
    }

    fn action(&mut self, action: &Action) -> Checked {
        match action {
            Action::Test(condition) | Action::Assert { condition, .. } => self.expect(condition, None),
            Action::Assign(place, value) => self.assign(place, value),
            Action::AssignAll(pairs) => pairs.iter().try_for_each(|(place, value)| self.assign(place, value)),
            Action::AssignField(parts) => {
                let (object, field, value) = &**parts;
                self.copied(object)?;
                field.indices.iter().try_for_each(|index| self.expect(&index.at, None))?;
                self.expect(value, self.sort(Holder::Heap(field.record.0, field.offset)))
            }
            Action::Allocate(place, _) => self.place(place, self.owner()),
            Action::Communicate(communication) => self.communication(communication),
            Action::Spawn { .. } => self.conflict("a process is created"),
            Action::SetPriority(..) => self.conflict("a priority is set"),
            Action::Print { .. } | Action::End => Ok(()),
        }
    }

    fn assign(&mut self, place: &Place, value: &Expr) -> Checked {
        self.place(place, self.owner())?;
        let sort = self.sort(parts(self.system, self.owner(), place).cell);
        self.fits(sort, place.scalar);
        self.expect(value, sort)
    }

    fn fits(&mut self, sort: Option<Sort>, scalar: Scalar) {
        if let Some(sort) = sort {
            self.known.fits.push((sort, scalar, self.span));
        }
    }

    fn kinds(&self, channel: &Expr) -> Vec<u32> {
        match self.owner().and_then(|owner| self.lens.kinds(owner, channel)) {
            Some(kinds) => kinds.into_iter().map(|kind| kind.0).collect(),
            None => (0..self.system.channels.len() as u32).collect(),
        }
    }

    fn communication(&mut self, communication: &Communication) -> Checked {
        let channel = communication.channel();
        self.expect(channel, self.sort(Holder::Channel))?;
        let kinds = self.kinds(channel);
        let field =
            |this: &Self, number: usize| kinds.iter().find_map(|kind| this.sort(Holder::Field(*kind, number as u32)));
        match communication {
            Communication::Send { values, sorted, .. } => {
                for (number, value) in values.iter().enumerate() {
                    let sort = field(self, number);
                    if *sorted {
                        self.fix(sort, "messages are sorted by this value");
                    }
                    for kind in &kinds {
                        if let Some(scalar) = self.system.channels[*kind as usize].fields.get(number) {
                            self.fits(sort, *scalar);
                        }
                    }
                    self.expect(value, sort)?;
                }
            }
            Communication::Receive { patterns, .. } => {
                for (number, pattern) in patterns.iter().enumerate() {
                    let sort = field(self, number);
                    self.pattern(pattern, sort, true)?;
                }
            }
        }
        Ok(())
    }

    fn pattern(&mut self, pattern: &Pattern, sort: Option<Sort>, binds: bool) -> Checked {
        match pattern {
            Pattern::Match(expr) => self.expect(expr, sort),
            Pattern::Bind(place) if binds => {
                self.fits(sort, place.scalar);
                self.place(place, self.owner())
            }
            Pattern::Bind(_) | Pattern::Ignore => Ok(()),
        }
    }

    /// The subscripts of a place.
    fn place(&mut self, place: &Place, owner: Option<ProcessId>) -> Checked {
        for (holder, length, subscript) in parts(self.system, owner, place).subscripts {
            let sort = self.sort(holder);
            if let Some(sort) = sort {
                self.known.lengths.push((sort, length, self.span));
            }
            match subscript {
                Subscript::Fixed(at) => {
                    let variables = super::sorts::variables(self.system, owner.filter(|_| place.scope == Scope::Local));
                    let what = format!("elements of `{}`", variables[place.variable.index()].name);
                    self.maps_to(sort, at, at, &what)?;
                }
                Subscript::Given(at) => self.expect(at, sort)?,
            }
        }
        Ok(())
    }

    /// A value that is only passed on: of whatever sort it is.
    fn copied(&mut self, expr: &Expr) -> Checked {
        let sort = Sorts::copied(self.system, self.owner(), expr).and_then(|holder| self.sort(holder));
        self.expect(expr, sort)
    }

    /// The value of the expression is of that sort, or of one whose values stay what they are.
    fn expect(&mut self, expr: &Expr, sort: Option<Sort>) -> Checked {
        if let Some(at) = self.at {
            let other = self.permutation[at as usize];
            if let (Some(one), Some(other)) =
                (self.instances.value(expr, Some(at)), self.instances.value(expr, Some(other)))
            {
                return self.maps_to(sort, one, other, "this value");
            }
        } else if let Some(value) = self.instances.value(expr, None) {
            return self.maps_to(sort, value, value, "this value");
        }
        match expr {
            Expr::Const(value) => self.maps_to(sort, *value, *value, "this number"),
            Expr::Shared(x) => self.expect(x, sort),
            Expr::Read(place) => {
                let owner = self.owner();
                self.place(place, owner)?;
                self.same(parts(self.system, owner, place).cell, sort);
                Ok(())
            }
            Expr::Cast(scalar, x) => {
                self.fits(sort, *scalar);
                self.expect(x, sort)
            }
            Expr::Conditional(condition, x, y) => {
                self.expect(condition, None)?;
                self.expect(x, sort)?;
                self.expect(y, sort)
            }
            Expr::Binary(BinaryOp::Equal | BinaryOp::NotEqual, x, y) => {
                self.fix(sort, "the result of a comparison is used as a value");
                let owner = self.owner();
                let copied = |x: &Expr| Sorts::copied(self.system, owner, x).and_then(|holder| self.sort(holder));
                let compared = copied(x).or_else(|| copied(y));
                self.expect(x, compared)?;
                self.expect(y, compared)
            }
            Expr::Unary(_, x) => {
                self.fix(sort, "the result of a computation is used as a value");
                self.expect(x, None)
            }
            Expr::Binary(_, x, y) => {
                self.fix(sort, "the result of a computation is used as a value");
                self.expect(x, None)?;
                self.expect(y, None)
            }
            Expr::ProcessCount => {
                self.fix(sort, "the number of processes is used as a value");
                self.known.sees.count = true;
                Ok(())
            }
            Expr::Timeout | Expr::Blocked(_) | Expr::NonProgress | Expr::Accepting => {
                self.fix(sort, "a condition is used as a value");
                Ok(())
            }
            Expr::Enabled(x) | Expr::LocationOf(x) | Expr::Priority(x) => {
                self.fix(sort, "a number that says something of a process is used as a value");
                self.known.sees.standing = true;
                self.expect(x, self.sort(Holder::Process))
            }
            Expr::At { process, of, .. } => {
                self.fix(sort, "a condition is used as a value");
                self.known.sees.standing = true;
                self.one_of(process.as_deref(), *of)
            }
            Expr::Remote { process, of, place } => {
                self.known.sees.standing = true;
                self.one_of(process.as_deref(), *of)?;
                self.place(place, Some(*of))?;
                self.same(parts(self.system, Some(*of), place).cell, sort);
                Ok(())
            }
            Expr::Length(x) | Expr::Full(x) => {
                self.fix(sort, "a number of messages is used as a value");
                self.expect(x, self.sort(Holder::Channel))
            }
            Expr::Poll { channel, patterns, .. } => {
                self.fix(sort, "a condition is used as a value");
                self.expect(channel, self.sort(Holder::Channel))?;
                let kinds = self.kinds(channel);
                for (number, pattern) in patterns.iter().enumerate() {
                    let field = kinds.iter().find_map(|kind| self.sort(Holder::Field(*kind, number as u32)));
                    self.pattern(pattern, field, false)?;
                }
                Ok(())
            }
            Expr::Field(object, field) => {
                self.copied(object)?;
                field.indices.iter().try_for_each(|index| self.expect(&index.at, None))?;
                self.same(Holder::Heap(field.record.0, field.offset), sort);
                Ok(())
            }
            Expr::SelfId => self.conflict("a property asks for the id of a process"),
            Expr::LastMover => self.conflict("it is seen which process moved last"),
            Expr::Next(_) => self.conflict("a value of a joint step"),
        }
    }

    /// A process that an expression names, or the first one of its type.
    fn one_of(&mut self, process: Option<&Expr>, of: ProcessId) -> Checked {
        if let Some(process) = process {
            return self.expect(process, self.sort(Holder::Process));
        }
        let moves = |(id, instance): (usize, &super::instances::Instance)| {
            instance.process == of && self.permutation[id] as usize != id
        };
        if self.instances.processes.iter().enumerate().any(moves) {
            return self.conflict(format!("the first process of type {} is meant", self.system.process(of).name));
        }
        Ok(())
    }

    /// The value of the holder is where one of that sort is expected.
    fn same(&mut self, holder: Holder, sort: Option<Sort>) {
        let own = self.sort(holder);
        if own != sort {
            let why = "this value is used in another way than to be copied, compared for equality or as a subscript";
            self.fix(own, why);
            self.fix(sort, why);
        }
    }
}

impl From<Conflict> for Refusal {
    fn from(conflict: Conflict) -> Refusal {
        Refusal { why: conflict.why, span: conflict.span }
    }
}
