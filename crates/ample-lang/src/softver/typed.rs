//! Expressions: names are looked up, types checked, and the arithmetic of `n` bits written out.
//!
//! An integer has `n` bits and no sign: `+`, `-` and the minus sign are modulo 2^n. A cell outside of its array is 0 (or
//! `FALSE`) where it is read, so that every expression has a value: K. Yorav's transition relations (section 5.3) say the
//! same, since no disjunct of `a[e]` is true there.

use std::collections::HashMap;

use ample_logic::{self as logic, Formula, Unary};
use ample_model::{
    AtomTable, BinaryOp, Expr, Index, LocationId, Overflow, Place, ProcessId, Scalar, Scope as Where, Span, Temporal,
    UnaryOp,
};

use super::ast::{Arithmetic, Binary, Comparison, Expr as Tree, ExprKind, Name, Target};
use super::names::{Names, Scope, Ty, Variable};
use crate::diagnostic::{Diagnostic, closest};

/// An expression with its type.
pub(super) type Typed = (Expr, Ty);

/// A cell that is written to: where it is, and, if it may lie outside of its array, when it does not.
pub(super) struct Cell {
    pub place: Place,
    pub ty: Ty,
    pub inside: Option<Expr>,
}

/// Looks up the names of expressions.
pub(super) struct Resolver<'a> {
    pub names: &'a Names,
    /// The process whose statement it is; none if it is a formula.
    pub own: Option<usize>,
    pub diagnostics: &'a mut Vec<Diagnostic>,
}

impl<'a> Resolver<'a> {
    fn fail<T>(&mut self, span: Span, message: impl Into<String>, help: Option<String>) -> Option<T> {
        let error = Diagnostic::error(span, message);
        self.diagnostics.push(Diagnostic { help, ..error });
        None
    }

    // Formulas.

    /// A formula with its atoms.
    pub fn temporal(&mut self, e: &Tree) -> Option<Temporal> {
        let mut table = AtomTable::new();
        let formula = self.formula(e, &mut table)?;
        Some(Temporal::new(formula, table))
    }

    fn formula(&mut self, e: &Tree, table: &mut AtomTable) -> Option<Formula> {
        if !e.is_temporal() {
            return Some(table.formula(self.of_type(e, Ty::Boolean)?));
        }
        match &*e.kind {
            ExprKind::Unary(op, x) => Some(Formula::unary(*op, self.formula(x, table)?)),
            ExprKind::Binary(Binary::Logical(op), x, y) => {
                let (x, y) = (self.formula(x, table), self.formula(y, table));
                Some(Formula::binary(*op, x?, y?))
            }
            ExprKind::Binary(..) | ExprKind::Negate(_) => {
                let help = "between formulas write `<->`";
                self.fail(e.operator, "a temporal formula is no value", Some(help.into()))
            }
            _ => self.fail(e.span, "a temporal formula is no subscript", None),
        }
    }

    // Types.

    /// An expression that must have this type.
    pub fn of_type(&mut self, e: &Tree, expected: Ty) -> Option<Expr> {
        let (expr, found) = self.value(e)?;
        if found != expected {
            let (expected, of) = (self.names.describe(expected), self.names.describe(found));
            let help = match found {
                Ty::Integer if expected == self.names.describe(Ty::Boolean) => {
                    Some("compare it with something, as in `x != 0`".to_owned())
                }
                _ => None,
            };
            return self.fail(e.span, format!("expected {expected}, found {of}"), help);
        }
        Some(expr)
    }

    /// An expression with its type.
    pub fn value(&mut self, e: &Tree) -> Option<Typed> {
        match &*e.kind {
            ExprKind::Truth(value) => Some((Expr::Const((*value).into()), Ty::Boolean)),
            ExprKind::Number(value) => self.number(*value, e.span),
            ExprKind::Variable { process: None, name, index: None } => match self.names.values.get(&name.text) {
                Some((id, value)) => Some((Expr::Const(*value), Ty::Enumeration(*id))),
                None => self.read(None, name, None, e.span),
            },
            ExprKind::Variable { process, name, index } => self.read(process.as_ref(), name, index.as_ref(), e.span),
            ExprKind::Label { process, label } => self.label(process.as_ref(), label.as_ref(), e.span),
            ExprKind::Negate(x) => {
                let x = self.of_type(x, Ty::Integer)?;
                Some((self.wrapped(Expr::unary(UnaryOp::Negate, x)), Ty::Integer))
            }
            ExprKind::Unary(Unary::Not, x) => {
                Some((folded(Expr::unary(UnaryOp::Not, self.of_type(x, Ty::Boolean)?)), Ty::Boolean))
            }
            ExprKind::Unary(..) => self.temporal_operator(e),
            ExprKind::Binary(Binary::Arithmetic(op), x, y) => {
                let (x, y) = (self.of_type(x, Ty::Integer), self.of_type(y, Ty::Integer));
                let op = match op {
                    Arithmetic::Add => BinaryOp::Add,
                    Arithmetic::Subtract => BinaryOp::Subtract,
                };
                Some((self.wrapped(Expr::binary(op, x?, y?)), Ty::Integer))
            }
            ExprKind::Binary(Binary::Compare(op), x, y) => self.comparison(*op, x, y, e.operator),
            ExprKind::Binary(Binary::Logical(op), x, y) => self.connective(*op, x, y, e),
        }
    }

    fn temporal_operator<T>(&mut self, e: &Tree) -> Option<T> {
        self.fail(e.operator, "a temporal operator stands where a value should", None)
    }

    fn number(&mut self, value: u64, span: Span) -> Option<Typed> {
        if value > self.names.largest() {
            let bits = self.names.integer_length;
            let help = match bits {
                32 => None,
                _ => Some(format!("`#INTEGER_LENGTH# {}` at the beginning of the text allows it", needed(value))),
            };
            return self.fail(span, format!("the number {value} does not fit in {bits} bits"), help);
        }
        Some((Expr::Const(value as i64), Ty::Integer))
    }

    /// Modulo 2^n.
    fn wrapped(&self, e: Expr) -> Expr {
        folded(Expr::Cast(Scalar::Int { bits: self.names.integer_length, signed: false }, Box::new(e)))
    }

    fn comparison(&mut self, op: Comparison, x: &Tree, y: &Tree, operator: Span) -> Option<Typed> {
        let (left, right) = (self.value(x), self.value(y));
        let ((left, ty), (right, other)) = (left?, right?);
        if ty != other {
            let (ty, other) = (self.names.describe(ty), self.names.describe(other));
            return self.fail(operator, format!("{ty} is compared with {other}"), None);
        }
        let op = match op {
            Comparison::Equal => BinaryOp::Equal,
            Comparison::NotEqual => BinaryOp::NotEqual,
            _ if ty != Ty::Integer => {
                let message = format!("{} has no order", self.names.describe(ty));
                return self.fail(operator, message, Some("only `=` and `!=` compare such values".into()));
            }
            Comparison::Less => BinaryOp::Less,
            Comparison::LessEqual => BinaryOp::LessEqual,
            Comparison::Greater => BinaryOp::Greater,
            Comparison::GreaterEqual => BinaryOp::GreaterEqual,
        };
        Some((folded(Expr::binary(op, left, right)), Ty::Boolean))
    }

    fn connective(&mut self, op: logic::Binary, x: &Tree, y: &Tree, e: &Tree) -> Option<Typed> {
        if op.is_temporal() {
            return self.temporal_operator(e);
        }
        let (x, y) = (self.of_type(x, Ty::Boolean), self.of_type(y, Ty::Boolean));
        let (x, y) = (x?, y?);
        let expr = match op {
            logic::Binary::And => Expr::binary(BinaryOp::And, x, y),
            logic::Binary::Or => Expr::binary(BinaryOp::Or, x, y),
            logic::Binary::Implies => Expr::binary(BinaryOp::Or, Expr::unary(UnaryOp::Not, x), y),
            // Both are 0 or 1.
            _ => Expr::binary(BinaryOp::Equal, x, y),
        };
        Some((folded(expr), Ty::Boolean))
    }

    // Variables.

    fn read(&mut self, process: Option<&Name>, name: &Name, index: Option<&Tree>, span: Span) -> Option<Typed> {
        let variable = self.variable(process, name, span)?;
        let Cell { place, ty, inside } = self.cell(variable, name, index)?;
        let read = Expr::Read(place);
        let expr = match inside {
            Some(inside) => Expr::Conditional(Box::new(inside), Box::new(read), Box::new(Expr::Const(outside(ty)))),
            None => read,
        };
        Some((expr, ty))
    }

    /// What a statement assigns to.
    pub fn target(&mut self, target: &Target) -> Option<Cell> {
        let variable = self.variable(None, &target.name, target.span)?;
        self.cell(variable, &target.name, target.index.as_ref())
    }

    /// A variable, or a cell of an array.
    fn cell(&mut self, variable: Variable, name: &Name, index: Option<&Tree>) -> Option<Cell> {
        let Variable { id, ty, scalar, cells } = variable;
        let place = |indices| Place { scope: Where::Global, variable: id, offset: 0, indices, scalar };
        let (cells, index) = match (cells, index) {
            (None, None) => return Some(Cell { place: place(Vec::new()), ty, inside: None }),
            (Some(cells), Some(index)) => (cells, index),
            (None, Some(index)) => {
                return self.fail(index.span, format!("`{}` is no array", name.text), None);
            }
            (Some(_), None) => {
                let help = format!("write `{}[0]` for its first cell", name.text);
                return self.fail(name.span, format!("`{}` is an array", name.text), Some(help));
            }
        };
        let at = self.of_type(index, Ty::Integer)?;
        let largest = self.largest(&at);
        if let Expr::Const(value) = at
            && value >= i64::from(cells)
        {
            let help = format!("its cells are `{0}[0]` to `{0}[{1}]`", name.text, cells - 1);
            return self.fail(index.span, format!("`{}` has no cell {value}", name.text), Some(help));
        }
        let subscript = |at| vec![Index { at, length: cells, stride: 1 }];
        if largest < u64::from(cells) {
            return Some(Cell { place: place(subscript(at)), ty, inside: None });
        }
        let last = i64::from(cells) - 1;
        let inside = Expr::binary(BinaryOp::LessEqual, at.clone(), Expr::Const(last));
        // The last cell takes the place of all that are not there, so that no step can be a fault.
        let nearest = Scalar::Range { low: 0, high: last, overflow: Overflow::Saturate };
        let at = Expr::Cast(nearest, Box::new(at));
        Some(Cell { place: place(subscript(at)), ty, inside: Some(inside) })
    }

    /// A value that an integer does not exceed.
    fn largest(&self, e: &Expr) -> u64 {
        match e {
            Expr::Const(value) => u64::try_from(*value).unwrap_or(0),
            Expr::Read(Place { scalar: Scalar::Int { bits, .. }, .. }) => (1 << bits) - 1,
            _ => self.names.largest(),
        }
    }

    fn variable(&mut self, process: Option<&Name>, name: &Name, span: Span) -> Option<Variable> {
        let names = self.names;
        match (self.own, process) {
            (Some(_), Some(process)) => {
                let message = format!("a statement does not see `{}.{}`", process.text, name.text);
                let help = "a process uses its own variables, and values that it receives";
                self.fail(span, message, Some(help.into()))
            }
            (Some(own), None) => match names.scopes.get(own)?.variables.get(&name.text) {
                Some(variable) => Some(*variable),
                None => self.unknown("variable", name, &[own], |scope| scope.variables.keys().collect()),
            },
            (None, _) => self.member("variable", process, name, |scope| &scope.variables).map(|(_, variable)| variable),
        }
    }

    /// `label(h)`
    fn label(&mut self, process: Option<&Name>, label: Option<&Name>, span: Span) -> Option<Typed> {
        if self.own.is_some() {
            let help = "formulas speak of labels";
            return self.fail(span, "a statement does not see where a process stands", Some(help.into()));
        }
        let (of, location) = match label {
            Some(label) => self.member("label", process, label, |scope| &scope.labels)?,
            None => self.terminate(process, span)?,
        };
        let at = Expr::At { process: None, of: ProcessId::from(of), locations: vec![location] };
        Some((at, Ty::Boolean))
    }

    fn terminate(&mut self, process: Option<&Name>, span: Span) -> Option<(usize, LocationId)> {
        let of = match process {
            Some(process) => self.process(process)?,
            None if self.names.is_parallel() => {
                let help = "write `label(P.terminate)` with the name of a process";
                return self.fail(span, "every process has its `terminate`", Some(help.into()));
            }
            None => 0,
        };
        Some((of, self.names.scopes.get(of)?.terminate))
    }

    /// Something of a process that a formula speaks of. Without the name of the process, there must be only one of it.
    fn member<T: Copy + 'a>(
        &mut self,
        what: &str,
        process: Option<&Name>,
        name: &Name,
        table: impl Fn(&'a Scope) -> &'a HashMap<String, T>,
    ) -> Option<(usize, T)> {
        let names = self.names;
        let within: Vec<usize> = match process {
            Some(process) => vec![self.process(process)?],
            None => (0..names.scopes.len()).collect(),
        };
        let found: Vec<(usize, T)> =
            within.iter().filter_map(|of| Some((*of, *table(&names.scopes[*of]).get(&name.text)?))).collect();
        match found.as_slice() {
            [one] => Some(*one),
            [] => self.unknown(what, name, &within, |scope| table(scope).keys().collect()),
            several => {
                let owner = names.scopes[several[0].0].name.as_deref().unwrap_or_default();
                let message = format!("several processes have a {what} `{}`", name.text);
                self.fail(name.span, message, Some(format!("write `{owner}.{}`, for instance", name.text)))
            }
        }
    }

    /// The number of a process.
    pub fn process(&mut self, name: &Name) -> Option<usize> {
        let names = self.names;
        let of = |scope: &'a Scope| scope.name.as_deref();
        if let Some(found) = names.scopes.iter().position(|scope| of(scope) == Some(&name.text)) {
            return Some(found);
        }
        let help = match names.is_parallel() {
            true => {
                closest(&name.text, names.scopes.iter().filter_map(of)).map(|near| format!("did you mean `{near}`?"))
            }
            false => Some("the program has no processes: they are written `process P … { … }`".to_owned()),
        };
        self.fail(name.span, format!("there is no process `{}`", name.text), help)
    }

    fn unknown<T>(
        &mut self,
        what: &str,
        name: &Name,
        within: &[usize],
        known: impl Fn(&'a Scope) -> Vec<&'a String>,
    ) -> Option<T> {
        let names = self.names;
        let mut candidates: Vec<&str> =
            within.iter().flat_map(|of| known(&names.scopes[*of])).map(String::as_str).collect();
        candidates.sort_unstable();
        let others = names.scopes.iter().filter(|scope| known(scope).contains(&&name.text));
        let owner = others.filter_map(|scope| scope.name.as_deref()).next();
        let help = match (closest(&name.text, candidates.into_iter()), owner, self.own) {
            (Some(near), ..) => Some(format!("did you mean `{near}`?")),
            (None, Some(owner), Some(_)) => Some(format!("it is a {what} of `{owner}`, which only that process uses")),
            (None, Some(owner), None) => Some(format!("it is a {what} of `{owner}`")),
            (None, None, _) => None,
        };
        self.fail(name.span, format!("the {what} `{}` is not declared", name.text), help)
    }
}

/// What a cell outside of its array is worth.
fn outside(ty: Ty) -> i64 {
    // An enumeration begins with 1.
    matches!(ty, Ty::Enumeration(_)).into()
}

/// The expression, or its value if it has no variables.
fn folded(e: Expr) -> Expr {
    e.constant().map_or(e, Expr::Const)
}

/// How many bits a number needs.
fn needed(value: u64) -> u32 {
    64 - value.leading_zeros()
}
