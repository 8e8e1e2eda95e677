//! The flattened model: what a Milestones text says, with every name resolved and every instance written out.
//!
//! Plain data, for whoever translates models into something else. The variables of all processes stand in one list,
//! globals first, then the locals of each process in the order of declaration: the order of the thesis's `var(T)`.
//! What fires when is said here once, on [`Model`].

use ample_logic::Formula;
use ample_model::{Source, Span};

use crate::diagnostic::Diagnostic;

/// A variable: its place in [`Model::variables`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VariableId(pub usize);

/// A global action: its place in [`Model::actions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActionId(pub usize);

/// A model, flattened.
///
/// A state gives each variable a value. A *local* action fires by one command of its process that is enabled (its
/// `pc` and its guard hold). A *global* action fires if some [global command](Model::commands) for it is enabled and
/// every process that [lists](Process::sync) it has an enabled command for it; one of each is chosen. The assignments
/// of all commands that fire together read the state before the step. All other variables keep their values.
#[derive(Clone, Debug)]
pub struct Model {
    /// A name to show; the file's usually.
    pub name: String,
    /// The text.
    pub source: Source,
    /// The names of the global actions, in order of declaration.
    pub actions: Vec<String>,
    /// All variables: globals, then the locals of each process.
    pub variables: Vec<Variable>,
    /// The process instances, in order of declaration.
    pub processes: Vec<Process>,
    /// The global commands, in the order of the text.
    pub commands: Vec<GlobalCommand>,
    /// What is to be checked: the formulas in the order of the text.
    pub properties: Vec<Property>,
    /// What the user should know all the same.
    pub warnings: Vec<Diagnostic>,
}

/// A variable: an unsigned number of so many bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The full name: `g`, or `a[0].x` for a local.
    pub name: String,
    /// The name as declared: `g`, `x`.
    pub short: String,
    /// Whose local it is: an index into [`Model::processes`]; `None` for a global.
    pub owner: Option<usize>,
    /// 1 to 32; the values are 0 to 2^bits − 1.
    pub bits: u8,
    /// Its first value; without one, every value is a first value.
    pub initial: Option<u32>,
    /// Where it is declared.
    pub span: Span,
}

/// One instance of a process type.
#[derive(Clone, Debug)]
pub struct Process {
    /// `a[0]`.
    pub name: String,
    /// The name of the group that it belongs to: `a`.
    pub group: String,
    /// Its number in the group.
    pub index: usize,
    /// How many instances the group has.
    pub count: usize,
    /// The name of its type.
    pub of: String,
    /// Its variables, one after the other in [`Model::variables`].
    pub variables: std::ops::Range<usize>,
    /// Its variable `pc`.
    pub pc: VariableId,
    /// The names of its local actions, in order of declaration.
    pub actions: Vec<String>,
    /// The global actions that it takes part in.
    pub sync: Vec<ActionId>,
    /// Its commands, in the order of the text.
    pub commands: Vec<Command>,
    /// Where it is declared.
    pub span: Span,
}

/// What a command of a process is labelled with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Label {
    /// An action of its own: an index into [`Process::actions`].
    Local(usize),
    /// A global action.
    Global(ActionId),
}

/// A guarded command of a process. Under a global action it reads and writes only variables of its own process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// What the process's `pc` must be.
    pub pc: u32,
    /// The action.
    pub action: Label,
    /// What else must hold.
    pub guard: Condition,
    /// What it does, all at once; the targets are distinct.
    pub assignments: Vec<Assignment>,
    /// Where it stands.
    pub span: Span,
}

/// A guarded command of a global action. It writes only globals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobalCommand {
    /// The action.
    pub action: ActionId,
    /// What must hold.
    pub guard: Condition,
    /// What it does, all at once; the targets are distinct.
    pub assignments: Vec<Assignment>,
    /// Where it stands.
    pub span: Span,
}

/// `target := value`; the target keeps the low bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// Where the value goes.
    pub target: VariableId,
    /// The value.
    pub value: Value,
    /// Where it stands.
    pub span: Span,
}

/// An arithmetic expression with its width: *every* operation inside is done modulo 2^bits, where `bits` is the width
/// of the widest variable or constant in the whole expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// 1 to 32.
    pub bits: u8,
    /// The expression.
    pub number: Number,
}

/// An arithmetic expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Number {
    /// A constant. An expression of constants only has been computed exactly.
    Const(u32),
    /// The value of a variable.
    Read(VariableId),
    /// `x op y`
    Binary(Arithmetic, Box<Number>, Box<Number>),
}

/// Arithmetic operators, on unsigned numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    /// By zero it is a fault.
    Divide,
    /// By zero it is a fault.
    Remainder,
}

/// A comparison of two values, as they were computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// A condition. The operators of two operands look at the left one first; `And`, `Or` and `Implies` do not look at the
/// right one if the left one decides.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Condition {
    Const(bool),
    Compare(Comparison, Value, Value),
    Not(Box<Condition>),
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
    Implies(Box<Condition>, Box<Condition>),
    Iff(Box<Condition>, Box<Condition>),
}

/// Linear or branching time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Logic {
    /// Computation tree logic: each temporal operator stands directly below its own quantifier.
    Ctl,
    /// Linear temporal logic: there are no quantifiers.
    Ltl,
}

/// A formula to be checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// `ctl1`, `ltl2`, or the name that it was given.
    pub name: String,
    /// How it is meant.
    pub logic: Logic,
    /// The formula. What lies below the lowest temporal operator is one atom.
    pub formula: Formula,
    /// What its atoms stand for, by their numbers.
    pub atoms: Vec<Condition>,
    /// As the user wrote it.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

impl Model {
    /// The variable of that id.
    pub fn variable(&self, id: VariableId) -> &Variable {
        &self.variables[id.0]
    }

    /// The global variables, which come first.
    pub fn globals(&self) -> &[Variable] {
        let end = self.variables.iter().position(|variable| variable.owner.is_some());
        &self.variables[..end.unwrap_or(self.variables.len())]
    }

    /// The processes that take part in a global action.
    pub fn participants(&self, action: ActionId) -> impl Iterator<Item = &Process> {
        self.processes.iter().filter(move |process| process.sync.contains(&action))
    }

    /// The global commands of an action.
    pub fn commands_of(&self, action: ActionId) -> impl Iterator<Item = &GlobalCommand> {
        self.commands.iter().filter(move |command| command.action == action)
    }

    /// The name of an action of a process.
    pub fn action_name<'a>(&'a self, process: &'a Process, label: Label) -> &'a str {
        match label {
            Label::Local(index) => &process.actions[index],
            Label::Global(ActionId(index)) => &self.actions[index],
        }
    }
}

impl Variable {
    /// The largest value.
    pub fn largest(&self) -> u32 {
        u32::MAX >> (32 - u32::from(self.bits.clamp(1, 32)))
    }
}

impl Process {
    /// The commands labelled with a global action.
    pub fn commands_of(&self, action: ActionId) -> impl Iterator<Item = &Command> {
        self.commands.iter().filter(move |command| command.action == Label::Global(action))
    }
}

impl Number {
    /// Calls `visit` on every variable that is read, from left to right.
    pub fn reads(&self, visit: &mut dyn FnMut(VariableId)) {
        match self {
            Number::Const(_) => {}
            Number::Read(variable) => visit(*variable),
            Number::Binary(_, x, y) => {
                x.reads(visit);
                y.reads(visit);
            }
        }
    }

    /// Whether it may be a fault: whether it divides.
    pub fn divides(&self) -> bool {
        match self {
            Number::Const(_) | Number::Read(_) => false,
            Number::Binary(Arithmetic::Divide | Arithmetic::Remainder, ..) => true,
            Number::Binary(_, x, y) => x.divides() || y.divides(),
        }
    }
}

impl Condition {
    /// Calls `visit` on both sides of every comparison, from left to right.
    pub fn values(&self, visit: &mut dyn FnMut(&Value)) {
        match self {
            Condition::Const(_) => {}
            Condition::Compare(_, x, y) => {
                visit(x);
                visit(y);
            }
            Condition::Not(x) => x.values(visit),
            Condition::And(x, y) | Condition::Or(x, y) | Condition::Implies(x, y) | Condition::Iff(x, y) => {
                x.values(visit);
                y.values(visit);
            }
        }
    }

    /// Calls `visit` on every variable that is read, from left to right.
    pub fn reads(&self, visit: &mut dyn FnMut(VariableId)) {
        self.values(&mut |value| value.number.reads(visit));
    }

    /// Whether it may be a fault: whether it divides.
    pub fn divides(&self) -> bool {
        let mut divides = false;
        self.values(&mut |value| divides |= value.number.divides());
        divides
    }

    /// Its conjuncts, from left to right; none if it is `true`.
    pub fn conjuncts(&self) -> Vec<&Condition> {
        match self {
            Condition::Const(true) => Vec::new(),
            Condition::And(x, y) => {
                let mut all = x.conjuncts();
                all.extend(y.conjuncts());
                all
            }
            other => vec![other],
        }
    }
}
