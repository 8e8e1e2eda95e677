//! Random synchronous systems: inputs, frozen variables, first values that depend on each other, definitions and choices
//! over next values, relations, `init` and an invariant. Small ranges, so that all valuations can be counted.

use ample_random::Random;

use crate::expr::{BinaryOp, Expr, Index, Place, Scope, Shared, UnaryOp};
use crate::system::{
    Alternative, Coupling, Definition, Initial, NextValue, Overflow, Scalar, Synchronous, System, Type, Variable,
    VariableId, VariableKind,
};

const BIT: Scalar = Scalar::BOOL;
const CRUMB: Scalar = Scalar::Int { bits: 2, signed: true };

/// How long the array is.
const LENGTH: u32 = 2;

/// The random synchronous system of that seed. Only if `faults` may steps and initial states be faults.
///
/// ```
/// use ample_model::check::check;
/// use ample_model::interpret::explore;
/// use ample_model::random::synchronous;
///
/// let system = synchronous(42, true);
/// assert!(check(&system).is_ok());
/// assert!(explore(&system, 1000).complete);
/// ```
pub fn synchronous(seed: u64, faults: bool) -> System {
    Maker { random: Random::new(seed), faults, globals: Vec::new(), shared: Vec::new() }.system(seed)
}

/// A cell of a global variable.
#[derive(Clone, Copy)]
struct Cell {
    variable: usize,
    slot: u32,
}

/// What an expression may read.
#[derive(Clone, Copy)]
struct Reads<'a> {
    current: &'a [Cell],
    next: &'a [Cell],
}

struct Maker {
    random: Random,
    faults: bool,
    globals: Vec<Variable>,
    /// Expressions that may be shared by those that come after them.
    shared: Vec<Expr>,
}

impl Maker {
    fn system(mut self, seed: u64) -> System {
        self.declare();
        let (inputs, states) = (self.cells(VariableKind::Input), self.cells(VariableKind::State));
        let kept: Vec<Cell> = self.cells(VariableKind::Frozen).into_iter().chain(states.iter().copied()).collect();
        self.first_values(&kept);
        let current: Vec<Cell> = kept.iter().chain(&inputs).copied().collect();
        self.shared.clear();
        let definitions = self.definitions(&states, &current);
        let state = Reads { current: &kept, next: &[] };
        let step = Reads { current: &current, next: &kept };
        let parts = Synchronous {
            init: self.conjuncts(&[0, 1, 2], state),
            invariant: self.conjuncts(&[0, 0, 1], state),
            definitions,
            relations: self.conjuncts(&[0, 1, 1, 2], step),
            ..Synchronous::default()
        };
        let coupling = Coupling::Synchronous(parts);
        System { globals: self.globals, coupling, ..System::new(&format!("random synchronous {seed}"), "random") }
    }

    fn declare(&mut self) {
        let rules: &[Overflow] = if self.faults {
            &[Overflow::Wrap, Overflow::Saturate, Overflow::Fault]
        } else {
            &[Overflow::Wrap, Overflow::Saturate]
        };
        let range = Scalar::Range { low: -1, high: 1, overflow: self.random.pick(rules) };
        let array = Type::Array { element: Box::new(Type::Scalar(BIT)), length: LENGTH };
        let all = [
            ("go", Type::Scalar(BIT), VariableKind::Input),
            ("amount", Type::Scalar(range), VariableKind::Input),
            ("mode", Type::Scalar(BIT), VariableKind::Frozen),
            ("a", Type::Scalar(CRUMB), VariableKind::State),
            ("b", Type::Scalar(BIT), VariableKind::State),
            ("array", array, VariableKind::State),
            ("range", Type::Scalar(range), VariableKind::State),
        ];
        for (name, ty, kind) in all {
            // In any order, and not always all of them.
            if name != "a" && self.random.one_in(4) {
                continue;
            }
            let at = self.random.below(self.globals.len() as u32 + 1) as usize;
            let variable = Variable { name: name.into(), ty, initial: Vec::new(), hidden: false, kind, span: None };
            self.globals.insert(at, variable);
        }
    }

    fn cells(&self, kind: VariableKind) -> Vec<Cell> {
        let variables = self.globals.iter().enumerate().filter(|(_, variable)| variable.kind == kind);
        let cells = variables.flat_map(|(number, variable)| {
            let slots = if matches!(variable.ty, Type::Array { .. }) { LENGTH } else { 1 };
            (0..slots).map(move |slot| Cell { variable: number, slot })
        });
        cells.collect()
    }

    fn shuffled(&mut self, cells: &[Cell]) -> Vec<Cell> {
        let mut order: Vec<Cell> = Vec::new();
        for cell in cells {
            order.insert(self.random.below(order.len() as u32 + 1) as usize, *cell);
        }
        order
    }

    /// A first value depends on those that come before it in some order.
    fn first_values(&mut self, cells: &[Cell]) {
        let order = self.shuffled(cells);
        for (position, cell) in order.iter().enumerate() {
            let low = if self.is_signed(*cell) { -1 } else { 0 };
            let initial = match self.random.below(5) {
                0 => Initial::AnyOf(vec![1, low]),
                1 => Initial::Between(low, 1),
                2 | 3 => Initial::Value(self.expr(Reads { current: &order[..position], next: &[] }, 2)),
                _ => continue,
            };
            let initials = &mut self.globals[cell.variable].initial;
            initials.push((cell.slot, initial));
            initials.sort_by_key(|(slot, _)| *slot);
        }
    }

    fn is_signed(&self, cell: Cell) -> bool {
        matches!(self.scalar(cell), Scalar::Range { .. } | Scalar::Int { signed: true, .. })
    }

    /// A definition may refer to the next values of those that come before it in some order.
    fn definitions(&mut self, states: &[Cell], current: &[Cell]) -> Vec<Definition> {
        let order = self.shuffled(states);
        let mut definitions = Vec::new();
        for (position, cell) in order.iter().enumerate() {
            let reads = Reads { current, next: &order[..position] };
            let next = match self.random.below(6) {
                0..=2 => NextValue::Function(self.expr(reads, 2)),
                3 | 4 => NextValue::Choice((0..1 + self.random.below(3)).map(|_| self.alternative(reads)).collect()),
                _ => continue,
            };
            definitions.push(Definition { variable: cell.variable.into(), slot: cell.slot, next, span: None });
        }
        definitions
    }

    fn alternative(&mut self, reads: Reads<'_>) -> Alternative {
        let when = self.random.one_in(2).then(|| self.expr(reads, 1));
        Alternative { when, value: self.expr(reads, 1) }
    }

    fn conjuncts(&mut self, counts: &[u32], reads: Reads<'_>) -> Vec<Expr> {
        self.shared.clear();
        let count = self.random.pick(counts);
        (0..count).map(|_| self.condition(reads)).collect()
    }

    /// One that holds more often than not.
    fn condition(&mut self, reads: Reads<'_>) -> Expr {
        let (x, y) = (self.expr(reads, 1), self.expr(reads, 1));
        let op = self.random.pick(&[BinaryOp::Or, BinaryOp::LessEqual, BinaryOp::NotEqual, BinaryOp::Equal]);
        Expr::binary(op, x, y)
    }

    fn expr(&mut self, reads: Reads<'_>, depth: u32) -> Expr {
        if depth == 0 || self.random.one_in(5) {
            return self.leaf(reads);
        }
        match self.random.below(10) {
            0 => Expr::unary(self.random.pick(&[UnaryOp::Not, UnaryOp::Negate]), self.expr(reads, depth - 1)),
            1 => {
                let parts = [depth - 1; 3].map(|depth| Box::new(self.expr(reads, depth)));
                let [condition, x, y] = parts;
                Expr::Conditional(condition, x, y)
            }
            2 if self.faults => {
                let op = self.random.pick(&[BinaryOp::Divide, BinaryOp::Remainder]);
                Expr::binary(op, self.expr(reads, depth - 1), self.expr(reads, depth - 1))
            }
            3 => {
                let shared = self.shared(reads, depth - 1);
                Expr::binary(BinaryOp::Add, shared.clone(), shared)
            }
            4 => self.shared(reads, depth - 1),
            _ => {
                let ops = [
                    BinaryOp::Add,
                    BinaryOp::Subtract,
                    BinaryOp::Equal,
                    BinaryOp::Less,
                    BinaryOp::And,
                    BinaryOp::Or,
                    BinaryOp::BitXor,
                ];
                let op = self.random.pick(&ops);
                Expr::binary(op, self.expr(reads, depth - 1), self.expr(reads, depth - 1))
            }
        }
    }

    /// An expression that others have a part in, itself made of such ones; on some ways it is not evaluated.
    fn shared(&mut self, reads: Reads<'_>, depth: u32) -> Expr {
        if !self.shared.is_empty() && self.random.one_in(2) {
            let number = self.random.below(self.shared.len() as u32) as usize;
            return self.shared[number].clone();
        }
        let mut shared = Expr::Shared(Shared::new(self.expr(reads, depth)));
        for _ in 0..self.random.below(4) {
            let (once, again, leaf) = (shared.clone(), shared.clone(), self.leaf(reads));
            let expr = match self.random.below(4) {
                0 => Expr::binary(BinaryOp::BitXor, once, Expr::unary(UnaryOp::Not, again)),
                1 => Expr::binary(BinaryOp::And, leaf, Expr::binary(BinaryOp::Or, once, again)),
                2 => Expr::Conditional(leaf.into(), once.into(), Expr::unary(UnaryOp::Negate, again).into()),
                _ => Expr::Conditional(once.into(), leaf.into(), again.into()),
            };
            shared = Expr::Shared(Shared::new(expr));
            self.shared.push(shared.clone());
        }
        shared
    }

    fn leaf(&mut self, reads: Reads<'_>) -> Expr {
        let next = !reads.next.is_empty() && self.random.one_in(2);
        let cells = if next { reads.next } else { reads.current };
        if cells.is_empty() || self.random.one_in(5) {
            return Expr::Const(i64::from(self.random.below(4)) - 1);
        }
        let cell = cells[self.random.below(cells.len() as u32) as usize];
        let place = self.place(cell, cells, reads);
        if next { Expr::Next(place) } else { Expr::Read(place) }
    }

    /// The place of a cell; of an array all of whose cells may be read, sometimes one that a subscript chooses.
    fn place(&mut self, cell: Cell, cells: &[Cell], reads: Reads<'_>) -> Place {
        let variable = VariableId::from(cell.variable);
        let whole = Place { scope: Scope::Global, variable, offset: 0, indices: Vec::new(), scalar: self.scalar(cell) };
        let known = cells.iter().filter(|other| other.variable == cell.variable).count() as u32;
        let is_array = matches!(self.globals[cell.variable].ty, Type::Array { .. });
        if !is_array || known < LENGTH || self.random.one_in(2) {
            return Place { offset: cell.slot, ..whole };
        }
        let at = match reads.current.iter().find(|cell| !matches!(self.globals[cell.variable].ty, Type::Array { .. })) {
            Some(cell) => {
                let place = Place { variable: cell.variable.into(), scalar: self.scalar(*cell), ..whole.clone() };
                let overflow = if self.faults { Overflow::Fault } else { Overflow::Wrap };
                let index = Scalar::Range { low: 0, high: i64::from(LENGTH) - 1, overflow };
                Expr::Cast(index, Box::new(Expr::Read(place)))
            }
            None => Expr::Const(i64::from(cell.slot)),
        };
        Place { indices: vec![Index { at, length: LENGTH, stride: 1 }], ..whole }
    }

    fn scalar(&self, cell: Cell) -> Scalar {
        match &self.globals[cell.variable].ty {
            Type::Scalar(scalar) => *scalar,
            Type::Array { .. } | Type::Record(_) => BIT,
        }
    }
}
