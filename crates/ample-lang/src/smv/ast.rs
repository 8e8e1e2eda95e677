//! The tree of a text: modules, declarations, expressions and formulas, all with their places.

use ample_model::Span;

/// A name, as it is written.
#[derive(Clone, Debug)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// An expression or a formula.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it is.
    pub kind: Kind,
    /// Where it stands.
    pub span: Span,
}

/// What an expression or a formula is.
#[derive(Clone, Debug)]
pub enum Kind {
    /// `TRUE`, `FALSE`.
    Boolean(bool),
    /// An integer.
    Number(i64),
    /// A constant of a word type, as a number.
    Word {
        /// Between which values it lies is said by the type.
        value: i64,
        /// How many bits.
        bits: u32,
        /// Two's complement.
        signed: bool,
    },
    /// A name.
    Name(String),
    /// `self`: this instance.
    Itself,
    /// `a.b`
    Dot(Box<Node>, Name),
    /// `a[i]`
    Index(Box<Node>, Box<Node>),
    /// `a[high : low]`
    Bits(Box<Node>, Box<Node>, Box<Node>),
    /// `!a`, `-a`
    Unary(Unary, Box<Node>),
    /// `a op b`
    Binary(Binary, Box<Node>, Box<Node>),
    /// `a op b op c …` of an operator that groups as one likes.
    Chain(Chain, Vec<Node>),
    /// `a ? b : c`
    Conditional(Box<Node>, Box<Node>, Box<Node>),
    /// `case a : b; … esac`
    Case(Vec<(Node, Node)>),
    /// `{a, b}`
    Set(Vec<Node>),
    /// `1..3`
    Range(Box<Node>, Box<Node>),
    /// `next(a)`
    Next(Box<Node>),
    /// `count(a, b)`, `extend(a, 2)`, …
    Call(Function, Vec<Node>),
    /// `[a, b]`, the value of an array.
    Array(Vec<Node>),
    /// `X a`, `F [1, 3] a`, …: linear time.
    Prefix(Prefix, Option<Bounds>, Box<Node>),
    /// `a U b`, …: linear time.
    Infix(Infix, Box<Node>, Box<Node>),
    /// `EX a`, `EBF 1..3 a`, …: branching time.
    Quantified(Quantifier, Prefix, Option<Bounds>, Box<Node>),
    /// `A [a U b]`, `E [a BU 1..3 b]`.
    Until(Quantifier, Option<Bounds>, Box<Node>, Box<Node>),
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Unary {
    Not,
    Negate,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Binary {
    Xor,
    Xnor,
    Implies,
    Iff,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Subtract,
    Divide,
    Mod,
    ShiftLeft,
    ShiftRight,
    In,
}

/// Operators with two or more operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Chain {
    And,
    Or,
    Add,
    Multiply,
    Concatenate,
    Union,
}

/// What is called like a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Function {
    Bool,
    Word1,
    Signed,
    Unsigned,
    Extend,
    Resize,
    SizeOf,
    ToInt,
    Count,
    UnsignedConstant,
    SignedConstant,
    Abs,
    Max,
    Min,
}

/// Temporal operators before an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Prefix {
    Next,
    Finally,
    Globally,
    Previous,
    WeakPrevious,
    Once,
    Historically,
}

/// Temporal operators between operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Infix {
    Until,
    Release,
    Since,
    Triggered,
}

/// Path quantifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Quantifier {
    All,
    Exists,
}

/// From the first to the second number of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The least.
    pub from: u32,
    /// The most.
    pub to: u32,
}

/// A type, as it is written.
#[derive(Clone, Debug)]
pub struct TypeNode {
    /// What it is.
    pub kind: TypeKind,
    /// Where it stands.
    pub span: Span,
}

/// What a type is.
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// `boolean`
    Boolean,
    /// `signed word[8]`
    Word {
        /// Two's complement.
        signed: bool,
        /// How many bits.
        width: Node,
    },
    /// `0..7`
    Range(Node, Node),
    /// `{a, b, 3}`
    Enumeration(Vec<Value>),
    /// `array 0..3 of …`
    Array(Node, Node, Box<TypeNode>),
    /// An instance of a module.
    Module {
        /// The module.
        name: Name,
        /// What its parameters stand for.
        arguments: Vec<Node>,
        /// `process`
        process: bool,
    },
}

/// A value of an enumeration.
#[derive(Clone, Debug)]
pub enum Value {
    /// A symbol.
    Symbol(Name),
    /// An integer.
    Number(i64, Span),
    /// `TRUE`, `FALSE`.
    Boolean(bool, Span),
}

/// What a declared variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Section {
    State,
    Input,
    Frozen,
}

/// A variable or an instance.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: TypeNode,
    /// What it is.
    pub section: Section,
}

/// Which value is assigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum When {
    Now,
    Init,
    Next,
}

/// An assignment.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// Which value is assigned.
    pub when: When,
    /// To what.
    pub target: Node,
    /// The value, or the set of values.
    pub value: Node,
    /// All of it.
    pub span: Span,
}

/// Of which kind a specification is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Logic {
    Ctl,
    Ltl,
    Invariant,
    Min,
    Max,
}

/// A specification.
#[derive(Clone, Debug)]
pub struct Specification {
    /// Of which kind.
    pub logic: Logic,
    /// Its name.
    pub name: Option<Name>,
    /// The formula; two of them for `COMPUTE`.
    pub formulas: Vec<Node>,
    /// The instance whose names it uses: `IN a.b`.
    pub context: Option<Node>,
    /// All of it.
    pub span: Span,
}

/// A part of a module.
#[derive(Clone, Debug)]
pub enum Item {
    /// `VAR`, `IVAR`, `FROZENVAR`
    Declaration(Declaration),
    /// `DEFINE`
    Define(Name, Node),
    /// `CONSTANTS`
    Constant(Name),
    /// `ASSIGN`
    Assign(Assignment),
    /// `INIT`
    Init(Node),
    /// `INVAR`
    Invariant(Node),
    /// `TRANS`
    Trans(Node),
    /// `FAIRNESS`, `JUSTICE`
    Justice(Node),
    /// `COMPASSION`
    Compassion(Node, Node),
    /// `SPEC`, `LTLSPEC`, `INVARSPEC`, `COMPUTE`
    Specification(Specification),
    /// `ISA`
    Isa(Name),
}

/// A module.
#[derive(Clone, Debug)]
pub struct Module {
    /// Its name.
    pub name: Name,
    /// Its parameters.
    pub parameters: Vec<Name>,
    /// What it consists of, in the order of the text.
    pub items: Vec<Item>,
}

impl Node {
    /// Calls `visit` on the operands.
    pub fn children<'a>(&'a self, visit: &mut dyn FnMut(&'a Node)) {
        match &self.kind {
            Kind::Boolean(_) | Kind::Number(_) | Kind::Word { .. } | Kind::Name(_) | Kind::Itself => {}
            Kind::Dot(x, _)
            | Kind::Unary(_, x)
            | Kind::Next(x)
            | Kind::Prefix(_, _, x)
            | Kind::Quantified(_, _, _, x) => visit(x),
            Kind::Index(x, y)
            | Kind::Binary(_, x, y)
            | Kind::Range(x, y)
            | Kind::Infix(_, x, y)
            | Kind::Until(_, _, x, y) => {
                visit(x);
                visit(y);
            }
            Kind::Bits(x, y, z) | Kind::Conditional(x, y, z) => {
                visit(x);
                visit(y);
                visit(z);
            }
            Kind::Case(branches) => branches.iter().for_each(|(x, y)| {
                visit(x);
                visit(y);
            }),
            Kind::Chain(_, all) | Kind::Set(all) | Kind::Call(_, all) | Kind::Array(all) => all.iter().for_each(visit),
        }
    }

    /// The name that it is, if it is one, of one part or several: `a.b[2]`.
    pub fn path(&self) -> Option<String> {
        match &self.kind {
            Kind::Name(name) => Some(name.clone()),
            Kind::Dot(base, name) => Some(format!("{}.{}", base.path()?, name.text)),
            Kind::Index(base, index) => match &index.kind {
                Kind::Number(number) => Some(format!("{}[{number}]", base.path()?)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether there is a temporal operator in it.
    pub fn is_temporal(&self) -> bool {
        match &self.kind {
            Kind::Prefix(..) | Kind::Infix(..) | Kind::Quantified(..) | Kind::Until(..) => true,
            _ => {
                let mut found = false;
                self.children(&mut |child| found |= child.is_temporal());
                found
            }
        }
    }
}
