//! The syntax tree of a SoftVer text: what was written, with its places, before any name is looked up.

use ample_logic::grammar::Operator;
use ample_logic::{self as logic, Unary};
use ample_model::Span;

pub use crate::source::Name;

/// A whole text.
#[derive(Clone, Debug, Default)]
pub struct Text {
    /// How many bits an integer has.
    pub integer_length: Option<Number>,
    /// The processes; a program without the word `process` is one.
    pub processes: Vec<Process>,
    /// The formulas.
    pub formulas: Vec<Stated>,
}

/// A number that was written.
#[derive(Clone, Copy, Debug)]
pub struct Number {
    /// Its value.
    pub value: u64,
    /// Where it stands.
    pub span: Span,
}

/// `process name declarations { block }`
#[derive(Clone, Debug)]
pub struct Process {
    /// Its name; a sequential program has none.
    pub name: Option<Name>,
    /// Its variables.
    pub declarations: Vec<Declaration>,
    /// What it does.
    pub body: Block,
    /// Where it begins: its name, or its first bracket.
    pub span: Span,
}

/// `type name[cells] = initial`
#[derive(Clone, Debug)]
pub struct Declaration {
    /// The type of the variable, or of a cell of the array.
    pub ty: TypeName,
    /// The variable.
    pub name: Name,
    /// How many cells it has, if it is an array.
    pub cells: Option<Number>,
    /// The values it may start with; none if nothing is said.
    pub initial: Vec<Expr>,
}

/// A type.
#[derive(Clone, Debug)]
pub enum TypeName {
    /// `boolean`
    Boolean,
    /// `int`, or `int(bits)`
    Int(Option<Number>),
    /// `enum { names }`
    Enum(Vec<Name>),
}

/// Statements, one after the other, and marks of modules between them.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// The statements.
    pub statements: Vec<Statement>,
    /// The marks: before which statement each stands, and where.
    pub marks: Vec<(usize, Span)>,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Statement {
    /// What it is.
    pub kind: StatementKind,
    /// All of it, or the head of an `if` or a `while`.
    pub span: Span,
    /// How many statements there are in it, itself included.
    pub size: usize,
}

/// What a statement is.
#[derive(Clone, Debug)]
pub enum StatementKind {
    /// `skip`
    Skip,
    /// `label name`
    Label(Name),
    /// `target := value`, or `target := { values }`
    Assign {
        /// What is assigned to.
        target: Target,
        /// The values; one of them is assigned.
        values: Vec<Expr>,
        /// Where the braces stand, if there are any.
        braces: Option<Span>,
    },
    /// `send(process, value)`
    Send(Name, Expr),
    /// `receive(process, target)`
    Receive(Name, Target),
    /// `if condition then block else block fi`
    If(Expr, Block, Block),
    /// `while condition do block od`
    While(Expr, Block),
}

/// `name` or `name[index]`
#[derive(Clone, Debug)]
pub struct Target {
    /// The variable.
    pub name: Name,
    /// The subscript.
    pub index: Option<Expr>,
    /// All of it.
    pub span: Span,
}

/// The two logics of formulas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Logic {
    /// Computation tree logic: `SPEC`.
    Ctl,
    /// Linear temporal logic: `LTLSPEC`.
    Ltl,
}

/// A formula.
#[derive(Clone, Debug)]
pub struct Stated {
    /// Its logic.
    pub logic: Logic,
    /// The name that it was given.
    pub name: Option<Name>,
    /// The formula.
    pub formula: Expr,
}

/// An expression, a condition or a formula: which of these is found out when names are looked up.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: Box<ExprKind>,
    /// Where it stands.
    pub span: Span,
    /// Where its operator stands; the same as `span` if it has none.
    pub operator: Span,
    /// How high its tree is.
    pub height: usize,
}

/// What an expression is.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum ExprKind {
    Number(u64),
    Truth(bool),
    /// `x`, `a[i]`, `P.x` or `P.a[i]`
    Variable {
        process: Option<Name>,
        name: Name,
        index: Option<Expr>,
    },
    /// `label(h)` or `label(P.h)`; without a name, `label(terminate)`
    Label {
        process: Option<Name>,
        label: Option<Name>,
    },
    /// `-x`
    Negate(Expr),
    Unary(Unary, Expr),
    Binary(Binary, Expr, Expr),
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Binary {
    Arithmetic(Arithmetic),
    Compare(Comparison),
    Logical(logic::Binary),
}

/// Operators between integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Arithmetic {
    Add,
    Subtract,
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

impl Operator<logic::Binary> for Binary {
    fn logical(self) -> Option<logic::Binary> {
        if let Binary::Logical(op) = self { Some(op) } else { None }
    }
}

impl Expr {
    /// Whether a temporal operator or a quantifier occurs in it.
    pub fn is_temporal(&self) -> bool {
        match &*self.kind {
            ExprKind::Number(_) | ExprKind::Truth(_) | ExprKind::Label { .. } => false,
            ExprKind::Variable { index, .. } => index.as_ref().is_some_and(Expr::is_temporal),
            ExprKind::Negate(x) => x.is_temporal(),
            ExprKind::Unary(op, x) => *op != Unary::Not || x.is_temporal(),
            ExprKind::Binary(op, x, y) => {
                op.logical().is_some_and(logic::Binary::is_temporal) || x.is_temporal() || y.is_temporal()
            }
        }
    }
}
