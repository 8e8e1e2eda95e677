//! Specifications: temporal operators around expressions, which become the atoms of a formula.
//!
//! Real-time operators (`EBF 2..5 p`, `F [2, 5] p`) are written out: the formula has a part for every step.

use ample_logic::{Binary as Join, Formula, Unary as Operator};
use ample_model::AtomTable;

use super::ast::{Binary, Bounds, Chain, Infix, Kind, Logic, Node, Prefix, Quantifier, Unary};
use super::expression::Lowerer;
use super::flatten::Analysed;
use crate::diagnostic::Diagnostic;

/// Bounds may be so large: formulas have a limited depth, and grow by it.
const MAX_BOUND: u32 = 100;

/// Lowers one formula.
pub struct Formulas<'f, 'a, 'w> {
    /// Lowers its atoms.
    pub lowerer: &'f mut Lowerer<'a, 'w>,
    /// The atoms.
    pub table: AtomTable,
    /// Of which logic it is.
    pub logic: Logic,
}

impl<'a> Formulas<'_, 'a, '_> {
    /// The formula of a node, with the names of an instance.
    pub fn formula(&mut self, node: &'a Node, instance: usize) -> Analysed<Formula> {
        if !node.is_temporal() {
            return self.atom(node, instance);
        }
        match &node.kind {
            Kind::Unary(Unary::Not, x) => Ok(!self.formula(x, instance)?),
            Kind::Chain(op @ (Chain::And | Chain::Or), operands) => {
                let op = if *op == Chain::And { Join::And } else { Join::Or };
                let mut parts = Vec::new();
                for operand in operands {
                    parts.push(self.formula(operand, instance)?);
                }
                Ok(joined(op, parts))
            }
            Kind::Binary(op, x, y) => {
                let op = match op {
                    Binary::Implies => Join::Implies,
                    Binary::Iff | Binary::Xnor | Binary::Equal => Join::Iff,
                    Binary::Xor | Binary::NotEqual => Join::Xor,
                    _ => return Err(misplaced(node)),
                };
                Ok(Formula::binary(op, self.formula(x, instance)?, self.formula(y, instance)?))
            }
            Kind::Conditional(c, x, y) => {
                let c = self.formula(c, instance)?;
                let (x, y) = (self.formula(x, instance)?, self.formula(y, instance)?);
                Ok((c.clone() & x) | (!c & y))
            }
            Kind::Prefix(prefix, bounds, x) => {
                self.linear(node)?;
                let x = self.formula(x, instance)?;
                self.prefix(*prefix, *bounds, x, node)
            }
            Kind::Infix(op, x, y) => {
                self.linear(node)?;
                let (x, y) = (self.formula(x, instance)?, self.formula(y, instance)?);
                let op = match op {
                    Infix::Until => Join::Until,
                    Infix::Release => Join::Release,
                    Infix::Since => Join::Since,
                    Infix::Triggered => Join::Triggered,
                };
                Ok(Formula::binary(op, x, y))
            }
            Kind::Quantified(quantifier, prefix, bounds, x) => {
                self.branching(node)?;
                let x = self.formula(x, instance)?;
                quantified(*quantifier, *prefix, *bounds, x, node)
            }
            Kind::Until(quantifier, bounds, x, y) => {
                self.branching(node)?;
                let (x, y) = (self.formula(x, instance)?, self.formula(y, instance)?);
                match bounds {
                    None => Ok(path(*quantifier, x.until(y))),
                    Some(bounds) => bounded_until(*quantifier, *bounds, &x, y, node),
                }
            }
            _ => Err(misplaced(node)),
        }
    }

    fn atom(&mut self, node: &'a Node, instance: usize) -> Analysed<Formula> {
        let (condition, lowered) = self.lowerer.condition(node, instance)?;
        // A formula of linear time and an invariant may speak of steps.
        if !matches!(self.logic, Logic::Ltl | Logic::Invariant) {
            let what = if self.logic == Logic::Ctl { "CTLSPEC" } else { "COMPUTE" };
            if lowered.reads_next {
                return Err(Diagnostic::error(node.span, format!("`{what}` speaks of states, which have no `next`")));
            }
            if lowered.reads_input {
                return Err(Diagnostic::error(
                    node.span,
                    format!("`{what}` speaks of states, and inputs are no part of them"),
                )
                .with_help("`LTLSPEC` and `INVARSPEC` may use inputs"));
            }
        }
        Ok(self.table.formula(condition))
    }

    fn linear(&self, node: &Node) -> Analysed<()> {
        match self.logic {
            Logic::Ltl => Ok(()),
            Logic::Invariant => Err(Diagnostic::error(node.span, "`INVARSPEC` has no temporal operators")),
            _ => Err(Diagnostic::error(node.span, "an operator of linear time in a formula of branching time")
                .with_help("in `CTLSPEC` every temporal operator has a path quantifier: `AG`, `EF`, `A [p U q]`")),
        }
    }

    fn branching(&self, node: &Node) -> Analysed<()> {
        match self.logic {
            Logic::Ltl => Err(Diagnostic::error(node.span, "a path quantifier in a formula of linear time")
                .with_help("in `LTLSPEC` write `G`, `F`, `X`, `p U q`")),
            Logic::Invariant => Err(Diagnostic::error(node.span, "`INVARSPEC` has no temporal operators")),
            _ => Ok(()),
        }
    }

    fn prefix(&self, prefix: Prefix, bounds: Option<Bounds>, x: Formula, node: &Node) -> Analysed<Formula> {
        let operator = match prefix {
            Prefix::Next => Operator::Next,
            Prefix::Finally => Operator::Finally,
            Prefix::Globally => Operator::Globally,
            Prefix::Previous => Operator::Previous,
            Prefix::WeakPrevious => Operator::WeakPrevious,
            Prefix::Once => Operator::Once,
            Prefix::Historically => Operator::Historically,
        };
        let Some(bounds) = bounds else { return Ok(Formula::unary(operator, x)) };
        few(bounds, node)?;
        let (step, join) = match prefix {
            Prefix::Finally => (Operator::Next, Join::Or),
            Prefix::Globally => (Operator::Next, Join::And),
            Prefix::Once => (Operator::Previous, Join::Or),
            // As in NuSMV, all of these steps must have been: before the first state it is false.
            Prefix::Historically => (Operator::Previous, Join::And),
            _ => return Err(Diagnostic::error(node.span, "bounds are for `F`, `G`, `O` and `H`")),
        };
        let mut formula = x.clone();
        for _ in bounds.from..bounds.to {
            formula = Formula::binary(join, x.clone(), Formula::unary(step, formula));
        }
        Ok((0..bounds.from).fold(formula, |formula, _| Formula::unary(step, formula)))
    }
}

fn joined(op: Join, mut parts: Vec<Formula>) -> Formula {
    while parts.len() > 1 {
        let mut rest = parts.into_iter();
        parts = Vec::new();
        while let Some(x) = rest.next() {
            parts.push(match rest.next() {
                Some(y) => Formula::binary(op, x, y),
                None => x,
            });
        }
    }
    parts.pop().unwrap_or(Formula::True)
}

fn misplaced(node: &Node) -> Diagnostic {
    Diagnostic::error(node.span, "a temporal operator where a value is expected")
}

fn path(quantifier: Quantifier, formula: Formula) -> Formula {
    match quantifier {
        Quantifier::All => formula.all(),
        Quantifier::Exists => formula.exists(),
    }
}

fn few(bounds: Bounds, node: &Node) -> Analysed<()> {
    if bounds.to <= MAX_BOUND {
        return Ok(());
    }
    Err(Diagnostic::error(node.span, format!("bounds may be at most {MAX_BOUND} steps")))
}

fn quantified(
    quantifier: Quantifier,
    prefix: Prefix,
    bounds: Option<Bounds>,
    x: Formula,
    node: &Node,
) -> Analysed<Formula> {
    let Some(bounds) = bounds else {
        return Ok(path(
            quantifier,
            match prefix {
                Prefix::Finally => x.finally(),
                Prefix::Globally => x.globally(),
                _ => x.next(),
            },
        ));
    };
    few(bounds, node)?;
    let join = if prefix == Prefix::Finally { Join::Or } else { Join::And };
    let mut formula = x.clone();
    for _ in bounds.from..bounds.to {
        formula = Formula::binary(join, x.clone(), path(quantifier, formula.next()));
    }
    Ok((0..bounds.from).fold(formula, |formula, _| path(quantifier, formula.next())))
}

fn bounded_until(quantifier: Quantifier, bounds: Bounds, x: &Formula, y: Formula, node: &Node) -> Analysed<Formula> {
    few(bounds, node)?;
    let mut formula = y.clone();
    for _ in bounds.from..bounds.to {
        formula = y.clone() | (x.clone() & path(quantifier, formula.next()));
    }
    Ok((0..bounds.from).fold(formula, |formula, _| x.clone() & path(quantifier, formula.next())))
}
