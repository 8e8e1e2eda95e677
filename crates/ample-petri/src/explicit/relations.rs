//! Who takes from a place and who adds to it: arcs by transition and by place, in flat tables.

use std::collections::HashSet;

use ample_model::Reason;

use crate::net::{Condition, Net, Sum};

/// Rows of different lengths, one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows<T> {
    starts: Vec<u32>,
    items: Vec<T>,
}

impl<T: Copy + Default> Rows<T> {
    /// Sorted into so many rows, each in the order of the items.
    pub fn sorted(rows: usize, items: impl Iterator<Item = (u32, T)> + Clone) -> Rows<T> {
        let mut starts = vec![0_u32; rows + 1];
        items.clone().for_each(|(row, _)| starts[row as usize + 1] += 1);
        for row in 0..rows {
            starts[row + 1] += starts[row];
        }
        let mut places = starts.clone();
        let mut sorted = vec![T::default(); starts[rows] as usize];
        for (row, item) in items {
            let place = &mut places[row as usize];
            sorted[*place as usize] = item;
            *place += 1;
        }
        Rows { starts, items: sorted }
    }

    /// A row.
    #[inline]
    pub fn row(&self, row: u32) -> &[T] {
        &self.items[self.starts[row as usize] as usize..self.starts[row as usize + 1] as usize]
    }
}

/// The arcs of a net.
#[derive(Clone, Debug)]
pub(super) struct Relations {
    /// By transition: the tokens that it needs.
    pub takes: Rows<(u32, u64)>,
    /// By transition: how it changes places.
    pub changes: Rows<(u32, i64)>,
    /// By place: who needs how many tokens there.
    pub consumers: Rows<(u32, u64)>,
    /// By place: who changes it and how.
    pub changers: Rows<(u32, i64)>,
    /// By place: who leaves more tokens there.
    pub raisers: Rows<u32>,
    /// By place: who leaves fewer tokens there.
    pub lowerers: Rows<u32>,
    transitions: usize,
    places: usize,
}

/// Arcs beyond this weight are refused, so that no difference of two overflows.
const MAX_WEIGHT: u64 = i64::MAX as u64;

impl Relations {
    /// The arcs of a net; or why they cannot be worked with.
    pub fn of(net: &Net) -> Result<Relations, Reason> {
        let (places, transitions) = (net.places.len(), net.transitions.len());
        let arcs = || net.transitions.iter().flat_map(|t| t.takes.iter().chain(&t.adds));
        if arcs().any(|(place, weight)| *place as usize >= places || *weight > MAX_WEIGHT) {
            return Err(Reason::Unsupported("an arc has no place, or its weight is too large".into()));
        }
        if transitions >= u32::MAX as usize / 2 || arcs().count() >= u32::MAX as usize {
            return Err(Reason::Unsupported("the net is too large to be searched state by state".into()));
        }
        let takes: Vec<(u32, (u32, u64))> = numbered(net, |t| t.takes.clone());
        let changes: Vec<(u32, (u32, i64))> = numbered(net, |t| t.effect());
        let by_place = |(t, (place, weight)): &(u32, (u32, u64))| (*place, (*t, *weight));
        let changed = |(t, (place, change)): &(u32, (u32, i64))| (*place, (*t, *change));
        let signed = |sign: i64| {
            let these = changes.iter().filter(move |(_, (_, change))| change.signum() == sign);
            Rows::sorted(places, these.map(|(t, (place, _))| (*place, *t)))
        };
        Ok(Relations {
            takes: Rows::sorted(transitions, takes.iter().copied()),
            changes: Rows::sorted(transitions, changes.iter().copied()),
            consumers: Rows::sorted(places, takes.iter().map(by_place)),
            changers: Rows::sorted(places, changes.iter().map(changed)),
            raisers: signed(1),
            lowerers: signed(-1),
            transitions,
            places,
        })
    }

    /// How many places there are.
    pub fn places(&self) -> usize {
        self.places
    }

    /// How many transitions there are.
    pub fn transitions(&self) -> usize {
        self.transitions
    }

    /// How transitions change a sum, those left out that do not.
    pub fn changes_of(&self, terms: impl Iterator<Item = (u32, i64)>) -> Vec<(u32, i128)> {
        let mut all: Vec<(u32, i128)> = Vec::new();
        for (place, factor) in terms {
            let of_place = self.changers.row(place).iter();
            all.extend(of_place.map(|(t, change)| (*t, i128::from(*change) * i128::from(factor))));
        }
        all.sort_by_key(|(t, _)| *t);
        all.dedup_by(|later, first| {
            let same = later.0 == first.0;
            if same {
                first.1 += later.1;
            }
            same
        });
        all.retain(|(_, change)| *change != 0);
        all
    }

    /// The transitions without which the condition cannot become true where it is false.
    pub fn helpers(&self, condition: &Condition) -> Vec<u32> {
        let mut helpers = Vec::new();
        each_sum(condition, &mut |terms| {
            let changes = self.changes_of(terms.iter().copied());
            helpers.extend(changes.iter().filter(|(_, change)| *change < 0).map(|(t, _)| *t));
        });
        helpers.sort_unstable();
        helpers.dedup();
        helpers
    }

    /// The transitions that can change whether the condition is true.
    pub fn touches(&self, condition: &Condition, visit: &mut dyn FnMut(u32)) {
        each_sum(condition, &mut |terms| {
            self.changes_of(terms.iter().copied()).iter().for_each(|(t, _)| visit(*t));
        });
    }

    /// The condition reads only places that there are.
    pub fn check(&self, condition: &Condition) -> Result<(), Reason> {
        let mut known = true;
        condition.places(&mut |place| known &= (place as usize) < self.places);
        if known { Ok(()) } else { Err(missing()) }
    }

    /// The sum reads only places that there are.
    pub fn check_sum(&self, sum: &Sum) -> Result<(), Reason> {
        if sum.terms.keys().all(|place| (*place as usize) < self.places) { Ok(()) } else { Err(missing()) }
    }
}

/// Calls `visit` for every sum that the condition compares, once for each.
fn each_sum<'c>(condition: &'c Condition, visit: &mut dyn FnMut(&'c [(u32, i64)])) {
    let (mut parts, mut sums) = (HashSet::new(), HashSet::new());
    let mut open = vec![condition];
    while let Some(condition) = open.pop() {
        match condition {
            Condition::Const(_) => {}
            Condition::AtMost { terms, .. } => {
                if sums.insert(&**terms) {
                    visit(terms);
                }
            }
            Condition::And(more) | Condition::Or(more) => {
                if parts.insert(more.address()) {
                    open.extend(more);
                }
            }
        }
    }
}

fn missing() -> Reason {
    Reason::Unsupported("a condition reads a place that the net does not have".into())
}

fn numbered<T>(net: &Net, arcs: impl Fn(&crate::net::Transition) -> Vec<T>) -> Vec<(u32, T)> {
    let rows = net.transitions.iter().enumerate();
    rows.flat_map(|(number, t)| arcs(t).into_iter().map(move |arc| (number as u32, arc))).collect()
}
