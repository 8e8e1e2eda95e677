//! In which order the cells of a synchronous system get their values.
//!
//! Initial states and joint steps are found in the same manner: cells get values one after the other, by definition or by
//! choice, and every conjunct is evaluated as soon as all cells that it reads have one. A [`Plan`] is that order, computed
//! once for a system, from what its expressions read. Definitions come as soon as they can be computed. If only a choice is
//! left, it is one that a conjunct waits for, the conjunct with the fewest cells to go first; so few candidates are begun
//! that a conjunct refuses in the end. Whoever enumerates goes through the stages and comes back to the latest choice that
//! has another value; whoever replays goes through them once.
//!
//! The plan is part of the meaning in one respect: what a conjunct refuses at one stage is not evaluated in a later one, so
//! that a fault there is none. Who enumerates differently must see to that.

use std::collections::BTreeSet;

use crate::expr::{Expr, Place, Scope, Shared};
use crate::initial::Choice;
use crate::system::{Alternative, Definition, Initial, NextValue, Scalar, Synchronous, System, VariableKind};
use crate::visit::{Seen, Visitor, walk_expr};

/// What a cell belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The current state.
    Current,
    /// The inputs of the step.
    Input,
    /// The next state.
    Next,
}

/// A cell that gets a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// What it belongs to.
    pub part: Part,
    /// Its slot among all global slots.
    pub slot: u32,
    /// Its type.
    pub scalar: Scalar,
}

/// What there is to choose from.
#[derive(Clone, Copy, Debug)]
pub enum Options<'a> {
    /// These values.
    Any(Choice<'a>),
    /// The values of the alternatives whose condition holds, as the cell's type keeps them, each once.
    Alternatives(&'a [Alternative]),
}

/// One thing to do on the way to a state.
#[derive(Clone, Copy, Debug)]
pub enum Stage<'a> {
    /// The cell gets the value of an expression.
    Define(Target, &'a Expr),
    /// The cell gets one of several values.
    Choose(Target, Options<'a>),
    /// What was put together so far is given up unless this holds.
    Require(&'a Expr),
    /// The same, for a conjunct of the invariant about the next state.
    RequireNext(&'a Expr),
}

/// The stages on the way to an initial state or through a joint step.
#[derive(Clone, Debug, Default)]
pub struct Plan<'a> {
    /// One after the other.
    pub stages: Vec<Stage<'a>>,
}

/// Cells whose values depend on each other: by their slots among all global slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circular(pub Vec<u32>);

impl<'a> Plan<'a> {
    /// How the initial states of a synchronous system are found.
    pub fn initial(system: &'a System) -> Result<Plan<'a>, Circular> {
        let Some(synchronous) = system.synchronous() else { return Ok(Plan::default()) };
        let mut planner = Planner::new(system, Phase::Initial);
        for cell in planner.globals() {
            if cell.kind == VariableKind::Input {
                continue;
            }
            let producer = match cell.initial {
                Some(Initial::Value(value)) => Producer::Value(value),
                Some(initial) => match initial.choice() {
                    Some(choice) => Producer::Any(choice),
                    None => continue,
                },
                None => match system.values_of(cell.scalar) {
                    Some(choice) => Producer::Any(choice),
                    None => continue,
                },
            };
            planner.cell(Target { part: Part::Current, slot: cell.slot, scalar: cell.scalar }, producer);
        }
        planner.finish(&synchronous.init, &synchronous.invariant)
    }

    /// How the joint steps of a synchronous system are found.
    pub fn step(system: &'a System) -> Result<Plan<'a>, Circular> {
        let Some(synchronous) = system.synchronous() else { return Ok(Plan::default()) };
        let mut planner = Planner::new(system, Phase::Step);
        let definitions = definitions(system, synchronous);
        let globals = planner.globals();
        for cell in globals.iter().filter(|cell| cell.kind == VariableKind::Input) {
            if let Some(choice) = system.values_of(cell.scalar) {
                let target = Target { part: Part::Input, slot: cell.slot, scalar: cell.scalar };
                planner.cell(target, Producer::Any(choice));
            }
        }
        for cell in globals.iter().filter(|cell| cell.kind == VariableKind::State) {
            let producer = match definitions[cell.slot as usize].map(|definition| &definition.next) {
                Some(NextValue::Function(value)) => Producer::Value(value),
                Some(NextValue::Choice(alternatives)) => Producer::Alternatives(alternatives),
                None => match system.values_of(cell.scalar) {
                    Some(choice) => Producer::Any(choice),
                    None => continue,
                },
            };
            planner.cell(Target { part: Part::Next, slot: cell.slot, scalar: cell.scalar }, producer);
        }
        planner.finish(&synchronous.relations, &synchronous.invariant)
    }
}

/// The definition of every global slot.
fn definitions<'a>(system: &System, synchronous: &'a Synchronous) -> Vec<Option<&'a Definition>> {
    let offsets = offsets(system);
    let count = offsets.last().copied().unwrap_or(0) as usize;
    let mut by_slot = vec![None; count];
    for definition in &synchronous.definitions {
        let first = offsets.get(definition.variable.index()).copied().unwrap_or(u32::MAX);
        if let Some(cell) = by_slot.get_mut(first.saturating_add(definition.slot) as usize) {
            *cell = Some(definition);
        }
    }
    by_slot
}

/// The first slot of every global, and the number of slots.
fn offsets(system: &System) -> Vec<u32> {
    let mut offsets = vec![0u32];
    for variable in &system.globals {
        offsets.push(offsets[offsets.len() - 1].saturating_add(system.slots(&variable.ty)));
    }
    offsets
}

/// What is planned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Initial,
    Step,
}

/// Whence a cell gets its value.
enum Producer<'a> {
    Value(&'a Expr),
    Any(Choice<'a>),
    Alternatives(&'a [Alternative]),
}

/// A global cell.
struct Global<'a> {
    slot: u32,
    scalar: Scalar,
    kind: VariableKind,
    initial: Option<&'a Initial>,
}

struct Cell<'a> {
    target: Target,
    producer: Producer<'a>,
}

struct Planner<'a> {
    system: &'a System,
    phase: Phase,
    offsets: Vec<u32>,
    cells: Vec<Cell<'a>>,
    /// By slot: the cell that stands for its current value, if that is not known from the beginning.
    current: Vec<Option<usize>>,
    /// By slot: the cell that stands for its next value.
    next: Vec<Option<usize>>,
}

/// Something that waits until cells have their values.
struct Waiting {
    /// The cells it reads that have no value yet.
    missing: Vec<usize>,
    left: usize,
}

impl<'a> Planner<'a> {
    fn new(system: &'a System, phase: Phase) -> Planner<'a> {
        let offsets = offsets(system);
        let count = offsets[offsets.len() - 1] as usize;
        Planner { system, phase, offsets, cells: Vec::new(), current: vec![None; count], next: vec![None; count] }
    }

    fn globals(&self) -> Vec<Global<'a>> {
        let mut globals = Vec::new();
        for (variable, first) in self.system.globals.iter().zip(&self.offsets) {
            for (slot, scalar) in (0u32..).zip(self.system.scalars(&variable.ty)) {
                let initial = variable.initial.iter().find(|(listed, _)| *listed == slot).map(|(_, initial)| initial);
                globals.push(Global { slot: first + slot, scalar, kind: variable.kind, initial });
            }
        }
        globals
    }

    fn cell(&mut self, target: Target, producer: Producer<'a>) {
        let table = if target.part == Part::Next { &mut self.next } else { &mut self.current };
        table[target.slot as usize] = Some(self.cells.len());
        self.cells.push(Cell { target, producer });
    }

    fn reads(&self, exprs: &[&'a Expr], of_next_state: bool) -> Waiting {
        let mut reads = Reads { planner: self, of_next_state, cells: BTreeSet::new(), seen: Seen::default() };
        exprs.iter().for_each(|expr| reads.expr(expr));
        let missing: Vec<usize> = reads.cells.into_iter().collect();
        Waiting { left: missing.len(), missing }
    }

    fn finish(self, conditions: &'a [Expr], invariant: &'a [Expr]) -> Result<Plan<'a>, Circular> {
        let of_next = self.phase == Phase::Step;
        let mut conjuncts: Vec<(Stage<'a>, Waiting)> = Vec::new();
        for condition in conditions {
            conjuncts.push((Stage::Require(condition), self.reads(&[condition], false)));
        }
        for condition in invariant {
            let stage = if of_next { Stage::RequireNext(condition) } else { Stage::Require(condition) };
            conjuncts.push((stage, self.reads(&[condition], of_next)));
        }
        let producers: Vec<Waiting> = self.cells.iter().map(|cell| self.needs(&cell.producer)).collect();
        Order::new(&self.cells, producers, conjuncts).stages()
    }

    fn needs(&self, producer: &Producer<'a>) -> Waiting {
        match producer {
            Producer::Value(value) => self.reads(&[value], false),
            Producer::Any(_) => self.reads(&[], false),
            Producer::Alternatives(alternatives) => {
                let exprs = alternatives.iter().flat_map(|one| one.when.iter().chain([&one.value]));
                self.reads(&exprs.collect::<Vec<_>>(), false)
            }
        }
    }
}

/// Collects the cells that an expression may read and that have to get their values first.
struct Reads<'p, 'a> {
    planner: &'p Planner<'a>,
    /// Current values are those of the next state: it is a conjunct of the invariant.
    of_next_state: bool,
    cells: BTreeSet<usize>,
    /// Shared expressions that were looked at.
    seen: Seen<'a>,
}

impl Reads<'_, '_> {
    fn add(&mut self, place: &Place, next: bool) {
        let planner = self.planner;
        let (Scope::Global, Some(first)) = (place.scope, planner.offsets.get(place.variable.index())) else { return };
        let table = if next { &planner.next } else { &planner.current };
        for slot in place.possible_slots() {
            let slot = first.saturating_add(slot) as usize;
            self.cells.extend(table.get(slot).copied().flatten());
        }
    }
}

impl<'a> Visitor<'a> for Reads<'_, 'a> {
    fn expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Read(place) => self.add(place, self.of_next_state),
            Expr::Next(place) => self.add(place, true),
            _ => {}
        }
        walk_expr(self, expr);
    }

    fn shared(&mut self, shared: &'a Shared) {
        if self.seen.is_new(shared) {
            self.expr(shared);
        }
    }
}

/// Puts stages in order.
struct Order<'c, 'a> {
    cells: &'c [Cell<'a>],
    producers: Vec<Waiting>,
    conjuncts: Vec<(Stage<'a>, Waiting)>,
    /// By cell: the producers and the conjuncts that wait for it.
    producers_of: Vec<Vec<usize>>,
    conjuncts_of: Vec<Vec<usize>>,
    known: Vec<bool>,
    /// The conjuncts that wait, those with the fewest cells to go first.
    waiting: BTreeSet<(usize, usize)>,
    /// Definitions that can be computed.
    ready: BTreeSet<usize>,
    /// Cells without a value.
    open: BTreeSet<usize>,
    stages: Vec<Stage<'a>>,
}

impl<'c, 'a> Order<'c, 'a> {
    fn new(cells: &'c [Cell<'a>], producers: Vec<Waiting>, conjuncts: Vec<(Stage<'a>, Waiting)>) -> Order<'c, 'a> {
        let (mut producers_of, mut conjuncts_of) = (vec![Vec::new(); cells.len()], vec![Vec::new(); cells.len()]);
        for (number, producer) in producers.iter().enumerate() {
            producer.missing.iter().for_each(|cell| producers_of[*cell].push(number));
        }
        for (number, (_, conjunct)) in conjuncts.iter().enumerate() {
            conjunct.missing.iter().for_each(|cell| conjuncts_of[*cell].push(number));
        }
        let is_definition = |number: &usize| matches!(cells[*number].producer, Producer::Value(_));
        Order {
            cells,
            known: vec![false; cells.len()],
            waiting: conjuncts.iter().enumerate().map(|(number, (_, conjunct))| (conjunct.left, number)).collect(),
            ready: (0..cells.len()).filter(|cell| producers[*cell].left == 0).filter(is_definition).collect(),
            open: (0..cells.len()).collect(),
            stages: Vec::new(),
            producers,
            conjuncts,
            producers_of,
            conjuncts_of,
        }
    }

    fn stages(mut self) -> Result<Plan<'a>, Circular> {
        loop {
            self.require();
            if let Some(cell) = self.ready.pop_first() {
                self.give(cell);
            } else if let Some(cell) = self.choice()? {
                self.give(cell);
            } else {
                return Ok(Plan { stages: self.stages });
            }
        }
    }

    /// The conjuncts that have all they read.
    fn require(&mut self) {
        while let Some((0, number)) = self.waiting.first().copied() {
            self.waiting.pop_first();
            self.stages.push(self.conjuncts[number].0);
        }
    }

    /// A cell that has a choice: one that the conjunct with the fewest cells to go waits for.
    fn choice(&self) -> Result<Option<usize>, Circular> {
        let Some(first) = self.open.first() else { return Ok(None) };
        let wanted = self.waiting.first().and_then(|(_, number)| self.first_missing(&self.conjuncts[*number].1));
        let mut cell = wanted.unwrap_or(*first);
        let mut path = vec![cell];
        while let Some(before) = self.first_missing(&self.producers[cell]) {
            if let Some(start) = path.iter().position(|other| *other == before) {
                return Err(Circular(path[start..].iter().map(|cell| self.cells[*cell].target.slot).collect()));
            }
            path.push(before);
            cell = before;
        }
        Ok(Some(cell))
    }

    fn first_missing(&self, waiting: &Waiting) -> Option<usize> {
        waiting.missing.iter().copied().find(|cell| !self.known[*cell])
    }

    /// The cell gets its value.
    fn give(&mut self, cell: usize) {
        let Cell { target, producer } = &self.cells[cell];
        self.stages.push(match producer {
            Producer::Value(value) => Stage::Define(*target, value),
            Producer::Any(choice) => Stage::Choose(*target, Options::Any(*choice)),
            Producer::Alternatives(alternatives) => Stage::Choose(*target, Options::Alternatives(alternatives)),
        });
        self.known[cell] = true;
        self.open.remove(&cell);
        for number in &self.conjuncts_of[cell] {
            let waiting = &mut self.conjuncts[*number].1;
            self.waiting.remove(&(waiting.left, *number));
            waiting.left -= 1;
            self.waiting.insert((waiting.left, *number));
        }
        for number in &self.producers_of[cell] {
            let waiting = &mut self.producers[*number];
            waiting.left -= 1;
            if waiting.left == 0 && matches!(self.cells[*number].producer, Producer::Value(_)) {
                self.ready.insert(*number);
            }
        }
    }
}
