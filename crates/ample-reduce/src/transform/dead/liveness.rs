//! Classical liveness: which cells may be read before they are assigned, by location.
//!
//! What is assigned to a cell that is not live does not count as read (*strong* liveness), unless computing it may be a
//! fault.

use std::collections::HashSet;

use ample_model::facts::Lens;
use ample_model::visit::{Visitor, walk_expr};
use ample_model::{
    Action, Communication, Edge, Expr, Instruction, Overflow, Pattern, Place, ProcessId, ProcessType, Scalar, Shared,
};

use super::candidates::Candidates;

/// A set of candidates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Set(Vec<u64>);

impl Set {
    pub fn empty(size: usize) -> Set {
        Set(vec![0; size.div_ceil(64)])
    }

    pub fn insert(&mut self, number: usize) {
        self.0[number / 64] |= 1 << (number % 64);
    }

    fn remove(&mut self, number: usize) {
        self.0[number / 64] &= !(1 << (number % 64));
    }

    pub fn contains(&self, number: usize) -> bool {
        self.0[number / 64] >> (number % 64) & 1 == 1
    }

    fn add(&mut self, other: &Set) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, more)| *word |= more);
    }
}

/// The liveness of the candidates of a process type.
pub(super) struct Liveness<'a> {
    pub candidates: &'a Candidates,
    pub process: &'a ProcessType,
    pub id: ProcessId,
    pub lens: &'a Lens<'a>,
}

impl Liveness<'_> {
    /// By location: the cells that may be read before they are assigned.
    pub fn at_locations(&self) -> Vec<Set> {
        let mut live = vec![Set::empty(self.candidates.len()); self.process.locations.len()];
        loop {
            let before = live.clone();
            for edge in self.process.edges.iter().rev() {
                let before_edge = self.before_edge(edge, &live[edge.to.index()]);
                live[edge.from.index()].add(&before_edge);
            }
            if live == before {
                return live;
            }
        }
    }

    fn before_edge(&self, edge: &Edge, after: &Set) -> Set {
        let mut live = self.in_program(&edge.effect, after).swap_remove(0);
        if let Some(communication) = &edge.communication {
            self.define_received(communication, &mut live);
            self.used(|uses| uses.communication(communication), &mut live);
        }
        self.used(|uses| edge.guard.iter().for_each(|conjunct| uses.expr(conjunct)), &mut live);
        live
    }

    /// By instruction of the program of an edge, and at its end: the cells that are live before it.
    pub fn in_program(&self, program: &[Instruction], after: &Set) -> Vec<Set> {
        let mut live = vec![Set::empty(self.candidates.len()); program.len() + 1];
        live[program.len()] = after.clone();
        loop {
            let mut changed = false;
            for at in (0..program.len()).rev() {
                let now = match &program[at] {
                    Instruction::Do(action) => self.before_action(action, &live[at + 1]),
                    Instruction::Try(action, otherwise) => {
                        let mut now = self.before_action(action, &live[at + 1]);
                        now.add(&live[*otherwise as usize]);
                        now
                    }
                    Instruction::Jump(target) => live[*target as usize].clone(),
                    Instruction::Fail(_) => Set::empty(self.candidates.len()),
                };
                changed |= now != live[at];
                live[at] = now;
            }
            let is_straight = !program.iter().any(|i| matches!(i, Instruction::Try(..) | Instruction::Jump(_)));
            if !changed || is_straight {
                return live;
            }
        }
    }

    fn before_action(&self, action: &Action, after: &Set) -> Set {
        let mut live = after.clone();
        match action {
            Action::Assign(place, value) if self.is_dead_store(place, value, after) => return live,
            Action::Assign(place, _) => self.define(place, &mut live),
            Action::AssignAll(pairs) => pairs.iter().for_each(|(place, _)| self.define(place, &mut live)),
            Action::Communicate(communication) => self.define_received(communication, &mut live),
            Action::End => live = Set::empty(self.candidates.len()),
            _ => {}
        }
        if !self.is_ignored(action) {
            self.used(|uses| uses.action(action), &mut live);
        }
        live
    }

    /// What is printed is not part of any state: a counterexample is shown as a run of the original system.
    pub fn is_ignored(&self, action: &Action) -> bool {
        let Action::Print { arguments, .. } = action else { return false };
        !arguments.iter().any(|argument| self.lens.expr(self.id, argument).traits.may_fault)
    }

    /// What is assigned is not read again, and computing it is never a fault.
    pub fn is_dead_store(&self, place: &Place, value: &Expr, after: &Set) -> bool {
        self.is_dead_cell(place, after) && !self.lens.expr(self.id, value).traits.may_fault
    }

    /// The place is a cell that is not live, and storing something there is never a fault.
    pub fn is_dead_cell(&self, place: &Place, after: &Set) -> bool {
        let may_fault = matches!(place.scalar, Scalar::Range { overflow: Overflow::Fault, .. });
        !may_fault && self.candidates.defined(place).is_some_and(|number| !after.contains(number))
    }

    fn define(&self, place: &Place, live: &mut Set) {
        if let Some(number) = self.candidates.defined(place) {
            live.remove(number);
        }
    }

    fn define_received(&self, communication: &Communication, live: &mut Set) {
        let Communication::Receive { patterns, .. } = communication else { return };
        for pattern in patterns {
            if let Pattern::Bind(place) = pattern {
                self.define(place, live);
            }
        }
    }

    fn used(&self, walk: impl FnOnce(&mut Uses<'_>), live: &mut Set) {
        walk(&mut Uses { candidates: self.candidates, live, shared: HashSet::new() });
    }

    /// What is read.
    pub fn uses(&self, walk: impl FnOnce(&mut Uses<'_>)) -> Set {
        let mut live = Set::empty(self.candidates.len());
        self.used(walk, &mut live);
        live
    }
}

/// Adds what is read.
pub(super) struct Uses<'a> {
    candidates: &'a Candidates,
    live: &'a mut Set,
    /// The addresses of shared expressions that were looked at.
    shared: HashSet<usize>,
}

impl<'a> Visitor<'a> for Uses<'_> {
    fn read(&mut self, place: &'a Place) {
        self.candidates.possible(place).for_each(|number| self.live.insert(number));
        self.place(place);
    }

    fn expr(&mut self, expr: &'a Expr) {
        walk_expr(self, expr);
    }

    fn shared(&mut self, shared: &'a Shared) {
        if self.shared.insert(shared.address()) {
            self.expr(shared);
        }
    }
}
