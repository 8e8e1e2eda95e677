//! Conditions and formulas about a circuit as a user types them.
//!
//! The operators are those of [`ample_logic`], whose parser is used. An atom is the name of an input, a latch, an output or
//! another signal, true if that is 1; it may be compared with 0, 1 or another one. Names that are not made of letters, digits
//! and `_` are written between double quotes; an index behind a name may stand without them, as in `data[3]`.

use ample_logic::{Atom, Dialect, Formula, ParseError, declared_atom, parse_with};
use ample_model::{
    AtomTable, BinaryOp, Expr, Place, Scalar, Scope, Source, SourceId, Span, System, Temporal, UnaryOp, VariableId,
};

use crate::diagnostic::{Diagnostic, Rejected, closest};

/// The notation of formulas.
const DIALECT: Dialect = Dialect::Plain;

/// What the text of a formula is called in messages.
const LABEL: &str = "<formula>";

/// A condition on a circuit, as a user types it.
///
/// ```
/// use ample_lang::circuit::{Format, expression, read};
///
/// let circuit = read(Format::Bench, "c.bench", "INPUT(a.1)\nOUTPUT(b)\nb = NOT(a.1)\n")?;
/// assert!(expression(&circuit.system, r#"!("a.1" && b)"#).is_ok());
/// assert!(expression(&circuit.system, "c").is_err());
/// # Ok::<(), ample_lang::Rejected>(())
/// ```
pub fn expression(system: &System, text: &str) -> Result<Expr, Rejected> {
    let temporal = parse(system, text)?;
    temporal.state_expr(&temporal.formula).ok_or_else(|| whole(text, "a condition has no operators about runs"))
}

/// A formula of linear temporal logic about a circuit.
pub fn ltl(system: &System, text: &str) -> Result<Temporal, Rejected> {
    let temporal = parse(system, text)?;
    match temporal.formula.is_ltl() {
        true => Ok(temporal),
        false => Err(whole(text, "formulas of linear time have no quantifiers, they are about all runs")),
    }
}

/// A formula of computation tree logic about a circuit.
pub fn ctl(system: &System, text: &str) -> Result<Temporal, Rejected> {
    let temporal = parse(system, text)?;
    match temporal.formula.is_ctl() {
        true => Ok(temporal),
        false => Err(whole(text, "in branching time each operator about runs stands right behind `A` or `E`")),
    }
}

/// A name as it is typed.
///
/// ```
/// use ample_lang::circuit::quoted;
///
/// assert_eq!([quoted("G17"), quoted("v8.3"), quoted("X")], ["G17", "\"v8.3\"", "\"X\""]);
/// ```
pub fn quoted(name: &str) -> String {
    let is_word = name.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
        && DIALECT.word(name).is_none();
    match is_word {
        true => name.to_owned(),
        false => format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}

fn rejected(text: &str, from: usize, to: usize, message: String, help: Option<String>) -> Rejected {
    let span = Span { source: SourceId(0), start: from as u32, end: to as u32 };
    let source = Source { path: LABEL.to_owned(), text: text.to_owned() };
    Rejected::new(vec![source], vec![Diagnostic { help, ..Diagnostic::error(span, message) }])
}

fn whole(text: &str, message: &str) -> Rejected {
    rejected(text, 0, text.len(), message.to_owned(), None)
}

fn parse(system: &System, text: &str) -> Result<Temporal, Rejected> {
    let mut table = AtomTable::new();
    let mut known: Vec<Formula> = Vec::new();
    let (mut help, mut wrong) = (None, None);
    let parsed = parse_with(text, DIALECT, &mut |rest| {
        let mut scanner = Scanner { system, rest, at: 0, help: None, wrong: None };
        match scanner.atom() {
            Ok(None) => Ok(None),
            Ok(Some(expr)) => {
                known.push(table.formula(expr));
                Ok(Some((scanner.at, Atom(known.len() as u32 - 1))))
            }
            Err(message) => {
                help = scanner.help;
                // What is left is the end of the text.
                let begin = text.len() - rest.len();
                wrong = scanner.wrong.map(|name| begin + name.start..begin + name.end);
                Err(message)
            }
        }
    });
    match parsed {
        Ok(formula) => {
            let formula =
                formula.substitute(&mut |Atom(number)| known.get(number as usize).cloned().unwrap_or(Formula::False));
            Ok(Temporal::new(formula, table))
        }
        Err(ParseError { offset, message }) => {
            let end = offset + text.get(offset..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
            let place = wrong.unwrap_or(offset.min(text.len())..end);
            Err(rejected(text, place.start, place.end, message, help))
        }
    }
}

/// The comparisons, longer ones first.
const COMPARISONS: [(&str, BinaryOp); 3] =
    [("==", BinaryOp::Equal), ("!=", BinaryOp::NotEqual), ("=", BinaryOp::Equal)];

/// Reads an atom at the beginning of a text.
struct Scanner<'s, 't> {
    system: &'s System,
    rest: &'t str,
    at: usize,
    help: Option<String>,
    /// Where a name is that nothing has.
    wrong: Option<std::ops::Range<usize>>,
}

impl Scanner<'_, '_> {
    fn atom(&mut self) -> Result<Option<Expr>, String> {
        let Some(left) = self.operand()? else { return Ok(None) };
        let Some((op, after)) = self.comparison() else { return Ok(Some(left)) };
        self.at = after;
        match self.operand()? {
            Some(right) => Ok(Some(compared(op, left, right))),
            None => Err("expected 0, 1 or the name of a signal behind a comparison".to_owned()),
        }
    }

    /// The comparison behind an operand, and where it ends.
    fn comparison(&self) -> Option<(BinaryOp, usize)> {
        let rest = self.rest[self.at..].trim_start();
        let start = self.rest.len() - rest.len();
        let (sign, op) = COMPARISONS.iter().find(|(sign, _)| rest.starts_with(sign))?;
        // `=>` is an implication.
        (!rest.starts_with("=>")).then_some((*op, start + sign.len()))
    }

    /// A name, or a number before or behind a comparison.
    fn operand(&mut self) -> Result<Option<Expr>, String> {
        let is_left = self.at == 0;
        let rest = self.rest[self.at..].trim_start();
        let start = self.rest.len() - rest.len();
        if let Some((length, expr)) = self.indexed(rest) {
            self.at = start + length;
            return Ok(Some(expr));
        }
        let is_declared = |name: &str| value(self.system, name).is_some();
        if let Some(digit) = rest.chars().next().filter(|c| "01".contains(*c)) {
            let is_alone = !rest[1..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
            if is_alone && !is_declared(&rest[..1]) {
                self.at = start + 1;
                // A constant alone is one of the logic.
                if is_left && self.comparison().is_none() {
                    self.at = 0;
                    return Ok(None);
                }
                return Ok(Some(Expr::Const(i64::from(digit == '1'))));
            }
        }
        let Some((length, name)) = declared_atom(rest, DIALECT, &is_declared)? else { return Ok(None) };
        match value(self.system, &name) {
            Some(expr) => {
                self.at = start + length;
                Ok(Some(expr))
            }
            None => {
                let variables = self.system.globals.iter().map(|variable| variable.name.as_str());
                let signals = self.system.signals.iter().map(|signal| signal.name.as_str());
                self.help =
                    closest(&name, variables.chain(signals)).map(|near| format!("is `{}` meant?", quoted(near)));
                self.wrong = Some(start..start + length);
                Err(format!("there is no signal `{name}` in the circuit"))
            }
        }
    }

    /// A name with an index behind it, if that is one of the circuit.
    fn indexed(&self, rest: &str) -> Option<(usize, Expr)> {
        let word = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|length| *length > 0)?;
        let index = rest[word..].strip_prefix('[')?;
        let digits = index.find(|c: char| !c.is_ascii_digit()).filter(|length| *length > 0)?;
        index[digits..].strip_prefix(']')?;
        let length = word + digits + 2;
        Some((length, value(self.system, &rest[..length])?))
    }
}

fn compared(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    let not = |expr: Expr| Expr::unary(UnaryOp::Not, expr);
    match (op, left, right) {
        (BinaryOp::Equal, expr, Expr::Const(1)) | (BinaryOp::Equal, Expr::Const(1), expr) => expr,
        (BinaryOp::NotEqual, expr, Expr::Const(0)) | (BinaryOp::NotEqual, Expr::Const(0), expr) => expr,
        (BinaryOp::Equal, expr, Expr::Const(_)) | (BinaryOp::Equal, Expr::Const(_), expr) => not(expr),
        (BinaryOp::NotEqual, expr, Expr::Const(_)) | (BinaryOp::NotEqual, Expr::Const(_), expr) => not(expr),
        (op, left, right) => Expr::binary(op, left, right),
    }
}

/// The value of an input, a latch, an output or another signal.
fn value(system: &System, name: &str) -> Option<Expr> {
    if let Some(number) = system.globals.iter().position(|variable| variable.name == name) {
        let variable = VariableId::from(number);
        let scalar = Scalar::BOOL;
        return Some(Expr::Read(Place { scope: Scope::Global, variable, offset: 0, indices: Vec::new(), scalar }));
    }
    system.signals.iter().find(|signal| signal.name == name).map(|signal| signal.value.clone())
}
