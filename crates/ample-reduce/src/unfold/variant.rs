//! Transitions as they are in a state.
//!
//! While a process stands before a transition its local variables do not change, and a subscript or a channel that is
//! computed from them is known: `flag[i]` is one flag. So the transition can be looked at anew with the values put in.

use std::collections::HashMap;
use std::sync::Arc;

use ample_model::{Communication, Edge, EdgeId, Expr, Instruction, Pattern, Place, Scope, VariableId};

use super::fold::{Fold, fixed_slot};
use super::operations::{Looks, Site};
use super::tests::Test;
use super::{Detail, Hope, Question, Unfolding};
use crate::scheme::{ObjectNumber, Operation, TransitionNumber, Verb};

/// What a transition does in states where some local variables have certain values.
#[derive(Clone, Debug)]
pub struct Variant {
    /// The operations of its command.
    pub command: Vec<Operation>,
    /// Operations on channels that nobody knows.
    pub wild: Vec<Verb>,
    /// What communications inside of it hope for.
    pub hopes: Vec<(ObjectNumber, Hope)>,
    /// Its conditions, in the order of the scheme; none where nothing new is known.
    pub questions: Vec<Option<Question>>,
}

impl Unfolding<'_> {
    /// The local cells that would say more about a transition.
    pub(super) fn unknowns(&self, site: &Site<'_>, edge: &Edge, detail: &Detail) -> Vec<(VariableId, u32)> {
        if edge.keeps_control || self.types[site.process.index()].loops || detail.is_global {
            return Vec::new();
        }
        let mut cells: Vec<(VariableId, u32)> = Vec::new();
        let mut worth = false;
        for expr in edge.expressions() {
            let (mut locals, mut globals) = (false, false);
            expr.walk(&mut |part| match part {
                Expr::Read(place) if place.scope == Scope::Local => {
                    locals = true;
                    match fixed_slot(place) {
                        Some(slot) if !cells.contains(&(place.variable, slot)) => cells.push((place.variable, slot)),
                        _ => {}
                    }
                }
                Expr::Read(_) | Expr::Length(_) | Expr::Full(_) | Expr::Poll { .. } => globals = true,
                _ => {}
            });
            worth |= locals && globals;
        }
        worth |= edge.written_places().iter().any(|place| place.scope == Scope::Global && fixed_slot(place).is_none());
        let handle = edge.communication.as_ref().map(Communication::channel);
        worth |= handle.is_some_and(|handle| !matches!(handle, Expr::Const(_)));
        cells.retain(|(variable, _)| !self.system.process(site.process).locals[variable.index()].hidden);
        if worth && cells.len() <= MAX_UNKNOWNS { cells } else { Vec::new() }
    }

    /// The transition with the values of its unknowns put in.
    pub fn variant(&mut self, number: TransitionNumber, values: &[i64]) -> Variant {
        let step = self.scheme.transitions[number as usize].steps[0].clone();
        let member = self.members[step.process as usize].clone();
        let lens = Arc::clone(&self.lens);
        let mut constants = member.origin.constants.clone();
        constants.extend(self.details[number as usize].unknowns.iter().copied().zip(values.iter().copied()));
        let fold = Fold { system: self.system, lens: &lens, id: member.id, constants, made: Default::default() };
        let id = EdgeId(number - member.first);
        let original = &self.system.process(member.process).edges[id.index()];
        let edge = later(original, &fold, &member.origin.constants);
        let edges: Vec<Edge> = Vec::new();
        let site = Site {
            process: member.process,
            number: step.process,
            edges: &edges,
            fold: &fold,
            channels: &member.origin.channels,
            own: &member.origin.own,
        };
        let (mut looks, mut detail) = (Looks::default(), Detail::default());
        let conditions = self.scheme.transitions[number as usize].conditions.clone();
        let mut questions = Vec::new();
        for condition in conditions {
            let question = &self.questions[condition as usize];
            let is_plain = !matches!(question.test, Test::Blocked(_) | Test::Timeout | Test::Youngest | Test::Never);
            let expression = question.expression.filter(|_| is_plain);
            questions
                .push(expression.map(|(expression, _)| self.ask(&site, &edge, expression, &mut looks, &mut detail)));
        }
        self.effect(&site, &edge, &mut looks, &mut detail);
        self.binds(&site, &edge, &mut looks);
        self.control(&site, &edge, &step.to, &mut looks, &detail);
        Variant { command: looks.operations, wild: looks.wild, hopes: detail.hopes, questions }
    }

    fn ask(
        &mut self,
        site: &Site<'_>,
        edge: &Edge,
        expression: u32,
        looks: &mut Looks,
        detail: &mut Detail,
    ) -> Question {
        let expressions = &self.types[site.process.index()].expressions;
        let is_last = expressions.iter().any(|range| range.end == expression + 1);
        let expr = site.fold.expr(&self.expressions[expression as usize].1);
        let mut question = match &edge.communication {
            Some(communication) if is_last => self.communicate(site, communication, &expr, expression, looks, detail).1,
            _ => match self.condition(site, &expr, expression, detail, &mut false) {
                Some((_, question)) => question,
                // It holds, as long as the process stays where it is.
                None => Question {
                    test: Test::Other,
                    objects: Vec::new(),
                    is_wild: false,
                    reads_locals: true,
                    expression: None,
                    may_fault: false,
                },
            },
        };
        question.reads_locals = true;
        question
    }
}

/// More values make too many variants.
const MAX_UNKNOWNS: usize = 6;

/// The edge with the values put in, as far as they are still those when it gets there.
fn later(edge: &Edge, fold: &Fold<'_>, always: &HashMap<(VariableId, u32), i64>) -> Edge {
    let at = |constants: HashMap<(VariableId, u32), i64>| Fold {
        system: fold.system,
        lens: fold.lens,
        id: fold.id,
        constants,
        made: Default::default(),
    };
    let careful = at(always.clone()).edge(edge);
    let first = fold.edge(edge);
    let mut constants = fold.constants.clone();
    // Where a received value goes may depend on one that was received before it.
    let communication = match (&first.communication, &careful.communication) {
        (
            Some(Communication::Receive { channel, patterns, anywhere, keep }),
            Some(Communication::Receive { patterns: others, .. }),
        ) => {
            let patterns = patterns.iter().zip(others);
            let patterns = patterns.map(|(known, other)| match other {
                Pattern::Bind(_) => other.clone(),
                _ => known.clone(),
            });
            Some(Communication::Receive {
                channel: channel.clone(),
                patterns: patterns.collect(),
                anywhere: *anywhere,
                keep: *keep,
            })
        }
        (communication, _) => communication.clone(),
    };
    let only = |effect: Vec<Instruction>| Edge { effect, communication: None, guard: Vec::new(), ..edge.clone() };
    let before = Edge { effect: Vec::new(), ..edge.clone() };
    forget(&mut constants, always, &before.written_places());
    let is_straight = edge.effect.iter().all(|instruction| matches!(instruction, Instruction::Do(_)));
    let mut effect = Vec::new();
    for (number, instruction) in edge.effect.iter().enumerate() {
        if !is_straight {
            effect.push(careful.effect[number].clone());
            continue;
        }
        let one = only(vec![instruction.clone()]);
        effect.extend(at(constants.clone()).edge(&one).effect);
        forget(&mut constants, always, &one.written_places());
    }
    Edge { effect, communication, ..first }
}

fn forget(
    constants: &mut HashMap<(VariableId, u32), i64>,
    always: &HashMap<(VariableId, u32), i64>,
    places: &[&Place],
) {
    for place in places.iter().filter(|place| place.scope == Scope::Local) {
        constants.retain(|cell, _| cell.0 != place.variable || always.contains_key(cell));
    }
}
