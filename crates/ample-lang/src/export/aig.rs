//! Boolean synchronous systems as and-inverter graphs.
//!
//! The graph has the inputs and latches of the circuit that the system is, and one gate for each conjunction that its
//! expressions contain; equal gates are one. What a circuit cannot say is refused, with a reason: values other than 0 and 1,
//! relations between a state and the next one, choices.

use std::collections::HashMap;

use ample_budget::Pace;
use ample_logic::{Atom, Binary, Formula, Unary};
use ample_model::visit::innermost_first;
use ample_model::{
    BinaryOp, Budget, Definition, Expr, Initial, Interrupted, NextValue, Place, Property, Question, Scalar, Scope,
    System, Temporal, Type, UnaryOp, Variable, VariableKind,
};
use thiserror::Error;

/// Why a system is no circuit.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NoCircuit {
    /// The system has processes.
    #[error("only synchronous systems, in which everything moves at once, are circuits")]
    Interleaving,
    /// A variable has other values than 0 and 1.
    #[error("'{0}' has other values than 0 and 1, and a circuit has no others")]
    Wide(String),
    /// A first value that a latch cannot have.
    #[error("'{0}' starts with the value of an expression, and a latch starts with 0, 1 or either")]
    Start(String),
    /// A next value that is no function.
    #[error("the next value of '{0}' is a choice, and a latch has a function of the state and the inputs")]
    Choice(String),
    /// Relations between a state and the next one.
    #[error("relations between a state and the next one cannot be written as a circuit")]
    Relation,
    /// An expression about numbers.
    #[error("an expression computes with numbers, and a circuit has only 0 and 1")]
    Number,
    /// The budget was exhausted.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

/// A literal: twice the number of an input, a latch or a gate, plus one for its complement. 0 is false, and 1 is true.
pub type Literal = u32;

/// How a latch starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reset {
    /// With that value.
    Value(bool),
    /// With either.
    Any,
}

/// A latch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Latch {
    /// Its name.
    pub name: String,
    /// Its next value.
    pub next: Literal,
    /// How it starts.
    pub reset: Reset,
}

/// An and-inverter graph. Inputs have the numbers from 1 on, latches those behind, gates those behind these.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aig {
    /// The names of the inputs.
    pub inputs: Vec<String>,
    /// The latches.
    pub latches: Vec<Latch>,
    /// The operands of the gates, the greater one first; both are smaller than the gate.
    pub gates: Vec<[Literal; 2]>,
    /// The outputs, with their names.
    pub outputs: Vec<(String, Literal)>,
    /// What must never happen, with names.
    pub bad: Vec<(String, Literal)>,
    /// What always holds.
    pub constraints: Vec<Literal>,
    /// What must not happen again and again, with names.
    pub justice: Vec<(String, Vec<Literal>)>,
    /// What holds in the first state. Only SMV says it in so many words, see [`Aig::with_monitors`].
    pub initial: Vec<Literal>,
    /// What holds in every step; a state in which it does not, whatever the inputs are, has no next one.
    pub steps: Vec<Literal>,
    /// Formulas, which only SMV can say.
    pub specifications: Vec<Specification>,
    /// For formulas only runs count on which each of these holds again and again.
    pub fairness: Vec<Literal>,
    /// For formulas of linear time only runs count on which the second holds again and again if the first does.
    pub compassion: Vec<[Literal; 2]>,
    /// The properties that cannot be written, by their names.
    pub left_out: Vec<String>,
}

/// A formula over literals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Specification {
    /// The property.
    pub name: String,
    /// Of branching time; otherwise of linear time.
    pub is_branching: bool,
    /// The formula.
    pub formula: Formula,
    /// What its atoms stand for.
    pub atoms: Vec<Literal>,
}

impl Aig {
    /// The largest number of an input, a latch or a gate.
    pub fn variables(&self) -> u32 {
        (self.inputs.len() + self.latches.len() + self.gates.len()) as u32
    }

    /// The circuit without what AIGER and BLIF cannot say: a latch tells whether it is the first state, and one whether all
    /// steps so far were possible. Formulas are left out.
    pub fn with_monitors(mut self) -> Aig {
        let (initial, steps) = (std::mem::take(&mut self.initial), std::mem::take(&mut self.steps));
        self.left_out.extend(std::mem::take(&mut self.specifications).into_iter().map(|one| one.name));
        let count = usize::from(!initial.is_empty()) + usize::from(!steps.is_empty());
        let variables = (self.inputs.len() + self.latches.len()) as u32;
        // Gates come behind the new latches.
        let moved = |literal: Literal| if literal / 2 > variables { literal + 2 * count as u32 } else { literal };
        self.move_literals(moved);
        let first = (!initial.is_empty()).then(|| self.monitor("first state"));
        let possible = (!steps.is_empty()).then(|| self.monitor("possible so far"));
        if let Some(first) = first {
            let holds = initial.into_iter().fold(1, |all, one| self.gate(all, moved(one)));
            let broken = self.gate(first, holds ^ 1);
            self.constraints.push(broken ^ 1);
        }
        if let Some(possible) = possible {
            let last = self.latches.len() - 1;
            self.latches[last].next = steps.into_iter().fold(possible, |all, one| self.gate(all, moved(one)));
            self.constraints.push(possible);
        }
        self
    }

    /// A latch that is 1 in the first state and then 0.
    fn monitor(&mut self, name: &str) -> Literal {
        self.latches.push(Latch { name: name.into(), next: 0, reset: Reset::Value(true) });
        2 * (self.inputs.len() + self.latches.len()) as Literal
    }

    fn move_literals(&mut self, moved: impl Fn(Literal) -> Literal) {
        let change = |literal: &mut Literal| *literal = moved(*literal);
        self.latches.iter_mut().for_each(|latch| latch.next = moved(latch.next));
        self.gates.iter_mut().flatten().for_each(change);
        self.outputs.iter_mut().chain(&mut self.bad).for_each(|(_, literal)| change(literal));
        self.constraints.iter_mut().chain(&mut self.fairness).for_each(change);
        self.justice.iter_mut().flat_map(|(_, literals)| literals).for_each(change);
        self.compassion.iter_mut().flatten().for_each(change);
    }

    /// A conjunction, with a gate of its own unless it is a constant or one of the two.
    pub fn gate(&mut self, x: Literal, y: Literal) -> Literal {
        let (x, y) = (x.max(y), x.min(y));
        match (x, y) {
            (_, 0) => 0,
            (x, 1) => x,
            (x, y) if x == y => x,
            (x, y) if x == y ^ 1 => 0,
            _ => {
                self.gates.push([x, y]);
                2 * self.variables()
            }
        }
    }

    /// The circuit that a system is, with these properties besides those that it states.
    ///
    /// ```
    /// use ample_lang::circuit::{Format, read};
    /// use ample_lang::export::aig::Aig;
    ///
    /// let circuit = read(Format::Bench, "c.bench", "INPUT(a)\nOUTPUT(b)\nl = DFF(b)\nb = AND(a, l)\n")?;
    /// let aig = Aig::of(&circuit.system, &[], &ample_budget::Budget::unlimited()).unwrap();
    /// assert_eq!((aig.inputs.len(), aig.latches.len(), aig.gates.len()), (1, 1, 1));
    /// # Ok::<(), ample_lang::Rejected>(())
    /// ```
    pub fn of(system: &System, properties: &[Property], budget: &Budget) -> Result<Aig, NoCircuit> {
        let mut builder = Builder::new(system, budget)?;
        builder.latches()?;
        builder.constraints()?;
        for signal in system.signals.iter().filter(|signal| signal.is_output) {
            let literal = builder.literal(&signal.value)?;
            builder.aig.outputs.push((signal.name.clone(), literal));
        }
        for property in system.properties.iter().chain(properties) {
            builder.property(property)?;
        }
        Ok(builder.aig)
    }
}

/// What a variable becomes.
enum Role<'s> {
    /// Any value in every step.
    Input,
    /// A latch with that definition; without one any value after the first step.
    Latch(Option<&'s Definition>),
    /// A latch that keeps its value.
    Frozen,
}

struct Builder<'s> {
    system: &'s System,
    aig: Aig,
    /// By variable: its literal.
    variables: Vec<Literal>,
    /// The inputs that give latches without a definition their next values.
    free: HashMap<usize, Literal>,
    roles: Vec<Role<'s>>,
    /// A latch that is 1 in the first state only, if there is something to say about that.
    first: Option<Literal>,
    known: HashMap<[Literal; 2], Literal>,
    /// The literals of shared expressions, by their addresses: they live as long as the system.
    shared: HashMap<usize, Literal>,
    pace: Pace<'s>,
}

impl<'s> Builder<'s> {
    fn new(system: &'s System, budget: &'s Budget) -> Result<Builder<'s>, NoCircuit> {
        let synchronous = system.synchronous().ok_or(NoCircuit::Interleaving)?;
        if !synchronous.relations.is_empty() {
            return Err(NoCircuit::Relation);
        }
        if let Some(wide) = system.globals.iter().find(|variable| !is_boolean(&variable.ty)) {
            return Err(NoCircuit::Wide(wide.name.clone()));
        }
        let mut definitions: HashMap<usize, &Definition> = HashMap::new();
        for definition in &synchronous.definitions {
            definitions.insert(definition.variable.index(), definition);
        }
        let role = |(number, variable): (usize, &Variable)| match (variable.kind, definitions.get(&number)) {
            (VariableKind::Input, _) => Role::Input,
            (VariableKind::Frozen, _) => Role::Frozen,
            // Whatever it is now, it may be anything next.
            (VariableKind::State, None) if variable.initial.is_empty() => Role::Input,
            (VariableKind::State, definition) => Role::Latch(definition.copied()),
        };
        let roles: Vec<Role<'s>> = system.globals.iter().enumerate().map(role).collect();
        let mut builder = Builder {
            system,
            aig: Aig::default(),
            variables: vec![0; system.globals.len()],
            free: HashMap::new(),
            roles,
            first: None,
            known: HashMap::new(),
            shared: HashMap::new(),
            pace: budget.pace(),
        };
        builder.number(!synchronous.init.is_empty());
        Ok(builder)
    }

    /// Gives inputs and latches their numbers, so that gates come behind them.
    fn number(&mut self, has_init: bool) {
        let names = |number: usize| self.system.globals[number].name.clone();
        for (number, role) in self.roles.iter().enumerate() {
            if matches!(role, Role::Input) {
                self.aig.inputs.push(names(number));
                self.variables[number] = 2 * self.aig.inputs.len() as Literal;
            }
        }
        for (number, role) in self.roles.iter().enumerate() {
            if matches!(role, Role::Latch(None)) {
                self.aig.inputs.push(format!("next {}", names(number)));
                self.free.insert(number, 2 * self.aig.inputs.len() as Literal);
            }
        }
        for (number, role) in self.roles.iter().enumerate() {
            if !matches!(role, Role::Input) {
                self.aig.latches.push(Latch { name: names(number), next: 0, reset: Reset::Any });
                self.variables[number] = 2 * (self.aig.inputs.len() + self.aig.latches.len()) as Literal;
            }
        }
        if has_init {
            self.aig.latches.push(Latch { name: "first state".into(), next: 0, reset: Reset::Value(true) });
            self.first = Some(2 * (self.aig.inputs.len() + self.aig.latches.len()) as Literal);
        }
    }

    fn latches(&mut self) -> Result<(), NoCircuit> {
        let mut latch = 0;
        for number in 0..self.roles.len() {
            let next = match &self.roles[number] {
                Role::Input => continue,
                Role::Frozen => self.variables[number],
                Role::Latch(None) => self.free[&number],
                Role::Latch(Some(definition)) => match &definition.next {
                    NextValue::Function(value) => self.literal(value)?,
                    NextValue::Choice(_) => return Err(NoCircuit::Choice(self.system.globals[number].name.clone())),
                },
            };
            self.aig.latches[latch].next = next;
            self.aig.latches[latch].reset = reset(&self.system.globals[number])?;
            latch += 1;
        }
        Ok(())
    }

    fn constraints(&mut self) -> Result<(), NoCircuit> {
        let Some(synchronous) = self.system.synchronous() else { return Ok(()) };
        for condition in &synchronous.invariant {
            let literal = self.literal(condition)?;
            self.aig.constraints.push(literal);
        }
        for condition in &synchronous.init {
            let literal = self.literal(condition)?;
            let broken = self.and(self.first.unwrap_or(1), literal ^ 1);
            self.aig.constraints.push(broken ^ 1);
        }
        Ok(())
    }

    fn property(&mut self, property: &Property) -> Result<(), NoCircuit> {
        let name = |prefix: &str| property.name.strip_prefix(prefix).unwrap_or(&property.name).to_owned();
        match &property.question {
            Question::Invariant(expr) => {
                let literal = self.literal(expr)? ^ 1;
                self.aig.bad.push((name("bad:"), literal));
            }
            Question::Ltl(temporal) => match repeated(temporal) {
                Some(exprs) => {
                    let literals = exprs.into_iter().map(|expr| self.literal(expr)).collect::<Result<_, _>>()?;
                    self.aig.justice.push((name("justice:"), literals));
                }
                None => self.aig.left_out.push(property.id()),
            },
            _ => self.aig.left_out.push(property.id()),
        }
        Ok(())
    }

    fn and(&mut self, x: Literal, y: Literal) -> Literal {
        let key = [x.max(y), x.min(y)];
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let literal = self.aig.gate(x, y);
        self.known.insert(key, literal);
        literal
    }

    fn xor(&mut self, x: Literal, y: Literal) -> Literal {
        let (one, other) = (self.and(x, y ^ 1), self.and(x ^ 1, y));
        self.and(one ^ 1, other ^ 1) ^ 1
    }

    /// The literal that is true where an expression is not 0.
    fn literal(&mut self, expr: &Expr) -> Result<Literal, NoCircuit> {
        self.pace.step()?;
        match expr {
            Expr::Const(value) => Ok(u32::from(*value != 0)),
            Expr::Read(Place { scope: Scope::Global, variable, indices, .. }) if indices.is_empty() => {
                Ok(self.variables.get(variable.index()).copied().unwrap_or(0))
            }
            Expr::Unary(UnaryOp::Not, x) => Ok(self.literal(x)? ^ 1),
            Expr::Binary(op, x, y) => {
                let is_logical = matches!(op, BinaryOp::And | BinaryOp::Or);
                if !(is_logical || x.has_truth_value() && y.has_truth_value()) {
                    return Err(NoCircuit::Number);
                }
                let (x, y) = (self.literal(x)?, self.literal(y)?);
                match op {
                    BinaryOp::And | BinaryOp::BitAnd | BinaryOp::Multiply => Ok(self.and(x, y)),
                    BinaryOp::Or | BinaryOp::BitOr => Ok(self.and(x ^ 1, y ^ 1) ^ 1),
                    BinaryOp::NotEqual | BinaryOp::BitXor => Ok(self.xor(x, y)),
                    BinaryOp::Equal => Ok(self.xor(x, y) ^ 1),
                    BinaryOp::Less => Ok(self.and(x ^ 1, y)),
                    BinaryOp::Greater => Ok(self.and(x, y ^ 1)),
                    BinaryOp::LessEqual => Ok(self.and(x, y ^ 1) ^ 1),
                    BinaryOp::GreaterEqual => Ok(self.and(x ^ 1, y) ^ 1),
                    _ => Err(NoCircuit::Number),
                }
            }
            Expr::Cast(_, x) if x.has_truth_value() => self.literal(x),
            Expr::Conditional(condition, x, y) => {
                let (condition, x, y) = (self.literal(condition)?, self.literal(x)?, self.literal(y)?);
                let (one, other) = (self.and(condition, x), self.and(condition ^ 1, y));
                Ok(self.and(one ^ 1, other ^ 1) ^ 1)
            }
            Expr::Shared(shared) => {
                if let Some(known) = self.shared.get(&shared.address()) {
                    return Ok(*known);
                }
                let mut seen = std::collections::HashSet::new();
                let known = &self.shared;
                let parts = innermost_first(shared, &mut |part| {
                    !known.contains_key(&part.address()) && seen.insert(part.address())
                });
                for part in parts {
                    let literal = self.literal(part)?;
                    self.shared.insert(part.address(), literal);
                }
                Ok(self.shared[&shared.address()])
            }
            _ => Err(NoCircuit::Number),
        }
    }
}

fn is_boolean(ty: &Type) -> bool {
    matches!(ty, Type::Scalar(Scalar::Int { bits: 1, signed: false } | Scalar::Range { low: 0, high: 1, .. }))
}

fn reset(variable: &Variable) -> Result<Reset, NoCircuit> {
    match variable.initial.first().map(|(_, initial)| initial) {
        None => Ok(Reset::Any),
        Some(Initial::Value(value)) => match value.constant() {
            Some(value @ 0..=1) => Ok(Reset::Value(value == 1)),
            _ => Err(NoCircuit::Start(variable.name.clone())),
        },
        Some(initial) => match initial.choice().map(|choice| (choice.len(), choice.get(0))) {
            Some((1, value @ 0..=1)) => Ok(Reset::Value(value == 1)),
            Some((2, _)) => Ok(Reset::Any),
            _ => Err(NoCircuit::Start(variable.name.clone())),
        },
    }
}

/// The conditions that must not all hold again and again, if that is what the formula says.
fn repeated(temporal: &Temporal) -> Option<Vec<&Expr>> {
    let Formula::Unary(Unary::Not, all) = &temporal.formula else { return None };
    let (mut open, mut exprs) = (vec![&**all], Vec::new());
    while let Some(formula) = open.pop() {
        match formula {
            Formula::True => {}
            Formula::Binary(Binary::And, f, g) => open.extend([&**g, &**f]),
            Formula::Unary(Unary::Globally, inner) => match &**inner {
                Formula::Unary(Unary::Finally, atom) => match &**atom {
                    Formula::Atom(Atom(number)) => exprs.push(temporal.atoms.get(*number as usize)?),
                    Formula::True => exprs.push(&Expr::TRUE),
                    Formula::False => exprs.push(&Expr::FALSE),
                    _ => return None,
                },
                _ => return None,
            },
            _ => return None,
        }
    }
    Some(exprs)
}
