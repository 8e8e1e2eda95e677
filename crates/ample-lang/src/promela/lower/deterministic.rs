//! `d_step`: a deterministic block becomes the effect of a single edge.
//!
//! The block's guard is its first statement; the rest is a flat program in which a selection takes the
//! first option that is executable. Blocking inside is a fault, as it is an error for Spin.

use std::collections::HashMap;

use ample_model::{Action, BinaryOp, Communication, Expr, Instruction};

use super::Result;
use super::flow::{ElementId, Flow, Node, SequenceId};
use super::statement::{Leaf, not_full};
use crate::diagnostic::Diagnostic;

/// What a d_step is as an edge.
#[derive(Default)]
pub(super) struct Deterministic {
    pub(super) guard: Vec<Expr>,
    pub(super) communication: Option<Communication>,
    pub(super) program: Vec<Instruction>,
    /// It begins with `else`: executable if its siblings are not.
    pub(super) is_else: bool,
}

/// Lowers the inside of a d_step.
pub(super) fn lower(flow: &Flow<Leaf>, inside: SequenceId) -> Result<Deterministic> {
    let mut result = Deterministic::default();
    let Some(first) = flow.sequence(inside).first else { return Ok(result) };
    let entry = entry(flow, first);
    let mut emitter = Emitter { flow, code: Vec::new(), address: HashMap::new(), ends: Vec::new() };
    let mut start = Some(first);
    match &flow.element(entry).node {
        Node::Leaf(leaf) => {
            result.guard = leaf.guard.clone();
            match &leaf.communication {
                Some(receive @ Communication::Receive { .. }) => result.communication = Some(receive.clone()),
                Some(Communication::Send { channel, .. }) => result.guard.push(not_full(channel)),
                None => {}
            }
            emitter.address.insert(entry, 0);
            refuse_spawn(flow, entry, leaf)?;
            emitter.emit_after_guard(leaf);
            start = flow.element(entry).next;
            // A jump back to the first statement must test it again.
            emitter.address.remove(&entry);
        }
        Node::Else => result.is_else = true,
        Node::Select => {
            let mut options = Vec::new();
            collect_guards(flow, entry, &mut options);
            if let Some(guard) = options.into_iter().reduce(|x, y| Expr::binary(BinaryOp::Or, x, y)) {
                result.guard.push(guard);
            }
        }
        _ => {}
    }
    emitter.chain(start, None)?;
    let end = emitter.code.len() as u32;
    for at in emitter.ends {
        emitter.code[at] = Instruction::Jump(end);
    }
    while matches!(emitter.code.last(), Some(Instruction::Jump(to)) if *to as usize == emitter.code.len()) {
        // A jump to the end at the end: drop it, and let the others end where the program now ends.
        emitter.code.pop();
        let end = emitter.code.len() as u32;
        for instruction in &mut emitter.code {
            if let Instruction::Jump(to) | Instruction::Try(_, to) = instruction {
                *to = (*to).min(end);
            }
        }
    }
    result.program = emitter.code;
    Ok(result)
}

/// The element where execution really starts.
fn entry(flow: &Flow<Leaf>, first: ElementId) -> ElementId {
    let mut at = first;
    for _ in 0..500 {
        let element = flow.element(at);
        let next = match &element.node {
            Node::Join => element.next,
            Node::Unless => flow.sequence(element.sub[0]).first,
            Node::Block(inner) => flow.sequence(*inner).first,
            _ => None,
        };
        match next {
            Some(next) => at = next,
            None => return at,
        }
    }
    at
}

/// The guards of a selection's options, those of nested selections included; an option that begins
/// with anything else does not count, unless there are no guards at all.
fn collect_guards(flow: &Flow<Leaf>, select: ElementId, out: &mut Vec<Expr>) {
    for option in &flow.element(select).sub {
        let Some(first) = flow.sequence(*option).first else { continue };
        let first = entry(flow, first);
        match &flow.element(first).node {
            Node::Select => collect_guards(flow, first, out),
            Node::Else | Node::Skip => out.push(Expr::TRUE),
            Node::Leaf(leaf) => out.extend(leaf_guard(leaf)),
            _ => {}
        }
    }
}

fn leaf_guard(leaf: &Leaf) -> Option<Expr> {
    let mut parts = leaf.guard.clone();
    match &leaf.communication {
        Some(Communication::Send { channel, .. }) => parts.push(not_full(channel)),
        Some(Communication::Receive { channel, patterns, anywhere, .. }) => {
            let channel = Box::new(channel.clone());
            parts.push(Expr::binary(BinaryOp::Greater, Expr::Length(channel.clone()), Expr::Const(0)));
            parts.push(Expr::Poll { channel, patterns: patterns.clone(), anywhere: *anywhere });
        }
        None => {}
    }
    parts.into_iter().reduce(|x, y| Expr::binary(BinaryOp::And, x, y))
}

fn refuse_spawn(flow: &Flow<Leaf>, at: ElementId, leaf: &Leaf) -> Result<()> {
    if leaf.actions.iter().any(|a| matches!(a, Action::Spawn { .. })) {
        let error = Diagnostic::error(flow.element(at).span, "`run` cannot be used in a d_step");
        return Err(error.with_help("use atomic instead"));
    }
    Ok(())
}

struct Emitter<'a> {
    flow: &'a Flow<Leaf>,
    code: Vec<Instruction>,
    address: HashMap<ElementId, u32>,
    /// Jumps to the end of the program, whose address is not known yet.
    ends: Vec<usize>,
}

impl Emitter<'_> {
    /// Emits what follows `at`. With `fails`, the first statement is a guard: the places are noted that
    /// must lead on when it is not executable.
    fn chain(&mut self, at: Option<ElementId>, mut fails: Option<&mut Vec<usize>>) -> Result<()> {
        let mut at = at;
        loop {
            let Some(id) = at.filter(|id| self.flow.in_d_step(*id)) else {
                self.ends.push(self.code.len());
                self.code.push(Instruction::Jump(u32::MAX));
                return Ok(());
            };
            if let Some(address) = self.address.get(&id) {
                self.code.push(Instruction::Jump(*address));
                return Ok(());
            }
            self.address.insert(id, self.code.len() as u32);
            let element = self.flow.element(id);
            at = match &element.node {
                Node::Leaf(leaf) => {
                    refuse_spawn(self.flow, id, leaf)?;
                    self.emit(leaf, fails.take());
                    element.next
                }
                Node::Skip | Node::Else => {
                    fails = None;
                    element.next
                }
                Node::Goto(name, scope) => {
                    let target = self.flow.find_label(name, scope).filter(|t| self.flow.in_d_step(*t));
                    if target.is_none() {
                        return Err(Diagnostic::error(element.span, "jump out of a d_step sequence"));
                    }
                    target
                }
                Node::Join | Node::Exit => element.next,
                Node::Block(inner) | Node::Atomic(inner) | Node::DStep(inner) => self.flow.sequence(*inner).first,
                Node::Unless => self.flow.sequence(element.sub[0]).first,
                Node::Select => return self.select(id),
                Node::End => None,
            };
        }
    }

    fn select(&mut self, id: ElementId) -> Result<()> {
        let flow = self.flow;
        for option in &flow.element(id).sub {
            let mut fails = Vec::new();
            self.chain(flow.sequence(*option).first, Some(&mut fails))?;
            let next = self.code.len() as u32;
            for at in fails {
                if let Instruction::Try(_, to) = &mut self.code[at] {
                    *to = next;
                }
            }
        }
        self.code.push(Instruction::Fail("blocking selection in a d_step".into()));
        Ok(())
    }

    fn emit(&mut self, leaf: &Leaf, fails: Option<&mut Vec<usize>>) {
        let tests = leaf.guard.iter().cloned().map(Action::Test);
        let communication = leaf.communication.iter().cloned().map(Action::Communicate);
        match fails {
            Some(fails) => {
                for action in tests.chain(communication) {
                    fails.push(self.code.len());
                    self.code.push(Instruction::Try(action, u32::MAX));
                }
            }
            None => self.code.extend(tests.chain(communication).map(Instruction::Do)),
        }
        self.code.extend(leaf.actions.iter().cloned().map(Instruction::Do));
    }

    /// The first statement of the block: the edge has tested it, and received its message.
    fn emit_after_guard(&mut self, leaf: &Leaf) {
        if let Some(send @ Communication::Send { .. }) = &leaf.communication {
            self.code.push(Instruction::Do(Action::Communicate(send.clone())));
        }
        self.code.extend(leaf.actions.iter().cloned().map(Instruction::Do));
    }
}
