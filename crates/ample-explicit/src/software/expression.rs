//! Expressions over the variables of a state (§4.1.6 of the thesis).
//!
//! Comparing, logical and numerical expressions work for every [data type](super::data) that opts into them. A new kind of
//! expression is a new implementation of [`Expression`].

use std::cmp::Ordering;
use std::fmt::Debug;
use std::sync::Arc;

use thiserror::Error;

use super::state::{Node, SoftwareState};
use super::types::{TypeGraph, TypeId, VariableId};

/// A run-time error: the step has no state after it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Fault {
    /// Something refers to nothing where an instance is needed.
    #[error("`{0}` refers to nothing")]
    Null(String),
    /// A division by zero.
    #[error("division by zero in `{0}`")]
    DivisionByZero(String),
    /// A number that is out of range before it can be truncated.
    #[error("the value of `{0}` is out of range")]
    OutOfRange(String),
    /// What [`Expression::check`] would have refused.
    #[error("`{0}` is used with a type that does not support it")]
    Type(String),
}

/// An error in the types of a model.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TypeError {
    /// There is no variable of that name.
    #[error("there is no variable `{name}` in `{scope}`")]
    Unknown {
        /// The name.
        name: String,
        /// The type in which it was looked for.
        scope: String,
    },
    /// The variable belongs to another scope.
    #[error("the variable `{0}` cannot be seen here")]
    Scope(String),
    /// The operands do not support the operation.
    #[error("`{0}` is not defined for its operands")]
    Operands(String),
    /// A value of that type is expected here.
    #[error("`{0}` has the wrong type here")]
    Mismatch(String),
    /// A variable whose instance is its own cannot be referred to, or made to refer to something.
    #[error("`{0}` is not a reference")]
    NoReference(String),
    /// A wrong number of arguments.
    #[error("`{0}` has the wrong number of arguments")]
    Arguments(String),
    /// An instance would have to contain another one of its own type.
    #[error("the type `{0}` contains itself")]
    Recursive(String),
    /// More processes than there are identifiers.
    #[error("there are {0} processes at the beginning, and at most 256 are supported")]
    TooManyProcesses(usize),
    /// Something other than a process is run, or other than a function called.
    #[error("`{0}` cannot be called or run")]
    Callee(String),
}

/// What the evaluation of an expression gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Datum {
    /// A value of a data type.
    Word(TypeId, u64),
    /// A truth value of no particular type.
    Truth(bool),
    /// A number of no particular type.
    Number(i64),
    /// An instance, or none.
    Reference(Option<Node>),
}

/// What kind of [`Datum`] an expression gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatumKind {
    /// A value of that type.
    Word(TypeId),
    /// A truth value.
    Truth,
    /// A number.
    Number,
    /// An instance of that type, or of any if there is none.
    Reference(Option<TypeId>),
}

impl DatumKind {
    fn is_logical(self, types: &TypeGraph) -> bool {
        match self {
            DatumKind::Word(of) => types.data_type(of).is_some_and(|data| data.logical().is_some()),
            DatumKind::Truth | DatumKind::Number => true,
            DatumKind::Reference(_) => false,
        }
    }

    fn is_numerical(self, types: &TypeGraph) -> bool {
        match self {
            DatumKind::Word(of) => types.data_type(of).is_some_and(|data| data.numerical().is_some()),
            DatumKind::Truth | DatumKind::Number => true,
            DatumKind::Reference(_) => false,
        }
    }

    /// Can a value of this kind be assigned to a variable of that data type?
    pub(super) fn is_assignable(self, types: &TypeGraph, to: TypeId) -> bool {
        let Some(data) = types.data_type(to) else { return false };
        match self {
            DatumKind::Word(of) if of == to => true,
            DatumKind::Word(_) | DatumKind::Number => data.numerical().is_some() && self.is_numerical(types),
            DatumKind::Truth => data.logical().is_some(),
            DatumKind::Reference(_) => false,
        }
    }
}

/// Where something is evaluated: a state, and the top of the call stack of the process that does it.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// The types.
    pub types: &'a TypeGraph,
    /// The state.
    pub state: &'a SoftwareState,
    /// The process.
    pub process: Node,
    /// The process or function whose variables are seen, beside the global ones.
    pub top: Node,
    /// Processes have identifiers of that many bits.
    pub pid_bits: u32,
}

impl Frame<'_> {
    /// A datum as a truth value.
    pub fn truth(&self, datum: Datum, text: impl Fn() -> String) -> Result<bool, Fault> {
        match datum {
            Datum::Truth(truth) => Ok(truth),
            Datum::Number(number) => Ok(number != 0),
            Datum::Word(of, word) => {
                let logical = self.types.data_type(of).and_then(|data| data.logical());
                Ok(logical.ok_or_else(|| Fault::Type(text()))?.truth(word))
            }
            Datum::Reference(_) => Err(Fault::Type(text())),
        }
    }

    /// A datum as a number.
    pub fn number(&self, datum: Datum, text: impl Fn() -> String) -> Result<i64, Fault> {
        match datum {
            Datum::Truth(truth) => Ok(truth.into()),
            Datum::Number(number) => Ok(number),
            Datum::Word(of, word) => {
                let numerical = self.types.data_type(of).and_then(|data| data.numerical());
                Ok(numerical.ok_or_else(|| Fault::Type(text()))?.number(word))
            }
            Datum::Reference(_) => Err(Fault::Type(text())),
        }
    }

    /// A datum as a value of a data type.
    pub fn word(&self, datum: Datum, of: TypeId, text: impl Fn() -> String) -> Result<u64, Fault> {
        let data = self.types.data_type(of).ok_or_else(|| Fault::Type(text()))?;
        match datum {
            Datum::Word(same, word) if same == of => Ok(word),
            Datum::Truth(truth) => Ok(data.logical().ok_or_else(|| Fault::Type(text()))?.word(truth)),
            other => {
                let numerical = data.numerical().ok_or_else(|| Fault::Type(text()))?;
                Ok(numerical.word(self.number(other, text)?))
            }
        }
    }
}

/// Something that has a value in a state.
pub trait Expression: Debug + Send + Sync {
    /// What it gives, if its types are right where the variables of `scope` and the global ones are seen.
    fn check(&self, types: &TypeGraph, scope: TypeId) -> Result<DatumKind, TypeError>;

    /// Its value.
    fn eval(&self, at: &Frame<'_>) -> Result<Datum, Fault>;

    /// It reads nothing but variables of the process or function itself that nobody else refers to.
    fn is_local(&self, types: &TypeGraph) -> bool;

    /// It as text.
    fn text(&self) -> String;
}

/// A shared expression.
pub type Expr = Arc<dyn Expression>;

/// A variable, or a variable of what that refers to, and so on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    base: VariableId,
    fields: Vec<VariableId>,
    text: String,
}

impl TypeGraph {
    /// The place of that name, such as `x` or `fork.value`, as it is seen in a process, in a function or globally.
    ///
    /// ```
    /// use ample_explicit::software::data::Boolean;
    /// use ample_explicit::software::types::TypeGraph;
    ///
    /// let mut types = TypeGraph::new();
    /// let (boolean, fork, philosopher) = (types.data(Boolean), types.record("Fork"), types.process("P"));
    /// types.variable(fork, "value", boolean);
    /// types.reference(philosopher, "left", fork);
    /// assert!(types.place(philosopher, "left.value").is_ok());
    /// assert!(types.place(philosopher, "right").is_err());
    /// ```
    pub fn place(&self, scope: TypeId, text: &str) -> Result<Place, TypeError> {
        let find = |scope: TypeId, name: &str| {
            let variables = self.get(scope).variables.iter().copied();
            variables
                .clone()
                .find(|id| self.get_variable(*id).name == name)
                .ok_or_else(|| TypeError::Unknown { name: name.to_owned(), scope: self.get(scope).name.clone() })
        };
        let mut names = text.split('.');
        let name = names.next().unwrap_or_default();
        let base = find(scope, name).or_else(|error| find(TypeId::GLOBAL, name).map_err(|_| error))?;
        let mut fields = Vec::new();
        let mut at = self.get_variable(base).data;
        for name in names {
            let field = find(at, name)?;
            at = self.get_variable(field).data;
            fields.push(field);
        }
        Ok(Place { base, fields, text: text.to_owned() })
    }
}

impl Place {
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    fn last(&self) -> VariableId {
        self.fields.last().copied().unwrap_or(self.base)
    }

    /// The data type at the place.
    pub fn data(&self, types: &TypeGraph) -> TypeId {
        types.get_variable(self.last()).data
    }

    pub(super) fn is_reference(&self, types: &TypeGraph) -> bool {
        types.get_variable(self.last()).is_reference
    }

    /// It belongs to the process or function, and nothing on the way to it is shared with others; nor is the variable
    /// itself a reference, unless only the reference is meant.
    pub(super) fn is_local(&self, types: &TypeGraph, only_reference: bool) -> bool {
        let all = [self.base].into_iter().chain(self.fields.iter().copied());
        let shared = all.filter(|id| types.get_variable(*id).is_reference).count();
        let allowed = usize::from(only_reference && self.is_reference(types));
        types.get_variable(self.base).scope != TypeId::GLOBAL && shared <= allowed
    }

    pub(super) fn check(&self, types: &TypeGraph, scope: TypeId) -> Result<(), TypeError> {
        let of = types.get_variable(self.base).scope;
        let mut at = types.get_variable(self.base).data;
        for field in &self.fields {
            if types.get_variable(*field).scope != at {
                return Err(TypeError::Scope(self.text.clone()));
            }
            at = types.get_variable(*field).data;
        }
        if of == TypeId::GLOBAL || of == scope { Ok(()) } else { Err(TypeError::Scope(self.text.clone())) }
    }

    /// The instance whose variable it is, and the variable.
    pub(super) fn owner(&self, at: &Frame<'_>) -> Result<(Node, VariableId), Fault> {
        let is_global = at.types.get_variable(self.base).scope == TypeId::GLOBAL;
        let mut node = if is_global { Node::GLOBAL } else { at.top };
        let mut variable = self.base;
        for field in &self.fields {
            let to = at.state.value(at.types, node, variable);
            node = to.ok_or_else(|| Fault::Null(self.text.clone()))?;
            variable = *field;
        }
        Ok((node, variable))
    }

    /// What it refers to.
    pub fn node(&self, at: &Frame<'_>) -> Result<Option<Node>, Fault> {
        let (owner, variable) = self.owner(at)?;
        Ok(at.state.value(at.types, owner, variable))
    }
}

/// The value of a variable: that of the instance it refers to.
#[derive(Clone, Debug)]
pub struct Value(pub Place);

impl Expression for Value {
    fn check(&self, types: &TypeGraph, scope: TypeId) -> Result<DatumKind, TypeError> {
        self.0.check(types, scope)?;
        Ok(DatumKind::Word(self.0.data(types)))
    }

    fn eval(&self, at: &Frame<'_>) -> Result<Datum, Fault> {
        let node = self.0.node(at)?.ok_or_else(|| Fault::Null(self.0.text.clone()))?;
        let instance = at.state.get(node);
        Ok(Datum::Word(instance.of, instance.word))
    }

    fn is_local(&self, types: &TypeGraph) -> bool {
        self.0.is_local(types, false)
    }

    fn text(&self) -> String {
        self.0.text.clone()
    }
}

/// The instance that a reference refers to: what is compared by identity and passed on, not its value.
#[derive(Clone, Debug)]
pub struct Reference(pub Place);

impl Expression for Reference {
    fn check(&self, types: &TypeGraph, scope: TypeId) -> Result<DatumKind, TypeError> {
        self.0.check(types, scope)?;
        if !self.0.is_reference(types) {
            return Err(TypeError::NoReference(self.0.text.clone()));
        }
        Ok(DatumKind::Reference(Some(self.0.data(types))))
    }

    fn eval(&self, at: &Frame<'_>) -> Result<Datum, Fault> {
        Ok(Datum::Reference(self.0.node(at)?))
    }

    fn is_local(&self, types: &TypeGraph) -> bool {
        self.0.is_local(types, true)
    }

    fn text(&self) -> String {
        format!("&{}", self.0.text)
    }
}

/// A constant.
#[derive(Clone, Copy, Debug)]
pub enum Literal {
    /// A number.
    Number(i64),
    /// A truth value.
    Truth(bool),
    /// A value of a data type.
    Word(TypeId, u64),
    /// The reference to nothing.
    Null,
}

impl Expression for Literal {
    fn check(&self, _: &TypeGraph, _: TypeId) -> Result<DatumKind, TypeError> {
        Ok(match self {
            Literal::Number(_) => DatumKind::Number,
            Literal::Truth(_) => DatumKind::Truth,
            Literal::Word(of, _) => DatumKind::Word(*of),
            Literal::Null => DatumKind::Reference(None),
        })
    }

    fn eval(&self, _: &Frame<'_>) -> Result<Datum, Fault> {
        Ok(match self {
            Literal::Number(number) => Datum::Number(*number),
            Literal::Truth(truth) => Datum::Truth(*truth),
            Literal::Word(of, word) => Datum::Word(*of, *word),
            Literal::Null => Datum::Reference(None),
        })
    }

    fn is_local(&self, _: &TypeGraph) -> bool {
        true
    }

    fn text(&self) -> String {
        match self {
            Literal::Number(number) => number.to_string(),
            Literal::Truth(truth) => truth.to_string(),
            Literal::Word(_, word) => word.to_string(),
            Literal::Null => "null".to_owned(),
        }
    }
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    fn holds(self, order: Option<Ordering>) -> bool {
        match self {
            Comparison::Equal => order == Some(Ordering::Equal),
            Comparison::NotEqual => order != Some(Ordering::Equal),
            Comparison::Less => order == Some(Ordering::Less),
            Comparison::LessOrEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
            Comparison::Greater => order == Some(Ordering::Greater),
            Comparison::GreaterOrEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        }
    }

    fn symbol(self) -> &'static str {
        match self {
            Comparison::Equal => "==",
            Comparison::NotEqual => "!=",
            Comparison::Less => "<",
            Comparison::LessOrEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterOrEqual => ">=",
        }
    }
}

/// A comparison: of values of one type that is [`Comparing`](super::data::Comparing), of numbers, of truth values, or of
/// references, which are equal or not.
#[derive(Clone, Debug)]
pub struct ComparingExpression(pub Expr, pub Comparison, pub Expr);

impl Expression for ComparingExpression {
    fn check(&self, types: &TypeGraph, scope: TypeId) -> Result<DatumKind, TypeError> {
        let (one, other) = (self.0.check(types, scope)?, self.2.check(types, scope)?);
        let may = match (one, other) {
            (DatumKind::Word(of), DatumKind::Word(same)) if of == same => {
                types.data_type(of).is_some_and(|data| data.comparing().is_some())
            }
            (DatumKind::Reference(one), DatumKind::Reference(other)) => {
                let same = one.is_none() || other.is_none() || one == other;
                same && matches!(self.1, Comparison::Equal | Comparison::NotEqual)
            }
            (DatumKind::Truth, other) | (other, DatumKind::Truth) => other.is_logical(types),
            _ => one.is_numerical(types) && other.is_numerical(types),
        };
        if may { Ok(DatumKind::Truth) } else { Err(TypeError::Operands(self.text())) }
    }

    fn eval(&self, at: &Frame<'_>) -> Result<Datum, Fault> {
        let text = || self.text();
        let order = match (self.0.eval(at)?, self.2.eval(at)?) {
            (Datum::Word(of, one), Datum::Word(same, other)) if of == same => {
                let comparing = at.types.data_type(of).and_then(|data| data.comparing());
                comparing.ok_or_else(|| Fault::Type(text()))?.compare(one, other)
            }
            (Datum::Reference(one), Datum::Reference(other)) => (one == other).then_some(Ordering::Equal),
            (one @ Datum::Truth(_), other) | (one, other @ Datum::Truth(_)) => {
                Some(at.truth(one, text)?.cmp(&at.truth(other, text)?))
            }
            (one, other) => Some(at.number(one, text)?.cmp(&at.number(other, text)?)),
        };
        Ok(Datum::Truth(self.1.holds(order)))
    }

    fn is_local(&self, types: &TypeGraph) -> bool {
        self.0.is_local(types) && self.2.is_local(types)
    }

    fn text(&self) -> String {
        format!("({} {} {})", self.0.text(), self.1.symbol(), self.2.text())
    }
}

/// A combination of truth values. What follows from the first operand is not looked for in the second.
#[derive(Clone, Debug)]
pub enum LogicalExpression {
    /// Both.
    And(Expr, Expr),
    /// One or both.
    Or(Expr, Expr),
    /// Not.
    Not(Expr),
}

impl Expression for LogicalExpression {
    fn check(&self, types: &TypeGraph, scope: TypeId) -> Result<DatumKind, TypeError> {
        let logical = |one: &Expr| Ok(one.check(types, scope)?.is_logical(types));
        let may = match self {
            LogicalExpression::And(one, other) | LogicalExpression::Or(one, other) => logical(one)? && logical(other)?,
            LogicalExpression::Not(one) => logical(one)?,
        };
        if may { Ok(DatumKind::Truth) } else { Err(TypeError::Operands(self.text())) }
    }

    fn eval(&self, at: &Frame<'_>) -> Result<Datum, Fault> {
        let truth = |one: &Expr| at.truth(one.eval(at)?, || one.text());
        Ok(Datum::Truth(match self {
            LogicalExpression::And(one, other) => truth(one)? && truth(other)?,
            LogicalExpression::Or(one, other) => truth(one)? || truth(other)?,
            LogicalExpression::Not(one) => !truth(one)?,
        }))
    }

    fn is_local(&self, types: &TypeGraph) -> bool {
        match self {
            LogicalExpression::And(one, other) | LogicalExpression::Or(one, other) => {
                one.is_local(types) && other.is_local(types)
            }
            LogicalExpression::Not(one) => one.is_local(types),
        }
    }

    fn text(&self) -> String {
        match self {
            LogicalExpression::And(one, other) => format!("({} && {})", one.text(), other.text()),
            LogicalExpression::Or(one, other) => format!("({} || {})", one.text(), other.text()),
            LogicalExpression::Not(one) => format!("!{}", one.text()),
        }
    }
}

/// What is computed from two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs)]
pub enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// Arithmetic on values of types that are [`Numerical`](super::data::Numerical). The result is a number of no particular
/// type: it is truncated when it is assigned.
#[derive(Clone, Debug)]
pub struct NumericalExpression(pub Expr, pub Arithmetic, pub Expr);

impl Expression for NumericalExpression {
    fn check(&self, types: &TypeGraph, scope: TypeId) -> Result<DatumKind, TypeError> {
        let both = [&self.0, &self.2].map(|one| Ok(one.check(types, scope)?.is_numerical(types)));
        let [one, other] = both;
        if one? && other? { Ok(DatumKind::Number) } else { Err(TypeError::Operands(self.text())) }
    }

    fn eval(&self, at: &Frame<'_>) -> Result<Datum, Fault> {
        let text = || self.text();
        let (one, other) = (at.number(self.0.eval(at)?, text)?, at.number(self.2.eval(at)?, text)?);
        if other == 0 && matches!(self.1, Arithmetic::Divide | Arithmetic::Remainder) {
            return Err(Fault::DivisionByZero(text()));
        }
        let number = match self.1 {
            Arithmetic::Add => one.checked_add(other),
            Arithmetic::Subtract => one.checked_sub(other),
            Arithmetic::Multiply => one.checked_mul(other),
            Arithmetic::Divide => one.checked_div(other),
            Arithmetic::Remainder => one.checked_rem(other),
        };
        number.map(Datum::Number).ok_or_else(|| Fault::OutOfRange(text()))
    }

    fn is_local(&self, types: &TypeGraph) -> bool {
        self.0.is_local(types) && self.2.is_local(types)
    }

    fn text(&self) -> String {
        let symbol = match self.1 {
            Arithmetic::Add => '+',
            Arithmetic::Subtract => '-',
            Arithmetic::Multiply => '*',
            Arithmetic::Divide => '/',
            Arithmetic::Remainder => '%',
        };
        format!("({} {symbol} {})", self.0.text(), self.2.text())
    }
}

/// A value as one of another data type, truncated as that does it.
#[derive(Clone, Debug)]
pub struct Cast(pub TypeId, pub Expr);

impl Expression for Cast {
    fn check(&self, types: &TypeGraph, scope: TypeId) -> Result<DatumKind, TypeError> {
        if self.1.check(types, scope)?.is_assignable(types, self.0) {
            Ok(DatumKind::Word(self.0))
        } else {
            Err(TypeError::Operands(self.text()))
        }
    }

    fn eval(&self, at: &Frame<'_>) -> Result<Datum, Fault> {
        Ok(Datum::Word(self.0, at.word(self.1.eval(at)?, self.0, || self.text())?))
    }

    fn is_local(&self, types: &TypeGraph) -> bool {
        self.1.is_local(types)
    }

    fn text(&self) -> String {
        self.1.text()
    }
}
