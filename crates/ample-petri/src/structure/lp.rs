//! Linear programs in exact arithmetic: the simplex method over a sparse tableau, made to be asked again and again.
//!
//! Variables are transitions (how often they fire), places (by how many tokens they have gained) and sums of these. All
//! are integers in a net and all bounds on them are, but the solutions here may be fractions. As in solvers for
//! arithmetic (B. Dutertre and L. de Moura, CAV 2006) bounds come and go and the tableau stays, so that the next
//! question begins where the last one ended. A row is `scale · basic = Σ factor · variable`, in integers; variables
//! that are not basic stand at integers.
//!
//! A contradiction is a [`Conflict`], a sum that is zero by definition and positive by the bounds. It is checked
//! against the definitions alone ([`Tableau::proves`]), so nothing that pivoting does has to be trusted.

use super::Incidence;
use super::sparse::{self, Sparse};
use ample_budget::Budget;

/// More entries than this in a tableau are given up.
const MOST_ENTRIES: usize = 4_000_000;

/// A side of a variable's interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Lower,
    Upper,
}

/// What is known of the bounds.
#[derive(Debug)]
pub(crate) enum Check {
    /// The values of the tableau satisfy them.
    Feasible,
    /// They contradict each other.
    Infeasible(Conflict),
    /// A limit was met or a number did not fit.
    Unknown,
}

/// The most that a variable can be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Maximum {
    /// The row that shows it: `scale · variable = Σ factor · other`, each as great as it can be.
    Row { scale: i64, terms: Sparse },
    /// There is none.
    Unbounded,
    /// A limit was met or a number did not fit.
    Unknown,
}

/// Factors of variables: the sum is zero whatever the transitions do, and positive by the bounds.
#[derive(Debug)]
pub(crate) struct Conflict(Vec<(u32, i128)>);

#[derive(Debug)]
struct Row {
    basic: u32,
    scale: i64,
    terms: Sparse,
    /// `Σ factor · value`
    sum: i128,
}

/// A number did not fit, or the tableau has become too large; it must not be used any more.
struct Broken;

#[derive(Debug)]
pub(crate) struct Tableau {
    transitions: usize,
    places: usize,
    /// What variables after the transitions stand for: places in transitions, sums in both.
    definitions: Vec<Sparse>,
    rows: Vec<Row>,
    /// The row of a basic variable.
    home: Vec<Option<u32>>,
    /// Rows in which a variable occurs. Some may have lost it since, some may be there twice.
    columns: Vec<Vec<u32>>,
    /// Values of variables that are not basic.
    values: Vec<i64>,
    lower: Vec<Option<i64>>,
    upper: Vec<Option<i64>>,
    /// Variables after the transitions are multiples of these.
    grains: Vec<i64>,
    /// Bounds to go back to.
    trail: Vec<(u32, Side, Option<i64>)>,
    /// Every row whose basic variable is out of its bounds, and some others.
    suspects: Vec<u32>,
    is_suspect: Vec<bool>,
    entries: usize,
    broken: bool,
}

impl Tableau {
    /// The state equation: transitions fire at least zero times, places lose at most what they have.
    pub(crate) fn new(incidence: &Incidence) -> Tableau {
        let transitions = incidence.columns.len();
        let places = incidence.rows.len();
        let mut tableau = Tableau {
            transitions,
            places,
            definitions: incidence.rows.clone(),
            rows: Vec::with_capacity(places),
            home: vec![None; transitions],
            columns: vec![Vec::new(); transitions],
            values: vec![0; transitions],
            lower: vec![Some(0); transitions],
            upper: vec![None; transitions],
            grains: incidence.rows.iter().map(|row| grain(row.iter().map(|term| i128::from(term.1)))).collect(),
            trail: Vec::new(),
            suspects: Vec::new(),
            is_suspect: Vec::new(),
            entries: 0,
            broken: false,
        };
        for (place, row) in incidence.rows.iter().enumerate() {
            let variable = tableau.variable();
            tableau.place_row(Row { basic: variable, scale: 1, terms: row.clone(), sum: 0 });
            tableau.lower[variable as usize] = Some(-incidence.initial[place]);
        }
        tableau
    }

    /// The variable of a transition.
    pub(crate) fn of_transition(&self, transition: u32) -> u32 {
        transition
    }

    /// The variable of a place.
    pub(crate) fn of_place(&self, place: u32) -> u32 {
        self.transitions as u32 + place
    }

    /// The place that a variable stands for.
    pub(crate) fn as_place(&self, variable: u32) -> Option<u32> {
        let place = (variable as usize).checked_sub(self.transitions)?;
        (place < self.places).then_some(place as u32)
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.broken
    }

    pub(crate) fn sums(&self) -> usize {
        self.definitions.len() - self.places
    }

    pub(crate) fn bounds(&self, variable: u32) -> (Option<i64>, Option<i64>) {
        (self.lower[variable as usize], self.upper[variable as usize])
    }

    /// The value, as a numerator and a positive denominator.
    pub(crate) fn value(&self, variable: u32) -> (i128, i64) {
        match self.home[variable as usize] {
            Some(row) => (self.rows[row as usize].sum, self.rows[row as usize].scale),
            None => (i128::from(self.values[variable as usize]), 1),
        }
    }

    fn variable(&mut self) -> u32 {
        self.home.push(None);
        self.columns.push(Vec::new());
        self.values.push(0);
        self.lower.push(None);
        self.upper.push(None);
        self.home.len() as u32 - 1
    }

    fn place_row(&mut self, row: Row) {
        let number = self.rows.len() as u32;
        for (variable, _) in &row.terms {
            self.columns[*variable as usize].push(number);
        }
        self.home[row.basic as usize] = Some(number);
        self.entries += row.terms.len();
        self.rows.push(row);
        self.is_suspect.push(false);
    }

    /// A new variable for a sum of transitions and places; `None` if a number does not fit.
    pub(crate) fn sum(&mut self, definition: Sparse) -> Option<u32> {
        let mut scale = 1i64;
        let mut terms: Sparse = Vec::new();
        for (variable, factor) in &definition {
            let (from, by): (&[(u32, i64)], i64) = match self.home[*variable as usize] {
                Some(row) => (&self.rows[row as usize].terms, self.rows[row as usize].scale),
                None => (&[(*variable, 1)], 1),
            };
            let common = sparse::gcd(scale.unsigned_abs(), by.unsigned_abs()) as i64;
            terms = sparse::combine(&terms, by / common, from, factor.checked_mul(scale / common)?)?;
            scale = scale.checked_mul(by / common)?;
        }
        let common = sparse::common_divisor(scale.unsigned_abs(), &terms);
        sparse::divide(&mut terms, common);
        scale /= common as i64;
        let sum = self.weigh(&terms)?;
        let wide: Vec<(u32, i128)> = definition.iter().map(|term| (term.0, i128::from(term.1))).collect();
        let grain = grain(self.expanded(&wide)?.into_iter().map(|term| term.1));
        let variable = self.variable();
        self.grains.push(grain);
        self.definitions.push(definition);
        self.place_row(Row { basic: variable, scale, terms, sum });
        Some(variable)
    }

    fn weigh(&self, terms: &[(u32, i64)]) -> Option<i128> {
        terms.iter().try_fold(0i128, |sum, (variable, factor)| {
            sum.checked_add(i128::from(*factor) * i128::from(self.values[*variable as usize]))
        })
    }

    /// Where the trail is: to be given to [`Tableau::undo`].
    pub(crate) fn mark(&self) -> usize {
        self.trail.len()
    }

    /// Takes back all bounds since.
    pub(crate) fn undo(&mut self, mark: usize) {
        while self.trail.len() > mark {
            let Some((variable, side, old)) = self.trail.pop() else { return };
            match side {
                Side::Lower => self.lower[variable as usize] = old,
                Side::Upper => self.upper[variable as usize] = old,
            }
        }
    }

    /// A bound until it is undone. False if it contradicts the variable's other bound.
    pub(crate) fn bound(&mut self, variable: u32, side: Side, to: i64) -> bool {
        let index = variable as usize;
        let to = self.rounded(variable, side, to);
        let (old, other) = match side {
            Side::Lower => (self.lower[index], self.upper[index]),
            Side::Upper => (self.upper[index], self.lower[index]),
        };
        let is_tighter = |old: i64| if side == Side::Lower { to > old } else { to < old };
        if !old.is_none_or(is_tighter) {
            return true;
        }
        // Not set where it contradicts the other: a variable that is not basic would have no place to stand.
        let is_possible = other.is_none_or(|other| if side == Side::Lower { to <= other } else { to >= other });
        if is_possible {
            self.trail.push((variable, side, old));
            self.set(variable, side, to);
        }
        is_possible
    }

    /// A bound for good: for what is true in every reachable marking, on a variable that has no other bounds yet.
    pub(crate) fn bound_for_good(&mut self, variable: u32, side: Side, to: i64) {
        self.set(variable, side, to);
    }

    /// A bound of a variable as one that it can reach, being a multiple of its grain.
    fn rounded(&self, variable: u32, side: Side, to: i64) -> i64 {
        let definition = (variable as usize).checked_sub(self.transitions);
        let grain = definition.map_or(1, |definition| self.grains[definition]);
        let beyond = to.rem_euclid(grain);
        let rounded = match side {
            Side::Upper => to.checked_sub(beyond),
            Side::Lower if beyond == 0 => Some(to),
            Side::Lower => to.checked_add(grain - beyond),
        };
        rounded.unwrap_or(to)
    }

    fn set(&mut self, variable: u32, side: Side, to: i64) {
        let index = variable as usize;
        match side {
            Side::Lower => self.lower[index] = Some(to),
            Side::Upper => self.upper[index] = Some(to),
        }
        match self.home[index] {
            Some(row) => self.suspect(row),
            None => {
                let value = self.values[index];
                if (side == Side::Lower && value < to) || (side == Side::Upper && value > to) {
                    self.broken |= self.move_to(variable, to).is_err();
                }
            }
        }
    }

    fn suspect(&mut self, row: u32) {
        if !self.is_suspect[row as usize] {
            self.is_suspect[row as usize] = true;
            self.suspects.push(row);
        }
    }

    /// The rows in which a variable occurs, each once.
    fn column(&mut self, variable: u32) -> Vec<u32> {
        let mut column = std::mem::take(&mut self.columns[variable as usize]);
        column.sort_unstable();
        column.dedup();
        column.retain(|row| sparse::at(&self.rows[*row as usize].terms, variable) != 0);
        column
    }

    /// Gives a variable that is not basic another value.
    fn move_to(&mut self, variable: u32, value: i64) -> Result<(), Broken> {
        let by = i128::from(value) - i128::from(self.values[variable as usize]);
        self.values[variable as usize] = value;
        let column = self.column(variable);
        for row in &column {
            let change = by.checked_mul(i128::from(sparse::at(&self.rows[*row as usize].terms, variable)));
            let sum = &mut self.rows[*row as usize].sum;
            *sum = change.and_then(|change| sum.checked_add(change)).ok_or(Broken)?;
            self.suspect(*row);
        }
        self.columns[variable as usize] = column;
        Ok(())
    }

    /// The bound that a row's basic variable breaks.
    fn broken_bound(&self, row: &Row) -> Option<(Side, i64)> {
        let compared = |bound: i64| i128::from(bound) * i128::from(row.scale);
        let index = row.basic as usize;
        if let Some(lower) = self.lower[index].filter(|lower| row.sum < compared(*lower)) {
            return Some((Side::Lower, lower));
        }
        let upper = self.upper[index].filter(|upper| row.sum > compared(*upper))?;
        Some((Side::Upper, upper))
    }

    fn next_suspect(&mut self) -> Option<(u32, Side, i64)> {
        let mut suspects = std::mem::take(&mut self.suspects);
        let mut least: Option<(u32, u32, Side, i64)> = None;
        suspects.retain(|number| {
            let row = &self.rows[*number as usize];
            let Some((side, bound)) = self.broken_bound(row) else {
                self.is_suspect[*number as usize] = false;
                return false;
            };
            if least.is_none_or(|least| row.basic < least.0) {
                least = Some((row.basic, *number, side, bound));
            }
            true
        });
        self.suspects = suspects;
        least.map(|(_, row, side, bound)| (row, side, bound))
    }

    fn can_move(&self, variable: u32, up: bool) -> bool {
        let value = self.values[variable as usize];
        match up {
            true => self.upper[variable as usize].is_none_or(|upper| value < upper),
            false => self.lower[variable as usize].is_none_or(|lower| value > lower),
        }
    }

    /// A variable whose change moves the row's sum up, or down; the one in the fewest rows, or (`first`, which always
    /// comes to an end) the first one.
    fn entering(&self, row: u32, up: bool, first: bool) -> Option<u32> {
        let terms = self.rows[row as usize].terms.iter();
        let mut movable = terms.filter(|(variable, factor)| self.can_move(*variable, (*factor > 0) == up));
        let chosen = match first {
            true => movable.next(),
            false => movable.min_by_key(|(variable, _)| self.columns[*variable as usize].len()),
        };
        chosen.map(|(variable, _)| *variable)
    }

    /// Looks for values within all bounds.
    pub(crate) fn check(&mut self, budget: &Budget, pivots: &mut usize) -> Check {
        let patience = 2 * self.rows.len().min(500) + 50;
        let mut count = 0usize;
        while !self.broken {
            let Some((row, side, bound)) = self.next_suspect() else { return Check::Feasible };
            let up = side == Side::Lower;
            let Some(variable) = self.entering(row, up, count > patience) else {
                return Check::Infeasible(self.conflict(row, up));
            };
            if *pivots == 0 || budget.check().is_err() {
                return Check::Unknown;
            }
            *pivots -= 1;
            count += 1;
            self.broken |= self.pivot(row, variable, bound).is_err();
        }
        Check::Unknown
    }

    /// `scale · basic - Σ factor · variable`, or its negation.
    fn conflict(&self, row: u32, up: bool) -> Conflict {
        let row = &self.rows[row as usize];
        let sign = if up { 1 } else { -1 };
        let mut factors = vec![(row.basic, sign * i128::from(row.scale))];
        factors.extend(row.terms.iter().map(|(variable, factor)| (*variable, -sign * i128::from(*factor))));
        Conflict(factors)
    }

    /// The sum of a conflict is zero by definition and positive by the bounds. False also if a number does not fit.
    pub(crate) fn proves(&self, conflict: &Conflict) -> bool {
        self.least(&conflict.0).is_some_and(|least| least > 0)
            && self.expanded(&conflict.0).is_some_and(|left| left.is_empty())
    }

    /// The least value of a sum within the bounds.
    fn least(&self, factors: &[(u32, i128)]) -> Option<i128> {
        factors.iter().try_fold(0i128, |sum, (variable, factor)| {
            let (lower, upper) = self.bounds(*variable);
            let bound = if *factor > 0 { lower? } else { upper? };
            sum.checked_add(factor.checked_mul(i128::from(bound))?)
        })
    }

    /// A sum in terms of transitions alone, by the definitions.
    fn expanded(&self, factors: &[(u32, i128)]) -> Option<Vec<(u32, i128)>> {
        let mut factors = factors.to_vec();
        // Sums are of places and transitions, places of transitions.
        for _ in 0..2 {
            let mut parts = Vec::new();
            for (variable, factor) in factors {
                let Some(definition) = (variable as usize).checked_sub(self.transitions) else {
                    parts.push((variable, factor));
                    continue;
                };
                for (inner, times) in &self.definitions[definition] {
                    parts.push((*inner, factor.checked_mul(i128::from(*times))?));
                }
            }
            factors = sparse::collected(parts)?;
        }
        factors.iter().all(|(variable, _)| (*variable as usize) < self.transitions).then_some(factors)
    }

    /// Exchanges a basic variable, which gets a value, and one that is not.
    fn pivot(&mut self, number: u32, entering: u32, value: i64) -> Result<(), Broken> {
        let column = self.column(entering);
        let row = &self.rows[number as usize];
        let leaving = row.basic;
        let factor = sparse::at(&row.terms, entering);
        let sign = factor.signum();
        let scale = factor.checked_abs().ok_or(Broken)?;
        let own = row.scale.checked_mul(sign).ok_or(Broken)?;
        let rest: Sparse = row.terms.iter().filter(|term| term.0 != entering).copied().collect();
        let terms = sparse::combine(&rest, -sign, &[(leaving, own)], 1).ok_or(Broken)?;
        self.values[leaving as usize] = value;
        self.home[leaving as usize] = None;
        self.home[entering as usize] = Some(number);
        self.columns[leaving as usize].push(number);
        self.exchange(number, Row { basic: entering, scale, terms, sum: 0 })?;
        for other in column {
            if other != number {
                self.substitute(other, number, entering)?;
            }
        }
        Ok(())
    }

    /// Puts a row into the place of another, with its sum.
    fn exchange(&mut self, number: u32, mut row: Row) -> Result<(), Broken> {
        row.sum = self.weigh(&row.terms).ok_or(Broken)?;
        self.entries = self.entries + row.terms.len() - self.rows[number as usize].terms.len();
        self.rows[number as usize] = row;
        self.suspect(number);
        // Within a pivot too: one alone can fill a large tableau.
        if self.entries > MOST_ENTRIES { Err(Broken) } else { Ok(()) }
    }

    /// Notes that a variable occurs in a row.
    fn note(&mut self, variable: u32, row: u32) {
        self.columns[variable as usize].push(row);
        if self.columns[variable as usize].len() > 2 * self.rows.len() + 64 {
            self.columns[variable as usize] = self.column(variable);
        }
    }

    /// Replaces a variable that has become basic by its row.
    fn substitute(&mut self, target: u32, source: u32, variable: u32) -> Result<(), Broken> {
        let (old, from) = (&self.rows[target as usize], &self.rows[source as usize]);
        let factor = sparse::at(&old.terms, variable);
        let common = sparse::gcd(factor.unsigned_abs(), from.scale.unsigned_abs()) as i64;
        let by = from.scale / common;
        let rest: Sparse = old.terms.iter().filter(|term| term.0 != variable).copied().collect();
        let mut terms = sparse::combine(&rest, by, &from.terms, factor / common).ok_or(Broken)?;
        let scale = old.scale.checked_mul(by).ok_or(Broken)?;
        let shared = sparse::common_divisor(scale.unsigned_abs(), &terms);
        sparse::divide(&mut terms, shared);
        let row = Row { basic: old.basic, scale: scale / shared as i64, terms, sum: 0 };
        let new: Vec<u32> =
            from.terms.iter().map(|term| term.0).filter(|inner| sparse::at(&rest, *inner) == 0).collect();
        self.exchange(target, row)?;
        new.into_iter().for_each(|inner| self.note(inner, target));
        Ok(())
    }

    /// The most that a variable can be, from values within all bounds.
    pub(crate) fn maximise(&mut self, variable: u32, budget: &Budget, pivots: &mut usize) -> Maximum {
        let patience = 2 * self.rows.len().min(500) + 50;
        let mut count = 0usize;
        while !self.broken {
            let (entering, up) = match self.home[variable as usize] {
                None if self.can_move(variable, true) => (variable, true),
                None => return Maximum::Row { scale: 1, terms: vec![(variable, 1)] },
                Some(row) => match self.entering(row, true, count > patience) {
                    Some(entering) => (entering, sparse::at(&self.rows[row as usize].terms, entering) > 0),
                    None => {
                        let row = &self.rows[row as usize];
                        return Maximum::Row { scale: row.scale, terms: row.terms.clone() };
                    }
                },
            };
            if *pivots == 0 || budget.check().is_err() {
                return Maximum::Unknown;
            }
            *pivots -= 1;
            count += 1;
            match self.climb(entering, up) {
                Ok(true) => {}
                Ok(false) => return Maximum::Unbounded,
                Err(Broken) => self.broken = true,
            }
        }
        Maximum::Unknown
    }

    /// Moves a variable as far as the bounds allow. False if nothing stops it.
    fn climb(&mut self, entering: u32, up: bool) -> Result<bool, Broken> {
        let column = self.column(entering);
        self.columns[entering as usize] = column.clone();
        // The least step, as a fraction, with the row that allows no more; ties go to the first variable.
        let mut least: Option<(i128, i128, u32, i64)> = None;
        for number in column {
            let row = &self.rows[number as usize];
            let factor = sparse::at(&row.terms, entering);
            let rises = (factor > 0) == up;
            let index = row.basic as usize;
            let bound = if rises { self.upper[index] } else { self.lower[index] };
            let Some(bound) = bound else { continue };
            let room = (i128::from(bound) * i128::from(row.scale)).checked_sub(row.sum).ok_or(Broken)?.abs();
            let pace = i128::from(factor).abs();
            let is_less = match least {
                None => true,
                Some((other, its_pace, holder, _)) => {
                    let (left, right) = (room.checked_mul(its_pace), other.checked_mul(pace));
                    let order = left.ok_or(Broken)?.cmp(&right.ok_or(Broken)?);
                    order.is_lt() || (order.is_eq() && row.basic < self.rows[holder as usize].basic)
                }
            };
            if is_less {
                least = Some((room, pace, number, bound));
            }
        }
        let own = if up { self.upper[entering as usize] } else { self.lower[entering as usize] };
        let own_room = own.map(|own| (i128::from(own) - i128::from(self.values[entering as usize])).abs());
        match (least, own, own_room) {
            (None, None, _) => Ok(false),
            (Some((room, pace, row, bound)), _, own_room)
                if own_room.is_none_or(|own| own.checked_mul(pace).is_none_or(|own| room <= own)) =>
            {
                self.pivot(row, entering, bound).map(|()| true)
            }
            (_, Some(own), _) => self.move_to(entering, own).map(|()| true),
            _ => Err(Broken),
        }
    }
}

/// The greatest number that divides all; 1 if it does not fit, or there is nothing to divide.
fn grain(mut factors: impl Iterator<Item = i128>) -> i64 {
    let common = factors.try_fold(0u64, |common, factor| {
        Some(sparse::gcd(common, u64::try_from(factor.unsigned_abs()).ok()?)).filter(|common| *common != 1)
    });
    common.and_then(|common| i64::try_from(common).ok()).unwrap_or(1).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::{Net, Place, Transition};

    /// Two tokens that go from the first place to the second.
    fn tableau() -> Tableau {
        let place = |initial| Place { name: String::new(), initial, bound: None };
        let step = Transition { name: String::new(), takes: vec![(0, 1)], adds: vec![(1, 1)] };
        let net = Net { places: vec![place(2), place(0)], transitions: vec![step], exclusive: vec![] };
        Tableau::new(&Incidence::of(&net).expect("small numbers"))
    }

    #[test]
    fn a_conflict_counts_only_if_it_is_zero_by_definition_and_positive_by_the_bounds() {
        let mut tableau = tableau();
        let (first, second) = (tableau.of_place(0), tableau.of_place(1));
        let both = Conflict(vec![(first, 1), (second, 1)]);
        assert!(!tableau.proves(&both), "the bounds allow it to be zero");
        assert!(tableau.bound(second, Side::Lower, 3));
        assert!(tableau.proves(&both));
        assert!(!tableau.proves(&Conflict(vec![(second, 1)])), "positive, but not zero by definition");
        assert!(!tableau.proves(&Conflict(vec![(first, -1), (second, -1)])), "there is no upper bound");
        assert!(!tableau.proves(&Conflict(vec![(first, i128::MAX), (second, i128::MAX)])), "numbers do not fit");
    }

    #[test]
    fn bounds_come_and_go() {
        let mut tableau = tableau();
        let (first, second) = (tableau.of_place(0), tableau.of_place(1));
        let sum = tableau.sum(vec![(first, 1), (second, 2)]).expect("small numbers");
        for _ in 0..3 {
            let mark = tableau.mark();
            assert!(tableau.bound(sum, Side::Lower, 2));
            assert!(matches!(tableau.check(&Budget::unlimited(), &mut 100), Check::Feasible));
            assert_eq!(tableau.value(sum), (2, 1));
            assert!(tableau.bound(sum, Side::Lower, 3));
            let Check::Infeasible(conflict) = tableau.check(&Budget::unlimited(), &mut 100) else {
                panic!("only two tokens")
            };
            assert!(tableau.proves(&conflict));
            assert!(!tableau.bound(sum, Side::Upper, 1));
            tableau.undo(mark);
            assert!(matches!(tableau.check(&Budget::unlimited(), &mut 100), Check::Feasible));
        }
    }

    #[test]
    fn the_most_is_found_and_does_not_pass_a_bound() {
        let mut tableau = tableau();
        let second = tableau.of_place(1);
        assert!(matches!(tableau.maximise(second, &Budget::unlimited(), &mut 100), Maximum::Row { .. }));
        assert_eq!(tableau.value(second), (2, 1));
        let transition = tableau.of_transition(0);
        assert!(matches!(tableau.maximise(transition, &Budget::unlimited(), &mut 100), Maximum::Row { .. }));
        assert_eq!(tableau.value(transition), (2, 1));
    }
}
