//! Evidence in branching time: runs that show why a formula is true or false in a state, with what branches off them.
//!
//! A true `E` and a false `A` are shown by one run: shortest to where it is decided, or around a cycle. The states on it
//! whose operands need runs of their own get branches. Sets of states tell where to go; single states are walked.

use ample_logic::{Binary, Formula, Unary};

use crate::ctl::{Ctl, Evaluator};
use crate::diagram::{Bdd, Maybe};
use crate::reach::{Run, run_to};
use crate::space::Space;

/// How many states of one run have a branch for the operand that holds all along it.
const MAX_BRANCHES: usize = 16;
/// How many runs there are in all.
const MAX_RUNS: usize = 100;

/// What shows that a formula has its value in a state. Steps are numbers of steps of the space; one that ends in a fault
/// can only be the last.
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
    /// It stands still at its end.
    pub stutters: bool,
    /// What there is to see on the way, after so many steps.
    pub branches: Vec<(usize, Evidence)>,
}

/// A state, or a run that a fault has stopped there.
#[derive(Clone, Debug)]
struct Place {
    bits: Vec<bool>,
    stopped: bool,
}

/// A run with all its places; `cycle` steps at its end repeat.
struct Way {
    places: Vec<Place>,
    steps: Vec<usize>,
    cycle: usize,
    stutters: bool,
}

/// What a path must be like, its operands having the same value.
enum Shape<'f> {
    Next(&'f Formula),
    Until(Option<&'f Formula>, &'f Formula),
    /// The second until, and while, the first; or for ever.
    Release(Option<&'f Formula>, &'f Formula),
}

/// Finds evidence.
pub struct Explainer<'e, 'a> {
    space: &'a Space,
    evaluator: &'e mut Evaluator<'a>,
    left: usize,
    /// Only fair runs count.
    fair: bool,
    /// A move of the run that is being explained: one that shows `EX` there needs no branch.
    step: Option<Way>,
}

impl<'e, 'a> Explainer<'e, 'a> {
    /// With the sets of that evaluator.
    pub fn new(space: &'a Space, evaluator: &'e mut Evaluator<'a>) -> Explainer<'e, 'a> {
        Explainer { space, evaluator, left: MAX_RUNS, fair: false, step: None }
    }

    /// Where the evaluator counts fair runs only: what is shown are finite runs, to states from which fair ones go on.
    /// That a fair run goes on for ever in some way is not shown.
    pub fn fairly(mut self) -> Self {
        self.fair = true;
        self
    }

    /// What shows the value of a CTL formula in a settled state.
    pub fn evidence(&mut self, formula: &Formula, state: &[bool]) -> Maybe<Evidence> {
        let place = Place { bits: state.to_vec(), stopped: false };
        let found = self.explain(formula, &place)?;
        Ok(match found {
            Some(evidence) => evidence,
            None => bare(formula, self.value(formula, &place)?),
        })
    }

    fn set(&mut self, formula: &Formula, positive: bool, stopped: bool) -> Maybe<Bdd> {
        let Some(ctl) = Ctl::of(formula) else { return Ok(self.space.diagrams.constant(false)) };
        let ctl = if positive { ctl } else { ctl.not() };
        if stopped { self.evaluator.stopped(&ctl) } else { self.evaluator.states(&ctl) }
    }

    fn value(&mut self, formula: &Formula, place: &Place) -> Maybe<bool> {
        Ok(self.set(formula, true, place.stopped)?.contains(&place.bits))
    }

    fn explain(&mut self, formula: &Formula, place: &Place) -> Maybe<Option<Evidence>> {
        match formula {
            Formula::True | Formula::False | Formula::Atom(_) => Ok(None),
            Formula::Unary(Unary::Not, f) => self.explain(f, place),
            Formula::Unary(quantifier, path) => {
                let holds = self.value(formula, place)?;
                if holds != (*quantifier == Unary::Exists) || self.left == 0 {
                    return Ok(None);
                }
                self.left -= 1;
                self.explain_path(formula, path, holds, place)
            }
            Formula::Binary(op, f, g) => {
                let holds = self.value(formula, place)?;
                let branches = self.operands(*op, [f, g], holds, place)?;
                if branches.is_empty() {
                    return Ok(None);
                }
                Ok(Some(Evidence { branches, ..bare(formula, holds) }))
            }
        }
    }

    /// What shows the values of the operands that matter.
    fn operands(
        &mut self,
        op: Binary,
        [f, g]: [&Formula; 2],
        holds: bool,
        place: &Place,
    ) -> Maybe<Vec<(usize, Evidence)>> {
        let deciding = match (op, holds) {
            (Binary::And, false) => [(f, false), (g, false)],
            (Binary::Or, true) => [(f, true), (g, true)],
            (Binary::Implies, true) => [(f, false), (g, true)],
            _ => {
                let mut branches = self.operand(f, place)?;
                branches.extend(self.operand(g, place)?);
                return Ok(branches);
            }
        };
        // A condition that decides needs no run.
        let mut deciding = deciding;
        deciding.sort_by_key(|(operand, _)| !operand.is_propositional());
        for (operand, value) in deciding {
            if self.value(operand, place)? == value {
                return self.operand(operand, place);
            }
        }
        Ok(Vec::new())
    }

    fn operand(&mut self, operand: &Formula, place: &Place) -> Maybe<Vec<(usize, Evidence)>> {
        Ok(match self.explain(operand, place)? {
            None => Vec::new(),
            Some(evidence) if matches!(evidence.formula, Formula::Binary(..)) => evidence.branches,
            Some(evidence) => vec![(0, evidence)],
        })
    }

    /// A path that satisfies the path formula if `holds`, and one that does not otherwise.
    fn explain_path(
        &mut self,
        formula: &Formula,
        path: &Formula,
        holds: bool,
        place: &Place,
    ) -> Maybe<Option<Evidence>> {
        // Both operands of W and M: f W g is g R (f ∨ g), f M g is g U (f ∧ g).
        let both = |op, f: &Formula, g: &Formula| Formula::binary(op, f.clone(), g.clone());
        let (either, each);
        let shape = match path {
            Formula::Unary(Unary::Next, f) => Shape::Next(f),
            Formula::Unary(Unary::Finally, f) => Shape::Until(None, f),
            Formula::Unary(Unary::Globally, f) => Shape::Release(None, f),
            Formula::Binary(Binary::Until, f, g) => Shape::Until(Some(f), g),
            Formula::Binary(Binary::Release, f, g) => Shape::Release(Some(f), g),
            Formula::Binary(Binary::WeakUntil, f, g) => {
                either = both(Binary::Or, f, g);
                Shape::Release(Some(g), &either)
            }
            Formula::Binary(Binary::StrongRelease, f, g) => {
                each = both(Binary::And, f, g);
                Shape::Until(Some(g), &each)
            }
            _ => return Ok(None),
        };
        // What no path satisfies is the dual, of negated operands.
        let shape = match shape {
            shape if holds => shape,
            Shape::Next(f) => Shape::Next(f),
            Shape::Until(f, g) => Shape::Release(f, g),
            Shape::Release(f, g) => Shape::Until(f, g),
        };
        self.follow(formula, holds, &shape, place)
    }

    fn follow(&mut self, formula: &Formula, holds: bool, shape: &Shape<'_>, place: &Place) -> Maybe<Option<Evidence>> {
        let (way, along, at_end) = match shape {
            Shape::Next(f) => (self.next(f, holds, place)?, None, Some(*f)),
            Shape::Until(f, g) => {
                let way = self.until(*f, g, holds, place)?;
                let before = way.as_ref().map_or(0, |way| way.places.len() - 1);
                (way, f.map(|f| (f, before)), Some(*g))
            }
            Shape::Release(f, g) => {
                let way = self.release(*f, g, holds, place)?;
                let count = way.as_ref().map_or(0, |way| way.places.len() - usize::from(way.cycle > 0));
                let released = way.as_ref().is_some_and(|way| way.cycle == 0 && !way.stutters);
                (way, Some((*g, count)), f.filter(|_| released))
            }
        };
        let Some(way) = way else { return Ok(None) };
        let last = way.places.len() - 1;
        let mut branches = Vec::new();
        if let Some(operand) = at_end {
            branches.extend(self.explain(operand, &way.places[last])?.map(|branch| (last, branch)));
        }
        if let Some((operand, count)) = along.filter(|(operand, _)| !operand.is_propositional()) {
            let most = branches.len() + MAX_BRANCHES;
            for (after, place) in way.places.iter().enumerate().take(count) {
                if branches.len() == most {
                    break;
                }
                if place.stopped || self.space.settled.contains(&place.bits) {
                    self.step = way.hop(after, self.space);
                    branches.extend(self.explain(operand, place)?.map(|branch| (after, branch)));
                }
            }
        }
        branches.sort_by_key(|(after, _)| *after);
        let mut prefix = way.steps;
        let cycle = prefix.split_off(prefix.len() - way.cycle);
        Ok(Some(Evidence { formula: formula.clone(), holds, prefix, cycle, stutters: way.stutters, branches }))
    }

    /// A place where a run has come to stand still.
    fn is_at_rest(&self, place: &Place) -> bool {
        place.stopped || self.space.rests(&place.bits)
    }

    fn next(&mut self, f: &Formula, value: bool, place: &Place) -> Maybe<Option<Way>> {
        if self.fair {
            return Ok(None);
        }
        if self.is_at_rest(place) {
            return Ok(Some(Way { stutters: true, ..Way::at(place) }));
        }
        let goal = self.set(f, value, false)?;
        if let Some(step) = self.step.take_if(|step| !place.stopped && step.places[0].bits == place.bits)
            && step.places.last().is_some_and(|end| goal.contains(&end.bits))
        {
            return Ok(Some(step));
        }
        if let Some(way) = self.hop(place, &goal)? {
            return Ok(Some(way));
        }
        let stopped = self.set(f, value, true)?;
        let mut way = Way::at(place);
        Ok(if self.fall(&mut way, &stopped) { Some(way) } else { None })
    }

    /// The way to a state by some step, and on from there.
    fn first_step(&self, place: &Place, start: &Bdd, rest: Run) -> Maybe<Option<Way>> {
        let after = start.only(&rest.start)?;
        for (number, step) in self.space.steps.iter().enumerate() {
            if !self.space.preimage(&after, std::slice::from_ref(step), start)?.is_false() {
                let mut way = Way::at(place);
                way.push(number, rest.start);
                rest.steps.into_iter().for_each(|(number, state)| way.push(number, state));
                return Ok(Some(way));
            }
        }
        Ok(None)
    }

    /// A fault ends the way, if the stopped run is among these.
    fn fall(&self, way: &mut Way, stopped: &Bdd) -> bool {
        let bits = way.places[way.places.len() - 1].bits.clone();
        if !stopped.contains(&bits) {
            return false;
        }
        let Some(number) = self.space.steps.iter().position(|step| step.fault.contains(&bits)) else { return false };
        way.steps.push(number);
        way.places.push(Place { bits, stopped: true });
        true
    }

    fn until(&mut self, f: Option<&Formula>, g: &Formula, value: bool, place: &Place) -> Maybe<Option<Way>> {
        if place.stopped {
            return Ok(Some(Way::at(place)));
        }
        let signed = |f: &Formula| Ctl::of(f).map(|ctl| if value { ctl } else { ctl.not() });
        let (Some(f), Some(g)) = (f.map_or(Some(Ctl::Const(true)), signed), signed(g)) else { return Ok(None) };
        let goal = self.evaluator.states(&g)?;
        let stopped = self.evaluator.stopped(&g)?;
        let Some(layers) = self.evaluator.layers(&Ctl::Until(Box::new(f), Box::new(g)))? else { return Ok(None) };
        let mut way = Way::at(place);
        let Some(distance) = layers.iter().position(|layer| layer.contains(&place.bits)) else { return Ok(None) };
        for layer in layers[..distance].iter().rev() {
            let here = way.places[way.places.len() - 1].clone();
            let Some(part) = self.hop(&here, layer)? else { return Ok(None) };
            way.extend(part);
        }
        if !goal.contains(&way.places[way.places.len() - 1].bits) {
            self.fall(&mut way, &stopped);
        }
        Ok(Some(way))
    }

    /// One move as a user sees it, into a set of settled states.
    fn hop(&self, place: &Place, goal: &Bdd) -> Maybe<Option<Way>> {
        let start = goal.only(&place.bits)?;
        let first = self.space.post(&start)?;
        match run_to(self.space, &first, &self.space.settled.not(), goal)? {
            Some(rest) => self.first_step(place, &start, rest),
            None => Ok(None),
        }
    }

    /// A way on which `g` has the value, to where `f` has it too, to where the run stands still, or around a cycle.
    fn release(&mut self, f: Option<&Formula>, g: &Formula, value: bool, place: &Place) -> Maybe<Option<Way>> {
        if self.fair {
            return Ok(None);
        }
        if self.is_at_rest(place) {
            return Ok(Some(Way { stutters: true, ..Way::at(place) }));
        }
        let through = self.set(g, value, false)?;
        let released = match f {
            Some(f) => self.set(f, value, false)?.and(&through)?,
            None => self.space.diagrams.constant(false),
        };
        let falling = self.set(g, value, true)?.and(&self.space.faulty)?.and(&through)?;
        let resting = self.space.resting(&through)?;
        let within = through.or(&self.space.settled.not())?;
        let start = through.only(&place.bits)?;
        let goal = released.or(&resting)?.or(&falling)?;
        if let Some(run) = run_to(self.space, &start, &within, &goal)? {
            let mut way = Way::along(run);
            let end = way.places[way.places.len() - 1].bits.clone();
            if !released.contains(&end) {
                way.stutters = true;
                if !resting.contains(&end) {
                    self.fall(&mut way, &falling);
                }
            }
            return Ok(Some(way));
        }
        self.cycle(&through, &within, place)
    }

    /// A way to a cycle, all of it in a set.
    fn cycle(&mut self, set: &Bdd, within: &Bdd, place: &Place) -> Maybe<Option<Way>> {
        let endless = self.endless(set)?;
        let inside = endless.or(&within.minus(&self.space.settled)?)?;
        let mut way = Way::at(place);
        loop {
            let here = Place { bits: way.places[way.places.len() - 1].bits.clone(), stopped: false };
            let start = set.only(&here.bits)?;
            let first = self.space.post(&start)?.and(&inside)?;
            if let Some(rest) = run_to(self.space, &first, &inside, &start)? {
                let Some(round) = self.first_step(&here, &start, rest)? else { return Ok(None) };
                way.cycle = round.steps.len();
                way.extend(round);
                return Ok(Some(way));
            }
            // Not on a cycle: on to the next state, from which fewer are reached.
            let Some(rest) = run_to(self.space, &first, &inside, &endless)? else { return Ok(None) };
            let Some(part) = self.first_step(&here, &start, rest)? else { return Ok(None) };
            way.extend(part);
        }
    }

    /// The settled states of the set from which runs stay in it for ever, without a fault.
    fn endless(&mut self, set: &Bdd) -> Maybe<Bdd> {
        let mut all = set.and(&self.space.settled)?;
        let within = all.or(&self.space.settled.not())?;
        loop {
            let next = self.space.previous(&all, &within)?.and(&all)?;
            if next == all {
                return Ok(all);
            }
            all = next;
        }
    }
}

impl Way {
    fn at(place: &Place) -> Way {
        Way { places: vec![place.clone()], steps: Vec::new(), cycle: 0, stutters: false }
    }

    /// The move after so many steps, up to the next settled state.
    fn hop(&self, after: usize, space: &Space) -> Option<Way> {
        let mut hop = Way::at(&self.places[after]);
        for (number, place) in self.steps.iter().zip(&self.places[1..]).skip(after) {
            if place.stopped {
                return None;
            }
            hop.push(*number, place.bits.clone());
            if space.settled.contains(&place.bits) {
                return Some(hop);
            }
        }
        None
    }

    fn along(run: Run) -> Way {
        let mut way = Way::at(&Place { bits: run.start, stopped: false });
        run.steps.into_iter().for_each(|(number, bits)| way.push(number, bits));
        way
    }

    fn push(&mut self, number: usize, bits: Vec<bool>) {
        self.steps.push(number);
        self.places.push(Place { bits, stopped: false });
    }

    fn extend(&mut self, other: Way) {
        self.steps.extend(other.steps);
        self.places.extend(other.places.into_iter().skip(1));
    }
}

/// What tells the value of a formula and shows nothing.
fn bare(formula: &Formula, holds: bool) -> Evidence {
    let formula = formula.clone();
    Evidence { formula, holds, prefix: Vec::new(), cycle: Vec::new(), stutters: false, branches: Vec::new() }
}
