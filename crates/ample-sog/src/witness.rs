//! From a run through the graph to a run of the model (Lemmas 19 and 23 of H. Ouni's thesis).
//!
//! Along a path of aggregates one goes backwards from where the run must get to: in each aggregate the states from which
//! unobserved steps lead to a state that takes the next arc in the right direction. Then one goes forwards, one state at
//! a time. Every state of an aggregate is reached from each of its entries, so that a way back is never lost.
//!
//! A cycle of aggregates need not be a cycle of states. Among the states from which one can go round for ever, one is
//! looked for that comes back to itself after some rounds.

use crate::aggregate::{
    entered, labelled, resting, visible_after_cycles, visible_before_cycles, visible_images, visible_preimages,
};
use crate::model::{Error, Labelled, Maybe};
use crate::observed::{Label, Observed, STOPPED};
use crate::product::Hop;
use ample_symbolic::Portable;

/// How a run goes on after its prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Around its cycle.
    Cycle,
    /// Not at all: no action is enabled.
    Stuck,
    /// Not at all: the last action of the prefix is a fault.
    Fault,
}

/// A run of the model, as numbers of actions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The state in which it starts, as the engine shows it.
    pub start: Vec<u64>,
    /// The actions before the cycle.
    pub prefix: Vec<usize>,
    /// The actions of the cycle.
    pub cycle: Vec<usize>,
    /// How it goes on.
    pub ending: Ending,
}

/// An aggregate on a path, with the arc that leads to it.
pub(crate) struct Visit<Set> {
    pub set: Set,
    pub label: Label,
    pub action: Option<usize>,
}

/// Makes runs of paths.
pub(crate) struct Maker<'a, S: Portable> {
    pub sets: &'a mut Labelled<S>,
    pub observed: &'a Observed,
    pub look: &'a mut dyn FnMut() -> Maybe<()>,
}

/// The layers of a search backwards from a target, within an aggregate: nearest first.
struct Approach<Set> {
    layers: Vec<Set>,
    all: Set,
}

fn lost() -> Error {
    Error::Internal("a path of the graph is none of the model".into())
}

impl<S: Portable> Maker<'_, S> {
    /// The states of a set from which unobserved steps inside it lead to the target.
    fn approach(&mut self, set: &S::Set, target: &S::Set) -> Maybe<Approach<S::Set>> {
        let mut layers = vec![target.clone()];
        let mut all = target.clone();
        loop {
            (self.look)()?;
            let before = self.sets.preimages(&layers[layers.len() - 1], &self.observed.unobserved, set)?;
            let new = self.sets.minus(&before, &all)?;
            if self.sets.is_empty(&new) {
                return Ok(Approach { layers, all });
            }
            all = self.sets.union(&all, &new)?;
            layers.push(new);
        }
    }

    /// The states of an aggregate from which an arc leads into these states of the next.
    fn before_arc(&mut self, from: &Visit<S::Set>, to: &Visit<S::Set>, into: &S::Set) -> Maybe<S::Set> {
        if to.label & STOPPED != 0 {
            return Ok(self.sets.intersection(into, &from.set)?);
        }
        let into = entered(self.sets, into, from.label, to.label)?;
        Ok(match to.action {
            Some(action) => self.sets.preimage(&into, action, &from.set)?,
            None => self.sets.preimages(&into, &self.observed.unobserved, &from.set)?,
        })
    }

    /// A run along the path from a state of `from` to one of `target`, which is in the last aggregate: its first state,
    /// actions, and last state.
    #[allow(clippy::type_complexity)]
    fn run(
        &mut self,
        path: &[&Visit<S::Set>],
        from: &S::Set,
        target: &S::Set,
    ) -> Maybe<Option<(Vec<u64>, Vec<usize>, S::Set)>> {
        let mut approaches = Vec::new();
        let mut goal = target.clone();
        for (place, stop) in path.iter().enumerate().rev() {
            let approach = self.approach(&stop.set, &goal)?;
            if place > 0 {
                goal = self.before_arc(path[place - 1], stop, &approach.all)?;
            }
            approaches.push(approach);
        }
        approaches.reverse();
        let Some(first) = approaches.first() else { return Ok(None) };
        let start = self.sets.intersection(from, &first.all)?;
        let Some(first) = self.sets.pick(&start)? else { return Ok(None) };
        let (shown, mut state) = (self.sets.values(&first), self.sets.only(&first)?);
        let mut actions = Vec::new();
        for (place, approach) in approaches.iter().enumerate() {
            if place > 0 && path[place].label & STOPPED == 0 {
                let (before, stop) = (path[place - 1], path[place]);
                let choices = match stop.action {
                    Some(action) => vec![action],
                    None => self.observed.unobserved.clone(),
                };
                let into = entered(self.sets, &approach.all, before.label, stop.label)?;
                state = self.step(&state, &choices, &into, &mut actions)?;
            }
            state = self.walk(state, approach, &mut actions)?;
        }
        Ok(Some((shown, actions, state)))
    }

    /// One of these actions, into the set.
    fn step(&mut self, state: &S::Set, choices: &[usize], into: &S::Set, actions: &mut Vec<usize>) -> Maybe<S::Set> {
        for action in choices {
            let after = self.sets.image(state, *action)?;
            let after = self.sets.intersection(&after, into)?;
            if !self.sets.is_empty(&after) {
                actions.push(*action);
                return Ok(after);
            }
        }
        Err(lost())
    }

    /// From a state down the layers to the first.
    fn walk(&mut self, mut state: S::Set, approach: &Approach<S::Set>, actions: &mut Vec<usize>) -> Maybe<S::Set> {
        let mut distance = None;
        for (number, layer) in approach.layers.iter().enumerate() {
            let met = self.sets.intersection(&state, layer)?;
            if !self.sets.is_empty(&met) {
                distance = Some(number);
                break;
            }
        }
        let observed = self.observed;
        for layer in approach.layers[..distance.ok_or_else(lost)?].iter().rev() {
            (self.look)()?;
            state = self.step(&state, &observed.unobserved, layer, actions)?;
        }
        Ok(state)
    }

    /// A run along the path that ends in its last aggregate, or stays there for ever.
    pub fn resting(&mut self, path: &[Visit<S::Set>]) -> Maybe<Witness> {
        let at = path.last().ok_or_else(lost)?;
        let last = &at.set;
        let path: Vec<&Visit<S::Set>> = path.iter().collect();
        let initial = self.sets.initial()?;
        let dead = resting(self.sets, last, at.label, self.observed)?;
        if !self.sets.is_empty(&dead) {
            let (start, mut prefix, state) = self.run(&path, &initial, &dead)?.ok_or_else(lost)?;
            let fault = self.sets.fault_in(&state)?;
            prefix.extend(fault);
            let ending = if fault.is_some() { Ending::Fault } else { Ending::Stuck };
            return Ok(Witness { start, prefix, cycle: Vec::new(), ending });
        }
        if self.sets.endless().is_some() {
            return self.resting_past_sequences(&path, &initial);
        }
        let core = self.sets.after_cycles(last, &self.observed.unobserved)?;
        let core = self.sets.before_cycles(&core, &self.observed.unobserved)?;
        let (start, mut prefix, mut state) = self.run(&path, &initial, &core)?.ok_or_else(lost)?;
        let round = |maker: &mut Self, set: &S::Set| {
            let image = maker.sets.images(set, &maker.observed.unobserved)?;
            Ok(maker.sets.intersection(&image, &core)?)
        };
        loop {
            let (layers, is_back) = self.layers(&state, &mut |maker, set| round(maker, set))?;
            let mut steps = Vec::new();
            let goal = if is_back { state.clone() } else { self.one_of(layers.last())? };
            let after = self.follow(&state, &layers, &goal, &mut steps)?;
            if is_back {
                return Ok(Witness { start, prefix, cycle: steps, ending: Ending::Cycle });
            }
            prefix.extend(steps);
            state = after;
        }
    }

    /// A run along the path that stays in its last aggregate for ever, and in no atomic sequence: from visible state to
    /// visible state.
    fn resting_past_sequences(&mut self, path: &[&Visit<S::Set>], initial: &S::Set) -> Maybe<Witness> {
        let (observed, last) = (self.observed, &path.last().ok_or_else(lost)?.set);
        let core = visible_after_cycles(self.sets, last, observed)?;
        let core = visible_before_cycles(self.sets, &core, last, observed)?;
        let (start, mut prefix, mut state) = self.run(path, initial, &core)?.ok_or_else(lost)?;
        let mut round = |maker: &mut Self, set: &S::Set| {
            let image = visible_images(maker.sets, set, last, observed)?;
            Ok(maker.sets.intersection(&image, &core)?)
        };
        loop {
            let (layers, is_back) = self.layers(&state, &mut round)?;
            let goal = if is_back { state.clone() } else { self.one_of(layers.last())? };
            let before = if is_back { &layers[..] } else { &layers[..layers.len() - 1] };
            let mut goals = vec![goal];
            for layer in before.iter().rev() {
                let next = visible_preimages(self.sets, &goals[goals.len() - 1], last, observed)?;
                goals.push(self.sets.intersection(&next, layer)?);
            }
            let mut steps = Vec::new();
            for goal in goals.iter().rev() {
                state = self.past_transient(&state, goal, last, &mut steps)?;
            }
            if is_back {
                return Ok(Witness { start, prefix, cycle: steps, ending: Ending::Cycle });
            }
            prefix.extend(steps);
        }
    }

    /// Unobserved steps from a visible state to one of these, past transient states of the set.
    fn past_transient(
        &mut self,
        state: &S::Set,
        goal: &S::Set,
        within: &S::Set,
        actions: &mut Vec<usize>,
    ) -> Maybe<S::Set> {
        let (mut layers, mut passed, mut new) = (Vec::new(), self.sets.empty(), state.clone());
        loop {
            (self.look)()?;
            let image = self.sets.images_within(&new, &self.observed.unobserved, within)?;
            let met = self.sets.intersection(&image, goal)?;
            if !self.sets.is_empty(&met) {
                let target = self.one_of(Some(&met))?;
                return self.follow(state, &layers, &target, actions);
            }
            let visible = self.sets.visible(&image)?;
            let transient = self.sets.minus(&image, &visible)?;
            new = self.sets.minus(&transient, &passed)?;
            if self.sets.is_empty(&new) {
                return Err(lost());
            }
            passed = self.sets.union(&passed, &new)?;
            layers.push(new.clone());
        }
    }

    fn one_of(&mut self, set: Option<&S::Set>) -> Maybe<S::Set> {
        let Some(set) = set else { return Err(lost()) };
        let state = self.sets.pick(set)?.ok_or_else(lost)?;
        Ok(self.sets.only(&state)?)
    }

    /// What a kind of round leads to from a state, layer by layer, until it leads back to the state (then the last layer
    /// is the one before that) or to nothing new.
    #[allow(clippy::type_complexity)]
    fn layers(
        &mut self,
        state: &S::Set,
        round: &mut dyn FnMut(&mut Self, &S::Set) -> Maybe<S::Set>,
    ) -> Maybe<(Vec<S::Set>, bool)> {
        let mut layers = Vec::new();
        let mut seen = self.sets.empty();
        let mut last = state.clone();
        loop {
            (self.look)()?;
            let image = round(self, &last)?;
            let back = self.sets.intersection(&image, state)?;
            if !self.sets.is_empty(&back) {
                return Ok((layers, true));
            }
            let new = self.sets.minus(&image, &seen)?;
            if self.sets.is_empty(&new) {
                return Ok((layers, false));
            }
            seen = self.sets.union(&seen, &new)?;
            layers.push(new.clone());
            last = new;
        }
    }

    /// Unobserved steps from a state through the layers to the goal, which comes after the last of them or is in it.
    fn follow(&mut self, state: &S::Set, layers: &[S::Set], goal: &S::Set, actions: &mut Vec<usize>) -> Maybe<S::Set> {
        // Backwards through the layers, then forwards.
        let observed = self.observed;
        let mut goals = vec![goal.clone()];
        let is_inside = match layers.last() {
            Some(last) => {
                let met = self.sets.intersection(last, goal)?;
                !self.sets.is_empty(&met)
            }
            None => false,
        };
        let before = if is_inside { &layers[..layers.len() - 1] } else { layers };
        for layer in before.iter().rev() {
            (self.look)()?;
            let next = self.sets.preimages(&goals[goals.len() - 1], &observed.unobserved, layer)?;
            goals.push(next);
        }
        let mut state = state.clone();
        for goal in goals.iter().rev() {
            state = self.step(&state, &observed.unobserved, goal, actions)?;
        }
        Ok(state)
    }

    /// A run along the path and then around a cycle of aggregates for ever. The last aggregate of `path` is the last of
    /// `around` too.
    pub fn cycling(&mut self, path: &[Visit<S::Set>], around: &[Visit<S::Set>]) -> Maybe<Witness> {
        let base = path.last().ok_or_else(lost)?;
        let core = self.endless(base, around)?;
        let visits: Vec<&Visit<S::Set>> = path.iter().collect();
        let initial = self.sets.initial()?;
        let (start, mut prefix, mut state) = self.run(&visits, &initial, &core)?.ok_or_else(lost)?;
        loop {
            let mut round = |maker: &mut Self, set: &S::Set| {
                let image = maker.round(set, around)?;
                Ok(maker.sets.intersection(&image, &core)?)
            };
            let (layers, is_back) = self.layers(&state, &mut round)?;
            let goal = if is_back { state.clone() } else { self.one_of(layers.last())? };
            let rounds = layers.len() + usize::from(is_back);
            let visits: Vec<&Visit<S::Set>> =
                std::iter::once(base).chain(std::iter::repeat_n(around, rounds).flatten()).collect();
            let (_, steps, after) = self.run(&visits, &state, &goal)?.ok_or_else(lost)?;
            if is_back {
                return Ok(Witness { start, prefix, cycle: steps, ending: Ending::Cycle });
            }
            prefix.extend(steps);
            state = after;
        }
    }

    /// The states of the first aggregate from which one can go round for ever.
    fn endless(&mut self, base: &Visit<S::Set>, around: &[Visit<S::Set>]) -> Maybe<S::Set> {
        let mut left = base.set.clone();
        loop {
            let mut goal = left.clone();
            for (place, stop) in around.iter().enumerate().rev() {
                let approach = self.approach(&stop.set, &goal)?.all;
                let before = if place == 0 { base } else { &around[place - 1] };
                goal = self.before_arc(before, stop, &approach)?;
            }
            let goal = self.approach(&base.set, &goal)?.all;
            let next = self.sets.intersection(&goal, &left)?;
            if next == left {
                return Ok(left);
            }
            left = next;
        }
    }

    /// The states after one round from these, with unobserved steps before each arc and after the last.
    fn round(&mut self, from: &S::Set, around: &[Visit<S::Set>]) -> Maybe<S::Set> {
        let (observed, mut set) = (self.observed, from.clone());
        let Some(last) = around.last() else { return Ok(set) };
        let mut label = last.label;
        for stop in around {
            set = crate::aggregate::closed(self.sets, &set, observed, label)?;
            set = match stop.action {
                Some(action) => self.sets.image(&set, action)?,
                None => {
                    let image = self.sets.images(&set, &observed.unobserved)?;
                    labelled(self.sets, &image, observed, stop.label)?
                }
            };
            set = entered(self.sets, &set, label, stop.label)?;
            set = self.sets.intersection(&set, &stop.set)?;
            label = stop.label;
        }
        crate::aggregate::closed(self.sets, &set, observed, label)
    }
}

/// The aggregate that a hop leads from, and the action of its arc; none where a run begins.
pub(crate) type Last<'v, S> = Option<(&'v Visit<<S as ample_symbolic::Sets>::Set>, Option<usize>)>;

/// Gives the set and the label of the aggregate of that number, which a hop leads to from the last one.
pub(crate) type Open<'a, S> =
    &'a mut dyn FnMut(&mut Labelled<S>, Last<'_, S>, usize) -> Maybe<(<S as ample_symbolic::Sets>::Set, Label)>;

/// The aggregates along hops, after these; how many were there before is known to who calls.
pub(crate) fn visits<S: Portable>(
    sets: &mut Labelled<S>,
    path: &mut Vec<Visit<S::Set>>,
    hops: &[Hop],
    open: Open<'_, S>,
) -> Maybe<()> {
    for hop in hops {
        let (set, label) = open(sets, path.last().map(|last| (last, hop.action)), hop.to)?;
        path.push(Visit { set, label, action: hop.action });
    }
    Ok(())
}
