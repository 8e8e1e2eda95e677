//! The syntax tree of Promela, as parsed: names not yet resolved, inline calls already expanded.

use ample_logic as logic;
use ample_logic::grammar::Operator;
use ample_model::{BinaryOp, Span, UnaryOp};

pub use crate::source::Name;

/// A whole model: its units in source order.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// Proctypes, declarations, claims, … in source order.
    pub units: Vec<Unit>,
}

/// A top-level unit.
#[derive(Clone, Debug)]
pub enum Unit {
    /// `[active [n]] proctype …`
    Proctype(Proctype),
    /// `init { … }`; the name is `:init:`, there are no parameters.
    Init(Proctype),
    /// `never [name] { … }`; an unnamed claim is called `never_0`, `never_1`, ….
    Never(Proctype),
    /// `trace { … }` or `notrace { … }`.
    Trace {
        /// `notrace`.
        negated: bool,
        /// The event statements.
        body: Vec<Stmt>,
        /// The whole unit.
        span: Span,
    },
    /// `ltl [name] { … }`; an unnamed one is called `ltl_0`, `ltl_1`, ….
    Ltl {
        /// Its name.
        name: Name,
        /// The formula: an expression in which the temporal operators may occur.
        formula: Expr,
        /// The formula's text as written, white space folded.
        text: String,
    },
    /// Global variables.
    Declaration(Declaration),
    /// `typedef name { … }`
    Typedef {
        /// The type's name.
        name: Name,
        /// The fields.
        fields: Vec<Declaration>,
    },
    /// `function …`, of PROM+ only.
    Function(Function),
    /// `mtype [:sub] [=] { a, b, c }`
    Mtype {
        /// The subtype.
        subtype: Option<Name>,
        /// The names in source order. (Spin numbers them from the last to the first.)
        names: Vec<Name>,
    },
}

/// A process type, an init process or a claim.
#[derive(Clone, Debug)]
pub struct Proctype {
    /// Its name.
    pub name: Name,
    /// `active`: how many start.
    pub active: Option<Expr>,
    /// The parameters, in order.
    pub parameters: Vec<Declaration>,
    /// `priority n`
    pub priority: Option<Expr>,
    /// `provided (e)`
    pub provided: Option<Expr>,
    /// The body.
    pub body: Vec<Stmt>,
    /// The closing brace, where the process ends.
    pub end: Span,
}

/// A function, of PROM+ only: `function name(parameters) [: type] { … }`.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: Name,
    /// The parameters, in order.
    pub parameters: Vec<Declaration>,
    /// The type of its result, and the `*` behind it.
    pub result: Option<(TypeName, Option<Span>)>,
    /// The body.
    pub body: Vec<Stmt>,
    /// The closing brace, where it returns.
    pub end: Span,
}

/// A basic type.
#[derive(Clone, Debug)]
pub enum TypeName {
    /// `bit`
    Bit,
    /// `bool`
    Bool,
    /// `byte`
    Byte,
    /// `pid`
    Pid,
    /// `short`
    Short,
    /// `int`
    Int,
    /// `unsigned`; the width stands with each name.
    Unsigned,
    /// `mtype`, `mtype:sub`
    Mtype(Option<Name>),
    /// `chan`
    Chan,
    /// A typedef's name.
    User(Name),
}

/// What stands before the type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// Nothing.
    Plain,
    /// `hidden`
    Hidden,
    /// `show`
    Show,
    /// `local`
    Local,
}

/// `vis type a, b[3] = 1, …`
#[derive(Clone, Debug)]
pub struct Declaration {
    /// What stands before the type.
    pub visibility: Visibility,
    /// The type.
    pub ty: TypeName,
    /// The names.
    pub variables: Vec<Declarator>,
    /// The whole.
    pub span: Span,
}

/// One declared name.
#[derive(Clone, Debug)]
pub struct Declarator {
    /// The name.
    pub name: Name,
    /// The `*` before the name: a pointer, of PROM+ only.
    pub pointer: Option<Span>,
    /// `: n` after the name.
    pub width: Option<(i64, Span)>,
    /// `[n]`
    pub length: Option<Expr>,
    /// `= …`
    pub initial: Option<Initializer>,
}

/// What stands after the `=` of a declaration.
#[derive(Clone, Debug)]
pub enum Initializer {
    /// An expression.
    Value(Expr),
    /// `{ 1, 2, 3 }`
    List(Vec<Expr>),
    /// `[n] of { types }`
    Channel {
        /// The capacity.
        capacity: Expr,
        /// The message fields.
        fields: Vec<(TypeName, Span)>,
        /// The whole.
        span: Span,
    },
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// Where it stands.
    pub span: Span,
    /// The inline call it came from: every expansion has its own number, 0 is none.
    pub inline: u32,
}

/// One option of a selection or a loop.
#[derive(Clone, Debug)]
pub struct OptionSequence {
    /// Its statements; at least one.
    pub body: Vec<Stmt>,
    /// Where the `::` stands.
    pub span: Span,
}

/// A send's or a receive's argument.
#[derive(Clone, Debug)]
pub enum ReceiveArg {
    /// A variable to store into, `_`, or the name of an mtype constant (which then must match).
    Var(VarRef),
    /// A constant (with its sign) that must match.
    Const(i64, Span),
    /// `eval(e)`: must match.
    Eval(Expr),
}

/// The kinds of statements.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// A declaration inside a body.
    Declaration(Declaration),
    /// `xr c, d;` or `xs c, d;`
    Exclusive {
        /// `xr` (else `xs`).
        receive: bool,
        /// The channels.
        channels: Vec<VarRef>,
    },
    /// `name: stmt`. A label with nothing after it gets a `skip`.
    Label(Name, Box<Stmt>),
    /// `stmt unless stmt`
    Unless(Box<Stmt>, Box<Stmt>),
    /// `c ! …`, `c !! …`
    Send {
        /// The channel.
        channel: VarRef,
        /// The values. (`a(b,c)` is the same as `a,b,c`.)
        args: Vec<Expr>,
        /// `!!`
        sorted: bool,
    },
    /// `c ? …`, `c ?? …`, `c ? <…>`, `c ?? <…>`
    Receive {
        /// The channel.
        channel: VarRef,
        /// The arguments.
        args: Vec<ReceiveArg>,
        /// `??`
        random: bool,
        /// `<…>`
        keep: bool,
    },
    /// `for (v : from .. to) { … }`
    For {
        /// The loop variable.
        var: VarRef,
        /// First value.
        from: Expr,
        /// Last value.
        to: Expr,
        /// The body.
        body: Vec<Stmt>,
    },
    /// `for (v in a) { … }`
    ForIn {
        /// The loop variable.
        var: VarRef,
        /// An array, or a channel of records.
        over: VarRef,
        /// The body.
        body: Vec<Stmt>,
    },
    /// `select (v : from .. to)`
    Select {
        /// The variable.
        var: VarRef,
        /// Smallest value.
        from: Expr,
        /// Largest value.
        to: Expr,
        /// Both limits are plain numbers, without so much as a parenthesis.
        in_numbers: bool,
    },
    /// `if … fi`
    If(Vec<OptionSequence>),
    /// `do … od`
    Do(Vec<OptionSequence>),
    /// `break`
    Break,
    /// `goto name`
    Goto(Name),
    /// `p = new type`, of PROM+ only; the place of the type.
    New(VarRef, TypeName, Span),
    /// `reset p`, of PROM+ only.
    Reset(VarRef),
    /// `f(…)` or `v = f(…)`, of PROM+ only: a call of a function.
    Call {
        /// Where the result goes.
        result: Option<VarRef>,
        /// The function.
        function: Name,
        /// The arguments.
        args: Vec<Expr>,
    },
    /// `return` or `return e` in a function, of PROM+ only.
    Return(Option<Expr>),
    /// `v = e`; `v++` and `v--` are parsed as `v = v + 1` and `v = v - 1`.
    Assign(VarRef, Expr),
    /// `set_priority(p, n)`
    SetPriority(Expr, Expr),
    /// `printf("…", …)`: the format without the quotes, escapes resolved.
    Printf(String, Vec<Expr>),
    /// `printm(x)`
    Printm(Expr),
    /// `assert e`, with the text of `e`.
    Assert(Expr, String),
    /// An expression statement; `skip` is the constant 1.
    Expr(Expr),
    /// `else`
    Else,
    /// `atomic { … }`
    Atomic(Vec<Stmt>),
    /// `d_step { … }`
    DStep(Vec<Stmt>),
    /// `{ … }`; the expansion of an inline call is one too.
    Block(Vec<Stmt>),
}

/// A variable, perhaps a part of one: `a`, `a[i]`, `a[i].b.c[j]`, and in PROM+ `*a`.
#[derive(Clone, Debug)]
pub struct VarRef {
    /// The names with their subscripts, outermost first; at least one.
    pub parts: Vec<(Name, Option<Expr>)>,
    /// `*v`: what the pointer refers to, of PROM+ only.
    pub deref: bool,
    /// The whole.
    pub span: Span,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: Box<ExprKind>,
    /// Where it stands.
    pub span: Span,
}

impl Expr {
    /// Whether it is more than an expression of Promela: whether an operator occurs that only formulas have. Inside
    /// an index or an argument none can.
    pub fn is_temporal(&self) -> bool {
        match &*self.kind {
            ExprKind::Unary(op, x) => op.is_temporal() || x.is_temporal(),
            ExprKind::Binary(op, x, y) => op.is_of_formulas() || x.is_temporal() || y.is_temporal(),
            _ => false,
        }
    }

    /// Whether it is a temporal operator with its operands, of which a path quantifier can speak.
    pub fn is_path_formula(&self) -> bool {
        use logic::Unary::{Finally, Globally, Next};
        match &*self.kind {
            ExprKind::Unary(op, _) => matches!(op, Unary::Logical(Next | Finally | Globally)),
            ExprKind::Binary(op, ..) => op.is_temporal(),
            _ => false,
        }
    }
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// Those of the logic.
    Logical(logic::Unary),
    /// Those of numbers.
    Arithmetic(UnaryOp),
}

impl Unary {
    /// An operator of temporal logic, the path quantifiers included.
    pub fn is_temporal(self) -> bool {
        self.logical().is_some_and(|op| op != logic::Unary::Not)
    }
}

impl Operator<logic::Unary> for Unary {
    fn logical(self) -> Option<logic::Unary> {
        if let Unary::Logical(op) = self { Some(op) } else { None }
    }
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// Those of the logic, `&&` and `||` among them.
    Logical(logic::Binary),
    /// Those of numbers, comparisons included.
    Arithmetic(BinaryOp),
}

impl Binary {
    /// An operator of temporal logic: the until and its kin.
    pub fn is_temporal(self) -> bool {
        self.logical().is_some_and(logic::Binary::is_temporal)
    }

    /// An operator that only formulas have: a temporal one, an implication or an equivalence.
    pub fn is_of_formulas(self) -> bool {
        self.logical().is_some_and(|op| !matches!(op, logic::Binary::And | logic::Binary::Or))
    }
}

impl Operator<logic::Binary> for Binary {
    fn logical(self) -> Option<logic::Binary> {
        if let Binary::Logical(op) = self { Some(op) } else { None }
    }
}

/// The channel predicates with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Probe {
    Len,
    Full,
    Empty,
    NotFull,
    NotEmpty,
}

/// The kinds of expressions.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A number, a character, `true`, `false`, `skip`.
    Const(i64),
    /// A variable, or the name of an mtype constant, or one of `_pid _nr_pr _last _priority`.
    Var(VarRef),
    /// `op e`
    Unary(Unary, Expr),
    /// `e op e`
    Binary(Binary, Expr, Expr),
    /// `(c -> a : b)`
    Conditional(Expr, Expr, Expr),
    /// `run p(…) [priority n]`
    Run {
        /// The proctype.
        name: Name,
        /// The arguments.
        args: Vec<Expr>,
        /// The priority.
        priority: Option<Expr>,
    },
    /// `len(c)` and its kin.
    Probe(Probe, VarRef),
    /// `c ? [ … ]`, `c ?? [ … ]`
    Poll {
        /// The channel.
        channel: VarRef,
        /// The arguments.
        args: Vec<ReceiveArg>,
        /// `??`
        random: bool,
    },
    /// `enabled(e)`
    Enabled(Expr),
    /// `pc_value(e)`
    PcValue(Expr),
    /// `get_priority(e)`
    GetPriority(Expr),
    /// `timeout`
    Timeout,
    /// `np_`
    NonProgress,
    /// `p[e]@label`, `p@label`
    RemoteLabel {
        /// The proctype.
        proctype: Name,
        /// The process id.
        index: Option<Expr>,
        /// The label.
        label: Name,
    },
    /// `p[e]:v`, `p:v`, `p[e]:v[i]`
    RemoteVar {
        /// The proctype.
        proctype: Name,
        /// The process id.
        index: Option<Expr>,
        /// The variable.
        var: VarRef,
    },
}
