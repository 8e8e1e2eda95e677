//! Nets in binary decision diagrams: places that share one token are one variable, and the symbolic engine for all
//! models does the work.
//!
//! The transitions of the [encoded](crate::structure::encode) net are those of the net itself, so a run of one is
//! a run of the other. Units that only the source vouches for are believed until the reachable markings show that one of
//! them has two tokens; then all starts again with proved units alone.

use std::time::Duration;

use crate::net::Net;
use crate::structure::encode::{Encoded, encodings};
use ample_budget::Budget;
use ample_engine::board::Board;
use ample_logic::{Formula, Unary};
use ample_model::{AtomTable, BinaryOp, Expr, Property, Question, System, Temporal};

use super::Options;
use ample_engine::report::Report;
use ample_symbolic::engine::{AlternativeEncoding, Options as General, check_in, states_in};

/// What the report calls them.
const KIND: &str = "Binary decision diagrams";
/// So long the structure of the net is looked at.
const FOR_STRUCTURE: Duration = Duration::from_secs(2);

/// Checks properties of a net.
pub fn check(
    system: &System,
    net: &Net,
    properties: &[Property],
    options: &Options,
    board: &Board,
    budget: &Budget,
) -> Report {
    let (extended, asked) = with_successors(system, properties);
    report(check_in(
        &|budget| alternatives(system, net, budget),
        &extended,
        &asked,
        &as_general(options),
        board,
        budget,
    ))
}

/// What the symbolic engine for all models is told.
fn as_general(options: &Options) -> General {
    General { settings: options.settings.clone(), symbolic: options.symbolic }
}

/// Counts the markings of a net.
pub fn states(system: &System, net: &Net, options: &Options, budget: &Budget) -> Report {
    report(states_in(&|budget| alternatives(system, net, budget), system, &as_general(options), budget))
}

/// Encodings of a net, the one with the fewest variables first.
fn alternatives(system: &System, net: &Net, budget: &Budget) -> Vec<AlternativeEncoding> {
    let found = encodings(system, net, &budget.clone().with_time(FOR_STRUCTURE));
    let alternative = |encoded: Encoded| {
        let description = described(net, &encoded);
        let Encoded { system, tokens, is_promised, is_bounded, .. } = encoded;
        AlternativeEncoding { system, values: tokens, is_declared: is_bounded, is_promised, start: None, description }
    };
    found.into_iter().map(alternative).collect()
}

fn described(net: &Net, encoded: &Encoded) -> String {
    let (places, variables) = (net.places.len(), encoded.system.globals.len());
    let Encoded { units, in_units, is_promised, .. } = encoded;
    let whence = if *is_promised { "as the source states" } else { "proved" };
    format!("{KIND}: {variables} variables for {places} places, {units} of them units of {in_units} places, {whence}")
}

/// A report for people who know the net only.
fn report(mut report: Report) -> Report {
    for end in report.answers.iter_mut().filter_map(|answer| answer.end.as_mut()) {
        end.processes.clear();
    }
    report.choice = report.choice.or_else(|| Some(format!("{KIND}: a variable for each place")));
    report
}

/// The net and what is asked about it, so that a dead marking may be its own successor: in branching time, where it has
/// none, every X also asks whether there is one. If that cannot be said, all stays as it is.
fn with_successors(system: &System, properties: &[Property]) -> (System, Vec<Property>) {
    let explicit = |property: &Property| match &property.question {
        Question::Ctl(temporal) if system.dead_ends && temporal.formula.has_next() => {
            let mut table = AtomTable::new();
            let formula = table.import(temporal);
            let formula = guarded(&formula, &table.formula(can_move(system)))?;
            let question = Question::Ctl(Temporal::new(formula, table));
            Some(Property { question, ..property.clone() })
        }
        _ => Some(property.clone()),
    };
    match properties.iter().map(explicit).collect::<Option<Vec<Property>>>() {
        Some(asked) => (System { dead_ends: false, ..system.clone() }, asked),
        None => (system.clone(), properties.to_vec()),
    }
}

/// Some transition is enabled.
fn can_move(system: &System) -> Expr {
    let edges = system.processes.iter().flat_map(|process| &process.edges);
    let enabled = edges.map(|edge| balanced(BinaryOp::And, edge.guard.clone(), Expr::TRUE)).collect();
    balanced(BinaryOp::Or, enabled, Expr::FALSE)
}

/// All of them joined by an operator, in a tree that is not deep.
fn balanced(op: BinaryOp, mut parts: Vec<Expr>, none: Expr) -> Expr {
    while parts.len() > 1 {
        let mut pairs = parts.into_iter();
        let mut joined = Vec::new();
        while let Some(left) = pairs.next() {
            joined.push(match pairs.next() {
                Some(right) => Expr::binary(op, left, right),
                None => left,
            });
        }
        parts = joined;
    }
    parts.pop().unwrap_or(none)
}

/// The formula with `EX f` as "it can move and `EX f`", and `AX f` as "it cannot, or `AX f`". `None` if an X stands
/// anywhere but under its quantifier.
fn guarded(formula: &Formula, moves: &Formula) -> Option<Formula> {
    let is_next = |path: &Formula| matches!(path, Formula::Unary(Unary::Next, _));
    Some(match formula {
        Formula::True | Formula::False | Formula::Atom(_) => formula.clone(),
        Formula::Unary(quantifier @ (Unary::Exists | Unary::All), path) if is_next(path) => {
            let inner = path.operands().map(|f| guarded(f, moves)).next()??;
            let next = Formula::unary(*quantifier, inner.next());
            if *quantifier == Unary::Exists { moves.clone() & next } else { !moves.clone() | next }
        }
        Formula::Unary(Unary::Next, _) => return None,
        Formula::Unary(op, f) => Formula::unary(*op, guarded(f, moves)?),
        Formula::Binary(op, f, g) => Formula::binary(*op, guarded(f, moves)?, guarded(g, moves)?),
    })
}
