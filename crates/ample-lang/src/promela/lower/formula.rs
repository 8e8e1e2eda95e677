//! Formulas: those of `ltl` blocks, and those that a user types beside a model that has been read.
//!
//! A formula is a tree of temporal and Boolean operators over state expressions. What lies below the lowest temporal
//! operator is one atom, with Promela's operators on Promela's numbers.

use std::collections::HashMap;
use std::result::Result as StdResult;

use ample_budget::Budget;
use ample_logic::{self as logic, Formula};
use ample_model::{
    AtomTable, BinaryOp, Expr, LocationId, ProcessId, ProcessType, Property, Question, Source, Span, System, Temporal,
    Variable,
};

use super::names::Globals;
use super::{Lower, Result};
use crate::diagnostic::{Diagnostic, Rejected, Severity};
use crate::promela::ast::{self, Binary, ExprKind, Unary};
use crate::promela::parser::{Names, Notation, parse_formula};
use crate::promplus::Widths;
use crate::watch::Watch;

/// What the text of a formula is called in messages.
const LABEL: &str = "<formula>";

const STRONG_RELEASE: Binary = Binary::Logical(logic::Binary::StrongRelease);

/// A state expression over a system that was read from Promela, as a user types it: globals, `_nr_pr`, channel polls
/// and lengths, `proc[i]@label`, `proc[i]:variable`, and the macros of the model. Beside Promela's operators there are
/// `->` and `<->`.
///
/// ```
/// use ample_lang::promela::{self, preprocess::MemoryLoader};
///
/// let text = "byte x; active proctype P() { x = 1; end: skip }";
/// let system = promela::read("p.pml", text.into(), &mut MemoryLoader::default(), &[])?.system;
/// assert!(promela::expression(&system, "P[0]@end -> x < 2").is_ok());
/// assert!(promela::expression(&system, "z < 2").is_err());
/// # Ok::<(), ample_lang::Rejected>(())
/// ```
pub fn expression(system: &System, text: &str) -> StdResult<Expr, Rejected> {
    expression_within(system, text, &Budget::unlimited())
}

/// As [`expression()`], within a budget: to know its macros, the model is preprocessed again.
pub fn expression_within(system: &System, text: &str, budget: &Budget) -> StdResult<Expr, Rejected> {
    let read = |lower: &mut Lower, e: &ast::Expr| lower.expression(e).map(Question::Invariant);
    let question = over_system(system, text, Notation::State, budget, read)?;
    match question {
        Question::Invariant(e) => Ok(e),
        // What goes in as an invariant comes out as one.
        _ => Ok(Expr::FALSE),
    }
}

/// A formula of linear temporal logic over a system that was read from Promela, in Spin's notation
/// (`[] <> X U W V`, `always`, `until`, …) or with letters (`G F X U W R V M`, also `GF p`). Its atoms are those of
/// [`expression()`]. A name of the model is that name, not an operator.
///
/// A formula in which `_last` or `get_priority` occurs needs a system that keeps these in its states: see
/// [`System::uses_last`] and [`System::uses_priorities`].
///
/// ```
/// use ample_lang::promela::{self, preprocess::MemoryLoader};
///
/// let text = "byte x; active proctype P() { do :: x < 5 -> x++ :: x == 5 -> done: x = 0 od }";
/// let system = promela::read("p.pml", text.into(), &mut MemoryLoader::default(), &[])?.system;
/// let spin = promela::ltl(&system, "[] (x > 3 -> <> P[0]@done)")?;
/// assert_eq!(spin, promela::ltl(&system, "G (x > 3 -> F P[0]@done)")?);
/// let error = promela::ltl(&system, "G (x > 3 -> F P[0]@doen)").unwrap_err();
/// assert_eq!(error.diagnostics[0].help.as_deref(), Some("did you mean `done`?"));
/// # Ok::<(), ample_lang::Rejected>(())
/// ```
pub fn ltl(system: &System, text: &str) -> StdResult<Temporal, Rejected> {
    ltl_within(system, text, &Budget::unlimited())
}

/// As [`ltl`], within a budget.
pub fn ltl_within(system: &System, text: &str, budget: &Budget) -> StdResult<Temporal, Rejected> {
    formula(system, text, Notation::Linear, budget)
}

/// A formula of computation tree logic over a system that was read from Promela: `AG EF AX …`, `A [ f U g ]`,
/// `E (f U g)`, `A[] f`, `E<> f`, and so on, with atoms and names as for [`ltl`]. A formula in which a temporal
/// operator has no path quantifier of its own is refused.
///
/// ```
/// use ample_lang::promela::{self, preprocess::MemoryLoader};
///
/// let text = "byte x; active proctype P() { do :: x < 5 -> x++ :: x == 5 -> x = 0 od }";
/// let system = promela::read("p.pml", text.into(), &mut MemoryLoader::default(), &[])?.system;
/// assert!(promela::ctl(&system, "AG (x == 5 -> EF x == 0)").is_err());
/// assert!(promela::ctl(&system, "AG (x == 5 -> EF (x == 0))").is_ok());
/// # Ok::<(), ample_lang::Rejected>(())
/// ```
pub fn ctl(system: &System, text: &str) -> StdResult<Temporal, Rejected> {
    ctl_within(system, text, &Budget::unlimited())
}

/// As [`ctl`], within a budget.
pub fn ctl_within(system: &System, text: &str, budget: &Budget) -> StdResult<Temporal, Rejected> {
    formula(system, text, Notation::Branching, budget)
}

fn formula(system: &System, text: &str, notation: Notation, budget: &Budget) -> StdResult<Temporal, Rejected> {
    let question = over_system(system, text, notation, budget, |lower, e| lower.temporal(e).map(Question::Ltl))?;
    match question {
        Question::Ltl(temporal) => Ok(temporal),
        // What goes in as a formula comes out as one.
        _ => Ok(Temporal::state(Expr::FALSE)),
    }
}

/// Reads a text over a system; what `read` makes of it has its remote references resolved.
fn over_system(
    system: &System,
    text: &str,
    notation: Notation,
    budget: &Budget,
    read: impl FnOnce(&mut Lower, &ast::Expr) -> Result<Question>,
) -> StdResult<Question, Rejected> {
    let globals = system.globals.iter().map(|variable| variable.name.as_str());
    let constants = system.enumerations.iter().flat_map(|e| e.values.iter().map(|(name, _)| name.as_str()));
    let names = Names {
        sources: &system.sources,
        variables: globals.chain(constants).collect(),
        processes: system.processes.iter().map(|process| process.name.as_str()).collect(),
        pointers: system.language == crate::promplus::NAME,
    };
    let watch = Watch::new(budget);
    let (parsed, sources) = watch.finish(parse_formula(LABEL, text.into(), &names, notation, &watch))?;
    let mut lower = Lower::over(system, &sources, &watch);
    lower.notation = notation;
    let lowered = read(&mut lower, &parsed).map(|question| {
        lower.system.properties = vec![Property { name: String::new(), question, text: text.into(), span: None }];
        let labels = lower.label_tables();
        lower.resolve_references(&labels);
    });
    lower.keep_error(lowered);
    let Lower { system, diagnostics, .. } = lower;
    let failed = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    watch.finish(match system.properties.into_iter().next() {
        Some(property) if !failed => Ok(property.question),
        _ => Err(Rejected::new(sources, diagnostics)),
    })
}

impl<'a> Lower<'a> {
    /// A context in which everything that `system` declares is known, though nothing that it does.
    fn over(system: &System, sources: &'a [Source], watch: &'a Watch<'a>) -> Self {
        let bare = |variable: &Variable| Variable { initial: Vec::new(), ..variable.clone() };
        let process = |process: &ProcessType| ProcessType {
            locals: process.locals.iter().map(bare).collect(),
            edges: Vec::new(),
            provided: None,
            ..process.clone()
        };
        let mut lower = Lower::new(sources, &system.name, Vec::new(), watch);
        lower.globals = Globals::of(system);
        lower.roles = system.processes.iter().map(|p| p.role).collect();
        lower.parameter_slots = vec![0; system.processes.len()];
        lower.parameters = vec![Vec::new(); system.processes.len()];
        lower.widths = (system.language == crate::promplus::NAME).then(Widths::default);
        lower.system.enumerations = system.enumerations.clone();
        lower.system.records = system.records.clone();
        lower.system.channels = system.channels.clone();
        lower.system.globals = system.globals.iter().map(bare).collect();
        lower.system.processes = system.processes.iter().map(process).collect();
        lower
    }

    /// The labels of every process type, from the finished locations.
    fn label_tables(&self) -> HashMap<ProcessId, HashMap<String, Vec<LocationId>>> {
        let tables = self.system.processes.iter().enumerate().map(|(index, process)| {
            let mut table: HashMap<String, Vec<LocationId>> = HashMap::new();
            for (location, data) in process.locations.iter().enumerate() {
                for label in &data.labels {
                    table.entry(label.clone()).or_insert_with(|| vec![LocationId::from(location)]);
                }
            }
            for label in &process.unreachable_labels {
                table.entry(label.clone()).or_default();
            }
            (ProcessId::from(index), table)
        });
        tables.collect()
    }

    /// Where a name is known that no global has, as help.
    pub(super) fn found_in_process(&self, name: &str) -> Option<String> {
        for process in &self.system.processes {
            let of = &process.name;
            if process.locals.iter().any(|variable| variable.name == name) {
                return Some(format!("it is a variable of `{of}`: write `{of}[pid]:{name}`"));
            }
            let mut labels = process.locations.iter().flat_map(|location| &location.labels);
            if labels.any(|label| label == name) || process.unreachable_labels.iter().any(|label| label == name) {
                return Some(format!("it is a label of `{of}`: write `{of}[pid]@{name}`"));
            }
            if self.notation.is_separate() && of == name {
                return Some(format!("it is a process type: write `{of}[pid]@label` or `{of}[pid]:variable`"));
            }
        }
        None
    }

    /// A temporal formula: temporal and Boolean operators above, state expressions below.
    pub(super) fn temporal(&mut self, e: &ast::Expr) -> Result<Temporal> {
        let mut table = AtomTable::new();
        let formula = self.formula(e, &mut table)?;
        Ok(Temporal::new(formula, table))
    }

    fn formula(&mut self, e: &ast::Expr, table: &mut AtomTable) -> Result<Formula> {
        match &*e.kind {
            ExprKind::Unary(op, x) if e.is_temporal() => self.unary_formula(e, *op, x, table),
            ExprKind::Binary(op, x, y) if e.is_temporal() => {
                let op = match *op {
                    Binary::Logical(logic::Binary::StrongRelease) => {
                        return Ok(!self.not_strong_release(x, y, table)?);
                    }
                    Binary::Logical(op) => op,
                    // The single signs are those of NuSMV here; in a model they are not known for formulas.
                    Binary::Arithmetic(BinaryOp::BitAnd) if self.notation.is_separate() => logic::Binary::And,
                    Binary::Arithmetic(BinaryOp::BitOr) if self.notation.is_separate() => logic::Binary::Or,
                    Binary::Arithmetic(op) => return Err(self.arithmetic_on(op, e.span, x, y)),
                };
                let x = self.formula(x, table)?;
                Ok(Formula::binary(op, x, self.formula(y, table)?))
            }
            _ => Ok(table.formula(self.expression(e)?)),
        }
    }

    fn unary_formula(&mut self, e: &ast::Expr, op: Unary, x: &ast::Expr, table: &mut AtomTable) -> Result<Formula> {
        let Unary::Logical(op) = op else { return Err(arithmetic(e.span)) };
        if let (logic::Unary::All | logic::Unary::Exists, ExprKind::Binary(STRONG_RELEASE, f, g)) = (op, &*x.kind) {
            let weak = self.not_strong_release(f, g, table)?;
            return Ok(!if op == logic::Unary::All { weak.exists() } else { weak.all() });
        }
        Ok(Formula::unary(op, self.formula(x, table)?))
    }

    /// The negation of `f M g`, which is `!f W !g`; `g U (f && g)` would write `g` twice, and its parts ever more often.
    fn not_strong_release(&mut self, f: &ast::Expr, g: &ast::Expr, table: &mut AtomTable) -> Result<Formula> {
        let f = !self.formula(f, table)?;
        Ok(f.weak_until(!self.formula(g, table)?))
    }

    /// The error that an operator on numbers has a formula as an operand. Mostly a prefix operator was thought to
    /// bind weaker.
    fn arithmetic_on(&self, op: BinaryOp, span: Span, x: &ast::Expr, y: &ast::Expr) -> Diagnostic {
        let error = arithmetic(span);
        match op {
            BinaryOp::BitAnd => return error.with_help("write `&&`"),
            BinaryOp::BitOr => return error.with_help("write `||`"),
            _ => {}
        }
        let mut operand = x;
        while let ExprKind::Unary(op, inner) = &*operand.kind
            && op.is_temporal()
        {
            operand = inner;
        }
        let between = |from: u32, to: u32| self.text(Span { start: from, end: to, ..span });
        let prefix = between(x.span.start, operand.span.start);
        let is_prefix = !prefix.is_empty() && !prefix.starts_with('(') && x.span.start == span.start;
        if is_prefix && !operand.is_temporal() && !y.is_temporal() {
            let operator = between(x.span.end, y.span.start);
            return error.with_help(match operator.as_str() {
                // What a macro expands to has no places of its own.
                "" => format!("`{prefix}` binds stronger: put parentheses around all that it speaks of"),
                operator => {
                    let inner = format!("{} {operator} {}", self.text(operand.span), self.text(y.span));
                    format!("`{prefix}` binds stronger than `{operator}`: write `{prefix} ({inner})`")
                }
            });
        }
        match op {
            BinaryOp::Equal => error.with_help("between formulas, write `<->`"),
            BinaryOp::NotEqual => error.with_help("between formulas, write `!(f <-> g)`"),
            _ => error,
        }
    }
}

fn arithmetic(span: Span) -> Diagnostic {
    Diagnostic::error(span, "arithmetic on a temporal formula")
}
