//! Goals that cannot be reached, by the state equation.
//!
//! A marking that is reached by firing each transition `t` exactly `x(t)` times is `m = m₀ + C·x`. If no `x ≥ 0` gives
//! an `m ≥ 0` with the goal, then the goal is not reachable. Fractions are allowed at first; where a solution is found
//! that no run can have, something that runs have is added, and it is looked again:
//!
//! - a trap that is marked at the start and empty in `m` (J. Esparza and S. Melzer, 2000);
//! - a set of places that the source calls exclusive, with more than one token;
//! - a fraction, which is above or below;
//! - a transition that is in `x` but has to wait for one that is not: it does not fire, or one of those that could help
//!   it does (H. Wimmel and K. Wolf, 2012).
//!
//! The alternatives of a goal are tried when a solution does not satisfy them anyhow. All of that is a tree of cases
//! over one tableau; the goal is refuted if each leaf has a contradiction, checked in integers.

use std::collections::{HashMap, HashSet};

use super::Incidence;
use super::bounds;
use super::lp::{Check, Side, Tableau};
use super::sparse::{self, Sparse};
use super::traps::{self, Arcs};
use crate::net::{Condition, Net};
use ample_budget::Budget;

/// How far a refutation goes.
#[derive(Clone, Copy)]
pub struct Effort<'s> {
    /// What it may take.
    pub budget: &'s Budget,
    /// At most so many cases.
    pub cases: usize,
    /// At most so many steps of the simplex method.
    pub pivots: usize,
}

impl<'s> Effort<'s> {
    /// As far as is usually worth it.
    pub fn new(budget: &'s Budget) -> Effort<'s> {
        Effort { budget, cases: 5_000, pivots: 50_000 }
    }
}

/// What the state equation says of a goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// No reachable marking satisfies it.
    Refuted,
    /// Perhaps one does. If a solution was found in whole numbers: which transitions fire, and how often.
    Maybe(Option<Vec<(u32, u64)>>),
}

impl Answer {
    /// The goal cannot be reached.
    pub fn is_refuted(&self) -> bool {
        *self == Answer::Refuted
    }
}

/// Asks once: see [`Equation::refute`].
pub fn refute(net: &Net, goal: &Condition, effort: Effort) -> Answer {
    match Equation::new(net) {
        Some(mut equation) => equation.refute(goal, effort),
        None => Answer::Maybe(None),
    }
}

/// No transition can fire. `None` if a transition takes more tokens than a condition can speak of.
pub fn deadlock(net: &Net) -> Option<Condition> {
    let transitions = 0..net.transitions.len() as u32;
    let mut parts = transitions.map(|number| Some(enabled(net, number)?.negated())).collect::<Option<Vec<_>>>()?;
    let mut seen = HashSet::new();
    parts.retain(|part| seen.insert(part.clone()));
    Some(Condition::all(parts))
}

/// A transition can fire. `None` if there is no such transition, or it takes more than a condition can speak of.
pub fn enabled(net: &Net, transition: u32) -> Option<Condition> {
    let takes = &net.transitions.get(transition as usize)?.takes;
    let at_least = |(place, weight): &(u32, u64)| {
        let most = i64::try_from(*weight).ok()?.checked_neg()?;
        Some(Condition::AtMost { terms: vec![(*place, -1)], most })
    };
    Some(Condition::all(takes.iter().map(at_least).collect::<Option<_>>()?))
}

/// The state equation of a net, to be asked many times.
pub struct Equation<'n> {
    net: &'n Net,
    incidence: Incidence,
    arcs: Arcs,
    never: Vec<bool>,
    bounds: Vec<Option<u64>>,
    tableau: Tableau,
    /// Variables for sums of places, by their factors; the first is positive.
    sums: HashMap<Sparse, u32>,
}

/// Sums in a tableau beyond which the next question gets a new one.
const MOST_SUMS: usize = 400;
/// Splits of fractions on one path.
const MOST_FRACTIONS: usize = 24;
/// Alternatives that are compared to find the one with the fewest cases.
const MOST_COMPARED: usize = 200;

impl<'n> Equation<'n> {
    /// The equation of a net; `None` if it has numbers that are too large.
    pub fn new(net: &'n Net) -> Option<Equation<'n>> {
        Equation::with_bounds(net, Vec::new())
    }

    /// With bounds of places that are known to hold (see [`bounds`](super::bounds::bounds)): they are true of every
    /// reachable marking, and cut off fractions.
    pub fn with_bounds(net: &'n Net, bounds: Vec<Option<u64>>) -> Option<Equation<'n>> {
        let incidence = Incidence::of(net)?;
        let bounds = if bounds.len() == net.places.len() { bounds } else { bounds::stated(net) };
        let tableau = Tableau::new(&incidence);
        let (arcs, never) = (Arcs::of(net), traps::never_fires(net));
        let mut equation = Equation { net, incidence, arcs, never, bounds, tableau, sums: HashMap::new() };
        equation.begin();
        Some(equation)
    }

    /// A new tableau, with what is true in every reachable marking.
    fn begin(&mut self) {
        self.tableau = Tableau::new(&self.incidence);
        self.sums.clear();
        for (number, _) in self.never.iter().enumerate().filter(|(_, never)| **never) {
            let variable = self.tableau.of_transition(number as u32);
            self.tableau.bound_for_good(variable, Side::Upper, 0);
        }
        for (place, bound) in self.bounds.iter().enumerate() {
            let Some(bound) = bound.and_then(|bound| i64::try_from(bound).ok()) else { continue };
            let room = bound - self.incidence.initial[place];
            if room >= 0 {
                let variable = self.tableau.of_place(place as u32);
                self.tableau.bound_for_good(variable, Side::Upper, room);
            }
        }
    }

    /// Whether a marking with the goal can be excluded.
    ///
    /// ```
    /// use ample_budget::Budget;
    /// use ample_petri::net::{Condition, Net, Place, Transition};
    /// use ample_petri::structure::equation::{Effort, Equation};
    ///
    /// let place = |name: &str, initial| Place { name: name.into(), initial, bound: None };
    /// let step = Transition { name: "step".into(), takes: vec![(0, 1)], adds: vec![(1, 1)] };
    /// let net = Net { places: vec![place("a", 1), place("b", 0)], transitions: vec![step], exclusive: vec![] };
    /// let mut equation = Equation::new(&net).unwrap();
    /// let both = Condition::And(vec![
    ///     Condition::AtMost { terms: vec![(0, -1)], most: -1 },
    ///     Condition::AtMost { terms: vec![(1, -1)], most: -1 },
    /// ].into());
    /// assert!(equation.refute(&both, Effort::new(&Budget::unlimited())).is_refuted());
    /// ```
    pub fn refute(&mut self, goal: &Condition, effort: Effort) -> Answer {
        let mut is_known = true;
        goal.places(&mut |place| is_known &= (place as usize) < self.net.places.len());
        if !is_known {
            return Answer::Maybe(None);
        }
        if self.tableau.is_broken() || self.tableau.sums() > MOST_SUMS {
            self.begin();
        }
        let mark = self.tableau.mark();
        let answer = Cases { equation: self, effort, open: Vec::new(), frames: Vec::new(), seen: 0 }.run(goal);
        self.tableau.undo(mark);
        match answer {
            Ok(()) => Answer::Refuted,
            Err(Open(solution)) => Answer::Maybe(solution),
        }
    }

    /// No reachable marking is a deadlock.
    pub fn excludes_deadlock(&mut self, effort: Effort) -> bool {
        deadlock(self.net).is_some_and(|goal| self.refute(&goal, effort).is_refuted())
    }

    /// A transition is enabled in no reachable marking.
    pub fn is_dead(&mut self, transition: u32, effort: Effort) -> bool {
        self.never.get(transition as usize).is_some_and(|never| *never)
            || enabled(self.net, transition).is_some_and(|goal| self.refute(&goal, effort).is_refuted())
    }

    /// A sum of tokens is at most `most` in every reachable marking.
    pub fn is_at_most(&mut self, terms: &[(u32, i64)], most: i64, effort: Effort) -> bool {
        let opposite = |(place, factor): &(u32, i64)| Some((*place, factor.checked_neg()?));
        let Some(terms) = terms.iter().map(opposite).collect::<Option<Vec<_>>>() else { return false };
        let Some(most) = most.checked_add(1).and_then(i64::checked_neg) else { return false };
        self.refute(&Condition::AtMost { terms, most }, effort).is_refuted()
    }

    /// The variable for a sum of gains of places: one of its own for each sum, up to a factor.
    fn variable(&mut self, terms: Sparse) -> Option<u32> {
        if let [(place, 1)] = terms.as_slice() {
            return Some(self.tableau.of_place(*place));
        }
        if let Some(variable) = self.sums.get(&terms) {
            return Some(*variable);
        }
        let variable = self.sum_of_places(&terms)?;
        self.sums.insert(terms, variable);
        Some(variable)
    }

    fn sum_of_places(&mut self, terms: &[(u32, i64)]) -> Option<u32> {
        let gains = terms.iter().map(|(place, factor)| (self.tableau.of_place(*place), *factor)).collect();
        self.tableau.sum(gains)
    }

    /// A comparison as a bound of a variable.
    fn as_bound(&mut self, terms: &[(u32, i64)], most: i64) -> Option<Bound> {
        let wide = terms.iter().map(|(place, factor)| (*place, i128::from(*factor))).collect();
        let small = |(place, factor): (u32, i128)| Some((place, i64::try_from(factor).ok()?));
        let mut terms = sparse::collected(wide)?.into_iter().map(small).collect::<Option<Sparse>>()?;
        let common = sparse::common_divisor(0, &terms);
        let divisor = i128::from(i64::try_from(common).ok()?);
        let sign = terms.first()?.1.signum();
        let room = i128::from(most).checked_sub(self.incidence.at_start(&terms)?)?;
        sparse::divide(&mut terms, common);
        for term in &mut terms {
            term.1 = term.1.checked_mul(sign)?;
        }
        // The sum is a whole number in every marking.
        let room = i64::try_from(room.div_euclid(divisor)).ok()?.checked_mul(sign)?;
        let side = if sign > 0 { Side::Upper } else { Side::Lower };
        Some(Bound { variable: self.variable(terms)?, side, to: room })
    }

    /// The tokens of a place in the solution.
    fn tokens(&self, place: u32) -> f64 {
        let (numerator, denominator) = self.tableau.value(self.tableau.of_place(place));
        numerator as f64 / denominator as f64 + self.incidence.initial[place as usize] as f64
    }

    /// The solution satisfies a condition, or nearly.
    fn satisfies(&self, condition: &Condition) -> bool {
        match condition {
            Condition::Const(value) => *value,
            Condition::AtMost { terms, most } => {
                let sum: f64 = terms.iter().map(|(place, factor)| self.tokens(*place) * *factor as f64).sum();
                sum <= *most as f64 + 1e-9
            }
            Condition::And(parts) => parts.iter().all(|part| self.satisfies(part)),
            Condition::Or(parts) => parts.iter().any(|part| self.satisfies(part)),
        }
    }

    /// The bounds exclude a condition, each place looked at on its own.
    fn excludes(&self, condition: &Condition) -> bool {
        match condition {
            Condition::Const(value) => !*value,
            Condition::AtMost { terms, most } => self.least(terms).is_some_and(|least| least > i128::from(*most)),
            Condition::And(parts) => parts.iter().any(|part| self.excludes(part)),
            Condition::Or(parts) => parts.iter().all(|part| self.excludes(part)),
        }
    }

    fn least(&self, terms: &[(u32, i64)]) -> Option<i128> {
        terms.iter().try_fold(0i128, |sum, (place, factor)| {
            let (lower, upper) = self.tableau.bounds(self.tableau.of_place(*place));
            let gain = i128::from(if *factor > 0 { lower? } else { upper? });
            let tokens = gain + i128::from(self.incidence.initial[*place as usize]);
            sum.checked_add(tokens.checked_mul(i128::from(*factor))?)
        })
    }

    fn is_empty(&self, place: u32) -> bool {
        let (numerator, denominator) = self.tableau.value(self.tableau.of_place(place));
        numerator == -i128::from(self.incidence.initial[place as usize]) * i128::from(denominator)
    }

    /// Adds what every run keeps and the solution does not: a trap, or exclusive sets. `None` if a number does not fit.
    fn cut(&mut self) -> Option<bool> {
        let within: Vec<bool> = (0..self.net.places.len() as u32).map(|place| self.is_empty(place)).collect();
        if let Some(trap) = traps::marked_trap(self.net, &self.arcs, &within) {
            return self.require(&trap, Side::Lower).map(|()| true);
        }
        let net = self.net;
        let crowded: Vec<&Vec<u32>> = bounds::exclusive(net)
            .filter(|set| set.iter().map(|place| self.tokens(*place)).sum::<f64>() > 1.0 + 1e-9)
            .take(20)
            .collect();
        for set in &crowded {
            self.require(set, Side::Upper)?;
        }
        Some(!crowded.is_empty())
    }

    /// The places have one token at least, or at most, together, for good.
    fn require(&mut self, places: &[u32], side: Side) -> Option<()> {
        let mut terms: Sparse = places.iter().map(|place| (*place, 1)).collect();
        terms.sort_unstable();
        terms.dedup();
        let start = i64::try_from(self.incidence.at_start(&terms)?).ok()?;
        // A variable of its own, so that no other bound of it is ever taken back.
        let variable = self.sum_of_places(&terms)?;
        self.tableau.bound_for_good(variable, side, 1i64.checked_sub(start)?);
        Some(())
    }

    /// A variable that is not whole in the solution, with the whole number below it: places first.
    fn fraction(&self) -> Option<(u32, i64)> {
        let places = (0..self.net.places.len() as u32).map(|place| self.tableau.of_place(place));
        let transitions = (0..self.net.transitions.len() as u32).map(|number| self.tableau.of_transition(number));
        places.chain(transitions).find_map(|variable| {
            let (numerator, denominator) = self.tableau.value(variable);
            let below = numerator.div_euclid(i128::from(denominator));
            (numerator % i128::from(denominator) != 0).then_some((variable, i64::try_from(below).ok()?))
        })
    }

    /// Transitions of the solution that have to wait for others, and those one of which has to fire before them.
    fn waiting(&self) -> Option<(Vec<u32>, Vec<u32>)> {
        let is_used = |number: usize| self.tableau.value(self.tableau.of_transition(number as u32)).0 > 0;
        let used: Vec<bool> = (0..self.net.transitions.len()).map(is_used).collect();
        let fires = traps::fireable(self.net, &self.arcs, &used);
        let waits = (0..used.len()).filter(|number| used[*number] && !fires[*number]);
        let waits: Vec<u32> = waits.map(|number| number as u32).collect();
        (!waits.is_empty()).then(|| (waits, traps::next_to_fire(self.net, &fires)))
    }

    /// The solution, if it is in whole numbers.
    fn solution(&self) -> Option<Vec<(u32, u64)>> {
        let mut counts = Vec::new();
        for number in 0..self.net.transitions.len() as u32 {
            let (numerator, denominator) = self.tableau.value(self.tableau.of_transition(number));
            if numerator % i128::from(denominator) != 0 {
                return None;
            }
            let count = u64::try_from(numerator / i128::from(denominator)).ok()?;
            if count > 0 {
                counts.push((number, count));
            }
        }
        Some(counts)
    }
}

/// A bound of a variable.
#[derive(Clone, Copy, Debug)]
struct Bound {
    variable: u32,
    side: Side,
    to: i64,
}

/// One way to go on.
#[derive(Clone, Debug)]
enum Case<'g> {
    Part(&'g Condition),
    Bounds(Vec<Bound>),
}

/// A place in the tree of cases: what to go back to, and what is left to try, last first.
struct Frame<'g> {
    mark: usize,
    open: usize,
    cases: Vec<Case<'g>>,
    is_fraction: bool,
}

/// The goal is not refuted; perhaps with a solution.
struct Open(Option<Vec<(u32, u64)>>);

/// The search through the cases of a goal.
struct Cases<'e, 'n, 'g, 's> {
    equation: &'e mut Equation<'n>,
    effort: Effort<'s>,
    /// Alternatives that have to be satisfied.
    open: Vec<&'g [Condition]>,
    frames: Vec<Frame<'g>>,
    seen: usize,
}

impl<'g> Cases<'_, '_, 'g, '_> {
    /// `Ok` if every case ends in a contradiction.
    fn run(&mut self, goal: &'g Condition) -> Result<(), Open> {
        if !self.demand(goal)? {
            return Ok(());
        }
        loop {
            let is_contradiction = match self.equation.tableau.check(self.effort.budget, &mut self.effort.pivots) {
                Check::Unknown => return Err(Open(None)),
                Check::Infeasible(conflict) if !self.equation.tableau.proves(&conflict) => return Err(Open(None)),
                Check::Infeasible(_) => true,
                Check::Feasible => !self.refine()?,
            };
            if is_contradiction && !self.next_case()? {
                return Ok(());
            }
        }
    }

    /// Demands a condition. False if it contradicts a bound.
    fn demand(&mut self, condition: &'g Condition) -> Result<bool, Open> {
        match condition {
            Condition::Const(value) => Ok(*value),
            Condition::AtMost { terms, .. } if terms.is_empty() => Err(Open(None)),
            Condition::AtMost { terms, most } => {
                let bound = self.equation.as_bound(terms, *most).ok_or(Open(None))?;
                Ok(self.equation.tableau.bound(bound.variable, bound.side, bound.to))
            }
            Condition::And(parts) => {
                for part in parts {
                    if !self.demand(part)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Condition::Or(parts) => {
                self.open.push(parts);
                Ok(true)
            }
        }
    }

    /// A solution was found: demands more, or gives up. False if there is nothing more to demand but a contradiction.
    fn refine(&mut self) -> Result<bool, Open> {
        if self.seen > self.effort.cases || self.effort.budget.check().is_err() {
            return Err(Open(None));
        }
        self.seen += 1;
        if let Some(cases) = self.alternatives() {
            return self.split(cases, false);
        }
        if self.equation.cut().ok_or(Open(None))? {
            return Ok(true);
        }
        if let Some((variable, below)) = self.equation.fraction() {
            if self.frames.iter().filter(|frame| frame.is_fraction).count() >= MOST_FRACTIONS {
                return Err(Open(None));
            }
            let above = below.checked_add(1).ok_or(Open(None))?;
            let down = Case::Bounds(vec![Bound { variable, side: Side::Upper, to: below }]);
            let up = Case::Bounds(vec![Bound { variable, side: Side::Lower, to: above }]);
            return self.split(vec![up, down], true);
        }
        let Some((waiting, helping)) = self.equation.waiting() else { return Err(Open(self.equation.solution())) };
        self.split_by_order(waiting, helping)
    }

    fn split_by_order(&mut self, waiting: Vec<u32>, helping: Vec<u32>) -> Result<bool, Open> {
        let tableau = &mut self.equation.tableau;
        let never = waiting.iter().map(|number| tableau.of_transition(*number));
        let never = never.map(|variable| Bound { variable, side: Side::Upper, to: 0 }).collect();
        let mut cases = vec![Case::Bounds(never)];
        if !helping.is_empty() {
            let sum = helping.iter().map(|number| (tableau.of_transition(*number), 1)).collect();
            let variable = tableau.sum(sum).ok_or(Open(None))?;
            cases.insert(0, Case::Bounds(vec![Bound { variable, side: Side::Lower, to: 1 }]));
        }
        self.split(cases, false)
    }

    /// The cases of an alternative that the solution does not satisfy, those left out that bounds exclude: of several
    /// the one with the fewest.
    fn alternatives(&self) -> Option<Vec<Case<'g>>> {
        let equation = &*self.equation;
        let unmet = self.open.iter().filter(|parts| !parts.iter().any(|part| equation.satisfies(part)));
        let possible = unmet.take(MOST_COMPARED).map(|parts| {
            let parts = parts.iter().filter(|part| !equation.excludes(part));
            parts.map(Case::Part).collect::<Vec<_>>()
        });
        possible.min_by_key(Vec::len)
    }

    /// Goes into the last of some cases and remembers the others. False if none of them is possible.
    fn split(&mut self, cases: Vec<Case<'g>>, is_fraction: bool) -> Result<bool, Open> {
        let mark = self.equation.tableau.mark();
        self.frames.push(Frame { mark, open: self.open.len(), cases, is_fraction });
        self.next_case()
    }

    /// Goes to the next case that does not contradict a bound. False if there is none.
    fn next_case(&mut self) -> Result<bool, Open> {
        while let Some(frame) = self.frames.last_mut() {
            self.equation.tableau.undo(frame.mark);
            self.open.truncate(frame.open);
            let Some(case) = frame.cases.pop() else {
                self.frames.pop();
                continue;
            };
            if self.enter(&case)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn enter(&mut self, case: &Case<'g>) -> Result<bool, Open> {
        match case {
            Case::Part(condition) => self.demand(condition),
            Case::Bounds(bounds) => {
                let tableau = &mut self.equation.tableau;
                Ok(bounds.iter().all(|bound| tableau.bound(bound.variable, bound.side, bound.to)))
            }
        }
    }
}
