//! From a [`Netlist`] to a synchronous [`System`].
//!
//! Latches are state variables with the value of their next-state function, inputs are inputs, and every gate is one shared
//! expression of conjunctions and negations, so that the expressions of a system are the graph of gates. A constraint is a
//! conjunct of the invariant, and inputs that it reads are a part of the state. Circuits are deep: nothing here recurses
//! along gates.

use ample_logic::Formula;
use ample_model::{
    AtomTable, BinaryOp, Coupling, Definition, Expr, Initial, NextValue, Place as Cell, Property, Question, Scalar,
    Scope, Shared, Signal as NamedSignal, Source, Synchronous, System, Temporal, Type, UnaryOp, Variable, VariableId,
    VariableKind,
};

use super::netlist::{Driver, Function, Literal, Netlist, Place, Reset, Signal};
use crate::diagnostic::Diagnostic;
use crate::watch::Watch;

type Read<T> = Result<T, Diagnostic>;

/// So many signals of a cycle are named.
const NAMED: usize = 8;

/// The system of a circuit.
pub(super) fn system(name: &str, language: &str, source: Source, netlist: &Netlist, watch: &Watch<'_>) -> Read<System> {
    let order = order(netlist, watch)?;
    let mut lowering = Lowering::new(netlist);
    for signal in order {
        watch.step()?;
        lowering.values[signal] = lowering.gate(&netlist.signals[signal].driver);
    }
    let mut system = System::new(name, language);
    system.sources = vec![source];
    system.exact_types = true;
    lowering.variables(&mut system);
    let mut synchronous = Synchronous::default();
    for (number, latch) in netlist.latches.iter().enumerate() {
        watch.step()?;
        let variable = VariableId::from(netlist.inputs.len() + number);
        let next = NextValue::Function(lowering.literal(latch.next));
        let span = Some(netlist.signals[latch.signal as usize].at.span());
        synchronous.definitions.push(Definition { variable, slot: 0, next, span });
    }
    synchronous.invariant = netlist.constraints.iter().map(|literal| lowering.literal(*literal)).collect();
    system.coupling = Coupling::Synchronous(synchronous);
    lowering.signals(&mut system, watch)?;
    lowering.properties(&mut system);
    let constraints: Vec<Expr> = system.synchronous().map_or_else(Vec::new, |parts| parts.invariant.clone());
    system.keep_inputs(&constraints);
    Ok(system)
}

/// The gates, each behind those that it depends on.
fn order(netlist: &Netlist, watch: &Watch<'_>) -> Read<Vec<usize>> {
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Mark {
        New,
        /// It is on the path to what is looked at.
        Open,
        Done,
    }
    enum Step {
        Enter(usize),
        Leave(usize),
    }
    let is_gate = |signal: &Signal| matches!(signal.driver, Driver::And(_) | Driver::Gate(..));
    let mut marks = vec![Mark::New; netlist.signals.len()];
    let mut order = Vec::new();
    let mut open = Vec::new();
    for first in 0..netlist.signals.len() {
        open.push(Step::Enter(first));
        while let Some(step) = open.pop() {
            watch.step()?;
            match step {
                Step::Leave(signal) => {
                    marks[signal] = Mark::Done;
                    order.push(signal);
                }
                Step::Enter(signal) if marks[signal] == Mark::Open => {
                    let path: Vec<usize> = open
                        .iter()
                        .filter_map(|step| if let Step::Leave(one) = step { Some(*one) } else { None })
                        .collect();
                    let begin = path.iter().position(|one| *one == signal).unwrap_or(0);
                    return Err(cycle(netlist, &path[begin..]));
                }
                Step::Enter(signal) if marks[signal] == Mark::Done || !is_gate(&netlist.signals[signal]) => {}
                Step::Enter(signal) => {
                    marks[signal] = Mark::Open;
                    open.push(Step::Leave(signal));
                    netlist.signals[signal].driver.operands(&mut |operand| open.push(Step::Enter(operand.signal())));
                }
            }
        }
    }
    Ok(order)
}

fn cycle(netlist: &Netlist, path: &[usize]) -> Diagnostic {
    // Each depends on the one behind it, and the last one on the first.
    let mut names: Vec<String> = path.iter().take(NAMED).map(|signal| netlist.name_of(*signal)).collect();
    if path.len() > NAMED {
        names.push(format!("… ({} more)", path.len() - NAMED));
    }
    let at = path.first().map_or(Place::default(), |signal| netlist.signals[*signal].at);
    let message = match path {
        [one] => format!("`{}` depends on itself without a latch in between", netlist.name_of(*one)),
        _ => format!("gates that depend on each other without a latch in between: {}", names.join(" -> ")),
    };
    Diagnostic::error(at.span(), message)
}

/// An expression or its complement.
#[derive(Clone)]
struct Value {
    expr: Expr,
    inverted: bool,
}

impl Value {
    const FALSE: Value = Value { expr: Expr::FALSE, inverted: false };

    fn expr(self) -> Expr {
        match (self.expr, self.inverted) {
            (Expr::Const(value), inverted) => Expr::Const(i64::from((value != 0) != inverted)),
            (expr, false) => expr,
            (expr, true) => Expr::unary(UnaryOp::Not, expr),
        }
    }

    fn constant(&self) -> Option<bool> {
        match self.expr {
            Expr::Const(value) => Some((value != 0) != self.inverted),
            _ => None,
        }
    }
}

struct Lowering<'n> {
    netlist: &'n Netlist,
    /// By signal.
    values: Vec<Value>,
}

impl<'n> Lowering<'n> {
    fn new(netlist: &'n Netlist) -> Lowering<'n> {
        let mut values = vec![Value::FALSE; netlist.signals.len()];
        let latches = netlist.latches.iter().map(|latch| &latch.signal);
        for (number, signal) in netlist.inputs.iter().chain(latches).enumerate() {
            let cell = Cell {
                scope: Scope::Global,
                variable: VariableId::from(number),
                offset: 0,
                indices: Vec::new(),
                scalar: Scalar::BOOL,
            };
            values[*signal as usize].expr = Expr::Read(cell);
        }
        Lowering { netlist, values }
    }

    fn value(&self, literal: Literal) -> Value {
        let Value { expr, inverted } = &self.values[literal.signal()];
        Value { expr: expr.clone(), inverted: *inverted != literal.is_inverted() }
    }

    fn literal(&self, literal: Literal) -> Expr {
        self.value(literal).expr()
    }

    fn gate(&self, driver: &Driver) -> Value {
        let (value, inverted) = match driver {
            Driver::And(operands) => (self.and(operands), false),
            Driver::Gate(function, inverted) => {
                let value = match &**function {
                    Function::And(operands) => self.and(operands),
                    Function::Xor(operands) => self.xor(operands),
                    Function::Sum(products) => self.sum(products),
                };
                (value, *inverted)
            }
            Driver::Constant | Driver::Input | Driver::Latch => (Value::FALSE, false),
        };
        let expr = match value.expr {
            expr @ (Expr::Const(_) | Expr::Read(_) | Expr::Shared(_)) => expr,
            expr => Expr::Shared(Shared::new(expr)),
        };
        Value { expr, inverted: value.inverted != inverted }
    }

    fn and(&self, operands: &[Literal]) -> Value {
        let mut left = Vec::with_capacity(operands.len());
        for value in operands.iter().map(|literal| self.value(*literal)) {
            match value.constant() {
                Some(true) => {}
                Some(false) => return Value::FALSE,
                None => left.push(value),
            }
        }
        match left.len() {
            0 => Value { expr: Expr::TRUE, inverted: false },
            1 => left.swap_remove(0),
            _ => {
                let exprs = left.into_iter().map(Value::expr).collect();
                Value { expr: balanced(BinaryOp::And, exprs), inverted: false }
            }
        }
    }

    fn xor(&self, operands: &[Literal]) -> Value {
        let (mut left, mut inverted) = (Vec::with_capacity(operands.len()), false);
        for value in operands.iter().map(|literal| self.value(*literal)) {
            match value.constant() {
                Some(constant) => inverted ^= constant,
                None => {
                    inverted ^= value.inverted;
                    left.push(value.expr);
                }
            }
        }
        let expr = if left.is_empty() { Expr::FALSE } else { balanced(BinaryOp::NotEqual, left) };
        Value { expr, inverted }
    }

    fn sum(&self, products: &[Vec<Literal>]) -> Value {
        let mut left = Vec::with_capacity(products.len());
        for value in products.iter().map(|product| self.and(product)) {
            match value.constant() {
                Some(true) => return value,
                Some(false) => {}
                None => left.push(value),
            }
        }
        match left.len() {
            0 => Value::FALSE,
            1 => left.swap_remove(0),
            _ => {
                let exprs = left.into_iter().map(Value::expr).collect();
                Value { expr: balanced(BinaryOp::Or, exprs), inverted: false }
            }
        }
    }

    fn variables(&self, system: &mut System) {
        let variable = |signal: u32, kind: VariableKind, reset: Reset| {
            let Signal { name, at, .. } = &self.netlist.signals[signal as usize];
            let initial = match reset {
                Reset::Value(value) => vec![(0, Initial::Value(Expr::Const(value.into())))],
                Reset::Any => Vec::new(),
            };
            let name = name.clone().unwrap_or_default();
            Variable { name, ty: Type::Scalar(Scalar::BOOL), initial, kind, hidden: false, span: Some(at.span()) }
        };
        let inputs = self.netlist.inputs.iter().map(|signal| variable(*signal, VariableKind::Input, Reset::Any));
        let latches = self.netlist.latches.iter().map(|one| variable(one.signal, VariableKind::State, one.reset));
        system.globals = inputs.chain(latches).collect();
    }

    /// Outputs, then the other gates that have names.
    fn signals(&self, system: &mut System, watch: &Watch<'_>) -> Read<()> {
        let netlist = self.netlist;
        let mut is_listed = vec![false; netlist.signals.len()];
        for output in &netlist.outputs {
            let signal = &netlist.signals[output.literal.signal()];
            let is_itself = !output.literal.is_inverted() && signal.name.as_deref() == Some(&*output.name);
            is_listed[output.literal.signal()] |= is_itself;
            let (name, value) = (output.name.clone(), self.literal(output.literal));
            system.signals.push(NamedSignal { name, value, is_output: true, span: Some(output.at.span()) });
        }
        for (number, signal) in netlist.signals.iter().enumerate() {
            watch.step()?;
            let Some(name) = &signal.name else { continue };
            if is_listed[number] || matches!(signal.driver, Driver::Input | Driver::Latch) {
                continue;
            }
            let value = self.values[number].clone().expr();
            system.signals.push(NamedSignal {
                name: name.clone(),
                value,
                is_output: false,
                span: Some(signal.at.span()),
            });
        }
        Ok(())
    }

    /// What is true whatever the value of some input or latch, without being a constant.
    fn tautology(&self) -> Expr {
        let mut signals = 0..self.netlist.signals.len();
        let is_variable =
            |number: &usize| matches!(self.netlist.signals[*number].driver, Driver::Input | Driver::Latch);
        let Some(variable) = signals.find(is_variable) else { return Expr::TRUE };
        let value = self.values[variable].clone().expr();
        Expr::binary(BinaryOp::Or, Expr::unary(UnaryOp::Not, value.clone()), value)
    }

    fn properties(&self, system: &mut System) {
        for bad in &self.netlist.bad {
            let question = Question::Invariant(self.literal(!bad.literal));
            let (name, text) = (format!("bad:{}", bad.name), format!("never {}", bad.name));
            system.properties.push(Property { name, question, text, span: Some(bad.at.span()) });
        }
        // Constraints may leave a state without a next one: a run that stops there is none.
        if let Coupling::Synchronous(synchronous) = &mut system.coupling {
            synchronous.infinite_runs = !self.netlist.constraints.is_empty();
        }
        for justice in &self.netlist.justice {
            let mut atoms = AtomTable::new();
            let fair = self.netlist.fairness.iter().chain(&justice.literals).map(|literal| self.literal(*literal));
            // Where all literals are constants any infinite run will do, but it must be shown as a lasso: a condition that
            // is not known to be always true.
            let fair: Vec<Expr> = fair.filter(|expr| *expr != Expr::TRUE).collect();
            let always = fair.is_empty().then(|| self.tautology());
            let repeated = fair.into_iter().chain(always).map(|expr| atoms.formula(expr).finally().globally());
            let all = repeated.reduce(|all, one| all & one).unwrap_or(Formula::True);
            let question = Question::Ltl(Temporal::new(!all, atoms));
            let text = match self.netlist.fairness.is_empty() {
                true => format!("not all literals of {} again and again", justice.name),
                false => format!("not all literals of {} again and again on a fair run", justice.name),
            };
            let name = format!("justice:{}", justice.name);
            system.properties.push(Property { name, question, text, span: Some(justice.at.span()) });
        }
    }
}

/// So many levels of a wide gate are one expression; those of wider ones are made of shared expressions.
const LEVELS: u32 = 6;

/// All of these, at least one, with an operator that may be bracketed in any way: as flat as can be.
fn balanced(op: BinaryOp, mut exprs: Vec<Expr>) -> Expr {
    let mut levels = 0;
    while exprs.len() > 1 {
        if levels == LEVELS {
            exprs = exprs.into_iter().map(|expr| Expr::Shared(Shared::new(expr))).collect();
            levels = 0;
        }
        levels += 1;
        let mut next = Vec::with_capacity(exprs.len().div_ceil(2));
        let mut left = exprs.into_iter();
        while let Some(one) = left.next() {
            next.push(match left.next() {
                Some(other) => Expr::binary(op, one, other),
                None => one,
            });
        }
        exprs = next;
    }
    exprs.pop().unwrap_or(Expr::FALSE)
}
