//! Formulas between reading and use: what logic they are in, how they are written, and what they become.

use ample_logic::Formula;
use ample_model::{AtomTable, BinaryOp, Expr, Shared, Temporal, UnaryOp};

use super::atoms::{balanced, joined};

/// A formula.
#[derive(Clone, Debug)]
pub enum Tree {
    Const(bool),
    /// An expression, and how it is written.
    Atom(Expr, String),
    Not(Box<Tree>),
    And(Vec<Tree>),
    Or(Vec<Tree>),
    Implies(Box<Tree>, Box<Tree>),
    Iff(Box<Tree>, Box<Tree>),
    Next(Box<Tree>),
    Globally(Box<Tree>),
    Finally(Box<Tree>),
    Until(Box<Tree>, Box<Tree>),
    WeakUntil(Box<Tree>, Box<Tree>),
    Release(Box<Tree>, Box<Tree>),
    All(Box<Tree>),
    Exists(Box<Tree>),
}

impl Tree {
    fn parts(&self) -> Vec<&Tree> {
        match self {
            Tree::Const(_) | Tree::Atom(..) => Vec::new(),
            Tree::Not(f) | Tree::Next(f) | Tree::Globally(f) | Tree::Finally(f) | Tree::All(f) | Tree::Exists(f) => {
                vec![f]
            }
            Tree::And(parts) | Tree::Or(parts) => parts.iter().collect(),
            Tree::Implies(f, g) | Tree::Iff(f, g) | Tree::Until(f, g) | Tree::WeakUntil(f, g) | Tree::Release(f, g) => {
                vec![f, g]
            }
        }
    }

    fn is_quantifier(&self) -> bool {
        matches!(self, Tree::All(_) | Tree::Exists(_))
    }

    /// An operator about a run.
    fn is_temporal(&self) -> bool {
        use Tree::{Finally, Globally, Next, Release, Until, WeakUntil};
        matches!(self, Next(_) | Globally(_) | Finally(_) | Until(..) | WeakUntil(..) | Release(..))
    }

    /// There is an operator about the next state.
    pub fn has_next(&self) -> bool {
        matches!(self, Tree::Next(_)) || self.parts().into_iter().any(Tree::has_next)
    }

    /// There is neither an operator about runs nor a quantifier.
    pub fn is_plain(&self) -> bool {
        !self.is_quantifier() && !self.is_temporal() && self.parts().into_iter().all(Tree::is_plain)
    }

    fn has_no_quantifier(&self) -> bool {
        !self.is_quantifier() && self.parts().into_iter().all(Tree::has_no_quantifier)
    }

    /// A formula of linear time, perhaps behind the quantifier that is meant anyway.
    pub fn is_ltl(&self) -> bool {
        match self {
            Tree::All(f) => f.has_no_quantifier(),
            f => f.has_no_quantifier(),
        }
    }

    /// A formula of branching time: operators about runs stand right behind quantifiers.
    pub fn is_ctl(&self) -> bool {
        match self {
            Tree::All(f) | Tree::Exists(f) if f.is_temporal() => f.parts().into_iter().all(Tree::is_ctl),
            f => !f.is_temporal() && f.parts().into_iter().all(Tree::is_ctl),
        }
    }

    // What it becomes.

    /// A formula of linear time, without the quantifier in front. Every operator is one of the formula.
    pub fn linear(self) -> Temporal {
        let mut table = AtomTable::new();
        let formula = match self {
            Tree::All(f) => f.over(&mut table, false),
            f => f.over(&mut table, false),
        };
        Temporal::new(formula, table)
    }

    /// A formula of branching time. Parts that speak of one state are one expression, and quantifiers before them are
    /// left out.
    pub fn branching(self) -> Temporal {
        let mut table = AtomTable::new();
        let formula = self.over(&mut table, true);
        Temporal::new(formula, table)
    }

    fn over(self, table: &mut AtomTable, is_branching: bool) -> Formula {
        match self {
            f if is_branching && f.is_plain() => table.formula(f.expression()),
            Tree::All(f) | Tree::Exists(f) if is_branching && !f.is_temporal() => f.over(table, is_branching),
            Tree::Const(value) => table.formula(Expr::Const(value.into())),
            Tree::Atom(expr, _) => table.formula(expr),
            Tree::Not(f) => !f.over(table, is_branching),
            Tree::And(parts) => {
                let parts = parts.into_iter().map(|part| part.over(table, is_branching)).collect();
                joined(parts, &mut |left, right| left & right).unwrap_or(Formula::True)
            }
            Tree::Or(parts) => {
                let parts = parts.into_iter().map(|part| part.over(table, is_branching)).collect();
                joined(parts, &mut |left, right| left | right).unwrap_or(Formula::False)
            }
            Tree::Implies(f, g) => Formula::implies(f.over(table, is_branching), g.over(table, is_branching)),
            Tree::Iff(f, g) => Formula::iff(f.over(table, is_branching), g.over(table, is_branching)),
            Tree::Next(f) => f.over(table, is_branching).next(),
            Tree::Globally(f) => f.over(table, is_branching).globally(),
            Tree::Finally(f) => f.over(table, is_branching).finally(),
            Tree::Until(f, g) => Formula::until(f.over(table, is_branching), g.over(table, is_branching)),
            Tree::WeakUntil(f, g) => Formula::weak_until(f.over(table, is_branching), g.over(table, is_branching)),
            Tree::Release(f, g) => Formula::release(f.over(table, is_branching), g.over(table, is_branching)),
            Tree::All(f) => f.over(table, is_branching).all(),
            Tree::Exists(f) => f.over(table, is_branching).exists(),
        }
    }

    /// A plain formula as one expression.
    pub fn expression(self) -> Expr {
        let not = |expr| Expr::unary(UnaryOp::Not, expr);
        match self {
            Tree::Atom(expr, _) => expr,
            Tree::Not(f) => not(f.expression()),
            Tree::And(parts) => {
                balanced(BinaryOp::And, parts.into_iter().map(Tree::expression).collect()).unwrap_or(Expr::TRUE)
            }
            Tree::Or(parts) => {
                balanced(BinaryOp::Or, parts.into_iter().map(Tree::expression).collect()).unwrap_or(Expr::FALSE)
            }
            Tree::Implies(f, g) => Expr::binary(BinaryOp::Or, not(f.expression()), g.expression()),
            Tree::Iff(f, g) => {
                // Each side is needed twice, and may have such formulas inside.
                let [f, g] = [f, g].map(|side| Expr::Shared(Shared::new(side.expression())));
                let both = Expr::binary(BinaryOp::And, f.clone(), g.clone());
                let neither = Expr::binary(BinaryOp::And, not(f), not(g));
                Expr::binary(BinaryOp::Or, both, neither)
            }
            Tree::Const(value) => Expr::Const(value.into()),
            // The others are not plain.
            _ => Expr::FALSE,
        }
    }

    // How it is written.

    /// As a user would type it.
    pub fn text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) {
        match self {
            Tree::Const(value) => out.push_str(if *value { "true" } else { "false" }),
            Tree::Atom(_, text) => out.push_str(text),
            Tree::Not(f) => f.prefixed("!", out),
            Tree::And(parts) => infix(parts, " & ", "true", out),
            Tree::Or(parts) => infix(parts, " | ", "false", out),
            Tree::Implies(f, g) => between(f, " -> ", g, out),
            Tree::Iff(f, g) => between(f, " <-> ", g, out),
            Tree::Next(f) => f.prefixed("X ", out),
            Tree::Globally(f) => f.prefixed("G ", out),
            Tree::Finally(f) => f.prefixed("F ", out),
            Tree::Until(f, g) => between(f, " U ", g, out),
            Tree::WeakUntil(f, g) => between(f, " W ", g, out),
            Tree::Release(f, g) => between(f, " R ", g, out),
            Tree::All(f) => f.quantified('A', out),
            Tree::Exists(f) => f.quantified('E', out),
        }
    }

    fn quantified(&self, quantifier: char, out: &mut String) {
        out.push(quantifier);
        match self {
            Tree::Next(_) | Tree::Globally(_) | Tree::Finally(_) => self.write(out),
            f => f.prefixed(" ", out),
        }
    }

    fn prefixed(&self, operator: &str, out: &mut String) {
        out.push_str(operator);
        self.enclosed(out);
    }

    /// In parentheses, where another operator stands beside it.
    fn enclosed(&self, out: &mut String) {
        let is_single = match self {
            Tree::And(parts) | Tree::Or(parts) => parts.len() < 2,
            f => f.parts().len() < 2,
        };
        if is_single {
            return self.write(out);
        }
        out.push('(');
        self.write(out);
        out.push(')');
    }
}

fn infix(parts: &[Tree], operator: &str, none: &str, out: &mut String) {
    match parts {
        [] => out.push_str(none),
        [one] => one.enclosed(out),
        [first, rest @ ..] => {
            first.enclosed(out);
            for part in rest {
                out.push_str(operator);
                part.enclosed(out);
            }
        }
    }
}

fn between(left: &Tree, operator: &str, right: &Tree, out: &mut String) {
    left.enclosed(out);
    out.push_str(operator);
    right.enclosed(out);
}
