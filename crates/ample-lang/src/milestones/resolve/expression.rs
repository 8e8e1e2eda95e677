//! Expressions: what is a number, what a condition and what a formula; and who may read and write what.

use std::collections::HashMap;

use ample_logic::{self as logic, Atom, Formula, Unary};
use ample_model::Span;

use super::super::ast::{Binary, Expr, ExprKind, Name};
use super::super::model::{Arithmetic, Condition, Number, Value, VariableId};
use super::{Known, Names};
use crate::diagnostic::{Diagnostic, closest};

/// Whose variables an expression or an assignment may use.
#[derive(Clone, Copy, Debug)]
pub(in crate::milestones) enum May<'a> {
    /// A command of a process under a local action: its own and the globals.
    OwnAndGlobals { of: &'a str },
    /// A command of a process under a global action: its own.
    OwnOnly { action: &'a str },
    /// A global command or a property: reads everything, and a global command writes the globals.
    Everything,
}

pub(super) struct Resolver<'a> {
    pub names: &'a Names,
    /// The variables of the process at work.
    pub own: Option<&'a HashMap<String, Known>>,
    pub may: May<'a>,
    pub diagnostics: &'a mut Vec<Diagnostic>,
}

/// Reads a condition or formula over the names of a model, on its own.
pub(in crate::milestones) fn alone(names: &Names, e: &Expr) -> Result<(Formula, Vec<Condition>), Vec<Diagnostic>> {
    let (mut diagnostics, mut atoms) = (Vec::new(), Vec::new());
    let mut resolver = Resolver { names, own: None, may: May::Everything, diagnostics: &mut diagnostics };
    let formula = resolver.formula(e, &mut atoms);
    formula.filter(|_| diagnostics.is_empty()).map(|formula| (formula, atoms)).ok_or(diagnostics)
}

impl Resolver<'_> {
    fn fail<T>(&mut self, span: Span, message: impl Into<String>, help: Option<String>) -> Option<T> {
        let error = Diagnostic::error(span, message);
        self.diagnostics.push(Diagnostic { help, ..error });
        None
    }

    // Formulas and conditions.

    /// A formula; what its atoms stand for is added to the table.
    pub fn formula(&mut self, e: &Expr, atoms: &mut Vec<Condition>) -> Option<Formula> {
        if !e.is_temporal() {
            atoms.push(self.condition(e)?);
            return Some(Formula::atom(Atom(atoms.len() as u32 - 1)));
        }
        match &*e.kind {
            ExprKind::Unary(op, x) => Some(Formula::unary(*op, self.formula(x, atoms)?)),
            ExprKind::Binary(op, x, y) => {
                let Binary::Logical(op) = *op else {
                    let help = "between formulas write `<->`, and put formulas in parentheses";
                    return self.fail(e.operator, "a temporal formula is no number", Some(help.into()));
                };
                let (x, y) = (self.formula(x, atoms), self.formula(y, atoms));
                Some(Formula::binary(op, x?, y?))
            }
            // Only operators are temporal.
            _ => None,
        }
    }

    pub fn condition(&mut self, e: &Expr) -> Option<Condition> {
        match &*e.kind {
            ExprKind::Truth(value) => Some(Condition::Const(*value)),
            ExprKind::Unary(Unary::Not, x) => Some(Condition::Not(Box::new(self.condition(x)?))),
            ExprKind::Binary(Binary::Compare(op), x, y) => {
                let (x, y) = (self.value(x), self.value(y));
                Some(Condition::Compare(*op, x?, y?))
            }
            ExprKind::Binary(Binary::Logical(op), x, y) => {
                let make = match op {
                    logic::Binary::And => Condition::And,
                    logic::Binary::Or => Condition::Or,
                    logic::Binary::Implies => Condition::Implies,
                    logic::Binary::Iff => Condition::Iff,
                    _ => return self.temporal_operator(e),
                };
                let (x, y) = (self.condition(x), self.condition(y));
                Some(make(Box::new(x?), Box::new(y?)))
            }
            ExprKind::Unary(..) => self.temporal_operator(e),
            ExprKind::Number(_) | ExprKind::Name(_) | ExprKind::Member { .. } | ExprKind::Binary(..) => {
                // A name that is not declared is the greater error.
                self.number(e)?;
                let help = "compare it with something, as in `x != 0`";
                self.fail(e.span, "expected a condition, found a number", Some(help.into()))
            }
        }
    }

    fn temporal_operator<T>(&mut self, e: &Expr) -> Option<T> {
        self.fail(e.operator, "a temporal operator stands where a condition should", None)
    }

    // Numbers.

    /// An arithmetic expression with its width. One of constants only is computed here, exactly.
    pub fn value(&mut self, e: &Expr) -> Option<Value> {
        let (number, bits, reads) = self.number(e)?;
        if reads {
            return Some(Value { bits, number });
        }
        let value = self.constant(e)?;
        match u32::try_from(value) {
            Ok(value) => Some(Value { bits: bits_of(value), number: Number::Const(value) }),
            Err(_) => self.fail(e.span, format!("the constant {value} does not fit in 32 bits"), None),
        }
    }

    /// An expression, the width of its widest part, and whether it reads a variable.
    fn number(&mut self, e: &Expr) -> Option<(Number, u8, bool)> {
        match &*e.kind {
            ExprKind::Number(value) => Some((Number::Const(*value), bits_of(*value), false)),
            ExprKind::Name(text) => self.name(text, e.span).map(|known| (Number::Read(known.id), known.bits, true)),
            ExprKind::Member { process, index, field } => {
                let known = self.member(e.span, process, index.as_ref(), field)?;
                Some((Number::Read(known.id), known.bits, true))
            }
            ExprKind::Binary(Binary::Arithmetic(op), x, y) => {
                let (x, y) = (self.number(x), self.number(y));
                let ((x, x_bits, x_reads), (y, y_bits, y_reads)) = (x?, y?);
                Some((Number::Binary(*op, Box::new(x), Box::new(y)), x_bits.max(y_bits), x_reads || y_reads))
            }
            _ if e.is_temporal() => self.fail(e.operator, "a temporal formula is no number", None),
            _ => self.fail(e.span, "expected a number, found a condition", None),
        }
    }

    /// The value of an expression without variables.
    pub fn constant(&mut self, e: &Expr) -> Option<u64> {
        let value = self.exact(e)?;
        match u64::try_from(value) {
            Ok(value) => Some(value),
            Err(_) => self.fail(e.span, format!("the constant {value} is negative"), None),
        }
    }

    fn exact(&mut self, e: &Expr) -> Option<i64> {
        match &*e.kind {
            ExprKind::Number(value) => Some((*value).into()),
            ExprKind::Binary(Binary::Arithmetic(op), x, y) => {
                let (x, y) = (self.exact(x)?, self.exact(y)?);
                let value = match op {
                    Arithmetic::Add => x.checked_add(y),
                    Arithmetic::Subtract => x.checked_sub(y),
                    Arithmetic::Multiply => x.checked_mul(y),
                    Arithmetic::Divide | Arithmetic::Remainder if y == 0 => {
                        return self.fail(e.span, "this constant divides by zero", None);
                    }
                    Arithmetic::Divide => x.checked_div(y),
                    Arithmetic::Remainder => x.checked_rem(y),
                };
                value.or_else(|| self.fail(e.span, "this constant is too large", None))
            }
            ExprKind::Name(_) | ExprKind::Member { .. } => {
                self.fail(e.span, "expected a constant, found a variable", None)
            }
            _ => self.fail(e.span, "expected a constant, found a condition", None),
        }
    }

    // Names.

    /// The variable that an assignment writes to.
    pub fn target(&mut self, e: &Expr) -> Option<VariableId> {
        match (&*e.kind, self.may) {
            (ExprKind::Name(text), May::Everything) if self.owner(text).is_none() => {
                self.name(text, e.span).map(|known| known.id)
            }
            (ExprKind::Name(text), May::OwnAndGlobals { .. } | May::OwnOnly { .. }) => {
                self.name(text, e.span).map(|known| known.id)
            }
            (ExprKind::Member { .. } | ExprKind::Name(_), May::Everything) => {
                let help = "processes change their variables in commands of their own for the same action";
                self.fail(e.span, "a global command writes only global variables", Some(help.into()))
            }
            (ExprKind::Member { process, index, field }, _) => {
                self.member(e.span, process, index.as_ref(), field).map(|known| known.id)
            }
            _ => self.fail(e.span, "only a variable can be assigned to", None),
        }
    }

    fn name(&mut self, text: &str, span: Span) -> Option<Known> {
        if let Some(known) = self.own.and_then(|own| own.get(text)) {
            return Some(*known);
        }
        let Some(known) = self.names.globals.get(text) else { return self.unknown(text, span) };
        if let May::OwnOnly { action } = self.may {
            let message = format!("`{text}` is global, and `{action}` is a global action");
            let help = format!(
                "a process uses only its own variables there; the global command of `{action}` uses the others"
            );
            return self.fail(span, message, Some(help));
        }
        Some(*known)
    }

    /// A group of processes that have this variable, if it is no global.
    fn owner(&self, text: &str) -> Option<&String> {
        let groups = self.names.groups.iter().filter(|_| !self.names.globals.contains_key(text));
        groups.filter(|(_, all)| all.iter().any(|one| one.contains_key(text))).map(|(name, _)| name).min()
    }

    fn unknown<T>(&mut self, text: &str, span: Span) -> Option<T> {
        let own = self.own.into_iter().flat_map(HashMap::keys);
        let mut candidates: Vec<&str> = self.names.globals.keys().chain(own).map(String::as_str).collect();
        candidates.sort_unstable();
        let groups = &self.names.groups;
        let help = match (self.owner(text), self.may) {
            (Some(group), May::Everything) => Some(format!("it is a variable of a process: write `{group}[0].{text}`")),
            _ if groups.contains_key(text) => Some(format!("it is a process: write `{text}[0].x`")),
            _ => closest(text, candidates.into_iter()).map(|near| format!("did you mean `{near}`?")),
        };
        self.fail(span, format!("the variable `{text}` is not declared"), help)
    }

    fn member(&mut self, span: Span, process: &Name, index: Option<&Expr>, field: &Name) -> Option<Known> {
        match self.may {
            May::OwnAndGlobals { of } => {
                let help = format!("a command of `{of}` uses its own variables, by their names alone, and global ones");
                return self.fail(span, "a process does not see the variables of other processes", Some(help));
            }
            May::OwnOnly { .. } => {
                let help = "its own variables are written by their names alone";
                return self.fail(span, "a process does not see the variables of other processes", Some(help.into()));
            }
            May::Everything => {}
        }
        let names = self.names;
        let Some(instances) = names.groups.get(&process.text) else {
            let mut candidates: Vec<&str> = names.groups.keys().map(String::as_str).collect();
            candidates.sort_unstable();
            let help = closest(&process.text, candidates.into_iter()).map(|near| format!("did you mean `{near}`?"));
            return self.fail(process.span, format!("there is no process `{}`", process.text), help);
        };
        let number = match index {
            Some(index) => self.constant(index)?,
            None if instances.len() == 1 => 0,
            None => {
                let message = format!("`{}` has {} instances", process.text, instances.len());
                let help = format!("write `{}[0].{}`, for instance", process.text, field.text);
                return self.fail(process.span, message, Some(help));
            }
        };
        let Some(variables) = usize::try_from(number).ok().and_then(|number| instances.get(number)) else {
            let at = index.map_or(process.span, |index| index.span);
            let message = format!("there is no process `{}[{number}]`", process.text);
            let help = format!("the last one is `{}[{}]`", process.text, instances.len() - 1);
            return self.fail(at, message, Some(help));
        };
        if let Some(known) = variables.get(&field.text) {
            return Some(*known);
        }
        let mut candidates: Vec<&str> = variables.keys().map(String::as_str).collect();
        candidates.sort_unstable();
        let help = closest(&field.text, candidates.into_iter()).map(|near| format!("did you mean `{near}`?"));
        self.fail(field.span, format!("`{}` has no variable `{}`", process.text, field.text), help)
    }
}

/// How many bits a constant needs.
fn bits_of(value: u32) -> u8 {
    (32 - value.leading_zeros()).max(1) as u8
}
