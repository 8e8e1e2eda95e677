//! Which values the cells of a system can have, in whatever order its steps are taken.
//!
//! An interval analysis that does not look at control flow: a cell has its first values and all that is ever assigned to
//! it, received into it or passed to it, where the elements of an array count as one cell, and so do the messages of all
//! channels of a kind. Zero is a value of every cell, so that a cell may be reset. Intervals that go on growing are widened
//! to the next power of two, since what is asked for is how many bits a cell needs.

use std::collections::HashSet;

use ample_budget::{Interrupted, Pace};

use super::bounds::Bounds;
use crate::expr::{Expr, Pattern, Place, Scope, Shared};
use crate::system::{Action, Communication, Initial, Scalar, System, Type, Variable};
use crate::visit::{Visitor, walk_action};

/// So often an interval grows by just what was met.
const EXACT: u32 = 4;

/// So many rounds are made before everything that still grows is given its whole type.
const ROUNDS: usize = 100;

/// Kinds of channels, by their numbers; the last bit stands for all whose number is larger.
type Kinds = u64;

const ALL_KINDS: Kinds = Kinds::MAX;

fn kind_bit(kind: usize) -> Kinds {
    1 << kind.min(63)
}

/// What is known about a cell.
#[derive(Clone, Copy, Debug)]
struct Fact {
    scalar: Scalar,
    values: Bounds,
    /// The kinds of the channels that it may name.
    kinds: Kinds,
    /// How often it grew.
    grown: u32,
}

impl Fact {
    fn new(scalar: Scalar) -> Fact {
        Fact { scalar, values: Bounds::new(0, 0), kinds: 0, grown: 0 }
    }

    /// Takes in what is stored; true if that is new.
    fn store(&mut self, values: Bounds, kinds: Kinds) -> bool {
        let joined = self.values.join(values.stored(self.scalar));
        let is_new = joined != self.values || self.kinds | kinds != self.kinds;
        self.kinds |= kinds;
        if joined != self.values {
            self.grown += 1;
            self.values = if self.grown > EXACT { joined.widened(Bounds::of(self.scalar)) } else { joined };
        }
        is_new
    }
}

/// The cells of variables: the leaves of their types.
#[derive(Clone, Debug, Default)]
struct Cells {
    /// By variable and slot.
    leaves: Vec<Vec<u32>>,
    facts: Vec<Fact>,
}

impl Cells {
    fn of(system: &System, variables: &[Variable]) -> Cells {
        let mut cells = Cells::default();
        for variable in variables {
            let mut slots = Vec::new();
            cells.add(system, &variable.ty, &mut slots);
            cells.leaves.push(slots);
        }
        cells
    }

    fn add(&mut self, system: &System, ty: &Type, slots: &mut Vec<u32>) {
        match ty {
            Type::Scalar(scalar) => {
                slots.push(self.facts.len() as u32);
                self.facts.push(Fact::new(*scalar));
            }
            Type::Record(record) => {
                system.records[record.index()].fields.iter().for_each(|(_, ty)| self.add(system, ty, slots));
            }
            Type::Array { element, length } => {
                let start = slots.len();
                self.add(system, element, slots);
                let size = slots.len() - start;
                for _ in 1..*length {
                    slots.extend_from_within(start..start + size);
                }
            }
        }
    }

    fn leaf(&self, variable: usize, slot: u32) -> Option<usize> {
        self.leaves.get(variable)?.get(slot as usize).map(|leaf| *leaf as usize)
    }
}

/// A cell that is stored to: a global variable's, or one of a process type, with the number of its leaf.
#[derive(Clone, Copy, Debug)]
struct Target(Option<usize>, usize);

/// Something that stores a value.
enum Store<'a> {
    /// An expression, which a process of that type evaluates.
    Value(Option<usize>, Target, &'a Expr),
    /// Sends that expression in that field, over that channel.
    Send(usize, &'a Expr, usize, &'a Expr),
    /// Receives that field from that channel.
    Receive(usize, &'a Expr, usize, Target),
    /// Whatever the type allows.
    Anything(Target),
}

/// Which values the cells of a system can have.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    globals: Cells,
    /// By process type.
    locals: Vec<Cells>,
    /// By kind of channel: the fields of its messages.
    messages: Vec<Vec<Fact>>,
    /// Global variables that keep their first value.
    constants: Vec<bool>,
    /// So many processes may be alive.
    processes: Bounds,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds::ANY
    }
}

impl Ranges {
    /// Analyses a system of processes.
    pub fn of(system: &System, pace: &mut Pace<'_>) -> Result<Ranges, Interrupted> {
        let messages = system.channels.iter().map(|kind| kind.fields.iter().map(|field| Fact::new(*field)).collect());
        let mut ranges = Ranges {
            globals: Cells::of(system, &system.globals),
            locals: system.processes.iter().map(|process| Cells::of(system, &process.locals)).collect(),
            messages: messages.collect(),
            constants: Vec::new(),
            processes: Bounds::ANY,
        };
        let Stored { list, spawns, written } = Stored::of(system, &ranges);
        let is_choice = |initial: &Initial| matches!(initial, Initial::AnyOf(_) | Initial::Between(..));
        ranges.constants = (system.globals.iter().enumerate())
            .map(|(number, variable)| {
                !written.contains(&number) && !variable.initial.iter().any(|(_, initial)| is_choice(initial))
            })
            .collect();
        let most = if spawns { system.max_processes.min(255) as usize } else { system.start.len() };
        ranges.processes = Bounds::new(0, most.max(system.start.len()) as i64);
        ranges.start(system, spawns);
        for round in 0.. {
            pace.steps(list.len())?;
            let mut is_new = false;
            for store in &list {
                is_new |= ranges.apply(store, round >= ROUNDS);
            }
            if !is_new {
                break;
            }
        }
        Ok(ranges)
    }

    /// The values of a cell of a global variable.
    pub fn global(&self, variable: usize, slot: usize) -> (i64, i64) {
        Ranges::values(&self.globals, variable, slot)
    }

    /// The values of a cell of a process of that type.
    pub fn local(&self, process: usize, variable: usize, slot: usize) -> (i64, i64) {
        self.locals.get(process).map_or((i64::MIN, i64::MAX), |cells| Ranges::values(cells, variable, slot))
    }

    /// The values of a field in the messages of channels of that kind.
    pub fn field(&self, channel: usize, field: usize) -> (i64, i64) {
        let fact = self.messages.get(channel).and_then(|fields| fields.get(field));
        fact.map_or((i64::MIN, i64::MAX), |fact| fact.values.ends())
    }

    /// No step changes that global variable, and it has one first value.
    pub fn is_constant(&self, variable: usize) -> bool {
        self.constants.get(variable).copied().unwrap_or(false)
    }

    fn values(cells: &Cells, variable: usize, slot: usize) -> (i64, i64) {
        let leaf = cells.leaf(variable, slot as u32);
        leaf.map_or((i64::MIN, i64::MAX), |leaf| cells.facts[leaf].values.ends())
    }

    /// First values that are no expressions.
    fn start(&mut self, system: &System, spawns: bool) {
        let own = |variables: &[Variable]| {
            let initials = variables.iter().flat_map(|variable| &variable.initial);
            initials.filter(|(_, initial)| matches!(initial, Initial::Channel(_))).count()
        };
        let mut locals = system.processes.iter().map(|process| own(&process.locals));
        let of_processes = if spawns && locals.any(|own| own > 0) {
            255
        } else {
            system.start.iter().map(|instance| own(&system.process(instance.process).locals)).sum()
        };
        let handles = Bounds::new(0, (own(&system.globals) + of_processes) as i64);
        let types = system.processes.iter().map(|process| &process.locals);
        let all = std::iter::once(&mut self.globals).chain(&mut self.locals);
        for (cells, variables) in all.zip(std::iter::once(&system.globals).chain(types)) {
            for (number, variable) in variables.iter().enumerate() {
                for (slot, initial) in &variable.initial {
                    let Some(leaf) = cells.leaf(number, *slot) else { continue };
                    let fact = &mut cells.facts[leaf];
                    match initial {
                        Initial::Value(_) => {}
                        Initial::Channel(kind) => {
                            fact.store(handles, kind_bit(kind.index()));
                        }
                        Initial::AnyOf(values) => values.iter().for_each(|value| {
                            fact.store(Bounds::new(*value, *value), ALL_KINDS);
                        }),
                        Initial::Between(low, high) => {
                            fact.store(Bounds::new(*low, *high), ALL_KINDS);
                        }
                    }
                }
            }
        }
        for instance in &system.start {
            let cells = &mut self.locals[instance.process.index()];
            let parameters = system.process(instance.process).parameters as usize;
            let leaves: Vec<u32> = cells.leaves.iter().take(parameters).flatten().copied().collect();
            for (leaf, value) in leaves.into_iter().zip(&instance.arguments) {
                cells.facts[leaf as usize].store(Bounds::new(*value, *value), ALL_KINDS);
            }
        }
    }

    /// Takes in what is stored; true if that is new. At last, anything of its type.
    fn apply(&mut self, store: &Store<'_>, at_last: bool) -> bool {
        let anything = |values: Bounds| if at_last { Bounds::ANY } else { values };
        match store {
            Store::Anything(target) => self.fact(*target).is_some_and(|fact| fact.store(Bounds::ANY, ALL_KINDS)),
            Store::Value(owner, target, value) => {
                let (values, kinds) = (self.evaluate(*owner, value), self.kinds(*owner, value));
                self.fact(*target).is_some_and(|fact| fact.store(anything(values), kinds))
            }
            Store::Send(owner, channel, field, value) => {
                let over = self.kinds(Some(*owner), channel);
                let (values, kinds) = (self.evaluate(Some(*owner), value), self.kinds(Some(*owner), value));
                let mut is_new = false;
                for (number, fields) in self.messages.iter_mut().enumerate() {
                    if over & kind_bit(number) != 0
                        && let Some(fact) = fields.get_mut(*field)
                    {
                        is_new |= fact.store(anything(values), kinds);
                    }
                }
                is_new
            }
            Store::Receive(owner, channel, field, target) => {
                let from = self.kinds(Some(*owner), channel);
                let kinds = (0..self.messages.len()).filter(|number| from & kind_bit(*number) != 0);
                let facts = kinds.filter_map(|number| self.messages[number].get(*field));
                let met = facts.map(|fact| (fact.values, fact.kinds)).reduce(|x, y| (x.0.join(y.0), x.1 | y.1));
                let Some((values, kinds)) = met else { return false };
                self.fact(*target).is_some_and(|fact| fact.store(anything(values), kinds))
            }
        }
    }

    fn fact(&mut self, Target(owner, leaf): Target) -> Option<&mut Fact> {
        let cells = match owner {
            None => &mut self.globals,
            Some(process) => self.locals.get_mut(process)?,
        };
        cells.facts.get_mut(leaf)
    }

    fn read(&self, owner: Option<usize>, place: &Place) -> Option<&Fact> {
        let cells = match place.scope {
            Scope::Global => &self.globals,
            Scope::Local => self.locals.get(owner?)?,
        };
        cells.leaf(place.variable.index(), place.offset).map(|leaf| &cells.facts[leaf])
    }

    /// Between which values an expression lies that a process of that type evaluates.
    fn evaluate(&self, owner: Option<usize>, expr: &Expr) -> Bounds {
        Bounds::of_expr_by(expr, &|part| match part {
            Expr::Read(place) | Expr::Next(place) => self.read(owner, place).map(|fact| fact.values),
            Expr::Remote { of, place, .. } => self.read(Some(of.index()), place).map(|fact| fact.values),
            Expr::SelfId | Expr::ProcessCount | Expr::LastMover => Some(self.processes),
            _ => None,
        })
    }

    /// The kinds of the channels that it may name.
    fn kinds(&self, owner: Option<usize>, expr: &Expr) -> Kinds {
        match expr {
            Expr::Const(0) => 0,
            Expr::Read(place) => self.read(owner, place).map_or(ALL_KINDS, |fact| fact.kinds),
            Expr::Conditional(_, x, y) => self.kinds(owner, x) | self.kinds(owner, y),
            _ => ALL_KINDS,
        }
    }
}

/// All that stores values.
#[derive(Default)]
struct Stored<'a> {
    list: Vec<Store<'a>>,
    /// Processes are created.
    spawns: bool,
    /// The global variables that are stored to, after they have their first value.
    written: HashSet<usize>,
}

impl<'a> Stored<'a> {
    fn of(system: &'a System, ranges: &Ranges) -> Stored<'a> {
        let mut stored = Stored::default();
        stored.first_values(None, &system.globals, &ranges.globals);
        for (owner, process) in system.processes.iter().enumerate() {
            stored.first_values(Some(owner), &process.locals, &ranges.locals[owner]);
            let mut collector = Collector { system, ranges, owner, stored: &mut stored };
            process.edges.iter().for_each(|edge| collector.edge(edge));
        }
        stored
    }

    fn first_values(&mut self, owner: Option<usize>, variables: &'a [Variable], cells: &Cells) {
        for (number, variable) in variables.iter().enumerate() {
            for (slot, initial) in &variable.initial {
                if let Initial::Value(value) = initial
                    && let Some(leaf) = cells.leaf(number, *slot)
                {
                    self.list.push(Store::Value(owner, Target(owner, leaf), value));
                }
            }
        }
    }
}

/// Collects what the edges of a process type store.
struct Collector<'a, 's, 'r> {
    system: &'a System,
    ranges: &'r Ranges,
    owner: usize,
    stored: &'s mut Stored<'a>,
}

impl<'a> Collector<'a, '_, '_> {
    fn target(&mut self, place: &Place) -> Option<Target> {
        let (owner, cells) = match place.scope {
            Scope::Global => (None, &self.ranges.globals),
            Scope::Local => (Some(self.owner), &self.ranges.locals[self.owner]),
        };
        if owner.is_none() {
            self.stored.written.insert(place.variable.index());
        }
        cells.leaf(place.variable.index(), place.offset).map(|leaf| Target(owner, leaf))
    }

    fn assign(&mut self, place: &Place, value: &'a Expr) {
        if let Some(target) = self.target(place) {
            self.stored.list.push(Store::Value(Some(self.owner), target, value));
        }
    }
}

impl<'a> Visitor<'a> for Collector<'a, '_, '_> {
    fn action(&mut self, action: &'a Action) {
        match action {
            Action::Assign(place, value) => self.assign(place, value),
            Action::AssignAll(pairs) => pairs.iter().for_each(|(place, value)| self.assign(place, value)),
            // Who has objects has references, which are any.
            Action::Allocate(place, _) => {
                if let Some(target) = self.target(place) {
                    self.stored.list.push(Store::Anything(target));
                }
            }
            Action::Spawn { process, arguments, .. } => {
                self.stored.spawns = true;
                let parameters = self.system.process(*process).parameters as usize;
                let leaves = self.ranges.locals[process.index()].leaves.iter().take(parameters).flatten();
                for (leaf, value) in leaves.zip(arguments) {
                    let target = Target(Some(process.index()), *leaf as usize);
                    self.stored.list.push(Store::Value(Some(self.owner), target, value));
                }
            }
            Action::Communicate(_)
            | Action::Test(_)
            | Action::AssignField(_)
            | Action::Assert { .. }
            | Action::Print { .. }
            | Action::SetPriority(..)
            | Action::End => walk_action(self, action),
        }
    }

    fn communication(&mut self, communication: &'a Communication) {
        match communication {
            Communication::Send { channel, values, .. } => {
                let sends =
                    values.iter().enumerate().map(|(field, value)| Store::Send(self.owner, channel, field, value));
                self.stored.list.extend(sends);
            }
            Communication::Receive { channel, patterns, .. } => {
                for (field, pattern) in patterns.iter().enumerate() {
                    if let Pattern::Bind(place) = pattern
                        && let Some(target) = self.target(place)
                    {
                        self.stored.list.push(Store::Receive(self.owner, channel, field, target));
                    }
                }
            }
        }
    }

    fn expr(&mut self, _: &'a Expr) {}

    fn shared(&mut self, _: &'a Shared) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interpret::Interpreter;
    use crate::random::{self, Features};
    use ample_budget::Budget;

    /// The cells of variables: number of the variable, slot, value.
    fn cells<'a>(
        system: &'a System,
        variables: &'a [Variable],
        values: &'a [i64],
    ) -> impl Iterator<Item = (usize, usize, i64)> + 'a {
        let slots = variables.iter().enumerate();
        let slots =
            slots.flat_map(|(number, variable)| (0..system.slots(&variable.ty)).map(move |slot| (number, slot)));
        slots.zip(values).map(|((number, slot), value)| (number, slot as usize, *value))
    }

    /// Every value of a state lies between the bounds of its cell.
    #[test]
    fn values_of_random_systems_lie_in_their_ranges() {
        for seed in 0..400 {
            let system = random::system(seed, Features::ALL);
            if system.synchronous().is_some() {
                continue;
            }
            let budget = Budget::unlimited();
            let ranges = Ranges::of(&system, &mut budget.pace()).unwrap();
            let interpreter = Interpreter::new(&system);
            let mut random = ample_random::Random::new(seed);
            let Some(Ok(first)) = interpreter.initial_state(0) else { continue };
            let mut state = first.clone();
            for _ in 0..200 {
                let inside =
                    |value: i64, (low, high): (i64, i64)| assert!(low <= value && value <= high, "seed {seed}");
                for (number, slot, value) in cells(&system, &system.globals, &state.globals) {
                    inside(value, ranges.global(number, slot));
                }
                for (was, is) in
                    cells(&system, &system.globals, &first.globals).zip(cells(&system, &system.globals, &state.globals))
                {
                    assert!(was == is || !ranges.is_constant(was.0), "seed {seed}");
                }
                for process in &state.processes {
                    let of = process.process;
                    for (number, slot, value) in cells(&system, &system.process(of).locals, &process.locals) {
                        inside(value, ranges.local(of.index(), number, slot));
                    }
                }
                for channel in &state.channels {
                    for (field, value) in channel.messages.iter().flat_map(|message| message.iter().enumerate()) {
                        inside(*value, ranges.field(channel.kind.index(), field));
                    }
                }
                let next: Vec<_> =
                    interpreter.successors(&state).into_iter().filter_map(|(_, next)| next.state).collect();
                state = if next.is_empty() { first.clone() } else { next[random.below(next.len())].clone() };
            }
        }
    }
}
