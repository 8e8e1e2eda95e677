//! The subformulas of a CTL formula, in the operators that modular checking knows: ¬, ∧, ∨, `EX`, `AX`, `E[· U ·]` and
//! `A[· U ·]`. All others are rewritten before the subformulas are numbered (§3.2.1).

use std::collections::HashMap;

use ample_logic::{Binary, Formula, Unary};
use ample_model::{Expr, Temporal};

/// All runs, or some run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quantifier {
    /// All runs.
    All,
    /// Some run.
    Some,
}

impl Quantifier {
    fn dual(self) -> Quantifier {
        match self {
            Quantifier::All => Quantifier::Some,
            Quantifier::Some => Quantifier::All,
        }
    }
}

/// A subformula; its parts are named by their numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Subformula {
    /// A condition on states, by its number: a largest part without temporal operators.
    Condition(usize),
    /// ¬
    Not(usize),
    /// ∧
    And(usize, usize),
    /// ∨
    Or(usize, usize),
    /// In the next states.
    Next(Quantifier, usize),
    /// The second, and until then the first.
    Until(Quantifier, usize, usize),
}

impl Subformula {
    /// The numbers of its parts.
    pub fn operands(&self) -> impl Iterator<Item = usize> {
        let (first, second) = match self {
            Subformula::Condition(_) => (None, None),
            Subformula::Not(f) | Subformula::Next(_, f) => (Some(*f), None),
            Subformula::And(f, g) | Subformula::Or(f, g) | Subformula::Until(_, f, g) => (Some(*f), Some(*g)),
        };
        first.into_iter().chain(second)
    }
}

/// All subformulas of a formula, each once, those of smaller length first: `cl(ψ)` of the thesis.
#[derive(Clone, Debug, Default)]
pub struct Closure {
    /// The conditions.
    pub conditions: Vec<Condition>,
    /// The subformulas; the formula itself is the last one.
    pub subformulas: Vec<Subformula>,
    /// How long each is: 1 for a condition.
    lengths: Vec<usize>,
    numbers: HashMap<Subformula, usize>,
}

/// A condition on states.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// An expression of the property holds: it can be evaluated, and is not 0.
    Expr(Expr),
    /// That expression does not hold.
    Fails(Expr),
    /// The step that is taken next breaks an assertion, or is a fault.
    Violation,
    /// No step is enabled, and it is no proper end.
    Deadlock,
}

impl Closure {
    /// Of a formula; `None` if it is not CTL.
    pub fn of(temporal: &Temporal) -> Option<Closure> {
        let mut closure = Closure::default();
        closure.add(temporal, &temporal.formula, true)?;
        Some(closure.sorted())
    }

    /// Of `AG ¬ condition`.
    pub fn never(condition: Condition) -> Closure {
        let mut closure = Closure::default();
        let (bad, always) = (closure.condition(condition), closure.condition(Condition::Expr(Expr::TRUE)));
        let reached = closure.number(Subformula::Until(Quantifier::Some, always, bad));
        closure.number(Subformula::Not(reached));
        closure.sorted()
    }

    /// The number of the formula itself.
    pub fn last(&self) -> usize {
        self.subformulas.len() - 1
    }

    /// The numbers of the subformulas, those of equal length together.
    pub fn batches(&self) -> Vec<Vec<usize>> {
        let mut batches: Vec<Vec<usize>> = Vec::new();
        for number in 0..self.subformulas.len() {
            match batches.last_mut() {
                Some(batch) if self.lengths[batch[0]] == self.lengths[number] => batch.push(number),
                _ => batches.push(vec![number]),
            }
        }
        batches
    }

    /// By subformula: the temporal operators that it is directly under need its states everywhere, not only at borders.
    pub fn is_operand(&self) -> Vec<bool> {
        let mut is_operand = vec![false; self.subformulas.len()];
        for subformula in &self.subformulas {
            subformula.operands().for_each(|operand| is_operand[operand] = true);
        }
        is_operand
    }

    /// Numbers the formula, or its negation.
    fn add(&mut self, temporal: &Temporal, formula: &Formula, value: bool) -> Option<usize> {
        if let Some(expr) = temporal.state_expr(formula) {
            let expr = if value { expr } else { Expr::unary(ample_model::UnaryOp::Not, expr) };
            return Some(self.condition(Condition::Expr(expr)));
        }
        Some(match formula {
            Formula::Unary(Unary::Not, f) => self.add(temporal, f, !value)?,
            Formula::Unary(Unary::Exists, path) => self.add_path(temporal, path, Quantifier::Some, value)?,
            Formula::Unary(Unary::All, path) => self.add_path(temporal, path, Quantifier::All, value)?,
            Formula::Binary(op @ (Binary::And | Binary::Or | Binary::Implies), f, g) => {
                let f = self.add(temporal, f, value != (*op == Binary::Implies))?;
                let g = self.add(temporal, g, value)?;
                match (op, value) {
                    (Binary::And, true) | (Binary::Or | Binary::Implies, false) => self.number(Subformula::And(f, g)),
                    _ => self.number(Subformula::Or(f, g)),
                }
            }
            Formula::Binary(op @ (Binary::Iff | Binary::Xor), f, g) => {
                let same = (*op == Binary::Iff) == value;
                let (f, g) = (self.add(temporal, f, true)?, self.add(temporal, g, same)?);
                let (not_f, not_g) = (self.not(f), self.not(g));
                let both = self.number(Subformula::And(f, g));
                let neither = self.number(Subformula::And(not_f, not_g));
                self.number(Subformula::Or(both, neither))
            }
            _ => return None,
        })
    }

    /// The path formula on some run or on all runs, or the negation of that.
    fn add_path(&mut self, temporal: &Temporal, path: &Formula, over: Quantifier, value: bool) -> Option<usize> {
        match path {
            Formula::Unary(Unary::Next, f) => {
                let f = self.add(temporal, f, value)?;
                Some(self.number(Subformula::Next(if value { over } else { over.dual() }, f)))
            }
            Formula::Unary(Unary::Finally, f) => {
                let always = self.condition(Condition::Expr(Expr::TRUE));
                let f = self.add(temporal, f, true)?;
                Some(self.until(over, always, f, value))
            }
            Formula::Unary(Unary::Globally, f) => {
                let always = self.condition(Condition::Expr(Expr::TRUE));
                let f = self.add(temporal, f, false)?;
                Some(self.until(over.dual(), always, f, !value))
            }
            Formula::Binary(op, f, g) => {
                // The negations are of what `until` gets; f R g is ¬(¬f U ¬g), f W g is ¬(¬g U ¬f ∧ ¬g), f M g is g U f ∧ g.
                let is_dual = matches!(op, Binary::Release | Binary::WeakUntil);
                let (f, g) = (self.add(temporal, f, !is_dual)?, self.add(temporal, g, !is_dual)?);
                let (from, to) = match op {
                    Binary::Until | Binary::Release => (f, g),
                    Binary::WeakUntil | Binary::StrongRelease => (g, self.number(Subformula::And(f, g))),
                    _ => return None,
                };
                Some(match is_dual {
                    true => self.until(over.dual(), from, to, !value),
                    false => self.until(over, from, to, value),
                })
            }
            _ => None,
        }
    }

    fn until(&mut self, over: Quantifier, f: usize, g: usize, value: bool) -> usize {
        let until = self.number(Subformula::Until(over, f, g));
        if value { until } else { self.not(until) }
    }

    fn not(&mut self, f: usize) -> usize {
        match self.subformulas[f] {
            Subformula::Not(inner) => inner,
            _ => self.number(Subformula::Not(f)),
        }
    }

    fn condition(&mut self, condition: Condition) -> usize {
        let known = self.conditions.iter().position(|known| *known == condition);
        let number = known.unwrap_or_else(|| {
            self.conditions.push(condition);
            self.conditions.len() - 1
        });
        self.number(Subformula::Condition(number))
    }

    fn number(&mut self, subformula: Subformula) -> usize {
        if let Some(known) = self.numbers.get(&subformula) {
            return *known;
        }
        let number = self.subformulas.len();
        self.lengths.push(1 + subformula.operands().map(|operand| self.lengths[operand]).sum::<usize>());
        self.numbers.insert(subformula.clone(), number);
        self.subformulas.push(subformula);
        number
    }

    /// Those of smaller length first. The formula itself is longer than all others.
    fn sorted(self) -> Closure {
        let mut order: Vec<usize> = (0..self.subformulas.len()).collect();
        order.sort_by_key(|number| self.lengths[*number]);
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(to, from)| place[*from] = to);
        let moved = |subformula: &Subformula| match *subformula {
            Subformula::Condition(condition) => Subformula::Condition(condition),
            Subformula::Not(f) => Subformula::Not(place[f]),
            Subformula::And(f, g) => Subformula::And(place[f], place[g]),
            Subformula::Or(f, g) => Subformula::Or(place[f], place[g]),
            Subformula::Next(over, f) => Subformula::Next(over, place[f]),
            Subformula::Until(over, f, g) => Subformula::Until(over, place[f], place[g]),
        };
        Closure {
            conditions: self.conditions,
            subformulas: order.iter().map(|number| moved(&self.subformulas[*number])).collect(),
            lengths: order.iter().map(|number| self.lengths[*number]).collect(),
            numbers: HashMap::new(),
        }
    }
}
