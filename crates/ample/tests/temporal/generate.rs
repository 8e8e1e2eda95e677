//! Random systems with random marks, and random formulas over what they contain.

use ample::System;
use ample_model::random::{self, Features};
use ample_model::{
    BinaryOp, Expr, Interpreter, LocationId, Place, ProcessId, Scalar, Scope, UnaryOp, VariableId, VariableKind,
};

use super::graph::Graph;
use super::tree::Formula;
use ample_random::Random;

/// A random system with marks at random locations.
pub fn system(random: &mut Random) -> System {
    let features = Features {
        faults: random.one_in(3),
        control: random.one_in(2),
        spawn: random.one_in(2),
        looks: random.one_in(3),
        priorities: random.one_in(6),
        monitor: random.one_in(8),
        actions: false,
    };
    let mut system = random::system(random.next_u64(), features);
    let (accept, progress) = (random.pick(&[2, 4, 8]), random.pick(&[2, 3, 6]));
    for location in system.processes.iter_mut().flat_map(|process| &mut process.locations) {
        location.accept = random.one_in(accept);
        location.progress = random.one_in(progress);
    }
    system
}

/// Up to three expressions that are no faults anywhere, and that are true in some states only if that can be had.
pub fn atoms(random: &mut Random, interpreter: &Interpreter<'_>, graph: &Graph) -> Vec<Expr> {
    let wanted = 1 + random.below(3);
    let mut atoms = Vec::new();
    for tries in 0..40 {
        let atom = atom(random, interpreter.system());
        let Ok(truth) = graph.truth(interpreter, &atom) else { continue };
        let trues = graph.visible().filter(|&node| truth[node]).count();
        let varies = trues > 0 && trues < graph.visible().count();
        if (varies || tries > 20) && !atoms.contains(&atom) {
            atoms.push(atom);
        }
        if atoms.len() == wanted {
            break;
        }
    }
    if atoms.is_empty() { vec![Expr::TRUE] } else { atoms }
}

/// Conditions on the state of a synchronous system: cells that have a value that they have somewhere.
pub fn joint_atoms(random: &mut Random, interpreter: &Interpreter<'_>, graph: &Graph) -> Vec<Expr> {
    let system = interpreter.system();
    let mut cells = Vec::new();
    let mut first = 0;
    for (number, variable) in system.globals.iter().enumerate() {
        for (offset, scalar) in (0u32..).zip(system.scalars(&variable.ty)) {
            if variable.kind != VariableKind::Input {
                let place =
                    Place { scope: Scope::Global, variable: number.into(), offset, indices: Vec::new(), scalar };
                cells.push((first, place));
            }
            first += 1;
        }
    }
    if cells.is_empty() {
        return vec![Expr::TRUE];
    }
    let atom = |random: &mut Random| {
        let (slot, place) = random.pick(&cells);
        let node = &graph.nodes[random.below(graph.nodes.len())];
        let op = random.pick(&[BinaryOp::Equal, BinaryOp::LessEqual, BinaryOp::NotEqual]);
        Expr::binary(op, Expr::Read(place), Expr::Const(node.state.globals[slot]))
    };
    (0..1 + random.below(3)).map(|_| atom(random)).collect()
}

/// The same, and one that is a fault in some states if that can be had, alone or behind one of the others.
pub fn fallible_atoms(random: &mut Random, interpreter: &Interpreter<'_>, graph: &Graph) -> Vec<Expr> {
    let mut atoms = atoms(random, interpreter, graph);
    let system = interpreter.system();
    let faults = |atom: &Expr| {
        let fails = |node: usize| interpreter.evaluate(&graph.nodes[node].state, None, atom).is_err();
        graph.visible().filter(|&node| fails(node)).count()
    };
    let mut found = None;
    for _ in 0..20 {
        let divisor = Expr::binary(BinaryOp::Subtract, cell(random, system), Expr::Const(random.below(3) as i64));
        let quotient = Expr::binary(random.pick(&[BinaryOp::Divide, BinaryOp::Remainder]), Expr::Const(2), divisor);
        let atom = Expr::binary(random.pick(&[BinaryOp::Less, BinaryOp::Equal]), quotient, Expr::Const(1));
        let count = faults(&atom);
        let varies = count > 0 && count < graph.visible().count();
        if varies || found.is_none() {
            found = Some(atom);
        }
        if varies {
            break;
        }
    }
    atoms.truncate(2);
    atoms.extend(found);
    atoms
}

fn atom(random: &mut Random, system: &System) -> Expr {
    let id = Box::new(Expr::Const(random.below(3) as i64));
    match random.below(16) {
        0 => Expr::NonProgress,
        1 => Expr::Accepting,
        2 => Expr::Enabled(id),
        3 => {
            let count = Expr::Const(1 + random.below(3) as i64);
            Expr::binary(random.pick(&[BinaryOp::Equal, BinaryOp::Less, BinaryOp::Greater]), Expr::ProcessCount, count)
        }
        4 => {
            let of = random.below(system.processes.len());
            let location = random.below(system.processes[of].locations.len());
            let process = random.one_in(2).then_some(id);
            Expr::At { process, of: ProcessId::from(of), locations: vec![LocationId::from(location)] }
        }
        5 if random.one_in(3) => Expr::Timeout,
        6 => Expr::unary(UnaryOp::Not, cell(random, system)),
        7 => Expr::binary(BinaryOp::LessEqual, cell(random, system), cell(random, system)),
        _ => {
            let operators =
                [BinaryOp::Equal, BinaryOp::NotEqual, BinaryOp::Less, BinaryOp::GreaterEqual, BinaryOp::Greater];
            let constant = Expr::Const(random.below(4) as i64 - 1);
            Expr::binary(random.pick(&operators), cell(random, system), constant)
        }
    }
}

/// A global cell, or how much a channel holds that one names.
fn cell(random: &mut Random, system: &System) -> Expr {
    if system.globals.is_empty() {
        return Expr::ProcessCount;
    }
    let variable = random.below(system.globals.len());
    let scalars = system.scalars(&system.globals[variable].ty);
    let offset = random.below(scalars.len());
    let read = Expr::Read(Place {
        scope: Scope::Global,
        variable: VariableId::from(variable),
        offset: offset as u32,
        indices: Vec::new(),
        scalar: scalars[offset],
    });
    if scalars[offset] == Scalar::Channel { Expr::Length(Box::new(read)) } else { read }
}

type Unary = fn(Box<Formula>) -> Formula;
type Binary = fn(Box<Formula>, Box<Formula>) -> Formula;

const BOOLEAN: [Binary; 4] = [Formula::And, Formula::Or, Formula::Implies, Formula::Iff];
const PATHS: [Unary; 3] = [Formula::Next, Formula::Always, Formula::Eventually];
const LONG_PATHS: [Binary; 3] = [Formula::Until, Formula::WeakUntil, Formula::Release];
const QUANTIFIERS: [Unary; 2] = [Formula::All, Formula::Exists];

/// A random formula, of linear or of branching time.
struct Maker<'a> {
    random: &'a mut Random,
    atoms: &'a [Expr],
    branching: bool,
    /// How many more temporal operators there may be.
    temporal: usize,
}

/// A random linear-time formula of about ten operators at most, up to five of them temporal.
pub fn ltl(random: &mut Random, atoms: &[Expr]) -> Formula {
    let size = 2 + random.below(8);
    Maker { random, atoms, branching: false, temporal: 5 }.formula(size)
}

/// A random branching-time formula of about ten operators at most.
pub fn ctl(random: &mut Random, atoms: &[Expr]) -> Formula {
    let size = 2 + random.below(8);
    Maker { random, atoms, branching: true, temporal: 8 }.formula(size)
}

impl Maker<'_> {
    fn formula(&mut self, size: usize) -> Formula {
        if size <= 1 {
            return Formula::Atom(self.random.pick(self.atoms));
        }
        let temporal = self.temporal > 0 && !self.random.one_in(3);
        match (temporal, size > 2 && !self.random.one_in(3)) {
            (true, false) => {
                let path = self.random.pick(&PATHS);
                self.path(|maker| path(maker.boxed(size - 1)))
            }
            (true, true) => {
                let path = self.random.pick(&LONG_PATHS);
                self.path(|maker| {
                    let (x, y) = maker.two(size - 1);
                    path(x, y)
                })
            }
            (false, false) => Formula::Not(self.boxed(size - 1)),
            (false, true) => {
                let operator = self.random.pick(&BOOLEAN);
                let (x, y) = self.two(size - 1);
                operator(x, y)
            }
        }
    }

    fn path(&mut self, path: impl FnOnce(&mut Self) -> Formula) -> Formula {
        self.temporal -= 1;
        let quantifier = self.random.pick(&QUANTIFIERS);
        let path = path(self);
        if self.branching { quantifier(Box::new(path)) } else { path }
    }

    fn boxed(&mut self, size: usize) -> Box<Formula> {
        Box::new(self.formula(size))
    }

    fn two(&mut self, size: usize) -> (Box<Formula>, Box<Formula>) {
        let left = 1 + self.random.below(size - 1);
        (self.boxed(left), self.boxed(size - left))
    }
}

/// The formula in the usual notation, with `a`, `b`, `c` for its atoms.
pub fn show(formula: &Formula, atoms: &[Expr]) -> String {
    let one = |operator: &str, x: &Formula| format!("{operator} {}", show(x, atoms));
    let two = |x: &Formula, operator: &str, y: &Formula| format!("({} {operator} {})", show(x, atoms), show(y, atoms));
    match formula {
        Formula::Atom(expr) => match atoms.iter().position(|atom| atom == expr) {
            Some(number) => char::from(b'a' + number as u8).to_string(),
            None => format!("{expr:?}"),
        },
        Formula::Not(x) => one("!", x),
        Formula::And(x, y) => two(x, "&&", y),
        Formula::Or(x, y) => two(x, "||", y),
        Formula::Implies(x, y) => two(x, "->", y),
        Formula::Iff(x, y) => two(x, "<->", y),
        Formula::Next(x) => one("X", x),
        Formula::Always(x) => one("G", x),
        Formula::Eventually(x) => one("F", x),
        Formula::Until(x, y) => two(x, "U", y),
        Formula::WeakUntil(x, y) => two(x, "W", y),
        Formula::Release(x, y) => two(x, "R", y),
        Formula::All(x) => one("A", x),
        Formula::Exists(x) => one("E", x),
    }
}
