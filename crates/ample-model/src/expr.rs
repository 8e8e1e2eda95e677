//! Expressions and places: what guards, effects and properties are made of.
//!
//! Every expression has a value of type `i64`; truth is "not zero", as in the languages we read.
//! Arithmetic is exact and checked on `i64`: a front end whose language wraps at 32 bits writes the
//! wrap down as a [`Expr::Cast`], so that no engine has to know about it. What can go wrong (division
//! by zero, an index out of range) is a [`Fault`], never undefined.

mod shared;

use serde::{Deserialize, Serialize};

pub use self::shared::Shared;
use crate::Fault;
use crate::facts::Bounds;
use crate::system::{EdgeId, LocationId, ProcessId, RecordId, Scalar, VariableId};
use crate::visit::{Seen, Visitor, walk_expr};

/// Where a variable lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Scope {
    /// One instance for the whole system: an index into [`System::globals`](crate::System::globals).
    Global,
    /// One instance per process: an index into [`ProcessType::locals`](crate::ProcessType::locals).
    Local,
}

/// One array subscript of a [`Place`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Index {
    /// The subscript; must lie in `0..length`, else the step is a fault.
    pub at: Expr,
    /// How many elements the array has.
    pub length: u32,
    /// How many scalar slots lie between one element and the next.
    pub stride: u32,
}

/// A scalar cell: a variable, or a part of one.
///
/// The cells ("slots") of a variable are numbered from 0 in the order of its [`Type`](crate::Type):
/// records field by field, arrays element by element. A place names the slot
/// `offset + Σ index·stride`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Place {
    /// Whose variable it is.
    pub scope: Scope,
    /// Which variable.
    pub variable: VariableId,
    /// Slots to skip for the record fields selected.
    pub offset: u32,
    /// The array subscripts, outermost first.
    pub indices: Vec<Index>,
    /// The type of the cell.
    pub scalar: Scalar,
}

/// A cell of an object on the heap: a field, or a part of one. Like a [`Place`], it is a slot of the record.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Field {
    /// The type of the object.
    pub record: RecordId,
    /// Slots to skip for the fields selected.
    pub offset: u32,
    /// The array subscripts, outermost first.
    pub indices: Vec<Index>,
    /// The type of the cell.
    pub scalar: Scalar,
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum UnaryOp {
    /// `-x`
    Negate,
    /// Logical negation: 1 if the operand is 0, else 0.
    Not,
    /// Bitwise complement.
    Complement,
}

impl UnaryOp {
    /// Its value for this operand.
    pub fn apply(self, x: i64) -> Result<i64, Fault> {
        match self {
            UnaryOp::Negate => x.checked_neg().ok_or(Fault::Overflow),
            UnaryOp::Not => Ok((x == 0).into()),
            UnaryOp::Complement => Ok(!x),
        }
    }
}

/// Operators with two operands. `And` and `Or` do not evaluate their right side if the left decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum BinaryOp {
    Add,
    Subtract,
    Multiply,
    /// Truncates towards zero; division by zero is a fault.
    Divide,
    /// Sign of the dividend; division by zero is a fault.
    Remainder,
    BitAnd,
    BitOr,
    BitXor,
    /// The shift distance is taken modulo 32 (the languages we read have 32-bit integers).
    ShiftLeft,
    /// Arithmetic shift; the distance is taken modulo 32.
    ShiftRight,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    And,
    Or,
}

impl BinaryOp {
    /// Its value for these operands.
    pub fn apply(self, x: i64, y: i64) -> Result<i64, Fault> {
        let exact = |value: Option<i64>| value.ok_or(Fault::Overflow);
        match self {
            BinaryOp::Add => exact(x.checked_add(y)),
            BinaryOp::Subtract => exact(x.checked_sub(y)),
            BinaryOp::Multiply => exact(x.checked_mul(y)),
            BinaryOp::Divide | BinaryOp::Remainder if y == 0 => Err(Fault::DivisionByZero),
            BinaryOp::Divide => exact(x.checked_div(y)),
            BinaryOp::Remainder => Ok(x.wrapping_rem(y)),
            BinaryOp::BitAnd => Ok(x & y),
            BinaryOp::BitOr => Ok(x | y),
            BinaryOp::BitXor => Ok(x ^ y),
            BinaryOp::ShiftLeft => {
                let distance = y & 31;
                let shifted = x << distance;
                if shifted >> distance == x { Ok(shifted) } else { Err(Fault::Overflow) }
            }
            BinaryOp::ShiftRight => Ok(x >> (y & 31)),
            BinaryOp::Equal => Ok((x == y).into()),
            BinaryOp::NotEqual => Ok((x != y).into()),
            BinaryOp::Less => Ok((x < y).into()),
            BinaryOp::LessEqual => Ok((x <= y).into()),
            BinaryOp::Greater => Ok((x > y).into()),
            BinaryOp::GreaterEqual => Ok((x >= y).into()),
            BinaryOp::And => Ok((x != 0 && y != 0).into()),
            BinaryOp::Or => Ok((x != 0 || y != 0).into()),
        }
    }
}

/// One field of a receive or a poll: what the message must contain, or where its value goes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Pattern {
    /// The field must equal this value (a constant, or Promela's `eval(…)`).
    Match(Expr),
    /// The field is stored here, under the rule of the place's type.
    Bind(Place),
    /// The field is thrown away (Promela's `_`).
    Ignore,
}

/// A side-effect free expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Expr {
    /// A literal; also enumeration values and channel handles that the front end knows.
    Const(i64),
    /// The value of a cell.
    Read(Place),
    /// The value of a global cell after the joint step. Its subscripts are evaluated before it.
    Next(Place),
    /// The value of a cell of the object that the expression refers to; a fault if it refers to none.
    Field(Box<Expr>, Field),
    /// `op x`
    Unary(UnaryOp, Box<Expr>),
    /// `x op y`
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// The value brought into a type by the type's rule (wrap, saturate, or fault outside).
    Cast(Scalar, Box<Expr>),
    /// `if c then x else y`
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// The id of the process that evaluates this.
    SelfId,
    /// How many processes are alive; also the id that the next one spawned will get.
    ProcessCount,
    /// The id of the process that moved last; 0 before the first move.
    /// The state keeps it only if the system [`uses_last`](crate::System::uses_last).
    LastMover,
    /// True when no edge of any process is executable with this expression false:
    /// Promela's `timeout`. The lowest class of the priority rule.
    Timeout,
    /// None of these edges of the evaluating process's current location is executable.
    ///
    /// `else` is `Blocked(the options before it)`; an edge under Promela's `unless` is guarded by
    /// `Blocked(the escapes)`. The edges listed must leave the same location and stand before the
    /// guarded edge in its [`Location::edges`](crate::Location::edges). A handshake send counts as
    /// executable only if some process can receive. When a *receive* is tried as the second half of
    /// a handshake, a listed edge counts only if it could itself receive that very message.
    Blocked(Vec<EdgeId>),
    /// Some edge of that process is executable (a handshake send counts without a partner).
    /// False if there is no such process.
    Enabled(Box<Expr>),
    /// The location number ([`Location::number`](crate::Location::number)) of that process; 0 if there is none.
    LocationOf(Box<Expr>),
    /// That process is alive, has this type, and stands at one of these locations.
    /// Without an id: the process with the lowest id that has the type.
    At {
        /// The process id, or `None` for the first of its type.
        process: Option<Box<Expr>>,
        /// The type it must have.
        of: ProcessId,
        /// The locations.
        locations: Vec<LocationId>,
    },
    /// The value of a local cell of another process; 0 if there is no such process.
    Remote {
        /// The process id, or `None` for the first of its type.
        process: Option<Box<Expr>>,
        /// The type it must have.
        of: ProcessId,
        /// A place of scope [`Scope::Local`] in that process type. Its subscripts are evaluated by the reader.
        place: Place,
    },
    /// No process stands at a location marked `progress`.
    NonProgress,
    /// Some process stands at a location marked `accept`.
    Accepting,
    /// How many messages the channel holds.
    Length(Box<Expr>),
    /// The channel is full. A handshake channel is never full and always empty.
    Full(Box<Expr>),
    /// A receive with these patterns would succeed; nothing changes.
    Poll {
        /// The channel handle.
        channel: Box<Expr>,
        /// What the message must look like; `Bind` counts as `Ignore`.
        patterns: Vec<Pattern>,
        /// Any message in the buffer may match, not only the first.
        anywhere: bool,
    },
    /// The priority of that process; 0 if there is none.
    Priority(Box<Expr>),
    /// The value of an expression that stands in many places and is kept once.
    Shared(Shared),
}

impl Expr {
    /// The constant 1.
    pub const TRUE: Expr = Expr::Const(1);
    /// The constant 0.
    pub const FALSE: Expr = Expr::Const(0);

    /// `left op right`
    pub fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
        Expr::Binary(op, Box::new(left), Box::new(right))
    }

    /// `op operand`
    pub fn unary(op: UnaryOp, operand: Expr) -> Expr {
        Expr::Unary(op, Box::new(operand))
    }

    /// Calls `visit` on this expression and on every expression inside it, outermost first, and on a shared one once, after
    /// the shared ones inside it.
    pub fn walk(&self, visit: &mut dyn FnMut(&Expr)) {
        Calls::new(visit).expr(self);
    }

    /// Its value is 0 or 1, if it has one.
    pub fn has_truth_value(&self) -> bool {
        Bounds::of_expr(self).within(0, 1)
    }

    /// Its value is at least 0 and less than `length`, if it has one.
    pub fn lies_below(&self, length: u32) -> bool {
        Bounds::of_expr(self).within(0, i128::from(length) - 1)
    }

    /// The value of an expression without variables, unless it is a fault.
    pub fn constant(&self) -> Option<i64> {
        match self {
            Expr::Const(value) => Some(*value),
            Expr::Unary(op, x) => op.apply(x.constant()?).ok(),
            Expr::Binary(op, x, y) => op.apply(x.constant()?, y.constant()?).ok(),
            Expr::Cast(scalar, x) => scalar.fit(x.constant()?),
            Expr::Shared(x) => x.known_value(),
            _ => None,
        }
    }
}

/// Calls a function on every expression.
struct Calls<'v, 'a> {
    visit: &'v mut dyn FnMut(&Expr),
    seen: Seen<'a>,
}

impl<'v> Calls<'v, '_> {
    fn new(visit: &'v mut dyn FnMut(&Expr)) -> Self {
        Calls { visit, seen: Seen::default() }
    }
}

impl<'a> Visitor<'a> for Calls<'_, 'a> {
    fn expr(&mut self, expr: &'a Expr) {
        (self.visit)(expr);
        walk_expr(self, expr);
    }

    fn shared(&mut self, shared: &'a Shared) {
        for part in self.seen.unseen(shared) {
            self.expr(part);
        }
    }
}

impl Place {
    /// Calls `visit` on every expression inside the subscripts.
    pub fn walk(&self, visit: &mut dyn FnMut(&Expr)) {
        Calls::new(visit).place(self);
    }

    /// The slots of its variable that it can mean: one, unless a subscript is not constant. Those outside of the array are
    /// not among them.
    pub fn possible_slots(&self) -> Vec<u32> {
        let mut slots = vec![self.offset];
        for index in &self.indices {
            let positions = match &index.at {
                Expr::Const(at) => match u32::try_from(*at) {
                    Ok(at) if at < index.length => at..at + 1,
                    _ => 0..0,
                },
                _ => 0..index.length,
            };
            let step = |slot: &u32, i: u32| slot + i * index.stride;
            slots = slots.iter().flat_map(|slot| positions.clone().map(move |i| step(slot, i))).collect();
        }
        slots
    }
}

impl Pattern {
    /// Calls `visit` on every expression inside the pattern.
    pub fn walk(&self, visit: &mut dyn FnMut(&Expr)) {
        Calls::new(visit).pattern(self);
    }
}
