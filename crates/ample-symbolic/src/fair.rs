//! Fair runs: those that do something again and again.
//!
//! A condition is a set of states with a set of steps. Under *justice* a run is again and again in one of the states or
//! takes one of the steps; under *compassion* it takes one of the steps again and again if it is in one of the states
//! again and again. Weak fairness is a justice condition for each process, strong fairness a compassion condition for
//! each action, and neither needs a bit in the state.
//!
//! The search is that of Emerson and Lei, for compassion in the form of Kesten, Pnueli and Raviv: states are taken away
//! from which a condition cannot be met among those that are left. What remains contains every set of states that a
//! fair run can stay in; and a part of it that cannot be left (or, forward, not be entered) is such a set.

use crate::diagram::{Bdd, Maybe};
use crate::reach::{Effort, Run, run_away, run_to};
use crate::sets::Sets;
use crate::space::{Space, Step};

/// Some states and some steps, as numbers of actions.
#[derive(Clone, Debug)]
pub struct Condition<Set = Bdd> {
    /// The states.
    pub states: Set,
    /// The steps.
    pub steps: Vec<usize>,
}

/// Which runs count.
#[derive(Clone, Debug)]
pub struct Fairness<Set = Bdd> {
    /// Again and again in one of the states, or by one of the steps.
    pub justice: Vec<Condition<Set>>,
    /// By one of the steps again and again, if again and again in one of the states.
    pub compassion: Vec<Condition<Set>>,
    /// Again and again in one of the second states, if again and again in one of the first: compassion without steps.
    pub responses: Vec<(Set, Set)>,
}

impl<Set> Default for Fairness<Set> {
    /// All runs count.
    fn default() -> Fairness<Set> {
        Fairness { justice: Vec::new(), compassion: Vec::new(), responses: Vec::new() }
    }
}

impl<Set> Fairness<Set> {
    /// All runs count.
    pub fn is_none(&self) -> bool {
        self.justice.is_empty() && self.compassion.is_empty() && self.responses.is_empty()
    }
}

impl Fairness {
    /// Every process that is enabled from some moment on without a break takes part in a step again and again.
    ///
    /// Enabled is who begins a step; transient states are not looked at.
    pub fn weak(space: &Space) -> Maybe<Fairness> {
        let mut movers: Vec<u32> = space.steps.iter().filter_map(|step| step.processes.first().copied()).collect();
        movers.sort_unstable();
        movers.dedup();
        let mut justice = Vec::new();
        for process in movers {
            let begins = |step: &&Step| step.processes.first() == Some(&process);
            let enabled = enabled(space, space.steps.iter().filter(begins))?;
            let takes_part = |(number, step): (usize, &Step)| step.processes.contains(&process).then_some(number);
            let steps = space.steps.iter().enumerate().filter_map(takes_part).collect();
            justice.push(Condition { states: space.visible.minus(&enabled)?, steps });
        }
        Ok(Fairness { justice, ..Fairness::default() })
    }

    /// Every action that is enabled again and again is taken again and again. Each step has the number of its action.
    pub fn strong(space: &Space, actions: &[usize]) -> Maybe<Fairness> {
        let count = actions.iter().max().map_or(0, |last| last + 1);
        let mut compassion = Vec::new();
        for action in 0..count {
            let steps: Vec<usize> = (0..space.steps.len()).filter(|step| actions.get(*step) == Some(&action)).collect();
            let states = enabled(space, steps.iter().map(|step| &space.steps[*step]))?;
            compassion.push(Condition { states, steps });
        }
        Ok(Fairness { compassion, ..Fairness::default() })
    }
}

/// The states in which one of these steps can be begun, be it a fault.
pub(crate) fn enabled<'s>(space: &Space, steps: impl Iterator<Item = &'s Step>) -> Maybe<Bdd> {
    let mut states = space.diagrams.constant(false);
    for step in steps {
        states = states.or(&step.guard)?.or(&step.fault)?;
    }
    Ok(states)
}

/// What a run must do again and again, or must do if it is somewhere again and again.
struct Wanted<Set> {
    /// All visible states, if none are named.
    states: Option<Set>,
    steps: Vec<usize>,
}

impl<Set: Clone> Wanted<Set> {
    fn of(condition: &Condition<Set>) -> Wanted<Set> {
        Wanted { states: Some(condition.states.clone()), steps: condition.steps.clone() }
    }

    /// Its states among these.
    fn among<S: Sets<Set = Set>>(&self, sets: &mut S, set: &Set) -> Maybe<Set> {
        match &self.states {
            Some(states) => sets.intersection(set, states),
            None => sets.visible(set),
        }
    }

    /// The states of the set to which one of the steps leads inside it; backward, those from which it leads.
    fn taken<S: Sets<Set = Set>>(&self, sets: &mut S, set: &Set, towards: Towards) -> Maybe<Set> {
        match towards {
            _ if self.steps.is_empty() => Ok(sets.empty()),
            Towards::Future => sets.images_within(set, &self.steps, set),
            Towards::Past => sets.preimages(set, &self.steps, set),
        }
    }

    /// The run takes one of the steps.
    fn is_taken<State>(&self, run: &Run<State>) -> bool {
        run.steps.iter().any(|(number, _)| self.steps.contains(number))
    }

    /// The state is one of them.
    fn holds<S: Sets<Set = Set>>(&self, sets: &mut S, state: &S::State) -> Maybe<bool> {
        let Some(states) = &self.states else {
            if !sets.has_transient() {
                return Ok(true);
            }
            let set = sets.only(state)?;
            let visible = sets.visible(&set)?;
            return Ok(!sets.is_empty(&visible));
        };
        Ok(sets.contains(states, state))
    }

    /// The run is in one of the states.
    fn is_visited<S: Sets<Set = Set>>(&self, sets: &mut S, run: &Run<S::State>) -> Maybe<bool> {
        for state in std::iter::once(&run.start).chain(run.steps.iter().map(|(_, state)| state)) {
            if self.holds(sets, state)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// From so many states on the way it is tried to close a cycle, before all that lies ahead is computed. Most systems come
/// back to where they were after a few steps, and where nothing leads back, that is often seen at once.
const TRIES: usize = 4;

/// In which direction steps are followed.
#[derive(Clone, Copy)]
enum Towards {
    Future,
    Past,
}

impl Towards {
    /// The states within `all` that the steps reach.
    fn closure<S: Sets>(self, sets: &mut S, from: &S::Set, all: &S::Set, effort: &mut Effort) -> Maybe<S::Set> {
        match self {
            Towards::Future => sets.forward_closure(from, all, effort),
            Towards::Past => sets.backward_closure(from, all, effort),
        }
    }

    /// Those within `all` that one step reaches.
    fn step<S: Sets>(self, sets: &mut S, from: &S::Set, all: &S::Set) -> Maybe<S::Set> {
        match self {
            Towards::Future => sets.post(from, all),
            Towards::Past => sets.pre(from, all),
        }
    }
}

/// A run to a cycle, and the cycle.
pub type Prefixed<State> = (Run<State>, Run<State>);

/// What must be done again and again, if something is.
type Response<Set> = (Wanted<Set>, Wanted<Set>);

/// Looks for fair runs.
pub struct FairSearch<'a, S: Sets> {
    sets: &'a mut S,
    justice: Vec<Wanted<S::Set>>,
    compassion: Vec<Wanted<S::Set>>,
    responses: Vec<Response<S::Set>>,
}

impl<'a, S: Sets> FairSearch<'a, S> {
    /// For runs that are fair in that way, and visit visible states again and again.
    pub fn new(sets: &'a mut S, fairness: &Fairness<S::Set>) -> FairSearch<'a, S> {
        let wanted = |conditions: &[Condition<S::Set>]| conditions.iter().map(Wanted::of).collect::<Vec<_>>();
        let mut justice = wanted(&fairness.justice);
        if sets.has_transient() || justice.is_empty() {
            justice.push(Wanted { states: None, steps: Vec::new() });
        }
        let in_states = |states: &S::Set| Wanted { states: Some(states.clone()), steps: Vec::new() };
        let responses =
            fairness.responses.iter().map(|(first, second)| (in_states(first), in_states(second))).collect();
        FairSearch { sets, justice, compassion: wanted(&fairness.compassion), responses }
    }

    /// A part of the set that is empty unless a fair run can stay in the set; what fair runs stay in is in it.
    pub fn forward(&mut self, set: &S::Set, effort: &mut Effort) -> Maybe<S::Set> {
        self.fixpoint(set, Towards::Future, effort)
    }

    /// The same backward. Without compassion these are the states of the set from which fair runs stay in it.
    pub fn backward(&mut self, set: &S::Set, effort: &mut Effort) -> Maybe<S::Set> {
        self.fixpoint(set, Towards::Past, effort)
    }

    fn fixpoint(&mut self, set: &S::Set, towards: Towards, effort: &mut Effort) -> Maybe<S::Set> {
        let sets = &mut *self.sets;
        let mut all = set.clone();
        loop {
            let before = all.clone();
            for wanted in &self.justice {
                let visited = wanted.among(sets, &all)?;
                let taken = wanted.taken(sets, &all, towards)?;
                let from = sets.union(&visited, &taken)?;
                let reached = towards.closure(sets, &from, &all, effort)?;
                effort.posts += 1;
                all = towards.step(sets, &reached, &all)?;
                sets.note(&all, effort);
            }
            for wanted in &self.compassion {
                let asking = wanted.among(sets, &all)?;
                if !sets.is_empty(&asking) {
                    let taken = wanted.taken(sets, &all, towards)?;
                    let reached = towards.closure(sets, &taken, &all, effort)?;
                    let refused = sets.minus(&asking, &reached)?;
                    all = sets.minus(&all, &refused)?;
                }
            }
            for (first, second) in &self.responses {
                let asking = first.among(sets, &all)?;
                if !sets.is_empty(&asking) {
                    let visited = second.among(sets, &all)?;
                    let reached = towards.closure(sets, &visited, &all, effort)?;
                    let refused = sets.minus(&asking, &reached)?;
                    all = sets.minus(&all, &refused)?;
                }
            }
            if all == before {
                return Ok(all);
            }
        }
    }

    /// What fair runs stay in, and what lies between such parts. Where every state has a fair run before it, so have all
    /// that follow, so that taking away the others leaves no state without one.
    pub fn hull(&mut self, set: &S::Set, effort: &mut Effort) -> Maybe<S::Set> {
        let set = self.backward(set, effort)?;
        self.forward(&set, effort)
    }

    /// A run from one of the states to a fair cycle in the hull, without leaving `within`, and the cycle. None if the hull
    /// is not reached. What [`FairSearch::backward`] has left of a set is a hull; [`FairSearch::hull`] gives a smaller one.
    pub fn lasso(
        &mut self,
        from: &S::Set,
        within: &S::Set,
        hull: &S::Set,
        effort: &mut Effort,
    ) -> Maybe<Option<Prefixed<S::State>>> {
        let mut hull = hull.clone();
        let Some(mut prefix) = run_to(self.sets, from, within, &hull)? else { return Ok(None) };
        let mut tries = TRIES;
        loop {
            let (round, is_closed) = self.round(prefix.end(), &hull)?;
            if is_closed {
                return Ok(Some((prefix, round)));
            }
            // There is no way back from its end: what lies ahead of it is smaller.
            prefix.steps.extend(round.steps);
            tries = tries.saturating_sub(1);
            if tries > 0
                && let Some(step) = self.sets.step_into(prefix.end(), &hull)?
            {
                prefix.steps.push(step);
                continue;
            }
            let here = self.sets.only(prefix.end())?;
            let after = self.sets.post(&here, &hull)?;
            let ahead = self.sets.forward_closure(&after, &hull, effort)?;
            hull = self.hull(&ahead, effort)?;
            let Some(part) = run_to(self.sets, &here, within, &hull)? else { return Ok(None) };
            prefix.steps.extend(part.steps);
        }
    }

    /// From a state through all that is wanted, and back to it if that is possible.
    fn round(&mut self, from: &S::State, hull: &S::Set) -> Maybe<(Run<S::State>, bool)> {
        let mut run = Run { start: from.clone(), steps: Vec::new() };
        let home = self.sets.only(from)?;
        loop {
            if let Some(missing) = self.missing(&run)? {
                if !self.meet(missing, &mut run, hull)? {
                    return Ok((run, false));
                }
                continue;
            }
            if !run.steps.is_empty() && run.end() == from {
                return Ok((run, true));
            }
            let Some(part) = run_away(self.sets, run.end(), hull, &home)? else { return Ok((run, false)) };
            run.steps.extend(part.steps);
        }
    }

    /// What the run should do and does not, as a cycle.
    fn missing(&mut self, run: &Run<S::State>) -> Maybe<Option<Missing>> {
        for (number, wanted) in self.justice.iter().enumerate() {
            if !wanted.is_taken(run) && !wanted.is_visited(self.sets, run)? {
                return Ok(Some(Missing::Justice(number)));
            }
        }
        for (number, wanted) in self.compassion.iter().enumerate() {
            if !wanted.is_taken(run) && wanted.is_visited(self.sets, run)? {
                return Ok(Some(Missing::Compassion(number)));
            }
        }
        for (number, (first, second)) in self.responses.iter().enumerate() {
            if first.is_visited(self.sets, run)? && !second.is_visited(self.sets, run)? {
                return Ok(Some(Missing::Response(number)));
            }
        }
        Ok(None)
    }

    /// Goes on until the condition is met; false if that is not possible.
    fn meet(&mut self, missing: Missing, run: &mut Run<S::State>, hull: &S::Set) -> Maybe<bool> {
        let sets = &mut *self.sets;
        let (wanted, by_states) = match missing {
            Missing::Justice(number) => (&self.justice[number], true),
            Missing::Compassion(number) => (&self.compassion[number], false),
            Missing::Response(number) => (&self.responses[number].1, true),
        };
        let mut goal = wanted.taken(sets, hull, Towards::Past)?;
        if by_states {
            let visited = wanted.among(sets, hull)?;
            goal = sets.union(&goal, &visited)?;
        }
        let here = sets.only(run.end())?;
        let Some(part) = run_to(sets, &here, hull, &goal)? else { return Ok(false) };
        run.steps.extend(part.steps);
        if by_states && wanted.holds(sets, run.end())? {
            return Ok(true);
        }
        let here = sets.only(run.end())?;
        for action in &wanted.steps {
            let after = sets.images_within(&here, &[*action], hull)?;
            if let Some(after) = sets.pick(&after)? {
                run.steps.push((*action, after));
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// A condition that a cycle does not meet, by its number among those of its kind.
#[derive(Clone, Copy)]
enum Missing {
    Justice(usize),
    Compassion(usize),
    Response(usize),
}
