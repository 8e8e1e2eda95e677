//! The local evaluator: is a formula true in a state? Only what that needs is looked at.
//!
//! Each state has two bits for each temporal subformula, so that no search comes by twice. `E[f U g]` is a search for
//! strongly connected components (Gabow's, by paths: Information Processing Letters 74, 2000) and `E[f R g]` one for
//! cycles; both have explicit stacks, one after the other where searches are nested: a search that needs the value of
//! an operand has that operand's search run to its end first.

use super::kripke::{Kripke, Successors};
use super::nodes::{Id, Node, Nodes};
use super::number::Number;
use crate::search::Terminated;
use crate::space::{Buffer, Checked, StateSpace};
use crate::store::ExactStore;

/// What is known of a subformula in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    Unknown,
    False,
    True,
    /// The search under way has it on its stack.
    Open,
}

/// What is known of a subformula in all states.
#[derive(Default)]
struct Values(Vec<u64>);

impl Values {
    #[inline]
    fn get(&self, state: u32) -> Value {
        let word = self.0.get(state as usize / 32).copied().unwrap_or(0);
        match word >> (state % 32 * 2) & 3 {
            0 => Value::Unknown,
            1 => Value::False,
            2 => Value::True,
            _ => Value::Open,
        }
    }

    #[inline]
    fn set(&mut self, state: u32, value: Value) {
        let index = state as usize / 32;
        if index >= self.0.len() {
            self.0.resize(index + 1, 0);
        }
        let shift = state % 32 * 2;
        self.0[index] = self.0[index] & !(3 << shift) | (value as u64) << shift;
    }

    fn bytes(&self) -> usize {
        self.0.capacity() * size_of::<u64>()
    }
}

/// How large the stacks were when a search began.
#[derive(Clone, Copy)]
struct Base {
    frames: usize,
    open: usize,
    bounds: usize,
}

/// Evaluates formulas in states, and remembers.
pub(super) struct Evaluator<'a, S: StateSpace, St> {
    pub(super) kripke: Kripke<'a, S, St>,
    nodes: Nodes,
    /// By the number of the node.
    values: Vec<Values>,
    /// The stack of each search, one after the other.
    frames: Vec<Successors>,
    /// The states of components that are not completed, in the order of their discovery.
    open: Vec<u32>,
    /// Where in `open` these components begin.
    bounds: Vec<u32>,
    /// For each level of nested searches: where in `open` a state is, if it is there.
    places: Vec<Vec<u32>>,
}

impl<'a, S, St> Evaluator<'a, S, St>
where
    S: Checked,
    St: ExactStore<S::State, Side = Number>,
    Buffer<S>: Default,
{
    pub(super) fn new(kripke: Kripke<'a, S, St>, nodes: Nodes) -> Self {
        let mut evaluator = Evaluator {
            kripke,
            nodes,
            values: Vec::new(),
            frames: Vec::new(),
            open: Vec::new(),
            bounds: Vec::new(),
            places: Vec::new(),
        };
        evaluator.with_nodes(|_| ());
        evaluator
    }

    /// Does something that may add nodes.
    pub(super) fn with_nodes<X>(&mut self, work: impl FnOnce(&mut Nodes) -> X) -> X {
        let done = work(&mut self.nodes);
        self.values.resize_with(self.nodes.len(), Values::default);
        done
    }

    /// The bytes held beside those of the Kripke structure.
    pub(super) fn held(&self) -> usize {
        self.values.iter().map(Values::bytes).sum::<usize>()
            + self.frames.capacity() * size_of::<Successors>()
            + (self.open.capacity() + self.bounds.capacity()) * size_of::<u32>()
            + self.places.iter().map(|places| places.capacity() * size_of::<u32>()).sum::<usize>()
    }

    /// Is the formula known to be true in the state, without any work?
    pub(super) fn is_known(&self, formula: Id, state: u32) -> bool {
        self.values[formula.index()].get(state) == Value::True
    }

    /// The value of the formula if it takes no search to tell: by conditions, by a look at the successors for `EX`, and by
    /// what is known.
    pub(super) fn at_hand(&mut self, formula: Id, state: u32) -> Result<Option<bool>, Terminated> {
        Ok(match self.nodes.get(formula) {
            Node::Not(f) => self.at_hand(f, state)?.map(|value| !value),
            Node::And(f, g) => match (self.at_hand(f, state)?, self.at_hand(g, state)?) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (f, g) => f.and(g),
            },
            Node::Or(f, g) => match (self.at_hand(f, state)?, self.at_hand(g, state)?) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (f, g) => f.and(g),
            },
            Node::Same(f, g) => self.at_hand(f, state)?.zip(self.at_hand(g, state)?).map(|(f, g)| f == g),
            Node::Const(_) | Node::Atom(_) => Some(self.evaluate(formula, state)?),
            Node::Next(f) if self.nodes.is_local(f) => Some(self.evaluate(formula, state)?),
            Node::Next(_) | Node::Until(..) | Node::Release(..) => match self.values[formula.index()].get(state) {
                Value::True => Some(true),
                Value::False => Some(false),
                Value::Unknown | Value::Open => None,
            },
        })
    }

    /// The successors of a state.
    #[inline]
    pub(super) fn open(&mut self, state: u32) -> Result<Successors, Terminated> {
        self.report_if_due()?;
        self.kripke.open(state)
    }

    /// Reports the progress to the budget, if it is time to.
    #[inline]
    pub(super) fn report_if_due(&mut self) -> Result<(), Terminated> {
        if self.kripke.is_due() { self.kripke.report_progress(self.held(), self.frames.len()) } else { Ok(()) }
    }

    /// Is the formula true in the state?
    pub(super) fn evaluate(&mut self, formula: Id, state: u32) -> Result<bool, Terminated> {
        match self.nodes.get(formula) {
            Node::Const(value) => Ok(value),
            Node::Atom(number) => Ok(self.kripke.atom(number, state)),
            Node::Not(f) => Ok(!self.evaluate(f, state)?),
            Node::And(f, g) => Ok(self.evaluate(f, state)? && self.evaluate(g, state)?),
            Node::Or(f, g) => Ok(self.evaluate(f, state)? || self.evaluate(g, state)?),
            Node::Same(f, g) => Ok(self.evaluate(f, state)? == self.evaluate(g, state)?),
            Node::Next(f) => match self.values[formula.index()].get(state) {
                Value::Unknown => self.next(formula, f, state),
                value => Ok(value == Value::True),
            },
            Node::Until(f, g) => match self.until_here((formula, f, g), state)? {
                Value::Unknown => self.until((formula, f, g), state),
                value => Ok(value == Value::True),
            },
            Node::Release(f, g) => match self.release_here((formula, f, g), state)? {
                Value::Unknown => self.release((formula, f, g), state),
                value => Ok(value == Value::True),
            },
        }
    }

    /// `EX f`: asks one successor after the other.
    fn next(&mut self, formula: Id, f: Id, state: u32) -> Result<bool, Terminated> {
        let mut list = self.open(state)?;
        let mut holds = false;
        while !holds && let Some(next) = self.kripke.advance(&mut list) {
            holds = self.evaluate(f, next)?;
        }
        self.kripke.close(list);
        self.values[formula.index()].set(state, if holds { Value::True } else { Value::False });
        Ok(holds)
    }

    /// The value of `E[f U g]` if the state itself decides it. Else `f` holds and `g` does not.
    #[inline]
    fn until_here(&mut self, (formula, f, g): (Id, Id, Id), state: u32) -> Result<Value, Terminated> {
        let known = self.values[formula.index()].get(state);
        if known != Value::Unknown {
            return Ok(known);
        }
        let value = if self.evaluate(g, state)? {
            Value::True
        } else if !self.evaluate(f, state)? {
            Value::False
        } else {
            return Ok(Value::Unknown);
        };
        self.values[formula.index()].set(state, value);
        Ok(value)
    }

    /// The value of `E[f R g]` if the state itself decides it. Else `g` holds and `f` does not.
    #[inline]
    fn release_here(&mut self, (formula, f, g): (Id, Id, Id), state: u32) -> Result<Value, Terminated> {
        let known = self.values[formula.index()].get(state);
        if known != Value::Unknown {
            return Ok(known);
        }
        let value = if !self.evaluate(g, state)? {
            Value::False
        } else if self.evaluate(f, state)? {
            Value::True
        } else {
            return Ok(Value::Unknown);
        };
        self.values[formula.index()].set(state, value);
        Ok(value)
    }

    /// `E[f U g]` from a state that does not decide it.
    fn until(&mut self, parts: (Id, Id, Id), root: u32) -> Result<bool, Terminated> {
        let base = Base { frames: self.frames.len(), open: self.open.len(), bounds: self.bounds.len() };
        let mut places = self.places.pop().unwrap_or_default();
        let found = self.search_until(parts, root, base, &mut places)?;
        self.places.push(places);
        let values = &mut self.values[parts.0.index()];
        // Whoever is in a component that is not completed can get to the stack, and along it to the goal. Nobody is
        // left if there is none.
        self.open.drain(base.open..).for_each(|state| values.set(state, Value::True));
        self.bounds.truncate(base.bounds);
        self.leave(base.frames);
        Ok(found)
    }

    fn search_until(
        &mut self,
        parts: (Id, Id, Id),
        root: u32,
        base: Base,
        places: &mut Vec<u32>,
    ) -> Result<bool, Terminated> {
        let formula = parts.0.index();
        self.enter_until(formula, root, base, places)?;
        while let Some(next) = self.step(base) {
            match next {
                Step::To(next) => match self.until_here(parts, next)? {
                    Value::True => return Ok(true),
                    Value::False => {}
                    Value::Open => {
                        let place = places[next as usize];
                        while self.bounds.last().is_some_and(|&bound| bound > place) {
                            self.bounds.pop();
                        }
                    }
                    Value::Unknown => self.enter_until(formula, next, base, places)?,
                },
                Step::Back(state) => {
                    let place = places[state as usize];
                    if self.bounds.last() == Some(&place) {
                        self.bounds.pop();
                        let values = &mut self.values[formula];
                        self.open.drain(base.open + place as usize..).for_each(|s| values.set(s, Value::False));
                    }
                }
            }
        }
        Ok(false)
    }

    #[inline]
    fn enter_until(&mut self, formula: usize, state: u32, base: Base, places: &mut Vec<u32>) -> Result<(), Terminated> {
        let place = (self.open.len() - base.open) as u32;
        if places.len() <= state as usize {
            places.resize(state as usize + 1, 0);
        }
        places[state as usize] = place;
        self.open.push(state);
        self.bounds.push(place);
        self.enter(formula, state)?;
        Ok(())
    }

    /// `E[f R g]` from a state that does not decide it.
    ///
    /// When a state is left without success, each of its successors was found to be false or was left before it: none
    /// was on the stack, else a cycle would have been closed. So every path from it comes, through states that were
    /// left earlier and earlier, to one in which `g` is false before `f` was true, or to nowhere, and it is false.
    fn release(&mut self, parts: (Id, Id, Id), root: u32) -> Result<bool, Terminated> {
        if !self.kripke.justice().is_empty() {
            return self.just_release(parts, root);
        }
        let formula = parts.0.index();
        let base = Base { frames: self.frames.len(), open: self.open.len(), bounds: self.bounds.len() };
        let mut found = self.enter(formula, root)?;
        while !found && let Some(next) = self.step(base) {
            match next {
                Step::To(next) => {
                    found = match self.release_here(parts, next)? {
                        Value::True | Value::Open => true,
                        Value::False => false,
                        Value::Unknown => self.enter(formula, next)?,
                    }
                }
                Step::Back(state) => self.values[formula].set(state, Value::False),
            }
        }
        let values = &mut self.values[formula];
        self.frames[base.frames..].iter().for_each(|frame| values.set(frame.of, Value::True));
        self.leave(base.frames);
        Ok(found)
    }

    /// `E[f R g]` over just paths, from a state that does not decide it: a search for a component in which each condition of
    /// justice holds somewhere.
    fn just_release(&mut self, parts: (Id, Id, Id), root: u32) -> Result<bool, Terminated> {
        let base = Base { frames: self.frames.len(), open: self.open.len(), bounds: self.bounds.len() };
        let mut places = self.places.pop().unwrap_or_default();
        let found = self.search_just(parts, root, base, &mut places)?;
        self.places.push(places);
        let values = &mut self.values[parts.0.index()];
        // As for `E[f U g]`: whoever is in a component that is not completed can get to the stack, and along it on.
        self.open.drain(base.open..).for_each(|state| values.set(state, Value::True));
        self.bounds.truncate(base.bounds);
        self.leave(base.frames);
        Ok(found)
    }

    fn search_just(
        &mut self,
        parts: (Id, Id, Id),
        root: u32,
        base: Base,
        places: &mut Vec<u32>,
    ) -> Result<bool, Terminated> {
        let formula = parts.0.index();
        // The states that are their own successors.
        let mut loops = Vec::new();
        self.enter_until(formula, root, base, places)?;
        while let Some(next) = self.step(base) {
            match next {
                Step::To(next) => {
                    let of = self.frames.last().map(|frame| frame.of);
                    match self.release_here(parts, next)? {
                        Value::True => return Ok(true),
                        Value::False => {}
                        Value::Open => {
                            if of == Some(next) {
                                loops.push(next);
                            }
                            let place = places[next as usize];
                            while self.bounds.len() > base.bounds && self.bounds.last().is_some_and(|b| *b > place) {
                                self.bounds.pop();
                            }
                        }
                        Value::Unknown => self.enter_until(formula, next, base, places)?,
                    }
                }
                Step::Back(state) => {
                    let place = places[state as usize];
                    if self.bounds.last() != Some(&place) {
                        continue;
                    }
                    self.bounds.pop();
                    let first = base.open + place as usize;
                    let is_cyclic = self.open.len() > first + 1 || loops.contains(&state);
                    if is_cyclic && self.is_just(first) {
                        return Ok(true);
                    }
                    let values = &mut self.values[formula];
                    self.open.drain(first..).for_each(|state| values.set(state, Value::False));
                }
            }
        }
        Ok(false)
    }

    /// Does each condition of justice hold in one of the open states from that place on?
    fn is_just(&mut self, first: usize) -> bool {
        let justice = self.kripke.justice();
        justice.iter().all(|atom| (first..self.open.len()).any(|at| self.kripke.atom(*atom, self.open[at])))
    }

    /// Puts a state on the stack. True if paths end in it.
    #[inline]
    fn enter(&mut self, formula: usize, state: u32) -> Result<bool, Terminated> {
        let list = self.open(state)?;
        self.values[formula].set(state, Value::Open);
        self.frames.push(list);
        let statistics = &mut self.kripke.statistics;
        statistics.depth = statistics.depth.max(self.frames.len() as u64);
        Ok(self.kripke.is_end(list))
    }

    /// The next move of a search; none if it is back where it began.
    #[inline]
    fn step(&mut self, base: Base) -> Option<Step> {
        let top = self.frames.len().checked_sub(1).filter(|&top| top >= base.frames)?;
        let frame = &mut self.frames[top];
        if let Some(next) = self.kripke.advance(frame) {
            return Some(Step::To(next));
        }
        let list = self.frames.pop()?;
        self.kripke.close(list);
        Some(Step::Back(list.of))
    }

    /// Takes the frames of a search down.
    fn leave(&mut self, base: usize) {
        if let Some(&first) = self.frames.get(base) {
            self.kripke.close(first);
        }
        self.frames.truncate(base);
    }
}

/// A move of a depth-first search.
enum Step {
    /// A successor of the state on top is looked at.
    To(u32),
    /// The state on top was left.
    Back(u32),
}
