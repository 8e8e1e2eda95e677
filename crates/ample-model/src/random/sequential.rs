//! Random sequential programs with their block structure: sequences, conditions, loops and modules, nested.

use ample_random::Random;

use super::{cell, global, value, variable};
use crate::expr::{BinaryOp, Expr, Index, Place, Scope, UnaryOp};
use crate::system::{
    Action, Block, Edge, EdgeId, Initial, Instance, Instruction, Location, LocationId, Overflow, ProcessType, Scalar,
    System, Type, Variable,
};

const BIT: Scalar = Scalar::Int { bits: 1, signed: false };
const CRUMB: Scalar = Scalar::Int { bits: 2, signed: false };
const THREE: Scalar = Scalar::Range { low: 0, high: 2, overflow: Overflow::Wrap };

/// How long the array is.
const LENGTH: u32 = 2;

/// The random sequential program of that seed: one process, which ends in a location that repeats itself. With `faults`
/// subscripts may be out of range, and there are assertions.
///
/// ```
/// use ample_model::check::check;
/// use ample_model::random::sequential;
///
/// let system = sequential(42, true);
/// assert!(check(&system).is_ok());
/// assert!(system.processes[0].structure.is_some());
/// ```
pub fn sequential(seed: u64, faults: bool) -> System {
    let mut maker = Maker { random: Random::new(seed), faults, locations: 0, edges: Vec::new() };
    let mut system = System::new(&format!("sequential {seed}"), "random");
    let array = Type::Array { element: Box::new(Type::Scalar(BIT)), length: LENGTH };
    let variables = [("x", Type::Scalar(CRUMB)), ("y", Type::Scalar(THREE)), ("b", Type::Scalar(BIT)), ("a", array)];
    system.globals = variables.into_iter().map(|(name, ty)| maker.variable(name, ty)).collect();
    let mut statements = maker.statements(3);
    statements.push(Statement::Terminate);
    let structure = maker.number(&statements);
    maker.connect(&statements, &structure, None);
    let mut locations: Vec<Location> = (0..maker.locations)
        .map(|number| Location { number, labels: vec![format!("l{number}")], ..Location::default() })
        .collect();
    for (number, edge) in maker.edges.iter().enumerate() {
        locations[edge.from.index()].edges.push(EdgeId::from(number));
    }
    let process = ProcessType {
        locations,
        edges: maker.edges,
        structure: Some(structure),
        ..ProcessType::of_edges("main", Vec::new())
    };
    system.processes.push(process);
    system.start.push(Instance { process: 0usize.into(), arguments: Vec::new(), priority: None });
    system.max_processes = 1;
    system.exact_types = true;
    system
}

enum Statement {
    Skip,
    /// One edge for each.
    Assign(Place, Vec<Expr>),
    Assert(Expr),
    If(Expr, Vec<Statement>, Vec<Statement>),
    While(Expr, Vec<Statement>),
    Module(Vec<Statement>),
    Terminate,
}

struct Maker {
    random: Random,
    faults: bool,
    locations: u32,
    edges: Vec<Edge>,
}

impl Maker {
    fn variable(&mut self, name: &str, ty: Type) -> Variable {
        let mut variable = variable(name, ty);
        if let (Type::Scalar(scalar), true) = (&variable.ty, self.random.percent(80)) {
            let high = if *scalar == BIT { 1 } else { 2 };
            variable.initial = vec![(0, Initial::Between(0, high))];
        } else {
            variable.initial = vec![(0, value(self.random.below(2)))];
        }
        variable
    }

    fn statements(&mut self, depth: u32) -> Vec<Statement> {
        let count = self.random.below(if depth == 3 { 5 } else { 4 });
        let statements: Vec<Statement> = (0..count).map(|_| self.statement(depth)).collect();
        if !self.random.one_in(3) || statements.is_empty() {
            return statements;
        }
        let mut first: Vec<Statement> = statements;
        let second = first.split_off(self.random.below(first.len()));
        vec![Statement::Module(first), Statement::Module(second)]
    }

    fn statement(&mut self, depth: u32) -> Statement {
        match self.random.below(if depth == 0 { 6 } else { 12 }) {
            0 => Statement::Skip,
            1 if self.faults => Statement::Assert(self.condition()),
            1..=5 => {
                let values = if self.random.one_in(4) { 2 + self.random.below(2) } else { 1 };
                Statement::Assign(self.place(), (0..values).map(|_| self.number_expr()).collect())
            }
            6..=8 => Statement::If(self.condition(), self.statements(depth - 1), self.statements(depth - 1)),
            _ => Statement::While(self.condition(), self.statements(depth - 1)),
        }
    }

    fn place(&mut self) -> Place {
        match self.random.below(4) {
            0 => global(0, CRUMB),
            1 => global(1, THREE),
            2 => global(2, BIT),
            _ => {
                let at = if self.faults { Expr::Read(global(1, THREE)) } else { Expr::Read(global(2, BIT)) };
                Place { indices: vec![Index { at, length: LENGTH, stride: 1 }], ..cell(Scope::Global, 3, BIT) }
            }
        }
    }

    fn leaf(&mut self) -> Expr {
        match self.random.below(5) {
            0 => Expr::Const(self.random.below(3)),
            _ => Expr::Read(self.place()),
        }
    }

    fn number_expr(&mut self) -> Expr {
        let first = self.leaf();
        match self.random.below(4) {
            0 => Expr::binary(BinaryOp::Add, first, self.leaf()),
            1 => Expr::binary(BinaryOp::Subtract, first, Expr::Const(1)),
            _ => first,
        }
    }

    fn condition(&mut self) -> Expr {
        let (first, second) = (self.leaf(), self.leaf());
        let condition = match self.random.below(4) {
            0 => Expr::binary(BinaryOp::Equal, first, second),
            1 => Expr::binary(BinaryOp::Less, first, second),
            2 => Expr::binary(BinaryOp::LessEqual, first, Expr::Const(1)),
            _ => first,
        };
        if self.random.one_in(4) { not(condition) } else { condition }
    }

    /// Gives the statements locations, in the order of the source.
    fn number(&mut self, statements: &[Statement]) -> Block {
        let blocks = statements.iter().map(|statement| match statement {
            Statement::Module(inner) => Block::Module(Box::new(self.number(inner))),
            Statement::If(_, then, otherwise) => {
                let at = self.next();
                Block::Choice(at, vec![self.number(then), self.number(otherwise)])
            }
            Statement::While(_, body) => {
                let at = self.next();
                Block::Loop(at, vec![self.number(body)])
            }
            _ => Block::Leaf(self.next()),
        });
        Block::Sequence(blocks.collect())
    }

    fn next(&mut self) -> LocationId {
        self.locations += 1;
        LocationId(self.locations - 1)
    }

    /// Makes the edges, from the last statement to the first. Where the first one begins.
    fn connect(&mut self, statements: &[Statement], block: &Block, after: Option<LocationId>) -> Option<LocationId> {
        let Block::Sequence(blocks) = block else { return after };
        let mut after = after;
        for (statement, block) in statements.iter().zip(blocks).rev() {
            after = self.connect_one(statement, block, after);
        }
        after
    }

    fn connect_one(&mut self, statement: &Statement, block: &Block, after: Option<LocationId>) -> Option<LocationId> {
        match (statement, block) {
            (Statement::Module(inner), Block::Module(block)) => self.connect(inner, block, after),
            (Statement::If(condition, then, otherwise), Block::Choice(at, blocks)) => {
                let targets = [self.connect(then, &blocks[0], after), self.connect(otherwise, &blocks[1], after)];
                self.conditional(*at, condition, targets)
            }
            (Statement::While(condition, body), Block::Loop(at, blocks)) => {
                let into = self.connect(body, &blocks[0], Some(*at));
                self.conditional(*at, condition, [into, after])
            }
            (Statement::Terminate, Block::Leaf(at)) => {
                self.edges.push(edge(*at, *at));
                Some(*at)
            }
            (statement, Block::Leaf(at)) => {
                let to = after.unwrap_or(*at);
                match statement {
                    Statement::Assign(place, values) => {
                        for value in values {
                            let action = Action::Assign(place.clone(), value.clone());
                            self.edges.push(Edge { effect: vec![Instruction::Do(action)], ..edge(*at, to) });
                        }
                    }
                    Statement::Assert(condition) => {
                        let action = Action::Assert { condition: condition.clone(), text: "it".into() };
                        self.edges.push(Edge { effect: vec![Instruction::Do(action)], ..edge(*at, to) });
                    }
                    _ => self.edges.push(edge(*at, to)),
                }
                Some(*at)
            }
            _ => after,
        }
    }

    fn conditional(&mut self, at: LocationId, condition: &Expr, to: [Option<LocationId>; 2]) -> Option<LocationId> {
        for (to, condition) in to.into_iter().zip([condition.clone(), not(condition.clone())]) {
            self.edges.push(Edge { guard: vec![condition], ..edge(at, to.unwrap_or(at)) });
        }
        Some(at)
    }
}

fn not(expr: Expr) -> Expr {
    Expr::unary(UnaryOp::Not, expr)
}

fn edge(from: LocationId, to: LocationId) -> Edge {
    Edge {
        from,
        to,
        guard: Vec::new(),
        communication: None,
        effect: Vec::new(),
        keeps_control: false,
        action: None,
        origin: Vec::new(),
        span: None,
        label: format!("{}->{}", from.0, to.0),
    }
}
