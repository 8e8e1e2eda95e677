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
use crate::reach::{Effort, Run, run_to};
use crate::space::{Space, Step};

/// Some states and some steps, as numbers of those of the space.
#[derive(Clone, Debug)]
pub struct Condition {
    /// The states.
    pub states: Bdd,
    /// The steps.
    pub steps: Vec<usize>,
}

/// Which runs count.
#[derive(Clone, Debug, Default)]
pub struct Fairness {
    /// Again and again in one of the states, or by one of the steps.
    pub justice: Vec<Condition>,
    /// By one of the steps again and again, if again and again in one of the states.
    pub compassion: Vec<Condition>,
}

impl Fairness {
    /// Every process that is enabled from some moment on without a break takes part in a step again and again.
    ///
    /// Enabled is who begins a step; states that are passed over are not looked at.
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
            justice.push(Condition { states: space.settled.minus(&enabled)?, steps });
        }
        Ok(Fairness { justice, compassion: Vec::new() })
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
        Ok(Fairness { justice: Vec::new(), compassion })
    }

    /// All runs count.
    pub fn is_none(&self) -> bool {
        self.justice.is_empty() && self.compassion.is_empty()
    }
}

/// The states in which one of these steps can be begun, be it a fault.
fn enabled<'s>(space: &Space, steps: impl Iterator<Item = &'s Step>) -> Maybe<Bdd> {
    let mut states = space.diagrams.constant(false);
    for step in steps {
        states = states.or(&step.guard)?.or(&step.fault)?;
    }
    Ok(states)
}

/// A condition with its steps at hand.
struct Wanted {
    condition: Condition,
    steps: Vec<Step>,
}

impl Wanted {
    fn of(space: &Space, condition: &Condition) -> Wanted {
        let steps = condition.steps.iter().filter_map(|number| space.steps.get(*number).cloned()).collect();
        Wanted { condition: condition.clone(), steps }
    }

    /// The run takes one of the steps.
    fn is_taken(&self, run: &Run) -> bool {
        run.steps.iter().any(|(number, _)| self.condition.steps.contains(number))
    }

    /// The run is in one of the states.
    fn is_visited(&self, run: &Run) -> bool {
        let states = &self.condition.states;
        states.contains(&run.start) || run.steps.iter().any(|(_, state)| states.contains(state))
    }
}

/// Looks for fair runs in a space.
pub struct FairSearch<'a> {
    space: &'a Space,
    justice: Vec<Wanted>,
    compassion: Vec<Wanted>,
}

impl<'a> FairSearch<'a> {
    /// For runs that are fair in that way, and settle again and again.
    pub fn new(space: &'a Space, fairness: &Fairness) -> FairSearch<'a> {
        let wanted = |conditions: &[Condition]| conditions.iter().map(|one| Wanted::of(space, one)).collect::<Vec<_>>();
        let mut justice = wanted(&fairness.justice);
        if space.passes_over() || justice.is_empty() {
            let settled = Condition { states: space.settled.clone(), steps: Vec::new() };
            justice.push(Wanted::of(space, &settled));
        }
        FairSearch { space, justice, compassion: wanted(&fairness.compassion) }
    }

    /// What is reached from the states, within the set, these among it.
    fn forward_until(&self, from: &Bdd, set: &Bdd, effort: &mut Effort) -> Maybe<Bdd> {
        let mut reached = from.clone();
        let mut frontier = from.clone();
        while !frontier.is_false() {
            effort.posts += 1;
            frontier = self.space.post(&frontier)?.and(set)?.minus(&reached)?;
            reached = reached.or(&frontier)?;
        }
        Ok(reached)
    }

    /// What leads to the states, within the set, these among it.
    pub fn backward_until(&self, to: &Bdd, set: &Bdd, effort: &mut Effort) -> Maybe<Bdd> {
        let mut reached = to.clone();
        let mut frontier = to.clone();
        while !frontier.is_false() {
            effort.posts += 1;
            frontier = self.space.pre(&frontier, set)?.minus(&reached)?;
            reached = reached.or(&frontier)?;
        }
        Ok(reached)
    }

    /// The states of the set from which one of the steps stays in it.
    fn before(&self, wanted: &Wanted, set: &Bdd) -> Maybe<Bdd> {
        if wanted.steps.is_empty() {
            return Ok(self.space.diagrams.constant(false));
        }
        self.space.preimage(set, &wanted.steps, set)
    }

    /// The states of the set to which one of the steps leads from it.
    fn after(&self, wanted: &Wanted, set: &Bdd) -> Maybe<Bdd> {
        if wanted.steps.is_empty() {
            return Ok(self.space.diagrams.constant(false));
        }
        self.space.image(set, &wanted.steps)?.and(set)
    }

    /// A part of the set that is empty unless a fair run can stay in the set; what fair runs stay in is in it.
    pub fn forward(&self, set: &Bdd, effort: &mut Effort) -> Maybe<Bdd> {
        let mut all = set.clone();
        loop {
            let before = all.clone();
            for wanted in &self.justice {
                let from = all.and(&wanted.condition.states)?.or(&self.after(wanted, &all)?)?;
                let reached = self.forward_until(&from, &all, effort)?;
                effort.posts += 1;
                all = self.space.post(&reached)?.and(&all)?;
                effort.note(&all);
            }
            for wanted in &self.compassion {
                let asking = all.and(&wanted.condition.states)?;
                if !asking.is_false() {
                    let reached = self.forward_until(&self.after(wanted, &all)?, &all, effort)?;
                    all = all.minus(&asking.minus(&reached)?)?;
                }
            }
            if all == before {
                return Ok(all);
            }
        }
    }

    /// The same backward. Without compassion these are the states of the set from which fair runs stay in it.
    pub fn backward(&self, set: &Bdd, effort: &mut Effort) -> Maybe<Bdd> {
        let mut all = set.clone();
        loop {
            let before = all.clone();
            for wanted in &self.justice {
                let to = all.and(&wanted.condition.states)?.or(&self.before(wanted, &all)?)?;
                let reached = self.backward_until(&to, &all, effort)?;
                effort.posts += 1;
                all = self.space.pre(&reached, &all)?;
                effort.note(&all);
            }
            for wanted in &self.compassion {
                let asking = all.and(&wanted.condition.states)?;
                if !asking.is_false() {
                    let reached = self.backward_until(&self.before(wanted, &all)?, &all, effort)?;
                    all = all.minus(&asking.minus(&reached)?)?;
                }
            }
            if all == before {
                return Ok(all);
            }
        }
    }

    /// A run from one of the states to a fair cycle, within the set, and the cycle. There must be one.
    pub fn lasso(&self, from: &Bdd, set: &Bdd, effort: &mut Effort) -> Maybe<Option<(Run, Run)>> {
        let hull = self.backward(set, effort)?;
        let Some(mut prefix) = run_to(self.space, from, set, &hull)? else { return Ok(None) };
        loop {
            let (round, closed) = self.round(prefix.end(), &hull)?;
            if closed {
                return Ok(Some((prefix, round)));
            }
            if round.steps.is_empty() {
                return Ok(None);
            }
            // There is no way back from its end: fewer states are left.
            prefix.steps.extend(round.steps);
        }
    }

    /// From a state through all that is wanted, and back to it if that is possible.
    fn round(&self, from: &[bool], hull: &Bdd) -> Maybe<(Run, bool)> {
        let mut run = Run { start: from.to_vec(), steps: Vec::new() };
        loop {
            if let Some(wanted) = self.missing(&run) {
                if !self.meet(wanted, &mut run, hull)? {
                    return Ok((run, false));
                }
                continue;
            }
            if !run.steps.is_empty() && run.end() == from {
                return Ok((run, true));
            }
            if let Some(part) = self.at_least_one(run.end(), hull, &hull.only(from)?)? {
                run.steps.extend(part.steps);
                continue;
            }
            if run.steps.is_empty() {
                let away = self.at_least_one(from, hull, hull)?;
                run.steps.extend(away.into_iter().flat_map(|part| part.steps));
            }
            return Ok((run, false));
        }
    }

    /// What the run should do and does not, as a cycle.
    fn missing(&self, run: &Run) -> Option<&Wanted> {
        let unjust = self.justice.iter().find(|wanted| !wanted.is_visited(run) && !wanted.is_taken(run));
        unjust.or_else(|| self.compassion.iter().find(|wanted| wanted.is_visited(run) && !wanted.is_taken(run)))
    }

    /// Goes on until the condition is met; false if that is not possible.
    fn meet(&self, wanted: &Wanted, run: &mut Run, hull: &Bdd) -> Maybe<bool> {
        let here = hull.only(run.end())?;
        let is_visited = wanted.is_visited(run);
        let mut goal = self.before(wanted, hull)?;
        if !is_visited {
            goal = goal.or(&wanted.condition.states.and(hull)?)?;
        }
        let Some(part) = run_to(self.space, &here, hull, &goal)? else { return Ok(false) };
        run.steps.extend(part.steps);
        if !is_visited && wanted.condition.states.contains(run.end()) {
            return Ok(true);
        }
        let here = hull.only(run.end())?;
        for (number, step) in wanted.condition.steps.iter().zip(&wanted.steps) {
            if let Some(after) = self.space.image(&here, std::slice::from_ref(step))?.and(hull)?.pick() {
                run.steps.push((*number, after));
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A shortest run of at least one step.
    fn at_least_one(&self, from: &[bool], within: &Bdd, goal: &Bdd) -> Maybe<Option<Run>> {
        let start = within.only(from)?;
        let first = self.space.post(&start)?.and(within)?;
        let Some(rest) = run_to(self.space, &first, within, &goal.and(within)?)? else { return Ok(None) };
        let after = within.only(&rest.start)?;
        for (number, step) in self.space.steps.iter().enumerate() {
            if !self.space.preimage(&after, std::slice::from_ref(step), &start)?.is_false() {
                let mut steps = vec![(number, rest.start.clone())];
                steps.extend(rest.steps);
                return Ok(Some(Run { start: from.to_vec(), steps }));
            }
        }
        Ok(None)
    }
}
