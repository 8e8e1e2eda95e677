//! Evidence: paths that show why a formula is true or false in a state.
//!
//! A true `E` and a false `A` are shown by one path, and by branches from it where an operand needs a path of its own.
//! A shortest path is looked for breadth first, not too far, among all states whose values take no search to tell. If
//! there is none, it is looked for among the states that the evaluator knows to satisfy the formula: it has seen a path
//! there, so that there is one, and nothing has to be explored that was not.

use ample_logic::explain::{PathFormula, explaining};
use ample_logic::{Binary, Formula, Unary};

use super::evaluate::Evaluator;
use super::nodes::Id;
use super::number::Number;
use super::region::Region;
use crate::search::{Path, Terminated};
use crate::space::{Buffer, Checked, StateSpace};
use crate::store::{ExactStore, Handle};

/// How many states of one path have a branch for the operand that holds all along it.
const MAX_BRANCHES: usize = 16;

/// How many paths there are in all.
const MAX_PATHS: usize = 200;

/// How many states are looked at in all, after which no more branches are begun.
const MAX_WORK: usize = 100_000;

/// A shortest path is looked for among so many states, whether they have been met before or not.
const MAX_NEAR: usize = 10_000;

/// So many cycles are compared for the shortest.
const MAX_CYCLES: usize = 50;

/// What shows that a formula is true, or false, in a state.
///
/// A step of the [path](Evidence::path) is one transition of the state space. Between two states in which properties
/// are looked at there may be several of them, through transient states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence<T> {
    /// The number of the initial state that it begins in; zero for a branch. If that state is transient, the path goes
    /// from there to the first visible state, and the one branch goes on from there with the same formula.
    pub start: usize,
    /// The formula, in the words of the user. Negations are left out: if `!AG p` is true, this tells that `AG p` is
    /// false.
    pub formula: Formula,
    /// Its value in the first state of the path.
    pub holds: bool,
    /// The path that shows it: the whole of it for `EG` and its like, else up to where it is decided. Just the state
    /// if there is no path that would: what is true of no path cannot be seen on one.
    pub path: Path<T>,
    /// So many steps at the end of the path are a cycle, which is repeated for ever. Zero if there is none.
    pub cycle: usize,
    /// The path goes up to a deadlocked state: there it stays ([`Dead::Stutters`](super::Dead)) or is over
    /// ([`Dead::Ends`](super::Dead)).
    pub stutters: bool,
    /// What shows the values of the operands, in the states after so many steps of the path, where they need it.
    pub branches: Vec<(usize, Evidence<T>)>,
}

/// Evidence in the states after so many steps of a path.
type Branches<T> = Vec<(usize, Evidence<T>)>;

/// States one after the other, all of them visible.
struct StatePath {
    states: Vec<u32>,
    /// How many steps at the end form a cycle.
    cycle: usize,
    stutters: bool,
}

impl StatePath {
    fn straight(states: Vec<u32>) -> StatePath {
        StatePath { states, cycle: 0, stutters: false }
    }

    /// The place of the last state, or of the last one before the first is repeated.
    fn last(&self) -> usize {
        self.states.len() - if self.cycle > 0 { 2 } else { 1 }
    }
}

/// Finds evidence.
pub(super) struct Explainer<'e, 'a, S: StateSpace, St> {
    evaluator: &'e mut Evaluator<'a, S, St>,
    /// How many more paths may be looked for.
    left: usize,
    /// How many states were looked at.
    work: usize,
    /// A step of the path that is being explained: one that shows `EX` there needs no branch.
    step: Option<(u32, u32)>,
}

impl<'e, 'a, S, St> Explainer<'e, 'a, S, St>
where
    S: Checked,
    St: ExactStore<S::State, Side = Number>,
    Buffer<S>: Default,
{
    pub(super) fn new(evaluator: &'e mut Evaluator<'a, S, St>) -> Self {
        Explainer { evaluator, left: MAX_PATHS, work: 0, step: None }
    }

    /// What shows the value of a formula in a state; none if no path does, or none is needed.
    pub(super) fn explain(
        &mut self,
        formula: &Formula,
        state: u32,
    ) -> Result<Option<Evidence<S::Transition>>, Terminated> {
        match formula {
            Formula::True | Formula::False | Formula::Atom(_) => Ok(None),
            Formula::Unary(Unary::Not, f) => self.explain(f, state),
            Formula::Unary(quantifier, path) => {
                let holds = self.value(formula, state)?;
                let exists = *quantifier == Unary::Exists;
                if holds != exists || self.left == 0 {
                    return Ok(None);
                }
                self.left -= 1;
                let Some(path_formula) = PathFormula::showing(path, exists) else { return Ok(None) };
                self.explain_path(formula, exists, &path_formula, state).map(Some)
            }
            Formula::Binary(op, f, g) => {
                let holds = self.value(formula, state)?;
                let branches = self.explain_operands(*op, [f, g], holds, state)?;
                if branches.is_empty() {
                    return Ok(None);
                }
                Ok(Some(Evidence { branches, ..self.bare(formula, holds, state) }))
            }
        }
    }

    /// What tells the value of a formula and shows nothing.
    pub(super) fn bare(&self, formula: &Formula, holds: bool, state: u32) -> Evidence<S::Transition> {
        Evidence {
            start: 0,
            formula: formula.clone(),
            holds,
            path: Path { steps: Vec::new(), end: Some(self.evaluator.kripke.handle(state)) },
            cycle: 0,
            stutters: false,
            branches: Vec::new(),
        }
    }

    /// The same evidence, with the path from a transient state to where it begins.
    pub(super) fn lead_in(
        &mut self,
        from: Handle,
        state: u32,
        evidence: Evidence<S::Transition>,
    ) -> Result<Evidence<S::Transition>, Terminated> {
        let mut whole = self.bare(&evidence.formula, evidence.holds, state);
        whole.path.steps = self.evaluator.kripke.hop(from, state)?;
        whole.branches.push((whole.path.len(), evidence));
        Ok(whole)
    }

    fn value(&mut self, formula: &Formula, state: u32) -> Result<bool, Terminated> {
        let id = self.node(formula, true)?;
        self.evaluator.evaluate(id, state)
    }

    /// The node of a formula, or of its negation, that is part of the one that is checked.
    fn node(&mut self, formula: &Formula, positive: bool) -> Result<Id, Terminated> {
        self.evaluator.with_nodes(|nodes| nodes.read_signed(formula, positive)).map_err(|_| Terminated)
    }

    /// What shows the values of the operands that matter.
    fn explain_operands(
        &mut self,
        op: Binary,
        [f, g]: [&Formula; 2],
        holds: bool,
        state: u32,
    ) -> Result<Branches<S::Transition>, Terminated> {
        // In the order of the evaluator, which has not looked at the second if the first one was enough.
        let ids = (self.node(f, true)?, self.node(g, true)?);
        let second_first = !self.evaluator.with_nodes(|nodes| nodes.is_cheaper(ids.0, ids.1));
        let mut branches = Vec::new();
        for operand in explaining(op, [f, g], holds, second_first, |operand| self.value(operand, state))? {
            branches.extend(self.explain_operand(operand, state)?);
        }
        Ok(branches)
    }

    /// What shows the value of an operand: itself, or the list of what does if it is one of operands again.
    fn explain_operand(&mut self, operand: &Formula, state: u32) -> Result<Branches<S::Transition>, Terminated> {
        Ok(match self.explain(operand, state)? {
            None => Vec::new(),
            Some(evidence) if matches!(evidence.formula, Formula::Binary(..)) => evidence.branches,
            Some(evidence) => vec![(0, evidence)],
        })
    }

    /// A path of that form, whose operands have that value, and what shows that they do.
    fn explain_path(
        &mut self,
        formula: &Formula,
        value: bool,
        path_formula: &PathFormula,
        state: u32,
    ) -> Result<Evidence<S::Transition>, Terminated> {
        // The path, the operand that holds in so many of its states, and the one that holds in the last.
        let (path, along, at_end) = match path_formula {
            PathFormula::Next(f) => {
                let id = self.node(f, value)?;
                (self.next(id, state)?, None, Some(f))
            }
            PathFormula::Until(f, g) => {
                let ids = (self.node(f, value)?, self.node(g, value)?);
                let path = self.until(ids, state)?;
                let before = path.last();
                (path, Some((f, before)), Some(g))
            }
            PathFormula::Release(f, g) => {
                let ids = (self.node(f, value)?, self.node(g, value)?);
                let (path, released) = self.release(ids, state)?;
                let all = path.last() + 1;
                (path, Some((g, all)), released.then_some(f))
            }
        };
        let (mut evidence, offsets) = self.follow(formula, value, &path)?;
        // The end first, since the number of paths is limited.
        if let Some(operand) = at_end {
            let last = path.states.len() - 1;
            evidence.branches.extend(self.explain(operand, path.states[last])?.map(|branch| (offsets[last], branch)));
        }
        if let Some((operand, count)) = along.filter(|(operand, _)| !operand.is_propositional()) {
            let most = evidence.branches.len() + MAX_BRANCHES;
            for (number, (&state, &after)) in path.states.iter().zip(&offsets).take(count).enumerate() {
                if evidence.branches.len() == most || self.work > MAX_WORK {
                    break;
                }
                self.step = path.states.get(number + 1).map(|&next| (state, next));
                evidence.branches.extend(self.explain(operand, state)?.map(|branch| (after, branch)));
            }
        }
        evidence.branches.sort_by_key(|&(after, _)| after);
        Ok(evidence)
    }

    /// The transitions of a path, and after how many of them each of its states comes.
    fn follow(
        &mut self,
        formula: &Formula,
        holds: bool,
        path: &StatePath,
    ) -> Result<(Evidence<S::Transition>, Vec<usize>), Terminated> {
        let mut steps = Vec::new();
        let mut offsets = vec![0];
        for pair in path.states.windows(2) {
            let from = self.evaluator.kripke.handle(pair[0]);
            steps.extend(self.evaluator.kripke.hop(from, pair[1])?);
            offsets.push(steps.len());
        }
        let last = path.states.len() - 1;
        let mut evidence = self.bare(formula, holds, path.states[last]);
        evidence.path.steps = steps;
        evidence.cycle = offsets[last] - offsets[last - path.cycle];
        evidence.stutters = path.stutters;
        Ok((evidence, offsets))
    }

    /// A step to where `f` holds.
    fn next(&mut self, f: Id, state: u32) -> Result<StatePath, Terminated> {
        if self.evaluator.kripke.is_deadlocked(state) {
            return Ok(StatePath { stutters: true, ..StatePath::straight(vec![state]) });
        }
        if let Some((_, next)) = self.step.filter(|(from, _)| *from == state)
            && self.evaluator.evaluate(f, next)?
        {
            return Ok(StatePath::straight(vec![state, next]));
        }
        let mut path = StatePath::straight(vec![state]);
        let mut list = self.evaluator.open(state)?;
        while let Some(next) = self.evaluator.kripke.advance(&mut list) {
            if self.evaluator.evaluate(f, next)? {
                path.states.push(next);
                break;
            }
        }
        self.evaluator.kripke.close(list);
        Ok(path)
    }

    /// A shortest path to where `g` holds.
    fn until(&mut self, (f, g): (Id, Id), state: u32) -> Result<StatePath, Terminated> {
        let near = self.near_until((f, g), state);
        if let Some(path) = self.unless_full(near)? {
            return Ok(path);
        }
        let formula = self.evaluator.with_nodes(|nodes| nodes.until(f, g));
        let mut region = Region::new(state);
        let mut place = 0;
        while let Some(state) = region.expand() {
            if self.evaluator.evaluate(g, state)? {
                return Ok(StatePath::straight(region.path(place)));
            }
            self.link(formula, state, &mut region)?;
            place += 1;
        }
        Err(Terminated)
    }

    /// A store that is full has no room for what is near; what is known is in it.
    fn unless_full<X>(&self, near: Result<Option<X>, Terminated>) -> Result<Option<X>, Terminated> {
        near.or_else(|terminated| if self.evaluator.kripke.is_cancelled { Err(terminated) } else { Ok(None) })
    }

    /// A shortest path to where `g` holds, if it is near.
    fn near_until(&mut self, (f, g): (Id, Id), state: u32) -> Result<Option<StatePath>, Terminated> {
        let mut region = Region::new(state);
        let mut place = 0;
        while let Some(state) = region.expand() {
            if self.evaluator.at_hand(g, state)? == Some(true) {
                return Ok(Some(StatePath::straight(region.path(place))));
            }
            if region.len() <= MAX_NEAR && self.evaluator.at_hand(f, state)? == Some(true) {
                self.link_all(state, &mut region)?;
            }
            place += 1;
        }
        Ok(None)
    }

    /// Links a state to all its successors.
    fn link_all(&mut self, state: u32, region: &mut Region) -> Result<(), Terminated> {
        let mut list = self.evaluator.open(state)?;
        while let Some(next) = self.evaluator.kripke.advance(&mut list) {
            region.link(next);
        }
        self.evaluator.kripke.close(list);
        Ok(())
    }

    /// A path on which `g` holds, to where `f` holds too, to a deadlock, or around a cycle, if it is near; and whether
    /// it is the first.
    fn near_release(&mut self, (f, g): (Id, Id), state: u32) -> Result<Option<(StatePath, bool)>, Terminated> {
        if !self.evaluator.kripke.justice().is_empty() {
            return Ok(None);
        }
        let mut region = Region::new(state);
        let mut ends = Vec::new();
        while let Some(state) = region.expand() {
            if self.evaluator.at_hand(g, state)? != Some(true) {
                ends.push((false, false));
                continue;
            }
            let released = self.evaluator.at_hand(f, state)? == Some(true);
            let deadlocked = self.evaluator.kripke.may_rest(state);
            ends.push((released, deadlocked));
            if !released && !deadlocked && region.len() <= MAX_NEAR {
                self.link_all(state, &mut region)?;
            }
        }
        Ok(self.shortest(&region, &ends))
    }

    /// A path on which `g` holds, to where `f` holds too, to a deadlock, or around a cycle; and whether it is the
    /// first.
    fn release(&mut self, (f, g): (Id, Id), state: u32) -> Result<(StatePath, bool), Terminated> {
        let near = self.near_release((f, g), state);
        if let Some(found) = self.unless_full(near)? {
            return Ok(found);
        }
        let formula = self.evaluator.with_nodes(|nodes| nodes.release(f, g));
        let mut region = Region::new(state);
        let mut ends = Vec::new();
        while let Some(state) = region.expand() {
            let released = self.evaluator.evaluate(f, state)?;
            let deadlocked = self.evaluator.kripke.may_rest(state);
            ends.push((released, deadlocked));
            if !released && !deadlocked {
                self.link(formula, state, &mut region)?;
            }
        }
        if self.evaluator.kripke.justice().is_empty() {
            return self.shortest(&region, &ends).ok_or(Terminated);
        }
        self.shortest_just(&region, &ends).ok_or(Terminated)
    }

    /// A short path to a state in which it is released, or to a cycle on which each condition of justice holds somewhere, and
    /// around it; and whether it is released.
    fn shortest_just(&mut self, region: &Region, ends: &[(bool, bool)]) -> Option<(StatePath, bool)> {
        if let Some(place) = ends.iter().position(|(released, _)| *released) {
            return Some((StatePath::straight(region.path(place)), true));
        }
        let kripke = &mut self.evaluator.kripke;
        let justice = kripke.justice();
        let (place, cycle) =
            region.just_cycle(justice.len(), &mut |number, state| kripke.atom(justice[number], state))?;
        let mut path = StatePath::straight(region.path(place));
        path.cycle = cycle.len();
        path.states.extend(cycle);
        Some((path, false))
    }

    /// A short path to a state in which it is released or deadlocked, or to a cycle and around it; and whether it is
    /// released.
    fn shortest(&self, region: &Region, ends: &[(bool, bool)]) -> Option<(StatePath, bool)> {
        let cyclic = region.on_cycles();
        let mut best: Option<(usize, StatePath, bool)> = None;
        let mut cycles = 0;
        for (place, &(released, deadlocked)) in ends.iter().enumerate() {
            if !released && !deadlocked && !cyclic[place] || cycles == MAX_CYCLES {
                continue;
            }
            let mut path = StatePath::straight(region.path(place));
            // Later ones are not nearer.
            if best.as_ref().is_some_and(|(length, ..)| path.states.len() >= *length) {
                break;
            }
            path.stutters = deadlocked && !released;
            if !released && !deadlocked {
                cycles += 1;
                let cycle = region.cycle(place);
                path.cycle = cycle.len();
                path.states.extend(cycle);
            }
            if best.as_ref().is_none_or(|(length, ..)| path.states.len() < *length) {
                best = Some((path.states.len(), path, released));
            }
        }
        best.map(|(_, path, released)| (path, released))
    }

    /// Links a state to its successors for which the formula is known to be true.
    fn link(&mut self, formula: Id, state: u32, region: &mut Region) -> Result<(), Terminated> {
        self.work += 1;
        let mut list = self.evaluator.open(state)?;
        while let Some(next) = self.evaluator.kripke.advance(&mut list) {
            if self.evaluator.is_known(formula, next) {
                region.link(next);
            }
        }
        self.evaluator.kripke.close(list);
        Ok(())
    }
}
