//! The syntax tree of a Milestones text: what was written, with its places, before any name is looked up.

use ample_logic::grammar::Operator;
use ample_logic::{self as logic, Unary};
use ample_model::Span;

use super::model::{Arithmetic, Comparison, Logic};

pub use crate::source::Name;

/// A whole text.
#[derive(Clone, Debug, Default)]
pub struct Text {
    /// The global actions.
    pub actions: Vec<Name>,
    /// The global variables.
    pub variables: Vec<Declaration>,
    /// The process types.
    pub types: Vec<ProcessType>,
    /// The processes.
    pub processes: Vec<Instances>,
    /// The global commands.
    pub commands: Vec<Command>,
    /// The formulas.
    pub formulas: Vec<Stated>,
}

/// `name : bits := initial`
#[derive(Clone, Debug)]
pub struct Declaration {
    /// The variable.
    pub name: Name,
    /// How many bits it has.
    pub bits: Expr,
    /// Its first value.
    pub initial: Option<Expr>,
}

/// `LOCAL name … END`
#[derive(Clone, Debug)]
pub struct ProcessType {
    /// Its name.
    pub name: Name,
    /// Its own actions.
    pub actions: Vec<Name>,
    /// Its own variables.
    pub variables: Vec<Declaration>,
    /// Its commands.
    pub commands: Vec<Command>,
    /// The global actions that it takes part in.
    pub sync: Vec<Name>,
}

/// `name : type[count]`
#[derive(Clone, Debug)]
pub struct Instances {
    /// What they are called.
    pub name: Name,
    /// Their type.
    pub of: Name,
    /// How many there are.
    pub count: Expr,
}

/// `[pc][action] guard : assignments`; a global command has no `pc`.
#[derive(Clone, Debug)]
pub struct Command {
    /// Where its process must stand.
    pub pc: Option<Expr>,
    /// The action.
    pub action: Name,
    /// The guard.
    pub guard: Expr,
    /// The assignments.
    pub assignments: Vec<Assignment>,
    /// From its first bracket to its last token.
    pub span: Span,
}

/// `target := value`
#[derive(Clone, Debug)]
pub struct Assignment {
    /// A name or a member: what else can be written there is known to be wrong only when names are looked up.
    pub target: Expr,
    /// The value.
    pub value: Expr,
}

/// A formula in a CTL or LTL section.
#[derive(Clone, Debug)]
pub struct Stated {
    /// In which.
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
    Number(u32),
    Truth(bool),
    /// `x`
    Name(String),
    /// `p.x` or `p[i].x`
    Member {
        process: Name,
        index: Option<Expr>,
        field: Name,
    },
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

impl Operator<logic::Binary> for Binary {
    fn logical(self) -> Option<logic::Binary> {
        if let Binary::Logical(op) = self { Some(op) } else { None }
    }
}

impl Expr {
    /// Whether a temporal operator or a quantifier occurs in it.
    pub fn is_temporal(&self) -> bool {
        match &*self.kind {
            ExprKind::Number(_) | ExprKind::Truth(_) | ExprKind::Name(_) | ExprKind::Member { .. } => false,
            ExprKind::Unary(op, x) => *op != Unary::Not || x.is_temporal(),
            ExprKind::Binary(op, x, y) => {
                op.logical().is_some_and(logic::Binary::is_temporal) || x.is_temporal() || y.is_temporal()
            }
        }
    }
}
