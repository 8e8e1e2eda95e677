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

use std::collections::{BTreeSet, HashMap, HashSet};

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

/// A conjunct that waits until cells have their values.
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
        Order::new(&self.cells, Needs::of(&self), conjuncts).stages()
    }
}

impl<'a> Producer<'a> {
    fn expressions(&self) -> Vec<&'a Expr> {
        match self {
            Producer::Value(value) => vec![value],
            Producer::Any(_) => Vec::new(),
            Producer::Alternatives(alternatives) => {
                alternatives.iter().flat_map(|one| one.when.iter().chain([&one.value])).collect()
            }
        }
    }
}

/// What producers wait for: cells, and shared expressions that wait for cells in turn. Each shared expression is looked at
/// once, however many producers wait for it.
///
/// Both have numbers: a producer that of its cell, shared expressions those behind.
#[derive(Default)]
struct Needs {
    /// What each waits for, one behind the other: cells and shared expressions.
    needs: Vec<u32>,
    /// Where the needs of each end.
    ends: Vec<usize>,
    /// How many of them are left.
    left: Vec<u32>,
    /// Who waits for each cell and each shared expression, one behind the other.
    dependents: Vec<u32>,
    /// Where the dependents of each end.
    dependents_end: Vec<usize>,
}

impl Needs {
    fn of(planner: &Planner<'_>) -> Needs {
        let cells = planner.cells.len();
        // By address: the number of a shared expression, or none if it waits for nothing.
        let mut numbers: HashMap<usize, Option<u32>> = HashMap::new();
        let mut of_shared: Vec<Vec<u32>> = Vec::new();
        let mut needs = Needs::default();
        let mut seen = Seen::default();
        for cell in &planner.cells {
            let mut direct = Direct::new(planner);
            cell.producer.expressions().into_iter().for_each(|expr| direct.expr(expr));
            for part in direct.shared.iter().flat_map(|shared| seen.unseen(shared)) {
                let mut inside = Direct::new(planner);
                inside.expr(part);
                let inside = inside.needs(&numbers);
                let number = (!inside.is_empty()).then_some((cells + of_shared.len()) as u32);
                numbers.insert(part.address(), number);
                if number.is_some() {
                    of_shared.push(inside);
                }
            }
            needs.push(&direct.needs(&numbers));
        }
        of_shared.iter().for_each(|inside| needs.push(inside));
        needs.turn_round();
        needs
    }

    fn push(&mut self, needs: &[u32]) {
        self.needs.extend_from_slice(needs);
        self.ends.push(self.needs.len());
        self.left.push(needs.len() as u32);
    }

    /// Who waits, from what each waits for.
    fn turn_round(&mut self) {
        let mut begins = vec![0usize; self.ends.len() + 1];
        for need in &self.needs {
            begins[*need as usize + 1] += 1;
        }
        for number in 1..begins.len() {
            begins[number] += begins[number - 1];
        }
        let mut at = begins.clone();
        self.dependents = vec![0; self.needs.len()];
        for number in 0..self.ends.len() {
            for need in self.range(number) {
                let need = self.needs[need] as usize;
                self.dependents[at[need]] = number as u32;
                at[need] += 1;
            }
        }
        self.dependents_end = begins.split_off(1);
    }

    fn range(&self, number: usize) -> std::ops::Range<usize> {
        range(&self.ends, number)
    }

    /// The cell is known: calls `ready` for every producer that waits for nothing any more.
    fn give(&mut self, cell: usize, cells: usize, mut ready: impl FnMut(usize)) {
        let mut open = vec![cell];
        while let Some(known) = open.pop() {
            for at in range(&self.dependents_end, known) {
                let number = self.dependents[at] as usize;
                self.left[number] -= 1;
                if self.left[number] > 0 {
                    continue;
                }
                if number < cells {
                    ready(number);
                } else {
                    open.push(number);
                }
            }
        }
    }

    /// The first cell without a value that a producer waits for.
    fn first_missing(&self, producer: usize, known: &[bool]) -> Option<usize> {
        if self.left[producer] == 0 {
            return None;
        }
        let (mut seen, mut open, mut first) = (HashSet::new(), vec![producer], None);
        while let Some(number) = open.pop() {
            for need in self.needs[self.range(number)].iter().map(|need| *need as usize) {
                if need < known.len() {
                    first = if known[need] { first } else { Some(first.map_or(need, |first: usize| first.min(need))) };
                } else if self.left[need] > 0 && seen.insert(need) {
                    open.push(need);
                }
            }
        }
        first
    }
}

fn range(ends: &[usize], number: usize) -> std::ops::Range<usize> {
    number.checked_sub(1).map_or(0, |before| ends[before])..ends[number]
}

/// Collects the cells that an expression reads, and the shared expressions inside it, which are not looked into.
struct Direct<'p, 'a> {
    reads: Reads<'p, 'a>,
    shared: Vec<&'a Shared>,
}

impl<'p, 'a> Direct<'p, 'a> {
    fn new(planner: &'p Planner<'a>) -> Direct<'p, 'a> {
        let reads = Reads { planner, of_next_state: false, cells: BTreeSet::new(), seen: Seen::default() };
        Direct { reads, shared: Vec::new() }
    }

    /// The cells, and the numbers of those shared expressions that wait for something.
    fn needs(self, numbers: &HashMap<usize, Option<u32>>) -> Vec<u32> {
        let shared = self.shared.iter().filter_map(|shared| numbers.get(&shared.address()).copied().flatten());
        let mut needs: Vec<u32> = self.reads.cells.iter().map(|cell| *cell as u32).chain(shared).collect();
        needs.sort_unstable();
        needs.dedup();
        needs
    }
}

impl<'a> Visitor<'a> for Direct<'_, 'a> {
    fn expr(&mut self, expr: &'a Expr) {
        self.reads.direct(expr);
        walk_expr(self, expr);
    }

    fn shared(&mut self, shared: &'a Shared) {
        self.shared.push(shared);
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
    /// What the expression itself reads, apart from those inside it.
    fn direct(&mut self, expr: &Expr) {
        match expr {
            Expr::Read(place) => self.add(place, self.of_next_state),
            Expr::Next(place) => self.add(place, true),
            _ => {}
        }
    }

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
        self.direct(expr);
        walk_expr(self, expr);
    }

    fn shared(&mut self, shared: &'a Shared) {
        for part in self.seen.unseen(shared) {
            self.expr(part);
        }
    }
}

/// Puts stages in order.
struct Order<'c, 'a> {
    cells: &'c [Cell<'a>],
    needs: Needs,
    conjuncts: Vec<(Stage<'a>, Waiting)>,
    /// By cell: the conjuncts that wait for it.
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
    fn new(cells: &'c [Cell<'a>], needs: Needs, conjuncts: Vec<(Stage<'a>, Waiting)>) -> Order<'c, 'a> {
        let mut conjuncts_of = vec![Vec::new(); cells.len()];
        for (number, (_, conjunct)) in conjuncts.iter().enumerate() {
            conjunct.missing.iter().for_each(|cell| conjuncts_of[*cell].push(number));
        }
        let is_definition = |number: &usize| matches!(cells[*number].producer, Producer::Value(_));
        Order {
            cells,
            known: vec![false; cells.len()],
            waiting: conjuncts.iter().enumerate().map(|(number, (_, conjunct))| (conjunct.left, number)).collect(),
            ready: (0..cells.len()).filter(|cell| needs.left[*cell] == 0).filter(is_definition).collect(),
            open: (0..cells.len()).collect(),
            stages: Vec::new(),
            needs,
            conjuncts,
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
        while let Some(before) = self.needs.first_missing(cell, &self.known) {
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
        let (cells, ready) = (self.cells, &mut self.ready);
        self.needs.give(cell, cells.len(), |number| {
            if matches!(cells[number].producer, Producer::Value(_)) {
                ready.insert(number);
            }
        });
    }
}
