//! Evidence in branching time: runs that show why a formula is true or false in a state, with what branches off them.
//!
//! A true `E` and a false `A` are shown by one run: shortest to where it is decided, or around a cycle. The states on it
//! whose operands need runs of their own get branches. Sets of states tell where to go; single states are walked.

use ample_logic::explain::{PathFormula, explaining};
use ample_logic::{Formula, Unary};

use crate::ctl::{Ctl, Evaluator};
use crate::diagram::Maybe;
use crate::error::SetError;
use crate::fair::{Condition, FairSearch, Fairness};
use crate::reach::{Effort, Run, preceded, run_to};
use crate::sets::Sets;

/// How many states of one run have a branch for the operand that holds all along it.
const MAX_BRANCHES: usize = 16;
/// How many runs there are in all.
const MAX_RUNS: usize = 100;

/// What shows that a formula has its value in a state. Steps are numbers of actions; one that ends in a fault can only be
/// the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The formula, negations left out.
    pub formula: Formula,
    /// Its value.
    pub holds: bool,
    /// A run from the state on.
    pub prefix: Vec<usize>,
    /// How it goes on for ever, if it does.
    pub cycle: Vec<usize>,
    /// It is over at its end, or stands still there.
    pub stutters: bool,
    /// What there is to see on the way, after so many steps.
    pub branches: Vec<(usize, Evidence)>,
}

/// A state, or a run that a fault has stopped there.
#[derive(Clone, Debug)]
struct Place<State> {
    state: State,
    stopped: bool,
}

/// A run with all its places; `cycle` steps at its end repeat.
struct Path<State> {
    places: Vec<Place<State>>,
    steps: Vec<usize>,
    cycle: usize,
    stutters: bool,
}

/// Finds evidence.
pub struct Explainer<'e, 'a, S: Sets> {
    evaluator: &'e mut Evaluator<'a, S>,
    left: usize,
    /// Longer runs are not shown.
    longest: usize,
    /// Only fair runs count.
    fair: bool,
    /// A move of the run that is being explained: one that shows `EX` there needs no branch.
    step: Option<Path<S::State>>,
}

/// A path, if there is one.
type MaybePath<S> = Maybe<Option<Path<<S as Sets>::State>>>;

impl<'e, 'a, S: Sets> Explainer<'e, 'a, S> {
    /// With the sets of that evaluator.
    pub fn new(evaluator: &'e mut Evaluator<'a, S>) -> Explainer<'e, 'a, S> {
        Explainer { evaluator, left: MAX_RUNS, longest: usize::MAX, fair: false, step: None }
    }

    /// Runs of more steps are not shown.
    #[must_use]
    pub fn up_to(mut self, longest: usize) -> Self {
        self.longest = longest;
        self
    }

    /// Where the evaluator counts fair runs only: what is shown are finite runs, to states from which fair ones go on.
    /// That a fair run goes on for ever in some way is not shown.
    #[must_use]
    pub fn fairly(mut self) -> Self {
        self.fair = true;
        self
    }

    /// What shows the value of a CTL formula in a visible state; at least the value itself.
    pub fn evidence(&mut self, formula: &Formula, state: &S::State) -> Maybe<Evidence> {
        Ok(match self.runs(formula, state)? {
            Some(evidence) => evidence,
            None => bare(formula, self.value(formula, &Place { state: state.clone(), stopped: false })?),
        })
    }

    /// The runs that show the value of a CTL formula in a visible state; none if no run does.
    pub fn runs(&mut self, formula: &Formula, state: &S::State) -> Maybe<Option<Evidence>> {
        self.explain(formula, &Place { state: state.clone(), stopped: false })
    }

    /// Where the formula has the value.
    fn set(&mut self, formula: &Formula, positive: bool, stopped: bool) -> Maybe<S::Set> {
        let ctl = signed(formula, positive)?;
        if stopped { self.evaluator.stopped(&ctl) } else { self.evaluator.states(&ctl) }
    }

    fn value(&mut self, formula: &Formula, place: &Place<S::State>) -> Maybe<bool> {
        let set = self.set(formula, true, place.stopped)?;
        Ok(self.evaluator.sets().contains(&set, &place.state))
    }

    fn explain(&mut self, formula: &Formula, place: &Place<S::State>) -> Maybe<Option<Evidence>> {
        self.evaluator.sets().check_depth()?;
        match formula {
            Formula::True | Formula::False | Formula::Atom(_) => Ok(None),
            Formula::Unary(Unary::Not, f) => self.explain(f, place),
            Formula::Unary(quantifier, path) => {
                let holds = self.value(formula, place)?;
                if holds != (*quantifier == Unary::Exists) || self.left == 0 {
                    return Ok(None);
                }
                self.left -= 1;
                match PathFormula::showing(path, holds) {
                    Some(path_formula) => self.follow(formula, holds, &path_formula, place),
                    None => Ok(None),
                }
            }
            Formula::Binary(op, f, g) => {
                let holds = self.value(formula, place)?;
                // A condition that decides needs no run.
                let is_simpler = g.is_propositional() && !f.is_propositional();
                let mut branches = Vec::new();
                for operand in explaining(*op, [f, g], holds, is_simpler, |f| self.value(f, place))? {
                    branches.extend(self.operand(operand, place)?);
                }
                if branches.is_empty() {
                    return Ok(None);
                }
                Ok(Some(Evidence { branches, ..bare(formula, holds) }))
            }
        }
    }

    fn operand(&mut self, operand: &Formula, place: &Place<S::State>) -> Maybe<Vec<(usize, Evidence)>> {
        Ok(match self.explain(operand, place)? {
            None => Vec::new(),
            Some(evidence) if matches!(evidence.formula, Formula::Binary(..)) => evidence.branches,
            Some(evidence) => vec![(0, evidence)],
        })
    }

    /// A path of that form, its operands having the value, and what shows that they have.
    fn follow(
        &mut self,
        formula: &Formula,
        holds: bool,
        path_formula: &PathFormula,
        place: &Place<S::State>,
    ) -> Maybe<Option<Evidence>> {
        // The path, the operand that has the value in so many of its places, and the one that has it in the last.
        let (path, along, at_end) = match path_formula {
            PathFormula::Next(f) => (self.next(f, holds, place)?, None, Some(f)),
            PathFormula::Until(f, g) => {
                let path = self.until(f, g, holds, place)?;
                let before = path.as_ref().map_or(0, |path| path.places.len() - 1);
                (path, Some((f, before)), Some(g))
            }
            PathFormula::Release(f, g) => {
                let path = self.release(f, g, holds, place)?;
                let count = path.as_ref().map_or(0, |path| path.places.len() - usize::from(path.cycle > 0));
                let released = path.as_ref().is_some_and(|path| path.cycle == 0 && !path.stutters);
                (path, Some((g, count)), Some(f).filter(|_| released))
            }
        };
        let Some(path) = path.filter(|path| path.steps.len() <= self.longest) else { return Ok(None) };
        let last = path.places.len() - 1;
        let mut branches = Vec::new();
        // The end first, since the number of runs is limited.
        if let Some(operand) = at_end {
            branches.extend(self.explain(operand, &path.places[last])?.map(|branch| (last, branch)));
        }
        if let Some((operand, count)) = along.filter(|(operand, _)| !operand.is_propositional()) {
            let most = branches.len() + MAX_BRANCHES;
            for (after, place) in path.places.iter().enumerate().take(count) {
                if branches.len() == most {
                    break;
                }
                if place.stopped || self.is_visible(&place.state)? {
                    self.step = self.move_after(&path, after)?;
                    branches.extend(self.explain(operand, place)?.map(|branch| (after, branch)));
                }
            }
        }
        branches.sort_by_key(|(after, _)| *after);
        let mut prefix = path.steps;
        let cycle = prefix.split_off(prefix.len() - path.cycle);
        Ok(Some(Evidence { formula: formula.clone(), holds, prefix, cycle, stutters: path.stutters, branches }))
    }

    fn is_visible(&mut self, state: &S::State) -> Maybe<bool> {
        let sets = self.evaluator.sets();
        if !sets.has_transient() {
            return Ok(true);
        }
        let set = sets.only(state)?;
        let visible = sets.visible(&set)?;
        Ok(!sets.is_empty(&visible))
    }

    /// The move of a path after so many steps, up to the next visible state.
    fn move_after(&mut self, path: &Path<S::State>, after: usize) -> MaybePath<S> {
        let mut part = Path::at(&path.places[after]);
        for (number, place) in path.steps.iter().zip(&path.places[1..]).skip(after) {
            if place.stopped {
                return Ok(None);
            }
            part.push(*number, place.state.clone());
            if self.is_visible(&place.state)? {
                return Ok(Some(part));
            }
        }
        Ok(None)
    }

    /// A place where a run is over, or has come to stand still.
    fn is_at_rest(&mut self, place: &Place<S::State>) -> Maybe<bool> {
        if place.stopped {
            return Ok(true);
        }
        let sets = self.evaluator.sets();
        Ok(!sets.only_infinite() && sets.is_deadlocked(&place.state)?)
    }

    /// A move to where `f` has the value.
    fn next(&mut self, f: &Formula, value: bool, place: &Place<S::State>) -> MaybePath<S> {
        if self.fair {
            return Ok(None);
        }
        if self.is_at_rest(place)? {
            return Ok(Some(Path { stutters: true, ..Path::at(place) }));
        }
        let goal = self.set(f, value, false)?;
        let sets = self.evaluator.sets();
        if let Some(step) = self.step.take_if(|step| !place.stopped && step.places[0].state == place.state)
            && sets.contains(&goal, step.end())
        {
            return Ok(Some(step));
        }
        if let Some(path) = self.move_into(place, &goal)? {
            return Ok(Some(path));
        }
        let stopped = self.set(f, value, true)?;
        let mut path = Path::at(place);
        Ok(if self.fall(&mut path, &stopped)? { Some(path) } else { None })
    }

    /// One move as a user sees it, into a set of visible states.
    fn move_into(&mut self, place: &Place<S::State>, goal: &S::Set) -> MaybePath<S> {
        let within = self.evaluator.within().clone();
        let sets = self.evaluator.sets();
        if let Some((number, after)) = sets.step_into(&place.state, goal)? {
            let mut path = Path::at(place);
            path.push(number, after);
            return Ok(Some(path));
        }
        if !sets.has_transient() {
            return Ok(None);
        }
        let nothing = sets.empty();
        let transient = sets.scope(&nothing, &within)?;
        let start = sets.only(&place.state)?;
        let first = sets.post(&start, &transient)?;
        let Some(rest) = run_to(sets, &first, &transient, goal)? else { return Ok(None) };
        Ok(preceded(sets, &place.state, rest)?.map(Path::along))
    }

    /// A fault ends the path, if the stopped run is among these.
    fn fall(&mut self, path: &mut Path<S::State>, stopped: &S::Set) -> Maybe<bool> {
        let sets = self.evaluator.sets();
        let state = path.end().clone();
        if !sets.contains(stopped, &state) {
            return Ok(false);
        }
        let Some(number) = sets.fault(&state)? else { return Ok(false) };
        path.steps.push(number);
        path.places.push(Place { state, stopped: true });
        Ok(true)
    }

    /// A shortest path to where `g` has the value.
    fn until(&mut self, f: &Formula, g: &Formula, value: bool, place: &Place<S::State>) -> MaybePath<S> {
        if place.stopped {
            return Ok(Some(Path::at(place)));
        }
        let (f, g) = (signed(f, value)?, signed(g, value)?);
        let goal = self.evaluator.goal(&f, &g)?;
        let through = self.evaluator.states(&f)?;
        let Some(mut path) = self.shortest(place, &through, &goal)? else { return Ok(None) };
        let holding = self.evaluator.states(&g)?;
        if !self.evaluator.sets().contains(&holding, path.end()) {
            let stopped = self.evaluator.stopped(&g)?;
            self.fall(&mut path, &stopped)?;
        }
        Ok(Some(path))
    }

    /// A shortest path to the goal, both sets being of visible states.
    fn shortest(&mut self, place: &Place<S::State>, through: &S::Set, goal: &S::Set) -> MaybePath<S> {
        let within = self.evaluator.within().clone();
        let sets = self.evaluator.sets();
        let scope = sets.scope(through, &within)?;
        let start = sets.only(&place.state)?;
        Ok(run_to(sets, &start, &scope, goal)?.map(Path::along))
    }

    /// A path on which `g` has the value, to where `f` has it too, to where the run is at rest, or around a cycle.
    fn release(&mut self, f: &Formula, g: &Formula, value: bool, place: &Place<S::State>) -> MaybePath<S> {
        if self.fair {
            return Ok(None);
        }
        if self.is_at_rest(place)? {
            return Ok(Some(Path { stutters: true, ..Path::at(place) }));
        }
        let through = self.set(g, value, false)?;
        let released = self.set(f, value, false)?;
        let stopped = self.set(g, value, true)?;
        let sets = self.evaluator.sets();
        let released = sets.intersection(&released, &through)?;
        let falling = sets.faulty(&through)?;
        let falling = sets.intersection(&falling, &stopped)?;
        let deadlocked = if self.evaluator.fair_runs().is_some() { self.just(&through)? } else { through.clone() };
        let sets = self.evaluator.sets();
        let deadlocked = if sets.only_infinite() { sets.empty() } else { sets.deadlocked(&deadlocked)? };
        let goal = sets.union(&released, &deadlocked)?;
        let goal = sets.union(&goal, &falling)?;
        if let Some(mut path) = self.shortest(place, &through, &goal)? {
            let sets = self.evaluator.sets();
            if !sets.contains(&released, path.end()) {
                path.stutters = true;
                if !sets.contains(&deadlocked, path.end()) {
                    self.fall(&mut path, &falling)?;
                }
            }
            return Ok(Some(path));
        }
        self.cycle(&signed(g, value)?, place)
    }

    /// The states of the set in which a run that stays there is just.
    fn just(&mut self, set: &S::Set) -> Maybe<S::Set> {
        let conditions = self.evaluator.fair_runs().map_or(&[][..], |fair| &fair.fairness.justice);
        let sets = self.evaluator.sets();
        conditions.iter().try_fold(set.clone(), |set, condition| sets.intersection(&set, &condition.states))
    }

    /// A path to a cycle, on which the formula holds all along. No run comes to rest on the way.
    fn cycle(&mut self, formula: &Ctl, place: &Place<S::State>) -> MaybePath<S> {
        // Where no run comes to rest, every one that stays in these states goes on for ever.
        let endless = self.evaluator.states(&Ctl::Always(Box::new(formula.clone())))?;
        let (within, fair) = (self.evaluator.within().clone(), self.evaluator.fair_runs());
        let sets = self.evaluator.sets();
        let scope = sets.scope(&endless, &within)?;
        let start = sets.only(&place.state)?;
        let mut fairness = Fairness::default();
        let mut effort = Effort::default();
        let mut hull = scope.clone();
        if let Some(fair) = fair {
            fairness = fair.fairness.clone();
            hull = FairSearch::new(sets, &fairness).backward(&scope, &mut effort)?;
        } else if sets.has_transient() {
            // An endless atomic sequence is no run: a cycle passes visible states.
            fairness.justice.push(Condition { states: sets.visible(&scope)?, steps: Vec::new() });
            hull = FairSearch::new(sets, &fairness).backward(&scope, &mut effort)?;
        }
        let found = FairSearch::new(sets, &fairness).lasso(&start, &scope, &hull, &mut effort)?;
        Ok(found.map(|(prefix, round)| {
            let mut path = Path::along(prefix);
            path.cycle = round.steps.len();
            round.steps.into_iter().for_each(|(number, state)| path.push(number, state));
            path
        }))
    }
}

impl<State: Clone> Path<State> {
    fn at(place: &Place<State>) -> Path<State> {
        Path { places: vec![place.clone()], steps: Vec::new(), cycle: 0, stutters: false }
    }

    fn along(run: Run<State>) -> Path<State> {
        let mut path = Path::at(&Place { state: run.start, stopped: false });
        run.steps.into_iter().for_each(|(number, state)| path.push(number, state));
        path
    }

    fn end(&self) -> &State {
        &self.places[self.places.len() - 1].state
    }

    fn push(&mut self, number: usize, state: State) {
        self.steps.push(number);
        self.places.push(Place { state, stopped: false });
    }
}

/// The formula, or its negation.
fn signed(formula: &Formula, positive: bool) -> Maybe<Ctl> {
    let ctl = Ctl::of(formula).ok_or(SetError::NotCtl)?;
    Ok(if positive { ctl } else { ctl.not() })
}

/// What tells the value of a formula and shows nothing.
fn bare(formula: &Formula, holds: bool) -> Evidence {
    let formula = formula.clone();
    Evidence { formula, holds, prefix: Vec::new(), cycle: Vec::new(), stutters: false, branches: Vec::new() }
}
