//! Place invariants: weighted sums of tokens that no transition changes.
//!
//! [`semiflows`] finds those with positive weights and as few places as possible, by J. Farkas's method: rows begin as
//! single places; transition after transition, rows that it changes are replaced by sums of two that it does not
//! change, and rows with more places than another are dropped (J. Martínez and M. Silva, 1982). There can be
//! exponentially many, so the number of rows is limited; what is left out is missing in the answer, what is in it is
//! right. [`invariants`] gives a basis of all of them, with weights of any sign, by elimination.

use std::collections::BTreeSet;

use super::Incidence;
use super::sparse::{self, Sparse};
use crate::net::Net;
use ample_budget::Budget;

/// A weighted sum of tokens that never changes; weights are positive, places in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Semiflow {
    /// Places with their weights.
    pub weights: Vec<(u32, u64)>,
    /// The sum, at the start and always.
    pub tokens: u64,
}

/// What [`semiflows`] found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Semiflows {
    /// Semiflows with few places.
    pub flows: Vec<Semiflow>,
    /// These are all that have as few places as possible.
    pub complete: bool,
}

/// How far [`semiflows`] goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// At most so many rows are kept besides one for each place.
    pub rows: usize,
    /// At most so many pairs are added up for a transition.
    pub pairs: usize,
    /// At most so many entries of rows are written in all.
    pub work: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { rows: 5_000, pairs: 4_000, work: 20_000_000 }
    }
}

/// What [`invariants`] found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Invariants {
    /// Independent sums of tokens that never change: places with weights of any sign.
    pub basis: Vec<Vec<(u32, i64)>>,
    /// The rank of the net's matrix: places less the size of a whole basis. `None` if the basis is not whole.
    pub rank: Option<usize>,
}

/// Semiflows with as few places as possible.
///
/// ```
/// use ample_budget::Budget;
/// use ample_petri::net::{Net, Place, Transition};
/// use ample_petri::structure::semiflows::{Limits, semiflows};
///
/// let place = |name: &str, initial| Place { name: name.into(), initial, bound: None };
/// let there = Transition { name: "there".into(), takes: vec![(0, 1)], adds: vec![(1, 1)] };
/// let back = Transition { name: "back".into(), takes: vec![(1, 1)], adds: vec![(0, 1)] };
/// let net = Net { places: vec![place("a", 3), place("b", 0)], transitions: vec![there, back], exclusive: vec![] };
/// let found = semiflows(&net, Limits::default(), &Budget::unlimited());
/// assert!(found.complete);
/// assert_eq!(found.flows[0].weights, [(0, 1), (1, 1)]);
/// assert_eq!(found.flows[0].tokens, 3);
/// ```
pub fn semiflows(net: &Net, limits: Limits, budget: &Budget) -> Semiflows {
    let Some(incidence) = Incidence::of(net) else { return Semiflows::default() };
    let mut farkas = Farkas::new(&incidence, limits);
    while let Some((_, transition)) = farkas.queue.pop_first() {
        if budget.check().is_err() || farkas.work > limits.work {
            farkas.complete = false;
            break;
        }
        farkas.eliminate(transition, budget);
    }
    let rows = farkas.rows.iter().flatten().filter(|row| row.change.is_empty());
    let flows: Vec<Option<Semiflow>> = rows.map(|row| checked(&incidence, &row.weights)).collect();
    let complete = farkas.complete && flows.iter().all(Option::is_some);
    let mut flows: Vec<Semiflow> = flows.into_iter().flatten().collect();
    flows.sort_by(|left, right| left.weights.cmp(&right.weights));
    Semiflows { flows, complete }
}

/// Weights as a semiflow, if they are one.
fn checked(incidence: &Incidence, weights: &[(u32, i64)]) -> Option<Semiflow> {
    if !incidence.change(weights)?.is_empty() {
        return None;
    }
    let tokens = u64::try_from(incidence.at_start(weights)?).ok()?;
    let positive = |(place, weight): &(u32, i64)| Some((*place, u64::try_from(*weight).ok()?));
    Some(Semiflow { weights: weights.iter().map(positive).collect::<Option<_>>()?, tokens })
}

/// A weighted sum of tokens, and how transitions change it.
struct Row {
    weights: Sparse,
    change: Sparse,
}

struct Farkas {
    limits: Limits,
    rows: Vec<Option<Row>>,
    alive: usize,
    most: usize,
    work: usize,
    complete: bool,
    /// By transition the rows that it changes, by place the rows that it is in; some of them may be gone.
    changed: Vec<Vec<u32>>,
    within: Vec<Vec<u32>>,
    /// By transition how many rows it raises and lowers.
    raised: Vec<usize>,
    lowered: Vec<usize>,
    /// Transitions that are left, those first that leave the fewest rows.
    queue: BTreeSet<(i64, u32)>,
    /// For counting: places that a row shares with another.
    shared: Vec<u32>,
}

impl Farkas {
    fn new(incidence: &Incidence, limits: Limits) -> Farkas {
        let (places, transitions) = (incidence.rows.len(), incidence.columns.len());
        let mut farkas = Farkas {
            limits,
            rows: Vec::new(),
            alive: 0,
            most: places.saturating_add(limits.rows),
            work: 0,
            complete: true,
            changed: vec![Vec::new(); transitions],
            within: vec![Vec::new(); places],
            raised: vec![0; transitions],
            lowered: vec![0; transitions],
            queue: BTreeSet::new(),
            shared: Vec::new(),
        };
        for (place, change) in incidence.rows.iter().enumerate() {
            farkas.insert(Row { weights: vec![(place as u32, 1)], change: change.clone() });
        }
        farkas.queue = (0..transitions as u32).map(|number| (farkas.cost(number), number)).collect();
        farkas
    }

    /// How many rows more there are once a transition is done.
    fn cost(&self, transition: u32) -> i64 {
        let (raised, lowered) = (self.raised[transition as usize] as i64, self.lowered[transition as usize] as i64);
        raised.saturating_mul(lowered).saturating_sub(raised + lowered)
    }

    fn recount(&mut self, change: &[(u32, i64)], by: isize) {
        for (transition, factor) in change {
            let old = self.cost(*transition);
            let side = if *factor > 0 { &mut self.raised } else { &mut self.lowered };
            let count = &mut side[*transition as usize];
            *count = count.saturating_add_signed(by);
            if self.queue.remove(&(old, *transition)) {
                self.queue.insert((self.cost(*transition), *transition));
            }
        }
    }

    fn insert(&mut self, row: Row) {
        let number = self.rows.len() as u32;
        row.weights.iter().for_each(|(place, _)| self.within[*place as usize].push(number));
        row.change.iter().for_each(|(transition, _)| self.changed[*transition as usize].push(number));
        self.recount(&row.change, 1);
        self.work += row.weights.len() + row.change.len();
        self.alive += 1;
        self.shared.push(0);
        self.rows.push(Some(row));
    }

    fn remove(&mut self, number: u32) -> Option<Row> {
        let row = self.rows[number as usize].take()?;
        self.recount(&row.change, -1);
        self.alive -= 1;
        Some(row)
    }

    fn eliminate(&mut self, transition: u32, budget: &Budget) {
        let (mut raised, mut lowered) = (Vec::new(), Vec::new());
        for number in std::mem::take(&mut self.changed[transition as usize]) {
            let Some(row) = self.remove(number) else { continue };
            if sparse::at(&row.change, transition) > 0 { raised.push(row) } else { lowered.push(row) }
        }
        // Short sums first, in case not all can be made.
        raised.sort_by_key(|row| row.weights.len());
        lowered.sort_by_key(|row| row.weights.len());
        let mut pairs = 0;
        for up in &raised {
            for down in &lowered {
                if pairs >= self.limits.pairs
                    || self.alive >= self.most
                    || self.work > self.limits.work
                    || budget.check().is_err()
                {
                    self.complete = false;
                    return;
                }
                pairs += 1;
                match added(up, down, transition) {
                    Some(row) => self.keep_if_minimal(row),
                    None => self.complete = false,
                }
            }
        }
    }

    /// Keeps a row unless another has no other places; drops those that have more places than it.
    fn keep_if_minimal(&mut self, row: Row) {
        let mut met = Vec::new();
        for (place, _) in &row.weights {
            let mut within = std::mem::take(&mut self.within[*place as usize]);
            within.retain(|number| self.rows[*number as usize].is_some());
            for number in &within {
                if self.shared[*number as usize] == 0 {
                    met.push(*number);
                }
                self.shared[*number as usize] += 1;
            }
            self.work += within.len();
            self.within[*place as usize] = within;
        }
        let mut larger = Vec::new();
        let mut is_minimal = true;
        for number in met {
            let shared = std::mem::take(&mut self.shared[number as usize]) as usize;
            let Some(other) = &self.rows[number as usize] else { continue };
            is_minimal &= shared < other.weights.len();
            if shared == row.weights.len() {
                larger.push(number);
            }
        }
        if is_minimal {
            for number in larger {
                self.remove(number);
            }
            self.insert(row);
        }
    }
}

/// The sum of two rows that a transition does not change.
fn added(up: &Row, down: &Row, transition: u32) -> Option<Row> {
    let (rise, fall) = (sparse::at(&up.change, transition), sparse::at(&down.change, transition));
    let common = sparse::gcd(rise.unsigned_abs(), fall.unsigned_abs());
    let by = i64::try_from(fall.unsigned_abs() / common).ok()?;
    let times = i64::try_from(rise.unsigned_abs() / common).ok()?;
    let mut weights = sparse::combine(&up.weights, by, &down.weights, times)?;
    let mut change = sparse::combine(&up.change, by, &down.change, times)?;
    let common = sparse::common_divisor(sparse::common_divisor(0, &weights), &change);
    sparse::divide(&mut weights, common);
    sparse::divide(&mut change, common);
    Some(Row { weights, change })
}

/// A basis of all place invariants, and the rank of the net's matrix.
pub fn invariants(net: &Net, budget: &Budget) -> Invariants {
    let Some(incidence) = Incidence::of(net) else { return Invariants::default() };
    // Without pairs to choose from elimination is Farkas's method with one row that is added to all others.
    let mut farkas = Farkas::new(&incidence, Limits { rows: 0, ..Limits::default() });
    let mut rank = 0;
    while let Some((_, transition)) = farkas.queue.pop_first() {
        if budget.check().is_err() || farkas.work > farkas.limits.work {
            farkas.complete = false;
            break;
        }
        let numbers = std::mem::take(&mut farkas.changed[transition as usize]);
        let mut rows: Vec<Row> = numbers.into_iter().filter_map(|number| farkas.remove(number)).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.weights.len() + row.change.len()));
        let Some(pivot) = rows.pop() else { continue };
        rank += 1;
        for row in rows {
            match cancelled(&row, &pivot, transition) {
                Some(row) => farkas.insert(row),
                None => farkas.complete = false,
            }
        }
    }
    let rows = farkas.rows.into_iter().flatten().filter(|row| row.change.is_empty());
    let holds = |row: &Row| incidence.change(&row.weights).is_some_and(|change| change.is_empty());
    let basis: Vec<Sparse> = rows.filter(holds).map(|row| row.weights).collect();
    let is_whole = farkas.complete && basis.len() + rank == net.places.len();
    Invariants { basis, rank: is_whole.then_some(rank) }
}

/// A row less so much of another that a transition does not change it.
fn cancelled(row: &Row, pivot: &Row, transition: u32) -> Option<Row> {
    let (own, other) = (sparse::at(&row.change, transition), sparse::at(&pivot.change, transition));
    let common = sparse::gcd(own.unsigned_abs(), other.unsigned_abs());
    let by = other.checked_div(i64::try_from(common).ok()?)?;
    let times = own.checked_div(i64::try_from(common).ok()?)?.checked_neg()?;
    let mut weights = sparse::combine(&row.weights, by, &pivot.weights, times)?;
    let mut change = sparse::combine(&row.change, by, &pivot.change, times)?;
    let common = sparse::common_divisor(sparse::common_divisor(0, &weights), &change);
    sparse::divide(&mut weights, common);
    sparse::divide(&mut change, common);
    Some(Row { weights, change })
}
